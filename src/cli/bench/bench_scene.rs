//! A scene on the device whose frames are timed.

use super::{
    series::Series,
    timed_frame::{timed_frame, warm_up},
};
use crate::{
    cli::error::CliError,
    frame::{RenderSettings, Renderer},
    gpu_scene::{GpuScene, View},
    session::{OpenScene, Session},
};

/// Properties of the frame without effects.
const BASELINE: [&str; 15] = [
    "effects.depth_of_field.enabled=false",
    "effects.motion_blur.enabled=false",
    "effects.starburst.enabled=false",
    "effects.ghosts.enabled=false",
    "effects.bloom.enabled=false",
    "effects.vignetting.enabled=false",
    "effects.chromatic_aberration.enabled=false",
    "effects.distortion.enabled=false",
    "effects.grain.enabled=false",
    "passes.aa.method=none",
    "passes.ao.enabled=false",
    "passes.ssr.enabled=false",
    "passes.shadows.enabled=false",
    "gi.enabled=false",
    // The same lens in all rows, hence the same pupil and field of view.
    "camera.lens.prescription=builtin:dgauss-50-f2",
];

/// Frames between the warm-up and the measured ones, after the histories are reset.
pub const WARM_UP: u32 = 2;

/// Times of a frame.
pub struct Measured {
    /// Median on the host clock in ms.
    pub frame: f64,
    /// Medians of the passes by device timestamps in ms.
    pub passes: Vec<(String, f64)>,
}

impl Measured {
    pub fn pass(&self, named: impl Fn(&str) -> bool) -> f64 {
        self.passes.iter().filter(|(name, _)| named(name)).map(|(_, ms)| ms).sum()
    }
}

/// An uploaded scene with its view and settings.
pub struct BenchScene {
    pub on_device: GpuScene,
    pub view: View,
    pub settings: RenderSettings,
}

impl BenchScene {
    /// Uploads a scene with [`BASELINE`] and `properties` applied to its look.
    pub fn new(
        opened: &OpenScene,
        properties: &[&str],
        renderer: Renderer,
    ) -> Result<(Self, Renderer), CliError> {
        let mut opened = opened.clone();
        let mut look = opened.look.clone();
        for property in BASELINE.iter().chain(properties) {
            look.assign(property)?;
        }
        opened.set_look(look, opened.size)?;
        let mut session = Session::open(renderer, opened)?;
        let exposed = session.determine_exposure(false)?;
        let mut settings = session.opened.final_settings(&exposed, vec![])?;
        // A still view would freeze after some frames.
        settings.gi.freeze_after = u32::MAX;
        let (opened, on_device, renderer) = session.into_parts();
        Ok((Self { on_device, view: opened.view(), settings }, renderer))
    }

    pub fn measure(&self, renderer: &mut Renderer, frames: u32) -> Result<Measured, CliError> {
        let Self { on_device, view, settings } = self;
        let mut frame = Series::new("");
        let mut passes: Vec<Series> = Vec::new();
        warm_up(renderer, on_device, view, settings)?;
        renderer.reset_history();
        for number in 0..WARM_UP + frames {
            let timed = timed_frame(renderer, on_device, view, settings)?;
            if number < WARM_UP {
                continue;
            }
            frame.ms.push(timed.ms);
            Series::record_passes(&mut passes, &timed.picture.times);
        }
        let passes =
            passes.iter().map(|series| (series.name.clone(), series.percentile(0.5))).collect();
        Ok(Measured { frame: frame.percentile(0.5), passes })
    }
}
