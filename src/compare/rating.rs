//! One word for the difference of a pair, for those who know no metric.

use serde::Serialize;

/// How different two pictures look when flipping between them, by the mean of FLIP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rating {
    /// Equal in every pixel.
    Identical,
    /// FLIP below 0.015: differences show at a second look, if at all.
    HardlyDifferent,
    /// FLIP below 0.05: small differences.
    Close,
    /// FLIP below 0.1: clear differences.
    Different,
    /// FLIP of 0.1 or more: different at the first look.
    VeryDifferent,
}

impl Rating {
    /// Rates a mean FLIP, 0 to 1.
    #[must_use]
    pub fn of(flip: f64) -> Self {
        match flip {
            0.0 => Self::Identical,
            flip if flip < 0.015 => Self::HardlyDifferent,
            flip if flip < 0.05 => Self::Close,
            flip if flip < 0.1 => Self::Different,
            _ => Self::VeryDifferent,
        }
    }

    /// The rating as a part of a sentence, between test and reference.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Identical => "equal to",
            Self::HardlyDifferent => "hardly different from",
            Self::Close => "close to",
            Self::Different => "clearly different from",
            Self::VeryDifferent => "very different from",
        }
    }
}
