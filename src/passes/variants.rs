//! Shader variants of pipelines that evaluate lights, one per feature set. Absent features cost
//! neither shader time nor compilation.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use super::FrameData;
use crate::gpu::{Gpu, GpuResult, GraphicsPipeline};

/// Shader features of light evaluation that a frame needs (`// features:` in the shader sources).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Features {
    /// Separate diffuse and specular light.
    pub split: bool,
    /// Area lights.
    pub area: bool,
    /// Ray-traced shadows.
    pub traced: bool,
    /// Alpha masks in ray tracing.
    pub masks: bool,
    /// Ray query instead of the software BVH; it always tests masks.
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
        Self {
            split,
            area: data.ltc.is_some(),
            traced: traced.is_some(),
            masks: traced.is_some_and(super::scene_bvh::FrameBvh::masked),
            query: traced.is_some_and(|gpu_bvh| gpu_bvh.structure().is_some()),
            blended: false,
            traced_refraction: false,
        }
    }

    /// Name of the shader variant, as the build names it.
    #[must_use]
    pub fn shader(self, file: &str) -> String {
        let names = [
            (self.split, "SPLIT_LIGHTING"),
            (self.area, "AREA_LIGHTS"),
            (self.traced, "RAY_TRACED_SHADOWS"),
            (self.traced && self.masks && !self.query, "BVH_ALPHA_MASKS"),
            (self.blended, "BLENDED"),
            (self.blended && self.traced_refraction, "TRACED_REFRACTION"),
            (
                (self.traced || self.blended && self.traced_refraction) && self.query,
                "USE_RAY_QUERY",
            ),
        ];
        let wanted = names.iter().filter(|(on, _)| *on);
        wanted.fold(file.to_owned(), |name, (_, feature)| format!("{name}+{feature}"))
    }
}

/// Creates a pipeline of the given features from its name and that of its fragment shader.
type Make =
    Box<dyn Fn(&Gpu, &str, &str, Features) -> GpuResult<Arc<GraphicsPipeline>> + Send + Sync>;

/// Pipelines of a pass by feature set; all but the base variant are created on demand.
pub struct LightVariants {
    gpu: Gpu,
    file: &'static str,
    make: Make,
    made: Mutex<HashMap<Features, Arc<GraphicsPipeline>>>,
}

impl LightVariants {
    /// Variants of a fragment shader, with the base variant created.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(
        gpu: &Gpu,
        file: &'static str,
        make: impl Fn(&Gpu, &str, &str, Features) -> GpuResult<Arc<GraphicsPipeline>>
        + Send
        + Sync
        + 'static,
    ) -> GpuResult<Self> {
        let variants = Self::lazy(gpu, file, make);
        variants.get(Features::default())?;
        Ok(variants)
    }

    /// Variants of a fragment shader, all created on demand.
    #[must_use]
    pub fn lazy(
        gpu: &Gpu,
        file: &'static str,
        make: impl Fn(&Gpu, &str, &str, Features) -> GpuResult<Arc<GraphicsPipeline>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self { gpu: gpu.clone(), file, make: Box::new(make), made: Mutex::default() }
    }

    /// Pipeline with these features.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn get(&self, features: Features) -> GpuResult<Arc<GraphicsPipeline>> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pipeline) = made.get(&features) {
            return Ok(Arc::clone(pipeline));
        }
        let fragment = features.shader(self.file);
        let name = fragment.replace(".frag", "").replace('+', " ").to_lowercase();
        let pipeline = (self.make)(&self.gpu, &name, &fragment, features)?;
        made.insert(features, Arc::clone(&pipeline));
        Ok(pipeline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::shader::Shader;

    #[test]
    fn the_build_has_a_shader_for_every_set_of_features() {
        for file in ["lighting.frag", "blend.frag", "forward.frag", "volumes.frag", "gi.frag"] {
            for bits in 0..128 {
                let on = |bit: u32| bits & 1 << bit != 0;
                let layered = file == "forward.frag";
                if layered && on(3)
                    || !layered && (on(4) || on(5))
                    || ["volumes.frag", "gi.frag"].contains(&file) && on(0)
                {
                    continue;
                }
                let [split, area, traced, masks, over, glass, query] =
                    [0, 1, 2, 3, 4, 5, 6].map(on);
                let features = Features {
                    split,
                    area,
                    traced,
                    masks,
                    blended: over,
                    traced_refraction: glass,
                    query,
                };
                let name = features.shader(file);
                assert!(Shader::find(&name).is_some(), "{name}");
            }
        }
    }
}
