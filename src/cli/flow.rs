//! `sunny16 flow`: the flow map of a channel with obstacles.

use std::path::PathBuf;

use clap::Args;
use glam::DVec2;

use super::error::CliError;
use crate::{
    output,
    scene::water::channel_flow::{Channel, FlowDirection, Obstacle, flow_around},
};

/// Arguments of `flow`.
#[derive(Args)]
pub struct FlowArgs {
    /// Output PNG: velocity along x in red, along z in green (128 is zero), phase in alpha.
    #[arg(short, long, value_name = "FLOW.png")]
    output: PathBuf,
    /// Size along x and z in meters, e.g. 8x3.
    #[arg(long, value_name = "XxZ")]
    size: String,
    /// Minimum x and z of the channel in meters.
    #[arg(long, value_name = "X,Z", default_value = "0,0", allow_hyphen_values = true)]
    origin: String,
    /// Flow direction: x, -x, z or -z; walls bound the other axis.
    #[arg(long, default_value = "x", allow_hyphen_values = true)]
    along: String,
    /// Cylinder obstacle: x, z and radius in meters; repeatable.
    #[arg(long = "cylinder", value_name = "X,Z,RADIUS", allow_hyphen_values = true)]
    cylinders: Vec<String>,
    /// Block obstacle: minimum x and z, maximum x and z in meters; repeatable.
    #[arg(long = "block", value_name = "X,Z,X,Z", allow_hyphen_values = true)]
    blocks: Vec<String>,
    /// Resolution in texels per meter.
    #[arg(long, default_value_t = 8.0, value_name = "COUNT")]
    texels: f64,
}

fn numbers<const N: usize>(
    option: &str,
    text: &str,
    separators: &[char],
) -> Result<[f64; N], CliError> {
    let parts: Option<Vec<f64>> =
        text.split(separators).map(|part| part.trim().parse().ok()).collect();
    let parts = parts.filter(|parts| parts.iter().all(|v: &f64| v.is_finite()));
    parts.and_then(|parts| <[f64; N]>::try_from(parts).ok()).ok_or_else(|| {
        CliError::Usage(format!("invalid --{option} '{text}': expected {N} numbers in meters"))
    })
}

pub fn run(args: &FlowArgs) -> Result<(), CliError> {
    if !output::has_extension(&args.output, "png") {
        return Err(CliError::Usage(format!(
            "invalid output '{}': expected a name that ends in .png",
            args.output.display()
        )));
    }
    let found = FlowDirection::ALL.iter().find(|(name, _)| *name == args.along);
    let (_, along) = found.ok_or_else(|| {
        CliError::Usage(format!("invalid --along '{}': expected x, -x, z or -z", args.along))
    })?;
    let pair = |[x, z]: [f64; 2]| DVec2::new(x, z);
    let mut obstacles = Vec::new();
    for text in &args.cylinders {
        let [x, z, radius] = numbers("cylinder", text, &[','])?;
        obstacles.push(Obstacle::Cylinder { center: DVec2::new(x, z), radius });
    }
    for text in &args.blocks {
        let [a, b, c, d] = numbers("block", text, &[','])?;
        obstacles.push(Obstacle::Block { low: DVec2::new(a, b), high: DVec2::new(c, d) });
    }
    let channel = Channel {
        origin: pair(numbers("origin", &args.origin, &[','])?),
        size: pair(numbers("size", &args.size, &['x', 'X', ','])?),
        along: *along,
        obstacles,
        texels_per_meter: args.texels,
    };
    output::check_writable(&args.output)?;
    let flow = flow_around(&channel).map_err(|error| CliError::Usage(error.to_string()))?;
    // An obstacle within one texel of the channel still affects the flow.
    let texel = DVec2::splat(1.0 / channel.texels_per_meter);
    for obstacle in &channel.obstacles {
        let (low, high) = obstacle.extent();
        if (high + texel).cmplt(channel.origin).any()
            || (low - texel).cmpgt(channel.origin + channel.size).any()
        {
            eprintln!("warning: {obstacle} is outside the channel and has no effect");
        }
    }
    let (width, height) = (flow.map.width(), flow.map.height());
    let bytes = flow.map.png().map_err(CliError::Internal)?;
    output::write_with(&args.output, |to| to.write_all(&bytes))?;
    let worst = flow.sections.iter().map(|part| (part - 1.0).abs()).fold(0.0, f64::max);
    println!(
        "{}: {width}x{height} texels over {} x {} m",
        args.output.display(),
        channel.size.x,
        channel.size.y
    );
    println!("maximum speed: {:.3} of the unobstructed mean speed", flow.peak);
    println!("flow rate through cross sections: constant to {worst:.0e} (relative)");
    println!("look section for a mean speed of 0.5 m/s:");
    println!("[water.NAME]");
    println!("flow = \"{}\"", args.output.file_name().unwrap_or_default().to_string_lossy());
    println!("flow_origin = [{}, {}]", channel.origin.x, channel.origin.y);
    println!("flow_size = [{}, {}]", channel.size.x, channel.size.y);
    println!("speed = {:.3}", 0.5 * flow.peak);
    Ok(())
}
