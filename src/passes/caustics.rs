//! Water caustics: irradiance of the strongest sun through the rippled surface relative to a level
//! surface (docs/water.md), for each water that enables them. Ray bundles, spaced evenly over the
//! surface, are refracted and traced to the bed. Each hit is counted at the texel where level water
//! would have admitted light to that point. Shaders that light a point in water look up the map
//! where its light enters.

use std::sync::{Arc, OnceLock};

use super::{ray_query::BvhDependencies, scene_frame::SceneFrame};
use crate::{
    gpu::{
        Bind, ComputePipeline, Gpu, GpuResult,
        shader_structs::{
            caustics::{CAUSTIC_BLOCK, CAUSTIC_BUNDLES, CausticsConstants},
            frame::{FrameConstants, LIGHT_CAUSTICS, LIGHT_DIRECTIONAL, LIGHT_KIND_BITS, Light},
        },
    },
    gpu_scene::{FrameBvh, GpuScene, LazyFrameBvh, WaterTextures},
    graph::{BufferHandle, Graph},
    settings::CausticSettings,
};

/// Work group size per axis.
const GROUP: u32 = 8;

/// Caustic maps of a frame.
#[derive(Clone)]
pub struct FrameCaustics {
    maps: Vec<CausticsConstants>,
    texels: u32,
    blocks: u32,
    bvh: FrameBvh,
}

/// Index of the directional light from above with the highest illuminance on a level surface.
fn strongest_sun(lights: &[Light]) -> Option<usize> {
    let sends = |light: &Light| {
        crate::photometry::color::luminance(light.intensity.as_dvec3())
            * -f64::from(light.direction.y)
    };
    let suns = lights.iter().enumerate().filter(|(_, light)| {
        light.kind & LIGHT_KIND_BITS == LIGHT_DIRECTIONAL
            && light.direction.y < -1e-3
            && sends(light) > 0.0
    });
    Some(suns.max_by(|a, b| sends(a.1).total_cmp(&sends(b.1)))?.0)
}

/// Texels along x and z of a map over `size` meters whose longer side has `resolution` texels.
fn texels(size: [f64; 2], resolution: u32) -> [u32; 2] {
    let longer = size[0].max(size[1]);
    size.map(|side| ((f64::from(resolution) * side / longer).round() as u32).clamp(1, resolution))
}

/// Finest resolution, by halving, whose maps fit a buffer of the given bytes.
fn fitting(waters: &[(u32, [f64; 2])], mut resolution: u32, bytes: u64) -> u32 {
    loop {
        let (_, texels, blocks) = layout(waters, 0, resolution);
        if counts_bytes(texels, blocks) <= bytes || resolution <= 16 {
            return resolution;
        }
        resolution /= 2;
    }
}

/// Buffer size: one word per texel, two per block.
fn counts_bytes(texels: u32, blocks: u32) -> u64 {
    (u64::from(texels) + 2 * u64::from(blocks)) * 4
}

/// Consecutive maps of waters (index, meters along x and z), and their total texels and blocks.
fn layout(
    waters: &[(u32, [f64; 2])],
    light: u32,
    resolution: u32,
) -> (Vec<CausticsConstants>, u32, u32) {
    let (mut first, mut first_block) = (0, 0);
    let mut maps: Vec<CausticsConstants> = waters
        .iter()
        .map(|&(water, size)| {
            let texels = texels(size, resolution);
            let map = CausticsConstants {
                water,
                light,
                first,
                first_block,
                texels,
                ..CausticsConstants::default()
            };
            first += texels[0] * texels[1];
            first_block += texels[0].div_ceil(CAUSTIC_BLOCK) * texels[1].div_ceil(CAUSTIC_BLOCK);
            map
        })
        .collect();
    for map in &mut maps {
        map.all_texels = first;
    }
    (maps, first, first_block)
}

