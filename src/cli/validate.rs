//! `sunny16 validate`: checks both renderers against closed forms and other renderers.

use std::{
    collections::BTreeMap,
    fs, iter,
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
    time::Instant,
};

use clap::Args;
use glam::{DVec3, Mat3, Vec3};
use serde_json::json;

use super::{
    device_args::DeviceArgs,
    error::CliError,
    interrupt::{INTERRUPTED, install_interrupt_handler},
    scene_args,
};
use crate::{
    camera::{CameraEffects, Exposure},
    compare::{
        case::{Case, CaseError, RENDERED_IMAGES},
        linear_image::LinearImage,
        validation::{self, CaseImage, CaseImages, Limit},
        validation_report::{CaseResult, report},
    },
    frame::{RenderSettings, Renderer},
    output::{self, ExrLayer},
    reference::{Film, FilmSettings, LensCamera, LightComponents, PathSettings, World},
    session::{self, OpenScene, Session, expose},
    settings::{Choice, Quality, QualityLook},
};

#[derive(Args, Debug)]
pub struct ValidateArgs {
    /// Cases to run, by folder name or part of it [default: all].
    #[arg(value_name = "CASE")]
    cases: Vec<String>,
    /// Folder of the cases, one subfolder each.
    #[arg(long, value_name = "DIR", default_value = "validation/cases")]
    from: PathBuf,
    /// Write a report to this folder, which is created: index.html (self-contained), results.json,
    /// and an EXR in nits of each picture.
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    /// Skip the rasterizer and its checks; needs no Vulkan device.
    #[arg(long)]
    no_raster: bool,
    /// List the cases without running them.
    #[arg(long)]
    list: bool,
    /// Print broken bounds and the summary only.
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    device: DeviceArgs,
}

pub fn run(args: &ValidateArgs) -> Result<(), CliError> {
    let cases = select_cases(args)?;
    if args.list {
        for case in &cases {
            println!("{:24} {}", case.name, case.title);
        }
        return Ok(());
    }
    if let Some(folder) = &args.report {
        fs::create_dir_all(folder).map_err(|error| {
            CliError::Usage(format!(
                "--report {}: cannot create the folder: {error}",
                folder.display()
            ))
        })?;
        output::check_writable(&folder.join("index.html"))?;
    }
    let wants_device = !args.no_raster && cases.iter().any(|case| case.needs("raster"));
    let mut device =
        if wants_device { Some(session::open_device(&args.device.options()?)?) } else { None };
    let info = device.as_ref().map(|renderer| renderer.gpu().info().clone());
    install_interrupt_handler();
    let started = Instant::now();
    let mut all = Vec::new();
    let mut left_out = 0;
    // The path tracer runs one case ahead of the raster renderer, which keeps few cores busy.
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::sync_channel(1);
        scope.spawn(move || {
            for case in cases {
                // The receiver is gone if a case ended the run with an error.
                if sender.send(trace_case(case)).is_err() {
                    break;
                }
            }
        });
        for traced in receiver {
            let done = evaluate_case(traced?, &mut device)?;
            print(args, &done);
            left_out += done.case.checks().saturating_sub(done.rows.len());
            if let Some(folder) = &args.report {
                write_shots(folder, &done)?;
            }
            all.push(done);
        }
        Ok::<_, CliError>(())
    })?;
    let closed = device.map_or(Ok(()), session::close);
    let rows = || all.iter().flat_map(|done| &done.rows);
    let (total, broken) = (rows().count(), rows().filter(|row| !row.holds()).count());
    if let Some(folder) = &args.report {
        let device = info.as_ref().map(|info| info.name.as_str());
        output::write_text(&folder.join("index.html"), &report(&all, device).to_html())?;
        write_results(folder, &all, device)?;
        println!("report: {}", folder.join("index.html").display());
    }
    let seconds = started.elapsed().as_secs_f64();
    let without = if left_out > 0 {
        format!(", {left_out} skipped with the raster renderer")
    } else {
        String::new()
    };
    println!("{} cases, {total} checks, {broken} broken{without}, {seconds:.0} s", all.len());
    closed?;
    if broken > 0 { Err(CliError::BoundsExceeded { broken, total }) } else { Ok(()) }
}

