//! Radiance HDR (.hdr, .pic, .rgbe), read as by Radiance's own programs.
//!
//! The format: G. Ward, "Radiance File Formats" (filefmts.pdf, section "Picture Files"), and the
//! reading functions of Radiance, `getheader`, `str2resolu`, `freadcolrs` and `oldreadcolrs`. A
//! byte b of exponent e is b 2^(e-136), as in Ward's rgbe.c, OpenImageIO and stb_image; Radiance
//! itself adds half a step to b.

use glam::DVec3;

use super::{
    chromaticity::Primaries,
    decoded_image::{DecodedImage, Encoding},
    error_text::{ImageError, one_line},
    limits::SizeCheck,
};
use crate::photometry::color::XYZ_TO_REC709;

/// Maximum size of a header in bytes.
pub(super) const MAX_HEADER: usize = 1 << 20;
/// Scan line lengths that allow new run-length encoding (`MINELEN` and `MAXELEN`).
const RUN_LENGTHS: std::ops::RangeInclusive<usize> = 8..=0x7fff;

/// The parsed header.
struct Header {
    xyz: bool,
    /// Products of all `EXPOSURE` and `COLORCORR` lines: factors already applied to the pixels.
    exposure: f64,
    correction: DVec3,
    primaries: Option<Primaries>,
    scan: Scan,
    /// Offset of the pixels in bytes.
    body: usize,
    warnings: Vec<String>,
}

/// The scan order of pixels, from the resolution string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Scan {
    width: usize,
    height: usize,
    /// Scan lines are rows (Y comes first), otherwise columns.
    rows: bool,
    /// `-X`: from right to left.
    leftward: bool,
    /// `+Y`: from the bottom up.
    upward: bool,
}

/// True if bytes are a Radiance image: a first line `#?...`, or, in very old files, a text header
/// followed by a resolution string.
pub(super) fn is(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if bytes.starts_with(b"#?") {
        return true;
    }
    if !bytes.first().is_some_and(|byte| (b' '..=b'~').contains(byte)) {
        return false;
    }
    let mut rest = bytes.get(..MAX_HEADER).unwrap_or(bytes);
    while let Some(line) = next_line(&mut rest) {
        if line.is_empty() {
            return next_line(&mut rest).and_then(resolution).is_some();
        }
        if line.iter().any(|byte| *byte < b' ' && *byte != b'\t') {
            return false;
        }
    }
    false
}

/// Decodes an image.
pub(super) fn read(bytes: &[u8], check: SizeCheck<'_>) -> Result<DecodedImage, ImageError> {
    let header = header(bytes)?;
    let scan = header.scan;
    check(scan.width as u64, scan.height as u64).map_err(ImageError::Size)?;
    let body = bytes.get(header.body..).unwrap_or_default();
    let (count, length) =
        if scan.rows { (scan.height, scan.width) } else { (scan.width, scan.height) };
    let pixels = scan.arranged(scan_lines(body, count, length)?);
    let mut image = DecodedImage::plain([scan.width, scan.height], pixels, Encoding::Scene);
    image.scale = 1.0 / (header.exposure * header.correction);
    image.warnings = header.warnings;
    if header.exposure != 1.0 {
        image.notes.push(format!("divided by EXPOSURE, {}", header.exposure));
    }
    if header.correction != DVec3::ONE {
        let [r, g, b] = header.correction.to_array();
        image.notes.push(format!("divided by COLORCORR, {r} {g} {b}"));
    }
    if header.xyz {
        // Tristimulus values are absolute, so the white is not adapted.
        image.matrix = Some(XYZ_TO_REC709);
        image.notes.push("XYZE converted to Rec.709; a Y of 1 is 1 nit".into());
    } else if let Some(primaries) = header.primaries {
        image.convert(primaries, "the line PRIMARIES");
    }
    Ok(image)
}

/// The next line without its line end; `None` at the end.
fn next_line<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let (line, after) = rest.split_at(end);
    *rest = after.get(1..).unwrap_or_default();
    Some(line.strip_suffix(b"\r").unwrap_or(line))
}

