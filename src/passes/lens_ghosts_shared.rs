//! Structs of `shaders/shared/ghosts.glsl`. A test compares every offset with the compiled shaders.
//! Lengths are in millimeters, wavelengths and films in nanometers. Vectors of three are red,
//! green, blue.

use glam::{UVec3, Vec2, Vec3, Vec4};

use crate::shader_struct;

shader_struct! {
    /// Constants of all lens ghost passes.
    pub struct GhostConstants {
        /// Wavelengths of the channels (nm).
        pub wavelength: Vec3,
        /// Number of lens surfaces.
        pub surfaces: u32,
        /// Luminance (nits) of a pixel per illuminance (lx) on the sensor.
        pub luminance: Vec3,
        /// Number of paths with two reflections.
        pub ghosts: u32,
        /// Half extents of the sensor area that the image shows.
        pub gate_half: Vec2,
        /// Radius of the disc, perpendicular to a beam, through which the beam enters.
        pub front_radius: f32,
        /// z of that disc's center.
        pub front_z: f32,
        /// z of the sensor.
        pub sensor_z: f32,
        /// Minimum softening of edges.
        pub pixel: f32,
        /// Exposed luminance above which a ghost is drawn.
        pub min_luminance: f32,
        /// Fraction of that threshold down to which a drawn ghost is kept.
        pub hysteresis: f32,
        /// Number of iris blades; below 3: circular iris.
        pub blades: f32,
        /// Curvature of the iris blades.
        pub curvature: f32,
        /// Angle of an iris corner (rad).
        pub rotation: f32,
        /// 1: entrance planes are level.
        pub level: u32,
        /// Capacity of the node buffer.
        pub node_capacity: u32,
        /// Capacity of the chunk buffer.
        pub chunk_capacity: u32,
        /// Capacity of the list of drawn ghosts.
        pub item_capacity: u32,
        /// Padding.
        pub pad0: u32,
    }
}

shader_struct! {
    /// Lens surface.
    pub struct GhostSurface {
        /// Refractive indices on the scene side.
        pub before: Vec3,
        /// z of the vertex.
        pub vertex: f32,
        /// Refractive indices on the sensor side.
        pub after: Vec3,
        /// Curvature: one over the radius.
        pub curvature: f32,
        /// Clear aperture radius.
        pub radius: f32,
        /// Refractive index of the coating; 0: uncoated.
        pub film_index: f32,
        /// Thickness of the coating (nm).
        pub film: f32,
        /// Bits: 1 curved along x, 2 curved along y, 4 the stop.
        pub flags: u32,
    }
}

shader_struct! {
    /// Path with two reflections; matrices as (a, b) along x and along y.
    pub struct GhostPath {
        /// Matrix of red.
        pub red: Vec4,
        /// Matrix of green.
        pub green: Vec4,
        /// Matrix of blue.
        pub blue: Vec4,
        /// Transmitted fraction of the light at normal incidence.
        pub part: Vec3,
        /// Radius at the entrance, on the axis.
        pub radius: f32,
        /// Index of the first reflecting surface.
        pub first: u32,
        /// Index of the second reflecting surface.
        pub second: u32,
        /// Index of its first surface crossing.
        pub crossing: u32,
        /// Number of surface crossings.
        pub crossings: u32,
    }
}

shader_struct! {
    /// Probe result of one source's ghost.
    pub struct GhostProbe {
        /// Used window of the entrance.
        pub window: Vec4,
        /// Light over illuminance (mm2), for green.
        pub flux: f32,
        /// Maximum exposed luminance over all channels.
        pub peak: f32,
        /// Cells per side of its mesh.
        pub cells: u32,
        /// `GHOST_` constants of the shader.
        pub state: u32,
    }
}

shader_struct! {
    /// Ghost to draw.
    pub struct GhostItem {
        /// Used window of the entrance.
        pub window: Vec4,
        /// Index in the source list.
        pub source: u32,
        /// Index of the path.
        pub ghost: u32,
        /// Cells per side of its mesh.
        pub cells: u32,
        /// State from the probe: `GHOST_` constants of the shader.
        pub state: u32,
        /// Index of its first node.
        pub node: u32,
        /// Index of its first chunk.
        pub chunk: u32,
        /// Padding.
        pub pad0: u32,
        /// Padding.
        pub pad1: u32,
    }
}

shader_struct! {
    /// One channel of a drawn ghost.
    pub struct GhostLayer {
        /// Half widths of the iris edges over the iris radius, at each crossing.
        pub iris_soft: Vec3,
        /// Number of iris crossings.
        pub crossings: u32,
        /// Center of a disc.
        pub center: Vec2,
        /// Radii of a disc.
        pub radius: Vec2,
        /// Scale of the illuminance.
        pub scale: f32,
        /// Half width of a disc's edge over its radius.
        pub soft: f32,
        /// Padding.
        pub pad0: f32,
        /// Upper bound on the illuminance.
        pub cap: f32,
    }
}

shader_struct! {
    /// Mesh ray on the sensor.
    pub struct GhostNode {
        /// Position on the sensor.
        pub sensor_position: Vec2,
        /// Distance from the nearest rim in half widths of its edge.
        pub soft: f32,
        /// Distance from the axis over that of the rim.
        pub hard: f32,
        /// Positions in the iris, pairs of half floats.
        pub iris: UVec3,
        /// Illuminance over that perpendicular to the beam; negative: no ray.
        pub light: f32,
    }
}

/// Host layouts of all structs of this file, for the layout test.
pub const LAYOUTS: [crate::gpu::reflect::HostLayout; 7] = [
    GhostConstants::LAYOUT,
    GhostSurface::LAYOUT,
    GhostPath::LAYOUT,
    GhostProbe::LAYOUT,
    GhostItem::LAYOUT,
    GhostLayer::LAYOUT,
    GhostNode::LAYOUT,
];
