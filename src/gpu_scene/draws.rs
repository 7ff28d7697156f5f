//! Types of draw lists: render queues, draws and shadow casters.

use glam::Vec3;

use crate::gpu::shader_structs::frame;

/// Render queue of a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RenderQueue {
    /// G-buffer, material without textures.
    Untextured,
    /// G-buffer, textured.
    Opaque,
    /// G-buffer, alpha-tested.
    Mask,
    /// Over the lit image: blended or refractive.
    Blend,
}

/// Draw call.
#[derive(Clone, Copy, Debug)]
pub struct Draw {
    /// First index in the scene's indices.
    pub first_index: u32,
    /// Number of indices.
    pub index_count: u32,
    /// Vertex offset of the draw.
    pub vertex_offset: i32,
    /// First instance in the frame's instances.
    pub first_instance: u32,
    /// Number of instances.
    pub instance_count: u32,
    /// Material index in the scene.
    pub material: u32,
    /// Disables back-face culling.
    pub double_sided: bool,
    /// The transform mirrors, which reverses the winding.
    pub mirrored: bool,
    /// Render queue.
    pub queue: RenderQueue,
    /// Extended material: the forward pass lights it.
    pub extended: bool,
    /// Refractive surface.
    pub refracts: bool,
    /// Alpha mode BLEND.
    pub blended: bool,
    /// Uses the view's own indices, sorted back to front (`Visible::sorted`).
    pub sorted: bool,
}

/// Visible part of a scene for a view.
pub struct Visible {
    /// Draw calls: opaque ones grouped, blended ones back to front.
    pub draws: Vec<Draw>,
    /// Instances that the draws refer to.
    pub instances: Vec<frame::Instance>,
    /// Group and transform index of each instance.
    pub(crate) sources: Vec<(u32, u32)>,
    /// Number of instances outside the view.
    pub culled: usize,
    /// Indices of blended triangles, back to front, for draws with `sorted`.
    pub sorted: Vec<u32>,
    /// True if blended objects are sorted whole because their triangles take too many draws.
    pub too_many_draws: bool,
}

/// Shadow casters.
#[derive(Default)]
pub struct Casters {
    /// Camera-relative instances.
    pub instances: Vec<frame::Instance>,
    /// Primitives that cast shadows.
    pub groups: Vec<CasterGroup>,
}

/// Primitive with all instances that cast shadows.
pub struct CasterGroup {
    /// First index in the scene's indices.
    pub first_index: u32,
    /// Number of indices.
    pub index_count: u32,
    /// Vertex offset of the draw.
    pub vertex_offset: i32,
    /// Material index in the scene.
    pub material: u32,
    /// Render queue: alpha-tested (also blended surfaces) or opaque.
    pub queue: RenderQueue,
    /// First instance in the casters' instances.
    pub(super) first_instance: u32,
    /// Bounding sphere of each instance: camera-relative center, and radius.
    pub(super) spheres: Vec<(Vec3, f32)>,
}

impl CasterGroup {
    /// Runs of instances (first, count) that a projection may see. The near plane does not cull.
    #[must_use]
    pub fn visible_ranges(&self, to_clip: &glam::Mat4) -> Vec<(u32, u32)> {
        let m = to_clip.transpose();
        let planes =
            [m.w_axis + m.x_axis, m.w_axis - m.x_axis, m.w_axis + m.y_axis, m.w_axis - m.y_axis];
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for (index, (center, radius)) in (self.first_instance..).zip(&self.spheres) {
            let seen = planes
                .iter()
                .all(|plane| plane.dot(center.extend(1.0)) >= -radius * plane.truncate().length());
            match runs.last_mut() {
                _ if !seen => {}
                Some((first, count)) if *first + *count == index => *count += 1,
                _ => runs.push((index, 1)),
            }
        }
        runs
    }
}
