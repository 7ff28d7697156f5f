//! `sunny16 bench --what gi`: cost of indirect light by VPLs, triangles and resolution.

use glam::{DMat4, DVec3, Vec3};
use serde_json::{Value, json};

use super::{
    args::BenchArgs,
    record::Measurement,
    series::Series,
    shapes::{out_of_memory_reason, rock},
    timed_frame::{timed_frame, warm_up},
    warm_up,
};
use crate::{
    camera::Exposure,
    cli::error::CliError,
    frame::{GiSettings, RenderSettings, Renderer, ShadowSettings},
    gpu_scene::View,
    photometry::{Ev100, Lumen},
    scene::{
        Projection, Scene,
        build::{SceneBuilder, dielectric, look_at_transform},
        procedural::shapes,
    },
    session::{self, OpenScene},
    settings::{FinalGather, ShadowMethod},
};

/// VPLs of the brute-force baseline, which evaluates all of them at every pixel.
const BRUTE_FORCE_VPLS: u32 = 1024;

/// Cost of one configuration.
struct GiTiming {
    /// Number of VPLs.
    vpl_count: u32,
    /// Median of the VPL sampling pass in ms.
    sampling_ms: f64,
    /// Sum of the medians of the other GI passes in ms.
    rest: f64,
    /// Median of the direct lighting pass in ms, for comparison.
    lighting: f64,
}

impl GiTiming {
    fn columns(&self) -> String {
        format!(
            "{:>9} {:>9.2} {:>9.2} {:>9.2}",
            self.vpl_count, self.sampling_ms, self.rest, self.lighting
        )
    }

    fn json(&self, mut with: Value) -> Value {
        let own = [
            ("vpls", json!(self.vpl_count)),
            ("gi_ms", json!(self.sampling_ms)),
            ("rest_ms", json!(self.rest)),
            ("lighting_ms", json!(self.lighting)),
        ];
        if let Value::Object(map) = &mut with {
            map.extend(own.map(|(name, value)| (name.to_owned(), value)));
        }
        with
    }
}

/// A scene, its view and settings.
struct BenchView<'a> {
    scene: &'a Scene,
    view: View,
    settings: RenderSettings,
}

impl BenchView<'_> {
    fn cost(
        &self,
        renderer: &mut Renderer,
        gi: GiSettings,
        frames: u32,
    ) -> Result<GiTiming, CliError> {
        // A still view would freeze after some frames.
        let gi = GiSettings { enabled: true, freeze_after: u32::MAX, ..gi };
        let shadows = ShadowSettings { method: ShadowMethod::Traced, ..self.settings.shadows };
        let settings = RenderSettings { gi, shadows, ..self.settings.clone() };
        let mut on_device = renderer.upload_for(self.scene, &settings.shadows)?;
        on_device.update_gi(renderer.gpu(), self.scene, &gi)?;
        let vpls = on_device.gi.as_ref().map_or(0, |indirect| indirect.set.vpls.len() as u32);
        let mut passes: Vec<Series> = Vec::new();
        warm_up(renderer, &on_device, &self.view, &settings)?;
        renderer.reset_history();
        for number in 0..=frames {
            let timed = timed_frame(renderer, &on_device, &self.view, &settings)?;
            if number > 0 {
                Series::record_passes(&mut passes, &timed.picture.times);
            }
        }
        let sum = |wanted: &dyn Fn(&str) -> bool| {
            passes
                .iter()
                .filter(|series| wanted(&series.name))
                .map(|series| series.percentile(0.5))
                .sum::<f64>()
        };
        Ok(GiTiming {
            vpl_count: vpls,
            sampling_ms: sum(&|name| name == "gi"),
            rest: sum(&|name| name.starts_with("gi ")),
            lighting: sum(&|name| name == "lighting"),
        })
    }
}

