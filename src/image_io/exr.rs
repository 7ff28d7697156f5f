//! OpenEXR: selection of the image's channels, and their samples in the display window.
//!
//! Terms and format follow "OpenEXR File Layout", "Technical Introduction to OpenEXR" and "Standard
//! attributes" (openexr.com): parts, layers (the prefix before a channel's last dot), data window
//! and display window. The crate `exr` decodes attributes and compressed blocks. This module
//! locates the chunks itself, so that other parts, including deep ones, do not matter. It allocates
//! no more than the file's length can justify.

mod layers;

use std::io::Cursor;

use ::exr::{
    block::{
        UncompressedBlock,
        chunk::{
            Chunk, CompressedBlock, CompressedScanLineBlock, CompressedTileBlock, TileCoordinates,
        },
    },
    compression::Compression,
    error::Error,
    math::Vec2,
    meta::{
        BlockDescription, MetaData,
        attribute::{AttributeValue, EnvironmentMap, SampleType, Text},
        header::Header,
    },
};
use glam::DVec3;
use half::f16;

use self::layers::{Content, DEEP, Group, groups, listed, named, unnamed};
use super::{
    chromaticity::Primaries,
    decoded_image::{DecodedImage, Encoding, Texels},
    error_text::{ImageError, caught, damaged, one_line},
    limits::{MAX_PIXELS, SizeCheck},
    render_metadata,
};
use crate::photometry::color::{D65, REC709_PRIMARIES};

/// Maximum number of parts; each may claim memory for its tables.
const MAX_PARTS: usize = 1024;
/// Maximum size in bytes of a decompressed block: the largest image as one tile of ten 32-bit
/// channels.
const MAX_BLOCK: usize = 40 * MAX_PIXELS as usize;
/// Reads a layer of an EXR; without one the unnamed layer or a conventional main layer.
pub(super) fn read(
    bytes: &[u8],
    layer: Option<&str>,
    check: SizeCheck<'_>,
) -> Result<DecodedImage, ImageError> {
    let file = Exr::open(bytes)?;
    let groups = file.groups();
    let (group, warning) = match layer {
        Some(layer) => (named(&groups, layer)?, None),
        None => unnamed(&groups)?,
    };
    let (Some(content), Some(header)) = (group.content, file.meta.headers.get(group.part)) else {
        return Err(ImageError::Layer("it has no image".into()));
    };
    let wanted = content.channels();
    let half = wanted
        .iter()
        .all(|at| header.channels.list.get(*at).is_some_and(|c| c.sample_type == SampleType::F16));
    let shared = header.shared_attributes.clone();
    let white = header.own_attributes.white_luminance;
    let metadata = match header.own_attributes.other.get(&Text::from(render_metadata::NAME)) {
        Some(AttributeValue::Text(text)) => Some(text.as_slice().to_vec()),
        _ => None,
    };
    let canvas = file.canvas(group.part, wanted.map(Some), check)?;
    let mut image = DecodedImage::plain(canvas.size, canvas.pixels, Encoding::Scene);
    image.half = half;
    metadata.iter().for_each(|text| image.read_metadata(text));
    image.warnings.extend(warning);
    image.notes.extend(canvas.note);
    // Vectors and data have no primaries.
    let primaries = shared.chromaticities.map(|c| {
        let f = f64::from;
        let numbers =
            [c.red.0, c.red.1, c.green.0, c.green.1, c.blue.0, c.blue.1, c.white.0, c.white.1];
        Primaries::new(numbers.map(f))
    });
    if let Content::Chroma(_) = content {
        let own = primaries.unwrap_or(Primaries { rgb: REC709_PRIMARIES, white: D65 });
        rgb_from_chroma(&mut image.pixels, own.luminance_weights());
    }
    if let (Some(primaries), Content::Color(_) | Content::Chroma(_)) = (primaries, content) {
        image.convert(primaries, "the attribute chromaticities");
    }
    // "whiteLuminance: the luminance, in nits, of the RGB value (1,1,1)" (OpenEXR, "Standard
    // attributes").
    if let Some(white) = white {
        if white.is_normal() && white > 0.0 {
            if (white - 1.0).abs() > 1e-6 {
                image.scale = DVec3::splat(f64::from(white));
                image.notes.push(format!(
                    "values multiplied by {white} nits (the attribute \
                        whiteLuminance)"
                ));
            }
        } else {
            image.warnings.push(format!("invalid attribute whiteLuminance {white}, counted as 1"));
        }
    }
    Ok(image)
}

