//! Recording of frames that can be interrupted: each pass depends on the interrupt's word, and long
//! passes run in parts, so that the word is tested often.

use std::sync::Arc;

use ash::vk;

use super::{commands::Recorder, interrupt::Interrupt};

/// Parts of a dispatch or of a draw over the whole image in a frame that can be interrupted.
const PARTS: u32 = 32;

/// Minimum size of a part: columns of work groups, rows of pixels.
const MIN_GROUPS: u32 = 4;
const MIN_ROWS: u32 = 32;

impl Recorder<'_> {
    /// Lets the frame be interrupted from the next pass on.
    pub fn interrupt_by(&mut self, interrupt: &Arc<Interrupt>) {
        self.keep(Arc::clone(&interrupt.0) as _);
        self.interrupt = Some(Arc::clone(interrupt));
    }

    /// Begins the condition of a pass.
    pub(super) fn begin_condition(&mut self) {
        let Some(word) = self.interrupt.as_ref().map(|interrupt| interrupt.0.handle) else {
            return;
        };
        let (_, commands) = self.raw();
        if let Some(calls) = &self.gpu().conditions {
            let begin = vk::ConditionalRenderingBeginInfoEXT::default().buffer(word);
            // SAFETY: recording outside of rendering, without an active condition; the buffer is
            // kept until the frame is over. A change of the word meanwhile is allowed: commands
            // run or not.
            unsafe { (calls.fp().cmd_begin_conditional_rendering_ext)(commands, &begin) };
        }
    }

    /// Ends the condition of a pass.
    pub(super) fn end_condition(&mut self) {
        if self.interrupt.is_none() {
            return;
        }
        let (_, commands) = self.raw();
        if let Some(calls) = &self.gpu().conditions {
            // SAFETY: recording outside of rendering, with an active condition.
            unsafe { (calls.fp().cmd_end_conditional_rendering_ext)(commands) };
        }
    }

    /// Dispatches work groups of a compute pipeline; in a frame that can be interrupted, in parts
    /// by columns. Shaders that read `gl_NumWorkGroups.x`, which is that of a part, run at once.
    pub fn dispatch_in_parts(&mut self, x: u32, y: u32, z: u32) {
        if self.interrupt.is_none() || !self.runs_in_parts {
            return self.dispatch(x, y, z);
        }
        let columns = x.div_ceil(PARTS).max(MIN_GROUPS);
        for first in (0..x).step_by(columns as usize) {
            let count = columns.min(x - first);
            let (device, commands) = self.raw();
            // SAFETY: recording outside of rendering with a compute pipeline bound, which was made
            // for a base.
            unsafe { device.cmd_dispatch_base(commands, first, 0, 0, count, y, z) };
        }
    }

    /// Draws one triangle that covers the image; in a frame that can be interrupted, in parts by
    /// rows. The pass must not have set a scissor.
    pub fn draw_fullscreen_in_parts(&mut self) {
        let area = self.rendering.area.extent;
        if self.interrupt.is_none() || area.height <= MIN_ROWS {
            return self.draw_fullscreen();
        }
        let rows = area.height.div_ceil(PARTS).next_multiple_of(MIN_ROWS);
        for first in (0..area.height).step_by(rows as usize) {
            if first > 0 {
                // Software devices test the word when they record the draws of a rendering
                // instance, and execute them at its end.
                self.restart_rendering();
            }
            self.set_scissor([0, first, area.width, rows.min(area.height - first)]);
            self.draw_fullscreen();
        }
    }

    /// Ends the rendering instance, and begins another one that keeps the attachments' content.
    fn restart_rendering(&mut self) {
        self.end_rendering();
        let (stages, access) = (
            vk::PipelineStageFlags2::COLOR_ATTACHMENT_OUTPUT
                | vk::PipelineStageFlags2::EARLY_FRAGMENT_TESTS
                | vk::PipelineStageFlags2::LATE_FRAGMENT_TESTS,
            vk::AccessFlags2::COLOR_ATTACHMENT_READ
                | vk::AccessFlags2::COLOR_ATTACHMENT_WRITE
                | vk::AccessFlags2::DEPTH_STENCIL_ATTACHMENT_READ
                | vk::AccessFlags2::DEPTH_STENCIL_ATTACHMENT_WRITE,
        );
        self.memory_barrier((stages, access), (stages, access));
        let load = |attachment: &vk::RenderingAttachmentInfo<'static>| {
            attachment.load_op(vk::AttachmentLoadOp::LOAD)
        };
        let colors: Vec<_> = self.rendering.colors.iter().map(load).collect();
        let depth = self.rendering.depth.as_ref().map(load);
        let mut rendering = vk::RenderingInfo::default()
            .render_area(self.rendering.area)
            .layer_count(1)
            .color_attachments(&colors);
        if let Some(depth) = &depth {
            rendering = rendering.depth_attachment(depth);
        }
        let (device, commands) = self.raw();
        // SAFETY: recording outside of rendering; the attachments are kept until the frame is over.
        unsafe { device.cmd_begin_rendering(commands, &rendering) };
    }
}
