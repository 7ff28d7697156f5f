//! `sunny16 bench --what effects` and `--what lights`: cost of each effect alone, and cost by
//! number of lights.

use serde_json::{Value, json};

use super::{
    CliError,
    bench::{BenchArgs, Series, elapsed_ms},
    bench_instances::first_camera_view,
};
use crate::{
    camera::Exposure,
    frame::{Readback, RenderSettings, Renderer, ShadowSettings},
    gpu::Gpu,
    passes::{GpuScene, View},
    photometry::Ev100,
    scene::{look::Look, procedural},
    session::{Session, Size, expose},
};

/// Properties of the frame without effects.
const BASELINE: [&str; 15] = [
    "effects.depth_of_field.enabled=false",
    "effects.motion_blur.enabled=false",
    "effects.starburst.enabled=false",
    "effects.ghosts.enabled=false",
    "effects.bloom.enabled=false",
    "effects.vignetting.enabled=false",
    "effects.chromatic_aberration.enabled=false",
    "effects.distortion.enabled=false",
    "effects.grain.enabled=false",
    "passes.aa.method=none",
    "passes.ao.enabled=false",
    "passes.ssr.enabled=false",
    "passes.shadows.enabled=false",
    "gi.enabled=false",
    // The same lens in all rows, hence the same pupil and field of view.
    "camera.lens.prescription=builtin:dgauss-50-f2",
];

/// Each effect, with the properties that enable it over [`BASELINE`].
const EFFECTS: [(&str, &[&str]); 16] = [
    ("shadows, maps", &["passes.shadows.enabled=true", "passes.shadows.method=maps"]),
    ("shadows, traced", &["passes.shadows.enabled=true", "passes.shadows.method=traced"]),
    ("ambient occlusion", &["passes.ao.enabled=true"]),
    ("reflections", &["passes.ssr.enabled=true"]),
    ("indirect light", &["gi.enabled=true"]),
    ("AA, morphological", &["passes.aa.method=morphological"]),
    ("AA, temporal", &["passes.aa.method=taa"]),
    (
        "depth of field",
        &[
            "effects.depth_of_field.enabled=true",
            "effects.depth_of_field.focus=1.5",
            "effects.depth_of_field.f_stop=2",
        ],
    ),
    (
        "motion blur",
        &[
            "effects.motion_blur.enabled=true",
            "effects.motion_blur.shutter=1/15",
            "camera.motion.angular_velocity=0 20 0",
        ],
    ),
    ("starburst", &["effects.starburst.enabled=true", "effects.starburst.f_stop=11"]),
    ("ghosts", &["effects.ghosts.enabled=true"]),
    ("bloom", &["effects.bloom.enabled=true", "effects.bloom.fraction=0.02"]),
    ("distortion", &["effects.distortion.enabled=true"]),
    (
        "chromatic aberration",
        &["effects.chromatic_aberration.enabled=true", "effects.chromatic_aberration.amount=0.5"],
    ),
    ("vignetting", &["effects.vignetting.enabled=true"]),
    ("grain", &["effects.grain.enabled=true", "effects.grain.iso=1600"]),
];

/// Light counts of the series.
const LIGHT_COUNTS: [usize; 5] = [1, 4, 16, 64, 256];

/// Triangles of the hall.
const HALL_TRIANGLES: usize = 20_000;

/// Frames before the measured ones.
const WARM_UP: u32 = 2;

/// Times of a frame.
struct Measured {
    /// Median on the host clock in ms.
    frame: f64,
    /// Medians of the passes by device timestamps in ms.
    passes: Vec<(String, f64)>,
}

impl Measured {
    fn pass(&self, named: impl Fn(&str) -> bool) -> f64 {
        self.passes.iter().filter(|(name, _)| named(name)).map(|(_, ms)| ms).sum()
    }
}

/// An uploaded scene with its view and settings.
struct BenchScene {
    on_device: GpuScene,
    view: View,
    settings: RenderSettings,
}

impl BenchScene {
    /// Uploads the session's scene with [`BASELINE`] and `properties` applied to the look.
    fn new(
        session: &mut Session,
        requested: &Look,
        size: Size,
        properties: &[&str],
        renderer: &mut Renderer,
    ) -> Result<Self, CliError> {
        let mut look = requested.clone();
        for property in BASELINE.iter().chain(properties) {
            look.assign(property)?;
        }
        session.set_look(look, size)?;
        let view = session.view();
        let on_device = session.upload(renderer)?;
        let exposed = expose::determine_exposure(session, renderer, &on_device, &view, false)?;
        let mut settings = session.final_settings(&exposed, vec![])?;
        // A still view would freeze after some frames.
        settings.gi.freeze_after = u32::MAX;
        Ok(Self { on_device, view, settings })
    }

