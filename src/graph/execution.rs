//! Planning and recording of a declared frame.

use std::sync::Arc;

use ash::vk;

use super::{
    access::State,
    cache::{GraphCache, MemoryUse},
    declaration::{Graph, Objects, Pass, PassContext},
    plan::{self, PassInfo, Plan, ResourceInfo},
    resource::{BufferHandle, Kind, ResourceSize},
};
use crate::gpu::{
    Buffer, BufferKind, ColorTarget, DepthTarget, Gpu, GpuError, GpuResult, Image, Recorder,
    commands::ImageBarrier,
};

impl<'a> Graph<'a> {
    fn infos(&self, cache: &GraphCache) -> (Vec<ResourceInfo>, Vec<PassInfo>) {
        let resources = self
            .resources
            .iter()
            .enumerate()
            .map(|(index, resource)| ResourceInfo {
                name: resource.name.clone(),
                imported: match &resource.kind {
                    Kind::History { key, slot, .. } => Some(
                        cache
                            .histories
                            .get(key)
                            .map_or(State::NEW, |history| history.states[*slot]),
                    ),
                    Kind::Persistent { .. } => {
                        Some(cache.kept_state(&resource.name, &resource.kind))
                    }
                    Kind::External => Some(State::NEW),
                    Kind::Shared { .. } => self.shared.get(&index).map(|image| image.state()),
                    _ => None,
                },
            })
            .collect();
        (resources, self.passes.iter().map(|pass| pass.info.clone()).collect())
    }

    /// Plans the frame and allocates its images, without recording.
    ///
    /// # Errors
    /// [`GpuError`]: contradicting declarations; out of memory.
    pub fn prepare(&self, gpu: &Gpu, cache: &mut GraphCache) -> GpuResult<Prepared> {
        cache.ensure_histories(gpu, &self.resources)?;
        let (resources, passes) = self.infos(cache);
        let mut plan = plan::plan(&resources, &passes, &self.outputs).map_err(|error| {
            GpuError::Pipeline { pipeline: "frame graph".into(), detail: error.to_string() }
        })?;
        let memory = cache.allocate(gpu, &self.resources, &passes, &mut plan)?;
        Ok(Prepared { resources, sizes: self.resource_sizes(), passes, plan, memory })
    }

    /// Records the frame. The result holds the readback buffers, which are valid when the frame is
    /// finished.
    ///
    /// # Errors
    /// [`GpuError`]: contradicting declarations; out of memory; errors of pass bodies.
    pub fn execute(self, rec: &mut Recorder<'_>, cache: &mut GraphCache) -> GpuResult<Executed> {
        let gpu = rec.gpu().clone();
        let prepared = self.prepare(&gpu, cache)?;
        let mut images: Vec<Option<Arc<Image>>> = Vec::new();
        let mut buffers: Vec<Option<Arc<Buffer>>> = Vec::new();
        for (index, resource) in self.resources.iter().enumerate() {
            let used = prepared.plan.lifetimes.get(index).is_some_and(Option::is_some);
            let (mut image, mut buffer) = (None, None);
            match &resource.kind {
                Kind::Transient { .. } => image = cache.transients.get(index).cloned().flatten(),
                Kind::History { key, slot, .. } => {
                    image =
                        cache.histories.get(key).map(|history| Arc::clone(&history.images[*slot]));
                }
                Kind::Persistent { width, height, format } if used => {
                    image = Some(cache.keep(&gpu, &resource.name, (*width, *height, *format))?);
                }
                Kind::Storage { size } if used => {
                    buffer = Some(cache.storage(&gpu, &resource.name, *size)?)
                }
                Kind::External => buffer = self.externals.get(&index).cloned(),
                Kind::Shared { .. } => {
                    image = self.shared.get(&index).map(|shared| Arc::clone(&shared.image))
                }
                Kind::Readback { size } if used => {
                    buffer = Some(Buffer::new(&gpu, &resource.name, *size, BufferKind::Readback)?);
                }
                _ => {}
            }
            images.push(image);
            buffers.push(buffer);
        }

        cache.clear_new_histories(rec);
        let mut bodies: Vec<Option<Pass<'a>>> = self.passes.into_iter().map(Some).collect();
        for (&index, barriers) in prepared.plan.order.iter().zip(&prepared.plan.barriers) {
            let Some(pass) = bodies.get_mut(index).and_then(Option::take) else { continue };
            record_barriers(rec, barriers, &images);
            rec.begin_pass(&pass.info.name);
            record_pass(rec, pass, &images, &buffers)?;
            rec.end_pass();
        }
        for (index, (resource, state)) in
            self.resources.iter().zip(&prepared.plan.last_states).enumerate()
        {
            if let Some(shared) = self.shared.get(&index) {
                shared.set_state(*state);
            }
            if let Kind::Persistent { .. } = &resource.kind
                && let Some(kept) = cache.kept.get_mut(&resource.name)
            {
                kept.state = *state;
            }
            if let Kind::History { key, slot, .. } = &resource.kind
                && let Some(history) = cache.histories.get_mut(key)
            {
                history.states[*slot] = *state;
            }
        }
        Ok(Executed { buffers, prepared })
    }
}

