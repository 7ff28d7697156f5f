//! Report of `sunny16 validate`: a table of all cases, with the checks and images of each.

use super::{
    case::Case,
    report::{Cell, HtmlReport, ImageSet, NamedImage, ReportTable, Section},
    validation::{CaseImages, CheckResult},
};

/// Result of a case.
#[derive(Clone, Debug)]
pub struct CaseResult {
    /// The evaluated case.
    pub case: Case,
    /// Rendered and reference images.
    pub shots: CaseImages,
    /// Results of the checks.
    pub rows: Vec<CheckResult>,
    /// EV100 of the camera, with which images are displayed.
    pub ev100: f64,
    /// Run time in seconds.
    pub seconds: f64,
}

impl CaseResult {
    /// Number of failed checks.
    #[must_use]
    pub fn broken(&self) -> usize {
        self.rows.iter().filter(|row| !row.holds()).count()
    }
}

/// Order of images: rendered ones first, then references by name.
const ORDER: [&str; 3] = ["path", "path_pixel_centers", "raster"];

/// Creates the report of all results; `device` is the Vulkan device of the raster renderer, if it
/// ran.
#[must_use]
pub fn report(outcomes: &[CaseResult], device: Option<&str>) -> HtmlReport {
    let checks: usize = outcomes.iter().map(|outcome| outcome.rows.len()).sum();
    let broken: usize = outcomes.iter().map(CaseResult::broken).sum();
    let mut report = HtmlReport::new("sunny16 validate");
    report.text(format!(
        "{} cases, {checks} checks, {broken} failed. The raster renderer {}. path: rays through \
         all of a pixel; path_pixel_centers: rays through pixel centers, as in the raster \
         renderer. ± is the standard deviation due to noise of sunny16's path tracer; \
         validation/README.md lists that of references.",
        outcomes.len(),
        device.map_or_else(|| "did not run".into(), |name| format!("ran on {name}")),
    ));
    report.section(summary(outcomes));
    for outcome in outcomes {
        report.section(section(outcome));
    }
    report
}

fn texts(columns: &[&str]) -> Vec<String> {
    columns.iter().map(ToString::to_string).collect()
}

fn summary(outcomes: &[CaseResult]) -> Section {
    let rows = outcomes
        .iter()
        .map(|outcome| {
            let broken = outcome.broken();
            let verdict = if broken == 0 { "holds".into() } else { format!("{broken} failed") };
            // The check closest to its limit, or farthest beyond it.
            let tightest = outcome.rows.iter().max_by(|a, b| a.strain().total_cmp(&b.strain()));
            vec![
                Cell::link(&outcome.case.name, heading(outcome)),
                Cell::text(&outcome.case.title),
                Cell::number(outcome.rows.len().to_string()),
                Cell::mark(broken == 0, verdict),
                Cell::text(tightest.map_or_else(String::new, |row| {
                    format!(
                        "{} {} / {}: {} ({})",
                        row.region,
                        row.test,
                        row.against,
                        row.shown(),
                        row.shown_limit()
                    )
                })),
                Cell::number(format!("{:.1} s", outcome.seconds)),
            ]
        })
        .collect();
    let columns = texts(&["case", "", "checks", "verdict", "closest to its limit", "time"]);
    let table = ReportTable { columns, rows, ..ReportTable::default() };
    Section { title: "All cases".into(), tables: vec![table], ..Section::default() }
}

fn heading(outcome: &CaseResult) -> String {
    format!("{}: {}", outcome.case.name, outcome.case.title)
}

fn section(outcome: &CaseResult) -> Section {
    let case = &outcome.case;
    let mut text = case.text.clone();
    for reference in &case.references {
        text.push_str(&format!("\n{}: {}", reference.name, reference.made));
    }
    let rows = outcome
        .rows
        .iter()
        .map(|row| {
            vec![
                Cell::text(&row.test),
                Cell::text(&row.against),
                Cell::text(row.metric),
                Cell::text(&row.region),
                Cell::number(row.shown()),
                Cell::mark(row.holds(), row.shown_limit()),
                Cell::text(&row.why),
            ]
        })
        .collect();
    let columns = texts(&["picture", "against", "figure", "where", "", "limit", "why"]);
    let table = ReportTable { columns, rows, ..ReportTable::default() };
    let place = |name: &str| ORDER.iter().position(|known| *known == name).unwrap_or(ORDER.len());
    let mut shots: Vec<_> = outcome.shots.iter().collect();
    shots.sort_by_key(|(name, _)| (place(name), name.as_str()));
    let pictures: Vec<NamedImage> = shots
        .iter()
        .map(|(name, shot)| NamedImage { name: (*name).clone(), image: shot.image.clone() })
        .collect();
    // The pair of the first bound is displayed initially.
    let at = |name: &str| pictures.iter().position(|shown| shown.name == name);
    let pair = case.bounds.iter().find_map(|bound| Some([at(&bound.test)?, at(&bound.against)?]));
    let mut set = ImageSet {
        first: pair.unwrap_or([0, pictures.len().saturating_sub(1)]),
        images: pictures,
        ev100: Some(outcome.ev100),
        unit: "nits".into(),
        ..ImageSet::default()
    };
    // Pairs of rendered images with each other and with all references.
    let ours = shots.iter().filter(|(name, _)| ORDER.contains(&name.as_str())).count();
    for test in 0..ours {
        for reference in test + 1..set.images.len() {
            set.add_flip(test, reference);
        }
    }
    Section { title: heading(outcome), text, tables: vec![table], image_sets: vec![set] }
}
