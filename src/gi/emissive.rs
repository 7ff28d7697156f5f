//! Photon emission from emissive surfaces.

use std::{f64::consts::PI, sync::Arc};

use glam::{DVec2, DVec3, Vec3};

use super::{
    cdf::sample_cdf,
    lobes::sample_cosine_hemisphere,
    photon::Photon,
    surface_hit::{ToAnchor, TraceScene, strength},
};
use crate::scene::{AlphaMode, Material};

/// All triangles of an emissive material as a photon source, without the strength and color of its
/// emission.
#[derive(Clone, Debug)]
pub(super) struct EmissiveSource {
    table: Arc<Table>,
}

impl PartialEq for EmissiveSource {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.table, &other.table)
    }
}

#[derive(Debug, Default)]
struct Table {
    /// Instance and triangle of the BVH, and the mean factor of its emissive texture and opacity.
    triangles: Vec<(u32, u32, f64)>,
    /// Cumulative area (m2, both faces where both emit) times that factor.
    sums: Vec<f64>,
    two_sided: bool,
}

/// Texture sample points of a triangle for the mean of its luminance, as barycentric weights: the
/// centers of sixteen equal parts.
fn places() -> impl Iterator<Item = Vec3> {
    (0..4).flat_map(|i| {
        (0..4 - i).flat_map(move |j| {
            let upright = [(1.0 / 3.0, 1.0 / 3.0)];
            let turned = (i + j < 3).then_some((2.0 / 3.0, 2.0 / 3.0));
            upright.into_iter().chain(turned).map(move |(u, v): (f32, f32)| {
                let (b, c) = ((i as f32 + u) / 4.0, (j as f32 + v) / 4.0);
                Vec3::new(1.0 - b - c, b, c)
            })
        })
    })
}

/// Relative probability of a dark triangle: its texture may be bright between the sample points.
const MIN_RELATIVE_PROBABILITY: f64 = 1e-3;

impl EmissiveSource {
    /// All emissive materials, by index, with their flux (lm per channel). `known` holds tables
    /// that are still valid.
    pub fn all<'a>(
        stage: &TraceScene,
        known: impl Fn(usize) -> Option<&'a Self>,
    ) -> Vec<(usize, Self, DVec3)> {
        let materials = &stage.scene.materials;
        let glows = |material: &Material| material.emission.max_element() > 0.0 && !material.unlit;
        let wanted: Vec<usize> = (0..materials.len()).filter(|&i| glows(&materials[i])).collect();
        let mut tables: Vec<Option<Table>> = (0..materials.len()).map(|_| None).collect();
        for &material in wanted.iter().filter(|&&material| known(material).is_none()) {
            tables[material] =
                Some(Table { two_sided: materials[material].double_sided, ..Table::default() });
        }
        if tables.iter().any(Option::is_some) {
            for instance in 0..stage.tlas.instances.len() as u32 {
                let primitive = stage.primitive(instance);
                let material = primitive.and_then(|primitive| primitive.material);
                if let Some(table) =
                    material.and_then(|material| tables.get_mut(material)?.as_mut())
                {
                    table.add(stage, instance);
                }
            }
        }
        let glow = |material: usize| match tables.get_mut(material).and_then(Option::take) {
            Some(table) => Some(Self { table: Arc::new(table) }),
            None => known(material).cloned(),
        };
        let found: Vec<(usize, Self)> = wanted
            .iter()
            .copied()
            .zip(wanted.iter().copied().map(glow))
            .filter_map(|(m, g)| Some((m, g?)))
            .collect();
        found
            .into_iter()
            .filter(|(_, glow)| glow.table.sums.last().is_some_and(|&sum| sum > 0.0))
            .map(|(material, glow)| {
                let area = glow.table.sums.last().copied().unwrap_or(0.0);
                let flux = materials[material].emission.as_dvec3() * (PI * area);
                (material, glow, flux)
            })
            .collect()
    }

    pub fn photon(&self, stage: &TraceScene, direction: DVec2, position: DVec2) -> Option<Photon> {
        let (index, rest) = sample_cdf(&self.table.sums, position.x)?;
        let &(instance, triangle, mean) = self.table.triangles.get(index)?;
        let to_anchor = ToAnchor::new(stage, instance)?;
        let shape = stage.bvh.triangles.get(triangle as usize)?;
        let [a, b, c] = [shape.a, shape.b, shape.c].map(|p| p.as_dvec3());
        // Turk 1990, "Generating Random Points in Triangles", Graphics Gems.
        let root = rest.sqrt();
        let (v, w) = (root * (1.0 - position.y), root * position.y);
        let mut normal = to_anchor.facing(a, b, c);
        let mut direction = direction;
        if self.table.two_sided {
            if direction.x >= 0.5 {
                normal = -normal;
            }
            direction.x = (2.0 * direction.x).fract();
        }
        let towards = sample_cosine_hemisphere(normal, direction);
        let primitive = stage.primitive(instance)?;
        let weights = DVec3::new(1.0 - v - w, v, w).as_vec3();
        let (left, coat) =
            stage.glow(primitive, *stage.bvh.sources.get(triangle as usize)?, weights);
        // KHR_materials_clearcoat, "Emission".
        let below =
            1.0 - coat * (0.04 + 0.96 * (1.0 - towards.dot(normal)).clamp(0.0, 1.0).powi(5));
        Some(Photon {
            origin: to_anchor.point(a + (b - a) * v + (c - a) * w),
            direction: towards,
            offset_normal: normal,
            weight: left * (below / mean),
            range: None,
            unshadowed: false,
        })
    }
}

impl Table {
    fn add(&mut self, stage: &TraceScene, instance: u32) {
        let Some((_, blas)) = stage.bvh.instance_blas(instance) else { return };
        let (Some(primitive), Some(to_anchor)) =
            (stage.primitive(instance), ToAnchor::new(stage, instance))
        else {
            return;
        };
        let material = stage.material(primitive);
        let varied = material.emissive_texture.is_some() || material.alpha != AlphaMode::Opaque;
        let sides = if self.two_sided { 2.0 } else { 1.0 };
        for triangle in blas.triangles.0..blas.triangles.0 + blas.triangles.1 {
            let (Some(shape), Some(&source)) = (
                stage.bvh.triangles.get(triangle as usize),
                stage.bvh.sources.get(triangle as usize),
            ) else {
                continue;
            };
            let [a, b, c] = [shape.a, shape.b, shape.c].map(|p| to_anchor.point(p.as_dvec3()));
            let area = (b - a).cross(c - a).length() / 2.0;
            if !(area > 0.0 && area.is_finite()) {
                continue;
            }
            let mean = if varied {
                places().map(|place| strength(stage.glow(primitive, source, place).0)).sum::<f64>()
                    / 16.0
            } else {
                1.0
            };
            let mean = mean.max(MIN_RELATIVE_PROBABILITY);
            let before = self.sums.last().copied().unwrap_or(0.0);
            self.triangles.push((instance, triangle, mean));
            self.sums.push(before + area * sides * mean);
        }
    }
}
