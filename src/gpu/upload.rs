//! Uploads through staging memory: correct where device memory is out of the host's reach.

use std::sync::Arc;

use ash::vk;

use super::{
    commands::{Frames, ImageBarrier, Recorder},
    context::Gpu,
    error::GpuResult,
    memory::{Buffer, BufferKind, Image},
};

/// Bytes that are staged before a batch is sent off.
const BATCH: usize = 32 << 20;

enum Copy {
    Buffer { target: Arc<Buffer>, from: usize, to: u64, size: usize },
    Level { target: Arc<Image>, mip: u32, from: usize },
}

/// Collects data for device memory and sends it in batches.
pub struct Uploader {
    gpu: Gpu,
    frames: Frames,
    bytes: Vec<u8>,
    copies: Vec<Copy>,
}

impl Uploader {
    /// An uploader.
    ///
    /// # Errors
    /// Out of memory.
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
    /// A lost device; out of memory.
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
    /// A lost device; out of memory.
    pub fn texture(&mut self, target: &Arc<Image>, levels: &[Vec<u8>]) -> GpuResult<()> {
        // A texture goes in one batch, so that its barriers stand around all of its levels.
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
        // Sixteen bytes suit every texel size and the copy's alignment.
        self.bytes.resize(self.bytes.len().next_multiple_of(16), 0);
        let from = self.bytes.len();
        self.bytes.extend_from_slice(data);
        from
    }

    /// Sends what is staged.
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

    /// Sends what is staged, and after it a pass of this name that works on what has arrived.
    ///
    /// # Errors
    /// A lost device; out of memory; what the work meets.
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

    /// Sends the rest and waits until all has arrived.
    ///
    /// # Errors
    /// A lost device; out of memory.
    pub fn finish(mut self) -> GpuResult<()> {
        self.flush()?;
        self.frames.wait_all()
    }
}
