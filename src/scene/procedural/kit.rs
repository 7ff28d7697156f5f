//! Shared parts of larger scenes: a builder with short names, textured materials, and luminaires.

use glam::{DAffine3, DMat4, DVec3, Vec2, Vec3};

use super::{
    shapes::{self, append, transformed},
    textures::{self, TextureImage},
};
use crate::{
    photometry::{Kelvin, Lumen},
    scene::{
        Material, Primitive, Sampler, TextureRef,
        build::{
            MaterialId, MeshId, SceneBuilder, black_body, dielectric, look_at_transform, metal,
        },
    },
};

/// A translation.
pub(super) fn at(x: f64, y: f64, z: f64) -> DMat4 {
    DMat4::from_translation(DVec3::new(x, y, z))
}

/// A translation with a rotation about the vertical by an angle (rad).
pub(super) fn turned(x: f64, y: f64, z: f64, angle: f64) -> DMat4 {
    at(x, y, z) * DMat4::from_rotation_y(angle)
}

/// A translation along +Y (m), for parts.
pub(super) fn up(y: f32) -> DAffine3 {
    DAffine3::from_translation(DVec3::Y * f64::from(y))
}

/// A translated part.
pub(super) fn moved(part: &Primitive, x: f32, y: f32, z: f32) -> Primitive {
    transformed(part, &DAffine3::from_translation(Vec3::new(x, y, z).as_dvec3()))
}

/// A part rotated from +Y to +Z.
pub(super) fn laid(part: &Primitive) -> Primitive {
    transformed(part, &DAffine3::from_rotation_x(std::f64::consts::FRAC_PI_2))
}

/// Several parts as one primitive.
pub(super) fn joined(parts: &[Primitive]) -> Primitive {
    let mut whole = Primitive::default();
    parts.iter().for_each(|part| append(&mut whole, part, &DAffine3::IDENTITY));
    whole
}

/// A surface of revolution from (radius, height) in m.
pub(super) fn turned_on_lathe(points: &[(f32, f32)], segments: usize) -> Primitive {
    let points: Vec<Vec2> = points.iter().map(|&(r, y)| Vec2::new(r, y)).collect();
    shapes::lathe(&points, shapes::CREASE, segments)
}

/// A repeating surface texture.
pub(super) struct Weave {
    /// Size of a tile (m).
    pub size: Vec2,
    /// Texels across and down, of color, roughness and relief.
    pub texels: [u32; 2],
    /// Linear base color.
    pub color: fn(f32, f32) -> Vec3,
    /// Perceptual roughness.
    pub roughness: fn(f32, f32) -> f32,
    /// Height (m).
    pub relief: fn(f32, f32) -> f32,
}

/// A scene under construction.
pub(super) struct Kit {
    pub builder: SceneBuilder,
}

impl Kit {
    pub fn new(name: &str) -> Self {
        Self { builder: SceneBuilder::new(name) }
    }

    pub fn paint(&mut self, name: &str, rgb: [f32; 3], roughness: f32) -> MaterialId {
        self.builder.add_material(dielectric(name, Vec3::from(rgb), roughness))
    }

    pub fn metal(&mut self, name: &str, rgb: Vec3, roughness: f32) -> MaterialId {
        self.builder.add_material(metal(name, rgb, roughness))
    }

    /// An emissive surface (nits, with the color of a black body).
    pub fn glow(&mut self, name: &str, nits: f32, kelvin: f64) -> MaterialId {
        let emission = black_body(Kelvin(kelvin)) * nits;
        self.builder.add_material(Material { emission, ..dielectric(name, Vec3::splat(0.6), 0.5) })
    }

    /// A repeating texture with texture coordinates in meters.
    pub fn woven(&mut self, name: &str, picture: TextureImage, size: Vec2) -> TextureRef {
        let texture = self.builder.add_texture(name, picture, Sampler::default());
        let transform = [[1.0 / size.x, 0.0, 0.0], [0.0, 1.0 / size.y, 0.0]];
        TextureRef { transform, ..SceneBuilder::texture_ref(texture) }
    }

    /// A dielectric with color, roughness and relief; its meshes have texture coordinates in
    /// meters, and tangents.
    pub fn weave(&mut self, name: &str, weave: &Weave) -> MaterialId {
        let material = self.woven_material(name, weave);
        self.builder.add_material(material)
    }

