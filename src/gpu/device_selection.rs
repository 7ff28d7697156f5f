//! Device selection: describes and ranks every device, and takes the best suitable one.

use std::ffi::CStr;

use ash::vk;

use super::error::{GpuError, GpuResult};

/// Indirect draws with any first instance; without it culling runs on the host.
pub(super) const INDIRECT_FIRST_INSTANCE: &str = "indirect draws with a first instance";

/// Many indirect draws per call.
pub(super) const MULTI_DRAW_INDIRECT: &str = "multi-draw indirect";

/// Draws and dispatches that depend on a word of a buffer; without it frames cannot be interrupted.
pub(super) const CONDITIONAL_RENDERING: &str = "conditional rendering";

/// Ray query through acceleration structures.
pub const RAY_QUERY: &str = "ray query";

/// Extensions of ray query: acceleration structures, and deferred host operations, which they
/// require.
pub(super) const RAY_QUERY_EXTENSIONS: [&CStr; 3] = [
    ash::khr::acceleration_structure::NAME,
    ash::khr::ray_query::NAME,
    ash::khr::deferred_host_operations::NAME,
];

/// Description of a device and its missing features; `sunny16 doctor` prints it.
#[derive(Clone, Debug)]
pub struct DeviceInfo {
    /// Name of the device.
    pub name: String,
    /// The driver's name and version.
    pub driver: String,
    /// Supported Vulkan version as (major, minor, patch).
    pub api: (u32, u32, u32),
    /// Discrete, integrated, virtual or software (CPU).
    pub kind: vk::PhysicalDeviceType,
    /// Size in bytes of the largest device-local heap.
    pub memory: u64,
    /// Missing required features; empty if the device is suitable.
    pub missing: Vec<String>,
    /// Optional features by name, and whether the device supports them.
    pub optional: Vec<(&'static str, bool)>,
    pub(super) handle: vk::PhysicalDevice,
    pub(super) queue_family: u32,
}

impl DeviceInfo {
    /// True if the device supports an optional feature, by its name in `optional`.
    #[must_use]
    pub fn has(&self, feature: &str) -> bool {
        self.optional.iter().any(|&(what, has)| what == feature && has)
    }

    /// Rank among suitable devices; higher is better.
    fn rank(&self) -> u32 {
        match self.kind {
            vk::PhysicalDeviceType::DISCRETE_GPU => 4,
            vk::PhysicalDeviceType::INTEGRATED_GPU => 3,
            vk::PhysicalDeviceType::VIRTUAL_GPU => 2,
            vk::PhysicalDeviceType::CPU => 1,
            _ => 0,
        }
    }

    /// The device type in one word.
    #[must_use]
    pub fn kind_name(&self) -> &'static str {
        match self.kind {
            vk::PhysicalDeviceType::DISCRETE_GPU => "discrete",
            vk::PhysicalDeviceType::INTEGRATED_GPU => "integrated",
            vk::PhysicalDeviceType::VIRTUAL_GPU => "virtual",
            vk::PhysicalDeviceType::CPU => "software",
            _ => "other",
        }
    }
}

/// Describes every device, in the loader's order.
///
/// # Errors
/// [`GpuError`] if there is no loader or the instance cannot be created.
pub fn enumerate_devices() -> GpuResult<Vec<DeviceInfo>> {
    let entry = load_entry()?;
    let app = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
    let create = vk::InstanceCreateInfo::default().application_info(&app);
    // SAFETY: the create info and what it points to live through the call.
    let instance =
        unsafe { entry.create_instance(&create, None) }.map_err(|result| match result {
            vk::Result::ERROR_INCOMPATIBLE_DRIVER => GpuError::NoDevice,
            other => GpuError::from_vk("vkCreateInstance", "survey", other),
        })?;
    let devices = describe_all(&instance);
    // SAFETY: nothing made from this instance outlives this line.
    unsafe { instance.destroy_instance(None) };
    devices
}

pub(super) fn load_entry() -> GpuResult<ash::Entry> {
    // SAFETY: loading the system's Vulkan loader runs its initializers, which the platform vouches
    // for.
    unsafe { ash::Entry::load() }.map_err(|error| GpuError::NoLoader { detail: error.to_string() })
}

pub(super) fn describe_all(instance: &ash::Instance) -> GpuResult<Vec<DeviceInfo>> {
    // SAFETY: the instance is alive.
    let handles = unsafe { instance.enumerate_physical_devices() }
        .map_err(|result| GpuError::from_vk("vkEnumeratePhysicalDevices", "instance", result))?;
    Ok(handles.into_iter().map(|handle| describe(instance, handle)).collect())
}

