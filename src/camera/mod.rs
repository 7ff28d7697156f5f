//! The physical camera: body, lens, exposure, metering, focus, effects, tone mapping. Pure: no GPU, no I/O.
pub mod body;
pub mod chain;
pub mod display;
pub mod effects;
pub mod exposure;
pub mod focus;
pub mod lens;
pub mod metering;
pub mod scopes;
pub mod tonemap;

pub use body::{Body, GateFit, SensorSize};
pub use chain::Effects;
pub use display::{DisplayRange, Encoding};
pub use exposure::{Exposure, ExposureError};
pub use lens::{Iris, LensError, LensSpec, ThinLens};
pub use metering::{AutoExposure, DialRanges, Dials, ExposureMode, MeterMode};
pub use tonemap::ToneMapper;
