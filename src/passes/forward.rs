//! Forward pass for extended materials, whose lobes the G-buffer does not hold
//! (docs/extended-materials.md).

use std::sync::Arc;

use super::{
    formats::{DEPTH, LIGHT},
    lighting::{LightingInputs, LitImages},
    refraction::RefractionBackground,
    scene_draws::{TextureSets, draw_all, geometry_state},
    shadow_inputs::ShadowBindings,
    variants::{Features, LightVariants},
    volumes::VolumetricsImages,
};
use crate::{
    gpu::{Bind, Gpu, GpuResult, GraphicsPipeline, Image, Recorder, vk},
    gpu_scene::{Draw, FrameBvh, FrameData, GpuScene, RenderQueue},
    graph::{Access, Graph, ImageHandle, PassContext},
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
            let targets = match (features.split, features.blended) {
                (false, _) => 1,
                (true, false) => 3,
                (true, true) => 4,
            };
            let mut state = geometry_state(vec![(LIGHT, features.blended); targets], false);
            state.textures_of = Some("forward.frag+BLENDED");
            state.constants = vec![features.scene];
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

    /// Declares the pass for the pixels that the G-buffer marks; nothing if none can be marked.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        scene: &'a GpuScene,
        data: &'a FrameData,
        inputs: LightingInputs,
        lit: LitImages,
    ) {
        let LightingInputs {
            gbuffer,
            clustered_lights: lists,
            shadow_inputs,
            bent_normal_ao: open,
        } = inputs;
        if !data.draws.visible.draws.iter().any(is_forward) {
            return;
        }
        let mut pass = g
            .pass("forward")
            .depth_tested(gbuffer.depth)
            .color_loaded(lit.light)
            .uses(lists.tiles, Access::FragmentStorageRead)
            .uses(lists.clusters, Access::FragmentStorageRead)
            .uses(lists.entries, Access::FragmentStorageRead);
        if let Some((diffuse, specular)) = lit.split {
            pass = pass.color_loaded(diffuse).color_loaded(specular);
        }
        if let Some(open) = open {
            pass = pass.uses(open, Access::FragmentSampled);
        }
        pass = shadow_inputs.read_by(pass);
        pass.record(move |cx| {
            let Some(layers) = &scene.extended_materials else { return Ok(()) };
            let (tiles, clusters) = (cx.buffer(lists.tiles), cx.buffer(lists.clusters));
            let entries = cx.buffer(lists.entries);
            let shadow_inputs = shadow_inputs.objects(cx, scene, data);
            let open = open.map_or_else(|| Arc::clone(&scene.white), |open| cx.image(open));
            let pipeline = self.variants.get(features(data, lit.split.is_some(), false))?;
            let mut binds = vec![
                ("light_block", Bind::Storage(&data.lights)),
                ("tile_block", Bind::Storage(&tiles)),
                ("cluster_block", Bind::Storage(&clusters)),
                ("entry_block", Bind::Storage(&entries)),
                ("ao_image", Bind::Sampled(&open)),
                ("extended_material_block", Bind::Storage(&layers.materials)),
                ("extended_lut_block", Bind::Storage(&layers.tables)),
            ];
            binds.extend(shadow_inputs.light_binds(data));
            binds.push(shadow_inputs.caustics());
            let draws: Vec<&Draw> =
                data.draws.visible.draws.iter().filter(|draw| is_forward(draw)).collect();
            draw_all(cx.rec, scene, data, &draws, (&pipeline, TextureSets::Layers), &binds)
        });
    }

    /// Draws blended or refractive surfaces over the lit image.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub(super) fn draw_over(
        &self,
        rec: &mut Recorder<'_>,
        (scene, data): (&GpuScene, &FrameData),
        (split, shadow_inputs): (bool, &ShadowBindings),
        (background, volumetrics): (&RefractionBackgroundImages, &VolumetricsImages),
        draws: &[&Draw],
    ) -> GpuResult<()> {
        let Some(layers) = &scene.extended_materials else { return Ok(()) };
        let features = features(data, split, true);
        let pipeline = self.variants.get(features)?;
        let mut binds = vec![
            ("light_block", Bind::Storage(&data.lights)),
            ("extended_material_block", Bind::Storage(&layers.materials)),
            ("extended_lut_block", Bind::Storage(&layers.tables)),
        ];
        binds.push(if features.traced_refraction {
            shadow_inputs.caustics()
        } else {
            ("back_face_image", Bind::Sampled(&background.back_faces))
        });
        binds.extend(
            LEVEL_NAMES
                .iter()
                .zip(&background.levels)
                .map(|(&name, level)| (name, Bind::Sampled(level))),
        );
        binds.extend(shadow_inputs.light_binds(data));
        binds.extend(volumetrics.binds());
        if data.shadow_bvh.is_none() {
            binds.extend(data.refraction_bvh.iter().flat_map(FrameBvh::binds));
        }
        draw_all(rec, scene, data, draws, (&pipeline, TextureSets::Layers), &binds)
    }
}

/// Shader features of this frame.
fn features(data: &FrameData, split: bool, over: bool) -> Features {
    let refraction_bvh = data.refraction_bvh.as_ref().filter(|_| over);
    let of = Features::of(data, split);
    let query = of.query || refraction_bvh.is_some_and(|gpu_bvh| gpu_bvh.structure().is_some());
    Features { blended: over, traced_refraction: refraction_bvh.is_some(), query, ..of }
}

const LEVEL_NAMES: [&str; 6] = [
    "background_0",
    "background_1",
    "background_2",
    "background_3",
    "background_4",
    "background_5",
];

/// Images of the refraction background at record time.
pub(super) struct RefractionBackgroundImages {
    levels: Vec<Arc<Image>>,
    back_faces: Arc<Image>,
}

impl RefractionBackgroundImages {
    /// Images of this frame, or placeholders if nothing refracts.
    pub(super) fn of(
        cx: &PassContext<'_, '_>,
        background: Option<RefractionBackground>,
        scene: &GpuScene,
    ) -> Self {
        match background {
            Some(background) => Self {
                levels: background.levels.iter().map(|&level| cx.image(level)).collect(),
                back_faces: background.back_faces.map_or_else(
                    || Arc::clone(&scene.no_back_faces),
                    |back_faces| cx.image(back_faces),
                ),
            },
            None => Self {
                levels: vec![Arc::clone(&scene.white); LEVEL_NAMES.len()],
                back_faces: Arc::clone(&scene.no_back_faces),
            },
        }
    }
}

/// True if this pass lights the G-buffer pixels of the draw.
#[must_use]
pub fn is_forward(draw: &Draw) -> bool {
    draw.extended && draw.queue != RenderQueue::Blend
}

/// Images that the pass reads, for its declaration.
pub(super) fn background_handles(
    background: &RefractionBackground,
) -> impl Iterator<Item = ImageHandle> + '_ {
    background.levels.iter().copied().chain(background.back_faces)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::refraction::LEVELS;

    #[test]
    fn every_level_has_a_name() {
        assert_eq!(LEVEL_NAMES.len(), LEVELS);
    }
}
