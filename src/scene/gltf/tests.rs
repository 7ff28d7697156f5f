//! Whole small documents, from bytes to the scene.
use base64::Engine;
use glam::{DVec3, Vec2, Vec3, Vec4};
use serde_json::{Value, json};

use super::*;
use crate::{
    photometry::{
        Candela, Lux,
        lights::{Cone, Emitter, LightStrength, PhysicalLight, SpotFlux},
    },
    scene::{AlphaMode, NoteKind, Projection, TextureRef, Wrap},
};

fn data_uri(bytes: &[u8]) -> String {
    format!(
        "data:application/octet-stream;base64,{}",
        base64::engine::general_purpose::STANDARD.encode(bytes)
    )
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn read(value: &Value) -> Result<Scene, ImportError> {
    load_bytes("test.gltf", value.to_string().as_bytes(), &NoFiles)
}

/// The place where a document violates the specification.
fn violated(value: &Value) -> String {
    match read(value) {
        Err(ImportError::Violation { place, .. }) => place,
        other => panic!("{other:?}"),
    }
}

fn kinds(scene: &Scene, kind: NoteKind) -> Vec<&str> {
    scene.notes.iter().filter(|note| note.kind == kind).map(|note| note.location.as_str()).collect()
}

/// One triangle in the plane z = 0 with a choice of attributes: accessor 0 positions, 1 u8 indices,
/// 2 UVs.
fn triangle() -> Value {
    let mut bytes = floats(&[0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    bytes.extend([0, 1, 2, 0]);
    bytes.extend(floats(&[0.0, 1.0, 1.0, 1.0, 0.0, 0.0]));
    json!({
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0], "name": "main"}],
        "nodes": [{"mesh": 0, "name": "n"}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "buffers": [{"byteLength": bytes.len(), "uri": data_uri(&bytes)}],
        "bufferViews": [
            {"buffer": 0, "byteLength": 36},
            {"buffer": 0, "byteOffset": 36, "byteLength": 3},
            {"buffer": 0, "byteOffset": 40, "byteLength": 24},
        ],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 3, "min": [0, 0, 0], "max": [2, 1, 0]},
            {"bufferView": 1, "componentType": 5121, "type": "SCALAR", "count": 3},
            {"bufferView": 2, "componentType": 5126, "type": "VEC2", "count": 3},
        ],
    })
}

#[test]
fn a_triangle_with_no_normals_gets_flat_ones() {
    let scene = read(&triangle()).unwrap();
    assert_eq!(scene.name, "main");
    assert!(scene.notes.is_empty(), "{:?}", scene.notes);
    let primitive = &scene.meshes[0].primitives[0];
    assert_eq!(primitive.positions, [Vec3::ZERO, Vec3::X * 2.0, Vec3::Y]);
    assert_eq!(primitive.normals, [Vec3::Z; 3]);
    assert_eq!(primitive.indices, [0, 1, 2]);
    assert_eq!(scene.bounds().unwrap(), (DVec3::ZERO, DVec3::new(2.0, 1.0, 0.0)));
}

#[test]
fn a_normal_map_brings_tangents_along_u() {
    let mut value = triangle();
    value["meshes"][0]["primitives"][0]["attributes"]["TEXCOORD_0"] = json!(2);
    value["meshes"][0]["primitives"][0]["material"] = json!(0);
    value["materials"] = json!([{"normalTexture": {"index": 0, "scale": 0.5}}]);
    value["textures"] = json!([{"source": 0}]);
    value["images"] = json!([{"uri": "no.png"}]);
    let scene = read(&value).unwrap();
    let primitive = &scene.meshes[0].primitives[0];
    assert_eq!(primitive.uv0, [Vec2::new(0.0, 1.0), Vec2::ONE, Vec2::ZERO]);
    assert_eq!(primitive.tangents.len(), 3);
    for tangent in &primitive.tangents {
        assert!((*tangent - Vec4::new(1.0, 0.0, 0.0, 1.0)).length() < 1e-6, "{tangent}");
    }
    assert!((scene.materials[0].normal_scale - 0.5).abs() < 1e-6);
    // The missing image is visible and named.
    assert!(scene.images[0].is_error_pattern);
    let note = &scene.notes[0];
    assert_eq!((note.kind, note.location.as_str()), (NoteKind::Repaired, "/images/0"));
    assert!(note.message.contains("no.png"), "{}", note.message);
}

#[test]
fn what_is_not_finite_drops_its_triangles() {
    let mut value = triangle();
    let mut bytes = floats(&[0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, f32::NAN, 0.0]);
    bytes.extend([0, 1, 2, 0]);
    value["buffers"] = json!([{"byteLength": 40, "uri": data_uri(&bytes)}]);
    let scene = read(&value).unwrap();
    assert_eq!(scene.instanced_triangles(), 0);
    assert!(kinds(&scene, NoteKind::Repaired).contains(&"/meshes/0/primitives/0"));
}

