//! Arguments of `sunny16 render`.

use std::path::PathBuf;

use clap::Args;

use super::{
    device_args::DeviceArgs,
    error::CliError,
    frame_numbers::{FrameRequest, MAX_FRAMES},
    path_args::PathArgs,
    scene_args::SceneArgs,
    set_args::{Axis, SetPlace},
};

#[derive(Args, Clone, Debug)]
pub struct RenderArgs {
    /// Output picture: .png (tone mapped, sRGB) or .exr (32-bit float, scene-linear Rec.709 in
    /// nits).
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Write exposed and white-balanced values to the EXR instead of nits (1 is the saturation
    /// luminance).
    #[arg(long)]
    pub exposed: bool,
    /// Leave out post effects, which the path tracer does not render (starbursts, ghosts, bloom,
    /// chromatic aberration, grain, dither), for a comparison of both renderers.
    #[arg(long)]
    pub for_compare: bool,
    /// Additional outputs, comma-separated, or `all`: layers of an EXR, files beside a PNG. Names:
    /// base_color, metallic, roughness, normal, depth, occlusion, position, ambient_occlusion,
    /// bent_normal, emission, direct_diffuse, direct_specular, indirect_diffuse and
    /// indirect_specular (with gi.enabled, or path traced), vpl_clamp_loss, velocity, ssr_hit,
    /// ssr_distance, ssr_motion, ssr_history, ssr_rejection; with --renderer path also
    /// direct_transmission, indirect_transmission, variance, half_difference, samples and bvh_cost
    /// (BVH nodes and triangles visited by a pixel's ray).
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub aov: Vec<String>,
    /// Renderer.
    #[arg(long, value_enum, default_value_t = RendererKind::Raster)]
    pub renderer: RendererKind,
    /// Pictures of a sequence, `out.0000.png`, `out.0001.png`, ...: a count, e.g. 48, or a list of
    /// frames and ranges with a step, e.g. 10-20, 0-100x10, 0-100:10 or 5,7,9-12. Frame 0 is at
    /// --time. A pattern in the output's name places the number: `out_####.png`, `out_%04d.png`.
    /// The first picture is metered; automatic exposure then adapts with
    /// camera.exposure.adaptation. The path tracer meters each picture separately, without
    /// adaptation.
    #[arg(long, value_name = "LIST", value_parser = FrameRequest::parse)]
    pub frames: Option<FrameRequest>,
    /// Number of the first picture, if --frames is a count, 0 to 1000000 [default: 0].
    #[arg(long, value_name = "N", requires = "frames",
          value_parser = clap::value_parser!(u32).range(..=i64::from(MAX_FRAMES)))]
    pub start_frame: Option<u32>,
    /// Frames to render before the first picture of a sequence, and before the next one after a
    /// gap, 0 to 1000: temporal histories (TAA, GI, reflections, denoised shadows) and automatic
    /// exposure need them [default: 16 if any is on, else 0].
    #[arg(long, value_name = "N", requires = "frames",
          value_parser = clap::value_parser!(u32).range(..=1000))]
    pub warm_up: Option<u32>,
    /// Views of a turn of the camera around the vertical axis through the center of the scene's
    /// bounds, 1 to 100000, counterclockwise from above, as stills `out.0000.png`, ... at --time
    /// with the exposure of the first. --frames selects some of them.
    #[arg(long, value_name = "N", conflicts_with = "warm_up",
          value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub turntable: Option<u32>,
    /// Render each value of a property, e.g. lights.Key.kelvin=2700,4000,6500, as
    /// `out.kelvin=2700.png`, ...; repeatable, for all combinations. Semicolons separate values
    /// that contain commas.
    #[arg(long, value_name = "PATH=VALUES", value_parser = Axis::parse)]
    pub matrix: Vec<Axis>,
    /// Render each camera of the scene, as `out.CAMERA.png`.
    #[arg(long, conflicts_with = "camera")]
    pub all_cameras: bool,
    /// Write a sheet of all pictures with captions, .png or .html; repeatable. The pictures must be
    /// PNGs.
    #[arg(long, value_name = "FILE")]
    pub contact_sheet: Vec<PathBuf>,
    /// Write a video of a sequence of PNGs, by the program ffmpeg, which must be installed. The
    /// extension selects the format.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["matrix", "all_cameras"])]
    pub video: Option<PathBuf>,
    /// Place in a set.
    #[arg(skip)]
    pub set_place: Option<SetPlace>,
    /// Leave out pictures whose files exist. Files are complete: they get their names when they are
    /// written to the end. With --resume, the unfinished picture of an interrupted sequence
    /// continues.
    #[arg(long)]
    pub skip_existing: bool,
    /// Frame rate of a sequence (--frames) in pictures per second [default: 24].
    #[arg(long, value_name = "N", value_parser = rate)]
    pub fps: Option<f64>,
    /// Frames to accumulate, each with one sample per pixel [default: the look's passes.aa.samples,
    /// else the tier's for a still, else 1, or 16 with passes.aa.method=taa or gi.enabled].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub aa_samples: Option<u32>,
    /// Print the time of each pass.
    #[arg(long)]
    pub times: bool,
    /// Print warnings and errors only.
    #[arg(short, long)]
    pub quiet: bool,
    /// Print a line for each picture of a sequence.
    #[arg(short, long, conflicts_with = "quiet")]
    pub verbose: bool,
    #[command(flatten)]
    pub scene: SceneArgs,
    #[command(flatten)]
    pub path: PathArgs,
    #[command(flatten)]
    pub device: DeviceArgs,
}

impl RenderArgs {
    /// The requested numbers; `None` for a still.
    pub fn numbers(&self) -> Result<Option<Vec<u32>>, CliError> {
        let frames = self.frames.clone().or(self.turntable.map(FrameRequest::Count));
        let numbers = frames.map(|frames| frames.numbers(self.start_frame));
        numbers.transpose().map_err(CliError::Usage)
    }

    /// Pictures per second.
    pub fn fps(&self) -> f64 {
        self.fps.unwrap_or(24.0)
    }

    /// True for a sequence or the views of a turntable, whose files are numbered.
    pub fn is_numbered(&self) -> bool {
        self.frames.is_some() || self.turntable.is_some()
    }

    /// True for a still that is no part of a set.
    pub fn is_single(&self) -> bool {
        !self.is_numbered() && self.set_place.is_none()
    }

    /// True if each picture has a report: a single one, and with --verbose all.
    pub fn reports_pictures(&self) -> bool {
        !self.quiet && (self.is_single() || self.verbose)
    }
}

/// The renderers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum RendererKind {
    /// Real-time rasterizer on the Vulkan device.
    Raster,
    /// Unbiased path tracer on the CPU, with all indirect light; an EXR has a layer for each light
    /// component.
    Path,
}

fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse::<f64>().ok().filter(|rate| (1e-3..=1e6).contains(rate));
    rate.ok_or_else(|| "expected pictures a second, 0.001 to 1000000, e.g. 24".into())
}
