//! A session: a scene with its look applied, its camera and its exposure. All commands and the
//! look-dev window open scenes here, so that they show the same picture and the same readings.

pub mod expose;
mod exposure_state;
pub mod preview;
mod raster_limits;

use std::{
    ops::RangeInclusive,
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
};

use glam::{DMat4, DVec3};

use self::exposure_state::ExposureState;
use crate::{
    camera::{CameraEffects, Exposure, metering::SolvedExposure, post_effects::MotionBlur},
    frame::{Aov, RenderSettings, Renderer},
    gpu::{Gpu, GpuError, GpuResult},
    gpu_scene::{GpuScene, LodGeneration, View},
    optics::MountedLens,
    scene::{
        NoteKind, Projection, Scene,
        address::AddressTable,
        animation::{AnimationSelection, Trs},
        defaults,
        emissive::{EmissiveLights, emissive_lights},
        gltf::{self, ImportError},
        look::{Look, LookError},
        procedural::{self, BuiltinScene},
    },
    settings::{AntiAliasing, GiSettings, PassesSettings, ShadowMethod, SsrSettings},
};

/// Request to open a scene: files, camera, picture size, look overrides and time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpenRequest {
    /// A .glb or .gltf file, or a built-in scene as `builtin:NAME` (default: the built-in still
    /// life).
    pub scene: Option<PathBuf>,
    /// Look file (default: NAME.look.toml beside the scene, if it exists).
    pub look: Option<PathBuf>,
    /// Root folder of the files that the scene may reference (default: the scene's folder, or the
    /// working directory if that contains it).
    pub root: Option<PathBuf>,
    /// Camera by its address (`scene::address`). Default: the look's, else the file's first, else
    /// one framed on the scene.
    pub camera: Option<String>,
    /// Picture size in pixels (default: the look's resolution, else a height of 720).
    pub size: Option<Size>,
    /// Overrides of look properties, as PATH=VALUE.
    pub set: Vec<String>,
    /// Animation time in s; `None` is the scene at rest.
    pub time: Option<f64>,
}

/// Error of opening, exposing or rendering a session.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The request contradicts the scene or the look, or names something that does not exist.
    #[error("{0}")]
    InvalidRequest(String),
    /// The scene file cannot be imported.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// The look cannot be read or applied.
    #[error(transparent)]
    Look(#[from] LookError),
    /// A Vulkan error.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// A bug in this program.
    #[error("{0}")]
    Internal(String),
}

/// Picture size in pixels; parses from `WIDTHxHEIGHT`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let oops = || {
            format!(
                "invalid size '{text}': expected WIDTHxHEIGHT in pixels, each at least 1, e.g. 640x360"
            )
        };
        let (width, height) = text.split_once(['x', 'X']).ok_or_else(oops)?;
        let side = |text: &str| text.parse::<u32>().ok().filter(|&side| side > 0).ok_or_else(oops);
        Ok(Self { width: side(width)?, height: side(height)? })
    }
}

/// A scene with its look applied, its camera and its picture size. Clones share the scene.
#[derive(Clone)]
pub struct Session {
    /// The request that opened the session.
    pub request: OpenRequest,
    /// The scene at the playback time, with the look applied.
    pub scene: Arc<Scene>,
    /// The look.
    pub look: Look,
    /// Name of the camera; its address or a description if it has none.
    pub camera_name: String,
    /// Camera-to-world transform (m; the camera looks down -Z) and projection.
    pub camera: (DMat4, Projection),
    /// Picture size in pixels.
    pub size: Size,
    /// Camera effects.
    pub effects: CameraEffects,
    /// The lens of the look's prescription, with its dials set.
    pub lens: Option<Arc<MountedLens>>,
    /// Animation playback; `None` for a scene at rest.
    pub playback: Option<Playback>,
    /// Warnings and notes for the user, one each.
    pub warnings: Vec<String>,
}

/// Animation playback state.
#[derive(Clone)]
pub struct Playback {
    /// The scene at rest, with the look applied.
    rest: Arc<Scene>,
    play: AnimationSelection,
    /// Time in s.
    pub time: f64,
    /// Node of the active camera; `None` for a framed camera.
    camera: Option<usize>,
}

