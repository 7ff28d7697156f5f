//! Keyframe sampling (glTF 2.0 section 3.11 and appendix C).

use glam::DQuat;

/// Interpolation between two keyframes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// Linear; rotations use spherical linear interpolation along the shorter arc.
    Linear,
    /// Holds the earlier key's value.
    Step,
    /// Cubic Hermite spline with the in- and out-tangents of the keys.
    CubicSpline,
}

/// A keyframe track: values at increasing times.
#[derive(Clone, Debug, PartialEq)]
pub struct Keyframes {
    /// Interpolation between keys.
    pub interpolation: Interpolation,
    /// Key times (s), increasing; at least one.
    pub times: Vec<f32>,
    /// Components of each value.
    pub width: usize,
    /// `width` components per key; splines have three times as many: in-tangent, value,
    /// out-tangent.
    pub values: Vec<f32>,
}

impl Keyframes {
    /// Time of the last key (s).
    #[must_use]
    pub fn end(&self) -> f64 {
        self.times.last().copied().map_or(0.0, f64::from)
    }

    fn at(&self, key: usize, part: usize, index: usize) -> f64 {
        let parts = if self.interpolation == Interpolation::CubicSpline { 3 } else { 1 };
        self.values.get((key * parts + part) * self.width + index).copied().map_or(0.0, f64::from)
    }

    /// Value of a key, without its tangents.
    fn key(&self, key: usize) -> impl Iterator<Item = f64> + '_ {
        let part = usize::from(self.interpolation == Interpolation::CubicSpline);
        (0..self.width).map(move |index| self.at(key, part, index))
    }

    /// Key at or before a time, normalized position 0 to 1 toward the next key, and seconds between
    /// the two keys. Position and duration are 0 outside the range of the keys.
    fn find(&self, time: f64) -> (usize, f64, f64) {
        let after = self.times.partition_point(|&t| f64::from(t) <= time);
        let Some(before) = after.checked_sub(1) else { return (0, 0.0, 0.0) };
        let (Some(&a), Some(&b)) = (self.times.get(before), self.times.get(after)) else {
            return (before, 0.0, 0.0);
        };
        let step = f64::from(b) - f64::from(a);
        if step > 0.0 { (before, (time - f64::from(a)) / step, step) } else { (before, 0.0, 0.0) }
    }

    /// Value at a time (s), clamped to the first and last key.
    #[must_use]
    pub fn sample(&self, time: f64) -> Vec<f64> {
        let (key, t, step) = self.find(time);
        match self.interpolation {
            _ if step == 0.0 => self.key(key).collect(),
            Interpolation::Step => self.key(key).collect(),
            Interpolation::Linear => (0..self.width)
                .map(|i| (1.0 - t) * self.at(key, 0, i) + t * self.at(key + 1, 0, i))
                .collect(),
            Interpolation::CubicSpline => {
                (0..self.width).map(|i| self.spline(key, t, step, i)).collect()
            }
        }
    }

    /// Appendix C.5: tangents are per second, so the key interval multiplies them.
    fn spline(&self, key: usize, t: f64, step: f64, i: usize) -> f64 {
        let (t2, t3) = (t * t, t * t * t);
        (2.0 * t3 - 3.0 * t2 + 1.0) * self.at(key, 1, i)
            + step * (t3 - 2.0 * t2 + t) * self.at(key, 2, i)
            + (-2.0 * t3 + 3.0 * t2) * self.at(key + 1, 1, i)
            + step * (t3 - t2) * self.at(key + 1, 0, i)
    }

    /// Least and greatest number of all components over time. Splines may go beyond their keys:
    /// their extremes are at roots of the derivative.
    #[must_use]
    pub fn extremes(&self) -> [f64; 2] {
        let mut bounds = [f64::INFINITY, f64::NEG_INFINITY];
        let mut add = |value: f64| bounds = [bounds[0].min(value), bounds[1].max(value)];
        for key in 0..self.times.len() {
            self.key(key).for_each(&mut add);
        }
        if self.interpolation == Interpolation::CubicSpline {
            for (key, span) in self.times.windows(2).enumerate() {
                let step = f64::from(span[1]) - f64::from(span[0]);
                for i in 0..self.width {
                    let (from, to) = (self.at(key, 1, i), self.at(key + 1, 1, i));
                    let (leave, arrive) =
                        (step * self.at(key, 2, i), step * self.at(key + 1, 0, i));
                    // a t^2 + b t + c is the derivative of `spline` by t.
                    let a = 6.0 * (from - to) + 3.0 * (leave + arrive);
                    let b = -6.0 * (from - to) - 4.0 * leave - 2.0 * arrive;
                    for t in roots(a, b, leave).into_iter().filter(|t| (0.0..=1.0).contains(t)) {
                        add(self.spline(key, t, step, i));
                    }
                }
            }
        }
        bounds
    }

    /// Value at a time (s) as a unit quaternion. Linear keys use slerp along the shorter arc
    /// (appendix C.4); splines are normalized after interpolation (C.5).
    #[must_use]
    pub fn rotation(&self, time: f64) -> DQuat {
        let of = |mut numbers: Box<dyn Iterator<Item = f64> + '_>| {
            let mut next = || numbers.next().unwrap_or(0.0);
            unit(DQuat::from_xyzw(next(), next(), next(), next()))
        };
        let (key, t, step) = self.find(time);
        if self.interpolation == Interpolation::Linear && step > 0.0 {
            return slerp(of(Box::new(self.key(key))), of(Box::new(self.key(key + 1))), t);
        }
        of(Box::new(self.sample(time).into_iter()))
    }
}

/// Real roots of a t^2 + b t + c, without cancellation; not finite where there are none.
fn roots(a: f64, b: f64, c: f64) -> [f64; 2] {
    let q = -0.5 * (b + (b * b - 4.0 * a * c).sqrt().copysign(b));
    [q / a, c / q]
}

/// Normalizes a quaternion; a zero or non-finite one becomes the identity.
pub fn unit(q: DQuat) -> DQuat {
    let length = q.length();
    if length > 1e-30 && length.is_finite() { q / length } else { DQuat::IDENTITY }
}

/// Appendix C.4: with a = acos |q0 . q1|, (sin(a (1 - t)) q0 + s sin(a t) q1) / sin a, where s is
/// the sign of the product.
fn slerp(q0: DQuat, q1: DQuat, t: f64) -> DQuat {
    let d = q0.dot(q1);
    let (s, a) = (if d < 0.0 { -1.0 } else { 1.0 }, d.abs().min(1.0).acos());
    if a < 1e-6 {
        return unit(q0 * (1.0 - t) + q1 * (s * t));
    }
    unit((q0 * (a * (1.0 - t)).sin() + q1 * (s * (a * t).sin())) / a.sin())
}
