//! Tests of the LM-63 parser and of the interpolation.
use std::f64::consts::TAU;

use glam::DVec3;

use super::*;
use crate::photometry::units::{Candela, Lumen};
use crate::testing::near;

fn parse(text: &str) -> Result<IesProfile, IesError> {
    IesProfile::parse(text.as_bytes())
}

/// A file of 2002 from its counts, type and numbers.
fn file(counts_and_type: &str, numbers: &str) -> IesProfile {
    parse(&format!(
        "IESNA:LM-63-2002\nTILT=NONE\n1 1000 1 {counts_and_type} 2 0 0 0\n1 1 10\n{numbers}\n"
    ))
    .unwrap()
}

/// Lumens by brute force over directions, through the whole chain of look-ups.
fn brute_lumens(profile: &IesProfile) -> f64 {
    let (rows, columns) = (720, 1440);
    let mut sum = 0.0;
    for i in 0..rows {
        let cos = 1.0 - 2.0 * (i as f64 + 0.5) / rows as f64;
        let sin = (1.0 - cos * cos).sqrt();
        for j in 0..columns {
            let (s, c) = (TAU * (j as f64 + 0.5) / columns as f64).sin_cos();
            sum += profile.candela_towards(DVec3::new(sin * c, sin * s, cos)).0;
        }
    }
    sum * 2.0 * TAU / (rows * columns) as f64
}

#[test]
fn factors_and_their_editions() {
    let with = |head: &str| {
        let text =
            format!("{head}TILT=NONE\n1 1000 2 3 1 1 2 0 0 0\n0.9 0.5 10\n0 45 90\n0\n100 50 0\n");
        parse(&text).unwrap()
    };
    let p = with("IESNA:LM-63-2002\n");
    assert_eq!((p.version(), p.peak()), (IesVersion::Lm63_2002, Candela(180.0)));
    near(p.candela(45.0, 123.0).0, 90.0, 1e-12);
    assert_eq!(with("IES:LM-63-2019\n").peak(), Candela(180.0));
    for (head, version) in [
        ("", IesVersion::Lm63_1986),
        ("IESNA91\n", IesVersion::Lm63_1991),
        ("IESNA:LM-63-1995\n", IesVersion::Lm63_1995),
    ] {
        assert_eq!((with(head).version(), with(head).peak()), (version, Candela(90.0)));
    }
}

#[test]
fn symmetries_of_type_c() {
    let p = file("3 5 1", "0 45 90 0 90 180 270 360 100 80 0 100 60 0 100 40 0 100 20 0 100 80 0");
    assert_eq!(p.symmetry(), Symmetry::Full);
    for (h, want) in [
        (0.0, 80.0),
        (90.0, 60.0),
        (270.0, 20.0),
        (315.0, 50.0),
        (360.0, 80.0),
        (-90.0, 20.0),
        (450.0, 60.0),
    ] {
        near(p.candela(45.0, h).0, want, 1e-9);
    }
    near(p.candela(45.0, 359.999).0, 80.0, 1e-3);
    // Without the plane at 360 the last is joined to the first.
    let open = file("3 4 1", "0 45 90 0 90 180 270 100 80 0 100 60 0 100 40 0 100 20 0");
    for h in [0.0, 45.0, 300.0, 315.0, 359.0] {
        near(open.candela(45.0, h).0, p.candela(45.0, h).0, 1e-9);
    }
    near(open.lumens().0, p.lumens().0, 1e-9);
    let q = file("2 3 1", "0 90 0 45 90 100 100 80 40 60 10");
    for h in [30.0, 150.0, 210.0, 330.0, -30.0] {
        near(q.candela(90.0, h).0, q.candela(90.0, 30.0).0, 1e-9);
    }
    let b = file("2 3 1", "0 90 0 90 180 100 80 60 40 20 10");
    near(b.candela(90.0, 270.0).0, 40.0, 1e-9);
    near(b.candela(90.0, 225.0).0, 25.0, 1e-9);
    let side = file("2 3 1", "0 90 90 180 270 100 80 60 40 20 10");
    assert_eq!(side.symmetry(), Symmetry::Bilateral90);
    for (h, want) in
        [(90.0, 80.0), (180.0, 40.0), (0.0, 40.0), (270.0, 10.0), (225.0, 25.0), (315.0, 25.0)]
    {
        near(side.candela(90.0, h).0, want, 1e-9);
    }
    for p in [p, open, q, b, side] {
        near(brute_lumens(&p) / p.lumens().0, 1.0, 5e-3);
    }
}

