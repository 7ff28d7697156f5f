//! HTML reports in one self-contained file: no network, no library, no other file.
//!
//! Images are embedded with their values: scene light as half floats with a common power of two (29
//! stops below the brightest pixel, 11 bits each), display light as sRGB codes. Byte planes are
//! predicted from the left neighbor and from green, deflated, and encoded in base64. The script
//! (`report.js`) draws them.
//!
//! All text is escaped. `FILE.html#SECTION&mode=flicker&a=0&b=1&ev=8&zoom=4&x=10&y=20&theme=dark`
//! opens a section with a view. SECTION is the section's title in lower case, with `-` for
//! everything but letters and digits.

use std::{fmt::Write as _, io::Write as _};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use flate2::{Compression, write::ZlibEncoder};
use half::f16;
use serde_json::json;

use super::{
    error_colormap::{MAGMA, SIGNED},
    linear_image::{Encoding, LinearImage},
    metrics::ImagePair,
    summary::{self, CompareSettings, metered_exposure},
};
use crate::{
    camera::Exposure,
    photometry::{Ev100, color},
};

/// A report: title, introduction and sections.
#[derive(Clone, Debug, Default)]
pub struct HtmlReport {
    title: String,
    text: String,
    sections: Vec<Section>,
}

/// A section of a report; empty parts are omitted.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// The heading, which links refer to.
    pub title: String,
    /// Text below the heading, with its line breaks.
    pub text: String,
    /// Tables of numbers.
    pub tables: Vec<ReportTable>,
    /// Sets of images.
    pub image_sets: Vec<ImageSet>,
}

/// A table of a report.
#[derive(Clone, Debug, Default)]
pub struct ReportTable {
    /// Caption above the table.
    pub caption: String,
    /// Column headers.
    pub columns: Vec<String>,
    /// Rows of cells; a row with a failed mark is highlighted.
    pub rows: Vec<Vec<Cell>>,
}

/// A cell of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    text: String,
    mark: Option<bool>,
    link: Option<String>,
    number: bool,
}

impl Cell {
    /// A cell with text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A right-aligned cell with a number, formatted with its unit.
    #[must_use]
    pub fn number(text: impl Into<String>) -> Self {
        Self { text: text.into(), number: true, ..Self::default() }
    }

    /// A cell with a pass or fail mark, in symbol and color, before the text.
    #[must_use]
    pub fn mark(holds: bool, text: impl Into<String>) -> Self {
        Self { text: text.into(), mark: Some(holds), ..Self::default() }
    }

    /// Text that links to the section of that title; plain text if there is none.
    #[must_use]
    pub fn link(text: impl Into<String>, section: impl Into<String>) -> Self {
        Self { text: text.into(), link: Some(section.into()), ..Self::default() }
    }
}

/// Images of equal size for one viewer.
#[derive(Clone, Debug, Default)]
pub struct ImageSet {
    /// Title above the viewer.
    pub title: String,
    /// The images; those that differ in size from the first are named but not shown.
    pub images: Vec<NamedImage>,
    /// Precomputed error maps between two of them.
    pub maps: Vec<ErrorMap>,
    /// Initial choice of A and B: test and reference.
    pub first: [usize; 2],
    /// Initial EV100 for scene light; by default metered from B by the log-average luminance.
    pub ev100: Option<f64>,
    /// Unit of scene light, such as `nits`.
    pub unit: String,
}

impl ImageSet {
    /// Adds FLIP maps of one image against another, by their indices in the set: LDR-FLIP as
    /// initially displayed (at `ev100`, clipped), and HDR-FLIP for scene light. Does nothing if an
    /// index is invalid, or size or encoding differ.
    pub fn add_flip(&mut self, test: usize, reference: usize) {
        let (Some(a), Some(b)) = (self.images.get(test), self.images.get(reference)) else {
            return;
        };
        let Ok(pair) = ImagePair::new(&a.image, &b.image) else { return };
        let exposure = self.ev100.and_then(|ev| Exposure::from_ev100(Ev100(ev)).ok());
        let settings = CompareSettings {
            exposure: exposure.unwrap_or_else(|| metered_exposure(&b.image)),
            ..CompareSettings::default()
        };
        let (flip, hdr) = summary::flips(&pair, &settings);
        self.maps.push(ErrorMap { name: "FLIP".into(), test, reference, values: flip });
        self.maps.extend(hdr.map(|(values, _)| ErrorMap {
            name: "HDR-FLIP".into(),
            test,
            reference,
            values,
        }));
    }
}

