//! Instance transforms of all meshes in draw order, for culling on the host and on the device.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU32, Ordering},
};

use glam::{DMat3, DMat4, DVec3, Mat4, Vec3, Vec4};

use super::{
    buffers::uploaded_buffer, draws::RenderQueue, geometry::Group, pose::PrimitivePose,
    view::Frustum,
};
use crate::gpu::{
    Buffer, Gpu, GpuResult,
    shader_structs::{
        culling::{BUCKET_OCCLUDES, CullBucket, InstanceTransform},
        frame::Instance,
    },
    upload::Uploader,
};

/// World position as two float vectors: nearest floats and remainder.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SplitPoint {
    /// Nearest floats (m).
    pub high: Vec3,
    /// Remainder (m).
    pub low: Vec3,
}

impl SplitPoint {
    /// Splits a point. Coordinates are clamped to 10^30 m.
    #[must_use]
    pub fn new(point: DVec3) -> Self {
        let point = DVec3::select(point.is_nan_mask(), DVec3::ZERO, point)
            .clamp(DVec3::splat(-1e30), DVec3::splat(1e30));
        let high = point.as_vec3();
        Self { high, low: (point - high.as_dvec3()).as_vec3() }
    }

    /// Vector from another point to this one. `shaders/lib/culling.glsl` uses the same operations
    /// in the same order, so that the results are bit-identical.
    #[must_use]
    pub fn from(self, other: Self) -> Vec3 {
        let difference = self.high - other.high;
        let part = difference - self.high;
        let error = (self.high - (difference - part)) - (other.high + part);
        difference + (error + (self.low - other.low))
    }
}

impl InstanceTransform {
    /// Creates an instance of a primitive.
    #[must_use]
    pub(super) fn new(place: &DMat4, group: &PrimitivePose, bucket: u32) -> Self {
        let linear = DMat3::from_mat4(*place);
        // The cofactor matrix is the inverse transpose times the determinant, and also exists for
        // singular transforms.
        let cofactor = DMat3::from_cols(
            linear.y_axis.cross(linear.z_axis),
            linear.z_axis.cross(linear.x_axis),
            linear.x_axis.cross(linear.y_axis),
        );
        let sign = if linear.determinant() < 0.0 { -1.0 } else { 1.0 };
        let largest = [cofactor.x_axis, cofactor.y_axis, cofactor.z_axis]
            .iter()
            .map(|c| c.length())
            .fold(0.0, f64::max);
        let normal = cofactor * (sign / largest.max(1e-300));
        // The Frobenius norm bounds the scale; the longest axis would be too short under shear.
        let stretch = (linear.x_axis.length_squared()
            + linear.y_axis.length_squared()
            + linear.z_axis.length_squared())
        .sqrt();
        let offset = linear * group.center.as_dvec3();
        let split = SplitPoint::new(place.w_axis.truncate());
        Self {
            high: split.high,
            // Enlarged, so that rounding never makes the sphere too small.
            radius: (f64::from(group.radius) * stretch * (1.0 + 1e-5) + 1e-6 * offset.length())
                as f32,
            low: split.low,
            bucket,
            offset: offset.as_vec3(),
            stretch: stretch as f32,
            axis_x: linear.x_axis.as_vec3(),
            axis_y: linear.y_axis.as_vec3(),
            axis_z: linear.z_axis.as_vec3(),
            normal_x: normal.x_axis.as_vec3(),
            normal_y: normal.y_axis.as_vec3(),
            normal_z: normal.z_axis.as_vec3(),
            handedness: sign as f32,
            pad0: 0,
        }
    }

    /// Camera-relative instance, and the center of its bounding sphere.
    #[must_use]
    pub fn relative_to(&self, camera: SplitPoint) -> (Instance, Vec3) {
        let translation = SplitPoint { high: self.high, low: self.low }.from(camera);
        let instance = Instance {
            to_world: Mat4::from_cols(
                self.axis_x.extend(0.0),
                self.axis_y.extend(0.0),
                self.axis_z.extend(0.0),
                translation.extend(1.0),
            ),
            normal0: self.normal_x.extend(0.0),
            normal1: self.normal_y.extend(0.0),
            normal2: self.normal_z.extend(self.handedness),
        };
        (instance, translation + self.offset)
    }
}

/// Instances of one group with one handedness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bucket {
    /// Index of the group.
    pub group: usize,
    /// The transforms mirror.
    pub mirrored: bool,
    /// First instance.
    pub first: u32,
    /// One past the last instance.
    pub end: u32,
}

