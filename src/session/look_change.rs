//! Classification of changes of the look: what must be drawn or uploaded again.

use crate::{
    scene::{
        Scene,
        address::AddressTable,
        look::{LightLook, Look},
    },
    settings::{Affects, Property, Section},
};

/// The cost of a change of the look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LookChange {
    /// No change.
    Nothing,
    /// Camera, effects, passes, or how indirect light is sampled: applied in the next frame.
    Frame,
    /// Indirect light is switched on, or its VPLs differ: photons are traced, without an upload of
    /// the scene.
    Vpls,
    /// Lights, environment, materials or the need for flare sources: the scene is uploaded again.
    Scene,
}

/// Classifies the change from one look to another.
#[must_use]
pub fn classify_change(old: &Look, new: &Look) -> LookChange {
    if old == new {
        return LookChange::Nothing;
    }
    let changed = changed_in_frame_sections(old, new);
    let affected = |affects| changed.iter().any(|property| property.affects == affects);
    let flares = || old.effects.needs_flare_sources() != new.effects.needs_flare_sources();
    if !differs_in_frame_sections_alone(old, new)
        || affected(Affects::FlareSources) && flares()
        || affected(Affects::Scene)
        || affected(Affects::Probes) && !new.probes.is_empty()
    {
        LookChange::Scene
    } else if has_gi(new) && affected(Affects::Vpls) {
        LookChange::Vpls
    } else {
        LookChange::Frame
    }
}

/// The properties that differ in the sections that a frame can apply: camera, effects, passes and
/// indirect light.
fn changed_in_frame_sections(old: &Look, new: &Look) -> Vec<Property> {
    [
        old.camera.changed(&new.camera),
        old.effects.changed(&new.effects),
        old.passes.changed(&new.passes),
        old.gi.changed(&new.gi),
    ]
    .concat()
}

fn differs_in_frame_sections_alone(old: &Look, new: &Look) -> bool {
    let (camera, effects, passes, gi) = (new.camera.clone(), new.effects, new.passes, new.gi);
    // A tier changes these sections alone.
    let quality = new.quality.clone();
    // So do lens and dials of an added camera.
    let in_scene = |look: &Look| -> Vec<_> {
        look.cameras.iter().map(|(name, camera)| (name.clone(), camera.in_scene())).collect()
    };
    let cameras =
        if in_scene(old) == in_scene(new) { new.cameras.clone() } else { old.cameras.clone() };
    Look { quality, camera, cameras, effects, passes, gi, ..old.clone() } == *new
}

fn has_gi(look: &Look) -> bool {
    look.gi.enabled()
}

/// True if the light meter reads the same with both looks, in one view: they differ only in what
/// `OpenScene::settings`, with which meters render, does not use. The camera's pose and lens are
/// part of the view. Effects follow the meter.
pub(super) fn meters_alike(old: &Look, new: &Look) -> bool {
    // Without indirect light, none of its other settings has an effect.
    let gi = has_gi(old) || has_gi(new);
    let is_metered = |property: &Property| match property.affects {
        Affects::Frame | Affects::FlareSources => false,
        _ => gi || !property.path.starts_with("gi."),
    };
    differs_in_frame_sections_alone(old, new)
        && !changed_in_frame_sections(old, new).iter().any(is_metered)
}

/// True if only strength, color or switches of lights changed, so that no upload is needed.
pub(super) fn relights(old: &Look, new: &Look, base: &Scene) -> bool {
    let beyond = Look { lights: old.lights.clone(), ..new.clone() };
    let (same, default) =
        (classify_change(old, &beyond) <= LookChange::Frame, LightLook::default());
    let measured = base.lights.iter().any(|light| light.profile.is_some());
    let any_profile = |look: &Look| look.lights.values().any(LightLook::has_profile);
    let steady = measured || any_profile(old) || any_profile(new);
    let mut names = old.lights.keys().chain(new.lights.keys());
    let things = AddressTable::lights(base);
    let shines_alike = names.all(|name| {
        // Emissive shapes are geometry; profiles are numbered by the lights that use them.
        let [old, new] = [old, new].map(|look| look.lights.get(name).unwrap_or(&default));
        let reshaped = [old, new].iter().any(|look| look.shape.is_some());
        let shaped = reshaped
            || things.find(name).into_iter().any(|node| {
                let light = base.nodes.get(node).and_then(|node| base.lights.get(node.light?));
                light.is_some_and(|light| light.emitter().area().is_some())
            });
        // The table of modifiers spans the cone.
        let table = [old, new].iter().any(|look| look.has_modifiers());
        old.changed(new).iter().all(|property| match property.path {
            "lights.*.enabled" => !(shaped || steady),
            "lights.*.outer_half_angle" => !table,
            _ => property.affects == Affects::Lights,
        })
    });
    // Probes are captured in the light of the upload.
    same && shines_alike && new.probes.is_empty() && base.probes.is_empty()
}

