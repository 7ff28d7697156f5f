//! Screen-space reflections: rays through the depth buffer, and a history that follows what is reflected
//! (docs/reflections.md).

pub mod virtual_image;

use std::sync::Arc;

use glam::{DMat4, DVec2, DVec3, Mat4, Vec2, Vec3};

use super::{
    FrameData, GpuScene, View, dynamic_buffer,
    gbuffer::{Gbuffer, LIGHT},
    velocity::{Moment, VELOCITY},
};
use crate::{
    gpu::{
        Bind, Buffer, BufferKind, ComputePipeline, Gpu, GpuResult, GraphicsPipeline, GraphicsState, Image, SamplerInfo,
        vk,
    },
    graph::{Access, BufferHandle, Graph, ImageHandle, PassBuilder},
    photometry::environment::dfg_table,
    scene::look::SsrReprojection,
    shader_struct,
};

/// Levels of the pyramid of depths, the picture's own included; as SSR_LEVELS of the shaders.
const LEVELS: usize = 11;
/// Where rays ended, their lengths and densities.
const RAY: vk::Format = vk::Format::R32G32B32A32_SFLOAT;
/// Directions of rays.
const DIRECTION: vk::Format = vk::Format::R32_UINT;
/// Light and a share, where single frames make no mean.
const REFLECTION: vk::Format = vk::Format::R16G16B16A16_SFLOAT;
/// Means of many frames need more than half floats' digits.
const HISTORY: vk::Format = vk::Format::R32G32B32A32_SFLOAT;
/// Packed numbers about a reflection.
const PACKED: vk::Format = vk::Format::R32G32B32A32_UINT;

/// Frames that a history of a still view is the mean of at most.
const MOST_STILL: f32 = 1024.0;

shader_struct! {
    /// Of the passes that find reflections in the picture (`shaders/shared/ssr.glsl`).
    pub struct SsrConstants {
        /// From camera-relative places to the last frame's clip space, without its jitter.
        pub to_clip_before: Mat4,
        /// To this frame's, without its jitter.
        pub to_clip: Mat4,
        /// From the last frame's clip space back.
        pub from_clip_before: Mat4,
        /// Where the last frame's camera stood, relative to this one's.
        pub eye_before: Vec3,
        /// Perceptual; rougher surfaces reflect their surroundings only.
        pub max_roughness: f32,
        /// Of the last frame's samples from their pixels' centres (pixels).
        pub jitter_before: Vec2,
        /// What is seen is so thick, as a part of its distance.
        pub thickness: f32,
        /// Frames that a history is the mean of at most; 0 forgets it.
        pub most: f32,
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
        /// Padding.
        pub pad0: f32,
        /// Of each level of the pyramid (cells).
        pub level_offset: [u32; 11],
        /// Levels that there are.
        pub level_count: u32,
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
    /// By the smallest of four motions: the surface's, its by the camera alone, the image's by the camera alone, and that of
    /// what is reflected.
    Smallest = 2,
    /// The length of the ray behind the surface, as though mirrors were flat and nothing but the camera moved.
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
    /// Perceptual roughness up to which reflections are found, above 0 to 1; they fade over the last fifth.
    pub max_roughness: f64,
    /// What is seen is so thick, as a part of its distance.
    pub thickness: f64,
    /// Neighbours whose rays a pixel uses, its own included, 1 to 64.
    pub taps: u32,
    /// Cells of the pyramid of depths that a ray may cross, 8 to 1024.
    pub steps: u32,
    /// Frames that a moving history is the mean of at most; 0: each frame by itself, and no history is kept.
    pub frames: u32,
    /// Where the history is looked up.
    pub reprojection: Reprojection,
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
            frames: 16,
            reprojection: Reprojection::Virtual,
        }
    }
}

/// How a frame's reflections join those before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SsrFrame {
    /// Number of the frame since its history began, or of its sample.
    pub number: u32,
    /// There is a frame before that kept its reflections.
    pub follows: bool,
    /// Nothing has moved since.
    pub still: bool,
    /// The frame is one of those whose mean is the picture: it keeps no history.
    pub alone: bool,
    /// Of the last frame's samples from their pixels' centres (pixels).
    pub jitter_before: DVec2,
    /// The last frame's camera: from its clip space to places relative to where it stood, and where that was relative to this
    /// one's (m).
    pub before: (Mat4, DVec3),
}

/// What the passes read of the host for one frame.
#[derive(Clone)]
pub struct FrameSsr {
    constants: Arc<Buffer>,
    values: SsrConstants,
    history: bool,
}

