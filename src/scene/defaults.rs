//! Default lights and camera for scenes that have none; a note reports them.

use std::sync::Arc;

use glam::{DMat3, DMat4, DVec3, DVec4};

use super::{
    Environment, Light, Material, Node, Note, NoteKind, Projection, Scene, build::look_at_transform,
};
use crate::{
    photometry::{
        Lux,
        environment::{RadianceMap, RowMapping},
        lights::{Emitter, LightStrength, PhysicalLight},
    },
    settings::DefaultLight,
};

/// Illuminance of the default studio on level ground, as on a table under photographic lamps.
pub const STUDIO_ILLUMINANCE: Lux = Lux(1000.0);

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

/// Scale of the default light of this illuminance: 1, unless surfaces emit faintly. Then a white
/// surface under the light has the luminance of the brightest of them, as in programs where both
/// are 1.
fn scale(scene: &Scene, light: Lux) -> f64 {
    let faint = shown_materials(scene)
        .iter()
        .map(|material| material.emission.max_element())
        .fold(0.0, f32::max);
    if faint > 0.0 && faint <= MAX_FAINT_EMISSION {
        f64::from(faint) * std::f64::consts::PI / light.get()
    } else {
        1.0
    }
}

fn text(lux: Lux) -> String {
    let lux = lux.get();
    if lux < 100.0 { format!("{lux:.3} lx") } else { format!("{lux:.0} lx") }
}

/// Adds a default light for a camera (camera to world). A scene with an environment keeps that, and
/// gets no studio.
pub fn add_lights(scene: &mut Scene, light: DefaultLight, camera: DMat4) {
    let (mut message, scale) = match light {
        DefaultLight::None => return,
        DefaultLight::Studio if scene.environment.is_some() => {
            let message = "the scene has an environment: the default studio is not added".into();
            (message, 1.0)
        }
        DefaultLight::Studio => {
            let scale = scale(scene, STUDIO_ILLUMINANCE);
            let level = Lux(STUDIO_ILLUMINANCE.get() * scale);
            scene.environment = studio(level, camera);
            let level = text(level);
            (
                format!(
                    "the scene has no light: added a neutral studio of {level} on level ground"
                ),
                scale,
            )
        }
        DefaultLight::Sun => {
            let scale = scale(scene, Lux(SUN_ILLUMINANCE.get() + SKY_ILLUMINANCE.get()));
            let Some(message) = add_sun(scene, scale, camera) else { return };
            (message, scale)
        }
    };
    if scale < 1.0 {
        message = format!("{message}; dimmed to match emissive surfaces, which have no units");
    }
    scene.notes.push(Note { kind: NoteKind::Info, location: "/".into(), message });
}

/// Adds a sun from behind the photographer's left shoulder, and, without an environment, a smooth
/// sky that is dark below. Returns the note.
fn add_sun(scene: &mut Scene, scale: f64, camera: DMat4) -> Option<String> {
    let (sun, level) = (Lux(SUN_ILLUMINANCE.get() * scale), Lux(SKY_ILLUMINANCE.get() * scale));
    let source = PhysicalLight::new(Emitter::PARALLEL, LightStrength::Lux(sun)).ok()?;
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
    let mut message = format!(
        "the scene has no light: added a default sun of {} from over the camera's left shoulder",
        text(sun)
    );
    if scene.environment.is_none() {
        scene.environment = sky(level);
        message = format!("{message}, and a default sky of {} on level ground", text(level));
    }
    Some(message)
}

/// A soft panel of the studio, seen from the subject.
struct Panel {
    /// Direction of its middle: degrees clockwise from the view direction, seen from above.
    azimuth: f64,
    /// Elevation of its middle (degrees).
    elevation: f64,
    /// Half its width and height (degrees).
    half_size: [f64; 2],
    /// Luminance relative to the studio's walls.
    luminance: f64,
}

/// Key from behind the camera's left shoulder, fill from the right, an edge light from behind the
/// subject, and a ceiling. All are above the horizon, out of most pictures. The key has 4.5 times
/// the fill's luminance.
const PANELS: [Panel; 4] = [
    Panel { azimuth: -130.0, elevation: 38.0, half_size: [24.0, 20.0], luminance: 45.0 },
    Panel { azimuth: 115.0, elevation: 20.0, half_size: [16.0, 26.0], luminance: 10.0 },
    Panel { azimuth: 25.0, elevation: 55.0, half_size: [45.0, 6.0], luminance: 40.0 },
    Panel { azimuth: 180.0, elevation: 88.0, half_size: [24.0, 18.0], luminance: 20.0 },
];

/// Luminance of the studio's floor relative to its walls.
const FLOOR: f64 = 0.45;

/// Width (degrees) over which a panel's light falls off at its edges.
const PANEL_EDGE: f64 = 5.0;

