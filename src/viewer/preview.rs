//! Path traced preview of the view while the device compiles shaders: it needs no pipelines.

use std::{sync::Arc, time::Duration};

use egui::ColorImage;
use glam::{DVec3, Mat3, Vec3};

use super::{
    error::ViewError,
    tracer::{TraceJob, TracedImage, Tracer},
    viewport::Viewport,
    wake::Wake,
};
use crate::{
    camera::MeteringMode,
    gpu::CompileProgress,
    session::{
        OpenScene, SessionError,
        expose::{self, ExposureState},
        preview::ViewTransform,
    },
};

/// Compilation that takes longer starts the preview.
const DELAY: Duration = Duration::from_millis(300);

/// Maximum width and height of the preview in pixels.
const MAX_SIDE: u32 = 240;

/// Samples per pixel at which the preview is finished.
const SAMPLES: u32 = 256;

/// A started job of the path tracer.
struct Job {
    number: u64,
    /// The request of the viewport that it previews.
    request_id: u64,
    session: OpenScene,
}

/// State of the preview.
#[derive(Default)]
pub struct Preview {
    tracer: Option<Tracer>,
    job: Option<Job>,
    /// Number of the newest picture that was returned.
    shown: u64,
    /// Samples per pixel of that picture; 0 without a preview.
    samples: u32,
    /// There are no more previews: the path tracer has failed, or they are disabled.
    off: bool,
}

impl Preview {
    /// Samples per pixel of the displayed preview; `None` without one.
    #[must_use]
    pub fn samples(&self) -> Option<u32> {
        (self.job.is_some() && self.samples > 0).then_some(self.samples)
    }

    /// Ends the preview.
    pub(super) fn stop(&mut self) {
        if self.job.take().is_some()
            && let Some(tracer) = &self.tracer
        {
            tracer.stop();
        }
        self.samples = 0;
    }

    /// Ends the preview, and shows no more.
    pub(super) fn disable(&mut self) {
        self.stop();
        self.off = true;
    }

    /// Ends the preview if the device has drawn the current request, or has compiled and drawn the
    /// previewed one: the next pictures of a moving view come soon.
    pub(super) fn end_if_drawn(
        &mut self,
        viewport: &Viewport,
        compiling: Option<&CompileProgress>,
    ) {
        let newest = viewport.last_frame.as_ref().map_or(0, |finished| finished.request_id);
        let is_previewed_drawn = self.job.as_ref().is_some_and(|job| newest >= job.request_id);
        let is_current_drawn = newest == viewport.request_id();
        if is_current_drawn || is_previewed_drawn && compiling.is_none() || !viewport.needs_frame()
        {
            self.stop();
        }
    }

    /// Starts the preview of the current request if its picture waits for `compiling`, and returns
    /// the newest picture.
    ///
    /// # Errors
    /// A look without an exposure; a crash of the path tracer, after which there are no more
    /// previews.
    pub(super) fn update(
        &mut self,
        viewport: &Viewport,
        compiling: Option<&CompileProgress>,
        wake: &Wake,
    ) -> Result<Option<ColorImage>, ViewError> {
        let order = viewport.request_id();
        let answered =
            viewport.last_frame.as_ref().is_some_and(|finished| finished.request_id == order);
        if self.off || answered || !viewport.needs_frame() {
            self.stop();
            return Ok(None);
        }
        let is_due = compiling.is_some_and(|progress| progress.elapsed > DELAY);
        if self.job.is_none() && !is_due {
            return Ok(None);
        }
        let tracer = match &mut self.tracer {
            Some(tracer) => tracer,
            none => none.insert(Tracer::new(Arc::clone(wake))?),
        };
        if let Some(crash) = tracer.crash() {
            self.off = true;
            return Err(crash.into());
        }
        let traced = tracer.traced();
        // A moving view gets one picture of each request at least.
        let restarts = self.job.as_ref().is_none_or(|job| {
            job.request_id != order && traced.job == job.number && traced.samples > 0
        });
        if restarts && is_due {
            let (session, job) = begin(viewport)?;
            let number = tracer.begin(job);
            self.job = Some(Job { number, request_id: order, session });
        }
        let Some(job) = self.job.as_ref().filter(|job| job.number == traced.job) else {
            return Ok(None);
        };
        if traced.samples == 0 || traced.number == self.shown {
            return Ok(None);
        }
        (self.shown, self.samples) = (traced.number, traced.samples);
        Ok(Some(displayed(&job.session, &traced)?))
    }
}

/// The scene at the viewport's time, and its job.
fn begin(viewport: &Viewport) -> Result<(OpenScene, TraceJob), ViewError> {
    let mut session = viewport.session.clone();
    if let Some(time) = viewport.time().filter(|time| session.time() != Some(*time)) {
        let pose = session.camera.0;
        session.seek(time)?;
        if viewport.is_posed() {
            session.camera.0 = pose;
        }
    }
    // Both need the picture at full size.
    let mode = &mut session.physical_camera.dials.metering.mode;
    if matches!(mode, MeteringMode::Incident | MeteringMode::Spot) {
        *mode = MeteringMode::LogAverage;
    }
    let full = viewport.full_size();
    let divisor = full[0].max(full[1]).div_ceil(MAX_SIDE).max(1);
    let size = full.map(|side| (side / divisor).max(1) as usize);
    let exposed = expose::exposure_from_metering(&session, None)?;
    let settings = session.final_settings(&exposed, vec![])?;
    let job = TraceJob::new(Arc::clone(&session.scene), session.camera, &settings, size, SAMPLES);
    Ok((session, job))
}

/// The preview as displayed. It is metered itself if the exposure is automatic, and a gray card is
/// not read.
fn displayed(session: &OpenScene, traced: &TracedImage) -> Result<ColorImage, SessionError> {
    let nits: Vec<DVec3> = traced.nits.iter().map(|c| Vec3::from_array(*c).as_dvec3()).collect();
    let [width, height] = traced.size;
    let metered = if expose::is_adaptive(session) {
        expose::meter_pixels(session, &nits, (width, height), |_| 1.0)?
    } else {
        None
    };
    let ExposureState { exposure, .. } = expose::exposure_from_metering(session, metered)?;
    let white_balance = if session.physical_camera.dials.white_balance.gray_card.is_some() {
        Mat3::IDENTITY
    } else {
        expose::white_balance_from_pixels(session, &nits, width)?
    };
    let mapper = session.passes().tonemap.operator;
    let transform = ViewTransform { exposure, white_balance, mapper, dither: false };
    let bytes = transform.display(nits.into_iter(), width);
    // Alpha is 1 everywhere.
    Ok(ColorImage::from_rgba_premultiplied(traced.size, &bytes))
}
