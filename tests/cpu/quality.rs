//! Quality tiers: their table, and their place below the properties that a look sets.

use std::collections::BTreeSet;

use sunny16::{
    scene::look::{Look, properties},
    session::{self, OpenRequest},
    settings::{Choice, GiSettings, PassesSettings, Quality, QualityLook, ShadowSampling, TIERS},
    viewer::document::Document,
};

const ALL: [Quality; 4] = [Quality::Draft, Quality::Standard, Quality::Final, Quality::Exact];

fn look(text: &str, set: &[&str]) -> Look {
    let mut look = Look::default();
    look.parse("a.look.toml", text).unwrap();
    look.assign_all(&set.iter().map(|&text| text.to_owned()).collect::<Vec<_>>()).unwrap();
    look
}

#[test]
fn every_path_of_the_tiers_exists_and_every_value_is_accepted() {
    let known: BTreeSet<&str> = properties().map(|property| property.path).collect();
    let paths: BTreeSet<&str> = TIERS.iter().map(|(path, _)| *path).collect();
    assert_eq!(paths.len(), TIERS.len(), "each once");
    for (path, values) in TIERS {
        assert!(known.contains(path) && path != QualityLook::PATH, "{path}");
        for value in values {
            Look::default().set(path, value).unwrap_or_else(|error| panic!("{error}"));
        }
    }
    // A tier has the values that a look with its column would have.
    for (index, tier) in ALL.into_iter().enumerate() {
        let own = look("", &[&format!("quality={}", tier.name())]).with_tier().unwrap();
        let column: Vec<_> =
            TIERS.iter().map(|(path, values)| format!("{path}={}", values[index])).collect();
        let column = Look::of(column).unwrap();
        assert_eq!((own.passes, own.gi), (column.passes, column.gi), "{}", tier.name());
        assert_eq!(own.quality.values().count(), TIERS.len());
    }
    let exact = look("quality = \"exact\"", &[]).with_tier().unwrap();
    assert_eq!(exact.passes.resolve().shadows.sampling, ShadowSampling::Exact);
    assert!(!exact.gi.resolve().denoise, "denoisers are biased");
}

#[test]
fn a_look_without_a_tier_has_the_values_of_standard() {
    let sections = |text: &str, set: &[&str]| {
        let look = look(text, set).with_tier().unwrap();
        (look.passes, look.gi)
    };
    assert_eq!(Quality::DEFAULT, Quality::Standard);
    assert_eq!(look("", &[]).quality.tier(), Quality::Standard);
    assert_eq!(sections("", &[]), sections("", &["quality=standard"]));
    let (passes, gi) = sections("", &["gi.vpl_samples=7"]);
    assert!(passes.resolve().ssr.enabled && gi.resolve().enabled);
    assert_eq!(gi.resolve().vpl_samples, 7);
    // Values are set once: a look that has them keeps them.
    let once = look("gi.vpl_samples = 7", &[]).with_tier().unwrap();
    assert_eq!(once.clone().with_tier().unwrap(), once);
    // Without values of a tier, the defaults of the properties apply.
    let (passes, gi) = sections("", &["quality=direct"]);
    assert_eq!(
        (passes.resolve(), gi.resolve()),
        (PassesSettings::default(), GiSettings::default())
    );
    assert_eq!(look("", &["quality=direct"]).quality.values().count(), 0);
}

