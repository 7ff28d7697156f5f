//! `sunny16 render`: a picture or a sequence, by either renderer.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    path::{Path, PathBuf},
    time::Instant,
};

use glam::{DVec3, Mat3};

use super::{
    aov_file::{aov_path, print_aov_files},
    contact_sheet::{self, SheetPicture},
    error::CliError,
    exposure_format::exposure_source,
    frame_numbers::frame_file,
    pace, path, picture_set,
    progress_line::{ProgressLine, duration},
    render_args::{RenderArgs, RendererKind},
    scene_args, video,
    warnings::{warn, warn_exposure, warn_missing_textures, warn_remarks},
};
use crate::{
    frame::{DrawStats, GiSettings, RenderedImage, limits::ShownLimits},
    gi::VplStats,
    gpu_scene::irradiance_volume::IrradianceVolume,
    image_io::RenderMetadata,
    message::counted,
    output::{self, ExrLayer, OutputError},
    photometry::color,
    session::{
        OpenRequest, OpenScene, PictureLayer, SequencePicture, SequenceSettings, Session,
        Turntable, expose::is_adaptive, metadata::DITHER, preview::aov_preview, raster_aovs,
        raster_layers,
    },
};

/// Rejects options that the chosen renderer would ignore.
fn reject_other_renderer_options(args: &RenderArgs) -> Result<(), CliError> {
    let path = [
        (args.path.spp.is_some(), "--spp"),
        (args.path.sample_range.is_some(), "--samples"),
        (args.path.seed.is_some(), "--seed"),
        (args.path.save_every.is_some(), "--save-every"),
        (args.path.bounces.is_some(), "--bounces"),
        (args.path.target_error.is_some(), "--target-error"),
        (args.path.resume, "--resume"),
        (args.path.denoise, "--denoise"),
    ];
    let raster = [
        (args.aa_samples.is_some(), "--aa-samples"),
        (args.times, "--times"),
        (args.warm_up.is_some(), "--warm-up"),
        (args.device.validation, "--validation"),
        (args.device.device.is_some(), "--device"),
    ];
    let (given, of) = match args.renderer {
        RendererKind::Raster => (&path[..], "the path tracer (--renderer path)"),
        RendererKind::Path => (&raster[..], "the raster renderer (--renderer raster)"),
    };
    match given.iter().find(|(given, _)| *given) {
        Some((_, name)) => Err(CliError::Usage(format!(
            "{name} is an option of {of}; omit it, or choose that renderer"
        ))),
        None => Ok(()),
    }
}

/// True if a picture is written as EXR, false for PNG.
pub fn is_exr(output: &Path) -> Result<bool, CliError> {
    let exr = output::has_extension(output, "exr");
    if !exr && !output::has_extension(output, "png") {
        return Err(CliError::Usage(format!(
            "invalid output '{}': expected a name that ends in .png or .exr, which selects the format",
            output.display()
        )));
    }
    Ok(exr)
}

pub fn run(args: &RenderArgs) -> Result<(), CliError> {
    let exr = is_exr(&args.output)?;
    reject_other_renderer_options(args)?;
    if let Some(range) = args.path.sample_range {
        if !exr {
            return Err(CliError::Usage(format!(
                "--samples writes a part, an .exr; the output '{}' is a PNG",
                args.output.display()
            )));
        }
        if let Some(spp) = args.path.spp.filter(|spp| range.end > *spp) {
            return Err(CliError::Usage(format!(
                "--samples {range} is not among --spp {spp}, the samples 0-{}",
                spp - 1
            )));
        }
    }
    if args.exposed && !exr {
        eprintln!("warning: --exposed has no effect on a PNG; write an .exr");
    }
    let begun = Instant::now();
    let is_set = args.all_cameras || !args.matrix.is_empty();
    let runs = if is_set { picture_set::of(args)? } else { vec![(String::new(), args.clone())] };
    let has_collection = !args.contact_sheet.is_empty() || args.video.is_some();
    let pictures = if has_collection { sheet_pictures(&runs)? } else { Vec::new() };
    let ffmpeg = check_collections(args, exr, &pictures)?;
    if has_collection || runs.len() > 1 {
        check_names(args, &runs)?;
    }
    let mut rendered = 0;
    for (caption, run) in &runs {
        if !caption.is_empty() && args.verbose {
            println!("{caption}:");
        }
        rendered += render_pictures(run, exr)?;
    }
    args.contact_sheet.iter().try_for_each(|sheet| contact_sheet::write(sheet, &pictures))?;
    if let (Some(ffmpeg), Some(video)) = (ffmpeg, &args.video) {
        let files: Vec<PathBuf> = pictures.into_iter().map(|picture| picture.file).collect();
        video::write(&ffmpeg, video, &files, args.fps())?;
    }
    if !args.quiet && (args.is_numbered() || is_set) {
        let seconds = duration(begun.elapsed().as_secs_f64());
        println!("{} in {seconds}", counted(rendered, "picture"));
    }
    Ok(())
}

