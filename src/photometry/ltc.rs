//! Linearly transformed cosines (LTC) of the BRDF's specular lobe, for area lights.
//!
//! Heitz, Dupuy, Hill and Neubelt 2016, "Real-Time Polygonal-Light Shading with Linearly
//! Transformed Cosines". `tests/common/area_integrals/ltc.rs` fits the table, and defines its
//! entries.

use std::sync::OnceLock;

/// Rows (roughness) and columns (cosine to the viewer) of the table, both from 0 to 1.
pub const SIZE: usize = 32;

/// The table, written by `examples/fit_ltc.rs`: three little-endian floats per entry, row by row.
static TABLE: &[u8] = include_bytes!("../../assets/ltc.bin");

/// The table in shader order: rows of roughness, columns of the cosine, three numbers each.
#[must_use]
pub fn table() -> &'static [[f32; 3]] {
    static DECODED: OnceLock<Vec<[f32; 3]>> = OnceLock::new();
    DECODED.get_or_init(|| {
        let float = |bytes: &[u8]| bytes.try_into().map_or(1.0, f32::from_le_bytes);
        TABLE.chunks_exact(12).map(|e| [float(&e[..4]), float(&e[4..8]), float(&e[8..])]).collect()
    })
}
