//! Updates of an irradiance volume: which probes trace rays in a frame, and how much of their
//! results replaces the stored light (docs/irradiance-volumes.md, "Updates").

use crate::gpu::shader_structs::gi_probes::{
    PROBES_CLASSIFY, PROBES_FIRST, PROBES_RELOCATE, PROBES_TRACE_ALL, ProbeUpdateConstants,
};

/// Minimum number of rays of a probe in an update.
pub const MIN_RAYS: u32 = 32;
/// Maximum number of rays of a probe in an update; equal to that of gi_probe_blend.comp.
const MAX_RAYS: u32 = 256;
/// Sweeps over all probes that move them away from surfaces, after which their light starts again.
pub const RELOCATION_SWEEPS: u32 = 4;
/// Sweeps after a change in which probes without a surface nearby trace rays too.
const ALL_TRACE_SWEEPS: u32 = 16;
/// Sweeps whose light replaces that of the sweep before, after a change: each adds a bounce.
const FRAME_BOUNCES: u32 = 4;
const STILL_BOUNCES: u32 = 20;
/// Sweeps after a change until the volume has converged.
const FRAME_SWEEPS: u32 = 256;
/// Sweeps of a still, after those that move the probes.
pub const STILL_SWEEPS: u32 = 60;
/// Sweeps whose mean is the visibility, unless things move.
const VISIBILITY_SWEEPS: u32 = 40;
/// After the bounces, update `n` has the weight `BLEND / (n + BLEND)`: the mean forgets its first
/// terms, which lack bounces, by the third power of `n`.
const BLEND: f32 = 3.0;
/// Frames after a change within which another one counts as a continuing change: its updates
/// average some sweeps, since single ones are noisy.
const CONTINUING: u32 = 8;
/// Sweep of a mean after a continuing change, and of visibility after things have moved.
const CONTINUING_SWEEP: u32 = FRAME_BOUNCES + 3;

/// State of what the probes see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeScene {
    /// Changes with anything that the probes see.
    pub light: u64,
    /// Changes with the positions of surfaces.
    pub geometry: u64,
}

/// Whether frames follow the scene, or a still needs the converged light.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Frames,
    Still,
}

/// Progress of a volume.
#[derive(Clone, Debug)]
pub struct ProbeSchedule {
    scene: Option<ProbeScene>,
    mode: Mode,
    /// Sweeps since the start: seeds the rays.
    number: u32,
    /// Complete sweeps since the light changed.
    sweeps: u32,
    /// Complete sweeps that the visibility averages.
    visibility_sweeps: u32,
    /// Sweeps left that move the probes.
    relocation: u32,
    /// Next probe of the present sweep.
    next: u32,
    /// True if the scene changed within the present sweep, which then does not count.
    partial: bool,
    /// Updates since the last change.
    since_change: u32,
}

impl Default for ProbeSchedule {
    fn default() -> Self {
        Self {
            scene: None,
            mode: Mode::Frames,
            number: 0,
            sweeps: 0,
            visibility_sweeps: 0,
            relocation: RELOCATION_SWEEPS,
            next: 0,
            partial: false,
            since_change: u32::MAX,
        }
    }
}

/// Rays of a probe in an update, and probes of an update, for a budget of rays a frame.
#[must_use]
pub fn shares(probes: u32, budget: u32) -> (u32, u32) {
    let rays = (budget / probes.max(1) / MIN_RAYS * MIN_RAYS).clamp(MIN_RAYS, MAX_RAYS);
    (rays, (budget / rays).clamp(1, probes.max(1)))
}

impl ProbeSchedule {
    /// True if no update has run.
    #[must_use]
    pub const fn is_new(&self) -> bool {
        self.scene.is_none()
    }

    /// The next update of a moving view, if the volume has not converged.
    pub fn frame(
        &mut self,
        scene: ProbeScene,
        probes: u32,
        budget: u32,
    ) -> Option<ProbeUpdateConstants> {
        self.follow(scene);
        self.since_change = self.since_change.saturating_add(1);
        let converged = match self.mode {
            Mode::Frames => FRAME_SWEEPS,
            Mode::Still => STILL_SWEEPS,
        };
        (self.sweeps < converged).then(|| self.update(probes, budget))
    }

