//! Acceleration structures, for rays of shaders by ray query (Vulkan, VK_KHR_acceleration_structure
//! and VK_KHR_ray_query): below, one over each range of a buffer of triangles; above, one over the
//! places where these stand.

use std::sync::Arc;

use ash::vk;
use bytemuck::{Pod, Zeroable};

use super::{
    commands::Recorder,
    context::{Gpu, LiveEntry, RayQuery},
    error::{GpuError, GpuResult},
    memory::{Buffer, BufferKind},
};

/// Bytes from a triangle's corner to its next: a position and a word that is not read.
pub const CORNER_BYTES: u64 = 16;

/// Bytes of a triangle.
pub const TRIANGLE_BYTES: u64 = 3 * CORNER_BYTES;

/// Where in its buffer a structure may begin (VkAccelerationStructureCreateInfoKHR, offset).
const STRUCTURE_ALIGNMENT: u64 = 256;

/// Scratch memory up to which builds are under way at once; one that needs more by itself gets it.
const SCRATCH: u64 = 32 << 20;

/// Triangles that lie one after another in a buffer, and are one structure.
#[derive(Clone, Copy, Debug)]
pub struct TriangleRange {
    /// Number of the first in the buffer.
    pub first: u32,
    /// How many.
    pub count: u32,
    /// All of each is there: no shader is asked about it.
    pub opaque: bool,
    /// The device moves them: the structure can be updated.
    pub moves: bool,
}

/// Bytes of scratch memory that one structure needs.
#[derive(Clone, Copy)]
struct ScratchNeed {
    build: u64,
    update: u64,
}

/// The lower level: one structure for each range, all in one buffer.
pub struct BlasSet {
    handles: Vec<vk::AccelerationStructureKHR>,
    addresses: Vec<u64>,
    needs: Vec<ScratchNeed>,
    ranges: Vec<TriangleRange>,
    buffer: Arc<Buffer>,
    triangles: Arc<Buffer>,
    gpu: Gpu,
    live: Vec<LiveEntry>,
}

/// Where one of the lower level stands.
#[derive(Clone, Copy, Debug)]
pub struct TlasInstance {
    /// Rows of the transform from its space to that of the rays.
    pub rows: [[f32; 4]; 3],
    /// Which one.
    pub bottom: u32,
    /// Rays meet it whose mask has a bit in common with this.
    pub mask: u8,
}

/// The upper level.
pub struct Tlas {
    pub(super) handle: vk::AccelerationStructureKHR,
    buffer: Arc<Buffer>,
    places: Arc<Buffer>,
    count: u32,
    scratch: u64,
    bottoms: Arc<BlasSet>,
    gpu: Gpu,
    _live: LiveEntry,
}

/// `VkAccelerationStructureInstanceKHR` as plain data.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct InstanceRecord {
    rows: [[f32; 4]; 3],
    /// Above a number of our choice, which is not used: the instance's index says all.
    mask: u32,
    /// Above an offset of ray-tracing pipelines.
    flags: u32,
    structure: u64,
}

fn calls(gpu: &Gpu) -> GpuResult<&RayQuery> {
    gpu.ray_query.as_ref().ok_or_else(|| GpuError::Unsuitable {
        device: gpu.info().name.clone(),
        missing: "it was opened without ray query".into(),
    })
}

fn address(gpu: &Gpu, buffer: &Buffer) -> u64 {
    let info = vk::BufferDeviceAddressInfo::default().buffer(buffer.handle);
    // SAFETY: the device was made with buffer device addresses, and the buffer with the usage.
    unsafe { gpu.device.get_buffer_device_address(&info) }
}

/// Scratch memory for builds that together need so much, from an address with the device's
/// alignment on.
fn aligned(gpu: &Gpu, bytes: u64) -> u64 {
    bytes + gpu.ray_query.as_ref().map_or(0, |query| query.scratch_alignment)
}

fn geometry(
    gpu: &Gpu,
    triangles: &Buffer,
    range: &TriangleRange,
) -> vk::AccelerationStructureGeometryKHR<'static> {
    let first = address(gpu, triangles) + u64::from(range.first) * TRIANGLE_BYTES;
    let data = vk::AccelerationStructureGeometryTrianglesDataKHR::default()
        .vertex_format(vk::Format::R32G32B32_SFLOAT)
        .vertex_data(vk::DeviceOrHostAddressConstKHR { device_address: first })
        .vertex_stride(CORNER_BYTES)
        .max_vertex(range.count.saturating_mul(3).saturating_sub(1))
        .index_type(vk::IndexType::NONE_KHR);
    vk::AccelerationStructureGeometryKHR::default()
        .geometry_type(vk::GeometryTypeKHR::TRIANGLES)
        .geometry(vk::AccelerationStructureGeometryDataKHR { triangles: data })
        .flags(if range.opaque {
            vk::GeometryFlagsKHR::OPAQUE
        } else {
            vk::GeometryFlagsKHR::empty()
        })
}

