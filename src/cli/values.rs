//! What `--json` of a command holds, as a value, for programs that link the library. The arguments
//! are those of the command line without the program's name.

use clap::Parser;
use serde_json::Value;

pub use super::error::{CliError, ExitStatus};
use super::{Cli, Command, compare, device_args::DeviceArgs, inspect, meter, usage_error};
use crate::{compare::LinearImage, frame::Renderer, session};

fn parse(arguments: &[String]) -> Result<Command, CliError> {
    let words = std::iter::once("sunny16").chain(arguments.iter().map(String::as_str));
    Cli::try_parse_from(words).map(|cli| cli.command).map_err(|error| {
        let command = arguments.first().map(String::as_str);
        CliError::Usage(usage_error::one_line(&error, command).unwrap_or_else(|| error.to_string()))
    })
}

fn other(expected: &str) -> CliError {
    CliError::Usage(format!("invalid arguments: expected those of `{expected}`"))
}

/// Opens a device by its number or a part of its name (default: the best), with the pipeline cache
/// of the commands.
///
/// # Errors
/// [`CliError::Session`] without such a device.
pub fn open_renderer(device: Option<&str>) -> Result<Renderer, CliError> {
    let args =
        DeviceArgs { device: device.map(Into::into), validation: false, rays: "auto".into() };
    Ok(session::open_device(&args.options()?)?)
}

/// `inspect --json`.
///
/// # Errors
/// [`CliError`], as the command prints it.
pub fn inspect(arguments: &[String]) -> Result<Value, CliError> {
    match parse(arguments)? {
        Command::Inspect(args) => inspect::values(&args),
        _ => Err(other("inspect")),
    }
}

/// `meter --json`, with a list of warnings, by a renderer that is returned.
///
/// # Errors
/// [`CliError`], as the command prints it.
pub fn meter(arguments: &[String], renderer: Renderer) -> Result<(Value, Renderer), CliError> {
    match parse(arguments)? {
        Command::Meter(args) => meter::values(&args, renderer),
        _ => Err(other("meter")),
    }
}

/// `compare --json`. Pictures that are given replace the files of the arguments, which name them.
///
/// # Errors
/// [`CliError`], as the command prints it.
pub fn compare(
    arguments: &[String],
    pictures: [Option<LinearImage>; 2],
) -> Result<Value, CliError> {
    match parse(arguments)? {
        Command::Compare(args) => compare::values(&args, pictures),
        _ => Err(other("compare")),
    }
}
