//! Photometric files: peaks, look-ups, lumens, and files that must be refused. The shared corpus where it is there; what it
//! names and lacks stands here as text, and so is always tested.

use std::{fs, path::Path};

use serde_json::{Value, json};
use sunny16::photometry::ies::IesProfile;

/// Files by name with what is expected of them, in the corpus's words.
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

/// Files accepted, files refused, and numbers that agreed.
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
        assert!((got - want).abs() <= relative * want.abs() + 1e-9, "{name}: {what} is {got}, not {want}");
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
            (Err(error), None) => panic!("{name} is named and neither there ({error}) nor here as text"),
        }
    }
    println!("{counts:?}");
    assert_eq!((counts.accepted + counts.refused) as usize, named.len());
    assert!(counts.accepted > 0 && counts.refused > 0 && counts.numbers > 0);
}
