//! Instance, device, queue and the state that all device objects share.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    ffi::{CStr, CString, c_void},
    ops::Deref,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use ash::{ext, khr, vk};
use gpu_allocator::vulkan::{Allocator, AllocatorCreateDesc};

use raw_window_handle::RawDisplayHandle;

use super::{
    compile_progress::{CompileLog, CompileProgress, PipelineTime},
    device_selection::{self, DeviceInfo},
    error::{GpuError, GpuResult},
    fault_injection::{Fault, FaultPoint},
    heap,
    mutex::lock,
    pipeline_cache,
    shader::Replacement,
    shared_layouts::SharedLayouts,
};

/// Ray tracing backend of shaders; both give the same hits (docs/bvh.md).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RayBackend {
    /// Ray query where hardware supports it, else the software BVH. Software drivers trace ray
    /// query about as fast as the software BVH, and compile its shaders more slowly.
    #[default]
    Auto,
    /// Software BVH.
    Software,
    /// Ray query; an error on a device without it.
    RayQuery,
}

impl RayBackend {
    /// Names that `parse` accepts.
    pub const NAMES: [&'static str; 3] = ["auto", "software", "query"];

    /// Parses a name of `NAMES`; `None` if it is unknown.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::NAMES
            .iter()
            .zip([Self::Auto, Self::Software, Self::RayQuery])
            .find(|(known, _)| **known == name)
            .map(|(_, m)| m)
    }
}

/// Options for opening a device.
#[derive(Clone, Debug, Default)]
pub struct GpuOptions {
    /// A part of the device's name, or its number; `None` takes the best.
    pub device: Option<String>,
    /// Enable the validation layer with synchronization validation; an error if it is not
    /// installed.
    pub validation: bool,
    /// Folder of the pipeline cache; `None` caches nothing.
    pub cache_dir: Option<PathBuf>,
    /// Display connection of the windows to present to; `None` renders to files only.
    pub display: Option<RawDisplayHandle>,
    /// Ray tracing backend.
    pub ray_backend: RayBackend,
    /// Faults to inject, for tests.
    pub faults: Vec<Fault>,
}

/// An open device, cheap to clone. It closes when the last clone and the last object created from
/// it are dropped.
#[derive(Clone)]
pub struct Gpu(Arc<Inner>);

impl Deref for Gpu {
    type Target = Inner;
    fn deref(&self) -> &Inner {
        &self.0
    }
}

