//! Checks the layers (docs/ARCHITECTURE.md): no module imports from a higher layer, `unsafe` is
//! only in the gpu module, and each pass has its shader.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Layers, lowest first. A module may import from its own layer and lower ones.
const LAYERS: [&str; 18] = [
    "photometry",
    "image_io",
    "camera",
    "optics",
    "scene",
    "camera_control",
    "bvh",
    "gi",
    "reference",
    "gpu",
    "graph",
    "passes",
    "frame",
    "output",
    "compare",
    "session",
    "viewer",
    "cli",
];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn files(dir: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.extension().is_some_and(|extension| extension == ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The text without comments and the contents of string literals.
fn code(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '/' if chars.peek() == Some(&'/') => {
                for c in chars.by_ref() {
                    if c == '\n' {
                        out.push('\n');
                        break;
                    }
                }
            }
            '"' => {
                out.push('"');
                while let Some(c) = chars.next() {
                    match c {
                        '\\' => drop(chars.next()),
                        '"' => break,
                        _ => {}
                    }
                }
                out.push('"');
            }
            // A character literal that is a quote or a backslash.
            '\'' if matches!(chars.peek(), Some('"' | '\\')) => {
                let first = chars.next();
                if first == Some('\\') {
                    chars.next();
                }
                chars.next();
            }
            c => out.push(c),
        }
    }
    out
}

/// The modules directly below `crate::` that a piece of code names, in paths and in (nested) use
/// trees.
fn names_after_crate(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        // `$crate` in a macro is this crate as well; `some_crate::` is not.
        let before = code[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let rest = &code[at + "crate::".len()..];
        let word = |text: &str| {
            text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>()
        };
        if let Some(tree) = rest.strip_prefix('{') {
            let mut depth = 0;
            let mut start = true;
            for (offset, c) in tree.char_indices() {
                match c {
                    '{' => depth += 1,
                    '}' if depth == 0 => break,
                    '}' => depth -= 1,
                    ',' if depth == 0 => start = true,
                    c if start && (c.is_alphanumeric() || c == '_') => {
                        found.push(word(&tree[offset..]));
                        start = false;
                    }
                    _ => {}
                }
            }
        } else {
            found.push(word(rest));
        }
    }
    found
}

fn layer_index(name: &str) -> Option<usize> {
    LAYERS.iter().position(|floor| *floor == name)
}

/// Imports from higher layers, and the number of imports checked.
fn imports_from_above(module: &str, code: &str) -> (Vec<String>, usize) {
    let own = layer_index(module)
        .unwrap_or_else(|| panic!("src/{module} has no layer: add it to LAYERS"));
    let mut looked_at = 0;
    let mut wrong = Vec::new();
    for name in names_after_crate(code) {
        let Some(other) = layer_index(&name) else { continue };
        looked_at += 1;
        if other > own {
            wrong.push(name);
        }
    }
    (wrong, looked_at)
}

#[test]
fn modules_do_not_import_from_higher_layers() {
    let mut looked_at = 0;
    let mut wrong = Vec::new();
    for file in files(&source(), "rs") {
        let relative = file.strip_prefix(source()).unwrap();
        let top = relative.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
        let module = top.trim_end_matches(".rs");
        if matches!(module, "lib" | "main") {
            continue;
        }
        let (from_above, count) =
            imports_from_above(module, &code(&fs::read_to_string(&file).unwrap()));
        looked_at += count;
        wrong.extend(
            from_above
                .into_iter()
                .map(|name| format!("{} imports from {name}", relative.display())),
        );
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(looked_at > 30, "only {looked_at} imports found: the parser is blind");
    println!("{looked_at} imports, all from below");
}

#[test]
fn an_import_from_above_is_found() {
    let text = "use crate::{\n    camera::{Exposure, ToneMapper},\n    frame::Aov,\n    gpu::{Gpu, vk},\n};\nfn a() { crate::cli::run(); }";
    let (wrong, looked_at) = imports_from_above("gpu", &code(text));
    assert_eq!(wrong, ["frame", "cli"]);
    assert_eq!(looked_at, 4);
    let innocent = "// use crate::cli;\nlet a = \"crate::cli\"; use crate::scene::Scene; use other_crate::cli;";
    assert_eq!(imports_from_above("gpu", &code(innocent)), (vec![], 1));
}

/// True if code contains a word.
fn has_word(code: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word).any(|(at, _)| {
        !code[..at].chars().next_back().is_some_and(part)
            && !code[at + word.len()..].chars().next().is_some_and(part)
    })
}

#[test]
fn unsafe_code_is_only_in_the_gpu_module() {
    let mut inside = 0;
    for file in files(&source(), "rs") {
        let text = code(&fs::read_to_string(&file).unwrap());
        let relative = file.strip_prefix(source()).unwrap();
        if relative.starts_with("gpu") {
            inside += usize::from(has_word(&text, "unsafe"));
            continue;
        }
        assert!(!has_word(&text, "unsafe"), "{} has unsafe code", relative.display());
        assert!(!has_word(&text, "unsafe_code"), "{} allows unsafe code", relative.display());
    }
    assert!(inside > 3, "the device room has lost its unsafe code, or the parser is blind");
}

#[test]
fn every_pass_has_its_shader() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let shaders: Vec<String> = fs::read_dir(root.join("shaders/passes"))
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    let mut with_pipelines = 0;
    for file in files(&source().join("passes"), "rs") {
        let text = fs::read_to_string(&file).unwrap();
        if !text.contains("GraphicsPipeline::new(") && !text.contains("ComputePipeline::new(") {
            continue;
        }
        with_pipelines += 1;
        let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
        assert!(shaders.contains(&stem), "src/passes/{stem}.rs has no shaders/passes/{stem}.*");
    }
    assert!(with_pipelines >= 6, "{with_pipelines} passes with pipelines");
}

#[test]
fn every_shader_is_used() {
    let mut text = String::new();
    for file in files(&source(), "rs") {
        text.push_str(&fs::read_to_string(file).unwrap());
    }
    for shader in sunny16::gpu::shader::Shader::all() {
        // Feature sets are assembled on demand (src/passes/variants.rs has its own test).
        let file = shader.name.split('+').next().unwrap();
        let source = fs::read_to_string(Path::new("shaders/passes").join(file)).unwrap();
        let name = if source.contains("// features:") { file } else { shader.name };
        assert!(
            text.contains(&format!("\"{name}\"")),
            "no pipeline uses the shader {}",
            shader.name
        );
    }
}
