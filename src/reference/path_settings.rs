//! Settings of the path integrator.

/// Sampling strategy of light. Each one is correct alone; tests compare them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SamplingStrategy {
    /// Multiple importance sampling of both.
    #[default]
    Mis,
    /// Light sampling: points on lights.
    Lights,
    /// BSDF sampling; it misses lights without a surface.
    Bsdf,
}

/// Path length, sampling strategy and Russian roulette.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathSettings {
    /// Maximum number of surface hits and volume scattering events of a path. 0 shows only
    /// emission, 1 adds direct light, more adds indirect light. Only `u32::MAX`, no limit, is
    /// unbiased.
    pub bounces: u32,
    /// Sampling strategy of light.
    pub strategy: SamplingStrategy,
    /// Number of surfaces after which Russian roulette starts.
    pub roulette_after: u32,
}

impl Default for PathSettings {
    fn default() -> Self {
        Self { bounces: u32::MAX, strategy: SamplingStrategy::Mis, roulette_after: 4 }
    }
}
