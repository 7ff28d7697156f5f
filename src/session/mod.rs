//! A session: a scene with its look applied, its camera and its exposure. All commands and the
//! look-dev window open scenes here, so that they show the same picture and the same readings.

mod apply_look;
mod camera;
mod error;
pub mod expose;
mod exposure_state;
mod motion;
mod open_scene;
mod playback;
pub mod preview;
mod raster_limits;
mod render_settings;
mod request;
mod size;
mod source;
mod upload;

pub use self::{
    apply_look::{apply_look, open},
    error::SessionError,
    open_scene::OpenScene,
    playback::Playback,
    request::OpenRequest,
    size::Size,
    source::{SceneSource, default_look_path, import, read},
};
