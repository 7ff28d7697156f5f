//! How a picture was rendered: one text of JSON in the EXR attribute and the PNG chunk `sunny16`.

use serde::{Deserialize, Serialize};

/// Name of the EXR attribute, and keyword of the PNG text chunk.
pub const NAME: &str = "sunny16";
/// Maximum length of the text in bytes; longer ones are not read.
const MAX_TEXT: usize = 1 << 16;

/// How `sunny16 render` made a picture. Absent fields are unknown.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RenderMetadata {
    /// Version of the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The renderer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renderer: Option<RendererName>,
    /// Name of the scene: a file or a built-in scene.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scene: Option<String>,
    /// Name of the camera.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub camera: Option<String>,
    /// Animation time in s; `None` for a scene at rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
    /// Quality tier; `None` without one, and for the path tracer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quality: Option<String>,
    /// Mean number of samples a pixel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<f64>,
    /// Seed of the path tracer's sampler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u32>,
    /// Exposure of the camera (EV100).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ev100: Option<f64>,
    /// White balance: 3x3 matrix of exposed linear Rec.709, column by column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub white_balance: Option<[f32; 9]>,
    /// Tone mapper of the display picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tone_mapper: Option<String>,
    /// True if an EXR holds exposed and white-balanced values instead of nits.
    pub exposed: bool,
    /// True if a filter removed noise from the whole picture: its variance is then unknown.
    pub denoised: bool,
    /// The kinds of light in the picture.
    pub light: LightPasses,
    /// Post effects in the picture, such as `bloom`.
    pub effects: Vec<String>,
    /// Post effects that `--for-compare` left out.
    pub left_out: Vec<String>,
}

/// The renderers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RendererName {
    /// The real-time rasterizer.
    Raster,
    /// The path tracer.
    Path,
}

/// The kinds of light that a picture has. `None` is unknown or does not apply to the renderer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LightPasses {
    /// Indirect light.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indirect: Option<bool>,
    /// Indirect light that surfaces reflect specularly, off screen too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indirect_specular: Option<bool>,
    /// Reflections of what is on screen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub screen_space_reflections: Option<bool>,
    /// Ambient occlusion of the environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ambient_occlusion: Option<bool>,
    /// Shadow method: `auto`, `maps` or `traced`; `off` without shadows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shadows: Option<String>,
    /// Volumes scatter and absorb light.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volumes: Option<bool>,
    /// Maximum path length of the path tracer; `None` without a limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounces: Option<u32>,
}

/// A value as JSON in ASCII, for attributes of image files.
pub fn ascii_json(value: &impl Serialize) -> String {
    let json = serde_json::to_string(value).unwrap_or_default();
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_ascii() {
            text.push(c);
        } else {
            // JSON escapes are UTF-16.
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                text.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    text
}

impl RenderMetadata {
    /// The text for a file, in ASCII: both formats allow Latin-1 alone.
    #[must_use]
    pub fn to_text(&self) -> String {
        ascii_json(self)
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// The text is too long, or no JSON of these fields. Unknown fields are ignored.
    pub fn from_text(text: &[u8]) -> Result<Self, String> {
        if text.len() > MAX_TEXT {
            return Err(format!("{} bytes; expected at most {MAX_TEXT}", text.len()));
        }
        serde_json::from_slice(text).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_ascii_and_keeps_every_field() {
        let metadata = RenderMetadata {
            renderer: Some(RendererName::Path),
            scene: Some("caf\u{e9} \u{1f4a1} \"a\"\n.glb".into()),
            ev100: Some(8.1),
            white_balance: Some([1.1, 0.0, 0.0, 0.0, 0.9, 0.0, 0.0, 0.1, 1.0 / 3.0]),
            light: LightPasses { indirect: Some(true), ..LightPasses::default() },
            effects: vec!["bloom".into()],
            ..RenderMetadata::default()
        };
        let text = metadata.to_text();
        assert!(text.is_ascii() && !text.contains('\n'), "{text}");
        assert_eq!(RenderMetadata::from_text(text.as_bytes()).unwrap(), metadata);
    }

    #[test]
    fn unknown_fields_pass_and_other_texts_fail() {
        let other = RenderMetadata::from_text(br#"{"ev100": 3, "later": [1]}"#).unwrap();
        assert_eq!(other, RenderMetadata { ev100: Some(3.0), ..RenderMetadata::default() });
        for text in [&b"{"[..], b"[]x", b"\xff", br#"{"ev100": "bright"}"#, &[b' '; MAX_TEXT + 1]] {
            assert!(RenderMetadata::from_text(text).is_err());
        }
    }
}
