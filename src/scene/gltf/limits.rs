//! Limits of the importer, which bound its time and memory.

/// Maximum bytes of the document, and again of all files beside it together.
pub const MAX_FILE_BYTES: u64 = 4 << 30;
/// Maximum bytes of JSON; parsed values take many times that.
pub const MAX_JSON_BYTES: usize = 256 << 20;
/// Maximum number of JSON values: each takes about a hundred bytes in memory.
pub const MAX_JSON_VALUES: usize = 1 << 24;
/// Maximum bytes of geometry, decoded and generated, in one file.
pub const MAX_DECODED_BYTES: u64 = 4 << 30;
/// Maximum bytes of accessors that are checked number by number; data beyond is converted
/// unchecked.
pub const MAX_CHECKED_BYTES: u64 = 1 << 30;
/// Maximum number of accessor elements without data in the file.
pub const MAX_ZERO_ELEMENTS: u64 = 1 << 24;
/// Maximum number of nodes, and of shown primitives, counting each instance.
pub const MAX_NODES: usize = 10_000_000;
/// Maximum number of shown triangles, counting each instance.
pub const MAX_INSTANCED_TRIANGLES: usize = 1 << 30;
/// Maximum width and height of an image in pixels.
pub const MAX_IMAGE_SIZE: u32 = 16384;
/// Maximum bytes that decoding one image may take.
pub const MAX_IMAGE_ALLOCATION: u64 = 1 << 30;
/// Maximum bytes of pixels of all images together.
pub const MAX_PIXEL_BYTES: u64 = 4 << 30;
