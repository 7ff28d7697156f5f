//! A scene as it is worked with: read, with its look applied, seen through its camera, exposed. Every command and the
//! look-dev window open scenes by this door, so that they show the same picture and read the same numbers.

pub mod expose;
mod limits;
pub mod preview;

use std::{
    ops::RangeInclusive,
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
};

use glam::{DMat4, DVec3};

use self::expose::Exposed;
use crate::{
    camera::{Effects, Exposure, chain::MotionBlur, metering::Solved},
    frame::{
        AntiAliasing, AoSettings, Aov, GiSettings, LightListSettings, Renderer, Settings, ShadowSettings, SsrSettings,
        Temporal, VolumeSettings,
    },
    gpu::{Gpu, GpuError, GpuResult},
    optics::Mounted,
    passes::{GpuScene, View, caustics::CausticSettings, culling::CullingSettings, scene_data::LevelsFor},
    scene::{
        NoteKind, Projection, Scene,
        address::Things,
        animation::{Play, Trs},
        defaults,
        emissive::{EmissiveLights, emissive_lights},
        gltf::{self, ImportError},
        look::{AaMethod, Look, LookError, ShadowMethod},
        procedural::{self, Builtin},
    },
};

/// What is asked for: a scene, and how it is looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// A .glb or .gltf file, or a built-in scene as `builtin:NAME`; none is the built-in still life.
    pub scene: Option<PathBuf>,
    /// The look file; none takes NAME.look.toml beside the scene, where there is one.
    pub look: Option<PathBuf>,
    /// The folder that files beside the scene may come from, with all below it; none is the scene's own folder, or the
    /// working directory where that contains it.
    pub root: Option<PathBuf>,
    /// The camera by its address (`scene::address`); none takes the look's, else the file's first, else one framed on the scene.
    pub camera: Option<String>,
    /// Pixels across and down; none takes the look's resolution, else 720 down.
    pub size: Option<Size>,
    /// Properties of the look set over it, as PATH=VALUE.
    pub set: Vec<String>,
    /// When (s), of what is animated; none is the scene at rest.
    pub time: Option<f64>,
}

/// Why a scene cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum StudioError {
    /// What was asked for contradicts what is there.
    #[error("{0}")]
    Asked(String),
    /// The scene's file.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// The look.
    #[error(transparent)]
    Look(#[from] LookError),
    /// The device.
    #[error(transparent)]
    Gpu(#[from] GpuError),
    /// Broken logic of ours.
    #[error("{0}")]
    Internal(String),
}

/// A picture's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let oops = || format!("'{text}' is no size: write it as WIDTHxHEIGHT in pixels, each at least 1, e.g. 640x360");
        let (width, height) = text.split_once(['x', 'X']).ok_or_else(oops)?;
        let side = |text: &str| text.parse::<u32>().ok().filter(|&side| side > 0).ok_or_else(oops);
        Ok(Self { width: side(width)?, height: side(height)? })
    }
}

/// A scene with the look applied. Clones share the scene.
#[derive(Clone)]
pub struct Opened {
    /// What was asked for.
    pub request: Request,
    /// The scene, at its time, with all that the look changes.
    pub scene: Arc<Scene>,
    /// The look.
    pub look: Look,
    /// The camera's name, or what stands for one.
    pub camera_name: String,
    /// Where the camera stands (to the world; it looks down -Z) and what it sees.
    pub camera: (DMat4, Projection),
    /// The picture's size.
    pub size: Size,
    /// What the camera does to the picture.
    pub effects: Effects,
    /// The lens of the look's prescription, set for the picture.
    pub lens: Option<Arc<Mounted>>,
    /// What is played, where the scene is.
    pub animated: Option<Animated>,
    /// What the user should know, a remark each.
    pub remarks: Vec<String>,
}

/// A scene that is played.
#[derive(Clone)]
pub struct Animated {
    /// The scene at rest, with the look applied.
    rest: Arc<Scene>,
    play: Play,
    /// When (s).
    pub time: f64,
    /// The node of the camera that is looked through; none where it is no node's.
    camera: Option<usize>,
}

/// Samples of each pixel of a still picture with temporal anti-aliasing: docs/anti-aliasing.md has what more would bring.
const STILL_SAMPLES: f64 = 16.0;

