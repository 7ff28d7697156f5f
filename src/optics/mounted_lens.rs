//! A lens mounted on a camera, as both renderers use it.

use glam::{DVec2, DVec3, dvec2};

use super::{
    glass::LINE_D,
    imaging::{CHANNELS, ImagingNode, LensImaging, MAX_FIELD_TANGENT, NODES},
    lens::{Axis, Lens},
    lens_settings::{LensSettings, LensSettingsError},
    prescription::Prescription,
    thin_lens::{LensError, Rim, ThinLens},
    trace::{Losses, Ray},
};

/// Aberrations of a lens that affect the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LensAberrations {
    /// Geometric distortion.
    pub distortion: bool,
    /// Lateral and axial chromatic aberration.
    pub colors: bool,
    /// Vignetting: illuminance falls off toward the corners.
    pub vignetting: bool,
}

/// Error of a prescription that cannot be mounted.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum MountError {
    /// Invalid lens settings.
    #[error(transparent)]
    Dial(#[from] LensSettingsError),
    /// The lens is outside of the camera's limits.
    #[error(transparent)]
    Lens(#[from] LensError),
    /// The f-number is below the lens's minimum.
    #[error("the f-number is {requested}, but this lens opens to f/{max_aperture:.2}")]
    TooOpen {
        /// Requested f-number.
        requested: f64,
        /// Minimum f-number of the lens.
        max_aperture: f64,
    },
    /// No light reaches the center of the sensor.
    #[error(
        "no light gets through it to the middle of the sensor: its rims or its stop are too small"
    )]
    Dark,
}

/// Relative tolerance of f-numbers below the lens's own: engraved numbers are rounded.
const F_NUMBER_TOLERANCE: f64 = 0.05;

/// The f-number at which a lens of a maximum aperture works when `requested` is set: at least its
/// own, since engraved numbers are rounded; `None` if the lens is not nearly as fast.
#[must_use]
pub fn reachable_f_stop(requested: f64, max_aperture: f64) -> Option<f64> {
    let is_near = max_aperture * (1.0 - F_NUMBER_TOLERANCE) <= requested;
    is_near.then_some(requested.max(max_aperture))
}

/// Remark about an f-number that the lens replaces.
#[must_use]
pub fn f_stop_note(property: &str, requested: f64, lens: &str, used: f64) -> String {
    format!("note: {property} = {requested}: {lens} opens to f/{used:.2}, which is used")
}

/// A lens mounted on a camera.
#[derive(Clone, Debug, PartialEq)]
pub struct MountedLens {
    lens: Lens,
    focus: f64,
    gate: DVec2,
    imaging: LensImaging,
    pinhole_distance: f64,
    aberrations: LensAberrations,
    thin: ThinLens,
    pupils: Vec<PupilBounds>,
    round: bool,
    /// Scale of the focused lens's image relative to the displayed one: 1 with focus breathing.
    breathing_scale: f64,
    middle: [f64; 4],
}

/// A square in the plane of the last vertex that contains the open pupil.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct PupilBounds {
    middle: DVec2,
    half: f64,
}

/// A ray toward the scene from the entrance pupil: x right, y up, z backward.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LensRay {
    /// Origin (m) on leaving the lens, relative to the center of the entrance pupil.
    pub origin: DVec3,
    /// Unit direction.
    pub direction: DVec3,
    /// Weight in red, green and blue; 0 where the lens blocks the ray.
    pub weight: DVec3,
}

/// Tabulated positions of pupil bounds, along a radius or along each side of a quadrant.
const PUPILS: usize = 17;

