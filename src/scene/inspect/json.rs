//! The report of a scene as JSON. Keys that have no value are null; numbers are SI units, angles
//! degrees, colors linear Rec.709.

use glam::{DMat4, DVec3, Vec3};
use serde_json::{Map, Value, json};

use super::{ListedLight, listed_lights};
use crate::{
    photometry::lights::{Emitter, Sides},
    scene::{
        AlphaMode, Material, NoteKind, Projection, Scene, TextureRef, VolumeShape,
        address::AddressTable, animation::AnimationSelection,
    },
};

/// Version of the report's structure; it increases when a key changes its meaning or goes.
pub const SCHEMA: u32 = 1;

/// The report for a scene whose nodes had the lights `before` until a look was applied.
#[must_use]
pub fn report(scene: &Scene, before: &[Option<usize>]) -> Value {
    let placed = scene.walk();
    let listed = listed_lights(scene, before);
    let bounds = scene.bounds().map(|(low, high)| {
        json!({
            "min": vector(low),
            "max": vector(high),
            "size": vector(high - low),
        })
    });
    let lights = AddressTable::lights_with_original_numbers(scene, before);
    json!({
        "schema": SCHEMA,
        "name": scene.name,
        "file": scene.source.as_ref().map(|source| source.display().to_string()),
        "nodes": scene.nodes.len(),
        "shown_nodes": placed.len(),
        "shown_instances": placed.iter().filter(|placed| placed.node.mesh.is_some()).count(),
        "shown_triangles": scene.instanced_triangles(),
        "bounds": bounds,
        "lights": listed.iter().map(|of| light(of, &lights)).collect::<Vec<_>>(),
        "cameras": cameras(scene),
        "meshes": meshes(scene),
        "materials": materials(scene),
        "images": images(scene),
        "variants": scene.variants.iter().map(|variant| variant.name.as_str()).collect::<Vec<_>>(),
        "animations": animations(scene),
        "volumes": volumes(scene),
        "notes": notes(scene),
    })
}

fn vector(v: DVec3) -> [f64; 3] {
    v.to_array()
}

/// A number of single precision by its shortest digits.
fn number(x: f32) -> Value {
    x.to_string().parse::<f64>().map_or(Value::Null, Value::from)
}

fn color(v: Vec3) -> Vec<Value> {
    v.to_array().map(number).to_vec()
}

fn shape(emitter: Emitter) -> Value {
    let two = |sides| sides == Sides::Two;
    match emitter {
        Emitter::Point => json!({"kind": "point"}),
        Emitter::Spot { cone, .. } => json!({
            "kind": "spot",
            "inner_half_angle": cone.inner().to_degrees(),
            "outer_half_angle": cone.outer().to_degrees(),
        }),
        Emitter::Sphere { radius } => json!({"kind": "sphere", "radius": radius}),
        Emitter::Disk { radius, sides } => {
            json!({"kind": "disk", "radius": radius, "two_sided": two(sides)})
        }
        Emitter::Rectangle { width, height, sides } => json!({
            "kind": "rectangle",
            "width": width,
            "height": height,
            "two_sided": two(sides),
        }),
        Emitter::Tube { radius, length } => {
            json!({"kind": "tube", "radius": radius, "length": length})
        }
        Emitter::Sun { angular_radius } => {
            json!({"kind": "sun", "angular_diameter": 2.0 * angular_radius.to_degrees()})
        }
    }
}

/// Values after the color, but for the authored one, as in the text.
fn light(listed: &ListedLight<'_>, addresses: &AddressTable<'_>) -> Value {
    let &ListedLight { number: index, light, uses, by_look } = listed;
    let source = light.source;
    let weight = light.color_luminance();
    let authored = light.bare().source.authored();
    let has_surface = light.emitter().area().is_some() || light.is_directional();
    let facing = light.is_directional().then(|| source.lux(1.0).get() * weight);
    json!({
        "index": index,
        "name": light.name,
        "address": addresses.address(index).map(|address| super::path("lights", &address)),
        "shape": shape(light.emitter()),
        "shown": uses,
        "shadow": light.shadow,
        "visible": light.visible,
        "authored": {
            "value": authored.value(),
            "unit": authored.unit(),
            "by": if by_look { "look" } else { "file" },
        },
        "candela": light.candela().map(|candela| candela.get() * weight),
        "lumens": light.lumens().map(|lumens| lumens.get() * weight),
        "lux": facing,
        "nits": source.nits().filter(|_| has_surface).map(|nits| nits.get() * weight),
        "color": color(light.color),
        "range": light.range.map(number),
        "profile": light.bare().profile.as_ref().map(|profile| json!({
            "candela": profile.peak().get(),
            "lumens": profile.lumens().get(),
        })),
    })
}

fn cameras(scene: &Scene) -> Vec<Value> {
    let addresses = AddressTable::cameras(scene);
    let placed = scene.walk();
    let world = |index: usize| -> Option<DMat4> {
        placed.iter().find(|placed| placed.node.camera == Some(index)).map(|placed| placed.world)
    };
    let camera = |(index, camera): (usize, &crate::scene::Camera)| {
        let projection = match camera.projection {
            Projection::Perspective { vertical_fov, aspect, near, far } => json!({
                "kind": "perspective",
                "vertical_fov": f64::from(vertical_fov).to_degrees(),
                "aspect": aspect.map(number),
                "near": number(near),
                "far": far.map(number),
            }),
            Projection::Orthographic { half_width, half_height, near, far } => json!({
                "kind": "orthographic",
                "width": 2.0 * f64::from(half_width),
                "height": 2.0 * f64::from(half_height),
                "near": number(near),
                "far": number(far),
            }),
        };
        let world = world(index);
        json!({
            "index": index,
            "name": camera.name,
            "address": addresses.address(index),
            "projection": projection,
            "position": world.map(|world| vector(world.w_axis.truncate())),
            "direction": world.map(|world| vector(-world.z_axis.truncate().normalize_or_zero())),
        })
    };
    scene.cameras.iter().enumerate().map(camera).collect()
}

