//! Projections of shadow maps: cascades of directional lights, and views of spots and points.
//!
//! Cascades are bounding spheres of view frustum slices. Their centers move in whole texels, so
//! that shadow edges are stable under camera motion (Valient, "Stable Rendering of Cascaded Shadow
//! Maps", ShaderX6, 2008).

use glam::{DMat3, DMat4, DVec2, DVec3, DVec4, Vec4};

use crate::gpu_scene::{View, WorldLight};

/// Cascades of a directional light.
pub(super) const CASCADES: usize = 4;

/// Blend of split distances between uniform (0) and logarithmic (1): Zhang et al., "Parallel-Split
/// Shadow Maps for Large-Scale Virtual Environments" (2006), equation 3.
const SPLIT_BLEND: f64 = 0.85;

/// Border texels of a map that filtered lookups near its edge may read.
pub(super) const BORDER: f64 = 3.0;

/// Maximum half angle (rad) of a spot with a single map; wider spots use a cube map.
const MAX_SPOT_HALF_ANGLE: f64 = 1.15;

/// Number of maps of a local light.
pub(super) fn maps_of(light: &WorldLight) -> usize {
    if light.shader.spot_scale > 0.0 && outer_half_angle(light) <= MAX_SPOT_HALF_ANGLE {
        1
    } else {
        6
    }
}

pub(super) fn outer_half_angle(light: &WorldLight) -> f64 {
    (-f64::from(light.shader.spot_offset) / f64::from(light.shader.spot_scale))
        .clamp(-1.0, 1.0)
        .acos()
}

/// Far distances (m) of the cascades: a blend of uniform and logarithmic steps from `near` to
/// `far`.
fn split_distances(near: f64, far: f64) -> [f64; CASCADES] {
    std::array::from_fn(|index| {
        let part = (index + 1) as f64 / CASCADES as f64;
        let proportional = near * (far / near).powf(part);
        let even = near + (far - near) * part;
        SPLIT_BLEND * proportional + (1.0 - SPLIT_BLEND) * even
    })
}

/// Rows: two axes perpendicular to the direction, and the direction.
fn light_axes(direction: DVec3) -> DMat3 {
    let (right, up) = direction.any_orthonormal_pair();
    DMat3::from_cols(right, up, direction)
}

/// Matrices of the cascades, for the near distance (m) and the texels per side of a cascade.
/// `margin`: room around each, as a fraction of its radius, in which the view moves without a new
/// matrix; 0 follows the view by single texels.
pub(super) fn cascades(
    direction: DVec3,
    bounds: (DVec3, DVec3),
    view: &View,
    (near, size): (f64, f64),
    margin: f64,
) -> Vec<DMat4> {
    let direction = direction.normalize_or(DVec3::NEG_Y);
    let axes = light_axes(direction);
    let corners = corners(bounds);
    let depth = |p: DVec3| p.dot(direction);
    let first = corners.iter().map(|&p| depth(p)).fold(f64::INFINITY, f64::min);
    let last = corners.iter().map(|&p| depth(p)).fold(f64::NEG_INFINITY, f64::max);
    let pad = (last - first).max(1e-3) * 1e-3;
    let (first, last) = (first - pad, last + pad);
    let forward = view.forward.as_dvec3();
    let reach = corners.iter().map(|&p| (p - view.position).dot(forward)).fold(0.0, f64::max);
    // Quantized, so that the splits do not change with every camera step.
    let far = (2.0 * reach.max(near * 2.0).log2()).ceil().mul_add(0.5, 0.0).exp2();
    let near = near.max(far * 1e-3);
    let mut from = 0.0;
    split_distances(near, far)
        .into_iter()
        .map(|to| {
            let (middle, radius) = bounding_sphere(view, from, to);
            from = to;
            // Extended by the filter border, and quantized to keep the texel size while the splits
            // change.
            let radius = radius / (1.0 - 2.0 * BORDER / size);
            let radius = (radius.log2() * 16.0).ceil().mul_add(1.0 / 16.0, 0.0).exp2();
            let radius = radius * (1.0 + margin);
            let texel = 2.0 * radius / size;
            // Whole texels; the center is at most half a step from the view's.
            let step = texel * (margin / (1.0 + margin) * size).floor().max(1.0);
            let center = view.position + forward * middle;
            let snap = |axis: DVec3| (center.dot(axis) / step).round() * step;
            let (right, up) = (axes.x_axis, axes.y_axis);
            let (x, y) = (snap(right), snap(up));
            let span = last - first;
            DMat4::from_cols(
                (right / radius).extend(-x / radius),
                (up / radius).extend(-y / radius),
                (-direction / span).extend(last / span),
                DVec4::W,
            )
            .transpose()
        })
        .collect()
}

/// Bounding sphere of the view frustum between two distances: center distance along the view
/// direction, and radius.
fn bounding_sphere(view: &View, from: f64, to: f64) -> (f64, f64) {
    // Half the diagonal of the image at distances 1 and 0.
    let corner = |depth: f32| {
        let p = view.inverse * Vec4::new(1.0, 1.0, depth, 1.0);
        let p = (p.truncate() / p.w).as_dvec3();
        let along = p.dot(view.forward.as_dvec3());
        (along, (p.length_squared() - along * along).max(0.0).sqrt())
    };
    let (along, across) = corner(0.5);
    if view.parallel {
        let middle = (from + to) / 2.0;
        return (middle, across.hypot((to - from) / 2.0));
    }
    let slope = across / along.max(1e-9);
    // The sphere through the corners of both ends, or around the far end alone.
    let middle = (((from + to) / 2.0) * (1.0 + slope * slope)).min(to);
    (middle, (to - middle).hypot(to * slope))
}

