//! Choice of a light at a point, with the visibility of each kind of light sources around it.

use glam::{DVec2, DVec3};

use super::World;
use crate::reference::{
    kind_visibility::Cell,
    lights::{KINDS, LightChoice},
    receiver::Receiver,
};

/// Shadow rays to each kind of light sources from a cell.
const POINTS: u32 = 24;

impl World<'_> {
    /// Prepares the choice of a light at a receiver.
    #[must_use]
    pub fn light_choice(&self, receiver: &Receiver) -> LightChoice {
        // One kind alone is always chosen.
        if self.lights.kinds() < 2 {
            return self.lights.choice_at(receiver);
        }
        let visible =
            self.kind_visibility.at(receiver.position, |cell| self.visible_fractions(cell));
        self.lights.choice_by_visibility(receiver, visible)
    }

    /// Fractions of the light of each kind that reach points of a cell.
    fn visible_fractions(&self, cell: &Cell) -> [f64; KINDS] {
        // Martin Roberts 2018, the R sequence in five dimensions, with an offset by cell.
        let offset = (cell.hash() >> 11) as f64 / 9_007_199_254_740_992.0;
        let number = |point: u32, dimension: i32| {
            let root: f64 = 1.134_724_138_401_519_4;
            (offset * f64::from(dimension) + f64::from(point + 1) / root.powi(dimension)).fract()
        };
        let mut fractions = [0.0; KINDS];
        for (kind, fraction) in fractions.iter_mut().enumerate() {
            let (mut seen, mut all) = (0.0, 0.0);
            for point in 0..POINTS {
                let inside = DVec3::new(number(point, 1), number(point, 2), number(point, 3));
                let position = cell.position(inside);
                let u = DVec2::new(number(point, 4), number(point, 5));
                let Some(light) = self.lights.sample_kind(position, kind, u) else { continue };
                all += 1.0;
                seen += if light.shadow {
                    self.transmittance(position, DVec3::ZERO, &light).element_sum() / 3.0
                } else {
                    1.0
                };
            }
            *fraction = if all > 0.0 { seen / all } else { 0.0 };
        }
        fractions
    }
}