impl FrameSsr {
    /// Of a frame with these settings; none where they are off.
    ///
    /// # Errors
    /// Out of memory.
    pub fn new(
        gpu: &Gpu,
        (view, motion): (&View, &[Moment; 2]),
        settings: &SsrSettings,
        frame: &SsrFrame,
    ) -> GpuResult<Option<Self>> {
        if !settings.enabled {
            return Ok(None);
        }
        let size = [view.width, view.height];
        let scale = if settings.half_resolution { 2 } else { 1 };
        let history = settings.frames > 0 && !frame.alone;
        let (level_offset, level_count, _) = levels(size);
        let [before, now] = [&motion[0], &motion[1]].map(|moment| moment.to_clip.as_mat4());
        let back = DMat4::from_translation(frame.before.1) * frame.before.0.as_dmat4();
        let values = SsrConstants {
            to_clip_before: before,
            to_clip: now,
            from_clip_before: back.as_mat4(),
            eye_before: frame.before.1.as_vec3(),
            max_roughness: settings.max_roughness as f32,
            jitter_before: frame.jitter_before.as_vec2(),
            thickness: settings.thickness as f32,
            most: match frame.follows && history {
                false => 0.0,
                true if frame.still => MOST_STILL,
                true => settings.frames as f32,
            },
            size,
            rays: size.map(|side| side.div_ceil(scale)),
            scale,
            taps: settings.taps,
            steps: settings.steps,
            number: frame.number,
            reprojection: settings.reprojection as u32,
            still: u32::from(frame.still),
            gamma: 1.25,
            level_offset,
            level_count,
            ..SsrConstants::default()
        };
        Ok(Some(Self { constants: dynamic_buffer(gpu, "reflection constants", &[values])?, values, history }))
    }
}

/// Where the levels of the pyramid of a picture lie, how many there are, and how many cells they have.
fn levels(size: [u32; 2]) -> ([u32; LEVELS], u32, u64) {
    let (mut offsets, mut count, mut cells) = ([0; LEVELS], 0, 0u64);
    for (level, offset) in offsets.iter_mut().enumerate() {
        *offset = u32::try_from(cells).unwrap_or(u32::MAX);
        let [width, height] = size.map(|side| u64::from(side).div_ceil(1 << level));
        cells += width * height;
        count += 1;
        if width * height <= 1 {
            break;
        }
    }
    (offsets, count, cells)
}

/// What the passes found, for those who want to see it.
#[derive(Clone, Copy)]
pub struct Reflected {
    /// The picture's light with reflections.
    pub light: ImageHandle,
    /// Pixels that it has moved since the last frame: the reflection's motion where most light is reflected, else the
    /// surface's.
    pub velocity: ImageHandle,
    /// Shares of rays that found a surface and none, their length (m), why the history was not used; pixels that the
    /// reflection has moved, frames in its history, the way that was chosen.
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
    pub open: Option<ImageHandle>,
    /// What surfaces reflect, where rays of bounced light found it.
    pub traced: Option<ImageHandle>,
    /// Pixels from the last frame to this one.
    pub velocity: ImageHandle,
}

/// The pipelines.
pub struct SsrPass {
    depth: Arc<ComputePipeline>,
    depth_coarse: Arc<ComputePipeline>,
    surroundings: Arc<GraphicsPipeline>,
    trace: Arc<GraphicsPipeline>,
    resolve: Arc<GraphicsPipeline>,
    temporal: Arc<GraphicsPipeline>,
    temporal_debug: Arc<GraphicsPipeline>,
    composite: Arc<GraphicsPipeline>,
    composite_motion: Arc<GraphicsPipeline>,
    reflectances: Arc<Buffer>,
}

