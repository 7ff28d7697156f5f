//! Errors of the command line in one line: the option, what is wrong with it, and where to look.

use clap::error::ErrorKind;

/// What the parser says, on one line; none where it is help or a version that was asked for.
pub fn one_line(error: &clap::Error, command: Option<&str>) -> Option<String> {
    if !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return None;
    }
    // Paragraphs: the error, tips, the usage, and where help is.
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
    let command = command.map_or_else(String::new, |command| format!(" {command}"));
    Some(format!("{said}; `sunny16{command} --help` lists what there is"))
}
