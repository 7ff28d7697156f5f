//! `sunny16 lens`: paraxial data, aberrations and ghosts of a lens prescription, and a drawing.

use std::path::PathBuf;

use clap::Args;
use glam::{DVec2, DVec3, dvec2};

use super::error::{CliError, check_output};
use crate::{
    camera::{
        Iris,
        body::{SensorPreset, SensorSize},
        scopes::Raster,
    },
    optics::{
        Axis, Lens, LensSettings, Prescription,
        glass::{LINE_C, LINE_D, LINE_F},
        imaging::{self, LensImaging, fields_of_view, tangents},
        library,
        mounted_lens::{f_stop_note, reachable_f_stop},
        paraxial::Pupil,
        prescription::Focusing,
        trace::{Losses, Ray},
    },
    output,
    scene::look::read_prescription,
};

/// Arguments of `lens`.
#[derive(Args)]
pub struct LensArgs {
    /// Prescription: a .json file (assets/lens.schema.json) or builtin:NAME [default: list the
    /// built-in lenses].
    file: Option<String>,
    /// Write a drawing to this PNG: elements, stop, sensor, and rays to the sensor's
    /// center, to its upper edge, and to 70 % of that height.
    #[arg(short, long, value_name = "DRAWING.png")]
    output: Option<PathBuf>,
    /// Focus distance in front of the entrance pupil in meters, or infinity.
    #[arg(long, default_value = "infinity", value_name = "METERS", value_parser = distance)]
    focus: f64,
    /// Focal length of a zoom in millimeters [default: the first of the prescription].
    #[arg(long, value_name = "MM", value_parser = positive)]
    focal_length: Option<f64>,
    /// F-number [default: wide open].
    #[arg(long, value_name = "N", value_parser = positive)]
    f_stop: Option<f64>,
    /// Sensor: a format such as full-frame, super-35 or aps-c, or millimeters as 36x24.
    #[arg(long, default_value = "full-frame", value_parser = sensor)]
    sensor: SensorSize,
    /// Number of iris blades: 0 for round, or 3 to 64.
    #[arg(long, default_value_t = 0, value_name = "N")]
    blades: u32,
    /// Number of ghosts to list, brightest first.
    #[arg(long, default_value_t = 10, value_name = "COUNT")]
    ghosts: usize,
}

fn distance(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|m| *m > 0.0);
    number.ok_or_else(|| "expected meters above 0, or infinity".to_owned())
}

fn positive(text: &str) -> Result<f64, String> {
    text.parse::<f64>()
        .ok()
        .filter(|x| x.is_finite() && *x > 0.0)
        .ok_or_else(|| "expected a number above 0".to_owned())
}

fn sensor(text: &str) -> Result<SensorSize, String> {
    if let Some(preset) = SensorPreset::from_name(text) {
        return Ok(preset.size());
    }
    let sides = text
        .split_once(['x', 'X'])
        .and_then(|(w, h)| Some((w.trim().parse().ok()?, h.trim().parse().ok()?)));
    let size = sides.and_then(|(w, h)| SensorSize::from_mm(w, h).ok());
    size.ok_or_else(|| "expected millimeters as 36x24, or a format such as full-frame".to_owned())
}

