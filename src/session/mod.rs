//! Sessions: a scene with its look applied, its camera and its exposure, on a device. All commands
//! and the look-dev window open, meter and render scenes here, so that they show the same picture
//! and the same readings.
//!
//! [`OpenScene`] is the scene on the host; [`Session`] has it on a device, with the renderer.

mod apply;
mod apply_look;
mod camera;
mod camera_path;
mod close;
mod collect;
mod error;
pub mod expose;
mod exposure_state;
pub mod look_change;
pub mod metadata;
mod meter;
mod meter_reading;
mod motion;
mod open;
mod open_scene;
pub mod pace;
pub mod part;
mod path_layers;
mod path_scene;
mod picture_layers;
pub mod plausibility;
mod playback;
pub mod preview;
mod raster_limits;
pub mod reference;
mod render_settings;
mod request;
mod sequence;
mod size;
mod source;
mod still;
mod timeline;

pub use self::{
    apply::{Applied, DeviceWork},
    apply_look::{apply_look, open, open_read},
    camera_path::CameraPath,
    close::{check_validation, close},
    collect::{CollectError, Collected, collect},
    error::SessionError,
    meter::illuminance,
    meter_reading::MeterReading,
    open::{Session, open_device},
    open_scene::OpenScene,
    path_layers::{PathAov, PathPicture, path_aovs},
    path_scene::PathScene,
    picture_layers::{PictureLayer, raster_aovs, raster_layers},
    playback::Playback,
    request::OpenRequest,
    sequence::{SequencePicture, SequenceSettings, Turntable},
    size::Size,
    source::{SceneSource, default_look_path, import, read},
    timeline::{DEFAULT_RATE, TimedLook, TimelineReach},
};
