//! Plan of the shadow atlas: selects the lights with maps, and their places. It needs no device.

use std::collections::HashMap;

use glam::{DMat4, DVec3};

use super::projections::{CASCADES, cascades, light_matrices, maps_of};
use crate::{
    gpu::shader_structs::frame::{LIGHT_DIRECTIONAL, LIGHT_KIND_BITS, LIGHT_POINT, LIGHT_SHADOW},
    gpu_scene::{View, WorldLight},
};

/// Cells across the atlas; a cascade and a spot's map take two by two.
const CELLS_ACROSS: u32 = 8;

/// Maximum atlas size (texels): 256 MiB.
const MAX_TEXELS: u64 = 64 << 20;

/// Margin around the cascades of a moving view, as a fraction of their radius: the camera moves
/// this far within it in each direction. Its texels are larger by the same fraction.
const CASCADE_MARGIN: f64 = 0.125;

/// Minimum cell size (texels).
const MIN_CELL: u32 = 64;

/// Settings of shadow maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShadowMapSettings {
    /// Texels per side of a cascade and a spot's map; cube faces have half.
    pub resolution: u32,
    /// Suns with a disk get cascades, with hard edges; if off, only parallel lights do.
    pub area_suns: bool,
}

/// Shadow map: a rectangle of the atlas and its projection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AtlasMap {
    /// World to the map's clip space, reversed depth.
    pub world_to_clip: DMat4,
    /// Left, top, width, height in the atlas (texels).
    pub rect: [u32; 4],
    /// Number of maps of its light: the cascades, 6 faces, or 1.
    pub count: u32,
}

impl AtlasMap {
    /// Camera-relative world to the map's clip space, for a camera at this position.
    #[must_use]
    pub fn to_clip(&self, camera: DVec3) -> DMat4 {
        self.world_to_clip * DMat4::from_translation(camera)
    }
}

/// All shadow maps of a frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShadowAtlasPlan {
    /// Maps; those of one light are consecutive.
    pub maps: Vec<AtlasMap>,
    /// Index of the first map of each light.
    pub first_of_light: Vec<Option<u32>>,
    /// Atlas width and height (texels), at least 1 each.
    pub atlas: [u32; 2],
    /// Shadow-casting lights without room in the atlas.
    pub left_out: u32,
    /// Maximum texels per side of a cascade on this device.
    pub max_map_side: u32,
}

impl ShadowAtlasPlan {
    /// Warning about the atlas limit that reduced the maps below `resolution` (texels per side);
    /// `None` if there is none.
    #[must_use]
    pub fn limit(&self, resolution: u32) -> Option<String> {
        let side = self.atlas[0] / CELLS_ACROSS * 2;
        let with = self.first_of_light.iter().flatten().count();
        let remedy = "passes.shadows.method=traced needs no maps";
        if self.left_out > 0 {
            let all = self.left_out as usize + with;
            return Some(format!(
                "shadow maps: {} of {all} lights have no map and cast no shadows; the other maps have {side} texels per side; \
                 {remedy}",
                self.left_out
            ));
        }
        let why = if side == self.max_map_side {
            "the limit of the device".to_string()
        } else {
            format!("so that the maps of all {with} lights fit")
        };
        (!self.maps.is_empty() && side < resolution / 2 * 2).then(|| {
            format!("shadow maps: {side} texels per side instead of passes.shadows.resolution = {resolution}, {why}; {remedy}")
        })
    }

    /// Indices of the maps that the atlas of a kept plan does not hold yet.
    pub(super) fn to_draw(&self, kept: Option<&Self>) -> Vec<usize> {
        let place = |map: &AtlasMap| [map.rect[0], map.rect[1]];
        let held: HashMap<_, _> = kept
            .filter(|kept| kept.atlas == self.atlas)
            .map_or(&[][..], |kept| &kept.maps)
            .iter()
            .map(|map| (place(map), map))
            .collect();
        let is_held = |map: &AtlasMap| held.get(&place(map)).is_some_and(|held| *held == map);
        let maps = self.maps.iter().enumerate();
        maps.filter(|(_, map)| !is_held(map)).map(|(index, _)| index).collect()
    }
}

