//! Text of exposures: dials, their source, their limits.

use crate::{
    camera::{ExposureControl, ExposureDials, ExposureMode, SolvedExposure, body::Dial},
    session::{OpenScene, expose::ExposureState},
};

/// Source of the exposure, for the report.
pub fn exposure_source(session: &OpenScene, exposed: &ExposureState) -> String {
    let dials = &session.physical_camera.dials;
    match (exposed.control, exposed.solved) {
        (_, Some(solved)) => {
            format!("{}: {}", exposed.control.name(), format_dials(solved.dials))
        }
        (ExposureControl::Dials(_), _) if dials.ev100.is_some() => "camera.exposure.ev100".into(),
        (ExposureControl::Dials(_), _) => "its dials".into(),
        (ExposureControl::Auto, _) if dials.set_exposure() => "metered".into(),
        (ExposureControl::Auto, _) => "metered: the look names no dials".into(),
    }
}

/// Formats dials with their engraved values, at the nearest third of a stop.
pub fn format_dials(dials: ExposureDials) -> String {
    let nearest = |dial: Dial, value: f64| {
        let stop = dial.nearest(value);
        // Beyond the engraved range the exact value is printed.
        stop.filter(|stop| (stop.exact / value).log2().abs() < 0.2)
            .map_or(value, |stop| stop.nominal)
    };
    let time = nearest(Dial::Shutter, dials.shutter_s);
    let time = if time < 0.9 { format!("1/{}", plain(1.0 / time)) } else { plain(time) };
    let (f_stop, iso) = (nearest(Dial::FStop, dials.f_stop), nearest(Dial::Iso, dials.iso));
    format!("f/{}, {time} s, ISO {}", plain(f_stop), plain(iso))
}

/// Formats with at most two decimals, and none from 100 on.
fn plain(value: f64) -> String {
    if value >= 100.0 || (value - value.round()).abs() < 1e-6 {
        return format!("{value:.0}");
    }
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').into()
}

/// Message for a mode that cannot reach the requested exposure.
pub fn exposure_limit_message(
    mode: ExposureMode,
    auto_iso: bool,
    solved: &SolvedExposure,
) -> String {
    let (off, too) =
        (solved.error_stops.abs(), if solved.error_stops > 0.0 { "bright" } else { "dark" });
    let mut limited = match mode {
        ExposureMode::Manual => return format!("{off:.1} stops too {too}"),
        ExposureMode::AperturePriority => vec!["shutter"],
        ExposureMode::ShutterPriority => vec!["f-stop"],
        ExposureMode::IsoPriority => vec!["iso"],
        ExposureMode::Program => vec!["f-stop", "shutter"],
    };
    if auto_iso && mode != ExposureMode::IsoPriority {
        limited.push("iso");
    }
    let verb = if limited.len() == 1 { "is at its limit" } else { "are at their limits" };
    format!(
        "{} {verb}: the picture is {off:.1} stops too {too}; turn another dial",
        limited.join(" and ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::camera::Exposure;

    #[test]
    fn limits_name_the_dials_that_the_camera_turns() {
        let message = |mode, auto_iso| {
            let solved = SolvedExposure {
                dials: ExposureDials::default(),
                exposure: Exposure::default(),
                error_stops: -2.0,
            };
            exposure_limit_message(mode, auto_iso, &solved)
        };
        for (mode, auto_iso, limited) in [
            (ExposureMode::AperturePriority, false, "shutter is at its limit"),
            (ExposureMode::ShutterPriority, false, "f-stop is at its limit"),
            (ExposureMode::ShutterPriority, true, "f-stop and iso are at their limits"),
            (ExposureMode::IsoPriority, true, "iso is at its limit"),
            (ExposureMode::Program, false, "f-stop and shutter are at their limits"),
        ] {
            let text = message(mode, auto_iso);
            assert!(text.starts_with(limited) && text.contains("2.0 stops too dark"), "{text}");
        }
        assert_eq!(message(ExposureMode::Manual, true), "2.0 stops too dark");
    }
}
