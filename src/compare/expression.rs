//! Arithmetic expressions of validation cases, for closed forms.

use std::collections::BTreeMap;

use exmex::{Express as _, FlatEx, FloatOpsFactory, MatchLiteral, literal_matcher_from_pattern};

// The parser's own pattern does not accept exponents.
literal_matcher_from_pattern!(Numbers, r"^([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?");

type Parsed = FlatEx<f64, FloatOpsFactory<f64>, Numbers>;

/// Named values.
pub type Values = BTreeMap<String, f64>;

/// Maximum number of characters of an expression.
const MAX_CHARACTERS: usize = 2000;
/// Maximum depth of brackets.
const MAX_BRACKETS: usize = 32;

/// Evaluates an expression: numbers, names, `+ - * / ^`, brackets, functions such as `sin`, `sqrt`,
/// `exp`, `ln` (angles in radians), and `PI`. A sign binds closer than a power, as in spreadsheets:
/// -2^2 is 4, 1 - 2^2 is -3.
///
/// # Errors
/// One line: an invalid expression, a name without a value, or a result that is not finite.
pub fn evaluate(text: &str, values: &Values) -> Result<f64, String> {
    let parsed = parse(text)?;
    let text = text.replace(['\n', '\r'], " ");
    let given = parsed
        .var_names()
        .iter()
        .map(|name| {
            values
                .get(name)
                .copied()
                .ok_or_else(|| format!("'{text}': '{name}' has no value; define it in [let]"))
        })
        .collect::<Result<Vec<f64>, _>>()?;
    let value = parsed.eval(&given).map_err(|error| format!("'{text}': {}", one_line(&error)))?;
    if value.is_finite() {
        Ok(value)
    } else {
        Err(format!("'{text}' is {value}; expected a finite number"))
    }
}

fn parse(text: &str) -> Result<Parsed, String> {
    let mut depth = 0usize;
    let deepest = text
        .chars()
        .map(|c| {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth
        })
        .max();
    if text.len() > MAX_CHARACTERS || deepest.is_some_and(|depth| depth > MAX_BRACKETS) {
        return Err(format!(
            "an expression of {} characters is too long or too deep (at most {MAX_CHARACTERS} \
             characters, {MAX_BRACKETS} nested brackets); name its parts in [let]",
            text.len()
        ));
    }
    let shown = text.replace(['\n', '\r'], " ");
    Parsed::parse(text)
        .map_err(|error| format!("invalid expression '{shown}': {}", one_line(&error)))
}

fn one_line(error: &exmex::ExError) -> String {
    error.msg().lines().next().unwrap_or_default().into()
}

/// Evaluates names that may refer to each other.
///
/// # Errors
/// One line: a cycle of names, an undefined name, or an invalid expression.
pub fn resolve(names: &BTreeMap<String, String>) -> Result<Values, String> {
    let mut values = Values::new();
    let mut waiting: Vec<(&String, &String)> = names.iter().collect();
    while !waiting.is_empty() {
        let before = waiting.len();
        let mut still = Vec::new();
        for (name, text) in waiting {
            let parsed = parse(text).map_err(|error| format!("let {name}: {error}"))?;
            if let Some(unknown) = parsed.var_names().iter().find(|used| !names.contains_key(*used))
            {
                return Err(format!("let {name}: '{unknown}' has no value; define it in [let]"));
            }
            if parsed.var_names().iter().all(|used| values.contains_key(used)) {
                let value =
                    evaluate(text, &values).map_err(|error| format!("let {name}: {error}"))?;
                values.insert(name.clone(), value);
            } else {
                still.push((name, text));
            }
        }
        if still.len() == before {
            let names: Vec<&str> = still.iter().map(|(name, _)| name.as_str()).collect();
            return Err(format!("let: {} are defined by each other in a cycle", names.join(", ")));
        }
        waiting = still;
    }
    Ok(values)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<f64, String> {
        evaluate(text, &Values::from([("d".into(), 2.0)]))
    }

    #[test]
    fn arithmetic_is_as_it_is_read() {
        for (text, want) in [
            ("1 + 2 * 3", 7.0),
            ("(1 + 2) * 3", 9.0),
            ("8 / 2 / 2", 2.0),
            ("2 * d^2", 8.0),
            // A sign binds closer than a power, as in spreadsheets.
            ("-d^2 + 5", 9.0),
            ("5 - d^2", 1.0),
            ("2^-1", 0.5),
            ("sqrt(d * 8)", 4.0),
            ("sin(PI / 2) + cos(0) + ln(exp(1))", 3.0),
            ("1e3 / 4", 250.0),
            ("1.5e-2", 0.015),
            ("100000 * 0.18 / PI", 5_729.577_951_308_232),
        ] {
            let got = of(text).unwrap();
            assert!((got - want).abs() < 1e-9 * want.abs().max(1.0), "{text}: {got}, not {want}");
        }
    }

    #[test]
    fn nonsense_is_refused_in_one_line() {
        let deep = format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000));
        let deep_short = format!("{}1{}", "(".repeat(100), ")".repeat(100));
        let long = "1+".repeat(2000) + "1";
        let junk = "\u{0}\u{ffff}ä(";
        for text in
            ["", "1 +", "x", ")(", "1 / 0", "ln(-1)", "1 2", "sin", junk, &deep, &deep_short, &long]
        {
            let error = of(text).unwrap_err();
            assert!(!error.contains('\n') && error.len() < 2 * MAX_CHARACTERS, "{error}");
        }
    }

    #[test]
    fn names_may_use_names_in_any_order() {
        let names = |list: &[(&str, &str)]| {
            list.iter().map(|(n, t)| ((*n).to_string(), (*t).to_string())).collect()
        };
        let values = resolve(&names(&[("a", "b * 2"), ("b", "c + 1"), ("c", "3")])).unwrap();
        assert!((values["a"] - 8.0).abs() < 1e-12);
        assert!(resolve(&names(&[("a", "b"), ("b", "a")])).unwrap_err().contains("cycle"));
        assert!(resolve(&names(&[("a", "z")])).unwrap_err().contains("'z'"));
    }
}
