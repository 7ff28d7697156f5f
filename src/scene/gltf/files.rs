//! Files beside the document: read once each, and no more of them than the limit.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    fs::File,
    io::{ErrorKind, Read},
    path::{Path, PathBuf},
    sync::Arc,
};

use super::MAX_FILE_BYTES;

/// Finds the files that a document refers to.
pub trait Resolver {
    /// Reads the file at `path`, relative to the document, with forward slashes and never upwards; at most `limit`
    /// bytes.
    ///
    /// # Errors
    ///
    /// A sentence for people, such as `not found`.
    fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, String>;
}

/// Reads from a folder.
pub struct Folder(pub PathBuf);

impl Resolver for Folder {
    fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, String> {
        read(&self.0.join(path), limit).map_err(|error| match error {
            Failure::NotFound => "the file is not there".into(),
            Failure::Unreadable(why) => why,
            Failure::TooLarge => format!("more than {limit} bytes"),
        })
    }
}

/// Has no files: documents must hold all of their data.
pub struct NoFiles;

impl Resolver for NoFiles {
    fn read(&self, _: &str, _: u64) -> Result<Vec<u8>, String> {
        Err("the file is not there".into())
    }
}

/// Why a file was not read.
pub(super) enum Failure {
    NotFound,
    Unreadable(String),
    TooLarge,
}

/// Reads a regular file; others, such as pipes, might never end.
pub(super) fn read(path: &Path, limit: u64) -> Result<Vec<u8>, Failure> {
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => Failure::NotFound,
        _ => Failure::Unreadable(error.to_string()),
    };
    let about = std::fs::metadata(path).map_err(failed)?;
    if !about.is_file() {
        return Err(Failure::Unreadable("not a file".into()));
    }
    if about.len() > limit {
        return Err(Failure::TooLarge);
    }
    let mut bytes = Vec::new();
    // The length may have changed since; the limit holds all the same.
    File::open(path).map_err(failed)?.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > limit { Err(Failure::TooLarge) } else { Ok(bytes) }
}

/// What a file held, or a sentence that names it.
type Contents = Result<Arc<[u8]>, String>;

/// All files of one import.
pub(super) struct Files<'a> {
    resolver: &'a dyn Resolver,
    known: RefCell<HashMap<String, Contents>>,
    left: Cell<u64>,
}

impl<'a> Files<'a> {
    pub(super) fn new(resolver: &'a dyn Resolver) -> Self {
        Self { resolver, known: RefCell::default(), left: Cell::new(MAX_FILE_BYTES) }
    }

    /// A file's bytes, or a sentence that names it.
    pub(super) fn read(&self, path: &str) -> Contents {
        if let Some(known) = self.known.borrow().get(path) {
            return known.clone();
        }
        let read =
            self.resolver.read(path, self.left.get()).map_err(|why| format!("'{path}': {why}")).map(Arc::<[u8]>::from);
        if let Ok(bytes) = &read {
            self.left.set(self.left.get().saturating_sub(bytes.len() as u64));
        }
        self.known.borrow_mut().insert(path.to_owned(), read.clone());
        read
    }
}
