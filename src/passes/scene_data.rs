//! The scene on the device: geometry, materials, textures, lights; and what of it a view sees.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use glam::{DMat4, DVec3, Vec2, Vec3, Vec4};

use super::{
    area_lights, environment, light_tree, mips,
    profiles::Profiles,
    shared,
    traced::{SceneTrees, TreesFor},
    view::View,
};
use crate::{
    gpu::{
        Bind, Buffer, BufferKind, Gpu, GpuError, GpuResult, GraphicsPipeline, Image, ImageInfo, TextureSet,
        pipeline::SamplerInfo, upload::Uploader, vk,
    },
    photometry::{
        Candela, Nit,
        lights::{Emitter, Sides},
    },
    scene::{self, AlphaMode, Scene, TextureRef, Wrap},
};

/// A vertex as the pipelines read it.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Vertex {
    position: Vec3,
    normal: [i16; 4],
    tangent: [i16; 4],
    uv0: Vec2,
    uv1: Vec2,
    color: [f32; 4],
}

/// Bytes of a vertex.
pub const VERTEX_STRIDE: u32 = size_of::<Vertex>() as u32;

/// Location, format and offset of each vertex attribute.
#[must_use]
pub fn vertex_attributes() -> Vec<(u32, vk::Format, u32)> {
    let offset = |bytes: usize| bytes as u32;
    vec![
        (0, vk::Format::R32G32B32_SFLOAT, offset(std::mem::offset_of!(Vertex, position))),
        (1, vk::Format::R16G16B16A16_SNORM, offset(std::mem::offset_of!(Vertex, normal))),
        (2, vk::Format::R16G16B16A16_SNORM, offset(std::mem::offset_of!(Vertex, tangent))),
        (3, vk::Format::R32G32_SFLOAT, offset(std::mem::offset_of!(Vertex, uv0))),
        (4, vk::Format::R32G32_SFLOAT, offset(std::mem::offset_of!(Vertex, uv1))),
        (5, vk::Format::R32G32B32A32_SFLOAT, offset(std::mem::offset_of!(Vertex, color))),
    ]
}

/// How a draw's pixels reach the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// G-buffer, material without textures.
    Plain,
    /// G-buffer.
    Opaque,
    /// G-buffer, alpha-tested.
    Mask,
    /// Over the lit picture.
    Blend,
}

/// A primitive with all places where it stands.
struct Group {
    first_index: u32,
    index_count: u32,
    vertex_offset: i32,
    material: u32,
    layer: Layer,
    double_sided: bool,
    center: Vec3,
    radius: f32,
    places: Arc<[DMat4]>,
}

/// One draw call.
#[derive(Clone, Copy, Debug)]
pub struct Draw {
    /// Into the scene's indices.
    pub first_index: u32,
    /// How many.
    pub index_count: u32,
    /// Added to each index.
    pub vertex_offset: i32,
    /// Into the frame's instances.
    pub first_instance: u32,
    /// How many.
    pub instance_count: u32,
    /// Into the scene's materials.
    pub material: u32,
    /// Both sides are drawn.
    pub double_sided: bool,
    /// The transform mirrors, so that the front winds the other way.
    pub mirrored: bool,
    /// Where its pixels go.
    pub layer: Layer,
}

/// What a view sees of a scene.
pub struct Visible {
    /// Draw calls: opaque ones grouped, blended ones from back to front.
    pub draws: Vec<Draw>,
    /// Instances that the draws refer to.
    pub instances: Vec<shared::Instance>,
    /// Instances outside of the view.
    pub culled: usize,
}

/// A light in the world.
#[derive(Clone, Copy, Debug)]
pub struct WorldLight {
    /// In the world (m).
    pub position: DVec3,
    /// Unit vector along which it shines.
    pub direction: Vec3,
    /// As the shader sees it, but for the position.
    pub shader: shared::Light,
    /// From infinitely far.
    pub directional: bool,
    /// How far it reaches from its position (m).
    pub radius: f64,
    /// Candela by channel in the strongest direction.
    pub candela: Vec3,
}

