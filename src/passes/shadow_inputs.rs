//! Shadow and transmittance inputs of passes that evaluate lights.

use super::{ray_query::BvhDependencies, scene_frame::SceneFrame};
use crate::{
    gpu_scene::{FrameBvh, FrameData},
    graph::{BoundPass, BufferHandle, BufferSource, ImageHandle, ImageSource},
};

/// Shadow and transmittance inputs of the lights, from this frame's passes.
#[derive(Clone, Copy)]
pub struct ShadowInputs {
    /// Shadow atlas, if any light has a shadow map.
    pub atlas: Option<ImageHandle>,
    /// BVH resources that passes of this frame write.
    pub bvh: BvhDependencies,
    /// Water caustic maps, if any.
    pub caustics: Option<BufferHandle>,
}

impl ShadowInputs {
    /// Binds what pipelines of `variants::LightVariants` read beyond the lights: shadows and
    /// features, without caustics. Missing inputs are replaced by placeholders that the shaders do
    /// not read.
    pub(super) fn bind_to<'g, 'a>(
        &self,
        pass: BoundPass<'g, 'a>,
        frame: SceneFrame<'_>,
    ) -> BoundPass<'g, 'a> {
        self.bind_atlas_to(pass, frame).binds(frame.data.light_objects())
    }

    /// As `bind_to`, for pipelines that read hits of rays but trace none.
    pub(super) fn bind_without_traversal_to<'g, 'a>(
        &self,
        pass: BoundPass<'g, 'a>,
        frame: SceneFrame<'_>,
    ) -> BoundPass<'g, 'a> {
        let hits = frame.data.shadow_bvh.iter().flat_map(FrameBvh::hit_binds);
        self.bind_atlas_to(pass, frame).binds(frame.data.light_tables()).binds(hits)
    }

    fn bind_atlas_to<'g, 'a>(
        &self,
        pass: BoundPass<'g, 'a>,
        SceneFrame { scene, .. }: SceneFrame<'_>,
    ) -> BoundPass<'g, 'a> {
        let atlas = self.atlas.map_or_else(|| (&scene.white).into(), ImageSource::from);
        let pass = pass.sampled("shadow_atlas", atlas);
        if pass.is_compute() {
            pass.also_uses(self.bvh.by_compute())
        } else {
            pass.also_uses(self.bvh.by_fragments())
        }
    }

    /// Caustic maps or a placeholder, for shaders that light points in water; other shaders do not
    /// declare them.
    pub(super) fn caustics(&self, data: &FrameData) -> BufferSource {
        self.caustics.map_or_else(|| (&data.profiles).into(), BufferSource::from)
    }
}
