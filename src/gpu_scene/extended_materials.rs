//! Extended materials on the device, whose lobes the G-buffer does not hold: factors, textures,
//! tables (docs/extended-materials.md).

use std::sync::Arc;

use glam::{Vec3, Vec4};

use super::{
    buffers::uploaded_buffer,
    layer_tables,
    materials::{SetPlace, Slot, Uploaded, sampler_info, upload_sets},
    mips::TextureSemantic,
};
use crate::{
    gpu::{
        Buffer, Gpu, GpuResult, GraphicsPipeline, Image, ImageInfo, SamplerInfo, TextureSet,
        shader_structs::{
            features::{
                FEATURE_ANISOTROPY, FEATURE_CLEARCOAT, FEATURE_DIFFUSE_TRANSMISSION,
                FEATURE_IRIDESCENCE, FEATURE_SHEEN,
            },
            frame::{self, EXTENDED_TANGENTS, EXTENDED_VOLUME, FORWARD_MARK, NONE},
        },
        upload::Uploader,
        vk,
    },
    scene::{
        self, AlphaMode, Scene, TextureRef, Water,
        animation::{AnimationTarget, MaterialValue, ValueTarget},
    },
};

/// Extended materials of the scene.
pub struct ExtendedMaterials {
    /// `ExtendedMaterial`s.
    pub materials: Arc<Buffer>,
    /// One texture set per material, for set 2.
    pub textures: Arc<TextureSet>,
    /// Albedo tables of the lobes (`layer_tables`).
    pub tables: Arc<Buffer>,
    /// Index here of each of the scene's materials.
    pub numbers: Vec<Option<u32>>,
    /// True for each of the scene's materials whose surfaces have tangents.
    has_tangents: Vec<bool>,
    /// Textures of waters, in order.
    pub waters: Vec<WaterTextures>,
    /// Lobes that some material has, as `FEATURE_` bits (`shaders/shared/features.glsl`).
    pub lobes: u32,
}

/// Textures of a water, for passes without its material.
pub struct WaterTextures {
    /// Flow map.
    pub flow: (Arc<Image>, SamplerInfo),
    /// Normal map of the ripples.
    pub ripples: (Arc<Image>, SamplerInfo),
}

/// True if a material needs the forward pass, since the G-buffer does not hold all its lobes. With
/// `multiscatter`, all lit materials do: multiple scattering between facets is part of the forward
/// pass.
#[must_use]
pub fn is_extended(material: &scene::Material, multiscatter: bool) -> bool {
    // A texture or factor of zero disables a lobe, and costs no pass.
    let dielectric = material.metallic < 1.0 || material.metallic_roughness_texture.is_some();
    let index = material.ior.to_bits() != 1.5f32.to_bits();
    let own_reflection = index || material.specular != scene::Specular::default();
    !material.unlit
        && (multiscatter
            || material.clearcoat.factor > 0.0
            || material.sheen.color != Vec3::ZERO
            || material.anisotropy.strength > 0.0
            || material.iridescence.factor > 0.0
            || dielectric && (own_reflection || material.diffuse_transmission.factor > 0.0)
            || refracts(material))
}

/// True if light refracts through the surface.
#[must_use]
pub fn refracts(material: &scene::Material) -> bool {
    material.transmits()
}

fn slots(material: &scene::Material) -> [Option<TextureRef>; 17] {
    let water = |which: usize| {
        let texture = *material.water.as_ref()?.textures.get(which)?;
        Some(TextureRef { texture, uv_set: 0, transform: TextureRef::IDENTITY })
    };
    [
        material.transmission_texture,
        material.volume.thickness_texture,
        material.specular.texture,
        material.specular.color_texture,
        material.clearcoat.texture,
        material.clearcoat.roughness_texture,
        material.clearcoat.normal_texture,
        material.sheen.color_texture,
        material.sheen.roughness_texture,
        material.anisotropy.texture,
        material.iridescence.texture,
        material.iridescence.thickness_texture,
        material.diffuse_transmission.texture,
        material.diffuse_transmission.color_texture,
        water(0),
        water(1),
        water(2),
    ]
}

