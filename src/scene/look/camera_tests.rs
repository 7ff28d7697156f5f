//! Cameras assembled from looks: field of view, lens and effects.
use super::Look;
use crate::{
    camera::{Camera, CameraEffects, effect_models::Grain},
    optics::ghosts::GhostMethod,
};

fn camera(assignments: &[&str]) -> Camera {
    let look = Look::of(assignments).unwrap();
    look.physical_camera()
}

fn effects(assignments: &[&str]) -> CameraEffects {
    let camera = camera(assignments);
    let rig = camera.rig(0.7, 1.5).unwrap();
    camera.camera_effects(Some(&rig), [1280, 853]).unwrap()
}

#[test]
fn the_field_of_view_follows_the_lens() {
    let horizontal = |assignments: &[&str]| {
        let rig = camera(assignments).rig(0.7, 1.5).unwrap();
        2.0 * (rig.width() / 2.0).atan().to_degrees()
    };
    let near = |got: f64, want: f64| assert!((got - want).abs() < 6e-4, "{got} is not {want}");
    near(horizontal(&["camera.lens.focal_length=24mm", "camera.lens.focus=0.38"]), 70.186);
    near(horizontal(&["camera.lens.focal_length=24", "camera.lens.focus=infinity"]), 73.740);
    near(horizontal(&["camera.lens.focal_length=24", "camera.lens.focus=5 m"]), 73.475);
    near(horizontal(&["camera.lens.focal_length=70", "camera.lens.focus=0.38"]), 23.695);
    near(horizontal(&["camera.lens.focal_length=70"]), 28.842);
    near(horizontal(&["camera.lens.focal_length=70", "camera.lens.focus=5"]), 28.454);
    near(horizontal(&["camera.lens.focal_length=50", "camera.lens.focus=0.45"]), 35.489);
    let still =
        ["camera.lens.focal_length=24", "camera.lens.focus=0.38", "camera.lens.breathing=false"];
    near(horizontal(&still), 73.740);
    // The file's own field of view stays, at any focus.
    let fov = 2.0 * (0.35_f64.tan() * 1.5).atan().to_degrees();
    near(horizontal(&["camera.lens.focus=0.5"]), fov);
    near(horizontal(&["camera.lens.focus=infinity", "camera.body.sensor=mft"]), fov);
}

#[test]
fn an_unknown_barrel_takes_a_stop_from_the_corner() {
    for (f_stop, left) in [(1.4, 0.5), (2.8, 0.648), (8.0, 0.970)] {
        let f_stop = format!("camera.lens.f_stop={f_stop}");
        let camera = camera(&[
            "camera.lens.focal_length=50",
            "effects.vignetting.falloff_exponent=0",
            &f_stop,
        ]);
        let vignetting = camera.mount(Some(0.7), [300, 200], None).unwrap().effects.vignetting;
        let corner = vignetting.unwrap().at(0.036_f64.hypot(0.024) / 0.1);
        assert!((corner - left).abs() < 0.01, "{f_stop}: {corner}");
    }
}

#[test]
fn impossible_cameras_say_what_is_wrong() {
    for (bad, says) in [
        ("camera.lens.focal_length=0", "millimeters"),
        ("camera.lens.focal_length=NaN", "millimeters"),
        ("camera.lens.focus=-1", "meters"),
        ("camera.lens.focus=nan", "meters"),
        ("camera.lens.min_focus_distance=0", "meters"),
        ("camera.body.sensor=9x", "full-frame"),
        ("camera.body.sensor=0x24", "full-frame"),
        ("camera.body.resolution=0x4", "pixels"),
        ("camera.lens.blades=2", "blades"),
        ("camera.lens.blade_curvature=1.5", "0 straight"),
        ("camera.lens.f_stop=0", "f-number"),
        ("camera.body.iso=0", "ISO"),
        ("camera.motion.velocity=1 2", "right, up and back"),
        ("camera.motion.angular_velocity=a b c", "right, up and back"),
    ] {
        let error = Look::default().assign(bad).unwrap_err().to_string();
        assert!(
            error.contains(says) && error.contains(bad.split('=').next().unwrap()),
            "{bad}: {error}"
        );
    }
    let error = |assignments: &[&str]| camera(assignments).rig(0.7, 1.5).unwrap_err().to_string();
    let inside = error(&["camera.lens.focal_length=50", "camera.lens.focus=0.03"]);
    assert!(inside.contains("camera.lens") && inside.contains("focus beyond"), "{inside}");
    let near = [
        "camera.lens.focal_length=50",
        "camera.lens.min_focus_distance=0.45",
        "camera.lens.focus=0.4",
    ];
    let refused = error(&near);
    assert!(
        refused.contains("camera.lens.focus") && refused.contains("from 0.45 m on"),
        "{refused}"
    );
    let real = camera(&[&near[1..], &["camera.lens.prescription=builtin:dgauss-50-f2"]].concat());
    let refused = real.mounted_lens(1.5).unwrap_err().to_string();
    assert!(refused.contains("from 0.45 m on"), "{refused}");
    for focus in ["camera.lens.focus=0.45", "camera.lens.focus=infinity"] {
        camera(&[near[0], near[1], focus]).rig(0.7, 1.5).unwrap();
    }
    let wide = error(&["camera.lens.focal_length=50", "camera.lens.f_stop=0.1"]);
    assert!(wide.contains("f-number"), "{wide}");
    let bright =
        error(&["camera.lens.focal_length=50", "camera.lens.f_stop=2", "camera.lens.t_stop=1.8"]);
    assert!(bright.contains("t_stop"), "{bright}");
}

