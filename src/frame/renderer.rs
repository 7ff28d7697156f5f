//! The renderer: uploads scenes, submits frames and reads them back.

use std::sync::Arc;

use super::{
    aov::Aov,
    declare::declare_frame,
    frame_inputs::FrameInputs,
    history::HistoryState,
    limits::LimitReports,
    pipelines,
    readback::{
        Readback, decode_float4, decode_half2, decode_half4, decode_half4_alpha, decode_u32,
    },
    rendered_image::{ClusteredLightStats, DrawStats, RenderedImage},
    sampling::FrameSampling,
    settings::RenderSettings,
};
use crate::{
    gpu::{
        Buffer, Frames, Gpu, GpuError, GpuResult, Interrupt, commands::Ticket,
        shader_structs::ghosts::GHOST_REPORT_WORDS,
    },
    gpu_scene::{
        GpuScene, LodGeneration, OcclusionGain, View, irradiance_volume::IrradianceVolume,
        refit::RefitCosts, scene_bvh::RayTracedLights,
    },
    graph::{BufferHandle, Executed, Graph, GraphCache, Prepared},
    passes::{
        Passes,
        clustered_lights::REPORT_WORDS,
        culling,
        exposure_histogram::LuminanceHistogram,
        formats::DEPTH,
        lens_ghosts::GhostReport,
        shadow_maps::{self, ShadowAtlasPlan},
    },
    scene::Scene,
    settings::{ClusteredLightSettings, ShadowSettings},
};

/// A submitted frame, for [`Renderer::collect`].
pub struct PendingFrame {
    ticket: Ticket,
    executed: Executed,
    view: View,
    settings: RenderSettings,
    display: Option<BufferHandle>,
    light: Option<BufferHandle>,
    aovs: Vec<(Aov, BufferHandle, bool)>,
    report: BufferHandle,
    histogram: Option<BufferHandle>,
    draw_stats: DrawStats,
    culled: Option<BufferHandle>,
    refitted: Option<(BufferHandle, RefitCosts)>,
    ghosts: Option<BufferHandle>,
    limits: LimitReports,
    gain: Option<Arc<OcclusionGain>>,
    light_count: u32,
    volume: Option<Arc<IrradianceVolume>>,
    interrupt: Option<Arc<Interrupt>>,
}

/// Frames in flight: the host records one while the device executes the other.
const FRAMES_IN_FLIGHT: usize = 2;

/// Renders images of scenes.
pub struct Renderer {
    pub(super) passes: Arc<Passes>,
    pub(super) cache: GraphCache,
    pub(super) frames: Frames,
    /// State of the temporal histories.
    pub(super) history: HistoryState,
    /// Capacity that the light lists of an earlier frame needed, in entries.
    pub(super) list_capacity: u32,
    /// Revision of the scene whose shadow maps the atlas holds, and their plan.
    cached_shadow_maps: Option<(u64, ShadowAtlasPlan)>,
    /// Revision of the scene whose skinned vertices are on the device.
    pub(super) skinned_scene: Option<u64>,
    /// Interrupt of the next frames.
    pub(super) interrupt: Option<Arc<Interrupt>>,
    pub(super) gpu: Gpu,
}

impl Drop for Renderer {
    /// Saves the pipelines that the frames created.
    fn drop(&mut self) {
        self.gpu.save_pipeline_cache();
    }
}

