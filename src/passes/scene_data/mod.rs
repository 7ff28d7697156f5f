//! Scene on the device: geometry, materials, textures, lights; and its visible draws for a view.

mod blend_order;
mod deform;
mod extended_materials;
mod geometry;
mod instances;
mod lights;
mod lod;
mod materials;
mod pose;
mod water;

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use glam::{DVec3, Vec3};

pub(in crate::passes) use self::deform::Deformers;
pub use self::extended_materials::{
    ExtendedMaterials, WaterTextures, is_extended, needs_blend_pass, refracts,
};
pub(super) use self::lights::{STRONGEST, light_axes};
pub use self::{
    blend_order::MAX_SORTED,
    geometry::{LodGeneration, VERTEX_STRIDE, vertex_attributes},
    instances::{GpuInstances, LodSelection, OcclusionGain, Run, SplitPoint, in_view},
    lights::{WorldLight, world_lights},
    pose::GpuScenePose,
    water::PlacedWater,
};
use self::{
    extended_materials::upload_layers,
    geometry::{Group, Level, Part, scene_parts, upload_geometry},
    lights::tree_over,
    materials::{materials_with_tangents, pack_material, texture_image, upload_textures},
};
use super::{
    area_lights, environment,
    gi::{GiSettings, SceneGi},
    ies_profiles::Profiles,
    light_tree,
    mips::TextureSemantic,
    probes::{Capture, PlacedProbe},
    scene_bvh::{BvhUsage, GpuBvh, RayTracedLights},
    storage_buffer,
    view::View,
    volumes_scene::SceneVolumes,
};
use crate::{
    gi::VplSet,
    gpu::{
        Buffer, BufferKind, Gpu, GpuResult, GraphicsPipeline, Image, TextureSet,
        shader_structs::{
            culling::InstanceTransform,
            frame::{
                self, EMITTER_MARK, FORWARD_MARK, LIGHT_KIND_BITS, LIGHT_SPHERE,
                MATERIAL_LIGHT_SURFACE, NONE,
            },
        },
        upload::Uploader,
    },
    scene::{self, Scene},
};

/// Render queue of a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RenderQueue {
    /// G-buffer, material without textures.
    Untextured,
    /// G-buffer, textured.
    Opaque,
    /// G-buffer, alpha-tested.
    Mask,
    /// Over the lit image: blended or refractive.
    Blend,
}

/// Draw call.
#[derive(Clone, Copy, Debug)]
pub struct Draw {
    /// First index in the scene's indices.
    pub first_index: u32,
    /// Number of indices.
    pub index_count: u32,
    /// Vertex offset of the draw.
    pub vertex_offset: i32,
    /// First instance in the frame's instances.
    pub first_instance: u32,
    /// Number of instances.
    pub instance_count: u32,
    /// Material index in the scene.
    pub material: u32,
    /// Disables back-face culling.
    pub double_sided: bool,
    /// The transform mirrors, which reverses the winding.
    pub mirrored: bool,
    /// Render queue.
    pub queue: RenderQueue,
    /// Extended material: the forward pass lights it.
    pub extended: bool,
    /// Refractive surface.
    pub refracts: bool,
    /// Uses the view's own indices, sorted back to front (`Visible::sorted`).
    pub sorted: bool,
}

/// Visible part of a scene for a view.
pub struct Visible {
    /// Draw calls: opaque ones grouped, blended ones back to front.
    pub draws: Vec<Draw>,
    /// Instances that the draws refer to.
    pub instances: Vec<frame::Instance>,
    /// Group and transform index of each instance.
    pub(in crate::passes) sources: Vec<(u32, u32)>,
    /// Number of instances outside the view.
    pub culled: usize,
    /// Indices of blended triangles, back to front, for draws with `sorted`.
    pub sorted: Vec<u32>,
}

