//! Comparison with a reference: wipe, side by side, flicker, difference.

use egui::{Color32, Rect, TextureHandle, TextureId, Ui};

pub use crate::viewer::reference_view::CompareMode;
use crate::{
    camera::DisplayEncoding,
    viewer::{app::App, painter::HDR_IMAGE},
};

/// Width of list, tools and text in the bar (points).
const BESIDE: f32 = 96.0 + 70.0 + 160.0 + 30.0;

/// Period of each picture in flicker mode (s).
const FLICKER_S: f64 = 0.5;

impl App {
    pub(super) fn reference_bar(&mut self, ui: &mut Ui) {
        let now = CompareMode::ALL
            .iter()
            .find(|(mode, _)| *mode == self.reference_view.mode)
            .map_or("", |(_, name)| name);
        let room = ui.available_size_before_wrap().x;
        // Without room in the bar, they go to the list and over the picture: a second line would
        // change the picture's size and restart its accumulation.
        self.reference_view.compact = room < BESIDE;
        egui::ComboBox::from_id_salt("reference_view").selected_text(now).width(96.0).show_ui(
            ui,
            |ui| {
                for (mode, name) in CompareMode::ALL {
                    if ui.selectable_label(self.reference_view.mode == mode, name).clicked() {
                        self.reference_view.set_mode(mode);
                    }
                }
                if self.reference_view.compact {
                    ui.separator();
                    self.reference_tools(ui);
                }
            },
        );
        if self.reference_view.mode == CompareMode::Raster || self.reference_view.compact {
            return;
        }
        self.reference_tools(ui);
        let reading = self.reference_view.status_text();
        // A fixed width, so that the layout does not depend on the text.
        let room = ui.available_size_before_wrap().x.clamp(160.0, 480.0);
        let size = egui::vec2(room, ui.spacing().interact_size.y);
        let scale = self.reference_view.scale();
        ui.add_sized(size, egui::Label::new(&reading).truncate())
            .on_hover_text(format!("{reading}{scale}"));
    }

    /// Controls of the reference.
    fn reference_tools(&mut self, ui: &mut Ui) {
        let direct = self.reference_view.bounces == Some(1);
        let mut wanted = direct;
        ui.checkbox(&mut wanted, "direct")
            .on_hover_text("direct light only, as the rasterizer without gi");
        if wanted != direct {
            self.reference_view.bounces = wanted.then_some(1);
            self.reference_view.restart();
        }
        let name = self.reference_view.loaded.as_ref().map(|loaded| loaded.name.clone());
        if let Some(name) = name
            && ui
                .button("path tracer")
                .on_hover_text(format!("replaces {name} as the reference"))
                .clicked()
        {
            self.reference_view.use_path_tracer();
        }
    }

    /// Updates the comparison to the newest pictures.
    fn update_comparison(&mut self, ctx: &egui::Context) {
        let Some(work) = &self.workspace else { return };
        if let Err(error) = self.reference_view.compare(ctx, &work.viewport, &self.wake) {
            self.error(error);
        }
    }

