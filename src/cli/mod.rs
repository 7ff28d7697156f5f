//! The command line: one file per command.

/// `std::print` that ignores a closed pipe (`sunny16 inspect scene.glb | head`) instead of
/// panicking.
macro_rules! print {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = write!(std::io::stdout(), $($text)*);
    }};
}

/// `print` with a newline.
macro_rules! println {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stdout(), $($text)*);
    }};
}

mod bench;
mod bench_bvh;
mod bench_effects;
mod bench_gi;
mod bench_instances;
mod bench_memory;
mod bench_path;
mod bench_rays;
mod compare;
mod demos;
mod doctor;
mod flow;
mod fraction;
mod graph;
mod ies;
mod inspect;
mod lens;
mod meter;
mod path;
mod plot;
mod renamed;
mod render;
mod scene_args;
mod usage_error;
mod validate;
mod view;

use std::{path::PathBuf, process::ExitCode};

use clap::{Args, CommandFactory, Parser, Subcommand};

use crate::{
    compare::{LinearImageError, case::CaseError},
    gpu::{GpuError, GpuOptions, RayBackend, fault_injection::Fault},
    output::OutputError,
    reference::ResumeError,
    scene::{gltf::ImportError, look::LookError},
    session::SessionError,
};

/// Physically based look-dev: lights in lumens, candela, lux and nits; a camera with f-stop,
/// shutter and ISO.
#[derive(Parser)]
#[command(name = "sunny16", version, about, max_term_width = 120, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "\
Start here:
  sunny16 doctor                           Vulkan devices, and what to install
  sunny16 render scene.glb -o a.png        a picture, metered by the camera
  sunny16 view scene.glb                   the look-dev window
  sunny16 render scene.glb -o a.exr \\
    --set camera.lens.f_stop=16 --set camera.body.shutter=1/100

Exit codes:
  0    success
  1    internal error
  2    invalid argument, property or value
  3    a bound of compare or validate is broken
  4    an input file cannot be used
  5    an output cannot be written
  6    no usable device or window, or out of device memory
  7    device lost
  8    validation layer messages (with --validation)
  130  interrupted; the path tracer's picture holds the finished samples";

#[derive(Subcommand)]
enum Command {
    /// Open the look-dev window: dials, lights, meters, comparison with the path tracer.
    #[command(after_help = "Example:\n  sunny16 view scene.glb --camera Hero")]
    View(Box<view::ViewArgs>),
    /// Render a scene to a PNG (for displays) or an EXR (32-bit, in nits).
    #[command(
        after_help = "Example:\n  sunny16 render scene.glb -o a.png --size 1280x720 --set camera.lens.f_stop=8"
    )]
    Render(render::RenderArgs),
    /// List a file's contents: meshes, materials, lights in all units, cameras, unsupported
    /// features.
    #[command(after_help = "Example:\n  sunny16 inspect scene.glb")]
    Inspect(inspect::InspectArgs),
    /// Meter a scene: luminance in nits, illuminance in lux, exposures by mode; false color,
    /// waveform, zones.
    #[command(
        after_help = "Example:\n  sunny16 meter scene.glb --mode spot --at 50%,50% --priority aperture"
    )]
    Meter(Box<meter::MeterArgs>),
    /// Compare a picture with a reference: FLIP, bias, block errors, stops; HTML report; bounds.
    Compare(Box<compare::CompareArgs>),
    /// Run validation cases against closed forms, other renderers and the path tracer
    /// (`validation/cases`).
    #[command(after_help = "Example:\n  sunny16 validate furnace --report out/validation")]
    Validate(validate::ValidateArgs),
    /// Measure frames (time of each pass, memory, start-up), the path tracer (samples, rays,
    /// threads) and BVHs.
    Bench(bench::BenchArgs),
    /// List the demo scenes, or write one as a GLB with its look file.
    #[command(after_help = "Example:\n  sunny16 demos street -o out")]
    Demos(demos::DemosArgs),
    /// Print the frame graph: passes, images, barriers, memory.
    #[command(after_help = "Example:\n  sunny16 graph scene.glb --format dot")]
    Graph(graph::GraphArgs),
    /// Describe a photometric file (.ies, .ldt) and draw its polar plot.
    #[command(after_help = "Example:\n  sunny16 ies lamp.ies -o plot.png")]
    Ies(ies::IesArgs),
    /// Compute the flow map of a water channel with obstacles.
    #[command(after_help = "Example:\n  sunny16 flow -o flow.png --size 8x3 --cylinder 4,1.5,0.3")]
    Flow(flow::FlowArgs),
    /// Describe a lens prescription: focal length, pupils, field of view, breathing, aberrations;
    /// draw it with rays.
    #[command(
        after_help = "Example:\n  sunny16 lens builtin:dgauss-50-f2 --f-stop 4 -o drawing.png"
    )]
    Lens(lens::LensArgs),
    /// List Vulkan drivers and devices, what each lacks, and what to install.
    Doctor,
}

/// Exit code of an interrupted render: 128 plus the number of SIGINT, the shell convention.
const INTERRUPTED_CODE: u8 = 130;