/// Samples a pixel of a still picture with temporal anti-aliasing (docs/anti-aliasing.md has the
/// error by sample count).
const STILL_SAMPLES: f64 = 16.0;

impl OpenRequest {
    /// Name of the scene for messages.
    #[must_use]
    pub fn name(&self) -> String {
        self.scene
            .as_ref()
            .map_or_else(|| "the built-in still life".into(), |path| path.display().to_string())
    }

    /// The requested built-in scene; `None` for a file.
    ///
    /// # Errors
    ///
    /// [`SessionError::InvalidRequest`] for an unknown built-in scene.
    pub fn builtin(&self) -> Result<Option<BuiltinScene>, SessionError> {
        let Some(path) = &self.scene else { return Ok(BuiltinScene::named("still_life")) };
        if path.as_os_str() == "petals" && !path.exists() {
            return Ok(BuiltinScene::named("petals"));
        }
        let Some(name) = path.to_str().and_then(|path| path.strip_prefix(procedural::PREFIX))
        else {
            return Ok(None);
        };
        BuiltinScene::named(name).map(Some).ok_or_else(|| {
            let there: Vec<String> = (BuiltinScene::ALL.iter())
                .map(|builtin| {
                    format!("{}{} ({})", procedural::PREFIX, builtin.name, builtin.about)
                })
                .collect();
            SessionError::InvalidRequest(format!(
                "unknown built-in scene '{name}': expected one of {}",
                there.join(", ")
            ))
        })
    }
}

/// A scene as read, before its look is applied.
pub struct SceneSource {
    /// The scene.
    pub scene: Scene,
    /// Text of the look (TOML); empty if there is none.
    pub look: String,
    /// Name of the look in messages; relative paths in the look start from its folder.
    pub look_name: String,
    /// The look file; `None` for a built-in scene's look and if no file exists.
    pub look_file: Option<PathBuf>,
    /// Warnings about the scene file.
    pub warnings: Vec<String>,
}

/// Path of the look file that belongs to a scene file: `NAME.look.toml` beside it, or a file whose
/// name differs only in case. The file may not exist.
#[must_use]
pub fn default_look_path(scene: &Path) -> PathBuf {
    let usual = scene.with_extension("look.toml");
    if usual.exists() {
        return usual;
    }
    let folder =
        scene.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let wanted = usual.file_name().unwrap_or_default();
    let mut names =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    names
        .find(|name| name.eq_ignore_ascii_case(wanted))
        .map_or_else(|| usual.clone(), |name| usual.with_file_name(name))
}

/// Imports a scene file; referenced files must lie below `root` (default: see
/// [`OpenRequest::root`]).
///
/// # Errors
///
/// [`SessionError::Import`] if the file cannot be imported, [`SessionError::InvalidRequest`] if
/// `root` does not contain it.
pub fn import(scene: &Path, root: Option<&Path>) -> Result<Scene, SessionError> {
    let folder = match root.map(Path::to_path_buf).or_else(|| working_root(scene)) {
        // A missing scene file is reported by the import below.
        Some(root) if scene.exists() => gltf::Folder::within(scene, &root)
            .map_err(|what| SessionError::InvalidRequest(format!("--root: {what}")))?,
        _ => gltf::Folder::of(scene),
    };
    Ok(gltf::load_from(scene, &folder)?)
}

/// The working directory as root folder, if it contains the scene. A folder that contains the home
/// directory is not used.
fn working_root(scene: &Path) -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let wide = here.parent().is_none()
        || home.is_none_or(|home| gltf::contains(&here, &home.join("scene")));
    (!wide && gltf::contains(&here, scene)).then_some(here)
}