/// An image with a name.
#[derive(Clone, Debug)]
pub struct NamedImage {
    /// Name shown in the report.
    pub name: String,
    /// The image data.
    pub image: LinearImage,
}

/// A map of errors, 0 to 1, between two images of a set, such as FLIP.
#[derive(Clone, Debug)]
pub struct ErrorMap {
    /// Name of the metric and of its button.
    pub name: String,
    /// Index of the test image in the set.
    pub test: usize,
    /// Index of the reference image in the set.
    pub reference: usize,
    /// One error per pixel.
    pub values: Vec<f32>,
}

const STYLE: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("report.js");
/// Content security policy: only the file's own style and script, no loading.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

impl HtmlReport {
    /// Creates an empty report.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), ..Self::default() }
    }

    /// Sets the text below the title.
    pub fn text(&mut self, text: impl Into<String>) -> &mut Self {
        self.text = text.into();
        self
    }

    /// Appends a section.
    pub fn section(&mut self, section: Section) -> &mut Self {
        self.sections.push(section);
        self
    }

    /// Renders the report as HTML.
    #[must_use]
    pub fn to_html(&self) -> String {
        let ids = self.ids();
        let mut body = String::new();
        let mut data: Vec<String> = Vec::new();
        let mut sets = Vec::new();
        for (section, id) in self.sections.iter().zip(&ids) {
            let _ = write!(body, "<section id=\"{id}\">\n<h2>{}</h2>\n", escaped(&section.title));
            paragraph(&mut body, &section.text);
            for table in &section.tables {
                self.table(&mut body, table, &ids);
            }
            for set in &section.image_sets {
                figure(&mut body, &mut data, &mut sets, set);
            }
            body.push_str("</section>\n");
        }
        let title = escaped(&self.title);
        let mut head = String::new();
        paragraph(&mut head, &self.text);
        // A table of contents, unless a table links to the sections.
        let mut contents = String::new();
        let linked =
            self.sections.iter().flat_map(|s| &s.tables).flat_map(|t| t.rows.iter().flatten());
        if self.sections.len() > 3 && linked.into_iter().all(|cell| cell.link.is_none()) {
            contents.push_str("<nav aria-label=\"Contents\"><ul>\n");
            for (section, id) in self.sections.iter().zip(&ids) {
                let _ = writeln!(
                    contents,
                    "<li><a href=\"#{id}\">{}</a></li>",
                    escaped(&section.title)
                );
            }
            contents.push_str("</ul></nav>\n");
        }
        // JSON allows escaping the less-than sign, so that no data can end the script element.
        let sets = json!({ "sets": sets, "colors": { "magma": MAGMA, "signed": SIGNED } });
        let sets = sets.to_string().replace('<', "\\u003c");
        let data = data.concat();
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"generator\" content=\"sunny16 {}\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n\
             <body>\n<main>\n<header><h1>{title}</h1><button type=\"button\" id=\"theme\">Light \
                 or dark theme</button></header>\n\
             {head}<noscript><p>Scripts are disabled: the tables are complete, but the images \
                 need scripts.</p></noscript>\n\
             {contents}{body}</main>\n<script type=\"application/json\" id=\"sets\">{sets}</script>\n{data}\
             <script>\n{SCRIPT}</script>\n</body>\n</html>\n",
            env!("CARGO_PKG_VERSION")
        )
    }

    /// Anchor of each section, from its title, with a number if titles give equal anchors.
    fn ids(&self) -> Vec<String> {
        let mut ids: Vec<String> = Vec::new();
        for section in &self.sections {
            let plain: String = section
                .title
                .chars()
                .take(80)
                .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' })
                .collect();
            // A prefix avoids collisions with the file's own ids.
            let plain = match plain
                .split('-')
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
                .join("-")
            {
                name if name.is_empty()
                    || matches!(name.as_str(), "sets" | "theme")
                    || is_data(&name) =>
                {
                    format!("section-{name}")
                }
                name => name,
            };
            let mut id = plain.clone();
            let mut number = 2;
            while ids.contains(&id) {
                id = format!("{plain}-{number}");
                number += 1;
            }
            ids.push(id);
        }
        ids
    }

    fn table(&self, body: &mut String, table: &ReportTable, ids: &[String]) {
        body.push_str("<div class=\"table\"><table>\n");
        if !table.caption.is_empty() {
            let _ = writeln!(body, "<caption>{}</caption>", escaped(&table.caption));
        }
        if !table.columns.is_empty() {
            body.push_str("<thead><tr>");
            for column in &table.columns {
                let _ = write!(body, "<th scope=\"col\">{}</th>", escaped(column));
            }
            body.push_str("</tr></thead>\n");
        }
        body.push_str("<tbody>\n");
        for row in &table.rows {
            let failed = row.iter().any(|cell| cell.mark == Some(false));
            body.push_str(if failed { "<tr class=\"fail\">" } else { "<tr>" });
            for cell in row {
                let text = escaped(&cell.text);
                let inside = match (cell.mark, &cell.link) {
                    (Some(true), _) => format!("<span class=\"good\">✓ {text}</span>"),
                    (Some(false), _) => format!("<span class=\"bad\">✗ {text}</span>"),
                    (None, Some(title)) => {
                        match self
                            .sections
                            .iter()
                            .zip(ids)
                            .find(|(section, _)| section.title == *title)
                        {
                            Some((_, id)) => format!("<a href=\"#{id}\">{text}</a>"),
                            None => text,
                        }
                    }
                    (None, None) => text,
                };
                let class = if cell.number { " class=\"number\"" } else { "" };
                let _ = write!(body, "<td{class}>{inside}</td>");
            }
            body.push_str("</tr>\n");
        }
        body.push_str("</tbody></table></div>\n");
    }
}

