//! Pictures beside pictures, and what must hold of them.

pub mod case;
pub mod expression;
pub mod false_color;
pub mod flip;
pub mod metrics;
pub mod picture;
pub mod report;
pub mod summary;
pub mod validation;
pub mod validation_report;

pub use picture::{Encoding, Picture, PictureError};

#[cfg(test)]
mod tests;
