//! The camera body: sensor formats, gate fit, ranges and steps of the dials, shutter timing.
//!
//! Lengths are meters, times seconds.

use crate::optics::{LensError, thin_lens::positive};

/// The light-sensitive area of a film or sensor, in meters.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SensorSize {
    /// Width (m).
    pub width: f64,
    /// Height (m).
    pub height: f64,
}

impl SensorSize {
    /// From millimeters.
    ///
    /// # Errors
    /// A side that is not finite and above 0.
    pub fn from_mm(width: f64, height: f64) -> Result<Self, LensError> {
        let width = positive("the sensor's width in mm", width)? * 1e-3;
        Ok(Self { width, height: positive("the sensor's height in mm", height)? * 1e-3 })
    }

    /// Diagonal (m).
    #[must_use]
    pub fn diagonal(self) -> f64 {
        self.width.hypot(self.height)
    }

    /// The area (m) of the sensor's plane that a picture of `aspect` (width over height) shows.
    ///
    /// # Errors
    /// An aspect that is not finite and above 0.
    pub fn gate(self, fit: GateFit, aspect: f64) -> Result<Self, LensError> {
        let aspect = positive("the picture's aspect", aspect)?;
        let by_width = Self { width: self.width, height: self.width / aspect };
        let by_height = Self { width: self.height * aspect, height: self.height };
        let picture_is_wider = aspect > self.width / self.height;
        Ok(match fit {
            GateFit::Horizontal => by_width,
            GateFit::Vertical => by_height,
            GateFit::Fill => {
                if picture_is_wider {
                    by_width
                } else {
                    by_height
                }
            }
            GateFit::Overscan => {
                if picture_is_wider {
                    by_height
                } else {
                    by_width
                }
            }
        })
    }
}

/// Fit of a picture to a sensor of another aspect ratio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GateFit {
    /// The sensor fills the picture: the picture crops the sensor in one direction.
    #[default]
    Fill,
    /// The picture is as wide as the sensor.
    Horizontal,
    /// The picture is as high as the sensor.
    Vertical,
    /// The picture shows the whole sensor, and extends beyond it in one direction.
    Overscan,
}

/// A sensor format with its name, size and source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SensorPreset {
    /// The name in files and on the command line.
    pub name: &'static str,
    /// Width and height (mm).
    pub millimeters: [f64; 2],
    /// Source of the size.
    pub source: &'static str,
}

impl SensorPreset {
    /// The size in meters.
    #[must_use]
    pub const fn size(self) -> SensorSize {
        SensorSize { width: self.millimeters[0] * 1e-3, height: self.millimeters[1] * 1e-3 }
    }

    /// The preset of that name; `None` for an unknown name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        SENSORS.into_iter().find(|preset| preset.name == name)
    }
}

const fn preset(name: &'static str, width: f64, height: f64, source: &'static str) -> SensorPreset {
    SensorPreset { name, millimeters: [width, height], source }
}

/// All sensor presets.
pub const SENSORS: [SensorPreset; 20] = [
    preset("full-frame", 36.0, 24.0, "ISO 1007:2000, 135 film, nominal frame"),
    preset("aps-c", 23.5, 15.6, "Sony alpha 6400 specifications"),
    preset("aps-c-canon", 22.3, 14.9, "Canon EOS 90D specifications, 22.3 x 14.8 to 14.9 mm"),
    preset("mft", 17.3, 13.0, "Micro Four Thirds standard, effective imaging area"),
    preset("one-inch", 13.2, 8.8, "Sony RX100 series specifications"),
    preset("super-35", 24.89, 18.66, "SMPTE ST 59, 35 mm full aperture, 4 perforations"),
    preset(
        "super-35-3perf",
        24.89,
        13.87,
        "ARRI, formats and resolutions overview, Super 35, 3 perforations",
    ),
    preset("academy-35", 21.95, 16.0, "SMPTE ST 59, 35 mm sound aperture"),
    preset("super-16", 12.52, 7.41, "SMPTE ST 201, 16 mm type W"),
    preset("vistavision", 37.72, 24.92, "Paramount VistaVision, 8 perforations camera aperture"),
    preset("65mm-5perf", 52.48, 23.01, "SMPTE ST 215, 65 mm, 5 perforations"),
    preset("imax-70mm", 70.41, 52.63, "IMAX 15/70 camera aperture, 2.772 x 2.072 in"),
    preset("arri-alexa-35", 27.99, 19.22, "ARRI Alexa 35 specifications, open gate"),
    preset("arri-alexa-lf", 36.70, 25.54, "ARRI Alexa LF specifications, open gate"),
    preset("arri-alexa-65", 54.12, 25.58, "ARRI Alexa 65 specifications, open gate"),
    preset("44x33", 43.8, 32.9, "Fujifilm GFX 100 specifications"),
    preset("645", 56.0, 41.5, "ISO 732, 120 film, nominal 6 x 4.5 cm"),
    preset("6x6", 56.0, 56.0, "ISO 732, 120 film, nominal 6 x 6 cm"),
    preset("6x7", 70.0, 56.0, "ISO 732, 120 film, nominal 6 x 7 cm"),
    preset("6x9", 84.0, 56.0, "ISO 732, 120 film, nominal 6 x 9 cm"),
];

