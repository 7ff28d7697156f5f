//! Conversion of a checked document to the scene.

use std::collections::HashMap;

use glam::{DMat3, DMat4, DQuat, DVec3, Vec3, Vec4};
use serde_json::Value;

use super::{
    MAX_INSTANCED_TRIANGLES, MAX_NODES,
    accessor::Store,
    animation,
    files::Files,
    geometry::{self, TooLarge},
    ies, images, instancing,
    json::{extension, index, indices, items, narrow, number, numbers, text},
    lobes,
    report::{At, ImportReport, one_line},
    schema,
    validate::Forest,
    variants, volumes, water,
};
use crate::{
    photometry::{
        Candela, Lux,
        lights::{Cone, Emitter, LightStrength, PhysicalLight, STRENGTH_LIMIT, SpotFlux},
    },
    scene::{
        AlphaMode, Camera, Light, Material, Mesh, Node, Projection, Sampler, Scene, Texture,
        TextureRef, Wrap,
        animation::{ScenePose, Trs},
    },
};

/// Difference (rad) of the half angles for the sharpest edge that can be computed.
const SHARP_EDGE: f64 = 1e-3;

/// Makes the scene; the report tells whether it is usable.
pub(super) fn scene(
    root: &Value,
    store: &Store<'_>,
    files: &Files<'_>,
    forest: &Forest,
    report: &mut ImportReport,
) -> Result<Scene, TooLarge> {
    let count = items(root, "nodes").len();
    if count > MAX_NODES {
        return Err(TooLarge(format!("{count} nodes; expected at most {MAX_NODES}")));
    }
    let (lights, light_map) = lights(root, report);
    let (cameras, camera_map) = cameras(root, report);
    let textures = textures(root);
    let materials: Vec<Material> = materials(root, textures.len(), report);
    let mut scene = Scene {
        lights,
        cameras,
        materials,
        textures,
        variants: variants::names(root),
        ..Scene::default()
    };
    scene.skins = animation::skins(root, &forest.shown, store, report)?;
    nodes(root, forest, &mut scene, &light_map, &camera_map, report);
    ies::add(root, store, files, &mut scene, report);
    instancing::expand(root, store, &mut scene, report)?;
    let carriers = meshes(root, store, &mut scene, report)?;
    let places =
        animation::Places { lights: &light_map, cameras: &camera_map, carriers: &carriers };
    scene.animations = animation::animations(root, store, &scene, &places, report)?;
    // The scene at rest: skins by their joints' rest pose, morph targets at their default weights.
    scene.apply(&ScenePose::default());
    scene.bake();
    if scene.animations.is_empty() {
        scene
            .meshes
            .iter_mut()
            .flat_map(|mesh| &mut mesh.primitives)
            .for_each(|part| part.deform = None);
        scene.nodes.iter_mut().for_each(|node| (node.skin, node.weights) = (None, Vec::new()));
        scene.skins.clear();
    }
    volumes::add(root, store, files, &mut scene, report);
    let uses = image_uses(root, &scene);
    scene.images = images::load(root, store, files, &uses, report);
    water::add(root, files, &mut scene, report);
    Ok(scene)
}

