//! Media of a path: it enters and leaves volumes through the faces of their meshes.

use glam::DVec3;

use crate::scene::Material;

/// Maximum nesting depth of volumes; deeper ones are ignored.
const DEPTH: usize = 8;

/// A homogeneous medium.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Medium {
    /// Index of refraction over that of air, for green.
    pub ior: f64,
    /// Difference of the index for blue (higher) and red (lower) from that for green.
    pub ior_spread: f64,
    /// Extinction coefficient (1/m per channel), scattering included; infinite for an opaque
    /// medium.
    pub extinction: DVec3,
    /// Coefficient of isotropic scattering (1/m per channel); nonzero only for water.
    pub scattering: DVec3,
}

impl Medium {
    /// The medium that a material's mesh encloses, if it encloses a volume.
    #[must_use]
    pub fn of(material: &Material) -> Option<Self> {
        let ior = f64::from(material.ior);
        // KHR_materials_dispersion, section "Implementation": half of nF - nC = (nd - 1) / V, V =
        // 20 / dispersion. Diffuse transmission does not refract.
        let dispersion = if material.transmits() { f64::from(material.dispersion) } else { 0.0 };
        let spread = (ior - 1.0).max(0.0) * 0.025 * dispersion;
        let scattering = material
            .water
            .as_ref()
            .map_or(DVec3::ZERO, |water| water.settings.coefficients.scattering);
        material.encloses_volume().then(|| Self {
            ior,
            ior_spread: spread,
            extinction: material.volume.absorption(),
            scattering,
        })
    }

    /// Index of refraction of a channel, clamped to at least 1 with dispersion; that of green
    /// without a channel.
    #[must_use]
    pub fn ior_of(&self, channel: Option<usize>) -> f64 {
        match channel {
            Some(0) if self.ior_spread > 0.0 => (self.ior - self.ior_spread).max(1.0),
            Some(2) => self.ior + self.ior_spread,
            _ => self.ior,
        }
    }

    /// Transmittance over a distance (m) by the Beer-Lambert law.
    #[must_use]
    pub fn transmittance(&self, distance: f64) -> DVec3 {
        // Zero absorption over an infinite distance is no loss.
        let of = |absorption: f64| {
            if absorption > 0.0 && distance > 0.0 { (-absorption * distance).exp() } else { 1.0 }
        };
        DVec3::new(of(self.extinction.x), of(self.extinction.y), of(self.extinction.z))
    }
}

/// Stack of the volumes around a position, by material index, in the order of entry: the last one
/// is the current medium.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MediaStack {
    materials: [u32; DEPTH],
    count: u8,
}

impl MediaStack {
    /// Material of the current medium; `None` in air.
    #[must_use]
    pub fn current(&self) -> Option<u32> {
        self.materials.get(usize::from(self.count).checked_sub(1)?).copied()
    }

    /// Enters a volume, through its front face.
    #[must_use]
    pub fn enter(mut self, material: u32) -> Self {
        if let Some(place) = self.materials.get_mut(usize::from(self.count)) {
            *place = material;
            self.count += 1;
        }
        self
    }

    /// Leaves the last entered volume of this material; `None` if it was never entered.
    #[must_use]
    pub fn exit(mut self, material: u32) -> Option<Self> {
        let count = usize::from(self.count);
        let place =
            self.materials.get(..count)?.iter().rposition(|&entered| entered == material)?;
        self.materials.copy_within(place + 1..count, place);
        self.count -= 1;
        // Cleared, so that equal stacks have equal bits.
        *self.materials.get_mut(count - 1)? = 0;
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volumes_nest_and_may_overlap() {
        let glass = MediaStack::default().enter(3);
        let water = glass.enter(7);
        assert_eq!(
            (MediaStack::default().current(), glass.current(), water.current()),
            (None, Some(3), Some(7))
        );
        assert_eq!(water.exit(7), Some(glass));
        // Glass that overlaps water is left first: the path stays in water.
        assert_eq!(water.exit(3).unwrap().current(), Some(7));
        assert_eq!(glass.exit(7), None);
        assert_eq!(glass.exit(3), Some(MediaStack::default()));
    }

    #[test]
    fn too_deep_is_no_fault() {
        let mut media = MediaStack::default();
        for material in 0..100 {
            media = media.enter(material);
        }
        assert_eq!(media.current(), Some(DEPTH as u32 - 1));
    }

    #[test]
    fn light_fades_by_the_law() {
        let medium = Medium {
            ior: 1.5,
            ior_spread: 0.0,
            extinction: DVec3::new(0.0, 2f64.ln(), f64::INFINITY),
            scattering: DVec3::ZERO,
        };
        assert_eq!(medium.transmittance(0.0), DVec3::ONE);
        let two = medium.transmittance(2.0);
        assert!((two - DVec3::new(1.0, 0.25, 0.0)).abs().max_element() < 1e-15);
        assert_eq!(medium.transmittance(f64::INFINITY), DVec3::new(1.0, 0.0, 0.0));
    }
}
