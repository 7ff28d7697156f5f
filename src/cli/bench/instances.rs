//! `sunny16 bench --what instances`: culling and drawing of many instances of a small mesh.

use std::collections::BTreeSet;

use glam::{DVec3, Vec3};
use serde_json::{Value, json};

use super::{
    args::BenchArgs,
    camera_view::first_camera_view,
    record::Measurement,
    series::Series,
    timed_frame::{TimedFrame, timed_frame, warm_up},
    warm_up,
};
use crate::{
    bvh::{Ray, SceneBvh},
    camera::Exposure,
    cli::error::CliError,
    frame::{DrawStats, RenderSettings, Renderer, ShadowSettings},
    gpu_scene::View,
    photometry::Ev100,
    scene::{
        Scene,
        procedural::field::{self, FieldKind},
    },
    session,
    settings::{CullingSettings, ShadowMethod},
};

/// Picture size in pixels.
const SIZE: [u32; 2] = [960, 540];

/// Frames before the measured ones; occlusion culling uses the previous frame from the second on.
const WARM_UP: u32 = 4;

struct Measured {
    /// Median frame time on the host clock in ms.
    frame: f64,
    /// Median of recording and submission on the host in ms.
    host: f64,
    /// Median of culling and G-buffer passes in ms.
    geometry: f64,
    drawn: DrawStats,
}

pub fn run(args: &BenchArgs) -> Result<Measurement, CliError> {
    let mut renderer = session::open_device(&args.device.options()?)?;
    let info = renderer.gpu().info().clone();
    println!(
        "{} instances on {} ({}), {}x{}",
        args.instances, info.name, info.driver, SIZE[0], SIZE[1]
    );
    println!(
        "{:<40} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "median ms", "geometry", "host", "frame", "drawn", "outside", "hidden"
    );
    let mut rows = Vec::new();
    for (name, kind) in [("stones", FieldKind::Stones), ("houses", FieldKind::Houses)] {
        rows.push(measure_field(args, &mut renderer, name, kind)?);
    }
    session::close(renderer)?;
    Ok(Measurement {
        device: Some(info),
        scene: None,
        size: Some(SIZE.map(|side| side as usize)),
        warm_up: warm_up::json(WARM_UP),
        result: json!({"frames": args.frames(), "fields": rows}),
    })
}

fn measure_field(
    args: &BenchArgs,
    renderer: &mut Renderer,
    name: &str,
    kind: FieldKind,
) -> Result<Value, CliError> {
    let count = args.instances as usize;
    let internal = |error: crate::scene::build::SceneError| CliError::Internal(error.to_string());
    let scene = field::field(kind, count).map_err(internal)?;
    let view = first_camera_view(&scene, SIZE)?;
    let seen = visible_instances(&scene, &view);
    let one = seen.first().copied();
    let one = field::merged(kind, count, |index| Some(index) == one).map_err(internal)?;
    let merged = field::merged(kind, count, |index| seen.contains(&index)).map_err(internal)?;
    let triangles = kind.mesh().indices.len() / 3;
    println!("{name}: {triangles} triangles each, {} instances visible", seen.len());
    let on = CullingSettings::default();
    let off = CullingSettings { enabled: false, ..on };
    let in_view = CullingSettings { occlusion: false, ..on };
    let mut row =
        |what: &str, scene: &Scene, culling: CullingSettings| -> Result<Measured, CliError> {
            let shadows = what.contains("shadows");
            let measured = measure(args, renderer, scene, &view, (culling, shadows))?;
            let Measured { frame, host, geometry, drawn } = &measured;
            println!(
                "  {what:<38} {geometry:>9.3} {host:>9.3} {frame:>9.3} {:>9} {:>9} {:>9}",
                drawn.instances, drawn.frustum_culled, drawn.occlusion_culled
            );
            Ok(measured)
        };
    let rows = [
        ("one instance alone", row("one instance alone", &one, off)?),
        ("visible instances as one mesh", row("visible instances as one mesh", &merged, off)?),
        ("all, frustum culling on the host", row("all, frustum culling on the host", &scene, off)?),
        (
            "all, frustum culling on the device",
            row("all, frustum culling on the device", &scene, in_view)?,
        ),
        ("all, with occlusion culling", row("all, with occlusion culling", &scene, on)?),
        (
            "the same, moving view, sun shadows",
            row("the same, moving view, sun shadows", &scene, on)?,
        ),
    ];
    let [_, (_, alone), .., (_, ours), _] = &rows;
    println!(
        "  ratio to the visible instances as one mesh: geometry {:.2}, frame {:.2}",
        ours.geometry / alone.geometry,
        ours.frame / alone.frame
    );
    let described = rows.iter().map(|(what, m)| {
        json!({"what": what, "geometry_ms": m.geometry, "host_ms": m.host, "frame_ms": m.frame,
               "drawn": m.drawn.instances, "outside": m.drawn.frustum_culled, "hidden": m.drawn.occlusion_culled})
    });
    Ok(json!({"field": name, "instances": count, "triangles": triangles, "seen": seen.len(),
              "rows": described.collect::<Vec<_>>()}))
}

