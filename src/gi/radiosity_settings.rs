//! Settings of the update of all photons.

/// Settings of `Radiosity::update`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RadiositySettings {
    /// Number of VPLs, at most `MAX_VPLS`. Without merging it is approximate. With merging it is a
    /// maximum, but at least one VPL remains for each direction and plane of the surfaces (some
    /// dozens).
    pub vpls: u32,
    /// Photons of all lights together; `None`: derived from `vpls` and `bounces`.
    pub photons: Option<u32>,
    /// Maximum number of reflections of a photon, 0 to 64.
    pub bounces: u32,
    /// Merges VPLs in a voxel that face the same way.
    pub merge: bool,
    /// Voxel edge of merging (m), which overrides `vpls`. `None`: chosen so that `vpls` is not
    /// exceeded, and kept as long as it fits.
    pub merge_cell_size: Option<f64>,
}

impl Default for RadiositySettings {
    fn default() -> Self {
        Self { vpls: 4096, photons: None, bounces: 3, merge: true, merge_cell_size: None }
    }
}

/// Maximum number of VPLs of a set and of photons; it bounds the tree's depth.
pub const MAX_VPLS: u32 = 1 << 22;

impl RadiositySettings {
    /// Number of photons to share among the lights.
    #[must_use]
    pub fn photon_budget(&self) -> u32 {
        // A photon leaves 1 + q + q^2 ... VPLs where a fraction q is reflected: half of `bounces +
        // 1` for q from 0.5 to 0.8. Merging traces several photons for each VPL that it keeps.
        let vpls = u64::from(self.vpls.clamp(1, MAX_VPLS)) * if self.merge { 4 } else { 1 };
        let found = (2 * vpls / u64::from(self.bounces.clamp(1, 4) + 1)).max(1) as u32;
        self.photons.unwrap_or(found).clamp(1, MAX_VPLS)
    }
}
