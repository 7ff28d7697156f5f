//! Dispatch of compute passes over the pixels of an image (`shaders/lib/pixel_groups.glsl`).

/// Side of the square of pixels of a work group.
const SIDE: u32 = 8;
/// Stride between consecutive rows of work groups (`GROUP_ROW_STRIDE` of the shader). The dispatch
/// has a multiple of as many rows.
const ROW_STRIDE: u32 = 8;

/// Work groups that cover an image of this size in pixels.
pub(super) fn dispatch([width, height]: [u32; 2]) -> [u32; 3] {
    [width.div_ceil(SIDE), height.div_ceil(SIDE).next_multiple_of(ROW_STRIDE), 1]
}