    /// Shows picture and reference in a rectangle.
    pub(super) fn show_reference_view(
        &mut self,
        ui: &mut Ui,
        rect: Rect,
        picture: Option<TextureId>,
    ) {
        let ctx = ui.ctx().clone();
        self.update_comparison(&ctx);
        let order = self.workspace.as_ref().map_or(0, |work| work.viewport.request_id());
        let over = self.scopes.over.as_ref().or(self.mixer.shown(order));
        // Beside a reference both are limited to SDR, to be comparable.
        let alone = self.encoding != DisplayEncoding::Srgb
            && self.reference_view.mode == CompareMode::Raster;
        let raster = over
            .map(TextureHandle::id)
            .or(picture.map(|bytes| if alone { HDR_IMAGE } else { bytes }));
        let reference = self
            .reference_view
            .texture
            .as_ref()
            .filter(|_| self.reference_view.reference().is_some())
            .map(TextureHandle::id);
        let painter = ui.painter_at(rect);
        let all = Rect::from_min_max(egui::pos2(0.0, 0.0), egui::pos2(1.0, 1.0));
        let draw = |texture: Option<TextureId>, rect: Rect, uv: Rect| {
            if let Some(texture) = texture {
                painter.image(texture, rect, uv, Color32::WHITE);
            }
        };
        let label = |text: &str, at: egui::Pos2, anchor: egui::Align2| {
            painter.text(
                at + egui::vec2(1.0, 1.0),
                anchor,
                text,
                egui::FontId::proportional(13.0),
                Color32::BLACK,
            );
            painter.text(at, anchor, text, egui::FontId::proportional(13.0), Color32::WHITE);
        };
        match self.reference_view.mode {
            CompareMode::Raster => {
                draw(raster, rect, all);
                self.scopes.name(&painter, rect);
                return;
            }
            CompareMode::Reference => draw(reference.or(raster), rect, all),
            CompareMode::Stops | CompareMode::Flip => {
                let difference = self.reference_view.difference.as_ref().map(TextureHandle::id);
                draw(difference.or(raster), rect, all);
            }
            CompareMode::Flicker => {
                let turn = ctx.input(|input| input.time) / FLICKER_S;
                let second = (turn as u64) % 2 == 1;
                draw(if second { reference } else { raster }, rect, all);
                let name = if second { "reference" } else { "raster" };
                label(name, rect.left_top() + egui::vec2(8.0, 6.0), egui::Align2::LEFT_TOP);
                ctx.request_repaint_after(std::time::Duration::from_secs_f64(FLICKER_S / 4.0));
            }
            CompareMode::SideBySide => {
                // The central half of both, so that aspect ratios are kept.
                let half = Rect::from_min_max(egui::pos2(0.25, 0.0), egui::pos2(0.75, 1.0));
                let (left, right) = rect.split_left_right_at_fraction(0.5);
                draw(raster, left, half);
                draw(reference, right, half);
                painter.vline(
                    rect.center().x,
                    rect.y_range(),
                    egui::Stroke::new(1.0, Color32::WHITE),
                );
                label("raster", left.left_top() + egui::vec2(8.0, 6.0), egui::Align2::LEFT_TOP);
                label(
                    "reference",
                    right.right_top() + egui::vec2(-8.0, 6.0),
                    egui::Align2::RIGHT_TOP,
                );
            }
            CompareMode::Wipe => {
                draw(raster, rect, all);
                let part = self.reference_view.wipe.clamp(0.0, 1.0);
                let x = rect.left() + part * rect.width();
                let right = Rect::from_min_max(egui::pos2(x, rect.top()), rect.max);
                draw(
                    reference,
                    right,
                    Rect::from_min_max(egui::pos2(part, 0.0), egui::pos2(1.0, 1.0)),
                );
                painter.vline(x, rect.y_range(), egui::Stroke::new(2.0, Color32::WHITE));
                label("raster", egui::pos2(x - 8.0, rect.top() + 6.0), egui::Align2::RIGHT_TOP);
                label("reference", egui::pos2(x + 8.0, rect.top() + 6.0), egui::Align2::LEFT_TOP);
            }
        }
        if self.reference_view.compact {
            self.say_aside(&painter, rect);
        }
    }

    /// Shows the summary at the lower edge of the picture.
    fn say_aside(&self, painter: &egui::Painter, rect: Rect) {
        let text = self.reference_view.status_text();
        let font = egui::FontId::proportional(12.0);
        let galley = painter.layout(text, font, Color32::WHITE, (rect.width() - 20.0).max(60.0));
        let place = egui::Align2::CENTER_BOTTOM
            .anchor_size(rect.center_bottom() - egui::vec2(0.0, 10.0), galley.size());
        painter.rect_filled(place.expand(3.0), 3.0, Color32::from_black_alpha(170));
        painter.galley(place.min, galley, Color32::WHITE);
    }

    /// Drags the wipe's line; true while it is dragged.
    pub(super) fn drag_wipe(&mut self, ui: &mut Ui, rect: Rect) -> bool {
        if self.reference_view.mode != CompareMode::Wipe {
            return false;
        }
        let x = rect.left() + self.reference_view.wipe * rect.width();
        let area =
            Rect::from_center_size(egui::pos2(x, rect.center().y), egui::vec2(14.0, rect.height()));
        let line = ui.interact(area, ui.id().with("wipe"), egui::Sense::drag());
        if line.dragged() {
            self.reference_view.wipe = (self.reference_view.wipe
                + line.drag_delta().x / rect.width().max(1.0))
            .clamp(0.0, 1.0);
        }
        if line.hovered() || line.dragged() {
            ui.ctx().set_cursor_icon(egui::CursorIcon::ResizeHorizontal);
        }
        line.dragged()
    }
}