fn lights(root: &Value, report: &mut ImportReport) -> (Vec<Light>, Vec<Option<usize>>) {
    let at = At::ROOT;
    let at = at.key("extensions");
    let at = at.key("KHR_lights_punctual");
    let place = at.key("lights");
    let list = extension(root, "KHR_lights_punctual")
        .map(|lights| items(lights, "lights"))
        .unwrap_or_default();
    let (mut out, mut map) = (Vec::new(), Vec::new());
    for (i, light) in list.iter().enumerate() {
        let intensity = number(light, "intensity").unwrap_or(1.0).clamp(0.0, STRENGTH_LIMIT);
        let candela = LightStrength::Candela(Candela(intensity));
        let source = match text(light, "type") {
            "directional" => {
                PhysicalLight::new(Emitter::PARALLEL, LightStrength::Lux(Lux(intensity)))
            }
            "point" => PhysicalLight::new(Emitter::Point, candela),
            "spot" => {
                let spot = light.get("spot").unwrap_or(&Value::Null);
                let outer = number(spot, "outerConeAngle").unwrap_or(std::f64::consts::FRAC_PI_4);
                let outer = outer.clamp(1e-6, std::f64::consts::FRAC_PI_2);
                let inner = number(spot, "innerConeAngle").unwrap_or(0.0).max(0.0);
                let inner = if inner < outer { inner } else { (outer - SHARP_EDGE).max(0.0) };
                Cone::new(inner, outer).and_then(|cone| {
                    PhysicalLight::new(Emitter::Spot { cone, flux: SpotFlux::Exact }, candela)
                })
            }
            other => {
                report.unsupported(
                    place.index(i),
                    format!("unknown light type '{}'; the light is not shown", one_line(other)),
                );
                map.push(None);
                continue;
            }
        };
        let source = match source {
            Ok(source) => source,
            Err(error) => {
                report.repair(place.index(i), format!("{error}; the light is left out"));
                map.push(None);
                continue;
            }
        };
        let color = numbers::<3>(light, "color")
            .map_or(Vec3::ONE, |color| Vec3::from_array(color.map(narrow)));
        // The extension: a range applies to point and spot lights only.
        let range = match source.emitter() {
            Emitter::Sun { .. } => None,
            _ => number(light, "range").map(narrow).filter(|range| *range > 0.0),
        };
        map.push(Some(out.len()));
        out.push(Light { color, range, ..Light::new(&one_line(text(light, "name")), source) });
    }
    (out, map)
}

fn cameras(root: &Value, report: &mut ImportReport) -> (Vec<Camera>, Vec<Option<usize>>) {
    let at = At::ROOT;
    let place = at.key("cameras");
    let (mut out, mut map) = (Vec::new(), Vec::new());
    for (i, camera) in items(root, "cameras").iter().enumerate() {
        let kind = text(camera, "type");
        let projection = camera.get(kind).and_then(|values| match kind {
            "perspective" => perspective(values),
            "orthographic" => orthographic(values),
            _ => None,
        });
        if let Some(projection) = projection {
            map.push(Some(out.len()));
            out.push(Camera { name: one_line(text(camera, "name")), projection });
        } else {
            report.repair(place.index(i), "the camera has no usable projection; left out");
            map.push(None);
        }
    }
    (out, map)
}

fn perspective(values: &Value) -> Option<Projection> {
    let near = narrow(number(values, "znear")?);
    // A perspective camera sees less than a hemisphere.
    let vertical_fov = narrow(number(values, "yfov")?).min(3.1);
    let far = number(values, "zfar").map(narrow).filter(|far| *far > near);
    let aspect = number(values, "aspectRatio").map(narrow).filter(|aspect| *aspect > 0.0);
    (near > 0.0 && vertical_fov > 0.0).then_some(Projection::Perspective {
        vertical_fov,
        aspect,
        near,
        far,
    })
}

fn orthographic(values: &Value) -> Option<Projection> {
    let size = |key: &str| number(values, key).map(|x| narrow(x).abs()).filter(|x| *x > 0.0);
    let (near, far) = (narrow(number(values, "znear")?), narrow(number(values, "zfar")?));
    let (half_width, half_height) = (size("xmag")?, size("ymag")?);
    (far > near).then_some(Projection::Orthographic { half_width, half_height, near, far })
}

fn textures(root: &Value) -> Vec<Texture> {
    let samplers: Vec<Sampler> = items(root, "samplers").iter().map(sampler).collect();
    items(root, "textures")
        .iter()
        .map(|texture| Texture {
            // No material uses a texture without an image, see `texture_ref`.
            image: images::source(texture).unwrap_or(0),
            sampler: index(texture, "sampler")
                .and_then(|i| samplers.get(i).copied())
                .unwrap_or_default(),
        })
        .collect()
}

