//! Mean reflectance of the bed below a water.

use glam::{DVec2, DVec3, Vec3, Vec4};

use crate::scene::{AlphaMode, Primitive, Scene};

/// Cells along a side of the grid over the box.
const CELLS: usize = 64;

/// The uppermost surface below the water in a cell.
#[derive(Clone, Copy)]
struct Top {
    height: f64,
    reflectance: Vec3,
}

impl Scene {
    /// Mean diffuse reflectance (linear, per channel) below a level surface at the top of a world
    /// box (m), seen from straight above. Cells with nothing below are black. Textures count by
    /// their mean.
    ///
    /// Light that leaves the bed beyond 48.6 degrees is totally reflected and returns at least 2.3
    /// times the depth away. It represents the bed in general, not the point it hits.
    #[must_use]
    pub fn bed_reflectance(&self, (low, high): (DVec3, DVec3)) -> Vec3 {
        let size = (high - low).max(DVec3::splat(1e-9));
        // Sheets within the surface are not below it.
        let below = high.y - 1e-6 * (1.0 + high.y.abs() + size.max_element());
        let mut tops: Vec<Option<Top>> = vec![None; CELLS * CELLS];
        // Mean color times mean non-metal fraction, as if both were uncorrelated.
        let diffuse = self.diffuse_factors().zip(&self.materials).map(|(factors, material)| {
            let factors = factors?;
            let color =
                material.base_color_texture.map_or(Vec3::ONE, |texture| self.mean_color(texture));
            let metal = material
                .metallic_roughness_texture
                .map_or(1.0, |texture| self.mean_data(texture).z);
            Some(factors.truncate() * color * (1.0 - (factors.w * metal).clamp(0.0, 1.0)))
        });
        let diffuse: Vec<Option<Vec3>> = diffuse.collect();
        let cell = |p: DVec3| {
            let on = (p - low) / size * CELLS as f64;
            DVec3::new(on.x, p.y, on.z)
        };
        for placed in self.walk() {
            let Some(mesh) = placed.node.mesh.and_then(|mesh| self.meshes.get(mesh)) else {
                continue;
            };
            for primitive in &mesh.primitives {
                let known = primitive.material.and_then(|material| diffuse.get(material));
                // Primitives without a material have the default material, a metal.
                let Some(reflectance) = known.copied().unwrap_or(Some(Vec3::ZERO)) else {
                    continue;
                };
                let at = |index: u32| {
                    let position = primitive.positions.get(index as usize)?;
                    Some(cell(placed.world.transform_point3(position.as_dvec3())))
                };
                for corners in triangles(primitive, at) {
                    lay(&mut tops, corners, below, reflectance);
                }
            }
        }
        let seen = || tops.iter().flatten();
        let sum: DVec3 = seen().map(|top| top.reflectance.as_dvec3()).sum();
        (sum / seen().count().max(1) as f64).as_vec3()
    }

    /// Base color factor and metallic factor of each material, without textures; black where light
    /// has no effect. `None` for transmissive materials. The bed is unchanged while these are.
    pub fn diffuse_factors(&self) -> impl Iterator<Item = Option<Vec4>> {
        self.materials.iter().map(|material| {
            let clear = material.water.is_some()
                || material.transmission > 0.0
                || material.alpha == AlphaMode::Blend;
            let lit = if material.unlit { 0.0 } else { 1.0 };
            let color = (material.base_color.truncate() * lit).clamp(Vec3::ZERO, Vec3::ONE);
            (!clear).then(|| color.extend(material.metallic))
        })
    }
}

/// A primitive's triangles as corners; skips triangles with a missing corner.
fn triangles(
    primitive: &Primitive,
    at: impl Fn(u32) -> Option<DVec3>,
) -> impl Iterator<Item = [DVec3; 3]> {
    primitive.indices.chunks_exact(3).filter_map(move |corners| match *corners {
        [a, b, c] => Some([at(a)?, at(b)?, at(c)?]),
        _ => None,
    })
}

