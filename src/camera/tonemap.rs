//! Tone mappers: from exposed scene-linear Rec.709 to display-linear Rec.709 in 0 to 1, one pixel
//! at a time.
//!
//! These host versions are the reference for the shader versions: same steps, same order, single
//! precision. They exclude the display's transfer function (sRGB). The output is always finite and
//! in 0 to 1: input channels are clamped to 0 to `INPUT_LIMIT`, and NaN becomes 0.
//!
//! Exposed values put the saturation luminance at 1, hence a metered gray at 0.104
//! (`camera::exposure`); no mapper here adds a gain of its own.

use glam::{Mat3, Vec3, vec3};

/// Maximum exposed value of a tone mapper's input: the largest finite half float.
pub const INPUT_LIMIT: f32 = 65504.0;

/// A way to bring exposed scene-linear colors into the range of a display.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum ToneMapper {
    /// Clamps; nothing else.
    Linear,
    /// Stephen Hill's fit of the ACES 1.0 reference rendering and sRGB output transforms.
    Aces,
    /// Troy Sobotka's AgX, base look, in Rec.2020 as in Blender and Filament, with Benjamin
    /// Wrensch's curve fit.
    #[default]
    Agx,
    /// Khronos PBR Neutral: base colors come through unchanged under white light.
    PbrNeutral,
}

impl ToneMapper {
    /// All mappers, in the order in which they are offered.
    pub const ALL: [Self; 4] = [Self::Linear, Self::Aces, Self::Agx, Self::PbrNeutral];

    /// The name shown to people and used in files and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Aces => "aces",
            Self::Agx => "agx",
            Self::PbrNeutral => "pbr-neutral",
        }
    }

    /// The mapper of that name; `None` for an unknown name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mapper| mapper.name() == name)
    }

    /// Maps one exposed scene-linear Rec.709 color to display-linear Rec.709, each channel in 0 to
    /// 1.
    #[must_use]
    pub fn apply(self, exposed: Vec3) -> Vec3 {
        match self {
            Self::Linear => linear(exposed),
            Self::Aces => aces(exposed),
            Self::Agx => agx(exposed),
            Self::PbrNeutral => pbr_neutral(exposed),
        }
    }
}

/// Input clamp of all mappers: NaN and negative channels become 0, larger ones `INPUT_LIMIT`.
#[must_use]
pub fn sanitize(exposed: Vec3) -> Vec3 {
    // Not `f32::clamp`, which lets NaN through.
    let channel = |x: f32| if x > 0.0 { x.min(INPUT_LIMIT) } else { 0.0 };
    vec3(channel(exposed.x), channel(exposed.y), channel(exposed.z))
}

fn saturate(c: Vec3) -> Vec3 {
    c.clamp(Vec3::ZERO, Vec3::ONE)
}

/// Clamps to 0 to 1.
#[must_use]
pub fn linear(exposed: Vec3) -> Vec3 {
    saturate(sanitize(exposed))
}

/// sRGB to ACES AP1 (D65 to D60) and the reference rendering transform's desaturation, as columns.
const ACES_INPUT: Mat3 = Mat3::from_cols(
    vec3(0.59719, 0.07600, 0.02840),
    vec3(0.35458, 0.90834, 0.13383),
    vec3(0.04823, 0.01566, 0.83777),
);

/// The output transform's desaturation and AP1 to sRGB (D60 to D65), as columns.
const ACES_OUTPUT: Mat3 = Mat3::from_cols(
    vec3(1.60475, -0.10208, -0.00327),
    vec3(-0.53108, 1.10813, -0.07276),
    vec3(-0.07367, -0.00605, 1.07602),
);

/// ACES as a rational fit of the RRT and the sRGB ODT (100 nit), not the Academy's transform
/// itself.
///
/// Stephen Hill's fit, published in Matt Pettineo's BakingLab, `ACES.hlsl` (`ACESFitted`). It has
/// no gain of 1/0.6 or 1.8 before it, as some engines add.
#[must_use]
pub fn aces(exposed: Vec3) -> Vec3 {
    let v = ACES_INPUT * sanitize(exposed);
    let a = v * (v + 0.024_578_6) - 0.000_090_537;
    let b = v * (0.983_729 * v + 0.432_951) + 0.238_081;
    saturate(ACES_OUTPUT * (a / b))
}

