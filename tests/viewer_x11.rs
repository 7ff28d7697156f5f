//! The look-dev window itself, under a virtual X server, driven by xdotool as by hands: opened, typed into, resized, saved,
//! closed. Skipped where there is no Xvfb or xdotool.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod common;

use std::{
    fs,
    io::Read,
    path::Path,
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

/// Ends with the test, whatever becomes of it.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn there(program: &str) -> bool {
    Command::new(program).arg("-help").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// A virtual display and its name.
fn display() -> Option<(Ended, String)> {
    for program in ["Xvfb", "xdotool"] {
        if !there(program) {
            println!("skipped: {program} is not installed");
            return None;
        }
    }
    // The server chooses a free number and says it.
    let mut server = Command::new("Xvfb")
        .args(["-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut number = String::new();
    let mut out = server.stdout.take()?;
    let mut byte = [0];
    while out.read(&mut byte).is_ok_and(|count| count == 1) && byte[0] != b'\n' {
        number.push(char::from(byte[0]));
    }
    (!number.is_empty()).then(|| (Ended(server), format!(":{number}")))
}

struct Hands {
    display: String,
    window: String,
}

impl Hands {
    fn tool(&self, arguments: &[&str]) -> String {
        let out = Command::new("xdotool").args(arguments).env("DISPLAY", &self.display).output().unwrap();
        String::from_utf8_lossy(&out.stdout).trim().to_owned()
    }

    fn key(&self, key: &str) {
        // To whoever has the keyboard: events sent to a window carry no modifiers.
        self.tool(&["key", key]);
        sleep(Duration::from_millis(150));
    }

    fn type_in(&self, text: &str) {
        self.tool(&["type", "--delay", "20", text]);
        sleep(Duration::from_millis(150));
    }

    fn until(&self, what: &str, mut done: impl FnMut() -> bool) {
        let started = Instant::now();
        while !done() {
            assert!(started.elapsed() < Duration::from_secs(120), "waited for: {what}");
            sleep(Duration::from_millis(100));
        }
    }
}

fn open(display: &str, scene: &Path, more: &[&str]) -> (Ended, Hands) {
    let program = Command::new(env!("CARGO_BIN_EXE_sunny16"))
        .arg("view")
        .arg(scene)
        .args(more)
        .env("DISPLAY", display)
        .env_remove("WAYLAND_DISPLAY")
        // The list of recent scenes is not the user's.
        .env("XDG_STATE_HOME", scene.with_file_name("state"))
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut program = Ended(program);
    let mut hands = Hands { display: display.to_owned(), window: String::new() };
    let started = Instant::now();
    while hands.window.is_empty() {
        assert!(started.elapsed() < Duration::from_secs(120), "no window");
        if let Some(status) = program.0.try_wait().unwrap() {
            let mut text = String::new();
            program.0.stderr.take().unwrap().read_to_string(&mut text).unwrap();
            panic!("{status}: {text}");
        }
        sleep(Duration::from_millis(200));
        hands.window = hands.tool(&["search", "--name", "sunny16"]).lines().next().unwrap_or_default().to_owned();
    }
    // Without a window manager nobody gives it the keyboard.
    hands.tool(&["windowfocus", "--sync", &hands.window]);
    (program, hands)
}

#[test]
fn hands_open_turn_a_dial_resize_save_and_close() {
    if common::no_gpu("the window") {
        return;
    }
    let Some((_server, display)) = display() else { return };
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("cornell.glb");
    let (scene, _) = sunny16::scene::procedural::Builtin::named("cornell").unwrap().make().unwrap();
    fs::write(&file, sunny16::scene::write_glb::write_glb(&scene).unwrap()).unwrap();
    let look = dir.path().join("cornell.look.toml");
    fs::write(&look, "# Kept.\n[camera.exposure]\nev100 = 6.0\n").unwrap();

    let (mut program, hands) = open(&display, &file, &["--validation", "--size", "640x360"]);
    let title = |part: &str| hands.tool(&["getwindowname", &hands.window]).contains(part);
    hands.until("the scene's name in the title", || title("cornell.glb"));
    // The palette takes the keyboard, once it is drawn: hands look before they type, and try again.
    hands.until("the mark of a change", || {
        let eyes = |seconds| sleep(Duration::from_secs(seconds));
        hands.key("Escape");
        eyes(2);
        hands.key("ctrl+p");
        eyes(3);
        hands.type_in("camera.lens.f_stop=4");
        eyes(2);
        hands.key("Return");
        eyes(3);
        title("*")
    });
    for size in [["1", "1"], ["520", "300"], ["700", "400"]] {
        hands.tool(&["windowsize", &hands.window, size[0], size[1]]);
        sleep(Duration::from_millis(700));
        assert!(program.0.try_wait().unwrap().is_none(), "it ended at {size:?}");
    }
    // Software drivers offer no HDR: the window makes its pictures anew, as sRGB, and goes on.
    let settings = dir.path().join("state/sunny16/settings");
    hands.key("n");
    hands
        .until("the window's settings", || fs::read_to_string(&settings).is_ok_and(|text| text.contains("hdr = true")));
    sleep(Duration::from_secs(2));
    hands.key("ctrl+s");
    hands.until("the file", || fs::read_to_string(&look).is_ok_and(|text| text.contains("f_stop = 4")));
    let text = fs::read_to_string(&look).unwrap();
    assert!(text.starts_with("# Kept.\n"), "{text}");
    assert!(fs::read_to_string(dir.path().join("state/sunny16/recent")).unwrap().contains("cornell.glb"));
    hands.key("ctrl+q");
    hands.until("the end", || program.0.try_wait().unwrap().is_some());
    let status = program.0.wait().unwrap();
    let mut said = String::new();
    program.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(status.success(), "{status}: {said}");
}

#[test]
fn without_a_display_there_is_a_way_out() {
    if common::no_gpu("the window") {
        return;
    }
    let out = Command::new(env!("CARGO_BIN_EXE_sunny16"))
        .arg("view")
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .env_remove("WAYLAND_SOCKET")
        .output()
        .unwrap();
    assert_eq!(out.status.code(), Some(6));
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(said.contains("sunny16 render"), "{said}");
}
