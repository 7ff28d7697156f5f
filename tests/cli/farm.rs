//! Farms: parts of the path tracer's samples and their merge, job templates and their tasks.

use std::{
    collections::BTreeMap,
    env, fs,
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Command, Stdio},
};

use serde_json::Value;

use crate::{
    common::{Folder, NO_DEVICE, Run, finish},
    sequences::moving_cube,
};

const PATH: &str = "render small.glb --renderer path -q --size 32x24";

fn folder() -> Folder {
    Folder::with_scene(3)
}

fn path(dir: &Folder, more: &str) -> Run {
    dir.run_on_host(&format!("{PATH} {more}"))
}

/// Renders ranges of samples as `NAME.FIRST-LAST.exr`.
fn parts(dir: &Folder, name: &str, ranges: &[&str], more: &str) -> String {
    let render = |range: &&str| {
        let file = format!("{name}.{range}.exr");
        path(dir, &format!("-o {file} --samples {range} {more}")).silent();
        file
    };
    ranges.iter().map(render).collect::<Vec<_>>().join(" ")
}

/// The program as a template names it.
fn program() -> &'static str {
    env!("CARGO_BIN_EXE_sunny16")
}

#[test]
fn any_split_of_the_samples_merges_to_the_single_run() {
    let dir = folder();
    path(&dir, "-o whole.exr --spp 21 --aov all").ok();
    path(&dir, "-o whole.png --spp 21 --aov samples,variance").ok();
    let whole = dir.read("whole.exr");
    // Cuts by a generator of fixed seed (Knuth, MMIX), in an order that is not that of the samples.
    let mut state = 7_u64;
    let mut random = |below: u32| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % u64::from(below)) as u32
    };
    for split in 0..4 {
        let mut cuts: Vec<u32> = (0..split).map(|_| 1 + random(20)).collect();
        cuts.extend([0, 21]);
        cuts.sort_unstable();
        cuts.dedup();
        let mut ranges: Vec<String> =
            cuts.windows(2).map(|cut| format!("{}-{}", cut[0], cut[1] - 1)).collect();
        let middle = random(ranges.len() as u32) as usize;
        ranges.rotate_left(middle);
        let named: Vec<&str> = ranges.iter().map(String::as_str).collect();
        let files = parts(&dir, &format!("part{split}"), &named, "--spp 21");
        let merge = |output: &str| dir.run_on_host(&format!("merge {files} -q -o {output}"));
        merge("merged.exr --aov all").silent();
        assert!(dir.read("merged.exr") == whole, "{ranges:?}");
        merge("merged.png --aov samples,variance").silent();
        for ending in ["png", "samples.png", "variance.png"] {
            let [merged, whole] =
                ["merged", "whole"].map(|name| dir.read(&format!("{name}.{ending}")));
            assert!(merged == whole, "{ending} of {ranges:?}");
        }
    }
}

#[test]
fn exposure_and_view_are_those_of_the_single_run() {
    let dir = folder();
    let look = "--set camera.exposure.ev100=4 --set passes.tonemap.operator=agx";
    path(&dir, &format!("-o whole.png --spp 4 {look}")).ok();
    let files = parts(&dir, "part", &["0-1", "2-3"], "");
    // Exposure and tone mapper do not change the sums, so they may be chosen later.
    dir.run_on_host(&format!("merge {files} -q -o merged.png {look}")).silent();
    assert!(dir.read("merged.png") == dir.read("whole.png"));
    path(&dir, "-o whole.exr --spp 4 --exposed --set camera.exposure.ev100=4").ok();
    let set = "--exposed --set camera.exposure.ev100=4";
    dir.run_on_host(&format!("merge {files} -q -o merged.exr {set}")).silent();
    assert!(dir.read("merged.exr") == dir.read("whole.exr"));

    let other = parts(&dir, "other", &["2-3"], "--set camera.exposure.ev100=4");
    let files = format!("part.0-1.exr {other}");
    let run = dir.run_on_host(&format!("merge {files} -q -o mixed.exr")).ok();
    assert!(run.err.contains("other.2-3.exr have different values of --set"), "{run:?}");
}

