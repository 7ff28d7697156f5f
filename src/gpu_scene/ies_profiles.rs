//! IES profiles of lights as `shaders/lib/ies_profiles.glsl` reads them.

use std::sync::Arc;

use crate::photometry::ies::{IesProfile, PhotometricType, Symmetry};

/// Words of a profile's header.
const HEAD: usize = 8;

/// Consecutive profiles; a profile shared by several lights is stored once.
#[derive(Default)]
pub struct Profiles {
    profiles: Vec<Arc<IesProfile>>,
}

impl Profiles {
    /// Index of a profile; adds it if it is new.
    pub fn number(&mut self, profile: &Arc<IesProfile>) -> u32 {
        let known = self.profiles.iter().position(|other| Arc::ptr_eq(other, profile));
        let index = known.unwrap_or_else(|| {
            self.profiles.push(Arc::clone(profile));
            self.profiles.len() - 1
        });
        index as u32
    }

    /// Words of all profiles; never empty, since a buffer must not be.
    #[must_use]
    pub fn words(&self) -> Vec<u32> {
        let mut words = vec![0; (self.profiles.len() * HEAD).max(HEAD)];
        for (index, profile) in self.profiles.iter().enumerate() {
            let (vertical, horizontal) = (profile.vertical_angles(), profile.horizontal_angles());
            let kind = match profile.photometric_type() {
                PhotometricType::C => 0,
                PhotometricType::B => 1,
                PhotometricType::A => 2,
            };
            let symmetry = match profile.symmetry() {
                Symmetry::Axial => 0,
                Symmetry::Quadrant => 1,
                Symmetry::Bilateral => 2,
                Symmetry::Bilateral90 => 3,
                Symmetry::Full => 4,
                Symmetry::Mirrored => 5,
                Symmetry::Listed => 6,
            };
            let start = words.len();
            let head = [
                kind,
                symmetry,
                vertical.len(),
                horizontal.len(),
                start,
                start + vertical.len(),
                start + vertical.len() + horizontal.len(),
                0,
            ];
            if let Some(place) = words.get_mut(index * HEAD..(index + 1) * HEAD) {
                place.copy_from_slice(&head.map(|word| word as u32));
            }
            words.extend(vertical.iter().chain(horizontal).map(|&angle| (angle as f32).to_bits()));
            // A profile that is zero everywhere stays zero.
            let scale = 1.0 / profile.peak().get().max(f64::MIN_POSITIVE);
            for &h in horizontal {
                words.extend(
                    vertical
                        .iter()
                        .map(|&v| ((profile.candela(v, h).get() * scale) as f32).to_bits()),
                );
            }
        }
        words
    }
}