/// Converts luminance and chroma to RGB: R = (RY + 1) Y, B = (BY + 1) Y, and G from the rest of the
/// luminance ("Technical Introduction to OpenEXR", "Luminance/Chroma Images").
fn rgb_from_chroma(pixels: &mut [[f32; 3]], [wr, wg, wb]: [f64; 3]) {
    for pixel in pixels {
        let [y, ry, by] = pixel.map(f64::from);
        let (r, b) = ((ry + 1.0) * y, (by + 1.0) * y);
        *pixel = [r as f32, ((y - r * wr - b * wb) / wg) as f32, b as f32];
    }
}

/// Reads red, green and alpha as stored, for vector maps, which have no color space. Returns the
/// size, whether alpha exists, and one `[red, green, alpha]` per pixel; all are 0 outside of the
/// data window.
///
/// # Errors
/// One line: why the file cannot be read.
pub fn red_green_alpha(bytes: &[u8], check: SizeCheck<'_>) -> Result<Texels<[f32; 3]>, ImageError> {
    caught(|| {
        let file = Exr::open(bytes)?;
        let groups = file.groups();
        let flat = |group: &&Group| !group.deep;
        let both = |group: &&Group| {
            group.find(&["R", "red"]).is_some() && group.find(&["G", "green"]).is_some()
        };
        let mut usable = groups.iter().filter(flat).filter(both);
        let first = usable.next();
        let group = (groups.iter().filter(flat).filter(both).find(|group| group.layer.is_empty()))
            .or(first);
        let Some(group) = group else {
            let group = groups
                .iter()
                .find(flat)
                .ok_or_else(|| ImageError::Layer("it has no picture in it".into()))?;
            let lacks = if group.find(&["R", "red"]).is_none() { "R" } else { "G" };
            let found = listed(group.channels.iter().map(|(name, _)| name.clone()));
            let text = format!("it has no channel {lacks} (it has {found})");
            return Err(ImageError::Channel(text));
        };
        let alpha = group.find(&["A", "alpha"]);
        let wanted = [group.find(&["R", "red"]), group.find(&["G", "green"]), alpha];
        let canvas = file.canvas(group.part, wanted, check)?;
        Ok((canvas.size, alpha.is_some(), canvas.pixels))
    })
}

/// A file with decoded headers.
struct Exr<'a> {
    bytes: &'a [u8],
    meta: MetaData,
    /// Offset of the chunk tables in bytes.
    tables: usize,
}

impl<'a> Exr<'a> {
    fn open(bytes: &'a [u8]) -> Result<Self, ImageError> {
        let mut cursor = Cursor::new(bytes);
        let meta =
            MetaData::read_from_buffered(&mut cursor, false).map_err(|error| cause(&error))?;
        if meta.headers.is_empty() || meta.headers.len() > MAX_PARTS {
            let text = format!("{} parts; expected 1 to {MAX_PARTS}", meta.headers.len());
            return Err(ImageError::Size(text));
        }
        let tables = usize::try_from(cursor.position()).map_err(damaged)?;
        Ok(Self { bytes, meta, tables })
    }

    fn groups(&self) -> Vec<Group> {
        self.meta
            .headers
            .iter()
            .enumerate()
            .flat_map(|(part, header)| groups(part, header))
            .collect()
    }

