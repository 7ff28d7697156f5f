//! Text decoding of photometric files, and detection of markup.

/// Decodes UTF-8, UTF-16 or UTF-32 if valid, else Latin-1, in which every byte is a character. Byte
/// order marks are removed. UTF-16 and UTF-32 give a note, because they are no superset of ASCII.
pub(super) fn decode(bytes: &[u8], notes: &mut Vec<String>) -> String {
    let mut wide = |name: &str, text: String| {
        notes.push(format!("the text is {name}; photometric files are ASCII"));
        text
    };
    // The little-endian UTF-32 byte order mark begins with that of UTF-16.
    match *bytes {
        [0xff, 0xfe, 0, 0, ref rest @ ..] => {
            return wide("UTF-32", utf32(rest, u32::from_le_bytes));
        }
        [0, 0, 0xfe, 0xff, ref rest @ ..] => {
            return wide("UTF-32", utf32(rest, u32::from_be_bytes));
        }
        [0xff, 0xfe, ref rest @ ..] => return wide("UTF-16", utf16(rest, u16::from_le_bytes)),
        [0xfe, 0xff, ref rest @ ..] => return wide("UTF-16", utf16(rest, u16::from_be_bytes)),
        // ASCII as UTF-16 without a byte order mark: every other byte of the beginning is 0.
        [_, 0, _, 0, _, 0, _, 0, ..] => return wide("UTF-16", utf16(bytes, u16::from_le_bytes)),
        [0, a, 0, b, 0, c, 0, d, ..] if [a, b, c, d].iter().all(|&byte| byte != 0) => {
            return wide("UTF-16", utf16(bytes, u16::from_be_bytes));
        }
        _ => {}
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect(),
    }
}

fn utf16(bytes: &[u8], of: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|pair| of([pair[0], pair[1]]));
    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

fn utf32(bytes: &[u8], of: fn([u8; 4]) -> u32) -> String {
    let units = bytes.chunks_exact(4).map(|four| of([four[0], four[1], four[2], four[3]]));
    units.map(|code| char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// Detects a markup format or a pointer to the file.
pub(super) fn markup(text: &str) -> Option<&'static str> {
    let start: String =
        text.trim_start().chars().take(2048).collect::<String>().to_ascii_lowercase();
    if start.starts_with("version https://git-lfs") {
        return Some("a Git LFS pointer: fetch the file with 'git lfs pull'");
    }
    if start.starts_with('{') {
        return Some("JSON");
    }
    if !start.starts_with('<') {
        return None;
    }
    Some(if start.contains("<!doctype html") || start.contains("<html") {
        "a web page: the download met an error or a login"
    } else if start.contains("iestm33") || start.contains("luminaireopticaldata") {
        "XML of IES TM-33 or UNI 11733"
    } else {
        "XML"
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_told_by_their_bytes() {
        let text = "IESNA91\nTILT=NONE\n";
        let utf16 =
            |order: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(order).collect::<Vec<u8>>();
        let utf32 = |order: fn(u32) -> [u8; 4]| {
            text.chars().map(u32::from).flat_map(order).collect::<Vec<u8>>()
        };
        let with = |mark: &[u8], bytes: Vec<u8>| [mark, &bytes].concat();
        for (bytes, name) in [
            (text.as_bytes().to_vec(), ""),
            (with(b"\xef\xbb\xbf", text.into()), ""),
            (with(b"\xff\xfe", utf16(u16::to_le_bytes)), "UTF-16"),
            (with(b"\xfe\xff", utf16(u16::to_be_bytes)), "UTF-16"),
            (utf16(u16::to_le_bytes), "UTF-16"),
            (utf16(u16::to_be_bytes), "UTF-16"),
            (with(b"\xff\xfe\0\0", utf32(u32::to_le_bytes)), "UTF-32"),
            (with(b"\0\0\xfe\xff", utf32(u32::to_be_bytes)), "UTF-32"),
        ] {
            let mut notes = Vec::new();
            assert_eq!(decode(&bytes, &mut notes), text);
            assert_eq!(notes.is_empty(), name.is_empty(), "{name}: {notes:?}");
            assert!(notes.iter().all(|note| note.contains(name)), "{name}: {notes:?}");
        }
        // A mark before Latin-1 goes, too: the edition is told by the first line.
        assert_eq!(decode(b"\xef\xbb\xbfL\xe4mp", &mut Vec::new()), "L\u{e4}mp");
        // Odd ends and halves of pairs are no panic.
        for bytes in [&b"\xff\xfe\x00\xd8A"[..], b"\xff\xfe\0\0\x01", b"\xff\xfe", b""] {
            decode(bytes, &mut Vec::new());
        }
    }

    #[test]
    fn other_kinds_are_named() {
        assert!(markup(" \n<!DOCTYPE HTML><html>").unwrap().contains("web page"));
        assert!(markup("<?xml?><IESTM33-22>").unwrap().contains("TM-33"));
        let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n";
        assert!(markup(pointer).unwrap().contains("git lfs pull"));
        assert_eq!(markup("IESNA91"), None);
    }
}