#[test]
fn lights_have_their_units_and_defaults() {
    let scene = read(&json!({
        "asset": {"version": "2.0"},
        "extensionsUsed": ["KHR_lights_punctual"],
        "extensionsRequired": ["KHR_lights_punctual"],
        "extensions": {"KHR_lights_punctual": {"lights": [
            {"type": "spot", "intensity": 50, "color": [1, 0.5, 0], "range": 7, "spot": {"innerConeAngle": 0.2, "outerConeAngle": 0.4}},
            {"type": "spot"},
            {"type": "strange"},
            {"type": "directional", "intensity": 100_000, "range": 3},
            {"type": "point", "name": "bulb"},
            {"type": "spot", "spot": {"innerConeAngle": 0.5, "outerConeAngle": 0.5}},
        ]}},
        "nodes": [
            {"extensions": {"KHR_lights_punctual": {"light": 0}}},
            {"extensions": {"KHR_lights_punctual": {"light": 2}}},
            {"extensions": {"KHR_lights_punctual": {"light": 3}}},
        ],
    }))
    .unwrap();
    assert_eq!(scene.lights.len(), 5);
    let spot = &scene.lights[0];
    let cone = |inner, outer| Emitter::Spot {
        cone: Cone::new(inner, outer).unwrap(),
        flux: SpotFlux::Exact,
    };
    let candela = |emitter, candela| {
        PhysicalLight::new(emitter, LightStrength::Candela(Candela(candela))).unwrap()
    };
    let narrow = candela(cone(0.2, 0.4), 50.0);
    assert_eq!(
        (spot.source, spot.color, spot.range),
        (narrow, Vec3::new(1.0, 0.5, 0.0), Some(7.0))
    );
    let default = candela(cone(0.0, std::f64::consts::FRAC_PI_4), 1.0);
    assert_eq!((scene.lights[1].source, scene.lights[1].range), (default, None));
    let sun = PhysicalLight::new(Emitter::PARALLEL, LightStrength::Lux(Lux(100_000.0))).unwrap();
    assert_eq!(scene.lights[2].source, sun);
    assert_eq!(scene.lights[2].range, None);
    assert_eq!(scene.lights[3].source, candela(Emitter::Point, 1.0));
    let Emitter::Spot { cone, .. } = scene.lights[4].emitter() else { panic!() };
    assert!(cone.inner() < cone.outer() && cone.outer() == 0.5);
    let used: Vec<_> = scene.nodes.iter().map(|node| node.light).collect();
    assert_eq!(used, [Some(0), None, Some(2)]);
}

#[test]
fn texture_transforms_are_those_of_the_extension() {
    let at = |m: [[f32; 3]; 2], u: f32, v: f32| m.map(|[a, b, c]| a * u + b * v + c);
    let near = |a: [f32; 2], b: [f32; 2]| {
        assert!((a[0] - b[0]).abs() < 1e-6 && (a[1] - b[1]).abs() < 1e-6, "{a:?} {b:?}")
    };
    // The extension's example: the lower left quadrant of the image, turned clockwise by 90
    // degrees. The quadrant's lower left corner moves to the upper left, and its upper left corner
    // to the upper right.
    let example = convert::texture_matrix([0.0, 1.0], std::f64::consts::FRAC_PI_2, [0.5, 0.5]);
    near(at(example, 0.0, 0.0), [0.0, 1.0]);
    near(at(example, 1.0, 0.0), [0.0, 0.5]);
    near(at(example, 1.0, 1.0), [0.5, 0.5]);
    near(at(example, 0.0, 1.0), [0.5, 1.0]);
    // Scale first, then rotation, then offset.
    let all = convert::texture_matrix([0.25, 0.5], std::f64::consts::FRAC_PI_6, [2.0, 3.0]);
    let (sin, cos) = (0.5, 0.866_025_4);
    near(at(all, 0.1, 0.2), [cos * 0.2 + sin * 0.6 + 0.25, -sin * 0.2 + cos * 0.6 + 0.5]);
    near(at(convert::texture_matrix([0.0; 2], 0.0, [1.0; 2]), 0.3, 0.7), [0.3, 0.7]);
}

#[test]
fn glass_is_read_and_repaired() {
    let extensions = ["KHR_materials_ior", "KHR_materials_transmission", "KHR_materials_volume"];
    let glass = |ior: Value, transmission: Value, volume: Value| {
        let mut value = triangle();
        value["extensionsUsed"] = json!(extensions);
        value["extensionsRequired"] = json!(extensions);
        let [a, b, c] = extensions;
        value["materials"] = json!([{
            "pbrMetallicRoughness": {"metallicFactor": 0}, "extensions": {a: ior, b: transmission, c: volume},
        }]);
        let scene = read(&value).unwrap();
        (scene.materials[0].clone(), scene.notes)
    };
    let repaired = |notes: &[crate::scene::Note]| {
        notes.iter().filter(|n| n.kind == NoteKind::Repaired).count()
    };
    let (material, notes) = glass(
        json!({"ior": 1.33}),
        json!({"transmissionFactor": 0.5}),
        json!({"thicknessFactor": 2, "attenuationDistance": 0.5, "attenuationColor": [0.5, 1, 0]}),
    );
    assert_eq!((material.ior, material.transmission, material.volume.thickness), (1.33, 0.5, 2.0));
    let absorption = material.volume.absorption();
    assert!(
        (absorption.x - 2.0 * 2f64.ln()).abs() < 1e-12
            && absorption.y == 0.0
            && absorption.z == f64::INFINITY
    );
    assert!(material.encloses_volume());
    assert_eq!(repaired(&notes), 0);

    let (material, notes) = glass(json!({}), json!({}), json!({}));
    let default = crate::scene::Material::default();
    assert_eq!((material.ior, material.transmission, material.volume), (1.5, 0.0, default.volume));
    assert_eq!(repaired(&notes), 0);

    // Out of range: clamped or left out, each with a note.
    let (material, notes) = glass(
        json!({"ior": 0.5}),
        json!({"transmissionFactor": 7}),
        json!({"thicknessFactor": -1, "attenuationDistance": 0, "attenuationColor": [2, -1, 0.5]}),
    );
    assert_eq!((material.ior, material.transmission, material.volume.thickness), (1.5, 1.0, 0.0));
    assert_eq!(material.volume.attenuation_distance, f32::INFINITY);
    assert_eq!(material.volume.attenuation_color, Vec3::new(1.0, 0.0, 0.5));
    assert!(repaired(&notes) >= 5, "{notes:?}");

    // Values of a wrong type.
    let (material, notes) = glass(
        json!({"ior": "x"}),
        json!([1]),
        json!({"attenuationColor": [1, 2], "thicknessTexture": 3}),
    );
    assert_eq!((material.ior, material.transmission, material.volume), (1.5, 0.0, default.volume));
    assert!(repaired(&notes) >= 4, "{notes:?}");
}

