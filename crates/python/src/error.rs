//! Errors as exceptions of `python/sunny16/_errors.py`.

use pyo3::prelude::*;
use sunny16::{
    camera::CameraError,
    cli::values::{CliError, ExitStatus},
    gpu::GpuError,
    scene::{
        gltf::ImportError,
        look::{LookError, Origin},
    },
    session::SessionError,
};

/// A place in a file.
#[derive(Default)]
struct Place {
    file: Option<String>,
    line: Option<usize>,
    column: Option<usize>,
}

impl Place {
    fn file(name: &str) -> Self {
        Self { file: Some(name.into()), ..Self::default() }
    }
}

/// Name of the class.
fn class(error: &CliError) -> &'static str {
    match error {
        CliError::Session(SessionError::Import(_)) => "SceneError",
        CliError::Session(SessionError::Look(_)) => "LookError",
        CliError::Session(SessionError::Gpu(GpuError::Interrupted)) => "Canceled",
        _ => match error.exit_status() {
            ExitStatus::Usage => "UsageError",
            ExitStatus::Input => "PictureError",
            ExitStatus::Output => "OutputError",
            ExitStatus::Device => "DeviceError",
            ExitStatus::DeviceLost => "DeviceLostError",
            ExitStatus::Interrupted => "Canceled",
            _ => "InternalError",
        },
    }
}

fn place(error: &CliError) -> Place {
    match error {
        CliError::Session(SessionError::Import(error)) => imported(error),
        CliError::Session(SessionError::Look(error)) => look(error),
        CliError::Image(error) => Place::file(&error.file),
        CliError::Output(error) => Place::file(&error.file),
        _ => Place::default(),
    }
}

fn imported(error: &ImportError) -> Place {
    match error {
        ImportError::NotFound { file, .. }
        | ImportError::Unreadable { file, .. }
        | ImportError::NotGltf { file, .. }
        | ImportError::Truncated { file, .. }
        | ImportError::Json { file, .. }
        | ImportError::Violation { file, .. }
        | ImportError::UnsupportedExtension { file, .. }
        | ImportError::TooLarge { file, .. } => Place::file(file),
    }
}

fn look(error: &LookError) -> Place {
    match error {
        LookError::At { origin: Origin::File { file, line, column }, .. } => {
            Place { file: Some(file.clone()), line: Some(*line), column: Some(*column) }
        }
        LookError::At { error, .. } => look(error),
        LookError::File { file, .. } | LookError::Input { file, .. } => Place::file(file),
        LookError::Camera(CameraError::Prescription { name, .. }) => Place::file(name),
        _ => Place::default(),
    }
}

/// The exception of an error, with the message that the program prints.
pub fn exception(py: Python<'_>, error: &CliError) -> PyErr {
    let Place { file, line, column } = place(error);
    let made = py.import("sunny16._errors").and_then(|module| {
        let code = error.exit_status().code();
        let message = error.to_string().replace('\n', " ");
        module.getattr(class(error))?.call1((message, code, file, line, column))
    });
    made.map_or_else(|other| other, PyErr::from_value)
}
