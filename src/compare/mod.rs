//! Image comparison, and the checks of validation cases.

pub mod case;
pub mod error_colormap;
pub mod expression;
pub mod flip;
pub mod linear_image;
pub mod metrics;
pub mod missing_light;
pub mod rating;
pub mod reference_noise;
pub mod report;
pub mod robust;
pub mod summary;
pub mod validation;
pub mod validation_report;

pub use linear_image::{Encoding, LinearImage, LinearImageError};

#[cfg(test)]
mod tests;
