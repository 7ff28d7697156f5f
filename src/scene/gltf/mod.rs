//! Import of glTF 2.0 and GLB files: the only module that reads untrusted bytes.
//!
//! No input makes it panic, hang or allocate without bound. A file passes three stages: the
//! container (`glb`), the shape of the document (`schema`) with the rules between its parts
//! (`validate`), and the conversion. A violation of the specification is repaired and noted with
//! its place if the file can still be shown sensibly. Otherwise the file is rejected with one line:
//! place, error and remedy.

mod accessor;
mod animation;
mod basis;
mod blocks;
mod convert;
mod draco;
mod external;
mod files;
mod geometry;
mod glb;
mod ies;
mod images;
mod instancing;
mod json;
mod ktx2;
mod limits;
mod lobes;
mod meshopt;
mod report;
mod schema;
mod uri;
mod validate;
mod variants;
mod visibility;
mod volumes;
mod water;

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

pub use external::ExternalFile;
pub use files::{Folder, NoFiles, Resolver, contains, ups};
pub use limits::{
    MAX_CHECKED_BYTES, MAX_DECODED_BYTES, MAX_FILE_BYTES, MAX_IMAGE_ALLOCATION, MAX_IMAGE_SIZE,
    MAX_INSTANCED_TRIANGLES, MAX_JSON_BYTES, MAX_JSON_VALUES, MAX_NODES, MAX_PIXEL_BYTES,
    MAX_ZERO_ELEMENTS,
};
use serde_json::Value;

use self::{
    accessor::{Bytes, ReadError, Store},
    files::{Failure, Files},
    geometry::TooLarge,
    json::items,
    report::{At, ImportReport, one_line},
};
use super::Scene;

/// Supported extensions.
const SUPPORTED: &[&str] = &[
    "EXT_lights_ies",
    "EXT_mesh_gpu_instancing",
    "EXT_meshopt_compression",
    "EXT_texture_webp",
    "KHR_animation_pointer",
    "KHR_draco_mesh_compression",
    "KHR_lights_punctual",
    "KHR_materials_anisotropy",
    "KHR_materials_clearcoat",
    "KHR_materials_diffuse_transmission",
    "KHR_materials_dispersion",
    "KHR_materials_emissive_strength",
    "KHR_materials_ior",
    "KHR_materials_iridescence",
    "KHR_materials_sheen",
    "KHR_materials_specular",
    "KHR_materials_transmission",
    "KHR_materials_unlit",
    "KHR_materials_variants",
    "KHR_materials_volume",
    "KHR_mesh_quantization",
    "KHR_meshopt_compression",
    "KHR_node_visibility",
    "KHR_texture_basisu",
    "KHR_texture_transform",
];

/// An import error. Its text is one line: file, place, error and remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// The file does not exist.
    #[error(
        "{file}: not found; check the path{}",
        alternative.as_ref().map(|name| format!(", or write {name}")).unwrap_or_default()
    )]
    NotFound {
        /// The file.
        file: String,
        /// Another name that the caller may have meant.
        alternative: Option<String>,
    },
    /// The operating system does not allow reading the file.
    #[error("{file}: cannot be read: {reason}; check the path and its permissions")]
    Unreadable {
        /// The file.
        file: String,
        /// Message of the system.
        reason: String,
    },
    /// The file is not glTF 2.0.
    #[error("{file}: not a glTF 2.0 file: {what}")]
    NotGltf {
        /// The file.
        file: String,
        /// Detected format and remedy.
        what: String,
    },
    /// The file is truncated.
    #[error("{file}: byte {offset}: the file ends within {what}; copy or export it again")]
    Truncated {
        /// The file.
        file: String,
        /// Byte offset of the end.
        offset: usize,
        /// The part that is incomplete.
        what: String,
    },
    /// The document is not JSON.
    #[error("{file}: byte {offset}: JSON syntax: {message}; export it again")]
    Json {
        /// The file.
        file: String,
        /// Byte offset of the error.
        offset: usize,
        /// Error of the parser.
        message: String,
    },
    /// The file violates the specification and cannot be shown sensibly.
    #[error("{file}: {place}: {message}{}", more_text(*.more))]
    Violation {
        /// The file.
        file: String,
        /// A JSON pointer or a byte offset.
        place: String,
        /// Error and remedy.
        message: String,
        /// Number of further errors.
        more: usize,
    },
    /// The file requires an unsupported extension.
    #[error("{file}: /extensionsRequired: needs {name}, which is not supported{}; export without it", more_text(*.more))]
    UnsupportedExtension {
        /// The file.
        file: String,
        /// The extension.
        name: String,
        /// Number of further ones.
        more: usize,
    },
    /// The file exceeds a limit.
    #[error("{file}: too large: {what}; split it or reduce it")]
    TooLarge {
        /// The file.
        file: String,
        /// The quantity, and its limit.
        what: String,
    },
}

