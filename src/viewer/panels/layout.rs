//! Layout of the window: bar, outliner, inspector, scopes, picture, status line.

use egui::Ui;
use winit::dpi::LogicalSize;

use crate::viewer::app::App;

/// Minimum window size (points) at which everything is readable. Window systems that ignore it do
/// not break the window.
pub const MIN_WINDOW_SIZE: LogicalSize<f64> = LogicalSize::new(640.0, 360.0);

impl App {
    /// Lays out all panels.
    pub(crate) fn layout(&mut self, ui: &mut Ui) {
        self.shortcuts(ui);
        // Updated before the panels that show them.
        let ctx = ui.ctx().clone();
        self.update_scopes(&ctx);
        egui::Panel::top("bar").show(ui, |ui| self.bar(ui));
        egui::Panel::bottom("status").exact_size(26.0).show(ui, |ui| self.status(ui));
        if self.workspace.is_none() && self.loading.is_some() {
            // Loading takes the whole window.
            egui::CentralPanel::default().show(ui, |_| {});
        } else if self.workspace.is_none() || self.gallery {
            egui::CentralPanel::default().show(ui, |ui| self.show_gallery(ui));
        } else {
            // A small window has panels of its own ids, so that the normal ones keep their widths.
            let size = ui.ctx().content_rect().size();
            let small = f64::from(size.x) < MIN_WINDOW_SIZE.width
                || f64::from(size.y) < MIN_WINDOW_SIZE.height;
            let id = |name: &str| {
                egui::Id::new(if small { format!("{name} of a small window") } else { name.into() })
            };
            if self.sides {
                self.show_sides(ui, id);
            }
            if self.scopes.open {
                egui::Panel::bottom(id("scopes"))
                    .default_size(190.0)
                    .min_size(150.0)
                    .resizable(true)
                    .show(ui, |ui| self.show_scopes(ui));
            }
            egui::CentralPanel::no_frame().show(ui, |ui| self.picture(ui));
        }
        self.show_mixer(ui);
        self.show_loading(ui);
        self.notices(ui);
        self.dialogs(ui);
        self.show_palette(ui);
        let ctx = ui.ctx().clone();
        self.follow_snapshots(&ctx);
    }

    /// The side panels: outliner and inspector.
    fn show_sides(&mut self, ui: &mut Ui, id: impl Fn(&str) -> egui::Id) {
        egui::Panel::left(id("outliner"))
            .default_size(210.0)
            .min_size(150.0)
            .resizable(true)
            .show(ui, |ui| self.outliner(ui));
        egui::Panel::right(id("inspector"))
            .default_size(300.0)
            .min_size(220.0)
            .resizable(true)
            .show(ui, |ui| self.inspector(ui));
    }
}
