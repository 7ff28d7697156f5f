//! Collision geometry of walking: the triangles of a scene in a BVH.

use glam::DVec3;
use parry3d_f64::{
    bounding_volume::Aabb,
    math::{Pose, Vector},
    query::{
        PointQuery, Ray, RayCast, ShapeCastOptions, cast_shapes,
        details::closest_points_segment_segment_with_locations,
    },
    shape::{Ball, Segment, TriMesh, Triangle},
};

use crate::scene::{AlphaMode, Material, Scene};

/// Maximum number of collision triangles; each takes about 250 bytes.
pub const MAX_COLLISION_TRIANGLES: usize = 4_000_000;

/// Minimum upward component of a walkable surface's unit normal: a slope of 45 degrees, with a
/// margin for rounding.
const WALKABLE: f64 = std::f64::consts::FRAC_1_SQRT_2 - 1e-3;

/// Error of [`CollisionMesh::of`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CollisionError {
    /// The scene has no solid surface.
    #[error("the scene has no solid surface to walk on; fly instead")]
    Empty,
    /// More triangles than [`MAX_COLLISION_TRIANGLES`].
    #[error(
        "the scene has {0} solid triangles; walking supports at most {MAX_COLLISION_TRIANGLES}: fly instead, or open a simpler file"
    )]
    TooMany(usize),
}

/// True if a material stops a walker. Alpha-masked and blended materials, such as leaves, do not.
/// Nor do transmissive ones with an index of refraction below 1.4, such as water.
#[must_use]
pub fn is_solid(material: &Material) -> bool {
    material.alpha == AlphaMode::Opaque && !(material.transmits() && material.ior < 1.4)
}

/// The solid surfaces of a scene, static since construction: later animation does not move them.
#[derive(Clone)]
pub struct CollisionMesh {
    all: TriMesh,
    /// The walkable surfaces.
    floors: Option<TriMesh>,
    low: DVec3,
}

impl std::fmt::Debug for CollisionMesh {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CollisionMesh")
            .field("triangles", &self.all.num_triangles())
            .finish_non_exhaustive()
    }
}

/// Penetration of a standing body into a surface.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    /// Penetration depth (m).
    pub depth: f64,
    /// Unit vector from the surface to the body's axis; zero where the surface intersects the axis.
    pub away: DVec3,
}

fn to(p: DVec3) -> Vector {
    Vector::from_array(p.to_array())
}

fn from(p: Vector) -> DVec3 {
    DVec3::from_array(p.to_array())
}

impl CollisionMesh {
    /// Collects the surfaces whose material satisfies `solid`, in world space. Degenerate triangles
    /// are left out.
    ///
    /// # Errors
    /// [`CollisionError`]: no solid surface, or too many triangles.
    pub fn of(scene: &Scene, solid: impl Fn(&Material) -> bool) -> Result<Self, CollisionError> {
        let plain = Material::default();
        let is_solid = |material: Option<usize>| {
            solid(material.and_then(|m| scene.materials.get(m)).unwrap_or(&plain))
        };
        let placed = scene.walk();
        let parts = || {
            placed.iter().flat_map(|placed| {
                let mesh = placed.node.mesh.and_then(|mesh| scene.meshes.get(mesh));
                let primitives = mesh.map(|mesh| mesh.primitives.as_slice()).unwrap_or_default();
                primitives
                    .iter()
                    .filter(|part| is_solid(part.material))
                    .map(move |part| (placed.world, part))
            })
        };
        let count: usize = parts().map(|(_, part)| part.indices.len() / 3).sum();
        if count > MAX_COLLISION_TRIANGLES {
            return Err(CollisionError::TooMany(count));
        }
        let (mut points, mut faces, mut walkable): (Vec<DVec3>, Vec<[u32; 3]>, Vec<[u32; 3]>) =
            Default::default();
        for (world, part) in parts() {
            let first = points.len() as u32;
            points.extend(part.positions.iter().map(|p| world.transform_point3(p.as_dvec3())));
            for triangle in part.indices.chunks_exact(3) {
                let face = [triangle[0], triangle[1], triangle[2]].map(|index| first + index);
                let [a, b, c] =
                    face.map(|index| points.get(index as usize).copied().unwrap_or(DVec3::NAN));
                let normal = (b - a).cross(c - a);
                // Twice the area; a sliver of a square micrometer stops no walker.
                if normal.length() > 1e-12 && normal.is_finite() {
                    faces.push(face);
                    if normal.y.abs() >= normal.length() * WALKABLE {
                        walkable.push(face);
                    }
                }
            }
        }
        Self::new(&points, faces, walkable)
    }