fn corners((low, high): (DVec3, DVec3)) -> [DVec3; 8] {
    std::array::from_fn(|i| {
        DVec3::new(
            if i & 1 == 0 { low.x } else { high.x },
            if i & 2 == 0 { low.y } else { high.y },
            if i & 4 == 0 { low.z } else { high.z },
        )
    })
}

/// Cube face views as (view axis, up): +X -X +Y -Y +Z -Z.
const FACES: [(DVec3, DVec3); 6] = [
    (DVec3::X, DVec3::Y),
    (DVec3::NEG_X, DVec3::Y),
    (DVec3::Y, DVec3::Z),
    (DVec3::NEG_Y, DVec3::Z),
    (DVec3::Z, DVec3::Y),
    (DVec3::NEG_Z, DVec3::Y),
];

/// Minimum distance (m) of a shadow caster; anything nearer to the light's center is the light
/// itself.
const NEAREST_CASTER: f64 = 0.01;

pub(super) fn light_matrices(light: &WorldLight, bounds: (DVec3, DVec3), size: f64) -> Vec<DMat4> {
    let position = light.position;
    let look = |forward: DVec3, up: DVec3, half_angle: f64| {
        let right = forward.cross(up).normalize_or(forward.any_orthonormal_vector());
        let up = right.cross(forward);
        let scale = 1.0 / half_angle.tan();
        let row = |axis: DVec3| axis.extend(-position.dot(axis));
        let rows = [
            row(right) * scale,
            row(up) * scale,
            DVec4::new(0.0, 0.0, 0.0, NEAREST_CASTER),
            row(forward),
        ];
        let (low, high) = seen_part(rows, bounds);
        // Extended by the filter border.
        let scale = (high - low).recip() * (2.0 * (1.0 - 2.0 * BORDER / size));
        let middle = (low + high) / 2.0;
        let part = |axis: usize| (rows[axis] - rows[3] * middle[axis]) * scale[axis];
        DMat4::from_cols(part(0), part(1), rows[2], rows[3]).transpose()
    };
    if maps_of(light) == 1 {
        let forward = DVec3::from(light.direction);
        let angle = outer_half_angle(light).max(1e-3);
        return vec![look(forward, forward.any_orthonormal_vector(), angle)];
    }
    FACES.iter().map(|&(forward, up)| look(forward, up, std::f64::consts::FRAC_PI_4)).collect()
}

/// Quantization steps of a cropped light view, so that small scene motion keeps the texel grid.
const PARTS: f64 = 32.0;

/// Part of a light's view, from -1 to 1 across and down, that contains the scene; the whole view
/// for an empty scene. The rows give x, y and w of clip space. The extent is that of the box's
/// faces clipped to the view.
fn seen_part(rows: [DVec4; 4], bounds: (DVec3, DVec3)) -> (DVec2, DVec2) {
    // Slightly enlarged: surfaces lie on the bounds, and positions are rounded.
    let pad = DVec3::splat(1e-4 * (bounds.1 - bounds.0).max_element() + 1e-6);
    let corners = corners((bounds.0 - pad, bounds.1 + pad));
    let clip = corners.map(|corner| {
        let corner = corner.extend(1.0);
        DVec3::new(rows[0].dot(corner), rows[1].dot(corner), rows[3].dot(corner))
    });
    let sides = [
        DVec4::new(1.0, 0.0, 1.0, 0.0),
        DVec4::new(-1.0, 0.0, 1.0, 0.0),
        DVec4::new(0.0, 1.0, 1.0, 0.0),
        DVec4::new(0.0, -1.0, 1.0, 0.0),
        DVec4::new(0.0, 0.0, 1.0, -NEAREST_CASTER),
    ];
    let (mut low, mut high) = (DVec2::INFINITY, DVec2::NEG_INFINITY);
    for face in [[0, 1, 3, 2], [4, 5, 7, 6], [0, 1, 5, 4], [2, 3, 7, 6], [0, 2, 6, 4], [1, 3, 7, 5]]
    {
        let mut polygon: Vec<DVec3> = face.iter().map(|&corner| clip[corner]).collect();
        for side in sides {
            polygon = cut(&polygon, side);
        }
        for point in polygon {
            let place = point.truncate() / point.z;
            (low, high) = (low.min(place), high.max(place));
        }
    }
    let low = (low * (PARTS / 2.0)).floor() / (PARTS / 2.0);
    let high = (high * (PARTS / 2.0)).ceil() / (PARTS / 2.0);
    let (low, high) = (low.max(DVec2::NEG_ONE), high.min(DVec2::ONE));
    if (high - low).min_element() > 0.0 { (low, high) } else { (DVec2::NEG_ONE, DVec2::ONE) }
}

/// Clips a convex polygon to the inner side of a plane: Sutherland and Hodgman, "Reentrant Polygon
/// Clipping" (1974).
fn cut(polygon: &[DVec3], plane: DVec4) -> Vec<DVec3> {
    let inside = |p: DVec3| plane.dot(p.extend(1.0));
    let mut kept = Vec::with_capacity(polygon.len() + 1);
    for (index, &to) in polygon.iter().enumerate() {
        let from = polygon[(index + polygon.len() - 1) % polygon.len()];
        let (a, b) = (inside(from), inside(to));
        if (a < 0.0) != (b < 0.0) {
            kept.push(from + (to - from) * (a / (a - b)));
        }
        if b >= 0.0 {
            kept.push(to);
        }
    }
    kept
}
