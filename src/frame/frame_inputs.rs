//! Host data of all passes for one frame.

use std::sync::Arc;

use glam::Vec2;

use super::{sampling::FrameSampling, settings::RenderSettings};
use crate::{
    gpu::{
        Gpu, GpuResult,
        shader_structs::{
            features::{
                FEATURE_ALPHA_MASKS, FEATURE_AREA_LIGHTS, FEATURE_ENVIRONMENT,
                FEATURE_IES_PROFILES, FEATURE_PROBES, FEATURE_SHADOW_MAPS, FEATURE_SUN_DISKS,
                FEATURE_VOLUMES, FEATURE_WATER,
            },
            frame::{
                FRAME_AO, FRAME_FORWARD, FRAME_GI_BLENDED, FRAME_GI_DENOISED_SPECULAR,
                FRAME_GI_DIFFUSE, FRAME_GI_SPECULAR, FRAME_METERING, FRAME_MULTI_BOUNCE_AO,
                FRAME_PROBE_CAPTURE, FRAME_SSR, FrameConstants, LIGHT_DIRECTIONAL, LIGHT_KIND_BITS,
                LIGHT_SHADOW, Light, NONE, SHADOWS_MAPS, SHADOWS_OFF, SHADOWS_RAY_TRACED,
            },
        },
    },
    gpu_scene::{
        FrameBvh, FrameData, FrameDraws, FrameUniforms, GpuScene, LazyFrameBvh, LodSelection,
        MAX_DRAWS, ShadowRayBudget, View, dynamic_buffer,
        probes::probes_for,
        scene_bvh::{GpuBvh, RayTracedLights},
        volumes::FrameVolumes,
    },
    passes::{
        caustics::FrameCaustics,
        clustered_lights::{self, TILE},
        culling::FrameCulling,
        denoiser::DenoiserSignal,
        forward,
        gi::FrameGi,
        gi_probes::FrameProbes,
        shadow_maps::{FrameShadows, ShadowAtlasPlan, ShadowMapSettings},
        shadow_rays::{self, MAX_RAY_BUFFER_BYTES},
        ssr::FrameSsr,
    },
    settings::{AntiAliasing, RefractionMethod, ShadowMethod},
};

/// Maximum capacity of light lists in entries (256 MiB). Clusters beyond it evaluate all lights.
const MAX_LIST_CAPACITY: u32 = 64 << 20;

/// Host data of all passes for one frame: what they share, and what single passes need.
pub(super) struct FrameInputs {
    /// Data at render resolution.
    pub(super) data: FrameData,
    /// Constants at output resolution, for passes after anti-aliasing: pixels sampled at their
    /// centers.
    pub(super) output: FrameUniforms,
    /// Device culling data; `None` if the host culls.
    pub(super) culling: Option<FrameCulling>,
    /// Shadow maps.
    pub(super) shadows: FrameShadows,
    /// Water caustics; `None` without any.
    pub(super) caustics: Option<FrameCaustics>,
    /// Screen-space reflection data; `None` if SSR is off.
    pub(super) ssr: Option<FrameSsr>,
    /// Data of indirect light by VPLs; `None` without.
    pub(super) gi: Option<FrameGi>,
    /// Data of the irradiance volume; `None` without.
    pub(super) probes: Option<FrameProbes>,
    /// Denoised shadows of a fixed ray budget.
    pub(super) shadow_signal: Option<DenoiserSignal>,
    /// Number of the random numbers by which the frame chooses a blended surface of each pixel for
    /// indirect light; `None` without such surfaces or without indirect light.
    pub(super) blended_seed: Option<u32>,
    /// BVH of the frame if any pass traces rays; all share it.
    pub(super) bvh: Option<FrameBvh>,
}

