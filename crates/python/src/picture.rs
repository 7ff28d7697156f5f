//! Pictures of either renderer, as `sunny16 render` writes them to an EXR.

use std::path::PathBuf;

use glam::Mat3;
use pyo3::prelude::*;
use sunny16::{
    cli::values::CliError,
    frame::Aov,
    gpu::{GpuError, Interrupt},
    image_io::RenderMetadata,
    reference::{Film, FilmSettings, PathSettings},
    session::{
        DEFAULT_RATE, OpenRequest, OpenScene, PathPicture, PathScene, PictureLayer,
        SequenceSettings, Session, SessionError, Size, expose::white_balance_from_pixels,
        metadata::DITHER, path_aovs, raster_aovs, raster_layers, reference,
    },
};

use crate::{job::Job, keep_device, take_device};

/// Samples a pixel of the path tracer without `spp`, as `--spp`.
const PATH_SAMPLES: u32 = 256;

/// Arguments of `sunny16.render`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Request {
    scene: Option<PathBuf>,
    look: Option<PathBuf>,
    no_look: bool,
    root: Option<PathBuf>,
    set: Vec<String>,
    size: Option<(u32, u32)>,
    camera: Option<String>,
    path_traced: bool,
    spp: Option<u32>,
    bounces: Option<u32>,
    seed: u32,
    time: Option<f64>,
    frame: Option<u32>,
    fps: Option<f64>,
    aov: Vec<String>,
    for_compare: bool,
    device: Option<String>,
}

/// A picture in nits.
pub struct Picture {
    /// Width and height in pixels.
    pub size: [usize; 2],
    /// The picture and its AOVs.
    pub layers: Vec<PictureLayer>,
    /// Metadata as JSON, as EXRs hold it.
    pub metadata: String,
    /// Warnings and notes of the scene and its look.
    pub warnings: Vec<String>,
}

impl Request {
    fn open(&self) -> OpenRequest {
        let samples = self.spp.filter(|_| !self.path_traced);
        let samples = samples.map(|spp| format!("passes.aa.samples={spp}"));
        OpenRequest {
            scene: self.scene.clone(),
            look: self.look.clone(),
            no_look: self.no_look,
            root: self.root.clone(),
            camera: self.camera.clone(),
            size: self.size.map(|(width, height)| Size { width, height }),
            set: self.set.iter().cloned().chain(samples).collect(),
            time: self.time,
            fps: self.fps,
            is_sequence: self.frame.is_some(),
        }
    }

    /// The sequence of the one picture.
    fn sequence(&self, opened: &OpenScene, aovs: Vec<Aov>) -> SequenceSettings {
        SequenceSettings {
            first: self.time.unwrap_or(0.0),
            fps: self.fps.unwrap_or(DEFAULT_RATE),
            numbers: vec![self.frame.unwrap_or(0)],
            warm_up: 0,
            samples: match self.frame {
                None => Some(opened.still_samples()),
                Some(_) => opened.sequence_samples(),
            },
            aovs,
            turntable: None,
        }
    }
}

/// Renders a picture.
pub fn render(request: &Request, job: &Job) -> Result<Picture, CliError> {
    // Invalid names are found before the scene is read.
    let raster = if request.path_traced { Vec::new() } else { raster_aovs(&request.aov)? };
    if request.path_traced {
        path_aovs(&request.aov)?;
    }
    let mut opened = sunny16::session::open(&request.open())?;
    job.check()?;
    let mut left_out = Vec::new();
    if request.for_compare {
        left_out = opened.leave_out_post_effects()?;
        left_out.retain(|name| *name != DITHER);
    }
    let warnings = opened.warnings.clone();
    let (layers, metadata, Size { width, height }) = match request.path_traced {
        true => path_traced(request, opened, job)?,
        false => rasterized(request, opened, raster, job)?,
    };
    let metadata =
        RenderMetadata { left_out: left_out.into_iter().map(Into::into).collect(), ..metadata };
    let metadata =
        serde_json::to_string(&metadata).map_err(|error| CliError::Internal(error.to_string()))?;
    Ok(Picture { size: [width as usize, height as usize], layers, metadata, warnings })
}

/// Layers, metadata and size.
type Drawn = (Vec<PictureLayer>, RenderMetadata, Size);

