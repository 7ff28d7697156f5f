//! URIs of buffers and images (glTF 2.0 section 2.8): data URIs are decoded, relative ones become
//! paths. Schemes and `base64` are case-insensitive (RFC 3986 section 3.1, RFC 2397); base64 is
//! decoded as browsers do (WHATWG, forgiving-base64).

use std::borrow::Cow;

use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use percent_encoding::percent_decode_str;

/// Padding is optional, as exporters differ.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// The resource that a URI names.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Target<'a> {
    /// A data URI: its media type, its encoded data, and a note on a malformed part.
    Data { mime: &'a str, payload: &'a str, base64: bool, odd: Option<String> },
    /// A file, relative to the document's folder, percent-decoded, with forward slashes; `..` only
    /// at its beginning. `literal` is the name without decoding, if it differs, for writers that do
    /// not encode.
    File { path: String, literal: Option<String> },
}

/// The part of a data URI after the scheme.
fn data(uri: &str) -> Option<&str> {
    let (scheme, rest) = uri.trim_start().split_once(':')?;
    scheme.eq_ignore_ascii_case("data").then_some(rest)
}

/// True if a URI is a data URI.
pub(super) fn is_data(uri: &str) -> bool {
    data(uri).is_some()
}

/// Parses a URI; an error says why it is not followed.
pub(super) fn parse(uri: &str) -> Result<Target<'_>, String> {
    if let Some(rest) = data(uri) {
        let (head, payload) = rest.split_once(',').ok_or("a data URI without a comma")?;
        let mut parts = head.split(';').map(str::trim);
        let mime = parts.next().unwrap_or_default();
        let mut base64 = false;
        let mut odd = None;
        for part in parts {
            if part.eq_ignore_ascii_case("base64") {
                base64 = true;
            } else if !part.contains('=') {
                odd = Some(format!(
                    "a data URI with the malformed parameter '{part}', which is ignored"
                ));
            }
        }
        return Ok(Target::Data { mime, payload, base64, odd });
    }
    // RFC 3986 section 3.1: a letter, then letters, digits, '+', '-' and '.', before a colon. A
    // name such as `12:30.png` has no scheme.
    let is_scheme = |scheme: &str| {
        let digit = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
        scheme.is_empty()
            || scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.bytes().all(digit)
    };
    if let Some((scheme, _)) = uri.split_once(':')
        && is_scheme(scheme)
    {
        return Err(if scheme.is_empty() {
            "an empty scheme".into()
        } else {
            format!("the scheme '{scheme}:'; expected a relative file or a data URI")
        });
    }
    let before = uri.split(['?', '#']).next().unwrap_or_default();
    let literal = normalized(uri).ok();
    let path = match (percent_decode_str(before).decode_utf8(), &literal) {
        (Ok(path), _) => normalized(&path)?,
        // An unencoded name that cannot be decoded is the file's own name.
        (Err(_), Some(literal)) => literal.clone(),
        (Err(_), None) => return Err("a path that is not UTF-8".into()),
    };
    Ok(Target::File { literal: literal.filter(|literal| *literal != path), path })
}

/// A relative path without `.` and empty parts, and with `..` only at its beginning (RFC 3986
/// section 5.2.4).
fn normalized(path: &str) -> Result<String, String> {
    if path.is_empty() {
        return Err("an empty path".into());
    }
    if path.contains('\0') {
        return Err("a zero byte".into());
    }
    let path = path.replace('\\', "/");
    if path.starts_with('/') {
        return Err("an absolute path; name the file relative to the document".into());
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            // A drive would make the path absolute on Windows, where names have no colons; it may
            // be percent-encoded or follow other parts.
            _ if part.contains(':') && (cfg!(windows) || part.len() == 2) => {
                return Err("a path with a drive".into());
            }
            _ => parts.push(part),
        }
    }
    match parts.last() {
        None => Err("an empty path".into()),
        Some(&"..") => Err("a folder, not a file".into()),
        Some(_) => Ok(parts.join("/")),
    }
}

