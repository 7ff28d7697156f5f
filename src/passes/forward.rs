//! Forward pass for extended materials, whose lobes the G-buffer does not hold
//! (docs/extended-materials.md).

use std::sync::Arc;

use super::{
    formats::{BLEND_TARGETS, DEPTH, LIGHT},
    lighting::{LightingInputs, LitImages},
    scene_draws::{TextureSets, draw_all, geometry_state},
    scene_frame::SceneFrame,
    variants::{Features, LightVariants, WantedVariant},
};
use crate::{
    gpu::{Gpu, GpuResult, GraphicsPipeline, vk},
    gpu_scene::{Draw, FrameData, RenderQueue},
    graph::{Graph, ImageSource},
};

/// Pipelines of the forward pass, created on demand.
pub struct ForwardPass {
    variants: LightVariants,
}

impl ForwardPass {
    /// Creates the pass without pipelines.
    #[must_use]
    pub fn new(gpu: &Gpu) -> Self {
        let make = |gpu: &Gpu, name: &str, fragment: &str, features: Features| {
            let targets = match (features.split(), features.blended) {
                (false, _) => 1,
                (true, false) => 3,
                (true, true) => BLEND_TARGETS,
            };
            let mut state = geometry_state(vec![(LIGHT, features.blended); targets], false);
            state.textures_of = Some("forward.frag+BLENDED");
            state.constants = vec![features.bits];
            if features.blended {
                return GraphicsPipeline::new(
                    gpu,
                    name,
                    "geometry.vert+EXTENDED_MATERIALS",
                    fragment,
                    &state,
                );
            }
            state.depth = Some((DEPTH, false, vk::CompareOp::EQUAL));
            GraphicsPipeline::new(gpu, name, "geometry.vert", fragment, &state)
        };
        Self { variants: LightVariants::new(gpu, "forward.frag", u32::MAX, make) }
    }

    /// Any pipeline of the pass, for the shared layout of set 2.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn any_pipeline(&self) -> GpuResult<Arc<GraphicsPipeline>> {
        self.variants.get(Features::default())
    }

    /// The pipeline that a frame needs for the pixels that the G-buffer marks; `None` without such
    /// pixels.
    #[must_use]
    pub fn wanted(&self, frame: SceneFrame<'_>, split: bool) -> Option<WantedVariant<'_>> {
        let SceneFrame { scene, data, .. } = frame;
        (scene.extended_materials.is_some() && data.draws.visible.draws.iter().any(is_forward))
            .then(|| (&self.variants, features(data, split, false)))
    }

    /// Declares the pass for the pixels that the G-buffer marks; nothing if none can be marked.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        frame: SceneFrame<'a>,
        inputs: LightingInputs,
        lit: LitImages,
    ) {
        let SceneFrame { scene, data, .. } = frame;
        let LightingInputs {
            gbuffer,
            clustered_lights: lists,
            shadow_inputs,
            bent_normal_ao: open,
            limit_counters,
        } = inputs;
        if !data.draws.visible.draws.iter().any(is_forward) {
            return;
        }
        let open = open.map_or_else(|| (&scene.white).into(), ImageSource::from);
        let pass = g
            .draws("forward")
            .depth_tested(gbuffer.depth)
            .target_loaded(lit.light)
            .binds(frame.geometry_binds())
            .storage("light_block", &data.lights);
        let pass = lists
            .bind_to(pass)
            .with(lit.split, |pass, (diffuse, specular)| {
                pass.target_loaded(diffuse).target_loaded(specular)
            })
            .sampled("ao_image", open);
        shadow_inputs
            .bind_to(pass, frame)
            .storage("caustic_block", shadow_inputs.caustics(data))
            .updated("limit_counter_block", limit_counters)
            .with(scene.extended_materials.as_ref(), |pass, layers| {
                pass.storage("extended_material_block", &layers.materials)
                    .storage("extended_lut_block", &layers.tables)
            })
            .record(move |cx, bindings| {
                if scene.extended_materials.is_none() {
                    return Ok(());
                }
                let pipeline = self.variants.get(features(data, lit.split.is_some(), false))?;
                let draws: Vec<&Draw> =
                    data.draws.visible.draws.iter().filter(|draw| is_forward(draw)).collect();
                let binds = bindings.common();
                draw_all(cx.rec, frame, &draws, &pipeline, TextureSets::Layers, &binds)
            });
    }

    /// The pipeline that draws blended or refractive surfaces over the lit image.
    pub(super) fn blended(&self, data: &FrameData, split: bool) -> WantedVariant<'_> {
        (&self.variants, features(data, split, true))
    }
}

/// Shader features of this frame.
fn features(data: &FrameData, split: bool, over: bool) -> Features {
    let refraction_bvh = data.refraction_bvh.as_ref().filter(|_| over);
    let of = Features::of(data, split);
    let query = of.query || refraction_bvh.is_some_and(|gpu_bvh| gpu_bvh.structure().is_some());
    Features { blended: over, traced_refraction: refraction_bvh.is_some(), query, ..of }
}

/// True if this pass lights the G-buffer pixels of the draw.
#[must_use]
pub fn is_forward(draw: &Draw) -> bool {
    draw.extended && draw.queue != RenderQueue::Blend
}
