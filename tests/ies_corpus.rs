//! The shared corpus of photometric files: peaks, look-ups, lumens, and files that must be refused.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::Path;

use serde_json::Value;
use sunny16::photometry::ies::IesProfile;

#[test]
fn corpus() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/ies");
    let Ok(text) = std::fs::read_to_string(folder.join("expected.json")) else {
        println!("skipped: {} is not there", folder.join("expected.json").display());
        return;
    };
    let expected: Value = serde_json::from_str(&text).unwrap();
    let (mut accepted, mut refused, mut numbers) = (0, 0, 0);
    for (name, want) in expected.as_object().unwrap() {
        let Ok(bytes) = std::fs::read(folder.join(name)) else {
            println!("skipped: {name} is not in the corpus");
            continue;
        };
        let parsed = IesProfile::parse(&bytes);
        if want.get("must").is_some() {
            let error = parsed.expect_err(name).to_string();
            println!("{name}: {error}");
            refused += 1;
            continue;
        }
        let profile = parsed.unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut check = |what: &str, got: f64, want: f64, relative: f64| {
            assert!((got - want).abs() <= relative * want.abs() + 1e-9, "{name}: {what} is {got}, not {want}");
            numbers += 1;
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
        accepted += 1;
    }
    println!("{accepted} files accepted, {refused} refused, {numbers} numbers agree");
    assert!(accepted > 0 && refused > 0);
}
