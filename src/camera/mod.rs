//! The physical camera: body, lens, exposure, metering, focus, effects, tone mapping. No GPU and no
//! I/O.
pub mod body;
pub mod display;
pub mod effects;
pub mod exposure;
pub mod focus;
pub mod lens;
pub mod metering;
pub mod post_effects;
pub mod scopes;
pub mod tonemap;

pub use body::{Body, GateFit, SensorSize};
pub use display::{DisplayEncoding, DisplayRange};
pub use exposure::{Exposure, ExposureError};
pub use lens::{Iris, LensError, LensSpec, ThinLens};
pub use metering::{AutoExposure, DialRanges, ExposureDials, ExposureMode, MeterMode};
pub use post_effects::CameraEffects;
pub use tonemap::ToneMapper;