#[test]
fn missing_samples_are_named_and_the_others_have_equal_weights() {
    let dir = folder();
    let files = parts(&dir, "part", &["0-3", "8-15", "20-21"], "--spp 32");
    let run = dir.run_on_host(&format!("merge {files} -o merged.exr")).ok();
    assert!(
        run.err.contains("the samples 4-7, 16-19, 22-31 are missing")
            && run.err.contains("14 of 32 samples"),
        "{run:?}"
    );
    run.prints(&["merged from 3 parts", "14 samples a pixel"]);
    let merged = dir.channel("merged.exr", "G");
    let mut sums = vec![0.0; merged.len()];
    for (file, count) in files.split(' ').zip([4.0, 8.0, 2.0]) {
        dir.run_on_host(&format!("merge {file} -q -o one.exr")).ok();
        let one = dir.channel("one.exr", "G");
        sums.iter_mut().zip(one).for_each(|(sum, value)| *sum += f64::from(value) * count);
    }
    for (merged, sum) in merged.iter().zip(sums) {
        let expected = sum / 14.0;
        assert!((f64::from(*merged) - expected).abs() <= 1e-6 * expected, "{merged} {expected}");
    }
}

#[test]
fn overlapping_parts_are_refused() {
    let dir = folder();
    let files = parts(&dir, "part", &["0-3", "2-5"], "");
    let merge = |files: &str| dir.run_on_host(&format!("merge {files} -o merged.exr"));
    merge(&files).fails(4, &["part.0-3.exr", "part.2-5.exr", "samples 2-3"]);
    fs::copy(dir.at("part.0-3.exr"), dir.at("copy.exr")).unwrap();
    merge("part.0-3.exr copy.exr").fails(4, &["copy.exr", "part.0-3.exr", "samples 0-3"]);
    assert!(!dir.has("merged.exr"));
}

#[test]
fn parts_of_other_pictures_are_refused() {
    let dir = folder();
    let first = parts(&dir, "part", &["0-3"], "");
    let merge = |files: &str| dir.run_on_host(&format!("merge {files} -o merged.exr"));
    for (name, more) in [
        ("seed", "--seed 3"),
        ("bounces", "--bounces 1"),
        ("lens", "--set camera.lens.focal_length=35"),
    ] {
        let other = parts(&dir, name, &["4-7"], more);
        merge(&format!("{first} {other}")).fails(4, &[&first, &other, "a setting"]);
    }
    let sized = "render small.glb --renderer path -q --size 24x32 --samples 4-7 -o sized.exr";
    dir.run_on_host(sized).ok();
    merge(&format!("{first} sized.exr")).fails(4, &[&first, "sized.exr", "size"]);
    fs::copy(dir.at("small.glb"), dir.at("other.glb")).unwrap();
    let other = "render other.glb --renderer path -q --size 32x24 --samples 4-7 -o other.exr";
    dir.run_on_host(other).ok();
    merge(&format!("{first} other.exr")).fails(4, &["scene small.glb and other.glb"]);
    // A part of another version: the text of the header is not compressed.
    let own = format!("\"version\":\"{}\"", env!("CARGO_PKG_VERSION"));
    let mut bytes = dir.read(&first);
    let at = bytes.windows(own.len()).position(|text| text == own.as_bytes()).unwrap();
    bytes[at + own.len() - 2] = b'9';
    dir.write("newer.exr", &bytes);
    merge(&format!("{first} newer.exr")).fails(4, &["newer.exr", "program version"]);
    merge("newer.exr").fails(4, &["newer.exr", "merge with the same version"]);
    // The scene has changed since the part was rendered.
    let changed = Folder::with_scene(2);
    fs::copy(changed.at("small.glb"), dir.at("small.glb")).unwrap();
    merge(&first).fails(4, &["small.glb", &first, "not the scene"]);
    fs::remove_file(dir.at("small.glb")).unwrap();
    merge(&first).fails(4, &["small.glb", "not found"]);
    assert!(!dir.has("merged.exr"));
    merge(&format!("{first} --scene other.glb")).ok();
}

#[test]
fn damaged_parts_are_refused() {
    let dir = folder();
    let file = parts(&dir, "part", &["0-3"], "");
    let bytes = dir.read(&file);
    let merge = |file: &str| dir.run_on_host(&format!("merge {file} -o merged.exr"));
    dir.write("cut.exr", &bytes[..bytes.len() / 2]);
    merge("cut.exr").fails(4, &["cut.exr", "samples 0-3 again"]);
    dir.write("head.exr", &bytes[..100]);
    merge("head.exr").fails(4, &["head.exr"]);
    let mut wrong = bytes.clone();
    let at = bytes.len() - 40;
    wrong[at] ^= 0x10;
    dir.write("wrong.exr", &wrong);
    merge("wrong.exr").fails(4, &["wrong.exr", "damaged"]);
    path(&dir, "-o plain.exr --spp 1").ok();
    merge("plain.exr").fails(4, &["plain.exr", "render --samples"]);
    merge("none.exr").fails(4, &["none.exr", "not found"]);
    fs::create_dir(dir.at("empty")).unwrap();
    merge("empty").fails(2, &["no parts"]);
    dir.run_on_host("merge part.0-3.exr -o merged.jpg").fails(2, &["merged.jpg", ".exr"]);
    assert!(!dir.has("merged.exr"));
}

