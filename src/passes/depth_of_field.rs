//! Thin-lens depth of field: each pixel spreads over its own circle of confusion (CoC)
//! (docs/camera-effects.md).
//!
//! CoCs of up to 4 pixels in radius are gathered at full resolution. Larger ones are gathered in
//! size classes, each at a resolution where its CoCs are a few texels wide. Highlights (pixels that
//! stand out from their neighborhood) are splatted as exact bokeh images of the aperture.

use std::sync::Arc;

use super::{FrameData, gbuffer::LIGHT};
use crate::{
    camera::post_effects::DepthOfField,
    gpu::{
        Bind, ComputePipeline, Gpu, GpuResult, GraphicsPipeline, GraphicsState,
        shader_structs::effects::{DepthOfFieldConstants, HIGHLIGHTS_PER_TILE, Highlight},
        vk,
    },
    graph::{Access, BufferHandle, Graph, ImageHandle},
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
fn constants(field: &DepthOfField, data: &FrameData) -> DepthOfFieldConstants {
    let [width, height] = data.values.size.map(f64::from);
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
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        data: &'a FrameData,
        depth: ImageHandle,
        light: ImageHandle,
        field: &DepthOfField,
    ) -> (ImageHandle, CocLimit) {
        let constants = constants(field, data);
        let circles = self.declare_circles(g, data, depth, light, constants);
        let classes: Vec<SizeClass> = (1..=constants.last_level)
            .map(|level| {
                let of_level = DepthOfFieldConstants { level, ..constants };
                self.declare_class(g, data.values.size, circles.image, of_level)
            })
            .collect();
        let mut above = nothing(g);
        for class in classes.iter().rev() {
            above = self.declare_spread(g, *class, above);
        }
        let out = self.declare_whole(g, data.values.size, circles, above, constants);
        let [across, down] = circles.tiles;
        (
            out,
            CocLimit { counts: circles.counts, tiles: across * down, drawn: constants.max_radius },
        )
    }

    fn declare_circles<'a>(
        &'a self,
        g: &mut Graph<'a>,
        data: &'a FrameData,
        depth: ImageHandle,
        light: ImageHandle,
        constants: DepthOfFieldConstants,
    ) -> Circles {
        let [width, height] = data.values.size;
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
        g.pass("depth of field: circles of confusion")
            .uses(depth, Access::ComputeSampled)
            .uses(light, Access::ComputeSampled)
            .uses(out.image, Access::ComputeStorageWrite)
            .uses(out.reach, Access::ComputeStorageWrite)
            .uses(out.highlights, Access::ComputeStorageWrite)
            .uses(out.counts, Access::ComputeStorageWrite)
            .record(move |cx| {
                let (depth, light, image) = (cx.image(depth), cx.image(light), cx.image(out.image));
                let (reach, highlights) = (cx.buffer(out.reach), cx.buffer(out.highlights));
                let counts = cx.buffer(out.counts);
                cx.rec.bind_compute(
                    &self.circles,
                    &[
                        data.uniform(),
                        ("depth_image", Bind::Sampled(&depth)),
                        ("light_image", Bind::Sampled(&light)),
                        ("coc_image", Bind::StorageImage(&image)),
                        ("reach_block", Bind::Storage(&reach)),
                        ("highlight_block", Bind::Storage(&highlights)),
                        ("count_block", Bind::Storage(&counts)),
                    ],
                )?;
                cx.rec.push_compute(&self.circles, &constants);
                cx.rec.dispatch(tiles[0], tiles[1], 1);
                Ok(())
            });
        out
    }

    fn declare_class<'a>(
        &'a self,
        g: &mut Graph<'a>,
        picture: [u32; 2],
        circles: ImageHandle,
        constants: DepthOfFieldConstants,
    ) -> SizeClass {
        let level = constants.level;
        let size = picture.map(|side| side.div_ceil(1 << level));
        let tiles = size.map(|side| side.div_ceil(TILE));
        let image = |g: &mut Graph<'a>, name: &str, format| {
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
        g.pass(&format!("depth of field: size class {level}"))
            .uses(circles, Access::ComputeSampled)
            .uses(out.layers.near, Access::ComputeStorageWrite)
            .uses(out.layers.far, Access::ComputeStorageWrite)
            .uses(out.layers.background, Access::ComputeStorageWrite)
            .uses(out.radii, Access::ComputeStorageWrite)
            .uses(out.reach, Access::ComputeStorageWrite)
            .record(move |cx| {
                let circles = cx.image(circles);
                let (near, far) = (cx.image(out.layers.near), cx.image(out.layers.far));
                let (background, radii) = (cx.image(out.layers.background), cx.image(out.radii));
                let reach = cx.buffer(out.reach);
                cx.rec.bind_compute(
                    &self.classes,
                    &[
                        ("coc_image", Bind::Sampled(&circles)),
                        ("near_image", Bind::StorageImage(&near)),
                        ("far_image", Bind::StorageImage(&far)),
                        ("background_image", Bind::StorageImage(&background)),
                        ("radius_image", Bind::StorageImage(&radii)),
                        ("reach_block", Bind::Storage(&reach)),
                    ],
                )?;
                cx.rec.push_compute(&self.classes, &constants);
                cx.rec.dispatch(tiles[0], tiles[1], 1);
                Ok(())
            });
        out
    }

    fn declare_spread<'a>(&'a self, g: &mut Graph<'a>, class: SizeClass, above: Layers) -> Layers {
        let level = class.constants.level;
        let [width, height] = class.size;
        let image = |g: &mut Graph<'a>, name: &str| {
            g.image(&format!("depth of field {name} from {level}"), width, height, LIGHT)
        };
        let out = Layers {
            near: image(g, "near"),
            far: image(g, "far"),
            background: image(g, "background"),
        };
        g.pass(&format!("depth of field: gather {level}"))
            .uses(class.layers.near, Access::FragmentSampled)
            .uses(class.layers.far, Access::FragmentSampled)
            .uses(class.layers.background, Access::FragmentSampled)
            .uses(class.radii, Access::FragmentSampled)
            .uses(class.reach, Access::FragmentStorageRead)
            .uses(above.near, Access::FragmentSampled)
            .uses(above.far, Access::FragmentSampled)
            .uses(above.background, Access::FragmentSampled)
            .color_cleared(out.near, [0.0; 4])
            .color_cleared(out.far, [0.0; 4])
            .color_cleared(out.background, [0.0; 4])
            .record(move |cx| {
                let (near, far) = (cx.image(class.layers.near), cx.image(class.layers.far));
                let (background, radii) =
                    (cx.image(class.layers.background), cx.image(class.radii));
                let (near_coarser, far_coarser) = (cx.image(above.near), cx.image(above.far));
                let (background_coarser, reach) =
                    (cx.image(above.background), cx.buffer(class.reach));
                cx.rec.bind_graphics(
                    &self.spread,
                    &[
                        ("near_image", Bind::Sampled(&near)),
                        ("far_image", Bind::Sampled(&far)),
                        ("background_image", Bind::Sampled(&background)),
                        ("radius_image", Bind::Sampled(&radii)),
                        ("near_coarser", Bind::Sampled(&near_coarser)),
                        ("far_coarser", Bind::Sampled(&far_coarser)),
                        ("background_coarser", Bind::Sampled(&background_coarser)),
                        ("reach_block", Bind::Storage(&reach)),
                    ],
                )?;
                cx.rec.push_graphics(&self.spread, &class.constants);
                cx.rec.draw_fullscreen();
                Ok(())
            });
        out
    }

    fn declare_whole<'a>(
        &'a self,
        g: &mut Graph<'a>,
        [width, height]: [u32; 2],
        circles: Circles,
        above: Layers,
        constants: DepthOfFieldConstants,
    ) -> ImageHandle {
        let out = g.image("light with depth of field", width, height, LIGHT);
        g.pass("depth of field")
            .uses(circles.image, Access::FragmentSampled)
            .uses(circles.reach, Access::FragmentStorageRead)
            .uses(above.near, Access::FragmentSampled)
            .uses(above.far, Access::FragmentSampled)
            .uses(above.background, Access::FragmentSampled)
            .color_cleared(out, [0.0; 4])
            .record(move |cx| {
                let (coc_image, reach) = (cx.image(circles.image), cx.buffer(circles.reach));
                let (near, far, background) =
                    (cx.image(above.near), cx.image(above.far), cx.image(above.background));
                cx.rec.bind_graphics(
                    &self.whole,
                    &[
                        ("coc_image", Bind::Sampled(&coc_image)),
                        ("near_coarser", Bind::Sampled(&near)),
                        ("far_coarser", Bind::Sampled(&far)),
                        ("background_coarser", Bind::Sampled(&background)),
                        ("reach_block", Bind::Storage(&reach)),
                    ],
                )?;
                cx.rec.push_graphics(&self.whole, &constants);
                cx.rec.draw_fullscreen();
                Ok(())
            });
        g.pass("depth of field: highlights")
            .uses(circles.image, Access::FragmentSampled)
            .uses(circles.highlights, Access::VertexStorageRead)
            .uses(circles.counts, Access::VertexStorageRead)
            .color_loaded(out)
            .record(move |cx| {
                let image = cx.image(circles.image);
                let (highlights, counts) =
                    (cx.buffer(circles.highlights), cx.buffer(circles.counts));
                cx.rec.bind_graphics(
                    &self.points,
                    &[
                        ("coc_image", Bind::Sampled(&image)),
                        ("highlight_block", Bind::Storage(&highlights)),
                        ("count_block", Bind::Storage(&counts)),
                    ],
                )?;
                cx.rec.push_graphics(&self.points, &constants);
                cx.rec.draw(3, circles.tiles[0] * circles.tiles[1] * HIGHLIGHTS_PER_TILE);
                Ok(())
            });
        out
    }
}

/// Empty layers beyond the largest size class.
fn nothing(g: &mut Graph<'_>) -> Layers {
    let [near, far, background] =
        ["near", "far", "background"].map(|name| g.image(&format!("no {name}"), 1, 1, LIGHT));
    g.pass("depth of field: clear")
        .color_cleared(near, [0.0; 4])
        .color_cleared(far, [0.0; 4])
        .color_cleared(background, [0.0; 4])
        .record(|_| Ok(()));
    Layers { near, far, background }
}
