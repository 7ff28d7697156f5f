//! What floats on water and is carried by the same flow as its ripples: nodes of the scene, each
//! along the line of flow through the place where its author laid it.

use glam::{DMat4, DQuat, DVec2, DVec3};

use super::Water;
use crate::scene::{Scene, address::AddressTable, animation::ScenePose};

/// Seconds of a step along a line of flow.
const STEP: f64 = 0.1;
/// Steps up and down the flow at most: two minutes each way.
const MAX_STEPS: usize = 1200;
/// Seconds in which something comes and goes at the ends of its line.
const COMES: f64 = 0.5;
/// The size that it has there: not 0, so that its transform keeps an inverse.
const MIN_SCALE: f64 = 1e-3;
/// Half the distance (m) over which slopes are averaged: what floats is no smaller.
const REACH: f64 = 0.03;
/// Points of the ring along which the flow's circulation is taken, and its least and greatest
/// radius (m).
const RING_POINTS: u32 = 8;
const RING: [f64; 2] = [0.05, 0.5];
/// Its radius in texels of the flow map: over less, the steps of eight bits show (2 % of a slow
/// eddy's turn over one texel).
const RING_TEXELS: f64 = 2.0;
/// Things that float on one water at most: their lines take 60 MB.
const MAX_FLOATING: usize = 1024;

/// One thing that floats.
#[derive(Clone, Debug, PartialEq)]
pub struct FloatingObject {
    node: usize,
    /// From the world to its parent's space.
    into_parent: DMat4,
    /// To the world, as its author laid it.
    rest: DMat4,
    /// Where it is (m) and how far it has turned (rad, about +Y) after each step.
    line: Vec<(DVec2, f64)>,
    /// The step at which it is as its author laid it.
    laid: usize,
}

/// Half of the flow's curl about +Y (1/s), which is how fast what floats turns: the mean around a
/// ring of the velocity along it, over its radius (Stokes).
fn turning(water: &Water, place: DVec2) -> f64 {
    let texel =
        water.rectangle()[1] / DVec2::new(water.map.width() as f64, water.map.height() as f64);
    let radius = (RING_TEXELS * texel.max_element()).clamp(RING[0], RING[1]);
    let along = |point: u32| {
        let out =
            DVec2::from_angle(f64::from(point) / f64::from(RING_POINTS) * std::f64::consts::TAU);
        // About +Y: from z to x.
        water.flow_at(place + out * radius).0.dot(DVec2::new(out.y, -out.x))
    };
    (0..RING_POINTS).map(along).sum::<f64>() / (f64::from(RING_POINTS) * radius)
}

/// A step along the flow, forth (1) or back (-1), by Runge and Kutta's fourth order.
fn step(water: &Water, from: DVec2, way: f64) -> DVec2 {
    let h = STEP * way;
    let flow = |place: DVec2| water.flow_at(place).0;
    let a = flow(from);
    let b = flow(from + a * (h / 2.0));
    let c = flow(from + b * (h / 2.0));
    let d = flow(from + c * h);
    from + (a + 2.0 * b + 2.0 * c + d) * (h / 6.0)
}

/// The line of flow through a place, from where it comes onto the surface or begins to be followed
/// to where it leaves, and the step at which it is at the place.
fn streamline(
    water: &Water,
    place: DVec2,
    (low, high): (DVec2, DVec2),
) -> (Vec<(DVec2, f64)>, usize) {
    let follow = |way: f64| {
        let mut places = Vec::new();
        let (mut at, mut turned) = (place, 0.0);
        for _ in 0..MAX_STEPS {
            turned += turning(water, at) * STEP * way;
            at = step(water, at, way);
            if !at.is_finite() || at.cmplt(low).any() || at.cmpgt(high).any() {
                break;
            }
            places.push((at, turned));
        }
        places
    };
    let mut all = follow(-1.0);
    let laid = all.len();
    all.reverse();
    all.push((place, 0.0));
    all.extend(follow(1.0));
    (all, laid)
}

impl FloatingObject {
    /// How high (m) its author laid it.
    pub(super) fn height(&self) -> f64 {
        self.rest.w_axis.y
    }

