//! Views, and the rays of their pixels.

use glam::{DVec3, DVec4};
use sunny16::{
    gpu_scene::View,
    scene::{Projection, build::look_at_transform},
};

pub fn perspective(
    position: DVec3,
    target: DVec3,
    vertical_fov: f32,
    near: f32,
    size: (u32, u32),
) -> View {
    let projection = Projection::Perspective { vertical_fov, aspect: None, near, far: None };
    View::new(look_at_transform(position, target), &projection, size.0, size.1)
}

/// A parallel projection; the half height is in meters.
pub fn parallel(
    position: DVec3,
    target: DVec3,
    half_height: f32,
    depth: f32,
    size: (u32, u32),
) -> View {
    let half_width = half_height * size.0 as f32 / size.1 as f32;
    let projection = Projection::Orthographic { half_width, half_height, near: 0.0, far: depth };
    View::new(look_at_transform(position, target), &projection, size.0, size.1)
}

/// The ray through a pixel's center: a point on it, in world axes, and its unit direction.
pub fn pixel_ray(view: &View, x: usize, y: usize) -> (DVec3, DVec3) {
    let inverse = view.inverse.as_dmat4();
    let ndc = |size: u32, index: usize| (index as f64 + 0.5) / f64::from(size) * 2.0 - 1.0;
    let at = |depth: f64| {
        let p = inverse * DVec4::new(ndc(view.width, x), ndc(view.height, y), depth, 1.0);
        p.truncate() / p.w
    };
    if view.parallel {
        (view.position + at(0.5), view.forward.as_dvec3().normalize())
    } else {
        (view.position, at(1.0).normalize())
    }
}

/// Intersection of a pixel's ray with the plane through `point`.
pub fn hit_plane(view: &View, x: usize, y: usize, point: DVec3, normal: DVec3) -> DVec3 {
    let (from, along) = pixel_ray(view, x, y);
    from + along * ((point - from).dot(normal) / along.dot(normal))
}

/// The pixel that a point projects to.
pub fn pixel_of(view: &View, point: DVec3) -> Option<(usize, usize)> {
    let clip = view.view_projection.as_dmat4() * (point - view.position).extend(1.0);
    let ndc = clip.truncate() / clip.w;
    let (x, y) =
        ((ndc.x * 0.5 + 0.5) * f64::from(view.width), (ndc.y * 0.5 + 0.5) * f64::from(view.height));
    let inside = x >= 0.0
        && y >= 0.0
        && x < f64::from(view.width)
        && y < f64::from(view.height)
        && clip.w > 0.0;
    inside.then_some((x as usize, y as usize))
}
