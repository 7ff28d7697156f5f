//! Photon emission from the environment: texels are importance-sampled, photons enter the scene's
//! box.

use std::sync::Arc;

use glam::{DVec2, DVec3};

use super::{bounds::Bounds, cdf::sample_cdf, photon::Photon, surface_hit::strength};
use crate::{photometry::environment::RadianceMap, scene::Environment};

/// Maximum width of the sampling map; wider maps are averaged down, which keeps their flux.
const MAX_WIDTH: usize = 1024;

/// The environment as a photon source.
#[derive(Clone, Debug)]
pub(super) struct EnvironmentSource {
    table: Arc<Table>,
    rotation: f64,
    bounds: Bounds,
    /// Integral over all directions of luminance times the absolute components of the direction
    /// along x, y and z: the illuminance (lx) of a square meter facing each axis, summed over both
    /// sides.
    lux: DVec3,
}

impl PartialEq for EnvironmentSource {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.table, &other.table)
            && (self.rotation, self.bounds) == (other.rotation, other.bounds)
    }
}

#[derive(Debug)]
struct Table {
    /// The scene's map. The reference keeps its allocation alive, so that no other map gets its
    /// address.
    original: Arc<RadianceMap>,
    /// The sampling map: the original or a smaller one.
    map: Arc<RadianceMap>,
    /// Cumulative luminance times solid angle over the rows (nit sr).
    rows: Vec<f64>,
    /// Cumulative luminance over the columns of each row (nit).
    columns: Vec<f32>,
    /// Integral of luminance over all directions (nit sr).
    total: f64,
}

impl Table {
    fn new(original: &Arc<RadianceMap>) -> Option<Self> {
        let mut map = original.clone();
        while map.width() > MAX_WIDTH {
            let Some(half) = map.halved() else { break };
            map = Arc::new(half);
        }
        let (mut rows, mut columns) =
            (Vec::with_capacity(map.height()), Vec::with_capacity(map.texels().len()));
        let mut total = 0.0;
        for (y, row) in map.texels().chunks_exact(map.width()).enumerate() {
            let mut sum = 0.0f32;
            columns.extend(row.iter().map(|texel| {
                sum += strength(texel.as_dvec3()) as f32;
                sum
            }));
            total += f64::from(sum) * map.texel_solid_angle(y);
            rows.push(total);
        }
        (total > 0.0 && total.is_finite()).then(|| Self {
            original: original.clone(),
            map,
            rows,
            columns,
            total,
        })
    }

    /// Importance-samples a texel and a position in it; also returns the texel's probability.
    fn choose(&self, u: DVec2) -> Option<(usize, usize, DVec2, f64)> {
        let (y, down) = sample_cdf(&self.rows, u.x)?;
        let width = self.map.width();
        let row = self.columns.get(y * width..(y + 1) * width)?;
        let value = (u.y * f64::from(*row.last()?)) as f32;
        let x = row.partition_point(|&sum| sum <= value).min(width - 1);
        let before = x.checked_sub(1).map_or(0.0, |i| row[i]);
        let part = f64::from(row[x] - before);
        let across =
            ((u.y * f64::from(*row.last()?) - f64::from(before)) / part.max(1e-30)).clamp(0.0, 1.0);
        let chance = part * self.map.texel_solid_angle(y) / self.total;
        (chance > 0.0).then_some((x, y, DVec2::new(across, down), chance))
    }
}

impl EnvironmentSource {
    /// `None` for a black environment.
    pub fn new(environment: &Environment, bounds: &Bounds, before: Option<&Self>) -> Option<Self> {
        let known = before.filter(|sky| Arc::ptr_eq(&sky.table.original, &environment.map));
        let table = match known {
            Some(sky) => sky.table.clone(),
            None => Arc::new(Table::new(&environment.map)?),
        };
        let turned = before
            .filter(|sky| Arc::ptr_eq(&sky.table, &table) && sky.rotation == environment.rotation);
        let mut sky =
            Self { table, rotation: environment.rotation, bounds: *bounds, lux: DVec3::ZERO };
        sky.lux = turned.map_or_else(|| sky.measured(), |before| before.lux);
        (sky.flux() > 0.0 && sky.flux().is_finite()).then_some(sky)
    }

    /// Map axes to world axes: a clockwise rotation as seen from above.
    fn to_world(&self, d: DVec3) -> DVec3 {
        let (sin, cos) = self.rotation.sin_cos();
        DVec3::new(d.x * cos - d.z * sin, d.y, d.x * sin + d.z * cos)
    }

    /// Flux into the scene's box (lm): each direction counts with the projected area of the box.
    pub fn flux(&self) -> f64 {
        self.lux.dot(self.bounds.sides())
    }

    fn measured(&self) -> DVec3 {
        let map = &self.table.map;
        let mut sum = DVec3::ZERO;
        for (y, row) in map.texels().chunks_exact(map.width()).enumerate() {
            let light = |(x, texel): (usize, &glam::Vec3)| {
                self.to_world(map.texel_direction(x, y)).abs() * strength(texel.as_dvec3())
            };
            sum += row.iter().enumerate().map(light).sum::<DVec3>() * map.texel_solid_angle(y);
        }
        sum
    }

    pub fn photon(&self, direction: DVec2, position: DVec2) -> Option<Photon> {
        let map = &self.table.map;
        let (x, y, inside, chance) = self.table.choose(direction)?;
        let from = self.to_world(map.direction_in_texel(x, y, inside.x, inside.y));
        let texel = map.texels().get(y * map.width() + x)?.as_dvec3();
        let towards = -from;
        let weight =
            texel * (map.texel_solid_angle(y) / chance * self.bounds.shadow(towards) / self.flux());
        Some(Photon {
            origin: self.bounds.entry(towards, position),
            direction: towards,
            offset_normal: DVec3::ZERO,
            weight,
            range: None,
            unshadowed: false,
        })
    }
}
