//! The addressable items of a scene: lights, cameras, materials and nodes.

use std::collections::HashMap;

use super::{
    Node, PlacedNode, Scene,
    address::{AddressTable, AddressedItem},
};

impl<'a> AddressTable<'a> {
    /// The nodes that carry a light, addressed by the light's name or the node's.
    #[must_use]
    pub fn lights(scene: &'a Scene) -> Self {
        Self::lights_with_original_numbers(scene, &[])
    }

    /// As `lights`, with the light numbers from before a look replaced some lights; `before` holds
    /// the original light of each node.
    #[must_use]
    pub fn lights_with_original_numbers(scene: &'a Scene, before: &[Option<usize>]) -> Self {
        let thing = |(index, node): (usize, &'a Node)| {
            let number = before.get(index).copied().unwrap_or(node.light)?;
            let light = scene.lights.get(number)?;
            Some(AddressedItem { index, number, names: [&light.name, &node.name] })
        };
        scene.nodes.iter().enumerate().filter_map(thing).collect()
    }

    /// The visible nodes that carry a camera, addressed by the camera's name or the node's.
    #[must_use]
    pub fn cameras(scene: &'a Scene) -> Self {
        let thing = |placed: PlacedNode<'a>| {
            let number = placed.node.camera?;
            let camera = scene.cameras.get(number)?;
            Some(AddressedItem {
                index: placed.index,
                number,
                names: [&camera.name, &placed.node.name],
            })
        };
        scene.walk().into_iter().filter_map(thing).collect()
    }

    /// All materials.
    #[must_use]
    pub fn materials(scene: &'a Scene) -> Self {
        Self::from_names(scene.materials.iter().map(|material| material.name.as_str()))
    }

    /// All nodes.
    #[must_use]
    pub fn nodes(scene: &'a Scene) -> Self {
        Self::from_names(scene.nodes.iter().map(|node| node.name.as_str()))
    }

    /// Only the items at nodes in the shown scene, in hierarchy order.
    #[must_use]
    pub fn in_scene(self, scene: &Scene) -> Self {
        let mut at: HashMap<usize, AddressedItem<'a>> =
            self.list().iter().map(|thing| (thing.index, *thing)).collect();
        scene.walk().iter().filter_map(|placed| at.remove(&placed.index)).collect()
    }
}
