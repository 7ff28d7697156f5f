//! Lights and cameras that the user adds, copies, renames and deletes.

use glam::{DMat4, DVec3};

use super::{App, look::fov};
use crate::{
    camera::SensorSize,
    photometry::Lux,
    scene::{
        Projection,
        look::{self, LightShape, Look},
    },
    viewer::{
        action::{Changes, ItemAction},
        document::Document,
        light_placement::highlight,
        new_light::{Properties, Subject, copied, free_name, name_of},
        number_text::{place_text, short, view_text},
        pointer::SurfacePoint,
        rig::Rig,
        scene_items::{added_camera, cameras, is_added, light_of, light_space, lights},
        selection::Selection,
        workspace::Workspace,
    },
};

/// Illuminance that a new light gives its subject before the first picture is metered.
const DEFAULT_ILLUMINANCE: Lux = Lux(1000.0);

/// Part of the saturation luminance that a new light gives a white surface.
const WHITE: f64 = 0.5;

/// Maximum radius of a subject as part of half the view's smaller side, which leaves room for the
/// light in the picture.
const VISIBLE: f64 = 0.8;

/// Error of an empty name.
const EMPTY: &str = "the name is empty: type one";

/// Error of a name that is in use.
fn taken(name: &str) -> String {
    format!("the name '{name}' is taken: choose another")
}

/// Offset of a copy to the camera's right, as part of the distance to the center of orbit.
const COPY_OFFSET: f64 = 0.1;

impl App {
    pub(super) fn apply_to_items(&mut self, action: ItemAction) {
        let Some(work) = &mut self.state.workspace else { return };
        let done = match action {
            ItemAction::AddLight(shape) => add_light(work, shape),
            ItemAction::AddRig(rig) => add_rig(work, rig),
            ItemAction::AddCamera(name) => add_camera(work, &name),
            ItemAction::Duplicate => duplicate(work),
            ItemAction::Copy => match copy(work) {
                Ok(text) => {
                    self.ctx.copy_text(text);
                    return;
                }
                Err(error) => Err(error),
            },
            ItemAction::Paste(text) => paste(work, text),
            ItemAction::Rename(name) => rename(work, &name),
            ItemAction::Delete => delete(work),
        };
        self.finish(done);
    }

    /// Adds a rectangle light whose highlight falls on a surface point, and selects it.
    pub(super) fn add_highlight(&mut self, surface: SurfacePoint) {
        let Some(work) = &mut self.state.workspace else { return };
        let done = add_highlight(work, surface);
        self.finish(done);
    }

    /// Shows the changed look, with the new selection.
    fn finish(&mut self, done: Result<Selection, String>) {
        match done {
            Ok(selected) => {
                self.apply_document();
                if let Some(work) = &mut self.state.workspace {
                    work.selected = selected;
                }
            }
            Err(error) => self.error(error),
        }
    }
}

/// Name of the selected light.
fn selected(work: &Workspace) -> Result<String, String> {
    let name = work.selected.light_name().map(str::to_owned);
    name.ok_or_else(|| "no light selected: select one first".into())
}

/// True if a light of the scene or of the look has this address.
fn is_taken(work: &Workspace, name: &str) -> bool {
    !work.viewport.light_nodes(name).is_empty()
        || lights(&work.viewport).iter().any(|known| known == name)
        || work.document.look().is_ok_and(|look| look.lights.contains_key(name))
}

/// The center of orbit, and what is around it.
fn subject(work: &Workspace) -> Subject {
    let camera = work.viewport.pose();
    let center = work.controller.target();
    let [width, height] = work.viewport.full_size().map(f64::from);
    let half_height = camera.w_axis.truncate().distance(center) * (fov(&work.viewport) / 2.0).tan();
    let visible = VISIBLE * half_height * (width / height).min(1.0);
    let bounds = work.viewport.current_scene().bounds();
    let size = bounds.map_or(f64::INFINITY, |(low, high)| (high - low).length() / 2.0);
    let white = work.viewport.exposed().map(|exposed| exposed.exposure.saturation_luminance());
    Subject {
        center,
        radius: size.min(visible).max(1e-3),
        camera,
        // Of a white diffuse surface: E = pi L.
        illuminance: white
            .map_or(DEFAULT_ILLUMINANCE, |white| Lux(std::f64::consts::PI * WHITE * white.get())),
    }
}