/// A scene on the device.
pub struct GpuScene {
    /// Another one for each upload.
    pub number: u64,
    /// All vertices.
    pub vertices: Arc<Buffer>,
    /// All indices.
    pub indices: Arc<Buffer>,
    /// All materials.
    pub materials: Arc<Buffer>,
    /// One set of textures a material.
    pub textures: Arc<TextureSet>,
    /// Directional lights first.
    pub lights: Vec<WorldLight>,
    /// Tree over all lights that have a place.
    pub light_tree: Vec<light_tree::Node>,
    /// The linear maps of area lights (`photometry::area::ltc`).
    pub ltc: Arc<Buffer>,
    /// What is lost by leaving out lamps below a threshold (`light_tree::loss_table`).
    pub losses: Arc<Buffer>,
    /// Measured distributions of lamps (`profiles::Profiles`).
    pub profiles: Arc<Buffer>,
    /// Light from all around (`environment::bytes`).
    pub environment: Arc<Buffer>,
    /// There is something to see where no surface is.
    pub has_background: bool,
    /// What shadow rays walk, where it was asked for.
    pub trees: Option<SceneTrees>,
    /// One white texel, for what is not there.
    pub white: Arc<Image>,
    /// The box around all that is shown (m).
    pub bounds: (DVec3, DVec3),
    groups: Vec<Group>,
    /// Shining surfaces of lamps: seen, but nothing else; they cast no shadow.
    lamp_bodies: Vec<Group>,
}

/// What throws shadows.
#[derive(Default)]
pub struct Casters {
    /// Instances, relative to the camera.
    pub instances: Vec<shared::Instance>,
    /// Primitives.
    pub groups: Vec<CasterGroup>,
}

/// A primitive with all places where it throws a shadow.
pub struct CasterGroup {
    /// Into the scene's indices.
    pub first_index: u32,
    /// How many.
    pub index_count: u32,
    /// Added to each index.
    pub vertex_offset: i32,
    /// Into the scene's materials.
    pub material: u32,
    /// Alpha-tested or not.
    pub layer: Layer,
    /// Into the casters' instances.
    first_instance: u32,
    /// Around each place: centre relative to the camera, and radius.
    spheres: Vec<(Vec3, f32)>,
}

impl CasterGroup {
    /// Runs of instances (first, count) that a projection may see. Nothing is left out for being nearer than it begins.
    #[must_use]
    pub fn seen_by(&self, to_clip: &glam::Mat4) -> Vec<(u32, u32)> {
        let m = to_clip.transpose();
        let planes = [m.w_axis + m.x_axis, m.w_axis - m.x_axis, m.w_axis + m.y_axis, m.w_axis - m.y_axis];
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for (index, (center, radius)) in (self.first_instance..).zip(&self.spheres) {
            let seen = planes.iter().all(|plane| plane.dot(center.extend(1.0)) >= -radius * plane.truncate().length());
            match runs.last_mut() {
                _ if !seen => {}
                Some((first, count)) if *first + *count == index => *count += 1,
                _ => runs.push((index, 1)),
            }
        }
        runs
    }
}

fn tree_over(lights: &[WorldLight]) -> Vec<light_tree::Node> {
    let first = lights.iter().filter(|light| light.directional).count() as u32;
    let lamps: Vec<light_tree::Lamp> = lights
        .iter()
        .filter(|light| !light.directional)
        .map(|light| light_tree::Lamp { position: light.position, radius: light.radius, intensity: light.candela })
        .collect();
    light_tree::build(&lamps, first)
}

