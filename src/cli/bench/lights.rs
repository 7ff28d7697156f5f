//! `sunny16 bench --what lights`: cost by number of lights, with clustered lights on and off.

use serde_json::{Value, json};

use super::{
    args::BenchArgs,
    bench_scene::{BenchScene, Measured},
    camera_view::first_camera_view,
};
use crate::{
    camera::Exposure,
    cli::error::CliError,
    frame::{RenderSettings, ShadowSettings},
    photometry::Ev100,
    scene::procedural,
    session::{self, Size},
};

/// Light counts of the series.
const LIGHT_COUNTS: [usize; 5] = [1, 4, 16, 64, 256];

/// Triangles of the hall.
const HALL_TRIANGLES: usize = 20_000;

/// Measures 1 to 256 lights in a hall by day, with and without clustered lights.
pub fn run(args: &BenchArgs) -> Result<Value, CliError> {
    let mut renderer = session::open_device(&args.device.options()?)?;
    let info = renderer.gpu().info();
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
    session::close(renderer)?;
    Ok(Value::Array(rows))
}
