//! Shader variants of pipelines that evaluate lights, one per feature set. Absent features cost
//! neither shader time nor compilation.
//!
//! Ray-traced shadows, ray query, and the kinds of the forward pass, which have other bindings, are
//! variants of the build. The others are bits of one specialization constant
//! (`shaders/lib/features.glsl`).

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::creation::PipelineJob;
use crate::{
    gpu::{
        Gpu, GpuError, GpuResult, GraphicsPipeline,
        shader_structs::features::{
            FEATURE_ALPHA_MASKS, FEATURE_ANISOTROPY, FEATURE_AREA_LIGHTS, FEATURE_CLEARCOAT,
            FEATURE_DIFFUSE_TRANSMISSION, FEATURE_ENVIRONMENT, FEATURE_IES_PROFILES,
            FEATURE_IRIDESCENCE, FEATURE_PROBES, FEATURE_SHADOW_MAPS, FEATURE_SHEEN,
            FEATURE_SPLIT_LIGHTING, FEATURE_SUN_DISKS, FEATURE_VOLUMES, FEATURE_WATER,
        },
    },
    gpu_scene::FrameData,
};

/// Lobes of extended materials, which only the forward pass reads.
pub(super) const LOBES: u32 = FEATURE_ANISOTROPY
    | FEATURE_CLEARCOAT
    | FEATURE_DIFFUSE_TRANSMISSION
    | FEATURE_IRIDESCENCE
    | FEATURE_SHEEN;

/// Shader features of light evaluation that a frame needs: `// features:` in the shader sources,
/// and the bits of `shaders/shared/features.glsl`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Features {
    /// Features of the scene and the look, and `FEATURE_SPLIT_LIGHTING` (`FEATURE_` bits).
    pub bits: u32,
    /// Ray-traced shadows.
    pub traced: bool,
    /// Shadow rays a pixel of a fixed budget, which other passes trace; 0: `traced` rays to every
    /// light. Lighting pass only.
    pub rays: u32,
    /// Lights that a pixel of a fixed budget samples from groups of lights; 0 without.
    pub light_samples: u32,
    /// Ray query instead of the software BVH.
    pub query: bool,
    /// Blended or refractive surfaces over the lit image; forward pass only.
    pub blended: bool,
    /// Ray-traced refraction; only with `blended`.
    pub traced_refraction: bool,
}

impl Features {
    /// Features of this frame.
    #[must_use]
    pub fn of(data: &FrameData, split: bool) -> Self {
        let traced = data.shadow_bvh.as_ref();
        let parts = if split { FEATURE_SPLIT_LIGHTING } else { 0 };
        Self {
            bits: data.features & !FEATURE_SPLIT_LIGHTING | parts,
            traced: traced.is_some(),
            rays: 0,
            light_samples: 0,
            query: traced.is_some_and(|gpu_bvh| gpu_bvh.structure().is_some()),
            blended: false,
            traced_refraction: false,
        }
    }

    /// Separate diffuse and specular light: the outputs beyond the first have attachments.
    #[must_use]
    pub const fn split(self) -> bool {
        self.bits & FEATURE_SPLIT_LIGHTING != 0
    }

    /// Name of the shader variant, as the build names it.
    #[must_use]
    pub fn shader(self, file: &str) -> String {
        let inline = self.traced && self.rays == 0;
        let names = [
            (inline, "RAY_TRACED_SHADOWS"),
            (self.rays > 0, "RAY_BUDGET"),
            (self.blended, "BLENDED"),
            (self.blended && self.traced_refraction, "TRACED_REFRACTION"),
            ((inline || self.blended && self.traced_refraction) && self.query, "USE_RAY_QUERY"),
        ];
        let wanted = names.iter().filter(|(on, _)| *on);
        wanted.fold(file.to_owned(), |name, (_, feature)| format!("{name}+{feature}"))
    }

    /// Name of the pipeline for debugging tools: the pass and all features.
    fn pipeline_name(self, file: &str) -> String {
        let names = [
            (FEATURE_WATER, "water"),
            (FEATURE_IES_PROFILES, "ies_profiles"),
            (FEATURE_SHADOW_MAPS, "shadow_maps"),
            (FEATURE_VOLUMES, "volumes"),
            (FEATURE_ENVIRONMENT, "environment"),
            (FEATURE_PROBES, "probes"),
            (FEATURE_SUN_DISKS, "sun_disks"),
            (FEATURE_AREA_LIGHTS, "area_lights"),
            (FEATURE_ALPHA_MASKS, "alpha_masks"),
            (FEATURE_SPLIT_LIGHTING, "split_lighting"),
            (FEATURE_CLEARCOAT, "clearcoat"),
            (FEATURE_SHEEN, "sheen"),
            (FEATURE_ANISOTROPY, "anisotropy"),
            (FEATURE_IRIDESCENCE, "iridescence"),
            (FEATURE_DIFFUSE_TRANSMISSION, "diffuse_transmission"),
        ];
        let variant = self
            .shader(file)
            .replace(".frag", "")
            .replace(".comp", "")
            .replace('+', " ")
            .to_lowercase();
        let wanted = names.iter().filter(|(bit, _)| self.bits & bit != 0);
        wanted.fold(variant, |name, (_, feature)| format!("{name} {feature}"))
    }
}

