//! Exposure, white balance and tone mapper of a comparison: by options, else by the metadata of the
//! pictures.

use std::path::Path;

use glam::Mat3;

use super::args::CompareArgs;
use crate::{
    camera::{Exposure, tonemap::ToneMapper},
    cli::error::CliError,
    compare::{
        Encoding, LinearImage,
        summary::{self, CompareSettings},
    },
    image_io::{self, RenderMetadata},
    photometry::Ev100,
    reference::LightComponents,
};

/// View of both pictures.
pub struct View {
    /// Exposure, white balance, tone mapper and viewing distance.
    pub settings: CompareSettings,
    /// True if the exposure comes from an option or from metadata, not from the pixels.
    pub is_exposure_known: bool,
    /// The values with their sources, for the report; `None` for two display pictures.
    pub text: Option<String>,
}

/// Metadata of a picture and the name of its file, unless the picture is data.
fn metadata<'a>(picture: &'a LinearImage, name: &str) -> Option<(String, &'a RenderMetadata)> {
    let (_, layer) = image_io::split_layer(Path::new(name));
    // The view applies to layers of light; others are data.
    let is_light = layer.is_none_or(|layer| LightComponents::NAMES.contains(&layer.as_str()));
    picture.metadata().filter(|_| is_light).map(|metadata| (name.to_owned(), metadata))
}

/// The white balance matrix of metadata; `None` if it is absent, invalid, or changes nothing.
fn white_balance(metadata: &RenderMetadata) -> Option<Mat3> {
    let matrix = Mat3::from_cols_array(&metadata.white_balance?);
    let valid = matrix.is_finite() && matrix.determinant().abs() > 1e-6;
    (valid && matrix != Mat3::IDENTITY).then_some(matrix)
}

/// A picture of `--exposed` in nits without its white balance, so that it compares with others.
pub fn without_white_balance(picture: LinearImage, name: &str) -> LinearImage {
    let balance = metadata(&picture, name)
        .filter(|(_, metadata)| metadata.exposed && picture.encoding() == Encoding::Scene)
        .and_then(|(_, metadata)| white_balance(metadata));
    match balance.map(|matrix| matrix.inverse()) {
        Some(inverse) => {
            let picture = picture.map(|_, pixel| (inverse * glam::Vec3::from(pixel)).to_array());
            picture.with_note("white balance of --exposed removed, by the file's metadata".into())
        }
        None => picture,
    }
}

impl View {
    /// The view of a comparison. A display picture's own view comes first, since it is part of its
    /// pixels; then the reference's, then the test's.
    ///
    /// # Errors
    /// [`CliError::Usage`] for an invalid option.
    pub fn of(
        args: &CompareArgs,
        test: &LinearImage,
        reference: &LinearImage,
    ) -> Result<Self, CliError> {
        let mut pictures = [(reference, &args.reference), (test, &args.test)];
        pictures.sort_by_key(|(picture, _)| picture.encoding() != Encoding::Display);
        let known: Vec<_> =
            pictures.iter().filter_map(|(picture, name)| metadata(picture, name)).collect();
        let first = |value: &dyn Fn(&RenderMetadata) -> Option<f64>| {
            known.iter().find_map(|(name, data)| {
                let exposure = Exposure::from_ev100(Ev100(value(data)?)).ok()?;
                Some((exposure, format!("metadata of {name}")))
            })
        };
        let metered = || {
            let (of, name) = match reference.encoding() {
                Encoding::Scene => (reference, "reference"),
                Encoding::Display => (test, "test"),
            };
            (summary::metered_exposure(of), format!("log-average of the {name}"))
        };
        let from_metadata = first(&|data| data.ev100);
        let is_exposure_known = args.exposure.is_some() || from_metadata.is_some();
        let (exposure, exposure_source) = match args.exposure.as_deref() {
            None => from_metadata.unwrap_or_else(metered),
            Some("auto") => metered(),
            Some(text) => (parse_exposure(text)?, "--exposure".to_owned()),
        };
        let (mapper, mapper_source) = match &args.tone_mapper {
            Some(name) => (parse_tone_mapper(name)?, "--tone-mapper".to_owned()),
            None => known
                .iter()
                .find_map(|(name, data)| {
                    let mapper = ToneMapper::from_name(data.tone_mapper.as_deref()?)?;
                    Some((mapper, format!("metadata of {name}")))
                })
                .unwrap_or((ToneMapper::Linear, "default".into())),
        };
        let balance = match args.white_balance.as_str() {
            "none" => None,
            _ => known.iter().find_map(|(name, data)| Some((white_balance(data)?, name))),
        };
        let settings = CompareSettings {
            exposure,
            white_balance: balance.map_or(Mat3::IDENTITY, |(matrix, _)| matrix),
            mapper,
            pixels_per_degree: args.pixels_per_degree,
        };
        let is_display = |picture: &LinearImage| picture.encoding() == Encoding::Display;
        let text = (!is_display(test) || !is_display(reference)).then(|| {
            format!(
                "EV100 {:.2} ({exposure_source}), tone mapper {} ({mapper_source}), {}",
                exposure.ev100().get(),
                mapper.name(),
                match balance {
                    Some((_, name)) => format!("white balance (metadata of {name})"),
                    None => "no white balance".into(),
                }
            )
        });
        Ok(Self { settings, is_exposure_known, text })
    }
}

fn parse_exposure(text: &str) -> Result<Exposure, CliError> {
    let parsed = text.parse::<f64>().ok().and_then(|ev| Exposure::from_ev100(Ev100(ev)).ok());
    parsed.ok_or_else(|| {
        CliError::Usage(format!(
            "invalid --exposure '{text}': expected an EV100 such as 8.5, or auto"
        ))
    })
}

fn parse_tone_mapper(name: &str) -> Result<ToneMapper, CliError> {
    ToneMapper::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = ToneMapper::ALL.iter().map(|mapper| mapper.name()).collect();
        CliError::Usage(format!(
            "invalid --tone-mapper '{name}': expected one of {}",
            names.join(", ")
        ))
    })
}
