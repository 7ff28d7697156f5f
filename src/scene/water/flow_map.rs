//! Flow maps: flow velocity and cycle phase over a rectangle.

use std::path::Path;

use glam::{DVec2, Vec2};

use super::{flow, waves};
use crate::image_io::{
    self, Format, ImageError,
    coded_image::{PngOptions, write_png},
};

/// Maximum number of texels along each side of a map.
pub const MAX_SIDE: u32 = 4096;
/// Maximum file size (bytes).
const MAX_BYTES: u64 = 256 << 20;
/// Channel layout, for error messages.
const CHANNELS: &str = "a flow map has the flow along x in red and along z in green";

/// The error of an image; one that lacks channels says which a flow map has.
fn with_channels(error: ImageError) -> String {
    match error {
        ImageError::Gray | ImageError::Channel(_) => format!("{error}; {CHANNELS}"),
        _ => error.to_string(),
    }
}

/// Flow over a rectangle: columns along +x, rows along +z.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowMap {
    width: usize,
    height: usize,
    /// Velocities as fractions of the full speed, components -1 to 1, row by row from minimum z.
    velocity: Vec<Vec2>,
    /// Phases, 0 to 1.
    noise: Vec<f32>,
}

impl FlowMap {
    /// A map with generated phases. Velocities are fractions of the full speed; components are
    /// clamped to -1 to 1. `None` if the sizes do not match or the map is too large.
    #[must_use]
    pub fn new(width: usize, height: usize, velocity: Vec<Vec2>) -> Option<Self> {
        let fits = |side: usize| (1..=MAX_SIDE as usize).contains(&side);
        if !fits(width) || !fits(height) || velocity.len() != width * height {
            return None;
        }
        let velocity = velocity
            .into_iter()
            .map(|v| if v.is_finite() { v.clamp(-Vec2::ONE, Vec2::ONE) } else { Vec2::ZERO })
            .collect();
        Some(Self { width, height, velocity, noise: phases(width, height) })
    }

    /// The same map and phases with other velocities (fractions of the full speed), quantized to
    /// eight bits: writing and reading it is lossless. `None` if their number does not match.
    #[must_use]
    pub fn with_velocities(&self, velocity: Vec<Vec2>) -> Option<Self> {
        if velocity.len() != self.velocity.len() {
            return None;
        }
        let kept = |part: f32| {
            let part = if part.is_finite() { f64::from(part) } else { 0.0 };
            ((f32::from(flow::code(part)) - 128.0) / 127.0).max(-1.0)
        };
        Some(Self {
            velocity: velocity.into_iter().map(|v| Vec2::new(kept(v.x), kept(v.y))).collect(),
            noise: self.noise.iter().map(|phase| (phase * 255.0).round() / 255.0).collect(),
            ..*self
        })
    }

    /// Uniform flow; `direction` has length 1 or 0.
    #[must_use]
    pub fn even(direction: Vec2) -> Self {
        const SIDE: usize = 64;
        Self {
            width: SIDE,
            height: SIDE,
            velocity: vec![direction; SIDE * SIDE],
            noise: phases(SIDE, SIDE),
        }
    }

    /// Texels along x.
    #[must_use]
    pub const fn width(&self) -> usize {
        self.width
    }

    /// Texels along z.
    #[must_use]
    pub const fn height(&self) -> usize {
        self.height
    }

    /// Velocity of a texel, as a fraction of the full speed.
    #[must_use]
    pub fn velocity(&self, x: usize, z: usize) -> Vec2 {
        self.velocity.get(z * self.width + x).copied().unwrap_or_default()
    }

    /// Encodes as 8-bit RGBA: x in red, z in green, 0 in blue, phase in alpha.
    #[must_use]
    pub fn rgba8(&self) -> Vec<u8> {
        let texel = |(v, phase): (&Vec2, &f32)| {
            [flow::code(v.x.into()), flow::code(v.y.into()), 0, (phase * 255.0).round() as u8]
        };
        self.velocity.iter().zip(&self.noise).flat_map(texel).collect()
    }

    /// Reads a map from a file, as `from_bytes`.
    ///
    /// # Errors
    /// A one-line message: the defect and its remedy.
    pub fn read(file: &Path) -> Result<Self, String> {
        Self::from_bytes(&image_io::read_file(file, MAX_BYTES)?)
    }

