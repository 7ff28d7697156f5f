//! Light of a path, split into components, with access to them by name and by index.

use glam::DVec3;

use super::bsdf::BsdfValue;

/// Radiance of one path (nits per channel), split into components that add up to the total.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LightComponents {
    /// Directly visible emission, volumes included.
    pub emission: DVec3,
    /// Direct light, reflected diffusely by the visible surface.
    pub direct_diffuse: DVec3,
    /// Direct light, reflected specularly by the visible surface.
    pub direct_specular: DVec3,
    /// Direct light, transmitted by the visible surface, or scattered once by a volume.
    pub direct_transmission: DVec3,
    /// Indirect light, reflected diffusely by the visible surface.
    pub indirect_diffuse: DVec3,
    /// Indirect light, reflected specularly by the visible surface.
    pub indirect_specular: DVec3,
    /// Indirect light, transmitted by the visible surface, or first scattered by a volume.
    pub indirect_transmission: DVec3,
    /// Base color of a visible unlit surface, as a fraction of the luminance that the camera
    /// renders white. It is no light and not part of the total.
    pub unlit: DVec3,
}

impl LightComponents {
    /// Sum of all light components (nits per channel).
    #[must_use]
    pub fn total(&self) -> DVec3 {
        self.emission
            + self.direct_diffuse
            + self.direct_specular
            + self.direct_transmission
            + self.indirect_diffuse
            + self.indirect_specular
            + self.indirect_transmission
    }

    /// Adds light after `surfaces` scattering events, the first of which was `first`.
    pub(super) fn add(&mut self, light: DVec3, surfaces: u32, first: &FirstScatter) {
        let (diffuse, transmission) = (light * first.diffuse, light * first.transmission);
        let specular = light - diffuse - transmission;
        match surfaces {
            0 => self.emission += light,
            1 => {
                self.direct_diffuse += diffuse;
                self.direct_specular += specular;
                self.direct_transmission += transmission;
            }
            _ => {
                self.indirect_diffuse += diffuse;
                self.indirect_specular += specular;
                self.indirect_transmission += transmission;
            }
        }
    }
}

/// Component shares of the path's first scattering event, per channel; specular reflection has the
/// rest.
#[derive(Clone, Copy, Default)]
pub(super) struct FirstScatter {
    pub(super) diffuse: DVec3,
    pub(super) transmission: DVec3,
}

impl FirstScatter {
    pub(super) fn of(scattered: &BsdfValue) -> Self {
        let total = scattered.total();
        let share = |part: DVec3| {
            DVec3::from_array(std::array::from_fn(|i| {
                if total[i] > 0.0 { part[i] / total[i] } else { 0.0 }
            }))
        };
        Self { diffuse: share(scattered.diffuse), transmission: share(scattered.transmitted) }
    }
}

/// Number of light components.
pub const LIGHT_COMPONENTS: usize = 7;

impl LightComponents {
    /// Names of the components, as in the layers of image files.
    pub const NAMES: [&'static str; LIGHT_COMPONENTS] = [
        "emission",
        "direct_diffuse",
        "direct_specular",
        "direct_transmission",
        "indirect_diffuse",
        "indirect_specular",
        "indirect_transmission",
    ];

    /// All components, in the order of `NAMES`.
    #[must_use]
    pub const fn to_array(&self) -> [DVec3; LIGHT_COMPONENTS] {
        [
            self.emission,
            self.direct_diffuse,
            self.direct_specular,
            self.direct_transmission,
            self.indirect_diffuse,
            self.indirect_specular,
            self.indirect_transmission,
        ]
    }

    /// From all components in the order of `NAMES`; `unlit` is zero.
    #[must_use]
    pub const fn from_array(parts: [DVec3; LIGHT_COMPONENTS]) -> Self {
        let [
            emission,
            direct_diffuse,
            direct_specular,
            direct_transmission,
            indirect_diffuse,
            indirect_specular,
            indirect_transmission,
        ] = parts;
        Self {
            emission,
            direct_diffuse,
            direct_specular,
            direct_transmission,
            indirect_diffuse,
            indirect_specular,
            indirect_transmission,
            unlit: DVec3::ZERO,
        }
    }
}