fn paragraph(body: &mut String, text: &str) {
    if !text.is_empty() {
        let _ = writeln!(body, "<p>{}</p>", escaped(text));
    }
}

/// True if a name is the id of an image data element: `d` and a number.
fn is_data(name: &str) -> bool {
    name.strip_prefix('d').is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()))
}

/// Escapes text for HTML elements and attributes. Control characters except line ends become
/// question marks.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() => out.push('?'),
            c => out.push(c),
        }
    }
    out
}

/// A set of images: the viewer's element, its description and the data.
fn figure(
    body: &mut String,
    data: &mut Vec<String>,
    sets: &mut Vec<serde_json::Value>,
    set: &ImageSet,
) {
    let Some(first) = set.images.first() else { return };
    let size = [first.image.width(), first.image.height()];
    let fits = |picture: &LinearImage| [picture.width(), picture.height()] == size;
    let shown: Vec<usize> = set
        .images
        .iter()
        .enumerate()
        .filter(|(_, shown)| fits(&shown.image))
        .map(|(index, _)| index)
        .collect();
    let place = |index: usize| shown.iter().position(|shown| *shown == index);
    let mut store = |bytes: &[u8]| {
        let id = format!("d{}", data.len());
        data.push(format!("<script type=\"text/plain\" id=\"{id}\">{}</script>\n", packed(bytes)));
        id
    };
    let pictures: Vec<serde_json::Value> = shown
        .iter()
        .map(|index| {
            let NamedImage { name, image: picture } = &set.images[*index];
            let stored = Stored::of(picture);
            json!({ "name": name, "kind": stored.kind, "scale": stored.scale, "data": store(&stored.bytes) })
        })
        .collect();
    let maps: Vec<serde_json::Value> = set
        .maps
        .iter()
        .filter(|map| map.values.len() == size[0] * size[1])
        .filter_map(|map| {
            let (test, reference) = (place(map.test)?, place(map.reference)?);
            let codes: Vec<u16> =
                map.values.iter().map(|value| (value.clamp(0.0, 1.0) * 255.0).round() as u16).collect();
            let bytes = plane(&codes, size[0], false);
            Some(json!({ "name": map.name, "test": test, "reference": reference, "data": store(&bytes) }))
        })
        .collect();
    let [test, reference] = set.first.map(|index| place(index).unwrap_or(0));
    let ev100 = set
        .ev100
        .filter(|ev| ev.is_finite())
        .unwrap_or_else(|| metered_exposure(&set.images[shown[reference]].image).ev100().get());
    let number = sets.len();
    sets.push(json!({
        "width": size[0], "height": size[1], "pictures": pictures, "maps": maps, "test": test, "reference": reference,
        "ev100": (ev100 * 10.0).round() / 10.0, "unit": set.unit,
    }));
    let _ = writeln!(body, "<figure data-set=\"{number}\">");
    if !set.title.is_empty() {
        let _ = writeln!(body, "<figcaption>{}</figcaption>", escaped(&set.title));
    }
    for left_out in set.images.iter().filter(|shown| !fits(&shown.image)) {
        let (width, height) = (left_out.image.width(), left_out.image.height());
        let _ = writeln!(
            body,
            "<p class=\"soft\">{} has {width}x{height} pixels and is not shown beside {}x{}.</p>",
            escaped(&left_out.name),
            size[0],
            size[1]
        );
    }
    body.push_str("</figure>\n");
}