fn record_barriers(
    rec: &mut Recorder<'_>,
    barriers: &[plan::Barrier],
    images: &[Option<Arc<Image>>],
) {
    let mut of_images = Vec::new();
    let mut memory: Option<(State, State)> = None;
    for barrier in barriers {
        match images.get(barrier.resource).and_then(Option::as_ref) {
            Some(image) => of_images.push(ImageBarrier {
                image,
                from: (barrier.from.stages, barrier.from.access, barrier.from.layout),
                to: (barrier.to.stages, barrier.to.access, barrier.to.layout),
            }),
            None => {
                let (from, to) = memory.get_or_insert((State::NEW, State::NEW));
                from.stages |= barrier.from.stages;
                from.access |= barrier.from.access;
                to.stages |= barrier.to.stages;
                to.access |= barrier.to.access;
            }
        }
    }
    rec.image_barriers(&of_images);
    if let Some((from, to)) = memory {
        rec.memory_barrier((from.stages, from.access), (to.stages, to.access));
    }
}

fn record_pass(
    rec: &mut Recorder<'_>,
    pass: Pass<'_>,
    images: &[Option<Arc<Image>>],
    buffers: &[Option<Arc<Buffer>>],
) -> GpuResult<()> {
    let target = |index: usize| images.get(index).and_then(Option::as_ref);
    let colors: Vec<_> = pass
        .colors
        .iter()
        .filter_map(|&(index, clear)| {
            let image = target(index)?;
            let integer = matches!(
                image.info().format,
                vk::Format::R32_UINT | vk::Format::R32G32_UINT | vk::Format::R32G32B32A32_UINT
            );
            Some(ColorTarget { image, clear, integer })
        })
        .collect();
    let depth = pass.depth.and_then(|(index, clear, write)| {
        target(index).map(|image| DepthTarget { image, clear, write })
    });
    let draws = !colors.is_empty() || depth.is_some();
    if draws {
        rec.begin_rendering(&colors, depth);
    }
    let result = (pass.body)(&mut PassContext { rec, objects: Objects { images, buffers } });
    if draws {
        rec.end_rendering();
    }
    result
}

/// A planned frame with allocated images.
pub struct Prepared {
    /// Resources as planned.
    pub resources: Vec<ResourceInfo>,
    /// Sizes of the resources, parallel to `resources`.
    pub sizes: Vec<ResourceSize>,
    /// Passes as planned.
    pub passes: Vec<PassInfo>,
    /// Order, barriers and lifetimes.
    pub plan: Plan,
    /// Memory of transient images.
    pub memory: MemoryUse,
}

/// A recorded frame.
pub struct Executed {
    buffers: Vec<Option<Arc<Buffer>>>,
    /// The planned frame.
    pub prepared: Prepared,
}

impl Executed {
    /// A readback buffer of the frame; `None` if the pass that fills it was culled.
    #[must_use]
    pub fn buffer(&self, handle: BufferHandle) -> Option<Arc<Buffer>> {
        self.buffers.get(handle.0).cloned().flatten()
    }
}
