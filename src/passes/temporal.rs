//! Shared state of temporal passes: the motion since the last frame, the state and the images of a
//! pass's history, and the velocity of each pixel.

use std::sync::Arc;

use glam::{DMat4, DVec2, DVec3, Mat4};

use super::{
    scene_frame::SceneFrame,
    skin::SkinPass,
    velocity::{MotionState, VelocityPass, VelocitySurfaces},
};
use crate::{
    gpu::{
        shader_structs::temporal::{HistoryConstants, MotionConstants},
        vk,
    },
    gpu_scene::{GpuScenePose, View},
    graph::{Graph, ImageHandle},
};

/// Motion of the camera and the scene from the last frame to this one.
#[derive(Clone, Debug)]
pub struct FrameMotion {
    /// The last frame and this one.
    states: [MotionState; 2],
    /// The last frame's clip space to positions relative to its camera.
    previous_inverse: Mat4,
    /// Position of the last frame's camera relative to this frame's (m).
    previous_eye: DVec3,
    /// Sample offset of the last frame from the pixel center (pixels).
    previous_jitter: DVec2,
    camera_moved: bool,
}

impl FrameMotion {
    /// Motion from the last frame's view to this one's, both without jitter. `pose`: the last
    /// frame's pose of the scene, if it differs from this frame's; `previous_jitter`: sample offset
    /// of the last frame from the pixel center (pixels).
    #[must_use]
    pub fn new(
        last: &View,
        view: &View,
        pose: Option<Arc<GpuScenePose>>,
        previous_jitter: DVec2,
    ) -> Self {
        Self {
            states: [
                MotionState::for_view(last, view.position, pose),
                MotionState::for_view(view, view.position, None),
            ],
            previous_inverse: last.inverse,
            previous_eye: last.position - view.position,
            previous_jitter,
            camera_moved: !last.same_camera(view),
        }
    }

    /// True if the scene has not moved since the last frame; the camera may have.
    #[must_use]
    pub const fn is_scene_still(&self) -> bool {
        self.states[0].posed.is_none()
    }

    /// True if neither the scene nor the camera has moved since the last frame.
    #[must_use]
    pub const fn is_still(&self) -> bool {
        self.is_scene_still() && !self.camera_moved
    }

    /// Constants of the shaders.
    pub(super) fn constants(&self) -> MotionConstants {
        let [previous, current] = [&self.states[0], &self.states[1]];
        let back = DMat4::from_translation(self.previous_eye) * self.previous_inverse.as_dmat4();
        MotionConstants {
            previous_to_clip: previous.to_clip.as_mat4(),
            to_clip: current.to_clip.as_mat4(),
            previous_from_clip: back.as_mat4(),
            previous_eye: self.previous_eye.as_vec3(),
            previous_jitter: self.previous_jitter.as_vec2(),
            ..MotionConstants::default()
        }
    }
}

/// State of a pass's history in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistoryFrame {
    /// Frame index since the history began. Without a history, the index of the sample or of the
    /// frame whose mean is displayed.
    pub number: u32,
    /// True if the last frame wrote the history.
    pub exists: bool,
    /// True if the history exists and nothing has moved since the last frame.
    pub still: bool,
    /// True if this frame writes the history; otherwise it leaves the history unchanged.
    pub kept: bool,
    /// Frames before this one in the mean that the picture shows, if it shows the mean of frames of
    /// a static view. The pass then outputs this frame's increment of that mean.
    pub averaged_frames: Option<u32>,
}

impl HistoryFrame {
    /// State of a history, of which the last frame wrote frame `last`, if it wrote any.
    #[must_use]
    pub fn new(last: Option<u32>, motion: &FrameMotion, kept: bool) -> Self {
        Self {
            number: Self::next_number(last),
            exists: last.is_some(),
            still: last.is_some() && motion.is_still(),
            kept,
            averaged_frames: None,
        }
    }

    /// Frame index after `last`. Histories count from their start, so that equal sequences give
    /// equal images.
    #[must_use]
    pub fn next_number(last: Option<u32>) -> u32 {
        last.map_or(0, |last| last.wrapping_add(1))
    }

    /// Consecutive static frames up to the last one, of which `counted` came before: 0 if something
    /// has moved since.
    #[must_use]
    pub const fn static_frames(self, counted: u32) -> u32 {
        if self.kept && self.still { counted } else { 0 }
    }

