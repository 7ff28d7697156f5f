//! The command line: one file per command, and files for what commands share.

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

mod aov_file;
mod bench;
mod collect;
mod compare;
mod contact_sheet;
mod demos;
mod device_args;
mod doctor;
mod error;
mod exposure_format;
mod flow;
mod fraction;
mod frame_numbers;
mod graph;
mod host_memory;
mod ies;
mod inspect;
mod interrupt;
mod job;
mod job_template;
mod lens;
mod merge;
mod meter;
mod pace;
mod path;
mod path_args;
mod picture_set;
mod progress_line;
mod renamed;
mod render;
mod render_args;
mod scene_args;
mod set_args;
mod usage_error;
mod validate;
pub mod values;
mod video;
mod view;
mod warnings;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use self::error::ExitStatus;

/// Physically based look-dev: lights in lumens, candela, lux and nits; a camera with f-stop,
/// shutter and ISO.
#[derive(Parser)]
#[command(name = "sunny16", version, about, max_term_width = 120, after_help = format!("{START}\n\n{}", ExitStatus::table()))]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const START: &str = "\
Start here:
  sunny16 doctor                           Vulkan devices, and what to install
  sunny16 render scene.glb -o a.png        a picture, metered by the camera
  sunny16 view scene.glb                   the look-dev window
  sunny16 render scene.glb -o a.exr \\
    --set camera.lens.f_stop=16 --set camera.body.shutter=1/100";

#[derive(Subcommand)]
enum Command {
    /// Open the look-dev window: dials, lights, meters, comparison with the path tracer.
    #[command(after_help = "Example:\n  sunny16 view scene.glb --camera Hero")]
    View(Box<view::ViewArgs>),
    /// Render a scene to a PNG (for displays) or an EXR (32-bit, in nits).
    #[command(
        after_help = "Example:\n  sunny16 render scene.glb -o a.png --size 1280x720 --set camera.lens.f_stop=8"
    )]
    Render(render_args::RenderArgs),
    /// List a file's contents: meshes, materials, lights in all units, cameras, unsupported
    /// features.
    #[command(after_help = "Example:\n  sunny16 inspect scene.glb")]
    Inspect(inspect::InspectArgs),
    /// Copy a scene, its look and all files that they refer to into one folder.
    #[command(after_help = "Example:\n  sunny16 collect scene.gltf -o out/scene")]
    Collect(collect::CollectArgs),
    /// Write a scene with all its files as a job for render farms (Open Job Description).
    #[command(
        after_help = "Example:\n  sunny16 job scene.glb --samples-per-task 32 --spp 256 -o out/job"
    )]
    Job(Box<job::JobArgs>),
    /// Join parts of a path-traced picture, as `render --samples` writes them.
    #[command(after_help = "Example:\n  sunny16 merge out/parts -o picture.exr")]
    Merge(merge::MergeArgs),
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
    Doctor(doctor::DoctorArgs),
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
            let code = u8::try_from(error.exit_code());
            return ExitCode::from(code.unwrap_or(ExitStatus::Usage.code()));
        }
    };
    let result = match cli.command {
        Command::View(args) => view::run(&args),
        Command::Render(args) => render::run(&args),
        Command::Flow(args) => flow::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Collect(args) => collect::run(&args),
        Command::Job(args) => job::run(&args),
        Command::Merge(args) => merge::run(&args),
        Command::Meter(args) => meter::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Demos(args) => demos::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Validate(args) => validate::run(&args),
        Command::Graph(args) => graph::run(&args),
        Command::Ies(args) => ies::run(&args),
        Command::Lens(args) => lens::run(&args),
        Command::Doctor(args) => doctor::run(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let text = error.to_string().replace('\n', " ");
            eprintln!("sunny16: error: {text}");
            progress_line::report_failure(&text);
            ExitCode::from(error.exit_status().code())
        }
    }
}
