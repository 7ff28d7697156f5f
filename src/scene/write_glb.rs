//! Export of a scene as binary glTF 2.0 (GLB).

mod lobes;

use glam::{DMat4, Vec3};
use serde_json::{Map, Value, json};

use crate::image_io::coded_image::{PngOptions, write_png};
use crate::photometry::{Candela, lights::Emitter};
use crate::scene::{
    AlphaMode, Image, Light, Material, Primitive, Projection, Sampler, Scene, TextureRef, Wrap,
    build::{SceneError, check},
};

/// Error of a scene that cannot be exported.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The scene breaks an invariant of the scene model.
    #[error("invalid scene: {0}")]
    Scene(#[from] SceneError),
    /// An image cannot be encoded as PNG.
    #[error("cannot encode image {name:?} as PNG: {source}")]
    Image {
        /// The image's name.
        name: String,
        /// Error of the encoder.
        source: std::io::Error,
    },
    /// The document cannot be serialized as JSON.
    #[error("cannot serialize the glTF document as JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The file exceeds the 32-bit byte count of GLB.
    #[error("the file would have {0} bytes, but a GLB holds less than 4 GiB; split the scene")]
    Size(usize),
}

const ARRAY_BUFFER: u32 = 34962;
const ELEMENT_ARRAY_BUFFER: u32 = 34963;
const FLOAT: u32 = 5126;
const UNSIGNED_SHORT: u32 = 5123;
const UNSIGNED_INT: u32 = 5125;
const CHUNK_JSON: u32 = 0x4e4f_534a;
const CHUNK_BINARY: u32 = 0x004e_4942;

/// Serializes a scene as the bytes of a `.glb` file. Equal scenes give equal bytes.
///
/// glTF limits light colors and emissive factors to 0 to 1. If a light's largest channel is above
/// 1, it moves into the intensity. The largest channel of an emission becomes its
/// `emissiveStrength`; the products are unchanged. Transforms are written as matrices, which glTF
/// requires to be free of shear. The file omits notes and the error-pattern mark of images.
///
/// # Errors
/// `WriteError` if the scene breaks an invariant, an image cannot be encoded, or the file would be
/// too large.
pub fn write_glb(scene: &Scene) -> Result<Vec<u8>, WriteError> {
    check(scene)?;
    let mut out = Writer::default();
    let mut document = Map::new();
    document.insert("asset".into(), json!({ "version": "2.0", "generator": "sunny16" }));
    document.insert("scene".into(), json!(0));
    let mut shown = named(&scene.name);
    put_list(&mut shown, "nodes", scene.roots.iter().map(|&root| json!(root)).collect());
    document.insert("scenes".into(), json!([shown]));
    // A glTF mesh has at least one primitive and a primitive at least one triangle: skip empty
    // ones.
    let mut meshes: Vec<Value> = Vec::new();
    let mut written: Vec<Option<usize>> = Vec::with_capacity(scene.meshes.len());
    for mesh in &scene.meshes {
        let filled = mesh.primitives.iter().filter(|part| !part.indices.is_empty());
        let parts: Vec<Value> = filled.map(|part| out.primitive(part)).collect();
        written.push((!parts.is_empty()).then_some(meshes.len()));
        if !parts.is_empty() {
            let mut value = named(&mesh.name);
            value.insert("primitives".into(), Value::Array(parts));
            meshes.push(Value::Object(value));
        }
    }
    let nodes =
        scene.nodes.iter().map(|shown| node(shown, shown.mesh.and_then(|mesh| written[mesh])));
    put_list(&mut document, "nodes", nodes.collect());
    put_list(&mut document, "meshes", meshes);
    put_list(
        &mut document,
        "materials",
        scene.materials.iter().map(|material| out.material(material)).collect(),
    );
    let mut samplers: Vec<Sampler> = Vec::new();
    let textures = scene.textures.iter().map(|texture| {
        let sampler =
            samplers.iter().position(|known| *known == texture.sampler).unwrap_or_else(|| {
                samplers.push(texture.sampler);
                samplers.len() - 1
            });
        json!({ "sampler": sampler, "source": texture.image })
    });
    let textures = textures.collect();
    put_list(&mut document, "textures", textures);
    put_list(&mut document, "samplers", samplers.iter().map(sampler).collect());
    let images = scene.images.iter().map(|image| out.image(image)).collect::<Result<_, _>>()?;
    put_list(&mut document, "images", images);
    put_list(&mut document, "cameras", scene.cameras.iter().map(camera).collect());
    if !scene.lights.is_empty() {
        out.extension("KHR_lights_punctual");
        let lights: Vec<Value> = scene.lights.iter().map(light).collect();
        document
            .insert("extensions".into(), json!({ "KHR_lights_punctual": { "lights": lights } }));
    }
    put_list(&mut document, "accessors", std::mem::take(&mut out.accessors));
    put_list(&mut document, "bufferViews", std::mem::take(&mut out.views));
    if !out.bytes.is_empty() {
        document.insert("buffers".into(), json!([{ "byteLength": out.bytes.len() }]));
    }
    let mut extensions = std::mem::take(&mut out.extensions);
    extensions.sort_unstable();
    put_list(&mut document, "extensionsUsed", extensions.into_iter().map(Value::from).collect());
    pack(&serde_json::to_vec(&Value::Object(document))?, &out.bytes)
}

