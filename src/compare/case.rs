//! Validation cases: parsing and checking of the folders in `validation/cases`.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use super::expression::{self, Values};
use crate::{
    message::{read_file, utf8_text},
    scene::look::syntax_error,
};

/// Maximum size in bytes of a case file.
const MAX_BYTES: u64 = 1 << 20;
/// Maximum number of references, regions, names, expectations or bounds of a case.
const MAX_ENTRIES: usize = 1000;
/// Maximum side length in pixels of a case's images.
const MAX_SIDE: usize = 2048;

/// An invalid case.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{file}: {detail}")]
pub struct CaseError {
    /// Path of the file.
    pub file: String,
    /// The entry, what is wrong with it, and the remedy.
    pub detail: String,
}

/// A validation case: a scene, and checks of its images.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Name of the folder.
    #[serde(skip)]
    pub name: String,
    /// Path of the folder.
    #[serde(skip)]
    pub folder: PathBuf,
    /// Title, one line.
    pub title: String,
    /// Description of the case.
    #[serde(default)]
    pub text: String,
    /// Image size in pixels: width, height.
    pub size: [usize; 2],
    /// Path of the scene, relative to the folder.
    #[serde(default = "default_scene")]
    pub scene: PathBuf,
    /// Path of the look, relative to the folder; the look beside the scene by default, if there is
    /// one.
    pub look: Option<PathBuf>,
    /// Name of the camera; the first by default.
    pub camera: Option<String>,
    /// Look properties, as `--set` accepts them.
    #[serde(default)]
    pub set: Vec<String>,
    /// Maximum number of surface hits of a path.
    pub bounces: u32,
    /// Samples per pixel of the path tracer.
    pub spp: u32,
    /// True if the raster renderer runs.
    #[serde(default)]
    pub raster: bool,
    /// Images of other renderers.
    #[serde(default, rename = "reference")]
    pub references: Vec<Reference>,
    /// Named regions of the image.
    #[serde(default, rename = "region")]
    pub regions: Vec<Region>,
    /// Named values for expressions.
    #[serde(default, rename = "let")]
    pub names: BTreeMap<String, String>,
    /// Checks against closed forms.
    #[serde(default, rename = "expect")]
    pub expects: Vec<Expectation>,
    /// Checks of one image against another.
    #[serde(default, rename = "bound")]
    pub bounds: Vec<Bound>,
}

fn default_scene() -> PathBuf {
    "scene.glb".into()
}

/// An image of another renderer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// Name in bounds.
    pub name: String,
    /// Path of an EXR in nits, relative to the folder.
    pub file: PathBuf,
    /// The renderer and its settings.
    #[serde(default)]
    pub made: String,
}

/// A region of the image, in pixels from the upper left corner. It contains the pixels whose center
/// lies in it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// Name in expectations and bounds.
    pub name: String,
    /// Center x, center y and radius.
    pub circle: Option<[f64; 3]>,
    /// Left, top, right and bottom.
    pub rect: Option<[f64; 4]>,
}

/// Parses the name of an image; version 0.1 had another name for path tracing through pixel
/// centers.
fn image_name<'de, D: serde::Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let name = String::deserialize(from)?;
    Ok(if name == "path_centres" { "path_pixel_centers".into() } else { name })
}

/// An expectation: the mean over a region by a closed form.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// Name of the tested image.
    #[serde(deserialize_with = "image_name")]
    pub test: String,
    /// Name of the region; `all` is the whole image.
    #[serde(default = "all")]
    pub region: String,
    /// Luminance in nits (or an exposed value, see `exposed`): an expression.
    pub value: Option<String>,
    /// Linear Rec.709 instead of luminance: three expressions.
    pub rgb: Option<[String; 3]>,
    /// Maximum error, as a fraction of the value (of the greatest of three).
    pub within: f64,
    /// Look properties that differ from the case's.
    #[serde(default)]
    pub set: Vec<String>,
    /// Compares exposed and white-balanced values, in which 1 is display white.
    #[serde(default)]
    pub exposed: bool,
    /// Explanation of the formula.
    #[serde(default)]
    pub why: String,
}

