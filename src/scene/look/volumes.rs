//! `volumes.NAME.*`: fog, smoke and clouds in a box or a closed mesh (docs/volumes.md).

use std::{collections::BTreeMap, path::PathBuf};

use glam::{DMat4, DQuat, DVec3, EulerRot};

use super::{LookError, suggestions::nearest};
use crate::scene::{
    MediumCoefficients, ParticipatingVolume, Scene, VolumeShape,
    address::AddressTable,
    volume::{
        DensityFormat, DensityGrid, MAX_ANISOTROPY, MAX_COEFFICIENT, MAX_DIMENSION, MAX_EMISSION,
        MAX_VOLUMES, encloses,
    },
};
use crate::settings::{Accepts, define::section};

/// Maximum distance from the origin (m); single precision is too coarse beyond.
const FARTHEST: f64 = 1e6;

const PLACE: Accepts = Accepts::Components { min: -FARTHEST, max: FARTHEST, one: false };

/// One number or three from 0.
const fn color(max: f64) -> Accepts {
    Accepts::Components { min: 0.0, max, one: true }
}

section! {
    /// One volume's properties; the address is a name of your choice, or that of a volume in the
    /// file.
    pub struct VolumeLook in "volumes.*" {
        enabled: bool = true,
            "true or false: false removes the volume; the mesh that it fills stays invisible";
        absorption: DVec3, accepts color(MAX_COEFFICIENT), unit "1/m",
            "absorption coefficient in 1/m, 0 to 1000000, one number or three for red, green and blue, e.g. 0.05";
        scattering: DVec3, accepts color(MAX_COEFFICIENT), unit "1/m",
            "scattering coefficient in 1/m, 0 to 1000000, one number or three for red, green and blue, e.g. 0.3";
        anisotropy: f64, accepts ANISOTROPY,
            "Henyey-Greenstein anisotropy (mean cosine), -0.999 to 0.999, positive is forward";
        emission: DVec3, accepts color(MAX_EMISSION), unit "nit/m",
            "emission in nits per meter, 0 or more, one number or three for red, green and blue";
        center: DVec3, accepts PLACE, unit "m",
            "center of its box in meters, in world space or its node's space, e.g. 0,1.5,0";
        size: DVec3, accepts Accepts::Components { min: 1e-4, max: FARTHEST, one: false }, unit "m",
            "size of its box in meters, three numbers above 0, e.g. 6,3,4";
        rotation: DVec3, accepts PLACE, unit "deg",
            "rotation of its box about x, then y, then z in degrees, three numbers";
        node: String, accepts Accepts::Name,
            "node that its box follows, by name or number (#3)";
        mesh: String, accepts Accepts::Name,
            "node whose closed mesh it fills instead of a box, by name or number (#3)";
        surface: bool,
            "true or false: the mesh itself is visible too, as glass around the volume";
        density: PathBuf,
            "density file of raw voxels, x fastest, then y, then z: a factor of the coefficients [default: homogeneous]";
        dimensions: [u32; 3],
            accepts Accepts::Components { min: 1.0, max: MAX_DIMENSION as f64, one: false },
            "voxels along x, y and z, three whole numbers from 1 to 2048, e.g. 64,64,32";
        format: DensityFormat,
            "voxel format, little endian: u8 (255 is a density of 1), f16 or f32";
        density_scale: f64, in 0.0..=1e6,
            "density scale, a factor of the file's densities, 0 to 1000000";
    }
}

const ANISOTROPY: Accepts =
    Accepts::Range { min: -MAX_ANISOTROPY, max: MAX_ANISOTROPY, integer: false };

fn wrong(name: &str, property: &str, value: &str, expected: impl Into<String>) -> LookError {
    LookError::BadValue {
        path: format!("volumes.{name}.{property}"),
        value: value.into(),
        expected: expected.into(),
    }
}

