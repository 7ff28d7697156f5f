//! Screen-space reflections (SSR): rays through the depth buffer, and a temporal history
//! reprojected by the reflected image's motion (docs/reflections.md).

use std::sync::Arc;

use glam::{Mat4, Vec4};

use super::{
    creation::LazyPipeline,
    formats::{LIGHT, VELOCITY},
    gbuffer::Gbuffer,
    pixel_groups,
    scene_frame::SceneFrame,
    temporal::{FrameMotion, HistoryFrame},
};
use crate::{
    gpu::{
        Buffer, ComputePipeline, Gpu, GpuResult, Image, ImageInfo, SamplerInfo,
        shader_structs::{
            ssr::{SSR_HIT_PARALLAX, SSR_SMALLEST, SSR_SURFACE, SSR_VIRTUAL, SsrConstants},
            temporal::HistoryConstants,
        },
        upload::Uploader,
        vk,
    },
    gpu_scene::{FrameData, View, dynamic_buffer},
    graph::{BufferHandle, Graph, ImageHandle, ImageSource},
    photometry::environment::{DFG_SIZE, dfg_table},
    settings::{SsrReprojection, SsrSettings},
};

// The shader's numbers of the methods.
const _: () = assert!(
    SsrReprojection::Virtual as u32 == SSR_VIRTUAL
        && SsrReprojection::Surface as u32 == SSR_SURFACE
        && SsrReprojection::Smallest as u32 == SSR_SMALLEST
        && SsrReprojection::HitParallax as u32 == SSR_HIT_PARALLAX
);

/// Levels of the depth pyramid, including full resolution.
const LEVELS: u32 = 8;
/// Nearest and farthest depth of a cell.
const CELL: vk::Format = vk::Format::R32G32_SFLOAT;
/// Ray mask: above 0 for pixels that trace rays, 1 for mirrors.
const RAY_MASK: vk::Format = vk::Format::R8_UNORM;
/// A packed ray (`shaders/lib/ssr_ray_packing.glsl`).
const RAY: vk::Format = vk::Format::R32G32B32A32_UINT;
/// Two packed numbers.
const PAIR: vk::Format = vk::Format::R32G32_UINT;
/// Reflected light, and the weight of the environment, of a single frame.
const REFLECTION: vk::Format = vk::Format::R16G16B16A16_SFLOAT;
/// 32-bit floats: the mean of many frames exceeds the precision of half floats.
const HISTORY: vk::Format = vk::Format::R32G32B32A32_SFLOAT;
/// Debug values.
const NUMBERS: vk::Format = vk::Format::R32G32B32A32_SFLOAT;
/// Fractions of rays.
const SHARES: vk::Format = vk::Format::R16G16_SFLOAT;

/// Maximum history length of a static view (frames).
const MAX_STATIC_FRAMES: f32 = 1024.0;

/// Host data of the SSR passes for one frame.
#[derive(Clone)]
pub struct FrameSsr {
    constants: Arc<Buffer>,
    values: SsrConstants,
    history: HistoryFrame,
    only_camera_moved: bool,
}