    /// Decodes a map from the bytes of a file; its signature selects PNG or EXR. PNG codes are 0 at
    /// 128 of 255 (or 32896 of 65535); red and green of EXR are -1 to 1. The alpha channel, if any,
    /// is the phase; otherwise phases are generated.
    ///
    /// # Errors
    /// As `read`.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        match Format::of(bytes).map_err(|error| error.to_string())? {
            Format::Png => Self::from_png(bytes),
            Format::Exr => Self::from_exr(bytes),
            other => Err(format!(
                "it is {} by its first bytes; a flow map must be a PNG or an EXR",
                other.name()
            )),
        }
    }

    fn from_png(bytes: &[u8]) -> Result<Self, String> {
        if let Some(space) = image_io::color_space(bytes) {
            return Err(format!(
                "it declares the color space {space}, but a flow map holds vectors, not colors: save it without a color profile"
            ));
        }
        let ([width, height], has_alpha, texels) =
            image_io::read_rgba16(bytes, &check_size).map_err(with_channels)?;
        // 8-bit codes are scaled by 257.
        let component = |code: u16| ((f32::from(code) - 32896.0) / 32639.0).clamp(-1.0, 1.0);
        let velocity = texels.iter().map(|p| Vec2::new(component(p[0]), component(p[1]))).collect();
        let noise = if has_alpha {
            texels.iter().map(|p| f32::from(p[3]) / 65535.0).collect()
        } else {
            phases(width, height)
        };
        Ok(Self { width, height, velocity, noise })
    }

    fn from_exr(bytes: &[u8]) -> Result<Self, String> {
        let ([width, height], has_alpha, texels) =
            image_io::exr::red_green_alpha(bytes, &check_size).map_err(with_channels)?;
        if let Some(bad) =
            texels.iter().flat_map(|[x, z, _]| [x, z]).find(|v| !(-1.001..=1.001).contains(*v))
        {
            return Err(format!("it holds {bad}; expected fractions of the full speed, -1 to 1"));
        }
        let velocity = texels.iter().map(|[x, z, _]| Vec2::new(*x, *z)).collect();
        let noise = if has_alpha {
            texels
                .iter()
                .map(|[.., a]| if a.is_finite() { a.clamp(0.0, 1.0) } else { 0.0 })
                .collect()
        } else {
            phases(width, height)
        };
        Ok(Self { width, height, velocity, noise })
    }

    /// Encodes the map as PNG.
    ///
    /// # Errors
    /// The message of the encoder.
    pub fn png(&self) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        let options = PngOptions {
            compression: png::Compression::Fast,
            filter: png::Filter::Adaptive,
            is_srgb: false,
            is_opaque: false,
        };
        let size = [self.width as u32, self.height as u32];
        write_png(&mut bytes, size, &self.rgba8(), options).map_err(|error| error.to_string())?;
        Ok(bytes)
    }

    /// Velocity at a position (0 to 1 along x and z) as the device samples it: 8-bit texels,
    /// bilinear.
    #[must_use]
    pub fn at(&self, place: DVec2) -> DVec2 {
        self.between(place, |i| {
            let v = self.velocity.get(i).copied().unwrap_or_default();
            DVec2::new(
                flow::component(flow::code(v.x.into())),
                flow::component(flow::code(v.y.into())),
            )
        })
    }

    /// Phase at a position, sampled in the same way.
    #[must_use]
    pub fn phase_at(&self, place: DVec2) -> f64 {
        let phase = |i: usize| {
            self.noise.get(i).map_or(0.0, |phase| f64::from((phase * 255.0).round()) / 255.0)
        };
        self.between(place, |i| DVec2::splat(phase(i))).x
    }

    fn between(&self, place: DVec2, texel: impl Fn(usize) -> DVec2) -> DVec2 {
        let size = DVec2::new(self.width as f64, self.height as f64);
        let p = (place * size - 0.5).clamp(DVec2::ZERO, size - 1.0);
        let low = p.floor();
        let f = p - low;
        let at = |dx: f64, dz: f64| {
            let at = (low + DVec2::new(dx, dz)).min(size - 1.0);
            texel(at.y as usize * self.width + at.x as usize)
        };
        let row = |dz: f64| at(0.0, dz).lerp(at(1.0, dz), f.x);
        row(0.0).lerp(row(1.0), f.y)
    }
}

fn phases(width: usize, height: usize) -> Vec<f32> {
    let at = |i: usize| {
        let (x, z) = (i % width, i / width);
        waves::phase_noise((x as f32 + 0.5) / width as f32, (z as f32 + 0.5) / height as f32)
    };
    (0..width * height).map(at).collect()
}

