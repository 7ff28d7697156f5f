//! Lights from geometry: emissive triangles as area lights, and the emissive meshes of lights with
//! a shape.

use std::sync::LazyLock;

use glam::{DAffine3, DMat3, DMat4, DVec3, Vec2, Vec3, vec2};

use super::{
    AlphaMode, Image, Material, Primitive, Sampler, Scene, TextureRef, Wrap, emissive_merge::merge,
    procedural::shapes,
};
use crate::photometry::{Emitter, Sides, color};

pub use super::emissive_light::EmissiveLight;

/// The emissive meshes of a scene as area lights.
#[derive(Clone, Debug, Default)]
pub struct EmissiveLights {
    /// The lights, in scene order.
    pub lights: Vec<EmissiveLight>,
    /// Number of emissive triangles.
    pub triangles: usize,
    /// Number of lights that stand for several merged ones.
    pub merged: usize,
}

/// Default of `Scene::max_emissive_lights`: more area lights than this are merged.
pub(super) const DEFAULT_MAX_EMISSIVE_LIGHTS: u32 = 512;

/// The emissive meshes of a scene as area lights: triangles, and pairs of them as rectangles if
/// they form one. Beyond the scene's maximum, neighbors of similar normal and luminance are merged;
/// their flux is kept.
#[must_use]
pub fn emissive_lights(scene: &Scene) -> EmissiveLights {
    let mut lights: Vec<EmissiveLight> = Vec::new();
    let mut triangles = 0;
    for placed in scene.walk() {
        let Some(mesh) = placed.node.mesh.and_then(|mesh| scene.meshes.get(mesh)) else { continue };
        for primitive in &mesh.primitives {
            let material = primitive.material.and_then(|material| scene.materials.get(material));
            let Some(material) = material.filter(|m| m.emission.max_element() > 0.0 && !m.unlit)
            else {
                continue;
            };
            triangles += add_primitive(scene, primitive, material, &placed.world, &mut lights);
        }
    }
    let budget = scene.max_emissive_lights.unwrap_or(DEFAULT_MAX_EMISSIVE_LIGHTS) as usize;
    if lights.len() <= budget {
        return EmissiveLights { lights, triangles, merged: 0 };
    }
    let (lights, merged) = merge(&lights, budget);
    EmissiveLights { lights, triangles, merged }
}

fn add_primitive(
    scene: &Scene,
    primitive: &Primitive,
    material: &Material,
    world: &DMat4,
    lights: &mut Vec<EmissiveLight>,
) -> usize {
    let mirrored = world.determinant() < 0.0;
    let opacity = if material.alpha == AlphaMode::Blend {
        material.base_color.w.clamp(0.0, 1.0)
    } else {
        1.0
    };
    // The corners of the previous triangle, for pairs that make a rectangle.
    let mut before: Option<[DVec3; 3]> = None;
    let mut triangles = 0;
    for triangle in primitive.indices.chunks_exact(3) {
        let at = |index: u32| {
            primitive.positions.get(index as usize).copied().unwrap_or_default().as_dvec3()
        };
        let mut corners =
            [at(triangle[0]), at(triangle[1]), at(triangle[2])].map(|p| world.transform_point3(p));
        if mirrored {
            corners.swap(1, 2);
        }
        let sides = [corners[1] - corners[0], corners[2] - corners[0]];
        let doubled = sides[0].cross(sides[1]).length();
        // Slivers emit nothing and have no normal.
        if !(doubled > 1e-12 * sides[0].length_squared().max(sides[1].length_squared())
            && doubled > 0.0)
        {
            before = None;
            continue;
        }
        let texture = material.emissive_texture.map_or(Vec3::ONE, |texture| {
            mean_texel(scene, primitive, texture, [triangle[0], triangle[1], triangle[2]])
        });
        let luminance = material.emission * texture * opacity;
        if luminance.max_element() <= 0.0 {
            before = None;
            continue;
        }
        triangles += 1;
        let light = EmissiveLight {
            corner: corners[0],
            sides,
            rectangle: false,
            luminance,
            two_sided: material.double_sided,
            blended: material.alpha == AlphaMode::Blend,
        };
        if let Some(last) = lights.last_mut()
            && let Some(merged) = before.and_then(|other| merge_into_rectangle(other, corners))
            && (last.luminance - luminance).abs().max_element() <= 1e-3 * luminance.max_element()
        {
            *last = EmissiveLight {
                corner: merged[0],
                sides: [merged[1], merged[2]],
                rectangle: true,
                ..light
            };
            before = None;
            continue;
        }
        before = Some(corners);
        lights.push(light);
    }
    triangles
}

