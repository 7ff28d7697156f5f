//! Photometric files: peaks, interpolation, lumens, and files that must be rejected. Uses the
//! shared corpus if present; cases that it names but lacks are included here as text.

use std::{fs, path::Path};

use serde_json::{Value, json};
use sunny16::photometry::ies::{IesProfile, IesVersion, PhotometricType, Symmetry};

/// Files by name, with expectations in the corpus's format.
fn own() -> Vec<(&'static str, &'static str, Value)> {
    let refuse = || json!({"must": "reject with an error"});
    vec![
        (
            // Candela x 2 x 0.9; the ballast-lamp factor is 1.
            "multiplier2_ballast0.9.ies",
            "IESNA:LM-63-1995\nTILT=NONE\n1 1000 2 3 1 1 2 0 0 0\n0.9 1 10\n0 45 90\n0\n100 50 0\n",
            json!({"peak_cd": 180.0, "at45": 90.0}),
        ),
        (
            "type_c_full_0_360.ies",
            "IESNA:LM-63-2002\nTILT=NONE\n1 1000 1 3 5 1 2 0 0 0\n1 1 10\n0 45 90\n0 90 180 270 360\n\
             100 80 0\n100 60 0\n100 40 0\n100 20 0\n100 80 0\n",
            json!({"at": [[45, 0, 80], [45, 90, 60], [45, 270, 20], [45, 315, 50], [45, 359.999, 80]]}),
        ),
        (
            "bad_unsorted.ies",
            "IESNA:LM-63-2002\nTILT=NONE\n1 1000 1 3 1 1 2 0 0 0\n1 1 10\n0 90 45\n0\n100 50 0\n",
            refuse(),
        ),
        (
            "bad_nan.ies",
            "IESNA:LM-63-2002\nTILT=NONE\n1 1000 1 3 1 1 2 0 0 0\n1 1 10\n0 45 90\n0\n100 nan 0\n",
            refuse(),
        ),
    ]
}

/// Counts of accepted files, rejected files, and matching numbers.
#[derive(Debug, Default)]
struct Counts {
    accepted: u32,
    refused: u32,
    numbers: u32,
}

fn try_file(name: &str, bytes: &[u8], want: &Value, counts: &mut Counts) {
    let parsed = IesProfile::parse(bytes);
    if want.get("must").is_some() {
        let error = parsed.expect_err(name).to_string();
        println!("{name}: {error}");
        counts.refused += 1;
        return;
    }
    let profile = parsed.unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut check = |what: &str, got: f64, want: f64, relative: f64| {
        assert!(
            (got - want).abs() <= relative * want.abs() + 1e-9,
            "{name}: {what} is {got}, not {want}"
        );
        counts.numbers += 1;
    };
    if let Some(lumens) = want.get("total_lm").and_then(Value::as_f64) {
        check("flux", profile.lumens().0, lumens, 5e-5);
    }
    if let Some(peak) = want.get("peak_cd").and_then(Value::as_f64) {
        check("peak", profile.peak().0, peak, 2e-6);
    }
    if let Some(at45) = want.get("at45").and_then(Value::as_f64) {
        check("at 45", profile.candela(45.0, 0.0).0, at45, 1e-9);
    }
    for row in want.get("at").and_then(Value::as_array).into_iter().flatten() {
        let [vertical, horizontal, candela] = [0, 1, 2].map(|i| row[i].as_f64().unwrap());
        let got = profile.candela(vertical, horizontal).0;
        check(&format!("at {vertical}, {horizontal}"), got, candela, 1e-4);
    }
    if name.starts_with("type_a") || name.starts_with("type_b") {
        check("forward", profile.candela(0.0, 0.0).0, 100.0, 1e-9);
    }
    counts.accepted += 1;
}

