//! Compiles every shader of `shaders/passes/` to SPIR-V with shaderc and lists them in
//! `$OUT_DIR/shaders.rs`. Generates the host's structs of `shaders/shared/`.
//!
//! A line `// variants: A B` in a shader compiles one more module with each of the names defined,
//! as `file+A`. A line `// features: A B B:C` compiles each combination of the names, as
//! `file+A+B`; `B:C` allows C only with B. `A/B:C` allows C with any of A and B; `C|D` excludes C
//! and D together.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::{
    env,
    fmt::Write as _,
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
    time::{Duration, SystemTime},
};

/// Debian builds libshaderc without linking its dependencies, so they are named here.
#[cfg(feature = "system-shaderc")]
#[allow(unsafe_code, clippy::duplicated_attributes)]
mod system_shaderc {
    #[link(name = "shaderc_combined", kind = "static")]
    #[link(name = "glslang", kind = "static")]
    #[link(name = "MachineIndependent", kind = "static")]
    #[link(name = "GenericCodeGen", kind = "static")]
    #[link(name = "OSDependent", kind = "static")]
    #[link(name = "OGLCompiler", kind = "static")]
    #[link(name = "SPIRV", kind = "static")]
    #[link(name = "SPIRV-Tools-opt", kind = "static")]
    #[link(name = "SPIRV-Tools", kind = "static")]
    #[link(name = "stdc++")]
    unsafe extern "C" {}
}

#[path = "src/gpu/shader_structs/generate.rs"]
mod generate;

/// Structs of `shaders/shared/` that the host defines by itself: they belong to a lower layer.
const HOST_TYPES: [&str; 2] = ["Vpl", "VplNode"];

/// One module to compile.
struct Job {
    path: PathBuf,
    source: String,
    kind: shaderc::ShaderKind,
    variant: Vec<String>,
    /// Its name with the variant: `file+A`.
    full: String,
}

fn main() {
    let out = PathBuf::from(env::var("OUT_DIR").unwrap());
    let cache = shader_cache(&out);
    println!("cargo:rerun-if-changed=shaders");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/gpu/shader_structs/generate.rs");
    println!("cargo:rerun-if-env-changed=SUNNY16_SHADER_CACHE");
    if let Err(error) = write_structs(&out) {
        eprintln!("{error}");
        process::exit(1);
    }
    let mut files: Vec<_> =
        fs::read_dir("shaders/passes").unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut jobs = Vec::new();
    for path in files {
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        let kind = match path.extension().and_then(|e| e.to_str()) {
            Some("vert") => shaderc::ShaderKind::Vertex,
            Some("frag") => shaderc::ShaderKind::Fragment,
            Some("comp") => shaderc::ShaderKind::Compute,
            _ => continue,
        };
        let source = fs::read_to_string(&path).unwrap();
        for variant in variants(&source) {
            let full =
                variant.iter().fold(name.clone(), |name, defined| format!("{name}+{defined}"));
            jobs.push(Job { path: path.clone(), source: source.clone(), kind, variant, full });
        }
    }
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                let compiler = shaderc::Compiler::new().expect("shaderc starts");
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(error) = make(&compiler, job, &out, &cache) {
                        eprintln!("{error}");
                        failed.store(true, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    if failed.into_inner() {
        process::exit(1);
    }
    prune(&cache);
    let mut table = String::from("static SHADERS: &[Shader] = &[\n");
    for Job { full, .. } in &jobs {
        let file = out.join(format!("{full}.spv"));
        writeln!(table, "    Shader {{ name: {full:?}, spirv: include_bytes!({file:?}) }},")
            .unwrap();
    }
    table.push_str("];\n");
    fs::write(out.join("shaders.rs"), table).unwrap();
    // The viewer recompiles shaders with this executable, on the machine of the build.
    println!("cargo:rustc-env=SUNNY16_SHADER_COMPILER={}", env::current_exe().unwrap().display());
    println!("cargo:rustc-env=SUNNY16_SHADER_CACHE={}", cache.display());
}

/// Writes the host's structs of `shaders/shared/` to `shader_structs.rs`.
fn write_structs(out: &Path) -> Result<(), String> {
    let mut files: Vec<_> =
        fs::read_dir("shaders/shared").unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "glsl"));
    files.sort();
    let sources: Vec<(String, String)> = files
        .iter()
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect();
    let files: Vec<_> =
        sources.iter().map(|(name, source)| generate::SharedFile { name, source }).collect();
    let rust = generate::generate(&files, &HOST_TYPES)?;
    fs::write(out.join("shader_structs.rs"), rust).unwrap();
    Ok(())
}