/// Linear Rec.709 to linear Rec.2020, as columns. From the primaries and white of ITU-R BT.709 and
/// BT.2020; rounded to four digits it is the matrix of ITU-R BT.2087-0, section 2.
pub const REC709_TO_REC2020: Mat3 = Mat3::from_cols(
    vec3(0.627_403_9, 0.069_097_29, 0.016_391_44),
    vec3(0.329_283_04, 0.919_540_4, 0.088_013_31),
    vec3(0.043_313_067, 0.011_362_316, 0.895_595_25),
);

/// Linear Rec.2020 to linear Rec.709, as columns: the inverse of `REC709_TO_REC2020`; rounded it is
/// the matrix of ITU-R BT.2407-0, section 2.2.
pub const REC2020_TO_REC709: Mat3 = Mat3::from_cols(
    vec3(1.660_491, -0.124_550_47, -0.018_150_763),
    vec3(-0.587_641_1, 1.132_899_9, -0.100_578_9),
    vec3(-0.072_849_86, -0.008_349_423, 1.118_729_7),
);

/// AgX inset for Rec.2020, as columns: Blender's `config.ocio` ("AgX Base"), the same in Filament's
/// `ToneMapper.cpp`.
const AGX_INSET: Mat3 = Mat3::from_cols(
    vec3(0.856_627_15, 0.137_318_97, 0.111_898_21),
    vec3(0.095_121_24, 0.761_242, 0.076_799_42),
    vec3(0.048_251_606, 0.101_439_04, 0.811_302_37),
);

/// AgX outset for Rec.2020, as columns: the inverse of the matrix that Eary Chow's
/// `AgXBaseRec2020.py` generates, as in Filament's `ToneMapper.cpp`.
const AGX_OUTSET: Mat3 = Mat3::from_cols(
    vec3(1.127_100_6, -0.141_329_76, -0.141_329_76),
    vec3(-0.110_606_64, 1.157_823_7, -0.110_606_64),
    vec3(-0.016_493_939, -0.016_493_939, 1.251_936_4),
);

/// The darkest stop that AgX encodes: `log2(0.18 * 2^-10)`.
const AGX_MIN_EV: f32 = -12.473_93;
/// The brightest stop that AgX encodes: `log2(0.18 * 2^6.5)`.
const AGX_MAX_EV: f32 = 4.026_069;

/// AgX, base look: inset, logarithm, sigmoid, outset, then its 2.2 power back to display-linear.
///
/// Troy Sobotka's AgX (github.com/sobotka/AgX) in the Rec.2020 form of Blender 4 and Filament. The
/// sigmoid is the polynomial of degree 6 in Benjamin Wrensch, "Minimal AgX Implementation"
/// (iolite-engine.com, 2023), mean squared error 3.7e-6: the brightest output is 0.997, not 1.
#[must_use]
pub fn agx(exposed: Vec3) -> Vec3 {
    let v = AGX_INSET * (REC709_TO_REC2020 * sanitize(exposed));
    let channel =
        |x: f32| ((x.max(1e-10).log2() - AGX_MIN_EV) / (AGX_MAX_EV - AGX_MIN_EV)).clamp(0.0, 1.0);
    let x = vec3(channel(v.x), channel(v.y), channel(v.z));
    let x2 = x * x;
    let x4 = x2 * x2;
    let sigmoid =
        15.5 * x4 * x2 - 40.14 * x4 * x + 31.96 * x4 - 6.868 * x2 * x + 0.4298 * x2 + 0.1191 * x
            - 0.002_32;
    let display = (AGX_OUTSET * sigmoid).max(Vec3::ZERO);
    let display = vec3(display.x.powf(2.2), display.y.powf(2.2), display.z.powf(2.2));
    saturate(REC2020_TO_REC709 * display)
}

