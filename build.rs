//! Build.
/// Debian builds libshaderc without the libraries that it calls, so they are named here.
#[cfg(feature = "system-shaderc")]
#[allow(unsafe_code)]
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
fn main() {}
