//! KHR_node_visibility: hidden nodes and their descendants show no mesh, light or volume.

use serde_json::Value;

use super::{
    json::{extension, indices, items},
    report::ImportReport,
    volumes,
};

/// Everything visible that a node carries.
const CARRIED: [&str; 3] = ["mesh", "skin", "weights"];

/// The same among its extensions.
const CARRIED_EXTENSIONS: [&str; 3] =
    ["EXT_lights_ies", "EXT_mesh_gpu_instancing", "KHR_lights_punctual"];

/// Takes meshes, lights and volumes from nodes with `visible: false` and from all nodes below.
/// Transforms, cameras and joints stay: the extension omits visual features only.
pub(super) fn hide(root: &mut Value, report: &mut ImportReport) {
    let nodes = items(root, "nodes");
    let mut open: Vec<usize> = Vec::new();
    for (number, node) in nodes.iter().enumerate() {
        let visible = extension(node, "KHR_node_visibility").and_then(|found| found.get("visible"));
        if visible.and_then(Value::as_bool) == Some(false) {
            open.push(number);
        }
    }
    // Broken documents may have cycles.
    let mut hidden = vec![false; nodes.len()];
    while let Some(number) = open.pop() {
        let (Some(node), Some(hidden)) = (nodes.get(number), hidden.get_mut(number)) else {
            continue;
        };
        if !std::mem::replace(hidden, true) {
            open.extend(indices(node, "children"));
        }
    }
    let count = hidden.iter().filter(|hidden| **hidden).count();
    if count == 0 {
        return;
    }
    report.info("/nodes", format!("{count} nodes are hidden by KHR_node_visibility"));
    let nodes = root.get_mut("nodes").and_then(Value::as_array_mut).into_iter().flatten();
    for (node, _) in nodes.zip(hidden).filter(|(_, hidden)| *hidden) {
        remove(Some(node), &CARRIED);
        remove(node.get_mut("extensions"), &CARRIED_EXTENSIONS);
        remove(node.get_mut("extras"), &[volumes::KEY]);
    }
}

fn remove(owner: Option<&mut Value>, keys: &[&str]) {
    if let Some(owner) = owner.and_then(Value::as_object_mut) {
        owner.retain(|key, _| !keys.contains(&key.as_str()));
    }
}
