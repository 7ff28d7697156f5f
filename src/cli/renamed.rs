//! Flags and values of version 0.1 that have a new name. Version 0.2 still reads them, with a
//! notice.

use std::ffi::OsString;

use crate::scene::look::renamed_notice as notice;

/// (old flag, new flag).
const FLAGS: &[(&str, &str)] = &[("--false-colour", "--false-color"), ("--patches", "--vpls")];

/// (flag, old value, new value); values may be lists, separated by commas.
const VALUES: &[(&str, &str, &str)] = &[
    ("--aov", "indirect_bound", "vpl_clamp_loss"),
    ("--aov", "reflection_distance", "ssr_distance"),
    ("--aov", "reflection_history", "ssr_history"),
    ("--aov", "reflection_hit", "ssr_hit"),
    ("--aov", "reflection_motion", "ssr_motion"),
    ("--aov", "reflection_rejection", "ssr_rejection"),
    ("--rays", "trees", "software"),
    ("--what", "lamps", "lights"),
];

/// The arguments with present names, and a notice for each old one. Arguments that are not Unicode
/// and those after `--` stay as they are.
pub fn current_arguments(
    arguments: impl Iterator<Item = OsString>,
) -> (Vec<OsString>, Vec<String>) {
    let mut notices = Vec::new();
    let mut options = true;
    // The flag whose value comes next.
    let mut flag = String::new();
    let present = arguments.map(|argument| {
        let before = std::mem::take(&mut flag);
        let Some(text) = argument.to_str().filter(|_| options) else { return argument };
        if text == "--" {
            options = false;
            return argument;
        }
        if !text.starts_with("--") {
            return current_values(&before, text, &mut notices).into();
        }
        let (name, value) = text.split_once('=').map_or((text, None), |(n, v)| (n, Some(v)));
        let new = FLAGS.iter().find(|(old, _)| *old == name).map_or(name, |(_, new)| new);
        if new != name {
            notices.push(notice(name, new));
        }
        match value {
            Some(value) => format!("{new}={}", current_values(new, value, &mut notices)).into(),
            None => {
                new.clone_into(&mut flag);
                new.into()
            }
        }
    });
    (present.collect(), notices)
}

/// The value of a flag, or its list of values, with present names.
fn current_values(flag: &str, value: &str, notices: &mut Vec<String>) -> String {
    let each = value.split(',').map(|one| {
        let known = VALUES.iter().find(|(of, old, _)| *of == flag && *old == one);
        known.map_or(one, |(_, old, new)| {
            notices.push(notice(&format!("{flag} {old}"), new));
            new
        })
    });
    each.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> (String, usize) {
        let (arguments, notices) = current_arguments(line.split(' ').map(OsString::from));
        let texts: Vec<String> = arguments.into_iter().map(|a| a.into_string().unwrap()).collect();
        (texts.join(" "), notices.len())
    }

    #[test]
    fn old_names_become_new_ones_with_a_notice_each() {
        for (old, new, notices) in [
            ("meter a.glb --false-colour a.png", "meter a.glb --false-color a.png", 1),
            ("meter --false-colour=a=b.png", "meter --false-color=a=b.png", 1),
            (
                "render --aov depth,reflection_hit -o a.exr",
                "render --aov depth,ssr_hit -o a.exr",
                1,
            ),
            (
                "render --aov=indirect_bound,reflection_hit",
                "render --aov=vpl_clamp_loss,ssr_hit",
                2,
            ),
            (
                "bench --what lamps --patches 1 --rays trees",
                "bench --what lights --vpls 1 --rays software",
                3,
            ),
        ] {
            assert_eq!(read(old), (new.to_owned(), notices), "{old}");
        }
    }

    #[test]
    fn other_arguments_stay_as_they_are() {
        for line in [
            "render trees -o lamps",
            "render --set a=trees --aov depth trees",
            "x --rays= --",
            "render -- --rays trees",
        ] {
            assert_eq!(read(line), (line.to_owned(), 0));
        }
        assert_eq!(read(""), (String::new(), 0));
    }
}
