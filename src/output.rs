//! Image files: PNG for displays, 32-bit float EXR with named layers in nits. Writes are atomic.

use std::{
    ffi::OsStr,
    fs::{self, File, OpenOptions},
    io::{BufWriter, ErrorKind, Write},
    path::{Path, PathBuf},
};

use exr::{meta::attribute::AttributeValue, prelude as ex};
use tempfile::NamedTempFile;

use crate::image_io::{
    RenderMetadata,
    coded_image::{self, PngOptions},
    render_metadata,
};

/// An output file that cannot be written. No partial file is left behind.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {file}: {detail}")]
pub struct OutputError {
    /// The path of the file.
    pub file: String,
    /// Cause and remedy.
    pub detail: String,
}

/// Maximum length of a file name in bytes on Linux file systems (NAME_MAX of limits.h).
const NAME_MAX: usize = 255;

/// Maximum number of symbolic links followed in a row, as in the kernel (MAXSYMLINKS,
/// path_resolution(7)).
const MAX_LINKS: usize = 40;

/// End of the names of temporary files, which `.gitignore` lists.
const TEMPORARY_SUFFIX: &str = ".tmp";

/// True if the file name has the extension `ending`, in any case.
#[must_use]
pub fn has_extension(file: &Path, ending: &str) -> bool {
    file.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending))
}

/// The path with another extension: `a.png` and `normal.png` give `a.normal.png`. A stem that
/// exceeds the file system's limit is shortened and ends in a hash of the whole name, which keeps
/// names with the same beginning distinct.
#[must_use]
pub fn replace_extension(file: &Path, ending: &str) -> PathBuf {
    with_shortened_stem(file, file.file_stem(), &format!(".{ending}"))
}

/// The path with a suffix after the whole file name, shortened as by `replace_extension`: `a.png`
/// gives `a.png.resume`.
#[must_use]
pub fn with_suffix(file: &Path, suffix: &str) -> PathBuf {
    with_shortened_stem(file, file.file_name(), suffix)
}

fn with_shortened_stem(file: &Path, stem: Option<&OsStr>, suffix: &str) -> PathBuf {
    let mut name = stem.unwrap_or_default().to_os_string();
    if name.len() + suffix.len() > NAME_MAX {
        // FNV-1a, 64 bits: stable across runs and builds.
        let hash = name.as_encoded_bytes().iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let mut text = name.to_string_lossy().into_owned();
        let room = NAME_MAX.saturating_sub(suffix.len() + 1 + 16);
        text.truncate(text.floor_char_boundary(room));
        name = format!("{text}~{hash:016x}").into();
    }
    name.push(suffix);
    file.with_file_name(name)
}

/// The target of symbolic links, which may not exist yet. `None` for an open file of a process,
/// such as `/dev/stdout`, which cannot be replaced.
fn resolve_symlinks(target: &Path) -> std::io::Result<Option<PathBuf>> {
    let mut place = target.to_path_buf();
    for _ in 0..MAX_LINKS {
        if place.starts_with("/proc") || place.starts_with("/dev/fd") {
            return Ok(None);
        }
        // Not a link, or absent: this is the target.
        let Ok(to) = fs::read_link(&place) else { return Ok(Some(place)) };
        place = place.parent().unwrap_or(Path::new("")).join(to);
    }
    Err(std::io::Error::other("its symbolic links form a cycle"))
}

fn write_error(target: &Path, detail: impl std::fmt::Display) -> OutputError {
    let detail = format!("{detail}; choose another path");
    OutputError { file: target.display().to_string(), detail }
}

fn io_error(target: &Path, error: &std::io::Error) -> OutputError {
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    let detail = match folder.filter(|folder| !folder.exists()) {
        Some(folder) if error.kind() == ErrorKind::NotFound => {
            format!(
                "the folder {} does not exist; create it or choose another path",
                folder.display()
            )
        }
        _ => format!("{error}; choose another path or free disk space"),
    };
    OutputError { file: target.display().to_string(), detail }
}

