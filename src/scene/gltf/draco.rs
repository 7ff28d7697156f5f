//! Primitives compressed by KHR_draco_mesh_compression: each is decoded into buffers of its own, to
//! which its accessors then refer, so that readers of accessors need no special case.

use std::{
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use draco_core::{DecodeLimits, DecoderBuffer, Mesh, MeshDecoder};
use serde_json::Value;

use super::{
    MAX_DECODED_BYTES,
    accessor::{AccessorType, BufferView, Bytes, Component, Store},
    json::{entries, extension, index, items},
    report::{At, ImportReport},
};

/// Maximum bytes of attributes in one compressed mesh.
const MAX_MESH: u64 = 1 << 30;

/// Claimed contents of a compressed mesh, known from the accessors before decoding.
struct Claim {
    points: u64,
    faces: u64,
    bytes: u64,
}

fn decode(data: &[u8], claim: &Claim) -> Result<Mesh, String> {
    let limits = DecodeLimits::default()
        .with_max_points(claim.points)
        .with_max_faces(claim.faces)
        .with_max_decoded_bytes(claim.bytes);
    let run = || {
        let mut mesh = Mesh::new();
        let mut buffer = DecoderBuffer::new(data).with_limits(limits);
        MeshDecoder::new()
            .decode(&mut buffer, &mut mesh)
            .map(|()| mesh)
            .map_err(|error| error.to_string())
    };
    // The decoder should return errors; if it panics, only this mesh is lost.
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| Err("the decoder failed".into()))
}

/// An accessor's elements as the file would hold them: packed, little-endian.
fn bytes(
    mesh: &Mesh,
    id: u32,
    shape: AccessorType,
    component: Component,
) -> Result<Vec<u8>, String> {
    let Some(attribute) = mesh.attribute_by_unique_id(id) else {
        return Err(format!("the compressed mesh has no attribute {id}"));
    };
    let wanted = shape.components();
    if shape.is_matrix() || usize::from(attribute.num_components()) != wanted {
        return Err(format!(
            "attribute {id} has {} components, expected {wanted}",
            attribute.num_components()
        ));
    }
    let values = attribute.read_f32s(mesh.num_points(), wanted);
    let mut out = Vec::with_capacity(values.len() * component.size());
    for x in values {
        component.write(x, &mut out);
    }
    Ok(out)
}

/// Adds a buffer and a view of all of it; returns the view's index.
fn add(store: &mut Store<'_>, bytes: Vec<u8>) -> usize {
    let view = BufferView {
        buffer: store.buffers.len(),
        offset: 0,
        length: bytes.len(),
        stride: None,
        target: None,
    };
    store.buffers.push(Ok(Bytes::Shared(Arc::from(bytes))));
    store.views.push(Some(view));
    store.views.len() - 1
}

/// Decodes all compressed primitives whose accessors have no data of their own.
pub(super) fn decompress(root: &Value, store: &mut Store<'_>, report: &mut ImportReport) {
    let mut left = MAX_DECODED_BYTES;
    // Many primitives may share a compressed mesh.
    let mut meshes: HashMap<usize, Result<Mesh, String>> = HashMap::new();
    let at = At::ROOT;
    let place = at.key("meshes");
    for (m, mesh) in items(root, "meshes").iter().enumerate() {
        let at = place.index(m);
        let at = at.key("primitives");
        for (p, primitive) in items(mesh, "primitives").iter().enumerate() {
            let Some(draco) = extension(primitive, "KHR_draco_mesh_compression") else { continue };
            let Some(view) = index(draco, "bufferView") else { continue };
            let at = at.index(p);
            if let Err(problem) = one(primitive, draco, view, store, &mut meshes, &mut left) {
                report.repair(at, format!("compressed by Draco: {problem}"));
            }
        }
    }
}

fn one(
    primitive: &Value,
    draco: &Value,
    view: usize,
    store: &mut Store<'_>,
    meshes: &mut HashMap<usize, Result<Mesh, String>>,
    left: &mut u64,
) -> Result<(), String> {
    let number = |value: &Value| value.as_u64().and_then(|x| usize::try_from(x).ok());
    // Accessors with data of their own are read from there.
    let empty = |store: &Store<'_>, accessor: usize| {
        store
            .accessor(accessor)
            .is_ok_and(|accessor| accessor.view.is_none() && accessor.sparse.is_none())
    };
    let mut wanted: Vec<(usize, u32)> = Vec::new();
    for (name, id) in entries(draco, "attributes") {
        let accessor = primitive.get("attributes").and_then(|list| list.get(name)).and_then(number);
        let id = id.as_u64().and_then(|id| u32::try_from(id).ok());
        if let (Some(accessor), Some(id)) = (accessor, id)
            && empty(store, accessor)
        {
            wanted.push((accessor, id));
        }
    }
    let indices = index(primitive, "indices").filter(|&accessor| empty(store, accessor));
    if wanted.is_empty() && indices.is_none() {
        return Ok(());
    }
    let count =
        |accessor: usize| store.accessor(accessor).map_or(0, |accessor| accessor.count as u64);
    if let std::collections::hash_map::Entry::Vacant(slot) = meshes.entry(view) {
        // A file may state fewer points than it has; twice as many is not an attack.
        let points = wanted
            .iter()
            .map(|&(accessor, _)| count(accessor))
            .max()
            .unwrap_or(0)
            .saturating_mul(2)
            + 1024;
        let faces = indices.map_or(points, count).saturating_mul(2) / 3 + 1024;
        let claim = Claim { points, faces, bytes: MAX_MESH.min(*left) };
        let mesh = match store.view(view) {
            Ok(data) => decode(data, &claim),
            Err(error) => Err(error.text()),
        };
        slot.insert(mesh);
    }
    let mesh = match meshes.get(&view) {
        Some(Ok(mesh)) => mesh,
        Some(Err(problem)) => return Err(problem.clone()),
        None => return Ok(()),
    };
    let points = mesh.num_points();
    let mut spend = |bytes: usize| -> Result<(), String> {
        *left = left
            .checked_sub(bytes as u64)
            .ok_or_else(|| format!("decoded meshes exceed {MAX_DECODED_BYTES} bytes"))?;
        Ok(())
    };
    for (accessor, id) in wanted {
        let Some(Some(known)) = store.accessors.get(accessor) else { continue };
        let (shape, component) = (known.shape, known.component);
        spend(points.saturating_mul(shape.components() * component.size()))?;
        let data = bytes(mesh, id, shape, component)?;
        let view = add(store, data);
        if let Some(Some(known)) = store.accessors.get_mut(accessor) {
            (known.view, known.offset, known.count) = (Some(view), 0, points);
        }
    }
    if let Some(accessor) = indices {
        spend(mesh.num_faces().saturating_mul(12))?;
        let data: Vec<u8> =
            mesh.faces().iter().flatten().flat_map(|point| point.0.to_le_bytes()).collect();
        let view = add(store, data);
        if let Some(Some(known)) = store.accessors.get_mut(accessor) {
            (known.view, known.offset, known.count) = (Some(view), 0, mesh.num_faces() * 3);
            (known.component, known.shape) = (Component::U32, AccessorType::Scalar);
        }
    }
    Ok(())
}
