//! A blossoming tree in the wind with falling petals: thousands of procedurally animated instances,
//! and branches that bend by node hierarchy.

use std::{f64::consts::TAU, sync::Arc};

use glam::{DMat4, DQuat, DVec3, Vec2, Vec3};

use super::{random::SplitMix64, shapes};
use crate::scene::{
    Material, Scene,
    animation::{Animation, ProceduralMotion, ScenePose},
    build::{MaterialId, MeshId, NodeId, SceneBuilder, SceneError, dielectric},
};

/// Number of petals in the demo.
pub const COUNT: usize = 10_000;

/// Look: a clear spring day, with motion blur by a shutter of 1/60 s.
pub const LOOK: &str = include_str!("../../../assets/demos/petals.look.toml");

/// Branch generations after the trunk, and branches per parent.
const GENERATIONS: usize = 4;
const FORKS: usize = 3;

/// Scale of a petal at the start and end of its fall: above 0 keeps its transform invertible.
const BUD: f64 = 1e-3;

/// A petal's looping fall.
#[derive(Clone, Debug)]
struct Petal {
    node: usize,
    /// Start position on the tree (m).
    start: DVec3,
    /// Duration of the fall (s).
    fall: f64,
    /// Phase of the fall at time 0, 0 to 1.
    phase: f64,
    /// Swing: amplitude (m), angular frequency (rad/s), phase (rad).
    swing: (f64, f64, f64),
    /// Tumble: axis and angular velocity (rad/s).
    tumble: (DVec3, f64),
    size: f64,
}

/// A swaying branch.
#[derive(Clone, Debug)]
struct Branch {
    node: usize,
    rest: DMat4,
    /// Sway: amplitude (rad), angular frequency (rad/s), phase (rad).
    sway: (f64, f64, f64),
}

/// All animated objects.
#[derive(Clone, Debug, Default)]
struct Wind {
    petals: Vec<Petal>,
    branches: Vec<Branch>,
}

/// Mean speed of the wind (m/s), toward +X.
const WIND: f64 = 0.55;

impl Petal {
    fn at(&self, time: f64) -> DMat4 {
        let part = (time / self.fall + self.phase).rem_euclid(1.0);
        let seconds = part * self.fall;
        let (width, speed, begin) = self.swing;
        let turn = speed * seconds + begin;
        // Gusts: the integral of a speed that oscillates around the mean.
        let drift = WIND * seconds + 0.25 * ((0.9 * seconds + begin).sin() - begin.sin());
        // It rests on the ground for the last tenth.
        let height = self.start.y * (1.0 - (part / 0.9).min(1.0));
        let swing = DVec3::new(turn.sin(), 0.0, (0.7 * turn + begin).cos()) * width;
        let landed = ((part - 0.86) / 0.04).clamp(0.0, 1.0);
        let place =
            DVec3::new(self.start.x + drift, height + 0.004, self.start.z) + swing * (1.0 - landed);
        let (axis, tumble) = self.tumble;
        let rotation = DQuat::from_axis_angle(axis, tumble * seconds + begin)
            .slerp(DQuat::from_rotation_y(begin), landed);
        let grown = (part / 0.03).min((1.0 - part) / 0.03).clamp(BUD, 1.0);
        DMat4::from_scale_rotation_translation(DVec3::splat(self.size * grown), rotation, place)
    }
}

impl ProceduralMotion for Wind {
    fn pose(&self, time: f64, pose: &mut ScenePose) {
        pose.locals.extend(self.petals.iter().map(|petal| (petal.node, petal.at(time))));
        pose.locals.extend(self.branches.iter().map(|branch| {
            let (far, speed, begin) = branch.sway;
            let bend = far
                * (0.6
                    + (speed * time + begin).sin()
                    + 0.4 * (2.3 * speed * time + 2.0 * begin).sin());
            // Rotates in the branch's own frame, so that its children follow.
            (
                branch.node,
                branch.rest * DMat4::from_rotation_z(-bend) * DMat4::from_rotation_x(0.3 * bend),
            )
        }));
    }
}

/// The tree under construction.
struct Tree {
    builder: SceneBuilder,
    wind: Wind,
    random: SplitMix64,
    wood: Vec<(MeshId, f64)>,
    blossoms: MeshId,
    /// Rest positions of blossoms.
    tips: Vec<DVec3>,
}

