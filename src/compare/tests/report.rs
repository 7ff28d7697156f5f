//! HTML reports: complete, self-contained, and safe from the content of names.

use std::io::Read as _;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use half::f16;

use crate::compare::{
    linear_image::{Encoding, LinearImage},
    report::{Cell, ErrorMap, HtmlReport, ImageSet, NamedImage, ReportTable, Section},
};

fn scene(scale: f32) -> LinearImage {
    let pixels =
        (0..15).map(|i| [i as f32 * scale, 3.0 * scale, (15 - i) as f32 * 0.01 * scale]).collect();
    LinearImage::from_nits(5, 3, pixels).unwrap()
}

fn shown(name: &str, picture: LinearImage) -> NamedImage {
    NamedImage { name: name.into(), image: picture }
}

fn set(pictures: Vec<NamedImage>) -> ImageSet {
    ImageSet { images: pictures, first: [0, 1], unit: "nits".into(), ..ImageSet::default() }
}

/// Content of the element with that id.
fn element<'a>(html: &'a str, id: &str) -> &'a str {
    let start = html.find(&format!("id=\"{id}\">")).unwrap() + id.len() + 6;
    &html[start..start + html[start..].find("</script>").unwrap()]
}

fn description(html: &str) -> serde_json::Value {
    serde_json::from_str(element(html, "sets")).unwrap()
}

/// Undoes the packing, as report.js does: planes of stored numbers.
fn planes(html: &str, id: &str, size: [usize; 2], count: usize, wide: bool) -> Vec<Vec<u16>> {
    let mut bytes = Vec::new();
    let packed = STANDARD.decode(element(html, id)).unwrap();
    flate2::read::ZlibDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
    let pixels = size[0] * size[1];
    assert_eq!(bytes.len(), pixels * count * if wide { 2 } else { 1 });
    let mask = if wide { 0xffff } else { 0xff };
    let mut out: Vec<Vec<u16>> = Vec::new();
    for plane in 0..count {
        let at = plane * pixels * if wide { 2 } else { 1 };
        let mut codes: Vec<u16> = Vec::new();
        for i in 0..pixels {
            let step = if wide {
                u16::from(bytes[at + i]) << 8 | u16::from(bytes[at + pixels + i])
            } else {
                u16::from(bytes[at + i])
            };
            let before = match (i % size[0], i) {
                (_, 0) => 0,
                (0, _) => codes[i - size[0]],
                _ => codes[i - 1],
            };
            codes.push(before.wrapping_add(step) & mask);
        }
        out.push(codes);
    }
    if count == 3 {
        let green = out[0].clone();
        for plane in &mut out[1..] {
            for (value, green) in plane.iter_mut().zip(&green) {
                *value = value.wrapping_add(*green) & mask;
            }
        }
        out.swap(0, 1);
    }
    out
}

#[test]
fn a_scene_comes_back_as_half_floats_whatever_its_scale() {
    // Also beyond the range of half floats: the sun's 1.6e9 nits, and starlight.
    for scale in [1.0, 1e9, 1e-9] {
        let picture = scene(scale);
        let mut report = HtmlReport::new("t");
        let pictures = vec![set(vec![shown("a", picture.clone())])];
        report.section(Section { title: "s".into(), image_sets: pictures, ..Section::default() });
        let html = report.to_html();
        let description = &description(&html)["sets"][0]["pictures"][0];
        assert_eq!(description["kind"], "half");
        let factor = description["scale"].as_f64().unwrap();
        let planes = planes(&html, description["data"].as_str().unwrap(), [5, 3], 3, true);
        for (i, pixel) in picture.pixels().iter().enumerate() {
            for (channel, plane) in planes.iter().enumerate() {
                let found = f16::from_bits(plane[i]).to_f64() * factor;
                let wanted = f64::from(pixel[channel]);
                assert!((found - wanted).abs() <= wanted * 4.9e-4, "{found} for {wanted}");
            }
        }
    }
}

#[test]
fn codes_come_back_exactly() {
    let curve =
        |code: u16, most: f64| crate::photometry::color::srgb_eotf(f64::from(code) / most) as f32;
    for (most, kind) in [(255.0, "code8"), (65535.0, "code16")] {
        let code = |i: u16, channel: u16| {
            (i * 17 + channel * 40) * if most > 255.0 { 131 } else { 1 } % 256
        };
        let pixels =
            (0..15).map(|i| [0, 1, 2].map(|channel| curve(code(i, channel), most))).collect();
        let picture = LinearImage::new(5, 3, pixels, Encoding::Display).unwrap();
        let mut report = HtmlReport::new("t");
        report.section(Section {
            image_sets: vec![set(vec![shown("a", picture)])],
            ..Section::default()
        });
        let html = report.to_html();
        let description = &description(&html)["sets"][0]["pictures"][0];
        assert_eq!(description["kind"], kind);
        let planes = planes(&html, description["data"].as_str().unwrap(), [5, 3], 3, most > 255.0);
        for i in 0..15 {
            for channel in 0..3 {
                assert_eq!(
                    planes[usize::from(channel)][usize::from(i)],
                    code(i, channel),
                    "{kind} {i} {channel}"
                );
            }
        }
    }
}