/// Relative luminance of the studio in a direction, where the camera looks to -Z.
fn studio_luminance(direction: DVec3) -> f64 {
    let step = |edge: f64, x: f64| {
        let x = ((edge - x) / PANEL_EDGE + 0.5).clamp(0.0, 1.0);
        x * x * (3.0 - 2.0 * x)
    };
    let panel = |panel: &Panel| {
        let turn = DMat3::from_rotation_x(-panel.elevation.to_radians())
            * DMat3::from_rotation_y(panel.azimuth.to_radians());
        // In the panel's frame its middle is at -Z.
        let local = turn * direction;
        if local.z >= 0.0 {
            return 0.0;
        }
        let [x, y] = [local.x, local.y].map(|side| (side / -local.z).abs().atan().to_degrees());
        let [half_width, half_height] = panel.half_size;
        panel.luminance * step(half_width, x) * step(half_height, y)
    };
    // Walls brighten toward the ceiling; the floor is a smooth sweep without a horizon.
    let wall = if direction.y > 0.0 { 1.0 + 0.5 * direction.y } else { 1.0 };
    let floor = (-direction.y * 2.0).clamp(0.0, 1.0);
    let floor = floor * floor * (3.0 - 2.0 * floor);
    wall + (FLOOR - 1.0) * floor + PANELS.iter().map(panel).sum::<f64>()
}

/// A neutral environment of soft panels, placed around the view direction of a camera (camera to
/// world), with this illuminance on level ground.
fn studio(illuminance: Lux, camera: DMat4) -> Option<Environment> {
    let map = RadianceMap::from_fn(512, 256, RowMapping::Linear, |direction| {
        DVec3::splat(studio_luminance(direction))
    });
    let map = Arc::new(map.ok()?.scaled_to(illuminance).ok()?);
    let level = |axis: DVec4| axis.x.hypot(axis.z) > 1e-6;
    // A camera that looks straight down has its view direction at the picture's top.
    let forward = match -camera.z_axis {
        forward if level(forward) => forward,
        forward => camera.y_axis * -forward.y.signum(),
    };
    let rotation = forward.x.atan2(-forward.z);
    Some(Environment { map, rotation, origin: "default studio".into() })
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

    /// Illuminance of a map on a plane with this normal.
    fn illuminance(map: &RadianceMap, normal: DVec3) -> f64 {
        let mut sum = 0.0;
        for y in 0..map.height() {
            for x in 0..map.width() {
                let cosine = map.texel_direction(x, y).dot(normal).max(0.0);
                let light = map.texels()[y * map.width() + x].x;
                sum += f64::from(light) * cosine * map.texel_solid_angle(y);
            }
        }
        sum
    }

    #[test]
    fn sky_and_studio_give_what_they_say() {
        let sky = sky(SKY_ILLUMINANCE).unwrap().map;
        let studio = studio(STUDIO_ILLUMINANCE, DMat4::IDENTITY).unwrap().map;
        for (map, level) in [(sky, SKY_ILLUMINANCE), (studio, STUDIO_ILLUMINANCE)] {
            let found = illuminance(&map, DVec3::Y);
            assert!((found / level.get() - 1.0).abs() < 0.01, "{found}");
        }
    }

    /// The face that is turned to the camera gets more light from its left than from its right, and
    /// most of the light comes from the camera's side. The studio is neutral.
    #[test]
    fn the_studio_lights_what_the_camera_sees_from_its_left() {
        for yaw in [0.0, 2.0] {
            let camera = DMat4::from_rotation_y(yaw);
            let studio = studio(STUDIO_ILLUMINANCE, camera).unwrap();
            // Clockwise from above is a negative turn about +Y.
            let to_map = DMat3::from_rotation_y(studio.rotation);
            let face = |x: f64, z: f64| {
                let world = camera.transform_vector3(DVec3::new(x, 0.0, z));
                illuminance(&studio.map, to_map * world.normalize())
            };
            let [left, front, right, back] =
                [face(-1.0, 1.0), face(0.0, 1.0), face(1.0, 1.0), face(0.0, -1.0)];
            assert!(left > 1.5 * right && left < 6.0 * right, "{left} {right}");
            assert!(front > 1.2 * back, "{front} {back}");
            let neutral = |texel: &glam::Vec3| texel.x == texel.y && texel.y == texel.z;
            assert!(studio.map.texels().iter().all(neutral));
        }
    }

    #[test]
    fn default_lights_are_noted_and_replace_nothing() {
        let mut scene = Scene::default();
        add_lights(&mut scene, DefaultLight::Sun, DMat4::IDENTITY);
        assert_eq!(scene.lights.len(), 1);
        assert!(scene.notes[0].message.contains("4000"), "{}", scene.notes[0].message);
        let own = scene.environment.clone().unwrap().map;
        for light in [DefaultLight::Sun, DefaultLight::Studio] {
            add_lights(&mut scene, light, DMat4::IDENTITY);
            assert!(Arc::ptr_eq(&own, &scene.environment.as_ref().unwrap().map));
        }
        let mut empty = Scene::default();
        add_lights(&mut empty, DefaultLight::None, DMat4::IDENTITY);
        assert!(empty.notes.is_empty() && empty.environment.is_none());
        add_lights(&mut empty, DefaultLight::Studio, DMat4::IDENTITY);
        assert!(empty.lights.is_empty() && empty.environment.is_some());
        assert!(empty.notes[0].message.contains("1000 lx"), "{}", empty.notes[0].message);
    }
}
