//! Screen-space reflections: rays through the depth buffer, and a history that follows what is
//! reflected (docs/reflections.md).

pub mod virtual_image;

use std::sync::Arc;

use glam::{DMat4, DVec2, DVec3, Mat4, Vec2, Vec3};

use super::{
    FrameData, GpuScene, Uploader, View, dynamic_buffer,
    gbuffer::{Gbuffer, LIGHT},
    velocity::{MotionState, VELOCITY},
};
use crate::{
    gpu::{
        Bind, Buffer, ComputePipeline, Gpu, GpuResult, GraphicsPipeline, GraphicsState, Image,
        ImageInfo, SamplerInfo, vk,
    },
    graph::{Access, Graph, ImageHandle},
    photometry::environment::{DFG_SIZE, dfg_table},
    scene::look::SsrReprojection,
    shader_struct,
};

/// Levels of the pyramid of depths, the picture's own included.
const LEVELS: u32 = 8;
/// The nearest and the farthest depth of a cell.
const CELL: vk::Format = vk::Format::R32G32_SFLOAT;
/// Above 0 where rays are sent, above a half where mirrors send them.
const RAY_MASK: vk::Format = vk::Format::D16_UNORM;
/// A packed ray (`shaders/lib/ssr_ray_packing.glsl`).
const RAY: vk::Format = vk::Format::R32G32B32A32_UINT;
/// Two packed numbers.
const PAIR: vk::Format = vk::Format::R32G32_UINT;
/// Light and a share, where single frames make no mean.
const REFLECTION: vk::Format = vk::Format::R16G16B16A16_SFLOAT;
/// Means of many frames need more than half floats' digits.
const HISTORY: vk::Format = vk::Format::R32G32B32A32_SFLOAT;
/// Numbers to look at.
const NUMBERS: vk::Format = vk::Format::R32G32B32A32_SFLOAT;
/// Shares of rays.
const SHARES: vk::Format = vk::Format::R16G16_SFLOAT;

/// Frames that a history of a still view is the mean of at most.
const MAX_STATIC_FRAMES: f32 = 1024.0;

shader_struct! {
    /// Of the passes that find reflections in the picture (`shaders/shared/ssr.glsl`).
    pub struct SsrConstants {
        /// From camera-relative places to the last frame's clip space, without its jitter.
        pub previous_to_clip: Mat4,
        /// To this frame's, without its jitter.
        pub to_clip: Mat4,
        /// From the last frame's clip space back.
        pub previous_from_clip: Mat4,
        /// Where the last frame's camera stood, relative to this one's.
        pub previous_eye: Vec3,
        /// Perceptual; rougher surfaces reflect their surroundings only.
        pub max_roughness: f32,
        /// Of the last frame's samples from their pixels' centres (pixels).
        pub previous_jitter: Vec2,
        /// What is seen is so thick, as a part of its distance.
        pub thickness: f32,
        /// Frames that a history is the mean of at most; 0 forgets it.
        pub max_frames: f32,
        /// Of the picture (pixels).
        pub size: [u32; 2],
        /// Of the image of rays (texels).
        pub rays: [u32; 2],
        /// Pixels a ray, on each side: 1 or 2.
        pub scale: u32,
        /// Neighbours whose rays a pixel uses.
        pub taps: u32,
        /// Cells that a ray may cross.
        pub steps: u32,
        /// Of the frame, for noise.
        pub number: u32,
        /// A `Reprojection`.
        pub reprojection: u32,
        /// 1: nothing has moved since the last frame.
        pub still: u32,
        /// Standard deviations of its neighbourhood that a history may be off its mean.
        pub gamma: f32,
        /// Of the pyramid of depths, the picture's own included.
        pub level_count: u32,
        /// Width of the picture rounded up to cells of the coarsest level (pixels).
        pub level_row: u32,
        /// 1: nothing is reflected but what rays find in the picture.
        pub bare: u32,
        /// Unit vector to the right in the picture.
        pub right: Vec3,
        /// Height of a pixel where homogeneous coordinates are divided by 1 (m).
        pub pixel: f32,
        /// Unit vector down in the picture.
        pub down: Vec3,
        /// Padding.
        pub pad0: [u32; 3],
    }
}

/// All structs that these shaders share, for the layout test.
pub const LAYOUTS: [crate::gpu::reflect::HostLayout; 1] = [SsrConstants::LAYOUT];

/// Where the history of a reflection is looked up; the numbers are the shader's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Reprojection {
    /// Where the mirror image was seen.
    #[default]
    Virtual = 0,
    /// Where the reflecting surface was seen.
    Surface = 1,
    /// By the smallest of four motions: the surface's, its by the camera alone, the image's by the
    /// camera alone, and that of what is reflected.
    Smallest = 2,
    /// The length of the ray behind the surface, as though mirrors were flat and nothing but the
    /// camera moved.
    HitParallax = 3,
}

