//! The native half of the Python module `sunny16`: `python/sunny16/__init__.py` has the interface.

mod error;
mod job;
mod picture;

use std::sync::{Mutex, PoisonError};

use pyo3::{prelude::*, types::PyBytes};
use sunny16::{
    cli::values::{self, CliError},
    compare::LinearImage,
    frame::Renderer,
    scene::procedural::demos::Demo,
    session,
};

use self::job::run;

/// The device of the last call, with its pipelines: opening it takes seconds.
static DEVICE: Mutex<Option<(Option<String>, Renderer)>> = Mutex::new(None);

/// Takes the open device, or opens one; concurrent calls each have their own.
fn take_device(name: Option<&str>) -> Result<Renderer, CliError> {
    let open = DEVICE.lock().unwrap_or_else(PoisonError::into_inner).take();
    match open {
        Some((opened, renderer)) if opened.as_deref() == name => Ok(renderer),
        other => {
            other.map_or(Ok(()), |(_, renderer)| session::close(renderer))?;
            values::open_renderer(name)
        }
    }
}

/// Keeps a device for later calls. Of several, the last stays open.
fn keep_device(name: Option<&str>, renderer: Renderer) -> Result<(), CliError> {
    let kept = (name.map(Into::into), renderer);
    let before = DEVICE.lock().unwrap_or_else(PoisonError::into_inner).replace(kept);
    Ok(before.map_or(Ok(()), |(_, renderer)| session::close(renderer))?)
}

/// Closes the device that is kept.
#[pyfunction]
fn close(py: Python<'_>) -> PyResult<()> {
    let open = DEVICE.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some((_, renderer)) = open else { return Ok(()) };
    run(py, None, |_| Ok(session::close(renderer)?))
}

/// Light meter readings as JSON.
#[pyfunction]
#[pyo3(signature = (arguments, device = None))]
fn meter(py: Python<'_>, arguments: Vec<String>, device: Option<String>) -> PyResult<String> {
    run(py, None, |job| {
        let renderer = take_device(device.as_deref())?;
        job.check()?;
        let (readings, renderer) = values::meter(&arguments, renderer)?;
        keep_device(device.as_deref(), renderer)?;
        Ok(readings.to_string())
    })
}

/// The contents of a scene as JSON.
#[pyfunction]
fn inspect(py: Python<'_>, arguments: Vec<String>) -> PyResult<String> {
    run(py, None, |_| Ok(values::inspect(&arguments)?.to_string()))
}

/// Width, height and RGB in nits (`f32`, by rows from the top).
type Pixels = (usize, usize, Vec<u8>);

/// The metrics of two pictures as JSON; pixels replace the file of the arguments.
#[pyfunction]
fn compare(
    py: Python<'_>,
    arguments: Vec<String>,
    test: Option<Pixels>,
    reference: Option<Pixels>,
) -> PyResult<String> {
    run(py, None, |_| {
        let pictures = [linear_image(test, "test")?, linear_image(reference, "reference")?];
        Ok(values::compare(&arguments, pictures)?.to_string())
    })
}

fn linear_image(pixels: Option<Pixels>, name: &str) -> Result<Option<LinearImage>, CliError> {
    let Some((width, height, bytes)) = pixels else { return Ok(None) };
    let values: Vec<f32> =
        bytes.as_chunks::<4>().0.iter().map(|b| f32::from_ne_bytes(*b)).collect();
    let pixels = values.as_chunks::<3>().0.to_vec();
    let picture = LinearImage::from_nits(width, height, pixels).map_err(|mut error| {
        error.file = name.into();
        error
    })?;
    Ok(Some(picture))
}

/// Name, title and description of each demo scene.
#[pyfunction]
fn demos() -> Vec<(&'static str, &'static str, &'static str)> {
    Demo::ALL.iter().map(|demo| (demo.name, demo.title, demo.about)).collect()
}

/// A picture: layers as (name, height, width, channels, float32 bytes), metadata as JSON, warnings.
type Picture = (Vec<(String, usize, usize, usize, Py<PyBytes>)>, String, Vec<String>);

/// Renders a picture.
#[pyfunction]
#[pyo3(signature = (request, progress = None))]
fn render(
    py: Python<'_>,
    request: picture::Request,
    progress: Option<Py<PyAny>>,
) -> PyResult<Picture> {
    let picture = run(py, progress, |job| picture::render(&request, job))?;
    let [width, height] = picture.size;
    let layers = picture.layers.into_iter().map(|layer| {
        let channels = layer.channels.len();
        let length = width * height * channels * size_of::<f32>();
        let bytes = PyBytes::new_with(py, length, |bytes| {
            let values = layer.pixels.iter().flat_map(|pixel| pixel.iter().take(channels));
            for (bytes, value) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(values) {
                *bytes = value.to_ne_bytes();
            }
            Ok(())
        })?;
        Ok((layer.name.to_owned(), height, width, channels, bytes.unbind()))
    });
    Ok((layers.collect::<PyResult<_>>()?, picture.metadata, picture.warnings))
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("version", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(render, module)?)?;
    module.add_function(wrap_pyfunction!(meter, module)?)?;
    module.add_function(wrap_pyfunction!(inspect, module)?)?;
    module.add_function(wrap_pyfunction!(compare, module)?)?;
    module.add_function(wrap_pyfunction!(demos, module)?)?;
    module.add_function(wrap_pyfunction!(close, module)?)
}
