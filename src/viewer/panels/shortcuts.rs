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

const fn plain(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::NONE, key)
}

/// A shortcut, its action, and its description.
type Command<A> = (KeyboardShortcut, A, &'static str);

/// Shortcuts of undo, which text fields have of their own. The first that is pressed counts:
/// Ctrl+Z also matches Ctrl+Shift+Z.
const UNDO: [Command<DocumentAction>; 3] = [
    (
        KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::Z),
        DocumentAction::Redo,
        "redo",
    ),
    (command(Key::Y), DocumentAction::Redo, "redo"),
    (command(Key::Z), DocumentAction::Undo, "undo"),
];

/// Shortcuts that always count. Those with more modifiers come first: F2 also matches Shift+F2.
const COMMANDS: [Command<Action>; 8] = [
    (command(Key::S), Action::Document(DocumentAction::Save), "save the look"),
    (command(Key::Q), Action::Window(WindowAction::Close), "quit"),
    (
        command(Key::P),
        Action::Window(WindowAction::TogglePalette),
        "command palette: any property, setting or action by name",
    ),
    (command(Key::Space), Action::View(ViewAction::ToggleSides), "show or hide the side panels"),
    (command(Key::D), Action::Item(ItemAction::Duplicate), "add a copy of the selected light"),
    (plain(Key::F1), Action::Window(WindowAction::ToggleKeys), "show or hide this list"),
    (
        KeyboardShortcut::new(Modifiers::SHIFT, Key::F2),
        Action::Window(WindowAction::Tour(Direction::Backward)),
        "step before in the tour",
    ),
    (
        plain(Key::F2),
        Action::Window(WindowAction::Tour(Direction::Forward)),
        "start the tour; its next step",
    ),
];

/// Unmodified keys, which count while a scene is open and no text field has the focus.
const KEYS: [(Key, Action, &str); 23] = [
    (
        Key::F5,
        Action::Engine(EngineAction::ReloadShaders),
        "reload the shaders, then after each change of a file",
    ),
    (Key::Home, Action::Camera(CameraAction::Home), "return to the look's camera"),
    (
        Key::Delete,
        Action::Item(ItemAction::Delete),
        "delete the selected light or camera; a light of the file is switched off",
    ),
    (Key::F, Action::Camera(CameraAction::FrameSelected), "frame the selection"),
    (
        Key::V,
        Action::View(ViewAction::NextCompare),
        "next view: raster, reference, wipe, side by side, flicker, stops, FLIP",
    ),
    (Key::H, Action::View(ViewAction::ToggleScopes), "show or hide the scopes"),
    (Key::X, Action::View(ViewAction::ToggleMixer), "show or hide the light mixer"),
    (Key::N, Action::Window(WindowAction::ToggleHdr), "switch the HDR display on or off"),
    (
        Key::C,
        Action::View(ViewAction::NextOverlay),
        "next overlay: false color, zones, zebra, focus peaking",
    ),
    (
        Key::G,
        Action::Selection(SelectionAction::Tool(Tool::Move)),
        "tool Move: arrows drag the selected light",
    ),
    (
        Key::R,
        Action::Selection(SelectionAction::Tool(Tool::Turn)),
        "tool Turn: rings rotate the selected light, or move the sun",
    ),
    (
        Key::T,
        Action::Selection(SelectionAction::Tool(Tool::Size)),
        "tool Size: handles set size or cone of the selected light",
    ),
    (
        Key::B,
        Action::Selection(SelectionAction::Tool(Tool::Flow)),
        "tool Paint flow: a drag paints the flow of the selected water",
    ),
    (
        Key::M,
        Action::Selection(SelectionAction::Tool(Tool::Meter)),
        "tool Meter: a click measures the illuminance",
    ),
    (
        Key::P,
        Action::Selection(SelectionAction::Tool(Tool::Focus)),
        "tool Focus: a click focuses there",
    ),
    (Key::Escape, Action::Selection(SelectionAction::Tool(Tool::Select)), "no tool"),
    (Key::Space, Action::Camera(CameraAction::Play), "start or stop the animation"),
    (
        Key::Comma,
        Action::Camera(CameraAction::SeekKey(Direction::Backward)),
        "seek to the key before in the timeline",
    ),
    (
        Key::Period,
        Action::Camera(CameraAction::SeekKey(Direction::Forward)),
        "seek to the next key of the timeline",
    ),
    (
        Key::F12,
        Action::Engine(EngineAction::Screenshot),
        "save the picture as PNG and EXR, at full quality",
    ),
    (
        Key::Num1,
        Action::Camera(CameraAction::Mode(NavigationMode::Orbit)),
        "orbit: middle drag orbits, right drag pans, the wheel dollies",
    ),
    (
        Key::Num2,
        Action::Camera(CameraAction::Mode(NavigationMode::Fly)),
        "fly: right drag looks around",
    ),
    (
        Key::Num3,
        Action::Camera(CameraAction::Mode(NavigationMode::Walk)),
        "walk: fly on foot, with collisions",
    ),
];

/// Keys that move the line of the wipe, by fractions of the picture's width.
const BRACKETS: [(Key, f32, &str); 2] = [
    (Key::OpenBracket, -WIPE_STEP, "move the line of the wipe to the left"),
    (Key::CloseBracket, WIPE_STEP, "move the line of the wipe to the right"),
];

/// Window systems report these as events without a key.
const COPY: (KeyboardShortcut, &str) =
    (command(Key::C), "copy and print the reading of the pixel under the pointer");
const PASTE: (KeyboardShortcut, &str) = (command(Key::V), "add the lights of a copied look");

/// All shortcuts and their descriptions, in the order of the list of keys.
pub(super) fn all() -> Vec<(KeyboardShortcut, &'static str)> {
    let commands = COMMANDS.into_iter().map(|(shortcut, _, text)| (shortcut, text));
    let undo = UNDO.into_iter().map(|(shortcut, _, text)| (shortcut, text));
    let keys = KEYS.into_iter().map(|(key, _, text)| (plain(key), text));
    let brackets = BRACKETS.into_iter().map(|(key, _, text)| (plain(key), text));
    commands.chain(undo).chain([COPY, PASTE]).chain(keys).chain(brackets).collect()
}

/// The actions of the shortcuts that are pressed.
pub(super) fn pressed(ui: &Ui, scene_is_open: bool, actions: &mut Actions) {
    let ctx = ui.ctx();
    let pressed =
        |shortcut: &KeyboardShortcut| ctx.input_mut(|input| input.consume_shortcut(shortcut));
    if !ctx.text_edit_focused()
        && let Some((_, action, _)) = UNDO.into_iter().find(|(shortcut, ..)| pressed(shortcut))
    {
        actions.push(action);
    }
    for (shortcut, action, _) in COMMANDS {
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
    for (key, action, _) in KEYS {
        if ctx.input(|input| input.key_pressed(key) && input.modifiers.is_none()) {
            actions.push(action);
        }
    }
    for (bracket, by, _) in BRACKETS {
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
        for (shortcut, action, _) in COMMANDS {
            assert_eq!(test.press(shortcut.modifiers, shortcut.logical_key), [action]);
        }
        for (shortcut, action, _) in UNDO {
            let pressed = test.press(shortcut.modifiers, shortcut.logical_key);
            assert_eq!(pressed, [action.into()], "Ctrl+Shift+Z is not Ctrl+Z too");
        }
        for (key, action, _) in KEYS {
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
        for (key, ..) in KEYS {
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