impl From<SsrReprojection> for Reprojection {
    fn from(look: SsrReprojection) -> Self {
        match look {
            SsrReprojection::Virtual => Self::Virtual,
            SsrReprojection::Surface => Self::Surface,
            SsrReprojection::Smallest => Self::Smallest,
            SsrReprojection::HitParallax => Self::HitParallax,
        }
    }
}

/// How reflections are found and kept (`passes.ssr.*`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SsrSettings {
    /// Off: surfaces reflect probes and environment only.
    pub enabled: bool,
    /// One ray for two by two pixels.
    pub half_resolution: bool,
    /// Perceptual roughness up to which reflections are found, above 0 to 1; they fade over the
    /// last fifth.
    pub max_roughness: f64,
    /// What is seen is so thick, as a part of its distance.
    pub thickness: f64,
    /// Neighbours whose rays a pixel uses, its own included, 1 to 64.
    pub taps: u32,
    /// Cells of the pyramid of depths that a ray may cross, 8 to 1024.
    pub steps: u32,
    /// Frames that a moving history is the mean of at most; 0: each frame by itself, and no history
    /// is kept.
    pub max_history_frames: u32,
    /// Where the history is looked up.
    pub reprojection: Reprojection,
    /// A view in which nothing moves has a history of its own; without, it costs what one that
    /// moves does (`sunny16 bench`).
    pub still: bool,
}

impl Default for SsrSettings {
    fn default() -> Self {
        Self {
            enabled: false,
            half_resolution: false,
            max_roughness: 0.6,
            thickness: 0.1,
            taps: 16,
            steps: 128,
            max_history_frames: 16,
            reprojection: Reprojection::Virtual,
            still: true,
        }
    }
}

/// How a frame's reflections join those before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SsrFrame {
    /// Number of the frame since its history began, or of its sample.
    pub number: u32,
    /// There is a frame before that kept its reflections.
    pub has_history: bool,
    /// Nothing has moved since.
    pub still: bool,
    /// Nothing but the camera has.
    pub only_camera_moved: bool,
    /// The frame is one of those whose mean is the picture: it keeps no history.
    pub single_frame: bool,
    /// Of the last frame's samples from their pixels' centres (pixels).
    pub previous_jitter: DVec2,
    /// The last frame's camera: from its clip space to places relative to where it stood, and where
    /// that was relative to this one's (m).
    pub before: (Mat4, DVec3),
}

/// What the passes read of the host for one frame.
#[derive(Clone)]
pub struct FrameSsr {
    constants: Arc<Buffer>,
    values: SsrConstants,
    history: bool,
    only_camera_moved: bool,
}

impl FrameSsr {
    /// Of a frame with these settings; none where they are off. Without `surroundings` surfaces
    /// reflect no environment, no probe and no bounced light, and none of them is a light's or has
    /// layers.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(
        gpu: &Gpu,
        (view, motion): (&View, &[MotionState; 2]),
        settings: &SsrSettings,
        frame: &SsrFrame,
        surroundings: bool,
    ) -> GpuResult<Option<Self>> {
        if !settings.enabled {
            return Ok(None);
        }
        let size = [view.width, view.height];
        let scale = if settings.half_resolution { 2 } else { 1 };
        let history = settings.max_history_frames > 0 && !frame.single_frame;
        let still = frame.still && settings.still;
        let (level_count, level_row) = levels(size);
        let [before, now] = [&motion[0], &motion[1]].map(|moment| moment.to_clip.as_mat4());
        let back = DMat4::from_translation(frame.before.1) * frame.before.0.as_dmat4();
        let values = SsrConstants {
            previous_to_clip: before,
            to_clip: now,
            previous_from_clip: back.as_mat4(),
            previous_eye: frame.before.1.as_vec3(),
            max_roughness: settings.max_roughness as f32,
            previous_jitter: frame.previous_jitter.as_vec2(),
            thickness: settings.thickness as f32,
            max_frames: match frame.has_history && history {
                false => 0.0,
                true if still => MAX_STATIC_FRAMES,
                true => settings.max_history_frames as f32,
            },
            size,
            rays: size.map(|side| side.div_ceil(scale)),
            scale,
            taps: settings.taps,
            steps: settings.steps,
            number: frame.number,
            reprojection: settings.reprojection as u32,
            still: u32::from(still),
            gamma: 1.25,
            level_count,
            level_row,
            bare: u32::from(!surroundings),
            right: view.inverse.x_axis.truncate().normalize_or_zero(),
            pixel: 2.0 * view.inverse.y_axis.truncate().length() / view.height as f32,
            down: view.inverse.y_axis.truncate().normalize_or_zero(),
            ..SsrConstants::default()
        };
        let constants = dynamic_buffer(gpu, "reflection constants", &[values])?;
        Ok(Some(Self { constants, values, history, only_camera_moved: frame.only_camera_moved }))
    }
}

