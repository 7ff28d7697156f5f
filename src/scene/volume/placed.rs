//! The volumes of a scene, placed in the world.

use glam::{DMat4, DVec3};

use super::{ParticipatingVolume, VolumeShape};
use crate::scene::Scene;

/// Maximum number of volumes in a scene; `shaders/shared/volumes.glsl` repeats it, and a build with
/// another value fails.
pub const MAX_VOLUMES: usize = 16;
/// Maximum optical depth of a heterogeneous volume along its diagonal at its maximum density: delta
/// tracking takes as many steps.
pub const MAX_OPTICAL_DEPTH: f64 = 1e5;

/// A visible volume with its transform.
#[derive(Clone, Copy, Debug)]
pub struct PlacedVolume<'a> {
    /// The volume.
    pub volume: &'a ParticipatingVolume,
    /// Transform to world space: of a box from the cube of side 1 around the origin, of a mesh from
    /// mesh space.
    pub world: DMat4,
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

impl PlacedVolume<'_> {
    /// Corners of its bounding box in world space; `None` for a mesh without triangles.
    #[must_use]
    pub fn corners(&self, scene: &Scene) -> Option<[DVec3; 8]> {
        let (low, high) = self.volume.bounds(scene)?;
        Some(std::array::from_fn(|i| {
            let part = |axis: usize| if i >> axis & 1 == 0 { low[axis] } else { high[axis] };
            self.world.transform_point3(DVec3::new(part(0), part(1), part(2)))
        }))
    }
}

impl ParticipatingVolume {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{MediumCoefficients, Node, volume::DensityGrid};

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
        let node = |local: DMat4| Node { local, ..Default::default() };
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
