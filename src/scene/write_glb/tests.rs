//! Tests of the GLB export.
use super::*;
use crate::{
    photometry::{Lumen, Lux},
    scene::{
        Anisotropy, Clearcoat, DiffuseTransmission, Iridescence, MaterialVolume, Mesh, Sheen,
        Specular,
        build::{SceneBuilder, black_body, dielectric, look_at_transform},
        procedural::{shapes, textures},
    },
};
use glam::{DVec3, Vec2};

/// The JSON document and the binary chunk, after a check of the container.
fn unpack(glb: &[u8]) -> (Value, Vec<u8>) {
    let word = |at: usize| u32::from_le_bytes(glb[at..at + 4].try_into().unwrap()) as usize;
    assert_eq!(&glb[..4], b"glTF");
    assert_eq!((word(4), word(8)), (2, glb.len()));
    let json = word(12);
    assert_eq!((json % 4, word(16)), (0, CHUNK_JSON as usize));
    let document = serde_json::from_slice(&glb[20..20 + json]).unwrap();
    let binary = word(20 + json);
    assert_eq!((binary % 4, word(24 + json)), (0, CHUNK_BINARY as usize));
    assert_eq!(28 + json + binary, glb.len());
    (document, glb[28 + json..].to_vec())
}

fn scene() -> Scene {
    let mut builder = SceneBuilder::new("test");
    let picture = textures::picture(3, 2, |u, _| [u, 0.5, 0.25, 1.0]);
    let texture = builder.add_texture(
        "ramp",
        picture,
        Sampler { wrap_u: Wrap::Mirror, ..Sampler::default() },
    );
    let mut base = SceneBuilder::texture_ref(texture);
    // The second-quadrant example of KHR_texture_transform: offset (0, 1), a quarter turn,
    // scale 1/2.
    base.transform = [[0.0, 0.5, 0.0], [-0.5, 0.0, 1.0]];
    let lamp = builder.add_material(Material {
        emission: Vec3::new(600.0, 300.0, 0.0),
        base_color_texture: Some(base),
        alpha: AlphaMode::Mask { cutoff: 0.25 },
        double_sided: true,
        ..dielectric("lamp", Vec3::splat(0.18), 0.5)
    });
    let flat = builder.add_material(Material { unlit: true, ..dielectric("flat", Vec3::ONE, 1.0) });
    let ball = shapes::with_tangents(shapes::uv_sphere(0.25, 16, 8));
    let mesh = builder
        .add_mesh_of("ball", vec![(ball, lamp), (shapes::plane(Vec2::new(2.0, 4.0), 1, 1), flat)]);
    let group = builder.add_node("group", DMat4::IDENTITY);
    builder.instance_in(group, "ball", mesh, DMat4::from_translation(DVec3::new(1.0, 2.0, 3.0)));
    builder.point_light_lumens(
        "bulb",
        Lumen(806.0),
        black_body(crate::photometry::Kelvin(2700.0)),
        DVec3::Y,
    );
    let pose = look_at_transform(DVec3::new(0.0, 2.0, 0.0), DVec3::ZERO);
    builder.spot_light_lumens("spot", Lumen(1000.0), Vec3::ONE, (0.25, 0.5), pose);
    builder.sun("sun", Lux(100_000.0), Vec3::ONE, DVec3::NEG_Y);
    builder.camera("eye", DVec3::Z, DVec3::ZERO, 0.5, Some(1.5));
    builder.build().unwrap()
}