#[test]
fn exposure_alone_leaves_a_pinhole() {
    assert!(effects(&[]).is_empty());
    let dials = ["camera.lens.f_stop=2.8", "camera.body.iso=400", "camera.body.shutter=1/60"];
    assert!(effects(&dials).is_empty());
    assert!(!camera(&[]).needs_lens());
}

#[test]
fn the_camera_says_which_effects_there_are() {
    let all = effects(&[
        "camera.lens.focal_length=50",
        "camera.lens.focus=1",
        "camera.lens.f_stop=2",
        "camera.body.sensor=full-frame",
        "camera.body.iso=1600",
        "camera.body.shutter=1/50",
        "camera.motion.angular_velocity=0 10 0",
    ]);
    let field = all.depth_of_field.unwrap();
    assert_eq!((field.lens.f_stop(), field.focus), (2.0, 1.0));
    assert!((field.gate_width - 0.036).abs() < 1e-12);
    assert_eq!(all.motion_blur.unwrap().exposure, 0.02);
    assert_eq!(all.bloom.unwrap().fraction, 0.01);
    assert_eq!(all.vignetting.unwrap().exponent, 4.0);
    assert_eq!(all.grain.unwrap(), Grain::of_sensor(0.036 / 1280.0, 1600.0));
    assert_eq!(all.chromatic_aberration, None);
}

#[test]
fn grain_follows_the_millimeters_that_the_picture_shows() {
    // An image of 4:3 shows 32 x 24 of 36 x 24 mm, one of 9:16 13.5 x 24; overscan shows more
    // than the sensor.
    for (size, fit, wide) in [
        ([1200, 800], "fill", 0.036),
        ([1600, 1200], "fill", 0.032),
        ([900, 1600], "fill", 0.0135),
        ([1920, 1080], "fill", 0.036),
        ([900, 1600], "overscan", 0.036),
        ([1920, 1080], "overscan", 0.024 * 16.0 / 9.0),
    ] {
        let fit = format!("camera.body.gate_fit={fit}");
        let camera = camera(&["camera.body.sensor=36x24", "camera.body.iso=1600", &fit]);
        let aspect = f64::from(size[0]) / f64::from(size[1]);
        let rig = camera.rig(0.7, aspect).unwrap();
        let want = Grain::of_sensor(wide / f64::from(size[0]), 1600.0);
        for rig in [None, Some(&rig)] {
            let got = camera.camera_effects(rig, size).unwrap().grain.unwrap();
            assert!(
                (got.shot / want.shot - 1.0).abs() < 1e-9,
                "{size:?} {fit}: {got:?} is not {want:?}"
            );
        }
    }
}

