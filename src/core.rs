//! The layers of sunny16 that need no Vulkan device (`docs/ARCHITECTURE.md`): a crate of their own,
//! so that a change of a pass, a command or the window does not compile them again.
//!
//! `crate::` paths are the same in both crates: `lib.rs` re-exports these modules.
pub mod bvh;
pub mod camera;
pub mod camera_control;
pub mod compare;
pub mod easing;
pub mod gi;
pub mod image_io;
pub mod message;
pub mod optics;
pub mod output;
pub mod photometry;
pub mod reference;
pub mod scene;
pub mod settings;
pub mod sobol;

#[cfg(test)]
mod testing;
