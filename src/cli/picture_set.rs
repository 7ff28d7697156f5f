//! Sets of pictures: all cameras (`--all-cameras`), and the values of properties (`--matrix`).

use std::{collections::HashMap, path::PathBuf, time::Instant};

use super::{
    error::CliError,
    frame_numbers::MAX_FRAMES,
    render_args::RenderArgs,
    set_args::{Axis, SetPlace},
};
use crate::{
    output,
    scene::{address::AddressTable, look::Look},
    session::{self, OpenRequest, SceneSource},
};

/// Maximum number of pictures of a set.
const MAX_PICTURES: usize = 10_000;

/// A picture, or a sequence, of a set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Member {
    /// Description in contact sheets.
    caption: String,
    /// Part of the file name.
    name: String,
    camera: Option<String>,
    /// Overrides of look properties.
    set: Vec<String>,
    /// Number of axes, cameras among them, with another value than the first.
    changes: usize,
}

impl Member {
    /// This member with a further value in description and file name.
    fn with(&self, caption: &str, name: &str) -> Self {
        let joined = |a: &str, b: &str, by: &str| {
            if a.is_empty() { b.to_owned() } else { format!("{a}{by}{b}") }
        };
        Self {
            caption: joined(&self.caption, caption, ", "),
            name: joined(&self.name, name, "."),
            ..self.clone()
        }
    }
}

/// Text as part of a file name: other characters than letters, digits and `=+-_.` are replaced.
fn file_part(text: &str) -> String {
    let keeps = |c: &char| c.is_alphanumeric() || "=+-_.".contains(*c);
    text.chars().map(|c| if keeps(&c) { c } else { '_' }).collect()
}

/// All combinations of cameras and values; the last axis changes fastest.
fn members(cameras: &[String], axes: &[Axis]) -> Vec<Member> {
    let mut members = vec![Member::default()];
    if !cameras.is_empty() {
        let one = |(index, camera): (usize, &String)| Member {
            camera: Some(camera.clone()),
            changes: usize::from(index > 0),
            ..Member::default().with(camera, &file_part(camera))
        };
        members = cameras.iter().enumerate().map(one).collect();
    }
    for axis in axes {
        let is_alone = axes.iter().filter(|a| a.short_name() == axis.short_name()).count() == 1;
        let name = if is_alone { axis.short_name() } else { &axis.path };
        let with = |member: &Member, (index, value): (usize, &String)| {
            let shown = format!("{name}={value}");
            let mut next = member.with(&shown, &file_part(&shown));
            next.set.push(format!("{}={value}", axis.path));
            next.changes += usize::from(index > 0);
            next
        };
        let values = || axis.values.iter().enumerate();
        let all = members.iter().flat_map(|member| values().map(move |value| with(member, value)));
        members = all.collect();
    }
    members
}

/// Addresses of all cameras of a scene with its look.
fn cameras(request: &OpenRequest, source: &SceneSource) -> Result<Vec<String>, CliError> {
    let opened = open(request, source)?;
    let cameras = AddressTable::cameras(&opened.scene).addresses();
    match cameras.is_empty() {
        true => Err(CliError::Usage(format!(
            "--all-cameras: {} has no camera; omit the option",
            request.name()
        ))),
        false => Ok(cameras),
    }
}

/// The scene as read, with the look of a request.
fn open(request: &OpenRequest, source: &SceneSource) -> Result<session::OpenScene, CliError> {
    let mut look = Look::default();
    look.parse(&source.look_name, &source.look)?;
    look.assign_all(&request.set)?;
    Ok(session::apply_look(request, source.scene.clone(), look, Vec::new())?)
}

/// The path of a property that several axes have.
fn repeated_path(axes: &[Axis]) -> Option<&str> {
    let paths = || axes.iter().map(|axis| axis.path.as_str());
    paths()
        .enumerate()
        .find(|(at, path)| paths().take(*at).any(|p| p == *path))
        .map(|(_, path)| path)
}