#[test]
fn a_tier_is_below_the_look_and_the_command_line_in_any_order() {
    let settled = |text: &str, set: &[&str]| look(text, set).with_tier().unwrap();
    let paths = ["gi.vpl_samples = 7", "passes.shadows.rays = 9"];
    let tier = "quality = \"final\"";
    for text in [[tier, paths[0], paths[1]], [paths[0], paths[1], tier]] {
        let look = settled(&text.join("\n"), &[]);
        assert_eq!((look.gi.vpl_samples(), look.passes.shadows.rays()), (7, 9), "{text:?}");
        assert_eq!(look.passes.shadows.sampling(), ShadowSampling::Budget);
        assert_eq!(look.quality.value("gi.vpl_samples"), None);
        assert!(look.quality.value("passes.ao.enabled").is_some());
    }
    // The command line is above the look, its tier too; the look's own properties stay.
    for set in [["quality=exact", "gi.enabled=false"], ["gi.enabled=false", "quality=exact"]] {
        let look = settled(&[tier, paths[0]].join("\n"), &set);
        assert_eq!(look.quality.tier, Some(Quality::Exact));
        assert_eq!(look.passes.shadows.sampling(), ShadowSampling::Exact, "{set:?}");
        assert_eq!((look.gi.enabled(), look.gi.vpl_samples()), (false, 7), "{set:?}");
    }
    // The last of two tiers leaves nothing of the first.
    for last in ["quality=standard", "quality=direct"] {
        let twice = settled(tier, &["quality=draft", last]);
        assert_eq!(twice, settled("", &[last]));
    }
    // Old names of properties count as theirs.
    let old = settled("gi.rays = 5", &["quality=standard"]);
    assert_eq!(old.gi.vpl_samples(), 5);
    // Warnings are about properties of the look alone.
    let warned = |set: &[&str]| {
        let warnings = settled("", set).gi_warnings();
        warnings.iter().any(|text| text.contains("gi.vpls has no effect"))
    };
    assert!(warned(&["gi.enabled=true", "gi.photons=9", "gi.vpls=9"]));
    assert!(!warned(&["quality=draft", "gi.photons=9"]));
}

#[test]
fn an_unknown_tier_is_refused_with_all_names_and_the_nearest() {
    let error = Look::default().parse("a.look.toml", "quality = \"finel\"").unwrap_err();
    assert_eq!(
        error.to_string(),
        "look file a.look.toml: line 1, column 1: quality = finel: expected quality tier: direct, \
         draft, standard, final or exact; its values (docs/quality.md) apply to properties that the look \
         does not set; did you mean final?"
    );
    let error = Look::default().set("quality", "ultra").unwrap_err().to_string();
    assert!(error.contains("draft, standard, final or exact") && !error.contains("did you mean"));
}

#[test]
fn stills_average_the_samples_of_the_tier() {
    let (_, samples) = TIERS.into_iter().find(|(path, _)| *path == "passes.aa.samples").unwrap();
    let open = |set: &[String]| {
        let request = OpenRequest {
            scene: Some("builtin:cornell".into()),
            set: set.to_vec(),
            ..OpenRequest::default()
        };
        session::open(&request).unwrap()
    };
    for (tier, samples) in ALL.into_iter().zip(samples) {
        let opened = open(&[format!("quality={}", tier.name())]);
        assert_eq!(opened.still_samples().to_string(), samples, "{}", tier.name());
        assert_eq!(opened.sequence_samples(), None, "frames of a sequence share histories");
    }
    let own = open(&["passes.aa.samples=3".into(), "quality=final".into()]);
    assert_eq!((own.still_samples(), own.sequence_samples()), (3, Some(3)));
    assert_eq!(open(&[]).still_samples(), 4, "the default tier is standard");
    assert_eq!(open(&["quality=direct".into()]).still_samples(), 1);
}

#[test]
fn a_saved_look_keeps_the_tier_and_the_overrides_alone() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.look.toml");
    let before = "# Evening.\n[gi]\nvpl_samples = 3\n";
    let mut document = Document::new(before, "a.look.toml", Some(file.clone()));
    document.set(&[("quality", Some("final"))]).unwrap();
    assert_eq!(document.steps()[0], Some("quality"));
    document.save().unwrap();
    let mut saved = Look::default();
    saved.read(&file).unwrap();
    assert_eq!(saved, document.look().unwrap());
    assert_eq!((saved.quality.tier, saved.gi.vpl_samples()), (Some(Quality::Final), 3));
    assert_eq!(document.values().len(), 2, "{}", document.text());
    document.undo();
    assert_eq!(document.text(), before);
}
