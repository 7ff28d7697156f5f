//! Rules on nodes, scenes and skins (glTF 2.0 sections 3.5 and 3.7.3).

use std::collections::HashSet;

use glam::{DMat3, DMat4};
use serde_json::Value;

use super::{
    super::{
        accessor::{AccessorType, Component},
        json::{entries, index, indices, items, numbers},
        report::{At, ImportReport},
        schema,
    },
    data::{self, UNIT_TOLERANCE},
    input::Input,
};

/// The node hierarchy, which is a forest.
pub(in super::super) struct Forest {
    /// The shown nodes, and the joints of their skins.
    pub(in super::super) shown: HashSet<usize>,
    /// Each node's parent.
    pub(in super::super) parents: Vec<Option<usize>>,
    /// Each node's topmost ancestor.
    roots: Vec<usize>,
    /// Entry numbers of a depth-first traversal, which identify ancestors in one comparison.
    enter: Vec<usize>,
    leave: Vec<usize>,
}

impl Forest {
    fn root(&self, node: usize) -> usize {
        self.roots.get(node).copied().unwrap_or(node)
    }

    fn is_ancestor(&self, above: usize, below: usize) -> bool {
        match (self.enter.get(above), self.leave.get(above), self.enter.get(below)) {
            (Some(enter), Some(leave), Some(at)) => enter <= at && at < leave,
            _ => false,
        }
    }
}

/// Checks nodes and scenes. A node that is not shown becomes a root if its place in the hierarchy
/// is invalid.
pub(super) fn check(input: &Input<'_>, report: &mut ImportReport) -> Option<Forest> {
    let root = input.root;
    let nodes = items(root, "nodes");
    let at = At::ROOT;
    let place = at.key("nodes");
    let meshes = items(root, "meshes");
    // Once a mesh, since any number of nodes may share one.
    let joints = |primitive: &Value| {
        entries(primitive, "attributes").any(|(name, _)| name.starts_with("JOINTS_"))
    };
    let skinned: Vec<bool> =
        meshes.iter().map(|mesh| items(mesh, "primitives").iter().any(joints)).collect();
    for (i, node) in nodes.iter().enumerate() {
        let at = place.index(i);
        if node.get("matrix").is_some() {
            if ["translation", "rotation", "scale"].iter().any(|key| node.get(key).is_some()) {
                report.repair(
                    at.key("matrix"),
                    "both a matrix and translation, rotation or scale; the matrix is used",
                );
            }
            if numbers::<16>(node, "matrix").is_some_and(|matrix| !decomposable(&matrix)) {
                report.repair(
                    at.key("matrix"),
                    "the matrix is not a product of translation, rotation and scale",
                );
            }
        }
        if let Some(rotation) = numbers::<4>(node, "rotation") {
            let length = rotation.iter().map(|x| x * x).sum::<f64>().sqrt();
            if (length - 1.0).abs() > UNIT_TOLERANCE {
                report.repair(
                    at.key("rotation"),
                    format!("the quaternion's length is {length}; it is normalized"),
                );
            }
        }
        let mesh = index(node, "mesh");
        for key in ["skin", "weights"] {
            if node.get(key).is_some() && mesh.is_none() {
                report.repair(at.key(key), "a node without a mesh; ignored");
            }
        }
        let primitives =
            mesh.and_then(|mesh| meshes.get(mesh)).map(|mesh| items(mesh, "primitives"));
        let Some(primitives) = primitives else { continue };
        let targets = primitives.first().map_or(0, |primitive| items(primitive, "targets").len());
        if node.get("weights").is_some() && items(node, "weights").len() != targets {
            report.repair(
                at.key("weights"),
                format!("the number of weights differs from the {targets} morph targets; ignored"),
            );
        }
        let skinned = mesh.and_then(|mesh| skinned.get(mesh)) == Some(&true);
        if node.get("skin").is_some() && !skinned {
            report.repair(at.key("skin"), "a skin on a mesh without joints; ignored");
        }
    }
    let forest = forest(input, report)?;
    scenes(input, &forest, report);
    Some(forest)
}