    fn new(
        points: &[DVec3],
        faces: Vec<[u32; 3]>,
        walkable: Vec<[u32; 3]>,
    ) -> Result<Self, CollisionError> {
        let mesh = |faces: Vec<[u32; 3]>| {
            // Keeps only the vertices that the faces use.
            let mut known = vec![u32::MAX; points.len()];
            let mut kept = Vec::new();
            let faces = faces.into_iter().map(|face| {
                face.map(|index| {
                    let place = &mut known[index as usize];
                    if *place == u32::MAX {
                        *place = kept.len() as u32;
                        kept.push(to(points[index as usize]));
                    }
                    *place
                })
            });
            let faces: Vec<[u32; 3]> = faces.collect();
            TriMesh::new(kept, faces).ok()
        };
        let all = mesh(faces).ok_or(CollisionError::Empty)?;
        let low = from(all.local_aabb().mins);
        Ok(Self { floors: mesh(walkable), all, low })
    }

    /// Height of the lowest point (m).
    pub(super) fn lowest(&self) -> f64 {
        self.low.y
    }

    /// Height (m) at which a ball of a radius (m) rests on a walkable surface, lowered from `from`
    /// (its lowest point) by at most `reach` (m).
    pub(super) fn ground(&self, from: DVec3, radius: f64, reach: f64) -> Option<f64> {
        let floors = self.floors.as_ref()?;
        let start = Pose::from_translation(to(from + DVec3::Y * radius));
        let options = ShapeCastOptions {
            max_time_of_impact: reach.max(0.0),
            stop_at_penetration: false,
            compute_impact_geometry_on_penetration: false,
            ..ShapeCastOptions::default()
        };
        let down = Vector::new(0.0, -1.0, 0.0);
        let still = Vector::ZERO;
        let hit =
            cast_shapes(&start, down, &Ball::new(radius), &Pose::IDENTITY, still, floors, options);
        hit.ok().flatten().map(|hit| from.y - hit.time_of_impact)
    }

    /// Deepest penetration of an upright capsule with the axis from `low` to `high` and a radius
    /// (m); `None` where it is free.
    pub(super) fn deepest(&self, low: DVec3, high: DVec3, radius: f64) -> Option<Touch> {
        let axis = Segment::new(to(low), to(high));
        let margin = Vector::splat(radius);
        let reach = Aabb::new(to(low) - margin, to(high) + margin);
        let touches = self.all.bvh().intersect_aabb(&reach).filter_map(|index| {
            let away = apart(&axis, &self.all.triangle(index));
            let distance = away.length();
            let depth = radius - distance;
            (depth > 0.0).then(|| Touch {
                depth,
                away: if distance > 1e-9 { away / distance } else { DVec3::ZERO },
            })
        });
        touches.max_by(|a, b| a.depth.total_cmp(&b.depth))
    }
}

/// Shortest vector from a triangle to a segment; zero where they intersect.
fn apart(axis: &Segment, triangle: &Triangle) -> DVec3 {
    let along = axis.b - axis.a;
    // An intersection of the interiors; the distances below cover all other cases.
    if triangle.cast_local_ray(&Ray::new(axis.a, along), 1.0, false).is_some() {
        return DVec3::ZERO;
    }
    let ends =
        [axis.a, axis.b].map(|end| from(end - triangle.project_local_point(end, false).point));
    let edges = triangle.edges().map(|edge| {
        let (here, there) =
            closest_points_segment_segment_with_locations(&Pose::IDENTITY, axis, &edge);
        from(axis.point_at(&here) - edge.point_at(&there))
    });
    let shorter = |a: DVec3, b: DVec3| if b.length_squared() < a.length_squared() { b } else { a };
    edges.into_iter().chain(ends).fold(DVec3::INFINITY, shorter)
}
