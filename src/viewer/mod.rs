//! The look-development window: a scene with its look, in real units, compared with the path tracer
//! by one key.
//!
//! `state.rs` is the window's state. `panels` shows it and returns actions (`action.rs`), as do
//! shortcuts, menus and the palette; `app` carries them out. `ui_frame.rs` runs one frame,
//! independent of the window system; tests drive it by input events. `window.rs` is the window
//! itself. Pictures are rendered by `engine.rs` on its own thread and device. Software drivers
//! execute a queue in order, so a shared device would make the window wait for each picture.

pub mod action;
pub mod app;
pub mod background;
mod clipboard;
pub mod document;
pub mod engine;
mod error;
pub mod flow;
pub mod frame_pacing;
pub mod gallery;
pub mod governor;
pub mod guides;
pub mod handles;
mod keys;
pub mod light_placement;
mod light_strength;
mod load;
pub mod mixer;
mod new_light;
mod number_text;
pub mod painter;
pub mod palette;
pub mod panels;
pub mod pixel_reading;
pub mod pointer;
pub mod preview;
pub mod recent;
pub mod reference_view;
pub mod rig;
mod scene_items;
pub mod scopes;
pub mod selection;
pub mod settings;
pub mod shader_reload;
pub mod state;
pub mod sun;
pub mod tool;
mod tour;
pub mod tracer;
mod ui_frame;
pub mod viewport;
pub mod wake;
mod window;
pub mod worker;
pub mod workspace;

pub use app::{App, Options, ShutdownHandle};
pub use error::ViewError;
pub use panels::layout::MIN_WINDOW_SIZE;
pub use window::run;
