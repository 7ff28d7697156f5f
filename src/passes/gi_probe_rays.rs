//! Rays of an irradiance volume's probes, traced by the ray kernels (docs/irradiance-volumes.md).

use std::sync::Arc;

use super::{
    creation::LazyPipeline,
    ray_query::BvhDependencies,
    rays::{
        self, ANY_HIT_BYTES, HIT_BYTES, RAY_BYTES, RayBuffers, RayKernels, RayLayers, RayQuestion,
    },
};
use crate::{
    gpu::{
        Buffer, Gpu,
        shader_structs::gi_probes::{ProbeRay, ProbeUpdateConstants},
    },
    gpu_scene::FrameBvh,
    graph::{BufferHandle, Graph, ImageHandle},
};

/// Work group size.
const GROUP: u32 = 64;

/// Images of a volume in a frame's graph.
#[derive(Clone, Copy)]
pub struct ProbeImages {
    /// Irradiance maps.
    pub irradiance: ImageHandle,
    /// Visibility maps.
    pub visibility: ImageHandle,
    /// States of the probes.
    pub states: ImageHandle,
}

/// Buffers of an update of probes.
#[derive(Clone, Copy)]
pub struct ProbeBuffers {
    /// Rays of the probes, and their hits.
    pub rays: RayBuffers,
    /// Shadow rays of the hits, and whether they are occluded.
    pub shadows: RayBuffers,
    /// `ProbeRay`s: the light along the rays.
    pub found: BufferHandle,
}

impl ProbeBuffers {
    /// Declares the buffers for this many rays.
    pub fn declare(g: &mut Graph<'_>, rays: u32) -> Self {
        let mut buffer = |name: &str, each: u64| g.storage(name, u64::from(rays) * each);
        Self {
            rays: RayBuffers {
                rays: buffer("probe rays", RAY_BYTES),
                hits: buffer("probe ray hits", HIT_BYTES),
            },
            shadows: RayBuffers {
                rays: buffer("probe shadow rays", RAY_BYTES),
                hits: buffer("probe shadow ray hits", ANY_HIT_BYTES),
            },
            found: buffer("probe ray light", size_of::<ProbeRay>() as u64),
        }
    }
}

/// Layers of the rays of an update: a row for each probe.
pub(super) const fn layers(update: &ProbeUpdateConstants) -> RayLayers {
    RayLayers { width: update.rays, rows: update.count, layers: 1 }
}

/// Work groups with an invocation for each ray.
pub(super) const fn groups(update: &ProbeUpdateConstants) -> [u32; 3] {
    [(update.rays * update.count).div_ceil(GROUP), 1, 1]
}

/// Pipelines of the pass, created on first use.
pub struct GiProbeRaysPass {
    gpu: Gpu,
    kernels: RayKernels,
    rays: LazyPipeline,
}

impl GiProbeRaysPass {
    /// Creates the pass without pipelines.
    #[must_use]
    pub fn new(gpu: &Gpu) -> Self {
        Self {
            gpu: gpu.clone(),
            kernels: RayKernels::default(),
            rays: LazyPipeline::new(gpu, "gi probe rays", "gi_probe_rays.comp"),
        }
    }

    /// Declares the passes that write the rays of an update and find their closest hits.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        (volume, states): (&Arc<Buffer>, ImageHandle),
        (gpu_bvh, dependencies): (&'a FrameBvh, BvhDependencies),
        update: &ProbeUpdateConstants,
        buffers: RayBuffers,
    ) {
        g.compute_with("gi probe rays", move || self.rays.get())
            .uniform("probe_volume_block", volume)
            .sampled("probe_state_image", states)
            .written("ray_block", buffers.rays)
            .push(update)
            .dispatch(groups(update));
        self.declare_trace(g, (gpu_bvh, dependencies), update, (RayQuestion::Closest, buffers));
    }

    /// Declares the pass that traces the rays of a buffer.
    pub fn declare_trace<'a>(
        &'a self,
        g: &mut Graph<'a>,
        (gpu_bvh, dependencies): (&'a FrameBvh, BvhDependencies),
        update: &ProbeUpdateConstants,
        (question, buffers): (RayQuestion, RayBuffers),
    ) {
        let name = match question {
            RayQuestion::Closest => "gi probe rays: hits",
            _ => "gi probe rays: shadows",
        };
        rays::declare(
            g,
            name,
            move || self.kernels.get(&self.gpu, question, gpu_bvh),
            (gpu_bvh, dependencies),
            buffers,
            layers(update),
        );
    }
}
