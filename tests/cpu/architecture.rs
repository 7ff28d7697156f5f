//! Checks the layers (docs/ARCHITECTURE.md): no module imports from a higher layer, files do not
//! import each other in cycles, `unsafe` is only in the gpu module, and each pass has its shader.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use crate::{
    common::source_files::files,
    import_graph::{cycles, edges, imports_within, is_module_and_parent},
};

/// Layers, lowest first. A module may import from its own layer and lower ones.
const LAYERS: [&str; 24] = [
    "testing",
    "message",
    "sobol",
    "easing",
    "photometry",
    "image_io",
    "optics",
    "camera",
    "settings",
    "scene",
    "camera_control",
    "bvh",
    "gi",
    "reference",
    "gpu",
    "graph",
    "gpu_scene",
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

/// The text without comments, character literals and the contents of string literals.
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
                // A raw string ends with as many number signs as it begins with.
                let start = out.trim_end_matches('#');
                let raw = start.ends_with('r');
                let signs = if raw { out.len() - start.len() } else { 0 };
                let end = format!("\"{}", "#".repeat(signs));
                out.push('"');
                let mut inside = String::new();
                while !inside.ends_with(&end) {
                    match chars.next() {
                        Some('\\') if !raw => drop(chars.next()),
                        Some(c) => inside.push(c),
                        None => break,
                    }
                }
                out.push('"');
            }
            '\'' => {
                let mut ahead = chars.clone();
                let escaped = ahead.next() == Some('\\');
                // Otherwise it is a lifetime.
                if escaped || ahead.next() == Some('\'') {
                    chars.nth(1);
                }
                if escaped {
                    chars.find(|c| *c == '\'');
                }
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
    for file in files(&source(), &["rs"]) {
        let relative = file.strip_prefix(source()).unwrap();
        let top = relative.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
        let module = top.trim_end_matches(".rs");
        if matches!(module, "core" | "lib" | "main") {
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

/// The module of a source file, such as `optics::lens`; empty for the crate's root.
fn module(file: &Path) -> String {
    let relative = file.strip_prefix(source()).unwrap().with_extension("");
    let names = relative.iter().map(|name| name.to_str().unwrap());
    names.filter(|name| !matches!(*name, "mod" | "core" | "lib")).collect::<Vec<_>>().join("::")
}

#[test]
fn no_cycle_between_files_is_larger_than_a_module_and_its_parent() {
    let files: BTreeMap<String, String> = files(&source(), &["rs"])
        .iter()
        .map(|file| (module(file), code(&fs::read_to_string(file).unwrap())))
        .collect();
    let edges = edges(&files);
    assert!(edges.len() > 1000, "only {} imports found: the parser is blind", edges.len());
    let wrong: Vec<Vec<String>> = cycles(&edges)
        .iter()
        .filter(|cycle| !is_module_and_parent(cycle))
        .map(|cycle| imports_within(cycle, &edges))
        .collect();
    assert!(wrong.is_empty(), "{} cycles between files: {wrong:#?}", wrong.len());
    println!("{} imports between {} files", edges.len(), files.len());
}

#[test]
fn a_cycle_between_files_is_found() {
    let texts = [
        // A cycle of three: by a name that the parent exports, a nested tree, and an expression.
        ("a", "mod b; pub(crate) mod c; pub(super) use c::{Item as Thing, Other};"),
        ("a::b", "use super::{Other, Thing}; fn f() -> impl Fn() + use<> { '{' }"),
        ("a::c", "pub struct Item; use crate::{d::{self, inside::{Deep, Flat,},}, e};"),
        ("d", "fn run() { loop { crate::a::b::f::<u8>(); } }"),
        // Two more that are allowed: a module and its parent.
        ("p", "mod q; fn g() { q::run(); }"),
        ("p::q", "use super as parent; fn run() { parent::g(); }"),
        // Neither tests, comments, strings, visibility nor other crates count.
        (
            "e",
            "pub(in crate::a) fn h(c: char) -> bool { c == '\\'' }\n// use crate::a::c;\n\
             const T: &str = r#\"\" use crate::a::c; \"\"#; use other::a::c;\n\
             #[cfg(test)]\n#[allow(unused)]\nmod tests { use crate::a::c; fn f() { '}'; } }",
        ),
    ];
    let files = texts.map(|(module, text)| (module.to_owned(), code(text))).into();
    let edges = edges(&files);
    let found: Vec<Vec<&str>> =
        cycles(&edges).iter().map(|cycle| cycle.iter().copied().collect()).collect();
    assert_eq!(found, [vec!["a::b", "a::c", "d"], vec!["p", "p::q"]]);
    let allowed: Vec<bool> = cycles(&edges).iter().map(is_module_and_parent).collect();
    assert_eq!(allowed, [false, true]);
    assert_eq!(
        imports_within(&["a::b", "a::c", "d"].into(), &edges),
        [
            r#"a::b -> a::c: {"super::Other", "super::Thing"}"#,
            r#"a::c -> d: {"crate::d", "crate::d::inside::Deep", "crate::d::inside::Flat"}"#,
            r#"d -> a::b: {"crate::a::b::f"}"#,
        ]
    );
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
    for file in files(&source(), &["rs"]) {
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
    for file in files(&source().join("passes"), &["rs"]) {
        let text = fs::read_to_string(&file).unwrap();
        let creates = ["GraphicsPipeline::new(", "ComputePipeline::new(", "LazyPipeline::new("];
        let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
        // Creates pipelines for the passes.
        if stem == "creation" || !creates.iter().any(|create| text.contains(create)) {
            continue;
        }
        with_pipelines += 1;
        assert!(shaders.contains(&stem), "src/passes/{stem}.rs has no shaders/passes/{stem}.*");
    }
    assert!(with_pipelines >= 6, "{with_pipelines} passes with pipelines");
}

#[test]
fn every_shader_is_used() {
    let mut text = String::new();
    for file in files(&source(), &["rs"]) {
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
