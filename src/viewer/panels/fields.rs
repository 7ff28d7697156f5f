//! Fields that edit properties of the look: each adds its changes to a list.

use std::cell::RefCell;

use egui::{DragValue, Ui};
use glam::DVec3;

use super::choice::{Changes, Entry, choice};
use crate::camera::body::{Dial, Stop};
pub(super) use crate::viewer::number_text::{decimals, differs, short};

/// A number field to drag or type in: typed text applies when it is complete, and an unchanged
/// number keeps its value.
pub(super) fn drag<Num: egui::emath::Numeric>(value: &mut Num) -> DragValue<'_> {
    let finite = |text: &str| text.trim().parse().ok().filter(|value: &f64| value.is_finite());
    DragValue::new(value)
        .clamp_existing_to_range(false)
        .update_while_editing(false)
        .custom_parser(finite)
}

/// A field for a property's number; returns its new value, if edited.
///
/// Typed text that is no number or is out of range is passed to the look, which reports what it
/// expects.
pub(super) fn field(
    ui: &mut Ui,
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
    let changed = ui
        .add(
            drag(&mut value)
                .speed(speed)
                .range(range[0]..=range[1])
                .suffix(suffix)
                .max_decimals(places)
                .custom_formatter(|value, _| short(value))
                .custom_parser(parse),
        )
        .changed();
    refused.into_inner().or_else(|| (changed && differs(now, value, places)).then(|| short(value)))
}

/// A list of standard stops beside a number that may have any value.
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
                engraved(dial, stop)
            }
            (Some(now), _) => short(now),
            (None, _) => "metered".into(),
        };
        let at = nearest.and_then(|near| stops.iter().position(|stop| *stop == near));
        let step = |by: i32| at.and_then(|at| stops.get(usize::try_from(at as i32 + by).ok()?));
        let set = |stop: &Stop| (path.to_owned(), Some(engraved(dial, *stop)));
        if ui.small_button("-").clicked()
            && let Some(stop) = step(-1)
        {
            changes.push(set(stop));
        }
        let mut entries = vec![Entry::new("metered", now.is_none(), path, None)];
        entries.extend(stops.iter().map(|stop| {
            let (name, chosen) = (engraved(dial, *stop), now.is_some() && nearest == Some(*stop));
            Entry::new(name.clone(), chosen, path, Some(name))
        }));
        choice(ui, path, (text.as_str(), Some(96.0)), entries, changes);
        if ui.small_button("+").clicked()
            && let Some(stop) = step(1)
        {
            changes.push(set(stop));
        }
    });
    ui.end_row();
}

/// A list of a property's named values.
pub(super) fn listing(
    ui: &mut Ui,
    now: &str,
    names: &[&'static str],
    path: &str,
    changes: &mut Changes,
) {
    let entry = |name: &&str| Entry::new(*name, *name == now, path, Some((*name).to_owned()));
    choice(ui, path, (now, None), names.iter().map(entry).collect(), changes);
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
    if let Some(value) = field(ui, dragged, suffix, 4) {
        changes.push((path.into(), Some(value)));
    }
    ui.end_row();
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
        if ui.small_button("set").on_hover_text(format!("sets {} {unit}", short(value))).clicked() {
            changes.push((path.into(), Some(short(value))));
        }
    });
    ui.end_row();
}

/// Three number fields for a position (m).
pub(super) fn place(ui: &mut Ui, name: &str, now: DVec3, path: &str, changes: &mut Changes) {
    ui.label(name);
    ui.horizontal(|ui| {
        let mut values = now.to_array();
        let mut changed = false;
        for value in &mut values {
            let before = *value;
            changed |= ui.add(drag(value).speed(0.01).max_decimals(3)).changed()
                && differs(before, *value, 3);
        }
        if changed {
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
    if ui.checkbox(&mut on, "").changed() {
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
    let id = ui.id().with(path);
    let mut typed: String = ui.data(|data| data.get_temp(id)).unwrap_or_else(|| now.to_owned());
    let field = ui.add(egui::TextEdit::singleline(&mut typed).hint_text(hint).desired_width(150.0));
    if field.lost_focus() {
        if typed != now {
            changes
                .push((path.into(), (!typed.trim().is_empty()).then(|| typed.trim().to_owned())));
        }
        ui.data_mut(|data| data.remove_temp::<String>(id));
    } else if field.has_focus() {
        ui.data_mut(|data| data.insert_temp(id, typed));
    }
    ui.end_row();
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
            dial(ui, "Aperture f/", Dial::FStop, now, "camera.lens.f_stop", &mut changes);
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
