//! One layer of an EXR as a picture: only the channels that are asked for are kept in memory.
//!
//! The format: "OpenEXR File Layout" and "Technical Introduction to OpenEXR" (openexr.com), whose names are used here:
//! parts, layers (what stands before a channel's last dot), data window and display window.

use std::io::Cursor;

use exr::{
    block::{UncompressedBlock, chunk::Chunk},
    meta::{attribute::SampleType, header::Header},
};
use half::f16;

use super::picture::{check_size, damaged, one_line};

/// Parts that a file may have; each may claim memory for its tables.
const MAX_PARTS: usize = 1024;
/// Names of layers that an error lists.
const LISTED: usize = 12;

/// What was read.
pub(super) struct Layer {
    pub width: usize,
    pub height: usize,
    pub pixels: Vec<[f32; 3]>,
    pub notes: Vec<String>,
}

/// Channels of one part that belong together.
struct Group {
    part: usize,
    /// Part and layer, as a person would write it; empty for the picture without a name.
    name: String,
    /// The layer alone, without the part's name.
    layer: String,
    /// Places of red, green and blue among the part's channels; three times the same for a grey picture.
    channels: Option<[usize; 3]>,
}

/// The groups of a part: channels by what stands before their last dot.
fn groups(part: usize, header: &Header) -> Vec<Group> {
    let part_name = header.own_attributes.layer_name.as_ref().map(ToString::to_string).unwrap_or_default();
    let mut layers: Vec<(String, Vec<(String, usize)>)> = Vec::new();
    for (index, channel) in header.channels.list.iter().enumerate() {
        let name = channel.name.to_string();
        let (layer, channel) = name.rsplit_once('.').unwrap_or(("", &name));
        match layers.iter_mut().find(|(known, _)| known == layer) {
            Some((_, channels)) => channels.push((channel.to_owned(), index)),
            None => layers.push((layer.to_owned(), vec![(channel.to_owned(), index)])),
        }
    }
    layers
        .into_iter()
        .map(|(layer, channels)| {
            let name = match (part_name.as_str(), layer.as_str()) {
                ("", layer) => layer.to_owned(),
                (part, "") => part.to_owned(),
                (part, layer) => format!("{part}.{layer}"),
            };
            Group { part, name, layer, channels: color_channels(&channels) }
        })
        .collect()
}

/// Which channels are red, green and blue. Directions (X, Y, Z) count as colours, a single channel as grey.
fn color_channels(channels: &[(String, usize)]) -> Option<[usize; 3]> {
    let find =
        |name: &str| channels.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, index)| *index);
    for [r, g, b] in [["R", "G", "B"], ["X", "Y", "Z"]] {
        if let (Some(r), Some(g), Some(b)) = (find(r), find(g), find(b)) {
            return Some([r, g, b]);
        }
    }
    // Luminance with subsampled chroma is not a grey picture.
    if find("RY").is_some() || find("BY").is_some() {
        return None;
    }
    let shown: Vec<usize> =
        channels.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("A")).map(|(_, index)| *index).collect();
    match (find("Y"), shown.as_slice()) {
        (Some(grey), _) => Some([grey; 3]),
        (None, [one]) => Some([*one; 3]),
        _ => None,
    }
}

/// The group that is meant.
fn choose<'a>(groups: &'a [Group], layer: Option<&str>) -> Result<&'a Group, String> {
    let listed = || {
        let mut names: Vec<String> =
            groups.iter().filter(|g| g.channels.is_some()).map(|g| format!("'{}'", one_line(&g.name))).collect();
        let more = names.len().saturating_sub(LISTED);
        names.truncate(LISTED);
        if more > 0 {
            names.push(format!("{more} more"));
        }
        names.join(", ")
    };
    if let Some(layer) = layer {
        let found = groups
            .iter()
            .find(|group| group.name == layer)
            .or_else(|| groups.iter().find(|group| group.layer == layer))
            .ok_or_else(|| format!("it has no layer '{}'; it has {}", one_line(layer), listed()))?;
        if found.channels.is_none() {
            return Err(format!(
                "its layer '{}' has neither red, green and blue nor a single channel; choose one of {}",
                one_line(layer),
                listed()
            ));
        }
        return Ok(found);
    }
    let usable: Vec<&Group> = groups.iter().filter(|group| group.channels.is_some()).collect();
    let unnamed = usable.iter().find(|group| group.layer.is_empty());
    match (unnamed, usable.as_slice()) {
        (Some(group), _) => Ok(group),
        (None, [one]) => Ok(one),
        (None, []) => Err("it has no red, green and blue, and no luminance; save it as an RGB picture".into()),
        (None, _) => Err(format!("it has no picture without a name; add a layer, FILE.exr:LAYER, one of {}", listed())),
    }
}