/// Reads the scene file or generates the built-in scene, with the text of its look.
///
/// # Errors
///
/// [`SessionError::Import`] or [`SessionError::Look`] for unusable files,
/// [`SessionError::InvalidRequest`] for an unknown built-in scene.
pub fn read(request: &OpenRequest) -> Result<SceneSource, SessionError> {
    if let Some(builtin) = request.builtin()? {
        if let Some(root) = &request.root {
            let what =
                format!("--root {}: {} has no files; omit --root", root.display(), request.name());
            return Err(SessionError::InvalidRequest(what));
        }
        let (scene, text) =
            builtin.make().map_err(|error| SessionError::Internal(error.to_string()))?;
        let (look, look_name) = match &request.look {
            Some(file) => (Look::text_of(file)?, file.display().to_string()),
            None => (text, format!("{}.look.toml", builtin.name)),
        };
        return Ok(SceneSource {
            scene,
            look,
            look_name,
            look_file: request.look.clone(),
            warnings: Vec::new(),
        });
    }
    let Some(path) = &request.scene else {
        return Err(SessionError::Internal("no scene is named".into()));
    };
    let beside = default_look_path(path);
    let look_file = request.look.clone().or_else(|| beside.is_file().then(|| beside.clone()));
    let look = look_file.as_deref().map(Look::text_of).transpose()?.unwrap_or_default();
    let look_name = look_file.as_deref().unwrap_or(&beside).display().to_string();
    let scene = import(path, request.root.as_deref())?;
    let worth_saying: Vec<_> =
        scene.notes.iter().filter(|note| note.kind != NoteKind::Info).collect();
    let mut warnings = Vec::new();
    if !worth_saying.is_empty() {
        let (name, count) = (path.display(), worth_saying.len());
        let mut text =
            format!("{name}: {count} warnings (`sunny16 inspect {name}` lists all); the first:");
        for note in worth_saying.iter().take(3) {
            text += &format!("\n  {:?} {}: {}", note.kind, note.location, note.message);
        }
        warnings.push(text);
    }
    Ok(SceneSource { scene, look, look_name, look_file, warnings })
}

/// Opens a scene: reads scene and look, applies the look and selects the camera.
///
/// # Errors
///
/// [`SessionError::Import`] or [`SessionError::Look`] for unusable files or properties,
/// [`SessionError::InvalidRequest`] for an unknown camera, animation or built-in scene.
pub fn open(request: &OpenRequest) -> Result<Session, SessionError> {
    let source = read(request)?;
    let mut look = Look::default();
    look.parse(&source.look_name, &source.look)?;
    for assignment in &request.set {
        look.assign(assignment)?;
    }
    apply_look(request, source.scene, look, source.warnings)
}

/// Applies a look to a scene as read, and selects the camera. Warnings are appended to `warnings`.
///
/// # Errors
///
/// [`SessionError::Look`] for properties that contradict each other or the scene,
/// [`SessionError::InvalidRequest`] for an unknown camera or animation.
pub fn apply_look(
    args: &OpenRequest,
    mut scene: Scene,
    look: Look,
    mut warnings: Vec<String>,
) -> Result<Session, SessionError> {
    // A scene whose lights are all switched off is dark on purpose: no default light.
    let had_lamps = scene.walk().iter().any(|placed| placed.node.light.is_some());
    let before = scene.notes.len();
    look.apply(&mut scene)?;
    warnings.extend(
        scene.notes.iter().skip(before).map(|note| format!("{}: {}", note.location, note.message)),
    );
    warnings.extend(look.notices());
    warnings.extend(look.environment.warning());
    warnings.extend(look.light_warnings());
    warnings.extend(scene.profile_warnings());
    warnings.extend(scene.material_warnings());
    warnings.extend(look.lens_warnings());
    warnings.extend(look.gi.warnings());
    warnings.extend(scene.water_warnings());
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
    let time = args.time.or(args.builtin()?.filter(|builtin| builtin.animated).map(|_| 0.0));
    let mut animated = match time {
        Some(time) if scene.is_animated() => {
            let rest = scene.clone();
            scene.apply(&rest.pose(&play, time));
            scene.bake();
            scene.time = time;
            Some(Playback { rest: Arc::new(rest), play, time, camera: None })
        }
        Some(_) => {
            warnings.push(format!("{} has no animation: --time has no effect", args.name()));
            None
        }
        None => None,
    };
    let (camera_name, camera, world, projection) = choose_camera(args, &look, &scene)?;
    if let Some(at) = look.camera.target.filter(|target| *target == world.w_axis.truncate()) {
        return Err(SessionError::InvalidRequest(format!(
            "camera.target = {} {} {} is the camera's own position; aim it at another point",
            at.x, at.y, at.z
        )));
    }
    animated.iter_mut().for_each(|animated| animated.camera = camera);
    let dark = !had_lamps && defaults::has_no_light(&scene);
    if look.scene.default_light.unwrap_or(dark) {
        let before = scene.notes.len();
        defaults::add_lights(&mut scene, world);
        for note in scene.notes.iter().skip(before) {
            warnings
                .push(format!("{} (--set scene.default_light=false disables it)", note.message));
        }
    } else if !scene.emissive_lights && !had_lamps && scene.environment.is_none() {
        let text = "the scene has no lights, and emissive surfaces light nothing (scene.emissive_lights is false; --set \
                    scene.default_light=true adds a sun)";
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
    let size = args.size.unwrap_or_else(|| default_size(&look, &projection));
    let shape = default_aspect_ratio(&look, &projection);
    if args.size.is_none() && look.camera.rig.resolution.is_none() && !SHAPES.contains(&shape) {
        warnings.push(format!(
            "the camera's aspect ratio is {shape}, the picture's {:.1}; set another with --size",
            f64::from(size.width) / f64::from(size.height)
        ));
    }
    let (projection, effects, lens) = mount_camera(&look, projection, size, None)?;
    look.ghosts(lens.as_deref())?;
    let (request, camera, scene) = (args.clone(), (world, projection), Arc::new(scene));
    Ok(Session {
        request,
        scene,
        look,
        camera_name,
        camera,
        size,
        effects,
        lens,
        playback: animated,
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
            SessionError::InvalidRequest(format!(
                "scene.animation = {name}: {} has no such animation; it has {there}",
                args.name()
            ))
        }),
    }
}

