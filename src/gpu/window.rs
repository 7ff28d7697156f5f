//! Presentation in a window: surface and swapchain.
//!
//! The window system owns the images. The renderer acquires one per frame, draws the user interface
//! into it and presents it. Window changes (resized, minimized, closed) are returned as values;
//! only device loss and exhausted memory are errors.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use ash::{khr, vk};
use raw_window_handle::{HasDisplayHandle, HasWindowHandle};

use crate::camera::DisplayEncoding;

use super::{
    commands::{Recorder, Ticket},
    context::Gpu,
    error::{GpuError, GpuResult},
    fault_injection::FaultPoint,
    memory::{Image, ImageInfo},
    mutex::lock,
    surface_formats,
};

/// A window surface.
pub struct Surface {
    handle: vk::SurfaceKHR,
    loader: khr::surface::Instance,
    /// The instance that created it.
    _gpu: Gpu,
}

impl Surface {
    /// Creates the surface of a window; the device must have been opened for its display
    /// (`GpuOptions::display`).
    ///
    /// # Errors
    /// `GpuError::NoWindow` if the device cannot present to the window.
    pub fn new(gpu: &Gpu, window: &(impl HasWindowHandle + HasDisplayHandle)) -> GpuResult<Self> {
        let oops = |detail: String| GpuError::NoWindow { detail };
        let display = window.display_handle().map_err(|error| oops(error.to_string()))?.as_raw();
        let handle = window.window_handle().map_err(|error| oops(error.to_string()))?.as_raw();
        let loader = khr::surface::Instance::new(gpu.entry(), gpu.instance());
        // SAFETY: both handles belong to a live window, which the caller keeps longer than this
        // surface; the instance has the extensions of this display.
        let handle = unsafe {
            ash_window::create_surface(gpu.entry(), gpu.instance(), display, handle, None)
        }
        .map_err(|result| oops(format!("vkCreateSurfaceKHR: {result}")))?;
        let surface = Self { handle, loader, _gpu: gpu.clone() };
        // SAFETY: surface and device are alive; the queue family is the device's.
        let can_present = unsafe {
            surface.loader.get_physical_device_surface_support(
                gpu.info().handle,
                gpu.queue_family,
                surface.handle,
            )
        };
        if !can_present.unwrap_or(false) {
            return Err(oops(format!(
                "'{}' cannot present to this window; choose another --device",
                gpu.info().name
            )));
        }
        Ok(surface)
    }
}

impl Drop for Surface {
    fn drop(&mut self) {
        // SAFETY: the swapchain made from it holds it by `Arc` and is gone.
        unsafe { self.loader.destroy_surface(self.handle, None) };
    }
}

/// Acquired images in flight. One more than frames in flight, so that a semaphore's last use is
/// over when it is reused.
const ACQUIRES: usize = 3;

/// The images of a window surface.
pub struct Swapchain {
    surface: Arc<Surface>,
    loader: khr::swapchain::Device,
    handle: vk::SwapchainKHR,
    images: Vec<Arc<Image>>,
    acquired: [vk::Semaphore; ACQUIRES],
    drawn: Vec<vk::Semaphore>,
    next: AtomicU64,
    size: [u32; 2],
    format: vk::Format,
    encoding: DisplayEncoding,
    gpu: Gpu,
}

/// An acquired swapchain image, owned until it is presented.
pub struct Acquired {
    /// The image; its content is undefined.
    pub image: Arc<Image>,
    index: u32,
    wait: vk::Semaphore,
    signal: vk::Semaphore,
}

/// Result of presentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PresentResult {
    /// The image is presented.
    Yes,
    /// The window has changed: recreate the swapchain with `Swapchain::new` at the current size.
    Stale,
}