fn describe(instance: &ash::Instance, handle: vk::PhysicalDevice) -> DeviceInfo {
    let mut driver = vk::PhysicalDeviceDriverProperties::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
    // SAFETY: the handle comes from this instance; the chain is made of live structures of matching
    // types.
    unsafe { instance.get_physical_device_properties2(handle, &mut properties) };
    let core = properties.properties;
    let name = text(&core.device_name);
    let driver = format!("{} {}", text(&driver.driver_name), text(&driver.driver_info));
    let api = (
        vk::api_version_major(core.api_version),
        vk::api_version_minor(core.api_version),
        vk::api_version_patch(core.api_version),
    );

    let mut missing = Vec::new();
    let mut optional = Vec::new();
    if core.api_version < vk::API_VERSION_1_3 {
        missing.push(format!("Vulkan 1.3 (it has {}.{}.{})", api.0, api.1, api.2));
    } else {
        let mut f13 = vk::PhysicalDeviceVulkan13Features::default();
        let mut f12 = vk::PhysicalDeviceVulkan12Features::default();
        let mut features =
            vk::PhysicalDeviceFeatures2::default().push_next(&mut f13).push_next(&mut f12);
        // SAFETY: as above; a 1.3 device knows all structures of the chain.
        unsafe { instance.get_physical_device_features2(handle, &mut features) };
        let base = features.features;
        for (has, what) in [
            (f13.dynamic_rendering, "dynamic rendering"),
            (f13.synchronization2, "synchronization2"),
            (f13.maintenance4, "maintenance4"),
            (f12.host_query_reset, "host query reset"),
            (f12.scalar_block_layout, "scalar block layout"),
            (base.independent_blend, "independent blend"),
            (base.fragment_stores_and_atomics, "fragment stores"),
            (base.shader_storage_image_extended_formats, "extended storage image formats"),
        ] {
            if has == vk::FALSE {
                missing.push(what.to_string());
            }
        }
        optional = vec![
            // Software drivers support it, but it makes shader compilation and every sample far
            // slower.
            (
                "anisotropic filtering",
                base.sampler_anisotropy == vk::TRUE
                    && core.device_type != vk::PhysicalDeviceType::CPU,
            ),
            ("block compression", base.texture_compression_bc == vk::TRUE),
            ("descriptor indexing", f12.descriptor_indexing == vk::TRUE),
            ("16-bit floats in shaders", f12.shader_float16 == vk::TRUE),
            (INDIRECT_FIRST_INSTANCE, base.draw_indirect_first_instance == vk::TRUE),
            (MULTI_DRAW_INDIRECT, base.multi_draw_indirect == vk::TRUE),
            (CONDITIONAL_RENDERING, offers_conditional_rendering(instance, handle)),
            (
                RAY_QUERY,
                f12.buffer_device_address == vk::TRUE && offers_ray_query(instance, handle),
            ),
        ];
    }
    if core.limits.max_per_stage_descriptor_storage_buffers < 8 {
        missing.push("8 storage buffers per stage".to_string());
    }
    // Needed by pass `ssr temporal` with debug outputs.
    if core.limits.max_per_stage_descriptor_storage_images < 14 {
        missing.push("14 storage images per stage".to_string());
    }
    // SAFETY: the handle comes from this instance.
    let families = unsafe { instance.get_physical_device_queue_family_properties(handle) };
    let wanted = vk::QueueFlags::GRAPHICS | vk::QueueFlags::COMPUTE;
    let family = families.iter().position(|family| family.queue_flags.contains(wanted));
    if family.is_none() {
        missing.push("a queue for graphics and compute".to_string());
    } else if family
        .and_then(|f| families.get(f))
        .is_some_and(|family| family.timestamp_valid_bits == 0)
    {
        missing.push("timestamps".to_string());
    }
    // SAFETY: the handle comes from this instance.
    let heaps = unsafe { instance.get_physical_device_memory_properties(handle) };
    let memory = heaps
        .memory_heaps
        .iter()
        .take(heaps.memory_heap_count as usize)
        .filter(|heap| heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL))
        .map(|heap| heap.size)
        .max()
        .unwrap_or(0);
    DeviceInfo {
        name,
        driver,
        api,
        kind: core.device_type,
        memory,
        missing,
        optional,
        handle,
        queue_family: family.unwrap_or(0) as u32,
    }
}

fn offers_conditional_rendering(instance: &ash::Instance, handle: vk::PhysicalDevice) -> bool {
    if !offers_extension(instance, handle, ash::ext::conditional_rendering::NAME) {
        return false;
    }
    let mut conditions = vk::PhysicalDeviceConditionalRenderingFeaturesEXT::default();
    let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut conditions);
    // SAFETY: the handle comes from this instance; the device has the extension that the chain's
    // structure belongs to.
    unsafe { instance.get_physical_device_features2(handle, &mut features) };
    conditions.conditional_rendering == vk::TRUE
}

