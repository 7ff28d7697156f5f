//! Command palette: every property of the look and every setting of the window, by name.

use egui::{Key, Ui};

use super::fields;
use crate::{
    scene::look::{self, LightShape},
    settings::Choice,
    viewer::{
        action::{
            Action, Actions, CameraAction, Direction, DocumentAction, ItemAction, SelectionAction,
            ViewAction, WindowAction,
        },
        palette::Palette,
        reference_view::CompareMode,
        rig::Rig,
        scene_items,
        selection::Selection,
        settings::{self, WindowSettings},
        state::{PanelState, ViewState},
        tool::Tool,
        viewport::Viewport,
    },
};

/// Actions of the window that are not saved, with their accepted values: all of them work without a
/// pointer.
const ACTIONS: [(&str, &str); 13] = [
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
    (
        "view.add_light",
        "point, spot, sphere, disk, rectangle, tube or sun: adds a light to the look",
    ),
    ("view.add_rig", "three-point, softbox left, softbox right or rim pair: adds its lights"),
    ("view.add_camera", "name of a new camera at the current view"),
    ("view.duplicate", "no value: adds a copy of the selected light"),
    ("view.rename", "a new name for the selected light, which the look adds"),
    ("view.set_key", "PATH=VALUE: sets a key of the timeline at the present time"),
    ("view.next_key", "no value: seeks to the next key of the timeline"),
    ("view.previous_key", "no value: seeks to the key before"),
    ("view.delete", "no value: deletes the selected light, or switches off one of the file"),
];

/// The selection of a name.
type Kind = fn(String) -> Selection;

/// Lines shown at once.
const LINES: usize = 12;

