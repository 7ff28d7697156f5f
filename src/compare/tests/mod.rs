//! Metrics against closed forms and independent programs; hostile files.
mod flip;
mod linear_image;
mod metrics;
mod report;
mod robust;