const SLOT_NAMES: [&str; 17] = [
    "transmission_texture",
    "thickness_texture",
    "specular_texture",
    "specular_color_texture",
    "coat_texture",
    "coat_roughness_texture",
    "coat_normal_texture",
    "sheen_color_texture",
    "sheen_roughness_texture",
    "anisotropy_texture",
    "iridescence_texture",
    "film_thickness_texture",
    "diffuse_transmission_texture",
    "diffuse_transmission_color_texture",
    "water_flow_texture",
    "water_ripple_texture",
    "water_foam_texture",
];

/// Slots of color textures.
const COLORS: [usize; 3] = [3, 7, 13];
/// Slots of normal maps.
const NORMALS: [usize; 2] = [6, 15];
/// Number of slots with the material's own texture transform; water textures are placed in world
/// space.
const PLACED: usize = 14;

/// Marks pixels of an extended material, which the forward pass draws, in the G-buffer
/// (`FORWARD_MARK`).
pub(super) fn forward_mark(material: &scene::Material) -> f32 {
    let known =
        |factor: f32, texture: Option<TextureRef>| if texture.is_some() { 0.0 } else { factor };
    let coat = material.clearcoat;
    let coat_roughness =
        if coat.factor > 0.0 { known(coat.roughness, coat.roughness_texture) } else { 1.0 };
    let sheen = material.sheen;
    let sheen_roughness = if sheen.color == Vec3::ZERO {
        1.0
    } else {
        known(sheen.roughness, sheen.roughness_texture)
    };
    let min = coat_roughness.min(sheen_roughness).clamp(0.0, 1.0);
    let own_normal = coat.factor > 0.0 && coat.normal_texture.is_some();
    // Rounded down, since half floats hold 10 bits: the bound of the clustered lights must stay
    // conservative.
    let min = (min * 256.0).floor() / 256.0 * 0.99;
    FORWARD_MARK + min + if own_normal { FORWARD_MARK } else { 0.0 }
}

fn pack(material: &scene::Material, has_tangents: bool, water: u32) -> frame::ExtendedMaterial {
    let mut uv_rows = [Vec4::ZERO; 28];
    let mut textures = 0;
    for (slot, texture) in slots(material).into_iter().enumerate().take(PLACED) {
        let (transform, set) =
            texture.map_or((TextureRef::IDENTITY, 0), |t| (t.transform, t.uv_set));
        textures |= u32::from(texture.is_some()) << slot;
        for (row, values) in transform.iter().enumerate() {
            uv_rows[slot * 2 + row] = Vec3::from_array(*values).extend(f32::from(set));
        }
    }
    let metal_only = material.metallic >= 1.0 && material.metallic_roughness_texture.is_none();
    frame::ExtendedMaterial {
        specular_color: material.specular.color,
        specular: material.specular.factor,
        sheen_color: material.sheen.color,
        sheen_roughness: material.sheen.roughness,
        diffuse_transmission_color: material.diffuse_transmission.color,
        diffuse_transmission: material.diffuse_transmission.factor,
        // Finite, so that a path of length 0 absorbs nothing.
        absorption: material.volume.absorption().as_vec3().min(Vec3::splat(1e30)),
        thickness: material.volume.thickness,
        ior: material.ior,
        transmission: if metal_only { 0.0 } else { material.transmission },
        dispersion: material.dispersion,
        coat: material.clearcoat.factor,
        coat_roughness: material.clearcoat.roughness,
        coat_normal_scale: material.clearcoat.normal_scale,
        anisotropy: material.anisotropy.strength,
        rotation: material.anisotropy.rotation,
        iridescence: material.iridescence.factor,
        film_ior: material.iridescence.ior,
        film_minimum: material.iridescence.thickness_minimum,
        film_maximum: material.iridescence.thickness_maximum,
        textures,
        flags: if material.encloses_volume() { EXTENDED_VOLUME } else { 0 }
            | if has_tangents { EXTENDED_TANGENTS } else { 0 },
        water,
        uv_rows,
        ..Default::default()
    }
}

/// Lobes of a material, as `FEATURE_` bits. A texture can only reduce a factor.
fn lobes_of(material: &frame::ExtendedMaterial) -> u32 {
    [
        (material.coat > 0.0, FEATURE_CLEARCOAT),
        (material.sheen_color != Vec3::ZERO, FEATURE_SHEEN),
        (material.anisotropy > 0.0, FEATURE_ANISOTROPY),
        (material.iridescence > 0.0, FEATURE_IRIDESCENCE),
        (material.diffuse_transmission > 0.0, FEATURE_DIFFUSE_TRANSMISSION),
    ]
    .into_iter()
    .filter_map(|(has, bit)| has.then_some(bit))
    .fold(0, |bits, bit| bits | bit)
}