impl FrameCaustics {
    /// Creates the maps of a frame, writes them into its constants and flags the sun. Returns
    /// `None` if no water enables caustics, no sun causes any, or the scene has no BVH. The
    /// resolution is reduced until the maps fit a device buffer. `gpu_bvh`: the frame's BVH.
    ///
    /// # Errors
    /// `GpuError` if memory runs out.
    pub fn new(
        gpu: &Gpu,
        scene: &GpuScene,
        gpu_bvh: &LazyFrameBvh<'_>,
        settings: CausticSettings,
        (lights, values): (&mut [Light], &mut FrameConstants),
    ) -> GpuResult<Option<Self>> {
        let wanted: Vec<(u32, [f64; 2])> = scene
            .waters
            .iter()
            .enumerate()
            .filter(|_| settings.enabled)
            .filter_map(|(number, water)| Some((number as u32, water.caustics_over()?)))
            .collect();
        let sun = strongest_sun(lights).filter(|_| !wanted.is_empty() && scene.bvh.is_some());
        let Some(sun) = sun else { return Ok(None) };
        let Some(gpu_bvh) = gpu_bvh.get()? else { return Ok(None) };
        let room = u64::from(gpu.limits().max_storage_buffer_range);
        let resolution = fitting(&wanted, settings.resolution, room);
        if resolution < settings.resolution {
            gpu.remark(format!(
                "caustics: the maps have {resolution} texels along the longer side of a water, not \
                 {} (passes.caustics.resolution), so that those of {} waters fit one buffer of \
                 this device",
                settings.resolution,
                wanted.len()
            ));
        }
        let (maps, texels, blocks) = layout(&wanted, sun as u32, resolution);
        for map in &maps {
            let [across, down] = map.texels.map(|side| side as f32);
            if let Some(slot) = values.water_caustics.get_mut(map.water as usize) {
                *slot = glam::Vec4::new(
                    across,
                    down,
                    (map.first / 4096) as f32,
                    (map.first % 4096) as f32,
                );
            }
        }
        if let Some(light) = lights.get_mut(sun) {
            light.kind |= LIGHT_CAUSTICS;
        }
        Ok(Some(Self { maps, texels, blocks, bvh: gpu_bvh }))
    }

    fn bytes(&self) -> [u64; 2] {
        [counts_bytes(self.texels, self.blocks), u64::from(self.texels) * 4]
    }
}

struct Pipelines {
    count: Arc<ComputePipeline>,
    blur: Arc<ComputePipeline>,
}

/// Pipelines of the caustics passes, created for the first frame with caustics.
#[derive(Default)]
pub struct CausticsPass {
    pipelines: OnceLock<Pipelines>,
}

