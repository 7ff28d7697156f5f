//! Lights of the scene for the shaders.

use std::f64::consts::FRAC_PI_2;

use glam::{DMat4, DVec3, Vec3};

use super::{
    area_lights,
    ies_profiles::Profiles,
    light_tree,
    world_light::{STRONGEST, WorldLight, light_axes},
};
use crate::{
    gpu::shader_structs::frame::{
        self, LIGHT_DIRECTIONAL, LIGHT_DISK, LIGHT_HIDDEN, LIGHT_KIND_BITS, LIGHT_POINT,
        LIGHT_RECTANGLE, LIGHT_SHADOW, LIGHT_SPHERE, LIGHT_TRIANGLE, LIGHT_TUBE, LIGHT_TWO_SIDED,
        NONE,
    },
    photometry::{
        Candela, Nit,
        lights::{Emitter, Sides, SunDisk},
    },
    scene::{self, Scene},
};

pub(super) fn tree_over(lights: &[WorldLight]) -> Vec<light_tree::LightTreeNode> {
    let first = lights.iter().filter(|light| light.directional).count() as u32;
    let local_lights: Vec<light_tree::LightBound> = lights
        .iter()
        .filter(|light| !light.directional)
        .map(|light| light_tree::LightBound {
            position: light.position,
            radius: light.radius,
            intensity: light.candela,
            cone: emission_cone(light),
        })
        .collect();
    light_tree::build(&local_lights, first)
}

/// Directions into which a local light emits.
fn emission_cone(light: &WorldLight) -> light_tree::EmissionCone {
    let frame::Light { kind, spot_scale, spot_offset, .. } = light.shader;
    let spread = match kind & LIGHT_KIND_BITS {
        LIGHT_POINT if spot_scale > 0.0 => {
            f64::from(-spot_offset / spot_scale).clamp(-1.0, 1.0).acos()
        }
        LIGHT_DISK | LIGHT_RECTANGLE | LIGHT_TRIANGLE if kind & LIGHT_TWO_SIDED == 0 => FRAC_PI_2,
        _ => return light_tree::EmissionCone::ALL,
    };
    light_tree::EmissionCone { axis: light.direction.as_dvec3().normalize_or(DVec3::Y), spread }
}

/// All visible lights, directional ones first.
#[must_use]
pub fn world_lights(scene: &Scene, profiles: &mut Profiles) -> Vec<WorldLight> {
    let mut lights: Vec<WorldLight> = Vec::new();
    for placed in scene.walk() {
        let Some(light) = placed.node.light.and_then(|light| scene.lights.get(light)) else {
            continue;
        };
        lights.push(world_light(light, &placed.world, profiles));
    }
    if scene.emissive_lights {
        lights.extend(
            scene::emissive::emissive_lights(scene)
                .lights
                .iter()
                .map(area_lights::emissive_triangle_light),
        );
    }
    // Stable: keeps the file's order within each group.
    lights.sort_by_key(|light| !light.directional);
    lights
}

pub(super) fn world_light(
    light: &scene::Light,
    world: &DMat4,
    profiles: &mut Profiles,
) -> WorldLight {
    let (emitter, source) = (light.emitter(), light.source);
    let (right, mut direction) = light_axes(world);
    let mut position = DVec3::ZERO;
    let candela = light.candela().map_or(0.0, Candela::get);
    let nits = source.nits().map_or(0.0, Nit::get);
    let two = |sides| if sides == Sides::Two { LIGHT_TWO_SIDED } else { 0 };
    let (kind, strength, half_width, half_height) = match emitter {
        Emitter::Point | Emitter::Spot { .. } => (LIGHT_POINT, candela, 0.0, 0.0),
        Emitter::Sun { angular_radius } => {
            let disk = light.sun_disk(world).unwrap_or(SunDisk::whole(-direction, angular_radius));
            (position, direction) = (disk.middle, -disk.towards);
            let seen = if disk.visible_fraction > 0.0 && disk.visible_fraction < 1.0 {
                disk.equal_radius()
            } else {
                angular_radius
            };
            (LIGHT_DIRECTIONAL, source.lux(1.0).get() * disk.visible_fraction, seen, angular_radius)
        }
        Emitter::Sphere { radius } => (LIGHT_SPHERE, nits, radius, radius),
        Emitter::Disk { radius, sides } => (LIGHT_DISK | two(sides), nits, radius, radius),
        Emitter::Rectangle { width, height, sides } => {
            (LIGHT_RECTANGLE | two(sides), nits, width / 2.0, height / 2.0)
        }
        Emitter::Tube { radius, length } => (LIGHT_TUBE, nits, radius, length / 2.0),
    };
    let (scale, offset) = match emitter {
        Emitter::Spot { cone, .. } => {
            // KHR_lights_punctual: lightAngleScale and lightAngleOffset. The extension's sample
            // code widens hard edges to 0.001 in cosine, which would add 9 % of flux to a cone of
            // 10 degrees.
            let (inner, outer) = (cone.inner().cos(), cone.outer().cos());
            let scale = 1.0 / (inner - outer).max(1e-6);
            (scale, -outer * scale)
        }
        _ => (0.0, 1.0),
    };
    // A product beyond the range of floats would turn zero into NaN.
    let times_color = |strength: f64| (light.color * strength as f32).min(Vec3::splat(STRONGEST));
    WorldLight {
        position: world.w_axis.truncate(),
        direction: direction.as_vec3(),
        directional: light.is_directional(),
        radius: emitter.bounding_radius(),
        candela: times_color(candela),
        shader: frame::Light {
            position: position.as_vec3(),
            inverse_range2: light.range.map_or(0.0, |range| 1.0 / (range * range)),
            intensity: times_color(strength),
            spot_scale: scale as f32,
            direction: direction.as_vec3(),
            spot_offset: offset as f32,
            right: right.as_vec3(),
            half_width: half_width as f32,
            half_height: half_height as f32,
            kind: kind
                | if light.shadow { LIGHT_SHADOW } else { 0 }
                | if light.visible { 0 } else { LIGHT_HIDDEN },
            profile: match emitter {
                Emitter::Point | Emitter::Spot { .. } => {
                    light.profile.as_ref().map_or(NONE, |profile| profiles.number(profile))
                }
                _ => NONE,
            },
            shadow: NONE,
        },
    }
}
