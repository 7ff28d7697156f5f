//! Output files of the path tracer: the picture, light components, and AOVs with the names of the
//! raster renderer.

use glam::{DVec3, Mat3, Vec3};

use crate::{
    camera::Exposure,
    cli::{aov_file::aov_path, error::CliError, render_args::RenderArgs},
    compare::error_colormap::{MAGMA, sample_colormap},
    frame::Aov,
    image_io::RenderMetadata,
    output::{self, ExrLayer},
    passes::gbuffer_channel::GbufferChannel,
    reference::{
        Film, LightComponents, Pinhole, World,
        aov::{AmbientOcclusionRays, PrimaryHitAov, primary_hit_aovs},
    },
    session::{
        OpenScene,
        preview::{ViewTransform, aov_preview},
    },
    settings::TonemapSettings,
};

/// An AOV of the path tracer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PathAov {
    /// Surface property at the pixel center, and the channel whose PNG preview it uses.
    PrimaryHit(PrimaryHitAov, GbufferChannel),
    /// Light component: index into [`LightComponents::NAMES`].
    LightComponent(usize),
    /// Variance of the mean luminance.
    Variance,
    /// Estimated error of the mean luminance.
    HalfDifference,
    /// Sample count.
    Samples,
}

/// Index of emission in [`LightComponents::NAMES`].
const EMISSION: usize = 0;

/// Ambient occlusion rays a pixel; the radius comes from the look.
const AO_RAYS: AmbientOcclusionRays = AmbientOcclusionRays { radius: 0.0, count: 256 };

/// AOVs that are not light components.
const OTHERS: [(&str, PathAov); 13] = [
    ("base_color", PathAov::PrimaryHit(PrimaryHitAov::BaseColor, GbufferChannel::BaseColor)),
    ("metallic", PathAov::PrimaryHit(PrimaryHitAov::Metallic, GbufferChannel::Metallic)),
    ("roughness", PathAov::PrimaryHit(PrimaryHitAov::Roughness, GbufferChannel::Roughness)),
    ("normal", PathAov::PrimaryHit(PrimaryHitAov::Normal, GbufferChannel::Normal)),
    ("depth", PathAov::PrimaryHit(PrimaryHitAov::Depth, GbufferChannel::Depth)),
    ("occlusion", PathAov::PrimaryHit(PrimaryHitAov::Occlusion, GbufferChannel::Occlusion)),
    ("position", PathAov::PrimaryHit(PrimaryHitAov::Position, GbufferChannel::Position)),
    (
        "ambient_occlusion",
        PathAov::PrimaryHit(
            PrimaryHitAov::AmbientOcclusion(AO_RAYS),
            GbufferChannel::AmbientOcclusion,
        ),
    ),
    (
        "bent_normal",
        PathAov::PrimaryHit(PrimaryHitAov::BentNormal(AO_RAYS), GbufferChannel::BentNormal),
    ),
    ("variance", PathAov::Variance),
    ("half_difference", PathAov::HalfDifference),
    ("samples", PathAov::Samples),
    ("bvh_cost", PathAov::PrimaryHit(PrimaryHitAov::BvhCost, GbufferChannel::Depth)),
];

fn all() -> impl Iterator<Item = (&'static str, PathAov)> {
    let parts = LightComponents::NAMES
        .into_iter()
        .enumerate()
        .map(|(index, name)| (name, PathAov::LightComponent(index)));
    OTHERS.into_iter().chain(parts)
}

/// Parses AOV names, without duplicates.
pub fn parse_aovs(names: &[String]) -> Result<Vec<(&'static str, PathAov)>, CliError> {
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
                "invalid --aov '{name}' for the path tracer: expected all or one of {known}"
            )));
        }
    }
    Ok(out)
}

/// A path traced picture and its exposure.
pub struct PathTracedImage<'a> {
    pub film: &'a Film,
    pub nits: &'a [DVec3],
    pub exposure: Exposure,
    pub white_balance: Mat3,
    pub metadata: RenderMetadata,
}

const RGB: &[&str] = &["R", "G", "B"];

const fn channels(wanted: PathAov) -> &'static [&'static str] {
    match wanted {
        PathAov::PrimaryHit(PrimaryHitAov::BaseColor, _) | PathAov::LightComponent(_) => RGB,
        PathAov::PrimaryHit(
            PrimaryHitAov::Normal | PrimaryHitAov::Position | PrimaryHitAov::BentNormal(_),
            _,
        ) => &["X", "Y", "Z"],
        PathAov::PrimaryHit(PrimaryHitAov::Depth, _) => &["Z"],
        _ => &["V"],
    }
}

