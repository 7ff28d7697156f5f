//! Values of the arguments that request sets of pictures, and the place of a picture in one.

use std::time::Instant;

/// The values of one property: `lights.Key.kelvin=2700,4000,6500`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Path of the property.
    pub path: String,
    /// Its values, each once.
    pub values: Vec<String>,
}

impl Axis {
    /// Parses `PATH=VALUE,VALUE,...`; semicolons separate values that contain commas.
    pub fn parse(text: &str) -> Result<Self, String> {
        let invalid =
            || "expected PATH=VALUE,VALUE,..., e.g. lights.Key.kelvin=2700,4000".to_owned();
        let (path, values) = text.split_once('=').ok_or_else(invalid)?;
        let separator = if values.contains(';') { ';' } else { ',' };
        let values: Vec<String> = values.split(separator).map(|v| v.trim().to_owned()).collect();
        if path.trim().is_empty() || values.iter().any(String::is_empty) {
            return Err(invalid());
        }
        if let Some(value) = (1..values.len()).find_map(|at| {
            let (before, from) = values.split_at(at);
            from.first().filter(|value| before.contains(value))
        }) {
            return Err(format!("the value {value} is given twice"));
        }
        Ok(Self { path: path.trim().to_owned(), values })
    }

    /// Name of the property in file names: the last part of its path.
    pub fn short_name(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or(&self.path)
    }
}

/// Place of a picture in a set.
#[derive(Clone, Copy, Debug)]
pub struct SetPlace {
    /// Its index, from 0.
    pub index: usize,
    /// Number of pictures.
    pub count: usize,
    /// Time when the first began.
    pub begun: Instant,
}

impl Default for SetPlace {
    /// A picture alone, which begins now.
    fn default() -> Self {
        Self { index: 0, count: 1, begun: Instant::now() }
    }
}

impl SetPlace {
    /// The done part of the set and its text, for those of the picture.
    pub fn of_all(&self, done: f64, text: String) -> (f64, String) {
        let number = self.index + 1;
        let text = match self.count {
            1 => text,
            count => format!("{number} of {count} in the set: {text}"),
        };
        ((self.index as f64 + done) / self.count as f64, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_that_of_the_whole_set() {
        let place = SetPlace { index: 1, count: 4, ..SetPlace::default() };
        let (done, text) = place.of_all(0.5, "8 of 16 samples".into());
        assert_eq!((done, text.as_str()), (0.375, "2 of 4 in the set: 8 of 16 samples"));
        assert_eq!(SetPlace::default().of_all(0.5, "x".into()), (0.5, "x".into()));
    }

    #[test]
    fn values_with_commas_are_separated_by_semicolons() {
        let range = Axis::parse("camera.exposure.adaptation=0.1,0.2;1,2").unwrap();
        assert_eq!(range.values, ["0.1,0.2", "1,2"]);
        for wrong in ["", "a", "=1", "a=", "a=1,,2", "a=1,1", "a=1;"] {
            assert!(Axis::parse(wrong).is_err(), "{wrong}");
        }
    }
}
