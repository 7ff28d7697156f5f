//! Starbursts of bright sources: the diffraction image of a point through the iris, at its true
//! size on the sensor. It replaces the light that diffraction takes out of the sources' own pixels
//! (docs/starburst.md).

use std::sync::{Arc, Mutex, PoisonError};

use glam::vec4;
use rayon::prelude::*;

use super::{
    flare_sources::{FlareSources, camera_axes},
    formats::LIGHT,
    scene_frame::SceneFrame,
};
use crate::{
    camera::{LensError, effects::Starburst},
    gpu::{
        Buffer, BufferKind, ComputePipeline, Gpu, GpuError, GpuResult, GraphicsPipeline,
        GraphicsState,
        shader_structs::flare_sources::{MAX_SOURCES, StarburstConstants, StarburstSprite},
        upload::Uploader,
    },
    graph::{BufferHandle, Graph, ImageHandle},
    optics::{
        aperture::Aperture,
        starburst::{self, HALF},
    },
};

/// Last level of the table (`BURST_LAST` in the shaders): its texels are as large as pixels of 70
/// micrometers at f/1.
const LAST_LEVEL: u32 = 8;

/// Pipelines of the starburst passes, and the table of the last aperture.
pub struct StarburstPass {
    sprites: Arc<ComputePipeline>,
    core: Arc<GraphicsPipeline>,
    draw: Arc<GraphicsPipeline>,
    table: Mutex<Option<Table>>,
}

/// Starburst table of an aperture on the device.
#[derive(Clone)]
struct Table {
    aperture: Aperture,
    texels: Arc<Buffer>,
    beyond: [f32; 3],
    spike: f32,
}

/// Packs three channels with a common exponent into a word: EXT_texture_shared_exponent (Khronos),
/// section "Encoding".
fn shared_exponent(color: [f32; 3]) -> u32 {
    // Maximum of a 9-bit mantissa at the largest exponent.
    let color = color.map(|value| if value > 0.0 { value.min(65_408.0) } else { 0.0 });
    let most = color[0].max(color[1]).max(color[2]);
    if most <= 0.0 {
        return 0;
    }
    // Exponent of the number itself: 2^(exponent - 16) is at most `most`. Smaller numbers use what
    // precision the mantissas have left.
    let mut exponent = ((most.to_bits() >> 23) as i32 - 127).max(-16) + 16;
    if most * power(24 - exponent) >= 511.5 {
        exponent += 1;
    }
    let scale = power(24 - exponent);
    let [r, g, b] = color.map(|value| ((value * scale + 0.5) as u32).min(511));
    r | g << 9 | b << 18 | (exponent.clamp(0, 31) as u32) << 27
}

/// 2 to a small integer power.
fn power(exponent: i32) -> f32 {
    f32::from_bits(((exponent + 127) as u32) << 23)
}

/// All levels, packed for the shaders.
fn words(burst: &starburst::StarburstPattern) -> Vec<u32> {
    let levels = burst.levels(LAST_LEVEL);
    let packed = levels.into_par_iter().enumerate().map(|(number, level)| {
        let places = (-HALF..HALF).flat_map(|y| (-HALF..HALF).map(move |x| (x, y)));
        let pack = |((x, y), light): ((i64, i64), [f32; 3])| {
            let (x, y) = (x as f32 + 0.5, y as f32 + 0.5);
            let far2 = 1.0 + x * x + y * y;
            let scale = far2 * far2.sqrt() * power(number as i32);
            shared_exponent(light.map(|value| value * scale))
        };
        places.zip(level).map(pack).collect::<Vec<u32>>()
    });
    packed.collect::<Vec<_>>().concat()
}

fn aperture(settings: &Starburst) -> Aperture {
    let Starburst { iris, squeeze, dust, scratches, seed, .. } = *settings;
    Aperture { iris, squeeze, dust, scratches, seed }
}

impl Table {
    fn new(gpu: &Gpu, aperture: Aperture) -> GpuResult<Self> {
        let impossible = |error: LensError| GpuError::Pipeline {
            pipeline: "starburst".into(),
            detail: error.to_string(),
        };
        let burst = starburst::StarburstPattern::new(&aperture).map_err(impossible)?;
        let words = words(&burst);
        let bytes: &[u8] = bytemuck::cast_slice(&words);
        let texels = Buffer::new(gpu, "starburst table", bytes.len() as u64, BufferKind::Storage)?;
        let mut uploader = Uploader::new(gpu)?;
        uploader.buffer(&texels, bytes)?;
        uploader.finish()?;
        let half = HALF as f64;
        let beyond = [half, 2.0 * half, 4.0 * half].map(|half| burst.beyond(half) as f32);
        Ok(Self { aperture, texels, beyond, spike: burst.spike() as f32 })
    }
}

