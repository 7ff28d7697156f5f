//! The wording of refusals: one line that names what is wrong and the remedy.

use crate::common::{Arguments, Folder, NO_DEVICE, Place, Run, finish, no_gpu, sunny16};
use glam::{DMat4, DVec3, Vec2, Vec3};
use sunny16::{
    output::{self, ExrLayer},
    scene::{
        Material,
        build::{SceneBuilder, dielectric},
        procedural::shapes,
        write_glb::write_glb,
    },
};

fn render(dir: &Folder, more: &(impl Arguments + ?Sized)) -> Run {
    let args = "render small.glb --size 96x64 --set camera.exposure.ev100=7".words();
    dir.run(&[args, more.words()].concat())
}

#[test]
fn wrong_arguments_are_one_line_with_a_remedy() {
    let dir = Folder::with_scene(3);
    for (args, parts) in [
        ("render --sise 4x4", &["--sise", "--size", "sunny16 render --help"][..]),
        ("render small.glb", &["--output <FILE>", "sunny16 render --help"]),
        ("render -o a.png --size big", &["--size", "big"]),
        ("render -o a.png --renderer rays", &["--renderer", "rays", "raster, path"]),
        ("render -o a.png --spp 0", &["--spp", "0 is not in 1 to 16777216"]),
        ("render -o", &["--output", "value is required"]),
        ("compare a.exr", &["<REFERENCE>", "sunny16 compare --help"]),
        ("rendr", &["rendr", "render", "`sunny16 --help`"]),
        ("--fast", &["--fast", "`sunny16 --help`"]),
        ("graph builtin:attic", &["attic", "nearest are builtin:atrium", "`sunny16 demos`"]),
    ] {
        dir.run_on_host(args).fails(2, parts);
    }
    // Requested help is no error.
    for args in ["--help", "render --help", "--version"] {
        dir.run(args).silent();
    }
    for (more, parts) in [
        ("-o out.jpg", &["out.jpg", ".png", ".exr"][..]),
        ("-o out", &[".png"]),
        ("-o out.png --spp 64", &["--spp", "path tracer"]),
        ("-o out.png --renderer path --times", &["--times", "raster renderer"]),
        ("-o out.png --camera missing", &["missing", "main"]),
        ("-o out.png --aov depht", &["depht", "depth"]),
        ("-o out.png --set camera.lens.fstop=2", &["camera.lens.fstop", "camera.lens.f_stop"]),
        ("-o out.png --set camera.body.iso=-1", &["camera.body.iso", "-1"]),
        ("-o out.png --set camera.body.iso=nan", &["camera.body.iso"]),
        ("-o out.png --set camera.body.iso", &["PATH=VALUE"]),
        (
            "-o out.png --quality standrd",
            &["--quality", "standrd", "draft, standard, final, exact"],
        ),
        ("-o out.png --set quality=finl", &["draft, standard, final or exact", "mean final?"]),
        ("-o out.png --set qualty=final", &["'qualty'", "did you mean quality?"]),
        (
            "-o out.png --set lights.bulp.lumens=3",
            &["--set lights.bulp.lumens=3: ", "'lights.bulp'", "lights.bulb"],
        ),
        (
            "-o out.png --set camera.white_balance=1500 --set camera.white_balance.tint=0.02",
            &["no light has", "set camera.white_balance.tint nearer to 0"],
        ),
        (
            "-o out.png --set camera.lens.prescription=builtin:dgauss-50-f2 --set camera.lens.focal_length=85",
            &["--set camera.lens.focal_length=85: ", "prime lens of 50 mm; remove it"],
        ),
        ("-o out.png --set lights.sun.lumens=3", &["lights.sun", "lux"]),
        ("-o out.png --set camera.exposure.ev100=1000", &["1000", "64"]),
        ("-o out.png --set camera.exposure=12", &["camera.exposure.ev100"]),
        ("-o out.png --set lights.bulb.lumens=1e40", &["at most 1e30"]),
        ("-o out.png --aa-samples 5000", &["5000 is not in 1 to 4096"]),
    ] {
        render(&dir, more).fails(2, parts);
    }
    let at_itself =
        ["-o", "a.png", "--set", "camera.position=0 1 2", "--set", "camera.target=0 1 2"];
    render(&dir, &at_itself).fails(2, &["camera.target", "another point"]);
    for size in ["0x0", "0x10", "10", "axb", "-1x5", "99999999999x1", ""] {
        let run = dir.run(&["render", "small.glb", "-o", "out.png", "--size", size]);
        assert!(run.code == 2 && run.err.contains("error:"), "{size}: {run:?}");
        assert!(!run.err.contains("panicked"), "{size}: {run:?}");
    }
    assert_eq!(dir.listing(), ["small.glb"]);
}

#[test]
fn a_missing_driver_is_named_with_its_package() {
    let dir = Folder::empty();
    sunny16(dir.path(), &["doctor"], &NO_DEVICE).ends_with_error(6, &["install"]);
}