impl FrameSsr {
    /// Prepares a frame; `None` if SSR is off. Without `has_environment`, surfaces reflect no
    /// environment, probe or indirect light, and no surface is an emitter or an extended material.
    ///
    /// # Errors
    /// `GpuError` if memory runs out.
    pub fn new(
        gpu: &Gpu,
        (view, motion): (&View, &FrameMotion),
        settings: &SsrSettings,
        history: HistoryFrame,
        has_environment: bool,
    ) -> GpuResult<Option<Self>> {
        if !settings.enabled {
            return Ok(None);
        }
        let size = [view.width, view.height];
        let scale = settings.resolution.divisor();
        let history = HistoryFrame { still: history.still && settings.still, ..history };
        let (level_count, level_row) = levels(size);
        let constants = motion.constants();
        let pixel_to_clip = pixel_to_clip(size);
        let mut pixel_to_position = view.inverse * pixel_to_clip;
        // Of pixel centers.
        pixel_to_position.w_axis += 0.5 * (pixel_to_position.x_axis + pixel_to_position.y_axis);
        let clip_to_pixel = clip_to_pixel(size);
        let rows = |to_clip: Mat4| {
            let to_pixel = clip_to_pixel * to_clip;
            [0, 1, 3].map(|row| to_pixel.row(row))
        };
        let [z, w] = [view.inverse.z_axis, view.inverse.w_axis];
        let along = |axis: Vec4| axis.truncate().dot(view.forward);
        let values = SsrConstants {
            pixel_to_position,
            position_to_pixel: clip_to_pixel * view.view_projection,
            previous_pixel_to_position: constants.previous_from_clip * pixel_to_clip,
            current_pixel_rows: rows(constants.to_clip),
            previous_pixel_rows: rows(constants.previous_to_clip),
            far_terms: Vec4::new(along(z), z.w, along(w), w.w),
            motion: constants,
            history: history.constants(settings.max_history_frames as f32, MAX_STATIC_FRAMES),
            max_roughness: settings.max_roughness as f32,
            thickness: settings.thickness as f32,
            size,
            rays: size.map(|side| side.div_ceil(scale)),
            scale,
            taps: settings.taps,
            steps: settings.steps,
            reprojection: settings.reprojection as u32,
            gamma: 1.25,
            level_count,
            level_row,
            hits_only: u32::from(!has_environment),
            right: view.inverse.x_axis.truncate().normalize_or_zero(),
            pixel: 2.0 * view.inverse.y_axis.truncate().length() / view.height as f32,
            down: view.inverse.y_axis.truncate().normalize_or_zero(),
            pad0: [0; 3],
        };
        let constants = dynamic_buffer(gpu, "ssr constants", &[values])?;
        let only_camera_moved = motion.is_scene_still();
        Ok(Some(Self { constants, values, history, only_camera_moved }))
    }
}

/// Pixels, from the image corner (0, 0), to clip space.
fn pixel_to_clip([width, height]: [u32; 2]) -> Mat4 {
    Mat4::from_cols(
        Vec4::new(2.0 / width as f32, 0.0, 0.0, 0.0),
        Vec4::new(0.0, 2.0 / height as f32, 0.0, 0.0),
        Vec4::Z,
        Vec4::new(-1.0, -1.0, 0.0, 1.0),
    )
}

/// Clip space to pixels, times w.
fn clip_to_pixel([width, height]: [u32; 2]) -> Mat4 {
    let half = [width as f32, height as f32].map(|side| 0.5 * side);
    Mat4::from_cols(
        Vec4::new(half[0], 0.0, 0.0, 0.0),
        Vec4::new(0.0, half[1], 0.0, 0.0),
        Vec4::Z,
        Vec4::new(half[0], half[1], 0.0, 1.0),
    )
}

/// Number of depth pyramid levels, and the row width in whole cells of the coarsest level (pixels).
/// The pyramid image has that width: its first rows are full resolution, all other levels are side
/// by side below.
fn levels([width, height]: [u32; 2]) -> (u32, u32) {
    let count = LEVELS.min(1 + width.max(height).max(1).next_power_of_two().ilog2());
    (count, width.next_multiple_of(1 << (count - 1)))
}

/// Outputs of the SSR passes.
#[derive(Clone, Copy)]
pub struct SsrOutput {
    /// Light with reflections.
    pub light: ImageHandle,
    /// Motion since the last frame (pixels): that of the reflection if it carries most of the
    /// light, otherwise of the surface.
    pub velocity: ImageHandle,
    /// Debug images. First: fractions of rays with and without a hit, ray length (m), reason for
    /// rejecting the history. Second: reflection motion (pixels), history length (frames), chosen
    /// reprojection.
    pub debug: Option<[ImageHandle; 2]>,
}

/// Inputs from this frame's passes.
#[derive(Clone, Copy)]
pub struct SsrInputs {
    /// G-buffer of the visible surfaces.
    pub gbuffer: Gbuffer,
    /// Light without specular reflections of the environment.
    pub light: ImageHandle,
    /// Bent normal and ambient occlusion, if enabled.
    pub bent_normal_ao: Option<ImageHandle>,
    /// Specular luminance of GI over the lobe's approximate albedo, if any.
    pub gi_specular: Option<ImageHandle>,
    /// Motion from the last frame to this one (pixels).
    pub velocity: ImageHandle,
    /// Counters of `passes::limit_counters`.
    pub limit_counters: BufferHandle,
}

/// Pipelines of the temporal pass.
struct Temporal {
    virtual_image: LazyPipeline,
    only_camera_moved: LazyPipeline,
    reprojection_modes: LazyPipeline,
    still: LazyPipeline,
    debug: LazyPipeline,
}