/// Scene on the device.
pub struct GpuScene {
    /// Unique number of the upload.
    pub upload_id: u64,
    /// Incremented with each upload and each pose.
    pub revision: u64,
    /// Vertex buffer of the scene.
    pub vertices: Arc<Buffer>,
    /// Index buffer of the scene.
    pub indices: Arc<Buffer>,
    /// Material factors of the scene.
    pub materials: Arc<Buffer>,
    /// One texture set per material.
    pub textures: Arc<TextureSet>,
    /// Extended materials; `None` without any.
    pub extended_materials: Option<ExtendedMaterials>,
    /// Multiple scattering compensation of rough surfaces.
    pub multiscatter: bool,
    /// Lights, directional ones first.
    pub lights: Vec<WorldLight>,
    /// Light tree over all lights with a position.
    pub light_tree: Vec<light_tree::LightTreeNode>,
    /// Linearly transformed cosine (LTC) matrices of area lights (`photometry::area::ltc`).
    pub ltc: Arc<Buffer>,
    /// Bounds on the light lost by dropping lights below a threshold (`light_tree::loss_table`).
    pub light_loss_table: Arc<Buffer>,
    /// IES profiles of the lights (`profiles::Profiles`).
    pub profiles: Arc<Buffer>,
    /// Environment buffer (`environment::bytes`).
    pub environment: Arc<Buffer>,
    /// Local probes, smallest first.
    pub probes: Vec<PlacedProbe>,
    /// Resources for probe capture, until it is complete.
    pub capture: Option<Capture>,
    /// True if the scene has an environment.
    pub has_environment: bool,
    /// True if the background is visible: an environment or a sun disk.
    pub has_background: bool,
    /// True if any surface emission is also a light.
    pub has_emitters: bool,
    /// Participating volumes.
    pub volumes: SceneVolumes,
    /// BVH for rays, if requested.
    pub bvh: Option<GpuBvh>,
    /// VPLs of indirect light, if requested.
    pub gi: Option<SceneGi>,
    /// One white texel: placeholder for missing images.
    pub white: Arc<Image>,
    /// Placeholder for the back faces if nothing refracts.
    pub no_back_faces: Arc<Image>,
    /// Waters by index.
    pub waters: Vec<PlacedWater>,
    /// Bounding box of all visible geometry (m).
    pub bounds: (DVec3, DVec3),
    /// Pose of the coming frames.
    pub current_pose: Arc<GpuScenePose>,
    /// Deformed meshes.
    pub(in crate::passes) deformers: Option<Deformers>,
    /// Groups from `own_groups` on are emitting surfaces of lights: visible, but they cast no
    /// shadow.
    groups: Vec<Group>,
    /// Triangles of blended groups.
    blended: HashMap<usize, blend_order::Triangles>,
    own_groups: usize,
    /// Instances with a static draw order, for culling on the device; `None` if the device cannot
    /// cull them.
    pub gpu_instances: Option<GpuInstances>,
    /// The only material visible to cameras; `None`: all are visible.
    only_material: Option<u32>,
}

/// Shadow casters.
#[derive(Default)]
pub struct Casters {
    /// Camera-relative instances.
    pub instances: Vec<frame::Instance>,
    /// Primitives that cast shadows.
    pub groups: Vec<CasterGroup>,
}

/// Primitive with all instances that cast shadows.
pub struct CasterGroup {
    /// First index in the scene's indices.
    pub first_index: u32,
    /// Number of indices.
    pub index_count: u32,
    /// Vertex offset of the draw.
    pub vertex_offset: i32,
    /// Material index in the scene.
    pub material: u32,
    /// Render queue: alpha-tested or opaque.
    pub queue: RenderQueue,
    /// First instance in the casters' instances.
    first_instance: u32,
    /// Bounding sphere of each instance: camera-relative center, and radius.
    spheres: Vec<(Vec3, f32)>,
}

impl CasterGroup {
    /// Runs of instances (first, count) that a projection may see. The near plane does not cull.
    #[must_use]
    pub fn visible_ranges(&self, to_clip: &glam::Mat4) -> Vec<(u32, u32)> {
        let m = to_clip.transpose();
        let planes =
            [m.w_axis + m.x_axis, m.w_axis - m.x_axis, m.w_axis + m.y_axis, m.w_axis - m.y_axis];
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for (index, (center, radius)) in (self.first_instance..).zip(&self.spheres) {
            let seen = planes
                .iter()
                .all(|plane| plane.dot(center.extend(1.0)) >= -radius * plane.truncate().length());
            match runs.last_mut() {
                _ if !seen => {}
                Some((first, count)) if *first + *count == index => *count += 1,
                _ => runs.push((index, 1)),
            }
        }
        runs
    }
}

/// Source of upload and pose numbers.
static UPLOADS: AtomicU64 = AtomicU64::new(0);

