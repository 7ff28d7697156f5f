//! The picture: display, pointer tools and camera input.

use egui::{Color32, Key, PointerButton, Pos2, Rect, Response, Ui};
use glam::{DVec2, DVec3};

pub use crate::viewer::tool::Tool;
use crate::{
    camera_control::{Input, NavigationMode},
    viewer::{
        action::{Actions, CameraAction, SelectionAction, ViewAction},
        guides::fitted,
        state::{PanelState, ViewState},
    },
};

/// Rotation per point of dragging (rad).
const TURN: f64 = 0.005;

/// Speed of the keys per second: rotation (rad), pan (picture heights), dolly (wheel notches).
const KEY_TURN: f64 = 1.0;
const KEY_PAN: f64 = 0.5;
const KEY_DOLLY: f64 = 4.0;

/// Pairs of held keys, each with its opposite.
const RIGHT: [Key; 2] = [Key::ArrowRight, Key::ArrowLeft];
const UP: [Key; 2] = [Key::ArrowUp, Key::ArrowDown];
const CLOSER: [Key; 2] = [Key::PageUp, Key::PageDown];
const STRAFE: [Key; 2] = [Key::D, Key::A];
const RISE: [Key; 2] = [Key::E, Key::Q];
const FORWARD: [Key; 2] = [Key::W, Key::S];

/// Held keys that move the camera, and their descriptions, in the order of the list of keys.
pub(super) const HELD: [([Key; 2], &str); 6] = [
    (RIGHT, "orbit, or look around, right and left; with Shift in orbit mode: pan"),
    (UP, "orbit, or look around, up and down; with Shift in orbit mode: pan"),
    (CLOSER, "orbit: dolly in and out; fly, walk: move up and down"),
    (STRAFE, "fly, walk: move right and left; Shift is faster"),
    (RISE, "fly, walk: move up and down"),
    (FORWARD, "fly, walk: move forward and back"),
];

/// Snaps the rectangle to whole pixels, and to the picture's size if it nearly matches.
fn on_pixels(rect: Rect, picture: [u32; 2], scale: f32) -> Rect {
    let snapped = |points: f32| (points * scale).round() / scale;
    let size = egui::vec2(picture[0] as f32 / scale, picture[1] as f32 / scale);
    let near = (size - rect.size()).abs().max_elem() * scale < 2.0;
    let min = egui::pos2(snapped(rect.min.x), snapped(rect.min.y));
    Rect::from_min_size(min, if near { size } else { rect.size() })
}

/// Requests the picture in the size of its panel.
pub(super) fn fit(ui: &Ui, whole: Rect, state: &ViewState, actions: &mut Actions) {
    let Some(work) = &state.workspace else { return };
    let scale = ui.ctx().pixels_per_point();
    let pixels = [whole.width(), whole.height()].map(|side| ((side * scale) as u32).clamp(1, 8192));
    // A look with its own resolution always keeps its aspect ratio.
    let session = &work.viewport.session;
    let gate = state.settings().guides.gate || session.fixed_resolution;
    let size = match gate.then_some(f64::from(session.default_aspect_ratio)) {
        Some(aspect) => {
            let fit = f64::from(pixels[0]).min(f64::from(pixels[1]) * aspect);
            [fit, fit / aspect].map(|side| (side.round() as u32).max(1))
        }
        None => pixels,
    };
    // During a resize of the window the picture keeps its size.
    let held = ui.input(|input| input.pointer.any_down());
    actions.push(ViewAction::Hold(held));
    if !held || work.viewport.last_frame.is_none() {
        actions.push(ViewAction::Resize(size));
    }
}

/// The picture's rectangle in its panel.
pub(super) fn picture_rect(ui: &Ui, whole: Rect, state: &ViewState) -> Option<Rect> {
    // The same rectangle at each resolution in motion.
    let [width, height] = state.workspace.as_ref()?.viewport.full_size();
    let within = fitted(whole, width as f32 / height.max(1) as f32);
    Some(on_pixels(within, [width, height], ui.ctx().pixels_per_point()))
}

/// The position of the pointer in the picture.
pub(super) fn point(
    ui: &Ui,
    rect: Rect,
    response: &Response,
    panels: &PanelState,
    actions: &mut Actions,
) {
    let at = if panels.keyboard_pointer {
        Some(rect.center())
    } else {
        response
            .hover_pos()
            .or(ui.input(|input| input.pointer.hover_pos()))
            .filter(|at| rect.contains(*at))
    };
    actions.push(SelectionAction::Point(at.map(|at| {
        let [x, y] = part(rect, at);
        DVec2::new(f64::from(x), f64::from(y))
    })));
}

/// A position of the window in the picture, 0 to 1 right and down.
fn part(rect: Rect, at: Pos2) -> [f32; 2] {
    ((at - rect.min) / rect.size()).into()
}

