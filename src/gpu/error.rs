//! Typed device errors with one-line messages that name the remedy.

use ash::vk;

/// A failure of the driver, the device or its memory.
#[derive(Clone, Debug, thiserror::Error)]
pub enum GpuError {
    /// No Vulkan loader library was found.
    #[error(
        "no Vulkan loader found ({detail}); install it: apt install libvulkan1 mesa-vulkan-drivers"
    )]
    NoLoader {
        /// The dynamic linker's message.
        detail: String,
    },
    /// The loader found no driver, or no driver provides a device.
    #[error(
        "no Vulkan device found; install a driver (software: apt install mesa-vulkan-drivers) and run `sunny16 doctor`"
    )]
    NoDevice,
    /// `--device` matches no device.
    #[error("no Vulkan device matches '{wanted}'; available: {found}")]
    NoSuchDevice {
        /// The value of `--device`.
        wanted: String,
        /// Names of the present devices.
        found: String,
    },
    /// The chosen device lacks required features.
    #[error(
        "device '{device}' cannot be used: {missing}; choose another with --device or update its driver"
    )]
    Unsuitable {
        /// Name of the device.
        device: String,
        /// Missing features, joined by commas.
        missing: String,
    },
    /// Validation was requested, but its layer is not installed.
    #[error(
        "validation was requested, but VK_LAYER_KHRONOS_validation is not installed; install it: \
         apt install vulkan-validationlayers"
    )]
    NoValidationLayer,
    /// The device cannot present to the window.
    #[error("cannot present to a window: {detail}")]
    NoWindow {
        /// The reason.
        detail: String,
    },
    /// Memory is exhausted.
    #[error(
        "out of {memory} memory for '{what}' ({bytes} bytes); use a smaller --size or a simpler scene"
    )]
    OutOfMemory {
        /// Name of the object.
        what: String,
        /// `device` or `host`.
        memory: &'static str,
        /// Requested bytes; 0 if unknown.
        bytes: u64,
    },
    /// The device was lost.
    #[error("the device was lost during {during}{}; update the driver or choose another --device", after(.last_pass))]
    DeviceLost {
        /// The call that reported it.
        during: String,
        /// The last pass that had begun, if the crash marker recorded it.
        last_pass: Option<String>,
    },
    /// A request exceeds a limit of the device.
    #[error("{what} is {requested}, but '{device}' allows {limit}; {remedy}")]
    TooLarge {
        /// The object that is too large.
        what: String,
        /// Requested size.
        requested: String,
        /// Maximum size.
        limit: String,
        /// Name of the device.
        device: String,
        /// The remedy for the user.
        remedy: &'static str,
    },
    /// The frame was interrupted ([`super::Interrupt`]).
    #[error("the frame was interrupted")]
    Interrupted,
    /// A shader does not match the code that uses it, or the driver rejected a pipeline.
    #[error("pipeline '{pipeline}': {detail}")]
    Pipeline {
        /// Name of the pipeline.
        pipeline: String,
        /// The mismatch or the driver's error.
        detail: String,
    },
    /// The driver rejected a pipeline.
    #[error(
        "{call} failed for pipeline '{pipeline}' (shaders {shaders}): {result}; update the driver, or choose another --device"
    )]
    PipelineRejected {
        /// Name of the Vulkan function.
        call: &'static str,
        /// Name of the pipeline, with the features that it is specialized for.
        pipeline: String,
        /// File names of the shaders, with their variants.
        shaders: String,
        /// The driver's result code.
        result: vk::Result,
    },
    /// Any other failure of a Vulkan call.
    #[error(
        "{call} failed for '{what}': {result}; run `sunny16 doctor` and report this with its output"
    )]
    Vulkan {
        /// Name of the Vulkan function.
        call: &'static str,
        /// Name of the object.
        what: String,
        /// The result code.
        result: vk::Result,
    },
}

fn after(last_pass: &Option<String>) -> String {
    last_pass.as_ref().map_or_else(String::new, |pass| format!(" (last pass begun: '{pass}')"))
}

impl GpuError {
    /// Converts the result code of a failed call on a named object.
    #[must_use]
    pub fn from_vk(call: &'static str, what: &str, result: vk::Result) -> Self {
        match result {
            vk::Result::ERROR_OUT_OF_DEVICE_MEMORY => {
                Self::OutOfMemory { what: what.into(), memory: "device", bytes: 0 }
            }
            vk::Result::ERROR_OUT_OF_HOST_MEMORY => {
                Self::OutOfMemory { what: what.into(), memory: "host", bytes: 0 }
            }
            vk::Result::ERROR_DEVICE_LOST => {
                Self::DeviceLost { during: format!("{call} of '{what}'"), last_pass: None }
            }
            _ => Self::Vulkan { call, what: what.into(), result },
        }
    }
}

/// Result of device operations.
pub type GpuResult<T> = Result<T, GpuError>;