/// The scene's materials, the default one, and those of emitting light surfaces.
fn all_materials(scene: &Scene, bodies: &[area_lights::LightBody]) -> Vec<scene::Material> {
    let own = scene.materials.iter().cloned().chain([scene::Material::default()]);
    own.chain(bodies.iter().map(|body| body.material.clone())).collect()
}

/// Packs the square roots of a linear color (at most 1) into ten bits per channel.
fn packed_mean(color: Vec3) -> u32 {
    let bits =
        color.clamp(Vec3::ZERO, Vec3::ONE).to_array().map(|v| (v.sqrt() * 1023.0 + 0.5) as u32);
    bits[0] | bits[1] << 10 | bits[2] << 20
}

/// Packs all materials. `numbers`: indices of their extended materials.
fn pack_all(
    scene: &Scene,
    materials: &[scene::Material],
    default_material: usize,
    numbers: &[Option<u32>],
) -> Vec<frame::Material> {
    let has_tangents = materials_with_tangents(scene);
    let pack = |(index, material): (usize, &scene::Material)| {
        let mut packed = pack_material(material, has_tangents.get(index).copied().unwrap_or(false));
        packed.flags |= if index > default_material { MATERIAL_LIGHT_SURFACE } else { 0 };
        packed.mean_color =
            packed_mean(material.base_color_texture.map_or(Vec3::ONE, |t| scene.mean_color(t)));
        packed.forward_mark = extended_materials::forward_mark(material, scene.multiscatter);
        let lights = index > default_material || scene.emissive_lights && !material.unlit;
        if lights && material.emission != Vec3::ZERO && packed.forward_mark < FORWARD_MARK {
            packed.forward_mark = EMITTER_MARK;
        }
        packed.layers = numbers.get(index).copied().flatten().unwrap_or(NONE);
        packed
    };
    materials.iter().enumerate().map(pack).collect()
}

/// True if any surface emission is also a light (`EMITTER_MARK`).
fn any_emitter(materials: &[frame::Material]) -> bool {
    materials.iter().any(|material| material.forward_mark == EMITTER_MARK)
}

/// Packs all materials for the shaders.
fn pack_materials(scene: &Scene, numbers: &[Option<u32>]) -> Vec<frame::Material> {
    pack_all(
        scene,
        &all_materials(scene, &area_lights::light_bodies(scene)),
        scene.materials.len(),
        numbers,
    )
}

impl GpuScene {
    /// True if the BVH includes shadow casters for shadow rays.
    #[must_use]
    pub fn traces_shadows(&self) -> bool {
        self.bvh.as_ref().is_some_and(|trees| trees.usage.shadows)
    }

    /// Lights the uploaded scene with the given VPLs instead of those of traced photons.
    ///
    /// # Errors
    /// `GpuError` if memory runs out or the device is lost.
    pub fn set_vpls(&mut self, gpu: &Gpu, scene: &Scene, set: VplSet) -> GpuResult<()> {
        self.ensure_bvh(gpu, scene)?;
        let generation = self.gi.as_ref().map_or(0, |before| before.generation + 1);
        let mut lit = SceneGi::from_vpls(gpu, scene, Arc::new(set))?;
        lit.generation = generation;
        self.gi = Some(lit);
        Ok(())
    }

    fn ensure_bvh(&mut self, gpu: &Gpu, scene: &Scene) -> GpuResult<()> {
        if self.bvh.is_none() {
            let mut uploader = Uploader::new(gpu)?;
            let wanted = BvhUsage { indirect: true, ..BvhUsage::default() };
            let moving = self
                .deformers
                .as_ref()
                .map_or_else(Vec::new, |deformers| deformers.moving(scene, &self.groups));
            self.bvh = Some(GpuBvh::new(gpu, &mut uploader, scene, wanted, &moving)?);
            uploader.finish()?;
        }
        Ok(())
    }

    /// Builds a BVH if there is none, so that the visibility of lights outside the image is known.
    /// Without a BVH they count as occluded (`passes::flare_sources`).
    ///
    /// # Errors
    /// `GpuError` if memory runs out or the device is lost.
    pub fn enable_offscreen_flares(&mut self, gpu: &Gpu, scene: &Scene) -> GpuResult<()> {
        self.ensure_bvh(gpu, scene)
    }

