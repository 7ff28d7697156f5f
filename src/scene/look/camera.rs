//! `camera.*`: camera selection and pose; body, lens and dials of the physical camera.

use std::{path::PathBuf, sync::Arc};

use glam::{DMat4, DVec3};

use super::{
    LookError,
    lights::aimed,
    photographic::{
        ADAPTATION, BARREL_LENGTH, BLADES, DISTANCE, FOCAL_LENGTH, PAIR, PLACE, POSITION,
        READOUT_TIME, RESOLUTION, ROLL, SECONDS, SENSOR, SPOT_ANGLE, VECTOR, WHITE, adaptation,
        angular_velocity, blades, distance, exposure_value, file_name, millimeters, position,
        radians, range, resolution, seconds, sensor, white,
    },
    prescription::load,
    reader::Reader,
};
use crate::{
    camera::{
        Body, Camera, CameraLens, CameraMotion, Dials, EffectSettings, ExposureControl, GateFit,
        MeteringMode, body::ShutterType,
    },
    optics::{Iris, mounted_lens::f_stop_note},
    photometry::color::{Adaptation, WhiteBalance},
    settings::{Accepts, define::fields},
};

/// Camera overrides.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CameraLook {
    /// `name`: camera of the file, by name or number.
    pub name: Option<String>,
    /// `position` (m, world space).
    pub position: Option<DVec3>,
    /// `target` (m, world space).
    pub target: Option<DVec3>,
    /// `roll` (rad), clockwise seen from behind the camera.
    pub roll: Option<f64>,
    /// `body.*` except the dials.
    pub body: Body,
    /// `lens.*` except the dials.
    pub lens: CameraLens,
    /// Aperture, shutter and ISO speed, `exposure.*`, `metering.*` and `white_balance.*`.
    pub dials: Dials,
    /// `motion.*`.
    pub motion: CameraMotion,
}

