//! Rules for the numbers that accessors hold.

use super::{
    super::{
        accessor::{Accessor, Component},
        report::{At, ImportReport},
    },
    input::Input,
};

/// Tolerance of unit length: half precision and 8-bit integers pass.
pub(super) const UNIT_TOLERANCE: f64 = 0.00769;

/// Declared bounds equal those of the data, and the data is finite (section 3.6.2.5).
pub(super) fn bounds(
    input: &Input<'_>,
    accessor: &Accessor,
    at: &At<'_>,
    report: &mut ImportReport,
) {
    let components = accessor.shape.components();
    for (name, bound) in [("min", &accessor.min), ("max", &accessor.max)] {
        if !bound.is_empty() && bound.len() != components {
            report.repair(
                at.key(name),
                format!("{} numbers, expected {components}; ignored", bound.len()),
            );
        }
    }
    let (mut min, mut max) = ([f64::INFINITY; 16], [f64::NEG_INFINITY; 16]);
    let mut broken = None;
    let mut any = false;
    input.visit(accessor, &mut |index, element| {
        any = true;
        for ((&x, min), max) in element.iter().zip(&mut min).zip(&mut max) {
            if x.is_finite() {
                *min = min.min(x);
                *max = max.max(x);
            } else if broken.is_none() {
                broken = Some((index, x));
            }
        }
    });
    if let Some((index, x)) = broken {
        report.repair(at, format!("element {index} is {x}; what needs it is left out"));
    }
    if !any || broken.is_some() {
        return;
    }
    // The bound of a float is written as decimal digits of single or double precision.
    #[allow(clippy::cast_possible_truncation)]
    let same = |a: f64, b: f64| {
        a == b
            || accessor.component == Component::F32
                && (a as f32 == b as f32 || (a - b).abs() <= 1e-6 * b.abs())
    };
    for (name, bound, actual) in [("min", &accessor.min, &min), ("max", &accessor.max, &max)] {
        if bound.len() == components
            && let Some((stated, actual)) =
                bound.iter().zip(actual).find(|(stated, actual)| !same(**stated, **actual))
        {
            report.repair(
                at.key(name),
                format!("{stated} is stated, but the data has {actual}, which is used"),
            );
        }
    }
}

/// The first element that is not of unit length in its first `take` components.
pub(super) fn unit(input: &Input<'_>, accessor: &Accessor, take: usize) -> Option<usize> {
    let scale = scale(accessor);
    first(input, accessor, &|element| {
        let square: f64 = element.iter().take(take).map(|x| (x * scale) * (x * scale)).sum();
        (square.sqrt() - 1.0).abs() <= UNIT_TOLERANCE
    })
}

/// Factor that normalizes integers.
pub(super) fn scale(accessor: &Accessor) -> f64 {
    if !accessor.normalized {
        return 1.0;
    }
    match accessor.component {
        Component::I8 => 1.0 / 127.0,
        Component::U8 => 1.0 / 255.0,
        Component::I16 => 1.0 / 32767.0,
        Component::U16 => 1.0 / 65535.0,
        Component::U32 | Component::F32 => 1.0,
    }
}

/// The first element that fails a test.
pub(super) fn first(
    input: &Input<'_>,
    accessor: &Accessor,
    test: &dyn Fn(&[f64]) -> bool,
) -> Option<usize> {
    let mut failed = None;
    input.visit(accessor, &mut |index, element| {
        if failed.is_none() && !test(element) {
            failed = Some(index);
        }
    });
    failed
}
