//! Uploads through staging memory, for device memory that the host cannot map.

use std::sync::Arc;

use ash::vk;

use super::{
    commands::{Frames, ImageBarrier, Recorder},
    context::Gpu,
    error::GpuResult,
    memory::{Buffer, BufferKind, Image},
};

/// Bytes staged before a batch is submitted.
const BATCH: usize = 32 << 20;

enum Copy {
    Buffer { target: Arc<Buffer>, from: usize, to: u64, size: usize },
    Level { target: Arc<Image>, mip: u32, from: usize },
}

/// Stages data for device memory and submits it in batches.
pub struct Uploader {
    gpu: Gpu,
    frames: Frames,
    bytes: Vec<u8>,
    copies: Vec<Copy>,
}

impl Uploader {
    /// Creates an uploader.
    ///
    /// # Errors
    /// `GpuError` if memory is exhausted.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        Ok(Self {
            gpu: gpu.clone(),
            frames: Frames::new(gpu, 2)?,
            bytes: Vec::new(),
            copies: Vec::new(),
        })
    }

    /// Fills a buffer in device memory.
    ///
    /// # Errors
    /// `GpuError`: device loss; out of memory.
    pub fn buffer(&mut self, target: &Arc<Buffer>, data: &[u8]) -> GpuResult<()> {
        for (index, chunk) in data.chunks(BATCH).enumerate() {
            let from = self.stage(chunk)?;
            self.copies.push(Copy::Buffer {
                target: Arc::clone(target),
                from,
                to: (index * BATCH) as u64,
                size: chunk.len(),
            });
        }
        Ok(())
    }

    /// Fills all levels of a texture and makes it readable by shaders.
    ///
    /// # Errors
    /// `GpuError`: device loss; out of memory.
    pub fn texture(&mut self, target: &Arc<Image>, levels: &[Vec<u8>]) -> GpuResult<()> {
        // A texture is not split over batches, so that its barriers enclose all of its levels.
        let total: usize = levels.iter().map(|level| level.len().next_multiple_of(16)).sum();
        if self.bytes.len() + total > BATCH {
            self.flush()?;
        }
        for (mip, level) in levels.iter().enumerate() {
            let from = self.push(level);
            self.copies.push(Copy::Level { target: Arc::clone(target), mip: mip as u32, from });
        }
        Ok(())
    }

    fn stage(&mut self, chunk: &[u8]) -> GpuResult<usize> {
        if self.bytes.len() + chunk.len() > BATCH {
            self.flush()?;
        }
        Ok(self.push(chunk))
    }

    fn push(&mut self, data: &[u8]) -> usize {
        // An alignment of 16 bytes suits every texel size and copy.
        self.bytes.resize(self.bytes.len().next_multiple_of(16), 0);
        let from = self.bytes.len();
        self.bytes.extend_from_slice(data);
        from
    }

    /// Submits the staged data.
    fn flush(&mut self) -> GpuResult<()> {
        if self.copies.is_empty() {
            return Ok(());
        }
        let staging =
            Buffer::new(&self.gpu, "upload staging", self.bytes.len() as u64, BufferKind::Staging)?;
        staging.write(0, &self.bytes);
        let mut rec = self.frames.begin()?;
        rec.begin_pass("upload");
        let images: Vec<&Arc<Image>> = self
            .copies
            .iter()
            .filter_map(|copy| match copy {
                Copy::Level { target, mip: 0, .. } => Some(target),
                _ => None,
            })
            .collect();
        let write = (
            vk::PipelineStageFlags2::COPY,
            vk::AccessFlags2::TRANSFER_WRITE,
            vk::ImageLayout::TRANSFER_DST_OPTIMAL,
        );
        let before =
            (vk::PipelineStageFlags2::NONE, vk::AccessFlags2::NONE, vk::ImageLayout::UNDEFINED);
        let after = (
            vk::PipelineStageFlags2::FRAGMENT_SHADER | vk::PipelineStageFlags2::COMPUTE_SHADER,
            vk::AccessFlags2::SHADER_SAMPLED_READ,
            vk::ImageLayout::SHADER_READ_ONLY_OPTIMAL,
        );
        rec.image_barriers(
            &images
                .iter()
                .map(|image| ImageBarrier { image, from: before, to: write })
                .collect::<Vec<_>>(),
        );
        for copy in &self.copies {
            match copy {
                Copy::Buffer { target, from, to, size } => {
                    rec.copy_buffer(&staging, target, *from as u64, *to, *size as u64);
                }
                Copy::Level { target, mip, from } => {
                    rec.copy_buffer_to_image(&staging, *from as u64, target, *mip)
                }
            }
        }
        rec.image_barriers(
            &images
                .iter()
                .map(|image| ImageBarrier { image, from: write, to: after })
                .collect::<Vec<_>>(),
        );
        rec.end_pass();
        rec.submit()?;
        self.bytes.clear();
        self.copies.clear();
        Ok(())
    }

    /// Submits the staged data, followed by a pass of this name that uses it.
    ///
    /// # Errors
    /// `GpuError`: device loss; out of memory; errors of the pass.
    pub fn then(
        &mut self,
        name: &str,
        work: impl FnOnce(&mut Recorder<'_>) -> GpuResult<()>,
    ) -> GpuResult<()> {
        self.flush()?;
        let mut rec = self.frames.begin()?;
        rec.begin_pass(name);
        work(&mut rec)?;
        rec.end_pass();
        rec.submit()?;
        Ok(())
    }

    /// Submits the rest and waits for it.
    ///
    /// # Errors
    /// `GpuError`: device loss; out of memory.
    pub fn finish(mut self) -> GpuResult<()> {
        self.flush()?;
        self.frames.wait_all()
    }
}