fn rasterized(
    request: &Request,
    opened: OpenScene,
    aovs: Vec<Aov>,
    job: &Job,
) -> Result<Drawn, CliError> {
    let device = request.device.as_deref();
    let renderer = take_device(device)?;
    let interrupt = Interrupt::new(renderer.gpu())?;
    let mut has_ghosts = opened.look.effects.has_ghosts();
    let mut session = Session::open(renderer, opened)?;
    job.set_interrupt(interrupt.clone());
    session.set_interrupt(interrupt);
    let drawn = draw(request, &mut session, aovs, job);
    job.set_interrupt(None);
    session.set_interrupt(None);
    session.reset_history();
    has_ghosts |= session.opened.look.effects.has_ghosts();
    if has_ghosts {
        // The selection of ghosts has a hysteresis from frame to frame, which the renderer keeps: a
        // picture must not depend on the one before.
        session.close()?;
    } else if !matches!(drawn, Err(SessionError::Gpu(GpuError::DeviceLost { .. }))) {
        keep_device(device, session.into_renderer())?;
    }
    // An interrupted frame has undefined contents.
    job.check()?;
    Ok(drawn?)
}

fn draw(
    request: &Request,
    session: &mut Session,
    aovs: Vec<Aov>,
    job: &Job,
) -> Result<Drawn, SessionError> {
    let exposed = session.determine_exposure(true)?;
    let white_balance = session.white_balance(exposed.exposure)?;
    let mut sequence = request.sequence(&session.opened, aovs);
    sequence.warm_up =
        session.opened.default_warm_up(&exposed, sequence.samples, &sequence.aovs)?;
    let samples = sequence.samples.unwrap_or(1);
    let mut drawn = None;
    let mut progress = |done: f64| {
        let text = match request.frame {
            None => format!("{:.0} of {samples} samples", done * f64::from(samples)),
            Some(number) => format!("frame {number}"),
        };
        job.report(done, text);
        job.check()
    };
    session.sequence(&sequence, (exposed, white_balance), &mut progress, |session, shot| {
        let opened = &session.opened;
        let metadata = opened.raster_metadata(shot.image.exposure, shot.white_balance, samples);
        drawn = Some((raster_layers(&shot.image, Mat3::IDENTITY), metadata, opened.size));
        Ok::<_, SessionError>(())
    })?;
    job.report(1.0, "done".into());
    drawn.ok_or_else(|| SessionError::Internal("the sequence has no picture".into()))
}

fn path_traced(request: &Request, mut opened: OpenScene, job: &Job) -> Result<Drawn, CliError> {
    let aovs = path_aovs(&request.aov)?;
    if let Some(number) = request.frame.filter(|number| *number > 0) {
        opened.seek(request.sequence(&opened, Vec::new()).time(number))?;
    }
    let settings = FilmSettings {
        path: PathSettings {
            bounces: request.bounces.unwrap_or(u32::MAX),
            ..PathSettings::default()
        },
        seed: request.seed,
        ..FilmSettings::default()
    };
    let scene = PathScene::new(&opened, settings, &job.canceled)?;
    let (width, height) = scene.size();
    let spp = request.spp.unwrap_or(PATH_SAMPLES);
    let mut film = Film::new(width, height, settings);
    match &scene.motion {
        Some(blur) => {
            let camera = (&opened, &scene.camera);
            reference::trace_motion_blur(&mut film, camera, blur, spp, &job.canceled);
        }
        None => {
            let of = (&scene.world, &scene.camera);
            reference::trace(&mut film, of, spp, &job.canceled, |film| {
                let done = film.samples();
                let text = format!("{done} of {spp} samples a pixel");
                job.report(f64::from(done) / f64::from(spp), text);
            });
        }
    }
    job.check()?;
    let exposure = scene.expose(&film)?.exposure;
    let nits = film.displayed(exposure.saturation_luminance());
    let white_balance = white_balance_from_pixels(&opened, &nits, width)?;
    let metadata = opened.path_metadata(exposure, white_balance, &film);
    let (world, camera) = (&scene.world, scene.camera.pinhole());
    let picture =
        PathPicture { session: &opened, world, camera, film: &film, nits: &nits, exposure };
    let layers = picture.layers(&aovs, (Mat3::IDENTITY, 1.0));
    job.report(1.0, "done".into());
    Ok((layers, metadata, opened.size))
}
