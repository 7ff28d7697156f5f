//! `passes.*`: settings of the render passes.

use super::{LookError, reader::Reader};
use crate::camera::ToneMapper;

/// Every property of this section with its description.
pub(super) const PROPERTIES: &[(&str, &str)] = &[
    ("passes.tonemap.operator", "tone mapper: linear, aces, agx or pbr-neutral"),
    ("passes.tonemap.dither", "true or false: dither PNGs by one step against banding"),
    ("passes.aa.method", "anti-aliasing: none, morphological or taa"),
    ("passes.aa.samples", "samples a pixel of a still picture, 1 to 4096; 1 samples pixel centers"),
    ("passes.taa.render_scale", "ratio of rendered to displayed pixels along each side, 0.25 to 1"),
    (
        "passes.taa.variance_gamma",
        "variance clipping: half-width of the history clamp in standard deviations of the 3x3 neighborhood, 0.25 to 8, e.g. 2.5 (falls to at most 1 as motion rises to 2 pixels a frame)",
    ),
    ("passes.taa.max_history_frames", "maximum history length in frames, in motion, 1 to 256"),
    ("passes.taa.mip_bias", "mip bias of textures in levels, -4 to 2, e.g. -0.5"),
    (
        "passes.shadows.enabled",
        "true or false: surfaces cast shadows; volumes attenuate light either way",
    ),
    (
        "passes.shadows.method",
        "shadow method: auto, maps or traced; auto traces rays for lights with a size and uses maps for the rest",
    ),
    ("passes.shadows.samples", "shadow rays a pixel for each light with a size, 1 to 1024"),
    (
        "passes.shadows.resolution",
        "width of the shadow map of a sun or spot in texels, 128 to 8192, e.g. 2048",
    ),
    ("passes.ao.enabled", "true or false: ambient occlusion"),
    ("passes.ao.radius", "occlusion radius in meters, 0.001 to 10000, e.g. 2"),
    (
        "passes.ao.falloff",
        "outer fraction of the radius over which occlusion fades, 0 to 1, e.g. 0.2",
    ),
    (
        "passes.ao.thickness",
        "thickness heuristic: decay of the horizon behind thin occluders, 0 (never) to 1 (at once)",
    ),
    ("passes.ao.slices", "slices through the view axis, 1 to 64, e.g. 2"),
    ("passes.ao.steps", "samples on each side of a slice, 1 to 64, e.g. 8"),
    ("passes.ao.resolution", "resolution: full or half"),
    ("passes.ao.filter", "true or false: spatial filter over neighboring pixels"),
    (
        "passes.ao.multi_bounce",
        "true or false: approximate interreflection from the surface's albedo (multi-bounce AO)",
    ),
    ("passes.ssr.enabled", "true or false: screen-space reflections"),
    ("passes.ssr.resolution", "resolution: full or half"),
    (
        "passes.ssr.max_roughness",
        "maximum perceptual roughness that is traced, 0.01 to 1, e.g. 0.6",
    ),
    (
        "passes.ssr.thickness",
        "thickness of visible surfaces as a fraction of their distance, 0.001 to 10, e.g. 0.1",
    ),
    ("passes.ssr.taps", "neighbors whose rays a pixel reuses, 1 to 64, e.g. 16"),
    ("passes.ssr.steps", "maximum steps of a ray through the depth pyramid, 8 to 1024, e.g. 128"),
    (
        "passes.ssr.max_history_frames",
        "maximum history length in frames, in motion, 0 (no history) to 256",
    ),
    (
        "passes.ssr.reprojection",
        "motion by which the history is reprojected: virtual, or, for comparison, surface, smallest or \
         hit_parallax",
    ),
    (
        "passes.refraction.method",
        "refraction: traced (rays through the body) or screen (back faces in screen space)",
    ),
    (
        "passes.caustics.resolution",
        "caustics map resolution along the longer side of the water in texels, 16 to 4096, e.g. 512",
    ),
    ("passes.volumes.enabled", "true or false: volumes scatter and absorb light"),
    ("passes.volumes.resolution", "resolution: full or half"),
    ("passes.volumes.steps", "ray-marching steps along a view ray, 1 to 1024, e.g. 32"),
    (
        "passes.volumes.shadow_steps",
        "ray-marching steps towards a light in each heterogeneous volume, 1 to 256, e.g. 12",
    ),
    ("passes.volumes.filter", "true or false: spatial filter over neighboring pixels"),
    (
        "passes.culling.enabled",
        "true or false: culling on the device; false culls by the view frustum on the host",
    ),
    ("passes.culling.occlusion", "true or false: occlusion culling"),
    (
        "passes.culling.min_instances",
        "minimum number of instances for culling on the device, 1 to 16777216, e.g. 1024",
    ),
    (
        "passes.lod.max_error_pixels",
        "maximum error of levels of detail in pixels, 0 (off) to 16, e.g. 0.25",
    ),
    (
        "passes.clustered_lights.enabled",
        "true or false: clustered lights; false evaluates every light at every pixel",
    ),
    (
        "passes.clustered_lights.cull_threshold",
        "maximum total contribution of omitted lights as a fraction of white, 0 to 1, e.g. 0.0009765625",
    ),
];

