//! Panel of the scopes, and the name and legend of overlays over the picture.

use egui::{TextureHandle, Ui};

use crate::{
    camera::Exposure,
    frame::Aov,
    viewer::{
        action::{Actions, ViewAction},
        scopes::{Overlay, Scopes},
    },
};

impl Scopes {
    /// Draws the overlay's name, with the scale of false color, over the picture.
    pub(super) fn name(&self, painter: &egui::Painter, rect: egui::Rect) {
        let overlay = Overlay::ALL
            .iter()
            .find(|(overlay, _)| *overlay == self.overlay)
            .map(|(_, name)| *name);
        let buffer = self
            .aov
            .and_then(|aov| Aov::ALL.iter().find(|(_, of)| *of == aov))
            .map(|(name, _)| *name);
        let Some(name) = buffer.or(overlay.filter(|_| self.overlay != Overlay::None)) else {
            return;
        };
        let font = egui::FontId::proportional(13.0);
        let at = rect.left_top() + egui::vec2(8.0, 6.0);
        let (anchor, white) = (egui::Align2::LEFT_TOP, egui::Color32::WHITE);
        painter.text(at + egui::vec2(1.0, 1.0), anchor, name, font.clone(), egui::Color32::BLACK);
        painter.text(at, anchor, name, font, white);
        if let Some(legend) = self.legend.as_ref().filter(|_| !self.open) {
            let [width, height] = legend.size().map(|side| side as f32);
            let fit = (rect.width() / width).min(rect.height() / 2.0 / height).min(1.0);
            let size = egui::vec2(width, height) * fit;
            let place =
                egui::Rect::from_min_size(rect.left_bottom() - egui::vec2(0.0, size.y), size);
            let all = egui::Rect::from_min_max(egui::pos2(0.0, 0.0), egui::pos2(1.0, 1.0));
            painter.image(legend.id(), place, all, white);
        }
    }
}

/// The panel.
pub(super) fn show(ui: &mut Ui, scopes: &Scopes, actions: &mut Actions) {
    // The panel keeps its size whatever it holds, and so does the picture.
    egui::ScrollArea::horizontal().auto_shrink(false).show(ui, |ui| {
        ui.horizontal(|ui| {
            for (overlay, name) in Overlay::ALL {
                let label = ui.selectable_label(scopes.overlay == overlay, name);
                if label.on_hover_text("C: next overlay").clicked() {
                    actions.push(ViewAction::Overlay(overlay));
                }
            }
            if let Some((darkest, brightest)) = scopes.ends {
                let ev = |nits| {
                    Exposure::from_luminance(nits)
                        .map_or_else(|_| "-".into(), |e| format!("{:.1}", e.ev100().get()))
                };
                ui.weak(format!("darkest EV {}, brightest EV {}", ev(darkest), ev(brightest)));
            }
        });
        let legend = scopes.legend.iter().map(|texture| ("", texture));
        let all: Vec<_> =
            scopes.textures.iter().map(|(name, texture)| (*name, texture)).chain(legend).collect();
        let aspect = |texture: &TextureHandle| texture.size()[0] as f32 / texture.size()[1] as f32;
        let aspects: f32 = all.iter().map(|(_, texture)| aspect(texture)).sum();
        let gaps = ui.spacing().item_spacing.x * all.len() as f32;
        // Leaves room for names above and a scroll bar below.
        let high = (ui.available_height() - 44.0).max(40.0);
        let height =
            ((ui.available_width() - gaps) / aspects.max(1e-3)).clamp(high.min(70.0), high);
        ui.horizontal_top(|ui| {
            for (name, texture) in all {
                ui.vertical(|ui| {
                    ui.weak(name);
                    ui.add(egui::Image::new((
                        texture.id(),
                        egui::vec2(aspect(texture) * height, height),
                    )));
                });
            }
        });
    });
}
