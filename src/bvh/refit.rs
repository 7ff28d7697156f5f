//! What a device needs to refit a tree: from each leaf the way up.

use super::{NONE, node::Node, scene::SceneBvh};

/// The ways from a tree's leaves to its root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Climb {
    /// Its leaves, as indices into all nodes.
    pub leaves: Vec<u32>,
    /// Of each of its nodes, in their order, the parent as an index into all nodes; `NONE` for the root.
    pub parents: Vec<u32>,
    /// Nodes on the longest way up, both ends counted.
    pub levels: u32,
}

impl Climb {
    /// Of the nodes of one tree, of which the first is number `base` of all.
    #[must_use]
    pub fn new(nodes: &[Node], base: u32) -> Self {
        let mut climb = Self { leaves: Vec::new(), parents: vec![NONE; nodes.len()], levels: 0 };
        // Children stand behind their parent.
        let mut depth = vec![1u32; nodes.len()];
        for (index, node) in (base..).zip(nodes) {
            let own = depth.get((index - base) as usize).copied().unwrap_or(1);
            climb.levels = climb.levels.max(own);
            if node.count > 0 {
                climb.leaves.push(index);
                continue;
            }
            for child in [node.first, node.first.wrapping_add(1)] {
                let place = child.wrapping_sub(base) as usize;
                if let (Some(parent), Some(depth)) = (climb.parents.get_mut(place), depth.get_mut(place)) {
                    (*parent, *depth) = (index, own + 1);
                }
            }
        }
        climb
    }
}

impl SceneBvh {
    /// The ways up in one of the trees.
    #[must_use]
    pub fn climb(&self, bottom: usize) -> Climb {
        let Some(&(first, count)) = self.bottoms.get(bottom).map(|bottom| &bottom.nodes) else {
            return Climb::default();
        };
        let range = first as usize..(first + count) as usize;
        Climb::new(self.nodes.get(range).unwrap_or_default(), first)
    }
}
