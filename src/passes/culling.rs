//! Instance culling on the device: frustum and occlusion tests, and indirect draws of the instances
//! that pass (docs/culling.md). `shaders/passes/culling.comp` tests; `culling_scan.comp` and
//! `culling_compact.comp` compact the result.
//!
//! Occluders are the instances that the last frame drew; a depth prepass draws them first (after
//! Haar and Aaltonen 2015, "GPU-Driven Rendering Pipelines"). The image does not depend on the
//! choice of occluders: only instances behind drawn surfaces are dropped, and the draw order does
//! not change.

use std::sync::Arc;

use super::{formats::DEPTH, scene_frame::SceneFrame};
use crate::{
    gpu::{
        Bind, Buffer, ComputePipeline, Gpu, GpuResult, GraphicsPipeline, GraphicsState, Recorder,
        commands::DRAW_COMMAND_BYTES,
        shader_structs::{culling::CullConstants, frame},
        vk,
    },
    gpu_scene::{
        self, GpuInstances, GpuScene, LodSelection, RenderQueue, SplitPoint, View, dynamic_buffer,
    },
    graph::{BufferHandle, Graph, ImageHandle},
    settings::CullingSettings,
};

/// Instances per work group (`BLOCK` in the shaders).
const BLOCK: u32 = 256;

/// Words of the report: instances drawn, instances occluded.
pub const REPORT_WORDS: u64 = 2;

/// Levels of the depth pyramid above the full-resolution depth.
const PYRAMID_LEVELS: usize = 10;

impl LodSelection {
    /// Level of detail selection for a view.
    #[must_use]
    pub fn new(settings: &CullingSettings, view: &View) -> Self {
        // Pixels per meter perpendicular to the view direction, at a distance of 1 m.
        let row = view.view_projection.row(1).truncate();
        let pixels = 0.5 * view.height as f32 * row.length();
        Self {
            forward: view.forward,
            parallel: view.parallel,
            error_scale: if settings.max_error_pixels > 0.0 {
                pixels / settings.max_error_pixels
            } else {
                0.0
            },
        }
    }
}

/// Host data of a frame's culling passes.
#[derive(Clone)]
pub struct FrameCulling {
    /// `CullConstants`.
    constants: Arc<Buffer>,
    levels: u32,
    pyramid_texels: u64,
    /// True if instances are tested for occlusion in this frame.
    pub occlusion: bool,
}

impl FrameCulling {
    /// Decides whether the device culls this frame, and uploads its constants. `visible` then
    /// collects the instances that the host still draws.
    ///
    /// # Errors
    /// `GpuError` if memory runs out.
    pub fn new(
        gpu: &Gpu,
        scene: &GpuScene,
        view: &View,
        settings: &CullingSettings,
    ) -> GpuResult<Option<Self>> {
        let Some(on_device) = scene
            .gpu_instances
            .as_ref()
            .filter(|p| settings.enabled && p.count >= settings.min_instances)
        else {
            return Ok(None);
        };
        let camera = SplitPoint::new(view.position);
        let detail = LodSelection::new(settings, view);
        let levels = if detail.error_scale > 0.0 { on_device.levels } else { 1 };
        let mut level_offset = [0; PYRAMID_LEVELS + 2];
        let mut texels = 0;
        for (level, offset) in level_offset.iter_mut().enumerate().skip(1).take(PYRAMID_LEVELS) {
            *offset = texels;
            texels += view.width.div_ceil(1 << level) * view.height.div_ceil(1 << level);
        }
        let constants = CullConstants {
            view_projection: view.view_projection,
            planes: view.frustum().planes,
            camera_high: camera.high,
            placements: on_device.count,
            camera_low: camera.low,
            buckets: on_device.bucket_count,
            forward: view.forward,
            levels,
            size: [view.width, view.height],
            error_scale: detail.error_scale,
            parallel: u32::from(view.parallel),
            level_offset,
        };
        Ok(Some(Self {
            constants: dynamic_buffer(gpu, "culling constants", &[constants])?,
            levels,
            pyramid_texels: u64::from(texels),
            occlusion: settings.occlusion && on_device.gain.should_test(),
        }))
    }

    fn uniform(&self) -> (&'static str, Bind<'_>) {
        ("cull_block", Bind::Uniform(&self.constants))
    }
}

/// Buffers that the culling passes write.
#[derive(Clone, Copy)]
pub struct CullingOutput {
    /// `Instance`s that passed.
    pub instances: BufferHandle,
    /// Indirect draw commands: one per bucket and level of detail.
    pub commands: BufferHandle,
    /// Report: instances drawn, instances occluded.
    pub report: BufferHandle,
    /// Levels of detail per bucket.
    pub levels: u32,
}

