//! The specular lobe of the glTF BRDF in double precision: host version of
//! `shaders/lib/brdf.glsl`.

use std::f64::consts::PI;

use glam::{DVec3, dvec3};
use sunny16::photometry::fresnel::schlick_weight;

/// Minimum cosine to the viewer, as in the shader.
const MIN_VIEW_COSINE: f64 = 1e-4;

/// The direction to a viewer from the cosine of its angle to the normal.
#[must_use]
pub fn view_direction(cos: f64) -> DVec3 {
    dvec3((1.0 - cos * cos).max(0.0).sqrt(), 0.0, cos)
}

/// Specular lobe and Fresnel weight for one pair of directions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BrdfWeights {
    /// `D V n.l` in 1/sr: the specular lobe without Fresnel's factor, with the cosine.
    pub specular: f64,
    /// Schlick's `(1 - v.h)^5`, 0 to 1.
    pub schlick: f64,
}

/// Schlick's weight for unit directions to viewer and light: `v.h` is the cosine of half the angle
/// between the two, `sqrt((1 + v.l) / 2)`.
#[must_use]
pub fn schlick_weight_between(view: DVec3, light: DVec3) -> f64 {
    schlick_weight((0.5 * (1.0 + view.dot(light))).clamp(0.0, 1.0).sqrt())
}

/// The specular lobe for unit directions to viewer and light in the surface's frame; `alpha` is the
/// square of roughness.
///
/// `D`: Walter et al. 2007, equation 33. `V`: Heitz 2014, equation 99, over `4 n.l n.v`.
#[must_use]
pub fn specular(view: DVec3, light: DVec3, alpha: f64) -> BrdfWeights {
    let h = view + light;
    let length2 = h.length_squared();
    if light.z <= 0.0 || length2 < 1e-12 {
        return BrdfWeights::default();
    }
    let h = h / length2.sqrt();
    let a2 = alpha * alpha;
    let k = alpha / (h.x * h.x + h.y * h.y + h.z * h.z * a2);
    let (nl, nv) = (light.z, view.z.max(MIN_VIEW_COSINE));
    let v =
        0.5 / (nl * (nv * nv * (1.0 - a2) + a2).sqrt() + nv * (nl * nl * (1.0 - a2) + a2).sqrt());
    BrdfWeights { specular: k * k / PI * v * nl, schlick: schlick_weight_between(view, light) }
}
