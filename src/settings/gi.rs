//! `gi.*`: global illumination by virtual point lights (VPLs, docs/instant-radiosity.md) or by an
//! irradiance volume (docs/irradiance-volumes.md).

use super::{Resolution, choices::choices, define::settings};

choices! {
    /// Method of indirect light.
    pub enum GiMethod {
        /// Virtual point lights.
        Vpl = "vpl",
        /// Irradiance volume: a grid of probes.
        Probes = "probes",
    }
}

choices! {
    /// Selection of the VPLs that light a pixel.
    pub enum FinalGather {
        /// Samples of the light tree.
        Tree = "tree",
        /// All VPLs, for comparison.
        All = "all",
    }
}

choices! {
    /// Debug view of indirect light.
    pub enum GiDebugView {
        /// None.
        Picture = "picture",
        /// VPLs as spheres.
        Vpls = "vpls",
    }
}

settings! {
    /// Settings of indirect light.
    pub struct GiSettings / GiLook in "gi" {
        enabled: bool = false,
            "true or false: indirect light by gi.method (the path tracer always has it)",
            affects Vpls;
        method: GiMethod = GiMethod::Vpl,
            "method of indirect light: vpl (virtual point lights), or probes (irradiance volume: smooth light at a constant cost)",
            affects Vpls;
        /// Without it, the spacing at which 2,048 probes fill the scene's bounds.
        probe_spacing: Option<f64> = None, in 0.01..=1000.0, unit "m",
            "distance between the probes of the irradiance volume in meters, 0.01 to 1000 [default: at most 2048 probes in the scene's bounds]",
            affects Vpls;
        probe_rays: u32 = 65_536, in 1024..=4_194_240,
            "rays a frame, for all probes together, 1024 to 4194240, e.g. 65536", affects Meter;
        /// With merging, at least one VPL remains for each direction and plane of the surfaces.
        vpls: u32 = 32_768, in 1..=4_000_000,
            "approximate number of virtual point lights (VPLs), with gi.merge their maximum number, 1 to 4000000, e.g. 32768",
            affects Vpls;
        photons: Option<u32> = None, in 1..=4_000_000,
            "photons emitted by all lights, 1 to 4000000 [default: by gi.vpls]", affects Vpls;
        bounces: u32 = 8, in 1..=64, "maximum photon bounces, 1 to 64, e.g. 8", affects Vpls;
        merge: bool = false,
            "true or false: merge VPLs of one cell and direction (faster, coarser)",
            affects Vpls;
        /// Without it, the size is chosen so that `vpls` is not exceeded, and kept as long as it
        /// fits.
        merge_cell_size: Option<f64> = None, in 0.001..=1000.0, unit "m",
            "cell size for merging in meters, 0.001 to 1000 [default: by gi.vpls]",
            affects Vpls;
        vpl_samples: u32 = 4, in 1..=256,
            "VPL samples a pixel and frame, 1 to 256, e.g. 4", affects Meter;
        resolution: Resolution = Resolution::Full,
            "resolution of the gathering: full, or half (one pixel of each 2x2 block in turn)",
            affects Meter;
        final_gather: FinalGather = FinalGather::Tree,
            "VPL selection: tree (light tree sampling) or all (every VPL, for comparison)",
            affects Meter;
        vpl_visibility: bool = true,
            "true or false: shadow rays test the visibility of VPLs", affects Meter;
        clamp_radius: f64 = 4.0, in 0.0..=100.0,
            "distance below which the light of a VPL is clamped, in multiples of the VPL radius, 0 (no clamp) to 100",
            affects Meter;
        bias_compensation: bool = true,
            "true or false: short rays restore the energy that gi.clamp_radius removes (bias compensation)",
            affects Meter;
        environment_visibility: bool = true,
            "true or false: rays trace the visibility of sky and environment map; false also disables traced reflections in scenes with an environment",
            affects Meter;
        specular: bool = true,
            "true or false: specular indirect light: VPL highlights on rough surfaces, traced reflections on smooth ones, caustics of mirrors",
            affects Meter;
        denoise: bool = true,
            "true or false: denoise by an edge-aware filter", affects Meter;
        freeze_after: u32 = 64, in 1..=65_536,
            "frames after which a static view stops accumulating, 1 to 65536, e.g. 64",
            affects Frame;
        debug_view: GiDebugView = GiDebugView::Picture,
            "debug view: picture, or vpls (VPLs drawn as spheres with area proportional to flux)",
            affects Meter;
        max_history_frames: u32 = 32, in 0..=1024,
            "maximum history length in frames, in motion, 0 (no history) to 1024",
            affects Frame;
    }
}

impl GiSettings {
    /// True if VPLs light the scene.
    #[must_use]
    pub const fn uses_vpls(&self) -> bool {
        self.enabled && matches!(self.method, GiMethod::Vpl)
    }

    /// True if an irradiance volume lights the scene.
    #[must_use]
    pub const fn uses_probes(&self) -> bool {
        self.enabled && matches!(self.method, GiMethod::Probes)
    }

    /// True if a history of the picture's indirect light is kept between frames.
    #[must_use]
    pub const fn has_history(&self) -> bool {
        self.uses_vpls() && self.max_history_frames > 0
    }
}
