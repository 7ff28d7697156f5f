//! Names of properties and values that are read with a notice: those of version 0.1 that have a new
//! name, and values in quotes that the schema has without.

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

/// (path, old value, new value).
const RENAMED_VALUES: &[(&str, &str, &str)] = &[
    ("camera.metering.mode", "center-weighted", "center"),
    ("camera.metering.mode", "centre", "center"),
    ("camera.metering.mode", "centre-weighted", "center"),
    ("camera.white_balance", "none", "neutral"),
    ("gi.debug_view", "patches", "vpls"),
    ("passes.tonemap.operator", "neutral", "pbr-neutral"),
    ("scene.default_light", "true", "sun"),
];

/// The property's present path, where `path` is an old one. Addresses stay as written.
#[must_use]
pub fn current_path(path: &str) -> Option<String> {
    RENAMED.iter().find_map(|(old, new)| renamed(path, old, new))
}

/// The old paths of a property, for editors of look files that still have them.
pub fn old_paths(path: &str) -> impl Iterator<Item = String> {
    RENAMED.iter().filter_map(move |(old, new)| renamed(path, new, old))
}

/// The value's present name, where `value` is an old one. `path` is a present one.
pub(crate) fn current_value(path: &str, value: &str) -> Option<&'static str> {
    RENAMED_VALUES.iter().find(|(of, old, _)| *of == path && *old == value).map(|(_, _, new)| *new)
}

/// Every old path; `*` stands for an address.
pub fn old_properties() -> impl Iterator<Item = &'static str> {
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
#[must_use]
pub fn notice(old: &str, new: &str) -> String {
    format!("{old} is now {new}; the old name is accepted until the next release")
}

/// How a look writes a property, where that is not as its description has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// An old name of the property.
    OldPath {
        /// Path as written.
        old: String,
        /// Present path.
        new: String,
    },
    /// An old name of a value.
    OldValue {
        /// Path of the property.
        path: String,
        /// Value as written.
        old: String,
        /// Present value.
        new: &'static str,
    },
    /// A value of another kind in quotes, such as a number.
    Quoted {
        /// Path as written.
        path: String,
        /// Value as text.
        value: String,
        /// Name of the kinds that the property takes.
        expected: String,
    },
}

impl Spelling {
    /// The notice, on one line.
    fn notice(&self) -> String {
        match self {
            Self::OldPath { old, new } => format!("look: {}", notice(old, new)),
            Self::OldValue { path, old, new } => format!(
                "look: {path} = {old} is now {new}; the old value is accepted until the next release"
            ),
            Self::Quoted { path, value, expected } => {
                format!("look: {path}: expected {expected}; read as {value}")
            }
        }
    }
}

/// Deviating spellings that a look was given. Looks that differ in nothing else are equal: a
/// spelling changes no picture.
#[derive(Clone, Debug, Default)]
pub struct Spellings(Vec<Spelling>);

impl PartialEq for Spellings {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Spellings {
    /// Adds a spelling, once.
    pub(super) fn add(&mut self, spelling: Spelling) {
        if !self.0.contains(&spelling) {
            self.0.push(spelling);
        }
    }

    /// One line each.
    pub(super) fn notices(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(Spelling::notice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::look::{Look, LookError, flattened, properties};

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
    fn old_values_set_the_new_one_and_leave_a_notice() {
        for (path, old, new) in RENAMED_VALUES {
            let (mut given, mut expected) = (Look::default(), Look::default());
            assert!(expected.parse("a", &format!("{path} = \"{old}\"\n")).is_ok(), "{path} {old}");
            given.set(path, old).unwrap();
            given.set(path, old).unwrap();
            expected.set(path, new).unwrap();
            assert_eq!(given, expected);
            let notices = given.notices();
            assert_eq!(notices.len(), 1, "{notices:?}");
            assert!(notices[0].contains(&format!("{path} = {old} is now {new};")), "{notices:?}");
            assert_eq!(flattened(&format!("{path} = \"{old}\"\n"))[0].1, *new);
        }
        // The old path of a property takes the old values as well.
        let mut look = Look::default();
        look.set("gi.show", "patches").unwrap();
        assert_eq!(look.notices().len(), 2);
    }

    #[test]
    fn quoted_values_are_read_with_a_notice() {
        let (mut given, mut expected) = (Look::default(), Look::default());
        given.parse("a", "[camera.lens]\nf_stop = \"2\"\n[gi]\nenabled = \"true\"\n").unwrap();
        expected.parse("a", "[camera.lens]\nf_stop = 2\n[gi]\nenabled = true\n").unwrap();
        assert_eq!(given, expected);
        assert_eq!(
            given.notices(),
            [
                "look: camera.lens.f_stop: expected a number without quotes; read as 2",
                "look: gi.enabled: expected true or false, without quotes; read as true"
            ]
        );
        assert_eq!(expected.notices(), Vec::<String>::new());
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
