//! Counters of limits that act in shaders: light beyond half floats, and maximum numbers of rays
//! (docs/ARCHITECTURE.md).

use crate::{
    gpu::shader_structs::limits::LimitCounters,
    graph::{BufferHandle, Graph},
};

/// Size of the counters in bytes.
pub const SIZE: u64 = size_of::<LimitCounters>() as u64;

/// Declares counters that start at 0 in each frame. Passes that may overlap have counters of their
/// own: a common buffer would order them.
pub fn declare(g: &mut Graph<'_>, name: &str) -> BufferHandle {
    let counters = g.storage(name, SIZE);
    g.clear_buffers(&format!("clear {name}"), [counters]);
    counters
}