/// A step of a dial: engraved and exact value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stop {
    /// The rounded number on the dial.
    pub nominal: f64,
    /// The number with steps of exactly a third of a stop.
    pub exact: f64,
}

/// A dial with steps of a third of a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dial {
    /// F-numbers, 1 to 64.
    FStop,
    /// Exposure times, 30 s to 1/8000 s.
    Shutter,
    /// ISO speeds, 25 to 102 400.
    Iso,
}

/// Nominal f-numbers from f/1: ISO 517:2008, table of stop numbers, with third steps as engraved by
/// makers.
const F_STOPS: [f64; 37] = [
    1.0, 1.1, 1.2, 1.4, 1.6, 1.8, 2.0, 2.2, 2.5, 2.8, 3.2, 3.5, 4.0, 4.5, 5.0, 5.6, 6.3, 7.1, 8.0,
    9.0, 10.0, 11.0, 13.0, 14.0, 16.0, 18.0, 20.0, 22.0, 25.0, 29.0, 32.0, 36.0, 40.0, 45.0, 51.0,
    57.0, 64.0,
];

/// Nominal exposure times of a second and more, longest first: ISO 516:2019, with third steps as
/// engraved by makers.
const LONG_SHUTTERS: [f64; 16] =
    [30.0, 25.0, 20.0, 15.0, 13.0, 10.0, 8.0, 6.0, 5.0, 4.0, 3.2, 2.5, 2.0, 1.6, 1.3, 1.0];

/// One over the nominal exposure times below a second.
const SHORT_SHUTTERS: [f64; 39] = [
    1.25, 1.6, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 13.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0,
    60.0, 80.0, 100.0, 125.0, 160.0, 200.0, 250.0, 320.0, 400.0, 500.0, 640.0, 800.0, 1000.0,
    1250.0, 1600.0, 2000.0, 2500.0, 3200.0, 4000.0, 5000.0, 6400.0, 8000.0,
];

/// Nominal ISO speeds from 25: ISO 12232:2019, table 1 (rounded), continued by doubling.
const ISO_SPEEDS: [f64; 37] = [
    25.0, 32.0, 40.0, 50.0, 64.0, 80.0, 100.0, 125.0, 160.0, 200.0, 250.0, 320.0, 400.0, 500.0,
    640.0, 800.0, 1000.0, 1250.0, 1600.0, 2000.0, 2500.0, 3200.0, 4000.0, 5000.0, 6400.0, 8000.0,
    10_000.0, 12_800.0, 16_000.0, 20_000.0, 25_600.0, 32_000.0, 40_000.0, 51_200.0, 64_000.0,
    80_000.0, 102_400.0,
];

impl Dial {
    /// All steps of the dial, in the order of its engraving.
    ///
    /// Exact values: f-numbers `2^(i/6)`, times `2^(-i/3)` s, speeds `100 * 2^(i/3)`.
    #[must_use]
    pub fn stops(self) -> Vec<Stop> {
        let third = |i: usize, zero: i32| f64::from(i as i32 - zero) / 3.0;
        match self {
            Self::FStop => {
                let stop = |(i, &nominal): (usize, &f64)| Stop {
                    nominal,
                    exact: (third(i, 0) / 2.0).exp2(),
                };
                F_STOPS.iter().enumerate().map(stop).collect()
            }
            Self::Shutter => LONG_SHUTTERS
                .iter()
                .copied()
                .chain(SHORT_SHUTTERS.iter().map(|over| 1.0 / over))
                .enumerate()
                .map(|(i, nominal)| Stop { nominal, exact: (-third(i, 15)).exp2() })
                .collect(),
            Self::Iso => {
                let stop = |(i, &nominal): (usize, &f64)| Stop {
                    nominal,
                    exact: 100.0 * third(i, 6).exp2(),
                };
                ISO_SPEEDS.iter().enumerate().map(stop).collect()
            }
        }
    }

