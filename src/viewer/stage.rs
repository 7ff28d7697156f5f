//! The scene on the device, kept up with the look: what changes is made anew, and the picture of a still view grows to the one
//! that `render` writes.

use std::{sync::Arc, time::Instant};

use glam::{DMat4, Mat3};

use super::ViewError;
use crate::{
    camera::ExposureMode,
    frame::{AntiAliasing, Aov, Pending, Picture, Renderer, Sample, Settings, Wanted},
    gpu::{Gpu, Image, ImageInfo, vk},
    graph::SharedImage,
    passes::GpuScene,
    scene::{
        Scene,
        look::{LightLook, Look, metering::ExposureControl},
    },
    studio::{
        self, Opened, Request, Size,
        expose::{self, Exposed},
    },
};

/// How long after the last movement a view counts as still (s): pictures on the way there are single frames.
const STILL_AFTER: f64 = 0.15;

/// Where a frame at full size takes longer than this (ms), moving views have fewer pixels.
const SLOW_MS: f64 = 80.0;

/// What a change of the look costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// Nothing.
    Nothing,
    /// The camera, its effects, the passes: the next frame has it.
    Camera,
    /// Lights, surroundings, materials: the scene is put on the device again.
    Scene,
}

/// The change from one look to another.
#[must_use]
pub fn change(old: &Look, new: &Look) -> Change {
    if old == new {
        return Change::Nothing;
    }
    let camera_of_new = Look {
        camera: new.camera.clone(),
        effects: new.effects.clone(),
        metering: new.metering.clone(),
        ..old.clone()
    };
    let passes_alike = |look: &Look| {
        // These decide what is uploaded.
        let p = &look.passes;
        (p.shadows, p.shadow_method, p.error_pixels, look.flares())
    };
    let with_passes = Look { passes: new.passes.clone(), ..camera_of_new };
    if with_passes == *new && passes_alike(old) == passes_alike(new) { Change::Camera } else { Change::Scene }
}

/// Whether lights shine otherwise and nothing else has changed that is on the device: no upload is needed.
fn relights(old: &Look, new: &Look, base: &Scene) -> bool {
    let beyond = Look { lights: old.lights.clone(), ..new.clone() };
    let (same, default) = (change(old, &beyond) <= Change::Camera, LightLook::default());
    let measured = base.lights.iter().any(|light| light.profile.is_some());
    let any_ies = |look: &Look| look.lights.values().any(|light| light.ies.is_some());
    let steady = measured || any_ies(old) || any_ies(new);
    let mut names = old.lights.keys().chain(new.lights.keys());
    let shines_alike = names.all(|name| {
        // Shining surfaces are geometry; profiles are numbered by the lights that have them.
        let shaped = base.walk().iter().any(|placed| {
            let light = placed.node.light.and_then(|light| base.lights.get(light));
            light.is_some_and(|light| {
                (light.name == *name || placed.node.name == *name) && light.emitter().area().is_some()
            })
        });
        let kept = |look: &Look| {
            let light = look.lights.get(name).unwrap_or(&default);
            LightLook {
                strength: None,
                kelvin: None,
                daylight: None,
                tint: None,
                inner: None,
                outer: None,
                enabled: if shaped || steady { light.enabled } else { None },
                ..light.clone()
            }
        };
        kept(old) == kept(new)
    });
    same && shines_alike && base.probes.is_empty()
}

/// A finished picture's further facts, for meters and scopes.
pub struct Finished {
    /// The picture in nits, with its exposure.
    pub picture: Picture,
    /// Frames that it is the mean of, and how many it will be.
    pub samples: [u32; 2],
    /// Its number: another one for each picture.
    pub number: u64,
}

/// The scene on the device.
pub struct Stage {
    gpu: Gpu,
    renderer: Renderer,
    base: Scene,
    remarks: Vec<String>,
    /// The scene with the look applied.
    pub opened: Opened,
    on_device: GpuScene,
    /// How pictures are exposed; none until the first.
    pub exposed: Option<Exposed>,
    white_balance: Mat3,
    /// The camera where the user has taken it; none is the look's own.
    pose: Option<DMat4>,
    /// The size of pictures wanted (pixels).
    size: [u32; 2],
    /// The picture on the device.
    shown: Option<Arc<SharedImage>>,
    pending: Option<(Pending, [u32; 2])>,
    /// The last picture.
    pub finished: Option<Finished>,
    /// Frames of the still view so far; 0 begins anew.
    still: u32,
    moved: Instant,
    /// Time of the last full frame, device and host (ms).
    pub frame_ms: f64,
    submitted: Instant,
    /// Frames at full size take too long to move by.
    slow: bool,
    /// Further outputs that the next pictures bring.
    pub aovs: Vec<Aov>,
    numbers: u64,
}