/// All pictures of a set or a sequence with their captions.
fn sheet_pictures(runs: &[(String, RenderArgs)]) -> Result<Vec<SheetPicture>, CliError> {
    let mut pictures = Vec::new();
    for (caption, run) in runs {
        for number in run.numbers()?.unwrap_or_else(|| vec![0]) {
            let file = frame_output(run, number);
            let numbered = match run.turntable {
                Some(count) => {
                    let turn = Turntable { center: DVec3::ZERO, count };
                    format!("{:.0} degrees", turn.degrees(number))
                }
                None if run.frames.is_some() => format!("frame {number}"),
                None => String::new(),
            };
            let parts = [caption.as_str(), &numbered];
            let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            let name = || file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let caption = if parts.is_empty() { name() } else { parts.join(", ") };
            pictures.push(SheetPicture { caption, file });
        }
    }
    Ok(pictures)
}

/// Checks that contact sheets and the video can be written. Returns the path of ffmpeg.
fn check_collections(
    args: &RenderArgs,
    exr: bool,
    pictures: &[SheetPicture],
) -> Result<Option<PathBuf>, CliError> {
    let option = match (args.contact_sheet.is_empty(), &args.video) {
        (false, _) => "--contact-sheet",
        (true, Some(_)) => "--video",
        (true, None) => return Ok(None),
    };
    if exr {
        return Err(CliError::Usage(format!(
            "{option} shows PNGs and the output '{}' is an EXR; choose a .png",
            args.output.display()
        )));
    }
    if args.video.is_some() && !args.is_numbered() {
        let message = "--video needs a sequence; add --frames or --turntable";
        return Err(CliError::Usage(message.into()));
    }
    args.contact_sheet.iter().try_for_each(|sheet| contact_sheet::check(sheet, pictures.len()))?;
    let ffmpeg = args.video.as_deref().map(video::check).transpose()?;
    collections(args).try_for_each(|(_, file)| check_in_existing_folder(file))?;
    Ok(ffmpeg)
}

/// The contact sheets and the video with their options.
fn collections(args: &RenderArgs) -> impl Iterator<Item = (&'static str, &Path)> {
    let sheets = args.contact_sheet.iter().map(|file| ("--contact-sheet", file.as_path()));
    sheets.chain(args.video.as_deref().map(|file| ("--video", file)))
}

/// Checks that a file can be written, if its folder exists. Missing folders are created once the
/// scene is open.
fn check_in_existing_folder(file: &Path) -> Result<(), OutputError> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    if folder.is_none_or(Path::exists) { output::check_writable(file) } else { Ok(()) }
}

/// Checks that all files of the pictures, contact sheets and the video have different names.
fn check_names(args: &RenderArgs, runs: &[(String, RenderArgs)]) -> Result<(), CliError> {
    let names = aov_names(args)?;
    let mut kinds: HashMap<PathBuf, &str> = HashMap::new();
    // The kind of an earlier file with the same name.
    let mut earlier = |file: &Path, kind| {
        let file = std::path::absolute(file).unwrap_or_else(|_| file.to_path_buf());
        kinds.insert(file, kind)
    };
    for (caption, run) in runs {
        for number in run.numbers()?.unwrap_or_else(|| vec![0]) {
            let files = picture_files(run, &names, number);
            let kinds = std::iter::once("a picture").chain(std::iter::repeat("an AOV file"));
            for (file, kind) in files.iter().zip(kinds) {
                if let Some(other) = earlier(file, kind) {
                    return Err(CliError::Usage(format!(
                        "'{caption}': {} is also {other} of this run; choose another name of the \
                         camera, or omit --aov",
                        file.display()
                    )));
                }
            }
        }
    }
    for (option, file) in collections(args) {
        let kind = if option == "--video" { "the video" } else { "a contact sheet" };
        if let Some(other) = earlier(file, kind) {
            return Err(CliError::Usage(format!(
                "{option} {}: the file is also {other} of this run; choose another name",
                file.display()
            )));
        }
    }
    Ok(())
}

