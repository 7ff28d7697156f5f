//! Tests of the EULUMDAT parser.
use std::f64::consts::PI;

use super::*;
use crate::photometry::{Candela, ies::tests::survives};

/// A file: symmetry, C-planes, angles gamma, the intensities of the planes that are given, lamp
/// sets of six lines each.
fn ldt(isym: u32, c: &[f64], gamma: &[f64], rows: &[&[f64]], sets: &[[&str; 6]]) -> String {
    let mut lines: Vec<String> =
        vec!["Maker".into(), "3".into(), isym.to_string(), c.len().to_string(), "0".into()];
    lines.extend([
        gamma.len().to_string(),
        "0".into(),
        "Report".into(),
        "Downlight".into(),
        "D-1".into(),
    ]);
    lines.extend(
        [
            "d1.ldt", "2026", "1200", "300", "80", "1100", "250", "0", "0", "0", "0", "100", "80",
            "1", "0",
        ]
        .map(String::from),
    );
    lines.push(sets.len().to_string());
    lines.extend(sets.iter().flatten().map(|text| (*text).to_owned()));
    lines.extend(vec!["0.5".to_owned(); 10]);
    let numbers = c.iter().chain(gamma).chain(rows.iter().copied().flatten());
    lines.extend(numbers.map(f64::to_string));
    lines.join("\r\n")
}

const LAMP: [&str; 6] = ["1", "LED", "2000", "3000", "80", "20"];

fn read(text: &str) -> IesProfile {
    IesProfile::parse(text.as_bytes()).unwrap()
}

fn near(got: f64, want: f64) {
    assert!((got - want).abs() <= 1e-9 * want.abs().max(1.0), "{got} is not {want}");
}

#[test]
fn candela_are_per_kilolumen_of_the_lamps() {
    // 300 cd/klm everywhere below: 600 cd, 2 pi of it as flux.
    let text = ldt(1, &[0.0], &[0.0, 45.0, 90.0], &[&[300.0; 3]], &[LAMP]);
    let p = read(&text);
    assert_eq!(
        (p.version(), p.symmetry(), p.watts()),
        (IesVersion::Eulumdat, Symmetry::Axial, 20.0)
    );
    near(p.peak().0, 600.0);
    near(p.lumens().0, 2.0 * PI * 600.0);
    near(p.downward().unwrap(), 1.0);
    assert_eq!(p.rated_lumens(), Some(Lumen(2000.0)));
    assert_eq!(p.candela(120.0, 0.0), Candela(0.0));
    assert_eq!(p.keywords()[0], ("MANUFAC".to_owned(), "Maker".to_owned()));
    // 188 % of the lamps' light is not what the file states.
    assert!(p.notes()[0].contains("188.5 %") && p.notes()[0].contains("80 %"), "{:?}", p.notes());
    assert_eq!(p.stated(), Some(StatedRatios { light_output: 80.0, downward: 100.0 }));
    let up_and_down = read(&ldt(1, &[0.0], &[0.0, 90.0, 180.0], &[&[300.0; 3]], &[LAMP]));
    near(up_and_down.downward().unwrap(), 0.5);
    // The conversion factor is one; 0 stands for 1.
    let with = |factor: &str| {
        read(&text.replacen("\r\n80\r\n1\r\n0\r\n", &format!("\r\n80\r\n{factor}\r\n0\r\n"), 1))
    };
    near(with("0,5").peak().0, 300.0);
    near(with("0").peak().0, 600.0);
}

