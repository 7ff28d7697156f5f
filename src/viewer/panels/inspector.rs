//! Inspector of the selection, in real units: every change sets a property of the look by its path.

use std::collections::BTreeMap;

use egui::{RichText, Ui};
use glam::Vec3;

use super::{
    choice::{Changes, Entry, choice},
    dials::{self, Now, default_of},
    environment,
    fields::{
        decimals, dial, differs, drag, field, grid, listing, named, number, place, short, slider,
        switch, text, unset,
    },
};
pub use crate::viewer::selection::Selection;
use crate::{
    camera::{ExposureControl, body::Dial},
    photometry::{
        Chromaticity,
        color::{REC709_TO_XYZ, correlated_temperature, srgb_oetf_f32},
        lights::Emitter,
    },
    scene::{
        Light, Projection,
        address::AddressTable,
        look::{self, LightLocus},
    },
    settings::{
        Choice, Quality, QualityLook,
        units::{number_in, unit_of, units},
    },
    viewer::{
        action::{Actions, DocumentAction, ItemAction, SelectionAction, WindowAction},
        light_strength::{authored, effective, strengths},
        scene_items::{
            added_camera, camera_path, cameras, is_added, light_of, light_space, parent_space,
        },
        state::ViewState,
        viewport::Viewport,
        workspace::Workspace,
    },
};

/// The properties that the look file sets, by path.
type Values = BTreeMap<String, String>;

fn set<'a>(values: &'a Values, path: &str) -> &'a str {
    values.get(path).map_or("", String::as_str)
}

/// The inspector.
pub(super) fn show(ui: &mut Ui, state: &ViewState, actions: &mut Actions) {
    let mut changes = Changes::new();
    let (mut brush, mut tool, mut stored) = (state.brush, state.tool, None);
    egui::ScrollArea::both().auto_shrink(false).show(ui, |ui| {
        let Some(work) = &state.workspace else { return };
        let values = work.document.values();
        match work.selected.clone() {
            Selection::Camera => {
                camera(ui, &work.viewport, &values, &mut changes);
                camera_actions(ui, &work.viewport, actions);
            }
            Selection::Light(name) => {
                light_actions(ui, &work.viewport, &name, actions);
                light(ui, &work.viewport, &name, &values, &mut changes, actions);
            }
            Selection::Environment => environment::page(ui, work, &values, &mut changes),
            Selection::Material(name) => material(ui, &work.viewport, &name, &mut changes),
            Selection::Water(name) => {
                super::water::page(ui, &work.viewport, &name, &mut brush, &mut tool, &mut changes);
            }
            Selection::Volume(name) => volume(ui, &name, &values, &mut changes),
            Selection::Effects => effects(ui, &work.viewport, &values, &mut changes),
        }
        ui.separator();
        egui::CollapsingHeader::new("Look file").show(ui, |ui| {
            ui.label(RichText::new(work.document.text()).monospace().size(11.0));
        });
        egui::CollapsingHeader::new("Stored looks").show(ui, |ui| stored = snapshots(ui, work));
    });
    if brush != state.brush {
        actions.push(SelectionAction::Brush(brush));
    }
    if tool != state.tool {
        actions.push(SelectionAction::Tool(tool));
    }
    actions.set(changes);
    // The click that stores a look also ends the typing of a value, which belongs to that look.
    if let Some(action) = stored {
        actions.push(action);
    }
}

/// Stored looks, to compare and return to.
fn snapshots(ui: &mut Ui, work: &Workspace) -> Option<DocumentAction> {
    let mut action = ui.button("Store this look").clicked().then_some(DocumentAction::StoreLook);
    for (index, (name, text)) in work.snapshots.iter().enumerate() {
        if ui.selectable_label(text == work.document.text(), name).clicked() {
            action = Some(DocumentAction::RecallLook(index));
        }
    }
    action
}

/// Cameras of the look: a new one at the current view, and deletion.
fn camera_actions(ui: &mut Ui, viewport: &Viewport, actions: &mut Actions) {
    let mut typed = Changes::new();
    grid(ui, "cameras", |ui| {
        text(ui, "Add from view", "", "a name; Enter adds", "new camera", &mut typed);
    });
    if let Some((_, Some(name))) = typed.pop() {
        actions.push(ItemAction::AddCamera(name));
    }
    if let Some((name, _)) = added_camera(viewport) {
        let delete = ui.button(format!("Delete {name}"));
        if delete.on_hover_text("Del: removes the camera from the look").clicked() {
            actions.push(ItemAction::Delete);
        }
    }
}