/// Pipelines of the culling passes.
pub struct CullingPass {
    view: Arc<ComputePipeline>,
    occluders: Arc<ComputePipeline>,
    hidden: Arc<ComputePipeline>,
    scan: Arc<ComputePipeline>,
    write: Arc<ComputePipeline>,
    depth: Arc<GraphicsPipeline>,
    pyramid: Arc<ComputePipeline>,
    pyramid_coarse: Arc<ComputePipeline>,
}

/// Buffers between the passes.
#[derive(Clone, Copy)]
struct CullingScratch {
    seen: BufferHandle,
    ranks: BufferHandle,
    counts: BufferHandle,
    bases: BufferHandle,
}

/// Hierarchical depth for the occlusion test.
#[derive(Clone, Copy)]
struct Pyramid {
    depth: ImageHandle,
    levels: BufferHandle,
}

/// Instances that a culling stage passes.
#[derive(Clone, Copy)]
enum CullStage {
    /// Those in the frustum that the last frame drew.
    Occluders,
    /// Those in the frustum, and not occluded in the pyramid, if any.
    All(Option<Pyramid>),
}

impl CullingPass {
    /// Creates the pipelines.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let state = GraphicsState {
            vertex_stride: gpu_scene::VERTEX_STRIDE,
            attributes: gpu_scene::vertex_attributes()
                .into_iter()
                .filter(|attribute| attribute.0 == 0)
                .collect(),
            depth: Some((DEPTH, true, vk::CompareOp::GREATER)),
            ..GraphicsState::default()
        };
        let compute = |name: &str, shader: &str| ComputePipeline::new(gpu, name, shader);
        Ok(Self {
            view: compute("culling", "culling.comp")?,
            occluders: compute("culling occluders", "culling.comp+OCCLUDERS")?,
            hidden: compute("culling occlusion", "culling.comp+OCCLUSION_TEST")?,
            scan: compute("culling scan", "culling_scan.comp")?,
            write: compute("culling write", "culling_compact.comp")?,
            depth: GraphicsPipeline::new(
                gpu,
                "culling depth",
                "culling_depth.vert",
                "shadow_maps.frag",
                &state,
            )?,
            pyramid: compute("culling pyramid", "culling_pyramid.comp")?,
            pyramid_coarse: compute("culling pyramid coarse", "culling_pyramid.comp+COARSE")?,
        })
    }

    /// Declares the passes; `None` if the host culls (no `culling`). `moved`: deformed vertices, if
    /// a pass deforms them.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        scene_frame: SceneFrame<'a>,
        culling: Option<&'a FrameCulling>,
        moved: Option<BufferHandle>,
    ) -> Option<CullingOutput> {
        let scene = scene_frame.scene;
        let (placements, frame) = (scene.gpu_instances.as_ref()?, culling?);
        let (count, blocks) =
            (u64::from(placements.count), u64::from(placements.count.div_ceil(BLOCK)));
        let commands = u64::from(placements.bucket_count) * u64::from(frame.levels);
        let out = CullingOutput {
            instances: g.storage("drawn instances", count * size_of::<frame::Instance>() as u64),
            commands: g.storage("draw commands", commands * DRAW_COMMAND_BYTES),
            report: g.storage("culling report", REPORT_WORDS * 4),
            levels: frame.levels,
        };
        let between = CullingScratch {
            seen: g.external(&placements.was_visible),
            ranks: g.storage("culling ranks", count * 8),
            counts: g.storage("culling counts", blocks * 16),
            bases: g.storage("culling bases", (blocks + 1) * 16),
        };
        let pyramid = frame.occlusion.then(|| {
            self.cull(g, placements, frame, between, CullStage::Occluders, out);
            self.declare_pyramid(g, scene_frame, placements, frame, out, moved)
        });
        self.cull(g, placements, frame, between, CullStage::All(pyramid), out);
        Some(out)
    }

    /// Tests all instances and writes the instances and draws that pass.
    fn cull(
        &self,
        g: &mut Graph<'_>,
        placements: &GpuInstances,
        frame: &FrameCulling,
        CullingScratch { seen, ranks, counts, bases }: CullingScratch,
        stage: CullStage,
        out: CullingOutput,
    ) {
        let groups = placements.count.div_ceil(BLOCK);
        let (name, test, pyramid) = match stage {
            CullStage::Occluders => ("cull occluders", &self.occluders, None),
            CullStage::All(None) => ("cull", &self.view, None),
            CullStage::All(pyramid) => ("cull", &self.hidden, pyramid),
        };
        let pass = g
            .compute(name, test)
            .binds([frame.uniform()])
            .storage("instance_transform_block", &placements.placements)
            .storage("bucket_block", &placements.buckets)
            .written("rank_block", ranks)
            .written("count_block", counts);
        let pass = match stage {
            CullStage::Occluders => pass.storage("was_visible_block", seen),
            CullStage::All(_) => pass.written("was_visible_block", seen),
        };
        pass.with(pyramid, |pass, pyramid| {
            pass.storage("pyramid_block", pyramid.levels).sampled("depth_image", pyramid.depth)
        })
        .dispatch([groups, 1, 1]);
        g.compute(&format!("{name}: scan"), &self.scan)
            .binds([frame.uniform()])
            .storage("count_block", counts)
            .written("base_block", bases)
            .written("report_block", out.report)
            .dispatch([1, 1, 1]);
        let threads = placements.count.max(placements.bucket_count * frame.levels);
        g.compute(&format!("{name}: write"), &self.write)
            .binds([frame.uniform()])
            .storage("instance_transform_block", &placements.placements)
            .storage("bucket_block", &placements.buckets)
            .storage("rank_block", ranks)
            .storage("base_block", bases)
            .written("instance_block", out.instances)
            .written("command_block", out.commands)
            .dispatch([threads.div_ceil(BLOCK), 1, 1]);
    }

    /// Draws the occluders and builds the pyramid of their depths.
    fn declare_pyramid<'a>(
        &'a self,
        g: &mut Graph<'a>,
        SceneFrame { scene, data, .. }: SceneFrame<'a>,
        placements: &'a GpuInstances,
        frame: &'a FrameCulling,
        occluders: CullingOutput,
        moved: Option<BufferHandle>,
    ) -> Pyramid {
        let [width, height] = data.uniforms.values.size;
        let depth = g.image("occluder depth", width, height, DEPTH);
        let levels = g.storage("depth pyramid", frame.pyramid_texels * 4);
        g.draws("cull: depth")
            .vertices(moved)
            .depth_cleared(depth)
            .binds([data.uniform()])
            .vertex_storage("instance_block", occluders.instances)
            .commands(occluders.commands)
            .record(move |cx, bindings| {
                let commands = cx.buffer(occluders.commands);
                cx.rec.bind_graphics(&self.depth, &bindings.common())?;
                cx.rec.bind_geometry(&scene.vertices, &scene.indices);
                for run in placements.runs.iter().filter(|run| {
                    matches!(run.queue, RenderQueue::Untextured | RenderQueue::Opaque)
                }) {
                    cx.rec.set_culling(!run.double_sided, run.mirrored);
                    cx.rec.draw_indexed_indirect(
                        &commands,
                        run.first * frame.levels,
                        run.count * frame.levels,
                    );
                }
                Ok(())
            });
        for (name, pipeline, from_depth) in [
            ("depth pyramid", &self.pyramid, true),
            ("depth pyramid, coarse", &self.pyramid_coarse, false),
        ] {
            let pass = g.compute(name, pipeline).binds([frame.uniform()]);
            let pass = if from_depth {
                pass.sampled("depth_image", depth).written("pyramid_block", levels)
            } else {
                pass.updated("pyramid_block", levels)
            };
            // A work group writes 16 by 16 texels of its first level.
            let across = if from_depth { 32 } else { 32 << 5 };
            pass.dispatch([width.div_ceil(across), height.div_ceil(across), 1]);
        }
        Pyramid { depth, levels }
    }
}

/// Draws the culled instances of a render queue with the bound pipeline. `levels`: levels of detail
/// per bucket (`CullingOutput::levels`).
pub fn draw_culled(
    rec: &mut Recorder<'_>,
    scene: &GpuScene,
    commands: &Arc<Buffer>,
    levels: u32,
    layer: RenderQueue,
    pipeline: &Arc<GraphicsPipeline>,
) {
    let Some(placements) = &scene.gpu_instances else { return };
    rec.keep(Arc::clone(&scene.textures) as _);
    let mut material = None;
    for run in placements.runs.iter().filter(|run| run.queue == layer) {
        if material != Some(run.material) {
            material = Some(run.material);
            if layer != RenderQueue::Untextured {
                rec.bind_texture_set(pipeline, &scene.textures, run.material as usize);
            }
            rec.push_graphics(pipeline, &run.material);
        }
        rec.set_culling(!run.double_sided, run.mirrored);
        rec.draw_indexed_indirect(commands, run.first * levels, run.count * levels);
    }
}
