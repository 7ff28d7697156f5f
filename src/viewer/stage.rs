//! The scene as the window has it, kept up with the look: what changes is told to the engine, and the picture of a still view
//! grows to the one that `render` writes.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use glam::{DMat4, Mat3};

pub use super::engine::{Errand, Finished, Mixed, Outcome, Sequence, Task};
use super::{
    ViewError,
    engine::{Engine, Order},
};
use crate::{
    frame::Aov,
    passes::View,
    scene::{
        Projection, Scene,
        address::Things,
        look::{LightLook, Look},
    },
    studio::{self, Opened, Request, Size, expose::Exposed},
};

/// How long after the last movement a view counts as still: pictures on the way there are single frames.
const STILL_AFTER: Duration = Duration::from_millis(150);

/// Where a frame at full size takes longer than this (ms), moving views have fewer pixels: a half or a quarter a side.
const SLOW_MS: f64 = 80.0;

/// Fewer pixels a side than this many times are no picture any more.
const COARSEST: u32 = 4;

/// Where frames are shorter than this (ms), the window waits for the one that its hands have asked for.
const QUICK_MS: f64 = 40.0;

/// What takes longer is said.
const LONG: Duration = Duration::from_millis(400);

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
pub(super) fn relights(old: &Look, new: &Look, base: &Scene) -> bool {
    let beyond = Look { lights: old.lights.clone(), ..new.clone() };
    let (same, default) = (change(old, &beyond) <= Change::Camera, LightLook::default());
    let measured = base.lights.iter().any(|light| light.profile.is_some());
    let any_ies = |look: &Look| look.lights.values().any(|light| light.ies.is_some());
    let steady = measured || any_ies(old) || any_ies(new);
    let mut names = old.lights.keys().chain(new.lights.keys());
    let things = Things::lights(base);
    let shines_alike = names.all(|name| {
        // Shining surfaces are geometry; profiles are numbered by the lights that have them.
        let shaped = things.find(name).into_iter().any(|node| {
            let light = base.nodes.get(node).and_then(|node| base.lights.get(node.light?));
            light.is_some_and(|light| light.emitter().area().is_some())
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

/// The scene as the window has it; the engine draws it.
pub struct Stage {
    engine: Arc<Engine>,
    base: Arc<Scene>,
    remarks: Vec<String>,
    /// The scene with the look applied.
    pub opened: Opened,
    /// The camera where the user has taken it; none is the look's own.
    pose: Option<DMat4>,
    /// The size of pictures wanted (pixels), and how many times fewer a side than the window has room for.
    size: [u32; 2],
    coarseness: u32,
    /// The last picture.
    pub finished: Option<Arc<Finished>>,
    /// The wish that pictures answer, and the last that was sent.
    order: u64,
    sent: u64,
    moved: Option<Instant>,
    /// Whether time goes on.
    playing: Option<Instant>,
    /// The time shown (s), where the scene can be played.
    time: Option<f64>,
    /// Time of the last frame in full size (ms), and of the last one.
    full_ms: f64,
    /// Time of the last frame, device and host (ms).
    pub frame_ms: f64,
    /// How long the window waits for the picture that its hands have asked for; none goes by how long pictures take.
    patience: Option<Duration>,
    /// Further outputs that the next pictures bring.
    aovs: Vec<Aov>,
    /// Errands under way.
    errands: usize,
    /// The engine's first order of this stage: older pictures are of another scene.
    first: u64,
}

/// Orders are numbered across all scenes, so that no picture of another scene counts.
static ORDERS: AtomicU64 = AtomicU64::new(1);

/// A scene as it was read, dressed by its look: nothing of it is on a device yet.
pub struct Prepared {
    base: Arc<Scene>,
    opened: Opened,
    remarks: Vec<String>,
}

impl Prepared {
    /// Dresses a scene as it was read.
    ///
    /// # Errors
    /// A look that does not fit the scene.
    pub fn new(request: &Request, scene: Scene, look: Look, remarks: Vec<String>) -> Result<Self, ViewError> {
        // What can be played is: from its beginning, unless a time was asked for.
        let time = request.time.or(scene.is_animated().then_some(0.0));
        let request = Request { time, ..request.clone() };
        let opened = studio::dress(&request, scene.clone(), look, remarks.clone())?;
        Ok(Self { base: Arc::new(scene), opened, remarks })
    }
}

impl Stage {
    /// Shows a scene that was dressed; the engine puts it on the device.
    #[must_use]
    pub fn of(engine: &Arc<Engine>, prepared: Prepared) -> Self {
        let Prepared { base, opened, remarks } = prepared;
        let size = [opened.size.width, opened.size.height];
        let order = ORDERS.fetch_add(1, Ordering::Relaxed);
        let time = opened.animated.as_ref().map(|animated| animated.time);
        Self {
            engine: Arc::clone(engine),
            base,
            remarks,
            opened,
            pose: None,
            size,
            coarseness: 1,
            finished: None,
            order,
            sent: 0,
            moved: None,
            playing: None,
            time,
            full_ms: 0.0,
            frame_ms: 0.0,
            patience: None,
            aovs: Vec::new(),
            errands: 0,
            first: order,
        }
    }

    /// The scene before any look.
    #[must_use]
    pub fn base(&self) -> &Scene {
        &self.base
    }

    /// The nodes of the lights that an address of the look means: those of the file, else of the sky.
    #[must_use]
    pub fn light_nodes(&self, address: &str) -> Vec<usize> {
        let own = Things::lights(&self.base).find(address);
        if own.is_empty() { Things::lights(self.seen()).find(address) } else { own }
    }

    /// How the last picture was exposed; none before the first.
    #[must_use]
    pub fn exposed(&self) -> Option<&Exposed> {
        self.finished.as_ref().map(|finished| &finished.exposed)
    }

    /// The picture of what is wanted, where things move and it is at rest: its scene and camera are those of its moment.
    fn moment(&self) -> Option<(&Scene, (DMat4, Projection))> {
        self.opened.animated.as_ref()?;
        let finished = self.finished.as_ref().filter(|finished| finished.order == self.order)?;
        Some((finished.scene.as_deref()?, finished.camera))
    }

    /// The scene as it is seen.
    #[must_use]
    pub fn seen(&self) -> &Scene {
        self.moment().map_or(&self.opened.scene, |(scene, _)| scene)
    }

    /// Where the camera stands.
    #[must_use]
    pub fn pose(&self) -> DMat4 {
        self.moment().map_or(self.opened.camera.0, |(_, camera)| camera.0)
    }

    /// What the camera sees.
    #[must_use]
    pub fn view(&self) -> View {
        let (pose, projection) = self.moment().map_or(self.opened.camera, |(_, camera)| camera);
        View::new(pose, &projection, self.opened.size.width, self.opened.size.height)
    }

    /// Pixels of a picture at rest.
    #[must_use]
    pub fn full_size(&self) -> [u32; 2] {
        self.size.map(|side| side * self.coarseness)
    }

    /// Takes the camera elsewhere; none is back to the look's.
    pub fn set_pose(&mut self, pose: Option<DMat4>) {
        match pose {
            Some(pose) if self.opened.camera.0 != pose => {
                self.opened.camera.0 = pose;
                self.move_on();
            }
            None if self.pose.is_some() => {
                let look = self.opened.look.clone();
                // The look has stood here before: it fits.
                if self.opened.look_through(look, self.opened.size).is_ok() {
                    self.move_on();
                }
            }
            _ => {}
        }
        self.pose = pose;
    }

    /// Something has changed: the picture begins anew.
    pub fn touch(&mut self) {
        self.order = ORDERS.fetch_add(1, Ordering::Relaxed);
    }

    /// The view moves: single frames until it rests.
    pub fn move_on(&mut self) {
        self.moved = Some(Instant::now());
        self.touch();
    }

    /// Follows the look.
    ///
    /// # Errors
    /// A look that does not fit the scene, which leaves all as it was.
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
            let mut opened = studio::dress(&request, Scene::clone(&self.base), look, self.remarks.clone())?;
            // What was asked for stays without the window's size.
            opened.request = self.opened.request.clone();
            self.opened = opened;
        }
        if let Some(pose) = self.pose {
            self.opened.camera.0 = pose;
        }
        self.move_on();
        Ok(change)
    }

    /// How many times fewer pixels a side pictures should have now: more than one while the view moves on a device that is too
    /// slow for all.
    #[must_use]
    pub fn coarseness(&self) -> u32 {
        let fits = |fewer: &u32| self.full_ms / f64::from(fewer * fewer) < SLOW_MS;
        if self.moving() { [1, 2, 4].into_iter().find(fits).unwrap_or(COARSEST) } else { 1 }
    }

    /// Whether the view has moved just now, or things in it.
    #[must_use]
    pub fn moving(&self) -> bool {
        self.playing.is_some() || self.moved.is_some_and(|moved| moved.elapsed() < STILL_AFTER)
    }

    /// Another size of pictures (pixels), so many times fewer a side than the window has.
    ///
    /// # Errors
    /// A lens that makes no picture of this shape.
    pub fn resize(&mut self, size: [u32; 2], coarseness: u32) -> Result<(), ViewError> {
        let size = size.map(|side| side.max(1));
        if (size, coarseness) == (self.size, self.coarseness) {
            return Ok(());
        }
        if size != self.size {
            let look = self.opened.look.clone();
            self.opened.look_through(look, Size { width: size[0], height: size[1] })?;
            if let Some(pose) = self.pose {
                self.opened.camera.0 = pose;
            }
        }
        (self.size, self.coarseness) = (size, coarseness);
        self.touch();
        Ok(())
    }

    /// Waits so long at most, in each frame, for the picture that its hands have asked for; none goes by how long pictures take: where
    /// that is short, so that each frame shows what was done in it, and not at all where the window would stand still.
    pub fn wait_at_most(&mut self, patience: Option<Duration>) {
        self.patience = patience;
    }

    /// Further outputs that pictures bring from now on.
    pub fn bring(&mut self, aovs: Vec<Aov>) {
        if self.aovs != aovs {
            self.aovs = aovs;
            self.touch();
        }
    }

    /// The time shown (s); none where nothing can be played.
    #[must_use]
    pub fn time(&self) -> Option<f64> {
        self.time
    }

    /// Whether time goes on.
    #[must_use]
    pub fn plays(&self) -> bool {
        self.playing.is_some()
    }

    /// Lets time go on, or stops it.
    pub fn play(&mut self, plays: bool) {
        let plays = plays && self.time.is_some();
        self.playing = plays.then(Instant::now);
        self.touch();
    }

    /// Goes to a time (s).
    pub fn go_to(&mut self, time: f64) {
        if self.time.is_some_and(|now| now != time) {
            self.time = Some(time);
            self.move_on();
        }
    }

    /// Whether another frame is on its way or would change the picture.
    #[must_use]
    pub fn wants_frame(&self) -> bool {
        let whole = |finished: &Arc<Finished>| {
            finished.order == self.order && finished.still && finished.samples[0] == finished.samples[1]
        };
        let over = self.sent == self.order && self.engine.given_up(self.order);
        self.playing.is_some() || self.errands > 0 || !(over || self.finished.as_ref().is_some_and(whole))
    }

    /// When the window should look again by itself, beside the engine's own calls.
    #[must_use]
    pub fn rests_in(&self) -> Option<Duration> {
        let left = STILL_AFTER.saturating_sub(self.moved?.elapsed());
        (!left.is_zero()).then_some(left)
    }

    /// What the engine does for longer than one notices.
    #[must_use]
    pub fn task(&self) -> Option<(Task, Duration)> {
        self.engine.task().filter(|(_, since)| *since > LONG)
    }

    /// Tells the engine what is wanted, and takes what it has; true where the picture is another one.
    ///
    /// # Errors
    /// What the engine met since: dials that give no exposure; out of memory; a lost device.
    pub fn draw(&mut self) -> Result<bool, ViewError> {
        let answered = self.finished.as_ref().is_some_and(|finished| finished.order == self.order)
            || (self.sent == self.order && self.engine.given_up(self.order));
        if answered && let (Some(since), Some(time)) = (self.playing, &mut self.time) {
            // The next moment is wanted when the last is shown: slow devices skip, they do not fall behind.
            *time += since.elapsed().as_secs_f64();
            self.playing = Some(Instant::now());
            self.touch();
        }
        if self.sent != self.order {
            let rest = if self.playing.is_some() { Some(Instant::now()) } else { self.moved };
            self.engine.send(Order {
                number: self.order,
                base: Arc::clone(&self.base),
                opened: self.opened.clone(),
                time: self.time,
                pose: self.pose,
                still_at: rest.map_or_else(Instant::now, |moved| moved + STILL_AFTER),
                full: self.coarseness == 1,
                aovs: self.aovs.clone(),
            });
            self.sent = self.order;
            // A device that is quick enough shows in this very frame what the hands have just done.
            let quick = self.frame_ms < QUICK_MS;
            let most = quick.then(|| Duration::from_secs_f64((2.0 * self.frame_ms + 5.0) / 1e3));
            if let Some(most) = self.patience.or(most) {
                self.engine.wait(self.order, |_| true, most);
            }
        }
        self.receive()
    }

    /// Takes what the engine has.
    fn receive(&mut self) -> Result<bool, ViewError> {
        let news = self.engine.finished().filter(|finished| finished.order >= self.first);
        let old = self.finished.as_ref().map(|finished| finished.number);
        let another = news.as_ref().is_some_and(|finished| Some(finished.number) != old);
        if another && let Some(finished) = news {
            self.frame_ms = finished.frame_ms;
            let pixels = finished.picture.width * finished.picture.height;
            let whole = f64::from(self.size[0] * self.coarseness) * f64::from(self.size[1] * self.coarseness);
            // Fewer pixels cost in proportion, and something beside; only full pictures tell truly.
            let full = (pixels as f64 / whole.max(1.0)) > 0.9;
            if full || self.full_ms == 0.0 {
                self.full_ms = finished.frame_ms;
            }
            self.finished = Some(finished);
        }
        match self.engine.error() {
            Some(error) => Err(error),
            None => Ok(another),
        }
    }

    /// Waits for a picture of what is wanted, or for the whole of it.
    ///
    /// # Errors
    /// What the engine met.
    pub fn settle(&mut self, whole: bool) -> Result<(), ViewError> {
        loop {
            self.draw()?;
            let holds = |finished: &Finished| !whole || (finished.still && finished.samples[0] == finished.samples[1]);
            let order = self.order;
            if self.finished.as_ref().is_some_and(|finished| finished.order == order && holds(finished)) {
                return Ok(());
            }
            if self.engine.given_up(order) {
                return self.receive().map(|_| ());
            }
            self.engine.wait(order, holds, Duration::from_secs(1));
        }
    }

    /// Has something done beside the picture; `outcomes` brings what became of it.
    pub fn send_on(&mut self, errand: Errand) {
        self.errands += 1;
        self.engine.send_on(self.first, errand);
    }

    /// Ends the errand under way, soon.
    pub fn cancel(&self) {
        self.engine.cancel();
    }

    /// What became of errands, each once.
    pub fn outcomes(&mut self) -> Vec<Outcome> {
        let outcomes = self.engine.outcomes(self.first);
        self.errands = self.errands.saturating_sub(outcomes.len());
        outcomes
    }

    /// The wish that pictures answer now.
    #[must_use]
    pub fn order(&self) -> u64 {
        self.order
    }

    /// The matrix of the last picture's white balance.
    #[must_use]
    pub fn white_balance(&self) -> Mat3 {
        self.finished.as_ref().map_or(Mat3::IDENTITY, |finished| finished.white_balance)
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