/// How maps are placed in the atlas.
#[derive(Clone, Copy)]
pub enum Placement<'p> {
    /// For this view alone.
    Still,
    /// For a moving view, so that few maps differ from those of the previous plan, if there is one:
    /// lights keep their places of the atlas, and cascades have a margin within which the camera
    /// moves.
    InMotion(Option<&'p ShadowAtlasPlan>),
}

/// Plans the maps of a frame for shadow-casting lights until the atlas is full. Directional lights
/// come first, then the others by illuminance at the camera.
#[must_use]
pub fn plan(
    placement: Placement<'_>,
    lights: &[WorldLight],
    bounds: (DVec3, DVec3),
    view: &View,
    settings: ShadowMapSettings,
    max_side: u32,
) -> ShadowAtlasPlan {
    let ShadowMapSettings { resolution, area_suns } = settings;
    let near = view.near();
    let mut wanted: Vec<usize> = (0..lights.len())
        .filter(|&light| {
            let light = &lights[light].shader;
            let kind = light.kind & LIGHT_KIND_BITS;
            light.kind & LIGHT_SHADOW != 0
                && (kind == LIGHT_POINT
                    || kind == LIGHT_DIRECTIONAL && (area_suns || light.half_width == 0.0))
                && light.intensity.max_element() > 0.0
        })
        .collect();
    let importance = |light: &WorldLight| {
        if light.directional {
            return f64::INFINITY;
        }
        f64::from(light.candela.max_element())
            / light.position.distance_squared(view.position).max(1e-6)
    };
    // Ties are broken by index: the same scene always gets the same maps.
    wanted.sort_by(|&a, &b| {
        importance(&lights[b]).total_cmp(&importance(&lights[a])).then(a.cmp(&b))
    });

    let mut cell = (resolution / 2).clamp(MIN_CELL, max_side / CELLS_ACROSS);
    let maps_and_side = |light: &WorldLight| match maps_of(light) {
        _ if light.directional => (CASCADES, 2),
        // A spot's single map covers a cone up to twice as wide as a cube face.
        1 => (1, 2),
        count => (count, 1),
    };
    let cells_of = |light: &WorldLight| {
        let (count, side) = maps_and_side(light);
        count as u32 * side * side
    };
    // Reduces the map size for all lights before dropping any.
    let all: u32 = wanted.iter().map(|&light| cells_of(&lights[light])).sum();
    let rows_for = |cells: u32| cells.div_ceil(CELLS_ACROSS) + 1;
    let most_rows = |cell: u32| {
        let by_memory = MAX_TEXELS / (u64::from(cell) * u64::from(cell) * u64::from(CELLS_ACROSS));
        u32::try_from(by_memory).unwrap_or(u32::MAX).min(max_side / cell).max(2)
    };
    while cell / 2 >= MIN_CELL && rows_for(all) > most_rows(cell) {
        cell /= 2;
    }

    let mut plan = ShadowAtlasPlan {
        first_of_light: vec![None; lights.len()],
        max_map_side: max_side / CELLS_ACROSS * 2,
        ..ShadowAtlasPlan::default()
    };
    let mut grid = CellGrid::default();
    let mut placed = Vec::with_capacity(wanted.len());
    for light in wanted {
        let (count, side) = maps_and_side(&lights[light]);
        match grid.take(side, count, most_rows(cell)) {
            Some(places) => placed.push((light, side, places)),
            None => plan.left_out += 1,
        }
    }
    let mut rows = grid.rows();
    if let Placement::InMotion(Some(previous)) = placement
        && let Some(kept) = keep_places(previous, cell, &placed)
    {
        (placed, rows) = (kept, previous.atlas[1] / cell);
    }
    for (light, side, places) in placed {
        let world = &lights[light];
        plan.first_of_light[light] = u32::try_from(plan.maps.len()).ok();
        let size = f64::from(cell * side);
        let count = places.len() as u32;
        let matrices = if world.directional {
            let margin = match placement {
                Placement::Still => 0.0,
                Placement::InMotion(_) => CASCADE_MARGIN,
            };
            cascades(DVec3::from(world.direction), bounds, view, (near, size), margin)
        } else {
            light_matrices(world, bounds, size)
        };
        for ([x, y], world_to_clip) in places.into_iter().zip(matrices) {
            let rect = [x * cell, y * cell, cell * side, cell * side];
            plan.maps.push(AtlasMap { world_to_clip, rect, count });
        }
    }
    plan.atlas = if plan.maps.is_empty() { [1, 1] } else { [CELLS_ACROSS * cell, rows * cell] };
    plan
}

