//! Pictures to disk: PNG for displays, 32-bit EXR with named layers in nits. A file appears whole or not at all.

use std::{
    fs::{self, File},
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

use exr::prelude as ex;

/// A picture that could not be written. Nothing is left behind.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {file}: {detail}; choose another place, or make room")]
pub struct OutputError {
    /// The file.
    pub file: String,
    /// Why.
    pub detail: String,
}

/// A file that takes its name when it is complete, and leaves nothing when it is not.
struct Draft {
    target: PathBuf,
    temporary: PathBuf,
}

impl Draft {
    fn oops(target: &Path, detail: impl ToString) -> OutputError {
        OutputError { file: target.display().to_string(), detail: detail.to_string() }
    }

    fn new(target: &Path) -> Result<(Self, BufWriter<File>), OutputError> {
        let name = target.file_name().ok_or_else(|| Self::oops(target, "it names no file"))?;
        if target.is_dir() {
            return Err(Self::oops(target, "it is a directory"));
        }
        let temporary = target.with_file_name(format!(".{}.{}.tmp", name.to_string_lossy(), std::process::id()));
        let file = File::create(&temporary).map_err(|error| Self::oops(target, error))?;
        Ok((Self { target: target.into(), temporary }, BufWriter::new(file)))
    }

    fn finish(self, writer: BufWriter<File>) -> Result<(), OutputError> {
        let oops = |error: std::io::Error| Self::oops(&self.target, error);
        let file = writer.into_inner().map_err(|error| oops(error.into_error()))?;
        // A full disk may show only here.
        file.sync_all().map_err(oops)?;
        drop(file);
        fs::rename(&self.temporary, &self.target).map_err(oops)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // After a rename there is nothing of this name; otherwise the half-written file goes.
        let _ = fs::remove_file(&self.temporary);
    }
}

/// Checks before the work that a file can be made where the picture will go.
///
/// # Errors
/// The place cannot be written.
pub fn check_writable(file: &Path) -> Result<(), OutputError> {
    Draft::new(file).map(drop)
}

/// Writes a text file whole or not at all.
///
/// # Errors
/// The place cannot be written.
pub fn write_text(file: &Path, text: &str) -> Result<(), OutputError> {
    let (draft, mut writer) = Draft::new(file)?;
    writer.write_all(text.as_bytes()).map_err(|error| Draft::oops(file, error))?;
    draft.finish(writer)
}

/// Writes a file whole or not at all, by a function that writes its bytes one after another.
///
/// # Errors
/// The place cannot be written.
pub fn write_with(file: &Path, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<(), OutputError> {
    let (draft, mut writer) = Draft::new(file)?;
    write(&mut writer).map_err(|error| Draft::oops(file, error))?;
    draft.finish(writer)
}

/// Writes display bytes (red, green, blue, alpha) as an sRGB PNG; alpha is left out.
///
/// # Errors
/// The place cannot be written.
pub fn write_png(file: &Path, width: usize, height: usize, rgba: &[u8]) -> Result<(), OutputError> {
    let (draft, mut writer) = Draft::new(file)?;
    let mut png = Vec::new();
    let rgb: Vec<u8> = rgba.chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
    let encoder = image::codecs::png::PngEncoder::new_with_quality(
        &mut png,
        image::codecs::png::CompressionType::Fast,
        image::codecs::png::FilterType::Up,
    );
    image::ImageEncoder::write_image(encoder, &rgb, width as u32, height as u32, image::ExtendedColorType::Rgb8)
        .map_err(|error| Draft::oops(file, error))?;
    let (head, rest) = png.split_at(png.len().min(PNG_HEAD));
    let written = [head, &PNG_IS_SRGB, rest].into_iter().try_for_each(|part| writer.write_all(part));
    written.map_err(|error| Draft::oops(file, error))?;
    draft.finish(writer)
}

/// Bytes of a PNG's signature and its chunk IHDR, which comes first (ISO/IEC 15948, 5.2 and 11.2.2).
const PNG_HEAD: usize = 8 + 25;

/// The chunk sRGB: one byte, the rendering intent, 0 for perceptual, and its check sum (ISO/IEC 15948, 11.3.3.5). Programs that
/// manage colours take a PNG without it as they like.
const PNG_IS_SRGB: [u8; 13] = *b"\0\0\0\x01sRGB\0\xae\xce\x1c\xe9";

/// A named group of float channels of an EXR.
pub struct Layer<'a> {
    /// The layer's name; empty for the picture itself.
    pub name: &'a str,
    /// Names of the channels, such as R, G, B.
    pub channels: &'a [&'a str],
    /// Four floats a pixel, of which the first `channels.len()` are written.
    pub pixels: &'a [[f32; 4]],
}

