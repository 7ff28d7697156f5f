//! `quality`: tiers, named sets of values that stand below the properties that a look sets
//! (docs/quality.md).

use std::{
    collections::{BTreeMap, BTreeSet},
    iter,
};

use super::{
    GiLook, PassesLook, Section,
    choices::{Choice, choices},
    define::section,
};

choices! {
    /// Quality tier.
    pub enum Quality {
        /// Direct light and ambient occlusion: no value of a tier, so that each property has its own
        /// default.
        Direct = "direct",
        /// Direct and indirect light at the lowest cost; reflections in screen space alone.
        Draft = "draft",
        /// All kinds of light by few samples, denoised or averaged.
        Standard = "standard",
        /// More rays, samples and frames.
        Final = "final",
        /// Exact shadow sampling, without denoisers: the reference of tests.
        Exact = "exact",
    }
}

impl Quality {
    /// The tier of a look that names none.
    pub const DEFAULT: Self = Self::Standard;

    /// Tiers with values, in the order of [`TIERS`].
    const WITH_VALUES: [Self; 4] = [Self::Draft, Self::Standard, Self::Final, Self::Exact];

    /// This tier's column of [`TIERS`]; `None` if it has no values.
    fn column(self) -> Option<usize> {
        Self::WITH_VALUES.iter().position(|tier| *tier == self)
    }

    /// This tier's value of a property; `None` if it has none.
    #[must_use]
    pub fn value(self, path: &str) -> Option<&'static str> {
        let (_, values) = TIERS.iter().find(|(known, _)| *known == path)?;
        values.get(self.column()?).copied()
    }
}

/// Values of the tiers: a property's path, and its values by tier, from `draft` to `exact`.
pub const TIERS: [(&str, [&str; 4]); 19] = [
    ("passes.aa.samples", ["1", "4", "16", "32"]),
    ("passes.aa.method", ["morphological", "taa", "taa", "none"]),
    ("passes.shadows.method", ["traced"; 4]),
    ("passes.shadows.sampling", ["budget", "budget", "budget", "exact"]),
    ("passes.shadows.rays", ["2", "2", "4", "4"]),
    ("passes.shadows.samples", ["4", "4", "8", "16"]),
    ("passes.ao.enabled", ["true"; 4]),
    ("passes.ssr.enabled", ["true"; 4]),
    ("passes.ssr.resolution", ["half", "full", "full", "full"]),
    // Rays of GI, which the denoiser filters, have less noise on rougher surfaces.
    ("passes.ssr.max_roughness", ["0.6", "0.5", "0.5", "0.5"]),
    ("passes.refraction.method", ["screen", "traced", "traced", "traced"]),
    ("passes.volumes.resolution", ["half", "full", "full", "full"]),
    (
        "passes.clustered_lights.cull_threshold",
        ["0.0009765625", "0.0009765625", "0.0009765625", "0"],
    ),
    ("gi.enabled", ["true"; 4]),
    ("gi.vpls", ["8192", "32768", "300000", "300000"]),
    ("gi.vpl_samples", ["1", "2", "2", "4"]),
    ("gi.resolution", ["half", "half", "full", "full"]),
    ("gi.specular", ["false", "true", "true", "true"]),
    ("gi.denoise", ["true", "true", "true", "false"]),
];

section! {
    /// The tier of a look.
    pub struct QualityLook in "quality" {
        tier at "quality": Quality = Quality::DEFAULT,
            "quality tier: direct, draft, standard, final or exact; its values (docs/quality.md) apply to properties that the look does not set";
    }
    and {
        /// Properties of the tiers that the look sets itself.
        stated: BTreeSet<&'static str>;
    }
}

impl QualityLook {
    /// Path of the tier.
    pub const PATH: &'static str = Self::PROPERTIES[0].path;

    /// Notes that the look sets a property, which the tier's value then does not replace.
    pub(crate) fn state(&mut self, path: &str) {
        self.stated.extend(TIERS.iter().map(|(known, _)| *known).find(|known| *known == path));
    }

    /// Path and value of each property that the tier sets and the look does not.
    pub fn values(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        TIERS.iter().filter_map(|(path, _)| Some((*path, self.value(path)?)))
    }

    /// The tier's value of a property; `None` without one, and if the look sets the property.
    #[must_use]
    pub fn value(&self, path: &str) -> Option<&'static str> {
        self.tier().value(path).filter(|_| !self.stated.contains(path))
    }
}

/// The values of all tiers as a table of text: head and rows, each with its columns.
#[must_use]
pub fn tier_table() -> Vec<[String; 6]> {
    let defaults: BTreeMap<_, _> = PassesLook::properties()
        .into_iter()
        .chain(GiLook::properties())
        .filter_map(|property| Some((property.path, (property.default)()?)))
        .collect();
    let [draft, standard, last, exact] = Quality::WITH_VALUES.map(Choice::name);
    let head = ["property", Quality::Direct.name(), draft, standard, last, exact].map(String::from);
    let row = |(path, values): &(&str, [&str; 4])| {
        let own = defaults.get(path).map_or("-", String::as_str);
        let [draft, standard, last, exact] = *values;
        [*path, own, draft, standard, last, exact].map(String::from)
    };
    iter::once(head).chain(TIERS.iter().map(row)).collect()
}