/// A light with the side of its maps and their places, in cells.
type PlacedLight = (usize, u32, Vec<[u32; 2]>);

/// The same lights in the places that a previous plan gave them; the others get free places of its
/// atlas. `None` if the atlas differs or has no room.
fn keep_places(
    previous: &ShadowAtlasPlan,
    cell: u32,
    lights: &[PlacedLight],
) -> Option<Vec<PlacedLight>> {
    if previous.atlas[0] != CELLS_ACROSS * cell {
        return None;
    }
    let before = |(light, side, places): &PlacedLight| {
        let first = previous.first_of_light.get(*light).copied().flatten()? as usize;
        let maps = previous.maps.get(first..first + places.len())?;
        let same =
            |map: &AtlasMap| map.count as usize == places.len() && map.rect[2] == cell * side;
        maps.iter().all(same).then(|| {
            maps.iter().map(|map| [map.rect[0] / cell, map.rect[1] / cell]).collect::<Vec<_>>()
        })
    };
    let kept: Vec<_> = lights.iter().map(before).collect();
    let rows = previous.atlas[1] / cell;
    let mut grid = CellGrid::with_rows(rows);
    for ((_, side, _), places) in lights.iter().zip(&kept) {
        places.iter().flatten().for_each(|place| grid.occupy(*place, *side));
    }
    lights
        .iter()
        .zip(kept)
        .map(|((light, side, places), kept)| {
            let places = kept.or_else(|| grid.take(*side, places.len(), rows))?;
            Some((*light, *side, places))
        })
        .collect()
}

/// Free cells of the atlas, filled row by row; cascades take two rows at a time.
#[derive(Default)]
struct CellGrid {
    /// Occupied cells of each row, as bits.
    rows: Vec<u8>,
    /// First row that is not full.
    open: usize,
    /// Sides and counts that did not fit: cells are never freed, so later requests of that size
    /// also fail.
    refused: Vec<(u32, usize)>,
}

impl CellGrid {
    /// An empty grid of a number of rows.
    fn with_rows(rows: u32) -> Self {
        Self { rows: vec![0; rows as usize], ..Self::default() }
    }

    fn rows(&self) -> u32 {
        self.rows.len() as u32
    }

    /// Marks a square of `side` cells as occupied.
    fn occupy(&mut self, [x, y]: [u32; 2], side: u32) {
        let bits = ((1u32 << side) - 1) << x;
        for row in self.rows.iter_mut().skip(y as usize).take(side as usize) {
            *row |= bits as u8;
        }
    }

    /// Places `count` squares of `side` cells; `None` if they do not fit below `most` rows.
    fn take(&mut self, side: u32, count: usize, most: u32) -> Option<Vec<[u32; 2]>> {
        if self.refused.contains(&(side, count)) {
            return None;
        }
        let before = (self.rows.clone(), self.open);
        let mut places = Vec::with_capacity(count);
        while places.len() < count {
            match self.take_one(side, most) {
                Some(place) => places.push(place),
                None => {
                    (self.rows, self.open) = before;
                    self.refused.push((side, count));
                    return None;
                }
            }
        }
        Some(places)
    }

