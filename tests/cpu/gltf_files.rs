//! Compressed textures and geometry, instances, photometric lights and variants in glTF files:
//! valid data loads exactly, broken data is reported or rejected, and nothing panics.

use std::{io::Write, panic::catch_unwind};

use crate::common::{glb, random::Random};
use draco_core::{
    DataType, EncoderBuffer, EncoderOptions, GeometryAttributeType, Mesh as DracoMesh, MeshEncoder,
    PointAttribute,
};
use glam::{DVec3, Vec3};
use serde_json::{Value, json};
use sunny16::scene::{
    BlockFormat, NoteKind, Scene,
    gltf::{self, ImportError, NoFiles},
    look::{Look, LookError},
};

/// A glTF file within one GLB.
fn pack(document: &Value, bin: &[u8]) -> Vec<u8> {
    glb(&document.to_string(), bin)
}

/// A binary chunk and its buffer views.
#[derive(Default)]
struct Bin {
    bytes: Vec<u8>,
    views: Vec<Value>,
}

impl Bin {
    fn view(&mut self, data: &[u8]) -> usize {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self.views
            .push(json!({"buffer": 0, "byteOffset": self.bytes.len(), "byteLength": data.len()}));
        self.bytes.extend(data);
        self.views.len() - 1
    }

    fn floats(&mut self, values: &[f32]) -> usize {
        self.view(bytemuck::cast_slice(values))
    }
}

const QUAD: [f32; 12] = [0., 0., 0., 1., 0., 0., 1., 1., 0., 0., 1., 0.];

/// A quad with one image as its base color or normal map; `change` edits the document.
fn textured(image: &[u8], mime: &str, slot: &str, change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut bin = Bin::default();
    let (positions, uv) = (bin.floats(&QUAD), bin.floats(&[0., 0., 1., 0., 1., 1., 0., 1.]));
    let (indices, image) = (bin.view(&[0, 1, 2, 0, 2, 3]), bin.view(image));
    let material = match slot {
        "base" => json!({"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}),
        _ => json!({"normalTexture": {"index": 0}}),
    };
    let mut document = json!({
        "asset": {"version": "2.0"},
        "extensionsUsed": ["KHR_texture_basisu", "EXT_texture_webp"],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "TEXCOORD_0": 1}, "indices": 2, "material": 0}]}],
        "materials": [material],
        "textures": [{"extensions": {"KHR_texture_basisu": {"source": 0}}}],
        "images": [{"bufferView": image, "mimeType": mime}],
        "accessors": [
            {"bufferView": positions, "componentType": 5126, "type": "VEC3", "count": 4, "min": [0, 0, 0], "max": [1, 1, 0]},
            {"bufferView": uv, "componentType": 5126, "type": "VEC2", "count": 4},
            {"bufferView": indices, "componentType": 5121, "type": "SCALAR", "count": 6},
        ],
        "bufferViews": bin.views,
        "buffers": [{"byteLength": bin.bytes.len()}],
    });
    change(&mut document);
    pack(&document, &bin.bytes)
}

fn load(bytes: &[u8]) -> Scene {
    gltf::load_bytes("f", bytes, &NoFiles).unwrap()
}

fn ktx2_scene(image: &[u8], slot: &str) -> Scene {
    load(&textured(image, "image/ktx2", slot, |_| ()))
}

fn notes(scene: &Scene) -> Vec<String> {
    let told = scene.notes.iter().filter(|note| note.kind != NoteKind::Info);
    told.map(|note| format!("{}: {}", note.location, note.message)).collect()
}

/// The pictures of `tests/data/ktx2`.
fn ramp(x: usize, y: usize) -> [u8; 4] {
    [x * 8, y * 12, 255 - x * 4 - y * 4, 255].map(|v| v as u8)
}
fn cutout(x: usize, y: usize) -> [u8; 4] {
    [200, 60 + y * 8, 40, if (x / 8 + y / 8) % 2 == 1 { 255 } else { 64 }].map(|v| v as u8)
}

/// Root mean square difference from an image, in bytes.
fn away(rgba8: &[u8], wanted: fn(usize, usize) -> [u8; 4]) -> f64 {
    let texels = rgba8.as_chunks::<4>().0;
    let sum: f64 = texels
        .iter()
        .enumerate()
        .flat_map(|(i, texel)| texel.iter().zip(wanted(i % 32, i / 32)))
        .map(|(a, b)| (f64::from(*a) - f64::from(b)).powi(2))
        .sum();
    (sum / (texels.len() * 4) as f64).sqrt()
}

