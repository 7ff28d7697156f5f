//! Opening of scenes: reads the files, applies the look and selects the camera.

use std::sync::Arc;

use super::{
    camera::{choose_camera, chosen_look, mount_camera},
    error::SessionError,
    open_scene::OpenScene,
    plausibility,
    playback::Playback,
    request::OpenRequest,
    size::{SHAPES, Size, default_aspect_ratio, default_size, picture_aspect_ratio},
    source::read,
    timeline::{DEFAULT_RATE, TimedLook, TimelineReach, check_items},
};
use crate::{
    camera::{ExposureControl, ExposureMode},
    scene::{
        Scene,
        address::AddressTable,
        animation::AnimationSelection,
        defaults,
        emissive::{EmissiveLights, emissive_lights},
        inspect,
        look::{LightLook, Look, LookError, Timeline},
    },
    settings::{DefaultLight, ShadowMethod},
};

/// Opens a scene: reads scene and look, applies the look and selects the camera.
///
/// # Errors
///
/// [`SessionError::Import`] or [`SessionError::Look`] for unusable files or properties,
/// [`SessionError::InvalidRequest`] for an unknown camera, animation or built-in scene.
pub fn open(request: &OpenRequest) -> Result<OpenScene, SessionError> {
    let source = read(request)?;
    let mut look = Look::default();
    look.parse(&source.look_name, &source.look)?;
    look.assign_all(&request.set)?;
    open_read(request, source.scene, look, source.warnings)
}

/// Opens a scene as read: applies the look as [`apply_look`] does, with warnings about likely
/// mistakes in scene and look.
///
/// # Errors
///
/// As for [`apply_look`].
pub fn open_read(
    args: &OpenRequest,
    scene: Scene,
    look: Look,
    warnings: Vec<String>,
) -> Result<OpenScene, SessionError> {
    located(args, scene, look, (warnings, Checks::Plausibility))
}

/// Applies a look with the values of its tier to a scene as read, and selects the camera. Warnings
/// are appended to `warnings`.
///
/// # Errors
///
/// [`SessionError::Look`] for properties that contradict each other or the scene, with the place at
/// which the property is set; [`SessionError::InvalidRequest`] for an unknown camera.
pub fn apply_look(
    args: &OpenRequest,
    scene: Scene,
    look: Look,
    warnings: Vec<String>,
) -> Result<OpenScene, SessionError> {
    located(args, scene, look, (warnings, Checks::Skipped))
}

/// Checks for likely mistakes, which read all vertices and normal maps.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Checks {
    Plausibility,
    Skipped,
}

fn located(
    args: &OpenRequest,
    scene: Scene,
    look: Look,
    warnings: (Vec<String>, Checks),
) -> Result<OpenScene, SessionError> {
    let origins = look.origins.clone();
    let opened = if look.timeline.is_empty() {
        assemble(args, scene, look, (warnings, TimedBy::Animation))
    } else {
        assemble_timed(args, scene, look, warnings)
    };
    opened.map_err(|error| error.located(&origins))
}

/// What a time applies to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TimedBy {
    /// The scene's animations alone.
    Animation,
    /// The look's timeline too.
    Timeline,
}

/// As [`assemble`], for a look with a timeline, at the time of the request or 0 s.
fn assemble_timed(
    args: &OpenRequest,
    scene: Scene,
    look: Look,
    warnings: (Vec<String>, Checks),
) -> Result<OpenScene, SessionError> {
    check_items(&look, &scene)?;
    let time = args.time.unwrap_or(0.0);
    let base = Arc::new(scene);
    let at_rest = Look { timeline: Timeline::default(), ..look.clone() };
    let rest = rest_scene(args, &base, at_rest)?;
    let rate = args.fps.unwrap_or(DEFAULT_RATE);
    let mut timed = TimedLook::new(Arc::clone(&base), look, rate, rest)?;
    let look = timed.look_at(time, args)?;
    timed.time = time;
    let request = OpenRequest { time: Some(time), ..args.clone() };
    let opened = assemble(&request, Scene::clone(&base), look, (warnings, TimedBy::Timeline))?;
    Ok(OpenScene { request: args.clone(), timeline: Some(timed), ..opened })
}

