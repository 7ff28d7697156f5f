//! Exposure modes: which dials the camera sets for an exposure, and within which ranges.

use super::{
    body::Body,
    exposure::{Exposure, ExposureError},
    lens::CameraLens,
};

/// The three exposure dials.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ExposureDials {
    /// F-number (or T-number, if the lens has one), above 0.
    pub f_stop: f64,
    /// Exposure time (s), above 0.
    pub shutter_s: f64,
    /// ISO speed, above 0.
    pub iso: f64,
}

impl Default for ExposureDials {
    /// Sunny 16: f/16, 1/100 s, ISO 100.
    fn default() -> Self {
        Self { f_stop: 16.0, shutter_s: 0.01, iso: 100.0 }
    }
}

impl ExposureDials {
    /// The exposure of these dials.
    ///
    /// # Errors
    /// The dial that is zero, negative, infinite or not a number.
    pub fn exposure(self) -> Result<Exposure, ExposureError> {
        Exposure::from_dials(self.f_stop, self.shutter_s, self.iso)
    }
}

/// Minimum and maximum of each dial, above 0.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct DialRanges {
    /// F-numbers.
    pub f_stop: [f64; 2],
    /// Exposure times (s).
    pub shutter_s: [f64; 2],
    /// ISO speeds.
    pub iso: [f64; 2],
}

impl DialRanges {
    /// The ranges of a body with a lens.
    #[must_use]
    pub const fn of(body: &Body, lens: &CameraLens) -> Self {
        Self { f_stop: lens.f_stop_range, shutter_s: body.shutter_range, iso: body.iso_range }
    }
}

/// Exposure mode: which dials the camera sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExposureMode {
    /// The user sets all dials.
    #[default]
    Manual,
    /// The user sets aperture and ISO, the camera the exposure time.
    AperturePriority,
    /// The user sets exposure time and ISO, the camera the aperture.
    ShutterPriority,
    /// The user sets aperture and exposure time, the camera ISO.
    IsoPriority,
    /// The user sets ISO, the camera aperture and exposure time. Each takes half of the change (a
    /// program line of slope one through the current dials); at the limit of one, the other takes
    /// the rest.
    Program,
}

/// Dials solved by [`ExposureMode::solve`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolvedExposure {
    /// The dials.
    pub dials: ExposureDials,
    /// The exposure of the dials.
    pub exposure: Exposure,
    /// Stops by which the picture is brighter (above 0) or darker (below 0) than requested; nonzero
    /// in manual mode or if the free dials reach their limits.
    pub error_stops: f64,
}

