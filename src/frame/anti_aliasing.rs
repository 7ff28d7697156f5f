//! Anti-aliasing methods and their settings (docs/anti-aliasing.md).

/// Anti-aliasing methods (docs/anti-aliasing.md).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum AntiAliasing {
    /// No anti-aliasing: each pixel is sampled at its center.
    #[default]
    None,
    /// Morphological anti-aliasing, from the shapes of edges in one frame.
    Morphological,
    /// Temporal anti-aliasing (TAA), from previous frames.
    Temporal(TemporalSettings),
}

/// Settings of temporal anti-aliasing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TemporalSettings {
    /// Render resolution over output resolution, per side, 0.25 to 1.
    pub scale: f64,
    /// Variance clipping: half-width of the history clamp in standard deviations of the
    /// neighborhood (Salvi 2016) for static pixels. At 2 pixels of motion per frame and more it is
    /// at most 1.
    pub variance_gamma: f32,
    /// Maximum history length in frames, in motion.
    pub max_history_frames: f32,
    /// Mip bias of textures, in addition to that of `scale`.
    pub mip_bias: f64,
    /// Average all frames while nothing moves. Off: the history is clipped as in motion.
    pub still: bool,
}

impl Default for TemporalSettings {
    fn default() -> Self {
        Self {
            scale: 1.0,
            variance_gamma: 2.5,
            max_history_frames: 16.0,
            mip_bias: -1.0,
            still: true,
        }
    }
}

impl TemporalSettings {
    /// Render resolution in pixels for an output size in pixels.
    #[must_use]
    pub fn input_size(&self, [width, height]: [u32; 2]) -> [u32; 2] {
        let scale = self.scale.clamp(0.25, 1.0);
        [width, height].map(|side| ((f64::from(side) * scale).round() as u32).clamp(1, side.max(1)))
    }
}

/// Index of a frame among those whose mean is a still image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameSample {
    /// Index, from 0.
    pub number: u32,
    /// Number of frames.
    pub count: u32,
}
