//! Validation cases: what a folder of `validation/cases` says, read and checked.

use std::{
    collections::BTreeMap,
    fs::File,
    io::Read as _,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use super::expression::{self, Values};
use crate::scene::look::syntax_error;

/// A case file is short; more bytes than this are not one.
const MAX_BYTES: u64 = 1 << 20;
/// References, regions, names, expectations or bounds of a case, at most.
const MAX_ENTRIES: usize = 1000;
/// Pixels along a side of a case's picture, at most.
const MAX_SIDE: usize = 2048;

/// A case that cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{file}: {detail}")]
pub struct CaseError {
    /// The file.
    pub file: String,
    /// The place, what is wrong with it, and the remedy.
    pub detail: String,
}

/// A case: a scene, and what must hold of its pictures.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The folder's name.
    #[serde(skip)]
    pub name: String,
    /// The folder.
    #[serde(skip)]
    pub folder: PathBuf,
    /// A line for people.
    pub title: String,
    /// What it shows.
    #[serde(default)]
    pub text: String,
    /// Pixels across and down.
    pub size: [usize; 2],
    /// The scene, relative to the folder.
    #[serde(default = "default_scene")]
    pub scene: PathBuf,
    /// The look, relative to the folder; none is the one beside the scene, if there is one.
    pub look: Option<PathBuf>,
    /// The camera's name; none is the first.
    pub camera: Option<String>,
    /// Properties of the look, as `--set` takes them.
    #[serde(default)]
    pub set: Vec<String>,
    /// Surfaces that a path may meet.
    pub bounces: u32,
    /// Samples a pixel of the path tracer.
    pub spp: u32,
    /// Whether the raster renderer is run.
    #[serde(default)]
    pub raster: bool,
    /// Pictures by other renderers.
    #[serde(default, rename = "reference")]
    pub references: Vec<Reference>,
    /// Named places of the picture.
    #[serde(default, rename = "region")]
    pub regions: Vec<Region>,
    /// Names for expressions.
    #[serde(default, rename = "let")]
    pub names: BTreeMap<String, String>,
    /// What the closed form says.
    #[serde(default, rename = "expect")]
    pub expects: Vec<Expectation>,
    /// How near pictures must be to each other.
    #[serde(default, rename = "bound")]
    pub bounds: Vec<Bound>,
}

fn default_scene() -> PathBuf {
    "scene.glb".into()
}

/// A picture by another renderer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// What bounds call it.
    pub name: String,
    /// The EXR in nits, relative to the folder.
    pub file: PathBuf,
    /// By what it was made, and how.
    #[serde(default)]
    pub made: String,
}

/// A place of the picture, in pixels from its upper left corner. A pixel belongs to it when its
/// middle does.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Region {
    /// What expectations and bounds call it.
    pub name: String,
    /// Centre and radius.
    pub circle: Option<[f64; 3]>,
    /// Left, top, right and bottom.
    pub rect: Option<[f64; 4]>,
}

/// The mean over a region as a closed form gives it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// Whose picture.
    pub test: String,
    /// Where; `all` is the whole picture.
    #[serde(default = "all")]
    pub region: String,
    /// Luminance (nits, or the camera's value): an expression.
    pub value: Option<String>,
    /// Linear Rec.709 instead of luminance: three expressions.
    pub rgb: Option<[String; 3]>,
    /// How far off it may be, as a share of the value (of the greatest one of three).
    pub within: f64,
    /// Properties of the look that differ from the case's.
    #[serde(default)]
    pub set: Vec<String>,
    /// What the camera makes of it, by its exposure and white balance: 1 is rendered white.
    #[serde(default)]
    pub exposed: bool,
    /// The formula, for people.
    #[serde(default)]
    pub why: String,
}

fn all() -> String {
    ALL.into()
}

/// The name of the whole picture as a region.
pub const ALL: &str = "all";

/// How near one picture must be to another.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bound {
    /// Whose picture.
    pub test: String,
    /// Whose picture is right.
    pub against: String,
    /// What is measured.
    pub metric: Metric,
    /// Where, one by one; empty is the whole picture.
    #[serde(default)]
    pub regions: Vec<String>,
    /// The greatest figure that is good.
    pub at_most: Option<f64>,
    /// The least figure that is good.
    pub at_least: Option<f64>,
    /// The greatest figure that is good, as a multiple of that of the first two references beside
    /// each other.
    pub times_reference_difference: Option<f64>,
    /// Leaves out pixels at edges of the picture that is right.
    #[serde(default)]
    pub skip_edges: bool,
    /// For people.
    #[serde(default)]
    pub why: String,
}

