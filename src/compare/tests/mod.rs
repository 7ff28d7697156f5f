//! Metrics against closed forms and independent programs; hostile files.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod flip;
mod linear_image;
mod metrics;
mod report;
