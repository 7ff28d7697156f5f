//! `sunny16 merge`: joins parts of the path tracer's samples to the picture of all of them.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::Ordering,
    time::Instant,
};

use clap::{Args, Parser};

use super::{
    error::CliError, exposure_format::exposure_source, fraction::Fraction, interrupt::INTERRUPTED,
    job_template, path, path_args::MAX_SAMPLES, render::is_exr, render_args::RenderArgs,
    scene_args,
};
use crate::{
    message::counted,
    output,
    reference::{Film, SampleRange, missing_samples},
    session::{
        OpenScene,
        expose::ExposureState,
        part::{self, PartError, PartFile},
        path_aovs,
    },
};

#[derive(Args, Debug)]
pub struct MergeArgs {
    /// Parts, as `render --samples` writes them; a folder stands for its .exr files.
    #[arg(required = true)]
    parts: Vec<PathBuf>,
    /// Output picture: .png (tone mapped, sRGB) or .exr (32-bit float, scene-linear Rec.709 in
    /// nits).
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Write exposed and white-balanced values to the EXR instead of nits.
    #[arg(long)]
    exposed: bool,
    /// Additional outputs of the path tracer, as of `render --aov`.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    aov: Vec<String>,
    /// Scene of the parts [default: the file from which they were rendered].
    #[arg(long, value_name = "FILE")]
    scene: Option<PathBuf>,
    /// Look file of the parts [default: that with which they were rendered].
    #[arg(long, value_name = "FILE")]
    look: Option<PathBuf>,
    /// Root folder of the scene's files [default: that with which the parts were rendered].
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Override a property of the look that does not change the light, such as exposure, white
    /// balance or tone mapper; repeatable.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Relative error in percent, e.g. 1%: prints whether the picture has reached it, and the
    /// samples of the next round.
    #[arg(long, value_name = "PERCENT", value_parser = Fraction::parse_percent)]
    target_error: Option<Fraction>,
    /// Job template of the parts, as `sunny16 job` writes it. If the target error is not reached,
    /// the template of the next round is written beside it, as NAME.next.json.
    #[arg(long, value_name = "FILE", requires = "target_error")]
    job: Option<PathBuf>,
    /// Print warnings and errors only.
    #[arg(short, long)]
    quiet: bool,
}

/// The arguments of a part as those of `render`.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct RenderCommand {
    #[command(flatten)]
    args: RenderArgs,
}

pub fn run(args: &MergeArgs) -> Result<(), CliError> {
    let exr = is_exr(&args.output)?;
    let wanted = path_aovs(&args.aov)?;
    let parts = part::sort(open_parts(&args.parts)?)?;
    let Some(first) = parts.first() else {
        return Err(CliError::Usage("no parts: the folder has no .exr file".into()));
    };
    check_version(first)?;
    output::create_folder(&args.output)?;
    output::check_writable(&args.output)?;
    let own = render_args(args, first)?;
    let begun = Instant::now();
    let opened = scene_args::open_request(&own.scene.request(), args.quiet)?;
    let scene = path::path_scene(&own, &opened)?;
    let (width, height) = scene.size();
    if !first.is_of(&scene.print) || first.size != [width, height] {
        let (scene, part) = (opened.request.name(), first.file.display().to_string());
        return Err(PartError::OtherScene { scene, part }.into());
    }
    let mut film = Film::new(width, height, scene.settings);
    for part in &parts {
        part.append_to(&mut film)?;
        if INTERRUPTED.load(Ordering::Relaxed) {
            let text = "interrupted; nothing is written: run the same command again";
            return Err(CliError::Interrupted(text.into()));
        }
    }
    let exposed = path::write_picture(&own, exr, &scene, &film, &[], &wanted)?;
    let ranges: Vec<SampleRange> = parts.iter().map(|part| part.range).collect();
    warn_missing(&parts, &ranges, &film);
    warn_overrides(args, &own, &parts)?;
    if !args.quiet {
        let seconds = begun.elapsed().as_secs_f64();
        report(args, (&opened, &film), &exposed, parts.len(), seconds);
    }
    path::warn_picture(&own, exr, &scene, &exposed, &wanted);
    match args.target_error {
        Some(target) => compare_error(args, target, &ranges, &film),
        None => Ok(()),
    }
}

/// Checks that this version of the program rendered a part: another may sample differently.
fn check_version(part: &PartFile) -> Result<(), PartError> {
    let (own, other) = (env!("CARGO_PKG_VERSION"), &part.header.version);
    if other == own {
        return Ok(());
    }
    let file = part.file.display().to_string();
    let detail = format!(
        "rendered by version {other} of sunny16, this is {own}; merge with the same version"
    );
    Err(PartError::Unusable { file, detail })
}

/// The parts of all arguments; folders are replaced by their .exr files, sorted by name.
fn open_parts(arguments: &[PathBuf]) -> Result<Vec<PartFile>, PartError> {
    let mut parts = Vec::new();
    for argument in arguments {
        let unusable = |error: std::io::Error| PartError::Unusable {
            file: argument.display().to_string(),
            detail: crate::message::unreadable(&error),
        };
        let files = if argument.is_dir() {
            let entries = fs::read_dir(argument).map_err(unusable)?;
            let files: Result<Vec<PathBuf>, _> = entries.map(|e| Ok(e?.path())).collect();
            let mut files = files.map_err(unusable)?;
            files.retain(|file| output::has_extension(file, "exr") && file.is_file());
            files.sort();
            files
        } else {
            vec![argument.clone()]
        };
        for file in files {
            parts.push(PartFile::open(&file)?);
        }
    }
    Ok(parts)
}