#[test]
fn names_cannot_leave_their_places() {
    let hostile =
        "</script><script>alert(1)</script><img src=x onerror=alert(1)> \" ' & \u{0}\u{202e}\n";
    let mut report = HtmlReport::new(hostile);
    report.text(hostile);
    let table = ReportTable {
        caption: hostile.into(),
        columns: vec![hostile.into()],
        rows: vec![vec![
            Cell::text(hostile),
            Cell::mark(false, hostile),
            Cell::link(hostile, hostile),
            Cell::number(hostile),
        ]],
    };
    let mut pictures = set(vec![shown(hostile, scene(1.0)), shown(hostile, scene(2.0))]);
    (pictures.title, pictures.unit) = (hostile.into(), hostile.into());
    pictures.maps =
        vec![ErrorMap { name: hostile.into(), test: 0, reference: 1, values: vec![0.5; 15] }];
    report.section(Section {
        title: hostile.into(),
        text: hostile.into(),
        tables: vec![table],
        image_sets: vec![pictures],
    });
    let html = report.to_html();
    assert!(!html.contains("<img") && !html.contains("<script>alert") && !html.contains('\u{0}'));
    // The sets, two images, a map and the script: no other script element.
    assert_eq!(html.matches("<script").count(), 5);
    assert_eq!(html.matches("</script>").count(), 5);
    let description = description(&html);
    assert_eq!(description["sets"][0]["pictures"][1]["name"], hostile);
}

#[test]
fn nothing_is_loaded_from_elsewhere() {
    let mut report = HtmlReport::new("t");
    report.section(Section {
        image_sets: vec![set(vec![shown("a", scene(1.0))])],
        ..Section::default()
    });
    let html = report.to_html();
    for outside in [
        "http:",
        "https:",
        "src=",
        "@import",
        "url(",
        "fetch(",
        "XMLHttp",
        "import(",
        "eval(",
        "innerHTML",
        " onclick",
    ] {
        assert!(!html.contains(outside), "{outside}");
    }
    assert!(html.contains("default-src 'none'"));
}

#[test]
fn tags_close_in_order() {
    let mut report = HtmlReport::new("t");
    for number in 0..5 {
        let table = ReportTable {
            caption: "c".into(),
            columns: vec!["a".into(), "b".into()],
            rows: vec![vec![
                Cell::mark(number > 2, "at most 1"),
                Cell::link("to the first", "case 0"),
            ]],
        };
        let pictures = vec![set(vec![shown("a", scene(1.0)), shown("b", scene(2.0))])];
        report.section(Section {
            title: format!("case {number}"),
            text: "x".into(),
            tables: vec![table],
            image_sets: pictures,
        });
    }
    let html = report.to_html();
    let body = &html[..html.rfind("<script>").unwrap()];
    let mut open: Vec<&str> = Vec::new();
    for tag in body.split('<').skip(1).filter_map(|part| part.split(['>', ' ', '\n']).next()) {
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name)),
            None if tag.starts_with('!') || tag == "meta" => {}
            None => open.push(tag),
        }
    }
    assert_eq!(open, ["html", "body"]);
    assert_eq!(html.matches("<tr class=\"fail\">").count(), 3);
    assert_eq!(
        html.matches("<a href=\"#case-0\">").count(),
        5,
        "tables link to sections, so there is no table of contents"
    );
    assert!(!html.contains("<nav"));
    assert_eq!(html.matches("<figure").count(), 5);
    assert_eq!(description(&html)["sets"].as_array().unwrap().len(), 5);
}

#[test]
fn odd_sets_are_shown_as_far_as_they_go() {
    let small = LinearImage::from_nits(1, 1, vec![[0.0; 3]]).unwrap();
    let mut report = HtmlReport::new("");
    let mut odd =
        set(vec![shown("first", small.clone()), shown("larger", scene(1.0)), shown("last", small)]);
    odd.first = [2, 99];
    odd.maps = vec![
        ErrorMap { name: "short".into(), test: 0, reference: 2, values: vec![] },
        ErrorMap {
            name: "including the image that is not shown".into(),
            test: 1,
            reference: 2,
            values: vec![0.0],
        },
        ErrorMap { name: "good".into(), test: 0, reference: 2, values: vec![f32::NAN] },
    ];
    odd.ev100 = Some(f64::INFINITY);
    report.section(Section { image_sets: vec![odd, ImageSet::default()], ..Section::default() });
    // Titles that give equal anchors, and titles equal to the file's own ids.
    for title in ["a b", "a-b", "theme", "sets", "d0", "\u{4e2d}"] {
        report.section(Section { title: title.into(), ..Section::default() });
    }
    let html = report.to_html();
    assert!(html.contains("larger has 5x3 pixels and is not shown beside 1x1"));
    let set = &description(&html)["sets"][0];
    assert_eq!((set["test"].as_u64(), set["reference"].as_u64()), (Some(1), Some(0)));
    assert_eq!(set["maps"].as_array().unwrap().len(), 1);
    assert!(set["ev100"].is_number());
    for id in
        ["section-", "a-b", "a-b-2", "section-theme", "section-sets", "section-d0", "section--2"]
    {
        assert_eq!(html.matches(&format!("<section id=\"{id}\">")).count(), 1, "{id}");
    }
}

#[test]
fn the_same_report_has_the_same_bytes() {
    let make = || {
        let mut report = HtmlReport::new("t");
        report.section(Section {
            image_sets: vec![set(vec![shown("a", scene(1.0))])],
            ..Section::default()
        });
        report.to_html()
    };
    assert_eq!(make(), make());
}

#[test]
fn flip_is_added_for_pairs_that_fit() {
    let small = LinearImage::from_nits(1, 1, vec![[0.0; 3]]).unwrap();
    let mut pictures = set(vec![shown("a", scene(1.0)), shown("b", scene(2.0)), shown("c", small)]);
    for (test, reference) in [(0, 1), (0, 2), (2, 9)] {
        pictures.add_flip(test, reference);
    }
    let names: Vec<&str> = pictures.maps.iter().map(|map| map.name.as_str()).collect();
    assert_eq!(names, ["FLIP", "HDR-FLIP"]);
    assert!(
        pictures
            .maps
            .iter()
            .all(|map| map.values.len() == 15 && map.values.iter().all(|error| *error > 0.0))
    );
}
