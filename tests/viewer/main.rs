//! The viewer window: driven by events without a display, and under X11.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

#[path = "../common/mod.rs"]
mod common;

mod creation;
mod governor;
mod interaction;
mod look_changes;
mod own_asset;
mod pace;
mod panels;
mod start;
mod window;
mod x11;