    /// Its transform to its parent's space at a time (s).
    fn at(&self, water: &Water, time: f64) -> DMat4 {
        let whole = self.line.len().saturating_sub(1) as f64 * STEP;
        let along =
            if whole > 0.0 { (self.laid as f64 * STEP + time).rem_euclid(whole) } else { 0.0 };
        let index = (along / STEP).floor();
        let part = along / STEP - index;
        let of = |index: usize| {
            self.line.get(index.min(self.line.len() - 1)).copied().unwrap_or_default()
        };
        let ((from, turned), (to, after)) = (of(index as usize), of(index as usize + 1));
        let place = from.lerp(to, part);
        // What hardly moves on its whole line stays; nothing is gained by its beginning anew.
        let ends = of(0).0.distance(of(usize::MAX).0);
        let size = if ends > 0.01 {
            (along.min(whole - along) / COMES).clamp(MIN_SCALE, 1.0)
        } else {
            1.0
        };
        let slope = [DVec2::X, DVec2::NEG_X, DVec2::Y, DVec2::NEG_Y]
            .map(|way| water.slope_at(place + way * REACH, time))
            .into_iter()
            .sum::<DVec2>()
            / 4.0;
        let up = DVec3::new(-slope.x, 1.0, -slope.y).normalize();
        let turn = DQuat::from_rotation_arc(DVec3::Y, up)
            * DQuat::from_rotation_y(turned + (after - turned) * part);
        let middle = self.rest.w_axis.truncate();
        let moved = DMat4::from_scale_rotation_translation(
            DVec3::splat(size),
            turn,
            DVec3::new(place.x, middle.y, place.y),
        );
        self.into_parent * moved * DMat4::from_translation(-middle) * self.rest
    }
}

impl Scene {
    /// A node and all below it.
    fn below(&self, node: usize) -> Vec<usize> {
        let mut found = vec![node];
        let mut next = 0;
        while let Some(&index) = found.get(next) {
            let children = self.nodes.get(index).map_or(&[][..], |node| &node.children);
            found.extend(children);
            next += 1;
        }
        found
    }

