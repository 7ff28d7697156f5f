//! Shadow and transmittance inputs of passes that evaluate lights.

use std::sync::Arc;

use super::ray_query::BvhDependencies;
use crate::{
    gpu::{Bind, Buffer, Image},
    gpu_scene::{FrameData, GpuScene},
    graph::{Access, BufferHandle, ImageHandle, PassBuilder, PassContext},
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
    /// Declares all inputs as read by the pass's fragment shaders.
    pub(super) fn read_by<'g, 'a>(&self, mut pass: PassBuilder<'g, 'a>) -> PassBuilder<'g, 'a> {
        if let Some(atlas) = self.atlas {
            pass = pass.uses(atlas, Access::FragmentSampled);
        }
        for (buffer, access) in self.bvh.by_fragments() {
            pass = pass.uses(buffer, access);
        }
        if let Some(caustics) = self.caustics {
            pass = pass.uses(caustics, Access::FragmentStorageRead);
        }
        pass
    }

    /// Resources at record time. Missing ones are replaced by placeholders that the shaders do not
    /// read.
    pub(super) fn objects(
        &self,
        cx: &PassContext<'_, '_>,
        scene: &GpuScene,
        data: &FrameData,
    ) -> ShadowBindings {
        ShadowBindings {
            atlas: self.atlas.map_or_else(|| Arc::clone(&scene.white), |atlas| cx.image(atlas)),
            caustics: self
                .caustics
                .map_or_else(|| Arc::clone(&data.profiles), |caustics| cx.buffer(caustics)),
        }
    }
}

/// Resources of `ShadowInputs` at record time.
pub(super) struct ShadowBindings {
    atlas: Arc<Image>,
    caustics: Arc<Buffer>,
}

impl ShadowBindings {
    /// Bindings of a `variants::LightVariants` pipeline beyond the lights: shadows and features,
    /// without caustics.
    pub(super) fn light_binds<'a>(&'a self, data: &'a FrameData) -> Vec<(&'static str, Bind<'a>)> {
        let mut binds = data.light_objects();
        binds.push(("shadow_atlas", Bind::Sampled(&self.atlas)));
        binds
    }

    /// Caustics binding, for shaders that light points in water; other shaders do not declare it.
    pub(super) fn caustics(&self) -> (&'static str, Bind<'_>) {
        ("caustic_block", Bind::Storage(&self.caustics))
    }
}