    /// Reads channels of a part into the display window.
    fn canvas(
        mut self,
        part: usize,
        wanted: [Option<usize>; 3],
        check: SizeCheck<'_>,
    ) -> Result<Canvas, ImageError> {
        let header = self
            .meta
            .headers
            .get(part)
            .ok_or_else(|| ImageError::Layer("it has no such part".into()))?
            .clone();
        if header.deep {
            return Err(ImageError::Unsupported(DEEP.into()));
        }
        if matches!(header.compression, Compression::HTJ2K32 | Compression::HTJ2K256) {
            let text = "its compression HTJ2K is not supported; save it with ZIP";
            return Err(ImageError::Unsupported(text.into()));
        }
        let display = header.shared_attributes.display_window.size;
        let cube = header.own_attributes.environment_map == Some(EnvironmentMap::Cube);
        check(display.0 as u64, display.1 as u64).map_err(|error| {
            ImageError::Size(match cube {
                true => {
                    format!(
                        "{error}; it is a cube map by its attribute envmap: save it as a lat-long \
                    map"
                    )
                }
                false => error,
            })
        })?;
        let data = header.layer_size;
        if data.0.checked_mul(data.1).is_none_or(|pixels| pixels as u64 > MAX_PIXELS || pixels == 0)
        {
            return Err(ImageError::Size(format!(
                "its data window has {}x{} pixels; expected 1 to {MAX_PIXELS} in total",
                data.0, data.1
            )));
        }
        check_sampling(&header)?;
        let count = level_blocks(&header);
        let chunks = self.chunks(part, count)?;
        let truncated = |found: usize| {
            ImageError::Truncated(format!(
                "it is truncated: {found} of {count} blocks of pixels are present; get the \
                 complete file"
            ))
        };
        if chunks.len() < count {
            return Err(truncated(chunks.len()));
        }
        // Upper bound of the decompressed size, from each compression's maximum ratio.
        let stored: usize = chunks.iter().map(|chunk| chunk.size).sum();
        let needed = header.channels.list.iter().map(|channel| {
            let samples = data.0 / channel.sampling.0 * (data.1 / channel.sampling.1);
            samples * channel.sample_type.bytes_per_sample()
        });
        if stored.saturating_mul(max_expansion(header.compression)) < needed.sum() {
            return Err(truncated(0));
        }
        let mut canvas = Canvas::new(&header, [display.0, display.1])?;
        let mut come = vec![false; count];
        for chunk in chunks {
            let (index, block) = self.block(part, &chunk)?;
            if let Some(come) = come.get_mut(index) {
                *come = true;
            }
            canvas.put(&block, &header, wanted)?;
        }
        let found = come.iter().filter(|come| **come).count();
        if found < count {
            return Err(truncated(found));
        }
        canvas.fill_subsampled(&header, wanted);
        Ok(canvas)
    }

    /// Locates the blocks of a part's largest level.
    fn chunks(&self, part: usize, count: usize) -> Result<Vec<Place>, ImageError> {
        let length = |headers: &[Header]| -> Option<usize> {
            headers
                .iter()
                .try_fold(0usize, |sum, header| sum.checked_add(header.chunk_count))?
                .checked_mul(8)
        };
        let (before, all) =
            (self.meta.headers.get(..part).and_then(length), length(&self.meta.headers));
        let (Some(before), Some(all)) = (before, all) else {
            return Err(damaged("its chunk tables have an invalid size"));
        };
        let end = self.tables.saturating_add(all);
        if end > self.bytes.len() {
            return Err(ImageError::Truncated(format!(
                "it is truncated: its table of chunks ends at byte {end}, the file at {}; get the \
                 complete file",
                self.bytes.len()
            )));
        }
        // The largest level comes first in the chunk table.
        let table = self.bytes.get(self.tables + before..).unwrap_or_default();
        let places: Option<Vec<Place>> = (table.chunks_exact(8).take(count))
            .map(|entry| {
                let at = usize::try_from(u64::from_le_bytes(entry.try_into().ok()?)).ok()?;
                self.place(at).filter(|place| at >= end && place.part == part && place.is_largest())
            })
            .collect();
        if let Some(places) = places {
            return Ok(places);
        }
        // The table is unwritten or wrong: scans the chunks in file order.
        let mut places = Vec::new();
        let mut at = end;
        // One chunk more than the header states shows that they do not match it.
        while places.len() <= count
            && let Some(place) = self.place(at)
        {
            at = place.start + place.size;
            if place.part == part && place.is_largest() {
                places.push(place);
            }
        }
        Ok(places)
    }

    /// Parses the chunk at an offset; `None` if there is none or it is truncated.
    fn place(&self, at: usize) -> Option<Place> {
        let mut rest = self.bytes.get(at..)?;
        let number = |rest: &mut &[u8]| -> Option<i32> {
            let (bytes, after) = rest.split_first_chunk::<4>()?;
            *rest = after;
            Some(i32::from_le_bytes(*bytes))
        };
        let size = |rest: &mut &[u8]| -> Option<usize> {
            let (bytes, after) = rest.split_first_chunk::<8>()?;
            *rest = after;
            usize::try_from(u64::from_le_bytes(*bytes)).ok()
        };
        let part = if self.meta.requirements.has_multiple_layers { number(&mut rest)? } else { 0 };
        let part = usize::try_from(part).ok()?;
        let header = self.meta.headers.get(part)?;
        let coordinates = match header.blocks {
            BlockDescription::ScanLines => Coordinates::Line(number(&mut rest)?),
            BlockDescription::Tiles(_) => {
                let mut next = || number(&mut rest).and_then(|number| usize::try_from(number).ok());
                let (x, y, level_x, level_y) = (next()?, next()?, next()?, next()?);
                Coordinates::Tile { tile: [x, y], level: [level_x, level_y] }
            }
        };
        let size = if header.deep {
            let (table, packed, _) = (size(&mut rest)?, size(&mut rest)?, size(&mut rest)?);
            table.checked_add(packed)?
        } else {
            usize::try_from(number(&mut rest)?).ok()?
        };
        let start = self.bytes.len() - rest.len();
        (size <= rest.len()).then_some(Place { part, coordinates, start, size })
    }

