//! Layers of path traced pictures: light components, estimates of noise, and AOVs with the names of
//! the rasterizer.

use glam::{DVec3, Mat3};

use super::{
    error::SessionError,
    open_scene::OpenScene,
    picture_layers::{PictureLayer, RGB, transformed},
};
use crate::{
    camera::Exposure,
    passes::gbuffer_channel::GbufferChannel,
    reference::{
        Film, LightComponents, Pinhole, World,
        aov::{AmbientOcclusionRays, PrimaryHitAov, primary_hit_aovs},
    },
};

/// An AOV of the path tracer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PathAov {
    /// Surface property at the pixel center, and the channel whose PNG preview it uses.
    PrimaryHit(PrimaryHitAov, GbufferChannel),
    /// Light component: index into [`LightComponents::NAMES`].
    LightComponent(usize),
    /// Variance of the mean luminance.
    Variance,
    /// Estimated error of the mean luminance.
    HalfDifference,
    /// Sample count.
    Samples,
}

/// Index of emission in [`LightComponents::NAMES`].
const EMISSION: usize = 0;

/// Ambient occlusion rays a pixel; the radius comes from the look.
const AO_RAYS: AmbientOcclusionRays = AmbientOcclusionRays { radius: 0.0, count: 256 };

/// AOVs that are not light components.
const OTHERS: [(&str, PathAov); 13] = [
    ("base_color", PathAov::PrimaryHit(PrimaryHitAov::BaseColor, GbufferChannel::BaseColor)),
    ("metallic", PathAov::PrimaryHit(PrimaryHitAov::Metallic, GbufferChannel::Metallic)),
    ("roughness", PathAov::PrimaryHit(PrimaryHitAov::Roughness, GbufferChannel::Roughness)),
    ("normal", PathAov::PrimaryHit(PrimaryHitAov::Normal, GbufferChannel::Normal)),
    ("depth", PathAov::PrimaryHit(PrimaryHitAov::Depth, GbufferChannel::Depth)),
    ("occlusion", PathAov::PrimaryHit(PrimaryHitAov::Occlusion, GbufferChannel::Occlusion)),
    ("position", PathAov::PrimaryHit(PrimaryHitAov::Position, GbufferChannel::Position)),
    (
        "ambient_occlusion",
        PathAov::PrimaryHit(
            PrimaryHitAov::AmbientOcclusion(AO_RAYS),
            GbufferChannel::AmbientOcclusion,
        ),
    ),
    (
        "bent_normal",
        PathAov::PrimaryHit(PrimaryHitAov::BentNormal(AO_RAYS), GbufferChannel::BentNormal),
    ),
    ("variance", PathAov::Variance),
    ("half_difference", PathAov::HalfDifference),
    ("samples", PathAov::Samples),
    ("bvh_cost", PathAov::PrimaryHit(PrimaryHitAov::BvhCost, GbufferChannel::Depth)),
];

fn all() -> impl Iterator<Item = (&'static str, PathAov)> {
    let parts = LightComponents::NAMES
        .into_iter()
        .enumerate()
        .map(|(index, name)| (name, PathAov::LightComponent(index)));
    OTHERS.into_iter().chain(parts)
}

/// The AOVs of the path tracer with these names, each once; `all` stands for all.
///
/// # Errors
/// [`SessionError::InvalidRequest`] for an unknown name.
pub fn path_aovs(names: &[String]) -> Result<Vec<(&'static str, PathAov)>, SessionError> {
    let mut out = Vec::new();
    for name in names {
        let before = out.len();
        for (known, wanted) in all().filter(|(known, _)| name == "all" || known == name) {
            if !out.contains(&(known, wanted)) {
                out.push((known, wanted));
            }
        }
        if out.len() == before && !out.iter().any(|(known, _)| known == name) && name != "all" {
            let known = all().map(|(name, _)| name).collect::<Vec<_>>().join(", ");
            return Err(SessionError::InvalidRequest(format!(
                "invalid --aov '{name}' for the path tracer: expected all or one of {known}"
            )));
        }
    }
    Ok(out)
}

const fn channels(wanted: PathAov) -> &'static [&'static str] {
    match wanted {
        PathAov::PrimaryHit(PrimaryHitAov::BaseColor, _) | PathAov::LightComponent(_) => RGB,
        PathAov::PrimaryHit(
            PrimaryHitAov::Normal | PrimaryHitAov::Position | PrimaryHitAov::BentNormal(_),
            _,
        ) => &["X", "Y", "Z"],
        PathAov::PrimaryHit(PrimaryHitAov::Depth, _) => &["Z"],
        _ => &["V"],
    }
}

