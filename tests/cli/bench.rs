//! `sunny16 bench`: its records have exactly the fields that docs/bench.md documents, and camera
//! paths drive it.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::common::{Folder, long, no_gpu};

/// Objects whose keys are names, not fields.
const BY_NAME: [&str; 4] = [
    "settings",
    "options",
    "result.memory_bytes.by_name.scene",
    "result.memory_bytes.by_name.frame",
];

/// Parts of the fields that depend on the case, absent otherwise.
const OPTIONAL: [&str; 2] = ["left_out", "compiled_at_first_use"];

/// Adds the paths of a value's leaves; `nulls` gets those that are null.
fn leaves(path: &str, value: &Value, found: &mut BTreeSet<String>, nulls: &mut BTreeSet<String>) {
    let join = |name: &str| if path.is_empty() { name.into() } else { format!("{path}.{name}") };
    match value {
        Value::Object(_) if BY_NAME.contains(&path) => {
            found.insert(format!("{path}.*"));
        }
        Value::Object(map) => {
            map.iter().for_each(|(name, value)| leaves(&join(name), value, found, nulls));
        }
        Value::Array(list) => {
            list.iter().for_each(|value| leaves(&format!("{path}[]"), value, found, nulls));
        }
        Value::Null => {
            nulls.insert(path.into());
        }
        _ => {
            found.insert(path.into());
        }
    }
}

/// The documented fields of a section of docs/bench.md.
fn documented(section: &str) -> BTreeSet<String> {
    let page = include_str!("../../docs/bench.md");
    let (_, rest) = page
        .split_once(&format!("\n### {section}\n"))
        .unwrap_or_else(|| panic!("docs/bench.md has no section {section}"));
    let end = rest.find("\n###").unwrap_or(rest.len());
    let rows = rest[..end].lines().filter(|line| line.starts_with("| `"));
    let fields = rows.flat_map(|row| row[2..].split(" |").next().unwrap().split(", "));
    fields.map(|field| field.trim_matches('`').to_owned()).collect()
}

/// Asserts that a record has the documented fields and no others.
fn is_documented(record: &Value) {
    let name = record["benchmark"].as_str().unwrap();
    let (mut found, mut nulls) = (BTreeSet::new(), BTreeSet::new());
    leaves("", record, &mut found, &mut nulls);
    let expected: BTreeSet<String> =
        documented("All benchmarks").union(&documented(name)).cloned().collect();
    let all = found.union(&nulls);
    // A null object stands for its fields.
    let known = |path: &String| {
        let below = |field: &String| {
            field.starts_with(&format!("{path}.")) || field == &format!("{path}[]")
        };
        expected.contains(path) || nulls.contains(path) && expected.iter().any(below)
    };
    let unknown: Vec<_> = all.filter(|path| !known(path)).collect();
    assert!(unknown.is_empty(), "{name}: fields missing in docs/bench.md: {unknown:?}");
    let is_null = |field: &str| {
        nulls.iter().any(|null| {
            field == null
                || field
                    .strip_prefix(null.as_str())
                    .is_some_and(|rest| rest.starts_with(['.', '[']))
        })
    };
    let is_optional = |field: &str| OPTIONAL.iter().any(|part| field.contains(part));
    let absent: Vec<_> = expected
        .iter()
        .filter(|field| !found.contains(*field) && !is_null(field) && !is_optional(field))
        .collect();
    assert!(absent.is_empty(), "{name}: documented fields missing in its record: {absent:?}");
    assert_eq!((&record["schema"], &record["program"]), (&1.into(), &"sunny16".into()));
    assert_eq!(record["version"], env!("CARGO_PKG_VERSION"));
    assert!(record["unix_time"].as_u64().unwrap() > 1_600_000_000, "{record}");
}

/// The records of a log, one a line.
fn records(dir: &Folder, file: &str) -> Vec<Value> {
    let text = dir.text(file);
    assert!(text.ends_with('\n'));
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value}"))
}

#[test]
fn records_of_the_host_have_the_documented_fields() {
    let dir = Folder::with_scene(3);
    let what = "bench small.glb --size 32x24 --seconds 0.01 --triangles 600";
    dir.run(&format!("{what} --what path,bvh --set gi.enabled=true --json log.jsonl")).ok();
    dir.run(&format!("{what} --what bvh --json log.jsonl")).ok();
    let log = records(&dir, "log.jsonl");
    log.iter().for_each(is_documented);
    assert_eq!(
        log.iter().map(|record| record["benchmark"].as_str().unwrap()).collect::<Vec<_>>(),
        ["path", "bvh", "bvh"]
    );
    assert_eq!(log[0]["settings"]["gi.enabled"], "true");
    assert_eq!(log[0]["size"], serde_json::json!([32, 24]));
    assert_eq!(log[0]["options"]["seconds"], 0.01);
    assert!(log.iter().all(|record| record["device"].is_null() && record["warm_up"].is_null()));
    // Generated shapes have no scene and no look.
    assert!(log[1]["scene"].is_null() && log[1]["settings"].as_object().unwrap().is_empty());
}

