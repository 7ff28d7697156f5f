//! One-line usage errors: the option, the error, and the command that lists valid options.

use clap::error::ErrorKind;

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
    let command = command.map_or_else(String::new, |command| format!(" {command}"));
    Some(format!("{said}; see `sunny16{command} --help`"))
}
