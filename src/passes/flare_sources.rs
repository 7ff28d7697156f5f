//! Flare sources of a frame, found on the device: all lights that shine into the lens, inside or
//! outside the image, and other image regions brighter than white. Starbursts and lens ghosts read
//! this list (docs/starburst.md).

use std::sync::{Arc, Mutex, PoisonError};

use glam::{Vec3, Vec4, vec4};

use super::{ray_query::BvhDependencies, scene_frame::SceneFrame};
use crate::{
    gpu::{
        ComputePipeline, Gpu, GpuResult,
        shader_structs::flare_sources::{
            FlareConstants, FlareSource, FlareTile, MAX_CLUSTERS, MAX_SOURCES,
        },
    },
    gpu_scene::{FrameBvh, FrameData, FrameUniforms},
    graph::{BufferHandle, Graph, ImageHandle},
};

/// Tile size per axis in pixels (`BRIGHT_TILE` in the shaders).
const TILE: u32 = 16;

/// Header bytes before the sources: sources kept, sources found, sources dropped, and the light of
/// the dropped ones.
pub const HEADER: u64 = 16;

/// Work group size of the light pass.
const GROUP: u32 = 64;

/// Buffers that the passes write.
#[derive(Clone, Copy, Debug)]
pub struct FlareSources {
    /// Four words (`HEADER`), then `MAX_SOURCES` `FlareSource`s, the brightest first.
    pub list: BufferHandle,
    /// `FlareTile`s, row by row: cluster membership of the bright pixels.
    pub tiles: BufferHandle,
}

/// Pipelines of the flare source passes.
pub struct FlareSourcesPass {
    gpu: Gpu,
    /// Without rays, with the software BVH, with ray query; created on demand.
    light_pipelines: [Mutex<Option<Arc<ComputePipeline>>>; 3],
    tiles: Arc<ComputePipeline>,
    sources: Arc<ComputePipeline>,
}

/// Camera right and up in world axes, and the tangent of the angle that a pixel subtends on the
/// axis.
#[must_use]
pub fn camera_axes(frame: &FrameUniforms) -> ([Vec4; 2], f32) {
    let inverse = frame.values.inverse_projection;
    let at = |x: f32, y: f32| -> Vec3 {
        let p = inverse * vec4(x, y, 1.0, 1.0);
        p.truncate() / p.w
    };
    // Image y points down.
    let (across, along) = (at(1.0, 0.0) - at(-1.0, 0.0), at(0.0, -1.0) - at(0.0, 1.0));
    let near = at(0.0, 0.0).dot(frame.values.forward.truncate());
    let pitch = across.length() / near / frame.values.size[0] as f32;
    ([across.normalize_or_zero().extend(0.0), along.normalize_or_zero().extend(0.0)], pitch)
}

impl FlareSourcesPass {
    /// Creates the pipelines.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        Ok(Self {
            gpu: gpu.clone(),
            light_pipelines: Default::default(),
            tiles: ComputePipeline::new(gpu, "flare sources tiles", "flare_sources_tiles.comp")?,
            sources: ComputePipeline::new(gpu, "flare sources", "flare_sources.comp")?,
        })
    }

    fn light_pipeline(&self, data: &FrameData) -> GpuResult<Arc<ComputePipeline>> {
        let (index, name, shader) = match &data.flare_bvh {
            None => (0, "flare sources lights", "flare_sources_lights.comp"),
            Some(gpu_bvh) if gpu_bvh.structure().is_some() => (
                2,
                "flare sources lights traced bvh_query",
                "flare_sources_lights.comp+RAY_TRACED_SHADOWS+USE_RAY_QUERY",
            ),
            Some(_) => {
                (1, "flare sources lights traced", "flare_sources_lights.comp+RAY_TRACED_SHADOWS")
            }
        };
        let mut made = self.light_pipelines[index].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pipeline) = &*made {
            return Ok(Arc::clone(pipeline));
        }
        let pipeline = ComputePipeline::new(&self.gpu, name, shader)?;
        *made = Some(Arc::clone(&pipeline));
        Ok(pipeline)
    }

    /// Declares the passes. Depth and light are at output resolution in a perspective projection;
    /// `gpu_bvh` is the BVH refitted in this frame.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        SceneFrame { data, output, .. }: SceneFrame<'a>,
        depth: ImageHandle,
        light: ImageHandle,
        gpu_bvh: BvhDependencies,
    ) -> FlareSources {
        let tiles = output.values.size.map(|side| side.div_ceil(TILE));
        let light_count = output.values.light_count;
        let ([right, up], pitch) = camera_axes(output);
        let constants = FlareConstants { right, up, pitch, light_count, tiles };
        let source = size_of::<FlareSource>() as u64;
        let candidates =
            g.storage("flare candidates", u64::from(light_count + MAX_CLUSTERS) * source);
        let out = FlareSources {
            list: g.storage("flare sources", HEADER + u64::from(MAX_SOURCES) * source),
            tiles: g.storage(
                "flare tiles",
                u64::from(tiles[0] * tiles[1]) * size_of::<FlareTile>() as u64,
            ),
        };
        let traced = gpu_bvh.by_compute().filter(|_| data.flare_bvh.is_some());
        g.compute_with("flare sources: lights", move || self.light_pipeline(data))
            .binds([output.uniform()])
            .sampled("depth_image", depth)
            .storage("light_block", &data.lights)
            .storage("profile_block", &data.profiles)
            .also_uses(traced)
            .binds(data.flare_bvh.iter().flat_map(FrameBvh::binds))
            .written("candidate_block", candidates)
            .push(&constants)
            .dispatch([light_count.div_ceil(GROUP).max(1), 1, 1]);
        g.compute("flare sources: tiles", &self.tiles)
            .binds([output.uniform()])
            .sampled("depth_image", depth)
            .sampled("light_image", light)
            .storage("light_block", &data.lights)
            .storage("candidate_block", candidates)
            .written("flare_tile_block", out.tiles)
            .push(&constants)
            .dispatch([tiles[0], tiles[1], 1]);
        g.compute("flare sources", &self.sources)
            .binds([output.uniform()])
            .updated("candidate_block", candidates)
            .updated("flare_tile_block", out.tiles)
            .written("flare_source_block", out.list)
            .push(&constants)
            .dispatch([1, 1, 1]);
        out
    }
}
