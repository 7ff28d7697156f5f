//! Keyboard shortcuts.

use egui::{Key, KeyboardShortcut, Modifiers, Ui, text_selection::LabelSelectionState};

use crate::{
    camera_control::NavigationMode,
    viewer::{app::App, settings::WindowSettings, tool::Tool},
};

const SAVE: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::S);
const UNDO: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::Z);
const REDO: KeyboardShortcut =
    KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::Z);
const REDO_TOO: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::Y);
const QUIT: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::Q);
const PALETTE: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::P);

const SIDES: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::Space);

impl App {
    /// Performs the shortcuts that are pressed.
    pub(super) fn shortcuts(&mut self, ui: &Ui) {
        let ctx = ui.ctx().clone();
        let pressed =
            |shortcut: &KeyboardShortcut| ctx.input_mut(|input| input.consume_shortcut(shortcut));
        // Text fields have their own undo.
        if !ctx.text_edit_focused() {
            if pressed(&REDO) || pressed(&REDO_TOO) {
                self.redo();
            } else if pressed(&UNDO) {
                self.undo();
            }
        }
        if pressed(&SAVE) {
            self.save();
        }
        if pressed(&QUIT) {
            self.close();
        }
        if pressed(&PALETTE) {
            self.palette.toggle();
        }
        if pressed(&SIDES) {
            self.sides = !self.sides;
        }
        // Window systems report a copy event, not its key. egui copies selected text itself.
        let copies = ctx.input(|input| input.events.contains(&egui::Event::Copy));
        let marked = ctx
            .with_plugin(|marks: &mut LabelSelectionState| marks.has_selection())
            .unwrap_or(false);
        if copies && !marked && !ctx.egui_wants_keyboard_input() && self.workspace.is_some() {
            self.copy_reading();
        }
        // Unmodified keys go to a focused text field.
        if ctx.egui_wants_keyboard_input() || self.workspace.is_none() {
            return;
        }
        let key = |key: Key| ctx.input(|input| input.key_pressed(key) && input.modifiers.is_none());
        if key(Key::F5) {
            self.reload_shaders();
        }
        if key(Key::Home) {
            self.home();
        }
        if key(Key::F) {
            self.frame_selected();
        }
        if key(Key::V) {
            self.reference_view.next_mode();
        }
        if key(Key::H) {
            self.scopes.open = !self.scopes.open;
        }
        if key(Key::X) {
            self.mixer.open = !self.mixer.open;
        }
        for (bracket, by) in [(Key::OpenBracket, -0.02), (Key::CloseBracket, 0.02)] {
            // A tap between two frames is down in neither, so events are read.
            let steps = ctx.input(|input| {
                input.num_presses(bracket).max(usize::from(input.key_down(bracket)))
            });
            if steps > 0 {
                self.reference_view.move_wipe(by * steps as f32);
            }
        }
        if key(Key::N) {
            let settings = self.settings();
            self.set_settings(WindowSettings { hdr: !settings.hdr, ..settings });
        }
        if key(Key::C) {
            self.scopes.next_overlay();
        }
        for (letter, tool) in
            [(Key::G, Tool::Move), (Key::R, Tool::Turn), (Key::T, Tool::Size), (Key::B, Tool::Flow)]
        {
            if key(letter) {
                self.set_tool(tool);
            }
        }
        if key(Key::M) {
            self.set_tool(Tool::Meter);
        }
        if key(Key::P) {
            self.set_tool(Tool::Focus);
        }
        if key(Key::Escape) {
            self.set_tool(Tool::Select);
        }
        if key(Key::Space) {
            self.play();
        }
        if key(Key::F12) {
            self.screenshot();
        }
        for (number, mode) in [
            (Key::Num1, NavigationMode::Orbit),
            (Key::Num2, NavigationMode::Fly),
            (Key::Num3, NavigationMode::Walk),
        ] {
            if key(number) {
                self.set_camera_mode(mode);
            }
        }
    }
}
