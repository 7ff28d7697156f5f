//! `sunny16 bench --what effects` and `--what lamps`: what each effect costs by itself, and what
//! more lamps cost.

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

/// Without any of them.
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
    // A lens, so that the pupil and the field of view are the same in all rows.
    "camera.lens.prescription=builtin:dgauss-50-f2",
];

/// Each effect, with the properties that turn it on beside none.
const EFFECTS: [(&str, &[&str]); 16] = [
    ("shadows, maps", &["passes.shadows.enabled=true", "passes.shadows.method=maps"]),
    ("shadows, traced", &["passes.shadows.enabled=true", "passes.shadows.method=traced"]),
    ("ambient occlusion", &["passes.ao.enabled=true"]),
    ("reflections", &["passes.ssr.enabled=true"]),
    ("bounced light", &["gi.enabled=true"]),
    ("edges, morphological", &["passes.aa.method=morphological"]),
    ("edges, temporal", &["passes.aa.method=taa"]),
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
            "camera.motion.rotation=0 20 0",
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

/// Lamps of the series.
const LIGHT_COUNTS: [usize; 5] = [1, 4, 16, 64, 256];

/// Triangles of the hall that they hang in.
const HALL_TRIANGLES: usize = 20_000;

/// Frames before those that are measured.
const WARM_UP: u32 = 2;

/// What a frame took.
struct Measured {
    /// Median by the host's clock (ms).
    frame: f64,
    /// Medians of the passes by the device's (ms).
    passes: Vec<(String, f64)>,
}

impl Measured {
    fn pass(&self, named: impl Fn(&str) -> bool) -> f64 {
        self.passes.iter().filter(|(name, _)| named(name)).map(|(_, ms)| ms).sum()
    }
}

/// A scene on the device, and how it is drawn.
struct BenchScene {
    on_device: GpuScene,
    view: View,
    settings: RenderSettings,
}

impl BenchScene {
    /// With none of the effects but those that these properties turn on.
    fn new(
        session: &mut Session,
        asked: &Look,
        size: Size,
        properties: &[&str],
        renderer: &mut Renderer,
    ) -> Result<Self, CliError> {
        let mut look = asked.clone();
        for property in BASELINE.iter().chain(properties) {
            look.assign(property)?;
        }
        session.set_look(look, size)?;
        let view = session.view();
        let on_device = session.upload(renderer)?;
        let exposed = expose::determine_exposure(session, renderer, &on_device, &view, false)?;
        let mut settings = session.picture_settings(&exposed, vec![])?;
        // A still view is left as it is after some frames.
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

/// Each effect by itself beside none.
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
        "{:<22} {:>9} {:>9} {:>9} {:>9} {:>8}  dearest pass of its own",
        "", "without", "with", "ratio", "its own", "passes"
    );
    let asked = session.look.clone();
    let none = BenchScene::new(session, &asked, size, &[], &mut renderer)?;
    let mut rows = Vec::new();
    for (name, properties) in EFFECTS {
        let one = BenchScene::new(session, &asked, size, properties, &mut renderer)?;
        // One after the other each time: a machine is not the same for minutes.
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
    session.set_look(asked, size)?;
    Ok(Value::Array(rows))
}

/// More and more lamps over the same hall by day, every pixel evaluating all of them, and as light
/// lists leave them out.
pub fn clustered_lights(args: &BenchArgs) -> Result<Value, CliError> {
    let gpu = Gpu::open(&args.device.options()?)?;
    let mut renderer = Renderer::new(&gpu)?;
    let info = gpu.info();
    let size = args.scene.size.unwrap_or(Size { width: 640, height: 360 });
    println!(
        "lamps in a hall, {} ({}), {}x{}, no shadows, medians in ms",
        info.name, info.driver, size.width, size.height
    );
    println!(
        "{:>7} {:>12} {:>12} {:>14} {:>12}",
        "lamps", "lighting", "a lamp", "with lists", "lists"
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
        let lists = listed.pass(|name| name.contains("light list"));
        println!(
            "{count:>7} {:>12.3} {:>12.4} {:>14.3} {lists:>12.3}",
            lighting(&all),
            lighting(&all) / count as f64,
            lighting(&listed)
        );
        rows.push(json!({"lamps": count, "lighting_ms": lighting(&all), "with_lists_ms": lighting(&listed),
                         "lists_ms": lists}));
    }
    Ok(Value::Array(rows))
}
