//! Places a light so that its highlight or a shadow falls on a given point.

use glam::{DMat4, DVec3};

/// Position and aim of a light (m, world).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LightPlacement {
    /// Its position.
    pub position: DVec3,
    /// The point it aims at.
    pub aim: DVec3,
}

/// The point that a light aims at, `distance` (m) in front of it.
#[must_use]
pub fn target_of(world: DMat4, distance: f64) -> DVec3 {
    world.w_axis.truncate() - world.z_axis.truncate().normalize_or(DVec3::Z) * distance
}

/// Places a light so that its highlight falls on a surface point: along the mirrored view
/// direction, at its former distance. None if the surface faces away, or the light is at the point.
#[must_use]
pub fn highlight(light: DMat4, eye: DVec3, point: DVec3, normal: DVec3) -> Option<LightPlacement> {
    let distance = (light.w_axis.truncate() - point).length();
    let out = (eye - point).try_normalize()?;
    let normal = normal.try_normalize()?;
    let cos = normal.dot(out);
    if cos <= 0.0 || distance <= 0.0 {
        return None;
    }
    // Law of reflection: the direction to the light is the direction to the eye, mirrored at the
    // normal.
    let mirrored = normal * (2.0 * cos) - out;
    Some(LightPlacement { position: point + mirrored * distance, aim: point })
}

/// Places a light so that the shadow of an occluder falls on a point: on the line through both,
/// beyond the occluder, at its former distance from it. None if the two coincide.
#[must_use]
pub fn shadow(light: DMat4, occluder: DVec3, shadow: DVec3) -> Option<LightPlacement> {
    let up = (occluder - shadow).try_normalize()?;
    let distance = (light.w_axis.truncate() - occluder).length();
    (distance > 0.0).then(|| LightPlacement { position: occluder + up * distance, aim: occluder })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_half_vector_of_a_highlight_is_the_normal() {
        let (eye, point) = (DVec3::new(3.0, 2.0, 5.0), DVec3::new(0.5, 0.0, -1.0));
        let normal = DVec3::new(0.1, 1.0, 0.2).normalize();
        let light = DMat4::from_translation(DVec3::new(-2.0, 3.0, 0.0));
        let placed = highlight(light, eye, point, normal).unwrap();
        let half = ((eye - point).normalize() + (placed.position - point).normalize()).normalize();
        assert!((half - normal).length() < 1e-12, "{half}");
        let was = (light.w_axis.truncate() - point).length();
        assert!(
            ((placed.position - point).length() - was).abs() < 1e-12,
            "the distance, and so the illuminance, is unchanged"
        );
        assert!(highlight(light, eye, point, -normal).is_none(), "a back face shows no highlight");
        assert!(highlight(light, point, point, normal).is_none());
    }

    #[test]
    fn a_shadow_lies_on_the_line_from_the_light() {
        let (occluder, falls) = (DVec3::new(0.0, 1.0, 0.0), DVec3::new(2.0, 0.0, 0.0));
        let light = DMat4::from_translation(DVec3::new(0.0, 4.0, 0.0));
        let placed = shadow(light, occluder, falls).unwrap();
        let from = (occluder - placed.position).normalize();
        assert!(
            (placed.position + from * ((falls - placed.position).length()) - falls).length()
                < 1e-12
        );
        assert!(((placed.position - occluder).length() - 3.0).abs() < 1e-12);
        assert!(shadow(light, occluder, occluder).is_none());
    }

    #[test]
    fn a_light_shines_along_its_minus_z() {
        let world =
            DMat4::from_translation(DVec3::X) * DMat4::from_rotation_y(std::f64::consts::FRAC_PI_2);
        assert!((target_of(world, 2.0) - DVec3::new(-1.0, 0.0, 0.0)).length() < 1e-12);
    }
}
