//! sunny16: a deferred renderer whose lights are in lumens, candela, lux and nits and whose camera
//! is f-stop, shutter and ISO.
//!
//! The floors of the house, ground first (`docs/ARCHITECTURE.md`): a module imports only from those
//! above it in this list; `tests/cpu/architecture.rs` keeps it so.
pub mod bvh;
pub mod camera;
pub mod camera_control;
pub mod cli;
pub mod compare;
pub mod frame;
pub mod gi;
pub mod gpu;
pub mod graph;
pub mod image_io;
pub mod optics;
pub mod output;
pub mod passes;
pub mod photometry;
pub mod reference;
pub mod scene;
pub mod session;
pub mod viewer;
