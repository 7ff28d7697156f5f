//! Suns through a water surface. Refraction bends shadow rays from the floor to a sun, and few
//! BSDF-sampled rays find its disk behind the surface. So half of the samples of a diffuse surface
//! in water go to the apparent directions of suns as seen from below, combined with the other half
//! by density. Any density is unbiased; where ripples bend light elsewhere, this one only helps
//! less.

use glam::{DVec2, DVec3};

use super::{
    bsdf::{Bsdf, BsdfEvaluator, BsdfSample, BsdfValue},
    media::MediaStack,
    path_settings::{PathSettings, SamplingStrategy},
    shading::ShadingFrame,
    world::World,
};
use crate::photometry::water::IOR;

/// Deflection of refracted light at three standard deviations of the surface slope, per unit of
/// slope.
const TURNED: f64 = 3.0 * (IOR - 1.0) / IOR;

/// Cones around the apparent suns as seen from below.
pub(super) struct SunGuide {
    /// Axis, and 1 - cosine of the half angle.
    cones: Vec<(DVec3, f64)>,
}

impl World<'_> {
    /// The guide of a diffuse surface in a medium; `None` without water or a sun with a disk above
    /// it.
    pub(super) fn sun_guide(
        &self,
        media: &MediaStack,
        bsdf: &Bsdf,
        walk: &PathSettings,
    ) -> Option<SunGuide> {
        if bsdf.transmission > 0.0
            || bsdf.metallic >= 1.0
            || walk.strategy == SamplingStrategy::Lights
        {
            return None;
        }
        self.suns_from_below(media)
    }

    pub(super) fn suns_from_below(&self, media: &MediaStack) -> Option<SunGuide> {
        let water = self.water(media.current()?)?;
        let slopes =
            water.settings.slope.max(water.settings.slope_still) + water.settings.slope_fine;
        let cone = |(towards, radius): (DVec3, f64)| {
            let low = (towards.y > 0.02).then_some(towards)?;
            let below = DVec3::new(low.x / IOR, 0.0, low.z / IOR);
            let axis = below + DVec3::Y * (1.0 - below.length_squared()).max(0.0).sqrt();
            // A cone of the sun's angular radius contains its refracted disk, which is narrower.
            let half = (radius + TURNED * slopes + 1e-3).min(1.2);
            Some((axis, 2.0 * (half / 2.0).sin().powi(2)))
        };
        let cones: Vec<_> = self.lights.disks().filter_map(cone).collect();
        (!cones.is_empty()).then_some(SunGuide { cones })
    }
}

impl SunGuide {
    pub(super) fn pdf(&self, direction: DVec3) -> f64 {
        let of = |(axis, part): &(DVec3, f64)| {
            if 1.0 - axis.dot(direction) < *part {
                1.0 / (std::f64::consts::TAU * part)
            } else {
                0.0
            }
        };
        self.cones.iter().map(of).sum::<f64>() / self.cones.len() as f64
    }

    /// Samples a direction in one of the cones.
    pub(super) fn sample_direction(&self, choice: f64, u: DVec2) -> DVec3 {
        let which = (choice * self.cones.len() as f64) as usize;
        let Some(&(axis, part)) = self.cones.get(which.min(self.cones.len() - 1)) else {
            return DVec3::Y;
        };
        let low = u.x * part;
        let across = (low * (2.0 - low)).max(0.0).sqrt();
        let (sin, cos) = (std::f64::consts::TAU * u.y).sin_cos();
        ShadingFrame::new(axis).to_world(DVec3::new(across * cos, across * sin, 1.0 - low))
    }

    /// Like `BsdfEvaluator::evaluate`: BSDF times cosine for light from `l`, and the mixture
    /// density.
    pub(super) fn evaluate(
        &self,
        seen: &BsdfEvaluator<'_>,
        frame: &ShadingFrame,
        l: DVec3,
    ) -> (BsdfValue, f64) {
        let (scattered, density) = seen.evaluate(l);
        (scattered, 0.5 * density + 0.5 * self.pdf(frame.to_world(l)))
    }

    /// Like `BsdfEvaluator::sample`, with the mixture density.
    pub(super) fn sample(
        &self,
        seen: &BsdfEvaluator<'_>,
        frame: &ShadingFrame,
        lobe: f64,
        u: DVec2,
    ) -> Option<BsdfSample> {
        let l = if lobe < 0.5 {
            seen.sample(lobe * 2.0, u)?.l
        } else {
            frame.to_local(self.sample_direction((lobe - 0.5) * 2.0, u))
        };
        let (weight, density) = self.evaluate(seen, frame, l);
        (density > 0.0 && weight.total() != DVec3::ZERO).then(|| BsdfSample {
            l,
            weight: weight.over(density),
            pdf: Some(density),
            eta_scale: 1.0,
        })
    }
}
