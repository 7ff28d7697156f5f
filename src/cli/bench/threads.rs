//! Measurements on a given number of threads.

use crate::cli::error::CliError;

/// Runs `work` in a thread pool of `threads` threads.
pub fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> Result<T, CliError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    Ok(pool
        .map_err(|error| CliError::Internal(format!("{threads} threads: {error}")))?
        .install(work))
}