/// How many levels the pyramid of a picture has, and the width of a row of whole cells of the
/// coarsest (pixels): as wide is its image, whose first rows are the picture's, with all other
/// levels side by side below.
fn levels([width, height]: [u32; 2]) -> (u32, u32) {
    let count = LEVELS.min(1 + width.max(height).max(1).next_power_of_two().ilog2());
    (count, width.next_multiple_of(1 << (count - 1)))
}

/// What the passes found, for those who want to see it.
#[derive(Clone, Copy)]
pub struct SsrOutput {
    /// The picture's light with reflections.
    pub light: ImageHandle,
    /// Pixels that it has moved since the last frame: the reflection's motion where most light is
    /// reflected, else the surface's.
    pub velocity: ImageHandle,
    /// Shares of rays that found a surface and none, their length (m), why the history was not
    /// used; pixels that the reflection has moved, frames in its history, the way that was chosen.
    pub debug: Option<[ImageHandle; 2]>,
}

/// What the passes read of this frame.
#[derive(Clone, Copy)]
pub struct SsrInputs {
    /// Surfaces.
    pub gbuffer: Gbuffer,
    /// Light without what surfaces reflect of their surroundings.
    pub light: ImageHandle,
    /// What hides the surroundings, where it was measured.
    pub bent_normal_ao: Option<ImageHandle>,
    /// What surfaces reflect, where rays of bounced light found it.
    pub gi_specular: Option<ImageHandle>,
    /// Pixels from the last frame to this one.
    pub velocity: ImageHandle,
}

/// How frames are joined.
struct Temporal {
    virtual_image: Arc<GraphicsPipeline>,
    only_camera_moved: Arc<GraphicsPipeline>,
    other_ways: Arc<GraphicsPipeline>,
    still: Arc<GraphicsPipeline>,
    debug: Arc<GraphicsPipeline>,
}

/// The pipelines.
pub struct SsrPass {
    depth: Arc<ComputePipeline>,
    depth_coarse: Arc<ComputePipeline>,
    surroundings: [Arc<GraphicsPipeline>; 2],
    asked_half: Arc<GraphicsPipeline>,
    /// Of rays that their neighbours use too, and of rays that go into the light by themselves.
    trace: [Arc<GraphicsPipeline>; 2],
    /// At full resolution, at half, and there once more for mirrors; for a history, by themselves,
    /// and to look at.
    resolve: [[Arc<GraphicsPipeline>; 3]; 3],
    temporal: Temporal,
    /// Of pixels that send rays, and of all; without motion and with it.
    composite: [[Arc<GraphicsPipeline>; 2]; 2],
    reflectances: Arc<Image>,
}

