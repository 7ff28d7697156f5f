//! Injected faults: tests ask for a driver error at a named object and see what becomes of it.

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
    /// Submitting a frame; the object's name is the frame's.
    Submit,
    /// Waiting for a frame.
    Wait,
}

/// One fault: when `point` is reached for an object whose name contains `name`, the call fails with
/// `result`.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The call.
    pub point: FaultPoint,
    /// A part of the object's name; empty matches all.
    pub name: String,
    /// The driver's pretended answer.
    pub result: vk::Result,
}

impl Fault {
    /// Reads `POINT[:NAME]=ERROR`, e.g. `image:depth=out-of-device-memory`, as the environment
    /// variable `SUNNY16_FAULT` holds it (for tests of the program as a whole).
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
