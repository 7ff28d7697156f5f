//! `quality`: tiers, named sets of values that stand below the properties that a look sets
//! (docs/quality.md).

use std::collections::BTreeSet;

use super::{
    choices::{Choice, choices},
    define::section,
};

choices! {
    /// Quality tier.
    pub enum Quality {
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

/// Values of the tiers: a property's path, and its values in the order of `Quality`.
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
    ("gi.vpls", ["8192", "32768", "65536", "300000"]),
    ("gi.vpl_samples", ["1", "1", "2", "4"]),
    ("gi.resolution", ["half", "half", "full", "full"]),
    ("gi.specular", ["false", "true", "true", "true"]),
    ("gi.denoise", ["true", "true", "true", "false"]),
];

section! {
    /// The tier of a look.
    pub struct QualityLook in "quality" {
        tier at "quality": Quality,
            "quality tier: draft, standard, final or exact; its values (docs/quality.md) apply to properties that the look does not set";
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
        let index =
            self.tier.and_then(|tier| Quality::NAMES.iter().position(|&name| name == tier.name()));
        let value = move |&(path, values): &(&'static str, [&'static str; 4])| {
            Some((path, *values.get(index?)?)).filter(|_| !self.stated.contains(path))
        };
        TIERS.iter().filter_map(value)
    }

    /// The tier's value of a property; `None` without one, and if the look sets the property.
    #[must_use]
    pub fn value(&self, path: &str) -> Option<&'static str> {
        self.values().find(|(known, _)| *known == path).map(|(_, value)| value)
    }
}

/// The values of all tiers as a table of text: head and rows, each with its columns.
#[must_use]
pub fn tier_table() -> Vec<[&'static str; 5]> {
    let row = |first, [draft, standard, last, exact]: [&'static str; 4]| {
        [first, draft, standard, last, exact]
    };
    let names = [Quality::Draft, Quality::Standard, Quality::Final, Quality::Exact];
    let head = row("property", names.map(Choice::name));
    [head].into_iter().chain(TIERS.map(|(path, values)| row(path, values))).collect()
}
