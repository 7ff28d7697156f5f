//! Files beside the document: each is read once, up to a total limit.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    fs::File,
    io::{ErrorKind, Read},
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    MAX_FILE_BYTES,
    report::{At, ImportReport, one_line},
    uri::{self, Target},
};

/// Finds the files that a document refers to.
pub trait Resolver {
    /// Reads the file at `path`, relative to the document, with forward slashes and `..` only at
    /// its beginning; at most `limit` bytes.
    ///
    /// # Errors
    ///
    /// A message such as `not found`.
    fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, String>;

    /// The path of an existing file whose name differs from `path` in the case of letters alone:
    /// authors' file systems may ignore it. `None` if there is none, or more than one.
    fn other_case(&self, path: &str) -> Option<String> {
        let _ = path;
        None
    }
}

/// Reads from a document's folder and below, or below a root folder that contains it.
pub struct Folder {
    folder: PathBuf,
    /// The document's canonical folder, and its depth below the root.
    above: Option<(PathBuf, usize)>,
    /// The canonical folder that files and the targets of their links lie in; `None` if there is
    /// no such folder.
    top: Option<PathBuf>,
    /// Name of the root folder, for messages.
    root: Option<String>,
}

impl Folder {
    /// Reads from the folder of a document and below.
    #[must_use]
    pub fn of(document: &Path) -> Self {
        let folder = folder_of(document);
        let top = real(&folder).ok();
        Self { folder, above: None, top, root: None }
    }

    /// Reads from anywhere below `root`, which contains the document.
    ///
    /// # Errors
    /// A message: the folder does not exist, or does not contain the document.
    pub fn within(document: &Path, root: &Path) -> Result<Self, String> {
        let name = root.display();
        let folder = folder_of(document);
        let above = within(document, root)?;
        if above.is_none() {
            return Err(format!(
                "{name} does not contain {}; name a folder above it",
                document.display()
            ));
        }
        Ok(Self { folder, above, top: Some(real(root)?), root: Some(name.to_string()) })
    }
}

fn folder_of(document: &Path) -> PathBuf {
    document.parent().map(Path::to_path_buf).unwrap_or_default()
}

/// A folder's canonical path.
fn real(path: &Path) -> Result<PathBuf, String> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    path.canonicalize().map_err(|error| format!("{}: {error}; check the path", path.display()))
}

/// The document's canonical folder and its depth below `root`; `None` if it is outside.
fn within(document: &Path, root: &Path) -> Result<Option<(PathBuf, usize)>, String> {
    let top = real(root)?;
    if !top.is_dir() {
        return Err(format!("{} is not a folder", root.display()));
    }
    let folder = real(&folder_of(document))?;
    let depth = folder.strip_prefix(&top).ok().map(|below| below.components().count());
    Ok(depth.map(|depth| (folder, depth)))
}

/// True if a document is below a folder.
#[must_use]
pub fn contains(root: &Path, document: &Path) -> bool {
    within(document, root).is_ok_and(|found| found.is_some())
}

/// Number of `..` at the beginning of a path.
#[must_use]
pub fn ups(path: &str) -> usize {
    path.split('/').take_while(|part| *part == "..").count()
}

impl Folder {
    /// The folder that a path starts from, without its leading `..`.
    fn start(&self, path: &str) -> Result<&Path, String> {
        let ups = ups(path);
        if ups == 0 {
            return Ok(&self.folder);
        }
        let Some((folder, _)) = self.above.as_ref().filter(|(_, depth)| ups <= *depth) else {
            // A root that is the document's folder needs no name in messages.
            let above = self.above.as_ref().is_some_and(|(_, depth)| *depth > 0);
            return Err(match self.root.as_ref().filter(|_| above) {
                Some(root) => {
                    format!("it is outside of {root}; name a folder above both by --root DIR")
                }
                None => "it is outside of the document's folder; name a folder above both by \
                         --root DIR"
                    .into(),
            });
        };
        Ok(folder.ancestors().nth(ups).unwrap_or(folder))
    }
}

impl Resolver for Folder {
    fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, String> {
        let rest: PathBuf = path.split('/').skip(ups(path)).collect();
        let file = self.start(path)?.join(rest);
        // A missing file is reported by the reading.
        if let (Ok(target), Some(top)) = (file.canonicalize(), &self.top)
            && !target.starts_with(top)
        {
            return Err(format!(
                "it is a link to a place outside of {}; name a folder above both by --root DIR",
                self.root.as_deref().unwrap_or("the document's folder")
            ));
        }
        read(&file, limit).map_err(|error| match error {
            Failure::NotFound => "the file is not there".into(),
            Failure::Unreadable(why) => why,
            Failure::TooLarge => format!("more than {limit} bytes"),
        })
    }

