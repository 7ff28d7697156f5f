//! The `sunny16` executable: a call of [`sunny16::cli::run`].
use std::process::ExitCode;

fn main() -> ExitCode {
    sunny16::cli::run()
}