/// Writes a module, from the cache if present: compiling all modules takes minutes. All profiles of
/// a target folder share the cache. The key is the preprocessed source.
fn make(compiler: &shaderc::Compiler, job: &Job, out: &Path, cache: &Path) -> shaderc::Result<()> {
    let name = job.path.display().to_string();
    let options = options(&job.variant);
    let whole = compiler.preprocess(&job.source, &name, "main", Some(&options))?.as_text();
    let mut hasher = DefaultHasher::new();
    (include_str!("build.rs"), job.kind as u32, whole).hash(&mut hasher);
    let kept = cache.join(format!("{:016x}.spv", hasher.finish()));
    if !kept.exists() {
        let spirv =
            compiler.compile_into_spirv(&job.source, job.kind, &name, "main", Some(&options))?;
        // Written under a temporary name and renamed: concurrent and interrupted builds leave no
        // partial file.
        let draft = cache.join(format!("{}.{}", job.full, process::id()));
        let words = without_sources(spirv.as_binary());
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        fs::write(&draft, bytes).unwrap();
        fs::rename(&draft, &kept).unwrap();
    }
    fs::copy(&kept, out.join(format!("{}.spv", job.full))).unwrap();
    // Updates the time stamp: modules that no build uses for weeks are removed.
    fs::File::options()
        .append(true)
        .open(&kept)
        .and_then(|file| file.set_modified(SystemTime::now()))
        .unwrap();
    Ok(())
}

/// The module without its source text and line numbers. Names stay.
///
/// SPIR-V 1.6, section 2.3: after five words of header, each instruction begins with a word of its
/// length (upper half) and its opcode (lower half).
fn without_sources(module: &[u32]) -> Vec<u32> {
    /// `OpSourceContinued`, `OpSource`, `OpSourceExtension`, `OpString`, `OpLine`, `OpNoLine`,
    /// `OpModuleProcessed`.
    const DROPPED: [u32; 7] = [2, 3, 4, 7, 8, 317, 330];
    let (head, mut rest) = module.split_at(5);
    let mut kept = head.to_vec();
    while let Some(first) = rest.first() {
        let length = (first >> 16) as usize;
        assert!(length > 0, "an instruction of no length");
        let (instruction, later) = rest.split_at(length);
        if !DROPPED.contains(&(first & 0xffff)) {
            kept.extend_from_slice(instruction);
        }
        rest = later;
    }
    kept
}

/// The cache folder: `SUNNY16_SHADER_CACHE`, or `target/shaders` beside the profiles' folders.
/// `out` is `target/PROFILE/build/PACKAGE/out`.
fn shader_cache(out: &Path) -> PathBuf {
    let beside = || {
        let build = out.ancestors().find(|folder| folder.ends_with("build"));
        build.and_then(|build| build.ancestors().nth(2)).unwrap_or(out).join("shaders")
    };
    let cache = env::var_os("SUNNY16_SHADER_CACHE").map_or_else(beside, PathBuf::from);
    fs::create_dir_all(&cache).unwrap();
    cache
}

/// Removes modules that no build has used for two weeks.
fn prune(cache: &Path) {
    for entry in fs::read_dir(cache).unwrap().flatten() {
        let age = entry
            .metadata()
            .and_then(|data| data.modified())
            .map(|used| used.elapsed().unwrap_or_default());
        if age.is_ok_and(|age| age > Duration::from_secs(14 * 86_400)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The combinations of names that a shader is compiled with; the empty one first.
fn variants(source: &str) -> Vec<Vec<String>> {
    let words = |prefix: &str| {
        let line = source.lines().find_map(|line| line.strip_prefix(prefix)).unwrap_or("");
        line.split_whitespace().map(str::to_owned).collect::<Vec<String>>()
    };
    let mut sets = vec![Vec::new()];
    for word in words("// features:") {
        let (needed, names) = word
            .split_once(':')
            .map_or((None, word.as_str()), |(needed, name)| (Some(needed), name));
        let there = |set: &Vec<String>| {
            needed.is_none_or(|needed| {
                needed.split('/').any(|needed| set.iter().any(|name| name == needed))
            })
        };
        let without: Vec<Vec<String>> = sets.iter().filter(|set| there(set)).cloned().collect();
        for name in names.split('|') {
            sets.extend(
                without
                    .iter()
                    .map(|set| set.iter().cloned().chain([name.to_owned()]).collect::<Vec<_>>()),
            );
        }
    }
    sets.extend(words("// variants:").into_iter().map(|name| vec![name]));
    sets
}

fn options(variant: &[String]) -> shaderc::CompileOptions<'static> {
    let mut options = shaderc::CompileOptions::new().expect("shaderc options");
    options.set_target_env(shaderc::TargetEnv::Vulkan, shaderc::EnvVersion::Vulkan1_3 as u32);
    options.set_optimization_level(shaderc::OptimizationLevel::Performance);
    // Debug names are kept: reflection finds resources and struct members by name.
    options.set_generate_debug_info();
    options.set_warnings_as_errors();
    for name in variant {
        options.add_macro_definition(name, Some("1"));
    }
    options.set_include_callback(|wanted, _, _, _| {
        let file = Path::new("shaders").join(wanted);
        fs::read_to_string(&file)
            .map(|content| shaderc::ResolvedInclude {
                resolved_name: file.display().to_string(),
                content,
            })
            .map_err(|error| format!("{}: {error}", file.display()))
    });
    options
}
