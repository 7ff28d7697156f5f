//! `sunny16 compare`: error metrics, error maps and an HTML report of a picture and its reference.

mod args;
mod findings;
mod view;

use std::path::{Path, PathBuf};

use serde_json::json;

pub use self::args::CompareArgs;
use self::{
    args::MapKind,
    findings::{Evidence, Finding, SecondSeed},
    view::View,
};
use super::{
    error::{CliError, check_output},
    fraction::Fraction,
};
use crate::{
    camera::scopes::Raster,
    compare::{
        Encoding, LinearImage,
        error_colormap::{self, MAGMA, SIGNED},
        flip::{Exposures, MAX_STOPS, PIXELS_PER_DEGREE, PIXELS_PER_DEGREE_LIMITS},
        metrics::{self, ImagePair},
        missing_light::{MissingKind, MissingLight},
        reference_noise::ReferenceNoise,
        report::{Cell, ErrorMap, HtmlReport, ImageSet, NamedImage, ReportTable, Section},
        summary::{ErrorStats, Maps, Summary},
    },
    output,
};

/// Part of the squared error from which the pixel that causes it is named.
const SPOILED: f64 = 0.25;

/// Version of the fields of `--json`.
const JSON_SCHEMA: u32 = 2;

/// A row of the table.
struct Line {
    name: &'static str,
    value: String,
    bound: Option<(bool, String)>,
    note: String,
}

fn part(bound: Option<Fraction>) -> Option<f64> {
    bound.map(|bound| bound.value)
}

/// Checks a value against its bound; a missing value breaks it.
fn check_max(value: Option<f64>, bound: Option<f64>) -> Option<(bool, String)> {
    let bound = bound?;
    Some((value.is_some_and(|value| value.abs() <= bound), format!("at most {bound}")))
}

pub fn run(args: &CompareArgs) -> Result<(), CliError> {
    check(args)?;
    for (name, bound) in [
        ("--max-bias", args.max_bias),
        ("--max-block-rms", args.max_block_rms),
        ("--max-block-worst", args.max_block_worst),
        ("--max-rmse", args.max_rmse),
    ] {
        if let Some(warning) = bound.and_then(|bound| bound.ambiguity_note(name)) {
            eprintln!("{warning}");
        }
    }
    compare(args, [None, None], print)
}

/// The values of `--json`, of two pictures in memory where they are given.
pub fn values(
    args: &CompareArgs,
    pictures: [Option<LinearImage>; 2],
) -> Result<serde_json::Value, CliError> {
    compare(args, pictures, |results, _| Ok(json_of(results)))
}

