//! What there is: camera, lights, surroundings, materials, passes with their cost.

use egui::{RichText, Ui};

use super::inspector::Selection;
use crate::{
    frame::Aov,
    viewer::{app::App, stage::Stage},
};

impl App {
    pub(super) fn outliner(&mut self, ui: &mut Ui) {
        egui::ScrollArea::both().auto_shrink(false).show(ui, |ui| {
            let Some(work) = &mut self.work else { return };
            ui.selectable_value(
                &mut work.selected,
                Selection::Camera,
                format!("Camera: {}", work.stage.opened.camera_name),
            );
            ui.selectable_value(&mut work.selected, Selection::Environment, "Surroundings");
            ui.selectable_value(&mut work.selected, Selection::Effects, "Passes and effects");
            ui.separator();
            let lights = lights(&work.stage);
            let looks = work.stage.opened.look.lights.clone();
            ui.label(RichText::new(format!("Lights ({})", lights.len())).strong());
            let mut set: Vec<(String, Option<&str>)> = Vec::new();
            for name in &lights {
                let on = looks.get(name).and_then(|look| look.enabled) != Some(false);
                ui.horizontal(|ui| {
                    let mut shines = on;
                    if ui.checkbox(&mut shines, "").on_hover_text("shines").changed() {
                        set.push((format!("lights.{name}.enabled"), if shines { None } else { Some("false") }));
                    }
                    let alone = on
                        && lights
                            .iter()
                            .filter(|other| *other != name)
                            .all(|other| looks.get(other).and_then(|look| look.enabled) == Some(false))
                        && lights.len() > 1;
                    if ui
                        .small_button(if alone { "all" } else { "solo" })
                        .on_hover_text("this light alone, or all again")
                        .clicked()
                    {
                        let is_off = |other: &String| looks.get(other).and_then(|look| look.enabled) == Some(false);
                        if !alone {
                            work.dark = lights.iter().filter(|other| is_off(other)).cloned().collect();
                        }
                        for other in &lights {
                            // Those that were off before stay so.
                            let off = if alone { work.dark.contains(other) } else { other != name };
                            set.push((format!("lights.{other}.enabled"), off.then_some("false")));
                        }
                    }
                    let this = Selection::Light(name.clone());
                    ui.selectable_value(&mut work.selected, this, name);
                });
            }
            ui.separator();
            let waters = super::water::waters(&work.stage);
            if !waters.is_empty() {
                ui.label(RichText::new(format!("Water ({})", waters.len())).strong());
                for (name, _) in waters {
                    ui.selectable_value(&mut work.selected, Selection::Water(name.clone()), name);
                }
                ui.separator();
            }
            let volumes: Vec<String> = volumes(&work.stage);
            if !volumes.is_empty() {
                ui.label(RichText::new(format!("Volumes ({})", volumes.len())).strong());
                for name in volumes {
                    ui.selectable_value(&mut work.selected, Selection::Volume(name.clone()), name);
                }
                ui.separator();
            }
            let materials: Vec<String> =
                work.stage.base().materials.iter().map(|m| m.name.clone()).filter(|n| !n.is_empty()).collect();
            egui::CollapsingHeader::new(format!("Materials ({})", materials.len())).show(ui, |ui| {
                for name in materials {
                    ui.selectable_value(&mut work.selected, Selection::Material(name.clone()), name);
                }
            });
            egui::CollapsingHeader::new("Buffers").show(ui, |ui| {
                let shown = &mut self.scopes.aov;
                if ui.selectable_label(shown.is_none(), "picture").clicked() {
                    *shown = None;
                }
                for (name, aov) in Aov::ALL {
                    if ui.selectable_label(*shown == Some(aov), name).clicked() {
                        *shown = Some(aov);
                    }
                }
            });
            let times = work.stage.finished.as_ref().map_or(&[][..], |finished| finished.picture.times.as_slice());
            let total: f64 = times.iter().map(|pass| pass.ms).sum::<f64>().max(0.0);
            egui::CollapsingHeader::new(format!("Time on the device: {total:.1} ms")).id_salt("times").show(ui, |ui| {
                // A timeline: each pass where it began, all before it on its left.
                let mut before = 0.0;
                for pass in times {
                    let (rect, response) =
                        ui.allocate_exact_size(egui::vec2(ui.available_width(), 14.0), egui::Sense::hover());
                    let part = |ms: f64| (ms / total.max(1e-9)) as f32 * rect.width();
                    let bar = egui::Rect::from_min_size(
                        egui::pos2(rect.left() + part(before), rect.top() + 1.0),
                        egui::vec2(part(pass.ms).max(1.0), 12.0),
                    );
                    ui.painter().rect_filled(bar, 0.0, egui::Color32::from_rgb(70, 110, 160));
                    ui.painter().text(
                        rect.left_center(),
                        egui::Align2::LEFT_CENTER,
                        format!("{:.2} {}", pass.ms, pass.name),
                        egui::FontId::proportional(11.0),
                        egui::Color32::from_gray(220),
                    );
                    response.on_hover_text(format!("{}: {:.3} ms of {total:.3}", pass.name, pass.ms));
                    before += pass.ms;
                }
            });
            if !set.is_empty() {
                let changes: Vec<(&str, Option<&str>)> =
                    set.iter().map(|(path, value)| (path.as_str(), *value)).collect();
                self.set(&changes);
            }
        });
    }

    /// The view goes to what is selected.
    pub(super) fn frame_selected(&mut self) {
        let Some(work) = &mut self.work else { return };
        let scene = work.stage.seen();
        let around = |place: glam::DVec3| (place - 0.5, place + 0.5);
        let bounds = match &work.selected {
            Selection::Light(name) => {
                super::inspector::light_world(&work.stage, name).map(|world| around(world.w_axis.truncate()))
            }
            _ => work.pointer.surface.map(|surface| around(surface.point)).or_else(|| scene.bounds()),
        };
        let size = work.stage.opened.size;
        if let Some(bounds) = bounds {
            work.controller.frame(bounds, f64::from(size.width) / f64::from(size.height));
        }
    }
}

/// The names of what fills rooms: those of the scene, and those that the look adds or switches off.
pub(super) fn volumes(stage: &Stage) -> Vec<String> {
    let looks = &stage.opened.look.volumes;
    let names = stage.base().volumes.iter().map(|volume| &volume.name);
    let mut all: Vec<String> = names.chain(looks.keys()).filter(|name| !name.is_empty()).cloned().collect();
    all.sort();
    all.dedup();
    all
}

/// The lights' names as the look addresses them, each once.
pub(super) fn lights(stage: &Stage) -> Vec<String> {
    let scene = stage.base();
    let mut names: Vec<String> = Vec::new();
    for placed in scene.walk() {
        let Some(light) = placed.node.light.and_then(|light| scene.lights.get(light)) else { continue };
        let name = if light.name.is_empty() { &placed.node.name } else { &light.name };
        if !name.is_empty() && !names.contains(name) {
            names.push(name.clone());
        }
    }
    names
}