/// Projection, effects, and the prescription's lens if there is one.
type MountedCamera = (Projection, CameraEffects, Option<Arc<MountedLens>>);

/// Projection and effects of the look's lens; a focal length replaces the file's field of view.
/// `mounted` is the prescription's lens if it is already set for this look and size.
fn mount_camera(
    look: &Look,
    mut projection: Projection,
    size: Size,
    mounted: Option<Arc<MountedLens>>,
) -> Result<MountedCamera, SessionError> {
    let Projection::Perspective { vertical_fov, aspect, .. } = &mut projection else {
        return Ok((projection, look.effects(None, [size.width, size.height])?, None));
    };
    if !look.needs_lens() {
        return Ok((projection, look.effects(None, [size.width, size.height])?, None));
    }
    let shown = f64::from(size.width) / f64::from(size.height);
    let camera = &look.camera;
    let mounted = match mounted {
        Some(mounted) => Some(mounted),
        None => look.mounted_lens(shown)?.map(Arc::new),
    };
    if let Some(mounted) = mounted {
        let rig = camera.rig.mounted_rig(camera.f_stop, &mounted)?;
        *vertical_fov = rig.vertical_fov() as f32;
        *aspect = Some(shown as f32);
        let effects = look.effects_with_mounted_lens(
            &mounted,
            look.effects(Some(&rig), [size.width, size.height])?,
        )?;
        return Ok((projection, effects, Some(mounted)));
    }
    let rig = camera.rig.rig(camera.f_stop, f64::from(*vertical_fov), shown)?;
    if camera.rig.focal_length.is_some() {
        *vertical_fov = rig.vertical_fov() as f32;
        *aspect = Some(shown as f32);
    }
    Ok((projection, look.effects(Some(&rig), [size.width, size.height])?, None))
}

fn default_size(look: &Look, projection: &Projection) -> Size {
    if let Some([width, height]) = look.camera.rig.resolution {
        return Size { width, height };
    }
    Size {
        width: (720.0
            * default_aspect_ratio(look, projection).clamp(*SHAPES.start(), *SHAPES.end()))
        .round() as u32,
        height: 720,
    }
}

/// Range of aspect ratios (width / height) of pictures without an explicit size.
const SHAPES: RangeInclusive<f32> = 0.1..=10.0;

/// Aspect ratio (width / height) of the camera.
fn default_aspect_ratio(look: &Look, projection: &Projection) -> f32 {
    let rig = &look.camera.rig;
    let sensor = rig.sensor.filter(|_| rig.focal_length.is_some() || rig.prescription.is_some());
    match *projection {
        // With a lens, the picture has the sensor's aspect ratio.
        _ if sensor.is_some() => sensor.map_or(1.0, |sensor| sensor.width / sensor.height) as f32,
        Projection::Perspective { aspect, .. } => aspect.unwrap_or(16.0 / 9.0),
        Projection::Orthographic { half_width, half_height, .. } => half_width / half_height,
    }
}

