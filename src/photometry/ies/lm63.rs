//! The parser of LM-63 files.

use super::{
    derived::Derived,
    numbers::{Listed, finite, snapped},
    profile::{
        IesError, IesProfile, IesVersion, MAX_ANGLES, MAX_VALUES, PhotometricType, Symmetry, Tilt,
    },
};
use crate::photometry::units::Lumen;

/// Maximum lines before `TILT=` that are kept.
const MAX_HEAD_LINES: usize = 4096;
/// Maximum pairs of tilt angle and factor.
const MAX_TILT_PAIRS: usize = 3601;

/// The numbers after `TILT=`, one after the other, each with its line.
struct Tokens<'a> {
    rest: Box<dyn Iterator<Item = (usize, &'a str)> + 'a>,
    line: usize,
}

impl<'a> Tokens<'a> {
    fn new(body: &'a str, first_line: usize) -> Self {
        let words = move |(i, line): (usize, &'a str)| {
            let separators = |c: char| c.is_whitespace() || c == ',' || c == '\0' || c == '\u{1a}';
            line.split(separators)
                .filter(|word| !word.is_empty())
                .map(move |word| (first_line + i, word))
        };
        Self { rest: Box::new(body.split('\n').enumerate().flat_map(words)), line: first_line }
    }

    fn token(&mut self, what: &'static str) -> Result<&'a str, IesError> {
        let (line, token) =
            self.rest.next().ok_or(IesError::Truncated { line: self.line, what })?;
        self.line = line;
        Ok(token)
    }

    fn number(&mut self, what: &'static str) -> Result<f64, IesError> {
        let token = self.token(what)?;
        finite(token).ok_or_else(|| IesError::Number {
            line: self.line,
            token: token.chars().take(32).collect(),
            what,
        })
    }

    /// A number that does not affect the light: `instead`, with a note, if it is invalid.
    fn aside(
        &mut self,
        what: &'static str,
        instead: f64,
        ok: fn(f64) -> bool,
        notes: &mut Vec<String>,
    ) -> Result<f64, IesError> {
        let token = self.token(what)?;
        let good = finite(token).filter(|&value| ok(value));
        if good.is_none() {
            let token: String = token.chars().take(32).collect();
            notes.push(format!(
                "line {}: {what} is {token}, which is invalid; it does not affect the light",
                self.line
            ));
        }
        Ok(good.unwrap_or(instead))
    }

    fn checked(
        &mut self,
        what: &'static str,
        allowed: &'static str,
        ok: fn(f64) -> bool,
    ) -> Result<f64, IesError> {
        let value = self.number(what)?;
        if ok(value) {
            Ok(value)
        } else {
            Err(IesError::Range { line: self.line, what, value, allowed })
        }
    }

    fn count(&mut self, what: &'static str, least: usize, most: usize) -> Result<usize, IesError> {
        let value = self.number(what)?;
        if value.fract() == 0.0 && value >= least as f64 && value <= most as f64 {
            // In range, so the cast is exact.
            Ok(value as usize)
        } else {
            let allowed = match (least, most) {
                (2, MAX_ANGLES) => "a whole number from 2 to 14401",
                (1, MAX_ANGLES) => "a whole number from 1 to 14401",
                (1, MAX_TILT_PAIRS) => "a whole number from 1 to 3601",
                (1, 2) => "1 or 2",
                _ => "1, 2 or 3",
            };
            Err(IesError::Range { line: self.line, what, value, allowed })
        }
    }

    fn rising(&mut self, count: usize, what: &'static str) -> Result<Vec<f64>, IesError> {
        let mut angles: Vec<f64> = Vec::new();
        for _ in 0..count {
            let value = self.number(what)?;
            if let Some(&previous) = angles.last()
                && value <= previous
            {
                return Err(IesError::Unsorted { line: self.line, what, value, previous });
            }
            angles.push(value);
        }
        Ok(angles)
    }
}

/// The line `TILT=`: the end of the text before it, its value, and the numbers after it.
pub(super) struct TiltLine<'a> {
    head_end: usize,
    value: String,
    tokens: Tokens<'a>,
}

impl<'a> TiltLine<'a> {
    /// Finds the line; `None` if the text is not LM-63.
    pub(super) fn find(text: &'a str) -> Option<Self> {
        let mut head_end = 0;
        for (i, line) in text.split('\n').enumerate() {
            if let Some((start, value)) = line.split_once('=')
                && start.trim().eq_ignore_ascii_case("TILT")
            {
                let body = text.get(head_end + line.len() + 1..).unwrap_or("");
                let tokens = Tokens::new(body, i + 2);
                return Some(Self { head_end, value: value.trim().to_owned(), tokens });
            }
            head_end += line.len() + 1;
        }
        None
    }
}