#[test]
fn basis_universal_decodes_to_the_encoders_input() {
    type Case = (&'static [u8], fn(usize, usize) -> [u8; 4], f64, usize);
    let cases: [Case; 4] = [
        (include_bytes!("../data/ktx2/etc1s.ktx2"), ramp, 12.0, 6),
        (include_bytes!("../data/ktx2/etc1s_alpha.ktx2"), cutout, 12.0, 1),
        (include_bytes!("../data/ktx2/uastc_zstd.ktx2"), ramp, 3.0, 6),
        (include_bytes!("../data/ktx2/uastc_linear.ktx2"), cutout, 3.0, 1),
    ];
    for (file, wanted, most, levels) in cases {
        let scene = ktx2_scene(file, "base");
        let image = &scene.images[0];
        assert_eq!(
            (image.width, image.height, image.is_error_pattern),
            (32, 20, false),
            "{:?}",
            notes(&scene)
        );
        let error = away(&image.rgba8, wanted);
        println!("{} bytes: {error:.2} of 255 from the picture", file.len());
        assert!(error < most, "{error}");
        // All levels are uploaded, or none.
        match (&image.compressed, levels) {
            (Some(blocks), 6) => {
                assert_eq!((blocks.format, blocks.levels.len()), (BlockFormat::Bc7, 6));
                let sizes: Vec<usize> = blocks.levels.iter().map(Vec::len).collect();
                assert_eq!(sizes, [8 * 5 * 16, 4 * 3 * 16, 2 * 2 * 16, 16, 16, 16]);
            }
            (None, 1) => {}
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn wrong_transfer_functions_are_reported() {
    let linear = include_bytes!("../data/ktx2/uastc_linear.ktx2");
    let srgb = include_bytes!("../data/ktx2/uastc_zstd.ktx2");
    let told = |bytes: &[u8], slot: &str| {
        notes(&ktx2_scene(bytes, slot)).iter().any(|note| note.contains("read as"))
    };
    assert!(told(linear, "base") && told(srgb, "normal"));
    assert!(!told(linear, "normal") && !told(srgb, "base"));
}

/// A KTX2 file (specification 2.0, section 3) of one face and layer; `levels` hold bytes and their
/// uncompressed length.
fn ktx2(format: u32, [width, height]: [u32; 2], scheme: u32, levels: &[(Vec<u8>, u64)]) -> Vec<u8> {
    let vk = ktx2::Format::new(format).unwrap();
    let (basic, type_size) = ktx2::dfd::Basic::from_format(vk).unwrap();
    let block = ktx2::dfd::Block::Basic(basic).to_vec();
    let dfd_at = 80 + 24 * levels.len();
    let dfd_length = 4 + block.len();
    let mut at = (dfd_at + dfd_length).next_multiple_of(16);
    let mut out = vec![0xab, b'K', b'T', b'X', b' ', b'2', b'0', 0xbb, b'\r', b'\n', 0x1a, b'\n'];
    for word in [format, type_size, width, height, 0, 0, 1, levels.len() as u32, scheme] {
        out.extend(word.to_le_bytes());
    }
    for word in [dfd_at as u32, dfd_length as u32, 0, 0] {
        out.extend(word.to_le_bytes());
    }
    out.extend([0; 16]);
    let mut body: Vec<u8> = Vec::new();
    for (data, uncompressed) in levels {
        for word in [at as u64, data.len() as u64, *uncompressed] {
            out.extend(word.to_le_bytes());
        }
        body.extend(data);
        at += data.len();
    }
    out.extend((dfd_length as u32).to_le_bytes());
    out.extend(block);
    out.resize(out.len().next_multiple_of(16), 0);
    out.extend(body);
    out
}

fn plain(format: u32, size: [u32; 2], data: &[u8]) -> Vec<u8> {
    ktx2(format, size, 0, &[(data.to_vec(), data.len() as u64)])
}

fn zlib(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn uncompressed_texels_of_every_format_decode() {
    let first = |format: u32, data: &[u8], slot: &str| {
        let scene = ktx2_scene(&plain(format, [1, 1], data), slot);
        assert!(!scene.images[0].is_error_pattern, "{format}: {:?}", notes(&scene));
        scene.images[0].rgba8.to_vec()
    };
    assert_eq!(first(9, &[7], "normal"), [7, 0, 0, 255]);
    assert_eq!(first(16, &[7, 8], "normal"), [7, 8, 0, 255]);
    assert_eq!(first(29, &[7, 8, 9], "base"), [7, 8, 9, 255]);
    assert_eq!(first(43, &[7, 8, 9, 10], "base"), [7, 8, 9, 10]);
    assert_eq!(first(50, &[7, 8, 9, 10], "base"), [9, 8, 7, 10]);
    assert_eq!(first(91, &[0xff, 0xff, 0, 0x80, 0, 0, 0xff, 0xff], "normal"), [255, 128, 0, 255]);
    let halves: Vec<u8> = [0.5f32, 0.0, 7.0, 1.0]
        .iter()
        .flat_map(|x| half::f16::from_f32(*x).to_le_bytes())
        .collect();
    assert_eq!(first(97, &halves, "normal"), [128, 0, 255, 255], "as they are");
    assert_eq!(first(97, &halves, "base"), [188, 0, 255, 255], "sRGB-encoded, as colors are");
    let floats: Vec<u8> = [0.25f32, f32::NAN, -1.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    assert_eq!(first(106, &floats, "normal"), [64, 0, 0, 255]);
    // Half of red with eleven bits: exponent 14, no fraction. One of nine bits: 256 * 2^(16 - 24).
    assert_eq!(first(122, &(14u32 << 6).to_le_bytes(), "normal"), [128, 0, 0, 255]);
    assert_eq!(first(123, &(16u32 << 27 | 128 << 9).to_le_bytes(), "normal"), [0, 128, 0, 255]);
}

#[test]
fn block_compression_and_supercompression_decode() {
    // Four blocks of BC1, each of one color.
    let block = |color: u16| [color.to_le_bytes().as_slice(), &[0; 6]].concat();
    let level = [block(0xf800), block(0x07e0), block(0x001f), block(0xffff)].concat();
    let levels = [level.clone(), block(0xf800), block(0xf800), block(0xf800)];
    let with = |pack: &dyn Fn(&[u8]) -> Vec<u8>| -> Vec<(Vec<u8>, u64)> {
        levels.iter().map(|level| (pack(level), level.len() as u64)).collect()
    };
    let zstd = |data: &[u8]| {
        ruzstd::encoding::compress_to_vec(data, ruzstd::encoding::CompressionLevel::Fastest)
    };
    for (scheme, levels) in
        [(0, with(&|data| data.to_vec())), (2, with(&zstd)), (3, with(&|data| zlib(data)))]
    {
        let scene = ktx2_scene(&ktx2(132, [8, 8], scheme, &levels), "base");
        let image = &scene.images[0];
        assert!(!image.is_error_pattern, "{scheme}: {:?}", notes(&scene));
        let texel = |x: usize, y: usize| &image.rgba8[(y * 8 + x) * 4..][..3];
        assert_eq!((texel(0, 0), texel(7, 0)), ([255, 0, 0].as_slice(), [0, 255, 0].as_slice()));
        assert_eq!(
            (texel(0, 7), texel(7, 7)),
            ([0, 0, 255].as_slice(), [255, 255, 255].as_slice())
        );
        let blocks = image.compressed.as_ref().unwrap();
        assert_eq!((blocks.format, blocks.levels.len()), (BlockFormat::Bc1, 4));
        assert_eq!(blocks.levels[0], level);
    }
    // A single level gets generated mipmaps instead.
    assert!(ktx2_scene(&plain(132, [8, 8], &level), "base").images[0].compressed.is_none());
    // 16 bytes per block.
    let bc7 = ktx2_scene(&plain(146, [4, 4], &[0x40; 16]), "base");
    assert!(!bc7.images[0].is_error_pattern);
    assert!(
        ktx2_scene(&plain(143, [4, 4], &[0x63; 16]), "base")
            .notes
            .iter()
            .any(|n| n.message.contains("eight bits"))
    );
}

#[test]
fn webp_decodes() {
    let picture =
        image::RgbaImage::from_fn(5, 3, |x, y| image::Rgba([x as u8 * 50, y as u8 * 80, 9, 255]));
    let mut bytes = Vec::new();
    picture.write_to(&mut std::io::Cursor::new(&mut bytes), image::ImageFormat::WebP).unwrap();
    let change = |document: &mut Value| {
        document["textures"] =
            json!([{"source": 9, "extensions": {"EXT_texture_webp": {"source": 0}}}]);
        document["extensionsRequired"] = json!(["EXT_texture_webp"]);
    };
    let scene = load(&textured(&bytes, "image/webp", "base", change));
    assert_eq!(scene.images[0].rgba8.as_ref(), picture.as_raw().as_slice());
    // A chunk of odd size is followed by a padding byte, which decoders do not require.
    let chunk = u32::from_le_bytes(bytes[16..20].try_into().unwrap()) as usize;
    for length in 12..20 + chunk {
        let scene = load(&textured(&bytes[..length], "image/webp", "base", change));
        assert!(scene.images[0].is_error_pattern, "{length} bytes");
    }
}

/// The error of an image, from the scene's note.
fn wrong(bytes: &[u8]) -> String {
    let scene = ktx2_scene(bytes, "base");
    assert!(scene.images[0].is_error_pattern, "{:?}", notes(&scene));
    notes(&scene).join("; ")
}

#[test]
fn broken_textures_are_reported_before_memory_is_allocated() {
    let good = plain(43, [4, 4], &[1; 64]);
    let put = |at: usize, value: u32| {
        let mut bytes = good.clone();
        bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        bytes
    };
    for (what, bytes, says) in [
        ("a kilobyte that claims four gigabytes", put(20, 1 << 16), "at most 16384"),
        ("texels that are not there", put(20, 16384), "claims"),
        ("a format of depth", put(12, 126), "Vulkan format 126"),
        ("no format at all", put(12, 0), "neither"),
        ("levels without end", put(40, u32::MAX), "KTX2"),
        ("more levels than halvings", put(40, 4), "KTX2"),
        ("a cube", put(36, 6), "cube"),
        ("an array", put(32, 1 << 30), "array"),
        ("a solid", put(28, 8), "dimensions"),
        ("BasisLZ of plain texels", put(44, 1), "supercompression"),
        ("an unknown supercompression", put(44, 77), "supercompression"),
        ("Zstandard that is none", put(44, 2), "Zstandard"),
        ("ZLIB that is none", put(44, 3), "ZLIB"),
    ] {
        let said = wrong(&bytes);
        assert!(said.contains(says), "{what}: {said}");
    }
    // A short stream that would expand to a gigabyte.
    let bomb = zlib(&vec![0; 1 << 16]);
    assert!(wrong(&ktx2(43, [16384, 16384], 3, &[(bomb, 1 << 30)])).contains("claims"));
    let small = ruzstd::encoding::compress_to_vec(
        [5u8; 64].as_slice(),
        ruzstd::encoding::CompressionLevel::Fastest,
    );
    assert!(wrong(&ktx2(43, [128, 128], 2, &[(small, 1 << 16)])).contains(", expected"));
    // BasisLZ: 16 million texels in a slice of a few bytes.
    let mut etc1s = include_bytes!("../data/ktx2/etc1s_alpha.ktx2").to_vec();
    etc1s[20..24].copy_from_slice(&16384u32.to_le_bytes());
    etc1s[24..28].copy_from_slice(&16384u32.to_le_bytes());
    assert!(wrong(&etc1s).contains("texels in"));
}

/// Loads mutated copies of a file; counts those that loaded with an image or triangles.
fn fuzz(seed: u64, cases: usize, good: &[u8], make: impl Fn(&[u8]) -> Vec<u8>) -> usize {
    let mut random = Random(seed);
    let mut shown = 0;
    for case in 0..cases {
        let mut changed = good.to_vec();
        if case % 8 == 0 {
            changed.truncate(random.below(changed.len()));
        } else {
            for _ in 0..=random.below(4) {
                let at = random.below(changed.len());
                changed[at] = [random.next() as u8, 0, 0xff, changed[at] ^ (1 << random.below(8))]
                    [random.below(4)];
            }
        }
        let bytes = make(&changed);
        let result = catch_unwind(|| gltf::load_bytes("fuzz", &bytes, &NoFiles));
        let result = result.unwrap_or_else(|_| panic!("case {case}: panicked"));
        match result {
            Ok(scene) => {
                for image in &scene.images {
                    assert_eq!(
                        image.rgba8.len(),
                        image.width as usize * image.height as usize * 4,
                        "case {case}"
                    );
                }
                for placed in scene.walk() {
                    assert!(placed.world.is_finite(), "case {case}");
                }
                for primitive in scene.meshes.iter().flat_map(|mesh| &mesh.primitives) {
                    let count = primitive.positions.len();
                    assert!(primitive.indices.iter().all(|&i| (i as usize) < count), "case {case}");
                    assert!(primitive.positions.iter().all(|p| p.is_finite()), "case {case}");
                }
                shown += usize::from(
                    scene.images.iter().any(|image| !image.is_error_pattern)
                        || scene.instanced_triangles() > 0,
                );
            }
            Err(error) => assert!(!error.to_string().contains('\n'), "case {case}"),
        }
    }
    shown
}

#[test]
fn mutated_textures_do_not_panic() {
    let bc1 = plain(132, [8, 8], &[0x5a; 32]);
    let zipped = ktx2(43, [4, 4], 3, &[(zlib(&[9; 64]), 64)]);
    let files: [&[u8]; 6] = [
        include_bytes!("../data/ktx2/etc1s.ktx2"),
        include_bytes!("../data/ktx2/etc1s_alpha.ktx2"),
        include_bytes!("../data/ktx2/uastc_zstd.ktx2"),
        include_bytes!("../data/ktx2/uastc_linear.ktx2"),
        &bc1,
        &zipped,
    ];
    for (seed, file) in (1..).zip(files) {
        let shown = fuzz(seed, 250, file, |bytes| textured(bytes, "image/ktx2", "base", |_| ()));
        println!("file {seed}: {shown} of 250 shown");
        assert!(shown > 0);
    }
}

/// The quad by EXT_meshopt_compression, its texture coordinates and normals by filters; `change`
/// edits the document.
fn meshopt_quad(
    name: &str,
    damage: impl FnOnce(&mut Vec<u8>),
    change: impl FnOnce(&mut Value),
) -> Vec<u8> {
    let positions: Vec<[f32; 3]> = QUAD.as_chunks::<3>().0.to_vec();
    let normals = meshopt::encode_filter_oct::<i8>(&[[0.0, 0.0, 1.0, 0.0]; 4], 8);
    let parts: [(Vec<u8>, usize, usize, &str, &str); 3] = [
        (
            meshopt::encode_vertex_buffer_level(&positions, 2, Some(0)).unwrap(),
            12,
            4,
            "ATTRIBUTES",
            "NONE",
        ),
        (
            meshopt::encode_vertex_buffer_level(&normals, 2, Some(0)).unwrap(),
            4,
            4,
            "ATTRIBUTES",
            "OCTAHEDRAL",
        ),
        (meshopt::encode_index_buffer(&[0, 1, 2, 0, 2, 3], 4).unwrap(), 2, 6, "TRIANGLES", "NONE"),
    ];
    let (mut bytes, mut views, mut whole) = (Vec::new(), Vec::new(), 0);
    for (data, stride, count, mode, filter) in &parts {
        let packed = json!({"buffer": 0, "byteOffset": bytes.len(), "byteLength": data.len(), "byteStride": stride,
            "count": count, "mode": mode, "filter": filter});
        let mut view = json!({"buffer": 1, "byteOffset": whole, "byteLength": stride * count, "extensions": {name: packed}});
        if *mode == "ATTRIBUTES" {
            view["byteStride"] = json!(stride);
        }
        views.push(view);
        bytes.extend(data);
        whole += stride * count;
    }
    damage(&mut bytes);
    let mut document = json!({
        "asset": {"version": "2.0"},
        "extensionsUsed": [name, "KHR_mesh_quantization"], "extensionsRequired": [name, "KHR_mesh_quantization"],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "NORMAL": 1}, "indices": 2}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 4, "min": [0, 0, 0], "max": [1, 1, 0]},
            {"bufferView": 1, "componentType": 5120, "normalized": true, "type": "VEC3", "count": 4},
            {"bufferView": 2, "componentType": 5123, "type": "SCALAR", "count": 6},
        ],
        "bufferViews": views,
        "buffers": [{"byteLength": bytes.len()}, {"byteLength": whole, "extensions": {name: {"fallback": true}}}],
    });
    change(&mut document);
    pack(&document, &bytes)
}

#[test]
fn meshopt_geometry_decodes() {
    for name in ["EXT_meshopt_compression", "KHR_meshopt_compression"] {
        let scene = load(&meshopt_quad(name, |_| (), |_| ()));
        let primitive = &scene.meshes[0].primitives[0];
        let positions: Vec<f32> = primitive.positions.iter().flat_map(|p| p.to_array()).collect();
        assert_eq!(
            (positions.as_slice(), primitive.indices.len()),
            (QUAD.as_slice(), 6),
            "{:?}",
            notes(&scene)
        );
        assert!(primitive.normals.iter().all(|n| n.distance(Vec3::Z) < 0.01));
        assert!(notes(&scene).is_empty(), "{:?}", notes(&scene));
    }
}

#[test]
fn broken_meshopt_is_reported() {
    let refused = |change: &dyn Fn(&mut Value)| -> String {
        let bytes = meshopt_quad("EXT_meshopt_compression", |_| (), |document| change(document));
        match gltf::load_bytes("f", &bytes, &NoFiles) {
            Ok(scene) => {
                assert_eq!(scene.instanced_triangles(), 0);
                notes(&scene).join("; ")
            }
            Err(error) => error.to_string(),
        }
    };
    let set = |path: &'static str, value: Value| {
        move |document: &mut Value| {
            let at = format!("/bufferViews/0/extensions/EXT_meshopt_compression/{path}");
            *document.pointer_mut(&at).unwrap() = value.clone();
        }
    };
    // Without its data the buffer is missing; the first warning says why.
    for change in [
        set("count", json!(4_000_000_000u64)),
        set("byteOffset", json!(100_000)),
        set("byteLength", json!(3)),
        set("mode", json!("STRIPS")),
        set("byteStride", json!(6)),
    ] {
        let said = refused(&change);
        assert!(
            said.contains("no uri") || said.contains("meshopt") || said.contains("must come"),
            "{said}"
        );
    }
    let mut good = Vec::new();
    let _ = meshopt_quad("EXT_meshopt_compression", |bytes| good.clone_from(bytes), |_| ());
    let shown = fuzz(7, 400, &good, |broken| {
        meshopt_quad("EXT_meshopt_compression", |bytes| *bytes = broken.to_vec(), |_| ())
    });
    assert!(shown > 20, "{shown}");
}

/// The quad by Draco, with positions as attribute 0 of 14 bits.
fn draco_bytes() -> Vec<u8> {
    let mut mesh = DracoMesh::new();
    mesh.set_num_points(4);
    let mut positions = PointAttribute::new();
    positions.init(GeometryAttributeType::Position, 3, DataType::Float32, false, 4);
    positions.buffer_mut().data_mut()[..48].copy_from_slice(bytemuck::cast_slice(&QUAD));
    let id = mesh.add_attribute(positions);
    assert_eq!(id, 0);
    mesh.try_set_num_faces(2).unwrap();
    mesh.set_faces_from_flat_indices(&[0, 1, 2, 0, 2, 3]);
    let mut options = EncoderOptions::new();
    options.set_attribute_quantization(0, 14);
    let mut encoder = MeshEncoder::new();
    encoder.set_mesh(mesh);
    let mut out = EncoderBuffer::new();
    encoder.encode(&options, &mut out).unwrap();
    out.data().to_vec()
}

fn draco_quad(data: &[u8], count: u64) -> Vec<u8> {
    let mut bin = Bin::default();
    let view = bin.view(data);
    let document = json!({
        "asset": {"version": "2.0"},
        "extensionsUsed": ["KHR_draco_mesh_compression"], "extensionsRequired": ["KHR_draco_mesh_compression"],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "extensions": {
            "KHR_draco_mesh_compression": {"bufferView": view, "attributes": {"POSITION": 0}}}}]}],
        "accessors": [
            {"componentType": 5126, "type": "VEC3", "count": count, "min": [0, 0, 0], "max": [1, 1, 0]},
            {"componentType": 5123, "type": "SCALAR", "count": 6},
        ],
        "bufferViews": bin.views,
        "buffers": [{"byteLength": bin.bytes.len()}],
    });
    pack(&document, &bin.bytes)
}

