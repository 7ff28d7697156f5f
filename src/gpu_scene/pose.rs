//! Poses: transforms and deformations at one time.

use std::sync::Arc;

use glam::{DMat4, DVec3, Vec3, Vec4};

/// Bounds and transforms of a primitive.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PrimitivePose {
    /// Center of its bounding sphere, object space.
    pub center: Vec3,
    /// Radius of the bounding sphere, object space.
    pub radius: f32,
    /// Half extents of the bounding box with the same center, object space.
    pub half_size: Vec3,
    /// Instance transforms: object space to the world.
    pub world_transforms: Arc<[DMat4]>,
}

/// Joint matrices and morph weights at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct DeformPose {
    /// Three rows per joint.
    pub palette: Vec<[Vec4; 3]>,
    /// Morph weights.
    pub weights: Vec<f32>,
}

/// Pose of the whole scene at one time: of a frame, of shutter opening or closing, or of the last
/// frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GpuScenePose {
    /// In the order of the scene's groups; emitting surfaces of lights follow.
    pub(crate) groups: Vec<PrimitivePose>,
    /// Joint matrices and morph weights.
    pub(crate) deform: DeformPose,
}

impl GpuScenePose {
    /// Bounding box (m) of the boxes of all primitives but the emitting surfaces of lights.
    pub(super) fn box_bounds(&self, groups: usize) -> Option<(DVec3, DVec3)> {
        let boxes = self.groups.iter().take(groups).flat_map(|group| {
            group.world_transforms.iter().map(|place| {
                let linear = glam::DMat3::from_mat4(*place);
                let half = linear.abs() * group.half_size.as_dvec3();
                let center = place.transform_point3(group.center.as_dvec3());
                (center - half, center + half)
            })
        });
        boxes.reduce(|(low, high), (l, h)| (low.min(l), high.max(h)))
    }

    /// Bounding box of everything (m).
    pub(super) fn bounds(&self, groups: usize) -> Option<(DVec3, DVec3)> {
        let mut bounds: Option<(DVec3, DVec3)> = None;
        for group in self.groups.iter().take(groups) {
            for place in group.world_transforms.iter() {
                let linear = glam::DMat3::from_mat4(*place);
                // Bounding box of a sphere under a transform: the half extents are the row lengths.
                let half = DVec3::new(
                    linear.row(0).length(),
                    linear.row(1).length(),
                    linear.row(2).length(),
                ) * f64::from(group.radius);
                let center = place.transform_point3(group.center.as_dvec3());
                let (low, high) = (center - half, center + half);
                bounds = Some(bounds.map_or((low, high), |(l, h)| (l.min(low), h.max(high))));
            }
        }
        bounds
    }
}
