//! View: camera position and projection for the passes.

use glam::{DMat3, DMat4, DVec2, DVec3, Mat4, Vec3, Vec4, vec4};

use crate::scene::Projection;

/// Camera with an image size.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// World position (m).
    pub position: DVec3,
    /// Camera-relative world to clip space, reversed depth: 1 at the near plane, 0 at the far
    /// plane.
    pub view_projection: Mat4,
    /// Clip space to camera-relative world.
    pub inverse: Mat4,
    /// Camera axes (right, up, back) to world axes.
    pub rotation: DMat3,
    /// View direction (unit).
    pub forward: Vec3,
    /// True if the projection is orthographic.
    pub parallel: bool,
    /// Image width (pixels).
    pub width: u32,
    /// Image height (pixels).
    pub height: u32,
    /// Sample offset from the pixel centers: pixels right and down, each within half a pixel. Both
    /// matrices above include it.
    pub jitter: DVec2,
}

impl View {
    /// Creates the view of a camera with this world transform (it looks along -Z, up is +Y).
    ///
    /// The image height spans the vertical field of view; the file's aspect ratio is ignored.
    #[must_use]
    pub fn new(world: DMat4, projection: &Projection, width: u32, height: u32) -> Self {
        let position = world.w_axis.truncate();
        let rotation = orthonormal(world);
        // World axes to camera axes, without translation: positions are relative to the camera.
        let view = Mat4::from_mat3(rotation.transpose().as_mat3());
        let aspect = f64::from(width) / f64::from(height);
        let projection_matrix = clip_matrix(projection, aspect);
        let view_projection = projection_matrix * view;
        Self {
            position,
            view_projection,
            inverse: view.transpose() * inverse_clip_matrix(projection, aspect),
            rotation,
            forward: (-rotation.z_axis).as_vec3(),
            parallel: matches!(projection, Projection::Orthographic { .. }),
            width,
            height,
            jitter: DVec2::ZERO,
        }
    }

    /// Same camera with another sample offset from the pixel centers (pixels, right and down).
    /// Positions reconstructed from depth through `inverse` do not change.
    #[must_use]
    pub fn jittered(&self, jitter: DVec2) -> Self {
        // The image moves the other way: the sample's content moves to the pixel center.
        let by = self.jitter - jitter;
        let shift = Vec3::new(
            (2.0 * by.x / f64::from(self.width)) as f32,
            (2.0 * by.y / f64::from(self.height)) as f32,
            0.0,
        );
        // x' = x + w shift: a translation after the division.
        let (forth, back) = (Mat4::from_translation(shift), Mat4::from_translation(-shift));
        Self {
            view_projection: forth * self.view_projection,
            inverse: self.inverse * back,
            jitter,
            ..*self
        }
    }

    /// Same camera with another image size, sampled at the pixel centers.
    #[must_use]
    pub fn resized(&self, width: u32, height: u32) -> Self {
        Self { width, height, ..self.jittered(DVec2::ZERO) }
    }

    /// Distance along this camera's view direction (m) of positions relative to another camera: the
    /// dot product with the homogeneous position.
    #[must_use]
    pub fn depth_from(&self, other: &Self) -> Vec4 {
        let shift = (other.position - self.position).dot(self.forward.as_dvec3());
        self.forward.extend(shift as f32)
    }

    /// True if position and projection equal those of another view, ignoring the sample offset.
    #[must_use]
    pub fn same_camera(&self, other: &Self) -> bool {
        let (a, b) = (self.jittered(DVec2::ZERO), other.jittered(DVec2::ZERO));
        let close =
            (a.view_projection - b.view_projection).to_cols_array().iter().all(|x| x.abs() < 1e-6);
        self.position == other.position
            && [self.width, self.height] == [other.width, other.height]
            && close
    }

    /// World axes relative to the current position, to the clip space of the moved camera. `pose`:
    /// the motion in the camera's own axes.
    #[must_use]
    pub fn moved(&self, pose: DMat4) -> DMat4 {
        let rotation = DMat4::from_mat3(self.rotation);
        let back = rotation * pose.inverse() * rotation.transpose();
        self.view_projection.as_dmat4() * back
    }

    /// Distance of the near plane along the view direction (m).
    #[must_use]
    pub fn near(&self) -> f64 {
        let near = self.inverse * vec4(0.0, 0.0, 1.0, 1.0);
        f64::from((near.truncate() / near.w).dot(self.forward))
    }

    /// View frustum without a far plane.
    #[must_use]
    pub fn frustum(&self) -> Frustum {
        let m = self.view_projection.transpose();
        let planes = [
            m.w_axis + m.x_axis,
            m.w_axis - m.x_axis,
            m.w_axis + m.y_axis,
            m.w_axis - m.y_axis,
            m.w_axis - m.z_axis,
        ];
        Frustum { planes: planes.map(|plane| plane / plane.truncate().length().max(1e-30)) }
    }
}

/// View frustum: the space inside the sides and beyond the near plane. Gribb and Hartmann 2001,
/// "Fast Extraction of Viewing Frustum Planes".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frustum {
    /// Inward unit normals and distances: left, right, top, bottom, near.
    pub planes: [Vec4; 5],
}

