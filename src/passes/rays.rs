//! The host's rays on the device, by the same trees: for measuring (`sunny16 bench --what rays`).

use std::{sync::Arc, time::Instant};

use glam::{DVec3, Vec2, Vec3};

use super::{GpuScene, scene_bvh::FrameBvh, storage_buffer};
use crate::{
    bvh::{Ray, SceneBvh},
    gpu::{
        Bind, Buffer, BufferKind, ComputePipeline, Frames, Gpu, GpuError, GpuResult,
        upload::Uploader,
    },
    graph::{Access, Graph, GraphCache},
    scene::Scene,
    shader_struct,
};

/// Threads of a work group.
const GROUP: u32 = 64;
/// Rays of one dispatch at most: a device has 65,535 work groups in a row at least.
pub const MAX_RAYS: usize = 65_535 * GROUP as usize;

shader_struct! {
    /// A ray of the host's (`shaders/shared/rays.glsl`).
    pub struct TraceRay {
        /// Where it begins (m).
        pub origin: Vec3,
        /// Hits at or beyond this are none, in units of the direction.
        pub reach: f32,
        /// Where it goes.
        pub direction: Vec3,
        /// 1: whichever hit is found first of what casts shadows.
        pub any: u32,
        /// Unit normal of the surface that it leaves, or zero.
        pub away: Vec3,
        /// Padding.
        pub pad0: u32,
    }
}

shader_struct! {
    /// What a ray met.
    pub struct TraceHit {
        /// Where, in units of the direction.
        pub t: f32,
        /// Which instance; `bvh::NONE` where it met nothing.
        pub instance: u32,
        /// Weights of the second and third vertex.
        pub barycentric: Vec2,
        /// Which triangle; 0 where it met nothing.
        pub triangle: u32,
    }
}

/// All structs that the shader shares, for the layout test.
pub const LAYOUTS: [crate::gpu::reflect::HostLayout; 2] = [TraceRay::LAYOUT, TraceHit::LAYOUT];

/// A scene's trees on the device with the pipeline that walks them.
pub struct DeviceTracer {
    gpu: Gpu,
    trees: FrameBvh,
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

impl DeviceTracer {
    /// Of trees that were built, for rays relative to an eye: by ray query, with `query`, where the
    /// device was opened with it. None where they hold nothing.
    ///
    /// # Errors
    /// Out of memory; a pipeline that the driver refuses; a lost device.
    pub fn new(
        gpu: &Gpu,
        (scene, bvh): (&Scene, &SceneBvh),
        eye: DVec3,
        query: bool,
    ) -> GpuResult<Option<Self>> {
        let mut uploader = Uploader::new(gpu)?;
        let trees = FrameBvh::of(gpu, &mut uploader, (bvh, scene), eye)?;
        Self::through(gpu, uploader, trees, query)
    }

    /// The same of a scene's trees as the last frame has left them on the device.
    ///
    /// # Errors
    /// The same; a scene that was uploaded without trees.
    pub fn of_scene(
        gpu: &Gpu,
        scene: &GpuScene,
        eye: DVec3,
        query: bool,
    ) -> GpuResult<Option<Self>> {
        Self::through(gpu, Uploader::new(gpu)?, FrameBvh::new(gpu, scene, eye)?, query)
    }

    fn through(
        gpu: &Gpu,
        mut uploader: Uploader,
        trees: Option<FrameBvh>,
        query: bool,
    ) -> GpuResult<Option<Self>> {
        let Some(mut trees) = trees else { return Ok(None) };
        if !query {
            trees.force_software();
        }
        if let Some(top) = trees.structure() {
            let scratch =
                Buffer::new(gpu, "ray query scratch", top.scratch(), BufferKind::Storage)?;
            uploader.then("ray query: places", |rec| rec.build_tlas(top, &scratch))?;
        }
        uploader.finish()?;
        let shader = match trees.structure() {
            Some(_) => "rays.comp+USE_RAY_QUERY",
            None if trees.masked() => "rays.comp+BVH_ALPHA_MASKS",
            None => "rays.comp",
        };
        Ok(Some(Self {
            gpu: gpu.clone(),
            trees,
            pipeline: ComputePipeline::new(gpu, "rays", shader)?,
            frames: Frames::new(gpu, 1)?,
            cache: GraphCache::default(),
            runs: 0,
        }))
    }

    /// Brings rays to the device, `MAX_RAYS` at most: those beyond are left out. With `any`,
    /// whichever hit of what casts shadows is found first is one.
    ///
    /// # Errors
    /// Out of memory; a lost device.
    pub fn send(&self, rays: &[Ray], any: bool) -> GpuResult<RayBatch> {
        let sent: Vec<TraceRay> = rays
            .iter()
            .take(MAX_RAYS)
            .map(|ray| TraceRay {
                origin: ray.origin,
                reach: ray.t_max.min(f32::MAX),
                direction: ray.direction,
                any: u32::from(any),
                away: ray.away,
                ..TraceRay::default()
            })
            .collect();
        let mut uploader = Uploader::new(&self.gpu)?;
        let least = size_of::<TraceRay>() as u64;
        let bytes = bytemuck::cast_slice(&sent);
        let buffer = storage_buffer(
            &self.gpu,
            &mut uploader,
            ("sent rays", least),
            bytes,
            "send fewer rays",
        )?;
        uploader.finish()?;
        Ok(RayBatch { buffer, count: sent.len() as u32 })
    }

    /// Traces them; what they met, and the seconds from when the device had its commands until it
    /// was done.
    ///
    /// # Errors
    /// Out of memory; a lost device.
    pub fn trace(&mut self, rays: &RayBatch) -> GpuResult<(Vec<TraceHit>, f64)> {
        let mut graph = Graph::new(self.runs);
        self.runs += 1;
        let bytes = u64::from(rays.count.max(1)) * size_of::<TraceHit>() as u64;
        let (met, out) =
            (graph.storage("met rays", bytes), graph.readback("met rays on the host", bytes));
        let (trees, pipeline) = (&self.trees, &self.pipeline);
        graph.pass("rays").uses(met, Access::ComputeStorageWrite).record(move |cx| {
            let met = cx.buffer(met);
            let mut binds = vec![
                ("ray_block", Bind::Storage(&rays.buffer)),
                ("hit_block", Bind::Storage(&met)),
            ];
            binds.extend(trees.binds());
            cx.rec.bind_compute(pipeline, &binds)?;
            cx.rec.push_compute(pipeline, &rays.count);
            cx.rec.dispatch(rays.count.div_ceil(GROUP).max(1), 1, 1);
            Ok(())
        });
        graph
            .pass("read back met rays")
            .uses(met, Access::CopyFrom)
            .uses(out, Access::CopyTo)
            .record(move |cx| {
                let (from, to) = (cx.buffer(met), cx.buffer(out));
                cx.rec.copy_buffer(&from, &to, 0, 0, bytes);
                Ok(())
            });
        let mut rec = self.frames.begin()?;
        let executed = graph.execute(&mut rec, &mut self.cache)?;
        let start = Instant::now();
        let ticket = rec.submit()?;
        self.frames.wait(ticket)?;
        let seconds = start.elapsed().as_secs_f64();
        let buffer = executed.buffer(out).ok_or_else(|| GpuError::Pipeline {
            pipeline: "rays".into(),
            detail: "what they met was not read back".into(),
        })?;
        let met =
            buffer.mapped().chunks_exact(size_of::<TraceHit>()).map(bytemuck::pod_read_unaligned);
        Ok((met.take(rays.count as usize).collect(), seconds))
    }
}
