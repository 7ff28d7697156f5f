//! Outliner: camera, lights, environment, materials, and passes with their device time.

use egui::{RichText, Ui};

use super::fields::named;
use crate::{
    frame::Aov,
    scene::look::LightShape,
    settings::Choice,
    viewer::{
        action::{Actions, Changes, ItemAction, SelectionAction, ViewAction},
        rig::Rig,
        scene_items::{lights, materials, volumes, waters},
        selection::Selection,
        state::ViewState,
        viewport::Viewport,
    },
};

/// The governor, and frame-pacing statistics.
fn pace(ui: &mut Ui, state: &ViewState, viewport: &Viewport) {
    let pulse = &state.pacing;
    let quality = viewport.governor_text().unwrap_or_else(|| "full quality".into());
    ui.label(format!("governor: {}; {quality}", viewport.governor_mode()))
        .on_hover_text("quality of a moving view: window.governor in the palette");
    let [first, second, third, later] = pulse.answered();
    ui.label(format!("{} frames", pulse.frames()));
    ui.label(format!("inputs shown in 1 frame: {first}"))
        .on_hover_text("inputs that changed the picture, by the frames until it was shown");
    ui.label(format!("in 2: {second}, in 3: {third}, later: {later}"));
    for (when, paced) in ["at rest", "while tracing"].into_iter().zip(pulse.frame_times()) {
        if paced.frames > 0 {
            ui.label(format!(
                "{when}: median {:.1} ms, maximum {:.1} ms",
                paced.median_ms, paced.longest_ms
            ));
        }
    }
    ui.label(format!("stutters while tracing: {}", pulse.stutters()))
        .on_hover_text("frames longer than twice the median");
}

/// Menu that adds lights.
fn add_menu(ui: &mut Ui, has_copied: bool, actions: &mut Actions) {
    ui.menu_button("Add", |ui| {
        for shape in LightShape::NAMES {
            if ui.button(*shape).clicked()
                && let Some(shape) = LightShape::from_name(shape)
            {
                actions.push(ItemAction::AddLight(shape));
            }
        }
        ui.separator();
        for (name, rig) in Rig::ALL {
            if ui.button(name).on_hover_text("a rig of rectangle lights").clicked() {
                actions.push(ItemAction::AddRig(rig));
            }
        }
        ui.separator();
        let paste = ui.add_enabled(has_copied, egui::Button::new("Paste    Ctrl+V"));
        if paste.on_disabled_hover_text("copy a light first").clicked() {
            actions.push(ItemAction::Paste(None));
        }
    })
    .response
    .on_hover_text("adds a light to the look, aimed at the center of orbit");
}

/// The outliner.
pub(super) fn show(ui: &mut Ui, state: &ViewState, actions: &mut Actions) {
    egui::ScrollArea::both().auto_shrink(false).show(ui, |ui| {
        let Some(work) = &state.workspace else { return };
        let select = |ui: &mut Ui, actions: &mut Actions, item: Selection, name: &str| {
            if ui.selectable_label(work.selected == item, name).clicked() {
                actions.push(SelectionAction::Select(item));
            }
        };
        let camera = format!("Camera: {}", work.viewport.session.camera_name);
        select(ui, actions, Selection::Camera, &camera);
        select(ui, actions, Selection::Environment, "Environment");
        select(ui, actions, Selection::Effects, "Passes and effects");
        ui.separator();
        let lights = lights(&work.viewport);
        // The look's own switches; those of the picture follow a soloed light.
        let switches: std::collections::BTreeMap<String, String> = work.document.values();
        ui.horizontal(|ui| {
            ui.label(RichText::new(format!("Lights ({})", lights.len())).strong());
            add_menu(ui, work.copied.is_some(), actions);
        });
        let mut changes = Changes::new();
        for name in &lights {
            let on = switches
                .get(&format!("lights.{name}.enabled"))
                .is_none_or(|value| value != "false");
            ui.horizontal(|ui| {
                let mut shines = on;
                let tick = named(ui.checkbox(&mut shines, ""), &format!("Enable {name}"));
                if tick.on_hover_text("enabled in the look").changed() {
                    let value = (!shines).then(|| "false".to_owned());
                    changes.push((format!("lights.{name}.enabled"), value));
                }
                let alone = work.solo.as_ref() == Some(name);
                let button = ui.small_button(if alone { "all" } else { "solo" });
                let label = if alone { "Show all lights".into() } else { format!("Solo {name}") };
                if named(button, &label)
                    .on_hover_text("isolates this light in the picture; the look is unchanged")
                    .clicked()
                {
                    actions.push(SelectionAction::Solo((!alone).then(|| name.clone())));
                }
                select(ui, actions, Selection::Light(name.clone()), name);
            });
        }
        ui.separator();
        let waters = waters(&work.viewport);
        if !waters.is_empty() {
            ui.label(RichText::new(format!("Water ({})", waters.len())).strong());
            for (name, _) in waters {
                select(ui, actions, Selection::Water(name.clone()), &name);
            }
            ui.separator();
        }
        let volumes: Vec<String> = volumes(&work.viewport);
        if !volumes.is_empty() {
            ui.label(RichText::new(format!("Volumes ({})", volumes.len())).strong());
            for name in volumes {
                select(ui, actions, Selection::Volume(name.clone()), &name);
            }
            ui.separator();
        }
        let materials = materials(&work.viewport);
        egui::CollapsingHeader::new(format!("Materials ({})", materials.len())).show(ui, |ui| {
            for name in materials {
                select(ui, actions, Selection::Material(name.clone()), &name);
            }
        });
        egui::CollapsingHeader::new("Buffers").show(ui, |ui| {
            let picture = ("picture", None);
            let all = Aov::ALL.into_iter().map(|(name, aov)| (name, Some(aov)));
            for (name, aov) in std::iter::once(picture).chain(all) {
                if ui.selectable_label(state.scopes.aov == aov, name).clicked() {
                    actions.push(ViewAction::ShowAov(aov));
                }
            }
        });
        let times = work
            .viewport
            .last_frame
            .as_ref()
            .map_or(&[][..], |finished| finished.image.times.as_slice());
        // From the start of the first pass to the end of the last.
        let total = times.iter().map(|pass| pass.begin_ms + pass.ms).fold(0.0, f64::max);
        let busy: f64 = times.iter().map(|pass| pass.ms).sum();
        egui::CollapsingHeader::new(format!("Device time: {total:.1} ms")).id_salt("times").show(
            ui,
            |ui| {
                // Timeline: each pass starts at its own timestamp.
                for pass in times {
                    let (rect, response) = ui.allocate_exact_size(
                        egui::vec2(ui.available_width(), 14.0),
                        egui::Sense::hover(),
                    );
                    let part = |ms: f64| (ms / total.max(1e-9)) as f32 * rect.width();
                    let bar = egui::Rect::from_min_size(
                        egui::pos2(rect.left() + part(pass.begin_ms), rect.top() + 1.0),
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
                    let (from, to) = (pass.begin_ms, pass.begin_ms + pass.ms);
                    response.on_hover_text(format!(
                        "{}: {:.3} ms, {from:.3} to {to:.3} of {total:.3}",
                        pass.name, pass.ms
                    ));
                }
                ui.weak(format!(
                    "passes {busy:.1} ms, between them {:.1} ms",
                    (total - busy).max(0.0)
                ));
            },
        );
        egui::CollapsingHeader::new("Frame pacing").show(ui, |ui| {
            pace(ui, state, &work.viewport);
        });
        actions.set(changes);
    });
}
