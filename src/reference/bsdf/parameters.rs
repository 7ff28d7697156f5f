//! Scattering parameters at a point of a surface.

use glam::DVec3;

use super::{coat::Coat, sheen::Sheen, thin_film::ThinFilm};

/// The far side of glass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GlassInterface {
    /// A thin wall with the same medium on both sides: no refraction.
    ThinWalled {
        /// Index of refraction of the wall over that of its environment.
        eta: f64,
    },
    /// The boundary of a volume, from either side.
    VolumeBoundary {
        /// Index of refraction beyond the surface over that on the side of the view.
        eta: f64,
    },
}

/// The BSDF at a point of a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bsdf {
    /// Linear base color, 0 to 1.
    pub base_color: DVec3,
    /// Metalness: 0 dielectric to 1 metal.
    pub metallic: f64,
    /// Alpha: roughness squared, 0 to 1.
    pub alpha: f64,
    /// Reflectance of the opaque dielectric at normal incidence: 0.04 for an index of 1.5. With 0,
    /// for an index of 1, there is no interface: no reflection at any angle, and only Lambert's law
    /// remains.
    pub f0: f64,
    /// Fraction of the dielectric that is glass, 0 to 1.
    pub transmission: f64,
    /// The far side of the glass.
    pub interface: GlassInterface,
    /// Strength of the dielectric's reflection at every angle, 0 to 1 (KHR_materials_specular).
    pub specular: f64,
    /// Tint of the dielectric's reflectance at normal incidence, at least 0.
    pub specular_color: DVec3,
    /// Strength of anisotropy along the tangent, 0 to 1 (KHR_materials_anisotropy).
    pub anisotropy: f64,
    /// Thin film on the surface (KHR_materials_iridescence).
    pub thin_film: Option<ThinFilm>,
    /// Fraction of diffuse light that is transmitted, 0 to 1 (KHR_materials_diffuse_transmission).
    pub diffuse_transmission: f64,
    /// Color of diffuse transmission, 0 to 1.
    pub diffuse_transmission_color: DVec3,
    /// Sheen over the base (KHR_materials_sheen).
    pub sheen: Option<Sheen>,
    /// Clearcoat over all other lobes.
    pub coat: Option<Coat>,
    /// Metal and opaque dielectric include multiple scattering between microfacets.
    pub multiscatter: bool,
}

impl Default for Bsdf {
    /// White, fully rough, of index 1.5.
    fn default() -> Self {
        Self {
            base_color: DVec3::ONE,
            metallic: 0.0,
            alpha: 1.0,
            f0: 0.04,
            transmission: 0.0,
            interface: GlassInterface::ThinWalled { eta: 1.5 },
            specular: 1.0,
            specular_color: DVec3::ONE,
            anisotropy: 0.0,
            thin_film: None,
            diffuse_transmission: 0.0,
            diffuse_transmission_color: DVec3::ONE,
            sheen: None,
            coat: None,
            multiscatter: false,
        }
    }
}