    fn measure(&self, renderer: &mut Renderer, frames: u32) -> Result<Measured, CliError> {
        let Self { on_device, view, settings } = self;
        let mut frame = Series { name: String::new(), ms: Vec::new() };
        let mut passes: Vec<Series> = Vec::new();
        renderer.reset_history();
        for number in 0..WARM_UP + frames {
            let start = std::time::Instant::now();
            let pending = renderer.submit(
                on_device,
                view,
                settings,
                Readback { display: false, nits: false },
            )?;
            let picture = renderer.collect(pending)?;
            if number < WARM_UP {
                continue;
            }
            frame.ms.push(elapsed_ms(start));
            Series::record_passes(&mut passes, &picture.times);
        }
        let passes =
            passes.iter().map(|series| (series.name.clone(), series.percentile(0.5))).collect();
        Ok(Measured { frame: frame.percentile(0.5), passes })
    }
}

/// Measures each effect alone against the frame without effects.
pub fn effects(args: &BenchArgs, session: &mut Session) -> Result<Value, CliError> {
    let gpu = Gpu::open(&args.device.options()?)?;
    let mut renderer = Renderer::new(&gpu)?;
    let info = gpu.info();
    let size = Size { width: session.size.width, height: session.size.height };
    println!(
        "effects, {} on {} ({}), {}x{}, medians in ms",
        args.scene.name(),
        info.name,
        info.driver,
        size.width,
        size.height
    );
    println!(
        "{:<22} {:>9} {:>9} {:>9} {:>9} {:>8}  most expensive own pass",
        "", "without", "with", "ratio", "its own", "passes"
    );
    let requested = session.look.clone();
    let none = BenchScene::new(session, &requested, size, &[], &mut renderer)?;
    let mut rows = Vec::new();
    for (name, properties) in EFFECTS {
        let one = BenchScene::new(session, &requested, size, properties, &mut renderer)?;
        // Baseline and effect alternate, because clock rates drift over minutes.
        let base = none.measure(&mut renderer, args.frames)?;
        let measured = one.measure(&mut renderer, args.frames)?;
        let ratio = measured.frame / base.frame;
        let known = |name: &str| base.passes.iter().any(|(other, _)| other == name);
        let own = measured.pass(|name| !known(name)).max(0.0);
        let fresh = measured.passes.iter().filter(|(name, _)| !known(name));
        let count = fresh.clone().count();
        let dearest =
            fresh.max_by(|a, b| a.1.total_cmp(&b.1)).map_or("", |(name, _)| name.as_str());
        println!(
            "{name:<22} {:>9.2} {:>9.2} {ratio:>9.2} {own:>9.2} {count:>8}  {dearest}",
            base.frame, measured.frame
        );
        rows.push(json!({"effect": name, "without_ms": base.frame, "with_ms": measured.frame, "ratio": ratio,
                         "own_ms": own, "own_passes": count, "dearest": dearest}));
    }
    session.set_look(requested, size)?;
    Ok(Value::Array(rows))
}

/// Measures 1 to 256 lights in a hall by day, with and without clustered lights.
pub fn clustered_lights(args: &BenchArgs) -> Result<Value, CliError> {
    let gpu = Gpu::open(&args.device.options()?)?;
    let mut renderer = Renderer::new(&gpu)?;
    let info = gpu.info();
    let size = args.scene.size.unwrap_or(Size { width: 640, height: 360 });
    println!(
        "lights in a hall, {} ({}), {}x{}, no shadows, medians in ms",
        info.name, info.driver, size.width, size.height
    );
    println!(
        "{:>7} {:>12} {:>12} {:>14} {:>12}",
        "lights", "lighting", "a light", "clustered", "clusters"
    );
    let mut rows = Vec::new();
    for count in LIGHT_COUNTS {
        let scene = procedural::hall(count, HALL_TRIANGLES)
            .map_err(|error| CliError::Internal(error.to_string()))?;
        let view = first_camera_view(&scene, [size.width, size.height])?;
        let exposure = Exposure::from_ev100(Ev100(11.64))
            .map_err(|error| CliError::Internal(error.to_string()))?;
        let shadows = ShadowSettings { enabled: false, ..ShadowSettings::default() };
        let settings = RenderSettings { exposure, shadows, ..RenderSettings::default() };
        let mut ready = BenchScene { on_device: renderer.upload(&scene)?, view, settings };
        let mut with = |enabled: bool| {
            ready.settings.clustered_lights.enabled = enabled;
            ready.measure(&mut renderer, args.frames)
        };
        let (all, listed) = (with(false)?, with(true)?);
        let lighting = |measured: &Measured| measured.pass(|name| name == "lighting");
        let lists = listed.pass(|name| name == "clustered lights");
        println!(
            "{count:>7} {:>12.3} {:>12.4} {:>14.3} {lists:>12.3}",
            lighting(&all),
            lighting(&all) / count as f64,
            lighting(&listed)
        );
        rows.push(json!({"lights": count, "lighting_ms": lighting(&all), "clustered_ms": lighting(&listed),
                         "clusters_ms": lists}));
    }
    Ok(Value::Array(rows))
}