/// The arguments of `render` that make the picture of all parts.
fn render_args(args: &MergeArgs, part: &PartFile) -> Result<RenderArgs, CliError> {
    let text = |path: &Path| path.display().to_string();
    let fixed = ["--renderer=path".to_owned(), format!("--output={}", text(&args.output))];
    let all = fixed.into_iter().chain(part.header.arguments.iter().cloned());
    let parsed = RenderCommand::try_parse_from(all).map_err(|error| PartError::Unusable {
        file: text(&part.file),
        detail: format!(
            "invalid arguments in its header: {}",
            error.to_string().lines().next().unwrap_or_default()
        ),
    })?;
    let mut own = parsed.args;
    own.exposed = args.exposed;
    own.quiet = args.quiet;
    own.aov.clone_from(&args.aov);
    own.scene.scene = args.scene.clone().or(own.scene.scene);
    own.scene.root = args.root.clone().or(own.scene.root);
    if args.look.is_some() {
        (own.scene.look, own.scene.no_look) = (args.look.clone(), false);
    }
    own.scene.set.extend(args.set.iter().cloned());
    Ok(own)
}

/// Warns of samples that no part has.
fn warn_missing(parts: &[PartFile], ranges: &[SampleRange], film: &Film) {
    let of = parts.iter().map(|part| part.header.of.max(part.range.end)).max().unwrap_or(0);
    let missing = missing_samples(ranges, SampleRange { first: 0, end: of });
    if !missing.is_empty() {
        let names: Vec<String> = missing.iter().map(ToString::to_string).collect();
        eprintln!(
            "warning: the samples {} are missing: the picture is the mean of {} of {of} samples a \
             pixel; render them with --samples and merge again",
            names.join(", "),
            film.samples()
        );
    }
}

/// Warns of parts with other overrides of the look, such as another exposure. They have the same
/// light, and the picture has the values of the first part, `own`.
fn warn_overrides(args: &MergeArgs, own: &RenderArgs, parts: &[PartFile]) -> Result<(), CliError> {
    let Some((first, rest)) = parts.split_first() else { return Ok(()) };
    for other in rest {
        if render_args(args, other)?.scene.set != own.scene.set {
            eprintln!(
                "warning: {} and {} have different values of --set; the picture has those of the \
                 first; override them with --set",
                first.file.display(),
                other.file.display()
            );
            break;
        }
    }
    Ok(())
}

/// Prints what was merged.
fn report(
    args: &MergeArgs,
    (opened, film): (&OpenScene, &Film),
    exposed: &ExposureState,
    parts: usize,
    seconds: f64,
) {
    let (width, height) = film.size();
    println!(
        "{}: {width}x{height}, camera '{}' at EV100 {:.2} ({}), merged from {} in {seconds:.1} s",
        args.output.display(),
        opened.camera_name,
        exposed.exposure.ev100().get(),
        exposure_source(opened, exposed),
        counted(parts, "part"),
    );
    println!(
        "{} samples a pixel; relative error {:.2} %",
        film.samples(),
        film.relative_error() * 100.0
    );
    if film.non_finite_paths() > 0 {
        println!(
            "note: {} paths returned NaN or infinity and were counted as black",
            film.non_finite_paths()
        );
    }
}

/// The samples after `end` that reduce the error of `have` samples to the target, in whole tasks of
/// `per_task`: the error falls at least with the root of the number of samples.
fn next_round(have: u32, end: u32, per_task: u32, ratio: f64) -> Option<SampleRange> {
    let needed = f64::from(have) * ratio * ratio - f64::from(have);
    let tasks = (needed / f64::from(per_task.max(1))).ceil().max(1.0);
    let last = f64::from(end) + tasks * f64::from(per_task.max(1));
    let end_of_all = last.min(f64::from(MAX_SAMPLES)) as u32;
    (end_of_all > end).then_some(SampleRange { first: end, end: end_of_all })
}

/// Prints whether the target error is reached, and writes the job of the next round.
fn compare_error(
    args: &MergeArgs,
    target: Fraction,
    ranges: &[SampleRange],
    film: &Film,
) -> Result<(), CliError> {
    if let Some(note) = target.ambiguity_note("--target-error") {
        eprintln!("{note}");
    }
    let error = film.relative_error();
    let texts = [error, target.value].map(|value| format!("{:.2} %", value * 100.0));
    let [stated, wanted] = texts;
    if error <= target.value {
        println!("the relative error {stated} is within the target {wanted}");
        return Ok(());
    }
    let end = ranges.last().map_or(0, |range| range.end);
    let per_task = ranges.iter().map(|range| range.count()).max().unwrap_or(1);
    let Some(next) = next_round(film.samples(), end, per_task, error / target.value) else {
        println!(
            "the relative error {stated} exceeds the target {wanted} at {end} samples, the maximum"
        );
        return Ok(());
    };
    println!(
        "the relative error {stated} exceeds the target {wanted}; next round: --samples {next} of \
         --spp {}",
        next.end
    );
    let Some(job) = &args.job else { return Ok(()) };
    let text = job_template::next_round(job, next, per_task)?;
    let file = output::replace_extension(job, "next.json");
    output::write_text(&file, &text)?;
    println!("{}: job template of the next round", file.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_round_has_whole_tasks() {
        let next =
            |have, end, ratio| next_round(have, end, 32, ratio).map(|range| range.to_string());
        assert_eq!(next(256, 256, 2.0).as_deref(), Some("256-1023"));
        assert_eq!(next(256, 256, 1.01).as_deref(), Some("256-287"));
        assert_eq!(next(224, 256, 1.0).as_deref(), Some("256-287"), "at least one task");
        assert_eq!(next(256, MAX_SAMPLES - 32, 9.0).as_deref(), Some("16777184-16777215"));
        assert_eq!(next(256, MAX_SAMPLES, 2.0), None);
    }
}
