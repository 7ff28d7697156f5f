//! Picture sizes, and their defaults from the look and the camera.

use std::{ops::RangeInclusive, str::FromStr};

use crate::scene::{Projection, look::CameraLook};

/// Picture size in pixels; parses from `WIDTHxHEIGHT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
}

impl Size {
    /// Number of pixels.
    #[must_use]
    pub fn pixels(self) -> f64 {
        f64::from(self.width) * f64::from(self.height)
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let oops = || {
            format!(
                "invalid size '{text}': expected WIDTHxHEIGHT in pixels, each at least 1, e.g. 640x360"
            )
        };
        let (width, height) = text.split_once(['x', 'X']).ok_or_else(oops)?;
        let side = |text: &str| text.parse::<u32>().ok().filter(|&side| side > 0).ok_or_else(oops);
        Ok(Self { width: side(width)?, height: side(height)? })
    }
}

/// Size of a picture: the look's resolution, else a height of 720 pixels.
pub(super) fn default_size(camera: &CameraLook, projection: &Projection) -> Size {
    if let Some([width, height]) = camera.body.resolution {
        return Size { width, height };
    }
    Size { width: (720.0 * picture_aspect_ratio(camera, projection)).round() as u32, height: 720 }
}

/// Aspect ratio (width / height) of a picture without an explicit size.
pub(super) fn picture_aspect_ratio(camera: &CameraLook, projection: &Projection) -> f32 {
    match camera.body.resolution {
        Some([width, height]) => width as f32 / height as f32,
        None => default_aspect_ratio(camera, projection).clamp(*SHAPES.start(), *SHAPES.end()),
    }
}

/// Range of aspect ratios (width / height) of pictures without an explicit size.
pub(super) const SHAPES: RangeInclusive<f32> = 0.1..=10.0;

/// Aspect ratio (width / height) of the camera.
pub(super) fn default_aspect_ratio(camera: &CameraLook, projection: &Projection) -> f32 {
    let (body, lens) = (&camera.body, &camera.lens);
    let sensor = body.sensor.filter(|_| lens.focal_length.is_some() || lens.prescription.is_some());
    match *projection {
        // With a lens, the picture has the sensor's aspect ratio.
        _ if sensor.is_some() => sensor.map_or(1.0, |sensor| sensor.width / sensor.height) as f32,
        Projection::Perspective { aspect, .. } => aspect.unwrap_or(16.0 / 9.0),
        Projection::Orthographic { half_width, half_height, .. } => half_width / half_height,
    }
}
