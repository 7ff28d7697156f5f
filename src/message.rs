//! Texts of messages that all layers share, and the reading of input files with them.

use std::{
    fs::{self, File},
    io::{ErrorKind, Read as _},
    path::Path,
};

/// Formats that are recognized for messages: offset, magic bytes, name with its article.
const FORMATS: [(usize, &[u8], &str); 39] = [
    (0, b"\x76\x2f\x31\x01", "an EXR picture"),
    (0, b"\x89PNG\r\n\x1a\n", "a PNG picture"),
    (0, b"\xff\xd8\xff", "a JPEG picture"),
    (0, b"II\x2a\0", "a TIFF"),
    (0, b"MM\0\x2a", "a TIFF"),
    (0, b"II\x2b\0", "a BigTIFF"),
    (0, b"MM\0\x2b", "a BigTIFF"),
    (0, b"II\xbc", "a JPEG XR"),
    (0, b"\xff\x0a", "a JPEG XL"),
    (0, b"\0\0\0\x0cJXL ", "a JPEG XL"),
    (0, b"\0\0\0\x0cjP  ", "a JPEG 2000"),
    (0, b"\xff\x4f\xff\x51", "a JPEG 2000"),
    (4, b"ftypavif", "an AVIF"),
    (4, b"ftyphei", "a HEIF"),
    (4, b"ftypmif1", "a HEIF"),
    (8, b"WEBP", "a WebP"),
    (0, b"GIF8", "a GIF"),
    (0, b"BM", "a BMP"),
    (0, b"8BPS", "a Photoshop document"),
    (0, b"8BPB", "a Photoshop document"),
    (0, b"PF\n", "a PFM (portable float map)"),
    (0, b"Pf\n", "a PFM (portable float map)"),
    (0, b"PF ", "a PFM (portable float map)"),
    (0, b"PF\r\n", "a PFM (portable float map)"),
    (0, b"P6", "a PPM"),
    (0, b"P5", "a PGM"),
    (0, b"P3", "a PPM"),
    (0, b"DDS ", "a DDS texture"),
    (0, b"\xabKTX ", "a KTX texture"),
    (0, b"SDPX", "a DPX"),
    (0, b"XPDS", "a DPX"),
    (0, b"qoif", "a QOI"),
    (0, b"glTF", "a glTF scene (GLB)"),
    (0, b"PK\x03\x04", "a ZIP archive: unpack it"),
    (0, b"\x1f\x8b", "compressed by gzip: unpack it"),
    (0, b"\x28\xb5\x2f\xfd", "compressed by Zstandard: unpack it"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive: unpack it"),
    (0, b"Rar!", "a RAR archive: unpack it"),
    (0, b"%PDF", "a PDF"),
];

/// Name of a file's format by its first bytes, with its article; `None` if they are unknown. Some
/// formats begin with letters, as text may.
#[must_use]
pub fn format_name(bytes: &[u8]) -> Option<&'static str> {
    let of = |(at, magic, _): &&(usize, &[u8], &str)| {
        bytes.get(*at..).is_some_and(|rest| rest.starts_with(magic))
    };
    FORMATS.iter().find(of).map(|(.., name)| *name)
}

/// As [`format_name`], for a reader of text in any encoding: `None` if the bytes may be text, also
/// text with control characters.
#[must_use]
pub fn binary_format(bytes: &[u8]) -> Option<&'static str> {
    let is_binary =
        bytes.iter().take(64).any(|byte| byte.is_ascii_control() && !byte.is_ascii_whitespace());
    let is_picture = match bytes {
        // The two reserved fields of a BMP are 0.
        [b'B', b'M', rest @ ..] => rest.get(4..8).is_some_and(|fields| fields == [0; 4]),
        // White space and the width, or a comment, follow the magic number of a PPM or PGM.
        [b'P', b'3' | b'5' | b'6', space, rest @ ..] => {
            let next = rest.iter().find(|byte| !byte.is_ascii_whitespace());
            space.is_ascii_whitespace()
                && next.is_some_and(|byte| byte.is_ascii_digit() || *byte == b'#')
        }
        _ => true,
    };
    // A PDF begins with lines of text.
    format_name(bytes).filter(|_| is_binary && is_picture || bytes.starts_with(b"%PDF-"))
}

/// The text of a file's bytes; `expected` names the kind of file, with its article.
///
/// # Errors
/// One line without the file's name: the bytes are not UTF-8, and what they are instead.
pub fn utf8_text(bytes: Vec<u8>, expected: &str) -> Result<String, String> {
    if let Some(kind) = binary_format(&bytes) {
        return Err(format!("it is {kind}; expected {expected}"));
    }
    String::from_utf8(bytes)
        .map_err(|error| format!("not UTF-8 text: {error}; expected {expected}"))
}

/// A count with its noun, which is given in the singular: `1 light`, `2 lights`, `2 meshes`.
#[must_use]
pub fn counted(count: usize, noun: &str) -> String {
    let ending = match noun {
        _ if count == 1 => "",
        "mesh" => "es",
        _ => "s",
    };
    format!("{count} {noun}{ending}")
}

/// Text of an input file that cannot be opened or read, without its name.
#[must_use]
pub fn unreadable(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "not found; check the path".into(),
        _ => format!("cannot be read: {error}; check the path and its permissions"),
    }
}

