//! Runs of the program, in folders of their own.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

use super::small_scene;

/// Keeps the program from finding a device.
pub const NO_DEVICE: [(&str, &str); 2] =
    [("VK_ICD_FILENAMES", "/nonexistent"), ("VK_DRIVER_FILES", "/nonexistent")];

/// Output of a run of the program.
#[derive(Debug)]
pub struct Run {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Run {
    /// This run, which must have succeeded.
    #[track_caller]
    pub fn ok(self) -> Self {
        assert_eq!(self.code, 0, "{self:?}");
        self
    }

    /// This run, which must have succeeded and written nothing to standard error.
    #[track_caller]
    pub fn silent(self) -> Self {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{self:?}");
        self
    }

    /// Asserts this exit code and one line of error that contains all `parts`.
    #[track_caller]
    pub fn fails(&self, code: i32, parts: &[&str]) {
        let lines = self.err.lines().filter(|line| !line.trim().is_empty()).count();
        assert_eq!(lines, 1, "not one line: {self:?}");
        self.ends_with_error(code, parts);
    }

    /// Asserts this exit code and a last line of error that contains all `parts`.
    #[track_caller]
    pub fn ends_with_error(&self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, code, "{self:?}");
        let last = self.err.trim_end().lines().last().unwrap_or_default();
        assert!(last.starts_with("sunny16: error: "), "{self:?}");
        for part in parts {
            assert!(last.contains(part), "'{part}' is not in: {}", self.err);
        }
        assert!(!self.err.contains("panicked"), "{}", self.err);
    }

    /// This run, whose standard output must contain all `parts`.
    #[track_caller]
    pub fn prints(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.out.contains(part), "'{part}' is not in:\n{}", self.out);
        }
        self
    }
}

/// Arguments of the program: a list, or a text of words.
pub trait Arguments {
    fn words(&self) -> Vec<&str>;
}

impl Arguments for str {
    fn words(&self) -> Vec<&str> {
        self.split_whitespace().collect()
    }
}

impl Arguments for String {
    fn words(&self) -> Vec<&str> {
        self.split_whitespace().collect()
    }
}

impl Arguments for [&str] {
    fn words(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl<const N: usize> Arguments for [&str; N] {
    fn words(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl Arguments for Vec<&str> {
    fn words(&self) -> Vec<&str> {
        self.clone()
    }
}

/// A folder in which the program runs.
pub struct Folder(TempDir);

impl Folder {
    pub fn empty() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// With `small.glb` (see `small_scene`).
    pub fn with_scene(subdivisions: u32) -> Self {
        Self(small_scene(subdivisions))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn at(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub fn has(&self, name: &str) -> bool {
        self.at(name).exists()
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.at(name), bytes).unwrap();
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.at(name)).unwrap()
    }

    pub fn text(&self, name: &str) -> String {
        fs::read_to_string(self.at(name)).unwrap()
    }

    pub fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.text(name)).unwrap()
    }

    /// One channel of an EXR.
    pub fn channel(&self, name: &str, channel: &str) -> Vec<f32> {
        exr_channel(&self.at(name), channel)
    }

    /// The codes of an image file.
    pub fn rgb8(&self, name: &str) -> image::RgbImage {
        image::open(self.at(name)).unwrap().to_rgb8()
    }

    /// Names of all files but the caches.
    pub fn listing(&self) -> Vec<String> {
        let files = fs::read_dir(self.path()).unwrap();
        let mut names: Vec<String> = files
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .filter(|name| name != "cache")
            .collect();
        names.sort();
        names
    }

    /// Runs the program.
    pub fn run(&self, arguments: &(impl Arguments + ?Sized)) -> Run {
        sunny16(self.path(), &arguments.words(), &[])
    }

    /// Runs the program without a device.
    pub fn run_on_host(&self, arguments: &(impl Arguments + ?Sized)) -> Run {
        sunny16(self.path(), &arguments.words(), &NO_DEVICE)
    }
}

/// Commands that render or meter a scene by its look.
const BY_LOOK: [&str; 5] = ["render", "view", "meter", "graph", "bench"];

/// Runs the program in `dir` with its caches there, except in the repository itself. The driver's
/// shader cache is shared by all tests: compiling takes ten times as long as drawing.
///
/// Scenes are rendered at the tier `direct`, unless the arguments name one: most tests are about
/// something else, and the default tier takes several times as long.
pub fn sunny16(dir: &Path, args: &[&str], environment: &[(&str, &str)]) -> Run {
    let by_look = args.first().is_some_and(|command| BY_LOOK.contains(command));
    let names_tier = args.iter().any(|word| word.contains("quality"));
    let tier: &[&str] = if by_look && !names_tier { &["--quality", "direct"] } else { &[] };
    let mut command = Command::new(env!("CARGO_BIN_EXE_sunny16"));
    let own =
        if dir.join("Cargo.toml").exists() { Path::new(env!("CARGO_TARGET_TMPDIR")) } else { dir };
    let caches = [("XDG_CACHE_HOME", own.join("cache")), ("MESA_SHADER_CACHE_DIR", driver_cache())];
    command.args(args).args(tier).envs(caches).envs(environment.iter().copied()).current_dir(dir);
    finish(command)
}

/// Where Mesa's drivers keep compiled shaders (<https://docs.mesa3d.org/envvars.html>).
pub fn driver_cache() -> PathBuf {
    let set = env::var_os("MESA_SHADER_CACHE_DIR").map(PathBuf::from);
    set.unwrap_or_else(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("driver"))
}

pub fn finish(mut command: Command) -> Run {
    let output = command.output().expect("the program starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Run {
        code: output.status.code().unwrap_or(-1),
        out: text(&output.stdout),
        err: text(&output.stderr),
    }
}

/// One channel of an EXR.
pub fn exr_channel(file: &Path, name: &str) -> Vec<f32> {
    let image = exr::prelude::read_first_flat_layer_from_file(file).expect("an EXR");
    let channel =
        image.layer_data.channel_data.list.iter().find(|channel| channel.name.to_string() == name);
    channel.unwrap_or_else(|| panic!("no channel {name}")).sample_data.values_as_f32().collect()
}
