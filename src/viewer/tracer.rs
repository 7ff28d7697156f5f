//! The path tracer as a reference: it renders the same view on its own threads.

use std::{sync::Arc, time::Instant};

use glam::{DMat4, DVec3};

use super::{
    wake::Wake,
    worker::{Crashed, Link, Worker},
};
use crate::{
    frame::RenderSettings,
    photometry::Nit,
    reference::{CancelToken, Film, FilmSettings, LensCamera, PathSettings, World},
    scene::{Projection, Scene},
    session::reference,
};

/// A job of the path tracer.
pub struct TraceJob {
    /// The scene with its look.
    pub scene: Arc<Scene>,
    /// The camera with its lens.
    pub camera: LensCamera,
    /// Eye position (m).
    pub eye: DVec3,
    /// Width and height in pixels.
    pub size: [usize; 2],
    /// Path settings.
    pub path_settings: PathSettings,
    /// Samples per pixel at which it stops.
    pub samples: u32,
    /// The luminance that the exposure renders white: unlit surfaces are scaled by it.
    pub white: Nit,
}

impl TraceJob {
    /// A job with all bounces from a camera, with the lens, the effects and the exposure of a
    /// frame's settings. `size`: width and height in pixels.
    #[must_use]
    pub fn new(
        scene: Arc<Scene>,
        (pose, projection): (DMat4, Projection),
        settings: &RenderSettings,
        size: [usize; 2],
        samples: u32,
    ) -> Self {
        Self {
            scene,
            camera: LensCamera::new(pose, projection, size[0], size[1], &settings.effects)
                .with_lens(settings.lens.clone()),
            eye: pose.w_axis.truncate(),
            size,
            path_settings: PathSettings::default(),
            samples,
            white: settings.exposure.saturation_luminance(),
        }
    }
}

/// A picture in progress.
#[derive(Clone, Default)]
pub struct TracedImage {
    /// Its job.
    pub job: u64,
    /// Width and height in pixels.
    pub size: [usize; 2],
    /// Luminance by channel (nits), top row first.
    pub nits: Arc<Vec<[f32; 3]>>,
    /// Samples per pixel so far.
    pub samples: u32,
    /// Estimated relative error of the whole picture.
    pub error: f64,
    /// Render time (s).
    pub seconds: f64,
    /// Unique number of the publication.
    pub number: u64,
}

/// The path tracer's link with its thread.
type TracerLink = Link<Option<(u64, TraceJob)>, TracedImage>;

/// The path tracer's thread.
pub struct Tracer(Worker<Option<(u64, TraceJob)>, TracedImage>);

/// Cancels a job when another is submitted.
struct JobCancel<'a>(&'a TracerLink, u64);

impl CancelToken for JobCancel<'_> {
    fn should_stop(&self) -> bool {
        self.0.is_canceled(self.1)
    }
}

impl Tracer {
    /// Starts the thread, which waits for a job; `wake` is called for each new picture. It leaves
    /// one processor to the window if there are several.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn new(wake: Wake) -> std::io::Result<Self> {
        let threads = std::thread::available_parallelism()
            .map_or(1, std::num::NonZero::get)
            .saturating_sub(1)
            .max(1);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|index| format!("path tracer {index}"))
            .build()
            .map_err(std::io::Error::other)?;
        let work = move |link: &TracerLink| {
            while let Some((number, job)) = link.next(None, Option::take) {
                pool.install(|| trace(link, number, &job));
            }
        };
        Ok(Self(Worker::new("path tracer", wake, work)?))
    }

    /// Starts a job and cancels the previous one. Returns its number.
    pub fn begin(&self, job: TraceJob) -> u64 {
        self.0.submit(|next, number| {
            self.0.cancel(number - 1);
            *next = Some((number, job));
        })
    }

    /// Cancels the current job; the last publication stays.
    pub fn stop(&self) {
        self.0.cancel_all(|next| *next = None);
    }

    /// The newest picture.
    #[must_use]
    pub fn traced(&self) -> TracedImage {
        self.0.results(|traced| traced.clone())
    }

    /// The crash of the thread, once.
    #[must_use]
    pub fn crash(&self) -> Option<Crashed> {
        self.0.crash()
    }
}

/// Traces a job, and publishes its picture after each pass.
fn trace(link: &TracerLink, number: u64, job: &TraceJob) {
    let started = Instant::now();
    let world = World::new(&job.scene, job.eye);
    let [width, height] = job.size;
    let settings = FilmSettings { path: job.path_settings, ..FilmSettings::default() };
    let mut film = Film::new(width, height, settings);
    let cancel = JobCancel(link, number);
    reference::trace(&mut film, (&world, &job.camera), job.samples, &cancel, |film| {
        if cancel.should_stop() {
            return;
        }
        let nits =
            film.displayed(job.white).into_iter().map(|c: DVec3| c.as_vec3().to_array()).collect();
        let (samples, error) = (film.samples(), film.relative_error());
        link.publish(|traced| {
            *traced = TracedImage {
                job: number,
                size: job.size,
                nits: Arc::new(nits),
                samples,
                error,
                seconds: started.elapsed().as_secs_f64(),
                number: traced.number + 1,
            };
        });
    });
}

#[cfg(test)]
mod tests {
    use std::{sync::atomic::AtomicBool, time::Duration};

    use super::*;
    use crate::{camera::CameraEffects, scene::procedural::BuiltinScene};

    fn job(samples: u32) -> TraceJob {
        let (scene, _) = BuiltinScene::named("cornell").unwrap().make().unwrap();
        let (world, projection) = crate::scene::defaults::framing_camera(&scene, 1.0);
        let camera = LensCamera::new(world, projection, 24, 24, &CameraEffects::default());
        let walk = PathSettings::default();
        TraceJob {
            scene: Arc::new(scene),
            camera,
            eye: world.w_axis.truncate(),
            size: [24, 24],
            path_settings: walk,
            samples,
            white: Nit(100.0),
        }
    }

    fn until(tracer: &Tracer, done: impl Fn(&TracedImage) -> bool) -> TracedImage {
        let started = Instant::now();
        loop {
            let traced = tracer.traced();
            if done(&traced) {
                return traced;
            }
            assert!(started.elapsed() < Duration::from_secs(120), "{} samples", traced.samples);
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn a_picture_grows_and_is_the_films() {
        let tracer = Tracer::new(Arc::new(|| {})).unwrap();
        let number = tracer.begin(job(8));
        let traced = until(&tracer, |traced| traced.samples == 8);
        assert_eq!((traced.job, traced.size, traced.nits.len()), (number, [24, 24], 24 * 24));
        let whole = job(8);
        let world = World::new(&whole.scene, whole.eye);
        let mut film = Film::new(24, 24, FilmSettings::default());
        assert!(film.add(&world, &whole.camera, 8, &AtomicBool::new(false)));
        let expected: Vec<[f32; 3]> =
            film.displayed(whole.white).into_iter().map(|c| c.as_vec3().to_array()).collect();
        assert_eq!(*traced.nits, expected, "bit for bit, independent of the time slices");
    }

    #[test]
    fn a_new_job_ends_the_old_one_and_the_end_ends_all() {
        let tracer = Tracer::new(Arc::new(|| {})).unwrap();
        tracer.begin(job(1 << 20));
        until(&tracer, |traced| traced.samples > 0);
        let second = tracer.begin(job(2));
        let traced = until(&tracer, |traced| traced.job == second && traced.samples == 2);
        assert_eq!(traced.job, second);
        // So many samples take hours: they end with the tracer.
        tracer.begin(job(1 << 20));
        drop(tracer);
    }
}
