//! Alpha-blended surfaces over the lit picture, from back to front.

use std::sync::Arc;

use super::{
    FrameData, GpuScene,
    gbuffer::{Gbuffer, LIGHT, draw_layer, geometry_state},
    lighting::Lit,
    scene_data::Layer,
    variants::{Features, LightVariants},
};
use crate::{
    gpu::{Bind, Gpu, GpuResult, GraphicsPipeline},
    graph::{Access, Graph, ImageHandle},
};

/// The pipelines.
pub struct BlendPass {
    variants: LightVariants,
}

impl BlendPass {
    /// Makes the pipelines.
    ///
    /// # Errors
    /// A pipeline that the driver refuses.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let make = |gpu: &Gpu, fragment: &str, features: Features| {
            let targets = if features.split { 4 } else { 1 };
            let state = geometry_state(vec![(LIGHT, true); targets], false);
            GraphicsPipeline::new(gpu, fragment, "geometry.vert", fragment, &state)
        };
        Ok(Self { variants: LightVariants::new(gpu, "blend.frag", make)? })
    }

    /// Declares the pass; nothing where nothing is blended.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        scene: &'a GpuScene,
        data: &'a FrameData,
        gbuffer: Gbuffer,
        lit: Lit,
        atlas: Option<ImageHandle>,
    ) {
        if !data.visible.draws.iter().any(|draw| draw.layer == Layer::Blend) {
            return;
        }
        let mut pass = g.pass("blend").depth_tested(gbuffer.depth).color_over(lit.light);
        if let Some((diffuse, specular)) = lit.split {
            pass = pass.color_over(diffuse).color_over(specular).color_over(gbuffer.emission);
        }
        if let Some(atlas) = atlas {
            pass = pass.uses(atlas, Access::FragmentSampled);
        }
        pass.record(move |cx| {
            let atlas = atlas.map_or_else(|| Arc::clone(&scene.white), |atlas| cx.image(atlas));
            let pipeline = self.variants.get(Features::of(data, lit.split.is_some()))?;
            let mut binds = vec![("light_block", Bind::Storage(&data.lights))];
            binds.extend(data.light_binds(&atlas));
            draw_layer(cx.rec, scene, data, Layer::Blend, &pipeline, &binds)
        });
    }
}
