//! Resources that the graph keeps from frame to frame, and memory of transient images.

use std::{collections::HashMap, sync::Arc};

use ash::vk;

use super::{
    access::{Access, State},
    plan::{self, MemoryNeed, PassInfo, Plan},
    resource::{Kind, Resource},
};
use crate::gpu::{
    Buffer, BufferKind, ColorTarget, Gpu, GpuResult, Image, ImageInfo, MemoryBlock, Recorder,
    commands::ImageBarrier,
};

/// Memory of a frame's transient images.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// Allocated bytes, with aliasing.
    pub total: u64,
    /// Bytes that separate allocations would take.
    pub unshared: u64,
}

pub(super) struct History {
    pub(super) images: [Arc<Image>; 2],
    pub(super) states: [State; 2],
    info: (u32, u32, vk::Format),
    fresh: bool,
}

pub(super) struct Kept {
    image: Arc<Image>,
    pub(super) state: State,
    info: (u32, u32, vk::Format),
}

/// Resources that the graph keeps from frame to frame: images, buffers, histories.
#[derive(Default)]
pub struct GraphCache {
    /// Of the placed images, by resource. Other resources do not matter: histories swap their
    /// images each frame.
    placed: Option<Vec<Option<TransientUse>>>,
    pub(super) transients: Vec<Option<Arc<Image>>>,
    after: Vec<Vec<usize>>,
    memory: MemoryUse,
    storages: HashMap<String, Arc<Buffer>>,
    pub(super) histories: HashMap<String, History>,
    pub(super) kept: HashMap<String, Kept>,
}

/// What the placement of a transient image depends on.
#[derive(Clone, Copy, PartialEq)]
struct TransientUse {
    info: ImageInfo,
    /// First and last pass, in the order of execution.
    lifetime: (usize, usize),
}

impl GraphCache {
    pub(super) fn storage(&mut self, gpu: &Gpu, name: &str, size: u64) -> GpuResult<Arc<Buffer>> {
        if let Some(buffer) = self.storages.get(name).filter(|buffer| buffer.size() >= size) {
            return Ok(Arc::clone(buffer));
        }
        let buffer = Buffer::new(gpu, name, size, BufferKind::Storage)?;
        self.storages.insert(name.into(), Arc::clone(&buffer));
        Ok(buffer)
    }

    /// True if a persistent image of this name, size and format has content from an earlier frame.
    #[must_use]
    pub fn holds(&self, name: &str, width: u32, height: u32, format: vk::Format) -> bool {
        self.kept.get(name).is_some_and(|kept| kept.info == (width, height, format))
    }

    pub(super) fn kept_state(&self, name: &str, kind: &Kind) -> State {
        let Kind::Persistent { width, height, format } = *kind else { return State::NEW };
        self.kept
            .get(name)
            .filter(|kept| kept.info == (width, height, format))
            .map_or(State::NEW, |kept| kept.state)
    }

    pub(super) fn keep(
        &mut self,
        gpu: &Gpu,
        name: &str,
        info: (u32, u32, vk::Format),
    ) -> GpuResult<Arc<Image>> {
        if let Some(kept) = self.kept.get(name).filter(|kept| kept.info == info) {
            return Ok(Arc::clone(&kept.image));
        }
        let (width, height, format) = info;
        let attachment = if format == vk::Format::D32_SFLOAT {
            vk::ImageUsageFlags::DEPTH_STENCIL_ATTACHMENT
        } else {
            vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::STORAGE
        };
        let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_SRC | attachment;
        let image = Image::new(gpu, name, ImageInfo { width, height, mips: 1, format, usage })?;
        self.kept.insert(name.into(), Kept { image: Arc::clone(&image), state: State::NEW, info });
        Ok(image)
    }

    pub(super) fn ensure_histories(&mut self, gpu: &Gpu, resources: &[Resource]) -> GpuResult<()> {
        for resource in resources {
            let Kind::History { key, width, height, format, .. } = &resource.kind else { continue };
            let info = (*width, *height, *format);
            if self.histories.get(key).is_some_and(|history| history.info == info) {
                continue;
            }
            let image = |slot: usize| {
                let usage = vk::ImageUsageFlags::SAMPLED
                    | vk::ImageUsageFlags::STORAGE
                    | vk::ImageUsageFlags::COLOR_ATTACHMENT
                    | vk::ImageUsageFlags::TRANSFER_SRC
                    | vk::ImageUsageFlags::TRANSFER_DST;
                let info =
                    ImageInfo { width: *width, height: *height, mips: 1, format: *format, usage };
                Image::new(gpu, &format!("{key} {slot}"), info)
            };
            let images = [image(0)?, image(1)?];
            // The state after `clear_new_histories`.
            let states = [Access::ColorWrite.state(); 2];
            self.histories.insert(key.clone(), History { images, states, info, fresh: true });
        }
        Ok(())
    }