/// Inputs of the temporal pass.
struct TemporalInputs {
    gbuffer: Gbuffer,
    velocity: ImageHandle,
    ray_mask: ImageHandle,
    reflection: ImageHandle,
    hit: ImageHandle,
    previous_surface_history: ImageHandle,
    surface_history: ImageHandle,
    limit_counters: BufferHandle,
    /// Fractions of rays with and without a hit, for debug images.
    shares: Option<ImageHandle>,
}

/// Binding group of the pass that resolves mirrors at half resolution.
const MIRRORS: &str = "mirrors";

/// Pipelines of the SSR passes.
pub struct SsrPass {
    depth: Arc<ComputePipeline>,
    depth_coarse: Arc<ComputePipeline>,
    environment: [LazyPipeline; 2],
    /// Rays that neighbors reuse, and rays composited directly.
    trace: [LazyPipeline; 2],
    /// Full resolution, half resolution, and mirrors at half resolution; each with history, single
    /// frame, and debug.
    resolve: [[LazyPipeline; 3]; 3],
    temporal: Temporal,
    /// Without and with velocity.
    composite: [LazyPipeline; 2],
    reflectances: Arc<Image>,
}

impl SsrPass {
    /// Creates the pass; most pipelines follow when a frame needs them.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline or memory runs out.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let lazy = |name, shader| LazyPipeline::new(gpu, name, shader);
        // Pipelines of a resolve pass: with history, single frame, and debug.
        let resolve = |shaders: [&'static str; 3]| {
            let [history, single_frame, debug] = shaders;
            [
                lazy("ssr resolve", history),
                lazy("ssr resolve alone", single_frame),
                lazy("ssr resolve debug", debug),
            ]
        };
        Ok(Self {
            depth: ComputePipeline::new(gpu, "ssr depth", "ssr_hiz.comp")?,
            depth_coarse: ComputePipeline::new(gpu, "ssr depth coarse", "ssr_hiz.comp+COARSE")?,
            environment: [
                lazy("ssr environment", "ssr_environment.comp"),
                lazy("ssr environment bare", "ssr_environment.comp+NO_ENVIRONMENT"),
            ],
            trace: [lazy("ssr", "ssr.comp"), lazy("ssr alone", "ssr.comp+SINGLE_FRAME")],
            resolve: [
                resolve([
                    "ssr_resolve.comp",
                    "ssr_resolve.comp+SINGLE_FRAME",
                    "ssr_resolve.comp+DEBUG",
                ]),
                resolve([
                    "ssr_resolve.comp+HALF_RESOLUTION",
                    "ssr_resolve.comp+HALF_RESOLUTION+SINGLE_FRAME",
                    "ssr_resolve.comp+HALF_RESOLUTION+DEBUG",
                ]),
                resolve([
                    "ssr_resolve.comp+HALF_RESOLUTION+MIRROR_RAYS",
                    "ssr_resolve.comp+HALF_RESOLUTION+MIRROR_RAYS+SINGLE_FRAME",
                    "ssr_resolve.comp+HALF_RESOLUTION+MIRROR_RAYS+DEBUG",
                ]),
            ],
            temporal: Temporal {
                virtual_image: lazy("ssr temporal", "ssr_temporal.comp"),
                only_camera_moved: lazy(
                    "ssr temporal camera",
                    "ssr_temporal.comp+CAMERA_MOTION_ONLY",
                ),
                reprojection_modes: lazy(
                    "ssr temporal ways",
                    "ssr_temporal.comp+REPROJECTION_MODES",
                ),
                still: lazy("ssr temporal still", "ssr_temporal.comp+STATIC_VIEW"),
                debug: lazy("ssr temporal debug", "ssr_temporal.comp+DEBUG"),
            },
            composite: [
                lazy("ssr composite", "ssr_composite.comp"),
                lazy("ssr composite motion", "ssr_composite.comp+OUTPUT_VELOCITY"),
            ],
            reflectances: reflectances(gpu)?,
        })
    }

    /// Declares the passes of a frame with SSR enabled. `debug`: keeps debug images; `followed`: a
    /// later pass needs the reflection's motion.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        SceneFrame { scene, data, .. }: SceneFrame<'a>,
        frame: &FrameSsr,
        inputs: SsrInputs,
        debug: bool,
        followed: bool,
    ) -> SsrOutput {
        let SsrInputs {
            gbuffer,
            light,
            bent_normal_ao: open,
            gi_specular: traced,
            velocity,
            limit_counters,
        } = inputs;
        let ([width, height], [across, down]) = (frame.values.size, frame.values.rays);
        // Without a separate environment term, rays sample the light image directly.
        let apart = (frame.values.hits_only == 0).then(|| {
            ["ssr environment light", "ssr color"].map(|name| g.image(name, width, height, LIGHT))
        });
        let [_, picture] = apart.unwrap_or([light; 2]);
        let ray_mask = g.image("ssr ray mask", width, height, RAY_MASK);
        let (seen_before, surface_history) =
            frame.history.images(g, ["ssr surface history"; 2], [width, height], PAIR);
        let pyramid =
            g.image("ssr depth pyramid", frame.values.level_row, height + height.div_ceil(2), CELL);
        let [open, traced] = [open, traced]
            .map(|image| image.map_or_else(|| (&scene.white).into(), ImageSource::from));
        let bare = usize::from(apart.is_none());
        g.compute_with("ssr environment", move || self.environment[bare].get())
            .binds([data.uniform()])
            .texture("clamped_depth_image", gbuffer.depth, SamplerInfo::NEAREST)
            .sampled("surface_image", gbuffer.surface)
            .sampled("normal_image", gbuffer.normal)
            .uniform("ssr_block", &frame.constants)
            .image_written("out_seen_image", surface_history)
            .image_written("out_cell_image", pyramid)
            .image_written("out_ray_mask_image", ray_mask)
            .with(apart, |pass, images| {
                pass.sampled("emission_image", gbuffer.emission)
                    .sampled("light_image", light)
                    .sampled("ao_image", open)
                    .sampled("traced_image", traced)
                    .storage("environment_block", &data.environment)
                    .storage("probe_block", &data.probes)
                    .image_written("out_environment_image", images[0])
                    .image_written("out_source_light_image", images[1])
            })
            .dispatch(pixel_groups::dispatch([width, height]));
        self.declare_pyramid(g, frame, pyramid);
        let environment = apart.map(|[environment, _]| environment);
        // A single frame is composited at once over the image that rays sample, unless that lacks
        // emission of lights.
        let alone = (!frame.history.kept && !debug && !scene.has_emitters)
            .then(|| g.copied("light with reflections", picture));
        let half = usize::from(frame.values.scale > 1);
        let single_frame = alone.filter(|_| half == 0 && frame.values.taps == 1);
        let rays = g.image("ssr rays", across, down, RAY);
        let kind = usize::from(single_frame.is_some());
        let pass = g
            .compute_with("ssr", move || self.trace[kind].get())
            .binds([data.uniform()])
            .sampled("surface_image", gbuffer.surface)
            .uniform("ssr_block", &frame.constants)
            .image_loaded("pyramid_image", pyramid)
            .image_loaded("ray_mask_image", ray_mask)
            .texture("source_light_image", picture, SamplerInfo::LINEAR)
            .image_loaded("surface_history_image", surface_history);
        let groups = pixel_groups::dispatch([across, down]);
        if let Some(out) = single_frame {
            // Placeholder without an environment term; the shader ignores it.
            pass.sampled("reflected_environment_image", environment.unwrap_or(picture))
                .sampled("light_image", light)
                .sampled("reflectance_image", &self.reflectances)
                .image_updated("out_light_image", out)
                .dispatch(groups);
            return SsrOutput { light: out, velocity, debug: None };
        }
        pass.image_written("out_ray_image", rays).dispatch(groups);
        let reflection = g.image("ssr reflection", width, height, REFLECTION);
        let hit = g.image("ssr hits", width, height, PAIR);
        let shares = debug.then(|| g.image("ssr hit shares", width, height, SHARES));
        let pass = g
            .dispatches("ssr resolve")
            .sampled("surface_image", gbuffer.surface)
            .group(MIRRORS, |pass| pass.texture("source_light_image", picture, SamplerInfo::LINEAR))
            // Placeholder without an environment term; the shader ignores it.
            .sampled("reflected_environment_image", environment.unwrap_or(picture))
            .image_loaded("ray_mask_image", ray_mask)
            .image_loaded("ray_image", rays)
            .image_loaded("surface_history_image", surface_history)
            .binds([data.uniform()])
            .uniform("ssr_block", &frame.constants);
        let pass = if let Some(out) = alone {
            pass.sampled("light_image", light)
                .sampled("reflectance_image", &self.reflectances)
                .image_updated("out_light_image", out)
        } else {
            pass.image_written("out_reflection_image", reflection)
                .image_written("out_hit_image", hit)
                .with(shares, |pass, shares| pass.image_written("out_shares_image", shares))
        };
        let kind = if alone.is_some() { 1 } else { 2 * usize::from(debug) };
        let [all_rays, mirrors] = [&self.resolve[half][kind], &self.resolve[2][kind]];
        let groups @ [x, y, z] = pixel_groups::dispatch([width, height]);
        // The two dispatches write disjoint pixels.
        pass.record(move |cx, bindings| {
            cx.rec.bind_compute(&all_rays.get()?, &bindings.common())?;
            cx.rec.dispatch(x, y, z);
            if half > 0 {
                cx.rec.bind_compute(&mirrors.get()?, &bindings.with_group(MIRRORS))?;
                cx.rec.dispatch(x, y, z);
            }
            Ok(())
        });
        if let Some(out) = alone {
            return SsrOutput { light: out, velocity, debug: None };
        }
        let (accumulated, motion, debug) = if frame.history.kept || debug {
            let inputs = TemporalInputs {
                gbuffer,
                velocity,
                ray_mask,
                reflection,
                hit,
                previous_surface_history: seen_before.unwrap_or(hit),
                surface_history,
                limit_counters,
                shares,
            };
            self.declare_temporal(g, data, frame, inputs)
        } else {
            (reflection, None, None)
        };
        let out = g.image("light with reflections", width, height, LIGHT);
        let motion = motion
            .filter(|_| followed)
            .map(|motion| (motion, g.image("velocity with reflections", width, height, VELOCITY)));
        let pipeline = &self.composite[usize::from(motion.is_some())];
        g.compute_with("ssr composite", move || pipeline.get())
            .binds([data.uniform()])
            .sampled("surface_image", gbuffer.surface)
            .image_loaded("surface_history_image", surface_history)
            .sampled("light_image", light)
            .image_loaded("reflection_image", accumulated)
            .sampled("reflected_environment_image", environment.unwrap_or(light))
            .sampled("reflectance_image", &self.reflectances)
            .uniform("ssr_block", &frame.constants)
            .image_written("out_light_image", out)
            .with(motion, |pass, (motion, out)| {
                pass.sampled("velocity_image", velocity)
                    .sampled("motion_image", motion)
                    .image_written("out_velocity_image", out)
            })
            .dispatch(groups);
        SsrOutput { light: out, velocity: motion.map_or(velocity, |(_, out)| out), debug }
    }

    fn declare_pyramid(&self, g: &mut Graph<'_>, frame: &FrameSsr, cells: ImageHandle) {
        let [width, height] = frame.values.size;
        for (name, pipeline, fine) in
            [("ssr depth", &self.depth, true), ("ssr depth, coarse", &self.depth_coarse, false)]
        {
            // A work group writes 16 by 16 cells of its first level.
            let across = if fine { 32 } else { 32 << 5 };
            g.compute(name, pipeline)
                .uniform("ssr_block", &frame.constants)
                .image_updated("pyramid_image", cells)
                .dispatch([width.div_ceil(across), height.div_ceil(across), 1]);
        }
    }

    fn declare_temporal<'a>(
        &'a self,
        g: &mut Graph<'a>,
        data: &FrameData,
        frame: &FrameSsr,
        inputs: TemporalInputs,
    ) -> (ImageHandle, Option<ImageHandle>, Option<[ImageHandle; 2]>) {
        let TemporalInputs {
            gbuffer,
            velocity,
            ray_mask,
            reflection,
            hit,
            previous_surface_history,
            surface_history,
            limit_counters,
            shares,
        } = inputs;
        let [width, height] = frame.values.size;
        let debug = shares.is_some();
        let [(history, out), (past, past_out), (shown, shown_out)] = [
            (["ssr history", "ssr single frame"], HISTORY),
            (["ssr history data", "ssr history data single frame"], PAIR),
            (["ssr displayed", "ssr displayed single frame"], REFLECTION),
        ]
        .map(|(names, format)| frame.history.images(g, names, [width, height], format));
        // Placeholders in a single frame, which the shader does not read.
        let history = history.unwrap_or_else(|| empty_debug_image(g, [1, 1]));
        let (past, shown) = (past.unwrap_or(hit), shown.unwrap_or(reflection));
        let found = debug.then(|| {
            ["ssr debug hits", "ssr debug motion"].map(|name| g.image(name, width, height, NUMBERS))
        });
        let motion = g.image("ssr motion", width, height, VELOCITY);
        // Most pipelines are specialized to one case to avoid shader cost.
        let HistoryConstants { max_frames, still, .. } = frame.values.history;
        let still = !debug && still != 0 && max_frames > 0.0;
        let by_image = frame.values.reprojection == SsrReprojection::Virtual as u32;
        let pipeline = match (debug, still, by_image, frame.only_camera_moved) {
            (true, ..) => &self.temporal.debug,
            (_, true, ..) => &self.temporal.still,
            (.., true, true) => &self.temporal.only_camera_moved,
            (.., true, false) => &self.temporal.virtual_image,
            (.., false, _) => &self.temporal.reprojection_modes,
        };
        // If nothing but the camera moves, no velocity image is needed.
        let moves = debug || !(still || by_image && frame.only_camera_moved);
        let pass = g
            .compute_with("ssr temporal", move || pipeline.get())
            // The static path needs no surface history, and clamps no light.
            .bound_if(!still, |pass| pass.sampled("surface_image", gbuffer.surface))
            .with((!still).then_some(limit_counters), |pass, counters| {
                pass.updated("limit_counter_block", counters)
            })
            .with(shares, |pass, shares| pass.sampled("shares_image", shares))
            .with(moves.then_some(velocity), |pass, velocity| {
                pass.sampled("velocity_image", velocity)
            })
            .image_loaded("reflection_image", reflection)
            .image_loaded("hit_image", hit)
            .image_loaded("surface_history_now_image", surface_history)
            .image_loaded("history_image", history)
            .image_loaded("history_data_image", past)
            .bound_if(still || debug, |pass| pass.image_loaded("displayed_image", shown))
            .with((!still).then_some(previous_surface_history), |pass, previous| {
                pass.image_loaded("surface_history_image", previous)
            })
            .binds([data.uniform()])
            .uniform("ssr_block", &frame.constants);
        pass.image_loaded("ray_mask_image", ray_mask)
            .image_written("out_history_image", out)
            .image_written("out_past_image", past_out)
            .image_written("out_motion_image", motion)
            .image_written("out_displayed_image", shown_out)
            .with(found, |pass, [hits, motion]| {
                pass.image_written("out_found_image", hits)
                    .image_written("out_chosen_image", motion)
            })
            .dispatch(pixel_groups::dispatch([width, height]));
        (shown_out, Some(motion), found)
    }
}