/// Shared state of `Gpu`.
pub struct Inner {
    pub(super) device: ash::Device,
    pub(super) labels: Option<ext::debug_utils::Device>,
    pub(super) queue: Mutex<vk::Queue>,
    pub(super) queue_family: u32,
    allocator: Mutex<Option<Allocator>>,
    pub(super) layouts: Mutex<SharedLayouts>,
    /// Shader modules that replace built ones.
    pub(super) replaced: Mutex<Vec<Replacement>>,
    pub(super) pipeline_cache: vk::PipelineCache,
    pub(super) compiles: CompileLog,
    /// Number of pipelines whose compilation the cache file holds.
    saved_pipelines: Mutex<usize>,
    cache_file: Option<PathBuf>,
    info: DeviceInfo,
    limits: vk::PhysicalDeviceLimits,
    max_allocation: u64,
    anisotropy: bool,
    pub(super) ray_query: Option<RayQuery>,
    /// Functions of conditional rendering, if the device has it.
    pub(super) conditions: Option<ext::conditional_rendering::Device>,
    live: Arc<Mutex<Live>>,
    messages: Arc<Messages>,
    faults: Vec<Fault>,
    messenger: Option<(ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    instance: ash::Instance,
    entry: ash::Entry,
}

/// Functions and limits of acceleration structures.
pub(super) struct RayQuery {
    pub(super) calls: khr::acceleration_structure::Device,
    /// Alignment in bytes of scratch memory addresses; a power of two.
    pub(super) scratch_alignment: u64,
    /// Maximum number of instances of a TLAS.
    pub(super) max_instances: u64,
}

/// Validation messages, in order.
#[derive(Default)]
struct Messages {
    list: Mutex<Vec<String>>,
}

/// Names of all live objects, for leak reports.
#[derive(Default)]
struct Live {
    next: u64,
    names: BTreeMap<u64, String>,
}

/// Entry in the list of live objects; dropping it removes the entry.
pub(super) struct LiveEntry {
    id: u64,
    live: Arc<Mutex<Live>>,
}

impl Drop for LiveEntry {
    fn drop(&mut self) {
        lock(&self.live).names.remove(&self.id);
    }
}

const VALIDATION_LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

impl Gpu {
    /// Opens a device.
    ///
    /// # Errors
    /// [`GpuError`]: no loader, no device, a device without required features, or a validation
    /// layer that is not installed.
    pub fn open(options: &GpuOptions) -> GpuResult<Self> {
        let entry = device_selection::load_entry()?;
        let messages = Arc::new(Messages::default());
        let instance = create_instance(&entry, options)?;
        // From here on, early returns destroy the instance through the guard.
        let mut guard = InstanceGuard { instance: Some(instance), messenger: None };
        let Some(instance) = guard.instance.clone() else { return Err(GpuError::NoDevice) };
        guard.messenger = create_messenger(&entry, &instance, options.validation, &messages)?;

        let devices = device_selection::describe_all(&instance)?;
        let info = device_selection::choose(&devices, options.device.as_deref())?;
        if info.kind == vk::PhysicalDeviceType::CPU {
            heap::keep_freed_memory();
        }
        let rays = match options.ray_backend {
            RayBackend::Auto => {
                info.has(device_selection::RAY_QUERY) && info.kind != vk::PhysicalDeviceType::CPU
            }
            RayBackend::Software => false,
            RayBackend::RayQuery if !info.has(device_selection::RAY_QUERY) => {
                return Err(GpuError::Unsuitable {
                    device: info.name,
                    missing:
                        "it has no ray query; leave out '--rays query' to use the software BVH"
                            .into(),
                });
            }
            RayBackend::RayQuery => true,
        };
        let (device, anisotropy) =
            create_device(&instance, &info, (options.display.is_some(), rays))?;
        // SAFETY: the device was made with this queue family and one queue of it.
        let queue = unsafe { device.get_device_queue(info.queue_family, 0) };
        let mut maintenance = vk::PhysicalDeviceMaintenance3Properties::default();
        let mut structures = vk::PhysicalDeviceAccelerationStructurePropertiesKHR::default();
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut maintenance);
        if rays {
            properties = properties.push_next(&mut structures);
        }
        // SAFETY: the handle comes from this instance; the chain is made of live structures of
        // matching types.
        unsafe { instance.get_physical_device_properties2(info.handle, &mut properties) };
        let limits = properties.properties.limits;
        let ray_query = rays.then(|| RayQuery {
            calls: khr::acceleration_structure::Device::new(&instance, &device),
            scratch_alignment: u64::from(
                structures.min_acceleration_structure_scratch_offset_alignment,
            )
            .max(1),
            max_instances: structures.max_instance_count,
        });
        let conditions = info
            .has(device_selection::CONDITIONAL_RENDERING)
            .then(|| ext::conditional_rendering::Device::new(&instance, &device));
        let allocator = Allocator::new(&AllocatorCreateDesc {
            instance: instance.clone(),
            device: device.clone(),
            physical_device: info.handle,
            debug_settings: gpu_allocator::AllocatorDebugSettings::default(),
            buffer_device_address: rays,
            allocation_sizes: gpu_allocator::AllocationSizes::default(),
        });
        let allocator = match allocator {
            Ok(allocator) => allocator,
            Err(error) => {
                // SAFETY: nothing has been made from the device yet.
                unsafe { device.destroy_device(None) };
                return Err(GpuError::Vulkan {
                    call: "memory allocator",
                    what: error.to_string(),
                    result: vk::Result::ERROR_INITIALIZATION_FAILED,
                });
            }
        };
        let cache_file = options.cache_dir.as_ref().map(|dir| {
            // The window has a device for the interface beside that of the pictures.
            let part = if options.display.is_some() { "window-" } else { "" };
            dir.join(pipeline_cache::file_name(&instance, info.handle, part))
        });
        let pipeline_cache = pipeline_cache::load(&device, cache_file.as_deref());
        let labels = options.validation.then(|| ext::debug_utils::Device::new(&instance, &device));
        guard.instance = None;
        let messenger = guard.messenger.take();
        Ok(Self(Arc::new(Inner {
            queue: Mutex::new(queue),
            queue_family: info.queue_family,
            allocator: Mutex::new(Some(allocator)),
            layouts: Mutex::new(SharedLayouts::default()),
            replaced: Mutex::new(Vec::new()),
            pipeline_cache,
            compiles: CompileLog::default(),
            saved_pipelines: Mutex::new(0),
            cache_file,
            info,
            limits,
            max_allocation: maintenance.max_memory_allocation_size,
            anisotropy,
            ray_query,
            conditions,
            live: Arc::default(),
            messages,
            faults: options.faults.clone(),
            messenger,
            labels,
            device,
            instance,
            entry,
        })))
    }

