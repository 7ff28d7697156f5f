//! Detection of file formats by their first bytes.

use std::path::Path;

use super::{
    error_text::{ImageError, one_line},
    radiance_hdr,
};
use crate::message::{format_name, unreadable};

/// A supported image format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// OpenEXR.
    Exr,
    /// Radiance HDR: RGBE or XYZE.
    Radiance,
    /// PNG.
    Png,
    /// JPEG.
    Jpeg,
}

const READ: &str = "supported: EXR, Radiance HDR, PNG and JPEG";

impl Format {
    /// Detects the format from a file's bytes.
    ///
    /// # Errors
    /// `ImageError::Format`: what the bytes are instead, and the remedy.
    pub fn of(bytes: &[u8]) -> Result<Self, ImageError> {
        if bytes.starts_with(&[0x76, 0x2f, 0x31, 0x01]) {
            Ok(Self::Exr)
        } else if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
            Ok(Self::Png)
        } else if bytes.starts_with(&[0xff, 0xd8, 0xff]) {
            Ok(Self::Jpeg)
        } else if radiance_hdr::is(bytes) {
            Ok(Self::Radiance)
        } else {
            Err(ImageError::Format(instead(bytes)))
        }
    }

    /// Detects the format of a file.
    ///
    /// # Errors
    /// As `of`, or why the file cannot be read.
    pub fn of_file(path: &Path) -> Result<Self, String> {
        use std::io::Read as _;
        let mut start = Vec::new();
        // Before the file is opened: opening a pipe would block until a writer opens it.
        let metadata = std::fs::metadata(path).map_err(|error| unreadable(&error))?;
        if !metadata.is_file() {
            return Err("it is not a regular file; give an image file".into());
        }
        let file = std::fs::File::open(path).map_err(|error| unreadable(&error))?;
        file.take(radiance_hdr::MAX_HEADER as u64)
            .read_to_end(&mut start)
            .map_err(|error| unreadable(&error))?;
        Self::of(&start).map_err(|error| error.to_string())
    }

    /// Display name of the format.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exr => "EXR",
            Self::Radiance => "Radiance HDR",
            Self::Png => "PNG",
            Self::Jpeg => "JPEG",
        }
    }
}

/// Describes bytes of no supported format.
fn instead(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "it is empty (0 bytes): writing or downloading it did not finish".into();
    }
    let starts = |text: &str| {
        bytes.len() >= text.len() && bytes[..text.len()].eq_ignore_ascii_case(text.as_bytes())
    };
    if starts("version https://git-lfs") {
        return "it is a Git LFS pointer, not the file itself; fetch it with 'git lfs pull'".into();
    }
    if starts("../") && text(bytes).is_some_and(|text| text.contains(".git/annex")) {
        return "it is a git-annex pointer, not the file itself; fetch it with 'git annex get'"
            .into();
    }
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return "it is text in UTF-16, not an image: an editor or a shell has converted it, which \
            destroys the pixels; use the original"
            .into();
    }
    if bytes.starts_with(&[0xef, 0xbf, 0xbd]) {
        return "its bytes were converted to text, which destroys the pixels; use the original"
            .into();
    }
    if let Some(what) = format_name(bytes) {
        return format!("it is {what}, by its first bytes; {READ}");
    }
    if bytes.iter().take(4096).all(|byte| *byte == 0) {
        return "it begins with zeros only: writing or downloading it did not finish".into();
    }
    let Some(text) = text(bytes) else {
        let first: Vec<String> = bytes.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
        return format!("unknown format (first bytes {}); {READ}", first.join(" "));
    };
    let start = text.trim_start_matches('\u{feff}').trim_start().to_ascii_lowercase();
    if ["<!doctype html", "<html", "<head", "<body"].iter().any(|tag| start.starts_with(tag)) {
        "it is a web page (HTML) under this name: the server returned a page; download the file \
         itself"
            .into()
    } else if start.starts_with("<svg") {
        format!("it is an SVG, by its first bytes; {READ}")
    } else if start.starts_with('<') {
        "it is XML, not an image; the server may have returned an error message".into()
    } else if start.starts_with('{') || start.starts_with('[') {
        "it is JSON, not an image; the server may have returned an error message".into()
    } else {
        let line = text.trim_start().lines().next().unwrap_or_default();
        let line: String = line.chars().take(40).collect();
        format!("it is text that begins with '{}', not an image; {READ}", one_line(&line))
    }
}

/// The start of the bytes as text, if it is text.
fn text(bytes: &[u8]) -> Option<&str> {
    let start = bytes.get(..512).unwrap_or(bytes);
    let text = match std::str::from_utf8(start) {
        Ok(text) => text,
        // The excerpt ends within a character.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&start[..error.valid_up_to()]).ok()?
        }
        Err(_) => return None,
    };
    text.chars().all(|c| !c.is_control() || c.is_ascii_whitespace()).then_some(text)
}
