//! Per-pixel motion in the image between two times.

use std::sync::{Arc, OnceLock};

use glam::{DMat4, DVec3, Mat4};

use super::{
    creation::get_or_create,
    formats::{DEPTH, VELOCITY},
    scene_frame::SceneFrame,
    skin::SkinPass,
};
use crate::{
    gpu::{
        Gpu, GpuResult, GraphicsPipeline, GraphicsState,
        shader_structs::{
            effects::VelocityConstants,
            skin::{Move, MoveConstants, NO_POSITIONS},
        },
        vk,
    },
    gpu_scene::{
        Draw, FrameData, GpuScene, GpuScenePose, RenderQueue, VERTEX_STRIDE, View,
        vertex_attributes,
    },
    graph::{BufferSource, Graph, ImageHandle},
};

/// Start or end of a motion: a camera and the pose of the scene.
#[derive(Clone, Debug)]
pub struct MotionState {
    /// World axes relative to the frame's camera to the clip space of that time.
    pub to_clip: DMat4,
    /// Pose at that time; `None`: the frame's pose.
    pub posed: Option<Arc<GpuScenePose>>,
}

impl MotionState {
    /// State of a view. `eye`: position of the frame's camera in the world (m).
    #[must_use]
    pub fn for_view(view: &View, eye: DVec3, posed: Option<Arc<GpuScenePose>>) -> Self {
        Self {
            to_clip: view.view_projection.as_dmat4() * DMat4::from_translation(eye - view.position),
            posed,
        }
    }
}

/// Surfaces of which a velocity image has the motion: one in each pixel, at the depth of an image.
#[derive(Clone, Copy, Debug)]
pub enum VelocitySurfaces {
    /// Opaque ones, of the depth attachment.
    Opaque(ImageHandle),
    /// Blended ones, of `BlendedGbuffer`.
    Blended(ImageHandle),
}

impl VelocitySurfaces {
    /// Image of their depths.
    const fn depth(self) -> ImageHandle {
        let (Self::Opaque(depth) | Self::Blended(depth)) = self;
        depth
    }

    /// True if a draw may be of these surfaces.
    fn includes(self, draw: &Draw) -> bool {
        match self {
            Self::Opaque(_) => draw.queue != RenderQueue::Blend,
            Self::Blended(_) => draw.blended,
        }
    }
}

/// Pipelines of the velocity passes.
pub struct VelocityPass {
    gpu: Gpu,
    pipeline: Arc<GraphicsPipeline>,
    moving: Arc<GraphicsPipeline>,
    /// Of blended surfaces, created on first use.
    moving_blended: OnceLock<Arc<GraphicsPipeline>>,
    enlarge: Arc<GraphicsPipeline>,
}

/// Moving instances, per draw.
struct Moving<'a> {
    draws: Vec<(&'a Draw, MoveConstants)>,
    moves: Vec<Move>,
}

impl VelocityPass {
    /// Creates the pipelines.
    ///
    /// # Errors
    /// `GpuError` if the driver rejects a pipeline.
    pub fn new(gpu: &Gpu) -> GpuResult<Self> {
        let state = GraphicsState { colors: vec![(VELOCITY, false)], ..GraphicsState::default() };
        let moving = GraphicsState {
            // Visible surfaces wrote this depth; holes of alpha masks did not.
            depth: Some((DEPTH, false, vk::CompareOp::EQUAL)),
            ..moving_state()
        };
        let make = |name: &str, fragment: &str| {
            GraphicsPipeline::new(gpu, name, "fullscreen.vert", fragment, &state)
        };
        Ok(Self {
            gpu: gpu.clone(),
            pipeline: make("velocity", "velocity.frag")?,
            moving: GraphicsPipeline::new(
                gpu,
                "velocity moving",
                "velocity.vert",
                "velocity_dynamic.frag",
                &moving,
            )?,
            moving_blended: OnceLock::new(),
            enlarge: make("velocity upscaled", "velocity_upscale.frag")?,
        })
    }

