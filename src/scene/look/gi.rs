//! `gi.*`: bounced light.

use super::{LookError, Reader};

/// Every property of this section with what it takes.
pub(super) const PROPERTIES: &[(&str, &str)] = &[
    ("gi.enabled", "true or false: surfaces light each other (instant radiosity); the path tracer always does"),
    ("gi.vpls", "patches that photons make: about so many, with gi.merge at most; 1 to 4000000, e.g. 32768"),
    ("gi.photons", "that all lights send out, 1 to 4000000 [default: as gi.vpls asks]"),
    ("gi.bounces", "reflections that photons make at most, 1 to 64, e.g. 8"),
    ("gi.merge", "true or false: patches of one place and direction become one, which is faster and coarser"),
    ("gi.cell", "metres of such a place, 0.001 to 1000 [default: as gi.vpls asks]"),
    ("gi.rays", "patches that a pixel asks in a frame, 1 to 256, e.g. 4"),
    ("gi.gather", "tree or all: some patches that a tree chooses for each pixel, or every one, for comparison"),
    ("gi.visibility", "true or false: walls hide patches"),
    ("gi.bound", "0 to 100: light of near patches is bounded, as though none were nearer than so many of their radii"),
    ("gi.compensation", "true or false: short rays bring what gi.bound takes"),
    (
        "gi.sky",
        "true or false: rays find what hides sky and environment map; false: they do not, and with an environment no rays find \
         reflections",
    ),
    (
        "gi.glossy",
        "true or false: rough surfaces show highlights of patches, smooth ones send rays for what they reflect, mirrors reflect \
         light on to other surfaces; false: none of these",
    ),
    ("gi.filter", "true or false: means over neighbours, where the light varies by chance"),
    ("gi.still", "frames after which a view in which nothing moves is left as it is, 1 to 65536, e.g. 64"),
    ("gi.show", "picture, or patches: those are drawn into it as balls with as much area as light"),
    ("gi.frames", "frames that what moves is the mean of at most, 0 (no history) to 1024"),
];

/// What the look says of bounced light.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GiLook {
    /// `enabled`.
    pub enabled: Option<bool>,
    /// `vpls`.
    pub vpls: Option<u32>,
    /// `photons`.
    pub photons: Option<u32>,
    /// `bounces`.
    pub bounces: Option<u32>,
    /// `merge`.
    pub merge: Option<bool>,
    /// `cell` (m).
    pub cell: Option<f64>,
    /// `rays`.
    pub rays: Option<u32>,
    /// `gather`: all patches.
    pub all: Option<bool>,
    /// `visibility`.
    pub visibility: Option<bool>,
    /// `bound`, radii of patches.
    pub bound: Option<f64>,
    /// `compensation`.
    pub compensation: Option<bool>,
    /// `sky`.
    pub sky: Option<bool>,
    /// `glossy`.
    pub glossy: Option<bool>,
    /// `filter`.
    pub filter: Option<bool>,
    /// `still`.
    pub still: Option<u32>,
    /// `show`: patches as balls.
    pub show: Option<bool>,
    /// `frames`.
    pub frames: Option<u32>,
}

impl GiLook {
    /// Sets one property; false where it has none of this path.
    pub(super) fn set(&mut self, read: &Reader<'_>) -> Result<bool, LookError> {
        match read.path {
            "gi.enabled" => self.enabled = Some(read.boolean()?),
            "gi.vpls" => self.vpls = Some(read.whole(1, 4_000_000)?),
            "gi.photons" => self.photons = Some(read.whole(1, 4_000_000)?),
            "gi.bounces" => self.bounces = Some(read.whole(1, 64)?),
            "gi.merge" => self.merge = Some(read.boolean()?),
            "gi.cell" => self.cell = Some(read.within(1e-3, 1e3)?),
            "gi.rays" => self.rays = Some(read.whole(1, 256)?),
            "gi.gather" => {
                self.all = Some(match read.value {
                    "tree" => false,
                    "all" => true,
                    _ => return Err(read.wrong()),
                });
            }
            "gi.visibility" => self.visibility = Some(read.boolean()?),
            "gi.bound" => self.bound = Some(read.within(0.0, 100.0)?),
            "gi.compensation" => self.compensation = Some(read.boolean()?),
            "gi.sky" => self.sky = Some(read.boolean()?),
            "gi.glossy" => self.glossy = Some(read.boolean()?),
            "gi.filter" => self.filter = Some(read.boolean()?),
            "gi.still" => self.still = Some(read.whole(1, 65536)?),
            "gi.show" => {
                self.show = Some(match read.value {
                    "picture" => false,
                    "patches" => true,
                    _ => return Err(read.wrong()),
                });
            }
            "gi.frames" => self.frames = Some(read.whole(0, 1024)?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// What was set and changes nothing.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let enabled = Self { enabled: None, ..*self };
        if self.enabled.is_none() && enabled != Self::default() {
            return vec!["gi.* changes nothing while bounced light is off (--set gi.enabled=true)".into()];
        }
        let mut remarks = Vec::new();
        if self.cell.is_some() && self.merge != Some(true) {
            remarks.push("gi.cell changes nothing where patches are not merged (--set gi.merge=true)".into());
        }
        if self.vpls.is_some() && self.photons.is_some() && self.merge != Some(true) {
            remarks.push("gi.vpls changes nothing where gi.photons says how many photons make patches".into());
        }
        remarks
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::scene::look::Look;

    #[test]
    fn what_changes_nothing_is_said() {
        let told = |set: &[&str]| {
            let mut look = Look::default();
            set.iter().for_each(|assignment| look.assign(assignment).unwrap());
            look.gi.remarks().join("; ")
        };
        for silent in [
            &[][..],
            &["gi.enabled=false", "gi.vpls=100"],
            &["gi.enabled=true", "gi.photons=100"],
            &["gi.enabled=true", "gi.merge=true", "gi.cell=0.1", "gi.photons=100", "gi.vpls=10"],
        ] {
            assert_eq!(told(silent), "", "{silent:?}");
        }
        assert!(told(&["gi.show=patches"]).contains("gi.enabled=true"));
        assert!(told(&["gi.enabled=true", "gi.cell=0.1"]).contains("gi.merge=true"));
        assert!(told(&["gi.enabled=true", "gi.photons=100", "gi.vpls=10"]).contains("gi.photons"));
    }
}