fn sampler(value: &Value) -> Sampler {
    let wrap = |key: &str| match index(value, key) {
        Some(33071) => Wrap::Clamp,
        Some(33648) => Wrap::Mirror,
        _ => Wrap::Repeat,
    };
    let (min_linear, mip_linear) = match index(value, "minFilter") {
        Some(9728) => (false, None),
        Some(9729) => (true, None),
        Some(9984) => (false, Some(false)),
        Some(9985) => (true, Some(false)),
        Some(9986) => (false, Some(true)),
        _ => (true, Some(true)),
    };
    Sampler {
        mag_linear: index(value, "magFilter") != Some(9728),
        min_linear,
        mip_linear,
        wrap_u: wrap("wrapS"),
        wrap_v: wrap("wrapT"),
    }
}

/// The matrix of KHR_texture_transform: translation * rotation * scale, with the rotation rows
/// `(cos, sin)` and `(-sin, cos)`.
///
/// An early text of the extension printed the transpose. With this sign its own example shows the
/// lower left quadrant turned clockwise, as in other renderers.
pub(super) fn texture_matrix(offset: [f64; 2], rotation: f64, scale: [f64; 2]) -> [[f32; 3]; 2] {
    let (sin, cos) = rotation.sin_cos();
    let [sx, sy] = scale;
    let [ox, oy] = offset;
    [
        [narrow(cos * sx), narrow(sin * sy), narrow(ox)],
        [narrow(-sin * sx), narrow(cos * sy), narrow(oy)],
    ]
}

fn texture_ref(
    root: &Value,
    owner: &Value,
    key: &str,
    at: &At<'_>,
    report: &mut ImportReport,
) -> Option<TextureRef> {
    let info = owner.get(key)?;
    let texture = index(info, "index")?;
    let at = at.key(key);
    if items(root, "textures").get(texture).and_then(images::source).is_none() {
        report.unsupported(
            at,
            format!("texture {texture} has no readable image; the factor alone is used"),
        );
        return None;
    }
    let transform = extension(info, "KHR_texture_transform");
    let set = transform
        .and_then(|transform| index(transform, "texCoord"))
        .or_else(|| index(info, "texCoord"));
    let set = set.unwrap_or(0);
    let Some(uv_set) = u8::try_from(set).ok().filter(|set| *set < 2) else {
        report.unsupported(
            at,
            format!("TEXCOORD_{set} is not supported, only 0 and 1; the texture is left out"),
        );
        return None;
    };
    let transform = transform.map_or(TextureRef::IDENTITY, |transform| {
        texture_matrix(
            numbers(transform, "offset").unwrap_or([0.0; 2]),
            number(transform, "rotation").unwrap_or(0.0),
            numbers(transform, "scale").unwrap_or([1.0; 2]),
        )
    });
    Some(TextureRef { texture, uv_set, transform })
}

fn materials(root: &Value, textures: usize, report: &mut ImportReport) -> Vec<Material> {
    let at = At::ROOT;
    let place = at.key("materials");
    let mut out = Vec::new();
    for (i, value) in items(root, "materials").iter().enumerate() {
        let at = place.index(i);
        let none = Value::Null;
        let pbr = value.get("pbrMetallicRoughness").unwrap_or(&none);
        let pbr_at = at.key("pbrMetallicRoughness");
        let mut get = |owner: &Value, key: &str, at: &At<'_>| {
            texture_ref(root, owner, key, at, report).filter(|found| found.texture < textures)
        };
        let factor = numbers::<3>(value, "emissiveFactor").unwrap_or([0.0; 3]);
        let strength = extension(value, "KHR_materials_emissive_strength")
            .and_then(|strength| number(strength, "emissiveStrength"))
            .unwrap_or(1.0);
        let mut material = Material {
            name: one_line(text(value, "name")),
            base_color: numbers::<4>(pbr, "baseColorFactor")
                .map_or(Vec4::ONE, |f| Vec4::from_array(f.map(narrow))),
            base_color_texture: get(pbr, "baseColorTexture", &pbr_at),
            metallic: number(pbr, "metallicFactor").map_or(1.0, narrow),
            roughness: number(pbr, "roughnessFactor").map_or(1.0, narrow),
            metallic_roughness_texture: get(pbr, "metallicRoughnessTexture", &pbr_at),
            normal_texture: get(value, "normalTexture", &at),
            normal_scale: value
                .get("normalTexture")
                .and_then(|info| number(info, "scale"))
                .map_or(1.0, narrow),
            occlusion_texture: get(value, "occlusionTexture", &at),
            occlusion_strength: value
                .get("occlusionTexture")
                .and_then(|info| number(info, "strength"))
                .map_or(1.0, narrow),
            emission: Vec3::from_array(factor.map(|factor| narrow(factor * strength))),
            emissive_texture: get(value, "emissiveTexture", &at),
            alpha: AlphaMode::Opaque,
            double_sided: value.get("doubleSided").and_then(Value::as_bool).unwrap_or(false),
            unlit: extension(value, "KHR_materials_unlit").is_some(),
            ..lobes::material(value, &at, &mut get)
        };
        material.alpha = match text(value, "alphaMode") {
            "MASK" => AlphaMode::Mask { cutoff: number(value, "alphaCutoff").map_or(0.5, narrow) },
            "BLEND" => AlphaMode::Blend,
            _ => AlphaMode::Opaque,
        };
        out.push(material);
    }
    out
}

