//! Contact sheets: the pictures of a set or a sequence with captions, as a PNG or an HTML page.

use std::{
    fs,
    path::{Component, Path, PathBuf},
};

use super::error::{CliError, unreadable_picture};
use crate::{
    camera::scopes::{
        Raster,
        font::{HEIGHT, text_width},
    },
    compare::report::escaped,
    image_io::coded_image::{CodeReader, Codec},
    output,
    photometry::color::{srgb_eotf_f32, srgb_oetf_f32},
};

/// Greatest width and height of a thumbnail in pixels.
const THUMBNAIL: usize = 320;

/// Room between thumbnails in pixels.
const GAP: usize = 12;

/// Pixels of a dot of the captions' font, large and small.
const DOTS: [usize; 2] = [2, 1];

/// Room between two lines of a caption in pixels.
const LEADING: usize = 3;

/// Greatest number of pictures of a PNG: 64 MB.
const MAX_PICTURES: usize = 256;

/// Memory limit of a picture's decoder in bytes.
const MAX_DECODED: u64 = 1 << 32;

const BACKGROUND: [u8; 3] = [32, 32, 32];
const TEXT: [u8; 3] = [220, 220, 220];

/// A picture of a sheet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SheetPicture {
    pub caption: String,
    /// Its PNG.
    pub file: PathBuf,
}

/// Checks before rendering the format of a sheet of this many pictures.
pub fn check(sheet: &Path, pictures: usize) -> Result<(), CliError> {
    let is_page = output::has_extension(sheet, "html");
    if !is_page && !output::has_extension(sheet, "png") {
        return Err(CliError::Usage(format!(
            "invalid --contact-sheet '{}': expected a name that ends in .png or .html",
            sheet.display()
        )));
    }
    if !is_page && pictures > MAX_PICTURES {
        return Err(CliError::Usage(format!(
            "--contact-sheet {}: a PNG has at most {MAX_PICTURES} pictures and these are \
             {pictures}; write an .html",
            sheet.display()
        )));
    }
    Ok(())
}

/// Writes a sheet.
pub fn write(sheet: &Path, pictures: &[SheetPicture]) -> Result<(), CliError> {
    output::create_folder(sheet)?;
    if output::has_extension(sheet, "html") {
        return Ok(output::write_text(sheet, &page(sheet, pictures))?);
    }
    let made = drawn(pictures)?;
    Ok(output::write_png(sheet, made.width(), made.height(), made.rgba())?)
}

/// The pictures in rows, each above its caption.
fn drawn(pictures: &[SheetPicture]) -> Result<Raster, CliError> {
    let thumbnails: Vec<Raster> =
        pictures.iter().map(|picture| thumbnail(&picture.file)).collect::<Result<_, _>>()?;
    let largest = |side: fn(&Raster) -> usize| thumbnails.iter().map(side).max().unwrap_or(1);
    let (width, height) = (largest(Raster::width), largest(Raster::height));
    let caption = DOTS[0] * HEIGHT + LEADING;
    let cell = [width + GAP, height + caption + 2 * GAP];
    // About as wide as high.
    let columns = (thumbnails.len() as f64 * cell[1] as f64 / cell[0] as f64).sqrt().ceil();
    let columns = (columns as usize).clamp(1, thumbnails.len().max(1));
    let rows = thumbnails.len().div_ceil(columns);
    let mut sheet = Raster::new(columns * cell[0] + GAP, rows * cell[1] + GAP, BACKGROUND);
    for (index, (picture, thumbnail)) in pictures.iter().zip(&thumbnails).enumerate() {
        let at = [GAP + index % columns * cell[0], GAP + index / columns * cell[1]];
        sheet.paste(at, thumbnail);
        let (dot, lines) = fitted(&picture.caption, width);
        for (line, text) in lines.iter().enumerate() {
            let y = at[1] + height + GAP / 2 + line * (dot * HEIGHT + LEADING);
            sheet.text([at[0], y], dot, text, TEXT);
        }
    }
    Ok(sheet)
}