fn meshes(scene: &Scene) -> Vec<Value> {
    let mut instances = vec![0usize; scene.meshes.len()];
    for mesh in scene.walk().iter().filter_map(|placed| placed.node.mesh) {
        if let Some(count) = instances.get_mut(mesh) {
            *count += 1;
        }
    }
    let mesh = |(index, (mesh, shown)): (usize, (&crate::scene::Mesh, usize))| {
        let part = |part: &crate::scene::Primitive| {
            json!({
                "triangles": part.indices.len() / 3,
                "vertices": part.positions.len(),
                "material": part.material,
                "tangents": !part.tangents.is_empty(),
                "uv_sets": usize::from(!part.uv0.is_empty()) + usize::from(!part.uv1.is_empty()),
                "colors": !part.colors.is_empty(),
            })
        };
        json!({
            "index": index,
            "name": mesh.name,
            "shown": shown,
            "primitives": mesh.primitives.iter().map(part).collect::<Vec<_>>(),
        })
    };
    scene.meshes.iter().zip(instances).enumerate().map(mesh).collect()
}

fn texture(scene: &Scene, texture: &TextureRef) -> Value {
    json!({
        "image": scene.textures.get(texture.texture).map(|texture| texture.image),
        "uv_set": texture.uv_set,
        "transform": texture.transform.map(|row| row.map(number)),
    })
}

fn materials(scene: &Scene) -> Vec<Value> {
    let addresses = AddressTable::materials(scene);
    let material = |(index, material): (usize, &Material)| {
        let (alpha, cutoff) = match material.alpha {
            AlphaMode::Opaque => ("opaque", None),
            AlphaMode::Mask { cutoff } => ("mask", Some(number(cutoff))),
            AlphaMode::Blend => ("blend", None),
        };
        let textures: Map<String, Value> = (material.textures().into_iter())
            .filter_map(|(name, map)| Some((name.to_owned(), texture(scene, &map?))))
            .collect();
        json!({
            "index": index,
            "name": material.name,
            "address": addresses.address(index).map(|address| super::path("materials", &address)),
            "base_color": color(material.base_color.truncate()),
            "opacity": number(material.base_color.w),
            "alpha": alpha,
            "alpha_cutoff": cutoff,
            "metallic": number(material.metallic),
            "roughness": number(material.roughness),
            "emission": color(material.emission),
            "ior": number(material.ior),
            "transmission": number(material.transmission),
            "double_sided": material.double_sided,
            "unlit": material.unlit,
            "water": material.water.is_some(),
            "textures": textures,
        })
    };
    scene.materials.iter().enumerate().map(material).collect()
}

fn images(scene: &Scene) -> Vec<Value> {
    let image = |(index, image): (usize, &crate::scene::Image)| {
        json!({
            "index": index,
            "name": image.name,
            "width": image.width,
            "height": image.height,
            "blocks": image.compressed.as_ref().map(|blocks| format!("{:?}", blocks.format)),
            "broken": image.is_error_pattern,
        })
    };
    scene.images.iter().enumerate().map(image).collect()
}

fn animations(scene: &Scene) -> Vec<Value> {
    let played = scene.selected_animations(&AnimationSelection::Auto);
    let animation = |(index, of): (usize, &crate::scene::animation::Animation)| {
        json!({
            "index": index,
            "name": of.name,
            // Null if it has no end.
            "duration": of.duration,
            "channels": of.channels.len(),
            "plays": played.contains(&index),
        })
    };
    scene.animations.iter().enumerate().map(animation).collect()
}

fn volumes(scene: &Scene) -> Vec<Value> {
    let names = scene.volumes.iter().map(|volume| volume.name.as_str());
    let addresses = AddressTable::from_names(names);
    let volume = |(index, volume): (usize, &crate::scene::ParticipatingVolume)| {
        let of = &volume.medium;
        json!({
            "index": index,
            "name": volume.name,
            "address": addresses.address(index).map(|address| super::path("volumes", &address)),
            "shape": match volume.shape {
                VolumeShape::Box(_) => "box",
                VolumeShape::Mesh(_) => "mesh",
            },
            "absorption": vector(of.absorption),
            "scattering": vector(of.scattering),
            "anisotropy": of.anisotropy,
            "emission": vector(of.emission),
            "voxels": volume.density.as_ref().map(|grid| grid.size()),
        })
    };
    scene.volumes.iter().enumerate().map(volume).collect()
}

fn notes(scene: &Scene) -> Vec<Value> {
    let note = |note: &crate::scene::Note| {
        json!({
            "kind": match note.kind {
                NoteKind::Info => "info",
                NoteKind::Unsupported => "unsupported",
                NoteKind::Repaired => "repaired",
            },
            "location": note.location,
            "message": note.message,
        })
    };
    scene.notes.iter().map(note).collect()
}