    /// Decompresses a block; returns its index within the level and its samples.
    fn block(
        &mut self,
        part: usize,
        place: &Place,
    ) -> Result<(usize, UncompressedBlock), ImageError> {
        let data =
            self.bytes.get(place.start..place.start + place.size).unwrap_or_default().to_vec();
        let compressed_block = match place.coordinates {
            Coordinates::Line(y_coordinate) => CompressedBlock::ScanLine(CompressedScanLineBlock {
                y_coordinate,
                compressed_pixels_le: data,
            }),
            Coordinates::Tile { tile, level } => CompressedBlock::Tile(CompressedTileBlock {
                coordinates: TileCoordinates {
                    tile_index: Vec2(tile[0], tile[1]),
                    level_index: Vec2(level[0], level[1]),
                },
                compressed_pixels_le: data,
            }),
        };
        let header = self
            .meta
            .headers
            .get_mut(part)
            .ok_or_else(|| ImageError::Layer("it has no such part".into()))?;
        let at = header.get_block_data_indices(&compressed_block).map_err(|error| cause(&error))?;
        let bounds =
            header.get_absolute_block_pixel_coordinates(at).map_err(|error| cause(&error))?;
        let index = match header.blocks {
            BlockDescription::ScanLines => at.tile_index.1,
            BlockDescription::Tiles(tiles) => {
                at.tile_index.1 * header.layer_size.0.div_ceil(tiles.tile_size.0) + at.tile_index.0
            }
        };
        let rows = |sampling: usize| {
            let start = bounds.position.1.max(0) as usize;
            (start + bounds.size.1).div_ceil(sampling) - start.div_ceil(sampling)
        };
        let bytes: usize = (header.channels.list.iter())
            .map(|c| {
                rows(c.sampling.1)
                    * (bounds.size.0 / c.sampling.0)
                    * c.sample_type.bytes_per_sample()
            })
            .sum();
        let area = bounds.size.0 * bounds.size.1;
        if bytes > MAX_BLOCK {
            return Err(ImageError::Size(format!(
                "a block of {bytes} bytes exceeds the limit of {MAX_BLOCK}; save it in smaller \
                 tiles"
            )));
        }
        // The decoder assumes equal bytes per pixel in all blocks, which subsampled channels
        // violate.
        if area == 0 || !bytes.is_multiple_of(area) {
            let text = "the subsampling of its channels is not supported; save it as an RGB image";
            return Err(ImageError::Unsupported(text.into()));
        }
        header.channels.bytes_per_pixel = bytes / area;
        let chunk = Chunk { layer_index: part, compressed_block };
        let block = UncompressedBlock::decompress_chunk(chunk, &self.meta, false)
            .map_err(|error| cause(&error))?;
        if block.data.len() != bytes {
            return Err(damaged(format!(
                "a block has {} bytes, expected {bytes}",
                block.data.len()
            )));
        }
        Ok((index, block))
    }
}

/// Location of a chunk in the file.
struct Place {
    part: usize,
    coordinates: Coordinates,
    /// Offset of its first compressed byte.
    start: usize,
    size: usize,
}

#[derive(Clone, Copy)]
enum Coordinates {
    /// Y coordinate of its first row.
    Line(i32),
    Tile {
        tile: [usize; 2],
        level: [usize; 2],
    },
}

impl Place {
    const fn is_largest(&self) -> bool {
        match self.coordinates {
            Coordinates::Line(_) => true,
            Coordinates::Tile { level, .. } => level[0] == 0 && level[1] == 0,
        }
    }
}