fn all() -> String {
    ALL.into()
}

/// Region name of the whole image.
pub const ALL: &str = "all";

/// A bound on the difference between two images.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bound {
    /// Name of the tested image.
    #[serde(deserialize_with = "image_name")]
    pub test: String,
    /// Name of the reference image.
    #[serde(deserialize_with = "image_name")]
    pub against: String,
    /// The metric to compute.
    pub metric: Metric,
    /// Regions, each checked separately; empty is the whole image.
    #[serde(default)]
    pub regions: Vec<String>,
    /// Maximum of the metric.
    pub at_most: Option<f64>,
    /// Minimum of the metric.
    pub at_least: Option<f64>,
    /// Maximum of the metric, as a multiple of the metric between the first two references.
    #[serde(alias = "times_referees")]
    pub times_reference_difference: Option<f64>,
    /// Excludes pixels at edges of the reference image.
    #[serde(default)]
    pub skip_edges: bool,
    /// Explanation of the bound.
    #[serde(default)]
    pub why: String,
}

/// Metric between two images.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Absolute relative error of the mean luminance.
    Mean,
    /// Root mean square of the relative errors of means over 8x8 pixel blocks.
    BlockRms,
    /// Worst relative error of means over 8x8 pixel blocks.
    BlockWorst,
    /// Root mean square error of the channels over their mean.
    Rmse,
    /// Mean of LDR-FLIP, with equal exposure.
    Flip,
    /// Mean of HDR-FLIP.
    FlipHdr,
    /// Peak signal-to-noise ratio in dB, with equal exposure.
    Psnr,
    /// Mean over pixels of the absolute difference in stops.
    Stops,
}

impl Metric {
    /// Name in case files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::BlockRms => "block_rms",
            Self::BlockWorst => "block_worst",
            Self::Rmse => "rmse",
            Self::Flip => "flip",
            Self::FlipHdr => "flip_hdr",
            Self::Psnr => "psnr",
            Self::Stops => "stops",
        }
    }

    /// True if the metric is a fraction, which is printed in percent.
    #[must_use]
    pub const fn is_share(self) -> bool {
        matches!(self, Self::Mean | Self::BlockRms | Self::BlockWorst | Self::Rmse)
    }
}

/// Images that sunny16 renders: the path tracer, the path tracer with rays through pixel centers,
/// and the raster renderer.
pub const RENDERED_IMAGES: [&str; 3] = ["path", "path_pixel_centers", "raster"];

impl Region {
    /// True if the region contains the center of a pixel.
    #[must_use]
    pub fn holds(&self, x: usize, y: usize) -> bool {
        let (x, y) = (x as f64 + 0.5, y as f64 + 0.5);
        let in_circle = |[cx, cy, r]: [f64; 3]| (x - cx).powi(2) + (y - cy).powi(2) <= r * r;
        let in_rect =
            |[left, top, right, bottom]: [f64; 4]| x >= left && x < right && y >= top && y < bottom;
        self.circle.is_some_and(in_circle) || self.rect.is_some_and(in_rect)
    }
}

impl Case {
    /// Reads `case.toml` of a folder.
    ///
    /// # Errors
    /// [`CaseError`] if the file is missing, is not TOML, or has invalid entries.
    pub fn read(folder: &Path) -> Result<Self, CaseError> {
        let file = folder.join("case.toml");
        let invalid = |detail: String| CaseError { file: file.display().to_string(), detail };
        let bytes = read_file(&file, MAX_BYTES, "a validation case").map_err(invalid)?;
        let text = utf8_text(bytes, "a validation case").map_err(invalid)?;
        let name =
            folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let mut case = Self::parse(&text).map_err(invalid)?;
        case.name = name;
        case.folder = folder.into();
        Ok(case)
    }

