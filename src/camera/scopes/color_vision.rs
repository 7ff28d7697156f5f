//! Color vision deficiency simulation for sRGB displays, for tests of legends.

use crate::photometry::color::srgb_eotf;

/// Type of color vision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColorVision {
    /// All.
    Normal,
    /// No long-wave cones.
    Protanopia,
    /// No middle-wave cones.
    Deuteranopia,
    /// No short-wave cones.
    Tritanopia,
}

impl ColorVision {
    /// All kinds.
    pub const ALL: [Self; 4] =
        [Self::Normal, Self::Protanopia, Self::Deuteranopia, Self::Tritanopia];

    /// Linear sRGB to the simulated linear sRGB of this color vision: Machado, Oliveira and
    /// Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency", IEEE
    /// TVCG 15(6), 2009, table of matrices, severity 1.
    const fn matrix(self) -> [[f64; 3]; 3] {
        match self {
            Self::Normal => [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            Self::Protanopia => [
                [0.152286, 1.052583, -0.204868],
                [0.114503, 0.786281, 0.099216],
                [-0.003882, -0.048116, 1.051998],
            ],
            Self::Deuteranopia => [
                [0.367322, 0.860646, -0.227968],
                [0.280085, 0.672501, 0.047413],
                [-0.011820, 0.042940, 0.968881],
            ],
            Self::Tritanopia => [
                [1.255528, -0.076749, -0.178779],
                [-0.078411, 0.930809, 0.147602],
                [0.004733, 0.691367, 0.303900],
            ],
        }
    }

    /// An sRGB color as this eye perceives it, in CIE 1976 L*a*b* (white D65; CIE 015:2018, section
    /// 8.2.1).
    pub fn lab(self, color: [u8; 3]) -> [f64; 3] {
        let linear = color.map(|code| srgb_eotf(f64::from(code) / 255.0));
        let dot = |row: [f64; 3], v: [f64; 3]| row[0] * v[0] + row[1] * v[1] + row[2] * v[2];
        let seen = self.matrix().map(|row| dot(row, linear).clamp(0.0, 1.0));
        // IEC 61966-2-1, over the white.
        let [x, y, z] = [
            ([0.412_456_4, 0.357_576_1, 0.180_437_5], 0.950_47),
            ([0.212_672_9, 0.715_152_2, 0.072_175_0], 1.0),
            ([0.019_333_9, 0.119_192_0, 0.950_304_1], 1.088_83),
        ]
        .map(|(row, white)| {
            let part = dot(row, seen) / white;
            if part > 216.0 / 24389.0 {
                part.cbrt()
            } else {
                (24389.0 / 27.0 * part + 16.0) / 116.0
            }
        });
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }
}

/// The difference of two colors (CIE 1976).
pub fn difference(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}
