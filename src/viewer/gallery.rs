//! Thumbnails of the built-in scenes.

use egui::{ColorImage, TextureHandle, TextureOptions};

use crate::scene::procedural::demos::Demo;

/// Thumbnails of the scenes, decoded when the gallery is first shown.
#[derive(Default)]
pub struct Gallery {
    pictures: Option<Vec<(&'static str, TextureHandle)>>,
}

impl Gallery {
    pub(super) fn pictures(&mut self, ctx: &egui::Context) -> &[(&'static str, TextureHandle)] {
        self.pictures.get_or_insert_with(|| {
            let read = |demo: Demo| {
                let picture = image::load_from_memory(demo.picture()?).ok()?.to_rgba8();
                let size = [picture.width() as usize, picture.height() as usize];
                let image = ColorImage::from_rgba_unmultiplied(size, &picture);
                Some((demo.name, ctx.load_texture(demo.name, image, TextureOptions::LINEAR)))
            };
            Demo::ALL.into_iter().filter_map(read).collect()
        })
    }
}