/// Reads a layer of an EXR; none is the picture without a name, or the only one there is.
pub(super) fn read(bytes: &[u8], layer: Option<&str>) -> Result<Layer, String> {
    let reader = exr::block::read(Cursor::new(bytes), false).map_err(damaged)?;
    let headers = reader.headers();
    if headers.len() > MAX_PARTS {
        return Err(format!("{} parts; at most {MAX_PARTS} are read", headers.len()));
    }
    for header in headers {
        check_size(header.layer_size.0 as u64, header.layer_size.1 as u64)?;
    }
    let groups: Vec<Group> = headers.iter().enumerate().flat_map(|(part, header)| groups(part, header)).collect();
    let group = choose(&groups, layer)?;
    let channels = group.channels.ok_or("it has no picture")?;
    let part = group.part;
    let header = headers.get(part).ok_or("it has no picture")?.clone();
    if header.deep {
        return Err("it holds deep data; flatten it".into());
    }
    if header.channels.list.iter().any(|channel| channel.sampling != exr::math::Vec2(1, 1)) {
        return Err("it has subsampled channels; save it as an RGB picture".into());
    }
    let mut canvas = Canvas::new(&header)?;
    let chunks = reader
        .filter_chunks(false, |_, tile, block| block.layer == part && tile.level_index == exr::math::Vec2(0, 0))
        .map_err(damaged)?;
    let meta = exr::meta::MetaData::read_from_buffered(Cursor::new(bytes), false).map_err(damaged)?;
    for chunk in chunks {
        let chunk: Chunk = chunk.map_err(damaged)?;
        if chunk.layer_index != part {
            continue;
        }
        let block = UncompressedBlock::decompress_chunk(chunk, &meta, false).map_err(damaged)?;
        canvas.put(&block, &header, channels);
    }
    canvas.finish(&header)
}

/// The display window, being filled.
struct Canvas {
    width: usize,
    height: usize,
    /// Where the data window's first pixel lies in the display window.
    offset: [i64; 2],
    pixels: Vec<[f32; 3]>,
    /// Which pixels of the data window have come.
    come: Vec<bool>,
}

impl Canvas {
    fn new(header: &Header) -> Result<Self, String> {
        let display = header.shared_attributes.display_window;
        let [width, height] = check_size(display.size.0 as u64, display.size.1 as u64)?;
        let data = header.own_attributes.layer_position;
        let offset =
            [i64::from(data.0) - i64::from(display.position.0), i64::from(data.1) - i64::from(display.position.1)];
        let meets = |offset: i64, data: usize, display: usize| offset < display as i64 && offset + data as i64 > 0;
        if !meets(offset[0], header.layer_size.0, width) || !meets(offset[1], header.layer_size.1, height) {
            return Err("its data window lies outside of its display window; save it with the two alike".into());
        }
        let come = vec![false; header.layer_size.0 * header.layer_size.1];
        Ok(Self { width, height, offset, pixels: vec![[0.0; 3]; width * height], come })
    }

    /// Takes over the lines of a block. Lines of channels lie one after the other, row by row (OpenEXR File Layout,
    /// "Pixel data").
    fn put(&mut self, block: &UncompressedBlock, header: &Header, wanted: [usize; 3]) {
        let across = header.layer_size.0;
        for line in block.lines(&header.channels) {
            let at = line.location;
            let Some(kind) = header.channels.list.get(at.channel).map(|channel| channel.sample_type) else { continue };
            for (target, _) in wanted.iter().enumerate().filter(|(_, index)| **index == at.channel) {
                for (i, sample) in samples(line.value, kind).enumerate() {
                    let (x, y) = (at.position.0 + i, at.position.1);
                    if x >= across {
                        break;
                    }
                    if let Some(come) = self.come.get_mut(y * across + x) {
                        *come = true;
                    }
                    let (column, row) = (x as i64 + self.offset[0], y as i64 + self.offset[1]);
                    let inside = (0..self.width as i64).contains(&column) && (0..self.height as i64).contains(&row);
                    if inside && let Some(pixel) = self.pixels.get_mut(row as usize * self.width + column as usize) {
                        pixel[target] = sample;
                    }
                }
            }
        }
    }

    fn finish(mut self, header: &Header) -> Result<Layer, String> {
        let missing = self.come.iter().filter(|come| !**come).count();
        if missing > 0 {
            return Err(damaged(format!("{missing} of {} pixels are missing", self.come.len())));
        }
        let mut notes = Vec::new();
        let data = header.layer_size;
        if self.offset != [0, 0] || data != exr::math::Vec2(self.width, self.height) {
            notes.push(format!(
                "data window of {}x{} placed at {}, {} in a display window of {}x{}; the rest is black",
                data.0, data.1, self.offset[0], self.offset[1], self.width, self.height
            ));
        }
        // "whiteLuminance: the luminance, in nits, of the RGB value (1,1,1)" (OpenEXR, "Standard attributes").
        let white = header.own_attributes.white_luminance.filter(|white| white.is_normal() && *white > 0.0);
        if let Some(white) = white.filter(|white| (white - 1.0).abs() > 1e-6) {
            notes.push(format!("values times {white} nits (the attribute whiteLuminance)"));
            for pixel in &mut self.pixels {
                *pixel = pixel.map(|channel| channel * white);
            }
        }
        Ok(Layer { width: self.width, height: self.height, pixels: self.pixels, notes })
    }
}

/// The samples of a line, in the order of bytes of this machine, as the decoder leaves them.
fn samples(bytes: &[u8], kind: SampleType) -> Box<dyn Iterator<Item = f32> + '_> {
    let four = |part: &[u8]| [part[0], part[1], part[2], part[3]];
    match kind {
        SampleType::F16 => Box::new(bytes.chunks_exact(2).map(|part| f16::from_ne_bytes([part[0], part[1]]).to_f32())),
        SampleType::F32 => Box::new(bytes.chunks_exact(4).map(move |part| f32::from_ne_bytes(four(part)))),
        SampleType::U32 => Box::new(bytes.chunks_exact(4).map(move |part| u32::from_ne_bytes(four(part)) as f32)),
    }
}
