//! Bar of the window: file menu, tools, camera, playback, comparison.

use egui::{
    ComboBox, Key, Ui,
    containers::menu::{MenuButton, MenuConfig},
};

use super::{
    fields::{drag, named},
    guides, reference_view,
};
use crate::{
    camera::DisplayRange,
    camera_control::NavigationMode,
    photometry::Nit,
    viewer::{
        action::{
            Actions, CameraAction, Direction, DocumentAction, EngineAction, SceneAction,
            SelectionAction, ViewAction, WindowAction,
        },
        recent,
        state::{PanelState, SequenceForm, ViewState},
        tool::Tool,
    },
};

/// Width of the comparison list in the bar (points).
const COMPARES: f32 = 110.0;

/// Height of the list of recent scenes in the menu (points); it scrolls.
const RECENT_HEIGHT: f32 = 90.0;

/// The bar.
pub(super) fn show(ui: &mut Ui, state: &ViewState, panels: &mut PanelState, actions: &mut Actions) {
    ui.horizontal_wrapped(|ui| {
        // Clicks into the text field keep the menu open; entries close it.
        let stays = MenuConfig::new().close_behavior(egui::PopupCloseBehavior::CloseOnClickOutside);
        MenuButton::new("File").config(stays).ui(ui, |ui| file_menu(ui, state, panels, actions));
        let [undo, redo] =
            state.workspace.as_ref().map_or([None, None], |work| work.document.steps());
        for (name, step, action) in
            [("Undo", undo, DocumentAction::Undo), ("Redo", redo, DocumentAction::Redo)]
        {
            let button = ui.add_enabled(step.is_some(), egui::Button::new(name));
            if button.on_hover_text(step.unwrap_or_default()).clicked() {
                actions.push(action);
            }
        }
        ui.separator();
        tools(ui, state.tool, actions);
        ui.separator();
        camera_menu(ui, state, actions);
        guides::menu(ui, state, actions);
        time_bar(ui, state, actions);
        ui.separator();
        if ui.selectable_label(state.scopes.open, "Scopes").on_hover_text("H").clicked() {
            actions.push(ViewAction::ToggleScopes);
        }
        let mixer = ui.selectable_label(state.mixer.open, "Mixer");
        if mixer.on_hover_text("X: balances lights without rendering again").clicked() {
            actions.push(ViewAction::ToggleMixer);
        }
        if ui.available_size_before_wrap().x < COMPARES {
            // Drop-down lists do not wrap by themselves.
            ui.end_row();
        }
        reference_view::bar(ui, state, panels, actions);
    });
}

/// The file menu.
fn file_menu(ui: &mut Ui, state: &ViewState, panels: &mut PanelState, actions: &mut Actions) {
    ui.label("Open a scene or look");
    let field = named(ui.text_edit_singleline(&mut panels.open_path), "Scene or look to open");
    let entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
    if (ui.button("Open").clicked() || entered) && !panels.open_path.is_empty() {
        actions.push(SceneAction::OpenFile(panels.open_path.trim().into()));
        ui.close();
    }
    if ui.button("Gallery").clicked() {
        actions.push(ViewAction::Gallery(true));
        ui.close();
    }
    let recent = state.recent.scenes();
    if !recent.is_empty() {
        ui.separator();
        egui::ScrollArea::vertical().max_height(RECENT_HEIGHT).show(ui, |ui| {
            for scene in recent {
                let button = egui::Button::new(scene.display().to_string());
                let entry = ui
                    .add_enabled(recent::is_there(scene), button)
                    .on_disabled_hover_text("file not found");
                if entry.clicked() {
                    actions.push(SceneAction::OpenScene(scene.clone()));
                    ui.close();
                }
            }
        });
    }
    ui.separator();
    if ui.button("Save look    Ctrl+S").clicked() {
        actions.push(DocumentAction::Save);
        ui.close();
    }
    let work = state.workspace.as_ref();
    if ui.button("Save look as...").clicked() {
        let file = work.and_then(|work| work.document.file());
        panels.save_path =
            Some(file.map_or_else(|| "scene.look.toml".into(), |file| file.display().to_string()));
        ui.close();
    }
    if ui.button("Picture to PNG and EXR    F12").clicked() {
        actions.push(EngineAction::Screenshot);
        ui.close();
    }
    let played = work.and_then(|work| work.viewport.time());
    if ui.add_enabled(played.is_some(), egui::Button::new("Sequence to PNG files...")).clicked() {
        panels.sequence = Some(SequenceForm {
            file: "sequence.png".into(),
            first: played.unwrap_or(0.0),
            seconds: 1.0,
            fps: 24.0,
        });
        ui.close();
    }
    let reload = egui::Button::new("Reload shaders    F5");
    if ui
        .add_enabled(state.can_reload, reload)
        .on_hover_text("recompiles changed files of shaders/, then again after each change")
        .on_disabled_hover_text("shader sources not found on this machine")
        .clicked()
    {
        actions.push(EngineAction::ReloadShaders);
        ui.close();
    }
    if ui.button("Keys    F1").clicked() {
        actions.push(WindowAction::ToggleKeys);
        ui.close();
    }
    if ui.button("Tour    F2").clicked() {
        actions.push(WindowAction::Tour(Direction::Forward));
        ui.close();
    }
    ui.separator();
    display_menu(ui, state, actions);
    ui.separator();
    if ui.button("Quit    Ctrl+Q").clicked() {
        ui.close();
        actions.push(WindowAction::Close);
    }
}

