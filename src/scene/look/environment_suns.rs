//! Suns of an environment: those of a sky, and the lights extracted from a map.

use glam::{DMat3, DMat4, DQuat, DVec3, Vec3};

use crate::{
    photometry::{
        Lux,
        color::luminance,
        environment::{ExtractedLight, Extraction, ExtractionLimits, RadianceMap},
        lights::{Emitter, LightStrength, PhysicalLight},
    },
    scene::{Light, Node, Note, NoteKind, Scene, build::look_at_transform},
    settings::choices::choices,
};

choices! {
    /// Lights that are extracted from an environment map.
    pub enum EnvironmentExtract {
        /// Those that rays from surfaces would miss.
        Auto = "auto",
        /// None.
        Off = "off",
        /// The strongest one.
        Sun = "sun",
        /// The strongest ones.
        Lights = "lights",
    }
}

/// Adds a sun at a root node of its name. `towards` is the world direction to its center (unit),
/// `illuminance` the light in lx per channel on a plane that faces it. `None` for a black
/// one.
pub(super) fn add_sun<'s>(
    scene: &'s mut Scene,
    name: &str,
    towards: DVec3,
    illuminance: DVec3,
    angular_radius: f64,
) -> Option<&'s mut Light> {
    let lux = luminance(illuminance);
    let source =
        PhysicalLight::new(Emitter::Sun { angular_radius }, LightStrength::Lux(Lux(lux))).ok()?;
    if lux <= 0.0 {
        return None;
    }
    let color = (illuminance / lux).as_vec3().max(Vec3::ZERO);
    let turned = DMat3::from_mat4(look_at_transform(towards, DVec3::ZERO));
    scene.roots.push(scene.nodes.len());
    scene.nodes.push(Node {
        name: name.into(),
        local: DMat4::from_mat3(turned),
        light: Some(scene.lights.len()),
        ..Node::default()
    });
    scene.lights.push(Light { color, ..Light::new(name, source) });
    scene.lights.last_mut()
}

/// Name of an extracted light by its rank from 0.
fn name(rank: usize) -> String {
    if rank == 0 { "environment.sun".into() } else { format!("environment.light_{}", rank + 1) }
}

/// True for the names that extracted lights have.
#[must_use]
pub fn is_extracted_light(address: &str) -> bool {
    let rank = address.strip_prefix("environment.light_").and_then(|rank| rank.parse().ok());
    address == name(0) || rank.is_some_and(|rank: usize| rank > 1)
}

/// Takes lights out of a map that is turned by `rotation` (rad), adds them to a scene, and returns
/// the map without them. A note lists them; `asked` has one too if there are none.
pub(super) fn extract(
    scene: &mut Scene,
    map: &RadianceMap,
    limits: ExtractionLimits,
    rotation: f64,
    asked: bool,
) -> RadianceMap {
    let Extraction { map, lights, wide } = map.extract_lights(limits);
    if lights.is_empty() && !asked {
        return map;
    }
    let mut listed = Vec::new();
    for (rank, light) in lights.iter().enumerate() {
        let ExtractedLight { towards, illuminance, angular_radius, part } = *light;
        let towards = DQuat::from_rotation_y(-rotation) * towards;
        let name = name(rank);
        if add_sun(scene, &name, towards, illuminance, angular_radius).is_some() {
            listed.push(format!(
                "{name} of {:.4} lx and {:.2} degrees diameter ({:.1} % of the map's light)",
                luminance(illuminance),
                2.0 * angular_radius.to_degrees(),
                part * 100.0
            ));
        }
    }
    let mut message = if listed.is_empty() {
        format!(
            "nothing is extracted: no area is {} times as bright as the rest of the map and has \
             {} % of its light; lower environment.extract_threshold",
            limits.threshold,
            limits.min_part * 100.0
        )
    } else {
        listed.join(", ")
    };
    if wide > 0 && asked {
        let diameter = 2.0 * limits.max_radius.to_degrees();
        message += &format!("; areas wider than {diameter:.0} degrees stay in the map: {wide}");
    }
    scene.notes.push(Note {
        kind: NoteKind::Info,
        location: "environment.extract".into(),
        message,
    });
    map
}