    fn moving_blended(&self) -> GpuResult<Arc<GraphicsPipeline>> {
        get_or_create(&self.moving_blended, || {
            let name = "velocity moving blended";
            let fragment = "velocity_dynamic.frag+BLENDED";
            GraphicsPipeline::new(&self.gpu, name, "velocity.vert", fragment, &moving_state())
        })
    }

    /// Upscales velocities from an image of `from` pixels to one of `to`; unchanged if the sizes
    /// are equal.
    pub fn enlarged(
        &self,
        g: &mut Graph<'_>,
        velocity: ImageHandle,
        from: [u32; 2],
        to: [u32; 2],
    ) -> ImageHandle {
        if from == to {
            return velocity;
        }
        let out = g.image("velocity upscaled", to[0], to[1], VELOCITY);
        let size = to.map(|side| side as f32);
        g.fullscreen("velocity upscaled", &self.enlarge)
            .sampled("velocity_image", velocity)
            .push(&size)
            .target(out)
            .draw();
        out
    }

    /// Declares the pass for the motion of each pixel as if only the camera moved.
    fn declare_static<'a>(
        &'a self,
        g: &mut Graph<'a>,
        data: &FrameData,
        depth: ImageHandle,
        name: &str,
        moments: &[MotionState; 2],
    ) -> ImageHandle {
        let [width, height] = data.uniforms.values.size;
        let out = g.image(name, width, height, VELOCITY);
        let [open, close] = [&moments[0], &moments[1]].map(|moment| moment.to_clip.as_mat4());
        let constants = VelocityConstants { open, close };
        g.fullscreen(name, &self.pipeline)
            .binds([data.uniform()])
            .sampled("depth_image", depth)
            .push(&constants)
            .target(out)
            .draw();
        out
    }

    /// Declares the passes for the motion of each pixel from the first time to the last. Camera
    /// motion is computed for all pixels; moving objects are drawn over it where visible. Temporal
    /// passes use the interval from the last frame to this one, motion blur that from shutter
    /// opening to closing; `name` distinguishes their images.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        SceneFrame { scene, data, .. }: SceneFrame<'a>,
        skin: &SkinPass,
        surfaces: VelocitySurfaces,
        name: &str,
        moments: &[MotionState; 2],
    ) -> ImageHandle {
        let depth = surfaces.depth();
        let out = self.declare_static(g, data, depth, name, moments);
        let moving = moving(scene, data, surfaces, moments);
        if moving.draws.is_empty() {
            return out;
        }
        let elsewhere = |draw: &MoveConstants, index: usize| {
            [draw.first_positions, draw.last_positions]
                .get(index)
                .is_some_and(|&first| first != NO_POSITIONS)
        };
        let mut positions = |index: usize| {
            let posed = moments[index].posed.as_ref()?;
            let wanted = moving.draws.iter().any(|(_, draw)| elsewhere(draw, index));
            let which = if index == 0 { "first" } else { "last" };
            wanted
                .then(|| skin.positions(g, scene, &format!("{name}: {which} positions"), posed))
                .flatten()
        };
        let positions = [positions(0), positions(1)];
        // Any buffer serves as a placeholder if nothing is read.
        let [first, last] = positions.map(|positions| {
            positions.map_or_else(|| (&data.draws.instances).into(), BufferSource::from)
        });
        let pass = g.draws(&format!("{name} of dynamic objects")).target_loaded(out);
        let pass = match surfaces {
            VelocitySurfaces::Opaque(depth) => pass.depth_tested(depth),
            VelocitySurfaces::Blended(depth) => pass.sampled("blended_depth_image", depth),
        };
        pass.vertex_storage("first_position_block", first)
            .vertex_storage("last_position_block", last)
            .binds([data.uniform()])
            .vertex_storage("instance_block", &data.draws.instances)
            .storage_values("move_block", "moves", &moving.moves)
            .record(move |cx, bindings| {
                let pipeline = match surfaces {
                    VelocitySurfaces::Opaque(_) => Arc::clone(&self.moving),
                    VelocitySurfaces::Blended(_) => self.moving_blended()?,
                };
                cx.rec.bind_graphics(&pipeline, &bindings.common())?;
                for (draw, constants) in &moving.draws {
                    cx.rec.bind_geometry(
                        &scene.vertices,
                        if draw.sorted { &data.draws.sorted } else { &scene.indices },
                    );
                    cx.rec.push_graphics(&pipeline, constants);
                    cx.rec.set_culling(!draw.double_sided, draw.mirrored);
                    let Draw {
                        first_index,
                        index_count,
                        vertex_offset,
                        first_instance,
                        instance_count,
                        ..
                    } = **draw;
                    cx.rec.draw_indexed(
                        first_index,
                        index_count,
                        vertex_offset,
                        first_instance,
                        instance_count,
                    );
                }
                Ok(())
            });
        out
    }
}

