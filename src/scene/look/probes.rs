//! `probes.NAME.*`: reflection probes.

use std::collections::BTreeMap;

use glam::DVec3;

use super::{LookError, reader::Reader};
use crate::scene::{Probe, Scene, probe::MAX_PROBES};

/// Every property of this section with its description; `*` stands for a name of your choice.
pub(super) const PROPERTIES: &[(&str, &str)] = &[
    ("probes.*.enabled", "true or false"),
    ("probes.*.center", "center of its box, world position in meters, e.g. 0,1.5,0"),
    (
        "probes.*.size",
        "size of its box in meters, three numbers above 0, e.g. 6,3,4; the box should end at the walls",
    ),
    (
        "probes.*.position",
        "capture position within the box in meters, three numbers [default: its center]",
    ),
    (
        "probes.*.blend_distance",
        "blend distance inside the box's faces in meters, 0 or more, e.g. 0.5",
    ),
    ("probes.*.resolution", "cube map resolution in pixels, 16 to 512, e.g. 128"),
    ("probes.*.bounces", "maximum bounces of captured light, 1 to 8"),
    (
        "probes.*.parallax_correction",
        "true or false: parallax correction by the box; false reflects at infinity",
    ),
];

/// One probe's properties.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProbeLook {
    /// `enabled`.
    pub enabled: Option<bool>,
    /// `center` (m).
    pub center: Option<DVec3>,
    /// `size` (m).
    pub size: Option<DVec3>,
    /// `position` (m).
    pub position: Option<DVec3>,
    /// `blend_distance` (m).
    pub blend_distance: Option<f64>,
    /// `resolution`.
    pub resolution: Option<u32>,
    /// `bounces`.
    pub bounces: Option<u32>,
    /// `parallax_correction`.
    pub parallax_correction: Option<bool>,
}

/// Maximum distance from the origin (m); single precision is too coarse beyond.
const FARTHEST: f64 = 1e6;

/// Sets one property; false if probes have none of this name.
pub(super) fn set(
    probes: &mut BTreeMap<String, ProbeLook>,
    read: &Reader<'_>,
) -> Result<bool, LookError> {
    let parts = read.path.strip_prefix("probes.").and_then(|rest| rest.rsplit_once('.'));
    let Some((name, property)) = parts.filter(|(name, _)| !name.is_empty()) else {
        return Ok(false);
    };
    let place = || {
        read.vector()
            .ok()
            .filter(|v| v.abs().max_element() <= FARTHEST)
            .ok_or_else(|| read.bad_value())
    };
    let mut probe = probes.get(name).copied().unwrap_or_default();
    match property {
        "enabled" => probe.enabled = Some(read.boolean()?),
        "center" => probe.center = Some(place()?),
        "size" => {
            let size = place()?;
            if size.min_element() < 1e-3 {
                return Err(read.bad_value());
            }
            probe.size = Some(size);
        }
        "position" => probe.position = Some(place()?),
        "blend_distance" => probe.blend_distance = Some(read.in_range(0.0, FARTHEST)?),
        "resolution" => probe.resolution = Some(read.integer(16, 512)?),
        "bounces" => probe.bounces = Some(read.integer(1, 8)?),
        "parallax_correction" => probe.parallax_correction = Some(read.boolean()?),
        _ => return Ok(false),
    }
    probes.insert(name.into(), probe);
    Ok(true)
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
    for (name, look) in probes.iter().filter(|(_, look)| look.enabled.unwrap_or(true)) {
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
            blend: look.blend_distance.unwrap_or(0.0),
            resolution: look.resolution.unwrap_or(128),
            bounces: look.bounces.unwrap_or(1),
            parallax: look.parallax_correction.unwrap_or(true),
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
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::scene::look::Look;

    fn with(assignments: &[&str]) -> Result<Scene, LookError> {
        let mut look = Look::default();
        for assignment in assignments {
            look.assign(assignment)?;
        }
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
            (vec!["probes.a.shape=1"], "probes.*.size"),
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