/// Name, node, camera-to-world transform and projection of the camera.
type Chosen = (String, Option<usize>, DMat4, Projection);

fn choose_camera(args: &OpenRequest, look: &Look, scene: &Scene) -> Result<Chosen, SessionError> {
    let cameras = AddressTable::cameras(scene);
    let wanted = args.camera.as_deref().or(look.camera.name.as_deref());
    let found = match wanted {
        Some(name) => Some(cameras.find(name).first().copied().ok_or_else(|| {
            let names = cameras.suggestions();
            let there =
                if names.is_empty() { "no camera; omit the name".into() } else { names.join(", ") };
            SessionError::InvalidRequest(format!(
                "{} has no camera '{name}'; it has {there}",
                args.name()
            ))
        })?),
        None => cameras.list().first().map(|camera| camera.index),
    };
    let placed = |world: DMat4| look.camera.placed(world);
    let chosen = found.and_then(|found| {
        let at = scene.walk().into_iter().find(|at| at.index == found)?;
        let camera = scene.cameras.get(at.node.camera?)?;
        let names = [&camera.name, &at.node.name];
        let own = names.into_iter().find(|name| !name.is_empty()).cloned();
        let name = own.unwrap_or_else(|| format!("#{}", at.node.camera.unwrap_or(0)));
        Some((name, Some(found), placed(at.world), camera.projection))
    });
    Ok(match chosen {
        Some(chosen) => chosen,
        None => {
            let size =
                args.size.map_or(16.0 / 9.0, |size| f64::from(size.width) / f64::from(size.height));
            let (world, projection) = defaults::framing_camera(scene, size);
            ("framed on the scene".into(), None, placed(world), projection)
        }
    })
}

/// Velocity (m/s) and angular velocity (rad/s) of a camera in its own axes at `middle`, for the
/// motion from `from` to `to` in `seconds`.
fn camera_motion(middle: DMat4, [from, to]: [DMat4; 2], seconds: f64) -> (DVec3, DVec3) {
    let axes = |world: DMat4| {
        glam::DQuat::from_mat4(&Trs { scale: DVec3::ONE, ..Trs::of_matrix(&world) }.matrix())
    };
    let own = axes(middle).inverse();
    let moved = own * (to.w_axis.truncate() - from.w_axis.truncate());
    let mut turned = own * axes(to) * axes(from).inverse() * axes(middle);
    if turned.w < 0.0 {
        turned = -turned;
    }
    (moved / seconds, turned.to_scaled_axis() / seconds)
}

impl Session {
    /// Sets the playback time in s; no effect for a scene at rest.
    ///
    /// # Errors
    ///
    /// [`SessionError::Look`] if the lens cannot be set for the camera at that time.
    pub fn seek(&mut self, time: f64) -> Result<(), SessionError> {
        let Some(animated) = &mut self.playback else { return Ok(()) };
        animated.time = time;
        let scene = Arc::make_mut(&mut self.scene);
        scene.time = time;
        scene.apply(&animated.rest.pose(&animated.play, time));
        scene.bake();
        if animated.camera.is_some() {
            let (_, _, world, projection) = choose_camera(&self.request, &self.look, &self.scene)?;
            let (projection, effects, lens) =
                mount_camera(&self.look, projection, self.size, self.lens.clone())?;
            (self.camera, self.effects, self.lens) = ((world, projection), effects, lens);
        }
        Ok(())
    }

    /// Replaces the look and the picture size of the same scene: camera, dials, effects and passes.
    /// Lights, environment and materials of the look must be unchanged.
    ///
    /// # Errors
    ///
    /// [`SessionError::Look`] if the lens cannot be set; the session is then unchanged.
    pub fn set_look(&mut self, look: Look, size: Size) -> Result<(), SessionError> {
        let (camera_name, _, world, projection) = choose_camera(&self.request, &look, &self.scene)?;
        let (projection, effects, lens) = mount_camera(&look, projection, size, None)?;
        look.ghosts(lens.as_deref())?;
        (self.camera_name, self.camera, self.effects, self.lens) =
            (camera_name, (world, projection), effects, lens);
        (self.look, self.size) = (look, size);
        Ok(())
    }