pub fn write(
    args: &RenderArgs,
    exr: bool,
    session: &OpenScene,
    world: &World<'_>,
    camera: &Pinhole,
    picture: &PathTracedImage<'_>,
    wanted: &[(&'static str, PathAov)],
) -> Result<(), CliError> {
    let (width, height) = picture.film.size();
    let eye = session.camera.0.w_axis.truncate();
    let with_radius = |rays| AmbientOcclusionRays { radius: session.passes().ao.radius, ..rays };
    let sought = |first| match first {
        PrimaryHitAov::AmbientOcclusion(rays) => PrimaryHitAov::AmbientOcclusion(with_radius(rays)),
        PrimaryHitAov::BentNormal(rays) => PrimaryHitAov::BentNormal(with_radius(rays)),
        first => first,
    };
    let firsts: Vec<PrimaryHitAov> =
        wanted
            .iter()
            .filter_map(|(_, w)| {
                if let PathAov::PrimaryHit(first, _) = w { Some(sought(*first)) } else { None }
            })
            .collect();
    let found = primary_hit_aovs(world, camera, eye, (width, height), &firsts);
    let of = |wanted: PathAov| -> Vec<[f32; 4]> {
        let value = |v: f64| [v as f32, v as f32, v as f32, 1.0];
        match wanted {
            PathAov::PrimaryHit(first, _) => {
                let index = firsts.iter().position(|known| *known == sought(first));
                index.and_then(|index| found.get(index)).cloned().unwrap_or_default()
            }
            PathAov::LightComponent(index) => {
                // Unlit surfaces count as emission, as in the raster renderer.
                let white = picture.exposure.saturation_luminance().get();
                let unlit = |parts: &LightComponents| {
                    if index == EMISSION { parts.unlit * white } else { DVec3::ZERO }
                };
                let mean = picture.film.mean(|parts| parts.to_array()[index] + unlit(parts));
                mean.iter().map(|c| c.as_vec3().extend(1.0).to_array()).collect()
            }
            PathAov::HalfDifference => {
                picture.film.half_difference().into_iter().map(value).collect()
            }
            PathAov::Variance => picture.film.variance().into_iter().map(value).collect(),
            PathAov::Samples => {
                picture.film.counts().into_iter().map(|count| value(f64::from(count))).collect()
            }
        }
    };
    if exr {
        return write_exr(args, picture, wanted, of);
    }
    let TonemapSettings { operator: mapper, dither } = session.passes().tonemap;
    let multiplier = picture.exposure.multiplier();
    let development = ViewTransform {
        exposure: picture.exposure,
        white_balance: picture.white_balance,
        mapper,
        dither,
    };
    let bytes = development.display(picture.nits.iter().copied(), width);
    output::write_png_with(&args.output, [width, height], &bytes, Some(&picture.metadata))?;
    for (name, wanted) in wanted {
        let pixels = of(*wanted);
        let shown = match wanted {
            PathAov::PrimaryHit(PrimaryHitAov::BvhCost, _)
            | PathAov::Variance
            | PathAov::HalfDifference
            | PathAov::Samples => heat_map(&pixels),
            PathAov::PrimaryHit(_, channel) => {
                aov_preview(Aov::Channel(*channel), &pixels, multiplier as f32)
            }
            PathAov::LightComponent(_) => aov_preview(Aov::Emission, &pixels, multiplier as f32),
        };
        output::write_png(&aov_path(&args.output, name), width, height, &shown)?;
    }
    Ok(())
}

/// Maps absolute values to colors: black is 0, pale yellow the 99th percentile.
fn heat_map(pixels: &[[f32; 4]]) -> Vec<u8> {
    let mut sorted: Vec<f32> = pixels.iter().map(|pixel| pixel[0].abs()).collect();
    sorted.sort_by(f32::total_cmp);
    let max = sorted.get(sorted.len() * 99 / 100).copied().unwrap_or(1.0).max(f32::MIN_POSITIVE);
    let of = |pixel: &[f32; 4]| {
        let [r, g, b] = sample_colormap(&MAGMA, pixel[0].abs() / max);
        [r, g, b, 255]
    };
    pixels.iter().flat_map(of).collect()
}

fn write_exr(
    args: &RenderArgs,
    picture: &PathTracedImage<'_>,
    wanted: &[(&'static str, PathAov)],
    of: impl Fn(PathAov) -> Vec<[f32; 4]>,
) -> Result<(), CliError> {
    let (width, height) = picture.film.size();
    let multiplier = picture.exposure.multiplier() as f32;
    let to_file = if args.exposed { picture.white_balance * multiplier } else { Mat3::IDENTITY };
    let light = |values: Vec<[f32; 4]>| -> Vec<[f32; 4]> {
        values
            .iter()
            .map(|v| (to_file * Vec3::new(v[0], v[1], v[2])).extend(1.0).to_array())
            .collect()
    };
    let picture_light =
        light(picture.nits.iter().map(|c| c.as_vec3().extend(1.0).to_array()).collect());
    // An EXR always holds the light components and the estimates of their noise.
    let mut names: Vec<(&str, PathAov)> = LightComponents::NAMES
        .into_iter()
        .enumerate()
        .map(|(index, name)| (name, PathAov::LightComponent(index)))
        .collect();
    let noise = [("variance", PathAov::Variance), ("half_difference", PathAov::HalfDifference)];
    names.extend(noise);
    names.extend(wanted.iter().filter(|(_, wanted)| {
        !matches!(wanted, PathAov::LightComponent(_)) && noise.iter().all(|n| n.1 != *wanted)
    }));
    let layers: Vec<(&str, PathAov, Vec<[f32; 4]>)> = names
        .into_iter()
        .map(|(name, wanted)| {
            let pixels = match wanted {
                PathAov::LightComponent(_) => light(of(wanted)),
                PathAov::Variance | PathAov::HalfDifference if args.exposed => {
                    let squared = wanted == PathAov::Variance;
                    let scale = if squared { multiplier * multiplier } else { multiplier };
                    of(wanted).iter().map(|v| [v[0] * scale, 0.0, 0.0, 1.0]).collect()
                }
                _ => of(wanted),
            };
            (name, wanted, pixels)
        })
        .collect();
    let mut list = vec![ExrLayer { name: "", channels: RGB, pixels: &picture_light }];
    list.extend(layers.iter().map(|(name, wanted, pixels)| ExrLayer {
        name,
        channels: channels(*wanted),
        pixels,
    }));
    let white =
        if args.exposed { picture.exposure.saturation_luminance().get() as f32 } else { 1.0 };
    let (size, metadata) = ([width, height], Some(&picture.metadata));
    Ok(output::write_exr_with(&args.output, size, white, &list, metadata)?)
}
