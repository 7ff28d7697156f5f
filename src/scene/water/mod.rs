//! Water with a level surface: optical coefficients, flow and ripples (docs/water.md).
//!
//! A water material refracts as KHR_materials_transmission and KHR_materials_volume define, with
//! index 1.333; this module adds the rest. Model its mesh as a level sheet without sides or bottom:
//! everything below the sheet is under water.

mod add;
mod bed;
pub mod channel_flow;
mod debris;
mod floating;
pub mod flow;
pub mod flow_map;
mod settings;
mod surface;
mod warnings;
pub mod waves;

pub use self::{
    add::MAX_WATERS,
    floating::FloatingObject,
    flow_map::FlowMap,
    settings::{WaterLook, WaterSettings},
    surface::{FOAM_REFLECTANCE, Water},
};
