//! Surfaces with lobes that the G-buffer does not hold, drawn once more and lit forward (docs/layered.md).

use std::sync::Arc;

use super::{
    FrameData, GpuScene, WayObjects,
    gbuffer::{DEPTH, LIGHT, TextureSets, draw_all, geometry_state},
    lighting::{LightingInputs, Lit},
    refraction::Behind,
    scene_data::{Draw, Layer},
    traced::FrameTrees,
    variants::{Features, LightVariants},
    volumes::VeilImages,
};
use crate::{
    gpu::{Bind, Gpu, GpuResult, GraphicsPipeline, Image, Recorder, vk},
    graph::{Access, Graph, ImageHandle, PassContext},
};

/// The pipelines, made when they are first needed.
pub struct LayeredPass {
    variants: LightVariants,
}

impl LayeredPass {
    /// The pass without a pipeline yet.
    #[must_use]
    pub fn new(gpu: &Gpu) -> Self {
        let make = |gpu: &Gpu, name: &str, fragment: &str, features: Features| {
            let targets = match (features.split, features.over) {
                (false, _) => 1,
                (true, false) => 3,
                (true, true) => 4,
            };
            let mut state = geometry_state(vec![(LIGHT, features.over); targets], false);
            state.textures_of = Some("layered.frag+OVER");
            if features.over {
                return GraphicsPipeline::new(gpu, name, "geometry.vert+LAYERS", fragment, &state);
            }
            state.depth = Some((DEPTH, false, vk::CompareOp::EQUAL));
            GraphicsPipeline::new(gpu, name, "geometry.vert", fragment, &state)
        };
        Self { variants: LightVariants::lazy(gpu, "layered.frag", make) }
    }

    /// A pipeline whose set 2 is that of all.
    ///
    /// # Errors
    /// A pipeline that the driver refuses.
    pub fn any_pipeline(&self) -> GpuResult<Arc<GraphicsPipeline>> {
        self.variants.get(Features::default())
    }

    /// Declares the pass that lights what the G-buffer marks; nothing where it marks nothing.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        scene: &'a GpuScene,
        data: &'a FrameData,
        inputs: LightingInputs,
        lit: Lit,
    ) {
        let LightingInputs { gbuffer, lists, way, open } = inputs;
        if !data.visible.draws.iter().any(marked) {
            return;
        }
        let mut pass = g
            .pass("layered")
            .depth_tested(gbuffer.depth)
            .color_over(lit.light)
            .uses(lists.tiles, Access::FragmentStorageRead)
            .uses(lists.clusters, Access::FragmentStorageRead)
            .uses(lists.entries, Access::FragmentStorageRead);
        if let Some((diffuse, specular)) = lit.split {
            pass = pass.color_over(diffuse).color_over(specular);
        }
        if let Some(open) = open {
            pass = pass.uses(open, Access::FragmentSampled);
        }
        pass = way.read_by(pass);
        pass.record(move |cx| {
            let Some(layers) = &scene.layers else { return Ok(()) };
            let (tiles, clusters) = (cx.buffer(lists.tiles), cx.buffer(lists.clusters));
            let entries = cx.buffer(lists.entries);
            let way = way.objects(cx, scene, data);
            let open = open.map_or_else(|| Arc::clone(&scene.white), |open| cx.image(open));
            let pipeline = self.variants.get(features(data, lit.split.is_some(), false))?;
            let mut binds = vec![
                ("light_block", Bind::Storage(&data.lights)),
                ("tile_block", Bind::Storage(&tiles)),
                ("cluster_block", Bind::Storage(&clusters)),
                ("entry_block", Bind::Storage(&entries)),
                ("ao_image", Bind::Sampled(&open)),
                ("layered_block", Bind::Storage(&layers.materials)),
                ("layer_table_block", Bind::Storage(&layers.tables)),
            ];
            binds.extend(data.light_binds(&way));
            binds.push(way.caustics());
            binds.extend(data.traced.iter().flat_map(FrameTrees::empty_masks));
            let draws: Vec<&Draw> = data.visible.draws.iter().filter(|draw| marked(draw)).collect();
            draw_all(cx.rec, scene, data, &draws, (&pipeline, TextureSets::Layers), &binds)
        });
    }

    /// Draws blended or refracting surfaces over the lit picture.
    ///
    /// # Errors
    /// A pipeline that the driver refuses.
    pub(super) fn draw_over(
        &self,
        rec: &mut Recorder<'_>,
        (scene, data): (&GpuScene, &FrameData),
        (split, way): (bool, &WayObjects),
        (behind, veil): (&BehindImages, &VeilImages),
        draws: &[&Draw],
    ) -> GpuResult<()> {
        let Some(layers) = &scene.layers else { return Ok(()) };
        let features = features(data, split, true);
        let pipeline = self.variants.get(features)?;
        let mut binds = vec![
            ("light_block", Bind::Storage(&data.lights)),
            ("layered_block", Bind::Storage(&layers.materials)),
            ("layer_table_block", Bind::Storage(&layers.tables)),
        ];
        binds.push(if features.glass { way.caustics() } else { ("back_image", Bind::Sampled(&behind.backs)) });
        binds.extend(LEVEL_NAMES.iter().zip(&behind.levels).map(|(&name, level)| (name, Bind::Sampled(level))));
        binds.extend(data.light_binds(way));
        binds.extend(veil.binds());
        match (&data.traced, &data.through) {
            (Some(trees), _) => binds.extend(trees.empty_masks()),
            (None, Some(trees)) => binds.extend(trees.binds().into_iter().chain(trees.empty_masks())),
            (None, None) => {}
        }
        draw_all(rec, scene, data, draws, (&pipeline, TextureSets::Layers), &binds)
    }
}

/// What this frame needs; rays always know masks, which saves shaders.
fn features(data: &FrameData, split: bool, over: bool) -> Features {
    let through = data.through.as_ref().filter(|_| over);
    let of = Features::of(data, split);
    let query = of.query || through.is_some_and(|trees| trees.structure().is_some());
    Features { masks: false, over, glass: through.is_some(), query, ..of }
}

const LEVEL_NAMES: [&str; 6] = ["behind_0", "behind_1", "behind_2", "behind_3", "behind_4", "behind_5"];

/// What refracting surfaces read, at record time.
pub(super) struct BehindImages {
    levels: Vec<Arc<Image>>,
    backs: Arc<Image>,
}

impl BehindImages {
    /// The images of this frame, or stand-ins where nothing refracts.
    pub(super) fn of(cx: &PassContext<'_, '_>, behind: Option<Behind>, scene: &GpuScene) -> Self {
        match behind {
            Some(behind) => Self {
                levels: behind.levels.iter().map(|&level| cx.image(level)).collect(),
                backs: behind.backs.map_or_else(|| Arc::clone(&scene.no_backs), |backs| cx.image(backs)),
            },
            None => {
                Self { levels: vec![Arc::clone(&scene.white); LEVEL_NAMES.len()], backs: Arc::clone(&scene.no_backs) }
            }
        }
    }
}

/// Whether the G-buffer's pixels of this draw are lit by this pass.
#[must_use]
pub fn marked(draw: &Draw) -> bool {
    draw.lobes && draw.layer != Layer::Blend
}

/// The images that the pass reads, for its declaration.
pub(super) fn behind_handles(behind: &Behind) -> impl Iterator<Item = ImageHandle> + '_ {
    behind.levels.iter().copied().chain(behind.backs)
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