fn header(bytes: &[u8]) -> Result<Header, ImageError> {
    let start = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut rest = start.get(..MAX_HEADER).unwrap_or(start);
    let available = rest.len();
    let mut format: Option<String> = None;
    let (mut exposure, mut correction, mut primaries) = (1.0, DVec3::ONE, None);
    let mut warnings = Vec::new();
    loop {
        let Some(line) = next_line(&mut rest) else {
            return Err(if available < MAX_HEADER {
                ImageError::Truncated(
                    "its Radiance header does not end (no empty line); it is truncated or not an image"
                        .into(),
                )
            } else {
                ImageError::Format(format!(
                    "its Radiance header does not end within {MAX_HEADER} bytes; it is not an image"
                ))
            });
        };
        if line.is_empty() {
            break;
        }
        let line = String::from_utf8_lossy(line);
        // Only unindented lines count: programs indent the lines copied from their inputs.
        let Some((name, value)) = line.split_once('=') else { continue };
        let numbers = || -> Vec<f64> {
            value.split_whitespace().map_while(|text| text.parse().ok()).collect()
        };
        let factor = |value: &f64| value.is_normal() && *value > 0.0;
        match name {
            "FORMAT" => format = Some(value.trim().to_owned()),
            "EXPOSURE" => match numbers().first().filter(|value| factor(value)) {
                Some(value) => exposure *= *value,
                None => warnings
                    .push(format!("{}: expected a factor above 0, counted as 1", one_line(&line))),
            },
            "COLORCORR" => match numbers().as_slice() {
                [r, g, b, ..] if [r, g, b].into_iter().all(factor) => {
                    correction *= DVec3::new(*r, *g, *b)
                }
                _ => warnings.push(format!(
                    "{}: expected three factors above 0, counted as 1 1 1",
                    one_line(&line)
                )),
            },
            "PRIMARIES" => match numbers().first_chunk::<8>() {
                Some(numbers) => primaries = Some(Primaries::new(*numbers)),
                None => warnings.push(format!(
                    "{}: expected eight numbers, counted as Rec.709",
                    one_line(&line)
                )),
            },
            "GAMMA" if numbers().first().is_some_and(|gamma| (gamma - 1.0).abs() > 1e-6) => {
                warnings.push(format!("{}: ignored, values are read as linear", one_line(&line)));
            }
            _ => {}
        }
    }
    let xyz = match format.as_deref() {
        None | Some("32-bit_rle_rgbe") => false,
        Some("32-bit_rle_xyze") => true,
        Some(other) => {
            return Err(ImageError::Unsupported(format!(
                "FORMAT={} is not supported; expected 32-bit_rle_rgbe or 32-bit_rle_xyze: convert \
                 it with Radiance's programs",
                one_line(other)
            )));
        }
    };
    let whole = exposure * correction;
    // Factors beyond this range are implausible.
    if !(1e-30..=1e30).contains(&whole.min_element())
        || !(1e-30..=1e30).contains(&whole.max_element())
    {
        warnings.push(format!(
            "EXPOSURE and COLORCORR give an implausible factor of {whole}, counted as 1"
        ));
        (exposure, correction) = (1.0, DVec3::ONE);
    }
    let line = next_line(&mut rest).ok_or_else(|| {
        ImageError::Truncated("it ends before its resolution string: it is truncated".into())
    })?;
    let scan = resolution(line).ok_or_else(|| {
        let line = String::from_utf8_lossy(line.get(..40).unwrap_or(line));
        ImageError::Damaged(format!(
            "'{}' is not a resolution string such as '-Y 512 +X 1024'; it is damaged: save it \
             again",
            one_line(&line)
        ))
    })?;
    let body = bytes.len() - start.len() + available - rest.len();
    Ok(Header { xyz, exposure, correction, primaries, scan, body, warnings })
}

/// Parses a resolution string: two axes in scan order, each with direction and length. As in
/// `str2resolu`, the first axis varies slowest.
fn resolution(line: &[u8]) -> Option<Scan> {
    let place = |axis: u8| line.iter().position(|byte| *byte == axis);
    let (x, y) = (place(b'X')?, place(b'Y')?);
    let negative = |at: usize| at > 0 && line.get(at - 1) == Some(&b'-');
    let number = |at: usize| -> Option<usize> {
        let rest = std::str::from_utf8(line.get(at + 1..)?).ok()?.trim_start();
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest.get(..digits)?.parse::<u32>().ok().map(|number| number as usize)
    };
    // Only axes and numbers: other text that contains both letters is not a resolution.
    let plain = line.iter().all(|byte| b"+-XY0123456789 \t".contains(byte));
    let scan = Scan {
        width: number(x)?,
        height: number(y)?,
        rows: y < x,
        leftward: negative(x),
        upward: !negative(y),
    };
    plain.then_some(scan)
}