impl Renderer {
    /// Creates a renderer with its pipelines.
    ///
    /// # Errors
    /// [`GpuError`] if the driver rejects a pipeline or memory is exhausted.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let passes = Passes::new(gpu)?;
        gpu.save_pipeline_cache();
        Self::with_passes(gpu, Arc::new(passes))
    }

    /// Creates a renderer with passes that other renderers of the device may share. Histories,
    /// images and frames in flight are its own; ghosts keep their hysteresis in the passes.
    ///
    /// # Errors
    /// [`GpuError`] if memory is exhausted.
    pub fn with_passes(gpu: &Gpu, passes: Arc<Passes>) -> GpuResult<Self> {
        Ok(Self {
            passes,
            cache: GraphCache::default(),
            frames: Frames::new(gpu, FRAMES_IN_FLIGHT)?,
            history: HistoryState::default(),
            list_capacity: 0,
            cached_shadow_maps: None,
            skinned_scene: None,
            interrupt: None,
            gpu: gpu.clone(),
        })
    }

    /// The device that the renderer draws with.
    #[must_use]
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Sets the interrupt of the next frames; `None` lets them run to their end. An interrupted frame
    /// fails with [`GpuError::Interrupted`] and resets the temporal histories. Frames with ghosts
    /// are not interrupted: these keep their state on the device.
    pub fn set_interrupt(&mut self, interrupt: Option<Arc<Interrupt>>) {
        self.interrupt = interrupt;
    }

    /// Uploads a scene for the default shadow settings (see `upload_for`).
    ///
    /// # Errors
    /// [`GpuError`] if memory is exhausted or the device is lost.
    pub fn upload(&mut self, scene: &Scene) -> GpuResult<GpuScene> {
        self.upload_for(scene, &ShadowSettings::default())
    }

    /// Uploads a scene with the BVH that these shadow settings need, and captures its probes.
    ///
    /// # Errors
    /// [`GpuError`] if memory is exhausted or the device is lost.
    pub fn upload_for(&mut self, scene: &Scene, shadows: &ShadowSettings) -> GpuResult<GpuScene> {
        self.upload_with(scene, shadows, LodGeneration::None)
    }

    /// Uploads a scene with the BVH that these shadow settings need, generates levels of detail for
    /// `CullingSettings`, and captures its probes.
    ///
    /// # Errors
    /// [`GpuError`] if memory is exhausted or the device is lost.
    pub fn upload_with(
        &mut self,
        scene: &Scene,
        shadows: &ShadowSettings,
        detail: LodGeneration,
    ) -> GpuResult<GpuScene> {
        let (passes, wanted) = (&self.passes, (RayTracedLights::of(shadows), detail));
        let forward = || passes.forward.any_pipeline();
        let mut on_device =
            GpuScene::new(&self.gpu, scene, wanted, passes.gbuffer.opaque(), &forward)?;
        self.capture_probes(scene, &mut on_device, shadows)?;
        Ok(on_device)
    }

    /// Checks that the device supports images of this size.
    ///
    /// # Errors
    /// [`GpuError::TooLarge`] if it does not.
    pub fn check_size(&self, view: &View) -> GpuResult<()> {
        let limit = self.gpu.limits().max_image_dimension2_d;
        if view.width.max(view.height) <= limit && view.width.min(view.height) > 0 {
            return Ok(());
        }
        Err(GpuError::TooLarge {
            what: "the picture".into(),
            requested: format!("{}x{}", view.width, view.height),
            limit: format!("1x1 to {limit}x{limit}"),
            device: self.gpu.info().name.clone(),
            remedy: "choose another --size",
        })
    }

    /// Renders one image and waits for it.
    ///
    /// # Errors
    /// [`GpuError`] if memory is exhausted or the device is lost.
    pub fn render(
        &mut self,
        scene: &GpuScene,
        view: &View,
        settings: &RenderSettings,
    ) -> GpuResult<RenderedImage> {
        self.converge_probes(scene, view, settings)?;
        let history = self.history.clone();
        let pending = self.submit(scene, view, settings, Readback::ALL)?;
        let picture = self.collect(pending)?;
        if picture.clustered_light_stats.overflowed == 0 {
            return Ok(picture);
        }
        // The light lists overflowed, and their needed capacity is now known. The frame is repeated
        // without advancing the history.
        self.history = history.clone();
        let pending = self.submit(scene, view, settings, Readback::ALL)?;
        let picture = self.collect(pending)?;
        if picture.clustered_light_stats.overflowed == 0 {
            return Ok(picture);
        }
        // The lists exceed the device's limits. Which clusters fit depends on timing, so clustering
        // is switched off.
        self.history = history;
        let off = ClusteredLightSettings { enabled: false, ..settings.clustered_lights };
        let pending = self.submit(
            scene,
            view,
            &RenderSettings { clustered_lights: off, ..settings.clone() },
            Readback::ALL,
        )?;
        self.collect(pending)
    }

    /// Message about a shadow atlas limit in the last frame: reduced map resolution, or lights
    /// without a map. `None` if all maps are as requested.
    #[must_use]
    pub fn shadow_map_limit(&self, requested: &ShadowSettings) -> Option<String> {
        let (_, plan) = self.cached_shadow_maps.as_ref().filter(|_| requested.enabled)?;
        plan.limit(requested.resolution)
    }

    /// Submits a frame; `collect` waits for it. Submitting a second frame before the first is
    /// collected overlaps host and device work.
    ///
    /// # Errors
    /// [`GpuError`] if memory is exhausted or the device is lost.
    pub fn submit(
        &mut self,
        scene: &GpuScene,
        view: &View,
        settings: &RenderSettings,
        wanted: Readback,
    ) -> GpuResult<PendingFrame> {
        self.check_size(view)?;
        pipelines::prepare(&self.passes, &self.gpu, (scene, view), settings)?;
        let held =
            |[width, height]: [u32; 2]| self.cache.holds(shadow_maps::ATLAS, width, height, DEPTH);
        let cached_shadow_maps = self
            .cached_shadow_maps
            .take()
            .filter(|(of, plan)| *of == scene.revision && held(plan.atlas))
            .map(|(_, plan)| plan);
        let kept = (self.list_capacity, cached_shadow_maps.as_ref());
        let mut sampling = FrameSampling::new(&self.history, scene, view, settings);
        let volume = scene.irradiance_volume(&settings.gi);
        if let Some((volume, seen)) = volume {
            sampling.probe_updates = volume.next_update(seen, settings.gi.probe_rays);
        }
        let inputs = FrameInputs::new(&self.gpu, scene, (view, &sampling), settings, kept)?;
        pipelines::create_variants(&self.passes, &self.gpu, scene, &inputs, settings)?;
        let mut graph = Graph::new(self.history.number);
        // An atlas of another size is recreated.
        let cached_shadow_maps =
            cached_shadow_maps.filter(|kept| kept.atlas == inputs.shadows.plan.atlas);
        let moved = self.skinned_scene.take() == Some(scene.revision);
        let pictures = (view, &sampling);
        let kept = (cached_shadow_maps.as_ref(), moved);
        let images =
            declare_frame(&mut graph, &self.passes, scene, &inputs, pictures, settings, kept);
        let display = wanted.display.then(|| graph.read_back("display", images.display));
        let light = wanted.nits.then(|| graph.read_back("light", images.light));
        if !wanted.display {
            // Of a frame whose mean alone goes on, nothing else is needed.
            let is_part = !wanted.nits && !settings.histogram;
            graph.output(images.accumulated.filter(|_| is_part).unwrap_or(images.display));
        }
        let aovs = images
            .aovs
            .iter()
            .map(|&(aov, image)| {
                (aov, graph.read_back(aov.name(), image), !matches!(aov, Aov::Channel(_)))
            })
            .collect();
        let report = graph.read_back_buffer(
            "clustered lights report",
            images.clustered_lights.report,
            REPORT_WORDS * 4,
        );
        let culled = images.culled.map(|culled| {
            graph.read_back_buffer("culling report", culled.report, culling::REPORT_WORDS * 4)
        });
        let ghosts = images.ghosts.map(|ghosts| {
            graph.read_back_buffer("ghost report", ghosts, u64::from(GHOST_REPORT_WORDS) * 4)
        });
        let refit = scene.bvh.as_ref().and_then(|gpu_bvh| gpu_bvh.refit());
        let refitted = images.refitted.zip(refit).map(|(costs, refit)| {
            let size = refit.cost_words() * 4;
            (graph.read_back_buffer("refit costs", costs, size), refit.costs())
        });
        let interrupt = self.interrupt.clone().filter(|_| images.ghosts.is_none());
        let mut rec = self.frames.begin()?;
        if let Some(interrupt) = &interrupt {
            rec.interrupt_by(interrupt);
        }
        let executed = graph.execute(&mut rec, &mut self.cache)?;
        let ticket = rec.submit()?;
        // The atlas and the vertices are valid only after the commands are submitted.
        self.cached_shadow_maps = Some((scene.revision, inputs.shadows.plan.clone()));
        self.skinned_scene = Some(scene.revision);
        self.history.advance(scene, view, settings);
        let on_device = inputs.culling.as_ref().and(scene.gpu_instances.as_ref());
        let visible = &inputs.data.draws.visible;
        let drawn = DrawStats {
            draws: visible.draws.len() + on_device.map_or(0, |p| p.runs.len()),
            instances: visible.instances.len(),
            frustum_culled: visible.culled + on_device.map_or(0, |p| p.count as usize),
            occlusion_culled: 0,
        };
        let values = &inputs.data.uniforms.values;
        Ok(PendingFrame {
            ticket,
            executed,
            view: *view,
            settings: settings.clone(),
            display,
            light,
            aovs,
            report,
            histogram: images.histogram,
            draw_stats: drawn,
            culled,
            refitted,
            ghosts,
            limits: images.limits,
            gain: inputs
                .culling
                .as_ref()
                .filter(|culling| culling.occlusion)
                .and(on_device)
                .map(|p| Arc::clone(&p.gain)),
            light_count: values.light_count - values.directional_count,
            volume: volume
                .filter(|_| !sampling.probe_updates.is_empty())
                .map(|(volume, _)| Arc::clone(volume)),
            interrupt,
        })
    }

    /// Waits for a frame and reads it back to the host.
    ///
    /// # Errors
    /// [`GpuError`] if the device is lost, or if the frame was interrupted.
    pub fn collect(&mut self, pending: PendingFrame) -> GpuResult<RenderedImage> {
        self.frames.wait(pending.ticket)?;
        if pending.interrupt.as_ref().is_some_and(|interrupt| interrupt.is_raised()) {
            // What the frame wrote is undefined: shadow maps, skinned vertices, histories, probes.
            (self.cached_shadow_maps, self.skinned_scene) = (None, None);
            self.history.reset();
            pending.volume.iter().for_each(|volume| volume.reset());
            return Err(GpuError::Interrupted);
        }
        // Does nothing unless the frame has created pipelines.
        self.gpu.save_pipeline_cache();
        let (width, height) = (pending.view.width as usize, pending.view.height as usize);
        let to_nits = 1.0 / pending.settings.exposure.multiplier();
        let buffer = |handle: BufferHandle| -> GpuResult<Arc<Buffer>> {
            pending.executed.buffer(handle).ok_or_else(|| GpuError::Pipeline {
                pipeline: "frame graph".into(),
                detail: "a readback pass did not run".into(),
            })
        };
        let display = pending
            .display
            .map(&buffer)
            .transpose()?
            .map_or_else(Vec::new, |b| b.mapped().to_vec());
        let nits = match pending.light {
            Some(handle) => decode_half4(buffer(handle)?.mapped(), to_nits)
                .map(|[r, g, b, _]| [r, g, b])
                .collect(),
            None => Vec::new(),
        };
        let mut aovs = Vec::new();
        for &(aov, handle, is_light) in &pending.aovs {
            let bytes = buffer(handle)?;
            let mut pixels: Vec<[f32; 4]> = if aov == Aov::VplClampLoss {
                decode_half4_alpha(bytes.mapped(), to_nits)
            } else if let Aov::Ssr(what) = aov {
                decode_float4(bytes.mapped(), aov, &pending.view)
                    .into_iter()
                    .map(|pixel| what.decode(pixel))
                    .collect()
            } else if aov == Aov::Velocity {
                decode_half2(bytes.mapped()).collect()
            } else if is_light {
                decode_half4(bytes.mapped(), to_nits).collect()
            } else {
                decode_float4(bytes.mapped(), aov, &pending.view)
            };
            // Drivers may return either sign of zero, which differs between runs.
            pixels.iter_mut().flatten().for_each(|value| *value += 0.0);
            aovs.push((aov, pixels));
        }
        let report = buffer(pending.report)?;
        let words: Vec<u32> = report.mapped().chunks_exact(4).map(decode_u32).collect();
        let at = |index: usize| words.get(index).copied().unwrap_or(0);
        let wide = |low: usize, high: usize| u64::from(at(low)) | u64::from(at(high)) << 32;
        let mut drawn = pending.draw_stats;
        if let Some(handle) = pending.culled {
            let words: Vec<usize> = buffer(handle)?
                .mapped()
                .chunks_exact(4)
                .map(|bytes| decode_u32(bytes) as usize)
                .collect();
            let at = |index: usize| words.get(index).copied().unwrap_or(0);
            drawn.instances += at(0);
            drawn.occlusion_culled = at(1);
            drawn.frustum_culled = drawn.frustum_culled.saturating_sub(at(0) + at(1));
            if let Some(gain) = &pending.gain {
                gain.record(at(1), at(0), pending.settings.culling.retry_interval);
            }
        }
        if let Some((handle, costs)) = &pending.refitted {
            let words: Vec<u32> =
                buffer(*handle)?.mapped().chunks_exact(4).map(decode_u32).collect();
            costs.found(&words);
        }
        // Grows the capacity for the next frame, with a quarter of headroom for lights that come
        // into view.
        if at(2) > 0 {
            let needed = u32::try_from(wide(7, 8)).unwrap_or(u32::MAX);
            self.list_capacity = self.list_capacity.max(needed.saturating_add(needed / 4));
        }
        Ok(RenderedImage {
            width,
            height,
            display,
            nits,
            aovs,
            times: self.frames.times(pending.ticket).to_vec(),
            clustered_light_stats: ClusteredLightStats {
                clusters: at(4),
                lights: pending.light_count,
                evaluated: wide(0, 6),
                max_per_cluster: at(1),
                overflowed: at(2),
                required_capacity: wide(7, 8),
                max_culled_contribution: f32::from_bits(at(5)),
            },
            histogram: match pending.histogram {
                Some(handle) => Some(LuminanceHistogram::from_bytes(buffer(handle)?.mapped())),
                None => None,
            },
            draw_stats: drawn,
            ghosts: match pending.ghosts {
                Some(handle) => {
                    let words: Vec<u32> =
                        buffer(handle)?.mapped().chunks_exact(4).map(decode_u32).collect();
                    Some(GhostReport::from_words(&words))
                }
                None => None,
            },
            limits: pending.limits.read(|handle| Ok(buffer(handle)?.mapped().to_vec()))?,
            exposure: pending.settings.exposure,
        })
    }

    /// Resets the temporal histories, for a cut to an unrelated view.
    pub fn reset_history(&mut self) {
        self.history.reset();
    }

    /// Plans a frame without running it, for `sunny16 graph`.
    ///
    /// # Errors
    /// [`GpuError`] if memory is exhausted.
    pub fn plan(
        &mut self,
        scene: &GpuScene,
        view: &View,
        settings: &RenderSettings,
    ) -> GpuResult<Prepared> {
        pipelines::prepare(&self.passes, &self.gpu, (scene, view), settings)?;
        let kept = (self.list_capacity, None);
        let mut sampling = FrameSampling::new(&self.history, scene, view, settings);
        if let Some((volume, seen)) = scene.irradiance_volume(&settings.gi) {
            sampling.probe_updates = volume.planned_update(seen, settings.gi.probe_rays);
        }
        let inputs = FrameInputs::new(&self.gpu, scene, (view, &sampling), settings, kept)?;
        // Planning may recreate the persistent images.
        self.cached_shadow_maps = None;
        let mut graph = Graph::new(self.history.number);
        let pictures = (view, &sampling);
        let images = declare_frame(
            &mut graph,
            &self.passes,
            scene,
            &inputs,
            pictures,
            settings,
            (None, false),
        );
        graph.output(images.display);
        for (_, image) in images.aovs {
            graph.output(image);
        }
        graph.prepare(&self.gpu, &mut self.cache)
    }
}
