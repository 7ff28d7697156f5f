//! What explains the numbers of a comparison: passes that were off, noise of the reference, single
//! pixels, effects and exposures that differ. Sentences by measured values and metadata.

use std::path::Path;

use serde::Serialize;

use super::args::CompareArgs;
use crate::{
    cli::error::CliError,
    compare::{
        Encoding, LinearImage,
        metrics::{Blocks, ImagePair},
        missing_light::{MissingKind, MissingLight},
        rating::Rating,
        reference_noise::ReferenceNoise,
        summary::{self, CompareSettings, Summary},
    },
    image_io::{self, RenderMetadata, RendererName},
};

/// Missing light below this part of the reference's explains nothing.
const SHOWN_SHARE: f64 = 5e-4;
/// Difference of two exposures that is reported, in stops.
const SHOWN_STOPS: f64 = 0.05;

/// Difference of the reference from another picture of the same scene by another seed.
#[derive(Clone, Debug, Serialize)]
pub struct SecondSeed {
    /// Name of the file.
    pub file: String,
    /// Mean LDR-FLIP between both.
    pub flip: Option<f64>,
    /// Bias of the second picture against the reference.
    pub bias: Option<f64>,
    /// Root mean square of the blocks' biases, trimmed.
    pub block_rms_trimmed: Option<f64>,
}

/// A sentence of the report.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// What it is about, in one word.
    pub about: &'static str,
    /// The sentence.
    pub text: String,
}

/// Noise of the reference by its layer `half_difference`; `None` if it has none.
pub fn reference_noise(
    args: &CompareArgs,
    reference: &LinearImage,
    settings: &CompareSettings,
) -> Option<ReferenceNoise> {
    let metadata = reference.metadata()?;
    let is_usable = metadata.renderer == Some(RendererName::Path) && !metadata.denoised;
    let errors = layer(&args.reference, "half_difference").filter(|_| is_usable)?;
    let errors: Vec<f32> = errors.pixels().iter().map(|[error, ..]| *error).collect();
    ReferenceNoise::of(reference, &errors, settings)
}

/// A layer of the EXR `name`; `None` if `name` is a layer itself, or there is none.
fn layer(name: &str, layer: &str) -> Option<LinearImage> {
    let (path, own) = image_io::split_layer(Path::new(name));
    let name = format!("{}:{layer}", path.display());
    own.is_none().then(|| LinearImage::load(&name).ok()).flatten()
}

/// Light that the test lacks because its passes were off; `Err` has the kind if the reference has
/// no layers that tell how much it is.
pub fn missing_light(
    args: &CompareArgs,
    pair: &ImagePair<'_>,
    settings: &CompareSettings,
) -> Option<Result<MissingLight, MissingKind>> {
    let own_layer = image_io::split_layer(Path::new(&args.test)).1.is_some();
    let kind = MissingKind::of(&pair.test().metadata().filter(|_| !own_layer)?.light)?;
    // Both lack it.
    let reference = pair.reference().metadata().map(|metadata| &metadata.light);
    if reference.and_then(MissingKind::of) == Some(kind)
        || reference.is_some_and(|light| light.indirect == Some(false))
    {
        return None;
    }
    let is_scene = pair.reference().encoding() == Encoding::Scene;
    let layers: Vec<LinearImage> = kind
        .layers()
        .iter()
        .filter(|_| is_scene)
        .filter_map(|name| layer(&args.reference, name))
        .collect();
    let is_complete = layers.len() == kind.layers().len();
    let measured = is_complete.then(|| MissingLight::of(kind, pair, &layers, settings)).flatten();
    Some(measured.ok_or(kind))
}

/// Compares the reference with a picture of another seed.
///
/// # Errors
/// [`CliError`] if the file cannot be read, or does not compare with the reference.
pub fn second_seed(
    name: &str,
    reference: &LinearImage,
    settings: &CompareSettings,
) -> Result<SecondSeed, CliError> {
    let second = super::view::without_white_balance(LinearImage::load(name)?, name);
    let pair = ImagePair::new(&second, reference)
        .map_err(|error| CliError::Usage(format!("--second-seed {name}: {error}")))?;
    if pair.rmse() == Some(0.0) {
        return Err(CliError::Usage(format!(
            "--second-seed {name}: it equals the reference; render one with another --seed"
        )));
    }
    Ok(SecondSeed {
        file: name.into(),
        flip: pair.mean(&summary::ldr_flip(&pair, settings)),
        bias: pair.bias(),
        block_rms_trimmed: pair.blocks().as_ref().map(Blocks::trimmed_rms),
    })
}

