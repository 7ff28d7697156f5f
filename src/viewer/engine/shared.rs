//! State shared between the window's thread and the render thread: requests, jobs and results.

use std::{collections::VecDeque, sync::Arc, time::Instant};

use glam::{DMat4, Mat3};

use super::job::{Job, JobResult};
use crate::{
    frame::{Aov, RenderedImage},
    gpu::shader::Replacement,
    scene::{Projection, Scene},
    session::{OpenScene, expose::ExposureState},
    viewer::{error::ViewError, governor::Level, worker::Link},
};

/// A request of the window for pictures.
pub(crate) struct RenderRequest {
    /// Unique and increasing.
    pub id: u64,
    /// The scene before any look; another pointer means another scene.
    pub base: Arc<Scene>,
    /// The scene with its look, camera and picture size.
    pub session: OpenScene,
    /// Animation time (s), if the scene is animated.
    pub time: Option<f64>,
    /// The user's camera pose, which overrides the animated one.
    pub pose: Option<DMat4>,
    /// Time at which the view counts as still; until then each frame stands alone.
    pub still_at: Instant,
    /// Quality of a moving view. Below full quality, the view counts as moving.
    pub level: Level,
    /// True if frames take long: a newer request interrupts those of a view at rest.
    pub interruptible: bool,
    /// Further outputs.
    pub aovs: Vec<Aov>,
}

/// A finished picture with the data for meters and scopes.
pub struct RenderedFrame {
    /// The picture in nits, with its exposure.
    pub image: RenderedImage,
    /// Origin of the exposure.
    pub exposed: ExposureState,
    /// White-balance matrix.
    pub white_balance: Mat3,
    /// Accumulated frames, and their target number.
    pub samples: [u32; 2],
    /// The request it answers.
    pub request_id: u64,
    /// True if the view was still.
    pub still: bool,
    /// Warnings of limits that took effect in a still view.
    pub limits: Vec<String>,
    /// The scene at the picture's time, for a still view.
    pub scene: Option<Arc<Scene>>,
    /// Camera pose and projection.
    pub camera: (DMat4, Projection),
    /// Frame time, from the first command to the last byte read back (ms).
    pub frame_ms: f64,
    /// Time from the request to the picture (ms), with updates of the scene and the meter; of
    /// further frames of a request, the frame time.
    pub request_ms: f64,
    /// Quality of the picture; a still picture has full quality.
    pub level: Level,
    /// True if pipelines were compiled for the picture.
    pub compiled: bool,
    /// Unique number of the picture.
    pub number: u64,
    /// Work of the engine up to this picture.
    pub counts: EngineCounts,
}

/// Work of the engine for its pictures since it started, without that of jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EngineCounts {
    /// Uploads of a scene.
    pub uploads: u64,
    /// Updates of an uploaded scene: its lights, pose or VPLs.
    pub updates: u64,
    /// Readings of the light meter or of a gray card that rendered the scene, up to eight times
    /// each.
    pub meter_readings: u64,
    /// Steps of exposure adaptation in motion; they render the scene where the picture's histogram
    /// gives no reading.
    pub adaptations: u64,
    /// Frames of a moving view.
    pub moving_frames: u64,
    /// Frames of a still view.
    pub still_frames: u64,
    /// Frames of a view at rest that a newer request interrupted.
    pub interrupted_frames: u64,
}

/// The engine's current task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Uploads the scene or its lights.
    Upload,
    /// Takes a meter reading.
    Meter,
    /// Draws.
    Draw,
    /// Draws several pictures: number done and total.
    DrawBatch(usize, usize),
}

/// Work of the render thread.
#[derive(Default)]
pub(super) struct Inbox {
    pub request: Option<RenderRequest>,
    /// Shader modules that replace the built ones from the next frame on.
    pub shaders: Option<Vec<Replacement>>,
    /// Each with the first request of its scene.
    pub jobs: VecDeque<(u64, Job)>,
}

/// The engine's output.
#[derive(Default)]
pub(super) struct Results {
    pub finished: Option<Arc<RenderedFrame>>,
    /// Each with the first request of its scene.
    pub outcomes: Vec<(u64, JobResult)>,
    pub error: Option<ViewError>,
    /// The request that failed, or the last that ended without an error.
    pub answered: u64,
    pub task: Option<(Task, Instant)>,
    /// Number of the running job.
    pub running: u64,
}

/// The link of the render thread with the window.
pub(super) type EngineLink = Link<Inbox, Results>;
