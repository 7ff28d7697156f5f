//! Controls of listed properties by what they accept: a slider and a field for a number in a range,
//! a check box, a list, else a text field.

use egui::{Color32, Ui};

use super::{
    choice::{Changes, Entry, choice},
    fields::{field, grid, named, slider, text, typed},
};
use crate::{
    settings::{Accepts, Property, units::number_in},
    viewer::number_text::short,
};

/// Text of values that the look does not set.
const UNSET: Color32 = Color32::from_gray(150);

/// Minimum of logarithmic sliders without a default, relative to their end.
const DECADES: f64 = 1e-4;

/// Value of a property: as the look sets it, empty if unset, and the value in use then.
pub(super) struct Now<'a> {
    pub set: &'a str,
    pub used: Option<String>,
}

/// Range of a property's slider, and whether it is logarithmic; none for other controls. Values
/// beyond it are typed.
fn reach(property: &Property) -> Option<([f64; 2], bool)> {
    let end = property.path.strip_prefix("environment.").unwrap_or(property.path);
    Some(match (end, &property.accepts) {
        ("rotation", _) => ([-180.0, 180.0], false),
        ("sun.azimuth" | "moon.azimuth", _) => ([0.0, 360.0], false),
        // From a moonlit night to the sun at noon.
        ("lux", _) => ([0.01, 130_000.0], true),
        ("moon.lux", _) => ([1e-3, 1.0], true),
        ("scale", _) => ([1e-3, 1e5], true),
        (_, Accepts::Range { min, max, .. } | Accepts::Angle { min, max }) => {
            // Beyond three decades, the lower ones matter as much: those around the default.
            if *min < 0.0 || *max <= 1e3 * min.max(1.0) {
                ([*min, *max], false)
            } else {
                let default = default_of(property);
                let default = default.and_then(|text| number_in(&text, property.unit));
                match default.filter(|default| *default > 0.0) {
                    Some(default) => ([min.max(default / 100.0), max.min(default * 100.0)], true),
                    None => ([min.max(max * DECADES), *max], true),
                }
            }
        }
        _ => return None,
    })
}

/// Default of a property, as the look writes it: angles in degrees.
pub(super) fn default_of(property: &Property) -> Option<String> {
    let text = (property.default)()?;
    match property.accepts {
        Accepts::Angle { .. } => text.parse::<f64>().ok().map(|angle| short(angle.to_degrees())),
        _ => Some(text),
    }
}

/// The control of one property, in a row of a grid.
pub(super) fn control(
    ui: &mut Ui,
    name: &str,
    property: &Property,
    path: &str,
    now: Now<'_>,
    changes: &mut Changes,
) {
    let (set, used) = (now.set, now.used.as_deref());
    let bare = property.accepts;
    if let Some((reach, logarithmic)) = reach(property) {
        ui.label(name).on_hover_text(property.description);
        ui.horizontal(|ui| {
            number(ui, name, (property, path), (reach, logarithmic), &now, changes);
            reset(ui, name, path, &now, changes);
        });
        ui.end_row();
    } else if let Accepts::Bool = bare {
        ui.label(name).on_hover_text(property.description);
        ui.horizontal(|ui| {
            let known = if set.is_empty() { used } else { Some(set) };
            let mut on = known == Some("true");
            let tick = egui::Checkbox::without_text(&mut on).indeterminate(known.is_none());
            if named(ui.add(tick), name).changed() {
                changes.push((path.into(), Some(on.to_string())));
            }
            reset(ui, name, path, &now, changes);
        });
        ui.end_row();
    } else if let [_, ..] = bare.choices() {
        ui.label(name).on_hover_text(property.description);
        ui.horizontal(|ui| {
            let known = if set.is_empty() { used.unwrap_or("not set") } else { set };
            let entry = |value: &&'static str| {
                Entry::new(*value, *value == known, path, Some((*value).to_owned()))
            };
            let entries = bare.choices().iter().map(entry).collect();
            choice(ui, (path, name), (known, None), entries, changes);
            reset(ui, name, path, &now, changes);
        });
        ui.end_row();
    } else {
        let hint = match (used, property.accepts) {
            (Some(used), _) => used,
            (None, Accepts::File) => "file",
            (None, _) => property.description,
        };
        text(ui, name, set, hint, path, changes);
    }
}