impl MountedLens {
    /// Mounts a lens in front of a sensor area (m). With `breathing` off, the field of view stays
    /// that of infinity focus.
    ///
    /// # Errors
    /// `MountError` if the lens does not reach the focus or the f-number, or if no light passes it.
    pub fn new(
        prescription: &Prescription,
        dials: &LensSettings,
        gate: [f64; 2],
        aberrations: LensAberrations,
        breathing: bool,
    ) -> Result<Self, MountError> {
        let lens = Lens::new(prescription, dials)?;
        if let Some(asked) =
            dials.f_stop.filter(|n| reachable_f_stop(*n, lens.f_number()).is_none())
        {
            return Err(MountError::TooOpen { requested: asked, max_aperture: lens.f_number() });
        }
        let thin = lens.equivalent_thin_lens(dials.focus)?;
        let image_distance = thin.image_distance(dials.focus)?;
        let imaging = if breathing {
            LensImaging::new(&lens, gate, image_distance)
        } else {
            let far = Lens::new(prescription, &LensSettings { focus: f64::INFINITY, ..*dials })?;
            LensImaging::new(&far, gate, far.equivalent_thin_lens(f64::INFINITY)?.focal_length())
        };
        let gate = DVec2::from(gate);
        let pinhole = if aberrations.distortion {
            let reach = gate / 2.0 / imaging.reach().max(DVec2::splat(1e-6));
            reach.min_element()
        } else {
            // At most what the sensor sees along its whole border.
            let least = gate / 2.0 / imaging.border().max(DVec2::splat(1e-6));
            least.max_element().max(imaging.image_distance())
        };
        let enlarged = if breathing { 1.0 } else { image_distance / imaging.image_distance() };
        let round = lens.is_round();
        let count = if round { PUPILS } else { PUPILS * PUPILS };
        let place = |i: usize| {
            if round {
                dvec2(gate.length() / 2.0 * i as f64 / (PUPILS - 1) as f64, 0.0)
            } else {
                dvec2((i % PUPILS) as f64, (i / PUPILS) as f64) / (PUPILS - 1) as f64 * gate / 2.0
            }
        };
        // Blades do not rotate with position: the bounds of their circumscribed circle contain
        // them.
        let circle = lens.rounded();
        let square = |i: usize, wavelength: f64| {
            let found = circle.open_square(place(i) * enlarged, wavelength);
            found.map_or(PupilBounds::default(), |(middle, half)| PupilBounds { middle, half })
        };
        let pupils = (0..count)
            .map(|i| {
                [LINE_D, CHANNELS[0], CHANNELS[2]]
                    .map(|w| square(i, w))
                    .into_iter()
                    .fold(PupilBounds::default(), PupilBounds::with)
            })
            .collect();
        let light = |wavelength: f64| lens.illuminance(DVec2::ZERO, wavelength, Losses::Ignored);
        let middle = [light(LINE_D), light(CHANNELS[0]), light(CHANNELS[1]), light(CHANNELS[2])];
        if middle.iter().any(|light| light.is_nan() || *light <= 0.0) {
            return Err(MountError::Dark);
        }
        Ok(Self {
            lens,
            focus: dials.focus,
            gate,
            imaging,
            pinhole_distance: pinhole,
            aberrations,
            thin,
            pupils,
            round,
            breathing_scale: enlarged,
            middle,
        })
    }

    /// The lens with its settings.
    #[must_use]
    pub const fn lens(&self) -> &Lens {
        &self.lens
    }

    /// Focus distance (m from the entrance pupil).
    #[must_use]
    pub const fn focus(&self) -> f64 {
        self.focus
    }

    /// Sensor area of the image: width and height (m).
    #[must_use]
    pub const fn gate(&self) -> DVec2 {
        self.gate
    }

    /// Image geometry of the lens, relative to a pinhole with the image distance it holds.
    #[must_use]
    pub const fn imaging(&self) -> &LensImaging {
        &self.imaging
    }

    /// Image distance (m) of the pinhole that covers at least this lens's view in every direction.
    #[must_use]
    pub const fn pinhole_distance(&self) -> f64 {
        self.pinhole_distance
    }

    /// Aberrations that affect the image.
    #[must_use]
    pub const fn aberrations(&self) -> LensAberrations {
        self.aberrations
    }

    /// The paraxially equivalent thin lens (`Lens::equivalent_thin_lens`).
    #[must_use]
    pub const fn thin(&self) -> ThinLens {
        self.thin
    }

