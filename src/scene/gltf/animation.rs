//! Skins and animations (glTF 2.0 sections 3.7.3 and 3.11, KHR_animation_pointer).

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use glam::{DMat4, Vec3};
use serde_json::Value;

use super::{
    accessor::{Accessor, AccessorType, Component, ReadError, Store},
    geometry::{TooLarge, too_large},
    json::{extension, index, indices, items, number, numbers, text},
    report::{At, ImportReport, one_line},
};
use crate::scene::{
    Scene,
    animation::{
        Animation, AnimationChannel, AnimationTarget, CameraValue, Interpolation, Keyframes,
        LightValue, MaterialValue, Skin, TextureSlot, ValueTarget,
    },
};

/// Scene indices of the document's lights, cameras and skinned meshes.
pub(super) struct Places<'a> {
    /// By light of the file.
    pub(super) lights: &'a [Option<usize>],
    /// By camera of the file.
    pub(super) cameras: &'a [Option<usize>],
    /// By node of the file with a skinned mesh, the node that carries it.
    pub(super) carriers: &'a HashMap<usize, usize>,
}

/// Unreadable motion data is left out, even if it exceeds a limit: the scene is shown at rest.
fn read_motion<T>(read: Result<Vec<T>, ReadError>) -> Result<Vec<T>, String> {
    read.map_err(ReadError::text)
}

/// Unreadable data is left out.
fn read<T>(read: Result<Vec<T>, ReadError>) -> Result<Result<Vec<T>, String>, TooLarge> {
    match read {
        Ok(values) => Ok(Ok(values)),
        Err(ReadError::TooLarge(what)) => Err(TooLarge(what)),
        Err(error) => Ok(Err(error.text())),
    }
}

/// All skins; one without joints has no effect. The matrices of skins that no shown node uses are
/// not read.
pub(super) fn skins(
    root: &Value,
    shown: &HashSet<usize>,
    store: &Store<'_>,
    report: &mut ImportReport,
) -> Result<Vec<Skin>, TooLarge> {
    let values = items(root, "nodes");
    let nodes = values.len();
    let used: HashSet<usize> = shown
        .iter()
        .filter_map(|&node| values.get(node).and_then(|value| index(value, "skin")))
        .collect();
    let at = At::ROOT;
    let place = at.key("skins");
    let mut out = Vec::new();
    for (i, skin) in items(root, "skins").iter().enumerate() {
        let at = place.index(i);
        let joints: Vec<usize> = indices(skin, "joints").filter(|&joint| joint < nodes).collect();
        store.spend(joints.len() as u64 * 136).map_err(too_large)?;
        let mut inverse_bind = vec![DMat4::IDENTITY; joints.len()];
        if let Some(number) = index(skin, "inverseBindMatrices").filter(|_| used.contains(&i)) {
            let at = at.key("inverseBindMatrices");
            let matrices = store.accessor(number).and_then(|accessor| store.floats::<16>(accessor));
            match read(matrices)? {
                Ok(matrices) => {
                    let mut wrong = joints.len().saturating_sub(matrices.len());
                    for (bind, matrix) in inverse_bind.iter_mut().zip(matrices) {
                        let mut matrix = DMat4::from_cols_array(&matrix.map(f64::from));
                        // Section 3.7.3.1: the fourth row is [0, 0, 0, 1]; the validation notes
                        // others.
                        (matrix.x_axis.w, matrix.y_axis.w, matrix.z_axis.w, matrix.w_axis.w) =
                            (0.0, 0.0, 0.0, 1.0);
                        if matrix.is_finite() {
                            *bind = matrix;
                        } else {
                            wrong += 1;
                        }
                    }
                    if wrong > 0 {
                        report.repair(
                            at,
                            format!(
                                "{wrong} bind matrices are missing or not finite; identity is used"
                            ),
                        );
                    }
                }
                Err(problem) => report.repair(at, format!("{problem}; identity matrices are used")),
            }
        }
        if joints.is_empty() {
            report.repair(at, "a skin without joints; meshes are shown at their nodes");
        }
        out.push(Skin { name: one_line(text(skin, "name")), joints, inverse_bind });
    }
    Ok(out)
}