    /// Traces photons through the uploaded scene for indirect light. Later calls, after `follow`,
    /// update the VPLs. Builds a BVH if there is none.
    ///
    /// # Errors
    /// `GpuError` if memory runs out or the device is lost.
    pub fn update_gi(&mut self, gpu: &Gpu, scene: &Scene, settings: &GiSettings) -> GpuResult<()> {
        if let Some(indirect) = &mut self.gi {
            return indirect.follow(gpu, scene, settings);
        }
        self.ensure_bvh(gpu, scene)?;
        self.gi = Some(SceneGi::new(gpu, scene, settings)?);
        Ok(())
    }

    /// Uploads a scene; with a BVH if `trees` (lights with ray-traced shadows) or refraction needs
    /// one. `pipeline`: a pipeline that draws scene geometry, for the texture layout of set 1.
    /// `layered`: one with set 2, for the textures of extended materials.
    ///
    /// # Errors
    /// `GpuError` if memory runs out or the device is lost.
    pub fn new(
        gpu: &Gpu,
        scene: &Scene,
        (trees, detail): (RayTracedLights, LodGeneration),
        pipeline: &GraphicsPipeline,
        layered: &dyn Fn() -> GpuResult<Arc<GraphicsPipeline>>,
    ) -> GpuResult<Self> {
        let mut uploader = Uploader::new(gpu)?;
        let default_material = scene.materials.len();
        let bodies = area_lights::light_bodies(scene);
        let materials = all_materials(scene, &bodies);
        let mut parts = scene_parts(scene, default_material);
        let own_groups = parts.len();
        parts.extend(bodies.iter().enumerate().map(|(index, body)| Part {
            primitive: &body.surface,
            places: Arc::new([body.world]),
            material: default_material + 1 + index,
            source: None,
        }));
        let (vertices, indices, groups, posed) =
            upload_geometry(gpu, &mut uploader, &parts, &materials, scene.multiscatter, detail)?;
        let deformers = Deformers::new(gpu, &mut uploader, scene, &groups)?;
        let over = groups
            .iter()
            .zip(&parts)
            .enumerate()
            .filter(|(_, (group, _))| group.queue == RenderQueue::Blend);
        let blended = over
            .map(|(index, (_, part))| (index, blend_order::Triangles::of(part.primitive)))
            .collect();
        let has_tangents = materials_with_tangents(scene);
        let white = texture_image(
            gpu,
            &mut uploader,
            ("white", &[255; 4], 1, 1),
            TextureSemantic::Data,
            None,
        )?;
        let no_back_faces = extended_materials::no_back_faces(gpu, &mut uploader)?;
        let described = (materials.as_slice(), has_tangents.as_slice());
        let mut uploaded = materials::Uploaded::default();
        let further =
            upload_layers(gpu, &mut uploader, (scene, &white, &mut uploaded), described, layered)?;
        let numbers = further.as_ref().map_or(&[][..], |layers| layers.numbers.as_slice());
        let packed = pack_all(scene, &materials, default_material, numbers);
        let material_buffer = Buffer::new(
            gpu,
            "materials",
            size_of_val(packed.as_slice()) as u64,
            BufferKind::Storage,
        )?;
        uploader.buffer(&material_buffer, bytemuck::cast_slice(&packed))?;
        let textures = upload_textures(
            gpu,
            &mut uploader,
            (scene, &white, &mut uploaded),
            &materials,
            pipeline,
        )?;
        let mut profiles = Profiles::default();
        let lights = world_lights(scene, &mut profiles);
        let storage = |uploader: &mut Uploader, name: &str, bytes: &[u8]| {
            storage_buffer(
                gpu,
                uploader,
                (name, 0),
                bytes,
                "use a smaller environment map or IES file",
            )
        };
        let profiles =
            storage(&mut uploader, "light profiles", bytemuck::cast_slice(&profiles.words()))?;
        let environment_bytes =
            environment::bytes(scene.environment.as_ref(), !scene.probes.is_empty());
        let environment = storage(&mut uploader, "environment", &environment_bytes)?;
        let capture = if scene.probes.is_empty() {
            None
        } else {
            Some(Capture::new(gpu, &mut uploader, scene, environment_bytes, &packed)?)
        };
        let sized_sun = |light: &WorldLight| light.directional && light.shader.half_width > 0.0;
        let has_background = scene.environment.is_some() || lights.iter().any(sized_sun);
        let light_tree = tree_over(&lights);
        let (low, high) = scene.bounds().unwrap_or_default();
        let table = light_tree::loss_table(&light_tree, low, high);
        let losses = Buffer::new(
            gpu,
            "light losses",
            size_of_val(table.as_slice()) as u64,
            BufferKind::Storage,
        )?;
        uploader.buffer(&losses, bytemuck::cast_slice(&table))?;
        let refraction = materials.iter().any(refracts);
        let wanted = BvhUsage { shadows: trees.needs_bvh(&lights), refraction, indirect: false };
        let moving =
            deformers.as_ref().map_or_else(Vec::new, |deformers| deformers.moving(scene, &groups));
        let trees = wanted
            .any()
            .then(|| GpuBvh::new(gpu, &mut uploader, scene, wanted, &moving))
            .transpose()?;
        let maps = crate::photometry::area::ltc::table();
        let ltc = Buffer::new(
            gpu,
            "linear maps of area lights",
            size_of_val(maps) as u64,
            BufferKind::Storage,
        )?;
        uploader.buffer(&ltc, bytemuck::cast_slice(maps))?;
        let volumes = SceneVolumes::new(gpu, &mut uploader, scene)?;
        uploader.finish()?;
        let bounds = (low, high);
        let number = UPLOADS.fetch_add(1, Ordering::Relaxed);
        let mut uploaded = Self {
            upload_id: number,
            revision: number,
            vertices,
            indices,
            materials: material_buffer,
            textures,
            extended_materials: further,
            multiscatter: scene.multiscatter,
            lights,
            light_tree,
            light_loss_table: losses,
            profiles,
            environment,
            probes: scene.probes.iter().cloned().map(PlacedProbe::new).collect(),
            capture,
            has_environment: scene.environment.is_some() || !scene.probes.is_empty(),
            has_background,
            has_emitters: any_emitter(&packed),
            volumes,
            bvh: trees,
            gi: None,
            ltc,
            white,
            no_back_faces,
            waters: PlacedWater::all(scene, &[]),
            bounds,
            current_pose: Arc::new(GpuScenePose { groups: posed, deform: Default::default() }),
            deformers,
            groups,
            blended,
            own_groups,
            gpu_instances: None,
            only_material: None,
        };
        if uploaded.deformers.is_some() {
            uploaded.current_pose = uploaded.pose(scene);
        }
        uploaded.place(gpu)?;
        Ok(uploaded)
    }

