//! `sunny16 bench --what effects`: cost of each effect alone.

use serde_json::json;

use super::{
    args::BenchArgs,
    bench_scene::{BenchScene, WARM_UP},
    record::Measurement,
    warm_up,
};
use crate::{
    cli::error::CliError,
    session::{self, OpenScene},
};

/// Each effect, with the properties that enable it over the frame without effects.
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

/// Measures each effect alone against the frame without effects.
pub fn run(args: &BenchArgs, opened: &OpenScene) -> Result<Measurement, CliError> {
    let mut renderer = session::open_device(&args.device.options()?)?;
    let info = renderer.gpu().info().clone();
    println!(
        "effects, {} on {} ({}), {}x{}, medians in ms",
        args.scene.name(),
        info.name,
        info.driver,
        opened.size.width,
        opened.size.height
    );
    println!(
        "{:<22} {:>9} {:>9} {:>9} {:>9} {:>8}  most expensive own pass",
        "", "without", "with", "ratio", "its own", "passes"
    );
    let none;
    (none, renderer) = BenchScene::new(opened, &[], renderer)?;
    let mut rows = Vec::new();
    for (name, properties) in EFFECTS {
        let one;
        (one, renderer) = BenchScene::new(opened, properties, renderer)?;
        // Baseline and effect alternate, because clock rates drift over minutes.
        let base = none.measure(&mut renderer, args.frames())?;
        let measured = one.measure(&mut renderer, args.frames())?;
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
    drop(none);
    session::close(renderer)?;
    Ok(Measurement {
        device: Some(info),
        scene: Some(args.scene.name()),
        size: Some([opened.size.width as usize, opened.size.height as usize]),
        warm_up: warm_up::json(WARM_UP),
        result: json!({"frames": args.frames(), "effects": rows}),
    })
}
