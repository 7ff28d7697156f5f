//! Numbers of a sequence's pictures (`--frames`, `--start-frame`), and the names of their files.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::output;

/// Maximum number of pictures of a sequence, and maximum number of a picture.
pub const MAX_FRAMES: u32 = 1_000_000;

/// Maximum digits of a number in a file name.
const MAX_DIGITS: usize = 20;

/// Value of `--frames`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FrameRequest {
    /// This many pictures from `--start-frame` on.
    Count(u32),
    /// These numbers, increasing.
    Numbers(Arc<[u32]>),
}

impl FrameRequest {
    /// Parses a count, or a list of numbers and ranges (integer range expressions of Open Job
    /// Description, without negative numbers, and `x` as a further mark of the step):
    ///
    /// ```text
    /// frames = count | part ("," part)*        with a "," or "-", or a step, it is a list
    /// part   = first ["-" last] [(":" | "x") step]
    /// ```
    ///
    /// <https://github.com/OpenJobDescription/openjd-specifications/wiki/2023-09-Template-Schemas>,
    /// `IntRangeExpr`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let invalid = || {
            format!(
                "expected a number of pictures, 1 to {MAX_FRAMES}, or numbers up to {MAX_FRAMES} \
                 such as 10-20, 0-100x10, 0-100:10 or 5,7,9-12"
            )
        };
        let number = |text: &str| text.trim().parse::<u32>().ok().filter(|n| *n <= MAX_FRAMES);
        if let Ok(count) = text.trim().parse::<u32>() {
            let is_valid = (1..=MAX_FRAMES).contains(&count);
            return is_valid.then_some(Self::Count(count)).ok_or_else(invalid);
        }
        let mut numbers = Vec::new();
        for part in text.split(',') {
            let (range, step) = part.split_once([':', 'x']).unwrap_or((part, "1"));
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let bounds = (number(first), number(last), number(step).filter(|step| *step > 0));
            let (Some(first), Some(last), Some(step)) = bounds else { return Err(invalid()) };
            if first > last {
                return Err(format!("{first}-{last} runs backwards; write {last}-{first}"));
            }
            numbers.extend((first..=last).step_by(step as usize));
            if numbers.len() > 2 * MAX_FRAMES as usize {
                return Err(invalid());
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        Ok(Self::Numbers(numbers.into()))
    }

    /// The numbers, increasing. `start` is the number of the first picture of a count.
    ///
    /// # Errors
    /// A start beside a list, and numbers above [`MAX_FRAMES`].
    pub fn numbers(&self, start: Option<u32>) -> Result<Vec<u32>, String> {
        match (self, start) {
            (Self::Numbers(numbers), None) => Ok(numbers.to_vec()),
            (Self::Numbers(_), Some(start)) => Err(format!(
                "--start-frame {start} needs a count as --frames; a list of frames has its own \
                 numbers"
            )),
            (Self::Count(count), start) => {
                let start = start.unwrap_or(0);
                let end = start.saturating_add(*count);
                if end > MAX_FRAMES + 1 {
                    return Err(format!(
                        "--start-frame {start} with --frames {count} ends at frame {}: expected \
                         at most {MAX_FRAMES}",
                        end - 1
                    ));
                }
                Ok((start..end).collect())
            }
        }
    }
}

/// Increasing numbers as a list of ranges, which [`FrameRequest::parse`] reads: `0-7`, `5-5,9-12`.
pub fn list_text(numbers: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match ranges.last_mut().filter(|(_, last)| last.checked_add(1) == Some(number)) {
            Some((_, last)) => *last = number,
            None => ranges.push((number, number)),
        }
    }
    // A single number alone would be a count.
    let texts: Vec<String> =
        ranges.into_iter().map(|(first, last)| format!("{first}-{last}")).collect();
    texts.join(",")
}

/// The file of a picture. `a.####.exr`, `a.%04d.exr` and `a.exr` give `a.0012.exr` for number 12.
pub fn frame_file(output: &Path, number: u32) -> PathBuf {
    let name = output.file_name().unwrap_or_default().as_encoded_bytes();
    let named = hashes(name, number).or_else(|| percent(name, number));
    if let Some(named) = named.and_then(file_name) {
        return output.with_file_name(named);
    }
    let ending = output.extension().unwrap_or_default().to_string_lossy();
    output::replace_extension(output, &format!("{number:04}.{ending}"))
}

/// A file name of encoded bytes. Unix allows any bytes; elsewhere they must be UTF-8.
fn file_name(encoded: Vec<u8>) -> Option<OsString> {
    #[cfg(unix)]
    return Some(std::os::unix::ffi::OsStringExt::from_vec(encoded));
    #[cfg(not(unix))]
    return String::from_utf8(encoded).ok().map(OsString::from);
}

/// Replaces the last run of two or more `#` by the number, with as many digits at least.
fn hashes(name: &[u8], number: u32) -> Option<Vec<u8>> {
    let end = name.windows(2).rposition(|pair| pair == b"##")? + 2;
    let (run, rest) = name.split_at_checked(end)?;
    let width = run.iter().rev().take_while(|byte| **byte == b'#').count();
    let before = run.get(..end - width)?;
    Some([before, &digits(number, width.min(MAX_DIGITS)), rest].concat())
}

