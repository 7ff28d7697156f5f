//! The GLB container (glTF 2.0 section 4.4): a header, a JSON chunk, and an optional BIN chunk.

use super::{ImportError, report::ImportReport};

const MAGIC: [u8; 4] = *b"glTF";
const JSON: u32 = 0x4E4F_534A;
const BIN: u32 = 0x004E_4942;

/// Bytes of the file header and the first chunk header.
const HEADERS: usize = 20;

/// Maximum number of chunks; writers make two or three.
const MAX_CHUNKS: usize = 1000;

/// The chunks of a container.
pub(super) struct Container<'a> {
    pub(super) json: &'a [u8],
    pub(super) bin: Option<&'a [u8]>,
}

/// True if these bytes start with the GLB magic.
pub(super) fn is_glb(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at.checked_add(4)?)?.try_into().ok().map(u32::from_le_bytes)
}

/// Splits a GLB into its chunks.
pub(super) fn split<'a>(
    file: &str,
    bytes: &'a [u8],
    report: &mut ImportReport,
) -> Result<Container<'a>, ImportError> {
    let truncated = |at: usize, what: &str| ImportError::Truncated {
        file: file.into(),
        offset: at,
        what: what.into(),
    };
    let broken = |at: usize, message: String| ImportError::Violation {
        file: file.into(),
        place: format!("byte {at}"),
        message,
        more: 0,
    };
    let version = u32_at(bytes, 4).ok_or_else(|| truncated(bytes.len(), "the 12-byte header"))?;
    let length = u32_at(bytes, 8).ok_or_else(|| truncated(bytes.len(), "the 12-byte header"))?;
    if version != 2 {
        let what = format!("GLB container version {version}; export it as glTF 2.0");
        return Err(ImportError::NotGltf { file: file.into(), what });
    }
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    // A wrong length in the header says nothing about the chunks, which state their own.
    let end = if length < HEADERS { bytes.len() } else { length.min(bytes.len()) };
    if length < HEADERS || length > bytes.len() {
        report.repair(
            "byte 8",
            format!("the header states {length} bytes, the file has {}", bytes.len()),
        );
    }
    let (mut json, mut bin) = (None, None);
    let mut at = 12;
    let mut index = 0usize;
    let mut first = None;
    while at < end {
        if index > MAX_CHUNKS {
            report.repair(
                format!("byte {at}"),
                format!("more than {MAX_CHUNKS} chunks; the rest is ignored"),
            );
            break;
        }
        at = padded(bytes, at, report);
        let (Some(size), Some(kind)) = (u32_at(bytes, at), u32_at(bytes, at + 4)) else {
            if json.is_none() {
                return Err(truncated(at, "a chunk's header"));
            }
            report.repair(
                format!("byte {at}"),
                "the file ends within a chunk's header; the rest is ignored",
            );
            break;
        };
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        let start = at + 8;
        let stop = start.saturating_add(size);
        let Some(data) = bytes.get(start..stop) else {
            if json.is_some() && !matches!(kind, JSON | BIN) {
                report.repair(
                    format!("byte {at}"),
                    format!("the file ends within chunk {index}; it is ignored"),
                );
                break;
            }
            return Err(truncated(at, &format!("chunk {index}, which states {size} bytes")));
        };
        if stop > end {
            report.repair(
                format!("byte {at}"),
                format!("chunk {index} reaches beyond the length that the header states"),
            );
        }
        if size % 4 != 0 {
            report.repair(
                format!("byte {at}"),
                format!("chunk {index} is {size} bytes long, not a multiple of 4"),
            );
        }
        first = first.or(Some(kind));
        let second = json.is_some() && index == 1;
        match kind {
            JSON if json.is_none() => {
                if index != 0 {
                    report.repair(
                        format!("byte {at}"),
                        "the JSON chunk is not the first one; read anyway",
                    );
                }
                json = Some(data);
            }
            BIN if bin.is_none() => {
                if !second {
                    report.repair(
                        format!("byte {at}"),
                        "the BIN chunk is not the second one; read anyway",
                    );
                }
                bin = Some(data);
            }
            JSON | BIN => report
                .repair(format!("byte {at}"), format!("chunk {index} repeats a type; ignored")),
            _ => {}
        }
        // Unpadded chunks follow each other directly; nothing else is defined.
        at = stop;
        index += 1;
    }
    let Some(json) = json else {
        return Err(match first {
            Some(kind) => broken(
                12,
                format!(
                    "the first chunk is of type 0x{kind:08x}, and none is JSON; export it again"
                ),
            ),
            None => truncated(12, "the JSON chunk"),
        });
    };
    if bin.is_none()
        && let (Some(size), Some(BIN)) = (u32_at(bytes, at), u32_at(bytes, at + 4))
        && let Some(data) = usize::try_from(size)
            .ok()
            .and_then(|size| bytes.get(at + 8..(at + 8).checked_add(size)?))
    {
        report.repair(
            format!("byte {at}"),
            "the BIN chunk begins beyond the length that the header states",
        );
        bin = Some(data);
    }
    Ok(Container { json, bin })
}

