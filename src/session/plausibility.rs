//! Checks of a scene and its look for likely mistakes: units, sizes, reciprocal dials, maps of the
//! wrong kind, lights and cameras inside of bodies. Nothing is changed; each finding names its
//! remedy.

use std::{collections::BTreeMap, fmt};

use glam::{DMat4, DVec3, Vec3};

use crate::{
    bvh::{Ray, SceneBvh, casts_shadow},
    photometry::{color::srgb_eotf, lights::Emitter},
    scene::{
        AlphaMode, Image, Material, Mesh, PlacedNode, Scene, TextureRef, address::AddressTable,
        inspect::path, look::Look,
    },
};

/// A likely mistake.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// The file's unit is probably not the meter.
    Unit {
        /// Maximum extent of the scene (m).
        size: f64,
        /// An object of a common kind, its extent (m), and the extents that such objects have (m);
        /// `None` if the scene's size alone is implausible.
        object: Option<(String, f64, [f64; 2])>,
        /// Probable meters per unit.
        scale: f64,
    },
    /// A light is much larger than the scene.
    HugeLight {
        /// Path of the light in the look.
        light: String,
        /// Its maximum extent (m).
        size: f64,
        /// Maximum extent of the scene (m).
        scene: f64,
    },
    /// A shutter time that looks like the denominator of one.
    LongShutter {
        /// Path of the dial in the look.
        path: String,
        /// Shutter time (s).
        seconds: f64,
    },
    /// One image is used as color, which is sRGB, and as data, which are linear.
    ColorAsData {
        /// The image's name, or its number.
        image: String,
        /// Use as data.
        data: &'static str,
    },
    /// A normal texture whose texels are not unit vectors.
    NotNormals {
        /// Address of the material.
        material: String,
        /// The texels are unit vectors after decoding from sRGB.
        srgb: bool,
    },
    /// A light or camera inside of a closed body.
    Inside {
        /// Look path or option that addresses it.
        what: String,
        /// The node whose mesh is around it.
        body: String,
    },
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("warning: ")?;
        match self {
            Self::Unit { size, object, scale } => {
                if let Some((name, extent, [min, max])) = object {
                    let (extent, size) = (length(*extent), length(*size));
                    write!(
                        f,
                        "node '{name}' is {extent} long in a scene of {size}; such objects have {} \
                         to {}",
                        length(*min),
                        length(*max)
                    )?;
                } else {
                    write!(f, "the scene is {} long", length(*size))?;
                }
                write!(
                    f,
                    ": is the file's unit {}? --scale {scale} shows it in meters",
                    unit_name(*scale)
                )
            }
            Self::HugeLight { light, size, scene } => write!(
                f,
                "{light} is {} long, the scene {}: sizes of lights are meters",
                length(*size),
                length(*scene)
            ),
            Self::LongShutter { path, seconds } => {
                write!(f, "{path} is {seconds} seconds; for the fraction set \"1/{seconds}\"")
            }
            Self::ColorAsData { image, data } => write!(
                f,
                "image '{image}' is used as color (sRGB) and as {data} (linear): one of them is \
                 wrong; export separate images"
            ),
            Self::NotNormals { material, srgb: true } => write!(
                f,
                "the normal texture of material '{material}' is encoded as sRGB; export it as \
                 linear data (non-color)"
            ),
            Self::NotNormals { material, srgb: false } => write!(
                f,
                "the normal texture of material '{material}' does not hold unit vectors; use a \
                 tangent-space normal map, not a height map or a color"
            ),
            Self::Inside { what, body } => write!(
                f,
                "{what} is inside of the closed mesh of node '{body}'; move it, or hide the mesh"
            ),
        }
    }
}

