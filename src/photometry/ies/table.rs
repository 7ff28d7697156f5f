//! Tables of intensity that are computed, not read from a file.

use glam::{DVec3, dvec3};
use rayon::prelude::*;

use super::{
    derived::Derived,
    profile::{IesProfile, IesVersion, PhotometricType, Symmetry, Tilt},
};
use crate::photometry::units::Lumen;

impl IesProfile {
    /// A table of type B from an intensity (cd) by direction in the light's space (unit, see the
    /// module): `points` angles each from `-half_angle` to `half_angle` (degrees, below 90), in
    /// equal steps. Directions outside are dark.
    #[must_use]
    pub fn from_directions(
        half_angle: f64,
        points: usize,
        candela: impl Fn(DVec3) -> f64 + Sync,
    ) -> Self {
        let points = points.max(2);
        let step = 2.0 * half_angle / (points - 1) as f64;
        let angles: Vec<f64> = (0..points).map(|i| i as f64 * step - half_angle).collect();
        let values = (0..points * points).into_par_iter().map(|index| {
            let [horizontal, vertical] = [index / points, index % points]
                .map(|i| (i as f64 * step - half_angle).to_radians());
            let ((sin_h, cos_h), (sin_v, cos_v)) = (horizontal.sin_cos(), vertical.sin_cos());
            candela(dvec3(sin_h, cos_h * sin_v, -cos_h * cos_v)).max(0.0)
        });
        Self {
            version: IesVersion::Lm63_2019,
            keywords: Vec::new(),
            tilt: Tilt::None,
            lamps: 1.0,
            lumens_per_lamp: None::<Lumen>,
            kind: PhotometricType::B,
            symmetry: Symmetry::Listed,
            watts: 0.0,
            stated: None,
            vertical: angles.clone(),
            horizontal: angles,
            candela: values.collect(),
            notes: Vec::new(),
            is_computed: true,
            derived: Derived::default(),
        }
    }
}
