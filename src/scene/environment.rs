//! Environment maps from files: Radiance .hdr and OpenEXR, equirectangular.

use std::{fs::File, io::BufReader, path::Path};

use exr::prelude::{self as ex, ReadChannels as _, ReadLayers as _};
use glam::Vec3;
use image::ImageDecoder as _;

use crate::photometry::environment::{RadianceMap, Rows};

/// The largest file that is read (bytes).
pub const MAX_FILE: u64 = 1 << 30;
/// The most pixels that a file may have: 8192x4096.
pub const MAX_PIXELS: u64 = 1 << 25;
/// The widest map that is kept; wider ones are averaged down.
pub const MAX_WIDTH: usize = 4096;

/// An environment map that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {detail}")]
pub struct EnvironmentError {
    /// The file.
    pub file: String,
    /// Why, and what helps.
    pub detail: String,
}

/// Reads an environment map; a pixel of 1 is 1 nit. Negative values and NaN count as 0.
///
/// # Errors
/// A file that cannot be read, is no .hdr or .exr, is damaged, too large, or not twice as wide as high.
pub fn load(file: &Path) -> Result<RadianceMap, EnvironmentError> {
    let oops = |detail: String| EnvironmentError { file: file.display().to_string(), detail };
    let metadata = std::fs::metadata(file).map_err(|error| oops(format!("{error}; check the path")))?;
    if !metadata.is_file() {
        return Err(oops("it is no file".into()));
    }
    if metadata.len() > MAX_FILE {
        return Err(oops(format!("{} bytes are more than an environment map may have ({MAX_FILE})", metadata.len())));
    }
    let ending = file.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default();
    let (width, height, texels) = match ending.as_str() {
        "hdr" | "pic" | "rgbe" => read_hdr(file),
        "exr" => read_exr(file),
        _ => Err("its name ends neither in .hdr nor in .exr; convert it to one of these".into()),
    }
    .map_err(oops)?;
    let mut map = RadianceMap::new(width, height, Rows::Linear, texels).map_err(|error| oops(error.to_string()))?;
    while map.width() > MAX_WIDTH {
        let Some(half) = map.halved() else { break };
        map = half;
    }
    Ok(map)
}

type Pixels = (usize, usize, Vec<Vec3>);

fn check_size(width: u64, height: u64) -> Result<(usize, usize), String> {
    let fits = width.checked_mul(height).is_some_and(|pixels| pixels <= MAX_PIXELS);
    if !fits || width < 2 || height < 2 {
        return Err(format!("{width}x{height} pixels; a map may have 2x2 to {MAX_PIXELS} pixels, such as 8192x4096"));
    }
    // A little slack for maps that repeat a column or leave one out.
    if (width as f64 / height as f64 - 2.0).abs() > 0.05 {
        return Err(format!(
            "{width}x{height} pixels are not twice as wide as high; the map must be equirectangular (latitude and longitude)"
        ));
    }
    Ok((width as usize, height as usize))
}

fn read_hdr(file: &Path) -> Result<Pixels, String> {
    let reader = BufReader::new(File::open(file).map_err(|error| error.to_string())?);
    let decoder = image::codecs::hdr::HdrDecoder::new(reader).map_err(|error| damaged(&error))?;
    let metadata = decoder.metadata();
    let (width, height) = check_size(u64::from(metadata.width), u64::from(metadata.height))?;
    let exposure = metadata.exposure.filter(|exposure| exposure.is_normal() && *exposure > 0.0).unwrap_or(1.0);
    let mut bytes = vec![0; width * height * 12];
    decoder.read_image(&mut bytes).map_err(|error| damaged(&error))?;
    let float = |four: &[u8]| four.try_into().map_or(0.0, f32::from_ne_bytes);
    let texels = bytes
        .chunks_exact(12)
        // Radiance's EXPOSURE has been multiplied into the pixels (Ward, "Real Pixels", 1991).
        .map(|pixel| Vec3::new(float(&pixel[0..4]), float(&pixel[4..8]), float(&pixel[8..12])) / exposure)
        .collect();
    Ok((width, height, texels))
}