#[test]
fn draco_geometry_decodes_and_broken_data_is_reported() {
    let data = draco_bytes();
    let scene = load(&draco_quad(&data, 4));
    let primitive = &scene.meshes[0].primitives[0];
    assert_eq!(primitive.indices.len(), 6, "{:?}", notes(&scene));
    // In any order, each triangle faces +Z and both together have the quad's area.
    let mut area = 0.0;
    for face in primitive.indices.as_chunks::<3>().0 {
        let [a, b, c] = face.map(|i| primitive.positions[i as usize]);
        area += (b - a).cross(c - a).z * 0.5;
    }
    assert!((area - 1.0).abs() < 1e-3, "{area}");
    let cut = load(&draco_quad(&data[..data.len() / 2], 4));
    assert_eq!(cut.instanced_triangles(), 0);
    assert!(notes(&cut).iter().any(|note| note.contains("Draco")), "{:?}", notes(&cut));
    let shown = fuzz(8, 400, &data, |bytes| draco_quad(bytes, 4));
    assert!(shown > 5, "{shown}");
    // Four billion vertices in a hundred bytes: no more are made than the data has bytes.
    let claim = gltf::load_bytes("f", &draco_quad(&data, 4_000_000_000), &NoFiles);
    let parts = claim.iter().flat_map(|scene| &scene.meshes).flat_map(|mesh| &mesh.primitives);
    let vertices: usize = parts.map(|part| part.positions.len()).sum();
    assert!(vertices <= data.len(), "{vertices} vertices");
}

