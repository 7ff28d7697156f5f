//! The structs of `shaders/shared/ghosts.glsl`; a test compares every offset with what the shaders
//! were compiled to. Lengths are in millimetres, wavelengths and films in nanometres; vectors of
//! three are red, green, blue.

use glam::{UVec3, Vec2, Vec3, Vec4};

use crate::shader_struct;

shader_struct! {
    /// Of all passes.
    pub struct GhostConstants {
        /// Of the channels.
        pub wavelength: Vec3,
        /// How many.
        pub surfaces: u32,
        /// Nit that a pixel means per lux that falls on the sensor.
        pub luminance: Vec3,
        /// Paths with two reflections.
        pub ghosts: u32,
        /// Half of the sensor's part that the picture shows.
        pub gate_half: Vec2,
        /// Of the disc across a beam through which it enters.
        pub front_radius: f32,
        /// z of its middle.
        pub front_z: f32,
        /// z.
        pub sensor_z: f32,
        /// By which edges are softened at least.
        pub pixel: f32,
        /// Exposed luminance from which a ghost is drawn.
        pub least: f32,
        /// Part of that down to which it stays.
        pub hysteresis: f32,
        /// Of the iris; below 3 is a circle.
        pub blades: f32,
        /// Of the blades.
        pub curvature: f32,
        /// Of a corner (rad).
        pub rotation: f32,
        /// 1: entrance planes lie level.
        pub level: u32,
        /// Room for nodes.
        pub node_capacity: u32,
        /// Room for chunks.
        pub chunk_capacity: u32,
        /// Room for ghosts that are drawn.
        pub item_capacity: u32,
        /// Padding.
        pub pad0: u32,
    }
}

shader_struct! {
    /// A surface of the lens.
    pub struct GhostSurface {
        /// Indices of the medium on the scene's side.
        pub before: Vec3,
        /// z.
        pub vertex: f32,
        /// Indices on the sensor's side.
        pub after: Vec3,
        /// One over the radius.
        pub curvature: f32,
        /// Of the clear opening.
        pub radius: f32,
        /// Index of the film; 0: bare.
        pub film_index: f32,
        /// Its thickness.
        pub film: f32,
        /// 1 curved along x, 2 along y, 4 the stop.
        pub flags: u32,
    }
}

shader_struct! {
    /// A path with two reflections; matrices as (a, b) along x and along y.
    pub struct GhostPath {
        /// Of red.
        pub red: Vec4,
        /// Of green.
        pub green: Vec4,
        /// Of blue.
        pub blue: Vec4,
        /// Of the light, at normal incidence.
        pub part: Vec3,
        /// At the entrance, on the axis.
        pub radius: f32,
        /// The surface that reflects first.
        pub first: u32,
        /// The one that reflects second.
        pub second: u32,
        /// Its first crossing.
        pub crossing: u32,
        /// How many.
        pub crossings: u32,
    }
}

shader_struct! {
    /// What was found of a source's ghost.
    pub struct GhostProbe {
        /// Of the entrance.
        pub window: Vec4,
        /// Light over illuminance (mm2), green.
        pub flux: f32,
        /// Greatest exposed luminance in any channel.
        pub peak: f32,
        /// Along a side of its mesh.
        pub cells: u32,
        /// `GHOST_` constants of the shader.
        pub state: u32,
    }
}

shader_struct! {
    /// A ghost that is drawn.
    pub struct GhostItem {
        /// Of the entrance.
        pub window: Vec4,
        /// Of the list.
        pub source: u32,
        /// Of the paths.
        pub ghost: u32,
        /// Along a side of its mesh.
        pub cells: u32,
        /// As found.
        pub state: u32,
        /// The first of its nodes.
        pub node: u32,
        /// The first of its chunks.
        pub chunk: u32,
        /// Padding.
        pub pad0: u32,
        /// Padding.
        pub pad1: u32,
    }
}

shader_struct! {
    /// A channel of a ghost that is drawn.
    pub struct GhostLayer {
        /// Half widths of the iris' edges over its radius, at each crossing.
        pub iris_soft: Vec3,
        /// Of the iris.
        pub crossings: u32,
        /// Of a disc.
        pub center: Vec2,
        /// Of a disc.
        pub radius: Vec2,
        /// Of its illuminance.
        pub scale: f32,
        /// Half width of a disc's edge over its radius.
        pub soft: f32,
        /// Padding.
        pub pad0: f32,
        /// Illuminance that no place exceeds.
        pub cap: f32,
    }
}

shader_struct! {
    /// A ray of a mesh on the sensor.
    pub struct GhostNode {
        /// Where.
        pub place: Vec2,
        /// Distance from the nearest rim in half widths of its edge.
        pub soft: f32,
        /// Distance from the axis over the rim's.
        pub hard: f32,
        /// Places in the iris, pairs of half floats.
        pub iris: UVec3,
        /// Illuminance over that across the beam; below 0: no ray.
        pub light: f32,
    }
}

/// All structs, for the layout test.
pub const LAYOUTS: [crate::gpu::reflect::HostLayout; 7] = [
    GhostConstants::LAYOUT,
    GhostSurface::LAYOUT,
    GhostPath::LAYOUT,
    GhostProbe::LAYOUT,
    GhostItem::LAYOUT,
    GhostLayer::LAYOUT,
    GhostNode::LAYOUT,
];
