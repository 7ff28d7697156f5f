//! Files of the path tracer's pictures: light by its ways, and the raster renderer's further outputs by the same names.

use glam::{DVec3, Mat3, Vec3};

use super::{CliError, Opened, RenderArgs};
use crate::{
    camera::Exposure,
    cli::render::beside,
    compare::false_color::{MAGMA, color as painted},
    frame::Aov,
    output::{self, Layer},
    passes::resolve::Channel,
    reference::{
        Film, Parts, Pinhole, World,
        aov::{First, OpenRays, first_hits},
    },
    studio::preview::{Development, preview},
};

/// A further output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wanted {
    /// What is seen at pixels' centres, and how a PNG shows it.
    First(First, Channel),
    /// A part of the light: which of `Parts::NAMES`.
    Part(usize),
    /// The variance of the mean luminance.
    Variance,
    /// Samples that were taken.
    Samples,
}

/// Which part of the light what glows by itself is.
const EMISSION: usize = 0;

/// Rays a pixel for what is open; the look has their radius.
const OPEN_RAYS: OpenRays = OpenRays { radius: 0.0, count: 256 };

/// Those that are no part of the light.
const OTHERS: [(&str, Wanted); 12] = [
    ("base_color", Wanted::First(First::BaseColor, Channel::BaseColor)),
    ("metallic", Wanted::First(First::Metallic, Channel::Metallic)),
    ("roughness", Wanted::First(First::Roughness, Channel::Roughness)),
    ("normal", Wanted::First(First::Normal, Channel::Normal)),
    ("depth", Wanted::First(First::Depth, Channel::Depth)),
    ("occlusion", Wanted::First(First::Occlusion, Channel::Occlusion)),
    ("position", Wanted::First(First::Position, Channel::Position)),
    ("ambient_occlusion", Wanted::First(First::AmbientOcclusion(OPEN_RAYS), Channel::AmbientOcclusion)),
    ("bent_normal", Wanted::First(First::BentNormal(OPEN_RAYS), Channel::BentNormal)),
    ("variance", Wanted::Variance),
    ("samples", Wanted::Samples),
    ("bvh_cost", Wanted::First(First::BvhCost, Channel::Depth)),
];

fn all() -> impl Iterator<Item = (&'static str, Wanted)> {
    let parts = Parts::NAMES.into_iter().enumerate().map(|(index, name)| (name, Wanted::Part(index)));
    OTHERS.into_iter().chain(parts)
}

/// The outputs of these names, each once.
pub fn wanted(names: &[String]) -> Result<Vec<(&'static str, Wanted)>, CliError> {
    let mut out = Vec::new();
    for name in names {
        let before = out.len();
        for (known, wanted) in all().filter(|(known, _)| name == "all" || known == name) {
            if !out.contains(&(known, wanted)) {
                out.push((known, wanted));
            }
        }
        if out.len() == before && !out.iter().any(|(known, _)| known == name) && name != "all" {
            let known = all().map(|(name, _)| name).collect::<Vec<_>>().join(", ");
            return Err(CliError::Usage(format!(
                "--aov: the path tracer has no output '{name}'; there are {known}, and all"
            )));
        }
    }
    Ok(out)
}

/// A picture and how it is shown.
pub struct Traced<'a> {
    pub film: &'a Film,
    pub nits: &'a [DVec3],
    pub exposure: Exposure,
    pub white_balance: Mat3,
}

const RGB: &[&str] = &["R", "G", "B"];

const fn channels(wanted: Wanted) -> &'static [&'static str] {
    match wanted {
        Wanted::First(First::BaseColor, _) | Wanted::Part(_) => RGB,
        Wanted::First(First::Normal | First::Position | First::BentNormal(_), _) => &["X", "Y", "Z"],
        Wanted::First(First::Depth, _) => &["Z"],
        _ => &["V"],
    }
}

