//! `sunny16 render --renderer path`: the CPU path tracer.

mod denoise;
mod outputs;
mod part;
mod progress;

use std::{
    path::{Path, PathBuf},
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use self::progress::Progress;
use super::{
    aov_file::print_aov_files,
    error::CliError,
    exposure_format::exposure_source,
    host_memory::available_memory,
    interrupt::{INTERRUPTED, INTERRUPTED_AT, install_interrupt_handler},
    render_args::RenderArgs,
    warnings::{warn_exposure, warn_missing_textures},
};
use crate::{
    camera::{CameraEffects, effects::MotionBlur},
    image_io::RenderMetadata,
    output,
    photometry::lights::Emitter,
    reference::{Film, FilmSettings, LensCamera, PathSettings, SampleRange},
    scene::Scene,
    session::{
        OpenScene, PathAov, PathPicture, PathScene, SessionError, Size,
        expose::{ExposureState, white_balance_from_pixels},
        path_aovs,
        reference::{self, Checkpoint, MAX_SHUTTER_MOMENTS},
    },
};

/// Warning for zero-size lights in a scene with water. Paths refracted at the surface reach lights
/// only by BSDF sampling, which never hits a point or a single direction (docs/water.md).
fn water_point_light_warning(scene: &Scene) -> Option<String> {
    scene.materials.iter().find(|material| material.water.is_some())?;
    let walked = scene.walk();
    let mut names: Vec<String> = walked
        .iter()
        .filter_map(|placed| {
            let light = scene.lights.get(placed.node.light?)?;
            let sizeless = light.emitter() == Emitter::PARALLEL
                || light.emitter().area().is_none() && !light.is_directional();
            let name = if light.name.is_empty() { &placed.node.name } else { &light.name };
            sizeless.then(|| format!("'{name}'"))
        })
        .collect();
    names.sort();
    names.dedup();
    (!names.is_empty()).then(|| {
        format!(
            "warning: {} will not light anything under water: the path tracer cannot connect to zero-size lights through a refractive \
             surface; give suns an angular_diameter (0.533 for the sun; environment.sun.* sets it) and other lights a shape with a radius",
            names.join(", ")
        )
    })
}

/// Checks the options of the path tracer, builds the BVH, and meters automatic dials.
pub fn path_scene<'a>(
    args: &RenderArgs,
    session: &'a OpenScene,
) -> Result<PathScene<'a>, CliError> {
    denoise::check(args.path.denoise)?;
    if let Some(warning) =
        args.path.target_error.and_then(|error| error.ambiguity_note("--target-error"))
    {
        eprintln!("{warning}");
    }
    if let Some(warning) = water_point_light_warning(&session.scene) {
        eprintln!("{warning}");
    }
    let Size { width, height } = session.size;
    let whole = SampleRange { first: 0, end: args.path.samples() };
    let range = args.path.sample_range.unwrap_or(whole);
    let needed = Film::bytes(u64::from(width) * u64::from(height), range);
    if let Some(free) = available_memory().filter(|free| needed > *free) {
        return Err(CliError::Usage(format!(
            "--size {width}x{height} is too large: the film needs {} MiB and {} MiB of memory are free; use a smaller size, or a power of two of samples",
            needed >> 20,
            free >> 20
        )));
    }
    install_interrupt_handler();
    let settings = FilmSettings {
        path: PathSettings {
            bounces: args.path.bounces.unwrap_or(u32::MAX),
            ..PathSettings::default()
        },
        seed: args.path.seed.unwrap_or(0),
        target_error: args.path.target_error.map(|error| error.value),
        ..FilmSettings::default()
    };
    let scene = PathScene::new(session, settings, &INTERRUPTED).map_err(|error| match error {
        SessionError::Canceled => {
            CliError::Interrupted("interrupted while metering; nothing was written".into())
        }
        error => error.into(),
    })?;
    let is_partial = args.path.sample_range.is_some();
    if scene.motion.is_some()
        && (args.path.target_error.is_some() || args.path.resume || is_partial)
    {
        let message = "--samples, --target-error and --resume are not available with animated motion blur; omit them, \
                       or set effects.motion_blur.enabled=false";
        return Err(CliError::Usage(message.into()));
    }
    Ok(scene)
}