pub fn run(args: &LensArgs) -> Result<(), CliError> {
    let Some(file) = &args.file else {
        let given = [
            ("--output", args.output.is_some()),
            ("--focus", args.focus.is_finite()),
            ("--focal-length", args.focal_length.is_some()),
            ("--f-stop", args.f_stop.is_some()),
        ];
        if let Some((option, _)) = given.into_iter().find(|(_, given)| *given) {
            return Err(CliError::Usage(format!(
                "{option} needs a lens; name a prescription, e.g. builtin:{}",
                library::NAMES[0]
            )));
        }
        for name in library::NAMES {
            let known = Prescription::builtin(name).and_then(Result::ok);
            println!(
                "builtin:{name}  {}",
                known.map_or(String::new(), |lens| lens.name().to_owned())
            );
        }
        return Ok(());
    };
    if let Some(output) = &args.output {
        check_output(output, "png")?;
    }
    if args.blades != 0 && !(3..=64).contains(&args.blades) {
        return Err(CliError::Usage(format!(
            "invalid --blades {}: expected 0 for a round iris, or 3 to 64",
            args.blades
        )));
    }
    let prescription = read_prescription("lens", file)?;
    let focal_length = args.focal_length.map(|mm| mm * 1e-3);
    let focal_length =
        focal_length.or_else(|| prescription.zooms().first().map(|zoom| zoom.focal_length));
    let iris = Iris { blades: args.blades, ..Iris::default() };
    let dials = LensSettings { focal_length, focus: args.focus, f_stop: args.f_stop, iris };
    let lens = Lens::new(&prescription, &dials)
        .map_err(|error| CliError::Usage(format!("{file}: {error}")))?;
    let range = prescription.zoom_range().unwrap_or([lens.focal_length(); 2]);
    if let Some(mm) =
        args.focal_length.filter(|mm| !(range[0] * 0.95..=range[1] * 1.05).contains(&(mm * 1e-3)))
    {
        let [min, max] = range.map(|f| format!("{:.1}", f * 1e3));
        let expected = if min == max {
            format!("{file} is a prime lens of {min} mm; omit the option")
        } else {
            format!("expected {min} to {max} mm for {file}")
        };
        return Err(CliError::Usage(format!("invalid --focal-length {mm}: {expected}")));
    }
    if let Some(n) = args.f_stop {
        match reachable_f_stop(n, lens.f_number()) {
            Some(used) if used > n => eprintln!("{}", f_stop_note("--f-stop", n, file, used)),
            Some(_) => {}
            None => {
                return Err(CliError::Usage(format!(
                    "invalid --f-stop {n}: the maximum aperture of {file} is f/{:.2}",
                    lens.f_number()
                )));
            }
        }
    }
    for note in prescription.notes() {
        eprintln!("{file}: {note}");
    }
    describe(&prescription, &lens, &dials, args.sensor);
    breathing(&prescription, &dials, args.sensor);
    picture(&lens, args.sensor, args.focus);
    ghosts(&lens, args.ghosts);
    if let Some(output) = &args.output {
        let drawing = draw(&lens, args.sensor);
        output::write_png(output, drawing.width(), drawing.height(), drawing.rgba())?;
        println!("drawing: {}", output.display());
    }
    Ok(())
}

fn mm(meters: f64) -> String {
    if meters.abs() < 10.0 { format!("{:.4} mm", meters * 1e3) } else { format!("{meters:.3} m") }
}

fn degrees(angle: Option<f64>) -> String {
    angle.map_or_else(|| "none".to_owned(), |angle| format!("{:.3}", angle.to_degrees()))
}

