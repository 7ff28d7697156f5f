//! Arithmetic expressions of validation cases, for closed forms.

use std::collections::BTreeMap;

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
    let mut missing = None;
    let value = parse(text, |name| {
        values.get(name).copied().unwrap_or_else(|| {
            missing.get_or_insert_with(|| name.to_owned());
            f64::NAN
        })
    })?;
    let text = text.replace(['\n', '\r'], " ");
    match missing {
        Some(name) => Err(format!("'{text}': '{name}' has no value; define it in [let]")),
        None if value.is_finite() => Ok(value),
        None => Err(format!("'{text}' is {value}; expected a finite number")),
    }
}

/// The names that an expression uses, without those of constants and functions.
fn names_of(text: &str) -> Result<Vec<String>, String> {
    let mut names = Vec::new();
    parse(text, |name| {
        names.push(name.to_owned());
        f64::NAN
    })?;
    Ok(names)
}

/// Evaluates an expression with the value of each name by `value_of`.
fn parse(text: &str, value_of: impl FnMut(&str) -> f64) -> Result<f64, String> {
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
    let mut parser = Parser { rest: text, value_of };
    parser
        .expression(0)
        .and_then(|value| match parser.peek() {
            None => Ok(value),
            Some(_) => Err("an operator"),
        })
        .map_err(|expected| {
            let shown = text.replace(['\n', '\r'], " ");
            let at = text.chars().count() - parser.rest.chars().count() + 1;
            format!("invalid expression '{shown}': expected {expected} at character {at}")
        })
}

/// A precedence climbing parser that evaluates as it reads. Errors name the expected token.
struct Parser<'a, F> {
    rest: &'a str,
    value_of: F,
}

impl<'a, F: FnMut(&str) -> f64> Parser<'a, F> {
    /// The next character after white space.
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    /// Reads a character if it is the next one.
    fn read(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.rest = &self.rest[wanted.len_utf8()..];
        }
        found
    }

    /// Reads the first `length` bytes.
    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken
    }

    /// Reads operands and the operators of at least a priority. All operators group from the left.
    fn expression(&mut self, min_priority: u8) -> Result<f64, &'static str> {
        let mut left = self.operand()?;
        while let Some(operator) = self.peek() {
            let priority = match operator {
                '+' => 0,
                '-' => 1,
                '*' => 2,
                '/' => 3,
                '^' => 4,
                _ => break,
            };
            if priority < min_priority {
                break;
            }
            self.take(1);
            let right = self.expression(priority + 1)?;
            left = match operator {
                '+' => left + right,
                '-' => left - right,
                '*' => left * right,
                '/' => left / right,
                _ => left.powf(right),
            };
        }
        Ok(left)
    }

    fn operand(&mut self) -> Result<f64, &'static str> {
        let mut sign = 1.0;
        while let Some(c @ ('+' | '-')) = self.peek() {
            self.take(1);
            sign = if c == '-' { -sign } else { sign };
        }
        let value = match self.peek() {
            Some('(') => self.brackets()?,
            Some('0'..='9' | '.') => self.number()?,
            Some(c) if c.is_alphabetic() || c == '_' => self.name()?,
            _ => return Err("a number, a name or a bracket"),
        };
        Ok(sign * value)
    }

    fn brackets(&mut self) -> Result<f64, &'static str> {
        self.take(1);
        let value = self.expression(0)?;
        if self.read(')') { Ok(value) } else { Err("an operator or ')'") }
    }

    fn number(&mut self) -> Result<f64, &'static str> {
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        let mut length = digits(self.rest);
        if self.rest[length..].starts_with('.') {
            length += 1 + digits(&self.rest[length + 1..]);
        }
        if let Some(exponent) = self.rest[length..].strip_prefix(['e', 'E']) {
            let sign = usize::from(exponent.starts_with(['+', '-']));
            let count = digits(&exponent[sign..]);
            if count > 0 {
                length += 1 + sign + count;
            }
        }
        let (number, rest) = self.rest.split_at(length);
        let value = number.parse().map_err(|_| "a number")?;
        self.rest = rest;
        Ok(value)
    }

    /// Reads a constant, a function with its operand or operands, or a name.
    fn name(&mut self) -> Result<f64, &'static str> {
        let end = self.rest.find(|c: char| !(c.is_alphanumeric() || c == '_'));
        let name = self.take(end.unwrap_or(self.rest.len()));
        let function: fn(f64) -> f64 = match name {
            "PI" | "\u{3c0}" => return Ok(std::f64::consts::PI),
            "TAU" | "\u{3c4}" => return Ok(std::f64::consts::TAU),
            "E" | "e" => return Ok(std::f64::consts::E),
            "atan2" => return self.call(f64::atan2),
            "min" => return self.call(f64::min),
            "max" => return self.call(f64::max),
            "abs" => f64::abs,
            "signum" => f64::signum,
            "sin" => f64::sin,
            "cos" => f64::cos,
            "tan" => f64::tan,
            "asin" => f64::asin,
            "acos" => f64::acos,
            "atan" => f64::atan,
            "sinh" => f64::sinh,
            "cosh" => f64::cosh,
            "tanh" => f64::tanh,
            "asinh" => f64::asinh,
            "acosh" => f64::acosh,
            "atanh" => f64::atanh,
            "floor" => f64::floor,
            "round" => f64::round,
            "ceil" => f64::ceil,
            "trunc" => f64::trunc,
            "fract" => f64::fract,
            "exp" => f64::exp,
            "sqrt" => f64::sqrt,
            "cbrt" => f64::cbrt,
            "ln" | "log" => f64::ln,
            "log2" => f64::log2,
            "log10" => f64::log10,
            _ => return Ok((self.value_of)(name)),
        };
        self.operand().map(function)
    }

    /// Reads the two arguments of a function.
    fn call(&mut self, function: fn(f64, f64) -> f64) -> Result<f64, &'static str> {
        let bracket = |read: bool, expected| if read { Ok(()) } else { Err(expected) };
        bracket(self.read('('), "'('")?;
        let first = self.expression(0)?;
        bracket(self.read(','), "an operator or ','")?;
        let second = self.expression(0)?;
        bracket(self.read(')'), "an operator or ')'")?;
        Ok(function(first, second))
    }
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
            let used = names_of(text).map_err(|error| format!("let {name}: {error}"))?;
            if let Some(unknown) = used.iter().find(|used| !names.contains_key(*used)) {
                return Err(format!("let {name}: '{unknown}' has no value; define it in [let]"));
            }
            if used.iter().all(|used| values.contains_key(used)) {
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
            ("2^3^2 - --1", 63.0),
            ("max(1, d * 3) - atan2(0, 1) + sqrt 4", 8.0),
            (".5e+1 + 5. * e^0", 10.0),
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
        for text in [
            "",
            "1 +",
            "x",
            ")(",
            "1 / 0",
            "ln(-1)",
            "1 2",
            "sin",
            "1e",
            "max(1)",
            "2 ** 3",
            junk,
            &deep,
            &deep_short,
            &long,
        ] {
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
