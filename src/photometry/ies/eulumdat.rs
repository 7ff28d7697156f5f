//! EULUMDAT (.ldt), the format of European manufacturers: one field per line, in fixed order.
//!
//! A. Stockmar, "EULUMDAT - ein Leuchtendatenformat fuer den europaeischen Beleuchtungsplaner",
//! Licht '90, and "EULUMDAT/2", CIBSE National Lighting Conference 1998. Intensities are in candela
//! per 1000 lm of the lamps' flux, in planes C (type C of LM-75) and angles gamma from nadir. The
//! plane C0 is the light's +X and C90 its +Y, as the horizontal angles of IES are; the length of a
//! luminaire lies in C90-C270 and so along Y.
//!
//! DFF and LORL follow from the intensities and are not applied; they are kept and compared. Sets
//! of lamps are alternatives: the first is used.

use super::{
    derived::Derived,
    numbers::{Listed, finite, snapped},
    profile::{
        IesError, IesProfile, IesVersion, MAX_ANGLES, MAX_VALUES, PhotometricType, StatedRatios,
        Symmetry, Tilt,
    },
};
use crate::photometry::units::Lumen;

/// Maximum sets of lamps.
const MAX_SETS: usize = 64;
/// Lamp flux (lm) of a file that states none: intensities are per 1000 lm.
const UNIT_FLUX: f64 = 1000.0;
/// Maximum deviation of the stated light output ratio from the intensities without a note.
const RATIO_SLACK: f64 = 0.05;

/// Fields by their line, from 1.
struct Lines<'a> {
    lines: Vec<&'a str>,
    notes: Vec<String>,
}

/// Parses a number with a decimal point or a (German) decimal comma. If both occur, the last is the
/// decimal separator and the others group thousands.
fn number(text: &str) -> Option<f64> {
    let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0' || c == '\u{1a}');
    let decimal = text.rfind(['.', ',']);
    let groups = text.contains('.') && text.contains(',');
    let digits: String = text
        .char_indices()
        .filter(|&(at, c)| !groups || !matches!(c, '.' | ',') || Some(at) == decimal)
        .map(|(_, c)| if c == ',' { '.' } else { c })
        .collect();
    finite(&digits)
}

impl<'a> Lines<'a> {
    fn text(&self, line: usize) -> &'a str {
        line.checked_sub(1).and_then(|at| self.lines.get(at)).map_or("", |text| text.trim())
    }

    /// A number that affects the light; an error if it is invalid.
    fn number(&self, line: usize, what: &'static str) -> Result<f64, IesError> {
        if line > self.lines.len() {
            return Err(IesError::Truncated { line: self.lines.len(), what });
        }
        let token = || self.text(line).chars().take(32).collect();
        number(self.text(line)).ok_or_else(|| IesError::Number { line, token: token(), what })
    }

    fn count(
        &self,
        line: usize,
        what: &'static str,
        most: usize,
        allowed: &'static str,
    ) -> Result<usize, IesError> {
        let value = self.number(line, what)?;
        if value.fract() == 0.0 && value >= 0.0 && value <= most as f64 {
            // In range, so the cast is exact.
            Ok(value as usize)
        } else {
            Err(IesError::Range { line, what, value, allowed })
        }
    }

    /// A number that does not affect the light: 0, with a note, if it is invalid. Empty is 0.
    fn aside(&mut self, line: usize, what: &str) -> f64 {
        let text = self.text(line);
        if text.is_empty() {
            return 0.0;
        }
        // Powers and similar fields may have a unit or several values.
        let start = text.split_whitespace().next().unwrap_or("");
        number(text).or_else(|| number(start)).unwrap_or_else(|| {
            let token: String = text.chars().take(32).collect();
            self.notes.push(format!(
                "line {line}: {what} is {token}, which is no number; it does not bear on the light"
            ));
            0.0
        })
    }
}

/// True if lines 2 to 7 are the numbers of EULUMDAT.
fn is_eulumdat(lines: &[&str]) -> bool {
    let value = |line: usize| lines.get(line - 1).and_then(|text| number(text));
    let small =
        |line: usize| value(line).is_some_and(|value| value.fract() == 0.0 && value.abs() < 100.0);
    small(2)
        && small(3)
        && (4..=7).filter(|&line| line <= lines.len()).all(|line| value(line).is_some())
}

/// Flux of the lamps (lm).
struct Lamps {
    flux: f64,
    /// True if the flux is of the lamps, not of the luminaire (absolute photometry).
    rated: bool,
    watts: f64,
    /// The line after the last set.
    next: usize,
    kind: String,
}