    /// Sets the replacements for pipelines created from now on. Earlier replacements are dropped.
    pub fn replace_shaders(&self, modules: Vec<Replacement>) {
        *lock(&self.replaced) = modules;
    }
}

impl Inner {
    pub(super) fn entry(&self) -> &ash::Entry {
        &self.entry
    }

    pub(super) fn instance(&self) -> &ash::Instance {
        &self.instance
    }

    /// Name, driver and features of the device.
    #[must_use]
    pub fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// Vulkan limits of the device.
    pub fn limits(&self) -> &vk::PhysicalDeviceLimits {
        &self.limits
    }

    /// Maximum bytes of one memory allocation.
    #[must_use]
    pub fn max_allocation(&self) -> u64 {
        self.max_allocation
    }

    /// True if anisotropic filtering is supported.
    #[must_use]
    pub fn anisotropy(&self) -> bool {
        self.anisotropy
    }

    /// True if ray query is enabled: the device supports it and was opened with it.
    #[must_use]
    pub fn ray_query(&self) -> bool {
        self.ray_query.is_some()
    }

    /// True if indirect draws may have any first instance (`drawIndirectFirstInstance`).
    #[must_use]
    pub fn indirect_first_instance(&self) -> bool {
        self.info.has(device_selection::INDIRECT_FIRST_INSTANCE)
    }

    /// All warnings and errors of the validation layer so far.
    #[must_use]
    pub fn validation_messages(&self) -> Vec<String> {
        lock(&self.messages.list).clone()
    }

    /// Names of all live objects, sorted. Objects left at exit are leaks.
    #[must_use]
    pub fn live_objects(&self) -> Vec<String> {
        let mut names: Vec<String> = lock(&self.live).names.values().cloned().collect();
        names.sort();
        names
    }

    /// Bytes of device memory that objects occupy, and bytes reserved from the driver.
    #[must_use]
    pub fn memory_in_use(&self) -> (u64, u64) {
        lock(&self.allocator).as_ref().map_or((0, 0), |allocator| {
            let report = allocator.generate_report();
            (report.total_allocated_bytes, report.total_capacity_bytes)
        })
    }

    /// Bytes of device memory that objects occupy, summed by object name.
    #[must_use]
    pub fn memory_by_name(&self) -> BTreeMap<String, u64> {
        let report = lock(&self.allocator).as_ref().map(Allocator::generate_report);
        let mut sums = BTreeMap::new();
        for allocation in report.into_iter().flat_map(|report| report.allocations) {
            *sums.entry(allocation.name).or_insert(0) += allocation.size;
        }
        sums
    }

    /// Waits until the device is idle.
    pub fn wait_idle(&self) {
        let _queue = lock(&self.queue);
        // A lost device is idle too, so the result does not matter.
        // SAFETY: the device is alive, and the queue is locked.
        let _ = unsafe { self.device.device_wait_idle() };
    }

    /// Writes the pipeline cache to disk if pipelines were created since the last call. A failure
    /// only slows the next start, and is a remark.
    pub fn save_pipeline_cache(&self) {
        let Some(file) = &self.cache_file else { return };
        let mut saved = lock(&self.saved_pipelines);
        let count = self.compiles.count();
        if *saved == count {
            return;
        }
        *saved = count;
        if let Err(error) = pipeline_cache::save(&self.device, self.pipeline_cache, file) {
            self.remark(format!(
                "the pipeline cache could not be written to {}: {error}",
                file.display()
            ));
        }
    }

    /// Path of the pipeline cache; it exists once a driver has given data for it.
    #[must_use]
    pub fn pipeline_cache_file(&self) -> Option<&Path> {
        self.cache_file.as_deref()
    }

