//! The timeline of a look in a session: the look at a time, and the starts of segments.

use std::sync::Arc;

use glam::DVec3;

use super::{
    camera::choose_camera,
    error::SessionError,
    look_change::{LookChange, classify_change, relights},
    request::OpenRequest,
};
use crate::{
    scene::{
        Scene,
        address::AddressTable,
        animation::AnimationSelection,
        look::{
            Condition, Look, LookError, SAME_TIME, TimelineError, are_nearest, is_file_property,
            passes, segment_path,
        },
    },
    settings::DefaultLight,
};

/// Frames per second of keys in frames, where no sequence states another rate.
pub const DEFAULT_RATE: f64 = 24.0;

/// Maximum frame at which conditions are evaluated.
const MAX_STEP: u64 = 100_000;

/// What the values of a timeline change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimelineReach {
    /// Camera, effects, passes, or indirect light.
    Frame,
    /// Strength and color of lights: updated on the device.
    Lights,
    /// Other parts of the scene: uploaded again at each time.
    Scene,
}

/// The look's timeline in an open scene.
#[derive(Clone)]
pub struct TimedLook {
    /// The scene before any look.
    pub(super) base: Arc<Scene>,
    /// The look with its timeline.
    pub(super) look: Look,
    /// Frames per second of keys in frames and of conditions.
    pub(super) rate: f64,
    /// Time in s.
    pub(super) time: f64,
    /// What it changes.
    pub(super) reach: TimelineReach,
    /// Size (pixels) that metering positions in pixels refer to, if it is not the session's.
    pub full_size: Option<[u32; 2]>,
    /// The scene with the look and without its timeline, for conditions on the camera.
    rest: Option<(Arc<Scene>, AnimationSelection)>,
    /// Start of each segment (s).
    starts: Vec<Option<f64>>,
    /// Values of the properties of conditions at the last evaluated frame.
    before: Vec<Option<f64>>,
    /// The next frame at which conditions are evaluated.
    step: u64,
}

impl TimedLook {
    /// The timeline of a look for the scene before any look. `rest` is the scene with the look and
    /// without its timeline.
    pub(super) fn new(
        base: Arc<Scene>,
        look: Look,
        rate: f64,
        rest: (Arc<Scene>, AnimationSelection),
    ) -> Result<Self, SessionError> {
        look.timeline.check_order(rate)?;
        let segments = &look.timeline.segments;
        let nodes = AddressTable::nodes(&rest.0);
        for segment in segments {
            let Condition::Within { node, .. } = &segment.start else { continue };
            if nodes.find(node).is_empty() {
                let names = nodes.suggestions();
                let nearest = are_nearest(node, names.iter().map(String::as_str));
                let (segment, node) = (segment_path(&segment.name), node.clone());
                return Err(
                    LookError::from(TimelineError::UnknownNode { segment, node, nearest }).into()
                );
            }
        }
        let needs_rest =
            segments.iter().any(|segment| matches!(segment.start, Condition::Within { .. }));
        let reach = reach(&look, rate, &base)?;
        let rest = needs_rest.then_some(rest);
        let mut timed = Self {
            base,
            look,
            rate,
            time: 0.0,
            reach,
            full_size: None,
            rest,
            starts: Vec::new(),
            before: Vec::new(),
            step: 0,
        };
        timed.set_rate(rate);
        Ok(timed)
    }

    /// Frames per second of keys in frames, at which conditions are evaluated.
    #[must_use]
    pub const fn rate(&self) -> f64 {
        self.rate
    }

    /// Sets the frames per second, from the next seek on.
    pub fn set_rate(&mut self, rate: f64) {
        let start = |condition: &Condition| match condition {
            Condition::After(time) => Some(*time),
            Condition::Within { .. } | Condition::Passes { .. } => None,
        };
        let segments = &self.look.timeline.segments;
        self.starts = segments.iter().map(|segment| start(&segment.start)).collect();
        self.before = vec![None; segments.len()];
        (self.rate, self.step) = (rate, 0);
    }

    /// The look with its timeline; without the values of its tier.
    #[must_use]
    pub const fn look(&self) -> &Look {
        &self.look
    }

    /// Sets properties throughout the timeline, as `--set` does: `PATH=VALUE` each.
    pub(super) fn assign(&mut self, assignments: &[String]) -> Result<(), SessionError> {
        Ok(self.look.assign_all(assignments)?)
    }

    /// The look at a time in s, without a timeline; without the values of its tier.
    ///
    /// # Errors
    /// [`SessionError::Look`]: keys out of order at the rate, or conditions that cannot be
    /// evaluated up to the time.
    pub(super) fn look_at(
        &mut self,
        time: f64,
        request: &OpenRequest,
    ) -> Result<Look, SessionError> {
        self.look.timeline.check_order(self.rate)?;
        self.evaluate_conditions(time, request)?;
        // A start at this time, but for rounding.
        let round = |start: f64| if (start - time).abs() < SAME_TIME { time } else { start };
        let starts: Vec<_> = self.starts.iter().map(|start| start.map(round)).collect();
        Ok(self.look.at_time(time, self.rate, &starts)?)
    }