/// A quad with many instances.
fn instanced(change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut bin = Bin::default();
    let positions = bin.floats(&QUAD);
    let translations = bin.floats(&[1., 0., 0., 2., 0., 0., 3., 0., 0.]);
    // A quarter turn about Y in 16 bits, and none.
    let turns: Vec<i16> = [[0, 23170, 0, 23170], [0, 0, 0, 32767], [0, 0, 0, 32767]].concat();
    let rotations = bin.view(bytemuck::cast_slice(&turns));
    let scales = bin.floats(&[1., 1., 1., 2., 2., 2., 0., 0., 0.]);
    let mut document = json!({
        "asset": {"version": "2.0"},
        "extensionsUsed": ["EXT_mesh_gpu_instancing"], "extensionsRequired": ["EXT_mesh_gpu_instancing"],
        "nodes": [{"children": [1], "translation": [0, 10, 0]},
            {"mesh": 0, "extensions": {"EXT_mesh_gpu_instancing": {"attributes": {"TRANSLATION": 1, "ROTATION": 2, "SCALE": 3, "_ID": 3}}}}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "mode": 6}]}],
        "accessors": [
            {"bufferView": positions, "componentType": 5126, "type": "VEC3", "count": 4, "min": [0, 0, 0], "max": [1, 1, 0]},
            {"bufferView": translations, "componentType": 5126, "type": "VEC3", "count": 3},
            {"bufferView": rotations, "componentType": 5122, "normalized": true, "type": "VEC4", "count": 3},
            {"bufferView": scales, "componentType": 5126, "type": "VEC3", "count": 3},
        ],
        "bufferViews": bin.views,
        "buffers": [{"byteLength": bin.bytes.len()}],
    });
    change(&mut document);
    pack(&document, &bin.bytes)
}

