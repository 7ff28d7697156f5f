//! Keyboard shortcuts.

use egui::{Event, Key, KeyboardShortcut, Modifiers, Ui, text_selection::LabelSelectionState};

use crate::{
    camera_control::NavigationMode,
    viewer::{
        action::{
            Action, Actions, CameraAction, Direction, DocumentAction, EngineAction, ItemAction,
            SelectionAction, ViewAction, WindowAction,
        },
        tool::Tool,
    },
};

/// Fraction of the picture's width by which a bracket key moves the wipe's line.
const WIPE_STEP: f32 = 0.02;

const fn command(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::COMMAND, key)
}

/// Shortcuts of undo, which text fields have of their own. The first that is pressed counts:
/// Ctrl+Z also matches Ctrl+Shift+Z.
const UNDO: [(KeyboardShortcut, DocumentAction); 3] = [
    (
        KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::Z),
        DocumentAction::Redo,
    ),
    (command(Key::Y), DocumentAction::Redo),
    (command(Key::Z), DocumentAction::Undo),
];

/// Shortcuts that always count.
const COMMANDS: [(KeyboardShortcut, Action); 5] = [
    (command(Key::S), Action::Document(DocumentAction::Save)),
    (command(Key::Q), Action::Window(WindowAction::Close)),
    (command(Key::P), Action::Window(WindowAction::TogglePalette)),
    (command(Key::Space), Action::View(ViewAction::ToggleSides)),
    (command(Key::D), Action::Item(ItemAction::Duplicate)),
];

/// Unmodified keys, which count while a scene is open and no text field has the focus.
const KEYS: [(Key, Action); 23] = [
    (Key::F5, Action::Engine(EngineAction::ReloadShaders)),
    (Key::Home, Action::Camera(CameraAction::Home)),
    (Key::Delete, Action::Item(ItemAction::Delete)),
    (Key::F, Action::Camera(CameraAction::FrameSelected)),
    (Key::V, Action::View(ViewAction::NextCompare)),
    (Key::H, Action::View(ViewAction::ToggleScopes)),
    (Key::X, Action::View(ViewAction::ToggleMixer)),
    (Key::N, Action::Window(WindowAction::ToggleHdr)),
    (Key::C, Action::View(ViewAction::NextOverlay)),
    (Key::G, Action::Selection(SelectionAction::Tool(Tool::Move))),
    (Key::R, Action::Selection(SelectionAction::Tool(Tool::Turn))),
    (Key::T, Action::Selection(SelectionAction::Tool(Tool::Size))),
    (Key::B, Action::Selection(SelectionAction::Tool(Tool::Flow))),
    (Key::M, Action::Selection(SelectionAction::Tool(Tool::Meter))),
    (Key::P, Action::Selection(SelectionAction::Tool(Tool::Focus))),
    (Key::Escape, Action::Selection(SelectionAction::Tool(Tool::Select))),
    (Key::Space, Action::Camera(CameraAction::Play)),
    (Key::Comma, Action::Camera(CameraAction::SeekKey(Direction::Backward))),
    (Key::Period, Action::Camera(CameraAction::SeekKey(Direction::Forward))),
    (Key::F12, Action::Engine(EngineAction::Screenshot)),
    (Key::Num1, Action::Camera(CameraAction::Mode(NavigationMode::Orbit))),
    (Key::Num2, Action::Camera(CameraAction::Mode(NavigationMode::Fly))),
    (Key::Num3, Action::Camera(CameraAction::Mode(NavigationMode::Walk))),
];