/// A triangle with a material that requires these extensions.
fn with_extension(
    name: &str,
    value: Value,
    more: &[(&str, Value)],
) -> (crate::scene::Scene, usize) {
    let mut document = triangle();
    let mut extensions = serde_json::Map::from_iter([(name.to_owned(), value)]);
    extensions.extend(more.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    let names: Vec<&String> = extensions.keys().collect();
    document["extensionsUsed"] = json!(names);
    document["extensionsRequired"] = json!(names);
    document["materials"] =
        json!([{"pbrMetallicRoughness": {"metallicFactor": 0}, "extensions": extensions}]);
    document["meshes"][0]["primitives"][0]["material"] = json!(0);
    let scene = read(&document).unwrap();
    let repaired = scene.notes.iter().filter(|note| note.kind == NoteKind::Repaired).count();
    (scene, repaired)
}

#[test]
fn lobes_out_of_range_are_clamped_or_left_out_with_a_note() {
    let of = |name, value| {
        let (scene, repaired) = with_extension(name, value, &[]);
        (scene.materials[0].clone(), repaired)
    };
    let default = crate::scene::Material::default();

    let (material, repaired) = of(
        "KHR_materials_specular",
        json!({"specularFactor": 2, "specularColorFactor": [3, -1, 0.5]}),
    );
    assert_eq!(
        (material.specular.factor, material.specular.color),
        (1.0, Vec3::new(3.0, 0.0, 0.5))
    );
    assert_eq!(repaired, 2);
    let (material, repaired) = of(
        "KHR_materials_clearcoat",
        json!({"clearcoatFactor": -1, "clearcoatRoughnessFactor": 2}),
    );
    assert_eq!((material.clearcoat.factor, material.clearcoat.roughness, repaired), (0.0, 1.0, 2));
    let (material, repaired) = of(
        "KHR_materials_sheen",
        json!({"sheenColorFactor": [2, 0.5, 0], "sheenRoughnessFactor": "x"}),
    );
    assert_eq!(
        (material.sheen.color, material.sheen.roughness, repaired),
        (Vec3::new(1.0, 0.5, 0.0), 0.0, 2)
    );
    let (material, repaired) =
        of("KHR_materials_anisotropy", json!({"anisotropyStrength": 7, "anisotropyRotation": 9}));
    assert_eq!((material.anisotropy.strength, material.anisotropy.rotation), (1.0, 9.0));
    assert_eq!(repaired, 2, "the strength, and that nothing gives a direction");
    let (material, repaired) = of(
        "KHR_materials_iridescence",
        json!({"iridescenceFactor": 2, "iridescenceIor": 0.5, "iridescenceThicknessMinimum": -1}),
    );
    let film = material.iridescence;
    assert_eq!(
        (film.factor, film.ior, film.thickness_minimum, film.thickness_maximum),
        (1.0, 1.0, 0.0, 400.0)
    );
    assert_eq!(repaired, 3);
    let (material, repaired) = of("KHR_materials_dispersion", json!({"dispersion": -0.5}));
    assert_eq!((material.dispersion, repaired), (0.0, 1));
    let (material, repaired) = of(
        "KHR_materials_diffuse_transmission",
        json!({"diffuseTransmissionFactor": 2, "diffuseTransmissionColorFactor": [0.5, 2, -1]}),
    );
    let through = material.diffuse_transmission;
    assert_eq!((through.factor, through.color, repaired), (1.0, Vec3::new(0.5, 1.0, 0.0), 3));

    // Empty extensions have no effect, and missing textures are left out.
    let (material, repaired) = of("KHR_materials_iridescence", json!({}));
    assert_eq!((material.iridescence, repaired), (default.iridescence, 0));
    let (material, repaired) =
        of("KHR_materials_sheen", json!({"sheenColorTexture": {"index": 4}}));
    assert_eq!((material.sheen.color_texture, repaired), (None, 1));
    // Extensions that exclude unlit.
    let (scene, repaired) =
        with_extension("KHR_materials_sheen", json!({}), &[("KHR_materials_unlit", json!({}))]);
    assert_eq!((scene.materials[0].unlit, repaired), (true, 0));
}

#[test]
fn materials_are_read_in_full() {
    let mut value = triangle();
    value["extensionsUsed"] = json!([
        "KHR_texture_transform",
        "KHR_materials_emissive_strength",
        "KHR_materials_unlit",
        "KHR_materials_pbrSpecularGlossiness"
    ]);
    value["meshes"][0]["primitives"][0]["attributes"]["TEXCOORD_0"] = json!(2);
    value["meshes"][0]["primitives"][0]["attributes"]["TEXCOORD_1"] = json!(2);
    value["samplers"] =
        json!([{"magFilter": 9728, "minFilter": 9985, "wrapS": 33071, "wrapT": 33648}]);
    value["textures"] = json!([{"source": 0, "sampler": 0}, {"source": 0}]);
    value["images"] = json!([{"uri": "a.png"}]);
    value["materials"] = json!([
        {
            "pbrMetallicRoughness": {
                "baseColorFactor": [0.1, 0.2, 0.3, 0.4], "metallicFactor": 0.5, "roughnessFactor": 0.6,
                "baseColorTexture": {"index": 0, "texCoord": 1, "extensions": {"KHR_texture_transform": {"texCoord": 0, "offset": [0.5, 0]}}},
                "metallicRoughnessTexture": {"index": 1, "texCoord": 1},
            },
            "occlusionTexture": {"index": 0, "strength": 0.7},
            "emissiveTexture": {"index": 1, "texCoord": 7},
            "emissiveFactor": [1, 0.5, 0],
            "alphaMode": "MASK", "doubleSided": true,
            "extensions": {"KHR_materials_emissive_strength": {"emissiveStrength": 1000}, "KHR_materials_unlit": {}},
        },
        {"alphaMode": "BLEND"},
        {"alphaMode": "ODD"},
    ]);
    let scene = read(&value).unwrap();
    let material = &scene.materials[0];
    assert_eq!(material.base_color, Vec4::new(0.1, 0.2, 0.3, 0.4));
    assert_eq!(
        (material.metallic, material.roughness, material.occlusion_strength),
        (0.5, 0.6, 0.7)
    );
    let base = TextureRef { texture: 0, uv_set: 0, transform: [[1.0, 0.0, 0.5], [0.0, 1.0, 0.0]] };
    assert_eq!(material.base_color_texture, Some(base));
    let rough = TextureRef { texture: 1, uv_set: 1, transform: TextureRef::IDENTITY };
    assert_eq!(material.metallic_roughness_texture, Some(rough));
    assert_eq!(material.emissive_texture, None, "only two sets of texture coordinates");
    assert_eq!(material.emission, Vec3::new(1000.0, 500.0, 0.0));
    assert_eq!(material.alpha, AlphaMode::Mask { cutoff: 0.5 });
    assert!(material.double_sided && material.unlit);
    assert_eq!(
        (scene.materials[1].alpha, scene.materials[2].alpha),
        (AlphaMode::Blend, AlphaMode::Opaque)
    );
    let sampler = scene.textures[0].sampler;
    assert_eq!(
        (sampler.mag_linear, sampler.min_linear, sampler.mip_linear),
        (false, true, Some(false))
    );
    assert_eq!((sampler.wrap_u, sampler.wrap_v), (Wrap::Clamp, Wrap::Mirror));
    assert!(scene.notes.iter().any(|note| note.kind == NoteKind::Unsupported
        && note.message.contains("KHR_materials_pbrSpecularGlossiness")));
}

#[test]
fn only_shown_images_are_decoded() {
    let mut value = triangle();
    let mut png = Vec::new();
    let picture = image::RgbaImage::from_pixel(2, 3, image::Rgba([1, 2, 3, 4]));
    picture.write_to(&mut std::io::Cursor::new(&mut png), image::ImageFormat::Png).unwrap();
    let uri = data_uri(&png).replace("application/octet-stream", "image/png");
    value["images"] = json!([{"uri": uri}, {"uri": uri, "name": "spare"}]);
    value["textures"] = json!([{"source": 0}, {"source": 1}]);
    value["materials"] = json!([
        {"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}},
        {"pbrMetallicRoughness": {"baseColorTexture": {"index": 1}}},
    ]);
    value["meshes"][0]["primitives"][0]["material"] = json!(0);
    value["meshes"][0]["primitives"][0]["attributes"]["TEXCOORD_0"] = json!(2);
    let scene = read(&value).unwrap();
    assert_eq!((scene.images[0].width, scene.images[0].height), (2, 3));
    assert_eq!(scene.images[0].rgba8[..4], [1, 2, 3, 4]);
    assert_eq!((scene.images[1].width, scene.images[1].name.as_str()), (1, "spare"));
    assert!(scene.images.iter().all(|image| !image.is_error_pattern) && scene.notes.is_empty());
}

#[test]
fn cameras_keep_their_projection() {
    let scene = read(&json!({
        "asset": {"version": "2.0"},
        "cameras": [
            {"type": "perspective", "perspective": {"yfov": 1, "znear": 0.1, "aspectRatio": 1.5}},
            {"type": "perspective", "perspective": {"yfov": -1, "znear": 0.1}},
            {"type": "orthographic", "orthographic": {"xmag": 2, "ymag": 1, "znear": 0, "zfar": 10}},
        ],
        "nodes": [{"camera": 0}, {"camera": 1}, {"camera": 2}],
    }))
    .unwrap();
    let perspective =
        Projection::Perspective { vertical_fov: 1.0, aspect: Some(1.5), near: 0.1, far: None };
    assert_eq!(scene.cameras[0].projection, perspective);
    let orthographic =
        Projection::Orthographic { half_width: 2.0, half_height: 1.0, near: 0.0, far: 10.0 };
    assert_eq!(scene.cameras[1].projection, orthographic);
    let used: Vec<_> = scene.nodes.iter().map(|node| node.camera).collect();
    assert_eq!(used, [Some(0), None, Some(1)]);
}

#[test]
fn nodes_combine_translation_rotation_and_scale() {
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let scene = read(&json!({
        "asset": {"version": "2.0"},
        "nodes": [
            {"children": [1], "translation": [1, 2, 3]},
            {"rotation": [0, 0, half, half], "scale": [2, 2, 2], "children": [2]},
            {"matrix": [1,0,0,0, 0,1,0,0, 0,0,1,0, 5,0,0,1]},
        ],
    }))
    .unwrap();
    assert_eq!(scene.roots, [0]);
    let placed = scene.walk();
    let p = placed[2].world.transform_point3(DVec3::ZERO);
    // (5, 0, 0) doubled, turned by 90 degrees about z, and moved.
    assert!((p - DVec3::new(1.0, 12.0, 3.0)).length() < 1e-12, "{p}");
}

#[test]
fn a_very_deep_hierarchy_does_not_exhaust_the_stack() {
    let depth = 100_000;
    let mut nodes: Vec<Value> = (1..depth).map(|i| json!({"children": [i]})).collect();
    nodes.push(json!({"mesh": 0}));
    let mut value = triangle();
    value["nodes"] = json!(nodes);
    let scene = read(&value).unwrap();
    assert_eq!((scene.walk().len(), scene.instanced_triangles()), (depth, 1));
    nodes[depth - 1] = json!({"children": [0]});
    value["nodes"] = json!(nodes);
    assert_eq!(violated(&value), "/nodes/0");
}

#[test]
fn a_scene_may_list_nodes_that_are_no_roots() {
    let mut value = triangle();
    value["nodes"] = json!([{"children": [1], "translation": [10, 0, 0]}, {"mesh": 0, "translation": [0, 5, 0]}]);
    value["scenes"] = json!([{"nodes": [1]}]);
    let scene = read(&value).unwrap();
    assert_eq!(scene.roots, [1]);
    assert_eq!(scene.bounds().unwrap().0, DVec3::new(10.0, 5.0, 0.0), "shown where it stands");
    assert!(scene.nodes[1].parent.is_none() && scene.nodes[0].children.is_empty());
    value["scenes"] = json!([{"nodes": [0, 1]}]);
    let scene = read(&value).unwrap();
    assert_eq!((scene.roots.as_slice(), scene.instanced_triangles()), (&[0][..], 1), "shown once");
}

#[test]
fn padding_of_zeros_and_white_space_is_ignored() {
    let text = triangle().to_string();
    for padding in [&b"\0"[..], b" \0\0 \n", b"\0 ", b"\n\t "] {
        let bytes = [text.as_bytes(), padding].concat();
        let scene = load_bytes("test.gltf", &bytes, &NoFiles).unwrap();
        let noted = !kinds(&scene, NoteKind::Repaired).is_empty();
        assert_eq!(noted, padding.contains(&0), "{padding:?}");
    }
}

#[test]
fn zero_scale_hides_and_overflow_cuts_off() {
    let mut value = triangle();
    value["nodes"] = json!([
        {"mesh": 0, "scale": [1, 0, 1]},
        {"scale": [1e38, 1e38, 1e38], "children": [2]}, {"mesh": 0},
    ]);
    value["scenes"] = json!([{"nodes": [0, 1]}]);
    assert_eq!(read(&value).unwrap().instanced_triangles(), 1);
    let mut nodes = vec![json!({"scale": [1e38, 1, 1], "children": [1]})];
    nodes.extend((2..30).map(|i| json!({"scale": [1e38, 1, 1], "children": [i]})));
    nodes.push(json!({"mesh": 0}));
    value["nodes"] = json!(nodes);
    value["scenes"] = json!([{"nodes": [0]}]);
    let scene = read(&value).unwrap();
    assert_eq!(scene.instanced_triangles(), 0);
    assert!(scene.walk().iter().all(|placed| placed.world.is_finite()));
    assert_eq!(kinds(&scene, NoteKind::Repaired).len(), 1);
}

#[test]
fn the_default_scene_is_shown_else_the_first_else_all() {
    let mut value = triangle();
    value["nodes"] = json!([{"mesh": 0}, {"mesh": 0}, {"mesh": 0}]);
    value["scenes"] = json!([{"nodes": [0]}, {"nodes": [1, 2]}]);
    value["scene"] = json!(1);
    assert_eq!(read(&value).unwrap().roots, [1, 2]);
    value.as_object_mut().unwrap().remove("scene");
    assert_eq!(read(&value).unwrap().roots, [0]);
    value.as_object_mut().unwrap().remove("scenes");
    assert_eq!(read(&value).unwrap().roots, [0, 1, 2]);
}

#[test]
fn morph_targets_are_added_at_the_weights_of_mesh_or_node() {
    let mut value = triangle();
    value["meshes"][0]["primitives"][0]["targets"] = json!([{"POSITION": 0}]);
    value["meshes"][0]["weights"] = json!([1]);
    value["nodes"] = json!([{"mesh": 0}, {"mesh": 0, "weights": [0.5]}, {"mesh": 0}]);
    value["scenes"] = json!([{"nodes": [0, 1, 2]}]);
    let scene = read(&value).unwrap();
    let x =
        |node: usize| scene.meshes[scene.nodes[node].mesh.unwrap()].primitives[0].positions[1].x;
    assert_eq!((x(0), x(1), x(2)), (4.0, 3.0, 4.0));
    assert_eq!(scene.meshes.len(), 2);
}

#[test]
fn joints_beyond_the_first_sixty_four_are_noted() {
    for (sets, noted) in [(16, 0), (17, 1)] {
        let mut value = triangle();
        let mut bytes = vec![0u8; 12];
        bytes.extend(floats(&[0.25; 12]));
        value["buffers"]
            .as_array_mut()
            .unwrap()
            .push(json!({"byteLength": bytes.len(), "uri": data_uri(&bytes)}));
        let views = value["bufferViews"].as_array_mut().unwrap();
        views.push(json!({"buffer": 1, "byteLength": 12}));
        views.push(json!({"buffer": 1, "byteOffset": 12, "byteLength": 48}));
        let accessors = value["accessors"].as_array_mut().unwrap();
        accessors.push(json!({"bufferView": 3, "componentType": 5121, "type": "VEC4", "count": 3}));
        accessors.push(json!({"bufferView": 4, "componentType": 5126, "type": "VEC4", "count": 3}));
        for set in 0..sets {
            let attributes = &mut value["meshes"][0]["primitives"][0]["attributes"];
            attributes[format!("JOINTS_{set}")] = json!(3);
            attributes[format!("WEIGHTS_{set}")] = json!(4);
        }
        value["nodes"] = json!([{"mesh": 0, "skin": 0, "name": "n"}, {"name": "bone"}]);
        value["scenes"][0]["nodes"] = json!([0, 1]);
        value["skins"] = json!([{"joints": [1]}]);
        let scene = read(&value).unwrap();
        assert_eq!(kinds(&scene, NoteKind::Unsupported).len(), noted, "{sets}: {:?}", scene.notes);
    }
}

#[test]
fn vertex_colors_may_be_bytes_and_lack_opacity() {
    let mut value = triangle();
    let mut bytes = floats(&[0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    bytes.extend([255, 0, 51, 0, 0, 255, 0, 0, 0, 0, 255, 0, 0, 1, 2]);
    value["buffers"] = json!([{"byteLength": bytes.len(), "uri": data_uri(&bytes)}]);
    value["bufferViews"] = json!([
        {"buffer": 0, "byteLength": 36},
        {"buffer": 0, "byteOffset": 48, "byteLength": 3},
        {"buffer": 0, "byteOffset": 36, "byteLength": 12, "byteStride": 4},
    ]);
    value["accessors"][2] = json!({"bufferView": 2, "componentType": 5121, "type": "VEC3", "count": 3, "normalized": true});
    value["meshes"][0]["primitives"][0]["attributes"]["COLOR_0"] = json!(2);
    let scene = read(&value).unwrap();
    let colors = &scene.meshes[0].primitives[0].colors;
    assert_eq!(
        colors[..],
        [
            Vec4::new(1.0, 0.0, 0.2, 1.0),
            Vec4::new(0.0, 1.0, 0.0, 1.0),
            Vec4::new(0.0, 0.0, 1.0, 1.0)
        ]
    );
}

#[test]
fn refusals_name_file_place_and_remedy() {
    let cases: [(&[u8], &str); 6] = [
        (b"", "f: byte 0: the file ends within its first byte; copy or export it again"),
        (b"hello", "f: not a glTF 2.0 file: it begins neither with 'glTF' nor with '{'; choose a .gltf or .glb file"),
        (b"{\"asset\": ", "f: byte 9: JSON syntax: EOF while parsing a value at line 1 column 10; export it again"),
        (b"{\"asset\":{\"version\":\"1.0\"}}", "f: not a glTF 2.0 file: glTF version 1.0; export it as glTF 2.0"),
        (b"{}", "f: /: 'asset' is missing; export the file again"),
        (
            b"{\"asset\":{\"version\":\"2.0\"},\"extensionsUsed\":[\"X\"],\"extensionsRequired\":[\"X\"],\"extensions\":{\"X\":{}}}",
            "f: /extensionsRequired: needs X, which is not supported; export without it",
        ),
    ];
    for (bytes, text) in cases {
        assert_eq!(load_bytes("f", bytes, &NoFiles).unwrap_err().to_string(), text);
    }
    let missing = load(Path::new("no/such/file.glb")).unwrap_err();
    assert_eq!(missing.to_string(), "no/such/file.glb: not found; check the path");
    let folder = load(Path::new("/")).unwrap_err();
    assert!(matches!(folder, ImportError::Unreadable { .. }), "{folder}");
}

#[test]
fn a_count_without_bytes_is_refused() {
    let mut value = triangle();
    value["accessors"][0]["count"] = json!(4_000_000_000u64);
    assert_eq!(violated(&value), "/meshes/0/primitives/0/attributes/POSITION");
    value["accessors"][0].as_object_mut().unwrap().remove("bufferView");
    assert!(matches!(read(&value), Err(ImportError::TooLarge { .. })));
}

#[test]
fn the_same_bytes_many_times_over_meet_the_limit() {
    // A small file whose primitives all use one megabyte: 3000 of them would be gigabytes.
    let bytes = vec![0u8; 1 << 20];
    let primitives: Vec<Value> =
        (0..3000).map(|_| json!({"attributes": {"POSITION": 0}})).collect();
    let result = read(&json!({
        "asset": {"version": "2.0"},
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": primitives}],
        "buffers": [{"byteLength": bytes.len(), "uri": data_uri(&bytes)}],
        "bufferViews": [{"buffer": 0, "byteLength": bytes.len()}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 87000, "min": [0, 0, 0], "max": [0, 0, 0]}],
    }));
    assert!(
        matches!(result, Err(ImportError::TooLarge { .. })),
        "{:?}",
        result.map(|scene| scene.instanced_triangles())
    );
}

#[test]
fn too_many_values_are_refused_before_they_take_memory() {
    let text = format!(
        "{{\"asset\":{{\"version\":\"2.0\"}},\"extras\":[{}0]}}",
        "0,".repeat(MAX_JSON_VALUES)
    );
    let error = load_bytes("f", text.as_bytes(), &NoFiles).unwrap_err();
    assert!(matches!(error, ImportError::TooLarge { .. }), "{error}");
}

/// The triangle with other index bytes.
fn with_indices(indices: [u8; 3]) -> Value {
    let mut value = triangle();
    let mut bytes = floats(&[0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    bytes.extend(indices);
    bytes.extend([0; 25]);
    value["buffers"] = json!([{"byteLength": 64, "uri": data_uri(&bytes)}]);
    value
}

#[test]
fn indices_beyond_the_vertices_drop_their_triangles_and_restarts_are_refused() {
    let scene = read(&with_indices([0, 1, 3])).unwrap();
    assert_eq!(scene.instanced_triangles(), 0);
    assert!(kinds(&scene, NoteKind::Repaired).contains(&"/meshes/0/primitives/0/indices"));
    assert_eq!(violated(&with_indices([0, 1, 255])), "/meshes/0/primitives/0/indices");
    assert_eq!(
        read(&with_indices([2, 1, 0])).unwrap().meshes[0].primitives[0].normals[0],
        Vec3::NEG_Z
    );
}

#[test]
fn attributes_that_do_not_fit_are_left_out() {
    let mut value = triangle();
    value["meshes"][0]["primitives"][0]["attributes"]["TEXCOORD_0"] = json!(2);
    value["meshes"][0]["primitives"][0]["attributes"]["TANGENT"] = json!(0);
    value["accessors"][2]["count"] = json!(2);
    let scene = read(&value).unwrap();
    let primitive = &scene.meshes[0].primitives[0];
    assert_eq!((primitive.uv0.len(), primitive.tangents.len(), primitive.indices.len()), (0, 0, 3));
    let places = kinds(&scene, NoteKind::Repaired);
    assert!(places.contains(&"/meshes/0/primitives/0/attributes/TEXCOORD_0"), "{places:?}");
    assert!(places.contains(&"/meshes/0/primitives/0/attributes/TANGENT"), "{places:?}");
}

#[test]
fn quantized_positions_are_read() {
    let mut value = triangle();
    let bytes = [0u8, 0, 0, 0, 200, 0, 0, 0, 0, 100, 0, 0, 0, 1, 2];
    value["extensionsUsed"] = json!(["KHR_mesh_quantization"]);
    value["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
    value["buffers"] = json!([{"byteLength": 15, "uri": data_uri(&bytes)}]);
    value["bufferViews"] = json!([{"buffer": 0, "byteLength": 12, "byteStride": 4}, {"buffer": 0, "byteOffset": 12, "byteLength": 3}]);
    value["accessors"] = json!([
        {"bufferView": 0, "componentType": 5121, "type": "VEC3", "count": 3, "min": [0, 0, 0], "max": [200, 100, 0]},
        {"bufferView": 1, "componentType": 5121, "type": "SCALAR", "count": 3},
    ]);
    let scene = read(&value).unwrap();
    assert_eq!(scene.meshes[0].primitives[0].positions[1], Vec3::new(200.0, 0.0, 0.0));
    assert!(scene.notes.is_empty(), "{:?}", scene.notes);
}

#[test]
fn meshes_that_are_not_shown_stay_empty_and_in_place() {
    let mut value = triangle();
    value["meshes"] = json!([{"primitives": [{"attributes": {"POSITION": 0}}], "name": "spare"}, value["meshes"][0]]);
    value["nodes"] = json!([{"mesh": 1}, {"mesh": 1}]);
    value["scenes"] = json!([{"nodes": [0, 1]}]);
    let scene = read(&value).unwrap();
    assert_eq!((scene.meshes.len(), scene.meshes[0].primitives.len()), (2, 0));
    assert_eq!((scene.meshes[0].name.as_str(), scene.instanced_triangles()), ("spare", 2));
    assert!(scene.nodes.iter().all(|node| node.mesh == Some(1)), "instances share one mesh");
}

#[test]
fn instances_are_limited() {
    let mut value = triangle();
    let primitive = value["meshes"][0]["primitives"][0].clone();
    value["meshes"][0]["primitives"] = json!(vec![primitive; 4000]);
    value["nodes"] = json!(vec![json!({"mesh": 0}); 4000]);
    value.as_object_mut().unwrap().remove("scenes");
    value.as_object_mut().unwrap().remove("scene");
    let error = read(&value).unwrap_err();
    assert!(matches!(error, ImportError::TooLarge { .. }), "{error}");
}

#[test]
fn files_are_read_beside_the_document_and_nowhere_else() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("in ner");
    std::fs::create_dir(&inner).unwrap();
    let mut value = triangle();
    let mut bytes = floats(&[0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    bytes.extend([0, 1, 2, 0]);
    bytes.extend([0; 24]);
    std::fs::write(inner.join("a b.bin"), &bytes).unwrap();
    std::fs::write(folder.path().join("out.bin"), &bytes).unwrap();
    for (uri, found) in [
        ("a%20b.bin", true),
        ("a b.bin", true),
        ("../out.bin", false),
        ("./x/../a b.bin", true),
        ("none.bin", false),
    ] {
        value["buffers"] = json!([{"byteLength": 64, "uri": uri}]);
        let path = inner.join("my.gltf");
        std::fs::write(&path, value.to_string()).unwrap();
        let result = load(&path);
        assert_eq!(result.is_ok(), found, "{uri}: {result:?}");
        if let Ok(scene) = result {
            assert_eq!(scene.source.as_deref(), Some(path.as_path()));
        }
    }
}

#[test]
fn animated_values_out_of_range_are_clamped_with_a_note() {
    // In-tangent, value, out-tangent of two keys; LINEAR reads the values alone.
    let read_with = |path: &str, interpolation: &str, values: &[f32]| {
        let mut document = triangle();
        document["extensionsUsed"] = json!(["KHR_animation_pointer"]);
        document["materials"] = json!([{"pbrMetallicRoughness": {"metallicFactor": 0}}]);
        document["meshes"][0]["primitives"][0]["material"] = json!(0);
        let bytes: Vec<u8> = floats(&[0.0, 1.0]).into_iter().chain(floats(values)).collect();
        document["buffers"]
            .as_array_mut()
            .unwrap()
            .push(json!({"byteLength": bytes.len(), "uri": data_uri(&bytes)}));
        document["bufferViews"].as_array_mut().unwrap().extend([
            json!({"buffer": 1, "byteLength": 8}),
            json!({"buffer": 1, "byteOffset": 8, "byteLength": values.len() * 4}),
        ]);
        let scalars = |view: u32, count: usize| json!({"bufferView": view, "componentType": 5126, "type": "SCALAR", "count": count});
        document["accessors"]
            .as_array_mut()
            .unwrap()
            .extend([scalars(3, 2), scalars(4, values.len())]);
        document["accessors"][3]["min"] = json!([0]);
        document["accessors"][3]["max"] = json!([1]);
        document["animations"] = json!([{
            "samplers": [{"input": 3, "output": 4, "interpolation": interpolation}],
            "channels": [{"sampler": 0, "target": {
                "path": "pointer",
                "extensions": {"KHR_animation_pointer": {"pointer": path}},
            }}],
        }]);
        let scene = read(&document).unwrap();
        assert_eq!(scene.animations.len(), 1, "{:?}", scene.notes);
        scene.notes.iter().map(|note| note.message.clone()).collect::<Vec<_>>()
    };
    let roughness = "/materials/0/pbrMetallicRoughness/roughnessFactor";
    let scale = "/materials/0/normalTexture/scale";
    let none: Vec<String> = Vec::new();
    assert_eq!(read_with(roughness, "LINEAR", &[0.0, 1.0]), none);
    // Rounding is no news, and a scale has no range.
    assert_eq!(read_with(roughness, "LINEAR", &[0.0, 1.000_000_2]), none);
    assert_eq!(read_with(scale, "LINEAR", &[-2.0, 3.0]), none);
    assert_eq!(
        read_with(roughness, "STEP", &[-0.5, 1.5]),
        ["values from -0.5 to 1.5 are clamped to 0 to 1"]
    );
    // The keys are in range, the spline between them is not: 1 + 4 / 4 at its middle.
    assert_eq!(
        read_with(roughness, "CUBICSPLINE", &[0.0, 1.0, 4.0, -4.0, 1.0, 0.0]),
        ["values from 1 to 2 are clamped to 0 to 1"]
    );
    assert_eq!(
        read_with("/materials/0/extensions/KHR_materials_ior/ior", "LINEAR", &[0.5, 1.5]),
        ["values from 0.5 to 1.5 are clamped to 1 and up"]
    );
}

#[test]
fn hidden_nodes_show_nothing() {
    let mut value = triangle();
    value["extensionsUsed"] = json!(["KHR_node_visibility", "KHR_lights_punctual"]);
    value["extensionsRequired"] = json!(["KHR_node_visibility"]);
    value["extensions"] = json!({"KHR_lights_punctual": {"lights": [{"type": "point"}]}});
    value["cameras"] = json!([{
        "type": "perspective",
        "perspective": {"yfov": 1.0, "znear": 0.1}
    }]);
    value["scenes"] = json!([{"nodes": [0, 3, 4]}]);
    let visible = |visible: bool| json!({"KHR_node_visibility": {"visible": visible}});
    let mut lit = visible(true);
    lit["KHR_lights_punctual"] = json!({"light": 0});
    value["nodes"] = json!([
        {"children": [1], "extensions": visible(false)},
        {"mesh": 0, "children": [2], "camera": 0, "extensions": visible(true)},
        // Nothing that is shown needs the skin that does not exist.
        {"mesh": 0, "skin": 7, "extensions": lit},
        {"mesh": 0, "extensions": visible(true)},
        {"extensions": lit, "mesh": 0},
    ]);
    let scene = read(&value).unwrap();
    let shown = |node: &crate::scene::Node| (node.mesh.is_some(), node.light.is_some());
    let nodes: Vec<_> = scene.nodes.iter().map(shown).collect();
    assert_eq!(
        nodes,
        [(false, false), (false, false), (false, false), (true, false), (true, true)]
    );
    assert_eq!(scene.nodes[1].camera, Some(0));
    assert_eq!(kinds(&scene, NoteKind::Info), ["/nodes"]);
    // A value that is not a boolean hides nothing.
    value["nodes"][0]["extensions"]["KHR_node_visibility"]["visible"] = json!(0);
    value["nodes"][2].as_object_mut().unwrap().remove("skin");
    assert!(read(&value).unwrap().nodes[1].mesh.is_some());
}

#[test]
fn every_file_beside_a_document_is_found_once() {
    let top = tempfile::tempdir().unwrap();
    let at = |path: &str| top.path().join(path);
    std::fs::create_dir_all(at("scene/maps")).unwrap();
    for (file, bytes) in [("scene/a.bin", "a"), ("scene/maps/Wood 1.png", "w"), ("b.png", "b")] {
        std::fs::write(at(file), bytes).unwrap();
    }
    let text = r#"{"asset": {"version": "2.0"},
        "buffers": [{"uri": "a.bin"}, {"uri": "data:;base64,AA=="}, {"uri": "./a.bin"}],
        "images": [{"uri": "maps/wood%201.png"}, {"uri": "../b.png"}, {"uri": "none.png"},
            {"uri": "file:///etc/passwd"}],
        "materials": [{"extras": {"water": {"flow": "flow.png"}}}],
        "extensions": {"EXT_lights_ies": {"lights": [{"uri": "lamp.ies"}]}}}"#;
    let document = at("scene/a.gltf");
    std::fs::write(&document, text).unwrap();
    let folder = Folder::within(&document, top.path()).unwrap();
    let mut found = Vec::new();
    external_files::<ImportError>(&document, &folder, 100, |file| {
        found.push((file.path, file.bytes.ok()));
        Ok(())
    })
    .unwrap();
    let file = |path: &str, bytes: Option<&[u8]>| (path.to_owned(), bytes.map(<[u8]>::to_vec));
    assert_eq!(
        found,
        [
            file("../b.png", Some(b"b")),
            file("a.bin", Some(b"a")),
            file("flow.png", None),
            file("lamp.ies", None),
            file("maps/wood 1.png", Some(b"w")),
            file("none.png", None),
        ]
    );
}
