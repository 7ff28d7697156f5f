//! `sunny16 render --renderer path`: one picture by the path tracer, on the host.

use std::{
    io::{IsTerminal as _, Write as _},
    sync::atomic::AtomicBool,
    time::Instant,
};

use clap::Args;
use glam::{DVec3, Mat3, Vec3};

use super::{
    CliError,
    open::{self, Opened},
    render::RenderArgs,
};
use crate::{
    camera::{
        Exposure, ExposureMode,
        metering::{self, MeterMode},
        tonemap::dithered,
    },
    output::{self, Layer},
    photometry::color,
    reference::{Film, FilmSettings, Parts, Pinhole, Walk, World},
    scene::look::{LookError, metering::ExposureControl},
};

/// Options of the path tracer.
#[derive(Args, Debug)]
pub struct PathArgs {
    /// Samples a pixel, at most (path tracer).
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=1 << 24))]
    pub spp: u32,
    /// Surfaces that a path may meet: 1 is direct light alone, as the raster renderer has it (path tracer).
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(0..=1024))]
    pub bounces: u32,
    /// Stop when the picture's relative error is below this many percent (path tracer).
    #[arg(long, value_name = "PERCENT")]
    pub target_error: Option<f64>,
    /// Another seed, another noise (path tracer).
    #[arg(long, default_value_t = 0)]
    pub seed: u32,
}

/// The light of a picture by the ways it took, as layers of an EXR.
type PartOf = fn(&Parts) -> DVec3;

const LAYERS: [(&str, PartOf); 7] = [
    ("emission", |parts| parts.emission),
    ("direct_diffuse", |parts| parts.direct_diffuse),
    ("direct_specular", |parts| parts.direct_specular),
    ("direct_transmission", |parts| parts.direct_transmission),
    ("indirect_diffuse", |parts| parts.indirect_diffuse),
    ("indirect_specular", |parts| parts.indirect_specular),
    ("indirect_transmission", |parts| parts.indirect_transmission),
];