/// The requested cases, sorted by name.
fn select_cases(args: &ValidateArgs) -> Result<Vec<Case>, CliError> {
    let folder = &args.from;
    let oops = |detail: String| CaseError { file: folder.display().to_string(), detail };
    let entries = fs::read_dir(folder).map_err(|error| {
        oops(format!("cannot read the cases: {error}; run in the repository root, or set their folder with --from DIR"))
    })?;
    let mut folders: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.join("case.toml").is_file())
        .collect();
    folders.sort();
    let name = |path: &Path| {
        path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
    };
    let names: Vec<String> = folders.iter().map(|path| name(path)).collect();
    if names.is_empty() {
        return Err(oops(
            "no subfolder has a case.toml; set the folder of the cases with --from DIR".into(),
        )
        .into());
    }
    // A full name selects that case alone; a part of a name selects all matches.
    let asked = |wanted: &String, known: &String| {
        if names.contains(wanted) { known == wanted } else { known.contains(wanted.as_str()) }
    };
    for wanted in &args.cases {
        if !names.iter().any(|known| asked(wanted, known)) {
            return Err(CliError::Usage(format!(
                "unknown case '{wanted}': expected one of {}",
                names.join(", ")
            )));
        }
    }
    let chosen = |known: &String| {
        args.cases.is_empty() || args.cases.iter().any(|wanted| asked(wanted, known))
    };
    folders
        .iter()
        .zip(&names)
        .filter(|(_, name)| chosen(name))
        .map(|(folder, _)| Case::read(folder).map_err(CliError::from))
        .collect()
}

/// Tier of the cases: without denoisers and without light that the closed forms leave out. A case's
/// `set` can select another one.
const TIER: Quality = Quality::Direct;

/// The case's scene with its look; `more` holds further PATH=VALUE assignments.
fn session(case: &Case, more: &[String]) -> Result<OpenScene, CliError> {
    let [width, height] = case.size.map(|side| side as u32);
    let tier = format!("{}={}", QualityLook::PATH, TIER.name());
    let request = session::OpenRequest {
        scene: Some(case.folder.join(&case.scene)),
        look: case.look.as_ref().map(|look| case.folder.join(look)),
        camera: case.camera.clone(),
        size: Some(session::Size { width, height }),
        set: iter::once(&tier).chain(&case.set).chain(more).cloned().collect(),
        ..session::OpenRequest::default()
    };
    scene_args::open_request(&request, false)
}

/// A case with its references and path traced pictures; these need no device.
struct TracedCase {
    case: Case,
    scene: OpenScene,
    shots: CaseImages,
    /// Scene and picture of each expectation with its own properties, by the expectation's index.
    changed: BTreeMap<usize, (OpenScene, CaseImage)>,
    seconds: f64,
}

/// Loads the references and renders the path tracer's pictures of a case.
fn trace_case(case: Case) -> Result<TracedCase, CliError> {
    let started = Instant::now();
    let scene = session(&case, &[])?;
    let mut shots = CaseImages::new();
    for reference in &case.references {
        let picture = LinearImage::load(&case.folder.join(&reference.file).to_string_lossy())?;
        let [width, height] = case.size;
        if (picture.width(), picture.height()) != (width, height) {
            return Err(CaseError {
                file: case.folder.join("case.toml").display().to_string(),
                detail: format!(
                    "size is {width}x{height}, but {} has {}x{} pixels; make them equal",
                    reference.file.display(),
                    picture.width(),
                    picture.height()
                ),
            }
            .into());
        }
        shots.insert(reference.name.clone(), CaseImage { image: picture, variance: None });
    }
    {
        let world = scene.world();
        // Always rendered: the camera meters the path tracer's picture.
        shots.insert("path".into(), path_traced_shot(&case, &scene, &world, true)?);
        if case.needs("path_pixel_centers") {
            shots.insert(
                "path_pixel_centers".into(),
                path_traced_shot(&case, &scene, &world, false)?,
            );
        }
    }
    let mut changed = BTreeMap::new();
    for (number, expect) in case.expects.iter().enumerate() {
        // `shots` holds no raster picture yet.
        if !expect.set.is_empty() && shots.contains_key(&expect.test) {
            let scene = session(&case, &expect.set)?;
            let shot = path_traced_shot(&case, &scene, &scene.world(), expect.test == "path")?;
            changed.insert(number, (scene, shot));
        }
    }
    Ok(TracedCase { case, scene, shots, changed, seconds: started.elapsed().as_secs_f64() })
}

