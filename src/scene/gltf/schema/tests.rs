//! Tests of the document check.
use serde_json::json;

use super::*;

fn checked(mut value: Value) -> (Value, ImportReport) {
    let mut report = ImportReport::default();
    check(&mut value, &mut report);
    (value, report)
}

#[test]
fn what_is_right_stays_and_leaves_no_note() {
    let value = json!({"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"name": "a"}]});
    let (after, report) = checked(value.clone());
    assert_eq!(after, value);
    assert!(report.first_error().is_none() && report.into_notes().is_empty());
}

#[test]
fn optional_properties_are_removed_and_numbers_clamped() {
    let (after, report) = checked(json!({
        "asset": {"version": "2.0"},
        "scene": 3,
        "materials": [{"doubleSided": 1, "pbrMetallicRoughness": {"metallicFactor": 1.5, "roughnessFactor": "x"}}],
    }));
    assert_eq!(
        after,
        json!({"asset": {"version": "2.0"}, "materials": [{"pbrMetallicRoughness": {"metallicFactor": 1.0}}]})
    );
    assert!(report.first_error().is_none());
    let places: Vec<_> = report.into_notes().into_iter().map(|note| note.location).collect();
    assert_eq!(
        places,
        [
            "/materials/0/pbrMetallicRoughness/metallicFactor",
            "/materials/0/pbrMetallicRoughness/roughnessFactor",
            "/materials/0/doubleSided",
            "/scene"
        ]
    );
}

#[test]
fn integers_written_as_floats_become_integers() {
    let (after, report) =
        checked(json!({"asset": {"version": "2.0"}, "scene": 0.0, "scenes": [{}]}));
    assert_eq!(after["scene"], json!(0));
    assert!(report.into_notes().is_empty());
}

#[test]
fn what_is_required_is_an_error() {
    let (_, report) = checked(json!({"bufferViews": [{"byteLength": -1}]}));
    let (place, message, more) = report.first_error().unwrap();
    assert_eq!((place, more), ("/", 0));
    assert!(message.contains("'asset' is missing"), "{message}");
}

#[test]
fn a_version_is_stated_but_not_needed() {
    for asset in [json!({}), json!({"version": 2.0})] {
        let (_, report) = checked(json!({"asset": asset}));
        assert!(report.first_error().is_none());
        let notes = report.into_notes();
        let [note] = notes.as_slice() else { panic!("{} notes", notes.len()) };
        assert!(format!("{} {}", note.location, note.message).contains("version"));
    }
}

#[test]
fn what_breaks_an_object_is_kept_for_those_who_need_it() {
    let (after, report) = checked(json!({
        "asset": {"version": "2.0"},
        "buffers": [{"byteLength": 4, "uri": 7}, {"uri": "x"}],
        "bufferViews": [{"buffer": 0, "byteLength": 4, "byteOffset": -1}, {"buffer": 9, "byteLength": 0},
            {"buffer": 1, "byteLength": 8, "byteStride": 0}, null],
        "accessors": [
            {"count": 1, "type": "VEC3"},
            {"count": 0, "type": 3, "bufferView": 9},
            {"count": 2, "componentType": 5126, "type": "VEC3", "sparse": {"count": 1}},
            {"count": 2, "componentType": 5126, "type": "VEC3", "sparse": {"count": 0}},
            {"count": 2, "componentType": 5126, "type": "VEC3", "sparse": {}},
        ],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 77}}, {"attributes": {}, "indices": "x"}]}],
        "nodes": null,
    }));
    assert!(report.first_error().is_none());
    for (place, problem) in [
        ("/buffers/0", "uri: expected text, found a number"),
        ("/bufferViews/0", "byteOffset: -1 is not an integer of at least 0"),
        ("/bufferViews/3", "expected an object, found null"),
        ("/accessors/0", "'componentType' is missing"),
        ("/accessors/2", "sparse: 'indices' is missing"),
        ("/meshes/0/primitives/0/attributes/POSITION", "there is no element 77 in accessors"),
        ("/meshes/0/primitives/1", "indices: expected an index of accessors, found text"),
    ] {
        assert_eq!(report.fault(place), Some(problem), "{place}");
    }
    for sound in [
        "/buffers/1",
        "/bufferViews/1",
        "/bufferViews/2",
        "/accessors/1",
        "/accessors/3",
        "/accessors/4",
    ] {
        assert_eq!(report.fault(sound), None, "{sound}");
    }
    assert_eq!(after["accessors"][1], json!({"count": 0}));
    assert_eq!(after["accessors"][0], json!({}));
}

#[test]
fn what_is_shown_is_reached_from_the_scene() {
    let root = json!({
        "scene": 0, "scenes": [{"nodes": [1]}, {"nodes": [0]}],
        "nodes": [{"extensions": {"X_hidden": {}}}, {"children": [2]}, {"mesh": 0}, {"children": [3]}],
        "meshes": [{"primitives": [{"material": 1}]}],
        "materials": [{"extensions": {"X_spare": {}}}, {"normalTexture": {"index": 0, "extensions": {"X_info": {}}}}],
        "textures": [{"extensions": {"X_texture": {}}}],
        "animations": [{"channels": [{"target": {"node": 3, "extensions": {"X_motion": {}}}}]}],
        "extensions": {"X_document": {}},
    });
    let shown = shown(&root);
    assert_eq!(shown.nodes, HashSet::from([1, 2]));
    let mut names: Vec<&str> = shown.extensions.iter().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["X_document", "X_info", "X_motion", "X_texture"]);
}
