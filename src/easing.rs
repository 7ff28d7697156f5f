//! Easing functions: progress between two keys of a timeline.
//!
//! The curves are those of R. Penner, "Motion, Tweening, and Easing" (in *Programming Macromedia
//! Flash MX*, 2002); Bezier curves are those of CSS (W3C, *CSS Easing Functions Level 1*, section
//! 2.2). All of them map 0 to 0 and 1 to 1 exactly.

use std::f64::consts::{FRAC_PI_2, TAU};

/// Overshoot of `back`: 10 % of the way.
const OVERSHOOT: f64 = 1.701_58;

/// Factor of the overshoot of `back in-out`, whose halves are half as high.
const IN_OUT_OVERSHOOT: f64 = 1.525;

/// Shape of an easing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EasingCurve {
    /// A quarter of a sine wave.
    Sine,
    /// Second power.
    Quad,
    /// Third power.
    Cubic,
    /// Fourth power.
    Quart,
    /// Fifth power.
    Quint,
    /// Exponential, over 10 powers of 2. It steps by 1/1024 at the slow end.
    Expo,
    /// A quarter of a circle.
    Circ,
    /// Starts in the opposite direction: leaves the range from 0 to 1.
    Back,
    /// A decaying oscillation: leaves the range from 0 to 1.
    Elastic,
    /// Bounces, each a quarter as high as the one before.
    Bounce,
}

impl EasingCurve {
    /// All curves with their names.
    pub const ALL: [(&'static str, Self); 10] = [
        ("sine", Self::Sine),
        ("quad", Self::Quad),
        ("cubic", Self::Cubic),
        ("quart", Self::Quart),
        ("quint", Self::Quint),
        ("expo", Self::Expo),
        ("circ", Self::Circ),
        ("back", Self::Back),
        ("elastic", Self::Elastic),
        ("bounce", Self::Bounce),
    ];

    /// The curve in the direction `In`; `halved` if it is half of one in both directions.
    fn slow_start(self, s: f64, halved: bool) -> f64 {
        match self {
            Self::Sine => 1.0 - (s * FRAC_PI_2).cos(),
            Self::Quad => s * s,
            Self::Cubic => s.powi(3),
            Self::Quart => s.powi(4),
            Self::Quint => s.powi(5),
            Self::Expo => (10.0 * (s - 1.0)).exp2(),
            Self::Circ => 1.0 - (1.0 - s * s).max(0.0).sqrt(),
            Self::Back => {
                let overshoot = OVERSHOOT * if halved { IN_OUT_OVERSHOOT } else { 1.0 };
                s * s * ((overshoot + 1.0) * s - overshoot)
            }
            Self::Elastic => {
                let period = if halved { 0.45 } else { 0.3 };
                let wave = (s - 1.0 - period / 4.0) * TAU / period;
                -(10.0 * (s - 1.0)).exp2() * wave.sin()
            }
            Self::Bounce => 1.0 - bounce(1.0 - s),
        }
    }
}

/// `bounce out`.
fn bounce(s: f64) -> f64 {
    // Parabolas of equal curvature with their minima at these places.
    let (middle, floor) = match s * 2.75 {
        scaled if scaled < 1.0 => (0.0, 0.0),
        scaled if scaled < 2.0 => (1.5, 0.75),
        scaled if scaled < 2.5 => (2.25, 0.9375),
        _ => (2.625, 0.984_375),
    };
    7.5625 * (s - middle / 2.75).powi(2) + floor
}

/// The end at which an easing is slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EasingDirection {
    /// Slow at the start.
    In,
    /// Slow at the end: the mirror image of `In`.
    Out,
    /// Slow at both ends: `In` to the middle, then `Out`.
    InOut,
}

impl EasingDirection {
    /// All directions with their names.
    pub const ALL: [(&'static str, Self); 3] =
        [("in", Self::In), ("out", Self::Out), ("in-out", Self::InOut)];
}

/// Progress from one key to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Easing {
    /// The first value up to the second key.
    Hold,
    /// Constant speed.
    #[default]
    Linear,
    /// A curve with a direction.
    Curve(EasingCurve, EasingDirection),
    /// A cubic Bezier curve from (0, 0) to (1, 1) with two control points x1, y1, x2, y2: time and
    /// progress, with x1 and x2 from 0 to 1.
    Bezier([f64; 4]),
}

impl Easing {
    /// The easing of a name such as `cubic in-out`, `linear` or `hold`; `None` if there is none.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|(known, _)| known == name).map(|(_, easing)| easing)
    }

    /// All easings that have a name.
    pub fn all() -> impl Iterator<Item = (String, Self)> {
        let plain = [("hold", Self::Hold), ("linear", Self::Linear)];
        let curves = EasingCurve::ALL.into_iter().flat_map(|(curve, shape)| {
            EasingDirection::ALL
                .map(|(direction, end)| (format!("{curve} {direction}"), Self::Curve(shape, end)))
        });
        plain.map(|(name, easing)| (name.to_owned(), easing)).into_iter().chain(curves)
    }

    /// A Bezier easing; `None` if a number is not finite or an x is outside of 0 to 1.
    #[must_use]
    pub fn bezier(points: [f64; 4]) -> Option<Self> {
        let [x1, _, x2, _] = points;
        let is_function = [x1, x2].iter().all(|x| (0.0..=1.0).contains(x));
        let is_finite = points.iter().all(|number| number.is_finite());
        (is_function && is_finite).then_some(Self::Bezier(points))
    }