/// Start of the next chunk: at once, or after padding that the previous chunk's length omits.
fn padded(bytes: &[u8], at: usize, report: &mut ImportReport) -> usize {
    let known = |at: usize| matches!(u32_at(bytes, at + 4), Some(JSON | BIN));
    let next = at.next_multiple_of(4);
    if next == at || known(at) || !known(next) {
        return at;
    }
    report.repair(format!("byte {at}"), "the previous chunk's length omits its padding");
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(kind: u32, data: &[u8]) -> Vec<u8> {
        let mut out = u32::try_from(data.len()).unwrap().to_le_bytes().to_vec();
        out.extend(kind.to_le_bytes());
        out.extend(data);
        out
    }

    fn glb(chunks: &[Vec<u8>]) -> Vec<u8> {
        let body = chunks.concat();
        let mut out = b"glTF".to_vec();
        out.extend(2u32.to_le_bytes());
        out.extend(u32::try_from(body.len() + 12).unwrap().to_le_bytes());
        out.extend(body);
        out
    }

    #[test]
    fn both_chunks_are_found() {
        let bytes = glb(&[chunk(JSON, b"{}  "), chunk(BIN, &[1, 2, 3, 4])]);
        let container = split("x", &bytes, &mut ImportReport::default()).unwrap();
        assert_eq!((container.json, container.bin), (&b"{}  "[..], Some(&[1, 2, 3, 4][..])));
    }

    #[test]
    fn every_truncation_is_refused_or_noted() {
        let bytes = glb(&[chunk(JSON, b"{}  "), chunk(BIN, &[1, 2, 3, 4])]);
        for len in 0..bytes.len() {
            let mut report = ImportReport::default();
            let result = split("x", &bytes[..len], &mut report);
            assert!(result.is_err() || !report.into_notes().is_empty(), "{len} bytes");
        }
    }

    #[test]
    fn what_writers_do_to_the_container_is_read_and_noted() {
        let (json, bin) = (chunk(JSON, b"{}  "), chunk(BIN, &[1, 2, 3, 4]));
        let whole = glb(&[json.clone(), bin.clone()]);
        let stated = |length: usize| {
            let mut out = whole.clone();
            out[8..12].copy_from_slice(&u32::try_from(length).unwrap().to_le_bytes());
            out
        };
        // A padded chunk whose length omits the padding.
        let mut short = chunk(JSON, b"{} ");
        short.push(b' ');
        for (what, bytes) in [
            ("BIN first", glb(&[bin.clone(), json.clone()])),
            ("an unknown chunk first", glb(&[chunk(7, b"abcd"), json.clone(), bin.clone()])),
            ("an unknown chunk between", glb(&[json.clone(), chunk(7, b"abcd"), bin.clone()])),
            ("a length of 0", stated(0)),
            ("too long a length", stated(9999)),
            ("the length of the JSON alone", stated(12 + json.len())),
            ("padding that is not counted", glb(&[short, bin.clone()])),
            ("an unknown chunk that is cut", [&whole[..], &[99, 0, 0, 0, 7, 0, 0, 0, 1]].concat()),
        ] {
            let mut bytes = bytes;
            if what.ends_with("cut") {
                let length = u32::try_from(bytes.len()).unwrap();
                bytes[8..12].copy_from_slice(&length.to_le_bytes());
            }
            let mut report = ImportReport::default();
            let container = split("x", &bytes, &mut report).unwrap();
            assert!(container.json.starts_with(b"{}"), "{what}");
            assert_eq!(container.bin, Some(&[1, 2, 3, 4][..]), "{what}");
            assert!(!report.into_notes().is_empty(), "{what}");
        }
        assert!(split("x", &glb(&[bin]), &mut ImportReport::default()).is_err());
        let tail = [&whole[..], b"a tail"].concat();
        assert!(split("x", &tail, &mut ImportReport::default()).is_ok());
    }

    #[test]
    fn a_second_chunk_of_one_type_is_noted() {
        let bytes = glb(&[chunk(JSON, b"{}  "), chunk(JSON, b"[]  ")]);
        let mut report = ImportReport::default();
        assert_eq!(split("x", &bytes, &mut report).unwrap().json, b"{}  ");
        assert_eq!(report.into_notes().len(), 1);
    }
}