#[cfg(test)]
mod tests {
    use glam::{DVec3, Vec3};

    use super::*;
    use crate::{
        photometry::Candela,
        scene::{build::SceneBuilder, look::properties},
    };

    fn look(settings: &[&str]) -> Look {
        Look::of(settings).unwrap()
    }

    #[test]
    fn changes_are_classified_by_what_they_upload() {
        let with = |changes: &[&str]| {
            let shared = ["camera.lens.f_stop=8", "lights.Key.lumens=800", "cameras.Top.add=true"];
            look(&[&shared, changes].concat())
        };
        let old = with(&[]);
        assert_eq!(classify_change(&old, &old.clone()), LookChange::Nothing);
        for (path, class) in [
            ("camera.lens.f_stop=4", LookChange::Frame),
            ("camera.exposure.mode=auto", LookChange::Frame),
            ("effects.bloom.enabled=true", LookChange::Frame),
            ("passes.tonemap.operator=aces", LookChange::Frame),
            ("passes.ssr.enabled=true", LookChange::Frame),
            // Without indirect light there are no VPLs to trace.
            ("gi.vpls=100", LookChange::Frame),
            ("gi.denoise=false", LookChange::Frame),
            ("gi.enabled=true", LookChange::Vpls),
            ("lights.Key.lumens=900", LookChange::Scene),
            ("passes.shadows.method=traced", LookChange::Scene),
            ("effects.starburst.enabled=true", LookChange::Scene),
            ("cameras.Top.f_stop=4", LookChange::Frame),
            ("cameras.Top.position=0 0 9", LookChange::Scene),
            ("lights.Rim.add=true", LookChange::Scene),
            ("environment.lux=10", LookChange::Scene),
            ("scene.multiscatter=true", LookChange::Scene),
        ] {
            assert_eq!(classify_change(&old, &with(&[path])), class, "{path}");
        }
        let off = with(&["gi.enabled=false"]);
        let (on, more) = (with(&["gi.enabled=true"]), with(&["gi.enabled=true", "gi.vpls=100"]));
        assert_eq!(classify_change(&on, &off), LookChange::Frame);
        assert_eq!(classify_change(&off, &more), LookChange::Vpls);
        assert_eq!(classify_change(&on, &more), LookChange::Vpls);
        assert_eq!(
            classify_change(&on, &with(&["gi.enabled=true", "environment.lux=10"])),
            LookChange::Scene
        );
        // Captured probes hold shadows and the light of the upload.
        let probe = ["probes.Room.center=0 0 0", "probes.Room.size=1 1 1"];
        let [old, coarse, bright] =
            ["lights.Key.lumens=800", "passes.shadows.resolution=128", "lights.Key.lumens=900"]
                .map(|last| with(&[&probe[..], &[last]].concat()));
        assert_eq!(classify_change(&old, &coarse), LookChange::Scene);
        assert!(!relights(&old, &bright, &Scene::default()));
        assert!(relights(&with(&[]), &with(&["lights.Key.lumens=900"]), &Scene::default()));
    }

