//! One-line usage errors: the option, the error, and the command that lists valid options.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The parser's error on one line; `None` for requested help or version text.
pub fn one_line(error: &clap::Error, command: Option<&str>) -> Option<String> {
    if !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return None;
    }
    // Paragraphs of clap's message: the error, tips, the usage, and a pointer to help.
    let text = error.render().to_string();
    let mut said = String::new();
    for paragraph in text.split("\n\n") {
        let lines: Vec<&str> =
            paragraph.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let paragraph = lines.join(" ");
        if paragraph.is_empty()
            || paragraph.starts_with("Usage:")
            || paragraph.starts_with("For more information")
        {
            continue;
        }
        if !said.is_empty() {
            said.push_str("; ");
        }
        said.push_str(paragraph.strip_prefix("error: ").unwrap_or(&paragraph));
    }
    // A shell splits `--set lights.Key Light.lumens=800` at the space.
    let is_split = error.kind() == ErrorKind::UnknownArgument
        && matches!(
            error.get(ContextKind::InvalidArg),
            Some(ContextValue::String(argument)) if argument.contains('=') && !argument.starts_with('-')
        );
    if is_split {
        said.push_str("; quote names with spaces: --set 'lights.Key Light.lumens=800'");
    }
    // clap writes ranges as Rust does: `65 is not in 1..=64`.
    if error.kind() == ErrorKind::ValueValidation {
        said = said.replace("..=", " to ");
    }
    let command = command.map_or_else(String::new, |command| format!(" {command}"));
    Some(format!("{said}; see `sunny16{command} --help`"))
}

#[cfg(test)]
mod tests {
    use clap::{Arg, Command, value_parser};

    use super::*;

    #[test]
    fn a_name_that_the_shell_has_split_is_recognized() {
        let told = |arguments: &[&str]| {
            let command = Command::new("sunny16").arg(Arg::new("set").long("set"));
            one_line(&command.try_get_matches_from(arguments).unwrap_err(), None).unwrap()
        };
        let split = told(&["sunny16", "--set", "lights.Key", "Light.lumens=800"]);
        assert!(split.contains("quote names with spaces"), "{split}");
        assert!(!told(&["sunny16", "--sets=1"]).contains("quote names"));
    }

    #[test]
    fn ranges_are_words() {
        let frames =
            Arg::new("frames").long("frames").value_parser(value_parser!(u32).range(1..=64));
        let command = Command::new("sunny16").arg(frames);
        let error = command.try_get_matches_from(["sunny16", "--frames", "65"]).unwrap_err();
        let told = one_line(&error, None).unwrap();
        assert!(told.contains("65 is not in 1 to 64"), "{told}");
    }
}
