//! The viewer window under a virtual X server, driven by xdotool and checked on the server's
//! screen: open, type, click, compare, resize, hide, save, close, reopen. Skipped without Xvfb or
//! xdotool.

use std::{
    collections::HashMap,
    f64::consts::FRAC_PI_2,
    fs,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread::sleep,
    time::{Duration, Instant},
};

use glam::{DMat4, DVec3, Vec2, Vec3};
use sunny16::{
    photometry::Lumen,
    scene::{
        Scene,
        build::{SceneBuilder, dielectric, look_at_transform},
        procedural::shapes,
    },
};

/// A child process that is killed when the test ends.
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

/// A virtual display, its name, and the folder of its frame buffer.
fn display() -> Option<(Ended, String, tempfile::TempDir)> {
    for program in ["Xvfb", "xdotool"] {
        if !there(program) {
            println!("skipped: {program} is not installed");
            return None;
        }
    }
    let screen = tempfile::tempdir().ok()?;
    // The server chooses a free number and prints it.
    let mut server = Command::new("Xvfb")
        .args(["-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp", "-fbdir"])
        .arg(screen.path())
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
    (!number.is_empty()).then(|| (Ended(server), format!(":{number}"), screen))
}

/// The screen's content: the server's frame buffer, a file in X window dump format.
struct Screen {
    size: [usize; 2],
    /// Red, green, blue.
    pixels: Vec<[u8; 3]>,
}

impl Screen {
    fn read(folder: &Path) -> Self {
        let bytes = fs::read(folder.join("Xvfb_screen0")).unwrap();
        // XWDFile.h: header words are big-endian.
        let word = |index: usize| {
            u32::from_be_bytes(bytes[index * 4..index * 4 + 4].try_into().unwrap()) as usize
        };
        let (header, width, height, bits, line, colors) =
            (word(0), word(4), word(5), word(11), word(12), word(19));
        assert_eq!((word(1), bits), (7, 32), "version of the dump, and bits a pixel");
        let first = header + colors * 12;
        let row = |y: usize| {
            bytes[first + y * line..][..width * 4].chunks_exact(4).map(|p| [p[2], p[1], p[0]])
        };
        Self { size: [width, height], pixels: (0..height).flat_map(row).collect() }
    }

    fn row(&self, y: usize) -> &[[u8; 3]] {
        &self.pixels[y * self.size[0]..(y + 1) * self.size[0]]
    }

    /// Finds a picture on the screen by its middle row.
    fn find(&self, picture: &Shown) -> Option<[usize; 2]> {
        let middle = picture.size[1] / 2;
        let wanted = picture.part(0, middle, picture.size[0]);
        let at = |y: usize| self.row(y).windows(wanted.len()).position(|there| there == wanted);
        (middle..self.size[1]).find_map(|y| Some([at(y)?, y - middle]))
    }

    /// A part of the screen.
    fn cut(&self, [left, top]: [usize; 2], size: [usize; 2]) -> Shown {
        let pixels = (top..top + size[1])
            .flat_map(|y| self.row(y)[left..left + size[0]].iter().copied())
            .collect();
        Shown { size, pixels }
    }
}

/// A picture's bytes.
#[derive(Clone, PartialEq)]
struct Shown {
    size: [usize; 2],
    pixels: Vec<[u8; 3]>,
}

impl Shown {
    fn read(file: &Path) -> Self {
        let picture = image::open(file).unwrap().to_rgb8();
        let size = [picture.width() as usize, picture.height() as usize];
        Self { size, pixels: picture.pixels().map(|pixel| pixel.0).collect() }
    }

    fn part(&self, x: usize, y: usize, count: usize) -> &[[u8; 3]] {
        &self.pixels[y * self.size[0] + x..][..count]
    }

    /// Number of rows that differ, between two columns.
    fn rows_apart(&self, other: &Self, columns: std::ops::Range<usize>) -> usize {
        let row = |of: &'_ Self, y: usize| of.part(columns.start, y, columns.len()).to_vec();
        (0..self.size[1]).filter(|&y| row(self, y) != row(other, y)).count()
    }

