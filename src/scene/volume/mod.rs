//! Participating media: boxes and closed meshes whose interior absorbs, scatters and emits light
//! (docs/volumes.md).
//!
//! Coefficients of overlapping volumes add up.

mod density;
mod voxelize;

use glam::{DMat4, DVec3};

pub use density::{DensityError, DensityFormat, DensityGrid, MAX_DIMENSION, MAX_VOXELS};
pub use voxelize::{VOXELS_ACROSS, encloses, voxelize_mesh};

use super::Scene;

/// Maximum number of volumes in a scene.
pub const MAX_VOLUMES: usize = 16;
/// Maximum absorption and scattering coefficient (1/m): 37 % transmittance per micrometer.
pub const MAX_COEFFICIENT: f64 = 1e6;
/// Maximum emission (nits per meter).
pub const MAX_EMISSION: f64 = 1e12;
/// Maximum magnitude of the anisotropy: beyond it phase function samples degenerate to a mirror
/// direction.
pub const MAX_ANISOTROPY: f64 = 0.999;
/// Maximum optical depth of a heterogeneous volume along its diagonal at its maximum density: delta
/// tracking takes as many steps.
pub const MAX_OPTICAL_DEPTH: f64 = 1e5;

/// Coefficients of a participating medium.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MediumCoefficients {
    /// Absorption coefficient (1/m per channel), 0 to `MAX_COEFFICIENT`.
    pub absorption: DVec3,
    /// Scattering coefficient (1/m per channel), 0 to `MAX_COEFFICIENT`.
    pub scattering: DVec3,
    /// Mean cosine of the scattering angle, -1 to 1 exclusive: g of the Henyey-Greenstein phase
    /// function.
    pub anisotropy: f64,
    /// Emission (nits per meter, per channel), 0 to `MAX_EMISSION`.
    pub emission: DVec3,
}

impl Default for MediumCoefficients {
    /// Vacuum.
    fn default() -> Self {
        Self {
            absorption: DVec3::ZERO,
            scattering: DVec3::ZERO,
            anisotropy: 0.0,
            emission: DVec3::ZERO,
        }
    }
}

impl MediumCoefficients {
    /// Extinction coefficient (1/m per channel): absorption + scattering.
    #[must_use]
    pub fn extinction(&self) -> DVec3 {
        self.absorption + self.scattering
    }

    /// The first coefficient out of range: property name and expected range.
    #[must_use]
    pub fn range_error(&self) -> Option<(&'static str, String)> {
        let within = |v: DVec3, most: f64| v.to_array().iter().all(|x| (0.0..=most).contains(x));
        if !within(self.absorption, MAX_COEFFICIENT) {
            return Some(("absorption", format!("1/m from 0 to {MAX_COEFFICIENT:e} by channel")));
        }
        if !within(self.scattering, MAX_COEFFICIENT) {
            return Some(("scattering", format!("1/m from 0 to {MAX_COEFFICIENT:e} by channel")));
        }
        if !within(self.emission, MAX_EMISSION) {
            return Some((
                "emission",
                format!("nits per meter from 0 to {MAX_EMISSION:e} by channel"),
            ));
        }
        let fits = (-MAX_ANISOTROPY..=MAX_ANISOTROPY).contains(&self.anisotropy);
        (!fits)
            .then(|| ("anisotropy", format!("a number from -{MAX_ANISOTROPY} to {MAX_ANISOTROPY}")))
    }
}

/// Region that a volume fills.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum VolumeShape {
    /// A box: the matrix maps the cube of side 1 around the origin to node space, or to world space
    /// without a node.
    Box(DMat4),
    /// The interior of a closed mesh (index into `Scene::meshes`) under the node's transform.
    Mesh(usize),
}

/// A region of a scene filled with a participating medium.
#[derive(Clone, Debug, PartialEq)]
pub struct ParticipatingVolume {
    /// Name in the look or the file.
    pub name: String,
    /// Region it fills.
    pub shape: VolumeShape,
    /// Node that carries the volume (index into `Scene::nodes`).
    pub node: Option<usize>,
    /// Coefficients at density 1.
    pub medium: MediumCoefficients,
    /// Spatial factor of absorption, scattering and emission over the bounding box; `None` is 1
    /// everywhere.
    pub density: Option<DensityGrid>,
}

/// A visible volume with its transform.
#[derive(Clone, Copy, Debug)]
pub struct PlacedVolume<'a> {
    /// The volume.
    pub volume: &'a ParticipatingVolume,
    /// Transform to world space: of a box from the cube of side 1 around the origin, of a mesh from
    /// mesh space.
    pub world: DMat4,
}

impl ParticipatingVolume {
    /// Maximum factor of the coefficients.
    #[must_use]
    pub fn max_density(&self) -> f64 {
        self.density.as_ref().map_or(1.0, |grid| f64::from(grid.max()))
    }

