//! Dimensions of the atrium.

use glam::Vec2;

/// Column spacing (m), center to center.
pub(super) const PITCH: f32 = 3.2;
/// Number of arches along X and along Z.
pub(super) const BAYS: [usize; 2] = [6, 3];
/// Distance (m) from the columns' axes to the wall behind them.
pub(super) const GALLERY: f32 = 3.4;
/// Thickness of the outer walls (m).
pub(super) const WALL: f32 = 0.6;
/// Thickness of the walls on arches (m).
pub(super) const ARCADE: f32 = 0.5;
/// Radius of the arches (m).
pub(super) const RADIUS: f32 = 1.26;

/// A story; heights in m above its floor unless stated.
pub(super) struct Storey {
    /// Height of its floor (m).
    pub(super) floor: f32,
    /// Springing line of its arches, above its floor.
    pub(super) spring: f32,
    /// Bottom of the structure that it carries, above its floor.
    pub(super) top: f32,
    /// Radius of a column's shaft at its foot (m).
    pub(super) shaft: f32,
}

/// The ground floor.
pub(super) const GROUND: Storey = Storey { floor: 0.0, spring: 3.3, top: 5.0, shaft: 0.30 };
/// The upper floor.
pub(super) const UPPER: Storey = Storey { floor: 5.4, spring: 2.7, top: 4.3, shaft: 0.24 };

/// Half of the court between the columns' axes (m), along X and Z.
pub(super) const HALF: Vec2 = Vec2::new(BAYS[0] as f32 * PITCH * 0.5, BAYS[1] as f32 * PITCH * 0.5);