#[test]
fn decimal_commas_and_spaces() {
    let text = ldt(1, &[0.0], &[0.0, 22.5, 90.0], &[&[300.25, 200.5, 0.125]], &[LAMP]);
    let german = text.replace('.', ",");
    assert_eq!(read(&german).candela(22.5, 0.0), read(&text).candela(22.5, 0.0));
    for (text, value) in [
        ("1,5", 1.5),
        ("1.5", 1.5),
        ("1.234,5", 1234.5),
        ("1,234.5", 1234.5),
        (" 7 ", 7.0),
        ("1e3", 1000.0),
    ] {
        assert_eq!(number(text), Some(value), "{text}");
    }
    for text in ["", "x", "nan", "inf", "1,2,3", "--1"] {
        assert_eq!(number(text), None, "{text}");
    }
    // Several numbers a line, and blank lines between.
    let (head, tail) = text.split_at(text.find("0\r\n0\r\n22.5").unwrap());
    let together = format!(
        "{head}0\r\n\r\n0 22.5; 90\r\n{}",
        tail.rsplit("\r\n")
            .take(3)
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .collect::<Vec<_>>()
            .join("\t")
    );
    assert_eq!(read(&together).candela(22.5, 0.0), read(&text).candela(22.5, 0.0));
}

#[test]
fn symmetries_list_a_part_of_the_planes() {
    let around: Vec<f64> = (0..8).map(|i| f64::from(i) * 45.0).collect();
    let gamma = [0.0, 90.0];
    // The intensity at gamma 90 as a function of C.
    let planes = |isym: u32, cs: &[f64], of: fn(f64) -> f64| {
        let rows: Vec<[f64; 2]> = cs.iter().map(|&c| [10.0, of(c)]).collect();
        let rows: Vec<&[f64]> = rows.iter().map(<[f64; 2]>::as_slice).collect();
        read(&ldt(isym, &around, &gamma, &rows, &[["1", "L", "1000", "", "", "1"]]))
    };
    let cos = |c: f64| 50.0 + 40.0 * c.to_radians().cos();
    let sin = |c: f64| 50.0 + 40.0 * c.to_radians().sin();
    let both = |c: f64| 50.0 + 40.0 * (2.0 * c).to_radians().cos();
    let skew = |c: f64| 50.0 + 40.0 * (c + 20.0).to_radians().cos();
    type Case = (u32, Symmetry, Vec<f64>, fn(f64) -> f64);
    let cases: [Case; 4] = [
        (0, Symmetry::Full, around.clone(), skew),
        (2, Symmetry::Bilateral, around[..5].to_vec(), cos),
        (3, Symmetry::Bilateral90, vec![270.0, 315.0, 0.0, 45.0, 90.0], sin),
        (4, Symmetry::Quadrant, around[..3].to_vec(), both),
    ];
    for (isym, symmetry, listed, of) in cases {
        let p = planes(isym, &listed, of);
        assert_eq!(p.symmetry(), symmetry);
        for &c in &around {
            near(p.candela(90.0, c).0, of(c));
        }
        // Half way between planes: their mean.
        near(p.candela(90.0, 292.5).0, (of(270.0) + of(315.0)) / 2.0);
        // Files that list all planes despite their symmetry, and the angles of the given
        // planes alone.
        let all = planes(isym, &around, of);
        near(all.lumens().0, p.lumens().0);
        let rows: Vec<[f64; 2]> = listed.iter().map(|&c| [10.0, of(c)]).collect();
        let rows: Vec<&[f64]> = rows.iter().map(<[f64; 2]>::as_slice).collect();
        let rising: Vec<f64> =
            listed.iter().map(|&c| if isym == 3 && c < 180.0 { c + 360.0 } else { c }).collect();
        let short = ldt(isym, &rising, &gamma, &rows, &[["1", "L", "1000", "", "", "1"]]);
        let short =
            short.replacen(&format!("\r\n{}\r\n0\r\n2", rising.len()), "\r\n8\r\n0\r\n2", 1);
        near(read(&short).lumens().0, p.lumens().0);
    }
    // Planes that do not begin at C0 close the circle.
    let turned: Vec<f64> = around.iter().map(|c| c + 22.5).collect();
    let rows: Vec<[f64; 2]> = turned.iter().map(|&c| [10.0, cos(c)]).collect();
    let rows: Vec<&[f64]> = rows.iter().map(<[f64; 2]>::as_slice).collect();
    let p = read(&ldt(0, &turned, &gamma, &rows, &[["1", "L", "1000", "", "", "1"]]));
    near(p.candela(90.0, 337.5).0, cos(337.5));
    near(p.candela(90.0, 0.0).0, cos(22.5));
    near(p.candela(90.0, 348.75).0, cos(22.5));
    assert_eq!(p.horizontal_angles()[0], 0.0);
}

