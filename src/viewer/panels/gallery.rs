//! Gallery of the built-in scenes.

use egui::Ui;

use super::fields::named;
use crate::{
    scene::procedural::{BuiltinScene, demos::Demo},
    viewer::{
        action::{Actions, SceneAction, ViewAction},
        state::{PanelState, ViewState},
    },
};

/// The gallery.
pub(super) fn show(ui: &mut Ui, state: &ViewState, panels: &mut PanelState, actions: &mut Actions) {
    let ctx = ui.ctx().clone();
    let pictures = panels.thumbnails.pictures(&ctx);
    egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        ui.add_space(8.0);
        ui.horizontal_wrapped(|ui| {
            ui.heading("Scenes");
            ui.label("Open one of these, or drop a .glb or .gltf file here. A file:");
            named(ui.text_edit_singleline(&mut panels.open_path), "Scene file");
            if ui.button("Open").clicked() && !panels.open_path.is_empty() {
                actions.push(SceneAction::OpenFile(panels.open_path.trim().into()));
            }
            if state.workspace.is_some() && ui.button("Back").clicked() {
                actions.push(ViewAction::Gallery(false));
            }
        });
        ui.add_space(8.0);
        ui.horizontal_wrapped(|ui| {
            for demo in Demo::ALL {
                let picture = pictures
                    .iter()
                    .find(|(name, _)| *name == demo.name)
                    .map(|(_, picture)| picture);
                ui.allocate_ui(egui::vec2(256.0, 190.0), |ui| {
                    ui.vertical(|ui| {
                        let size = egui::vec2(248.0, 139.5);
                        let clicked = match picture {
                            Some(picture) => {
                                let button = egui::Button::image((picture.id(), size));
                                let name = format!("{}: picture", demo.title);
                                named(ui.add(button), &name).clicked()
                            }
                            None => {
                                let button = ui.add_sized(size, egui::Button::new(demo.title));
                                named(button, &format!("{}: picture", demo.title)).clicked()
                            }
                        };
                        // The name is accessible by keyboard and screen readers; the picture is
                        // decorative.
                        if ui.link(demo.title).clicked() || clicked {
                            actions.push(SceneAction::OpenBuiltin(demo.name));
                        }
                        ui.weak(demo.about);
                    });
                });
            }
        });
        let others: Vec<BuiltinScene> =
            BuiltinScene::ALL.into_iter().filter(|b| Demo::named(b.name).is_none()).collect();
        if !others.is_empty() {
            ui.separator();
            ui.horizontal_wrapped(|ui| {
                ui.label("For tests:");
                for builtin in others {
                    if ui.link(builtin.name).on_hover_text(builtin.about).clicked() {
                        actions.push(SceneAction::OpenBuiltin(builtin.name));
                    }
                }
            });
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::viewer::panels::testing::PanelTest;

    #[test]
    fn names_open_their_scenes() {
        let mut test = PanelTest::new(show);
        for demo in Demo::ALL.into_iter().take(4) {
            let open = SceneAction::OpenBuiltin(demo.name);
            assert_eq!(test.click(demo.title), [open.into()], "{}", demo.title);
        }
        test.panels.open_path = "a.look.toml ".into();
        assert_eq!(test.click("Open"), [SceneAction::OpenFile("a.look.toml".into()).into()]);
        assert!(!test.shows("Back"), "no scene is open");
    }
}
