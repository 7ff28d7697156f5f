//! Execution of jobs beside the picture: meter readings, light separation, sequences.

use std::{sync::atomic::Ordering, time::Instant};

use glam::DVec3;

use super::{
    job::{Job, JobResult, LightContributions, Sequence},
    shared::{Shared, Task, lock},
    worker::Worker,
};
use crate::{
    camera::exposure::Receptor,
    output,
    photometry::Lux,
    scene::Scene,
    session::{self, OpenRequest, SequenceSettings, Session, SessionError, Size},
    viewer::{error::ViewError, wake::Wake},
};

/// Error of a job without a picture to work on.
fn nothing() -> ViewError {
    ViewError::Session(SessionError::InvalidRequest("wait for the first picture".into()))
}

impl Shared {
    /// Reports a job's progress; an error if it was canceled.
    fn progress(&self, wake: &Wake, [done, of]: [usize; 2]) -> Result<(), SessionError> {
        lock(&self.results).task = Some((Task::DrawBatch(done, of), Instant::now()));
        wake();
        self.check_canceled()
    }

    /// An error if the running job was canceled.
    fn check_canceled(&self) -> Result<(), SessionError> {
        let canceled =
            self.canceled.load(Ordering::Relaxed) >= self.running.load(Ordering::Relaxed);
        let unwanted = self.ends.load(Ordering::Relaxed) || canceled;
        if unwanted { Err(SessionError::Canceled) } else { Ok(()) }
    }
}

/// Turns non-fatal errors into text.
fn told<T>(done: Result<T, ViewError>) -> Result<Result<T, String>, ViewError> {
    match done {
        Err(error) if error.is_fatal() => Err(error),
        done => Ok(done.map_err(|error| error.to_string())),
    }
}

impl Worker {
    /// Runs a job.
    pub(super) fn run_job(&mut self, job: Job) -> Result<JobResult, ViewError> {
        Ok(match job {
            Job::MeasureIlluminance(point, normal) => {
                JobResult::Illuminance(point, told(self.read(point, normal))?)
            }
            Job::SeparateLights(lights) => JobResult::LightContributions(told(self.mix(&lights))?),
            Job::WriteSequence(sequence) => JobResult::Written(told(self.write(&sequence))?),
        })
    }

    /// Measures the illuminance on a surface.
    fn read(&mut self, point: DVec3, normal: DVec3) -> Result<Lux, ViewError> {
        self.task(Some(Task::Meter));
        let there = self.scene_state.as_mut().ok_or_else(nothing)?;
        Ok(there.session.illuminance(point, normal, Receptor::Flat)?)
    }

    /// Writes the pictures of an animation, equal to those of `render --frames`.
    fn write(&mut self, sequence: &Sequence) -> Result<u32, ViewError> {
        let there = self.scene_state.as_mut().ok_or_else(nothing)?;
        let (shared, wake) = (&self.shared, &self.wake);
        let told = |done: u32| shared.progress(wake, [done as usize, sequence.count as usize]);
        let session = &mut there.session;
        let own = session.opened.clone();
        session.reset_history();
        let written = frames(session, sequence, &told);
        // Return to the window's scene and time.
        session.opened = own;
        if session.opened.playback.is_some() {
            session.update_pose()?;
        }
        session.reset_history();
        written.map(|()| sequence.count)
    }

    /// Renders each light's contribution: the picture with that light alone, minus the one without
    /// lights.
    fn mix(&mut self, lights: &[String]) -> Result<LightContributions, ViewError> {
        let there = self.scene_state.as_mut().ok_or_else(nothing)?;
        let (exposed, white_balance) = (there.exposed.ok_or_else(nothing)?, there.white_balance);
        let seen = there.session.opened.clone();
        let request =
            OpenRequest { size: Some(seen.size), time: seen.time(), ..seen.request.clone() };
        let mut pictures = Vec::with_capacity(lights.len() + 1);
        for alone in std::iter::once(None).chain(lights.iter().map(Some)) {
            self.shared.progress(&self.wake, [pictures.len(), lights.len() + 1])?;
            let mut look = seen.look.clone();
            for name in lights.iter().filter(|name| Some(*name) != alone) {
                look.lights.entry(name.clone()).or_default().enabled = Some(false);
            }
            let mut opened =
                session::apply_look(&request, Scene::clone(&there.base), look, Vec::new())?;
            opened.camera.0 = seen.camera.0;
            let shared = &self.shared;
            let picture = there.session.with_scene(opened, |session| {
                let mut settings = session.picture_settings(&exposed, white_balance, Vec::new())?;
                // Grain differs from picture to picture, so contributions would not add up.
                settings.effects.grain = None;
                session.reset_history();
                let samples = session.opened.still_samples().max(1);
                session.still(&settings, samples, &mut |_| shared.check_canceled())
            })?;
            pictures.push(picture.nits);
        }
        let mut pictures = pictures.into_iter();
        let beyond = pictures.next().unwrap_or_default();
        let less = |picture: Vec<[f32; 3]>| {
            let pairs = picture.iter().zip(&beyond);
            pairs.map(|(all, rest)| std::array::from_fn(|i| all[i] - rest[i])).collect()
        };
        let lights = lights.iter().cloned().zip(pictures.map(less)).collect();
        Ok(LightContributions {
            size: [seen.size.width as usize, seen.size.height as usize],
            without_lights: beyond,
            lights,
            exposed,
            white_balance,
            request_id: there.request_id,
        })
    }
}

/// Renders and writes each picture of a sequence; `told` reports the number done and may cancel.
fn frames(
    session: &mut Session,
    sequence: &Sequence,
    told: &dyn Fn(u32) -> Result<(), SessionError>,
) -> Result<(), ViewError> {
    let [width, height] = sequence.size;
    let opened = &mut session.opened;
    if (opened.size.width, opened.size.height) != (width, height) {
        let camera = opened.camera.0;
        opened.set_look(opened.look.clone(), Size { width, height })?;
        opened.camera.0 = camera;
    }
    told(0)?;
    session.seek(sequence.first)?;
    // The meter is read for the first picture; later ones adapt.
    let exposed = session.determine_exposure(true)?;
    let white_balance = session.white_balance(exposed.exposure)?;
    session.reset_history();
    let settings = SequenceSettings {
        first: sequence.first,
        fps: sequence.fps,
        count: sequence.count,
        samples: session.opened.look.passes.aa_samples,
        aovs: Vec::new(),
    };
    session.sequence(&settings, (exposed, white_balance), |_, shot| {
        let ending = sequence
            .file
            .extension()
            .map_or_else(|| "png".into(), |e| e.to_string_lossy().into_owned());
        let file =
            output::replace_extension(&sequence.file, &format!("{:04}.{ending}", shot.number));
        let image = &shot.image;
        output::write_png(&file, image.width, image.height, &image.display)
            .map_err(|error| SessionError::InvalidRequest(error.to_string()))?;
        let done = shot.number + 1;
        if done < sequence.count { told(done) } else { Ok(()) }
    })?;
    Ok(())
}