/// A length with a readable unit.
fn length(meters: f64) -> String {
    let digits = |value: f64| {
        let places = usize::from(value < 100.0) + usize::from(value < 10.0);
        let text = format!("{value:.places$}");
        let cut = text.trim_end_matches('0').trim_end_matches('.');
        if text.contains('.') { cut.to_owned() } else { text }
    };
    match meters {
        m if m >= 1000.0 => format!("{} km", digits(m / 1000.0)),
        m if m >= 1.0 => format!("{} m", digits(m)),
        m if m >= 0.01 => format!("{} cm", digits(m * 100.0)),
        m => format!("{} mm", digits(m * 1000.0)),
    }
}

/// Meters per unit that files have by mistake, the most frequent first.
const SCALES: [(f64, &str); 7] = [
    (0.01, "the centimeter"),
    (0.001, "the millimeter"),
    (100.0, "100 meters (scaled down twice)"),
    (1000.0, "the kilometer"),
    (0.0254, "the inch"),
    (0.3048, "the foot"),
    (0.1, "the decimeter"),
];

fn unit_name(scale: f64) -> &'static str {
    SCALES.iter().find(|(known, _)| *known == scale).map_or("another one", |(_, name)| name)
}

/// Words in names of nodes, and the maximum extents (m) that such objects have.
const OBJECTS: [(&str, f64, f64); 28] = [
    ("armchair", 0.7, 1.4),
    ("bed", 1.4, 3.0),
    ("bench", 0.8, 4.0),
    ("bicycle", 1.2, 2.2),
    ("book", 0.1, 0.5),
    ("bottle", 0.1, 0.6),
    ("bowl", 0.08, 0.6),
    ("chair", 0.4, 1.5),
    ("cup", 0.05, 0.25),
    ("desk", 0.8, 3.0),
    ("door", 1.6, 4.0),
    ("fork", 0.1, 0.4),
    ("human", 0.5, 2.5),
    ("keyboard", 0.2, 0.6),
    ("lantern", 0.1, 2.0),
    ("laptop", 0.2, 0.6),
    ("man", 1.4, 2.5),
    ("mug", 0.05, 0.25),
    ("person", 0.5, 2.5),
    ("plate", 0.1, 0.6),
    ("shoe", 0.1, 0.6),
    ("sofa", 1.0, 5.0),
    ("spoon", 0.05, 0.5),
    ("stool", 0.25, 1.2),
    ("table", 0.3, 6.0),
    ("teapot", 0.1, 0.6),
    ("window", 0.3, 6.0),
    ("woman", 1.4, 2.5),
];

/// Words that make a model of an object out of it.
const MODELS: [&str; 4] = ["doll", "mini", "miniature", "toy"];

/// Factor between an object's extent and the plausible ones above which it is implausible.
const MAX_DEVIATION: f64 = 6.0;

/// Extents (m) of scenes that need no object to be implausible.
const PLAUSIBLE_SIZE: [f64; 2] = [0.004, 20_000.0];

