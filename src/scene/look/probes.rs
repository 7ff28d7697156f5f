//! `probes.NAME.*`: reflection probes.

use std::collections::BTreeMap;

use glam::DVec3;

use super::LookError;
use crate::{
    scene::{Probe, Scene, probe::MAX_PROBES},
    settings::{Accepts, define::section},
};

/// Maximum distance from the origin (m); single precision is too coarse beyond.
const FARTHEST: f64 = 1e6;

const PLACE: Accepts = Accepts::Components { min: -FARTHEST, max: FARTHEST, one: false };

section! {
    /// One probe's properties; the address is a name of your choice.
    #[derive(Copy)]
    pub struct ProbeLook in "probes.*" {
        enabled: bool = true, "true or false";
        center: DVec3, accepts PLACE, unit "m",
            "center of its box, world position in meters, e.g. 0,1.5,0";
        size: DVec3, accepts Accepts::Components { min: 1e-3, max: FARTHEST, one: false }, unit "m",
            "size of its box in meters, three numbers above 0, e.g. 6,3,4; the box should end at the walls";
        position: DVec3, accepts PLACE, unit "m",
            "capture position within the box in meters, three numbers [default: its center]";
        blend_distance: f64 = 0.0, in 0.0..=1e6, unit "m",
            "blend distance inside the box's faces in meters, 0 or more, e.g. 0.5";
        resolution: u32 = 128, in 16..=512, "cube map resolution in pixels, 16 to 512, e.g. 128";
        bounces: u32 = 1, in 1..=8, "maximum bounces of captured light, 1 to 8";
        parallax_correction: bool = true,
            "true or false: parallax correction by the box; false reflects at infinity";
    }
}

/// Sets a scene's probes, small boxes first, since they may be inside large ones.
///
/// # Errors
/// A box without center or size, a position outside of it, too many probes.
pub(super) fn apply(
    probes: &BTreeMap<String, ProbeLook>,
    scene: &mut Scene,
) -> Result<(), LookError> {
    let wrong = |path: String, expected: String| LookError::BadValue {
        path,
        value: String::new(),
        expected,
    };
    let mut all = Vec::new();
    for (name, look) in probes.iter().filter(|(_, look)| look.enabled()) {
        let needs = |property: &str| {
            wrong(
                format!("probes.{name}.{property}"),
                "expected center and size of the probe's box".into(),
            )
        };
        let center = look.center.ok_or_else(|| needs("center"))?;
        let size = look.size.ok_or_else(|| needs("size"))?;
        let position = look.position.unwrap_or(center);
        if ((position - center).abs() - size / 2.0).max_element() >= 0.0 {
            return Err(wrong(
                format!("probes.{name}.position"),
                "expected a position within the probe's box".into(),
            ));
        }
        all.push(Probe {
            name: name.clone(),
            center,
            size,
            position,
            blend: look.blend_distance(),
            resolution: look.resolution(),
            bounces: look.bounces(),
            parallax: look.parallax_correction(),
        });
    }
    if all.len() > MAX_PROBES {
        let expected = format!(
            "{} probes are enabled; expected at most {MAX_PROBES}: disable some",
            all.len()
        );
        return Err(wrong("probes".into(), expected));
    }
    all.sort_by(|a, b| a.size.element_product().total_cmp(&b.size.element_product()));
    scene.probes = all;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::look::Look;

    fn with(assignments: &[&str]) -> Result<Scene, LookError> {
        let look = Look::of(assignments)?;
        let mut scene = Scene::default();
        look.apply(&mut scene).map(|()| scene)
    }

    #[test]
    fn a_box_has_its_defaults_and_the_small_ones_come_first() {
        let scene = with(&[
            "probes.hall.center=0,2,0",
            "probes.hall.size=10 4 10",
            "probes.niche.center=1,1,0",
            "probes.niche.size=1,2,1",
            "probes.niche.position=1.2,1,0",
        ])
        .unwrap();
        let names: Vec<&str> = scene.probes.iter().map(|probe| probe.name.as_str()).collect();
        assert_eq!(names, ["niche", "hall"]);
        assert_eq!(scene.probes[1].position, DVec3::new(0.0, 2.0, 0.0));
        assert!(
            scene.probes[0].parallax
                && scene.probes[0].resolution == 128
                && scene.probes[0].bounces == 1
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (assignments, named) in [
            (vec!["probes.a.size=1,1"], "probes.a.size"),
            (vec!["probes.a.size=1,0,1"], "probes.a.size"),
            (vec!["probes.a.center=1e9,0,0"], "probes.a.center"),
            (vec!["probes.a.shape=1"], "probes.a.size"),
            (vec!["probes.a.resolution=4096"], "16 to 512"),
            (vec!["probes.a.size=1,1,1"], "probes.a.center"),
            (
                vec!["probes.a.size=1,1,1", "probes.a.center=0,0,0", "probes.a.position=0,1,0"],
                "probes.a.position",
            ),
        ] {
            let error = with(&assignments).unwrap_err().to_string();
            assert!(error.contains(named), "{assignments:?}: {error}");
        }
        let many: Vec<String> = (0..17)
            .flat_map(|i| [format!("probes.p{i}.center=0,0,0"), format!("probes.p{i}.size=1,1,1")])
            .collect();
        let error =
            with(&many.iter().map(String::as_str).collect::<Vec<_>>()).unwrap_err().to_string();
        assert!(error.contains("at most 16"), "{error}");
    }
}