/// Nodes of the file whose morph weights are animated.
pub(super) fn moved_weights(root: &Value) -> HashSet<usize> {
    let of = |channel: &Value| {
        let target = channel.get("target")?;
        match pointer(target) {
            Some(pointer) => {
                let mut steps = pointer.split('/').skip(1);
                let node = (steps.next()? == "nodes").then(|| steps.next()?.parse().ok()).flatten();
                node.filter(|_| steps.next() == Some("weights"))
            }
            None => index(target, "node").filter(|_| text(target, "path") == "weights"),
        }
    };
    items(root, "animations")
        .iter()
        .flat_map(|animation| items(animation, "channels"))
        .filter_map(of)
        .collect()
}

fn pointer(target: &Value) -> Option<&str> {
    extension(target, "KHR_animation_pointer").map(|found| text(found, "pointer"))
}

/// All animations, so that indices are those of the file; channels without effect are left out and
/// noted.
pub(super) fn animations(
    root: &Value,
    store: &Store<'_>,
    scene: &Scene,
    places: &Places<'_>,
    report: &mut ImportReport,
) -> Result<Vec<Animation>, TooLarge> {
    let at = At::ROOT;
    let place = at.key("animations");
    let mut out = Vec::new();
    // Splines and other interpolations read the same accessors alike; files share them between many
    // samplers.
    let mut times_of: HashMap<usize, Arc<Vec<f32>>> = HashMap::new();
    for (a, animation) in items(root, "animations").iter().enumerate() {
        let at = place.index(a);
        store.spend(128).map_err(too_large)?;
        let samplers = items(animation, "samplers");
        let mut known: HashMap<(usize, Option<usize>), Option<Arc<Keyframes>>> = HashMap::new();
        let (mut channels, mut seen): (Vec<AnimationChannel>, HashSet<String>) =
            (Vec::new(), HashSet::new());
        for (c, channel) in items(animation, "channels").iter().enumerate() {
            let at = at.key("channels");
            let at = at.index(c);
            store.spend(128).map_err(too_large)?;
            let target = channel.get("target").unwrap_or(&Value::Null);
            let Some((target, width)) = target_of(root, scene, places, target, &at, report) else {
                continue;
            };
            if !seen.insert(format!("{target:?}")) {
                // The validation has noted it.
                continue;
            }
            let Some(number) = index(channel, "sampler") else { continue };
            let Some(sampler) = samplers.get(number) else { continue };
            let key = (number, width);
            let keys = match known.get(&key) {
                Some(keys) => keys.clone(),
                None => {
                    let keys = keys(sampler, store, width, &mut times_of, &at, report)?;
                    known.insert(key, keys.clone());
                    keys
                }
            };
            if let (AnimationTarget::Value(value), Some(keys)) = (target, &keys) {
                note_clamped(value, keys, &at, report);
            }
            channels.extend(keys.map(|keys| AnimationChannel { target, keys }));
        }
        let duration = channels.iter().map(|channel| channel.keys.end()).fold(0.0, f64::max);
        out.push(Animation {
            name: one_line(text(animation, "name")),
            duration,
            channels,
            motion: None,
        });
    }
    // A file whose animations are all empty is not animated.
    if out.iter().all(|animation| animation.channels.is_empty()) {
        out.clear();
    }
    Ok(out)
}

/// Notes animated values that are clamped to the range of their property.
fn note_clamped(target: ValueTarget, keys: &Keyframes, at: &At<'_>, report: &mut ImportReport) {
    let Some([min, max]) = target.range() else { return };
    let [low, high] = keys.extremes();
    // Rounding in single precision is no news.
    let beyond = |value: f64, end: f64| value > end + 1e-6 * end.abs().max(1.0);
    if beyond(-low, -min) || beyond(high, max) {
        let range = if max < f64::from(f32::MAX) {
            format!("{min} to {max}")
        } else {
            format!("{min} and up")
        };
        report.repair(at, format!("values from {low} to {high} are clamped to {range}"));
    }
}