/// The scene with a look applied, in its rest pose, and the animations to play.
fn rest_scene(
    args: &OpenRequest,
    base: &Scene,
    look: Look,
) -> Result<(Arc<Scene>, AnimationSelection), SessionError> {
    let look = look.with_tier()?;
    let mut scene = base.clone();
    look.apply(&mut scene)?;
    let play = chosen_animation(args, &look, &scene)?;
    Ok((Arc::new(scene), play))
}

fn assemble(
    args: &OpenRequest,
    mut scene: Scene,
    look: Look,
    ((mut warnings, checks), timed): ((Vec<String>, Checks), TimedBy),
) -> Result<OpenScene, SessionError> {
    let look = look.with_tier()?;
    // A scene whose lights are all switched off is dark on purpose: no default light.
    let had_lamps = look.lights.values().any(LightLook::add)
        || scene.walk().iter().any(|placed| placed.node.light.is_some());
    let before = scene.notes.len();
    let node_lights = inspect::node_lights(&scene);
    look.apply(&mut scene)?;
    warnings.extend(
        (scene.notes.iter().skip(before))
            .map(|note| format!("note: {}: {}", note.location, note.message)),
    );
    warnings.extend(look.notices());
    warnings.extend(look.environment.warning());
    warnings.extend(look.light_warnings());
    warnings.extend(scene.profile_warnings());
    warnings.extend(scene.material_warnings());
    let camera_look = chosen_look(args, &look, &scene)?;
    let physical_camera = camera_look.physical(look.effects);
    warnings.extend(physical_camera.lens_notes());
    let dials = &physical_camera.dials;
    warnings.extend(dials.note());
    warnings.extend(camera_look.stop_note(dials));
    if dials.control() == ExposureControl::Dials(ExposureMode::Manual) {
        dials.exposure()?;
    }
    if dials.white_balance.gray_card.is_none() {
        dials.white_balance.matrix(None)?;
    }
    warnings.extend(look.gi_warnings());
    warnings.extend(scene.water_warnings());
    if checks == Checks::Plausibility {
        let findings = plausibility::findings(&scene, &look, &node_lights);
        warnings.extend(findings.iter().map(ToString::to_string));
    }
    let shadows = look.passes.shadows.resolve();
    if shadows.method == ShadowMethod::Maps && shadows.enabled {
        let shaped = scene
            .walk()
            .iter()
            .filter_map(|placed| scene.lights.get(placed.node.light?))
            .any(|light| light.shadow && light.emitter().area().is_some());
        if shaped {
            let text = "passes.shadows.method = maps: shadow maps do not support area lights, which cast no shadows; use auto to trace them";
            warnings.push(text.into());
        }
    }
    let play = chosen_animation(args, &look, &scene)?;
    let start = args.time.or(args.is_sequence.then_some(0.0));
    let time = start.or(args.builtin()?.filter(|builtin| builtin.animated).map(|_| 0.0));
    let mut animated = match time {
        Some(time) if scene.is_animated() => {
            let rest = scene.clone();
            scene.apply(&rest.pose(&play, time));
            scene.bake();
            scene.time = time;
            Some(Playback { rest: Arc::new(rest), play, time, camera: None })
        }
        Some(_) if timed == TimedBy::Timeline => None,
        Some(_) => {
            let effect = match args.time {
                Some(_) => "--time has no effect",
                None => "--frames repeats the same scene",
            };
            warnings.push(format!("note: {} has no animation: {effect}", args.name()));
            None
        }
        None => None,
    };
    let (camera_name, camera, world, projection) = choose_camera(args, &look, &scene)?;
    if let Some(at) = camera_look.target.filter(|target| *target == world.w_axis.truncate()) {
        let expected = "this is the camera's own position; aim it at another point".into();
        let value = format!("{} {} {}", at.x, at.y, at.z);
        return Err(LookError::BadValue { path: "camera.target".into(), value, expected }.into());
    }
    animated.iter_mut().for_each(|animated| animated.camera = camera);
    let dark = !had_lamps && defaults::has_no_light(&scene);
    let fallback = if dark { DefaultLight::Studio } else { DefaultLight::None };
    let default_light = look.scene.default_light.unwrap_or(fallback);
    if default_light != DefaultLight::None {
        let before = scene.notes.len();
        defaults::add_lights(&mut scene, default_light, world);
        for note in scene.notes.iter().skip(before) {
            warnings.push(format!(
                "{} (--set scene.default_light=sun selects a sun, false none)",
                note.message
            ));
        }
    } else if !scene.emissive_lights && !had_lamps && scene.environment.is_none() {
        let text = "the scene has no lights, and emissive surfaces light nothing (scene.emissive_lights is false; --set \
                    scene.default_light=studio adds light)";
        warnings.push(text.into());
    }
    if scene.emissive_lights {
        let EmissiveLights { triangles, lights, merged } = emissive_lights(&scene);
        if merged > 0 {
            warnings.push(format!(
                "{triangles} emissive triangles light the scene as {} lights of the same flux; {merged} of these merge \
                 several triangles (scene.max_emissive_lights)",
                lights.len()
            ));
        }
    }
    let size = args.size.unwrap_or_else(|| default_size(&camera_look, &projection));
    let shape = default_aspect_ratio(&camera_look, &projection);
    if args.size.is_none() && camera_look.body.resolution.is_none() && !SHAPES.contains(&shape) {
        warnings.push(format!(
            "the camera's aspect ratio is {shape}, the picture's {:.1}; set another with --size",
            f64::from(size.width) / f64::from(size.height)
        ));
    }
    let default_aspect_ratio = picture_aspect_ratio(&camera_look, &projection);
    let (projection, effects, lens) = mount_camera(&physical_camera, projection, size, None)?;
    physical_camera.ghosts(lens.as_deref())?;
    let (request, camera, scene) = (args.clone(), (world, projection), Arc::new(scene));
    Ok(OpenScene {
        request,
        scene,
        look,
        camera_name,
        camera,
        size,
        default_aspect_ratio,
        fixed_resolution: camera_look.body.resolution.is_some(),
        physical_camera,
        effects,
        lens,
        playback: animated,
        timeline: None,
        warnings,
    })
}

