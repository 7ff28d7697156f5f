//! Unfinished films on disk: all sums in full precision, with a fingerprint of their inputs.
//!
//! ```text
//! magic           8 bytes   "S16FILM2"
//! print          16 bytes   of scene, camera, settings and program
//! size            2 x u32   pixels across and down
//! looked              u32   } film
//! mean at first       f64   }
//! each tile: count u32, done u8, dropped u64, and for each pixel its sums as f64
//! check          16 bytes   of all before it, the head and each tile one after another
//! ```
//! All numbers are little-endian.

use std::{
    fs,
    io::{self, Read as _},
    path::Path,
};

use glam::DVec3;

use super::{
    film::Film,
    film_settings::FilmSettings,
    fingerprint::Fingerprint,
    light_components::{LIGHT_COMPONENTS, LightComponents},
    tile::{PixelSums, Tile},
};
use crate::message::unreadable;

const MAGIC: &[u8; 8] = b"S16FILM2";

/// Bytes before the tiles.
const HEAD: usize = 8 + 16 + 8 + 4 + 8;

/// Numbers per pixel.
const NUMBERS: usize = LIGHT_COMPONENTS * 3 + 7;

/// Error of resuming an unfinished picture. The file is left unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {cause}")]
pub struct ResumeError {
    /// Path of the file.
    pub file: String,
    /// Error in the file.
    pub cause: ResumeErrorCause,
}

/// Why an unfinished picture cannot be continued.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResumeErrorCause {
    /// The operating system does not give the file's bytes.
    #[error("{0}; leave out --resume to start over, which replaces the file")]
    Unreadable(String),
    /// Another kind of file.
    #[error(
        "it is not an unfinished picture of this program; leave out --resume to start over, which replaces the file"
    )]
    OtherFormat,
    /// Bytes are missing or wrong.
    #[error(
        "the unfinished picture is damaged; leave out --resume to start over, which replaces the file"
    )]
    Damaged,
    /// A picture of another size.
    #[error(
        "it holds a picture of {}x{} pixels; expected {}x{}; use the original size, or leave out --resume to start over",
        found.0, found.1, expected.0, expected.1
    )]
    Size {
        /// Width and height in the file, in pixels.
        found: (usize, usize),
        /// Requested width and height, in pixels.
        expected: (usize, usize),
    },
    /// A picture of another scene or with other settings.
    #[error(
        "it was started with another scene, camera, setting or program version; use the original ones, or leave out --resume to start over"
    )]
    OtherInputs,
}

impl Film {
    /// Writes the film to a file; `print` is the fingerprint of its inputs.
    ///
    /// # Errors
    /// Errors of the writer.
    pub fn write(&self, print: &Fingerprint, out: &mut dyn io::Write) -> io::Result<()> {
        let (width, height) = self.size();
        let mut check = Fingerprint::default();
        let mut piece = Vec::with_capacity(HEAD);
        piece.extend_from_slice(MAGIC);
        piece.extend_from_slice(&print.bytes());
        piece.extend_from_slice(&(width as u32).to_le_bytes());
        piece.extend_from_slice(&(height as u32).to_le_bytes());
        piece.extend_from_slice(&self.last_error_check.to_le_bytes());
        piece.extend_from_slice(&self.mean_at_first_check.to_le_bytes());
        let mut put = |piece: &mut Vec<u8>| {
            check.add(piece);
            let result = out.write_all(piece);
            piece.clear();
            result
        };
        put(&mut piece)?;
        for tile in &self.tiles {
            piece.extend_from_slice(&tile.count.to_le_bytes());
            piece.push(u8::from(tile.converged));
            piece.extend_from_slice(&tile.non_finite_paths.to_le_bytes());
            for number in tile.sums.iter().flat_map(numbers) {
                piece.extend_from_slice(&number.to_le_bytes());
            }
            put(&mut piece)?;
        }
        out.write_all(&check.bytes())
    }

    /// Length of such a file in bytes.
    fn length(&self) -> usize {
        HEAD + self.tiles.iter().map(tile_length).sum::<usize>() + 16
    }

