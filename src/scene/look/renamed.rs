//! Property names of version 0.1 that have a new name. Version 0.2 still reads them, with a notice.

/// (old path, new path); `*` stands for an address.
const RENAMED: &[(&str, &str)] = &[
    ("camera.body.curtain", "camera.body.shutter_type"),
    ("camera.body.curtain_time", "camera.body.readout_time"),
    ("camera.lens.barrel", "camera.lens.barrel_length"),
    ("camera.lens.curvature", "camera.lens.blade_curvature"),
    ("camera.lens.nearest_focus", "camera.lens.min_focus_distance"),
    ("camera.lens.rotation", "camera.lens.blade_rotation"),
    ("camera.lens.widest", "camera.lens.max_aperture"),
    ("camera.metering.at", "camera.metering.position"),
    ("camera.motion.rotation", "camera.motion.angular_velocity"),
    ("camera.white_balance.grey_card", "camera.white_balance.gray_card"),
    ("effects.ghosts.cull", "effects.ghosts.cull_threshold"),
    ("effects.ghosts.tier", "effects.ghosts.method"),
    ("effects.starburst.points", "effects.starburst.punctual_lights"),
    ("effects.vignetting.natural", "effects.vignetting.falloff_exponent"),
    ("gi.bound", "gi.clamp_radius"),
    ("gi.cell", "gi.merge_cell_size"),
    ("gi.compensation", "gi.bias_compensation"),
    ("gi.filter", "gi.denoise"),
    ("gi.frames", "gi.max_history_frames"),
    ("gi.gather", "gi.final_gather"),
    ("gi.glossy", "gi.specular"),
    ("gi.rays", "gi.vpl_samples"),
    ("gi.show", "gi.debug_view"),
    ("gi.sky", "gi.environment_visibility"),
    ("gi.still", "gi.freeze_after"),
    ("gi.visibility", "gi.vpl_visibility"),
    ("passes.ao.many_bounces", "passes.ao.multi_bounce"),
    ("passes.culling.least", "passes.culling.min_instances"),
    ("passes.light_lists.cull_bound", "passes.clustered_lights.cull_threshold"),
    ("passes.light_lists.enabled", "passes.clustered_lights.enabled"),
    ("passes.lod.error_pixels", "passes.lod.max_error_pixels"),
    ("passes.ssr.frames", "passes.ssr.max_history_frames"),
    ("passes.taa.clip", "passes.taa.variance_gamma"),
    ("passes.taa.frames", "passes.taa.max_history_frames"),
    ("passes.taa.scale", "passes.taa.render_scale"),
    ("probes.*.blend", "probes.*.blend_distance"),
    ("probes.*.parallax", "probes.*.parallax_correction"),
    ("scene.emissive_patches", "scene.max_emissive_lights"),
];

/// The property's present path, where `path` is an old one. Addresses stay as written.
pub(crate) fn current_path(path: &str) -> Option<String> {
    RENAMED.iter().find_map(|(old, new)| renamed(path, old, new))
}

/// The old paths of a property, for editors of look files that still have them.
pub(crate) fn old_paths(path: &str) -> impl Iterator<Item = String> {
    RENAMED.iter().filter_map(move |(old, new)| renamed(path, new, old))
}

/// Every old path; `*` stands for an address.
pub(crate) fn old_properties() -> impl Iterator<Item = &'static str> {
    RENAMED.iter().map(|(old, _)| *old)
}

/// The path under the name `to`, if its name is `from`; `*` in both stands for its address.
fn renamed(path: &str, from: &str, to: &str) -> Option<String> {
    match from.split_once('*') {
        None => (path == from).then(|| to.to_owned()),
        Some((section, property)) => {
            let address = path.strip_prefix(section)?.strip_suffix(property)?;
            Some(to.replacen('*', address, 1)).filter(|_| !address.is_empty())
        }
    }
}

/// The notice of an old name, on one line.
pub(crate) fn notice(old: &str, new: &str) -> String {
    format!("{old} is now {new}; the old name is accepted until the next release")
}

/// Old names that a look was given, each with its present name. Looks that differ in nothing else
/// are equal: a name changes no picture.
#[derive(Clone, Debug, Default)]
pub struct RenamedPaths(Vec<(String, String)>);

impl PartialEq for RenamedPaths {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl RenamedPaths {
    /// Adds a property, once.
    pub(super) fn add(&mut self, old: &str, new: &str) {
        if !self.0.iter().any(|(known, _)| known == old) {
            self.0.push((old.into(), new.into()));
        }
    }

    /// One line each.
    pub(super) fn notices(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|(old, new)| format!("look: {}", notice(old, new)))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::scene::look::{Look, LookError, properties};

    #[test]
    fn old_names_are_no_properties_and_new_names_are() {
        let known: Vec<&str> = properties().map(|property| property.path).collect();
        for (old, new) in RENAMED {
            assert!(!known.contains(old), "{old}");
            assert!(known.contains(new), "{new}");
        }
    }

    #[test]
    fn new_names_are_read() {
        for (_, new) in RENAMED {
            let path = new.replace('*', "a");
            // A value that none takes, so that the error tells whether the property is known.
            match Look::default().set(&path, "{no value}") {
                Ok(()) | Err(LookError::BadValue { .. }) => {}
                Err(error) => panic!("{path}: {error}"),
            }
        }
    }

    #[test]
    fn old_names_set_the_property_and_leave_a_notice() {
        let (mut old, mut new) = (Look::default(), Look::default());
        old.assign("gi.rays=7").unwrap();
        old.assign("gi.rays=8").unwrap();
        old.assign("probes.a.b.blend=0.5").unwrap();
        new.assign("gi.vpl_samples=8").unwrap();
        new.assign("probes.a.b.blend_distance=0.5").unwrap();
        assert_eq!(old, new);
        assert_eq!(new.notices(), Vec::<String>::new());
        assert_eq!(
            old.notices(),
            [
                "look: gi.rays is now gi.vpl_samples; the old name is accepted until the next release",
                "look: probes.a.b.blend is now probes.a.b.blend_distance; the old name is accepted \
                 until the next release"
            ]
        );
    }

    #[test]
    fn a_file_with_both_names_of_a_property_is_refused_with_its_line() {
        let text = "[gi]\nvpl_samples = 4\nrays = 8\n";
        let error = Look::default().parse("a.look.toml", text).unwrap_err().to_string();
        assert!(error.contains("line 3") && error.contains("gi.vpl_samples"), "{error}");
    }

    #[test]
    fn present_paths_find_their_old_ones() {
        assert_eq!(old_paths("gi.vpl_samples").collect::<Vec<_>>(), ["gi.rays"]);
        assert_eq!(old_paths("probes.x.blend_distance").collect::<Vec<_>>(), ["probes.x.blend"]);
        assert_eq!(old_paths("gi.vpls").count(), 0);
        assert_eq!(current_path("probes.blend"), None);
    }
}