/// Changes that add a light of these properties.
fn changes(name: &str, properties: &Properties) -> Changes {
    let path = |property: &str| format!("lights.{name}.{property}");
    let all = properties.iter().map(|(property, value)| (path(property), Some(value.clone())));
    std::iter::once((path("add"), Some("true".into()))).chain(all).collect()
}

fn create(document: &mut Document, changes: &Changes, what: &str) -> Result<(), String> {
    let changes: Vec<(&str, Option<&str>)> =
        changes.iter().map(|(path, value)| (path.as_str(), value.as_deref())).collect();
    document.create(&changes, what).map_err(|error| error.to_string())
}

fn add_light(work: &mut Workspace, shape: LightShape) -> Result<Selection, String> {
    let name = free_name(name_of(shape), |name| is_taken(work, name));
    let changes = changes(&name, &subject(work).light(shape));
    create(&mut work.document, &changes, &format!("new light {name}"))?;
    Ok(Selection::Light(name))
}

fn add_rig(work: &mut Workspace, rig: Rig) -> Result<Selection, String> {
    let mut names: Vec<String> = Vec::new();
    let mut all = Changes::new();
    for (name, properties) in rig.around(&subject(work)) {
        let taken = |name: &str| is_taken(work, name) || names.iter().any(|known| known == name);
        let name = free_name(name, taken);
        all.extend(changes(&name, &properties));
        names.push(name);
    }
    let first = names.first().cloned().unwrap_or_default();
    create(&mut work.document, &all, &format!("new lights {}", names.join(", ")))?;
    Ok(Selection::Light(first))
}

fn add_highlight(work: &mut Workspace, surface: SurfacePoint) -> Result<Selection, String> {
    let shape = LightShape::Rectangle;
    let subject = Subject { center: surface.point, ..subject(work) };
    let eye = subject.camera.w_axis.truncate();
    // At the distance of a new light.
    let at = DMat4::from_translation(subject.place());
    let placed = highlight(at, eye, surface.point, surface.normal)
        .ok_or("no light position gives that; click elsewhere")?;
    let name = free_name(name_of(shape), |name| is_taken(work, name));
    let changes = changes(&name, &subject.light_at(shape, placed.position));
    create(&mut work.document, &changes, &format!("new light {name}"))?;
    Ok(Selection::Light(name))
}

/// The properties of one light that a look sets, but for those that add or enable it. A name may
/// contain dots, so that another light's may start with it.
fn properties_of<'v>(
    name: &str,
    values: impl Iterator<Item = (&'v str, &'v String)>,
) -> Vec<(&'v str, &'v String)> {
    let prefix = format!("lights.{name}.");
    values
        .filter_map(|(path, value)| Some((path.strip_prefix(&prefix)?, value)))
        .filter(|(property, _)| !property.contains('.') && !matches!(*property, "add" | "enabled"))
        .collect()
}

/// The properties that give the selected light again, and its position in the look's space.
fn properties(work: &Workspace, name: &str) -> Result<(Changes, DVec3), String> {
    let Some((light, world)) = light_of(&work.viewport, name) else {
        return Err(format!("{name} is switched off: switch it on to copy it"));
    };
    let world = light_space(&work.viewport, name).inverse() * world;
    let mut of_light = copied(light, world);
    let values = work.document.values();
    let set = properties_of(name, values.iter().map(|(path, value)| (path.as_str(), value)));
    let strengths = ["lumens", "candela", "lux", "nits", "ev100"];
    if set.iter().any(|(property, _)| strengths.contains(property)) {
        of_light.retain(|property, _| !strengths.contains(property));
    }
    // The computed tint is that of the black-body locus.
    if set.iter().any(|(property, _)| *property == "kelvin") {
        of_light.retain(|property, _| !matches!(*property, "kelvin" | "tint"));
    }
    let mut all = changes("", &of_light);
    for (property, value) in set {
        let path = format!("lights..{property}");
        all.retain(|(known, _)| *known != path);
        all.push((path, Some(value.clone())));
    }
    Ok((all, world.w_axis.truncate()))
}

/// The changes for a light of another name.
fn named(changes: Changes, name: &str) -> Changes {
    let path = |path: String| path.replacen("lights..", &format!("lights.{name}."), 1);
    changes.into_iter().map(|(of, value)| (path(of), value)).collect()
}

