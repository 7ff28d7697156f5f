//! Errors of decoders, each one line.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Why bytes are not an acceptable image. The text is one line: the cause and its remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    /// Another kind of file.
    #[error("{0}")]
    Format(String),
    /// The file ends early.
    #[error("{0}")]
    Truncated(String),
    /// The width and height are outside of the limits.
    #[error("{0}")]
    Size(String),
    /// The layer is missing, is not an image, or must be chosen.
    #[error("{0}")]
    Layer(String),
    /// A channel is missing.
    #[error("{0}")]
    Channel(String),
    /// The image has no colors.
    #[error("it is gray")]
    Gray,
    /// A feature of the format that is not supported.
    #[error("{0}")]
    Unsupported(String),
    /// Bytes that contradict the format.
    #[error("{0}")]
    Damaged(String),
}

/// Runs a decoder and converts a panic to an error: decoders of these formats have panicked on
/// damaged files.
pub(super) fn caught<T>(decode: impl FnOnce() -> Result<T, ImageError>) -> Result<T, ImageError> {
    catch_unwind(AssertUnwindSafe(decode)).unwrap_or_else(|_| Err(damaged("the decoder failed")))
}

/// Text from a file, made safe for one line: no control characters, limited length.
#[must_use]
pub fn one_line(text: &str) -> String {
    let mut line: String =
        text.chars().take(200).map(|c| if c.is_control() { '?' } else { c }).collect();
    if text.chars().nth(200).is_some() {
        line.push_str("...");
    }
    line
}

/// A decoder's error as one line with a remedy.
pub(super) fn damaged(error: impl ToString) -> ImageError {
    let text = error.to_string();
    ImageError::Damaged(format!(
        "{}; it is damaged or uses an unsupported feature; save it again",
        one_line(text.lines().next().unwrap_or_default())
    ))
}
