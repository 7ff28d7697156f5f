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
    /// All demos, in the gallery's order.
    pub const ALL: [Self; 10] = [
        Self {
            name: "still_life",
            title: "Still life",
            about: "A table-top with metals, glazes, a gray card and a color chart under five lamps of known lumens.",
            time: None,
            exposure_note: None,
        },
        Self {
            name: "cornell",
            title: "Cornell box",
            about: "The published box: red and green walls color the areas that the panel does not reach.",
            time: None,
            exposure_note: None,
        },
        Self {
            name: "light_room",
            title: "Light room",
            about: "A meeting room of reflectances 0.2, 0.5 and 0.8 under six panels of 3,600 lm, for checking numbers.",
            time: None,
            exposure_note: None,
        },
        Self {
            name: "atrium",
            title: "Atrium by day",
            about: "A court with arcades and cloth, whose galleries get indirect light only.",
            time: None,
            exposure_note: None,
        },
        Self {
            name: "atrium_lamps",
            title: "Atrium by lamp light",
            about: "The same court at night by 36 lanterns of 470 lm at 2,400 K.",
            time: None,
            exposure_note: None,
        },
        Self {
            name: "courtyard",
            title: "Courtyard with a channel",
            about: "Orange trees, glazed tiles and a channel of clear water around five columns.",
            time: None,
            exposure_note: None,
        },
        Self {
            name: "street",
            title: "Night street after rain",
            about: "Street lamps, shop windows, neon and strings of bulbs, and a wet road that reflects them.",
            time: None,
            exposure_note: None,
        },
        Self {
            name: "lens",
            title: "A lens facing the sun",
            about: "A double Gauss on a garden wall against a low sun, with ghosts and a starburst from the camera's own lens.",
            time: None,
            exposure_note: Some(
                "the sun is in the picture: the exposure is for the scene it lights",
            ),
        },
        Self {
            name: "petals",
            title: "Falling petals",
            about: "A tree in the wind that sheds ten thousand petals.",
            time: Some(2.0),
            exposure_note: None,
        },
        Self {
            name: "corridor",
            title: "Corridor",
            about: "A lit corridor and a dark room behind its closed door, which stays free of light leaks.",
            time: None,
            exposure_note: None,
        },
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

    /// Its 320x180 thumbnail, as JPEG; not every demo has one.
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

    /// Its section in the documentation.
    #[must_use]
    pub fn page(self) -> String {
        format!("docs/demos.md#{}", self.name)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
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
