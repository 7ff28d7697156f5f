//! Imports between the files of a crate, and their cycles.

use std::collections::{BTreeMap, BTreeSet};

/// Imported paths by the importing and the defining module.
pub type Edges = BTreeMap<(String, String), BTreeSet<String>>;

/// A path that a file names.
struct Import<'a> {
    path: Vec<&'a str>,
    /// Name that a `use` gives it; `None` for paths in expressions.
    name: Option<&'a str>,
    /// Other files can import it from this one.
    public: bool,
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_word(token: &str) -> bool {
    token.starts_with(is_part)
}

/// Words, `::` and single other characters.
fn tokens(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if is_part(first) {
            rest.find(|c| !is_part(c)).unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            first.len_utf8()
        };
        let (token, after) = rest.split_at(length);
        found.push(token);
        rest = after.trim_start();
    }
    found
}

/// Leaves out items that only tests compile.
fn without_tests<'a>(tokens: &[&'a str]) -> Vec<&'a str> {
    let (mut kept, mut rest) = (Vec::new(), tokens);
    while let Some((token, after)) = rest.split_first() {
        rest = if let ["#", "[", "cfg", "(", "test", ")", "]", item @ ..] = rest {
            after_item(item)
        } else {
            kept.push(*token);
            after
        };
    }
    kept
}

/// The tokens after an item, which ends with a semicolon or a closing brace.
fn after_item<'a, 'b>(tokens: &'b [&'a str]) -> &'b [&'a str] {
    let mut depth = 0;
    for (index, token) in tokens.iter().enumerate() {
        match *token {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ => {}
        }
        if depth == 0 && matches!(*token, ";" | "}") {
            return &tokens[index + 1..];
        }
    }
    &[]
}

/// Takes a path of words from the front.
fn take_path<'a>(tokens: &mut &[&'a str]) -> Vec<&'a str> {
    let mut path = Vec::new();
    while let [word, after @ ..] = *tokens
        && is_word(word)
    {
        path.push(*word);
        *tokens = after;
        match after {
            ["::", next, ..] if is_word(next) => *tokens = &after[1..],
            _ => break,
        }
    }
    path
}

/// Takes a use tree from the front: its paths and their names.
fn take_use_tree<'a>(tokens: &mut &[&'a str], prefix: &[&'a str]) -> Vec<(Vec<&'a str>, &'a str)> {
    let mut path = [prefix, &take_path(tokens)].concat();
    *tokens = tokens.strip_prefix(&["::"]).unwrap_or(tokens);
    let mut found = Vec::new();
    match *tokens {
        ["{", after @ ..] => {
            *tokens = after;
            loop {
                found.extend(take_use_tree(tokens, &path));
                let more = tokens.first() == Some(&",");
                *tokens = tokens.get(1..).unwrap_or_default();
                if !more {
                    break;
                }
            }
        }
        ["*", after @ ..] => {
            *tokens = after;
            found.push((path, "*"));
        }
        _ if path.len() > prefix.len() => {
            if path.len() > 1 && path.ends_with(&["self"]) {
                path.pop();
            }
            let mut name = path[path.len() - 1];
            if let ["as", alias, after @ ..] = *tokens {
                (name, *tokens) = (alias, after);
            }
            found.push((path, name));
        }
        // After a trailing comma.
        _ => {}
    }
    found
}

/// The paths of two and more words in a file, and all that it uses.
fn imports<'a>(mut tokens: &[&'a str]) -> Vec<Import<'a>> {
    let mut found = Vec::new();
    let mut public = false;
    while let Some((token, after)) = tokens.split_first() {
        match tokens {
            // A bound such as `use<'a>` imports nothing.
            ["use", next, ..] if *next != "<" => {
                tokens = after;
                let tree = take_use_tree(&mut tokens, &[]);
                found.extend(tree.into_iter().map(|(path, name)| Import {
                    path,
                    name: Some(name),
                    public: public && name != "*",
                }));
            }
            // Neither does `pub(in path)`.
            ["pub", "(", "in", scope @ ..] => {
                (public, tokens) = (true, scope);
                take_path(&mut tokens);
            }
            _ if is_word(token) => {
                public |= *token == "pub";
                let path = take_path(&mut tokens);
                if path.len() > 1 {
                    found.push(Import { path, name: None, public: false });
                }
            }
            _ => {
                public &= !matches!(*token, ";" | "{" | "}");
                tokens = after;
            }
        }
    }
    found
}

