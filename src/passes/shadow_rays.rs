//! Direct light by a fixed number of shadow rays a pixel, whatever the number of lights
//! (docs/shadows.md, "Fixed ray budget"). The lighting pass chooses lights and writes rays; the
//! passes here find where the rays start, trace them, and resolve the shadowed light.

use super::{
    creation::{LazyPipeline, PipelineJob},
    denoiser::{Denoiser, DenoiserImages, DenoiserInputs, DenoiserSignal, SignalSettings},
    formats::LIGHT,
    gbuffer::Gbuffer,
    pixel_groups,
    ray_query::BvhDependencies,
    rays::{
        self, ANY_HIT_BYTES, HIT_BYTES, RAY_BYTES, RayBuffers, RayKernels, RayLayers, RayQuestion,
    },
    temporal::{FrameMotion, HistoryFrame},
};
use crate::{
    gpu::{Gpu, GpuResult, shader_structs::rays::ShadowRayBandConstants},
    gpu_scene::{FrameBvh, FrameData, ShadowRayBudget, View},
    graph::{BoundPass, BufferHandle, Graph, ImageHandle},
};

/// Work group size per axis, and the unit of a band's rows.
const GROUP: u32 = 8;
/// Bytes of what a pixel loses with a ray: seven half floats and the index of a light.
const LOSS_BYTES: u64 = 16;
/// Maximum history length of denoised shadows in frames, in motion: shadows of moving objects lag
/// by as much.
const MAX_HISTORY_FRAMES: f32 = 8.0;
/// History length in frames after the lights have changed: a single frame has little noise.
const STALE_FRAMES: f32 = 0.0;
/// Still or averaged frames from which on pixels use only their own rays: the mean converges to
/// that of single estimates, whose noise is then below an 8-bit step.
pub const MAX_REUSE_FRAMES: u32 = 64;
/// Factor on the estimated light of sampled lights where the lost fraction is denoised, which must
/// not be negative: samples may give up to this multiple of the estimate.
const HEADROOM: f32 = 4.0;
/// Maximum size of the ray buffer in bytes, unless a frame sets another.
pub const MAX_RAY_BUFFER_BYTES: u64 = 256 << 20;

/// Losses of a pixel beyond those of its rays: of sampled lights their excess, and their light.
const fn sampled_losses(budget: ShadowRayBudget) -> u64 {
    if budget.lights > 0 { 2 } else { 0 }
}

/// Rows of pixels whose rays share the buffers at a time: first row and number of rows.
fn bands([width, height]: [u32; 2], budget: ShadowRayBudget) -> Vec<ShadowRayBandConstants> {
    let rays = u64::from(budget.rays);
    // Of the greater of two buffers: rays, and losses.
    let pixel = (rays * RAY_BYTES).max((rays + sampled_losses(budget)) * LOSS_BYTES);
    let row = u64::from(width.max(1)) * pixel;
    let fitting = (budget.max_bytes / row).min(u64::from(height)) as u32;
    let rows = if fitting >= height { height } else { (fitting / GROUP * GROUP).max(GROUP) };
    (0..height)
        .step_by(rows.max(1) as usize)
        .map(|first_row| ShadowRayBandConstants {
            first_row,
            rows: rows.min(height - first_row),
            rays: budget.rays,
            sampled: u32::from(budget.lights > 0),
            headroom: if budget.denoised { HEADROOM } else { 1.0 },
        })
        .collect()
}

/// Buffers and images of a frame with a fixed ray budget.
pub struct ShadowRayFrame {
    /// Image size (pixels).
    pub size: [u32; 2],
    /// Bands of rows, from the top.
    pub bands: Vec<ShadowRayBandConstants>,
    /// Unshadowed diffuse and specular light of the lights that rays test, pre-exposed.
    pub unshadowed: [ImageHandle; 2],
    /// Fraction of it that is lost, by channel.
    pub lost: [ImageHandle; 2],
    /// `TraceRay`s: view rays, then shadow rays.
    pub rays: BufferHandle,
    /// `TraceHit`s of the view rays.
    pub view_hits: BufferHandle,
    /// Losses of the shadow rays, and of sampled lights their light and the excess of its estimate.
    pub losses: BufferHandle,
    hits: BufferHandle,
}

/// Name of a band's pass.
#[must_use]
pub fn band_name(name: &str, frame: &ShadowRayFrame, band: ShadowRayBandConstants) -> String {
    if frame.bands.len() == 1 {
        name.to_owned()
    } else {
        format!("{name}, rows from {}", band.first_row)
    }
}