#[test]
fn outside_of_the_list_is_dark() {
    let p = file("3 1 1", "90 135 180 0 0 50 100");
    assert_eq!(p.candela(45.0, 0.0), Candela(0.0));
    near(p.candela(135.0, 77.0).0, 50.0, 1e-9);
    assert_eq!(p.candela_towards(DVec3::Z), Candela(100.0));
    assert_eq!(p.candela_towards(DVec3::NEG_Z), Candela(0.0));
    for odd in [f64::NAN, f64::INFINITY] {
        assert_eq!((p.candela(odd, 0.0), p.candela(135.0, odd)), (Candela(0.0), Candela(0.0)));
    }
    assert_eq!(p.candela_towards(DVec3::ZERO), Candela(0.0));
}

#[test]
fn types_a_and_b() {
    let a = file("3 3 3", "-90 0 90 0 45 90 0 100 0 0 50 0 0 0 0");
    assert_eq!((a.photometric_type(), a.symmetry()), (PhotometricType::A, Symmetry::Mirrored));
    near(a.candela_towards(DVec3::NEG_Z).0, 100.0, 1e-9);
    near(a.candela_towards(DVec3::new(1.0, 0.0, -1.0)).0, 50.0, 1e-9);
    near(a.candela_towards(DVec3::new(-1.0, 0.0, -1.0)).0, 50.0, 1e-9);
    near(a.candela_towards(DVec3::new(0.0, 1.0, -1.0)).0, 50.0, 1e-9);
    assert_eq!(a.candela_towards(DVec3::Z), Candela(0.0));
    let b = file("5 3 2", "-90 -45 0 45 90 0 45 90 0 50 100 50 0 0 30 60 30 0 0 0 0 0 0");
    near(b.candela_towards(DVec3::NEG_Z).0, 100.0, 1e-9);
    near(b.candela_towards(DVec3::new(1.0, 0.0, -1.0)).0, 60.0, 1e-9);
    near(b.candela_towards(DVec3::new(0.0, 1.0, -1.0)).0, 50.0, 1e-9);
    near(b.candela(45.0, -45.0).0, 30.0, 1e-9);
    let listed = file("3 3 2", "-90 0 90 -90 0 90 0 0 0 0 100 0 0 40 0");
    near(listed.candela(0.0, 90.0).0, 40.0, 1e-9);
    assert_eq!(listed.symmetry(), Symmetry::Listed);
    for p in [a, b, listed] {
        near(brute_lumens(&p) / p.lumens().0, 1.0, 5e-3);
    }
    // The same everywhere is the same in any coordinates.
    let even = [file("2 2 3", "-90 90 -180 180 5 5 5 5"), file("2 1 1", "0 180 0 5 5")];
    for p in even {
        near(p.lumens().0, 5.0 * 2.0 * TAU, 1e-9);
    }
    near(file("2 2 2", "-180 180 -90 90 5 5 5 5").lumens().0, 5.0 * 2.0 * TAU, 1e-9);
    near(file("2 1 2", "-180 180 0 5 5").lumens().0, 5.0 * 2.0 * TAU, 1e-9);
}

