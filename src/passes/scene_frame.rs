//! Scene and frame data that passes read.

use crate::{
    gpu::Bind,
    gpu_scene::{FrameData, FrameUniforms, GpuScene},
};

/// The scene, and its data for one frame.
#[derive(Clone, Copy)]
pub struct SceneFrame<'a> {
    /// Scene on the device.
    pub scene: &'a GpuScene,
    /// Data of the frame at render resolution.
    pub data: &'a FrameData,
    /// Constants at output resolution, for passes after anti-aliasing.
    pub output: &'a FrameUniforms,
}

impl<'a> SceneFrame<'a> {
    /// Bindings of pipelines that draw scene geometry: constants, instances and materials.
    pub(super) fn geometry_binds(self) -> [(&'static str, Bind<'a>); 3] {
        [
            self.data.uniform(),
            ("instance_block", Bind::Storage(&self.data.draws.instances)),
            ("material_block", Bind::Storage(&self.scene.materials)),
        ]
    }
}
