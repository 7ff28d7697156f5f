//! Execution of jobs beside the picture: meter readings, light separation, sequences.

use std::{sync::atomic::Ordering, time::Instant};

use glam::{DVec3, Mat3};

use super::{
    job::{Job, JobResult, LightContributions, Sequence},
    shared::{Shared, Task, lock},
    worker::Worker,
};
use crate::{
    camera::exposure::Receptor,
    frame::{
        RenderSettings, Renderer,
        incident::{self, IncidentError},
    },
    gpu::Gpu,
    gpu_scene::GpuScene,
    output,
    photometry::Lux,
    scene::Scene,
    session::{
        self, OpenRequest, Session, SessionError, Size,
        expose::{self, ExposureState},
    },
    viewer::{error::ViewError, wake::Wake},
};

/// Error of a job that the user canceled.
fn given_up() -> ViewError {
    ViewError::Session(SessionError::InvalidRequest("stopped".into()))
}

/// Error of a job without a picture to work on.
fn nothing() -> ViewError {
    ViewError::Session(SessionError::InvalidRequest("wait for the first picture".into()))
}

impl Shared {
    /// Reports a job's progress; an error if it was canceled.
    fn progress(&self, wake: &Wake, [done, of]: [usize; 2]) -> Result<(), ViewError> {
        lock(&self.results).task = Some((Task::DrawBatch(done, of), Instant::now()));
        wake();
        let canceled =
            self.canceled.load(Ordering::Relaxed) >= self.running.load(Ordering::Relaxed);
        let unwanted = self.ends.load(Ordering::Relaxed) || canceled;
        if unwanted { Err(given_up()) } else { Ok(()) }
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
        let (Some(renderer), Some(there)) = (&mut self.renderer, &self.scene_state) else {
            return Err(nothing());
        };
        let session = &there.session;
        let read = incident::illuminance(
            renderer,
            &session.scene,
            point,
            normal,
            Receptor::Flat,
            session.passes().shadows,
        );
        read.map_err(|error| match error {
            IncidentError::Gpu(error) => error.into(),
            error => ViewError::Session(SessionError::InvalidRequest(error.to_string())),
        })
    }

    /// Writes the pictures of an animation, equal to those of `render --frames`.
    fn write(&mut self, sequence: &Sequence) -> Result<u32, ViewError> {
        let (Some(renderer), Some(there)) = (&mut self.renderer, &mut self.scene_state) else {
            return Err(nothing());
        };
        let mut session = there.session.clone();
        let [width, height] = sequence.size;
        if (session.size.width, session.size.height) != (width, height) {
            let camera = session.camera.0;
            session.set_look(session.look.clone(), Size { width, height })?;
            session.camera.0 = camera;
        }
        let before = session.playback.as_ref().map(|animated| animated.time);
        renderer.reset_history();
        let (shared, wake) = (&self.shared, &self.wake);
        let told = |done: u32| shared.progress(wake, [done as usize, sequence.count as usize]);
        let written =
            frames(&self.gpu, renderer, &mut session, &mut there.gpu_scene, (sequence, &told));
        if let Some(time) = before {
            // Return to the window's time.
            session.seek(time)?;
            session.update_pose(&self.gpu, &mut there.gpu_scene)?;
        }
        renderer.reset_history();
        written.map(|()| sequence.count)
    }

