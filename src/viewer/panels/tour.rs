//! The tour over the picture: it takes no input from the picture or the panels.

use egui::{Key, Ui};

use crate::viewer::{
    action::{Actions, Direction, WindowAction},
    state::{PanelState, ViewState},
    tour::STEPS,
};

/// Width of the text (points).
const WIDTH: f32 = 250.0;

/// The step, if the tour is shown.
pub(super) fn show(ui: &Ui, state: &ViewState, panels: &PanelState, actions: &mut Actions) {
    let Some(step) = panels.tour.step else { return };
    let Some((title, text)) = STEPS.get(step) else { return };
    if panels.keys.open {
        // The list needs the room.
        return;
    }
    // Dialogs, the palette and fields have their own Esc, and so has loading.
    let free = panels.no_dialog(state)
        && !panels.palette.is_open()
        && state.loading.is_none()
        && !ui.ctx().text_edit_focused();
    if free && ui.input(|input| input.key_pressed(Key::Escape)) {
        actions.push(WindowAction::EndTour);
    }
    // In the upper right of the picture: messages are in the lower left.
    let window = ui.ctx().content_rect();
    let shown = state.workspace.is_some() && !state.gallery && state.viewport_rect.is_positive();
    let over = if shown { state.viewport_rect.intersect(window) } else { window };
    let offset = egui::vec2(over.right() - window.right() - 12.0, over.top().max(34.0) + 30.0);
    egui::Window::new("Tour")
        .title_bar(false)
        .resizable(false)
        .anchor(egui::Align2::RIGHT_TOP, offset)
        .show(ui.ctx(), |ui| {
            ui.set_width(WIDTH.min((over.width() - 40.0).max(120.0)));
            ui.strong(format!("{} of {}: {title}", step + 1, STEPS.len()));
            ui.label(*text);
            ui.horizontal(|ui| {
                let last = step + 1 == STEPS.len();
                if ui.button(if last { "Finish" } else { "Next" }).on_hover_text("F2").clicked() {
                    actions.push(WindowAction::Tour(Direction::Forward));
                }
                let back = ui.add_enabled(step > 0, egui::Button::new("Back"));
                if back.on_hover_text("Shift+F2").clicked() {
                    actions.push(WindowAction::Tour(Direction::Backward));
                }
                if !last && ui.button("End tour").on_hover_text("Esc").clicked() {
                    actions.push(WindowAction::EndTour);
                }
            });
        });
}

#[cfg(test)]
mod tests {
    use egui::Modifiers;

    use super::*;
    use crate::viewer::panels::testing::PanelTest;

    #[test]
    fn buttons_step_and_escape_ends_except_under_the_palette() {
        let mut test =
            PanelTest::new(|ui, state, panels, actions| show(ui, state, panels, actions));
        assert_eq!(test.press(Modifiers::NONE, Key::Escape), []);
        test.panels.tour.forward();
        test.frame(vec![]);
        test.frame(vec![]);
        assert!(test.shows("1 of 6: Look around"));
        assert_eq!(test.click("Next"), [WindowAction::Tour(Direction::Forward).into()]);
        assert_eq!(test.click("Back"), [], "the first step has none before");
        assert_eq!(test.click("End tour"), [WindowAction::EndTour.into()]);
        assert_eq!(test.press(Modifiers::NONE, Key::Escape), [WindowAction::EndTour.into()]);
        test.panels.palette.toggle();
        assert_eq!(test.press(Modifiers::NONE, Key::Escape), []);
    }
}