/// Renders a picture, or a part of its samples; `left_out` names the post effects that
/// --for-compare switched off.
pub fn run(
    args: &RenderArgs,
    exr: bool,
    session: &OpenScene,
    left_out: &[&str],
) -> Result<(), CliError> {
    let wanted = path_aovs(&args.aov)?;
    let scene = path_scene(args, session)?;
    if let Some(range) = args.path.sample_range {
        return part::render(args, &scene, range);
    }
    let interval = Duration::from_secs_f64(args.path.save_every.unwrap_or(10.0));
    let mut checkpoint = Checkpoint::new(resume_file(&args.output), scene.print, interval);
    let mut film = load_or_create_film(args, &checkpoint, scene.size(), scene.settings)?;
    let seconds = match scene.motion {
        Some(blur) => trace_motion_blur(args, &mut film, session, &scene.camera, &blur),
        None => trace(args, &mut film, &scene, Some(&mut checkpoint)),
    };
    let interrupted = INTERRUPTED.load(Ordering::Relaxed);
    let stopped = INTERRUPTED_AT.get().map_or(Duration::ZERO, Instant::elapsed);
    let exposed = write_picture(args, exr, &scene, &film, left_out, &wanted)?;
    // --skip-existing takes a picture with saved samples for an unfinished one.
    let keeps_samples = args.path.resume && !args.skip_existing;
    if !interrupted && !keeps_samples {
        checkpoint.remove();
    }
    if args.reports_pictures() {
        report(args, &scene, &film, &exposed, seconds);
    }
    warn_picture(args, exr, &scene, &exposed, &wanted);
    if keeps_samples || interrupted {
        // Written after the picture, which matters more if the disk is full.
        checkpoint.write(&film)?;
    }
    if interrupted {
        let (have, of) = (film.samples(), args.path.samples());
        let remedy = match (args.is_single(), scene.motion.is_some()) {
            (true, false) => "with --resume to continue",
            (false, false) => "with --skip-existing --resume to continue",
            (true, true) => "to start over",
            (false, true) => "with --skip-existing to start over with this picture",
        };
        return Err(CliError::Interrupted(format!(
            "interrupted at {have} of {of} samples a pixel, stopped after {:.1} ms; {} holds \
             them; repeat the command {remedy}",
            stopped.as_secs_f64() * 1e3,
            args.output.display(),
        )));
    }
    Ok(())
}

