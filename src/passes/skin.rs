//! Skinning and morphing of vertices, once per frame, before all passes that draw them
//! (docs/animation.md).

use std::sync::{Arc, OnceLock};

use crate::{
    gpu::{ComputePipeline, Gpu, GpuResult, shader_structs::skin::SkinConstants},
    gpu_scene::{Deformers, GpuScene, GpuScenePose},
    graph::{BoundPass, BufferHandle, Graph},
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
    pub fn declare(&self, g: &mut Graph<'_>, scene: &GpuScene, done: bool) -> Option<BufferHandle> {
        let (Some(deformers), Some([pipeline, _])) = (&scene.deformers, self.pipelines.get())
        else {
            return None;
        };
        let vertices = g.external(&scene.vertices);
        if !done {
            let pass = g.compute("skin", pipeline).updated("vertex_block", vertices);
            let jobs =
                deformers.parts.iter().map(|part| job(part.constants, part.constants.target));
            deform(pass, deformers, &scene.current_pose).dispatch_each(jobs);
        }
        Some(vertices)
    }

    /// Positions of the deformed vertices at another time; `None` if nothing deforms.
    pub fn positions(
        &self,
        g: &mut Graph<'_>,
        scene: &GpuScene,
        name: &str,
        posed: &GpuScenePose,
    ) -> Option<BufferHandle> {
        let (Some(deformers), Some([_, pipeline])) = (&scene.deformers, self.pipelines.get())
        else {
            return None;
        };
        let out = g.storage(name, u64::from(deformers.vertices) * 12);
        let pass = g.compute(name, pipeline).written("position_block", out);
        let jobs = deformers.parts.iter().map(|part| job(part.constants, part.own));
        deform(pass, deformers, posed).dispatch_each(jobs);
        Some(out)
    }
}

/// Binds what the pass deforms, and a pose.
fn deform<'g, 'a>(
    pass: BoundPass<'g, 'a>,
    deformers: &Deformers,
    posed: &GpuScenePose,
) -> BoundPass<'g, 'a> {
    let rows: Vec<glam::Vec4> = posed.deform.palette.iter().flatten().copied().collect();
    pass.storage("rest_block", &deformers.rest)
        .storage("influence_block", &deformers.influences)
        .storage("morph_block", &deformers.morphs)
        .storage_values("palette_block", "matrices of joints", &rows)
        .storage_values("weight_block", "morph weights", &posed.deform.weights)
}

/// Constants and work groups of a part. `target`: its first vertex in the written buffer.
fn job(constants: SkinConstants, target: u32) -> (SkinConstants, [u32; 3]) {
    let groups = constants.count.div_ceil(GROUP);
    (SkinConstants { target, ..constants }, [groups, 1, 1])
}
