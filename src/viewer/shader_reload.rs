//! Recompiles shaders while the window is open, with the build script that compiled the program.
//! Only a program in the folder of its build does so: an installed one runs no file of another
//! folder.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicU64, Ordering},
    time::SystemTime,
};

use crate::gpu::shader::{Replacement, Shader};

/// Maximum lines of a compiler error that are shown.
const LINES: usize = 8;

/// Maximum number of entries of `shaders/` that are checked, nested folders included.
const MAX_FILES: usize = 10_000;

/// Shader sources and their compiler.
#[derive(Clone, Debug)]
pub struct ShaderSources {
    compiler: PathBuf,
    /// Compiled modules by the hashes of their sources: of the build and of earlier changes.
    cache: PathBuf,
    /// The folder that holds `shaders/`.
    folder: PathBuf,
}

impl ShaderSources {
    /// The sources of this program, if it is in the folder of its build and they still exist.
    #[must_use]
    pub fn of_build() -> Option<Self> {
        let program = std::env::current_exe().ok()?;
        is_in_build(&program, Path::new(env!("SUNNY16_SHADER_COMPILER"))).then_some(())?;
        Self::below(Path::new(env!("CARGO_MANIFEST_DIR")))
    }

    /// The sources below another folder, compiled as this program's are.
    #[must_use]
    pub fn below(folder: &Path) -> Option<Self> {
        let [compiler, cache] =
            [env!("SUNNY16_SHADER_COMPILER"), env!("SUNNY16_SHADER_CACHE")].map(PathBuf::from);
        let found = compiler.is_file() && cache.is_dir() && folder.join("shaders/passes").is_dir();
        found.then(|| Self { compiler, cache, folder: folder.into() })
    }

    /// Latest modification time of the sources.
    #[must_use]
    pub fn written(&self) -> Option<SystemTime> {
        let mut newest = None;
        let mut folders = vec![self.folder.join("shaders")];
        let mut left = MAX_FILES;
        while let Some(folder) = folders.pop() {
            // An unreadable folder is checked again next time.
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                left = left.checked_sub(1)?;
                let Ok(known) = entry.metadata() else { continue };
                if known.is_dir() {
                    folders.push(entry.path());
                } else {
                    newest = newest.max(known.modified().ok());
                }
            }
        }
        newest
    }

    /// Compiles shaders that differ from the build, and checks their interface against the
    /// program's.
    ///
    /// # Errors
    /// Compiler errors with file and line; a shader with another interface than the program has.
    pub fn compile(&self) -> Result<Vec<Replacement>, String> {
        let scratch = Scratch::new()?;
        let done = Command::new(&self.compiler)
            .current_dir(&self.folder)
            .env("OUT_DIR", &scratch.0)
            .env("SUNNY16_SHADER_CACHE", &self.cache)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .output()
            .map_err(|error| format!("{}: {error}", self.compiler.display()))?;
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr);
            let lines: Vec<&str> =
                said.lines().filter(|line| !line.trim().is_empty()).take(LINES).collect();
            return Err(format!(
                "shader compilation failed; keeping the previous shaders\n{}",
                lines.join("\n")
            ));
        }
        let mut changed = Vec::new();
        for shader in Shader::all() {
            let file = scratch.0.join(format!("{}.spv", shader.name));
            let spirv = fs::read(&file).map_err(|error| format!("{}: {error}", shader.name))?;
            if spirv != shader.bytes() {
                changed.push(shader.replaced(&spirv)?);
            }
        }
        Ok(changed)
    }
}

/// True for a program below `target/PROFILE`, with the compiler
/// `target/PROFILE/build/PACKAGE/build-script-build`.
fn is_in_build(program: &Path, compiler: &Path) -> bool {
    compiler.ancestors().nth(3).is_some_and(|profile| program.starts_with(profile))
}

/// A temporary folder that its owner deletes.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self, String> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder =
            std::env::temp_dir().join(format!("sunny16-shaders-{}-{number}", std::process::id()));
        // Must be new: an existing folder is an error.
        fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(Self(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // On failure the system cleans its temporary folder.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_outside_of_its_build_has_no_shader_sources() {
        let compiler = Path::new("/a/target/release/build/sunny16-0/build-script-build");
        let is_in = |program: &str| is_in_build(Path::new(program), compiler);
        assert!(is_in("/a/target/release/sunny16") && is_in("/a/target/release/deps/viewer-0"));
        assert!(!is_in("/usr/bin/sunny16") && !is_in("/a/target/packages/bin/sunny16"));
        assert!(!is_in("/a/target/release2/sunny16"));
    }
}