/// Words of a name: `Dining_chair.001` and `diningChair1` have two.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut lower = false;
    for c in name.chars() {
        let starts = !c.is_alphabetic() || (c.is_uppercase() && lower);
        if starts {
            words.push(String::new());
        }
        lower = c.is_lowercase();
        if c.is_alphabetic()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The plausible extents of an object by its name.
fn plausible(name: &str) -> Option<[f64; 2]> {
    let words = words(name);
    if words.iter().any(|word| MODELS.contains(&word.as_str())) {
        return None;
    }
    words.iter().rev().find_map(|word| {
        let singular = word.strip_suffix('s').unwrap_or(word);
        let known = |(known, ..): &&(&str, f64, f64)| *known == word || *known == singular;
        OBJECTS.iter().find(known).map(|&(_, min, max)| [min, max])
    })
}

/// How far an extent is from plausible ones: below 1 if too small, 1 if plausible, else above.
fn deviation(extent: f64, [min, max]: [f64; 2]) -> f64 {
    if extent < min { extent / min } else { (extent / max).max(1.0) }
}

fn is_off(extent: f64, range: [f64; 2]) -> bool {
    let deviation = deviation(extent, range);
    !(1.0 / MAX_DEVIATION..=MAX_DEVIATION).contains(&deviation)
}

type Bounds = (DVec3, DVec3);

fn join(a: Option<Bounds>, b: Option<Bounds>) -> Option<Bounds> {
    let (Some((low, high)), Some((other_low, other_high))) = (a, b) else { return a.or(b) };
    Some((low.min(other_low), high.max(other_high)))
}

/// Bounds of one mesh in its own space.
fn mesh_bounds(mesh: &Mesh) -> Option<Bounds> {
    let mut points = mesh.primitives.iter().flat_map(|part| &part.positions);
    let first = points.next()?.as_dvec3();
    let add = |(low, high): Bounds, p: &Vec3| (low.min(p.as_dvec3()), high.max(p.as_dvec3()));
    Some(points.fold((first, first), add))
}

/// World-space bounds of transformed bounds.
fn transformed(world: &DMat4, (low, high): Bounds) -> Bounds {
    let corner = |number: u32| {
        let pick = |axis: u32, low: f64, high: f64| {
            if number >> axis & 1 == 0 { low } else { high }
        };
        let p = DVec3::new(pick(0, low.x, high.x), pick(1, low.y, high.y), pick(2, low.z, high.z));
        world.transform_point3(p)
    };
    let first = corner(0);
    (1..8).map(corner).fold((first, first), |(low, high), p| (low.min(p), high.max(p)))
}

/// World-space extents of a scene.
struct Extents<'a> {
    /// Maximum extent (m) of what is shown; 0 if nothing is.
    size: f64,
    /// Objects by name: their maximum extents (m) with all below, and plausible ones.
    objects: Vec<(&'a str, f64, [f64; 2])>,
}

impl<'a> Extents<'a> {
    fn of(scene: &'a Scene) -> Self {
        let placed = scene.walk();
        let meshes: Vec<Option<Bounds>> = scene.meshes.iter().map(mesh_bounds).collect();
        let mut nodes: Vec<Option<Bounds>> = vec![None; scene.nodes.len()];
        let mut whole = None;
        // Parents precede their children.
        for placed in placed.iter().rev() {
            let mesh = placed.node.mesh.and_then(|mesh| meshes.get(mesh).copied().flatten());
            let own = mesh.map(|bounds| transformed(&placed.world, bounds));
            whole = join(whole, own);
            let Some(node) = nodes.get_mut(placed.index) else { continue };
            *node = join(*node, own);
            let all = *node;
            if let Some(parent) = placed.node.parent.and_then(|parent| nodes.get_mut(parent)) {
                *parent = join(*parent, all);
            }
        }
        let extent = |(low, high): Bounds| (high - low).max_element();
        let object = |placed: &PlacedNode<'_>| {
            let node = scene.nodes.get(placed.index)?;
            let mesh = node.mesh.and_then(|mesh| scene.meshes.get(mesh));
            let names = [node.name.as_str(), mesh.map_or("", |mesh| mesh.name.as_str())];
            let (name, range) =
                names.into_iter().find_map(|name| plausible(name).map(|range| (name, range)))?;
            Some((name, extent(nodes.get(placed.index).copied().flatten()?), range))
        };
        let objects = placed.iter().filter_map(object);
        let objects = objects.filter(|(_, extent, _)| extent.is_finite()).collect();
        Self { size: whole.map_or(0.0, extent), objects }
    }
}

