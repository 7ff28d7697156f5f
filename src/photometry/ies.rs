//! Photometric files, IES LM-63 of 1986 to 2019 and EULUMDAT: the luminous intensity distribution
//! of a luminaire in candela.
//!
//! ANSI/IESNA LM-63-2002 (and its editions of 1986, 1991, 1995, 2019) for the file, IES LM-75-01
//! for the coordinates; `eulumdat` has the other format. The parser takes bytes and does no I/O;
//! the content, not the file name, selects the format. Files are untrusted: every count is bounded,
//! nothing is allocated before it has been read, and every error states the line and a remedy.
//! Invalid fields that do not affect light give a note, not an error.
//!
//! In the light's space (it emits along -Z, +X to its right, +Y up):
//! - type C (most luminaires): vertical 0 is -Z ("down"), 180 is +Z; horizontal 0 is +X, 90 is +Y,
//!   counter-clockwise seen from +Z. The opening's length lies along X, its width along Y.
//! - type B (floodlights): both angles 0 is -Z; the planes turn around X by the vertical angle,
//!   towards +Y; the horizontal angle is measured from the middle of the plane towards +X.
//! - type A (vehicle lamps): both angles 0 is -Z; the planes turn around Y by the horizontal angle,
//!   towards +X; the vertical angle rises towards +Y.

mod derived;
mod eulumdat;
mod lm63;
mod numbers;
mod profile;
mod table;
mod text;

pub use profile::{
    IesError, IesProfile, IesVersion, MAX_ANGLES, MAX_BYTES, MAX_VALUES, PhotometricType,
    StatedRatios, Symmetry, Tilt,
};

use crate::message::binary_format;

impl IesProfile {
    /// Parses the bytes of a file, IES or EULUMDAT by its content. Accepts UTF-8, Latin-1, UTF-16
    /// and UTF-32 (with a note), and all line endings.
    ///
    /// LM-63-2002. Candela are `value * multiplier * ballast factor`, in editions up to 1995 also
    /// times the ballast-lamp factor, whose field is "future use" in 2002 and the file's type in
    /// 2019.
    ///
    /// # Errors
    /// [`IesError`] with the line of the malformed part. Never panics; memory stays within a small
    /// multiple of the file size.
    pub fn parse(bytes: &[u8]) -> Result<Self, IesError> {
        if bytes.len() > MAX_BYTES {
            return Err(IesError::TooLarge(bytes.len()));
        }
        if let Some(kind) = binary_format(bytes) {
            return Err(IesError::Foreign(kind));
        }
        let mut notes = Vec::new();
        let text = text::decode(bytes, &mut notes).replace("\r\n", "\n").replace('\r', "\n");
        if text.trim_matches(|c: char| c.is_whitespace() || c == '\0' || c == '\u{1a}').is_empty() {
            return Err(IesError::Empty);
        }
        match lm63::TiltLine::find(&text) {
            Some(line) => lm63::parse(&text, line, notes),
            None => match eulumdat::parse(&text, notes) {
                Some(parsed) => parsed.map_err(|error| IesError::Eulumdat(Box::new(error))),
                None => Err(text::markup(&text).map_or(IesError::NoTilt, IesError::Foreign)),
            },
        }
    }
}

#[cfg(test)]
mod tests;
