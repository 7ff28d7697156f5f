//! Strength of lights in the units of the look.

use super::number_text::short;
use crate::{
    photometry::lights::{Emitter, LightStrength, PhysicalLight},
    scene::{Light, look},
};

/// Strengths of a light in each unit that applies: property, unit, value. A file's color scales the
/// light, so its luminance is included; strengths set by a look do not depend on the color.
pub(super) fn strengths(light: &Light) -> Vec<(&'static str, &'static str, f64)> {
    let (source, luminance) = (light.source, light.color_luminance());
    let mut all = Vec::new();
    // With a measured distribution: the light's own lumens, not those of a bare source.
    if let Some(lumens) = light.lumens() {
        all.push(("lumens", "lm", lumens.get()));
    }
    if let Some(candela) = light.candela() {
        all.push(("candela", "cd", candela.get()));
    }
    if let Emitter::Sun { .. } = source.emitter() {
        all.push(("lux", "lx", source.lux(1.0).get()));
    }
    if let Some(nits) = source.nits() {
        all.push(("nits", "nit", nits.get()));
    }
    // A light with a profile has no uniform luminance, so it has no EV.
    if let Some(ev) = source.ev100().filter(|_| light.profile.is_none()) {
        all.push(("ev100", "EV", ev.get()));
    }
    for (property, _, value) in &mut all {
        *value = if *property == "ev100" { *value + luminance.log2() } else { *value * luminance };
    }
    // For tiny surfaces the converted EV can be out of its range.
    all.retain(|(property, _, value)| {
        look::Look::default().set(&format!("lights.any.{property}"), &short(*value)).is_ok()
    });
    all
}

/// Strength of a light in its author's unit: property and value.
pub(super) fn strength(light: &Light) -> Option<(&'static str, f64)> {
    let unit = authored(light.source);
    strengths(light)
        .into_iter()
        .find(|(property, ..)| *property == unit)
        .map(|(property, _, value)| (property, value))
}

/// The author's unit.
pub(super) fn authored(source: PhysicalLight) -> &'static str {
    match source.authored() {
        LightStrength::Lumens(_) => "lumens",
        LightStrength::Candela(_) => "candela",
        LightStrength::Lux(_) => "lux",
        LightStrength::Nits(_) => "nits",
        LightStrength::Ev(_) => "ev100",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::photometry::{Candela, IesProfile, Lumen};

    #[test]
    fn a_light_under_a_profile_is_the_same_in_each_unit() {
        // I = 1000 / pi cos(angle): 1000 lm below the horizon.
        let angles: Vec<String> = (0..=18).map(|step| (step * 5).to_string()).collect();
        let candela: Vec<String> = (0..=18)
            .map(|step| {
                format!(
                    "{:.4}",
                    1000.0 / std::f64::consts::PI * (f64::from(step) * 5.0).to_radians().cos()
                )
            })
            .collect();
        let text = format!(
            "IESNA:LM-63-2002\nTILT=NONE\n1 -1 1 19 1 1 2 0 0 0\n1 1 10\n{}\n0\n{}\n",
            angles.join(" "),
            candela.join(" ")
        );
        let profile = std::sync::Arc::new(IesProfile::parse(text.as_bytes()).unwrap());
        let of = |strength: LightStrength| {
            let mut light =
                Light::new("Key", PhysicalLight::new(Emitter::Point, strength).unwrap());
            light.profile = Some(std::sync::Arc::clone(&profile));
            strengths(&light)
        };
        let value = |all: &[(&str, &str, f64)], unit: &str| {
            all.iter().find(|(property, ..)| *property == unit).unwrap().2
        };
        let peak = 1000.0 / std::f64::consts::PI;
        let by_candela = of(LightStrength::Candela(Candela(peak)));
        let lumens = value(&by_candela, "lumens");
        assert!(
            (lumens / 1000.0 - 1.0).abs() < 2e-3,
            "a bare source of that intensity gave 4000 lm: {lumens}"
        );
        let by_lumens = of(LightStrength::Lumens(Lumen(lumens)));
        assert!((value(&by_lumens, "candela") / peak - 1.0).abs() < 1e-9);
        assert!((value(&by_lumens, "lumens") / lumens - 1.0).abs() < 1e-9);
    }
}