#[test]
fn ranges_of_samples_exclude_options_of_whole_pictures() {
    let dir = folder();
    let fails = |more: &str, parts: &[&str]| path(&dir, more).fails(2, parts);
    fails("-o a.png --samples 0-3", &["--samples", ".exr", "a.png"]);
    fails("-o a.exr --samples 4-8 --spp 8", &["--samples 4-8", "--spp 8", "0-7"]);
    fails("-o a.exr --samples 8-4", &["--samples", "32-63"]);
    fails("-o a.exr --samples 0-3 --resume", &["--samples", "--resume"]);
    fails("-o a.exr --samples 0-3 --frames 2", &["--samples", "--frames"]);
    let raster = dir.run_on_host("render small.glb -o a.exr --samples 0-3");
    raster.fails(2, &["--samples", "--renderer path"]);
    assert_eq!(dir.listing(), ["small.glb"]);
}

#[test]
fn a_target_error_gives_the_next_round() {
    let dir = folder();
    let job = "job small.glb --size 32x24 --spp 16 --samples-per-task 8 -o job";
    dir.run_on_host(job).ok();
    let files = parts(&dir, "part", &["0-7", "8-15"], "--spp 16");
    let merge = |more: &str| dir.run_on_host(&format!("merge {files} -o merged.exr {more}")).ok();
    merge("--target-error 100%").prints(&["is within the target 100.00 %"]);
    assert!(!dir.has("job/job.next.json"));
    let run = merge("--target-error 2% --job job/job.json");
    let next = run.out.split("next round: --samples ").nth(1).expect("a next round");
    let range: Vec<u32> =
        next.split(' ').next().unwrap().split('-').map(|number| number.parse().unwrap()).collect();
    assert!(range[0] == 16 && range[1] % 8 == 7, "{range:?}");
    let template = dir.json("job/job.next.json");
    check_template(&template);
    let tasks = &template["steps"][0]["parameterSpace"]["taskParameterDefinitions"][0]["range"];
    assert_eq!(tasks[0], "16-23");
    let last = format!("{}-{}", range[1] - 7, range[1]);
    assert_eq!(tasks.as_array().unwrap().last().unwrap(), &last);
    let arguments = template["steps"][0]["script"]["actions"]["onRun"]["args"].to_string();
    assert!(arguments.contains(&format!("--spp={}", range[1] + 1)), "{arguments}");
    dir.write("other.json", "{\"specificationVersion\": \"jobtemplate-2023-09\"}");
    let other = format!("merge {files} -o merged.exr --target-error 2% --job other.json");
    dir.run_on_host(&other).ends_with_error(4, &["other.json", "no step Render"]);
}