/// What is measured of a pair of pictures.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// How far the mean luminance is off, as a share; without its sign.
    Mean,
    /// Root of the mean square of the relative error of means over blocks of 8x8 pixels.
    BlockRms,
    /// The worst of these.
    BlockWorst,
    /// Root mean square error of the channels over their mean.
    Rmse,
    /// Mean of LDR-FLIP, both exposed alike.
    Flip,
    /// Mean of HDR-FLIP.
    FlipHdr,
    /// Peak signal to noise ratio (dB), exposed alike.
    Psnr,
    /// Mean over pixels of the difference in stops, each without its sign.
    Stops,
}

impl Metric {
    /// As a case file has it.
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

    /// Whether it is a share of the whole, which is read in percent.
    #[must_use]
    pub const fn is_share(self) -> bool {
        matches!(self, Self::Mean | Self::BlockRms | Self::BlockWorst | Self::Rmse)
    }
}

/// Our own pictures: the path tracer, the path tracer with rays through the middles of pixels, the
/// raster renderer.
pub const RENDERED_IMAGES: [&str; 3] = ["path", "path_pixel_centers", "raster"];

impl Region {
    /// Whether the middle of a pixel lies in it.
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
    /// The file is missing, is no TOML, or says something that cannot be.
    pub fn read(folder: &Path) -> Result<Self, CaseError> {
        let file = folder.join("case.toml");
        let invalid = |detail: String| CaseError { file: file.display().to_string(), detail };
        let mut text = String::new();
        let opened =
            File::open(&file).map_err(|error| invalid(format!("cannot read it: {error}")))?;
        opened
            .take(MAX_BYTES + 1)
            .read_to_string(&mut text)
            .map_err(|error| invalid(format!("cannot read it: {error}")))?;
        if text.len() as u64 > MAX_BYTES {
            return Err(invalid("it is longer than a mebibyte; a case is a page of text".into()));
        }
        let name =
            folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let mut case = Self::parse(&text).map_err(invalid)?;
        case.name = name;
        case.folder = folder.into();
        Ok(case)
    }

