//! Area lights of the lighting passes: triangles of emissive meshes, and luminaire surfaces.

use glam::{DMat4, DVec3, Vec3};

use super::world_light::{STRONGEST, WorldLight, light_axes};
use crate::{
    gpu::shader_structs::frame::{
        self, LIGHT_MESH, LIGHT_RECTANGLE, LIGHT_SHADOW, LIGHT_TRIANGLE, LIGHT_TWO_SIDED, NONE,
    },
    photometry::Nit,
    scene::{
        Material, Primitive, Scene,
        emissive::{EmissiveLight, emitter_is_two_sided, emitter_mesh},
    },
};

/// Light of one triangle of an emissive mesh. It casts shadows.
#[must_use]
pub fn emissive_triangle_light(emissive_light: &EmissiveLight) -> WorldLight {
    let [first, second] = emissive_light.sides;
    let normal = first.cross(second).normalize_or(DVec3::Y);
    let right = first.normalize_or(normal.any_orthonormal_vector());
    let up = normal.cross(right);
    let center = emissive_light.center();
    let intensity = emissive_light.luminance.min(Vec3::splat(STRONGEST));
    let (kind, half_width, half_height, offset) = if emissive_light.rectangle {
        (LIGHT_RECTANGLE, first.length() / 2.0, second.length() / 2.0, 0.0)
    } else {
        (LIGHT_TRIANGLE, first.length(), second.dot(up), second.dot(right))
    };
    let corners =
        [emissive_light.corner, emissive_light.corner + first, emissive_light.corner + second];
    let sides = if emissive_light.two_sided { LIGHT_TWO_SIDED } else { 0 };
    WorldLight {
        position: center,
        direction: normal.as_vec3(),
        directional: false,
        radius: corners.iter().map(|corner| corner.distance(center)).fold(0.0, f64::max),
        candela: (intensity * emissive_light.area() as f32).min(Vec3::splat(STRONGEST)),
        shader: frame::Light {
            position: Vec3::ZERO,
            inverse_range2: 0.0,
            intensity,
            spot_scale: 0.0,
            direction: normal.as_vec3(),
            spot_offset: offset as f32,
            right: right.as_vec3(),
            half_width: half_width as f32,
            half_height: half_height as f32,
            kind: kind | sides | LIGHT_MESH | LIGHT_SHADOW,
            profile: NONE,
            shadow: NONE,
        },
    }
}

/// Visible emitting surface of a light.
pub struct LightBody {
    /// Surface in the light's local space.
    pub surface: Primitive,
    /// Local to world transform.
    pub world: DMat4,
    /// Black material with the light's emission.
    pub material: Material,
}

/// Emitting surfaces of all visible area lights.
#[must_use]
pub fn light_bodies(scene: &Scene) -> Vec<LightBody> {
    let mut bodies = Vec::new();
    for placed in scene.walk() {
        let Some(light) = placed.node.light.and_then(|light| scene.lights.get(light)) else {
            continue;
        };
        let (emitter, nits) = (light.emitter(), light.source.nits().map_or(0.0, Nit::get));
        let Some(surface) = emitter_mesh(emitter).filter(|_| light.visible && nits > 0.0) else {
            continue;
        };
        let (right, direction) = light_axes(&placed.world);
        let back = -direction;
        let place = DMat4::from_cols(
            right.extend(0.0),
            back.cross(right).extend(0.0),
            back.extend(0.0),
            placed.world.w_axis.truncate().extend(1.0),
        );
        let material = Material {
            name: light.name.clone(),
            base_color: Vec3::ZERO.extend(1.0),
            metallic: 0.0,
            emission: (light.color * nits as f32).min(Vec3::splat(STRONGEST)),
            double_sided: emitter_is_two_sided(emitter),
            ..Material::default()
        };
        bodies.push(LightBody { surface, world: place, material });
    }
    bodies
}
