//! `extras.water` of a material: the properties of `water.*` in a look, by the same names
//! (docs/water.md).

use std::sync::Arc;

use serde_json::Value;

use super::{
    files::Files,
    json::items,
    report::{At, ImportReport},
};
use crate::scene::{FlowMap, Scene, look::water_from_extras};

/// Makes materials with `extras.water` water.
pub(super) fn add(root: &Value, files: &Files<'_>, scene: &mut Scene, report: &mut ImportReport) {
    let at = At::ROOT;
    let at = at.key("materials");
    for (index, value) in items(root, "materials").iter().enumerate() {
        let Some(water) = value.get("extras").and_then(|extras| extras.get("water")) else {
            continue;
        };
        let at = at.index(index);
        let at = at.key("extras");
        let place = at.key("water");
        let Some(properties) = water.as_object() else {
            report.repair(place, "expected an object with water properties; ignored");
            continue;
        };
        let plain = |value: &Value| match value {
            Value::String(text) => text.clone(),
            Value::Array(list) => list.iter().map(Value::to_string).collect::<Vec<_>>().join(","),
            other => other.to_string(),
        };
        let read =
            water_from_extras(properties.iter().map(|(name, value)| (name.as_str(), plain(value))));
        let mut look = match read {
            Ok(look) => look,
            Err(error) => {
                report.repair(place, format!("{error}; the material is not water"));
                continue;
            }
        };
        if let Some(uri) = properties.get("flow").and_then(Value::as_str) {
            match flow_map(uri, files, place, report) {
                Ok(map) => look.map = Some(Arc::new(map)),
                Err(error) => report.repair(place, format!("flow: {error}; the water is still")),
            }
        }
        if look.enabled == Some(false) {
            continue;
        }
        if let Err((property, error)) = look.apply(scene, index) {
            report.repair(place, format!("{property}: {error}; the material is not water"));
        }
    }
}

fn flow_map(
    uri: &str,
    files: &Files<'_>,
    place: At<'_>,
    report: &mut ImportReport,
) -> Result<FlowMap, String> {
    let fetched = files.fetch(uri)?;
    fetched.warn(place, report);
    FlowMap::from_bytes(&fetched.bytes)
}

#[cfg(test)]
mod tests {
    use super::super::load;
    use crate::scene::{NoteKind, Scene, water::FlowMap};

    fn scene(water: &str) -> Scene {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("f.png"), FlowMap::even(glam::Vec2::X).png().unwrap())
            .unwrap();
        let file = dir.path().join("a.gltf");
        let text = format!(
            r#"{{"asset":{{"version":"2.0"}},"materials":[{{"name":"plain"}},{{"name":"Sea","extras":{{"water":{water}}}}}]}}"#
        );
        std::fs::write(&file, text).unwrap();
        load(&file).unwrap()
    }

    #[test]
    fn a_material_says_that_it_is_water() {
        let scene = scene(
            r#"{"kind": "coastal", "speed": 0.4, "scattering": [0.1, 0.2, 0.3], "flow": "f.png"}"#,
        );
        assert!(scene.materials[0].water.is_none());
        let water = scene.materials[1].water.clone().unwrap();
        assert_eq!((water.settings.speed, water.settings.coefficients.scattering.z), (0.4, 0.3));
        assert!((water.map.velocity(5, 5) - glam::Vec2::X).length() < 1e-6);
        assert!(scene.notes.iter().all(|note| note.kind == NoteKind::Info), "{:?}", scene.notes);
    }

    #[test]
    fn what_it_says_wrongly_is_a_note() {
        for (water, named) in [
            ("7", "expected an object"),
            (r#"{"kind": "muddy"}"#, "clear, coastal or turbid"),
            (r#"{"speed": -1}"#, "0 to 100"),
            (r#"{"speeed": 1}"#, "speed"),
            (r#"{"absorption": [1, "NaN", 2]}"#, "three numbers"),
            (r#"{"flow": "none.png"}"#, "none.png"),
        ] {
            let scene = scene(water);
            let notes: Vec<&str> = scene.notes.iter().map(|note| note.message.as_str()).collect();
            assert!(notes.iter().any(|note| note.contains(named)), "{water}: {notes:?}");
        }
    }
}