    fn other_case(&self, path: &str) -> Option<String> {
        let ups = ups(path);
        let mut folder = self.start(path).ok()?.to_path_buf();
        let mut found = vec![".."; ups].join("/");
        for part in path.split('/').skip(ups) {
            let entries = std::fs::read_dir(&folder).ok()?.filter_map(Result::ok);
            let mut alike: Vec<String> = entries
                .filter_map(|entry| entry.file_name().into_string().ok())
                .filter(|name| name.to_lowercase() == part.to_lowercase())
                .collect();
            if alike.iter().any(|name| name == part) {
                alike = vec![part.to_owned()];
            }
            let [name] = alike.as_slice() else { return None };
            folder.push(name);
            if !found.is_empty() {
                found.push('/');
            }
            found.push_str(name);
        }
        (found != path).then_some(found)
    }
}

/// A resolver without files: documents must hold all of their data.
pub struct NoFiles;

impl Resolver for NoFiles {
    fn read(&self, _: &str, _: u64) -> Result<Vec<u8>, String> {
        Err("the file is not there".into())
    }
}

/// Error of a file that was not read.
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
    // The length may have changed since; the limit still holds.
    File::open(path)
        .map_err(failed)?
        .take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() as u64 > limit { Err(Failure::TooLarge) } else { Ok(bytes) }
}

/// Contents of a file, or a message that names it.
type Contents = Result<Arc<[u8]>, String>;

/// Data of a URI.
pub(super) struct Fetched {
    pub(super) bytes: Arc<[u8]>,
    /// The media type of a data URI, in lower case.
    pub(super) mime: Option<String>,
    odd: Option<Odd>,
}

/// A finding on a URI.
enum Odd {
    /// It violates its standard.
    Form(String),
    /// It names a file of another folder.
    Outside(String),
}

impl Fetched {
    /// Notes findings on the URI.
    pub(super) fn warn(&self, place: At<'_>, report: &mut ImportReport) {
        match &self.odd {
            Some(Odd::Form(what)) => {
                report.repair(place, format!("{}; read anyway", one_line(what)))
            }
            Some(Odd::Outside(path)) => {
                report.info(
                    place,
                    format!("'{}' is outside of the document's folder", one_line(path)),
                );
            }
            None => {}
        }
    }
}

/// Name under which a file was found.
pub(super) enum FoundName {
    /// The decoded path.
    Same,
    /// The URI without decoding.
    Literal(String),
    /// A name that differs in the case of letters.
    OtherCase(String),
}