#[test]
fn meter_errors_name_the_remedy() {
    if no_gpu("errors of meter") {
        return;
    }
    let dir = Folder::with_scene(3);
    let dark = ["lights.bulb.enabled", "lights.sun.enabled", "scene.default_light"]
        .map(|property| format!("--set {property}=false"))
        .join(" ");
    for (more, code, parts) in [
        ("--at 96,0", 2, &["95,63", "%"][..]),
        ("--mode sport", 2, &["sport", "matrix", "incident"]),
        ("--priority speed", 2, &["speed", "aperture"]),
        ("--point 1,2", 2, &["--point", "three finite numbers"]),
        ("--mode spot --normal 0,1,0", 2, &["incident"]),
        ("--point 0,1,0 --normal nan,0,0", 2, &["normal", "0,1,0"]),
        ("--point 0,1,0 --normal 0,0,0", 2, &["normal", "not all 0"]),
        ("--point 1e9,0,0", 2, &["outside of the scene", "spans"]),
        ("--point inf,0,0", 2, &["--point", "finite"]),
        ("--point 0,1,0 --normal 0,-1,0", 2, &["no light", "--normal"]),
        ("--mode incident --at 0,0", 2, &["no surface", "--at"]),
        ("--receptor cone --point 0,1,0", 2, &["cone", "dome"]),
        ("--false-color a.jpg", 2, &["a.jpg", ".png"]),
        ("--json no/where.json", 5, &["where.json"]),
        (&dark, 2, &["black", "light it"]),
        ("--set camera.white_balance.gray_card=0,0", 2, &["gray_card", "pick"]),
    ] {
        dir.run(&format!("meter small.glb --size 96x64 {more}")).fails(code, parts);
    }
    assert_eq!(dir.listing(), ["small.glb"]);
}

#[test]
fn quiet_leaves_out_notes_and_keeps_warnings() {
    let dir = Folder::with_scene(3);
    let ray = "--renderer path --spp 1 --size 8x8 --set gi.vpls=8 --set camera.exposure.ev100=-9";
    for (quiet, notes) in [("", true), ("-q", false)] {
        let run = dir.run_on_host(&format!("render small.glb -o a.png {ray} {quiet}")).ok();
        let all = format!("{}{}", run.out, run.err);
        assert_eq!(all.contains("note: gi.*"), notes, "{all}");
        assert!(all.contains("warning: ") && all.contains("too bright"), "{all}");
    }
}

/// Forty panes split the paths of each pixel into more than 32; the wall behind exceeds half floats.
#[test]
fn quiet_leaves_out_cut_paths_and_keeps_clamped_light() {
    if no_gpu("limits of a picture") {
        return;
    }
    let mut builder = SceneBuilder::new("panes");
    let wall = Material { emission: Vec3::splat(1e9), ..dielectric("wall", Vec3::ZERO, 1.0) };
    let pane =
        Material { transmission: 1.0, double_sided: true, ..dielectric("pane", Vec3::ONE, 0.0) };
    for number in 0..=40 {
        let turn = DMat4::from_rotation_x(std::f64::consts::FRAC_PI_2);
        let at = DMat4::from_translation(DVec3::NEG_Z * 0.05 * f64::from(number)) * turn;
        let material = if number < 40 { &pane } else { &wall };
        builder.place(shapes::plane(Vec2::splat(4.0), 1, 1), material.clone(), at);
    }
    builder.camera("front", DVec3::new(0.1, 0.2, 3.0), DVec3::ZERO, 0.6, None);
    let dir = Folder::with_scene(3);
    std::fs::write(dir.at("panes.glb"), write_glb(&builder.build().unwrap()).unwrap()).unwrap();
    let render =
        "render panes.glb -o a.png --size 16x12 --quality direct --set camera.exposure.ev100=7";
    for (quiet, notes) in [("", true), ("-q", false)] {
        let run = dir.run(&format!("{render} {quiet}")).ok();
        assert_eq!(run.err.contains("note: refraction: "), notes, "{}", run.err);
        assert_eq!(run.err.matches("light range: ").count(), 1, "{}", run.err);
    }
}

#[test]
fn refusals_of_compare_inspect_and_flow_name_the_remedy() {
    let dir = Folder::with_scene(3);
    for (name, side) in [("small.png", 8), ("large.png", 16)] {
        image::RgbImage::new(side, side).save(dir.at(name)).unwrap();
    }
    dir.write("text.png", "no picture");
    std::fs::create_dir(dir.at("other")).unwrap();
    for (args, code, parts) in [
        ("compare small.png large.png", 2, &["8x8", "16x16", "scale both"][..]),
        ("compare small.png large.png --json small.png", 2, &["choose another name"]),
        ("compare text.png small.png", 4, &["text that begins with 'no picture'"]),
        ("compare none.png small.png", 4, &["none.png", "not found; check the path"]),
        ("inspect small.glb --set lights.bulp.lumens=3", 2, &["did you mean lights.bulb?"]),
        ("inspect stret", 4, &["not found", "builtin:street"]),
        ("demos stret", 2, &["did you mean street?"]),
        ("bench --what rays --frames 3", 2, &["--frames", "--seconds"]),
        ("inspect small.glb --root other", 2, &["does not contain", "name a folder above it"]),
        ("meter small.glb --camera #7", 2, &["has no camera '#7'; it has main"]),
        (
            "flow --size 4x2 --origin -2,-1 -o flow.png --block -0.5,-1,0.5,1",
            2,
            &["close the channel", "leave a gap"],
        ),
    ] {
        dir.run_on_host(args).fails(code, parts);
    }
    assert!(!dir.has("flow.png"));
}