impl Tree {
    fn branch(&mut self, parent: Option<NodeId>, generation: usize, local: DMat4, world: DMat4) {
        let Some(&(mesh, length)) = self.wood.get(generation) else {
            self.tips.push(world.w_axis.truncate());
            if let Some(parent) = parent {
                let turn = DQuat::from_rotation_y(self.random.uniform(0.0, TAU));
                let size = self.random.uniform(0.7, 1.3);
                let pose = DMat4::from_scale_rotation_translation(
                    DVec3::splat(size),
                    turn,
                    local.w_axis.truncate(),
                );
                self.builder.instance_in(parent, "Blossoms", self.blossoms, pose);
            }
            return;
        };
        let name = if generation == 0 { "Trunk" } else { "Branch" };
        let node = match parent {
            Some(parent) => self.builder.instance_in(parent, name, mesh, local),
            None => self.builder.instance(name, mesh, local),
        };
        let sway = (
            0.006 + 0.012 * generation as f64,
            1.1 + 0.5 * generation as f64 + self.random.uniform(-0.2, 0.2),
            self.random.uniform(0.0, TAU),
        );
        self.wind.branches.push(Branch { node: node.index(), rest: local, sway });
        let whole = self.random.uniform(0.0, TAU);
        for fork in 0..FORKS {
            let around = whole + TAU * fork as f64 / FORKS as f64 + self.random.uniform(-0.3, 0.3);
            let lean = self.random.uniform(0.45, 0.85);
            let along = length * self.random.uniform(0.8, 0.98);
            let next = DMat4::from_translation(DVec3::Y * along)
                * DMat4::from_rotation_y(around)
                * DMat4::from_rotation_z(lean);
            self.branch(Some(node), generation + 1, next, world * next);
        }
    }
}

/// A cupped and pointed petal in the XZ plane; 1 m long.
fn petal() -> crate::scene::Primitive {
    shapes::sheet(4, 4, |u, v| {
        let width = 0.34 * (std::f32::consts::PI * (0.12 + 0.83 * v)).sin();
        let x = (u - 0.5) * 2.0 * width;
        Vec3::new(x, 0.9 * x * x + 0.25 * (v - 0.4) * (v - 0.4), v - 0.5)
    })
}

fn blossom_cluster(random: &mut SplitMix64) -> crate::scene::Primitive {
    let mut all = crate::scene::Primitive::default();
    let petal = petal();
    for _ in 0..70 {
        let axis = DVec3::new(
            random.uniform(-1.0, 1.0),
            random.uniform(-1.0, 1.0),
            random.uniform(-1.0, 1.0),
        );
        let place = axis.normalize_or(DVec3::Y) * random.uniform(0.05, 0.34);
        let turn = DQuat::from_axis_angle(axis.normalize_or(DVec3::Y), random.uniform(0.0, TAU));
        let transform =
            glam::DAffine3::from_scale_rotation_translation(DVec3::splat(0.11), turn, place);
        shapes::append(&mut all, &petal, &transform);
    }
    all
}

