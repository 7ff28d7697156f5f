//! The scene on the device: its geometry, materials, lights, BVH and VPLs, its draw lists for a
//! view, and the data of one frame that all passes read. Records no passes.

mod acceleration;
pub mod alpha_coverage;
pub mod area_lights;
mod blend_order;
mod boxed_volume;
mod buffers;
mod deform;
mod draws;
pub mod environment;
mod extended_materials;
mod frame_bvh;
mod frame_data;
mod geometry;
pub mod gi;
pub mod ies_profiles;
mod instances;
pub mod irradiance_volume;
pub mod layer_tables;
pub mod light_tree;
mod lights;
mod lod;
mod materials;
pub mod mips;
mod packed_materials;
mod pose;
mod pose_update;
pub mod probe_grid;
pub mod probe_schedule;
pub mod probes;
pub mod refit;
mod scene;
pub mod scene_bvh;
mod view;
mod visibility;
mod volume_environment;
pub mod volumes;
mod water;
mod world_light;

pub use self::{
    blend_order::{MAX_DRAWS, MAX_SORTED},
    buffers::dynamic_buffer,
    draws::{CasterGroup, Casters, Draw, RenderQueue, Visible},
    extended_materials::{
        BACK_FACES, ExtendedMaterials, WaterTextures, is_extended, needs_blend_pass, refracts,
    },
    frame_bvh::{FrameBvh, LazyFrameBvh},
    frame_data::{FrameData, FrameDraws, FrameUniforms, ShadowRayBudget},
    geometry::{LodGeneration, VERTEX_STRIDE, vertex_attributes},
    instances::{GpuInstances, LodSelection, OcclusionGain, Run, SplitPoint, in_view},
    lights::world_lights,
    pose::GpuScenePose,
    scene::GpuScene,
    view::{Frustum, View},
    water::PlacedWater,
    world_light::WorldLight,
};
pub(crate) use self::{buffers::storage_buffer, deform::Deformers};