/// Binds an image that all bands of a frame write, the first one of them first.
pub fn bind_band<'g, 'a>(
    pass: BoundPass<'g, 'a>,
    name: &'static str,
    image: ImageHandle,
    first: bool,
) -> BoundPass<'g, 'a> {
    if first { pass.image_written(name, image) } else { pass.image_updated(name, image) }
}

/// The denoiser of a frame with its inputs.
pub struct ShadowDenoising<'p> {
    /// Pipelines.
    pub denoiser: &'p Denoiser,
    /// The signal of the lost fractions.
    pub signal: &'p DenoiserSignal,
    /// Motion since the last frame.
    pub velocity: ImageHandle,
}

/// State of the history of the lost fractions in a frame.
#[derive(Clone, Copy, Debug)]
pub struct ShadowHistoryFrame {
    /// State of the history.
    pub history: HistoryFrame,
    /// The lights have changed since the last frame of the history.
    pub lights_changed: bool,
    /// Consecutive frames, up to the last one, in which nothing moved and the lights did not
    /// change.
    pub still_frames: u32,
}

/// The signal of the lost fractions in a frame. `sampled`: lights may be sampled, so that single
/// frames are too noisy to clip the history to.
///
/// # Errors
/// `GpuError` if memory runs out.
pub fn signal(
    gpu: &Gpu,
    view: &View,
    motion: &FrameMotion,
    ShadowHistoryFrame { history, lights_changed, still_frames }: ShadowHistoryFrame,
    sampled: bool,
) -> GpuResult<DenoiserSignal> {
    let settings = SignalSettings {
        name: "shadows",
        history,
        max_history_frames: MAX_HISTORY_FRAMES,
        max_stale_frames: if lights_changed { STALE_FRAMES } else { f32::MAX },
        still_frames,
        frozen: false,
        pre_exposed: false,
        clipped: !sampled,
        weighted: false,
        chosen: false,
        // Its tolerance is that of indirect light: in a single frame it blurs contact shadows away.
        filter: false,
        max_filter_passes: 0,
        stabilized: false,
    };
    DenoiserSignal::new(gpu, view, motion, settings)
}

/// Declares the denoiser of the lost fractions and returns the denoised ones.
pub fn declare_denoised<'a>(
    g: &mut Graph<'a>,
    data: &FrameData,
    gbuffer: Gbuffer,
    frame: &ShadowRayFrame,
    ShadowDenoising { denoiser, signal, velocity }: ShadowDenoising<'a>,
) -> [ImageHandle; 2] {
    let [diffuse, specular] = frame.lost;
    let noisy = DenoiserImages { diffuse, specular };
    let denoised = denoiser.declare(
        g,
        data,
        signal,
        DenoiserInputs { gbuffer, velocity, noisy, weights: None },
    );
    [denoised.diffuse, denoised.specular]
}

/// Use of the rays of neighboring pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reuse {
    /// Own rays only.
    None,
    /// By light: pixels evaluate the same lights.
    Lights,
    /// By slots of a light cut: pixels may sample lights.
    Cuts,
}

impl Reuse {
    /// `samples`: the frame's clusters may have light cuts.
    const fn of(reuses: bool, samples: bool) -> Self {
        match (reuses, samples) {
            (false, _) => Self::None,
            (true, false) => Self::Lights,
            (true, true) => Self::Cuts,
        }
    }

    const fn shader(self) -> &'static str {
        match self {
            Self::None => "shadow_rays_lost.comp",
            Self::Lights => "shadow_rays_lost.comp+REUSE",
            Self::Cuts => "shadow_rays_lost.comp+REUSE+CUTS",
        }
    }
}

/// Pipelines of the passes, created on first use.
pub struct ShadowRaysPass {
    gpu: Gpu,
    kernels: RayKernels,
    view_rays: LazyPipeline,
    /// In the order of `Reuse`.
    lost: [LazyPipeline; 3],
    /// Without and with separate diffuse and specular light.
    resolve: [LazyPipeline; 2],
}

