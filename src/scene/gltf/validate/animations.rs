//! Rules for animations (glTF 2.0 section 3.11): each finding is a note with its consequence
//! (`super::super::animation`).

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::{
    super::{
        accessor::{Accessor, AccessorType, Component},
        json::{extension, index, items, text},
        report::{At, ImportReport},
    },
    data,
    input::Input,
};

pub(super) fn check(input: &Input<'_>, report: &mut ImportReport) {
    let at = At::ROOT;
    let place = at.key("animations");
    let mut inputs: HashMap<usize, Option<&'static str>> = HashMap::new();
    let mut quaternions: HashMap<(usize, bool), Option<usize>> = HashMap::new();
    for (a, animation) in items(input.root, "animations").iter().enumerate() {
        let at = place.index(a);
        let samplers = items(animation, "samplers");
        for (s, sampler) in samplers.iter().enumerate() {
            let at = at.key("samplers");
            let at = at.index(s);
            for key in ["input", "output"] {
                if index(sampler, key)
                    .and_then(|index| input.accessor(index))
                    .is_some_and(|a| strided(input, a))
                {
                    report.repair(at.key(key), "a view with a stride; it is read anyway");
                }
            }
            let Some(number) = index(sampler, "input") else { continue };
            let Some(times) = input.accessor(number) else { continue };
            if let Some(problem) = *inputs.entry(number).or_insert_with(|| times_rule(input, times))
            {
                report.repair(
                    at.key("input"),
                    format!("{problem}; keys that do not increase are left out"),
                );
            }
            if text(sampler, "interpolation") == "CUBICSPLINE" && times.count < 2 {
                report.repair(
                    at.key("input"),
                    "a cubic spline with fewer than 2 keys; the one key is held",
                );
            }
        }
        let mut targets = HashSet::new();
        for (c, channel) in items(animation, "channels").iter().enumerate() {
            let at = at.key("channels");
            let at = at.index(c);
            let mut say = |message: &str| report.repair(at, message);
            let target = channel.get("target").unwrap_or(&Value::Null);
            let path = text(target, "path");
            let sampler = index(channel, "sampler").map(|index| samplers.get(index));
            if sampler == Some(None) {
                say("there is no such sampler; the channel is ignored");
            }
            if extension(target, "KHR_animation_pointer").is_some() {
                if path != "pointer" {
                    say("KHR_animation_pointer needs the path 'pointer'; the pointer is used");
                }
                if target.get("node").is_some() {
                    say("KHR_animation_pointer allows no node; it is ignored");
                }
                continue;
            }
            let node = index(target, "node");
            if let Some(node) = node
                && !targets.insert((node, path))
            {
                say("another channel has the same target; the first is used");
            }
            let node = node.and_then(|node| items(input.root, "nodes").get(node));
            if node.is_some_and(|node| node.get("matrix").is_some())
                && matches!(path, "translation" | "rotation" | "scale")
            {
                say("the target has a matrix; its translation, rotation and scale are animated");
            }
            let morphs = node
                .and_then(|node| index(node, "mesh"))
                .and_then(|mesh| items(input.root, "meshes").get(mesh))
                .and_then(|mesh| items(mesh, "primitives").first())
                .map_or(0, |primitive| items(primitive, "targets").len());
            if node.is_some() && path == "weights" && morphs == 0 {
                say("the target has no morph targets; the channel is ignored");
            }
            let Some(sampler) = sampler.flatten() else { continue };
            let Some(values) = index(sampler, "output").and_then(|index| input.accessor(index))
            else {
                continue;
            };
            if !format_allowed(path, values) {
                say(
                    "the output has a format not allowed for its path; its numbers are used as they are",
                );
                continue;
            }
            let cubic = text(sampler, "interpolation") == "CUBICSPLINE";
            let keys = index(sampler, "input")
                .and_then(|index| input.accessor(index))
                .map(|times| times.count);
            let per_key =
                if cubic { 3 } else { 1 } * if path == "weights" { morphs.max(1) } else { 1 };
            if keys
                .and_then(|keys| keys.checked_mul(per_key))
                .is_some_and(|count| count != values.count)
                && (path != "weights" || morphs > 0)
            {
                say(
                    "the output's number of elements does not fit the input; keys that have both are used",
                );
            }
            if path == "rotation"
                && let Some(number) = index(sampler, "output")
            {
                let first = *quaternions
                    .entry((number, cubic))
                    .or_insert_with(|| rotation_rule(input, values, cubic));
                if let Some(first) = first {
                    say(&format!("rotation {first} is not of unit length; it is normalized"));
                }
            }
        }
    }
}

fn strided(input: &Input<'_>, accessor: &Accessor) -> bool {
    accessor
        .view
        .and_then(|view| input.store.views.get(view).copied().flatten())
        .is_some_and(|v| v.stride.is_some())
}

fn format_allowed(path: &str, accessor: &Accessor) -> bool {
    let float = accessor.component == Component::F32;
    let number = float || accessor.normalized && accessor.component != Component::U32;
    match path {
        "translation" | "scale" => accessor.shape == AccessorType::Vec3 && float,
        "rotation" => accessor.shape == AccessorType::Vec4 && number,
        "weights" => accessor.shape == AccessorType::Scalar && number,
        _ => true,
    }
}

fn times_rule(input: &Input<'_>, times: &Accessor) -> Option<&'static str> {
    if times.shape != AccessorType::Scalar || times.component != Component::F32 {
        return Some("times in a format other than float");
    }
    if times.min.is_empty() || times.max.is_empty() {
        return Some("times without min and max");
    }
    let (mut last, mut problem) = (f64::NEG_INFINITY, None);
    input.visit(times, &mut |_, element| {
        let Some(&time) = element.first() else { return };
        if time < 0.0 {
            problem = Some("a negative time");
        } else if time <= last {
            problem = Some("times that do not increase");
        }
        last = time;
    });
    problem
}

/// The first rotation that is not of unit length; for splines only the middle element of each key
/// is checked.
fn rotation_rule(input: &Input<'_>, values: &Accessor, cubic: bool) -> Option<usize> {
    let scale = data::scale(values);
    let mut failed = None;
    input.visit(values, &mut |index, element| {
        let square: f64 = element.iter().map(|x| (x * scale) * (x * scale)).sum();
        let off = (square.sqrt() - 1.0).abs() > data::UNIT_TOLERANCE;
        if failed.is_none() && off && (!cubic || index % 3 == 1) {
            failed = Some(index);
        }
    });
    failed
}