/// What the sentences are made from.
pub struct Evidence<'a> {
    pub args: &'a CompareArgs,
    pub pair: &'a ImagePair<'a>,
    pub summary: &'a Summary,
    pub view: Option<&'a str>,
    pub missing: Option<&'a Result<MissingLight, MissingKind>>,
    pub noise: Option<&'a ReferenceNoise>,
    pub second: Option<&'a SecondSeed>,
}

/// The rating of a summary: that of its FLIP; pictures that differ at all are not identical.
pub fn rating(summary: &Summary) -> Option<Rating> {
    let flip = summary.flip?.mean;
    Some(match Rating::of(flip) {
        Rating::Identical if summary.rmse != Some(0.0) => Rating::HardlyDifferent,
        rating => rating,
    })
}

impl Evidence<'_> {
    /// The sentences, most important first.
    pub fn findings(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut add = |about, text: Option<String>| {
            findings.extend(text.map(|text| Finding { about, text }));
        };
        add("verdict", self.verdict());
        add("light off", self.missing_text());
        add("pixels", self.pixels_text());
        add("noise", self.noise_text());
        add("second seed", self.second_text());
        for text in self.differences() {
            add("pictures", Some(text));
        }
        add("view", self.view.map(Into::into));
        findings
    }

    fn names(&self) -> [&str; 2] {
        let [test, reference] = [self.args.test.as_str(), self.args.reference.as_str()];
        let file = |name| Path::new(name).file_name().and_then(|file| file.to_str());
        match (file(test), file(reference)) {
            (Some(a), Some(b)) if a != b => [a, b],
            _ => [test, reference],
        }
    }

    fn verdict(&self) -> Option<String> {
        let [test, reference] = self.names();
        let rating = rating(self.summary)?;
        if rating == Rating::Identical {
            return Some(format!("{test} is {} {reference} in every pixel", rating.text()));
        }
        let flip = self.summary.flip?.mean;
        let dominant = &self.summary.dominant;
        let but_for = match dominant.pixels.len() {
            0 => "",
            1 => " but for one pixel",
            _ => " but for a few pixels",
        };
        let bias = dominant.bias_without.or(self.summary.bias);
        let light = bias.map_or_else(String::new, |bias| match percent(bias) {
            text if text.starts_with('-') => format!(", darker by {}{but_for}", &text[1..]),
            text => format!(", brighter by {}{but_for}", &text[1..]),
        });
        let text = rating.text();
        Some(format!("{test} is {text} {reference}: FLIP {flip:.3} (0 equal, 1 at most){light}"))
    }

    fn missing_text(&self) -> Option<String> {
        let [test, reference] = self.names();
        let (kind, measured) = match self.missing? {
            Ok(missing) => (missing.kind, Some(missing)),
            Err(kind) => (*kind, None),
        };
        let (what, verb, remedy) = match kind {
            MissingKind::Indirect => ("indirect light", "is", "--quality standard"),
            MissingKind::IndirectDiffuse => {
                ("indirect light other than reflections", "is", "--quality standard")
            }
            MissingKind::IndirectSpecular => ("reflections", "are", "--set gi.specular=true"),
            MissingKind::OffScreenReflections => {
                ("reflections of what is off screen", "are", "--set gi.specular=true")
            }
        };
        let off = format!("{what} {verb} off in {test}");
        let Some(missing) = measured else {
            return Some(format!(
                "{off}; {reference} has no layers that tell how much light that is; render \
                 {test} with {remedy}"
            ));
        };
        if missing.share < SHOWN_SHARE {
            return None;
        }
        let at_most = if kind.is_upper_bound() { "at most " } else { "" };
        let mut text =
            format!("{off}: {at_most}{:.1} % of the light is missing", missing.share * 100.0);
        if let (Some(bias), Some(flip)) = (missing.bias_without, missing.flip_without) {
            text += &format!(
                " (against {reference} without that light: bias {}, FLIP {flip:.3})",
                percent(bias)
            );
        }
        Some(format!("{text}; render {test} with {remedy}"))
    }

    fn pixels_text(&self) -> Option<String> {
        let dominant = &self.summary.dominant;
        let [test, reference] = self.names();
        let first = dominant.pixels.first()?;
        let place = |[x, y]: [usize; 2]| format!("{x}, {y}");
        let places: Vec<String> = dominant.pixels.iter().map(|pixel| place(pixel.at)).collect();
        let sum = |of: fn(&crate::compare::robust::DominantPixel) -> f64| {
            dominant.pixels.iter().map(of).sum::<f64>() * 100.0
        };
        let (own, others) = (sum(|pixel| pixel.reference_share), sum(|pixel| pixel.test_share));
        let (holder, share, other, rest) = if first.bias < 0.0 {
            (reference, own, test, others)
        } else {
            (test, others, reference, own)
        };
        let (who, hold, them) = match places.as_slice() {
            [one] => (format!("one pixel of {holder}, at {one},"), "holds", "it"),
            all => (
                format!("{} pixels of {holder}, at {},", all.len(), all.join(" and ")),
                "hold",
                "them",
            ),
        };
        let bias = dominant.bias_without.map_or_else(|| "none".into(), percent);
        Some(format!(
            "{who} {hold} {share:.1} % of its light ({rest:.1} % in {other}); without {them} the \
             bias is {bias}"
        ))
    }

    fn noise_text(&self) -> Option<String> {
        let noise = self.noise?;
        let [_, reference] = self.names();
        let much = self.summary.flip.is_some_and(|flip| noise.flip >= 0.5 * flip.mean);
        Some(format!(
            "{reference} itself has noise of {:.1} % in a pixel and {:.1} % in a block of 8x8 \
             (typical): about FLIP {:.3} against a perfect picture{}",
            noise.pixel_median * 100.0,
            noise.block_median * 100.0,
            noise.flip,
            if much { ", a large part of this difference; render it with more --spp" } else { "" }
        ))
    }

    fn second_text(&self) -> Option<String> {
        let second = self.second?;
        let [_, reference] = self.names();
        Some(format!(
            "{} against {reference}: FLIP {}, blocks {} (trimmed), bias {}: noise of both",
            second.file,
            second.flip.map_or_else(|| "none".into(), |flip| format!("{flip:.3}")),
            second
                .block_rms_trimmed
                .map_or_else(|| "none".into(), |rms| format!("{:.2} %", rms * 100.0)),
            second.bias.map_or_else(|| "none".into(), percent),
        ))
    }

    /// Sentences about what differs by metadata: scene, camera, exposure, effects, kinds of light.
    fn differences(&self) -> Vec<String> {
        let [test, reference] = self.names();
        let (Some(a), Some(b)) = (self.pair.test().metadata(), self.pair.reference().metadata())
        else {
            return Vec::new();
        };
        let mut texts = Vec::new();
        for (what, of_test, of_reference) in [
            ("the scene", &a.scene, &b.scene),
            ("the camera", &a.camera, &b.camera),
            (
                "the tone mapper",
                &self.of_display(a, |data| data.tone_mapper.clone()),
                &self.of_display(b, |data| data.tone_mapper.clone()),
            ),
        ] {
            if let (Some(x), Some(y)) = (of_test, of_reference)
                && x != y
            {
                let [x, y] = [x, y].map(|name| image_io::one_line(name));
                texts.push(format!("{what} differs: {x} in {test}, {y} in {reference}"));
            }
        }
        if let (Some(x), Some(y)) = (a.ev100, b.ev100)
            && (x - y).abs() > SHOWN_STOPS
        {
            let shown = if self.pair.test().encoding() == Encoding::Scene {
                "both are compared at one exposure"
            } else {
                "a part of the difference"
            };
            texts.push(format!(
                "the exposure differs: EV100 {x:.2} in {test}, {y:.2} in {reference}; {shown}"
            ));
        }
        for (name, own, other) in [(test, a, b), (reference, b, a)] {
            let only: Vec<String> = own
                .effects
                .iter()
                .filter(|effect| !other.effects.contains(effect))
                .map(|effect| image_io::one_line(effect))
                .collect();
            if !only.is_empty() {
                texts.push(format!(
                    "{} in {name} alone; render it with --for-compare",
                    only.join(", ")
                ));
            }
        }
        if a.light.indirect == Some(true) && b.light.indirect == Some(false) {
            let remedy = match b.light.bounces {
                Some(bounces) => format!("it has --bounces {bounces}"),
                None => "render it with --quality standard".into(),
            };
            texts.push(format!("indirect light is off in {reference}, and on in {test}; {remedy}"));
        }
        if a.light.ambient_occlusion == Some(false)
            && b.renderer == Some(RendererName::Path)
            && a.light.indirect == Some(false)
        {
            texts.push(format!(
                "ambient occlusion is off in {test}: the environment casts no shadows; render it \
                 with --quality standard"
            ));
        }
        match a.light.shadows.as_deref() {
            Some("off") => texts.push(format!("shadows are off in {test}")),
            Some("maps") => {
                texts.push(format!("shadows are shadow maps in {test}: area lights cast none"));
            }
            _ => {}
        }
        texts
    }

    /// A value of metadata that matters for display pictures alone.
    fn of_display(
        &self,
        metadata: &RenderMetadata,
        value: fn(&RenderMetadata) -> Option<String>,
    ) -> Option<String> {
        let is_display = self.pair.test().encoding() == Encoding::Display;
        value(metadata).filter(|_| is_display)
    }
}

/// A fraction as a signed percentage with one decimal.
fn percent(value: f64) -> String {
    format!("{:+.1} %", value * 100.0)
}