fn describe(prescription: &Prescription, lens: &Lens, dials: &LensSettings, sensor: SensorSize) {
    println!(
        "{}",
        if prescription.name().is_empty() { "unnamed lens" } else { prescription.name() }
    );
    if !prescription.source().is_empty() {
        println!("  source: {}", prescription.source());
    }
    let stop = lens.stop();
    let (count, before) = (prescription.refracting(), stop);
    println!("  surfaces: {count} refracting, {before} of them before the stop (element {stop})");
    let marked = prescription
        .focal_length()
        .map_or_else(String::new, |f| format!(", marked {} mm", f * 1e3));
    println!("  focal length: {}{marked}", mm(lens.focal_length()));
    let level = lens.cardinal(Axis::X, LINE_D);
    let upright = lens.cardinal(Axis::Y, LINE_D);
    if (level.focal_length / upright.focal_length - 1.0).abs() > 1e-6 {
        let squeeze = upright.focal_length / level.focal_length;
        println!(
            "  anamorphic: {} horizontally, squeeze {squeeze:.3} to 1",
            mm(level.focal_length)
        );
    }
    let marked = prescription.f_number().map_or_else(String::new, |n| format!(", marked f/{n}"));
    let open =
        Lens::new(prescription, &LensSettings { f_stop: None, focus: f64::INFINITY, ..*dials });
    let open = open.map_or(f64::NAN, |open| open.f_number());
    println!(
        "  f-number: {:.3}, at the sensor {:.3}",
        lens.f_number(),
        lens.working_f_number(Axis::Y, LINE_D)
    );
    println!("  maximum aperture: f/{open:.3}{marked}");
    let airy = 1.22 * 550e-9 * lens.working_f_number(Axis::Y, LINE_D);
    println!("  diffraction: first dark ring at {:.3} um on the sensor (550 nm)", airy * 1e6);
    println!("  from the last vertex to the sensor: {}", mm(lens.sensor() - lens.last()));
    println!("  from the first vertex (+ toward the sensor):");
    for (name, z) in [
        ("front focus", -upright.front_focus),
        ("front principal plane", upright.principal[0]),
        ("rear principal plane", upright.principal[1]),
        ("last vertex", lens.last()),
        ("sensor", lens.sensor()),
    ] {
        println!("    {name:<22} {}", mm(z));
    }
    for (name, Pupil { z, radius }) in
        [("entrance pupil", upright.entrance), ("exit pupil", upright.exit)]
    {
        println!("    {name:<22} {}, diameter {}", mm(z), mm(2.0 * radius));
    }
    let shift = |line: f64| (lens.cardinal(Axis::Y, line).back_focus - upright.back_focus) * 1e3;
    println!(
        "  longitudinal color: focus of blue (F) {:+.4} mm, of red (C) {:+.4} mm",
        shift(LINE_F),
        shift(LINE_C)
    );
    println!("  sensor: {:.2} x {:.2} mm", sensor.width * 1e3, sensor.height * 1e3);
}

/// Prints field of view and breathing over focus and zoom, by chief rays to the sensor's edges.
fn breathing(prescription: &Prescription, dials: &LensSettings, sensor: SensorSize) {
    let how = match prescription.focusing() {
        Focusing::Unit => "the whole lens moves to focus".to_owned(),
        Focusing::Group(first, last) => format!("elements {first} to {last} move to focus"),
    };
    println!("  field of view in degrees (horizontal, vertical, diagonal) and breathing; {how}:");
    let zooms: Vec<Option<f64>> = match prescription.zooms() {
        [] => vec![dials.focal_length],
        zooms => {
            let mut set: Vec<f64> =
                zooms.iter().map(|zoom| zoom.focal_length).chain(dials.focal_length).collect();
            set.sort_by(f64::total_cmp);
            set.dedup();
            set.into_iter().map(Some).collect()
        }
    };
    let size = [sensor.width, sensor.height];
    for zoom in zooms {
        if let Some(f) = zoom.filter(|_| !prescription.zooms().is_empty()) {
            println!("    at {} mm", f * 1e3);
        }
        let at = |focus: f64| {
            let lens =
                Lens::new(prescription, &LensSettings { focal_length: zoom, focus, ..*dials })?;
            Ok::<_, crate::optics::LensSettingsError>(fields_of_view(&lens, size))
        };
        let far = at(f64::INFINITY).ok();
        for focus in [f64::INFINITY, 10.0, 3.0, 1.0, 0.5] {
            let name = if focus.is_finite() { format!("{focus} m") } else { "infinity".to_owned() };
            match at(focus) {
                Err(error) => println!("      {name:<9} {error}"),
                Ok(found) => {
                    let ratio = |a: f64, b: f64| ((a / 2.0).tan() / (b / 2.0).tan() - 1.0) * 100.0;
                    let breath = far.and_then(|far| Some(ratio(found[0]?, far[0]?)));
                    let breath = breath
                        .map_or_else(|| "none".to_owned(), |breath| format!("{breath:+.2} %"));
                    let [a, b, c] = found.map(degrees);
                    println!("      {name:<9} {a:>8} {b:>8} {c:>8}   {breath:>8}");
                }
            }
        }
    }
}

