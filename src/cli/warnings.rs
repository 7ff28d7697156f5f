//! Notices and warnings that several commands print.

use std::{
    io::{IsTerminal, Write},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use super::exposure_format::exposure_limit_message;
use crate::{
    camera::{Dials, ExposureControl, ExposureMode, MeteringMode},
    gpu::Gpu,
    session::{OpenScene, expose::ExposureState},
};

/// Compilation that takes longer is shown.
const COMPILE_NOTICE_DELAY: Duration = Duration::from_secs(1);

/// Interval between updates of the line.
const COMPILE_NOTICE_INTERVAL: Duration = Duration::from_millis(200);

/// A line on the terminal about shader compilation that takes longer than a second. Dropping it
/// removes the line.
pub struct CompileNotice(Option<(mpsc::Sender<()>, thread::JoinHandle<()>)>);

impl CompileNotice {
    /// Watches the compilations of a device. Does nothing unless standard error is a terminal.
    pub fn new(gpu: &Gpu) -> Self {
        if !std::io::stderr().is_terminal() {
            return Self(None);
        }
        let (sender, done) = mpsc::channel();
        let gpu = gpu.clone();
        let watch = move || {
            let mut shown = false;
            // A closed stream is no error.
            while done.recv_timeout(COMPILE_NOTICE_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                let progress = gpu.compile_progress();
                if let Some(progress) = progress.filter(|p| p.elapsed > COMPILE_NOTICE_DELAY) {
                    shown = true;
                    let _ = write!(std::io::stderr(), "\r{progress}\x1b[K");
                }
            }
            if shown {
                let _ = write!(std::io::stderr(), "\r\x1b[K");
            }
        };
        Self(Some((sender, thread::spawn(watch))))
    }
}

impl Drop for CompileNotice {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.0.take() {
            drop(sender);
            // A panic is ignored: the notice has no result.
            let _ = thread.join();
        }
    }
}

/// Prints warnings and notes; `quiet` leaves out notes, which begin with `note:`.
pub fn warn(sentences: &[String], quiet: bool) {
    for sentence in sentences.iter().filter(|text| !(quiet && text.starts_with("note:"))) {
        eprintln!("{sentence}");
    }
}

/// Prints the remarks of a device, e.g. on pipelines that a general one replaces.
pub fn warn_remarks(gpu: &Gpu) {
    gpu.remarks().iter().for_each(|remark| eprintln!("warning: {remark}"));
}

/// Difference between meter and dials that gives a warning, in stops.
const RENDER_TOLERANCE_STOPS: f64 = 3.0;

/// Prints the meter's reading unless `quiet`, and a warning if the dials are far off it or at their
/// limits.
pub fn warn_exposure(exposed: &ExposureState, dials: &Dials, quiet: bool) {
    let camera = exposed.exposure.ev100().get();
    let by_hand = exposed.control == ExposureControl::Dials(ExposureMode::Manual);
    if let ExposureControl::Dials(mode) = exposed.control
        && let Some(solved) = exposed.solved.filter(|solved| solved.error_stops.abs() > 0.01)
    {
        println!("warning: {}", exposure_limit_message(mode, dials.auto_iso, &solved));
    }
    match exposed.metered {
        Some(meter) if by_hand => {
            let metered = meter.ev100().get();
            // Positive: the camera's EV100 is below the metered one, so the picture is too bright.
            let off = metered - camera;
            if off.abs() > RENDER_TOLERANCE_STOPS {
                println!(
                    "warning: the scene meters at EV100 {metered:.2}, the camera is at {camera:.2}: the picture is {:.1} stops too {}; --set camera.exposure.ev100={metered:.2} follows the meter",
                    off.abs(),
                    if off > 0.0 { "bright" } else { "dark" },
                );
            } else if !quiet {
                println!("the scene meters at EV100 {metered:.2}");
            }
        }
        Some(_) => {}
        None if dials.metering.mode == MeteringMode::Incident => {
            if !quiet {
                println!(
                    "note: no incident reading: there is no lit surface at the metered position, or the picture is path traced"
                );
            }
        }
        None => println!(
            "warning: nothing to meter: the camera sees no lit or emissive surface (unlit materials do not count)"
        ),
    }
}

/// Warns of textures that could not be read.
pub fn warn_missing_textures(session: &OpenScene) {
    for image in session.scene.images.iter().filter(|image| image.is_error_pattern) {
        println!(
            "warning: texture '{}' is missing or broken; it shows the error pattern",
            image.name
        );
    }
}