/// HDR display settings.
fn display_menu(ui: &mut Ui, state: &ViewState, actions: &mut Actions) {
    let mut settings = state.settings();
    ui.checkbox(&mut settings.hdr, "HDR display    N")
        .on_hover_text("HDR output, where the window's display offers HDR10 or scRGB");
    ui.checkbox(&mut settings.high_contrast, "High contrast")
        .on_hover_text("panels in black and white, with outlines around all controls");
    ui.horizontal(|ui| {
        ui.label("white");
        let mut nits = [settings.range.paper_white(), settings.range.peak()].map(Nit::get);
        let [white, peak] = &mut nits;
        let dial = |ui: &mut Ui, name: &str, value: &mut f64, [low, high]: [f64; 2]| {
            let dial = drag(value).speed(1.0).range(low..=high).max_decimals(0).suffix(" nit");
            named(ui.add(dial), name).changed()
        };
        let whiter = dial(ui, "Paper white", white, DisplayRange::PAPER_WHITES);
        ui.label("peak");
        let higher = dial(ui, "Peak", peak, DisplayRange::PEAKS);
        if let Some(range) = DisplayRange::new(Nit(*white), Nit(*peak)).filter(|_| whiter || higher)
        {
            settings.range = range;
        }
    });
    if settings != state.settings() {
        actions.push(WindowAction::Settings(settings));
    }
}

/// Tools of the picture: buttons for drags, a list for clicks.
fn tools(ui: &mut Ui, now: Tool, actions: &mut Actions) {
    let (drags, clicks): (Vec<_>, Vec<_>) =
        Tool::ALL.into_iter().partition(|(tool, ..)| tool.drags());
    let mut chosen = now;
    for (tool, name, hint) in drags {
        ui.selectable_value(&mut chosen, tool, name).on_hover_text(hint);
    }
    let name = clicks.iter().find(|(tool, ..)| *tool == now).map_or("Tools", |(_, name, _)| name);
    let list = ComboBox::from_id_salt("tools").selected_text(name).width(74.0);
    let list = list.show_ui(ui, |ui| {
        for (tool, name, hint) in clicks {
            ui.selectable_value(&mut chosen, tool, name).on_hover_text(hint);
        }
    });
    named(list.response, "Tool of clicks");
    if chosen != now {
        actions.push(SelectionAction::Tool(chosen));
    }
}

/// Camera navigation.
fn camera_menu(ui: &mut Ui, state: &ViewState, actions: &mut Actions) {
    const WAYS: [(NavigationMode, &str, &str); 3] = [
        (
            NavigationMode::Orbit,
            "Orbit",
            "1: middle button orbits the target, with Shift it pans, the wheel dollies",
        ),
        (
            NavigationMode::Fly,
            "Fly",
            "2: right button looks around, W A S D Q E move, Shift is faster",
        ),
        (NavigationMode::Walk, "Walk", "3: fly controls on foot, with collisions and stairs"),
    ];
    let mode = state.workspace.as_ref().map(|work| work.controller.mode());
    let now =
        WAYS.iter().find(|(way, ..)| mode == Some(*way)).map_or("Camera", |(_, name, _)| name);
    ui.menu_button(now, |ui| {
        for (wanted, name, hint) in WAYS {
            if ui.selectable_label(mode == Some(wanted), name).on_hover_text(hint).clicked() {
                actions.push(CameraAction::Mode(wanted));
            }
        }
        ui.separator();
        if ui.button("Home").on_hover_text("Home: returns to the look's camera").clicked() {
            actions.push(CameraAction::Home);
        }
        if ui.button("Keep camera").on_hover_text("writes the camera's pose to the look").clicked()
        {
            actions.push(DocumentAction::KeepCamera);
        }
    })
    .response
    .on_hover_text("camera navigation");
}

