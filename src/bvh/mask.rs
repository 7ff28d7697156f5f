//! Alpha masks: rays pass where a masked surface is cut out, and pass a blended surface with the
//! probability of its transparency (stochastic transparency: Enderton, Sintorn, Shirley and Luebke
//! 2010).

use glam::{Vec2, Vec3};

use crate::scene::{AlphaMode, Material, Primitive, Scene, TextureRef, Wrap};

/// A vertex of a masked triangle: texture coordinates after the material's texture transform, and
/// the factor of the texture's alpha.
pub type MaskVertex = [f32; 3];

/// Words of a mask's header; its texels follow.
const HEADER: usize = 5;

/// Header words: offset of the texels, width and height in texels, flags (below), and the bits of
/// the alpha cutoff.
const OFFSET: usize = 0;
const WIDTH: usize = 1;
const HEIGHT: usize = 2;
const FLAGS: usize = 3;
const CUTOFF: usize = 4;

/// Wrap mode outside the image: mirrored repeat or clamp to edge; neither bit means repeat. Two
/// bits for u, the next two for v.
const MIRROR: u32 = 1;
const CLAMP: u32 = 2;
const DOWN_SHIFT: u32 = 2;
/// Alpha is interpolated between texels.
const LINEAR: u32 = 0x10;
/// The surface is blended: its cutoff is a random number of the ray and the triangle.
const BLENDED: u32 = 0x20;

/// Factors of a material's mask that animations may change. Equal factors give equal masks over the
/// same texture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MaskFactors {
    cutoff: f32,
    alpha: f32,
    transform: [[f32; 3]; 2],
}

impl MaskFactors {
    /// `None` for an opaque material.
    pub fn of(material: &Material) -> Option<Self> {
        let cutoff = cutoff_of(material)?;
        let transform = material.base_color_texture.map_or(TextureRef::IDENTITY, |t| t.transform);
        Some(Self { cutoff, alpha: material.base_color.w, transform })
    }
}

/// Alpha cutoff of a masked material, 0 for a blended one; `None` for an opaque one.
const fn cutoff_of(material: &Material) -> Option<f32> {
    match material.alpha {
        AlphaMode::Opaque => None,
        AlphaMode::Mask { cutoff } => Some(cutoff),
        AlphaMode::Blend => Some(0.0),
    }
}

/// True if the alpha of a material's texture, if any, is 1 everywhere.
pub fn has_opaque_texture(scene: &Scene, material: &Material) -> bool {
    material
        .base_color_texture
        .and_then(|reference| scene.textures.get(reference.texture))
        .and_then(|texture| scene.images.get(texture.image))
        .is_none_or(|image| image.rgba8.chunks_exact(4).all(|texel| texel[3] == u8::MAX))
}

/// Appends a material's mask to `words`, four texels of alpha per word, and returns the offset of
/// its header; `None` for an opaque material.
///
/// Alpha comes from the full-resolution image with the sampler's magnification filter: a ray has no
/// footprint.
pub fn append(words: &mut Vec<u32>, scene: &Scene, material: &Material) -> Option<u32> {
    let cutoff = cutoff_of(material)?;
    let texture =
        material.base_color_texture.and_then(|reference| scene.textures.get(reference.texture));
    let picture = texture
        .and_then(|texture| scene.images.get(texture.image).map(|image| (texture.sampler, image)));
    let header = words.len();
    let (width, height, mut flags) = picture.map_or((1, 1, 0), |(sampler, image)| {
        let wrap = |wrap| match wrap {
            Wrap::Repeat => 0,
            Wrap::Mirror => MIRROR,
            Wrap::Clamp => CLAMP,
        };
        let flags = wrap(sampler.wrap_u) | wrap(sampler.wrap_v) << DOWN_SHIFT;
        (image.width, image.height, flags | if sampler.mag_linear { LINEAR } else { 0 })
    });
    if width * height == 1 {
        flags &= !LINEAR;
    }
    if material.alpha == AlphaMode::Blend {
        flags |= BLENDED;
    }
    words.extend([(header + HEADER) as u32, width, height, flags, cutoff.to_bits()]);
    match picture {
        None => words.push(255),
        Some((_, image)) => words.extend(image.rgba8.chunks(16).map(|texels| {
            texels.chunks(4).enumerate().fold(0, |word, (index, texel)| {
                word | u32::from(texel.get(3).copied().unwrap_or(255)) << (8 * index)
            })
        })),
    }
    Some(header as u32)
}

/// Mask vertices of the triangle with these vertex indices.
#[must_use]
pub fn corners(material: &Material, primitive: &Primitive, vertices: [u32; 3]) -> [MaskVertex; 3] {
    let (rows, set) =
        material.base_color_texture.map_or((TextureRef::IDENTITY, 0), |t| (t.transform, t.uv_set));
    let uvs = if set == 0 { &primitive.uv0 } else { &primitive.uv1 };
    vertices.map(|vertex| {
        let vertex = vertex as usize;
        let uv = uvs.get(vertex).copied().unwrap_or_default().extend(1.0);
        let alpha = primitive.colors.get(vertex).map_or(1.0, |color| color.w);
        [Vec3::from(rows[0]).dot(uv), Vec3::from(rows[1]).dot(uv), material.base_color.w * alpha]
    })
}