/// The unit, by the sizes of common objects and of the whole.
fn unit(Extents { size, objects }: &Extents<'_>) -> Option<Finding> {
    let size = *size;
    if !objects.is_empty() {
        let off = objects.iter().filter(|(_, extent, range)| is_off(*extent, *range)).count();
        if 2 * off <= objects.len() {
            return None;
        }
        let fit = |scale: f64| {
            let fits = |(_, extent, range): &&(&str, f64, [f64; 2])| {
                (0.5..=2.0).contains(&deviation(extent * scale, *range))
            };
            objects.iter().filter(fits).count()
        };
        // The first of several.
        let best = SCALES.iter().map(|&(scale, _)| (scale, fit(scale))).rev();
        let (scale, fitting) = best.max_by_key(|(_, fitting)| *fitting)?;
        if 2 * fitting <= objects.len() {
            return None;
        }
        let (name, extent, range) =
            objects.iter().find(|(_, extent, range)| is_off(*extent, *range))?;
        let object = Some(((*name).to_owned(), *extent, *range));
        return Some(Finding::Unit { size, object, scale });
    }
    let [min, max] = PLAUSIBLE_SIZE;
    let scale = if size > max {
        0.001
    } else if size > 0.0 && size < min {
        1000.0
    } else {
        return None;
    };
    Some(Finding::Unit { size, object: None, scale })
}

/// Maximum extent (m) of a light; 0 for points and suns.
fn light_size(emitter: Emitter) -> f64 {
    match emitter {
        Emitter::Point | Emitter::Spot { .. } | Emitter::Sun { .. } => 0.0,
        Emitter::Sphere { radius } | Emitter::Disk { radius, .. } => 2.0 * radius,
        Emitter::Rectangle { width, height, .. } => width.max(height),
        Emitter::Tube { radius, length } => length + 2.0 * radius,
    }
}

/// Minimum extent (m) of a light that is too large.
const HUGE_LIGHT: f64 = 20.0;

/// Address of the light at a node, by the numbers that lights had before the look.
fn light_address(
    addresses: &AddressTable<'_>,
    placed: &PlacedNode<'_>,
    before: &[Option<usize>],
) -> Option<String> {
    addresses.address(before.get(placed.index).copied().unwrap_or(placed.node.light)?)
}

fn huge_lights(scene: &Scene, size: f64, before: &[Option<usize>]) -> Vec<Finding> {
    let addresses = AddressTable::lights_with_original_numbers(scene, before);
    let huge = |placed: &PlacedNode<'_>| {
        let light = light_size(scene.lights.get(placed.node.light?)?.emitter());
        (light > HUGE_LIGHT && light > 2.0 * size && size > 0.0).then(|| Finding::HugeLight {
            light: path("lights", &light_address(&addresses, placed, before).unwrap_or_default()),
            size: light,
            scene: size,
        })
    };
    scene.walk().iter().filter_map(huge).collect()
}

/// Minimum shutter time (s) that is a denominator on a dial.
const LONG_SHUTTER: f64 = 60.0;

/// Denominators of shutter times on the dials of cameras, in thirds of a stop.
const DENOMINATORS: [f64; 22] = [
    60.0, 80.0, 100.0, 125.0, 160.0, 180.0, 200.0, 250.0, 320.0, 400.0, 500.0, 640.0, 800.0,
    1000.0, 1250.0, 1600.0, 2000.0, 2500.0, 3200.0, 4000.0, 5000.0, 8000.0,
];

fn long_shutters(look: &Look) -> impl Iterator<Item = Finding> + '_ {
    let shared = ("camera.body.shutter".to_owned(), look.camera.dials.shutter_s);
    let own = look.cameras.iter().map(|(name, camera)| {
        let camera_path = path("cameras", name);
        (format!("{camera_path}.shutter"), camera.shutter)
    });
    std::iter::once(shared).chain(own).filter_map(|(path, seconds)| {
        let seconds = seconds?;
        let is_long = seconds >= LONG_SHUTTER && DENOMINATORS.contains(&seconds);
        is_long.then_some(Finding::LongShutter { path, seconds })
    })
}

/// Maximum number of texels that are sampled of an image.
const TEXELS: usize = 4096;

