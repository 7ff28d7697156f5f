//! Ray passes: a small compute kernel traces the rays of a buffer through the BVH, for passes that
//! write rays and read hits. Also for rays of the host (`sunny16 bench --what rays`).

use std::{
    sync::{Arc, OnceLock},
    time::Instant,
};

use glam::DVec3;

use super::{creation::get_or_create, ray_query::BvhDependencies};
use crate::{
    bvh::{Ray, SceneBvh},
    gpu::{
        Buffer, BufferKind, ComputePipeline, Frames, Gpu, GpuError, GpuResult,
        shader_structs::{
            features::FEATURE_ALPHA_MASKS,
            rays::{RayGridConstants, TraceHit, TraceRay},
        },
        upload::Uploader,
    },
    gpu_scene::{FrameBvh, GpuScene, storage_buffer},
    graph::{BufferHandle, Graph, GraphCache},
    scene::Scene,
};

const SHADER: &str = "rays.comp";
/// Work group size.
const GROUP: u32 = 64;
/// Width and height of the tile of rays that a work group traces.
const TILE: u32 = 8;
/// Bytes of a ray.
pub const RAY_BYTES: u64 = size_of::<TraceRay>() as u64;
/// Bytes of a closest hit.
pub const HIT_BYTES: u64 = size_of::<TraceHit>() as u64;
/// Bytes of an any-hit result: the hit distance, or `bvh::NONE`.
pub const ANY_HIT_BYTES: u64 = size_of::<u32>() as u64;

/// What a ray kernel finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RayQuestion {
    /// The closest hit, as a `TraceHit`.
    Closest,
    /// The distance of the first hit found among shadow casters, as float bits in a word.
    Any,
    /// The same hit as a `TraceHit`.
    AnyWhole,
}

impl RayQuestion {
    /// The shader variant for a BVH.
    fn shader(self, query: bool) -> String {
        let hits = match self {
            Self::Closest => "",
            Self::Any => "+ANY_HIT",
            Self::AnyWhole => "+ANY_HIT+WHOLE_HITS",
        };
        format!("{SHADER}{hits}{}", if query { "+USE_RAY_QUERY" } else { "" })
    }

    /// A kernel for a BVH: without the code of alpha masks if it has none.
    fn kernel(self, gpu: &Gpu, gpu_bvh: &FrameBvh) -> GpuResult<Arc<ComputePipeline>> {
        let shader = self.shader(gpu_bvh.structure().is_some());
        let features = if gpu_bvh.masked() { FEATURE_ALPHA_MASKS } else { 0 };
        let name = match (self, gpu_bvh.masked()) {
            (Self::Closest, false) => "rays closest",
            (Self::Closest, true) => "rays closest alpha_masks",
            (_, false) => "rays any",
            (_, true) => "rays any alpha_masks",
        };
        ComputePipeline::specialized(gpu, name, &shader, &[features])
    }
}

/// Rays of a buffer: a grid for each layer, row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RayLayers {
    /// Rays of a row.
    pub width: u32,
    /// Rows of a layer.
    pub rows: u32,
    /// Layers, at most 65,535.
    pub layers: u32,
}

/// Ray kernels of a renderer, created on first use. The backend is the same for the whole device.
#[derive(Default)]
pub struct RayKernels {
    /// By question and alpha masks.
    kernels: [[OnceLock<Arc<ComputePipeline>>; 2]; 3],
}

impl RayKernels {
    fn slot(&self, question: RayQuestion, masked: bool) -> &OnceLock<Arc<ComputePipeline>> {
        let [closest, any, any_whole] = &self.kernels;
        let [plain, with_masks] = match question {
            RayQuestion::Closest => closest,
            RayQuestion::Any => any,
            RayQuestion::AnyWhole => any_whole,
        };
        if masked { with_masks } else { plain }
    }

    /// True if the kernel for a BVH exists.
    #[must_use]
    pub fn has(&self, question: RayQuestion, gpu_bvh: &FrameBvh) -> bool {
        self.slot(question, gpu_bvh.masked()).get().is_some()
    }

    /// The kernel for a BVH.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn get(
        &self,
        gpu: &Gpu,
        question: RayQuestion,
        gpu_bvh: &FrameBvh,
    ) -> GpuResult<Arc<ComputePipeline>> {
        let slot = self.slot(question, gpu_bvh.masked());
        get_or_create(slot, || question.kernel(gpu, gpu_bvh))
    }
}

