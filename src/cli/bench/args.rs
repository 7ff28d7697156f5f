//! Arguments of `sunny16 bench`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde_json::{Map, Value};

use crate::cli::{device_args::DeviceArgs, error::CliError, scene_args::SceneArgs};

/// Measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Benchmark {
    /// Frames on the device: each pass, memory, start-up.
    Raster,
    /// The path tracer on the CPU: samples and rays per second, by threads.
    Path,
    /// BVHs over generated shapes: build time, memory, quality, rays per second.
    Bvh,
    /// The same rays on the CPU and on the device.
    Rays,
    /// Cost of indirect light for several VPL counts, triangle counts and resolutions.
    Gi,
    /// Cost of culling and drawing many instances of a small mesh.
    Instances,
    /// Cost of each effect alone, relative to a frame without effects.
    Effects,
    /// Cost of 1 to 256 lights in one scene, with clustered lights on and off.
    Lights,
    /// Frames on the device along a camera path: median, 95th percentile and slowest frame.
    Flythrough,
    /// Pictures per second of the look-dev window while a drag orbits.
    Window,
}

const NUMBERS: &str = "\
Example:
  sunny16 bench scene.glb --what raster,lights --size 1920x1080

Values (by the host's clock unless device timestamps are stated):
  --what raster
    median, p95 ms  measured frames; passes by the device's timestamps
    poses           time to compute and upload a frame's transforms; with motion
                    blur, also the transforms at shutter opening and closing. Only
                    for animations (with --time, or an animated demo): they start
                    at --time and advance 1/60 s per frame
    device memory   by buffer and image, for the scene and for frames; MB for each
                    additional megapixel: a frame of half the width and height is
                    rendered too, and the difference in memory is divided by the
                    difference in pixels
    two in flight   mean frame time when the next frame is recorded while the
                    device still draws one
  --what path, a row for each thread count: 1, 2, 4 ... and all threads
    samples/s       whole paths with light sampling and all bounces
    ratio           relative to the first row
    primary         closest-hit rays per second from the camera, in tiles of 16x16
                    pixels
    shadow          any-hit rays per second, from the camera rays' hit points to a
                    sampled light
    diffuse         closest-hit rays per second, from the same points in
                    cosine-distributed directions
  --what bvh, over a bumpy ball (rock) and a field of blocks (city)
    build           binary BVH of the device, by one thread and by all
    widen           conversion to the host's BVH: 4 children, 4 triangles a leaf
    refit           update of boxes and triangles after vertices moved
    SAH cost        expected box and triangle tests of a ray through the bounds
    device, host    MiB of nodes and triangles
    rays            primary, shadow and diffuse rays as in path, on all CPU threads:
                    through the host's BVH, then through the device's
  --what rays
    primary, shadow, diffuse  rays as in path: on the CPU by the 4-wide and by the
                    binary BVH, then on the device
    device          median of submissions of at least 10^6 rays (smaller sets are
                    traced up to 100 times), one ray per thread, by device
                    timestamps (software devices: by the host's clock), without
                    reading the hits back; also by ray query if the device has it
    bytes a ray     its record, its hit, and the nodes, triangles and instances of
                    the binary BVH that it visits, counted on the host; a lower
                    bound of the loads, caches not considered
    copy bandwidth  bytes read and written per second by copies of 256 MiB; caches
                    serve a part of the rays' bytes, so that a share may exceed
                    100 %. Not measured on software devices
  --what gi, medians by device timestamps, ray-traced direct light, moving view
    gi              the pass that samples VPLs
    rest            the other passes of indirect light: accumulation, denoising
    vpls            rows by number of VPLs; in row 'all', each pixel evaluates each
                    VPL without shadow rays
    resolution      rows with width and height scaled by 1/2, 1 and 3/2
    triangles       rows by triangle count of a bumpy ball in a closed room with one
                    light
  --what instances, over a field of stones and a field of houses
    geometry        culling and drawing, by device timestamps
    host            CPU time to record and submit a frame
    frame           time from the start of recording until the device has finished
    ratio           relative to the visible instances drawn as one mesh
  --what effects, through a 50 mm lens, each effect alone
    ratio           relative to the frame without effects
    its own         time and number of the passes that the effect adds
  --what lights, a generated hall with 1, 4, ... 256 lights
    lighting        lighting pass when each pixel evaluates all lights
    a light         the same time divided by the number of lights
    clustered       lighting pass with clustered lights
    clusters        the pass that assigns lights to clusters
    read, written   each image and buffer that a pass declares, whole and once: for
                    passes that cover the picture, image bytes are a lower bound of
                    the loads and stores; buffers count with their capacity;
                    textures and geometry do not count
  --what flythrough, along the keyframes of a camera path (docs/bench.md)
    median, p95, max ms  measured frames; passes by the device's timestamps
    slowest frame   its number, its time on the path, its most expensive pass
  --what window, a window of --size [default: 1280x800] without a display; a drag
  orbits, with pointer input at 60 Hz. At most 12 s
    pictures/s      new pictures in the window; size and quality of the last one
    interval        time between two new pictures
    picture         the render thread's time, device and host
    window thread   input, layout and drawing of a frame of the window
    first picture   from the press of the button
    after the release  to the first picture of full quality, and to the last of its
                    frames

Warm-up: on a device, frames or submissions are repeated for 0.2 s and until three
times in a row differ by at most 5 % (at most 1 s). No figure contains them.

--json FILE appends a line of JSON for each benchmark: schema, benchmark, program,
version, optimized, unix_time, device, host_threads, scene, size, settings (look
properties that differ from their defaults), options, warm_up, result. docs/bench.md
documents each field.";

/// Default of `--seconds`.
const SECONDS: f64 = 0.5;
/// Default of `--triangles`.
const TRIANGLES: &str = "10000,100000,1000000";
/// Default of `--vpls`.
const VPLS: &str = "1024,32768,1000000";
/// Default of `--instances`.
const INSTANCES: u32 = 100_000;

#[derive(Args, Debug)]
#[command(after_long_help = NUMBERS)]
pub struct BenchArgs {
    /// Measurements, comma-separated.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "raster")]
    pub what: Vec<Benchmark>,
    /// Duration of each measurement in seconds (path, bvh, rays).
    #[arg(long, value_name = "SECONDS", default_value_t = SECONDS, value_parser = seconds)]
    pub seconds: f64,
    /// Maximum path length (path) [default: unlimited].
    #[arg(long, value_name = "N")]
    pub bounces: Option<u32>,
    /// Triangle counts of the generated shapes, e.g. 10000000; counts beyond available memory are
    /// skipped (bvh, gi).
    #[arg(long, value_delimiter = ',', default_value = TRIANGLES,
          value_parser = clap::value_parser!(u32).range(100..=40_000_000))]
    pub triangles: Vec<u32>,
    /// VPL counts (gi).
    #[arg(long, value_delimiter = ',', default_value = VPLS,
          value_parser = clap::value_parser!(u32).range(1..=4_000_000))]
    pub vpls: Vec<u32>,
    /// Measured frames, after the warm-up [default: 30; flythrough: 60 per second of its path].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub frames: Option<u32>,
    /// Camera path (flythrough) [default: NAME.path.toml beside the scene; demos have their own].
    #[arg(long, value_name = "FILE")]
    pub camera_path: Option<PathBuf>,
    /// Number of instances (instances).
    #[arg(long, value_name = "N", default_value_t = INSTANCES, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub instances: u32,
    /// Write the window with its last picture in motion as PNG (window).
    #[arg(long, value_name = "FILE")]
    pub picture: Option<PathBuf>,
    /// Write the window with its picture at rest as PNG (window).
    #[arg(long, value_name = "FILE")]
    pub picture_rest: Option<PathBuf>,
    /// Append the values to a log: one line of JSON for each benchmark, with a schema number
    /// (docs/bench.md).
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    #[command(flatten)]
    pub scene: SceneArgs,
    #[command(flatten)]
    pub device: DeviceArgs,
}