impl Frustum {
    /// True if a bounding sphere (center relative to the camera) may be visible.
    #[must_use]
    pub fn sees(&self, center: Vec3, radius: f32) -> bool {
        // The device does the same operations in the same order (shaders/passes/culling.comp).
        self.planes
            .iter()
            .all(|p| p.x * center.x + p.y * center.y + p.z * center.z + p.w >= -radius)
    }
}

/// Rotation of a camera's node: scale and shear do not affect a camera (glTF 2.0 section 3.10.1).
fn orthonormal(world: DMat4) -> DMat3 {
    let z = world.z_axis.truncate().normalize_or(DVec3::Z);
    let y = world.y_axis.truncate();
    let x = y.cross(z).normalize_or(z.any_orthonormal_vector());
    DMat3::from_cols(x, z.cross(x), z)
}

struct Clip {
    /// Scales of x and y; y points down in Vulkan's clip space.
    x: f64,
    y: f64,
    /// Depth row: z_clip = a * z + b (z negative in front of the camera).
    a: f64,
    b: f64,
    parallel: bool,
}

fn clip(projection: &Projection, aspect: f64) -> Clip {
    match *projection {
        Projection::Perspective { vertical_fov, near, far, .. } => {
            let y = 1.0 / (0.5 * f64::from(vertical_fov)).tan();
            let near = f64::from(near);
            // depth = z_clip / -z: 1 at the near plane, 0 at the far plane or at infinity.
            let (a, b) = match far.map(f64::from).filter(|&far| far > near) {
                Some(far) => (near / (far - near), near * far / (far - near)),
                None => (0.0, near),
            };
            Clip { x: y / aspect, y: -y, a, b, parallel: false }
        }
        Projection::Orthographic { half_height, near, far, .. } => {
            let y = 1.0 / f64::from(half_height);
            let (near, far) = (f64::from(near), f64::from(far));
            let depth = (far - near).max(1e-6);
            Clip { x: y / aspect, y: -y, a: 1.0 / depth, b: far / depth, parallel: true }
        }
    }
}

/// Camera space to clip space, reversed depth. Reed 2015, "Depth Precision Visualized": reversed
/// float depth keeps nearly constant relative precision.
fn clip_matrix(projection: &Projection, aspect: f64) -> Mat4 {
    let Clip { x, y, a, b, parallel } = clip(projection, aspect);
    let (x, y, a, b) = (x as f32, y as f32, a as f32, b as f32);
    let (w_from_z, w) = if parallel { (0.0, 1.0) } else { (-1.0, 0.0) };
    Mat4::from_cols(
        vec4(x, 0.0, 0.0, 0.0),
        vec4(0.0, y, 0.0, 0.0),
        vec4(0.0, 0.0, a, w_from_z),
        vec4(0.0, 0.0, b, w),
    )
}