/// Size of a dot and lines of a caption that fit `width` pixels: one large line, one small line, or
/// two small lines split after a comma, of which each is shortened if it is too long.
fn fitted(caption: &str, width: usize) -> (usize, Vec<String>) {
    let fits = |text: &str, dot: usize| text_width(text) * dot <= width;
    if let Some(dot) = DOTS.into_iter().find(|dot| fits(caption, *dot)) {
        return (dot, vec![caption.to_owned()]);
    }
    let ends = caption.match_indices(", ").map(|(at, _)| at + 1);
    let first = ends.take_while(|&end| fits(caption[..end].trim(), DOTS[1])).last();
    let (first, second) = caption.split_at(first.unwrap_or(0));
    let lines = [first, second.trim()].into_iter().filter(|line| !line.is_empty());
    let shortened = |line: &str| {
        let mut text = line.to_owned();
        if !fits(&text, DOTS[1]) {
            while !text.is_empty() && !fits(&format!("{text}.."), DOTS[1]) {
                text.pop();
            }
            text.push_str("..");
        }
        text
    };
    (DOTS[1], lines.map(shortened).collect())
}

/// A picture at most `THUMBNAIL` pixels wide and high: means of linear light.
fn thumbnail(file: &Path) -> Result<Raster, CliError> {
    let unreadable = |cause: String| unreadable_picture(file, cause);
    let bytes = fs::read(file).map_err(|error| unreadable(error.to_string()))?;
    let reader = CodeReader::new(&bytes, Codec::Png, MAX_DECODED).map_err(unreadable)?;
    let [width, height] = reader.size().map(|side| side as usize);
    let rgba = reader.decode().map_err(unreadable)?.into_rgba8();
    let scale = (THUMBNAIL as f64 / width.max(height) as f64).min(1.0);
    let size = [width, height].map(|side| ((side as f64 * scale).round() as usize).max(1));
    let mut made = Raster::new(size[0], size[1], BACKGROUND);
    let linear: [f32; 256] = std::array::from_fn(|code| srgb_eotf_f32(code as f32 / 255.0));
    let span = |at: usize, of: usize, from: usize| at * from / of..((at + 1) * from).div_ceil(of);
    for y in 0..size[1] {
        for x in 0..size[0] {
            let (mut sum, mut count) = ([0f32; 3], 0f32);
            for row in span(y, size[1], height) {
                for column in span(x, size[0], width) {
                    let pixel = rgba.get((row * width + column) * 4..).unwrap_or_default();
                    for (sum, code) in sum.iter_mut().zip(pixel) {
                        *sum += linear.get(usize::from(*code)).copied().unwrap_or(0.0);
                    }
                    count += 1.0;
                }
            }
            made.set(x, y, sum.map(|sum| (srgb_oetf_f32(sum / count) * 255.0).round() as u8));
        }
    }
    Ok(made)
}

/// The HTML page; its pictures are links relative to it.
fn page(sheet: &Path, pictures: &[SheetPicture]) -> String {
    let mut page = String::from(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <title>Contact sheet</title>\n<style>\nbody { background: #202020; color: #dcdcdc; \
         font: 14px sans-serif; display: flex; flex-wrap: wrap; gap: 12px; }\n\
         figure { margin: 0; width: 320px; }\nimg { width: 100%; }\n\
         figcaption { overflow-wrap: anywhere; }\n</style>\n",
    );
    for SheetPicture { caption, file } in pictures {
        let link = link(sheet, file);
        let caption = escaped(caption);
        page += &format!(
            "<figure><a href=\"{link}\"><img src=\"{link}\" alt=\"{caption}\" loading=\"lazy\"></a>\
             <figcaption>{caption}</figcaption></figure>\n"
        );
    }
    page + "</html>\n"
}

/// The absolute path of a file without `..` and symbolic links in its folder, which exists.
fn canonical(file: &Path) -> PathBuf {
    let absolute = std::path::absolute(file).unwrap_or_else(|_| file.to_path_buf());
    match (absolute.parent().map(Path::canonicalize), absolute.file_name()) {
        (Some(Ok(folder)), Some(name)) => folder.join(name),
        _ => absolute,
    }
}