    /// Parses the text of a case, without a folder.
    ///
    /// # Errors
    /// One line: the entry and what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let case: Self =
            toml_edit::de::from_str(text).map_err(|error| syntax_error(text, &error.into()))?;
        case.check()?;
        Ok(case)
    }

    fn check(&self) -> Result<(), String> {
        if self.size.iter().any(|side| !(1..=MAX_SIDE).contains(side)) {
            return Err(format!(
                "invalid size {:?}: expected sides of 1 to {MAX_SIDE} pixels",
                self.size
            ));
        }
        if !(1..=1 << 20).contains(&self.spp) || self.bounces > 1024 {
            return Err(
                "invalid spp or bounces: expected spp of 1 to 1048576 and bounces of 0 to 1024"
                    .into(),
            );
        }
        let lists = [
            self.references.len(),
            self.regions.len(),
            self.names.len(),
            self.expects.len(),
            self.bounds.len(),
        ];
        if lists.iter().any(|length| *length > MAX_ENTRIES) {
            return Err(format!("more than {MAX_ENTRIES} entries of one kind; split the case"));
        }
        for (number, reference) in self.references.iter().enumerate() {
            let taken = RENDERED_IMAGES.contains(&reference.name.as_str())
                || self.references[..number].iter().any(|other| other.name == reference.name);
            if reference.name.is_empty() || taken {
                return Err(format!(
                    "reference '{}': the name is empty or already used; choose another",
                    reference.name
                ));
            }
        }
        for region in &self.regions {
            self.check_region(region)?;
        }
        let values = self.values()?;
        for (number, expect) in self.expects.iter().enumerate() {
            let place = format!("expect {}", number + 1);
            self.check_maker(&place, &expect.test)?;
            self.check_where(&place, &expect.region)?;
            if !(expect.within > 0.0 && expect.within.is_finite()) {
                return Err(format!(
                    "{place}: invalid within = {}: expected a fraction above 0, e.g. 0.005",
                    expect.within
                ));
            }
            expect.expected_values(&values).map_err(|detail| format!("{place}: {detail}"))?;
            if !RENDERED_IMAGES.contains(&expect.test.as_str())
                && (!expect.set.is_empty() || expect.exposed)
            {
                return Err(format!(
                    "{place}: set and exposed apply to rendered images only; '{}' is a file",
                    expect.test
                ));
            }
        }
        for (number, bound) in self.bounds.iter().enumerate() {
            self.check_bound(&format!("bound {}", number + 1), bound)?;
        }
        if self.expects.is_empty() && self.bounds.is_empty() {
            return Err("it has no checks; add [[expect]] or [[bound]]".into());
        }
        Ok(())
    }

    fn check_region(&self, region: &Region) -> Result<(), String> {
        let place = format!("region '{}'", region.name);
        if region.name == ALL
            || self.regions.iter().filter(|other| other.name == region.name).count() > 1
        {
            return Err(format!("{place}: the name is already used; choose another"));
        }
        if region.circle.is_some() == region.rect.is_some() {
            return Err(format!(
                "{place}: give either circle = [x, y, radius] or rect = [left, top, right, bottom]"
            ));
        }
        let [width, height] = self.size;
        if !(0..height).any(|y| (0..width).any(|x| region.holds(x, y))) {
            return Err(format!("{place}: it contains no pixel of the {width}x{height} image"));
        }
        Ok(())
    }

    fn check_bound(&self, place: &str, bound: &Bound) -> Result<(), String> {
        self.check_maker(place, &bound.test)?;
        self.check_maker(place, &bound.against)?;
        if bound.test == bound.against {
            return Err(format!(
                "{place}: '{}' is compared with itself; name another image",
                bound.test
            ));
        }
        for region in &bound.regions {
            self.check_where(place, region)?;
        }
        let blocks = matches!(bound.metric, Metric::Mean | Metric::Rmse | Metric::Stops);
        if !blocks
            && (!bound.regions.is_empty() || bound.skip_edges && bound.metric != Metric::Flip)
        {
            return Err(format!(
                "{place}: {} applies to the whole picture; regions and skip_edges are for mean, \
                 rmse and stops, skip_edges also for flip",
                bound.metric.name()
            ));
        }
        let limits = [bound.at_most, bound.at_least, bound.times_reference_difference];
        let given: Vec<f64> = limits.into_iter().flatten().collect();
        if given.len() != 1 || given.iter().any(|limit| !(limit.is_finite() && *limit >= 0.0)) {
            return Err(format!(
                "{place}: give one of at_most, at_least and times_reference_difference, 0 or more"
            ));
        }
        if bound.at_least.is_some() != (bound.metric == Metric::Psnr) {
            return Err(format!(
                "{place}: greater psnr is better: use at_least with psnr, and only with it"
            ));
        }
        if bound.times_reference_difference.is_some() && self.references.len() < 2 {
            return Err(format!(
                "{place}: times_reference_difference needs two references; the case has {}",
                self.references.len()
            ));
        }
        Ok(())
    }

    fn check_maker(&self, place: &str, maker: &str) -> Result<(), String> {
        let known = RENDERED_IMAGES.contains(&maker)
            || self.references.iter().any(|reference| reference.name == maker);
        if !known {
            let mut names: Vec<&str> = RENDERED_IMAGES.to_vec();
            names.extend(self.references.iter().map(|reference| reference.name.as_str()));
            return Err(format!(
                "{place}: unknown image '{maker}': expected one of {}",
                names.join(", ")
            ));
        }
        if maker == "raster" && !self.raster {
            return Err(format!("{place}: the raster renderer does not run; set raster = true"));
        }
        Ok(())
    }

    fn check_where(&self, place: &str, region: &str) -> Result<(), String> {
        if region == ALL || self.regions.iter().any(|known| known.name == region) {
            return Ok(());
        }
        Err(format!(
            "{place}: unknown region '{region}'; define it with [[region]], or write \"{ALL}\""
        ))
    }

    /// Evaluates the values of `[let]`.
    ///
    /// # Errors
    /// An undefined name, a cycle of names, an invalid expression, or a value that is not finite.
    pub fn values(&self) -> Result<Values, String> {
        expression::resolve(&self.names)
    }

    /// Mask of a region's pixels; `None` for the whole image.
    #[must_use]
    pub fn mask(&self, region: &str) -> Option<Vec<bool>> {
        let region = self.regions.iter().find(|known| known.name == region)?;
        let [width, height] = self.size;
        Some((0..width * height).map(|pixel| region.holds(pixel % width, pixel / width)).collect())
    }

    /// Number of checks, which are rows of the report's table.
    #[must_use]
    pub fn checks(&self) -> usize {
        self.expects.len()
            + self.bounds.iter().map(|bound| bound.regions.len().max(1)).sum::<usize>()
    }

    /// True if an expectation or bound uses the image of this name.
    #[must_use]
    pub fn needs(&self, maker: &str) -> bool {
        self.expects.iter().any(|expect| expect.test == maker)
            || self.bounds.iter().any(|bound| bound.test == maker || bound.against == maker)
    }
}

