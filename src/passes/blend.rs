//! Alpha-blended surfaces over the lit picture, from back to front.

use super::{
    FrameData, GpuScene,
    gbuffer::{Gbuffer, LIGHT, draw_layer, geometry_state},
    lighting::Lit,
    scene_data::Layer,
    traced::{FrameTrees, TracedVariants},
};
use crate::{
    gpu::{Bind, Gpu, GpuResult, GraphicsPipeline},
    graph::Graph,
};

/// The pipelines.
pub struct BlendPass {
    whole: TracedVariants,
    split: TracedVariants,
}

impl BlendPass {
    /// Makes the pipelines.
    ///
    /// # Errors
    /// A pipeline that the driver refuses.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let make = |gpu: &Gpu, name: &str, fragment: &str, targets: usize| {
            let state = geometry_state(vec![(LIGHT, true); targets], false);
            GraphicsPipeline::new(gpu, name, "geometry.vert", fragment, &state)
        };
        let all = |fragments: [&'static str; 3], targets: usize| {
            TracedVariants::new(gpu, fragments, move |gpu, name, fragment| make(gpu, name, fragment, targets))
        };
        Ok(Self {
            whole: all(["blend.frag", "blend.frag+TRACED", "blend.frag+TRACED_MASKS"], 1)?,
            split: all(["blend.frag+SPLIT", "blend.frag+SPLIT_TRACED", "blend.frag+SPLIT_TRACED_MASKS"], 4)?,
        })
    }

    /// Declares the pass; nothing where nothing is blended.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        scene: &'a GpuScene,
        data: &'a FrameData,
        gbuffer: Gbuffer,
        lit: Lit,
    ) {
        if !data.visible.draws.iter().any(|draw| draw.layer == Layer::Blend) {
            return;
        }
        let mut pass = g.pass("blend").depth_tested(gbuffer.depth).color_over(lit.light);
        if let Some((diffuse, specular)) = lit.split {
            pass = pass.color_over(diffuse).color_over(specular).color_over(gbuffer.emission);
        }
        let variants = if lit.split.is_some() { &self.split } else { &self.whole };
        pass.record(move |cx| {
            let pipeline = variants.get(data.traced.as_ref())?;
            let lights = [("light_block", Bind::Storage(&data.lights))];
            let traced = data.traced.as_ref().map_or_else(Vec::new, FrameTrees::binds);
            draw_layer(cx.rec, scene, data, Layer::Blend, &pipeline, &[&lights[..], &traced].concat())
        });
    }
}
