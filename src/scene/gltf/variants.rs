//! KHR_materials_variants: material of a primitive by variant.

use serde_json::Value;

use super::{
    accessor::{ReadError, Store},
    json::{extension, index, indices, items, text},
    report::one_line,
};
use crate::scene::MaterialVariant;

/// Names of the variants; primitives hold their materials.
pub(super) fn names(root: &Value) -> Vec<MaterialVariant> {
    let variants = extension(root, "KHR_materials_variants")
        .map(|found| items(found, "variants"))
        .unwrap_or_default();
    variants
        .iter()
        .map(|value| MaterialVariant { name: one_line(text(value, "name")), materials: Vec::new() })
        .collect()
}

/// A primitive's (variant, material) pairs, all in range; the first entry for a variant applies.
pub(super) fn of(
    primitive: &Value,
    store: &Store<'_>,
    variants: usize,
) -> Result<Vec<(usize, usize)>, ReadError> {
    let mut out: Vec<(usize, usize)> = Vec::new();
    let Some(found) = extension(primitive, "KHR_materials_variants") else { return Ok(out) };
    let mut known = vec![false; variants];
    for mapping in items(found, "mappings") {
        store.spend(64)?;
        let Some(material) = index(mapping, "material") else { continue };
        for variant in indices(mapping, "variants") {
            store.spend(64)?;
            if let Some(known) = known.get_mut(variant).filter(|known| !**known) {
                *known = true;
                out.push((variant, material));
            }
        }
    }
    Ok(out)
}