impl Expectation {
    /// Evaluates the expected values: one luminance, or three channels.
    ///
    /// # Errors
    /// Both or neither of `value` and `rgb`; an expression without a finite value; no value above 0
    /// to be relative to.
    pub fn expected_values(&self, values: &Values) -> Result<Vec<f64>, String> {
        let texts: &[String] = match (&self.value, &self.rgb) {
            (Some(value), None) => std::slice::from_ref(value),
            (None, Some(rgb)) => rgb,
            _ => {
                return Err(
                    "give either value = \"...\" or rgb = [\"...\", \"...\", \"...\"]".into()
                );
            }
        };
        let wanted = texts
            .iter()
            .map(|text| expression::evaluate(text, values))
            .collect::<Result<Vec<f64>, _>>()?;
        if !wanted.iter().any(|value| value.abs() > 0.0) {
            return Err("the expected value is 0, so a relative error is undefined; use a bound or another region".into());
        }
        Ok(wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
        title = "t"
        size = [8, 4]
        bounces = 1
        spp = 4
        [let]
        intensity = "800 / (4 * PI)"
        half = "intensity / 2"
        [[region]]
        name = "left"
        rect = [0, 0, 4, 4]
        [[expect]]
        test = "path"
        region = "left"
        value = "half / 2^2"
        within = 0.01
    "#;

    fn changed(from: &str, to: &str) -> String {
        assert!(GOOD.contains(from), "{from}");
        Case::parse(&GOOD.replace(from, to)).unwrap_err()
    }

    #[test]
    fn a_case_says_what_it_says() {
        let case = Case::parse(GOOD).unwrap();
        let wanted = case.expects[0].expected_values(&case.values().unwrap()).unwrap();
        assert!((wanted[0] - 800.0 / (4.0 * std::f64::consts::PI) / 8.0).abs() < 1e-12);
        let mask = case.mask("left").unwrap();
        assert_eq!(mask.iter().filter(|held| **held).count(), 16);
        assert!(mask[3] && !mask[4]);
        assert!(case.mask(ALL).is_none());
        assert!(case.needs("path") && !case.needs("raster"));
    }

    #[test]
    fn what_cannot_be_is_refused_with_its_place() {
        for (from, to, part) in [
            ("size = [8, 4]", "size = [0, 4]", "size"),
            ("size = [8, 4]", "size = [8, 4000000000]", "size"),
            ("spp = 4", "spp = 0", "spp"),
            (
                "test = \"path\"",
                "test = \"cycles\"",
                "unknown image 'cycles': expected one of path, path_pixel_centers, raster",
            ),
            ("test = \"path\"", "test = \"raster\"", "set raster = true"),
            ("region = \"left\"", "region = \"right\"", "unknown region 'right'"),
            ("rect = [0, 0, 4, 4]", "rect = [9, 9, 10, 10]", "no pixel"),
            ("rect = [0, 0, 4, 4]", "circle = [0, 0]", "line 11, column 18: invalid length 2"),
            ("within = 0.01", "within = 0", "within"),
            ("within = 0.01", "whithin = 0.01", "whithin"),
            ("half / 2^2", "half / 0", "expect 1"),
            ("half / 2^2", "hall / 2", "hall"),
            ("half / 2^2", "0", "is 0"),
            ("intensity / 2\"", "half / 2\"", "half"),
            ("title = \"t\"", "title = ", "line 2"),
        ] {
            let error = changed(from, to);
            assert!(error.contains(part), "{to}: {error}");
            assert!(!error.contains('\n'), "{error}");
        }
        let error =
            Case::parse("title = \"t\"\nsize = [1, 1]\nbounces = 1\nspp = 1\n").unwrap_err();
        assert!(error.contains("has no checks"), "{error}");
    }

    #[test]
    fn bounds_are_checked() {
        let case = |bound: &str| {
            let text = format!(
                "{}\nraster = true\n{bound}",
                "title = \"t\"\nsize = [8, 8]\nbounces = 1\nspp = 1"
            );
            Case::parse(&text).map(|_| ()).map_err(|error| error.replace('\n', " "))
        };
        let bound = "[[bound]]\ntest = \"raster\"\nagainst = \"path\"\n";
        assert_eq!(case(&format!("{bound}metric = \"mean\"\nat_most = 0.1")), Ok(()));
        for (rest, part) in [
            ("metric = \"mean\"", "give one of"),
            ("metric = \"mean\"\nat_most = nan", "give one of"),
            ("metric = \"mean\"\nat_least = 1.0", "psnr"),
            ("metric = \"psnr\"\nat_most = 1.0", "psnr"),
            ("metric = \"beauty\"\nat_most = 1.0", "beauty"),
            ("metric = \"mean\"\ntimes_reference_difference = 1.3", "two references"),
            ("metric = \"block_rms\"\nat_most = 1.0\nskip_edges = true", "whole picture"),
        ] {
            let error = case(&format!("{bound}{rest}")).unwrap_err();
            assert!(error.contains(part), "{rest}: {error}");
        }
    }
}
