//! `sunny16 demos`: the demo scenes, listed or written as files.

use std::{fs, path::PathBuf};

use clap::Args;
use glam::DVec3;

use super::error::CliError;
use crate::{
    output::write_with,
    photometry::water::{WaterCoefficients, WaterKind},
    scene::{
        WaterSettings,
        look::close_name,
        procedural::{PREFIX, demos::Demo},
        write_glb::write_glb,
    },
};

#[derive(Args, Debug)]
pub struct DemosArgs {
    /// Demo to write [default: list all].
    name: Option<String>,
    /// Output folder for NAME.glb, NAME.look.toml and flow maps; created if missing. An existing
    /// look file that differs is kept.
    #[arg(short, long, value_name = "DIR", requires = "name")]
    output: Option<PathBuf>,
}

pub fn run(args: &DemosArgs) -> Result<(), CliError> {
    let Some(name) = &args.name else {
        for demo in Demo::ALL {
            println!("{:<14} {}: {}", demo.name, demo.title, demo.about);
        }
        println!(
            "\nsunny16 render {PREFIX}NAME -o picture.png   renders one with its look\nsunny16 demos NAME -o DIR                    writes NAME.glb and NAME.look.toml"
        );
        return Ok(());
    };
    let demo = Demo::named(name).ok_or_else(|| {
        let names = Demo::ALL.map(|demo| demo.name);
        let near = close_name(name, &names)
            .map_or_else(String::new, |near| format!("; did you mean {near}?"));
        CliError::Usage(format!(
            "unknown demo scene '{name}': expected one of {}{near}",
            names.join(", ")
        ))
    })?;
    let Some(directory) = &args.output else {
        println!("{}: {}", demo.title, demo.about);
        println!("sunny16 render {PREFIX}{name} -o {name}.png\nsunny16 demos {name} -o DIR");
        return Ok(());
    };
    let made = demo.builtin().ok_or_else(|| CliError::Internal(format!("{name} has no scene")))?;
    let (scene, mut look) = made.make().map_err(|error| CliError::Internal(error.to_string()))?;
    let glb = write_glb(&scene).map_err(|error| CliError::Internal(error.to_string()))?;
    if !scene.animations.is_empty() {
        eprintln!(
            "warning: the animation of {name} is procedural and not written; the file holds the scene at rest, `sunny16 render {PREFIX}{name} --time` animates it"
        );
    }
    let mut files = vec![(format!("{name}.glb"), glb)];
    // glTF has no water extension: the look file holds it.
    for (number, material) in scene.materials.iter().enumerate() {
        let Some(water) = &material.water else { continue };
        let flow = format!("{name}.flow{number}.png");
        look += &water_section(&material.name, &water.settings, &flow);
        files.push((flow, water.map.png().map_err(CliError::Internal)?));
    }
    files.push((format!("{name}.look.toml"), look.into_bytes()));
    // If the folder cannot be created, `write_with` reports it.
    drop(fs::create_dir_all(directory));
    for (file, bytes) in files {
        let path = directory.join(&file);
        if file.ends_with(".look.toml") && fs::read(&path).is_ok_and(|old| old != bytes) {
            eprintln!(
                "note: {} is kept: it differs from the demo's look; delete it to get the demo's",
                path.display()
            );
            continue;
        }
        write_with(&path, |out| out.write_all(&bytes))?;
        println!("{}: {} bytes", path.display(), bytes.len());
    }
    Ok(())
}

/// The look file's section for a water material; its flow map is a file beside the look.
fn water_section(material: &str, settings: &WaterSettings, flow: &str) -> String {
    let three = |v: DVec3| format!("{} {} {}", v.x, v.y, v.z);
    let mut text = format!("\n[water.\"{material}\"]\nflow = \"{flow}\"\n");
    let WaterCoefficients { absorption, scattering } = settings.coefficients;
    text += &match WaterKind::ALL
        .into_iter()
        .find(|(_, kind)| kind.coefficients() == settings.coefficients)
    {
        Some((kind, _)) => format!("kind = \"{kind}\"\n"),
        None => format!(
            "absorption = \"{}\"\nscattering = \"{}\"\n",
            three(absorption),
            three(scattering)
        ),
    };
    if let Some([origin, size]) = settings.rectangle {
        text += &format!(
            "flow_origin = \"{},{}\"\nflow_size = \"{},{}\"\n",
            origin.x, origin.y, size.x, size.y
        );
    }
    for (name, value) in settings.numbers() {
        text += &format!("{name} = {value}\n");
    }
    text += &format!("caustics = {}\n", settings.caustics);
    if let Some(debris) = &settings.debris {
        text += &format!("debris = \"{debris}\"\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_water_by_name_keeps_its_name() {
        let section = |coefficients| {
            water_section(
                "Pool",
                &WaterSettings { coefficients, ..WaterSettings::default() },
                "f.png",
            )
        };
        assert!(section(WaterKind::Turbid.coefficients()).contains("kind = \"turbid\"\n"));
        let own = section(WaterCoefficients {
            absorption: DVec3::ONE,
            ..WaterKind::Turbid.coefficients()
        });
        assert!(own.contains("absorption = \"1 1 1\"") && !own.contains("kind"), "{own}");
    }
}
