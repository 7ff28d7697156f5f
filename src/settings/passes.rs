//! `passes.*`: settings of the render passes.

use super::{
    choices::choices,
    define::{settings, settings_group},
};
use crate::camera::ToneMapper;

choices! {
    /// Anti-aliasing method (docs/anti-aliasing.md).
    #[derive(Default)]
    pub enum AntiAliasing {
        /// Each pixel is sampled at its center.
        #[default]
        None = "none",
        /// Morphological, from the shapes of edges in one frame.
        Morphological = "morphological",
        /// Temporal anti-aliasing (TAA), from previous frames.
        Temporal = "taa",
    }
}

choices! {
    /// Shadow method.
    #[derive(Default)]
    pub enum ShadowMethod {
        /// Traces rays for lights with a size, uses shadow maps for the rest.
        #[default]
        Auto = "auto",
        /// Shadow maps of suns, spots and points (docs/shadow-maps.md); area lights cast no shadow.
        Maps = "maps",
        /// Ray-traced shadows (docs/shadows.md).
        Traced = "traced",
    }
}

choices! {
    /// Sampling of lights with ray-traced shadows (docs/shadows.md).
    #[derive(Default)]
    pub enum ShadowSampling {
        /// Rays to every light.
        #[default]
        Exact = "exact",
        /// A fixed number of rays for all lights together.
        Budget = "budget",
    }
}

choices! {
    /// Refraction method (docs/extended-materials.md).
    #[derive(Default)]
    pub enum RefractionMethod {
        /// Rays through the body, refracted at each face.
        #[default]
        Traced = "traced",
        /// Screen space: the lit image and the depth of back faces.
        Screen = "screen",
    }
}

choices! {
    /// Resolution of a pass.
    pub enum Resolution {
        /// Every pixel.
        Full = "full",
        /// Every second pixel of every second row.
        Half = "half",
    }
}

impl Resolution {
    /// Pixels of the picture per pixel of the pass along each side.
    #[must_use]
    pub const fn divisor(self) -> u32 {
        match self {
            Self::Full => 1,
            Self::Half => 2,
        }
    }
}

choices! {
    /// Reprojection of the SSR history (docs/reflections.md).
    pub enum SsrReprojection {
        /// By the motion of the virtual (mirror) image.
        Virtual = "virtual",
        /// By the motion of the reflecting surface.
        Surface = "surface",
        /// By the smallest of four motions: of the surface, of the surface by the camera alone, of
        /// the image by the camera alone, and of the reflected point.
        Smallest = "smallest",
        /// By the motion of the virtual image at the hit distance behind the surface, as for flat
        /// mirrors and camera motion only.
        HitParallax = "hit_parallax",
    }
}

settings! {
    /// Settings of the conversion for the display.
    pub struct TonemapSettings / TonemapLook in "passes.tonemap" {
        operator: ToneMapper = ToneMapper::default(),
            "tone mapper: linear, aces, agx or pbr-neutral", affects Frame;
        dither: bool = true,
            "true or false: dither PNGs by one step against banding", affects Frame;
    }
}

settings! {
    /// Settings of anti-aliasing.
    pub struct AaSettings / AaLook in "passes.aa" {
        method: AntiAliasing = AntiAliasing::None,
            "anti-aliasing: none, morphological or taa", affects Frame;
        samples: Option<u32> = None, in 1..=4096,
            "samples a pixel of a still picture, 1 to 4096; 1 samples pixel centers",
            affects Frame;
    }
}

settings! {
    /// Settings of temporal anti-aliasing.
    pub struct TemporalSettings / TemporalLook in "passes.taa" {
        render_scale: f64 = 1.0, in 0.25..=1.0,
            "ratio of rendered to displayed pixels along each side, 0.25 to 1", affects Frame;
        /// Salvi, "An Excursion in Temporal Supersampling", GDC 2016.
        variance_gamma: f32 = 2.5, in 0.25..=8.0,
            "variance clipping: half-width of the history clamp in standard deviations of the 3x3 neighborhood, 0.25 to 8, e.g. 2.5 (falls to at most 1 as motion rises to 2 pixels a frame)",
            affects Frame;
        max_history_frames: u32 = 16, in 1..=256,
            "maximum history length in frames, in motion, 1 to 256", affects Frame;
        /// In addition to that of `render_scale`.
        mip_bias: f64 = -1.0, in -4.0..=2.0,
            "mip bias of textures in levels, -4 to 2, e.g. -0.5", affects Frame;
    }
    and {
        /// Average all frames while nothing moves. Off: the history is clipped as in motion.
        still: bool = true;
    }
}