/// The animations that `scene.animation` of the look selects.
fn chosen_animation(
    args: &OpenRequest,
    look: &Look,
    scene: &Scene,
) -> Result<AnimationSelection, SessionError> {
    match look.scene.animation.as_deref() {
        None | Some("auto") => Ok(AnimationSelection::Auto),
        Some("all") => Ok(AnimationSelection::All),
        Some(name) => scene.animation(name).map(AnimationSelection::Index).ok_or_else(|| {
            let names = AddressTable::from_names(
                scene.animations.iter().map(|animation| animation.name.as_str()),
            )
            .suggestions();
            let there = if names.is_empty() { "none".into() } else { names.join(", ") };
            let expected = format!("{} has no such animation; it has {there}", args.name());
            let (path, value) = ("scene.animation".into(), name.into());
            LookError::BadValue { path, value, expected }.into()
        }),
    }
}

impl OpenScene {
    /// Sets the time of a look with a timeline: applies the look with its values at that time.
    ///
    /// # Errors
    ///
    /// [`SessionError::Look`] if the look at that time cannot be applied.
    pub(super) fn seek_timeline(&mut self, time: f64) -> Result<(), SessionError> {
        let Some(timed) = &mut self.timeline else { return Ok(()) };
        let (look, reach) = (timed.look_at(time, &self.request)?, timed.reach);
        let base = Arc::clone(&timed.base);
        let origins = look.origins.clone();
        let located = |error: SessionError| error.located(&origins);
        if reach == TimelineReach::Frame {
            self.seek_pose(time);
            self.set_look(look, self.size).map_err(located)?;
            if let Some(animated) = &mut self.playback {
                animated.camera = choose_camera(&self.request, &self.look, &self.scene)?.1;
            }
        } else {
            let request = OpenRequest { time: Some(time), ..self.request.clone() };
            let parts = ((Vec::new(), Checks::Skipped), TimedBy::Timeline);
            let mut next = assemble(&request, Scene::clone(&base), look, parts).map_err(located)?;
            next.request = self.request.clone();
            if next.size != self.size {
                next.set_look(next.look.clone(), self.size)?;
            }
            next.warnings = std::mem::take(&mut self.warnings);
            next.timeline = self.timeline.take();
            *self = next;
        }
        if let Some(timed) = &mut self.timeline {
            timed.time = time;
        }
        self.adapt_positions();
        Ok(())
    }

