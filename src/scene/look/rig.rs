//! `camera.body.*`, `camera.lens.*` and `camera.motion.*` except the dials: sensor, lens and camera
//! motion.

use glam::DVec3;

use super::{LookError, reader::Reader};
use crate::camera::{
    Body, CameraError, CameraLens, CameraMotion, GateFit, SensorSize,
    body::{SENSORS, SensorPreset, ShutterType},
};

/// Every property of this section with its description.
pub(super) const PROPERTIES: &[(&str, &str)] = &[
    (
        "camera.body.sensor",
        "sensor format such as full-frame, super-35 or aps-c, or millimeters as \"36x24\"",
    ),
    (
        "camera.body.gate_fit",
        "fit of the picture's aspect to the sensor: fill, horizontal, vertical or overscan",
    ),
    ("camera.body.resolution", "picture size in pixels, e.g. \"1920x1080\", each side 1 to 65536"),
    ("camera.body.shutter_type", "shutter curtain: global, focal-plane or rolling"),
    (
        "camera.body.readout_time",
        "readout time from the first line to the last in seconds, above 0 to 1000, e.g. \"1/250\"",
    ),
    (
        "camera.lens.prescription",
        "lens prescription: builtin:NAME (listed by `sunny16 lens`) or a .json file; focal_length then sets its zoom",
    ),
    ("camera.lens.focal_length", "focal length in millimeters, 0.1 to 10000, e.g. 35 or \"35mm\""),
    (
        "camera.lens.focus",
        "focus distance from the lens along its axis in meters, above 0, or infinity",
    ),
    (
        "camera.lens.min_focus_distance",
        "nearest focus distance from the lens in meters, above 0, e.g. 0.4; a nearer focus is rejected (makers state it from the sensor, about one focal length more)",
    ),
    ("camera.lens.t_stop", "T-number above 0, at least the f-number, e.g. 3.1"),
    ("camera.lens.max_aperture", "maximum aperture as an f-number, 0.5 to 1024, e.g. 1.4"),
    (
        "camera.lens.barrel_length",
        "barrel length from front rim to pupil in millimeters, 0 or more",
    ),
    ("camera.lens.blades", "number of iris blades: 0 for round, or 3 to 64"),
    ("camera.lens.blade_curvature", "curvature of the iris blades, 0 straight to 1 round"),
    (
        "camera.lens.blade_rotation",
        "angle of a blade's corner from the right in degrees, counterclockwise",
    ),
    (
        "camera.lens.breathing",
        "true or false: focus breathing, nearer focus narrows the field of view",
    ),
    ("camera.motion.velocity", "camera velocity to the right, up and back in m/s, e.g. \"1 0 0\""),
    (
        "camera.motion.angular_velocity",
        "camera angular velocity about right, up and back in degrees per second, e.g. \"0 30 0\"",
    ),
];

/// Maximum side length of `camera.body.resolution` in pixels.
const GREATEST_SIDE: u32 = 65_536;

/// Sets one property; false if this section has none of this path.
pub(super) fn set(
    body: &mut Body,
    lens: &mut CameraLens,
    motion: &mut CameraMotion,
    read: &Reader<'_>,
) -> Result<bool, LookError> {
    match read.path {
        "camera.body.sensor" => body.sensor = Some(sensor(read)?),
        "camera.body.gate_fit" => body.fit = fit(read)?,
        "camera.body.resolution" => body.resolution = Some(resolution(read)?),
        "camera.body.shutter_type" => body.shutter_type = shutter_type(read)?,
        "camera.body.readout_time" => {
            body.readout_time =
                read.seconds().ok().filter(|t| *t <= 1000.0).ok_or_else(|| read.bad_value())?;
        }
        "camera.lens.prescription" => lens.prescription = Some(read.file()?.display().to_string()),
        "camera.lens.focal_length" => lens.focal_length = Some(read.millimeters(0.1, 10_000.0)?),
        "camera.lens.focus" => lens.focus = Some(read.distance()?),
        "camera.lens.min_focus_distance" => lens.min_focus_distance = Some(read.distance()?),
        "camera.lens.max_aperture" => lens.max_aperture = read.in_range(0.5, 1024.0)?,
        "camera.lens.barrel_length" => lens.barrel_length = Some(read.millimeters(0.0, 10_000.0)?),
        "camera.lens.blades" => lens.iris.blades = blades(read)?,
        "camera.lens.blade_curvature" => lens.iris.curvature = read.fraction()?,
        "camera.lens.blade_rotation" => lens.iris.rotation = read.number()?.to_radians(),
        "camera.lens.breathing" => lens.breathing = read.boolean()?,
        "camera.motion.velocity" => motion.velocity = read.vector()?,
        "camera.motion.angular_velocity" => {
            motion.rotation = DVec3::from_array(read.vector()?.to_array().map(f64::to_radians));
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn pair<'a>(read: &Reader<'a>) -> Result<(&'a str, &'a str), LookError> {
    let (width, height) = read.value.split_once(['x', 'X']).ok_or_else(|| read.bad_value())?;
    Ok((width.trim(), height.trim()))
}

fn sensor(read: &Reader<'_>) -> Result<SensorSize, LookError> {
    if let Some(preset) = SensorPreset::from_name(read.value) {
        return Ok(preset.size());
    }
    let wrong = |_| {
        let names: Vec<&str> = SENSORS.iter().map(|preset| preset.name).collect();
        LookError::BadValue {
            path: read.path.into(),
            value: read.value.into(),
            expected: format!("expected millimeters as \"36x24\", or one of {}", names.join(", ")),
        }
    };
    let (width, height) = pair(read).map_err(wrong)?;
    let side =
        |text: &str| text.parse::<f64>().ok().filter(|mm| (0.1..=1e4).contains(mm)).ok_or(());
    let (Ok(width), Ok(height)) = (side(width), side(height)) else {
        return Err(wrong(read.bad_value()));
    };
    Ok(SensorSize::from_mm(width, height).map_err(CameraError::from)?)
}

fn fit(read: &Reader<'_>) -> Result<GateFit, LookError> {
    Ok(match read.value {
        "fill" => GateFit::Fill,
        "horizontal" => GateFit::Horizontal,
        "vertical" => GateFit::Vertical,
        "overscan" => GateFit::Overscan,
        _ => return Err(read.bad_value()),
    })
}

fn shutter_type(read: &Reader<'_>) -> Result<ShutterType, LookError> {
    Ok(match read.value {
        "global" => ShutterType::Global,
        "focal-plane" => ShutterType::FocalPlane,
        "rolling" => ShutterType::Rolling,
        _ => return Err(read.bad_value()),
    })
}

fn resolution(read: &Reader<'_>) -> Result<[u32; 2], LookError> {
    let (width, height) = pair(read)?;
    let side = |text: &str| text.parse().ok().filter(|side| (1..=GREATEST_SIDE).contains(side));
    side(width)
        .zip(side(height))
        .map(|(width, height)| [width, height])
        .ok_or_else(|| read.bad_value())
}

fn blades(read: &Reader<'_>) -> Result<u32, LookError> {
    read.value
        .parse()
        .ok()
        .filter(|blades| *blades == 0 || (3..=64).contains(blades))
        .ok_or_else(|| read.bad_value())
}