    /// Motion blur of the open shutter, with the camera's animated motion; `None` for a scene at
    /// rest and if the look disables motion blur.
    #[must_use]
    pub fn animated_motion_blur(&self, effects: &CameraEffects) -> Option<MotionBlur> {
        let animated = self.playback.as_ref()?;
        let mut blur = effects.motion_blur.or_else(|| self.look.object_motion_blur())?;
        if let Some(node) = animated.camera {
            let half = blur.exposure / 2.0;
            let places = [-half, half].map(|offset| {
                let mut nodes = Scene { nodes: self.scene.nodes.clone(), ..Scene::default() };
                nodes.apply(&animated.rest.pose_at_offset(&animated.play, animated.time, offset));
                nodes.world_transforms().get(node).copied().unwrap_or(self.camera.0)
            });
            let (velocity, rotation) = camera_motion(self.camera.0, places, blur.exposure);
            blur.velocity += velocity;
            blur.rotation += rotation;
        }
        Some(blur)
    }

    /// Adds animated motion during the exposure to `settings`: of the camera, and the poses of
    /// objects when the shutter opens and closes.
    pub fn set_motion(&mut self, settings: &mut RenderSettings, on_device: &GpuScene) {
        let (Some(blur), Some(animated)) =
            (self.animated_motion_blur(&settings.effects), &self.playback)
        else {
            return;
        };
        let (half, scene) = (blur.exposure / 2.0, Arc::make_mut(&mut self.scene));
        let poses = [-half, half].map(|offset| {
            scene.apply(&animated.rest.pose_at_offset(&animated.play, animated.time, offset));
            on_device.pose(scene)
        });
        scene.apply(&animated.rest.pose(&animated.play, animated.time));
        settings.effects.motion_blur = Some(blur);
        settings.shutter = Some(poses);
    }

    /// The scene at `offset` seconds from the playback time; `None` for a scene at rest.
    #[must_use]
    pub fn scene_at_offset(&self, offset: f64) -> Option<Scene> {
        let animated = self.playback.as_ref()?;
        let mut scene = Scene::clone(&self.scene);
        scene.apply(&animated.rest.pose_at_offset(&animated.play, animated.time, offset));
        scene.bake();
        scene.time = animated.time + offset;
        Some(scene)
    }

    /// View of the session's camera.
    #[must_use]
    pub fn view(&self) -> View {
        View::new(self.camera.0, &self.camera.1, self.size.width, self.size.height)
    }

    /// Settings of the passes, by the look.
    #[must_use]
    pub fn passes(&self) -> PassesSettings {
        self.look.passes.resolve()
    }

    /// Settings of indirect light (GI), by the look.
    #[must_use]
    pub fn gi(&self) -> GiSettings {
        self.look.gi.resolve()
    }

    /// Meshes that get coarser levels of detail, by the look.
    #[must_use]
    pub fn levels(&self) -> LodGeneration {
        if self.passes().culling.max_error_pixels > 0.0 {
            LodGeneration::Large
        } else {
            LodGeneration::None
        }
    }

    /// Number of frames accumulated for a still picture: the look's `passes.aa.samples`, else 1.
    /// With temporal anti-aliasing or GI, each output pixel gets `STILL_SAMPLES` samples.
    #[must_use]
    pub fn still_samples(&self) -> u32 {
        let passes = self.passes();
        passes.aa.samples.unwrap_or_else(|| match passes.aa.method {
            AntiAliasing::Temporal => {
                (STILL_SAMPLES / passes.taa.render_scale.clamp(0.25, 1.0).powi(2)).ceil() as u32
            }
            AntiAliasing::None | AntiAliasing::Morphological if self.gi().enabled => {
                STILL_SAMPLES as u32
            }
            AntiAliasing::None | AntiAliasing::Morphological => 1,
        })
    }

    /// Uploads the scene, with the resources that the look's passes need.
    ///
    /// # Errors
    ///
    /// [`GpuError`], e.g. out of memory or device lost.
    pub fn upload(&self, renderer: &mut Renderer) -> GpuResult<GpuScene> {
        let mut on_device =
            renderer.upload_with(&self.scene, &self.passes().shadows, self.levels())?;
        self.update_gi(renderer.gpu(), &mut on_device)?;
        Ok(on_device)
    }

