//! Lens ghosts of bright sources: light reflected by two lens surfaces onto the sensor, by paraxial
//! matrices or exact rays (docs/lens-ghosts.md). All steps after the source list run on the device.
//!
//! `probe` finds the used part of the entrance and the brightness of each ghost of each source.
//! `plan` selects the ghosts to draw, and `trace` builds their meshes. One draw then adds all of
//! them at half of the image resolution. The evaluation softens a ghost's edges by the source's
//! disc, so that a large source costs no more than a small one.

use std::sync::{Arc, Mutex, PoisonError};

use glam::{Vec2, Vec3, Vec4, vec2, vec4};

use super::formats::LIGHT;
use crate::{
    gpu::{
        Buffer, BufferKind, ComputePipeline, Gpu, GpuResult, GraphicsPipeline, GraphicsState,
        shader_structs::ghosts::{
            CHUNK, CURVED_X, CURVED_Y, GHOST_REPORT_WORDS, GHOST_SOURCES, GhostConstants,
            GhostItem, GhostLayer, GhostNode, GhostPath, GhostProbe, GhostSurface, STOP,
        },
        upload::Uploader,
        vk,
    },
    graph::{BufferHandle, Graph, ImageHandle},
    optics::{
        Lens,
        ghosts::{GhostMethod, HYSTERESIS, LensGhosts},
        imaging::CHANNELS,
    },
};

/// 32-bit floats: hundreds of faint layers are added.
const SUM: vk::Format = vk::Format::R32G32B32A32_SFLOAT;
/// Node capacity of all meshes together: 48 MiB.
const NODES: u64 = 3 << 19;
/// Cells per side of the finest mesh.
const FINEST: u64 = 64;
/// Node capacity per chunk: a chunk of the coarsest mesh has 17^2 over 4.
const NODES_PER_CHUNK: u64 = 64;
/// Maximum work groups along x that every device supports.
const GROUPS: u64 = 65_535;
/// Softening of edges, in texels of the ghost image.
const SOFTENED: f64 = 0.75;

/// Ghost counters of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GhostReport {
    /// Ghosts drawn.
    pub drawn: u32,
    /// Ghosts dropped as too faint.
    pub dropped: u32,
    /// Ghosts outside the image.
    pub off_screen: u32,
    /// Ghosts dropped for lack of capacity.
    pub over_capacity: u32,
    /// Fraction of the light of all ghosts on the image that is not drawn, 0 to 1.
    pub light_dropped: f32,
    /// Sources with ghosts.
    pub sources: u32,
    /// Bright sources of the frame beyond those.
    pub sources_dropped: u32,
}

impl GhostReport {
    /// Decodes the words that the device wrote.
    #[must_use]
    pub fn from_words(words: &[u32]) -> Self {
        let at = |index: usize| words.get(index).copied().unwrap_or(0);
        let [drawn, dropped] = [4, 5].map(|index| f32::from_bits(at(index)));
        let part = dropped / (drawn + dropped);
        Self {
            drawn: at(0),
            dropped: at(1),
            off_screen: at(2),
            over_capacity: at(3),
            light_dropped: if part.is_finite() { part } else { 0.0 },
            sources: at(6),
            sources_dropped: at(7).saturating_sub(at(6)),
        }
    }
}

/// Data of a lens on the device.
#[derive(Clone)]
struct Table {
    lens: Arc<Lens>,
    surfaces: Arc<Buffer>,
    paths: Arc<Buffer>,
    crossings: Arc<Buffer>,
    count: u32,
    /// Luminance (nits) of a pixel per illuminance (lx) on the sensor, by channel.
    luminance: Vec3,
    /// Selected ghosts of two frames, for hysteresis.
    kept: [Arc<Buffer>; 2],
    /// Number of frames that used this table.
    frames: usize,
}

/// Pipelines of the lens ghost passes, and the table of the last lens.
pub struct LensGhostsPass {
    probe: [Arc<ComputePipeline>; 2],
    plan: Arc<ComputePipeline>,
    trace: [Arc<ComputePipeline>; 2],
    draw: Arc<GraphicsPipeline>,
    add: Arc<GraphicsPipeline>,
    table: Mutex<Option<Table>>,
}