/// Reads the file that a URI names: by its decoded path, by the URI as it is, or by a name that
/// differs in the case of letters. The error is that of the decoded path.
pub(super) fn locate<T>(
    resolver: &dyn Resolver,
    path: &str,
    literal: Option<&str>,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<(T, FoundName), String> {
    let problem = match read(path) {
        Ok(found) => return Ok((found, FoundName::Same)),
        Err(problem) => problem,
    };
    if let Some(literal) = literal
        && let Ok(found) = read(literal)
    {
        return Ok((found, FoundName::Literal(literal.to_owned())));
    }
    let other = resolver.other_case(path).and_then(|other| Some((read(&other).ok()?, other)));
    other.map(|(found, other)| (found, FoundName::OtherCase(other))).ok_or(problem)
}

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

    /// The bytes that a URI holds or names, or a message why there are none.
    pub(super) fn fetch(&self, uri: &str) -> Result<Fetched, String> {
        match uri::parse(uri)? {
            Target::Data { mime, payload, base64, odd } => {
                let (bytes, coding) = uri::decode(payload, base64)?;
                let odd = odd.or_else(|| coding.map(str::to_owned)).map(Odd::Form);
                Ok(Fetched { bytes: bytes.into(), mime: Some(mime.to_ascii_lowercase()), odd })
            }
            Target::File { path, literal } => {
                let read = |path: &str| self.read(path);
                let (bytes, name) = locate(self.resolver, &path, literal.as_deref(), read)?;
                let named = |name: &str, what: &str| {
                    Some(Odd::Form(format!("the file's name '{name}' {what}")))
                };
                let odd = match name {
                    FoundName::Same => path.starts_with("../").then_some(Odd::Outside(path)),
                    FoundName::Literal(name) => named(&name, "is not encoded"),
                    FoundName::OtherCase(name) => named(&name, "differs in the case of letters"),
                };
                Ok(Fetched { bytes, mime: None, odd })
            }
        }
    }

    /// A file's bytes, or a message that names it.
    fn read(&self, path: &str) -> Contents {
        if let Some(known) = self.known.borrow().get(path) {
            return known.clone();
        }
        let read = self
            .resolver
            .read(path, self.left.get())
            .map_err(|why| format!("'{path}': {why}"))
            .map(Arc::<[u8]>::from);
        if let Ok(bytes) = &read {
            self.left.set(self.left.get().saturating_sub(bytes.len() as u64));
        }
        self.known.borrow_mut().insert(path.to_owned(), read.clone());
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_differ_in_case() {
        let top = tempfile::tempdir().unwrap();
        let at = |path: &str| top.path().join(path);
        std::fs::create_dir_all(at("scenes/Maps")).unwrap();
        std::fs::write(at("scenes/Maps/Wood.PNG"), b"wood").unwrap();
        std::fs::write(at("scenes/two.png"), b"2").unwrap();
        std::fs::write(at("scenes/TWO.png"), b"22").unwrap();
        std::fs::write(at("Shared.bin"), b"bin").unwrap();
        let document = at("scenes/a.gltf");
        std::fs::write(&document, b"").unwrap();
        let alone = Folder::of(&document);
        let files = Files::new(&alone);
        let found = files.fetch("maps/wood.png").unwrap();
        assert_eq!((found.bytes.as_ref(), found.odd.is_some()), (b"wood".as_slice(), true));
        // An exact name needs no remark; two names of other cases are ambiguous.
        assert!(files.fetch("two.png").unwrap().odd.is_none());
        assert!(files.fetch("Two.png").is_err());
        assert!(files.fetch("maps/none.png").is_err());
        // The root holds here as for other names.
        assert!(files.fetch("../shared.bin").is_err());
        let within = Folder::within(&document, top.path()).unwrap();
        assert_eq!(Files::new(&within).fetch("../shared.bin").unwrap().bytes.as_ref(), b"bin");
    }

    #[test]
    fn a_root_is_never_left() {
        let top = tempfile::tempdir().unwrap();
        let at = |path: &str| top.path().join(path);
        std::fs::create_dir_all(at("project/scenes/deep")).unwrap();
        std::fs::create_dir_all(at("project/textures")).unwrap();
        std::fs::write(at("project/textures/a.png"), b"in").unwrap();
        std::fs::write(at("outside.png"), b"out").unwrap();
        std::fs::write(at("project/scenes/a.gltf"), b"").unwrap();
        let document = at("project/scenes/a.gltf");
        let read = |folder: &Folder, path: &str| folder.read(path, 100);
        let alone = Folder::of(&document);
        assert!(read(&alone, "../textures/a.png").unwrap_err().contains("--root DIR"));
        let inside = Folder::within(&document, &at("project")).unwrap();
        assert_eq!(read(&inside, "../textures/a.png").unwrap(), b"in");
        for beyond in ["../../outside.png", "../../../outside.png", "../../project/textures/a.png"]
        {
            assert!(read(&inside, beyond).unwrap_err().contains("--root DIR"), "{beyond}");
        }
        assert_eq!(
            read(&Folder::within(&document, top.path()).unwrap(), "../../outside.png").unwrap(),
            b"out"
        );
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("../../outside.png", at("project/scenes/out.png")).unwrap();
            std::os::unix::fs::symlink("../textures/a.png", at("project/scenes/in.png")).unwrap();
            assert_eq!(read(&inside, "in.png").unwrap(), b"in");
            for (folder, link) in [(&inside, "out.png"), (&alone, "out.png"), (&alone, "in.png")] {
                let error = read(folder, link).unwrap_err();
                assert!(error.contains("a link to a place outside"), "{error}");
            }
        }
        for wrong in ["project/textures", "project/scenes/deep", "none", "outside.png"] {
            assert!(Folder::within(&document, &at(wrong)).is_err(), "{wrong}");
        }
        assert!(
            contains(&at("project"), &document) && !contains(&at("project/textures"), &document)
        );
    }
}
