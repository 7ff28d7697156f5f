//! Command palette: every property of the look and every setting of the window, by name.

use egui::{Key, Ui};

use crate::{
    scene::look,
    viewer::{
        app::App, palette::Palette, reference_view, scene_items, selection::Selection, settings,
        tool::Tool, viewport::Viewport,
    },
};

/// Actions of the window that are not saved, with their accepted values: all of them work without a
/// pointer.
const ACTIONS: [(&str, &str); 4] = [
    (
        "view.select",
        "camera, environment, effects, or the name of a light, water, volume or material",
    ),
    (
        "view.tool",
        "point, move, turn, size, meter, focus, aim, highlight, shadow, gray card or paint flow: action of a click",
    ),
    ("view.solo", "name of a light to isolate in the picture; empty shows all lights"),
    ("view.compare", "raster, reference, wipe, side by side, flicker, stops or flip"),
];

/// The selection of a name.
type Kind = fn(String) -> Selection;

/// Lines shown at once.
const LINES: usize = 12;

/// Names that stand for `*` in properties, each with its section.
fn names(viewport: &Viewport) -> Vec<(&'static str, String)> {
    let of = |section: &'static str, names: Vec<String>| {
        names.into_iter().map(move |name| (section, name))
    };
    let look = &viewport.session.look;
    of("lights", scene_items::lights(viewport))
        .chain(of("materials", scene_items::materials(viewport)))
        .chain(of(
            "water",
            scene_items::waters(viewport).into_iter().map(|(name, _)| name).collect(),
        ))
        .chain(of("volumes", scene_items::volumes(viewport)))
        .chain(of("probes", look.probes.keys().cloned().collect()))
        .collect()
}

impl App {
    /// Performs one of `ACTIONS`.
    fn run_action(&mut self, path: &str, value: Option<&str>) -> Result<(), String> {
        let Some((_, takes)) = ACTIONS.iter().find(|(known, _)| *known == path) else {
            let known = ACTIONS.map(|(path, _)| path).join(", ");
            return Err(format!("{path}: no such action; expected {known}"));
        };
        let Some(work) = &mut self.workspace else {
            return Err("no scene is open: open one first".into());
        };
        let invalid = || format!("{path} = {}: expected {takes}", value.unwrap_or_default());
        let plain = value.unwrap_or_default().to_lowercase();
        let names = names(&work.viewport);
        let named = |section: &str| {
            names.iter().find(|(of, name)| *of == section && Some(name.as_str()) == value)
        };
        match path {
            "view.select" => {
                let kinds: [(&str, Kind); 4] = [
                    ("lights", Selection::Light),
                    ("water", Selection::Water),
                    ("volumes", Selection::Volume),
                    ("materials", Selection::Material),
                ];
                let found =
                    kinds.into_iter().find_map(|(section, of)| Some(of(named(section)?.1.clone())));
                work.selected = match (found, plain.as_str()) {
                    (Some(found), _) => found,
                    (None, "camera") => Selection::Camera,
                    // The name of version 0.1 is `surroundings`.
                    (None, "environment" | "surroundings") => Selection::Environment,
                    (None, "effects") => Selection::Effects,
                    _ => return Err(invalid()),
                };
            }
            "view.tool" => {
                // The name of version 0.1 has the British spelling.
                let plain = plain.replace("grey", "gray");
                let found = Tool::ALL.into_iter().find(|(_, name, _)| name.to_lowercase() == plain);
                self.set_tool(found.ok_or_else(invalid)?.0);
            }
            "view.solo" => {
                let light = match value {
                    Some(_) => Some(named("lights").ok_or_else(invalid)?.1.clone()),
                    None => None,
                };
                self.solo(light);
            }
            _ => {
                let found = reference_view::CompareMode::ALL
                    .into_iter()
                    .find(|(_, name)| name.to_lowercase() == plain);
                self.reference_view.set_mode(found.ok_or_else(invalid)?.0);
            }
        }
        Ok(())
    }

