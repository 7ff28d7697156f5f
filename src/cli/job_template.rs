//! Job templates of Open Job Description (specification "jobtemplate-2023-09"), which render farms
//! run.
//!
//! <https://github.com/OpenJobDescription/openjd-specifications/wiki/2023-09-Template-Schemas>

use std::path::Path;

use serde_json::{Value, json};

use super::error::CliError;
use crate::{message, reference::SampleRange, session::part::PartError};

/// The specification of templates.
pub const SPECIFICATION: &str = "jobtemplate-2023-09";

/// Maximum number of tasks of a step: values of the range of a task parameter (section 3.4.1).
pub const MAX_TASKS: usize = 1024;

/// Maximum size of a template in bytes.
const MAX_FILE: u64 = 1 << 22;

/// Environment variable that selects the progress lines of Open Job Description.
pub const PROGRESS: (&str, &str) = ("SUNNY16_PROGRESS", "openjd");

/// Seconds between the notification of a cancelation and the end of a task.
const CANCELATION_SECONDS: u32 = 30;

/// Text that would be taken for a reference to a parameter.
const REFERENCE: &str = "{{";

/// A task parameter with its values, and the argument that has it.
pub struct Tasks {
    /// Name of the parameter.
    pub parameter: &'static str,
    /// Its values, one a task.
    pub values: Vec<String>,
}

/// What a job runs.
pub struct JobTemplate {
    /// Name of the job.
    pub name: String,
    /// True if the folder of the scene belongs to the job.
    pub has_files: bool,
    /// The tasks of the first step.
    pub tasks: Tasks,
    /// Arguments of the first step.
    pub render: Vec<String>,
    /// Arguments of the second step, which depends on the first.
    pub merge: Option<Vec<String>>,
}

/// An action that runs the program.
fn action(arguments: &[String]) -> Value {
    json!({
        "command": "{{Param.Program}}",
        "args": arguments,
        "cancelation": {
            "mode": "NOTIFY_THEN_TERMINATE",
            "notifyPeriodInSeconds": CANCELATION_SECONDS,
        },
    })
}

/// Ranges of `count` consecutive samples; the last may be shorter.
pub fn sample_tasks(range: SampleRange, count: u32) -> Vec<String> {
    let firsts = (range.first..range.end).step_by(count.max(1) as usize);
    let task = |first: u32| {
        SampleRange { first, end: range.end.min(first.saturating_add(count.max(1))) }.to_string()
    };
    firsts.map(task).collect()
}

/// Checks a number of tasks.
pub fn check_tasks(count: usize, option: &str) -> Result<(), CliError> {
    let message =
        || format!("{count} tasks: a step has at most {MAX_TASKS}; choose a larger {option}");
    (count <= MAX_TASKS).then_some(()).ok_or_else(|| CliError::Usage(message()))
}

/// An argument of the user as literal text of a template.
pub fn literal(argument: &str) -> Result<String, CliError> {
    if argument.contains(REFERENCE) || argument.chars().any(char::is_control) {
        return Err(CliError::Usage(format!(
            "'{}': a job template allows neither '{REFERENCE}' nor control characters; rename it",
            argument.replace(char::is_control, "?")
        )));
    }
    Ok(argument.to_owned())
}