#[test]
fn a_section_overrides_one_value_and_opts_out() {
    let lens = ["camera.lens.focal_length=50", "camera.lens.focus=1", "camera.lens.f_stop=2"];
    let with = |more: &str| effects(&[&lens[..], &[more]].concat());
    assert_eq!(
        with("effects.depth_of_field.f_stop=1.4").depth_of_field.unwrap().lens.f_stop(),
        1.4
    );
    assert_eq!(
        with("effects.depth_of_field.f_stop=1.4").vignetting,
        with("effects.bloom.enabled=true").vignetting
    );
    assert_eq!(with("effects.depth_of_field.enabled=false").depth_of_field, None);
    assert_eq!(with("effects.bloom.enabled=false").bloom, None);
    assert_eq!(with("effects.bloom.enabled=true").starburst, None);
    let starburst = with("effects.starburst.dust=0.3").starburst.unwrap();
    // f/2 at a magnification of 0.05 / 0.95.
    assert!((starburst.f_number - 2.0 * (1.0 + 0.05 / 0.95)).abs() < 1e-12);
    assert_eq!((starburst.dust, starburst.squeeze, starburst.points), (0.3, 1.0, true));
    assert_eq!(with("effects.starburst.enabled=false").starburst, None);
    assert_eq!(with("effects.starburst.punctual_lights=false").starburst, None);
    assert!(with("effects.starburst.punctual_lights=true").starburst.unwrap().points);
    assert_eq!(with("effects.vignetting.mechanical=false").vignetting.unwrap().rim, None);
    assert_eq!(
        with("effects.chromatic_aberration.amount=0.1").chromatic_aberration.unwrap().red_over_blue,
        0.001
    );
    // A T-number states transmission losses, which scatter.
    let t = with("camera.lens.t_stop=2.5").bloom.unwrap().fraction;
    assert!((t - 0.01 - 0.36_f64.powi(2) / 2.0).abs() < 1e-12, "{t}");
}

#[test]
fn a_parallel_projection_has_no_lens() {
    let focused = "camera.lens.focus=1";
    let mount = |camera: Camera| camera.mount(None, [100, 100], None);
    assert!(mount(camera(&[focused])).unwrap().effects.is_empty());
    let enabled = mount(camera(&[focused, "effects.depth_of_field.enabled=true"]));
    let error = enabled.unwrap_err().to_string();
    assert!(error.starts_with("effects.depth_of_field.enabled = true"), "{error}");
    assert!(error.contains("orthographic"), "{error}");
}

#[test]
fn ghosts_need_a_prescription() {
    assert_eq!(camera(&[]).ghosts(None).unwrap(), None);
    let error = camera(&["effects.ghosts.enabled=true"]).ghosts(None).unwrap_err().to_string();
    assert!(
        error.contains("effects.ghosts.enabled") && error.contains("camera.lens.prescription"),
        "{error}"
    );
    let named = "camera.lens.prescription=builtin:cooke-triplet-50-f5";
    let plain = camera(&[named]);
    let mounted = plain.mounted_lens(1.5).unwrap().unwrap();
    assert_eq!(plain.ghosts(Some(&mounted)).unwrap(), None);
    assert!(!plain.effects.needs_flare_sources());
    let bare = camera(&[
        named,
        "effects.ghosts.coatings=bare",
        "effects.ghosts.method=paraxial",
        "effects.ghosts.cull_threshold=0",
    ]);
    assert!(bare.effects.needs_flare_sources());
    let ghosts = bare.ghosts(Some(&mounted)).unwrap().unwrap();
    assert_eq!((ghosts.method, ghosts.cull_threshold), (GhostMethod::Paraxial, 0.0));
    assert!(ghosts.lens.surfaces().iter().all(|surface| surface.coating.is_none()));
    let single =
        camera(&[named, "effects.ghosts.coatings=single"]).ghosts(Some(&mounted)).unwrap().unwrap();
    // Three single lenses: six surfaces to air; the stop has none.
    assert_eq!(
        single.lens.surfaces().iter().filter(|surface| surface.coating.is_some()).count(),
        6
    );
    let off = camera(&[named, "effects.ghosts.cull_threshold=0.1", "effects.ghosts.enabled=false"]);
    assert_eq!(off.ghosts(Some(&mounted)).unwrap(), None);
    for bad in [
        "effects.ghosts.method=fast",
        "effects.ghosts.cull_threshold=2",
        "effects.ghosts.cull_threshold=nan",
        "effects.ghosts.coatings=1",
    ] {
        assert!(Look::default().assign(bad).is_err(), "{bad}");
    }
}

#[test]
fn mechanical_vignetting_is_that_of_the_prescription_unless_it_is_off() {
    let mount = |more: &[&str]| {
        let lens = ["camera.lens.prescription=builtin:cooke-triplet-50-f5", "camera.lens.f_stop=8"];
        camera(&[&lens[..], more].concat()).mount(Some(0.7), [300, 200], None).unwrap()
    };
    let unset = mount(&[]);
    assert_eq!(unset.effects.vignetting, None);
    let on = mount(&["effects.vignetting.mechanical=true"]);
    assert_eq!(on.effects, unset.effects);
    assert!(on.lens.unwrap().aberrations().vignetting);
    let off = mount(&["effects.vignetting.mechanical=false"]);
    let vignetting = off.effects.vignetting.unwrap();
    assert_eq!((vignetting.exponent, vignetting.rim), (4.0, None));
    assert!(!off.lens.unwrap().aberrations().vignetting);
}
