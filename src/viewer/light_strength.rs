//! Strength of lights in the units of the look.

use super::number_text::short;
use crate::{
    photometry::{
        Candela, Lumen,
        lights::{Emitter, LightStrength},
    },
    scene::{Light, look},
};

/// Strengths of a light in each unit that applies: property, unit, value. They are those that a
/// look sets: without gel and modifiers. A file's color scales the light, so its luminance is
/// included; strengths set by a look do not depend on the color.
pub(super) fn strengths(light: &Light) -> Vec<(&'static str, &'static str, f64)> {
    let light = light.bare();
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
    let unit = authored(light);
    strengths(light)
        .into_iter()
        .find(|(property, ..)| *property == unit)
        .map(|(property, _, value)| (property, value))
}

/// Light behind its gel and modifiers, read-only: unit and value. Empty for a light without any.
pub(super) fn effective(light: &Light) -> Vec<(&'static str, f64)> {
    if light.bare.is_none() {
        return Vec::new();
    }
    let weight = light.color_luminance();
    let lux = light.is_directional().then(|| light.source.lux(1.0).get());
    let all = [
        ("lm", light.lumens().map(Lumen::get)),
        ("cd", light.candela().map(Candela::get)),
        ("lx", lux),
    ];
    all.into_iter().filter_map(|(unit, value)| Some((unit, value? * weight))).collect()
}

/// The author's unit.
pub(super) fn authored(light: &Light) -> &'static str {
    match light.bare().source.authored() {
        LightStrength::Lumens(_) => "lumens",
        LightStrength::Candela(_) => "candela",
        LightStrength::Lux(_) => "lux",
        LightStrength::Nits(_) => "nits",
        LightStrength::Ev(_) => "ev100",
    }
}

#[cfg(test)]
mod tests {
    use glam::{DVec3, Vec3};

    use super::*;
    use crate::{
        photometry::{IesProfile, lights::PhysicalLight},
        scene::{build::SceneBuilder, look::Look},
    };

    #[test]
    fn writing_the_strength_of_a_light_with_gel_and_modifiers_keeps_it() {
        let of = |settings: &[&str]| {
            let mut builder = SceneBuilder::new("one lamp");
            builder.point_light_candela("Key", Candela(100.0), Vec3::new(1.0, 0.5, 0.2), DVec3::Y);
            let mut scene = builder.build().unwrap();
            Look::of(settings).unwrap().apply(&mut scene).unwrap();
            scene.lights.pop().unwrap()
        };
        let spot =
            ["lights.Key.shape=spot", "lights.Key.outer_half_angle=40", "lights.Key.lumens=1000"];
        let plain = of(&spot);
        assert!(effective(&plain).is_empty());
        for front in [
            &["lights.Key.gel=CTO"][..],
            &["lights.Key.snoot=1"],
            &["lights.Key.gel=CTO", "lights.Key.barn_door_left=0"],
        ] {
            let light = of(&[&spot[..], front].concat());
            let (unit, value) = strength(&light).unwrap();
            assert_eq!(unit, "lumens", "{front:?}");
            assert!((value / 1000.0 - 1.0).abs() < 1e-6, "{front:?}: {value}");
            assert_eq!(strengths(&light), strengths(&plain), "{front:?}");
            let seen = effective(&light);
            assert_eq!(seen.iter().map(|(unit, _)| *unit).collect::<Vec<_>>(), ["lm", "cd"]);
            assert!(seen[0].1 < 900.0, "{front:?}: {seen:?}");
            // Each unit that the inspector offers, as a new setting.
            for (property, _, value) in strengths(&light) {
                let written = format!("lights.Key.{property}={}", short(value));
                let again = of(&[&spot[..2], front, &[&written]].concat());
                for ((unit, one), (_, two)) in seen.iter().zip(effective(&again)) {
                    assert!((two / one - 1.0).abs() < 1e-3, "{written}: {two} for {one} {unit}");
                }
            }
        }
        // A color of the file scales the strength, the gel does not.
        let (file, gelled) = (of(&["lights.Key.shadow=true"]), of(&["lights.Key.gel=0.5 0.5 0.5"]));
        assert_eq!(strength(&gelled), strength(&file));
        assert!((gelled.color_luminance() / file.color_luminance() - 0.5).abs() < 1e-6);
    }

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