    pub(super) fn show_palette(&mut self, ui: &mut Ui) {
        if !self.palette.open {
            return;
        }
        let ctx = ui.ctx().clone();
        let named = self.workspace.as_ref().map(|work| names(&work.viewport)).unwrap_or_default();
        let typed = self.palette.text.split('=').next().unwrap_or_default().trim().to_lowercase();
        let words: Vec<&str> = typed.split([' ', '.']).filter(|word| !word.is_empty()).collect();
        let mut found: Vec<(String, &str)> = Vec::new();
        let properties = look::properties().map(|property| (property.path, property.description));
        for (path, takes) in properties.chain(settings::SETTINGS).chain(ACTIONS) {
            let paths = match path.split_once(".*.") {
                Some((section, end)) => {
                    let of = named.iter().filter(|(of, _)| *of == section);
                    of.map(|(_, name)| format!("{section}.{name}.{end}")).collect()
                }
                None => vec![path.to_owned()],
            };
            for path in paths {
                let lower = path.to_lowercase();
                if words.iter().all(|word| lower.contains(word)) {
                    found.push((path, takes));
                }
            }
        }
        found.truncate(LINES);
        let mut run = None;
        let (mut close, mut unvalued) = (false, false);
        egui::Window::new("Command palette")
            .anchor(egui::Align2::CENTER_TOP, [0.0, 60.0])
            .resizable(false)
            .collapsible(false)
            .show(&ctx, |ui| {
                ui.set_min_width(560.0);
                let field = ui.add(
                    egui::TextEdit::singleline(&mut self.palette.text)
                        .hint_text("camera.lens.f_stop=2.8; Tab completes, Enter sets")
                        .lock_focus(true)
                        .desired_width(f32::INFINITY),
                );
                field.request_focus();
                let (down, up, tab, enter, escape) = ui.input(|input| {
                    let pressed = |key| input.key_pressed(key);
                    (
                        pressed(Key::ArrowDown),
                        pressed(Key::ArrowUp),
                        pressed(Key::Tab),
                        pressed(Key::Enter),
                        pressed(Key::Escape),
                    )
                });
                close = escape;
                let most = found.len().saturating_sub(1);
                self.palette.chosen = match (down, up) {
                    (true, _) => (self.palette.chosen + 1).min(most),
                    (_, true) => self.palette.chosen.saturating_sub(1),
                    _ => self.palette.chosen.min(most),
                };
                for (index, (path, takes)) in found.iter().enumerate() {
                    let line = ui
                        .selectable_label(index == self.palette.chosen, path)
                        .on_hover_text(*takes);
                    if line.clicked() || (tab && index == self.palette.chosen) {
                        self.palette.text = format!("{path}=");
                        // The value follows.
                        let end = egui::text::CCursor::new(self.palette.text.chars().count());
                        let mut state =
                            egui::TextEdit::load_state(&ctx, field.id).unwrap_or_default();
                        state.cursor.set_char_range(Some(egui::text::CCursorRange::one(end)));
                        state.store(&ctx, field.id);
                    }
                    if index == self.palette.chosen {
                        ui.weak(*takes);
                    }
                }
                if enter && self.palette.text.contains('=') {
                    run = Some(self.palette.text.clone());
                } else if enter {
                    unvalued = true;
                }
            });
        if let Some(assignment) = run
            && let Some((path, value)) = look::split_assignment(&assignment)
        {
            let value = (!value.is_empty()).then_some(value);
            // Without a value, a property is removed, and a setting returns to its default.
            if path.starts_with("view.") {
                if let Err(error) = self.run_action(path, value) {
                    self.error(error);
                }
            } else if path.starts_with("window.") {
                let mut settings = self.settings();
                match settings.set(path, value) {
                    Ok(()) => self.set_settings(settings),
                    Err(error) => self.error(error),
                }
            } else {
                self.set(&[(path, value)]);
            }
            close = true;
        }
        if unvalued {
            self.error("value missing: expected PATH=VALUE; Tab completes the path".into());
        }
        if close {
            self.palette = Palette::default();
        }
    }
}