impl Swapchain {
    /// Creates a swapchain for a window of this size in pixels; `None` while it has no area, as
    /// when it is minimized. `hdr` requests an HDR format, which may be unavailable (see
    /// `encoding`). `old` is replaced.
    ///
    /// # Errors
    /// `GpuError`: out of memory; device loss; a surface that the window system removed.
    pub fn new(
        gpu: &Gpu,
        surface: &Arc<Surface>,
        size: [u32; 2],
        hdr: bool,
        old: Option<Self>,
    ) -> GpuResult<Option<Self>> {
        gpu.fault(FaultPoint::Image, "swapchain", "vkCreateSwapchainKHR")?;
        // The old images must not be in use. Swapchains are rarely recreated.
        gpu.wait_idle();
        let vk_oops = |call| move |result| GpuError::from_vk(call, "window", result);
        let physical = gpu.info().handle;
        // SAFETY: surface and device are alive.
        let (able, formats) = unsafe {
            (
                surface
                    .loader
                    .get_physical_device_surface_capabilities(physical, surface.handle)
                    .map_err(vk_oops("vkGetPhysicalDeviceSurfaceCapabilitiesKHR"))?,
                surface
                    .loader
                    .get_physical_device_surface_formats(physical, surface.handle)
                    .map_err(vk_oops("vkGetPhysicalDeviceSurfaceFormatsKHR"))?,
            )
        };
        let extent = match able.current_extent {
            vk::Extent2D { width: u32::MAX, .. } => vk::Extent2D {
                width: size[0].clamp(able.min_image_extent.width, able.max_image_extent.width),
                height: size[1].clamp(able.min_image_extent.height, able.max_image_extent.height),
            },
            extent => extent,
        };
        if extent.width == 0 || extent.height == 0 {
            return Ok(None);
        }
        let (format, encoding) = surface_formats::choose(&formats, hdr).ok_or_else(|| {
            GpuError::NoWindow { detail: "its surface offers no pixel format".into() }
        })?;
        let most = if able.max_image_count == 0 { u32::MAX } else { able.max_image_count };
        let loader = khr::swapchain::Device::new(gpu.instance(), &gpu.device);
        let alpha = [vk::CompositeAlphaFlagsKHR::OPAQUE, vk::CompositeAlphaFlagsKHR::INHERIT]
            .into_iter()
            .find(|&alpha| able.supported_composite_alpha.contains(alpha))
            .unwrap_or(vk::CompositeAlphaFlagsKHR::PRE_MULTIPLIED);
        let create = vk::SwapchainCreateInfoKHR::default()
            .surface(surface.handle)
            .min_image_count((able.min_image_count + 1).min(most))
            .image_format(format.format)
            .image_color_space(format.color_space)
            .image_extent(extent)
            .image_array_layers(1)
            .image_usage(vk::ImageUsageFlags::COLOR_ATTACHMENT)
            .image_sharing_mode(vk::SharingMode::EXCLUSIVE)
            .pre_transform(able.current_transform)
            .composite_alpha(alpha)
            // FIFO is always supported; it waits for vertical sync and never tears.
            .present_mode(vk::PresentModeKHR::FIFO)
            .clipped(true)
            .old_swapchain(old.as_ref().map_or(vk::SwapchainKHR::null(), |old| old.handle));
        // SAFETY: all that the create info points to lives through the call; the device is idle.
        let handle = unsafe { loader.create_swapchain(&create, None) }
            .map_err(vk_oops("vkCreateSwapchainKHR"))?;
        drop(old);
        let mut made = Self {
            surface: Arc::clone(surface),
            loader,
            handle,
            images: Vec::new(),
            acquired: [vk::Semaphore::null(); ACQUIRES],
            drawn: Vec::new(),
            next: AtomicU64::new(0),
            size: [extent.width, extent.height],
            format: format.format,
            encoding,
            gpu: gpu.clone(),
        };
        // SAFETY: the swapchain was just made.
        let images = unsafe { made.loader.get_swapchain_images(handle) }
            .map_err(vk_oops("vkGetSwapchainImagesKHR"))?;
        let semaphore = || {
            // SAFETY: the device is alive; `drop` destroys what was made, on an early return too.
            unsafe { gpu.device.create_semaphore(&vk::SemaphoreCreateInfo::default(), None) }
                .map_err(vk_oops("vkCreateSemaphore"))
        };
        for place in &mut made.acquired {
            *place = semaphore()?;
        }
        for (index, image) in images.into_iter().enumerate() {
            let info = ImageInfo {
                width: extent.width,
                height: extent.height,
                mips: 1,
                format: format.format,
                usage: vk::ImageUsageFlags::COLOR_ATTACHMENT,
            };
            made.images.push(Image::borrowed(gpu, &format!("window {index}"), info, image)?);
            made.drawn.push(semaphore()?);
        }
        Ok(Some(made))
    }