/// Decodes a data URI's payload; also returns a note on a malformed part.
pub(super) fn decode(
    payload: &str,
    base64: bool,
) -> Result<(Vec<u8>, Option<&'static str>), String> {
    if !base64 {
        return Ok((percent_decode_str(payload).collect(), None));
    }
    let plain: Cow<'_, [u8]> = if payload.contains('%') {
        percent_decode_str(payload).collect::<Vec<u8>>().into()
    } else {
        payload.as_bytes().into()
    };
    let (mut spaces, mut safe) = (false, false);
    for byte in plain.iter() {
        spaces |= byte.is_ascii_whitespace();
        safe |= matches!(byte, b'-' | b'_');
    }
    let (plain, odd): (Cow<'_, [u8]>, _) = if spaces || safe {
        let standard = |byte: u8| match byte {
            b'-' => b'+',
            b'_' => b'/',
            other => other,
        };
        let cleaned: Vec<u8> = plain
            .iter()
            .filter(|byte| !byte.is_ascii_whitespace())
            .copied()
            .map(standard)
            .collect();
        let odd = if spaces {
            "base64 with white space in it"
        } else {
            "base64 in the alphabet for URLs"
        };
        (cleaned.into(), Some(odd))
    } else {
        (plain, None)
    };
    BASE64
        .decode(&plain)
        .map(|bytes| (bytes, odd))
        .map_err(|error| format!("broken base64: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> Result<Target<'static>, String> {
        Ok(Target::File { path: path.into(), literal: None })
    }

    #[test]
    fn relative_paths_are_decoded_and_normalized() {
        let both = |path: &str, literal: &str| {
            Ok(Target::File { path: path.into(), literal: Some(literal.into()) })
        };
        assert_eq!(parse("a%20b/./c.bin"), both("a b/c.bin", "a%20b/c.bin"));
        assert_eq!(parse("no#2.png"), both("no", "no#2.png"));
        assert_eq!(parse("x/../c.bin"), file("c.bin"));
        assert_eq!(parse("../c.bin"), file("../c.bin"));
        assert_eq!(parse("a/../../x/../c"), file("../c"));
        assert_eq!(parse("..\\..\\x"), file("../../x"));
        if cfg!(unix) {
            assert_eq!(parse("12:30.png"), file("12:30.png"));
            assert_eq!(parse("a%3Ab.png"), both("a:b.png", "a%3Ab.png"));
        }
        assert_eq!(parse("rate%A0.png"), file("rate%A0.png"));
        for bad in [
            "/etc/passwd",
            "%2Fetc/x",
            "file:///x",
            "http://x/y",
            ":",
            "",
            "..",
            "a/..",
            "C:/x",
            "C%3A/x",
            "../C%3A/x",
            "../a/C:/x",
            "a%00",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn data_uris_are_decoded() {
        let bytes = |payload: &str, base64| decode(payload, base64).map(|(bytes, _)| bytes);
        assert_eq!(decode("AAEC", true), Ok((vec![0, 1, 2], None)));
        assert_eq!(bytes("AA==", true), Ok(vec![0]));
        assert_eq!(bytes("AA", true), Ok(vec![0]));
        assert_eq!(bytes("", true), Ok(vec![]));
        assert_eq!(bytes("a%20b", false), Ok(b"a b".to_vec()));
        for spaced in [" AAEC", "AA\r\nEC\n", "AAE C", "%0AAAEC%20", "A\tAEC"] {
            assert_eq!(
                decode(spaced, true),
                Ok((vec![0, 1, 2], Some("base64 with white space in it"))),
                "{spaced:?}"
            );
        }
        assert_eq!(bytes("-_-_", true), bytes("+/+/", true));
        assert!(decode("-_-_", true).unwrap_or_default().1.is_some());
        assert!(decode("`", true).is_err() && decode("AA=A", true).is_err());
        assert!(parse("data:").is_err());
        for uri in [
            "data:image/png;base64,AA==",
            "DATA:image/png;BASE64,AA==",
            " data:image/png; base64,AA==",
            "data: image/png ;charset=utf-8; Base64 ,AA==",
        ] {
            let parsed = parse(uri);
            let wanted =
                Target::Data { mime: "image/png", payload: "AA==", base64: true, odd: None };
            assert_eq!(parsed, Ok(wanted), "{uri}");
        }
        let odd = parse("data:application/octet-stream;;base64,AA==");
        assert!(matches!(odd, Ok(Target::Data { base64: true, odd: Some(_), .. })), "{odd:?}");
    }
}
