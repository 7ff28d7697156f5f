//! Arguments of the path tracer.

use clap::Args;

use super::fraction::Fraction;
use crate::reference::SampleRange;

/// Maximum number of samples per pixel.
pub const MAX_SAMPLES: u32 = 1 << 24;

/// Path tracer options.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Path tracer")]
pub struct PathArgs {
    /// Maximum number of samples per pixel; powers of two give blue noise [default: 256].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_SAMPLES)))]
    pub spp: Option<u32>,
    /// Render only these samples of each pixel, e.g. 32-63 (counted from 0), and write their sums
    /// as a part, an .exr, which `sunny16 merge` joins to the picture of all --spp samples.
    #[arg(long = "samples", value_name = "FIRST-LAST", value_parser = sample_range,
          conflicts_with_all = ["resume", "save_every", "target_error", "denoise", "frames",
          "turntable", "matrix", "all_cameras", "contact_sheet", "video", "aov", "exposed",
          "for_compare"])]
    pub sample_range: Option<SampleRange>,
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

/// Parses `32-63`.
pub fn sample_range(text: &str) -> Result<SampleRange, String> {
    let number = |text: &str| text.trim().parse::<u32>().ok().filter(|n| *n < MAX_SAMPLES);
    let range = text.split_once('-').and_then(|(first, last)| {
        let (first, last) = (number(first)?, number(last)?);
        (first <= last).then_some(SampleRange { first, end: last + 1 })
    });
    range.ok_or_else(|| {
        format!("expected the first and the last sample, 0 to {}, e.g. 32-63", MAX_SAMPLES - 1)
    })
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| (0.0..1e9).contains(seconds));
    seconds.ok_or_else(|| "expected seconds of at least 0".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_of_samples_has_two_numbers() {
        assert_eq!(sample_range("32-63"), Ok(SampleRange { first: 32, end: 64 }));
        assert_eq!(sample_range("5-5"), Ok(SampleRange { first: 5, end: 6 }));
        for wrong in ["", "5", "-", "5-", "-5", "6-5", "0-16777216", "a-b", "1-2-3", "1-2x2"] {
            assert!(sample_range(wrong).is_err(), "{wrong}");
        }
    }
}
