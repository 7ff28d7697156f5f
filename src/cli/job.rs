//! `sunny16 job`: a self-contained job for render farms, as a template of Open Job Description.

use std::{
    collections::BTreeMap,
    fs,
    path::{Component, Path, PathBuf},
};

use clap::Args;

use super::{
    error::CliError,
    fraction::Fraction,
    frame_numbers::{FrameRequest, MAX_FRAMES, list_text},
    job_template::{JobTemplate, Tasks, check_tasks, literal, read, sample_tasks},
    path_args::MAX_SAMPLES,
    render_args::RendererKind,
    scene_args::SceneArgs,
};
use crate::{
    message::{self, counted},
    output::{self, OutputError},
    reference::{Fingerprint, SampleRange},
    scene::look,
    session::{self, CollectError, Collected, part::PartError},
};

/// Name of the template in the folder of a job.
const TEMPLATE: &str = "job.json";

/// Name of the folder of the scene.
const SCENE: &str = "scene";

/// Name of the list of attachments in the folder of the scene.
const ATTACHMENTS: &str = "attachments.json";

/// Maximum size of an attachment in bytes.
const MAX_FILE: u64 = 1 << 36;

#[derive(Args, Debug)]
pub struct JobArgs {
    /// Folder to write; it must be empty or not exist.
    #[arg(short, long, value_name = "DIR", required_unless_present = "check")]
    output: Option<PathBuf>,
    /// Check a job: its template and that all attachments exist and are complete. DIR is the folder
    /// of a job, or that of its scene.
    #[arg(long, value_name = "DIR", exclusive = true)]
    check: Option<PathBuf>,
    /// Name of the picture: .png or .exr, in the folder `output` of the job. A sequence has
    /// numbered files, as `render --frames` writes them.
    #[arg(long, value_name = "NAME", default_value = "picture.exr")]
    picture: PathBuf,
    /// Renderer [default: raster with --frames, path with --samples-per-task].
    #[arg(long, value_enum)]
    renderer: Option<RendererKind>,
    /// Frames of a sequence, as of `render --frames`.
    #[arg(long, value_name = "LIST", value_parser = FrameRequest::parse,
          conflicts_with = "samples_per_task")]
    frames: Option<FrameRequest>,
    /// Number of the first picture, if --frames is a count, 0 to 1000000 [default: 0].
    #[arg(long, value_name = "N", requires = "frames",
          value_parser = clap::value_parser!(u32).range(..=i64::from(MAX_FRAMES)))]
    start_frame: Option<u32>,
    /// Frames of a task, 1 to 1000000 [default: 16]. Each task renders the warm-up before its
    /// first frame.
    #[arg(long, value_name = "N", requires = "frames",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_FRAMES)))]
    chunk: Option<u32>,
    /// Frames to render before the first picture of each task, as of `render --warm-up`.
    #[arg(long, value_name = "N", requires = "frames",
          value_parser = clap::value_parser!(u32).range(..=1000))]
    warm_up: Option<u32>,
    /// Frame rate of a sequence in pictures per second [default: 24].
    #[arg(long, value_name = "N", requires = "frames")]
    fps: Option<f64>,
    /// Samples per pixel of the path tracer, 1 to 16777216 [default: 256].
    #[arg(long, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_SAMPLES)))]
    spp: Option<u32>,
    /// Samples of a task: each renders a part of the samples of a still, and a last step merges
    /// them. A power of two gives the smallest parts.
    #[arg(long, value_name = "N",
          value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_SAMPLES)))]
    samples_per_task: Option<u32>,
    /// Maximum path length of the path tracer, as of `render --bounces`.
    #[arg(long, value_name = "N")]
    bounces: Option<u32>,
    /// Random seed of the path tracer [default: 0].
    #[arg(long, value_name = "N")]
    seed: Option<u32>,
    /// Relative error in percent: the merge prints whether it is reached, and the samples of the
    /// next round.
    #[arg(long, value_name = "PERCENT", value_parser = Fraction::parse_percent,
          requires = "samples_per_task")]
    target_error: Option<Fraction>,
    /// Additional outputs, as of `render --aov`.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    aov: Vec<String>,
    /// Write exposed and white-balanced values to EXRs instead of nits.
    #[arg(long)]
    exposed: bool,
    #[command(flatten)]
    scene: SceneArgs,
}