    fn take_one(&mut self, side: u32, most: u32) -> Option<[u32; 2]> {
        while self.rows.get(self.open) == Some(&u8::MAX) {
            self.open += 1;
        }
        for y in self.open as u32..=most.checked_sub(side)? {
            while self.rows.len() < (y + side) as usize {
                self.rows.push(0);
            }
            for x in (0..=CELLS_ACROSS - side).step_by(side as usize) {
                let bits = ((1u32 << side) - 1) << x;
                let rows = y as usize..(y + side) as usize;
                if self.rows[rows].iter().all(|row| u32::from(*row) & bits == 0) {
                    self.occupy([x, y], side);
                    return Some([x, y]);
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use glam::{DMat4, Vec3};

    use super::{
        super::projections::{BORDER, outer_half_angle},
        *,
    };
    use crate::{
        gpu_scene::world_lights,
        photometry::{Candela, Lux},
        scene::{
            Projection,
            build::{SceneBuilder, look_at_transform},
        },
    };

    const BOUNDS: (DVec3, DVec3) = (DVec3::new(-50.0, -1.0, -50.0), DVec3::new(50.0, 20.0, 50.0));

    fn maps_of_size(resolution: u32) -> ShadowMapSettings {
        ShadowMapSettings { resolution, area_suns: true }
    }

    fn view(position: DVec3, yaw: f64) -> View {
        let world = DMat4::from_translation(position) * DMat4::from_rotation_y(yaw);
        let projection =
            Projection::Perspective { vertical_fov: 1.0, aspect: None, near: 0.05, far: None };
        View::new(world, &projection, 160, 90)
    }

    fn lights(fill: impl FnOnce(&mut SceneBuilder)) -> Vec<WorldLight> {
        let mut builder = SceneBuilder::new("lights");
        fill(&mut builder);
        builder
            .build()
            .map(|scene| {
                world_lights(&scene, &mut crate::gpu_scene::ies_profiles::Profiles::default())
            })
            .unwrap_or_default()
    }

    fn one_sun() -> Vec<WorldLight> {
        lights(|builder| {
            builder.sun("sun", Lux(1000.0), Vec3::ONE, DVec3::new(0.3, -1.0, 0.2));
        })
    }

    /// Position of a world point in a map, in texels.
    fn texel(map: &AtlasMap, point: DVec3) -> (DVec3, bool) {
        let clip = map.world_to_clip * point.extend(1.0);
        let p = clip.truncate() / clip.w;
        let size = f64::from(map.rect[2]);
        (
            DVec3::new((p.x + 1.0) * size / 2.0, (p.y + 1.0) * size / 2.0, p.z),
            p.x.abs() < 1.0 && p.y.abs() < 1.0,
        )
    }

    #[test]
    fn cascades_move_by_whole_texels() {
        let sun = one_sun();
        let point = DVec3::new(1.7, 0.3, -4.0);
        let first = view(DVec3::new(0.0, 1.6, 0.0), 0.0);
        let reference = plan(Placement::Still, &sun, BOUNDS, &first, maps_of_size(1024), 16_384);
        assert_eq!(reference.maps.len(), CASCADES);
        for step in 1..40 {
            let next = view(
                DVec3::new(0.0031 * f64::from(step), 1.6, -0.0007 * f64::from(step)),
                0.001 * f64::from(step),
            );
            let moved = plan(Placement::Still, &sun, BOUNDS, &next, maps_of_size(1024), 16_384);
            for (before, after) in reference.maps.iter().zip(&moved.maps) {
                let change = texel(after, point).0 - texel(before, point).0;
                assert!((change.x - change.x.round()).abs() < 1e-6, "{change}");
                assert!((change.y - change.y.round()).abs() < 1e-6, "{change}");
                assert!(change.z.abs() < 1e-9, "{change}");
            }
        }
    }

    #[test]
    fn what_the_camera_sees_has_a_cascade() {
        for (position, yaw) in
            [(DVec3::new(0.0, 1.6, 0.0), 0.4), (DVec3::new(-45.0, 10.0, 30.0), 2.0)]
        {
            let view = view(position, yaw);
            let plan =
                plan(Placement::Still, &one_sun(), BOUNDS, &view, maps_of_size(2048), 16_384);
            for i in 0..200 {
                let (x, y) = (f64::from(i % 20) / 9.5 - 1.0, f64::from(i / 20) / 4.5 - 1.0);
                for depth in [0.99, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001] {
                    let p = view.inverse * glam::Vec4::new(x as f32, y as f32, depth, 1.0);
                    let point = (p.truncate() / p.w).as_dvec3() + view.position;
                    let inside = point.cmpge(BOUNDS.0).all() && point.cmple(BOUNDS.1).all();
                    let found = plan.maps.iter().any(|map| {
                        let (place, seen) = texel(map, point);
                        seen && (0.0..=1.0).contains(&place.z)
                    });
                    assert!(!inside || found, "{point} has no cascade");
                }
            }
        }
    }

    #[test]
    fn a_cube_sees_every_direction_and_a_spot_its_cone() {
        let local_lights = lights(|builder| {
            builder.point_light_candela(
                "bulb",
                Candela(100.0),
                Vec3::ONE,
                DVec3::new(1.0, 2.0, 3.0),
            );
            let pose = look_at_transform(DVec3::new(-3.0, 4.0, 0.0), DVec3::ZERO);
            builder.spot_light_lumens(
                "spot",
                crate::photometry::Lumen(900.0),
                Vec3::ONE,
                (0.3, 0.5),
                pose,
            );
        });
        let view = view(DVec3::new(0.0, 1.6, 8.0), 0.0);
        let plan = plan(Placement::Still, &local_lights, BOUNDS, &view, maps_of_size(1024), 16_384);
        assert_eq!(plan.maps.len(), 7);
        for (light, world) in local_lights.iter().enumerate() {
            let first = plan.first_of_light[light].unwrap_or_default() as usize;
            let maps = &plan.maps[first..first + plan.maps[first].count as usize];
            for i in 0..1000 {
                let z = (f64::from(i) + 0.5) / 500.0 - 1.0;
                let (sin, cos) = (f64::from(i) * 2.399_963).sin_cos();
                let direction =
                    DVec3::new((1.0 - z * z).sqrt() * cos, z, (1.0 - z * z).sqrt() * sin);
                let shines =
                    maps.len() == 6 || direction.dot(DVec3::from(world.direction)) > 0.5f64.cos();
                let point = world.position + direction * 3.0;
                let seen = maps.iter().any(|map| {
                    let clip = map.world_to_clip * point.extend(1.0);
                    clip.w > 0.0 && texel(map, point).1
                });
                assert!(!shines || seen, "{direction}");
            }
        }
    }

    /// Lamps in a row along x, 4 m apart.
    fn lamps(count: usize) -> Vec<WorldLight> {
        lights(|builder| {
            for x in (0..count).map(|lamp| lamp as f64 * 4.0 - 6.0) {
                let at = DVec3::new(x, 2.0, 0.0);
                builder.point_light_candela("lamp", Candela(100.0), Vec3::ONE, at);
            }
        })
    }

    #[test]
    fn a_moving_camera_keeps_the_places_of_maps() {
        let four = lamps(4);
        let [left, right] = [-8.0, 8.0].map(|x| view(DVec3::new(x, 1.6, 4.0), 0.0));
        let settings = maps_of_size(512);
        let first = plan(Placement::Still, &four, BOUNDS, &left, settings, 16_384);
        let fresh = plan(Placement::Still, &four, BOUNDS, &right, settings, 16_384);
        assert_eq!(fresh.to_draw(Some(&first)).len(), 24, "the nearest lamp comes first");
        let moved = |previous: &ShadowAtlasPlan, lights: &[WorldLight]| {
            plan(Placement::InMotion(Some(previous)), lights, BOUNDS, &right, settings, 16_384)
        };
        assert!(moved(&first, &four).to_draw(Some(&first)).is_empty());
        // An added lamp takes free places; a removed one leaves the others where they are.
        let five = lamps(5);
        let more = moved(&ShadowAtlasPlan { atlas: [2048, 1280], ..first.clone() }, &five);
        assert_eq!(
            more.to_draw(Some(&ShadowAtlasPlan { atlas: more.atlas, ..first.clone() })).len(),
            6
        );
        let fewer = moved(&more, &four);
        assert_eq!((fewer.maps.len(), fewer.to_draw(Some(&more))), (24, vec![]));
        // Without room, and for maps of another size, places are those of this view alone.
        assert_eq!(
            moved(&plan(Placement::Still, &lamps(1), BOUNDS, &left, settings, 16_384), &four),
            fresh
        );
        let larger = plan(Placement::Still, &four, BOUNDS, &left, maps_of_size(1024), 16_384);
        assert_eq!(moved(&larger, &four), fresh);
    }

    #[test]
    fn lights_beyond_the_atlas_change_only_their_own_maps_in_motion() {
        let many = lights(|builder| {
            for x in 0..3000 {
                let at = DVec3::new(f64::from(x), 2.0, 0.0);
                builder.point_light_candela("lamp", Candela(100.0), Vec3::ONE, at);
            }
        });
        let [near, next] = [1500.0, 1510.0].map(|x| view(DVec3::new(x, 1.6, 4.0), 0.0));
        let settings = maps_of_size(256);
        let first = plan(Placement::InMotion(None), &many, BOUNDS, &near, settings, 8192);
        let moved = plan(Placement::InMotion(Some(&first)), &many, BOUNDS, &next, settings, 8192);
        assert!(first.left_out > 0 && moved.left_out == first.left_out);
        let fresh = plan(Placement::Still, &many, BOUNDS, &next, settings, 8192);
        let with_map = |plan: &ShadowAtlasPlan| {
            plan.first_of_light.iter().map(Option::is_some).collect::<Vec<_>>()
        };
        assert_eq!(with_map(&moved), with_map(&fresh), "the same lights have maps");
        let drawn = moved.to_draw(Some(&first)).len();
        assert!((6..=6 * 10).contains(&drawn), "{drawn} maps");
    }

    #[test]
    fn cascades_of_a_moving_view_stay_for_small_moves() {
        let sun = one_sun();
        let settings = maps_of_size(1024);
        let pose = |step: u32| {
            let angle = 0.005 * f64::from(step);
            view(DVec3::new(4.0 * angle.sin(), 1.6, 4.0 * angle.cos()), angle)
        };
        let mut last = plan(Placement::InMotion(None), &sun, BOUNDS, &pose(0), settings, 16_384);
        let (mut drawn, mut of_still) = (0, 0);
        for step in 1..200 {
            let next =
                plan(Placement::InMotion(Some(&last)), &sun, BOUNDS, &pose(step), settings, 16_384);
            let [still, before] = [step, step - 1]
                .map(|step| plan(Placement::Still, &sun, BOUNDS, &pose(step), settings, 16_384));
            drawn += next.to_draw(Some(&last)).len();
            of_still += still.to_draw(Some(&before)).len();
            // They cover the cascades of a view at rest.
            for (own, still) in next.maps.iter().zip(&still.maps) {
                for corner in [DVec3::NEG_ONE, DVec3::ONE] {
                    let point = still.world_to_clip.inverse().project_point3(corner * 0.99);
                    let (_, is_inside) = texel(own, point);
                    assert!(is_inside, "{step}: {point}");
                }
            }
            // Texels are at most an eighth, and a step of the radius, larger.
            let scale = |map: &AtlasMap| map.world_to_clip.row(0).truncate().length();
            for (own, still) in next.maps.iter().zip(&still.maps) {
                let ratio = scale(still) / scale(own);
                assert!((1.0..=1.125 * 1.05).contains(&ratio), "{ratio}");
            }
            last = next;
        }
        println!("{drawn} of {} cascades drawn in motion, {of_still} without margin", 199 * 4);
        assert!(drawn * 5 < of_still, "{drawn} and {of_still}");
    }

    #[test]
    fn maps_of_lamps_show_the_scene_alone_and_all_of_it() {
        let bounds = (DVec3::new(-1.0, 0.0, -1.5), DVec3::new(1.5, 2.0, 1.0));
        let local_lights = lights(|builder| {
            builder.point_light_candela(
                "inside",
                Candela(100.0),
                Vec3::ONE,
                DVec3::new(0.3, 1.2, 0.1),
            );
            builder.point_light_candela(
                "outside",
                Candela(90.0),
                Vec3::ONE,
                DVec3::new(4.0, 3.0, 0.2),
            );
            for (position, angle) in
                [(DVec3::new(2.5, 1.5, 2.0), 1.1), (DVec3::new(0.2, 1.8, 0.0), 0.9)]
            {
                let pose = look_at_transform(position, DVec3::new(0.1, 0.4, -0.2));
                builder.spot_light_lumens(
                    "spot",
                    crate::photometry::Lumen(90.0),
                    Vec3::ONE,
                    (0.3, angle),
                    pose,
                );
            }
        });
        let view = view(DVec3::new(0.0, 1.6, 8.0), 0.0);
        let plan = plan(Placement::Still, &local_lights, bounds, &view, maps_of_size(1024), 16_384);
        for (light, world) in local_lights.iter().enumerate() {
            let first = plan.first_of_light[light].unwrap_or_default() as usize;
            let maps = &plan.maps[first..first + plan.maps[first].count as usize];
            for i in 0..1000u32 {
                // Points on the faces of the bounds and inside.
                let [a, b, c] = [7u32, 11, 13].map(|k| f64::from(i * k % 101) / 100.0);
                let mut part = DVec3::new(a, b, c);
                if i % 4 < 3 {
                    part[i as usize % 4] = part[i as usize % 4].round();
                }
                let point = bounds.0 + (bounds.1 - bounds.0) * part;
                let to = (point - world.position).normalize_or_zero();
                let shines = maps.len() == 6
                    || to.dot(DVec3::from(world.direction)) > outer_half_angle(world).cos();
                let seen = maps.iter().any(|map| {
                    let (place, inside) = texel(map, point);
                    let room = BORDER - 1e-3..f64::from(map.rect[2]) - BORDER + 1e-3;
                    (map.world_to_clip * point.extend(1.0)).w > 0.0
                        && inside
                        && room.contains(&place.x)
                        && room.contains(&place.y)
                });
                assert!(!shines || seen, "{light}: {point}");
            }
        }
        // A spot of 1.1 rad is cropped to the scene: texels are less than half as wide.
        let spot = plan.maps[plan.first_of_light[2].unwrap_or_default() as usize];
        let row = spot.world_to_clip.row(0).truncate();
        let forward = spot.world_to_clip.row(3).truncate();
        let scale = (row - forward * row.dot(forward)).length();
        assert!(scale > 2.0 / 1.1f64.tan(), "{scale}");
    }

    #[test]
    fn maps_do_not_overlap_and_the_weakest_lights_are_dropped() {
        let local_lights = lights(|builder| {
            builder.sun("sun", Lux(1000.0), Vec3::ONE, DVec3::NEG_Y);
            for i in 0..3000 {
                let position = DVec3::new(f64::from(i % 50), 2.0, f64::from(i / 50));
                builder.point_light_candela(
                    "bulb",
                    Candela(1.0 + f64::from(i)),
                    Vec3::ONE,
                    position,
                );
            }
        });
        let view = view(DVec3::new(0.0, 1.6, 8.0), 0.0);
        let plan = plan(Placement::Still, &local_lights, BOUNDS, &view, maps_of_size(2048), 8192);
        assert!(plan.first_of_light[0].is_some(), "the sun has priority");
        let without = plan.first_of_light.iter().filter(|first| first.is_none()).count();
        assert!(without > 0 && plan.left_out as usize == without);
        let told = plan.limit(2048).unwrap_or_default();
        assert!(
            told.contains(&format!("{without} of 3001 lights")) && told.contains("128 texels"),
            "{told}"
        );
        assert!(
            u64::from(plan.atlas[0]) * u64::from(plan.atlas[1]) <= MAX_TEXELS
                && plan.atlas[1] <= 8192
        );
        for (i, a) in plan.maps.iter().enumerate().step_by(37) {
            assert!(
                a.rect[0] + a.rect[2] <= plan.atlas[0] && a.rect[1] + a.rect[3] <= plan.atlas[1]
            );
            for b in plan.maps.iter().skip(i + 1) {
                let apart = |axis: usize| {
                    a.rect[axis] + a.rect[axis + 2] <= b.rect[axis]
                        || b.rect[axis] + b.rect[axis + 2] <= a.rect[axis]
                };
                assert!(apart(0) || apart(1), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn nothing_is_planned_where_nothing_throws_shadows() {
        let view = view(DVec3::ZERO, 0.0);
        let plan = plan(
            Placement::Still,
            &[],
            (DVec3::ZERO, DVec3::ZERO),
            &view,
            maps_of_size(2048),
            8192,
        );
        assert_eq!((plan.maps.len(), plan.atlas, plan.limit(2048)), (0, [1, 1], None));
    }
}