/// Creates a pipeline of the given features from its name and that of its fragment or compute
/// shader.
type Make<P> = Box<dyn Fn(&Gpu, &str, &str, Features) -> GpuResult<Arc<P>> + Send + Sync>;

/// A pipeline that a frame needs.
pub type WantedVariant<'a, P = GraphicsPipeline> = (&'a LightVariants<P>, Features);

/// Pipelines of a pass by feature set, created on demand.
pub struct LightVariants<P = GraphicsPipeline> {
    gpu: Gpu,
    file: &'static str,
    /// `FEATURE_` bits that the shader reads.
    read: u32,
    make: Make<P>,
    made: Mutex<HashMap<Features, Arc<P>>>,
}

impl<P> LightVariants<P> {
    /// Variants of a fragment or compute shader that reads these `FEATURE_` bits, created on demand.
    #[must_use]
    pub fn new(
        gpu: &Gpu,
        file: &'static str,
        read: u32,
        make: impl Fn(&Gpu, &str, &str, Features) -> GpuResult<Arc<P>> + Send + Sync + 'static,
    ) -> Self {
        Self { gpu: gpu.clone(), file, read, make: Box::new(make), made: Mutex::default() }
    }

    /// Pipeline with these features.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn get(&self, features: Features) -> GpuResult<Arc<P>> {
        let features = self.read_by_shader(features);
        if let Some(pipeline) = self.made().get(&features) {
            return Ok(Arc::clone(pipeline));
        }
        let fragment = features.shader(self.file);
        let name = features.pipeline_name(self.file);
        // A bit that is missing from `read` by mistake must not remove code.
        let missing = !self.read & !FEATURE_SPLIT_LIGHTING;
        let made_for = Features { bits: features.bits | missing, ..features };
        let pipeline = match (self.make)(&self.gpu, &name, &fragment, made_for) {
            Err(error @ GpuError::PipelineRejected { .. }) => self.general(features, error)?,
            made => made?,
        };
        // If another thread created it first, its pipeline is kept.
        Ok(Arc::clone(self.made().entry(features).or_insert(pipeline)))
    }

    /// The pipeline with the code of all scene features, in place of a special one that the driver
    /// rejected: the same picture but for rounding, at the cost of absent features.
    fn general(&self, features: Features, rejected: GpuError) -> GpuResult<Arc<P>> {
        let fragment = features.shader(self.file);
        let general = Features { bits: features.bits | !FEATURE_SPLIT_LIGHTING, ..features };
        let name = format!("{fragment}, general");
        // The driver rejects the shader, and not its specialization.
        let Ok(pipeline) = (self.make)(&self.gpu, &name, &fragment, general) else {
            return Err(rejected);
        };
        self.gpu.remark(format!("{rejected}; the general pipeline of '{}' replaces it", self.file));
        Ok(pipeline)
    }

    /// The job that creates the pipeline with these features; `None` if it exists.
    pub fn job(&self, features: Features) -> Option<PipelineJob<'_>>
    where
        P: Send + Sync,
    {
        let exists = self.made().contains_key(&self.read_by_shader(features));
        (!exists).then(|| Box::new(move || self.get(features).map(drop)) as _)
    }

    fn read_by_shader(&self, features: Features) -> Features {
        Features { bits: features.bits & self.read, ..features }
    }

    fn made(&self) -> MutexGuard<'_, HashMap<Features, Arc<P>>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::shader::Shader;

    #[test]
    fn the_build_has_a_shader_for_every_set_of_features() {
        for file in ["lighting.comp", "blend.frag", "forward.frag", "volumes.frag"] {
            for bits in 0..16 {
                let on = |bit: u32| bits & 1 << bit != 0;
                let [traced, query, blended, traced_refraction] = [0, 1, 2, 3].map(on);
                if file != "forward.frag" && (blended || traced_refraction) {
                    continue;
                }
                let features = Features {
                    traced,
                    query,
                    blended,
                    traced_refraction,
                    bits,
                    ..Features::default()
                };
                let name = features.shader(file);
                assert!(Shader::find(&name).is_some(), "{name}");
                if file == "lighting.comp" && traced {
                    let name = Features { rays: 2, ..features }.shader(file);
                    assert!(Shader::find(&name).is_some(), "{name}");
                }
            }
        }
    }
}
