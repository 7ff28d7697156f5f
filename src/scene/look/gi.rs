//! Warnings about `gi.*`.

use crate::settings::{GiLook, GiMethod};

impl GiLook {
    /// Warnings about properties that have no effect.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let enabled = Self { enabled: None, ..*self };
        if self.enabled.is_none() && enabled != Self::default() {
            return vec!["note: gi.* has no effect while GI is off (--set gi.enabled=true)".into()];
        }
        let mut warnings = Vec::new();
        if self.method == Some(GiMethod::Probes) {
            let vpls_alone = Self {
                enabled: None,
                method: None,
                probe_spacing: None,
                probe_rays: None,
                specular: None,
                environment_visibility: None,
                ..*self
            };
            if vpls_alone != Self::default() {
                warnings.push(
                    "note: with gi.method=probes, of gi.* only probe_spacing, probe_rays, specular \
                     and environment_visibility have an effect"
                        .into(),
                );
            }
            return warnings;
        }
        if self.probe_spacing.is_some() || self.probe_rays.is_some() {
            warnings.push(
                "note: gi.probe_spacing and gi.probe_rays have no effect without irradiance volume \
                 (--set gi.method=probes)"
                    .into(),
            );
        }
        if self.merge_cell_size.is_some() && self.merge != Some(true) {
            warnings.push(
                "note: gi.merge_cell_size has no effect while VPLs are not merged (--set \
                 gi.merge=true)"
                    .into(),
            );
        }
        if self.vpls.is_some() && self.photons.is_some() && self.merge != Some(true) {
            warnings.push(
                "note: gi.vpls has no effect while gi.photons sets the number of photons".into(),
            );
        }
        warnings
    }
}

#[cfg(test)]
mod tests {
    use crate::scene::look::Look;

    #[test]
    fn ineffective_gi_properties_are_warned_about() {
        let told = |set: &[&str]| {
            let mut look = Look::default();
            set.iter().for_each(|assignment| look.assign(assignment).unwrap());
            look.gi.warnings().join("; ")
        };
        for silent in [
            &[][..],
            &["gi.enabled=false", "gi.vpls=100"],
            &["gi.enabled=true", "gi.photons=100"],
            &["gi.enabled=true", "gi.method=probes", "gi.probe_spacing=0.5", "gi.specular=false"],
            &[
                "gi.enabled=true",
                "gi.merge=true",
                "gi.merge_cell_size=0.1",
                "gi.photons=100",
                "gi.vpls=10",
            ],
        ] {
            assert_eq!(told(silent), "", "{silent:?}");
        }
        let off = told(&["gi.debug_view=vpls"]);
        assert!(off.starts_with("note: ") && off.contains("gi.enabled=true"), "{off}");
        assert!(told(&["gi.enabled=true", "gi.merge_cell_size=0.1"]).contains("gi.merge=true"));
        assert!(told(&["gi.enabled=true", "gi.photons=100", "gi.vpls=10"]).contains("gi.photons"));
        assert!(told(&["gi.enabled=true", "gi.probe_rays=2048"]).contains("gi.method=probes"));
        let vpls = told(&["gi.enabled=true", "gi.method=probes", "gi.vpl_samples=8"]);
        assert!(vpls.contains("only probe_spacing"), "{vpls}");
    }
}