/// The exact inverse of `clip_matrix`; a general inversion would lose digits for near planes of
/// millimeters.
fn inverse_clip_matrix(projection: &Projection, aspect: f64) -> Mat4 {
    let Clip { x, y, a, b, parallel } = clip(projection, aspect);
    let (ix, iy) = ((1.0 / x) as f32, (1.0 / y) as f32);
    if parallel {
        // depth = a z + b
        Mat4::from_cols(
            vec4(ix, 0.0, 0.0, 0.0),
            vec4(0.0, iy, 0.0, 0.0),
            vec4(0.0, 0.0, (1.0 / a) as f32, 0.0),
            vec4(0.0, 0.0, (-b / a) as f32, 1.0),
        )
    } else {
        // With z = -1 the point on the ray; w = (depth + a) / b is 1 / -z.
        Mat4::from_cols(
            vec4(ix, 0.0, 0.0, 0.0),
            vec4(0.0, iy, 0.0, 0.0),
            Vec4::new(0.0, 0.0, 0.0, (1.0 / b) as f32),
            Vec4::new(0.0, 0.0, -1.0, (a / b) as f32),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DQuat, vec3};

    fn perspective(far: Option<f32>) -> Projection {
        Projection::Perspective { vertical_fov: 1.0, aspect: None, near: 0.1, far }
    }

    #[test]
    fn depth_is_one_near_and_zero_far() {
        let view = View::new(DMat4::IDENTITY, &perspective(Some(100.0)), 200, 100);
        let depth = |z: f32| {
            let c = view.view_projection * vec4(0.0, 0.0, z, 1.0);
            c.z / c.w
        };
        assert!((depth(-0.1) - 1.0).abs() < 1e-6);
        assert!(depth(-100.0).abs() < 1e-6);
        assert!(depth(-1.0) > depth(-2.0));
    }

    #[test]
    fn up_is_up_and_right_is_right() {
        let world = DMat4::from_rotation_translation(
            DQuat::from_rotation_y(0.3),
            DVec3::new(5.0, 1.0, -2.0),
        );
        let view = View::new(world, &perspective(None), 200, 100);
        let at = |local: DVec3| {
            let c = view.view_projection * (world.transform_vector3(local)).as_vec3().extend(1.0);
            c / c.w
        };
        assert!(at(DVec3::new(1.0, 0.0, -5.0)).x > 0.1);
        assert!(at(DVec3::new(0.0, 1.0, -5.0)).y < -0.1, "clip space y points down");
    }

    #[test]
    fn the_inverse_finds_the_point_again() {
        let world = DMat4::from_rotation_translation(
            DQuat::from_rotation_x(-0.7),
            DVec3::new(0.0, 3.0, 0.0),
        );
        let parallel =
            Projection::Orthographic { half_width: 4.0, half_height: 2.0, near: 0.1, far: 50.0 };
        for projection in [perspective(None), perspective(Some(20.0)), parallel] {
            let view = View::new(world, &projection, 160, 90);
            for local in [vec3(0.2, 0.1, -0.5), vec3(-3.0, 1.5, -10.0), vec3(0.5, -0.5, -19.0)] {
                let p = world.transform_vector3(local.as_dvec3()).as_vec3();
                let c = view.view_projection * p.extend(1.0);
                let back = view.inverse * (c / c.w);
                let error = (back.truncate() / back.w - p).length();
                assert!(error < 1e-4 * p.length(), "{projection:?} {local}: {error}");
            }
        }
    }

    #[test]
    fn a_camera_that_moved_sees_what_a_camera_there_sees() {
        let world = DMat4::from_rotation_translation(
            DQuat::from_rotation_y(0.3),
            DVec3::new(5.0, 1.0, -2.0),
        );
        let pose = DMat4::from_rotation_translation(
            DQuat::from_rotation_x(0.2),
            DVec3::new(0.1, -0.2, 0.4),
        );
        let (now, then) = (
            View::new(world, &perspective(None), 200, 100),
            View::new(world * pose, &perspective(None), 200, 100),
        );
        let p = DVec3::new(6.0, 0.5, -9.0);
        let got = now.moved(pose).as_mat4() * (p - now.position).as_vec3().extend(1.0);
        let want = then.view_projection * (p - then.position).as_vec3().extend(1.0);
        assert!((got - want).length() < 1e-5 * want.length(), "{got} {want}");
    }

    #[test]
    fn a_jittered_view_samples_beside_the_center() {
        let world = DMat4::from_rotation_translation(
            DQuat::from_rotation_x(-0.2),
            DVec3::new(0.0, 3.0, 0.0),
        );
        let parallel =
            Projection::Orthographic { half_width: 4.0, half_height: 2.0, near: 0.1, far: 50.0 };
        for projection in [perspective(None), perspective(Some(20.0)), parallel] {
            let view = View::new(world, &projection, 160, 90);
            let jittered = view.jittered(DVec2::new(0.25, -0.375));
            let p = world.transform_vector3(DVec3::new(0.2, 0.1, -5.0)).as_vec3();
            let pixel = |view: &View| {
                let c = view.view_projection * p.extend(1.0);
                ((c.x / c.w * 0.5 + 0.5) * 160.0, (c.y / c.w * 0.5 + 0.5) * 90.0, c / c.w)
            };
            let (at, moved) = (pixel(&view), pixel(&jittered));
            assert!(
                (at.0 - moved.0 - 0.25).abs() < 1e-4 && (at.1 - moved.1 + 0.375).abs() < 1e-4,
                "{at:?} {moved:?}"
            );
            let back = jittered.inverse * moved.2;
            assert!((back.truncate() / back.w - p).length() < 1e-4);
            assert!(
                jittered.same_camera(&view)
                    && !jittered.same_camera(&View::new(DMat4::IDENTITY, &projection, 160, 90))
            );
        }
    }

    #[test]
    fn depth_is_told_for_another_camera() {
        let other = DMat4::from_rotation_translation(
            DQuat::from_rotation_y(0.1),
            DVec3::new(1e6, 1.0, 0.0),
        );
        let (a, b) = (
            View::new(other, &perspective(None), 160, 90),
            View::new(other * DMat4::from_translation(DVec3::X), &perspective(None), 160, 90),
        );
        let p = other.transform_point3(DVec3::new(0.2, 0.1, -5.0));
        let relative = (p - a.position).as_vec3().extend(1.0);
        assert!((b.depth_from(&a).dot(relative) - 5.0).abs() < 1e-4);
    }

    #[test]
    fn spheres_outside_of_the_view_are_not_seen() {
        let view = View::new(DMat4::IDENTITY, &perspective(None), 100, 100);
        assert!(view.frustum().sees(vec3(0.0, 0.0, -5.0), 0.1));
        assert!(view.frustum().sees(vec3(0.0, 0.0, 1.0), 2.0));
        assert!(!view.frustum().sees(vec3(0.0, 0.0, 5.0), 1.0));
        assert!(!view.frustum().sees(vec3(50.0, 0.0, -5.0), 1.0));
        assert!(view.frustum().sees(vec3(50.0, 0.0, -5.0), 60.0));
    }
}
