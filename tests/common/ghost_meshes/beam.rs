//! Beams of light that enter a lens.

use glam::{DVec2, DVec3};

/// Light from a distant source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beam {
    direction: DVec3,
    radius: f64,
}

impl Beam {
    /// A beam along a direction (toward +Z, any length) from a disk of an angular radius (rad).
    /// `None` if it does not come from in front of the lens or is not finite.
    #[must_use]
    pub fn new(direction: DVec3, radius: f64) -> Option<Self> {
        let unit = direction.try_normalize()?;
        (unit.is_finite() && unit.z > 1e-3 && (0.0..1.0).contains(&radius))
            .then_some(Self { direction: unit, radius })
    }

    /// A beam from a source at an angle (rad) from the axis; azimuth 0 is right and pi/2 up in the
    /// image.
    #[must_use]
    pub fn from_angles(field: f64, azimuth: f64, radius: f64) -> Option<Self> {
        let (sine, cosine) = field.sin_cos();
        Self::new(DVec3::new(-sine * azimuth.cos(), -sine * azimuth.sin(), cosine), radius)
    }

    /// Direction of travel, a unit vector.
    #[must_use]
    pub const fn direction(&self) -> DVec3 {
        self.direction
    }

    /// Angular radius (rad) of the source.
    #[must_use]
    pub const fn radius(&self) -> f64 {
        self.radius
    }

    /// Slopes `dx/dz` and `dy/dz`.
    #[must_use]
    pub fn slope(&self) -> DVec2 {
        self.direction.truncate() / self.direction.z
    }

    /// Unit vectors perpendicular to the beam: the first lies in the plane of beam and axis, or, if
    /// `level`, is as horizontal as possible.
    pub fn across(&self, level: bool) -> [DVec3; 2] {
        let aside = self
            .direction
            .truncate()
            .try_normalize()
            .filter(|_| !level)
            .unwrap_or(DVec2::X)
            .extend(0.0);
        let first = (aside - self.direction * aside.dot(self.direction)).normalize();
        [first, self.direction.cross(first)]
    }
}