pub fn run(args: &JobArgs) -> Result<(), CliError> {
    match (&args.check, &args.output) {
        (Some(folder), _) => check(folder),
        (None, Some(folder)) => write(args, folder),
        (None, None) => Err(CliError::Usage("no output; add -o DIR".into())),
    }
}

/// The tasks, the name of their option, and the renderer.
fn tasks(args: &JobArgs) -> Result<(Tasks, RendererKind), CliError> {
    if let Some(count) = args.samples_per_task {
        if args.renderer == Some(RendererKind::Raster) {
            let message = "--samples-per-task splits the samples of the path tracer; omit \
                           --renderer raster, or choose --frames";
            return Err(CliError::Usage(message.into()));
        }
        let whole = SampleRange { first: 0, end: args.spp.unwrap_or(256) };
        check_tasks(whole.count().div_ceil(count) as usize, "--samples-per-task")?;
        let tasks = Tasks { parameter: "Samples", values: sample_tasks(whole, count) };
        return Ok((tasks, RendererKind::Path));
    }
    let Some(frames) = &args.frames else {
        let message = "a job needs tasks: add --frames LIST for a sequence, or \
                       --samples-per-task N for a path-traced still";
        return Err(CliError::Usage(message.into()));
    };
    let numbers = frames.numbers(args.start_frame).map_err(CliError::Usage)?;
    let chunk = args.chunk.unwrap_or(16) as usize;
    check_tasks(numbers.len().div_ceil(chunk), "--chunk")?;
    let renderer = args.renderer.unwrap_or(RendererKind::Raster);
    let is_raster = renderer == RendererKind::Raster;
    for (given, name) in [
        (args.spp.is_some(), "--spp"),
        (args.bounces.is_some(), "--bounces"),
        (args.seed.is_some(), "--seed"),
    ] {
        if given && is_raster {
            return Err(CliError::Usage(format!(
                "{name} is an option of the path tracer (--renderer path); omit it, or choose that \
                 renderer"
            )));
        }
    }
    let values = numbers.chunks(chunk).map(list_text).collect();
    Ok((Tasks { parameter: "Frames", values }, renderer))
}

/// Checks that no --set names a file, which would be no attachment.
fn check_overrides(set: &[String]) -> Result<(), CliError> {
    for assignment in set {
        let (path, value) = assignment.split_once('=').unwrap_or((assignment, ""));
        if look::is_file_property(path.trim(), value.trim()) {
            return Err(CliError::Usage(format!(
                "--set {assignment}: the file would be no attachment of the job; set it in the look"
            )));
        }
    }
    Ok(())
}

fn write(args: &JobArgs, folder: &Path) -> Result<(), CliError> {
    let exr = output::has_extension(&args.picture, "exr");
    if args.picture.file_name() != Some(args.picture.as_os_str())
        || !exr && !output::has_extension(&args.picture, "png")
    {
        return Err(CliError::Usage(format!(
            "invalid --picture '{}': expected a name that ends in .png or .exr",
            args.picture.display()
        )));
    }
    let (tasks, renderer) = tasks(args)?;
    check_overrides(&args.scene.set)?;
    let request = args.scene.request();
    let has_files = request.builtin()?.is_none();
    if !has_files && args.scene.look.is_some() {
        return Err(CliError::Usage(format!(
            "--look of {}: a built-in scene has no attachments; write the demo as files with \
             `sunny16 demos`, and use these",
            request.name()
        )));
    }
    let failed = |error: std::io::Error| {
        let detail = format!("{error}; choose another folder");
        CliError::Output(OutputError { file: folder.display().to_string(), detail })
    };
    if fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(failed(std::io::Error::other("the folder is not empty")));
    }
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    fs::create_dir_all(parent).map_err(failed)?;
    let temporary = tempfile::Builder::new().prefix(".").suffix(".tmp").tempdir_in(parent);
    let temporary = temporary.map_err(failed)?;
    let draft = temporary.path().join("job");
    fs::create_dir(&draft).map_err(failed)?;
    let collected = if has_files { Some(attach(args, &draft)?) } else { None };
    let template = template(args, tasks, renderer, collected.as_ref())?;
    let (count, text) = (template.tasks.values.len(), template.to_text());
    output::write_text(&draft.join(TEMPLATE), &text)?;
    fs::rename(&draft, folder).map_err(failed)?;
    let files = collected.map_or(0, |collected| collected.files.len());
    println!(
        "{}: job template with {}, {}",
        folder.join(TEMPLATE).display(),
        counted(count, "task"),
        counted(files, "attachment")
    );
    println!("check it: sunny16 job --check {}", folder.display());
    Ok(())
}