#[test]
fn a_lambertian_table_gives_its_lumens() {
    let angles: Vec<f64> = (0..=36).map(|i| f64::from(i) * 2.5).collect();
    let join = |values: Vec<f64>| values.iter().map(f64::to_string).collect::<Vec<_>>().join(" ");
    let candela =
        join(angles.iter().map(|a| 1000.0 / std::f64::consts::PI * a.to_radians().cos()).collect());
    let p = file("37 1 1", &format!("{} 0 {candela}", join(angles)));
    // Linear interpolation of a cosine loses h^2 / 12 of it.
    near(p.lumens().0, 1000.0 * (1.0 - 2.5_f64.to_radians().powi(2) / 12.0), 1e-3);
    near(p.candela_towards(DVec3::NEG_Z).0, 318.31, 0.01);
    assert_eq!(p.candela_towards(DVec3::new(1.0, 0.0, 0.2)).0, 0.0);
}

#[test]
fn head_tilt_and_wrapped_numbers() {
    let text = b"IESNA91\r\n[TEST] 1\r\n[OTHER] caf\xe9\r\n[MORE] and more\r\nplain\r\nTILT=INCLUDE\r\n2\r\n3\r\n0 45 90\r\n\
        1 .95 .9\r\n1,1000,1,3,1,1,1,-1,-1,0\r\n1,1,10\r\n0\r\n45\r\n90\r\n0\r\n100,50,\r\n0\r\n\x1a";
    let p = IesProfile::parse(text).unwrap();
    assert_eq!(p.keywords()[1], ("OTHER".to_owned(), "caf\u{e9}\nand more".to_owned()));
    near(p.tilt().factor(22.5), 0.975, 1e-12);
    assert_eq!(
        (p.tilt().factor(-5.0), p.tilt().factor(120.0), Tilt::None.factor(3.0)),
        (1.0, 0.9, 1.0)
    );
    assert_eq!(p.peak(), Candela(100.0));
    assert_eq!((p.rated_lumens(), p.watts()), (Some(Lumen(1000.0)), 10.0));
    assert!(p.notes().is_empty(), "{:?}", p.notes());
    let far = parse("TILT=lamp.tlt\n1 -1 1 2 1 1 2 0 0 0\n1 1 10\n0 90\n0\n100 0\nmore\n").unwrap();
    assert_eq!((far.tilt(), far.rated_lumens()), (&Tilt::File("lamp.tlt".to_owned()), None));
    assert!(far.notes()[0].contains("lamp.tlt") && far.notes()[1].contains("line 7"));
}

#[test]
fn malformed_files_name_the_place() {
    let body =
        |numbers: &str| parse(&format!("IESNA:LM-63-2002\nTILT=NONE\n{numbers}")).unwrap_err();
    assert_eq!(parse("").unwrap_err(), IesError::Empty);
    assert_eq!(parse(" \r\n\t").unwrap_err(), IesError::Empty);
    assert_eq!(parse("IESNA:LM-63-2002\n1 2 3").unwrap_err(), IesError::NoTilt);
    assert_eq!(body(""), IesError::Truncated { line: 3, what: "the number of lamps" });
    let unsorted = body("1 1000 1 3 1 1 2 0 0 0\n1 1 10\n0 90 45\n0\n1 2 3");
    assert!(
        matches!(unsorted, IesError::Unsorted { line: 5, value: 45.0, previous: 90.0, .. }),
        "{unsorted}"
    );
    for bad in ["nan", "inf", "1e999", "x", "-inf", "1.2.3", "--1"] {
        let e = body(&format!("1 1000 1 2 1 1 2 0 0 0\n1 1 10\n0 90\n0\n1 {bad}"));
        assert!(matches!(&e, IesError::Number { line: 7, token, .. } if token == bad), "{e}");
    }
    for (counts, what) in [
        ("2000000000 2000000000 1", "the number of vertical angles"),
        ("-3 1 1", "the number of vertical angles"),
        ("2.5 1 1", "the number of vertical angles"),
        ("1 1 1", "the number of vertical angles"),
        ("14401 14401 1", "the number of candela values"),
        ("2 0 1", "the number of horizontal angles"),
        ("2 1 4", "the photometric type"),
    ] {
        let e = body(&format!("1 1000 1 {counts} 2 0 0 0\n1 1 10\n0 90\n0\n1 1"));
        assert!(matches!(&e, IesError::Range { line: 3, what: w, .. } if *w == what), "{e}");
    }
    let e = body("1 1000 1 2 2 1 2 0 0 0\n1 1 10\n0 90\n0 45\n1 1 1 1");
    assert!(matches!(e, IesError::Symmetry { line: 6, .. }), "{e}");
    let e = body("1 1000 1 2 1 1 2 0 0 0\n1 1 10\n0 190\n0\n1 1");
    assert!(matches!(e, IesError::Range { what: "a vertical angle", value: 190.0, .. }), "{e}");
    let e = body("1 1000 1 2 1 1 2 0 0 0\n1 1 10\n0 90\n0\n1 -1");
    assert!(e.to_string().contains("line 7: the candela value is -1"), "{e}");
    let e = parse("TILT=INCLUDE\n1\n999999999\n0").unwrap_err();
    assert!(matches!(e, IesError::Range { line: 3, .. }), "{e}");
    assert!(matches!(
        body("1 1000 1 5 1 1 2 0 0 0\n1 1 10\n0 1 2 3 4\n0\n1 2 3"),
        IesError::Truncated { line: 7, .. }
    ));
}

