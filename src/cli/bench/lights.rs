//! `sunny16 bench --what lights`: cost by number of lights, with clustered lights on and off.

use serde_json::json;

use super::{
    args::BenchArgs,
    bench_scene::{BenchScene, Measured, WARM_UP},
    camera_view::first_camera_view,
    record::Measurement,
    series::{declared_json, summed},
    units::mib,
    warm_up,
};
use crate::{
    camera::Exposure,
    cli::error::CliError,
    frame::{RenderSettings, ShadowSettings},
    graph::DeclaredBytes,
    photometry::Ev100,
    scene::procedural,
    session::{self, Size},
};

/// Light counts of the series.
const LIGHT_COUNTS: [usize; 5] = [1, 4, 16, 64, 256];

/// Triangles of the hall.
const HALL_TRIANGLES: usize = 20_000;

/// Measures 1 to 256 lights in a hall by day, with and without clustered lights.
pub fn run(args: &BenchArgs) -> Result<Measurement, CliError> {
    let mut renderer = session::open_device(&args.device.options()?)?;
    let info = renderer.gpu().info().clone();
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
    let mut last = None;
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
            ready.measure(&mut renderer, args.frames())
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
        let declared =
            renderer.plan(&ready.on_device, &ready.view, &ready.settings)?.declared_bytes();
        rows.push(json!({
            "lights": count, "lighting_ms": lighting(&all), "clustered_ms": lighting(&listed),
            "clusters_ms": lists, "declared_bytes": declared_json(&declared),
        }));
        last = Some((count, listed, declared));
    }
    if let Some((count, measured, declared)) = &last {
        print_passes(*count, measured, declared);
    }
    session::close(renderer)?;
    Ok(Measurement {
        device: Some(info),
        scene: None,
        size: Some([size.width as usize, size.height as usize]),
        warm_up: warm_up::json(WARM_UP),
        result: json!({"frames": args.frames(), "triangles": HALL_TRIANGLES, "rows": rows}),
    })
}

/// Prints time and declared bytes of each pass, with clustered lights.
fn print_passes(lights: usize, measured: &Measured, declared: &[DeclaredBytes]) {
    println!("{lights} lights, clustered: each declared image and buffer whole and once, in MiB");
    println!(
        "{:>10} {:>12} {:>14} {:>13} {:>15}  pass",
        "ms", "images read", "images written", "buffers read", "buffers written"
    );
    for pass in summed(declared) {
        println!(
            "{:>10.3} {:>12.2} {:>14.2} {:>13.2} {:>15.2}  {}",
            measured.pass(|name| name == pass.pass),
            mib(pass.images_read),
            mib(pass.images_written),
            mib(pass.buffers_read),
            mib(pass.buffers_written),
            pass.pass
        );
    }
}
