//! Density grids of heterogeneous volumes, read from raw files.

use std::{fmt, fs, path::Path, sync::Arc};

use glam::DVec3;

use crate::{message::unreadable, settings::choices::choices};

/// Maximum number of voxels along a side.
pub const MAX_DIMENSION: u32 = 2048;
/// Maximum number of voxels in a grid: 128 MiB of `f32`, which every device can bind.
pub const MAX_VOXELS: u64 = 1 << 25;

choices! {
    /// Encoding of a voxel in a raw file; little endian.
    pub enum DensityFormat {
        /// Unsigned byte: 255 is density 1.
        U8 = "u8",
        /// Half float (IEEE 754 binary16).
        F16 = "f16",
        /// Single-precision float (IEEE 754 binary32).
        F32 = "f32",
    }
}

impl DensityFormat {
    /// Bytes per voxel.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        match self {
            Self::U8 => 1,
            Self::F16 => 2,
            Self::F32 => 4,
        }
    }
}

/// Error of a density grid that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DensityError {
    /// A size of 0 or beyond the limits.
    #[error(
        "{}x{}x{} voxels; a grid has 1 to {MAX_DIMENSION} along each side and at most {MAX_VOXELS} in all: resample it",
        size[0], size[1], size[2]
    )]
    Size {
        /// Voxels along x, y and z.
        size: [u32; 3],
    },
    /// The file length differs from that of the voxels.
    #[error("the file has {found} bytes, but {}x{}x{} voxels of {each} bytes take {wanted}; check dimensions and format, or copy the file again", size[0], size[1], size[2])]
    Length {
        /// Actual length (bytes).
        found: u64,
        /// Expected length (bytes).
        wanted: u64,
        /// Bytes per voxel.
        each: u64,
        /// Voxels along x, y and z.
        size: [u32; 3],
    },
    /// A voxel is negative, infinite or NaN.
    #[error("voxel ({}, {}, {}) is {value}; densities are finite and at least 0: check dimensions and format, or clamp them", at[0], at[1], at[2])]
    Value {
        /// Index of the voxel along x, y and z.
        at: [u32; 3],
        /// Its value.
        value: String,
    },
    /// The file cannot be read.
    #[error("{0}")]
    File(String),
}

/// Densities at voxel centers, in order of x, then y, then z. Lookups are trilinear and clamp at
/// the border.
#[derive(Clone, PartialEq)]
pub struct DensityGrid {
    size: [u32; 3],
    values: Arc<[f32]>,
    max: f32,
}

impl fmt::Debug for DensityGrid {
    /// Omits the voxels, which may be millions.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DensityGrid").field("size", &self.size).field("most", &self.max).finish()
    }
}

/// Expected length (bytes) of a raw file.
fn raw_bytes(size: [u32; 3], format: DensityFormat) -> Result<u64, DensityError> {
    if !size.iter().all(|side| (1..=MAX_DIMENSION).contains(side)) {
        return Err(DensityError::Size { size });
    }
    let voxels = size.iter().map(|&side| u64::from(side)).product::<u64>();
    if voxels > MAX_VOXELS { Err(DensityError::Size { size }) } else { Ok(voxels * format.bytes()) }
}

impl DensityGrid {
    /// Creates a grid from its voxels, x fastest.
    ///
    /// # Errors
    /// `DensityError` if the size is beyond the limits or differs from the number of values, or if
    /// a value is negative or not finite.
    pub fn new(size: [u32; 3], values: Vec<f32>) -> Result<Self, DensityError> {
        let wanted = raw_bytes(size, DensityFormat::F32)?;
        let found = values.len() as u64 * 4;
        if found != wanted {
            return Err(DensityError::Length { found, wanted, each: 4, size });
        }
        if let Some(index) = values.iter().position(|value| !(value.is_finite() && *value >= 0.0)) {
            let index32 = u32::try_from(index).unwrap_or(u32::MAX);
            let at = [index32 % size[0], index32 / size[0] % size[1], index32 / size[0] / size[1]];
            return Err(DensityError::Value { at, value: values[index].to_string() });
        }
        let most = values.iter().fold(0.0f32, |most, &value| most.max(value));
        Ok(Self { size, values: values.into(), max: most })
    }

    /// Decodes the bytes of a raw file.
    ///
    /// # Errors
    /// As `new`; also if the length differs from that of the voxels.
    pub fn from_raw(
        bytes: &[u8],
        size: [u32; 3],
        format: DensityFormat,
    ) -> Result<Self, DensityError> {
        let wanted = raw_bytes(size, format)?;
        let found = bytes.len() as u64;
        if found != wanted {
            return Err(DensityError::Length { found, wanted, each: format.bytes(), size });
        }
        let values = match format {
            DensityFormat::U8 => bytes.iter().map(|&byte| f32::from(byte) / 255.0).collect(),
            DensityFormat::F16 => bytes
                .as_chunks::<2>()
                .0
                .iter()
                .map(|pair| half::f16::from_le_bytes(*pair).to_f32())
                .collect(),
            DensityFormat::F32 => {
                bytes.as_chunks::<4>().0.iter().map(|four| f32::from_le_bytes(*four)).collect()
            }
        };
        Self::new(size, values)
    }