    /// The nodes of a name that float on a water (a material) over so much of the world, with their
    /// lines.
    ///
    /// # Errors
    /// No such node, nothing to see of one, the water itself, too many: one line that says so.
    pub(super) fn find_floating_objects(
        &self,
        (name, material): (&str, usize),
        water: &Water,
        (low, high): (DVec3, DVec3),
    ) -> Result<Vec<FloatingObject>, String> {
        let flat = |v: DVec3| DVec2::new(v.x, v.z);
        let placed = self.walk();
        let found = AddressTable::nodes(self).find(name);
        let mut named: Vec<_> =
            placed.iter().filter(|placed| found.contains(&placed.index)).collect();
        if named.is_empty() {
            return Err(format!(
                "no node is named '{name}': debris is nodes that lie on the water"
            ));
        }
        let parts = |index: usize| {
            let mesh = self.nodes.get(index).and_then(|node| self.meshes.get(node.mesh?));
            mesh.map_or(&[][..], |mesh| &mesh.primitives)
        };
        let is_water =
            |index: &usize| parts(*index).iter().any(|part| part.material == Some(material));
        if named.iter().any(|placed| self.below(placed.index).iter().any(is_water)) {
            return Err(format!("'{name}' is the water itself: debris is nodes that lie on it"));
        }
        // Groups of the same name, as programs write them.
        let shows = |index: &usize| {
            !parts(*index).is_empty()
                || self.nodes.get(*index).is_some_and(|node| node.light.is_some())
        };
        named.retain(|placed| self.below(placed.index).iter().any(shows));
        if named.is_empty() {
            return Err(format!(
                "'{name}' has nothing to see: debris is nodes with meshes or lamps that lie on the water"
            ));
        }
        if named.len() > MAX_FLOATING {
            return Err(format!(
                "{} nodes are named '{name}': at most {MAX_FLOATING} float on a water",
                named.len()
            ));
        }
        let of = |placed: &&crate::scene::PlacedNode<'_>| {
            let into_parent = placed.node.local * placed.world.inverse();
            let (line, laid) =
                streamline(water, flat(placed.world.w_axis.truncate()), (flat(low), flat(high)));
            FloatingObject { node: placed.index, into_parent, rest: placed.world, line, laid }
        };
        // What has no inverse has no place to float at.
        Ok(named.iter().map(of).filter(|floating| floating.into_parent.is_finite()).collect())
    }

    /// Adds to a pose where all that floats is at a time (s).
    pub(in crate::scene) fn pose_floating_objects(&self, time: f64, pose: &mut ScenePose) {
        for water in self.materials.iter().filter_map(|material| material.water.as_ref()) {
            pose.locals.extend(
                water.floating.iter().map(|floating| (floating.node, floating.at(water, time))),
            );
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use glam::{Vec2, Vec3};

    use super::*;
    use crate::scene::{
        FlowMap, WaterSettings,
        animation::AnimationSelection,
        build::{SceneBuilder, dielectric},
        procedural::shapes,
    };

    /// A pool of 8 x 8 m with leaves at these places.
    fn pool(places: &[DVec2]) -> Scene {
        let mut builder = SceneBuilder::new("pool");
        let sheet = builder.add_material(dielectric("water", Vec3::ONE, 0.0));
        let surface = builder.add_mesh("surface", shapes::plane(Vec2::splat(8.0), 1, 1), sheet);
        builder.instance("surface", surface, DMat4::IDENTITY);
        let matte = builder.add_material(dielectric("leaf", Vec3::splat(0.3), 1.0));
        let leaf = builder.add_mesh("leaf", shapes::plane(Vec2::splat(0.1), 1, 1), matte);
        for place in places {
            builder.instance(
                "leaf",
                leaf,
                DMat4::from_translation(DVec3::new(place.x, 0.002, place.y)),
            );
        }
        builder.build().unwrap()
    }

    fn still() -> WaterSettings {
        WaterSettings {
            slope: 0.0,
            slope_still: 0.0,
            debris: Some("leaf".into()),
            ..WaterSettings::default()
        }
    }

    #[test]
    fn what_floats_goes_with_the_flow() {
        let mut scene = pool(&[DVec2::new(-1.0, 0.5)]);
        scene.add_water(0, &WaterSettings { direction: DVec2::X, speed: 0.5, ..still() }).unwrap();
        for (time, x) in [(0.0, -1.0), (1.0, -0.5), (4.37, 1.185), (-2.0, -2.0)] {
            let pose = scene.pose(&AnimationSelection::Auto, time);
            let place = pose.locals[0].1.w_axis;
            assert!((place.x - x).abs() < 1e-6 && (place.z - 0.5).abs() < 1e-9, "{time}: {place}");
            assert!((place.y - 0.002).abs() < 1e-12);
            assert!((pose.locals[0].1.x_axis.length() - 1.0).abs() < 1e-9);
        }
        // 5 m from its place to the end of the surface and 3 m to where it comes in: a line of 16
        // s.
        let around = scene.pose(&AnimationSelection::Auto, 15.8).locals[0].1.w_axis;
        assert!((around.x + 1.1).abs() < 0.06, "{around}");
        // It has gone small before it begins anew.
        let size = |step: u32| {
            scene.pose(&AnimationSelection::Auto, 9.7 + f64::from(step) * 0.01).locals[0]
                .1
                .x_axis
                .length()
        };
        let gone = (0..60).map(size).fold(1.0, f64::min);
        assert!(gone < 0.05, "{gone}");
    }

    #[test]
    fn what_floats_turns_with_an_eddy() {
        // Solid rotation: v = w x r, half its curl is w.
        let side = 64;
        let spin = 0.2;
        let texel = |i: usize| {
            let at = |i: usize| (i as f32 + 0.5) / side as f32 * 8.0 - 4.0;
            let (x, z) = (at(i % side), at(i / side));
            // About +Y, from z to x; the map ends two metres out.
            Vec2::new(z, -x) * spin / 0.4
        };
        let map = FlowMap::new(side, side, (0..side * side).map(texel).collect()).unwrap();
        let mut scene = pool(&[DVec2::new(1.0, 0.0)]);
        scene
            .add_water(0, &WaterSettings { flow: Some(Arc::new(map)), speed: 0.4, ..still() })
            .unwrap();
        let time = 3.0;
        let at = scene.pose(&AnimationSelection::Auto, time).locals[0].1;
        let angle = f64::from(spin) * time;
        let want = DVec2::new(angle.cos(), -angle.sin());
        let place = DVec2::new(at.w_axis.x, at.w_axis.z);
        assert!(place.distance(want) < 0.01, "{place} {want}");
        let heading = DVec2::new(at.x_axis.x, at.x_axis.z);
        assert!(heading.distance(want) < 0.01, "{heading} {want}");
    }

    #[test]
    fn what_does_not_exist_does_not_float() {
        let mut scene = pool(&[]);
        let error = scene.add_water(0, &still()).unwrap_err();
        assert!(error.contains("'leaf'"), "{error}");
        let itself = WaterSettings { debris: Some("surface".into()), ..still() };
        let error = scene.add_water(0, &itself).unwrap_err();
        assert!(error.contains("the water itself"), "{error}");
        scene.nodes[0].mesh = None;
        let error = scene.add_water(0, &itself).unwrap_err();
        assert!(error.contains("nothing to see"), "{error}");
        // Where nothing flows it lies still.
        let mut scene = pool(&[DVec2::ZERO]);
        scene.add_water(0, &still()).unwrap();
        assert_eq!(
            scene.pose(&AnimationSelection::Auto, 17.0).locals[0].1,
            scene.pose(&AnimationSelection::Auto, 0.0).locals[0].1
        );
    }
}