fn camera(ui: &mut Ui, viewport: &Viewport, values: &Values, changes: &mut Changes) {
    let camera = &viewport.session.physical_camera;
    let dials = &camera.dials;
    let path = |shared: &str| camera_path(viewport, shared);
    ui.heading("Camera");
    grid(ui, "dials", |ui| {
        ui.label("Camera");
        let (chosen, names) = (&viewport.session.camera_name, cameras(viewport));
        let entry = |name: &String| {
            Entry::new(name.clone(), name == chosen, "camera.name", Some(name.clone()))
        };
        let id = ("camera.name", "Camera");
        choice(ui, id, (chosen, None), names.iter().map(entry).collect(), changes);
        ui.end_row();
        let solved = viewport
            .exposed()
            .and_then(|exposed| exposed.solved.as_ref())
            .map(|solved| solved.dials);
        let [f_stop, shutter, iso] = [
            solved.map(|dials| dials.f_stop),
            solved.map(|dials| dials.shutter_s),
            solved.map(|dials| dials.iso),
        ];
        dial(
            ui,
            "Aperture",
            Dial::FStop,
            [dials.f_stop, f_stop],
            &path("camera.lens.f_stop"),
            changes,
        );
        dial(
            ui,
            "Shutter",
            Dial::Shutter,
            [dials.shutter_s, shutter],
            &path("camera.body.shutter"),
            changes,
        );
        dial(ui, "ISO", Dial::Iso, [dials.iso, iso], &path("camera.body.iso"), changes);
        number(
            ui,
            "Compensation",
            (dials.compensation, 0.02, look::range("camera.exposure.compensation")),
            " EV",
            "camera.exposure.compensation",
            changes,
        );
        ui.label("Exposure mode");
        let modes = ExposureControl::ALL.map(|(name, _)| name);
        let mode = dials.control().name();
        listing(ui, "Exposure mode", mode, &modes, "camera.exposure.mode", changes);
        ui.end_row();
        text(
            ui,
            "Sensor",
            set(values, &path("camera.body.sensor")),
            "full-frame, 36x24",
            &path("camera.body.sensor"),
            changes,
        );
        let focal = &path("camera.lens.focal_length");
        match camera.lens.focal_length {
            Some(length) => number(
                ui,
                "Focal length",
                (length * 1e3, 0.2, look::range(focal)),
                " mm",
                focal,
                changes,
            ),
            None => {
                let of_view = file_focal(viewport).unwrap_or(35.0);
                let stands = format!("{of_view:.1} mm from the file");
                unset(
                    ui,
                    "Focal length",
                    &stands,
                    (of_view * 10.0).round() / 10.0,
                    "mm",
                    focal,
                    changes,
                );
            }
        }
        match camera.lens.focus.filter(|focus| focus.is_finite()) {
            Some(focus) => {
                let path = &path("camera.lens.focus");
                number(ui, "Focus", (focus, 0.02, look::range(path)), " m", path, changes)
            }
            None => unset(ui, "Focus", "infinity", 10.0, "m", &path("camera.lens.focus"), changes),
        }
        text(
            ui,
            "Lens",
            set(values, "camera.lens.prescription"),
            "builtin:NAME or a .json",
            "camera.lens.prescription",
            changes,
        );
        text(
            ui,
            "White balance",
            set(values, "camera.white_balance"),
            "daylight, 3200",
            "camera.white_balance",
            changes,
        );
        let parent = added_camera(viewport).and_then(|(_, camera)| camera.parent.as_deref());
        let pose = parent_space(viewport, parent).inverse() * viewport.pose();
        place(ui, "Position", pose.w_axis.truncate(), &path("camera.position"), changes);
    });
    if let Some(exposed) = viewport.exposed() {
        ui.add_space(6.0);
        ui.label(format!(
            "EV100 {:.2}, white at {}",
            exposed.exposure.ev100().get(),
            super::status::nits(exposed.exposure.saturation_luminance().get())
        ));
        if let Some(solved) = &exposed.solved {
            let dials = solved.dials;
            ui.label(format!(
                "set to f/{:.3}, {:.6} s, ISO {:.0}",
                dials.f_stop, dials.shutter_s, dials.iso
            ));
        }
        if let Some(metered) = exposed.metered {
            let off = metered.stops_above(exposed.exposure);
            if off.abs() > 3.0 {
                let text = format!("metered {off:+.1} stops from these settings");
                ui.label(RichText::new(text).color(super::status::ERROR_COLOR));
            }
        }
    }
}