fn node_named(
    scene: &Scene,
    (name, property): (&str, &str),
    wanted: &str,
) -> Result<usize, LookError> {
    let things = AddressTable::nodes(scene);
    things.find(wanted).first().copied().ok_or_else(|| {
        let names = things.suggestions();
        let near = nearest(wanted, names.iter().map(String::as_str));
        let there = if names.is_empty() { "the scene has no nodes".into() } else { near };
        wrong(name, property, wanted, format!("expected the name of a node; the nearest: {there}"))
    })
}

impl VolumeLook {
    /// Applies the overrides to an existing volume.
    fn change(
        &self,
        name: &str,
        volume: &mut ParticipatingVolume,
        scene: &mut Scene,
    ) -> Result<(), LookError> {
        let medium = &mut volume.medium;
        medium.absorption = self.absorption.unwrap_or(medium.absorption);
        medium.scattering = self.scattering.unwrap_or(medium.scattering);
        medium.anisotropy = self.anisotropy.unwrap_or(medium.anisotropy);
        medium.emission = self.emission.unwrap_or(medium.emission);
        if let Some(node) = &self.node {
            volume.node = Some(node_named(scene, (name, "node"), node)?);
        }
        if let Some(wanted) = &self.mesh {
            let node = node_named(scene, (name, "mesh"), wanted)?;
            let mesh = scene.nodes.get(node).and_then(|node| node.mesh);
            let mesh =
                mesh.ok_or_else(|| wrong(name, "mesh", wanted, "expected a node that has a mesh"))?;
            if !scene.meshes.get(mesh).is_some_and(encloses) {
                let expected =
                    "expected a closed mesh whose faces point outward; this one encloses nothing";
                return Err(wrong(name, "mesh", wanted, expected));
            }
            let given = [
                ("center", self.center.is_some()),
                ("size", self.size.is_some()),
                ("rotation", self.rotation.is_some()),
            ];
            if let Some((property, _)) = given.iter().find(|(_, given)| *given) {
                let expected = format!(
                    "the mesh determines the position of the volume; leave {property} out, or mesh"
                );
                return Err(wrong(name, property, "", expected));
            }
            (volume.node, volume.shape) = (Some(node), VolumeShape::Mesh(mesh));
        }
        match &mut volume.shape {
            VolumeShape::Box(place) => {
                if self.center.is_some() || self.size.is_some() || self.rotation.is_some() {
                    let (scale, turn, middle) = place.to_scale_rotation_translation();
                    let turn = self
                        .rotation
                        .map(|degrees| degrees.map(f64::to_radians))
                        .map_or(turn, |r| DQuat::from_euler(EulerRot::ZYX, r.z, r.y, r.x));
                    let (size, center) =
                        (self.size.unwrap_or(scale), self.center.unwrap_or(middle));
                    *place = DMat4::from_scale_rotation_translation(size, turn, center);
                }
            }
            VolumeShape::Mesh(mesh) => {
                // A file's volume has hidden its mesh already, unless the file has `surface`.
                let node = volume.node.and_then(|node| scene.nodes.get_mut(node));
                if let Some(node) = node.filter(|node| node.mesh.is_none_or(|own| own == *mesh)) {
                    match self.surface {
                        Some(true) => node.mesh = Some(*mesh),
                        None if self.mesh.is_none() => {}
                        _ => node.mesh = None,
                    }
                }
            }
        }
        if let Some(file) = &self.density {
            let needs =
                |property| wrong(name, property, "", "a density file needs dimensions and format");
            let size = self.dimensions.ok_or_else(|| needs("dimensions"))?;
            let format = self.format.ok_or_else(|| needs("format"))?;
            let grid = DensityGrid::load(file, size, format).map_err(|error| LookError::Input {
                property: format!("volumes.{name}.density"),
                file: file.display().to_string(),
                detail: error.to_string(),
            })?;
            volume.density = Some(grid);
        }
        let idle = [("dimensions", self.dimensions.is_some()), ("format", self.format.is_some())];
        if let (None, Some((property, _))) =
            (&volume.density, idle.iter().find(|(_, given)| *given))
        {
            return Err(wrong(
                name,
                property,
                "",
                format!("this property is of a density file; set volumes.{name}.density too"),
            ));
        }
        if let (Some(grid), Some(scale)) = (&mut volume.density, self.density_scale) {
            *grid = grid.scaled(scale as f32);
        }
        Ok(())
    }
}