/// Consecutive buckets with the same draw state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// First bucket.
    pub first: u32,
    /// Number of buckets.
    pub count: u32,
    /// Material index in the scene.
    pub material: u32,
    /// Disables back-face culling.
    pub double_sided: bool,
    /// The transforms mirror, which reverses the winding.
    pub mirrored: bool,
    /// Render queue.
    pub queue: RenderQueue,
}

/// Instances with a static draw order: all but those sorted back to front.
#[derive(Clone, Debug, Default)]
struct Placements {
    /// Sorted by bucket.
    list: Vec<InstanceTransform>,
    /// In draw order: by render queue and material, then by group.
    buckets: Vec<Bucket>,
}

impl Placements {
    /// Sorts the instances into draw order.
    fn new(groups: &[Group], posed: &[PrimitivePose]) -> Self {
        let mut order: Vec<usize> = (0..groups.len().min(posed.len()))
            .filter(|&group| groups[group].culled_on_device())
            .collect();
        order.sort_by_key(|&group| (groups[group].queue, groups[group].material));
        let mut all = Self::default();
        for group in order {
            for mirrored in [false, true] {
                let first = all.list.len() as u32;
                let bucket = all.buckets.len() as u32;
                let places = posed[group]
                    .world_transforms
                    .iter()
                    .filter(|place| (place.determinant() < 0.0) == mirrored);
                all.list.extend(
                    places.map(|place| InstanceTransform::new(place, &posed[group], bucket)),
                );
                let end = all.list.len() as u32;
                if end > first {
                    all.buckets.push(Bucket { group, mirrored, first, end });
                }
            }
        }
        all
    }

    /// Bucket descriptions for the device.
    fn cull_buckets(&self, groups: &[Group], posed: &[PrimitivePose]) -> Vec<CullBucket> {
        let describe = |bucket: &Bucket| {
            let (group, posed) = (&groups[bucket.group], &posed[bucket.group]);
            let hides = matches!(group.queue, RenderQueue::Untextured | RenderQueue::Opaque);
            CullBucket {
                first: bucket.first,
                end: bucket.end,
                vertex_offset: group.vertex_offset,
                flags: if hides { BUCKET_OCCLUDES } else { 0 },
                center: posed.center,
                levels: group.levels() as u32,
                // Slightly enlarged, so that rounding never makes the box too small.
                half_size: posed.half_size
                    + (posed.half_size.max_element() + posed.center.length()) * 1e-6,
                pad0: 0,
                first_index: std::array::from_fn(|level| group.level(level).first_index),
                index_count: std::array::from_fn(|level| group.level(level).index_count),
                error: Vec4::from_array(std::array::from_fn(|level| group.level(level).error)),
            }
        };
        self.buckets.iter().map(describe).collect()
    }

    /// Draws of the buckets, merged where the state allows.
    fn runs(&self, groups: &[Group]) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        for (index, bucket) in self.buckets.iter().enumerate() {
            let Group { material, double_sided, queue: layer, .. } = groups[bucket.group];
            let mirrored = bucket.mirrored;
            let next = Run {
                first: index as u32,
                count: 1,
                material,
                double_sided,
                mirrored,
                queue: layer,
            };
            match runs.last_mut() {
                Some(run) if (Run { first: next.first, count: 1, ..*run }) == next => {
                    run.count += 1
                }
                _ => runs.push(next),
            }
        }
        runs
    }
}

/// Instances on the device, and the draws that culling selects from.
pub struct GpuInstances {
    /// `InstanceTransform`s.
    pub placements: Arc<Buffer>,
    /// `CullBucket`s.
    pub buckets: Arc<Buffer>,
    /// One word per instance: whether the last frame drew it. It selects the occluders and does not
    /// affect the image.
    pub was_visible: Arc<Buffer>,
    /// Number of instances.
    pub count: u32,
    /// Number of buckets.
    pub bucket_count: u32,
    /// Draws, in order.
    pub runs: Vec<Run>,
    /// Maximum number of levels of detail of any mesh.
    pub levels: u32,
    /// Decides whether occlusion tests pay off.
    pub gain: Arc<OcclusionGain>,
}