    /// The next updates of a still, at most `count`; none if it has the converged light. The first
    /// call starts again, so that a still does not depend on earlier frames.
    pub fn still(
        &mut self,
        scene: ProbeScene,
        (probes, budget): (u32, u32),
        count: usize,
    ) -> Vec<ProbeUpdateConstants> {
        if self.mode != Mode::Still || self.scene != Some(scene) {
            *self = Self { scene: Some(scene), mode: Mode::Still, ..Self::default() };
        }
        let mut updates = Vec::new();
        while updates.len() < count && self.sweeps < STILL_SWEEPS {
            updates.push(self.update(probes, budget));
        }
        updates
    }

    /// Restarts means that the scene's changes make stale.
    fn follow(&mut self, scene: ProbeScene) {
        let Some(before) = self.scene.replace(scene) else { return };
        if before == scene {
            return;
        }
        self.mode = Mode::Frames;
        // The sweep goes on where it is: changes in each frame must not leave probes out.
        self.partial = self.next > 0;
        let continuing = self.since_change < CONTINUING;
        self.since_change = 0;
        if before.geometry == scene.geometry && !continuing {
            self.sweeps = 0;
        } else {
            self.sweeps = self.sweeps.min(CONTINUING_SWEEP);
        }
        if before.geometry != scene.geometry {
            self.visibility_sweeps = self.visibility_sweeps.min(CONTINUING_SWEEP);
        }
    }

    fn update(&mut self, probes: u32, budget: u32) -> ProbeUpdateConstants {
        // The first sweep is whole, beyond any budget: no probe may be read that has no light.
        let (rays, each) =
            if self.number == 0 { (MIN_RAYS, probes) } else { shares(probes, budget) };
        let first = self.next.min(probes.saturating_sub(1));
        let count = each.min(probes - first);
        let bounces = match self.mode {
            Mode::Frames => FRAME_BOUNCES,
            Mode::Still => STILL_BOUNCES,
        };
        let relocates = self.relocation > 0;
        let still = self.mode == Mode::Still;
        let flags = [
            (self.number == 0, PROBES_FIRST),
            (relocates, PROBES_RELOCATE),
            (relocates || self.visibility_sweeps < VISIBILITY_SWEEPS, PROBES_CLASSIFY),
            (relocates || still || self.sweeps < ALL_TRACE_SWEEPS, PROBES_TRACE_ALL),
        ];
        let update = ProbeUpdateConstants {
            rotation: rotation(self.number),
            first,
            count,
            rays,
            number: self.number,
            blend: if relocates {
                1.0
            } else {
                BLEND / ((self.sweeps.saturating_sub(bounces)) as f32 + BLEND)
            },
            visibility_blend: match self.visibility_sweeps {
                _ if relocates => 1.0,
                sweeps if sweeps < VISIBILITY_SWEEPS => 1.0 / (sweeps as f32 + 1.0),
                _ => 0.0,
            },
            flags: flags.iter().filter(|(on, _)| *on).fold(0, |bits, (_, bit)| bits | bit),
            ..ProbeUpdateConstants::default()
        };
        self.next = first + count;
        if self.next >= probes {
            self.next = 0;
            self.number = self.number.wrapping_add(1);
            if std::mem::take(&mut self.partial) {
                return update;
            }
            if relocates {
                self.relocation -= 1;
            } else {
                self.sweeps = self.sweeps.saturating_add(1);
                self.visibility_sweeps = self.visibility_sweeps.saturating_add(1);
            }
        }
        update
    }
}

/// Rotation of a sweep's rays: a unit quaternion of three terms of a low-discrepancy sequence
/// (Roberts 2018, as in lib/noise.glsl; Shoemake 1992, "Uniform Random Rotations", Graphics Gems
/// III).
#[must_use]
pub fn rotation(number: u32) -> glam::Vec4 {
    let part = |step: f64| (0.5 + f64::from(number) * step).fract();
    let [a, b, c] = [0.819_172_513_4, 0.671_043_606_7, 0.549_700_477_9].map(part);
    let (low, high) = ((1.0 - a).sqrt(), a.sqrt());
    let (sin_b, cos_b) = (std::f64::consts::TAU * b).sin_cos();
    let (sin_c, cos_c) = (std::f64::consts::TAU * c).sin_cos();
    glam::DVec4::new(low * sin_b, low * cos_b, high * sin_c, high * cos_c).as_vec4()
}