impl SsrPass {
    /// Makes the pipelines.
    ///
    /// # Errors
    /// A pipeline that the driver refuses; out of memory.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let make = |name: &str, fragment: &str, colors: &[vk::Format]| {
            let colors = colors.iter().map(|&format| (format, false)).collect();
            let state = GraphicsState { colors, ..GraphicsState::default() };
            GraphicsPipeline::new(gpu, name, "fullscreen.vert", fragment, &state)
        };
        let table = dfg_table();
        let bytes: &[u8] = bytemuck::cast_slice(&table);
        let reflectances = Buffer::new(gpu, "reflectances", bytes.len() as u64, BufferKind::Dynamic)?;
        reflectances.write(0, bytes);
        Ok(Self {
            depth: ComputePipeline::new(gpu, "ssr depth", "ssr_depth.comp")?,
            depth_coarse: ComputePipeline::new(gpu, "ssr depth coarse", "ssr_depth.comp+COARSE")?,
            surroundings: make("ssr surroundings", "ssr_surroundings.frag", &[LIGHT, LIGHT])?,
            trace: make("ssr", "ssr.frag", &[RAY, DIRECTION])?,
            resolve: make("ssr resolve", "ssr_resolve.frag", &[REFLECTION, PACKED])?,
            temporal: make("ssr temporal", "ssr_temporal.frag", &[HISTORY, PACKED, VELOCITY, REFLECTION])?,
            temporal_debug: make(
                "ssr temporal debug",
                "ssr_temporal.frag+DEBUG",
                &[HISTORY, PACKED, VELOCITY, REFLECTION, RAY, RAY],
            )?,
            composite: make("ssr composite", "ssr_composite.frag", &[LIGHT])?,
            composite_motion: make("ssr composite motion", "ssr_composite.frag+MOTION", &[LIGHT, VELOCITY])?,
            reflectances,
        })
    }

    /// Declares the passes, of a frame whose settings have them on. With `debug`, what they found is kept to look at; with
    /// `followed`, a later pass follows the picture's motion.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        (scene, data, frame): (&'a GpuScene, &'a FrameData, &'a FrameSsr),
        inputs: SsrInputs,
        (debug, followed): (bool, bool),
    ) -> Reflected {
        let SsrInputs { gbuffer, light, open, traced, velocity } = inputs;
        let ([width, height], [across, down]) = (frame.values.size, frame.values.rays);
        let surroundings = g.image("reflected surroundings", width, height, LIGHT);
        let picture = g.image("reflected picture", width, height, LIGHT);
        let mut pass = fragment(g, "ssr surroundings", gbuffer).uses(light, Access::FragmentSampled);
        for image in [open, traced].into_iter().flatten() {
            pass = pass.uses(image, Access::FragmentSampled);
        }
        pass.color_cleared(surroundings, [0.0; 4]).color_cleared(picture, [0.0; 4]).record(move |cx| {
            let [depth, surface, normal, emission] = of(gbuffer).map(|image| cx.image(image));
            let light = cx.image(light);
            let [open, traced] =
                [open, traced].map(|image| image.map_or_else(|| Arc::clone(&scene.white), |image| cx.image(image)));
            let mut binds = surface_binds(data, [&depth, &surface, &normal]);
            binds.extend([
                ("emission_image", Bind::Sampled(&emission)),
                ("light_image", Bind::Sampled(&light)),
                ("ao_image", Bind::Sampled(&open)),
                ("traced_image", Bind::Sampled(&traced)),
                ("environment_block", Bind::Storage(&data.environment)),
                ("probe_block", Bind::Storage(&data.probes)),
            ]);
            cx.rec.bind_graphics(&self.surroundings, &binds)?;
            cx.rec.draw_fullscreen();
            Ok(())
        });
        let pyramid = self.declare_pyramid(g, frame, gbuffer.depth);
        let ray = g.image("reflected rays", across, down, RAY);
        let direction = g.image("reflected directions", across, down, DIRECTION);
        fragment(g, "ssr", gbuffer)
            .uses(pyramid, Access::FragmentStorageRead)
            .color_cleared(ray, [0.0; 4])
            .color_cleared(direction, [0.0; 4])
            .record(move |cx| {
                let [depth, surface, normal, emission] = of(gbuffer).map(|image| cx.image(image));
                let pyramid = cx.buffer(pyramid);
                let mut binds = surface_binds(data, [&depth, &surface, &normal]);
                binds.extend([
                    ("emission_image", Bind::Sampled(&emission)),
                    ("ssr_block", Bind::Uniform(&frame.constants)),
                    ("pyramid_block", Bind::Storage(&pyramid)),
                ]);
                cx.rec.bind_graphics(&self.trace, &binds)?;
                cx.rec.draw_fullscreen();
                Ok(())
            });
        let reflection = g.image("reflection", width, height, REFLECTION);
        let met = g.image("reflection met", width, height, PACKED);
        fragment(g, "ssr resolve", gbuffer)
            .uses(ray, Access::FragmentSampled)
            .uses(direction, Access::FragmentSampled)
            .uses(surroundings, Access::FragmentSampled)
            .uses(picture, Access::FragmentSampled)
            .color_cleared(reflection, [0.0; 4])
            .color_cleared(met, [0.0; 4])
            .record(move |cx| {
                let [depth, surface, normal, emission] = of(gbuffer).map(|image| cx.image(image));
                let [ray, direction, around, picture] =
                    [ray, direction, surroundings, picture].map(|image| cx.image(image));
                let mut binds = surface_binds(data, [&depth, &surface, &normal]);
                binds.extend([
                    ("emission_image", Bind::Sampled(&emission)),
                    ("ssr_block", Bind::Uniform(&frame.constants)),
                    ("ray_image", Bind::Sampled(&ray)),
                    ("direction_image", Bind::Sampled(&direction)),
                    ("surroundings_image", Bind::Sampled(&around)),
                    ("picture_image", Bind::Texture(&picture, SamplerInfo::LINEAR)),
                ]);
                cx.rec.bind_graphics(&self.resolve, &binds)?;
                cx.rec.draw_fullscreen();
                Ok(())
            });
        let (joined, motion, debug) = if frame.history || debug {
            self.declare_temporal(g, (data, frame), (gbuffer, velocity), (reflection, met), debug)
        } else {
            (reflection, None, None)
        };
        let motion = motion
            .filter(|_| followed)
            .map(|motion| (motion, g.image("velocity with reflections", width, height, VELOCITY)));
        let out = g.image("light with reflections", width, height, LIGHT);
        let mut pass = fragment(g, "ssr composite", gbuffer)
            .uses(light, Access::FragmentSampled)
            .uses(joined, Access::FragmentSampled)
            .uses(surroundings, Access::FragmentSampled)
            .color_cleared(out, [0.0; 4]);
        if let Some((motion, out)) = motion {
            pass = pass
                .uses(velocity, Access::FragmentSampled)
                .uses(motion, Access::FragmentSampled)
                .color_cleared(out, [0.0; 4]);
        }
        pass.record(move |cx| {
            let [depth, surface, normal, _] = of(gbuffer).map(|image| cx.image(image));
            let [light, joined, around] = [light, joined, surroundings].map(|image| cx.image(image));
            let motions = motion.map(|(motion, _)| [velocity, motion].map(|image| cx.image(image)));
            let mut binds = surface_binds(data, [&depth, &surface, &normal]);
            binds.extend([
                ("light_image", Bind::Sampled(&light)),
                ("reflection_image", Bind::Sampled(&joined)),
                ("surroundings_image", Bind::Sampled(&around)),
                ("reflectance_block", Bind::Storage(&self.reflectances)),
            ]);
            if let Some([velocity, motion]) = &motions {
                binds.extend([("velocity_image", Bind::Sampled(velocity)), ("motion_image", Bind::Sampled(motion))]);
            }
            let pipeline = if motions.is_some() { &self.composite_motion } else { &self.composite };
            cx.rec.bind_graphics(pipeline, &binds)?;
            cx.rec.draw_fullscreen();
            Ok(())
        });
        Reflected { light: out, velocity: motion.map_or(velocity, |(_, out)| out), debug }
    }

    fn declare_pyramid<'a>(&'a self, g: &mut Graph<'a>, frame: &'a FrameSsr, depth: ImageHandle) -> BufferHandle {
        let [width, height] = frame.values.size;
        let cells = g.storage("reflection depths", levels([width, height]).2 * 8);
        for (name, pipeline, fine) in
            [("ssr depth", &self.depth, true), ("ssr depth, coarse", &self.depth_coarse, false)]
        {
            let pass = g.pass(name);
            let pass = if fine {
                pass.uses(depth, Access::ComputeSampled).uses(cells, Access::ComputeStorageWrite)
            } else {
                pass.uses(cells, Access::ComputeStorageReadWrite)
            };
            // A work group makes 16 by 16 cells of its first level.
            let across = if fine { 32 } else { 32 << 5 };
            pass.record(move |cx| {
                let cells = cx.buffer(cells);
                let image = fine.then(|| cx.image(depth));
                let mut binds =
                    vec![("ssr_block", Bind::Uniform(&frame.constants)), ("pyramid_block", Bind::Storage(&cells))];
                binds.extend(image.as_ref().map(|image| ("depth_image", Bind::Sampled(image))));
                cx.rec.bind_compute(pipeline, &binds)?;
                cx.rec.dispatch(width.div_ceil(across), height.div_ceil(across), 1);
                Ok(())
            });
        }
        cells
    }

    fn declare_temporal<'a>(
        &'a self,
        g: &mut Graph<'a>,
        (data, frame): (&'a FrameData, &'a FrameSsr),
        (gbuffer, velocity): (Gbuffer, ImageHandle),
        (reflection, met): (ImageHandle, ImageHandle),
        debug: bool,
    ) -> (ImageHandle, Option<ImageHandle>, Option<[ImageHandle; 2]>) {
        let [width, height] = frame.values.size;
        // A frame by itself leaves the histories as they are.
        let ([history, out], [past, past_out], [shown, shown_out]) = if frame.history {
            (
                g.history("reflection history", width, height, HISTORY).into(),
                g.history("reflection past", width, height, PACKED).into(),
                g.history("reflection shown", width, height, REFLECTION).into(),
            )
        } else {
            let out = g.image("reflection by itself", width, height, HISTORY);
            let past_out = g.image("reflection past by itself", width, height, PACKED);
            let shown_out = g.image("reflection shown by itself", width, height, REFLECTION);
            ([reflection, out], [met, past_out], [reflection, shown_out])
        };
        let found =
            debug.then(|| ["reflection found", "reflection chosen"].map(|name| g.image(name, width, height, RAY)));
        let motion = g.image("reflection motion", width, height, VELOCITY);
        let mut pass = fragment(g, "ssr temporal", gbuffer)
            .uses(reflection, Access::FragmentSampled)
            .uses(met, Access::FragmentSampled)
            .uses(velocity, Access::FragmentSampled);
        if frame.history {
            for image in [history, past, shown] {
                pass = pass.uses(image, Access::FragmentSampled);
            }
        }
        for image in [out, past_out, motion, shown_out] {
            pass = pass.color_cleared(image, [0.0; 4]);
        }
        for image in found.into_iter().flatten() {
            pass = pass.color_cleared(image, [0.0; 4]);
        }
        pass.record(move |cx| {
            let [depth, surface, normal, emission] = of(gbuffer).map(|image| cx.image(image));
            let [reflection, met, velocity, history, past, shown] =
                [reflection, met, velocity, history, past, shown].map(|image| cx.image(image));
            let mut binds = surface_binds(data, [&depth, &surface, &normal]);
            binds.extend([
                ("emission_image", Bind::Sampled(&emission)),
                ("ssr_block", Bind::Uniform(&frame.constants)),
                ("reflection_image", Bind::Sampled(&reflection)),
                ("met_image", Bind::Sampled(&met)),
                ("velocity_image", Bind::Sampled(&velocity)),
                ("history_image", Bind::Texture(&history, SamplerInfo::LINEAR)),
                ("past_image", Bind::Sampled(&past)),
                ("shown_image", Bind::Sampled(&shown)),
            ]);
            let pipeline = if found.is_some() { &self.temporal_debug } else { &self.temporal };
            cx.rec.bind_graphics(pipeline, &binds)?;
            cx.rec.draw_fullscreen();
            Ok(())
        });
        (shown_out, Some(motion), found)
    }
}

