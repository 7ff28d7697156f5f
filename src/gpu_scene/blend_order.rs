//! Draw order of blended surfaces: per triangle, back to front, across all objects
//! (docs/extended-materials.md).

use glam::{DMat4, Vec3};

use super::{draws::Draw, view::View};
use crate::scene;

/// Data for sorting a primitive's triangles.
pub(super) struct Triangles {
    /// Three indices per triangle.
    indices: Vec<u32>,
    /// Centroid of each triangle, in the primitive's space.
    middles: Vec<Vec3>,
}

/// Maximum number of triangles in view for per-triangle sorting; beyond it, whole objects are
/// sorted to limit the cost.
pub const MAX_SORTED: usize = 1 << 17;
/// Maximum number of draws; beyond it, whole objects are sorted.
pub const MAX_DRAWS: usize = 1 << 12;

impl Triangles {
    pub(super) fn of(primitive: &scene::Primitive) -> Self {
        let place =
            |index: &u32| primitive.positions.get(*index as usize).copied().unwrap_or_default();
        let middles = primitive.indices.as_chunks::<3>().0.iter();
        Self {
            indices: primitive.indices.clone(),
            middles: middles.map(|[a, b, c]| (place(a) + place(b) + place(c)) / 3.0).collect(),
        }
    }
}

/// Object to sort.
pub(super) struct Item<'a> {
    /// Distance of its center along the view direction (m).
    pub(super) distance: f32,
    /// Draw call of the whole object.
    pub(super) draw: Draw,
    /// Object space to the world.
    pub(super) world: DMat4,
    /// Triangles, if known.
    pub(super) triangles: Option<&'a Triangles>,
}

/// Blended draws from back to front.
pub(super) struct BlendOrder {
    /// The draws.
    pub draws: Vec<Draw>,
    /// Indices of the draws that are marked `sorted`.
    pub indices: Vec<u32>,
    /// True if whole objects are sorted because their triangles take more than [`MAX_DRAWS`] draws.
    pub too_many_draws: bool,
}

/// Sorts triangles from back to front.
///
/// Triangles are ordered by their centroids. The order is correct if a plane separates two
/// triangles and the eye is on the side of the nearer centroid. Runs of one object become one draw.
pub(super) fn back_to_front(view: &View, mut items: Vec<Item<'_>>) -> BlendOrder {
    items.sort_by(|a, b| b.distance.total_cmp(&a.distance));
    let whole = |items: &[Item<'_>], too_many_draws| BlendOrder {
        draws: items.iter().map(|item| item.draw).collect(),
        indices: Vec::new(),
        too_many_draws,
    };
    let count: usize = items
        .iter()
        .map(|item| item.triangles.map_or(0, |triangles| triangles.middles.len()))
        .sum();
    if count > MAX_SORTED || items.iter().any(|item| item.triangles.is_none()) {
        return whole(&items, false);
    }
    let mut order: Vec<(f32, u32, u32)> = Vec::with_capacity(count);
    for (index, item) in items.iter().enumerate() {
        let mut to_view = item.world;
        to_view.w_axis -= view.position.extend(0.0);
        let to_view = to_view.as_mat4();
        let middles = item.triangles.iter().flat_map(|triangles| &triangles.middles);
        order.extend(middles.enumerate().map(|(triangle, middle)| {
            let middle = to_view.transform_point3(*middle);
            let distance = if view.parallel { middle.dot(view.forward) } else { middle.length() };
            (distance, index as u32, triangle as u32)
        }));
    }
    // A stable sort keeps an object's order at equal distances.
    order.sort_by(|a, b| b.0.total_cmp(&a.0));
    let runs = order.chunk_by(|a, b| a.1 == b.1);
    if runs.clone().count() > MAX_DRAWS {
        return whole(&items, true);
    }
    let mut draws = Vec::new();
    let mut indices = Vec::with_capacity(count * 3);
    for run in runs {
        let Some(item) = run.first().and_then(|(_, index, _)| items.get(*index as usize)) else {
            continue;
        };
        let Some(triangles) = item.triangles else { continue };
        let first_index = indices.len() as u32;
        for &(_, _, triangle) in run {
            indices.extend(triangles.indices.iter().skip(triangle as usize * 3).take(3));
        }
        let index_count = indices.len() as u32 - first_index;
        draws.push(Draw { first_index, index_count, sorted: true, ..item.draw });
    }
    BlendOrder { draws, indices, too_many_draws: false }
}