    /// Creation times of all pipelines so far, in the order in which they were finished.
    #[must_use]
    pub fn pipeline_times(&self) -> Vec<PipelineTime> {
        self.compiles.times()
    }

    /// Progress of shader compilation; `None` while nothing is compiled.
    #[must_use]
    pub fn compile_progress(&self) -> Option<CompileProgress> {
        self.compiles.progress()
    }

    /// Number of pipelines created so far, and of frames that first used pipelines. Frames between
    /// which it differs contain compilation.
    #[must_use]
    pub fn compilations(&self) -> usize {
        self.compiles.compilations()
    }

    /// Announces pipelines that are about to be created, for [`Inner::compile_progress`].
    pub fn announce_pipelines(&self, count: usize) {
        self.compiles.announce(count);
    }

    /// Adds a remark for the user, such as a pipeline that was replaced by a general one.
    pub fn remark(&self, text: String) {
        self.compiles.remark(text);
    }

    /// All remarks, each once.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        self.compiles.remarks()
    }

    pub(super) fn with_allocator<T>(
        &self,
        what: &str,
        bytes: u64,
        work: impl FnOnce(&mut Allocator) -> gpu_allocator::Result<T>,
    ) -> GpuResult<T> {
        let mut guard = lock(&self.allocator);
        let Some(allocator) = guard.as_mut() else {
            return Err(GpuError::from_vk("allocate", what, vk::Result::ERROR_DEVICE_LOST));
        };
        work(allocator).map_err(|error| match error {
            gpu_allocator::AllocationError::OutOfMemory => {
                GpuError::OutOfMemory { what: what.into(), memory: "device", bytes }
            }
            other => {
                GpuError::Pipeline { pipeline: what.into(), detail: format!("memory: {other}") }
            }
        })
    }

    /// Registers a live object and sets its debug name.
    pub(super) fn register<H: vk::Handle>(&self, handle: H, kind: &str, name: &str) -> LiveEntry {
        if let Some(labels) = &self.labels {
            let text = c_name(name);
            let info =
                vk::DebugUtilsObjectNameInfoEXT::default().object_handle(handle).object_name(&text);
            // SAFETY: the handle was made from this device, and the text lives through the call.
            let _ = unsafe { labels.set_debug_utils_object_name(&info) };
        }
        let mut live = lock(&self.live);
        let id = live.next;
        live.next += 1;
        live.names.insert(id, format!("{kind} '{name}'"));
        LiveEntry { id, live: Arc::clone(&self.live) }
    }

    /// Clears a debug name before its object is destroyed: validation layers 1.3.239 leak names of
    /// destroyed objects, some 700 bytes per frame.
    pub(super) fn forget_name<H: vk::Handle>(&self, handle: H) {
        if let Some(labels) = &self.labels {
            let info = vk::DebugUtilsObjectNameInfoEXT::default().object_handle(handle);
            // SAFETY: the handle was made from this device, and is not destroyed yet.
            let _ = unsafe { labels.set_debug_utils_object_name(&info) };
        }
    }

    /// Returns the injected fault for this call and object, if any.
    pub(super) fn fault(&self, point: FaultPoint, name: &str, call: &'static str) -> GpuResult<()> {
        match self.faults.iter().find(|fault| fault.point == point && name.contains(&fault.name)) {
            Some(fault) => Err(GpuError::from_vk(call, name, fault.result)),
            None => Ok(()),
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.wait_idle();
        // Also after an error, so that the next start need not compile these pipelines again.
        self.save_pipeline_cache();
        lock(&self.layouts).destroy(&self.device);
        // Freed before the device, which owns the allocator's memory.
        drop(lock(&self.allocator).take());
        // SAFETY: all objects made from the device hold a clone of `Gpu`, so that none is left when
        // this runs; what this type itself made is destroyed here in reverse order.
        unsafe {
            self.device.destroy_pipeline_cache(self.pipeline_cache, None);
            self.device.destroy_device(None);
            if let Some((loader, messenger)) = self.messenger.take() {
                loader.destroy_debug_utils_messenger(messenger, None);
            }
            self.instance.destroy_instance(None);
        }
    }
}

