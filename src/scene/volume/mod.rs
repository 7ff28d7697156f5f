//! Participating media: boxes and closed meshes whose inside absorbs, scatters and emits light
//! (docs/volumes.md).
//!
//! Where volumes overlap, their coefficients add up.

mod density;
mod voxelize;

use glam::{DMat4, DVec3};

pub use density::{DensityError, DensityFormat, DensityGrid, MAX_DIMENSION, MAX_VOXELS};
pub use voxelize::{VOXELS_ACROSS, encloses, voxelize_mesh};

use super::Scene;

/// The most volumes of a scene.
pub const MAX_VOLUMES: usize = 16;
/// The greatest absorption and scattering (1/m): a millionth of a metre lets 37 % through.
pub const MAX_COEFFICIENT: f64 = 1e6;
/// The greatest emission (nits per metre).
pub const MAX_EMISSION: f64 = 1e12;
/// The greatest anisotropy, either way: beyond it a sample of the phase function is a mirror's.
pub const MAX_ANISOTROPY: f64 = 0.999;
/// The greatest optical depth of a heterogeneous volume along its diagonal, at its greatest
/// density: a walk through it takes as many steps.
pub const MAX_OPTICAL_DEPTH: f64 = 1e5;

/// What fills a volume.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MediumCoefficients {
    /// Light that is absorbed (1/m by channel), 0 to `MAX_COEFFICIENT`.
    pub absorption: DVec3,
    /// Light that is scattered (1/m by channel), 0 to `MAX_COEFFICIENT`.
    pub scattering: DVec3,
    /// The mean cosine of the angle by which light is scattered, -1 to 1 exclusive: Henyey and
    /// Greenstein's g.
    pub anisotropy: f64,
    /// Luminance that a metre of it adds (nits per metre, by channel), 0 to `MAX_EMISSION`.
    pub emission: DVec3,
}

impl Default for MediumCoefficients {
    /// Nothing.
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
    /// Light that is lost on the way (1/m by channel): absorbed or scattered.
    #[must_use]
    pub fn extinction(&self) -> DVec3 {
        self.absorption + self.scattering
    }

    /// What is wrong with these numbers: the property's name and what it takes.
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
                format!("nits per metre from 0 to {MAX_EMISSION:e} by channel"),
            ));
        }
        let fits = (-MAX_ANISOTROPY..=MAX_ANISOTROPY).contains(&self.anisotropy);
        (!fits)
            .then(|| ("anisotropy", format!("a number from -{MAX_ANISOTROPY} to {MAX_ANISOTROPY}")))
    }
}

/// What a volume fills.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum VolumeShape {
    /// A box: what takes the cube of side 1 around the origin to the node's space, or to the world
    /// without a node.
    Box(DMat4),
    /// The inside of a closed mesh (index into `Scene::meshes`) in the node's place.
    Mesh(usize),
}

/// A participating medium in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct ParticipatingVolume {
    /// The look's or the file's name for it.
    pub name: String,
    /// What it fills.
    pub shape: VolumeShape,
    /// Index into `Scene::nodes`: it goes where the node goes.
    pub node: Option<usize>,
    /// What it is filled with where the density is 1.
    pub medium: MediumCoefficients,
    /// Factor of absorption, scattering and emission from place to place, over the box or the
    /// mesh's box; none is 1.
    pub density: Option<DensityGrid>,
}

/// A volume of a scene that is shown.
#[derive(Clone, Copy, Debug)]
pub struct PlacedVolume<'a> {
    /// The volume.
    pub volume: &'a ParticipatingVolume,
    /// To the world: of a box from the cube of side 1 around the origin, of a mesh from the mesh's
    /// space.
    pub world: DMat4,
}

impl ParticipatingVolume {
    /// The greatest factor of its coefficients.
    #[must_use]
    pub fn max_density(&self) -> f64 {
        self.density.as_ref().map_or(1.0, |grid| f64::from(grid.max()))
    }

    /// Whether it does nothing to light.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let MediumCoefficients { emission, .. } = self.medium;
        self.max_density() <= 0.0 || self.medium.extinction() + emission == DVec3::ZERO
    }

    /// What is wrong with it in its place, if its walks would never end.
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
                "its optical depth is {depth:.1e} from corner to corner at its greatest density; at most {MAX_OPTICAL_DEPTH:.0e} is \
                 walked through: lower absorption and scattering, or make it smaller"
            )
        })
    }

    /// The box around it in the space that `PlacedVolume::world` starts from; none of a mesh
    /// without triangles.
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
    /// Its volumes in their places; those whose node is not shown, whose place has no inverse, and
    /// those that do nothing are left out, and so are those beyond `MAX_VOLUMES`.
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
            // The second's node is not shown; the third has nothing in it.
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
