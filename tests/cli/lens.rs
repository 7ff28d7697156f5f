//! `sunny16 lens`, and lens prescriptions in a look.

use crate::common::Folder;
use sunny16::optics::library;

#[test]
fn every_lens_is_listed_and_described() {
    let dir = Folder::empty();
    let list = dir.run("lens").ok();
    assert_eq!(list.out.lines().count(), library::NAMES.len());
    for name in [
        "dgauss-50-f2",
        "nikon-28-75-f2.8-wide",
        "canon-70-200-f2.8",
        "schneider-anamorphic-31",
        "fisheye-10",
    ] {
        assert!(list.out.contains(name));
        let run = dir.run(&format!("lens builtin:{name} -o d.png --focus 5")).ok();
        assert!(!run.out.contains("NaN") && !run.out.contains("inf "), "{}", run.out);
        assert!(dir.has("d.png"));
    }
    let fast = dir.run("lens builtin:dgauss-50-f2 --f-stop 2").ok();
    let note = "note: --f-stop = 2: builtin:dgauss-50-f2 opens to f/2.03, which is used";
    assert!(fast.err.contains(note), "{fast:?}");
    let figures = ["27 refracting", "28.8999 mm", "351 pairs", "f/2.800", "-3.812 %"];
    dir.run("lens builtin:nikon-28-75-f2.8-wide").ok().prints(&figures);
}

/// The figures of docs/lens.md.
#[test]
fn real_lenses_breathe_as_they_are_focused() {
    let dir = Folder::empty();
    // Percent by lines of one focus, one per focal length of a zoom.
    let breathing = |lens: &str, focus: &str| -> Vec<f64> {
        let run = dir.run(&format!("lens {lens}")).ok();
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
    let dir = Folder::empty();
    let good = include_str!("../../assets/lenses/cooke-triplet-50-f5.json");
    let twice = "\"thickness_mm\": -1, \"thickness_mm\": 6.00755";
    dir.write("good.json", good);
    dir.write("cut.json", &good[..good.len() / 2]);
    for (file, from, to) in [
        ("gap.json", "\"thickness_mm\": 6.00755", "\"thickness_mm\": -6.00755"),
        ("stop.json", "\"is_stop\": true", "\"is_stop\": false"),
        ("nan.json", "22.01359", "NaN"),
        ("weak.json", "-18.39533", "18.39533"),
        ("twice.json", "\"thickness_mm\": 6.00755", twice),
        ("glass.json", "\"is_stop\": true", "\"is_stop\": true, \"radius_mm\": 10"),
        ("dark.json", "\"semi_aperture_mm\": 3.7", "\"semi_aperture_mm\": 1e-4"),
    ] {
        dir.write(file, good.replace(from, to));
    }
    dir.run("lens good.json").ok();
    for (file, parts) in [
        ("gap.json", &["element 1", "thickness_mm", "-6.00755"][..]),
        ("stop.json", &["element 4"]),
        ("nan.json", &["JSON"]),
        ("weak.json", &["element 6"]),
        ("cut.json", &["JSON"]),
        ("twice.json", &["thickness_mm", "twice"]),
        ("glass.json", &["element 4", "radius_mm", "10"]),
        ("dark.json", &["element 4", "semi_aperture_mm"]),
        ("none.json", &["none.json"]),
        ("dgauss-50-f2", &["builtin:dgauss-50-f2"]),
        ("builtin:dgauss-50-f3", &["dgauss-50-f2"]),
    ] {
        // An unknown name is a wrong value, not a file.
        let code = if file.starts_with("builtin:") { 2 } else { 4 };
        dir.run(&format!("lens {file} -o never.png")).fails(code, parts);
        assert!(!dir.has("never.png"));
        let set = format!("--set camera.lens.prescription={file}");
        dir.run(&format!("meter builtin:cornell {set}")).ends_with_error(code, parts);
    }
    for (dial, limit) in [
        ("camera.lens.f_stop=1", "f/5.14"),
        ("camera.lens.focus=0.03", "nearest"),
        ("camera.lens.focal_length=80", "prime lens of 50 mm"),
    ] {
        let set = format!("--set camera.lens.prescription=good.json --set {dial}");
        dir.run(&format!("meter builtin:cornell {set}")).fails(2, &[limit]);
    }
    for option in ["--focus -1", "--sensor 9", "--blades 2"] {
        assert_eq!(dir.run(&format!("lens good.json {option}")).code, 2, "{option}");
    }
}