/// Replaces the first `%d` or `%04d` that no letter follows by the number.
fn percent(name: &[u8], number: u32) -> Option<Vec<u8>> {
    name.iter().enumerate().filter(|(_, byte)| **byte == b'%').find_map(|(start, _)| {
        let after = name.get(start + 1..)?;
        let count = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (width, rest) = after.split_at_checked(count)?;
        let rest = rest.strip_prefix(b"d")?;
        if rest.first().is_some_and(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii()) {
            return None;
        }
        let width = match width {
            [] => 0,
            [b'0', width @ ..] => std::str::from_utf8(width).ok()?.parse::<usize>().ok()?,
            _ => return None,
        };
        let width = (width <= MAX_DIGITS).then_some(width)?;
        Some([name.get(..start)?, &digits(number, width), rest].concat())
    })
}

fn digits(number: u32, width: usize) -> Vec<u8> {
    format!("{number:0width$}").into_bytes()
}

#[cfg(test)]
mod tests {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};

    use super::*;

    fn numbers(text: &str) -> Vec<u32> {
        FrameRequest::parse(text).unwrap().numbers(None).unwrap()
    }

    #[test]
    fn frames_are_a_count_or_a_list() {
        assert_eq!(FrameRequest::parse("48"), Ok(FrameRequest::Count(48)));
        let three = FrameRequest::parse("3").unwrap();
        assert_eq!(three.numbers(Some(10)).unwrap(), [10, 11, 12]);
        assert_eq!(three.numbers(None).unwrap(), [0, 1, 2]);
        assert_eq!(numbers("10-13"), [10, 11, 12, 13]);
        assert_eq!(numbers("1-10:4"), [1, 5, 9]);
        assert_eq!(numbers("1-10x4"), [1, 5, 9]);
        assert_eq!(numbers("10-12,30x2"), [10, 11, 12, 30]);
        assert_eq!(numbers("30-34x2, 1, 3-3,31-32"), [1, 3, 30, 31, 32, 34]);
        assert_eq!(numbers("7-7"), [7]);
        assert_eq!(numbers("0-1000000").len(), 1_000_001);
        for wrong in [
            "0",
            "-1",
            "1-",
            "2-1",
            "1-5x0",
            "1-5:",
            "1,,2",
            "",
            ",",
            "a",
            "1-2-3",
            "1000001",
            "0-9999999",
            "1-5x2x2",
            "1.5",
            "0-1000000,0-1000000,0-1000000",
        ] {
            assert!(FrameRequest::parse(wrong).is_err(), "{wrong}");
        }
        assert!(FrameRequest::parse("2-1").unwrap_err().contains("write 1-2"));
    }

    #[test]
    fn lists_are_written_as_they_are_read() {
        for (list, text) in [
            (&[0, 1, 2, 3][..], "0-3"),
            (&[7], "7-7"),
            (&[5, 9, 10, 11], "5-5,9-11"),
            (&[0, 2, 4], "0-0,2-2,4-4"),
        ] {
            assert_eq!(list_text(list), text);
            assert_eq!(numbers(text), list);
        }
    }

    #[test]
    fn a_start_needs_a_count_and_a_maximum() {
        let list = FrameRequest::parse("1-3").unwrap();
        assert!(list.numbers(Some(4)).unwrap_err().contains("--start-frame 4"));
        let error = FrameRequest::Count(2).numbers(Some(MAX_FRAMES)).unwrap_err();
        assert_eq!(
            error,
            "--start-frame 1000000 with --frames 2 ends at frame 1000001: expected at most 1000000"
        );
        assert_eq!(FrameRequest::Count(1).numbers(Some(MAX_FRAMES)).unwrap(), [MAX_FRAMES]);
    }

    #[test]
    fn names_hold_the_number() {
        for (output, file) in [
            ("a.exr", "a.0012.exr"),
            ("d/a.####.exr", "d/a.0012.exr"),
            ("a_######.png", "a_000012.png"),
            ("a.%04d.exr", "a.0012.exr"),
            ("a-%d.png", "a-12.png"),
            ("50%.png", "50%.0012.png"),
            ("50%-%03d.png", "50%-012.png"),
            ("a%x.d.png", "a%x.d.0012.png"),
            ("50%done.png", "50%done.0012.png"),
            ("a.%dpx.%d.png", "a.%dpx.12.png"),
            ("a.%4d.png", "a.%4d.0012.png"),
            ("#1.png", "#1.0012.png"),
            ("a##b#.png", "a12b#.png"),
            ("a#1.##.png", "a#1.12.png"),
            ("d##/a.png", "d##/a.0012.png"),
        ] {
            assert_eq!(frame_file(Path::new(output), 12), Path::new(file), "{output}");
        }
        assert_eq!(frame_file(Path::new("a.##.exr"), 123), Path::new("a.123.exr"));
        // Names that are not UTF-8 keep their bytes.
        for (output, file) in [
            (&b"\xff.##.png"[..], &b"\xff.12.png"[..]),
            (b"\xff.%03d.png", b"\xff.012.png"),
            (b"\xff.png", b"\xff.0012.png"),
        ] {
            let named = frame_file(Path::new(OsStr::from_bytes(output)), 12);
            assert_eq!(named.as_os_str().as_bytes(), file);
        }
    }
}