impl Stage {
    /// Puts a scene as it was read on the device.
    ///
    /// # Errors
    /// A look that does not fit the scene; out of memory; a lost device.
    pub fn new(
        gpu: &Gpu,
        request: &Request,
        scene: Scene,
        look: Look,
        remarks: Vec<String>,
    ) -> Result<Self, ViewError> {
        let opened = studio::dress(request, scene.clone(), look, remarks.clone())?;
        let mut renderer = Renderer::new(gpu)?;
        let on_device = opened.upload(&mut renderer)?;
        let size = [opened.size.width, opened.size.height];
        Ok(Self {
            gpu: gpu.clone(),
            renderer,
            base: scene,
            remarks,
            opened,
            on_device,
            exposed: None,
            white_balance: Mat3::IDENTITY,
            pose: None,
            size,
            shown: None,
            pending: None,
            finished: None,
            still: 0,
            moved: Instant::now(),
            frame_ms: 0.0,
            submitted: Instant::now(),
            slow: false,
            aovs: Vec::new(),
            numbers: 0,
        })
    }

    /// The scene before any look.
    #[must_use]
    pub fn base(&self) -> &Scene {
        &self.base
    }

    /// The picture on the device, for the interface to show.
    #[must_use]
    pub fn shown(&self) -> Option<&Arc<SharedImage>> {
        self.shown.as_ref()
    }

    /// Where the camera stands.
    #[must_use]
    pub fn pose(&self) -> DMat4 {
        self.opened.camera.0
    }

    /// Takes the camera elsewhere; none is back to the look's.
    pub fn set_pose(&mut self, pose: Option<DMat4>) {
        if let Some(pose) = pose.filter(|pose| self.opened.camera.0 != *pose) {
            self.opened.camera.0 = pose;
            self.touch();
        }
        self.pose = pose;
    }

    /// Something has changed: the picture begins anew.
    pub fn touch(&mut self) {
        self.still = 0;
        self.moved = Instant::now();
    }

    /// Follows the look.
    ///
    /// # Errors
    /// A look that does not fit the scene, which leaves all as it was; out of memory; a lost device.
    pub fn follow(&mut self, look: Look) -> Result<Change, ViewError> {
        let change = change(&self.opened.look, &look);
        if change == Change::Nothing {
            return Ok(change);
        }
        let size = Size { width: self.size[0], height: self.size[1] };
        if change == Change::Camera {
            self.opened.look_through(look, size)?;
        } else {
            let request = Request { size: Some(size), ..self.opened.request.clone() };
            let mut opened = studio::dress(&request, self.base.clone(), look, self.remarks.clone())?;
            self.settle()?;
            if relights(&self.opened.look, &opened.look, &self.base) {
                opened.relight(&self.gpu, &mut self.on_device)?;
            } else {
                self.on_device = opened.upload(&mut self.renderer)?;
            }
            // What was asked for stays without the window's size.
            opened.request = self.opened.request.clone();
            self.opened = opened;
        }
        if let Some(pose) = self.pose {
            self.opened.camera.0 = pose;
        }
        self.exposed = None;
        self.touch();
        Ok(change)
    }

    /// How many times fewer pixels a side pictures should have now: 2 while the view moves on a device that is too slow for all.
    #[must_use]
    pub fn coarseness(&self) -> u32 {
        if self.moving() && self.slow { 2 } else { 1 }
    }

    /// Whether the view has moved just now.
    #[must_use]
    pub fn moving(&self) -> bool {
        self.moved.elapsed().as_secs_f64() < STILL_AFTER
    }

    /// Another size of pictures (pixels).
    ///
    /// # Errors
    /// A lens that makes no picture of this shape.
    pub fn resize(&mut self, size: [u32; 2]) -> Result<(), ViewError> {
        let size = size.map(|side| side.max(1));
        if size == self.size {
            return Ok(());
        }
        let look = self.opened.look.clone();
        self.opened.look_through(look, Size { width: size[0], height: size[1] })?;
        if let Some(pose) = self.pose {
            self.opened.camera.0 = pose;
        }
        // Meters read again once the view stands still; a window's size is no movement.
        (self.size, self.still) = (size, 0);
        Ok(())
    }

    /// Waits for what is on its way.
    ///
    /// # Errors
    /// A lost device.
    pub fn settle(&mut self) -> Result<(), ViewError> {
        if let Some((pending, samples)) = self.pending.take() {
            let picture = self.renderer.collect(pending)?;
            self.frame_ms = self.submitted.elapsed().as_secs_f64() * 1e3;
            if !self.moving() {
                self.slow = self.frame_ms > SLOW_MS;
            }
            self.numbers += 1;
            self.finished = Some(Finished { picture, samples, number: self.numbers });
        }
        Ok(())
    }

