//! Materials and textures on the device.

use std::{collections::HashMap, sync::Arc};

use glam::{Vec3, Vec4};

use super::{
    alpha_coverage,
    mips::{self, TextureSemantic},
};
use crate::{
    gpu::{
        Bind, Gpu, GpuResult, GraphicsPipeline, Image, ImageInfo, SamplerInfo, TextureSet,
        shader_structs::frame::{
            self, MATERIAL_BLEND, MATERIAL_DOUBLE_SIDED, MATERIAL_EMISSION_MAP, MATERIAL_MASK,
            MATERIAL_NORMAL_MAP, MATERIAL_UNLIT, NONE,
        },
        upload::Uploader,
        vk,
    },
    scene::{self, AlphaMode, Scene, TextureRef, Wrap},
};

pub(super) fn materials_with_tangents(scene: &Scene) -> Vec<bool> {
    let mut has = vec![false; scene.materials.len()];
    for primitive in scene.meshes.iter().flat_map(|mesh| &mesh.primitives) {
        if let Some(slot) = primitive.material.and_then(|material| has.get_mut(material)) {
            *slot |= !primitive.tangents.is_empty();
        }
    }
    has
}

pub(super) fn texture_slots(material: &scene::Material) -> [Option<TextureRef>; 5] {
    [
        material.base_color_texture,
        material.metallic_roughness_texture,
        material.normal_texture,
        material.occlusion_texture,
        material.emissive_texture,
    ]
}

pub(super) fn pack_material(material: &scene::Material, has_tangents: bool) -> frame::Material {
    let mut uv_rows = [Vec4::ZERO; 10];
    for (slot, texture) in texture_slots(material).into_iter().enumerate() {
        let (transform, set) =
            texture.map_or((TextureRef::IDENTITY, 0), |t| (t.transform, t.uv_set));
        for (row, values) in transform.iter().enumerate() {
            uv_rows[slot * 2 + row] = Vec3::from_array(*values).extend(f32::from(set));
        }
    }
    let mut flags = 0;
    let mut cutoff = 0.0;
    if let AlphaMode::Mask { cutoff: value } = material.alpha {
        flags |= MATERIAL_MASK;
        cutoff = value;
    }
    for (on, flag) in [
        (material.unlit, MATERIAL_UNLIT),
        (material.alpha == AlphaMode::Blend, MATERIAL_BLEND),
        (material.emissive_texture.is_some(), MATERIAL_EMISSION_MAP),
        (material.double_sided, MATERIAL_DOUBLE_SIDED),
        (material.normal_texture.is_some() && has_tangents, MATERIAL_NORMAL_MAP),
    ] {
        flags |= if on { flag } else { 0 };
    }
    frame::Material {
        base_color: material.base_color,
        emission: material.emission.extend(cutoff),
        metallic: material.metallic,
        roughness: material.roughness,
        normal_scale: material.normal_scale,
        occlusion_strength: material.occlusion_strength,
        flags,
        layers: NONE,
        forward_mark: 1.0,
        uv_rows,
        ..Default::default()
    }
}

pub(super) const SLOT_NAMES: [&str; 5] = [
    "base_color_texture",
    "metallic_roughness_texture",
    "normal_texture",
    "occlusion_texture",
    "emissive_texture",
];

/// Uploaded images by meaning: one used as both color and data is stored twice.
pub(super) type Uploaded = HashMap<(usize, TextureSemantic, Option<u32>), Arc<Image>>;

/// Texture slot of a material.
pub(super) struct Slot {
    pub(super) reference: Option<TextureRef>,
    pub(super) meaning: TextureSemantic,
    /// Alpha cutoff of its texels.
    pub(super) cutoff: Option<f32>,
}

/// Target set index and slot names of a pipeline.
pub(super) struct SetPlace<'a> {
    pub(super) name: &'a str,
    pub(super) pipeline: &'a GraphicsPipeline,
    pub(super) set: u32,
    pub(super) slots: &'a [&'a str],
}

