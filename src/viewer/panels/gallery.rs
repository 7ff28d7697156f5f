//! The scenes that the program makes itself, to choose from.

use std::path::PathBuf;

use egui::Ui;

use crate::{
    scene::procedural::{Builtin, PREFIX},
    studio::Request,
    viewer::app::App,
};

impl App {
    pub(super) fn show_gallery(&mut self, ui: &mut Ui) {
        let mut chosen = None;
        egui::ScrollArea::vertical().show(ui, |ui| {
            ui.add_space(12.0);
            ui.heading("Scenes");
            ui.label("Open one of these, or drop a .glb or .gltf file here.");
            ui.add_space(8.0);
            for builtin in Builtin::ALL {
                let button = egui::Button::new(format!("{}{}", PREFIX, builtin.name)).min_size(egui::vec2(220.0, 28.0));
                ui.horizontal(|ui| {
                    if ui.add(button).clicked() {
                        chosen = Some(builtin.name);
                    }
                    ui.label(builtin.about);
                });
            }
            ui.add_space(12.0);
            ui.horizontal(|ui| {
                ui.label("A file:");
                ui.text_edit_singleline(&mut self.open_field);
                if ui.button("Open").clicked() && !self.open_field.is_empty() {
                    let file = PathBuf::from(self.open_field.trim());
                    self.open_file(&file);
                }
                if self.work.is_some() && ui.button("Back").clicked() {
                    self.gallery = false;
                }
            });
        });
        if let Some(name) = chosen {
            self.open(&Request { scene: Some(format!("{PREFIX}{name}").into()), ..Request::default() });
        }
    }
}
