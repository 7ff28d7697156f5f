//! Participating volumes in a node's extras: `"extras": {"sunny16_volume": {...}}`
//! (docs/volumes.md). The volume is the box of the node, or fills the node's mesh. No glTF
//! extension has heterogeneous media, so the key is sunny16's own.

use std::collections::HashSet;

use glam::{DMat4, DVec3};
use serde_json::Value;

use super::{
    accessor::{Bytes, ReadError, Store},
    files::Files,
    json::{index, items, number, numbers, text},
    report::{At, ImportReport, one_line},
};
use crate::{
    scene::{
        MediumCoefficients, ParticipatingVolume, Scene, VolumeShape,
        volume::{DensityFormat, DensityGrid, MAX_VOLUMES},
    },
    settings::Choice,
};

/// The key within a node's extras.
pub(super) const KEY: &str = "sunny16_volume";

/// Properties of a volume.
const PROPERTIES: [&str; 8] =
    ["name", "absorption", "scattering", "anisotropy", "emission", "size", "surface", "density"];

/// An invalid property: its name, and the expected value.
type Wrong = (&'static str, String);

/// One number for all channels, or three.
fn colors(value: &Value, key: &'static str) -> Result<DVec3, Wrong> {
    match value.get(key) {
        None => Ok(DVec3::ZERO),
        Some(one) if one.is_number() => Ok(DVec3::splat(number(value, key).unwrap_or(f64::NAN))),
        Some(_) => numbers::<3>(value, key)
            .map(DVec3::from_array)
            .ok_or((key, "one number or an array of three".to_owned())),
    }
}

fn density(
    value: &Value,
    (store, files): (&Store<'_>, &Files<'_>),
    at: &At<'_>,
    report: &mut ImportReport,
) -> Result<Option<DensityGrid>, Wrong> {
    let Some(grid) = value.get("density") else { return Ok(None) };
    let wrong = |what: String| ("density", what);
    let size = numbers::<3>(grid, "dimensions")
        .filter(|size| {
            size.iter()
                .all(|side| (0.0..=f64::from(u32::MAX)).contains(side) && side.fract() == 0.0)
        })
        .ok_or_else(|| {
            wrong("'dimensions': expected three integers: voxels along x, y and z".into())
        })?;
    let format = DensityFormat::from_name(text(grid, "format"))
        .ok_or_else(|| wrong("'format': expected u8, f16 or f32".to_owned()))?;
    let bytes = match (index(grid, "bufferView"), text(grid, "uri")) {
        (Some(view), _) => {
            Bytes::Borrowed(store.view(view).map_err(|error| wrong(ReadError::text(error)))?)
        }
        (None, "") => return Err(wrong("expected a 'bufferView' or a 'uri'".into())),
        (None, uri) => {
            let fetched = files.fetch(uri).map_err(wrong)?;
            fetched.warn(at.key("density"), report);
            Bytes::Shared(fetched.bytes)
        }
    };
    let size = size.map(|side| side as u32);
    DensityGrid::from_raw(bytes.get(), size, format)
        .map(Some)
        .map_err(|error| wrong(error.to_string()))
}

fn volume(
    value: &Value,
    (node, scene): (usize, &Scene),
    from: (&Store<'_>, &Files<'_>),
    at: &At<'_>,
    report: &mut ImportReport,
) -> Result<ParticipatingVolume, Wrong> {
    let medium = MediumCoefficients {
        absorption: colors(value, "absorption")?,
        scattering: colors(value, "scattering")?,
        anisotropy: match value.get("anisotropy") {
            None => 0.0,
            Some(g) => g.as_f64().unwrap_or(f64::NAN),
        },
        emission: colors(value, "emission")?,
    };
    if let Some(wrong) = medium.range_error() {
        return Err(wrong);
    }
    let carrier = scene.nodes.get(node);
    let shape = match (value.get("size"), carrier.and_then(|node| node.mesh)) {
        (Some(_), _) => {
            let size = numbers::<3>(value, "size")
                .filter(|size| size.iter().all(|side| (1e-4..=1e6).contains(side)));
            let size =
                size.ok_or(("size", "three numbers from 0.0001 to 1000000: meters".to_owned()))?;
            VolumeShape::Box(DMat4::from_scale(DVec3::from_array(size)))
        }
        (None, Some(mesh)) => VolumeShape::Mesh(mesh),
        (None, None) => VolumeShape::Box(DMat4::IDENTITY),
    };
    let name = match text(value, "name") {
        "" => carrier.map_or_else(String::new, |node| node.name.clone()),
        name => one_line(name),
    };
    Ok(ParticipatingVolume {
        name,
        shape,
        node: Some(node),
        medium,
        density: density(value, from, at, report)?,
    })
}

/// Adds the volumes of all nodes. An error in a shown volume rejects the file, as the image would
/// differ much without it.
pub(super) fn add(
    root: &Value,
    store: &Store<'_>,
    files: &Files<'_>,
    scene: &mut Scene,
    report: &mut ImportReport,
) {
    let at = At::ROOT;
    let nodes_at = at.key("nodes");
    let shown: HashSet<usize> = scene.walk().iter().map(|placed| placed.index).collect();
    for (node, value) in items(root, "nodes").iter().enumerate() {
        let Some(value) = value.get("extras").and_then(|extras| extras.get(KEY)) else { continue };
        let fail = |report: &mut ImportReport, place: At<'_>, problem: String| {
            if shown.contains(&node) {
                report.error(place, problem);
            } else {
                report.repair(place, format!("{problem}; the node is not shown"));
            }
        };
        let at = nodes_at.index(node);
        let at = at.key("extras");
        let at = at.key(KEY);
        if scene.volumes.len() == MAX_VOLUMES {
            fail(report, at, format!("the scene has more than {MAX_VOLUMES} volumes; remove some"));
            continue;
        }
        let unknown = value
            .as_object()
            .and_then(|map| map.keys().find(|key| !PROPERTIES.contains(&key.as_str())));
        match (value.as_object(), unknown) {
            (None, _) => {
                fail(report, at, "a volume is an object; remove it, or see docs/volumes.md".into());
                continue;
            }
            (Some(_), Some(key)) => {
                fail(
                    report,
                    at,
                    format!(
                        "unknown property '{}'; expected one of {}",
                        one_line(key),
                        PROPERTIES.join(", ")
                    ),
                );
                continue;
            }
            _ => {}
        }
        match volume(value, (node, scene), (store, files), &at, report) {
            Ok(volume) => {
                let hidden = value.get("surface").and_then(Value::as_bool) != Some(true);
                if let (VolumeShape::Mesh(_), true, Some(node)) =
                    (volume.shape, hidden, scene.nodes.get_mut(node))
                {
                    node.mesh = None;
                }
                scene.volumes.push(volume);
            }
            Err((property, takes)) => {
                fail(report, at.key(property), format!("{takes}; correct it or remove it"))
            }
        }
    }
    let placed = scene.placed_volumes();
    let deep = placed.iter().find_map(|placed| {
        Some((placed.volume.node?, placed.volume.optical_depth_error(scene, &placed.world)?))
    });
    if let Some((node, what)) = deep {
        let at = nodes_at.index(node);
        report.error(at.key("extras"), what);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{NoFiles, load_bytes};
    use crate::scene::{Scene, VolumeShape};

    fn load(volume: &str) -> Result<Scene, String> {
        let text = format!(
            r#"{{"asset": {{"version": "2.0"}}, "scene": 0, "scenes": [{{"nodes": [0]}}],
                "nodes": [{{"name": "Fog", "scale": [2, 3, 4], "extras": {{"sunny16_volume": {volume}}}}}]}}"#
        );
        load_bytes("fog.gltf", text.as_bytes(), &NoFiles).map_err(|error| error.to_string())
    }

    #[test]
    fn extras_fill_a_node() {
        let scene = load(
            r#"{"scattering": 0.5, "absorption": [0.1, 0.2, 0.3], "anisotropy": 0.6, "density":
                {"uri": "data:application/octet-stream;base64,AP8=", "dimensions": [2, 1, 1], "format": "u8"}}"#,
        )
        .unwrap();
        let volume = &scene.volumes[0];
        assert_eq!((volume.name.as_str(), volume.node), ("Fog", Some(0)));
        assert!(matches!(volume.shape, VolumeShape::Box(_)));
        assert_eq!(volume.medium.extinction(), glam::DVec3::new(0.6, 0.7, 0.8));
        assert_eq!(volume.density.as_ref().unwrap().values(), [0.0, 1.0]);
        assert_eq!(scene.placed_volumes()[0].world.transform_vector3(glam::DVec3::X).length(), 2.0);
    }

    #[test]
    fn wrong_extras_are_refused_with_their_place() {
        for (volume, named) in [
            (r#"{"scattering": -1}"#, "sunny16_volume/scattering"),
            (r#"{"absorption": [1, 2]}"#, "sunny16_volume/absorption"),
            (r#"{"absorption": "much"}"#, "sunny16_volume/absorption"),
            (r#"{"scattering": 1, "anisotropy": 1}"#, "sunny16_volume/anisotropy"),
            (r#"{"scattering": 1, "anisotropy": "no"}"#, "sunny16_volume/anisotropy"),
            (r#"{"scatering": 1}"#, "'scatering'"),
            ("[1]", "is an object"),
            (r#"{"size": [1, 0, 1]}"#, "sunny16_volume/size"),
            (
                r#"{"scattering": 1, "density": {"dimensions": [1e9, 1e9, 1e9], "format": "u8", "uri": "data:,"}}"#,
                "at most",
            ),
            (
                r#"{"scattering": 1, "density": {"dimensions": [2, 2, 2], "format": "u8", "uri": "data:,abc"}}"#,
                "3 bytes",
            ),
            (
                r#"{"scattering": 1, "density": {"dimensions": [2, 2], "format": "u8", "uri": "data:,abc"}}"#,
                "dimensions",
            ),
            (
                r#"{"scattering": 1, "density": {"dimensions": [1, 1, 1], "format": "u4", "uri": "data:,abc"}}"#,
                "format",
            ),
            (
                r#"{"scattering": 1, "density": {"dimensions": [1, 1, 1], "format": "u8", "uri": "x.raw"}}"#,
                "not there",
            ),
            (
                r#"{"scattering": 1e6, "density": {"dimensions": [1, 1, 1], "format": "u8", "uri": "data:;base64,/w=="}}"#,
                "optical depth",
            ),
        ] {
            let error = load(volume).unwrap_err();
            assert!(error.contains(named) && error.contains("fog.gltf"), "{volume}: {error}");
        }
    }
}