    /// Uploads the current instance transforms.
    fn place(&mut self, gpu: &Gpu) -> GpuResult<()> {
        let mut uploader = Uploader::new(gpu)?;
        let before = self.gpu_instances.take();
        // Culling on the device does not support hidden materials.
        if self.only_material.is_none() {
            self.gpu_instances = GpuInstances::new(
                gpu,
                &mut uploader,
                (&self.groups, &self.current_pose.groups),
                before.as_ref(),
            )?;
        }
        uploader.finish()
    }

    /// Limits camera visibility to this material. Everything else still casts shadows and emits
    /// light.
    pub fn show_only_material(&mut self, material: u32) {
        self.only_material = Some(material);
        self.gpu_instances = None;
    }

    /// Visible draws of this view in draw order. If the device culls (`on_device`), only draws that
    /// the host sorts, and those drawn twice at equal depth. Optionally includes the emitting
    /// surfaces of lights.
    #[must_use]
    pub fn visible(
        &self,
        view: &View,
        detail: LodSelection,
        (lamps, on_device): (bool, bool),
    ) -> Visible {
        let (camera, frustum) = (SplitPoint::new(view.position), view.frustum());
        let mut visible = Visible {
            draws: Vec::new(),
            instances: Vec::new(),
            sources: Vec::new(),
            culled: 0,
            sorted: Vec::new(),
        };
        let mut blended: Vec<blend_order::Item<'_>> = Vec::new();
        let shown = if lamps { self.groups.len() } else { self.own_groups };
        for (number, (group, posed)) in
            self.groups.iter().zip(&self.current_pose.groups).take(shown).enumerate()
        {
            if on_device && group.culled_on_device()
                || self.only_material.is_some_and(|material| material != group.material)
            {
                continue;
            }
            // Sorted triangles always use the finest level.
            let levels = if group.queue == RenderQueue::Blend { 1 } else { group.levels() };
            let errors: Vec<f32> = (0..levels).map(|level| group.level(level).error).collect();
            for (mirrored, level) in
                [false, true].into_iter().flat_map(|m| (0..levels).map(move |level| (m, level)))
            {
                let first = visible.instances.len() as u32;
                let Level { first_index, index_count, .. } = group.level(level);
                let draw = |first_instance, instance_count| Draw {
                    first_index,
                    index_count,
                    vertex_offset: group.vertex_offset,
                    first_instance,
                    instance_count,
                    material: group.material,
                    double_sided: group.double_sided,
                    mirrored,
                    queue: group.queue,
                    extended: group.lobes,
                    refracts: group.refracts,
                    sorted: false,
                };
                for (index, place) in posed.world_transforms.iter().enumerate() {
                    if (place.determinant() < 0.0) != mirrored {
                        continue;
                    }
                    let placement = InstanceTransform::new(place, posed, 0);
                    let (instance, center) = placement.relative_to(camera);
                    if !in_view(&frustum, center, placement.radius) {
                        visible.culled += usize::from(level == 0);
                        continue;
                    }
                    if detail.level(&errors, placement.stretch, center, placement.radius) != level {
                        continue;
                    }
                    if group.queue == RenderQueue::Blend {
                        blended.push(blend_order::Item {
                            distance: center.dot(view.forward),
                            draw: draw(visible.instances.len() as u32, 1),
                            world: *place,
                            triangles: self.blended.get(&number),
                        });
                    }
                    visible.instances.push(instance);
                    visible.sources.push((number as u32, index as u32));
                }
                let count = visible.instances.len() as u32 - first;
                if count > 0 && group.queue != RenderQueue::Blend {
                    visible.draws.push(draw(first, count));
                }
            }
        }
        visible.draws.sort_by_key(|draw| (draw.queue, draw.material));
        let (draws, sorted) = blend_order::back_to_front(view, blended);
        visible.draws.extend(draws);
        visible.sorted = sorted;
        visible
    }