/// Parses a text with its line `TILT=`.
pub(super) fn parse(
    text: &str,
    tilt_line: TiltLine<'_>,
    mut notes: Vec<String>,
) -> Result<IesProfile, IesError> {
    let TiltLine { head_end, value: tilt_value, mut tokens } = tilt_line;
    let (version, keywords) = header(text.get(..head_end).unwrap_or(""), &mut notes);
    let tilt = if tilt_value.eq_ignore_ascii_case("NONE") {
        Tilt::None
    } else if tilt_value.eq_ignore_ascii_case("INCLUDE") {
        let known = |x: f64| [1.0, 2.0, 3.0].contains(&x);
        let geometry =
            tokens.aside("the lamp-to-luminaire geometry", 1.0, known, &mut notes)? as u8;
        let pairs = tokens.count("the number of tilt angles", 1, MAX_TILT_PAIRS)?;
        let angles = tokens.rising(pairs, "the tilt angle")?;
        let mut factors = Vec::new();
        for angle in angles {
            factors.push((angle, tokens.checked("the tilt factor", "at least 0", |x| x >= 0.0)?));
        }
        Tilt::Include { geometry, factors }
    } else {
        notes.push(format!(
            "the tilt file \"{tilt_value}\" is not read; the output is assumed independent of tilt"
        ));
        Tilt::File(tilt_value)
    };

    let lamps = tokens.aside("the number of lamps", 1.0, |x| x >= 0.0, &mut notes)?;
    let rated = tokens.aside("the lumens per lamp", -1.0, |x| x >= 0.0 || x == -1.0, &mut notes)?;
    let multiplier = tokens.checked("the candela multiplier", "above 0", |x| x > 0.0)?;
    let vertical_count = tokens.count("the number of vertical angles", 2, MAX_ANGLES)?;
    let horizontal_count = tokens.count("the number of horizontal angles", 1, MAX_ANGLES)?;
    if vertical_count * horizontal_count > MAX_VALUES {
        let value = (vertical_count * horizontal_count) as f64;
        let allowed = "at most 8388608 in all";
        return Err(IesError::Range {
            line: tokens.line,
            what: "the number of candela values",
            value,
            allowed,
        });
    }
    let kind = match tokens.count("the photometric type", 1, 3)? {
        1 => PhotometricType::C,
        2 => PhotometricType::B,
        _ => PhotometricType::A,
    };
    tokens.aside("the unit of length", 2.0, |x| x == 1.0 || x == 2.0, &mut notes)?;
    for what in ["the opening's width", "the opening's length", "the opening's height"] {
        tokens.aside(what, 0.0, |_| true, &mut notes)?;
    }
    let ballast = tokens.checked("the ballast factor", "above 0", |x| x > 0.0)?;
    let ballast_lamp = match version {
        IesVersion::Lm63_1986 | IesVersion::Lm63_1991 | IesVersion::Lm63_1995 => {
            let factor = tokens.number("the ballast-lamp factor")?;
            if factor <= 0.0 {
                notes.push(format!("the ballast-lamp factor {factor} is taken for 1"));
            }
            if factor > 0.0 { factor } else { 1.0 }
        }
        // In 2002 its field is "future use", in 2019 the file's type.
        _ => {
            tokens.aside("the field of future use", 1.0, |_| true, &mut notes)?;
            1.0
        }
    };
    let watts = tokens.aside("the input watts", 0.0, |x| x >= 0.0, &mut notes)?;

    let vertical = tokens.rising(vertical_count, "the vertical angle")?;
    let (least, most, allowed) = match kind {
        PhotometricType::C => (0.0, 180.0, "within 0 to 180 degrees"),
        PhotometricType::B => (-180.0, 180.0, "within -180 to 180 degrees"),
        PhotometricType::A => (-90.0, 90.0, "within -90 to 90 degrees"),
    };
    let beyond: Vec<f64> = [least, most]
        .into_iter()
        .filter(|_| vertical.iter().any(|&v| v < least || v > most))
        .collect();
    let vertical = snapped(vertical, &beyond, "the vertical angle", &mut notes);
    if let Some(&value) = vertical.iter().find(|&&v| v < least || v > most) {
        return Err(IesError::Range {
            line: tokens.line,
            what: "a vertical angle",
            value,
            allowed,
        });
    }
    let horizontal = tokens.rising(horizontal_count, "the horizontal angle")?;
    let ends: &[f64] = match kind {
        _ if horizontal_count == 1 => &[],
        PhotometricType::C => &[0.0, 90.0, 180.0, 270.0, 360.0],
        // A list from a negative angle has no mirror: its first angle does not snap to 0.
        _ if horizontal.first().is_some_and(|&first| first > 0.0) => &[0.0, 90.0, 180.0],
        _ => &[-180.0, -90.0, 90.0, 180.0],
    };
    let horizontal = snapped(horizontal, ends, "the horizontal angle", &mut notes);
    let symmetry = symmetry(kind, &horizontal, tokens.line)?;

    let factor = multiplier * ballast * ballast_lamp;
    let mut listed = Listed::default();
    for _ in 0..vertical_count * horizontal_count {
        let value = tokens.number("the candela value")?;
        listed.push(value, tokens.line);
    }
    let candela = listed.times(factor, &mut notes)?;
    if !candela.iter().all(|c| c.is_finite()) {
        let (what, allowed) = ("the product of all multipliers", "small enough for finite candela");
        return Err(IesError::Range { line: tokens.line, what, value: factor, allowed });
    }
    if let Some((line, _)) = tokens.rest.next() {
        notes.push(format!("line {line}: text after the last candela value is ignored"));
    }
    let lumens_per_lamp = (rated >= 0.0).then_some(Lumen(rated));
    Ok(IesProfile {
        version,
        keywords,
        tilt,
        lamps,
        lumens_per_lamp,
        kind,
        symmetry,
        watts,
        stated: None,
        vertical,
        horizontal,
        candela,
        notes,
        is_computed: false,
        derived: Derived::default(),
    })
}

