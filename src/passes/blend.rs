//! Alpha-blended surfaces over the lit picture, from back to front.

use std::sync::Arc;

use super::{
    FrameData, GpuScene, SplitPair,
    gbuffer::{Gbuffer, LIGHT, draw_layer, geometry_state},
    lighting::Lit,
    scene_data::Layer,
};
use crate::{
    gpu::{Bind, Gpu, GpuResult, GraphicsPipeline},
    graph::{Access, Graph, ImageHandle},
};

/// The pipelines.
pub struct BlendPass {
    points: SplitPair,
    /// For scenes that have lights with a surface.
    area: Option<SplitPair>,
}

impl BlendPass {
    /// Makes the pipelines for scenes without lights that have a surface.
    ///
    /// # Errors
    /// A pipeline that the driver refuses.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        Ok(Self { points: Self::pair(gpu, "blend.frag", "blend.frag+SPLIT")?, area: None })
    }

    /// Makes the pipelines for lights with a surface, unless they are there.
    ///
    /// # Errors
    /// A pipeline that the driver refuses.
    pub fn prepare_area_lights(&mut self, gpu: &Gpu) -> GpuResult<()> {
        if self.area.is_none() {
            self.area = Some(Self::pair(gpu, "blend.frag+AREA", "blend.frag+AREA_SPLIT")?);
        }
        Ok(())
    }

    fn pair(gpu: &Gpu, whole: &str, split: &str) -> GpuResult<SplitPair> {
        let make = |name: &str, fragment: &str, targets: usize| {
            let state = geometry_state(vec![(LIGHT, true); targets], false);
            GraphicsPipeline::new(gpu, name, "geometry.vert", fragment, &state)
        };
        Ok(SplitPair { whole: make("blend", whole, 1)?, split: make("blend split", split, 4)? })
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
        let pairs = self.area.as_ref().filter(|_| data.ltc.is_some()).unwrap_or(&self.points);
        let pipeline = pairs.of(lit.split.is_some());
        pass.record(move |cx| {
            let atlas = atlas.map_or_else(|| Arc::clone(&scene.white), |atlas| cx.image(atlas));
            let mut lights = vec![
                ("light_block", Bind::Storage(&data.lights)),
                ("shadow_map_block", Bind::Storage(&data.shadows.maps)),
                ("shadow_atlas", Bind::Sampled(&atlas)),
            ];
            lights.extend(data.ltc.as_ref().map(|ltc| ("ltc_block", Bind::Storage(ltc))));
            draw_layer(cx.rec, scene, data, Layer::Blend, pipeline, &lights)
        });
    }
}