impl StarburstPass {
    /// Creates the pipelines.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let state =
            |blend| GraphicsState { colors: vec![(LIGHT, blend)], ..GraphicsState::default() };
        Ok(Self {
            sprites: ComputePipeline::new(gpu, "starburst sprites", "starburst_sprites.comp")?,
            core: GraphicsPipeline::new(
                gpu,
                "starburst core",
                "fullscreen.vert",
                "starburst_core.frag",
                &state(false),
            )?,
            draw: GraphicsPipeline::new(
                gpu,
                "starburst",
                "starburst.vert",
                "starburst.frag",
                &state(true),
            )?,
            table: Mutex::new(None),
        })
    }

    /// Computes the diffraction image of a point source, unless the aperture is unchanged.
    ///
    /// # Errors
    /// `GpuError` if memory runs out, the device is lost, or the aperture is invalid, which looks
    /// reject earlier.
    pub fn prepare(&self, gpu: &Gpu, settings: &Starburst) -> GpuResult<()> {
        let wanted = aperture(settings);
        let lock = || self.table.lock().unwrap_or_else(PoisonError::into_inner);
        if lock().as_ref().is_some_and(|table| table.aperture == wanted) {
            return Ok(());
        }
        // Built outside the lock: rayon workers compute it, and a waiting one may take other work
        // that locks.
        let table = Table::new(gpu, wanted)?;
        *lock() = Some(table);
        Ok(())
    }

    /// Declares the passes. The images are at output resolution; `limit_counters`: of
    /// `passes::limit_counters`.
    pub fn declare(
        &self,
        g: &mut Graph<'_>,
        SceneFrame { data, output, .. }: SceneFrame<'_>,
        (depth, light): (ImageHandle, ImageHandle),
        (bright, limit_counters): (FlareSources, BufferHandle),
        settings: &Starburst,
    ) -> ImageHandle {
        let Some(table) = self.table.lock().unwrap_or_else(PoisonError::into_inner).clone() else {
            return light;
        };
        let [width, height] = output.values.size;
        let ([right, up], pitch) = camera_axes(output);
        let [a, b, c] = table.beyond;
        let constants = StarburstConstants {
            steps: starburst::steps(settings.gate_width / f64::from(width), settings.f_number)
                as f32,
            pitch,
            spike: table.spike,
            points: u32::from(settings.points),
            beyond: vec4(a, b, c, 0.0),
            right,
            up,
        };
        let sprites = g.storage(
            "starburst sprites",
            u64::from(MAX_SOURCES) * size_of::<StarburstSprite>() as u64,
        );
        g.compute("starburst: sprites", &self.sprites)
            .binds([output.uniform()])
            .storage("flare_source_block", bright.list)
            .storage("burst_block", &table.texels)
            .written("sprite_block", sprites)
            .updated("limit_counter_block", limit_counters)
            .push(&constants)
            .dispatch([1, 1, 1]);
        let out = g.image("light with starbursts", width, height, LIGHT);
        g.fullscreen("starburst: cores", &self.core)
            .binds([output.uniform()])
            .sampled("depth_image", depth)
            .sampled("light_image", light)
            .storage("light_block", &data.lights)
            .storage("flare_tile_block", bright.tiles)
            .storage("flare_source_block", bright.list)
            .storage("sprite_block", sprites)
            .push(&constants)
            .target(out)
            .draw();
        g.fullscreen("starburst", &self.draw)
            .binds([output.uniform()])
            .vertex_storage("sprite_block", sprites)
            .storage("burst_block", &table.texels)
            .push(&constants)
            .target_loaded(out)
            .draw_vertices(6, MAX_SOURCES);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_hold_three_channels() {
        let unpack = |word: u32| {
            let scale = f32::exp2((word >> 27) as f32 - 24.0);
            [word & 511, word >> 9 & 511, word >> 18 & 511].map(|mantissa| mantissa as f32 * scale)
        };
        for color in [
            [1.0, 0.5, 0.25],
            [0.999, 0.001, 0.0],
            [6e4, 3.0, 1e4],
            [3e-4, 2e-4, 1e-4],
            [511.9, 1.0, 2.0],
        ] {
            let got = unpack(shared_exponent(color));
            for (got, want) in got.into_iter().zip(color) {
                assert!((got - want).abs() <= color[0] / 511.0, "{got} for {want} of {color:?}");
            }
        }
        assert_eq!(unpack(shared_exponent([0.0, f32::NAN, -1.0])), [0.0; 3]);
        assert!(unpack(shared_exponent([f32::INFINITY; 3])).iter().all(|value| value.is_finite()));
    }
}
