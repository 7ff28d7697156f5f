//! Planes whose illuminance tests compare.

use glam::DVec3;

/// Eight planes: six along the axes, and two askew.
pub fn planes() -> [DVec3; 8] {
    [
        DVec3::X,
        DVec3::NEG_X,
        DVec3::Y,
        DVec3::NEG_Y,
        DVec3::Z,
        DVec3::NEG_Z,
        DVec3::new(0.6, 0.5, -0.4).normalize(),
        DVec3::new(-0.3, 0.8, 0.7).normalize(),
    ]
}