/// Meters to millimeters, as the shaders use.
fn mm(meters: f64) -> f32 {
    (meters * 1e3) as f32
}

fn surfaces(lens: &Lens) -> Vec<GhostSurface> {
    let flag = |on: bool, bit: u32| if on { bit } else { 0 };
    lens.surfaces()
        .iter()
        .map(|surface| GhostSurface {
            before: Vec3::from_array(
                CHANNELS.map(|wavelength| surface.before.index(wavelength) as f32),
            ),
            vertex: mm(surface.vertex),
            after: Vec3::from_array(
                CHANNELS.map(|wavelength| surface.after.index(wavelength) as f32),
            ),
            curvature: (surface.curvature / 1e3) as f32,
            radius: mm(surface.semi_aperture),
            film_index: surface.coating.map_or(0.0, |film| film.index as f32),
            film: surface.coating.map_or(0.0, |film| (film.thickness() * 1e9) as f32),
            flags: flag(surface.curved[0], CURVED_X)
                | flag(surface.curved[1], CURVED_Y)
                | flag(surface.stop, STOP),
        })
        .collect()
}

/// All ghost paths and their surface crossings: `(a, b)` over the rim radius along x and along y,
/// for green.
fn paths(lens: &Lens) -> (Vec<GhostPath>, Vec<Vec4>) {
    let mut crossings: Vec<Vec4> = Vec::new();
    let paths = lens
        .reflection_pairs()
        .map(|bounces| {
            let [red, green, blue] =
                CHANNELS.map(|wavelength| lens.paraxial_ghost(bounces, wavelength));
            let matrix = |ghost: &crate::optics::ghosts::ParaxialGhost| {
                let [x, y] = ghost.matrices;
                vec4(x.a as f32, mm(x.b), y.a as f32, mm(y.b))
            };
            let crossing = crossings.len() as u32;
            crossings.extend(green.crossings.iter().map(|at| {
                let (height, slope) = (at.height / at.radius / 1e3, at.slope / at.radius);
                vec4(height.x as f32, slope.x as f32, height.y as f32, slope.y as f32)
            }));
            GhostPath {
                red: matrix(&red),
                green: matrix(&green),
                blue: matrix(&blue),
                part: Vec3::from_array([&red, &green, &blue].map(|ghost| ghost.part as f32)),
                radius: mm(green.entering_radius()),
                first: bounces.first as u32,
                second: bounces.second as u32,
                crossing,
                crossings: green.crossings.len() as u32,
            }
        })
        .collect();
    (paths, crossings)
}

impl Table {
    fn new(gpu: &Gpu, lens: &Arc<Lens>) -> GpuResult<Self> {
        let mut uploader = Uploader::new(gpu)?;
        let mut upload = |name: &str, bytes: &[u8], least: usize| -> GpuResult<Arc<Buffer>> {
            let buffer =
                Buffer::new(gpu, name, bytes.len().max(least) as u64, BufferKind::Storage)?;
            uploader.buffer(&buffer, bytes)?;
            Ok(buffer)
        };
        let (paths, crossings) = paths(lens);
        let kept = vec![0u32; (GHOST_SOURCES as usize) * (2 + paths.len())];
        let kept: &[u8] = bytemuck::cast_slice(&kept);
        let table = Self {
            lens: Arc::clone(lens),
            surfaces: upload(
                "ghost surfaces",
                bytemuck::cast_slice(&surfaces(lens)),
                size_of::<GhostSurface>(),
            )?,
            paths: upload("ghost paths", bytemuck::cast_slice(&paths), size_of::<GhostPath>())?,
            crossings: upload(
                "ghost crossings",
                bytemuck::cast_slice(&crossings),
                size_of::<Vec4>(),
            )?,
            count: paths.len() as u32,
            luminance: Vec3::from_array(
                CHANNELS.map(|wavelength| lens.luminance_per_illuminance(wavelength) as f32),
            ),
            kept: [upload("ghosts drawn, even", kept, 4)?, upload("ghosts drawn, odd", kept, 4)?],
            frames: 0,
        };
        uploader.finish()?;
        Ok(table)
    }
}

