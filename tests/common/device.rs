//! Devices with validation and leak checks. Tests share them one after the other, with the
//! pipelines of earlier tests: software drivers compile shaders for longer than most tests draw.

use std::{
    env,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use sunny16::{
    frame::Renderer,
    gpu::{Gpu, GpuOptions, RayBackend, fault_injection::Fault},
    passes::Passes,
};

/// Devices between two tests.
static IDLE: Mutex<Vec<Idle>> = Mutex::new(Vec::new());

struct Idle {
    rays: RayBackend,
    gpu: Gpu,
    passes: OnceLock<Arc<Passes>>,
}

/// Objects that passes create on first use and keep, beside pipelines.
const KEPT_BY_PASSES: [&str; 10] = [
    "buffer 'gi constants'",
    "buffer 'ssr constants'",
    "image 'reflectances'",
    "buffer 'starburst table'",
    "buffer 'lens image grid'",
    "buffer 'ghost surfaces'",
    "buffer 'ghost paths'",
    "buffer 'ghost crossings'",
    "buffer 'ghosts drawn, even'",
    "buffer 'ghosts drawn, odd'",
];

/// A device whose drop, at the end of a test, asserts that there were no validation messages and no
/// leaks.
///
/// Create it first: locals are dropped in reverse order, so everything created from it is dropped
/// before.
pub struct Guard {
    pub gpu: Gpu,
    /// `None` for a device of one test alone.
    shared: Option<RayBackend>,
    passes: OnceLock<Arc<Passes>>,
    /// Objects of the passes of earlier tests.
    kept: Mutex<Vec<String>>,
}

/// The elements of `all` without those of `known`, each as often as it stands there.
fn without(all: Vec<String>, known: &[String]) -> Vec<String> {
    let mut known = known.to_vec();
    let mut rest = all;
    rest.retain(|name| match known.iter().position(|other| other == name) {
        Some(index) => {
            known.swap_remove(index);
            false
        }
        None => true,
    });
    rest
}

impl Drop for Guard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        self.gpu.wait_idle();
        let messages = self.gpu.validation_messages();
        assert!(messages.is_empty(), "validation: {messages:#?}");
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let new = without(self.gpu.live_objects(), &kept);
        let of_passes = |name: &String| {
            name.starts_with("pipeline ")
                || KEPT_BY_PASSES.contains(&name.as_str()) && !kept.contains(name)
        };
        // Other objects are leaked unless they end with the passes.
        let shares = self.shared.is_some() && self.passes.get().is_some();
        if !(shares && new.iter().all(of_passes)) {
            drop(self.passes.take());
            let live = self.gpu.live_objects();
            assert!(live.is_empty(), "still alive: {live:#?}");
        }
        if let Some(rays) = self.shared {
            let passes = std::mem::take(&mut self.passes);
            let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
            idle.push(Idle { rays, gpu: self.gpu.clone(), passes });
        }
    }
}

impl Guard {
    fn new(gpu: Gpu, shared: Option<RayBackend>, passes: OnceLock<Arc<Passes>>) -> Self {
        let kept = Mutex::new(gpu.live_objects());
        Self { gpu, shared, passes, kept }
    }

    /// Factor for position bounds, relative to 8 sub-pixel bits. SwiftShader snaps vertices to a
    /// 16th of a pixel, so that a surface lies up to 0.2 % from where the pixel's ray hits it;
    /// hardware and Mesa snap to a 256th.
    pub fn slack(&self) -> f64 {
        let bits = self.gpu.limits().sub_pixel_precision_bits;
        if bits >= 8 { 1.0 } else { f64::powi(2.0, 9 - bits as i32) }
    }

    /// Spacing of the rasterizer's vertex grid, in pixels.
    pub fn snap(&self) -> f64 {
        f64::powi(2.0, -(self.gpu.limits().sub_pixel_precision_bits as i32))
    }

    /// A renderer without history, with the pipelines of the device's earlier tests.
    pub fn renderer(&self) -> Renderer {
        let passes = self.passes.get_or_init(|| {
            let before = self.gpu.live_objects();
            let passes = Arc::new(Passes::new(&self.gpu).expect("pipelines"));
            let made = without(self.gpu.live_objects(), &before);
            self.kept.lock().unwrap_or_else(PoisonError::into_inner).extend(made);
            passes
        });
        Renderer::with_passes(&self.gpu, Arc::clone(passes)).expect("a renderer")
    }
}

/// A device with validation and synchronization validation; none only if `SUNNY16_NO_GPU` is set.
pub fn gpu() -> Option<Guard> {
    gpu_with_rays(RayBackend::Auto)
}

/// A device and a renderer, which is dropped first.
pub fn renderer() -> Option<(Guard, Renderer)> {
    let guard = gpu()?;
    let renderer = guard.renderer();
    Some((guard, renderer))
}

/// A device with this ray backend.
pub fn gpu_with_rays(rays: RayBackend) -> Option<Guard> {
    if no_gpu(std::thread::current().name().unwrap_or("test")) {
        return None;
    }
    let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(last) = idle.iter().rposition(|idle| idle.rays == rays) {
        let Idle { gpu, passes, .. } = idle.swap_remove(last);
        return Some(Guard::new(gpu, Some(rays), passes));
    }
    drop(idle);
    Some(Guard::new(open(rays, Vec::new()), Some(rays), OnceLock::new()))
}

/// A device of this test alone, with these faults.
pub fn gpu_with(faults: Vec<Fault>) -> Option<Guard> {
    let absent = no_gpu(std::thread::current().name().unwrap_or("test"));
    (!absent).then(|| Guard::new(open(RayBackend::Auto, faults), None, OnceLock::new()))
}

fn open(rays: RayBackend, faults: Vec<Fault>) -> Gpu {
    let options =
        GpuOptions { validation: true, faults, ray_backend: rays, ..GpuOptions::default() };
    Gpu::open(&options)
        .expect("a Vulkan device with the validation layer (SUNNY16_NO_GPU=1 if there is none)")
}

pub fn no_gpu(what: &str) -> bool {
    let none = env::var("SUNNY16_NO_GPU").is_ok_and(|value| value == "1");
    if none {
        println!("skipped: {what}: SUNNY16_NO_GPU=1");
    }
    none
}

/// True if `SUNNY16_LONG` requests the tests' long forms.
pub fn long() -> bool {
    env::var_os("SUNNY16_LONG").is_some()
}
