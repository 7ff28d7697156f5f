//! G-buffer of one blended surface per pixel, whose indirect light the passes of indirect light
//! gather (docs/extended-materials.md, "Indirect light").

use std::sync::{Arc, OnceLock};

use super::{
    creation::get_or_create,
    formats::{DEPTH, LIGHT, NORMAL, SURFACE},
    gbuffer::Gbuffer,
    scene_draws::{TextureSets, draw_all, geometry_state},
    scene_frame::SceneFrame,
};
use crate::{
    gpu::{Gpu, GpuResult, GraphicsPipeline, vk},
    gpu_scene::Draw,
    graph::{BoundPass, BufferHandle, BufferSource, Graph, ImageHandle, ImageSource},
};

/// Reversed depth as a color target: the depth attachment holds keys.
const LAYER_DEPTH: vk::Format = vk::Format::R32_SFLOAT;
/// Transmittances, which are blended.
const TRANSMITTANCE: vk::Format = vk::Format::R16_SFLOAT;

/// Group of the bindings that only core materials have.
pub(super) const CORE: &str = "core";

/// One blended surface per pixel.
#[derive(Clone, Copy)]
pub struct BlendedGbuffer {
    /// Its surfaces; depth 0 where no blended surface is visible. Emission holds the materials'
    /// marks only.
    pub gbuffer: Gbuffer,
    /// Sum of the opacities of all blended surfaces of each pixel, in steps of 1/65,535.
    pub opacity_sums: BufferHandle,
    /// Transmittance of the surfaces before the chosen one.
    pub before: ImageHandle,
    /// Transmittance of all blended surfaces.
    pub all: ImageHandle,
}

/// Indirect light of the blended surfaces, for pass `blend`.
#[derive(Clone, Copy)]
pub struct BlendedLight {
    /// The surfaces.
    pub layer: BlendedGbuffer,
    /// Pre-exposed luminance of a white diffuse surface.
    pub diffuse: ImageHandle,
    /// Pre-exposed specular luminance over the lobe's approximate albedo.
    pub specular: ImageHandle,
}

impl BlendedLight {
    /// Binds the light for `lib/blended_light.glsl`; placeholders, which it does not read, without.
    pub(super) fn bind_to<'g, 'a>(
        light: Option<Self>,
        pass: BoundPass<'g, 'a>,
        frame: SceneFrame<'_>,
    ) -> BoundPass<'g, 'a> {
        let SceneFrame { scene, data, .. } = frame;
        let image = |of: fn(Self) -> ImageHandle| {
            light.map_or_else(|| (&scene.white).into(), |light| ImageSource::from(of(light)))
        };
        let sums = light.map_or_else(
            || BufferSource::from(&data.lights),
            |light| BufferSource::from(light.layer.opacity_sums),
        );
        pass.sampled("blended_diffuse_image", image(|light| light.diffuse))
            // Extended materials show the diffuse part alone.
            .group(CORE, |pass| {
                pass.sampled("blended_specular_image", image(|light| light.specular))
            })
            .sampled("blended_depth_image", image(|light| light.layer.gbuffer.depth))
            .sampled("before_image", image(|light| light.layer.before))
            .sampled("all_image", image(|light| light.layer.all))
            .storage("opacity_sum_block", sums)
    }
}

/// Pipelines of the passes, created on first use.
pub struct BlendedGbufferPass {
    gpu: Gpu,
    chosen: OnceLock<Arc<GraphicsPipeline>>,
    transmittance: OnceLock<Arc<GraphicsPipeline>>,
}

impl BlendedGbufferPass {
    /// Creates the passes without their pipelines.
    #[must_use]
    pub fn new(gpu: &Gpu) -> Self {
        Self { gpu: gpu.clone(), chosen: OnceLock::new(), transmittance: OnceLock::new() }
    }

    fn chosen(&self) -> GpuResult<Arc<GraphicsPipeline>> {
        get_or_create(&self.chosen, || {
            let colors = [SURFACE, NORMAL, LIGHT, LAYER_DEPTH].map(|format| (format, false));
            let state = geometry_state(colors.to_vec(), true);
            let (name, fragment) = ("blended gbuffer", "blended_gbuffer.frag");
            GraphicsPipeline::new(&self.gpu, name, "geometry.vert", fragment, &state)
        })
    }

    fn transmittance(&self) -> GpuResult<Arc<GraphicsPipeline>> {
        get_or_create(&self.transmittance, || {
            let state = geometry_state(vec![(TRANSMITTANCE, true); 2], false);
            let name = "blended transmittance";
            let fragment = "blended_gbuffer_transmittance.frag";
            GraphicsPipeline::new(&self.gpu, name, "geometry.vert", fragment, &state)
        })
    }

    /// Declares the passes, which choose one of the blended surfaces before the opaque ones in each
    /// pixel. `opaque_depth`: depth of the opaque surfaces; `seed`: number of the frame's random
    /// numbers.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        frame: SceneFrame<'a>,
        opaque_depth: ImageHandle,
        seed: u32,
    ) -> BlendedGbuffer {
        let [width, height] = frame.data.uniforms.values.size;
        let opacity_sums =
            g.storage("blended opacity sums", u64::from(width) * u64::from(height) * 4);
        g.clear_buffers("clear blended opacity sums", [opacity_sums]);
        let keys = g.image("blended keys", width, height, DEPTH);
        let gbuffer = Gbuffer {
            depth: g.image("blended depth", width, height, LAYER_DEPTH),
            surface: g.image("blended surface", width, height, SURFACE),
            normal: g.image("blended normal", width, height, NORMAL),
            emission: g.image("blended marks", width, height, LIGHT),
        };
        g.draws("blended gbuffer")
            .depth_cleared(keys)
            .target(gbuffer.surface)
            .target(gbuffer.normal)
            .target(gbuffer.emission)
            .target(gbuffer.depth)
            .binds(frame.geometry_binds())
            .sampled("opaque_depth_image", opaque_depth)
            .uniform_value("seed_block", "blended seed", &seed)
            .updated("opacity_sum_block", opacity_sums)
            .record(move |cx, bindings| {
                let (draws, binds) = (blended_draws(frame), bindings.common());
                draw_all(cx.rec, frame, &draws, &self.chosen()?, TextureSets::Core, &binds)
            });
        let [before, all] = ["blended transmittance before", "blended transmittance"]
            .map(|name| g.image(name, width, height, TRANSMITTANCE));
        g.draws("blended transmittance")
            .depth_tested(opaque_depth)
            .target_cleared(before, [1.0; 4])
            .target_cleared(all, [1.0; 4])
            .binds(frame.geometry_binds())
            .sampled("blended_depth_image", gbuffer.depth)
            .record(move |cx, bindings| {
                let (draws, binds) = (blended_draws(frame), bindings.common());
                draw_all(cx.rec, frame, &draws, &self.transmittance()?, TextureSets::Core, &binds)
            });
        BlendedGbuffer { gbuffer, opacity_sums, before, all }
    }
}

/// The visible draws of blended surfaces.
fn blended_draws<'a>(frame: SceneFrame<'a>) -> Vec<&'a Draw> {
    frame.data.draws.visible.draws.iter().filter(|draw| draw.blended).collect()
}
