//! EXT_lights_ies: point lights with photometric profiles, each scaled by its node.

use std::sync::Arc;

use glam::{DMat4, Vec3};
use serde_json::Value;

use super::{
    accessor::{Bytes, ReadError, Store},
    files::Files,
    json::{extension, index, items, narrow, number, numbers, text},
    report::{At, ImportReport, one_line},
};
use crate::{
    photometry::{
        Candela,
        ies::IesProfile,
        lights::{Emitter, LightStrength, PhysicalLight, STRENGTH_LIMIT},
    },
    scene::{Light, Node, Scene},
};

/// Maximum bytes of a profile; the largest from manufacturers have some hundred thousand.
const MAX_PROFILE: usize = 16 << 20;

fn profile(
    value: &Value,
    (store, files): (&Store<'_>, &Files<'_>),
    at: &At<'_>,
    report: &mut ImportReport,
) -> Result<IesProfile, String> {
    let bytes = match (index(value, "bufferView"), text(value, "uri")) {
        (Some(view), _) => Bytes::Borrowed(store.view(view).map_err(ReadError::text)?),
        (None, "") => return Err("neither a bufferView nor a uri".into()),
        (None, uri) => {
            let fetched = files.fetch(uri)?;
            fetched.warn(at.key("uri"), report);
            Bytes::Shared(fetched.bytes)
        }
    };
    let bytes = bytes.get();
    if bytes.len() > MAX_PROFILE {
        return Err(format!("{} bytes; expected at most {MAX_PROFILE}", bytes.len()));
    }
    IesProfile::parse(bytes).map_err(|error| error.to_string())
}

/// Adds the lights of all shown nodes.
pub(super) fn add(
    root: &Value,
    store: &Store<'_>,
    files: &Files<'_>,
    scene: &mut Scene,
    report: &mut ImportReport,
) {
    let Some(lights) = extension(root, "EXT_lights_ies") else { return };
    let lights = items(lights, "lights");
    let at = At::ROOT;
    let at = at.key("extensions");
    let at = at.key("EXT_lights_ies");
    let place = at.key("lights");
    let at = At::ROOT;
    let nodes_at = at.key("nodes");
    // A profile is read once, when the first node uses it.
    let mut profiles: Vec<Option<Result<Arc<IesProfile>, ()>>> = vec![None; lights.len()];
    let shown: Vec<usize> = scene.walk().iter().map(|placed| placed.index).collect();
    for node in shown {
        let Some(use_) =
            items(root, "nodes").get(node).and_then(|value| extension(value, "EXT_lights_ies"))
        else {
            continue;
        };
        let Some(which) = index(use_, "light") else { continue };
        let (Some(value), Some(slot)) = (lights.get(which), profiles.get_mut(which)) else {
            continue;
        };
        let read = slot.get_or_insert_with(|| {
            profile(value, (store, files), &place.index(which), report).map(Arc::new).map_err(
                |problem| {
                    report
                        .repair(place.index(which), format!("{problem}; its lights are left out"));
                },
            )
        });
        let Ok(profile) = read else { continue };
        let multiplier = number(use_, "multiplier").unwrap_or(1.0).max(0.0);
        // The strength is the maximum intensity; the profile gives the distribution.
        let peak = Candela((profile.peak().get() * multiplier).clamp(0.0, STRENGTH_LIMIT));
        let source = match PhysicalLight::new(Emitter::Point, LightStrength::Candela(peak)) {
            Ok(source) => source,
            Err(error) => {
                report.repair(nodes_at.index(node), format!("{error}; the light is left out"));
                continue;
            }
        };
        let color = numbers::<3>(use_, "color")
            .map_or(Vec3::ONE, |color| Vec3::from_array(color.map(narrow)));
        let light = Light {
            color,
            profile: Some(Arc::clone(profile)),
            ..Light::new(&one_line(text(value, "name")), source)
        };
        let number = scene.lights.len();
        scene.lights.push(light);
        let (count, Some(target)) = (scene.nodes.len(), scene.nodes.get_mut(node)) else {
            continue;
        };
        if target.light.is_none() {
            target.light = Some(number);
            continue;
        }
        // The node has a light of KHR_lights_punctual already.
        target.children.push(count);
        scene.nodes.push(Node {
            parent: Some(node),
            local: DMat4::IDENTITY,
            light: Some(number),
            ..Node::default()
        });
    }
}