/// The keys of a sampler for values of `width` numbers; `None` takes the output's own.
fn keys(
    sampler: &Value,
    store: &Store<'_>,
    width: Option<usize>,
    times_of: &mut HashMap<usize, Arc<Vec<f32>>>,
    at: &At<'_>,
    report: &mut ImportReport,
) -> Result<Option<Arc<Keyframes>>, TooLarge> {
    let mut lost = |problem: &str| report.repair(at, format!("{problem}; the channel is ignored"));
    let (Some(input), Some(output)) = (index(sampler, "input"), index(sampler, "output")) else {
        lost("a sampler without input or output");
        return Ok(None);
    };
    let scalar = |accessor: &Accessor| {
        accessor.shape == AccessorType::Scalar && accessor.component == Component::F32
    };
    let times = match times_of.get(&input) {
        Some(times) => Arc::clone(times),
        None => {
            let found = store.accessor(input).and_then(|accessor| {
                if scalar(accessor) {
                    store.row(accessor)
                } else {
                    Err(ReadError::Broken("times in a format other than float".into()))
                }
            });
            let times = match read_motion(found) {
                Ok(times) => Arc::new(times),
                Err(problem) => {
                    lost(&problem);
                    return Ok(None);
                }
            };
            times_of.insert(input, Arc::clone(&times));
            times
        }
    };
    let interpolation = match text(sampler, "interpolation") {
        "STEP" => Interpolation::Step,
        "CUBICSPLINE" => Interpolation::CubicSpline,
        _ => Interpolation::Linear,
    };
    let mut shape = AccessorType::Scalar;
    let values = store.accessor(output).and_then(|accessor| {
        shape = accessor.shape;
        store.row(accessor)
    });
    let values = match read_motion(values) {
        Ok(values) => values,
        Err(problem) => {
            lost(&problem);
            return Ok(None);
        }
    };
    let parts = if interpolation == Interpolation::CubicSpline { 3 } else { 1 };
    let width = width.unwrap_or(shape.components());
    let per_key = width * parts;
    if per_key == 0 || shape != AccessorType::Scalar && shape.components() != width {
        lost("values whose size does not match the target");
        return Ok(None);
    }
    // Keys that increase and have values; the validation notes the others.
    store.spend((times.len() as u64).saturating_mul(4 + 4 * per_key as u64)).map_err(too_large)?;
    let mut keys = Keyframes { interpolation, times: Vec::new(), width, values: Vec::new() };
    let mut broken = 0usize;
    for (&time, values) in times.iter().zip(values.chunks_exact(per_key)) {
        if !time.is_finite() || values.iter().any(|value| !value.is_finite()) {
            broken += 1;
        } else if keys.times.last().is_none_or(|&last| time > last) {
            keys.times.push(time);
            keys.values.extend_from_slice(values);
        }
    }
    if broken > 0 {
        report.repair(at, format!("{broken} keys are not finite; left out"));
    }
    if keys.times.is_empty() {
        report.repair(at, "no usable keys; the channel is ignored");
        return Ok(None);
    }
    Ok(Some(Arc::new(keys)))
}

/// The target of a channel, and the numbers of each value.
fn target_of(
    root: &Value,
    scene: &Scene,
    places: &Places<'_>,
    target: &Value,
    at: &At<'_>,
    report: &mut ImportReport,
) -> Option<(AnimationTarget, Option<usize>)> {
    if let Some(pointer) = pointer(target) {
        let found = pointed(root, scene, places, pointer);
        if found.is_none() {
            let message =
                format!("'{}' is not animated; the channel is ignored", one_line(pointer));
            report.unsupported(at, message);
        }
        return found;
    }
    // A channel without a node is reserved for extensions (section 3.11).
    let node = index(target, "node").filter(|&node| node < scene.nodes.len())?;
    let found = node_target(scene, places, node, text(target, "path"));
    if found.is_none() && text(target, "path") != "weights" {
        let path = one_line(text(target, "path"));
        report
            .unsupported(at, format!("the path '{path}' is not animated; the channel is ignored"));
    }
    found
}

