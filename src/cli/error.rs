//! Errors of commands, and their exit codes.

use std::path::Path;

use crate::{
    camera::CameraError,
    compare::{LinearImageError, case::CaseError},
    gpu::GpuError,
    output::{self, OutputError},
    reference::ResumeError,
    scene::{gltf::ImportError, look::LookError},
    session::SessionError,
};

/// Exit code of an interrupted render: 128 plus the number of SIGINT, the shell convention.
pub const INTERRUPTED_CODE: u8 = 130;

/// Error of a command; [`CliError::exit_code`] maps it to an exit code.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    #[error("{0}")]
    Usage(String),
    #[error(transparent)]
    Import(#[from] ImportError),
    #[error(transparent)]
    Look(#[from] LookError),
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error(transparent)]
    Gpu(#[from] GpuError),
    #[error("the validation layer reported {} messages; the first: {}", .0.len(), .0.first().map_or("", String::as_str))]
    Validation(Vec<String>),
    #[error(transparent)]
    Case(#[from] CaseError),
    #[error(transparent)]
    Image(#[from] LinearImageError),
    #[error("{broken} of {total} bounds are broken; the table above marks them")]
    BoundsExceeded { broken: usize, total: usize },
    #[error(transparent)]
    Resume(#[from] ResumeError),
    #[error("{0}")]
    NoWindow(String),
    #[error("{0}")]
    Interrupted(String),
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

impl From<SessionError> for CliError {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::InvalidRequest(text) => Self::Usage(text),
            SessionError::Import(error) => Self::Import(error),
            SessionError::Look(error) => Self::Look(error),
            SessionError::Gpu(error) => Self::Gpu(error),
            SessionError::Internal(text) => Self::Internal(text),
        }
    }
}

impl From<CameraError> for CliError {
    fn from(error: CameraError) -> Self {
        Self::Look(error.into())
    }
}

impl CliError {
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Internal(_) => 1,
            Self::Look(LookError::Camera(CameraError::Prescription { .. })) => 4,
            Self::Usage(_)
            | Self::Look(
                LookError::UnknownPath { .. }
                | LookError::BadValue { .. }
                | LookError::Contradiction(_)
                | LookError::Light { .. }
                | LookError::Camera(_),
            ) => 2,
            Self::BoundsExceeded { .. } => 3,
            Self::Import(_)
            | Self::Case(_)
            | Self::Image(_)
            | Self::Look(LookError::File { .. } | LookError::Input { .. }) => 4,
            Self::Resume(_) => 4,
            Self::Interrupted(_) => INTERRUPTED_CODE,
            Self::Output(_) => 5,
            Self::NoWindow(_) => 6,
            Self::Gpu(error) => match error {
                GpuError::DeviceLost { .. } => 7,
                GpuError::Pipeline { .. } => 1,
                _ => 6,
            },
            Self::Validation(_) => 8,
        }
    }
}
