//! The built-in Cornell box.

use sunny16::scene::procedural::cornell::{CornellVariant, cornell};

use crate::case::{Case, Reference};

pub fn cases() -> Vec<Case> {
    let brdf = "Principled with GGX";
    let exact = "glTF's BRDF (Principled with GGX and F82 tint 1, which for metals is Schlick's)";
    [
        ("area", CornellVariant::Panel, "light from a panel in the ceiling, rough dielectrics", brdf),
        ("point", CornellVariant::Point, "light from a point, rough dielectrics", brdf),
        (
            "metal",
            CornellVariant::Metal,
            "light from a panel in the ceiling, rough metals, whose BRDF all three renderers share",
            exact,
        ),
    ]
    .into_iter()
    .map(|(name, variant, what, brdf)| {
        let mut case = Case {
            name: format!("cornell_{name}"),
            title: format!("Cornell box, {name}"),
            text: format!("The Cornell box: {what}; all reflections."),
            size: [128, 128],
            scene: Some(cornell(variant).unwrap()),
            bounces: 64,
            // At 512 samples, blocks of metal differ by 0.73 % rms, of a bound of 0.86 %.
            spp: if variant == CornellVariant::Metal { 512 } else { 1024 },
            references: vec![
                Reference::mitsuba(2048, "independent"),
                Reference::cycles(if variant == CornellVariant::Point { 256 } else { 512 }, brdf),
            ],
            ..Case::default()
        };
        case.mean_of_mitsuba("0.003", "", "one BRDF, two renderers");
        let place = "light at the right place: a mean alone does not see it";
        case.bound(["path", "mitsuba"], "block_rms", "at_most = 0.01", "", place);
        case.bound(["path", "mitsuba"], "block_worst", "at_most = 0.06", "", place);
        if name == "metal" {
            let why = "not farther from Mitsuba than 1.3 times what Mitsuba and Cycles are from each other";
            case.bound(["path", "mitsuba"], "block_rms", "times_reference_difference = 1.3", "", why);
            case.bound(["path", "cycles"], "mean", "at_most = 0.003", "", "one BRDF, two renderers");
        }
        case
    })
    .collect()
}
