//! Default lights and camera for scenes that have none; a note reports them.

use std::sync::Arc;

use glam::{DMat3, DMat4, DVec3};

use super::{
    Environment, Light, Material, Node, Note, NoteKind, Projection, Scene, build::look_at_transform,
};
use crate::photometry::{
    Lux,
    environment::{RadianceMap, RowMapping},
    lights::{Emitter, LightStrength, PhysicalLight},
};

/// Illuminance of the default sun, perpendicular to its rays; as in haze, so that it looks like a
/// sun.
const SUN_ILLUMINANCE: Lux = Lux(10_000.0);

/// Illuminance of the default sky on level ground. With the sun it makes a lighting ratio of about
/// 3 to 1 (lit to unlit side), as portraits are lit.
pub const SKY_ILLUMINANCE: Lux = Lux(4_000.0);

/// Relative luminance change of the default sky from horizon to zenith, and from nadir to horizon;
/// 0 is uniform.
const SLOPE: f64 = 0.6;

/// Maximum emission (nits) of a surface that lights nothing. Files from programs without units have
/// factors of up to 1; an intended luminaire states its nits.
pub const MAX_FAINT_EMISSION: f32 = 1.0;

/// The materials of the shown primitives.
fn shown_materials(scene: &Scene) -> Vec<&Material> {
    let mut used = vec![false; scene.materials.len()];
    for placed in scene.walk() {
        let mesh = placed.node.mesh.and_then(|mesh| scene.meshes.get(mesh));
        for material in
            mesh.iter().flat_map(|mesh| &mesh.primitives).filter_map(|primitive| primitive.material)
        {
            if let Some(used) = used.get_mut(material) {
                *used = true;
            }
        }
    }
    scene
        .materials
        .iter()
        .zip(used)
        .filter(|(_, used)| *used)
        .map(|(material, _)| material)
        .collect()
}

/// True if nothing lights the scene: no light, no environment, no surface brighter than
/// [`MAX_FAINT_EMISSION`], and not everything shown is unlit.
#[must_use]
pub fn has_no_light(scene: &Scene) -> bool {
    let lamps = scene.walk().iter().any(|placed| placed.node.light.is_some());
    let shown = shown_materials(scene);
    let glows = shown.iter().any(|material| material.emission.max_element() > MAX_FAINT_EMISSION);
    let unlit = !shown.is_empty() && shown.iter().all(|material| material.unlit);
    !lamps && scene.environment.is_none() && !glows && !unlit
}

/// Scale of the default light: 1, unless surfaces emit faintly. Then a white surface under the
/// light has the luminance of the brightest of them, as in programs where both are 1.
fn scale(scene: &Scene) -> f64 {
    let faint = shown_materials(scene)
        .iter()
        .map(|material| material.emission.max_element())
        .fold(0.0, f32::max);
    if faint > 0.0 && faint <= MAX_FAINT_EMISSION {
        f64::from(faint) * std::f64::consts::PI / (SUN_ILLUMINANCE.get() + SKY_ILLUMINANCE.get())
    } else {
        1.0
    }
}

/// Adds a sun from behind the photographer's left shoulder, and, without an environment, a smooth
/// sky that is dark below.
pub fn add_lights(scene: &mut Scene, camera: DMat4) {
    let scale = scale(scene);
    let (sun, level) = (Lux(SUN_ILLUMINANCE.get() * scale), Lux(SKY_ILLUMINANCE.get() * scale));
    let Ok(source) = PhysicalLight::new(Emitter::PARALLEL, LightStrength::Lux(sun)) else { return };
    let turn = DMat4::from_rotation_y(-0.45) * DMat4::from_rotation_x(-0.55);
    let node = Node {
        name: "default sun".into(),
        local: DMat4::from_mat3(DMat3::from_mat4(camera)) * turn,
        light: Some(scene.lights.len()),
        ..Default::default()
    };
    scene.lights.push(Light::new("default sun", source));
    scene.roots.push(scene.nodes.len());
    scene.nodes.push(node);
    let text = |lux: Lux| {
        if lux.get() < 100.0 {
            format!("{:.3} lx", lux.get())
        } else {
            format!("{:.0} lx", lux.get())
        }
    };
    let mut message = format!(
        "the scene has no light: added a default sun of {} from over the camera's left shoulder",
        text(sun)
    );
    if scene.environment.is_none() {
        scene.environment = sky(level);
        message = format!("{message}, and a default sky of {} on level ground", text(level));
    }
    if scale < 1.0 {
        message = format!("{message}; dimmed to match emissive surfaces, which have no units");
    }
    scene.notes.push(Note { kind: NoteKind::Info, location: "/".into(), message });
}

/// Luminance that rises with the sine of the elevation, a (1 + b sin e); its illuminance on level
/// ground is pi a (1 + 2 b / 3).
fn sky(level: Lux) -> Option<Environment> {
    let horizon = level.get() / (std::f64::consts::PI * (1.0 + SLOPE * 2.0 / 3.0));
    let map = RadianceMap::from_fn(32, 16, RowMapping::Linear, |direction| {
        DVec3::splat(horizon * (1.0 + SLOPE * direction.y))
    });
    let map = Arc::new(map.ok()?);
    Some(Environment { map, rotation: 0.0, origin: "default sky".into() })
}

/// A camera that frames the whole scene from the front, slightly from above and the right; `aspect`
/// is width over height.
#[must_use]
pub fn framing_camera(scene: &Scene, aspect: f64) -> (DMat4, Projection) {
    let (low, high) = scene.bounds().unwrap_or((DVec3::splat(-1.0), DVec3::splat(1.0)));
    let center = (low + high) * 0.5;
    let radius = ((high - low).length() * 0.5).max(1e-3);
    let vertical_fov = 40f64.to_radians();
    let half = (vertical_fov * 0.5).min(((vertical_fov * 0.5).tan() * aspect).atan());
    let distance = radius / half.sin();
    let eye = center + DVec3::new(0.5, 0.4, 1.0).normalize() * distance;
    let projection = Projection::Perspective {
        vertical_fov: vertical_fov as f32,
        aspect: None,
        near: ((distance - radius) * 0.1).max(distance * 1e-4) as f32,
        far: None,
    };
    (look_at_transform(eye, center), projection)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sky_gives_what_it_says() {
        let map = sky(SKY_ILLUMINANCE).unwrap().map;
        let mut sum = 0.0;
        for y in 0..map.height() {
            for x in 0..map.width() {
                let up = map.texel_direction(x, y).y.max(0.0);
                let light = map.texels()[y * map.width() + x].x;
                sum += f64::from(light) * up * map.texel_solid_angle(y);
            }
        }
        assert!((sum / SKY_ILLUMINANCE.get() - 1.0).abs() < 0.01, "{sum}");
    }

    #[test]
    fn default_lights_are_noted_and_replace_nothing() {
        let mut scene = Scene::default();
        add_lights(&mut scene, DMat4::IDENTITY);
        assert_eq!(scene.lights.len(), 1);
        assert!(scene.notes[0].message.contains("4000"), "{}", scene.notes[0].message);
        let own = scene.environment.clone().unwrap().map;
        add_lights(&mut scene, DMat4::IDENTITY);
        assert!(Arc::ptr_eq(&own, &scene.environment.unwrap().map));
    }
}
