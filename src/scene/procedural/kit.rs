//! What scenes of many parts share: a builder with short names, materials with pictures, fixtures
//! for lamps.

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

/// A place without a turn.
pub(super) fn at(x: f64, y: f64, z: f64) -> DMat4 {
    DMat4::from_translation(DVec3::new(x, y, z))
}

/// A place, turned about the vertical by an angle (rad).
pub(super) fn turned(x: f64, y: f64, z: f64, angle: f64) -> DMat4 {
    at(x, y, z) * DMat4::from_rotation_y(angle)
}

/// A part moved.
pub(super) fn moved(part: &Primitive, x: f32, y: f32, z: f32) -> Primitive {
    transformed(part, &DAffine3::from_translation(Vec3::new(x, y, z).as_dvec3()))
}

/// A part laid down: its +Y to +Z.
pub(super) fn laid(part: &Primitive) -> Primitive {
    transformed(part, &DAffine3::from_rotation_x(std::f64::consts::FRAC_PI_2))
}

/// Several parts as one.
pub(super) fn joined(parts: &[Primitive]) -> Primitive {
    let mut whole = Primitive::default();
    parts.iter().for_each(|part| append(&mut whole, part, &DAffine3::IDENTITY));
    whole
}

/// A surface of revolution by (radius, height) in metres.
pub(super) fn turned_on_lathe(points: &[(f32, f32)], segments: usize) -> Primitive {
    let points: Vec<Vec2> = points.iter().map(|&(r, y)| Vec2::new(r, y)).collect();
    shapes::lathe(&points, shapes::CREASE, segments)
}

/// What a surface looks like that repeats every so many metres.
pub(super) struct Weave {
    /// Metres across and down.
    pub size: Vec2,
    /// Texels across and down of color and roughness; of the relief too.
    pub texels: [u32; 2],
    /// Linear base color.
    pub color: fn(f32, f32) -> Vec3,
    /// Perceptual roughness.
    pub roughness: fn(f32, f32) -> f32,
    /// Height (m).
    pub relief: fn(f32, f32) -> f32,
}

/// A scene while it is built.
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

    /// A surface that shines by itself (nits, by the color of a black body).
    pub fn glow(&mut self, name: &str, nits: f32, kelvin: f64) -> MaterialId {
        let emission = black_body(Kelvin(kelvin)) * nits;
        self.builder.add_material(Material { emission, ..dielectric(name, Vec3::splat(0.6), 0.5) })
    }

    /// A picture that repeats, looked up by texture coordinates in metres.
    pub fn woven(&mut self, name: &str, picture: TextureImage, size: Vec2) -> TextureRef {
        let texture = self.builder.add_texture(name, picture, Sampler::default());
        let transform = [[1.0 / size.x, 0.0, 0.0], [0.0, 1.0 / size.y, 0.0]];
        TextureRef { transform, ..SceneBuilder::texture_ref(texture) }
    }

    /// A non-metal with color, roughness and relief; its meshes have texture coordinates in metres,
    /// and tangents.
    pub fn weave(&mut self, name: &str, weave: &Weave) -> MaterialId {
        let material = self.woven_material(name, weave);
        self.builder.add_material(material)
    }

    /// The same before it is added, to be painted in other colours.
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

    /// A spot of a flux (lm) and color (K) with half angles in degrees, from one place to another.
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

    /// A bare lamp of a flux (lm) and color (K).
    pub fn lamp(&mut self, name: &str, (lumens, kelvin): (f64, f64), place: DVec3) {
        self.builder.point_light_lumens(name, Lumen(lumens), black_body(Kelvin(kelvin)), place);
    }
}

/// A plane that faces up with texture coordinates in metres.
pub(super) fn ground(size: Vec2, cells: (usize, usize)) -> Primitive {
    shapes::tiled(shapes::plane(size, cells.0, cells.1), size)
}

/// A box with narrow bevels.
pub(super) fn block(x: f32, y: f32, z: f32) -> Primitive {
    shapes::bevelled_box(Vec3::new(x, y, z), 0.008_f32.min(x.min(y).min(z) * 0.2))
}

/// A box with sharp edges, for what is too thin or too far away for bevels.
pub(super) fn stick(x: f32, y: f32, z: f32) -> Primitive {
    shapes::cuboid(Vec3::new(x, y, z))
}

/// A block whose texture coordinates are metres, for materials that repeat.
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