#[test]
fn metadata_errors_do_not_reject_the_profile() {
    let body = "0 45 90\n0\n1000 1000 1000\n";
    for (head, counts, ballast) in [
        ("TILT=NONE", "-1 -1 1 3 1 1 2 0 0 0", "1 1 10"),
        ("TILT=NONE", "none 5000 1 3 1 1 2 0 0 0", "1 1 10"),
        ("TILT=NONE", "1 -1 1 3 1 1 2 0 0 0", "1 1 -1"),
        ("TILT=NONE", "1 -1 1 3 1 1 2 0 0 0", "1 1 n/a"),
        ("TILT=NONE", "1 -5 1 3 1 1 2 0 0 0", "1 1 10"),
        ("TILT=NONE", "1 nan 1 3 1 1 2 0 0 0", "1 1 1e99"),
        ("TILT=NONE", "1 1000 1 3 1 1 0 0 0 0", "1 x 10"),
        ("TILT=NONE", "1 1000 1 3 1 1 2 ? -? 1e30", "1 1 10"),
        ("TILT=INCLUDE\n9\n1\n0\n1", "1 -1 1 3 1 1 2 0 0 0", "1 1 10"),
    ] {
        let p = parse(&format!("IESNA:LM-63-2002\n{head}\n{counts}\n{ballast}\n{body}")).unwrap();
        near(p.lumens().0, TAU * 1000.0, 1e-6);
        assert!(
            !p.notes().is_empty() && p.notes()[0].contains("line"),
            "{counts} {ballast}: {:?}",
            p.notes()
        );
        assert!(p.watts() >= 0.0 && p.rated_lumens().is_none_or(|lumens| lumens.0 >= 0.0));
    }
}

#[test]
fn last_digits_are_taken_to_what_they_round() {
    let dim = file("4 1 1", "0 45 90 180 0 1000 1000 1000 -0.01");
    assert_eq!(dim.candela(180.0, 0.0), Candela(0.0));
    assert!(dim.notes()[0].contains("-0.01 in line"), "{:?}", dim.notes());
    let refused = |numbers: &str| {
        let text =
            format!("IESNA:LM-63-2002\nTILT=NONE\n1 -1 1 3 1 1 2 0 0 0\n1 1 10\n{numbers}\n");
        parse(&text).unwrap_err().to_string()
    };
    // 2 % of the strongest is the end.
    assert_eq!(file("3 1 1", "0 45 90 0 1000 -20 0").notes().len(), 1);
    assert!(refused("0 45 90 0 1000 -20.1 0").contains("-20.1"));
    for (counts, numbers, symmetry) in [
        ("2 3 1", "0 90 0 45 89.99 1 1 1 1 1 1", Symmetry::Quadrant),
        ("2 3 1", "0 90 0.01 45 90.05 1 1 1 1 1 1", Symmetry::Quadrant),
        ("2 3 1", "0 180.01 0 90 180.01 1 1 1 1 1 1", Symmetry::Bilateral),
        ("2 3 1", "-0.01 90 90.01 180 269.99 1 1 1 1 1 1", Symmetry::Bilateral90),
        ("2 5 1", "0 90 0 90 180 270 360.01 1 1 1 1 1 1 1 1 1 1", Symmetry::Full),
        ("2 2 2", "-90 90 0.004 90.02 1 1 1 1", Symmetry::Mirrored),
        ("2 2 3", "-90.01 90 -90.01 90.01 1 1 1 1", Symmetry::Listed),
    ] {
        let p = file(counts, numbers);
        assert_eq!(p.symmetry(), symmetry, "{numbers}");
        assert!(p.notes()[0].contains("counts as"), "{:?}", p.notes());
    }
    assert!(refused("0 45 180.2 0 1 1 1").contains("180.2"));
    // A fine list around the axis of type B stays as it is.
    assert_eq!(
        file("2 3 2", "-1 1 -0.05 0 0.05 1 1 1 1 1 1").horizontal_angles(),
        [-0.05, 0.0, 0.05]
    );
}

