//! What can go wrong on the device, as typed errors whose one line names the remedy.

use ash::vk;

/// A failure of the driver, the device or its memory.
#[derive(Clone, Debug, thiserror::Error)]
pub enum GpuError {
    /// No Vulkan loader library on this machine.
    #[error(
        "no Vulkan loader found ({detail}); install it: apt install libvulkan1 mesa-vulkan-drivers"
    )]
    NoLoader {
        /// The dynamic linker's message.
        detail: String,
    },
    /// The loader found no driver, or no driver offers a device.
    #[error(
        "no Vulkan device found; install a driver (software: apt install mesa-vulkan-drivers) and run `sunny16 doctor`"
    )]
    NoDevice,
    /// `--device` names a device that is not there.
    #[error("no Vulkan device matches '{wanted}'; there are: {found}")]
    NoSuchDevice {
        /// As the user wrote it.
        wanted: String,
        /// The names of those present.
        found: String,
    },
    /// The chosen device lacks what the renderer is built on.
    #[error(
        "device '{device}' cannot be used: {missing}; choose another with --device or update its driver"
    )]
    Unsuitable {
        /// The device's name.
        device: String,
        /// What it lacks, joined by commas.
        missing: String,
    },
    /// Validation was asked for and its layer is not installed.
    #[error(
        "validation was asked for, but VK_LAYER_KHRONOS_validation is not installed: apt install vulkan-validationlayers"
    )]
    NoValidationLayer,
    /// No pictures can be shown in the window.
    #[error("no picture can be shown in a window: {detail}")]
    NoWindow {
        /// Why.
        detail: String,
    },
    /// Memory ran out.
    #[error(
        "out of {memory} memory for '{what}' ({bytes} bytes); use a smaller --size or a simpler scene"
    )]
    OutOfMemory {
        /// The object's name.
        what: String,
        /// `device` or `host`.
        memory: &'static str,
        /// How much was asked for, 0 where unknown.
        bytes: u64,
    },
    /// The device stopped working.
    #[error("the device was lost during {during}{}; update the driver, or try --device with another", after(.last_pass))]
    DeviceLost {
        /// The call that reported it.
        during: String,
        /// The last pass that had begun on the device, where the crash marker tells.
        last_pass: Option<String>,
    },
    /// Something exceeds a limit of the device.
    #[error("{what} is {requested}, but '{device}' allows {limit}; {remedy}")]
    TooLarge {
        /// What is too large.
        what: String,
        /// How large it was asked for.
        requested: String,
        /// How large it may be.
        limit: String,
        /// The device's name.
        device: String,
        /// What to do.
        remedy: &'static str,
    },
    /// A shader and the code that uses it disagree, or the driver refused a pipeline.
    #[error("pipeline '{pipeline}': {detail}")]
    Pipeline {
        /// The pipeline's name.
        pipeline: String,
        /// What is wrong.
        detail: String,
    },
    /// Any other failure of a Vulkan call.
    #[error(
        "{call} failed for '{what}': {result}; run `sunny16 doctor` and report this with its output"
    )]
    Vulkan {
        /// The call.
        call: &'static str,
        /// The object's name.
        what: String,
        /// The driver's answer.
        result: vk::Result,
    },
}

fn after(last_pass: &Option<String>) -> String {
    last_pass.as_ref().map_or_else(String::new, |pass| format!(" (last pass begun: '{pass}')"))
}

impl GpuError {
    /// The error for a failed call on a named object.
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

/// Shorthand for results of this room.
pub type GpuResult<T> = Result<T, GpuError>;