#[test]
fn instances_follow_their_attributes() {
    let scene = load(&instanced(|_| ()));
    let places: Vec<_> =
        scene.walk().into_iter().filter(|placed| placed.node.mesh.is_some()).collect();
    assert_eq!(places.len(), 2, "the third has no size: {:?}", scene.notes);
    // The quad's +X corner: rotated to -Z, and scaled by 2.
    let corner = |i: usize| places[i].world.transform_point3(DVec3::X);
    assert!(corner(0).distance(DVec3::new(1.0, 10.0, -1.0)) < 1e-4, "{}", corner(0));
    assert!(corner(1).distance(DVec3::new(4.0, 10.0, 0.0)) < 1e-9, "{}", corner(1));
    assert_eq!(scene.instanced_triangles(), 4);
}

#[test]
fn broken_instances_show_the_mesh_once() {
    let count = |change: &dyn Fn(&mut Value)| {
        let scene = load(&instanced(|document| change(document)));
        let shown = scene.walk().iter().filter(|placed| placed.node.mesh.is_some()).count();
        (shown, notes(&scene).join("; "))
    };
    let changes: [&dyn Fn(&mut Value); 4] = [
        &|d| d["accessors"][1]["count"] = json!(2),
        &|d| d["accessors"][1]["type"] = json!("VEC2"),
        &|d| d["accessors"][2]["componentType"] = json!(5121),
        &|d| d["bufferViews"][1]["byteLength"] = json!(4),
    ];
    for change in changes {
        let (shown, said) = count(change);
        assert!(shown == 1 && said.contains("shown once"), "{shown}: {said}");
    }
    let claim = instanced(|d| {
        for accessor in [1, 2, 3] {
            d["accessors"][accessor]["count"] = json!(4_000_000_000u64);
        }
    });
    assert!(matches!(gltf::load_bytes("f", &claim, &NoFiles), Err(ImportError::TooLarge { .. })));
    assert!(fuzz(9, 300, &instanced(|_| ()), <[u8]>::to_vec) > 20);
}

