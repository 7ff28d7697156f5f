//! Irradiance volume of a scene on the device: maps and states of its probes
//! (docs/irradiance-volumes.md). All light is absolute: an exposure step changes nothing stored.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Arc, Mutex, PoisonError},
};

use glam::DVec3;

use super::{
    probe_grid::{IRRADIANCE_TEXELS, MAX_PROBES, ProbeGrid, VISIBILITY_TEXELS},
    probe_schedule::{ProbeScene, ProbeSchedule},
};
use crate::{
    gpu::{
        Gpu, GpuError, GpuResult, Image, ImageInfo,
        shader_structs::{
            gi_probes::{PROBES_SKY, PROBES_SPECULAR, ProbeUpdateConstants, ProbeVolumeConstants},
            rays::TraceRay,
        },
        vk,
    },
    graph::SharedImage,
    settings::GiSettings,
};

/// Irradiance (lx by channel). 32-bit floats hold any light without exposure.
const IRRADIANCE: vk::Format = vk::Format::R32G32B32A32_SFLOAT;
/// Weighted sums of distance and squared distance, over their maximum, and of the weights.
const VISIBILITY: vk::Format = vk::Format::R16G16B16A16_SFLOAT;
/// Offset of a probe, and its state (`shaders/lib/gi_probes.glsl`).
const STATE: vk::Format = vk::Format::R32G32B32A32_SFLOAT;
/// Texels of a border, on both sides.
const BORDERS: u32 = 2;

/// An irradiance volume on the device.
pub struct IrradianceVolume {
    /// Positions of its probes.
    pub grid: ProbeGrid,
    /// `gi.probe_spacing`, as set.
    wanted: Option<f64>,
    /// Bounds (m) that it was made for.
    bounds: (DVec3, DVec3),
    /// Octahedral irradiance maps with borders.
    pub irradiance: Arc<SharedImage>,
    /// Octahedral visibility maps with borders.
    pub visibility: Arc<SharedImage>,
    /// Offsets and states of the probes, a texel each.
    pub states: Arc<SharedImage>,
    schedule: Mutex<ProbeSchedule>,
    /// Rays whose buffer the device binds at most.
    max_rays: u32,
}

impl IrradianceVolume {
    /// A volume over these bounds (m) without light. `spacing` (m): `gi.probe_spacing`.
    ///
    /// # Errors
    /// `GpuError::TooLarge` if the spacing gives more probes than `MAX_PROBES` or than the device's
    /// images hold, another `GpuError` if memory runs out.
    pub fn new(gpu: &Gpu, bounds: (DVec3, DVec3), spacing: Option<f64>) -> GpuResult<Arc<Self>> {
        let too_large = |requested: String, limit: String| GpuError::TooLarge {
            what: "irradiance volume".into(),
            requested,
            limit,
            device: gpu.info().name.clone(),
            remedy: "raise gi.probe_spacing, or unset it",
        };
        let grid = ProbeGrid::new(bounds, spacing).map_err(|many| {
            too_large(
                format!("{} probes", many.probes),
                format!(
                    "{MAX_PROBES}, which fit at gi.probe_spacing={:.3}",
                    (many.fits_at * 1e3).ceil() * 1e-3
                ),
            )
        })?;
        let (columns, rows) = (grid.columns(), grid.rows());
        let side = VISIBILITY_TEXELS + BORDERS;
        let most = gpu.limits().max_image_dimension2_d / side;
        if columns.max(rows) > most {
            return Err(too_large(format!("{columns}x{rows} probes"), format!("{most}x{most}")));
        }
        let image = |name: &str, texels: u32, format| -> GpuResult<Arc<SharedImage>> {
            let usage = vk::ImageUsageFlags::STORAGE
                | vk::ImageUsageFlags::SAMPLED
                | vk::ImageUsageFlags::TRANSFER_SRC;
            let (width, height) = (columns * texels, rows * texels);
            let info = ImageInfo { width, height, mips: 1, format, usage };
            Ok(SharedImage::new(Image::new(gpu, name, info)?))
        };
        Ok(Arc::new(Self {
            grid,
            wanted: spacing,
            bounds,
            irradiance: image("probe irradiance", IRRADIANCE_TEXELS + BORDERS, IRRADIANCE)?,
            visibility: image("probe visibility", side, VISIBILITY)?,
            states: image("probe states", 1, STATE)?,
            schedule: Mutex::default(),
            max_rays: gpu.limits().max_storage_buffer_range / size_of::<TraceRay>() as u32,
        }))
    }

