//! Composition guides: their menu, and their lines over the picture.

use egui::{
    Align2, Color32, ComboBox, FontId, Painter, PopupCloseBehavior, Pos2, Rect, Shape, Slider,
    Stroke, Ui,
    containers::menu::{MenuButton, MenuConfig},
};

use super::fields::{drag, named};
use crate::viewer::{
    action::{Actions, WindowAction},
    guides::{FrameGuide, SAFE_ACTION, SAFE_TITLE, around, fitted, horizon, part},
    handles::ScreenProjection,
    state::ViewState,
};

/// The menu.
pub(super) fn menu(ui: &mut Ui, state: &ViewState, actions: &mut Actions) {
    let mut settings = state.settings();
    let guides = &mut settings.guides;
    // Several guides are often set in a row.
    let stays = MenuConfig::new().close_behavior(PopupCloseBehavior::CloseOnClickOutside);
    let (button, _) = MenuButton::new("Frame").config(stays).ui(ui, |ui| {
        ui.checkbox(&mut guides.gate, "Camera's frame").on_hover_text(
            "the picture that render writes without --size; off: the picture fills the panel",
        );
        ui.separator();
        ui.horizontal(|ui| {
            ui.label("frame within");
            let list = ComboBox::from_id_salt("frame guide").selected_text(guides.frame.name());
            let list = list.show_ui(ui, |ui| {
                for (frame, name, _) in FrameGuide::ALL {
                    ui.selectable_value(&mut guides.frame, frame, name);
                }
            });
            named(list.response, "frame within");
        });
        ui.add_enabled_ui(guides.frame != FrameGuide::None, |ui| {
            ui.horizontal(|ui| {
                let slider = Slider::new(&mut guides.mask, 0.0..=1.0).show_value(false);
                named(ui.add(slider), "mask: slider")
                    .on_hover_text("opacity of the mask outside of the frame");
                let field = drag(&mut guides.mask).speed(0.01).range(0.0..=1.0).max_decimals(2);
                named(ui.add(field), "mask");
                ui.label("mask");
            });
        });
        ui.checkbox(&mut guides.thirds, "Thirds");
        ui.checkbox(&mut guides.safe, "Safe areas")
            .on_hover_text("action 93 %, titles 90 % of the frame (SMPTE ST 2046-1, EBU R 95)");
        ui.checkbox(&mut guides.center, "Center");
        ui.checkbox(&mut guides.horizon, "Horizon")
            .on_hover_text("directions level with the camera");
    });
    button.on_hover_text("camera's frame and composition guides");
    if settings != state.settings() {
        actions.push(WindowAction::Settings(settings));
    }
}

/// A line that is visible on bright and on dark pictures.
fn line(painter: &Painter, from: Pos2, to: Pos2) {
    for (width, color) in
        [(2.5, Color32::from_black_alpha(90)), (1.0, Color32::from_white_alpha(170))]
    {
        painter.line_segment([from, to], Stroke::new(width, color));
    }
}

fn rectangle(painter: &Painter, of: Rect) {
    let [a, b, c, d] = [of.left_top(), of.right_top(), of.right_bottom(), of.left_bottom()];
    for (from, to) in [(a, b), (b, c), (c, d), (d, a)] {
        line(painter, from, to);
    }
}

/// The guides over the picture.
pub(super) fn show(ui: &Ui, rect: Rect, screen: &ScreenProjection, state: &ViewState) {
    let guides = state.settings().guides;
    let painter = &ui.painter_at(rect);
    let frame = guides.frame.aspect().map(|aspect| fitted(rect, aspect));
    if let Some(frame) = frame {
        let mask = Color32::from_black_alpha((guides.mask.clamp(0.0, 1.0) * 255.0) as u8);
        for outside in around(rect, frame) {
            painter.add(Shape::rect_filled(outside, 0.0, mask));
        }
        rectangle(painter, frame);
    }
    let frame = frame.unwrap_or(rect);
    if guides.thirds {
        for third in [1.0 / 3.0, 2.0 / 3.0] {
            let at = frame.lerp_inside(egui::vec2(third, third));
            line(painter, Pos2::new(at.x, frame.top()), Pos2::new(at.x, frame.bottom()));
            line(painter, Pos2::new(frame.left(), at.y), Pos2::new(frame.right(), at.y));
        }
    }
    if guides.safe {
        for (fraction, name) in [(SAFE_ACTION, "action"), (SAFE_TITLE, "titles")] {
            let area = part(frame, fraction);
            rectangle(painter, area);
            let at = area.left_top() + egui::vec2(4.0, 2.0);
            let font = FontId::proportional(10.0);
            painter.text(at, Align2::LEFT_TOP, name, font, Color32::from_white_alpha(170));
        }
    }
    if guides.center {
        let (center, arm) = (frame.center(), 12.0);
        line(painter, center - egui::vec2(arm, 0.0), center + egui::vec2(arm, 0.0));
        line(painter, center - egui::vec2(0.0, arm), center + egui::vec2(0.0, arm));
    }
    if guides.horizon
        && let Some([a, b]) = horizon(screen)
    {
        // Far enough beyond both edges; the painter clips.
        let along = (b - a).normalize_or_zero() * f64::from(rect.width() + rect.height()) * 2.0;
        let middle = (a + b) / 2.0;
        let point = |p: glam::DVec2| Pos2::new(p.x as f32, p.y as f32);
        line(painter, point(middle - along), point(middle + along));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::viewer::{action::Action, panels::testing::PanelTest, settings::WindowSettings};

    #[test]
    fn the_menu_sets_the_window() {
        let mut test = PanelTest::new(|ui, state, _, actions| menu(ui, state, actions));
        test.click("Frame");
        let set = |actions: Vec<Action>| match actions.as_slice() {
            [Action::Window(WindowAction::Settings(settings))] => settings.guides,
            other => panic!("{other:?}"),
        };
        let guides = WindowSettings::default().guides;
        assert!(guides.gate);
        assert!(!set(test.click("Camera's frame")).gate);
        assert!(set(test.click("Thirds")).thirds);
        assert!(set(test.click("Safe areas")).safe);
        assert!(set(test.click("Horizon")).horizon);
    }
}
