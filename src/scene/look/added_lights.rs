//! `lights.NAME.add`: lights that the look adds to a scene.

use std::collections::BTreeMap;

use glam::DMat4;

use super::{LightLook, LookError, lights::LightShape, suggestions::parent_node};
use crate::{
    photometry::{
        Lumen, Lux,
        lights::{Emitter, LightStrength, PhysicalLight},
    },
    scene::{Light, Node, Note, Scene, address::AddressTable},
};

/// Strength of an added light without one, as of a studio lamp; suns have [`SUN`].
const LAMP: Lumen = Lumen(1000.0);

/// Illuminance of an added sun without one, as in haze.
const SUN: Lux = Lux(10_000.0);

fn invalid(name: &str, property: &str, value: &str, expected: impl Into<String>) -> LookError {
    LookError::bad_value(format!("lights.{name}.{property}"), value, expected)
}

/// A light to add.
struct AddedLight {
    node: Node,
    /// `None` if it is switched off.
    light: Option<Light>,
    notes: Vec<Note>,
}

/// Adds the lights of `lights.NAME.add` to a scene, each at a node of its own.
///
/// # Errors
/// A name that the scene has already; a light without a place; a parent that does not exist, or
/// of a light of the file; invalid light settings.
pub(super) fn apply(
    looks: &BTreeMap<String, LightLook>,
    scene: &mut Scene,
) -> Result<(), LookError> {
    // All are made before any is added: names and parents are those of the file.
    let mut made = Vec::new();
    for (name, look) in looks {
        if look.add() {
            made.push(added(name, look, scene)?);
        } else if let Some(parent) = &look.parent {
            let expected = format!(
                "a light of the file stays at its own node; remove parent, or set \
                 lights.{name}.add = true for a light that the file lacks"
            );
            return Err(invalid(name, "parent", parent, expected));
        }
    }
    for AddedLight { mut node, light, notes } in made {
        let index = scene.nodes.len();
        if let Some(light) = light {
            node.light = Some(scene.lights.len());
            scene.lights.push(light);
        }
        match node.parent.and_then(|parent| scene.nodes.get_mut(parent)) {
            Some(parent) => parent.children.push(index),
            None => scene.roots.push(index),
        }
        scene.nodes.push(node);
        scene.notes.extend(notes);
    }
    Ok(())
}

fn added(name: &str, look: &LightLook, scene: &Scene) -> Result<AddedLight, LookError> {
    if !AddressTable::lights(scene).find(name).is_empty() {
        let expected = "the scene has a light of this name already; remove add to change that \
                        light, or choose another name";
        return Err(invalid(name, "add", "true", expected));
    }
    let shape = look.shape.unwrap_or(LightShape::Point);
    // A sun is at infinity.
    let (place, has_place) = match shape {
        LightShape::Sun => ("aim", look.aim.is_some()),
        _ => ("position", look.position.is_some()),
    };
    if !has_place && look.parent.is_none() {
        let expected = format!("expected lights.{name}.{place} too, or lights.{name}.parent");
        return Err(invalid(name, "add", "true", expected));
    }
    let parent = match &look.parent {
        Some(address) => Some(parent_node(scene, &format!("lights.{name}"), address)?),
        None => None,
    };
    let local = look.posed(name, DMat4::IDENTITY)?;
    let node = Node { name: name.into(), parent, local, ..Node::default() };
    if !look.enabled() {
        return Ok(AddedLight { node, light: None, notes: Vec::new() });
    }
    let source = match shape {
        LightShape::Sun => PhysicalLight::new(Emitter::PARALLEL, LightStrength::Lux(SUN)),
        _ => PhysicalLight::new(Emitter::Point, LightStrength::Lumens(LAMP)),
    };
    let mut light =
        Light::new(name, source.map_err(|error| LookError::Light { name: name.into(), error })?);
    look.change(name, &mut light)?;
    let notes = look.ignored(name, light.emitter());
    Ok(AddedLight { node, light: Some(light), notes })
}

#[cfg(test)]
mod tests {
    use glam::{DVec3, Vec3};

    use super::*;
    use crate::{
        photometry::Candela,
        scene::{build::SceneBuilder, look::Look},
    };

    /// A scene with a light 'Key' and a node 'Arm', moved by 1 m along X and scaled by 2.
    fn scene() -> Scene {
        let mut builder = SceneBuilder::new("arm");
        builder.point_light_candela("Key", Candela(100.0), Vec3::ONE, DVec3::Y);
        let arm = DMat4::from_translation(DVec3::X) * DMat4::from_scale(DVec3::splat(2.0));
        builder.add_node("Arm", arm);
        builder.add_node("Twin", DMat4::IDENTITY);
        builder.add_node("Twin", DMat4::IDENTITY);
        builder.build().unwrap()
    }

    fn with(settings: &[&str]) -> Result<Scene, LookError> {
        let mut scene = scene();
        Look::of(settings)?.apply(&mut scene)?;
        Ok(scene)
    }

    fn world_of(scene: &Scene, name: &str) -> DMat4 {
        scene.walk().into_iter().find(|placed| placed.node.name == name).unwrap().world
    }