/// Reads a regular file of at most `limit` bytes; `expected` names the kind of file, with its
/// article.
///
/// # Errors
/// One line without the file's name: what is wrong with it, and the remedy.
pub fn read_file(path: &Path, limit: u64, expected: &str) -> Result<Vec<u8>, String> {
    // Before the file is opened: opening a pipe would block until a writer opens it.
    if !fs::metadata(path).map_err(|error| unreadable(&error))?.is_file() {
        return Err(format!("not a regular file; expected {expected}"));
    }
    read_input(path, limit, expected)
}

/// As [`read_file`], but also reads pipes, such as those of a shell's `<(command)`.
///
/// # Errors
/// As [`read_file`].
pub fn read_input(path: &Path, limit: u64, expected: &str) -> Result<Vec<u8>, String> {
    let mut file = File::open(path).map_err(|error| unreadable(&error))?;
    let metadata = file.metadata().map_err(|error| unreadable(&error))?;
    if metadata.is_dir() {
        return Err(format!("it is a directory; expected {expected}"));
    }
    let mut bytes = Vec::new();
    // Reads one byte more than allowed, since the file may grow while it is read.
    let is_long = metadata.len() > limit;
    let read = if is_long { limit.min(64) } else { limit + 1 };
    file.by_ref().take(read).read_to_end(&mut bytes).map_err(|error| unreadable(&error))?;
    let length = if is_long { metadata.len() } else { bytes.len() as u64 };
    if length > limit {
        let remedy = binary_format(&bytes).map_or_else(
            || "reduce it".into(),
            |kind| format!("it is {kind}; reduce or replace it"),
        );
        return Err(format!("{length} bytes exceed the limit of {limit} for {expected}; {remedy}"));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_singular() {
        let texts = [0, 1, 2].map(|count| counted(count, "light"));
        assert_eq!(texts, ["0 lights", "1 light", "2 lights"]);
        assert_eq!(counted(3, "mesh"), "3 meshes");
    }

    #[test]
    fn binary_formats_are_named_and_text_is_not_mistaken_for_one() {
        for (bytes, name) in [
            (&b"glTF\x02\0\0\0"[..], Some("a glTF scene (GLB)")),
            (b"\xff\xd8\xff\xe0\0\x10JFIF", Some("a JPEG picture")),
            (b"\x76\x2f\x31\x01\x02\0", Some("an EXR picture")),
            (b"\x89PNG\r\n\x1a\n\0", Some("a PNG picture")),
            (b"%PDF-1.7\n%", Some("a PDF")),
            (b"BMW Leuchten\r\n1\n", None),
            (b"DDS Lighting", None),
            (b"BM\x01Leuchten\r\n1\n", None),
            (b"P5 \x07lamp", None),
            (b"P5\n2 2\n255\n\0\x01", Some("a PGM")),
            (b"BM\x46\0\0\0\0\0\0\0\x36", Some("a BMP")),
            (b"IESNA91\n", None),
            (b"", None),
        ] {
            assert_eq!(binary_format(bytes), name, "{bytes:?}");
        }
        assert_eq!(format_name(b"P3 1 1 255"), Some("a PPM"));
        let error = utf8_text(vec![0xff, 0xd8, 0xff, 0], "a look file").unwrap_err();
        assert_eq!(error, "it is a JPEG picture; expected a look file");
        assert!(utf8_text(vec![0xff, b'a'], "a look file").unwrap_err().contains("not UTF-8 text"));
        assert_eq!(utf8_text(b"a = 1".to_vec(), "a look file").unwrap(), "a = 1");
    }

    #[test]
    fn unusable_files_are_explained() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.ies");
        let read = |limit| read_file(&file, limit, "a photometric file");
        assert_eq!(read(9).unwrap_err(), "not found; check the path");
        fs::write(&file, "12345").unwrap();
        assert_eq!(read(5).unwrap(), b"12345");
        assert!(read(4).unwrap_err().contains("5 bytes exceed the limit of 4"));
        fs::write(&file, b"glTF\x02\0\0\0").unwrap();
        assert!(read(7).unwrap_err().ends_with("(GLB); reduce or replace it"));
        let folder = read_file(dir.path(), 9, "a photometric file").unwrap_err();
        assert_eq!(folder, "not a regular file; expected a photometric file");
    }

    #[cfg(unix)]
    #[test]
    fn pipes_are_read_where_they_are_allowed() {
        use std::{io::Write as _, os::fd::AsRawFd as _, path::PathBuf};
        let (reader, mut writer) = std::io::pipe().unwrap();
        writer.write_all(b"12345").unwrap();
        drop(writer);
        let path = PathBuf::from(format!("/proc/self/fd/{}", reader.as_raw_fd()));
        if path.exists() {
            let refused = read_file(&path, 9, "a photometric file").unwrap_err();
            assert_eq!(refused, "not a regular file; expected a photometric file");
            assert_eq!(read_input(&path, 9, "a look file").unwrap(), b"12345");
        }
        let folder = read_input(Path::new("/"), 9, "a look file").unwrap_err();
        assert_eq!(folder, "it is a directory; expected a look file");
    }
}
