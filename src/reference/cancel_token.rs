//! Cancellation of sampling.

use std::sync::atomic::{AtomicBool, Ordering};

/// Stops sampling, or pauses it between batches.
pub trait CancelToken: Sync {
    /// Stops at once and drops unfinished batches. Checked before each path.
    fn should_stop(&self) -> bool;

    /// Stops soon, after the current batches. Checked between the batches of a tile.
    fn pause(&self) -> bool {
        self.should_stop()
    }
}

impl CancelToken for AtomicBool {
    fn should_stop(&self) -> bool {
        self.load(Ordering::Relaxed)
    }
}