/// Numbers for a frame that found nothing, to look at.
pub fn nothing(g: &mut Graph<'_>, [width, height]: [u32; 2]) -> ImageHandle {
    let image = g.image("no reflections", width, height, RAY);
    g.pass("no reflections").color_cleared(image, [0.0; 4]).record(|_| Ok(()));
    image
}

/// The G-buffer's images in the order of their bindings.
fn of(gbuffer: Gbuffer) -> [ImageHandle; 4] {
    [gbuffer.depth, gbuffer.surface, gbuffer.normal, gbuffer.emission]
}

/// A pass that reads surfaces.
fn fragment<'g, 'a>(g: &'g mut Graph<'a>, name: &str, gbuffer: Gbuffer) -> PassBuilder<'g, 'a> {
    of(gbuffer).into_iter().fold(g.pass(name), |pass, image| pass.uses(image, Access::FragmentSampled))
}

fn surface_binds<'a>(
    data: &'a FrameData,
    [depth, surface, normal]: [&'a Arc<Image>; 3],
) -> Vec<(&'static str, Bind<'a>)> {
    vec![
        data.uniform(),
        ("depth_image", Bind::Sampled(depth)),
        ("surface_image", Bind::Sampled(surface)),
        ("normal_image", Bind::Sampled(normal)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_cover_every_size() {
        for size in [[1, 1], [1, 7], [33, 17], [1280, 720], [1921, 1081], [8192, 5]] {
            let (offsets, count, cells) = levels(size);
            let mut sum = 0;
            for level in 0..count {
                assert_eq!(u64::from(offsets[level as usize]), sum, "{size:?}");
                let [width, height] = size.map(|side: u32| u64::from((side + (1 << level) - 1) >> level));
                sum += width * height;
            }
            assert_eq!(sum, cells);
        }
    }
}