/// Metadata of the existing target; `None` if it does not exist.
fn target_metadata(target: &Path) -> Result<Option<fs::Metadata>, OutputError> {
    let is_folder = |name: &OsStr| name.as_encoded_bytes().ends_with(b"/");
    if target.file_name().is_none() || is_folder(target.as_os_str()) {
        return Err(write_error(target, "the path has no file name"));
    }
    match fs::metadata(target) {
        Ok(there) if there.is_dir() => Err(write_error(target, "it is a directory")),
        Ok(there) => Ok(Some(there)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        // A name that is too long, a folder without permission, or a cycle of links.
        Err(error) => Err(io_error(target, &error)),
    }
}

/// A file being written.
enum Draft {
    /// A device, a pipe or an open file (`/dev/stdout`), written in place.
    Stream(File),
    /// A temporary file, which is renamed when it is complete and removed otherwise, and the final
    /// path, with symbolic links followed.
    Temporary(NamedTempFile, PathBuf),
}

impl Draft {
    fn new(target: &Path) -> Result<Self, OutputError> {
        let oops = |error: std::io::Error| io_error(target, &error);
        let there = target_metadata(target)?;
        let is_stream = there.as_ref().is_some_and(|there| !there.is_file());
        let place = if is_stream { None } else { resolve_symlinks(target).map_err(oops)? };
        let Some(place) = place else {
            // Appends: the existing content of an open file stays.
            return OpenOptions::new().append(true).open(target).map(Self::Stream).map_err(oops);
        };
        if there.is_some() {
            // A rename would replace a write-protected file.
            OpenOptions::new().write(true).open(target).map_err(oops)?;
        }
        // A short name, because the target's own may already have the maximum length. Created
        // here, so that it has the permissions of other new files.
        let folder = place.parent().unwrap_or(Path::new(""));
        let file = tempfile::Builder::new()
            .prefix(".")
            .suffix(TEMPORARY_SUFFIX)
            .make_in(folder, |temporary| File::create_new(temporary))
            .map_err(oops)?;
        if let Some(there) = there {
            // If the permissions cannot be copied, the new file keeps its defaults.
            let _ = file.as_file().set_permissions(there.permissions());
        }
        Ok(Self::Temporary(file, place))
    }
}

/// Checks that a file can be created, before the rendering starts.
///
/// # Errors
/// [`OutputError`] if the path cannot be written.
pub fn check_writable(file: &Path) -> Result<(), OutputError> {
    if target_metadata(file)?.is_some_and(|there| !there.is_file()) {
        // Opening a pipe would block until a reader opens it.
        return Ok(());
    }
    Draft::new(file).map(drop)
}

/// Creates the folder of a file, with its parents.
///
/// # Errors
/// [`OutputError`] if it cannot be created.
pub fn create_folder(file: &Path) -> Result<(), OutputError> {
    let Some(folder) = file.parent() else { return Ok(()) };
    fs::create_dir_all(folder).map_err(|error| write_error(file, error))
}

/// Writes a text file atomically.
///
/// # Errors
/// [`OutputError`] if the path cannot be written.
pub fn write_text(file: &Path, text: &str) -> Result<(), OutputError> {
    write_with(file, |writer| writer.write_all(text.as_bytes()))
}

/// Appends a line to a text file, which is created if it is absent. The line is written at once, so
/// that lines of several programs do not mix.
///
/// # Errors
/// [`OutputError`] if the path cannot be written.
pub fn append_line(file: &Path, line: &str) -> Result<(), OutputError> {
    let append = || {
        let mut to = OpenOptions::new().create(true).append(true).open(file)?;
        to.write_all(format!("{line}\n").as_bytes())
    };
    append().map_err(|error| io_error(file, &error))
}

/// Writes a file atomically, from a function that writes its bytes in order.
///
/// # Errors
/// [`OutputError`] if the path cannot be written.
pub fn write_with(
    file: &Path,
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<(), OutputError> {
    let fill = |to: &File| {
        let mut writer = BufWriter::new(to);
        write(&mut writer)?;
        writer.flush()
    };
    let written = match Draft::new(file)? {
        Draft::Stream(stream) => fill(&stream),
        // A full disk may be reported only by the synchronization; devices do not support it.
        Draft::Temporary(draft, place) => fill(draft.as_file())
            .and_then(|()| draft.as_file().sync_all())
            .and_then(|()| draft.persist(place).map(drop).map_err(|error| error.error)),
    };
    written.map_err(|error| io_error(file, &error))
}

/// Writes display-encoded RGBA bytes as an sRGB PNG without alpha. Color-managed programs guess the
/// color space of a PNG without the sRGB chunk.
///
/// # Errors
/// [`OutputError`] if the path cannot be written.
pub fn write_png(file: &Path, width: usize, height: usize, rgba: &[u8]) -> Result<(), OutputError> {
    write_png_with(file, [width, height], rgba, None)
}

/// As [`write_png`], with a text chunk that says how the picture was rendered.
///
/// # Errors
/// [`OutputError`] if the path cannot be written.
pub fn write_png_with(
    file: &Path,
    [width, height]: [usize; 2],
    rgba: &[u8],
    metadata: Option<&RenderMetadata>,
) -> Result<(), OutputError> {
    let options = PngOptions {
        compression: png::Compression::Fast,
        filter: png::Filter::Up,
        is_srgb: true,
        is_opaque: true,
    };
    let text = metadata.map(RenderMetadata::to_text);
    let text = text.as_deref().map(|text| (render_metadata::NAME, text));
    write_with(file, |writer| {
        let size = [width as u32, height as u32];
        coded_image::write_png_with_text(writer, size, rgba, options, text)
    })
}

/// A named group of float channels of an EXR.
pub struct ExrLayer<'a> {
    /// The layer's name; empty for the main image.
    pub name: &'a str,
    /// Names of the channels, such as R, G, B.
    pub channels: &'a [&'a str],
    /// Four floats per pixel, of which the first `channels.len()` are written.
    pub pixels: &'a [[f32; 4]],
}