/// The materials with each lobe that an animation may turn on, at its least strength: passes and
/// pipelines of a material are chosen at upload, for all times.
pub(super) fn with_animated_lobes(
    scene: &Scene,
    materials: &[scene::Material],
) -> Vec<scene::Material> {
    let mut materials = materials.to_vec();
    for channel in scene.animations.iter().flat_map(|animation| &animation.channels) {
        let AnimationTarget::Value(ValueTarget::Material(index, value)) = channel.target else {
            continue;
        };
        let Some(material) = materials.get_mut(index) else { continue };
        let least = |factor: &mut f32| *factor = factor.max(f32::MIN_POSITIVE);
        match value {
            MaterialValue::Clearcoat => least(&mut material.clearcoat.factor),
            MaterialValue::SheenColor => least(&mut material.sheen.color.x),
            MaterialValue::Anisotropy => least(&mut material.anisotropy.strength),
            MaterialValue::Iridescence => least(&mut material.iridescence.factor),
            MaterialValue::Transmission => least(&mut material.transmission),
            MaterialValue::DiffuseTransmission => least(&mut material.diffuse_transmission.factor),
            MaterialValue::Metallic => material.metallic = 0.0,
            MaterialValue::Ior => material.ior = 1.0,
            MaterialValue::Specular => material.specular.factor = 0.0,
            MaterialValue::SpecularColor => material.specular.color = Vec3::ZERO,
            _ => {}
        }
    }
    materials
}

/// Packs the materials that have a number, in order.
fn pack_extended(
    materials: &[scene::Material],
    has_tangents: &[bool],
    numbers: &[Option<u32>],
) -> Vec<frame::ExtendedMaterial> {
    let mut waters = 0..;
    let numbered = materials.iter().enumerate().zip(numbers).filter(|(_, number)| number.is_some());
    let pack = |((index, material), _): ((usize, &scene::Material), _)| {
        let water = material.water.as_ref().and_then(|_| waters.next()).unwrap_or(NONE);
        pack(material, has_tangents.get(index).copied().unwrap_or(false), water)
    };
    numbered.map(pack).collect()
}

impl ExtendedMaterials {
    /// Uploads the factors of the materials of another pose.
    ///
    /// # Errors
    /// `GpuError` if memory runs out or the device is lost.
    pub(super) fn follow(
        &mut self,
        gpu: &Gpu,
        uploader: &mut Uploader,
        materials: &[scene::Material],
    ) -> GpuResult<()> {
        let packed = pack_extended(materials, &self.has_tangents, &self.numbers);
        self.materials = upload_packed(gpu, uploader, &packed)?;
        Ok(())
    }
}

fn upload_packed(
    gpu: &Gpu,
    uploader: &mut Uploader,
    packed: &[frame::ExtendedMaterial],
) -> GpuResult<Arc<Buffer>> {
    uploaded_buffer(gpu, uploader, ("extended materials", 0), bytemuck::cast_slice(packed))
}