/// Measured frames by default, but of `flythrough`.
const FRAMES: u32 = 30;

impl BenchArgs {
    /// Rejects options that none of the chosen benchmarks reads.
    pub fn check(&self) -> Result<(), CliError> {
        let has_frames = |what: &Benchmark| match what {
            Benchmark::Raster
            | Benchmark::Gi
            | Benchmark::Instances
            | Benchmark::Effects
            | Benchmark::Lights
            | Benchmark::Flythrough
            | Benchmark::Window => true,
            Benchmark::Path | Benchmark::Bvh | Benchmark::Rays => false,
        };
        if self.frames.is_some() && !self.what.iter().any(has_frames) {
            return Err(CliError::Usage(
                "--frames is an option of --what raster, gi, instances, effects, lights, flythrough \
                 and window; path, bvh and rays measure for --seconds"
                    .into(),
            ));
        }
        let of_window = [("--picture", &self.picture), ("--picture-rest", &self.picture_rest)];
        if let Some((name, _)) = of_window.into_iter().find(|(_, file)| file.is_some())
            && !self.what.contains(&Benchmark::Window)
        {
            return Err(CliError::Usage(format!("{name} is an option of --what window")));
        }
        Ok(())
    }

    /// Measured frames of all benchmarks but `flythrough`.
    pub fn frames(&self) -> u32 {
        self.frames.unwrap_or(FRAMES)
    }

    /// Options that were given and change what is measured, for records.
    pub fn differing_options(&self) -> Map<String, Value> {
        let texts = |list: &[u32]| list.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        let path = |path: &PathBuf| path.display().to_string();
        let given = [
            ("seconds", (self.seconds != SECONDS).then(|| self.seconds.into())),
            ("bounces", self.bounces.map(Value::from)),
            ("triangles", Some(texts(&self.triangles)).filter(|t| t != TRIANGLES).map(Value::from)),
            ("vpls", Some(texts(&self.vpls)).filter(|t| t != VPLS).map(Value::from)),
            ("instances", (self.instances != INSTANCES).then(|| self.instances.into())),
            ("camera_path", self.camera_path.as_ref().map(path).map(Value::from)),
            ("look", self.scene.look.as_ref().map(path).map(Value::from)),
            ("camera", self.scene.camera.clone().map(Value::from)),
            ("time", self.scene.time.map(Value::from)),
            ("rays", Some(self.device.rays.clone()).filter(|t| t != "auto").map(Value::from)),
            ("validation", self.device.validation.then(|| true.into())),
        ];
        let given = given.into_iter().filter_map(|(name, value)| Some((name.into(), value?)));
        given.collect()
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected seconds, e.g. 2".to_string())?;
    if (0.0..=600.0).contains(&seconds) {
        Ok(seconds)
    } else {
        Err("expected 0 to 600 seconds".into())
    }
}
