//! The files that a document refers to, shown or not.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    files::Resolver,
    uri::{self, Target},
};

/// A file beside a document.
pub struct ExternalFile {
    /// Path that the document names, relative to its folder, with forward slashes and `..` only at
    /// its beginning.
    pub path: String,
    /// Its bytes, or a message that names it.
    pub bytes: Result<Vec<u8>, String>,
}

/// Calls `each` with every file that a document refers to, once.
///
/// # Errors
/// The error of `each`.
pub(super) fn visit<E>(
    root: &Value,
    resolver: &dyn Resolver,
    limit: u64,
    mut each: impl FnMut(ExternalFile) -> Result<(), E>,
) -> Result<(), E> {
    let mut seen = BTreeSet::new();
    for found in uris(root) {
        let Ok(Target::File { path, literal }) = uri::parse(found) else { continue };
        if !seen.insert(path.clone()) {
            continue;
        }
        let read = |path: &str| resolver.read(path, limit);
        // As the importer: the name as it is, then without decoding, then in other case.
        let file = match read(&path) {
            Ok(bytes) => ExternalFile { path, bytes: Ok(bytes) },
            Err(why) => match literal.as_deref().map(|literal| (literal, read(literal))) {
                Some((literal, Ok(bytes))) => {
                    ExternalFile { path: literal.to_owned(), bytes: Ok(bytes) }
                }
                _ => {
                    let other = resolver.other_case(&path).and_then(|other| read(&other).ok());
                    let bytes = other.ok_or_else(|| format!("'{path}': {why}"));
                    ExternalFile { path, bytes }
                }
            },
        };
        each(file)?;
    }
    Ok(())
}

/// All texts under the key `uri`, wherever an extension may have it.
fn uris(root: &Value) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    let mut open = vec![root];
    while let Some(value) = open.pop() {
        match value {
            Value::Array(values) => open.extend(values),
            Value::Object(map) => {
                found.extend(map.get("uri").and_then(Value::as_str));
                open.extend(map.values());
            }
            _ => {}
        }
    }
    found
}
