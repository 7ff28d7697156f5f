//! Limits of files and images, checked before memory is allocated.

/// Maximum size of a file in bytes.
pub const MAX_FILE: u64 = 1 << 30;
/// Maximum number of pixels of an image: 8192x4096.
pub const MAX_PIXELS: u64 = 1 << 25;
/// Maximum side length of an image in pixels.
pub const MAX_SIDE: u64 = 1 << 15;

/// Checks whether an image of this size (width and height in pixels) is accepted, before memory is
/// allocated.
pub type SizeCheck<'a> = &'a dyn Fn(u64, u64) -> Result<(), String>;

/// Checks the size of an image in pixels.
///
/// # Errors
/// One line: the size and its limits.
pub fn check_size(width: u64, height: u64) -> Result<(), String> {
    // Metrics process whole rows with their neighbors, so sides are limited too.
    let fits = width.checked_mul(height).is_some_and(|pixels| (1..=MAX_PIXELS).contains(&pixels));
    if !fits || width.max(height) > MAX_SIDE {
        return Err(format!(
            "{width}x{height} pixels; expected 1 to {MAX_PIXELS} in total, such as 8192x4096, and \
             at most {MAX_SIDE} per side"
        ));
    }
    Ok(())
}
