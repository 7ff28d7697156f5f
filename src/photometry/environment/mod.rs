//! Environment lighting (IBL): luminance maps by direction, their illuminance, prefiltering and
//! shading tables.

pub mod dfg;
pub mod prefilter;
mod radiance_map;

pub use dfg::{DFG_SIZE, dfg_table};
pub use prefilter::{PrefilteredEnvironment, octahedral_direction};
pub use radiance_map::{MAX_NITS, MAX_TEXELS, MapError, RadianceMap, RowMapping};