/// Assembles header and chunks of a GLB (glTF 2.0 section 4.4).
fn pack(json: &[u8], binary: &[u8]) -> Result<Vec<u8>, WriteError> {
    let padded = |length: usize| length.next_multiple_of(4);
    let binary_chunk = if binary.is_empty() { 0 } else { 8 + padded(binary.len()) };
    let total = 12 + 8 + padded(json.len()) + binary_chunk;
    let length = u32::try_from(total).map_err(|_| WriteError::Size(total))?;
    let mut out = Vec::with_capacity(total);
    out.extend(b"glTF");
    out.extend(2_u32.to_le_bytes());
    out.extend(length.to_le_bytes());
    for (kind, bytes, fill) in [(CHUNK_JSON, json, b' '), (CHUNK_BINARY, binary, 0)] {
        if !bytes.is_empty() {
            out.extend((padded(bytes.len()) as u32).to_le_bytes());
            out.extend(kind.to_le_bytes());
            out.extend(bytes);
            out.resize(out.len().next_multiple_of(4), fill);
        }
    }
    Ok(out)
}

fn named(name: &str) -> Map<String, Value> {
    let mut value = Map::new();
    if !name.is_empty() {
        value.insert("name".into(), name.into());
    }
    value
}

/// glTF forbids empty lists.
fn put_list(document: &mut Map<String, Value>, key: &str, list: Vec<Value>) {
    if !list.is_empty() {
        document.insert(key.into(), Value::Array(list));
    }
}

/// A number as the shortest decimal that reads back as the same `f32`.
fn number(value: f32) -> Value {
    value.to_string().parse::<f64>().map_or(Value::Null, Value::from)
}

fn numbers(values: &[f32]) -> Value {
    values.iter().copied().map(number).collect()
}

fn sampler(sampler: &Sampler) -> Value {
    let wrap = |wrap: Wrap| match wrap {
        Wrap::Repeat => 10497,
        Wrap::Mirror => 33648,
        Wrap::Clamp => 33071,
    };
    let minification = match (sampler.min_linear, sampler.mip_linear) {
        (false, None) => 9728,
        (true, None) => 9729,
        (false, Some(false)) => 9984,
        (true, Some(false)) => 9985,
        (false, Some(true)) => 9986,
        (true, Some(true)) => 9987,
    };
    json!({
        "magFilter": if sampler.mag_linear { 9729 } else { 9728 },
        "minFilter": minification,
        "wrapS": wrap(sampler.wrap_u),
        "wrapT": wrap(sampler.wrap_v),
    })
}

fn camera(camera: &crate::scene::Camera) -> Value {
    let mut value = named(&camera.name);
    match camera.projection {
        Projection::Perspective { vertical_fov, aspect, near, far } => {
            let mut projection = Map::new();
            if let Some(aspect) = aspect {
                projection.insert("aspectRatio".into(), number(aspect));
            }
            projection.insert("yfov".into(), number(vertical_fov));
            if let Some(far) = far {
                projection.insert("zfar".into(), number(far));
            }
            projection.insert("znear".into(), number(near));
            value.insert("type".into(), "perspective".into());
            value.insert("perspective".into(), Value::Object(projection));
        }
        Projection::Orthographic { half_width, half_height, near, far } => {
            value.insert("type".into(), "orthographic".into());
            let projection = json!({
                "xmag": number(half_width), "ymag": number(half_height), "zfar": number(far), "znear": number(near),
            });
            value.insert("orthographic".into(), projection);
        }
    }
    Value::Object(value)
}