/// A profile as EULUMDAT, by the format's description: intensities per 1000 lm of lamps of `flux`
/// lm. Types other than C are sampled all around, at planes every 5 degrees and angles every 2.5.
fn as_ldt(profile: &IesProfile, flux: f64) -> String {
    let type_c = profile.photometric_type() == PhotometricType::C;
    let steps =
        |count: u32, step: f64| (0..count).map(|i| f64::from(i) * step).collect::<Vec<f64>>();
    let gamma = if type_c { profile.vertical_angles().to_vec() } else { steps(73, 2.5) };
    let own = profile.horizontal_angles();
    // All planes of the circle, and which of them are listed.
    let (isym, planes, listed) = match profile.symmetry() {
        _ if !type_c => (0, steps(72, 5.0), steps(72, 5.0)),
        Symmetry::Axial => (1, steps(24, 15.0), vec![0.0]),
        Symmetry::Full => {
            let open: Vec<f64> = own.iter().copied().filter(|&h| h < 360.0).collect();
            (0, open.clone(), open)
        }
        Symmetry::Bilateral => {
            let back = own.iter().rev().map(|h| 360.0 - h).filter(|&h| h > 180.0 && h < 360.0);
            (2, own.iter().copied().chain(back).collect(), own.to_vec())
        }
        Symmetry::Bilateral90 => {
            // The half from C270 over C0 to C90 mirrors the listed one.
            let listed: Vec<f64> = own.iter().rev().map(|h| (540.0 - h) % 360.0).collect();
            let mut planes: Vec<f64> = own.iter().copied().chain(listed.iter().copied()).collect();
            planes.sort_by(f64::total_cmp);
            planes.dedup();
            (3, planes, listed)
        }
        _ => {
            let mut planes: Vec<f64> = own
                .iter()
                .flat_map(|&h| [h, 180.0 - h, 180.0 + h, 360.0 - h])
                .map(|h| h % 360.0)
                .collect();
            planes.sort_by(f64::total_cmp);
            planes.dedup();
            (4, planes, own.to_vec())
        }
    };
    let mut lines: Vec<String> =
        vec!["Maker".into(), "3".into(), isym.to_string(), planes.len().to_string()];
    lines.extend(["0".into(), gamma.len().to_string(), "0".into()]);
    lines.extend(
        [
            "", "Lamp", "", "a.ldt", "2026", "0", "0", "0", "0", "0", "0", "0", "0", "0", "0", "0",
            "1", "0",
        ]
        .map(String::from),
    );
    lines.extend([
        "1".into(),
        "1".into(),
        "LED".into(),
        flux.to_string(),
        "3000".into(),
        "80".into(),
        "10".into(),
    ]);
    lines.extend(vec!["0".to_owned(); 10]);
    lines.extend(planes.iter().chain(&gamma).map(f64::to_string));
    for &c in &listed {
        for &v in &gamma {
            let (sin, cos) = v.to_radians().sin_cos();
            let (s, x) = c.to_radians().sin_cos();
            let candela = if type_c {
                profile.candela(v, c).0
            } else {
                profile.candela_towards(glam::DVec3::new(sin * x, sin * s, -cos)).0
            };
            lines.push(format!("{:.6}", candela * 1000.0 / flux));
        }
    }
    lines.join("\r\n") + "\r\n"
}

/// Asserts that EULUMDAT equals IES: each intensity, the peak and the flux within 0.1 %; with
/// decimal points and commas.
fn same_as_ldt(name: &str, profile: &IesProfile) {
    for (flux, comma) in [(1000.0, false), (2750.0, true)] {
        let text = as_ldt(profile, flux);
        let text = if comma { text.replace('.', ",") } else { text };
        let ldt =
            IesProfile::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(ldt.version(), IesVersion::Eulumdat, "{name}");
        let peak = profile.peak().0;
        let near = |what: &str, got: f64, want: f64, slack: f64| {
            assert!((got - want).abs() <= slack, "{name} as EULUMDAT: {what} is {got}, not {want}");
        };
        near("the peak", ldt.peak().0, peak, 1e-3 * peak);
        let type_c = profile.photometric_type() == PhotometricType::C;
        if type_c {
            assert_eq!(ldt.symmetry(), profile.symmetry(), "{name}");
            near("the flux", ldt.lumens().0, profile.lumens().0, 1e-3 * profile.lumens().0);
        }
        // Also halfway between the listed angles, if those are the file's own.
        let (rows, columns) = if type_c { (73, 48) } else { (37, 24) };
        for i in 0..rows {
            for j in 0..columns {
                let theta = std::f64::consts::PI * f64::from(i) / f64::from(rows - 1);
                let phi = std::f64::consts::TAU * f64::from(j) / f64::from(columns);
                let to = glam::DVec3::new(
                    theta.sin() * phi.cos(),
                    theta.sin() * phi.sin(),
                    -theta.cos(),
                );
                near(
                    "an intensity",
                    ldt.candela_towards(to).0,
                    profile.candela_towards(to).0,
                    1e-3 * peak,
                );
            }
        }
    }
}

