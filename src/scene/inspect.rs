//! Text report of a scene: its contents, and its lights in every photometric unit.

pub mod json;
mod lobes;

use std::{
    collections::{BTreeMap, BTreeSet},
    f64::consts::PI,
    fmt::Write as _,
};

use glam::Vec3;

use crate::{
    message::counted,
    photometry::{
        Nit,
        color::luminance,
        lights::{Emitter, Sides, SpotFlux, luminance_to_ev100},
    },
};

use super::{
    AlphaMode, Light, Material, NoteKind, Projection, Sampler, Scene, TextureRef, VolumeShape,
    Wrap,
    address::AddressTable,
    animation::{AnimationSelection, AnimationTarget},
};

/// Solid angle (sr) of the mean sun, a disk of 0.2666 degrees half angle: 2 pi (1 - cos 0.2666
/// deg).
const SUN_SOLID_ANGLE: f64 = 6.8018e-5;

/// Maximum number of entries in one list; longer lists end with a count of the rest.
const MAX_LISTED: usize = 200;

/// Maximum number of nodes listed per mesh.
const MAX_NODES_LISTED: usize = 8;

/// Formats a number with its significant digits.
fn digits(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 {
        "0".into()
    } else if !(1e-3..1e7).contains(&size) {
        format!("{x:.4e}")
    } else if size >= 1000.0 {
        format!("{x:.1}")
    } else {
        let text = format!("{x:.4}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    }
}

fn named(kind: &str, index: usize, name: &str) -> String {
    if name.is_empty() { format!("{kind} {index}") } else { format!("{kind} {index} '{name}'") }
}

fn color(c: Vec3) -> String {
    format!("({}, {}, {})", digits(f64::from(c.x)), digits(f64::from(c.y)), digits(f64::from(c.z)))
}

/// Text buffer; writing to memory cannot fail.
struct Text(String);

impl Text {
    /// Writes the look path of the preceding entry.
    fn addressed(&mut self, section: &str, address: Option<String>) {
        if let Some(address) = address {
            self.line(2, format!("as {}", path(section, &address)));
        }
    }

    fn line(&mut self, depth: usize, text: impl AsRef<str>) {
        let _ = writeln!(self.0, "{:1$}{2}", "", depth * 2, text.as_ref());
    }

    /// Lists entries up to `MAX_LISTED`.
    fn list<T>(
        &mut self,
        title: &str,
        entries: impl ExactSizeIterator<Item = T>,
        mut each: impl FnMut(&mut Self, T),
    ) {
        let count = entries.len();
        if count == 0 {
            return;
        }
        self.line(0, format!("{title} ({count})"));
        for entry in entries.take(MAX_LISTED) {
            each(self, entry);
        }
        if count > MAX_LISTED {
            self.line(1, format!("and {} more", count - MAX_LISTED));
        }
    }
}

/// Text report of a scene.
#[must_use]
pub fn report(scene: &Scene) -> String {
    report_with_original_lights(scene, &node_lights(scene))
}

/// Light index of each node, as `report_with_original_lights` expects it.
#[must_use]
pub fn node_lights(scene: &Scene) -> Vec<Option<usize>> {
    scene.nodes.iter().map(|node| node.light).collect()
}

/// As `report`, for a scene whose nodes had the lights `before` until a look was applied. A light
/// that the look replaced is listed under the number of its original.
#[must_use]
pub fn report_with_original_lights(scene: &Scene, before: &[Option<usize>]) -> String {
    let mut text = Text(String::new());
    let listed = listed_lights(scene, before);
    summary(scene, listed.len(), &mut text);
    // Lights come before long lists: they are what a look addresses most.
    lights(&listed, &AddressTable::lights_with_original_numbers(scene, before), &mut text);
    meshes(scene, &mut text);
    materials(scene, &mut text);
    textures(scene, &mut text);
    cameras(scene, &mut text);
    skins(scene, &mut text);
    animations(scene, &mut text);
    volumes(scene, &mut text);
    notes(scene, &mut text);
    text.0
}

/// Start of a look path for an addressed object, as a TOML key.
#[must_use]
pub fn path(section: &str, address: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if address.chars().all(bare) {
        return format!("{section}.{address}");
    }
    format!("{section}.\"{}\"", address.replace('\\', "\\\\").replace('"', "\\\""))
}

fn volumes(scene: &Scene, text: &mut Text) {
    let things = AddressTable::from_names(scene.volumes.iter().map(|volume| volume.name.as_str()));
    text.list("Volumes", scene.volumes.iter().enumerate(), |text, (i, volume)| {
        let shape = match volume.shape {
            VolumeShape::Box(_) => "a box".to_owned(),
            VolumeShape::Mesh(mesh) => format!("interior of mesh {mesh}"),
        };
        let of = &volume.medium;
        let per_meter = |v: glam::DVec3| color(v.as_vec3());
        text.line(1, format!("{}: {shape}", named("volume", i, &volume.name)));
        text.addressed("volumes", things.address(i));
        text.line(
            2,
            format!(
                "absorbs {} /m, scatters {} /m, anisotropy {}, emits {} nt/m",
                per_meter(of.absorption),
                per_meter(of.scattering),
                digits(of.anisotropy),
                per_meter(of.emission)
            ),
        );
        if let Some(grid) = &volume.density {
            let [x, y, z] = grid.size();
            text.line(
                2,
                format!(
                    "{x} x {y} x {z} voxels, maximum density {}",
                    digits(f64::from(grid.max()))
                ),
            );
        }
    });
}

fn summary(scene: &Scene, lights: usize, text: &mut Text) {
    text.line(0, format!("Scene '{}'", scene.name));
    if let Some(source) = &scene.source {
        text.line(1, format!("file: {}", source.display()));
    }
    let placed = scene.walk();
    text.line(
        1,
        format!(
            "{} ({} shown), {}, {}, {}, {}, {}, {}",
            counted(scene.nodes.len(), "node"),
            placed.len(),
            counted(scene.meshes.len(), "mesh"),
            counted(scene.materials.len(), "material"),
            counted(scene.textures.len(), "texture"),
            counted(scene.images.len(), "image"),
            counted(lights, "light"),
            counted(scene.cameras.len(), "camera"),
        ),
    );
    let instances = placed.iter().filter(|placed| placed.node.mesh.is_some()).count();
    text.line(
        1,
        format!(
            "{} shown in {} of meshes",
            counted(scene.instanced_triangles(), "triangle"),
            counted(instances, "instance"),
        ),
    );
    if let Some((low, high)) = scene.bounds() {
        let size = high - low;
        text.line(
            1,
            format!("size {} x {} x {} m", digits(size.x), digits(size.y), digits(size.z)),
        );
        let corner =
            |p: glam::DVec3| format!("({}, {}, {})", digits(p.x), digits(p.y), digits(p.z));
        text.line(1, format!("from {} to {} m", corner(low), corner(high)));
    }
}

fn meshes(scene: &Scene, text: &mut Text) {
    let mut instances = vec![0usize; scene.meshes.len()];
    let mut at_nodes: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for placed in scene.walk() {
        let Some(mesh) = placed.node.mesh else { continue };
        if let Some(count) = instances.get_mut(mesh) {
            *count += 1;
            at_nodes.entry(mesh).or_default().push(placed.index);
        }
    }
    let nodes = AddressTable::nodes(scene);
    let entries = scene.meshes.iter().zip(instances).enumerate();
    text.list("Meshes", entries, |text, (i, (mesh, instances))| {
        let triangles: usize =
            mesh.primitives.iter().map(|primitive| primitive.indices.len() / 3).sum();
        let vertices: usize =
            mesh.primitives.iter().map(|primitive| primitive.positions.len()).sum();
        let parts = mesh.primitives.len();
        let name = named("mesh", i, &mesh.name);
        if instances == 0 {
            text.line(1, format!("{name}: not shown"));
            return;
        }
        text.line(
            1,
            format!(
                "{name}: {}, {vertices} vertices, {}, shown {}",
                counted(triangles, "triangle"),
                counted(parts, "part"),
                counted(instances, "time"),
            ),
        );
        let at = at_nodes.get(&i).map_or(&[][..], Vec::as_slice);
        let mut addresses: Vec<String> =
            at.iter().take(MAX_NODES_LISTED).filter_map(|&n| nodes.address(n)).collect();
        if at.len() > MAX_NODES_LISTED {
            addresses.push(format!("{} more", at.len() - MAX_NODES_LISTED));
        }
        text.line(
            2,
            format!(
                "at {}: {}",
                if at.len() == 1 { "node" } else { "nodes" },
                addresses.join(", ")
            ),
        );
        for primitive in mesh.primitives.iter().take(MAX_LISTED) {
            let mut has = vec!["normals"];
            let optional = [
                ("tangents", !primitive.tangents.is_empty()),
                ("uv0", !primitive.uv0.is_empty()),
                ("uv1", !primitive.uv1.is_empty()),
                ("colors", !primitive.colors.is_empty()),
            ];
            has.extend(optional.iter().filter(|(_, there)| *there).map(|(name, _)| *name));
            let material = match primitive.material {
                Some(i) => named(
                    "material",
                    i,
                    scene.materials.get(i).map_or("", |material| &material.name),
                ),
                None => "the default material".into(),
            };
            let triangles = counted(primitive.indices.len() / 3, "triangle");
            text.line(2, format!("{triangles}, {material}, {}", has.join(", ")));
        }
    });
}

fn texture(texture: &TextureRef) -> String {
    let mut out = format!("texture {} on uv{}", texture.texture, texture.uv_set);
    if texture.transform != TextureRef::IDENTITY {
        let [u, v] = texture.transform.map(|row| row.map(|x| digits(f64::from(x))).join(" "));
        let _ = write!(out, " transformed by [{u}; {v}]");
    }
    out
}

fn materials(scene: &Scene, text: &mut Text) {
    let things = AddressTable::materials(scene);
    text.list("Materials", scene.materials.iter().enumerate(), |text, (i, material)| {
        let alpha = match material.alpha {
            AlphaMode::Opaque => "opaque".into(),
            AlphaMode::Mask { cutoff } => format!("masked at {}", digits(f64::from(cutoff))),
            AlphaMode::Blend => "blended".to_owned(),
        };
        let mut head = format!(
            "{}: base color {} opacity {}, metallic {}, roughness {}, {alpha}",
            named("material", i, &material.name),
            color(material.base_color.truncate()),
            digits(f64::from(material.base_color.w)),
            digits(f64::from(material.metallic)),
            digits(f64::from(material.roughness)),
        );
        if material.double_sided {
            head.push_str(", double-sided");
        }
        if material.unlit {
            head.push_str(", unlit");
        }
        text.line(1, head);
        text.addressed("materials", things.address(i));
        for (name, map) in material.textures() {
            if let Some(map) = map {
                text.line(2, format!("{name}: {}", texture(&map)));
            }
        }
        refraction(material, text);
        lobes::lobes(material, text);
        if material.emission != Vec3::ZERO {
            let nits = luminance(material.emission.as_dvec3());
            let map = if material.emissive_texture.is_some() {
                " where the texture is white"
            } else {
                ""
            };
            text.line(
                2,
                format!(
                    "emits {} nit{map}; rgb {}; Lambertian exitance {} lm/m2",
                    digits(nits),
                    color(material.emission),
                    digits(nits * PI)
                ),
            );
        }
    });
}

/// Writes index of refraction, transmission and attenuation of a material.
fn refraction(material: &Material, text: &mut Text) {
    if material.ior != 1.5 {
        let ior = f64::from(material.ior);
        let reflected = ((ior - 1.0) / (ior + 1.0)).powi(2);
        text.line(
            2,
            format!(
                "index of refraction {}: reflects {} % at normal incidence",
                digits(ior),
                digits(reflected * 100.0)
            ),
        );
    }
    if !material.transmits() {
        return;
    }
    let transmission = digits(f64::from(material.transmission));
    let volume = &material.volume;
    let what =
        if material.encloses_volume() { "as the boundary of a volume" } else { "as a thin wall" };
    text.line(2, format!("transmits {transmission} of the light it does not reflect, {what}"));
    if material.encloses_volume() && volume.attenuation_distance.is_finite() {
        text.line(
            2,
            format!(
                "attenuation: after {} m, transmittance {}",
                digits(f64::from(volume.attenuation_distance)),
                color(volume.attenuation_color)
            ),
        );
    }
}

fn sampler(sampler: &Sampler) -> String {
    let filter = |linear: bool| if linear { "linear" } else { "nearest" };
    let wrap = |wrap: Wrap| match wrap {
        Wrap::Repeat => "repeat",
        Wrap::Mirror => "mirror",
        Wrap::Clamp => "clamp",
    };
    let mips = sampler
        .mip_linear
        .map_or("no mipmaps".to_owned(), |linear| format!("{} mipmaps", filter(linear)));
    format!(
        "magnification {}, minification {}, {mips}, wrap {} by {}",
        filter(sampler.mag_linear),
        filter(sampler.min_linear),
        wrap(sampler.wrap_u),
        wrap(sampler.wrap_v)
    )
}

fn textures(scene: &Scene, text: &mut Text) {
    text.list("Textures", scene.textures.iter().enumerate(), |text, (i, texture)| {
        text.line(
            1,
            format!("texture {i}: image {}, {}", texture.image, sampler(&texture.sampler)),
        );
    });
    text.list("Images", scene.images.iter().enumerate(), |text, (i, image)| {
        let broken =
            if image.is_error_pattern { ", BROKEN: displays an error pattern" } else { "" };
        let name = named("image", i, &image.name);
        let blocks = image.compressed.as_ref().map_or_else(String::new, |blocks| {
            format!(", {:?} in {}", blocks.format, counted(blocks.levels.len(), "level"))
        });
        text.line(1, format!("{name}: {} x {} pixels{blocks}{broken}", image.width, image.height));
    });
    text.list("Variants", scene.variants.iter().enumerate(), |text, (i, variant)| {
        let primitives = variant.materials.len();
        text.line(
            1,
            format!(
                "{}: replaces the materials of {}",
                named("variant", i, &variant.name),
                counted(primitives, "primitive"),
            ),
        );
    });
}

fn skins(scene: &Scene, text: &mut Text) {
    text.list("Skins", scene.skins.iter().enumerate(), |text, (i, skin)| {
        text.line(1, format!("{}: {} joints", named("skin", i, &skin.name), skin.joints.len()));
    });
}

fn animations(scene: &Scene, text: &mut Text) {
    let played = scene.selected_animations(&AnimationSelection::Auto);
    text.list("Animations", scene.animations.iter().enumerate(), |text, (i, animation)| {
        let name = named("animation", i, &animation.name);
        let of = |wanted: fn(&AnimationTarget) -> bool| {
            animation.channels.iter().filter(|c| wanted(&c.target)).count()
        };
        let counts = [
            (of(|target| matches!(target, AnimationTarget::Translation(_))), "translations"),
            (of(|target| matches!(target, AnimationTarget::Rotation(_))), "rotations"),
            (of(|target| matches!(target, AnimationTarget::Scale(_))), "scales"),
            (
                of(|target| {
                    matches!(target, AnimationTarget::Weights(_) | AnimationTarget::Weight(..))
                }),
                "morph weights",
            ),
            (of(|target| matches!(target, AnimationTarget::Value(_))), "properties"),
        ];
        let moved: Vec<String> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        let length = if animation.duration.is_finite() {
            format!("{} s", digits(animation.duration))
        } else {
            "no end".into()
        };
        let moved = if moved.is_empty() { "procedural".into() } else { moved.join(", ") };
        text.line(
            1,
            format!(
                "{name}: {length}; {moved}{}",
                if played.contains(&i) { "" } else { " (plays only when selected)" }
            ),
        );
    });
}

fn cameras(scene: &Scene, text: &mut Text) {
    let things = AddressTable::cameras(scene);
    text.list("Cameras", scene.cameras.iter().enumerate(), |text, (i, camera)| {
        let projection = match camera.projection {
            Projection::Perspective { vertical_fov, aspect, near, far } => {
                let fov = f64::from(vertical_fov);
                // Focal length (mm) with which a frame 24 mm high has this field of view.
                let focal = 12.0 / (fov / 2.0).tan();
                format!(
                    "perspective, {} degrees vertical ({} mm on full frame), aspect {}, {} m to {}",
                    digits(fov.to_degrees()),
                    digits(focal),
                    aspect.map_or("of the image".into(), |aspect| digits(f64::from(aspect))),
                    digits(f64::from(near)),
                    far.map_or("infinity".into(), |far| format!("{} m", digits(f64::from(far))))
                )
            }
            Projection::Orthographic { half_width, half_height, near, far } => format!(
                "orthographic, {} x {} m, {} m to {} m",
                digits(f64::from(half_width) * 2.0),
                digits(f64::from(half_height) * 2.0),
                digits(f64::from(near)),
                digits(f64::from(far))
            ),
        };
        text.line(1, format!("{}: {projection}", named("camera", i, &camera.name)));
        match things.address(i) {
            Some(address) => text.line(2, format!("as --camera {}", shell(&address))),
            None => text.line(2, "not shown"),
        }
    });
}

/// A light as listed.
struct ListedLight<'s> {
    /// Number in the file.
    number: usize,
    light: &'s Light,
    /// Number of visible instances.
    uses: usize,
    /// True if the look sets its strength.
    by_look: bool,
}

/// Lights in file order.
///
/// A look appends a copy of each light that it changes to the end of the list. It leaves the
/// original, which other nodes may use. Nodes that it adds have lights of its own.
fn listed_lights<'s>(scene: &'s Scene, before: &[Option<usize>]) -> Vec<ListedLight<'s>> {
    let mut uses = vec![0usize; scene.lights.len()];
    for placed in scene.walk() {
        if let Some(count) = placed.node.light.and_then(|light| uses.get_mut(light)) {
            *count += 1;
        }
    }
    // Copies that the look made, by the index of their original.
    let mut made: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (node, was) in scene.nodes.iter().zip(before) {
        if let (Some(now), Some(was)) = (node.light, *was)
            && now != was
        {
            made.entry(was).or_default().push(now);
        }
    }
    let copies: BTreeSet<usize> = made.values().flatten().copied().collect();
    let added: BTreeSet<usize> =
        scene.nodes.iter().skip(before.len()).filter_map(|node| node.light).collect();
    let strength = |i: usize| scene.lights.get(i).map(|light| light.bare().source.authored());
    let at = |number: usize, i: usize| {
        Some(ListedLight {
            number,
            light: scene.lights.get(i)?,
            uses: uses.get(i).copied().unwrap_or(0),
            by_look: added.contains(&i) || strength(i) != strength(number),
        })
    };
    let mut listed = Vec::new();
    for number in (0..scene.lights.len()).filter(|number| !copies.contains(number)) {
        let of_it = made.get(&number).map_or(&[][..], Vec::as_slice);
        let original = at(number, number).filter(|listed| listed.uses > 0 || of_it.is_empty());
        listed.extend(original.into_iter().chain(of_it.iter().filter_map(|i| at(number, *i))));
    }
    listed
}

