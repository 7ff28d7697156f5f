//! Acceleration structures for ray query (Vulkan, VK_KHR_acceleration_structure and
//! VK_KHR_ray_query): a BLAS for each range of a triangle buffer, and a TLAS over their instances.

mod build;

use std::sync::Arc;

use ash::vk;
use bytemuck::{Pod, Zeroable};

use super::{
    context::{Gpu, LiveEntry, RayQuery},
    error::{GpuError, GpuResult},
    memory::{Buffer, BufferKind},
};

/// Bytes from one triangle corner to the next: a position and an unused word.
const CORNER_BYTES: u64 = 16;

/// Bytes per triangle.
const TRIANGLE_BYTES: u64 = 3 * CORNER_BYTES;

/// Alignment in bytes of a structure in its buffer (VkAccelerationStructureCreateInfoKHR, offset).
const STRUCTURE_ALIGNMENT: u64 = 256;

/// Scratch memory in bytes of one batch of concurrent builds; a single build that needs more gets
/// it.
const SCRATCH: u64 = 32 << 20;

/// Consecutive triangles in a buffer that form one BLAS.
#[derive(Clone, Copy, Debug)]
pub struct TriangleRange {
    /// Index of the first triangle in the buffer.
    pub first: u32,
    /// Number of triangles.
    pub count: u32,
    /// All triangles are opaque: hits need no alpha test in the shader.
    pub opaque: bool,
    /// The device moves the triangles, so that the BLAS supports updates.
    pub moves: bool,
}

/// Scratch memory in bytes of one structure, for builds and updates.
#[derive(Clone, Copy)]
struct ScratchNeed {
    build: u64,
    update: u64,
}

/// Bottom-level acceleration structures (BLAS), one for each range, in one buffer.
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

/// An instance of a BLAS.
#[derive(Clone, Copy, Debug)]
pub struct TlasInstance {
    /// Rows of the transform from object space to ray space.
    pub rows: [[f32; 4]; 3],
    /// Index of the BLAS.
    pub blas: u32,
    /// Instance mask: rays can hit the instance if their mask shares a bit with it.
    pub mask: u8,
}

/// Top-level acceleration structure (TLAS).
pub struct Tlas {
    pub(super) handle: vk::AccelerationStructureKHR,
    buffer: Arc<Buffer>,
    places: Arc<Buffer>,
    count: u32,
    scratch: u64,
    blas_set: Arc<BlasSet>,
    gpu: Gpu,
    _live: LiveEntry,
}

/// `VkAccelerationStructureInstanceKHR` as plain data.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct InstanceRecord {
    rows: [[f32; 4]; 3],
    /// Mask in the upper 8 bits. The lower 24 are the custom index, which is unused: shaders use
    /// the instance's index.
    mask: u32,
    /// Flags in the upper 8 bits. The lower 24 are the shader binding table offset, which ray query
    /// ignores.
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

/// Size of a scratch buffer with room to align its start.
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
    /// Creates structures over ranges of a buffer of triangles (`TRIANGLE_BYTES` each). They are
    /// empty before they are built.
    ///
    /// # Errors
    /// [`GpuError`]: out of memory; a size above the device's allocation limit; a device opened
    /// without ray query.
    ///
    /// # Panics
    /// If a range exceeds the buffer, which is a programming error.
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
                remedy: "use '--rays software' or a simpler scene",
            });
        }
        let buffer = Buffer::new(gpu, name, end, BufferKind::Acceleration)?;
        // From here on, dropping `this` destroys the structures created so far.
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

    /// The buffer that holds the structures.
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

    /// Scratch memory in bytes for building all structures or, with `update`, for updating the
    /// moving ones.
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
    /// Creates a TLAS over instances; shaders see an instance's index in `places`. It is empty
    /// before it is built.
    ///
    /// # Errors
    /// [`GpuError`]: out of memory; more instances than the device supports; a device opened
    /// without ray query.
    pub fn new(
        gpu: &Gpu,
        name: &str,
        blas_set: &Arc<BlasSet>,
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
                remedy: "use '--rays software' or a simpler scene",
            });
        }
        let records: Vec<InstanceRecord> = places
            .iter()
            .map(|place| InstanceRecord {
                rows: place.rows,
                mask: u32::from(place.mask) << 24,
                flags: 0,
                // A missing structure has address 0: rays never hit such an instance.
                structure: blas_set.addresses.get(place.blas as usize).copied().unwrap_or(0),
            })
            .collect();
        let bytes: &[u8] = bytemuck::cast_slice(&records);
        // Instances are aligned to 16 bytes, which a separate buffer provides.
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
            blas_set: Arc::clone(blas_set),
            gpu: gpu.clone(),
            _live: live,
        }))
    }

    /// The buffer that holds the structure.
    #[must_use]
    pub fn buffer(&self) -> &Arc<Buffer> {
        &self.buffer
    }

    /// The BLASes of the instances.
    #[must_use]
    pub fn blas_set(&self) -> &Arc<BlasSet> {
        &self.blas_set
    }

    /// Scratch memory in bytes of a build.
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