/// A node's matrix (section 3.5.2): given, or translation * rotation * scale, then with these
/// parts.
fn local(node: &Value) -> (DMat4, Option<Trs>) {
    if let Some(matrix) = numbers::<16>(node, "matrix") {
        let mut matrix = DMat4::from_cols_array(&matrix);
        // The specification requires an affine matrix, and the scene model guarantees one.
        matrix.x_axis.w = 0.0;
        matrix.y_axis.w = 0.0;
        matrix.z_axis.w = 0.0;
        matrix.w_axis.w = 1.0;
        return (matrix, None);
    }
    let translation = DVec3::from_array(numbers(node, "translation").unwrap_or([0.0; 3]));
    let rotation = DQuat::from_array(numbers(node, "rotation").unwrap_or([0.0, 0.0, 0.0, 1.0]));
    let length = rotation.length();
    let rotation =
        if length > 0.0 && length.is_finite() { rotation / length } else { DQuat::IDENTITY };
    let scale = DVec3::from_array(numbers(node, "scale").unwrap_or([1.0; 3]));
    let trs = Trs { translation, rotation, scale };
    (trs.matrix(), Some(trs))
}

fn nodes(
    root: &Value,
    forest: &Forest,
    scene: &mut Scene,
    lights: &[Option<usize>],
    cameras: &[Option<usize>],
    report: &mut ImportReport,
) {
    let values = items(root, "nodes");
    let animated = !items(root, "animations").is_empty();
    let at = At::ROOT;
    let place = at.key("nodes");
    scene.nodes = values
        .iter()
        .zip(&forest.parents)
        .enumerate()
        .map(|(number, (value, parent))| (number, value, parent, local(value)))
        .map(|(number, value, parent, (local, trs))| Node {
            name: one_line(text(value, "name")),
            parent: *parent,
            children: indices(value, "children")
                .filter(|&child| forest.parents.get(child) == Some(&Some(number)))
                .collect(),
            local,
            // Only animated nodes need the parts.
            trs: trs.filter(|_| animated),
            mesh: index(value, "mesh"),
            skin: index(value, "skin")
                .filter(|&skin| scene.skins.get(skin).is_some_and(|s| !s.joints.is_empty())),
            weights: Vec::new(),
            light: extension(value, "KHR_lights_punctual")
                .and_then(|light| index(light, "light"))
                .and_then(|light| lights.get(light).copied().flatten()),
            camera: index(value, "camera")
                .and_then(|camera| cameras.get(camera).copied().flatten()),
        })
        .collect();
    for (i, value) in values.iter().enumerate() {
        if numbers::<16>(value, "matrix").is_some_and(|m| m.map(|x| x.is_finite()).contains(&false))
        {
            report.repair(place.index(i), "the matrix is not finite");
        }
    }
    choose_scene(root, forest, scene, report);
    prune(scene, animated, report);
}

