//! The program: all is in the library's `cli`.
use std::process::ExitCode;

fn main() -> ExitCode {
    sunny16::cli::run()
}