/// Adds volumes to a scene, and changes those of its file.
///
/// # Errors
/// A box without size, a node that does not exist or has no mesh, a density file that cannot be
/// used, too many volumes.
pub(super) fn apply(
    volumes: &BTreeMap<String, VolumeLook>,
    scene: &mut Scene,
) -> Result<(), LookError> {
    let mut all = std::mem::take(&mut scene.volumes);
    let things = AddressTable::from_names(all.iter().map(|volume| volume.name.as_str()));
    let found: Vec<Vec<usize>> = volumes.keys().map(|name| things.find(name)).collect();
    drop(things);
    let mut gone = Vec::new();
    for ((name, look), found) in volumes.iter().zip(found) {
        if !look.enabled() {
            gone.extend(found);
            continue;
        }
        if let Some(volume) = found.first().and_then(|&index| all.get_mut(index)) {
            look.change(name, volume, scene)?;
            continue;
        }
        if look.mesh.is_none() && look.size.is_none() {
            return Err(wrong(name, "size", "", "a volume needs the size of its box, or a mesh"));
        }
        let mut volume = ParticipatingVolume {
            name: name.clone(),
            shape: VolumeShape::Box(DMat4::IDENTITY),
            node: None,
            medium: MediumCoefficients::default(),
            density: None,
        };
        look.change(name, &mut volume, scene)?;
        all.push(volume);
    }
    let mut index = 0;
    all.retain(|_| {
        index += 1;
        !gone.contains(&(index - 1))
    });
    if all.len() > MAX_VOLUMES {
        let expected = format!(
            "{} volumes are enabled; expected at most {MAX_VOLUMES}: disable some",
            all.len()
        );
        return Err(LookError::BadValue { path: "volumes".into(), value: String::new(), expected });
    }
    scene.volumes = all;
    for placed in scene.placed_volumes() {
        if let Some(expected) = placed.volume.optical_depth_error(scene, &placed.world) {
            return Err(wrong(&placed.volume.name, "scattering", "", expected));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Mesh, Node, look::Look, procedural::shapes};

    fn with(assignments: &[&str]) -> Result<Scene, LookError> {
        let look = Look::of(assignments)?;
        let ball = Mesh { name: "ball".into(), primitives: vec![shapes::icosphere(1.0, 1)] };
        let sheet =
            Mesh { name: "sheet".into(), primitives: vec![shapes::plane(glam::Vec2::ONE, 2, 2)] };
        let mut scene = Scene {
            meshes: vec![ball, sheet],
            nodes: vec![
                Node { name: "Ball".into(), mesh: Some(0), ..Node::default() },
                Node { name: "Empty".into(), ..Node::default() },
                Node { name: "Sheet".into(), mesh: Some(1), ..Node::default() },
            ],
            roots: vec![0, 1, 2],
            ..Scene::default()
        };
        look.apply(&mut scene).map(|()| scene)
    }

    #[test]
    fn a_box_turns_and_moves() {
        let scene = with(&[
            "volumes.fog.size=2,4,6",
            "volumes.fog.center=1,0,0",
            "volumes.fog.rotation=0,90,0",
            "volumes.fog.scattering=0.1 0.2 0.3",
            "volumes.fog.absorption=0.5",
        ])
        .unwrap();
        let placed = scene.placed_volumes();
        let corner = placed[0].world.transform_point3(DVec3::new(0.5, 0.5, 0.5));
        assert!((corner - DVec3::new(4.0, 2.0, -1.0)).length() < 1e-12, "{corner}");
        assert_eq!(placed[0].volume.medium.extinction(), DVec3::new(0.6, 0.7, 0.8));
    }

    #[test]
    fn a_mesh_that_is_filled_is_not_seen_unless_it_is_asked_for() {
        let scene = with(&["volumes.milk.mesh=Ball", "volumes.milk.scattering=3"]).unwrap();
        assert_eq!((scene.volumes[0].shape, scene.nodes[0].mesh), (VolumeShape::Mesh(0), None));
        let scene = with(&["volumes.milk.mesh=Ball", "volumes.milk.surface=true"]).unwrap();
        assert_eq!(scene.nodes[0].mesh, Some(0));
        // Over existing volumes: other properties leave the mesh as it is, `surface` shows or hides
        // it.
        let over = |mut scene: Scene, assignment: &str| {
            let mut look = Look::default();
            look.assign(assignment).unwrap();
            look.apply(&mut scene).unwrap();
            scene.nodes[0].mesh
        };
        assert_eq!(over(scene.clone(), "volumes.milk.absorption=2"), Some(0));
        assert_eq!(over(scene, "volumes.milk.surface=false"), None);
        let hidden = with(&["volumes.milk.mesh=Ball", "volumes.milk.scattering=3"]).unwrap();
        assert_eq!(over(hidden.clone(), "volumes.milk.absorption=2"), None);
        assert_eq!(over(hidden, "volumes.milk.surface=true"), Some(0));
    }

    #[test]
    fn a_raw_file_is_read_with_its_scale() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.raw"), [0, 255]).unwrap();
        std::fs::write(
            dir.path().join("a.look.toml"),
            "[volumes.smoke]\nsize = [1, 1, 1]\ndensity = \"a.raw\"\ndimensions = [2, 1, 1]\nformat = \"u8\"\ndensity_scale = 3\n",
        )
        .unwrap();
        let mut look = Look::default();
        look.read(&dir.path().join("a.look.toml")).unwrap();
        let mut scene = Scene::default();
        look.apply(&mut scene).unwrap();
        assert_eq!(scene.volumes[0].density.as_ref().unwrap().values(), [0.0, 3.0]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let size = "volumes.a.size=1,1,1";
        for (assignments, named) in [
            (vec!["volumes.a.absorption=-1"], "volumes.a.absorption"),
            (vec!["volumes.a.scattering=0,NaN,0"], "volumes.a.scattering"),
            (vec!["volumes.a.scattering=1e9"], "1000000"),
            (vec!["volumes.a.anisotropy=1"], "volumes.a.anisotropy"),
            (vec!["volumes.a.emission=-2"], "nits per meter"),
            (vec!["volumes.a.size=0,1,1"], "volumes.a.size"),
            (vec!["volumes.a.dimensions=64,64,1e9"], "2048"),
            (vec!["volumes.a.dimensions=64,64,1.5"], "whole"),
            (vec!["volumes.a.format=u16"], "f16"),
            (vec!["volumes.a.shade=1"], "volumes.a.size"),
            (vec!["volumes.a.scattering=1"], "needs the size"),
            (vec!["volumes.a.mesh=Bal"], "Ball"),
            (vec!["volumes.a.mesh=Empty"], "has a mesh"),
            (vec!["volumes.a.mesh=Ball", "volumes.a.size=1,1,1"], "leave size out"),
            (vec!["volumes.a.mesh=Sheet"], "encloses nothing"),
            (vec![size, "volumes.a.format=u8"], "volumes.a.density too"),
            (vec![size, "volumes.a.node=Missing"], "volumes.a.node"),
            (vec![size, "volumes.a.density=x.raw"], "volumes.a.dimensions"),
            (
                vec![
                    size,
                    "volumes.a.density=x.raw",
                    "volumes.a.dimensions=2048,2048,2048",
                    "volumes.a.format=u8",
                ],
                "x.raw: 2048x2048x2048",
            ),
            (
                vec![
                    size,
                    "volumes.a.density=x.raw",
                    "volumes.a.dimensions=2,2,2",
                    "volumes.a.format=u8",
                ],
                "check the path",
            ),
        ] {
            let error = with(&assignments).unwrap_err().to_string();
            assert!(error.contains(named), "{assignments:?}: {error}");
        }
        let many: Vec<String> = (0..17).map(|i| format!("volumes.v{i}.size=1,1,1")).collect();
        let error =
            with(&many.iter().map(String::as_str).collect::<Vec<_>>()).unwrap_err().to_string();
        assert!(error.contains("at most 16"), "{error}");
    }
}