/// Renders the raster pictures of a case and evaluates all checks.
fn evaluate_case(
    traced: TracedCase,
    device: &mut Option<Renderer>,
) -> Result<CaseResult, CliError> {
    let started = Instant::now();
    let TracedCase { case, scene, mut shots, mut changed, seconds } = traced;
    if case.needs("raster")
        && let Some(shot) = raster_shot(&scene, device)?
    {
        shots.insert("raster".into(), shot);
    }
    let exposure = exposure_and_white_balance(&scene, &shots)?.0;
    let mut rows = validation::not_finite(&shots);
    for (number, expect) in case.expects.iter().enumerate() {
        let Some(shot) = shots.get(&expect.test) else { continue };
        let own = match changed.remove(&number) {
            Some(traced) => Some(traced),
            None if !expect.set.is_empty() && device.is_some() => {
                let scene = session(&case, &expect.set)?;
                raster_shot(&scene, device)?.map(|shot| (scene, shot))
            }
            None => None,
        };
        let (scene, shot) = own.as_ref().map_or((&scene, shot), |(scene, shot)| (scene, shot));
        let row = if expect.exposed {
            validation::expected(&case, expect, &exposed(scene, shot)?)
        } else {
            validation::expected(&case, expect, shot)
        };
        rows.push(row.map_err(|detail| in_case(&case, detail))?);
    }
    for bound in &case.bounds {
        if shots.contains_key(&bound.test) && shots.contains_key(&bound.against) {
            let more = validation::bounded(&case, bound, &shots, exposure);
            rows.extend(more.map_err(|detail| in_case(&case, detail))?);
        }
    }
    let seconds = seconds + started.elapsed().as_secs_f64();
    Ok(CaseResult { case, shots, rows, ev100: exposure.ev100().get(), seconds })
}

fn in_case(case: &Case, detail: String) -> CliError {
    CaseError { file: case.folder.join("case.toml").display().to_string(), detail }.into()
}

/// The picture after exposure and white balance; 1 is white.
fn exposed(scene: &OpenScene, shot: &CaseImage) -> Result<CaseImage, CliError> {
    let shots = CaseImages::from([("path".to_string(), shot.clone())]);
    let (exposure, white_balance) = exposure_and_white_balance(scene, &shots)?;
    let seen = |pixel: &[f32; 3]| {
        (white_balance * Vec3::from_array(*pixel) * exposure.multiplier() as f32).to_array()
    };
    let pixels = shot.image.pixels().iter().map(seen).collect();
    let picture = LinearImage::from_nits(shot.image.width(), shot.image.height(), pixels)?;
    // White balance mixes channels, so the variance of luminance is no longer valid.
    Ok(CaseImage { image: picture, variance: None })
}

/// Exposure of a path traced picture (nits): by the dials, else metered from its pixels.
fn path_exposure(scene: &OpenScene, nits: &[DVec3]) -> Result<Exposure, CliError> {
    let size = (scene.size.width as usize, scene.size.height as usize);
    Ok(expose::exposure_from_metering(scene, expose::meter_pixels(scene, nits, size, |_| 1.0)?)?
        .exposure)
}

/// Exposure and white balance: by the dials, else metered from the path tracer's picture.
fn exposure_and_white_balance(
    scene: &OpenScene,
    shots: &CaseImages,
) -> Result<(Exposure, Mat3), CliError> {
    let nits: Vec<DVec3> = shots
        .get("path")
        .map(|shot| shot.image.pixels().iter().map(|p| Vec3::from_array(*p).as_dvec3()).collect())
        .unwrap_or_default();
    let exposure = path_exposure(scene, &nits)?;
    Ok((exposure, expose::white_balance_from_pixels(scene, &nits, scene.size.width as usize)?))
}

/// Camera effects that both renderers support.
fn shared_effects(scene: &OpenScene) -> CameraEffects {
    let CameraEffects { depth_of_field, motion_blur, vignetting, .. } = scene.effects;
    CameraEffects { depth_of_field, motion_blur, vignetting, ..CameraEffects::default() }
}