fn build_info<'a>(
    level: vk::AccelerationStructureTypeKHR,
    moves: bool,
    geometries: &'a [vk::AccelerationStructureGeometryKHR<'a>],
) -> vk::AccelerationStructureBuildGeometryInfoKHR<'a> {
    let update = vk::BuildAccelerationStructureFlagsKHR::ALLOW_UPDATE;
    let flags = vk::BuildAccelerationStructureFlagsKHR::PREFER_FAST_TRACE;
    vk::AccelerationStructureBuildGeometryInfoKHR::default()
        .ty(level)
        .flags(if moves { flags | update } else { flags })
        .geometries(geometries)
}

fn sizes(
    query: &RayQuery,
    info: &vk::AccelerationStructureBuildGeometryInfoKHR<'_>,
    count: u32,
) -> vk::AccelerationStructureBuildSizesInfoKHR<'static> {
    let mut sizes = vk::AccelerationStructureBuildSizesInfoKHR::default();
    // SAFETY: the device has the extension; one count for the one geometry.
    unsafe {
        query.calls.get_acceleration_structure_build_sizes(
            vk::AccelerationStructureBuildTypeKHR::DEVICE,
            info,
            &[count],
            &mut sizes,
        );
    }
    sizes
}

fn create(
    gpu: &Gpu,
    name: &str,
    level: vk::AccelerationStructureTypeKHR,
    (buffer, offset, size): (&Buffer, u64, u64),
) -> GpuResult<vk::AccelerationStructureKHR> {
    let create = vk::AccelerationStructureCreateInfoKHR::default()
        .buffer(buffer.handle)
        .offset(offset)
        .size(size)
        .ty(level);
    // SAFETY: the device has the extension; the buffer holds the range, which is aligned.
    unsafe { calls(gpu)?.calls.create_acceleration_structure(&create, None) }
        .map_err(|result| GpuError::from_vk("vkCreateAccelerationStructureKHR", name, result))
}

impl BlasSet {
    /// Structures over ranges of a buffer of triangles (`TRIANGLE_BYTES` each). They hold nothing
    /// before they are built.
    ///
    /// # Errors
    /// Out of memory; more than the device holds in one piece; a device that was opened without ray
    /// query.
    ///
    /// # Panics
    /// If a range does not lie in the buffer: broken logic.
    pub fn new(
        gpu: &Gpu,
        name: &str,
        triangles: &Arc<Buffer>,
        ranges: Vec<TriangleRange>,
    ) -> GpuResult<Arc<Self>> {
        let query = calls(gpu)?;
        let level = vk::AccelerationStructureTypeKHR::BOTTOM_LEVEL;
        let (mut end, mut slots, mut needs) = (0, Vec::new(), Vec::new());
        for range in &ranges {
            let beyond = (u64::from(range.first) + u64::from(range.count)) * TRIANGLE_BYTES;
            assert!(
                beyond <= triangles.size(),
                "triangles up to byte {beyond} of '{}'",
                triangles.name()
            );
            let geometries = [geometry(gpu, triangles, range)];
            let sizes = sizes(query, &build_info(level, range.moves, &geometries), range.count);
            slots.push((end, sizes.acceleration_structure_size));
            end = (end + sizes.acceleration_structure_size).next_multiple_of(STRUCTURE_ALIGNMENT);
            needs.push(ScratchNeed {
                build: sizes.build_scratch_size,
                update: sizes.update_scratch_size,
            });
        }
        if end > gpu.max_allocation() {
            return Err(GpuError::TooLarge {
                what: format!("acceleration structures '{name}'"),
                requested: format!("{end} bytes"),
                limit: format!("{} bytes", gpu.max_allocation()),
                device: gpu.info().name.clone(),
                remedy: "use '--rays trees' or a simpler scene",
            });
        }
        let buffer = Buffer::new(gpu, name, end, BufferKind::Acceleration)?;
        // From here on dropping it destroys what was made.
        let mut this = Self {
            handles: Vec::new(),
            addresses: Vec::new(),
            needs,
            ranges,
            buffer,
            triangles: Arc::clone(triangles),
            gpu: gpu.clone(),
            live: Vec::new(),
        };
        for (index, (offset, size)) in slots.into_iter().enumerate() {
            let handle = create(gpu, name, level, (&this.buffer, offset, size))?;
            this.handles.push(handle);
            this.live.push(gpu.register(
                handle,
                "acceleration structure",
                &format!("{name} {index}"),
            ));
            let info = vk::AccelerationStructureDeviceAddressInfoKHR::default()
                .acceleration_structure(handle);
            // SAFETY: the structure was made from this device.
            this.addresses
                .push(unsafe { query.calls.get_acceleration_structure_device_address(&info) });
        }
        Ok(Arc::new(this))
    }

