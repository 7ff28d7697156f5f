//! A scene's visible content as comparable text: transforms, meshes, materials with their texels,
//! lights and cameras.

use std::{
    fmt::Write as _,
    hash::{DefaultHasher, Hash, Hasher},
};

use sunny16::scene::Scene;

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Everything that is visible at rest.
pub fn dump_scene(scene: &Scene) -> String {
    let mut blocks = Vec::new();
    for placed in scene.walk() {
        let (node, mut out) = (placed.node, String::new());
        writeln!(out, "'{}' {:?}", node.name, placed.world).unwrap();
        for primitive in node.mesh.iter().flat_map(|&mesh| &scene.meshes[mesh].primitives) {
            let material = primitive.material.map(|material| &scene.materials[material]);
            let shape = format!(
                "{:?} {:?} {:?}",
                primitive.positions, primitive.normals, primitive.indices
            );
            let rest =
                format!("{:?} {:?} {:?}", primitive.tangents, primitive.uv0, primitive.colors);
            writeln!(out, "  part {:x} {:x} {material:?}", hash(shape), hash(rest)).unwrap();
            for (name, texture) in material.iter().flat_map(|material| material.textures()) {
                let Some(texture) = texture.map(|texture| &scene.textures[texture.texture]) else {
                    continue;
                };
                let image = &scene.images[texture.image];
                let size = (image.width, image.height);
                writeln!(
                    out,
                    "    {name:?} {:?} {size:?} {:x}",
                    texture.sampler,
                    hash(&image.rgba8)
                )
                .unwrap();
            }
        }
        writeln!(out, "  {:?}", node.light.map(|light| &scene.lights[light])).unwrap();
        writeln!(out, "  {:?}", node.camera.map(|camera| &scene.cameras[camera])).unwrap();
        blocks.push(out);
    }
    // Numbers and order of nodes do not affect the picture.
    blocks.sort();
    blocks.concat()
}