/// Focal length (mm) at which the sensor has the file's field of view.
fn file_focal(viewport: &Viewport) -> Option<f64> {
    let Projection::Perspective { vertical_fov, .. } = viewport.session.camera.1 else {
        return None;
    };
    let [width, height] = viewport.full_size();
    let aspect = f64::from(width) / f64::from(height.max(1));
    let gate = viewport.session.physical_camera.body.gate(aspect).ok()?;
    Some(gate.height * 1e3 / 2.0 / (f64::from(vertical_fov) / 2.0).tan())
}

/// Heading of a light, and what can be done with it as a whole.
fn light_actions(ui: &mut Ui, viewport: &Viewport, name: &str, actions: &mut Actions) {
    ui.heading(name);
    let is_added = is_added(viewport, name);
    ui.horizontal_wrapped(|ui| {
        let delete = if is_added {
            "Del: removes the light from the look"
        } else {
            "Del: switches the light off in the look (enabled = false); the scene file keeps it"
        };
        for (label, hint, action) in [
            ("Duplicate", "Ctrl+D: adds a copy beside it", ItemAction::Duplicate),
            ("Copy", "copies the light as text of a look; Ctrl+V adds it", ItemAction::Copy),
            ("Delete", delete, ItemAction::Delete),
        ] {
            if ui.button(label).on_hover_text(hint).clicked() {
                actions.push(action);
            }
        }
    });
    if is_added {
        let mut typed = Changes::new();
        grid(ui, "name", |ui| text(ui, "Name", name, "a name of your own", name, &mut typed));
        if let Some((_, Some(new))) = typed.pop() {
            actions.push(ItemAction::Rename(new));
        }
    }
}