/// Shadow method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShadowMethod {
    /// Traces rays for lights with a size, uses shadow maps for the rest.
    #[default]
    Auto,
    /// Shadow maps of suns, spots and points (docs/shadow-maps.md); shapes cast no shadow.
    Maps,
    /// Ray-traced shadows (docs/shadows.md).
    Traced,
}

/// Refraction method (docs/extended-materials.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RefractionMethod {
    /// Rays through the body, refracted at each face.
    #[default]
    Traced,
    /// Screen space: the lit image and the depth of back faces.
    Screen,
}

/// Anti-aliasing method (docs/anti-aliasing.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AaMethod {
    /// No anti-aliasing.
    #[default]
    None,
    /// Morphological, in one frame.
    Morphological,
    /// Temporal, over previous frames.
    Temporal,
}

impl AaMethod {
    /// All methods by name.
    pub const ALL: [(&'static str, Self); 3] =
        [("none", Self::None), ("morphological", Self::Morphological), ("taa", Self::Temporal)];

    /// The method of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, method)| method)
    }

    /// Name of the method.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, method)| *method == self).map_or("", |(name, _)| name)
    }
}

/// Overrides of ambient occlusion.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AoLook {
    /// `enabled`.
    pub enabled: Option<bool>,
    /// `radius` (m).
    pub radius: Option<f64>,
    /// `falloff`, a fraction of the radius.
    pub falloff: Option<f64>,
    /// `thickness`.
    pub thickness: Option<f64>,
    /// `slices`.
    pub slices: Option<u32>,
    /// `steps`.
    pub steps: Option<u32>,
    /// `resolution`: half.
    pub half_resolution: Option<bool>,
    /// `filter`.
    pub filter: Option<bool>,
    /// `multi_bounce`.
    pub multi_bounce: Option<bool>,
}

/// Reprojection of the SSR history (docs/reflections.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SsrReprojection {
    /// By the motion of the virtual (mirror) image.
    Virtual,
    /// By the motion of the reflecting surface.
    Surface,
    /// By the smallest of four motions.
    Smallest,
    /// By the parallax of the hit at the ray's length behind the surface.
    HitParallax,
}

/// Overrides of screen-space reflections.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SsrLook {
    /// `enabled`.
    pub enabled: Option<bool>,
    /// `resolution`: half.
    pub half_resolution: Option<bool>,
    /// `max_roughness`, perceptual.
    pub max_roughness: Option<f64>,
    /// `thickness`, a fraction of the distance.
    pub thickness: Option<f64>,
    /// `taps`.
    pub taps: Option<u32>,
    /// `steps`.
    pub steps: Option<u32>,
    /// `max_history_frames`.
    pub max_history_frames: Option<u32>,
    /// `reprojection`.
    pub reprojection: Option<SsrReprojection>,
}

