//! `[timeline]` of a look: pictures of a run, alone and of the held values, by both renderers.

use crate::{common::Folder, sequences::moving_cube};

/// A focus pull from 2 m to 8 m, a lamp that dims to an eighth, and a stop of exposure.
const SHOT: &str = "[camera.lens]\nfocal_length = 50\nf_stop = 1.4\n\
    [timeline.\"camera.lens.focus\"]\n\
    keys = [{ frame = 0, value = 2 }, { frame = 6, value = \"8 m\" }]\n\
    [timeline.\"lights.#0.candela\"]\n\
    keys = [{ time = 0, value = 800, ease = \"cubic in-out\" }, { time = 0.25, value = 100 }]\n\
    [timeline.\"camera.exposure.ev100\"]\n\
    keys = [{ frame = 0, value = 5 }, { frame = 6, value = 6 }]\n";

/// The look of a frame of the shot, 1 to 5, without a timeline.
fn held(frame: u32) -> String {
    let time = f64::from(frame) / 24.0;
    let part = time / 0.25;
    let focus = (1.0 / 2.0 + (1.0 / 8.0 - 1.0 / 2.0) * part).recip();
    let eased = if part < 0.5 {
        (2.0 * part).powi(3) / 2.0
    } else {
        1.0 - (2.0 - 2.0 * part).powi(3) / 2.0
    };
    let candela = 800.0 + (100.0 - 800.0) * eased;
    format!(
        "[camera.lens]\nfocal_length = 50\nf_stop = 1.4\nfocus = {focus}\n\
         [lights.\"#0\"]\ncandela = {candela}\n[camera.exposure]\nev100 = {}\n",
        5.0 + part
    )
}

fn shot() -> Folder {
    let dir = moving_cube();
    dir.write("shot.look.toml", SHOT);
    for frame in [2, 4] {
        dir.write(&format!("held{frame}.look.toml"), held(frame));
    }
    dir
}

fn assert_frames_are_those_of_held_values(dir: &Folder, render: &dyn Fn(&str)) {
    render("-o run.png --look shot.look.toml --frames 0-5");
    for frame in [2, 4] {
        render(&format!("-o alone.png --look shot.look.toml --frames {frame}-{frame}"));
        render(&format!("-o held.png --look held{frame}.look.toml --frames {frame}-{frame}"));
        let file = |name: &str| dir.read(&format!("{name}.{frame:04}.png"));
        assert!(file("run") == file("alone"), "frame {frame} alone");
        assert!(file("run") == file("held"), "frame {frame} with the values in its look");
    }
    assert!(dir.read("run.0002.png") != dir.read("run.0004.png"));
    // A still at the same time, as a picture without a number.
    render("-o still.png --look shot.look.toml --time 0.125");
    render("-o first.png --look held.look.toml --time 0.125");
    assert!(dir.read("still.png") == dir.read("first.png"), "a still at 0.125 s");
}

#[test]
fn a_frame_of_the_rasterizer_is_that_of_the_held_values() {
    let dir = shot();
    dir.write("held.look.toml", held(3));
    assert_frames_are_those_of_held_values(&dir, &|more| {
        dir.run(&format!("render cube.gltf -q --size 96x48 {more}")).ok();
    });
}

#[test]
fn a_frame_of_the_path_tracer_is_that_of_the_held_values() {
    let dir = shot();
    dir.write("held.look.toml", held(3));
    assert_frames_are_those_of_held_values(&dir, &|more| {
        let fixed = "render cube.gltf -q --renderer path --size 24x12 --spp 4";
        dir.run_on_host(&format!("{fixed} {more}")).ok();
    });
}

#[test]
fn the_rate_of_a_sequence_is_that_of_keys_in_frames() {
    let dir = shot();
    let render = |more: &str| {
        let fixed = "render cube.gltf -q --renderer path --size 16x8 --spp 1";
        dir.run_on_host(&format!("{fixed} --look shot.look.toml {more}"))
    };
    // 2 m at frame 0, 8 m at frame 6: frame 6 is at 0.25 s or at 0.125 s.
    dir.write("shot.look.toml", SHOT.lines().take(5).collect::<Vec<_>>().join("\n"));
    render("-o slow.png --frames 6-6 --fps 24 --set camera.exposure.ev100=5").ok();
    render("-o quick.png --time 0.25 --fps 48 --set camera.exposure.ev100=5").ok();
    let slow = dir.rgb8("slow.0006.png");
    assert_eq!(slow, dir.rgb8("quick.png"), "the last key holds at both rates");
    let run = render("-o half.png --time 0.125 --fps 48 --set camera.exposure.ev100=5").ok();
    assert!(!run.err.contains("--fps has no effect"), "{run:?}");
    render("-o late.png --time 0.125 --set camera.exposure.ev100=5").ok();
    let far = "-o far.png --time 0.125 --set camera.exposure.ev100=5 --set camera.lens.focus=8";
    render(far).ok();
    assert_eq!(dir.rgb8("half.png"), dir.rgb8("far.png"), "frame 6 at 48 frames per second");
    assert_ne!(dir.rgb8("late.png"), dir.rgb8("far.png"), "frame 3 at 24 frames per second");
}

#[test]
fn errors_name_the_file_and_the_line() {
    let dir = shot();
    for (line, parts) in [
        (
            "\"camera.lens.fokus\".keys = [{ time = 0, value = 2 }]",
            &["line 2", "camera.lens.focus"][..],
        ),
        (
            "\"camera.lens.focus\".keys = [{ time = 0, value = 2, ease = \"cubic\" }]",
            &["line 2", "cubic in"],
        ),
        ("\"lights.Kye.lumens\".keys = [{ time = 0, value = 2 }]", &["line 2", "lights.#0"]),
    ] {
        dir.write("bad.look.toml", format!("[timeline]\n{line}\n"));
        let run =
            dir.run_on_host("render cube.gltf -o bad.png --renderer path --look bad.look.toml");
        run.ends_with_error(4, &[&["bad.look.toml"], parts].concat());
        assert!(!dir.has("bad.png"));
    }
}
