//! The selected item of the scene.

/// The selected item.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Selection {
    /// The camera.
    #[default]
    Camera,
    /// A light, by its name.
    Light(String),
    /// Sky, sun and maps.
    Environment,
    /// A material, by its name.
    Material(String),
    /// A water surface, by its name in the look.
    Water(String),
    /// A volume, by its name in the look.
    Volume(String),
    /// Passes and camera effects.
    Effects,
}

impl Selection {
    /// The light's name, if a light is selected.
    #[must_use]
    pub fn light_name(&self) -> Option<&str> {
        if let Self::Light(name) = self { Some(name) } else { None }
    }

    /// The water's name, if a water surface is selected.
    #[must_use]
    pub fn water_name(&self) -> Option<&str> {
        if let Self::Water(name) = self { Some(name) } else { None }
    }
}