impl GpuInstances {
    /// Uploads instances. Returns `None` if there are none, they exceed a device buffer, or the
    /// device lacks indirect draws with a first instance. Visibility is kept from `before` if the
    /// count matches.
    pub(super) fn new(
        gpu: &Gpu,
        uploader: &mut Uploader,
        (groups, posed): (&[Group], &[PrimitivePose]),
        before: Option<&Self>,
    ) -> GpuResult<Option<Self>> {
        let in_order = || groups.iter().zip(posed).filter(|(group, _)| group.culled_on_device());
        let count: usize = in_order().map(|(_, posed)| posed.world_transforms.len()).sum();
        let room = gpu.limits().max_storage_buffer_range as usize;
        let fits = count * size_of::<InstanceTransform>().max(size_of::<Instance>()) <= room;
        if count == 0 || !fits || !gpu.indirect_first_instance() {
            return Ok(None);
        }
        let all = Placements::new(groups, posed);
        let mut storage = |name: &str, bytes: &[u8]| -> GpuResult<Arc<Buffer>> {
            uploaded_buffer(gpu, uploader, (name, 0), bytes)
        };
        let buckets = all.cull_buckets(groups, posed);
        let (placements, described) = (
            storage("placements", bytemuck::cast_slice(&all.list))?,
            storage("placements by mesh", bytemuck::cast_slice(&buckets))?,
        );
        let (seen, gain) = match before.filter(|before| before.count as usize == all.list.len()) {
            Some(before) => (Arc::clone(&before.was_visible), Arc::clone(&before.gain)),
            None => {
                (storage("placements last seen", &vec![0; all.list.len() * 4])?, Arc::default())
            }
        };
        Ok(Some(Self {
            placements,
            buckets: described,
            was_visible: seen,
            count: all.list.len() as u32,
            bucket_count: buckets.len() as u32,
            runs: all.runs(groups),
            levels: buckets.iter().map(|bucket| bucket.levels).max().unwrap_or(1),
            gain,
        }))
    }
}

/// True if occlusion tests pay off: with few occluded instances they cost more than they save. Does
/// not affect the image.
#[derive(Debug, Default)]
pub struct OcclusionGain {
    /// True if any frame has recorded visibility.
    seen: AtomicBool,
    /// Frames until the next attempt.
    wait: AtomicU32,
}

impl OcclusionGain {
    /// True if this frame tests occlusion. Marks visibility as recorded for later frames.
    pub fn should_test(&self) -> bool {
        let wait = self.wait.load(Ordering::Relaxed);
        self.wait.store(wait.saturating_sub(1), Ordering::Relaxed);
        self.seen.swap(true, Ordering::Relaxed) && wait == 0
    }

    /// Records the counts of a frame with occlusion tests. Occluder depth costs about half as much
    /// as drawing. If that exceeds the savings, the next `retry_interval` frames skip the tests.
    pub fn record(&self, hidden: usize, drawn: usize, retry_interval: u32) {
        if hidden * 2 < drawn {
            self.wait.store(retry_interval, Ordering::Relaxed);
        }
    }
}

/// Level of detail selection for a view.
#[derive(Clone, Copy, Debug)]
pub struct LodSelection {
    /// View direction (unit).
    pub forward: Vec3,
    /// True if the projection is orthographic.
    pub parallel: bool,
    /// Pixels per meter at a distance of 1 m over the allowed error in pixels; 0: finest level
    /// only.
    pub error_scale: f32,
}

impl LodSelection {
    /// Coarsest level whose screen-space error is acceptable. `errors`: geometric errors of the
    /// levels in object space.
    #[must_use]
    pub fn level(&self, errors: &[f32], stretch: f32, center: Vec3, radius: f32) -> usize {
        if self.error_scale <= 0.0 {
            return 0;
        }
        let along =
            self.forward.x * center.x + self.forward.y * center.y + self.forward.z * center.z;
        let nearest = if self.parallel { 1.0 } else { along - radius };
        let fits = |error: &f32| error * stretch * self.error_scale <= nearest;
        errors
            .iter()
            .enumerate()
            .skip(1)
            .filter(|(_, error)| fits(error))
            .map(|(level, _)| level)
            .next_back()
            .unwrap_or(0)
    }
}

/// True if an instance's bounding sphere may be visible, as in `shaders/passes/culling.comp`.
#[must_use]
pub fn in_view(frustum: &Frustum, center: Vec3, radius: f32) -> bool {
    let reach = radius + 1e-6 * (center.x.abs() + center.y.abs() + center.z.abs());
    frustum.sees(center, reach)
}
