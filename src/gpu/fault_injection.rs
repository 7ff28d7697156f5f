//! Fault injection: makes a Vulkan call on a named object fail, for tests.

use ash::vk;

/// A call that can be made to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultPoint {
    /// Creating a buffer.
    Buffer,
    /// Creating an image.
    Image,
    /// Creating a pipeline.
    Pipeline,
    /// Submission of a frame; the object's name is the frame's.
    Submit,
    /// Waiting for a frame.
    Wait,
}

/// A fault: calls at `point` on objects whose name contains `name` fail with `result`.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The call that fails.
    pub point: FaultPoint,
    /// A part of the object's name; empty matches all.
    pub name: String,
    /// The result code that the call returns.
    pub result: vk::Result,
}

impl Fault {
    /// Parses `POINT[:NAME]=ERROR`, e.g. `image:depth=out-of-device-memory`, from the environment
    /// variable `SUNNY16_FAULT` (for tests of the whole program).
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (place, result) = text.split_once('=')?;
        let (point, name) = place.split_once(':').unwrap_or((place, ""));
        let point = match point {
            "buffer" => FaultPoint::Buffer,
            "image" => FaultPoint::Image,
            "pipeline" => FaultPoint::Pipeline,
            "submit" => FaultPoint::Submit,
            "wait" => FaultPoint::Wait,
            _ => return None,
        };
        let result = match result {
            "out-of-device-memory" => vk::Result::ERROR_OUT_OF_DEVICE_MEMORY,
            "out-of-host-memory" => vk::Result::ERROR_OUT_OF_HOST_MEMORY,
            "device-lost" => vk::Result::ERROR_DEVICE_LOST,
            "initialization-failed" => vk::Result::ERROR_INITIALIZATION_FAILED,
            _ => return None,
        };
        Some(Self { point, name: name.into(), result })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read_from_text() {
        let fault = Fault::parse("image:gbuffer normal=device-lost");
        assert!(
            matches!(fault, Some(Fault { point: FaultPoint::Image, ref name, result: vk::Result::ERROR_DEVICE_LOST })
            if name == "gbuffer normal")
        );
        assert!(Fault::parse("image").is_none());
        assert!(Fault::parse("nowhere=device-lost").is_none());
    }
}