pub fn run(args: &RenderArgs, exr: bool, opened: &Opened) -> Result<(), CliError> {
    if args.path.target_error.is_some_and(|target| target.is_nan() || target <= 0.0) {
        return Err(CliError::Usage("--target-error: give percents above 0, e.g. 1".into()));
    }
    let (width, height) = (opened.size.width as usize, opened.size.height as usize);
    let eye = opened.camera.0.w_axis.truncate();
    let started = Instant::now();
    let world = World::new(&opened.scene, eye);
    let built = started.elapsed().as_secs_f64();
    let camera = Pinhole::new(opened.camera.0, opened.camera.1, width, height);
    let walk = Walk { bounces: args.path.bounces, ..Walk::default() };
    let mut film = Film::new(width, height, FilmSettings { walk, seed: args.path.seed, ..FilmSettings::default() });
    let stop = AtomicBool::new(false);
    let started = Instant::now();
    while film.samples() < args.path.spp {
        let batch = (args.path.spp - film.samples()).min(16);
        film.add(&world, &camera, batch, &stop);
        let done = args.path.target_error.is_some_and(|target| film.relative_error() * 100.0 <= target);
        if !args.quiet && std::io::stderr().is_terminal() {
            let seconds = started.elapsed().as_secs_f64();
            let share = f64::from(film.samples()) / f64::from(args.path.spp);
            // A terminal that is gone is no reason to stop.
            let _ = write!(
                std::io::stderr(),
                "\r{} of {} samples, error {:.2} %, {:.0} s left   ",
                film.samples(),
                args.path.spp,
                film.relative_error() * 100.0,
                seconds / share - seconds
            );
        }
        if done {
            break;
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    if !args.quiet && std::io::stderr().is_terminal() {
        let _ = writeln!(std::io::stderr());
    }
    let nits = film.mean(Parts::total);
    let exposure = exposure(opened, &nits)?;
    let white_balance = white_balance(opened, &nits, width)?;
    write(args, exr, opened, &film, &nits, exposure, white_balance)?;
    if !args.quiet {
        let samples = f64::from(film.samples()) * (width * height) as f64;
        println!(
            "{}: {width}x{height}, camera '{}' at EV100 {:.2}, path traced",
            args.output.display(),
            opened.camera_name,
            exposure.ev100().get()
        );
        println!(
            "{} triangles, trees built in {:.0} ms; {} samples a pixel in {seconds:.1} s ({:.2} million a second); relative error {:.2} %",
            opened.scene.shown_triangles(),
            built * 1e3,
            film.samples(),
            samples / seconds.max(1e-9) / 1e6,
            film.relative_error() * 100.0
        );
        if opened.effects != crate::camera::Effects::default() {
            println!(
                "warning: the path tracer has no lens yet: the picture is that of a pinhole, without the camera's effects"
            );
        }
    }
    Ok(())
}

/// By the dials, else by the mean of the logarithm of what the picture holds.
pub fn exposure(opened: &Opened, nits: &[DVec3]) -> Result<Exposure, CliError> {
    let look = &opened.look;
    if let ExposureControl::Dials(ExposureMode::Manual) = open::control(look) {
        if let Some(exposure) = look.exposure()? {
            return Ok(exposure);
        }
        return Ok(look.camera.dials().exposure().map_err(LookError::from)?);
    }
    let luminances: Vec<f32> = nits.iter().map(|c| color::luminance(*c) as f32).collect();
    let [width, height] = [opened.size.width, opened.size.height].map(|side| side as usize);
    let metered = metering::meter(&luminances, width, height, MeterMode::LogAverage);
    let metered = metered.ok().and_then(|nits| Exposure::from_luminance(nits).ok()).unwrap_or_default();
    open::compensated(look, metered)
}

pub fn white_balance(opened: &Opened, nits: &[DVec3], width: usize) -> Result<Mat3, CliError> {
    let look = &opened.look.metering;
    let picked = match look.grey_card {
        Some(at) => {
            let [x, y] = open::pixel(at, [opened.size.width, opened.size.height])?.map(|side| side as usize);
            nits.get(y * width + x).copied()
        }
        None => None,
    };
    Ok(look.white_balance(picked)?.as_mat3())
}

fn write(
    args: &RenderArgs,
    exr: bool,
    opened: &Opened,
    film: &Film,
    nits: &[DVec3],
    exposure: Exposure,
    white_balance: Mat3,
) -> Result<(), CliError> {
    let (width, height) = (opened.size.width as usize, opened.size.height as usize);
    let multiplier = exposure.multiplier();
    if !exr {
        let mapper = opened.look.passes.tone_mapper.unwrap_or_default();
        let dither = opened.look.passes.dither.unwrap_or(true);
        let mut bytes = Vec::with_capacity(nits.len() * 4);
        for (index, c) in nits.iter().enumerate() {
            let exposed = white_balance * (*c * multiplier).as_vec3();
            for v in mapper.apply(exposed).to_array() {
                let code = (color::srgb_oetf(f64::from(v.clamp(0.0, 1.0))) * 255.0) as f32;
                let (x, y) = ((index % width) as u32, (index / width) as u32);
                bytes.push(if dither { dithered(code, x, y) } else { (code + 0.5) as u8 });
            }
            bytes.push(255);
        }
        return Ok(output::write_png(&args.output, width, height, &bytes)?);
    }
    let to_file = if args.exposed { white_balance * multiplier as f32 } else { Mat3::IDENTITY };
    let pixels = |values: &[DVec3]| -> Vec<[f32; 4]> {
        values
            .iter()
            .map(|c| (to_file * Vec3::new(c.x as f32, c.y as f32, c.z as f32)).extend(1.0).to_array())
            .collect()
    };
    let light = pixels(nits);
    let parts: Vec<(&str, Vec<[f32; 4]>)> =
        LAYERS.iter().map(|(name, part)| (*name, pixels(&film.mean(part)))).collect();
    let variance: Vec<[f32; 4]> = film.variance().iter().map(|v| [*v as f32, 0.0, 0.0, 1.0]).collect();
    let mut layers = vec![Layer { name: "", channels: &["R", "G", "B"], pixels: &light }];
    layers.extend(parts.iter().map(|(name, pixels)| Layer { name, channels: &["R", "G", "B"], pixels }));
    layers.push(Layer { name: "variance", channels: &["V"], pixels: &variance });
    let white = if args.exposed { exposure.saturation_luminance().get() as f32 } else { 1.0 };
    Ok(output::write_exr(&args.output, width, height, white, &layers)?)
}
