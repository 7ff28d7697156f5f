//! `sunny16 render`: a picture or a sequence, by either renderer.

use std::time::Instant;

use glam::{Mat3, Vec3};

use super::{
    aov_file::{aov_path, print_aov_files},
    error::CliError,
    exposure_format::exposure_source,
    pace, path,
    render_args::{RenderArgs, RendererKind},
    scene_args,
    warnings::{warn, warn_exposure, warn_missing_textures, warn_remarks},
};
use crate::{
    frame::{Aov, DrawStats, GiSettings, RenderedImage, limits::ShownLimits},
    gi::VplStats,
    gpu_scene::irradiance_volume::IrradianceVolume,
    image_io::RenderMetadata,
    message::counted,
    output::{self, ExrLayer},
    passes::gbuffer_channel::GbufferChannel,
    photometry::color,
    session::{
        OpenRequest, OpenScene, SequencePicture, SequenceSettings, Session, metadata::DITHER,
        preview::aov_preview,
    },
};

/// Rejects options that the chosen renderer would ignore.
fn reject_other_renderer_options(args: &RenderArgs) -> Result<(), CliError> {
    let path = [
        (args.path.spp.is_some(), "--spp"),
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

pub fn run(args: &RenderArgs) -> Result<(), CliError> {
    let exr = output::has_extension(&args.output, "exr");
    if !exr && !output::has_extension(&args.output, "png") {
        return Err(CliError::Usage(format!(
            "invalid output '{}': expected a name that ends in .png or .exr, which selects the format",
            args.output.display()
        )));
    }
    reject_other_renderer_options(args)?;
    if args.exposed && !exr {
        eprintln!("warning: --exposed has no effect on a PNG; write an .exr");
    }
    if args.fps.is_some() && args.frames.is_none() {
        eprintln!("warning: --fps has no effect without --frames");
    }
    let fps = args.fps.unwrap_or(24.0);
    let raster = args.renderer == RendererKind::Raster;
    let aovs = if raster { parse_aovs(&args.aov)? } else { Vec::new() };
    let names = if raster {
        aovs.iter().map(|aov| aov.name()).collect()
    } else {
        path::aov_names(&args.aov)?
    };
    check_outputs(args, exr, &names)?;
    let first = args.scene.time.unwrap_or(0.0);
    let mut request = OpenRequest { is_sequence: args.frames.is_some(), ..args.scene.request() };
    request.set.extend(args.aa_samples.map(|samples| format!("passes.aa.samples={samples}")));
    let mut opened = scene_args::open_request(&request, args.quiet)?;
    let left_out = leave_out(args, exr, &mut opened)?;
    let count = args.frames.unwrap_or(1);
    if args.renderer == RendererKind::Path {
        for number in 0..count {
            if number > 0 {
                opened.seek(first + f64::from(number) / fps)?;
            }
            path::run(&sequence_frame_args(args, number), exr, &opened, &left_out)?;
        }
        return Ok(());
    }
    warn_empty_aovs(&args.aov, &opened);
    opened.raster_limits().iter().for_each(|limit| eprintln!("{limit}"));
    // Frames of a sequence share temporal history; each accumulates several samples only if
    // passes.aa.samples is set.
    let samples = match args.frames {
        None => Some(opened.still_samples()),
        Some(_) => opened.sequence_samples(),
    };
    let sequence = SequenceSettings { first, fps, count, samples, aovs };
    let begun = Instant::now();
    let (renderer, notice) = args.device.open_renderer()?;
    let mut notice = (!args.quiet).then_some(notice);
    let mut session = Session::open(renderer, opened)?;
    // Manual dials are metered too, for the warning about over- and underexposure.
    let exposed = session.determine_exposure(true)?;
    let white_balance = session.white_balance(exposed.exposure)?;
    let mut shown_limits = ShownLimits::default();
    session.sequence(&sequence, (exposed, white_balance), |session, shot| {
        drop(notice.take());
        if shot.number == 0 {
            warn_remarks(session.gpu());
            session.shadow_map_limit().iter().for_each(|limit| eprintln!("{limit}"));
        }
        let named = sequence_frame_args(args, shot.number);
        let opened = &session.opened;
        let samples = sequence.samples.unwrap_or(1);
        let metadata = RenderMetadata {
            exposed: args.exposed && exr,
            left_out: left_out.iter().map(|name| (*name).into()).collect(),
            ..opened.raster_metadata(shot.image.exposure, white_balance, samples)
        };
        write(&named, exr, &shot.image, white_balance, &metadata)?;
        warn(&shown_limits.select(shot.image.limits.warnings()), args.quiet);
        if !args.quiet {
            report(&named, session, shot);
        }
        // Manual dials have one reading for all pictures of a sequence.
        if !args.quiet || shot.number == 0 || shot.exposed.solved.is_some() {
            warn_missing_textures(&session.opened);
            warn_exposure(&shot.exposed, &session.opened.physical_camera.dials, args.quiet);
        }
        if args.times && !args.quiet {
            for pass in &shot.image.times {
                println!("{:>10.3} ms  {}", pass.ms, pass.name);
            }
        }
        if !args.quiet && !exr {
            print_aov_files(&named.output, shot.image.aovs.iter().map(|(aov, _)| aov.name()));
        }
        let gi = session.opened.gi();
        if let Some(volume) = session.irradiance_volume().filter(|_| !args.quiet) {
            report_volume(volume);
        }
        if let Some(stats) = session.vpl_stats() {
            if !args.quiet {
                report_vpls(stats);
            }
            if shot.number == 0 {
                warn_merge_cells(stats, &gi);
                photon_limit(stats).iter().for_each(|limit| eprintln!("{limit}"));
            }
        }
        Ok::<_, CliError>(())
    })?;
    let (seconds, is_still) = (begun.elapsed().as_secs_f64(), args.frames.is_none());
    if is_still && !args.quiet && pace::is_software(session.gpu()) {
        let opened = &session.opened;
        if let Some(pace) = pace::measure(opened, exposed.exposure, white_balance, seconds) {
            println!("note: {}", pace::sentence(seconds, &pace, opened.size.pixels()));
        }
    }
    Ok(session.close()?)
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

/// Arguments with the output name of frame `number` of a sequence; unchanged without --frames.
fn sequence_frame_args(args: &RenderArgs, number: u32) -> RenderArgs {
    let mut args = args.clone();
    if args.frames.is_some() {
        let ending = args
            .output
            .extension()
            .map(|ending| ending.to_string_lossy().into_owned())
            .unwrap_or_default();
        args.output = output::replace_extension(&args.output, &format!("{number:04}.{ending}"));
    }
    args
}

fn parse_aovs(names: &[String]) -> Result<Vec<Aov>, CliError> {
    let mut aovs = Vec::new();
    for name in names {
        if name == "all" {
            aovs.extend(Aov::ALL.map(|(_, aov)| aov));
            continue;
        }
        let found = Aov::ALL.iter().find(|(known, _)| known == name).ok_or_else(|| {
            let known = Aov::ALL.map(|(name, _)| name).join(", ");
            CliError::Usage(format!("invalid --aov '{name}': expected all or one of {known}"))
        })?;
        aovs.push(found.1);
    }
    let mut once = Vec::new();
    for aov in aovs {
        if !once.contains(&aov) {
            once.push(aov);
        }
    }
    Ok(once)
}

fn channels(aov: Aov) -> &'static [&'static str] {
    match aov {
        Aov::Channel(
            GbufferChannel::Metallic
            | GbufferChannel::Roughness
            | GbufferChannel::Occlusion
            | GbufferChannel::AmbientOcclusion,
        ) => &["V"],
        Aov::Channel(GbufferChannel::Depth) => &["Z"],
        Aov::Velocity => &["X", "Y"],
        Aov::Channel(
            GbufferChannel::Normal | GbufferChannel::Position | GbufferChannel::BentNormal,
        ) => &["X", "Y", "Z"],
        _ => &["R", "G", "B"],
    }
}

fn write(
    args: &RenderArgs,
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
        let light: Vec<[f32; 4]> = picture
            .nits
            .iter()
            .map(|c| (to_file * Vec3::from_array(*c)).extend(1.0).to_array())
            .collect();
        let scaled: Vec<(Aov, Vec<[f32; 4]>)> = picture
            .aovs
            .iter()
            .map(|(aov, pixels)| {
                if matches!(aov, Aov::Channel(_) | Aov::Velocity) {
                    return (*aov, pixels.clone());
                }
                let of =
                    |p: &[f32; 4]| (to_file * Vec3::new(p[0], p[1], p[2])).extend(p[3]).to_array();
                (*aov, pixels.iter().map(of).collect())
            })
            .collect();
        let mut layers = vec![ExrLayer { name: "", channels: &["R", "G", "B"], pixels: &light }];
        layers.extend(scaled.iter().map(|(aov, pixels)| ExrLayer {
            name: aov.name(),
            channels: channels(*aov),
            pixels,
        }));
        let white =
            if args.exposed { picture.exposure.saturation_luminance().get() as f32 } else { 1.0 };
        output::write_exr_with(&args.output, size, white, &layers, Some(metadata))?;
        return Ok(());
    }
    output::write_png_with(&args.output, size, &picture.display, Some(metadata))?;
    for (aov, pixels) in &picture.aovs {
        let file = aov_path(&args.output, aov.name());
        output::write_png(
            &file,
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

/// Checks before rendering that the first picture and its AOV files can be written.
fn check_outputs(args: &RenderArgs, exr: bool, names: &[&str]) -> Result<(), CliError> {
    let first = sequence_frame_args(args, 0).output;
    output::check_writable(&first)?;
    if !exr {
        names.iter().try_for_each(|name| output::check_writable(&aov_path(&first, name)))?;
    }
    Ok(())
}

fn report(
    args: &RenderArgs,
    session: &Session,
    SequencePicture { image: picture, exposed, .. }: &SequencePicture,
) {
    let opened = &session.opened;
    let camera = picture.exposure.ev100().get();
    println!(
        "{}: {}x{}, camera '{}' at EV100 {camera:.2} ({}), on {}",
        args.output.display(),
        picture.width,
        picture.height,
        opened.camera_name,
        exposure_source(opened, exposed),
        session.gpu().info().name,
    );
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