fn floats(document: &Value, binary: &[u8], accessor: &Value) -> Vec<f32> {
    let accessor = &document["accessors"][accessor.as_u64().unwrap() as usize];
    let view = &document["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
    let start = view["byteOffset"].as_u64().unwrap() as usize;
    let length = view["byteLength"].as_u64().unwrap() as usize;
    binary[start..start + length]
        .chunks_exact(4)
        .map(|b| f32::from_le_bytes(b.try_into().unwrap()))
        .collect()
}

#[test]
fn the_geometry_is_described_as_it_is() {
    let scene = scene();
    let (document, binary) = unpack(&write_glb(&scene).unwrap());
    assert_eq!(document["asset"]["version"], "2.0");
    assert!(binary.len() - document["buffers"][0]["byteLength"].as_u64().unwrap() as usize <= 3);
    let parts = &document["meshes"][0]["primitives"];
    for (part, primitive) in scene.meshes[0].primitives.iter().enumerate() {
        let attributes = &parts[part]["attributes"];
        let accessor = &document["accessors"][attributes["POSITION"].as_u64().unwrap() as usize];
        assert_eq!(accessor["count"], primitive.positions.len());
        let positions = floats(&document, &binary, &attributes["POSITION"]);
        for axis in 0..3 {
            let values = || positions.iter().skip(axis).step_by(3).copied();
            let told = |key: &str| accessor[key][axis].as_f64().unwrap() as f32;
            assert_eq!(told("min"), values().fold(f32::INFINITY, f32::min));
            assert_eq!(told("max"), values().fold(f32::NEG_INFINITY, f32::max));
        }
        let normals = floats(&document, &binary, &attributes["NORMAL"]);
        assert_eq!(
            normals,
            primitive.normals.iter().flat_map(Vec3::to_array).collect::<Vec<f32>>()
        );
        assert_eq!(parts[part]["material"], part);
    }
    assert!(
        parts[0]["attributes"]["TANGENT"].is_u64() && parts[1]["attributes"]["TANGENT"].is_null()
    );
    let indices = &document["accessors"][parts[0]["indices"].as_u64().unwrap() as usize];
    assert_eq!(
        (&indices["componentType"], &indices["type"]),
        (&json!(UNSIGNED_SHORT), &json!("SCALAR"))
    );
    for view in document["bufferViews"].as_array().unwrap() {
        assert_eq!(view["byteOffset"].as_u64().unwrap() % 4, 0);
    }
}

#[test]
fn nodes_keep_their_places_and_leave_identity_out() {
    let (document, _) = unpack(&write_glb(&scene()).unwrap());
    let nodes = &document["nodes"];
    assert!(nodes[0]["matrix"].is_null());
    assert_eq!(nodes[0]["children"], json!([1]));
    assert_eq!(nodes[1]["matrix"][12], 1.0);
    assert_eq!(nodes[1]["mesh"], 0);
    assert_eq!(nodes[2]["extensions"]["KHR_lights_punctual"]["light"], 0);
    assert_eq!(document["scenes"][0]["nodes"], json!([0, 2, 3, 4, 5]));
    assert_eq!(nodes[5]["camera"], 0);
    let perspective = &document["cameras"][0]["perspective"];
    assert_eq!(
        (perspective["yfov"].as_f64(), perspective["aspectRatio"].as_f64()),
        (Some(0.5), Some(1.5))
    );
    assert!(perspective["zfar"].is_null());
}

#[test]
fn lights_keep_their_strength_with_colors_up_to_1() {
    let scene = scene();
    let (document, _) = unpack(&write_glb(&scene).unwrap());
    let lights = &document["extensions"]["KHR_lights_punctual"]["lights"];
    let (bulb, before) = (&lights[0], &scene.lights[0]);
    let intensity = before.source.candela().unwrap();
    for axis in 0..3 {
        let color = bulb["color"][axis].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&color));
        let product = color * bulb["intensity"].as_f64().unwrap();
        let meant = f64::from(before.color[axis]) * intensity.get();
        assert!((product - meant).abs() <= 1e-6 * meant.max(1.0), "{product} {meant}");
    }
    assert_eq!(lights[1]["spot"], json!({ "innerConeAngle": 0.25, "outerConeAngle": 0.5 }));
    assert_eq!(
        (&lights[2]["type"], lights[2]["intensity"].as_f64()),
        (&json!("directional"), Some(100_000.0))
    );
}

#[test]
fn materials_are_within_the_bounds_of_gltf() {
    let (document, _) = unpack(&write_glb(&scene()).unwrap());
    let lamp = &document["materials"][0];
    assert_eq!(lamp["emissiveFactor"], json!([1.0, 0.5, 0.0]));
    assert_eq!(lamp["extensions"]["KHR_materials_emissive_strength"]["emissiveStrength"], 600.0);
    assert_eq!((&lamp["alphaMode"], &lamp["alphaCutoff"]), (&json!("MASK"), &json!(0.25)));
    assert_eq!(lamp["doubleSided"], true);
    assert_eq!(lamp["pbrMetallicRoughness"]["baseColorFactor"], json!([0.18, 0.18, 0.18, 1.0]));
    let transform =
        &lamp["pbrMetallicRoughness"]["baseColorTexture"]["extensions"]["KHR_texture_transform"];
    assert_eq!(transform["offset"], json!([0.0, 1.0]));
    assert!((transform["rotation"].as_f64().unwrap() - std::f64::consts::FRAC_PI_2).abs() < 1e-6);
    for axis in 0..2 {
        assert!((transform["scale"][axis].as_f64().unwrap() - 0.5).abs() < 1e-6);
    }
    assert!(document["materials"][1]["extensions"]["KHR_materials_unlit"].is_object());
    let used = ["emissive_strength", "unlit"].map(|name| format!("KHR_materials_{name}"));
    let used = json!(["KHR_lights_punctual", used[0], used[1], "KHR_texture_transform"]);
    assert_eq!(document["extensionsUsed"], used);
    assert_eq!(document["samplers"][0]["wrapS"], 33648);
}