impl Request {
    /// The scene for messages.
    #[must_use]
    pub fn name(&self) -> String {
        self.scene.as_ref().map_or_else(|| "the built-in still life".into(), |path| path.display().to_string())
    }

    /// The built-in scene that is asked for; none where it is a file.
    ///
    /// # Errors
    /// A built-in scene that is not there.
    pub fn builtin(&self) -> Result<Option<Builtin>, StudioError> {
        let Some(path) = &self.scene else { return Ok(Builtin::named("still_life")) };
        if path.as_os_str() == "petals" && !path.exists() {
            return Ok(Builtin::named("petals"));
        }
        let Some(name) = path.to_str().and_then(|path| path.strip_prefix(procedural::PREFIX)) else { return Ok(None) };
        Builtin::named(name).map(Some).ok_or_else(|| {
            let there: Vec<String> = (Builtin::ALL.iter())
                .map(|builtin| format!("{}{} ({})", procedural::PREFIX, builtin.name, builtin.about))
                .collect();
            StudioError::Asked(format!("there is no built-in scene '{name}'; there are {}", there.join(", ")))
        })
    }
}

/// A scene as it was read, before any look.
pub struct Source {
    /// The scene.
    pub scene: Scene,
    /// The look's text; empty where there is none.
    pub look: String,
    /// What the look is called in messages; files that it names are looked for beside it.
    pub look_name: String,
    /// The look's file; none where it is a built-in scene's own, or not there yet.
    pub look_file: Option<PathBuf>,
    /// What the user should know of the file.
    pub remarks: Vec<String>,
}

/// The place of the look that belongs to a scene's file: `NAME.look.toml` beside it, else a file of that name in other
/// capitals. It may not be there.
#[must_use]
pub fn look_beside(scene: &Path) -> PathBuf {
    let usual = scene.with_extension("look.toml");
    if usual.exists() {
        return usual;
    }
    let folder = scene.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let wanted = usual.file_name().unwrap_or_default();
    let mut names = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    names
        .find(|name| name.eq_ignore_ascii_case(wanted))
        .map_or_else(|| usual.clone(), |name| usual.with_file_name(name))
}

/// Reads a scene file, with the files beside it from where the request allows.
///
/// # Errors
/// A file that cannot be used; a root that does not contain it.
pub fn import(scene: &Path, root: Option<&Path>) -> Result<Scene, StudioError> {
    let folder = match root.map(Path::to_path_buf).or_else(|| working_root(scene)) {
        // A scene that is not there is said to be so.
        Some(root) if scene.exists() => {
            gltf::Folder::within(scene, &root).map_err(|what| StudioError::Asked(format!("--root: {what}")))?
        }
        _ => gltf::Folder::of(scene),
    };
    Ok(gltf::load_from(scene, &folder)?)
}

/// The working directory where it contains the scene: the project that the user stands in. One that contains the home
/// directory is no project.
fn working_root(scene: &Path) -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let wide = here.parent().is_none() || home.is_none_or(|home| gltf::contains(&here, &home.join("scene")));
    (!wide && gltf::contains(&here, scene)).then_some(here)
}

/// Reads the scene, or makes the built-in one, with the text of the look that belongs to it.
///
/// # Errors
/// Files that cannot be used; a built-in scene that is not there.
pub fn read(request: &Request) -> Result<Source, StudioError> {
    if let Some(builtin) = request.builtin()? {
        if let Some(root) = &request.root {
            let what = format!("--root {}: {} has no files; leave it out", root.display(), request.name());
            return Err(StudioError::Asked(what));
        }
        let (scene, text) = builtin.make().map_err(|error| StudioError::Internal(error.to_string()))?;
        let (look, look_name) = match &request.look {
            Some(file) => (Look::text_of(file)?, file.display().to_string()),
            None => (text, format!("{}.look.toml", builtin.name)),
        };
        return Ok(Source { scene, look, look_name, look_file: request.look.clone(), remarks: Vec::new() });
    }
    let Some(path) = &request.scene else { return Err(StudioError::Internal("no scene is named".into())) };
    let beside = look_beside(path);
    let look_file = request.look.clone().or_else(|| beside.is_file().then(|| beside.clone()));
    let look = look_file.as_deref().map(Look::text_of).transpose()?.unwrap_or_default();
    let look_name = look_file.as_deref().unwrap_or(&beside).display().to_string();
    let scene = import(path, request.root.as_deref())?;
    let worth_saying: Vec<_> = scene.notes.iter().filter(|note| note.kind != NoteKind::Info).collect();
    let mut remarks = Vec::new();
    if !worth_saying.is_empty() {
        let (name, count) = (path.display(), worth_saying.len());
        let mut text =
            format!("{name}: remarks on the file: {count} (`sunny16 inspect {name}` lists them); the first of them:");
        for note in worth_saying.iter().take(3) {
            text += &format!("\n  {:?} {}: {}", note.kind, note.place, note.message);
        }
        remarks.push(text);
    }
    Ok(Source { scene, look, look_name, look_file, remarks })
}