/// State of the draws of moving objects, without depth.
fn moving_state() -> GraphicsState {
    GraphicsState {
        vertex_stride: VERTEX_STRIDE,
        attributes: vertex_attributes().into_iter().filter(|attribute| attribute.0 == 0).collect(),
        colors: vec![(VELOCITY, false)],
        ..GraphicsState::default()
    }
}

/// Draws with an instance whose transform at either time differs from the frame's.
fn moving<'a>(
    scene: &GpuScene,
    data: &'a FrameData,
    surfaces: VelocitySurfaces,
    moments: &[MotionState; 2],
) -> Moving<'a> {
    let mut out = Moving { draws: Vec::new(), moves: Vec::new() };
    let now = &scene.current_pose;
    let at = [&moments[0], &moments[1]].map(|moment| moment.posed.as_ref().unwrap_or(now));
    if at.iter().all(|posed| Arc::ptr_eq(posed, now) || *posed == now) {
        return out;
    }
    let part_of = |group: u32| {
        scene
            .deformers
            .iter()
            .flat_map(|deformers| &deformers.parts)
            .find(|part| part.group == group as usize)
    };
    let eye = DMat4::from_translation(-data.uniforms.camera);
    for draw in data.draws.visible.draws.iter().filter(|draw| surfaces.includes(draw)) {
        let range =
            draw.first_instance as usize..(draw.first_instance + draw.instance_count) as usize;
        let sources = data.draws.visible.sources.get(range).unwrap_or_default();
        let Some(&(group, _)) = sources.first() else { continue };
        let places = |posed: &GpuScenePose| {
            posed.groups.get(group as usize).map(|group| Arc::clone(&group.world_transforms))
        };
        let [Some(first), Some(last), Some(still)] = [places(at[0]), places(at[1]), places(now)]
        else {
            continue;
        };
        let own = part_of(group)
            .map(|part| {
                at.map(|posed| if posed.deform == now.deform { NO_POSITIONS } else { part.own })
            })
            .unwrap_or([NO_POSITIONS; 2]);
        let stands = Arc::ptr_eq(&first, &still) && Arc::ptr_eq(&last, &still)
            || first == still && last == still;
        if stands && own == [NO_POSITIONS; 2] {
            continue;
        }
        let constants = MoveConstants {
            first_move: out.moves.len() as u32,
            first_instance: draw.first_instance,
            first_vertex: draw.vertex_offset as u32,
            first_positions: own[0],
            last_positions: own[1],
        };
        let [to_first, to_last] = [&moments[0], &moments[1]].map(|moment| moment.to_clip * eye);
        out.moves.extend(sources.iter().map(|&(_, place)| {
            let of = |to_clip: DMat4, places: &[DMat4]| {
                places
                    .get(place as usize)
                    .map_or(Mat4::IDENTITY, |place| (to_clip * *place).as_mat4())
            };
            Move { first: of(to_first, &first), last: of(to_last, &last) }
        }));
        out.draws.push((draw, constants));
    }
    out
}
