//! sunny16: a deferred renderer with photometric lights (lumens, candela, lux, nits) and a camera
//! with f-stop, shutter and ISO.
//!
//! The modules form layers (`docs/ARCHITECTURE.md`): a module imports only from its own layer and
//! lower ones. `tests/cpu/architecture.rs` enforces it.
#[doc(inline)]
pub use sunny16_core::{
    bvh, camera, camera_control, compare, easing, gi, image_io, message, optics, output,
    photometry, reference, scene, settings, sobol,
};

pub mod cli;
pub mod frame;
pub mod gpu;
pub mod gpu_scene;
pub mod graph;
pub mod passes;
pub mod session;
pub mod viewer;