/// Edition and keywords from the text before `TILT=`.
fn header(head: &str, notes: &mut Vec<String>) -> (IesVersion, Vec<(String, String)>) {
    let first = head.split('\n').next().unwrap_or("").trim();
    let version = [
        ("IESNA:LM-63-2002", IesVersion::Lm63_2002),
        ("IES:LM-63-2019", IesVersion::Lm63_2019),
        ("IESNA:LM-63-2019", IesVersion::Lm63_2019),
        ("IESNA:LM-63-1995", IesVersion::Lm63_1995),
        ("IESNA91", IesVersion::Lm63_1991),
    ]
    .into_iter()
    .find(|(head, _)| first.get(..head.len()).is_some_and(|start| start.eq_ignore_ascii_case(head)))
    .map(|(_, version)| version);
    let mut keywords: Vec<(String, String)> = Vec::new();
    for (i, line) in head.split('\n').enumerate().skip(usize::from(version.is_some())) {
        if i >= MAX_HEAD_LINES {
            notes.push(format!("only the first {MAX_HEAD_LINES} lines before TILT= are kept"));
            break;
        }
        let line = line.trim();
        match line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((key, value)) if key.eq_ignore_ascii_case("MORE") => {
                if let Some((_, before)) = keywords.last_mut() {
                    before.push('\n');
                    before.push_str(value.trim());
                }
            }
            Some((key, value)) => keywords.push((key.trim().to_owned(), value.trim().to_owned())),
            None => {}
        }
    }
    (version.unwrap_or(IesVersion::Lm63_1986), keywords)
}

/// Symmetry of a list of horizontal angles: LM-63-2002, horizontal angles.
fn symmetry(kind: PhotometricType, horizontal: &[f64], line: usize) -> Result<Symmetry, IesError> {
    let (first, last) =
        (horizontal.first().copied().unwrap_or(0.0), horizontal.last().copied().unwrap_or(0.0));
    let refused = Err(IesError::Symmetry { line, first, last, kind });
    let farthest = if kind == PhotometricType::A { 180.0 } else { 90.0 };
    match kind {
        _ if horizontal.len() == 1 => Ok(Symmetry::Axial),
        PhotometricType::C => match (first, last) {
            (0.0, 90.0) => Ok(Symmetry::Quadrant),
            (0.0, 180.0) => Ok(Symmetry::Bilateral),
            (90.0, 270.0) => Ok(Symmetry::Bilateral90),
            (0.0, last) if last > 180.0 && last <= 360.0 => Ok(Symmetry::Full),
            _ => refused,
        },
        _ if first == 0.0 && last <= farthest => Ok(Symmetry::Mirrored),
        _ if first >= -farthest && first < 0.0 && last <= farthest => Ok(Symmetry::Listed),
        _ => refused,
    }
}