impl CausticsPass {
    /// Creates the pipelines if the scene's waters need them and they do not exist.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn prepare(&self, gpu: &Gpu, scene: &GpuScene) -> GpuResult<()> {
        let wanted = scene.waters.iter().any(|water| water.caustics_over().is_some());
        if wanted && self.pipelines.get().is_none() {
            // Matches the backend of the frame's BVH, which is the same for the whole device.
            let count =
                if gpu.ray_query() { "caustics.comp+USE_RAY_QUERY" } else { "caustics.comp" };
            // If another thread set them first, its pipelines are kept.
            let _ = self.pipelines.set(Pipelines {
                count: ComputePipeline::new(gpu, "caustics", count)?,
                blur: ComputePipeline::new(gpu, "caustics blur", "caustics_blur.comp")?,
            });
        }
        Ok(())
    }

    /// Declares the passes and returns the maps; `None` without caustics.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        SceneFrame { scene, data, .. }: SceneFrame<'a>,
        caustics: Option<&'a FrameCaustics>,
        gpu_bvh: BvhDependencies,
    ) -> Option<BufferHandle> {
        let (pipelines, caustics) = (self.pipelines.get()?, caustics?);
        let [counted, blurred] = caustics.bytes();
        let counts = g.storage("caustic counts", counted);
        let maps = g.storage("caustics", blurred);
        g.clear_buffers("clear caustics", [counts]);
        g.dispatches("caustics")
            .updated("deposit_block", counts)
            .also_uses(gpu_bvh.by_compute())
            .binds([data.uniform()])
            .storage("light_block", &data.lights)
            .binds(caustics.bvh.binds())
            .record(move |cx, bindings| {
                for map in &caustics.maps {
                    let textures = scene
                        .extended_materials
                        .as_ref()
                        .and_then(|layers| layers.waters.get(map.water as usize));
                    let Some(WaterTextures { flow, ripples }) = textures else { continue };
                    let mut binds = bindings.common();
                    binds.push(("water_flow_texture", Bind::Texture(&flow.0, flow.1)));
                    binds.push(("water_ripple_texture", Bind::Texture(&ripples.0, ripples.1)));
                    cx.rec.bind_compute(&pipelines.count, &binds)?;
                    cx.rec.push_compute(&pipelines.count, map);
                    let [across, down] =
                        map.texels.map(|side| (side * CAUSTIC_BUNDLES).div_ceil(GROUP));
                    cx.rec.dispatch(across, down, 1);
                }
                Ok(())
            });
        let jobs = caustics.maps.iter().map(|map| {
            let [across, down] = map.texels.map(|side| side.div_ceil(GROUP));
            (*map, [across, down, 1])
        });
        g.compute("caustics blur", &pipelines.blur)
            .storage("deposit_block", counts)
            .written("caustic_block", maps)
            .binds([data.uniform()])
            .storage("light_block", &data.lights)
            .dispatch_each(jobs);
        Some(maps)
    }
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;
    use crate::gpu::shader_structs::frame::{LIGHT_POINT, LIGHT_SHADOW};

    #[test]
    fn maps_lie_one_behind_the_other() {
        let (maps, texels, blocks) =
            layout(&[(0, [4.0, 4.0]), (3, [9.0, 3.0]), (5, [1e-3, 100.0])], 1, 512);
        let of = |map: &CausticsConstants| {
            (map.water, map.light, map.first, map.first_block, map.texels)
        };
        assert_eq!(of(&maps[0]), (0, 1, 0, 0, [512, 512]));
        assert_eq!(of(&maps[1]), (3, 1, 512 * 512, 64 * 64, [512, 171]));
        assert_eq!(of(&maps[2]), (5, 1, 512 * 683, 64 * 64 + 64 * 22, [1, 512]));
        assert_eq!((texels, blocks), (512 * 684, 64 * 64 + 64 * 22 + 64));
        assert!(maps.iter().all(|map| map.all_texels == texels));
        // Eight maps of 4096 x 4096 texels would take half a gigabyte.
        let eight: Vec<(u32, [f64; 2])> = (0..8).map(|water| (water, [10.0, 10.0])).collect();
        assert_eq!(fitting(&eight[..1], 4096, 128 << 20), 4096);
        assert_eq!(fitting(&eight, 4096, 128 << 20), 1024);
        let (maps, texels, blocks) = layout(&eight, 0, 1024);
        assert_eq!(maps[7].texels, [1024, 1024]);
        assert!(counts_bytes(texels, blocks) <= 128 << 20);
    }

    #[test]
    fn the_strongest_sun_makes_them_if_it_is_up() {
        let sun = |lux: f32, y: f32| Light {
            kind: LIGHT_DIRECTIONAL | LIGHT_SHADOW,
            intensity: Vec3::splat(lux),
            direction: Vec3::new(0.0, y, 1.0).normalize(),
            ..Light::default()
        };
        let lamp = Light { kind: LIGHT_POINT, intensity: Vec3::splat(1e9), ..Light::default() };
        assert_eq!(strongest_sun(&[sun(10.0, -1.0), sun(20.0, -0.5), lamp]), Some(1));
        assert_eq!(strongest_sun(&[sun(10.0, -1.0), sun(20.0, 0.1), lamp]), Some(0));
        assert_eq!(strongest_sun(&[sun(10.0, 0.2)]), None);
        assert_eq!(strongest_sun(&[lamp]), None);
        assert_eq!(strongest_sun(&[sun(0.0, -1.0)]), None);
    }
}
