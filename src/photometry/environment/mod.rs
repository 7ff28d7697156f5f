//! Environment lighting (IBL): luminance maps by direction, their illuminance, extraction of
//! lights, prefiltering and shading tables.

pub mod dfg;
mod extract;
pub mod prefilter;
mod radiance_map;

pub use dfg::{DFG_SIZE, dfg_table};
pub use extract::{ExtractedLight, Extraction, ExtractionLimits};
pub use prefilter::{PrefilteredEnvironment, octahedral_direction};
pub use radiance_map::{MAX_NITS, MAX_TEXELS, MapError, RadianceMap, RowMapping};
