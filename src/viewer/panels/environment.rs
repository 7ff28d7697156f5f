//! The inspector's page of the environment: sun, sky and haze, map, moon, place and time.

use std::collections::BTreeMap;

use egui::Ui;

use super::{
    choice::Changes,
    dials::{Now, control, default_of, group},
    fields::{short, slider, typed},
    handles::sun_of,
};
use crate::{scene::look, settings::Property, viewer::workspace::Workspace};

/// Groups: title, starts of their properties, and whether they are open at first.
const GROUPS: [(&str, &[&str], bool); 5] = [
    ("Light", &["rotation", "lux", "scale"], true),
    ("Sun", &["sun."], true),
    ("Sky and haze", &["sky."], true),
    ("Map", &["file", "extract"], true),
    ("Moon", &["moon."], false),
];

const CLOCK: &str = "environment.time.clock";

/// Place and time that the button starts with: noon of midsummer in Greenwich.
const START: [(&str, &str); 4] = [
    ("environment.place.latitude", "51.48"),
    ("environment.place.longitude", "0"),
    ("environment.time.date", "2026-06-21"),
    (CLOCK, "12:00"),
];

/// Elevation (degrees) of a sun or moon whose azimuth is set first.
const ELEVATION: f64 = 35.0;

/// The page.
pub(super) fn page(
    ui: &mut Ui,
    work: &Workspace,
    values: &BTreeMap<String, String>,
    changes: &mut Changes,
) {
    ui.heading("Environment");
    let scene = &work.viewport.session.scene;
    let sun = scene.walk().iter().any(|placed| placed.node.name == "sun");
    ui.weak(match (&scene.environment, sun) {
        (None, _) => "none: no environment light",
        (Some(_), true) => "sky or map, with a sun",
        (Some(_), false) => "sky or map",
    });
    let of_section: Vec<Property> =
        look::properties().filter(|property| property.path.starts_with("environment.")).collect();
    let set = |path: &str| values.get(path).map_or("", String::as_str);
    let placed = sun_of(work).map(|sun| {
        [sun.position.azimuth.rem_euclid(std::f64::consts::TAU), sun.position.elevation]
            .map(|angle| short((angle.to_degrees() * 100.0).round() / 100.0))
    });
    let row = |ui: &mut Ui, property: &Property, changes: &mut Changes| {
        let path = property.path;
        let used = match (path, &placed) {
            ("environment.sun.azimuth", Some([azimuth, _])) => Some(azimuth.clone()),
            ("environment.sun.elevation", Some([_, elevation])) => Some(elevation.clone()),
            _ => default_of(property),
        };
        let mut own = Changes::new();
        control(ui, label(path), property, path, Now { set: set(path), used }, &mut own);
        // An azimuth needs an elevation.
        if let [(path, Some(_))] = own.as_slice()
            && let Some(body) = path.strip_suffix(".azimuth")
        {
            let elevation = format!("{body}.elevation");
            if set(&elevation).is_empty() {
                let by_sun = placed.as_ref().filter(|_| body.ends_with(".sun"));
                let text = by_sun.map_or_else(|| short(ELEVATION), |[_, angle]| angle.clone());
                own.push((elevation, Some(text)));
            }
        }
        changes.extend(own);
    };
    let member = |property: &Property, starts: &[&str]| {
        let name = property.path.trim_start_matches("environment.");
        starts.iter().any(|start| name.starts_with(start))
    };
    for (title, starts, open) in GROUPS {
        group(ui, title, open, |ui| {
            // In the order of the group's starts, then of the reference.
            for start in starts {
                for property in of_section.iter().filter(|property| member(property, &[*start])) {
                    row(ui, property, changes);
                }
            }
        });
    }
    let is_placed = START.iter().any(|(path, _)| !set(path).is_empty());
    group(ui, "Place and time", is_placed, |ui| {
        if !is_placed {
            let button = ui.button("Sun by place and time");
            let hint = "sets latitude, longitude, date and clock; removes azimuth and elevation";
            if button.on_hover_text(hint).clicked() {
                let by_hand = ["environment.sun.azimuth", "environment.sun.elevation"];
                changes.extend(by_hand.map(|path| (path.to_owned(), None)));
                changes.extend(START.map(|(path, text)| (path.to_owned(), Some(text.to_owned()))));
            }
            ui.end_row();
            return;
        }
        let grouped =
            |property: &&Property| GROUPS.iter().any(|(_, starts, _)| member(property, starts));
        for property in of_section.iter().filter(|property| !grouped(property)) {
            if property.path == CLOCK {
                clock(ui, set(CLOCK), property.description, changes);
            } else {
                row(ui, property, changes);
            }
        }
    });
}