/// Corner and edges of the rectangle that two triangles form, if they do: each has its right angle
/// opposite to the shared edge.
fn merge_into_rectangle(a: [DVec3; 3], b: [DVec3; 3]) -> Option<[DVec3; 3]> {
    let right_angle = |t: [DVec3; 3]| {
        (0..3).find_map(|i| {
            let (p, q) = (t[(i + 1) % 3] - t[i], t[(i + 2) % 3] - t[i]);
            (p.dot(q).abs() <= 1e-5 * p.length() * q.length()).then_some((t[i], p, q))
        })
    };
    let ((corner, p, q), (opposite, r, _)) = (right_angle(a)?, right_angle(b)?);
    let size = p.length().max(q.length());
    let same_plane = r.normalize().dot(p.cross(q).normalize()).abs() < 1e-5;
    let fits = (corner + p + q).distance(opposite) <= 1e-5 * size
        && (r + p).length().min((r + q).length()) <= 1e-5 * size;
    (same_plane && fits).then_some([corner, p, q])
}

/// Maximum number of texture samples along a triangle's edge.
const TEXEL_STEPS: u32 = 24;

/// The sRGB curve for each of a texture's codes.
pub(super) static LINEAR: LazyLock<[f32; 256]> =
    LazyLock::new(|| std::array::from_fn(|code| color::srgb_eotf(code as f64 / 255.0) as f32));

/// The mean of an emissive texture (linear) over a triangle.
fn mean_texel(
    scene: &Scene,
    primitive: &Primitive,
    texture: TextureRef,
    triangle: [u32; 3],
) -> Vec3 {
    let Some(used) = scene.textures.get(texture.texture) else { return Vec3::ONE };
    let Some(image) = scene.images.get(used.image) else { return Vec3::ONE };
    let uvs = if texture.uv_set == 0 { &primitive.uv0 } else { &primitive.uv1 };
    let [a, b, c] = triangle.map(|index| {
        let uv = uvs.get(index as usize).copied().unwrap_or_default().extend(1.0);
        let [row0, row1] = texture.transform.map(Vec3::from_array);
        vec2(row0.dot(uv), row1.dot(uv))
    });
    // One sample a texel is enough: small triangles of a large mesh take few.
    let size = vec2(image.width as f32, image.height as f32);
    let longest = [b - a, c - a, c - b]
        .iter()
        .map(|side| (*side * size).abs().max_element())
        .fold(0.0, f32::max);
    let steps = (longest.ceil().clamp(1.0, TEXEL_STEPS as f32)) as u32;
    let mut sum = Vec3::ZERO;
    let step = 1.0 / steps as f32;
    let mut count = 0.0;
    for i in 0..steps {
        for j in 0..steps - i {
            // The centroids of both halves of a small parallelogram.
            for (third, inside) in [(1.0 / 3.0, true), (2.0 / 3.0, i + j + 1 < steps)] {
                if inside {
                    let (u, v) = ((i as f32 + third) * step, (j as f32 + third) * step);
                    sum += texel(image, &used.sampler, a + (b - a) * u + (c - a) * v);
                    count += 1.0;
                }
            }
        }
    }
    sum / count
}

fn texel(image: &Image, sampler: &Sampler, uv: Vec2) -> Vec3 {
    let place = |x: f32, size: u32, wrap: Wrap| {
        let x = match wrap {
            Wrap::Repeat => x - x.floor(),
            Wrap::Mirror => 1.0 - ((x * 0.5).fract().abs() * 2.0 - 1.0).abs(),
            Wrap::Clamp => x.clamp(0.0, 1.0),
        };
        ((x * size as f32) as u32).min(size - 1)
    };
    let (x, y) =
        (place(uv.x, image.width, sampler.wrap_u), place(uv.y, image.height, sampler.wrap_v));
    let start = (y as usize * image.width as usize + x as usize) * 4;
    let linear = |channel: usize| {
        LINEAR[usize::from(image.rgba8.get(start + channel).copied().unwrap_or(0))]
    };
    Vec3::new(linear(0), linear(1), linear(2))
}

/// The emissive surface of a light in its own frame (it emits along -Z, +X along its width or
/// length), with outward normals; `None` for lights without a size.
#[must_use]
pub fn emitter_mesh(emitter: Emitter) -> Option<Primitive> {
    const AROUND: usize = 64;
    // Polygons that stand for circles have their area.
    let grown = |radius: f64| {
        let step = std::f64::consts::TAU / AROUND as f64;
        (radius * (step / step.sin()).sqrt()) as f32
    };
    // From the +Y of planes and surfaces of revolution to -Z.
    let to_front = DMat3::from_cols(DVec3::X, DVec3::NEG_Z, DVec3::Y);
    let along_x = DMat3::from_cols(DVec3::NEG_Y, DVec3::X, DVec3::Z);
    let turned = |part: Primitive, by: DMat3| shapes::transformed(&part, &DAffine3::from_mat3(by));
    match emitter {
        Emitter::Point | Emitter::Spot { .. } | Emitter::Sun { .. } => None,
        Emitter::Sphere { radius } => Some(shapes::uv_sphere(radius as f32, AROUND, AROUND / 2)),
        Emitter::Disk { radius, .. } => Some(turned(
            shapes::lathe(&[vec2(grown(radius), 0.0), vec2(0.0, 0.0)], 0.1, AROUND),
            to_front,
        )),
        Emitter::Rectangle { width, height, .. } => {
            Some(turned(shapes::plane(vec2(width as f32, height as f32), 1, 1), to_front))
        }
        Emitter::Tube { radius, length } => {
            let (radius, half) = (radius as f32, length as f32 * 0.5);
            let profile: Vec<Vec2> = (0..=AROUND / 2)
                .map(|i| {
                    let polar = i as f32 / (AROUND / 2) as f32 * std::f32::consts::PI;
                    let end = if i <= AROUND / 4 { -half } else { half };
                    vec2(radius * polar.sin().max(0.0), end - radius * polar.cos())
                })
                .collect();
            Some(turned(shapes::lathe(&profile, 0.5, AROUND), along_x))
        }
    }
}

