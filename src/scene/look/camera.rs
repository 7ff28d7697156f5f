//! `camera.*`: camera selection and pose; body, lens and dials of the physical camera.

use std::sync::Arc;

use glam::{DMat4, DVec3};

use super::{LookError, lights::aimed, metering, prescription::load, reader::Reader, rig};
use crate::{
    camera::{Body, Camera, CameraLens, CameraMotion, Dials, EffectSettings},
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
    /// `body.*` except the dials.
    pub body: Body,
    /// `lens.*` except the dials.
    pub lens: CameraLens,
    /// Aperture, shutter and ISO speed, `exposure.*`, `metering.*` and `white_balance.*`.
    pub dials: Dials,
    /// `motion.*`.
    pub motion: CameraMotion,
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
    }

    /// Sets one property; false if this section has none of this path.
    pub(super) fn set(&mut self, read: &Reader<'_>) -> Result<bool, LookError> {
        let Self { body, lens, dials, motion, .. } = self;
        match read.path {
            "camera.name" => self.name = Some(read.value.into()),
            "camera.position" => self.position = Some(read.place()?),
            "camera.target" => self.target = Some(read.place()?),
            "camera.roll" => self.roll = Some(read.in_range(-180.0, 180.0)?.to_radians()),
            "camera.body.iso" => dials.iso = Some(read.positive()?),
            "camera.body.shutter" => dials.shutter_s = Some(read.seconds()?),
            "camera.lens.f_stop" => dials.f_stop = Some(read.positive()?),
            "camera.lens.t_stop" => dials.t_stop = Some(read.positive()?),
            "camera.exposure.ev100" => dials.ev100 = Some(Ev100(read.number()?)),
            "camera.exposure.compensation" => dials.compensation = read.number()?,
            _ => {
                return Ok(
                    rig::set(body, lens, motion, read)? || metering::set(body, lens, dials, read)?
                );
            }
        }
        Ok(true)
    }
}