fn light(
    ui: &mut Ui,
    viewport: &Viewport,
    name: &str,
    values: &Values,
    changes: &mut Changes,
    actions: &mut Actions,
) {
    let path = |property: &str| format!("lights.{name}.{property}");
    let range = |property: &str| look::range(&path(property));
    let set = viewport.session.look.lights.get(name).cloned().unwrap_or_default();
    let Some((light, world)) = light_of(viewport, name) else {
        ui.label("switched off");
        if ui.button("Switch on").clicked() {
            changes.push((path("enabled"), None));
        }
        return;
    };
    let source = light.source;
    ui.weak(source.emitter().name());
    grid(ui, "light", |ui| {
        let all = strengths(light);
        let unit = authored(light);
        if let Some(&(property, short_unit, value)) =
            all.iter().find(|(property, ..)| *property == unit)
        {
            ui.label("Strength");
            ui.horizontal(|ui| {
                let speed =
                    if property == "ev100" { 0.02 } else { (value.abs() * 0.005).max(1e-4) };
                let now = (value, speed, range(property));
                if let Some(typed) = field(ui, "Strength", now, "", 3) {
                    match typed_strength(&typed, (property, short_unit), &all) {
                        Ok((property, value)) => changes.push((path(property), Some(value))),
                        Err(error) => {
                            let error = format!("{}: {error}", path(property));
                            actions.push(WindowAction::Error(error));
                        }
                    }
                }
                // The same strength in another unit.
                let entry = |&(other, unit, value): &(&str, &str, f64)| {
                    let change = vec![(path(property), None), (path(other), Some(short(value)))];
                    let changes = if other == property { Vec::new() } else { change };
                    Entry {
                        name: format!("{unit}   {}", short(value)),
                        chosen: other == property,
                        changes,
                    }
                };
                choice(
                    ui,
                    ("unit", "Unit of strength"),
                    (short_unit, Some(56.0)),
                    all.iter().map(entry).collect(),
                    changes,
                );
            });
            ui.end_row();
        }
        for (_, unit, value) in all.iter().filter(|(property, ..)| *property != unit) {
            ui.label("");
            ui.weak(format!("= {} {unit}", short(*value)));
            ui.end_row();
        }
        let seen = effective(light);
        if !seen.is_empty() {
            let seen: Vec<String> =
                seen.into_iter().map(|(unit, value)| format!("{} {unit}", short(value))).collect();
            ui.label("");
            ui.weak(format!("behind gel and modifiers: {}", seen.join(", ")));
            ui.end_row();
        }
        color(ui, viewport, name, light, changes);
        if set.kelvin.is_some() {
            number(
                ui,
                "Tint",
                (set.tint.unwrap_or(0.0), 0.0005, range("tint")),
                " Duv",
                &path("tint"),
                changes,
            );
        }
        match source.emitter() {
            Emitter::Point
            | Emitter::Sphere { .. }
            | Emitter::Tube { .. }
            | Emitter::Disk { .. }
            | Emitter::Rectangle { .. } => {}
            Emitter::Spot { cone, .. } => {
                let degrees = [cone.inner(), cone.outer()].map(f64::to_degrees);
                number(
                    ui,
                    "Inner half angle",
                    (degrees[0], 0.2, [0.0, degrees[1]]),
                    " deg",
                    &path("inner_half_angle"),
                    changes,
                );
                number(
                    ui,
                    "Outer half angle",
                    (degrees[1], 0.2, range("outer_half_angle")),
                    " deg",
                    &path("outer_half_angle"),
                    changes,
                );
            }
            Emitter::Sun { angular_radius } => {
                let degrees = (angular_radius * 2.0).to_degrees();
                number(
                    ui,
                    "Diameter",
                    (degrees, 0.01, range("angular_diameter")),
                    " deg",
                    &path("angular_diameter"),
                    changes,
                );
            }
        }
        let size = |ui: &mut Ui, name: &str, value: f64, changes: &mut Changes| {
            let property = name.to_lowercase();
            let speed = if name == "Radius" { 0.002 } else { 0.005 };
            number(ui, name, (value, speed, range(&property)), " m", &path(&property), changes);
        };
        match source.emitter() {
            Emitter::Sphere { radius } | Emitter::Disk { radius, .. } => {
                size(ui, "Radius", radius, changes);
            }
            Emitter::Rectangle { width, height, .. } => {
                size(ui, "Width", width, changes);
                size(ui, "Height", height, changes);
            }
            Emitter::Tube { radius, length } => {
                size(ui, "Radius", radius, changes);
                size(ui, "Length", length, changes);
            }
            _ => {}
        }
        if matches!(source.emitter(), Emitter::Point | Emitter::Spot { .. }) {
            let now = values.get(&path("ies")).cloned().unwrap_or_default();
            text(ui, "IES", &now, "profile.ies", &path("ies"), changes);
        }
        switch(ui, "Shadow", light.shadow, &path("shadow"), changes);
        if source.emitter().area().is_some() {
            switch(ui, "Visible", light.visible, &path("visible"), changes);
        }
        let local = light_space(viewport, name).inverse() * world;
        if let Some(parent) = set.parent.as_ref().filter(|_| set.add()) {
            ui.label("Parent");
            ui.weak(format!("{parent}: position and aim are in its space"));
            ui.end_row();
        }
        place(ui, "Position", local.w_axis.truncate(), &path("position"), changes);
        let aim = set.aim.unwrap_or_else(|| crate::viewer::light_placement::target_of(local, 1.0));
        place(ui, "Aim", aim, &path("aim"), changes);
    });
    if let Some(profile) = &light.bare().profile {
        ui.add_space(4.0);
        ui.weak(format!("profile of {} lm", short(profile.lumens().get())));
        polar(ui, profile);
    }
}