/// Creates one texture set per list of slots; missing textures are white.
pub(super) fn upload_sets(
    gpu: &Gpu,
    uploader: &mut Uploader,
    (scene, white, uploaded): (&Scene, &Arc<Image>, &mut Uploaded),
    materials: impl Iterator<Item = Vec<Slot>>,
    place: &SetPlace<'_>,
) -> GpuResult<Arc<TextureSet>> {
    let plain = SamplerInfo {
        mag: vk::Filter::LINEAR,
        min: vk::Filter::LINEAR,
        mip: vk::SamplerMipmapMode::LINEAR,
        mips: true,
        wrap_u: vk::SamplerAddressMode::REPEAT,
        wrap_v: vk::SamplerAddressMode::REPEAT,
    };
    let mut lists: Vec<Vec<(Arc<Image>, SamplerInfo)>> = Vec::new();
    for slots in materials {
        let mut list = Vec::new();
        for Slot { reference, meaning, cutoff } in slots {
            let texture = reference.and_then(|reference| scene.textures.get(reference.texture));
            let picture = texture
                .and_then(|texture| scene.images.get(texture.image).map(|image| (texture, image)));
            let Some((texture, image)) = picture else {
                list.push((Arc::clone(white), plain));
                continue;
            };
            let key = (texture.image, meaning, cutoff.map(f32::to_bits));
            let on_device = match uploaded.get(&key) {
                Some(known) => Arc::clone(known),
                None => {
                    let made = material_texture_image(gpu, uploader, image, meaning, cutoff)?;
                    uploaded.insert(key, Arc::clone(&made));
                    made
                }
            };
            list.push((on_device, sampler_info(&texture.sampler)));
        }
        lists.push(list);
    }
    let binds: Vec<Vec<(&str, Bind<'_>)>> = lists
        .iter()
        .map(|list| {
            place
                .slots
                .iter()
                .zip(list)
                .map(|(&name, (image, info))| (name, Bind::Texture(image, *info)))
                .collect()
        })
        .collect();
    TextureSet::new(gpu, place.name, place.pipeline, place.set, &binds)
}

/// Uploads the textures of the G-buffer's slots, one set per material.
pub(super) fn upload_textures(
    gpu: &Gpu,
    uploader: &mut Uploader,
    pictures: (&Scene, &Arc<Image>, &mut Uploaded),
    materials: &[scene::Material],
    pipeline: &GraphicsPipeline,
) -> GpuResult<Arc<TextureSet>> {
    let lists = materials.iter().map(|material| {
        let slot = |(slot, reference)| Slot {
            reference,
            meaning: meaning(slot, material),
            cutoff: cutoff(slot, material),
        };
        texture_slots(material).into_iter().enumerate().map(slot).collect()
    });
    let place = SetPlace { name: "material textures", pipeline, set: 1, slots: &SLOT_NAMES };
    upload_sets(gpu, uploader, pictures, lists, &place)
}

/// Meaning of the texture in a slot of `texture_slots`.
fn meaning(slot: usize, material: &scene::Material) -> TextureSemantic {
    match slot {
        0 if material.alpha != AlphaMode::Opaque => TextureSemantic::Cutout,
        0 | 4 => TextureSemantic::Color,
        2 => TextureSemantic::Normals,
        _ => TextureSemantic::Data,
    }
}

/// Alpha cutoff of the texture in a slot, if any.
fn cutoff(slot: usize, material: &scene::Material) -> Option<f32> {
    let AlphaMode::Mask { cutoff } = material.alpha else { return None };
    let factor = material.base_color.w;
    (slot == 0 && factor > 0.0).then_some(cutoff / factor)
}

/// True if the texture has an sRGB format.
const fn is_srgb(meaning: TextureSemantic) -> bool {
    matches!(meaning, TextureSemantic::Color | TextureSemantic::Cutout)
}

/// Image of a texture. Its levels preserve the alpha coverage of level 0 for `cutoff`. Uses the
/// file's compressed blocks and levels if suitable, otherwise a generated mip chain.
fn material_texture_image(
    gpu: &Gpu,
    uploader: &mut Uploader,
    picture: &scene::Image,
    meaning: TextureSemantic,
    cutoff: Option<f32>,
) -> GpuResult<Arc<Image>> {
    let limit = gpu.limits().max_image_dimension2_d;
    let srgb = is_srgb(meaning);
    // Normal maps need a variance in alpha, which files do not have.
    let blocks = picture.compressed.as_deref().filter(|blocks| {
        meaning != TextureSemantic::Normals
            && (!srgb || blocks.format.may_be_srgb())
            && gpu.info().has("block compression")
            && picture.width.max(picture.height) <= limit
    });
    let Some(blocks) = blocks else {
        let (name, pixels) = (&picture.name, &picture.rgba8);
        return texture_image(
            gpu,
            uploader,
            (name, pixels, picture.width, picture.height),
            meaning,
            cutoff,
        );
    };
    let info = ImageInfo {
        width: picture.width,
        height: picture.height,
        mips: blocks.levels.len() as u32,
        format: block_format(blocks.format, srgb),
        usage: vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST,
    };
    let image = Image::new(gpu, &format!("texture {}", picture.name), info)?;
    uploader.texture(&image, &blocks.levels)?;
    Ok(image)
}

const fn block_format(format: scene::BlockFormat, srgb: bool) -> vk::Format {
    use scene::BlockFormat::{Bc1, Bc2, Bc3, Bc4, Bc5, Bc7};
    match (format, srgb) {
        (Bc1, true) => vk::Format::BC1_RGBA_SRGB_BLOCK,
        (Bc1, false) => vk::Format::BC1_RGBA_UNORM_BLOCK,
        (Bc2, true) => vk::Format::BC2_SRGB_BLOCK,
        (Bc2, false) => vk::Format::BC2_UNORM_BLOCK,
        (Bc3, true) => vk::Format::BC3_SRGB_BLOCK,
        (Bc3, false) => vk::Format::BC3_UNORM_BLOCK,
        (Bc4, _) => vk::Format::BC4_UNORM_BLOCK,
        (Bc5, _) => vk::Format::BC5_UNORM_BLOCK,
        (Bc7, true) => vk::Format::BC7_SRGB_BLOCK,
        (Bc7, false) => vk::Format::BC7_UNORM_BLOCK,
    }
}

pub(super) fn texture_image(
    gpu: &Gpu,
    uploader: &mut Uploader,
    (name, rgba8, width, height): (&str, &[u8], u32, u32),
    meaning: TextureSemantic,
    cutoff: Option<f32>,
) -> GpuResult<Arc<Image>> {
    let mut levels = mips::chain(rgba8, width, height, meaning);
    if let Some(cutoff) = cutoff {
        alpha_coverage::keep(&mut levels, cutoff);
    }
    let (mut width, mut height) = (width, height);
    // An image beyond the device's limit starts at a smaller level.
    let limit = gpu.limits().max_image_dimension2_d;
    while (width > limit || height > limit) && levels.len() > 1 {
        levels.remove(0);
        (width, height) = ((width / 2).max(1), (height / 2).max(1));
    }
    let info = ImageInfo {
        width,
        height,
        mips: levels.len() as u32,
        format: if is_srgb(meaning) {
            vk::Format::R8G8B8A8_SRGB
        } else {
            vk::Format::R8G8B8A8_UNORM
        },
        usage: vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST,
    };
    let image = Image::new(gpu, &format!("texture {name}"), info)?;
    uploader.texture(&image, &levels)?;
    Ok(image)
}

pub(super) fn sampler_info(sampler: &scene::Sampler) -> SamplerInfo {
    let filter = |linear| if linear { vk::Filter::LINEAR } else { vk::Filter::NEAREST };
    let wrap = |wrap| match wrap {
        Wrap::Repeat => vk::SamplerAddressMode::REPEAT,
        Wrap::Mirror => vk::SamplerAddressMode::MIRRORED_REPEAT,
        Wrap::Clamp => vk::SamplerAddressMode::CLAMP_TO_EDGE,
    };
    SamplerInfo {
        mag: filter(sampler.mag_linear),
        min: filter(sampler.min_linear),
        mip: if sampler.mip_linear == Some(true) {
            vk::SamplerMipmapMode::LINEAR
        } else {
            vk::SamplerMipmapMode::NEAREST
        },
        mips: sampler.mip_linear.is_some(),
        wrap_u: wrap(sampler.wrap_u),
        wrap_v: wrap(sampler.wrap_v),
    }
}