    /// Constants of the shaders. Maximum length of the history in frames: `in_motion`, and
    /// `at_rest` in a static view.
    pub(super) fn constants(self, in_motion: f32, at_rest: f32) -> HistoryConstants {
        let max_frames = match self.exists && self.kept {
            false => 0.0,
            true if self.still => at_rest,
            true => in_motion,
        };
        // A new history has no light of the frames before.
        let averaged = self.averaged_frames.filter(|_| self.exists).unwrap_or(0);
        HistoryConstants {
            max_frames,
            still: u32::from(self.still),
            number: self.number,
            averaged_frames: (averaged as f32).min(at_rest),
        }
    }

    /// The image of the last frame and the one that this frame writes: of the history `name`, or
    /// only the transient image `alone` in a frame that leaves the history unchanged.
    pub(super) fn images(
        self,
        g: &mut Graph<'_>,
        [name, alone]: [&str; 2],
        [width, height]: [u32; 2],
        format: vk::Format,
    ) -> (Option<ImageHandle>, ImageHandle) {
        if self.kept {
            let (previous, current) = g.history(name, width, height, format);
            (Some(previous), current)
        } else {
            (None, g.image(alone, width, height, format))
        }
    }
}

/// Velocity of each pixel since the last frame. The first pass that needs it declares it, once per
/// frame.
pub struct FrameVelocity<'a, 'm> {
    /// Its pipelines; `None` if no pass of the frame needs it.
    pub pass: Option<&'a VelocityPass>,
    /// Pipelines of skins, for their last positions.
    pub skin: &'a SkinPass,
    /// Motion since the last frame.
    pub motion: &'m FrameMotion,
    /// The scene in this frame.
    pub frame: SceneFrame<'a>,
    /// Depth of the opaque surfaces at render resolution.
    pub depth: ImageHandle,
    /// The image, once it is declared.
    pub declared: Option<ImageHandle>,
}

impl<'a> FrameVelocity<'a, '_> {
    /// The velocity image (pixels) of the opaque surfaces.
    pub fn image(&mut self, g: &mut Graph<'a>) -> ImageHandle {
        let Self { pass, skin, motion, frame, depth, .. } = *self;
        let Some(pass) = pass else { return depth };
        *self.declared.get_or_insert_with(|| {
            let name = "velocity from the last frame";
            let opaque = VelocitySurfaces::Opaque(depth);
            pass.declare(g, frame, skin, opaque, name, &motion.states)
        })
    }

    /// The velocity image (pixels) of blended surfaces at these depths; `None` if no pass of the
    /// frame needs velocities.
    pub fn blended_image(&self, g: &mut Graph<'a>, depth: ImageHandle) -> Option<ImageHandle> {
        let name = "velocity of blended surfaces";
        let blended = VelocitySurfaces::Blended(depth);
        let pass = self.pass?;
        Some(pass.declare(g, self.frame, self.skin, blended, name, &self.motion.states))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_has_a_length_only_if_it_exists_and_is_kept() {
        let history = HistoryFrame {
            number: 7,
            exists: true,
            still: false,
            kept: true,
            averaged_frames: None,
        };
        let length = |history: HistoryFrame| history.constants(16.0, 1024.0).max_frames;
        assert_eq!(length(history), 16.0);
        assert_eq!(length(HistoryFrame { still: true, ..history }), 1024.0);
        assert_eq!(length(HistoryFrame { exists: false, ..history }), 0.0);
        assert_eq!(length(HistoryFrame { still: true, kept: false, ..history }), 0.0);
        assert_eq!(history.constants(0.0, 0.0).number, 7);
    }

    #[test]
    fn a_mean_has_at_most_the_frames_of_the_history() {
        let history = HistoryFrame {
            number: 7,
            exists: true,
            still: true,
            kept: true,
            averaged_frames: Some(3),
        };
        let averaged = |history: HistoryFrame| history.constants(16.0, 1024.0).averaged_frames;
        assert_eq!(averaged(history), 3.0);
        assert_eq!(averaged(HistoryFrame { averaged_frames: Some(5000), ..history }), 1024.0);
        assert_eq!(averaged(HistoryFrame { exists: false, ..history }), 0.0);
        assert_eq!(averaged(HistoryFrame { averaged_frames: None, ..history }), 0.0);
    }

    #[test]
    fn histories_count_from_their_start() {
        assert_eq!(HistoryFrame::next_number(None), 0);
        assert_eq!(HistoryFrame::next_number(Some(0)), 1);
        assert_eq!(HistoryFrame::next_number(Some(u32::MAX)), 0);
    }
}
