//! Fractions and percentages on the command line, with a warning for ambiguous numbers.

/// A fraction parsed from the command line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fraction {
    /// Fraction of one: 0.01 for 1%.
    pub value: f64,
    /// The other reading of a number without a percent sign, if both are plausible.
    alternative: Option<f64>,
}

impl Fraction {
    /// Parses a percentage above 0; the percent sign is optional. Without it, numbers below 1 are
    /// ambiguous.
    ///
    /// # Errors
    ///
    /// A usage message if the text is not a positive number.
    pub fn parse_percent(text: &str) -> Result<Self, String> {
        let (number, signed) = number(text);
        match number {
            Some(number) if number > 0.0 => Ok(Self {
                value: number / 100.0,
                alternative: (!signed && number < 1.0).then_some(number),
            }),
            _ => Err("expected a percentage above 0, e.g. 1%".into()),
        }
    }

    /// Parses a fraction of at least 0, or a percentage with its sign. Without the sign, numbers of
    /// at least 1 are ambiguous.
    ///
    /// # Errors
    ///
    /// A usage message if the text is not a number of at least 0.
    pub fn parse_fraction(text: &str) -> Result<Self, String> {
        let (number, signed) = number(text);
        match number {
            Some(number) if number >= 0.0 => {
                let part = if signed { number * 0.01 } else { number };
                Ok(Self {
                    value: part,
                    alternative: (!signed && number >= 1.0).then_some(number / 100.0),
                })
            }
            _ => Err("expected a number of at least 0, such as 0.02 or 2%".into()),
        }
    }

    /// Note for the user if the number is ambiguous.
    pub fn ambiguity_note(&self, option: &str) -> Option<String> {
        let other = self.alternative?;
        let [read, other] = [self.value, other].map(|part| format!("{}%", round(part * 100.0)));
        Some(format!(
            "note: {option} without a percent sign is read as {read}, not as {other}; write {read} or {other}"
        ))
    }
}

/// Rounds to twelve digits, so that 0.07 prints as 7%.
fn round(value: f64) -> f64 {
    format!("{value:.11e}").parse().unwrap_or(value)
}

fn number(text: &str) -> (Option<f64>, bool) {
    let (text, signed) = match text.strip_suffix('%') {
        Some(text) => (text, true),
        None => (text, false),
    };
    (text.trim().parse().ok().filter(|number: &f64| number.is_finite()), signed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percents_and_parts_agree_where_the_sign_is_written() {
        for (text, part) in [("1%", 0.01), ("0.5%", 0.005), ("250 %", 2.5)] {
            for read in [Fraction::parse_percent(text), Fraction::parse_fraction(text)] {
                let read = read.unwrap_or(Fraction { value: f64::NAN, alternative: None });
                assert!((read.value - part).abs() < 1e-15, "{text}: {read:?}");
                assert_eq!(read.ambiguity_note("--x"), None);
            }
        }
    }

    #[test]
    fn numbers_that_may_mean_both_are_remarked_on() {
        let percents =
            |text| Fraction::parse_percent(text).ok().map(|f| (f.value, f.ambiguity_note("--x")));
        let part =
            |text| Fraction::parse_fraction(text).ok().map(|f| (f.value, f.ambiguity_note("--x")));
        assert_eq!(percents("1"), Some((0.01, None)));
        assert_eq!(part("0.02"), Some((0.02, None)));
        let said = |read: &str, other: &str| {
            Some(format!(
                "note: --x without a percent sign is read as {read}, not as {other}; write {read} or {other}"
            ))
        };
        assert_eq!(percents("0.07"), Some((0.07 / 100.0, said("0.07%", "7%"))));
        assert_eq!(part("1"), Some((1.0, said("100%", "1%"))));
        for text in ["", "%", "-1", "nan", "inf", "one"] {
            assert!(
                Fraction::parse_percent(text).is_err() && Fraction::parse_fraction(text).is_err(),
                "{text}"
            );
        }
        assert!(Fraction::parse_percent("0").is_err());
        assert_eq!(part("0"), Some((0.0, None)));
    }
}