fn duplicate(work: &mut Workspace) -> Result<Selection, String> {
    let old = selected(work)?;
    let (properties, place) = properties(work, &old)?;
    let name = free_name(&old, |name| is_taken(work, name));
    let camera = work.viewport.pose();
    let distance = camera.w_axis.truncate().distance(work.controller.target());
    let right = camera.x_axis.truncate().normalize_or(DVec3::X) * (COPY_OFFSET * distance);
    let aside = light_space(&work.viewport, &old).inverse().transform_vector3(right);
    let mut changes = named(properties, &name);
    let position = format!("lights.{name}.position");
    changes.retain(|(path, _)| *path != position);
    changes.push((position, Some(place_text(place + aside))));
    create(&mut work.document, &changes, &format!("duplicate {old}"))?;
    Ok(Selection::Light(name))
}

/// Text of a look that adds the selected light.
fn copy(work: &mut Workspace) -> Result<String, String> {
    let name = selected(work)?;
    let (properties, _) = properties(work, &name)?;
    let mut text = Document::new("", "the copied light", None);
    create(&mut text, &named(properties, &name), "copy")?;
    work.copied = Some(text.text().to_owned());
    Ok(text.text().to_owned())
}

fn paste(work: &mut Workspace, text: Option<String>) -> Result<Selection, String> {
    let text = text.or_else(|| work.copied.clone());
    let text = text.ok_or("nothing to paste: copy a light first")?;
    let expected = "the clipboard holds no lights: copy one, or the [lights.NAME] of a look file";
    if Look::default().parse("the clipboard", &text).is_err() {
        return Err(expected.into());
    }
    let mut renamed: Vec<(String, String)> = Vec::new();
    let mut changes = Changes::new();
    for (path, value) in look::flattened(&text) {
        let parts = path.strip_prefix("lights.").and_then(|rest| rest.rsplit_once('.'));
        let (old, property) = parts.ok_or(expected)?;
        let known = renamed.iter().find(|(of, _)| of == old).map(|(_, new)| new.clone());
        let name = known.unwrap_or_else(|| {
            let taken =
                |name: &str| is_taken(work, name) || renamed.iter().any(|(_, other)| other == name);
            let name = if taken(old) { free_name(old, taken) } else { old.to_owned() };
            renamed.push((old.to_owned(), name.clone()));
            changes.push((format!("lights.{name}.add"), Some("true".into())));
            name
        });
        if property != "add" {
            changes.push((format!("lights.{name}.{property}"), Some(value)));
        }
    }
    let last = renamed.last().map(|(_, name)| name.clone()).ok_or(expected)?;
    let names: Vec<&str> = renamed.iter().map(|(_, name)| name.as_str()).collect();
    create(&mut work.document, &changes, &format!("paste {}", names.join(", ")))?;
    Ok(Selection::Light(last))
}

fn rename(work: &mut Workspace, name: &str) -> Result<Selection, String> {
    let old = selected(work)?;
    if !is_added(&work.viewport, &old) {
        return Err(format!("{old} is named by the scene file: rename it there"));
    }
    if name.is_empty() {
        return Err(EMPTY.into());
    }
    if is_taken(work, name) {
        return Err(taken(name));
    }
    work.document.rename_item("lights", [&old, name]).map_err(|error| error.to_string())?;
    if work.solo.as_ref() == Some(&old) {
        work.solo = Some(name.to_owned());
    }
    Ok(Selection::Light(name.to_owned()))
}

/// Rolls below are rounding (degrees).
const MIN_ROLL: f64 = 1e-5;

/// Roll of a camera about its view axis (rad), clockwise seen from behind.
fn roll(camera: DMat4) -> f64 {
    let [right, back] = [camera.x_axis, camera.z_axis].map(|axis| axis.truncate().normalize());
    // As `cameras.NAME.target` turns an unrolled camera: X is level, or keeps as much of the
    // world's as it can.
    let across = DVec3::Y.cross(back);
    let level = if across.length() > 1e-6 { across } else { DVec3::X.reject_from(back) };
    let level = level.normalize_or(DVec3::X);
    -right.dot(back.cross(level)).atan2(right.dot(level))
}