/// Alpha test: true where the masked triangle is present at these barycentric coordinates.
/// `random`: the cutoff of a blended surface, 0 to 1; `None`: a blended surface is always present.
#[must_use]
pub fn alpha_test(
    words: &[u32],
    header: u32,
    corners: &[MaskVertex; 3],
    barycentric: Vec2,
    random: Option<impl Fn() -> f32>,
) -> bool {
    let flags = words.get(header as usize + FLAGS).copied().unwrap_or(0);
    let is_blended = flags & BLENDED != 0;
    if is_blended && random.is_none() {
        return true;
    }
    let [a, b, c] = corners.map(Vec3::from);
    let at = a + (b - a) * barycentric.x + (c - a) * barycentric.y;
    let word = |index: usize| words.get(header as usize + index).copied().unwrap_or(0);
    let opacity = opacity(words, header as usize, at.x, at.y) * at.z;
    match random.filter(|_| is_blended) {
        Some(random) => opacity > random(),
        None => opacity >= f32::from_bits(word(CUTOFF)),
    }
}

/// Random number of a ray and a triangle of an instance with this seed and phase, 0 to 1: the same
/// for each test of the same ray, and on the device (`random_cutoff` of shaders/lib/bvh.glsl).
#[must_use]
pub fn random_cutoff(
    (seed, phase): (u32, u32),
    triangle: u32,
    origin: Vec3,
    direction: Vec3,
) -> f32 {
    let ray = origin.to_array().into_iter().chain(direction.to_array());
    let bits = ray.fold(hash(seed.wrapping_add(triangle)), |bits, v| hash(bits ^ v.to_bits()));
    (bits.wrapping_add(phase) >> 8) as f32 / 16_777_216.0
}

/// Frames whose random numbers of a ray and a triangle are spread evenly.
const SPREAD_FRAMES: u32 = 8;

/// Seed common to all instances, and phase, of the random cutoffs of a frame with this number: the
/// cutoffs of one ray are those of the first frame plus the van der Corput sequence over
/// `SPREAD_FRAMES` frames. The next frames have another seed, so that surfaces behind one another
/// pass light independently in the mean.
#[must_use]
pub const fn frame_seed(number: u32) -> (u32, u32) {
    (hash(number / SPREAD_FRAMES), (number % SPREAD_FRAMES).reverse_bits())
}

/// Hash of a word (pcg): Jarzynski and Olano 2020, "Hash Functions for GPU Rendering"; `random` of
/// shaders/lib/noise.glsl.
#[must_use]
pub const fn hash(word: u32) -> u32 {
    let state = word.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
    let mixed = ((state >> ((state >> 28) + 4)) ^ state).wrapping_mul(277_803_737);
    mixed >> 22 ^ mixed
}

fn opacity(words: &[u32], header: usize, u: f32, v: f32) -> f32 {
    let word = |index: usize| words.get(index).copied().unwrap_or(0);
    let (width, height, flags) =
        (word(header + WIDTH), word(header + HEIGHT), word(header + FLAGS));
    let texel = |x: u32, y: u32| {
        let index = y * width + x;
        (word((word(header + OFFSET) + index / 4) as usize) >> (8 * (index % 4)) & 255) as f32
            / 255.0
    };
    let place = |coordinate: f32, size: u32| wrapped(coordinate, flags & 3, size);
    let down = |coordinate: f32, size: u32| wrapped(coordinate, flags >> DOWN_SHIFT & 3, size);
    let (x, y) = (place(u, width), down(v, height));
    if flags & LINEAR == 0 {
        return texel((x as u32).min(width - 1), (y as u32).min(height - 1));
    }
    let (x0, x1, fx) = pair(x, flags & 3, width);
    let (y0, y1, fy) = pair(y, flags >> DOWN_SHIFT & 3, height);
    let row = |y: u32| texel(x0, y) * (1.0 - fx) + texel(x1, y) * fx;
    row(y0) * (1.0 - fy) + row(y1) * fy
}

/// Applies the wrap mode to a coordinate; the result is in texels from 0 to `size`.
fn wrapped(coordinate: f32, wrap: u32, size: u32) -> f32 {
    let inside = match wrap {
        CLAMP => coordinate.clamp(0.0, 1.0),
        MIRROR => {
            let m = coordinate - 2.0 * (coordinate * 0.5).floor();
            if m > 1.0 { 2.0 - m } else { m }
        }
        _ => coordinate - coordinate.floor(),
    };
    inside * size as f32
}

/// The two texels around a position, and the interpolation weight of the second.
fn pair(place: f32, wrap: u32, size: u32) -> (u32, u32, f32) {
    let low = (place - 0.5).floor();
    let outside = |index: i64| {
        let size = i64::from(size);
        (if wrap == 0 { index.rem_euclid(size) } else { index.clamp(0, size - 1) }) as u32
    };
    (outside(low as i64), outside(low as i64 + 1), place - 0.5 - low)
}
