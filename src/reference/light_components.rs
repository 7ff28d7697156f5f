//! Access to the light components by name and by index.

use glam::DVec3;

use super::integrator::LightComponents;

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
