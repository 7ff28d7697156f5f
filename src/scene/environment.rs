//! Environment maps from files: equirectangular EXR, Radiance HDR, PNG and JPEG.

use std::path::Path;

use glam::Vec3;

use crate::{
    image_io::{self, DecodedImage, Encoding, ImageError, MAX_FILE, MAX_PIXELS},
    photometry::environment::{MapError, RadianceMap, RowMapping},
};

/// Maximum width of a map in pixels; wider ones are averaged down.
pub const MAX_WIDTH: usize = 4096;

/// An environment map file that cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{file}: {cause}")]
pub struct EnvironmentError {
    /// The file.
    pub file: String,
    /// Cause and remedy.
    pub cause: EnvironmentErrorCause,
}

/// Why a file is no environment map.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EnvironmentErrorCause {
    /// The file cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// The file is not an image that a map can have.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The pixels are not a map.
    #[error(transparent)]
    Map(#[from] MapError),
}

/// An environment map from a file.
#[derive(Clone, Debug)]
pub struct LoadedEnvironment {
    /// The map; a pixel of 1 is 1 nit unless the file states another unit.
    pub map: RadianceMap,
    /// Warnings about how the file was read, one line each.
    pub warnings: Vec<String>,
}

/// Reads an environment map by `image_io`; `sky.exr:LAYER` names the layer of an EXR.
///
/// Invalid values (NaN, infinite, negative) are bounded (`Image::into_bounded_rgb`), with a
/// warning.
///
/// # Errors
/// A file that cannot be read, is no image, is damaged, too large, or not twice as wide as high.
pub fn load(file: &Path) -> Result<LoadedEnvironment, EnvironmentError> {
    let invalid = |cause| EnvironmentError { file: file.display().to_string(), cause };
    let (path, layer) = image_io::split_layer(file);
    let bytes = image_io::read_file(&path, MAX_FILE)
        .map_err(|error| invalid(EnvironmentErrorCause::Unreadable(error)))?;
    let mut image = DecodedImage::decode(&bytes, layer.as_deref(), &check_size)
        .map_err(|error| invalid(error.into()))?;
    let mut warnings = std::mem::take(&mut image.warnings);
    if image.encoding == Encoding::Display {
        warnings.push(
            "a PNG or JPEG is display-referred and clips at white, which is read as 1 nit; environment.lux \
             or environment.scale gives it more, an EXR or HDR file has highlights too"
                .into(),
        );
    }
    let (width, height) = (image.width, image.height);
    let (pixels, bounded) = image.into_bounded_rgb();
    warnings.extend(bounded);
    let texels = pixels.into_iter().map(Vec3::from_array).collect();
    let mut map = RadianceMap::new(width, height, RowMapping::Linear, texels)
        .map_err(|error| invalid(error.into()))?;
    warnings.extend(downsample(&mut map, MAX_WIDTH));
    Ok(LoadedEnvironment { map, warnings })
}

/// Halves a map until it is no wider than `most`; returns a warning if it did.
fn downsample(map: &mut RadianceMap, most: usize) -> Option<String> {
    let (width, height) = (map.width(), map.height());
    while map.width() > most {
        let Some(half) = map.halved() else { break };
        *map = half;
    }
    let narrower = map.width() < width;
    narrower.then(|| {
        format!(
            "{width}x{height} pixels are averaged down to {}x{}, the maximum",
            map.width(),
            map.height()
        )
    })
}