/// Slider and field of a number.
fn number(
    ui: &mut Ui,
    name: &str,
    (property, path): (&Property, &str),
    (reach, logarithmic): ([f64; 2], bool),
    now: &Now<'_>,
    changes: &mut Changes,
) {
    let known = if now.set.is_empty() { now.used.as_deref() } else { Some(now.set) };
    let known = known.and_then(|text| number_in(text, property.unit));
    let whole = matches!(property.accepts, Accepts::Range { integer: true, .. });
    let value = known.unwrap_or(reach[0]);
    ui.spacing_mut().slider_width = 76.0;
    if let Some(moved) = slider(ui, &format!("{name}: slider"), value, reach, logarithmic) {
        let rounded = if whole { moved.round() } else { rounded(moved, reach) };
        changes.push((path.into(), Some(short(rounded))));
    }
    if known.is_none() {
        if let Some(text) = typed(ui, name, ("", "not set"), path, 58.0) {
            changes.push((path.into(), Some(text).filter(|text| !text.is_empty())));
        }
        return;
    }
    let unit = if property.unit.is_empty() { String::new() } else { format!(" {}", property.unit) };
    let range = property.accepts.range().unwrap_or(reach);
    let speed = if logarithmic { value.abs() * 0.005 } else { (reach[1] - reach[0]) / 500.0 };
    ui.scope(|ui| {
        if now.set.is_empty() {
            ui.visuals_mut().override_text_color = Some(UNSET);
        }
        let speed = if whole { speed.max(0.05) } else { speed.max(1e-6) };
        let decimals = if whole { 0 } else { 3 };
        if let Some(typed) = field(ui, name, (value, speed, range), &unit, decimals) {
            changes.push((path.into(), Some(typed)));
        }
    });
}

/// A slider's value without digits that its range does not resolve.
fn rounded(value: f64, [from, to]: [f64; 2]) -> f64 {
    let step = if value == 0.0 { 0.0 } else { value.abs().min((to - from).abs()) / 1e3 };
    if step <= 0.0 {
        return value;
    }
    let step = 10f64.powf(step.log10().floor());
    (value / step).round() * step
}

/// Removes a property that is set.
fn reset(ui: &mut Ui, name: &str, path: &str, now: &Now<'_>, changes: &mut Changes) {
    if now.set.is_empty() {
        return;
    }
    let back = named(ui.small_button("x"), &format!("Reset {name}"));
    if back.on_hover_text("removes it from the look").clicked() {
        changes.push((path.into(), None));
    }
}

/// A group of properties under a header.
pub(super) fn group(ui: &mut Ui, title: &str, open: bool, add: impl FnOnce(&mut Ui)) {
    egui::CollapsingHeader::new(title).default_open(open).show(ui, |ui| grid(ui, title, add));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::look;

    #[test]
    fn sliders_reach_defaults_within_the_range_of_their_property() {
        let mut sliders = 0;
        for property in look::properties() {
            let Some(([from, to], logarithmic)) = reach(&property) else { continue };
            sliders += 1;
            let path = property.path;
            assert!(from < to && !(logarithmic && from <= 0.0), "{path}: {from} to {to}");
            let [min, max] = property.accepts.range().unwrap();
            assert!(min <= from && to <= max, "{path}: {from} to {to} in {min} to {max}");
            if let Some(default) = default_of(&property) {
                let default = number_in(&default, property.unit).unwrap();
                assert!((from..=to).contains(&default) || default == 0.0, "{path}: {default}");
            }
        }
        assert!(sliders > 50, "{sliders}");
    }

    #[test]
    fn slider_values_have_three_digits() {
        assert_eq!(short(rounded(123.456_78, [0.0, 360.0])), "123.5");
        assert_eq!(short(rounded(0.012_345_6, [0.0, 1.0])), "0.01235");
        assert_eq!(short(rounded(98_765.4, [0.01, 130_000.0])), "98770");
        assert_eq!(rounded(0.0, [0.0, 1.0]), 0.0);
    }
}
