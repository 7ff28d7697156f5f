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
    session::{OpenScene, expose::ExposureState},
};

/// Delay of [`slow_start_notice`].
const SLOW_START_DELAY: Duration = Duration::from_secs(10);

/// Prints a notice on a terminal if the first picture takes longer than [`SLOW_START_DELAY`].
/// Dropping the returned sender cancels it.
pub fn slow_start_notice() -> mpsc::Sender<()> {
    let (sender, done) = mpsc::channel();
    if !std::io::stderr().is_terminal() {
        return sender;
    }
    thread::spawn(move || {
        if done.recv_timeout(SLOW_START_DELAY) == Err(RecvTimeoutError::Timeout) {
            // A closed stream is no error.
            let _ = writeln!(
                std::io::stderr(),
                "compiling shaders: this takes a minute or more on software drivers; later runs use the pipeline cache"
            );
        }
    });
    sender
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
