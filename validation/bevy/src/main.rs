//! Times Bevy's passes on a scene, without a window: `bevy_reflections SCENE.glb WIDTHxHEIGHT
//! FRAMES [OPTIONS]` prints the median of its own diagnostics of each pass on the device, in ms,
//! and their sum as `frame`. Options:
//!
//! - `taa`: temporal anti-aliasing.
//! - `forward`: forward shading without screen-space reflections; deferred shading with them
//!   otherwise.
//! - `shadows=none|sun`: directional lights cast shadows or not (default: sun).
//! - `camera=EX,EY,EZ,TX,TY,TZ,FOV`: position, target and vertical field of view in degrees
//!   (default: those of `scene.py`).

use std::{collections::BTreeMap, env, path::PathBuf, process::ExitCode};

use bevy::{
    anti_alias::taa::TemporalAntiAliasing,
    app::ScheduleRunnerPlugin,
    asset::RenderAssetUsages,
    camera::{Exposure, ImageRenderTarget, RenderTarget},
    core_pipeline::prepass::{DeferredPrepass, DepthPrepass},
    diagnostic::DiagnosticsStore,
    pbr::{DefaultOpaqueRendererMethod, ScreenSpaceReflections},
    prelude::*,
    render::{
        diagnostic::RenderDiagnosticsPlugin,
        render_resource::{Extent3d, TextureDimension, TextureFormat, TextureUsages},
    },
    window::ExitCondition,
    winit::WinitPlugin,
};

/// Frames that are not counted: pipelines are made and the scene is loaded.
const WARM_UP: usize = 10;

#[derive(Clone, Copy)]
struct Options {
    size: UVec2,
    frames: usize,
    taa: bool,
    forward: bool,
    shadows: bool,
    /// Position, target, vertical field of view in degrees.
    camera: [f32; 7],
}

#[derive(Resource)]
struct Run {
    scene: String,
    options: Options,
    seen: usize,
    ms: BTreeMap<String, Vec<f64>>,
}

fn read() -> Option<(PathBuf, Options)> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [scene, size, frames, rest @ ..] = args.as_slice() else { return None };
    let (width, height) = size.split_once('x')?;
    let mut options = Options {
        size: UVec2::new(width.parse().ok()?, height.parse().ok()?),
        frames: frames.parse().ok()?,
        taa: false,
        forward: false,
        shadows: true,
        camera: [0.0, 3.6, 8.6, 0.0, 0.2, -0.8, 45.0],
    };
    for option in rest {
        match option.split_once('=') {
            None if option == "taa" => options.taa = true,
            None if option == "forward" => options.forward = true,
            Some(("shadows", "none")) => options.shadows = false,
            Some(("shadows", "sun")) => options.shadows = true,
            Some(("camera", numbers)) => {
                let numbers: Option<Vec<f32>> =
                    numbers.split(',').map(|number| number.parse().ok()).collect();
                options.camera = numbers?.try_into().ok()?;
            }
            _ => return None,
        }
    }
    Some((PathBuf::from(scene).canonicalize().ok()?, options))
}

fn main() -> ExitCode {
    let Some((scene, options)) = read() else {
        eprintln!(
            "usage: bevy_reflections SCENE.glb WIDTHxHEIGHT FRAMES [taa] [forward] \
             [shadows=none|sun] [camera=EX,EY,EZ,TX,TY,TZ,FOV]"
        );
        return ExitCode::from(2);
    };
    let folder = scene.parent().map(|path| path.to_string_lossy().into_owned());
    let scene = scene.file_name().map(|name| name.to_string_lossy().into_owned());
    let window =
        WindowPlugin { primary_window: None, exit_condition: ExitCondition::DontExit, ..default() };
    let assets = AssetPlugin { file_path: folder.unwrap_or_default(), ..default() };
    let mut app = App::new();
    app.add_plugins(DefaultPlugins.set(window).set(assets).disable::<WinitPlugin>())
        .add_plugins((RenderDiagnosticsPlugin, ScheduleRunnerPlugin::default()))
        .insert_resource(ClearColor(Color::BLACK))
        .insert_resource(GlobalAmbientLight { brightness: 0.0, ..default() })
        .insert_resource(Run {
            scene: scene.unwrap_or_default(),
            options,
            seen: 0,
            ms: BTreeMap::new(),
        })
        .add_systems(Startup, set_up)
        .add_systems(Update, (shadow, count));
    if !options.forward {
        app.insert_resource(DefaultOpaqueRendererMethod::deferred());
    }
    app.run();
    ExitCode::SUCCESS
}