    /// Makes metering positions in pixels refer to the full size, where the session renders
    /// another one.
    fn adapt_positions(&mut self) {
        let full_size = self.timeline.as_ref().and_then(|timed| timed.full_size);
        if let Some(size) = full_size {
            self.resize_positions(size);
        }
    }

    /// Makes metering positions in pixels refer to a size in pixels instead of the session's.
    pub fn resize_positions(&mut self, [width, height]: [u32; 2]) {
        let dials = &mut self.physical_camera.dials;
        dials.metering.position = dials.metering.position.resizable(width, height);
        let gray_card = dials.white_balance.gray_card;
        dials.white_balance.gray_card = gray_card.map(|at| at.resizable(width, height));
    }

    /// Replaces the look and the picture size of the same scene: camera, dials, effects and passes.
    /// Lights, environment and materials of the look must be unchanged.
    ///
    /// # Errors
    ///
    /// [`SessionError::Look`] if the lens cannot be set; the session is then unchanged.
    pub fn set_look(&mut self, look: Look, size: Size) -> Result<(), SessionError> {
        let look = look.with_tier()?;
        let (camera_name, _, world, projection) = choose_camera(&self.request, &look, &self.scene)?;
        let camera = look.camera_of(&camera_name);
        let default_aspect_ratio = picture_aspect_ratio(&camera, &projection);
        let physical_camera = camera.physical(look.effects);
        let (projection, effects, lens) = mount_camera(&physical_camera, projection, size, None)?;
        physical_camera.ghosts(lens.as_deref())?;
        self.default_aspect_ratio = default_aspect_ratio;
        self.fixed_resolution = camera.body.resolution.is_some();
        (self.camera_name, self.camera, self.effects, self.lens) =
            (camera_name, (world, projection), effects, lens);
        (self.look, self.physical_camera, self.size) = (look, physical_camera, size);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::scene::build::SceneBuilder;

    #[test]
    fn aspect_ratio_mismatch_is_reported() {
        let session = |aspect: f32, size: Option<Size>| {
            let mut builder = SceneBuilder::new("strip");
            builder.camera("Eye", DVec3::Z, DVec3::ZERO, 0.2, Some(aspect));
            let mut look = Look::default();
            look.scene.default_light = Some(DefaultLight::None);
            let request = OpenRequest { size, ..OpenRequest::default() };
            apply_look(&request, builder.build().unwrap(), look, vec![]).unwrap()
        };
        let told = |session: &OpenScene| {
            session.warnings.iter().filter(|warning| warning.contains("aspect ratio")).count()
        };
        assert_eq!(told(&session(10.0, None)), 0);
        let wide = session(20.0, None);
        assert_eq!(
            (wide.size, told(&wide)),
            (Size { width: 7200, height: 720 }, 1),
            "{:?}",
            wide.warnings
        );
        assert_eq!(told(&session(0.05, None)), 1);
        assert_eq!(told(&session(20.0, Some(Size { width: 100, height: 10 }))), 0);
    }
}
