//! Mean colors of textures, for shading without texture access.

use glam::Vec3;

use super::{Scene, TextureRef, emissive::LINEAR};

impl Scene {
    /// Mean color of a texture (linear Rec.709) over its opaque texels; white without a texture.
    #[must_use]
    pub fn mean_color(&self, texture: TextureRef) -> Vec3 {
        let image = self.textures.get(texture.texture).and_then(|used| self.images.get(used.image));
        let Some(image) = image else { return Vec3::ONE };
        // Rows and columns step independently, to avoid aliasing with a pattern of the image.
        let (step, side) =
            (|length: u32| (length / MEAN_SIDE).max(1) as usize, image.width.max(1) as usize);
        let (mut sum, mut weight) = (Vec3::ZERO, 0.0f32);
        for row in image.rgba8.chunks_exact(side * 4).step_by(step(image.height)) {
            for texel in row.chunks_exact(4).step_by(step(image.width)) {
                let &[r, g, b, a] = texel else { continue };
                let opacity = f32::from(a) / 255.0;
                sum += Vec3::new(
                    LINEAR[usize::from(r)],
                    LINEAR[usize::from(g)],
                    LINEAR[usize::from(b)],
                ) * opacity;
                weight += opacity;
            }
        }
        if weight > 0.0 { sum / weight } else { Vec3::ONE }
    }

    /// Mean of a texture's red, green and blue as data, 0 to 1; 1 without a texture.
    #[must_use]
    pub fn mean_data(&self, texture: TextureRef) -> Vec3 {
        let image = self.textures.get(texture.texture).and_then(|used| self.images.get(used.image));
        let texels = image.map_or(&[][..], |image| &image.rgba8[..]).chunks_exact(4);
        let count = texels.len();
        let sum = texels.fold(glam::DVec3::ZERO, |sum, texel| match *texel {
            [r, g, b, _] => sum + glam::DVec3::new(r.into(), g.into(), b.into()),
            _ => sum,
        });
        if count > 0 { (sum / (255.0 * count as f64)).as_vec3() } else { Vec3::ONE }
    }
}

/// Approximate number of texels along a side that the mean samples.
const MEAN_SIDE: u32 = 128;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{
        Sampler,
        build::SceneBuilder,
        procedural::{shapes, textures::TextureImage},
    };

    #[test]
    fn the_mean_is_of_light_and_of_what_is_opaque() {
        let mut builder = SceneBuilder::new("means");
        let picture = |rgba: fn(usize) -> [u8; 4]| TextureImage {
            width: 300,
            height: 200,
            rgba8: (0..60_000).flat_map(rgba).collect(),
        };
        let chequered =
            picture(|i| if (i % 300 + i / 300) % 2 == 0 { [255; 4] } else { [0, 0, 0, 255] });
        let leaf = picture(|i| if i % 300 < 30 { [0, 188, 0, 255] } else { [255, 255, 255, 0] });
        let textures = [chequered, leaf].map(|picture| {
            let texture = builder.add_texture("picture", picture, Sampler::default());
            SceneBuilder::texture_ref(texture)
        });
        let material =
            builder.add_material(crate::scene::build::dielectric("plain", Vec3::ONE, 0.5));
        let mesh = builder.add_mesh("plane", shapes::plane(glam::Vec2::ONE, 1, 1), material);
        builder.instance("plane", mesh, glam::DMat4::IDENTITY);
        let scene = builder.build().unwrap();
        let [chequered, leaf] = textures.map(|texture| scene.mean_color(texture));
        assert!((chequered - Vec3::splat(0.5)).abs().max_element() < 0.01, "{chequered}");
        // Code 188 is half of the light; transparent texels do not count.
        assert!((leaf - Vec3::new(0.0, 0.503, 0.0)).abs().max_element() < 0.005, "{leaf}");
    }
}