impl GpuScene {
    /// Uploads a scene; with `trees`, what shadow rays walk too. `pipeline` is one that draws scene geometry; its set 1
    /// gives the textures' layout.
    ///
    /// # Errors
    /// Out of memory; a lost device.
    pub fn new(gpu: &Gpu, scene: &Scene, trees: TreesFor, pipeline: &GraphicsPipeline) -> GpuResult<Self> {
        let mut uploader = Uploader::new(gpu)?;
        let default_material = scene.materials.len();
        let bodies = area_lights::lamp_bodies(scene);
        let materials: Vec<scene::Material> = scene
            .materials
            .iter()
            .cloned()
            .chain([scene::Material::default()])
            .chain(bodies.iter().map(|body| body.material.clone()))
            .collect();
        let mut parts = scene_parts(scene, default_material);
        let own_parts = parts.len();
        parts.extend(bodies.iter().enumerate().map(|(index, body)| Part {
            primitive: &body.surface,
            places: Arc::new([body.place]),
            material: default_material + 1 + index,
        }));
        let (vertices, indices, mut groups) = upload_geometry(gpu, &mut uploader, &parts, &materials)?;
        let lamp_bodies = groups.split_off(own_parts);
        let has_tangents = materials_with_tangents(scene);
        let packed: Vec<shared::Material> = materials
            .iter()
            .enumerate()
            .map(|(index, material)| {
                let mut packed = pack_material(material, has_tangents.get(index).copied().unwrap_or(false));
                packed.flags |= if index > default_material { shared::MATERIAL_LAMP } else { 0 };
                packed
            })
            .collect();
        let material_buffer =
            Buffer::new(gpu, "materials", size_of_val(packed.as_slice()) as u64, BufferKind::Storage)?;
        uploader.buffer(&material_buffer, bytemuck::cast_slice(&packed))?;
        let white = texture_image(gpu, &mut uploader, "white", &[255; 4], 1, 1, false)?;
        let textures = upload_textures(gpu, &mut uploader, scene, &materials, &white, pipeline)?;
        let mut profiles = Profiles::default();
        let lights = world_lights(scene, &mut profiles);
        let storage = |uploader: &mut Uploader, name: &str, bytes: &[u8]| -> GpuResult<Arc<Buffer>> {
            let limit = gpu.limits().max_storage_buffer_range;
            if bytes.len() as u64 > u64::from(limit) {
                return Err(GpuError::TooLarge {
                    what: name.into(),
                    asked: format!("{} bytes", bytes.len()),
                    limit: format!("{limit} bytes"),
                    device: gpu.info().name.clone(),
                    remedy: "use a smaller file",
                });
            }
            let buffer = Buffer::new(gpu, name, bytes.len() as u64, BufferKind::Storage)?;
            uploader.buffer(&buffer, bytes)?;
            Ok(buffer)
        };
        let profiles = storage(&mut uploader, "light profiles", bytemuck::cast_slice(&profiles.words()))?;
        let environment = storage(&mut uploader, "environment", &environment::bytes(scene.environment.as_ref()))?;
        let sized_sun = |light: &WorldLight| light.directional && light.shader.half_width > 0.0;
        let has_background = scene.environment.is_some() || lights.iter().any(sized_sun);
        let light_tree = tree_over(&lights);
        let (low, high) = scene.bounds().unwrap_or_default();
        let table = light_tree::loss_table(&light_tree, low, high);
        let losses = Buffer::new(gpu, "light losses", size_of_val(table.as_slice()) as u64, BufferKind::Storage)?;
        uploader.buffer(&losses, bytemuck::cast_slice(&table))?;
        let trees = trees.wanted(&lights).then(|| SceneTrees::new(gpu, &mut uploader, scene)).transpose()?;
        let maps = crate::photometry::area::ltc::table();
        let ltc = Buffer::new(gpu, "linear maps of area lights", size_of_val(maps) as u64, BufferKind::Storage)?;
        uploader.buffer(&ltc, bytemuck::cast_slice(maps))?;
        uploader.finish()?;
        let bounds = (low, high);
        static UPLOADS: AtomicU64 = AtomicU64::new(0);
        Ok(Self {
            number: UPLOADS.fetch_add(1, Ordering::Relaxed),
            vertices,
            indices,
            materials: material_buffer,
            textures,
            lights,
            light_tree,
            losses,
            profiles,
            environment,
            has_background,
            trees,
            ltc,
            white,
            bounds,
            groups,
            lamp_bodies,
        })
    }