    /// Evaluates the conditions at the frames from 0 s to a time that have not been evaluated.
    fn evaluate_conditions(
        &mut self,
        time: f64,
        request: &OpenRequest,
    ) -> Result<(), SessionError> {
        let last = ((time + SAME_TIME) * self.rate).floor().max(0.0) as u64;
        while self.step <= last && self.starts.contains(&None) {
            if last > MAX_STEP {
                let error = TimelineError::TooLate { time, frame: last, max: MAX_STEP };
                return Err(LookError::from(error).into());
            }
            self.evaluate_step(self.step as f64 / self.rate, request)?;
            self.step += 1;
        }
        Ok(())
    }

    /// Evaluates the conditions at one time, with the segments that started before.
    fn evaluate_step(&mut self, time: f64, request: &OpenRequest) -> Result<(), SessionError> {
        let known = self.starts.clone();
        let waiting = self.look.timeline.segments.iter().enumerate();
        for (index, segment) in waiting.filter(|(index, _)| known.get(*index) == Some(&None)) {
            let starts = match &segment.start {
                Condition::After(_) => true,
                Condition::Within { distance, node } => {
                    self.camera_distance(node, time, &known, request)? <= *distance
                }
                Condition::Passes { path, value } => {
                    let now = self.look.timeline.number(path, time, self.rate, &known);
                    let before = self.before.get_mut(index);
                    let before = before.and_then(|before| std::mem::replace(before, now));
                    before.zip(now).is_some_and(|(before, now)| passes(before, now, *value))
                }
            };
            if let Some(start) = self.starts.get_mut(index).filter(|_| starts) {
                *start = Some(time);
            }
        }
        Ok(())
    }

    /// Distance (m) of the camera from the nearest node of an address at a time in s.
    fn camera_distance(
        &self,
        address: &str,
        time: f64,
        starts: &[Option<f64>],
        request: &OpenRequest,
    ) -> Result<f64, SessionError> {
        let Some((rest, play)) = &self.rest else { return Ok(f64::INFINITY) };
        let look = self.look.at_time(time, self.rate, starts)?;
        let mut posed = Scene {
            nodes: rest.nodes.clone(),
            roots: rest.roots.clone(),
            cameras: rest.cameras.clone(),
            ..Scene::default()
        };
        if rest.is_animated() {
            posed.apply(&rest.pose(play, time));
        }
        let worlds = posed.world_transforms();
        let place = |node: usize| worlds.get(node).copied().unwrap_or_default();
        let (name, _, world, _) = choose_camera(request, &look, &posed)?;
        let camera = match look.cameras.get(&name).filter(|camera| camera.is_added()) {
            // Placed by the timeline, in its parent's space.
            Some(added) => {
                let own = added.position.unwrap_or_default();
                let parents =
                    added.parent.as_deref().map(|of| AddressTable::nodes(&posed).find(of));
                let parent = parents.and_then(|nodes| nodes.first().copied());
                parent.map_or(own, |node| place(node).transform_point3(own))
            }
            None => world.w_axis.truncate(),
        };
        let nodes = AddressTable::nodes(&posed).find(address);
        let distances = nodes.into_iter().map(|node| {
            let origin: DVec3 = place(node).w_axis.truncate();
            origin.distance(camera)
        });
        Ok(distances.fold(f64::INFINITY, f64::min))
    }
}

/// What a timeline changes, by the values of its keys.
fn reach(look: &Look, rate: f64, base: &Scene) -> Result<TimelineReach, SessionError> {
    let rest = look.at_time(0.0, rate, &[])?;
    // Light that is added to a dark scene stands by the camera.
    let is_lit = rest
        .scene
        .default_light
        .map_or(!base.lights.is_empty(), |light| light == DefaultLight::None);
    let places_camera = |path: &str| {
        path.starts_with("cameras.")
            || path.strip_prefix("camera.").is_some_and(|property| !property.contains('.'))
    };
    if !is_lit && look.timeline.all_tracks().any(|track| places_camera(&track.path)) {
        return Ok(TimelineReach::Scene);
    }
    let mut reach = TimelineReach::Frame;
    for track in look.timeline.all_tracks() {
        let mut old = rest.clone();
        for key in &track.keys {
            if is_file_property(&track.path, &key.value) {
                return Ok(TimelineReach::Scene);
            }
            let mut new = old.clone();
            new.set(&track.path, &key.value)?;
            reach = reach.max(match classify_change(&old, &new) {
                LookChange::Scene if relights(&old, &new, base) => TimelineReach::Lights,
                LookChange::Scene => TimelineReach::Scene,
                LookChange::Nothing | LookChange::Frame | LookChange::Vpls => TimelineReach::Frame,
            });
            old = new;
        }
    }
    Ok(reach)
}

/// Checks that the scene has all items that a timeline's segments animate: they may start late.
pub(super) fn check_items(look: &Look, base: &Scene) -> Result<(), LookError> {
    let mut all = look.clone();
    for track in look.timeline.segments.iter().flat_map(|segment| &segment.tracks) {
        if let Some(key) = track.keys.first()
            && !is_file_property(&track.path, &key.value)
        {
            all.set(&track.path, &key.value)?;
        }
    }
    if !look.timeline.segments.is_empty() {
        all.with_tier()?.apply(&mut base.clone())?;
    }
    Ok(())
}