const IES: &str =
    "IESNA:LM-63-2002\nTILT=NONE\n1 1000 2 3 1 1 2 0 0 0\n1 1 10\n0 45 90\n0\n100 50 0\n";

#[test]
fn light_profiles_scale_as_their_files_say() {
    let mut bin = Bin::default();
    let (positions, profile) = (bin.floats(&QUAD), bin.view(IES.as_bytes()));
    let document = |mime: &str| {
        json!({
            "asset": {"version": "2.0"},
            "extensionsUsed": ["EXT_lights_ies", "KHR_lights_punctual"], "extensionsRequired": ["EXT_lights_ies"],
            "extensions": {
                "EXT_lights_ies": {"lights": [{"name": "spot", "bufferView": profile, "mimeType": mime}, {"uri": "gone.ies"}]},
                "KHR_lights_punctual": {"lights": [{"type": "point", "intensity": 7}]},
            },
            "nodes": [
                {"mesh": 0, "extensions": {"EXT_lights_ies": {"light": 0, "multiplier": 0.5, "color": [1, 0.5, 0]}}},
                {"extensions": {"EXT_lights_ies": {"light": 0}, "KHR_lights_punctual": {"light": 0}}},
                {"extensions": {"EXT_lights_ies": {"light": 1}}},
                {"extensions": {"EXT_lights_ies": {"light": 9}}},
            ],
            "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "mode": 6}]}],
            "accessors": [{"bufferView": positions, "componentType": 5126, "type": "VEC3", "count": 4, "min": [0, 0, 0], "max": [1, 1, 0]}],
            "bufferViews": bin.views,
            "buffers": [{"byteLength": bin.bytes.len()}],
        })
    };
    let scene = load(&pack(&document("application/x-ies-lm-63"), &bin.bytes));
    let lamps: Vec<_> =
        scene.walk().iter().filter_map(|placed| scene.lights.get(placed.node.light?)).collect();
    assert_eq!(lamps.len(), 3, "two of the profile, one of the core: {:?}", scene.notes);
    let first = &scene.lights[scene.nodes[0].light.unwrap()];
    // The file's multiplier is 2: 200 cd straight down; the node's intensity halves it.
    assert!((first.candela().unwrap().get() - 100.0).abs() < 1e-9);
    assert_eq!((first.name.as_str(), first.color), ("spot", Vec3::new(1.0, 0.5, 0.0)));
    let profile = first.profile.as_ref().unwrap();
    assert!((profile.candela_towards(DVec3::NEG_Z).get() - 200.0).abs() < 1e-9);
    assert!((profile.candela_towards(DVec3::new(1.0, 0.0, -1.0)).get() - 100.0).abs() < 1e-9);
    assert!(
        notes(&scene).iter().any(|note| note.contains("lights/1") && note.contains("left out")),
        "{:?}",
        notes(&scene)
    );
}