    /// What this view sees, and in which order it is drawn.
    #[must_use]
    pub fn visible(&self, view: &View) -> Visible {
        let mut visible = Visible { draws: Vec::new(), instances: Vec::new(), culled: 0 };
        let mut blended: Vec<(f32, Draw)> = Vec::new();
        for group in self.groups.iter().chain(&self.lamp_bodies) {
            for mirrored in [false, true] {
                let first = visible.instances.len() as u32;
                let draw = |first_instance, instance_count| Draw {
                    first_index: group.first_index,
                    index_count: group.index_count,
                    vertex_offset: group.vertex_offset,
                    first_instance,
                    instance_count,
                    material: group.material,
                    double_sided: group.double_sided,
                    mirrored,
                    layer: group.layer,
                };
                for place in group.places.iter() {
                    if (place.determinant() < 0.0) != mirrored {
                        continue;
                    }
                    let (instance, scale) = place_instance(place, view.position);
                    let center = instance.to_world.transform_point3(group.center);
                    if !view.may_see(center, group.radius * scale) {
                        visible.culled += 1;
                        continue;
                    }
                    if group.layer == Layer::Blend {
                        blended.push((center.dot(view.forward), draw(visible.instances.len() as u32, 1)));
                    }
                    visible.instances.push(instance);
                }
                let count = visible.instances.len() as u32 - first;
                if count > 0 && group.layer != Layer::Blend {
                    visible.draws.push(draw(first, count));
                }
            }
        }
        visible.draws.sort_by_key(|draw| (draw.layer, draw.material));
        blended.sort_by(|a, b| b.0.total_cmp(&a.0));
        visible.draws.extend(blended.into_iter().map(|(_, draw)| draw));
        visible
    }

    /// All that throws shadows: everything that is not blended.
    #[must_use]
    pub fn casters(&self, camera: DVec3) -> Casters {
        let mut casters = Casters { instances: Vec::new(), groups: Vec::new() };
        for group in self.groups.iter().filter(|group| group.layer != Layer::Blend) {
            let first_instance = casters.instances.len() as u32;
            let mut spheres = Vec::with_capacity(group.places.len());
            for place in group.places.iter() {
                let (instance, scale) = place_instance(place, camera);
                spheres.push((instance.to_world.transform_point3(group.center), group.radius * scale));
                casters.instances.push(instance);
            }
            casters.groups.push(CasterGroup {
                first_index: group.first_index,
                index_count: group.index_count,
                vertex_offset: group.vertex_offset,
                material: group.material,
                layer: group.layer,
                first_instance,
                spheres,
            });
        }
        casters
    }

    /// Whether any light has a surface.
    #[must_use]
    pub fn has_area_lights(&self) -> bool {
        let kind = |light: &WorldLight| light.shader.kind & shared::LIGHT_KIND_BITS;
        self.lights.iter().any(|light| kind(light) >= shared::LIGHT_SPHERE)
    }

    /// The lights relative to the camera, directional ones first.
    #[must_use]
    pub fn lights_for(&self, view: &View) -> Vec<shared::Light> {
        self.lights
            .iter()
            .map(|light| shared::Light { position: (light.position - view.position).as_vec3(), ..light.shader })
            .collect()
    }

    /// The light tree relative to the camera.
    #[must_use]
    pub fn nodes_for(&self, view: &View) -> Vec<shared::LightNode> {
        self.light_tree
            .iter()
            .map(|node| shared::LightNode { center: (node.center - view.position).as_vec3(), ..node.shader })
            .collect()
    }

    /// How many lights are directional.
    #[must_use]
    pub fn directional_count(&self) -> u32 {
        self.lights.iter().filter(|light| light.directional).count() as u32
    }

    /// Whether anything is alpha-blended.
    #[must_use]
    pub fn has_blended(&self) -> bool {
        self.groups.iter().any(|group| group.layer == Layer::Blend)
    }
}

