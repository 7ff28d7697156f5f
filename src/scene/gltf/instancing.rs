//! EXT_mesh_gpu_instancing: instances of a node's mesh. Each instance becomes a child of the node,
//! so that code that follows the hierarchy handles instances too.

use glam::{DMat3, DMat4, DQuat, DVec3};
use serde_json::Value;

use super::{
    MAX_NODES,
    accessor::{Accessor, AccessorType, Component, ReadError, Store},
    geometry::TooLarge,
    json::{entries, extension, items},
    report::{At, ImportReport},
};
use crate::scene::{Node, Scene};

/// The attributes of an instance transform; others are application-specific.
const PLACES: [&str; 3] = ["TRANSLATION", "ROTATION", "SCALE"];

fn allowed(name: &str, accessor: &Accessor) -> bool {
    let float = accessor.component == Component::F32;
    match name {
        "ROTATION" => {
            let small =
                matches!(accessor.component, Component::I8 | Component::I16) && accessor.normalized;
            accessor.shape == AccessorType::Vec4 && (float || small)
        }
        _ => accessor.shape == AccessorType::Vec3 && float,
    }
}

/// Instance transforms of a node; `None` if it has none, or they cannot be read.
fn places(
    value: &Value,
    store: &Store<'_>,
    at: &At<'_>,
    report: &mut ImportReport,
) -> Result<Option<Vec<DMat4>>, TooLarge> {
    let Some(instancing) = extension(value, "EXT_mesh_gpu_instancing") else { return Ok(None) };
    let mut count = None;
    let mut found: [Option<&Accessor>; 3] = [None; 3];
    for (name, number) in entries(instancing, "attributes") {
        let number = number.as_u64().and_then(|x| usize::try_from(x).ok()).unwrap_or(usize::MAX);
        let problem = match store.accessor(number) {
            Ok(accessor) if count.is_some_and(|count| count != accessor.count) => {
                format!(
                    "{name} has {} elements, another attribute has {}",
                    accessor.count,
                    count.unwrap_or(0)
                )
            }
            Ok(accessor) => {
                count = Some(accessor.count);
                match PLACES
                    .iter()
                    .position(|known| *known == name)
                    .and_then(|which| found.get_mut(which))
                {
                    Some(slot) if allowed(name, accessor) => {
                        *slot = Some(accessor);
                        continue;
                    }
                    Some(_) => format!("{name} has a type that is not allowed"),
                    None => continue,
                }
            }
            Err(error) => error.text(),
        };
        report.repair(at, format!("{problem}; the mesh is shown once"));
        return Ok(None);
    }
    let Some(count) = count else { return Ok(None) };
    if count > MAX_NODES {
        return Err(TooLarge(format!("{count} instances; expected at most {MAX_NODES}")));
    }
    let [translation, rotation, scale] = found;
    let read = || -> Result<Vec<DMat4>, ReadError> {
        let translations = translation.map(|accessor| store.floats::<3>(accessor)).transpose()?;
        let rotations = rotation.map(|accessor| store.floats::<4>(accessor)).transpose()?;
        let scales = scale.map(|accessor| store.floats::<3>(accessor)).transpose()?;
        store.spend(count as u64 * size_of::<Node>() as u64)?;
        let vector = |list: &Option<Vec<[f32; 3]>>, i: usize, none: f64| {
            list.as_ref()
                .and_then(|list| list.get(i))
                .map_or(DVec3::splat(none), |v| DVec3::from_array(v.map(f64::from)))
        };
        let place = |i: usize| {
            let turn =
                rotations.as_ref().and_then(|list| list.get(i)).map_or(DQuat::IDENTITY, |q| {
                    let q = DQuat::from_array(q.map(f64::from));
                    let length = q.length();
                    if length > 0.0 && length.is_finite() { q / length } else { DQuat::IDENTITY }
                });
            DMat4::from_scale_rotation_translation(
                vector(&scales, i, 1.0),
                turn,
                vector(&translations, i, 0.0),
            )
        };
        Ok((0..count).map(place).collect())
    };
    match read() {
        Ok(places) => Ok(Some(places)),
        Err(ReadError::TooLarge(what)) => Err(TooLarge(what)),
        Err(error) => {
            report.repair(at, format!("{}; the mesh is shown once", error.text()));
            Ok(None)
        }
    }
}

/// Gives each node with instances one child an instance, which carries the mesh.
pub(super) fn expand(
    root: &Value,
    store: &Store<'_>,
    scene: &mut Scene,
    report: &mut ImportReport,
) -> Result<(), TooLarge> {
    let at = At::ROOT;
    let list = at.key("nodes");
    let values = items(root, "nodes");
    let shown: Vec<(usize, DMat4)> =
        scene.walk().iter().map(|placed| (placed.index, placed.world)).collect();
    for (number, world) in shown {
        let (Some(value), Some(mesh)) =
            (values.get(number), scene.nodes.get(number).and_then(|node| node.mesh))
        else {
            continue;
        };
        let Some(places) = places(value, store, &list.index(number), report)? else { continue };
        let asked = places.len();
        let places: Vec<DMat4> = places
            .into_iter()
            .filter(|place| {
                let place = world * *place;
                place.is_finite() && DMat3::from_mat4(place).determinant() != 0.0
            })
            .collect();
        if places.len() < asked {
            let lost = asked - places.len();
            report.info(
                list.index(number),
                format!("{lost} instances have a scale of zero or a transform that is not finite; hidden"),
            );
        }
        if scene.nodes.len() + places.len() > MAX_NODES {
            return Err(TooLarge(format!("more than {MAX_NODES} nodes with all instances")));
        }
        let first = scene.nodes.len();
        let Some(node) = scene.nodes.get_mut(number) else { continue };
        node.mesh = None;
        node.children.extend(first..first + places.len());
        scene.nodes.extend(places.into_iter().map(|local| Node {
            parent: Some(number),
            local,
            mesh: Some(mesh),
            ..Node::default()
        }));
    }
    Ok(())
}
