//! `camera.body.*`, `camera.lens.*` and `camera.motion.*` except the exposure settings: sensor,
//! lens and camera motion.

use glam::DVec3;

use super::{LookError, prescription::read_prescription, reader::Reader};
use crate::{
    camera::{
        GateFit, Iris, SensorSize, ThinLens,
        body::{SENSORS, SensorPreset, Shutter},
        lens::LensError,
        post_effects::{CameraRig, Rim},
    },
    optics::{
        LensAberrations, LensSettings, LensSettingsError, MountedLens, mounted_lens::MountError,
    },
};

/// Every property of this section with its description.
pub(super) const PROPERTIES: &[(&str, &str)] = &[
    (
        "camera.body.sensor",
        "sensor format such as full-frame, super-35 or aps-c, or millimeters as \"36x24\"",
    ),
    (
        "camera.body.gate_fit",
        "fit of the picture's aspect to the sensor: fill, horizontal, vertical or overscan",
    ),
    ("camera.body.resolution", "picture size in pixels, e.g. \"1920x1080\", each side 1 to 65536"),
    ("camera.body.shutter_type", "shutter curtain: global, focal-plane or rolling"),
    (
        "camera.body.readout_time",
        "readout time from the first line to the last in seconds, above 0 to 1000, e.g. \"1/250\"",
    ),
    (
        "camera.lens.prescription",
        "lens prescription: builtin:NAME (listed by `sunny16 lens`) or a .json file; focal_length then sets its zoom",
    ),
    ("camera.lens.focal_length", "focal length in millimeters, 0.1 to 10000, e.g. 35 or \"35mm\""),
    (
        "camera.lens.focus",
        "focus distance from the lens along its axis in meters, above 0, or infinity",
    ),
    (
        "camera.lens.min_focus_distance",
        "nearest focus distance from the lens in meters, above 0, e.g. 0.4; a nearer focus is rejected (makers state it from the sensor, about one focal length more)",
    ),
    ("camera.lens.t_stop", "T-number above 0, at least the f-number, e.g. 3.1"),
    ("camera.lens.max_aperture", "maximum aperture as an f-number, 0.5 to 1024, e.g. 1.4"),
    (
        "camera.lens.barrel_length",
        "barrel length from front rim to pupil in millimeters, 0 or more",
    ),
    ("camera.lens.blades", "number of iris blades: 0 for round, or 3 to 64"),
    ("camera.lens.blade_curvature", "curvature of the iris blades, 0 straight to 1 round"),
    (
        "camera.lens.blade_rotation",
        "angle of a blade's corner from the right in degrees, counterclockwise",
    ),
    (
        "camera.lens.breathing",
        "true or false: focus breathing, nearer focus narrows the field of view",
    ),
    ("camera.motion.velocity", "camera velocity to the right, up and back in m/s, e.g. \"1 0 0\""),
    (
        "camera.motion.angular_velocity",
        "camera angular velocity about right, up and back in degrees per second, e.g. \"0 30 0\"",
    ),
];

/// Default f-number and shutter time of the exposure.
const DEFAULT_F_STOP: f64 = 8.0;
pub(super) const DEFAULT_SHUTTER: f64 = 1.0 / 125.0;

/// Rim of a lens whose barrel is unknown: 1.2 times as wide as the pupil of the open lens (f/1.4 as
/// in `LensSpec::default`, unless `max_aperture` is set). Its distance makes the sensor's corner
/// lose one stop then: half of the pupil is left where the rim has moved by 1.0479 pupil radii. A
/// fast lens thus loses a stop beside the cosine falloff when open, 0.6 stops two stops down, and
/// almost nothing at f/8, as makers state of such lenses.
const RIM: f64 = 1.2;
const CORNER_SHIFT: f64 = 1.0479;
const DEFAULT_MAX_APERTURE: f64 = 1.4;

/// Maximum side length of `camera.body.resolution` in pixels.
const GREATEST_SIDE: u32 = 65_536;

