//! Comparison with a reference: wipe, side by side, flicker, difference.

use egui::{Color32, Rect, TextureHandle, TextureId, Ui};

use super::fields::named;
pub use crate::viewer::reference_view::CompareMode;
use crate::{
    camera::DisplayEncoding,
    viewer::{
        action::{Actions, ViewAction},
        painter::HDR_IMAGE,
        reference_view::ReferenceView,
        state::{PanelState, ViewState},
    },
};

/// Width of list, tools and text in the bar (points).
const BESIDE: f32 = 96.0 + 70.0 + 160.0 + 30.0;

/// Period of each picture in flicker mode (s).
const FLICKER_S: f64 = 0.5;

/// Controls and result of the comparison in the bar.
pub(super) fn bar(ui: &mut Ui, state: &ViewState, panels: &mut PanelState, actions: &mut Actions) {
    let view = &state.reference_view;
    let now =
        CompareMode::ALL.iter().find(|(mode, _)| *mode == view.mode).map_or("", |(_, name)| name);
    let room = ui.available_size_before_wrap().x;
    // Without room in the bar, they go to the list and over the picture: a second line would
    // change the picture's size and restart its accumulation.
    panels.compact_comparison = room < BESIDE;
    let list = egui::ComboBox::from_id_salt("reference_view").selected_text(now).width(96.0);
    let list = list.show_ui(ui, |ui| {
        for (mode, name) in CompareMode::ALL {
            if ui.selectable_label(view.mode == mode, name).clicked() {
                actions.push(ViewAction::Compare(mode));
            }
        }
        if panels.compact_comparison {
            ui.separator();
            tools(ui, view, actions);
        }
    });
    named(list.response, "View");
    if view.mode == CompareMode::Raster || panels.compact_comparison {
        return;
    }
    tools(ui, view, actions);
    let reading = view.status_text();
    // A fixed width, so that the layout does not depend on the text.
    let room = ui.available_size_before_wrap().x.clamp(160.0, 480.0);
    let size = egui::vec2(room, ui.spacing().interact_size.y);
    let scale = view.scale();
    ui.add_sized(size, egui::Label::new(&reading).truncate())
        .on_hover_text(format!("{reading}{scale}"));
}

/// Controls of the reference.
fn tools(ui: &mut Ui, view: &ReferenceView, actions: &mut Actions) {
    let direct = view.bounces == Some(1);
    let mut wanted = direct;
    ui.checkbox(&mut wanted, "direct")
        .on_hover_text("direct light only, as the rasterizer without gi");
    if wanted != direct {
        actions.push(ViewAction::DirectOnly(wanted));
    }
    if let Some(loaded) = &view.loaded
        && ui
            .button("path tracer")
            .on_hover_text(format!("replaces {} as the reference", loaded.name))
            .clicked()
    {
        actions.push(ViewAction::UsePathTracer);
    }
}

/// Shows picture and reference in a rectangle.
pub(super) fn show(ui: &Ui, rect: Rect, state: &ViewState, panels: &PanelState) {
    let (ctx, view) = (ui.ctx(), &state.reference_view);
    let picture = state.displayed_frame.as_ref().map(|(texture, _)| texture.id());
    let is_preview = state.displayed_frame.as_ref().is_some_and(|(_, number)| *number == 0);
    let order = state.workspace.as_ref().map_or(0, |work| work.viewport.request_id());
    let over = state.scopes.over.as_ref().or(state.mixer.shown(order));
    // Beside a reference both are limited to SDR, to be comparable.
    let alone =
        state.encoding != DisplayEncoding::Srgb && view.mode == CompareMode::Raster && !is_preview;
    let raster =
        over.map(TextureHandle::id).or(picture.map(|bytes| if alone { HDR_IMAGE } else { bytes }));
    let reference =
        view.texture.as_ref().filter(|_| view.reference().is_some()).map(TextureHandle::id);
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
    match view.mode {
        CompareMode::Raster => {
            draw(raster, rect, all);
            state.scopes.name(&painter, rect);
            return;
        }
        CompareMode::Reference => draw(reference.or(raster), rect, all),
        CompareMode::Stops | CompareMode::Flip => {
            let difference = view.difference.as_ref().map(TextureHandle::id);
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
            painter.vline(rect.center().x, rect.y_range(), egui::Stroke::new(1.0, Color32::WHITE));
            label("raster", left.left_top() + egui::vec2(8.0, 6.0), egui::Align2::LEFT_TOP);
            label("reference", right.right_top() + egui::vec2(-8.0, 6.0), egui::Align2::RIGHT_TOP);
        }
        CompareMode::Wipe => {
            draw(raster, rect, all);
            let part = view.wipe.clamp(0.0, 1.0);
            let x = rect.left() + part * rect.width();
            let right = Rect::from_min_max(egui::pos2(x, rect.top()), rect.max);
            draw(reference, right, Rect::from_min_max(egui::pos2(part, 0.0), egui::pos2(1.0, 1.0)));
            painter.vline(x, rect.y_range(), egui::Stroke::new(2.0, Color32::WHITE));
            label("raster", egui::pos2(x - 8.0, rect.top() + 6.0), egui::Align2::RIGHT_TOP);
            label("reference", egui::pos2(x + 8.0, rect.top() + 6.0), egui::Align2::LEFT_TOP);
        }
    }
    if panels.compact_comparison {
        say_aside(view, &painter, rect);
    }
}

/// Shows the summary at the lower edge of the picture.
fn say_aside(view: &ReferenceView, painter: &egui::Painter, rect: Rect) {
    let text = view.status_text();
    let font = egui::FontId::proportional(12.0);
    let galley = painter.layout(text, font, Color32::WHITE, (rect.width() - 20.0).max(60.0));
    let place = egui::Align2::CENTER_BOTTOM
        .anchor_size(rect.center_bottom() - egui::vec2(0.0, 10.0), galley.size());
    painter.rect_filled(place.expand(3.0), 3.0, Color32::from_black_alpha(170));
    painter.galley(place.min, galley, Color32::WHITE);
}

/// Drags the wipe's line.
pub(super) fn wipe(ui: &Ui, rect: Rect, view: &ReferenceView, actions: &mut Actions) {
    if view.mode != CompareMode::Wipe {
        return;
    }
    let x = rect.left() + view.wipe * rect.width();
    let area =
        Rect::from_center_size(egui::pos2(x, rect.center().y), egui::vec2(14.0, rect.height()));
    let line = ui.interact(area, ui.id().with("wipe"), egui::Sense::drag());
    line.widget_info(|| {
        egui::WidgetInfo::labeled(egui::WidgetType::Other, true, "Line of the wipe")
    });
    if line.dragged() {
        actions.push(ViewAction::MoveWipe(line.drag_delta().x / rect.width().max(1.0)));
    }
    if line.hovered() || line.dragged() {
        ui.ctx().set_cursor_icon(egui::CursorIcon::ResizeHorizontal);
    }
}
