//! Commands that build and refit acceleration structures.

use std::sync::Arc;

use ash::vk;

use super::{BlasSet, Tlas, address, build_info, calls, geometry, instances};
use crate::gpu::{commands::Recorder, context::Gpu, error::GpuResult, memory::Buffer};

impl Recorder<'_> {
    /// Builds all BLASes or, with `update`, refits the moving ones to their triangles.
    ///
    /// # Errors
    /// [`GpuError`](crate::gpu::GpuError) if the device was opened without ray query.
    ///
    /// # Panics
    /// If the scratch memory is smaller than `BlasSet::scratch`, which is a programming error.
    pub fn build_blas(
        &mut self,
        blas_set: &Arc<BlasSet>,
        update: bool,
        scratch: &Arc<Buffer>,
    ) -> GpuResult<()> {
        assert!(
            scratch.size() >= blas_set.scratch(update),
            "'{}' is too small to build in",
            scratch.name()
        );
        self.keep(Arc::clone(blas_set) as _);
        self.keep(Arc::clone(scratch) as _);
        let gpu = self.gpu().clone();
        let query = calls(&gpu)?;
        let start = address(&gpu, scratch).next_multiple_of(query.scratch_alignment);
        let room = scratch.size() - query.scratch_alignment;
        let (mut batch, mut used) = (Vec::new(), 0);
        for (index, need) in blas_set.chosen(update) {
            if used + need > room && !batch.is_empty() {
                self.build_batch(&gpu, blas_set, update, &std::mem::take(&mut batch))?;
                // The next batch reuses the scratch memory.
                let of_build = vk::PipelineStageFlags2::ACCELERATION_STRUCTURE_BUILD_KHR;
                let write = vk::AccessFlags2::ACCELERATION_STRUCTURE_WRITE_KHR;
                let both = write | vk::AccessFlags2::ACCELERATION_STRUCTURE_READ_KHR;
                self.memory_barrier((of_build, write), (of_build, both));
                used = 0;
            }
            batch.push((index, start + used));
            used += need;
        }
        self.build_batch(&gpu, blas_set, update, &batch)
    }

    fn build_batch(
        &mut self,
        gpu: &Gpu,
        blas_set: &BlasSet,
        update: bool,
        batch: &[(usize, u64)],
    ) -> GpuResult<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let geometries: Vec<_> = batch
            .iter()
            .map(|&(index, _)| [geometry(gpu, &blas_set.triangles, &blas_set.ranges[index])])
            .collect();
        let infos: Vec<_> = batch
            .iter()
            .zip(&geometries)
            .map(|(&(index, scratch), geometries)| {
                let mut info = build_info(
                    vk::AccelerationStructureTypeKHR::BOTTOM_LEVEL,
                    blas_set.ranges[index].moves,
                    geometries,
                )
                .dst_acceleration_structure(blas_set.handles[index])
                .scratch_data(vk::DeviceOrHostAddressKHR { device_address: scratch });
                if update {
                    info = info
                        .mode(vk::BuildAccelerationStructureModeKHR::UPDATE)
                        .src_acceleration_structure(blas_set.handles[index]);
                }
                info
            })
            .collect();
        let ranges: Vec<_> = batch
            .iter()
            .map(|&(index, _)| {
                [vk::AccelerationStructureBuildRangeInfoKHR::default()
                    .primitive_count(blas_set.ranges[index].count)]
            })
            .collect();
        let ranges: Vec<&[_]> = ranges.iter().map(|range| &range[..]).collect();
        let (_, commands) = self.raw();
        // SAFETY: recording outside of rendering; structures, triangles and scratch memory are kept
        // until the frame is over, the ranges lie in the buffer, and the scratch memory is sized
        // and aligned for the batch.
        unsafe { calls(gpu)?.calls.cmd_build_acceleration_structures(commands, &infos, &ranges) };
        Ok(())
    }

    /// Builds a TLAS over BLASes that are built.
    ///
    /// # Errors
    /// [`GpuError`](crate::gpu::GpuError) if the device was opened without ray query.
    ///
    /// # Panics
    /// If the scratch memory is smaller than `Tlas::scratch`, which is a programming error.
    pub fn build_tlas(&mut self, top: &Arc<Tlas>, scratch: &Arc<Buffer>) -> GpuResult<()> {
        assert!(scratch.size() >= top.scratch, "'{}' is too small to build in", scratch.name());
        self.keep(Arc::clone(top) as _);
        self.keep(Arc::clone(scratch) as _);
        let gpu = self.gpu().clone();
        let query = calls(&gpu)?;
        let geometries = [instances(&gpu, &top.places)];
        let start = address(&gpu, scratch).next_multiple_of(query.scratch_alignment);
        let info = build_info(vk::AccelerationStructureTypeKHR::TOP_LEVEL, false, &geometries)
            .dst_acceleration_structure(top.handle)
            .scratch_data(vk::DeviceOrHostAddressKHR { device_address: start });
        let range =
            [vk::AccelerationStructureBuildRangeInfoKHR::default().primitive_count(top.count)];
        let (_, commands) = self.raw();
        // SAFETY: recording outside of rendering; all is kept until the frame is over, and the
        // lists were sized for the count.
        unsafe { query.calls.cmd_build_acceleration_structures(commands, &[info], &[&range]) };
        Ok(())
    }
}