    /// The rim in front of the entrance pupil that cuts off most of it toward the image corner,
    /// paraxially and seen from the scene, for cat's-eye bokeh. Its distance is negative behind the
    /// pupil.
    ///
    /// Each rim is a circle in the plane of the entrance pupil: a ray from pupil position p at z
    /// with slope u reaches the rim at `a p + (b - a z) u`, where (a, b) is from the first vertex's
    /// matrix.
    #[must_use]
    pub fn rim(&self) -> Option<Rim> {
        let (lens, tangent) = (&self.lens, self.imaging.reach().length());
        let pupil = lens.entrance_pupil(Axis::Y, LINE_D);
        let open = pupil.radius * lens.pupil_fill();
        let rims = lens.surfaces().iter().enumerate().filter(|(_, surface)| !surface.stop).map(
            |(i, surface)| {
                let m = lens.matrix_to(i, Axis::Y, LINE_D);
                let radius = surface.semi_aperture / m.a.abs();
                Rim { radius: radius.max(open), distance: pupil.z - m.b / m.a }
            },
        );
        let cut = |rim: &Rim| rim.radius - rim.distance.abs() * tangent;
        rims.filter(|rim| rim.distance.is_finite()).min_by(|a, b| cut(a).total_cmp(&cut(b)))
    }

    /// True if any aberration is enabled; otherwise the pinhole image is unchanged.
    #[must_use]
    pub fn has_aberrations(&self) -> bool {
        let LensAberrations { distortion, colors, vignetting } = self.aberrations;
        distortion || colors || vignetting
    }

    /// Warp from the pinhole image to the sensor with the enabled aberrations, on the grid of
    /// `LensImaging`: relative distance from the center in the pinhole image, and relative
    /// illumination.
    #[must_use]
    pub fn grid(&self) -> Vec<ImagingNode> {
        let colors = if self.aberrations.colors { [0, 1, 2] } else { [1; 3] };
        let node = |i: usize| {
            // On the axes, the limit from nearby positions.
            let place = dvec2((i % NODES) as f64, (i / NODES) as f64) / (NODES - 1) as f64
                * self.imaging.half();
            let place = place.max(self.imaging.half() * 1e-3);
            let at = self.sensor_position(place);
            let stretch =
                colors.map(|c| self.imaging.direction(at, c) * self.pinhole_distance / place);
            ImagingNode { stretch, relative_illumination: self.falloff(place) }
        };
        (0..NODES * NODES).map(node).collect()
    }

    /// Sensor position (m, as the image is viewed) displayed at an image position: a different one
    /// if distortion is removed.
    #[must_use]
    pub fn sensor_position(&self, place: DVec2) -> DVec2 {
        if self.aberrations.distortion {
            return place;
        }
        // The position that sees the ideal lens's direction: fixed-point iteration, which converges
        // in a few steps.
        let ideal = self.ideal(place);
        let mut at = place;
        for _ in 0..12 {
            let seen = self.imaging.direction(at, 1);
            at += (ideal - seen) * self.imaging.image_distance()
                / self.imaging.at(DVec2::ZERO).stretch[1];
            at = at.clamp(-self.imaging.half(), self.imaging.half());
        }
        at
    }

    /// Tangents of the pinhole at an image position (m).
    fn ideal(&self, place: DVec2) -> DVec2 {
        place / self.pinhole_distance
    }

    /// Relative illumination at an image position (m), with vignetting if enabled.
    #[must_use]
    pub fn falloff(&self, place: DVec2) -> f64 {
        if self.aberrations.vignetting {
            self.imaging.at(self.sensor_position(place)).relative_illumination
        } else {
            1.0
        }
    }

    /// Pinhole ray of an image position (m), through the center of the pupil: of green light, or of
    /// one channel.
    #[must_use]
    pub fn chief_ray(&self, place: DVec2, channel: Option<usize>) -> LensRay {
        let at = self.sensor_position(place);
        let seen = self.imaging.direction(at, channel.unwrap_or(1));
        let steep = seen.abs().max_element() > MAX_FIELD_TANGENT;
        let weight = if steep { 0.0 } else { self.falloff(place) };
        LensRay {
            origin: DVec3::ZERO,
            direction: seen.extend(-1.0).normalize(),
            weight: self.counted(weight, channel),
        }
    }

