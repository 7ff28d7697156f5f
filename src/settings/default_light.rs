//! `scene.default_light`: the light of scenes that have none.

use super::choices::{Choice, setting_by_name};

/// Light that is added to a scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultLight {
    /// A neutral studio: an environment of soft panels.
    Studio,
    /// A sun from behind the camera, and a sky.
    Sun,
    /// None.
    None,
}

impl Choice for DefaultLight {
    const NAMES: &'static [&'static str] = &["studio", "sun", "false"];

    fn from_name(name: &str) -> Option<Self> {
        match name {
            "studio" => Some(Self::Studio),
            "sun" => Some(Self::Sun),
            "false" => Some(Self::None),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Studio => "studio",
            Self::Sun => "sun",
            Self::None => "false",
        }
    }
}

setting_by_name!(DefaultLight);