fn child(module: &str, name: &str) -> String {
    if module.is_empty() { name.to_owned() } else { format!("{module}::{name}") }
}

fn parent(module: &str) -> &str {
    module.rsplit_once("::").map_or("", |(parent, _)| parent)
}

type Modules<'a> = BTreeMap<&'a str, Vec<Import<'a>>>;

/// The module whose file defines a path that a module names; `None` for other crates.
fn defining(modules: &Modules<'_>, from: &str, path: &[&str]) -> Option<String> {
    let (mut at, mut rest) = (from, path);
    match path.first()? {
        &"crate" => (at, rest) = ("", &path[1..]),
        &"self" => rest = &path[1..],
        &"super" => {
            while let ["super", after @ ..] = rest {
                (at, rest) = (parent(at), after);
            }
        }
        first if modules.contains_key(child(from, first).as_str()) => {}
        _ => return None,
    }
    let mut at = at.to_owned();
    while let [name, after @ ..] = rest {
        let below = child(&at, name);
        if modules.contains_key(below.as_str()) {
            (at, rest) = (below, after);
            continue;
        }
        let imports = modules.get(at.as_str())?;
        let exported = imports.iter().find(|import| import.public && import.name == Some(name));
        return exported
            .and_then(|import| defining(modules, &at, &[&import.path, after].concat()))
            .or(Some(at));
    }
    Some(at)
}

/// The imports between files, given by module (`optics::lens`; the crate's root is empty) as code
/// without comments and strings. Items under `#[cfg(test)]` do not count.
pub fn edges(files: &BTreeMap<String, String>) -> Edges {
    let modules: Modules<'_> = files
        .iter()
        .map(|(module, code)| (module.as_str(), imports(&without_tests(&tokens(code)))))
        .collect();
    let mut edges = Edges::new();
    for (from, imports) in &modules {
        for import in imports {
            // A path may begin with the name of another import.
            let first = imports.iter().find(|other| other.name == import.path.first().copied());
            let path = match (import.name, first) {
                (None, Some(first)) => [&first.path, &import.path[1..]].concat(),
                _ => import.path.clone(),
            };
            if let Some(to) = defining(&modules, from, &path)
                && to != *from
            {
                edges.entry(((*from).to_owned(), to)).or_default().insert(path.join("::"));
            }
        }
    }
    edges
}

/// Sets of modules that all reach each other by imports.
pub fn cycles(edges: &Edges) -> BTreeSet<BTreeSet<&str>> {
    let mut imported: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (from, to) in edges.keys() {
        imported.entry(from).or_default().push(to);
    }
    let reached_from = |module: &str| {
        let (mut reached, mut next) = (BTreeSet::new(), imported[module].clone());
        while let Some(module) = next.pop() {
            if reached.insert(module) {
                next.extend(imported.get(module).into_iter().flatten());
            }
        }
        reached
    };
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        imported.keys().map(|module| (*module, reached_from(module))).collect();
    let back = |to: &str, module: &str| reached.get(to).is_some_and(|back| back.contains(module));
    let cycle = |module: &str| -> BTreeSet<&str> {
        reached[module].iter().copied().filter(|to| back(to, module)).collect()
    };
    reached.keys().map(|module| cycle(module)).filter(|cycle| !cycle.is_empty()).collect()
}

/// True if modules are exactly one and its parent.
pub fn is_module_and_parent(modules: &BTreeSet<&str>) -> bool {
    let mut sorted = modules.iter();
    let pair = (sorted.next(), sorted.next(), sorted.next());
    matches!(pair, (Some(first), Some(second), None) if parent(second) == *first)
}

/// The imports within a set of modules, one line each.
pub fn imports_within(modules: &BTreeSet<&str>, edges: &Edges) -> Vec<String> {
    let inside = |module: &String| modules.contains(module.as_str());
    let within = edges.iter().filter(|((from, to), _)| inside(from) && inside(to));
    within.map(|((from, to), paths)| format!("{from} -> {to}: {paths:?}")).collect()
}
