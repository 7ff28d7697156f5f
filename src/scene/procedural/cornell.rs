//! The Cornell box. Geometry, camera and ratios of the light's channels are the published data
//! (Cornell University Program of Computer Graphics, "The Cornell Box", after Goral et al. 1984),
//! in meters (100 mm there are 1 m here). Surfaces are rough glTF materials in linear Rec.709 near
//! the published reflectances.

use glam::{DMat4, Vec3, dvec3, vec3};

use crate::{
    photometry::Candela,
    scene::{
        Material, Primitive, Scene,
        build::{MaterialId, SceneBuilder, SceneError, dielectric},
    },
};

/// Look of the box: the panel's 1,000, 700 and 450 nit light it.
pub const LOOK: &str = include_str!("../../../assets/demos/cornell.look.toml");

const WHITE: Vec3 = Vec3::splat(0.73);
const RED: Vec3 = vec3(0.63, 0.065, 0.05);
const GREEN: Vec3 = vec3(0.14, 0.45, 0.091);

/// A flat quadrilateral; its corners are counter-clockwise seen from the front.
fn quad(corners: [[f32; 3]; 4]) -> Primitive {
    let p = corners.map(|[x, y, z]| vec3(x, y, z) / 100.0);
    let normal = (p[1] - p[0]).cross(p[2] - p[0]).normalize();
    Primitive {
        positions: p.to_vec(),
        normals: vec![normal; 4],
        indices: vec![0, 1, 2, 0, 2, 3],
        ..Primitive::default()
    }
}

/// A quadrilateral that faces a point.
fn facing_point(corners: [[f32; 3]; 4], eye: Vec3) -> Primitive {
    let part = quad(corners);
    let [a, b, c, d] = corners;
    if part.normals[0].dot(eye / 100.0 - part.positions[0]) > 0.0 {
        part
    } else {
        quad([a, d, c, b])
    }
}

/// A vertical block over the four corners of its base.
fn block(base: [[f32; 2]; 4], height: f32) -> Primitive {
    let low = base.map(|[x, z]| [x, 0.0, z]);
    let high = base.map(|[x, z]| [x, height, z]);
    let middle = base.iter().fold(Vec3::ZERO, |sum, [x, z]| sum + vec3(*x, 0.0, *z) / 4.0);
    let mut whole = Primitive::default();
    let mut faces = vec![high];
    faces.extend((0..4).map(|i| [low[i], low[(i + 1) % 4], high[(i + 1) % 4], high[i]]));
    for (index, face) in faces.into_iter().enumerate() {
        // A point well outside of that face.
        let center = face.iter().fold(Vec3::ZERO, |sum, p| sum + Vec3::from_array(*p) / 4.0);
        let outward = if index == 0 { Vec3::Y } else { (center - middle) * vec3(1.0, 0.0, 1.0) };
        let part = facing_point(face, center + outward);
        let start = whole.positions.len() as u32;
        whole.positions.extend(part.positions);
        whole.normals.extend(part.normals);
        whole.indices.extend(part.indices.iter().map(|index| index + start));
    }
    whole
}

fn place(builder: &mut SceneBuilder, name: &str, part: Primitive, material: MaterialId) {
    let mesh = builder.add_mesh(name, part, material);
    builder.instance(name, mesh, DMat4::IDENTITY);
}

/// A variant of the box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CornellVariant {
    /// Rough dielectrics under an emissive panel.
    Panel,
    /// Rough dielectrics under a point light.
    Point,
    /// Rough metals under the panel.
    Metal,
}

/// The box with its two blocks and one camera, "Camera". Walls are single sheets that face inward.
/// Emissive surfaces light others if the look enables it (`scene.emissive_lights`).
///
/// # Errors
/// `SceneError` if the scene breaks an invariant of the scene model; tests exclude it.
pub fn cornell(variant: CornellVariant) -> Result<Scene, SceneError> {
    let metallic = if variant == CornellVariant::Metal { 1.0 } else { 0.0 };
    let mut builder = SceneBuilder::new("Cornell box");
    let mut material = |name: &str, rgb: Vec3| {
        builder.add_material(Material { metallic, ..dielectric(name, rgb, 1.0) })
    };
    let (white, red, green) =
        (material("white", WHITE), material("red", RED), material("green", GREEN));
    let (w, h, d) = (552.8, 548.8, 559.2);
    let middle = vec3(278.0, 274.0, 280.0);
    let mut wall = |name: &str, corners: [[f32; 3]; 4], material| {
        place(&mut builder, name, facing_point(corners, middle), material);
    };
    wall("floor", [[w, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, d], [w, 0.0, d]], white);
    wall("ceiling", [[w, h, 0.0], [w, h, d], [0.0, h, d], [0.0, h, 0.0]], white);
    wall("back", [[w, 0.0, d], [0.0, 0.0, d], [0.0, h, d], [w, h, d]], white);
    wall("right", [[0.0, 0.0, d], [0.0, 0.0, 0.0], [0.0, h, 0.0], [0.0, h, d]], green);
    wall("left", [[w, 0.0, 0.0], [w, 0.0, d], [w, h, d], [w, h, 0.0]], red);
    let short = [[130.0, 65.0], [82.0, 225.0], [240.0, 272.0], [290.0, 114.0]];
    place(&mut builder, "short block", block(short, 165.0), white);
    let tall = [[423.0, 247.0], [265.0, 296.0], [314.0, 456.0], [472.0, 406.0]];
    place(&mut builder, "tall block", block(tall, 330.0), white);
    if variant == CornellVariant::Point {
        builder.point_light_candela("Lamp", Candela(1000.0), Vec3::ONE, dvec3(2.78, 4.4, 2.795));
    } else {
        let glow = Material {
            emission: vec3(1000.0, 700.0, 450.0),
            ..dielectric("lamp", Vec3::ZERO, 1.0)
        };
        let glow = builder.add_material(glow);
        let y = 548.7;
        let corners = [[343.0, y, 227.0], [343.0, y, 332.0], [213.0, y, 332.0], [213.0, y, 227.0]];
        place(&mut builder, "lamp", facing_point(corners, middle), glow);
    }
    // A lens of 35 mm with an image 25 mm wide.
    let fov = 2.0 * (0.0125f32 / 0.035).atan();
    builder.camera("Camera", dvec3(2.78, 2.73, -8.0), dvec3(2.78, 2.73, 0.0), fov, Some(1.0));
    builder.build()
}