    /// All shadow casters: everything but blended surfaces and transmissive thin walls.
    #[must_use]
    pub fn casters(&self, camera: DVec3) -> Casters {
        let mut casters = Casters { instances: Vec::new(), groups: Vec::new() };
        let camera = SplitPoint::new(camera);
        let groups = self.groups.iter().zip(&self.current_pose.groups).take(self.own_groups);
        for (group, posed) in groups.filter(|(group, _)| group.casts) {
            let first_instance = casters.instances.len() as u32;
            let mut spheres = Vec::with_capacity(posed.world_transforms.len());
            for place in posed.world_transforms.iter() {
                let placement = InstanceTransform::new(place, posed, 0);
                let (instance, center) = placement.relative_to(camera);
                spheres.push((center, placement.radius));
                casters.instances.push(instance);
            }
            casters.groups.push(CasterGroup {
                first_index: group.first_index,
                index_count: group.index_count,
                vertex_offset: group.vertex_offset,
                material: group.material,
                // Refractive volumes cast opaque shadows.
                queue: if group.queue == RenderQueue::Blend {
                    RenderQueue::Opaque
                } else {
                    group.queue
                },
                first_instance,
                spheres,
            });
        }
        casters
    }

    /// True if any light has a surface.
    #[must_use]
    pub fn has_area_lights(&self) -> bool {
        let kind = |light: &WorldLight| light.shader.kind & LIGHT_KIND_BITS;
        self.lights.iter().any(|light| kind(light) >= LIGHT_SPHERE)
    }

    /// Camera-relative lights, directional ones first.
    #[must_use]
    pub fn lights_for(&self, view: &View) -> Vec<frame::Light> {
        self.lights
            .iter()
            .map(|light| match light.directional {
                true => light.shader,
                false => frame::Light {
                    position: (light.position - view.position).as_vec3(),
                    ..light.shader
                },
            })
            .collect()
    }

    /// Camera-relative light tree.
    #[must_use]
    pub fn nodes_for(&self, view: &View) -> Vec<frame::LightNode> {
        self.light_tree
            .iter()
            .map(|node| frame::LightNode {
                center: (node.center - view.position).as_vec3(),
                ..node.shader
            })
            .collect()
    }

    /// Number of directional lights.
    #[must_use]
    pub fn directional_count(&self) -> u32 {
        self.lights.iter().filter(|light| light.directional).count() as u32
    }

    /// True if any surface is alpha-blended.
    #[must_use]
    pub fn has_blended(&self) -> bool {
        self.groups.iter().any(|group| group.queue == RenderQueue::Blend)
    }
}
