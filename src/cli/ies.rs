//! `sunny16 ies`: summary and polar plot of a photometric file.

use std::{
    f64::consts::PI,
    path::{Path, PathBuf},
};

use clap::Args;
use glam::{DVec2, DVec3, dvec2};

use super::error::{CliError, check_output};
use crate::{camera::scopes::Raster, output, photometry::ies::IesProfile, scene::look};

/// Arguments of `ies`.
#[derive(Args)]
pub struct IesArgs {
    /// Photometric file: IES LM-63 of 1986 to 2019 (.ies) or EULUMDAT (.ldt), recognized by
    /// content.
    file: PathBuf,
    /// Write the polar plot to this PNG.
    #[arg(short, long, value_name = "PLOT.png")]
    output: Option<PathBuf>,
}

/// Side of the plot in pixels.
const SIZE: usize = 640;
/// Size of a dot of the plot's text in pixels.
const TEXT_SCALE: usize = 2;

pub fn run(args: &IesArgs) -> Result<(), CliError> {
    if let Some(output) = &args.output {
        check_output(output, "png")?;
    }
    let profile = look::read_profile("ies", &args.file)?;
    describe(&args.file, &profile);
    if let Some(output) = &args.output {
        output::write_png(output, SIZE, SIZE, draw(&profile).rgba())?;
        println!("plot: {}", output.display());
    }
    Ok(())
}

/// Direction at `angle` from the luminaire's axis, in the half plane at the horizontal angle
/// `half_plane` (both rad).
fn towards(angle: f64, half_plane: f64) -> DVec3 {
    let (sin, cos) = angle.sin_cos();
    DVec3::new(sin * half_plane.cos(), sin * half_plane.sin(), -cos)
}

/// Angle in rad between the outermost directions of a plane with at least `part` of the peak
/// intensity.
fn width(profile: &IesProfile, half_plane: f64, part: f64) -> f64 {
    let least = profile.peak().get() * part;
    let steps = 18_000;
    let candela = |step: u32, half_plane: f64| {
        let angle = PI * f64::from(step) / f64::from(steps);
        profile.candela_towards(towards(angle, half_plane)).get()
    };
    let strongest = |from: u32, to: u32| {
        let steps = (from..=to).flat_map(|step| [half_plane, half_plane + PI].map(|p| (step, p)));
        steps.map(|(step, plane)| candela(step, plane)).fold(0.0, f64::max)
    };
    // Uplights shine about the zenith.
    let up = strongest(steps / 2 + 1, steps) > strongest(0, steps / 2);
    let reach = |half_plane: f64| {
        let widest = (0..=steps).rev().find(|&step| {
            least > 0.0 && candela(if up { steps - step } else { step }, half_plane) >= least
        });
        widest.map_or(0.0, |step| PI * f64::from(step) / f64::from(steps))
    };
    reach(half_plane) + reach(half_plane + PI)
}

fn describe(file: &Path, profile: &IesProfile) {
    println!("{}: {}, type {}", file.display(), profile.version(), profile.photometric_type());
    for (key, value) in profile.keywords().iter().take(20) {
        println!("  [{key}] {}", value.replace('\n', "; "));
    }
    let (v, h) = (profile.vertical_angles(), profile.horizontal_angles());
    let ends = |angles: &[f64]| {
        (angles.first().copied().unwrap_or(0.0), angles.last().copied().unwrap_or(0.0))
    };
    let ((v0, v1), (h0, h1)) = (ends(v), ends(h));
    println!(
        "  angles: {} vertical from {v0} to {v1}, {} horizontal from {h0} to {h1}",
        v.len(),
        h.len()
    );
    println!("  symmetry: {}", profile.symmetry());
    println!("  flux: {:.1} (integrated over all directions)", profile.lumens());
    match profile.rated_lumens() {
        Some(lamp) => println!("  rated lamp flux: {lamp:.1}"),
        None => println!("  absolute photometry: no rated lamp flux"),
    }
    if let Some(stated) = profile.stated() {
        let rated = profile.rated_lumens().map_or(profile.lumens().get(), |lamps| lamps.get());
        let output = 100.0 * profile.lumens().get() / rated.max(f64::MIN_POSITIVE);
        println!("  light output ratio: {output:.1} % (stated {} %)", stated.light_output);
        let down = profile
            .downward()
            .map_or_else(|| "none".into(), |part| format!("{:.1} %", part * 100.0));
        println!("  downward: {down} (stated {} %)", stated.downward);
    }
    println!("  strongest: {:.1}", profile.peak());
    for (name, part) in
        [("beam angle (half of the peak)", 0.5), ("field angle (a tenth of the peak)", 0.1)]
    {
        let across = [0.0, PI / 2.0].map(|plane| width(profile, plane, part).to_degrees());
        println!("  {name}: {:.1} degrees in C0-180, {:.1} in C90-270", across[0], across[1]);
    }
    let watts = profile.watts();
    if watts > 0.0 {
        println!("  power: {watts} W, {:.1} lm/W", profile.lumens().get() / watts);
    }
    for note in profile.notes() {
        println!("  note: {note}");
    }
}