/// Names of the requested AOVs.
fn aov_names(args: &RenderArgs) -> Result<Vec<&'static str>, CliError> {
    match args.renderer {
        RendererKind::Raster => {
            Ok(raster_aovs(&args.aov)?.into_iter().map(|aov| aov.name()).collect())
        }
        RendererKind::Path => path::aov_names(&args.aov),
    }
}

/// Renders a still, or the pictures of a sequence or a turntable. Returns their number.
fn render_pictures(args: &RenderArgs, exr: bool) -> Result<usize, CliError> {
    let raster = args.renderer == RendererKind::Raster;
    let aovs = if raster { raster_aovs(&args.aov)? } else { Vec::new() };
    let names = aov_names(args)?;
    let numbers = missing_pictures(args, &names)?;
    let Some(&number) = numbers.first() else { return Ok(0) };
    let (outputs, count) = (picture_files(args, &names, number), numbers.len());
    outputs.iter().try_for_each(|file| check_in_existing_folder(file))?;
    let is_sequence = args.frames.is_some() && args.turntable.is_none();
    let mut request = OpenRequest { is_sequence, fps: args.fps, ..args.scene.request() };
    request.set.extend(args.aa_samples.map(|samples| format!("passes.aa.samples={samples}")));
    let mut opened = scene_args::open_request(&request, args.quiet)?;
    let has_rate = args.frames.is_some() || args.video.is_some() || opened.timeline.is_some();
    if args.fps.is_some() && !has_rate && args.set_place.is_none_or(|place| place.index == 0) {
        eprintln!("warning: --fps has no effect without --frames");
    }
    let left_out = leave_out(args, exr, &mut opened)?;
    let turntable = args.turntable.map(|count| turntable(&opened, count)).transpose()?;
    let files = outputs.iter().map(PathBuf::as_path);
    for file in files.chain(collections(args).map(|(_, file)| file)) {
        output::create_folder(file)?;
        output::check_writable(file)?;
    }
    let sequence = SequenceSettings {
        first: args.scene.time.unwrap_or(0.0),
        fps: args.fps(),
        numbers,
        warm_up: args.warm_up.unwrap_or(0),
        // Frames of a sequence share temporal history; each accumulates several samples only if
        // passes.aa.samples is set.
        samples: match is_sequence {
            false => Some(opened.still_samples()),
            true => opened.sequence_samples(),
        },
        aovs,
        turntable,
    };
    if raster {
        render_raster(args, exr, (opened, sequence), &left_out)?;
        return Ok(count);
    }
    let first_camera = opened.camera.0;
    for &number in &sequence.numbers {
        match &sequence.turntable {
            Some(turntable) => opened.camera.0 = turntable.camera(first_camera, number),
            None if number > 0 => opened.seek(sequence.time(number))?,
            None => {}
        }
        let own = RenderArgs { output: frame_output(args, number), ..args.clone() };
        path::run(&own, exr, &opened, &left_out)?;
    }
    Ok(count)
}

/// The turntable of `count` views around the center of a scene's bounds.
fn turntable(opened: &OpenScene, count: u32) -> Result<Turntable, CliError> {
    let (low, high) = opened.scene.bounds().ok_or_else(|| {
        let message = "--turntable: the scene shows nothing to turn around; omit the option";
        CliError::Usage(message.into())
    })?;
    Ok(Turntable { center: (low + high) / 2.0, count })
}