/// Writes the picture of a film with its outputs. Returns its exposure.
pub fn write_picture(
    args: &RenderArgs,
    exr: bool,
    scene: &PathScene<'_>,
    film: &Film,
    left_out: &[&str],
    wanted: &[(&'static str, PathAov)],
) -> Result<ExposureState, CliError> {
    let (session, camera) = (scene.session, &scene.camera);
    let (width, height) = scene.size();
    let interrupted = INTERRUPTED.load(Ordering::Relaxed);
    let exposed = scene.expose(film)?;
    let mut nits = film.displayed(exposed.exposure.saturation_luminance());
    if args.path.denoise && !interrupted {
        let size = (width, height);
        denoise::denoise(&mut nits, &scene.world, camera, size, &scene.settings)?;
    }
    let white_balance = white_balance_from_pixels(session, &nits, width)?;
    let metadata = RenderMetadata {
        exposed: args.exposed && exr,
        denoised: args.path.denoise && !interrupted,
        left_out: left_out.iter().map(|name| (*name).into()).collect(),
        ..session.path_metadata(exposed.exposure, white_balance, film)
    };
    let picture = PathPicture {
        session,
        world: &scene.world,
        camera: camera.pinhole(),
        film,
        nits: &nits,
        exposure: exposed.exposure,
    };
    outputs::write(args, exr, &picture, (white_balance, &metadata), wanted)?;
    Ok(exposed)
}

/// Prints warnings about a picture, and its AOV files.
pub fn warn_picture(
    args: &RenderArgs,
    exr: bool,
    scene: &PathScene<'_>,
    exposed: &ExposureState,
    wanted: &[(&'static str, PathAov)],
) {
    let session = scene.session;
    warn_missing_textures(session);
    warn_exposure(exposed, &session.physical_camera.dials, !args.reports_pictures());
    if args.reports_pictures() {
        if !exr {
            print_aov_files(&args.output, wanted.iter().map(|(name, _)| *name));
        }
        let set = &session.look.effects;
        let blur_alone = session.lens.is_some() && set.sets_depth_of_field();
        warn_unsupported_effects(&scene.effects, set.has_ghosts(), blur_alone);
    }
}

/// File of the resumable film state, beside the picture.
pub fn resume_file(output: &Path) -> PathBuf {
    output::with_suffix(output, ".resume")
}

/// Names of the requested AOVs.
pub fn aov_names(aovs: &[String]) -> Result<Vec<&'static str>, CliError> {
    Ok(path_aovs(aovs)?.into_iter().map(|(name, _)| name).collect())
}

/// The film of the checkpoint with --resume, else an empty one.
fn load_or_create_film(
    args: &RenderArgs,
    checkpoint: &Checkpoint,
    size: (usize, usize),
    settings: FilmSettings,
) -> Result<Film, CliError> {
    let file = checkpoint.file.display();
    let there = checkpoint.file.exists();
    if there && args.path.resume {
        let film = checkpoint.read(size, settings)?;
        if film.samples() >= args.path.samples() {
            eprintln!(
                "{file} already has {} samples a pixel; increase --spp to add more",
                film.samples()
            );
        }
        return Ok(film);
    }
    if there {
        eprintln!(
            "warning: {file} holds an unfinished picture, which this run replaces; use --resume to continue it"
        );
    }
    Ok(Film::new(size.0, size.1, settings))
}

/// Traces the moments of the open shutter. Returns the time in seconds.
fn trace_motion_blur(
    args: &RenderArgs,
    film: &mut Film,
    session: &OpenScene,
    camera: &LensCamera,
    blur: &MotionBlur,
) -> f64 {
    let started = Instant::now();
    let spp = args.path.samples();
    if spp > MAX_SHUTTER_MOMENTS {
        eprintln!(
            "note: motion blur of objects uses {MAX_SHUTTER_MOMENTS} shutter moments for {spp} samples a pixel"
        );
    }
    reference::trace_motion_blur(film, (session, camera), blur, spp, &INTERRUPTED);
    started.elapsed().as_secs_f64()
}

/// Traces until the sample count or target error is reached, or until interrupted; shows progress
/// and saves the film. Returns the time in seconds.
fn trace(
    args: &RenderArgs,
    film: &mut Film,
    scene: &PathScene<'_>,
    mut checkpoint: Option<&mut Checkpoint>,
) -> f64 {
    let (world, camera) = (&scene.world, &scene.camera);
    let spp = args.path.sample_range.map_or(args.path.samples(), SampleRange::count);
    let mut progress = Progress::new(args.quiet, film, world);
    reference::trace(film, (world, camera), spp, &INTERRUPTED, |film| {
        progress.show(film, world, spp);
        // Tracing continues without a saved state.
        if !reference::is_finished(film, spp)
            && let Some(checkpoint) = &mut checkpoint
            && let Err(error) = checkpoint.write_if_due(film, &INTERRUPTED)
            && !INTERRUPTED.load(Ordering::Relaxed)
        {
            eprintln!("warning: {error}; rendering continues and saving is retried later");
        }
    });
    progress.finish()
}

fn report(
    args: &RenderArgs,
    scene: &PathScene<'_>,
    film: &Film,
    exposed: &ExposureState,
    seconds: f64,
) {
    let (session, world, built) = (scene.session, &scene.world, scene.built);
    let (width, height) = film.size();
    println!(
        "{}: {width}x{height}, camera '{}' at EV100 {:.2} ({}), path traced",
        args.output.display(),
        session.camera_name,
        exposed.exposure.ev100().get(),
        exposure_source(session, exposed),
    );
    println!(
        "{} triangles, BVH built in {:.0} ms; {} samples a pixel, {:.1} on average, in {seconds:.1} s ({:.2} million rays a second); relative error {:.2} %",
        session.scene.instanced_triangles(),
        built * 1e3,
        film.samples(),
        film.total_samples() as f64 / (width * height) as f64,
        world.rays() as f64 / seconds.max(1e-9) / 1e6,
        film.relative_error() * 100.0
    );
    if let Some(target) = film.settings().target_error {
        println!(
            "{:.1} % of the picture is below {} % error",
            film.converged() * 100.0,
            target * 100.0
        );
        if film.converged() < 1.0 {
            println!(
                "note: to continue the rest, use --spp {} with --resume",
                film.samples().saturating_mul(4)
            );
        }
    }
    if film.non_finite_paths() > 0 {
        println!(
            "note: {} paths returned NaN or infinity and were counted as black",
            film.non_finite_paths()
        );
    }
    if film.relative_error() > 0.5 {
        println!(
            "note: an error this large usually comes from a few bright pixels (highlights, caustics); --target-error measures each tile"
        );
    }
}

/// Notes the camera effects that the path tracer does not render.
fn warn_unsupported_effects(effects: &CameraEffects, ghosts: bool, blur_alone: bool) {
    if blur_alone {
        println!(
            "note: effects.depth_of_field.f_stop and .focus affect only the raster renderer; the path tracer with a lens prescription uses camera.lens.*"
        );
    }
    let left: Vec<&str> = [
        (effects.starburst.is_some(), "starbursts"),
        (ghosts, "ghosts"),
        (effects.bloom.is_some(), "bloom"),
        (effects.chromatic_aberration.is_some(), "chromatic aberration"),
        (effects.grain.is_some(), "grain"),
    ]
    .into_iter()
    .filter_map(|(on, name)| on.then_some(name))
    .collect();
    if !left.is_empty() {
        println!(
            "note: the path tracer does not render {}; the raster renderer does",
            left.join(", ")
        );
    }
}

#[cfg(test)]
mod tests {
    use glam::{DMat4, DVec3, Vec2, Vec3};

    use super::*;
    use crate::{
        photometry::{Candela, Lux, lights::LightStrength},
        scene::{
            WaterSettings,
            build::{SceneBuilder, dielectric},
            procedural::shapes,
        },
    };

    #[test]
    fn zero_size_lights_above_water_are_reported() {
        let mut builder = SceneBuilder::new("pool");
        let sheet = builder.add_material(dielectric("sea", Vec3::ONE, 0.0));
        let mesh = builder.add_mesh("sheet", shapes::plane(Vec2::splat(2.0), 1, 1), sheet);
        builder.instance("sheet", mesh, DMat4::IDENTITY);
        builder.light(
            "disk",
            Emitter::SUN,
            LightStrength::Lux(Lux(1e5)),
            Vec3::ONE,
            DMat4::IDENTITY,
        );
        let shape = Emitter::Sphere { radius: 0.1 };
        builder.light(
            "ball",
            shape,
            LightStrength::Candela(Candela(1.0)),
            Vec3::ONE,
            DMat4::IDENTITY,
        );
        let with_size = builder.clone();
        builder.light(
            "flat",
            Emitter::PARALLEL,
            LightStrength::Lux(Lux(1e5)),
            Vec3::ONE,
            DMat4::IDENTITY,
        );
        builder.point_light_candela("spark", Candela(1.0), Vec3::ONE, DVec3::Y);
        let told = |builder: SceneBuilder, wet: bool| {
            let mut scene = builder.build().unwrap();
            if wet {
                scene.add_water(0, &WaterSettings::default()).unwrap();
            }
            water_point_light_warning(&scene)
        };
        assert_eq!(told(builder.clone(), false), None);
        assert_eq!(told(with_size, true), None);
        let warning = told(builder, true).unwrap();
        assert!(
            warning.contains("'flat', 'spark'")
                && !warning.contains("ball")
                && !warning.contains("disk"),
            "{warning}"
        );
    }
}
