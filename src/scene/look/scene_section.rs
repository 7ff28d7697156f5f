//! `scene.*`: what a look adds to a scene, and what it selects of the file.

use crate::{
    scene::emissive::DEFAULT_MAX_EMISSIVE_LIGHTS,
    settings::{Accepts, Choice, DefaultLight, define::section},
};

section! {
    /// Overrides of the scene as a whole.
    pub struct SceneLook in "scene" {
        animation: String = "auto".to_owned(), accepts Accepts::Name,
            "animation that --time plays: auto, all, a name or a number; auto plays all, or only the first if two animate the same property";
        default_light: DefaultLight,
            accepts Accepts::OneOf(&[Accepts::Choice(DefaultLight::NAMES), Accepts::Bool]),
            "light of a scene without any: studio, a neutral environment of soft panels; sun, from behind the camera, with a sky; false, none. If set, a scene with lights gets it too";
        emissive_lights: bool = true, "true or false: emissive surfaces light others";
        max_emissive_lights: u32 = DEFAULT_MAX_EMISSIVE_LIGHTS, in 1..=65_536,
            "maximum number of lights that stand for emissive triangles, 1 to 65536, e.g. 512; more are merged with their neighbors, except that one remains for each of 24 directions";
        multiscatter: bool = false,
            "true or false: multiple scattering between microfacets keeps the energy of rough surfaces";
        scale: f64 = 1.0, in 1e-6..=1e6, unit "m",
            "meters per unit of the file, 0.000001 to 1000000, e.g. 0.01 for centimeters; strengths and sizes of lights stay, and positions in a look are meters (with a parent: units of the file)";
        variant: String, "material variant of the file, by name or number (#0)";
    }
}