    /// Of a text, without a folder.
    ///
    /// # Errors
    /// As one line: the place and what is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        let case: Self = toml::from_str(text).map_err(|error| syntax_error(text, &error))?;
        case.check()?;
        Ok(case)
    }

    fn check(&self) -> Result<(), String> {
        if self.size.iter().any(|side| !(1..=MAX_SIDE).contains(side)) {
            return Err(format!(
                "size: {:?} is no size; each side is 1 to {MAX_SIDE} pixels",
                self.size
            ));
        }
        if !(1..=1 << 20).contains(&self.spp) || self.bounces > 1024 {
            return Err("spp is 1 to 1048576, bounces 0 to 1024".into());
        }
        let lists = [
            self.references.len(),
            self.regions.len(),
            self.names.len(),
            self.expects.len(),
            self.bounds.len(),
        ];
        if lists.iter().any(|length| *length > MAX_ENTRIES) {
            return Err(format!("more than {MAX_ENTRIES} entries of one kind; make several cases"));
        }
        for (number, reference) in self.references.iter().enumerate() {
            let taken = RENDERED_IMAGES.contains(&reference.name.as_str())
                || self.references[..number].iter().any(|other| other.name == reference.name);
            if reference.name.is_empty() || taken {
                return Err(format!(
                    "reference '{}': the name is taken or empty; choose another",
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
                    "{place}: within = {} is no share; give one above 0, e.g. 0.005",
                    expect.within
                ));
            }
            expect.expected_values(&values).map_err(|detail| format!("{place}: {detail}"))?;
            if !RENDERED_IMAGES.contains(&expect.test.as_str())
                && (!expect.set.is_empty() || expect.exposed)
            {
                return Err(format!(
                    "{place}: set and exposed are for our own pictures; '{}' is a file",
                    expect.test
                ));
            }
        }
        for (number, bound) in self.bounds.iter().enumerate() {
            self.check_bound(&format!("bound {}", number + 1), bound)?;
        }
        if self.expects.is_empty() && self.bounds.is_empty() {
            return Err("it expects nothing; add [[expect]] or [[bound]]".into());
        }
        Ok(())
    }

    fn check_region(&self, region: &Region) -> Result<(), String> {
        let place = format!("region '{}'", region.name);
        if region.name == ALL
            || self.regions.iter().filter(|other| other.name == region.name).count() > 1
        {
            return Err(format!("{place}: the name is taken; choose another"));
        }
        if region.circle.is_some() == region.rect.is_some() {
            return Err(format!(
                "{place}: give either circle = [x, y, radius] or rect = [left, top, right, bottom]"
            ));
        }
        let [width, height] = self.size;
        if !(0..height).any(|y| (0..width).any(|x| region.holds(x, y))) {
            return Err(format!("{place}: no pixel of the {width}x{height} lies in it"));
        }
        Ok(())
    }

    fn check_bound(&self, place: &str, bound: &Bound) -> Result<(), String> {
        self.check_maker(place, &bound.test)?;
        self.check_maker(place, &bound.against)?;
        if bound.test == bound.against {
            return Err(format!(
                "{place}: '{}' beside itself shows nothing; name another picture",
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
                "{place}: {} is of the whole picture; regions and skip_edges go with mean, rmse and stops, skip_edges with flip too",
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
                "{place}: psnr is better when it is greater: at_least is for it, and it alone"
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
                "{place}: there is no picture '{maker}'; there are {}",
                names.join(", ")
            ));
        }
        if maker == "raster" && !self.raster {
            return Err(format!("{place}: the raster renderer is not run; set raster = true"));
        }
        Ok(())
    }

    fn check_where(&self, place: &str, region: &str) -> Result<(), String> {
        if region == ALL || self.regions.iter().any(|known| known.name == region) {
            return Ok(());
        }
        Err(format!(
            "{place}: there is no region '{region}'; define it with [[region]], or write \"{ALL}\""
        ))
    }

    /// The values of `[let]`.
    ///
    /// # Errors
    /// A name that is not defined, or only by itself; no formula; a value that is no number.
    pub fn values(&self) -> Result<Values, String> {
        expression::resolve(&self.names)
    }

    /// Which pixels belong to a region; none for the whole picture.
    #[must_use]
    pub fn mask(&self, region: &str) -> Option<Vec<bool>> {
        let region = self.regions.iter().find(|known| known.name == region)?;
        let [width, height] = self.size;
        Some((0..width * height).map(|pixel| region.holds(pixel % width, pixel / width)).collect())
    }

    /// Checks that it makes: rows of the table.
    #[must_use]
    pub fn checks(&self) -> usize {
        self.expects.len()
            + self.bounds.iter().map(|bound| bound.regions.len().max(1)).sum::<usize>()
    }

    /// Whether a picture is named anywhere.
    #[must_use]
    pub fn needs(&self, maker: &str) -> bool {
        self.expects.iter().any(|expect| expect.test == maker)
            || self.bounds.iter().any(|bound| bound.test == maker || bound.against == maker)
    }
}

impl Expectation {
    /// What is expected: one luminance, or three channels.
    ///
    /// # Errors
    /// Both or neither of `value` and `rgb`; an expression that has no finite value, or no value
    /// above 0 to be compared with.
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
            return Err("the expected value is 0, of which nothing is a share; use a bound, or another region".into());
        }
        Ok(wanted)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
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
                "no picture 'cycles'; there are path, path_pixel_centers, raster",
            ),
            ("test = \"path\"", "test = \"raster\"", "set raster = true"),
            ("region = \"left\"", "region = \"right\"", "no region 'right'"),
            ("rect = [0, 0, 4, 4]", "rect = [9, 9, 10, 10]", "no pixel"),
            ("rect = [0, 0, 4, 4]", "circle = [0, 0]", "line 11: invalid length 2"),
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
        assert!(error.contains("expects nothing"), "{error}");
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
            ("metric = \"mean\"\ntimes_referees = 1.3", "two references"),
            ("metric = \"block_rms\"\nat_most = 1.0\nskip_edges = true", "whole picture"),
        ] {
            let error = case(&format!("{bound}{rest}")).unwrap_err();
            assert!(error.contains(part), "{rest}: {error}");
        }
    }
}