/// The rasterizer's picture; `None` without a device.
fn raster_shot(
    scene: &OpenScene,
    device: &mut Option<Renderer>,
) -> Result<Option<CaseImage>, CliError> {
    let Some(renderer) = device.take() else { return Ok(None) };
    let mut session = Session::open(renderer, scene.clone())?;
    let exposed = session.determine_exposure(false)?;
    let effects = shared_effects(scene);
    let settings = RenderSettings {
        effects,
        lens: scene.lens.clone(),
        gi: scene.gi(),
        ..scene.settings(exposed.exposure, vec![])
    };
    let picture = session.still(&settings, scene.still_samples(), &mut |_| Ok(()))?;
    *device = Some(session.into_renderer());
    Ok(Some(CaseImage {
        image: LinearImage::from_nits(picture.width, picture.height, picture.nits)?,
        variance: None,
    }))
}

/// The path tracer's picture, with the variance of its luminance.
fn path_traced_shot(
    case: &Case,
    scene: &OpenScene,
    world: &World<'_>,
    pixel_jitter: bool,
) -> Result<CaseImage, CliError> {
    let [width, height] = case.size;
    let camera =
        LensCamera::new(scene.camera.0, scene.camera.1, width, height, &shared_effects(scene))
            .with_lens(scene.lens.clone());
    let walk = PathSettings { bounces: case.bounces, ..PathSettings::default() };
    let mut film = Film::new(
        width,
        height,
        FilmSettings { path: walk, pixel_jitter, ..FilmSettings::default() },
    );
    if !film.add(world, &camera, case.spp, &INTERRUPTED) {
        return Err(CliError::Interrupted(format!(
            "interrupted in case {}; no report was written",
            case.name
        )));
    }
    // Unlit surfaces follow the exposure, and metering excludes them.
    let white = path_exposure(scene, &film.mean(LightComponents::total))?.saturation_luminance();
    let pixels = film.displayed(white).iter().map(|c| c.as_vec3().to_array()).collect();
    Ok(CaseImage {
        image: LinearImage::from_nits(width, height, pixels)?,
        variance: Some(film.variance()),
    })
}

fn print(args: &ValidateArgs, done: &CaseResult) {
    let broken = done.broken();
    if args.quiet && broken == 0 {
        return;
    }
    let verdict = if broken == 0 { "ok".into() } else { format!("{broken} BROKEN") };
    println!(
        "{}: {} ({} checks, {:.1} s): {verdict}",
        done.case.name,
        done.case.title,
        done.rows.len(),
        done.seconds
    );
    for row in done.rows.iter().filter(|row| !args.quiet || !row.holds()) {
        println!(
            "  {:6} {:28} {:11} {:34} {:>26}  {}",
            if row.holds() { "ok" } else { "BROKEN" },
            format!("{} / {}", row.test, row.against),
            row.metric,
            row.region,
            row.shown(),
            row.shown_limit()
        );
    }
}

/// Writes this program's pictures of a case as EXR.
fn write_shots(folder: &Path, done: &CaseResult) -> Result<(), CliError> {
    for (name, shot) in
        done.shots.iter().filter(|(name, _)| RENDERED_IMAGES.contains(&name.as_str()))
    {
        let picture = &shot.image;
        let pixels: Vec<[f32; 4]> =
            picture.pixels().iter().map(|p| [p[0], p[1], p[2], 1.0]).collect();
        let layers = [ExrLayer { name: "", channels: &["R", "G", "B"], pixels: &pixels }];
        let file = folder.join(format!("{}.{name}.exr", done.case.name));
        output::write_exr(&file, picture.width(), picture.height(), 1.0, &layers)?;
    }
    Ok(())
}

fn write_results(folder: &Path, all: &[CaseResult], device: Option<&str>) -> Result<(), CliError> {
    let cases: Vec<_> = all
        .iter()
        .map(|done| {
            let rows: Vec<_> = done
                .rows
                .iter()
                .map(|row| {
                    let (limit, least) = match row.limit {
                        Limit::AtMost(limit) => (limit, false),
                        Limit::AtLeast(limit) => (limit, true),
                    };
                    json!({
                        "test": row.test, "against": row.against, "metric": row.metric, "region": row.region,
                        "figure": row.figure, "noise": row.noise, "limit": limit, "at_least": least,
                        "holds": row.holds(), "why": row.why,
                    })
                })
                .collect();
            json!({ "case": done.case.name, "title": done.case.title, "seconds": done.seconds, "checks": rows })
        })
        .collect();
    let text = json!({ "device": device, "cases": cases });
    let text = serde_json::to_string_pretty(&text)
        .map_err(|error| CliError::Internal(error.to_string()))?;
    Ok(output::write_text(&folder.join("results.json"), &text)?)
}