fn decomposable(m: &[f64; 16]) -> bool {
    let m = DMat4::from_cols_array(m);
    if m.row(3).truncate().abs().max_element() > 0.0 || (m.w_axis.w - 1.0).abs() > 1e-6 {
        return false;
    }
    let m = DMat3::from_mat4(m);
    let axes = [m.x_axis, m.y_axis, m.z_axis];
    // A matrix that collapses a direction is a scale of zero, which is decomposable.
    axes.iter().zip([1, 2, 0]).all(|(a, b)| {
        let Some(b) = axes.get(b) else { return true };
        a.dot(*b).abs() <= 1e-3 * a.length() * b.length()
    })
}

fn forest(input: &Input<'_>, report: &mut ImportReport) -> Option<Forest> {
    let nodes = items(input.root, "nodes");
    let at = At::ROOT;
    let place = at.key("nodes");
    let mut parents: Vec<Option<usize>> = vec![None; nodes.len()];
    let mut sound = true;
    let shown = schema::shown(input.root).nodes;
    // Shown nodes come first, so that others take no children from them.
    let (first, last): (Vec<usize>, Vec<usize>) =
        (0..nodes.len()).partition(|node| shown.contains(node));
    for i in first.into_iter().chain(last) {
        for child in nodes.get(i).into_iter().flat_map(|node| indices(node, "children")) {
            let Some(parent) = parents.get_mut(child) else { continue };
            if parent.is_none() {
                *parent = Some(i);
                continue;
            }
            let at = place.index(i);
            let at = at.key("children");
            if shown.contains(&i) {
                report.error(
                    at,
                    format!("node {child} already has a parent; export the file again as a tree"),
                );
                sound = false;
            } else {
                report.repair(at, format!("node {child} already has a parent, which is kept"));
            }
        }
    }
    // From the roots down; unreached nodes are on a cycle.
    let children = |parents: &[Option<usize>], parent: usize| -> Vec<usize> {
        let listed = nodes.get(parent).into_iter().flat_map(|node| indices(node, "children"));
        listed.filter(|&child| parents.get(child) == Some(&Some(parent))).collect()
    };
    let mut roots = vec![usize::MAX; nodes.len()];
    let (mut enter, mut leave) = (vec![0; nodes.len()], vec![0; nodes.len()]);
    let mut clock = 0;
    for root in (0..nodes.len()).filter(|&i| parents.get(i) == Some(&None)) {
        let mut stack = vec![(root, false)];
        while let Some((node, done)) = stack.pop() {
            if done {
                if let Some(leave) = leave.get_mut(node) {
                    *leave = clock;
                }
                continue;
            }
            let (Some(slot), Some(enter)) = (roots.get_mut(node), enter.get_mut(node)) else {
                continue;
            };
            if *slot != usize::MAX {
                continue;
            }
            *slot = root;
            *enter = clock;
            clock += 1;
            stack.push((node, true));
            stack.extend(children(&parents, node).into_iter().map(|child| (child, false)));
        }
    }
    let circle: Vec<usize> =
        (0..nodes.len()).filter(|&node| roots.get(node) == Some(&usize::MAX)).collect();
    if let Some(&node) = circle.iter().find(|node| shown.contains(node)) {
        report.error(
            place.index(node),
            "the node is its own ancestor; export the file again as a tree",
        );
        sound = false;
    } else if let Some(&node) = circle.first() {
        report.repair(place.index(node), "the node is its own ancestor; it is not shown");
    }
    for node in circle {
        if let (Some(parent), Some(root)) = (parents.get_mut(node), roots.get_mut(node)) {
            (*parent, *root) = (None, node);
        }
    }
    sound.then_some(Forest { shown, parents, roots, enter, leave })
}

fn scenes(input: &Input<'_>, forest: &Forest, report: &mut ImportReport) {
    let at = At::ROOT;
    let place = at.key("scenes");
    for (i, scene) in items(input.root, "scenes").iter().enumerate() {
        let at = place.index(i);
        for (n, node) in indices(scene, "nodes").enumerate() {
            if forest.parents.get(node).is_some_and(Option::is_some) {
                report.repair(
                    at.key("nodes").index(n),
                    format!("node {node} is not a root; it is shown with its world transform"),
                );
            }
        }
    }
}

