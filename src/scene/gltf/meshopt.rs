//! Buffer views compressed by EXT_meshopt_compression and KHR_meshopt_compression.
//!
//! Each view is decoded into a buffer of its own first, so that readers of views need no special
//! case. The claimed size is checked against the compressed bytes before memory is allocated.

use std::sync::Arc;

use serde_json::Value;

use super::{
    MAX_DECODED_BYTES,
    accessor::{BufferView, Bytes, Store},
    json::{extension, index, items, text},
    report::{At, ImportReport},
};

/// Names of the extension: KHR is EXT with a newer bitstream of attributes and a filter for colors.
const NAMES: [&str; 2] = ["KHR_meshopt_compression", "EXT_meshopt_compression"];

/// A compressed view.
struct Packed<'a> {
    data: &'a [u8],
    stride: usize,
    count: usize,
    mode: &'a str,
    filter: &'a str,
}

/// An attribute element of `N` words.
#[derive(Clone, Copy)]
struct Element<const N: usize>([u32; N]);

impl<const N: usize> Default for Element<N> {
    fn default() -> Self {
        Self([0; N])
    }
}

fn attributes<const N: usize>(data: &[u8], count: usize) -> Option<Vec<u32>> {
    let decoded = meshopt::decode_vertex_buffer::<Element<N>>(data, count).ok()?;
    Some(decoded.into_iter().flat_map(|element| element.0).collect())
}

/// Dispatches `attributes` on a number of words known at run time.
macro_rules! by_words {
    ($words:expr, $data:expr, $count:expr, [$($n:literal)*]) => {
        match $words { $($n => attributes::<$n>($data, $count),)* _ => None }
    };
}

impl Packed<'_> {
    /// Maximum decoded size of the compressed bytes. Attributes: a block of 256 elements takes at
    /// least one control byte for every four bytes of an element; indices: at least one byte a
    /// triangle or index (the extension's appendix A).
    fn most(&self) -> u64 {
        let bytes = self.data.len() as u64;
        match self.mode {
            "TRIANGLES" => bytes.saturating_mul(3 * self.stride as u64),
            "INDICES" => bytes.saturating_mul(self.stride as u64),
            _ => bytes.saturating_mul(1024),
        }
    }

    fn decode(&self) -> Result<Vec<u8>, String> {
        let &Self { data, stride, count, mode, filter } = self;
        let size = (count as u64).saturating_mul(stride as u64);
        let filtered = !matches!(filter, "" | "NONE");
        let allowed = match mode {
            "ATTRIBUTES" => {
                stride % 4 == 0
                    && (4..=256).contains(&stride)
                    && match filter {
                        "" | "NONE" | "EXPONENTIAL" => true,
                        "OCTAHEDRAL" | "COLOR" => matches!(stride, 4 | 8),
                        "QUATERNION" => stride == 8,
                        _ => return Err(format!("unknown filter '{filter}'")),
                    }
            }
            "TRIANGLES" => matches!(stride, 2 | 4) && count % 3 == 0 && !filtered,
            "INDICES" => matches!(stride, 2 | 4) && !filtered,
            _ => return Err(format!("unknown mode '{mode}'")),
        };
        if !allowed {
            return Err(format!(
                "a stride of {stride} bytes, {count} elements and the filter '{filter}' do not fit {mode}"
            ));
        }
        if size > self.most() {
            return Err(format!(
                "{} compressed bytes cannot hold the {size} that are claimed",
                data.len()
            ));
        }
        let failed = || "the compressed data is malformed".to_owned();
        let words = |out: Vec<u32>| bytemuck::cast_slice::<u32, u8>(&out).to_vec();
        let halves = |out: Vec<u16>| bytemuck::cast_slice::<u16, u8>(&out).to_vec();
        match (mode, stride) {
            ("TRIANGLES", 2) => {
                meshopt::decode_index_buffer::<u16>(data, count).map(halves).map_err(|_| failed())
            }
            ("TRIANGLES", _) => {
                meshopt::decode_index_buffer::<u32>(data, count).map(words).map_err(|_| failed())
            }
            ("INDICES", 2) => {
                meshopt::decode_index_sequence::<u16>(data, count).map(halves).map_err(|_| failed())
            }
            ("INDICES", _) => {
                meshopt::decode_index_sequence::<u32>(data, count).map(words).map_err(|_| failed())
            }
            _ => {
                let mut out = by_words!(stride / 4, data, count, [
                    1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
                    33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64
                ])
                .ok_or_else(failed)?;
                match (filter, stride) {
                    ("OCTAHEDRAL", 4) => meshopt::decode_filter_oct(bytemuck::cast_slice_mut::<
                        u32,
                        [i8; 4],
                    >(&mut out)),
                    ("OCTAHEDRAL", _) => {
                        meshopt::decode_filter_oct(bytemuck::cast_slice_mut::<u32, [i16; 4]>(
                            &mut out,
                        ));
                    }
                    ("COLOR", 4) => meshopt::decode_filter_color(bytemuck::cast_slice_mut::<
                        u32,
                        [u8; 4],
                    >(&mut out)),
                    ("COLOR", _) => meshopt::decode_filter_color(bytemuck::cast_slice_mut::<
                        u32,
                        [u16; 4],
                    >(&mut out)),
                    ("QUATERNION", _) => {
                        meshopt::decode_filter_quat(bytemuck::cast_slice_mut::<u32, [i16; 4]>(
                            &mut out,
                        ));
                    }
                    ("EXPONENTIAL", _) => {
                        meshopt::decode_filter_exp(bytemuck::cast_slice_mut::<u32, [u32; 1]>(
                            &mut out,
                        ));
                    }
                    _ => {}
                }
                Ok(words(out))
            }
        }
    }
}