fn lamps(lines: &mut Lines<'_>) -> Result<Lamps, IesError> {
    const SETS: usize = 26;
    let sets =
        lines.count(SETS, "the number of lamp sets", MAX_SETS, "a whole number from 0 to 64")?;
    let next = SETS + 1 + 6 * sets;
    if sets == 0 {
        lines.notes.push(format!(
            "no lamps are stated: the intensities are taken for lamps of {UNIT_FLUX} lm"
        ));
        return Ok(Lamps { flux: UNIT_FLUX, rated: false, watts: 0.0, next, kind: String::new() });
    }
    let stated = lines.number(SETS + 3, "the flux of the lamps")?;
    // A negative number of lamps marks absolute photometry: the flux is the luminaire's.
    let absolute = lines.aside(SETS + 1, "the number of lamps") < 0.0;
    let flux = if stated == 0.0 {
        lines.notes.push(format!(
            "the lamps have a flux of 0: the intensities are taken for lamps of {UNIT_FLUX} lm"
        ));
        UNIT_FLUX
    } else if stated < 0.0 {
        return Err(IesError::Range {
            line: SETS + 3,
            what: "the flux of the lamps",
            value: stated,
            allowed: "at least 0",
        });
    } else {
        stated
    };
    if sets > 1 {
        let others: Vec<String> =
            (1..sets).map(|set| format!("{} lm", lines.text(SETS + 3 + 6 * set))).collect();
        let others = others.join(", ");
        lines.notes.push(format!(
            "{sets} sets of lamps: the first counts, of {flux} lm; the others have {others}"
        ));
    }
    let watts = lines.aside(SETS + 6, "the power").max(0.0);
    Ok(Lamps {
        flux,
        rated: stated > 0.0 && !absolute,
        watts,
        next,
        kind: lines.text(SETS + 2).to_owned(),
    })
}

/// Numbers from a line on, one or several per line, with their lines.
fn rest<'a>(lines: &Lines<'a>, from: usize) -> Vec<(usize, &'a str)> {
    let after = lines.lines.iter().enumerate().skip(from - 1);
    let separators = |c: char| c.is_whitespace() || c == ';' || c == '\0' || c == '\u{1a}';
    after
        .flat_map(|(at, line)| {
            line.split(separators).filter(|word| !word.is_empty()).map(move |word| (at + 1, word))
        })
        .collect()
}

/// Rising angles out of the list of numbers, within a range.
fn angles(
    words: &[(usize, &str)],
    what: &'static str,
    [least, most]: [f64; 2],
    allowed: &'static str,
    notes: &mut Vec<String>,
) -> Result<Vec<f64>, IesError> {
    let mut found: Vec<f64> = Vec::with_capacity(words.len());
    let mut line = 0;
    for &(at, word) in words {
        line = at;
        let value = number(word).ok_or_else(|| IesError::Number {
            line,
            token: word.chars().take(32).collect(),
            what,
        })?;
        if let Some(&previous) = found.last()
            && value <= previous
        {
            return Err(IesError::Unsorted { line, what, value, previous });
        }
        found.push(value);
    }
    let outside =
        |angles: &[f64]| angles.iter().copied().find(|&angle| angle < least || angle > most);
    let ends: &[f64] = if outside(&found).is_some() { &[least, most] } else { &[] };
    let found = snapped(found, ends, what, notes);
    match outside(&found) {
        Some(value) => Err(IesError::Range { line, what, value, allowed }),
        None => Ok(found),
    }
}

/// Parses the text of a file with `\n` line endings; `None` if it is not EULUMDAT.
pub(super) fn parse(text: &str, notes: Vec<String>) -> Option<Result<IesProfile, IesError>> {
    let lines: Vec<&str> = text.split('\n').collect();
    is_eulumdat(&lines).then(|| read(Lines { lines, notes }))
}

