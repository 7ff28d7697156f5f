//! Progressive path tracing: passes over a film until it has its samples or its target error, and
//! the unfinished film on disk.

use std::{
    fs, io,
    path::PathBuf,
    time::{Duration, Instant},
};

use super::open_scene::OpenScene;
use crate::{
    camera::effects::MotionBlur,
    output::{self, OutputError},
    reference::{
        CameraModel, CancelToken, Film, FilmSettings, Fingerprint, LensCamera, ResumeError,
        ShutterInterval, World, shutter::samples_after,
    },
};

/// Maximum duration of a pass.
const PASS: Duration = Duration::from_millis(250);

/// Maximum number of shutter moments: each builds its own BVH.
pub const MAX_SHUTTER_MOMENTS: u32 = 32;

/// Cancel token with a deadline, at which the film pauses.
struct TimeSlice<'a, S> {
    cancel: &'a S,
    deadline: Instant,
}

impl<S: CancelToken> CancelToken for TimeSlice<'_, S> {
    fn should_stop(&self) -> bool {
        self.cancel.should_stop()
    }

    fn pause(&self) -> bool {
        self.cancel.pause() || Instant::now() >= self.deadline
    }
}

/// True if each pixel has `samples` samples or has reached the target error.
#[must_use]
pub fn is_finished(film: &Film, samples: u32) -> bool {
    film.samples() >= samples || film.converged() >= 1.0
}

/// Traces passes of at most 250 ms until the film is finished ([`is_finished`]) or canceled.
/// `after_pass` is called after each pass, also after one that was canceled. The film depends only
/// on the number of its samples, not on the passes.
pub fn trace(
    film: &mut Film,
    (world, camera): (&World<'_>, &impl CameraModel),
    samples: u32,
    cancel: &impl CancelToken,
    mut after_pass: impl FnMut(&Film),
) {
    let mut step = 1;
    while !is_finished(film, samples) && !cancel.should_stop() {
        let begun = Instant::now();
        // Several samples a pixel per call are faster; at a pause, sample counts of tiles differ by
        // at most a quarter.
        let goal = film.samples().saturating_add(step.max(film.samples() / 4));
        let goal = samples.min(Film::few_blocks(goal));
        film.advance(world, camera, goal, &TimeSlice { cancel, deadline: begun + PASS });
        // Small pictures take more samples per call.
        if begun.elapsed() < PASS / 4 {
            step = (step * 2).min(64);
        }
        after_pass(film);
    }
}

/// As [`trace`], with the scene's animated motion during the exposure: the mean over moments of the
/// exposure, at most [`MAX_SHUTTER_MOMENTS`].
pub fn trace_motion_blur(
    film: &mut Film,
    (opened, camera): (&OpenScene, &LensCamera),
    blur: &MotionBlur,
    samples: u32,
    cancel: &impl CancelToken,
) {
    let moments = samples.min(MAX_SHUTTER_MOMENTS);
    for moment in 0..moments {
        if cancel.should_stop() {
            break;
        }
        let part = ShutterInterval::new(camera, moment, moments);
        let Some(scene) = opened.scene_at_offset(part.middle() * blur.exposure) else { break };
        let world = World::new(&scene, opened.camera.0.w_axis.truncate());
        let goal = samples_after(moment, moments, samples);
        trace(film, (&world, &part), goal, cancel, |_| {});
    }
}

impl OpenScene {
    /// The scene for the path tracer, relative to the camera.
    #[must_use]
    pub fn world(&self) -> World<'_> {
        World::new(&self.scene, self.camera.0.w_axis.truncate())
    }
}

/// Writer that fails after a cancellation.
struct CancelableWriter<'a, S>(&'a mut dyn io::Write, &'a S);

impl<S: CancelToken> io::Write for CancelableWriter<'_, S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.1.should_stop() {
            return Err(io::Error::other("interrupted"));
        }
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The unfinished film on disk, from which another run resumes.
pub struct Checkpoint {
    /// Path of the file.
    pub file: PathBuf,
    print: Fingerprint,
    interval: Duration,
    saved: Instant,
}

impl Checkpoint {
    /// A checkpoint for the inputs with a fingerprint; the first interval starts with this call.
    #[must_use]
    pub fn new(file: PathBuf, print: Fingerprint, interval: Duration) -> Self {
        Self { file, print, interval, saved: Instant::now() }
    }

    /// Reads the film.
    ///
    /// # Errors
    /// [`ResumeError`] if the file cannot be used, or belongs to another picture.
    pub fn read(&self, size: (usize, usize), settings: FilmSettings) -> Result<Film, ResumeError> {
        Film::read(&self.file, size, settings, &self.print)
    }

    /// Writes the film.
    ///
    /// # Errors
    /// [`OutputError`] if the file cannot be written.
    pub fn write(&self, film: &Film) -> Result<(), OutputError> {
        output::write_with(&self.file, |out| film.write(&self.print, out))
    }

    /// Writes the film if the interval has passed. A cancellation stops the write.
    ///
    /// # Errors
    /// [`OutputError`] if the file cannot be written; tracing can continue.
    pub fn write_if_due(
        &mut self,
        film: &Film,
        cancel: &impl CancelToken,
    ) -> Result<(), OutputError> {
        if self.saved.elapsed() < self.interval {
            return Ok(());
        }
        let begun = Instant::now();
        let written = output::write_with(&self.file, |out| {
            film.write(&self.print, &mut CancelableWriter(out, cancel))
        });
        // Large pictures take long to write: saving takes at most a twentieth of the time.
        self.interval = self.interval.max(begun.elapsed() * 20);
        self.saved = Instant::now();
        written
    }

    /// Removes the file, which may not exist.
    pub fn remove(&self) {
        let _ = fs::remove_file(&self.file);
    }
}
