//! A scene's environment as `shaders/lib/environment.glsl` reads it: one buffer.

use std::sync::OnceLock;

use glam::Vec3;

use super::shared::EnvironmentConstants;
use crate::{
    photometry::environment::{Filtered, Rows, dfg_table},
    scene::Environment,
};

/// The bytes of an environment; of none, a head that says so.
#[must_use]
pub fn bytes(environment: Option<&Environment>) -> Vec<u8> {
    let Some(environment) = environment else {
        let mut none = bytemuck::bytes_of(&EnvironmentConstants::default()).to_vec();
        // The array behind it must not be empty.
        none.extend_from_slice(bytemuck::bytes_of(&Vec3::ZERO));
        return none;
    };
    let map = &environment.map;
    let filtered = Filtered::new(map);
    let irradiance_offset = map.texels().len();
    let specular_offset = irradiance_offset + filtered.irradiance.len();
    let dfg_offset = specular_offset + filtered.specular.iter().map(Vec::len).sum::<usize>();
    let (sin, cos) = environment.rotation.sin_cos();
    let constants = EnvironmentConstants {
        width: map.width() as u32,
        height: map.height() as u32,
        square_rows: u32::from(map.rows() == Rows::SquareRoot),
        enabled: 1,
        turn_sin: sin as f32,
        turn_cos: cos as f32,
        irradiance_offset: irradiance_offset as u32,
        specular_offset: specular_offset as u32,
        dfg_offset: dfg_offset as u32,
        ..EnvironmentConstants::default()
    };
    let mut bytes = bytemuck::bytes_of(&constants).to_vec();
    static DFG: OnceLock<Vec<Vec3>> = OnceLock::new();
    let dfg = DFG.get_or_init(dfg_table);
    for part in [map.texels(), &filtered.irradiance].into_iter().chain(filtered.specular.iter().map(Vec::as_slice)) {
        bytes.extend_from_slice(bytemuck::cast_slice(part));
    }
    bytes.extend_from_slice(bytemuck::cast_slice(dfg));
    bytes
}
