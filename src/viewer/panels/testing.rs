//! Panels in tests, without a window, a device or a scene: events in, texts and actions out.

use egui::{Context, Event, Key, Modifiers, PointerButton, Pos2, RawInput, Rect, Shape, Ui, vec2};

use crate::viewer::{
    action::{Action, Actions},
    recent::RecentScenes,
    settings::SettingsStore,
    state::{PanelState, ViewState},
};

/// A panel, as a function of state.
type Show = fn(&mut Ui, &ViewState, &mut PanelState, &mut Actions);

/// A panel and its state.
pub(super) struct PanelTest {
    ctx: Context,
    pub state: ViewState,
    pub panels: PanelState,
    show: Show,
    texts: Vec<(String, Pos2)>,
}

impl PanelTest {
    /// Shows a panel of a window without a scene.
    pub fn new(show: Show) -> Self {
        let state = ViewState::new(RecentScenes::of(None).0, SettingsStore::of(None).0);
        let (ctx, panels) = (Context::default(), PanelState::default());
        let mut test = Self { ctx, state, panels, show, texts: Vec::new() };
        // The first frame has no sizes of texts yet.
        test.frame(vec![]);
        test.frame(vec![]);
        test
    }

    /// One frame with these events; returns the panel's actions.
    pub fn frame(&mut self, events: Vec<Event>) -> Vec<Action> {
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, vec2(1600.0, 900.0))),
            focused: true,
            events,
            ..RawInput::default()
        };
        let mut actions = Actions::default();
        let ctx = self.ctx.clone();
        let mut output = ctx.run_ui(input, |ui| {
            (self.show)(ui, &self.state, &mut self.panels, &mut actions);
        });
        // Nothing is painted.
        output.textures_delta.clear();
        self.texts.clear();
        for shape in &output.shapes {
            texts(&shape.shape, &mut self.texts);
        }
        actions.into_iter().collect()
    }

    /// Presses and releases a key; returns the actions.
    pub fn press(&mut self, modifiers: Modifiers, key: Key) -> Vec<Action> {
        let key =
            |pressed| Event::Key { key, physical_key: None, pressed, repeat: false, modifiers };
        let mut actions = self.frame(vec![Event::ModifiersChanged(modifiers), key(true)]);
        actions.extend(self.frame(vec![key(false), Event::ModifiersChanged(Modifiers::NONE)]));
        actions
    }

    /// Clicks a text; returns the actions.
    pub fn click(&mut self, text: &str) -> Vec<Action> {
        let found = self.texts.iter().find(|(found, _)| found == text);
        let pos = found.unwrap_or_else(|| panic!("no text {text}: {:?}", self.texts)).1;
        let pos = pos + vec2(2.0, 6.0);
        let mut actions = self.frame(vec![Event::PointerMoved(pos)]);
        for pressed in [true, false] {
            let (button, modifiers) = (PointerButton::Primary, Modifiers::NONE);
            let event = Event::PointerButton { pos, button, pressed, modifiers };
            actions.extend(self.frame(vec![event]));
        }
        // Menus open in the next frame, and have their sizes in the one after it.
        for _ in 0..2 {
            actions.extend(self.frame(vec![]));
        }
        actions
    }

    /// True if a text is shown.
    pub fn shows(&self, text: &str) -> bool {
        self.texts.iter().any(|(found, _)| found == text)
    }
}

/// The texts of a shape, and their positions.
fn texts(shape: &Shape, found: &mut Vec<(String, Pos2)>) {
    match shape {
        Shape::Text(text) => found.push((text.galley.text().to_owned(), text.pos)),
        Shape::Vec(shapes) => shapes.iter().for_each(|shape| texts(shape, found)),
        _ => {}
    }
}
