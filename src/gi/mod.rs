//! Instant radiosity: photons from all lights of a scene deposit virtual point lights (VPLs) on its
//! surfaces, with a light tree over them. Pure: no device, no files.
//!
//! Keller, "Instant Radiosity" (SIGGRAPH 1997): a photon that a surface reflects diffusely leaves a
//! light at the hit point that stands for the reflected light. Here that light emits as a diffuse
//! surface does, by the cosine to its normal. The light tree lets a device sample many of them
//! (Conty Estevez and Kulla, "Importance Sampling of Many Lights with Adaptive Tree Splitting", HPG
//! 2018). See `docs/instant-radiosity.md`.
//!
//! - `sequence`: low-discrepancy numbers, the same for a photon in every frame;
//! - `emission`, `light_source`, `environment`, `emissive`, `photon`: photon emission;
//! - `surface_hit`, `texture`, `lobes`: interaction of photons with surfaces;
//! - `photon_tracing`: a photon's path through the scene;
//! - `radiosity`: the incremental update of all photons;
//! - `merge`: merging of nearby VPLs;
//! - `vpl`, `tree`: VPLs and the light tree over them.

mod bounds;
mod cdf;
mod emission;
mod emissive;
mod environment;
mod fingerprints;
mod light_source;
mod lobes;
mod merge;
mod photon;
mod photon_budget;
mod photon_tracing;
mod radiosity;
mod sequence;
mod surface_hit;
mod tree;
mod vpl;

pub use lobes::{dfg_lookup, diffuse_fraction, diffuse_lobe_weight};
pub use photon_budget::MAX_VPLS;
pub use radiosity::{ChangedFraction, Radiosity};
pub use surface_hit::{dielectric_f0, dielectric_f90};
pub use tree::{MAX_DEPTH, light_tree};
pub use vpl::{Vpl, VplNode, VplSet, VplStats};

#[cfg(test)]
mod tests_closed;
#[cfg(test)]
mod tests_emission;
#[cfg(test)]
mod tests_merge;
#[cfg(test)]
mod tests_update;
