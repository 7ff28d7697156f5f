//! `sunny16 meter`: light meter readings and scopes of a scene.

use std::path::PathBuf;

use clap::Args;
use glam::DVec3;
use serde_json::{Value, json};

use super::{
    device_args::DeviceArgs,
    error::{CliError, check_output},
    exposure_format::{exposure_limit_message, format_dials},
    scene_args,
    warnings::warn_remarks,
};
use crate::{
    camera::{
        Exposure, ExposureControl, ExposureMode, ImagePosition, MeteringMode,
        exposure::Receptor,
        metering::{self, EvHistogram, MeterError},
        scopes::{EvRange, FalseColor, Luminances, Raster, Waveform, ZoneMap, waveform},
    },
    frame::{Aov, RenderedImage, Renderer},
    output,
    passes::gbuffer_channel::GbufferChannel,
    photometry::{Ev100, Lux, Nit},
    scene::look::LookError,
    session::{self, OpenScene, Session, expose},
};

#[derive(Args, Debug)]
pub struct MeterArgs {
    /// Metering mode that sets the exposure: spot, center, matrix, average, log-average or incident
    /// [default: incident with --point, spot with --at, else the look's, else log-average].
    #[arg(long, value_name = "MODE")]
    mode: Option<String>,
    /// Position of the spot: X,Y in pixels or percent from the upper left [default: the look's,
    /// else the center].
    #[arg(long, value_name = "X,Y")]
    at: Option<ImagePosition>,
    /// Position of the incident light meter in meters [default: the surface at --at].
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true)]
    point: Option<String>,
    /// Direction that the incident light meter's receptor faces [default: the surface normal at
    /// --at; with --point, the direction from that point to the camera].
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true)]
    normal: Option<String>,
    /// Receptor: flat (cosine response, C = 250) or dome (C = 340).
    #[arg(long, value_name = "KIND", default_value = "flat")]
    receptor: String,
    /// Print the exposure of one mode: aperture, shutter, iso, program or manual [default: all].
    #[arg(long, value_name = "MODE")]
    priority: Option<String>,
    /// Write all values as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write a false color picture, one color a stop, with a legend.
    #[arg(long, value_name = "FILE.png")]
    false_color: Option<PathBuf>,
    /// Write the luminance waveform and the RGB parade, in EV.
    #[arg(long, value_name = "FILE.png")]
    waveform: Option<PathBuf>,
    /// Write the luminance histogram, in EV.
    #[arg(long, value_name = "FILE.png")]
    histogram: Option<PathBuf>,
    /// Write the picture with Adams's zones outlined and labeled.
    #[arg(long, value_name = "FILE.png")]
    zones: Option<PathBuf>,
    #[command(flatten)]
    scene: scene_args::SceneArgs,
    #[command(flatten)]
    device: DeviceArgs,
}

/// Difference between scene and camera that gives a warning, in stops.
const READING_TOLERANCE_STOPS: f64 = 1.0;