    #[test]
    fn added_lights_have_a_place_a_kind_and_a_strength() {
        let scene = with(&["lights.Rim.add=true", "lights.Rim.position=0 2 0"]).unwrap();
        let light = scene.lights.last().unwrap();
        assert_eq!((light.name.as_str(), light.emitter()), ("Rim", Emitter::Point));
        assert_eq!(light.source.authored(), LightStrength::Lumens(Lumen(1000.0)));
        assert_eq!(world_of(&scene, "Rim").w_axis.truncate(), DVec3::new(0.0, 2.0, 0.0));
        // In any order, and beside a change of a light of the file.
        let settings = [
            "lights.Box.height=0.5",
            "lights.Key.lumens=5",
            "lights.Box.aim=0 0 0",
            "lights.Box.shape=rectangle",
            "lights.Box.nits=700",
            "lights.Box.position=0 0 3",
            "lights.Box.width=2",
            "lights.Box.add=true",
        ];
        let scene = with(&settings).unwrap();
        let light = scene.lights.iter().find(|light| light.name == "Box").unwrap();
        assert!(matches!(light.emitter(), Emitter::Rectangle { width: 2.0, height: 0.5, .. }));
        let forward = -world_of(&scene, "Box").z_axis.truncate();
        assert!((forward + DVec3::Z).length() < 1e-12, "{forward}");
        let sun = ["lights.Day.add=true", "lights.Day.shape=sun", "lights.Day.aim=0 -1 0"];
        let scene = with(&sun).unwrap();
        let light = scene.lights.last().unwrap();
        assert_eq!(light.source.authored(), LightStrength::Lux(Lux(10_000.0)));
        assert_eq!(scene.nodes.iter().filter(|node| node.light.is_some()).count(), 2);
    }

    #[test]
    fn a_parent_carries_an_added_light() {
        let settings =
            ["lights.Rim.add=true", "lights.Rim.parent=Arm", "lights.Rim.position=0 1 0"];
        let mut scene = with(&settings).unwrap();
        assert_eq!(world_of(&scene, "Rim").w_axis.truncate(), DVec3::new(1.0, 2.0, 0.0));
        let arm = scene.nodes.iter().position(|node| node.name == "Arm").unwrap();
        scene.nodes[arm].local = DMat4::from_translation(DVec3::Z);
        assert_eq!(world_of(&scene, "Rim").w_axis.truncate(), DVec3::new(0.0, 1.0, 1.0));
        crate::scene::build::check(&scene).unwrap();
        // At the node's origin without a position.
        let scene = with(&settings[..2]).unwrap();
        assert_eq!(world_of(&scene, "Rim").w_axis.truncate(), DVec3::X);
    }

    #[test]
    fn a_disabled_light_keeps_its_node() {
        let settings =
            ["lights.Rim.add=true", "lights.Rim.position=0 1 0", "lights.Rim.enabled=false"];
        let scene = with(&settings).unwrap();
        assert_eq!(scene.lights.len(), 1);
        assert!(scene.nodes.iter().any(|node| node.name == "Rim" && node.light.is_none()));
    }

    #[test]
    fn what_cannot_be_added_is_named_with_its_remedy() {
        let rim = "lights.Rim.add=true";
        let at = "lights.Rim.position=0 1 0";
        for (settings, wanted) in [
            (&["lights.Key.add=true"][..], ["lights.Key.add = true", "already"]),
            (&["lights.#0.add=true"], ["lights.#0.add = true", "already"]),
            (&[rim], ["lights.Rim.add = true", "expected lights.Rim.position too"]),
            (&[rim, "lights.Rim.shape=sun", at], ["lights.Rim.add = true", "lights.Rim.aim"]),
            (&[rim, at, "lights.Rim.shape=disk"], ["lights.Rim.shape", "lights.Rim.radius"]),
            (&[rim, at, "lights.Rim.lux=5"], ["lights.Rim", "given in lx"]),
            (&[rim, at, "lights.Rim.aim=0 1 0"], ["lights.Rim.aim", "another point"]),
            (&[rim, "lights.Rim.parent=Arn"], ["lights.Rim.parent = Arn", "nearest: Arm"]),
            (&[rim, "lights.Rim.parent=Twin"], ["lights.Rim.parent = Twin", "Twin#1"]),
            (&["lights.Key.parent=Arm"], ["lights.Key.parent = Arm", "lights.Key.add = true"]),
        ] {
            let error = with(settings).unwrap_err();
            assert!(
                matches!(error, LookError::BadValue { .. } | LookError::Light { .. }),
                "{settings:?}: {error:?}"
            );
            let text = error.to_string();
            assert!(wanted.iter().all(|part| text.contains(part)), "{settings:?}: {text}");
        }
        let unknown = with(&["lights.Kay.lumens=5"]).unwrap_err();
        assert!(matches!(unknown, LookError::UnknownLight { nearest: Some(_), .. }), "{unknown:?}");
        assert_eq!(
            unknown.to_string(),
            "no property 'lights.Kay'; did you mean lights.Key? lights.Kay.add = true adds a \
             light of this name"
        );
        let mut empty = Scene::default();
        let unknown = Look::of(["lights.Kay.lumens=5"]).unwrap().apply(&mut empty).unwrap_err();
        assert!(matches!(unknown, LookError::UnknownLight { nearest: None, .. }), "{unknown:?}");
    }

    #[test]
    fn two_lights_of_one_name_are_an_error_of_the_file() {
        let text = "[lights.Rim]\nadd = true\n[lights.Rim]\nadd = true\n";
        let error = Look::default().parse("a.look.toml", text).unwrap_err();
        let told = error.to_string();
        assert!(matches!(error, LookError::File { .. }) && told.contains("duplicate"), "{told}");
    }
}