impl Scan {
    /// Reorders pixels from scan order to rows from left to right, top row first.
    fn arranged(self, pixels: Vec<[f32; 3]>) -> Vec<[f32; 3]> {
        let Self { width, height, rows, leftward, upward } = self;
        if rows && !leftward && !upward {
            return pixels;
        }
        let at = |index: usize| {
            let (x, y) = (index % width, index / width);
            let x = if leftward { width - 1 - x } else { x };
            let y = if upward { height - 1 - y } else { y };
            let from = if rows { y * width + x } else { x * height + y };
            pixels.get(from).copied().unwrap_or_default()
        };
        (0..width * height).map(at).collect()
    }
}

/// Decodes `count` scan lines of `length` pixels. Memory grows with the decoded data.
fn scan_lines(body: &[u8], count: usize, length: usize) -> Result<Vec<[f32; 3]>, ImageError> {
    let steps: Vec<f32> =
        (0..=255).map(|e: i32| if e == 0 { 0.0 } else { 2f64.powi(e - 136) as f32 }).collect();
    let mut rest = body;
    let mut line = Vec::new();
    let mut pixels = Vec::new();
    for number in 0..count {
        read_line(&mut rest, length, &mut line).map_err(|broken| match broken {
            Broken::Ends => ImageError::Truncated(format!(
                "it is truncated: it ends in scan line {number} of {count}; \
                get the complete file"
            )),
            Broken::Length(found) => ImageError::Damaged(format!(
                "scan line {number} of {count} has {found} pixels, expected {length}; it \
                is damaged"
            )),
            Broken::Overrun => ImageError::Damaged(format!(
                "a run in scan line {number} of {count} exceeds its end; \
                it is damaged"
            )),
        })?;
        pixels.extend(line.iter().map(|[r, g, b, e]| {
            let step = steps[usize::from(*e)];
            [r, g, b].map(|byte| f32::from(*byte) * step)
        }));
    }
    Ok(pixels)
}

/// Errors of a scan line.
enum Broken {
    Ends,
    Length(usize),
    Overrun,
}

/// Decodes one scan line: flat, or with old or new run lengths (`freadcolrs`).
fn read_line(rest: &mut &[u8], length: usize, line: &mut Vec<[u8; 4]>) -> Result<(), Broken> {
    line.clear();
    let first = *take::<4>(rest)?;
    let new = RUN_LENGTHS.contains(&length) && first[0] == 2 && first[1] == 2 && first[2] < 128;
    if !new {
        line.push(first);
        return old_runs(rest, length, line);
    }
    let found = usize::from(first[2]) << 8 | usize::from(first[3]);
    if found != length {
        return Err(Broken::Length(found));
    }
    line.resize(length, [0; 4]);
    for channel in 0..4 {
        let mut at = 0;
        while at < length {
            let [code] = *take::<1>(rest)?;
            let count = usize::from(if code > 128 { code & 127 } else { code });
            let Some(pixels) = line.get_mut(at..at + count) else { return Err(Broken::Overrun) };
            if code > 128 {
                let [value] = *take::<1>(rest)?;
                pixels.iter_mut().for_each(|pixel| pixel[channel] = value);
            } else {
                let (values, after) = rest.split_at_checked(count).ok_or(Broken::Ends)?;
                *rest = after;
                pixels.iter_mut().zip(values).for_each(|(pixel, value)| pixel[channel] = *value);
            }
            at += count;
        }
    }
    Ok(())
}

/// Decodes the rest of a line after its first pixel: pixels, and (1, 1, 1, n) for n repetitions of
/// the last one. Consecutive counts are digits to the base 256. A run ends with its line
/// (`oldreadcolrs`).
fn old_runs(rest: &mut &[u8], length: usize, line: &mut Vec<[u8; 4]>) -> Result<(), Broken> {
    let mut shift = 0;
    while line.len() < length {
        let pixel = *take::<4>(rest)?;
        if let ([1, 1, 1, count], Some(last)) = (pixel, line.last().copied()) {
            let count = if shift < 32 { usize::from(count) << shift } else { 0 };
            line.resize((line.len() + count).min(length), last);
            shift += 8;
        } else {
            line.push(pixel);
            shift = 0;
        }
    }
    Ok(())
}

fn take<'a, const N: usize>(rest: &mut &'a [u8]) -> Result<&'a [u8; N], Broken> {
    let (taken, after) = rest.split_first_chunk::<N>().ok_or(Broken::Ends)?;
    *rest = after;
    Ok(taken)
}