pub fn run(args: &BenchArgs, opened: &OpenScene) -> Result<Measurement, CliError> {
    let mut renderer = session::open_device(&args.device.options()?)?;
    let info = renderer.gpu().info().clone();
    let settings = opened.settings(exposed(8.0)?, vec![]);
    let asked = opened.gi();
    let seen = BenchView { scene: &opened.scene, view: opened.view(), settings };
    let (width, height) = (seen.view.width, seen.view.height);
    println!(
        "indirect light, {} on {} ({}), medians in ms",
        args.scene.name(),
        info.name,
        info.driver
    );
    println!("{:<28} {:>9} {:>9} {:>9} {:>9}", "", "vpls", "gi", "rest", "lighting");
    let line = |name: String, cost: &GiTiming| println!("{name:<28} {}", cost.columns());

    let mut by_vpls = Vec::new();
    for &vpls in &args.vpls {
        let cost = seen.cost(&mut renderer, GiSettings { vpls, ..asked }, args.frames())?;
        line(format!("{width}x{height}, {vpls}"), &cost);
        by_vpls.push(cost.json(json!({"asked": vpls, "way": "tree"})));
    }
    let plain = GiSettings {
        vpls: BRUTE_FORCE_VPLS,
        merge: true,
        final_gather: FinalGather::All,
        vpl_visibility: false,
        bias_compensation: false,
        environment_visibility: false,
        specular: false,
        ..asked
    };
    let cost = seen.cost(&mut renderer, plain, args.frames())?;
    line(format!("{width}x{height}, all, no visibility"), &cost);
    by_vpls.push(cost.json(json!({"asked": BRUTE_FORCE_VPLS, "way": "all"})));

    let mut by_resolution = Vec::new();
    for [times, over] in [[1, 2], [1, 1], [3, 2]] {
        let view =
            seen.view.resized((width * times).div_ceil(over), (height * times).div_ceil(over));
        let at = BenchView { view, settings: seen.settings.clone(), ..seen };
        let cost = at.cost(&mut renderer, asked, args.frames())?;
        line(format!("{}x{}", view.width, view.height), &cost);
        by_resolution.push(cost.json(json!({"size": [view.width, view.height]})));
    }

    let mut by_triangles = Vec::new();
    for &triangles in &args.triangles {
        if let Some(why) = out_of_memory_reason(triangles) {
            println!("rock, {triangles} triangles: skipped: {why}");
            by_triangles.push(json!({"triangles": triangles, "left_out": why}));
            continue;
        }
        let scene = room(triangles)?;
        let eye = look_at_transform(DVec3::new(0.1, 0.4, 3.4), DVec3::new(0.0, -0.3, 0.0));
        let projection =
            Projection::Perspective { vertical_fov: 0.8, aspect: None, near: 0.05, far: None };
        let settings = RenderSettings { exposure: exposed(6.0)?, ..seen.settings.clone() };
        let of =
            BenchView { scene: &scene, view: View::new(eye, &projection, width, height), settings };
        let cost = of.cost(&mut renderer, asked, args.frames())?;
        line(format!("rock in a room, {}", scene.instanced_triangles()), &cost);
        by_triangles.push(cost.json(json!({"triangles": scene.instanced_triangles()})));
    }
    session::close(renderer)?;
    Ok(Measurement {
        device: Some(info),
        scene: Some(args.scene.name()),
        size: Some([width as usize, height as usize]),
        warm_up: warm_up::json(1),
        result: json!({
            "frames": args.frames(), "rays": asked.vpl_samples, "by_vpls": by_vpls,
            "by_resolution": by_resolution, "by_triangles": by_triangles,
        }),
    })
}

fn exposed(ev: f64) -> Result<Exposure, CliError> {
    Exposure::from_ev100(Ev100(ev)).map_err(|error| CliError::Internal(error.to_string()))
}

/// A bumpy ball of about `triangles` triangles in a closed room with one point light.
fn room(triangles: u32) -> Result<Scene, CliError> {
    let mut builder = SceneBuilder::new("room");
    let white = builder.add_material(dielectric("white", Vec3::splat(0.7), 1.0));
    let rock = builder.add_mesh("rock", rock(triangles), white);
    builder.instance("rock", rock, DMat4::IDENTITY);
    for (name, size, at) in [
        ("floor", Vec3::new(8.0, 0.2, 8.0), DVec3::new(0.0, -1.4, 0.0)),
        ("ceiling", Vec3::new(8.0, 0.2, 8.0), DVec3::new(0.0, 2.6, 0.0)),
        ("back", Vec3::new(8.0, 4.0, 0.2), DVec3::new(0.0, 0.6, -3.9)),
        ("front", Vec3::new(8.0, 4.0, 0.2), DVec3::new(0.0, 0.6, 3.9)),
        ("left", Vec3::new(0.2, 4.0, 8.0), DVec3::new(-3.9, 0.6, 0.0)),
        ("right", Vec3::new(0.2, 4.0, 8.0), DVec3::new(3.9, 0.6, 0.0)),
    ] {
        let mesh = builder.add_mesh(name, shapes::cuboid(size), white);
        builder.instance(name, mesh, DMat4::from_translation(at));
    }
    builder.point_light_lumens("lamp", Lumen(3000.0), Vec3::ONE, DVec3::new(1.5, 2.0, 1.5));
    builder.build().map_err(|error| CliError::Internal(error.to_string()))
}