/// Compares two pictures, those in memory or else the files, and passes the results on.
fn compare<R>(
    args: &CompareArgs,
    [test, reference]: [Option<LinearImage>; 2],
    then: impl FnOnce(&Results<'_>, Maps) -> Result<R, CliError>,
) -> Result<R, CliError> {
    let load = |picture: Option<LinearImage>, name: &str| match picture {
        Some(picture) => Ok(picture),
        None => LinearImage::load(name).map(|picture| view::without_white_balance(picture, name)),
    };
    let (mut test, mut reference) = (load(test, &args.test)?, load(reference, &args.reference)?);
    let view = View::of(args, &test, &reference)?;
    let settings = view.settings;
    let noise = findings::reference_noise(args, &reference, &settings);
    let second = match &args.second_seed {
        Some(name) => Some(findings::second_seed(name, &reference, &settings)?),
        None => None,
    };
    if test.encoding() != reference.encoding() && view.is_exposure_known {
        // One picture is display-referred: compare both as a display shows them.
        for picture in [&mut test, &mut reference] {
            *picture =
                picture.displayed(settings.exposure, settings.white_balance, settings.mapper);
        }
    }
    let usage = |error: metrics::CompareError| {
        CliError::Usage(format!("{error} (--exposure EV100 or auto)"))
    };
    let pair = ImagePair::new(&test, &reference).map_err(|error| match error {
        metrics::CompareError::Encoding { .. } => usage(error),
        error => CliError::Usage(error.to_string()),
    })?;
    let mask = args.skip_edges.then(|| metrics::edge_free_mask(&reference));
    let pair = match &mask {
        Some(mask) => pair.masked(mask).map_err(|error| CliError::Usage(error.to_string()))?,
        None => pair,
    };
    if pair.counted() == 0 {
        return Err(CliError::Usage(
            "--skip-edges excludes all pixels of this reference; omit it".into(),
        ));
    }
    let (summary, maps) = Summary::of(&pair, &settings);
    let missing = findings::missing_light(args, &pair, &settings);
    let evidence = Evidence {
        args,
        pair: &pair,
        summary: &summary,
        view: view.text.as_deref(),
        missing: missing.as_ref(),
        noise: noise.as_ref(),
        second: second.as_ref(),
    };
    let findings = evidence.findings();
    let lines = lines(args, &summary, &pair, settings.mapper.name());
    then(&Results { evidence: &evidence, findings: &findings, lines: &lines }, maps)
}

/// Prints the findings and the table, and writes the requested files.
fn print(results: &Results<'_>, maps: Maps) -> Result<(), CliError> {
    let Results { evidence: Evidence { args, .. }, findings, lines } = *results;
    let broken =
        lines.iter().filter(|line| line.bound.as_ref().is_some_and(|(holds, _)| !holds)).count();
    let total = lines.iter().filter(|line| line.bound.is_some()).count();
    if !args.quiet {
        findings.iter().for_each(|Finding { about, text }| println!("{about:16} {text}"));
    }
    for line in lines
        .iter()
        .filter(|line| !args.quiet || line.bound.as_ref().is_some_and(|(holds, _)| !holds))
    {
        let bound = line
            .bound
            .as_ref()
            .map(|(holds, text)| format!("{} ({text})", if *holds { "ok" } else { "BROKEN" }));
        let text = format!(
            "{:16} {:<34} {:26} {}",
            line.name,
            line.value,
            bound.unwrap_or_default(),
            line.note
        );
        println!("{}", text.trim_end());
    }
    write(results, maps)?;
    if broken > 0 { Err(CliError::BoundsExceeded { broken, total }) } else { Ok(()) }
}

/// Validates the arguments before loading pictures.
fn check(args: &CompareArgs) -> Result<(), CliError> {
    for (file, ending) in [(&args.html, "html"), (&args.map, "png")] {
        file.iter().try_for_each(|file| check_output(file, ending))?;
    }
    args.json.iter().try_for_each(|file| output::check_writable(file))?;
    let outputs: Vec<&Path> =
        [&args.html, &args.map, &args.json].into_iter().flatten().map(PathBuf::as_path).collect();
    for (index, file) in outputs.iter().enumerate() {
        let input =
            [&args.test, &args.reference].into_iter().any(|input| same(Path::new(input), file));
        if input || outputs[..index].iter().any(|other| same(other, file)) {
            return Err(CliError::Usage(format!(
                "{}: this output is also an input or another output; choose another name",
                file.display()
            )));
        }
    }
    let [least, most] = PIXELS_PER_DEGREE_LIMITS;
    if !(least..=most).contains(&args.pixels_per_degree) {
        return Err(CliError::Usage(format!(
            "invalid --pixels-per-degree {}: expected {least} to {most}; {PIXELS_PER_DEGREE} is typical of a desktop monitor",
            args.pixels_per_degree
        )));
    }
    Ok(())
}

/// True if two paths name the same file.
fn same(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// Formats a fraction as a signed percentage.
fn percent(value: f64) -> String {
    format!("{:+.4} %", value * 100.0)
}

fn opt(value: Option<f64>, show: impl Fn(f64) -> String) -> String {
    value.map_or_else(|| "none".into(), show)
}

/// Rows of the table: metric, value, bound and details. Those that single pixels cannot spoil come
/// first.
fn lines(
    args: &CompareArgs,
    numbers: &Summary,
    pair: &ImagePair<'_>,
    tone_mapper: &str,
) -> Vec<Line> {
    let scene = pair.test().encoding() == Encoding::Scene;
    let unit = if scene { "nits" } else { "of white" };
    let short = |value: f64| format!("{value:.5}");
    let unsigned = |value: f64| format!("{:.4} %", value * 100.0);
    let spread = |spread: Option<ErrorStats>| {
        spread.map_or_else(String::new, |s| {
            format!("median {:.4}, 95 % {:.4}, 99 % {:.4}, max {:.4}", s.p50, s.p95, s.p99, s.max)
        })
    };
    let mut lines = Vec::new();
    let mut line =
        |name, value: String, bound, note: String| lines.push(Line { name, value, bound, note });
    let [width, height] = numbers.size;
    let counted = if args.skip_edges {
        format!("{} counted, edges excluded", numbers.counted)
    } else {
        String::new()
    };
    line("size", format!("{width}x{height}"), None, counted);
    if numbers.not_finite != [0, 0] {
        let [test, reference] = numbers.not_finite;
        let same = numbers.same_not_finite;
        line(
            "NOT FINITE",
            format!("{test} in the test, {reference} in the reference"),
            has_bounds(args).then(|| (same, "none that differ".to_owned())),
            format!(
                "pixels that are not a number or infinite; counted as black{}",
                if same { "; the same in both" } else { "" }
            ),
        );
    }
    let shown = match numbers.ev100 {
        Some(ev) => format!("{}; shown at EV100 {ev:.2}, {tone_mapper}", spread(numbers.flip)),
        None => spread(numbers.flip),
    };
    let flip = numbers.flip.map(|flip| flip.mean);
    line("FLIP", opt(flip, short), check_max(flip, args.max_flip), shown);
    if scene || args.max_flip_hdr.is_some() {
        let flip = numbers.flip_hdr.map(|flip| flip.mean);
        let exposures =
            numbers.flip_hdr_exposures.map_or_else(String::new, |(start, stop, count)| {
                let limited = if (Exposures { start, stop, count }).is_limited() {
                    format!(" (limited to {MAX_STOPS} stops; the median is darker)")
                } else {
                    String::new()
                };
                format!("; {count} exposures from {start:+.2} to {stop:+.2} stops{limited}")
            });
        line(
            "HDR-FLIP",
            opt(flip, short),
            check_max(flip, args.max_flip_hdr),
            format!("{}{exposures}", spread(numbers.flip_hdr)),
        );
    }
    let (stops, mean) = match (numbers.stops_mean, numbers.stops_percentiles) {
        (Some(mean), Some([low, median, high])) => (
            format!("median {median:+.4}, 5 % {low:+.3}, 95 % {high:+.3}"),
            format!("mean {mean:+.5}; "),
        ),
        _ => ("none".into(), String::new()),
    };
    line(
        "stops",
        stops,
        check_max(numbers.stops.map(|stops| stops.p95), args.max_stops),
        numbers.stops.map_or_else(String::new, |s| format!("{mean}absolute: {}", spread(Some(s)))),
    );
    line(
        "blocks, trimmed",
        opt(numbers.block_rms_trimmed, unsigned),
        None,
        format!(
            "rms without the worst 1 %; median {}; 8x8 pixels",
            opt(numbers.block_median, unsigned)
        ),
    );
    line(
        "blocks, rms",
        opt(numbers.block_rms, unsigned),
        check_max(numbers.block_rms, part(args.max_block_rms)),
        String::new(),
    );
    let [x, y] = numbers.block_worst_at.unwrap_or_default();
    let worst = check_max(numbers.block_worst, part(args.max_block_worst));
    line("blocks, worst", opt(numbers.block_worst, percent), worst, format!("at {x}, {y}"));
    line(
        "bias, trimmed",
        opt(numbers.bias_trimmed, percent),
        None,
        "without the 0.1 % of the pixels that differ most".into(),
    );
    line(
        "bias",
        opt(numbers.bias, percent),
        check_max(numbers.bias, part(args.max_bias)),
        String::new(),
    );
    let mean = numbers.mean.map_or_else(
        || "none".into(),
        |[test, reference]| format!("{test:.6} / {reference:.6} {unit}"),
    );
    line("mean", mean, None, "test / reference".into());
    line("SMAPE", opt(numbers.smape, |v| format!("{v:.6}")), None, String::new());
    line("relMSE", opt(numbers.relative_mse, |v| format!("{v:.6}")), None, String::new());
    let rmse = match (numbers.rmse, numbers.relative_rmse) {
        (Some(rmse), Some(relative)) => format!("{rmse:.6} {unit}, {:.4} %", relative * 100.0),
        (rmse, _) => opt(rmse, |rmse| format!("{rmse:.6} {unit}")),
    };
    let spoiled = numbers.worst_pixel.filter(|worst| worst.share >= SPOILED).map(|worst| {
        let [x, y] = worst.at;
        format!("; the pixel at {x}, {y} alone is {:.0} % of the squared error", worst.share * 1e2)
    });
    line(
        "rmse",
        rmse,
        check_max(numbers.relative_rmse, part(args.max_rmse)),
        format!("percent of the reference's mean{}", spoiled.unwrap_or_default()),
    );
    let alike = numbers.rmse == Some(0.0);
    let psnr = args.min_psnr.map(|least| {
        (alike || numbers.psnr.is_some_and(|psnr| psnr >= least), format!("at least {least}"))
    });
    let psnr_text =
        if alike { "identical".into() } else { opt(numbers.psnr, |v| format!("{v:.3} dB")) };
    let peak = if scene {
        format!("peak {:.6} nits: white at this exposure", numbers.psnr_peak)
    } else {
        "of codes".into()
    };
    line("PSNR", psnr_text, psnr, peak);
    for (name, picture) in [("test", pair.test()), ("reference", pair.reference())] {
        for note in picture.notes() {
            line("note", name.into(), None, note.clone());
        }
    }
    lines
}

/// True if any bound is set.
fn has_bounds(args: &CompareArgs) -> bool {
    [
        args.max_flip,
        args.max_flip_hdr,
        part(args.max_bias),
        part(args.max_block_rms),
        part(args.max_block_worst),
        part(args.max_rmse),
        args.max_stops,
        args.min_psnr,
    ]
    .iter()
    .any(Option::is_some)
}

/// What a comparison found.
struct Results<'a> {
    evidence: &'a Evidence<'a>,
    findings: &'a [Finding],
    lines: &'a [Line],
}

/// The values of `--json`.
fn json_of(results: &Results<'_>) -> serde_json::Value {
    let Evidence { args, pair, summary, view, missing, noise, second } = *results.evidence;
    let missing_light: Option<&MissingLight> = missing.and_then(|missing| missing.as_ref().ok());
    let unmeasured: Option<&MissingKind> = missing.and_then(|missing| missing.as_ref().err());
    let (noise, second): (Option<&ReferenceNoise>, Option<&SecondSeed>) = (noise, second);
    json!({
        "schema": JSON_SCHEMA,
        "test": args.test,
        "reference": args.reference,
        "verdict": { "rating": findings::rating(summary), "findings": results.findings },
        "view": view,
        "missing_light": missing_light,
        "unmeasured_light": unmeasured,
        "reference_noise": noise,
        "second_seed": second,
        "metadata": {
            "test": pair.test().metadata(),
            "reference": pair.reference().metadata(),
        },
        "numbers": summary,
    })
}

/// Writes the requested output files, and prints their names.
fn write(results: &Results<'_>, maps: Maps) -> Result<(), CliError> {
    let Evidence { args, pair, .. } = *results.evidence;
    let wrote = |file: &Path, contents: &str| {
        if !args.quiet {
            println!("{}: {contents}", file.display());
        }
    };
    if let Some(file) = &args.json {
        let text = serde_json::to_string_pretty(&json_of(results))
            .map_err(|error| CliError::Internal(error.to_string()))?;
        output::write_text(file, &text)?;
        wrote(file, "all values as JSON");
    }
    if let Some(file) = &args.map {
        let raster = map(args, pair, &maps)?;
        output::write_png(file, raster.width(), raster.height(), raster.rgba())?;
        wrote(file, "error map");
    }
    if let Some(file) = &args.html {
        output::write_text(file, &report(results, maps).to_html())?;
        wrote(file, "HTML report");
    }
    Ok(())
}

fn map(args: &CompareArgs, pair: &ImagePair<'_>, maps: &Maps) -> Result<Raster, CliError> {
    let width = pair.test().width();
    let black =
        || CliError::Usage("invalid --map-kind: a black reference supports only flip".into());
    Ok(match args.map_kind {
        MapKind::Flip => error_colormap::paint(
            &MAGMA,
            width,
            maps.flip_hdr.as_ref().unwrap_or(&maps.flip).iter().copied(),
        ),
        MapKind::Stops => {
            let range = args.map_range.unwrap_or(1.0).max(1e-6) as f32;
            let stops = maps.stops.as_ref().ok_or_else(black)?;
            error_colormap::paint(
                &SIGNED,
                width,
                stops.map.iter().map(|stops| 0.5 + stops / range / 2.0),
            )
        }
        MapKind::Relative => {
            let range = args.map_range.unwrap_or(0.1).max(1e-6) as f32;
            let stops = maps.stops.as_ref().ok_or_else(black)?;
            // |test / reference - 1|, with the same floor as the stops.
            error_colormap::paint(
                &MAGMA,
                width,
                stops.map.iter().map(|stops| (stops.exp2() - 1.0).abs() / range),
            )
        }
    })
}

fn report(results: &Results<'_>, maps: Maps) -> HtmlReport {
    let Evidence { args, pair, summary, .. } = *results.evidence;
    let scene = pair.test().encoding() == Encoding::Scene;
    let rows = results
        .lines
        .iter()
        .map(|line| {
            let bound = match &line.bound {
                Some((holds, text)) => Cell::mark(*holds, text.clone()),
                None => Cell::text(""),
            };
            vec![
                Cell::text(line.name),
                Cell::number(line.value.clone()),
                bound,
                Cell::text(line.note.clone()),
            ]
        })
        .collect();
    let table = ReportTable {
        caption: "Test against reference; below 0 the test is darker".into(),
        columns: ["number", "value", "bound", "details"].map(Into::into).into(),
        rows,
    };
    let mut errors =
        vec![ErrorMap { name: "FLIP".into(), test: 0, reference: 1, values: maps.flip }];
    errors.extend(maps.flip_hdr.map(|values| ErrorMap {
        name: "HDR-FLIP".into(),
        test: 0,
        reference: 1,
        values,
    }));
    let shown = |name: &str, picture: &LinearImage| NamedImage {
        name: name.into(),
        image: picture.clone(),
    };
    let pictures = ImageSet {
        title: String::new(),
        images: vec![shown(&args.test, pair.test()), shown(&args.reference, pair.reference())],
        maps: errors,
        first: [0, 1],
        ev100: summary.ev100,
        unit: if scene { "nits".into() } else { String::new() },
    };
    let name = |path: &str| {
        Path::new(path)
            .file_name()
            .map_or(path.to_owned(), |name| name.to_string_lossy().into_owned())
    };
    let mut report =
        HtmlReport::new(format!("{} against {}", name(&args.test), name(&args.reference)));
    let findings: String = results
        .findings
        .iter()
        .map(|Finding { about, text }| format!("{about}: {text}\n"))
        .collect();
    report.text(format!("{findings}\nTest (A): {}\nReference (B): {}", args.test, args.reference));
    report.section(Section {
        title: "Pictures".into(),
        text: String::new(),
        tables: vec![],
        image_sets: vec![pictures],
    });
    report.section(Section {
        title: "Numbers".into(),
        text: String::new(),
        tables: vec![table],
        image_sets: vec![],
    });
    report
}