/// A typed strength: in the property's unit, or in another unit of the light, which then becomes
/// its unit.
fn typed_strength(
    typed: &str,
    (property, unit): (&'static str, &str),
    all: &[(&'static str, &'static str, f64)],
) -> Result<(&'static str, String), String> {
    let Some(written) = unit_of(typed).filter(|_| number_in(typed, unit).is_none()) else {
        return Ok((property, typed.to_owned()));
    };
    let other = all.iter().find_map(|(other, unit, _)| Some((*other, number_in(typed, unit)?)));
    let known = || all.iter().flat_map(|(_, unit, _)| units(unit)).collect::<Vec<_>>().join(", ");
    other
        .map(|(other, value)| (other, short(value)))
        .ok_or_else(|| format!("unknown unit '{written}', expected {}", known()))
}

/// Color of a light: swatch, color temperature as a number and as a slider.
fn color(ui: &mut Ui, viewport: &Viewport, name: &str, light: &Light, changes: &mut Changes) {
    let path = format!("lights.{name}.kelvin");
    let set = viewport.session.look.lights.get(name).cloned().unwrap_or_default();
    let bare = light.bare().color;
    let chromaticity = Chromaticity::from_xyz(REC709_TO_XYZ * bare.as_dvec3());
    let nearest = chromaticity.and_then(|of| correlated_temperature(of).ok());
    ui.label("Color");
    ui.horizontal(|ui| {
        swatch(ui, viewport, light.color);
        match set.kelvin {
            Some(kelvin) => {
                let now = (kelvin, 10.0, look::range(&path));
                if let Some(typed) = field(ui, "Color temperature", now, " K", 4) {
                    changes.push((path.clone(), Some(typed)));
                }
                let reset = named(ui.small_button("x"), "Reset color");
                if reset.on_hover_text("removes temperature and tint from the look").clicked() {
                    changes.push((path.clone(), None));
                    changes.push((format!("lights.{name}.tint"), None));
                }
            }
            None => {
                let [r, g, b] = bare.to_array();
                ui.label(match is_added(viewport, name) {
                    true => "white".to_owned(),
                    false => format!("the file's {r:.2} {g:.2} {b:.2}"),
                });
            }
        }
    });
    ui.end_row();
    ui.label("");
    // Daylight is defined from 4000 to 25000 K.
    let reach = match set.locus() {
        LightLocus::Planck => [1000.0, 20_000.0],
        LightLocus::Daylight => [4000.0, 25_000.0],
    };
    let now = set.kelvin.or(nearest.map(|(kelvin, _)| kelvin.get())).unwrap_or(6500.0);
    ui.scope(|ui| {
        ui.spacing_mut().slider_width = 150.0;
        if let Some(kelvin) = slider(ui, "Color temperature: slider", now, reach, true) {
            let kelvin = (kelvin / 10.0).round() * 10.0;
            changes.push((path, Some(short(kelvin))));
        }
    });
    ui.end_row();
}

/// The chromaticity of a light, as bright as the display can show it, in the camera's white
/// balance.
fn swatch(ui: &mut Ui, viewport: &Viewport, color: Vec3) {
    let balance = viewport.last_frame.as_ref().map(|finished| finished.white_balance);
    let shown = balance.map_or(color, |balance| balance * color).max(Vec3::ZERO);
    let bright = shown / shown.max_element().max(f32::MIN_POSITIVE);
    let [r, g, b] = bright.to_array().map(|value| (srgb_oetf_f32(value) * 255.0).round() as u8);
    let (rect, response) = ui.allocate_exact_size(egui::vec2(30.0, 16.0), egui::Sense::hover());
    ui.painter().rect_filled(rect, 2.0, egui::Color32::from_rgb(r, g, b));
    let chromaticity = Chromaticity::from_xyz(REC709_TO_XYZ * color.as_dvec3());
    let of = chromaticity.and_then(|of| correlated_temperature(of).ok());
    let text = match of {
        Some((kelvin, duv)) => format!("{:.0} K, {duv:+.4} Duv", kelvin.get()),
        None => "far from the locus of black bodies".into(),
    };
    response.on_hover_text(format!(
        "chromaticity with gels: {text}. Displayed in the camera's white balance: sRGB {r} {g} {b}"
    ));
}

/// Polar plot of the luminous intensity by angle from the axis, in the profile's first plane.
fn polar(ui: &mut Ui, profile: &crate::photometry::IesProfile) {
    let side = ui.available_width().min(220.0);
    let (rect, _) = ui.allocate_exact_size(egui::vec2(side, side), egui::Sense::hover());
    let painter = ui.painter_at(rect);
    painter.rect_filled(rect, 2.0, egui::Color32::from_gray(24));
    let max = profile.peak().get().max(1e-9);
    let radius = side * 0.45;
    for ring in 1..=4 {
        painter.circle_stroke(
            rect.center(),
            radius * ring as f32 / 4.0,
            egui::Stroke::new(0.5, egui::Color32::from_gray(70)),
        );
    }
    for turn in [0.0f64, std::f64::consts::FRAC_PI_2] {
        let points: Vec<egui::Pos2> = (0..=180)
            .map(|step| {
                let angle = f64::from(step * 2).to_radians();
                let (vertical, horizontal) = if angle <= std::f64::consts::PI {
                    (angle, turn)
                } else {
                    (std::f64::consts::TAU - angle, turn + std::f64::consts::PI)
                };
                let part = profile.candela(vertical, horizontal).get() / max;
                rect.center()
                    + egui::vec2(angle.sin() as f32, angle.cos() as f32) * (part as f32 * radius)
            })
            .collect();
        let color = if turn == 0.0 {
            egui::Color32::from_rgb(255, 200, 80)
        } else {
            egui::Color32::from_rgb(120, 170, 255)
        };
        let stroke = egui::Stroke::new(1.5, color);
        if turn == 0.0 {
            painter.line(points, stroke);
        } else {
            // Dashed: distinct without its color, too.
            painter.extend(egui::Shape::dashed_line(&points, stroke, 6.0, 4.0));
        }
    }
}

fn effects(ui: &mut Ui, viewport: &Viewport, values: &Values, changes: &mut Changes) {
    ui.heading("Passes and effects");
    grid(ui, "usual", |ui| {
        let session = &viewport.session;
        ui.label("Quality");
        let (tier, path) = (session.look.quality.tier().name(), QualityLook::PATH);
        listing(ui, "Quality", tier, Quality::NAMES, path, changes);
        ui.end_row();
        pass(
            ui,
            viewport,
            ("Reflections", &["ssr"]),
            session.passes().ssr.enabled,
            "passes.ssr.enabled",
            changes,
        );
        pass(
            ui,
            viewport,
            ("Indirect light", &["gi"]),
            session.gi().enabled,
            "gi.enabled",
            changes,
        );
        // Shadow rays are part of the lighting pass.
        pass(
            ui,
            viewport,
            ("Shadows", &["shadow"]),
            session.passes().shadows.enabled,
            "passes.shadows.enabled",
            changes,
        );
        pass(
            ui,
            viewport,
            ("Ambient occlusion", &["ao"]),
            session.passes().ao.enabled,
            "passes.ao.enabled",
            changes,
        );
        ui.label("Anti-aliasing");
        let (now, path) = (session.passes().aa.method.name(), "passes.aa.method");
        listing(ui, "Anti-aliasing", now, look::choices(path), path, changes);
        ui.end_row();
        ui.label("Tone mapper");
        let (now, path) = (session.passes().tonemap.operator.name(), "passes.tonemap.operator");
        listing(ui, "Tone mapper", now, look::choices(path), path, changes);
        ui.end_row();
    });
    for section in ["effects.", "gi.", "passes."] {
        listed(ui, section, (values, &viewport.session.look.quality), changes);
    }
}

fn material(ui: &mut Ui, viewport: &Viewport, name: &str, changes: &mut Changes) {
    ui.heading(name);
    let scene = &viewport.session.scene;
    let found = AddressTable::materials(scene).find(name).first().copied();
    let Some(material) = found.and_then(|found| scene.materials.get(found)) else { return };
    let path = |property: &str| format!("materials.{name}.{property}");
    let range = |property: &str| look::range(&path(property));
    grid(ui, "material", |ui| {
        ui.label("Base color");
        let color = material.base_color;
        let mut rgb = [color.x, color.y, color.z];
        if named(ui.color_edit_button_rgb(&mut rgb), "Base color").changed() {
            changes.push((
                path("base_color"),
                Some(format!("{:.4} {:.4} {:.4}", rgb[0], rgb[1], rgb[2])),
            ));
        }
        ui.end_row();
        number(
            ui,
            "Metallic",
            (f64::from(material.metallic), 0.005, range("metallic")),
            "",
            &path("metallic"),
            changes,
        );
        number(
            ui,
            "Roughness",
            (f64::from(material.roughness), 0.005, range("roughness")),
            "",
            &path("roughness"),
            changes,
        );
        number(
            ui,
            "Index of refraction",
            (f64::from(material.ior), 0.005, range("ior")),
            "",
            &path("ior"),
            changes,
        );
        let emission = material.emission;
        ui.label("Emission");
        ui.horizontal(|ui| {
            let mut nits = emission.to_array();
            let mut changed = false;
            let [min, max] = range("emission").map(|limit| limit as f32);
            for (value, channel) in nits.iter_mut().zip(["red", "green", "blue"]) {
                let speed = (*value * 0.005).max(0.1);
                let before = f64::from(*value);
                let places = decimals(before).max(3);
                let field = drag(value).speed(speed).range(min..=max).max_decimals(places);
                let field = named(ui.add(field), &format!("Emission {channel}"));
                changed |= field.changed() && differs(before, f64::from(*value), places);
            }
            ui.weak("nit");
            if changed {
                changes
                    .push((path("emission"), Some(format!("{} {} {}", nits[0], nits[1], nits[2]))));
            }
        });
        ui.end_row();
    });
    ui.weak("Factors multiply the textures.");
}

/// Properties of a volume: each with its value in the look, or the accepted values.
fn volume(ui: &mut Ui, name: &str, values: &Values, changes: &mut Changes) {
    ui.heading(name);
    grid(ui, "volume", |ui| {
        for property in look::properties() {
            if let Some(end) = property.path.strip_prefix("volumes.*.") {
                // These describe a density file.
                let of_file = ["dimensions", "format"].contains(&end);
                if of_file && set(values, &format!("volumes.{name}.density")).is_empty() {
                    continue;
                }
                let path = format!("volumes.{name}.{end}");
                let now = Now { set: set(values, &path), used: (property.default)() };
                dials::control(ui, end, &property, &path, now, changes);
            }
        }
    });
    ui.weak("In 1/m and nits per meter; empty keeps the file's value.");
}

/// The tier's value of a property, with the tier, unless the look sets the property.
fn tier_value(quality: &QualityLook, path: &str) -> Option<String> {
    let tier = quality.tier().name();
    quality.value(path).map(|value| format!("{value} (quality {tier})"))
}

/// A switch of a feature, with the device time of its passes in the last frame.
fn pass(
    ui: &mut Ui,
    viewport: &Viewport,
    (name, of): (&str, &[&str]),
    on: bool,
    path: &str,
    changes: &mut Changes,
) {
    let times =
        viewport.last_frame.as_ref().map_or(&[][..], |finished| finished.image.times.as_slice());
    let own = times.iter().filter(|pass| of.iter().any(|start| pass.name.starts_with(start)));
    ui.label(name);
    let mut now = on;
    ui.horizontal(|ui| {
        if named(ui.checkbox(&mut now, ""), name).changed() {
            changes.push((path.into(), Some(now.to_string())));
        }
        if let Some(by_tier) = tier_value(&viewport.session.look.quality, path) {
            ui.weak(by_tier);
        }
        let (count, ms) = own.fold((0, 0.0), |(count, sum), pass| (count + 1, sum + pass.ms));
        if count > 0 {
            ui.weak(format!("{ms:.2} ms"))
                .on_hover_text(format!("device time of {count} passes in the last frame"));
        }
    });
    ui.end_row();
}

/// Controls of all properties of a section by name, with their values in the look; else the tier's
/// value, or the default.
fn listed(
    ui: &mut Ui,
    section: &str,
    (values, quality): (&Values, &QualityLook),
    changes: &mut Changes,
) {
    egui::CollapsingHeader::new(format!("{section}*")).show(ui, |ui| {
        grid(ui, section, |ui| {
            for property in look::properties() {
                if let Some(name) = property.path.strip_prefix(section) {
                    let path = property.path;
                    let by_tier = quality.value(path).map(str::to_owned);
                    let used = by_tier.or_else(|| default_of(&property));
                    let now = Now { set: set(values, path), used };
                    dials::control(ui, name, &property, path, now, changes);
                }
            }
        });
    });
}
