//! Suns through the surface of water. No ray from the floor to a sun goes straight on, and few of those that leave by chance find its disk
//! behind the surface. So half of what leaves a matte surface in water goes towards where suns seem to be from below, whose
//! density all is weighed by: any density would be right, and where ripples bend light elsewhere this one only helps less.

use glam::{DVec2, DVec3};

use super::{
    bsdf::{Bsdf, Sampled},
    integrator::Walk,
    media::Media,
    shading::Frame,
    world::World,
};
use crate::{photometry::water::IOR, reference::integrator::Strategy};

/// What three standard deviations of slopes turn the refracted light by, a slope.
const TURNED: f64 = 3.0 * (IOR - 1.0) / IOR;

/// Cones in which suns are seen from below.
pub(super) struct Guide {
    /// Axis and 1 - cosine of the half angle.
    cones: Vec<(DVec3, f64)>,
}

impl World<'_> {
    /// The guide for a matte surface in a medium; none where there is no water or no sun with a disk stands above it.
    pub(super) fn towards_suns(&self, media: &Media, bsdf: &Bsdf, walk: &Walk) -> Option<Guide> {
        if bsdf.transmission > 0.0 || bsdf.metallic >= 1.0 || walk.strategy == Strategy::Lights {
            return None;
        }
        let water = self.water(media.here()?)?;
        let slopes = water.settings.slope.max(water.settings.slope_still) + water.settings.slope_fine;
        let cone = |(towards, radius): (DVec3, f64)| {
            let low = (towards.y > 0.02).then_some(towards)?;
            let below = DVec3::new(low.x / IOR, 0.0, low.z / IOR);
            let axis = below + DVec3::Y * (1.0 - below.length_squared()).max(0.0).sqrt();
            // A cone of the sun's own width holds it refracted: it is narrower below.
            let half = (radius + TURNED * slopes + 1e-3).min(1.2);
            Some((axis, 2.0 * (half / 2.0).sin().powi(2)))
        };
        let cones: Vec<_> = self.lights.disks().filter_map(cone).collect();
        (!cones.is_empty()).then_some(Guide { cones })
    }
}

impl Guide {
    fn density(&self, direction: DVec3) -> f64 {
        let of = |(axis, part): &(DVec3, f64)| {
            if 1.0 - axis.dot(direction) < *part { 1.0 / (std::f64::consts::TAU * part) } else { 0.0 }
        };
        self.cones.iter().map(of).sum::<f64>() / self.cones.len() as f64
    }

    /// As `Bsdf::density`.
    pub(super) fn density_of(&self, bsdf: &Bsdf, (frame, v): (&Frame, DVec3), l: DVec3) -> f64 {
        0.5 * bsdf.density(v, l) + 0.5 * self.density(frame.outside(l))
    }

    /// As `Bsdf::sample`.
    pub(super) fn sample(&self, bsdf: &Bsdf, (frame, v): (&Frame, DVec3), lobe: f64, u: DVec2) -> Option<Sampled> {
        let l = if lobe < 0.5 {
            bsdf.sample(v, lobe * 2.0, u)?.l
        } else {
            let which = ((lobe - 0.5) * 2.0 * self.cones.len() as f64) as usize;
            let &(axis, part) = self.cones.get(which.min(self.cones.len() - 1))?;
            let low = u.x * part;
            let across = (low * (2.0 - low)).max(0.0).sqrt();
            let (sin, cos) = (std::f64::consts::TAU * u.y).sin_cos();
            let about = Frame::new(axis);
            frame.inside(about.outside(DVec3::new(across * cos, across * sin, 1.0 - low)))
        };
        let density = self.density_of(bsdf, (frame, v), l);
        let weight = bsdf.evaluate(v, l);
        (density > 0.0 && weight.total() != DVec3::ZERO).then(|| Sampled {
            l,
            weight: weight.over(density),
            density: Some(density),
            bent: 1.0,
        })
    }
}
