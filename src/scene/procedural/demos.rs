//! The demo scenes: built-in scenes that people open first, each with its look, a thumbnail and a
//! section of docs/demos.md.

use super::BuiltinScene;

/// A demo scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demo {
    /// The built-in scene's name, after `builtin:`.
    pub name: &'static str,
    /// For people.
    pub title: &'static str,
    /// What there is to see, in one sentence.
    pub about: &'static str,
    /// When it is pictured (s), where it is played.
    pub time: Option<f64>,
    /// Why its dials are more than a stop off what the meter says; none where they are not.
    pub exposure_note: Option<&'static str>,
}

impl Demo {
    /// All of them, in the gallery's order.
    pub const ALL: [Self; 10] = [
        Self {
            name: "still_life",
            title: "Still life",
            about: "A table-top with metals, glazes, a grey card and a color chart under five lamps of known lumens.",
            time: None,
            exposure_note: None,
        },
        Self {
            name: "cornell",
            title: "Cornell box",
            about: "The published box: red and green walls color what the panel does not reach.",
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
            about: "A court with arcades and cloth, whose galleries have light only from what the sun falls on.",
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
            about: "Street lamps, shop windows, neon and strings of bulbs, and a wet road that shows them again.",
            time: None,
            exposure_note: None,
        },
        Self {
            name: "lens",
            title: "A lens facing the sun",
            about: "A double Gauss on a garden wall against a low sun, which the camera's own lens answers with ghosts and spikes.",
            time: None,
            exposure_note: Some(
                "the sun is in the picture: dials are for what it lights, not for it",
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
            about: "A lit corridor and a dark room behind its closed door, into which no light may leak.",
            time: None,
            exposure_note: None,
        },
    ];

    /// The demo of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|demo| demo.name == name)
    }

    /// The scene that it shows.
    #[must_use]
    pub fn builtin(self) -> Option<BuiltinScene> {
        BuiltinScene::named(self.name)
    }

    /// Its picture of 320x180 within the repository; not every demo has been pictured.
    #[must_use]
    pub fn thumbnail(self) -> String {
        format!("assets/demos/{}.jpg", self.name)
    }

    /// That picture, as a JPEG.
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

    /// Its section of the documents.
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
