//! Times Bevy's reflection pass on a scene, without a window: `bevy_reflections SCENE.glb
//! WIDTHxHEIGHT FRAMES [taa]` prints the median of its own diagnostics of each pass on the device,
//! in ms. Camera and exposure are those of `scene.py`.

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

#[derive(Resource)]
struct Run {
    scene: String,
    size: UVec2,
    frames: usize,
    taa: bool,
    seen: usize,
    ms: BTreeMap<String, Vec<f64>>,
}

fn read() -> Option<(PathBuf, UVec2, usize, bool)> {
    let args: Vec<String> = env::args().skip(1).collect();
    let [scene, size, frames, rest @ ..] = args.as_slice() else { return None };
    let (width, height) = size.split_once('x')?;
    let size = UVec2::new(width.parse().ok()?, height.parse().ok()?);
    let taa = match rest {
        [] => false,
        [taa] if taa == "taa" => true,
        _ => return None,
    };
    Some((PathBuf::from(scene).canonicalize().ok()?, size, frames.parse().ok()?, taa))
}

fn main() -> ExitCode {
    let Some((scene, size, frames, taa)) = read() else {
        eprintln!("usage: bevy_reflections SCENE.glb WIDTHxHEIGHT FRAMES [taa]");
        return ExitCode::from(2);
    };
    let folder = scene.parent().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default();
    let scene = scene.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let window = WindowPlugin { primary_window: None, exit_condition: ExitCondition::DontExit, ..default() };
    let assets = AssetPlugin { file_path: folder, ..default() };
    App::new()
        .add_plugins(DefaultPlugins.set(window).set(assets).disable::<WinitPlugin>())
        .add_plugins((RenderDiagnosticsPlugin, ScheduleRunnerPlugin::default()))
        .insert_resource(DefaultOpaqueRendererMethod::deferred())
        .insert_resource(ClearColor(Color::BLACK))
        .insert_resource(GlobalAmbientLight { brightness: 0.0, ..default() })
        .insert_resource(Run { scene, size, frames, taa, seen: 0, ms: BTreeMap::new() })
        .add_systems(Startup, set_up)
        .add_systems(Update, (shadow, count))
        .run();
    ExitCode::SUCCESS
}

fn set_up(mut commands: Commands, run: Res<Run>, assets: Res<AssetServer>, mut images: ResMut<Assets<Image>>) {
    let size = Extent3d { width: run.size.x, height: run.size.y, depth_or_array_layers: 1 };
    let format = TextureFormat::Rgba8UnormSrgb;
    let mut image = Image::new_fill(size, TextureDimension::D2, &[0; 4], format, RenderAssetUsages::default());
    image.texture_descriptor.usage |= TextureUsages::RENDER_ATTACHMENT;
    let handle = images.add(image);
    let mut camera = commands.spawn((
        Camera3d::default(),
        RenderTarget::Image(ImageRenderTarget { handle, scale_factor: 1.0 }),
        Projection::Perspective(PerspectiveProjection { fov: 45f32.to_radians(), near: 0.1, ..default() }),
        Transform::from_xyz(0.0, 3.6, 8.6).looking_at(Vec3::new(0.0, 0.2, -0.8), Vec3::Y),
        Exposure { ev100: 7.9 },
        Msaa::Off,
        DepthPrepass,
        DeferredPrepass,
        ScreenSpaceReflections::default(),
    ));
    if run.taa {
        camera.insert(TemporalAntiAliasing::default());
    }
    commands.spawn(WorldAssetRoot(assets.load(GltfAssetLabel::Scene(0).from_asset(run.scene.clone()))));
}

fn shadow(mut suns: Query<&mut DirectionalLight, Added<DirectionalLight>>) {
    for mut sun in &mut suns {
        sun.shadow_maps_enabled = true;
    }
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
        if let (Some(pass), Some(last)) = (diagnostic.path().as_str().strip_suffix("/elapsed_gpu"), diagnostic.measurement()) {
            run.ms.entry(pass.to_owned()).or_default().push(last.value);
            found = true;
        }
    }
    run.seen += usize::from(found);
    if run.seen < run.frames + WARM_UP {
        return;
    }
    for (pass, ms) in &run.ms {
        let mut counted: Vec<f64> = ms.iter().skip(WARM_UP.min(ms.len() - 1)).copied().collect();
        counted.sort_by(f64::total_cmp);
        println!("{:9.2}  {pass}", counted[counted.len() / 2]);
    }
    exit.write(AppExit::Success);
}
