//! `sunny16 lens`, and lens prescriptions in a look.

use std::fs;

use crate::common::sunny16;
use sunny16::optics::library;

#[test]
fn every_lens_is_listed_and_described() {
    let dir = tempfile::tempdir().unwrap();
    let list = sunny16(dir.path(), &["lens"], &[]);
    assert_eq!(list.code, 0, "{list:?}");
    assert_eq!(list.out.lines().count(), library::NAMES.len());
    for name in [
        "dgauss-50-f2",
        "nikon-28-75-f2.8-wide",
        "canon-70-200-f2.8",
        "schneider-anamorphic-31",
        "fisheye-10",
    ] {
        assert!(list.out.contains(name));
        let run = sunny16(
            dir.path(),
            &["lens", &format!("builtin:{name}"), "-o", "d.png", "--focus", "5"],
            &[],
        );
        assert_eq!(run.code, 0, "{run:?}");
        assert!(!run.out.contains("NaN") && !run.out.contains("inf "), "{}", run.out);
        assert!(dir.path().join("d.png").exists());
    }
    let zoom = sunny16(dir.path(), &["lens", "builtin:nikon-28-75-f2.8-wide"], &[]);
    for says in ["27 refracting", "28.8999 mm", "351 pairs", "f/2.800", "-3.812 %"] {
        assert!(zoom.out.contains(says), "{says}: {}", zoom.out);
    }
}

/// The figures of docs/lens.md.
#[test]
fn real_lenses_breathe_as_they_are_focused() {
    let dir = tempfile::tempdir().unwrap();
    // Percent by lines of one focus, one per focal length of a zoom.
    let breathing = |lens: &str, focus: &str| -> Vec<f64> {
        let run = sunny16(dir.path(), &["lens", lens], &[]);
        assert_eq!(run.code, 0, "{run:?}");
        let of = |line: &str| {
            line.trim()
                .strip_prefix(focus)?
                .strip_suffix('%')?
                .split_whitespace()
                .last()?
                .parse()
                .ok()
        };
        run.out.lines().filter_map(of).collect()
    };
    let near = |got: &[f64], want: &[f64]| {
        let fits =
            got.len() == want.len() && got.iter().zip(want).all(|(a, b)| (a - b).abs() < 0.055);
        assert!(fits, "{got:?} is not {want:?}");
    };
    // Focused by moving the whole lens: near v / f of the imaging equation, S / (S - f) with S from
    // the front principal plane.
    near(&breathing("builtin:dgauss-50-f2", "3 m"), &[-1.56]);
    near(&breathing("builtin:dgauss-50-f2", "1 m"), &[-4.68]);
    let zoom = breathing("builtin:canon-70-200-f2.8", "3 m");
    near(&[zoom[0], zoom[zoom.len() - 1]], &[-10.2, -16.2]);
}

#[test]
fn invalid_prescriptions_are_reported_with_place_and_remedy() {
    let dir = tempfile::tempdir().unwrap();
    let good = include_str!("../../assets/lenses/cooke-triplet-50-f5.json");
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    write("good.json", good);
    write("gap.json", &good.replace("\"thickness_mm\": 6.00755", "\"thickness_mm\": -6.00755"));
    write("stop.json", &good.replace("\"is_stop\": true", "\"is_stop\": false"));
    write("nan.json", &good.replace("22.01359", "NaN"));
    write("weak.json", &good.replace("-18.39533", "18.39533"));
    write("cut.json", &good[..good.len() / 2]);
    write(
        "twice.json",
        &good.replace(
            "\"thickness_mm\": 6.00755",
            "\"thickness_mm\": -1, \"thickness_mm\": 6.00755",
        ),
    );
    write("glass.json", &good.replace("\"is_stop\": true", "\"is_stop\": true, \"radius_mm\": 10"));
    write("dark.json", &good.replace("\"semi_aperture_mm\": 3.7", "\"semi_aperture_mm\": 1e-4"));
    assert_eq!(sunny16(dir.path(), &["lens", "good.json"], &[]).code, 0);
    for (file, code, says) in [
        ("gap.json", 4, "element 1: thickness_mm is -6.00755"),
        ("stop.json", 4, "element 4"),
        ("nan.json", 4, "JSON"),
        ("weak.json", 4, "element 6"),
        ("cut.json", 4, "JSON"),
        ("twice.json", 4, "\"thickness_mm\" stands twice"),
        ("glass.json", 4, "element 4: radius_mm is 10"),
        ("dark.json", 4, "element 4: semi_aperture_mm is so small"),
        ("none.json", 4, "check the path"),
        ("dgauss-50-f2", 4, "builtin:dgauss-50-f2"),
        ("builtin:dgauss-50-f3", 4, "dgauss-50-f2"),
    ] {
        let run = sunny16(dir.path(), &["lens", file, "-o", "never.png"], &[]);
        assert_eq!(run.code, code, "{file}: {run:?}");
        assert!(run.err.contains(says) && run.err.lines().count() == 1, "{file}: {}", run.err);
        assert!(!dir.path().join("never.png").exists());
        let set = format!("camera.lens.prescription={file}");
        let run = sunny16(dir.path(), &["meter", "builtin:cornell", "--set", &set], &[]);
        assert_eq!(run.code, code, "{file}: {run:?}");
        assert!(run.err.contains(says), "{file}: {}", run.err);
    }
    for (dial, says) in [
        ("camera.lens.f_stop=1", "opens to f/5.14"),
        ("camera.lens.focus=0.03", "its nearest is some"),
        ("camera.lens.focal_length=80", "50 to 50 mm"),
    ] {
        let args = [
            "meter",
            "builtin:cornell",
            "--set",
            "camera.lens.prescription=good.json",
            "--set",
            dial,
        ];
        let run = sunny16(dir.path(), &args, &[]);
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.err.contains(says) && run.err.lines().count() == 1, "{dial}: {}", run.err);
    }
    for args in [
        &["lens", "good.json", "--focus", "-1"][..],
        &["lens", "good.json", "--sensor", "9"],
        &["lens", "good.json", "--blades", "2"],
    ] {
        let run = sunny16(dir.path(), args, &[]);
        assert_eq!(run.code, 2, "{run:?}");
    }
}