    /// True if the volume has no effect on light.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let MediumCoefficients { emission, .. } = self.medium;
        self.max_density() <= 0.0 || self.medium.extinction() + emission == DVec3::ZERO
    }

    /// Message if the optical depth exceeds `MAX_OPTICAL_DEPTH` in this transform.
    #[must_use]
    pub fn optical_depth_error(&self, scene: &Scene, world: &DMat4) -> Option<String> {
        self.density.as_ref()?;
        let (low, high) = self.bounds(scene)?;
        let size = high - low;
        let diagonal = [size, size * DVec3::new(-1.0, 1.0, 1.0), size * DVec3::new(1.0, -1.0, 1.0)];
        let length =
            diagonal.map(|d| world.transform_vector3(d).length()).into_iter().fold(0.0, f64::max);
        let depth = self.medium.extinction().max_element() * self.max_density() * length;
        (depth > MAX_OPTICAL_DEPTH).then(|| {
            format!(
                "the optical depth is {depth:.1e} along the diagonal at maximum density, expected at most {MAX_OPTICAL_DEPTH:.0e}: \
                 lower absorption and scattering, or make the volume smaller"
            )
        })
    }

    /// Bounding box in the source space of `PlacedVolume::world`; `None` for a mesh without
    /// triangles.
    #[must_use]
    pub fn bounds(&self, scene: &Scene) -> Option<(DVec3, DVec3)> {
        match self.shape {
            VolumeShape::Box(_) => Some((DVec3::splat(-0.5), DVec3::splat(0.5))),
            VolumeShape::Mesh(mesh) => {
                let parts = &scene.meshes.get(mesh)?.primitives;
                let points = parts.iter().flat_map(|part| &part.positions).map(|p| p.as_dvec3());
                points.map(|p| (p, p)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
            }
        }
    }
}

impl Scene {
    /// Visible volumes with their transforms, at most `MAX_VOLUMES`. Omits volumes on hidden nodes,
    /// with singular transforms, or without effect on light.
    #[must_use]
    pub fn placed_volumes(&self) -> Vec<PlacedVolume<'_>> {
        if self.volumes.is_empty() {
            return Vec::new();
        }
        let mut worlds = vec![None; self.nodes.len()];
        for placed in self.walk() {
            if let Some(world) = worlds.get_mut(placed.index) {
                *world = Some(placed.world);
            }
        }
        let place = |volume: &ParticipatingVolume| {
            let node = match volume.node {
                None => DMat4::IDENTITY,
                Some(node) => worlds.get(node).copied().flatten()?,
            };
            let world = match volume.shape {
                VolumeShape::Box(place) => node * place,
                VolumeShape::Mesh(_) => node,
            };
            let invertible =
                world.is_finite() && world.inverse().is_finite() && world.determinant() != 0.0;
            (invertible && !volume.is_empty()).then_some(world)
        };
        let placed = self
            .volumes
            .iter()
            .filter_map(|volume| Some(PlacedVolume { volume, world: place(volume)? }));
        placed.take(MAX_VOLUMES).collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn coefficients_out_of_range_are_named() {
        let fine = MediumCoefficients {
            scattering: DVec3::ONE,
            anisotropy: 0.8,
            ..MediumCoefficients::default()
        };
        assert_eq!(fine.range_error(), None);
        for (bad, name) in [
            (MediumCoefficients { absorption: DVec3::new(0.0, -1.0, 0.0), ..fine }, "absorption"),
            (MediumCoefficients { scattering: DVec3::NAN, ..fine }, "scattering"),
            (MediumCoefficients { anisotropy: 1.0, ..fine }, "anisotropy"),
            (MediumCoefficients { anisotropy: f64::NAN, ..fine }, "anisotropy"),
            (MediumCoefficients { emission: DVec3::INFINITY, ..fine }, "emission"),
        ] {
            assert_eq!(bad.range_error().unwrap().0, name);
        }
    }

    #[test]
    fn excessive_optical_depth_is_rejected() {
        let volume = ParticipatingVolume {
            name: "tar".into(),
            shape: VolumeShape::Box(DMat4::IDENTITY),
            node: None,
            medium: MediumCoefficients {
                scattering: DVec3::splat(1e5),
                ..MediumCoefficients::default()
            },
            density: Some(DensityGrid::new([2, 1, 1], vec![0.0, 1.0]).unwrap()),
        };
        let scene = Scene::default();
        assert!(volume.optical_depth_error(&scene, &DMat4::IDENTITY).unwrap().contains("lower"));
        assert_eq!(volume.optical_depth_error(&scene, &DMat4::from_scale(DVec3::splat(0.1))), None);
        let even = ParticipatingVolume { density: None, ..volume };
        assert_eq!(even.optical_depth_error(&scene, &DMat4::IDENTITY), None);
    }

    #[test]
    fn volumes_go_where_their_nodes_go() {
        let node = |local: DMat4| super::super::Node { local, ..Default::default() };
        let volume = |node, scattering| ParticipatingVolume {
            name: String::new(),
            shape: VolumeShape::Box(DMat4::from_scale(DVec3::splat(2.0))),
            node,
            medium: MediumCoefficients {
                scattering: DVec3::splat(scattering),
                ..MediumCoefficients::default()
            },
            density: None,
        };
        let scene = Scene {
            nodes: vec![node(DMat4::from_translation(DVec3::X)), node(DMat4::IDENTITY)],
            roots: vec![0],
            // The second volume's node is hidden; the third is empty.
            volumes: vec![
                volume(Some(0), 1.0),
                volume(Some(1), 1.0),
                volume(None, 0.0),
                volume(None, 1.0),
            ],
            ..Scene::default()
        };
        let places: Vec<DVec3> = scene
            .placed_volumes()
            .iter()
            .map(|v| v.world.transform_point3(DVec3::splat(0.5)))
            .collect();
        assert_eq!(places, [DVec3::new(2.0, 1.0, 1.0), DVec3::ONE]);
    }
}