#[test]
fn glass_comes_back_as_it_was() {
    let mut builder = SceneBuilder::new("glass");
    let picture = textures::picture(3, 2, |u, _| [u, 0.5, 0.25, 1.0]);
    let texture =
        SceneBuilder::texture_ref(builder.add_texture("ramp", picture, Sampler::default()));
    let volume = MaterialVolume {
        thickness: 0.25,
        thickness_texture: Some(TextureRef {
            transform: [[0.5, 0.0, 0.25], [0.0, 0.5, 0.0]],
            ..texture
        }),
        attenuation_distance: 0.01,
        attenuation_color: Vec3::new(0.1, 0.5, 0.0),
    };
    let glass = builder.add_material(Material {
        ior: 1.33,
        transmission: 0.75,
        transmission_texture: Some(texture),
        volume,
        ..dielectric("glass", Vec3::ONE, 0.1)
    });
    let pane = builder.add_material(Material {
        transmission: 1.0,
        ior: 0.0,
        ..dielectric("pane", Vec3::ONE, 0.0)
    });
    let plain = builder.add_material(dielectric("plain", Vec3::ONE, 0.0));
    for material in [glass, pane, plain] {
        let mesh = builder.add_mesh("cube", shapes::cuboid(Vec3::ONE), material);
        builder.instance("cube", mesh, DMat4::IDENTITY);
    }
    let scene = builder.build().unwrap();
    let glb = write_glb(&scene).unwrap();
    let back = crate::scene::gltf::load_bytes("a.glb", &glb, &crate::scene::gltf::NoFiles).unwrap();
    for (before, after) in scene.materials.iter().zip(&back.materials) {
        assert_eq!((before.ior, before.transmission), (after.ior, after.transmission));
        assert_eq!(before.transmission_texture, after.transmission_texture);
        assert_eq!(before.volume, after.volume);
        assert_eq!(before.encloses_volume(), after.encloses_volume());
    }
    let (document, _) = unpack(&glb);
    assert!(document["materials"][2]["extensions"].is_null());
    let used = [
        "KHR_materials_ior",
        "KHR_materials_transmission",
        "KHR_materials_volume",
        "KHR_texture_transform",
    ];
    assert_eq!(document["extensionsUsed"], json!(used));
}