/// A value of a template in the rules of the specification "jobtemplate-2023-09": allowed keys,
/// lengths of names, references to parameters that exist.
fn check_template(template: &Value) {
    let keys = |value: &Value, allowed: &[&str]| {
        for key in value.as_object().expect("an object").keys() {
            assert!(allowed.contains(&key.as_str()), "{key} in {value}");
        }
    };
    let is_name = |value: &Value| {
        let name = value.as_str().expect("a name");
        assert!((1..=64).contains(&name.chars().count()) && !name.contains(char::is_control));
        name.to_owned()
    };
    let is_identifier = |value: &Value| {
        let name = is_name(value);
        let mut letters = name.chars();
        assert!(letters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_'), "{name}");
        assert!(letters.all(|c| c.is_ascii_alphanumeric() || c == '_'), "{name}");
        name
    };
    let all = ["specificationVersion", "name", "parameterDefinitions", "jobEnvironments", "steps"];
    keys(template, &all);
    assert_eq!(template["specificationVersion"], "jobtemplate-2023-09");
    assert!((1..=128).contains(&template["name"].as_str().unwrap().chars().count()));
    let mut known = Vec::new();
    for parameter in template["parameterDefinitions"].as_array().unwrap() {
        keys(parameter, &["name", "type", "objectType", "dataFlow", "default", "description"]);
        let name = is_identifier(&parameter["name"]);
        let default = parameter["default"].as_str().unwrap();
        assert!(default.chars().count() <= 1024);
        match parameter["type"].as_str().unwrap() {
            "PATH" => {
                assert_eq!(parameter["objectType"], "DIRECTORY");
                assert!(["IN", "OUT"].contains(&parameter["dataFlow"].as_str().unwrap()));
                let place = Path::new(default);
                assert!(place.is_relative() && !default.contains(".."), "{default}");
            }
            other => assert_eq!(other, "STRING"),
        }
        assert!(!known.contains(&format!("Param.{name}")), "{name} twice");
        known.push(format!("Param.{name}"));
    }
    let action = |value: &Value, known: &[String]| {
        keys(value, &["command", "args", "cancelation", "timeout"]);
        keys(&value["cancelation"], &["mode", "notifyPeriodInSeconds"]);
        assert_eq!(value["cancelation"]["mode"], "NOTIFY_THEN_TERMINATE");
        assert!(
            (1..=600).contains(&value["cancelation"]["notifyPeriodInSeconds"].as_u64().unwrap())
        );
        let mut texts = vec![value["command"].as_str().unwrap()];
        texts.extend(value["args"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()));
        for text in texts {
            assert!(!text.starts_with('/'), "no absolute path: {text}");
            for reference in text.split("{{").skip(1) {
                let (name, _) = reference.split_once("}}").expect("an end of the reference");
                assert!(known.contains(&name.trim().to_owned()), "{name} is not defined");
            }
        }
    };
    for environment in template["jobEnvironments"].as_array().unwrap() {
        keys(environment, &["name", "variables", "script"]);
        is_name(&environment["name"]);
        if let Some(enter) = environment.pointer("/script/actions/onEnter") {
            action(enter, &known);
        }
    }
    let mut steps: Vec<String> = Vec::new();
    for step in template["steps"].as_array().unwrap() {
        keys(step, &["name", "parameterSpace", "script", "dependencies"]);
        let mut known = known.clone();
        let space = step.pointer("/parameterSpace/taskParameterDefinitions");
        for parameter in space.and_then(Value::as_array).into_iter().flatten() {
            keys(parameter, &["name", "type", "range"]);
            assert_eq!(parameter["type"], "STRING");
            let values = parameter["range"].as_array().unwrap();
            assert!((1..=1024).contains(&values.len()));
            known.push(format!("Task.Param.{}", is_identifier(&parameter["name"])));
        }
        action(&step["script"]["actions"]["onRun"], &known);
        for dependency in step["dependencies"].as_array().into_iter().flatten() {
            // Earlier steps alone: no cycle.
            assert!(steps.contains(&is_name(&dependency["dependsOn"])));
        }
        let name = is_name(&step["name"]);
        assert!(!steps.contains(&name), "{name} twice");
        steps.push(name);
    }
}

/// A minimal runner of job templates: resolves references, and runs actions in a folder of its own.
struct Runner {
    template: Value,
    values: BTreeMap<String, String>,
    /// Where the tasks run.
    session: tempfile::TempDir,
}

impl Runner {
    fn new(job: &Path) -> Self {
        let template: Value =
            serde_json::from_slice(&fs::read(job.join("job.json")).unwrap()).unwrap();
        let mut values = BTreeMap::new();
        for parameter in template["parameterDefinitions"].as_array().unwrap() {
            let default = parameter["default"].as_str().unwrap();
            // Paths are relative to the template.
            let value = match parameter["type"] == "PATH" {
                true => job.join(default).display().to_string(),
                false => default.to_owned(),
            };
            values.insert(format!("Param.{}", parameter["name"].as_str().unwrap()), value);
        }
        values.insert("Param.Program".into(), program().into());
        Self { template, values, session: tempfile::tempdir().unwrap() }
    }

    fn step(&self, name: &str) -> &Value {
        let steps = self.template["steps"].as_array().unwrap();
        steps.iter().find(|step| step["name"] == name).expect("the step")
    }

    /// Values of the task parameter of a step.
    fn tasks(&self, step: &str) -> Vec<(String, String)> {
        let parameter = &self.step(step)["parameterSpace"]["taskParameterDefinitions"][0];
        let name = format!("Task.Param.{}", parameter["name"].as_str().unwrap());
        let values = parameter["range"].as_array().unwrap().iter();
        values.map(|value| (name.clone(), value.as_str().unwrap().to_owned())).collect()
    }

    fn command(&self, action: &Value, task: Option<&(String, String)>) -> Command {
        let mut values = self.values.clone();
        values.extend(task.cloned());
        let resolved = |text: &Value| {
            let mut text = text.as_str().unwrap().to_owned();
            for (name, value) in &values {
                text = text.replace(&format!("{{{{{name}}}}}"), value);
            }
            text
        };
        let mut command = Command::new(resolved(&action["command"]));
        command
            .args(action["args"].as_array().unwrap().iter().map(resolved))
            .envs(NO_DEVICE)
            .current_dir(self.session.path());
        let variables = &self.template["jobEnvironments"][0]["variables"];
        for (name, value) in variables.as_object().unwrap() {
            command.env(name, value.as_str().unwrap());
        }
        command
    }

    fn enter(&self) -> Run {
        let action = &self.template["jobEnvironments"][0]["script"]["actions"]["onEnter"];
        finish(self.command(action, None))
    }

    fn task(&self, step: &str, task: Option<&(String, String)>) -> Command {
        self.command(&self.step(step)["script"]["actions"]["onRun"], task)
    }
}

#[test]
fn eight_tasks_of_which_one_is_killed_equal_the_single_run() {
    let dir = folder();
    let options = "--size 96x64 --spp 256";
    let job = format!("job small.glb {options} --samples-per-task 32 --aov depth,samples -o job");
    dir.run_on_host(&job).ok().prints(&["8 tasks", "1 attachment"]);
    let single = format!("render small.glb --renderer path -q {options} --aov depth,samples");
    dir.run_on_host(&format!("{single} -o single.exr")).ok();
    // The job is moved: nothing refers to the original files.
    let farm = Folder::empty();
    fs::rename(dir.at("job"), farm.at("moved")).unwrap();
    fs::remove_file(dir.at("small.glb")).unwrap();
    let runner = Runner::new(&farm.at("moved"));
    check_template(&runner.template);
    runner.enter().ok().prints(&["1 attachment complete"]);
    let tasks = runner.tasks("Render");
    assert_eq!(tasks.len(), 8);
    for (number, task) in tasks.iter().enumerate() {
        let part = farm.at(&format!("moved/output/parts/part.{}.exr", task.1));
        if number == 3 {
            let mut command = runner.task("Render", Some(task));
            let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
            let lines = BufReader::new(child.stdout.take().unwrap()).lines();
            // It has traced some of its samples.
            let mut progress = lines.map_while(Result::ok);
            assert!(progress.any(|line| line.starts_with("openjd_progress: ")));
            child.kill().unwrap();
            // The file of a task is complete or does not exist.
            assert_eq!(child.wait().unwrap().success(), part.exists());
        }
        let run = finish(runner.task("Render", Some(task))).ok();
        assert!(part.exists());
        run.prints(&["openjd_progress: ", "openjd_status: "]);
    }
    assert_eq!(runner.step("Merge")["dependencies"][0]["dependsOn"], "Render");
    finish(runner.task("Merge", None)).ok();
    assert!(farm.read("moved/output/picture.exr") == dir.read("single.exr"));
}

#[test]
fn frames_of_chunks_follow_those_of_one_run() {
    let dir = moving_cube();
    let options = "--size 128x64 --set camera.exposure.ev100=6 --quality=standard";
    let job = format!("job cube.gltf {options} --frames 0-47 --chunk 24 --picture a.png -o job");
    dir.run(&job).ok().prints(&["2 tasks"]);
    let template = dir.json("job/job.json");
    check_template(&template);
    let arguments: Vec<&str> = template["steps"][0]["script"]["actions"]["onRun"]["args"]
        .as_array()
        .unwrap()
        .iter()
        .map(|argument| argument.as_str().unwrap())
        .collect();
    // The first frame of the second chunk, and the same of one run.
    let task = |frames: &str, output: &str| {
        let resolved: Vec<String> = arguments
            .iter()
            .map(|argument| {
                argument
                    .replace("{{Task.Param.Frames}}", frames)
                    .replace("{{Param.Output}}", output)
                    .replace("{{Param.Scene}}", "job/scene")
            })
            .collect();
        let words: Vec<&str> = resolved.iter().map(String::as_str).chain(["-q"]).collect();
        dir.run(&words).ok();
    };
    assert_eq!(Runner::new(&dir.at("job")).tasks("Render")[1].1, "24-47");
    task("0-24", "run");
    task("24-24", "chunk");
    dir.run_on_host("compare chunk/a.0024.png run/a.0024.png --json flip.json").ok();
    let flip = dir.json("flip.json")["numbers"]["flip"]["mean"].as_f64().unwrap();
    println!("FLIP at the border {flip:.5}");
    assert!(flip < 0.01, "{flip}");
}

#[test]
fn missing_attachments_are_named() {
    let dir = folder();
    let job = "job small.glb --spp 4 --samples-per-task 2 --size 16x12";
    dir.write("small.look.toml", "[environment]\nfile = \"sky.hdr\"\nlux = 100\n");
    dir.run_on_host(&format!("{job} -o job")).fails(4, &["missing attachment", "sky.hdr"]);
    assert!(!dir.has("job") && dir.listing() == ["small.glb", "small.look.toml"]);
    fs::remove_file(dir.at("small.look.toml")).unwrap();
    let set = "--set environment.file=sky.hdr";
    dir.run_on_host(&format!("{job} {set} -o job")).fails(2, &["sky.hdr", "set it in the look"]);
    dir.run_on_host(&format!("{job} -o job")).ok();
    dir.run_on_host(&format!("{job} -o job")).fails(5, &["job", "not empty"]);
    let check = || dir.run_on_host("job --check job");
    check().ok().prints(&["1 attachment complete"]);
    let runner = Runner::new(&dir.at("job"));
    let scene = dir.read("job/scene/small.glb");
    dir.write("job/scene/small.glb", &scene[..scene.len() - 1]);
    check().fails(4, &["small.glb", "incomplete"]);
    fs::remove_file(dir.at("job/scene/small.glb")).unwrap();
    check().fails(4, &["small.glb", "missing attachment"]);
    let run = runner.enter();
    run.fails(4, &["small.glb", "missing attachment"]);
    run.prints(&["openjd_fail: ", "small.glb"]);
    fs::remove_file(dir.at("job/scene/attachments.json")).unwrap();
    check().fails(4, &["attachments.json", "missing attachment"]);
    dir.write("job/job.json", "{}");
    check().fails(4, &["job.json", "specificationVersion"]);
}

#[test]
fn jobs_need_tasks() {
    let dir = folder();
    let fails = |more: &str, parts: &[&str]| {
        dir.run_on_host(&format!("job small.glb -o job {more}")).fails(2, parts);
    };
    fails("", &["--frames", "--samples-per-task"]);
    fails("--frames 20000 --chunk 2", &["10000 tasks", "1024", "--chunk"]);
    fails("--samples-per-task 1 --spp 4096", &["4096 tasks", "--samples-per-task"]);
    fails("--samples-per-task 8 --renderer raster", &["--renderer raster"]);
    fails("--frames 4 --spp 8", &["--spp", "--renderer path"]);
    fails("--frames 4 --picture a.jpg", &["a.jpg"]);
    fails("--frames 4 --picture b/a.png", &["b/a.png"]);
    fails("--frames 4 --camera {{Param.Program}}", &["{{"]);
    assert_eq!(dir.listing(), ["small.glb"]);
    let builtin = "job builtin:street --frames 4-9 --chunk 4 --renderer path --spp 2 -o job";
    dir.run_on_host(builtin).ok().prints(&["2 tasks", "0 attachments"]);
    check_template(&dir.json("job/job.json"));
    dir.run_on_host("job --check job").ok().prints(&["no attachments"]);
}

/// The program `openjd` of the Python package `openjd-cli`, by `OPENJD` or in `PATH`.
fn openjd() -> Option<String> {
    let program = env::var("OPENJD").unwrap_or_else(|_| "openjd".into());
    Command::new(&program).arg("--version").output().ok()?.status.success().then_some(program)
}

#[test]
fn the_reference_program_runs_the_template() {
    let Some(openjd) = openjd() else {
        println!("skipped: no program openjd in PATH or OPENJD (Python package openjd-cli)");
        return;
    };
    let dir = folder();
    let options = "--size 32x24 --spp 8";
    dir.run_on_host(&format!("job small.glb {options} --samples-per-task 2 -o job")).ok();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&openjd);
        command.args(arguments).current_dir(dir.path()).envs(NO_DEVICE);
        finish(command).ok()
    };
    run(&["check", "job/job.json"]);
    let parameter = format!("Program={}", program());
    run(&["run", "job/job.json", "--job-param", &parameter]);
    path(&dir, "-o whole.exr --spp 8").ok();
    assert!(dir.read("job/output/picture.exr") == dir.read("whole.exr"));
}