#[test]
fn records_of_the_device_have_the_documented_fields() {
    if no_gpu("records_of_the_device_have_the_documented_fields") {
        return;
    }
    let dir = Folder::with_scene(3);
    let args = "--size 48x32 --frames 2 --seconds 0.01 --json log.jsonl --validation";
    dir.run(&format!("bench small.glb --what raster,rays,lights {args}")).ok();
    if long() {
        let more = "--what gi,effects,instances --vpls 64 --triangles 600 --instances 1000";
        dir.run(&format!("bench small.glb {more} {args}")).ok();
    }
    let log = records(&dir, "log.jsonl");
    log.iter().for_each(is_documented);
    for record in &log {
        assert!(!record["device"]["name"].as_str().unwrap().is_empty());
        assert!(number(&record["warm_up"]["min_seconds"]) > 0.0);
    }
    let of = |name: &str| {
        let found = log.iter().find(|record| record["benchmark"] == name);
        &found.unwrap_or_else(|| panic!("no {name}"))["result"]
    };
    assert!(number(&of("raster")["frame"]["median_ms"]) > 0.0);
    let rays = of("rays");
    assert!(number(&rays["matching"]) > 0.999, "{rays}");
    let kinds = rays["kinds"].as_array().unwrap();
    assert_eq!(kinds.len(), 3);
    for kind in kinds {
        assert!(number(&kind["device_per_second"]) > 0.0, "{kind}");
        // A ray reads its record and the root at least, and visits no more nodes than there are.
        let (bytes, nodes) = (number(&kind["bytes"]), number(&kind["nodes"]));
        assert!(bytes >= 68.0 + 32.0 * nodes && nodes > 0.0 && nodes < 1e4, "{kind}");
    }
    // The lighting pass reads depth, surface, normal and emission once, 24 bytes a pixel, and
    // writes 8.
    let rows = of("lights")["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 5);
    let passes = rows[4]["declared_bytes"].as_array().unwrap();
    let lighting = passes.iter().find(|pass| pass["name"] == "lighting").unwrap();
    let pixels = 48.0 * 32.0;
    assert!(number(&lighting["image_bytes_read"]) >= 24.0 * pixels, "{lighting}");
    assert_eq!(number(&lighting["image_bytes_written"]), 8.0 * pixels, "{lighting}");
}

#[test]
fn pictures_of_the_window_are_counted() {
    if no_gpu("pictures_of_the_window_are_counted") {
        return;
    }
    let dir = Folder::with_scene(3);
    dir.run("bench small.glb --what window --size 700x380 --frames 3 --json log.jsonl").ok();
    let log = records(&dir, "log.jsonl");
    log.iter().for_each(is_documented);
    let result = &log[0]["result"];
    assert_eq!(log[0]["size"], serde_json::json!([700, 380]));
    let pictures = number(&result["pictures"]);
    assert!((1.0..=3.0).contains(&pictures) && number(&result["pictures_per_second"]) > 0.0);
    assert!(result["level"].as_str().unwrap().contains(" % resolution"), "{result}");
}

#[test]
fn a_camera_path_drives_the_flythrough() {
    if no_gpu("a_camera_path_drives_the_flythrough") {
        return;
    }
    let dir = Folder::with_scene(3);
    let args = "--what flythrough --size 32x24 --json log.jsonl";
    // A demo's own path, and the file beside a scene.
    let run = dir.run(&format!("bench builtin:cornell --frames 5 {args}")).ok();
    run.prints(&["5 frames over 4 s", "slowest frame: number ", "lighting"]);
    dir.write(
        "small.path.toml",
        "[[keyframe]]\ntime = 0\nposition = [0, 1, 4]\ntarget = [0, 0, 0]\n\
         [[keyframe]]\ntime = 0.1\nposition = [1, 1, 4]\ntarget = [0, 0, 0]\n",
    );
    dir.run(&format!("bench small.glb {args}")).ok();
    let log = records(&dir, "log.jsonl");
    log.iter().for_each(is_documented);
    assert_eq!(number(&log[0]["result"]["frames"]), 5.0);
    // 60 frames a second, both ends included.
    assert_eq!(number(&log[1]["result"]["frames"]), 7.0);
    for record in &log {
        let (frame, worst) = (&record["result"]["frame"], &record["result"]["worst"]);
        let [median, p95, max] = ["median_ms", "p95_ms", "max_ms"].map(|name| number(&frame[name]));
        assert!(0.0 < median && median <= p95 && p95 <= max, "{record}");
        assert_eq!(number(&worst["ms"]), max, "{record}");
        assert!(number(&worst["frame"]) < number(&record["result"]["frames"]), "{record}");
    }
}

#[test]
fn a_bad_camera_path_is_refused() {
    let dir = Folder::with_scene(3);
    let run = |args: &str| dir.run(&format!("bench small.glb --what flythrough {args}"));
    run("").fails(2, &["small.path.toml does not exist", "--camera-path"]);
    run("--camera-path none.toml").fails(4, &["none.toml", "not found"]);
    let key = |time: &str, x: &str| {
        format!("[[keyframe]]\ntime = {time}\nposition = [{x}, 1, 4]\ntarget = [0, 0, 0]\n")
    };
    for (text, parts) in [
        (key("0", "0"), ["1 keyframe", "at least two"]),
        (key("0", "0") + &key("0", "1"), ["keyframe 2: invalid time 0", "more than 0"]),
        (key("1", "0") + &key("2", "1"), ["keyframe 1: invalid time 1", "expected 0"]),
        (key("0", "nan") + &key("2", "1"), ["keyframe 1: invalid position", "meters"]),
        (key("0", "0") + &key("nan", "1"), ["keyframe 2: invalid time NaN", "3600"]),
        (key("0", "0").replace("target", "aim"), ["line ", "aim"]),
        (
            key("0", "0") + &key("1", "0").replace("[0, 0, 0]", "[0, 1, 4]"),
            ["keyframe 2: target", "own position"],
        ),
        (String::new(), ["keyframe", "path.toml"]),
    ] {
        dir.write("path.toml", &text);
        run("--camera-path path.toml").fails(4, &parts);
    }
}