/// True if the emissive surface of a light is visible from both sides.
#[must_use]
pub fn emitter_is_two_sided(emitter: Emitter) -> bool {
    matches!(
        emitter,
        Emitter::Disk { sides: Sides::Two, .. } | Emitter::Rectangle { sides: Sides::Two, .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{
        build::{SceneBuilder, dielectric},
        procedural::textures::TextureImage,
    };

    fn glowing() -> Material {
        Material { emission: Vec3::new(100.0, 50.0, 0.0), ..dielectric("glow", Vec3::ONE, 1.0) }
    }

    #[test]
    fn two_triangles_of_a_screen_are_one_rectangle() {
        let mut builder = SceneBuilder::new("screen");
        let material = glowing();
        let material = builder.add_material(material);
        let mesh = builder.add_mesh("screen", shapes::plane(vec2(2.0, 0.5), 1, 1), material);
        let place =
            DMat4::from_translation(DVec3::new(1.0, 2.0, 3.0)) * DMat4::from_rotation_x(1.0);
        builder.instance("screen", mesh, place);
        builder.instance("mirrored", mesh, DMat4::from_scale(DVec3::new(-1.0, 1.0, 2.0)));
        let lights = emissive_lights(&builder.build().unwrap());
        assert_eq!((lights.lights.len(), lights.triangles, lights.merged), (2, 4, 0));
        let (first, second) = (lights.lights[0], lights.lights[1]);
        assert!(first.rectangle && second.rectangle);
        assert!((first.area() - 1.0).abs() < 1e-6 && (second.area() - 2.0).abs() < 1e-6);
        assert!(first.center().distance(DVec3::new(1.0, 2.0, 3.0)) < 1e-6);
        // The front stays the front under a mirror: a plane faces +Y.
        let normal = |light: &EmissiveLight| light.sides[0].cross(light.sides[1]).normalize();
        assert!(
            normal(&first).distance(place.transform_vector3(DVec3::Y)) < 1e-6,
            "{}",
            normal(&first)
        );
        assert!(normal(&second).distance(DVec3::Y) < 1e-6, "{}", normal(&second));
    }

    #[test]
    fn a_texture_counts_by_its_mean() {
        let mut builder = SceneBuilder::new("many");
        // Left half white, right half black.
        let rgba8 = (0..64 * 64)
            .flat_map(|i| if i % 64 < 32 { [255; 4] } else { [0, 0, 0, 255] })
            .collect();
        let texture = builder.add_texture(
            "half",
            TextureImage { width: 64, height: 64, rgba8 },
            Sampler::default(),
        );
        let material = glowing();
        let half =
            Material { emissive_texture: Some(SceneBuilder::texture_ref(texture)), ..material };
        let half = builder.add_material(half);
        let mesh = builder.add_mesh("half", shapes::plane(vec2(1.0, 1.0), 1, 1), half);
        builder.instance("half", mesh, DMat4::IDENTITY);
        let lights = emissive_lights(&builder.build().unwrap()).lights;
        let flux: Vec3 = lights.iter().map(|light| light.luminance * light.area() as f32).sum();
        assert!((flux.x - 50.0).abs() < 1.0 && (flux.y - 25.0).abs() < 0.5, "{flux}");
    }

    #[test]
    fn emitter_meshes_have_the_emitter_area_and_face_outwards() {
        for emitter in [
            Emitter::Sphere { radius: 0.3 },
            Emitter::Disk { radius: 0.3, sides: Sides::One },
            Emitter::Rectangle { width: 0.4, height: 2.0, sides: Sides::One },
            Emitter::Tube { radius: 0.05, length: 1.0 },
        ] {
            let body = emitter_mesh(emitter).unwrap();
            let at = |index: u32| body.positions[index as usize].as_dvec3();
            let (mut area, mut forward) = (0.0, 0.0);
            for t in body.indices.chunks_exact(3) {
                let cross = (at(t[1]) - at(t[0])).cross(at(t[2]) - at(t[0])) / 2.0;
                let normal = body.normals[t[0] as usize].as_dvec3();
                assert!(cross.length() < 1e-12 || cross.dot(normal) > 0.0, "{emitter:?}");
                area += cross.length();
                forward -= cross.z;
            }
            assert!((area / emitter.area().unwrap() - 1.0).abs() < 5e-3, "{emitter:?}: {area}");
            let flat = matches!(emitter, Emitter::Disk { .. } | Emitter::Rectangle { .. });
            assert!(!flat || (forward / area - 1.0).abs() < 1e-6, "{emitter:?} shines along -Z");
        }
        assert!(emitter_mesh(Emitter::Point).is_none());
    }
}
