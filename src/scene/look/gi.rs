//! `gi.*`: global illumination by virtual point lights (VPLs).

use super::{LookError, reader::Reader};

/// Every property of this section with its description.
pub(super) const PROPERTIES: &[(&str, &str)] = &[
    (
        "gi.enabled",
        "true or false: indirect light by instant radiosity (the path tracer always has it)",
    ),
    (
        "gi.vpls",
        "approximate number of virtual point lights (VPLs), with gi.merge their maximum number, 1 to 4000000, e.g. 32768",
    ),
    ("gi.photons", "photons emitted by all lights, 1 to 4000000 [default: by gi.vpls]"),
    ("gi.bounces", "maximum photon bounces, 1 to 64, e.g. 8"),
    ("gi.merge", "true or false: merge VPLs of one cell and direction (faster, coarser)"),
    ("gi.merge_cell_size", "cell size for merging in meters, 0.001 to 1000 [default: by gi.vpls]"),
    ("gi.vpl_samples", "VPL samples a pixel and frame, 1 to 256, e.g. 4"),
    (
        "gi.final_gather",
        "VPL selection: tree (light tree sampling) or all (every VPL, for comparison)",
    ),
    ("gi.vpl_visibility", "true or false: shadow rays test the visibility of VPLs"),
    (
        "gi.clamp_radius",
        "distance below which the light of a VPL is clamped, in multiples of the VPL radius, 0 (no clamp) to 100",
    ),
    (
        "gi.bias_compensation",
        "true or false: short rays restore the energy that gi.clamp_radius removes (bias compensation)",
    ),
    (
        "gi.environment_visibility",
        "true or false: rays trace the visibility of sky and environment map; false also disables traced reflections in \
         scenes with an environment",
    ),
    (
        "gi.specular",
        "true or false: specular indirect light: VPL highlights on rough surfaces, traced reflections on smooth ones, caustics \
         of mirrors",
    ),
    ("gi.denoise", "true or false: denoise by an edge-aware filter"),
    ("gi.freeze_after", "frames after which a static view stops accumulating, 1 to 65536, e.g. 64"),
    (
        "gi.debug_view",
        "debug view: picture, or vpls (VPLs drawn as spheres with area proportional to flux)",
    ),
    (
        "gi.max_history_frames",
        "maximum history length in frames, in motion, 0 (no history) to 1024",
    ),
];

/// GI overrides.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GiLook {
    /// `enabled`.
    pub enabled: Option<bool>,
    /// `vpls`: approximate number of VPLs.
    pub vpls: Option<u32>,
    /// `photons`.
    pub photons: Option<u32>,
    /// `bounces`.
    pub bounces: Option<u32>,
    /// `merge`.
    pub merge: Option<bool>,
    /// `merge_cell_size` (m).
    pub merge_cell_size: Option<f64>,
    /// `vpl_samples` a pixel and frame.
    pub vpl_samples: Option<u32>,
    /// `final_gather`: true samples all VPLs, false the light tree.
    pub all_vpls: Option<bool>,
    /// `vpl_visibility`.
    pub vpl_visibility: Option<bool>,
    /// `clamp_radius`, in VPL radii.
    pub clamp_radius: Option<f64>,
    /// `bias_compensation`.
    pub bias_compensation: Option<bool>,
    /// `environment_visibility`.
    pub environment_visibility: Option<bool>,
    /// `specular`.
    pub specular: Option<bool>,
    /// `denoise`.
    pub denoise: Option<bool>,
    /// `freeze_after`, in frames.
    pub freeze_after: Option<u32>,
    /// `debug_view`: true draws VPLs as spheres.
    pub debug_view: Option<bool>,
    /// `max_history_frames`.
    pub max_history_frames: Option<u32>,
}

impl GiLook {
    /// Sets one property; false if this section has none of this path.
    pub(super) fn set(&mut self, read: &Reader<'_>) -> Result<bool, LookError> {
        match read.path {
            "gi.enabled" => self.enabled = Some(read.boolean()?),
            "gi.vpls" => self.vpls = Some(read.integer(1, 4_000_000)?),
            "gi.photons" => self.photons = Some(read.integer(1, 4_000_000)?),
            "gi.bounces" => self.bounces = Some(read.integer(1, 64)?),
            "gi.merge" => self.merge = Some(read.boolean()?),
            "gi.merge_cell_size" => self.merge_cell_size = Some(read.in_range(1e-3, 1e3)?),
            "gi.vpl_samples" => self.vpl_samples = Some(read.integer(1, 256)?),
            "gi.final_gather" => {
                self.all_vpls = Some(match read.value {
                    "tree" => false,
                    "all" => true,
                    _ => return Err(read.bad_value()),
                });
            }
            "gi.vpl_visibility" => self.vpl_visibility = Some(read.boolean()?),
            "gi.clamp_radius" => self.clamp_radius = Some(read.in_range(0.0, 100.0)?),
            "gi.bias_compensation" => self.bias_compensation = Some(read.boolean()?),
            "gi.environment_visibility" => self.environment_visibility = Some(read.boolean()?),
            "gi.specular" => self.specular = Some(read.boolean()?),
            "gi.denoise" => self.denoise = Some(read.boolean()?),
            "gi.freeze_after" => self.freeze_after = Some(read.integer(1, 65536)?),
            "gi.debug_view" => {
                self.debug_view = Some(match read.value {
                    "picture" => false,
                    // The name of version 0.1 is `patches`.
                    "vpls" | "patches" => true,
                    _ => return Err(read.bad_value()),
                });
            }
            "gi.max_history_frames" => self.max_history_frames = Some(read.integer(0, 1024)?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Warnings about properties that have no effect.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let enabled = Self { enabled: None, ..*self };
        if self.enabled.is_none() && enabled != Self::default() {
            return vec!["gi.* has no effect while GI is off (--set gi.enabled=true)".into()];
        }
        let mut warnings = Vec::new();
        if self.merge_cell_size.is_some() && self.merge != Some(true) {
            warnings.push(
                "gi.merge_cell_size has no effect while VPLs are not merged (--set gi.merge=true)"
                    .into(),
            );
        }
        if self.vpls.is_some() && self.photons.is_some() && self.merge != Some(true) {
            warnings
                .push("gi.vpls has no effect while gi.photons sets the number of photons".into());
        }
        warnings
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::scene::look::Look;

    #[test]
    fn ineffective_gi_properties_are_warned_about() {
        let told = |set: &[&str]| {
            let mut look = Look::default();
            set.iter().for_each(|assignment| look.assign(assignment).unwrap());
            look.gi.warnings().join("; ")
        };
        for silent in [
            &[][..],
            &["gi.enabled=false", "gi.vpls=100"],
            &["gi.enabled=true", "gi.photons=100"],
            &[
                "gi.enabled=true",
                "gi.merge=true",
                "gi.merge_cell_size=0.1",
                "gi.photons=100",
                "gi.vpls=10",
            ],
        ] {
            assert_eq!(told(silent), "", "{silent:?}");
        }
        assert!(told(&["gi.debug_view=vpls"]).contains("gi.enabled=true"));
        assert!(told(&["gi.enabled=true", "gi.merge_cell_size=0.1"]).contains("gi.merge=true"));
        assert!(told(&["gi.enabled=true", "gi.photons=100", "gi.vpls=10"]).contains("gi.photons"));
    }
}
