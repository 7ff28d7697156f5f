//! Arguments of `sunny16 compare`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::{cli::fraction::Fraction, compare::flip::PIXELS_PER_DEGREE};

const HELP: &str = "\
Example:
  sunny16 compare raster.exr path.exr --html report.html --max-bias 1%
  sunny16 compare a.exr:direct_diffuse b.exr:direct_diffuse

The first lines say how different the pictures look, and what explains it:
passes that were off, single pixels, noise of the reference.

Values:
  FLIP      perceived difference when flipping, 0 to 1 (Andersson et al. 2020)
  HDR-FLIP  maximum FLIP over exposures (Andersson et al. 2021); EXR and HDR only
  stops     log2(test / reference) of luminance by pixel; negative is darker
  blocks    bias of each block of 8x8 pixels: median, RMS over all but the 1 % of
            the blocks that are worst (trimmed), RMS over all, and the worst block
  bias      mean(test) / mean(reference) - 1 of luminance; negative is too dark;
            trimmed: without the 0.1 % of the pixels that differ most
  mean      mean luminance: nits for EXR and HDR, fractions of white for PNG, JPEG
  SMAPE     mean of 2 |test - reference| / (|test| + |reference|), 0 to 2
  relMSE    mean of (test - reference)^2 / (reference^2 + 0.01 mean^2)
  rmse      root mean square error over RGB, also relative to the reference's mean
  PSNR      10 log10(peak^2 / mean square error) in dB; PNG and JPEG: of sRGB codes
Local errors can cancel in a mean: also bound the blocks or FLIP (docs/compare.md).

Bounds take a percent sign: --max-bias 0.5% is 0.005. Without it they are
fractions: --max-bias 1 is 100 %, with a note. A broken bound gives exit code 3.";

#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub struct CompareArgs {
    /// Test picture: EXR (a layer as FILE.exr:LAYER), HDR, PNG or JPEG.
    pub(super) test: String,
    /// Reference picture.
    pub(super) reference: String,
    /// Write an HTML report with both pictures: one self-contained file.
    #[arg(long, value_name = "FILE.html")]
    pub(super) html: Option<PathBuf>,
    /// Write all values as JSON.
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,
    /// Write an error map in false color.
    #[arg(long, value_name = "FILE.png")]
    pub(super) map: Option<PathBuf>,
    /// Quantity of the map.
    #[arg(long, value_enum, default_value_t = MapKind::Flip, requires = "map")]
    pub(super) map_kind: MapKind,
    /// Maximum of the map: a number of stops for --map-kind stops [default: 1], a fraction for
    /// relative [default: 10%]; flip ignores it.
    #[arg(long, value_name = "X", value_parser = parse_part, requires = "map")]
    pub(super) map_range: Option<f64>,
    /// Exposure of EXR and HDR pictures for FLIP: an EV100, or auto (log-average of the reference)
    /// [default: that of the pictures' metadata, else auto]. Pictures without metadata need it,
    /// even as auto, to compare an EXR or HDR with a PNG or JPEG.
    #[arg(long, value_name = "EV100", allow_hyphen_values = true)]
    pub(super) exposure: Option<String>,
    /// Tone mapper after the exposure: linear, aces, agx or pbr-neutral [default: that of the
    /// pictures' metadata, else linear].
    #[arg(long, value_name = "NAME")]
    pub(super) tone_mapper: Option<String>,
    /// White balance before the tone mapper: metadata (that of the pictures' metadata) or none.
    #[arg(long, value_name = "SOURCE", default_value = "metadata",
          value_parser = ["metadata", "none"])]
    pub(super) white_balance: String,
    /// Second picture of the reference by another seed: its difference is noise.
    #[arg(long, value_name = "FILE")]
    pub(super) second_seed: Option<String>,
    /// Pixels per degree of visual angle, for FLIP.
    #[arg(long, value_name = "N", default_value_t = PIXELS_PER_DEGREE)]
    pub(super) pixels_per_degree: f32,
    /// Exclude pixels next to edges: where luminance in the reference changes by more than 10 %
    /// within one pixel.
    #[arg(long)]
    pub(super) skip_edges: bool,
    /// Bound on the mean of FLIP.
    #[arg(long, value_name = "X", value_parser = parse_part)]
    pub(super) max_flip: Option<f64>,
    /// Bound on the mean of HDR-FLIP.
    #[arg(long, value_name = "X", value_parser = parse_part)]
    pub(super) max_flip_hdr: Option<f64>,
    /// Bound on the absolute bias.
    #[arg(long, value_name = "X", value_parser = Fraction::parse_fraction)]
    pub(super) max_bias: Option<Fraction>,
    /// Bound on the RMS of block biases.
    #[arg(long, value_name = "X", value_parser = Fraction::parse_fraction)]
    pub(super) max_block_rms: Option<Fraction>,
    /// Bound on the worst absolute block bias.
    #[arg(long, value_name = "X", value_parser = Fraction::parse_fraction)]
    pub(super) max_block_worst: Option<Fraction>,
    /// Bound on the RMSE relative to the reference's mean.
    #[arg(long, value_name = "X", value_parser = Fraction::parse_fraction)]
    pub(super) max_rmse: Option<Fraction>,
    /// Bound on the 95th percentile of the absolute difference in stops.
    #[arg(long, value_name = "STOPS", value_parser = parse_part)]
    pub(super) max_stops: Option<f64>,
    /// Minimum peak signal-to-noise ratio.
    #[arg(long, value_name = "DB", value_parser = parse_part)]
    pub(super) min_psnr: Option<f64>,
    /// Print broken bounds only.
    #[arg(short, long)]
    pub(super) quiet: bool,
}

/// Quantity of an error map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum MapKind {
    /// FLIP: HDR-FLIP for EXR and HDR, LDR-FLIP for PNG and JPEG.
    Flip,
    /// Signed differences in stops: blue darker, orange brighter.
    Stops,
    /// Absolute relative error of luminance.
    Relative,
}

/// Parses a number of at least 0, with an optional percent sign.
fn parse_part(text: &str) -> Result<f64, String> {
    Fraction::parse_fraction(text).map(|fraction| fraction.value)
}
