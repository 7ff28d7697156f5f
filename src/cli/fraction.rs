//! Parts and percents on the command line: one rule for what a number without a percent sign means.

/// A part of one, as it was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fraction {
    /// The part: 0.01 for one per cent.
    pub value: f64,
    /// The other part that the text may have meant: it has no percent sign, and a size at which
    /// both are likely.
    alternative: Option<f64>,
}

impl Fraction {
    /// Percents, with or without the sign. Without it numbers below 1 may have been meant as parts.
    pub fn parse_percent(text: &str) -> Result<Self, String> {
        let (number, signed) = number(text);
        match number {
            Some(number) if number > 0.0 => Ok(Self {
                value: number / 100.0,
                alternative: (!signed && number < 1.0).then_some(number),
            }),
            _ => Err("give percents above 0, e.g. 1%".into()),
        }
    }

    /// A part of one from 0 on, or percents with the sign. Without it numbers from 1 on may have
    /// been meant as percents.
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
            _ => Err("give a number from 0 on, such as 0.02 or 2%".into()),
        }
    }

    /// What to say of a number that may have meant something else.
    pub fn ambiguity_note(&self, option: &str) -> Option<String> {
        let other = self.alternative?;
        let [read, other] = [self.value, other].map(|part| format!("{}%", round(part * 100.0)));
        Some(format!(
            "note: {option} without a percent sign is read as {read}, not as {other}; write {read} or {other}"
        ))
    }
}

/// To twelve digits, so that 0.07 shows as 7 per cent.
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