/// Renders with the rasterizer; `left_out` names the post effects that --for-compare switched off.
fn render_raster(
    args: &RenderArgs,
    exr: bool,
    (opened, sequence): (OpenScene, SequenceSettings),
    left_out: &[&str],
) -> Result<(), CliError> {
    warn_empty_aovs(&args.aov, &opened);
    opened.raster_limits().iter().for_each(|limit| eprintln!("{limit}"));
    let begun = Instant::now();
    let (renderer, notice) = args.device.open_renderer()?;
    let notice = RefCell::new((!args.quiet).then_some(notice));
    let mut session = Session::open(renderer, opened)?;
    // Manual dials are metered too, for the warning about over- and underexposure.
    let exposed = session.determine_exposure(true)?;
    let white_balance = session.white_balance(exposed.exposure)?;
    let warm_up = match args.warm_up {
        Some(frames) => frames,
        None if sequence.turntable.is_some() => 0,
        None => session.opened.default_warm_up(&exposed, sequence.samples, &sequence.aovs)?,
    };
    let sequence = SequenceSettings { warm_up, ..sequence };
    let (is_single, count) = (args.is_single(), sequence.numbers.len());
    let first = sequence.numbers.first().copied();
    let depends = is_adaptive(&session.opened) && sequence.turntable.is_none();
    if depends && first.is_some_and(|number| number > warm_up) && !args.quiet {
        eprintln!(
            "note: automatic exposure starts {} before the first picture; \
             --set camera.exposure.ev100=N gives frames of separate runs the same exposure",
            counted(warm_up as usize, "frame")
        );
    }
    let mut shown_limits = ShownLimits::default();
    let set = args.set_place.unwrap_or_default();
    let (line, pictures) = (RefCell::new(ProgressLine::since(set.begun, args.quiet)), Cell::new(0));
    let progress = &mut |done: f64| {
        drop(notice.take());
        line.borrow_mut().show(|_| {
            let text = match (count, sequence.samples) {
                (1, Some(samples)) => {
                    format!("{:.0} of {samples} samples", done * f64::from(samples))
                }
                _ => format!("{} of {}", pictures.get(), counted(count, "picture")),
            };
            set.of_all(done, text)
        });
        Ok(())
    };
    session.sequence(&sequence, (exposed, white_balance), progress, |session, shot| {
        drop(notice.take());
        pictures.set(pictures.get() + 1);
        line.borrow().clear();
        let is_first = first == Some(shot.number);
        if is_first {
            warn_remarks(session.gpu());
            session.shadow_map_limit().iter().for_each(|limit| eprintln!("{limit}"));
        }
        let file = frame_output(args, shot.number);
        let opened = &session.opened;
        let samples = sequence.samples.unwrap_or(1);
        let metadata = RenderMetadata {
            exposed: args.exposed && exr,
            left_out: left_out.iter().map(|name| (*name).into()).collect(),
            ..opened.raster_metadata(shot.image.exposure, shot.white_balance, samples)
        };
        write((args, &file), exr, &shot.image, shot.white_balance, &metadata)?;
        warn(&shown_limits.select(shot.image.limits.warnings()), args.quiet);
        if args.reports_pictures() {
            report_picture(&file, session, shot);
        }
        if is_single && !args.quiet {
            report_scene(session, shot);
        }
        // Manual dials have one reading for all pictures of a sequence.
        if is_first || shot.exposed.solved.is_some() {
            warn_missing_textures(&session.opened);
            let dials = &session.opened.physical_camera.dials;
            let is_quiet = args.quiet || !is_first || set.count > 1 && !args.verbose;
            warn_exposure(&shot.exposed, dials, is_quiet);
        }
        if args.times && !args.quiet {
            for pass in &shot.image.times {
                println!("{:>10.3} ms  {}", pass.ms, pass.name);
            }
        }
        if args.reports_pictures() && !exr {
            print_aov_files(&file, shot.image.aovs.iter().map(|(aov, _)| aov.name()));
        }
        let gi = session.opened.gi();
        if let Some(volume) = session.irradiance_volume().filter(|_| is_single && !args.quiet) {
            report_volume(volume);
        }
        if let Some(stats) = session.vpl_stats() {
            if is_single && !args.quiet {
                report_vpls(stats);
            }
            if is_first {
                warn_merge_cells(stats, &gi);
                photon_limit(stats).iter().for_each(|limit| eprintln!("{limit}"));
            }
        }
        Ok::<_, CliError>(())
    })?;
    let seconds = begun.elapsed().as_secs_f64();
    if is_single && !args.quiet && pace::is_software(session.gpu()) {
        let opened = &session.opened;
        if let Some(pace) = pace::measure(opened, exposed.exposure, white_balance, seconds) {
            println!("note: {}", pace::sentence(seconds, &pace, opened.size.pixels()));
        }
    }
    Ok(session.close()?)
}