fn more_text(more: usize) -> String {
    if more == 0 { String::new() } else { format!(" (and {more} more)") }
}

/// Reads a `.gltf` or `.glb` file, detected by content, with the buffers and images beside it.
///
/// # Errors
///
/// The first error that prevents showing the file, with place and remedy.
pub fn load(path: &Path) -> Result<Scene, ImportError> {
    load_from(path, &Folder::of(path))
}

/// As `load`, with the files beside it from a folder that may be above the document's.
///
/// # Errors
///
/// The first error that prevents showing the file, with place and remedy.
pub fn load_from(path: &Path, folder: &Folder) -> Result<Scene, ImportError> {
    let (file, bytes) = read_document(path)?;
    let mut scene = load_bytes(&file, &bytes, folder)?;
    scene.source = Some(PathBuf::from(path));
    if scene.name.is_empty() {
        scene.name =
            path.file_stem().map(|stem| one_line(&stem.to_string_lossy())).unwrap_or_default();
    }
    Ok(scene)
}

/// Calls `each` with every file that a document refers to, shown or not, once. `resolver` reads
/// them; each may have up to `limit` bytes.
///
/// # Errors
/// [`ImportError`] if the document cannot be read, and the error of `each`.
pub fn external_files<E: From<ImportError>>(
    document: &Path,
    resolver: &dyn Resolver,
    limit: u64,
    each: impl FnMut(ExternalFile) -> Result<(), E>,
) -> Result<(), E> {
    let (file, bytes) = read_document(document)?;
    let (json, _) = container(&file, &bytes, &mut ImportReport::default())?;
    external::visit(&parsed(&file, &json)?, resolver, limit, each)
}

/// The JSON of a document.
fn parsed(file: &str, json: &str) -> Result<Value, ImportError> {
    serde_json::from_str(json).map_err(|error| ImportError::Json {
        file: file.to_owned(),
        offset: json::offset(json.as_bytes(), error.line(), error.column()),
        message: one_line(&error.to_string()),
    })
}

/// Name for messages and bytes of a document.
fn read_document(path: &Path) -> Result<(String, Vec<u8>), ImportError> {
    let file = one_line(&path.display().to_string());
    let bytes = files::read(path, MAX_FILE_BYTES).map_err(|error| match error {
        Failure::NotFound => ImportError::NotFound { file: file.clone(), alternative: None },
        Failure::Unreadable(reason) => ImportError::Unreadable { file: file.clone(), reason },
        Failure::TooLarge => ImportError::TooLarge {
            file: file.clone(),
            what: format!("more than {MAX_FILE_BYTES} bytes"),
        },
    })?;
    Ok((file, bytes))
}

/// Reads a document from memory; `name` is used in messages, `resolver` finds the files that it
/// refers to.
///
/// # Errors
///
/// The first error that prevents showing the file, with place and remedy.
pub fn load_bytes(name: &str, bytes: &[u8], resolver: &dyn Resolver) -> Result<Scene, ImportError> {
    let file = one_line(name);
    let mut report = ImportReport::default();
    let (json, bin) = container(&file, bytes, &mut report)?;
    let values = json::values(json.as_bytes());
    if values > MAX_JSON_VALUES {
        let what = format!("{values} JSON values; expected at most {MAX_JSON_VALUES}");
        return Err(ImportError::TooLarge { file, what });
    }
    let mut root = parsed(&file, &json)?;
    visibility::hide(&mut root, &mut report);
    schema::check(&mut root, &mut report);
    validate::version(&root, &mut report)
        .map_err(|what| ImportError::NotGltf { file: file.clone(), what })?;
    required_extensions(&file, &root, &mut report)?;
    violations(&file, &report)?;
    let files = Files::new(resolver);
    let buffers = buffers(&root, bin, bytes.starts_with(b"glTF"), &files, &mut report);
    let mut store = Store::new(&root, buffers, report.faults().clone());
    meshopt::decompress(&root, &mut store, &mut report);
    draco::decompress(&root, &mut store, &mut report);
    let forest = validate::check(&root, &store, &mut report);
    violations(&file, &report)?;
    store.start_conversion();
    let broken = || ImportError::Violation {
        file: file.clone(),
        place: "/nodes".into(),
        message: "the nodes are not a tree; export the file again".into(),
        more: 0,
    };
    let forest = forest.ok_or_else(broken)?;
    let scene = convert::scene(&root, &store, &files, &forest, &mut report);
    let mut scene =
        scene.map_err(|TooLarge(what)| ImportError::TooLarge { file: file.clone(), what })?;
    violations(&file, &report)?;
    if scene.instanced_triangles() == 0 {
        report.info("/", "the scene shows no triangles");
    }
    scene.notes = report.into_notes();
    Ok(scene)
}