fn set_up(
    mut commands: Commands,
    run: Res<Run>,
    assets: Res<AssetServer>,
    mut images: ResMut<Assets<Image>>,
) {
    let Options { size, taa, forward, camera: [ex, ey, ez, tx, ty, tz, fov], .. } = run.options;
    let size = Extent3d { width: size.x, height: size.y, depth_or_array_layers: 1 };
    let format = TextureFormat::Rgba8UnormSrgb;
    let usages = RenderAssetUsages::default();
    let mut image = Image::new_fill(size, TextureDimension::D2, &[0; 4], format, usages);
    image.texture_descriptor.usage |= TextureUsages::RENDER_ATTACHMENT;
    let handle = images.add(image);
    let projection = PerspectiveProjection { fov: fov.to_radians(), near: 0.1, ..default() };
    let mut camera = commands.spawn((
        Camera3d::default(),
        RenderTarget::Image(ImageRenderTarget { handle, scale_factor: 1.0 }),
        Projection::Perspective(projection),
        Transform::from_xyz(ex, ey, ez).looking_at(Vec3::new(tx, ty, tz), Vec3::Y),
        Exposure { ev100: 7.9 },
        Msaa::Off,
    ));
    if !forward {
        camera.insert((DepthPrepass, DeferredPrepass, ScreenSpaceReflections::default()));
    }
    if taa {
        camera.insert(TemporalAntiAliasing::default());
    }
    let scene = GltfAssetLabel::Scene(0).from_asset(run.scene.clone());
    commands.spawn(WorldAssetRoot(assets.load(scene)));
}

fn shadow(run: Res<Run>, mut suns: Query<&mut DirectionalLight, Added<DirectionalLight>>) {
    for mut sun in &mut suns {
        sun.shadow_maps_enabled = run.options.shadows;
    }
}

fn median(ms: &[f64]) -> f64 {
    let mut counted: Vec<f64> =
        ms.iter().skip(WARM_UP.min(ms.len().saturating_sub(1))).copied().collect();
    counted.sort_by(f64::total_cmp);
    counted.get(counted.len() / 2).copied().unwrap_or(0.0)
}

fn count(
    mut run: ResMut<Run>,
    store: Res<DiagnosticsStore>,
    meshes: Query<(), With<Mesh3d>>,
    mut exit: MessageWriter<AppExit>,
) {
    if meshes.is_empty() {
        return;
    }
    let mut found = false;
    for diagnostic in store.iter() {
        let pass = diagnostic.path().as_str().strip_suffix("/elapsed_gpu");
        if let (Some(pass), Some(last)) = (pass, diagnostic.measurement()) {
            run.ms.entry(pass.to_owned()).or_default().push(last.value);
            found = true;
        }
    }
    run.seen += usize::from(found);
    if run.seen < run.options.frames + WARM_UP {
        return;
    }
    let mut frame = 0.0;
    for (pass, ms) in &run.ms {
        let ms = median(ms);
        println!("{ms:9.2}  {pass}");
        // A span that contains others is the sum of them.
        let prefix = format!("{pass}/");
        if !run.ms.keys().any(|other| other.starts_with(&prefix)) {
            frame += ms;
        }
    }
    println!("{frame:9.2}  frame");
    exit.write(AppExit::Success);
}