fn read_exr(file: &Path) -> Result<Pixels, String> {
    let meta = ex::MetaData::read_from_file(file, false).map_err(|error| damaged(&error))?;
    let header = meta.headers.first().ok_or("it has no picture in it")?;
    let (width, height) = check_size(header.layer_size.0 as u64, header.layer_size.1 as u64)?;
    if let Some(other) = meta.headers.iter().find(|header| header.layer_size.area() as u64 > MAX_PIXELS) {
        check_size(other.layer_size.0 as u64, other.layer_size.1 as u64)?;
    }
    let picture = ex::read()
        .no_deep_data()
        .largest_resolution_level()
        .rgb_channels(
            |size: ex::Vec2<usize>, _: &ex::RgbChannels| (size.0, vec![Vec3::ZERO; size.area()]),
            |(across, pixels): &mut (usize, Vec<Vec3>), at: ex::Vec2<usize>, (r, g, b): (f32, f32, f32)| {
                if let Some(pixel) = pixels.get_mut(at.y() * *across + at.x()) {
                    *pixel = Vec3::new(r, g, b);
                }
            },
        )
        .first_valid_layer()
        .all_attributes()
        .non_parallel()
        .from_file(file)
        .map_err(|error| damaged(&error))?;
    let (across, pixels) = picture.layer_data.channel_data.pixels;
    if across != width || pixels.len() != width * height {
        return Err("its first picture has no red, green and blue; save it as an RGB picture".into());
    }
    Ok((width, height, pixels))
}

fn damaged(error: &impl ToString) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    format!("{line}; it is damaged or uses what is not supported; save it again, an EXR with ZIP")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs;

    use super::*;

    fn hdr(width: usize, height: usize) -> Vec<u8> {
        let mut bytes = format!("#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y {height} +X {width}\n").into_bytes();
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
        let file = dir.path().join("a.hdr");
        fs::write(&file, hdr(4, 2)).unwrap();
        let map = load(&file).unwrap();
        assert_eq!((map.width(), map.height()), (4, 2));
        assert!((map.texels()[0].x - 1.0).abs() < 0.01 && (map.texels()[4].x - 2.0).abs() < 0.02, "{:?}", map.texels());
        let exr = dir.path().join("a.exr");
        let value = |x: usize, y: usize| (x as f32, y as f32, if x == 1 { f32::NAN } else { -1.0 });
        ex::write_rgb_file(&exr, 8, 4, value).unwrap();
        let map = load(&exr).unwrap();
        assert_eq!(map.texels()[8 * 3 + 5], Vec3::new(5.0, 3.0, 0.0));
        assert_eq!(map.texels()[1].z, 0.0);
    }

    #[test]
    fn what_is_no_map_is_refused_with_a_remedy() {
        let dir = tempfile::tempdir().unwrap();
        let whole = hdr(64, 32);
        let cases: [(&str, Vec<u8>, &str); 8] = [
            ("none.hdr", Vec::new(), "damaged"),
            ("text.hdr", b"hello".to_vec(), "damaged"),
            ("cut.hdr", whole[..whole.len() / 2].to_vec(), "damaged"),
            ("huge.hdr", b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 2000000 +X 4000000\n".to_vec(), "may have"),
            ("square.hdr", hdr(8, 8), "twice as wide"),
            ("none.exr", Vec::new(), "damaged"),
            ("text.exr", b"hello, this is no picture".to_vec(), "damaged"),
            ("a.png", b"hello".to_vec(), ".exr"),
        ];
        for (name, bytes, want) in cases {
            let file = dir.path().join(name);
            fs::write(&file, bytes).unwrap();
            let error = load(&file).unwrap_err().to_string();
            assert!(error.contains(want) && error.contains(name), "{name}: {error}");
        }
        assert!(load(&dir.path().join("missing.hdr")).unwrap_err().to_string().contains("check the path"));
        assert!(load(dir.path()).is_err());
    }

    /// Every cut and many flipped bytes of small files: an answer, never a panic.
    #[test]
    fn damaged_files_are_answered() {
        let dir = tempfile::tempdir().unwrap();
        let exr = dir.path().join("a.exr");
        ex::write_rgb_file(&exr, 8, 4, |x, y| (x as f32, y as f32, 1.0f32)).unwrap();
        for (name, whole) in [("b.hdr", hdr(16, 8)), ("b.exr", fs::read(&exr).unwrap())] {
            let file = dir.path().join(name);
            for i in 0..whole.len() {
                if i % 7 == 0 {
                    fs::write(&file, &whole[..i]).unwrap();
                    let _ = load(&file);
                }
                let mut bent = whole.clone();
                bent[i] ^= 0xff;
                fs::write(&file, bent).unwrap();
                if let Ok(map) = load(&file) {
                    assert!(map.texels().iter().all(|texel| texel.is_finite()));
                }
            }
        }
    }
}
