//! `gi.*`: bounced light.

use super::{LookError, Reader};

/// Every property of this section with its description.
pub(super) const PROPERTIES: &[(&str, &str)] = &[
    (
        "gi.enabled",
        "true or false: indirect light by instant radiosity (the path tracer always has it)",
    ),
    (
        "gi.vpls",
        "number of virtual point lights (VPLs), approximate, a maximum with gi.merge; 1 to 4000000, e.g. 32768",
    ),
    ("gi.photons", "photons emitted by all lights, 1 to 4000000 [default: by gi.vpls]"),
    ("gi.bounces", "maximum photon bounces, 1 to 64, e.g. 8"),
    ("gi.merge", "true or false: merge VPLs of one cell and direction (faster, coarser)"),
    ("gi.cell", "cell size for merging in meters, 0.001 to 1000 [default: by gi.vpls]"),
    ("gi.rays", "VPL samples a pixel and frame, 1 to 256, e.g. 4"),
    ("gi.gather", "VPL selection: tree (light tree sampling) or all (every VPL, for comparison)"),
    ("gi.visibility", "true or false: shadow rays test the visibility of VPLs"),
    ("gi.bound", "clamp radius: minimum distance of a VPL in its radii, 0 to 100"),
    (
        "gi.compensation",
        "true or false: short rays restore the energy that gi.bound removes (bias compensation)",
    ),
    (
        "gi.sky",
        "true or false: rays trace the visibility of sky and environment map; false also disables traced reflections where \
         there is an environment",
    ),
    (
        "gi.glossy",
        "true or false: specular indirect light: VPL highlights on rough surfaces, traced reflections on smooth ones, caustics \
         of mirrors",
    ),
    ("gi.filter", "true or false: denoise by an edge-aware filter"),
    ("gi.still", "frames after which a static view stops accumulating, 1 to 65536, e.g. 64"),
    (
        "gi.show",
        "debug view: picture, or patches (VPLs drawn as spheres with area proportional to flux)",
    ),
    ("gi.frames", "maximum history length in frames, in motion, 0 (no history) to 1024"),
];

/// What the look says of bounced light.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GiLook {
    /// `enabled`.
    pub enabled: Option<bool>,
    /// `vpls`.
    pub vpls: Option<u32>,
    /// `photons`.
    pub photons: Option<u32>,
    /// `bounces`.
    pub bounces: Option<u32>,
    /// `merge`.
    pub merge: Option<bool>,
    /// `cell` (m).
    pub cell: Option<f64>,
    /// `rays`.
    pub vpl_samples: Option<u32>,
    /// `gather`: all patches.
    pub all_vpls: Option<bool>,
    /// `visibility`.
    pub visibility: Option<bool>,
    /// `bound`, radii of patches.
    pub clamp_radius: Option<f64>,
    /// `compensation`.
    pub compensation: Option<bool>,
    /// `sky`.
    pub sky: Option<bool>,
    /// `glossy`.
    pub specular: Option<bool>,
    /// `filter`.
    pub filter: Option<bool>,
    /// `still`.
    pub freeze_after: Option<u32>,
    /// `show`: patches as balls.
    pub debug_view: Option<bool>,
    /// `frames`.
    pub max_history_frames: Option<u32>,
}

impl GiLook {
    /// Sets one property; false where it has none of this path.
    pub(super) fn set(&mut self, read: &Reader<'_>) -> Result<bool, LookError> {
        match read.path {
            "gi.enabled" => self.enabled = Some(read.boolean()?),
            "gi.vpls" => self.vpls = Some(read.integer(1, 4_000_000)?),
            "gi.photons" => self.photons = Some(read.integer(1, 4_000_000)?),
            "gi.bounces" => self.bounces = Some(read.integer(1, 64)?),
            "gi.merge" => self.merge = Some(read.boolean()?),
            "gi.cell" => self.cell = Some(read.in_range(1e-3, 1e3)?),
            "gi.rays" => self.vpl_samples = Some(read.integer(1, 256)?),
            "gi.gather" => {
                self.all_vpls = Some(match read.value {
                    "tree" => false,
                    "all" => true,
                    _ => return Err(read.bad_value()),
                });
            }
            "gi.visibility" => self.visibility = Some(read.boolean()?),
            "gi.bound" => self.clamp_radius = Some(read.in_range(0.0, 100.0)?),
            "gi.compensation" => self.compensation = Some(read.boolean()?),
            "gi.sky" => self.sky = Some(read.boolean()?),
            "gi.glossy" => self.specular = Some(read.boolean()?),
            "gi.filter" => self.filter = Some(read.boolean()?),
            "gi.still" => self.freeze_after = Some(read.integer(1, 65536)?),
            "gi.show" => {
                self.debug_view = Some(match read.value {
                    "picture" => false,
                    "patches" => true,
                    _ => return Err(read.bad_value()),
                });
            }
            "gi.frames" => self.max_history_frames = Some(read.integer(0, 1024)?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// What was set and changes nothing.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let enabled = Self { enabled: None, ..*self };
        if self.enabled.is_none() && enabled != Self::default() {
            return vec![
                "gi.* changes nothing while bounced light is off (--set gi.enabled=true)".into(),
            ];
        }
        let mut remarks = Vec::new();
        if self.cell.is_some() && self.merge != Some(true) {
            remarks.push(
                "gi.cell changes nothing where patches are not merged (--set gi.merge=true)".into(),
            );
        }
        if self.vpls.is_some() && self.photons.is_some() && self.merge != Some(true) {
            remarks.push(
                "gi.vpls changes nothing where gi.photons says how many photons make patches"
                    .into(),
            );
        }
        remarks
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
            &["gi.enabled=true", "gi.merge=true", "gi.cell=0.1", "gi.photons=100", "gi.vpls=10"],
        ] {
            assert_eq!(told(silent), "", "{silent:?}");
        }
        assert!(told(&["gi.show=patches"]).contains("gi.enabled=true"));
        assert!(told(&["gi.enabled=true", "gi.cell=0.1"]).contains("gi.merge=true"));
        assert!(told(&["gi.enabled=true", "gi.photons=100", "gi.vpls=10"]).contains("gi.photons"));
    }
}
