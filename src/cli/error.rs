//! Errors of commands, and their exit codes.

use std::{fmt::Display, path::Path};

use crate::{
    camera::CameraError,
    compare::{LinearImageError, case::CaseError},
    gpu::GpuError,
    output::{self, OutputError},
    reference::ResumeError,
    scene::{
        gltf::ImportError,
        look::{LookError, Origin},
    },
    session::{SessionError, part::PartError},
    settings::BUILTIN,
    viewer::ViewError,
};

/// How a command ended. The number is the program's exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// The command is done.
    Success = 0,
    /// A bug of the program.
    Internal = 1,
    /// An invalid argument.
    Usage = 2,
    /// A bound of `compare` or `validate` is broken.
    BoundsExceeded = 3,
    /// An input file cannot be used.
    Input = 4,
    /// An output cannot be written.
    Output = 5,
    /// No usable device or window, or out of device memory.
    Device = 6,
    /// The device was lost.
    DeviceLost = 7,
    /// The validation layer has reported messages.
    Validation = 8,
    /// 128 plus the number of SIGINT, the shell convention.
    Interrupted = 130,
}

/// All exit codes, for `--help`.
const EXIT_CODES: [(ExitStatus, &str); 10] = [
    (ExitStatus::Success, "success"),
    (ExitStatus::Internal, "internal error"),
    (ExitStatus::Usage, "invalid argument, also a property or value of --set"),
    (ExitStatus::BoundsExceeded, "a bound of compare or validate is broken"),
    (
        ExitStatus::Input,
        "an input file cannot be used, or a look file's property or value is invalid",
    ),
    (ExitStatus::Output, "an output cannot be written"),
    (ExitStatus::Device, "no usable device or window, or out of device memory"),
    (ExitStatus::DeviceLost, "device lost"),
    (ExitStatus::Validation, "validation layer messages (with --validation)"),
    (ExitStatus::Interrupted, "interrupted; the path tracer's picture holds the finished samples"),
];

impl ExitStatus {
    /// The exit code.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The exit codes with their meanings, one a line.
    #[must_use]
    pub fn table() -> String {
        let line = |(status, meaning): &(Self, &str)| format!("  {:<5}{meaning}", status.code());
        format!("Exit codes:\n{}", EXIT_CODES.iter().map(line).collect::<Vec<_>>().join("\n"))
    }
}

/// Error of a command; [`CliError::exit_status`] maps it to an exit code.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// An invalid argument.
    #[error("{0}")]
    Usage(String),
    /// An error of the scene, its look or the device.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// An output cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// A validation case cannot be used.
    #[error(transparent)]
    Case(#[from] CaseError),
    /// A picture cannot be used.
    #[error(transparent)]
    Image(#[from] LinearImageError),
    /// Bounds of `compare` or `validate` are broken.
    #[error("{broken} of {total} bounds are broken; the table above marks them")]
    BoundsExceeded {
        /// Number of broken bounds.
        broken: usize,
        /// Number of bounds.
        total: usize,
    },
    /// The saved samples of a picture cannot be used.
    #[error(transparent)]
    Resume(#[from] ResumeError),
    /// A part of a picture cannot be used.
    #[error(transparent)]
    Part(#[from] PartError),
    /// No window can be opened.
    #[error("{0}")]
    NoWindow(String),
    /// The user has interrupted the command.
    #[error("{0}")]
    Interrupted(String),
    /// A bug of the program.
    #[error("{0}")]
    Internal(String),
}

/// Checks that an output file has the name extension `ending` and can be written.
pub fn check_output(file: &Path, ending: &str) -> Result<(), CliError> {
    if !output::has_extension(file, ending) {
        return Err(CliError::Usage(format!(
            "invalid output '{}': expected a name that ends in .{ending}",
            file.display()
        )));
    }
    Ok(output::check_writable(file)?)
}

/// Error of an existing picture that a contact sheet or a video cannot read.
pub fn unreadable_picture(file: &Path, cause: impl Display) -> CliError {
    let detail = format!("{cause}; delete the picture and repeat the command with --skip-existing");
    CliError::Image(LinearImageError { file: file.display().to_string(), detail })
}

/// Errors that are also those of sessions.
macro_rules! session_errors {
    ($($Error:ty),+) => { $(
        impl From<$Error> for CliError {
            fn from(error: $Error) -> Self {
                Self::Session(error.into())
            }
        }
    )+ };
}

session_errors!(ImportError, LookError, GpuError, CameraError);

impl From<ViewError> for CliError {
    fn from(error: ViewError) -> Self {
        match error {
            ViewError::Gpu(error) => error.into(),
            ViewError::Session(error) => error.into(),
            ViewError::Window { .. } => Self::NoWindow(error.to_string()),
            ViewError::System(_) | ViewError::Crashed(_) => Self::Internal(error.to_string()),
        }
    }
}

impl CliError {
    /// How the program ends with this error.
    #[must_use]
    pub fn exit_status(&self) -> ExitStatus {
        match self {
            Self::Internal(_) => ExitStatus::Internal,
            Self::Session(error) => session_status(error),
            Self::Usage(_) => ExitStatus::Usage,
            Self::BoundsExceeded { .. } => ExitStatus::BoundsExceeded,
            Self::Case(_) | Self::Image(_) | Self::Resume(_) | Self::Part(_) => ExitStatus::Input,
            Self::Output(_) => ExitStatus::Output,
            Self::NoWindow(_) => ExitStatus::Device,
            Self::Interrupted(_) => ExitStatus::Interrupted,
        }
    }
}

fn session_status(error: &SessionError) -> ExitStatus {
    match error {
        SessionError::InvalidRequest(_) => ExitStatus::Usage,
        SessionError::Import(_) => ExitStatus::Input,
        SessionError::Look(error) => look_status(error),
        SessionError::Gpu(GpuError::DeviceLost { .. }) => ExitStatus::DeviceLost,
        SessionError::Internal(_)
        | SessionError::Leaked(_)
        | SessionError::Gpu(GpuError::Pipeline { .. }) => ExitStatus::Internal,
        SessionError::Gpu(_) => ExitStatus::Device,
        SessionError::Canceled => ExitStatus::Interrupted,
        SessionError::Validation(_) => ExitStatus::Validation,
    }
}

/// An error in a look file makes the file unusable, one of `--set` is an invalid argument.
fn look_status(error: &LookError) -> ExitStatus {
    match error {
        LookError::File { .. } | LookError::At { origin: Origin::File { .. }, .. } => {
            ExitStatus::Input
        }
        LookError::At { origin: Origin::Argument(_), error } => look_status(error),
        // An unknown builtin name is a wrong value: it names no file.
        LookError::Camera(CameraError::Prescription { name, .. })
        | LookError::Input { file: name, .. }
            if !name.starts_with(BUILTIN) =>
        {
            ExitStatus::Input
        }
        _ => ExitStatus::Usage,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_lists_each_exit_code() {
        let table = ExitStatus::table();
        assert_eq!(table.lines().count(), 1 + EXIT_CODES.len());
        assert!(
            table.starts_with("Exit codes:\n  0    success\n  1    internal error\n"),
            "{table}"
        );
        assert!(table.contains("\n  130  interrupted; "), "{table}");
        let codes = EXIT_CODES.map(|(status, _)| status.code());
        assert!(codes.is_sorted(), "{codes:?}");
        let readme = include_str!("../../README.md");
        for code in codes {
            assert!(readme.contains(&format!("\n| {code} | ")), "README.md lacks code {code}");
        }
    }
}