impl FrameInputs {
    /// Prepares a frame. `list_capacity`: capacity that the light lists of an earlier frame needed,
    /// in entries.
    ///
    /// # Errors
    /// [`GpuError`](crate::gpu::GpuError) if memory is exhausted.
    pub(super) fn new(
        gpu: &Gpu,
        scene: &GpuScene,
        (whole, sampling): (&View, &FrameSampling),
        settings: &RenderSettings,
        (list_capacity, cached_shadow_maps): (u32, Option<&ShadowAtlasPlan>),
    ) -> GpuResult<Self> {
        let view = &sampling.input;
        // Dynamic instances are drawn a second time for their velocity, by host draws. Probes do
        // not see the surfaces of lights.
        let stands = settings.shutter.is_none() && sampling.motion.is_scene_still();
        let culling = if stands && !settings.capture {
            FrameCulling::new(gpu, scene, view, &settings.culling)?
        } else {
            None
        };
        let detail = LodSelection::new(&settings.culling, view);
        let visible = scene.visible(view, detail, (!settings.capture, culling.is_some()));
        let mut lights = scene.lights_for(view);
        let resolution = settings.shadows.resolution;
        let maps = match RayTracedLights::of(&settings.shadows) {
            _ if !settings.shadows.enabled => None,
            RayTracedLights::All => None,
            RayTracedLights::Sized => {
                Some(ShadowMapSettings { resolution, area_suns: !scene.traces_shadows() })
            }
            RayTracedLights::None => Some(ShadowMapSettings { resolution, area_suns: true }),
        };
        // Without jitter, so that shadow maps stay cached while the view is static.
        let kept = (cached_shadow_maps, settings.shadow_maps_in_motion);
        let shadows = FrameShadows::new(gpu, scene, whole, maps, &mut lights, kept)?;
        let directional_count = scene.directional_count();
        let local_light_count = lights.len() as u32 - directional_count;
        let nodes = scene.nodes_for(view);
        let tiles = [view.width.div_ceil(TILE), view.height.div_ceil(TILE)];
        let lists = settings.clustered_lights;
        let max_lights = max_cluster_lights(settings, local_light_count);
        let mut values = FrameConstants {
            view_projection: view.view_projection,
            inverse_projection: view.inverse,
            forward: view.forward.extend(if view.parallel { 1.0 } else { 0.0 }),
            size: [view.width, view.height],
            tiles,
            pre_exposure: settings.exposure.multiplier() as f32,
            directional_count,
            light_count: lights.len() as u32,
            list_capacity: if lists.enabled && (lists.cull_threshold > 0.0 || max_lights > 0) {
                clustered_lights::first_capacity(tiles[0] * tiles[1], local_light_count)
                    .max(clustered_lights::cut_capacity(tiles[0] * tiles[1], max_lights))
                    .max(list_capacity)
                    .min(MAX_LIST_CAPACITY)
                    .min(gpu.limits().max_storage_buffer_range / 4)
            } else {
                1
            },
            cull_threshold: if lists.enabled { lists.cull_threshold } else { 0.0 },
            node_count: nodes.len() as u32,
            shadow_method: match settings.shadows.method {
                _ if !settings.shadows.enabled => SHADOWS_OFF,
                ShadowMethod::Auto | ShadowMethod::Maps => SHADOWS_MAPS,
                ShadowMethod::Traced => SHADOWS_RAY_TRACED,
            },
            shadow_samples: settings.shadows.samples,
            history_scale: sampling.history_scale,
            smoothed_exposure_scale: sampling.smoothed_exposure_scale,
            texture_scale: sampling.texture_scale,
            supersampling_shift: view.jitter.as_vec2()
                / Vec2::new(view.width as f32, view.height as f32),
            noise_shift: sampling.noise_shift,
            multi_scatter: u32::from(scene.multiscatter),
            bits: frame_flags(scene, settings, visible.draws.iter().any(forward::is_forward)),
            probe_count: scene.probes.len() as u32,
            water_count: scene.waters.len() as u32,
            ..FrameConstants::default()
        };
        for (number, water) in scene.waters.iter().enumerate() {
            water.fill(number, view.position, &mut values);
        }
        let eye_bvh = LazyFrameBvh::new(gpu, scene, view.position, sampling.ray_number);
        let traced = match RayTracedLights::of(&settings.shadows) {
            RayTracedLights::All => eye_bvh.get()?,
            RayTracedLights::Sized if scene.traces_shadows() => eye_bvh.get()?,
            _ => None,
        };
        let refracts = settings.refraction == RefractionMethod::Traced
            && visible.draws.iter().any(|draw| draw.refracts);
        let through = if refracts { eye_bvh.get()? } else { None };
        let flares = settings.effects.starburst.is_some() || settings.ghosts.is_some();
        let flare =
            if flares && !view.parallel && scene.bvh.is_some() { eye_bvh.get()? } else { None };
        let caustics = FrameCaustics::new(
            gpu,
            scene,
            &eye_bvh,
            settings.caustics,
            (&mut lights, &mut values),
        )?;
        let single = settings.sample.is_none()
            && settings.accumulated_frames.is_none()
            && settings.anti_aliasing != AntiAliasing::Temporal;
        let blends = visible.draws.iter().any(|draw| draw.blended);
        let gi = FrameGi::new(
            gpu,
            scene,
            (view, &sampling.motion, &eye_bvh),
            (&settings.gi, settings.gi_divisor, settings.gi_filter_passes),
            (sampling.gi, sampling.previous_gi),
            settings.ssr.enabled.then_some(settings.ssr.max_roughness as f32),
            (single, blends),
        )?;
        let probes =
            FrameProbes::new(gpu, scene, (view, &eye_bvh), &settings.gi, &sampling.probe_updates)?;
        let (vpls, volume) = (gi.as_ref(), probes.as_ref());
        if vpls.is_some_and(FrameGi::traces_sky) || volume.is_some_and(FrameProbes::has_sky) {
            values.bits |= FRAME_GI_DIFFUSE;
        }
        if vpls.is_some_and(FrameGi::traces_reflections)
            || volume.is_some_and(FrameProbes::has_specular)
        {
            values.bits |= FRAME_GI_SPECULAR;
        }
        if gi.as_ref().is_some_and(FrameGi::denoises_reflections) {
            values.bits |= FRAME_GI_DENOISED_SPECULAR;
        }
        if gi.is_some() || probes.is_some() {
            values.bits &= !FRAME_MULTI_BOUNCE_AO;
            values.bits |= if blends { FRAME_GI_BLENDED } else { 0 };
        }
        let found_by_rays = values.bits & FRAME_GI_SPECULAR != 0;
        let forward = values.bits & FRAME_FORWARD != 0;
        let apart_from_light =
            scene.has_environment || scene.has_emitters || found_by_rays || forward;
        let uniforms = FrameUniforms {
            constants: dynamic_buffer(gpu, "frame constants", &[values])?,
            values,
            camera: view.position,
        };
        let volumes = FrameVolumes::new(gpu, &scene.volumes, view.position, &settings.volumes)?;
        if visible.too_many_draws {
            gpu.remark(format!(
                "transparency: blended and refracting triangles in view alternate between objects \
                 more than {MAX_DRAWS} times and are sorted object by object; interlocking objects \
                 then blend in the wrong order"
            ));
        }
        let data = FrameData {
            uniforms,
            draws: FrameDraws {
                instances: dynamic_buffer(gpu, "instances", &visible.instances)?,
                sorted: dynamic_buffer(gpu, "sorted indices", &visible.sorted)?,
                visible,
            },
            lights: dynamic_buffer(gpu, "lights", &lights)?,
            ltc: Arc::clone(&scene.ltc),
            features: if settings.all_features {
                u32::MAX
            } else {
                features_of(scene, &lights, maps.is_some(), &volumes)
            },
            nodes: dynamic_buffer(gpu, "light tree", &nodes)?,
            shadow_maps: Arc::clone(&shadows.maps),
            volumes,
            shadow_ray_budget: shadow_ray_budget(
                gpu,
                (settings, sampling),
                traced.as_ref(),
                (max_lights, lights.len()),
            ),
            shadow_bvh: traced,
            refraction_bvh: through,
            flare_bvh: flare,
            profiles: Arc::clone(&scene.profiles),
            environment: Arc::clone(&scene.environment),
            probes: dynamic_buffer(gpu, "probes", &probes_for(&scene.probes, view.position))?,
            has_environment: scene.has_environment,
            has_background: scene.has_background,
            supersamples_emission: settings
                .supersamples_emission(scene.max_emission, [view.width, view.height])
                && 2 * view.width.max(view.height) <= gpu.limits().max_image_dimension2_d,
        };
        let ssr = FrameSsr::new(
            gpu,
            (view, &sampling.motion),
            &settings.ssr,
            sampling.ssr,
            apart_from_light,
        )?;
        let denoised = data.shadow_ray_budget.filter(|_| settings.denoises_shadows());
        let shadow_signal = denoised.map(|budget| {
            shadow_rays::signal(gpu, view, &sampling.motion, sampling.shadows, budget.lights > 0)
        });
        Ok(Self {
            shadow_signal: shadow_signal.transpose()?,
            output: output_uniforms(gpu, &data.uniforms, whole)?,
            data,
            culling,
            shadows,
            caustics,
            ssr,
            gi,
            probes,
            bvh: eye_bvh.made(),
            blended_seed: (values.bits & FRAME_GI_BLENDED != 0).then_some(sampling.ray_number),
        })
    }
}

