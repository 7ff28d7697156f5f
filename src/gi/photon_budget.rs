//! The number of photons of all lights.

use crate::settings::GiSettings;

/// Maximum number of VPLs of a set and of photons; it bounds the tree's depth.
pub const MAX_VPLS: u32 = 1 << 22;

/// Number of photons to share among the lights.
#[must_use]
pub(super) fn photon_budget(settings: &GiSettings) -> u32 {
    // A photon leaves 1 + q + q^2 ... VPLs where a fraction q is reflected: half of `bounces + 1`
    // for q from 0.5 to 0.8. Merging traces several photons for each VPL that it keeps.
    let vpls = u64::from(settings.vpls.clamp(1, MAX_VPLS)) * if settings.merge { 4 } else { 1 };
    let found = (2 * vpls / u64::from(settings.bounces.clamp(1, 4) + 1)).max(1) as u32;
    settings.photons.unwrap_or(found).clamp(1, MAX_VPLS)
}