/// An encoded image.
struct Stored {
    /// `half`, `code8` or `code16`.
    kind: &'static str,
    /// Scale factor of half floats.
    scale: f64,
    bytes: Vec<u8>,
}

impl Stored {
    fn of(picture: &LinearImage) -> Self {
        let width = picture.width();
        if picture.encoding() == Encoding::Scene {
            let max =
                picture.pixels().iter().flatten().map(|channel| channel.abs()).fold(0.0, f32::max);
            // Scales the brightest value to 2^14 to 2^15, below the half-float maximum of 65504.
            let exponent = if max > 0.0 { f64::from(max).log2().floor() as i32 - 14 } else { 0 };
            let scale = f64::from(exponent).exp2();
            let codes = |channel: usize| -> Vec<u16> {
                picture
                    .pixels()
                    .iter()
                    .map(|pixel| f16::from_f64(f64::from(pixel[channel]) / scale).to_bits())
                    .collect()
            };
            return Self {
                kind: "half",
                scale,
                bytes: planes([codes(0), codes(1), codes(2)], width, true),
            };
        }
        let code = |linear: f32, max: f64| {
            (color::srgb_oetf(f64::from(linear.clamp(0.0, 1.0))) * max).round() as u16
        };
        // Eight bits if every pixel is exactly one of 256 codes.
        let exact = |linear: f32| {
            let nearest = color::srgb_eotf(f64::from(code(linear, 255.0)) / 255.0) as f32;
            nearest.to_bits() == linear.to_bits()
        };
        let narrow = picture.pixels().iter().flatten().all(|linear| exact(*linear));
        let max = if narrow { 255.0 } else { 65535.0 };
        let codes = |channel: usize| -> Vec<u16> {
            picture.pixels().iter().map(|pixel| code(pixel[channel], max)).collect()
        };
        let kind = if narrow { "code8" } else { "code16" };
        Self { kind, scale: 1.0, bytes: planes([codes(0), codes(1), codes(2)], width, !narrow) }
    }
}

/// Green, and red and blue as differences to green, which are near 0 for gray.
fn planes([red, green, blue]: [Vec<u16>; 3], width: usize, wide: bool) -> Vec<u8> {
    let less = |plane: &[u16]| -> Vec<u16> {
        plane.iter().zip(&green).map(|(value, green)| value.wrapping_sub(*green)).collect()
    };
    let (red, blue) = (less(&red), less(&blue));
    [&green, &red, &blue].into_iter().flat_map(|codes| plane(codes, width, wide)).collect()
}

/// Differences to the left neighbor, or the one above for the first of a row; all high bytes, then
/// all low ones.
fn plane(codes: &[u16], width: usize, wide: bool) -> Vec<u8> {
    let difference = |index: usize| {
        let before = match (index % width, index) {
            (_, 0) => 0,
            (0, _) => codes[index - width],
            _ => codes[index - 1],
        };
        codes[index].wrapping_sub(before)
    };
    let low = (0..codes.len()).map(|index| difference(index).to_be_bytes()[1]);
    if !wide {
        return low.collect();
    }
    (0..codes.len()).map(|index| difference(index).to_be_bytes()[0]).chain(low).collect()
}

/// Deflates and encodes in base64. Writing to memory does not fail; if it did, the image would be
/// empty.
fn packed(bytes: &[u8]) -> String {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    let deflated = encoder.write_all(bytes).and_then(|()| encoder.finish()).unwrap_or_default();
    STANDARD.encode(deflated)
}
