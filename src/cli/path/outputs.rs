//! Output files of the path tracer: an EXR with all layers, or PNGs.

use glam::Mat3;

use crate::{
    cli::{aov_file::aov_path, error::CliError, render_args::RenderArgs},
    compare::error_colormap::{MAGMA, sample_colormap},
    frame::Aov,
    image_io::RenderMetadata,
    output::{self, ExrLayer},
    reference::aov::PrimaryHitAov,
    session::{
        PathAov, PathPicture, PictureLayer,
        preview::{ViewTransform, aov_preview},
    },
    settings::TonemapSettings,
};

/// Writes a picture with its white balance, metadata and requested AOVs.
pub fn write(
    args: &RenderArgs,
    exr: bool,
    picture: &PathPicture<'_>,
    (white_balance, metadata): (Mat3, &RenderMetadata),
    wanted: &[(&'static str, PathAov)],
) -> Result<(), CliError> {
    let (width, height) = picture.film.size();
    let multiplier = picture.exposure.multiplier();
    if exr {
        let to_file = match args.exposed {
            true => (white_balance * multiplier as f32, multiplier as f32),
            false => (Mat3::IDENTITY, 1.0),
        };
        let layers = picture.layers(wanted, to_file);
        let layers: Vec<ExrLayer<'_>> = layers.iter().map(PictureLayer::for_exr).collect();
        let white =
            if args.exposed { picture.exposure.saturation_luminance().get() as f32 } else { 1.0 };
        let size = [width, height];
        return Ok(output::write_exr_with(&args.output, size, white, &layers, Some(metadata))?);
    }
    let TonemapSettings { operator: mapper, dither } = picture.session.passes().tonemap;
    let development = ViewTransform { exposure: picture.exposure, white_balance, mapper, dither };
    let bytes = development.display(picture.nits.iter().copied(), width);
    output::write_png_with(&args.output, [width, height], &bytes, Some(metadata))?;
    for ((name, wanted), pixels) in wanted.iter().zip(picture.aovs(wanted)) {
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