#[test]
fn lobes_come_back_as_they_were() {
    let mut builder = SceneBuilder::new("lobes");
    let picture = textures::picture(3, 2, |u, _| [u, 0.5, 0.25, 1.0]);
    let plain = SceneBuilder::texture_ref(builder.add_texture("ramp", picture, Sampler::default()));
    // Unique offsets distinguish the textures.
    let mut next = 0.0;
    let mut texture = || {
        next += 0.125;
        Some(TextureRef { transform: [[1.0, 0.0, next], [0.0, 1.0, 0.0]], ..plain })
    };
    let rich = Material {
        dispersion: 0.5,
        specular: Specular {
            factor: 0.5,
            texture: texture(),
            color: Vec3::new(0.25, 2.0, 0.0),
            color_texture: texture(),
        },
        clearcoat: Clearcoat {
            factor: 0.75,
            texture: texture(),
            roughness: 0.25,
            roughness_texture: texture(),
            normal_texture: texture(),
            normal_scale: 0.5,
        },
        sheen: Sheen {
            color: Vec3::new(0.25, 0.5, 1.0),
            color_texture: texture(),
            roughness: 0.375,
            roughness_texture: texture(),
        },
        anisotropy: Anisotropy { strength: 0.625, rotation: 1.5, texture: texture() },
        iridescence: Iridescence {
            factor: 0.875,
            texture: texture(),
            ior: 1.75,
            thickness_minimum: 200.0,
            thickness_maximum: 300.0,
            thickness_texture: texture(),
        },
        diffuse_transmission: DiffuseTransmission {
            factor: 0.5,
            texture: texture(),
            color: Vec3::new(1.0, 0.5, 0.25),
            color_texture: texture(),
        },
        ..dielectric("rich", Vec3::ONE, 0.5)
    };
    let rich = builder.add_material(rich);
    let mesh = builder.add_mesh("ball", shapes::uv_sphere(0.25, 8, 4), rich);
    builder.instance("ball", mesh, DMat4::IDENTITY);
    let scene = builder.build().unwrap();
    let glb = write_glb(&scene).unwrap();
    let back = crate::scene::gltf::load_bytes("a.glb", &glb, &crate::scene::gltf::NoFiles).unwrap();
    let (before, after) = (&scene.materials[0], &back.materials[0]);
    assert_eq!(before.dispersion, after.dispersion);
    assert_eq!(before.specular, after.specular);
    assert_eq!(before.clearcoat, after.clearcoat);
    assert_eq!(before.sheen, after.sheen);
    assert_eq!(before.anisotropy, after.anisotropy);
    assert_eq!(before.iridescence, after.iridescence);
    assert_eq!(before.diffuse_transmission, after.diffuse_transmission);
    assert_eq!(before.textures(), after.textures());
    // Clearcoat normals and anisotropy need tangents.
    assert!(
        back.meshes.iter().all(|mesh| mesh.primitives.iter().all(|part| !part.tangents.is_empty()))
    );
    let repaired = back.notes.iter().filter(|note| note.kind == crate::scene::NoteKind::Repaired);
    assert_eq!(repaired.count(), 1, "tangents that the file lacks: {:?}", back.notes);
}

#[test]
fn pictures_come_back_from_their_png() {
    let scene = scene();
    let (document, binary) = unpack(&write_glb(&scene).unwrap());
    let view =
        &document["bufferViews"][document["images"][0]["bufferView"].as_u64().unwrap() as usize];
    let start = view["byteOffset"].as_u64().unwrap() as usize;
    let file = &binary[start..start + view["byteLength"].as_u64().unwrap() as usize];
    let back = image::load_from_memory(file).unwrap().to_rgba8();
    assert_eq!((back.width(), back.height()), (3, 2));
    assert_eq!(back.as_raw().as_slice(), &*scene.images[0].rgba8);
}

#[test]
fn many_vertices_take_long_indices_and_empty_meshes_are_left_out() {
    let mut builder = SceneBuilder::new("large");
    let gray = builder.add_material(dielectric("gray", Vec3::splat(0.18), 1.0));
    let empty = builder.add_mesh("empty", Primitive::default(), gray);
    let large = builder.add_mesh("large", shapes::plane(Vec2::ONE, 260, 260), gray);
    builder.instance("empty", empty, DMat4::IDENTITY);
    builder.instance("large", large, DMat4::IDENTITY);
    let mut scene = builder.build().unwrap();
    scene.meshes.push(Mesh::default());
    let (document, _) = unpack(&write_glb(&scene).unwrap());
    assert_eq!(document["meshes"].as_array().unwrap().len(), 1);
    assert!(document["nodes"][0]["mesh"].is_null());
    assert_eq!(document["nodes"][1]["mesh"], 0);
    let indices = document["meshes"][0]["primitives"][0]["indices"].as_u64().unwrap() as usize;
    assert_eq!(document["accessors"][indices]["componentType"], UNSIGNED_INT);
}

#[test]
fn the_reader_of_the_gltf_crate_accepts_the_file() {
    let gltf = gltf::Gltf::from_slice(&write_glb(&scene()).unwrap()).unwrap();
    assert_eq!((gltf.meshes().len(), gltf.nodes().len()), (1, 6));
    let part = gltf.meshes().next().unwrap().primitives().next().unwrap();
    assert_eq!(part.bounding_box().max[1], 0.25);
}

#[test]
fn an_unsound_scene_is_refused() {
    let mut scene = scene();
    scene.nodes[1].mesh = Some(9);
    assert!(matches!(
        write_glb(&scene),
        Err(WriteError::Scene(SceneError::Index { index: 9, .. }))
    ));
}