/// Greatest number of lights whose rays neighboring pixels can tell apart: the index of a ray's
/// light has 16 bits, of which one value stands for no light (`loss_block` of the shaders).
const MAX_SHARED_LIGHTS: usize = 0xffff;

/// True if pixels can use the rays of their neighbors: with a maximum number of lights they tell
/// them apart by their slots in the cluster.
fn can_share_rays(max_lights: u32, lights: usize) -> bool {
    max_lights > 0 || lights <= MAX_SHARED_LIGHTS
}

/// The fixed ray budget of the frame, if it has one. `max_lights`: of `max_cluster_lights`;
/// `lights`: number of lights of the frame.
fn shadow_ray_budget(
    gpu: &Gpu,
    (settings, sampling): (&RenderSettings, &FrameSampling),
    traced: Option<&FrameBvh>,
    (max_lights, lights): (u32, usize),
) -> Option<ShadowRayBudget> {
    let still_frames = sampling.shadows.history.static_frames(sampling.shadows.still_frames);
    traced.filter(|_| settings.has_shadow_ray_budget()).map(|_| ShadowRayBudget {
        rays: settings.shadows.rays,
        max_bytes: settings
            .max_ray_buffer_bytes
            .unwrap_or(MAX_RAY_BUFFER_BYTES)
            .min(u64::from(gpu.limits().max_storage_buffer_range)),
        averaged: settings.is_averaged() || sampling.shadows.history.averaged_frames.is_some(),
        lights: max_lights,
        light_samples: settings.shadows.light_samples,
        denoised: settings.denoises_shadows(),
        reuse: can_share_rays(max_lights, lights) && settings.reuses_shadow_rays(still_frames),
    })
}

