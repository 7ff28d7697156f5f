//! Material factors of the whole scene, packed for the shaders.

use glam::Vec3;

use super::{
    area_lights, extended_materials,
    materials::{materials_with_tangents, pack_material},
};
use crate::{
    gpu::shader_structs::frame::{
        self, EMITTER_MARK, FORWARD_MARK, MATERIAL_LIGHT_SURFACE, MATERIAL_UNLIT, NONE,
    },
    scene::{self, Scene},
};

/// The scene's materials, the default one, and those of emitting light surfaces.
pub(super) fn all_materials(
    scene: &Scene,
    bodies: &[area_lights::LightBody],
) -> Vec<scene::Material> {
    let own = scene.materials.iter().cloned().chain([scene::Material::default()]);
    own.chain(bodies.iter().map(|body| body.material.clone())).collect()
}

/// Packs the square roots of a linear color (at most 1) into ten bits per channel.
fn packed_mean(color: Vec3) -> u32 {
    let bits =
        color.clamp(Vec3::ZERO, Vec3::ONE).to_array().map(|v| (v.sqrt() * 1023.0 + 0.5) as u32);
    bits[0] | bits[1] << 10 | bits[2] << 20
}

/// Packs all materials. `numbers`: indices of their extended materials.
pub(super) fn pack_all(
    scene: &Scene,
    materials: &[scene::Material],
    default_material: usize,
    numbers: &[Option<u32>],
) -> Vec<frame::Material> {
    let has_tangents = materials_with_tangents(scene);
    let pack = |(index, material): (usize, &scene::Material)| {
        let mut packed = pack_material(material, has_tangents.get(index).copied().unwrap_or(false));
        packed.flags |= if index > default_material { MATERIAL_LIGHT_SURFACE } else { 0 };
        packed.mean_color =
            packed_mean(material.base_color_texture.map_or(Vec3::ONE, |t| scene.mean_color(t)));
        let number = numbers.get(index).copied().flatten();
        packed.forward_mark = number.map_or(1.0, |_| extended_materials::forward_mark(material));
        let lights = index > default_material || scene.emissive_lights && !material.unlit;
        if lights && material.emission != Vec3::ZERO && packed.forward_mark < FORWARD_MARK {
            packed.forward_mark = EMITTER_MARK;
        }
        packed.layers = number.unwrap_or(NONE);
        packed
    };
    materials.iter().enumerate().map(pack).collect()
}

/// True if any surface emission is also a light (`EMITTER_MARK`).
pub(super) fn any_emitter(materials: &[frame::Material]) -> bool {
    materials.iter().any(|material| material.forward_mark == EMITTER_MARK)
}

/// Greatest emission of a shown surface outside of the forward pass (nits by channel), without its
/// texture; 0 for unlit surfaces. `shown`: indices of the materials of shown primitives.
pub(super) fn max_emission(
    materials: &[frame::Material],
    shown: impl Iterator<Item = usize>,
) -> f32 {
    let emits = |material: &&frame::Material| {
        material.forward_mark < FORWARD_MARK && material.flags & MATERIAL_UNLIT == 0
    };
    let channels = |material: &frame::Material| material.emission.truncate().max_element();
    shown.filter_map(|index| materials.get(index)).filter(emits).map(channels).fold(0.0, f32::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Material;

    #[test]
    fn hidden_and_unlit_surfaces_do_not_emit() {
        let lamp = |nits: f32, unlit: bool| {
            let emission = Vec3::new(nits, 0.0, 0.0);
            pack_material(&Material { emission, unlit, ..Material::default() }, false)
        };
        let materials = [lamp(10.0, false), lamp(1000.0, false), lamp(500.0, true)];
        let of = |shown: &[usize]| max_emission(&materials, shown.iter().copied());
        assert_eq!(of(&[0, 1, 2]), 1000.0);
        assert_eq!(of(&[0, 2]), 10.0, "the lamp of 1000 nits is not shown");
        assert_eq!([of(&[2]), of(&[])], [0.0, 0.0]);
    }
}