/// Number of blocks of the largest level.
fn level_blocks(header: &Header) -> usize {
    match header.blocks {
        BlockDescription::ScanLines => {
            header.layer_size.1.div_ceil(header.compression.scan_lines_per_block())
        }
        BlockDescription::Tiles(tiles) => {
            let [across, down] = [tiles.tile_size.0.max(1), tiles.tile_size.1.max(1)];
            header.layer_size.0.div_ceil(across) * header.layer_size.1.div_ceil(down)
        }
    }
}

/// Upper bound of the expansion of one compressed byte: deflate 1032, runs 64, Huffman runs of PIZ
/// 512, both combined in DWA.
const fn max_expansion(compression: Compression) -> usize {
    match compression {
        Compression::Uncompressed => 1,
        Compression::RLE => 128,
        Compression::B44 | Compression::B44A => 16,
        Compression::DWAA(_) | Compression::DWAB(_) => 1 << 20,
        _ => 1 << 12,
    }
}

/// Checks subsampling: whole samples only, in scan lines ("OpenEXR File Layout", "Channel list").
fn check_sampling(header: &Header) -> Result<(), ImageError> {
    let position = header.own_attributes.layer_position;
    for channel in &header.channels.list {
        let Vec2(x, y) = channel.sampling;
        if (x, y) == (1, 1) {
            continue;
        }
        let (Ok(sx), Ok(sy)) = (i32::try_from(x), i32::try_from(y)) else {
            return Err(damaged("a sampling rate"));
        };
        let whole = sx > 0
            && sy > 0
            && header.layer_size.0.is_multiple_of(x)
            && header.layer_size.1.is_multiple_of(y)
            && position.0 % sx == 0
            && position.1 % sy == 0;
        if !whole || header.blocks != BlockDescription::ScanLines {
            return Err(damaged(format!(
                "a channel is sampled every {x}x{y} pixels, which its window does not allow"
            )));
        }
        if matches!(header.compression, Compression::B44 | Compression::B44A) {
            let text =
                "subsampled channels with B44 compression are not supported; save it with ZIP";
            return Err(ImageError::Unsupported(text.into()));
        }
    }
    Ok(())
}

/// The display window while it is filled.
struct Canvas {
    size: [usize; 2],
    /// Position of the data window's first pixel in the display window.
    offset: [i64; 2],
    pixels: Vec<[f32; 3]>,
    /// Note on the placement, if the windows differ.
    note: Option<String>,
}

impl Canvas {
    fn new(header: &Header, size: [usize; 2]) -> Result<Self, ImageError> {
        let [width, height] = size;
        let display = header.shared_attributes.display_window;
        let (at, data) = (header.own_attributes.layer_position, header.layer_size);
        let offset = [
            i64::from(at.0) - i64::from(display.position.0),
            i64::from(at.1) - i64::from(display.position.1),
        ];
        let meets = |offset: i64, data: usize, display: usize| {
            offset < display as i64 && offset + data as i64 > 0
        };
        if !meets(offset[0], data.0, width) || !meets(offset[1], data.1, height) {
            let text =
                "its data window lies outside of its display window; save it with equal windows";
            return Err(ImageError::Size(text.into()));
        }
        let note = (offset != [0, 0] || data != Vec2(width, height)).then(|| {
            format!(
                "data window of {}x{} placed at {}, {} in a display window of {width}x{height}; the rest is black",
                data.0, data.1, offset[0], offset[1]
            )
        });
        Ok(Self { size, offset, pixels: vec![[0.0; 3]; width * height], note })
    }

    /// Copies the samples of a block: rows, with the channels of each row one after the other
    /// (OpenEXR File Layout, "Pixel data"). Subsampled channels fill their own pixels.
    fn put(
        &mut self,
        block: &UncompressedBlock,
        header: &Header,
        wanted: [Option<usize>; 3],
    ) -> Result<(), ImageError> {
        let (start, size) = (block.index.pixel_position, block.index.pixel_size);
        let [width, height] = [self.size[0] as i64, self.size[1] as i64];
        let mut rest = block.data.as_slice();
        for y in start.1..start.1 + size.1 {
            for (index, channel) in header.channels.list.iter().enumerate() {
                let Vec2(across, down) = channel.sampling;
                if y % down != 0 {
                    continue;
                }
                let bytes = size.0 / across * channel.sample_type.bytes_per_sample();
                let (line, after) =
                    rest.split_at_checked(bytes).ok_or_else(|| damaged("a block is too short"))?;
                rest = after;
                let row = y as i64 + self.offset[1];
                if !(0..height).contains(&row) || !wanted.contains(&Some(index)) {
                    continue;
                }
                let row_start = (row * width) as usize;
                let Some(pixels) = self.pixels.get_mut(row_start..row_start + width as usize)
                else {
                    continue;
                };
                let first = start.0 as i64 + self.offset[0];
                each_sample(line, channel.sample_type, |i, sample| {
                    let column = usize::try_from(first + (i * across) as i64);
                    let Some(pixel) = column.ok().and_then(|column| pixels.get_mut(column)) else {
                        return;
                    };
                    for (value, wanted) in pixel.iter_mut().zip(&wanted) {
                        if *wanted == Some(index) {
                            *value = sample;
                        }
                    }
                });
            }
        }
        Ok(())
    }