fn read(mut lines: Lines<'_>) -> Result<IesProfile, IesError> {
    let isym = lines.count(3, "the symmetry indicator (Isym)", 4, "0, 1, 2, 3 or 4")?;
    let mc = lines.count(
        4,
        "the number of C-planes (Mc)",
        MAX_ANGLES,
        "a whole number from 1 to 14401",
    )?;
    let ng = lines.count(
        6,
        "the number of angles in each C-plane (Ng)",
        MAX_ANGLES,
        "a whole number from 2 to 14401",
    )?;
    let range = |line, what, value: usize, allowed| IesError::Range {
        line,
        what,
        value: value as f64,
        allowed,
    };
    if mc == 0 {
        return Err(range(4, "the number of C-planes (Mc)", mc, "a whole number from 1 to 14401"));
    }
    if ng < 2 {
        return Err(range(
            6,
            "the number of angles in each C-plane (Ng)",
            ng,
            "a whole number from 2 to 14401",
        ));
    }
    let even = |parts: usize, allowed| {
        if mc.is_multiple_of(parts) {
            Ok(())
        } else {
            Err(range(4, "the number of C-planes (Mc)", mc, allowed))
        }
    };
    // Number of planes with intensities, and the index of the first in the list of angles.
    let (given, first) = match isym {
        0 => (mc, 0),
        1 => (1, 0),
        2 => even(2, "even with symmetry 2").map(|()| (mc / 2 + 1, 0))?,
        3 => even(4, "a multiple of 4 with symmetry 3").map(|()| (mc / 2 + 1, 3 * mc / 4))?,
        _ => even(4, "a multiple of 4 with symmetry 4").map(|()| (mc / 4 + 1, 0))?,
    };
    if given * ng > MAX_VALUES {
        return Err(range(6, "the number of intensities", given * ng, "at most 8388608 in all"));
    }
    let factor = lines.number(24, "the conversion factor")?;
    let factor = if factor == 0.0 {
        lines.notes.push("line 24: the conversion factor 0 is taken for 1".into());
        1.0
    } else if factor < 0.0 {
        return Err(IesError::Range {
            line: 24,
            what: "the conversion factor",
            value: factor,
            allowed: "above 0",
        });
    } else {
        factor
    };
    let lamps = lamps(&mut lines)?;
    // Ten direct ratios for room tables.
    let words = rest(&lines, lamps.next + 10);
    let missing = |what| Err(IesError::Truncated { line: lines.lines.len(), what });
    // Some files list the angles of the given planes alone, or the intensities of all planes.
    let (listed, planes) = match words.len() {
        n if n >= mc + ng + mc * ng && given < mc => (mc, mc),
        n if n >= mc + ng + given * ng => (mc, given),
        n if n == given + ng + given * ng => (given, given),
        n if n < mc => return missing("an angle of a C-plane"),
        n if n < mc + ng => return missing("an angle gamma"),
        _ => return missing("an intensity"),
    };
    let mut notes = std::mem::take(&mut lines.notes);
    let (c_words, after) = words.split_at(listed);
    let (g_words, after) = after.split_at(ng);
    let (i_words, after) = after.split_at(planes * ng);
    // Lists of the planes of symmetry 3 run on beyond 360.
    let c = angles(
        c_words,
        "the angle of a C-plane",
        [0.0, 720.0],
        "within 0 to 360 degrees",
        &mut notes,
    )?;
    let gamma =
        angles(g_words, "the angle gamma", [0.0, 180.0], "within 0 to 180 degrees", &mut notes)?;
    let mut values = Listed::default();
    for &(line, word) in i_words {
        let what = "the intensity";
        let value = number(word).filter(|value| value.abs() < 1e15);
        let token = || word.chars().take(32).collect();
        values.push(value.ok_or_else(|| IesError::Number { line, token: token(), what })?, line);
    }
    let candela = values.times(factor * lamps.flux / 1000.0, &mut notes)?;
    if !candela.iter().all(|c| c.is_finite()) {
        let allowed = "small enough for finite candela";
        return Err(IesError::Range {
            line: 24,
            what: "the conversion factor",
            value: factor,
            allowed,
        });
    }
    if let Some((line, _)) = after.first() {
        notes.push(format!("line {line}: text after the last intensity is ignored"));
    }
    let rows: Vec<Vec<f64>> = candela.chunks(ng).map(<[f64]>::to_vec).collect();
    let (symmetry, horizontal, rows) = if planes == mc && given < mc {
        notes
            .push(format!("symmetry {isym} needs {given} planes, the file has {mc}: all are used"));
        full(c, rows)
    } else {
        let angles = if listed == planes {
            c
        } else {
            c.iter().copied().cycle().skip(first).take(planes).collect()
        };
        folded(isym, angles, rows, &mut notes)?
    };
    let stated = StatedRatios {
        light_output: lines.aside(23, "the light output ratio"),
        downward: lines.aside(22, "the downward flux fraction"),
    };
    let tilt = lines.aside(25, "the tilt of the measurement");
    if tilt != 0.0 {
        notes.push(format!(
            "it was measured tilted by {tilt} degrees; the intensities are those of the luminaire as listed"
        ));
    }
    let area = ["length", "width", "height", "height", "height", "height"];
    for (line, side) in (16..).zip(area) {
        lines.aside(line, &format!("the {side} of the luminous area"));
    }
    notes.append(&mut lines.notes);
    let mut profile = IesProfile {
        version: IesVersion::Eulumdat,
        keywords: keywords(&lines, &lamps),
        tilt: Tilt::None,
        lamps: 1.0,
        lumens_per_lamp: lamps.rated.then_some(Lumen(lamps.flux)),
        kind: PhotometricType::C,
        symmetry,
        watts: lamps.watts,
        stated: Some(stated),
        vertical: gamma,
        horizontal,
        candela: rows.concat(),
        notes,
        is_computed: false,
        derived: Derived::default(),
    };
    let output = profile.lumens().get() / lamps.flux;
    let said = stated.light_output / 100.0;
    if said > 0.0 && (output / said - 1.0).abs() > RATIO_SLACK {
        profile.notes.push(format!(
            "its intensities make a light output ratio of {:.1} %, and it states {} %; the intensities count",
            output * 100.0,
            stated.light_output
        ));
    }
    Ok(profile)
}

