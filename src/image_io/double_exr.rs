//! Double-precision images in an EXR, bit for bit: OpenEXR has no 64-bit samples, so each value is
//! two UINT channels, `NAME.high` and `NAME.low`, the words of its IEEE 754 representation. A
//! preview in red, green and blue shows in other programs. One text attribute describes the
//! contents.

use std::{
    collections::BTreeMap,
    io::{self, Cursor, Read, Write},
};

use ::exr::{
    meta::{MetaData, attribute::AttributeValue},
    prelude::{self as ex, ReadChannels as _, ReadLayers as _},
};

use super::{
    error_text::{ImageError, caught, damaged, one_line},
    limits::SizeCheck,
};

/// Maximum number of channels; each has memory for the whole image.
const MAX_CHANNELS: usize = 8192;

/// Endings of the channels of a plane.
const WORDS: [&str; 2] = ["high", "low"];

/// A double-precision EXR without its samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoubleHeader {
    /// Width and height in pixels.
    pub size: [usize; 2],
    /// The text attribute.
    pub text: String,
}

/// Planes of a double-precision EXR by name, row by row.
pub type DoublePlanes = BTreeMap<String, Vec<f64>>;

/// Writes planes, a preview (linear Rec.709) and the text attribute `name`, in ASCII.
///
/// # Errors
/// Those of the writer, and planes of another size than the image.
pub fn write(
    out: &mut dyn Write,
    [width, height]: [usize; 2],
    preview: &[[f32; 3]],
    planes: &DoublePlanes,
    (name, text): (&str, &str),
) -> io::Result<()> {
    let mut list = ex::SmallVec::<[ex::AnyChannel<ex::FlatSamples>; 4]>::new();
    for (index, channel) in ["R", "G", "B"].into_iter().enumerate() {
        let samples = preview.iter().map(|pixel| pixel[index]).collect();
        list.push(ex::AnyChannel::new(channel, ex::FlatSamples::F32(samples)));
    }
    for (plane, values) in planes {
        for (word, shift) in WORDS.into_iter().zip([32, 0]) {
            let samples = values.iter().map(|value| (value.to_bits() >> shift) as u32).collect();
            let channel = format!("{plane}.{word}");
            list.push(ex::AnyChannel::new(channel.as_str(), ex::FlatSamples::U32(samples)));
        }
    }
    if list.iter().any(|channel| channel.sample_data.len() != width * height) {
        return Err(io::Error::other("a plane has another size than the image"));
    }
    let value = AttributeValue::Text(ex::Text::from(text));
    let attributes = ex::LayerAttributes {
        other: [(ex::Text::from(name), value)].into_iter().collect(),
        software_name: Some("sunny16".into()),
        white_luminance: Some(1.0),
        ..Default::default()
    };
    let (size, encoding) = (ex::Vec2(width, height), ex::Encoding::FAST_LOSSLESS);
    let layer = ex::Layer::new(size, attributes, encoding, ex::AnyChannels::sort(list));
    let mut bytes = Cursor::new(Vec::new());
    ex::WritableImage::write(&ex::Image::from_layer(layer))
        .non_parallel()
        .to_buffered(&mut bytes)
        .map_err(io::Error::other)?;
    out.write_all(bytes.get_ref())
}

/// Reads size and text attribute `name`.
///
/// # Errors
/// One line: why the file has none.
pub fn read_header(
    from: impl Read,
    name: &str,
    check: SizeCheck<'_>,
) -> Result<DoubleHeader, ImageError> {
    caught(|| {
        let meta = MetaData::read_from_buffered(from, false).map_err(damaged)?;
        header_of(&meta, name, check)
    })
}