/// True if the device has an extension.
fn offers_extension(instance: &ash::Instance, handle: vk::PhysicalDevice, name: &CStr) -> bool {
    // SAFETY: the handle comes from this instance.
    let Ok(extensions) = (unsafe { instance.enumerate_device_extension_properties(handle) }) else {
        return false;
    };
    extensions.iter().any(|one| one.extension_name_as_c_str() == Ok(name))
}

fn offers_ray_query(instance: &ash::Instance, handle: vk::PhysicalDevice) -> bool {
    if !RAY_QUERY_EXTENSIONS.iter().all(|name| offers_extension(instance, handle, name)) {
        return false;
    }
    let mut structures = vk::PhysicalDeviceAccelerationStructureFeaturesKHR::default();
    let mut query = vk::PhysicalDeviceRayQueryFeaturesKHR::default();
    let mut features =
        vk::PhysicalDeviceFeatures2::default().push_next(&mut structures).push_next(&mut query);
    // SAFETY: as above; the device has the extensions that the chain's structures belong to.
    unsafe { instance.get_physical_device_features2(handle, &mut features) };
    structures.acceleration_structure == vk::TRUE && query.ray_query == vk::TRUE
}

/// Chooses the device whose name contains `wanted` (in any case) or whose number it is; otherwise
/// the best suitable one.
pub(super) fn choose(devices: &[DeviceInfo], wanted: Option<&str>) -> GpuResult<DeviceInfo> {
    if devices.is_empty() {
        return Err(GpuError::NoDevice);
    }
    let chosen = match wanted {
        Some(text) => {
            let lower = text.to_lowercase();
            let by_number = text.parse::<usize>().ok().and_then(|number| devices.get(number));
            by_number
                .or_else(|| {
                    devices.iter().find(|device| device.name.to_lowercase().contains(&lower))
                })
                .ok_or_else(|| GpuError::NoSuchDevice {
                    wanted: text.into(),
                    found: devices
                        .iter()
                        .enumerate()
                        .map(|(number, device)| format!("{number}: {}", device.name))
                        .collect::<Vec<_>>()
                        .join(", "),
                })?
        }
        // `max_by_key` returns the last of equals; reversing keeps the loader's order.
        None => devices
            .iter()
            .rev()
            .max_by_key(|device| (device.missing.is_empty(), device.rank()))
            .ok_or(GpuError::NoDevice)?,
    };
    if chosen.missing.is_empty() {
        Ok(chosen.clone())
    } else {
        Err(GpuError::Unsuitable {
            device: chosen.name.clone(),
            missing: format!("it lacks {}", chosen.missing.join(", ")),
        })
    }
}

fn text(chars: &[std::ffi::c_char]) -> String {
    let bytes: Vec<u8> =
        chars.iter().take_while(|&&c| c != 0).map(|&c| c.to_ne_bytes()[0]).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(name: &str, kind: vk::PhysicalDeviceType, missing: &[&str]) -> DeviceInfo {
        DeviceInfo {
            name: name.into(),
            driver: String::new(),
            api: (1, 3, 0),
            kind,
            memory: 0,
            missing: missing.iter().map(ToString::to_string).collect(),
            optional: vec![],
            handle: vk::PhysicalDevice::null(),
            queue_family: 0,
        }
    }

    #[test]
    fn a_suitable_discrete_card_wins_and_a_lacking_one_does_not() {
        let devices = [
            device("Soft", vk::PhysicalDeviceType::CPU, &[]),
            device("Old", vk::PhysicalDeviceType::DISCRETE_GPU, &["synchronization2"]),
            device("Card", vk::PhysicalDeviceType::DISCRETE_GPU, &[]),
            device("Second card", vk::PhysicalDeviceType::DISCRETE_GPU, &[]),
        ];
        assert!(choose(&devices, None).is_ok_and(|d| d.name == "Card"));
        assert!(choose(&devices, Some("soft")).is_ok_and(|d| d.name == "Soft"));
        assert!(choose(&devices, Some("3")).is_ok_and(|d| d.name == "Second card"));
    }

    #[test]
    fn errors_name_what_is_there_and_what_lacks() {
        let devices = [device("Old", vk::PhysicalDeviceType::DISCRETE_GPU, &["synchronization2"])];
        let unknown = choose(&devices, Some("radeon"));
        assert!(matches!(unknown, Err(GpuError::NoSuchDevice { found, .. }) if found == "0: Old"));
        let lacking = choose(&devices, None);
        assert!(
            matches!(lacking, Err(GpuError::Unsuitable { missing, .. }) if missing.contains("synchronization2"))
        );
        assert!(matches!(choose(&[], None), Err(GpuError::NoDevice)));
    }
}