/// Indices of the instances visible at some pixel center, found by one ray a pixel.
fn visible_instances(scene: &Scene, view: &View) -> BTreeSet<usize> {
    let bvh = SceneBvh::new(scene, |_| true);
    let top = bvh.tlas_from(view.position);
    let ndc = |size: u32, index: u32| (f64::from(index) + 0.5) / f64::from(size) * 2.0 - 1.0;
    let inverse = view.inverse.as_dmat4();
    let mut seen = BTreeSet::new();
    for y in 0..SIZE[1] {
        for x in 0..SIZE[0] {
            let p: DVec3 =
                inverse.project_point3(DVec3::new(ndc(SIZE[0], x), ndc(SIZE[1], y), 1.0));
            let direction = p.normalize().as_vec3();
            let ray = Ray {
                origin: Vec3::ZERO,
                direction,
                t_min: 0.0,
                t_max: f32::INFINITY,
                offset_normal: Vec3::ZERO,
            };
            let node = bvh
                .closest(&top, &ray)
                .and_then(|hit| bvh.instance_blas(hit.instance))
                .map(|(node, _)| node);
            // Instances come first among the field's nodes.
            seen.extend(node);
        }
    }
    seen
}

fn measure(
    args: &BenchArgs,
    renderer: &mut Renderer,
    scene: &Scene,
    view: &View,
    (culling, with_shadows): (CullingSettings, bool),
) -> Result<Measured, CliError> {
    let exposure =
        Exposure::from_ev100(Ev100(15.0)).map_err(|error| CliError::Internal(error.to_string()))?;
    let shadows = ShadowSettings {
        enabled: with_shadows,
        method: ShadowMethod::Maps,
        ..ShadowSettings::default()
    };
    let settings = RenderSettings { exposure, shadows, culling, ..RenderSettings::default() };
    let uploaded = renderer.upload_for(scene, &settings.shadows)?;
    warm_up(renderer, &uploaded, view, &settings)?;
    let [mut frame, mut host, mut geometry] = ["frame", "host", "geometry"].map(Series::new);
    let mut drawn = DrawStats::default();
    for number in 0..WARM_UP + args.frames() {
        // A moving camera: shadow maps are rendered in each frame.
        let mut view = *view;
        if with_shadows {
            view.position.x += f64::from(number) * 0.5;
        }
        let TimedFrame { picture, submitted_ms, ms } =
            timed_frame(renderer, &uploaded, &view, &settings)?;
        drawn = picture.draw_stats;
        if number >= WARM_UP {
            frame.ms.push(ms);
            host.ms.push(submitted_ms);
            let finds = |name: &str| {
                name == "gbuffer" || name.starts_with("cull") || name.starts_with("depth pyramid")
            };
            geometry.ms.push(
                picture.times.iter().filter(|time| finds(&time.name)).map(|time| time.ms).sum(),
            );
        }
    }
    Ok(Measured {
        frame: frame.percentile(0.5),
        host: host.percentile(0.5),
        geometry: geometry.percentile(0.5),
        drawn,
    })
}
