//! Thin-lens depth of field: each pixel spreads over its own circle of confusion (CoC)
//! (docs/camera-effects.md).
//!
//! CoCs of up to 4 pixels in radius are gathered at full resolution. Larger ones are gathered in
//! size classes, each at a resolution where its CoCs are a few texels wide. Highlights (pixels that
//! stand out from their neighborhood) are splatted as exact bokeh images of the aperture.

use std::sync::Arc;

use super::formats::LIGHT;
use crate::{
    camera::effects::DepthOfField,
    gpu::{
        ComputePipeline, Gpu, GpuResult, GraphicsPipeline, GraphicsState,
        shader_structs::effects::{DepthOfFieldConstants, HIGHLIGHTS_PER_TILE, Highlight},
        vk,
    },
    gpu_scene::FrameUniforms,
    graph::{BufferHandle, Graph, ImageHandle},
};

/// Tile size per axis (texels); each tile stores the reach of its CoCs.
const TILE: u32 = 16;

/// CoC radius (pixels) of size class 0; class k has 2^k times that (`CLASS_RADIUS` in the shaders).
const CLASS_RADIUS: f64 = 4.0;

/// Maximum CoC radius (pixels), and as a fraction of the smaller image side.
const MAX_RADIUS: f64 = 384.0;
const MAX_RADIUS_FRACTION: f64 = 0.5;

/// Minimum exposed light of a highlight's bokeh disc: half an 8-bit step.
const MIN_HIGHLIGHT_LIGHT: f32 = 1.0 / 512.0;

/// CoC radii of a size class.
const RADII: vk::Format = vk::Format::R16G16_SFLOAT;

/// Pipelines of the depth of field passes.
pub struct DepthOfFieldPass {
    circles: Arc<ComputePipeline>,
    classes: Arc<ComputePipeline>,
    spread: Arc<GraphicsPipeline>,
    whole: Arc<GraphicsPipeline>,
    points: Arc<GraphicsPipeline>,
}

/// Layers of all size classes from 1 on: foreground, background, and everything but the foreground.
#[derive(Clone, Copy)]
struct Layers {
    near: ImageHandle,
    far: ImageHandle,
    background: ImageHandle,
}

/// Images of a size class before gathering.
#[derive(Clone, Copy)]
struct SizeClass {
    layers: Layers,
    radii: ImageHandle,
    reach: BufferHandle,
    size: [u32; 2],
    constants: DepthOfFieldConstants,
}

/// Largest CoC of the frame and the largest one drawn.
#[derive(Clone, Copy)]
pub struct CocLimit {
    /// One word per tile for another use, then one per tile with its maximum CoC radius (pixels,
    /// float bits).
    pub counts: BufferHandle,
    /// Number of tiles.
    pub tiles: u32,
    /// Maximum CoC radius that is drawn (pixels).
    pub drawn: f32,
}

/// Results of the CoC pass.
#[derive(Clone, Copy)]
struct Circles {
    image: ImageHandle,
    reach: BufferHandle,
    highlights: BufferHandle,
    counts: BufferHandle,
    tiles: [u32; 2],
}

/// Shader constants for the image size in pixels, and the index of the largest size class.
fn constants(field: &DepthOfField, frame: &FrameUniforms) -> DepthOfFieldConstants {
    let [width, height] = frame.values.size.map(f64::from);
    let pixels = width / field.gate_width;
    // The constructor rejects a focus inside the lens; a CoC of zero blurs nothing.
    let [at_infinity, slope] = field.radius().unwrap_or_default();
    let pupil = field.lens.aperture_diameter() / 2.0;
    let max = MAX_RADIUS.min(MAX_RADIUS_FRACTION * width.min(height)).max(1.0);
    let classes = (max / CLASS_RADIUS).log2().ceil().max(2.0);
    let blades = if field.iris.blades < 3 { 0 } else { field.iris.blades };
    // Tangent of the field angle one pixel from the center. The slope is the pupil radius times the
    // image distance.
    let tangent = field.gate_width / width * pupil / slope.max(f64::MIN_POSITIVE);
    let rim = field.rim.filter(|rim| rim.distance != 0.0);
    DepthOfFieldConstants {
        radius_at_infinity: (at_infinity * pixels) as f32,
        radius_slope: (slope * pixels) as f32,
        max_radius: max as f32,
        blades: blades as f32,
        curvature: field.iris.curvature.clamp(0.0, 1.0) as f32,
        rotation: field.iris.rotation as f32,
        open_area: field.iris.relative_area() as f32,
        rim_radius: rim.map_or(1.0, |rim| rim.radius / pupil) as f32,
        rim_shift: rim.map_or(0.0, |rim| rim.distance / pupil * tangent) as f32,
        min_highlight_light: MIN_HIGHLIGHT_LIGHT,
        level: 0,
        last_level: classes as u32,
    }
}

