//! sunny16: a deferred renderer with photometric lights (lumens, candela, lux, nits) and a camera
//! with f-stop, shutter and ISO.
//!
//! The modules form layers (`docs/ARCHITECTURE.md`): a module imports only from its own layer and
//! lower ones. `tests/cpu/architecture.rs` enforces it.
pub mod bvh;
pub mod camera;
pub mod camera_control;
pub mod cli;
pub mod compare;
pub mod frame;
pub mod gi;
pub mod gpu;
pub mod gpu_scene;
pub mod graph;
pub mod image_io;
pub mod message;
pub mod optics;
pub mod output;
pub mod passes;
pub mod photometry;
pub mod reference;
pub mod scene;
pub mod session;
pub mod settings;
pub mod sobol;
pub mod viewer;
