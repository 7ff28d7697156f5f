//! Code, pages, property descriptions and the command line's help use the field's terms and one
//! spelling (CONTRIBUTING.md).

use std::{fs, path::Path, process::Command};

use sunny16::scene::look::properties;

use crate::common::source_files;

/// Words that have a standard term, and that term. British spellings stand for themselves.
const AVOIDED: [(&str, &str); 27] = [
    ("trees of our own", "software BVH"),
    ("bounced light", "indirect light"),
    ("patches of light", "virtual point lights"),
    ("light patches", "virtual point lights"),
    ("surroundings", "environment"),
    ("anew", "again"),
    ("whoever", "a user, a caller"),
    ("somebody", "a user"),
    ("nobody", "no user, no caller"),
    ("smooth edges", "anti-aliasing"),
    ("colour", "color"),
    ("colours", "colors"),
    ("coloured", "colored"),
    ("grey", "gray"),
    ("greys", "grays"),
    ("metre", "meter"),
    ("metres", "meters"),
    ("millimetres", "millimeters"),
    ("micrometres", "micrometers"),
    ("kilometres", "kilometers"),
    ("centre", "center"),
    ("centres", "centers"),
    ("neighbour", "neighbor"),
    ("neighbours", "neighbors"),
    ("neighbouring", "neighboring"),
    ("optimised", "optimized"),
    ("honoured", "honored"),
];

/// Words that code avoids too, in comments, messages and names.
const AVOIDED_IN_CODE: [(&str, &str); 1] = [("patches", "VPLs, emissive lights")];

/// Files that may use a word: old names that are still read, and terms of another trade.
const ALLOWED: [(&str, &str); 12] = [
    ("tests/cpu/look_reference.rs", "centre"),
    ("tests/cpu/look_reference.rs", "patches"),
    ("src/viewer/panels/palette.rs", "grey"),
    ("src/scene/look/renamed.rs", "centre"),
    ("src/scene/look/renamed.rs", "grey"),
    ("src/scene/look/renamed.rs", "patches"),
    ("src/scene/procedural/still_life.rs", "patches"),
    ("src/image_io/exr/layers.rs", "grey"),
    ("src/cli/renamed.rs", "colour"),
    ("src/cli/renamed.rs", "patches"),
    ("src/compare/case.rs", "centres"),
    ("src/viewer/panels/palette.rs", "surroundings"),
];

/// The page without fenced blocks, code font, link targets and quotations of titles.
fn prose(page: &str) -> String {
    let mut fenced = false;
    let mut out = String::new();
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            // Every second part lies between backticks.
            let spoken: Vec<&str> = line.split('`').step_by(2).collect();
            let mut rest = spoken.join(" ");
            while let Some((before, after)) = rest.split_once("](") {
                let after = after.split_once(')').map_or("", |(_, after)| after);
                rest = format!("{before} {after}");
            }
            out.push_str(&rest);
        }
        out.push('\n');
    }
    out.to_lowercase()
}

/// Each avoided word in a text, with its line.
fn avoided(what: &str, text: &str) -> Vec<String> {
    avoided_of(&AVOIDED, what, text)
}

fn avoided_of(words: &[(&str, &str)], what: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for &(word, term) in words {
            let inside = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
            for (at, _) in line.match_indices(word) {
                let (before, after) =
                    (line[..at].chars().next_back(), line[at + word.len()..].chars().next());
                if !inside(before) && !inside(after) {
                    found.push(format!("{what}:{}: '{word}', write '{term}'", number + 1));
                }
            }
        }
    }
    found
}

/// Code as text: words of names apart, in lower case.
fn spoken(code: &str) -> String {
    let mut out = String::with_capacity(code.len() + code.len() / 8);
    let mut last = ' ';
    for c in code.chars() {
        if last.is_lowercase() && c.is_uppercase() {
            out.push(' ');
        }
        out.push(if c == '_' { ' ' } else { c.to_ascii_lowercase() });
        last = c;
    }
    out
}

#[test]
fn code_uses_the_standard_terms() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<_> = ["src", "shaders", "tests", "examples"]
        .iter()
        .flat_map(|folder| {
            source_files::files(&root.join(folder), &["rs", "glsl", "vert", "frag", "comp"])
        })
        .collect();
    // This one lists the words.
    files.retain(|file| !file.ends_with("tests/cli/vocabulary.rs"));
    assert!(files.len() > 500, "{} files", files.len());
    let words: Vec<(&str, &str)> = AVOIDED.into_iter().chain(AVOIDED_IN_CODE).collect();
    let mut found = Vec::new();
    for file in files {
        let name = file.strip_prefix(root).unwrap().display().to_string();
        let allowed = |word: &str| ALLOWED.contains(&(name.as_str(), word));
        let words: Vec<_> = words.iter().copied().filter(|(word, _)| !allowed(word)).collect();
        found.extend(avoided_of(&words, &name, &spoken(&fs::read_to_string(&file).unwrap())));
    }
    assert!(found.is_empty(), "{} words:\n{}", found.len(), found.join("\n"));
}

#[test]
fn pages_use_the_standard_terms() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pages = vec![
        root.join("README.md"),
        root.join("CONTRIBUTING.md"),
        root.join("validation/README.md"),
    ];
    pages.push(root.join("validation/scripts/README.md"));
    for folder in ["docs", "validation/measured"] {
        for entry in fs::read_dir(root.join(folder)).unwrap() {
            pages.push(entry.unwrap().path());
        }
    }
    // look.md is made of the descriptions of properties, which have a test of their own.
    pages.retain(|page| {
        page.extension().is_some_and(|ending| ending == "md") && !page.ends_with("look.md")
    });
    pages.sort();
    let found: Vec<String> = pages
        .iter()
        .flat_map(|page| {
            let name = page.strip_prefix(root).unwrap().display().to_string();
            avoided(&name, &prose(&fs::read_to_string(page).unwrap()))
        })
        .collect();
    assert!(pages.len() > 40, "{} pages", pages.len());
    assert!(found.is_empty(), "{} words:\n{}", found.len(), found.join("\n"));
}

#[test]
fn descriptions_of_properties_use_the_standard_terms() {
    // Values of properties keep their names.
    let values = |text: &str| text.to_lowercase();
    let found: Vec<String> =
        properties().flat_map(|known| avoided(known.path, &values(known.description))).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn help_uses_the_standard_terms() {
    let help = |arguments: &[&str]| {
        let out = Command::new(env!("CARGO_BIN_EXE_sunny16")).args(arguments).output().unwrap();
        String::from_utf8(out.stdout).unwrap().to_lowercase()
    };
    let start = help(&["--help"]);
    let commands = start.lines().skip_while(|line| *line != "commands:").skip(1);
    let names: Vec<&str> = commands
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(names.len() > 10, "{names:?}");
    let mut found = avoided("--help", &start);
    for name in names {
        // Flags and values keep their names.
        let text = help(&[name, "--help"]);
        found.extend(avoided(&format!("{name} --help"), &text));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn words_are_found_whole_and_outside_of_code() {
    let page = "The `colour` of\n```\ncolour\n```\n[discolour](colour.md) colour.\n";
    assert_eq!(avoided("page", &prose(page)), ["page:5: 'colour', write 'color'"]);
    let code = "fn grey_card(a: GreyCard) {} // greyhound\n";
    assert_eq!(avoided("code", &spoken(code)).len(), 2);
}