#[test]
fn files_as_eulumdat_are_the_same_lamps() {
    let more = [
        (
            "quadrant.ies",
            "IESNA:LM-63-2002\nTILT=NONE\n1 -1 1 3 4 1 2 0 0 0\n1 1 10\n0 45 180\n0 20 60 90\n9 8 7 6 5 4 9 3 2 9 1 1\n",
        ),
        (
            "bilateral.ies",
            "IESNA:LM-63-2002\nTILT=NONE\n1 -1 1 3 3 1 2 0 0 0\n1 1 10\n0 45 90\n0 90 180\n9 8 7 9 5 4 9 3 2\n",
        ),
        (
            "side.ies",
            "IESNA:LM-63-2002\nTILT=NONE\n1 -1 1 2 5 1 2 0 0 0\n1 1 10\n0 90\n90 135 180 225 270\n9 8 9 6 9 4 9 2 9 1\n",
        ),
        (
            "up.ies",
            "IESNA:LM-63-2002\nTILT=NONE\n1 -1 1 3 1 1 2 0 0 0\n1 1 10\n90 135 180\n0\n0 50 100\n",
        ),
        (
            "type_b.ies",
            "IESNA:LM-63-2002\nTILT=NONE\n1 -1 1 3 3 2 2 0 0 0\n1 1 10\n-90 0 90\n0 45 90\n0 100 0\n0 60 0\n0 0 0\n",
        ),
    ];
    let good = own()
        .into_iter()
        .filter(|(.., want)| want.get("must").is_none())
        .map(|(name, text, _)| (name, text));
    for (name, text) in good.chain(more) {
        same_as_ldt(name, &IesProfile::parse(text.as_bytes()).unwrap());
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/ies");
    let files = match fs::read_dir(&folder) {
        Ok(files) => files,
        Err(error) => return println!("skipped, {}: {error}", folder.display()),
    };
    let mut compared = 0;
    for file in files
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "ies"))
    {
        if let Ok(profile) = IesProfile::parse(&fs::read(&file).unwrap()) {
            same_as_ldt(&file.display().to_string(), &profile);
            compared += 1;
        }
    }
    println!("{compared} files of {} are the same lamps as EULUMDAT", folder.display());
    assert!(compared > 0);
}

#[test]
fn files_of_our_own() {
    let mut counts = Counts::default();
    for (name, text, want) in own() {
        try_file(name, text.as_bytes(), &want, &mut counts);
    }
    assert_eq!((counts.accepted, counts.refused, counts.numbers), (2, 2, 7));
}

#[test]
fn corpus() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/ies");
    let text = match fs::read_to_string(folder.join("expected.json")) {
        Ok(text) => text,
        Err(error) => {
            println!("skipped, {}: {error}", folder.join("expected.json").display());
            return;
        }
    };
    let expected: Value = serde_json::from_str(&text).unwrap();
    let mut counts = Counts::default();
    let named = expected.as_object().unwrap();
    assert!(!named.is_empty());
    for (name, want) in named {
        match (fs::read(folder.join(name)), own().into_iter().find(|(own, ..)| own == name)) {
            (Ok(bytes), _) => try_file(name, &bytes, want, &mut counts),
            (Err(_), Some((_, text, _))) => try_file(name, text.as_bytes(), want, &mut counts),
            (Err(error), None) => {
                panic!("{name} is named and neither there ({error}) nor here as text")
            }
        }
    }
    println!("{counts:?}");
    assert_eq!((counts.accepted + counts.refused) as usize, named.len());
    assert!(counts.accepted > 0 && counts.refused > 0 && counts.numbers > 0);
}