    /// What they lie in.
    #[must_use]
    pub fn buffer(&self) -> &Arc<Buffer> {
        &self.buffer
    }

    fn chosen(&self, update: bool) -> impl Iterator<Item = (usize, u64)> {
        let alignment = self.gpu.ray_query.as_ref().map_or(1, |query| query.scratch_alignment);
        let of = move |need: &ScratchNeed| {
            if update { need.update } else { need.build }.next_multiple_of(alignment)
        };
        let ranges = self.ranges.iter().zip(&self.needs).enumerate();
        ranges
            .filter(move |(_, (range, _))| !update || range.moves)
            .map(move |(index, (_, need))| (index, of(need)))
    }

    /// Bytes of scratch memory for building all or, with `update`, for updating those that move.
    #[must_use]
    pub fn scratch(&self, update: bool) -> u64 {
        let (sum, most) =
            self.chosen(update).fold((0, 0), |(sum, most), (_, need)| (sum + need, need.max(most)));
        aligned(&self.gpu, most.max(sum.min(SCRATCH)))
    }
}

impl Drop for BlasSet {
    fn drop(&mut self) {
        let Some(query) = &self.gpu.ray_query else { return };
        for &handle in &self.handles {
            // SAFETY: users hold an `Arc` until the device has finished with the structures; their
            // buffer goes after them.
            unsafe { query.calls.destroy_acceleration_structure(handle, None) };
        }
    }
}

impl Tlas {
    /// A structure over places; an index among them is the instance's number in shaders. It holds
    /// nothing before it is built.
    ///
    /// # Errors
    /// Out of memory; more places than the device takes; a device that was opened without ray
    /// query.
    pub fn new(
        gpu: &Gpu,
        name: &str,
        bottoms: &Arc<BlasSet>,
        places: &[TlasInstance],
    ) -> GpuResult<Arc<Self>> {
        let query = calls(gpu)?;
        let count = u32::try_from(places.len()).unwrap_or(u32::MAX);
        if u64::from(count) > query.max_instances {
            return Err(GpuError::TooLarge {
                what: format!("acceleration structure '{name}'"),
                requested: format!("{} instances", places.len()),
                limit: format!("{} instances", query.max_instances),
                device: gpu.info().name.clone(),
                remedy: "use '--rays trees' or a simpler scene",
            });
        }
        let records: Vec<InstanceRecord> = places
            .iter()
            .map(|place| InstanceRecord {
                rows: place.rows,
                mask: u32::from(place.mask) << 24,
                flags: 0,
                // A structure that is not there is address 0: an instance that nothing meets.
                structure: bottoms.addresses.get(place.bottom as usize).copied().unwrap_or(0),
            })
            .collect();
        let bytes: &[u8] = bytemuck::cast_slice(&records);
        // Instances begin at multiples of sixteen bytes, which a buffer of their own does.
        let of_places = format!("{name}, instances");
        let list =
            Buffer::new(gpu, &of_places, bytes.len() as u64, BufferKind::AccelerationInstances)?;
        list.write(0, bytes);
        let level = vk::AccelerationStructureTypeKHR::TOP_LEVEL;
        let geometries = [instances(gpu, &list)];
        let sizes = sizes(query, &build_info(level, false, &geometries), count);
        let size = sizes.acceleration_structure_size;
        let buffer = Buffer::new(gpu, name, size, BufferKind::Acceleration)?;
        let handle = create(gpu, name, level, (&buffer, 0, size))?;
        let live = gpu.register(handle, "acceleration structure", name);
        Ok(Arc::new(Self {
            handle,
            buffer,
            places: list,
            count,
            scratch: aligned(gpu, sizes.build_scratch_size),
            bottoms: Arc::clone(bottoms),
            gpu: gpu.clone(),
            _live: live,
        }))
    }

    /// What it lies in.
    #[must_use]
    pub fn buffer(&self) -> &Arc<Buffer> {
        &self.buffer
    }

    /// What stands in its places.
    #[must_use]
    pub fn bottoms(&self) -> &Arc<BlasSet> {
        &self.bottoms
    }

    /// Bytes of scratch memory that its build needs.
    #[must_use]
    pub fn scratch(&self) -> u64 {
        self.scratch
    }
}