impl TemporalSettings {
    /// Render resolution in pixels for an output size in pixels.
    #[must_use]
    pub fn input_size(&self, [width, height]: [u32; 2]) -> [u32; 2] {
        let scale = self.render_scale.clamp(0.25, 1.0);
        [width, height].map(|side| ((f64::from(side) * scale).round() as u32).clamp(1, side.max(1)))
    }
}

settings! {
    /// Settings of shadows.
    pub struct ShadowSettings / ShadowLook in "passes.shadows" {
        enabled: bool = true,
            "true or false: surfaces cast shadows; volumes attenuate light either way",
            affects Scene;
        method: ShadowMethod = ShadowMethod::Auto,
            "shadow method: auto, maps or traced; auto traces rays for lights with a size and uses maps for the rest",
            affects Scene;
        samples: u32 = 16, in 1..=1024,
            "shadow rays a pixel for each light with a size, 1 to 1024", affects Probes;
        sampling: ShadowSampling = ShadowSampling::Exact,
            "sampling of ray-traced lights: exact (rays to every light) or budget (passes.shadows.rays for all lights together, noisy)",
            affects Meter;
        rays: u32 = 2, in 1..=64,
            "shadow rays a pixel for all lights together with sampling=budget, 1 to 64",
            affects Meter;
        /// Of the other lights of a cluster, `light_samples` are sampled.
        lights: u32 = 16, in 4..=32,
            "lights and groups of lights that a pixel evaluates with sampling=budget, 4 to 32; lights of groups are sampled",
            affects Meter;
        light_samples: u32 = 4, in 1..=16,
            "lights that a pixel samples from all groups together with sampling=budget, 1 to 16",
            affects Meter;
        denoise: bool = true,
            "true or false: denoise the shadows of sampling=budget by rays of neighbors (means of fewer than 64 frames) and, in frames that are not averaged, by those before",
            affects Meter;
        /// Also of each cascade of a sun. Cube faces of point lights have half of it.
        resolution: u32 = 2048, in 128..=8192,
            "width of the shadow map of a sun or spot in texels, 128 to 8192, e.g. 2048",
            affects Probes;
    }
}

settings! {
    /// Settings of ambient occlusion.
    pub struct AoSettings / AoLook in "passes.ao" {
        /// Off: environment light is unoccluded.
        enabled: bool = true, "true or false: ambient occlusion", affects Meter;
        radius: f64 = 2.0, in 0.001..=10_000.0, unit "m",
            "occlusion radius in meters, 0.001 to 10000, e.g. 2", affects Meter;
        falloff: f64 = 0.2, in 0.0..=1.0,
            "outer fraction of the radius over which occlusion fades, 0 to 1, e.g. 0.2",
            affects Meter;
        thickness: f64 = 0.05, in 0.0..=1.0,
            "thickness heuristic: decay of the horizon behind thin occluders, 0 (never) to 1 (at once)",
            affects Meter;
        slices: u32 = 2, in 1..=64,
            "slices through the view axis, 1 to 64, e.g. 2", affects Meter;
        steps: u32 = 8, in 1..=64,
            "samples on each side of a slice, 1 to 64, e.g. 8", affects Meter;
        resolution: Resolution = Resolution::Full, "resolution: full or half", affects Meter;
        filter: bool = true,
            "true or false: spatial filter over neighboring pixels", affects Meter;
        multi_bounce: bool = false,
            "true or false: approximate interreflection from the surface's albedo (multi-bounce AO)",
            affects Meter;
    }
}

settings! {
    /// Settings of screen-space reflections.
    pub struct SsrSettings / SsrLook in "passes.ssr" {
        /// Off: surfaces reflect probes and environment only.
        enabled: bool = false, "true or false: screen-space reflections", affects Meter;
        resolution: Resolution = Resolution::Full, "resolution: full or half", affects Meter;
        /// Reflections fade over the last fifth.
        max_roughness: f64 = 0.6, in 0.01..=1.0,
            "maximum perceptual roughness that is traced, 0.01 to 1, e.g. 0.6", affects Meter;
        thickness: f64 = 0.1, in 0.001..=10.0,
            "thickness of visible surfaces as a fraction of their distance, 0.001 to 10, e.g. 0.1",
            affects Meter;
        taps: u32 = 16, in 1..=64,
            "neighbors whose rays a pixel reuses, 1 to 64, e.g. 16", affects Meter;
        steps: u32 = 128, in 8..=1024,
            "maximum steps of a ray through the depth pyramid, 8 to 1024, e.g. 128",
            affects Meter;
        max_history_frames: u32 = 16, in 0..=256,
            "maximum history length in frames, in motion, 0 (no history) to 256", affects Frame;
        reprojection: SsrReprojection = SsrReprojection::Virtual,
            "motion by which the history is reprojected: virtual, or, for comparison, surface, smallest or hit_parallax",
            affects Frame;
    }
    and {
        /// Uses a separate static-view path; off: a static view costs as much as a moving one
        /// (`sunny16 bench`).
        still: bool = true;
    }
}