fields! {
    impl CameraLook {
        name at "camera.name": String, "camera of the file, by name or number (#0)", affects Frame;
        position at "camera.position": DVec3, accepts PLACE, unit "m",
            "world position in meters: \"X Y Z\"; overrides the file's camera", affects Frame;
        target at "camera.target": DVec3, accepts PLACE, unit "m",
            "world position in meters at the center of the picture: \"X Y Z\"", affects Frame;
        roll at "camera.roll": f64, accepts ROLL, unit "deg",
            "roll about the view axis in degrees, clockwise as the photographer tilts the camera, -180 to 180", affects Frame;
        dials.iso at "camera.body.iso": f64, accepts Accepts::POSITIVE, unit "ISO",
            "ISO speed above 0, e.g. 100", affects Frame;
        dials.shutter_s at "camera.body.shutter": f64, accepts SECONDS, by seconds, unit "s",
            "shutter time in seconds, above 0, e.g. 0.01 or \"1/100\"", affects Frame;
        dials.f_stop at "camera.lens.f_stop": f64, accepts Accepts::POSITIVE, unit "f/",
            "f-number above 0, e.g. 2.8", affects Frame;
        dials.ev100 at "camera.exposure.ev100": f64,
            accepts Accepts::Number, by exposure_value, unit "EV",
            "exposure value at ISO 100, e.g. 14.6; overrides the three dials", affects Frame;
        dials.compensation at "camera.exposure.compensation": f64 = 0.0,
            accepts Accepts::Number, unit "EV",
            "exposure compensation in stops, positive is brighter", affects Frame;
        body.sensor at "camera.body.sensor": String, accepts SENSOR, by sensor,
            "sensor format such as full-frame, super-35 or aps-c, or millimeters as \"36x24\"", affects Frame;
        body.fit at "camera.body.gate_fit": GateFit = GateFit::default(),
            "fit of the picture's aspect to the sensor: fill, horizontal, vertical or overscan", affects Frame;
        body.resolution at "camera.body.resolution": String,
            accepts RESOLUTION, by resolution, unit "px",
            "picture size in pixels, e.g. \"1920x1080\", each side 1 to 65536", affects Frame;
        body.shutter_type at "camera.body.shutter_type": ShutterType = ShutterType::default(),
            "shutter curtain: global, focal-plane or rolling", affects Frame;
        body.readout_time at "camera.body.readout_time": f64 = Body::default().readout_time,
            accepts READOUT_TIME, by seconds, unit "s",
            "readout time from the first line to the last in seconds, above 0 to 1000, e.g. \"1/250\"", affects Frame;
        lens.prescription at "camera.lens.prescription": PathBuf, by file_name,
            "lens prescription: builtin:NAME (listed by `sunny16 lens`) or a .json file; focal_length then sets its zoom", affects Frame;
        lens.focal_length at "camera.lens.focal_length": f64,
            accepts FOCAL_LENGTH, by millimeters, unit "mm",
            "focal length in millimeters, 0.1 to 10000, e.g. 35 or \"35mm\"", affects Frame;
        lens.focus at "camera.lens.focus": f64, accepts DISTANCE, by distance, unit "m",
            "focus distance from the lens along its axis in meters, above 0, or infinity", affects Frame;
        lens.min_focus_distance at "camera.lens.min_focus_distance": f64,
            accepts DISTANCE, by distance, unit "m",
            "nearest focus distance from the lens in meters, above 0, e.g. 0.4; a nearer focus is rejected (makers state it from the sensor, about one focal length more)", affects Frame;
        dials.t_stop at "camera.lens.t_stop": f64, accepts Accepts::POSITIVE, unit "T/",
            "T-number above 0, at least the f-number, e.g. 3.1", affects Frame;
        lens.max_aperture at "camera.lens.max_aperture": f64 = CameraLens::default().max_aperture,
            in 0.5..=1024.0, unit "f/",
            "maximum aperture as an f-number, 0.5 to 1024, e.g. 1.4", affects Frame;
        lens.barrel_length at "camera.lens.barrel_length": f64,
            accepts BARREL_LENGTH, by millimeters, unit "mm",
            "barrel length from front rim to pupil in millimeters, 0 to 10000", affects Frame;
        lens.iris.blades at "camera.lens.blades": u32 = Iris::default().blades,
            accepts BLADES, by blades,
            "number of iris blades: 0 for round, or 3 to 64", affects Frame;
        lens.iris.curvature at "camera.lens.blade_curvature": f64 = Iris::default().curvature,
            in 0.0..=1.0,
            "curvature of the iris blades, 0 straight to 1 round", affects Frame;
        lens.iris.rotation at "camera.lens.blade_rotation": f64 = 0.0,
            accepts Accepts::Number, by radians, unit "deg",
            "angle of a blade's corner from the right in degrees, counterclockwise", affects Frame;
        lens.breathing at "camera.lens.breathing": bool = true,
            "true or false: focus breathing, nearer focus narrows the field of view", affects Frame;
        motion.velocity at "camera.motion.velocity": DVec3 = DVec3::ZERO,
            accepts VECTOR, unit "m/s",
            "camera velocity to the right, up and back in m/s, e.g. \"1 0 0\"", affects Frame;
        motion.rotation at "camera.motion.angular_velocity": DVec3 = DVec3::ZERO,
            accepts VECTOR, by angular_velocity, unit "deg/s",
            "camera angular velocity about right, up and back in degrees per second, e.g. \"0 30 0\"", affects Frame;
        body.iso_range at "camera.body.iso_range": [f64; 2] = Body::default().iso_range,
            accepts PAIR, by range,
            "minimum and maximum ISO speed, e.g. \"100,6400\"", affects Frame;
        body.shutter_range at "camera.body.shutter_range": [f64; 2] = Body::default().shutter_range,
            accepts PAIR, by range, unit "s",
            "minimum and maximum shutter time in seconds, e.g. \"1/4000,30\"", affects Frame;
        lens.f_stop_range at "camera.lens.f_stop_range": [f64; 2] = CameraLens::default().f_stop_range,
            accepts PAIR, by range,
            "minimum and maximum f-number, e.g. \"1.4,22\"", affects Frame;
        dials.control at "camera.exposure.mode": ExposureControl,
            "exposure mode: auto, manual, aperture, shutter, iso or program", affects Frame;
        dials.auto_iso at "camera.exposure.auto_iso": bool = false,
            "true or false: the ISO speed also changes once the other dials are at the end of their range", affects Frame;
        dials.adaptation at "camera.exposure.adaptation": [f64; 2],
            accepts ADAPTATION, by adaptation, unit "s",
            "adaptation time constants in seconds, 0 or more: one number, or two for brighter and darker scenes", affects Frame;
        dials.metering.mode at "camera.metering.mode": MeteringMode = MeteringMode::default(),
            "metering mode: log-average, average, center, matrix, spot or incident", affects Meter;
        dials.metering.position at "camera.metering.position": String = "50%,50%".to_owned(),
            accepts POSITION, by position,
            "position of the spot or of the incident light meter, in pixels or percent from the upper left, e.g. \"320,180\" or \"50%,50%\"", affects Meter;
        dials.metering.spot_angle at "camera.metering.spot_angle": f64 = 1.0,
            accepts SPOT_ANGLE, by radians, unit "deg",
            "angle of view of the spot meter in degrees, above 0 and below 90", affects Meter;
        dials.white_balance.white at "camera.white_balance": String = "neutral".to_owned(),
            accepts WHITE, by white,
            "white balance: neutral, incandescent, fluorescent, daylight, flash, cloudy, shade, or kelvins from 500 to 1000000", affects Frame;
        dials.white_balance.white at "camera.white_balance.white": String, accepts WHITE, by white,
            "same values as camera.white_balance, for look files that also set a tint", affects Frame;
        dials.white_balance.tint at "camera.white_balance.tint": f64 = 0.0, in -0.05..=0.05,
            "tint of the white as Duv, -0.05 to 0.05, positive is greener than a black body", affects Frame;
        dials.white_balance.gray_card at "camera.white_balance.gray_card": String,
            accepts POSITION, by position,
            "position of a gray surface: \"X,Y\" in pixels or percent", affects Frame;
        dials.white_balance.method at "camera.white_balance.method": Adaptation = Adaptation::default(),
            "chromatic adaptation: cat16 or bradford", affects Frame;
    }
}