/// Buffers between the passes.
#[derive(Clone, Copy)]
struct GhostScratch {
    found: BufferHandle,
    items: BufferHandle,
    nodes: BufferHandle,
    layers: BufferHandle,
    chunks: BufferHandle,
    commands: BufferHandle,
}

impl LensGhostsPass {
    /// Creates the pipelines.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let compute = |name: &str, shader: &str| ComputePipeline::new(gpu, name, shader);
        let state = |format, blend| GraphicsState {
            colors: vec![(format, blend)],
            ..GraphicsState::default()
        };
        Ok(Self {
            probe: [
                compute("ghosts probe paraxial", "lens_ghosts_probe.comp+PARAXIAL")?,
                compute("ghosts probe", "lens_ghosts_probe.comp")?,
            ],
            plan: compute("ghosts plan", "lens_ghosts_plan.comp")?,
            trace: [
                compute("ghosts trace paraxial", "lens_ghosts_trace.comp+PARAXIAL")?,
                compute("ghosts trace", "lens_ghosts_trace.comp")?,
            ],
            draw: GraphicsPipeline::new(
                gpu,
                "ghosts",
                "lens_ghosts.vert",
                "lens_ghosts.frag",
                &state(SUM, true),
            )?,
            add: GraphicsPipeline::new(
                gpu,
                "ghosts add",
                "fullscreen.vert",
                "lens_ghosts_composite.frag",
                &state(LIGHT, false),
            )?,
            table: Mutex::new(None),
        })
    }

    /// Uploads a lens unless it is already on the device.
    ///
    /// # Errors
    /// `GpuError` if memory runs out or the device is lost.
    pub fn prepare(&self, gpu: &Gpu, settings: &LensGhosts) -> GpuResult<()> {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let there = table.as_ref().is_some_and(|table| {
            Arc::ptr_eq(&table.lens, &settings.lens) || table.lens == settings.lens
        });
        if !there {
            *table = Some(Table::new(gpu, &settings.lens)?);
        }
        Ok(())
    }

    /// Declares the passes: ghosts of the listed sources (`flare_sources::FlareSources::list`) over
    /// light of the image's size. Returns light and the report (`GhostReport`); `None` before
    /// `prepare`.
    pub fn declare(
        &self,
        g: &mut Graph<'_>,
        (size, light): ([u32; 2], ImageHandle),
        list: BufferHandle,
        settings: &LensGhosts,
    ) -> Option<(ImageHandle, BufferHandle)> {
        let table = {
            let mut slot = self.table.lock().unwrap_or_else(PoisonError::into_inner);
            let table = slot.as_mut()?;
            table.frames += 1;
            table.clone()
        };
        let lens = &table.lens;
        let small = size.map(|side| side.div_ceil(2));
        let ghosts = u64::from(table.count);
        let pairs = ghosts * u64::from(GHOST_SOURCES);
        let nodes = NODES.min(3 * pairs * (FINEST + 1) * (FINEST + 1)).max(1);
        let chunks = nodes / NODES_PER_CHUNK + 3 * (FINEST / u64::from(CHUNK)).pow(2);
        let items = pairs.clamp(1, GROUPS);
        let (front_radius, front_z) = lens.front();
        let iris = lens.iris();
        let constants = GhostConstants {
            wavelength: Vec3::from_array(CHANNELS.map(|wavelength| (wavelength * 1e9) as f32)),
            surfaces: lens.surfaces().len() as u32,
            luminance: table.luminance,
            ghosts: table.count,
            gate_half: vec2(mm(settings.gate[0] / 2.0), mm(settings.gate[1] / 2.0))
                .max(Vec2::splat(1e-6)),
            front_radius: mm(front_radius),
            front_z: mm(front_z),
            sensor_z: mm(lens.sensor()),
            pixel: mm(SOFTENED * settings.gate[0] / f64::from(small[0])),
            min_luminance: settings.cull_threshold as f32,
            hysteresis: HYSTERESIS as f32,
            blades: iris.blades as f32,
            curvature: iris.curvature.clamp(0.0, 1.0) as f32,
            rotation: iris.rotation as f32,
            level: u32::from(!lens.is_round()),
            node_capacity: nodes as u32,
            chunk_capacity: chunks as u32,
            item_capacity: items as u32,
            pad0: 0,
        };
        let bytes = |count: u64, one: usize| count.max(1) * one as u64;
        let between = GhostScratch {
            found: g.storage("ghosts found", bytes(pairs, size_of::<GhostProbe>())),
            items: g.storage("ghosts to draw", bytes(items, size_of::<GhostItem>())),
            nodes: g.storage("ghost meshes", bytes(nodes, size_of::<GhostNode>())),
            layers: g.storage("ghost channels", bytes(3 * items, size_of::<GhostLayer>())),
            chunks: g.storage("ghost chunks", bytes(chunks, 4)),
            commands: g.storage("ghost commands", 28),
        };
        let report = g.storage("ghost report", u64::from(GHOST_REPORT_WORDS) * 4);
        let tier = usize::from(settings.method == GhostMethod::Traced);
        self.declare_probe(g, &table, constants, tier, list, between);
        self.declare_plan(g, &table, constants, list, between, report);
        self.declare_trace(g, &table, constants, tier, list, between);
        let sum = g.image("ghosts", small[0], small[1], SUM);
        let GhostScratch { items, nodes, layers, chunks, commands, .. } = between;
        g.fullscreen("ghosts: draw", &self.draw)
            .uniform_value("ghost_block", "ghost constants", &constants)
            .vertex_storage("bright", list)
            .vertex_storage("item_block", items)
            .vertex_storage("node_block", nodes)
            .vertex_storage("layer_block", layers)
            .vertex_storage("chunk_block", chunks)
            .target(sum)
            .draw_indirect(commands, 12);
        let out = g.image("light with ghosts", size[0], size[1], LIGHT);
        g.fullscreen("ghosts: composite", &self.add)
            .sampled("light_image", light)
            .sampled("ghost_image", sum)
            .target(out)
            .draw();
        Some((out, report))
    }

    fn declare_probe(
        &self,
        g: &mut Graph<'_>,
        table: &Table,
        constants: GhostConstants,
        tier: usize,
        list: BufferHandle,
        between: GhostScratch,
    ) {
        g.compute("ghosts: probe", &self.probe[tier])
            .uniform_value("ghost_block", "ghost constants", &constants)
            .storage("surface_block", &table.surfaces)
            .storage("path_block", &table.paths)
            .storage("crossing_block", &table.crossings)
            .storage("bright", list)
            .written("found_block", between.found)
            .dispatch([table.count.max(1), GHOST_SOURCES, 1]);
    }

    fn declare_plan(
        &self,
        g: &mut Graph<'_>,
        table: &Table,
        constants: GhostConstants,
        list: BufferHandle,
        between: GhostScratch,
        report: BufferHandle,
    ) {
        let last = g.external(&table.kept[table.frames % 2]);
        let kept = g.external(&table.kept[(table.frames + 1) % 2]);
        g.compute("ghosts: plan", &self.plan)
            .uniform_value("ghost_block", "ghost constants", &constants)
            .storage("bright", list)
            .storage("found_block", between.found)
            .storage("last_block", last)
            .written("kept_block", kept)
            .written("item_block", between.items)
            .written("command_block", between.commands)
            .written("report_block", report)
            .dispatch([1, 1, 1]);
    }

    fn declare_trace(
        &self,
        g: &mut Graph<'_>,
        table: &Table,
        constants: GhostConstants,
        tier: usize,
        list: BufferHandle,
        between: GhostScratch,
    ) {
        g.compute("ghosts: trace", &self.trace[tier])
            .uniform_value("ghost_block", "ghost constants", &constants)
            .storage("surface_block", &table.surfaces)
            .storage("path_block", &table.paths)
            .storage("crossing_block", &table.crossings)
            .storage("bright", list)
            .storage("item_block", between.items)
            .written("node_block", between.nodes)
            .written("layer_block", between.layers)
            .written("chunk_block", between.chunks)
            .dispatch_indirect(between.commands, 0);
    }
}
