//! Interruption by Ctrl-C.

use std::{
    sync::{
        Once, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use super::error::ExitStatus;

/// Set by Ctrl-C and by termination signals.
pub static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Time of the first interrupt.
pub static INTERRUPTED_AT: OnceLock<Instant> = OnceLock::new();

/// Installs the Ctrl-C handler: the first interrupt stops tracing, the second exits the program.
pub fn install_interrupt_handler() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let heard = || {
            INTERRUPTED_AT.get_or_init(Instant::now);
            if INTERRUPTED.swap(true, Ordering::Relaxed) {
                std::process::exit(i32::from(ExitStatus::Interrupted.code()));
            }
        };
        // Without the handler an interrupt exits at once; --resume continues from the last saved
        // state.
        if let Err(error) = ctrlc::set_handler(heard) {
            log::warn!(
                "cannot install the Ctrl-C handler; Ctrl-C will not write the picture: {error}"
            );
        }
    });
}
