//! Items of the viewport's scene by their names in the look: lights, materials, volumes, waters.

use std::sync::Arc;

use glam::DMat4;

use super::viewport::Viewport;
use crate::scene::{
    Light,
    address::AddressTable,
    look::{AddedCameraLook, LightLook, Look, is_extracted_light},
    water::Water,
};

/// A light by its name, with the look applied, and its light-to-world matrix.
pub(super) fn light_of<'a>(viewport: &'a Viewport, name: &str) -> Option<(&'a Light, DMat4)> {
    let scene = viewport.current_scene();
    let nodes = viewport.light_nodes(name);
    scene.walk().into_iter().filter(|placed| nodes.contains(&placed.index)).find_map(|placed| {
        let light = scene.lights.get(placed.node.light?)?;
        Some((light, placed.world))
    })
}

/// The first enabled instance of each of these lights, by one traversal of the scene.
pub(super) fn light_worlds(viewport: &Viewport, names: &[String]) -> Vec<Option<DMat4>> {
    let scene = viewport.current_scene();
    let nodes: Vec<Vec<usize>> = names.iter().map(|name| viewport.light_nodes(name)).collect();
    let mut worlds = vec![None; names.len()];
    for placed in scene.walk().into_iter().filter(|placed| placed.node.light.is_some()) {
        for (nodes, world) in nodes.iter().zip(&mut worlds) {
            if nodes.contains(&placed.index) {
                world.get_or_insert(placed.world);
            }
        }
    }
    worlds
}

/// The light-to-world matrix of a light.
pub(super) fn light_world(viewport: &Viewport, name: &str) -> Option<DMat4> {
    light_of(viewport, name).map(|(_, world)| world)
}

/// Names of the volumes: the scene's, and those that the look adds or disables.
pub(super) fn volumes(viewport: &Viewport) -> Vec<String> {
    let looks = &viewport.session.look.volumes;
    let own =
        AddressTable::from_names(viewport.base().volumes.iter().map(|volume| volume.name.as_str()))
            .suggestions();
    let mut all: Vec<String> = own.into_iter().chain(looks.keys().cloned()).collect();
    all.sort();
    all.dedup();
    all
}

/// The lights' addresses in the look, each once: names, or numbers of unnamed lights; then those
/// that the look adds, and those extracted from the environment.
pub(super) fn lights(viewport: &Viewport) -> Vec<String> {
    lights_with(viewport, &viewport.session.look)
}

/// The same with another look.
pub(super) fn lights_with(viewport: &Viewport, look: &Look) -> Vec<String> {
    let own = AddressTable::lights(viewport.base()).in_scene(viewport.base()).suggestions();
    let added = look.lights.iter().filter(|(_, light)| light.add()).map(|(name, _)| name.clone());
    let own_nodes = viewport.base().nodes.len();
    let extracted = viewport.session.scene.nodes.iter().skip(own_nodes);
    // Those that are switched off too.
    let extracted = extracted.map(|node| &node.name).filter(|name| is_extracted_light(name));
    let mut all: Vec<String> = own.into_iter().chain(added).collect();
    for name in extracted {
        if !all.contains(name) {
            all.push(name.clone());
        }
    }
    all
}

/// True if the look adds this light.
pub(super) fn is_added(viewport: &Viewport, name: &str) -> bool {
    viewport.session.look.lights.get(name).is_some_and(LightLook::add)
}

/// The space of a light's position and aim in the look, to world space: of the parent of an added
/// light, else of the world.
pub(super) fn light_space(viewport: &Viewport, name: &str) -> DMat4 {
    let look = viewport.session.look.lights.get(name).filter(|look| look.add());
    parent_space(viewport, look.and_then(|look| look.parent.as_deref()))
}

/// The space of a node, by its address, to world space; of the world without one.
pub(super) fn parent_space(viewport: &Viewport, address: Option<&str>) -> DMat4 {
    let parent = address.and_then(|parent| {
        let node = *AddressTable::nodes(viewport.base()).find(parent).first()?;
        let placed = viewport.current_scene().walk();
        placed.into_iter().find(|placed| placed.index == node).map(|placed| placed.world)
    });
    parent.filter(|world| world.determinant() != 0.0).unwrap_or(DMat4::IDENTITY)
}

/// The cameras' addresses, each once.
pub(super) fn cameras(viewport: &Viewport) -> Vec<String> {
    AddressTable::cameras(&viewport.session.scene).suggestions()
}

/// The chosen camera, if the look adds it: its name and its properties.
pub(super) fn added_camera(viewport: &Viewport) -> Option<(&str, &AddedCameraLook)> {
    let (name, look) =
        viewport.session.look.cameras.get_key_value(&viewport.session.camera_name)?;
    look.is_added().then_some((name, look))
}

/// Path of the chosen camera's own property in place of a shared one, such as
/// `cameras.Top.f_stop` for `camera.lens.f_stop`; the shared one for cameras of the file.
pub(super) fn camera_path(viewport: &Viewport, shared: &str) -> String {
    match added_camera(viewport) {
        Some((name, _)) => {
            format!("cameras.{name}.{}", shared.rsplit('.').next().unwrap_or_default())
        }
        None => shared.into(),
    }
}

/// The materials' addresses in the look, each once.
pub(super) fn materials(viewport: &Viewport) -> Vec<String> {
    AddressTable::materials(viewport.base()).suggestions()
}

/// The waters of a scene: the name by which the look addresses each, and its material.
pub(super) fn waters(viewport: &Viewport) -> Vec<(String, usize)> {
    let scene = &viewport.session.scene;
    let set = &viewport.session.look.water;
    let of = |index: usize| {
        let material = scene.materials.get(index).filter(|material| material.water.is_some())?;
        let has = |mesh: usize| {
            scene
                .meshes
                .get(mesh)
                .is_some_and(|mesh| mesh.primitives.iter().any(|p| p.material == Some(index)))
        };
        let mut nodes = scene
            .nodes
            .iter()
            .filter(|node| node.mesh.is_some_and(has))
            .map(|node| node.name.as_str());
        let number = format!("#{index}");
        let own =
            [material.name.as_str(), &number].into_iter().find(|name| set.contains_key(*name));
        let by_node = || nodes.clone().find(|name| set.contains_key(*name));
        let name =
            own.or_else(by_node).or(Some(material.name.as_str()).filter(|name| !name.is_empty()));
        let name = name.or_else(|| nodes.find(|name| !name.is_empty())).map(str::to_owned);
        Some((name.unwrap_or(number), index))
    };
    (0..scene.materials.len()).filter_map(of).collect()
}

/// A water by its name: its material and its settings.
pub(super) fn water_of<'a>(viewport: &'a Viewport, name: &str) -> Option<(usize, &'a Arc<Water>)> {
    let (_, index) = waters(viewport).into_iter().find(|(known, _)| known == name)?;
    Some((index, viewport.session.scene.materials.get(index)?.water.as_ref()?))
}