    /// True if it fits these bounds (m) and settings: things that move within the bounds keep it.
    #[must_use]
    pub fn fits(&self, bounds: (DVec3, DVec3), settings: &GiSettings) -> bool {
        let slack = 0.5 * self.grid.spacing;
        self.wanted == settings.probe_spacing
            && bounds.0.cmpge(self.bounds.0 - slack).all()
            && bounds.1.cmple(self.bounds.1 + slack).all()
    }

    /// Bytes of its images.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let images = [&self.irradiance, &self.visibility, &self.states];
        let texels = images.map(|shared| {
            let info = shared.image().info();
            u64::from(info.width)
                * u64::from(info.height)
                * crate::gpu::readback::texel_size(info.format)
        });
        texels.iter().sum()
    }

    /// Constants of the shaders for a camera position (m). `specular`: the passes compute specular
    /// light. `sky`: rays see the environment.
    #[must_use]
    pub fn constants(&self, camera: DVec3, specular: bool, sky: bool) -> ProbeVolumeConstants {
        let flags = [(sky, PROBES_SKY), (specular, PROBES_SPECULAR)];
        ProbeVolumeConstants {
            origin: (self.grid.origin - camera).as_vec3(),
            spacing: self.grid.spacing as f32,
            counts: self.grid.counts.to_array(),
            columns: self.grid.columns(),
            max_distance: self.grid.max_distance() as f32,
            flags: flags.iter().filter(|(on, _)| *on).fold(0, |bits, (_, bit)| bits | bit),
        }
    }

    /// True if no update has run.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.locked().is_new()
    }

    /// The update of the next frame, if the volume has not converged; advances its schedule.
    #[must_use]
    pub fn next_update(&self, scene: ProbeScene, budget: u32) -> Vec<ProbeUpdateConstants> {
        self.locked()
            .frame(scene, self.grid.probes(), budget.min(self.max_rays))
            .into_iter()
            .collect()
    }

    /// The update of the next frame as `next_update`, without advancing.
    #[must_use]
    pub fn planned_update(&self, scene: ProbeScene, budget: u32) -> Vec<ProbeUpdateConstants> {
        let mut schedule = self.locked().clone();
        schedule.frame(scene, self.grid.probes(), budget.min(self.max_rays)).into_iter().collect()
    }

    /// The next updates of a still, at most `count`; none once it has the converged light.
    #[must_use]
    pub fn still_updates(
        &self,
        scene: ProbeScene,
        budget: u32,
        count: usize,
    ) -> Vec<ProbeUpdateConstants> {
        self.locked().still(scene, (self.grid.probes(), budget.min(self.max_rays)), count)
    }

    /// Starts again: the images may hold anything.
    pub fn reset(&self) {
        *self.locked() = ProbeSchedule::default();
    }

    fn locked(&self) -> std::sync::MutexGuard<'_, ProbeSchedule> {
        self.schedule.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Fingerprint of what the probes see. `revisions`: of the pose, and of pose and lights;
/// `materials`: of those at ray hits.
pub(super) fn probe_scene(
    revisions: [u64; 2],
    materials: u64,
    settings: &GiSettings,
) -> ProbeScene {
    let mut hasher = DefaultHasher::new();
    (revisions, materials).hash(&mut hasher);
    (settings.environment_visibility, settings.probe_rays).hash(&mut hasher);
    ProbeScene { light: hasher.finish(), geometry: revisions[0] }
}