#[test]
fn encodings_and_other_kinds_of_files() {
    let text =
        "IESNA:LM-63-2002\n  TILT = NONE \n1 1000 1 2 1 1 2 0 0 0\n1 0.5 10\n0 90\n0\n100 0\n";
    let wide: Vec<u8> =
        format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let p = IesProfile::parse(&wide).unwrap();
    assert_eq!((p.version(), p.peak()), (IesVersion::Lm63_2002, Candela(100.0)));
    assert!(p.notes()[0].contains("UTF-16"));
    let marked =
        [&b"\xef\xbb\xbf"[..], text.replace("TILT", "[A] \u{e4}\nTILT").as_bytes()].concat();
    let latin: Vec<u8> = marked.into_iter().filter(|&byte| byte != 0xc3).collect();
    // The edition is detected despite the byte order mark: the field of future use is no
    // factor.
    let p = IesProfile::parse(&latin).unwrap();
    assert_eq!((p.version(), p.peak()), (IesVersion::Lm63_2002, Candela(100.0)));
    for (bytes, word) in [
        (&b"PK\x03\x04x"[..], "ZIP"),
        (&b"<html>"[..], "web page"),
        (&b"<IESTM33-22/>"[..], "TM-33"),
    ] {
        let error = IesProfile::parse(bytes).unwrap_err().to_string();
        assert!(error.contains(word) && error.contains("EULUMDAT"), "{error}");
    }
}

/// Parses `rounds` damaged copies of a file: bytes replaced, also by `characters`, and ends cut
/// off. What still parses has finite light and passes `check`.
pub(super) fn survives(good: &[u8], rounds: usize, characters: &[u8], check: impl Fn(&IesProfile)) {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for _ in 0..rounds {
        let mut bytes = good.to_vec();
        for _ in 0..1 + next() % 4 {
            let at = (next() % bytes.len() as u64) as usize;
            match next() % 3 {
                0 => bytes[at] = next() as u8,
                1 => bytes.truncate(at.max(1)),
                _ => bytes[at] = characters[(next() % characters.len() as u64) as usize],
            }
        }
        if let Ok(p) = IesProfile::parse(&bytes) {
            assert!(p.lumens().0.is_finite() && p.lumens().0 >= -1e-9);
            check(&p);
            assert!(
                p.candela((next() % 360) as f64 - 90.0, (next() % 720) as f64 - 360.0)
                    .0
                    .is_finite()
            );
        }
    }
}

#[test]
fn any_bytes_are_survived() {
    let good =
        b"IESNA:LM-63-2002\nTILT=NONE\n1 1000 1 3 3 1 2 0 0 0\n1 1 10\n0 45 90\n0 45 90\n9 8 7 6 5 4 3 2 1\n";
    survives(good, 20_000, b"0123456789-., \n\rTE=", |p| {
        assert!(p.downward().is_none_or(|part| (-1e-9..=1.0 + 1e-9).contains(&part)));
    });
}