    /// The nearest step in stops; `None` unless `value` is finite and above 0.
    #[must_use]
    pub fn nearest(self, value: f64) -> Option<Stop> {
        if !value.is_finite() || value <= 0.0 {
            return None;
        }
        let away = |stop: &Stop| (stop.exact / value).log2().abs();
        self.stops().into_iter().min_by(|a, b| away(a).total_cmp(&away(b)))
    }
}

/// Shutter type, which sets the exposure times of the picture's lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Shutter {
    /// All at once (leaf shutters, global sensors).
    #[default]
    Global,
    /// Two curtains run from the picture's top to its bottom: the first uncovers, the second
    /// covers.
    FocalPlane {
        /// The time (s) that a curtain takes across the picture, at least 0; about 1/300 s.
        travel: f64,
    },
    /// The sensor is read line by line.
    Rolling {
        /// The time (s) from the first line to the last, at least 0; about 1/60 to 1/200 s.
        readout: f64,
    },
}

impl Shutter {
    /// Exposure start and end of a line in seconds from the start of the first line. `line` is 0 at
    /// the top of the (upright) picture and 1 at its bottom.
    #[must_use]
    pub fn window(self, line: f64, shutter_s: f64) -> [f64; 2] {
        let delay = match self {
            Self::Global => 0.0,
            Self::FocalPlane { travel: time } | Self::Rolling { readout: time } => {
                time.max(0.0) * line.clamp(0.0, 1.0)
            }
        };
        [delay, delay + shutter_s]
    }

    /// The time (s) from the start of the first line to the end of the last.
    #[must_use]
    pub fn duration(self, shutter_s: f64) -> f64 {
        self.window(1.0, shutter_s)[1]
    }
}

/// Kinds of [`Shutter`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShutterType {
    /// Global shutter: all lines at once.
    #[default]
    Global,
    /// Focal-plane shutter: two curtains.
    FocalPlane,
    /// Rolling shutter: line by line.
    Rolling,
}

/// A camera body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Body {
    /// The sensor; `None`: unknown, full frame is assumed.
    pub sensor: Option<SensorSize>,
    /// Fit of a picture of another aspect ratio.
    pub fit: GateFit,
    /// Picture size in pixels; `None`: as requested.
    pub resolution: Option<[u32; 2]>,
    /// Minimum and maximum ISO speed, above 0.
    pub iso_range: [f64; 2],
    /// Shortest and longest exposure time (s), above 0.
    pub shutter_range: [f64; 2],
    /// Shutter type.
    pub shutter_type: ShutterType,
    /// Time (s) from the first line to the last, above 0, for shutters that are not global.
    pub readout_time: f64,
}

impl Default for Body {
    /// An unknown sensor, ISO 50 to 102 400, 1/8000 s to 30 s, a global shutter. 1/250 s is typical
    /// of focal-plane shutters.
    fn default() -> Self {
        Self {
            sensor: None,
            fit: GateFit::Fill,
            resolution: None,
            iso_range: [50.0, 102_400.0],
            shutter_range: [1.0 / 8000.0, 30.0],
            shutter_type: ShutterType::Global,
            readout_time: 1.0 / 250.0,
        }
    }
}

impl Body {
    /// Sensor size; full frame if unknown.
    #[must_use]
    pub fn sensor(&self) -> SensorSize {
        self.sensor.unwrap_or(SensorSize { width: 0.036, height: 0.024 })
    }

    /// The area (m) of the sensor's plane that a picture of `aspect` (width over height) shows.
    ///
    /// # Errors
    /// An aspect that is not finite and above 0.
    pub fn gate(&self, aspect: f64) -> Result<SensorSize, LensError> {
        self.sensor().gate(self.fit, aspect)
    }

