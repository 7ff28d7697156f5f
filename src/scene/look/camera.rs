//! `camera.*`: camera selection, pose and exposure settings.

use glam::{DMat4, DVec3};

use super::{LookError, RigLook, lights::aimed, reader::Reader, rig::exposure_stop};
use crate::{
    camera::{Exposure, ExposureDials},
    photometry::Ev100,
};

/// Every property of this section with its description.
pub(super) const PROPERTIES: &[(&str, &str)] = &[
    ("camera.name", "camera of the file, by name or number (#0)"),
    ("camera.position", "world position in meters: \"X Y Z\"; overrides the file's camera"),
    ("camera.target", "world position in meters at the center of the picture: \"X Y Z\""),
    (
        "camera.roll",
        "roll about the view axis in degrees, clockwise as the photographer tilts the camera, -180 to 180",
    ),
    ("camera.body.iso", "ISO speed above 0, e.g. 100"),
    ("camera.body.shutter", "shutter time in seconds, above 0, e.g. 0.01 or \"1/100\""),
    ("camera.lens.f_stop", "f-number above 0, e.g. 2.8"),
    ("camera.exposure.ev100", "exposure value at ISO 100, e.g. 14.6; overrides the three dials"),
    ("camera.exposure.compensation", "exposure compensation in stops, positive is brighter"),
];

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
    /// `body.iso`.
    pub iso: Option<f64>,
    /// `body.shutter` in seconds; written as a number or as `"1/60"`.
    pub shutter: Option<f64>,
    /// `lens.f_stop`.
    pub f_stop: Option<f64>,
    /// `exposure.ev100`: overrides the exposure settings.
    pub ev100: Option<f64>,
    /// `exposure.compensation` in stops, brighter above 0.
    pub compensation: Option<f64>,
    /// Sensor, lens and motion.
    pub rig: RigLook,
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

    /// Sets one property; false if this section has none of this path.
    pub(super) fn set(&mut self, read: &Reader<'_>) -> Result<bool, LookError> {
        match read.path {
            "camera.name" => self.name = Some(read.value.into()),
            "camera.position" => self.position = Some(read.place()?),
            "camera.target" => self.target = Some(read.place()?),
            "camera.roll" => self.roll = Some(read.in_range(-180.0, 180.0)?.to_radians()),
            "camera.body.iso" => self.iso = Some(read.positive()?),
            "camera.body.shutter" => self.shutter = Some(read.seconds()?),
            "camera.lens.f_stop" => self.f_stop = Some(read.positive()?),
            "camera.exposure.ev100" => self.ev100 = Some(read.number()?),
            "camera.exposure.compensation" => self.compensation = Some(read.number()?),
            _ => return self.rig.set(read),
        }
        Ok(true)
    }

    /// True if the look sets the exposure, by settings or by value.
    #[must_use]
    pub fn has_dials(&self) -> bool {
        self.ev100.or(self.f_stop).or(self.rig.t_stop).or(self.shutter).or(self.iso).is_some()
    }

    /// Exposure settings. Defaults: f/8, 1/125 s, ISO 100; a T-number replaces the f-number.
    #[must_use]
    pub fn dials(&self) -> ExposureDials {
        ExposureDials {
            f_stop: exposure_stop(self.f_stop, self.rig.t_stop),
            shutter_s: self.shutter.unwrap_or(1.0 / 125.0),
            iso: self.iso.unwrap_or(100.0),
        }
    }

    /// Exposure from the settings or the exposure value; `None` if the look sets neither, so that
    /// the scene is metered.
    ///
    /// # Errors
    /// Settings out of range of an exposure.
    pub fn exposure(&self) -> Result<Option<Exposure>, LookError> {
        if let (Some(f_stop), Some(t_stop)) = (self.f_stop, self.rig.t_stop)
            && t_stop < f_stop
        {
            return Err(LookError::BadValue {
                path: "camera.lens.t_stop".into(),
                value: t_stop.to_string(),
                expected: format!(
                    "expected at least the f-number, {f_stop}: a lens transmits no more light than enters it"
                ),
            });
        }
        let exposure = if let Some(ev) = self.ev100 {
            Exposure::from_ev100(Ev100(ev))?
        } else if self.has_dials() {
            self.dials().exposure()?
        } else {
            return Ok(None);
        };
        Ok(Some(exposure.compensated(self.compensation.unwrap_or(0.0))?))
    }
}