/// Sampled texels of an image, 0 to 1.
fn texels(image: &Image) -> impl Iterator<Item = DVec3> + '_ {
    let count = image.rgba8.len() / 4;
    // An odd step does not follow columns.
    let step = (count / TEXELS).max(1) | 1;
    image.rgba8.chunks_exact(4).step_by(step).map(|texel| {
        let [r, g, b] = [0, 1, 2].map(|i| f64::from(texel.get(i).copied().unwrap_or(0)) / 255.0);
        DVec3::new(r, g, b)
    })
}

/// Fraction of texels that are unit vectors on the upper side after `decode`.
fn unit_fraction(image: &Image, decode: impl Fn(f64) -> f64) -> f64 {
    let (mut unit, mut all, mut blue) = (0usize, 0usize, 0.0);
    for texel in texels(image) {
        blue += texel.z;
        let v = DVec3::new(decode(texel.x), decode(texel.y), decode(texel.z)) * 2.0 - 1.0;
        all += 1;
        let gray = texel.max_element() - texel.min_element() < 2.0 / 255.0;
        // Filtered and compressed maps have shorter vectors.
        unit += usize::from(!gray && (0.75..=1.15).contains(&v.length()) && v.z > -0.05);
    }
    // Formats of two channels leave Z to the reader.
    if all == 0 || blue == 0.0 { 1.0 } else { unit as f64 / all as f64 }
}

/// Minimum fraction of unit vectors in a normal map.
const MIN_UNIT_FRACTION: f64 = 0.5;

fn wrong_maps(scene: &Scene) -> Vec<Finding> {
    let image = |of: &TextureRef| scene.textures.get(of.texture).map(|texture| texture.image);
    let addresses = AddressTable::materials(scene);
    let mut colors: BTreeMap<usize, ()> = BTreeMap::new();
    let mut data: BTreeMap<usize, &'static str> = BTreeMap::new();
    let mut findings = Vec::new();
    for (number, material) in scene.materials.iter().enumerate() {
        let color = [&material.base_color_texture, &material.emissive_texture];
        colors.extend(color.into_iter().flatten().filter_map(image).map(|image| (image, ())));
        let linear = [
            (&material.normal_texture, "normals"),
            (&material.metallic_roughness_texture, "metalness and roughness"),
        ];
        for (map, what) in linear {
            if let Some(image) = map.as_ref().and_then(image) {
                data.insert(image, what);
            }
        }
        let normals = material.normal_texture.as_ref().and_then(image);
        let Some(normals) = normals.and_then(|image| scene.images.get(image)) else { continue };
        if normals.is_error_pattern || unit_fraction(normals, |v| v) >= MIN_UNIT_FRACTION {
            continue;
        }
        let srgb = unit_fraction(normals, srgb_eotf) >= MIN_UNIT_FRACTION;
        let material = addresses.address(number).unwrap_or_default();
        findings.push(Finding::NotNormals { material, srgb });
    }
    for (&image, data) in data.iter().filter(|(image, _)| colors.contains_key(image)) {
        let Some(found) = scene.images.get(image) else { continue };
        let name = if found.name.is_empty() { format!("#{image}") } else { found.name.clone() };
        findings.push(Finding::ColorAsData { image: name, data });
    }
    findings
}

/// Findings that need no rays: of a scene to which `look` has been applied. `before`: the lights of
/// its nodes before that (`inspect::node_lights`), by whose numbers lights are addressed.
#[must_use]
pub fn findings(scene: &Scene, look: &Look, before: &[Option<usize>]) -> Vec<Finding> {
    let extents = Extents::of(scene);
    // A scale that is set is meant.
    let unit = if look.scene.scale.is_none() { unit(&extents) } else { None };
    let mut findings: Vec<Finding> = unit.into_iter().collect();
    findings.extend(huge_lights(scene, extents.size, before));
    findings.extend(long_shutters(look));
    findings.extend(wrong_maps(scene));
    findings
}