/// Reads scene and look, and chooses the camera.
///
/// # Errors
/// Files that cannot be used; properties that contradict each other or the scene; a camera or an animation that is not there.
pub fn open(request: &Request) -> Result<Opened, StudioError> {
    let source = read(request)?;
    let mut look = Look::default();
    look.parse(&source.look_name, &source.look)?;
    for assignment in &request.set {
        look.assign(assignment)?;
    }
    dress(request, source.scene, look, source.remarks)
}

/// Applies a look to a scene as it was read, and chooses the camera.
///
/// # Errors
/// Properties that contradict each other or the scene; a camera or an animation that is not there.
pub fn dress(args: &Request, mut scene: Scene, look: Look, mut remarks: Vec<String>) -> Result<Opened, StudioError> {
    // A scene whose lamps are switched off is dark because somebody wants it.
    let had_lamps = scene.walk().iter().any(|placed| placed.node.light.is_some());
    let before = scene.notes.len();
    look.apply(&mut scene)?;
    remarks.extend(scene.notes.iter().skip(before).map(|note| format!("{}: {}", note.place, note.message)));
    remarks.extend(look.environment.remark());
    remarks.extend(look.light_remarks());
    remarks.extend(scene.profile_remarks());
    remarks.extend(scene.material_remarks());
    remarks.extend(look.lens_remarks());
    remarks.extend(look.gi.remarks());
    remarks.extend(scene.water_remarks());
    if look.passes.shadow_method == Some(ShadowMethod::Maps) && look.passes.shadows != Some(false) {
        let shaped = scene
            .walk()
            .iter()
            .filter_map(|placed| scene.lights.get(placed.node.light?))
            .any(|light| light.shadow && light.emitter().area().is_some());
        if shaped {
            let text =
                "passes.shadows.method = maps: lights with a surface throw no shadows by maps; auto traces theirs";
            remarks.push(text.into());
        }
    }
    let play = chosen_animation(args, &look, &scene)?;
    let time = args.time.or(args.builtin()?.filter(|builtin| builtin.plays).map(|_| 0.0));
    let mut animated = match time {
        Some(time) if scene.is_animated() => {
            let rest = scene.clone();
            scene.apply(&rest.pose(&play, time));
            scene.bake();
            scene.time = time;
            Some(Animated { rest: Arc::new(rest), play, time, camera: None })
        }
        Some(_) => {
            remarks.push(format!("nothing in {} is animated: it looks the same at any time", args.name()));
            None
        }
        None => None,
    };
    let (camera_name, camera, world, projection) = choose_camera(args, &look, &scene)?;
    if let Some(at) = look.camera.target.filter(|target| *target == world.w_axis.truncate()) {
        return Err(StudioError::Asked(format!(
            "camera.target = {} {} {}: the camera stands there itself; aim it at another point",
            at.x, at.y, at.z
        )));
    }
    animated.iter_mut().for_each(|animated| animated.camera = camera);
    let dark = !had_lamps && defaults::is_dark(&scene);
    if look.default_light.unwrap_or(dark) {
        let before = scene.notes.len();
        defaults::light(&mut scene, world);
        for note in scene.notes.iter().skip(before) {
            remarks.push(format!("{} (--set scene.default_light=false leaves it out)", note.message));
        }
    } else if !scene.emissive_lights && !had_lamps && scene.environment.is_none() {
        let text = "the scene has no lamps, and surfaces that glow light nothing (scene.emissive_lights is false; --set \
                    scene.default_light=true adds a sun)";
        remarks.push(text.into());
    }
    if scene.emissive_lights {
        let EmissiveLights { triangles, patches, merged } = emissive_lights(&scene);
        if merged > 0 {
            remarks.push(format!(
                "{triangles} triangles glow: they light the scene as {} lights of the same flux, {merged} of which stand for \
                 several (scene.emissive_patches)",
                patches.len()
            ));
        }
    }
    let size = args.size.unwrap_or_else(|| default_size(&look, &projection));
    let shape = default_shape(&look, &projection);
    if args.size.is_none() && look.camera.rig.resolution.is_none() && !SHAPES.contains(&shape) {
        remarks.push(format!(
            "the camera's picture is {shape} times as wide as high, and this one {:.1} times; --size gives another",
            f64::from(size.width) / f64::from(size.height)
        ));
    }
    let (projection, effects, lens) = through_the_lens(&look, projection, size, None)?;
    look.ghosts(lens.as_deref())?;
    let (request, camera, scene) = (args.clone(), (world, projection), Arc::new(scene));
    Ok(Opened { request, scene, look, camera_name, camera, size, effects, lens, animated, remarks })
}