/// Playback and the animation time, for animated scenes and looks with a timeline.
fn time_bar(ui: &mut Ui, state: &ViewState, actions: &mut Actions) {
    let Some(work) = &state.workspace else { return };
    let Some(mut time) = work.viewport.time() else { return };
    ui.separator();
    let plays = work.viewport.is_playing();
    if ui.selectable_label(plays, "Play").on_hover_text("Space").clicked() {
        actions.push(CameraAction::Play);
        return;
    }
    let field = ui.add(drag(&mut time).speed(0.02).max_decimals(2).suffix(" s"));
    if named(field, "Time").changed() {
        actions.push(CameraAction::Seek(time));
    }
}

#[cfg(test)]
mod tests {
    use egui::{Modifiers, Ui};

    use super::*;
    use crate::viewer::{
        action::Action,
        panels::{shortcuts, testing::PanelTest},
        reference_view::CompareMode,
    };

    fn with_shortcuts(
        ui: &mut Ui,
        state: &ViewState,
        panels: &mut PanelState,
        actions: &mut Actions,
    ) {
        shortcuts::pressed(ui, true, actions);
        show(ui, state, panels, actions);
    }

    #[test]
    fn menu_entries_give_the_actions_that_they_name() {
        let mut test = PanelTest::new(show);
        test.state.can_reload = true;
        for (entry, action) in [
            ("Gallery", ViewAction::Gallery(true).into()),
            ("Save look    Ctrl+S", DocumentAction::Save.into()),
            ("Picture to PNG and EXR    F12", EngineAction::Screenshot.into()),
            ("Reload shaders    F5", EngineAction::ReloadShaders.into()),
            ("Keys    F1", WindowAction::ToggleKeys.into()),
            ("Tour    F2", WindowAction::Tour(Direction::Forward).into()),
            ("Quit    Ctrl+Q", WindowAction::Close.into()),
        ] {
            let action: Action = action;
            assert_eq!(test.click("File"), []);
            assert_eq!(test.click(entry), [action], "{entry}");
            assert!(!test.shows(entry), "{entry} closes the menu");
        }
        test.click("File");
        assert_eq!(test.click("Save look as..."), []);
        assert_eq!(test.panels.save_path.as_deref(), Some("scene.look.toml"));
        // Nothing plays, so there is no sequence to write.
        test.click("File");
        assert_eq!(test.click("Sequence to PNG files..."), []);
        assert_eq!(test.panels.sequence, None);
        test.panels.open_path = " a.glb ".into();
        assert_eq!(test.click("Open"), [SceneAction::OpenFile("a.glb".into()).into()]);
    }

    #[test]
    fn menu_entries_and_the_shortcuts_that_they_name_give_the_same_action() {
        let mut test = PanelTest::new(with_shortcuts);
        test.state.can_reload = true;
        for (entry, modifiers, key) in [
            ("Save look    Ctrl+S", Modifiers::COMMAND, Key::S),
            ("Picture to PNG and EXR    F12", Modifiers::NONE, Key::F12),
            ("Reload shaders    F5", Modifiers::NONE, Key::F5),
            ("Keys    F1", Modifiers::NONE, Key::F1),
            ("Tour    F2", Modifiers::NONE, Key::F2),
            ("Quit    Ctrl+Q", Modifiers::COMMAND, Key::Q),
        ] {
            let pressed = test.press(modifiers, key);
            assert_eq!(pressed.len(), 1, "{entry}");
            test.click("File");
            assert_eq!(test.click(entry), pressed, "{entry}");
        }
        for (name, key) in [("Scopes", Key::H), ("Mixer", Key::X)] {
            assert_eq!(test.press(Modifiers::NONE, key), test.click(name), "{name}");
        }
    }

    #[test]
    fn tools_and_modes_give_the_actions_that_they_name() {
        let mut test = PanelTest::new(show);
        test.state.tool = Tool::Meter;
        test.frame(vec![]);
        for (tool, name, _) in Tool::ALL.into_iter().filter(|(tool, ..)| tool.drags()) {
            assert_eq!(test.click(name), [SelectionAction::Tool(tool).into()], "{name}");
        }
        assert_eq!(test.click("Meter"), [], "the list of tools opens");
        assert_eq!(test.click("Gray card"), [SelectionAction::Tool(Tool::GrayCard).into()]);
        for (mode, name) in [
            (NavigationMode::Orbit, "Orbit"),
            (NavigationMode::Fly, "Fly"),
            (NavigationMode::Walk, "Walk"),
        ] {
            test.click("Camera");
            assert_eq!(test.click(name), [CameraAction::Mode(mode).into()], "{name}");
        }
        test.click("Camera");
        assert_eq!(test.click("Keep camera"), [DocumentAction::KeepCamera.into()]);
        for (mode, name) in CompareMode::ALL.into_iter().skip(1) {
            test.click("Raster");
            assert_eq!(test.click(name), [ViewAction::Compare(mode).into()], "{name}");
        }
        // No scene is open: there is nothing to undo.
        assert_eq!([test.click("Undo"), test.click("Redo")].concat(), []);
    }
}