    /// Reads a raw file. It allocates only after the file length is known to match.
    ///
    /// # Errors
    /// As `from_raw`; also if the file cannot be read.
    pub fn load(file: &Path, size: [u32; 3], format: DensityFormat) -> Result<Self, DensityError> {
        let wanted = raw_bytes(size, format)?;
        let about = fs::metadata(file).map_err(|error| DensityError::File(unreadable(&error)))?;
        if !about.is_file() {
            return Err(DensityError::File("not a regular file; name a raw file of voxels".into()));
        }
        if about.len() != wanted {
            return Err(DensityError::Length {
                found: about.len(),
                wanted,
                each: format.bytes(),
                size,
            });
        }
        let bytes = fs::read(file).map_err(|error| DensityError::File(error.to_string()))?;
        Self::from_raw(&bytes, size, format)
    }

    /// Voxels along x, y and z.
    #[must_use]
    pub const fn size(&self) -> [u32; 3] {
        self.size
    }

    /// All voxels, x fastest.
    #[must_use]
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Maximum density.
    #[must_use]
    pub const fn max(&self) -> f32 {
        self.max
    }

    /// A copy of the grid scaled by a finite factor of at least 0.
    #[must_use]
    pub fn scaled(&self, factor: f32) -> Self {
        let values: Arc<[f32]> =
            self.values.iter().map(|value| (value * factor).min(f32::MAX)).collect();
        Self { size: self.size, values, max: (self.max * factor).min(f32::MAX) }
    }

    /// Density at a position in the box with corners (0, 0, 0) and (1, 1, 1).
    #[must_use]
    pub fn sample(&self, place: DVec3) -> f64 {
        let [nx, ny, nz] = self.size.map(|side| side as usize);
        let axis = |x: f64, n: usize| {
            let x = (x * n as f64 - 0.5).clamp(0.0, (n - 1) as f64);
            let low = (x as usize).min(n - 1);
            (low, (low + 1).min(n - 1), x - low as f64)
        };
        let ((x0, x1, fx), (y0, y1, fy), (z0, z1, fz)) =
            (axis(place.x, nx), axis(place.y, ny), axis(place.z, nz));
        let row = |y: usize, z: usize| {
            let at = |x: usize| f64::from(self.values[(z * ny + y) * nx + x]);
            at(x0) + (at(x1) - at(x0)) * fx
        };
        let plane = |z: usize| row(y0, z) + (row(y1, z) - row(y0, z)) * fy;
        plane(z0) + (plane(z1) - plane(z0)) * fz
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_agree() {
        let size = [2, 1, 1];
        let of = |bytes: &[u8], format| {
            DensityGrid::from_raw(bytes, size, format).unwrap().values().to_vec()
        };
        assert_eq!(of(&[0, 255], DensityFormat::U8), [0.0, 1.0]);
        assert_eq!(of(&[0, 0, 0, 0x3c], DensityFormat::F16), [0.0, 1.0]);
        assert_eq!(of(&[0, 0, 0, 0, 0, 0, 0x80, 0x3f], DensityFormat::F32), [0.0, 1.0]);
    }

    #[test]
    fn between_voxels_it_is_linear_and_beyond_them_constant() {
        let grid = DensityGrid::new([2, 2, 2], (0..8u8).map(f32::from).collect()).unwrap();
        assert_eq!(grid.sample(DVec3::splat(0.25)), 0.0);
        assert_eq!(grid.sample(DVec3::splat(0.5)), 3.5);
        assert_eq!(grid.sample(DVec3::new(0.75, 0.25, 0.25)), 1.0);
        assert_eq!(grid.sample(DVec3::new(0.25, 0.75, 0.25)), 2.0);
        assert_eq!(grid.sample(DVec3::new(0.25, 0.25, 0.75)), 4.0);
        assert_eq!(
            (grid.sample(DVec3::splat(-1.0)), grid.sample(DVec3::splat(9.0)), grid.max()),
            (0.0, 7.0, 7.0)
        );
    }

    #[test]
    fn what_is_no_density_is_refused() {
        let text = |result: Result<DensityGrid, DensityError>| result.unwrap_err().to_string();
        assert!(
            text(DensityGrid::new([2, 1, 1], vec![0.0, -1.0])).contains("voxel (1, 0, 0) is -1")
        );
        assert!(
            text(DensityGrid::new([1, 2, 1], vec![0.0, f32::NAN]))
                .contains("voxel (0, 1, 0) is NaN")
        );
        assert!(
            text(DensityGrid::from_raw(&[0; 7], [2, 2, 2], DensityFormat::U8)).contains("7 bytes")
        );
        assert!(text(DensityGrid::from_raw(&[], [0, 2, 2], DensityFormat::U8)).contains("0x2x2"));
        // Rejected before anything of that size is allocated.
        assert!(
            text(DensityGrid::from_raw(&[], [u32::MAX; 3], DensityFormat::F32)).contains("at most")
        );
        assert!(
            text(DensityGrid::from_raw(&[], [2048; 3], DensityFormat::F32)).contains("at most")
        );
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("short.raw");
        std::fs::write(&file, [0; 10]).unwrap();
        assert!(text(DensityGrid::load(&file, [4, 4, 4], DensityFormat::F16)).contains("take 128"));
        assert!(
            text(DensityGrid::load(&dir.path().join("none"), [1; 3], DensityFormat::U8))
                .contains("check the path")
        );
        assert!(
            text(DensityGrid::load(dir.path(), [1; 3], DensityFormat::U8)).contains("regular file")
        );
    }
}