pub fn write(
    args: &RenderArgs,
    exr: bool,
    opened: &Opened,
    world: &World<'_>,
    camera: &Pinhole,
    picture: &Traced<'_>,
    wanted: &[(&'static str, Wanted)],
) -> Result<(), CliError> {
    let (width, height) = picture.film.size();
    let eye = opened.camera.0.w_axis.truncate();
    let with_radius = |rays| OpenRays { radius: opened.ao().radius, ..rays };
    let sought = |first| match first {
        First::AmbientOcclusion(rays) => First::AmbientOcclusion(with_radius(rays)),
        First::BentNormal(rays) => First::BentNormal(with_radius(rays)),
        first => first,
    };
    let firsts: Vec<First> = wanted
        .iter()
        .filter_map(|(_, w)| if let Wanted::First(first, _) = w { Some(sought(*first)) } else { None })
        .collect();
    let found = first_hits(world, camera, eye, (width, height), &firsts);
    let of = |wanted: Wanted| -> Vec<[f32; 4]> {
        let value = |v: f64| [v as f32, v as f32, v as f32, 1.0];
        match wanted {
            Wanted::First(first, _) => {
                let index = firsts.iter().position(|known| *known == sought(first));
                index.and_then(|index| found.get(index)).cloned().unwrap_or_default()
            }
            Wanted::Part(index) => {
                // What is unlit shines by itself, as the raster renderer has it.
                let white = picture.exposure.saturation_luminance().get();
                let unlit = |parts: &Parts| if index == EMISSION { parts.unlit * white } else { DVec3::ZERO };
                let mean = picture.film.mean(|parts| parts.to_array()[index] + unlit(parts));
                mean.iter().map(|c| c.as_vec3().extend(1.0).to_array()).collect()
            }
            Wanted::Variance => picture.film.variance().into_iter().map(value).collect(),
            Wanted::Samples => picture.film.counts().into_iter().map(|count| value(f64::from(count))).collect(),
        }
    };
    if exr {
        return write_exr(args, picture, wanted, of);
    }
    let mapper = opened.look.passes.tone_mapper.unwrap_or_default();
    let dither = opened.look.passes.dither.unwrap_or(true);
    let multiplier = picture.exposure.multiplier();
    let development = Development { exposure: picture.exposure, white_balance: picture.white_balance, mapper, dither };
    let bytes = development.display(picture.nits.iter().copied(), width);
    output::write_png(&args.output, width, height, &bytes)?;
    for (name, wanted) in wanted {
        let pixels = of(*wanted);
        let shown = match wanted {
            Wanted::First(First::BvhCost, _) | Wanted::Variance | Wanted::Samples => heat(&pixels),
            Wanted::First(_, channel) => preview(Aov::Channel(*channel), &pixels, multiplier as f32),
            Wanted::Part(_) => preview(Aov::Emission, &pixels, multiplier as f32),
        };
        output::write_png(&beside(&args.output, name), width, height, &shown)?;
    }
    Ok(())
}

/// Values as colours: black is none, pale yellow the value that one pixel in a hundred exceeds.
fn heat(pixels: &[[f32; 4]]) -> Vec<u8> {
    let mut sorted: Vec<f32> = pixels.iter().map(|pixel| pixel[0]).collect();
    sorted.sort_by(f32::total_cmp);
    let most = sorted.get(sorted.len() * 99 / 100).copied().unwrap_or(1.0).max(f32::MIN_POSITIVE);
    let of = |pixel: &[f32; 4]| {
        let [r, g, b] = painted(&MAGMA, pixel[0] / most);
        [r, g, b, 255]
    };
    pixels.iter().flat_map(of).collect()
}

fn write_exr(
    args: &RenderArgs,
    picture: &Traced<'_>,
    wanted: &[(&'static str, Wanted)],
    of: impl Fn(Wanted) -> Vec<[f32; 4]>,
) -> Result<(), CliError> {
    let (width, height) = picture.film.size();
    let multiplier = picture.exposure.multiplier() as f32;
    let to_file = if args.exposed { picture.white_balance * multiplier } else { Mat3::IDENTITY };
    let light = |values: Vec<[f32; 4]>| -> Vec<[f32; 4]> {
        values.iter().map(|v| (to_file * Vec3::new(v[0], v[1], v[2])).extend(1.0).to_array()).collect()
    };
    let picture_light = light(picture.nits.iter().map(|c| c.as_vec3().extend(1.0).to_array()).collect());
    // Light by its ways and the variance are always there.
    let mut names: Vec<(&str, Wanted)> =
        Parts::NAMES.into_iter().enumerate().map(|(index, name)| (name, Wanted::Part(index))).collect();
    names.push(("variance", Wanted::Variance));
    names.extend(wanted.iter().filter(|(_, wanted)| !matches!(wanted, Wanted::Part(_) | Wanted::Variance)));
    let layers: Vec<(&str, Wanted, Vec<[f32; 4]>)> = names
        .into_iter()
        .map(|(name, wanted)| {
            let pixels = match wanted {
                Wanted::Part(_) => light(of(wanted)),
                Wanted::Variance if args.exposed => {
                    of(wanted).iter().map(|v| [v[0] * multiplier * multiplier, 0.0, 0.0, 1.0]).collect()
                }
                _ => of(wanted),
            };
            (name, wanted, pixels)
        })
        .collect();
    let mut list = vec![Layer { name: "", channels: RGB, pixels: &picture_light }];
    list.extend(layers.iter().map(|(name, wanted, pixels)| Layer { name, channels: channels(*wanted), pixels }));
    let white = if args.exposed { picture.exposure.saturation_luminance().get() as f32 } else { 1.0 };
    Ok(output::write_exr(&args.output, width, height, white, &list)?)
}