/// Writes layers as one 32-bit float EXR: channel names are `layer.channel`, as compositors read them.
///
/// `white_luminance` is stored as the attribute of that name: nits that a channel value of 1 stands for.
///
/// # Errors
/// The place cannot be written.
pub fn write_exr(
    file: &Path,
    width: usize,
    height: usize,
    white_luminance: f32,
    layers: &[Layer<'_>],
) -> Result<(), OutputError> {
    let (draft, mut writer) = Draft::new(file)?;
    let mut list = ex::SmallVec::<[ex::AnyChannel<ex::FlatSamples>; 4]>::new();
    for layer in layers {
        for (index, channel) in layer.channels.iter().enumerate() {
            let name = if layer.name.is_empty() { (*channel).to_string() } else { format!("{}.{channel}", layer.name) };
            let samples: Vec<f32> = layer.pixels.iter().map(|pixel| pixel[index]).collect();
            list.push(ex::AnyChannel::new(name.as_str(), ex::FlatSamples::F32(samples)));
        }
    }
    let attributes = ex::LayerAttributes {
        software_name: Some("sunny16".into()),
        white_luminance: Some(white_luminance),
        ..Default::default()
    };
    let layer =
        ex::Layer::new(ex::Vec2(width, height), attributes, ex::Encoding::FAST_LOSSLESS, ex::AnyChannels::sort(list));
    let mut bytes = std::io::Cursor::new(Vec::new());
    ex::WritableImage::write(&ex::Image::from_layer(layer))
        .non_parallel()
        .to_buffered(&mut bytes)
        .map_err(|error| Draft::oops(file, error))?;
    writer.write_all(bytes.get_ref()).map_err(|error| Draft::oops(file, error))?;
    draft.finish(writer)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn an_unwritable_place_is_named_and_nothing_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let error = write_png(&dir.path().join("no/where.png"), 1, 1, &[0; 4]).unwrap_err();
        assert!(error.to_string().contains("where.png"));
        let error = write_png(dir.path(), 1, 1, &[0; 4]).unwrap_err();
        assert!(error.to_string().contains("directory"));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn an_exr_comes_back_bit_for_bit() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.exr");
        let pixels = [[1.0, 2.5, 5729.578, 0.0], [1e-3, 1.4702e9, 0.1, 0.0]];
        let layers = [
            Layer { name: "", channels: &["R", "G", "B"], pixels: &pixels },
            Layer { name: "depth", channels: &["Z"], pixels: &pixels },
        ];
        write_exr(&file, 2, 1, 1.0, &layers).unwrap();
        let image = exr::prelude::read_first_flat_layer_from_file(&file).unwrap();
        let channel = |name: &str| {
            let channel = image.layer_data.channel_data.list.iter().find(|c| c.name.to_string() == name).unwrap();
            channel.sample_data.values_as_f32().collect::<Vec<_>>()
        };
        assert_eq!(channel("B"), [5729.578, 0.1]);
        assert_eq!(channel("G"), [2.5, 1.4702e9]);
        assert_eq!(channel("depth.Z"), [1.0, 1e-3]);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file is left");
    }
}