/// Khronos PBR Neutral, exactly as specified.
///
/// Khronos Group, "Khronos PBR Neutral Tone Mapper" (2024, github.com/KhronosGroup/ToneMapping,
/// `PBR_Neutral`): `F90` offset 0.04, compression from 0.8 - 0.04, desaturation 0.15.
#[must_use]
pub fn pbr_neutral(exposed: Vec3) -> Vec3 {
    const START: f32 = 0.8 - 0.04;
    const DESATURATION: f32 = 0.15;
    let c = sanitize(exposed);
    let min = c.min_element();
    let offset = if min < 0.08 { min - 6.25 * min * min } else { 0.04 };
    let c = c - offset;
    let peak = c.max_element();
    if peak < START {
        return saturate(c);
    }
    let d = 1.0 - START;
    let new_peak = 1.0 - d * d / (peak + d - START);
    let c = c * (new_peak / peak);
    let g = 1.0 - 1.0 / (DESATURATION * (peak - new_peak) + 1.0);
    saturate(c + (Vec3::splat(new_peak) - c) * g)
}

/// Jarzynski and Olano, "Hash Functions for GPU Rendering", JCGT 9(3), 2020, listing of `pcg2d`.
fn pcg2d(x: u32, y: u32) -> [u32; 2] {
    const A: u32 = 1_664_525;
    const B: u32 = 1_013_904_223;
    let (mut x, mut y) = (x.wrapping_mul(A).wrapping_add(B), y.wrapping_mul(A).wrapping_add(B));
    for _ in 0..2 {
        x = x.wrapping_add(y.wrapping_mul(A));
        y = y.wrapping_add(x.wrapping_mul(A));
        (x, y) = (x ^ (x >> 16), y ^ (y >> 16));
    }
    [x, y]
}

