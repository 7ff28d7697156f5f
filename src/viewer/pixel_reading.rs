//! Meter readings of the pixel under the pointer: rounded in the status line, exact with Ctrl+C.

use std::fmt;

use glam::{DVec2, DVec3, Vec3};

use super::{
    engine::RenderedFrame,
    pointer::{Pointer, SurfacePoint},
};
use crate::{
    camera::{Exposure, metering},
    photometry::{Lux, Nit, color},
};

/// All readings of a pixel.
///
/// Its text is one line of `NAME=VALUE` with full precision. Three channels or coordinates are
/// separated by commas. Missing readings are omitted.
#[derive(Clone, Debug, PartialEq)]
pub struct PixelReading {
    /// The pixel, from the upper left.
    pub pixel: [usize; 2],
    /// Width and height of the picture in pixels.
    pub size: [usize; 2],
    /// Accumulated frames and their target; 0 accumulated while the picture answers an older
    /// request.
    pub frames: [u32; 2],
    /// Luminance of the channels (nit).
    pub nits: [f32; 3],
    /// Photometric luminance of the pixel.
    pub luminance: Nit,
    /// Reading of a one-pixel spot meter (EV100); none if black.
    pub ev100: Option<f64>,
    /// Adams's zone, 0 to 10, by the exposure of the picture.
    pub zone: f64,
    /// The channels times the exposure: 1 is where the sensor saturates.
    pub exposed: [f64; 3],
    /// Displayed codes (sRGB, 8 bits).
    pub display_rgb: [u8; 3],
    /// The surface there: position (m, world) and normal.
    pub surface: Option<SurfacePoint>,
    /// The last reading of incident light, at any position.
    pub incident: Option<Lux>,
}

impl PixelReading {
    /// Reads the pixel under the pointer; none outside of the picture.
    #[must_use]
    pub fn of(finished: &RenderedFrame, pointer: &Pointer) -> Option<Self> {
        let picture = &finished.image;
        let size = [picture.width, picture.height];
        let pixel = pixel_of(pointer.image_position?, size);
        let index = pixel[1] * picture.width + pixel[0];
        let nits = *picture.nits.get(index)?;
        let &[r, g, b] = picture.display.get(index * 4..index * 4 + 3)? else { return None };
        let luminance = Nit(color::luminance(Vec3::from_array(nits).as_dvec3()));
        Some(Self {
            pixel,
            size,
            frames: finished.samples,
            nits,
            luminance,
            ev100: Exposure::from_luminance(luminance).ok().map(|exposure| exposure.ev100().get()),
            zone: metering::zone(luminance, picture.exposure),
            exposed: nits.map(|nits| f64::from(nits) * picture.exposure.multiplier()),
            display_rgb: [r, g, b],
            surface: pointer.surface,
            incident: pointer.incident.as_ref().map(|incident| incident.lux),
        })
    }
}

impl fmt::Display for PixelReading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([x, y], [width, height], [have, of]) = (self.pixel, self.size, self.frames);
        let ([r, g, b], [er, eg, eb], [sr, sg, sb]) = (self.nits, self.exposed, self.display_rgb);
        write!(
            f,
            "x={x} y={y} size={width}x{height} frames={have}/{of} nit={}",
            self.luminance.get()
        )?;
        if let Some(ev100) = self.ev100 {
            write!(f, " ev100={ev100}")?;
        }
        write!(
            f,
            " zone={} rgb_nit={r},{g},{b} exposed={er},{eg},{eb} shown={sr},{sg},{sb}",
            self.zone
        )?;
        if let Some(SurfacePoint { point, normal }) = self.surface {
            for (name, DVec3 { x, y, z }) in [("point", point), ("normal", normal)] {
                write!(f, " {name}={x},{y},{z}")?;
            }
        }
        if let Some(lux) = self.incident {
            write!(f, " lux={}", lux.get())?;
        }
        Ok(())
    }
}

/// The pixel at a position in the picture (0 to 1 each).
pub(super) fn pixel_of(place: DVec2, size: [usize; 2]) -> [usize; 2] {
    let side =
        |part: f64, count: usize| ((part * count as f64) as usize).min(count.saturating_sub(1));
    [side(place.x, size[0]), side(place.y, size[1])]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_holds_every_digit() {
        let nits = [12.345_678f32, 0.1, 1e-7];
        let mut reading = PixelReading {
            pixel: [3, 4],
            size: [16, 9],
            frames: [8, 8],
            nits,
            luminance: Nit(2.7),
            ev100: Some(4.431),
            zone: 5.25,
            exposed: [0.1, 0.2, 0.3],
            display_rgb: [1, 2, 255],
            surface: Some(SurfacePoint { point: DVec3::new(0.1, -2.0, 1e-3), normal: DVec3::Y }),
            incident: Some(Lux(120.5)),
        };
        let line = reading.to_string();
        assert_eq!(
            line,
            "x=3 y=4 size=16x9 frames=8/8 nit=2.7 ev100=4.431 zone=5.25 rgb_nit=12.345678,0.1,0.0000001 exposed=0.1,0.2,0.3 \
             shown=1,2,255 point=0.1,-2,0.001 normal=0,1,0 lux=120.5"
        );
        let rgb = line.split(' ').find_map(|part| part.strip_prefix("rgb_nit=")).unwrap();
        let read: Vec<f32> = rgb.split(',').map(|value| value.parse().unwrap()).collect();
        assert_eq!(read, nits, "to the bit");
        (reading.ev100, reading.surface, reading.incident) = (None, None, None);
        let line = reading.to_string();
        assert!(
            !line.contains("ev100") && !line.contains("point") && !line.contains("lux"),
            "{line}"
        );
    }
}