    /// Progress at a part of the time between two keys, from 0 to 1. Values outside of 0 to 1 are
    /// possible with `back`, `elastic` and Bezier curves.
    #[must_use]
    pub fn at(self, part: f64) -> f64 {
        if part <= 0.0 {
            return 0.0;
        }
        if part >= 1.0 {
            return 1.0;
        }
        match self {
            Self::Hold => 0.0,
            Self::Linear => part,
            Self::Curve(curve, EasingDirection::In) => curve.slow_start(part, false),
            Self::Curve(curve, EasingDirection::Out) => 1.0 - curve.slow_start(1.0 - part, false),
            Self::Curve(curve, EasingDirection::InOut) if part < 0.5 => {
                curve.slow_start(2.0 * part, true) / 2.0
            }
            Self::Curve(curve, EasingDirection::InOut) => {
                1.0 - curve.slow_start(2.0 - 2.0 * part, true) / 2.0
            }
            Self::Bezier([x1, y1, x2, y2]) => {
                let (mut low, mut high) = (0.0, 1.0);
                // x increases with the parameter: 60 halvings reach double precision.
                for _ in 0..60 {
                    let middle = f64::midpoint(low, high);
                    if cubic_bezier(x1, x2, middle) < part {
                        low = middle;
                    } else {
                        high = middle;
                    }
                }
                cubic_bezier(y1, y2, f64::midpoint(low, high))
            }
        }
    }
}

/// A coordinate of a cubic Bezier curve from 0 to 1.
fn cubic_bezier(first: f64, second: f64, t: f64) -> f64 {
    let u = 1.0 - t;
    3.0 * u * u * t * first + 3.0 * u * t * t * second + t.powi(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(name: &str, part: f64) -> f64 {
        Easing::named(name).unwrap().at(part)
    }

    #[test]
    fn ends_are_exact_and_times_beyond_them_hold() {
        let bezier = Easing::bezier([0.25, 0.1, 0.25, 1.0]).unwrap();
        let all = Easing::all().map(|(_, easing)| easing).chain([bezier]);
        assert_eq!(Easing::all().count(), 32);
        for easing in all {
            let ends = [-0.5, 0.0, 1.0, 1.5].map(|part| easing.at(part));
            assert_eq!(ends, [0.0, 0.0, 1.0, 1.0], "{easing:?}");
            let steps = (1..1000).map(|step| easing.at(f64::from(step) / 1000.0));
            assert!(steps.into_iter().all(|value| (-0.5..=1.5).contains(&value)), "{easing:?}");
        }
    }

    #[test]
    fn directions_are_mirror_images() {
        for (curve, _) in EasingCurve::ALL {
            for step in 0..=64 {
                let part = f64::from(step) / 64.0;
                let mirrored = 1.0 - at(&format!("{curve} in"), 1.0 - part);
                assert!((at(&format!("{curve} out"), part) - mirrored).abs() < 1e-15, "{curve}");
                let both = format!("{curve} in-out");
                let sum = at(&both, part) + at(&both, 1.0 - part);
                assert!((sum - 1.0).abs() < 1e-14, "{both} at {part}: {sum}");
            }
        }
    }

    #[test]
    fn curves_have_their_closed_forms() {
        for (name, part, value) in [
            ("linear", 0.3, 0.3),
            ("hold", 0.999, 0.0),
            ("sine in", 1.0 / 3.0, 1.0 - 0.75_f64.sqrt()),
            ("sine in-out", 1.0 / 3.0, 0.25),
            ("quad in", 0.5, 0.25),
            ("quad in-out", 0.25, 0.125),
            ("cubic in", 0.5, 0.125),
            ("cubic in-out", 0.25, 0.0625),
            ("quart out", 0.5, 0.9375),
            ("quint in", 0.5, 0.03125),
            ("expo in", 0.5, 0.03125),
            ("expo in-out", 0.25, 0.015_625),
            ("circ in", 0.6, 0.2),
            ("circ out", 0.4, 0.8),
            ("back in", 0.5, 0.125 * (1.0 - OVERSHOOT)),
            ("back in-out", 0.25, 0.0625 * (1.0 - OVERSHOOT * IN_OUT_OVERSHOOT)),
            // sin(-0.575 TAU / 0.3) at the middle.
            ("elastic in", 0.5, -(0.5_f64.powi(5)) * (-0.575 * TAU / 0.3).sin()),
            ("bounce out", 0.5, 0.765_625),
            ("bounce out", 4.0 / 11.0, 1.0),
            ("bounce in", 0.5, 0.234_375),
        ] {
            let found = at(name, part);
            assert!((found - value).abs() < 1e-14, "{name} at {part}: {found}, not {value}");
        }
    }

    #[test]
    fn bezier_curves_follow_their_points() {
        // Control points on the diagonal are the straight line.
        let line = Easing::bezier([0.2, 0.2, 0.7, 0.7]).unwrap();
        // Time is the parameter if x1 = 1/3 and x2 = 2/3.
        let cubic = Easing::bezier([1.0 / 3.0, 0.0, 2.0 / 3.0, 1.0]).unwrap();
        for step in 0..=32 {
            let s = f64::from(step) / 32.0;
            assert!((line.at(s) - s).abs() < 1e-14);
            assert!((cubic.at(s) - s * s * (3.0 - 2.0 * s)).abs() < 1e-14);
        }
        for bad in [[-0.1, 0.0, 1.0, 1.0], [0.0, 0.0, 1.1, 1.0], [0.0, f64::NAN, 1.0, 1.0]] {
            assert_eq!(Easing::bezier(bad), None);
        }
    }

    #[test]
    fn names_are_found() {
        assert_eq!(
            Easing::named("cubic in-out"),
            Some(Easing::Curve(EasingCurve::Cubic, EasingDirection::InOut))
        );
        assert_eq!(Easing::named("cubic"), None);
    }
}