fn place_instance(place: &DMat4, camera: DVec3) -> (shared::Instance, f32) {
    let mut relative = *place;
    relative.w_axis -= camera.extend(0.0);
    let to_world = relative.as_mat4();
    let linear = glam::DMat3::from_mat4(*place);
    // The cofactor matrix is the inverse transpose times the determinant and exists for singular transforms too.
    let cofactor = glam::DMat3::from_cols(
        linear.y_axis.cross(linear.z_axis),
        linear.z_axis.cross(linear.x_axis),
        linear.x_axis.cross(linear.y_axis),
    );
    let sign = if linear.determinant() < 0.0 { -1.0 } else { 1.0 };
    let largest = [cofactor.x_axis, cofactor.y_axis, cofactor.z_axis].iter().map(|c| c.length()).fold(0.0, f64::max);
    let normal = cofactor * (sign / largest.max(1e-300));
    let column = |axis: DVec3, w: f64| axis.extend(w).as_vec4();
    // No stretch exceeds the Frobenius norm; the largest axis would be too small under shear.
    let scale =
        (linear.x_axis.length_squared() + linear.y_axis.length_squared() + linear.z_axis.length_squared()).sqrt();
    let instance = shared::Instance {
        to_world,
        normal0: column(normal.x_axis, 0.0),
        normal1: column(normal.y_axis, 0.0),
        normal2: column(normal.z_axis, sign),
    };
    (instance, scale as f32)
}

/// The strongest light (cd or lx) that shaders are given.
pub(super) const STRONGEST: f32 = 1e30;

/// Every light that is shown, as the shader sees it: directional ones first.
#[must_use]
pub fn world_lights(scene: &Scene, profiles: &mut Profiles) -> Vec<WorldLight> {
    let mut lights: Vec<WorldLight> = Vec::new();
    for placed in scene.walk() {
        let Some(light) = placed.node.light.and_then(|light| scene.lights.get(light)) else { continue };
        lights.push(world_light(light, &placed.world, profiles));
    }
    if scene.emissive_lights {
        lights.extend(scene::emissive::emissive_lights(scene).patches.iter().map(area_lights::patch_light));
    }
    // Stable: the file's order among equals.
    lights.sort_by_key(|light| !light.directional);
    lights
}

/// A light's axes in the world by its node: along its width, and along which it shines.
pub(super) fn light_axes(world: &DMat4) -> (DVec3, DVec3) {
    let direction = (-world.z_axis.truncate()).normalize_or(DVec3::NEG_Z);
    // A node's scale does not change a light (KHR_lights_punctual), but shear must leave the axes square.
    let across = world.x_axis.truncate();
    let right = (across - direction * across.dot(direction)).normalize_or(direction.any_orthonormal_vector());
    (right, direction)
}

fn world_light(light: &scene::Light, world: &DMat4, profiles: &mut Profiles) -> WorldLight {
    let (emitter, source) = (light.emitter(), light.source);
    let (right, direction) = light_axes(world);
    let candela = light.candela().map_or(0.0, Candela::get);
    let nits = source.nits().map_or(0.0, Nit::get);
    let two = |sides| if sides == Sides::Two { shared::LIGHT_TWO_SIDED } else { 0 };
    let (kind, strength, half_width, half_height) = match emitter {
        Emitter::Point | Emitter::Spot { .. } => (shared::LIGHT_POINT, candela, 0.0, 0.0),
        Emitter::Sun { angular_radius } => (shared::LIGHT_DIRECTIONAL, source.lux(1.0).get(), angular_radius, 0.0),
        Emitter::Sphere { radius } => (shared::LIGHT_SPHERE, nits, radius, radius),
        Emitter::Disk { radius, sides } => (shared::LIGHT_DISK | two(sides), nits, radius, radius),
        Emitter::Rectangle { width, height, sides } => {
            (shared::LIGHT_RECTANGLE | two(sides), nits, width / 2.0, height / 2.0)
        }
        Emitter::Tube { radius, length } => (shared::LIGHT_TUBE, nits, radius, length / 2.0),
    };
    let (scale, offset) = match emitter {
        Emitter::Spot { cone, .. } => {
            // KHR_lights_punctual: lightAngleScale and lightAngleOffset. The extension's sample code widens hard
            // edges to 0.001 in cosine, which would add 9 % of flux to a cone of 10 degrees.
            let (inner, outer) = (cone.inner().cos(), cone.outer().cos());
            let scale = 1.0 / (inner - outer).max(1e-6);
            (scale, -outer * scale)
        }
        _ => (0.0, 1.0),
    };
    // A product beyond the range of floats would make NaN of darkness.
    let times_color = |strength: f64| (light.color * strength as f32).min(Vec3::splat(STRONGEST));
    WorldLight {
        position: world.w_axis.truncate(),
        direction: direction.as_vec3(),
        directional: light.is_directional(),
        radius: emitter.bounding_radius(),
        candela: times_color(candela),
        shader: shared::Light {
            position: Vec3::ZERO,
            inverse_range2: light.range.map_or(0.0, |range| 1.0 / (range * range)),
            intensity: times_color(strength),
            spot_scale: scale as f32,
            direction: direction.as_vec3(),
            spot_offset: offset as f32,
            right: right.as_vec3(),
            half_width: half_width as f32,
            half_height: half_height as f32,
            kind: kind | if light.shadow { shared::LIGHT_SHADOW } else { 0 },
            profile: match emitter {
                Emitter::Point | Emitter::Spot { .. } => {
                    light.profile.as_ref().map_or(shared::NONE, |profile| profiles.number(profile))
                }
                _ => shared::NONE,
            },
            shadow: shared::NONE,
        },
    }
}