/// The camera's input from pointer and keys.
pub(super) fn navigate(
    ui: &Ui,
    rect: Rect,
    response: &Response,
    state: &ViewState,
    panels: &PanelState,
    actions: &mut Actions,
) {
    let mode =
        state.workspace.as_ref().map_or(NavigationMode::Orbit, |work| work.controller.mode());
    let mut camera_input = Input::default();
    let height = f64::from(rect.height().max(1.0));
    let dragged = |button| response.dragged_by(button);
    let delta = response.drag_delta();
    let (right, up) = (f64::from(delta.x), -f64::from(delta.y));
    let (shift, alt) = ui.input(|input| (input.modifiers.shift, input.modifiers.alt));
    let turns = match mode {
        NavigationMode::Orbit => {
            dragged(PointerButton::Middle) || (alt && dragged(PointerButton::Primary))
        }
        _ => dragged(PointerButton::Secondary) || dragged(PointerButton::Middle),
    };
    let pans =
        shift && turns || (mode == NavigationMode::Orbit && dragged(PointerButton::Secondary));
    if pans {
        camera_input.pan = DVec2::new(right, up) / height;
    } else if turns {
        camera_input.turn = DVec2::new(right, up) * TURN;
    }
    if response.hovered() {
        camera_input.dolly = f64::from(ui.input(|input| input.smooth_scroll_delta().y)) / 50.0;
    }
    let typed = ui.ctx().egui_wants_keyboard_input() || panels.palette.is_open();
    if !typed && !ui.input(|input| input.modifiers.command) {
        let held = |key: Key| f64::from(u8::from(ui.input(|input| input.key_down(key))));
        let axis = |[more, less]: [Key; 2]| held(more) - held(less);
        let seconds = f64::from(ui.input(|input| input.stable_dt)).min(0.1);
        let arrows = DVec2::new(axis(RIGHT), axis(UP));
        if mode == NavigationMode::Orbit {
            // Letters are shortcuts here; arrows rotate, with Shift they pan.
            if shift {
                camera_input.pan += arrows * KEY_PAN * seconds;
            } else {
                camera_input.turn += arrows * KEY_TURN * seconds;
            }
            camera_input.dolly += axis(CLOSER) * KEY_DOLLY * seconds;
        } else {
            camera_input.turn += arrows * KEY_TURN * seconds;
            camera_input.movement = DVec3::new(axis(STRAFE), axis(RISE), axis(FORWARD));
            let up = axis(CLOSER);
            camera_input.movement.y = (camera_input.movement.y + up).clamp(-1.0, 1.0);
        }
        camera_input.speed_factor = if shift { 5.0 } else { 1.0 };
    }
    actions.push(CameraAction::Move(camera_input));
}

/// A click of the pointer in the picture.
pub(super) fn click(rect: Rect, response: &Response, actions: &mut Actions) {
    if response.clicked()
        && let Some(at) = response.interact_pointer_pos().filter(|at| rect.contains(*at))
    {
        actions.push(SelectionAction::Click(part(rect, at)));
    }
}

/// The keyboard points at the middle of the picture, and Enter clicks there; moving the pointer
/// ends this.
pub(super) fn click_by_keys(
    ui: &Ui,
    rect: Rect,
    state: &ViewState,
    panels: &mut PanelState,
    actions: &mut Actions,
) {
    let pointed =
        ui.input(|input| input.pointer.delta() != egui::Vec2::ZERO || input.pointer.any_down());
    let free = !ui.ctx().egui_wants_keyboard_input()
        && !panels.palette.is_open()
        && panels.no_dialog(state);
    let enter =
        free && ui.input(|input| input.key_pressed(Key::Enter) && input.modifiers.is_none());
    if pointed {
        panels.keyboard_pointer = false;
    } else if enter && panels.keyboard_pointer {
        actions.push(SelectionAction::Click(part(rect, rect.center())));
    } else if enter {
        // The first press only shows the position.
        panels.keyboard_pointer = true;
    }
    if panels.keyboard_pointer {
        let painter = ui.painter_at(rect);
        for (width, color) in [(3.0, Color32::BLACK), (1.0, Color32::WHITE)] {
            let stroke = egui::Stroke::new(width, color);
            let center = rect.center();
            painter.hline(center.x - 9.0..=center.x + 9.0, center.y, stroke);
            painter.vline(center.x, center.y - 9.0..=center.y + 9.0, stroke);
        }
    }
}

/// Hint of the tool's next step, and of a soloed light.
fn hint_text(state: &ViewState) -> Option<String> {
    let work = state.workspace.as_ref()?;
    let aims = matches!(state.tool, Tool::Aim | Tool::Highlight | Tool::Shadow);
    let step = match (aims, work.selected.light_name()) {
        (false, _) => None,
        (true, None) if state.tool == Tool::Highlight => {
            Some("click where the highlight of a new light goes".to_owned())
        }
        (true, None) => Some("no light selected: select a light in the outliner".to_owned()),
        (true, Some(light)) => Some(match (state.tool, work.pointer.occluder) {
            (Tool::Shadow, None) => format!("Shadow of {light}: click the occluder"),
            (Tool::Shadow, Some(_)) => {
                format!("Shadow of {light}: click where it falls")
            }
            (Tool::Highlight, _) => format!("click where the highlight of {light} goes"),
            _ => format!("click the point to aim {light} at"),
        }),
    };
    let solo = work.solo.as_ref().map(|light| format!("solo: {light} (in the picture only)"));
    let lines: Vec<String> = step.into_iter().chain(solo).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Shows the hint.
pub(super) fn hint(ui: &Ui, rect: Rect, state: &ViewState) {
    let Some(text) = hint_text(state) else { return };
    let painter = ui.painter_at(rect);
    let font = egui::FontId::proportional(14.0);
    let galley = painter.layout(text, font, Color32::WHITE, (rect.width() - 24.0).max(40.0));
    // Above the notices at the lower left.
    let place = egui::Align2::CENTER_TOP
        .anchor_size(rect.center_top() + egui::vec2(0.0, 26.0), galley.size());
    painter.rect_filled(place.expand(5.0), 4.0, Color32::from_black_alpha(190));
    painter.galley(place.min, galley, Color32::WHITE);
}