/// Buffers of a ray pass.
#[derive(Clone, Copy)]
pub struct RayBuffers {
    /// `TraceRay`s.
    pub rays: BufferHandle,
    /// Their hits.
    pub hits: BufferHandle,
}

/// Declares a pass that traces all rays of a buffer. `kernel` finds the kernel for this BVH.
pub fn declare<'a>(
    g: &mut Graph<'a>,
    name: &str,
    kernel: impl FnOnce() -> GpuResult<Arc<ComputePipeline>> + 'a,
    (gpu_bvh, dependencies): (&FrameBvh, BvhDependencies),
    buffers: RayBuffers,
    RayLayers { width, rows, layers }: RayLayers,
) {
    g.compute_with(name, kernel)
        .storage("ray_block", buffers.rays)
        .written("hit_block", buffers.hits)
        .also_uses(dependencies.by_compute())
        .binds(gpu_bvh.binds())
        .push(&RayGridConstants { width, rows })
        .dispatch([width.div_ceil(TILE), rows.div_ceil(TILE), layers]);
}

/// Maximum rays per dispatch: every device supports at least 65,535 work groups along x.
pub const MAX_RAYS: usize = 65_535 * GROUP as usize;
/// Maximum repetitions of a timed submission: each is a pass, and timers exist for 128.
pub const MAX_REPETITIONS: u32 = 100;

/// BVH of a scene on the device, with the kernels that traverse it.
pub struct DeviceTracer {
    gpu: Gpu,
    gpu_bvh: FrameBvh,
    closest: Arc<ComputePipeline>,
    any: Arc<ComputePipeline>,
    frames: Frames,
    cache: GraphCache,
    runs: u64,
}

/// Rays on the device.
pub struct RayBatch {
    buffer: Arc<Buffer>,
    count: u32,
    any: bool,
}

impl RayBatch {
    fn hit_bytes(&self) -> u64 {
        u64::from(self.count.max(1)) * size_of::<TraceHit>() as u64
    }
}

/// Time that a submission of rays took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TraceTime {
    /// Sum of the passes by device timestamps in s. Software drivers may report about 0 for a
    /// submission without draws.
    pub device: f64,
    /// From submission to completion on the host's clock in s.
    pub host: f64,
}

impl DeviceTracer {
    /// Uploads a BVH for rays relative to an eye. With `query`, rays use ray query if the device
    /// was opened with it. Returns `None` if the BVH is empty.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline, memory runs out, or the device is lost.
    pub fn new(
        gpu: &Gpu,
        (scene, bvh): (&Scene, &SceneBvh),
        eye: DVec3,
        query: bool,
    ) -> GpuResult<Option<Self>> {
        let mut uploader = Uploader::new(gpu)?;
        let gpu_bvh = FrameBvh::of(gpu, &mut uploader, (bvh, scene), eye)?;
        Self::with_bvh(gpu, uploader, gpu_bvh, query)
    }

    /// Uses a scene's BVH as the last frame left it on the device.
    ///
    /// # Errors
    /// As `new`; also if the scene was uploaded without a BVH.
    pub fn of_scene(
        gpu: &Gpu,
        scene: &GpuScene,
        eye: DVec3,
        query: bool,
    ) -> GpuResult<Option<Self>> {
        Self::with_bvh(gpu, Uploader::new(gpu)?, FrameBvh::new(gpu, scene, eye, 0)?, query)
    }

    fn with_bvh(
        gpu: &Gpu,
        mut uploader: Uploader,
        gpu_bvh: Option<FrameBvh>,
        query: bool,
    ) -> GpuResult<Option<Self>> {
        let Some(mut gpu_bvh) = gpu_bvh else { return Ok(None) };
        if !query {
            gpu_bvh.force_software();
        }
        if let Some(top) = gpu_bvh.structure() {
            let scratch =
                Buffer::new(gpu, "ray query scratch", top.scratch(), BufferKind::Storage)?;
            uploader.then("ray query: instances", |rec| rec.build_tlas(top, &scratch))?;
        }
        uploader.finish()?;
        Ok(Some(Self {
            gpu: gpu.clone(),
            closest: RayQuestion::Closest.kernel(gpu, &gpu_bvh)?,
            any: RayQuestion::AnyWhole.kernel(gpu, &gpu_bvh)?,
            gpu_bvh,
            frames: Frames::new(gpu, 1)?,
            cache: GraphCache::default(),
            runs: 0,
        }))
    }

