//! The frame graph. Passes declare what they read and write. Planning (`plan.rs`, pure functions)
//! derives order, barriers, lifetimes and memory aliasing; `execute` records the passes. Pass
//! bodies contain no barriers.

pub mod access;
pub mod bound;
mod cache;
mod declaration;
mod declared_bytes;
mod execution;
pub mod export;
pub mod plan;
mod resource;

pub use access::{Access, State};
pub use bound::{Bindings, BoundPass, BufferSource, ImageSource};
pub use cache::{GraphCache, MemoryUse};
pub use declaration::{Graph, PassBuilder, PassContext};
pub use declared_bytes::DeclaredBytes;
pub use execution::{Executed, Prepared};
pub use plan::{MemoryNeed, PassInfo, Plan, PlanError, ResourceInfo};
pub use resource::{BufferHandle, Handle, ImageHandle, ResourceSize, SharedImage};