    /// Size in pixels: width, height.
    #[must_use]
    pub fn size(&self) -> [u32; 2] {
        self.size
    }

    /// Format of the images.
    #[must_use]
    pub fn format(&self) -> vk::Format {
        self.format
    }

    /// Encoding of the values in the images.
    #[must_use]
    pub fn encoding(&self) -> DisplayEncoding {
        self.encoding
    }

    /// The surface that it presents to.
    #[must_use]
    pub fn surface(&self) -> &Arc<Surface> {
        &self.surface
    }

    /// Acquires the next image to draw to; `None` if the window has changed and the swapchain must
    /// be recreated. At most two frames with acquired images may be in flight.
    ///
    /// # Errors
    /// `GpuError`: device loss; out of memory.
    pub fn acquire(&self) -> GpuResult<Option<Acquired>> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let wait = self.acquired[(number % ACQUIRES as u64) as usize];
        // Timeout of 10 s: a window system that returns no image for that long has hidden the
        // window.
        const ACQUIRE_TIMEOUT_NS: u64 = 10_000_000_000;
        // SAFETY: swapchain and semaphore are alive, and the semaphore's last wait is over
        // (`ACQUIRES`).
        let got = unsafe {
            self.loader.acquire_next_image(self.handle, ACQUIRE_TIMEOUT_NS, wait, vk::Fence::null())
        };
        let index = match got {
            Ok((index, _)) => index,
            Err(
                vk::Result::ERROR_OUT_OF_DATE_KHR
                | vk::Result::TIMEOUT
                | vk::Result::NOT_READY
                | vk::Result::ERROR_SURFACE_LOST_KHR,
            ) => return Ok(None),
            Err(result) => {
                return Err(GpuError::from_vk("vkAcquireNextImageKHR", "window", result));
            }
        };
        let at = index as usize;
        match (self.images.get(at), self.drawn.get(at)) {
            (Some(image), Some(&signal)) => {
                Ok(Some(Acquired { image: Arc::clone(image), index, wait, signal }))
            }
            _ => Ok(None),
        }
    }

    /// Submits the frame that drew to an acquired image, and presents the image.
    ///
    /// # Errors
    /// `GpuError`: device loss; out of memory.
    pub fn present(
        &self,
        rec: Recorder<'_>,
        acquired: &Acquired,
    ) -> GpuResult<(Ticket, PresentResult)> {
        let ticket = rec.submit_between(Some((acquired.wait, acquired.signal)))?;
        let (waits, swapchains, indices) = ([acquired.signal], [self.handle], [acquired.index]);
        let present = vk::PresentInfoKHR::default()
            .wait_semaphores(&waits)
            .swapchains(&swapchains)
            .image_indices(&indices);
        let queue = lock(&self.gpu.queue);
        // SAFETY: the queue is held; the frame that was just submitted signals the semaphore.
        let shown = unsafe { self.loader.queue_present(*queue, &present) };
        drop(queue);
        match shown {
            Ok(false) => Ok((ticket, PresentResult::Yes)),
            Ok(true)
            | Err(vk::Result::ERROR_OUT_OF_DATE_KHR | vk::Result::ERROR_SURFACE_LOST_KHR) => {
                Ok((ticket, PresentResult::Stale))
            }
            Err(result) => Err(GpuError::from_vk("vkQueuePresentKHR", "window", result)),
        }
    }
}

impl Drop for Swapchain {
    fn drop(&mut self) {
        self.gpu.wait_idle();
        self.images.clear();
        // SAFETY: the device is idle; the views of the images are gone or no longer used; null
        // handles are ignored.
        unsafe {
            for &semaphore in self.acquired.iter().chain(&self.drawn) {
                self.gpu.device.destroy_semaphore(semaphore, None);
            }
            self.loader.destroy_swapchain(self.handle, None);
        }
    }
}