/// Overrides of volume rendering.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VolumesLook {
    /// `enabled`.
    pub enabled: Option<bool>,
    /// `resolution`: half.
    pub half_resolution: Option<bool>,
    /// `steps`.
    pub steps: Option<u32>,
    /// `shadow_steps`.
    pub shadow_steps: Option<u32>,
    /// `filter`.
    pub filter: Option<bool>,
}

/// Overrides of the passes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PassesLook {
    /// `tonemap.operator`.
    pub tone_mapper: Option<ToneMapper>,
    /// `tonemap.dither`.
    pub dither: Option<bool>,
    /// `aa.method`.
    pub aa_method: Option<AaMethod>,
    /// `aa.samples`.
    pub aa_samples: Option<u32>,
    /// `taa.render_scale`.
    pub taa_render_scale: Option<f64>,
    /// `taa.variance_gamma`, in standard deviations.
    pub taa_variance_gamma: Option<f64>,
    /// `taa.max_history_frames`.
    pub taa_max_history_frames: Option<u32>,
    /// `taa.mip_bias`, in levels.
    pub taa_mip_bias: Option<f64>,
    /// `shadows.enabled`.
    pub shadows: Option<bool>,
    /// `shadows.method`.
    pub shadow_method: Option<ShadowMethod>,
    /// `shadows.samples`.
    pub shadow_samples: Option<u32>,
    /// `shadows.resolution`.
    pub shadow_resolution: Option<u32>,
    /// `ao.*`.
    pub ao: AoLook,
    /// `ssr.*`.
    pub ssr: SsrLook,
    /// `volumes.*`.
    pub volumes: VolumesLook,
    /// `refraction.method`.
    pub refraction: Option<RefractionMethod>,
    /// `caustics.resolution`.
    pub caustics_resolution: Option<u32>,
    /// `culling.enabled`.
    pub culling: Option<bool>,
    /// `culling.occlusion`.
    pub culling_occlusion: Option<bool>,
    /// `culling.min_instances`.
    pub culling_min_instances: Option<u32>,
    /// `lod.max_error_pixels`.
    pub lod_max_error_pixels: Option<f64>,
    /// `clustered_lights.enabled`.
    pub clustered_lights: Option<bool>,
    /// `clustered_lights.cull_threshold`, a fraction of white.
    pub cull_threshold: Option<f64>,
}

