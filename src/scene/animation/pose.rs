//! The pose of a scene at a time, and its deformed vertices.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use glam::{DMat4, DVec3, DVec4};

use super::{AnimationSelection, AnimationTarget, Deform, DeformedVertices, ScenePose, Trs};
use crate::scene::{Mesh, Node, Primitive, Scene, address::AddressTable};

impl Scene {
    /// Index of the animation with a name or number, for `AnimationSelection::Index`.
    #[must_use]
    pub fn animation(&self, name: &str) -> Option<usize> {
        let things = AddressTable::from_names(
            self.animations.iter().map(|animation| animation.name.as_str()),
        );
        things.find(name).first().copied()
    }

    /// Indices of the selected animations.
    #[must_use]
    pub fn selected_animations(&self, play: &AnimationSelection) -> Vec<usize> {
        match *play {
            AnimationSelection::Index(number) if number < self.animations.len() => vec![number],
            AnimationSelection::Index(_) => Vec::new(),
            AnimationSelection::All => (0..self.animations.len()).collect(),
            AnimationSelection::Auto => {
                let mut seen = HashSet::new();
                // Several channels of one animation may share a target.
                let apart = self.animations.iter().all(|animation| {
                    let own: HashSet<_> = animation.moves().collect();
                    own.into_iter().all(|target| seen.insert(target))
                });
                (0..if apart { self.animations.len() } else { 1 }).collect()
            }
        }
    }

    /// Pose at a time (s). A time that is not finite counts as 0.
    #[must_use]
    pub fn pose(&self, play: &AnimationSelection, time: f64) -> ScenePose {
        self.pose_at_offset(play, time, 0.0)
    }

    /// Pose at `time + offset` (s), where only `time` wraps: a shutter that is open across the end
    /// of an animation does not see its start.
    #[must_use]
    #[allow(clippy::cast_possible_truncation)]
    pub fn pose_at_offset(&self, play: &AnimationSelection, time: f64, offset: f64) -> ScenePose {
        let [time, offset] = [time, offset].map(|time| if time.is_finite() { time } else { 0.0 });
        let mut pose = ScenePose::default();
        let mut moved: BTreeMap<usize, Trs> = BTreeMap::new();
        let mut weighed: BTreeMap<usize, Vec<f32>> = BTreeMap::new();
        for animation in self
            .selected_animations(play)
            .into_iter()
            .filter_map(|number| self.animations.get(number))
        {
            let time = animation.loop_time(time) + offset;
            if let Some(motion) = &animation.motion {
                motion.pose(time, &mut pose);
            }
            for channel in &animation.channels {
                let keys = &channel.keys;
                let three = || {
                    let v = keys.sample(time);
                    let at = |i: usize| v.get(i).copied().unwrap_or(0.0);
                    DVec3::new(at(0), at(1), at(2))
                };
                let mut trs = |node: usize, change: &dyn Fn(&mut Trs)| {
                    if let Some(of) = self.nodes.get(node) {
                        change(moved.entry(node).or_insert_with(|| of.rest()));
                    }
                };
                match channel.target {
                    AnimationTarget::Translation(node) => {
                        trs(node, &|trs| trs.translation = three())
                    }
                    AnimationTarget::Scale(node) => trs(node, &|trs| trs.scale = three()),
                    AnimationTarget::Rotation(node) => {
                        trs(node, &|trs| trs.rotation = keys.rotation(time))
                    }
                    AnimationTarget::Weights(node) => {
                        weighed.insert(
                            node,
                            keys.sample(time).into_iter().map(|w| w as f32).collect(),
                        );
                    }
                    AnimationTarget::Weight(node, number) => {
                        let rest = || {
                            self.nodes
                                .get(node)
                                .map(|node| node.weights.clone())
                                .unwrap_or_default()
                        };
                        let weights = weighed.entry(node).or_insert_with(rest);
                        if let (Some(weight), Some(&value)) =
                            (weights.get_mut(number), keys.sample(time).first())
                        {
                            *weight = value as f32;
                        }
                    }
                    AnimationTarget::Value(value) => {
                        let v = keys.sample(time);
                        let at = |i: usize| v.get(i).copied().unwrap_or(0.0);
                        pose.values.push((value, DVec4::new(at(0), at(1), at(2), at(3))));
                    }
                }
            }
        }
        self.pose_floating_objects(time + offset, &mut pose);
        pose.locals.extend(moved.into_iter().map(|(node, trs)| (node, trs.matrix())));
        pose.weights.extend(weighed);
        pose
    }

    /// Writes a pose to nodes, morph weights, materials, lights and cameras. It leaves vertices
    /// unchanged; see `bake`.
    pub fn apply(&mut self, pose: &ScenePose) {
        for &(node, local) in pose.locals.iter().filter(|(_, local)| local.is_finite()) {
            if let Some(node) = self.nodes.get_mut(node) {
                node.local = local;
            }
        }
        for (node, weights) in &pose.weights {
            if let Some(node) = self.nodes.get_mut(*node)
                && node.weights.len() == weights.len()
            {
                node.weights.clone_from(weights);
            }
        }
        super::value::apply(self, &pose.values);
        self.anchor_skins();
    }

