//! Animation of nodes, meshes and properties, and the pose of a scene at a time
//! (docs/animation.md).
//!
//! `Scene::pose` is a pure function of scene, animation selection and time. `Scene::apply` writes a
//! pose to nodes, materials, lights and cameras. `Scene::bake` then deforms the vertices of skinned
//! and morphed meshes; `Scene::at` does all three. The rasterizer deforms vertices on the device
//! instead (`passes::skin`).

mod clip;
mod deform;
mod keyframes;
mod pose;
mod scene_pose;
mod skin;
mod trs;
mod value;
mod value_target;

pub use self::{
    clip::{Animation, AnimationChannel, AnimationTarget, ProceduralMotion},
    deform::{Deform, DeformedVertices, Influences, MorphTarget},
    keyframes::{Interpolation, Keyframes},
    scene_pose::{AnimationSelection, ScenePose},
    skin::Skin,
    trs::Trs,
    value_target::{CameraValue, LightValue, MaterialValue, TextureSlot, ValueTarget},
};

#[cfg(test)]
mod tests;