/// Prints distortion, lateral color, relative illuminance and spot size along the diagonal.
fn picture(lens: &Lens, sensor: SensorSize, focus: f64) {
    let Ok(thin) = lens.equivalent_thin_lens(focus) else { return };
    let Ok(image_distance) = thin.image_distance(focus) else { return };
    let half = dvec2(sensor.width, sensor.height) / 2.0;
    let middle = lens.illuminance(DVec2::ZERO, LINE_D, Losses::Ignored);
    let kept = lens.illuminance(DVec2::ZERO, LINE_D, Losses::Counted) / middle;
    println!(
        "  transmittance at the center: {:.2} % (T/{:.3})",
        kept * 100.0,
        lens.f_number() / kept.sqrt()
    );
    println!("  from the center to the corner:");
    println!("    field    angle  distortion   red to blue     light    spot (rms)");
    // Field tangents per meter on the sensor, by axis: an anamorphic lens has two.
    let near = half * 1e-3;
    let Some(ideal) =
        lens.chief_ray(near, LINE_D).and_then(|ray| tangents(&ray)).map(|seen| seen / near)
    else {
        return;
    };
    for part in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let place = half * f64::max(part, 1e-3);
        let seen =
            |wavelength: f64| lens.chief_ray(place, wavelength).and_then(|ray| tangents(&ray));
        let light = lens.illuminance(half * part, LINE_D, Losses::Ignored) / middle;
        let Some(direction) = seen(LINE_D) else {
            println!("    {:>3.0} %   no light", part * 100.0);
            continue;
        };
        // Image height relative to the ideal one, minus 1: below 0 is barrel distortion.
        let distortion = place.length() / (direction / ideal).length() - 1.0;
        let colors = [imaging::CHANNELS[0], imaging::CHANNELS[2]]
            .map(|wavelength| seen(wavelength).map(DVec2::length));
        let lateral = match colors {
            [Some(red), Some(blue)] => {
                format!("{:+.2} um", (blue / red - 1.0) * place.length() * 1e6)
            }
            _ => "none".to_owned(),
        };
        let spot = imaging::spot(lens, half * part, focus, LINE_D);
        let spot = spot.map_or_else(|| "none".to_owned(), |spot| format!("{:.2} um", spot * 1e6));
        let angle = direction.length().atan().to_degrees();
        println!(
            "    {:>3.0} %  {angle:>7.3}  {:>+8.3} %  {lateral:>12}  {:>6.1} %  {spot:>10}",
            part * 100.0,
            distortion * 100.0,
            light * 100.0
        );
    }
    let reach = LensImaging::new(lens, [sensor.width, sensor.height], image_distance).reach();
    println!(
        "  pinhole that covers this field: {:.2} x {:.2} degrees",
        2.0 * reach.x.atan().to_degrees(),
        2.0 * reach.y.atan().to_degrees()
    );
}

/// Prints the brightest two-reflection ghosts, sorted by irradiance on the sensor for light along
/// the axis.
fn ghosts(lens: &Lens, count: usize) {
    const WAVELENGTH: f64 = 550e-9;
    let mut found: Vec<_> = lens
        .reflection_pairs()
        .map(|bounces| {
            let [level, upright] =
                [Axis::X, Axis::Y].map(|axis| lens.ghost_matrix(bounces, axis, WAVELENGTH));
            let area = (level.a * upright.a).abs().max(1e-12);
            (bounces, (area, upright.b), lens.ghost_transmittance(bounces, WAVELENGTH))
        })
        .collect();
    println!("  ghosts: {} pairs of surfaces reflect light onto the sensor", found.len());
    found.sort_by(|a, b| (b.2 / b.1.0).total_cmp(&(a.2 / a.1.0)));
    if count > 0 && !found.is_empty() {
        println!("    surfaces   transmittance   size / pupil size   shift per unit slope");
    }
    for (bounces, (area, shift), part) in found.iter().take(count) {
        let between = format!("{}, {}", bounces.second, bounces.first);
        println!(
            "    {between:<9}  {part:>13.3e}   {:>17.4}   {:>+12.3} mm",
            area.sqrt(),
            shift * 1e3
        );
    }
}

