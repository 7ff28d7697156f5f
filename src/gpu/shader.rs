//! Compiled shaders, by name.

use super::reflect::{Module, reflect};

/// A compiled shader, embedded in the executable.
pub struct Shader {
    /// File name below `shaders/passes/` and, after a plus, the variant:
    /// `lighting.comp+RAY_TRACED_SHADOWS`.
    pub name: &'static str,
    spirv: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/shaders.rs"));

impl Shader {
    /// Finds a shader by name.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        SHADERS.iter().find(|shader| shader.name == name)
    }

    /// All compiled shaders.
    #[must_use]
    pub fn all() -> &'static [Self] {
        SHADERS
    }

    /// The SPIR-V words.
    #[must_use]
    pub fn words(&self) -> Vec<u32> {
        self.spirv
            .chunks_exact(4)
            .map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
            .collect()
    }

    /// The SPIR-V bytes.
    #[must_use]
    pub const fn bytes(&self) -> &'static [u8] {
        self.spirv
    }

    /// The shader's declarations, by reflection.
    #[must_use]
    pub fn module(&self) -> Module {
        reflect(&self.words())
    }

    /// Creates a replacement for this shader from recompiled SPIR-V, for hot reload.
    ///
    /// # Errors
    /// A message if the new module does not match the host code: resources, push constants, work
    /// group size or struct layouts that the built one does not have.
    pub fn replaced(&'static self, spirv: &[u8]) -> Result<Replacement, String> {
        let (words, rest) = spirv.as_chunks::<4>();
        if !rest.is_empty() || words.is_empty() {
            return Err(format!("{}: {} bytes are not valid SPIR-V", self.name, spirv.len()));
        }
        let words: Vec<u32> = words.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
        let (old, new) = (self.module(), reflect(&words));
        let other = |what: &str| format!("{}: {what}; rebuild the program", self.name);
        if let Some(binding) = new.bindings.iter().find(|binding| !old.bindings.contains(binding)) {
            return Err(other(&format!(
                "the program does not bind resource '{}' there",
                binding.name
            )));
        }
        if new.push_constant_size > old.push_constant_size {
            return Err(other("it has more push constants than the program sets"));
        }
        if new.local_size != old.local_size {
            return Err(other("its work group size has changed"));
        }
        if new.reads_group_columns && !old.reads_group_columns {
            return Err(other("it reads gl_NumWorkGroups.x, and the program runs it in parts"));
        }
        let changed = new
            .structs
            .iter()
            .find(|new| old.structs.iter().any(|old| old.name == new.name && old != *new));
        match changed {
            Some(changed) => {
                Err(other(&format!("the layout of struct '{}' has changed", changed.name)))
            }
            None => Ok(Replacement { name: self.name, words }),
        }
    }
}

/// A module that replaces a built one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    pub(super) name: &'static str,
    pub(super) words: Vec<u32>,
}
