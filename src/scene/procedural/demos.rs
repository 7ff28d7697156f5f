//! The demo scenes: built-in scenes for a first look, each with a look, a thumbnail and a section
//! of docs/demos.md.

use super::BuiltinScene;

/// A demo scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demo {
    /// Name of the built-in scene, after `builtin:`.
    pub name: &'static str,
    /// Title, for display.
    pub title: &'static str,
    /// Description, one sentence.
    pub about: &'static str,
    /// Time of the thumbnail (s); `None` without animation.
    pub time: Option<f64>,
    /// Reason why the exposure differs by more than a stop from the meter's; `None` if it does not.
    pub exposure_note: Option<&'static str>,
}

impl Demo {
    const fn new(name: &'static str, title: &'static str, about: &'static str) -> Self {
        Self { name, title, about, time: None, exposure_note: None }
    }

    /// All demos, in the gallery's order.
    pub const ALL: [Self; 10] = [
        Self::new(
            "still_life",
            "Still life",
            "A table-top with metals, glazes, a gray card and a color chart under five lamps of known lumens.",
        ),
        Self::new(
            "cornell",
            "Cornell box",
            "The published box: red and green walls color the areas that the panel does not reach.",
        ),
        Self::new(
            "light_room",
            "Light room",
            "A meeting room of reflectances 0.2, 0.5 and 0.8 under six panels of 3,600 lm, for checking numbers.",
        ),
        Self::new(
            "atrium",
            "Atrium by day",
            "A court with arcades and cloth, whose galleries get indirect light only.",
        ),
        Self::new(
            "atrium_lamps",
            "Atrium by lamp light",
            "The same court at night by 36 lanterns of 470 lm at 2,400 K.",
        ),
        Self::new(
            "courtyard",
            "Courtyard with a channel",
            "Orange trees, glazed tiles and a channel of clear water around five columns.",
        ),
        Self::new(
            "street",
            "Night street after rain",
            "Street lamps, shop windows, neon and strings of bulbs, and a wet road that reflects them.",
        ),
        Self {
            exposure_note: Some(
                "the sun is in the picture: the exposure is for the scene it lights",
            ),
            ..Self::new(
                "lens",
                "A lens facing the sun",
                "A double Gauss on a garden wall against a low sun, with ghosts and a starburst from the camera's own lens.",
            )
        },
        Self {
            time: Some(2.0),
            ..Self::new(
                "petals",
                "Falling petals",
                "A tree in the wind that sheds ten thousand petals.",
            )
        },
        Self::new(
            "corridor",
            "Corridor",
            "A lit corridor and a dark room behind its closed door, which stays free of light leaks.",
        ),
    ];

    /// The demo with a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|demo| demo.name == name)
    }

    /// The built-in scene that it shows.
    #[must_use]
    pub fn builtin(self) -> Option<BuiltinScene> {
        BuiltinScene::named(self.name)
    }

    /// Its 640x360 thumbnail, as JPEG; not every demo has one.
    #[must_use]
    pub fn picture(self) -> Option<&'static [u8]> {
        macro_rules! pictures {
            ($($name:literal)*) => {
                match self.name {
                    $($name => Some(include_bytes!(concat!("../../../assets/demos/", $name, ".jpg")).as_slice()),)*
                    _ => None,
                }
            };
        }
        pictures!("still_life" "cornell" "light_room" "atrium" "atrium_lamps" "courtyard" "street" "lens" "petals" "corridor")
    }

    /// Text of its camera path, a flight of a few seconds (`session::CameraPath`).
    #[must_use]
    pub fn camera_path(self) -> Option<&'static str> {
        macro_rules! paths {
            ($($name:literal)*) => {
                match self.name {
                    $($name => Some(include_str!(concat!("../../../assets/demos/", $name, ".path.toml"))),)*
                    _ => None,
                }
            };
        }
        paths!("still_life" "cornell" "light_room" "atrium" "atrium_lamps" "courtyard" "street" "lens" "petals" "corridor")
    }

    /// Its section in the documentation.
    #[must_use]
    pub fn page(self) -> String {
        format!("docs/demos.md#{}", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_demo_has_a_scene_and_a_section() {
        let page = include_str!("../../../docs/demos.md");
        for demo in Demo::ALL {
            assert_eq!(demo.builtin().map(|builtin| builtin.name), Some(demo.name));
            assert!(page.contains(&format!("## {}\n", demo.name)), "{} has no section", demo.name);
            assert!(demo.about.ends_with('.') && !demo.title.is_empty());
        }
        assert!(Demo::named("nothing").is_none());
    }
}