/// Selects the default scene, else the first, else all roots (section 3.5.1).
fn choose_scene(root: &Value, forest: &Forest, scene: &mut Scene, report: &mut ImportReport) {
    let scenes = items(root, "scenes");
    let tops = || (0..forest.parents.len()).filter(|&i| forest.parents.get(i) == Some(&None));
    let Some(chosen) = schema::shown_scene(root) else {
        scene.roots = tops().collect();
        return;
    };
    let Some(value) = scenes.get(chosen) else { return };
    if scenes.len() > 1 {
        report.info(
            format!("/scenes/{chosen}"),
            format!("the file has {} scenes; this one is shown", scenes.len()),
        );
    }
    scene.name = one_line(text(value, "name"));
    let listed: Vec<usize> =
        indices(value, "nodes").filter(|node| *node < scene.nodes.len()).collect();
    scene.roots =
        listed.iter().copied().filter(|&node| forest.parents.get(node) == Some(&None)).collect();
    if scene.roots.len() == listed.len() {
        return;
    }
    // Some are not roots. Those below a shown root are shown with it; others become roots with
    // their world transform.
    let mut shown = vec![false; scene.nodes.len()];
    for placed in scene.walk() {
        if let Some(shown) = shown.get_mut(placed.index) {
            *shown = true;
        }
    }
    let whole = Scene { nodes: scene.nodes.clone(), roots: tops().collect(), ..Scene::default() };
    let mut worlds = vec![DMat4::IDENTITY; scene.nodes.len()];
    for placed in whole.walk() {
        if let Some(world) = worlds.get_mut(placed.index) {
            *world = placed.world;
        }
    }
    let mut loose = vec![false; scene.nodes.len()];
    for node in listed {
        let (Some(Some(_)), Some(false), Some(world)) =
            (forest.parents.get(node), shown.get(node), worlds.get(node))
        else {
            continue;
        };
        if let (Some(target), Some(loose)) = (scene.nodes.get_mut(node), loose.get_mut(node)) {
            target.parent = None;
            target.local = *world;
            target.trs = None;
            *loose = true;
            scene.roots.push(node);
        }
    }
    for node in &mut scene.nodes {
        node.children.retain(|&child| loose.get(child) != Some(&true));
    }
}

/// Hides nodes whose world transform is not finite, and meshes with a scale of zero that is not
/// animated.
fn prune(scene: &mut Scene, animated: bool, report: &mut ImportReport) {
    let mut lost = Vec::new();
    let mut flat = Vec::new();
    let at = At::ROOT;
    let place = at.key("nodes");
    for placed in scene.walk() {
        if !placed.world.is_finite() {
            // Only the topmost is removed, with its descendants.
            let parent_lost = placed.node.parent.is_some_and(|parent| lost.last() == Some(&parent));
            if !parent_lost {
                report.repair(
                    place.index(placed.index),
                    "the world transform is not finite; the node is hidden",
                );
            }
            lost.push(placed.index);
        } else if !animated
            && placed.node.skin.is_none()
            && DMat3::from_mat4(placed.world).determinant() == 0.0
        {
            flat.push(placed.index);
        }
    }
    let hidden = flat
        .iter()
        .filter(|&&node| scene.nodes.get(node).is_some_and(|node| node.mesh.is_some()))
        .count();
    if hidden > 0 {
        report.info(
            "/nodes",
            format!("{hidden} nodes with a mesh have a scale of zero and are hidden"),
        );
    }
    for node in flat {
        if let Some(node) = scene.nodes.get_mut(node) {
            node.mesh = None;
            node.camera = None;
            if !node
                .light
                .is_some_and(|i| scene.lights.get(i).is_some_and(|l| l.emitter() == Emitter::Point))
            {
                node.light = None;
            }
        }
    }
    if lost.is_empty() {
        return;
    }
    let mut cut = vec![false; scene.nodes.len()];
    for node in lost {
        if let Some(cut) = cut.get_mut(node) {
            *cut = true;
        }
        if let Some(node) = scene.nodes.get_mut(node) {
            node.parent = None;
            node.children.clear();
            node.local = DMat4::IDENTITY;
            node.trs = None;
        }
    }
    scene.roots.retain(|&node| cut.get(node) != Some(&true));
    for node in &mut scene.nodes {
        node.children.retain(|&child| cut.get(child) != Some(&true));
        if node.parent.is_some_and(|parent| cut.get(parent) == Some(&true)) {
            node.parent = None;
        }
    }
}