/// Numbers of the pictures to render: the requested ones, without the existing ones if
/// --skip-existing is given; 0 for a still.
fn missing_pictures(args: &RenderArgs, names: &[&str]) -> Result<Vec<u32>, CliError> {
    let mut numbers = args.numbers()?.unwrap_or_else(|| vec![0]);
    if args.skip_existing {
        let (all, first) = (numbers.len(), numbers.first().copied().unwrap_or(0));
        numbers.retain(|number| !is_complete(args, names, *number));
        let existing = all - numbers.len();
        if existing > 0 && !args.quiet {
            match all {
                1 => println!("--skip-existing: {} exists", frame_output(args, first).display()),
                _ => println!("--skip-existing: {existing} of {} exist", counted(all, "picture")),
            }
        }
    }
    Ok(numbers)
}

/// True if all files of a picture exist. An interrupted path tracer leaves a picture and the file
/// from which --resume continues.
fn is_complete(args: &RenderArgs, names: &[&str], number: u32) -> bool {
    let files = picture_files(args, names, number);
    files.iter().all(|file| file.is_file())
        && !files.first().is_some_and(|file| path::resume_file(file).exists())
}

/// The files of a picture: the picture, and those of its AOVs beside a PNG.
fn picture_files(args: &RenderArgs, names: &[&str], number: u32) -> Vec<PathBuf> {
    let picture = frame_output(args, number);
    let beside = if output::has_extension(&picture, "exr") { &[][..] } else { names };
    let aovs: Vec<_> = beside.iter().map(|name| aov_path(&picture, name)).collect();
    std::iter::once(picture).chain(aovs).collect()
}

/// Switches off the post effects with --for-compare, notes and returns those that were on.
fn leave_out(
    args: &RenderArgs,
    exr: bool,
    opened: &mut OpenScene,
) -> Result<Vec<&'static str>, CliError> {
    if !args.for_compare {
        return Ok(Vec::new());
    }
    let mut left_out = opened.leave_out_post_effects()?;
    // An EXR has no dither in any case.
    left_out.retain(|name| !(exr && *name == DITHER));
    if !left_out.is_empty() && !args.quiet {
        eprintln!("note: --for-compare leaves out {}", left_out.join(", "));
    }
    Ok(left_out)
}

/// The file of frame `number` of a sequence; the output for a still.
fn frame_output(args: &RenderArgs, number: u32) -> PathBuf {
    if args.is_numbered() { frame_file(&args.output, number) } else { args.output.clone() }
}

fn write(
    (args, file): (&RenderArgs, &Path),
    exr: bool,
    picture: &RenderedImage,
    white_balance: Mat3,
    metadata: &RenderMetadata,
) -> Result<(), CliError> {
    let size = [picture.width, picture.height];
    if exr {
        let multiplier = picture.exposure.multiplier() as f32;
        // Nits are scene-linear; exposed values are white balanced too.
        let to_file = if args.exposed { white_balance * multiplier } else { Mat3::IDENTITY };
        let layers = raster_layers(picture, to_file);
        let layers: Vec<ExrLayer<'_>> = layers.iter().map(PictureLayer::for_exr).collect();
        let white =
            if args.exposed { picture.exposure.saturation_luminance().get() as f32 } else { 1.0 };
        output::write_exr_with(file, size, white, &layers, Some(metadata))?;
        return Ok(());
    }
    output::write_png_with(file, size, &picture.display, Some(metadata))?;
    for (aov, pixels) in &picture.aovs {
        output::write_png(
            &aov_path(file, aov.name()),
            picture.width,
            picture.height,
            &aov_preview(*aov, pixels, picture.exposure.multiplier() as f32),
        )?;
    }
    Ok(())
}

/// Warns of AOVs whose pass is off: they are 0 everywhere.
fn warn_empty_aovs(aovs: &[String], session: &OpenScene) {
    for (off, prefix, remedy) in [
        (!session.passes().ssr.enabled, "ssr_", "passes.ssr.enabled=true enables reflections"),
        (!session.gi().enabled, "indirect_", "gi.enabled=true enables indirect light"),
    ] {
        if let Some(name) = aovs.iter().find(|name| off && name.starts_with(prefix)) {
            eprintln!("warning: --aov {name} is 0 everywhere; --set {remedy}");
        }
    }
}

/// Prints the line of a picture.
fn report_picture(
    file: &Path,
    session: &Session,
    SequencePicture { image: picture, exposed, .. }: &SequencePicture,
) {
    let opened = &session.opened;
    let camera = picture.exposure.ev100().get();
    println!(
        "{}: {}x{}, camera '{}' at EV100 {camera:.2} ({}), on {}",
        file.display(),
        picture.width,
        picture.height,
        opened.camera_name,
        exposure_source(opened, exposed),
        session.gpu().info().name,
    );
}