    /// The same material before it is added, for variants in other colors.
    pub fn woven_material(&mut self, name: &str, weave: &Weave) -> Material {
        let Weave { size, texels: [w, h], .. } = *weave;
        let rough = textures::picture(w, h, |u, v| [1.0, (weave.roughness)(u, v), 0.0, 1.0]);
        let color =
            self.woven(&format!("{name}: color"), textures::color_image(w, h, weave.color), size);
        let rough = self.woven(&format!("{name}: roughness"), rough, size);
        let relief = textures::normal_map_image(w, h, size, weave.relief);
        let relief = self.woven(&format!("{name}: normals"), relief, size);
        Material {
            base_color_texture: Some(color),
            metallic_roughness_texture: Some(rough),
            normal_texture: Some(relief),
            ..dielectric(name, Vec3::ONE, 1.0)
        }
    }

    pub fn mesh(&mut self, name: &str, part: Primitive, material: MaterialId) -> MeshId {
        self.builder.add_mesh(name, part, material)
    }

    /// A mesh with tangents, for materials with a relief.
    pub fn relief_mesh(&mut self, name: &str, part: Primitive, material: MaterialId) -> MeshId {
        self.builder.add_mesh(name, shapes::with_tangents(part), material)
    }

    pub fn put(&mut self, name: &str, mesh: MeshId, pose: DMat4) {
        self.builder.instance(name, mesh, pose);
    }

    pub fn one(&mut self, name: &str, part: Primitive, material: MaterialId, pose: DMat4) {
        let mesh = self.mesh(name, part, material);
        self.put(name, mesh, pose);
    }

    pub fn one_relief(&mut self, name: &str, part: Primitive, material: MaterialId, pose: DMat4) {
        let mesh = self.relief_mesh(name, part, material);
        self.put(name, mesh, pose);
    }

    /// A spot light of a flux (lm) and color temperature (K), with half angles in degrees, from one
    /// position toward another.
    pub fn spot(
        &mut self,
        name: &str,
        (lumens, kelvin): (f64, f64),
        (inner, outer): (f64, f64),
        way: [DVec3; 2],
    ) {
        let cone = (inner.to_radians(), outer.to_radians());
        let color = black_body(Kelvin(kelvin));
        self.builder.spot_light_lumens(
            name,
            Lumen(lumens),
            color,
            cone,
            look_at_transform(way[0], way[1]),
        );
    }

    /// A point light of a flux (lm) and color temperature (K).
    pub fn lamp(&mut self, name: &str, (lumens, kelvin): (f64, f64), place: DVec3) {
        self.builder.point_light_lumens(name, Lumen(lumens), black_body(Kelvin(kelvin)), place);
    }
}

/// A plane that faces up, with texture coordinates in meters.
pub(super) fn ground(size: Vec2, cells: (usize, usize)) -> Primitive {
    shapes::tiled(shapes::plane(size, cells.0, cells.1), size)
}

/// A box with narrow bevels.
pub(super) fn block(x: f32, y: f32, z: f32) -> Primitive {
    shapes::bevelled_box(Vec3::new(x, y, z), 0.008_f32.min(x.min(y).min(z) * 0.2))
}

/// A box with sharp edges, for parts too thin or too distant for bevels.
pub(super) fn stick(x: f32, y: f32, z: f32) -> Primitive {
    shapes::cuboid(Vec3::new(x, y, z))
}

/// A block with texture coordinates in meters, for repeating materials.
pub(super) fn woven_block(x: f32, y: f32, z: f32) -> Primitive {
    let (right, up, out) = (Vec3::X * x, Vec3::Y * y, Vec3::Z * z);
    let mut whole = Primitive::default();
    for (right, up, out) in [
        (right, up, out),
        (-right, up, -out),
        (-out, up, right),
        (out, up, -right),
        (right, -out, up),
        (right, out, -up),
    ] {
        let face = shapes::quad((out + up - right) * 0.5, right, -up, 1, 1);
        append(
            &mut whole,
            &shapes::tiled(face, Vec2::new(right.length(), up.length())),
            &DAffine3::IDENTITY,
        );
    }
    whole
}
