//! Fresnel reflectance by Schlick's approximation.

/// Weight of the Fresnel reflectance with F90 = 1: `(1 - v.h)^5`. Schlick 1994, equation 15.
#[must_use]
pub fn schlick_weight(vh: f64) -> f64 {
    (1.0 - vh).clamp(0.0, 1.0).powi(5)
}
