//! Fields that edit properties of the look: each adds its changes to a list.

use std::cell::RefCell;

use egui::{DragValue, Response, Ui};
use glam::DVec3;

use super::choice::{Changes, Entry, choice};
pub(super) use crate::viewer::number_text::{decimals, differs, short};
use crate::{
    camera::body::{Dial, Stop},
    settings::units::number_in,
};

/// Names a control in the accessibility tree, where its own text does not tell it from others.
pub(super) fn named(response: Response, name: &str) -> Response {
    response.ctx.accesskit_node_builder(response.id, |node| node.set_label(name));
    response
}

/// A number field to drag or type in: typed text applies when it is complete, and an unchanged
/// number keeps its value.
pub(super) fn drag<Num: egui::emath::Numeric>(value: &mut Num) -> DragValue<'_> {
    let finite = |text: &str| text.trim().parse().ok().filter(|value: &f64| value.is_finite());
    DragValue::new(value)
        .clamp_existing_to_range(false)
        .update_while_editing(false)
        .custom_parser(finite)
}

/// A field for a property's number; returns its new value, if edited. `name` is that of the
/// accessibility tree.
///
/// Typed text that is no number, has a unit or is out of range is passed to the look, which
/// converts units and reports what it expects.
pub(super) fn field(
    ui: &mut Ui,
    name: &str,
    (now, speed, range): (f64, f64, [f64; 2]),
    suffix: &str,
    min_decimals: usize,
) -> Option<String> {
    let mut value = now;
    let places = decimals(now).max(min_decimals);
    let refused = RefCell::new(None);
    let parse = |text: &str| {
        let number =
            text.trim().parse().ok().filter(|value: &f64| (range[0]..=range[1]).contains(value));
        if number.is_none() {
            *refused.borrow_mut() = Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        }
        number
    };
    let field = ui.add(
        drag(&mut value)
            .speed(speed)
            .range(range[0]..=range[1])
            .suffix(suffix)
            .max_decimals(places)
            .custom_formatter(|value, _| short(value))
            .custom_parser(parse),
    );
    let changed = named(field, name).changed();
    refused.into_inner().or_else(|| (changed && differs(now, value, places)).then(|| short(value)))
}

/// A dial: a field for any value, with or without its unit, and the list of standard stops.
///
/// `now` is the look's value, `solved` the metered one where the look sets none.
pub(super) fn dial(
    ui: &mut Ui,
    name: &str,
    dial: Dial,
    [now, solved]: [Option<f64>; 2],
    path: &str,
    changes: &mut Changes,
) {
    ui.label(name);
    ui.horizontal(|ui| {
        let stops = dial.stops();
        let nearest = now.or(solved).and_then(|now| dial.nearest(now));
        let text = match (now, nearest) {
            (Some(now), Some(stop)) if (now / stop.nominal - 1.0).abs() < 0.02 => {
                with_unit(dial, &engraved(dial, stop))
            }
            (Some(now), _) => with_unit(dial, &short(now)),
            (None, _) => String::new(),
        };
        let at = nearest.and_then(|near| stops.iter().position(|stop| *stop == near));
        let step = |by: i32| at.and_then(|at| stops.get(usize::try_from(at as i32 + by).ok()?));
        let set = |stop: &Stop| (path.to_owned(), Some(engraved(dial, *stop)));
        let less = named(ui.small_button("-"), &format!("{name}: previous stop"));
        if less.on_hover_text("previous stop").clicked()
            && let Some(stop) = step(-1)
        {
            changes.push(set(stop));
        }
        if let Some(typed) = typed(ui, name, (&text, "metered"), path, 58.0) {
            changes.push((path.into(), Some(typed).filter(|text| !text.is_empty())));
        }
        let mut entries = vec![Entry::new("metered", now.is_none(), path, None)];
        entries.extend(stops.iter().map(|stop| {
            let (name, chosen) = (engraved(dial, *stop), now.is_some() && nearest == Some(*stop));
            Entry::new(name.clone(), chosen, path, Some(name))
        }));
        choice(ui, (path, &format!("{name}: stops")), ("", Some(18.0)), entries, changes);
        let more = named(ui.small_button("+"), &format!("{name}: next stop"));
        if more.on_hover_text("next stop").clicked()
            && let Some(stop) = step(1)
        {
            changes.push(set(stop));
        }
    });
    ui.end_row();
}

/// A dial's value with its unit.
fn with_unit(dial: Dial, value: &str) -> String {
    match dial {
        Dial::FStop => format!("f/{value}"),
        Dial::Shutter => format!("{value} s"),
        Dial::Iso => value.to_owned(),
    }
}