/// Destroys the objects made so far if opening fails.
struct InstanceGuard {
    instance: Option<ash::Instance>,
    messenger: Option<(ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
}

impl Drop for InstanceGuard {
    fn drop(&mut self) {
        if let Some(instance) = self.instance.take() {
            // SAFETY: made by `open`, which gave up before anything else was made from them.
            unsafe {
                if let Some((loader, messenger)) = self.messenger.take() {
                    loader.destroy_debug_utils_messenger(messenger, None);
                }
                instance.destroy_instance(None);
            }
        }
    }
}

pub(super) fn c_name(name: &str) -> CString {
    CString::new(name.replace('\0', " ")).unwrap_or_default()
}

fn create_instance(entry: &ash::Entry, options: &GpuOptions) -> GpuResult<ash::Instance> {
    let validation = options.validation;
    let app = vk::ApplicationInfo::default()
        .application_name(c"sunny16")
        .engine_name(c"sunny16")
        .api_version(vk::API_VERSION_1_3);
    let mut layers = Vec::new();
    let mut extensions = match options.display {
        Some(display) => surface_extensions(entry, display)?,
        None => Vec::new(),
    };
    if validation {
        // SAFETY: the loader is alive.
        let present = unsafe { entry.enumerate_instance_layer_properties() }.map_err(|result| {
            GpuError::from_vk("vkEnumerateInstanceLayerProperties", "loader", result)
        })?;
        if !present
            .iter()
            .any(|layer| layer.layer_name_as_c_str().is_ok_and(|name| name == VALIDATION_LAYER))
        {
            return Err(GpuError::NoValidationLayer);
        }
        layers.push(VALIDATION_LAYER.as_ptr());
        extensions.push(ext::debug_utils::NAME.as_ptr());
        extensions.push(ext::validation_features::NAME.as_ptr());
    }
    let enables = [vk::ValidationFeatureEnableEXT::SYNCHRONIZATION_VALIDATION];
    let mut features = vk::ValidationFeaturesEXT::default().enabled_validation_features(&enables);
    let mut create = vk::InstanceCreateInfo::default()
        .application_info(&app)
        .enabled_layer_names(&layers)
        .enabled_extension_names(&extensions);
    if validation {
        create = create.push_next(&mut features);
    }
    // SAFETY: all that the create info points to lives through the call.
    unsafe { entry.create_instance(&create, None) }.map_err(|result| match result {
        vk::Result::ERROR_INCOMPATIBLE_DRIVER => GpuError::NoDevice,
        other => GpuError::from_vk("vkCreateInstance", "sunny16", other),
    })
}

/// The instance extensions for a display's windows, and the one for color spaces beyond sRGB, if
/// present.
fn surface_extensions(
    entry: &ash::Entry,
    display: RawDisplayHandle,
) -> GpuResult<Vec<*const std::ffi::c_char>> {
    let needed = ash_window::enumerate_required_extensions(display).map_err(|_| {
        GpuError::NoWindow { detail: "this display type does not support Vulkan surfaces".into() }
    })?;
    // SAFETY: the loader is alive.
    let present =
        unsafe { entry.enumerate_instance_extension_properties(None) }.map_err(|result| {
            GpuError::from_vk("vkEnumerateInstanceExtensionProperties", "loader", result)
        })?;
    let colors = ext::swapchain_colorspace::NAME;
    let offers = present
        .iter()
        .any(|extension| extension.extension_name_as_c_str().is_ok_and(|name| name == colors));
    Ok(needed.iter().copied().chain(offers.then_some(colors.as_ptr())).collect())
}

type Messenger = (ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT);

fn create_messenger(
    entry: &ash::Entry,
    instance: &ash::Instance,
    validation: bool,
    messages: &Arc<Messages>,
) -> GpuResult<Option<Messenger>> {
    if !validation {
        return Ok(None);
    }
    let loader = ext::debug_utils::Instance::new(entry, instance);
    let severity = vk::DebugUtilsMessageSeverityFlagsEXT::WARNING
        | vk::DebugUtilsMessageSeverityFlagsEXT::ERROR;
    let types = vk::DebugUtilsMessageTypeFlagsEXT::GENERAL
        | vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION
        | vk::DebugUtilsMessageTypeFlagsEXT::PERFORMANCE;
    let create = vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(severity)
        .message_type(types)
        .pfn_user_callback(Some(on_message))
        .user_data(Arc::as_ptr(messages).cast_mut().cast::<c_void>());
    // SAFETY: the instance has the extension; `messages` is kept by `Inner` longer than the
    // messenger.
    let messenger =
        unsafe { loader.create_debug_utils_messenger(&create, None) }.map_err(|result| {
            GpuError::from_vk("vkCreateDebugUtilsMessengerEXT", "validation", result)
        })?;
    Ok(Some((loader, messenger)))
}

/// Callback that collects validation messages.
///
/// # Safety
/// Called by the driver with valid pointers; `user` is the `Messages` given at creation.
unsafe extern "system" fn on_message(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _types: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: see above; both pointers are valid during the call.
    let (messages, data) = unsafe { (&*user.cast::<Messages>(), &*data) };
    // SAFETY: the driver gives null or a C string.
    let text = unsafe { data.message_as_c_str() }.map_or(Cow::Borrowed(""), CStr::to_string_lossy);
    // SAFETY: as above.
    let id =
        unsafe { data.message_id_name_as_c_str() }.map_or(Cow::Borrowed(""), CStr::to_string_lossy);
    // The loader's own messages (such as a skipped driver file) are not the program's errors.
    if id != "Loader Message" {
        lock(&messages.list).push(format!("{severity:?} {id}: {text}"));
    }
    vk::FALSE
}

fn create_device(
    instance: &ash::Instance,
    info: &DeviceInfo,
    (shows, rays): (bool, bool),
) -> GpuResult<(ash::Device, bool)> {
    let priorities = [1.0];
    let queues = [vk::DeviceQueueCreateInfo::default()
        .queue_family_index(info.queue_family)
        .queue_priorities(&priorities)];
    let anisotropy = info.has("anisotropic filtering");
    let base = vk::PhysicalDeviceFeatures::default()
        .independent_blend(true)
        .fragment_stores_and_atomics(true)
        .sampler_anisotropy(anisotropy)
        .draw_indirect_first_instance(info.has(device_selection::INDIRECT_FIRST_INSTANCE))
        .multi_draw_indirect(info.has(device_selection::MULTI_DRAW_INDIRECT))
        .texture_compression_bc(info.has("block compression"));
    let mut f12 = vk::PhysicalDeviceVulkan12Features::default()
        .host_query_reset(true)
        .scalar_block_layout(true)
        .buffer_device_address(rays);
    let mut f13 = vk::PhysicalDeviceVulkan13Features::default()
        .dynamic_rendering(true)
        .synchronization2(true)
        .maintenance4(true);
    let mut structures =
        vk::PhysicalDeviceAccelerationStructureFeaturesKHR::default().acceleration_structure(true);
    let mut query = vk::PhysicalDeviceRayQueryFeaturesKHR::default().ray_query(true);
    let mut conditions =
        vk::PhysicalDeviceConditionalRenderingFeaturesEXT::default().conditional_rendering(true);
    let mut extensions = Vec::new();
    if shows {
        extensions.push(khr::swapchain::NAME.as_ptr());
    }
    if rays {
        extensions.extend(device_selection::RAY_QUERY_EXTENSIONS.map(CStr::as_ptr));
    }
    let conditional = info.has(device_selection::CONDITIONAL_RENDERING);
    if conditional {
        extensions.push(ext::conditional_rendering::NAME.as_ptr());
    }
    let mut create = vk::DeviceCreateInfo::default()
        .enabled_extension_names(&extensions)
        .queue_create_infos(&queues)
        .enabled_features(&base)
        .push_next(&mut f12)
        .push_next(&mut f13);
    if rays {
        create = create.push_next(&mut structures).push_next(&mut query);
    }
    if conditional {
        create = create.push_next(&mut conditions);
    }
    // SAFETY: the features were found present when the device was chosen; the chain lives through
    // the call.
    let device = unsafe { instance.create_device(info.handle, &create, None) }.map_err(
        |result| match result {
            vk::Result::ERROR_EXTENSION_NOT_PRESENT if shows => GpuError::NoWindow {
                detail: format!(
                    "'{}' does not support swapchains; choose another --device",
                    info.name
                ),
            },
            result => GpuError::from_vk("vkCreateDevice", &info.name, result),
        },
    )?;
    Ok((device, anisotropy))
}