/// A path traced picture, for its layers.
pub struct PathPicture<'a> {
    /// The scene.
    pub session: &'a OpenScene,
    /// The scene for the path tracer.
    pub world: &'a World<'a>,
    /// The camera without its lens.
    pub camera: &'a Pinhole,
    /// The samples.
    pub film: &'a Film,
    /// The picture in nits, by rows from the top.
    pub nits: &'a [DVec3],
    /// The exposure, which unlit surfaces follow.
    pub exposure: Exposure,
}

impl PathPicture<'_> {
    /// The pixels of each of these AOVs, in nits where they are light.
    #[must_use]
    pub fn aovs(&self, wanted: &[(&'static str, PathAov)]) -> Vec<Vec<[f32; 4]>> {
        let (session, size) = (self.session, self.film.size());
        let eye = session.camera.0.w_axis.truncate();
        let with_radius =
            |rays| AmbientOcclusionRays { radius: session.passes().ao.radius, ..rays };
        let sought = |first| match first {
            PrimaryHitAov::AmbientOcclusion(rays) => {
                PrimaryHitAov::AmbientOcclusion(with_radius(rays))
            }
            PrimaryHitAov::BentNormal(rays) => PrimaryHitAov::BentNormal(with_radius(rays)),
            first => first,
        };
        let firsts: Vec<PrimaryHitAov> = wanted
            .iter()
            .filter_map(|(_, w)| {
                if let PathAov::PrimaryHit(first, _) = w { Some(sought(*first)) } else { None }
            })
            .collect();
        let found = primary_hit_aovs(self.world, self.camera, eye, size, &firsts);
        let of = move |wanted: PathAov| -> Vec<[f32; 4]> {
            let value = |v: f64| [v as f32, v as f32, v as f32, 1.0];
            match wanted {
                PathAov::PrimaryHit(first, _) => {
                    let index = firsts.iter().position(|known| *known == sought(first));
                    index.and_then(|index| found.get(index)).cloned().unwrap_or_default()
                }
                PathAov::LightComponent(index) => {
                    // Unlit surfaces count as emission, as in the raster renderer.
                    let white = self.exposure.saturation_luminance().get();
                    let unlit = |parts: &LightComponents| {
                        if index == EMISSION { parts.unlit * white } else { DVec3::ZERO }
                    };
                    let mean = self.film.mean(|parts| parts.to_array()[index] + unlit(parts));
                    mean.iter().map(|c| c.as_vec3().extend(1.0).to_array()).collect()
                }
                PathAov::HalfDifference => {
                    self.film.half_difference().into_iter().map(value).collect()
                }
                PathAov::Variance => self.film.variance().into_iter().map(value).collect(),
                PathAov::Samples => {
                    self.film.counts().into_iter().map(|count| value(f64::from(count))).collect()
                }
            }
        };
        wanted.iter().map(|(_, wanted)| of(*wanted)).collect()
    }

    /// The layers of an EXR: the picture, all light components, the estimates of their noise, and
    /// these AOVs. `to_file` transforms colors of light from nits, and `multiplier` the estimates;
    /// the identity and 1 keep nits.
    #[must_use]
    pub fn layers(
        &self,
        wanted: &[(&'static str, PathAov)],
        (to_file, multiplier): (Mat3, f32),
    ) -> Vec<PictureLayer> {
        // An EXR always holds the light components and the estimates of their noise.
        let mut names: Vec<(&'static str, PathAov)> = LightComponents::NAMES
            .into_iter()
            .enumerate()
            .map(|(index, name)| (name, PathAov::LightComponent(index)))
            .collect();
        let noise = [("variance", PathAov::Variance), ("half_difference", PathAov::HalfDifference)];
        names.extend(noise);
        names.extend(wanted.iter().filter(|(_, wanted)| {
            !matches!(wanted, PathAov::LightComponent(_)) && noise.iter().all(|n| n.1 != *wanted)
        }));
        let nits: Vec<[f32; 4]> =
            self.nits.iter().map(|c| c.as_vec3().extend(1.0).to_array()).collect();
        let light = PictureLayer { name: "", channels: RGB, pixels: transformed(&nits, to_file) };
        let layers = names.iter().zip(self.aovs(&names)).map(|((name, wanted), pixels)| {
            let scaled = |scale: f32| -> Vec<[f32; 4]> {
                if scale == 1.0 {
                    return pixels.clone();
                }
                pixels.iter().map(|v| [v[0] * scale, 0.0, 0.0, 1.0]).collect()
            };
            let pixels = match wanted {
                PathAov::LightComponent(_) => transformed(&pixels, to_file),
                PathAov::Variance => scaled(multiplier * multiplier),
                PathAov::HalfDifference => scaled(multiplier),
                _ => pixels,
            };
            PictureLayer { name, channels: channels(*wanted), pixels }
        });
        std::iter::once(light).chain(layers).collect()
    }
}