/// The actions of the shortcuts that are pressed.
pub(super) fn pressed(ui: &Ui, scene_is_open: bool, actions: &mut Actions) {
    let ctx = ui.ctx();
    let pressed =
        |shortcut: &KeyboardShortcut| ctx.input_mut(|input| input.consume_shortcut(shortcut));
    if !ctx.text_edit_focused()
        && let Some((_, action)) = UNDO.into_iter().find(|(shortcut, _)| pressed(shortcut))
    {
        actions.push(action);
    }
    for (shortcut, action) in COMMANDS {
        if pressed(&shortcut) {
            actions.push(action);
        }
    }
    // Window systems report a copy event, not its key. egui copies selected text itself.
    let copies = ctx.input(|input| input.events.contains(&Event::Copy));
    let marked =
        ctx.with_plugin(|marks: &mut LabelSelectionState| marks.has_selection()).unwrap_or(false);
    // Unmodified keys go to a focused text field.
    if ctx.egui_wants_keyboard_input() || !scene_is_open {
        return;
    }
    if copies && !marked {
        actions.push(WindowAction::CopyReading);
    }
    let pasted = ctx.input(|input| {
        let text = |event: &Event| match event {
            Event::Paste(text) => Some(text.clone()),
            _ => None,
        };
        input.events.iter().find_map(text)
    });
    if let Some(text) = pasted {
        actions.push(ItemAction::Paste(Some(text)));
    }
    for (key, action) in KEYS {
        if ctx.input(|input| input.key_pressed(key) && input.modifiers.is_none()) {
            actions.push(action);
        }
    }
    for (bracket, by) in [(Key::OpenBracket, -WIPE_STEP), (Key::CloseBracket, WIPE_STEP)] {
        // A tap between two frames is down in neither, so events are read.
        let steps =
            ctx.input(|input| input.num_presses(bracket).max(usize::from(input.key_down(bracket))));
        if steps > 0 {
            actions.push(ViewAction::MoveWipe(by * steps as f32));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::viewer::panels::testing::PanelTest;

    fn with_a_scene() -> PanelTest {
        PanelTest::new(|ui, _, _, actions| pressed(ui, true, actions))
    }

    #[test]
    fn each_shortcut_gives_its_action_alone() {
        let mut test = with_a_scene();
        for (shortcut, action) in COMMANDS {
            assert_eq!(test.press(shortcut.modifiers, shortcut.logical_key), [action]);
        }
        for (shortcut, action) in UNDO {
            let pressed = test.press(shortcut.modifiers, shortcut.logical_key);
            assert_eq!(pressed, [action.into()], "Ctrl+Shift+Z is not Ctrl+Z too");
        }
        for (key, action) in KEYS {
            assert_eq!(test.press(Modifiers::NONE, key), [action]);
            assert_eq!(test.press(Modifiers::ALT, key), [], "{key:?}");
        }
        assert_eq!(
            test.press(Modifiers::NONE, Key::OpenBracket),
            [ViewAction::MoveWipe(-WIPE_STEP).into()]
        );
        assert_eq!(test.frame(vec![Event::Copy]), [WindowAction::CopyReading.into()]);
        let paste = Event::Paste("[lights.A]".into());
        assert_eq!(test.frame(vec![paste]), [ItemAction::Paste(Some("[lights.A]".into())).into()]);
    }

    #[test]
    fn tools_have_the_keys_that_their_hints_name() {
        let mut test = with_a_scene();
        let mut named = 0;
        for (tool, _, hint) in Tool::ALL {
            let Some(key) = hint.split_once(": ").and_then(|(key, _)| Key::from_name(key)) else {
                continue;
            };
            named += 1;
            assert_eq!(test.press(Modifiers::NONE, key), [SelectionAction::Tool(tool).into()]);
        }
        assert_eq!(named, 7);
    }

    #[test]
    fn without_a_scene_only_commands_count() {
        let mut test = PanelTest::new(|ui, _, _, actions| pressed(ui, false, actions));
        for (key, _) in KEYS {
            assert_eq!(test.press(Modifiers::NONE, key), [], "{key:?}");
        }
        assert_eq!(test.frame(vec![Event::Copy]), []);
        assert_eq!(test.press(Modifiers::COMMAND, Key::S), [DocumentAction::Save.into()]);
    }

    #[test]
    fn a_focused_text_field_takes_keys_and_undo() {
        let mut test = PanelTest::new(|ui, _, panels, actions| {
            ui.text_edit_singleline(&mut panels.open_path).request_focus();
            pressed(ui, true, actions);
        });
        assert_eq!(test.press(Modifiers::NONE, Key::V), []);
        assert_eq!(test.press(Modifiers::COMMAND, Key::Z), []);
        assert_eq!(test.frame(vec![Event::Copy]), []);
        assert_eq!(test.press(Modifiers::COMMAND, Key::P), [WindowAction::TogglePalette.into()]);
    }
}