#[test]
fn a_file_of_another_format_is_named_with_the_expected_one() {
    let dir = Folder::with_scene(3);
    dir.write("photo.jpg", b"\xff\xd8\xff\xe0\0\x10JFIF\0");
    let layer = ExrLayer { name: "", channels: &["R", "G", "B"], pixels: &[[1.0; 4]] };
    output::write_exr(&dir.at("a.exr"), 1, 1, 1.0, &[layer]).unwrap();
    for (args, parts) in [
        ("lens small.glb", ["glTF scene", "a lens prescription (.json)"]),
        ("lens photo.jpg", ["JPEG picture", "a lens prescription (.json)"]),
        ("inspect small.glb --look photo.jpg", ["JPEG picture", "a look file"]),
        ("ies small.glb", ["glTF scene", ".ies"]),
        ("ies a.exr", ["EXR picture", ".ies"]),
        ("compare small.glb a.exr", ["glTF scene", "EXR"]),
        ("compare a.exr:foo a.exr", ["no layer 'foo'", "only an unnamed layer"]),
    ] {
        dir.run_on_host(args).fails(4, &parts);
    }
}

#[test]
fn names_and_ranges_are_suggested() {
    let dir = Folder::with_scene(3);
    for (args, code, parts) in [
        ("inspect street", 4, &["street: not found", "builtin:street"][..]),
        ("inspect street --no-look", 4, &["builtin:street"]),
        ("inspect builtin:stret", 2, &["nearest is builtin:street,", "`sunny16 demos`"]),
        ("inspect small.glb --set lights.bulb.lumen=3", 2, &["mean lights.bulb.lumens"]),
        ("lens builtin:dgauss-50-f3", 2, &["nearest is dgauss-50-f2", "`sunny16 lens`"]),
        ("lens builtin:dgauss-50-f2 --focal-length 85", 2, &["prime lens of", "omit"]),
        ("render small.glb -o a.png --time 1e10", 2, &["--time", "from 0 to 1e9"]),
        ("render small.glb -o small.glb/a.png", 5, &["small.glb/a.png"]),
    ] {
        dir.run_on_host(args).fails(code, parts);
    }
}

#[test]
fn options_and_properties_without_effect_are_noted() {
    let dir = Folder::with_scene(3);
    let traced = "render small.glb -o a.exr --renderer path --spp 1 --size 4x4";
    for (more, told) in [
        ("--frames 2", "note: small.glb has no animation: --frames "),
        ("--time 1", "note: small.glb has no animation: --time "),
        ("--fps 12", "warning: --fps has no effect"),
        ("--set lights.bulb.width=2", "note: lights.bulb.width: no effect"),
        ("--set gi.vpls=100", "note: gi.* has no effect"),
        (
            "--set camera.exposure.ev100=7 --set camera.exposure.mode=aperture",
            "note: camera.exposure.ev100 = 7: no effect with camera.exposure.mode = aperture",
        ),
        (
            "--set camera.lens.prescription=builtin:dgauss-50-f2 --set camera.lens.f_stop=2",
            "note: camera.lens.f_stop = 2: builtin:dgauss-50-f2 opens to f/2.03, which is used",
        ),
    ] {
        let run = dir.run_on_host(&format!("{traced} {more}")).ok();
        assert!(run.err.contains(told), "{run:?}");
        assert_eq!(run.err.contains("--time"), more == "--time 1", "{run:?}");
    }
    let water = dir.run_on_host("inspect builtin:courtyard --set passes.caustics.enabled=false");
    assert!(water.ok().err.contains("passes.caustics.enabled=false"));
}

#[cfg(unix)]
#[test]
fn a_look_may_come_from_a_pipe_and_a_pipe_in_place_of_a_profile_is_refused() {
    let dir = Folder::with_scene(3);
    let piped = |command: &str| {
        let mut shell = std::process::Command::new("bash");
        shell.args(["-c", command, env!("CARGO_BIN_EXE_sunny16")]).current_dir(dir.path());
        finish(shell)
    };
    let look = piped("exec \"$0\" inspect small.glb --look <(echo lights.bulb.lumens = 123)");
    look.ok().prints(&["123 lm as the look sets it"]);
    let fifo = piped("mkfifo fifo.ies && exec timeout 20 \"$0\" ies fifo.ies");
    fifo.fails(4, &["fifo.ies", "not a regular file"]);
}
