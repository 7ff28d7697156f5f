//! Participating volumes of a scene on the device: boxes, with a density grid if heterogeneous. A
//! mesh becomes its bounding box with a grid of the inside fraction of each cell (docs/volumes.md).

use std::sync::Arc;

use glam::{DMat4, DVec3};

use super::{dynamic_buffer, storage_buffer, volumes_environment::environment_cells};
use crate::{
    gpu::{
        Buffer, Gpu, GpuResult,
        shader_structs::{
            frame::NONE,
            volumes::{
                VOLUME_ENVIRONMENT_SH_COUNT, VOLUME_ENVIRONMENT_SIZE, Volume, VolumeConstants,
            },
        },
        upload::Uploader,
    },
    scene::{
        MediumCoefficients, Scene, VolumeShape,
        volume::{DensityGrid, PlacedVolume, VOXELS_ACROSS, voxelize_mesh},
    },
};

/// Settings of volumes (`passes.volumes.*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VolumeSettings {
    /// Off: no volumes.
    pub enabled: bool,
    /// One view ray per two by two pixels.
    pub half_resolution: bool,
    /// Steps along a view ray, 1 to 1024.
    pub steps: u32,
    /// Steps toward a light within each heterogeneous volume, 1 to 256.
    pub shadow_steps: u32,
    /// Averages over neighboring pixels.
    pub filter: bool,
}

impl Default for VolumeSettings {
    fn default() -> Self {
        Self { enabled: true, half_resolution: false, steps: 32, shadow_steps: 12, filter: true }
    }
}

/// Volume as a box.
#[derive(Clone, Debug)]
pub struct BoxedVolume {
    /// World to the box's space, whose corners are (0, 0, 0) and (1, 1, 1).
    pub to_box: DMat4,
    /// Medium at the grid's maximum density.
    pub medium: MediumCoefficients,
    /// Densities relative to the maximum; `None`: 1 everywhere.
    grid: Option<DensityGrid>,
    /// The volume's own space to the box's.
    local: DMat4,
}

impl BoxedVolume {
    fn new(scene: &Scene, placed: &PlacedVolume<'_>) -> Option<Self> {
        let volume = placed.volume;
        let (mut low, mut high) = volume.bounds(scene)?;
        let mut grid = volume.density.clone();
        if let VolumeShape::Mesh(mesh) = volume.shape {
            let inner = (low, high - low);
            let (inside, bounds) = voxelize_mesh(scene.meshes.get(mesh)?, VOXELS_ACROSS)?;
            (low, high) = bounds;
            grid = Some(match grid {
                None => inside,
                Some(density) => product(&inside, &density, bounds, inner)?,
            });
        }
        let max = grid.as_ref().map_or(1.0, |grid| f64::from(grid.max()));
        if max <= 0.0 {
            return None;
        }
        let of = volume.medium;
        let medium = MediumCoefficients {
            absorption: of.absorption * max,
            scattering: of.scattering * max,
            emission: of.emission * max,
            ..of
        };
        let size = (high - low).max(DVec3::splat(1e-9));
        let local = DMat4::from_scale(size.recip()) * DMat4::from_translation(-low);
        let to_box = local * placed.world.inverse();
        Some(Self { to_box, medium, grid: grid.map(|grid| grid.scaled((1.0 / max) as f32)), local })
    }

    /// Optical depth (by channel) from an origin along a unit direction to the outside.
    #[must_use]
    pub fn depth(&self, origin: DVec3, direction: DVec3, steps: u32) -> DVec3 {
        let (o, d) =
            (self.to_box.transform_point3(origin), self.to_box.transform_vector3(direction));
        let d = d.map(|x| if x.abs() < 1e-20 { 1e-20 } else { x });
        let (a, b) = (-o / d, (DVec3::ONE - o) / d);
        let (near, far) = (a.min(b).max_element().max(0.0), a.max(b).min_element());
        if far <= near {
            return DVec3::ZERO;
        }
        let mean = self.grid.as_ref().map_or(1.0, |grid| {
            let at = |i: u32| near + (far - near) * (f64::from(i) + 0.5) / f64::from(steps);
            (0..steps).map(|i| grid.sample(o + d * at(i))).sum::<f64>() / f64::from(steps)
        });
        self.medium.extinction() * ((far - near) * mean)
    }
}

/// Product of a mesh's inside grid and its own density grid, over the mesh's bounding box.
fn product(
    inside: &DensityGrid,
    density: &DensityGrid,
    (low, high): (DVec3, DVec3),
    (inner_low, inner_size): (DVec3, DVec3),
) -> Option<DensityGrid> {
    let [nx, ny, nz] = inside.size();
    let size = DVec3::new(f64::from(nx), f64::from(ny), f64::from(nz));
    let mut values = inside.values().to_vec();
    for (index, value) in values.iter_mut().enumerate() {
        let index = index as u32;
        let at = DVec3::new(
            f64::from(index % nx),
            f64::from(index / nx % ny),
            f64::from(index / nx / ny),
        ) + 0.5;
        let place = low + (high - low) * at / size;
        *value *= density.sample((place - inner_low) / inner_size.max(DVec3::splat(1e-30))) as f32;
    }
    DensityGrid::new([nx, ny, nz], values).ok()
}

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
        let scale = if settings.half_resolution { 2 } else { 1 };
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