impl ExposureMode {
    /// Solves the camera's dials for the exposure `wanted`, within the ranges. Dials of the user
    /// stay, even out of range. With `auto_iso` the camera also sets ISO once its other dials reach
    /// their limits.
    ///
    /// In stops the exposure value is a sum: `EV100 = Av + Tv - Sv` with `Av = 2 log2 N`, `Tv =
    /// -log2 t`, `Sv = log2(S / 100)` (APEX, ANSI PH2.12-1961).
    ///
    /// # Errors
    /// A dial or a bound that is zero, negative, infinite or not a number.
    pub fn solve(
        self,
        dials: ExposureDials,
        wanted: Exposure,
        ranges: DialRanges,
        auto_iso: bool,
    ) -> Result<SolvedExposure, ExposureError> {
        dials.exposure()?;
        for i in 0..2 {
            let [f_stop, shutter_s, iso] =
                [ranges.f_stop, ranges.shutter_s, ranges.iso].map(|r| r[i]);
            ExposureDials { f_stop, shutter_s, iso }.exposure()?;
        }
        let av = |n: f64| 2.0 * n.log2();
        let tv = |t: f64| -t.log2();
        let sv = |s: f64| -(s / 100.0).log2();
        // Contributions of aperture, time and ISO to EV100, and their ordered limits.
        let mut now = [av(dials.f_stop), tv(dials.shutter_s), sv(dials.iso)];
        let ordered = |[a, b]: [f64; 2]| [f64::min(a, b), f64::max(a, b)];
        let ends = [
            ordered(ranges.f_stop.map(av)),
            ordered(ranges.shutter_s.map(tv)),
            ordered(ranges.iso.map(sv)),
        ];
        let target = wanted.ev100().0;
        // Changes one dial by as much of `change` as its range allows.
        let turn = |now: &mut [f64; 3], dial: usize, change: f64| {
            if let (Some(value), Some([low, high])) = (now.get_mut(dial), ends.get(dial)) {
                *value = (*value + change).clamp(*low, *high);
            }
        };
        let missing = |now: &[f64; 3]| target - now.iter().sum::<f64>();
        let free: &[usize] = match self {
            Self::Manual => &[],
            Self::AperturePriority => &[1],
            Self::ShutterPriority => &[0],
            Self::IsoPriority => &[2],
            Self::Program => {
                let half = missing(&now) / 2.0;
                turn(&mut now, 0, half);
                &[1, 0]
            }
        };
        let iso_too: &[usize] = if auto_iso && self != Self::Manual { &[2] } else { &[] };
        for &dial in free.iter().chain(iso_too) {
            let change = missing(&now);
            turn(&mut now, dial, change);
        }
        let changed = |dial: usize, before: f64, after: f64| {
            let is_free = free.contains(&dial) || iso_too.contains(&dial);
            if is_free { after } else { before }
        };
        let [a, t, s] = now;
        let dials = ExposureDials {
            f_stop: changed(0, dials.f_stop, (a / 2.0).exp2()),
            shutter_s: changed(1, dials.shutter_s, (-t).exp2()),
            iso: changed(2, dials.iso, 100.0 * (-s).exp2()),
        };
        let exposure = dials.exposure()?;
        Ok(SolvedExposure { dials, exposure, error_stops: exposure.stops_above(wanted) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::photometry::Ev100;
    use crate::testing::near;

    #[test]
    fn each_mode_turns_its_dials() {
        let ranges = DialRanges {
            f_stop: [1.4, 22.0],
            shutter_s: [1.0 / 8000.0, 30.0],
            iso: [100.0, 12_800.0],
        };
        let full_frame = DialRanges::of(&Body::default(), &CameraLens::default());
        assert_eq!((full_frame.f_stop, full_frame.iso), ([1.4, 22.0], [50.0, 102_400.0]));
        let hand = ExposureDials { f_stop: 4.0, shutter_s: 1.0 / 60.0, iso: 200.0 };
        let solve = |mode: ExposureMode, ev: f64, auto_iso| {
            mode.solve(hand, Exposure::from_ev100(Ev100(ev)).unwrap(), ranges, auto_iso).unwrap()
        };
        let at = hand.exposure().unwrap().ev100().0;
        let manual = solve(ExposureMode::Manual, at + 2.0, true);
        assert_eq!(manual.dials, hand);
        near(manual.error_stops, 2.0, 1e-12);
        let aperture = solve(ExposureMode::AperturePriority, at + 2.0, false);
        assert_eq!((aperture.dials.f_stop, aperture.dials.iso), (4.0, 200.0));
        near(aperture.dials.shutter_s, 1.0 / 240.0, 1e-12);
        let shutter = solve(ExposureMode::ShutterPriority, at + 2.0, false);
        assert_eq!(shutter.dials.shutter_s, hand.shutter_s);
        near(shutter.dials.f_stop, 8.0, 1e-12);
        let iso = solve(ExposureMode::IsoPriority, at - 3.0, false);
        near(iso.dials.iso, 1600.0, 1e-9);
        let program = solve(ExposureMode::Program, at + 2.0, false);
        near(program.dials.f_stop, 4.0 * std::f64::consts::SQRT_2, 1e-12);
        near(program.dials.shutter_s, 1.0 / 120.0, 1e-12);
        for solved in [aperture, shutter, iso, program] {
            near(solved.error_stops, 0.0, 1e-12);
        }
        // The aperture ends at f/1.4: 3.03 stops, then auto ISO takes over, 6 stops, then the
        // picture is too dark.
        let wide = 2.0 * (4.0_f64 / 1.4).log2();
        near(solve(ExposureMode::ShutterPriority, at - 5.0, false).error_stops, wide - 5.0, 1e-12);
        let with_iso = solve(ExposureMode::ShutterPriority, at - 5.0, true);
        near(with_iso.error_stops, 0.0, 1e-12);
        near(with_iso.dials.iso, 200.0 * (5.0 - wide).exp2(), 1e-9);
        near(
            solve(ExposureMode::ShutterPriority, at - 12.0, true).error_stops,
            wide + 6.0 - 12.0,
            1e-12,
        );
        // Program: where the aperture ends the time takes the rest.
        let dark = solve(ExposureMode::Program, at - 9.0, false);
        near(dark.dials.f_stop, 1.4, 1e-12);
        near(dark.error_stops, 0.0, 1e-12);
        assert!(
            ExposureMode::Program
                .solve(ExposureDials { iso: 0.0, ..hand }, Exposure::default(), ranges, true)
                .is_err()
        );
        let broken = DialRanges { f_stop: [0.0, 22.0], ..ranges };
        assert!(ExposureMode::Program.solve(hand, Exposure::default(), broken, true).is_err());
    }
}