#[test]
fn lamp_sets_are_alternatives_and_may_be_absent() {
    let with = |sets: &[[&str; 6]]| read(&ldt(1, &[0.0], &[0.0, 90.0], &[&[100.0, 100.0]], sets));
    let two = with(&[LAMP, ["2", "T16", "5400", "", "", "78"]]);
    near(two.peak().0, 200.0);
    assert!(
        two.notes()[0].contains("2 sets") && two.notes()[0].contains("5400 lm"),
        "{:?}",
        two.notes()
    );
    let none = with(&[]);
    near(none.peak().0, 100.0);
    assert!(none.notes()[0].contains("1000 lm") && none.rated_lumens().is_none());
    near(with(&[["1", "LED", "0", "", "", ""]]).peak().0, 100.0);
    let absolute = with(&[["-1", "LED", "2000", "", "", "20"]]);
    near(absolute.peak().0, 200.0);
    assert_eq!(absolute.rated_lumens(), None);
    // Fields that do not affect light give no error.
    let odd = with(&[["two", "LED", "2000", "warm", "1B", "20 W"]]);
    near(odd.peak().0, 200.0);
    assert_eq!(odd.watts(), 20.0);
}

#[test]
fn faults_name_their_line() {
    let good =
        ldt(4, &[0.0, 90.0, 180.0, 270.0], &[0.0, 90.0], &[&[1.0, 1.0], &[1.0, 1.0]], &[LAMP]);
    read(&good);
    let with = |line: usize, text: &str| {
        let mut lines: Vec<&str> = good.split("\r\n").collect();
        lines[line - 1] = text;
        IesProfile::parse(lines.join("\n").as_bytes()).unwrap_err().to_string()
    };
    for (line, text, words) in [
        (3, "5", "EULUMDAT: line 3: the symmetry indicator (Isym) is 5"),
        (4, "6", "line 4: the number of C-planes (Mc) is 6; it must be a multiple of 4"),
        (4, "99999999", "line 4"),
        (6, "1", "line 6"),
        (24, "-1", "line 24: the conversion factor is -1"),
        (29, "much", "line 29: \"much\" is no finite number; expected the flux of the lamps"),
        (43, "360.5", "follows"),
        (48, "200", "line 48: the angle gamma is 200"),
        (50, "nan", "line 50: \"nan\""),
        (50, "-1", "line 50"),
    ] {
        let error = with(line, text);
        assert!(error.starts_with("EULUMDAT") && error.contains(words), "{error}");
    }
    for cut in 7..good.split("\r\n").count() {
        let text: Vec<&str> = good.split("\r\n").take(cut).collect();
        let error = IesProfile::parse(text.join("\r\n").as_bytes()).unwrap_err().to_string();
        // Two lines fewer are as many as of a file that lists the angles of the given planes
        // alone: read so, its fault is another.
        let words = if cut == 50 { "line 46: the angle gamma is 270" } else { "ends where" };
        assert!(error.starts_with("EULUMDAT") && error.contains(words), "{cut}: {error}");
    }
}

#[test]
fn any_bytes_are_survived() {
    let good =
        ldt(2, &[0.0, 90.0, 180.0, 270.0], &[0.0, 45.0, 90.0], &[&[9.0, 8.0, 7.0][..]; 3], &[LAMP]);
    survives(good.as_bytes(), 10_000, b"0123456789-., \n\r", |_| ());
}