/// Which animations the look plays.
fn chosen_animation(args: &Request, look: &Look, scene: &Scene) -> Result<Play, StudioError> {
    match look.animation.as_deref() {
        None | Some("auto") => Ok(Play::Auto),
        Some("all") => Ok(Play::All),
        Some(name) => scene.animation(name).map(Play::One).ok_or_else(|| {
            let names = Things::named(scene.animations.iter().map(|animation| animation.name.as_str())).suggestions();
            let there = if names.is_empty() { "none".into() } else { names.join(", ") };
            StudioError::Asked(format!(
                "scene.animation = {name}: {} has no such animation; it has {there}",
                args.name()
            ))
        }),
    }
}

/// What the camera sees by: its projection, its effects, and the lens where it is a real one.
type Seen = (Projection, Effects, Option<Arc<Mounted>>);

/// The projection and the effects of the look's lens: a focal length takes the place of the file's field of view. `mounted` is
/// the prescription's lens where this look and size have set it before.
fn through_the_lens(
    look: &Look,
    mut projection: Projection,
    size: Size,
    mounted: Option<Arc<Mounted>>,
) -> Result<Seen, StudioError> {
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
        None => look.mounted(shown)?.map(Arc::new),
    };
    if let Some(mounted) = mounted {
        let rig = camera.rig.mounted_rig(camera.f_stop, &mounted)?;
        *vertical_fov = rig.vertical_fov() as f32;
        *aspect = Some(shown as f32);
        let effects = look.effects_through(&mounted, look.effects(Some(&rig), [size.width, size.height])?)?;
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
        width: (720.0 * default_shape(look, projection).clamp(*SHAPES.start(), *SHAPES.end())).round() as u32,
        height: 720,
    }
}

/// Width over height of pictures whose size nobody says.
const SHAPES: RangeInclusive<f32> = 0.1..=10.0;

/// Width over height of the camera's picture where nobody says how large it is.
fn default_shape(look: &Look, projection: &Projection) -> f32 {
    let rig = &look.camera.rig;
    let sensor = rig.sensor.filter(|_| rig.focal_length.is_some() || rig.prescription.is_some());
    match *projection {
        // A body with a lens takes pictures of its sensor's shape.
        _ if sensor.is_some() => sensor.map_or(1.0, |sensor| sensor.width / sensor.height) as f32,
        Projection::Perspective { aspect, .. } => aspect.unwrap_or(16.0 / 9.0),
        Projection::Orthographic { half_width, half_height, .. } => half_width / half_height,
    }
}

/// Name, node, place and projection of the camera.
type Chosen = (String, Option<usize>, DMat4, Projection);

