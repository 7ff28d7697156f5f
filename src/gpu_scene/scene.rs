//! Scene on the device: geometry, materials, textures, lights, BVH and VPLs.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use glam::DVec3;

use super::{
    area_lights, blend_order,
    buffers::storage_buffer,
    deform::{Deformers, moving_primitives},
    draws::RenderQueue,
    environment,
    extended_materials::{self, ExtendedMaterials, refracts, upload_layers, with_animated_lobes},
    geometry::{Group, LodGeneration, Part, scene_parts, set_casters, upload_geometry},
    gi::SceneGi,
    ies_profiles::Profiles,
    instances::GpuInstances,
    irradiance_volume::{IrradianceVolume, probe_scene},
    light_tree,
    lights::{tree_over, world_lights},
    materials::{self, materials_with_tangents, texture_image, upload_textures},
    mips::TextureSemantic,
    packed_materials::{all_materials, any_emitter, max_emission, pack_all},
    pose::GpuScenePose,
    probe_schedule::ProbeScene,
    probes::{Capture, PlacedProbe},
    scene_bvh::{BvhUsage, GpuBvh, RayTracedLights},
    view::View,
    volumes::SceneVolumes,
    water::PlacedWater,
    world_light::WorldLight,
};
use crate::{
    bvh::ShadowProperties,
    gi::VplSet,
    gpu::{
        Buffer, BufferKind, Gpu, GpuResult, GraphicsPipeline, Image, TextureSet,
        shader_structs::frame::{self, LIGHT_KIND_BITS, LIGHT_SPHERE},
        upload::Uploader,
    },
    scene::Scene,
    settings::GiSettings,
};

/// Scene on the device.
pub struct GpuScene {
    /// Unique number of the upload.
    pub upload_id: u64,
    /// Incremented with each upload and each pose.
    pub revision: u64,
    /// Number of the current pose: changes with it.
    pub(super) pose_revision: u64,
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
    /// Linearly transformed cosine (LTC) matrices of area lights (`photometry::ltc`).
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
    /// Greatest emission of a shown opaque surface (nits by channel), without its texture.
    pub max_emission: f32,
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
    /// Pose and bounding box (m) of the upload. Values derived from a pose start here, so that they
    /// do not depend on earlier poses.
    pub(super) uploaded: (Arc<GpuScenePose>, (DVec3, DVec3)),
    /// Deformed meshes.
    pub(crate) deformers: Option<Deformers>,
    /// Groups from `own_groups` on are emitting surfaces of lights: visible, but they cast no
    /// shadow.
    pub(super) groups: Vec<Group>,
    /// Those of all materials, as of the current pose.
    pub(super) shadow_properties: Vec<ShadowProperties>,
    /// Triangles of blended groups.
    pub(super) blended: HashMap<usize, blend_order::Triangles>,
    pub(super) own_groups: usize,
    /// Instances with a static draw order, for culling on the device; `None` if the device cannot
    /// cull them.
    pub gpu_instances: Option<GpuInstances>,
    /// The only material visible to cameras; `None`: all are visible.
    pub(super) only_material: Option<u32>,
}

/// Source of upload and pose numbers.
pub(super) static UPLOADS: AtomicU64 = AtomicU64::new(0);

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
            let moving = moving_primitives(self.deformers.as_ref(), scene, &self.groups);
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

    /// Traces photons through the uploaded scene for indirect light, or with `gi.method=probes`
    /// places the probes of its irradiance volume. Later calls, after `follow`, update both. Builds
    /// a BVH if there is none.
    ///
    /// # Errors
    /// `GpuError` if memory runs out or the device is lost.
    pub fn update_gi(&mut self, gpu: &Gpu, scene: &Scene, settings: &GiSettings) -> GpuResult<()> {
        self.ensure_bvh(gpu, scene)?;
        let indirect = match &mut self.gi {
            Some(indirect) => {
                indirect.follow(gpu, scene, settings)?;
                indirect
            }
            none => none.insert(SceneGi::new(gpu, scene, settings)?),
        };
        let bounds = || self.current_pose.box_bounds(self.own_groups).unwrap_or_default();
        indirect.follow_volume(gpu, settings.uses_probes().then(bounds), settings)
    }

    /// The irradiance volume with what its probes see, if the settings use it.
    #[must_use]
    pub fn irradiance_volume(
        &self,
        settings: &GiSettings,
    ) -> Option<(&Arc<IrradianceVolume>, ProbeScene)> {
        let indirect = self.gi.as_ref().filter(|_| settings.uses_probes())?;
        let revisions = [self.pose_revision, self.revision];
        let seen = probe_scene(revisions, indirect.materials_revision, settings);
        Some((indirect.volume.as_ref()?, seen))
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
        let widest = with_animated_lobes(scene, &materials);
        let (vertices, indices, mut groups, posed) =
            upload_geometry(gpu, &mut uploader, &parts, &widest, scene.multiscatter, detail)?;
        let shadow_properties: Vec<_> = materials.iter().map(ShadowProperties::of).collect();
        set_casters(&mut groups, &shadow_properties);
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
        let described = (materials.as_slice(), widest.as_slice(), has_tangents);
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
        let refraction = widest.iter().any(refracts);
        let wanted = BvhUsage { shadows: trees.needs_bvh(&lights), refraction, indirect: false };
        let moving = moving_primitives(deformers.as_ref(), scene, &groups);
        let trees = wanted
            .any()
            .then(|| GpuBvh::new(gpu, &mut uploader, scene, wanted, &moving))
            .transpose()?;
        let maps = crate::photometry::ltc::table();
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
        let posed = Arc::new(GpuScenePose { groups: posed, deform: Default::default() });
        let mut uploaded = Self {
            upload_id: number,
            revision: number,
            pose_revision: number,
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
            max_emission: max_emission(&packed, parts.iter().map(|part| part.material)),
            volumes,
            bvh: trees,
            gi: None,
            ltc,
            white,
            no_back_faces,
            waters: PlacedWater::all(scene, &[]),
            bounds,
            current_pose: Arc::clone(&posed),
            uploaded: (posed, bounds),
            deformers,
            groups,
            shadow_properties,
            blended,
            own_groups,
            gpu_instances: None,
            only_material: None,
        };
        if uploaded.deformers.is_some() {
            uploaded.current_pose = uploaded.pose(scene);
            uploaded.uploaded.0 = Arc::clone(&uploaded.current_pose);
        }
        uploaded.place(gpu)?;
        Ok(uploaded)
    }

    /// Uploads the current instance transforms.
    pub(super) fn place(&mut self, gpu: &Gpu) -> GpuResult<()> {
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
}
