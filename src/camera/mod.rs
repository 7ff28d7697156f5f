//! The physical camera: body, lens, dials, exposure, metering, effects, tone mapping. No GPU and no
//! I/O.
mod assembled;
mod assembled_effects;
pub mod body;
pub mod dials;
pub mod display;
pub mod effect_models;
pub mod effect_settings;
pub mod effects;
pub mod error;
pub mod exposure;
pub mod exposure_mode;
pub mod lens;
pub mod metering;
pub mod rig;
pub mod scopes;
pub mod tonemap;

pub use crate::optics::{Iris, LensError, ThinLens};
pub use assembled::{Camera, CameraMotion};
pub use assembled_effects::MountedCamera;
pub use body::{Body, GateFit, SensorSize};
pub use dials::{Dials, ExposureControl, ImagePosition, Metering, MeteringMode, WhiteBalanceDials};
pub use display::{DisplayEncoding, DisplayRange};
pub use effect_settings::EffectSettings;
pub use effects::CameraEffects;
pub use error::CameraError;
pub use exposure::{Exposure, ExposureError};
pub use exposure_mode::{DialRanges, ExposureDials, ExposureMode, SolvedExposure};
pub use lens::CameraLens;
pub use metering::{AutoExposure, MeterMode};
pub use rig::CameraRig;
pub use tonemap::ToneMapper;
