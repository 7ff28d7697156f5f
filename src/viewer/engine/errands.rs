//! What the engine does beside the picture: readings, pictures of single lights, sequences.

use std::{path::PathBuf, sync::atomic::Ordering, time::Instant};

use glam::{DVec3, Mat3};

use super::{Shared, Task, Wake, Worker, lock};
use crate::{
    camera::exposure::Receptor,
    frame::{
        Settings,
        incident::{self, IncidentError},
    },
    output,
    photometry::Lux,
    scene::Scene,
    studio::{self, Request, StudioError, expose::Exposed},
    viewer::ViewError,
};

/// Something to be done beside the picture.
pub enum Errand {
    /// An incident-light meter is held to a point, facing along a normal.
    Read(DVec3, DVec3),
    /// What each of these lights gives to the picture.
    Mix(Vec<String>),
    /// Pictures of what is played.
    Write(Sequence),
}

/// What became of an errand; in words, where it failed or was given up.
pub enum Outcome {
    /// Where the meter was, and what it reads.
    Read(DVec3, Result<Lux, String>),
    /// The picture by its lights.
    Mixed(Result<Mixed, String>),
    /// Pictures written.
    Written(Result<u32, String>),
}

/// Pictures of what is played, each in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequence {
    /// The name of the files, to which each picture's number is added: `a.png` makes `a.0000.png`.
    pub file: PathBuf,
    /// When the first is (s).
    pub first: f64,
    /// Pictures a second.
    pub fps: f64,
    /// How many.
    pub count: u32,
}

/// A picture by what each light gives to it, in nits.
pub struct Mixed {
    /// Pixels across and down.
    pub size: [usize; 2],
    /// What none of the lights gives: the surroundings, and what glows.
    pub beyond: Vec<[f32; 3]>,
    /// Names, and what each gives.
    pub lights: Vec<(String, Vec<[f32; 3]>)>,
    /// How the picture is exposed.
    pub exposed: Exposed,
    /// The matrix of its white balance.
    pub white_balance: Mat3,
    /// The wish that it answers.
    pub order: u64,
}

impl Mixed {
    /// The picture with each part by a factor: first what is beyond the lights, then the lights in their order.
    #[must_use]
    pub fn with(&self, factors: &[f32]) -> Vec<[f32; 3]> {
        let mut factors = factors.iter().copied();
        let first = factors.next().unwrap_or(1.0);
        let mut sum: Vec<[f32; 3]> = self.beyond.iter().map(|c| c.map(|v| v * first)).collect();
        for ((_, light), factor) in self.lights.iter().zip(factors) {
            for (into, c) in sum.iter_mut().zip(light) {
                *into = std::array::from_fn(|i| into[i] + c[i] * factor);
            }
        }
        sum
    }
}

/// The errand was given up by its user.
fn given_up() -> ViewError {
    ViewError::Studio(StudioError::Asked("stopped".into()))
}

/// There is no picture yet to which it would belong.
fn nothing() -> ViewError {
    ViewError::Studio(StudioError::Asked("wait for the first picture".into()))
}

impl Shared {
    /// Tells how far an errand has come; an error where it is not wanted any more.
    fn progress(&self, wake: &Wake, [done, of]: [usize; 2]) -> Result<(), ViewError> {
        lock(&self.news).task = Some((Task::Draws(done, of), Instant::now()));
        wake();
        let unwanted = self.ends.load(Ordering::Relaxed) || self.cancel.load(Ordering::Relaxed);
        if unwanted { Err(given_up()) } else { Ok(()) }
    }
}

/// What is no fault of the device is told, and the engine goes on.
fn told<T>(done: Result<T, ViewError>) -> Result<Result<T, String>, ViewError> {
    match done {
        Err(error @ ViewError::Gpu(_)) => Err(error),
        done => Ok(done.map_err(|error| error.to_string())),
    }
}

impl Worker {
    /// Does an errand.
    pub(super) fn run_errand(&mut self, errand: Errand) -> Result<Outcome, ViewError> {
        Ok(match errand {
            Errand::Read(point, normal) => Outcome::Read(point, told(self.read(point, normal))?),
            Errand::Mix(lights) => Outcome::Mixed(told(self.mix(&lights))?),
            Errand::Write(sequence) => Outcome::Written(told(self.write(&sequence))?),
        })
    }