/// Names that stand for `*` in properties, each with its section.
type Names = Vec<(&'static str, String)>;

/// The names of a scene.
fn names(viewport: &Viewport) -> Names {
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

/// One of `ACTIONS`, given the names of the open scene.
fn view_action(path: &str, value: Option<&str>, names: Option<&Names>) -> Result<Action, String> {
    let Some((_, takes)) = ACTIONS.iter().find(|(known, _)| *known == path) else {
        let known = ACTIONS.map(|(path, _)| path).join(", ");
        return Err(format!("{path}: no such action; expected {known}"));
    };
    let names = names.ok_or("no scene is open: open one first")?;
    let invalid = || format!("{path} = {}: expected {takes}", value.unwrap_or_default());
    let plain = value.unwrap_or_default().to_lowercase();
    let named = |section: &str| {
        names.iter().find(|(of, name)| *of == section && Some(name.as_str()) == value)
    };
    Ok(match path {
        "view.select" => {
            let kinds: [(&str, Kind); 4] = [
                ("lights", Selection::Light),
                ("water", Selection::Water),
                ("volumes", Selection::Volume),
                ("materials", Selection::Material),
            ];
            let found =
                kinds.into_iter().find_map(|(section, of)| Some(of(named(section)?.1.clone())));
            let item = match (found, plain.as_str()) {
                (Some(found), _) => found,
                (None, "camera") => Selection::Camera,
                // The name of version 0.1 is `surroundings`.
                (None, "environment" | "surroundings") => Selection::Environment,
                (None, "effects") => Selection::Effects,
                _ => return Err(invalid()),
            };
            SelectionAction::Select(item).into()
        }
        "view.tool" => {
            // The name of version 0.1 has the British spelling.
            let plain = plain.replace("grey", "gray");
            let found = Tool::ALL.into_iter().find(|(_, name, _)| name.to_lowercase() == plain);
            SelectionAction::Tool(found.ok_or_else(invalid)?.0).into()
        }
        "view.add_light" => {
            ItemAction::AddLight(LightShape::from_name(&plain).ok_or_else(invalid)?).into()
        }
        "view.add_rig" => {
            let found = Rig::ALL.into_iter().find(|(name, _)| *name == plain);
            ItemAction::AddRig(found.ok_or_else(invalid)?.1).into()
        }
        "view.add_camera" => ItemAction::AddCamera(value.ok_or_else(invalid)?.to_owned()).into(),
        "view.rename" => ItemAction::Rename(value.ok_or_else(invalid)?.to_owned()).into(),
        "view.set_key" => {
            let (path, value) = value.and_then(look::split_assignment).ok_or_else(invalid)?;
            DocumentAction::SetKey(path.to_owned(), value.to_owned()).into()
        }
        "view.duplicate" | "view.delete" | "view.next_key" | "view.previous_key"
            if value.is_some() =>
        {
            return Err(invalid());
        }
        "view.duplicate" => ItemAction::Duplicate.into(),
        "view.delete" => ItemAction::Delete.into(),
        "view.next_key" => CameraAction::SeekKey(Direction::Forward).into(),
        "view.previous_key" => CameraAction::SeekKey(Direction::Backward).into(),
        "view.solo" => {
            let light = match value {
                Some(_) => Some(named("lights").ok_or_else(invalid)?.1.clone()),
                None => None,
            };
            SelectionAction::Solo(light).into()
        }
        _ => {
            let found = CompareMode::ALL.into_iter().find(|(_, name)| name.to_lowercase() == plain);
            ViewAction::Compare(found.ok_or_else(invalid)?.0).into()
        }
    })
}

/// The action of a line `PATH=VALUE`. Without a value, a property is removed, and a setting returns
/// to its default.
fn action(
    path: &str,
    value: Option<&str>,
    names: Option<&Names>,
    mut settings: WindowSettings,
) -> Result<Action, String> {
    if path.starts_with("view.") {
        view_action(path, value, names)
    } else if path.starts_with("window.") {
        settings.set(path, value)?;
        Ok(WindowAction::Settings(settings).into())
    } else {
        Ok(DocumentAction::Set(vec![(path.to_owned(), value.map(str::to_owned))]).into())
    }
}

/// The palette.
pub(super) fn show(ui: &Ui, state: &ViewState, panels: &mut PanelState, actions: &mut Actions) {
    let palette = &mut panels.palette;
    if !palette.open {
        return;
    }
    let ctx = ui.ctx().clone();
    let named = state.workspace.as_ref().map(|work| names(&work.viewport));
    let typed = palette.text.split('=').next().unwrap_or_default().trim().to_lowercase();
    let words: Vec<&str> = typed.split([' ', '.']).filter(|word| !word.is_empty()).collect();
    let mut found: Vec<(String, &str)> = Vec::new();
    let properties = look::properties().map(|property| (property.path, property.description));
    for (path, takes) in properties.chain(settings::SETTINGS).chain(ACTIONS) {
        let paths = match path.split_once(".*.") {
            Some((section, end)) => {
                let of = named.iter().flatten().filter(|(of, _)| *of == section);
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
                egui::TextEdit::singleline(&mut palette.text)
                    .hint_text("camera.lens.f_stop=2.8; Tab completes, Enter sets")
                    .lock_focus(true)
                    .desired_width(f32::INFINITY),
            );
            fields::named(field.clone(), "PATH=VALUE").request_focus();
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
            palette.chosen = match (down, up) {
                (true, _) => (palette.chosen + 1).min(most),
                (_, true) => palette.chosen.saturating_sub(1),
                _ => palette.chosen.min(most),
            };
            for (index, (path, takes)) in found.iter().enumerate() {
                let line = ui.selectable_label(index == palette.chosen, path).on_hover_text(*takes);
                if line.clicked() || (tab && index == palette.chosen) {
                    palette.text = format!("{path}=");
                    // The value follows.
                    let end = egui::text::CCursor::new(palette.text.chars().count());
                    let mut state = egui::TextEdit::load_state(&ctx, field.id).unwrap_or_default();
                    state.cursor.set_char_range(Some(egui::text::CCursorRange::one(end)));
                    state.store(&ctx, field.id);
                }
                if index == palette.chosen {
                    ui.weak(*takes);
                }
            }
            if enter && palette.text.contains('=') {
                run = Some(palette.text.clone());
            } else if enter {
                unvalued = true;
            }
        });
    if let Some(assignment) = run
        && let Some((path, value)) = look::split_assignment(&assignment)
    {
        let value = (!value.is_empty()).then_some(value);
        match action(path, value, named.as_ref(), state.settings()) {
            Ok(action) => actions.push(action),
            Err(error) => actions.push(WindowAction::Error(error)),
        }
        close = true;
    }
    if unvalued {
        let error = "value missing: expected PATH=VALUE; Tab completes the path";
        actions.push(WindowAction::Error(error.into()));
    }
    if close {
        *palette = Palette::default();
    }
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use egui::{Event, Key, Modifiers};

    use super::*;
    use crate::viewer::panels::testing::PanelTest;

    #[test]
    fn entries_give_the_actions_that_they_name() {
        let names =
            vec![("lights", "Key".to_owned()), ("water", "Pool".into()), ("lights", "Fill".into())];
        let settings = WindowSettings::default();
        let of = |line: &str| {
            let (path, value) = line.split_once('=').unwrap_or((line, ""));
            action(path, Some(value).filter(|value| !value.is_empty()), Some(&names), settings)
        };
        let select = |item| Ok(SelectionAction::Select(item).into());
        assert_eq!(of("view.select=Fill"), select(Selection::Light("Fill".into())));
        assert_eq!(of("view.select=Pool"), select(Selection::Water("Pool".into())));
        assert_eq!(of("view.select=Effects"), select(Selection::Effects));
        for (tool, name, _) in Tool::ALL {
            assert_eq!(
                of(&format!("view.tool={}", name.to_lowercase())),
                Ok(SelectionAction::Tool(tool).into())
            );
        }
        for (mode, name) in CompareMode::ALL {
            assert_eq!(of(&format!("view.compare={name}")), Ok(ViewAction::Compare(mode).into()));
        }
        assert_eq!(of("view.solo=Key"), Ok(SelectionAction::Solo(Some("Key".into())).into()));
        assert_eq!(of("view.solo="), Ok(SelectionAction::Solo(None).into()));
        let shape = LightShape::Rectangle;
        assert_eq!(of("view.add_light=Rectangle"), Ok(ItemAction::AddLight(shape).into()));
        for (name, rig) in Rig::ALL {
            assert_eq!(of(&format!("view.add_rig={name}")), Ok(ItemAction::AddRig(rig).into()));
        }
        assert_eq!(of("view.rename=Rim"), Ok(ItemAction::Rename("Rim".into()).into()));
        assert_eq!(of("view.duplicate="), Ok(ItemAction::Duplicate.into()));
        assert_eq!(of("view.delete="), Ok(ItemAction::Delete.into()));
        let key = DocumentAction::SetKey("camera.lens.focus".into(), "2".into());
        assert_eq!(of("view.set_key=camera.lens.focus=2"), Ok(key.into()));
        let next = CameraAction::SeekKey(Direction::Forward);
        assert_eq!(of("view.next_key="), Ok(next.into()));
        let hdr = WindowSettings { hdr: true, ..settings };
        assert_eq!(of("window.hdr=true"), Ok(WindowAction::Settings(hdr).into()));
        let set =
            |value| Ok(DocumentAction::Set(vec![("camera.lens.f_stop".into(), value)]).into());
        assert_eq!(of("camera.lens.f_stop=2.8"), set(Some("2.8".into())));
        assert_eq!(of("camera.lens.f_stop="), set(None));
        for wrong in [
            "view.select=Lamp",
            "view.tool=hammer",
            "view.add_light=hammer",
            "view.rename=",
            "view.set_key=camera.lens.focus",
            "view.next_key=2",
            "view.delete=Key",
            "view.solo=Pool",
            "view.zoom=2",
            "window.hdr=1",
        ] {
            let error = of(wrong).expect_err(wrong);
            assert!(error.contains(wrong.split('=').next().unwrap_or_default()), "{error}");
        }
        let error = action("view.solo", None, None, settings).expect_err("no scene is open");
        assert!(error.contains("no scene is open"), "{error}");
    }

    #[test]
    fn a_typed_line_is_carried_out_by_enter_and_closes_the_palette() {
        let mut test =
            PanelTest::new(|ui, state, panels, actions| show(ui, state, panels, actions));
        test.panels.palette.toggle();
        test.frame(vec![]);
        test.frame(vec![Event::Text("fstop".into())]);
        let enter = |test: &mut PanelTest| test.press(Modifiers::NONE, Key::Enter);
        assert!(matches!(
            enter(&mut test).as_slice(),
            [Action::Window(WindowAction::Error(error))] if error.starts_with("value missing")
        ));
        test.panels.palette.text = "lens.f_stop".into();
        test.frame(vec![]);
        test.press(Modifiers::NONE, Key::Tab);
        assert_eq!(test.panels.palette.text, "camera.lens.f_stop=");
        test.panels.palette.text.push('4');
        let set = DocumentAction::Set(vec![("camera.lens.f_stop".into(), Some("4".into()))]);
        assert_eq!(enter(&mut test), [set.into()]);
        assert!(!test.panels.palette.is_open());
    }
}