/// The text of the document and the binary chunk, if any.
fn container<'a>(
    file: &str,
    bytes: &'a [u8],
    report: &mut ImportReport,
) -> Result<(Cow<'a, str>, Option<&'a [u8]>), ImportError> {
    let (json, bin, place) = if glb::is_glb(bytes) {
        let container = glb::split(file, bytes, report)?;
        (container.json, container.bin, "the JSON chunk")
    } else {
        (bytes, None, "byte 0")
    };
    if json.len() > MAX_JSON_BYTES {
        let what = format!("{} bytes of JSON; expected at most {MAX_JSON_BYTES}", json.len());
        return Err(ImportError::TooLarge { file: file.into(), what });
    }
    let text = plain_text(json, place, report);
    match text.trim_ascii_start().bytes().next() {
        Some(b'{' | b'[') => Ok((text, bin)),
        None if bytes.is_empty() => Err(ImportError::Truncated {
            file: file.into(),
            offset: 0,
            what: "its first byte".into(),
        }),
        _ if bin.is_some() || glb::is_glb(bytes) => Ok((text, bin)),
        _ => {
            let what =
                "it begins neither with 'glTF' nor with '{'; choose a .gltf or .glb file".into();
            Err(ImportError::NotGltf { file: file.into(), what })
        }
    }
}

/// A document's text (RFC 8259 section 8.1: UTF-8 without a byte order mark). UTF-16, a byte order
/// mark, invalid UTF-8 and trailing zeros are noted.
fn plain_text<'a>(json: &'a [u8], place: &str, report: &mut ImportReport) -> Cow<'a, str> {
    let wide = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes.as_chunks::<2>().0.iter().map(|two| unit(*two)).collect();
        String::from_utf16_lossy(&units)
    };
    let marked = |mark: &[u8]| json.strip_prefix(mark);
    let utf16 = if let Some(rest) = marked(&[0xff, 0xfe]) {
        Some(wide(rest, u16::from_le_bytes))
    } else if let Some(rest) = marked(&[0xfe, 0xff]) {
        Some(wide(rest, u16::from_be_bytes))
    } else if json.starts_with(b"{\0") {
        Some(wide(json, u16::from_le_bytes))
    } else if json.starts_with(b"\0{") {
        Some(wide(json, u16::from_be_bytes))
    } else {
        None
    };
    if let Some(mut text) = utf16 {
        report.repair(place, "UTF-16, while glTF is UTF-8; read anyway");
        text.truncate(text.trim_end_matches('\0').len());
        return Cow::Owned(text);
    }
    let mut rest = json;
    if let Some(plain) = marked(b"\xef\xbb\xbf") {
        report.repair(place, "a byte order mark, which JSON does not allow; ignored");
        rest = plain;
    }
    let last = rest.iter().rposition(|byte| *byte != 0 && !byte.is_ascii_whitespace());
    let padding = last.and_then(|last| rest.get(last + 1..)).unwrap_or_default();
    let zeros = padding.iter().filter(|byte| **byte == 0).count();
    if zeros > 0 {
        report.repair(
            place,
            format!("{zeros} zero bytes after the JSON, which spaces should pad; ignored"),
        );
        rest = rest.get(..rest.len() - padding.len()).unwrap_or(rest);
    }
    let text = String::from_utf8_lossy(rest);
    if matches!(text, Cow::Owned(_)) {
        report.repair(place, "bytes that are not UTF-8; each is read as U+FFFD");
    }
    text
}