/// Planes of the full circle in ascending order from 0, for any first listed angle.
fn full(c: Vec<f64>, mut rows: Vec<Vec<f64>>) -> Planes {
    if c.len() < 2 {
        rows.truncate(1);
        return (Symmetry::Axial, vec![0.0], rows);
    }
    let (first, last) = (c.first().copied().unwrap_or(0.0), c.last().copied().unwrap_or(0.0));
    let mut angles = c;
    let ends = rows.first().cloned().zip(rows.last().cloned());
    if let Some((first_row, last_row)) = ends.filter(|_| first > 0.0) {
        // The plane at 0 is interpolated between the last plane and the first plus 360 degrees.
        let part = ((360.0 - last) / (first + 360.0 - last)).clamp(0.0, 1.0);
        angles.insert(0, 0.0);
        rows.insert(0, last_row.iter().zip(&first_row).map(|(a, b)| a + (b - a) * part).collect());
    }
    (Symmetry::Full, angles, rows)
}

/// Symmetry, the angles C of the planes (degrees), and the intensities of each plane.
type Planes = (Symmetry, Vec<f64>, Vec<Vec<f64>>);

/// Symmetry code (Isym): the listed planes, whose mirror images are the others.
fn folded(
    isym: usize,
    angles: Vec<f64>,
    rows: Vec<Vec<f64>>,
    notes: &mut Vec<String>,
) -> Result<Planes, IesError> {
    let (symmetry, angles, rows, want) = match isym {
        0 => return Ok(full(angles, rows)),
        1 => return Ok((Symmetry::Axial, vec![0.0], rows)),
        2 => (Symmetry::Bilateral, angles, rows, [0.0, 180.0]),
        3 => {
            // From C270 over C0 to C90; mirrored in the plane C90-C270 that is C270 over C180 to
            // C90.
            let mirrored = angles
                .iter()
                .map(|&angle| 180.0 - if angle > 180.0 { angle - 360.0 } else { angle });
            let mut planes: Vec<(f64, Vec<f64>)> = mirrored.zip(rows).collect();
            planes.reverse();
            let (angles, rows) = planes.into_iter().unzip();
            (Symmetry::Bilateral90, angles, rows, [90.0, 270.0])
        }
        _ => (Symmetry::Quadrant, angles, rows, [0.0, 90.0]),
    };
    let angles = snapped(angles, &want, "the angle of a C-plane", notes);
    let ends =
        [angles.first().copied().unwrap_or(f64::NAN), angles.last().copied().unwrap_or(f64::NAN)];
    if ends != want || angles.windows(2).any(|pair| pair[0] >= pair[1]) {
        let (what, allowed) = (
            "the last C-plane of the symmetry",
            "where it ends: C180 (2), C90 (3, from C270) or C90 (4)",
        );
        let value = if isym == 3 { 180.0 - ends[0] } else { ends[1] };
        return Err(IesError::Range { line: 3, what, value, allowed });
    }
    Ok((symmetry, angles, rows))
}

fn keywords(lines: &Lines<'_>, lamps: &Lamps) -> Vec<(String, String)> {
    let fields = [
        ("MANUFAC", lines.text(1)),
        ("LUMINAIRE", lines.text(9)),
        ("LUMCAT", lines.text(10)),
        ("TEST", lines.text(8)),
        ("ISSUEDATE", lines.text(12)),
        ("LAMP", lamps.kind.as_str()),
    ];
    let said = fields.into_iter().filter(|(_, text)| !text.is_empty());
    said.map(|(key, text)| (key.to_owned(), text.to_owned())).collect()
}

#[cfg(test)]
mod tests;