/// Quantizes a display code (0 to 255, not rounded) with dither, which replaces banding by noise
/// and keeps the mean. The noise depends on the pixel position only and is the same for all
/// channels.
///
/// Lipshitz, Wannamaker and Vanderkooy, "Quantization and Dither: A Theoretical Survey", J. AES
/// 40(5), 1992: noise of triangular distribution, two codes wide. Within half a code of black and
/// white, where it would clip, uniform noise of one code: black and white are preserved.
#[must_use]
pub fn dithered(code: f32, x: u32, y: u32) -> u8 {
    let [a, b] = pcg2d(x, y).map(|bits| (bits >> 8) as f32 / 16_777_216.0);
    let noise = if (0.5..=254.5).contains(&code) { a + b - 1.0 } else { a - 0.5 };
    // The cast maps NaN to 0 and saturates.
    (code + noise + 0.5).floor() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(got: Vec3, want: [f32; 3], tolerance: f32) {
        let want = Vec3::from_array(want);
        assert!(
            (got - want).abs().max_element() <= tolerance,
            "{got} is not {want} within {tolerance}"
        );
    }

    /// Computed by a separate double-precision script from the published definitions.
    #[test]
    fn reference_colors() {
        let cases: [[[f32; 3]; 4]; 6] = [
            [[0.0; 3], [0.0; 3], [0.0; 3], [0.0; 3]],
            [[0.18; 3], [0.105_591_25, 0.105_591_25, 0.105_590_19], [0.214_519_09; 3], [0.14; 3]],
            [
                [0.05, 0.02, 0.4],
                [0.005_725_44, 0.002_969_785, 0.265_897_1],
                [0.063_932_22, 0.075_207_58, 0.433_179_7],
                [0.0325, 0.0025, 0.3825],
            ],
            [
                [1.0; 3],
                [0.619_115_4, 0.619_115_4, 0.619_109_2],
                [0.590_159_25; 3],
                [0.869_090_9; 3],
            ],
            [
                [4.0, 1.0, 0.2],
                [0.997_160_8, 0.663_380_6, 0.281_856_34],
                [0.938_021_3, 0.622_867_45, 0.421_005_75],
                [0.983_255_8, 0.468_299_17, 0.330_977_4],
            ],
            [
                [0.0, 0.0, 10.0],
                [0.463_722_43, 0.052_209_9, 1.0],
                [0.446_587_14, 0.612_953_2, 1.0],
                [0.571_141_6, 0.571_141_6, 0.993_924],
            ],
        ];
        for [c, want_aces, want_agx, want_neutral] in cases {
            let c = Vec3::from_array(c);
            near(aces(c), want_aces, 2e-6);
            near(agx(c), want_agx, 2e-5);
            near(pbr_neutral(c), want_neutral, 1e-6);
        }
    }

    #[test]
    fn matrices_are_inverses() {
        let product = REC709_TO_REC2020 * REC2020_TO_REC709;
        for (column, unit) in
            [(product.x_axis, Vec3::X), (product.y_axis, Vec3::Y), (product.z_axis, Vec3::Z)]
        {
            near(column, unit.to_array(), 1e-6);
        }
        near(REC709_TO_REC2020 * Vec3::ONE, [1.0; 3], 1e-6);
    }

    #[test]
    fn output_is_in_display_range() {
        let odd = [
            f32::NAN,
            f32::INFINITY,
            f32::NEG_INFINITY,
            -1.0,
            -0.0,
            1e-30,
            1e-3,
            0.5,
            1.0,
            70_000.0,
            f32::MAX,
        ];
        for mapper in ToneMapper::ALL {
            for &r in &odd {
                for &g in &odd {
                    for &b in &odd {
                        let out = mapper.apply(vec3(r, g, b));
                        assert!(out.is_finite(), "{mapper:?} {r} {g} {b}: {out}");
                        assert!(
                            out.min_element() >= 0.0 && out.max_element() <= 1.0,
                            "{mapper:?} {r} {g} {b}: {out}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn grays_stay_gray_and_rise() {
        for mapper in ToneMapper::ALL {
            let mut last = -1.0;
            for i in 0..200 {
                let x = (f32::from(i as u8) * 0.1 - 10.0).exp2();
                let out = mapper.apply(Vec3::splat(x));
                assert!(out.max_element() - out.min_element() < 2e-4, "{mapper:?} {x}: {out}");
                assert!(out.y >= last - 1e-6, "{mapper:?} falls at {x}: {} after {last}", out.y);
                last = out.y;
            }
        }
    }

    #[test]
    fn neutral_keeps_base_colors() {
        // Under the compression and above the toe only the constant Fresnel offset is taken away.
        near(pbr_neutral(vec3(0.5, 0.3, 0.1)), [0.46, 0.26, 0.06], 1e-6);
    }

    #[test]
    fn names_round_trip() {
        for mapper in ToneMapper::ALL {
            assert_eq!(ToneMapper::from_name(mapper.name()), Some(mapper));
            assert_eq!(serde_json::to_string(&mapper).unwrap(), format!("\"{}\"", mapper.name()));
        }
        assert_eq!(ToneMapper::from_name("reinhard"), None);
    }

    #[test]
    fn dither_keeps_the_mean_and_the_ends() {
        let side = 256;
        for code in [0.0, 0.1, 0.3, 0.5, 0.7, 1.0, 17.25, 100.5, 200.0, 254.3, 254.6, 254.9, 255.0]
        {
            let bytes: Vec<f64> = (0..side * side)
                .map(|i| f64::from(dithered(code, i % side, i / side)) - f64::from(code))
                .collect();
            let mean = bytes.iter().sum::<f64>() / bytes.len() as f64;
            // 65536 samples of a standard deviation of at most half a step: 0.002; five times that.
            assert!(mean.abs() < 0.01, "{code}: {mean}");
            let worst = bytes.iter().fold(0.0, |worst: f64, e| worst.max(e.abs()));
            assert!(worst <= 1.5, "{code}: {worst}");
            if code == 0.0 || code == 255.0 {
                assert_eq!(worst, 0.0);
            }
            if (1.0..=254.0).contains(&code) {
                // Triangular noise: the error's variance is a quarter of a squared step for every
                // code.
                let variance = bytes.iter().map(|e| e * e).sum::<f64>() / bytes.len() as f64;
                assert!((variance - 0.25).abs() < 0.01, "{code}: {variance}");
            }
        }
        assert_eq!(dithered(f32::NAN, 3, 4), 0);
    }
}
