//! Layout of the window: bar, outliner, inspector, scopes, picture, status line. Each panel reads
//! the state; its actions are carried out before the next panel is shown.

use egui::{Color32, Sense, Ui};
use winit::dpi::LogicalSize;

use super::{
    bar, dialogs, edge_arrows, gallery, guides, handles, inspector, keys, mixer, outliner, palette,
    reference_view, scopes, shortcuts, status, tour, viewport, water,
};
use crate::viewer::{
    action::Actions,
    app::App,
    handles::ScreenProjection,
    state::{PanelState, ViewState},
};

/// Minimum window size (points) at which everything is readable. Window systems that ignore it do
/// not break the window.
pub const MIN_WINDOW_SIZE: LogicalSize<f64> = LogicalSize::new(640.0, 360.0);

impl App {
    /// Shows a panel and carries out its actions.
    fn panel(&mut self, show: impl FnOnce(&ViewState, &mut PanelState, &mut Actions)) {
        let mut actions = Actions::default();
        show(&self.state, &mut self.panels, &mut actions);
        for action in actions {
            self.apply(action);
        }
    }

    /// Lays out all panels.
    pub(crate) fn layout(&mut self, ui: &mut Ui) {
        self.panel(|state, _, actions| {
            shortcuts::pressed(ui, state.workspace.is_some(), actions);
        });
        // Updated before the panels that show them.
        self.update_scopes();
        egui::Panel::top("bar").show(ui, |ui| {
            self.panel(|state, panels, actions| bar::show(ui, state, panels, actions));
        });
        egui::Panel::bottom("status").exact_size(26.0).show(ui, |ui| {
            self.panel(|state, _, actions| status::show(ui, state, actions));
        });
        if self.state.workspace.is_none() && self.state.loading.is_some() {
            // Loading takes the whole window.
            egui::CentralPanel::default().show(ui, |_| {});
        } else if self.state.workspace.is_none() || self.state.gallery {
            egui::CentralPanel::default().show(ui, |ui| {
                self.panel(|state, panels, actions| gallery::show(ui, state, panels, actions));
            });
        } else {
            self.scene(ui);
        }
        self.update_mixer();
        self.panel(|state, _, actions| mixer::show(ui, state, actions));
        self.panel(|state, _, actions| dialogs::show_loading(ui, state, actions));
        status::notices(ui, &self.state);
        let ctx = ui.ctx();
        self.panel(|state, panels, actions| dialogs::unsaved_changes(ctx, state, panels, actions));
        self.panel(|state, panels, actions| dialogs::save(ctx, state, panels, actions));
        self.panel(|state, panels, actions| dialogs::sequence(ctx, state, panels, actions));
        self.panel(|state, _, actions| dialogs::autosave(ctx, state, actions));
        self.panel(|state, panels, actions| tour::show(ui, state, panels, actions));
        self.panel(|_, panels, _| keys::show(ui, panels));
        self.panel(|state, panels, actions| palette::show(ui, state, panels, actions));
    }

    /// The open scene: side panels, scopes and picture.
    fn scene(&mut self, ui: &mut Ui) {
        // A small window has panels of its own ids, so that the normal ones keep their widths.
        let size = ui.ctx().content_rect().size();
        let small =
            f64::from(size.x) < MIN_WINDOW_SIZE.width || f64::from(size.y) < MIN_WINDOW_SIZE.height;
        let id = |name: &str| {
            egui::Id::new(if small { format!("{name} of a small window") } else { name.into() })
        };
        if self.state.sides {
            egui::Panel::left(id("outliner"))
                .default_size(210.0)
                .min_size(150.0)
                .resizable(true)
                .show(ui, |ui| {
                    self.panel(|state, _, actions| outliner::show(ui, state, actions));
                });
            egui::Panel::right(id("inspector"))
                .default_size(300.0)
                .min_size(220.0)
                .resizable(true)
                .show(ui, |ui| {
                    self.panel(|state, _, actions| inspector::show(ui, state, actions));
                });
        }
        if self.state.scopes.open {
            egui::Panel::bottom(id("scopes"))
                .default_size(190.0)
                .min_size(150.0)
                .resizable(true)
                .show(ui, |ui| {
                    self.panel(|state, _, actions| scopes::show(ui, &state.scopes, actions));
                });
        }
        egui::CentralPanel::no_frame().show(ui, |ui| self.picture(ui));
    }

    /// The picture with its tools. Each part sees what the parts before it have changed.
    fn picture(&mut self, ui: &mut Ui) {
        let whole = ui.available_rect_before_wrap();
        let response = &ui.allocate_rect(whole, Sense::click_and_drag());
        response
            .widget_info(|| egui::WidgetInfo::labeled(egui::WidgetType::Other, true, "Picture"));
        ui.painter_at(whole).rect_filled(whole, 0.0, Color32::from_gray(24));
        self.panel(|state, _, actions| viewport::fit(ui, whole, state, actions));
        let Some(rect) = viewport::picture_rect(ui, whole, &self.state) else { return };
        self.update_comparison();
        reference_view::show(ui, rect, &self.state, &self.panels);
        self.panel(|_, panels, actions| viewport::point(ui, rect, response, panels, actions));
        self.panel(|state, panels, actions| {
            viewport::navigate(ui, rect, response, state, panels, actions);
        });
        self.panel(|_, _, actions| viewport::click(rect, response, actions));
        self.panel(|state, panels, actions| {
            viewport::click_by_keys(ui, rect, state, panels, actions);
        });
        let Some(work) = &self.state.workspace else { return };
        let screen = &ScreenProjection::new(&work.viewport.view(), rect);
        guides::show(ui, rect, screen, &self.state);
        self.panel(|state, _, actions| {
            let Some(work) = &state.workspace else { return };
            let marks = handles::light_marks(screen, rect, work);
            handles::rings(ui, (screen, rect), &marks, work, actions);
            edge_arrows::show(ui, (screen, rect), &marks, &work.viewport, actions);
        });
        let picture = &handles::Picture::new(ui, (screen, rect), response);
        self.panel(|state, panels, actions| {
            handles::light_handles(ui, picture, state, panels, actions);
            handles::sun_handles(ui, picture, state, panels, actions);
        });
        self.panel(|state, panels, actions| {
            water::paint_flow(ui, rect, response, state, panels, actions);
        });
        self.panel(|state, _, actions| {
            reference_view::wipe(ui, rect, &state.reference_view, actions);
        });
        viewport::hint(ui, rect, &self.state);
        self.state.viewport_rect = rect;
    }
}
