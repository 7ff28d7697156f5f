//! A lens on a body: what both renderers need of it.

use glam::{DVec2, DVec3, dvec2};

use super::{
    glass::LINE_D,
    imaging::{CHANNELS, ImagingNode, LensImaging, MAX_FIELD_TANGENT, NODES},
    lens::{Lens, LensSettings, LensSettingsError},
    paraxial::Axis,
    prescription::Prescription,
    trace::{Losses, Ray},
};
use crate::camera::{LensError, ThinLens, post_effects::Rim};

/// Which of a lens's aberrations are in the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LensAberrations {
    /// Straight lines bend.
    pub distortion: bool,
    /// Colours are imaged at different sizes, and focused at different distances.
    pub colors: bool,
    /// The picture darkens toward its corners.
    pub vignetting: bool,
}

/// Why a prescription cannot be mounted.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum MountError {
    /// It cannot be set so.
    #[error(transparent)]
    Dial(#[from] LensSettingsError),
    /// It is no lens that a camera can have.
    #[error(transparent)]
    Lens(#[from] LensError),
    /// It does not open so far.
    #[error("the f-number is {requested}, but this lens opens to f/{max_aperture:.2}")]
    TooOpen {
        /// On the dial.
        requested: f64,
        /// The lens's least.
        max_aperture: f64,
    },
    /// No light reaches the sensor's middle.
    #[error(
        "no light gets through it to the middle of the sensor: its rims or its stop are too small"
    )]
    Dark,
}

/// How far (a part of it) an f-number may be below the lens's own before it is refused: engraved
/// numbers are rounded.
const F_NUMBER_TOLERANCE: f64 = 0.05;

/// A lens on a body.
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
    /// How much larger the focused lens's picture is than the one that is shown: 1 where it
    /// breathes.
    breathing_scale: f64,
    middle: [f64; 4],
}

/// A square of the last vertex' plane that holds the open pupil.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct PupilBounds {
    middle: DVec2,
    half: f64,
}

/// A ray toward the scene from the entrance pupil's place: x right, y up, z back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LensRay {
    /// Where it leaves the lens (m), from the middle of the entrance pupil.
    pub origin: DVec3,
    /// Unit vector.
    pub direction: DVec3,
    /// What light along it counts in red, green and blue; 0 where the lens is in the way.
    pub weight: DVec3,
}

/// Places along a radius, or along each side of a quarter, at which pupils are known.
const PUPILS: usize = 17;

impl MountedLens {
    /// Sets a lens before a part of a sensor (m). With `breathing` off, the field of view stays
    /// that of focus at infinity.
    ///
    /// # Errors
    /// A focus or an f-number that it does not have; a lens through which no light comes.
    pub fn new(
        prescription: &Prescription,
        dials: &LensSettings,
        gate: [f64; 2],
        aberrations: LensAberrations,
        breathing: bool,
    ) -> Result<Self, MountError> {
        let lens = Lens::new(prescription, dials)?;
        if let Some(asked) =
            dials.f_stop.filter(|n| lens.f_number() * (1.0 - F_NUMBER_TOLERANCE) > *n)
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
            // No more than what the sensor sees at every place of its border.
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
        // Blades do not turn with the place: what holds their circle holds them.
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

    /// The lens as set.
    #[must_use]
    pub const fn lens(&self) -> &Lens {
        &self.lens
    }

    /// What is in focus (m from the entrance pupil).
    #[must_use]
    pub const fn focus(&self) -> f64 {
        self.focus
    }

    /// The part of the sensor that the picture shows (m).
    #[must_use]
    pub const fn gate(&self) -> DVec2 {
        self.gate
    }

    /// What the lens does to the picture, against a pinhole with the image distance that it says.
    #[must_use]
    pub const fn imaging(&self) -> &LensImaging {
        &self.imaging
    }

    /// Image distance (m) of the pinhole that sees as much as this lens in every direction.
    #[must_use]
    pub const fn pinhole_distance(&self) -> f64 {
        self.pinhole_distance
    }

    /// Which aberrations are in the picture.
    #[must_use]
    pub const fn aberrations(&self) -> LensAberrations {
        self.aberrations
    }

    /// The thin lens that images like it near the axis (`Lens::equivalent`).
    #[must_use]
    pub const fn thin(&self) -> ThinLens {
        self.thin
    }

    /// The rim before the entrance pupil that cuts the most off it toward the picture's corner,
    /// seen from the scene, where rays are near the axis: what cat's-eye highlights need. Its
    /// distance is below 0 behind the pupil.
    ///
    /// Of each rim, the circle that it draws in the entrance pupil's plane: rays reach it at `a p +
    /// (b - a z) u`, from the place p of the pupil at z, by the matrix from the first vertex (a,
    /// b).
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

    /// Whether any of its aberrations is in the picture: else that of the pinhole stays as it is.
    #[must_use]
    pub fn has_aberrations(&self) -> bool {
        let LensAberrations { distortion, colors, vignetting } = self.aberrations;
        distortion || colors || vignetting
    }

    /// What turns the picture of the pinhole into that on the sensor, with the aberrations that are
    /// on: on the grid of `Imaging`, by how much farther from its middle the pinhole has what each
    /// place shows, and the light there.
    #[must_use]
    pub fn grid(&self) -> Vec<ImagingNode> {
        let colors = if self.aberrations.colors { [0, 1, 2] } else { [1; 3] };
        let node = |i: usize| {
            // At the axes the limit, by a place beside them.
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

    /// The place on the sensor (m, as the picture is seen) whose light shows at a place of the
    /// picture: another one where distortion is taken out.
    #[must_use]
    pub fn sensor_position(&self, place: DVec2) -> DVec2 {
        if self.aberrations.distortion {
            return place;
        }
        // The place that sees the direction of an ideal lens: a fixed point, found in a few steps.
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

    /// The tangents that the picture's pinhole sees at a place (m).
    fn ideal(&self, place: DVec2) -> DVec2 {
        place / self.pinhole_distance
    }

    /// What is left of the light at a place of the picture (m).
    #[must_use]
    pub fn falloff(&self, place: DVec2) -> f64 {
        if self.aberrations.vignetting {
            self.imaging.at(self.sensor_position(place)).relative_illumination
        } else {
            1.0
        }
    }

    /// The ray from a place of the picture (m) with all in focus: through the middle of the pupil,
    /// of green light or of one of red, green and blue.
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

    /// The ray from a place of the picture (m) through a place of the pupil, `u` uniform in the
    /// unit square.
    ///
    /// Rays fill a square that holds the open pupil; those that the lens stops count 0, the others
    /// by `cos^4 / d^2` (Kolb, Mitchell and Hanrahan 1995, section 4.2), over the illuminance of
    /// the picture's middle: exposure is by the dials, and what glass loses is in the T-stop.
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

    /// Of one colour of three, each of which is a third of the rays.
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

    /// Where the pupil is open, seen from a place of the sensor (m).
    fn square(&self, place: DVec2) -> PupilBounds {
        let last = (PUPILS - 1) as f64;
        if self.round {
            let cell = (place.length() / (self.gate.length() / 2.0) * last).clamp(0.0, last);
            let low = (cell.floor() as usize).min(PUPILS - 2);
            let found = self.pupils[low].with(self.pupils[low + 1]);
            // A turned square is within a circle around it, and that within an upright square.
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
    /// The least square around both.
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