    /// Reads an unfinished film; its size and fingerprint must match the arguments.
    ///
    /// # Errors
    /// [`ResumeError`]: the file cannot be read, has another format, is damaged, or belongs to
    /// another picture.
    pub fn read(
        file: &Path,
        (width, height): (usize, usize),
        settings: FilmSettings,
        print: &Fingerprint,
    ) -> Result<Self, ResumeError> {
        let invalid = |cause| ResumeError { file: file.display().to_string(), cause };
        let cannot = |error: io::Error| invalid(ResumeErrorCause::Unreadable(unreadable(&error)));
        let damaged = || invalid(ResumeErrorCause::Damaged);
        let opened = fs::File::open(file).map_err(cannot)?;
        let length = opened.metadata().map_err(cannot)?.len();
        let mut reader = io::BufReader::new(opened);
        let mut head = Vec::with_capacity(HEAD);
        reader.by_ref().take(HEAD as u64).read_to_end(&mut head).map_err(cannot)?;
        if head.get(..8) != Some(MAGIC) {
            return Err(invalid(ResumeErrorCause::OtherFormat));
        }
        let mut rest = Bytes(head.get(8..).unwrap_or_default());
        let of = rest.take::<16>().ok_or_else(damaged)?;
        let (found, expected) = (
            (rest.u32().ok_or_else(damaged)? as usize, rest.u32().ok_or_else(damaged)? as usize),
            (width, height),
        );
        if found != expected {
            return Err(invalid(ResumeErrorCause::Size { found, expected }));
        }
        if of != print.bytes() {
            return Err(invalid(ResumeErrorCause::OtherInputs));
        }
        let mut film = Self::new(width, height, settings);
        if length != film.length() as u64 {
            return Err(damaged());
        }
        film.last_error_check = rest.u32().ok_or_else(damaged)?;
        film.mean_at_first_check = rest.f64().ok_or_else(damaged)?;
        let mut check = Fingerprint::default();
        check.add(&head);
        let mut piece = Vec::new();
        for tile in &mut film.tiles {
            piece.clear();
            reader
                .by_ref()
                .take(tile_length(tile) as u64)
                .read_to_end(&mut piece)
                .map_err(cannot)?;
            check.add(&piece);
            tile.fill(&mut Bytes(&piece)).ok_or_else(damaged)?;
        }
        let mut found = [0; 16];
        reader.read_exact(&mut found).map_err(cannot)?;
        if found != check.bytes() {
            return Err(damaged());
        }
        Ok(film)
    }
}

/// Bytes of a tile in a file.
fn tile_length(tile: &Tile) -> usize {
    13 + tile.sums.len() * NUMBERS * 8
}

impl Tile {
    fn fill(&mut self, bytes: &mut Bytes<'_>) -> Option<()> {
        self.count = bytes.u32()?;
        self.converged = bytes.take::<1>()? == [1];
        self.non_finite_paths = bytes.take().map(u64::from_le_bytes)?;
        for sum in &mut self.sums {
            let mut read = [0.0; NUMBERS];
            for number in &mut read {
                *number = bytes.f64()?;
            }
            *sum = from_numbers(&read)?;
        }
        Some(())
    }
}

fn numbers(sum: &PixelSums) -> [f64; NUMBERS] {
    let mut out = [0.0; NUMBERS];
    for (slot, part) in out.chunks_exact_mut(3).zip(sum.parts.to_array()) {
        slot.copy_from_slice(&part.to_array());
    }
    let [r, g, b] = sum.parts.unlit.to_array();
    out[LIGHT_COMPONENTS * 3..].copy_from_slice(&[
        r,
        g,
        b,
        sum.luminance,
        sum.squares,
        sum.luminance_at_power_of_two,
        sum.half_difference,
    ]);
    out
}

fn from_numbers(numbers: &[f64; NUMBERS]) -> Option<PixelSums> {
    let parts =
        std::array::from_fn(|i| DVec3::new(numbers[i * 3], numbers[i * 3 + 1], numbers[i * 3 + 2]));
    let [r, g, b, luminance, squares, mark, halves] = *numbers.last_chunk::<7>()?;
    let parts =
        LightComponents { unlit: DVec3::new(r, g, b), ..LightComponents::from_array(parts) };
    Some(PixelSums {
        parts,
        luminance,
        squares,
        luminance_at_power_of_two: mark,
        half_difference: halves,
    })
}

/// Reads little-endian numbers from a byte slice; `None` at its end.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn f64(&mut self) -> Option<f64> {
        self.take().map(f64::from_le_bytes)
    }
}