fn choose_camera(args: &Request, look: &Look, scene: &Scene) -> Result<Chosen, StudioError> {
    let cameras = Things::cameras(scene);
    let wanted = args.camera.as_deref().or(look.camera.name.as_deref());
    let found = match wanted {
        Some(name) => Some(cameras.find(name).first().copied().ok_or_else(|| {
            let names = cameras.suggestions();
            let there = if names.is_empty() { "no camera; leave the name out".into() } else { names.join(", ") };
            StudioError::Asked(format!("{} has no camera '{name}'; it has {there}", args.name()))
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
            let size = args.size.map_or(16.0 / 9.0, |size| f64::from(size.width) / f64::from(size.height));
            let (world, projection) = defaults::camera(scene, size);
            ("framed on the scene".into(), None, placed(world), projection)
        }
    })
}

/// The part of a camera's way that its axes see: velocity and angular velocity while it goes from one place to another in
/// this time (s).
fn camera_motion(middle: DMat4, [from, to]: [DMat4; 2], seconds: f64) -> (DVec3, DVec3) {
    let axes = |world: DMat4| glam::DQuat::from_mat4(&Trs { scale: DVec3::ONE, ..Trs::of_matrix(&world) }.matrix());
    let own = axes(middle).inverse();
    let moved = own * (to.w_axis.truncate() - from.w_axis.truncate());
    let mut turned = own * axes(to) * axes(from).inverse() * axes(middle);
    if turned.w < 0.0 {
        turned = -turned;
    }
    (moved / seconds, turned.to_scaled_axis() / seconds)
}

impl Opened {
    /// Goes to another time (s) of what is played.
    ///
    /// # Errors
    /// A lens that the camera cannot have there.
    pub fn go_to(&mut self, time: f64) -> Result<(), StudioError> {
        let Some(animated) = &mut self.animated else { return Ok(()) };
        animated.time = time;
        let scene = Arc::make_mut(&mut self.scene);
        scene.time = time;
        scene.apply(&animated.rest.pose(&animated.play, time));
        scene.bake();
        if animated.camera.is_some() {
            let (_, _, world, projection) = choose_camera(&self.request, &self.look, &self.scene)?;
            let (projection, effects, lens) = through_the_lens(&self.look, projection, self.size, self.lens.clone())?;
            (self.camera, self.effects, self.lens) = ((world, projection), effects, lens);
        }
        Ok(())
    }

    /// Looks at the same scene with another camera's dials, effects and passes, in another size. What the look says of lights,
    /// surroundings and materials must be as it was. The camera stays where the look has it.
    ///
    /// # Errors
    /// A lens that the camera cannot have; nothing has changed then.
    pub fn look_through(&mut self, look: Look, size: Size) -> Result<(), StudioError> {
        let (camera_name, _, world, projection) = choose_camera(&self.request, &look, &self.scene)?;
        let (projection, effects, lens) = through_the_lens(&look, projection, size, None)?;
        look.ghosts(lens.as_deref())?;
        (self.camera_name, self.camera, self.effects, self.lens) = (camera_name, (world, projection), effects, lens);
        (self.look, self.size) = (look, size);
        Ok(())
    }

    /// The open shutter's blur, with the way that the camera goes in what is played; none where nothing is played or the look
    /// wants none.
    #[must_use]
    pub fn blur_in_motion(&self, effects: &Effects) -> Option<MotionBlur> {
        let animated = self.animated.as_ref()?;
        let mut blur = effects.motion_blur.or_else(|| self.look.blur_of_things())?;
        if let Some(node) = animated.camera {
            let half = blur.exposure / 2.0;
            let places = [-half, half].map(|offset| {
                let mut nodes = Scene { nodes: self.scene.nodes.clone(), ..Scene::default() };
                nodes.apply(&animated.rest.pose_beside(&animated.play, animated.time, offset));
                nodes.worlds().get(node).copied().unwrap_or(self.camera.0)
            });
            let (velocity, rotation) = camera_motion(self.camera.0, places, blur.exposure);
            blur.velocity += velocity;
            blur.rotation += rotation;
        }
        Some(blur)
    }

    /// Lets what is played move while the shutter is open: the camera, and things on the device.
    pub fn set_in_motion(&mut self, settings: &mut Settings, on_device: &GpuScene) {
        let (Some(blur), Some(animated)) = (self.blur_in_motion(&settings.effects), &self.animated) else { return };
        let (half, scene) = (blur.exposure / 2.0, Arc::make_mut(&mut self.scene));
        let poses = [-half, half].map(|offset| {
            scene.apply(&animated.rest.pose_beside(&animated.play, animated.time, offset));
            on_device.posed(scene)
        });
        scene.apply(&animated.rest.pose(&animated.play, animated.time));
        settings.effects.motion_blur = Some(blur);
        settings.shutter = Some(poses);
    }

    /// The scene as it is so many seconds from the picture's time.
    #[must_use]
    pub fn scene_beside(&self, offset: f64) -> Option<Scene> {
        let animated = self.animated.as_ref()?;
        let mut scene = Scene::clone(&self.scene);
        scene.apply(&animated.rest.pose_beside(&animated.play, animated.time, offset));
        scene.bake();
        scene.time = animated.time + offset;
        Some(scene)
    }

    /// The view of the chosen camera.
    #[must_use]
    pub fn view(&self) -> View {
        View::new(self.camera.0, &self.camera.1, self.size.width, self.size.height)
    }

    /// How shadows are found.
    #[must_use]
    pub fn shadows(&self) -> ShadowSettings {
        let shadows = ShadowSettings::default();
        ShadowSettings {
            enabled: self.look.passes.shadows.unwrap_or(shadows.enabled),
            method: self.look.passes.shadow_method.unwrap_or(shadows.method),
            samples: self.look.passes.shadow_samples.unwrap_or(shadows.samples),
            resolution: self.look.passes.shadow_resolution.unwrap_or(shadows.resolution),
        }
    }

    /// What is not drawn, and how coarsely the rest.
    #[must_use]
    pub fn culling(&self) -> CullingSettings {
        let (look, culling) = (&self.look.passes, CullingSettings::default());
        CullingSettings {
            enabled: look.culling.unwrap_or(culling.enabled),
            occlusion: look.culling_occlusion.unwrap_or(culling.occlusion),
            least: look.culling_least.unwrap_or(culling.least),
            error_pixels: look.error_pixels.map_or(culling.error_pixels, |pixels| pixels as f32),
            ..culling
        }
    }

    /// Which meshes get coarser levels of detail.
    #[must_use]
    pub fn levels(&self) -> LevelsFor {
        if self.culling().error_pixels > 0.0 { LevelsFor::Large } else { LevelsFor::None }
    }

    /// How edges are made smooth.
    #[must_use]
    pub fn anti_aliasing(&self) -> AntiAliasing {
        let (look, default) = (&self.look.passes, Temporal::default());
        match look.aa_method.unwrap_or_default() {
            AaMethod::None => AntiAliasing::None,
            AaMethod::Morphological => AntiAliasing::Morphological,
            AaMethod::Temporal => AntiAliasing::Temporal(Temporal {
                scale: look.taa_scale.unwrap_or(default.scale),
                gamma: look.taa_clip.map_or(default.gamma, |clip| clip as f32),
                frames: look.taa_frames.map_or(default.frames, |frames| frames as f32),
                mip_bias: look.taa_mip_bias.unwrap_or(default.mip_bias),
                ..default
            }),
        }
    }

    /// Frames that a still picture is made of: as the look says, else one, or where frames are joined anyway so many
    /// that each pixel of the picture gets `STILL_SAMPLES`.
    #[must_use]
    pub fn still_samples(&self) -> u32 {
        self.look.passes.aa_samples.unwrap_or_else(|| match self.anti_aliasing() {
            AntiAliasing::Temporal(temporal) => (STILL_SAMPLES / temporal.scale.clamp(0.25, 1.0).powi(2)).ceil() as u32,
            AntiAliasing::None | AntiAliasing::Morphological if self.gi().enabled => STILL_SAMPLES as u32,
            AntiAliasing::None | AntiAliasing::Morphological => 1,
        })
    }

    /// Ambient occlusion by the look.
    #[must_use]
    pub fn ao(&self) -> AoSettings {
        let (look, ao) = (&self.look.passes.ao, AoSettings::default());
        AoSettings {
            enabled: look.enabled.unwrap_or(ao.enabled),
            radius: look.radius.unwrap_or(ao.radius),
            falloff: look.falloff.unwrap_or(ao.falloff),
            thickness: look.thickness.unwrap_or(ao.thickness),
            slices: look.slices.unwrap_or(ao.slices),
            steps: look.steps.unwrap_or(ao.steps),
            half_resolution: look.half_resolution.unwrap_or(ao.half_resolution),
            filter: look.filter.unwrap_or(ao.filter),
            many_bounces: look.many_bounces.unwrap_or(ao.many_bounces),
        }
    }

    /// Reflections in the picture by the look.
    #[must_use]
    pub fn ssr(&self) -> SsrSettings {
        let (look, ssr) = (&self.look.passes.ssr, SsrSettings::default());
        SsrSettings {
            enabled: look.enabled.unwrap_or(ssr.enabled),
            half_resolution: look.half_resolution.unwrap_or(ssr.half_resolution),
            max_roughness: look.max_roughness.unwrap_or(ssr.max_roughness),
            thickness: look.thickness.unwrap_or(ssr.thickness),
            taps: look.taps.unwrap_or(ssr.taps),
            steps: look.steps.unwrap_or(ssr.steps),
            frames: look.frames.unwrap_or(ssr.frames),
            reprojection: look.reprojection.map_or(ssr.reprojection, Into::into),
            still: ssr.still,
        }
    }

    /// How participating volumes are drawn, by the look.
    #[must_use]
    pub fn volumes(&self) -> VolumeSettings {
        let (look, volumes) = (&self.look.passes.volumes, VolumeSettings::default());
        VolumeSettings {
            enabled: look.enabled.unwrap_or(volumes.enabled),
            half_resolution: look.half_resolution.unwrap_or(volumes.half_resolution),
            steps: look.steps.unwrap_or(volumes.steps),
            shadow_steps: look.shadow_steps.unwrap_or(volumes.shadow_steps),
            filter: look.filter.unwrap_or(volumes.filter),
        }
    }

    /// Bounced light by the look.
    #[must_use]
    pub fn gi(&self) -> GiSettings {
        let (look, gi) = (&self.look.gi, GiSettings::default());
        GiSettings {
            enabled: look.enabled.unwrap_or(gi.enabled),
            vpls: look.vpls.unwrap_or(gi.vpls),
            photons: look.photons.or(gi.photons),
            bounces: look.bounces.unwrap_or(gi.bounces),
            merge: look.merge.unwrap_or(gi.merge),
            cell: look.cell.or(gi.cell),
            rays: look.rays.unwrap_or(gi.rays),
            all: look.all.unwrap_or(gi.all),
            visibility: look.visibility.unwrap_or(gi.visibility),
            bound: look.bound.unwrap_or(gi.bound),
            compensation: look.compensation.unwrap_or(gi.compensation),
            sky: look.sky.unwrap_or(gi.sky),
            glossy: look.glossy.unwrap_or(gi.glossy),
            filter: look.filter.unwrap_or(gi.filter),
            frames: look.frames.unwrap_or(gi.frames),
            still: look.still.unwrap_or(gi.still),
            show: look.show.unwrap_or(gi.show),
        }
    }

    /// Puts the scene on the device, with what the look asks for.
    ///
    /// # Errors
    /// Out of memory; a lost device.
    pub fn upload(&self, renderer: &mut Renderer) -> GpuResult<GpuScene> {
        let mut on_device = renderer.upload_with(&self.scene, &self.shadows(), self.levels())?;
        self.bounce(renderer.gpu(), &mut on_device)?;
        Ok(on_device)
    }

    /// Goes along with the scene into another pose.
    ///
    /// # Errors
    /// Out of memory; a lost device.
    pub fn follow(&self, gpu: &Gpu, on_device: &mut GpuScene) -> GpuResult<()> {
        on_device.follow(gpu, &self.scene)?;
        self.bounce(gpu, on_device)
    }

    /// Goes along with lights that shine otherwise (`GpuScene::relight`).
    ///
    /// # Errors
    /// Out of memory; a lost device.
    pub fn relight(&self, gpu: &Gpu, on_device: &mut GpuScene) -> GpuResult<()> {
        on_device.relight(gpu, &self.scene)?;
        self.bounce(gpu, on_device)
    }

    fn bounce(&self, gpu: &Gpu, on_device: &mut GpuScene) -> GpuResult<()> {
        let gi = self.gi();
        if gi.enabled {
            on_device.light_indirectly(gpu, &self.scene, &gi)?;
        }
        if self.look.flares() { on_device.look_beyond_the_border(gpu, &self.scene) } else { Ok(()) }
    }

    /// Settings of the finished picture: with what the camera does to it, by its dials as they were turned.
    ///
    /// # Errors
    /// Dials that the lens cannot have.
    pub fn picture_settings(&self, exposed: &Exposed, aovs: Vec<Aov>) -> Result<Settings, StudioError> {
        let (effects, lens) = match exposed.solved {
            Some(Solved { dials, .. }) => {
                let mut look = self.look.clone();
                look.camera.shutter = Some(dials.shutter_s);
                look.camera.iso = Some(dials.iso);
                // The mode turned what exposes: with a T-stop that is the T-number, and the iris follows in proportion.
                let scale = match (look.camera.rig.t_stop, look.camera.f_stop) {
                    (Some(t_stop), Some(f_stop)) => f_stop / t_stop,
                    _ => 1.0,
                };
                look.camera.rig.t_stop = look.camera.rig.t_stop.map(|_| dials.f_stop);
                look.camera.f_stop = Some(dials.f_stop * scale);
                let (_, effects, lens) = through_the_lens(&look, self.camera.1, self.size, None)?;
                (effects, lens)
            }
            None => (self.effects, self.lens.clone()),
        };
        Ok(Settings {
            effects,
            ghosts: self.look.ghosts(lens.as_deref())?,
            lens,
            anti_aliasing: self.anti_aliasing(),
            ssr: self.ssr(),
            gi: self.gi(),
            ..self.settings(exposed.exposure, aovs)
        })
    }

    /// Settings by the look, at an exposure, of the scene before the camera: what meters read.
    #[must_use]
    pub fn settings(&self, exposure: Exposure, aovs: Vec<Aov>) -> Settings {
        let default = LightListSettings::default();
        Settings {
            exposure,
            tone_mapper: self.look.passes.tone_mapper.unwrap_or_default(),
            light_lists: LightListSettings {
                enabled: self.look.passes.light_lists.unwrap_or(default.enabled),
                cull_bound: self.look.passes.cull_bound.map_or(default.cull_bound, |bound| bound as f32),
            },
            dither: self.look.passes.dither.unwrap_or(true),
            shadows: self.shadows(),
            culling: self.culling(),
            ao: self.ao(),
            // What meters read keeps no history.
            ssr: SsrSettings { frames: 0, ..self.ssr() },
            gi: GiSettings { frames: 0, ..self.gi() },
            volumes: self.volumes(),
            refraction: self.look.passes.refraction.unwrap_or_default(),
            caustics: self
                .look
                .passes
                .caustics_resolution
                .map_or_else(CausticSettings::default, |resolution| CausticSettings { resolution }),
            aovs,
            ..Settings::default()
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::scene::build::SceneBuilder;

    #[test]
    fn pictures_of_another_shape_than_the_cameras_are_told() {
        let opened = |aspect: f32, size: Option<Size>| {
            let mut builder = SceneBuilder::new("strip");
            builder.camera("Eye", DVec3::Z, DVec3::ZERO, 0.2, Some(aspect));
            let look = Look { default_light: Some(false), ..Look::default() };
            let request = Request { size, ..Request::default() };
            dress(&request, builder.build().unwrap(), look, vec![]).unwrap()
        };
        let told = |opened: &Opened| opened.remarks.iter().filter(|remark| remark.contains("as wide as high")).count();
        assert_eq!(told(&opened(10.0, None)), 0);
        let wide = opened(20.0, None);
        assert_eq!((wide.size, told(&wide)), (Size { width: 7200, height: 720 }, 1), "{:?}", wide.remarks);
        assert_eq!(told(&opened(0.05, None)), 1);
        assert_eq!(told(&opened(20.0, Some(Size { width: 100, height: 10 }))), 0);
    }
}