    /// Renders each light's contribution: the picture with that light alone, minus the one without
    /// lights.
    fn mix(&mut self, lights: &[String]) -> Result<LightContributions, ViewError> {
        let (Some(renderer), Some(there)) = (&mut self.renderer, &self.scene_state) else {
            return Err(nothing());
        };
        let Some(exposed) = there.exposed else { return Err(nothing()) };
        let seen = &there.session;
        let request = OpenRequest {
            size: Some(seen.size),
            time: seen.playback.as_ref().map(|animated| animated.time),
            ..seen.request.clone()
        };
        let mut pictures = Vec::with_capacity(lights.len() + 1);
        for alone in std::iter::once(None).chain(lights.iter().map(Some)) {
            self.shared.progress(&self.wake, [pictures.len(), lights.len() + 1])?;
            let mut look = seen.look.clone();
            for name in lights.iter().filter(|name| Some(*name) != alone) {
                look.lights.entry(name.clone()).or_default().enabled = Some(false);
            }
            let mut session =
                session::apply_look(&request, Scene::clone(&there.base), look, Vec::new())?;
            session.camera.0 = seen.camera.0;
            let on_device = session.upload(renderer)?;
            let mut settings = RenderSettings {
                white_balance: there.white_balance,
                ..session.final_settings(&exposed, Vec::new())?
            };
            session.set_motion(&mut settings, &on_device);
            // Grain differs from picture to picture, so contributions would not add up.
            settings.effects.grain = None;
            renderer.reset_history();
            let samples = session.still_samples().max(1);
            pictures
                .push(renderer.render_still(&on_device, &session.view(), &settings, samples)?.nits);
        }
        let mut pictures = pictures.into_iter();
        let beyond = pictures.next().unwrap_or_default();
        let less = |picture: Vec<[f32; 3]>| {
            let pairs = picture.iter().zip(&beyond);
            pairs.map(|(all, rest)| std::array::from_fn(|i| all[i] - rest[i])).collect()
        };
        let lights = lights.iter().cloned().zip(pictures.map(less)).collect();
        let size = [seen.size.width as usize, seen.size.height as usize];
        let (order, white_balance) = (there.request_id, there.white_balance);
        Ok(LightContributions {
            size,
            without_lights: beyond,
            lights,
            exposed,
            white_balance,
            request_id: order,
        })
    }
}

/// Renders and writes each picture of a sequence; `told` reports the number done and may cancel.
fn frames(
    gpu: &Gpu,
    renderer: &mut Renderer,
    session: &mut Session,
    on_device: &mut GpuScene,
    (sequence, told): (&Sequence, &dyn Fn(u32) -> Result<(), ViewError>),
) -> Result<(), ViewError> {
    let mut exposed: Option<(ExposureState, Mat3)> = None;
    for number in 0..sequence.count {
        told(number)?;
        session.seek(sequence.first + f64::from(number) / sequence.fps)?;
        session.update_pose(gpu, on_device)?;
        let view = session.view();
        renderer.check_size(&view)?;
        let (now, white_balance) = match exposed {
            Some(exposed) => exposed,
            None => {
                // The meter is read for the first picture; later ones adapt.
                let first = expose::determine_exposure(session, renderer, on_device, &view, true)?;
                let balance =
                    expose::white_balance(session, renderer, on_device, &view, first.exposure)?;
                renderer.reset_history();
                (first, balance)
            }
        };
        let last = number + 1 == sequence.count;
        let mut settings = RenderSettings {
            white_balance,
            frame_number: number,
            histogram: !last && expose::is_adaptive(&session.look),
            ..session.final_settings(&now, Vec::new())?
        };
        session.set_motion(&mut settings, on_device);
        // Temporal history runs through a sequence; several samples per picture only if the look
        // sets them.
        let picture = match session.look.passes.aa.samples {
            None => renderer.render(on_device, &view, &settings)?,
            Some(samples) => renderer.render_still(on_device, &view, &settings, samples)?,
        };
        let ending = sequence
            .file
            .extension()
            .map_or_else(|| "png".into(), |e| e.to_string_lossy().into_owned());
        let file = output::replace_extension(&sequence.file, &format!("{number:04}.{ending}"));
        output::write_png(&file, picture.width, picture.height, &picture.display)
            .map_err(|error| ViewError::Session(SessionError::InvalidRequest(error.to_string())))?;
        let next = if last {
            now
        } else {
            expose::adapt(
                session,
                renderer,
                on_device,
                &view,
                (&now, &picture),
                sequence.fps.recip(),
            )?
        };
        exposed = Some((next, white_balance));
    }
    Ok(())
}