/// Device options, shared by every command that opens a device.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Device")]
struct DeviceArgs {
    /// Vulkan device, by number or part of its name, as `sunny16 doctor` lists them [default: the
    /// best].
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// Enable the Vulkan validation layer with synchronization validation; any message gives exit
    /// code 8.
    #[arg(long)]
    validation: bool,
    /// Ray tracing on the device: software BVH (software) or ray query (query). Pictures are equal
    /// but for rounding; auto uses ray query on hardware that has it (docs/bvh.md).
    #[arg(long, value_name = "METHOD", default_value = "auto", value_parser = RayBackend::NAMES)]
    rays: String,
}

impl DeviceArgs {
    fn options(&self) -> Result<GpuOptions, CliError> {
        let faults = match std::env::var("SUNNY16_FAULT") {
            Ok(text) => vec![Fault::parse(&text).ok_or_else(|| {
                CliError::Usage(format!(
                    "invalid SUNNY16_FAULT={text}: expected POINT[:NAME]=ERROR, e.g. image:depth=out-of-device-memory"
                ))
            })?],
            Err(_) => Vec::new(),
        };
        Ok(GpuOptions {
            device: self.device.clone(),
            validation: self.validation,
            cache_dir: cache_dir(),
            faults,
            display: None,
            ray_backend: RayBackend::parse(&self.rays).unwrap_or_default(),
        })
    }
}

/// Memory available without swapping in bytes (`MemAvailable` of `/proc/meminfo`, proc(5)); `None`
/// on systems without it.
fn available_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Folder of the pipeline cache: `sunny16` in the XDG cache directory.
fn cache_dir() -> Option<PathBuf> {
    let absolute =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base =
        absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")))?;
    Some(base.join("sunny16"))
}

/// Error of a command; [`CliError::exit_code`] maps it to an exit code.
#[derive(Debug, thiserror::Error)]
enum CliError {
    #[error("{0}")]
    Usage(String),
    #[error(transparent)]
    Import(#[from] ImportError),
    #[error(transparent)]
    Look(#[from] LookError),
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error(transparent)]
    Gpu(#[from] GpuError),
    #[error("the validation layer reported {} messages; the first: {}", .0.len(), .0.first().map_or("", String::as_str))]
    Validation(Vec<String>),
    #[error(transparent)]
    Case(#[from] CaseError),
    #[error(transparent)]
    Image(#[from] LinearImageError),
    #[error("{broken} of {total} bounds are broken; the table above marks them")]
    BoundsExceeded { broken: usize, total: usize },
    #[error(transparent)]
    Resume(#[from] ResumeError),
    #[error("{0}")]
    NoWindow(String),
    #[error("{0}")]
    Interrupted(String),
    #[error("{0}")]
    Internal(String),
}

impl From<SessionError> for CliError {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::InvalidRequest(text) => Self::Usage(text),
            SessionError::Import(error) => Self::Import(error),
            SessionError::Look(error) => Self::Look(error),
            SessionError::Gpu(error) => Self::Gpu(error),
            SessionError::Internal(text) => Self::Internal(text),
        }
    }
}

impl CliError {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Internal(_) => 1,
            Self::Usage(_)
            | Self::Look(
                LookError::UnknownPath { .. }
                | LookError::BadValue { .. }
                | LookError::Light { .. }
                | LookError::WhiteBalance { .. }
                | LookError::Exposure(_)
                | LookError::Lens(_),
            ) => 2,
            Self::BoundsExceeded { .. } => 3,
            Self::Import(_)
            | Self::Case(_)
            | Self::Image(_)
            | Self::Look(LookError::File { .. } | LookError::Input { .. }) => 4,
            Self::Resume(_) => 4,
            Self::Interrupted(_) => INTERRUPTED_CODE,
            Self::Output(_) => 5,
            Self::NoWindow(_) => 6,
            Self::Gpu(error) => match error {
                GpuError::DeviceLost { .. } => 7,
                GpuError::Pipeline { .. } => 1,
                _ => 6,
            },
            Self::Validation(_) => 8,
        }
    }
}

/// Parses the command line and runs the command. Errors print as one line on standard error; the
/// exit codes are listed in `--help`.
#[must_use]
pub fn run() -> ExitCode {
    let (arguments, notices) = renamed::current_arguments(std::env::args_os());
    notices.iter().for_each(|notice| eprintln!("note: {notice}"));
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            let names: Vec<String> =
                Cli::command().get_subcommands().map(|c| c.get_name().to_owned()).collect();
            let command = std::env::args_os()
                .nth(1)
                .and_then(|name| name.into_string().ok())
                .filter(|name| names.contains(name));
            match usage_error::one_line(&error, command.as_deref()) {
                Some(line) => eprintln!("sunny16: error: {line}"),
                None => {
                    // A closed pipe is no error.
                    let _ = error.print();
                }
            }
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    let result = match cli.command {
        Command::View(args) => view::run(&args),
        Command::Render(args) => render::run(&args),
        Command::Flow(args) => flow::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Meter(args) => meter::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Demos(args) => demos::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Validate(args) => validate::run(&args),
        Command::Graph(args) => graph::run(&args),
        Command::Ies(args) => ies::run(&args),
        Command::Lens(args) => lens::run(&args),
        Command::Doctor => doctor::run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sunny16: error: {}", error.to_string().replace('\n', " "));
            ExitCode::from(error.exit_code())
        }
    }
}