impl Drop for Tlas {
    fn drop(&mut self) {
        let Some(query) = &self.gpu.ray_query else { return };
        // SAFETY: users hold an `Arc` until the device has finished with the structure; its buffer
        // goes after it.
        unsafe { query.calls.destroy_acceleration_structure(self.handle, None) };
    }
}

fn instances(gpu: &Gpu, list: &Buffer) -> vk::AccelerationStructureGeometryKHR<'static> {
    let data = vk::AccelerationStructureGeometryInstancesDataKHR::default()
        .data(vk::DeviceOrHostAddressConstKHR { device_address: address(gpu, list) });
    vk::AccelerationStructureGeometryKHR::default()
        .geometry_type(vk::GeometryTypeKHR::INSTANCES)
        .geometry(vk::AccelerationStructureGeometryDataKHR { instances: data })
}

impl Recorder<'_> {
    /// Builds all structures of a lower level or, with `update`, takes over the triangles of those
    /// that move.
    ///
    /// # Errors
    /// A device that was opened without ray query.
    ///
    /// # Panics
    /// If the scratch memory is smaller than `BlasSet::scratch` says: broken logic.
    pub fn build_blas(
        &mut self,
        bottoms: &Arc<BlasSet>,
        update: bool,
        scratch: &Arc<Buffer>,
    ) -> GpuResult<()> {
        assert!(
            scratch.size() >= bottoms.scratch(update),
            "'{}' is too small to build in",
            scratch.name()
        );
        self.keep(Arc::clone(bottoms) as _);
        self.keep(Arc::clone(scratch) as _);
        let gpu = self.gpu().clone();
        let query = calls(&gpu)?;
        let start = address(&gpu, scratch).next_multiple_of(query.scratch_alignment);
        let room = scratch.size() - query.scratch_alignment;
        let (mut batch, mut used) = (Vec::new(), 0);
        for (index, need) in bottoms.chosen(update) {
            if used + need > room && !batch.is_empty() {
                self.build_batch(&gpu, bottoms, update, &std::mem::take(&mut batch))?;
                // The next batch writes the same scratch memory.
                let of_build = vk::PipelineStageFlags2::ACCELERATION_STRUCTURE_BUILD_KHR;
                let write = vk::AccessFlags2::ACCELERATION_STRUCTURE_WRITE_KHR;
                let both = write | vk::AccessFlags2::ACCELERATION_STRUCTURE_READ_KHR;
                self.memory_barrier((of_build, write), (of_build, both));
                used = 0;
            }
            batch.push((index, start + used));
            used += need;
        }
        self.build_batch(&gpu, bottoms, update, &batch)
    }

    fn build_batch(
        &mut self,
        gpu: &Gpu,
        bottoms: &BlasSet,
        update: bool,
        batch: &[(usize, u64)],
    ) -> GpuResult<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let geometries: Vec<_> = batch
            .iter()
            .map(|&(index, _)| [geometry(gpu, &bottoms.triangles, &bottoms.ranges[index])])
            .collect();
        let infos: Vec<_> = batch
            .iter()
            .zip(&geometries)
            .map(|(&(index, scratch), geometries)| {
                let mut info = build_info(
                    vk::AccelerationStructureTypeKHR::BOTTOM_LEVEL,
                    bottoms.ranges[index].moves,
                    geometries,
                )
                .dst_acceleration_structure(bottoms.handles[index])
                .scratch_data(vk::DeviceOrHostAddressKHR { device_address: scratch });
                if update {
                    info = info
                        .mode(vk::BuildAccelerationStructureModeKHR::UPDATE)
                        .src_acceleration_structure(bottoms.handles[index]);
                }
                info
            })
            .collect();
        let ranges: Vec<_> = batch
            .iter()
            .map(|&(index, _)| {
                [vk::AccelerationStructureBuildRangeInfoKHR::default()
                    .primitive_count(bottoms.ranges[index].count)]
            })
            .collect();
        let ranges: Vec<&[_]> = ranges.iter().map(|range| &range[..]).collect();
        let (_, commands) = self.raw();
        // SAFETY: recording outside of rendering; structures, triangles and scratch memory are kept
        // until the frame is over, the ranges lie in the buffer, and scratch memory was sized and
        // aligned for the batch.
        unsafe { calls(gpu)?.calls.cmd_build_acceleration_structures(commands, &infos, &ranges) };
        Ok(())
    }

    /// Builds an upper level, over a lower one that is built.
    ///
    /// # Errors
    /// A device that was opened without ray query.
    ///
    /// # Panics
    /// If the scratch memory is smaller than `Tlas::scratch` says: broken logic.
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