/// Copies the scene with its files into the draft of a job, and writes the list of attachments.
fn attach(args: &JobArgs, draft: &Path) -> Result<Collected, CliError> {
    let place = draft.join(SCENE);
    let collected =
        session::collect(&args.scene.request(), &place).map_err(|error| match error {
            CollectError::Session(error) => CliError::Session(error),
            CollectError::Output(error) => CliError::Output(error),
        })?;
    if let Some(first) = collected.missing.first() {
        let more = match collected.missing.len() {
            1 => String::new(),
            count => format!(" (and {} more)", count - 1),
        };
        let detail = format!("a missing attachment: {first}{more}; complete the files");
        return Err(PartError::Unusable { file: args.scene.name(), detail }.into());
    }
    if collected.files.keys().any(|file| file == Path::new(ATTACHMENTS)) {
        let detail = format!("uses a file named {ATTACHMENTS}, as the job's list; rename it");
        return Err(PartError::Unusable { file: args.scene.name(), detail }.into());
    }
    let mut list = BTreeMap::new();
    for file in collected.files.keys() {
        list.insert(file.display().to_string(), fingerprint(&place.join(file))?);
    }
    let text = serde_json::to_string_pretty(&list).unwrap_or_default() + "\n";
    output::write_text(&place.join(ATTACHMENTS), &text)?;
    Ok(collected)
}