/// Label of a property.
fn label(path: &str) -> &str {
    match path {
        "environment.sun.enabled" => "Sun",
        "environment.sun.azimuth" => "Sun azimuth",
        "environment.sun.elevation" => "Sun elevation",
        "environment.sky.enabled" => "Sky",
        "environment.sky.turbidity" => "Haze (turbidity)",
        "environment.sky.ground_albedo" => "Ground albedo",
        "environment.sky.ozone" => "Ozone",
        "environment.file" => "Map file",
        "environment.lux" => "Illuminance",
        "environment.scale" => "Scale",
        "environment.rotation" => "Rotation",
        "environment.extract" => "Extract lights",
        "environment.extract_count" => "Maximum lights",
        "environment.extract_threshold" => "Threshold",
        "environment.moon.enabled" => "Moon",
        "environment.moon.azimuth" => "Moon azimuth",
        "environment.moon.elevation" => "Moon elevation",
        "environment.moon.lux" => "Moon illuminance",
        "environment.place.latitude" => "Latitude",
        "environment.place.longitude" => "Longitude",
        "environment.place.altitude" => "Altitude",
        "environment.time.date" => "Date",
        "environment.time.utc_offset" => "UTC offset",
        _ => path.trim_start_matches("environment."),
    }
}

/// The time of day: a slider in steps of 5 minutes, and a field.
fn clock(ui: &mut Ui, now: &str, hint: &str, changes: &mut Changes) {
    ui.label("Time of day").on_hover_text(hint);
    ui.horizontal(|ui| {
        ui.spacing_mut().slider_width = 76.0;
        let hours = hours(now).unwrap_or(12.0);
        if let Some(moved) = slider(ui, "Time of day: slider", hours, [0.0, 23.75], false) {
            let minutes = ((moved * 12.0).round() * 5.0).clamp(0.0, 1435.0) as u32;
            let text = format!("{:02}:{:02}", minutes / 60, minutes % 60);
            changes.push((CLOCK.into(), Some(text)));
        }
        if let Some(text) = typed(ui, "Time of day", (now, "12:30"), CLOCK, 58.0) {
            changes.push((CLOCK.into(), Some(text).filter(|text| !text.is_empty())));
        }
    });
    ui.end_row();
}

/// Hours of a time of day such as `12:30`.
fn hours(text: &str) -> Option<f64> {
    let mut parts = text.split(':').map(|part| part.trim().parse::<f64>().ok());
    let (hours, minutes) = (parts.next()??, parts.next()??);
    Some(hours + minutes / 60.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_name_every_property_once() {
        let mut labels = Vec::new();
        for property in look::properties() {
            let Some(name) = property.path.strip_prefix("environment.") else { continue };
            let of = |(_, starts, _): &&(&str, &[&str], bool)| {
                starts.iter().filter(|start| name.starts_with(**start)).count() > 0
            };
            assert!(GROUPS.iter().filter(of).count() <= 1, "{name} is in two groups");
            labels.push(label(property.path));
        }
        let count = labels.len();
        labels.sort_unstable();
        labels.dedup();
        assert!(count > 20 && labels.len() == count, "{labels:?}");
    }

    #[test]
    fn times_of_day_are_hours() {
        assert_eq!((hours("12:30"), hours("06:15:20")), (Some(12.5), Some(6.25)));
        assert_eq!((hours("noon"), hours("")), (None, None));
    }
}
