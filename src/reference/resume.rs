//! Unfinished films on disk: all sums in full precision, with a fingerprint of their inputs.
//!
//! ```text
//! magic           8 bytes   "S16FILM3"
//! print          16 bytes   of scene, camera, settings and program
//! size            2 x u32   pixels across and down
//! first               u32   number of the first sample
//! looked              u32   } film
//! mean at first       f64   }
//! each tile: done u8, dropped u64, blocks u32; each block: first u32, end u32, and for each pixel
//!                 its sums as f64
//! check          16 bytes   of all before it, the head and each tile one after another
//! ```
//! All numbers are little-endian.

use std::{
    fs,
    io::{self, Read as _},
    path::Path,
};

use super::{
    film::Film,
    film_settings::FilmSettings,
    fingerprint::Fingerprint,
    sample_blocks::{NUMBERS, PixelSums, SampleBlock},
    sample_range::SampleRange,
    tile::Tile,
};
use crate::message::unreadable;

const MAGIC: &[u8; 8] = b"S16FILM3";

/// Bytes before the tiles.
const HEAD: usize = 8 + 16 + 8 + 4 + 4 + 8;

/// Bytes of a tile before its blocks.
const TILE_HEAD: usize = 1 + 8 + 4;

/// Maximum number of blocks of a range of samples.
const MAX_BLOCKS: u32 = 64;

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
        piece.extend_from_slice(&self.first.to_le_bytes());
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
            piece.push(u8::from(tile.converged));
            piece.extend_from_slice(&tile.non_finite_paths.to_le_bytes());
            piece.extend_from_slice(&(tile.blocks.len() as u32).to_le_bytes());
            for block in &tile.blocks {
                piece.extend_from_slice(&block.range.first.to_le_bytes());
                piece.extend_from_slice(&block.range.end.to_le_bytes());
                for number in block.sums.iter().flat_map(PixelSums::numbers) {
                    piece.extend_from_slice(&number.to_le_bytes());
                }
            }
            put(&mut piece)?;
        }
        out.write_all(&check.bytes())
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
        let first = rest.u32().ok_or_else(damaged)?;
        let mut film = Self::starting_at(first, (width, height), settings);
        film.last_error_check = rest.u32().ok_or_else(damaged)?;
        film.mean_at_first_check = rest.f64().ok_or_else(damaged)?;
        let mut check = Fingerprint::default();
        check.add(&head);
        let mut piece = Vec::new();
        let mut more = |piece: &mut Vec<u8>, length: usize| {
            reader.by_ref().take(length as u64).read_to_end(piece).map_err(cannot)
        };
        for tile in &mut film.tiles {
            piece.clear();
            more(&mut piece, TILE_HEAD)?;
            let blocks = tile.fill_head(&mut Bytes(&piece)).ok_or_else(damaged)?;
            let length = blocks as usize * (8 + tile.pixels * NUMBERS * 8);
            more(&mut piece, length)?;
            check.add(&piece);
            let mut rest = Bytes(piece.get(TILE_HEAD..).unwrap_or_default());
            tile.fill(blocks, &mut rest).ok_or_else(damaged)?;
        }
        // One byte more than the check, which would be too many.
        piece.clear();
        more(&mut piece, 17)?;
        if piece != check.bytes() {
            return Err(damaged());
        }
        Ok(film)
    }
}

impl Tile {
    /// Reads what precedes the blocks. Returns their number.
    fn fill_head(&mut self, bytes: &mut Bytes<'_>) -> Option<u32> {
        self.converged = bytes.take::<1>()? == [1];
        self.non_finite_paths = bytes.take().map(u64::from_le_bytes)?;
        bytes.u32().filter(|blocks| *blocks <= MAX_BLOCKS)
    }

    fn fill(&mut self, blocks: u32, bytes: &mut Bytes<'_>) -> Option<()> {
        for _ in 0..blocks {
            let range = SampleRange { first: bytes.u32()?, end: bytes.u32()? };
            let end = self.blocks.last().map_or(0, |block| block.range.end);
            if range.first < end || range.blocks().ne([range]) {
                return None;
            }
            let mut sums = Vec::with_capacity(self.pixels);
            for _ in 0..self.pixels {
                let mut read = [0.0; NUMBERS];
                for number in &mut read {
                    *number = bytes.f64()?;
                }
                sums.push(PixelSums::from_numbers(&read));
            }
            self.append(SampleBlock { range, sums });
        }
        Some(())
    }
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
