//! Errors of decoders as one line.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs a decoder and converts a panic to an error: decoders of these formats have panicked on
/// damaged files.
pub(super) fn caught<T>(decode: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
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
pub(super) fn damaged(error: impl ToString) -> String {
    let text = error.to_string();
    format!(
        "{}; it is damaged or uses an unsupported feature; save it again",
        one_line(text.lines().next().unwrap_or_default())
    )
}