impl SsrPass {
    /// Makes the pipelines.
    ///
    /// # Errors
    /// A pipeline that the driver refuses; out of memory.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let make_at = |vertex: &str, name: &str, fragment: &str, colors: &[vk::Format], depth| {
            let colors = colors.iter().map(|&format| (format, false)).collect();
            let state = GraphicsState { colors, depth, ..GraphicsState::default() };
            GraphicsPipeline::new(gpu, name, vertex, fragment, &state)
        };
        let make_with = |name: &str, fragment: &str, colors: &[vk::Format], depth| {
            make_at("ssr.vert", name, fragment, colors, depth)
        };
        let make = |name: &str, fragment: &str, colors: &[vk::Format]| {
            make_with(name, fragment, colors, None)
        };
        // The triangle lies at depth 0, and what sends rays beyond: nothing else is shaded.
        let asked = Some((RAY_MASK, false, vk::CompareOp::LESS));
        let make_where_asked = |name: &str, fragment: &str, colors: &[vk::Format]| {
            make_with(name, fragment, colors, asked)
        };
        let make_temporal = |name: &str, fragment: &str, colors: &[vk::Format]| {
            make_at("ssr.vert+HISTORY_CONSTANTS", name, fragment, colors, asked)
        };
        let make_of_mirrors = |name: &str, fragment: &str, colors: &[vk::Format]| {
            make_at("ssr.vert+DEPTH_ABOVE_HALF", name, fragment, colors, asked)
        };
        let asking = Some((RAY_MASK, true, vk::CompareOp::ALWAYS));
        let resolved = [REFLECTION, PAIR, SHARES];
        let joined = [HISTORY, PAIR, VELOCITY, REFLECTION, NUMBERS, NUMBERS];
        let table = dfg_table();
        let side = DFG_SIZE as u32;
        let usage = vk::ImageUsageFlags::SAMPLED | vk::ImageUsageFlags::TRANSFER_DST;
        let info = ImageInfo {
            width: side,
            height: side,
            mips: 1,
            format: vk::Format::R32G32_SFLOAT,
            usage,
        };
        let reflectances = Image::new(gpu, "reflectances", info)?;
        let pairs: Vec<[f32; 2]> = table.iter().map(|entry| [entry.x, entry.y]).collect();
        let mut uploader = Uploader::new(gpu)?;
        uploader.texture(&reflectances, &[bytemuck::cast_slice(&pairs).to_vec()])?;
        uploader.finish()?;
        Ok(Self {
            depth: ComputePipeline::new(gpu, "ssr depth", "ssr_hiz.comp")?,
            depth_coarse: ComputePipeline::new(gpu, "ssr depth coarse", "ssr_hiz.comp+COARSE")?,
            surroundings: [
                make_with(
                    "ssr environment",
                    "ssr_environment.frag",
                    &[PAIR, CELL, LIGHT, LIGHT],
                    asking,
                )?,
                make_with(
                    "ssr environment bare",
                    "ssr_environment.frag+NO_ENVIRONMENT",
                    &[PAIR, CELL],
                    asking,
                )?,
            ],
            asked_half: make_at(
                "fullscreen.vert",
                "ssr ray mask",
                "ssr_ray_mask.frag",
                &[],
                asking,
            )?,
            trace: [
                make_at("ssr.vert+RAY_CONSTANTS", "ssr", "ssr.frag", &[RAY], asked)?,
                make_at(
                    "ssr.vert+RAY_CONSTANTS",
                    "ssr alone",
                    "ssr.frag+SINGLE_FRAME",
                    &[LIGHT],
                    asked,
                )?,
            ],
            resolve: [
                [
                    make_where_asked("ssr resolve", "ssr_resolve.frag", &resolved[..2])?,
                    make_where_asked(
                        "ssr resolve alone",
                        "ssr_resolve.frag+SINGLE_FRAME",
                        &[LIGHT],
                    )?,
                    make_where_asked("ssr resolve debug", "ssr_resolve.frag+DEBUG", &resolved)?,
                ],
                [
                    make_where_asked(
                        "ssr resolve half",
                        "ssr_resolve.frag+HALF_RESOLUTION",
                        &resolved[..2],
                    )?,
                    make_where_asked(
                        "ssr resolve half alone",
                        "ssr_resolve.frag+HALF_RESOLUTION+SINGLE_FRAME",
                        &[LIGHT],
                    )?,
                    make_where_asked(
                        "ssr resolve half debug",
                        "ssr_resolve.frag+HALF_RESOLUTION+DEBUG",
                        &resolved,
                    )?,
                ],
                [
                    make_of_mirrors(
                        "ssr resolve mirrors",
                        "ssr_resolve.frag+HALF_RESOLUTION+MIRROR_RAYS",
                        &resolved[..2],
                    )?,
                    make_of_mirrors(
                        "ssr resolve mirrors alone",
                        "ssr_resolve.frag+HALF_RESOLUTION+MIRROR_RAYS+SINGLE_FRAME",
                        &[LIGHT],
                    )?,
                    make_of_mirrors(
                        "ssr resolve mirrors debug",
                        "ssr_resolve.frag+HALF_RESOLUTION+MIRROR_RAYS+DEBUG",
                        &resolved,
                    )?,
                ],
            ],
            temporal: Temporal {
                virtual_image: make_temporal("ssr temporal", "ssr_temporal.frag", &joined[..4])?,
                only_camera_moved: make_temporal(
                    "ssr temporal camera",
                    "ssr_temporal.frag+CAMERA_MOTION_ONLY",
                    &joined[..4],
                )?,
                other_ways: make_temporal(
                    "ssr temporal ways",
                    "ssr_temporal.frag+REPROJECTION_MODES",
                    &joined[..4],
                )?,
                still: make_temporal(
                    "ssr temporal still",
                    "ssr_temporal.frag+STATIC_VIEW",
                    &joined[..4],
                )?,
                debug: make_temporal("ssr temporal debug", "ssr_temporal.frag+DEBUG", &joined)?,
            },
            composite: [
                [
                    make_where_asked("ssr composite", "ssr_composite.frag", &[LIGHT])?,
                    make_where_asked(
                        "ssr composite motion",
                        "ssr_composite.frag+OUTPUT_VELOCITY",
                        &[LIGHT, VELOCITY],
                    )?,
                ],
                [
                    make("ssr composite all", "ssr_composite.frag", &[LIGHT])?,
                    make(
                        "ssr composite all motion",
                        "ssr_composite.frag+OUTPUT_VELOCITY",
                        &[LIGHT, VELOCITY],
                    )?,
                ],
            ],
            reflectances,
        })
    }

    /// Declares the passes, of a frame whose settings have them on. With `debug`, what they found
    /// is kept to look at; with `followed`, a later pass follows the picture's motion.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        (scene, data, frame): (&'a GpuScene, &'a FrameData, &'a FrameSsr),
        inputs: SsrInputs,
        (debug, followed): (bool, bool),
    ) -> SsrOutput {
        let SsrInputs { gbuffer, light, bent_normal_ao: open, gi_specular: traced, velocity } =
            inputs;
        let ([width, height], [across, down]) = (frame.values.size, frame.values.rays);
        // Where nothing is to be kept apart, rays see the light as it is.
        let apart = (frame.values.bare == 0).then(|| {
            ["ssr environment light", "ssr color"].map(|name| g.image(name, width, height, LIGHT))
        });
        let [_, picture] = apart.unwrap_or([light; 2]);
        let asks = g.image("ssr ray mask", width, height, RAY_MASK);
        let (seen_before, seen) = if frame.history {
            let (before, now) = g.history("ssr surface history", width, height, PAIR);
            (Some(before), now)
        } else {
            (None, g.image("ssr surface history", width, height, PAIR))
        };
        let pyramid =
            g.image("ssr depth pyramid", frame.values.level_row, height + height.div_ceil(2), CELL);
        let surfaces = [gbuffer.depth, gbuffer.surface, gbuffer.normal];
        let mut pass = g
            .pass("ssr environment")
            .color_cleared(seen, [0.0; 4])
            .color_cleared(pyramid, [0.0; 4]);
        pass = surfaces
            .into_iter()
            .fold(pass, |pass, image| pass.uses(image, Access::FragmentSampled));
        if let Some(images) = apart {
            for image in [Some(gbuffer.emission), Some(light), open, traced].into_iter().flatten() {
                pass = pass.uses(image, Access::FragmentSampled);
            }
            pass = images.into_iter().fold(pass, |pass, image| pass.color_cleared(image, [0.0; 4]));
        }
        pass.depth_cleared(asks).record(move |cx| {
            let [depth, surface, normal] = surfaces.map(|image| cx.image(image));
            let kept_apart = apart.map(|_| {
                [Some(gbuffer.emission), Some(light), open, traced].map(|image| {
                    image.map_or_else(|| Arc::clone(&scene.white), |image| cx.image(image))
                })
            });
            let mut binds = vec![
                data.uniform(),
                ("depth_around", Bind::Texture(&depth, SamplerInfo::NEAREST)),
                ("surface_image", Bind::Sampled(&surface)),
                ("normal_image", Bind::Sampled(&normal)),
                ("ssr_block", Bind::Uniform(&frame.constants)),
            ];
            if let Some([emission, light, open, traced]) = &kept_apart {
                binds.extend([
                    ("emission_image", Bind::Sampled(emission)),
                    ("light_image", Bind::Sampled(light)),
                    ("ao_image", Bind::Sampled(open)),
                    ("traced_image", Bind::Sampled(traced)),
                    ("environment_block", Bind::Storage(&data.environment)),
                    ("probe_block", Bind::Storage(&data.probes)),
                ]);
            }
            cx.rec.bind_graphics(&self.surroundings[usize::from(apart.is_none())], &binds)?;
            cx.rec.draw_fullscreen();
            Ok(())
        });
        self.declare_pyramid(g, frame, pyramid);
        // Pixels that send no rays are as the picture has them that rays see, but where that lacks
        // what lights emit.
        let all = scene.has_emitters;
        let drawn_over = |g: &mut Graph<'a>, name: &str, image: ImageHandle, format: vk::Format| {
            if all { g.image(name, width, height, format) } else { g.copied(name, image) }
        };
        let out = drawn_over(g, "light with reflections", picture, LIGHT);
        let surroundings = apart.map(|[surroundings, _]| surroundings);
        let alone = !frame.history && !debug && !all;
        // Where nothing is kept apart, the picture is the light.
        let lit = (alone && apart.is_some()).then_some(light);
        let half = usize::from(frame.values.scale > 1);
        let single_frame = alone && half == 0 && frame.values.taps == 1;
        let rays = g.image("ssr rays", across, down, RAY);
        let rays_asked = if half > 0 { self.declare_ray_mask(g, frame, asks) } else { asks };
        let mut pass = g.pass("ssr");
        for image in [gbuffer.surface, picture] {
            pass = pass.uses(image, Access::FragmentSampled);
        }
        for image in [pyramid, seen] {
            pass = pass.uses(image, Access::FragmentStorageRead);
        }
        if single_frame {
            pass = surroundings
                .into_iter()
                .chain(lit)
                .fold(pass, |pass, image| pass.uses(image, Access::FragmentSampled));
            pass = pass.color_loaded(out);
        } else {
            pass = pass.color_cleared(rays, [0.0; 4]);
        }
        pass.depth_tested(rays_asked).record(move |cx| {
            let [surface, pyramid, picture, seen] =
                [gbuffer.surface, pyramid, picture, seen].map(|image| cx.image(image));
            // Read and left out where there are none.
            let around = surroundings.map_or_else(|| Arc::clone(&picture), |image| cx.image(image));
            let light = single_frame.then(|| cx.image(light));
            let mut binds = vec![
                data.uniform(),
                ("surface_image", Bind::Sampled(&surface)),
                ("ssr_block", Bind::Uniform(&frame.constants)),
                ("pyramid_image", Bind::StorageImage(&pyramid)),
                ("picture_image", Bind::Texture(&picture, SamplerInfo::LINEAR)),
                ("surface_history_image", Bind::StorageImage(&seen)),
            ];
            if let Some(light) = &light {
                binds.extend([
                    ("reflected_environment_image", Bind::Sampled(&around)),
                    ("light_image", Bind::Sampled(light)),
                    ("reflectance_image", Bind::Sampled(&self.reflectances)),
                ]);
            }
            cx.rec.bind_graphics(&self.trace[usize::from(single_frame)], &binds)?;
            cx.rec.draw_fullscreen();
            Ok(())
        });
        if single_frame {
            return SsrOutput { light: out, velocity, debug: None };
        }
        let reflection = g.image("reflection", width, height, REFLECTION);
        let met = g.image("ssr hits", width, height, PAIR);
        let shares = debug.then(|| g.image("ssr hit shares", width, height, SHARES));
        let mut pass = g.pass("ssr resolve").uses(gbuffer.surface, Access::FragmentSampled);
        for image in [picture].into_iter().chain(surroundings).chain(lit) {
            pass = pass.uses(image, Access::FragmentSampled);
        }
        for image in [rays, seen] {
            pass = pass.uses(image, Access::FragmentStorageRead);
        }
        if alone {
            pass = pass.color_loaded(out);
        } else {
            // What sends no rays keeps all of its surroundings.
            pass = pass.color_cleared(reflection, [0.0, 0.0, 0.0, 1.0]);
            pass = [met]
                .into_iter()
                .chain(shares)
                .fold(pass, |pass, image| pass.color_cleared(image, [0.0; 4]));
        }
        pass.depth_tested(asks).record(move |cx| {
            let [surface, rays, picture, seen] =
                [gbuffer.surface, rays, picture, seen].map(|image| cx.image(image));
            // Read and left out where there are none.
            let around = surroundings.map_or_else(|| Arc::clone(&picture), |image| cx.image(image));
            let light = alone.then(|| cx.image(light));
            let mut binds = vec![
                data.uniform(),
                ("surface_image", Bind::Sampled(&surface)),
                ("ssr_block", Bind::Uniform(&frame.constants)),
                ("ray_image", Bind::StorageImage(&rays)),
                ("reflected_environment_image", Bind::Sampled(&around)),
                ("surface_history_image", Bind::StorageImage(&seen)),
            ];
            if let Some(light) = &light {
                binds.extend([
                    ("light_image", Bind::Sampled(light)),
                    ("reflectance_image", Bind::Sampled(&self.reflectances)),
                ]);
            }
            let kind = if alone { 1 } else { 2 * usize::from(debug) };
            cx.rec.bind_graphics(&self.resolve[half][kind], &binds)?;
            cx.rec.draw_fullscreen();
            if half > 0 {
                binds.push(("picture_image", Bind::Texture(&picture, SamplerInfo::LINEAR)));
                cx.rec.bind_graphics(&self.resolve[2][kind], &binds)?;
                cx.rec.draw_fullscreen();
            }
            Ok(())
        });
        if alone {
            return SsrOutput { light: out, velocity, debug: None };
        }
        let (joined, motion, debug) = if frame.history || debug {
            self.declare_temporal(
                g,
                (data, frame),
                (gbuffer, velocity, asks),
                ([reflection, met], [seen_before.unwrap_or(met), seen]),
                shares,
            )
        } else {
            (reflection, None, None)
        };
        let motion = motion
            .filter(|_| followed)
            .map(|motion| (motion, drawn_over(g, "velocity with reflections", velocity, VELOCITY)));
        let mut pass = g.pass("ssr composite").uses(gbuffer.surface, Access::FragmentSampled);
        for image in [light].into_iter().chain(surroundings) {
            pass = pass.uses(image, Access::FragmentSampled);
        }
        for image in [joined, seen] {
            pass = pass.uses(image, Access::FragmentStorageRead);
        }
        pass = if all {
            pass.color_cleared(out, [0.0; 4])
        } else {
            pass.color_loaded(out).depth_tested(asks)
        };
        if let Some((motion, out)) = motion {
            pass =
                pass.uses(velocity, Access::FragmentSampled).uses(motion, Access::FragmentSampled);
            pass = if all { pass.color_cleared(out, [0.0; 4]) } else { pass.color_loaded(out) };
        }
        pass.record(move |cx| {
            let [surface, light, joined, seen] =
                [gbuffer.surface, light, joined, seen].map(|image| cx.image(image));
            let around = surroundings.map_or_else(|| Arc::clone(&light), |image| cx.image(image));
            let motions = motion.map(|(motion, _)| [velocity, motion].map(|image| cx.image(image)));
            let mut binds = vec![
                data.uniform(),
                ("surface_image", Bind::Sampled(&surface)),
                ("surface_history_image", Bind::StorageImage(&seen)),
                ("light_image", Bind::Sampled(&light)),
                ("reflection_image", Bind::StorageImage(&joined)),
                ("reflected_environment_image", Bind::Sampled(&around)),
                ("reflectance_image", Bind::Sampled(&self.reflectances)),
                ("ssr_block", Bind::Uniform(&frame.constants)),
            ];
            if let Some([velocity, motion]) = &motions {
                binds.extend([
                    ("velocity_image", Bind::Sampled(velocity)),
                    ("motion_image", Bind::Sampled(motion)),
                ]);
            }
            let pipeline = &self.composite[usize::from(all)][usize::from(motions.is_some())];
            cx.rec.bind_graphics(pipeline, &binds)?;
            cx.rec.draw_fullscreen();
            Ok(())
        });
        SsrOutput { light: out, velocity: motion.map_or(velocity, |(_, out)| out), debug }
    }

    /// The same at half resolution: where rays are sent.
    fn declare_ray_mask<'a>(
        &'a self,
        g: &mut Graph<'a>,
        frame: &'a FrameSsr,
        asks: ImageHandle,
    ) -> ImageHandle {
        let [across, down] = frame.values.rays;
        let out = g.image("ssr ray mask, half", across, down, RAY_MASK);
        g.pass("ssr ray mask").uses(asks, Access::FragmentSampled).depth_cleared(out).record(
            move |cx| {
                let asks = cx.image(asks);
                let binds = [
                    ("ssr_block", Bind::Uniform(&frame.constants)),
                    ("ray_mask_image", Bind::Sampled(&asks)),
                ];
                cx.rec.bind_graphics(&self.asked_half, &binds)?;
                cx.rec.draw_fullscreen();
                Ok(())
            },
        );
        out
    }

    fn declare_pyramid<'a>(&'a self, g: &mut Graph<'a>, frame: &'a FrameSsr, cells: ImageHandle) {
        let [width, height] = frame.values.size;
        for (name, pipeline, fine) in
            [("ssr depth", &self.depth, true), ("ssr depth, coarse", &self.depth_coarse, false)]
        {
            // A work group makes 16 by 16 cells of its first level.
            let across = if fine { 32 } else { 32 << 5 };
            g.pass(name).uses(cells, Access::ComputeStorageReadWrite).record(move |cx| {
                let cells = cx.image(cells);
                let binds = [
                    ("ssr_block", Bind::Uniform(&frame.constants)),
                    ("pyramid_image", Bind::StorageImage(&cells)),
                ];
                cx.rec.bind_compute(pipeline, &binds)?;
                cx.rec.dispatch(width.div_ceil(across), height.div_ceil(across), 1);
                Ok(())
            });
        }
    }

    fn declare_temporal<'a>(
        &'a self,
        g: &mut Graph<'a>,
        (data, frame): (&'a FrameData, &'a FrameSsr),
        (gbuffer, velocity, asks): (Gbuffer, ImageHandle, ImageHandle),
        ([reflection, met], [seen, seen_now]): ([ImageHandle; 2], [ImageHandle; 2]),
        shares: Option<ImageHandle>,
    ) -> (ImageHandle, Option<ImageHandle>, Option<[ImageHandle; 2]>) {
        let [width, height] = frame.values.size;
        let debug = shares.is_some();
        // A frame by itself leaves the histories as they are.
        let ([history, out], [past, past_out], [shown, shown_out]) = if frame.history {
            (
                g.history("ssr history", width, height, HISTORY).into(),
                g.history("ssr history data", width, height, PAIR).into(),
                g.history("ssr displayed", width, height, REFLECTION).into(),
            )
        } else {
            let out = g.image("ssr single frame", width, height, HISTORY);
            let past_out = g.image("ssr history data by itself", width, height, PAIR);
            let shown_out = g.image("ssr displayed by itself", width, height, REFLECTION);
            ([empty_debug_image(g, [1, 1]), out], [met, past_out], [reflection, shown_out])
        };
        let found = debug.then(|| {
            ["ssr debug hits", "ssr debug motion"].map(|name| g.image(name, width, height, NUMBERS))
        });
        let motion = g.image("reflection motion", width, height, VELOCITY);
        // Most pipelines are for one case: what they need not ask costs nothing.
        let still = !debug && frame.values.still != 0 && frame.values.max_frames > 0.0;
        let by_image = frame.values.reprojection == Reprojection::Virtual as u32;
        let pipeline = match (debug, still, by_image, frame.only_camera_moved) {
            (true, ..) => &self.temporal.debug,
            (_, true, ..) => &self.temporal.still,
            (.., true, true) => &self.temporal.only_camera_moved,
            (.., true, false) => &self.temporal.virtual_image,
            (.., false, _) => &self.temporal.other_ways,
        };
        // Where nothing moves by itself, the camera tells.
        let moves = debug || !(still || by_image && frame.only_camera_moved);
        let mut pass = g.pass("ssr temporal").uses(gbuffer.surface, Access::FragmentSampled);
        for image in shares.into_iter().chain(moves.then_some(velocity)) {
            pass = pass.uses(image, Access::FragmentSampled);
        }
        for image in [reflection, met, seen_now] {
            pass = pass.uses(image, Access::FragmentStorageRead);
        }
        if frame.history {
            for image in [history, past, shown].into_iter().chain((!still).then_some(seen)) {
                pass = pass.uses(image, Access::FragmentStorageRead);
            }
        } else {
            pass = pass.uses(history, Access::FragmentStorageRead);
        }
        // As the shader says of what sends no rays: SSR_NO_REFLECTION.
        let nothing = [0.0, 0.0, 0.0, 1.0];
        for (image, value) in
            [(out, nothing), (past_out, [0.0; 4]), (motion, [0.0; 4]), (shown_out, nothing)]
        {
            pass = pass.color_cleared(image, value);
        }
        for (image, value) in found.into_iter().flatten().zip([nothing, [0.0; 4]]) {
            pass = pass.color_cleared(image, value);
        }
        pass.depth_tested(asks).record(move |cx| {
            let [surface, reflection, met, history, past, shown, seen_now] =
                [gbuffer.surface, reflection, met, history, past, shown, seen_now]
                    .map(|image| cx.image(image));
            let shares = shares.map(|image| cx.image(image));
            let seen = (!still).then(|| cx.image(seen));
            let velocity = moves.then(|| cx.image(velocity));
            let mut binds = vec![
                data.uniform(),
                ("ssr_block", Bind::Uniform(&frame.constants)),
                ("surface_history_now_image", Bind::StorageImage(&seen_now)),
                ("reflection_image", Bind::StorageImage(&reflection)),
                ("hit_image", Bind::StorageImage(&met)),
                ("history_image", Bind::StorageImage(&history)),
                ("history_data_image", Bind::StorageImage(&past)),
            ];
            // Where nothing turns, what a surface is like and where it was is not asked for.
            if let Some(seen) = &seen {
                binds.extend([
                    ("surface_image", Bind::Sampled(&surface)),
                    ("surface_history_image", Bind::StorageImage(seen)),
                ]);
            }
            if let Some(velocity) = &velocity {
                binds.push(("velocity_image", Bind::Sampled(velocity)));
            }
            if still || debug {
                binds.push(("displayed_image", Bind::StorageImage(&shown)));
            }
            if let Some(shares) = &shares {
                binds.push(("shares_image", Bind::Sampled(shares)));
            }
            cx.rec.bind_graphics(pipeline, &binds)?;
            cx.rec.draw_fullscreen();
            Ok(())
        });
        (shown_out, Some(motion), found)
    }
}

/// Numbers for a frame that found nothing, to look at.
pub fn empty_debug_image(g: &mut Graph<'_>, [width, height]: [u32; 2]) -> ImageHandle {
    let image = g.image("no ssr", width, height, NUMBERS);
    g.pass("no ssr").color_cleared(image, [0.0; 4]).record(|_| Ok(()));
    image
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_lie_beside_each_other() {
        for size in [[1, 1], [1, 7], [33, 17], [160, 90], [1280, 720], [1921, 1081], [8192, 5]] {
            let (count, row) = levels(size);
            let below = size.map(|side: u32| side.div_ceil(2));
            // As `level_corner` and `level_size` of shaders/lib/ssr_hiz.glsl.
            let mut end = 0;
            for level in 1..count {
                let corner = row.saturating_sub((2 * row) >> level);
                let [width, height] = size.map(|side| (side + (1 << level) - 1) >> level);
                assert!(
                    corner >= end && corner + width <= row && height <= below[1],
                    "{size:?} {level}"
                );
                end = corner + width;
            }
            let coarsest = size.map(|side| side.div_ceil(1 << (count - 1)));
            assert!(row >= size[0] && (count == LEVELS || coarsest == [1, 1]), "{size:?}");
        }
    }
}