#[test]
fn variants_are_chosen_by_name() {
    let mut bin = Bin::default();
    let positions = bin.floats(&QUAD);
    let document = json!({
        "asset": {"version": "2.0"},
        "extensionsUsed": ["KHR_materials_variants"], "extensionsRequired": ["KHR_materials_variants"],
        "extensions": {"KHR_materials_variants": {"variants": [{"name": "day"}, {"name": "night"}]}},
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [
            {"attributes": {"POSITION": 0}, "mode": 6, "material": 0, "extensions": {"KHR_materials_variants":
                {"mappings": [{"material": 1, "variants": [1]}, {"material": 0, "variants": [0, 1]}]}}},
            {"attributes": {"POSITION": 0}, "mode": 6, "material": 1},
        ]}],
        "materials": [{"name": "a"}, {"name": "b"}],
        "accessors": [{"bufferView": positions, "componentType": 5126, "type": "VEC3", "count": 4, "min": [0, 0, 0], "max": [1, 1, 0]}],
        "bufferViews": bin.views,
        "buffers": [{"byteLength": bin.bytes.len()}],
    });
    let scene = load(&pack(&document, &bin.bytes));
    let names: Vec<&str> = scene.variants.iter().map(|variant| variant.name.as_str()).collect();
    assert_eq!(names, ["day", "night"]);
    let materials = |name: &str| {
        let (mut look, mut scene) = (Look::default(), scene.clone());
        look.assign(&format!("scene.variant={name}")).unwrap();
        look.apply(&mut scene)
            .map(|()| scene.meshes[0].primitives.iter().map(|p| p.material).collect::<Vec<_>>())
    };
    assert_eq!(materials("night").unwrap(), [Some(1), Some(1)], "the first mapping counts");
    assert_eq!(materials("day").unwrap(), [Some(0), Some(1)]);
    let error = materials("noon").unwrap_err();
    let expects = |expected: &str| expected.contains("day, night");
    assert!(
        matches!(&error, LookError::BadValue { path, expected, .. }
        if path == "scene.variant" && expects(expected)),
        "{error}"
    );
}