/// Percent-encoded path of a file relative to the folder of a page (RFC 3986, section 2.1).
fn link(page: &Path, file: &Path) -> String {
    let (page, file) = (canonical(page), canonical(file));
    let parts = |path: &Path| -> Vec<Vec<u8>> {
        let names = path.components().filter(|part| !matches!(part, Component::RootDir));
        names.map(|part| part.as_os_str().as_encoded_bytes().to_vec()).collect()
    };
    let (folder, file) = (parts(page.parent().unwrap_or(Path::new(""))), parts(&file));
    let shared = folder.iter().zip(&file).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..".to_owned(), folder.len() - shared);
    let encoded = |name: &Vec<u8>| -> String {
        let byte = |b: &u8| match *b {
            b if b.is_ascii_alphanumeric() || b"-._~=+".contains(&b) => char::from(b).to_string(),
            b => format!("%{b:02X}"),
        };
        name.iter().map(byte).collect()
    };
    up.chain(file.iter().skip(shared).map(encoded)).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(dir: &Path, name: &str, color: [u8; 3], size: [usize; 2]) -> SheetPicture {
        let raster = Raster::new(size[0], size[1], color);
        let file = dir.join(name);
        output::write_png(&file, size[0], size[1], raster.rgba()).unwrap();
        SheetPicture { caption: name.into(), file }
    }

    #[test]
    fn thumbnails_keep_color_and_aspect_and_captions_stand_below() {
        let dir = tempfile::tempdir().unwrap();
        let pictures = [
            picture(dir.path(), "a.png", [200, 40, 10], [640, 360]),
            picture(dir.path(), "b.png", [10, 40, 200], [64, 36]),
        ];
        let first = thumbnail(&pictures[0].file).unwrap();
        assert_eq!((first.width(), first.height()), (320, 180));
        assert_eq!(first.get(100, 100), Some([200, 40, 10]));
        // Small pictures are not enlarged.
        assert_eq!(thumbnail(&pictures[1].file).unwrap().width(), 64);
        let sheet = drawn(&pictures).unwrap();
        assert_eq!(sheet.get(GAP, GAP), Some([200, 40, 10]));
        let caption =
            (GAP + 180..GAP + 180 + GAP + 14).flat_map(|y| (GAP..80).map(move |x| (x, y)));
        assert!(caption.into_iter().any(|(x, y)| sheet.get(x, y) == Some(TEXT)));
    }

    #[test]
    fn means_are_of_linear_light() {
        let dir = tempfile::tempdir().unwrap();
        let mut raster = Raster::new(640, 2, [0; 3]);
        (0..640).step_by(2).for_each(|x| raster.fill([x, 0], [1, 2], [255; 3]));
        let file = dir.path().join("stripes.png");
        output::write_png(&file, 640, 2, raster.rgba()).unwrap();
        // Half of white: 188 by the sRGB curve.
        assert_eq!(thumbnail(&file).unwrap().get(7, 0), Some([188; 3]));
    }

    #[test]
    fn long_captions_are_small_then_in_two_lines_and_then_short() {
        let lines = |caption: &str| fitted(caption, 320);
        assert_eq!(lines("abc"), (2, vec!["abc".into()]));
        assert_eq!(lines(&"a".repeat(40)), (1, vec!["a".repeat(40)]));
        let [kelvin, stop] = ["a", "b"].map(|letter| format!("{}=1", letter.repeat(35)));
        let both = vec![format!("{kelvin},"), stop.clone()];
        assert_eq!(lines(&format!("{kelvin}, {stop}")), (1, both));
        for caption in ["a".repeat(400), format!("{kelvin}, {}", "b".repeat(400))] {
            let (dot, lines) = lines(&caption);
            assert!(dot == 1 && lines.last().unwrap().ends_with(".."), "{lines:?}");
            assert!(lines.iter().all(|line| text_width(line) <= 320), "{lines:?}");
        }
    }

    #[test]
    fn links_have_no_parents_of_folders_that_exist() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("a/b")).unwrap();
        let link = |page: &str, file: &str| link(&dir.path().join(page), &dir.path().join(file));
        assert_eq!(link("a/../s.html", "a/b/x.png"), "a/b/x.png");
        assert_eq!(link("a/b/s.html", "a/b/../x.png"), "../x.png");
        assert_eq!(link("a/b/../s.html", "a/b/../../a/x.png"), "x.png");
    }

    #[test]
    fn links_are_relative_and_encoded() {
        let link = |page: &str, file: &str| link(Path::new(page), Path::new(file));
        assert_eq!(link("/a/b/s.html", "/a/b/c/d e.png"), "c/d%20e.png");
        assert_eq!(link("/a/b/s.html", "/a/x#1.png"), "../x%231.png");
        assert_eq!(link("s.html", "t/kelvin=2700.png"), "t/kelvin=2700.png");
        let page = page(
            Path::new("s.html"),
            &[SheetPicture { caption: "<b>&".into(), file: "x.png".into() }],
        );
        assert!(
            page.contains("<figcaption>&lt;b&gt;&amp;</figcaption>")
                && page.contains("src=\"x.png\"")
        );
    }
}
