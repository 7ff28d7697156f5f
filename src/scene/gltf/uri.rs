//! URIs of buffers and images (glTF 2.0 section 2.8): data URIs are decoded, relative ones made safe.

use std::borrow::Cow;

use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use percent_encoding::percent_decode_str;

/// Exporters differ on padding, so it is accepted with and without.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// What a URI names.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target<'a> {
    /// A data URI: its media type, and its data still encoded.
    Data { mime: &'a str, payload: &'a str, base64: bool },
    /// A file below the document's folder, percent-decoded, with forward slashes.
    File(String),
}

/// Tells what a URI names, or why it may not be followed.
pub(super) fn parse(uri: &str) -> Result<Target<'_>, String> {
    if let Some(rest) = uri.strip_prefix("data:") {
        let (head, payload) = rest.split_once(',').ok_or("a data URI without a comma")?;
        let mut parts = head.split(';');
        let mime = parts.next().unwrap_or_default();
        let mut base64 = false;
        for part in parts {
            match part {
                "base64" => base64 = true,
                _ if part.contains('=') => {}
                _ => return Err(format!("a data URI with the malformed parameter '{part}'")),
            }
        }
        return Ok(Target::Data { mime, payload, base64 });
    }
    // RFC 3986: a scheme is what stands before a colon that comes before any slash.
    if let Some((scheme, _)) = uri.split_once(':')
        && !scheme.contains(['/', '?', '#'])
    {
        return Err(if scheme.is_empty() {
            "an empty scheme".into()
        } else {
            format!("the scheme '{scheme}:'; only relative files and data URIs are read")
        });
    }
    let path = uri.split(['?', '#']).next().unwrap_or_default();
    let path: Cow<'_, str> = percent_decode_str(path).decode_utf8().map_err(|_| "a path that is not UTF-8")?;
    if path.is_empty() {
        return Err("an empty path".into());
    }
    if path.contains('\0') {
        return Err("a zero byte".into());
    }
    let path = path.replace('\\', "/");
    if path.starts_with('/') {
        return Err("an absolute path".into());
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if parts.pop().is_none() {
                    return Err("a path outside of the document's folder".into());
                }
            }
            // A drive letter that was percent-encoded would be absolute on Windows.
            _ if part.contains(':') && parts.is_empty() => return Err("a path with a drive or scheme".into()),
            _ => parts.push(part),
        }
    }
    if parts.is_empty() { Err("an empty path".into()) } else { Ok(Target::File(parts.join("/"))) }
}

/// Decodes a data URI's payload.
pub(super) fn decode(payload: &str, base64: bool) -> Result<Vec<u8>, String> {
    if base64 {
        let plain: Cow<'_, str> = if payload.contains('%') {
            percent_decode_str(payload).decode_utf8().map_err(|_| "a payload that is not UTF-8")?
        } else {
            payload.into()
        };
        BASE64.decode(plain.as_bytes()).map_err(|error| format!("broken base64: {error}"))
    } else {
        Ok(percent_decode_str(payload).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_are_decoded_and_kept_inside() {
        assert_eq!(parse("a%20b/./c.bin"), Ok(Target::File("a b/c.bin".into())));
        assert_eq!(parse("x/../c.bin"), Ok(Target::File("c.bin".into())));
        for bad in [
            "../c.bin",
            "a/../../c",
            "/etc/passwd",
            "%2e%2e/x",
            "%2Fetc/x",
            "file:///x",
            "http://x/y",
            ":",
            "",
            "C:/x",
            "..\\x",
            "C%3A/x",
            "a%00",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn data_uris_are_decoded() {
        assert_eq!(decode("AAEC", true), Ok(vec![0, 1, 2]));
        assert_eq!(decode("AA==", true), Ok(vec![0]));
        assert_eq!(decode("AA", true), Ok(vec![0]));
        assert_eq!(decode("a%20b", false), Ok(b"a b".to_vec()));
        assert!(decode("`", true).is_err());
        assert!(parse("data:application/octet-stream;;base64,AA==").is_err());
        assert!(parse("data:").is_err());
        let parsed = parse("data:image/png;base64,AA==");
        assert_eq!(parsed, Ok(Target::Data { mime: "image/png", payload: "AA==", base64: true }));
    }
}
