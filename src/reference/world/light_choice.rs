//! Choice of a light at a point, with the visibility of the lights around it.

use glam::{DVec2, DVec3};

use super::World;
use crate::reference::{
    light_cells::Cell,
    lights::{CellLights, KINDS, LOCAL, LightChoice, LightSample},
    receiver::Receiver,
};

/// Shadow rays from a cell to its suns, and to the environment.
const RAYS_TO_KIND: u32 = 24;
/// Shadow rays from a cell to each node of the light tree.
const RAYS_TO_NODE: u32 = 8;
/// Nodes with a smaller share of the light take no rays.
const MIN_SHARE: f64 = 1.0 / 256.0;
/// Factor of such a node, as if half of it were visible.
const UNKNOWN: f64 = 0.5;
/// Minimum factor of a node: the rays may have missed where it is visible.
const MIN_FACTOR: f64 = 0.1;

impl World<'_> {
    /// Prepares the choice of a light at a receiver.
    #[must_use]
    pub fn light_choice(&self, receiver: &Receiver) -> LightChoice {
        if self.lights.is_single() {
            return self.lights.choice_at(receiver);
        }
        let cell = self.light_cells.at(receiver.position, |cell| self.lights_of_cell(cell));
        self.lights.choice_in_cell(receiver, &cell)
    }

    /// The lights that matter in a cell, and fractions of them that reach its points.
    fn lights_of_cell(&self, cell: &Cell) -> CellLights {
        let (center, radius) = cell.sphere();
        let mut lights =
            CellLights { nodes: self.lights.split(center, radius), visible: [1.0; KINDS] };
        for (node, factor) in &mut lights.nodes {
            let node = *node;
            *factor = if *factor < MIN_SHARE {
                UNKNOWN
            } else {
                let visible =
                    self.visible_fraction(cell, u64::from(node), RAYS_TO_NODE, |at, u| {
                        self.lights.sample_node(at, node, u)
                    });
                MIN_FACTOR + (1.0 - MIN_FACTOR) * visible
            };
        }
        if self.lights.kinds() > 1 {
            for (kind, fraction) in lights.visible.iter_mut().enumerate().filter(|k| k.0 != LOCAL) {
                *fraction = self.visible_fraction(cell, !(kind as u64), RAYS_TO_KIND, |at, u| {
                    self.lights.sample_kind(at, kind, u)
                });
            }
        }
        lights
    }

    /// Fraction of the light samples that reach points of a cell. `seed` separates the points of
    /// different lights.
    fn visible_fraction(
        &self,
        cell: &Cell,
        seed: u64,
        rays: u32,
        sample: impl Fn(DVec3, DVec2) -> Option<LightSample>,
    ) -> f64 {
        // Martin Roberts 2018, the R sequence in five dimensions, with an offset by cell and light.
        let mixed = (cell.hash() ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let offset = (mixed >> 11) as f64 / 9_007_199_254_740_992.0;
        let number = |ray: u32, dimension: i32| {
            let root: f64 = 1.134_724_138_401_519_5;
            (offset * f64::from(dimension) + f64::from(ray + 1) / root.powi(dimension)).fract()
        };
        let (mut seen, mut all) = (0.0, 0.0);
        for ray in 0..rays {
            let inside = DVec3::new(number(ray, 1), number(ray, 2), number(ray, 3));
            let position = cell.position(inside);
            let u = DVec2::new(number(ray, 4), number(ray, 5));
            let Some(light) = sample(position, u) else { continue };
            all += 1.0;
            seen += if light.shadow {
                self.transmittance(position, DVec3::ZERO, &light).element_sum() / 3.0
            } else {
                1.0
            };
        }
        if all > 0.0 { seen / all } else { 0.0 }
    }
}