/// KHR_mesh_quantization: every type of position and texture coordinate that it allows.
#[test]
fn quantized_attributes_of_every_type_decode() {
    for (component, normalized, one) in [
        (5120, true, 127i64),
        (5120, false, 1),
        (5121, true, 255),
        (5121, false, 1),
        (5122, true, 32767),
        (5122, false, 1),
        (5123, true, 65535),
        (5123, false, 1),
    ] {
        let small = component < 5122;
        // Padded to multiples of four bytes, as the extension requires.
        let pack_values = |values: &[i64], components: usize| -> Vec<u8> {
            let pad = if small { 4 } else { 8 };
            values
                .chunks(components)
                .flat_map(|element| {
                    let mut bytes: Vec<u8> = element
                        .iter()
                        .flat_map(|v| {
                            if small { vec![*v as u8] } else { (*v as u16).to_le_bytes().to_vec() }
                        })
                        .collect();
                    bytes.resize(pad, 0);
                    bytes
                })
                .collect()
        };
        let mut bin = Bin::default();
        let corners: Vec<i64> = QUAD.iter().map(|x| *x as i64 * one).collect();
        let positions = bin.view(&pack_values(&corners, 3));
        let uv = bin.view(&pack_values(&[0, 0, one, 0, one, one, 0, one], 2));
        let stride = if small { 4 } else { 8 };
        for view in &mut bin.views {
            view["byteStride"] = json!(stride);
        }
        let document = json!({
            "asset": {"version": "2.0"},
            "extensionsUsed": ["KHR_mesh_quantization"], "extensionsRequired": ["KHR_mesh_quantization"],
            "nodes": [{"mesh": 0}],
            "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "TEXCOORD_0": 1}, "mode": 6}]}],
            "accessors": [
                {"bufferView": positions, "componentType": component, "normalized": normalized, "type": "VEC3", "count": 4,
                 "min": [0, 0, 0], "max": [one, one, 0]},
                {"bufferView": uv, "componentType": component, "normalized": normalized, "type": "VEC2", "count": 4},
            ],
            "bufferViews": bin.views,
            "buffers": [{"byteLength": bin.bytes.len()}],
        });
        let scene = load(&pack(&document, &bin.bytes));
        let primitive = &scene.meshes[0].primitives[0];
        assert!(notes(&scene).is_empty(), "{component} {normalized}: {:?}", notes(&scene));
        let (mut low, mut high) = (Vec3::MAX, Vec3::MIN);
        for p in &primitive.positions {
            (low, high) = (low.min(*p), high.max(*p));
        }
        assert_eq!((low, high), (Vec3::ZERO, Vec3::new(1.0, 1.0, 0.0)), "{component} {normalized}");
        assert!(
            primitive.uv0.iter().all(|uv| *uv == uv.round() && uv.max_element() <= 1.0),
            "{component} {normalized}"
        );
    }
}
