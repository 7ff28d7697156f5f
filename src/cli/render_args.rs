//! Arguments of `sunny16 render`.

use std::path::PathBuf;

use clap::Args;

use super::{device_args::DeviceArgs, path_args::PathArgs, scene_args::SceneArgs};

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
    /// Number of pictures of a sequence that starts at --time: `out.0000.png`, `out.0001.png`, ...
    /// The first is metered; automatic exposure then adapts with camera.exposure.adaptation. The
    /// path tracer meters each picture separately, without adaptation.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub frames: Option<u32>,
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
    #[command(flatten)]
    pub scene: SceneArgs,
    #[command(flatten)]
    pub path: PathArgs,
    #[command(flatten)]
    pub device: DeviceArgs,
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
