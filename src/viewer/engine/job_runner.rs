//! Execution of jobs beside the picture: meter readings, light separation, sequences.

use std::time::Instant;

use glam::DVec3;

use super::{
    drawing::RenderThread,
    job::{Job, JobResult, LightContributions, Sequence},
    shared::{EngineLink, Task},
};
use crate::{
    camera::exposure::Receptor,
    output,
    photometry::Lux,
    scene::Scene,
    session::{self, OpenRequest, SequenceSettings, Session, SessionError, Size},
    viewer::error::ViewError,
};

/// Error of a job without a picture to work on.
fn nothing() -> ViewError {
    ViewError::Session(SessionError::InvalidRequest("wait for the first picture".into()))
}

/// Reports a job's progress; an error if it was canceled.
fn progress(link: &EngineLink, job: u64, [done, of]: [usize; 2]) -> Result<(), SessionError> {
    link.publish(|results| results.task = Some((Task::DrawBatch(done, of), Instant::now())));
    check_canceled(link, job)
}

/// An error if a job was canceled.
fn check_canceled(link: &EngineLink, job: u64) -> Result<(), SessionError> {
    if link.is_canceled(job) { Err(SessionError::Canceled) } else { Ok(()) }
}

/// Turns non-fatal errors into text.
fn told<T>(done: Result<T, ViewError>) -> Result<Result<T, String>, ViewError> {
    match done {
        Err(error) if error.is_fatal() => Err(error),
        done => Ok(done.map_err(|error| error.to_string())),
    }
}

impl RenderThread<'_> {
    /// Runs a job, with the number by which it is canceled.
    pub(super) fn run_job(&mut self, number: u64, job: Job) -> Result<JobResult, ViewError> {
        Ok(match job {
            Job::MeasureIlluminance(point, normal) => {
                JobResult::Illuminance(point, told(self.read(point, normal))?)
            }
            Job::SeparateLights(lights) => {
                JobResult::LightContributions(told(self.mix(number, &lights))?)
            }
            Job::WriteSequence(sequence) => {
                JobResult::Written(told(self.write(number, &sequence))?)
            }
        })
    }

    /// Measures the illuminance on a surface.
    fn read(&mut self, point: DVec3, normal: DVec3) -> Result<Lux, ViewError> {
        self.task(Some(Task::Meter));
        let there = self.scene_state.as_mut().ok_or_else(nothing)?;
        Ok(there.session.illuminance(point, normal, Receptor::Flat)?)
    }

    /// Writes the pictures of an animation, equal to those of `render --frames`.
    fn write(&mut self, job: u64, sequence: &Sequence) -> Result<u32, ViewError> {
        let there = self.scene_state.as_mut().ok_or_else(nothing)?;
        let link = self.link;
        let told = |done: u32| progress(link, job, [done as usize, sequence.count as usize]);
        let session = &mut there.session;
        let own = session.opened.clone();
        session.reset_history();
        let written = frames(session, sequence, &told);
        // Return to the window's scene and time.
        session.apply(own, &there.base)?;
        session.reset_history();
        written.map(|()| sequence.count)
    }

    /// Renders each light's contribution: the picture with that light alone, minus the one without
    /// lights.
    fn mix(&mut self, job: u64, lights: &[String]) -> Result<LightContributions, ViewError> {
        let link = self.link;
        let there = self.scene_state.as_mut().ok_or_else(nothing)?;
        let (exposed, white_balance) = (there.exposed.ok_or_else(nothing)?, there.white_balance);
        let seen = there.session.opened.clone();
        let request =
            OpenRequest { size: Some(seen.size), time: seen.time(), ..seen.request.clone() };
        let mut pictures = Vec::with_capacity(lights.len() + 1);
        for alone in std::iter::once(None).chain(lights.iter().map(Some)) {
            progress(link, job, [pictures.len(), lights.len() + 1])?;
            let mut look = seen.look.clone();
            for name in lights.iter().filter(|name| Some(*name) != alone) {
                look.lights.entry(name.clone()).or_default().enabled = Some(false);
            }
            let mut opened =
                session::apply_look(&request, Scene::clone(&there.base), look, Vec::new())?;
            opened.camera.0 = seen.camera.0;
            let picture = there.session.with_scene(opened, |session| {
                let mut settings = session.picture_settings(&exposed, white_balance, Vec::new())?;
                // Grain differs from picture to picture, so contributions would not add up.
                settings.effects.grain = None;
                session.reset_history();
                let samples = session.opened.still_samples().max(1);
                session.still(&settings, samples, &mut |_| check_canceled(link, job))
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
    if let Some(timed) = &mut opened.timeline {
        timed.set_rate(sequence.fps);
        timed.full_size = None;
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
        numbers: (0..sequence.count).collect(),
        warm_up: 0,
        samples: session.opened.sequence_samples(),
        aovs: Vec::new(),
        turntable: None,
    };
    let ignore_progress = &mut |_| Ok(());
    session.sequence(&settings, (exposed, white_balance), ignore_progress, |_, shot| {
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
