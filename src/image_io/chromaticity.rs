//! Conversion of RGB with other primaries to linear Rec.709.

use glam::DMat3;

use crate::photometry::color::{
    Adaptation, Chromaticity, D65, REC709_PRIMARIES, REC709_TO_XYZ, XYZ_TO_REC709,
    rgb_to_xyz_matrix,
};

/// Chromaticities of the primaries and of white.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Primaries {
    /// Red, green and blue.
    pub rgb: [Chromaticity; 3],
    /// Chromaticity of (1, 1, 1).
    pub white: Chromaticity,
}

/// Conversion from a file's primaries to Rec.709.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Conversion {
    /// Rec.709, within the rounding of files.
    Same,
    /// Another color space, converted by this matrix.
    Matrix(DMat3),
    /// Invalid primaries: collinear or not finite.
    Impossible,
}

impl Primaries {
    /// Creates primaries from x and y of red, green, blue and white.
    pub fn new([rx, ry, gx, gy, bx, by, wx, wy]: [f64; 8]) -> Self {
        let of = |x, y| Chromaticity { x, y };
        Self { rgb: [of(rx, ry), of(gx, gy), of(bx, by)], white: of(wx, wy) }
    }

    /// Matrix from linear RGB of these primaries to CIE XYZ; `None` if they are invalid.
    pub fn to_xyz(self) -> Option<DMat3> {
        let all = [self.rgb[0], self.rgb[1], self.rgb[2], self.white];
        // ACES AP0 has a blue of y below 0 and XYZ one of y = 0: y only has to be divisible.
        let numbers = all.iter().all(|c| c.x.abs() <= 10.0 && c.y.abs() <= 10.0);
        let own = |c: Chromaticity| if c.y == 0.0 { Chromaticity { y: 1e-9, ..c } } else { c };
        if !numbers || self.white.checked().is_err() {
            return None;
        }
        let matrix = rgb_to_xyz_matrix(self.rgb.map(own), self.white.to_xyz(1.0));
        (matrix.is_finite() && matrix.determinant().abs() > 1e-9).then_some(matrix)
    }

    /// The conversion to Rec.709 by XYZ, with the white adapted to D65 (Bradford), so that neutral
    /// colors stay neutral.
    pub fn conversion(self) -> Conversion {
        let near =
            |a: Chromaticity, b: Chromaticity| (a.x - b.x).abs() < 1e-3 && (a.y - b.y).abs() < 1e-3;
        if near(self.white, D65) && self.rgb.iter().zip(REC709_PRIMARIES).all(|(a, b)| near(*a, b))
        {
            return Conversion::Same;
        }
        let Some(to_xyz) = self.to_xyz() else { return Conversion::Impossible };
        let (from, to) = (self.white.to_xyz(1.0), D65.to_xyz(1.0));
        let adapted = Adaptation::Bradford.adapt_xyz(from, to);
        let matrix = XYZ_TO_REC709 * adapted * to_xyz;
        if matrix.is_finite() { Conversion::Matrix(matrix) } else { Conversion::Impossible }
    }

    /// Luminance weights of red, green and blue, which is the Y row of `to_xyz`; those of Rec.709
    /// if the primaries are invalid.
    pub fn luminance_weights(self) -> [f64; 3] {
        self.to_xyz().unwrap_or(REC709_TO_XYZ).row(1).to_array()
    }

    /// Display name: a common name, or the numbers.
    pub fn name(self) -> String {
        const KNOWN: [(&str, [f64; 8]); 7] = [
            ("ACES AP0", [0.7347, 0.2653, 0.0, 1.0, 0.0001, -0.077, 0.32168, 0.33767]),
            ("ACEScg AP1", [0.713, 0.293, 0.165, 0.83, 0.128, 0.044, 0.32168, 0.33767]),
            ("Rec.2020", [0.708, 0.292, 0.170, 0.797, 0.131, 0.046, 0.3127, 0.3290]),
            ("Display P3", [0.680, 0.320, 0.265, 0.690, 0.150, 0.060, 0.3127, 0.3290]),
            ("Adobe RGB", [0.64, 0.33, 0.21, 0.71, 0.15, 0.06, 0.3127, 0.3290]),
            ("Radiance RGB", [0.64, 0.33, 0.29, 0.60, 0.15, 0.06, 1.0 / 3.0, 1.0 / 3.0]),
            ("CIE XYZ", [1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0 / 3.0, 1.0 / 3.0]),
        ];
        let [r, g, b] = self.rgb;
        let own = [r.x, r.y, g.x, g.y, b.x, b.y, self.white.x, self.white.y];
        let found = KNOWN
            .iter()
            .find(|(_, known)| known.iter().zip(own).all(|(a, b)| (a - b).abs() < 1e-3));
        found.map_or_else(
            || {
                let pairs: Vec<String> =
                    own.chunks(2).map(|xy| format!("({:.4}, {:.4})", xy[0], xy[1])).collect();
                format!("primaries and white {}", pairs.join(" "))
            },
            |(name, _)| (*name).to_owned(),
        )
    }
}