/// Overrides of sensor, lens and motion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RigLook {
    /// `body.sensor`.
    pub sensor: Option<SensorSize>,
    /// `body.gate_fit`.
    pub fit: Option<GateFit>,
    /// `body.resolution` in pixels.
    pub resolution: Option<[u32; 2]>,
    /// `body.shutter_type`.
    pub shutter_type: Option<ShutterType>,
    /// `body.readout_time` in seconds.
    pub readout_time: Option<f64>,
    /// `lens.prescription`: a builtin name or a file.
    pub prescription: Option<String>,
    /// `lens.focal_length` in meters.
    pub focal_length: Option<f64>,
    /// `lens.focus` in meters from the lens; may be infinite.
    pub focus: Option<f64>,
    /// `lens.min_focus_distance` in meters from the lens.
    pub min_focus_distance: Option<f64>,
    /// `lens.t_stop`.
    pub t_stop: Option<f64>,
    /// `lens.max_aperture`, an f-number.
    pub max_aperture: Option<f64>,
    /// `lens.barrel_length` in meters.
    pub barrel_length: Option<f64>,
    /// `lens.blades`.
    pub blades: Option<u32>,
    /// `lens.blade_curvature`.
    pub blade_curvature: Option<f64>,
    /// `lens.blade_rotation` in radians.
    pub blade_rotation: Option<f64>,
    /// `lens.breathing`.
    pub breathing: Option<bool>,
    /// `motion.velocity` in m/s along right, up and back.
    pub velocity: Option<DVec3>,
    /// `motion.angular_velocity` in rad/s around right, up and back.
    pub angular_velocity: Option<DVec3>,
}

/// Kinds of `camera::body::Shutter`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShutterType {
    /// Global shutter: all lines at once.
    Global,
    /// Focal-plane shutter: two curtains.
    FocalPlane,
    /// Rolling shutter: line by line.
    Rolling,
}

/// Default readout time (s), typical of focal-plane shutters.
const READOUT_TIME: f64 = 1.0 / 250.0;