settings! {
    /// Settings of refraction.
    pub struct RefractionSettings / RefractionLook in "passes.refraction" {
        method: RefractionMethod = RefractionMethod::Traced,
            "refraction: traced (rays through the body) or screen (back faces in screen space)",
            affects Meter;
    }
}

settings! {
    /// Settings of caustics maps.
    pub struct CausticSettings / CausticLook in "passes.caustics" {
        enabled: bool = true,
            "true or false: caustics of all water; false lights what is below as through a level surface",
            affects Meter;
        resolution: u32 = 512, in 16..=4096,
            "caustics map resolution along the longer side of the water in texels, 16 to 4096, e.g. 512",
            affects Meter;
    }
}

settings! {
    /// Settings of volumes.
    pub struct VolumeSettings / VolumePassLook in "passes.volumes" {
        enabled: bool = true, "true or false: volumes scatter and absorb light", affects Meter;
        resolution: Resolution = Resolution::Full, "resolution: full or half", affects Meter;
        steps: u32 = 32, in 1..=1024,
            "ray-marching steps along a view ray, 1 to 1024, e.g. 32", affects Meter;
        shadow_steps: u32 = 12, in 1..=256,
            "ray-marching steps towards a light in each heterogeneous volume, 1 to 256, e.g. 12",
            affects Meter;
        filter: bool = true,
            "true or false: spatial filter over neighboring pixels", affects Meter;
    }
}

settings! {
    /// Settings of culling and levels of detail.
    pub struct CullingSettings / CullingLook in "passes.culling" {
        enabled: bool = true,
            "true or false: culling on the device; false culls by the view frustum on the host",
            affects Meter;
        /// On the device only.
        occlusion: bool = true, "true or false: occlusion culling", affects Meter;
        /// Below it the host is faster.
        min_instances: u32 = 1024, in 1..=16_777_216,
            "minimum number of instances for culling on the device, 1 to 16777216, e.g. 1024",
            affects Meter;
        max_error_pixels at "passes.lod.max_error_pixels": f32 = 0.0, in 0.0..=16.0,
            "maximum error of levels of detail in pixels, 0 (off) to 16, e.g. 0.25",
            affects Scene;
    }
    and {
        /// Frames without occlusion tests after they culled too little to pay off.
        retry_interval: u32 = 30;
    }
}

settings! {
    /// Settings of clustered lights (docs/clustered-lights.md).
    pub struct ClusteredLightSettings / ClusteredLightLook in "passes.clustered_lights" {
        enabled: bool = true,
            "true or false: clustered lights; false evaluates every light at every pixel",
            affects Meter;
        /// Of display white under the current exposure; 0 omits none.
        cull_threshold: f32 = 1.0 / 1024.0, in 0.0..=1.0,
            "maximum total contribution of omitted lights as a fraction of white, 0 to 1, e.g. 0.0009765625",
            affects Meter;
    }
}

settings_group! {
    /// Settings of the passes.
    pub struct PassesSettings / PassesLook {
        /// `passes.tonemap.*`.
        tonemap: TonemapSettings / TonemapLook,
        /// `passes.aa.*`.
        aa: AaSettings / AaLook,
        /// `passes.taa.*`.
        taa: TemporalSettings / TemporalLook,
        /// `passes.shadows.*`.
        shadows: ShadowSettings / ShadowLook,
        /// `passes.ao.*`.
        ao: AoSettings / AoLook,
        /// `passes.ssr.*`.
        ssr: SsrSettings / SsrLook,
        /// `passes.refraction.*`.
        refraction: RefractionSettings / RefractionLook,
        /// `passes.caustics.*`.
        caustics: CausticSettings / CausticLook,
        /// `passes.volumes.*`.
        volumes: VolumeSettings / VolumePassLook,
        /// `passes.culling.*` and `passes.lod.*`.
        culling: CullingSettings / CullingLook,
        /// `passes.clustered_lights.*`.
        clustered_lights: ClusteredLightSettings / ClusteredLightLook,
    }
}
