//! Texts of messages that all layers share, and the reading of input files with them.

use std::{
    fs::{self, File},
    io::{ErrorKind, Read as _},
    path::Path,
};

/// A count with its noun, which is given in the singular: `1 light`, `2 lights`, `2 meshes`.
#[must_use]
pub fn counted(count: usize, noun: &str) -> String {
    let ending = match noun {
        _ if count == 1 => "",
        "mesh" => "es",
        _ => "s",
    };
    format!("{count} {noun}{ending}")
}

/// Text of an input file that cannot be opened or read, without its name.
#[must_use]
pub fn unreadable(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "not found; check the path".into(),
        _ => format!("cannot be read: {error}; check the path and its permissions"),
    }
}

/// Reads a regular file of at most `limit` bytes; `expected` names the kind of file, with its
/// article.
///
/// # Errors
/// One line without the file's name: what is wrong with it, and the remedy.
pub fn read_file(path: &Path, limit: u64, expected: &str) -> Result<Vec<u8>, String> {
    // Before the file is opened: opening a pipe would block until a writer opens it.
    if !fs::metadata(path).map_err(|error| unreadable(&error))?.is_file() {
        return Err(format!("not a regular file; expected {expected}"));
    }
    read_input(path, limit, expected)
}

/// As [`read_file`], but also reads pipes, such as those of a shell's `<(command)`.
///
/// # Errors
/// As [`read_file`].
pub fn read_input(path: &Path, limit: u64, expected: &str) -> Result<Vec<u8>, String> {
    let file = File::open(path).map_err(|error| unreadable(&error))?;
    let metadata = file.metadata().map_err(|error| unreadable(&error))?;
    if metadata.is_dir() {
        return Err(format!("it is a directory; expected {expected}"));
    }
    let mut bytes = Vec::new();
    // Reads one byte more than allowed, since the file may grow while it is read.
    let length = if metadata.len() > limit {
        metadata.len()
    } else {
        file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| unreadable(&error))? as u64
    };
    if length > limit {
        return Err(format!(
            "{length} bytes exceed the limit of {limit} for {expected}; reduce it"
        ));
    }
    Ok(bytes)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_singular() {
        let texts = [0, 1, 2].map(|count| counted(count, "light"));
        assert_eq!(texts, ["0 lights", "1 light", "2 lights"]);
        assert_eq!(counted(3, "mesh"), "3 meshes");
    }

    #[test]
    fn unusable_files_are_explained() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.ies");
        let read = |limit| read_file(&file, limit, "a photometric file");
        assert_eq!(read(9).unwrap_err(), "not found; check the path");
        fs::write(&file, "12345").unwrap();
        assert_eq!(read(5).unwrap(), b"12345");
        assert!(read(4).unwrap_err().contains("5 bytes exceed the limit of 4"));
        let folder = read_file(dir.path(), 9, "a photometric file").unwrap_err();
        assert_eq!(folder, "not a regular file; expected a photometric file");
    }

    #[cfg(unix)]
    #[test]
    fn pipes_are_read_where_they_are_allowed() {
        use std::{io::Write as _, os::fd::AsRawFd as _, path::PathBuf};
        let (reader, mut writer) = std::io::pipe().unwrap();
        writer.write_all(b"12345").unwrap();
        drop(writer);
        let path = PathBuf::from(format!("/proc/self/fd/{}", reader.as_raw_fd()));
        if path.exists() {
            let refused = read_file(&path, 9, "a photometric file").unwrap_err();
            assert_eq!(refused, "not a regular file; expected a photometric file");
            assert_eq!(read_input(&path, 9, "a look file").unwrap(), b"12345");
        }
        let folder = read_input(Path::new("/"), 9, "a look file").unwrap_err();
        assert_eq!(folder, "it is a directory; expected a look file");
    }
}
