//! Values that follow from a profile's table, computed at first use.

use std::sync::{Mutex, OnceLock, PoisonError};

use crate::photometry::units::{Candela, Lumen, Steradian};

/// Derived values of one table. They are no part of it: all are equal, and a clone has none.
#[derive(Debug, Default)]
pub(super) struct Derived {
    pub peak: OnceLock<Candela>,
    pub lumens: OnceLock<Lumen>,
    /// Half angles of the last cone (rad, inner and outer), and the flux within it.
    cone: Mutex<Option<([f64; 2], Steradian)>>,
}

impl Derived {
    /// Flux over maximum intensity within a cone of these half angles (rad, inner and outer);
    /// `integrate` computes it.
    pub fn within(
        &self,
        half_angles: [f64; 2],
        integrate: impl FnOnce() -> Steradian,
    ) -> Steradian {
        let last = || self.cone.lock().unwrap_or_else(PoisonError::into_inner);
        let known = *last();
        if let Some((of, flux)) = known
            && of == half_angles
        {
            return flux;
        }
        // Not locked while it computes.
        let flux = integrate();
        *last() = Some((half_angles, flux));
        flux
    }
}

impl Clone for Derived {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for Derived {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::photometry::IesProfile;

    #[test]
    fn a_flux_is_computed_once_for_a_cone() {
        let derived = Derived::default();
        assert_eq!(derived.within([0.1, 0.2], || Steradian(1.0)), Steradian(1.0));
        assert_eq!(derived.within([0.1, 0.2], || Steradian(2.0)), Steradian(1.0));
        assert_eq!(derived.within([0.1, 0.3], || Steradian(3.0)), Steradian(3.0));
        assert_eq!(derived.within([0.1, 0.2], || Steradian(4.0)), Steradian(4.0));
    }

    #[test]
    fn a_profile_is_equal_to_its_clone_and_measures_the_same_twice() {
        let profile = IesProfile::from_directions(40.0, 9, |direction| -5.0 * direction.z);
        let first = (profile.peak(), profile.lumens());
        assert_eq!(first.0, Candela(5.0));
        let copy = profile.clone();
        assert_eq!(copy, profile);
        assert_eq!((profile.peak(), profile.lumens()), first);
        assert_eq!((copy.peak(), copy.lumens()), first);
    }
}