    /// Local-to-world matrix of every node, visible or not; identity for nodes in a cycle.
    #[must_use]
    pub fn world_transforms(&self) -> Vec<DMat4> {
        let mut worlds = vec![DMat4::IDENTITY; self.nodes.len()];
        let tops = self.nodes.iter().enumerate().filter(|(_, node)| node.parent.is_none());
        let mut stack: Vec<(usize, DMat4)> =
            tops.map(|(index, _)| (index, DMat4::IDENTITY)).collect();
        while let Some((index, parent)) = stack.pop() {
            let (Some(node), Some(world)) = (self.nodes.get(index), worlds.get_mut(index)) else {
                continue;
            };
            *world = parent * node.local;
            stack.extend(node.children.iter().map(|&child| (child, *world)));
        }
        worlds
    }

    /// A node with a skinned mesh ignores its own transform (section 3.7.3.3). It moves to the
    /// skin's first joint, and vertices are relative to it, which preserves precision far from the
    /// origin.
    fn anchor_skins(&mut self) {
        if self.skins.is_empty() || self.nodes.iter().all(|node| node.skin.is_none()) {
            return;
        }
        let worlds = self.world_transforms();
        for node in &mut self.nodes {
            let Some(skin) = node.skin.and_then(|skin| self.skins.get(skin)) else { continue };
            let anchor = skin
                .joints
                .first()
                .and_then(|&joint| worlds.get(joint))
                .map(|world| world.w_axis.truncate());
            let anchor = anchor.filter(|anchor| anchor.is_finite()).unwrap_or_default();
            node.local = DMat4::from_translation(anchor);
        }
    }

    /// Joint matrices from skinned mesh space to the space of its node, one per joint; empty
    /// without a skin.
    #[must_use]
    pub fn palette(&self, node: usize, worlds: &[DMat4]) -> Vec<DMat4> {
        let Some((skin, node)) =
            self.nodes.get(node).and_then(|node| Some((self.skins.get(node.skin?)?, node)))
        else {
            return Vec::new();
        };
        let anchor = DMat4::from_translation(-node.local.w_axis.truncate());
        let of = |(&joint, bind): (&usize, &DMat4)| {
            let matrix = anchor * worlds.get(joint).copied().unwrap_or(DMat4::IDENTITY) * *bind;
            if matrix.is_finite() { matrix } else { DMat4::IDENTITY }
        };
        skin.joints.iter().zip(&skin.inverse_bind).map(of).collect()
    }

    /// Node and mesh index of each deformed mesh, one node per mesh: nodes with a common mesh share
    /// its shape.
    #[must_use]
    pub fn deformed(&self) -> Vec<(usize, usize)> {
        let mut of_mesh: HashMap<usize, usize> = HashMap::new();
        for placed in self.walk() {
            let Some(mesh) = placed.node.mesh else { continue };
            let moves = |m: &Mesh| m.primitives.iter().any(|primitive| primitive.deform.is_some());
            if self.meshes.get(mesh).is_some_and(moves) {
                of_mesh.entry(mesh).or_insert(placed.index);
            }
        }
        let mut out: Vec<(usize, usize)> =
            of_mesh.into_iter().map(|(mesh, node)| (node, mesh)).collect();
        out.sort_unstable_by_key(|&(_, mesh)| mesh);
        out
    }

    /// Deforms the vertices of skinned and morphed meshes by the current joint matrices and morph
    /// weights.
    pub fn bake(&mut self) {
        let deformed = self.deformed();
        if deformed.is_empty() {
            return;
        }
        let worlds = self.world_transforms();
        for (node, mesh) in deformed {
            let palette = self.palette(node, &worlds);
            let weights = self.nodes.get(node).map(|node| node.weights.clone()).unwrap_or_default();
            for primitive in
                self.meshes.get_mut(mesh).into_iter().flat_map(|mesh| &mut mesh.primitives)
            {
                if let Some(deform) = primitive.deform.clone() {
                    Arc::as_ref(&deform).write(primitive, &weights, &palette);
                }
            }
        }
    }

    /// One primitive with its vertices deformed by the scene's pose, as `bake` computes them;
    /// `None` if the primitive does not deform.
    #[must_use]
    pub fn baked(&self, mesh: usize, primitive: usize) -> Option<Primitive> {
        let (node, _) = self.deformed().into_iter().find(|&(_, of)| of == mesh)?;
        let mut moved = self.meshes.get(mesh)?.primitives.get(primitive)?.clone();
        let deform = moved.deform.clone()?;
        let weights = self.nodes.get(node).map(|node| node.weights.clone()).unwrap_or_default();
        deform.write(&mut moved, &weights, &self.palette(node, &self.world_transforms()));
        Some(moved)
    }

    /// A copy of the scene at a time (s), with pose and deformed vertices.
    #[must_use]
    pub fn at(&self, play: &AnimationSelection, time: f64) -> Self {
        let mut scene = self.clone();
        scene.apply(&self.pose(play, time));
        scene.bake();
        scene.time = time;
        scene
    }

    /// True if anything is animated: by an animation or as water.
    #[must_use]
    pub fn is_animated(&self) -> bool {
        !self.animations.is_empty()
            || self.materials.iter().any(|material| material.water.is_some())
    }
}

impl Node {
    /// Local transform as translation, rotation and scale.
    #[must_use]
    pub fn rest(&self) -> Trs {
        self.trs.unwrap_or_else(|| Trs::of_matrix(&self.local))
    }
}

impl Deform {
    /// Replaces the vertices of a primitive with the deformed ones.
    pub fn write(&self, primitive: &mut Primitive, weights: &[f32], palette: &[DMat4]) {
        let DeformedVertices { positions, normals, tangents } = self.shape(weights, palette);
        (primitive.positions, primitive.normals, primitive.tangents) =
            (positions, normals, tangents);
    }
}
