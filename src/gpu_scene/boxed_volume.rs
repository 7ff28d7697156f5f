//! A participating volume as a box with an optional density grid (docs/volumes.md).

use glam::{DMat4, DVec3};

use crate::scene::{
    MediumCoefficients, Scene, VolumeShape,
    volume::{DensityGrid, PlacedVolume, VOXELS_ACROSS, voxelize_mesh},
};

/// Volume as a box.
#[derive(Clone, Debug)]
pub struct BoxedVolume {
    /// World to the box's space, whose corners are (0, 0, 0) and (1, 1, 1).
    pub to_box: DMat4,
    /// Medium at the grid's maximum density.
    pub medium: MediumCoefficients,
    /// Densities relative to the maximum; `None`: 1 everywhere.
    pub(super) grid: Option<DensityGrid>,
    /// The volume's own space to the box's.
    pub(super) local: DMat4,
}

impl BoxedVolume {
    pub(super) fn new(scene: &Scene, placed: &PlacedVolume<'_>) -> Option<Self> {
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
