//! Skinning and morphing of vertices, once per frame, before all passes that draw them
//! (docs/animation.md).

use std::sync::{Arc, OnceLock};

use crate::{
    gpu::{
        Bind, Buffer, ComputePipeline, Gpu, GpuResult, Recorder,
        shader_structs::skin::SkinConstants,
    },
    gpu_scene::{Deformers, GpuScene, GpuScenePose, dynamic_buffer},
    graph::{Access, BufferHandle, Graph},
};

/// Work group size.
const GROUP: u32 = 64;

/// Pipelines of the skinning pass, created when something first deforms.
#[derive(Default)]
pub struct SkinPass {
    pipelines: OnceLock<[Arc<ComputePipeline>; 2]>,
}

impl SkinPass {
    /// Creates the pipelines if the scene needs them and they do not exist.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn prepare(&self, gpu: &Gpu, scene: &GpuScene) -> GpuResult<()> {
        if scene.deformers.is_some() && self.pipelines.get().is_none() {
            let make = |name, shader| ComputePipeline::new(gpu, name, shader);
            let _ = self.pipelines.set([
                make("skin", "skin.comp")?,
                make("skin positions", "skin.comp+POSITIONS_ONLY")?,
            ]);
        }
        Ok(())
    }

    /// Declares the pass and returns the deformed vertices for passes that fetch them; `None` if
    /// nothing deforms. If the vertices are already in this pose (`done`), they are reused.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        scene: &'a GpuScene,
        done: bool,
    ) -> Option<BufferHandle> {
        let (Some(deformers), Some([pipeline, _])) = (&scene.deformers, self.pipelines.get())
        else {
            return None;
        };
        let vertices = g.external(&scene.vertices);
        if !done {
            g.pass("skin").uses(vertices, Access::ComputeStorageReadWrite).record(move |cx| {
                let target = ("vertex_block", Bind::Storage(&scene.vertices));
                record(cx.rec, pipeline, deformers, &scene.current_pose, target, false)
            });
        }
        Some(vertices)
    }

    /// Positions of the deformed vertices at another time; `None` if nothing deforms.
    pub fn positions<'a>(
        &'a self,
        g: &mut Graph<'a>,
        scene: &'a GpuScene,
        name: &str,
        posed: &Arc<GpuScenePose>,
    ) -> Option<BufferHandle> {
        let (Some(deformers), Some([_, pipeline])) = (&scene.deformers, self.pipelines.get())
        else {
            return None;
        };
        let out = g.storage(name, u64::from(deformers.vertices) * 12);
        let posed = Arc::clone(posed);
        g.pass(name).uses(out, Access::ComputeStorageWrite).record(move |cx| {
            let buffer = cx.buffer(out);
            record(
                cx.rec,
                pipeline,
                deformers,
                &posed,
                ("position_block", Bind::Storage(&buffer)),
                true,
            )
        });
        Some(out)
    }
}

fn record(
    rec: &mut Recorder<'_>,
    pipeline: &Arc<ComputePipeline>,
    deformers: &Deformers,
    posed: &GpuScenePose,
    target: (&str, Bind<'_>),
    own: bool,
) -> GpuResult<()> {
    let gpu = rec.gpu().clone();
    let rows: Vec<glam::Vec4> = posed.deform.palette.iter().flatten().copied().collect();
    let palette: Arc<Buffer> = dynamic_buffer(&gpu, "matrices of joints", &rows)?;
    let weights: Arc<Buffer> = dynamic_buffer(&gpu, "morph weights", &posed.deform.weights)?;
    rec.bind_compute(
        pipeline,
        &[
            ("rest_block", Bind::Storage(&deformers.rest)),
            ("influence_block", Bind::Storage(&deformers.influences)),
            ("morph_block", Bind::Storage(&deformers.morphs)),
            ("palette_block", Bind::Storage(&palette)),
            ("weight_block", Bind::Storage(&weights)),
            target,
        ],
    )?;
    for part in &deformers.parts {
        let target = if own { part.own } else { part.constants.target };
        rec.push_compute(pipeline, &SkinConstants { target, ..part.constants });
        rec.dispatch(part.constants.count.div_ceil(GROUP), 1, 1);
    }
    Ok(())
}