/// KHR_lights_punctual has no shapes: an area light becomes a point light of the same intensity.
fn light(light: &Light) -> Value {
    let mut value = named(&light.name);
    let max = light.color.max_element().max(1.0);
    let color = light.color / max;
    let scale = f64::from(max);
    if color != Vec3::ONE {
        value.insert("color".into(), numbers(&color.to_array()));
    }
    let candela = light.source.candela().map_or(0.0, Candela::get);
    let (kind, intensity) = match light.emitter() {
        Emitter::Sun { .. } => ("directional", light.source.lux(1.0).get()),
        Emitter::Spot { cone, .. } => {
            // The extension requires inner < outer <= pi/2.
            let outer = cone.outer().min(std::f64::consts::FRAC_PI_2);
            let inner = cone.inner().min(outer - 1e-6).max(0.0);
            value
                .insert("spot".into(), json!({ "innerConeAngle": inner, "outerConeAngle": outer }));
            ("spot", candela)
        }
        _ => ("point", candela),
    };
    value.insert("type".into(), kind.into());
    value.insert("intensity".into(), json!(intensity * scale));
    if let Some(range) = light.range.filter(|_| kind != "directional") {
        value.insert("range".into(), number(range));
    }
    Value::Object(value)
}

fn node(node: &crate::scene::Node, mesh: Option<usize>) -> Value {
    let mut value = named(&node.name);
    if node.local != DMat4::IDENTITY {
        value.insert("matrix".into(), json!(node.local.to_cols_array()));
    }
    if let Some(mesh) = mesh {
        value.insert("mesh".into(), json!(mesh));
    }
    if let Some(camera) = node.camera {
        value.insert("camera".into(), json!(camera));
    }
    put_list(&mut value, "children", node.children.iter().map(|&child| json!(child)).collect());
    if let Some(light) = node.light {
        value.insert("extensions".into(), json!({ "KHR_lights_punctual": { "light": light } }));
    }
    Value::Object(value)
}

/// Document parts that grow during export.
#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
    extensions: Vec<&'static str>,
}

impl Writer {
    fn extension(&mut self, name: &'static str) {
        if !self.extensions.contains(&name) {
            self.extensions.push(name);
        }
    }

