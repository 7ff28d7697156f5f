//! Flags and values of version 0.1 that have a new name. Version 0.2 still reads them, with a
//! notice.

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

/// The arguments with present names, and a notice for each old one.
pub fn current_arguments(arguments: impl Iterator<Item = String>) -> (Vec<String>, Vec<String>) {
    let (mut out, mut notices) = (Vec::new(), Vec::new());
    let mut flag = String::new();
    let mut notice = |old: &str, new: &str| {
        notices
            .push(format!("{old} is now {new}; the old name is accepted until the next release"));
    };
    for argument in arguments {
        let (name, value) = match argument.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name.to_owned(), Some(value)),
            _ if argument.starts_with("--") => (argument.clone(), None),
            _ => (std::mem::take(&mut flag), Some(argument.as_str())),
        };
        let present = FLAGS.iter().find(|(old, _)| *old == name).map(|(_, new)| *new);
        let joined = argument.starts_with("--");
        if let Some(new) = present.filter(|_| joined) {
            notice(&name, new);
        }
        let values = value.map(|value| {
            let each = value.split(',').map(|one| {
                let old = VALUES.iter().find(|(of, old, _)| *of == name && *old == one);
                old.map_or(one, |(_, old, new)| {
                    notice(&format!("{name} {old}"), new);
                    new
                })
            });
            each.collect::<Vec<_>>().join(",")
        });
        let shown = present.unwrap_or(&name);
        out.push(match (joined, &values) {
            (true, Some(values)) => format!("{shown}={values}"),
            (true, None) => shown.to_owned(),
            (false, _) => values.unwrap_or_default(),
        });
        if joined && value.is_none() {
            flag = name;
        }
    }
    (out, notices)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> (String, usize) {
        let (arguments, notices) = current_arguments(line.split(' ').map(str::to_owned));
        (arguments.join(" "), notices.len())
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
        for line in
            ["render trees -o lamps", "render --set a=trees --aov depth trees", "x --rays= --"]
        {
            assert_eq!(read(line), (line.to_owned(), 0));
        }
        assert_eq!(read(""), (String::new(), 0));
    }
}
