//! `passes.*`: what passes may be told.

use super::{LookError, Reader};
use crate::camera::ToneMapper;

/// Every property of this section with what it takes.
pub(super) const PROPERTIES: &[(&str, &str)] = &[
    ("passes.tonemap.operator", "linear, aces, agx or pbr-neutral"),
    ("passes.light_lists.enabled", "true or false"),
    ("passes.light_lists.cull_bound", "a fraction of white from 0 to 1, e.g. 0.0009765625"),
];

/// The passes' overrides.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PassesLook {
    /// `tonemap.operator`.
    pub tone_mapper: Option<ToneMapper>,
    /// `light_lists.enabled`.
    pub light_lists: Option<bool>,
    /// `light_lists.cull_bound`, a fraction of white.
    pub cull_bound: Option<f64>,
}

impl PassesLook {
    /// Sets one property; false where it has none of this path.
    pub(super) fn set(&mut self, read: &Reader<'_>) -> Result<bool, LookError> {
        match read.path {
            "passes.tonemap.operator" => {
                // `neutral` is what people call it.
                let name = if read.value == "neutral" { "pbr-neutral" } else { read.value };
                self.tone_mapper = Some(ToneMapper::from_name(name).ok_or_else(|| read.wrong())?);
            }
            "passes.light_lists.enabled" => self.light_lists = Some(read.boolean()?),
            "passes.light_lists.cull_bound" => self.cull_bound = Some(read.fraction()?),
            _ => return Ok(false),
        }
        Ok(true)
    }
}