    #[test]
    fn the_cone_of_a_spot_with_modifiers_is_uploaded_and_its_strength_is_not() {
        let spot = |settings: &[&str]| {
            let cone = ["lights.Key.shape=spot", "lights.Key.outer_half_angle=40"];
            look(&[&cone, settings].concat())
        };
        let of_key = |settings: &[&str]| {
            let mut builder = SceneBuilder::new("one lamp");
            builder.point_light_candela("Key", Candela(100.0), Vec3::ONE, DVec3::Y);
            let mut scene = builder.build().unwrap();
            spot(settings).apply(&mut scene).unwrap();
            scene.lights.pop().unwrap()
        };
        let base = Scene::default();
        let (plain, snoot) = (spot(&[]), "lights.Key.snoot=1");
        assert!(relights(&plain, &spot(&["lights.Key.outer_half_angle=30"]), &base));
        let old = spot(&[snoot]);
        for (setting, relit) in [
            ("lights.Key.candela=900", true),
            ("lights.Key.candela=0", true),
            ("lights.Key.inner_half_angle=10", true),
            ("lights.Key.gel=CTO", true),
            ("lights.Key.outer_half_angle=30", false),
            ("lights.Key.snoot=2", false),
        ] {
            let new = spot(&[snoot, setting]);
            assert_eq!(relights(&old, &new, &base), relit, "{setting}");
            assert_eq!(relights(&new, &old, &base), relit, "back from {setting}");
            // An upload is needed just if the table differs.
            let [old, new] = [&[snoot][..], &[snoot, setting]].map(|of| of_key(of).profile);
            assert_eq!(old == new, relit, "{setting}");
        }
    }

    /// Values of which each property of the sections below takes at least one.
    const VALUES: [&str; 31] = [
        "true",
        "false",
        "2",
        "0.5",
        "1024",
        "1,2",
        "1 2 3",
        "36x24",
        "auto",
        "aces",
        "budget",
        "taa",
        "half",
        "traced",
        "screen",
        "smallest",
        "all",
        "vpls",
        "probes",
        "spot",
        "daylight",
        "bradford",
        "fill",
        "overscan",
        "rolling",
        "bare",
        "full-frame",
        "infinity",
        "builtin:dgauss-50-f2",
        "8",
        "0.01",
    ];

    #[test]
    fn all_properties_of_camera_effects_passes_and_gi_are_classified() {
        // With what makes the other properties of a group take effect.
        let old = look(&[
            "gi.enabled=true",
            "effects.starburst.enabled=true",
            "effects.ghosts.enabled=true",
        ]);
        for Property { path, .. } in properties() {
            if !["camera.", "effects.", "passes.", "gi."].iter().any(|of| path.starts_with(of)) {
                continue;
            }
            let changed = |value: &&str| {
                let mut new = old.clone();
                new.assign(&format!("{path}={value}")).is_ok_and(|_| new != old).then_some(new)
            };
            let new = VALUES.iter().find_map(changed).expect(path);
            let class = match path {
                "passes.shadows.enabled"
                | "passes.shadows.method"
                | "passes.lod.max_error_pixels" => LookChange::Scene,
                "gi.method" | "gi.probe_spacing" | "gi.vpls" | "gi.photons" | "gi.bounces"
                | "gi.merge" | "gi.merge_cell_size" => LookChange::Vpls,
                _ => LookChange::Frame,
            };
            assert_eq!(classify_change(&old, &new), class, "{path}");
            // What the meter renders with.
            let metered = match path {
                "camera.metering.mode"
                | "camera.metering.position"
                | "camera.metering.spot_angle" => true,
                "passes.ssr.max_history_frames"
                | "passes.ssr.reprojection"
                | "gi.max_history_frames"
                | "gi.freeze_after" => false,
                _ => {
                    let passes = path.strip_prefix("passes.").is_some_and(|pass| {
                        !["tonemap.", "aa.", "taa."].iter().any(|of| pass.starts_with(of))
                    });
                    passes || path.starts_with("gi.")
                }
            };
            assert_eq!(meters_alike(&old, &new), !metered, "{path}");
        }
    }

    #[test]
    fn light_changes_the_meter_and_gi_only_if_enabled() {
        let old = look(&["lights.Key.lumens=800"]);
        for path in ["lights.Key.lumens=900", "environment.lux=10", "gi.enabled=true"] {
            let mut new = old.clone();
            new.assign(path).unwrap();
            assert!(!meters_alike(&old, &new), "{path}");
        }
        let off = look(&["lights.Key.lumens=800", "gi.vpls=100", "gi.enabled=false"]);
        assert!(meters_alike(&old, &off));
    }
}
