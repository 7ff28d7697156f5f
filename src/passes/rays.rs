//! Host rays traced on the device through the same BVH, for benchmarks (`sunny16 bench --what
//! rays`).

use std::{sync::Arc, time::Instant};

use glam::DVec3;

use crate::{
    bvh::{Ray, SceneBvh},
    gpu::{
        Buffer, BufferKind, ComputePipeline, Frames, Gpu, GpuError, GpuResult,
        shader_structs::{
            features::FEATURE_ALPHA_MASKS,
            rays::{TraceHit, TraceRay},
        },
        upload::Uploader,
    },
    gpu_scene::{FrameBvh, GpuScene, storage_buffer},
    graph::{BufferHandle, Graph, GraphCache},
    scene::Scene,
};

/// Work group size.
const GROUP: u32 = 64;
/// Maximum rays per dispatch: every device supports at least 65,535 work groups along x.
pub const MAX_RAYS: usize = 65_535 * GROUP as usize;
/// Maximum repetitions of a timed submission: each is a pass, and timers exist for 128.
pub const MAX_REPETITIONS: u32 = 100;

/// BVH of a scene on the device, with the pipeline that traverses it.
pub struct DeviceTracer {
    gpu: Gpu,
    gpu_bvh: FrameBvh,
    pipeline: Arc<ComputePipeline>,
    frames: Frames,
    cache: GraphCache,
    runs: u64,
}

/// Rays on the device.
pub struct RayBatch {
    buffer: Arc<Buffer>,
    count: u32,
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
        Self::with_bvh(gpu, Uploader::new(gpu)?, FrameBvh::new(gpu, scene, eye)?, query)
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
        let shader = match gpu_bvh.structure() {
            Some(_) => "rays.comp+USE_RAY_QUERY",
            None => "rays.comp",
        };
        let features = if gpu_bvh.masked() { FEATURE_ALPHA_MASKS } else { 0 };
        Ok(Some(Self {
            gpu: gpu.clone(),
            gpu_bvh,
            pipeline: ComputePipeline::specialized(gpu, "rays", shader, &[features])?,
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
                any: u32::from(any),
                offset_normal: ray.offset_normal,
                ..TraceRay::default()
            })
            .collect();
        let mut uploader = Uploader::new(&self.gpu)?;
        let least = size_of::<TraceRay>() as u64;
        let bytes = bytemuck::cast_slice(&sent);
        let buffer =
            storage_buffer(&self.gpu, &mut uploader, ("rays", least), bytes, "send fewer rays")?;
        uploader.finish()?;
        Ok(RayBatch { buffer, count: sent.len() as u32 })
    }

    /// Traces the rays and returns their hits.
    ///
    /// # Errors
    /// `GpuError` if memory runs out or the device is lost.
    pub fn trace(&mut self, rays: &RayBatch) -> GpuResult<Vec<TraceHit>> {
        let mut graph = Graph::new(self.runs);
        self.runs += 1;
        let bytes = rays.hit_bytes();
        let hits = declare(&mut graph, (&self.pipeline, &self.gpu_bvh), rays, 1);
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
        let traced_by = (&self.pipeline, &self.gpu_bvh);
        let hits = declare(&mut graph, traced_by, rays, repetitions.clamp(1, MAX_REPETITIONS));
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
fn declare<'a>(
    graph: &mut Graph<'a>,
    (pipeline, gpu_bvh): (&Arc<ComputePipeline>, &'a FrameBvh),
    rays: &'a RayBatch,
    repetitions: u32,
) -> BufferHandle {
    let hits = graph.storage("ray hits", rays.hit_bytes());
    for repetition in 0..repetitions {
        let pass = graph.compute("rays", pipeline).storage("ray_block", &rays.buffer);
        // A pass whose writes are overwritten would be culled: all but the first also read.
        let pass = if repetition == 0 {
            pass.written("hit_block", hits)
        } else {
            pass.updated("hit_block", hits)
        };
        pass.binds(gpu_bvh.binds()).push(&rays.count).dispatch([
            rays.count.div_ceil(GROUP).max(1),
            1,
            1,
        ]);
    }
    hits
}
