//! Thumbnails of the built-in scenes.

use egui::{ColorImage, TextureHandle, TextureOptions};

use crate::{
    image_io::coded_image::{CodeReader, Codec},
    scene::procedural::demos::Demo,
};

/// Maximum memory in bytes of the decoder of a thumbnail.
const MAX_DECODER_BYTES: u64 = 1 << 26;

/// Thumbnails of the scenes, decoded when the gallery is first shown.
#[derive(Default)]
pub struct Gallery {
    pictures: Option<Vec<(&'static str, TextureHandle)>>,
}

impl Gallery {
    pub(super) fn pictures(&mut self, ctx: &egui::Context) -> &[(&'static str, TextureHandle)] {
        self.pictures.get_or_insert_with(|| {
            let read = |demo: Demo| {
                let file = demo.picture()?;
                let reader = CodeReader::new(file, Codec::Jpeg, MAX_DECODER_BYTES).ok()?;
                let size = reader.size().map(|side| side as usize);
                let codes = reader.decode().ok()?.into_rgba8();
                let image = ColorImage::from_rgba_unmultiplied(size, &codes);
                Some((demo.name, ctx.load_texture(demo.name, image, TextureOptions::LINEAR)))
            };
            Demo::ALL.into_iter().filter_map(read).collect()
        })
    }
}