/// A list of a property's named values.
pub(super) fn listing(
    ui: &mut Ui,
    name: &str,
    now: &str,
    names: &[&'static str],
    path: &str,
    changes: &mut Changes,
) {
    let entry = |name: &&str| Entry::new(*name, *name == now, path, Some((*name).to_owned()));
    choice(ui, (path, name), (now, None), names.iter().map(entry).collect(), changes);
}

/// A stop as engraved on the dial, which is the look file's syntax too: fractions of a second as
/// fractions.
fn engraved(dial: Dial, stop: Stop) -> String {
    if dial == Dial::Shutter && stop.nominal < 0.9 {
        format!("1/{}", short(1.0 / stop.nominal))
    } else {
        short(stop.nominal)
    }
}

/// A number field for one property.
pub(super) fn number(
    ui: &mut Ui,
    name: &str,
    dragged: (f64, f64, [f64; 2]),
    suffix: &str,
    path: &str,
    changes: &mut Changes,
) {
    ui.label(name);
    if let Some(value) = field(ui, name, dragged, suffix, 4) {
        changes.push((path.into(), Some(value)));
    }
    ui.end_row();
}

/// A slider over a part of a property's range; returns its new value, if moved.
pub(super) fn slider(
    ui: &mut Ui,
    name: &str,
    now: f64,
    [from, to]: [f64; 2],
    logarithmic: bool,
) -> Option<f64> {
    let mut value = now;
    let slider = egui::Slider::new(&mut value, from..=to)
        .logarithmic(logarithmic)
        .show_value(false)
        .clamping(egui::SliderClamping::Never);
    named(ui.add(slider), name).changed().then_some(value)
}

/// Stands for an unset number: the value in use, and a button that sets the property.
pub(super) fn unset(
    ui: &mut Ui,
    name: &str,
    stands: &str,
    value: f64,
    unit: &str,
    path: &str,
    changes: &mut Changes,
) {
    ui.label(name);
    ui.horizontal(|ui| {
        ui.label(stands);
        let set = named(ui.small_button("set"), &format!("Set {name}"));
        if set.on_hover_text(format!("sets {} {unit}", short(value))).clicked() {
            changes.push((path.into(), Some(short(value))));
        }
    });
    ui.end_row();
}

/// Three number fields for a position (m). Lengths may have another unit; other text is passed to
/// the look, which reports what it expects.
pub(super) fn place(ui: &mut Ui, name: &str, now: DVec3, path: &str, changes: &mut Changes) {
    ui.label(name);
    ui.horizontal(|ui| {
        let mut values = now.to_array();
        let (mut changed, mut refused) = (false, None);
        for (value, axis) in values.iter_mut().zip(["x", "y", "z"]) {
            let before = *value;
            let wrong = RefCell::new(None);
            let parse = |text: &str| {
                let length = number_in(text, "m");
                if length.is_none() {
                    *wrong.borrow_mut() =
                        Some(text.trim().to_owned()).filter(|text| !text.is_empty());
                }
                length
            };
            let field = drag(value).speed(0.01).max_decimals(3).custom_parser(parse);
            let edited = named(ui.add(field), &format!("{name} {axis}")).changed();
            changed |= edited && differs(before, *value, 3);
            refused = refused.or(wrong.into_inner());
        }
        if let Some(text) = refused {
            changes.push((path.into(), Some(text)));
        } else if changed {
            changes.push((
                path.into(),
                Some(format!("{:.5} {:.5} {:.5}", values[0], values[1], values[2])),
            ));
        }
    });
    ui.end_row();
}

/// A check box for one property.
pub(super) fn switch(ui: &mut Ui, name: &str, now: bool, path: &str, changes: &mut Changes) {
    ui.label(name);
    let mut on = now;
    if named(ui.checkbox(&mut on, ""), name).changed() {
        changes.push((path.into(), Some(on.to_string())));
    }
    ui.end_row();
}

/// A text field whose property is set by Enter.
pub(super) fn text(
    ui: &mut Ui,
    name: &str,
    now: &str,
    hint: &str,
    path: &str,
    changes: &mut Changes,
) {
    ui.label(name);
    if let Some(typed) = typed(ui, name, (now, hint), path, 150.0) {
        changes.push((path.into(), Some(typed).filter(|text| !text.is_empty())));
    }
    ui.end_row();
}

/// A text field; returns its text, trimmed, once it is left with another one than before.
pub(super) fn typed(
    ui: &mut Ui,
    name: &str,
    (now, hint): (&str, &str),
    salt: &str,
    width: f32,
) -> Option<String> {
    let id = ui.id().with(salt);
    let mut text: String = ui.data(|data| data.get_temp(id)).unwrap_or_else(|| now.to_owned());
    let field = egui::TextEdit::singleline(&mut text).hint_text(hint).desired_width(width);
    let field = named(ui.add(field), name);
    if field.lost_focus() {
        ui.data_mut(|data| data.remove_temp::<String>(id));
        return (text != now).then(|| text.trim().to_owned());
    }
    if field.has_focus() {
        ui.data_mut(|data| data.insert_temp(id, text));
    }
    None
}

/// A grid of names and fields.
pub(super) fn grid(ui: &mut Ui, name: &str, add: impl FnOnce(&mut Ui)) {
    egui::Grid::new(name).num_columns(2).spacing([8.0, 4.0]).striped(true).show(ui, add);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::viewer::{
        action::{Action, DocumentAction},
        document::Document,
        panels::testing::PanelTest,
    };

    #[test]
    fn the_next_stop_is_one_property_and_one_undo_step() {
        let mut test = PanelTest::new(|ui, _, _, actions| {
            let mut changes = Changes::new();
            let now = [Some(2.8), None];
            dial(ui, "Aperture", Dial::FStop, now, "camera.lens.f_stop", &mut changes);
            actions.set(changes);
        });
        let actions = test.click("+");
        let [Action::Document(DocumentAction::Set(changes))] = actions.as_slice() else {
            panic!("{actions:?}")
        };
        let [(path, Some(value))] = changes.as_slice() else { panic!("{changes:?}") };
        assert_eq!((path.as_str(), value.as_str()), ("camera.lens.f_stop", "3.2"));
        let before = "[camera.lens]\nf_stop = 2.8 # wide open\n";
        let mut document = Document::new(before, "a.look.toml", None);
        document.set(&[(path, Some(value))]).unwrap();
        assert_eq!(document.text(), "[camera.lens]\nf_stop = 3.2 # wide open\n");
        assert_eq!(document.steps(), [Some("camera.lens.f_stop"), None]);
        assert_eq!(document.undo().as_deref(), Some("camera.lens.f_stop"));
        assert_eq!((document.text(), document.steps()[0]), (before, None));
    }
}
