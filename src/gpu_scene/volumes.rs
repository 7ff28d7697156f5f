//! Participating volumes of a scene on the device: boxes, with a density grid if heterogeneous. A
//! mesh becomes its bounding box with a grid of the inside fraction of each cell (docs/volumes.md).

use std::sync::Arc;

use glam::{DMat4, DVec3};

use super::{
    boxed_volume::BoxedVolume,
    buffers::{dynamic_buffer, storage_buffer},
    volume_environment::environment_cells,
};
use crate::{
    gpu::{
        Buffer, Gpu, GpuResult,
        shader_structs::{
            frame::NONE,
            volumes::{
                self, VOLUME_ENVIRONMENT_SH_COUNT, VOLUME_ENVIRONMENT_SIZE, Volume, VolumeConstants,
            },
        },
        upload::Uploader,
    },
    scene::{
        Scene,
        volume::{DensityGrid, MAX_VOLUMES},
    },
    settings::VolumeSettings,
};

const _: () = assert!(volumes::MAX_VOLUMES as usize == MAX_VOLUMES);

/// Volumes of a scene on the device.
pub struct SceneVolumes {
    boxes: Vec<BoxedVolume>,
    /// First voxel of each volume.
    firsts: Vec<u32>,
    densities: Arc<Buffer>,
    environment: Arc<Buffer>,
    has_environment: bool,
}

impl SceneVolumes {
    /// Uploads the volumes.
    ///
    /// # Errors
    /// `GpuError` if the voxels exceed the device's buffer size, memory runs out, or the device is
    /// lost.
    pub fn new(gpu: &Gpu, uploader: &mut Uploader, scene: &Scene) -> GpuResult<Self> {
        let boxes: Vec<BoxedVolume> = scene
            .placed_volumes()
            .iter()
            .filter_map(|placed| BoxedVolume::new(scene, placed))
            .collect();
        let mut words: Vec<u32> = Vec::new();
        let mut firsts = Vec::new();
        for grid in boxes.iter().map(|volume| &volume.grid) {
            firsts.push(if grid.is_some() { words.len() as u32 } else { NONE });
            words.extend(grid.iter().flat_map(pairs));
        }
        let remedy = "lower volumes.*.dimensions";
        let densities = storage_buffer(
            gpu,
            uploader,
            ("volume densities", 4),
            bytemuck::cast_slice(&words),
            remedy,
        )?;
        let cells = if boxes.is_empty() {
            vec![glam::Vec3::ZERO; 9]
        } else {
            environment_cells(scene, &boxes)
        };
        let environment = storage_buffer(
            gpu,
            uploader,
            ("volume environment", 4),
            bytemuck::cast_slice(&cells),
            remedy,
        )?;
        Ok(Self {
            boxes,
            firsts,
            densities,
            environment,
            has_environment: scene.environment.is_some(),
        })
    }

    /// True if the scene has no volumes.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.boxes.is_empty()
    }

    /// Updates the volumes to another pose of the uploaded scene. Their environment light is kept.
    /// Returns whether any has moved.
    pub fn follow(&mut self, scene: &Scene) -> bool {
        let mut moved = false;
        let placed = scene.placed_volumes();
        if placed.len() == self.boxes.len() {
            for (own, placed) in self.boxes.iter_mut().zip(placed) {
                let to_box = own.local * placed.world.inverse();
                moved |= to_box != own.to_box;
                own.to_box = to_box;
            }
        }
        moved
    }
}

/// Half floats of each voxel and its neighbor in +x.
fn pairs(grid: &DensityGrid) -> Vec<u32> {
    let width = grid.size()[0] as usize;
    let half = |value: f32| u32::from(half::f16::from_f32(value).to_bits());
    let row = |row: &[f32]| -> Vec<u32> {
        let next = |i: usize| row.get(i + 1).or(row.last()).copied().unwrap_or(0.0);
        row.iter().enumerate().map(|(i, &value)| half(value) | half(next(i)) << 16).collect()
    };
    grid.values().chunks(width.max(1)).flat_map(row).collect()
}

/// Volumes for one frame's camera.
#[derive(Clone)]
pub struct FrameVolumes {
    /// `VolumeConstants`, then the `Volume`s.
    pub block: Arc<Buffer>,
    /// Voxel densities.
    pub densities: Arc<Buffer>,
    /// Environment light of the volumes' cells.
    pub environment: Arc<Buffer>,
    /// True if there are volumes to draw.
    pub any: bool,
    /// Image pixels per texel of the march along each axis.
    pub scale: u32,
}

impl FrameVolumes {
    /// Uploads the volumes relative to a camera position.
    ///
    /// # Errors
    /// `GpuError` if memory runs out.
    pub fn new(
        gpu: &Gpu,
        scene: &SceneVolumes,
        camera: DVec3,
        settings: &VolumeSettings,
    ) -> GpuResult<Self> {
        let any = settings.enabled && !scene.is_empty();
        let scale = settings.resolution.divisor();
        let head = VolumeConstants {
            count: if any { scene.boxes.len() as u32 } else { 0 },
            steps: settings.steps.max(1),
            shadow_steps: settings.shadow_steps.max(1),
            scale,
            filtered: u32::from(settings.filter),
            has_environment: u32::from(scene.has_environment),
            ..VolumeConstants::default()
        };
        let mut bytes = bytemuck::bytes_of(&head).to_vec();
        for (index, (volume, &first)) in scene.boxes.iter().zip(&scene.firsts).enumerate() {
            let rows = (volume.to_box * DMat4::from_translation(camera)).transpose();
            let of = &volume.medium;
            let packed = Volume {
                rows: [rows.x_axis, rows.y_axis, rows.z_axis].map(|row| row.as_vec4()),
                scattering: of.scattering.as_vec3(),
                anisotropy: of.anisotropy as f32,
                extinction: of.extinction().as_vec3(),
                first,
                emission: of.emission.as_vec3(),
                first_environment_cell: VOLUME_ENVIRONMENT_SH_COUNT
                    + index as u32 * VOLUME_ENVIRONMENT_SIZE.pow(3),
                size: volume.grid.as_ref().map_or([1; 3], DensityGrid::size),
                pad0: 0,
            };
            bytes.extend_from_slice(bytemuck::bytes_of(&packed));
        }
        if scene.is_empty() {
            // The array behind the header must not be empty.
            bytes.extend_from_slice(bytemuck::bytes_of(&Volume::default()));
        }
        Ok(Self {
            block: dynamic_buffer(gpu, "volumes", &bytes)?,
            densities: Arc::clone(&scene.densities),
            environment: Arc::clone(&scene.environment),
            any,
            scale,
        })
    }
}
