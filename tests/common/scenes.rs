//! Parts of scenes that several tests build.

use std::{f64::consts::PI, fs, sync::Arc};

use glam::{DMat4, DVec3, DVec4, Vec2, Vec3};
use sunny16::{
    photometry::{
        Lumen, Lux,
        environment::{RadianceMap, RowMapping},
    },
    scene::{
        Environment, Material, Primitive, Scene,
        build::{MaterialId, NodeId, SceneBuilder, dielectric, metal},
        procedural::shapes,
        write_glb::write_glb,
    },
};
use tempfile::TempDir;

/// A material to add, or one that a scene has.
pub trait Surface {
    fn add_to(self, builder: &mut SceneBuilder) -> MaterialId;
}

impl Surface for Material {
    fn add_to(self, builder: &mut SceneBuilder) -> MaterialId {
        builder.add_material(self)
    }
}

impl Surface for MaterialId {
    fn add_to(self, _: &mut SceneBuilder) -> MaterialId {
        self
    }
}

/// Where an instance stands: a transform, or its translation in meters.
pub trait Pose {
    fn transform(self) -> DMat4;
}

impl Pose for DMat4 {
    fn transform(self) -> DMat4 {
        self
    }
}

impl Pose for DVec3 {
    fn transform(self) -> DMat4 {
        DMat4::from_translation(self)
    }
}

/// Adds meshes of one instance.
pub trait Place {
    fn place(&mut self, part: Primitive, surface: impl Surface, at: impl Pose) -> NodeId;

    /// A square at the origin that faces +Y; `side` in meters.
    fn floor(&mut self, side: f32, surface: impl Surface) -> NodeId {
        self.place(shapes::plane(Vec2::splat(side), 1, 1), surface, DMat4::IDENTITY)
    }
}

impl Place for SceneBuilder {
    fn place(&mut self, part: Primitive, surface: impl Surface, at: impl Pose) -> NodeId {
        let material = surface.add_to(self);
        let mesh = self.add_mesh("part", part, material);
        self.instance("part", mesh, at.transform())
    }
}

/// A black, two-sided emissive material.
pub fn emissive_material(nits: Vec3) -> Material {
    Material {
        base_color: DVec4::W.as_vec4(),
        emission: nits,
        double_sided: true,
        ..Material::default()
    }
}

/// Adds an emissive square that faces a camera at +Z; `center` and `side` in meters.
pub fn add_square(builder: &mut SceneBuilder, center: DVec3, side: f64, nits: Vec3) {
    let plane = shapes::plane(Vec2::splat(side as f32), 1, 1);
    // The plane faces +Y.
    let turn = DMat4::from_rotation_x(PI / 2.0);
    builder.place(plane, emissive_material(nits), DMat4::from_translation(center) * turn);
}

/// Emissive squares that face the camera: positions and sides in meters.
pub fn squares(places: &[(DVec3, f64, Vec3)]) -> Scene {
    let mut builder = SceneBuilder::new("squares");
    for &(place, side, nits) in places {
        add_square(&mut builder, place, side, nits);
    }
    builder.build().unwrap()
}

/// An environment of uniform luminance.
pub fn even(nits: f64) -> Option<Environment> {
    let map = RadianceMap::from_fn(64, 32, RowMapping::Linear, |_| DVec3::splat(nits)).unwrap();
    Some(Environment { map: Arc::new(map), rotation: 0.0, origin: "even".into() })
}

/// A directory with `small.glb`: a lit plane with a ball of 20 * 4^subdivisions triangles, a
/// camera, a point light and a sun.
pub fn small_scene(subdivisions: u32) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let mut builder = SceneBuilder::new("small");
    builder.floor(6.0, dielectric("floor", Vec3::new(0.5, 0.4, 0.3), 0.7));
    let gold = metal("gold", Vec3::new(1.0, 0.7, 0.3), 0.4);
    let ball = shapes::icosphere(0.5, subdivisions);
    builder.place(ball, gold, DVec3::Y * 0.5);
    builder.point_light_lumens("bulb", Lumen(800.0), Vec3::ONE, DVec3::new(1.0, 2.0, 1.0));
    builder.sun("sun", Lux(400.0), Vec3::ONE, DVec3::new(0.4, -1.0, -0.3));
    builder.camera("main", DVec3::new(0.5, 1.5, 3.0), DVec3::Y * 0.3, 0.7, Some(1.5));
    fs::write(dir.path().join("small.glb"), write_glb(&builder.build().unwrap()).unwrap()).unwrap();
    dir
}