/// Primitives that a scene may show, instances counted each: 1.8 GB of instances on the host.
const MOST_INSTANCES: usize = 16 << 20;

type Geometry = (Arc<Buffer>, Arc<Buffer>, Vec<Group>);

/// A primitive with all places where it stands.
struct Part<'a> {
    primitive: &'a scene::Primitive,
    places: Arc<[DMat4]>,
    material: usize,
}

/// All primitives that a scene shows.
fn scene_parts(scene: &Scene, default_material: usize) -> Vec<Part<'_>> {
    let mut places: Vec<Vec<DMat4>> = vec![Vec::new(); scene.meshes.len()];
    for placed in scene.walk() {
        if let Some(places) = placed.node.mesh.and_then(|mesh| places.get_mut(mesh)) {
            places.push(placed.world);
        }
    }
    let mut parts = Vec::new();
    for (mesh, places) in scene.meshes.iter().zip(&places).filter(|(_, places)| !places.is_empty()) {
        let shared: Arc<[DMat4]> = places.as_slice().into();
        parts.extend(mesh.primitives.iter().map(|primitive| Part {
            primitive,
            places: Arc::clone(&shared),
            material: primitive.material.filter(|&m| m < default_material).unwrap_or(default_material),
        }));
    }
    parts
}

fn upload_geometry(
    gpu: &Gpu,
    uploader: &mut Uploader,
    parts: &[Part<'_>],
    materials: &[scene::Material],
) -> GpuResult<Geometry> {
    let vertex_count: usize = parts.iter().map(|part| part.primitive.positions.len()).sum();
    let index_count: usize = parts.iter().map(|part| part.primitive.indices.len()).sum();
    let instance_count: usize = parts.iter().map(|part| part.places.len()).sum();
    for (what, count, limit) in [
        ("the number of vertices", vertex_count, i32::MAX as usize),
        ("the number of indices", index_count, u32::MAX as usize),
        ("the number of shown primitives", instance_count, MOST_INSTANCES),
    ] {
        if count > limit {
            return Err(GpuError::TooLarge {
                what: what.into(),
                asked: count.to_string(),
                limit: limit.to_string(),
                device: gpu.info().name.clone(),
                remedy: "use a simpler scene",
            });
        }
    }
    let vertices = Buffer::new(gpu, "vertices", vertex_count as u64 * u64::from(VERTEX_STRIDE), BufferKind::Geometry)?;
    let indices = Buffer::new(gpu, "indices", index_count as u64 * 4, BufferKind::Geometry)?;
    let mut vertex_data: Vec<Vertex> = Vec::with_capacity(vertex_count);
    let mut index_data: Vec<u32> = Vec::with_capacity(index_count);
    let mut groups = Vec::new();
    for &Part { primitive, ref places, material } in parts {
        let described = materials.get(material).cloned().unwrap_or_default();
        let (center, radius) = bounding_sphere(&primitive.positions);
        groups.push(Group {
            first_index: index_data.len() as u32,
            index_count: primitive.indices.len() as u32,
            vertex_offset: vertex_data.len() as i32,
            material: material as u32,
            layer: match described.alpha {
                AlphaMode::Opaque if texture_slots(&described).iter().all(Option::is_none) => Layer::Plain,
                AlphaMode::Opaque => Layer::Opaque,
                AlphaMode::Mask { .. } => Layer::Mask,
                AlphaMode::Blend => Layer::Blend,
            },
            double_sided: described.double_sided,
            center,
            radius,
            places: Arc::clone(places),
        });
        vertex_data.extend((0..primitive.positions.len()).map(|index| vertex(primitive, index)));
        index_data.extend_from_slice(&primitive.indices);
    }
    uploader.buffer(&vertices, bytemuck::cast_slice(&vertex_data))?;
    uploader.buffer(&indices, bytemuck::cast_slice(&index_data))?;
    Ok((vertices, indices, groups))
}

fn vertex(primitive: &scene::Primitive, index: usize) -> Vertex {
    let snorm = |v: Vec4| v.to_array().map(|x| (x.clamp(-1.0, 1.0) * 32767.0).round() as i16);
    let normal = primitive.normals.get(index).copied().unwrap_or(Vec3::Y);
    let tangent = primitive.tangents.get(index).copied().unwrap_or(Vec4::ZERO);
    Vertex {
        position: primitive.positions.get(index).copied().unwrap_or_default(),
        normal: snorm(normal.extend(0.0)),
        tangent: snorm(tangent),
        uv0: primitive.uv0.get(index).copied().unwrap_or_default(),
        uv1: primitive.uv1.get(index).copied().unwrap_or_default(),
        color: primitive.colors.get(index).copied().unwrap_or(Vec4::ONE).to_array(),
    }
}

fn bounding_sphere(positions: &[Vec3]) -> (Vec3, f32) {
    let (low, high) = positions
        .iter()
        .fold((Vec3::splat(f32::MAX), Vec3::splat(f32::MIN)), |(low, high), &p| (low.min(p), high.max(p)));
    let center = if positions.is_empty() { Vec3::ZERO } else { low * 0.5 + high * 0.5 };
    let radius = positions.iter().map(|p| p.distance(center)).fold(0.0, f32::max);
    (center, radius)
}

fn materials_with_tangents(scene: &Scene) -> Vec<bool> {
    let mut has = vec![false; scene.materials.len()];
    for primitive in scene.meshes.iter().flat_map(|mesh| &mesh.primitives) {
        if let Some(slot) = primitive.material.and_then(|material| has.get_mut(material)) {
            *slot |= !primitive.tangents.is_empty();
        }
    }
    has
}

fn texture_slots(material: &scene::Material) -> [Option<TextureRef>; 5] {
    [
        material.base_color_texture,
        material.metallic_roughness_texture,
        material.normal_texture,
        material.occlusion_texture,
        material.emissive_texture,
    ]
}

fn pack_material(material: &scene::Material, has_tangents: bool) -> shared::Material {
    let mut uv_rows = [Vec4::ZERO; 10];
    for (slot, texture) in texture_slots(material).into_iter().enumerate() {
        let (transform, set) = texture.map_or((TextureRef::IDENTITY, 0), |t| (t.transform, t.uv_set));
        for (row, values) in transform.iter().enumerate() {
            uv_rows[slot * 2 + row] = Vec3::from_array(*values).extend(f32::from(set));
        }
    }
    let mut flags = 0;
    let mut cutoff = 0.0;
    if let AlphaMode::Mask { cutoff: value } = material.alpha {
        flags |= shared::MATERIAL_MASK;
        cutoff = value;
    }
    for (on, flag) in [
        (material.unlit, shared::MATERIAL_UNLIT),
        (material.double_sided, shared::MATERIAL_DOUBLE_SIDED),
        (material.normal_texture.is_some() && has_tangents, shared::MATERIAL_NORMAL_MAP),
    ] {
        flags |= if on { flag } else { 0 };
    }
    shared::Material {
        base_color: material.base_color,
        emission: material.emission.extend(cutoff),
        metallic: material.metallic,
        roughness: material.roughness,
        normal_scale: material.normal_scale,
        occlusion_strength: material.occlusion_strength,
        flags,
        uv_rows,
        ..Default::default()
    }
}

const SLOT_NAMES: [&str; 5] =
    ["base_color_texture", "metallic_roughness_texture", "normal_texture", "occlusion_texture", "emissive_texture"];

fn upload_textures(
    gpu: &Gpu,
    uploader: &mut Uploader,
    scene: &Scene,
    materials: &[scene::Material],
    white: &Arc<Image>,
    pipeline: &GraphicsPipeline,
) -> GpuResult<Arc<TextureSet>> {
    let plain = SamplerInfo {
        mag: vk::Filter::LINEAR,
        min: vk::Filter::LINEAR,
        mip: vk::SamplerMipmapMode::LINEAR,
        mips: true,
        wrap_u: vk::SamplerAddressMode::REPEAT,
        wrap_v: vk::SamplerAddressMode::REPEAT,
    };
    // A picture that is used both as colour and as data is uploaded twice.
    let mut uploaded: HashMap<(usize, bool), Arc<Image>> = HashMap::new();
    let mut lists: Vec<Vec<(Arc<Image>, SamplerInfo)>> = Vec::new();
    for material in materials {
        let mut list = Vec::new();
        for (slot, reference) in texture_slots(material).into_iter().enumerate() {
            let texture = reference.and_then(|reference| scene.textures.get(reference.texture));
            let picture = texture.and_then(|texture| scene.images.get(texture.image).map(|image| (texture, image)));
            let Some((texture, image)) = picture else {
                list.push((Arc::clone(white), plain));
                continue;
            };
            let srgb = matches!(slot, 0 | 4);
            let key = (texture.image, srgb);
            let on_device = match uploaded.get(&key) {
                Some(known) => Arc::clone(known),
                None => {
                    let made =
                        texture_image(gpu, uploader, &image.name, &image.rgba8, image.width, image.height, srgb)?;
                    uploaded.insert(key, Arc::clone(&made));
                    made
                }
            };
            list.push((on_device, sampler_info(&texture.sampler)));
        }
        lists.push(list);
    }
    let binds: Vec<Vec<(&str, Bind<'_>)>> = lists
        .iter()
        .map(|list| {
            SLOT_NAMES.iter().zip(list).map(|(&name, (image, info))| (name, Bind::Texture(image, *info))).collect()
        })
        .collect();
    TextureSet::new(gpu, "material textures", pipeline, 1, &binds)
}

fn texture_image(
    gpu: &Gpu,
    uploader: &mut Uploader,
    name: &str,
    rgba8: &[u8],
    width: u32,
    height: u32,
    srgb: bool,
) -> GpuResult<Arc<Image>> {
    let mut levels = mips::chain(rgba8, width, height, srgb);
    let (mut width, mut height) = (width, height);
    // A picture beyond the device's limit starts at a smaller level.
    let limit = gpu.limits().max_image_dimension2_d;
    while (width > limit || height > limit) && levels.len() > 1 {
        levels.remove(0);
        (width, height) = ((width / 2).max(1), (height / 2).max(1));
    }
    let info = ImageInfo {
        width,
        height,
        mips: levels.len() as u32,
        format: if srgb { vk::Format::R8G8B8A8_SRGB } else { vk::Format::R8G8B8A8_UNORM },
        usage: vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST,
    };
    let image = Image::new(gpu, &format!("texture {name}"), info)?;
    uploader.texture(&image, &levels)?;
    Ok(image)
}

fn sampler_info(sampler: &scene::Sampler) -> SamplerInfo {
    let filter = |linear| if linear { vk::Filter::LINEAR } else { vk::Filter::NEAREST };
    let wrap = |wrap| match wrap {
        Wrap::Repeat => vk::SamplerAddressMode::REPEAT,
        Wrap::Mirror => vk::SamplerAddressMode::MIRRORED_REPEAT,
        Wrap::Clamp => vk::SamplerAddressMode::CLAMP_TO_EDGE,
    };
    SamplerInfo {
        mag: filter(sampler.mag_linear),
        min: filter(sampler.min_linear),
        mip: if sampler.mip_linear == Some(true) {
            vk::SamplerMipmapMode::LINEAR
        } else {
            vk::SamplerMipmapMode::NEAREST
        },
        mips: sampler.mip_linear.is_some(),
        wrap_u: wrap(sampler.wrap_u),
        wrap_v: wrap(sampler.wrap_v),
    }
}