impl RigLook {
    /// Sets one property; false if this section has none of this path.
    pub(super) fn set(&mut self, read: &Reader<'_>) -> Result<bool, LookError> {
        match read.path {
            "camera.body.sensor" => self.sensor = Some(sensor(read)?),
            "camera.body.gate_fit" => self.fit = Some(fit(read)?),
            "camera.body.resolution" => self.resolution = Some(resolution(read)?),
            "camera.body.shutter_type" => self.shutter_type = Some(parse_shutter_type(read)?),
            "camera.body.readout_time" => {
                self.readout_time = Some(
                    read.seconds().ok().filter(|t| *t <= 1000.0).ok_or_else(|| read.bad_value())?,
                )
            }
            "camera.lens.prescription" => {
                self.prescription = Some(read.file()?.display().to_string())
            }
            "camera.lens.focal_length" => {
                self.focal_length = Some(read.millimeters(0.1, 10_000.0)?)
            }
            "camera.lens.focus" => self.focus = Some(read.distance()?),
            "camera.lens.min_focus_distance" => self.min_focus_distance = Some(read.distance()?),
            "camera.lens.t_stop" => self.t_stop = Some(read.positive()?),
            "camera.lens.max_aperture" => self.max_aperture = Some(read.in_range(0.5, 1024.0)?),
            "camera.lens.barrel_length" => {
                self.barrel_length = Some(read.millimeters(0.0, 10_000.0)?)
            }
            "camera.lens.blades" => self.blades = Some(blades(read)?),
            "camera.lens.blade_curvature" => self.blade_curvature = Some(read.fraction()?),
            "camera.lens.blade_rotation" => self.blade_rotation = Some(read.number()?.to_radians()),
            "camera.lens.breathing" => self.breathing = Some(read.boolean()?),
            "camera.motion.velocity" => self.velocity = Some(read.vector()?),
            "camera.motion.angular_velocity" => {
                let degrees = read.vector()?;
                self.angular_velocity = Some(DVec3::new(
                    degrees.x.to_radians(),
                    degrees.y.to_radians(),
                    degrees.z.to_radians(),
                ));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// True if the look sets a lens, by prescription, focal length or focus. An f-number alone only
    /// sets the exposure.
    #[must_use]
    pub fn names_lens(&self) -> bool {
        self.prescription.is_some() || self.focal_length.or(self.focus).is_some()
    }

    /// Sensor size; full frame by default.
    #[must_use]
    pub fn sensor(&self) -> SensorSize {
        self.sensor.unwrap_or(SensorSize { width: 0.036, height: 0.024 })
    }

    /// The part of the sensor plane that an image of an aspect (width over height) shows.
    ///
    /// # Errors
    /// An aspect that is not finite and above 0.
    pub fn gate(&self, aspect: f64) -> Result<SensorSize, LensError> {
        self.sensor().gate(self.fit.unwrap_or_default(), aspect)
    }

    /// Exposure time of each image line.
    #[must_use]
    pub fn shutter(&self) -> Shutter {
        let time = self.readout_time.unwrap_or(READOUT_TIME);
        match self.shutter_type.unwrap_or(ShutterType::Global) {
            ShutterType::Global => Shutter::Global,
            ShutterType::FocalPlane => Shutter::FocalPlane { travel: time },
            ShutterType::Rolling => Shutter::Rolling { readout: time },
        }
    }

    /// The iris.
    #[must_use]
    pub fn iris(&self) -> Iris {
        Iris {
            blades: self.blades.unwrap_or(0),
            curvature: self.blade_curvature.unwrap_or(0.0),
            rotation: self.blade_rotation.unwrap_or(0.0),
        }
    }

    /// Front rim of the barrel of a lens.
    #[must_use]
    pub fn rim(&self, lens: ThinLens) -> Rim {
        let open = lens.focal_length()
            / self.max_aperture.unwrap_or(DEFAULT_MAX_APERTURE).min(lens.f_stop())
            / 2.0;
        // Of the field angle in the sensor's corner, focused at infinity.
        let tangent = self.sensor().diagonal() / 2.0 / lens.focal_length();
        Rim {
            radius: RIM * open,
            distance: self.barrel_length.unwrap_or(CORNER_SHIFT * open / tangent),
        }
    }

    /// Focus distance (m from the lens); infinity by default.
    ///
    /// # Errors
    /// Nearer than `min_focus_distance`.
    fn focus(&self) -> Result<f64, LookError> {
        let focus = self.focus.unwrap_or(f64::INFINITY);
        match self.min_focus_distance.filter(|nearest| focus < *nearest) {
            Some(nearest) => Err(LookError::BadValue {
                path: "camera.lens.focus".into(),
                value: format!("{focus} m"),
                expected: format!(
                    "the lens focuses from {nearest} m on; focus there or farther, or set camera.lens.min_focus_distance"
                ),
            }),
            None => Ok(focus),
        }
    }

    /// Lens, focus and sensor for an image of an aspect (width over height), at an f-number if one
    /// is set.
    ///
    /// `fov` (rad) is the vertical field of view of the scene's camera, which applies if the look
    /// sets no focal length. The focus is at infinity by default.
    ///
    /// # Errors
    /// An invalid lens, or one that forms no image at this focus.
    pub fn rig(&self, f_stop: Option<f64>, fov: f64, aspect: f64) -> Result<CameraRig, LookError> {
        let gate = self.gate(aspect)?;
        let f_stop = f_stop.or(self.t_stop).unwrap_or(DEFAULT_F_STOP);
        let focus = self.focus()?;
        let rig = match self.focal_length {
            Some(focal_length) => {
                let lens = ThinLens::new(focal_length, f_stop)?;
                CameraRig::with_lens(lens, focus, gate, self.breathing.unwrap_or(true))?
            }
            None => CameraRig::with_field_of_view(fov, f_stop, focus, gate)?,
        };
        self.with_losses(rig, f_stop)
    }

    /// The prescription's lens mounted in front of the sensor area that an image of an aspect
    /// (width over height) shows; `None` without a prescription.
    ///
    /// # Errors
    /// A prescription that cannot be read; lens settings that it does not support.
    pub fn mounted_lens(
        &self,
        f_stop: Option<f64>,
        aspect: f64,
        aberrations: LensAberrations,
    ) -> Result<Option<MountedLens>, LookError> {
        let Some(name) = &self.prescription else { return Ok(None) };
        let property = "camera.lens.prescription";
        let prescription = read_prescription(property, name)?;
        let gate = self.gate(aspect)?;
        let dials = LensSettings {
            focal_length: self.focal_length,
            focus: self.focus()?,
            f_stop: Some(f_stop.or(self.t_stop).unwrap_or(DEFAULT_F_STOP)),
            iris: self.iris(),
        };
        if let (Some(asked), Some([least, most])) = (self.focal_length, prescription.zoom_range())
            && !(least * 0.95..=most * 1.05).contains(&asked)
        {
            return Err(LookError::BadValue {
                path: "camera.lens.focal_length".into(),
                value: format!("{} mm", asked * 1e3),
                expected: format!(
                    "expected {} to {} mm, the range of this prescription; change or remove it",
                    least * 1e3,
                    most * 1e3
                ),
            });
        }
        let breathing = self.breathing.unwrap_or(true);
        let mounted = MountedLens::new(
            &prescription,
            &dials,
            [gate.width, gate.height],
            aberrations,
            breathing,
        );
        mounted.map(Some).map_err(|error| {
            let bad = |path: &str, value: f64| LookError::BadValue {
                path: path.into(),
                value: value.to_string(),
                expected: error.to_string(),
            };
            match error {
                MountError::TooOpen { requested: asked, .. } => bad("camera.lens.f_stop", asked),
                MountError::Dial(LensSettingsError::Focus { focus, .. }) => {
                    bad("camera.lens.focus", focus)
                }
                _ => LookError::Input {
                    property: property.into(),
                    file: name.clone(),
                    detail: error.to_string(),
                },
            }
        })
    }

    /// The rig of a mounted lens: the equivalent thin lens, and the pinhole with its field of view.
    ///
    /// # Errors
    /// A T-number below the f-number.
    pub fn mounted_rig(
        &self,
        f_stop: Option<f64>,
        mounted: &MountedLens,
    ) -> Result<CameraRig, LookError> {
        let f_stop = f_stop.or(self.t_stop).unwrap_or(DEFAULT_F_STOP);
        let gate = SensorSize { width: mounted.gate().x, height: mounted.gate().y };
        let rig = CameraRig {
            lens: mounted.thin(),
            focus: mounted.focus(),
            gate,
            image_distance: mounted.pinhole_distance(),
        };
        self.with_losses(rig, f_stop)
    }

    /// The same rig with the transmission losses of the T-number.
    fn with_losses(&self, rig: CameraRig, f_stop: f64) -> Result<CameraRig, LookError> {
        // The T-number includes the losses of the glass.
        let transmission = self.t_stop.map_or(1.0, |t| (f_stop / t).powi(2));
        if transmission > 1.0 {
            return Err(LookError::BadValue {
                path: "camera.lens.t_stop".into(),
                value: self.t_stop.unwrap_or_default().to_string(),
                expected: format!(
                    "expected at least the f-number, {f_stop}: a lens transmits no more light than enters it"
                ),
            });
        }
        Ok(CameraRig { lens: rig.lens.with_transmission(transmission)?, ..rig })
    }
}

fn pair<'a>(read: &Reader<'a>) -> Result<(&'a str, &'a str), LookError> {
    let (width, height) = read.value.split_once(['x', 'X']).ok_or_else(|| read.bad_value())?;
    Ok((width.trim(), height.trim()))
}

fn sensor(read: &Reader<'_>) -> Result<SensorSize, LookError> {
    if let Some(preset) = SensorPreset::from_name(read.value) {
        return Ok(preset.size());
    }
    let wrong = |_| {
        let names: Vec<&str> = SENSORS.iter().map(|preset| preset.name).collect();
        LookError::BadValue {
            path: read.path.into(),
            value: read.value.into(),
            expected: format!("expected millimeters as \"36x24\", or one of {}", names.join(", ")),
        }
    };
    let (width, height) = pair(read).map_err(wrong)?;
    let side =
        |text: &str| text.parse::<f64>().ok().filter(|mm| (0.1..=1e4).contains(mm)).ok_or(());
    let (Ok(width), Ok(height)) = (side(width), side(height)) else {
        return Err(wrong(read.bad_value()));
    };
    Ok(SensorSize::from_mm(width, height)?)
}

fn fit(read: &Reader<'_>) -> Result<GateFit, LookError> {
    Ok(match read.value {
        "fill" => GateFit::Fill,
        "horizontal" => GateFit::Horizontal,
        "vertical" => GateFit::Vertical,
        "overscan" => GateFit::Overscan,
        _ => return Err(read.bad_value()),
    })
}

fn parse_shutter_type(read: &Reader<'_>) -> Result<ShutterType, LookError> {
    Ok(match read.value {
        "global" => ShutterType::Global,
        "focal-plane" => ShutterType::FocalPlane,
        "rolling" => ShutterType::Rolling,
        _ => return Err(read.bad_value()),
    })
}

fn resolution(read: &Reader<'_>) -> Result<[u32; 2], LookError> {
    let (width, height) = pair(read)?;
    let side = |text: &str| text.parse().ok().filter(|side| (1..=GREATEST_SIDE).contains(side));
    side(width)
        .zip(side(height))
        .map(|(width, height)| [width, height])
        .ok_or_else(|| read.bad_value())
}

fn blades(read: &Reader<'_>) -> Result<u32, LookError> {
    read.value
        .parse()
        .ok()
        .filter(|blades| *blades == 0 || (3..=64).contains(blades))
        .ok_or_else(|| read.bad_value())
}

/// The f-number for exposure: the T-number if there is one.
pub(super) fn exposure_stop(f_stop: Option<f64>, t_stop: Option<f64>) -> f64 {
    t_stop.or(f_stop).unwrap_or(DEFAULT_F_STOP)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::Look;

    fn look(assignments: &[&str]) -> Look {
        let mut look = Look::default();
        for assignment in assignments {
            look.assign(assignment).unwrap();
        }
        look
    }

    #[test]
    fn the_field_of_view_follows_the_lens() {
        let horizontal = |assignments: &[&str]| {
            let look = look(assignments);
            let rig = look.camera.rig.rig(look.camera.f_stop, 0.7, 1.5).unwrap();
            2.0 * (rig.width() / 2.0).atan().to_degrees()
        };
        let near = |got: f64, want: f64| assert!((got - want).abs() < 6e-4, "{got} is not {want}");
        near(horizontal(&["camera.lens.focal_length=24mm", "camera.lens.focus=0.38"]), 70.186);
        near(horizontal(&["camera.lens.focal_length=24", "camera.lens.focus=infinity"]), 73.740);
        near(horizontal(&["camera.lens.focal_length=24", "camera.lens.focus=5 m"]), 73.475);
        near(horizontal(&["camera.lens.focal_length=70", "camera.lens.focus=0.38"]), 23.695);
        near(horizontal(&["camera.lens.focal_length=70"]), 28.842);
        near(horizontal(&["camera.lens.focal_length=70", "camera.lens.focus=5"]), 28.454);
        near(horizontal(&["camera.lens.focal_length=50", "camera.lens.focus=0.45"]), 35.489);
        let still = [
            "camera.lens.focal_length=24",
            "camera.lens.focus=0.38",
            "camera.lens.breathing=false",
        ];
        near(horizontal(&still), 73.740);
        // The file's own field of view stays, at any focus.
        let fov = 2.0 * (0.35_f64.tan() * 1.5).atan().to_degrees();
        near(horizontal(&["camera.lens.focus=0.5"]), fov);
        near(horizontal(&["camera.lens.focus=infinity", "camera.body.sensor=mft"]), fov);
    }

    #[test]
    fn an_unknown_barrel_takes_a_stop_from_the_corner() {
        let look = look(&["camera.lens.focal_length=50", "effects.vignetting.falloff_exponent=0"]);
        for (f_stop, left) in [(1.4, 0.5), (2.8, 0.648), (8.0, 0.970)] {
            let rig = look.camera.rig.rig(Some(f_stop), 0.7, 1.5).unwrap();
            let corner = look
                .effects(Some(&rig), [300, 200])
                .unwrap()
                .vignetting
                .unwrap()
                .at(0.036_f64.hypot(0.024) / 0.1);
            assert!((corner - left).abs() < 0.01, "f/{f_stop}: {corner}");
        }
    }

    #[test]
    fn impossible_cameras_say_what_is_wrong() {
        for (bad, says) in [
            ("camera.lens.focal_length=0", "millimeters"),
            ("camera.lens.focal_length=NaN", "millimeters"),
            ("camera.lens.focus=-1", "meters"),
            ("camera.lens.focus=nan", "meters"),
            ("camera.lens.min_focus_distance=0", "meters"),
            ("camera.body.sensor=9x", "full-frame"),
            ("camera.body.sensor=0x24", "full-frame"),
            ("camera.body.resolution=0x4", "pixels"),
            ("camera.lens.blades=2", "blades"),
            ("camera.lens.blade_curvature=1.5", "0 straight"),
            ("camera.lens.f_stop=0", "f-number"),
            ("camera.body.iso=0", "ISO"),
            ("camera.motion.velocity=1 2", "right, up and back"),
            ("camera.motion.angular_velocity=a b c", "right, up and back"),
        ] {
            let error = Look::default().assign(bad).unwrap_err().to_string();
            assert!(
                error.contains(says) && error.contains(bad.split('=').next().unwrap()),
                "{bad}: {error}"
            );
        }
        let error = |assignments: &[&str]| {
            let look = look(assignments);
            look.camera.rig.rig(look.camera.f_stop, 0.7, 1.5).unwrap_err().to_string()
        };
        let inside = error(&["camera.lens.focal_length=50", "camera.lens.focus=0.03"]);
        assert!(inside.contains("camera.lens") && inside.contains("focus beyond"), "{inside}");
        let near = [
            "camera.lens.focal_length=50",
            "camera.lens.min_focus_distance=0.45",
            "camera.lens.focus=0.4",
        ];
        let refused = error(&near);
        assert!(
            refused.contains("camera.lens.focus") && refused.contains("from 0.45 m on"),
            "{refused}"
        );
        let real = look(&[&near[1..], &["camera.lens.prescription=builtin:dgauss-50-f2"]].concat());
        let refused = real.mounted_lens(1.5).unwrap_err().to_string();
        assert!(refused.contains("from 0.45 m on"), "{refused}");
        for focus in ["camera.lens.focus=0.45", "camera.lens.focus=infinity"] {
            let look = look(&[near[0], near[1], focus]);
            look.camera.rig.rig(look.camera.f_stop, 0.7, 1.5).unwrap();
        }
        let wide = error(&["camera.lens.focal_length=50", "camera.lens.f_stop=0.1"]);
        assert!(wide.contains("f-number"), "{wide}");
        let bright = error(&[
            "camera.lens.focal_length=50",
            "camera.lens.f_stop=2",
            "camera.lens.t_stop=1.8",
        ]);
        assert!(bright.contains("t_stop"), "{bright}");
    }
}