/// Parsed and validated options.
struct MeterRequest {
    incident: bool,
    mode: MeteringMode,
    at: ImagePosition,
    point: Option<DVec3>,
    normal: Option<DVec3>,
    receptor: Receptor,
    priorities: Vec<(&'static str, ExposureMode)>,
}

fn parse_request(args: &MeterArgs, session: &OpenScene) -> Result<MeterRequest, CliError> {
    let oops = |text: String| CliError::Usage(text);
    let vector = |option: &str,
                  text: &Option<String>,
                  example: &str|
     -> Result<Option<DVec3>, CliError> {
        let Some(text) = text else { return Ok(None) };
        let numbers: Option<Vec<f64>> =
            text.split(',').map(|part| part.trim().parse().ok()).collect();
        match numbers.as_deref() {
            Some(&[x, y, z]) if DVec3::new(x, y, z).is_finite() => Ok(Some(DVec3::new(x, y, z))),
            _ => Err(oops(format!(
                "invalid {option} '{text}': expected three finite numbers with commas, e.g. {example}"
            ))),
        }
    };
    let point = vector("--point", &args.point, "0,1.2,-3")?;
    let normal = vector("--normal", &args.normal, "0,1,0")?;
    if normal == Some(DVec3::ZERO) {
        return Err(oops(
            "invalid --normal 0,0,0: expected three numbers that are not all 0, e.g. 0,1,0".into(),
        ));
    }
    let by_name = args.mode.as_deref();
    let meter = &session.physical_camera.dials.metering;
    let by_look = meter.mode == MeteringMode::Incident && args.at.is_none();
    let incident =
        by_name.map_or(by_look || point.is_some() || normal.is_some(), |name| name == "incident");
    if !incident && (point.is_some() || normal.is_some()) {
        return Err(oops(
            "--point and --normal require --mode incident; omit them or choose that mode".into(),
        ));
    }
    let mode = match by_name {
        _ if incident => MeteringMode::default(),
        Some(name) => MeteringMode::from_name(name).ok_or_else(|| {
            let known = MeteringMode::ALL.map(|(name, _)| name).join(", ");
            oops(format!("invalid --mode '{name}': expected one of {known}"))
        })?,
        None if args.at.is_some() => MeteringMode::Spot,
        None => meter.mode,
    };
    let receptor = match args.receptor.as_str() {
        "flat" => Receptor::Flat,
        "dome" => Receptor::Dome,
        other => {
            return Err(oops(format!("invalid --receptor '{other}': expected flat or dome")));
        }
    };
    let modes = ExposureControl::ALL.into_iter().filter_map(|(name, control)| match control {
        ExposureControl::Dials(mode) => Some((name, mode)),
        ExposureControl::Auto => None,
    });
    let priorities: Vec<_> =
        modes.filter(|(name, _)| args.priority.as_deref().is_none_or(|p| p == *name)).collect();
    if priorities.is_empty() {
        let requested = args.priority.as_deref().unwrap_or_default();
        return Err(oops(format!(
            "invalid --priority '{requested}': expected aperture, shutter, iso, program or manual"
        )));
    }
    let at = args.at.unwrap_or(meter.position);
    Ok(MeterRequest { incident, mode, at, point, normal, receptor, priorities })
}

pub fn run(args: &MeterArgs) -> Result<(), CliError> {
    let pictures = [&args.false_color, &args.waveform, &args.histogram, &args.zones];
    for file in pictures.into_iter().flatten() {
        check_output(file, "png")?;
    }
    if let Some(file) = &args.json {
        output::check_writable(file)?;
    }
    let (opened, requested) = open(args, scene_args::open_scene(&args.scene)?)?;
    let (renderer, notice) = args.device.open_renderer()?;
    let (report, renderer) = read(args, &requested, Session::open(renderer, opened)?)?;
    drop(notice);
    warn_remarks(renderer.gpu());
    println!("{}", report.text);
    write(args, &report)?;
    Ok(session::close(renderer)?)
}

/// The scene with the requested meter.
fn open(args: &MeterArgs, mut opened: OpenScene) -> Result<(OpenScene, MeterRequest), CliError> {
    let requested = parse_request(args, &opened)?;
    expose::pixel(requested.at, [opened.size.width, opened.size.height])?;
    let meter = &mut opened.physical_camera.dials.metering;
    (meter.position, meter.mode) = (requested.at, requested.mode);
    Ok((opened, requested))
}

/// All readings as JSON, with the session's warnings, by a renderer that is returned.
pub fn values(args: &MeterArgs, renderer: Renderer) -> Result<(Value, Renderer), CliError> {
    let opened = session::open(&args.scene.request())?;
    let warnings = opened.warnings.clone();
    let (opened, requested) = open(args, opened)?;
    let (report, renderer) = read(args, &requested, Session::open(renderer, opened)?)?;
    let mut values = report.json;
    values["warnings"] = json!(warnings);
    Ok((values, renderer))
}

/// All readings, and the picture they come from.
struct Report {
    text: String,
    json: Value,
    picture: RenderedImage,
    luminances: Vec<f32>,
    histogram: EvHistogram,
    false_color: FalseColor,
}

fn read(
    args: &MeterArgs,
    requested: &MeterRequest,
    mut session: Session,
) -> Result<(Report, Renderer), CliError> {
    let view = session.opened.view();
    let exposed = session.determine_exposure(true)?;
    let (lit, incident) = (exposed.metered, requested.incident);
    if lit.is_none() && !incident {
        return Err(CliError::Usage(format!(
            "{} is black through camera '{}': it sees no lit or emissive surface; light it, choose another --camera, or use --mode incident",
            args.scene.name(),
            session.opened.camera_name
        )));
    }
    let aovs = if incident {
        vec![Aov::Channel(GbufferChannel::Position), Aov::Channel(GbufferChannel::Normal)]
    } else {
        vec![]
    };
    let mut settings = session.opened.settings(exposed.exposure, aovs);
    settings.white_balance = session.white_balance(exposed.exposure)?;
    let picture = session.render(&settings)?;
    // The incident meter uploads its own copy of the scene.
    let (session, on_device, mut renderer) = session.into_parts();
    drop(on_device);
    let luminances = expose::luminances(&picture);
    let mut out = Lines::default();
    out.line(format!(
        "{}: {}x{}, camera '{}' on {}",
        args.scene.name(),
        view.width,
        view.height,
        session.camera_name,
        renderer.gpu().info().name
    ));

    let mut readings = serde_json::Map::new();
    for (name, mode) in
        MeteringMode::ALL.into_iter().filter(|(_, mode)| *mode != MeteringMode::Incident)
    {
        let mode = session.meter_mode(mode, requested.at, [view.width, view.height])?;
        let label = match mode {
            metering::MeterMode::Spot { center: [x, y], radius } => format!(
                "spot at {:.0},{:.0}, {:.0} pixels wide",
                x * f64::from(view.width) - 0.5,
                y * f64::from(view.height) - 0.5,
                (2.0 * radius * f64::from(view.height)).max(1.0)
            ),
            _ => name.into(),
        };
        match metering::meter(&luminances, picture.width, picture.height, mode) {
            Ok(nits) => {
                let ev = ev(nits)?;
                out.line(format!(
                    "  {label:<34} {:>12} nit  EV {:>6.2}",
                    number(nits.get()),
                    ev.get()
                ));
                readings.insert(name.into(), json!({"nits": nits.get(), "ev100": ev.get()}));
            }
            Err(MeterError::Dark) => {
                out.line(format!("  {label:<34} black"));
                readings.insert(name.into(), Value::Null);
            }
            Err(error) => return Err(CliError::Usage(error.to_string())),
        }
    }
    let mut by_light = Value::Null;
    let scene_exposure = if incident {
        let (lux, exposure, place) = incident_light(requested, &session, &mut renderer, &picture)?;
        let receptor = if requested.receptor == Receptor::Flat { "flat" } else { "dome" };
        let [point, normal] = place;
        out.line(format!(
            "  {:<34} {:>12} lx   EV {:>6.2}",
            format!("incident, {receptor} receptor, C = {:.0}", requested.receptor.calibration()),
            number(lux.get()),
            exposure.ev100().get()
        ));
        out.line(format!("    at {} m, facing {}", format_vec3(point), format_vec3(normal)));
        if session.gi().enabled {
            out.line(
                "    lights and environment only; the readings above include indirect light".into(),
            );
        }
        by_light = json!({
            "lux": lux.get(), "ev100": exposure.ev100().get(), "receptor": receptor,
            "point": point.to_array(), "normal": normal.to_array(),
        });
        exposure
    } else {
        // Metered from this full-size picture; automatic exposure may meter a smaller one.
        let mode = session.meter_mode(requested.mode, requested.at, [view.width, view.height])?;
        let nits = metering::meter(&luminances, picture.width, picture.height, mode)
            .map_err(|error| CliError::Usage(format!("{}: {error}", args.scene.name())))?;
        Exposure::from_luminance(nits).map_err(LookError::from)?
    };

    let pixels = Luminances::new(&luminances, picture.width, picture.height).map_err(internal)?;
    let (histogram, histogram_json) = histogram(&mut out, pixels, scene_exposure)?;
    let metered_by = if incident { "incident" } else { requested.mode.name() };
    let dials =
        compare_with_camera(&mut out, &session, requested, &exposed, scene_exposure, metered_by)?;
    let false_color = FalseColor::new(picture.exposure, settings.tone_mapper);
    let json = json!({
        "scene": args.scene.name(), "camera": session.camera_name, "size": [view.width, view.height],
        "device": renderer.gpu().info().name,
        "readings": readings, "incident": by_light, "histogram": histogram_json,
        "metered_by": metered_by, "scene_ev100": scene_exposure.ev100().get(),
        "camera_ev100": exposed.exposure.ev100().get(), "dials": dials,
    });
    let report = Report { text: out.text, json, picture, luminances, histogram, false_color };
    Ok((report, renderer))
}

/// Incident reading: illuminance, the exposure it gives, and the receptor's point (m) and normal.
fn incident_light(
    requested: &MeterRequest,
    session: &OpenScene,
    renderer: &mut Renderer,
    picture: &RenderedImage,
) -> Result<(Lux, Exposure, [DVec3; 2]), CliError> {
    let [x, y] = expose::pixel(requested.at, [session.size.width, session.size.height])?;
    let camera = session.camera.0.w_axis.truncate();
    let (point, facing) = match requested.point {
        Some(point) => (point, (camera - point).normalize_or(DVec3::Y)),
        None => expose::surface(picture, [x, y]).map(|[point, normal]| (point, normal)).ok_or_else(|| {
            CliError::Usage(format!(
                "there is no surface at pixel {x},{y} for the incident meter; choose another --at, or set --point"
            ))
        })?,
    };
    let normal = requested.normal.unwrap_or(facing);
    let lux = session::illuminance(session, renderer, (point, normal), requested.receptor)?;
    let exposure = Exposure::from_illuminance(lux, requested.receptor).map_err(|_| {
        CliError::Usage(format!(
            "no light reaches {} m facing {}; move the meter with --at or --point, change --normal, or light the scene",
            format_vec3(point),
            format_vec3(normal)
        ))
    })?;
    Ok((lux, exposure, [point, normal.normalize_or(DVec3::Y)]))
}

/// The EV histogram, as text lines and as JSON.
fn histogram(
    out: &mut Lines,
    pixels: Luminances<'_>,
    exposure: Exposure,
) -> Result<(EvHistogram, Value), CliError> {
    let gray = exposure.ev100().get();
    let ends = waveform::extremes(pixels).unwrap_or((Nit(1.0), Nit(1.0)));
    let [darkest, brightest] = [ev(ends.0)?.get(), ev(ends.1)?.get()];
    // Whole stops that cover all pixels, at most 12 below and above middle gray.
    let least = darkest.floor().clamp((gray - 12.0).floor(), gray.floor());
    let most = (brightest.floor() + 1.0).clamp(gray.floor() + 1.0, (gray + 12.0).ceil());
    let bins = ((most - least) as usize * 4).max(4);
    let range = EvRange::new(Ev100(least), Ev100(most), bins).map_err(internal)?;
    let (histogram, black) = waveform::histogram(pixels, range).map_err(internal)?;
    let count = (pixels.width() * pixels.height()) as f64;
    out.line(format!(
        "EV {least:>4.0} {} {most:.0}",
        waveform::sparkline(&histogram, bins.min(96))
    ));
    let mean = |low, high| histogram.trimmed_mean(low, high).ok().map(Ev100::get);
    let quantiles: Vec<(f64, Option<f64>)> = [0.01f64, 0.1, 0.5, 0.9, 0.99]
        .into_iter()
        .map(|q| (q, mean((q - 0.005).max(0.0), q + 0.005)))
        .collect();
    let told: Vec<String> = quantiles
        .iter()
        .filter_map(|(q, ev)| ev.map(|ev| format!("{:.0} % below EV {ev:.1}", q * 100.0)))
        .collect();
    out.line(format!(
        "  darkest EV {darkest:.2}, brightest EV {brightest:.2}: {:.2} stops",
        brightest - darkest
    ));
    out.line(format!("  {}; black: {:.2} %", told.join(", "), 100.0 * black as f64 / count));
    let json = json!({
        "min_ev100": least, "max_ev100": most, "counts": histogram.counts(), "black": black,
        "darkest_ev100": darkest, "brightest_ev100": brightest,
        "quantiles": quantiles.iter().map(|(q, ev)| json!({"part": q, "ev100": ev})).collect::<Vec<_>>(),
    });
    Ok((histogram, json))
}

/// Compares the scene's exposure with the camera's, and lists the dials that each mode would set.
fn compare_with_camera(
    out: &mut Lines,
    session: &OpenScene,
    requested: &MeterRequest,
    exposed: &expose::ExposureState,
    scene: Exposure,
    metered_by: &str,
) -> Result<Vec<Value>, CliError> {
    let physical_camera = &session.physical_camera;
    let compensation = physical_camera.dials.compensation;
    let wanted = physical_camera.dials.compensated(scene)?;
    let (camera, at) = (exposed.exposure, scene.ev100().get());
    let off = camera.stops_above(wanted);
    let compensated = if compensation == 0.0 {
        String::new()
    } else {
        format!(" ({compensation:+} compensation)")
    };
    out.line(format!(
        "scene EV100 {at:.2} by {metered_by}{compensated}, camera EV100 {:.2} by {}: the picture is {:.2} stops {} than metered",
        camera.ev100().get(),
        exposed.control.name(),
        off.abs(),
        if off >= 0.0 { "brighter" } else { "darker" },
    ));
    if metering::exposure_error(camera, wanted, READING_TOLERANCE_STOPS).is_some() {
        out.line(format!(
            "warning: the camera is set {:.1} stops too {} for this reading; --set camera.exposure.ev100={:.2} follows it",
            off.abs(),
            if off > 0.0 { "bright" } else { "dark" },
            wanted.ev100().get()
        ));
    }
    let ranges = physical_camera.dial_ranges()?;
    let own = physical_camera.dials.exposing();
    for (what, value, [least, most]) in [
        ("the f-number", own.f_stop, ranges.f_stop),
        ("the exposure time in seconds", own.shutter_s, ranges.shutter_s),
        ("the ISO speed", own.iso, ranges.iso),
    ] {
        if !(least..=most).contains(&value) {
            out.line(format!(
                "warning: {what} is set to {value}, outside the camera's range {least} to {most}; change it, or change the range"
            ));
        }
    }
    out.line("dials for this exposure, in third stops:".into());
    let mut rows = Vec::new();
    // With camera.exposure.ev100 no dials are set, so a manual row would mean nothing.
    let no_dials = physical_camera.dials.ev100.is_some() && requested.priorities.len() > 1;
    for &(name, mode) in
        requested.priorities.iter().filter(|(_, mode)| !(no_dials && *mode == ExposureMode::Manual))
    {
        let solved = physical_camera.solve(mode, wanted)?;
        let limited = if solved.error_stops.abs() > 0.01 {
            format!("  {}", exposure_limit_message(mode, physical_camera.dials.auto_iso, &solved))
        } else {
            String::new()
        };
        out.line(format!(
            "  {name:<9} {:<32} EV {:>6.2}{limited}",
            format_dials(solved.dials),
            solved.exposure.ev100().get()
        ));
        rows.push(json!({
            "mode": name, "f_stop": solved.dials.f_stop, "shutter_s": solved.dials.shutter_s, "iso": solved.dials.iso,
            "ev100": solved.exposure.ev100().get(), "off_by_stops": solved.error_stops,
        }));
    }
    Ok(rows)
}

fn ev(nits: Nit) -> Result<Ev100, CliError> {
    Ok(Exposure::from_luminance(nits).map_err(LookError::from)?.ev100())
}

fn internal(error: MeterError) -> CliError {
    CliError::Internal(error.to_string())
}

/// Formats four significant digits.
fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let digits = 3 - value.abs().log10().floor() as i32;
    if (-4..=6).contains(&digits) {
        format!("{value:.*}", digits.max(0) as usize)
    } else {
        format!("{value:.3e}")
    }
}

