//! Which renderer is faster on a software device: times of pictures of equal error.

use std::time::Duration;

use glam::Mat3;

use crate::{
    camera::Exposure,
    compare::summary::CompareSettings,
    gpu::Gpu,
    session::{OpenScene, pace::PathPace},
};

/// Mean FLIP of stills of the tier `standard` against the path tracer, in the scenes of
/// validation/measured/quality.md.
pub const STANDARD_FLIP: f64 = 0.05;
/// Ratio of two times that the estimate cannot tell apart.
const UNCERTAINTY: f64 = 2.0;
/// Pictures of the rasterizer that take less are not worth a measurement.
const MIN_SECONDS: f64 = 3.0;
/// Part of the picture's time that the measurement takes at most.
const PART: f64 = 0.1;
/// Maximum time of a measurement.
const MAX_BUDGET: Duration = Duration::from_secs(1);

/// True if the device runs on the host's processor.
pub fn is_software(gpu: &Gpu) -> bool {
    gpu.info().kind_name() == "software"
}

/// Measures the path tracer's pace beside a picture of the rasterizer; `None` if the picture was
/// quick or the scene cannot be measured.
pub fn measure(
    opened: &OpenScene,
    exposure: Exposure,
    white_balance: Mat3,
    raster_seconds: f64,
) -> Option<PathPace> {
    let settings = CompareSettings {
        exposure,
        white_balance,
        mapper: opened.passes().tonemap.operator,
        ..CompareSettings::default()
    };
    let budget = MAX_BUDGET.min(Duration::from_secs_f64(raster_seconds * PART));
    (raster_seconds >= MIN_SECONDS)
        .then(|| PathPace::measure(opened, &settings, STANDARD_FLIP, budget))
        .flatten()
}

/// A sentence about both times of a picture of this many pixels, with an offer if one renderer is
/// clearly faster.
pub fn sentence(raster_seconds: f64, pace: &PathPace, pixels: f64) -> String {
    let path_seconds = pace.seconds(pixels);
    let offer = match raster_seconds / path_seconds {
        ratio if ratio > UNCERTAINTY => {
            format!("here --renderer path --spp {} is faster", pace.samples)
        }
        ratio if ratio < 1.0 / UNCERTAINTY => "here the rasterizer is faster".into(),
        _ => "here both take about the same time".into(),
    };
    format!(
        "on this software device the picture took {raster_seconds:.1} s; path traced it takes \
         about {path_seconds:.1} s for FLIP {:.2}, as the tier standard has (samples a pixel: {}, \
         {:.2} million samples a second; within a factor of {UNCERTAINTY}): {offer}",
        pace.flip,
        pace.samples,
        pace.samples_per_second / 1e6,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_faster_renderer_is_offered() {
        let pace =
            PathPace { samples_per_second: 1e6, build_seconds: 0.0, flip: 0.05, samples: 20 };
        // 2 s of the path tracer.
        let offered = |seconds: f64| sentence(seconds, &pace, 1e5);
        assert!(offered(10.0).contains("--spp 20"));
        assert!(!offered(2.0).contains("--spp") && !offered(0.5).contains("--spp"));
        assert_ne!(offered(2.0).split(": ").last(), offered(0.5).split(": ").last());
    }
}
