//! The shaders that the build compiled, by name.

use super::{
    context::{Gpu, lock},
    reflect::{Module, reflect},
};

/// A compiled shader, embedded in the program.
pub struct Shader {
    /// Its file's name below `shaders/passes/` and, after a plus, its variant:
    /// `lighting.frag+SPLIT_LIGHTING`.
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
        self.spirv
            .chunks_exact(4)
            .map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
            .collect()
    }

    /// Its bytes.
    #[must_use]
    pub const fn bytes(&self) -> &'static [u8] {
        self.spirv
    }

    /// What it declares.
    #[must_use]
    pub fn module(&self) -> Module {
        reflect(&self.words())
    }

    /// Another module in its place, compiled from sources that were changed since.
    ///
    /// # Errors
    /// The program feeds it otherwise: resources, push constants, work groups or structs that the
    /// built one does not have.
    pub fn replaced(&'static self, spirv: &[u8]) -> Result<Replacement, String> {
        let (words, rest) = spirv.as_chunks::<4>();
        if !rest.is_empty() || words.is_empty() {
            return Err(format!("{}: {} bytes are no SPIR-V", self.name, spirv.len()));
        }
        let words: Vec<u32> = words.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
        let (old, new) = (self.module(), reflect(&words));
        let other =
            |what: &str| format!("{}: {what}; the program itself has to be built anew", self.name);
        if let Some(binding) = new.bindings.iter().find(|binding| !old.bindings.contains(binding)) {
            return Err(other(&format!(
                "'{}' is a resource that the program does not bind there",
                binding.name
            )));
        }
        if new.push_constant_size > old.push_constant_size {
            return Err(other("it has more push constants than the program gives"));
        }
        if new.local_size != old.local_size {
            return Err(other("its work groups have another size"));
        }
        let changed = new
            .structs
            .iter()
            .find(|new| old.structs.iter().any(|old| old.name == new.name && old != *new));
        match changed {
            Some(changed) => {
                Err(other(&format!("the layout of '{}' is another one", changed.name)))
            }
            None => Ok(Replacement { name: self.name, words }),
        }
    }
}

/// A module that takes the place of a built one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacement {
    pub(super) name: &'static str,
    pub(super) words: Vec<u32>,
}

impl Gpu {
    /// Pipelines that are made from now on take these modules instead of the built ones, and no
    /// others.
    pub fn replace_shaders(&self, modules: Vec<Replacement>) {
        *lock(&self.replaced) = modules;
    }
}
