//! Floating debris: scene nodes that follow streamlines of the flow that also carries the ripples.
//! Each streamline passes through the node's authored position.

use glam::{DMat4, DQuat, DVec2, DVec3};

use super::{FloatingObject, Water};
use crate::scene::{PlacedNode, Scene, address::AddressTable, animation::ScenePose};

/// Time step (s) of streamline integration.
const STEP: f64 = 0.1;
/// Maximum number of steps upstream and downstream: two minutes each.
const MAX_STEPS: usize = 1200;
/// Fade time (s) at the ends of a streamline, where objects grow and shrink.
const COMES: f64 = 0.5;
/// Minimum scale: above 0 keeps the transform invertible.
const MIN_SCALE: f64 = 1e-3;
/// Half of the distance (m) over which slopes are averaged: about the size of the smallest objects.
const REACH: f64 = 0.03;
/// Number of points on the ring that samples the flow's circulation, and its minimum and maximum
/// radius (m).
const RING_POINTS: u32 = 8;
const RING: [f64; 2] = [0.05, 0.5];
/// Radius of the ring in texels of the flow map. A smaller ring shows 8-bit quantization (2 % of a
/// slow eddy's rotation over one texel).
const RING_TEXELS: f64 = 2.0;
/// Maximum number of objects that float on one water: their streamlines take 60 MB.
const MAX_FLOATING: usize = 1024;

/// Half of the flow's curl about +Y (1/s), the angular velocity of floating objects: mean
/// tangential velocity on a ring over its radius (Stokes' theorem).
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

/// A fourth-order Runge-Kutta step downstream (1) or upstream (-1).
fn step(water: &Water, from: DVec2, way: f64) -> DVec2 {
    let h = STEP * way;
    let flow = |place: DVec2| water.flow_at(place).0;
    let a = flow(from);
    let b = flow(from + a * (h / 2.0));
    let c = flow(from + b * (h / 2.0));
    let d = flow(from + c * h);
    from + (a + 2.0 * b + 2.0 * c + d) * (h / 6.0)
}

/// Streamline through a position, between the edges of the surface or the step limit, and the step
/// at which it is at the position.
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
    /// Transform to parent space at a time (s).
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
        // Objects whose streamline is almost a point do not shrink and restart.
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
    /// A node and its descendants.
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

    /// Finds the nodes with a name that float on a water (material) within a world rectangle, and
    /// computes their streamlines.
    ///
    /// # Errors
    /// A one-line message if no node has the name, one has neither meshes nor lights, one is the
    /// water itself, or there are too many.
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
                "no node is named '{name}': debris names nodes that float on the water"
            ));
        }
        let parts = |index: usize| {
            let mesh = self.nodes.get(index).and_then(|node| self.meshes.get(node.mesh?));
            mesh.map_or(&[][..], |mesh| &mesh.primitives)
        };
        let is_water =
            |index: &usize| parts(*index).iter().any(|part| part.material == Some(material));
        if named.iter().any(|placed| self.below(placed.index).iter().any(is_water)) {
            return Err(format!(
                "'{name}' is the water itself: debris names nodes that float on it"
            ));
        }
        // Exporters give groups of equal name.
        let shows = |index: &usize| {
            !parts(*index).is_empty()
                || self.nodes.get(*index).is_some_and(|node| node.light.is_some())
        };
        named.retain(|placed| self.below(placed.index).iter().any(shows));
        if named.is_empty() {
            return Err(format!(
                "'{name}' has nothing to see: debris names nodes with meshes or lights that float on the water"
            ));
        }
        if named.len() > MAX_FLOATING {
            return Err(format!(
                "{} nodes are named '{name}': expected at most {MAX_FLOATING} on one water",
                named.len()
            ));
        }
        let of = |placed: &&PlacedNode<'_>| {
            let into_parent = placed.node.local * placed.world.inverse();
            let (line, laid) =
                streamline(water, flat(placed.world.w_axis.truncate()), (flat(low), flat(high)));
            FloatingObject { node: placed.index, into_parent, rest: placed.world, line, laid }
        };
        // Nodes under a singular transform cannot float.
        Ok(named.iter().map(of).filter(|floating| floating.into_parent.is_finite()).collect())
    }

    /// Adds the transforms of all floating objects at a time (s) to a pose.
    pub(in crate::scene) fn pose_floating_objects(&self, time: f64, pose: &mut ScenePose) {
        for water in self.materials.iter().filter_map(|material| material.water.as_ref()) {
            pose.locals.extend(
                water.floating.iter().map(|floating| (floating.node, floating.at(water, time))),
            );
        }
    }
}

#[cfg(test)]
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

    /// A pool of 8 x 8 m with leaves at the given positions.
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
        // 5 m from its position to the end of the surface and 3 m to the start: a streamline of 16
        // s.
        let around = scene.pose(&AnimationSelection::Auto, 15.8).locals[0].1.w_axis;
        assert!((around.x + 1.1).abs() < 0.06, "{around}");
        // It shrinks before it restarts.
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
        // Solid rotation: v = w x r; half its curl is w.
        let side = 64;
        let spin = 0.2;
        let texel = |i: usize| {
            let at = |i: usize| (i as f32 + 0.5) / side as f32 * 8.0 - 4.0;
            let (x, z) = (at(i % side), at(i / side));
            // About +Y, from z to x; the map ends two meters out.
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
        // In still water it rests.
        let mut scene = pool(&[DVec2::ZERO]);
        scene.add_water(0, &still()).unwrap();
        assert_eq!(
            scene.pose(&AnimationSelection::Auto, 17.0).locals[0].1,
            scene.pose(&AnimationSelection::Auto, 0.0).locals[0].1
        );
    }
}