/// Table of the split sum for specular reflectances.
fn reflectances(gpu: &Gpu) -> GpuResult<Arc<Image>> {
    let table = dfg_table();
    let side = DFG_SIZE as u32;
    let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST;
    let info =
        ImageInfo { width: side, height: side, mips: 1, format: vk::Format::R32G32_SFLOAT, usage };
    let image = Image::new(gpu, "reflectances", info)?;
    let pairs: Vec<[f32; 2]> = table.iter().map(|entry| [entry.x, entry.y]).collect();
    let mut uploader = Uploader::new(gpu)?;
    uploader.texture(&image, &[bytemuck::cast_slice(&pairs).to_vec()])?;
    uploader.finish()?;
    Ok(image)
}

/// Empty debug image for a frame without SSR.
pub fn empty_debug_image(g: &mut Graph<'_>, [width, height]: [u32; 2]) -> ImageHandle {
    g.black_image("no ssr", width, height, NUMBERS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_lie_beside_each_other() {
        for size in [[1, 1], [1, 7], [33, 17], [160, 90], [1280, 720], [1921, 1081], [8192, 5]] {
            let (count, row) = levels(size);
            let below = size.map(|side: u32| side.div_ceil(2));
            // Must match `level_corner` and `level_size` of shaders/lib/ssr_hiz.glsl.
            let mut end = 0;
            for level in 1..count {
                let corner = row.saturating_sub((2 * row) >> level);
                let [width, height] = size.map(|side| (side + (1 << level) - 1) >> level);
                assert!(
                    corner >= end && corner + width <= row && height <= below[1],
                    "{size:?} {level}"
                );
                end = corner + width;
            }
            let coarsest = size.map(|side| side.div_ceil(1 << (count - 1)));
            assert!(row >= size[0] && (count == LEVELS || coarsest == [1, 1]), "{size:?}");
        }
    }
}
