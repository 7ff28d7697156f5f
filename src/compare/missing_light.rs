//! What the passes that were off explain, by the reference's layers of light.

use serde::Serialize;

use super::{
    linear_image::LinearImage,
    metrics::ImagePair,
    summary::{self, CompareSettings},
};
use crate::image_io::LightPasses;

/// Layers of a path traced EXR that hold light of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingKind {
    /// Indirect light of every kind, reflections included.
    Indirect,
    /// Indirect light without reflections, which were on in screen space.
    IndirectDiffuse,
    /// Indirect light that surfaces reflect specularly.
    IndirectSpecular,
    /// Indirect light that surfaces reflect specularly, off screen: a part of its layer.
    OffScreenReflections,
}

impl MissingKind {
    /// The kind of light that a picture lacks; `None` if it has all, or does not say.
    #[must_use]
    pub fn of(light: &LightPasses) -> Option<Self> {
        let on_screen = light.screen_space_reflections == Some(true);
        match (light.indirect?, light.indirect_specular) {
            (false, _) if on_screen => Some(Self::IndirectDiffuse),
            (false, _) => Some(Self::Indirect),
            (true, Some(false)) if on_screen => Some(Self::OffScreenReflections),
            (true, Some(false)) => Some(Self::IndirectSpecular),
            (true, _) => None,
        }
    }

    /// Names of the reference's layers with this light.
    #[must_use]
    pub const fn layers(self) -> &'static [&'static str] {
        match self {
            Self::Indirect => &["indirect_diffuse", "indirect_specular", "indirect_transmission"],
            Self::IndirectDiffuse => &["indirect_diffuse", "indirect_transmission"],
            Self::IndirectSpecular | Self::OffScreenReflections => &["indirect_specular"],
        }
    }

    /// True if the layers also hold light that the picture has: their share is an upper bound.
    #[must_use]
    pub const fn is_upper_bound(self) -> bool {
        matches!(self, Self::OffScreenReflections)
    }
}

/// Light of the reference that the test lacks because passes were off.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MissingLight {
    /// The kind of light.
    pub kind: MissingKind,
    /// Its part of the reference's light, 0 to 1.
    pub share: f64,
    /// Bias against the reference without this light.
    pub bias_without: Option<f64>,
    /// Mean LDR-FLIP against the reference without this light.
    pub flip_without: Option<f64>,
}

impl MissingLight {
    /// Measures the light of `layers`, pictures of the reference's unit and size, in a pair of
    /// scene light. `None` if sizes differ or the reference is black.
    #[must_use]
    pub fn of(
        kind: MissingKind,
        pair: &ImagePair<'_>,
        layers: &[LinearImage],
        settings: &CompareSettings,
    ) -> Option<Self> {
        let reference = pair.reference();
        let count = reference.pixels().len();
        if layers.is_empty() || layers.iter().any(|layer| layer.pixels().len() != count) {
            return None;
        }
        let rest = reference.map(|index, pixel| {
            layers.iter().fold(pixel, |rest, layer| {
                let light = layer.pixels()[index];
                // Rounding may leave less than nothing.
                std::array::from_fn(|i| (rest[i] - light[i]).max(0.0))
            })
        });
        let without = pair.with_reference(&rest)?;
        let ([_, mean], [_, remaining]) = (pair.means()?, without.means()?);
        let share = 1.0 - remaining / mean;
        share.is_finite().then(|| Self {
            kind,
            share,
            bias_without: without.bias(),
            flip_without: without.mean(&summary::ldr_flip(&without, settings)),
        })
    }
}
