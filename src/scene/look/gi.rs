//! Warnings about `gi.*`.

use crate::settings::GiLook;

impl GiLook {
    /// Warnings about properties that have no effect.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let enabled = Self { enabled: None, ..*self };
        if self.enabled.is_none() && enabled != Self::default() {
            return vec!["note: gi.* has no effect while GI is off (--set gi.enabled=true)".into()];
        }
        let mut warnings = Vec::new();
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
    }
}