fn violations(file: &str, report: &ImportReport) -> Result<(), ImportError> {
    match report.first_error() {
        Some((place, message, more)) => Err(ImportError::Violation {
            file: file.into(),
            place: place.into(),
            message: message.into(),
            more,
        }),
        None => Ok(()),
    }
}

/// Rejects unsupported required extensions, unless nothing shown uses them, and notes unsupported
/// optional ones.
fn required_extensions(
    file: &str,
    root: &Value,
    report: &mut ImportReport,
) -> Result<(), ImportError> {
    let names = |key: &str| {
        items(root, key).iter().filter_map(Value::as_str).filter(|name| !SUPPORTED.contains(name))
    };
    let missing: Vec<&str> = names("extensionsRequired").collect();
    if !missing.is_empty() {
        let shown = schema::shown(root);
        let (needed, spare): (Vec<&str>, Vec<&str>) =
            missing.into_iter().partition(|name| shown.extensions.contains(*name));
        if let Some(name) = needed.first() {
            let more = needed.len() - 1;
            return Err(ImportError::UnsupportedExtension {
                file: file.into(),
                name: one_line(name),
                more,
            });
        }
        for name in spare {
            let name = one_line(name);
            report.unsupported(
                "/extensionsRequired",
                format!("{name}: unused by the shown scene; ignored"),
            );
        }
    }
    for name in names("extensionsUsed") {
        let what = match name {
            "KHR_materials_pbrSpecularGlossiness" => {
                "the material's metallic/roughness values are used"
            }
            "MSFT_texture_dds" => "the PNG or JPEG image is used if there is one",
            _ => "ignored",
        };
        report.unsupported("/extensionsUsed", format!("{}: {what}", one_line(name)));
    }
    Ok(())
}

/// The bytes of all buffers. An unavailable one is noted, and becomes an error only if it is
/// needed.
fn buffers<'a>(
    root: &Value,
    bin: Option<&'a [u8]>,
    glb: bool,
    files: &Files<'_>,
    report: &mut ImportReport,
) -> Vec<Result<Bytes<'a>, ReadError>> {
    let at = At::ROOT;
    let place = at.key("buffers");
    let mut out = Vec::new();
    for (i, buffer) in items(root, "buffers").iter().enumerate() {
        let at = place.index(i);
        let length = json::index(buffer, "byteLength").unwrap_or(0);
        let fault = report.fault(at).map(|problem| ReadError::Broken(format!("{at}: {problem}")));
        let bytes = match buffer.get("uri").and_then(Value::as_str) {
            None if fault.is_some() => {
                Err(fault.unwrap_or_else(|| ReadError::Broken(String::new())))
            }
            None if i == 0 && glb => match bin {
                Some(bin) => Ok(Bytes::Borrowed(bin)),
                None => {
                    report.repair(at, "the file has no binary chunk for this buffer");
                    Err(ReadError::Broken(format!(
                        "buffer {i}: the file has no binary chunk for it"
                    )))
                }
            },
            None => Err(ReadError::Absent(format!(
                "buffer {i} has no uri, so its data must come from elsewhere"
            ))),
            Some(uri) => match files.fetch(uri) {
                Ok(fetched) => {
                    let known = ["application/octet-stream", "application/gltf-buffer"];
                    if let Some(mime) = fetched.mime.as_deref().filter(|mime| !known.contains(mime))
                    {
                        report.repair(
                            at.key("uri"),
                            format!("a data URI of the type '{}'", one_line(mime)),
                        );
                    }
                    fetched.warn(at.key("uri"), report);
                    Ok(Bytes::Shared(fetched.bytes))
                }
                Err(problem) => {
                    report.repair(at.key("uri"), format!("{problem}; what needs it is left out"));
                    Err(ReadError::Broken(format!("buffer {i} has no data: {problem}")))
                }
            },
        };
        if let Ok(bytes) = &bytes
            && bytes.get().len() < length
        {
            report.repair(
                at,
                format!("{length} bytes are stated, {} are present", bytes.get().len()),
            );
        }
        out.push(bytes);
    }
    out
}

#[cfg(test)]
mod tests;