/// Adds a camera at the current view, with the dials and the lens in use.
fn add_camera(work: &mut Workspace, name: &str) -> Result<Selection, String> {
    if name.is_empty() {
        return Err(EMPTY.into());
    }
    if cameras(&work.viewport).iter().any(|known| known == name) {
        return Err(taken(name));
    }
    let session = &work.viewport.session;
    if matches!(session.camera.1, Projection::Orthographic { .. }) {
        let remedy = "cameras of the look are perspective; choose a perspective one first";
        return Err(format!("the camera of this view is orthographic: {remedy}"));
    }
    let pose = work.viewport.pose();
    let (position, forward) = (pose.w_axis.truncate(), -pose.z_axis.truncate().normalize());
    let distance = (work.controller.target() - position).length().max(0.1);
    let camera = &session.physical_camera;
    let fov = camera.lens.focal_length.is_none().then(|| fov(&work.viewport).to_degrees());
    let path = |property: &str| format!("cameras.{name}.{property}");
    let mut changes = vec![
        (path("add"), Some("true".to_owned())),
        (path("position"), Some(view_text(position))),
        (path("target"), Some(view_text(position + forward * distance))),
    ];
    if let Some(SensorSize { width, height }) =
        added_camera(&work.viewport).and_then(|of| of.1.sensor)
    {
        let sides = [width, height].map(|side| short(side * 1e3)).join("x");
        changes.push((path("sensor"), Some(sides)));
    }
    let own = [
        ("roll", Some(roll(pose).to_degrees()).filter(|roll| roll.abs() > MIN_ROLL)),
        ("vertical_fov", fov),
        ("focal_length", camera.lens.focal_length.map(|length| length * 1e3)),
        ("focus", camera.lens.focus.filter(|focus| focus.is_finite())),
        ("f_stop", camera.dials.f_stop),
        ("shutter", camera.dials.shutter_s),
        ("iso", camera.dials.iso),
    ];
    let set = own.into_iter().filter_map(|(property, value)| Some((property, value?)));
    changes.extend(set.map(|(property, value)| (path(property), Some(short(value)))));
    changes.push(("camera.name".into(), Some(name.to_owned())));
    create(&mut work.document, &changes, &format!("new camera {name}"))?;
    Ok(Selection::Camera)
}

/// Deletes the chosen camera, which the look adds.
fn delete_camera(work: &mut Workspace) -> Result<Selection, String> {
    let Some((name, _)) = added_camera(&work.viewport) else {
        return Err("the camera is of the scene file: only those of the look can be deleted".into());
    };
    let name = name.to_owned();
    let chosen = work.document.values().get("camera.name") == Some(&name);
    work.document
        .remove_item_and("cameras", &name, if chosen { &["camera.name"] } else { &[] })
        .map_err(|error| error.to_string())?;
    Ok(Selection::Camera)
}

fn delete(work: &mut Workspace) -> Result<Selection, String> {
    if work.selected == Selection::Camera {
        return delete_camera(work);
    }
    let name = selected(work)?;
    if is_added(&work.viewport, &name) {
        work.document.remove_item("lights", &name).map_err(|error| error.to_string())?;
        if work.solo.as_ref() == Some(&name) {
            work.solo = None;
        }
        return Ok(Selection::default());
    }
    let off = vec![(format!("lights.{name}.enabled"), Some("false".to_owned()))];
    create(&mut work.document, &off, &format!("switch {name} off"))?;
    Ok(Selection::Light(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_those_of_one_light() {
        let values = [
            ("lights.Light.001.gel", "CTO"),
            ("lights.Light.001.lumens", "5"),
            ("lights.Light.add", "true"),
            ("lights.Light.enabled", "false"),
            ("lights.Light.lumens", "800"),
            ("lights.Lightning.lumens", "7"),
        ]
        .map(|(path, value)| (path, value.to_owned()));
        let of = |name: &str| -> Vec<(&str, String)> {
            let all = properties_of(name, values.iter().map(|(path, value)| (*path, value)));
            all.into_iter().map(|(property, value)| (property, value.clone())).collect()
        };
        assert_eq!(of("Light"), [("lumens", "800".to_owned())]);
        assert_eq!(of("Light.001"), [("gel", "CTO".to_owned()), ("lumens", "5".to_owned())]);
    }
}