    /// Appends bytes as a buffer view of their own, aligned to four bytes.
    fn view(&mut self, bytes: &[u8], target: Option<u32>) -> usize {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let mut view =
            json!({ "buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len() });
        if let (Some(target), Value::Object(view)) = (target, &mut view) {
            view.insert("target".into(), target.into());
        }
        self.bytes.extend(bytes);
        self.views.push(view);
        self.views.len() - 1
    }

    fn accessor(&mut self, view: usize, component: u32, count: usize, kind: &str) -> usize {
        self.accessors.push(
            json!({ "bufferView": view, "componentType": component, "count": count, "type": kind }),
        );
        self.accessors.len() - 1
    }

    fn floats<const N: usize>(&mut self, values: impl Iterator<Item = [f32; N]>) -> usize {
        let values: Vec<[f32; N]> = values.collect();
        let bytes: Vec<u8> =
            values.iter().flatten().flat_map(|value| value.to_le_bytes()).collect();
        let view = self.view(&bytes, Some(ARRAY_BUFFER));
        let kind = match N {
            2 => "VEC2",
            3 => "VEC3",
            _ => "VEC4",
        };
        self.accessor(view, FLOAT, values.len(), kind)
    }

    fn primitive(&mut self, part: &Primitive) -> Value {
        let mut attributes = Map::new();
        let positions = self.floats(part.positions.iter().map(Vec3::to_array));
        let least = part.positions.iter().copied().fold(Vec3::INFINITY, Vec3::min);
        let max = part.positions.iter().copied().fold(Vec3::NEG_INFINITY, Vec3::max);
        if let Some(Value::Object(accessor)) = self.accessors.last_mut() {
            accessor.insert("min".into(), numbers(&least.to_array()));
            accessor.insert("max".into(), numbers(&max.to_array()));
        }
        attributes.insert("POSITION".into(), json!(positions));
        attributes
            .insert("NORMAL".into(), json!(self.floats(part.normals.iter().map(Vec3::to_array))));
        if !part.tangents.is_empty() {
            attributes.insert(
                "TANGENT".into(),
                json!(self.floats(part.tangents.iter().map(|t| t.to_array()))),
            );
        }
        for (name, uv) in [("TEXCOORD_0", &part.uv0), ("TEXCOORD_1", &part.uv1)] {
            if !uv.is_empty() {
                attributes
                    .insert(name.into(), json!(self.floats(uv.iter().map(|uv| uv.to_array()))));
            }
        }
        if !part.colors.is_empty() {
            attributes.insert(
                "COLOR_0".into(),
                json!(self.floats(part.colors.iter().map(|color| color.to_array()))),
            );
        }
        // The largest value of an index type is reserved for primitive restart (section 3.7.2.1).
        let (component, bytes): (u32, Vec<u8>) = if part.positions.len() <= usize::from(u16::MAX) {
            (
                UNSIGNED_SHORT,
                part.indices.iter().flat_map(|&index| (index as u16).to_le_bytes()).collect(),
            )
        } else {
            (UNSIGNED_INT, part.indices.iter().flat_map(|&index| index.to_le_bytes()).collect())
        };
        let view = self.view(&bytes, Some(ELEMENT_ARRAY_BUFFER));
        let indices = self.accessor(view, component, part.indices.len(), "SCALAR");
        let mut value = Map::new();
        value.insert("attributes".into(), Value::Object(attributes));
        value.insert("indices".into(), json!(indices));
        if let Some(material) = part.material {
            value.insert("material".into(), json!(material));
        }
        Value::Object(value)
    }

    fn image(&mut self, image: &Image) -> Result<Value, WriteError> {
        let mut file = Vec::new();
        // Opaque images need three channels only.
        let is_opaque = image.rgba8.chunks_exact(4).all(|pixel| pixel[3] == 255);
        let options = PngOptions {
            compression: png::Compression::High,
            filter: png::Filter::Adaptive,
            is_srgb: false,
            is_opaque,
        };
        write_png(&mut file, [image.width, image.height], &image.rgba8, options)
            .map_err(|source| WriteError::Image { name: image.name.clone(), source })?;
        let view = self.view(&file, None);
        let mut value = named(&image.name);
        value.insert("mimeType".into(), "image/png".into());
        value.insert("bufferView".into(), json!(view));
        Ok(Value::Object(value))
    }

    fn texture(&mut self, texture: &TextureRef) -> Map<String, Value> {
        let mut value = Map::new();
        value.insert("index".into(), json!(texture.texture));
        if texture.uv_set != 0 {
            value.insert("texCoord".into(), json!(texture.uv_set));
        }
        if texture.transform != TextureRef::IDENTITY {
            self.extension("KHR_texture_transform");
            // The extension's matrix is translation * rotation * scale, rotation = [[cos, sin],
            // [-sin, cos]]. It cannot represent shear; the approximation keeps the lengths of both
            // columns and the angle of the first.
            let [[a, b, x], [c, d, y]] = texture.transform;
            let rotation = (-c).atan2(a);
            let (sine, cosine) = rotation.sin_cos();
            let (scale_u, scale_v) = (a * cosine - c * sine, b * sine + d * cosine);
            let mut transform = Map::new();
            transform.insert("offset".into(), numbers(&[x, y]));
            if rotation != 0.0 {
                transform.insert("rotation".into(), number(rotation));
            }
            transform.insert("scale".into(), numbers(&[scale_u, scale_v]));
            value.insert("extensions".into(), json!({ "KHR_texture_transform": transform }));
        }
        value
    }

    fn material(&mut self, material: &Material) -> Value {
        let mut value = named(&material.name);
        let mut surface = Map::new();
        surface.insert("baseColorFactor".into(), numbers(&material.base_color.to_array()));
        if let Some(texture) = &material.base_color_texture {
            surface.insert("baseColorTexture".into(), Value::Object(self.texture(texture)));
        }
        surface.insert("metallicFactor".into(), number(material.metallic));
        surface.insert("roughnessFactor".into(), number(material.roughness));
        if let Some(texture) = &material.metallic_roughness_texture {
            surface.insert("metallicRoughnessTexture".into(), Value::Object(self.texture(texture)));
        }
        value.insert("pbrMetallicRoughness".into(), Value::Object(surface));
        if let Some(texture) = &material.normal_texture {
            let mut texture = self.texture(texture);
            texture.insert("scale".into(), number(material.normal_scale));
            value.insert("normalTexture".into(), Value::Object(texture));
        }
        if let Some(texture) = &material.occlusion_texture {
            let mut texture = self.texture(texture);
            texture.insert("strength".into(), number(material.occlusion_strength));
            value.insert("occlusionTexture".into(), Value::Object(texture));
        }
        if let Some(texture) = &material.emissive_texture {
            value.insert("emissiveTexture".into(), Value::Object(self.texture(texture)));
        }
        let mut extensions = Map::new();
        let strength = material.emission.max_element();
        if strength > 0.0 {
            value.insert(
                "emissiveFactor".into(),
                numbers(&(material.emission / strength).min(Vec3::ONE).to_array()),
            );
            if strength != 1.0 {
                self.extension("KHR_materials_emissive_strength");
                let strength = json!({ "emissiveStrength": number(strength) });
                extensions.insert("KHR_materials_emissive_strength".into(), strength);
            }
        }
        match material.alpha {
            AlphaMode::Opaque => {}
            AlphaMode::Mask { cutoff } => {
                value.insert("alphaMode".into(), "MASK".into());
                value.insert("alphaCutoff".into(), number(cutoff));
            }
            AlphaMode::Blend => {
                value.insert("alphaMode".into(), "BLEND".into());
            }
        }
        if material.double_sided {
            value.insert("doubleSided".into(), true.into());
        }
        if material.unlit {
            self.extension("KHR_materials_unlit");
            extensions.insert("KHR_materials_unlit".into(), json!({}));
        }
        self.lobes(material, &mut extensions);
        if !extensions.is_empty() {
            value.insert("extensions".into(), Value::Object(extensions));
        }
        Value::Object(value)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used)]
mod tests {
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
        let flat =
            builder.add_material(Material { unlit: true, ..dielectric("flat", Vec3::ONE, 1.0) });
        let ball = shapes::with_tangents(shapes::uv_sphere(0.25, 16, 8));
        let mesh = builder.add_mesh_of(
            "ball",
            vec![(ball, lamp), (shapes::plane(Vec2::new(2.0, 4.0), 1, 1), flat)],
        );
        let group = builder.add_node("group", DMat4::IDENTITY);
        builder.instance_in(
            group,
            "ball",
            mesh,
            DMat4::from_translation(DVec3::new(1.0, 2.0, 3.0)),
        );
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
        assert!(
            binary.len() - document["buffers"][0]["byteLength"].as_u64().unwrap() as usize <= 3
        );
        let parts = &document["meshes"][0]["primitives"];
        for (part, primitive) in scene.meshes[0].primitives.iter().enumerate() {
            let attributes = &parts[part]["attributes"];
            let accessor =
                &document["accessors"][attributes["POSITION"].as_u64().unwrap() as usize];
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
            parts[0]["attributes"]["TANGENT"].is_u64()
                && parts[1]["attributes"]["TANGENT"].is_null()
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
        assert_eq!(
            lamp["extensions"]["KHR_materials_emissive_strength"]["emissiveStrength"],
            600.0
        );
        assert_eq!((&lamp["alphaMode"], &lamp["alphaCutoff"]), (&json!("MASK"), &json!(0.25)));
        assert_eq!(lamp["doubleSided"], true);
        assert_eq!(lamp["pbrMetallicRoughness"]["baseColorFactor"], json!([0.18, 0.18, 0.18, 1.0]));
        let transform = &lamp["pbrMetallicRoughness"]["baseColorTexture"]["extensions"]["KHR_texture_transform"];
        assert_eq!(transform["offset"], json!([0.0, 1.0]));
        assert!(
            (transform["rotation"].as_f64().unwrap() - std::f64::consts::FRAC_PI_2).abs() < 1e-6
        );
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
        let back =
            crate::scene::gltf::load_bytes("a.glb", &glb, &crate::scene::gltf::NoFiles).unwrap();
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
        let plain =
            SceneBuilder::texture_ref(builder.add_texture("ramp", picture, Sampler::default()));
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
        let back =
            crate::scene::gltf::load_bytes("a.glb", &glb, &crate::scene::gltf::NoFiles).unwrap();
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
            back.meshes
                .iter()
                .all(|mesh| mesh.primitives.iter().all(|part| !part.tangents.is_empty()))
        );
        let repaired =
            back.notes.iter().filter(|note| note.kind == crate::scene::NoteKind::Repaired);
        assert_eq!(repaired.count(), 1, "tangents that the file lacks: {:?}", back.notes);
    }

    #[test]
    fn pictures_come_back_from_their_png() {
        let scene = scene();
        let (document, binary) = unpack(&write_glb(&scene).unwrap());
        let view = &document["bufferViews"]
            [document["images"][0]["bufferView"].as_u64().unwrap() as usize];
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
}