fn node_target(
    scene: &Scene,
    places: &Places<'_>,
    node: usize,
    path: &str,
) -> Option<(AnimationTarget, Option<usize>)> {
    match path {
        "translation" => Some((AnimationTarget::Translation(node), Some(3))),
        "rotation" => Some((AnimationTarget::Rotation(node), Some(4))),
        "scale" => Some((AnimationTarget::Scale(node), Some(3))),
        "weights" => {
            let node = places.carriers.get(&node).copied().unwrap_or(node);
            let width = scene.nodes.get(node)?.weights.len();
            // The validation notes a target without morph targets.
            (width > 0).then_some((AnimationTarget::Weights(node), Some(width)))
        }
        _ => None,
    }
}

/// The target of a JSON pointer (RFC 6901; no name of the specification needs escapes).
fn pointed(
    root: &Value,
    scene: &Scene,
    places: &Places<'_>,
    pointer: &str,
) -> Option<(AnimationTarget, Option<usize>)> {
    let steps: Vec<&str> = pointer.strip_prefix('/')?.split('/').collect();
    let number = |text: &str| text.parse::<usize>().ok();
    match steps.as_slice() {
        ["nodes", node, "weights", weight] => {
            let (AnimationTarget::Weights(node), Some(width)) =
                node_target(scene, places, number(node)?, "weights")?
            else {
                return None;
            };
            let weight = number(weight).filter(|weight| *weight < width)?;
            Some((AnimationTarget::Weight(node, weight), Some(1)))
        }
        ["nodes", node, path] => {
            let node = number(node).filter(|&node| node < items(root, "nodes").len())?;
            node_target(scene, places, node, path)
        }
        ["cameras", camera, kind @ ("perspective" | "orthographic"), value] => {
            let value = match (*kind, *value) {
                ("perspective", "yfov") => CameraValue::VerticalFov,
                ("perspective", "aspectRatio") => CameraValue::Aspect,
                ("orthographic", "xmag") => CameraValue::HalfWidth,
                ("orthographic", "ymag") => CameraValue::HalfHeight,
                (_, "znear") => CameraValue::Near,
                (_, "zfar") => CameraValue::Far,
                _ => return None,
            };
            let camera = places.cameras.get(number(camera)?).copied().flatten()?;
            Some((AnimationTarget::Value(ValueTarget::Camera(camera, value)), Some(1)))
        }
        ["extensions", "KHR_lights_punctual", "lights", light, value @ ..] => {
            let (value, width) = match value {
                ["color"] => (LightValue::Color, 3),
                ["intensity"] => (LightValue::Intensity, 1),
                ["range"] => (LightValue::Range, 1),
                ["spot", "innerConeAngle"] => (LightValue::InnerCone, 1),
                ["spot", "outerConeAngle"] => (LightValue::OuterCone, 1),
                _ => return None,
            };
            let light = places.lights.get(number(light)?).copied().flatten()?;
            Some((AnimationTarget::Value(ValueTarget::Light(light, value)), Some(width)))
        }
        ["materials", material, value @ ..] => {
            let material = number(material).filter(|&material| material < scene.materials.len())?;
            let (value, width) = material_value(items(root, "materials").get(material)?, value)?;
            Some((AnimationTarget::Value(ValueTarget::Material(material, value)), Some(width)))
        }
        _ => None,
    }
}