impl DepthOfFieldPass {
    /// Creates the pipelines.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let draw = |name: &str, vertex: &str, fragment: &str, targets: usize, blend: bool| {
            let state =
                GraphicsState { colors: vec![(LIGHT, blend); targets], ..GraphicsState::default() };
            GraphicsPipeline::new(gpu, name, vertex, fragment, &state)
        };
        let points = ("depth_of_field_bokeh.vert", "depth_of_field_bokeh.frag");
        Ok(Self {
            circles: ComputePipeline::new(
                gpu,
                "depth of field circles",
                "depth_of_field_coc.comp",
            )?,
            classes: ComputePipeline::new(
                gpu,
                "depth of field classes",
                "depth_of_field_classes.comp",
            )?,
            spread: draw(
                "depth of field spread",
                "fullscreen.vert",
                "depth_of_field_gather.frag",
                3,
                false,
            )?,
            whole: draw("depth of field", "fullscreen.vert", "depth_of_field.frag", 1, false)?,
            points: draw("depth of field points", points.0, points.1, 1, true)?,
        })
    }

    /// Declares the passes. Returns the light and the CoC limit.
    pub fn declare(
        &self,
        g: &mut Graph<'_>,
        frame: &FrameUniforms,
        depth: ImageHandle,
        light: ImageHandle,
        field: &DepthOfField,
    ) -> (ImageHandle, CocLimit) {
        let constants = constants(field, frame);
        let circles = self.declare_circles(g, frame, depth, light, constants);
        let classes: Vec<SizeClass> = (1..=constants.last_level)
            .map(|level| {
                let of_level = DepthOfFieldConstants { level, ..constants };
                self.declare_class(g, frame.values.size, circles.image, of_level)
            })
            .collect();
        let mut above = nothing(g);
        for class in classes.iter().rev() {
            above = self.declare_spread(g, *class, above);
        }
        let out = self.declare_whole(g, frame.values.size, circles, above, constants);
        let [across, down] = circles.tiles;
        (
            out,
            CocLimit { counts: circles.counts, tiles: across * down, drawn: constants.max_radius },
        )
    }

    fn declare_circles(
        &self,
        g: &mut Graph<'_>,
        frame: &FrameUniforms,
        depth: ImageHandle,
        light: ImageHandle,
        constants: DepthOfFieldConstants,
    ) -> Circles {
        let [width, height] = frame.values.size;
        let tiles = [width.div_ceil(TILE), height.div_ceil(TILE)];
        let count = u64::from(tiles[0]) * u64::from(tiles[1]);
        let out = Circles {
            image: g.image("circles of confusion", width, height, LIGHT),
            reach: g.storage("depth of field reach 0", count * 8),
            highlights: g.storage(
                "highlights",
                count * u64::from(HIGHLIGHTS_PER_TILE) * size_of::<Highlight>() as u64,
            ),
            counts: g.storage("highlight counts", count * 8),
            tiles,
        };
        g.compute("depth of field: circles of confusion", &self.circles)
            .binds([frame.uniform()])
            .sampled("depth_image", depth)
            .sampled("light_image", light)
            .image_written("coc_image", out.image)
            .written("reach_block", out.reach)
            .written("highlight_block", out.highlights)
            .written("count_block", out.counts)
            .push(&constants)
            .dispatch([tiles[0], tiles[1], 1]);
        out
    }

    fn declare_class(
        &self,
        g: &mut Graph<'_>,
        picture: [u32; 2],
        circles: ImageHandle,
        constants: DepthOfFieldConstants,
    ) -> SizeClass {
        let level = constants.level;
        let size = picture.map(|side| side.div_ceil(1 << level));
        let tiles = size.map(|side| side.div_ceil(TILE));
        let image = |g: &mut Graph<'_>, name: &str, format| {
            g.image(&format!("depth of field {name} {level}"), size[0], size[1], format)
        };
        let out = SizeClass {
            layers: Layers {
                near: image(g, "near", LIGHT),
                far: image(g, "far", LIGHT),
                background: image(g, "background", LIGHT),
            },
            radii: image(g, "radii", RADII),
            reach: g.storage(
                &format!("depth of field reach {level}"),
                u64::from(tiles[0]) * u64::from(tiles[1]) * 8,
            ),
            size,
            constants,
        };
        g.compute(&format!("depth of field: size class {level}"), &self.classes)
            .sampled("coc_image", circles)
            .image_written("near_image", out.layers.near)
            .image_written("far_image", out.layers.far)
            .image_written("background_image", out.layers.background)
            .image_written("radius_image", out.radii)
            .written("reach_block", out.reach)
            .push(&constants)
            .dispatch([tiles[0], tiles[1], 1]);
        out
    }

    fn declare_spread(&self, g: &mut Graph<'_>, class: SizeClass, above: Layers) -> Layers {
        let level = class.constants.level;
        let [width, height] = class.size;
        let image = |g: &mut Graph<'_>, name: &str| {
            g.image(&format!("depth of field {name} from {level}"), width, height, LIGHT)
        };
        let out = Layers {
            near: image(g, "near"),
            far: image(g, "far"),
            background: image(g, "background"),
        };
        g.fullscreen(&format!("depth of field: gather {level}"), &self.spread)
            .sampled("near_image", class.layers.near)
            .sampled("far_image", class.layers.far)
            .sampled("background_image", class.layers.background)
            .sampled("radius_image", class.radii)
            .storage("reach_block", class.reach)
            .sampled("near_coarser", above.near)
            .sampled("far_coarser", above.far)
            .sampled("background_coarser", above.background)
            .push(&class.constants)
            .target(out.near)
            .target(out.far)
            .target(out.background)
            .draw();
        out
    }

    fn declare_whole(
        &self,
        g: &mut Graph<'_>,
        [width, height]: [u32; 2],
        circles: Circles,
        above: Layers,
        constants: DepthOfFieldConstants,
    ) -> ImageHandle {
        let out = g.image("light with depth of field", width, height, LIGHT);
        g.fullscreen("depth of field", &self.whole)
            .sampled("coc_image", circles.image)
            .storage("reach_block", circles.reach)
            .sampled("near_coarser", above.near)
            .sampled("far_coarser", above.far)
            .sampled("background_coarser", above.background)
            .push(&constants)
            .target(out)
            .draw();
        g.fullscreen("depth of field: highlights", &self.points)
            .sampled("coc_image", circles.image)
            .vertex_storage("highlight_block", circles.highlights)
            .vertex_storage("count_block", circles.counts)
            .push(&constants)
            .target_loaded(out)
            .draw_vertices(3, circles.tiles[0] * circles.tiles[1] * HIGHLIGHTS_PER_TILE);
        out
    }
}

/// Empty layers beyond the largest size class.
fn nothing(g: &mut Graph<'_>) -> Layers {
    let [near, far, background] =
        ["near", "far", "background"].map(|name| g.image(&format!("no {name}"), 1, 1, LIGHT));
    g.draws("depth of field: clear")
        .target(near)
        .target(far)
        .target(background)
        .record(|_, _| Ok(()));
    Layers { near, far, background }
}