/// Maximum number of lights and light tree nodes that a cluster lists; 0: no maximum.
fn max_cluster_lights(settings: &RenderSettings, local_lights: u32) -> u32 {
    let most = settings.shadows.lights;
    let limited = settings.has_shadow_ray_budget() && settings.clustered_lights.enabled;
    if limited && local_lights > most { most } else { 0 }
}

/// Features that shaders are specialized for, as `FEATURE_` bits. They depend on the scene and the
/// settings, not on the view. `lights`: all lights of the frame; `maps`: shadow maps are in use.
fn features_of(scene: &GpuScene, lights: &[Light], maps: bool, volumes: &FrameVolumes) -> u32 {
    let kind = |light: &Light| light.kind & LIGHT_KIND_BITS;
    // Lights that are off have no map, but may be turned on.
    let is_mapped = |light: &Light| {
        light.shadow != NONE
            || maps && light.kind & LIGHT_SHADOW != 0 && kind(light) <= LIGHT_DIRECTIONAL
    };
    let is_sun_disk = |light: &Light| kind(light) == LIGHT_DIRECTIONAL && light.half_width > 0.0;
    bits_of([
        (!scene.waters.is_empty(), FEATURE_WATER),
        (lights.iter().any(|light| light.profile != NONE), FEATURE_IES_PROFILES),
        (lights.iter().any(is_mapped), FEATURE_SHADOW_MAPS),
        (volumes.any, FEATURE_VOLUMES),
        (scene.has_environment, FEATURE_ENVIRONMENT),
        (!scene.probes.is_empty(), FEATURE_PROBES),
        (lights.iter().any(is_sun_disk), FEATURE_SUN_DISKS),
        (scene.has_area_lights(), FEATURE_AREA_LIGHTS),
        (scene.bvh.as_ref().is_some_and(GpuBvh::masked), FEATURE_ALPHA_MASKS),
    ]) | scene.extended_materials.as_ref().map_or(0, |layers| layers.lobes)
}

/// Constants at output resolution.
fn output_uniforms(gpu: &Gpu, rendered: &FrameUniforms, view: &View) -> GpuResult<FrameUniforms> {
    let values = FrameConstants {
        view_projection: view.view_projection,
        inverse_projection: view.inverse,
        size: [view.width, view.height],
        ..rendered.values
    };
    let constants = if values == rendered.values {
        Arc::clone(&rendered.constants)
    } else {
        dynamic_buffer(gpu, "picture constants", &[values])?
    };
    Ok(FrameUniforms { constants, values, camera: rendered.camera })
}

fn frame_flags(scene: &GpuScene, settings: &RenderSettings, forward: bool) -> u32 {
    let measured = settings.ao.enabled && scene.has_environment;
    bits_of([
        (measured, FRAME_AO),
        (measured && settings.ao.multi_bounce, FRAME_MULTI_BOUNCE_AO),
        (settings.capture, FRAME_PROBE_CAPTURE),
        (settings.metered, FRAME_METERING),
        (forward, FRAME_FORWARD),
        (settings.ssr.enabled, FRAME_SSR),
    ])
}

/// The bits whose conditions hold.
fn bits_of<const N: usize>(bits: [(bool, u32); N]) -> u32 {
    bits.into_iter().filter(|(on, _)| *on).fold(0, |all, (_, bit)| all | bit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbors_share_rays_of_lights_with_an_index() {
        assert!(can_share_rays(0, 1) && can_share_rays(0, 65_535));
        assert!(!can_share_rays(0, 65_536) && can_share_rays(16, 70_000));
    }
}