/// Fingerprint of a file's bytes, in hexadecimal.
fn fingerprint(file: &Path) -> Result<String, PartError> {
    let bytes = message::read_file(file, MAX_FILE, "an attachment")
        .map_err(|detail| PartError::Unusable { file: file.display().to_string(), detail })?;
    let mut print = Fingerprint::default();
    print.add(&bytes);
    Ok(print.bytes().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The template of a job.
fn template(
    args: &JobArgs,
    tasks: Tasks,
    renderer: RendererKind,
    collected: Option<&Collected>,
) -> Result<JobTemplate, CliError> {
    let scene = match collected {
        Some(collected) => format!("{{{{Param.Scene}}}}/{}", literal(&slashes(&collected.scene))?),
        None => literal(&args.scene.name_or_default())?,
    };
    let root = collected.map(|_| "--root={{Param.Scene}}".to_owned());
    // The collected look is beside the scene.
    let own = SceneArgs { scene: None, look: None, root: None, ..args.scene.clone() };
    let mut shared = vec![scene.clone()];
    shared.extend(root.clone());
    for argument in own.arguments() {
        shared.push(literal(&argument)?);
    }
    let picture = literal(&args.picture.display().to_string())?;
    let picture = format!("--output={{{{Param.Output}}}}/{picture}");
    let mut outputs = Vec::new();
    if !args.aov.is_empty() {
        outputs.push(format!("--aov={}", literal(&args.aov.join(","))?));
    }
    outputs.extend(args.exposed.then(|| "--exposed".to_owned()));
    let optional =
        |name: &str, value: Option<String>| value.map(|value| format!("--{name}={value}"));
    let path = [
        optional("bounces", args.bounces.map(|value| value.to_string())),
        optional("seed", args.seed.map(|value| value.to_string())),
    ];
    let mut render = vec!["render".to_owned()];
    render.extend(shared);
    render.extend(path.into_iter().flatten());
    let parameter = format!("{{{{Task.Param.{}}}}}", tasks.parameter);
    let name = args.scene.name_or_default();
    let name = Path::new(&name).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let name: String = literal(&name)?.chars().take(100).collect();
    let (has_files, name) = (collected.is_some(), format!("sunny16 {name}"));
    if args.samples_per_task.is_some() {
        let spp = args.spp.unwrap_or(256);
        render.extend([
            "--renderer=path".to_owned(),
            format!("--spp={spp}"),
            format!("--samples={parameter}"),
            // A repeated job renders what is missing; parts of another scene fail the merge.
            "--skip-existing".to_owned(),
            format!("--output={{{{Param.Output}}}}/parts/part.{parameter}.exr"),
        ]);
        let mut merge =
            vec!["merge".to_owned(), "{{Param.Output}}/parts".into(), format!("--scene={scene}")];
        merge.extend(root);
        merge.push(picture);
        merge.extend(outputs);
        let target = args.target_error.map(|error| format!("{}%", error.value * 100.0));
        merge.extend(optional("target-error", target));
        return Ok(JobTemplate { name, has_files, tasks, render, merge: Some(merge) });
    }
    let more = [
        optional("warm-up", args.warm_up.map(|value| value.to_string())),
        optional("fps", args.fps.map(|value| value.to_string())),
        optional("spp", args.spp.map(|value| value.to_string())),
        (renderer == RendererKind::Path).then(|| "--renderer=path".to_owned()),
    ];
    render.extend(more.into_iter().flatten());
    render.extend(outputs);
    render.extend([format!("--frames={parameter}"), picture]);
    Ok(JobTemplate { name, has_files, tasks, render, merge: None })
}

/// A relative path with forward slashes.
fn slashes(path: &Path) -> String {
    path.display().to_string().replace('\\', "/")
}

/// Checks the template and the attachments of a job.
fn check(folder: &Path) -> Result<(), CliError> {
    let template = folder.join(TEMPLATE);
    let has_template = template.exists();
    if has_template {
        read(&template)?;
    }
    let scene = [folder.join(SCENE), folder.to_path_buf()];
    let place = scene.iter().find(|place| place.join(ATTACHMENTS).exists());
    let Some(place) = place else {
        // A job of a built-in scene has no attachments.
        let names_scene = has_template
            && fs::read_to_string(&template).is_ok_and(|text| text.contains("{{Param.Scene}}"));
        if has_template && !names_scene {
            println!("{}: no attachments", template.display());
            return Ok(());
        }
        let detail = format!(
            "a missing attachment: no {ATTACHMENTS}; copy the whole folder of the job, as `sunny16 \
             job` writes it"
        );
        return Err(PartError::Unusable { file: folder.display().to_string(), detail }.into());
    };
    let list = place.join(ATTACHMENTS);
    let unusable =
        |detail: String| PartError::Unusable { file: list.display().to_string(), detail };
    let bytes = message::read_file(&list, 1 << 26, "a list of attachments").map_err(unusable)?;
    let files: BTreeMap<String, String> = serde_json::from_slice(&bytes)
        .map_err(|error| unusable(format!("{error}; write the job again")))?;
    for (file, expected) in &files {
        let is_inside = Path::new(file).components().all(|c| matches!(c, Component::Normal(_)));
        if file.is_empty() || !is_inside {
            let detail = format!("'{file}' is not a file in its folder; write the job again");
            return Err(unusable(detail).into());
        }
        let path = place.join(file);
        let wrong = |detail: &str| PartError::Unusable {
            file: path.display().to_string(),
            detail: format!("{detail}; copy the whole folder of the job again"),
        };
        if !path.exists() {
            return Err(wrong("a missing attachment").into());
        }
        if fingerprint(&path)? != *expected {
            return Err(wrong("the attachment was changed or is incomplete").into());
        }
    }
    println!("{}: {} complete", place.display(), counted(files.len(), "attachment"));
    Ok(())
}