#[cfg(test)]
mod tests {
    use glam::{DVec3, Vec2};

    use super::*;
    use crate::{
        gpu_scene::draws::RenderQueue,
        scene::{Projection, build::look_at_transform, procedural::shapes},
    };

    fn draw(material: u32) -> Draw {
        Draw {
            first_index: 0,
            index_count: 6,
            vertex_offset: 0,
            first_instance: 0,
            instance_count: 1,
            material,
            double_sided: true,
            mirrored: false,
            queue: RenderQueue::Blend,
            extended: false,
            refracts: false,
            blended: true,
            sorted: false,
        }
    }

    #[test]
    fn triangles_of_objects_that_interlock_come_from_back_to_front() {
        // Two strips along the view direction, each of four pieces, offset by half a piece.
        let strip = shapes::plane(Vec2::new(1.0, 8.0), 1, 4);
        let triangles = Triangles::of(&strip);
        let projection =
            Projection::Perspective { vertical_fov: 1.0, aspect: None, near: 0.1, far: None };
        let view = View::new(
            look_at_transform(DVec3::new(0.0, 1.0, 12.0), DVec3::ZERO),
            &projection,
            64,
            64,
        );
        let item = |material: u32, z: f64| Item {
            distance: 12.0 - z as f32,
            draw: draw(material),
            world: DMat4::from_translation(DVec3::new(f64::from(material), 0.0, z)),
            triangles: Some(&triangles),
        };
        let BlendOrder { draws, indices, .. } =
            back_to_front(&view, vec![item(0, 0.0), item(1, -0.4)]);
        assert_eq!(indices.len(), 2 * strip.indices.len());
        assert!(draws.len() > 4, "{} draws", draws.len());
        let mut last = f32::INFINITY;
        for draw in &draws {
            assert!(draw.sorted);
            let z = if draw.material == 0 { 0.0 } else { -0.4 };
            let of = &indices[draw.first_index as usize..][..draw.index_count as usize];
            for triangle in of.as_chunks::<3>().0 {
                let middle =
                    triangle.iter().map(|&i| strip.positions[i as usize]).sum::<Vec3>() / 3.0;
                let at = middle + Vec3::new(draw.material as f32, 0.0, z);
                let distance = (at - view.position.as_vec3()).length();
                assert!(distance <= last + 1e-5, "{distance} after {last}");
                last = distance;
            }
        }
    }

    #[test]
    fn more_draws_than_the_limit_sort_whole_objects_and_are_marked() {
        // Two strips along the view direction: their pieces alternate, each in a draw of its own.
        let order = |pieces: usize| {
            let triangles = Triangles::of(&shapes::plane(Vec2::new(1.0, 8.0), 1, pieces));
            let projection =
                Projection::Perspective { vertical_fov: 1.0, aspect: None, near: 0.1, far: None };
            let eye = look_at_transform(DVec3::new(0.0, 1.0, 12.0), DVec3::ZERO);
            let view = View::new(eye, &projection, 64, 64);
            let item = |material: u32| Item {
                distance: 12.0,
                draw: draw(material),
                world: DMat4::from_translation(
                    DVec3::Z * f64::from(material) * 4.0 / pieces as f64,
                ),
                triangles: Some(&triangles),
            };
            back_to_front(&view, vec![item(0), item(1)])
        };
        let few = order(100);
        assert!(few.draws.len() > 100 && !few.too_many_draws, "{}", few.draws.len());
        let many = order(4 * MAX_DRAWS);
        assert_eq!((many.draws.len(), many.indices.len(), many.too_many_draws), (2, 0, true));
    }
}
