//! The shaders that the build compiled, by name.

use super::reflect::{Module, reflect};

/// A compiled shader, embedded in the program.
pub struct Shader {
    /// Its file's name below `shaders/passes/` and, after a plus, its variant: `lighting.frag+SPLIT`.
    pub name: &'static str,
    spirv: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/shaders.rs"));

impl Shader {
    /// The shader of this name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        SHADERS.iter().find(|shader| shader.name == name)
    }

    /// All shaders.
    #[must_use]
    pub fn all() -> &'static [Self] {
        SHADERS
    }

    /// The SPIR-V words.
    #[must_use]
    pub fn words(&self) -> Vec<u32> {
        self.spirv.chunks_exact(4).map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])).collect()
    }

    /// What it declares.
    #[must_use]
    pub fn module(&self) -> Module {
        reflect(&self.words())
    }
}