fn lights(listed: &[ListedLight<'_>], things: &AddressTable<'_>, text: &mut Text) {
    text.list("Lights", listed.iter(), |text, listed| {
        one_light(text, things.address(listed.number), listed);
    });
}

/// Quotes an address for a shell.
fn shell(address: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    if address.chars().all(plain) {
        address.into()
    } else {
        format!("'{}'", address.replace('\'', "'\\''"))
    }
}

fn one_light(text: &mut Text, address: Option<String>, listed: &ListedLight<'_>) {
    let &ListedLight { number, light, uses, by_look } = listed;
    let name = named("light", number, &light.name);
    let weight = luminance(light.color.as_dvec3());
    let shown = match uses {
        0 => "not shown".to_owned(),
        1 => "shown once".to_owned(),
        _ => format!("shown {uses} times"),
    };
    let source = light.source;
    let emitter = source.emitter();
    text.line(
        1,
        format!(
            "{name}: {}, {shown}{}",
            shape(emitter),
            if light.shadow { "" } else { ", no shadows" }
        ),
    );
    text.addressed("lights", address);
    let authored = light.bare().source.authored();
    let source_of_strength = if by_look { "as the look sets it" } else { "as its author wrote it" };
    let bare = if light.bare.is_some() { ", without gel and modifiers" } else { "" };
    text.line(
        2,
        format!("{} {} {source_of_strength}{bare}", digits(authored.value()), authored.unit()),
    );
    if let Some(candela) = light.candela() {
        let cd = candela.get() * weight;
        let place = match emitter {
            Emitter::Point | Emitter::Sphere { .. } => "in every direction",
            Emitter::Tube { .. } => "across",
            _ => "on the axis",
        };
        let place = if light.profile.is_some() { "at most" } else { place };
        text.line(
            2,
            format!(
                "{} cd {place}, {} lx at 1 m there",
                digits(cd),
                digits(if light.profile.is_some() { cd } else { source.lux(1.0).get() * weight })
            ),
        );
        let lumens = light.lumens().map_or(0.0, |lumens| lumens.get()) * weight;
        text.line(2, format!("{} lm in all", digits(lumens)));
        if let (Emitter::Spot { cone, flux }, None) = (emitter, &light.profile) {
            for (convention, angle) in [
                (SpotFlux::Exact, cone.flux_per_candela().get()),
                (SpotFlux::PhiOverPi, PI),
                (SpotFlux::ApexCone, cone.solid_angle().get()),
            ] {
                let what = match convention {
                    SpotFlux::Exact => "by the falloff integrated",
                    SpotFlux::PhiOverPi => "as pi times the intensity (Phi/pi convention)",
                    SpotFlux::ApexCone => {
                        "by the solid angle of the outer cone (apex-cone convention)"
                    }
                };
                if convention != flux {
                    text.line(2, format!("{} lm {what}", digits(cd * angle)));
                }
            }
        }
    } else {
        let what =
            if light.clip_at_horizon { "its whole disk (the horizon cuts it)" } else { "it" };
        text.line(
            2,
            format!("{} lx on a surface that faces {what}", digits(source.lux(1.0).get() * weight)),
        );
    }
    match (source.nits(), emitter) {
        (Some(nits), _) if emitter.area().is_some() || light.is_directional() => {
            let ev = luminance_to_ev100(Nit(nits.get() * weight))
                .map_or_else(String::new, |ev| format!(", EV100 {:.2}", ev.get()));
            text.line(2, format!("{} nit{ev}", digits(nits.get() * weight)));
        }
        (_, Emitter::Sun { .. }) => {
            let nits = source.lux(1.0).get() * weight / SUN_SOLID_ANGLE;
            text.line(
                2,
                format!(
                    "{} nit as a sun of 0.2666 degrees half angle (6.8018e-5 sr)",
                    digits(nits)
                ),
            );
        }
        _ => {}
    }
    if let Some(profile) = &light.bare().profile {
        let (peak, lumens) = (profile.peak().get(), profile.lumens().get());
        text.line(2, format!("IES profile: {} cd at most, {} lm", digits(peak), digits(lumens)));
    }
    if let Some(range) = light.range {
        text.line(2, format!("range {} m", digits(f64::from(range))));
    }
    if light.color != Vec3::ONE {
        text.line(
            2,
            format!(
                "color {}; its luminance Y = .2126 R + .7152 G + .0722 B = {} multiplies all values but the authored one",
                color(light.color),
                digits(weight)
            ),
        );
    }
}

/// Description of an emitter with its size.
fn shape(emitter: Emitter) -> String {
    let faces = |sides| if sides == Sides::Two { ", two-sided" } else { "" };
    match emitter {
        Emitter::Point => "point".into(),
        Emitter::Spot { cone, .. } => format!(
            "spot, half angles {} to {} degrees",
            digits(cone.inner().to_degrees()),
            digits(cone.outer().to_degrees())
        ),
        Emitter::Sphere { radius } => format!("sphere of {} m radius", digits(radius)),
        Emitter::Disk { radius, sides } => {
            format!("disk of {} m radius{}", digits(radius), faces(sides))
        }
        Emitter::Rectangle { width, height, sides } => {
            format!("rectangle of {} x {} m{}", digits(width), digits(height), faces(sides))
        }
        Emitter::Tube { radius, length } => {
            format!("tube of {} m length, {} m radius", digits(length), digits(radius))
        }
        Emitter::Sun { angular_radius: 0.0 } => "directional".into(),
        Emitter::Sun { angular_radius } => {
            format!("sun of {} degrees diameter", digits(2.0 * angular_radius.to_degrees()))
        }
    }
}

fn notes(scene: &Scene, text: &mut Text) {
    for (kind, title) in [
        (NoteKind::Repaired, "Repaired"),
        (NoteKind::Unsupported, "Not supported"),
        (NoteKind::Info, "Remarks"),
    ] {
        let notes: Vec<_> = scene.notes.iter().filter(|note| note.kind == kind).collect();
        text.list(title, notes.into_iter(), |text, note| {
            text.line(1, format!("{}: {}", note.location, note.message))
        });
    }
}

#[cfg(test)]
mod tests;