/// Arguments of each picture of a set with its caption, in order. Each is rendered as by a run of
/// its own. Values are checked before the first is rendered.
pub fn of(args: &RenderArgs) -> Result<Vec<(String, RenderArgs)>, CliError> {
    if let Some(path) = repeated_path(&args.matrix) {
        return Err(CliError::Usage(format!(
            "--matrix {path} is given twice; list all values in one option"
        )));
    }
    let request = OpenRequest { fps: args.fps, ..args.scene.request() };
    let source = session::read(&request)?;
    let cameras = if args.all_cameras { cameras(&request, &source)? } else { Vec::new() };
    let count = args.matrix.iter().map(|axis| axis.values.len());
    let count = count.fold(cameras.len().max(1), usize::saturating_mul);
    if count > MAX_PICTURES {
        let message = format!("the set has {count} pictures: expected at most {MAX_PICTURES}");
        return Err(CliError::Usage(message));
    }
    let frames = args.numbers()?.map_or(1, |numbers| numbers.len());
    if count > 1 && count.saturating_mul(frames) > MAX_FRAMES as usize {
        return Err(CliError::Usage(format!(
            "the set has {count} members of {frames} pictures: expected at most {MAX_FRAMES} \
             pictures; list fewer --frames"
        )));
    }
    let begun = Instant::now();
    let mut pictures: Vec<(String, RenderArgs)> = Vec::new();
    let mut captions: HashMap<PathBuf, String> = HashMap::new();
    for member in members(&cameras, &args.matrix) {
        let set_place = SetPlace { index: pictures.len(), count, begun };
        let mut own = RenderArgs { set_place: Some(set_place), ..args.clone() };
        own.scene.camera = member.camera.or(own.scene.camera);
        own.scene.set.extend(member.set);
        let ending = args.output.extension().unwrap_or_default().to_string_lossy();
        own.output = output::replace_extension(&args.output, &format!("{}.{ending}", member.name));
        if let Some(other) = captions.insert(own.output.clone(), member.caption.clone()) {
            return Err(CliError::Usage(format!(
                "'{other}' and '{}' have the same file name {}; rename the camera, or render the \
                 values in separate runs",
                member.caption,
                own.output.display()
            )));
        }
        // Each value is checked once, beside the first values of the other options.
        if !args.matrix.is_empty() && member.changes <= 1 {
            open(&OpenRequest { fps: args.fps, ..own.scene.request() }, &source)?;
        }
        pictures.push((member.caption, own));
    }
    Ok(pictures)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(text: &str) -> Axis {
        Axis::parse(text).unwrap()
    }

    #[test]
    fn a_set_has_all_combinations() {
        let axes = [axis("lights.Key.kelvin=2700, 4000"), axis("camera.lens.f_stop=2,8")];
        let made = members(&["Hero".into(), "From above".into()], &axes);
        assert_eq!(made.len(), 8);
        let last = made.last().unwrap();
        assert_eq!(last.caption, "From above, kelvin=4000, f_stop=8");
        assert_eq!(last.name, "From_above.kelvin=4000.f_stop=8");
        assert_eq!(last.set, ["lights.Key.kelvin=4000", "camera.lens.f_stop=8"]);
        assert_eq!(made[1].name, "Hero.kelvin=2700.f_stop=8", "the last axis changes fastest");
        // The members that are checked show each value: the first, and one for each further value.
        assert_eq!(made.iter().filter(|member| member.changes <= 1).count(), 4);
        assert_eq!(repeated_path(&axes), None);
        let twice = [axis("a.b=1"), axis("a.c=1"), axis("a.b=2")];
        assert_eq!(repeated_path(&twice), Some("a.b"));
        // Equal last parts need the whole paths.
        let lights = [axis("lights.Key.kelvin=2700"), axis("lights.Fill.kelvin=4000")];
        assert_eq!(members(&[], &lights)[0].name, "lights.Key.kelvin=2700.lights.Fill.kelvin=4000");
    }
}