/// The tree with a number of petals.
///
/// # Errors
/// `SceneError` if the scene breaks an invariant of the scene model; tests exclude it.
pub fn petals(count: usize) -> Result<Scene, SceneError> {
    let mut builder = SceneBuilder::new("Falling petals");
    let mut random = SplitMix64::new(7);
    let grass = builder.add_material(dielectric("Grass", Vec3::new(0.07, 0.13, 0.03), 0.9));
    let bark = builder.add_material(dielectric("Bark", Vec3::new(0.10, 0.065, 0.045), 0.85));
    let pink =
        |name: &str, rgb: Vec3| Material { double_sided: true, ..dielectric(name, rgb, 0.6) };
    let petals: Vec<MaterialId> = [Vec3::new(0.85, 0.52, 0.58), Vec3::new(0.88, 0.66, 0.70)]
        .map(|rgb| builder.add_material(pink("Petal", rgb)))
        .into();
    let ground = builder.add_mesh("Ground", shapes::plane(Vec2::splat(60.0), 1, 1), grass);
    builder.instance("Ground", ground, DMat4::IDENTITY);
    let mut wood = Vec::new();
    let (mut radius, mut length) = (0.16f32, 1.35f32);
    for generation in 0..GENERATIONS {
        let taper = [
            Vec2::new(radius * 1.35, -0.02),
            Vec2::new(radius, length * 0.3),
            Vec2::new(radius * 0.62, length),
        ];
        wood.push((
            builder.add_mesh(&format!("Wood {generation}"), shapes::lathe(&taper, 0.5, 10), bark),
            f64::from(length),
        ));
        (radius, length) = (radius * 0.56, length * 0.74);
    }
    let cluster = blossom_cluster(&mut random);
    let blossoms = builder.add_mesh("Blossoms", cluster, petals[0]);
    let mut tree =
        Tree { builder, wind: Wind::default(), random, wood, blossoms, tips: Vec::new() };
    tree.branch(None, 0, DMat4::IDENTITY, DMat4::IDENTITY);
    let Tree { mut builder, mut wind, mut random, tips, .. } = tree;
    let meshes: Vec<MeshId> =
        petals.iter().map(|&material| builder.add_mesh("Petal", petal(), material)).collect();
    for number in 0..count {
        let tip = tips
            .get((random.bits() % tips.len().max(1) as u64) as usize)
            .copied()
            .unwrap_or(DVec3::Y * 3.0);
        let spread = DVec3::new(
            random.uniform(-0.3, 0.3),
            random.uniform(-0.3, 0.3),
            random.uniform(-0.3, 0.3),
        );
        let start = (tip + spread).max(DVec3::new(-1e3, 0.5, -1e3));
        // Cherry petals sink at about half a meter per second.
        let fall = start.y / random.uniform(0.4, 0.7) / 0.9;
        let axis = DVec3::new(
            random.uniform(-1.0, 1.0),
            random.uniform(-0.3, 0.3),
            random.uniform(-1.0, 1.0),
        );
        let mut made = Petal {
            node: 0,
            start,
            fall,
            phase: random.unit(),
            swing: (random.uniform(0.05, 0.3), random.uniform(1.5, 3.5), random.uniform(0.0, TAU)),
            tumble: (axis.normalize_or(DVec3::X), random.uniform(1.0, 6.0)),
            size: random.uniform(0.04, 0.065),
        };
        made.node = builder.instance("Petal", meshes[number % meshes.len()], made.at(0.0)).index();
        wind.petals.push(made);
    }
    builder.camera(
        "Camera",
        DVec3::new(1.6, 1.5, 9.2),
        DVec3::new(0.7, 2.15, 0.0),
        0.56,
        Some(16.0 / 9.0),
    );
    let mut scene = builder.build()?;
    scene.animations.push(Animation {
        name: "Wind".into(),
        duration: f64::INFINITY,
        channels: Vec::new(),
        motion: Some(Arc::new(wind)),
    });
    Ok(scene)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::animation::AnimationSelection;

    #[test]
    fn petals_fall_smoothly_and_their_time_runs_alike() {
        let scene = petals(300).unwrap();
        let pose = |time| scene.pose(&AnimationSelection::Auto, time);
        assert_eq!(pose(2.0), pose(2.0));
        let (a, b) = (pose(2.0), pose(2.0 + 1.0 / 240.0));
        let mut moved = 0;
        for ((node, from), (same, to)) in a.locals.iter().zip(&b.locals) {
            assert_eq!(node, same);
            assert!(from.is_finite() && from.determinant().abs() > 1e-18, "node {node}");
            let way = from.w_axis.distance(to.w_axis);
            // Petals that restart are too small to be visible.
            let seen = from.x_axis.length().min(to.x_axis.length()) > 0.01;
            assert!(!seen || way < 0.03, "node {node}: {way} m in a frame");
            moved += usize::from(way > 0.0);
        }
        assert!(moved > 250, "{moved}");
    }

    #[test]
    fn branches_carry_what_grows_on_them() {
        let scene = petals(0).unwrap();
        let tips = |time: f64| -> Vec<DVec3> {
            let mut posed = scene.clone();
            posed.apply(&scene.pose(&AnimationSelection::Auto, time));
            let shown = posed.walk();
            shown
                .iter()
                .filter(|p| p.node.name == "Blossoms")
                .map(|p| p.world.w_axis.truncate())
                .collect()
        };
        let (a, b) = (tips(0.0), tips(1.3));
        assert_eq!(a.len(), FORKS.pow(GENERATIONS as u32));
        let ways: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a.distance(*b)).collect();
        assert!(ways.iter().all(|way| (1e-4..0.6).contains(way)), "{ways:?}");
    }
}
