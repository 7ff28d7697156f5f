//! Cache of the visibility of local lights, suns and environment, by cells of space.
//!
//! The size of a cell grows with the distance from the eye. The values depend on the cell alone, so
//! that pictures do not depend on the order of paths.

use std::{
    collections::HashMap,
    sync::{PoisonError, RwLock},
};

use glam::{DVec3, IVec3};

use super::lights::KINDS;

/// Distance from the eye over the size of a cell, at least.
const RELATIVE_DISTANCE: f64 = 6.0;
/// Minimum distance (m) in that ratio.
const MIN_DISTANCE: f64 = 0.2;
/// Number of locks, to avoid contention.
const SHARDS: usize = 64;

/// A cube of space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Cell {
    /// Binary logarithm of the size (m).
    level: i32,
    /// Position of the lower corner in units of the size.
    place: IVec3,
}

impl Cell {
    /// The cell of a position relative to the eye (m).
    fn of(position: DVec3) -> Self {
        let distance = position.length().clamp(MIN_DISTANCE, 1e9);
        let level = (distance / RELATIVE_DISTANCE).log2().floor() as i32;
        Self { level, place: (position / f64::from(level).exp2()).floor().as_ivec3() }
    }

    /// A position inside, given by three numbers in [0, 1).
    pub(super) fn position(&self, inside: DVec3) -> DVec3 {
        (self.place.as_dvec3() + inside) * f64::from(self.level).exp2()
    }

    /// Hash of the cell.
    pub(super) fn hash(&self) -> u64 {
        // Steele, Lea and Flood 2014, figure 13: the finalizer, over the words.
        [self.level, self.place.x, self.place.y, self.place.z].into_iter().fold(
            0x9e37_79b9_7f4a_7c15,
            |sum, word| {
                let mut z =
                    (sum ^ u64::from(word.cast_unsigned())).wrapping_mul(0xd134_2543_de82_ef95);
                z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                z ^ (z >> 31)
            },
        )
    }
}

type Shard = RwLock<HashMap<Cell, [f64; KINDS]>>;

/// The cells that paths needed.
pub(super) struct KindVisibility(Vec<Shard>);

impl Default for KindVisibility {
    fn default() -> Self {
        Self((0..SHARDS).map(|_| Shard::default()).collect())
    }
}

impl KindVisibility {
    /// Visible fractions at a position relative to the eye (m); `compute` returns those of a new
    /// cell.
    pub(super) fn at(
        &self,
        position: DVec3,
        compute: impl FnOnce(&Cell) -> [f64; KINDS],
    ) -> [f64; KINDS] {
        let cell = Cell::of(position);
        let Some(shard) = self.0.get(cell.hash() as usize % SHARDS) else { return [1.0; KINDS] };
        let known = shard.read().unwrap_or_else(PoisonError::into_inner).get(&cell).copied();
        known.unwrap_or_else(|| {
            // Outside of the lock: another thread may compute the same values.
            let visible = compute(&cell);
            shard.write().unwrap_or_else(PoisonError::into_inner).insert(cell, visible);
            visible
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_contains_its_positions() {
        for i in 0..1000 {
            let t = f64::from(i);
            let position = DVec3::new(t.sin(), (t * 1.7).cos(), (t * 0.3).sin()) * (t * 0.01).exp();
            let cell = Cell::of(position);
            let (low, high) = (cell.position(DVec3::ZERO), cell.position(DVec3::ONE));
            assert!(low.cmple(position).all() && position.cmplt(high).all(), "{position}");
            let size = (high - low).x;
            let distance = position.length().max(MIN_DISTANCE);
            assert!(size * 5.999 <= distance && distance <= size * 12.001, "{size} {distance}");
        }
    }
}