/// Step between rings in cd: 1, 2 or 5 times a power of ten, for three to seven rings.
fn ring_step(peak: f64) -> f64 {
    let magnitude = 10f64.powf((peak / 5.0).log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .find(|factor| peak / (factor * magnitude) <= 6.0)
        .unwrap_or(10.0);
    factor * magnitude
}

/// The polar plot: the luminaire points down; C0 (red) and C90 (blue) are right, C180 and C270
/// left.
fn draw(profile: &IesProfile) -> Raster {
    let mut raster = Raster::new(SIZE, SIZE, [18, 18, 20]);
    let middle = DVec2::splat(SIZE as f64 / 2.0);
    let radius = SIZE as f64 / 2.0 - 24.0;
    let peak = profile.peak().get();
    let step = if peak > 0.0 { ring_step(peak) } else { 1.0 };
    let rings = (peak / step).ceil().max(1.0);
    let gray = [90, 90, 96];
    for spoke in 0..24 {
        let (sin, cos) = (PI * f64::from(spoke) / 12.0).sin_cos();
        let wide = if spoke % 6 == 0 { 1.0 } else { 0.5 };
        raster.polyline(&[middle, middle + dvec2(sin, cos) * radius], wide, gray);
    }
    for ring in 1..=rings as u32 {
        let r = radius * f64::from(ring) / rings;
        let points: Vec<DVec2> = (0..=180)
            .map(|i| {
                let (sin, cos) = (PI * f64::from(i) / 90.0).sin_cos();
                middle + dvec2(sin, cos) * r
            })
            .collect();
        raster.polyline(&points, 0.75, gray);
    }
    for (plane, color) in [(PI / 2.0, [90, 160, 255]), (0.0, [255, 110, 90])] {
        let points: Vec<DVec2> = (-1440..=1440)
            .map(|i| {
                let angle = PI * f64::from(i) / 1440.0;
                let half_plane = if angle < 0.0 { plane + PI } else { plane };
                let r = profile.candela_towards(towards(angle.abs(), half_plane)).get()
                    / (step * rings)
                    * radius;
                middle + dvec2(angle.sin(), angle.cos()) * r
            })
            .collect();
        raster.polyline(&points, 1.5, color);
    }
    for ring in 1..=rings as u32 {
        let at = middle + dvec2(4.0, -radius * f64::from(ring) / rings + 4.0);
        let label = format!("{} cd", step * f64::from(ring));
        raster.text([at.x as usize, at.y as usize], TEXT_SCALE, &label, [210, 210, 214]);
    }
    raster.text([12, 12], TEXT_SCALE, "C0-180", [255, 110, 90]);
    raster.text([12, 32], TEXT_SCALE, "C90-270", [90, 160, 255]);
    raster
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lamp(head: &str, candela: &str) -> IesProfile {
        let text =
            format!("IESNA:LM-63-2002\nTILT=NONE\n1 1000 1 {head} 2 0 0 0\n1 1 100\n{candela}\n");
        IesProfile::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn widths() {
        // Falls linearly from 1000 cd at 0 to 0 at 90 degrees: half at 45, a tenth at 81.
        let cone = lamp("2 1 1", "0 90\n0\n1000 0");
        assert!((width(&cone, 0.0, 0.5).to_degrees() - 90.0).abs() < 0.03);
        assert!((width(&cone, 0.0, 0.1).to_degrees() - 162.0).abs() < 0.03);
        // The same lamp turned upward.
        let up = lamp("2 1 1", "90 180\n0\n0 1000");
        assert!((width(&up, 0.0, 0.5).to_degrees() - 90.0).abs() < 0.03);
        assert!((width(&up, 0.0, 0.1).to_degrees() - 162.0).abs() < 0.03);
        let dark = lamp("2 1 1", "0 90\n0\n0 0");
        assert_eq!(width(&dark, 0.0, 0.5), 0.0);
        assert_eq!(draw(&dark).width(), SIZE);
    }

    #[test]
    fn rings_are_round_numbers() {
        for (peak, step) in [
            (1.0, 0.2),
            (7.0, 2.0),
            (1000.0, 200.0),
            (318.0, 100.0),
            (12_345.0, 5000.0),
            (5.5, 1.0),
        ] {
            assert!((ring_step(peak) / step - 1.0).abs() < 1e-9, "{peak}: {}", ring_step(peak));
        }
    }

    #[test]
    fn the_curve_is_where_the_lamp_shines() {
        let down = draw(&lamp("3 1 1", "0 30 90\n0\n1000 1000 0"));
        let red = |from: usize, to: usize| {
            let rows = down.rgba().chunks_exact(SIZE * 4).skip(from).take(to - from);
            rows.flat_map(|row| row.chunks_exact(4))
                .filter(|p| p[0] > 200 && p[1] < 140 && p[2] < 120)
                .count()
        };
        assert!(
            red(SIZE / 2, SIZE) > 10 * red(60, SIZE / 2 - 10).max(1),
            "{}",
            red(60, SIZE / 2 - 10)
        );
    }
}