/// Number of rays from each light and camera.
const RAYS: u32 = 64;

/// Minimum fraction of rays from the inside of a closed body that end at its back.
const MIN_ENCLOSED: f64 = 0.98;

/// Unit vectors, evenly spread: a Fibonacci lattice on the sphere.
fn directions() -> impl Iterator<Item = DVec3> {
    let turn = std::f64::consts::PI * (3.0 - 5.0_f64.sqrt());
    (0..RAYS).map(move |i| {
        let y = 1.0 - (2.0 * f64::from(i) + 1.0) / f64::from(RAYS);
        let (sin, cos) = (turn * f64::from(i)).sin_cos();
        let radius = (1.0 - y * y).sqrt();
        DVec3::new(radius * cos, y, radius * sin)
    })
}

/// True if a body of this material has an inside: its back is not meant to be seen.
fn encloses(material: &Material) -> bool {
    casts_shadow(material)
        && material.alpha == AlphaMode::Opaque
        && !material.double_sided
        && !material.transmits()
}

/// The node whose closed mesh is around a point, if the nearest surface is a back in nearly all
/// directions.
fn body_around<'a>(scene: &'a Scene, bvh: &SceneBvh, at: DVec3) -> Option<&'a str> {
    let top = bvh.tlas_from(at);
    let mut backs: BTreeMap<usize, u32> = BTreeMap::new();
    for direction in directions() {
        let ray = Ray {
            origin: Vec3::ZERO,
            direction: direction.as_vec3(),
            t_min: 0.0,
            t_max: f32::INFINITY,
            offset_normal: Vec3::ZERO,
        };
        let Some(hit) = bvh.closest(&top, &ray) else { continue };
        let (Some(instance), Some(triangle)) =
            (top.instances.get(hit.instance as usize), bvh.triangles.get(hit.triangle as usize))
        else {
            continue;
        };
        // In object space, where mirroring does not matter: the winding of a mirrored mesh is
        // mirrored too (glTF 2.0, section 3.7.4).
        if triangle.normal().dot(instance.vector(ray.direction)) > 0.0 {
            *backs.entry(bvh.instance_node(hit.instance)?).or_default() += 1;
        }
    }
    let total: u32 = backs.values().sum();
    if f64::from(total) < MIN_ENCLOSED * f64::from(RAYS) {
        return None;
    }
    let (node, _) = backs.into_iter().max_by_key(|(_, count)| *count)?;
    scene.nodes.get(node).map(|node| node.name.as_str())
}

/// Lights and cameras inside of closed bodies; `before` as for [`findings`]. Builds a BVH of the
/// scene.
#[must_use]
pub fn enclosed(scene: &Scene, before: &[Option<usize>]) -> Vec<Finding> {
    let placed = scene.walk();
    let lights = AddressTable::lights_with_original_numbers(scene, before);
    let cameras = AddressTable::cameras(scene);
    let mut points: Vec<(String, DMat4)> = Vec::new();
    for placed in &placed {
        let light = placed.node.light.and_then(|number| scene.lights.get(number));
        if let Some(light) = light
            && !light.is_directional()
            && light.shadow
        {
            let address = light_address(&lights, placed, before).unwrap_or_default();
            points.push((format!("light '{address}'"), placed.world));
        }
        if let Some(address) = placed.node.camera.and_then(|number| cameras.address(number)) {
            points.push((format!("camera '{address}'"), placed.world));
        }
    }
    if points.is_empty() {
        return Vec::new();
    }
    let bvh = SceneBvh::new(scene, encloses);
    let inside = |(what, world): (String, DMat4)| {
        let body = body_around(scene, &bvh, world.w_axis.truncate())?;
        Some(Finding::Inside { what, body: body.to_owned() })
    };
    points.into_iter().filter_map(inside).collect()
}

#[cfg(test)]
mod tests;