    /// Median difference (codes) of the means of pixel squares, right of a column: robust to noise
    /// and to overlays on a few of them.
    fn apart(&self, other: &Self, from: usize) -> f64 {
        const SIDE: usize = 16;
        let mean = |of: &Self, x: usize, y: usize, channel: usize| {
            let rows = (y..y + SIDE).map(|y| of.part(x, y, SIDE));
            rows.flatten().map(|pixel| f64::from(pixel[channel])).sum::<f64>()
                / (SIDE * SIDE) as f64
        };
        let squares = (0..self.size[1] - SIDE)
            .step_by(SIDE)
            .flat_map(|y| (from..self.size[0] - SIDE).step_by(SIDE).map(move |x| (x, y)));
        let mut differences: Vec<f64> = squares
            .flat_map(|(x, y)| (0..3).map(move |c| (x, y, c)))
            .map(|(x, y, c)| (mean(self, x, y, c) - mean(other, x, y, c)).abs())
            .collect();
        differences.sort_by(f64::total_cmp);
        differences[differences.len() / 2]
    }
}

struct XdotoolDriver {
    display: String,
    /// Path of the server's frame buffer.
    screen: PathBuf,
    window: String,
    /// Lines that the window has printed.
    printed: Arc<Mutex<Vec<String>>>,
}

impl XdotoolDriver {
    fn tool(&self, arguments: &[&str]) -> String {
        let out =
            Command::new("xdotool").args(arguments).env("DISPLAY", &self.display).output().unwrap();
        String::from_utf8_lossy(&out.stdout).trim().to_owned()
    }

    fn key(&self, key: &str) {
        // To the focused window: events sent to a window carry no modifiers.
        self.tool(&["key", key]);
        sleep(Duration::from_millis(100));
    }

    fn type_in(&self, text: &str) {
        self.tool(&["type", "--delay", "12", text]);
        sleep(Duration::from_millis(100));
    }

    fn look(&self) -> Screen {
        Screen::read(&self.screen)
    }

    /// Waits until the screen is static, up to a limit.
    fn wait_until_static(&self) {
        let mut before = self.look().pixels;
        for _ in 0..6 {
            sleep(Duration::from_millis(200));
            let now = self.look().pixels;
            if now == before {
                return;
            }
            before = now;
        }
    }

    fn until(&self, what: &str, mut done: impl FnMut() -> bool) {
        let started = Instant::now();
        while !done() {
            assert!(started.elapsed() < Duration::from_secs(120), "waited for: {what}");
            sleep(Duration::from_millis(100));
        }
    }

    fn title(&self) -> String {
        self.tool(&["getwindowname", &self.window])
    }

    /// Types a line into the palette until its effect is seen. The palette takes the keyboard focus
    /// once it is drawn.
    fn palette(&self, line: &str, mut worked: impl FnMut() -> bool) {
        let started = Instant::now();
        loop {
            self.key("Escape");
            self.wait_until_static();
            self.key("ctrl+p");
            self.wait_until_static();
            self.type_in(line);
            self.wait_until_static();
            self.key("Return");
            self.wait_until_static();
            if worked() {
                return;
            }
            assert!(
                started.elapsed() < Duration::from_secs(120),
                "the palette does not take {line}"
            );
        }
    }

    fn point(&self, [x, y]: [usize; 2]) {
        self.tool(&["mousemove", "--window", &self.window, &x.to_string(), &y.to_string()]);
    }

    fn click(&self, at: [usize; 2]) {
        self.point(at);
        self.wait_until_static();
        self.tool(&["click", "1"]);
        self.wait_until_static();
    }

    /// The reading under the pointer, copied by Ctrl+C, once a condition holds for it.
    fn reading(
        &self,
        what: &str,
        holds: impl Fn(&HashMap<String, String>) -> bool,
    ) -> HashMap<String, String> {
        let started = Instant::now();
        loop {
            let before = self.printed.lock().unwrap().len();
            self.key("ctrl+c");
            let line = (0..40).find_map(|_| {
                sleep(Duration::from_millis(50));
                self.printed.lock().unwrap().get(before).cloned()
            });
            let parts = line
                .iter()
                .flat_map(|line| line.split(' '))
                .filter_map(|part| part.split_once('='));
            let reading: HashMap<_, _> =
                parts.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
            if !reading.is_empty() && holds(&reading) {
                return reading;
            }
            assert!(
                started.elapsed() < Duration::from_secs(120),
                "no reading of {what}: {reading:?}"
            );
        }
    }
}

