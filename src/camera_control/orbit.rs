//! Orbit: rotation, panning, dolly, and framing of the selection.

use glam::{DVec2, DVec3};

use super::CameraPose;

/// Minimum distance to the orbit target (m).
pub(super) const NEAREST: f64 = 1e-3;

/// Rotates a pose about a point, which keeps its place in the picture.
pub(super) fn turned(pose: CameraPose, target: DVec3, by: DVec2) -> CameraPose {
    let offset = pose.rotation().inverse() * (target - pose.position);
    let turned = pose.turned(by);
    CameraPose { position: target - turned.rotation() * offset, ..turned }
}

/// Sideways displacement of the eye when a point at the target's depth is dragged by fractions of
/// the picture's height.
pub(super) fn pan(pose: CameraPose, target: DVec3, vertical_fov: f64, by: DVec2) -> DVec3 {
    let depth = (target - pose.position).dot(pose.forward()).abs().max(NEAREST);
    let height = 2.0 * (vertical_fov * 0.5).tan() * depth;
    -(pose.right() * by.x + pose.up() * by.y) * height
}

/// Moves towards a point by a tenth of the distance per notch.
pub(super) fn dollied(position: DVec3, target: DVec3, notches: f64) -> DVec3 {
    let away = position - target;
    let distance = away.length();
    let wanted = (distance * 0.9_f64.powf(notches)).clamp(NEAREST, 1e6);
    if distance > 0.0 && notches != 0.0 { target + away * (wanted / distance) } else { position }
}

/// A box's center, and the pose from which its bounding sphere just fits the picture; `None` for a
/// non-finite box.
pub(super) fn framed(
    pose: CameraPose,
    bounds: (DVec3, DVec3),
    vertical_fov: f64,
    aspect: f64,
) -> Option<(DVec3, CameraPose)> {
    let (low, high) = (bounds.0.min(bounds.1), bounds.0.max(bounds.1));
    let (middle, radius) = ((low + high) * 0.5, ((high - low).length() * 0.5).max(NEAREST));
    if !bounds.0.is_finite() || !bounds.1.is_finite() || !radius.is_finite() {
        return None;
    }
    let aspect = if aspect.is_finite() && aspect > 0.0 { aspect } else { 1.0 };
    // The narrower side limits; a sphere touches the view's border at radius / sin(half).
    let half = (vertical_fov * 0.5).min(((vertical_fov * 0.5).tan() * aspect).atan());
    let distance = radius / half.sin();
    Some((middle, CameraPose { position: middle - pose.forward() * distance, ..pose }))
}