fn check_size(width: u64, height: u64) -> Result<(), String> {
    let max = u64::from(MAX_SIDE);
    if !(2..=max).contains(&width) || !(2..=max).contains(&height) {
        return Err(format!(
            "the size is {width}x{height} pixels; a flow map has 2 to {max} on each side"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use exr::prelude as ex;

    use super::*;

    fn png(kind: image::ExtendedColorType, channels: usize, bytes: Option<&[u8]>) -> Vec<u8> {
        let mut out = Vec::new();
        let plain = vec![128; 16 * channels];
        let encoder = image::codecs::png::PngEncoder::new(&mut out);
        image::ImageEncoder::write_image(encoder, bytes.unwrap_or(&plain), 4, 4, kind).unwrap();
        out
    }

    /// The same PNG with a chunk before its pixels. Decoders ignore checksums of ancillary chunks.
    fn with_chunk(png: &[u8], kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
        let mut out = png[..33].to_vec();
        out.extend((data.len() as u32).to_be_bytes());
        out.extend(kind);
        out.extend(data);
        out.extend([0; 4]);
        out.extend(&png[33..]);
        out
    }

    #[test]
    fn a_map_is_read_as_it_was_written() {
        let velocity: Vec<Vec2> =
            (0..24).map(|i| Vec2::new(i as f32 / 24.0, -(i as f32) / 30.0)).collect();
        let map = FlowMap::new(6, 4, velocity).unwrap();
        let read = FlowMap::from_png(&map.png().unwrap()).unwrap();
        assert_eq!((read.width(), read.height()), (6, 4));
        for (a, b) in read.velocity.iter().zip(&map.velocity) {
            assert!((*a - *b).abs().max_element() < 0.5 / 127.0 + 1e-6);
        }
        for (a, b) in read.noise.iter().zip(&map.noise) {
            assert!((a - b).abs() < 0.003);
        }
        // Velocities quantized to eight bits survive unchanged.
        let kept = map.with_velocities(map.velocity.clone()).unwrap();
        assert_eq!(FlowMap::from_png(&kept.png().unwrap()).unwrap(), kept);
        assert!(map.with_velocities(vec![Vec2::ZERO; 3]).is_none());
        // Still water is exactly still: code 128 is zero.
        let still = FlowMap::from_png(&FlowMap::even(Vec2::ZERO).png().unwrap()).unwrap();
        assert!(still.velocity.iter().all(|v| *v == Vec2::ZERO));
        // Two channels of an EXR, and generated phases.
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.exr");
        ex::write_rgb_file(&file, 5, 3, |x, y| (x as f32 / 5.0, -(y as f32) / 3.0, 0.0f32))
            .unwrap();
        let map = FlowMap::read(&file).unwrap();
        assert_eq!((map.width(), map.height()), (5, 3));
        assert!(
            (map.velocity(4, 2) - Vec2::new(0.8, -2.0 / 3.0)).length() < 1e-3,
            "{}",
            map.velocity(4, 2)
        );
        assert_eq!(map.noise.len(), 15);
    }

    #[test]
    fn what_is_no_map_is_refused_by_name() {
        use image::ExtendedColorType::{L8, Rgb8, Rgba8};
        let colors = png(Rgb8, 3, None);
        assert!(FlowMap::from_png(&colors).is_ok());
        assert!(
            FlowMap::from_png(&with_chunk(&colors, b"gAMA", &100_000u32.to_be_bytes())).is_ok()
        );
        for (bytes, named) in [
            (png(L8, 1, None), "gray"),
            (with_chunk(&colors, b"sRGB", &[0]), "sRGB"),
            (with_chunk(&colors, b"gAMA", &45455u32.to_be_bytes()), "gamma"),
            (with_chunk(&colors, b"iCCP", &[0; 20]), "profile"),
            (colors[..40].to_vec(), "damaged"),
            (Vec::new(), "damaged"),
        ] {
            let error = FlowMap::from_png(&bytes).unwrap_err();
            assert!(error.contains(named), "{named}: {error}");
        }
        let mut wide = Vec::new();
        let encoder = image::codecs::png::PngEncoder::new(&mut wide);
        image::ImageEncoder::write_image(encoder, &vec![128; 5000 * 2 * 4], 5000, 2, Rgba8)
            .unwrap();
        assert!(FlowMap::from_png(&wide).unwrap_err().contains("4096"));
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("beyond.exr");
        ex::write_rgb_file(&file, 4, 4, |_, _| (2.0f32, 0.0f32, 0.0f32)).unwrap();
        assert!(FlowMap::read(&file).unwrap_err().contains("-1 to 1"));
        assert!(
            FlowMap::read(&dir.path().join("none.png")).unwrap_err().contains("check the path")
        );
        assert!(FlowMap::read(&dir.path().join("none.jpg")).is_err());
    }

    /// Every truncation and every flipped byte of small files gives a result, never a panic.
    #[test]
    fn damaged_files_are_answered() {
        let whole = FlowMap::new(3, 3, vec![Vec2::ZERO; 9]).unwrap().png().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.exr");
        ex::write_rgb_file(&file, 4, 4, |_, _| (0.0f32, 0.5f32, 0.0f32)).unwrap();
        let exr = fs::read(&file).unwrap();
        for i in 0..whole.len() {
            let _ = FlowMap::from_png(&whole[..i]);
            let mut bent = whole.clone();
            bent[i] ^= 0xff;
            let _ = FlowMap::from_png(&bent);
        }
        for i in 0..exr.len() {
            let mut bent = exr.clone();
            bent[i] ^= 0xff;
            if let Ok(map) = FlowMap::from_bytes(&bent) {
                assert!(map.velocity.iter().all(|v| v.is_finite()));
            }
        }
    }
}
