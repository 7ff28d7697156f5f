//! Local probes of a scene on the device: their maps are in the environment buffer, their boxes in
//! a buffer per frame.

use std::sync::Arc;

use glam::{DVec3, Vec4};
use rayon::prelude::*;

use super::{buffers::uploaded_buffer, environment};
use crate::{
    gpu::{
        Buffer, Gpu, GpuError, GpuResult,
        shader_structs::frame::{self, PROBE_CAPTURED, PROBE_PARALLAX},
        upload::Uploader,
    },
    photometry::environment::{PrefilteredEnvironment, RadianceMap},
    scene::{self, Probe, Scene},
};

/// Distance to a face within which a point counts as on the box's wall, as a fraction of the
/// smallest side.
const MARGIN: f64 = 0.005;

/// Resources for probe capture, kept until it is complete.
pub struct Capture {
    /// Environment buffer without probes.
    environment: Vec<u8>,
    /// Materials that emit only if their emission is not a light.
    materials: Arc<Buffer>,
}

/// Probe on the device.
#[derive(Clone, Debug)]
pub struct PlacedProbe {
    probe: Probe,
    /// First texel and width of its map, once captured.
    map: Option<(u32, u32)>,
}

impl PlacedProbe {
    /// Creates a probe that is not captured yet.
    #[must_use]
    pub const fn new(probe: Probe) -> Self {
        Self { probe, map: None }
    }

    fn shader(&self, camera: DVec3) -> frame::Probe {
        let Probe { center, size, position, blend, parallax, .. } = &self.probe;
        let (first, width) = self.map.unwrap_or_default();
        let parallax = if *parallax { PROBE_PARALLAX } else { 0 };
        frame::Probe {
            center: (*center - camera).as_vec3(),
            blend: *blend as f32,
            half_size: (*size / 2.0).as_vec3(),
            margin: (size.min_element() * MARGIN) as f32,
            position: (*position - camera).as_vec3(),
            flags: parallax | if self.map.is_some() { PROBE_CAPTURED } else { 0 },
            first,
            width,
            ..frame::Probe::default()
        }
    }
}

/// Probes relative to the camera.
#[must_use]
pub fn probes_for(probes: &[PlacedProbe], camera: DVec3) -> Vec<frame::Probe> {
    probes.iter().map(|probe| probe.shader(camera)).collect()
}

impl Capture {
    /// Prepares the capture of a scene's probes. `packed`: materials on the device, those of
    /// `scene` first.
    ///
    /// # Errors
    /// `GpuError` if memory runs out.
    pub fn new(
        gpu: &Gpu,
        uploader: &mut Uploader,
        scene: &Scene,
        environment: Vec<u8>,
        packed: &[frame::Material],
    ) -> GpuResult<Self> {
        let is_light = |material: &scene::Material| scene.emissive_lights && !material.unlit;
        let dark: Vec<frame::Material> = packed
            .iter()
            .enumerate()
            .map(|(index, material)| {
                let light = scene.materials.get(index).is_some_and(is_light);
                let emission =
                    if light { Vec4::ZERO.with_w(material.emission.w) } else { material.emission };
                frame::Material { emission, ..*material }
            })
            .collect();
        let name = "materials without lights";
        let materials = uploaded_buffer(gpu, uploader, (name, 0), bytemuck::cast_slice(&dark))?;
        Ok(Self { environment, materials })
    }

    /// Swaps the scene's materials with these; a second call restores them.
    pub fn swap_materials(&mut self, materials: &mut Arc<Buffer>) {
        std::mem::swap(&mut self.materials, materials);
    }

    /// Environment buffer of the scene with the captured probes, which then refer to their maps. A
    /// probe without a map is black.
    ///
    /// # Errors
    /// `GpuError` if memory runs out or the data exceeds the device's buffer size.
    pub fn light(
        &self,
        gpu: &Gpu,
        probes: &mut [PlacedProbe],
        maps: &[Option<RadianceMap>],
    ) -> GpuResult<Arc<Buffer>> {
        let mut bytes = self.environment.clone();
        let filtered: Vec<Option<PrefilteredEnvironment>> =
            maps.par_iter().map(|map| map.as_ref().map(PrefilteredEnvironment::new)).collect();
        for ((placed, map), filtered) in probes.iter_mut().zip(maps).zip(filtered) {
            let (Some(map), Some(filtered)) = (map, filtered) else { continue };
            placed.map = Some((environment::texels_in(&bytes), map.width() as u32));
            environment::append(&mut bytes, map, &filtered);
        }
        let limit = gpu.limits().max_storage_buffer_range;
        if bytes.len() as u64 > u64::from(limit) {
            return Err(GpuError::TooLarge {
                what: "environment and probes".into(),
                requested: format!("{} bytes", bytes.len()),
                limit: format!("{limit} bytes"),
                device: gpu.info().name.clone(),
                remedy: "lower probes.*.resolution",
            });
        }
        let mut uploader = Uploader::new(gpu)?;
        let buffer = uploaded_buffer(gpu, &mut uploader, ("environment", 0), &bytes)?;
        uploader.finish()?;
        Ok(buffer)
    }
}