/// Rasterizes a triangle (x and z in cells, y in m) into the cells whose center it covers, where it
/// is the uppermost below the surface.
fn lay(tops: &mut [Option<Top>], [a, b, c]: [DVec3; 3], below: f64, reflectance: Vec3) {
    let flat = |p: DVec3| DVec2::new(p.x, p.z);
    let [p, q, r] = [flat(a), flat(b), flat(c)];
    let area = (q - p).perp_dot(r - p);
    if area.is_nan() || area.abs() < 1e-12 || a.min(b).min(c).y >= below {
        return;
    }
    let range = |least: f64, max: f64| {
        let first = (least - 0.5).ceil().max(0.0) as usize;
        first..((max - 0.5).floor() + 1.0).clamp(0.0, CELLS as f64) as usize
    };
    let (least, max) = (p.min(q).min(r), p.max(q).max(r));
    for row in range(least.y, max.y) {
        for column in range(least.x, max.x) {
            let middle = DVec2::new(column as f64 + 0.5, row as f64 + 0.5);
            let u = (middle - p).perp_dot(r - p) / area;
            let v = (q - p).perp_dot(middle - p) / area;
            let height = a.y + u * (b.y - a.y) + v * (c.y - a.y);
            if u < 0.0 || v < 0.0 || u + v > 1.0 || height >= below {
                continue;
            }
            if let Some(top) = tops.get_mut(row * CELLS + column)
                && top.is_none_or(|top| top.height < height)
            {
                *top = Some(Top { height, reflectance });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::{DMat4, Vec2};

    use super::*;
    use crate::scene::{
        Image, Material, Sampler, Texture, TextureRef,
        build::{SceneBuilder, dielectric},
        procedural::shapes,
    };

    #[test]
    fn the_bed_is_what_is_seen_from_above_through_the_water() {
        let mut builder = SceneBuilder::new("bed");
        let plane = |builder: &mut SceneBuilder, color: [f32; 3], size: Vec2, at: DVec3| {
            let material =
                builder.add_material(dielectric("diffuse", Vec3::from_array(color), 1.0));
            let mesh = builder.add_mesh("plane", shapes::plane(size, 1, 1), material);
            builder.instance("plane", mesh, DMat4::from_translation(at));
        };
        // The ground extends beyond the water. A slab of a quarter of its area lies on it; another
        // hangs above the surface.
        plane(&mut builder, [0.2, 0.4, 0.6], Vec2::splat(50.0), DVec3::new(3.0, -2.0, 0.0));
        plane(&mut builder, [0.8, 0.0, 0.6], Vec2::splat(2.0), DVec3::new(-1.0, -1.0, 1.0));
        plane(&mut builder, [1.0, 1.0, 1.0], Vec2::splat(9.0), DVec3::new(0.0, 1.0, 0.0));
        plane(&mut builder, [1.0, 1.0, 1.0], Vec2::splat(9.0), DVec3::ZERO);
        let scene = builder.build().unwrap();
        let over = |size: f64| (DVec3::new(-size, 0.0, -size), DVec3::new(size, 0.0, size));
        let mean = scene.bed_reflectance(over(2.0));
        let want = 0.75 * Vec3::new(0.2, 0.4, 0.6) + 0.25 * Vec3::new(0.8, 0.0, 0.6);
        assert!((mean - want).abs().max_element() < 1e-5, "{mean}");
        let dry = (DVec3::new(100.0, 0.0, 100.0), DVec3::new(101.0, 0.0, 101.0));
        assert_eq!(scene.bed_reflectance(dry), Vec3::ZERO);
        // An inverted box and positions that are NaN.
        let none = (DVec3::MAX, DVec3::MIN);
        assert_eq!(scene.bed_reflectance(none), Vec3::ZERO);
        assert_eq!(scene.bed_reflectance((DVec3::NAN, DVec3::NAN)), Vec3::ZERO);
    }

    #[test]
    fn metal_is_what_factor_and_texture_say() {
        let mut builder = SceneBuilder::new("bed");
        let diffuse = Material { metallic: 1.0, ..dielectric("floor", Vec3::splat(0.8), 1.0) };
        let floor = builder.add_material(diffuse);
        let mesh = builder.add_mesh("floor", shapes::plane(Vec2::splat(4.0), 1, 1), floor);
        builder.instance("floor", mesh, DMat4::from_translation(DVec3::NEG_Y));
        let mut scene = builder.build().unwrap();
        let over = (DVec3::new(-1.0, 0.0, -1.0), DVec3::new(1.0, 0.0, 1.0));
        assert_eq!(scene.bed_reflectance(over), Vec3::ZERO);
        // glTF's metallic factor is 1 with a texture: here half of the texels are metal.
        scene.images.push(Image {
            name: "metal".into(),
            width: 2,
            height: 1,
            rgba8: [0, 128, 0, 255, 0, 128, 255, 255].into(),
            is_error_pattern: false,
            compressed: None,
        });
        scene.textures.push(Texture { image: 0, sampler: Sampler::default() });
        let texture = TextureRef { texture: 0, uv_set: 0, transform: TextureRef::IDENTITY };
        scene.materials[0].metallic_roughness_texture = Some(texture);
        let half = scene.bed_reflectance(over);
        assert!((half - Vec3::splat(0.4)).abs().max_element() < 1e-6, "{half}");
        // Without a material, a primitive has glTF's default one, a metal.
        scene.meshes[0].primitives[0].material = None;
        assert_eq!(scene.bed_reflectance(over), Vec3::ZERO);
    }
}