    /// Updates the uploaded scene to the session's pose.
    ///
    /// # Errors
    ///
    /// [`GpuError`], e.g. out of memory or device lost.
    pub fn update_pose(&self, gpu: &Gpu, on_device: &mut GpuScene) -> GpuResult<()> {
        on_device.follow(gpu, &self.scene)?;
        self.update_gi(gpu, on_device)
    }

    /// Updates the lights of the uploaded scene ([`GpuScene::relight`]).
    ///
    /// # Errors
    ///
    /// [`GpuError`], e.g. out of memory or device lost.
    pub fn relight(&self, gpu: &Gpu, on_device: &mut GpuScene) -> GpuResult<()> {
        on_device.relight(gpu, &self.scene)?;
        self.update_gi(gpu, on_device)
    }

    fn update_gi(&self, gpu: &Gpu, on_device: &mut GpuScene) -> GpuResult<()> {
        let gi = self.gi();
        if gi.enabled {
            on_device.update_gi(gpu, &self.scene, &gi)?;
        }
        if self.look.needs_flare_sources() {
            on_device.enable_offscreen_flares(gpu, &self.scene)
        } else {
            Ok(())
        }
    }

    /// Render settings of the final picture, with camera effects for the solved dials.
    ///
    /// # Errors
    ///
    /// [`SessionError::Look`] if the lens cannot be set to the dials.
    pub fn final_settings(
        &self,
        exposed: &ExposureState,
        aovs: Vec<Aov>,
    ) -> Result<RenderSettings, SessionError> {
        let (effects, lens) = match exposed.solved {
            Some(SolvedExposure { dials, .. }) => {
                let mut look = self.look.clone();
                look.camera.shutter = Some(dials.shutter_s);
                look.camera.iso = Some(dials.iso);
                // The solved stop is the exposing one: with a T-stop it is the T-number, and the
                // f-number scales in proportion.
                let scale = match (look.camera.rig.t_stop, look.camera.f_stop) {
                    (Some(t_stop), Some(f_stop)) => f_stop / t_stop,
                    _ => 1.0,
                };
                look.camera.rig.t_stop = look.camera.rig.t_stop.map(|_| dials.f_stop);
                look.camera.f_stop = Some(dials.f_stop * scale);
                let (_, effects, lens) = mount_camera(&look, self.camera.1, self.size, None)?;
                (effects, lens)
            }
            None => (self.effects, self.lens.clone()),
        };
        let passes = self.passes();
        Ok(RenderSettings {
            effects,
            ghosts: self.look.ghosts(lens.as_deref())?,
            lens,
            anti_aliasing: passes.aa.method,
            ssr: passes.ssr,
            gi: self.gi(),
            ..self.settings(exposed.exposure, aovs)
        })
    }

    /// Render settings of the look at an exposure, without camera effects and history; meters use
    /// them.
    #[must_use]
    pub fn settings(&self, exposure: Exposure, aovs: Vec<Aov>) -> RenderSettings {
        let passes = self.passes();
        RenderSettings {
            exposure,
            tone_mapper: passes.tonemap.operator,
            dither: passes.tonemap.dither,
            taa: passes.taa,
            clustered_lights: passes.clustered_lights,
            shadows: passes.shadows,
            culling: passes.culling,
            ao: passes.ao,
            // Metering renders single frames without history.
            ssr: SsrSettings { max_history_frames: 0, ..passes.ssr },
            gi: GiSettings { max_history_frames: 0, ..self.gi() },
            volumes: passes.volumes,
            refraction: passes.refraction.method,
            caustics: passes.caustics,
            aovs,
            ..RenderSettings::default()
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::scene::build::SceneBuilder;

    #[test]
    fn aspect_ratio_mismatch_is_reported() {
        let session = |aspect: f32, size: Option<Size>| {
            let mut builder = SceneBuilder::new("strip");
            builder.camera("Eye", DVec3::Z, DVec3::ZERO, 0.2, Some(aspect));
            let mut look = Look::default();
            look.scene.default_light = Some(false);
            let request = OpenRequest { size, ..OpenRequest::default() };
            apply_look(&request, builder.build().unwrap(), look, vec![]).unwrap()
        };
        let told = |session: &Session| {
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
