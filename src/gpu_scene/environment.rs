//! Environment buffer of a scene, as `shaders/lib/environment.glsl` reads it.

use crate::{
    gpu::shader_structs::frame::EnvironmentConstants,
    photometry::environment::{PrefilteredEnvironment, RadianceMap, RowMapping, dfg_table},
    scene::Environment,
};

/// Bytes per texel: three floats.
const TEXEL: usize = 12;

/// Serializes an environment; without one, a header that disables it. With `probes`, the DFG table
/// is always included.
#[must_use]
pub fn bytes(environment: Option<&Environment>, probes: bool) -> Vec<u8> {
    let mut constants = EnvironmentConstants::default();
    let mut texels = Vec::new();
    if let Some(environment) = environment {
        let map = &environment.map;
        let filtered = PrefilteredEnvironment::new(map);
        append(&mut texels, map, &filtered);
        let (sin, cos) = environment.rotation.sin_cos();
        constants = EnvironmentConstants {
            width: map.width() as u32,
            height: map.height() as u32,
            square_rows: u32::from(map.rows() == RowMapping::SquareRoot),
            enabled: 1,
            turn_sin: sin as f32,
            turn_cos: cos as f32,
            irradiance_offset: map.texels().len() as u32,
            specular_offset: (map.texels().len() + filtered.irradiance.len()) as u32,
            ..constants
        };
    }
    constants.dfg_offset = (texels.len() / TEXEL) as u32;
    let mut bytes = bytemuck::bytes_of(&constants).to_vec();
    bytes.append(&mut texels);
    if environment.is_some() || probes {
        bytes.extend_from_slice(bytemuck::cast_slice(dfg_table()));
    } else {
        // The array behind the header must not be empty.
        bytes.extend_from_slice(&[0; TEXEL]);
    }
    bytes
}

/// Texels in the buffer, behind its header.
#[must_use]
pub fn texels_in(bytes: &[u8]) -> u32 {
    ((bytes.len() - size_of::<EnvironmentConstants>()) / TEXEL) as u32
}

/// Appends a map, its irradiance, and its prefiltered specular levels.
pub fn append(bytes: &mut Vec<u8>, map: &RadianceMap, filtered: &PrefilteredEnvironment) {
    for part in [map.texels(), &filtered.irradiance]
        .into_iter()
        .chain(filtered.specular.iter().map(Vec::as_slice))
    {
        bytes.extend_from_slice(bytemuck::cast_slice(part));
    }
}
