//! Arguments of the path tracer.

use clap::Args;

use super::fraction::Fraction;

/// Path tracer options.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Path tracer")]
pub struct PathArgs {
    /// Maximum number of samples per pixel; powers of two give blue noise [default: 256].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1 << 24))]
    pub spp: Option<u32>,
    /// Maximum path length in surface and volume interactions: 0 is emission, 1 adds direct light,
    /// like the rasterizer [default: unlimited, with Russian roulette].
    #[arg(long, value_name = "N")]
    pub bounces: Option<u32>,
    /// Relative error in percent at which a tile stops, e.g. 1% (the percent sign is optional
    /// here). Checked from 64 samples on; --spp remains the maximum.
    #[arg(long, value_name = "PERCENT", value_parser = Fraction::parse_percent, allow_negative_numbers = true)]
    pub target_error: Option<Fraction>,
    /// Random seed [default: 0].
    #[arg(long, value_name = "N")]
    pub seed: Option<u32>,
    /// Resume from OUTPUT.resume if it exists, and keep it for later samples (not with
    /// --skip-existing). The picture equals an uninterrupted one bit for bit.
    #[arg(long)]
    pub resume: bool,
    /// Interval between writes of OUTPUT.resume in seconds; the file is removed at the end unless
    /// --resume is given without --skip-existing [default: 10].
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub save_every: Option<f64>,
    /// Denoise the picture, not its layers, with Intel Open Image Denoise (cargo feature `oidn`).
    #[arg(long)]
    pub denoise: bool,
}

impl PathArgs {
    pub fn samples(&self) -> u32 {
        self.spp.unwrap_or(256)
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| (0.0..1e9).contains(seconds));
    seconds.ok_or_else(|| "expected seconds of at least 0".into())
}