impl ShadowRaysPass {
    /// Creates the pass without pipelines.
    #[must_use]
    pub fn new(gpu: &Gpu) -> Self {
        Self {
            gpu: gpu.clone(),
            kernels: RayKernels::default(),
            view_rays: LazyPipeline::new(gpu, "shadow rays: view rays", "shadow_rays.comp"),
            lost: [Reuse::None, Reuse::Lights, Reuse::Cuts]
                .map(|reuse| LazyPipeline::new(gpu, "shadow rays: lost light", reuse.shader())),
            resolve: ["shadow_rays_resolve.comp", "shadow_rays_resolve.comp+SPLIT_LIGHTING"]
                .map(|shader| LazyPipeline::new(gpu, "shadow rays: resolve", shader)),
        }
    }

    /// The jobs that create those pipelines of a frame that do not exist: a still view ends without
    /// the rays of neighbors.
    pub fn jobs<'a>(
        &'a self,
        (budget, gpu_bvh): (ShadowRayBudget, &'a FrameBvh),
        split: bool,
    ) -> Vec<PipelineJob<'a>> {
        let kernel = |question: RayQuestion| -> (bool, PipelineJob<'a>) {
            let create = move || self.kernels.get(&self.gpu, question, gpu_bvh).map(drop);
            (self.kernels.has(question, gpu_bvh), Box::new(create))
        };
        let lazy = |pipeline: &'a LazyPipeline| -> (bool, PipelineJob<'a>) {
            (pipeline.exists(), Box::new(move || pipeline.get().map(drop)))
        };
        let lost = [false, true]
            .map(|reuses| lazy(&self.lost[Reuse::of(reuses, budget.lights > 0) as usize]));
        let jobs: [(bool, PipelineJob<'a>); 4] = [
            kernel(RayQuestion::Closest),
            kernel(RayQuestion::Any),
            lazy(&self.view_rays),
            lazy(&self.resolve[usize::from(split)]),
        ];
        jobs.into_iter().chain(lost).filter(|(exists, _)| !exists).map(|(_, job)| job).collect()
    }

    /// Declares the buffers and images of a frame.
    #[must_use]
    pub fn begin(g: &mut Graph<'_>, size: [u32; 2], budget: ShadowRayBudget) -> ShadowRayFrame {
        let [width, height] = size;
        let bands = bands(size, budget);
        let rows = bands.iter().map(|band| band.rows).max().unwrap_or(1);
        let pixels = u64::from(width) * u64::from(rows);
        let each = pixels * u64::from(budget.rays);
        let sampled = sampled_losses(budget) * pixels;
        let mut image = |name: &str| g.image(name, width, height, LIGHT);
        let unshadowed = ["unshadowed diffuse", "unshadowed specular"].map(&mut image);
        let lost = ["lost diffuse fraction", "lost specular fraction"].map(&mut image);
        ShadowRayFrame {
            size,
            bands,
            unshadowed,
            lost,
            rays: g.storage("shadow rays", each * RAY_BYTES),
            view_hits: g.storage("shadow ray view hits", pixels * HIT_BYTES),
            losses: g.storage("shadow ray losses", (each + sampled) * LOSS_BYTES),
            hits: g.storage("shadow ray hits", each * ANY_HIT_BYTES),
        }
    }

    /// Declares the passes that find the surface of each pixel of a band, before the lighting pass.
    pub fn declare_view_rays<'a>(
        &'a self,
        g: &mut Graph<'a>,
        data: &'a FrameData,
        gbuffer: Gbuffer,
        (gpu_bvh, dependencies): (&'a FrameBvh, BvhDependencies),
        (frame, band): (&ShadowRayFrame, ShadowRayBandConstants),
    ) {
        let width = data.uniforms.values.size[0];
        g.compute_with(&band_name("shadow rays: view rays", frame, band), move || {
            self.view_rays.get()
        })
        .binds([data.uniform()])
        .sampled("depth_image", gbuffer.depth)
        .written("ray_block", frame.rays)
        .push(&band)
        .dispatch([width.div_ceil(GROUP), band.rows.div_ceil(GROUP), 1]);
        rays::declare(
            g,
            &band_name("shadow rays: surfaces", frame, band),
            move || self.kernels.get(&self.gpu, RayQuestion::Closest, gpu_bvh),
            (gpu_bvh, dependencies),
            RayBuffers { rays: frame.rays, hits: frame.view_hits },
            RayLayers { width, rows: band.rows, layers: 1 },
        );
    }

    /// Declares the passes that trace the shadow rays of a band and estimate the lost light, after
    /// the lighting pass. With the G-buffer, estimates use the rays of neighboring pixels too.
    pub fn declare_lost_light<'a>(
        &'a self,
        g: &mut Graph<'a>,
        data: &'a FrameData,
        (gpu_bvh, dependencies): (&'a FrameBvh, BvhDependencies),
        (frame, band): (&ShadowRayFrame, ShadowRayBandConstants),
        reuse: Option<Gbuffer>,
    ) {
        let width = data.uniforms.values.size[0];
        rays::declare(
            g,
            &band_name("shadow rays", frame, band),
            move || self.kernels.get(&self.gpu, RayQuestion::Any, gpu_bvh),
            (gpu_bvh, dependencies),
            RayBuffers { rays: frame.rays, hits: frame.hits },
            RayLayers { width, rows: band.rows, layers: band.rays },
        );
        let kind = Reuse::of(reuse.is_some(), band.sampled > 0);
        let pass = g
            .compute_with(&band_name("shadow rays: lost light", frame, band), move || {
                self.lost[kind as usize].get()
            })
            .binds([data.uniform()])
            .storage("loss_block", frame.losses)
            .storage("hit_block", frame.hits)
            .with(reuse, |pass, gbuffer| pass.sampled_each(gbuffer.depth_and_normal()))
            .with((kind == Reuse::Lights).then_some(&data.lights), |pass, lights| {
                pass.storage("light_block", lights)
            })
            .push(&band);
        ["out_diffuse_image", "out_specular_image"]
            .into_iter()
            .zip(frame.lost)
            .fold(pass, |pass, (name, lost)| bind_band(pass, name, lost, band.first_row == 0))
            .dispatch(pixel_groups::dispatch([width, band.rows]));
    }

    /// Declares the pass that adds the shadowed light to the image, and to its diffuse and specular
    /// parts. `lost`: the lost fractions, denoised or not; `limit_counters`: of
    /// `passes::limit_counters`.
    pub fn declare_resolve<'a>(
        &'a self,
        g: &mut Graph<'a>,
        (frame, lost): (&ShadowRayFrame, [ImageHandle; 2]),
        budget: ShadowRayBudget,
        (light, split): (ImageHandle, Option<(ImageHandle, ImageHandle)>),
        limit_counters: BufferHandle,
    ) {
        let is_split = split.is_some();
        g.compute_with("shadow rays: resolve", move || self.resolve[usize::from(is_split)].get())
            .sampled("unshadowed_diffuse_image", frame.unshadowed[0])
            .sampled("unshadowed_specular_image", frame.unshadowed[1])
            .sampled("lost_diffuse_image", lost[0])
            .sampled("lost_specular_image", lost[1])
            .updated("limit_counter_block", limit_counters)
            .push(&if budget.averaged { f32::MIN } else { 0.0 })
            .image_updated("light_image", light)
            .with(split, |pass, (diffuse, specular)| {
                pass.image_updated("direct_diffuse_image", diffuse)
                    .image_updated("direct_specular_image", specular)
            })
            .dispatch(pixel_groups::dispatch(frame.size));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_cover_all_rows_within_the_limit() {
        let of = |rays, lights, max_bytes, size| {
            let budget = ShadowRayBudget {
                rays,
                max_bytes,
                averaged: false,
                lights,
                light_samples: 1,
                denoised: false,
                reuse: false,
            };
            let all = bands(size, budget);
            let mut next = 0;
            for band in &all {
                assert_eq!((band.first_row, band.rays), (next, rays));
                next += band.rows;
            }
            assert_eq!(next, size[1]);
            all.iter().map(|band| band.rows).collect::<Vec<_>>()
        };
        assert_eq!(of(2, 0, MAX_RAY_BUFFER_BYTES, [1920, 1080]), [1080]);
        let rows = of(2, 0, MAX_RAY_BUFFER_BYTES, [3840, 2160]);
        assert!(rows.iter().all(|&rows| u64::from(rows) * 3840 * 80 <= MAX_RAY_BUFFER_BYTES));
        assert_eq!(rows.len(), 3);
        // Whole tiles, and at least one.
        assert_eq!(of(1, 0, 100 * RAY_BYTES * 20, [100, 50]), [16, 16, 16, 2]);
        // With one ray and sampled lights, losses are larger than rays.
        assert_eq!(of(1, 16, 100 * 3 * LOSS_BYTES * 20, [100, 50]), [16, 16, 16, 2]);
        assert_eq!(of(1, 16, 100 * RAY_BYTES * 16, [100, 50])[0], 8);
        assert_eq!(of(64, 0, 1, [100, 20]), [8, 8, 4]);
    }
}
