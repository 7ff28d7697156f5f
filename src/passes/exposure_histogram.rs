//! Luminance histogram of the light buffer, for automatic exposure.

use std::sync::Arc;

use crate::{
    camera::{
        Exposure,
        metering::{EvHistogram, MeterError},
    },
    gpu::{ComputePipeline, Gpu, GpuResult},
    graph::{BufferHandle, Graph, ImageHandle},
    photometry::Ev100,
};

/// Number of bins: the first holds black, each other one an eighth of a stop.
pub const BINS: usize = 256;

/// Exposed luminance (log2) at which bin 1 begins, and stops per bin.
const MIN_LOG2_LUMINANCE: f64 = -16.0;
const STEP: f64 = 0.125;

/// Pixels per work group along each axis: 4 x 4 squares of 16 x 16 threads.
const GROUP: u32 = 64;

/// Pipeline of the exposure histogram pass.
pub struct ExposureHistogramPass {
    pipeline: Arc<ComputePipeline>,
}

/// Luminance histogram of an image (pixel counts).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LuminanceHistogram {
    bins: Vec<u32>,
}

impl LuminanceHistogram {
    /// Decodes the buffer that the pass wrote; missing bins are empty.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let word = |bytes: &[u8]| bytes.try_into().map_or(0, u32::from_le_bytes);
        let mut bins: Vec<u32> = bytes.chunks_exact(4).take(BINS).map(word).collect();
        bins.resize(BINS, 0);
        Self { bins }
    }

    /// Pixel count of each bin: black first, then dark to bright.
    #[must_use]
    pub fn bins(&self) -> &[u32] {
        &self.bins
    }

    /// Total pixel count.
    #[must_use]
    pub fn pixels(&self) -> u64 {
        self.bins.iter().map(|&count| u64::from(count)).sum()
    }

    /// Count of black pixels.
    #[must_use]
    pub fn black(&self) -> u32 {
        self.bins.first().copied().unwrap_or(0)
    }

    /// Histogram of the lit pixels over exposure value, for an image taken at this exposure.
    ///
    /// An exposed value of 1 is the saturation luminance `1.2 * 2^EV100`, for which a meter shows
    /// `EV100 + log2(9.6)`.
    ///
    /// # Errors
    /// `MeterError` if `EvHistogram` rejects the bins; never for a valid exposure.
    pub fn by_ev(&self, exposure: Exposure) -> Result<EvHistogram, MeterError> {
        let counts: Vec<f64> = self.bins.iter().skip(1).map(|&count| f64::from(count)).collect();
        let saturation = exposure.saturation_luminance();
        let min = Exposure::from_luminance(saturation)?.ev100().0 + MIN_LOG2_LUMINANCE;
        EvHistogram::from_counts(Ev100(min), Ev100(min + STEP * counts.len() as f64), &counts)
    }
}

impl ExposureHistogramPass {
    /// Creates the pipeline.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        Ok(Self {
            pipeline: ComputePipeline::new(gpu, "exposure histogram", "exposure_histogram.comp")?,
        })
    }

    /// Declares the pass and the readback to the host.
    pub fn declare(&self, g: &mut Graph<'_>, size: [u32; 2], light: ImageHandle) -> BufferHandle {
        let bytes = (BINS * 4) as u64;
        let counts = g.storage("exposure histogram", bytes);
        g.clear_buffers("clear exposure histogram", [counts]);
        g.compute("exposure histogram", &self.pipeline)
            .sampled("light_image", light)
            .updated("histogram_block", counts)
            .push(&size)
            .dispatch([size[0].div_ceil(GROUP), size[1].div_ceil(GROUP), 1]);
        g.read_back_buffer("exposure histogram", counts, bytes)
    }
}