/// True if a reading is of the finished picture.
fn whole(reading: &HashMap<String, String>) -> bool {
    reading["frames"].split_once('/').is_some_and(|(have, of)| have == of)
}

fn numbers(text: &str) -> Vec<f64> {
    text.split([',', ' ']).map(|value| value.parse().unwrap()).collect()
}

fn open((display, screen): (&str, &Path), scene: &Path, more: &[&str]) -> (Ended, XdotoolDriver) {
    // Not the first start: the tour would cover a part of the picture.
    let settings = scene.with_file_name("state").join("sunny16/settings");
    if !settings.exists() {
        fs::create_dir_all(settings.parent().unwrap()).unwrap();
        fs::write(&settings, "[window]\ntour = false\n").unwrap();
    }
    let program = Command::new(env!("CARGO_BIN_EXE_sunny16"))
        .arg("view")
        .arg(scene)
        .args(more)
        .env("DISPLAY", display)
        .env_remove("WAYLAND_DISPLAY")
        // Keeps the user's list of recent scenes unchanged.
        .env("XDG_STATE_HOME", scene.with_file_name("state"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut program = Ended(program);
    let printed = Arc::new(Mutex::new(Vec::new()));
    let (out, lines) = (program.0.stdout.take().unwrap(), Arc::clone(&printed));
    std::thread::spawn(move || {
        for line in BufReader::new(out).lines().map_while(Result::ok) {
            lines.lock().unwrap().push(line);
        }
    });
    let mut driver = XdotoolDriver {
        display: display.to_owned(),
        screen: screen.into(),
        window: String::new(),
        printed,
    };
    let started = Instant::now();
    while driver.window.is_empty() {
        assert!(started.elapsed() < Duration::from_secs(120), "no window");
        if let Some(status) = program.0.try_wait().unwrap() {
            let mut text = String::new();
            program.0.stderr.take().unwrap().read_to_string(&mut text).unwrap();
            panic!("{status}: {text}");
        }
        sleep(Duration::from_millis(200));
        driver.window = driver
            .tool(&["search", "--name", "sunny16"])
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned();
    }
    // Without a window manager the focus must be set explicitly.
    driver.tool(&["windowfocus", "--sync", &driver.window]);
    (program, driver)
}

/// An idle window draws frames only for the readings here and for expiring messages, and takes
/// hardly any processor time.
fn sleeps(driver: &XdotoolDriver, program: &Ended) {
    // Clock ticks of all threads (proc(5), fields 14 and 15); 100 per second.
    let ticks = || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", program.0.id())).unwrap();
        let fields: Vec<u64> = stat
            .rsplit_once(')')
            .unwrap()
            .1
            .split_whitespace()
            .skip(11)
            .take(2)
            .map(|x| x.parse().unwrap())
            .collect();
        fields.iter().sum::<u64>()
    };
    let frames =
        || driver.reading("a window at rest", whole)["window_frames"].parse::<u64>().unwrap();
    let before = frames();
    sleep(Duration::from_millis(1500));
    let (worked, since) = (ticks(), Instant::now());
    sleep(Duration::from_secs(3));
    let part = (ticks() - worked) as f64 / 100.0 / since.elapsed().as_secs_f64();
    let drawn = frames() - before;
    println!("at rest: {drawn} frames in 4.5 s, {:.0} % of a processor", part * 100.0);
    assert!(drawn < 20, "{drawn} frames of a window at rest");
    assert!(part < 0.25, "{part} of a processor at rest");
}

/// Closes the window by its key; it must exit successfully, without validation messages.
fn quit(driver: &XdotoolDriver, mut program: Ended) {
    driver.key("ctrl+q");
    driver.until("the end", || program.0.try_wait().unwrap().is_some());
    let status = program.0.wait().unwrap();
    let mut said = String::new();
    program.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(status.success(), "{status}: {said}");
}

/// Runs the command line; returns its output.
fn by_command_line(arguments: &[&str]) -> String {
    let out = Command::new(env!("CARGO_BIN_EXE_sunny16")).args(arguments).output().unwrap();
    assert!(out.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8_lossy(&out.stdout).into_owned()
}

/// A corner of a room with a block in it, lit by a spot: much of its light is indirect.
fn room() -> Scene {
    let mut builder = SceneBuilder::new("room");
    let white = builder.add_material(dielectric("White", Vec3::splat(0.75), 0.7));
    let red = builder.add_material(dielectric("Red", Vec3::new(0.7, 0.1, 0.08), 0.7));
    let plane = |builder: &mut SceneBuilder, name: &str, material, place: DMat4| {
        let mesh = builder.add_mesh(name, shapes::plane(Vec2::splat(3.0), 1, 1), material);
        builder.instance(name, mesh, place);
    };
    plane(&mut builder, "floor", white, DMat4::IDENTITY);
    let back =
        DMat4::from_translation(DVec3::new(0.0, 1.5, -1.5)) * DMat4::from_rotation_x(FRAC_PI_2);
    plane(&mut builder, "back", white, back);
    let side =
        DMat4::from_translation(DVec3::new(-1.5, 1.5, 0.0)) * DMat4::from_rotation_z(-FRAC_PI_2);
    plane(&mut builder, "side", red, side);
    builder.spot_light_lumens(
        "Spot",
        Lumen(900.0),
        Vec3::ONE,
        (0.3, 0.5),
        look_at_transform(DVec3::new(1.0, 2.0, 1.2), DVec3::new(1.2, 0.0, -0.9)),
    );
    builder.camera("Eye", DVec3::new(1.6, 1.5, 3.0), DVec3::new(-0.1, 0.7, 0.0), 0.7, None);
    builder.build().unwrap()
}

#[test]
fn xdotool_opens_aims_meters_compares_resizes_hides_saves_closes_and_reopens() {
    if crate::common::no_gpu("the window") {
        return;
    }
    let Some((_server, display, screen)) = display() else { return };
    let at = (display.as_str(), screen.path());
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("room.glb");
    fs::write(&file, sunny16::scene::write_glb::write_glb(&room()).unwrap()).unwrap();
    let look = dir.path().join("room.look.toml");
    fs::write(&look, "# Kept.\n[gi]\nenabled = false\n[passes.aa]\nsamples = 2\n").unwrap();
    let text = || fs::read_to_string(&look).unwrap();
    const WINDOW: [&str; 2] = ["820", "440"];

    let (mut program, driver) =
        open(at, &file, &["--validation", "--pacing", "--size", &WINDOW.join("x")]);
    driver.until("the scene's name in the title", || driver.title().contains("room.glb"));
    // Between outliner and inspector.
    let middle = [360, 260];
    driver.point(middle);
    driver.reading("the first picture", whole);
    // The picture fills its panel: more of the room than the camera's frame.
    let framed = driver.look();
    driver.palette("window.gate=false", || driver.look().pixels != framed.pixels);
    driver.reading("the picture of the panel", whole);

    // A camera setting, by the palette.
    driver.palette("camera.lens.f_stop=4", || driver.title().contains('*'));
    // The spot is aimed by a click on a surface.
    let before = driver.look();
    driver.palette("view.select=Spot", || driver.look().pixels != before.pixels);
    driver.palette("view.tool=aim", || true);
    driver.point(middle);
    let pointed =
        driver.reading("the surface", |reading| whole(reading) && reading.contains_key("point"));
    driver.click(middle);
    driver.key("ctrl+s");
    driver.until("the light's aim in the file", || text().contains("aim ="));
    assert!(text().starts_with("# Kept.\n") && text().contains("f_stop = 4"), "{}", text());
    let saved: toml_edit::DocumentMut = text().parse().unwrap();
    let aim = numbers(saved["lights"]["Spot"]["aim"].as_str().unwrap());
    for (aimed, point) in aim.iter().zip(numbers(&pointed["point"])) {
        assert!(
            (aimed - point).abs() < 2e-5,
            "{aim:?} is where the click met the surface, {pointed:?}"
        );
    }
    // Incident-light and spot readings there. Positions of unfinished pictures are those of
    // jittered samples.
    driver.reading("the picture in the aimed light", whole);
    driver.key("m");
    driver.click(middle);
    let reading =
        driver.reading("incident light", |reading| whole(reading) && reading.contains_key("lux"));
    assert_ne!(reading["nit"], pointed["nit"], "the light has moved");
    driver.key("Escape");
    // Files of the current picture.
    let png = |number: u32| dir.path().join(format!("room.{number:04}.png"));
    driver.key("F12");
    driver.until("the picture's files", || png(0).with_extension("exr").exists());
    let shown = Shown::read(&png(0));
    // Right after the header: the chunk says that the codes are sRGB, with its CRC (ISO/IEC 15948,
    // 11.3.3.5).
    assert_eq!(fs::read(png(0)).unwrap()[33..46], *b"\0\0\0\x01sRGB\0\xae\xce\x1c\xe9");

    // The values equal the command line's of the same look and size.
    let size = reading["size"].as_str();
    assert_eq!(format!("{}x{}", shown.size[0], shown.size[1]), size);
    let by = |name: &str| dir.path().join(name).display().to_string();
    let scene = file.display().to_string();
    by_command_line(&["render", &scene, "--size", size, "-o", &by("cli.png")]);
    by_command_line(&["render", &scene, "--size", size, "-o", &by("cli.exr")]);
    assert!(Shown::read(&dir.path().join("cli.png")) == shown, "bit for bit what `render` writes");
    let pixel: Vec<usize> = ["x", "y"].iter().map(|name| reading[*name].parse().unwrap()).collect();
    let read: Vec<f32> =
        reading["rgb_nit"].split(',').map(|value| value.parse().unwrap()).collect();
    for (channel, nits) in ["R", "G", "B"].iter().zip(read) {
        let ours = crate::common::exr_channel(&png(0).with_extension("exr"), channel);
        let theirs = crate::common::exr_channel(&dir.path().join("cli.exr"), channel);
        assert_eq!(ours, theirs, "{channel}");
        assert_eq!(
            theirs[pixel[1] * shown.size[0] + pixel[0]],
            nits,
            "{channel} of pixel {pixel:?}"
        );
    }
    let codes: Vec<f64> = numbers(&reading["shown"]);
    assert_eq!(shown.part(pixel[0], pixel[1], 1)[0].map(f64::from).to_vec(), codes);
    let (point, normal) = (&reading["point"], &reading["normal"]);
    let json = by("meter.json");
    by_command_line(&[
        "meter", &scene, "--size", size, "--point", point, "--normal", normal, "--json", &json,
    ]);
    let metered: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(json).unwrap()).unwrap();
    let (lux, cli) =
        (numbers(&reading["lux"])[0], metered.pointer("/incident/lux").unwrap().as_f64().unwrap());
    println!("incident light: {lux} lx in the window, {cli} lx by `meter`");
    assert!((lux / cli - 1.0).abs() < 1e-5, "{lux}, {cli}");

    // The screen shows that picture.
    driver.point([2, 2]);
    let place = || driver.look().find(&shown);
    driver.until("the picture on the screen", || place().is_some());
    let place = place().unwrap();
    let on_screen = || driver.look().cut(place, shown.size);
    let [width, height] = shown.size;
    let apart = on_screen().rows_apart(&shown, 0..width);
    assert!(apart < height / 3, "{apart} of {height} rows: only the light's handles lie over it");

    // The path tracer, wiped: left of the line the picture stays, right of it is what the command
    // line traces.
    by_command_line(&[
        "render",
        &scene,
        "--size",
        size,
        "--renderer",
        "path",
        "--spp",
        "16",
        "-o",
        &by("path.png"),
    ]);
    let traced = Shown::read(&dir.path().join("path.png"));
    let half = width / 2 + 12;
    println!("raster and path tracer are {:.2} codes apart", shown.apart(&traced, half));
    assert!(shown.apart(&traced, half) > 2.0, "indirect light makes them differ");
    driver.palette("view.compare=wipe", || true);
    driver.until("the traced half", || {
        let now = on_screen();
        println!(
            "{:.2} codes from it, {:.2} from raster",
            now.apart(&traced, half),
            now.apart(&shown, half)
        );
        now.apart(&traced, half) < 0.5 * now.apart(&shown, half)
    });
    let now = on_screen();
    println!(
        "the right half is {:.2} codes from it, {:.2} from raster",
        now.apart(&traced, half),
        now.apart(&shown, half)
    );
    assert!(
        now.rows_apart(&shown, 0..width / 2 - 60) < height / 3,
        "left of the line is the picture"
    );
    // Input continues while it works.
    for _ in 0..12 {
        driver.key("bracketright");
    }
    driver.until("the line has moved", || {
        on_screen().rows_apart(&shown, 0..width / 2 + 20) < height / 3
    });
    driver.palette("view.compare=raster", || on_screen().rows_apart(&shown, 0..width) < height / 3);

    // Shrunk, hidden and restored: the picture and its position are the same.
    for size in [["1", "1"], ["520", "300"], WINDOW] {
        driver.tool(&["windowsize", &driver.window, size[0], size[1]]);
        sleep(Duration::from_millis(500));
        assert!(program.0.try_wait().unwrap().is_none(), "it ended at {size:?}");
    }
    driver.until("the picture as before", || on_screen().rows_apart(&shown, 0..width) < height / 3);
    driver.tool(&["windowunmap", "--sync", &driver.window]);
    sleep(Duration::from_millis(700));
    assert!(program.0.try_wait().unwrap().is_none(), "it ended hidden");
    assert!(on_screen().rows_apart(&shown, 0..width) > height / 2, "it is hidden");
    driver.tool(&["windowmap", "--sync", &driver.window]);
    driver.tool(&["windowfocus", "--sync", &driver.window]);
    driver.until("the picture after it was hidden", || {
        on_screen().rows_apart(&shown, 0..width) < height / 3
    });

    // Software drivers offer no HDR: the window recreates its swapchain images as sRGB, and
    // continues.
    let settings = dir.path().join("state/sunny16/settings");
    driver.key("n");
    driver.until("the window's settings", || {
        fs::read_to_string(&settings).is_ok_and(|text| text.contains("hdr = true"))
    });
    driver.wait_until_static();
    driver.key("ctrl+s");
    assert!(
        fs::read_to_string(dir.path().join("state/sunny16/recent")).unwrap().contains("room.glb")
    );
    let kept = text();
    let lines = Arc::clone(&driver.printed);
    quit(&driver, program);
    driver.until("the window's pulse", || {
        lines.lock().unwrap().last().is_some_and(|line| line.contains("stutters="))
    });
    println!("{}", lines.lock().unwrap().last().unwrap());

    // Opened again: the same picture, bit for bit.
    let (program, driver) =
        open(at, &file, &["--validation", "--pacing", "--size", &WINDOW.join("x")]);
    driver.until("the scene's name in the title", || driver.title().contains("room.glb"));
    driver.point(middle);
    let again = driver.reading("the picture again", whole);
    sleeps(&driver, &program);
    for name in ["size", "x", "y", "nit", "ev100", "rgb_nit", "exposed", "shown", "point"] {
        assert_eq!(again[name], reading[name], "{name}");
    }
    driver.key("F12");
    driver.until("the picture's files", || png(1).with_extension("exr").exists());
    assert!(Shown::read(&png(1)) == shown, "the same picture, bit for bit");
    for channel in ["R", "G", "B"] {
        let [before, after] = [0, 1]
            .map(|number| crate::common::exr_channel(&png(number).with_extension("exr"), channel));
        assert_eq!(before, after, "{channel}");
    }
    quit(&driver, program);
    assert_eq!(text(), kept, "looking changes nothing");
}

#[test]
fn without_a_display_the_error_names_render() {
    if crate::common::no_gpu("the window") {
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