/// Converts the shown meshes; others stay empty, so that indices are those of the file. Skinned
/// meshes get nodes of their own (carriers), since their nodes' transforms do not apply (section
/// 3.7.3.3). Returns the carrier by node of the file.
fn meshes(
    root: &Value,
    store: &Store<'_>,
    scene: &mut Scene,
    report: &mut ImportReport,
) -> Result<HashMap<usize, usize>, TooLarge> {
    let values = items(root, "meshes");
    let nodes = items(root, "nodes");
    let at = At::ROOT;
    let place = at.key("meshes");
    scene.meshes = values
        .iter()
        .map(|v| Mesh { name: one_line(text(v, "name")), primitives: Vec::new() })
        .collect();
    let weights = |value: &Value, targets: usize| -> Option<Vec<f64>> {
        let list = items(value, "weights");
        (value.get("weights").is_some() && list.len() == targets)
            .then(|| list.iter().filter_map(Value::as_f64).collect())
    };
    let moving = animation::moved_weights(root);
    let has_joints =
        |part: &Value| part.get("attributes").is_some_and(|a| a.get("JOINTS_0").is_some());
    let bound: Vec<bool> =
        values.iter().map(|mesh| items(mesh, "primitives").iter().any(has_joints)).collect();
    let mut carriers = HashMap::new();
    // A node may override a mesh's morph weights, bind it to a skin or animate its weights; then it
    // gets a mesh of its own. Key: mesh, weights, skin, and node if its weights are animated.
    type Key = (usize, Vec<u64>, Option<usize>, Option<usize>);
    let mut made: HashMap<Key, usize> = HashMap::new();
    let mut sizes: HashMap<usize, (usize, usize)> = HashMap::new();
    let shown: Vec<usize> = scene.walk().iter().map(|placed| placed.index).collect();
    let (mut shown_primitives, mut instanced_triangles) = (0usize, 0usize);
    for index_of_node in shown {
        let Some(mesh) = scene.nodes.get(index_of_node).and_then(|node| node.mesh) else {
            continue;
        };
        let Some(value) = values.get(mesh) else { continue };
        // An instance is a child that the document does not have; its parent holds the mesh
        // properties.
        let owner = scene
            .nodes
            .get(index_of_node)
            .and_then(|node| node.parent)
            .filter(|_| index_of_node >= nodes.len());
        let Some(node) = nodes.get(owner.unwrap_or(index_of_node)) else { continue };
        let primitives = items(value, "primitives");
        let targets = primitives.first().map_or(0, |primitive| items(primitive, "targets").len());
        // Any number of nodes may name one mesh, so even looking at it takes from the budget.
        store.spend(16 * targets as u64).map_err(geometry::too_large)?;
        let weights =
            weights(node, targets).or_else(|| weights(value, targets)).unwrap_or_default();
        let skin = scene
            .nodes
            .get_mut(index_of_node)
            .and_then(|node| node.skin.take())
            .filter(|_| bound.get(mesh) == Some(&true));
        let morphs = moving.contains(&index_of_node);
        let bits = weights.iter().map(|weight| (weight + 0.0).to_bits()).collect::<Vec<_>>();
        let key = (mesh, bits, skin, morphs.then_some(index_of_node));
        let moves = geometry::Moves {
            morphs: morphs || weights.iter().any(|weight| *weight != 0.0),
            joints: skin.and_then(|skin| scene.skins.get(skin)).map(|skin| skin.joints.len()),
        };
        // At most as many as the mesh has targets.
        let weights: Vec<f32> = weights.iter().map(|&weight| narrow(weight)).collect();
        let weights = if weights.is_empty() && morphs { vec![0.0; targets] } else { weights };
        let target = if let Some(&known) = made.get(&key) {
            known
        } else {
            let first = !sizes.contains_key(&mesh);
            let mut out = Mesh { name: one_line(text(value, "name")), primitives: Vec::new() };
            let mut chosen = Vec::new();
            let at = place.index(mesh);
            let at = at.key("primitives");
            for (p, primitive) in primitives.iter().enumerate() {
                store.spend(256).map_err(geometry::too_large)?;
                let choices = variants::of(primitive, store, scene.variants.len())
                    .map_err(geometry::too_large)?;
                let own = index(primitive, "material").into_iter();
                // Tangents follow the UV set of the first material that needs them.
                let tangent_uv = own
                    .chain(choices.iter().map(|&(_, material)| material))
                    .filter_map(|material| scene.materials.get(material))
                    .find_map(Material::tangent_uv);
                let source = geometry::Source {
                    store,
                    value: primitive,
                    moves,
                    tangent_uv,
                    at: at.index(p),
                };
                if let Some(primitive) = source.build(report)?
                    && !primitive.indices.is_empty()
                {
                    chosen.extend(choices.into_iter().map(|choice| (out.primitives.len(), choice)));
                    out.primitives.push(primitive);
                }
            }
            let target = if first { mesh } else { scene.meshes.len() };
            for (primitive, (variant, material)) in chosen {
                if let Some(variant) = scene.variants.get_mut(variant) {
                    variant.materials.push((target, primitive, material));
                }
            }
            let triangles =
                out.primitives.iter().map(|primitive| primitive.indices.len() / 3).sum();
            sizes.insert(target, (out.primitives.len(), triangles));
            match scene.meshes.get_mut(target) {
                Some(slot) => *slot = out,
                None => scene.meshes.push(out),
            }
            made.insert(key, target);
            target
        };
        if let Some(skin) = skin {
            let carrier = Node {
                name: scene
                    .nodes
                    .get(index_of_node)
                    .map(|node| node.name.clone())
                    .unwrap_or_default(),
                mesh: Some(target),
                skin: Some(skin),
                weights,
                ..Node::default()
            };
            carriers.insert(index_of_node, scene.nodes.len());
            scene.roots.push(scene.nodes.len());
            scene.nodes.push(carrier);
            if let Some(node) = scene.nodes.get_mut(index_of_node) {
                node.mesh = None;
            }
        } else if let Some(node) = scene.nodes.get_mut(index_of_node) {
            (node.mesh, node.weights) = (Some(target), weights);
        }
        // A few bytes can request another large mesh, so the total is bounded for code that walks
        // the shown scene.
        let (primitives, triangles) = sizes.get(&target).copied().unwrap_or_default();
        shown_primitives = shown_primitives.saturating_add(primitives);
        instanced_triangles = instanced_triangles.saturating_add(triangles);
        if shown_primitives > MAX_NODES {
            return Err(TooLarge(format!("the instances have more than {MAX_NODES} primitives")));
        }
        if instanced_triangles > MAX_INSTANCED_TRIANGLES {
            return Err(TooLarge(format!(
                "the instances have more than {MAX_INSTANCED_TRIANGLES} triangles"
            )));
        }
    }
    // Carriers hold the skins. Nodes that are not shown may refer to meshes that were not
    // converted; these are in range and empty.
    scene.nodes.iter_mut().take(nodes.len()).for_each(|node| node.skin = None);
    Ok(carriers)
}

/// Uses of each image by the materials of shown primitives.
fn image_uses(root: &Value, scene: &Scene) -> Vec<images::Use> {
    let mut uses = vec![images::Use::default(); items(root, "images").len()];
    let mut used = vec![false; scene.materials.len()];
    let own = scene
        .meshes
        .iter()
        .flat_map(|mesh| &mesh.primitives)
        .filter_map(|primitive| primitive.material);
    let others = scene
        .variants
        .iter()
        .flat_map(|variant| &variant.materials)
        .map(|&(_, _, material)| material);
    for material in own.chain(others) {
        if let Some(used) = used.get_mut(material) {
            *used = true;
        }
    }
    for (material, _) in scene.materials.iter().zip(used).filter(|(_, used)| *used) {
        for (what, texture) in material.textures() {
            let Some(texture) = texture.and_then(|texture| scene.textures.get(texture.texture))
            else {
                continue;
            };
            let Some(slot) = uses.get_mut(texture.image) else { continue };
            let color = Material::COLOR_TEXTURES.contains(&what);
            slot.color |= color;
            slot.data |= !color;
        }
    }
    uses
}
