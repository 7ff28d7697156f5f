//! The path tracer as a reference: it renders the same view on its own threads.

use std::{
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use glam::DVec3;

use super::wake::Wake;
use crate::{
    gpu::mutex::lock,
    photometry::Nit,
    reference::{CancelToken, Film, FilmSettings, LensCamera, PathSettings, World},
    scene::Scene,
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

#[derive(Default)]
struct Shared {
    next: Mutex<Option<(u64, TraceJob)>>,
    wake: Condvar,
    traced: Mutex<TracedImage>,
    /// The current job; work on any other ends soon.
    wanted: AtomicU64,
    ends: AtomicBool,
}

/// The path tracer's thread.
pub struct Tracer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// Minimum interval between published pictures.
const PUBLISH_INTERVAL: Duration = Duration::from_millis(250);

struct TimeSlice<'a> {
    shared: &'a Shared,
    job: u64,
    until: Instant,
}

impl CancelToken for TimeSlice<'_> {
    fn should_stop(&self) -> bool {
        self.shared.wanted.load(Ordering::Relaxed) != self.job
            || self.shared.ends.load(Ordering::Relaxed)
    }

    fn pause(&self) -> bool {
        self.should_stop() || Instant::now() >= self.until
    }
}

impl Tracer {
    /// Starts the thread, which waits for a job; `wake` is called for each new picture. It leaves
    /// one processor to the window if there are several.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn new(wake: Wake) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let own = Arc::clone(&shared);
        let threads = std::thread::available_parallelism()
            .map_or(1, std::num::NonZero::get)
            .saturating_sub(1)
            .max(1);
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|index| format!("path tracer {index}"))
            .build()
            .map_err(std::io::Error::other)?;
        let thread = std::thread::Builder::new()
            .name("path tracer".into())
            .spawn(move || pool.install(|| work(&own, &wake)))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Starts a job and cancels the previous one. Returns its number.
    pub fn begin(&self, job: TraceJob) -> u64 {
        let number = self.shared.wanted.fetch_add(1, Ordering::Relaxed) + 1;
        *lock(&self.shared.next) = Some((number, job));
        self.shared.wake.notify_all();
        number
    }

    /// Cancels the current job; the last publication stays.
    pub fn stop(&self) {
        self.shared.wanted.fetch_add(1, Ordering::Relaxed);
        *lock(&self.shared.next) = None;
    }

    /// The newest picture.
    #[must_use]
    pub fn traced(&self) -> TracedImage {
        lock(&self.shared.traced).clone()
    }
}

impl Drop for Tracer {
    fn drop(&mut self) {
        self.shared.ends.store(true, Ordering::Relaxed);
        self.shared.wake.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic is ignored: no picture can be lost here.
            let _ = thread.join();
        }
    }
}

fn work(shared: &Shared, wake: &Wake) {
    loop {
        let mut next = lock(&shared.next);
        let (number, job) = loop {
            if shared.ends.load(Ordering::Relaxed) {
                return;
            }
            if let Some(job) = next.take() {
                break job;
            }
            // The timeout guards against a wake-up between the check of `ends` and the wait.
            let waited = shared
                .wake
                .wait_timeout(next, PUBLISH_INTERVAL)
                .unwrap_or_else(PoisonError::into_inner);
            next = waited.0;
        };
        drop(next);
        trace(shared, wake, number, &job);
    }
}

fn trace(shared: &Shared, wake: &Wake, number: u64, job: &TraceJob) {
    let started = Instant::now();
    let world = World::new(&job.scene, job.eye);
    let [width, height] = job.size;
    let mut film = Film::new(
        width,
        height,
        FilmSettings { path: job.path_settings, ..FilmSettings::default() },
    );
    let mut step = 1;
    loop {
        let turn = Instant::now();
        let cancel_token = TimeSlice { shared, job: number, until: turn + PUBLISH_INTERVAL };
        let goal = job.samples.min(film.samples().saturating_add(step.max(film.samples() / 4)));
        film.advance(&world, &job.camera, goal, &cancel_token);
        if cancel_token.should_stop() {
            return;
        }
        if turn.elapsed() < PUBLISH_INTERVAL / 4 {
            step = (step * 2).min(64);
        }
        let nits =
            film.displayed(job.white).into_iter().map(|c: DVec3| c.as_vec3().to_array()).collect();
        let mut traced = lock(&shared.traced);
        *traced = TracedImage {
            job: number,
            size: job.size,
            nits: Arc::new(nits),
            samples: film.samples(),
            error: film.relative_error(),
            seconds: started.elapsed().as_secs_f64(),
            number: traced.number + 1,
        };
        drop(traced);
        wake();
        if film.samples() >= job.samples {
            return;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
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
