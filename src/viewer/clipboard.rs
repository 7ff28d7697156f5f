//! The clipboard of the window system, on X11. egui-winit's own clipboard brings a Wayland client,
//! which the window, an X11 program, cannot use.

use winit::{
    event::{KeyEvent, WindowEvent},
    keyboard::{Key, KeyCode, NamedKey, PhysicalKey},
};

/// The clipboard; without a connection to it, texts are copied inside of the window only.
pub(super) struct Clipboard {
    system: Option<arboard::Clipboard>,
    /// True while Ctrl (Command on macOS) is held.
    control: bool,
}

impl Clipboard {
    pub(super) fn new() -> Self {
        let opened = arboard::Clipboard::new();
        let system = opened.inspect_err(|error| log::warn!("no clipboard: {error}")).ok();
        Self { system, control: false }
    }

    /// Copies the texts of a frame's output.
    pub(super) fn copy(&mut self, output: &egui::PlatformOutput) {
        let Some(clipboard) = &mut self.system else { return };
        for command in &output.commands {
            if let egui::OutputCommand::CopyText(text) = command
                && let Err(error) = clipboard.set_text(text.as_str())
            {
                log::error!("cannot copy to the clipboard: {error}");
            }
        }
    }

    /// Hands the clipboard's text to the input before it reads a key that may paste.
    pub(super) fn paste(&mut self, event: &WindowEvent, input: &mut egui_winit::State) {
        match (event, &mut self.system) {
            (WindowEvent::ModifiersChanged(keys), _) => {
                self.control = keys.state().control_key() || keys.state().super_key();
            }
            (WindowEvent::KeyboardInput { event: key, .. }, Some(clipboard))
                if key.state.is_pressed() && may_paste(key, self.control) =>
            {
                // An empty text pastes nothing.
                input.set_clipboard_text(clipboard.get_text().unwrap_or_default());
            }
            _ => {}
        }
    }
}

/// True for the paste key and for Ctrl+V, by the letter or by the place on the keyboard.
fn may_paste(key: &KeyEvent, control: bool) -> bool {
    let v = matches!(&key.logical_key, Key::Character(text) if text.eq_ignore_ascii_case("v"))
        || key.physical_key == PhysicalKey::Code(KeyCode::KeyV);
    control && v || key.logical_key == Key::Named(NamedKey::Paste)
}