/// The drawing; light comes from the left.
fn draw(lens: &Lens, sensor: SensorSize) -> Raster {
    const WIDTH: f64 = 1200.0;
    let tallest = lens
        .surfaces()
        .iter()
        .map(|surface| surface.semi_aperture)
        .fold(sensor.height / 2.0, f64::max);
    let length = lens.sensor();
    let (left, right) = (-0.25 * length, length * 1.03);
    let scale = WIDTH / (right - left);
    let height = (2.3 * tallest * scale).clamp(200.0, 1600.0);
    let scale = scale.min(height / (2.3 * tallest));
    let at = |z: f64, y: f64| dvec2((z - left) * scale, height / 2.0 - y * scale);
    let mut raster = Raster::new(WIDTH as usize, height as usize, [18, 18, 20]);
    raster.polyline(&[at(left, 0.0), at(right, 0.0)], 0.5, [70, 70, 76]);
    for (place, color) in [(0.0, [90, 160, 255]), (0.35, [120, 220, 130]), (0.5, [255, 110, 90])] {
        fan(lens, sensor.height * place, left, color, &mut |points, color| {
            let points: Vec<DVec2> = points.iter().map(|p| at(p.z, p.y)).collect();
            raster.polyline(&points, 0.6, color);
        });
    }
    let glass = [210, 210, 220];
    let mut before: Option<(DVec2, DVec2)> = None;
    for surface in lens.surfaces() {
        if surface.stop {
            for side in [-1.0, 1.0] {
                let from = side * surface.semi_aperture;
                let ends = [at(surface.vertex, from), at(surface.vertex, side * tallest)];
                raster.polyline(&ends, 1.5, [230, 190, 90]);
            }
            continue;
        }
        let c = surface.curvature_along(Axis::Y);
        let sag =
            |y: f64| surface.vertex + c * y * y / (1.0 + (1.0 - c * c * y * y).max(0.0).sqrt());
        let points: Vec<DVec2> = (-60..=60)
            .map(|i| f64::from(i) / 60.0 * surface.semi_aperture)
            .map(|y| at(sag(y), y))
            .collect();
        raster.polyline(&points, 1.0, glass);
        let ends = (points[0], points[points.len() - 1]);
        if let Some(last) = before {
            raster.polyline(&[last.0, ends.0], 1.0, glass);
            raster.polyline(&[last.1, ends.1], 1.0, glass);
        }
        before = (!surface.after.is_air()).then_some(ends);
    }
    let half = sensor.height / 2.0;
    let ends = [at(lens.sensor(), -half), at(lens.sensor(), half)];
    raster.polyline(&ends, 2.0, [240, 240, 240]);
    raster
}

/// Draws seven rays across the open pupil to an image height in m, from the plane at `from` before
/// the lens.
fn fan(
    lens: &Lens,
    height: f64,
    from: f64,
    color: [u8; 3],
    line: &mut impl FnMut(&[DVec3], [u8; 3]),
) {
    let place = dvec2(0.0, height);
    let Some((middle, half)) = lens.open_square(place, LINE_D) else { return };
    let ray = |toward: DVec2| {
        let origin = (-place).extend(lens.sensor());
        let ray = Ray { origin, direction: (toward.extend(lens.last()) - origin).normalize() };
        let (traced, mut points) = lens.trace_backward_path(ray, LINE_D).ok()?;
        traced.unblocked().ok()?;
        points.insert(0, origin);
        points.push(traced.ray.at_plane(from).extend(from));
        Some(points)
    };
    let steps = 400;
    let open: Vec<f64> = (0..=steps)
        .map(|i| (2.0 * f64::from(i) / f64::from(steps) - 1.0) * half)
        .filter(|y| ray(middle + dvec2(0.0, *y)).is_some())
        .collect();
    let (Some(low), Some(high)) = (open.first(), open.last()) else { return };
    for i in 0..7 {
        let y = low + (high - low) * f64::from(i) / 6.0;
        if let Some(points) = ray(middle + dvec2(0.0, y)) {
            line(&points, color);
        }
    }
}