fn material_value(material: &Value, path: &[&str]) -> Option<(MaterialValue, usize)> {
    use MaterialValue as V;
    if let [owner @ .., "extensions", "KHR_texture_transform", value] = path {
        let slot = texture_slot(owner)?;
        return match *value {
            "offset" => Some((V::TextureOffset(slot), 2)),
            "rotation" => Some((V::TextureRotation(slot), 1)),
            "scale" => Some((V::TextureScale(slot), 2)),
            _ => None,
        };
    }
    #[allow(clippy::cast_possible_truncation)]
    let strength = || {
        let found = extension(material, "KHR_materials_emissive_strength")
            .and_then(|e| number(e, "emissiveStrength"));
        found.unwrap_or(1.0) as f32
    };
    let color = || {
        let factor = numbers::<3>(material, "emissiveFactor").unwrap_or([0.0; 3]);
        Vec3::from_array(factor.map(|x| {
            #[allow(clippy::cast_possible_truncation)]
            let x = x as f32;
            x
        }))
    };
    let path = match path {
        ["extensions", rest @ ..] => rest,
        other => other,
    };
    Some(match path {
        ["pbrMetallicRoughness", "baseColorFactor"] => (V::BaseColor, 4),
        ["pbrMetallicRoughness", "metallicFactor"] => (V::Metallic, 1),
        ["pbrMetallicRoughness", "roughnessFactor"] => (V::Roughness, 1),
        ["normalTexture", "scale"] => (V::NormalScale, 1),
        ["occlusionTexture", "strength"] => (V::OcclusionStrength, 1),
        ["emissiveFactor"] => (V::EmissiveFactor(strength()), 3),
        ["alphaCutoff"] => (V::AlphaCutoff, 1),
        ["KHR_materials_emissive_strength", "emissiveStrength"] => {
            (V::EmissiveStrength(color()), 1)
        }
        ["KHR_materials_ior", "ior"] => (V::Ior, 1),
        ["KHR_materials_transmission", "transmissionFactor"] => (V::Transmission, 1),
        ["KHR_materials_volume", "thicknessFactor"] => (V::Thickness, 1),
        ["KHR_materials_volume", "attenuationDistance"] => (V::AttenuationDistance, 1),
        ["KHR_materials_volume", "attenuationColor"] => (V::AttenuationColor, 3),
        ["KHR_materials_dispersion", "dispersion"] => (V::Dispersion, 1),
        ["KHR_materials_specular", "specularFactor"] => (V::Specular, 1),
        ["KHR_materials_specular", "specularColorFactor"] => (V::SpecularColor, 3),
        ["KHR_materials_clearcoat", "clearcoatFactor"] => (V::Clearcoat, 1),
        ["KHR_materials_clearcoat", "clearcoatRoughnessFactor"] => (V::ClearcoatRoughness, 1),
        ["KHR_materials_sheen", "sheenColorFactor"] => (V::SheenColor, 3),
        ["KHR_materials_sheen", "sheenRoughnessFactor"] => (V::SheenRoughness, 1),
        ["KHR_materials_anisotropy", "anisotropyStrength"] => (V::Anisotropy, 1),
        ["KHR_materials_anisotropy", "anisotropyRotation"] => (V::AnisotropyRotation, 1),
        ["KHR_materials_iridescence", "iridescenceFactor"] => (V::Iridescence, 1),
        ["KHR_materials_iridescence", "iridescenceIor"] => (V::IridescenceIor, 1),
        ["KHR_materials_iridescence", "iridescenceThicknessMinimum"] => {
            (V::IridescenceThicknessMinimum, 1)
        }
        ["KHR_materials_iridescence", "iridescenceThicknessMaximum"] => {
            (V::IridescenceThicknessMaximum, 1)
        }
        ["KHR_materials_diffuse_transmission", "diffuseTransmissionFactor"] => {
            (V::DiffuseTransmission, 1)
        }
        ["KHR_materials_diffuse_transmission", "diffuseTransmissionColorFactor"] => {
            (V::DiffuseTransmissionColor, 3)
        }
        _ => return None,
    })
}

fn texture_slot(owner: &[&str]) -> Option<TextureSlot> {
    use TextureSlot as T;
    // Each name is of one object only.
    Some(match *owner.last()? {
        "baseColorTexture" => T::BaseColor,
        "metallicRoughnessTexture" => T::MetallicRoughness,
        "normalTexture" => T::Normal,
        "occlusionTexture" => T::Occlusion,
        "emissiveTexture" => T::Emissive,
        "transmissionTexture" => T::Transmission,
        "thicknessTexture" => T::Thickness,
        "specularTexture" => T::Specular,
        "specularColorTexture" => T::SpecularColor,
        "clearcoatTexture" => T::Clearcoat,
        "clearcoatRoughnessTexture" => T::ClearcoatRoughness,
        "clearcoatNormalTexture" => T::ClearcoatNormal,
        "sheenColorTexture" => T::SheenColor,
        "sheenRoughnessTexture" => T::SheenRoughness,
        "anisotropyTexture" => T::Anisotropy,
        "iridescenceTexture" => T::Iridescence,
        "iridescenceThicknessTexture" => T::IridescenceThickness,
        "diffuseTransmissionTexture" => T::DiffuseTransmission,
        "diffuseTransmissionColorTexture" => T::DiffuseTransmissionColor,
        _ => return None,
    })
}