/// Notes on invalid skins; `super::super::animation` repairs them.
pub(super) fn skins(input: &Input<'_>, forest: &Forest, report: &mut ImportReport) {
    let root = input.root;
    let at = At::ROOT;
    let place = at.key("skins");
    let skins = items(root, "skins");
    for (i, skin) in skins.iter().enumerate() {
        let at = place.index(i);
        let joints: Vec<usize> = indices(skin, "joints").collect();
        let mut roots = joints.iter().map(|&joint| forest.root(joint));
        let first = roots.next();
        if roots.any(|root| Some(root) != first) {
            report.repair(
                at.key("joints"),
                "the joints have no common root; they are used as they are",
            );
        }
        if let Some(skeleton) = index(skin, "skeleton")
            && !joints.iter().all(|&joint| forest.is_ancestor(skeleton, joint))
        {
            report.repair(at.key("skeleton"), "not a common root of the joints; ignored");
        }
        let Some(accessor) =
            index(skin, "inverseBindMatrices").and_then(|index| input.accessor(index))
        else {
            continue;
        };
        let at = at.key("inverseBindMatrices");
        if accessor.shape != AccessorType::Mat4 || accessor.component != Component::F32 {
            report.repair(at, "a format not allowed for bind matrices");
            continue;
        }
        if accessor.count < joints.len() {
            report.repair(at, "fewer bind matrices than joints");
        }
        if accessor.view.is_some_and(|view| {
            input.store.views.get(view).copied().flatten().is_some_and(|view| view.stride.is_some())
        }) {
            report.repair(at, "bind matrices in a view with a stride; they are read anyway");
        }
        let affine = |element: &[f64]| {
            let row = [3, 7, 11, 15].map(|i| element.get(i).copied().unwrap_or(0.0));
            row == [0.0, 0.0, 0.0, 1.0]
        };
        if let Some(first) = data::first(input, accessor, &affine) {
            report.repair(
                at,
                format!("bind matrix {first} is not affine; its fourth row is ignored"),
            );
        }
    }
    skinned_nodes(input, forest, report);
}

/// Maximum pairs of a skinned node and a scene, or a primitive, that are checked.
const MAX_PAIRS: usize = 1 << 22;

fn skinned_nodes(input: &Input<'_>, forest: &Forest, report: &mut ImportReport) {
    let root = input.root;
    let at = At::ROOT;
    let place = at.key("nodes");
    let (skins, meshes) = (items(root, "skins"), items(root, "meshes"));
    let scenes: Vec<HashSet<usize>> =
        items(root, "scenes").iter().map(|s| indices(s, "nodes").collect()).collect();
    let mut pairs = 0;
    let mut known = HashSet::new();
    for (i, node) in items(root, "nodes").iter().enumerate() {
        let Some((mesh, skin)) = index(node, "mesh").zip(index(node, "skin")) else { continue };
        let Some(joints) = skins.get(skin) else { continue };
        let at = place.index(i);
        let (own, bones) =
            (forest.root(i), indices(joints, "joints").next().map(|joint| forest.root(joint)));
        if let Some(bones) = bones
            && bones != own
        {
            pairs += scenes.len();
            if pairs < MAX_PAIRS
                && scenes.iter().any(|scene| scene.contains(&own) && !scene.contains(&bones))
            {
                report.repair(
                    at,
                    "the skin's joints are not in the node's scene; they are used anyway",
                );
            }
        }
        if !known.insert((mesh, skin)) {
            continue;
        }
        let count = items(joints, "joints").len();
        let primitives = meshes.get(mesh).map(|mesh| items(mesh, "primitives")).unwrap_or_default();
        pairs += primitives.len();
        if pairs > MAX_PAIRS {
            continue;
        }
        for primitive in primitives {
            for (name, value) in
                entries(primitive, "attributes").filter(|(name, _)| name.starts_with("JOINTS_"))
            {
                let accessor = value
                    .as_u64()
                    .and_then(|x| usize::try_from(x).ok())
                    .and_then(|x| input.accessor(x));
                let Some(accessor) = accessor else { continue };
                #[allow(clippy::cast_precision_loss)]
                let beyond = data::first(input, accessor, &|element| {
                    element.iter().all(|&x| x < count as f64)
                });
                if let Some(vertex) = beyond {
                    report.repair(
                        at,
                        format!("{name} of vertex {vertex} is out of range of the {count} joints; ignored"),
                    );
                }
            }
        }
    }
}
