//! The physical camera: body, exposure, field of view. Pure: no GPU, no I/O.
pub mod exposure;
pub mod tonemap;

pub use exposure::{Exposure, ExposureError};
pub use tonemap::ToneMapper;