fn header_of(
    meta: &MetaData,
    name: &str,
    check: SizeCheck<'_>,
) -> Result<DoubleHeader, ImageError> {
    let missing = || ImageError::Format(format!("it has no attribute {name}"));
    let [header] = meta.headers.as_slice() else { return Err(missing()) };
    let Some(AttributeValue::Text(text)) = header.own_attributes.other.get(&ex::Text::from(name))
    else {
        return Err(missing());
    };
    let (width, height) = (header.layer_size.0, header.layer_size.1);
    check(width as u64, height as u64).map_err(ImageError::Size)?;
    if header.channels.list.len() > MAX_CHANNELS {
        let count = header.channels.list.len();
        return Err(damaged(format!("{count} channels; expected at most {MAX_CHANNELS}")));
    }
    Ok(DoubleHeader { size: [width, height], text: text.to_string() })
}

/// Reads the planes of the file with text attribute `name`.
///
/// # Errors
/// One line: the bytes are damaged or truncated.
pub fn read(
    bytes: &[u8],
    name: &str,
    check: SizeCheck<'_>,
) -> Result<(DoubleHeader, DoublePlanes), ImageError> {
    caught(|| {
        let meta = MetaData::read_from_buffered(Cursor::new(bytes), false).map_err(damaged)?;
        let header = header_of(&meta, name, check)?;
        let image = ex::read()
            .no_deep_data()
            .largest_resolution_level()
            .all_channels()
            .first_valid_layer()
            .all_attributes()
            .non_parallel()
            .from_buffered(Cursor::new(bytes))
            .map_err(damaged)?;
        let mut words: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        for channel in image.layer_data.channel_data.list {
            if let ex::FlatSamples::U32(samples) = channel.sample_data {
                words.insert(channel.name.to_string(), samples);
            }
        }
        let mut planes = DoublePlanes::new();
        for (channel, high) in &words {
            let [first, second] = WORDS;
            let Some(plane) = channel.strip_suffix(first).and_then(|p| p.strip_suffix('.')) else {
                continue;
            };
            let low = words.get(&format!("{plane}.{second}")).filter(|low| low.len() == high.len());
            let low = low.ok_or_else(|| {
                damaged(format!("the channel {}.{second} is missing", one_line(plane)))
            })?;
            let value = |(high, low): (&u32, &u32)| {
                f64::from_bits(u64::from(*high) << 32 | u64::from(*low))
            };
            planes.insert(plane.to_owned(), high.iter().zip(low).map(value).collect());
        }
        Ok((header, planes))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image_io::check_size;

    #[test]
    fn doubles_come_back_bit_for_bit_and_damage_is_found() {
        let values =
            vec![0.1, -0.0, f64::MIN_POSITIVE, 5e-324, 1e300, f64::NAN, 2.0_f64.powi(-1060), 1e9];
        let planes: DoublePlanes =
            [("a.R", values.clone()), ("b.high", values.iter().map(|v| v * 3.0).collect())]
                .map(|(name, values)| (name.to_owned(), values))
                .into();
        let mut bytes = Vec::new();
        let text = ("note", "{\"a\": 1}");
        write(&mut bytes, [4, 2], &[[0.5; 3]; 8], &planes, text).unwrap();
        let (header, found) = read(&bytes, "note", &check_size).unwrap();
        assert_eq!(header, DoubleHeader { size: [4, 2], text: text.1.to_owned() });
        assert_eq!(read_header(&bytes[..], "note", &check_size).unwrap(), header);
        let bits = |planes: &DoublePlanes| -> Vec<(String, Vec<u64>)> {
            let of = |(name, values): (&String, &Vec<f64>)| {
                (name.clone(), values.iter().map(|value| value.to_bits()).collect())
            };
            planes.iter().map(of).collect()
        };
        assert_eq!(bits(&found), bits(&planes));
        assert!(matches!(read(&bytes, "other", &check_size), Err(ImageError::Format(_))));
        for cut in [0, 3, 40, bytes.len() / 2, bytes.len() - 1] {
            assert!(read(&bytes[..cut], "note", &check_size).is_err(), "cut at {cut}");
        }
        let small = |_, _| Err("too large".to_owned());
        assert!(matches!(read(&bytes, "note", &small), Err(ImageError::Size(_))));
        let wrong = write(&mut Vec::new(), [3, 2], &[[0.5; 3]; 8], &planes, text);
        assert!(wrong.is_err());
    }
}