/// Uploads the extended materials; `None` without any. `widest`: the materials
/// [`with_animated_lobes`]; `pipeline`: any pipeline with set 2.
pub(super) fn upload_layers(
    gpu: &Gpu,
    uploader: &mut Uploader,
    (scene, white, uploaded): (&Scene, &Arc<Image>, &mut Uploaded),
    (materials, widest, has_tangents): (&[scene::Material], &[scene::Material], Vec<bool>),
    pipeline: &dyn Fn() -> GpuResult<Arc<GraphicsPipeline>>,
) -> GpuResult<Option<ExtendedMaterials>> {
    let mut count = 0..;
    let numbers: Vec<Option<u32>> = widest
        .iter()
        .map(|material| is_extended(material, scene.multiscatter).then(|| count.next()).flatten())
        .collect();
    let packed = pack_extended(materials, &has_tangents, &numbers);
    if packed.is_empty() {
        return Ok(None);
    }
    let buffer = upload_packed(gpu, uploader, &packed)?;
    let tables = bytemuck::cast_slice(layer_tables::table());
    let tables = uploaded_buffer(gpu, uploader, ("layer tables", 0), tables)?;
    let numbered = materials.iter().zip(&numbers).filter(|(_, number)| number.is_some());
    let lists = numbered.map(|(material, _)| {
        let slot = |(slot, reference)| {
            let meaning = match slot {
                slot if COLORS.contains(&slot) => TextureSemantic::Color,
                slot if NORMALS.contains(&slot) => TextureSemantic::Normals,
                _ => TextureSemantic::Data,
            };
            Slot { reference, meaning, cutoff: None }
        };
        slots(material).into_iter().enumerate().map(slot).collect()
    });
    let pipeline = pipeline()?;
    let place =
        SetPlace { name: "layer textures", pipeline: &pipeline, set: 2, slots: &SLOT_NAMES };
    let textures = upload_sets(gpu, uploader, (scene, white, uploaded), lists, &place)?;
    let pictures = |water: &Water| {
        let of = |which: usize, meaning| {
            let texture = scene.textures.get(*water.textures.get(which)?)?;
            let image = uploaded.get(&(texture.image, meaning, None))?;
            Some((Arc::clone(image), sampler_info(&texture.sampler)))
        };
        Some(WaterTextures {
            flow: of(0, TextureSemantic::Data)?,
            ripples: of(1, TextureSemantic::Normals)?,
        })
    };
    let waters =
        materials.iter().filter_map(|material| pictures(material.water.as_ref()?)).collect();
    let lobes = pack_extended(widest, &has_tangents, &numbers)
        .iter()
        .map(lobes_of)
        .fold(0, |all, lobes| all | lobes);
    Ok(Some(ExtendedMaterials {
        materials: buffer,
        textures,
        tables,
        numbers,
        has_tangents,
        waters,
        lobes,
    }))
}

/// Format of the back faces of refractive volumes: depth bits, and normal.
pub const BACK_FACES: vk::Format = vk::Format::R32G32_UINT;

/// One texel without a back face (`BACK_FACES`).
pub(super) fn no_back_faces(gpu: &Gpu, uploader: &mut Uploader) -> GpuResult<Arc<Image>> {
    let info = ImageInfo {
        width: 1,
        height: 1,
        mips: 1,
        format: BACK_FACES,
        usage: vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST,
    };
    let image = Image::new(gpu, "no back face", info)?;
    uploader.texture(&image, &[vec![0; 8]])?;
    Ok(image)
}

/// True if an extended material is drawn over the lit image instead of into the G-buffer.
#[must_use]
pub fn needs_blend_pass(material: &scene::Material) -> bool {
    material.alpha == AlphaMode::Blend || refracts(material)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Clearcoat, Sheen, Specular, build::dielectric};

    #[test]
    fn only_extended_materials_use_the_forward_pass() {
        let plain = dielectric("plain", Vec3::splat(0.5), 0.5);
        assert!(!is_extended(&plain, false) && is_extended(&plain, true));
        assert!(!is_extended(&scene::Material { unlit: true, ior: 1.8, ..plain.clone() }, true));
        for material in [
            scene::Material { ior: 1.4, ..plain.clone() },
            scene::Material {
                specular: Specular { factor: 0.5, ..Specular::default() },
                ..plain.clone()
            },
            scene::Material {
                clearcoat: Clearcoat { factor: 0.5, ..Clearcoat::default() },
                ..plain.clone()
            },
            scene::Material { transmission: 0.5, ..plain.clone() },
        ] {
            assert!(is_extended(&material, false), "{material:?}");
        }
        // The index of refraction does not apply to metals.
        assert!(!is_extended(
            &scene::Material { metallic: 1.0, ior: 1.4, transmission: 1.0, ..plain },
            false
        ));
    }

    #[test]
    fn marks_hold_the_least_roughness() {
        let plain = dielectric("plain", Vec3::splat(0.5), 0.5);
        for roughness in [0.0, 0.1, 0.5, 1.0f32] {
            let coat = Clearcoat { factor: 1.0, roughness, ..Clearcoat::default() };
            let sheen = Sheen { color: Vec3::ONE, roughness: 0.9, ..Sheen::default() };
            let mark = forward_mark(&scene::Material { clearcoat: coat, sheen, ..plain.clone() });
            let read = half::f16::from_f32(mark).to_f32().fract();
            assert!((FORWARD_MARK..FORWARD_MARK + 1.0).contains(&mark), "{mark}");
            assert!(read <= roughness && read > roughness.min(0.9) - 0.03, "{read} {roughness}");
        }
    }
}
