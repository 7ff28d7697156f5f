//! Acceptance of a candidate hit: by distance, alpha mask and the caller's filter.

use super::{
    mask,
    node::NONE,
    ray::{Hit, Ray},
    scene::{BvhInstance, SceneBvh},
};

impl SceneBvh {
    /// True if a hit replaces the one found: it precedes it, passes the alpha test, and `counts`
    /// accepts it. Blended surfaces are hit with the probability of their opacity.
    #[inline(always)]
    pub(super) fn accepts_hit(
        &self,
        instance: &BvhInstance,
        hit: &Hit,
        found: Option<&Hit>,
        ray: &Ray,
        counts: &mut impl FnMut(&Hit) -> bool,
    ) -> bool {
        hit.comes_before(found, ray.t_max)
            && self.passes_alpha_test(instance, hit, Some(ray))
            && counts(hit)
    }

    /// Alpha test of a hit. Without a ray, blended surfaces are always hit.
    pub(super) fn passes_alpha_test(
        &self,
        instance: &BvhInstance,
        hit: &Hit,
        ray: Option<&Ray>,
    ) -> bool {
        if instance.mask == NONE {
            return true;
        }
        let corners = self.corners.get(instance.corners.wrapping_add(hit.triangle) as usize);
        let random = ray.map(|ray| {
            || {
                let seed = (instance.seed, instance.phase);
                mask::random_cutoff(seed, hit.triangle, ray.origin, ray.direction)
            }
        });
        corners.is_none_or(|corners| {
            mask::alpha_test(&self.masks, instance.mask, corners, hit.barycentric, random)
        })
    }
}
