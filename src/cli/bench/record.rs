//! Records of `sunny16 bench --json`: one line of JSON for each benchmark, appended to a log.
//! docs/bench.md documents the fields.

use std::time::{SystemTime, UNIX_EPOCH};

use clap::ValueEnum;
use serde_json::{Map, Value, json};

use super::args::{BenchArgs, Benchmark};
use crate::{
    cli::error::CliError,
    gpu::DeviceInfo,
    output,
    scene::look::{flattened, properties, split_assignment},
    settings::{Choice, Quality, QualityLook},
};

/// Version of the records' fields: increased if a field changes its meaning or is removed.
const SCHEMA: u32 = 1;

/// What a benchmark measured.
#[derive(Default)]
pub struct Measurement {
    /// The device; `None` for benchmarks of the host.
    pub device: Option<DeviceInfo>,
    /// Name of the scene; `None` for generated scenes.
    pub scene: Option<String>,
    /// Picture size in pixels, or that of the picture that gives the rays.
    pub size: Option<[usize; 2]>,
    /// Work before the measurement (`warm_up::json`); null without any.
    pub warm_up: Value,
    /// Fields of the benchmark.
    pub result: Value,
}

/// The quality tier, and the look properties by path that differ from their defaults, which are the
/// tier's: those of the look's text and then those of the command line.
pub fn differing_settings(look: &str, assignments: &[String]) -> Map<String, Value> {
    let assigned = assignments.iter().filter_map(|text| split_assignment(text));
    let assigned = assigned.map(|(path, value)| (path.to_owned(), value.to_owned()));
    let stated: Vec<(String, String)> = flattened(look)
        .into_iter()
        .chain(assigned)
        .map(|(path, value)| (path, value.trim_matches('"').to_owned()))
        .collect();
    let (tiers, stated): (Vec<_>, Vec<_>) =
        stated.into_iter().partition(|(path, _)| path == QualityLook::PATH);
    let tier = tiers.last().and_then(|(_, name)| Quality::from_name(name));
    let tier = tier.unwrap_or(Quality::DEFAULT);
    let mut settings = Map::from_iter([(QualityLook::PATH.to_owned(), tier.name().into())]);
    for (path, value) in stated {
        let default = tier.value(&path).map(String::from).or_else(|| {
            let property = properties().find(|property| property.path == path)?;
            (property.default)()
        });
        if default.is_some_and(|default| default.trim_matches('"') == value) {
            settings.shift_remove(&path);
        } else {
            settings.insert(path, value.into());
        }
    }
    settings
}

/// Appends a benchmark's record to the file of `--json`, if it is given.
pub fn append(
    args: &BenchArgs,
    benchmark: Benchmark,
    settings: &Map<String, Value>,
    measured: Measurement,
) -> Result<(), CliError> {
    let Some(file) = &args.json else { return Ok(()) };
    let name = benchmark.to_possible_value().map(|value| value.get_name().to_owned());
    let device = measured.device.as_ref().map(|device| {
        let (major, minor, patch) = device.api;
        json!({
            "name": device.name, "driver": device.driver, "kind": device.kind_name(),
            "vulkan": format!("{major}.{minor}.{patch}"),
        })
    });
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    // Generated scenes have no look.
    let no_settings = Map::new();
    let settings = if measured.scene.is_some() { settings } else { &no_settings };
    let record = json!({
        "schema": SCHEMA,
        "benchmark": name,
        "program": env!("CARGO_PKG_NAME"),
        "version": env!("CARGO_PKG_VERSION"),
        "optimized": !cfg!(debug_assertions),
        "unix_time": seconds,
        "device": device,
        "host_threads": rayon::current_num_threads(),
        "scene": measured.scene,
        "size": measured.size,
        "settings": settings,
        "options": args.differing_options(),
        "warm_up": measured.warm_up,
        "result": measured.result,
    });
    Ok(output::append_line(file, &record.to_string())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_those_that_differ() {
        let look =
            "[passes.ao]\nenabled = false\n[lights.Key]\nlumens = 800\n[gi]\nenabled = false";
        let text = |set: &[&str]| {
            let set: Vec<String> = set.iter().map(ToString::to_string).collect();
            Value::Object(differing_settings(look, &set)).to_string()
        };
        let set = ["gi.enabled=true", "passes.ao.enabled=true", "camera.lens.f_stop=4"];
        assert_eq!(
            text(&set),
            r#"{"quality":"standard","lights.Key.lumens":"800","camera.lens.f_stop":"4"}"#
        );
        assert_eq!(
            text(&["quality=direct", "gi.enabled=true"]),
            r#"{"quality":"direct","lights.Key.lumens":"800","passes.ao.enabled":"false","gi.enabled":"true"}"#
        );
    }
}