/// Prints statistics of a still's scene: draws, lights, ghosts.
fn report_scene(session: &Session, SequencePicture { image: picture, .. }: &SequencePicture) {
    let opened = &session.opened;
    let DrawStats { draws, instances, frustum_culled: outside, occlusion_culled: hidden } =
        picture.draw_stats;
    println!(
        "{}; {} of {}, {outside} outside of the view{}",
        counted(opened.scene.instanced_triangles(), "triangle"),
        counted(draws, "draw"),
        counted(instances, "instance"),
        if hidden > 0 { format!(", {hidden} occluded") } else { String::new() }
    );
    let lists = picture.clustered_light_stats;
    if lists.lights > 0 && lists.clusters > 0 {
        let bounds = opened.settings(picture.exposure, vec![]).clustered_lights;
        println!(
            "{}: {:.1} evaluated per cluster on average, at most {}{}; culling loses at most {:.6} of white at any pixel (limit {:.6}){}",
            counted(lists.lights as usize, "light"),
            lists.evaluated as f64 / f64::from(lists.clusters),
            lists.max_per_cluster,
            if lists.overflowed > 0 {
                format!(" ({} clusters overflowed and evaluate all lights)", lists.overflowed)
            } else {
                String::new()
            },
            lists.max_culled_contribution,
            bounds.cull_threshold,
            if bounds.enabled { "" } else { " (clustered lights are off)" },
        );
    }
    if let Some(ghosts) = picture.ghosts {
        println!(
            "{} ghosts of {} flare sources drawn; {} too faint, with {:.2} % of the ghosts' light; {} outside the picture{}{}",
            ghosts.drawn,
            ghosts.sources,
            ghosts.dropped,
            ghosts.light_dropped * 100.0,
            ghosts.off_screen,
            if ghosts.over_capacity > 0 {
                format!("; {} beyond the buffer's capacity", ghosts.over_capacity)
            } else {
                String::new()
            },
            if ghosts.sources_dropped > 0 {
                format!("; {} fainter sources dropped", ghosts.sources_dropped)
            } else {
                String::new()
            },
        );
    }
}

/// Prints size and spacing of the irradiance volume.
fn report_volume(volume: &IrradianceVolume) {
    let [x, y, z] = volume.grid.counts.to_array();
    println!(
        "indirect light: irradiance volume of {x}x{y}x{z} probes at {:.3} m, {:.1} MB",
        volume.grid.spacing,
        volume.bytes() as f64 * 1e-6,
    );
}

/// Prints statistics of the VPLs.
fn report_vpls(stats: &VplStats) {
    let lumens = color::luminance;
    println!(
        "indirect light: {} VPLs{} of {} photons from {}; {:.0} lm emitted, {:.0} lm reflected in total, {:.0} lm left the scene, {:.2} % lost at the maximum path length",
        stats.kept,
        if stats.kept < stats.created {
            format!(" (merged from {}, in cells of {:.3} m)", stats.created, stats.merge_cell_size)
        } else {
            String::new()
        },
        stats.photons,
        counted(stats.lights as usize, "light"),
        lumens(stats.emitted),
        lumens(stats.stored),
        lumens(stats.escaped),
        lumens(stats.truncated) / lumens(stats.emitted).max(1e-30) * 100.0,
    );
}

/// Warning that the limit of VPLs was reached, which leaves more noise.
fn photon_limit(stats: &VplStats) -> Option<String> {
    (stats.photons < stats.allocated).then(|| {
        format!(
            "indirect light: {} of {} photons fit the limit of VPLs and carry the light of all; \
             lower gi.bounces or gi.vpls",
            stats.photons, stats.allocated
        )
    })
}

/// Warns of a requested cell size that the scene does not allow.
fn warn_merge_cells(stats: &VplStats, requested: &GiSettings) {
    if let Some(cell) = requested.merge_cell_size.filter(|cell| {
        stats.merge_cell_size > 0.0 && (stats.merge_cell_size / cell - 1.0).abs() > 1e-6
    }) {
        println!(
            "warning: gi.merge_cell_size={cell} m is too small or too large for a scene of this size: VPLs are merged in cells of {:.6} m",
            stats.merge_cell_size
        );
    }
}