/// Checks that a map has 2x2 to `MAX_PIXELS` pixels and is twice as wide as high.
fn check_size(width: u64, height: u64) -> Result<(), String> {
    let fits = width.checked_mul(height).is_some_and(|pixels| pixels <= MAX_PIXELS);
    if !fits || width < 2 || height < 2 {
        return Err(format!(
            "{width}x{height} pixels; expected 2x2 to {MAX_PIXELS} pixels, such as 8192x4096"
        ));
    }
    // Tolerance for maps that repeat or omit a column.
    if (width as f64 / height as f64 - 2.0).abs() > 0.05 {
        return Err(format!(
            "{width}x{height} pixels are not twice as wide as high; expected an equirectangular map (latitude and longitude)"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use exr::prelude as ex;

    use super::*;

    fn hdr(width: usize, height: usize) -> Vec<u8> {
        let mut bytes =
            format!("#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y {height} +X {width}\n").into_bytes();
        for y in 0..height {
            for _ in 0..width {
                // 128/256 * 2^(e - 128): 2^y in red.
                bytes.extend([128, 0, 0, 129 + y as u8]);
            }
        }
        bytes
    }

    #[test]
    fn pixels_are_nits_and_the_top_is_up() {
        let dir = tempfile::tempdir().unwrap();
        // The format is detected by content, not by name.
        for name in ["a.hdr", "a.exr", "a"] {
            let file = dir.path().join(name);
            fs::write(&file, hdr(4, 2)).unwrap();
            let LoadedEnvironment { map, warnings } = load(&file).unwrap();
            assert_eq!((map.width(), map.height()), (4, 2));
            assert_eq!((map.texels()[0].x, map.texels()[4].x), (1.0, 2.0));
            assert!(warnings.is_empty(), "{warnings:?}");
        }
        let exr = dir.path().join("b.exr");
        let value = |x: usize, y: usize| (x as f32, y as f32, if x == 1 { f32::NAN } else { -1.0 });
        ex::write_rgb_file(&exr, 8, 4, value).unwrap();
        let LoadedEnvironment { map, warnings } = load(&exr).unwrap();
        assert_eq!(map.texels()[8 * 3 + 5], Vec3::new(5.0, 3.0, 0.0));
        assert_eq!(map.texels()[1].z, 0.0);
        assert!(warnings.len() == 1 && warnings[0].contains("4 NaN"), "{warnings:?}");
        assert_eq!(load(&dir.path().join("b.exr:")).unwrap().map, map);
        let layerless = load(&dir.path().join("b.exr:sky")).unwrap_err();
        assert!(
            matches!(&layerless.cause, EnvironmentErrorCause::Image(ImageError::Layer(text))
            if text.contains("'sky'")),
            "{layerless}"
        );
    }

    #[test]
    fn one_overflow_does_not_outshine_a_sky() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("sky.exr");
        let f16 = half::f16::from_f32;
        let value = |x: usize, y: usize| {
            let nits = f16(if (x, y) == (40, 20) { f32::INFINITY } else { 100.0 });
            (nits, nits, nits)
        };
        ex::write_rgb_file(&file, 512, 256, value).unwrap();
        let LoadedEnvironment { map, warnings } = load(&file).unwrap();
        // An even sky of 100 nits gives 100 pi lx; one texel of 65504 nits adds its solid angle.
        let added = 65_404.0 * map.texel_solid_angle(20) * map.texel_direction(40, 20).y;
        let wanted = 100.0 * std::f64::consts::PI + added;
        assert!((map.illuminance().get() / wanted - 1.0).abs() < 1e-4, "{:?}", map.illuminance());
        assert!(warnings[0].contains("1 infinite, counted as 65504 nits"), "{warnings:?}");
    }

    #[test]
    fn wide_maps_are_downsampled_with_a_warning() {
        let texels = (0..16 * 8).map(|i| Vec3::splat((i % 16) as f32)).collect();
        let mut map = RadianceMap::new(16, 8, RowMapping::Linear, texels).unwrap();
        assert_eq!(downsample(&mut map, 16), None);
        let told = downsample(&mut map, 4).unwrap();
        assert!(told.contains("16x8") && told.contains("4x2"), "{told}");
        assert_eq!((map.width(), map.texels()[0].x), (4, 1.5));
    }

    #[test]
    fn display_referred_image_gives_a_warning() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.hdr");
        image::RgbImage::from_pixel(8, 4, image::Rgb([255, 188, 0]))
            .save_with_format(&file, image::ImageFormat::Png)
            .unwrap();
        let LoadedEnvironment { map, warnings } = load(&file).unwrap();
        assert!(
            (map.texels()[9] - Vec3::new(1.0, 0.5029, 0.0)).length() < 1e-3,
            "{}",
            map.texels()[9]
        );
        assert!(warnings.len() == 1 && warnings[0].contains("environment.lux"), "{warnings:?}");
    }

    #[test]
    fn what_is_no_map_is_refused_with_a_remedy() {
        let dir = tempfile::tempdir().unwrap();
        let whole = hdr(64, 32);
        let huge = b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 2000000 +X 4000000\n".to_vec();
        let refused = |name: &str, bytes: Vec<u8>| {
            let file = dir.path().join(name);
            fs::write(&file, bytes).unwrap();
            let error = load(&file).unwrap_err();
            assert!(error.file.ends_with(name), "{error}");
            match error.cause {
                EnvironmentErrorCause::Image(cause) => cause,
                other => panic!("{name}: {other:?}"),
            }
        };
        for (name, bytes) in [
            ("none.hdr", Vec::new()),
            ("text.hdr", b"hello".to_vec()),
            ("page.exr", b"<!DOCTYPE html><title>404</title>".to_vec()),
            ("a.tif", b"II\x2a\0\x08\0\0\0".to_vec()),
        ] {
            assert!(matches!(refused(name, bytes), ImageError::Format(_)), "{name}");
        }
        let cut = refused("cut.hdr", whole[..whole.len() / 2].to_vec());
        assert!(matches!(cut, ImageError::Truncated(_)), "{cut}");
        for (name, bytes, limit) in [
            ("huge.hdr", huge, "expected 2x2"),
            ("thin.hdr", hdr(2, 1), "expected 2x2"),
            ("square.hdr", hdr(8, 8), "twice as wide"),
        ] {
            let size = refused(name, bytes);
            assert!(matches!(&size, ImageError::Size(text) if text.contains(limit)), "{size}");
        }
        let missing = load(&dir.path().join("missing.hdr")).unwrap_err();
        assert!(matches!(missing.cause, EnvironmentErrorCause::Unreadable(_)), "{missing}");
        assert!(load(dir.path()).is_err());
    }
}