    /// Exposure time of each picture line.
    #[must_use]
    pub const fn shutter(&self) -> Shutter {
        match self.shutter_type {
            ShutterType::Global => Shutter::Global,
            ShutterType::FocalPlane => Shutter::FocalPlane { travel: self.readout_time },
            ShutterType::Rolling => Shutter::Rolling { readout: self.readout_time },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::near;

    #[test]
    fn engraved_steps_are_thirds() {
        for (dial, count, worst) in
            [(Dial::FStop, 37, 0.15), (Dial::Shutter, 55, 0.13), (Dial::Iso, 37, 0.04)]
        {
            let stops = dial.stops();
            assert_eq!(stops.len(), count);
            for stop in &stops {
                // In stops of exposure; f-numbers count twice. f/1.2 is the coarsest.
                let twice = if dial == Dial::FStop { 2.0 } else { 1.0 };
                let off = twice * (stop.nominal / stop.exact).log2().abs();
                assert!(off < worst, "{dial:?} {stop:?} is off by {off}");
                assert_eq!(dial.nearest(stop.nominal).unwrap().nominal, stop.nominal);
                assert_eq!(dial.nearest(stop.exact).unwrap(), *stop);
            }
        }
        near(Dial::FStop.nearest(5.6).unwrap().exact, 4.0 * std::f64::consts::SQRT_2, 1e-12);
        near(Dial::Shutter.nearest(1.0 / 125.0).unwrap().exact, 1.0 / 128.0, 1e-15);
        near(Dial::Iso.nearest(100.0).unwrap().exact, 100.0, 1e-12);
        assert_eq!((Dial::Iso.nearest(0.0), Dial::FStop.nearest(f64::NAN)), (None, None));
    }

    #[test]
    fn gates() {
        let sensor = SensorSize::from_mm(36.0, 24.0).unwrap();
        let mm = |fit, aspect| {
            let gate = sensor.gate(fit, aspect).unwrap();
            (gate.width * 1e3, gate.height * 1e3)
        };
        for (fit, wide, tall) in [
            (GateFit::Fill, (36.0, 18.0), (24.0, 24.0)),
            (GateFit::Horizontal, (36.0, 18.0), (36.0, 36.0)),
            (GateFit::Vertical, (48.0, 24.0), (24.0, 24.0)),
            (GateFit::Overscan, (48.0, 24.0), (36.0, 36.0)),
        ] {
            for (got, want) in [(mm(fit, 2.0), wide), (mm(fit, 1.0), tall)] {
                near(got.0, want.0, 1e-9);
                near(got.1, want.1, 1e-9);
            }
        }
        assert!(
            sensor.gate(GateFit::Fill, f64::NAN).is_err()
                && sensor.gate(GateFit::Fill, 0.0).is_err()
        );
    }

    #[test]
    fn formats() {
        for preset in SENSORS {
            assert_eq!(SensorPreset::from_name(preset.name), Some(preset));
            assert!(
                preset.size().width > 0.005
                    && preset.size().height > 0.005
                    && !preset.source.is_empty()
            );
        }
        // Crop factors.
        let full_frame = SensorPreset::from_name("full-frame").unwrap().size();
        for (name, factor) in [("aps-c", 1.534), ("mft", 2.0)] {
            let size = SensorPreset::from_name(name).unwrap().size();
            near(full_frame.diagonal() / size.diagonal(), factor, 1e-3);
        }
        near(SensorPreset::from_name("imax-70mm").unwrap().size().width, 2.772 * 0.0254, 2e-5);
        near(SensorPreset::from_name("imax-70mm").unwrap().size().height, 2.072 * 0.0254, 2e-5);
        // 0.980 x 0.735 in.
        near(SensorPreset::from_name("super-35").unwrap().size().width, 0.980 * 0.0254, 1e-5);
        near(SensorPreset::from_name("super-35").unwrap().size().height, 0.735 * 0.0254, 1e-5);
        let full = full_frame;
        near(full.width, 0.036, 1e-12);
        near(full.height, 0.024, 1e-12);
        assert_eq!(SensorPreset::from_name("8x10"), None);
    }

    #[test]
    fn curtains() {
        let slit = Shutter::FocalPlane { travel: 1.0 / 300.0 };
        assert_eq!(slit.window(0.0, 0.001), [0.0, 0.001]);
        near(slit.window(0.5, 0.001)[0], 1.0 / 600.0, 1e-15);
        near(slit.duration(0.001), 1.0 / 300.0 + 0.001, 1e-15);
        assert_eq!(Shutter::Global.duration(0.02), 0.02);
    }

    #[test]
    fn impossible_sensors_are_refused() {
        assert!(
            SensorSize::from_mm(0.0, 24.0).is_err() && SensorSize::from_mm(36.0, f64::NAN).is_err()
        );
    }

    #[test]
    fn bodies_resolve_what_is_unknown() {
        let body = Body { shutter_type: ShutterType::Rolling, ..Body::default() };
        assert_eq!(body.shutter(), Shutter::Rolling { readout: 1.0 / 250.0 });
        assert_eq!(Body::default().shutter(), Shutter::Global);
        assert_eq!(Body::default().sensor(), SensorSize { width: 0.036, height: 0.024 });
    }
}
