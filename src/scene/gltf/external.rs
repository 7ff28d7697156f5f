//! The files that a document refers to, shown or not.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    files::{FoundName, Resolver, locate},
    json::items,
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
        let file = match locate(resolver, &path, literal.as_deref(), read) {
            Ok((bytes, FoundName::Literal(path))) => ExternalFile { path, bytes: Ok(bytes) },
            // A copy has the name that the document gives.
            Ok((bytes, _)) => ExternalFile { path, bytes: Ok(bytes) },
            Err(why) => ExternalFile { bytes: Err(format!("'{path}': {why}")), path },
        };
        each(file)?;
    }
    Ok(())
}

/// All texts under the key `uri`, wherever an extension may have it, and the flow maps of water.
fn uris(root: &Value) -> BTreeSet<&str> {
    fn flow(material: &Value) -> Option<&str> {
        material.get("extras")?.get("water")?.get("flow")?.as_str()
    }
    let mut found: BTreeSet<&str> = items(root, "materials").iter().filter_map(flow).collect();
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
