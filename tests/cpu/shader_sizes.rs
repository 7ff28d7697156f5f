//! Bounds of the compiled shaders' sizes: drivers inline every call as the shader compiler does, so
//! a large module is a slow first picture.

use sunny16::gpu::shader::Shader;

/// Bytes of all modules together.
const MAX_TOTAL: usize = 12_000_000;
/// Bytes of a module.
const MAX_MODULE: usize = 150_000;
/// Shaders whose modules are larger, and the sizes that they reach. The goal is `MAX_MODULE`.
const LARGE: [(&str, usize); 4] = [
    ("blend.frag", 176_000),
    ("forward.frag", 346_000),
    ("gi.comp", 179_000),
    ("lighting.comp", 266_000),
];

#[test]
fn shader_modules_are_small() {
    let mut total = 0;
    let mut too_large = Vec::new();
    for shader in Shader::all() {
        let size = shader.bytes().len();
        total += size;
        let file = shader.name.split('+').next().unwrap_or_default();
        let most = LARGE
            .iter()
            .find_map(|&(large, most)| (large == file).then_some(most))
            .unwrap_or(MAX_MODULE);
        if size > most {
            too_large.push(format!("{}: {size} bytes, at most {most}", shader.name));
        }
    }
    assert!(too_large.is_empty(), "{}", too_large.join("\n"));
    assert!(total <= MAX_TOTAL, "{total} bytes in all");
}