    /// Interpolates subsampled channels linearly between samples, and extends the last one.
    fn fill_subsampled(&mut self, header: &Header, wanted: [Option<usize>; 3]) {
        let data = header.layer_size;
        for (slot, channel) in wanted.into_iter().enumerate() {
            let Some(channel) = channel.and_then(|index| header.channels.list.get(index)) else {
                continue;
            };
            let Vec2(across, down) = channel.sampling;
            for (axis, step, whole) in [(0, across, data.0), (1, down, data.1)] {
                if step == 1 {
                    continue;
                }
                // Positions of the first and last visible sample in the display window.
                let (offset, end) = (self.offset[axis], self.size[axis] as i64);
                let step = step as i64;
                let first = offset + ((-offset).max(0) + step - 1) / step * step;
                let last =
                    offset + ((end - 1 - offset).min(whole as i64 - 1)).div_euclid(step) * step;
                let (from, to) = (offset.max(0), (offset + whole as i64).min(end));
                if first > last {
                    continue;
                }
                let stride = if axis == 0 { 1 } else { self.size[0] };
                let lines = if axis == 0 { self.size[1] } else { self.size[0] };
                for line in 0..lines {
                    let origin = if axis == 0 { line * self.size[0] } else { line };
                    let index = |at: i64| origin + at.max(0) as usize * stride;
                    for at in from..to {
                        let low =
                            (offset + (at - offset).div_euclid(step) * step).clamp(first, last);
                        let high = (low + step).min(last);
                        if at == low {
                            continue;
                        }
                        let part = if high > low {
                            ((at - low) as f32 / (high - low) as f32).clamp(0.0, 1.0)
                        } else {
                            0.0
                        };
                        let value =
                            |at: i64| self.pixels.get(index(at)).map_or(0.0, |pixel| pixel[slot]);
                        let between = value(low) + (value(high) - value(low)) * part;
                        if let Some(pixel) = self.pixels.get_mut(index(at)) {
                            pixel[slot] = between;
                        }
                    }
                }
            }
        }
    }
}

/// Visits the samples of a line, in native byte order as the decoder returns them.
fn each_sample(line: &[u8], kind: SampleType, mut take: impl FnMut(usize, f32)) {
    let four = |part: &[u8]| [part[0], part[1], part[2], part[3]];
    match kind {
        SampleType::F16 => (line.chunks_exact(2).enumerate())
            .for_each(|(i, part)| take(i, f16::from_ne_bytes([part[0], part[1]]).to_f32())),
        SampleType::F32 => {
            line.chunks_exact(4)
                .enumerate()
                .for_each(|(i, part)| take(i, f32::from_ne_bytes(four(part))));
        }
        SampleType::U32 => {
            line.chunks_exact(4)
                .enumerate()
                .for_each(|(i, part)| take(i, u32::from_ne_bytes(four(part)) as f32));
        }
    }
}

/// Describes a decoder error by its cause.
fn cause(error: &Error) -> ImageError {
    match error {
        Error::NotSupported(what) => ImageError::Unsupported(format!(
            "it uses an unsupported feature ({}); save it again, flat and with ZIP",
            one_line(what)
        )),
        Error::Invalid(what) if what.contains("missing bytes") => ImageError::Truncated(
            "it is truncated: it ends within its header; get the complete file".into(),
        ),
        Error::Invalid(what) if what.contains("compression attribute") => ImageError::Unsupported(
            "its attribute compression is missing or names an unknown method; save it with ZIP"
                .into(),
        ),
        error => damaged(error),
    }
}