impl JobTemplate {
    /// The template as JSON.
    pub fn to_text(&self) -> String {
        let path = |name: &str, flow: &str, default: &str, description: &str| {
            json!({
                "name": name, "type": "PATH", "objectType": "DIRECTORY", "dataFlow": flow,
                "default": default, "description": description,
            })
        };
        let scene = path("Scene", "IN", "scene", "Scene, look and the files that they refer to.");
        let output = path("Output", "OUT", "output", "Folder of the pictures.");
        let program = json!({
            "name": "Program", "type": "STRING", "default": "sunny16",
            "description": "The program sunny16: its name in PATH, or its path.",
        });
        let parameters: Vec<Value> =
            self.has_files.then_some(scene).into_iter().chain([output, program]).collect();
        let mut environment = json!({"name": "sunny16", "variables": {(PROGRESS.0): PROGRESS.1}});
        if self.has_files {
            let check = ["job", "--check", "{{Param.Scene}}"].map(str::to_owned);
            environment["script"] = json!({"actions": {"onEnter": action(&check)}});
        }
        let mut steps = vec![json!({
            "name": "Render",
            "parameterSpace": {"taskParameterDefinitions": [{
                "name": self.tasks.parameter, "type": "STRING", "range": self.tasks.values,
            }]},
            "script": {"actions": {"onRun": action(&self.render)}},
        })];
        steps.extend(self.merge.as_ref().map(|merge| {
            json!({
                "name": "Merge",
                "dependencies": [{"dependsOn": "Render"}],
                "script": {"actions": {"onRun": action(merge)}},
            })
        }));
        let template = json!({
            "specificationVersion": SPECIFICATION,
            "name": self.name,
            "parameterDefinitions": parameters,
            "jobEnvironments": [environment],
            "steps": steps,
        });
        pretty(&template)
    }
}

fn pretty(template: &Value) -> String {
    serde_json::to_string_pretty(template).unwrap_or_default() + "\n"
}

/// Reads a template.
pub fn read(file: &Path) -> Result<Value, CliError> {
    let unusable =
        |detail: String| PartError::Unusable { file: file.display().to_string(), detail };
    let bytes = message::read_file(file, MAX_FILE, "a job template").map_err(unusable)?;
    let expected = "expected a job template, as `sunny16 job` writes it";
    let template: Value =
        serde_json::from_slice(&bytes).map_err(|error| unusable(format!("{error}; {expected}")))?;
    match template.get("specificationVersion").and_then(Value::as_str) {
        Some(SPECIFICATION) => Ok(template),
        Some(other) => {
            let text = format!("specification '{other}'; expected {SPECIFICATION}");
            Err(unusable(text).into())
        }
        None => Err(unusable(format!("no specificationVersion; {expected}")).into()),
    }
}

/// The template of a job with the next samples in place of its own.
pub fn next_round(file: &Path, next: SampleRange, per_task: u32) -> Result<String, CliError> {
    let mut template = read(file)?;
    // As many samples a task as the number of tasks demands.
    let least = next.count().div_ceil(MAX_TASKS as u32).next_power_of_two();
    let tasks = sample_tasks(next, per_task.max(least));
    let missing = || {
        CliError::from(PartError::Unusable {
            file: file.display().to_string(),
            detail: "it has no step Render with a task parameter Samples; use the template of the \
                     parts"
                .into(),
        })
    };
    let step = template.pointer_mut("/steps/0").ok_or_else(missing)?;
    let parameter = step
        .pointer_mut("/parameterSpace/taskParameterDefinitions/0")
        .filter(|parameter| parameter["name"] == "Samples")
        .ok_or_else(missing)?;
    parameter["range"] = json!(tasks);
    let arguments = step.pointer_mut("/script/actions/onRun/args").and_then(Value::as_array_mut);
    for argument in arguments.ok_or_else(missing)? {
        if argument.as_str().is_some_and(|text| text.starts_with("--spp=")) {
            *argument = json!(format!("--spp={}", next.end));
        }
    }
    Ok(pretty(&template))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_cut_into_tasks() {
        let all = SampleRange { first: 0, end: 70 };
        assert_eq!(sample_tasks(all, 32), ["0-31", "32-63", "64-69"]);
        assert!(check_tasks(MAX_TASKS, "--chunk").is_ok());
        let error = check_tasks(MAX_TASKS + 1, "--chunk").unwrap_err().to_string();
        assert_eq!(error, "1025 tasks: a step has at most 1024; choose a larger --chunk");
    }

    #[test]
    fn references_in_arguments_are_refused() {
        assert_eq!(literal("--set=a.b=1").unwrap(), "--set=a.b=1");
        assert!(literal("{{Param.Program}}").is_err() && literal("a\nb").is_err());
    }
}