/// Writes layers as one 32-bit float EXR, with channel names `layer.channel`, as compositors
/// expect.
///
/// `white_luminance` is stored as the attribute of that name: the nits of a channel value of 1.
///
/// # Errors
/// [`OutputError`] if the path cannot be written.
pub fn write_exr(
    file: &Path,
    width: usize,
    height: usize,
    white_luminance: f32,
    layers: &[ExrLayer<'_>],
) -> Result<(), OutputError> {
    write_exr_with(file, [width, height], white_luminance, layers, None)
}

/// As [`write_exr`], with an attribute that says how the picture was rendered.
///
/// # Errors
/// [`OutputError`] if the path cannot be written.
pub fn write_exr_with(
    file: &Path,
    [width, height]: [usize; 2],
    white_luminance: f32,
    layers: &[ExrLayer<'_>],
    metadata: Option<&RenderMetadata>,
) -> Result<(), OutputError> {
    let mut list = ex::SmallVec::<[ex::AnyChannel<ex::FlatSamples>; 4]>::new();
    for layer in layers {
        for (index, channel) in layer.channels.iter().enumerate() {
            let name = if layer.name.is_empty() {
                (*channel).to_string()
            } else {
                format!("{}.{channel}", layer.name)
            };
            let samples: Vec<f32> = layer.pixels.iter().map(|pixel| pixel[index]).collect();
            list.push(ex::AnyChannel::new(name.as_str(), ex::FlatSamples::F32(samples)));
        }
    }
    // One attribute, so that equal pictures give equal files: the order of several is random.
    let other = metadata.map(|metadata| {
        let value = AttributeValue::Text(ex::Text::from(metadata.to_text().as_str()));
        (ex::Text::from(render_metadata::NAME), value)
    });
    let attributes = ex::LayerAttributes {
        other: other.into_iter().collect(),
        software_name: Some("sunny16".into()),
        white_luminance: Some(white_luminance),
        ..Default::default()
    };
    let layer = ex::Layer::new(
        ex::Vec2(width, height),
        attributes,
        ex::Encoding::FAST_LOSSLESS,
        ex::AnyChannels::sort(list),
    );
    let mut bytes = std::io::Cursor::new(Vec::new());
    ex::WritableImage::write(&ex::Image::from_layer(layer))
        .non_parallel()
        .to_buffered(&mut bytes)
        .map_err(|error| write_error(file, error))?;
    write_with(file, |writer| writer.write_all(bytes.get_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unwritable_place_is_named_and_nothing_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let error = write_png(&dir.path().join("no/where.png"), 1, 1, &[0; 4]).unwrap_err();
        assert!(error.to_string().contains("where.png: the folder "), "{error}");
        assert!(error.to_string().contains("/no does not exist; create it"), "{error}");
        let error = write_png(dir.path(), 1, 1, &[0; 4]).unwrap_err();
        assert!(error.to_string().contains("directory"));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    /// File names in a folder, sorted.
    fn names(dir: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn names_go_up_to_the_file_systems_limit() {
        let dir = tempfile::tempdir().unwrap();
        // 255 bytes of ASCII, and of two-byte letters; one more is rejected before rendering.
        for stem in ["n".repeat(251), "\u{e4}".repeat(125) + "n"] {
            let file = dir.path().join(stem.clone() + ".png");
            check_writable(&file).unwrap();
            write_text(&file, "x").unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), "x");
            let longer = dir.path().join(stem + "n.png");
            assert!(check_writable(&longer).unwrap_err().to_string().contains("too long"));
            for beside in
                [replace_extension(&file, "direct_specular.png"), with_suffix(&file, ".resume")]
            {
                assert!(beside.file_name().unwrap().len() <= NAME_MAX);
                write_text(&beside, "y").unwrap();
            }
        }
        assert_eq!(
            names(dir.path()).len(),
            6,
            "names with the same beginning stay distinct, and no temporary file is left"
        );
        let stems = ["n".repeat(250) + "1.png", "n".repeat(250) + "2.png"];
        let [a, b] = stems.map(|stem| replace_extension(Path::new(&stem), "normal.png"));
        assert_ne!(a, b);
        assert_eq!(
            replace_extension(Path::new("x/a.b.PNG"), "normal.png"),
            Path::new("x/a.b.normal.png")
        );
        assert_eq!(with_suffix(Path::new("x/a.png"), ".resume"), Path::new("x/a.png.resume"));
    }

    #[test]
    fn a_draft_is_beside_its_target_with_the_rights_of_a_new_file() {
        let dir = tempfile::tempdir().unwrap();
        let (plain, target) = (dir.path().join("plain"), dir.path().join("a.txt"));
        fs::write(&plain, "").unwrap();
        write_with(&target, |_| {
            let drafts: Vec<String> =
                names(dir.path()).into_iter().filter(|name| name != "plain").collect();
            assert!(matches!(&drafts[..], [draft] if draft.ends_with(TEMPORARY_SUFFIX)));
            Ok(())
        })
        .unwrap();
        let rights = |file: &Path| fs::metadata(file).unwrap().permissions();
        assert_eq!(rights(&target), rights(&plain));
        let failed = write_with(&target, |writer| {
            writer.write_all(b"half")?;
            Err(ErrorKind::StorageFull.into())
        });
        assert!(failed.is_err() && fs::read(&target).unwrap().is_empty());
        assert_eq!(names(dir.path()), ["a.txt", "plain"]);
    }

    #[cfg(unix)]
    #[test]
    fn symbolic_links_are_written_through() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir(at("other")).unwrap();
        write_text(&at("other/real.txt"), "old").unwrap();
        symlink("other/real.txt", at("link")).unwrap();
        symlink("link", at("twice")).unwrap();
        symlink(at("other/new.txt"), at("dangling")).unwrap();
        symlink("other", at("folder")).unwrap();
        symlink("circle2", at("circle")).unwrap();
        symlink("circle", at("circle2")).unwrap();
        symlink("gone/new.txt", at("nowhere")).unwrap();
        for (link, real) in
            [("link", "other/real.txt"), ("twice", "other/real.txt"), ("dangling", "other/new.txt")]
        {
            check_writable(&at(link)).unwrap();
            write_text(&at(link), link).unwrap();
            assert_eq!(fs::read_to_string(at(real)).unwrap(), link);
            assert!(fs::symlink_metadata(at(link)).unwrap().is_symlink(), "{link} stays a link");
        }
        write_text(&at("folder/in.txt"), "in").unwrap();
        assert_eq!(fs::read_to_string(at("other/in.txt")).unwrap(), "in");
        for bad in ["folder", "circle", "nowhere", "folder/", "new/"] {
            let before = names(dir.path());
            check_writable(&at(bad)).unwrap_err();
            write_text(&at(bad), "x").unwrap_err();
            assert_eq!(names(dir.path()), before, "{bad}");
        }
        assert_eq!(
            names(&at("other")),
            ["in.txt", "new.txt", "real.txt"],
            "no temporary file is left"
        );
    }

    #[cfg(unix)]
    #[test]
    fn devices_are_written_to_and_permissions_kept() {
        use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("null.png");
        symlink("/dev/null", &link).unwrap();
        check_writable(&link).unwrap();
        write_png(&link, 1, 1, &[0; 4]).unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
        let file = dir.path().join("a.txt");
        write_text(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        write_text(&file, "new").unwrap();
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        // An open file of this process keeps its content, like standard output.
        let open = File::options().append(true).open(&file).unwrap();
        let by_number = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&open));
        if Path::new(&by_number).exists() {
            check_writable(Path::new(&by_number)).unwrap();
            write_text(Path::new(&by_number), " and more").unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), "new and more");
        }
        fs::set_permissions(&file, fs::Permissions::from_mode(0o440)).unwrap();
        // The superuser may write to anything.
        let may = OpenOptions::new().write(true).open(&file).is_ok();
        assert_eq!(check_writable(&file).is_ok(), may);
        assert_eq!(write_text(&file, "newest").is_ok(), may);
    }

    #[test]
    fn endings_have_no_case() {
        for (name, png) in [
            ("a.png", true),
            ("A.PNG", true),
            ("a.Png", true),
            ("png", false),
            ("a.png.txt", false),
        ] {
            assert_eq!(has_extension(Path::new(name), "png"), png, "{name}");
        }
    }

    #[test]
    fn an_exr_comes_back_bit_for_bit() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.exr");
        let pixels = [[1.0, 2.5, 5729.578, 0.0], [1e-3, 1.4702e9, 0.1, 0.0]];
        let layers = [
            ExrLayer { name: "", channels: &["R", "G", "B"], pixels: &pixels },
            ExrLayer { name: "depth", channels: &["Z"], pixels: &pixels },
        ];
        write_exr(&file, 2, 1, 1.0, &layers).unwrap();
        let image = exr::prelude::read_first_flat_layer_from_file(&file).unwrap();
        let channel = |name: &str| {
            let channel = image
                .layer_data
                .channel_data
                .list
                .iter()
                .find(|c| c.name.to_string() == name)
                .unwrap();
            channel.sample_data.values_as_f32().collect::<Vec<_>>()
        };
        assert_eq!(channel("B"), [5729.578, 0.1]);
        assert_eq!(channel("G"), [2.5, 1.4702e9]);
        assert_eq!(channel("depth.Z"), [1.0, 1e-3]);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file is left");
    }
}
