//! The parts of light by name, one after another.

use glam::DVec3;

use super::integrator::LightComponents;

/// How many there are.
pub const LIGHT_COMPONENTS: usize = 7;

impl LightComponents {
    /// Their names, as layers of files have them.
    pub const NAMES: [&'static str; LIGHT_COMPONENTS] = [
        "emission",
        "direct_diffuse",
        "direct_specular",
        "direct_transmission",
        "indirect_diffuse",
        "indirect_specular",
        "indirect_transmission",
    ];

    /// All, in the order of their names.
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

    /// From all, in the order of their names; nothing unlit.
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