fn format_vec3(v: DVec3) -> String {
    format!("({:.4}, {:.4}, {:.4})", v.x, v.y, v.z)
}

#[derive(Default)]
struct Lines {
    text: String,
}

impl Lines {
    fn line(&mut self, line: String) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(&line);
    }
}

fn write(args: &MeterArgs, report: &Report) -> Result<(), CliError> {
    let picture = &report.picture;
    let pixels =
        Luminances::new(&report.luminances, picture.width, picture.height).map_err(internal)?;
    let save = |file: &Option<PathBuf>,
                contents: &str,
                raster: &dyn Fn() -> Result<Raster, CliError>|
     -> Result<(), CliError> {
        let Some(file) = file else { return Ok(()) };
        let raster = raster()?;
        output::write_png(file, raster.width(), raster.height(), raster.rgba())?;
        println!("{}: {contents}", file.display());
        Ok(())
    };
    save(&args.false_color, "false color", &|| Ok(report.false_color.render(pixels)))?;
    save(&args.waveform, "waveform and RGB parade", &|| {
        let range = EvRange::centered_on(picture.exposure);
        let luminance = Waveform::new(pixels, range, 384);
        let [r, g, b] = Waveform::parade(&picture.nits, picture.width, picture.height, range, 128)
            .map_err(internal)?;
        let parts = [
            (&luminance, [220, 220, 220]),
            (&r, [255, 80, 80]),
            (&g, [80, 230, 80]),
            (&b, [110, 140, 255]),
        ];
        Ok(Waveform::draw(&parts, picture.exposure))
    })?;
    save(&args.histogram, "luminance histogram", &|| {
        Ok(waveform::draw_histogram(&report.histogram, picture.exposure))
    })?;
    save(&args.zones, "zones", &|| {
        Ok(ZoneMap::new(pixels, picture.exposure).draw(Some(&picture.display), picture.exposure))
    })?;
    if let Some(file) = &args.json {
        let text = serde_json::to_string_pretty(&report.json)
            .map_err(|error| CliError::Internal(error.to_string()))?;
        output::write_text(file, &(text + "\n"))?;
        println!("{}: all values as JSON", file.display());
    }
    Ok(())
}