    /// Whether another frame would change the picture.
    #[must_use]
    pub fn wants_frame(&self) -> bool {
        self.still < self.samples() || self.pending.is_some()
    }

    /// Frames of a still view.
    fn samples(&self) -> u32 {
        self.opened.still_samples().max(1)
    }

    /// Draws the next frame, if another would change the picture; true where one was sent off.
    ///
    /// # Errors
    /// Dials that give no exposure; out of memory; a lost device.
    pub fn draw(&mut self) -> Result<bool, ViewError> {
        self.settle()?;
        let of = self.samples();
        if self.still >= of {
            return Ok(false);
        }
        let moving = self.moving();
        let view = self.opened.view();
        self.renderer.check_size(&view)?;
        let by_hand = expose::control(&self.opened.look) == ExposureControl::Dials(ExposureMode::Manual);
        let exposed = match self.exposed {
            // A meter reads once the view has come to rest; what it read before holds on the way.
            Some(exposed) if moving || self.still > 0 || (by_hand && exposed.metered.is_some()) => exposed,
            _ => {
                let exposed = expose::exposure(&self.opened, &mut self.renderer, &self.on_device, &view, !moving)?;
                self.white_balance =
                    expose::white_balance(&self.opened, &mut self.renderer, &self.on_device, &view, exposed.exposure)?;
                exposed
            }
        };
        self.exposed = Some(exposed);
        let shown = self.target(&view)?;
        let settings = Settings {
            white_balance: self.white_balance,
            shown: Some(shown),
            ..self.opened.picture_settings(&exposed, self.aovs.clone())?
        };
        let scaled = matches!(settings.anti_aliasing, AntiAliasing::Temporal(temporal) if temporal.scale < 1.0);
        let number = if moving { 0 } else { self.still };
        if number == 0 && !moving {
            // A still picture is the same wherever the view has come from.
            self.renderer.cut();
        }
        // The frames that `Renderer::render_still` joins.
        let settings = if of > 1 && !scaled && !moving {
            let sample = Some(Sample { number, of });
            Settings { anti_aliasing: AntiAliasing::None, accumulate: Some(number), sample, ..settings }
        } else {
            settings
        };
        self.submitted = Instant::now();
        let pending = self.renderer.submit(&self.on_device, &view, &settings, Wanted::ALL)?;
        self.still = if moving { 0 } else { number + 1 };
        self.pending = Some((pending, [number + 1, of]));
        if self.frame_ms > SLOW_MS {
            // A software device: the picture in hand is worth more than one in flight.
            self.settle()?;
        }
        Ok(true)
    }

    /// The image that pictures of this size go to.
    fn target(&mut self, view: &crate::passes::View) -> Result<Arc<SharedImage>, ViewError> {
        if let Some(shown) = &self.shown {
            let info = shown.image().info();
            if (info.width, info.height) == (view.width, view.height) {
                return Ok(Arc::clone(shown));
            }
        }
        let usage =
            vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::COLOR_ATTACHMENT | vk::ImageUsageFlags::TRANSFER_SRC;
        let format = vk::Format::R8G8B8A8_UNORM;
        let info = ImageInfo { width: view.width, height: view.height, mips: 1, format, usage };
        let shown = SharedImage::new(Image::new(&self.gpu, "shown picture", info)?);
        self.shown = Some(Arc::clone(&shown));
        Ok(shown)
    }

    /// The matrix of the white balance.
    #[must_use]
    pub fn white_balance(&self) -> Mat3 {
        self.white_balance
    }

    /// The renderer, for readings that need pictures of their own.
    pub fn reader(&mut self) -> (&mut Renderer, &GpuScene, &Opened) {
        (&mut self.renderer, &self.on_device, &self.opened)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn look(settings: &[&str]) -> Look {
        let mut look = Look::default();
        for setting in settings {
            look.assign(setting).unwrap();
        }
        look
    }

    #[test]
    fn a_dial_costs_a_frame_and_a_lamp_an_upload() {
        let old = look(&["camera.lens.f_stop=8", "lights.Key.lumens=800"]);
        assert_eq!(change(&old, &old.clone()), Change::Nothing);
        for dial in ["camera.lens.f_stop=4", "effects.bloom.enabled=true", "passes.tonemap.operator=aces"] {
            assert_eq!(
                change(&old, &look(&["camera.lens.f_stop=8", "lights.Key.lumens=800", dial])),
                Change::Camera,
                "{dial}"
            );
        }
        for more in ["lights.Key.lumens=900", "passes.shadows.method=traced", "gi.enabled=true", "environment.lux=10"] {
            let new = look(&["camera.lens.f_stop=8", "lights.Key.lumens=800", more]);
            assert_eq!(change(&old, &new), Change::Scene, "{more}");
        }
    }
}