impl CameraLook {
    /// The world transform of a camera at `world` with the look's overrides: moved, aimed at the
    /// target, rolled.
    #[must_use]
    pub fn placed(&self, world: DMat4) -> DMat4 {
        let mut world = world;
        if let Some(position) = self.position {
            world.w_axis = position.extend(1.0);
        }
        if let Some(turned) = self.target.and_then(|target| aimed(world, target)) {
            world = turned;
        }
        // The camera's axes are right, up and back. Clockwise from behind is about the view
        // direction, -Z.
        self.roll.map_or(world, |roll| world * DMat4::from_rotation_z(-roll))
    }

    /// The physical camera, with effects that are set apart. Reads the lens prescription.
    #[must_use]
    pub fn physical(&self, effects: EffectSettings) -> Camera {
        let prescription = self.lens.prescription.as_deref().map(|name| load(name).map(Arc::new));
        Camera {
            body: self.body,
            lens: self.lens.clone(),
            prescription,
            dials: self.dials,
            motion: self.motion,
            effects,
        }
        .with_reachable_stop()
    }

    /// Remark about a stop that the lens replaces; `used` are the dials of the physical camera.
    #[must_use]
    pub fn stop_note(&self, used: &Dials) -> Option<String> {
        let (set, used) = (&self.dials, used.iris_stop());
        let property =
            if set.f_stop.is_some() { "camera.lens.f_stop" } else { "camera.lens.t_stop" };
        let lens = self.lens.prescription.as_deref()?;
        (set.iris_stop() != used).then(|| f_stop_note(property, set.iris_stop(), lens, used))
    }

    /// Sets one property; false if this section has none of this path. The last of white and gray
    /// card applies.
    pub(super) fn set(&mut self, read: &Reader<'_>) -> Result<bool, LookError> {
        let set = read.set(self).map_err(|error| match (read.path, error) {
            ("camera.body.sensor", LookError::BadValue { path, value, .. }) => {
                let names = SENSOR.choices().join(", ");
                let expected = format!("expected millimeters as \"36x24\", or one of {names}");
                LookError::BadValue { path, value, expected }
            }
            (_, error) => error,
        })?;
        let balance = &mut self.dials.white_balance;
        match read.path {
            "camera.white_balance" | "camera.white_balance.white" => balance.gray_card = None,
            "camera.white_balance.gray_card" => balance.white = WhiteBalance::Neutral,
            _ => {}
        }
        Ok(set)
    }
}
