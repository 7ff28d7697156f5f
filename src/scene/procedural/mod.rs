//! Procedural geometry, textures and built-in scenes.
pub mod atrium;
mod atrium_parts;
mod atrium_plan;
pub mod cornell;
pub mod corridor;
pub mod courtyard;
pub mod demos;
pub mod field;
pub mod hall;
mod kit;
pub mod lens_portrait;
pub mod light_room;
pub mod meter;
pub mod petals;
pub mod random;
pub mod shapes;
pub mod solids;
pub mod still_life;
pub mod street;
pub mod textures;

pub use atrium::{ATRIUM_LOOK, atrium};
pub use hall::{HALL_LOOK, hall};
pub use still_life::still_life;

use crate::scene::{Scene, build::SceneError};

/// Prefix of the names of built-in scenes.
pub const PREFIX: &str = "builtin:";

/// A built-in scene.
#[derive(Clone, Copy, Debug)]
pub struct BuiltinScene {
    /// Name, after `PREFIX`.
    pub name: &'static str,
    /// Description, a few words.
    pub about: &'static str,
    /// True if it plays from its beginning if no time is given.
    pub animated: bool,
    make: fn() -> Result<(Scene, String), SceneError>,
}

impl BuiltinScene {
    const fn new(
        name: &'static str,
        about: &'static str,
        make: fn() -> Result<(Scene, String), SceneError>,
    ) -> Self {
        Self { name, about, animated: false, make }
    }

    /// All built-in scenes.
    pub const ALL: [Self; 10] = [
        Self::new("still_life", "a table-top under five lamps", || {
            still_life().map(|made| (made.look(), made.scene)).map(|(look, scene)| (scene, look))
        }),
        Self {
            animated: true,
            ..Self::new("petals", "a tree in the wind", || {
                petals::petals(petals::COUNT).map(|scene| (scene, petals::LOOK.into()))
            })
        },
        Self::new("atrium", "a sunlit court with arcades and cloth, 250,000 triangles", || {
            atrium().map(|scene| (scene, ATRIUM_LOOK.into()))
        }),
        Self::new("corridor", "a lit corridor and a dark room behind its closed door", || {
            corridor::corridor().map(|scene| (scene, corridor::LOOK.into()))
        }),
        Self::new("cornell", "the Cornell box under its panel", || {
            let panel = cornell::cornell(cornell::CornellVariant::Panel);
            panel.map(|scene| (scene, cornell::LOOK.into()))
        }),
        Self::new("street", "a shopping street after rain under 152 lamps", || {
            street::street().map(|scene| (scene, street::LOOK.into()))
        }),
        Self::new("courtyard", "a walled court with a channel of water around columns", || {
            courtyard::courtyard().map(|scene| (scene, courtyard::LOOK.into()))
        }),
        Self::new("lens", "the portrait of a lens that faces the sun", || {
            lens_portrait::lens_portrait().map(|scene| (scene, lens_portrait::LOOK.into()))
        }),
        Self::new("light_room", "a meeting room of known reflectances and lumens", || {
            light_room::light_room().map(|scene| (scene, light_room::LOOK.into()))
        }),
        Self::new("atrium_lamps", "the atrium by the light of 36 lanterns", || {
            atrium::atrium_by_lamp_light().map(|scene| (scene, atrium::LAMPS_LOOK.into()))
        }),
    ];

    /// The built-in scene with a name, without the prefix.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|builtin| builtin.name == name)
    }

    /// Builds the scene and its look file.
    ///
    /// # Errors
    /// `SceneError` if the scene breaks an invariant of the scene model; tests exclude it.
    pub fn make(self) -> Result<(Scene, String), SceneError> {
        (self.make)()
    }
}