    /// Uploads rays, at most `MAX_RAYS`; further ones are dropped. With `any`, the first hit of a
    /// shadow caster found ends a ray.
    ///
    /// # Errors
    /// `GpuError` if memory runs out or the device is lost.
    pub fn upload_rays(&self, rays: &[Ray], any: bool) -> GpuResult<RayBatch> {
        let sent: Vec<TraceRay> = rays
            .iter()
            .take(MAX_RAYS)
            .map(|ray| TraceRay {
                origin: ray.origin,
                reach: ray.t_max.min(f32::MAX),
                direction: ray.direction,
                offset_normal: ray.offset_normal,
            })
            .collect();
        let mut uploader = Uploader::new(&self.gpu)?;
        let least = size_of::<TraceRay>() as u64;
        let bytes = bytemuck::cast_slice(&sent);
        let buffer =
            storage_buffer(&self.gpu, &mut uploader, ("rays", least), bytes, "send fewer rays")?;
        uploader.finish()?;
        Ok(RayBatch { buffer, count: sent.len() as u32, any })
    }

    fn kernel(&self, rays: &RayBatch) -> &Arc<ComputePipeline> {
        if rays.any { &self.any } else { &self.closest }
    }

    /// Traces the rays and returns their hits.
    ///
    /// # Errors
    /// `GpuError` if memory runs out or the device is lost.
    pub fn trace(&mut self, rays: &RayBatch) -> GpuResult<Vec<TraceHit>> {
        let mut graph = Graph::new(self.runs);
        self.runs += 1;
        let bytes = rays.hit_bytes();
        let hits = declare_batch(&mut graph, (self.kernel(rays), &self.gpu_bvh), rays, 1);
        let out = graph.read_back_buffer("ray hits", hits, bytes);
        let mut rec = self.frames.begin()?;
        let executed = graph.execute(&mut rec, &mut self.cache)?;
        let ticket = rec.submit()?;
        self.frames.wait(ticket)?;
        let buffer = executed.buffer(out).ok_or_else(|| GpuError::Pipeline {
            pipeline: "rays".into(),
            detail: "the ray hits were not read back".into(),
        })?;
        let hits =
            buffer.mapped().chunks_exact(size_of::<TraceHit>()).map(bytemuck::pod_read_unaligned);
        Ok(hits.take(rays.count as usize).collect())
    }

    /// Traces the rays `repetitions` times (at most `MAX_REPETITIONS`) in one submission, without
    /// reading the hits back, and measures it.
    ///
    /// # Errors
    /// `GpuError` if memory runs out or the device is lost.
    pub fn time(&mut self, rays: &RayBatch, repetitions: u32) -> GpuResult<TraceTime> {
        let mut graph = Graph::new(self.runs);
        self.runs += 1;
        let traced_by = (self.kernel(rays), &self.gpu_bvh);
        let repetitions = repetitions.clamp(1, MAX_REPETITIONS);
        let hits = declare_batch(&mut graph, traced_by, rays, repetitions);
        graph.output(hits);
        let mut rec = self.frames.begin()?;
        graph.execute(&mut rec, &mut self.cache)?;
        let start = Instant::now();
        let ticket = rec.submit()?;
        self.frames.wait(ticket)?;
        let host = start.elapsed().as_secs_f64();
        let device = self.frames.times(ticket).iter().map(|pass| pass.ms).sum::<f64>() * 1e-3;
        Ok(TraceTime { device, host })
    }
}

/// Declares passes `rays` that trace the same rays one after another into one buffer of hits.
fn declare_batch<'a>(
    graph: &mut Graph<'a>,
    (kernel, gpu_bvh): (&Arc<ComputePipeline>, &'a FrameBvh),
    rays: &'a RayBatch,
    repetitions: u32,
) -> BufferHandle {
    let hits = graph.storage("ray hits", rays.hit_bytes());
    for repetition in 0..repetitions {
        let pass = graph.compute("rays", kernel).storage("ray_block", &rays.buffer);
        // A pass whose writes are overwritten would be culled: all but the first also read.
        let pass = if repetition == 0 {
            pass.written("hit_block", hits)
        } else {
            pass.updated("hit_block", hits)
        };
        pass.binds(gpu_bvh.binds())
            .push(&RayGridConstants { width: rays.count, rows: 0 })
            .dispatch([rays.count.div_ceil(GROUP).max(1), 1, 1]);
    }
    hits
}
