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
mod tests;
