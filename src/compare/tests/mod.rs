//! Metrics against closed forms and against other people's programs; hostile files.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod flip;
mod linear_image;
mod metrics;
mod report;