    /// Ray from an image position (m) through a pupil position, `u` uniform in the unit square.
    ///
    /// Rays fill a square that contains the open pupil. Blocked rays have weight 0, others `cos^4 /
    /// d^2` (Kolb, Mitchell and Hanrahan 1995, section 4.2) relative to the illuminance of the
    /// image center. Exposure follows the camera settings, and the T-stop has the losses of the
    /// glass.
    #[must_use]
    pub fn ray(&self, place: DVec2, u: DVec2, channel: Option<usize>) -> LensRay {
        let at = self.sensor_position(place);
        let square = self.square(at);
        let on_sensor = at * self.breathing_scale;
        let wavelength = channel.map_or(LINE_D, |c| CHANNELS[c]);
        let toward = square.middle + (2.0 * u - 1.0) * square.half;
        let origin = (-on_sensor).extend(self.lens.sensor());
        let start =
            Ray { origin, direction: (toward.extend(self.lens.last()) - origin).normalize() };
        let through = self
            .lens
            .trace_backward(start, wavelength, Losses::Ignored)
            .and_then(super::trace::TracedRay::unblocked);
        let Ok(through) = through else {
            return LensRay { origin: DVec3::ZERO, direction: DVec3::NEG_Z, weight: DVec3::ZERO };
        };
        let distance = self.lens.sensor() - self.lens.last();
        let area = 4.0 * square.half * square.half;
        let seen = start.direction.z.powi(4) * area / (distance * distance);
        let mut weight = seen / self.middle[channel.map_or(0, |c| c + 1)];
        if !self.aberrations.vignetting {
            let left = self.imaging.at(at).relative_illumination;
            weight = if left > 0.0 { weight / left } else { 0.0 };
        }
        let pupil = self.lens.entrance_pupil(Axis::Y, LINE_D).z;
        let ray = through.ray;
        if ray.direction.z >= 0.0 {
            return LensRay { origin: DVec3::ZERO, direction: DVec3::NEG_Z, weight: DVec3::ZERO };
        }
        LensRay {
            origin: ray.origin - DVec3::Z * pupil,
            direction: ray.direction,
            weight: self.counted(weight, channel),
        }
    }

    /// Weight of one channel; each channel has a third of the rays.
    fn counted(&self, weight: f64, channel: Option<usize>) -> DVec3 {
        match channel {
            None => DVec3::splat(weight),
            Some(c) => {
                let mut counted = DVec3::ZERO;
                counted[c] = 3.0 * weight;
                counted
            }
        }
    }

    /// Bounds of the open pupil from a sensor position (m).
    fn square(&self, place: DVec2) -> PupilBounds {
        let last = (PUPILS - 1) as f64;
        if self.round {
            let cell = (place.length() / (self.gate.length() / 2.0) * last).clamp(0.0, last);
            let low = (cell.floor() as usize).min(PUPILS - 2);
            let found = self.pupils[low].with(self.pupils[low + 1]);
            // A rotated square is within a circle around it, and that within an axis-aligned
            // square.
            let turn = if place.length() > 0.0 { place.normalize() } else { DVec2::X };
            let half = found.half * (turn.x.abs() + turn.y.abs());
            return PupilBounds { middle: turn.rotate(found.middle), half };
        }
        let cell = (place.abs() / (self.gate / 2.0) * last).clamp(DVec2::ZERO, DVec2::splat(last));
        let low = cell.floor().min(DVec2::splat(last - 1.0));
        let at = |dx: usize, dy: usize| {
            self.pupils[(low.y as usize + dy) * PUPILS + low.x as usize + dx]
        };
        let found = at(0, 0).with(at(1, 0)).with(at(0, 1)).with(at(1, 1));
        PupilBounds {
            middle: found.middle * dvec2(1.0_f64.copysign(place.x), 1.0_f64.copysign(place.y)),
            half: found.half,
        }
    }
}

impl PupilBounds {
    /// Smallest square around both.
    fn with(self, other: Self) -> Self {
        if self.half <= 0.0 {
            return other;
        }
        if other.half <= 0.0 {
            return self;
        }
        let low = (self.middle - self.half).min(other.middle - other.half);
        let high = (self.middle + self.half).max(other.middle + other.half);
        Self { middle: (low + high) / 2.0, half: (high - low).max_element() / 2.0 }
    }
}