    /// Holds the meter to a surface.
    fn read(&mut self, point: DVec3, normal: DVec3) -> Result<Lux, ViewError> {
        self.task(Some(Task::Meter));
        let (Some(renderer), Some(there)) = (&mut self.renderer, &self.there) else { return Err(nothing()) };
        let opened = &there.opened;
        let read = incident::illuminance(renderer, &opened.scene, point, normal, Receptor::Flat, opened.shadows());
        read.map_err(|error| match error {
            IncidentError::Gpu(error) => error.into(),
            error => ViewError::Studio(StudioError::Asked(error.to_string())),
        })
    }

    /// Writes pictures of what is played: those that `render --frames` writes.
    fn write(&mut self, sequence: &Sequence) -> Result<u32, ViewError> {
        let (Some(renderer), Some(there)) = (&mut self.renderer, &mut self.there) else { return Err(nothing()) };
        let Some(exposed) = there.exposed else { return Err(nothing()) };
        let mut opened = there.opened.clone();
        let before = opened.animated.as_ref().map(|animated| animated.time);
        renderer.cut();
        let mut written = Ok(sequence.count);
        for number in 0..sequence.count {
            if let Err(error) = self.shared.progress(&self.wake, [number as usize, sequence.count as usize]) {
                written = Err(error);
                break;
            }
            opened.go_to(sequence.first + f64::from(number) / sequence.fps)?;
            opened.follow(&self.gpu, &mut there.on_device)?;
            let mut settings = Settings {
                white_balance: there.white_balance,
                frame_number: number,
                ..opened.picture_settings(&exposed, Vec::new())?
            };
            opened.set_in_motion(&mut settings, &there.on_device);
            // The frames of a sequence join each other; each is of several only where the look asks for it.
            let picture = match opened.look.passes.aa_samples {
                None => renderer.render(&there.on_device, &opened.view(), &settings)?,
                Some(samples) => renderer.render_still(&there.on_device, &opened.view(), &settings, samples)?,
            };
            let ending = sequence.file.extension().map_or_else(|| "png".into(), |e| e.to_string_lossy().into_owned());
            let file = sequence.file.with_extension(format!("{number:04}.{ending}"));
            let put = output::write_png(&file, picture.width, picture.height, &picture.display);
            if let Err(error) = put {
                written = Err(ViewError::Studio(StudioError::Asked(error.to_string())));
                break;
            }
        }
        if let Some(time) = before {
            // Back to what the window shows.
            opened.go_to(time)?;
            opened.follow(&self.gpu, &mut there.on_device)?;
        }
        renderer.cut();
        written
    }

    /// Draws what each light gives to the picture: that of the light alone less that of none.
    fn mix(&mut self, lights: &[String]) -> Result<Mixed, ViewError> {
        let (Some(renderer), Some(there)) = (&mut self.renderer, &self.there) else { return Err(nothing()) };
        let Some(exposed) = there.exposed else { return Err(nothing()) };
        let seen = &there.opened;
        let request = Request {
            size: Some(seen.size),
            time: seen.animated.as_ref().map(|animated| animated.time),
            ..seen.request.clone()
        };
        let mut pictures = Vec::with_capacity(lights.len() + 1);
        for alone in std::iter::once(None).chain(lights.iter().map(Some)) {
            self.shared.progress(&self.wake, [pictures.len(), lights.len() + 1])?;
            let mut look = seen.look.clone();
            for name in lights.iter().filter(|name| Some(*name) != alone) {
                look.lights.entry(name.clone()).or_default().enabled = Some(false);
            }
            let mut opened = studio::dress(&request, Scene::clone(&there.base), look, Vec::new())?;
            opened.camera.0 = seen.camera.0;
            let on_device = opened.upload(renderer)?;
            let mut settings =
                Settings { white_balance: there.white_balance, ..opened.picture_settings(&exposed, Vec::new())? };
            opened.set_in_motion(&mut settings, &on_device);
            // Each picture's grain would be another: it does not add up to that of their sum.
            settings.effects.grain = None;
            renderer.cut();
            let samples = opened.still_samples().max(1);
            pictures.push(renderer.render_still(&on_device, &opened.view(), &settings, samples)?.nits);
        }
        let mut pictures = pictures.into_iter();
        let beyond = pictures.next().unwrap_or_default();
        let less = |picture: Vec<[f32; 3]>| {
            let pairs = picture.iter().zip(&beyond);
            pairs.map(|(all, rest)| std::array::from_fn(|i| all[i] - rest[i])).collect()
        };
        let lights = lights.iter().cloned().zip(pictures.map(less)).collect();
        let size = [seen.size.width as usize, seen.size.height as usize];
        let (order, white_balance) = (there.order, there.white_balance);
        Ok(Mixed { size, beyond, lights, exposed, white_balance, order })
    }
}
