//! Instant radiosity (stub).
use crate::{bvh::SceneBvh, scene::Scene};
use bytemuck::{Pod, Zeroable};
use glam::{DVec3, Vec3};
use std::sync::Arc;

/// A patch.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct Vpl {
    /// p
    pub position: Vec3,
    /// n
    pub normal: u32,
    /// f
    pub flux: Vec3,
    /// s
    pub size: f32,
}
/// A node.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct LightNode {
    /// p
    pub low: Vec3,
    /// n
    pub flux: f32,
    /// p
    pub high: Vec3,
    /// n
    pub axis: u32,
    /// n
    pub cos_spread: f32,
    /// n
    pub first: u32,
    /// n
    pub leaf: u32,
    /// n
    pub pad: u32,
}
/// A set.
#[derive(Clone, Debug, Default)]
pub struct VplSet {
    /// a
    pub anchor: DVec3,
    /// v
    pub vpls: Vec<Vpl>,
    /// n
    pub nodes: Vec<LightNode>,
}
/// Settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// v
    pub vpls: u32,
    /// b
    pub bounces: u32,
    /// m
    pub merge: bool,
    /// c
    pub cell: Option<f64>,
}
/// R.
#[derive(Debug, Default)]
pub struct Radiosity {}
impl Radiosity {
    /// U.
    pub fn update(&mut self, _: &Scene, _: &SceneBvh, _: &Settings) -> (Arc<VplSet>, f64) {
        (Arc::default(), 1.0)
    }
}
