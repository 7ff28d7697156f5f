//! Data of one frame that its passes share: constants, draws, and what light evaluation reads.

use std::sync::Arc;

use glam::DVec3;

use super::{draws::Visible, frame_bvh::FrameBvh, volumes::FrameVolumes};
use crate::gpu::{Bind, Buffer, shader_structs::frame::FrameConstants};

/// Constants of a frame at one resolution.
pub struct FrameUniforms {
    /// `FrameConstants`; host-visible, new for each frame.
    pub constants: Arc<Buffer>,
    /// Host copy of the constants.
    pub values: FrameConstants,
    /// Camera position in the world (m).
    pub camera: DVec3,
}

impl FrameUniforms {
    /// True if the projection is orthographic, so that there is no lens.
    #[must_use]
    pub fn parallel(&self) -> bool {
        self.values.forward.w != 0.0
    }

    /// Binding of the constants.
    #[must_use]
    pub fn uniform(&self) -> (&'static str, Bind<'_>) {
        ("frame_block", Bind::Uniform(&self.constants))
    }
}

/// Visible draws of a frame, with their instance and index buffers.
pub struct FrameDraws {
    /// Visible `Instance`s.
    pub instances: Arc<Buffer>,
    /// Indices of blended triangles, back to front.
    pub sorted: Arc<Buffer>,
    /// Visible draws; if the device culls, only the draws that the host sorts.
    pub visible: Visible,
}

/// Fixed number of shadow rays a pixel (`passes::shadow_rays`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShadowRayBudget {
    /// Shadow rays a pixel.
    pub rays: u32,
    /// Maximum size of the ray buffer in bytes; larger frames are traced in bands of rows.
    pub max_bytes: u64,
    /// True if the picture shows a mean over frames: the shadowed light of one may be negative.
    pub averaged: bool,
    /// Maximum number of lights and light tree nodes that a cluster lists; 0: no maximum.
    pub lights: u32,
    /// Lights that a pixel samples from the nodes, at least 1.
    pub light_samples: u32,
    /// True if the lost fractions are denoised.
    pub denoised: bool,
    /// True if their estimates may use the rays of neighboring pixels.
    pub reuse: bool,
}

/// Data of a frame at render resolution. The buffers are host-visible and new for each frame,
/// except for those of the scene.
pub struct FrameData {
    /// Constants at render resolution.
    pub uniforms: FrameUniforms,
    /// Visible draws and their buffers.
    pub draws: FrameDraws,
    /// `Light`s, directional ones first.
    pub lights: Arc<Buffer>,
    /// Features of the scene and the look, as `FEATURE_` bits
    /// (`shaders/shared/features.glsl`).
    pub features: u32,
    /// Linearly transformed cosine (LTC) matrices of area lights (`photometry::ltc`).
    pub ltc: Arc<Buffer>,
    /// `LightNode`s of the light tree.
    pub nodes: Arc<Buffer>,
    /// IES profiles of the scene (`profiles`).
    pub profiles: Arc<Buffer>,
    /// `ShadowMap`s of the shadow atlas.
    pub shadow_maps: Arc<Buffer>,
    /// Environment buffer of the scene (`environment`).
    pub environment: Arc<Buffer>,
    /// Local `Probe`s.
    pub probes: Arc<Buffer>,
    /// True if the scene has an environment.
    pub has_environment: bool,
    /// True if the background is visible: an environment or a sun disk.
    pub has_background: bool,
    /// True if the emission of a pixel is the mean of several samples.
    pub supersamples_emission: bool,
    /// BVH of shadow rays; `None` unless shadows are ray traced.
    pub shadow_bvh: Option<FrameBvh>,
    /// Fixed ray budget of the lighting pass; `None` if it traces rays to every light. Only with
    /// `shadow_bvh`.
    pub shadow_ray_budget: Option<ShadowRayBudget>,
    /// BVH of refraction rays; `None` if refraction is in screen space.
    pub refraction_bvh: Option<FrameBvh>,
    /// BVH of rays to bright sources outside the image; `None` without flares or without a BVH.
    pub flare_bvh: Option<FrameBvh>,
    /// Participating volumes.
    pub volumes: FrameVolumes,
}

impl FrameData {
    /// Binding of the constants.
    #[must_use]
    pub fn uniform(&self) -> (&'static str, Bind<'_>) {
        self.uniforms.uniform()
    }

    /// Bindings of pipelines that evaluate lights, beyond the lights: shadows and features, without
    /// the shadow atlas, which a pass of the frame draws, and without caustics.
    #[must_use]
    pub fn light_objects(&self) -> Vec<(&'static str, Bind<'_>)> {
        let mut binds = self.light_tables();
        binds.extend(self.shadow_bvh.iter().flat_map(FrameBvh::binds));
        binds
    }

    /// As `light_objects`, without the BVH.
    #[must_use]
    pub fn light_tables(&self) -> Vec<(&'static str, Bind<'_>)> {
        vec![
            ("profile_block", Bind::Storage(&self.profiles)),
            ("environment_block", Bind::Storage(&self.environment)),
            ("probe_block", Bind::Storage(&self.probes)),
            ("shadow_map_block", Bind::Storage(&self.shadow_maps)),
            ("ltc_block", Bind::Storage(&self.ltc)),
            ("volume_block", Bind::Storage(&self.volumes.block)),
            ("volume_density_block", Bind::Storage(&self.volumes.densities)),
        ]
    }
}
