//! A field of many instances of a small mesh: the scenes of the culling benchmark.

use glam::{DAffine3, DMat4, DVec3, Vec3};

use super::{random::SplitMix64, shapes};
use crate::{
    photometry::Lux,
    scene::{
        Primitive, Scene,
        build::{SceneBuilder, SceneError, dielectric},
    },
};

/// Kind of objects on the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// Stones of 80 triangles, spaced so that most of those in the view frustum are visible.
    Stones,
    /// Houses of 12 triangles, close together and taller than the camera: the first rows occlude
    /// the others.
    Houses,
}

/// Vertical field of view (rad) with which a 16:9 image covers a tenth of all directions.
const FIELD_OF_VIEW: f32 = 0.362;

impl FieldKind {
    /// The instanced mesh.
    #[must_use]
    pub fn mesh(self) -> Primitive {
        match self {
            Self::Stones => shapes::icosphere(0.25, 1),
            Self::Houses => shapes::cuboid(Vec3::new(0.9, 3.0, 0.9)),
        }
    }

    /// Transforms of the instances: a square grid of 1 m around the origin, slightly jittered and
    /// rotated. A clearing remains for the camera at the origin. Deterministic for a count.
    #[must_use]
    pub fn places(self, count: usize) -> Vec<DMat4> {
        let mut random = SplitMix64::new(16);
        let clearing = if self == Self::Houses { 3.0 } else { 1.0 };
        let side = (count as f64).sqrt().ceil() as i64 / 2 + 4;
        let cells = (-side..side).flat_map(|z| (-side..side).map(move |x| (x as f64, z as f64)));
        let mut cells: Vec<(f64, f64)> = cells.filter(|(x, z)| x.hypot(*z) > clearing).collect();
        cells.sort_by(|a, b| a.0.hypot(a.1).total_cmp(&b.0.hypot(b.1)));
        let place = |(x, z): (f64, f64)| match self {
            Self::Stones => {
                let at = DVec3::new(
                    x + random.uniform(-0.3, 0.3),
                    random.uniform(0.0, 0.1),
                    z + random.uniform(-0.3, 0.3),
                );
                let scale = DVec3::new(
                    random.uniform(0.5, 1.2),
                    random.uniform(0.4, 1.0),
                    random.uniform(0.5, 1.2),
                );
                DMat4::from_translation(at)
                    * DMat4::from_rotation_y(random.uniform(0.0, 6.3))
                    * DMat4::from_scale(scale)
            }
            Self::Houses => {
                let height = random.uniform(0.8, 1.4);
                DMat4::from_translation(DVec3::new(x, 1.5 * height, z))
                    * DMat4::from_scale(DVec3::new(1.0, height, 1.0))
            }
        };
        cells.into_iter().take(count).map(place).collect()
    }
}

/// A field of `count` instances under a sun of 100,000 lx, with one camera, "Along", at head
/// height.
///
/// # Errors
/// `SceneError` if the scene breaks an invariant of the scene model; tests exclude it.
pub fn field(kind: FieldKind, count: usize) -> Result<Scene, SceneError> {
    with(kind, |builder, material| {
        let mesh = builder.add_mesh("small", kind.mesh(), material);
        for place in kind.places(count) {
            builder.instance("small", mesh, place);
        }
    })
}

/// The same field as one mesh, with the selected instances only.
///
/// # Errors
/// As `field`.
pub fn merged(
    kind: FieldKind,
    count: usize,
    wanted: impl Fn(usize) -> bool,
) -> Result<Scene, SceneError> {
    with(kind, |builder, material| {
        let (mut whole, part) = (Primitive::default(), kind.mesh());
        for (_, place) in
            kind.places(count).into_iter().enumerate().filter(|(index, _)| wanted(*index))
        {
            shapes::append(&mut whole, &part, &DAffine3::from_mat4(place));
        }
        let mesh = builder.add_mesh("merged", whole, material);
        builder.instance("merged", mesh, DMat4::IDENTITY);
    })
}

fn with(
    kind: FieldKind,
    fill: impl FnOnce(&mut SceneBuilder, crate::scene::build::MaterialId),
) -> Result<Scene, SceneError> {
    let mut builder = SceneBuilder::new("Field");
    let material = builder.add_material(dielectric("stone", Vec3::new(0.4, 0.38, 0.35), 0.9));
    fill(&mut builder, material);
    builder.sun("Sun", Lux(100_000.0), Vec3::ONE, DVec3::new(0.4, -1.0, -0.5));
    let (eye, target) = match kind {
        FieldKind::Stones => (DVec3::new(0.0, 1.7, 0.0), DVec3::new(20.0, 0.0, 13.0)),
        FieldKind::Houses => (DVec3::new(0.0, 1.7, 0.0), DVec3::new(20.0, 1.7, 13.0)),
    };
    builder.camera("Along", eye, target, FIELD_OF_VIEW, None);
    builder.build()
}