    /// Clears new histories to zero, so that their first reader sees defined content.
    pub(super) fn clear_new_histories(&mut self, rec: &mut Recorder<'_>) {
        for history in self.histories.values_mut().filter(|history| history.fresh) {
            history.fresh = false;
            for (image, state) in history.images.iter().zip(&history.states) {
                let write = Access::ColorWrite.state();
                let barrier = ImageBarrier {
                    image,
                    from: (write.stages, vk::AccessFlags2::NONE, vk::ImageLayout::UNDEFINED),
                    to: (write.stages, write.access, write.layout),
                };
                rec.image_barriers(&[barrier]);
                let target = ColorTarget { image, clear: Some([0.0; 4]), integer: false };
                rec.begin_rendering(&[target], None);
                rec.end_rendering();
                debug_assert_eq!(*state, write, "a history was planned before it was cleared");
            }
        }
    }

    pub(super) fn allocate(
        &mut self,
        gpu: &Gpu,
        resources: &[Resource],
        passes: &[PassInfo],
        plan: &mut Plan,
    ) -> GpuResult<MemoryUse> {
        let mut usages = vec![vk::ImageUsageFlags::empty(); resources.len()];
        for &pass in &plan.order {
            for &(resource, access) in passes.get(pass).map_or(&[][..], |info| &info.uses) {
                usages[resource] |= access.usage();
            }
        }
        let wanted: Vec<Option<TransientUse>> = resources
            .iter()
            .zip(&plan.lifetimes)
            .zip(&usages)
            .map(|((resource, lifetime), &usage)| {
                let Kind::Transient { width, height, format } = resource.kind else { return None };
                let info = ImageInfo { width, height, mips: 1, format, usage };
                lifetime.map(|lifetime| TransientUse { info, lifetime })
            })
            .collect();
        if self.placed.as_ref() != Some(&wanted) {
            self.placed = None;
            self.place(gpu, resources, &wanted)?;
            self.placed = Some(wanted);
        }
        // The first use of an aliased image waits for the last uses of the images whose memory it
        // reuses. Otherwise it waits for the frame's start.
        for barriers in &mut plan.barriers {
            for barrier in barriers.iter_mut().filter(|barrier| barrier.from == State::NEW) {
                barrier.from.stages = barrier.to.stages;
                for &other in self.after.get(barrier.resource).map_or(&[][..], Vec::as_slice) {
                    let last = plan.last_states[other];
                    barrier.from.stages |= last.stages;
                    barrier.from.access |= last.access;
                }
            }
        }
        Ok(self.memory)
    }

    fn place(
        &mut self,
        gpu: &Gpu,
        resources: &[Resource],
        wanted: &[Option<TransientUse>],
    ) -> GpuResult<()> {
        self.transients = vec![None; resources.len()];
        self.after = vec![Vec::new(); resources.len()];
        let mut unbound = Vec::new();
        let mut needs = Vec::new();
        let mut type_bits = u32::MAX;
        let mut alignment = 1;
        for (index, (resource, wanted)) in resources.iter().zip(wanted).enumerate() {
            let Some(TransientUse { info, lifetime }) = *wanted else { continue };
            let image = Image::unbound(gpu, &resource.name, info)?;
            let requirements = image.requirements();
            type_bits &= requirements.memory_type_bits;
            alignment = alignment.max(requirements.alignment);
            needs.push(MemoryNeed {
                lifetime,
                size: requirements.size,
                alignment: requirements.alignment,
            });
            unbound.push((index, image));
        }
        if unbound.is_empty() {
            self.memory = MemoryUse::default();
            return Ok(());
        }
        let packing = plan::pack(&needs);
        if packing.total > gpu.max_allocation() {
            // Larger than the maximum allocation: each image gets its own block, without aliasing.
            for ((index, image), need) in unbound.into_iter().zip(&needs) {
                let block =
                    MemoryBlock::new(gpu, image.name(), need.size, need.alignment, type_bits)?;
                self.transients[index] = Some(image.place(&block, 0)?);
            }
            self.memory = MemoryUse { total: packing.unshared, unshared: packing.unshared };
            return Ok(());
        }
        let block = MemoryBlock::new(gpu, "transient images", packing.total, alignment, type_bits)?;
        let indices: Vec<usize> = unbound.iter().map(|&(index, _)| index).collect();
        for (slot, (index, image)) in unbound.into_iter().enumerate() {
            self.transients[index] = Some(image.place(&block, packing.offsets[slot])?);
            self.after[index] = packing.after[slot].iter().map(|&other| indices[other]).collect();
        }
        self.memory = MemoryUse { total: packing.total, unshared: packing.unshared };
        Ok(())
    }
}