impl PassesLook {
    /// Sets one property; false if this section has none of this path.
    pub(super) fn set(&mut self, read: &Reader<'_>) -> Result<bool, LookError> {
        match read.path {
            "passes.tonemap.operator" => {
                // `neutral` is a common short name.
                let name = if read.value == "neutral" { "pbr-neutral" } else { read.value };
                self.tone_mapper =
                    Some(ToneMapper::from_name(name).ok_or_else(|| read.bad_value())?);
            }
            "passes.tonemap.dither" => self.dither = Some(read.boolean()?),
            "passes.aa.method" => {
                self.aa_method =
                    Some(AaMethod::from_name(read.value).ok_or_else(|| read.bad_value())?);
            }
            "passes.aa.samples" => self.aa_samples = Some(read.integer(1, 4096)?),
            "passes.taa.render_scale" => self.taa_render_scale = Some(read.in_range(0.25, 1.0)?),
            "passes.taa.variance_gamma" => {
                self.taa_variance_gamma = Some(read.in_range(0.25, 8.0)?)
            }
            "passes.taa.max_history_frames" => {
                self.taa_max_history_frames = Some(read.integer(1, 256)?)
            }
            "passes.taa.mip_bias" => self.taa_mip_bias = Some(read.in_range(-4.0, 2.0)?),
            "passes.shadows.enabled" => self.shadows = Some(read.boolean()?),
            "passes.shadows.method" => {
                self.shadow_method = Some(match read.value {
                    "auto" => ShadowMethod::Auto,
                    "maps" => ShadowMethod::Maps,
                    "traced" => ShadowMethod::Traced,
                    _ => return Err(read.bad_value()),
                });
            }
            "passes.shadows.samples" => self.shadow_samples = Some(read.integer(1, 1024)?),
            "passes.shadows.resolution" => self.shadow_resolution = Some(read.integer(128, 8192)?),
            "passes.ao.enabled" => self.ao.enabled = Some(read.boolean()?),
            "passes.ao.radius" => self.ao.radius = Some(read.in_range(1e-3, 1e4)?),
            "passes.ao.falloff" => self.ao.falloff = Some(read.fraction()?),
            "passes.ao.thickness" => self.ao.thickness = Some(read.fraction()?),
            "passes.ao.slices" => self.ao.slices = Some(read.integer(1, 64)?),
            "passes.ao.steps" => self.ao.steps = Some(read.integer(1, 64)?),
            "passes.ao.resolution" => {
                self.ao.half_resolution = Some(match read.value {
                    "full" => false,
                    "half" => true,
                    _ => return Err(read.bad_value()),
                });
            }
            "passes.refraction.method" => {
                self.refraction = Some(match read.value {
                    "traced" => RefractionMethod::Traced,
                    "screen" => RefractionMethod::Screen,
                    _ => return Err(read.bad_value()),
                });
            }
            "passes.caustics.resolution" => {
                self.caustics_resolution = Some(read.integer(16, 4096)?)
            }
            "passes.ao.filter" => self.ao.filter = Some(read.boolean()?),
            "passes.ao.multi_bounce" => self.ao.multi_bounce = Some(read.boolean()?),
            "passes.ssr.enabled" => self.ssr.enabled = Some(read.boolean()?),
            "passes.ssr.resolution" => {
                self.ssr.half_resolution = Some(match read.value {
                    "full" => false,
                    "half" => true,
                    _ => return Err(read.bad_value()),
                });
            }
            "passes.ssr.max_roughness" => self.ssr.max_roughness = Some(read.in_range(0.01, 1.0)?),
            "passes.ssr.thickness" => self.ssr.thickness = Some(read.in_range(1e-3, 10.0)?),
            "passes.ssr.taps" => self.ssr.taps = Some(read.integer(1, 64)?),
            "passes.ssr.steps" => self.ssr.steps = Some(read.integer(8, 1024)?),
            "passes.ssr.max_history_frames" => {
                self.ssr.max_history_frames = Some(read.integer(0, 256)?)
            }
            "passes.ssr.reprojection" => {
                self.ssr.reprojection = Some(match read.value {
                    "virtual" => SsrReprojection::Virtual,
                    "surface" => SsrReprojection::Surface,
                    "smallest" => SsrReprojection::Smallest,
                    "hit_parallax" => SsrReprojection::HitParallax,
                    _ => return Err(read.bad_value()),
                });
            }
            "passes.volumes.enabled" => self.volumes.enabled = Some(read.boolean()?),
            "passes.volumes.resolution" => {
                self.volumes.half_resolution = Some(match read.value {
                    "full" => false,
                    "half" => true,
                    _ => return Err(read.bad_value()),
                });
            }
            "passes.volumes.steps" => self.volumes.steps = Some(read.integer(1, 1024)?),
            "passes.volumes.shadow_steps" => {
                self.volumes.shadow_steps = Some(read.integer(1, 256)?)
            }
            "passes.volumes.filter" => self.volumes.filter = Some(read.boolean()?),
            "passes.culling.enabled" => self.culling = Some(read.boolean()?),
            "passes.culling.occlusion" => self.culling_occlusion = Some(read.boolean()?),
            "passes.culling.min_instances" => {
                self.culling_min_instances = Some(read.integer(1, 16 << 20)?)
            }
            "passes.lod.max_error_pixels" => {
                self.lod_max_error_pixels = Some(read.in_range(0.0, 16.0)?)
            }
            "passes.clustered_lights.enabled" => self.clustered_lights = Some(read.boolean()?),
            "passes.clustered_lights.cull_threshold" => {
                self.cull_threshold = Some(read.fraction()?)
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}