/// Decodes all compressed views. A view that cannot be decoded gets a note and keeps its
/// uncompressed bytes, if any.
pub(super) fn decompress(root: &Value, store: &mut Store<'_>, report: &mut ImportReport) {
    let mut left = MAX_DECODED_BYTES;
    let at = At::ROOT;
    let place = at.key("bufferViews");
    for (i, view) in items(root, "bufferViews").iter().enumerate() {
        let Some(packed) = NAMES.iter().find_map(|name| extension(view, name)) else { continue };
        let at = place.index(i);
        let number = |key: &str| index(packed, key);
        let (Some(buffer), Some(length), Some(stride), Some(count)) =
            (number("buffer"), number("byteLength"), number("byteStride"), number("count"))
        else {
            // The schema check has noted what is missing.
            continue;
        };
        let offset = number("byteOffset").unwrap_or(0);
        let decoded = match store.buffers.get(buffer) {
            Some(Ok(bytes)) => {
                match offset.checked_add(length).and_then(|end| bytes.get().get(offset..end)) {
                    Some(data) => {
                        let packed = Packed {
                            data,
                            stride,
                            count,
                            mode: text(packed, "mode"),
                            filter: text(packed, "filter"),
                        };
                        match left.checked_sub((count as u64).saturating_mul(stride as u64)) {
                            Some(rest) => packed.decode().inspect(|_| left = rest),
                            None => {
                                Err(format!("more than {MAX_DECODED_BYTES} bytes of decoded views"))
                            }
                        }
                    }
                    None => Err(format!(
                        "the compressed data reach beyond the {} bytes of buffer {buffer}",
                        bytes.get().len()
                    )),
                }
            }
            Some(Err(error)) => Err(error.clone().text()),
            None => Err(format!("there is no buffer {buffer}")),
        };
        match decoded {
            Ok(bytes) => {
                let parent = store.views.get(i).copied().flatten();
                if parent.is_none_or(|parent| parent.length != bytes.len()) {
                    report.repair(
                        at,
                        format!(
                            "{} bytes are decoded, which is not the view's length",
                            bytes.len()
                        ),
                    );
                }
                let decoded = BufferView {
                    buffer: store.buffers.len(),
                    offset: 0,
                    length: bytes.len(),
                    stride: parent.and_then(|parent| parent.stride),
                    target: parent.and_then(|parent| parent.target),
                };
                store.buffers.push(Ok(Bytes::Shared(Arc::from(bytes))));
                if let Some(slot) = store.views.get_mut(i) {
                    *slot = Some(decoded);
                }
            }
            Err(problem) => report
                .repair(at, format!("compressed by meshopt: {problem}; the extension is ignored")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed<'a>(
        data: &'a [u8],
        stride: usize,
        count: usize,
        mode: &'a str,
        filter: &'a str,
    ) -> Packed<'a> {
        Packed { data, stride, count, mode, filter }
    }

    #[test]
    fn attributes_of_every_stride_come_back() {
        let values: Vec<u32> = (0..300u32).map(|i| i * 0x0101 + i / 7).collect();
        let twelve: Vec<[u32; 3]> = values.as_chunks::<3>().0.to_vec();
        for version in [0, 1] {
            let encoded = meshopt::encode_vertex_buffer_level(&twelve, 2, Some(version)).unwrap();
            let decoded = packed(&encoded, 12, 100, "ATTRIBUTES", "").decode().unwrap();
            assert_eq!(decoded, bytemuck::cast_slice::<u32, u8>(&values), "version {version}");
        }
        let wide: Vec<[u32; 64]> = vec![[7; 64]; 3];
        let encoded = meshopt::encode_vertex_buffer(&wide).unwrap();
        assert_eq!(packed(&encoded, 256, 3, "ATTRIBUTES", "NONE").decode().unwrap().len(), 768);
        let one: Vec<u32> = vec![1, 2, 3];
        let encoded = meshopt::encode_vertex_buffer(&one).unwrap();
        assert_eq!(
            packed(&encoded, 4, 3, "ATTRIBUTES", "").decode().unwrap(),
            [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]
        );
    }

    #[test]
    fn triangles_and_indices_come_back() {
        let indices = [0u32, 1, 2, 2, 1, 3, 3, 1, 4];
        let encoded = meshopt::encode_index_buffer(&indices, 5).unwrap();
        let decoded = packed(&encoded, 2, 9, "TRIANGLES", "").decode().unwrap();
        let read: Vec<u32> =
            decoded.as_chunks::<2>().0.iter().map(|two| u16::from_le_bytes(*two).into()).collect();
        // Each triangle may start at another of its corners.
        for (a, b) in indices.as_chunks::<3>().0.iter().zip(read.as_chunks::<3>().0) {
            assert!((0..3).any(|turn| (0..3).all(|i| a[i] == b[(i + turn) % 3])), "{a:?} {b:?}");
        }
        let encoded = meshopt::encode_index_sequence(&indices, 5).unwrap();
        let decoded = packed(&encoded, 4, 9, "INDICES", "NONE").decode().unwrap();
        assert_eq!(decoded, bytemuck::cast_slice::<u32, u8>(&indices));
    }

    #[test]
    fn filters_give_back_what_they_were_made_from() {
        let normals = [[0.6f32, 0.0, 0.8, 0.0], [0.0, -0.6, -0.8, 0.0], [-1.0, 0.0, 0.0, 0.0]];
        let encoded =
            meshopt::encode_vertex_buffer(&meshopt::encode_filter_oct::<i8>(&normals, 8)).unwrap();
        let decoded = packed(&encoded, 4, 3, "ATTRIBUTES", "OCTAHEDRAL").decode().unwrap();
        for (normal, bytes) in normals.iter().zip(decoded.as_chunks::<4>().0) {
            for (x, byte) in normal.iter().zip(bytes).take(3) {
                assert!(
                    (x - f32::from(byte.cast_signed()) / 127.0).abs() < 0.02,
                    "{normal:?} {bytes:?}"
                );
            }
        }
        let turn = [[0.5f32, -0.5, 0.5, 0.5], [0.0, 0.6, 0.0, 0.8]];
        let encoded =
            meshopt::encode_vertex_buffer(&meshopt::encode_filter_quat(&turn, 16)).unwrap();
        let decoded = packed(&encoded, 8, 2, "ATTRIBUTES", "QUATERNION").decode().unwrap();
        for (quaternion, bytes) in turn.iter().zip(decoded.as_chunks::<8>().0) {
            let read: Vec<f32> = bytes
                .as_chunks::<2>()
                .0
                .iter()
                .map(|two| f32::from(i16::from_le_bytes(*two)) / 32767.0)
                .collect();
            // A rotation and its negative are the same.
            let dot: f32 = quaternion.iter().zip(&read).map(|(a, b)| a * b).sum();
            assert!((dot.abs() - 1.0).abs() < 1e-3, "{quaternion:?} {read:?}");
        }
        let floats = [[1.5f32, -1000.0], [1e-3, 0.25]];
        let words = meshopt::encode_filter_exp::<2>(&floats, 20, meshopt::EncodeExpMode::Separate);
        let encoded = meshopt::encode_vertex_buffer(&words).unwrap();
        let decoded = packed(&encoded, 8, 2, "ATTRIBUTES", "EXPONENTIAL").decode().unwrap();
        for (x, four) in floats.as_flattened().iter().zip(decoded.as_chunks::<4>().0) {
            assert!((x - f32::from_le_bytes(*four)).abs() <= 1e-5 * x.abs());
        }
        let colors = [[1.0f32, 0.5, 0.0, 1.0], [0.2, 0.4, 0.9, 0.5]];
        let encoded =
            meshopt::encode_vertex_buffer(&meshopt::encode_filter_color::<u8>(&colors, 8)).unwrap();
        let decoded = packed(&encoded, 4, 2, "ATTRIBUTES", "COLOR").decode().unwrap();
        for (x, byte) in colors.as_flattened().iter().zip(&decoded) {
            assert!((x - f32::from(*byte) / 255.0).abs() < 0.02, "{colors:?} {decoded:?}");
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let encoded = meshopt::encode_vertex_buffer(&[[1u32; 4]; 20]).unwrap();
        let try_it =
            |stride, count, mode, filter| packed(&encoded, stride, count, mode, filter).decode();
        assert!(try_it(16, 20, "ATTRIBUTES", "").is_ok());
        assert!(try_it(16, 1 << 28, "ATTRIBUTES", "").unwrap_err().contains("claimed"));
        assert!(try_it(4, usize::MAX, "TRIANGLES", "").is_err());
        assert!(try_it(4, 1 << 30, "INDICES", "").unwrap_err().contains("claimed"));
        for (stride, mode, filter) in [
            (6, "ATTRIBUTES", ""),
            (260, "ATTRIBUTES", ""),
            (0, "ATTRIBUTES", ""),
            (16, "ATTRIBUTES", "OCTAHEDRAL"),
            (4, "ATTRIBUTES", "QUATERNION"),
            (16, "ATTRIBUTES", "ROT13"),
            (4, "INDICES", "COLOR"),
            (1, "INDICES", ""),
            (4, "STRIPS", ""),
        ] {
            assert!(try_it(stride, 20, mode, filter).is_err(), "{stride} {mode} {filter}");
        }
        for length in 0..encoded.len() {
            assert!(
                packed(&encoded[..length], 16, 20, "ATTRIBUTES", "").decode().is_err(),
                "{length}"
            );
        }
        let mut state = 3u32;
        for _ in 0..3000 {
            let mut broken = encoded.clone();
            for _ in 0..3 {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let at = (state >> 8) as usize % broken.len();
                broken[at] = (state >> 20) as u8;
            }
            for mode in ["ATTRIBUTES", "TRIANGLES", "INDICES"] {
                let _ = packed(&broken, 4, 18, mode, "").decode();
                let _ = packed(&broken, 8, 18, mode, "QUATERNION").decode();
            }
        }
    }
}
