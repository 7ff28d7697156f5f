//! Limits that took effect in an image: of camera effects (docs/camera-effects.md, "Limits"), of
//! half floats and of rays.
//!
//! Their sentences are warnings, or notes if they begin with `note:`.

use std::collections::BTreeSet;

use super::readback::{decode_half2, decode_u32};
use crate::{
    gpu::{
        GpuResult,
        shader_structs::{
            effects::HIGHLIGHTS_PER_TILE, flare_sources::MAX_SOURCES, limits::LimitCounters,
        },
    },
    graph::{BufferHandle, Graph},
    message::counted,
    passes::{
        depth_of_field::CocLimit, flare_sources::FlareSources, limit_counters,
        motion_blur::MotionBlurLimit,
    },
};

/// An effect's extent that was clamped to its limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClampedEffect {
    /// Unclamped extent in pixels.
    pub requested: f32,
    /// Drawn extent in pixels.
    pub clamped: f32,
}

impl ClampedEffect {
    /// `None` if the extent is not clamped, within the precision of a half float.
    fn of(requested: f32, drawn: f32) -> Option<Self> {
        (requested.is_finite() && requested > drawn * (1.0 + 1.0 / 512.0))
            .then_some(Self { requested, clamped: drawn })
    }
}

/// Fraction of a picture's pixels below which cut paths are not counted: what they lack is then
/// less than noise.
const MIN_CUT_PATHS: f64 = 1e-3;

/// Limits that took effect in an image; none by default.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FrameLimits {
    /// Longest motion of a pixel while the shutter is open.
    pub motion_blur: Option<ClampedEffect>,
    /// Radius of the greatest circle of confusion.
    pub depth_of_field: Option<ClampedEffect>,
    /// Number of highlights without a bokeh disk of their own, in tiles with more than the limit.
    pub bokeh_dropped: u32,
    /// Number of bright sources without a starburst, because more brighter ones exist than the
    /// limit.
    pub starbursts_dropped: u32,
    /// Counts of shaders. Points, paths and rays are 0 below a thousandth of the pixels.
    pub counters: LimitCounters,
}

impl FrameLimits {
    /// These limits of the last frame of a picture, with the greatest counts of limits in shaders
    /// of this and another frame: which pixels and paths exceed them depends on samples.
    pub(super) fn with_counts_of(self, other: &Self) -> Self {
        Self { counters: combined(self.counters, other.counters, u32::max), ..self }
    }

    /// One sentence for each limit: a note for paths that end early, otherwise a warning.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let motion = self.motion_blur.map(|ClampedEffect { requested, clamped: drawn }| {
            format!(
                "motion blur: the longest motion while the shutter is open is {requested:.0} pixels \
                 and is clamped to {drawn:.0} pixels, a quarter of the picture's height; shorten \
                 effects.motion_blur.shutter, or use --renderer \
                 path, which has no limit"
            )
        });
        let depth = self.depth_of_field.map(|ClampedEffect { requested, clamped: drawn }| {
            format!(
                "depth of field: the greatest circle of confusion has a radius of {requested:.0} \
                 pixels and is clamped to {drawn:.0} (at most 384 and half the picture's smaller \
                 side); stop down, or use --renderer path, which has \
                 no limit"
            )
        });
        let bokeh = (self.bokeh_dropped > 0).then(|| {
            format!(
                "bokeh: limited to {HIGHLIGHTS_PER_TILE} highlights in a tile of 16x16 pixels; {} \
                 more are blurred with the rest of the picture",
                self.bokeh_dropped
            )
        });
        let starburst = (self.starbursts_dropped > 0).then(|| {
            format!(
                "starbursts: limited to {MAX_SOURCES} sources, the brightest first; {} others have \
                 none",
                self.starbursts_dropped
            )
        });
        let said = |count: u32, thing: &str, what: &str| {
            (count > 0).then(|| what.replace("{}", &counted(count as usize, thing)))
        };
        let clamped = said(
            self.counters.clamped_values,
            "value",
            "light range: {} of light above 65,504 times white clamped to it (a pixel counts once \
             for each pass that clamps it), which dims bloom and the file's nits there; expose \
             darker (a higher camera.exposure.ev100), or use --renderer path, which has no limit \
             (docs/gbuffer.md)",
        );
        let refraction = said(
            self.counters.refraction_points,
            "point",
            "note: refraction: {} of refracting surfaces with more paths than rays (32 of a smooth \
             surface, 10 of each facet of a rough one; a pixel counts once for each surface); the \
             other paths take the light of their direction; use --renderer path, which has no \
             limit (docs/extended-materials.md)",
        );
        let mirrors = said(
            self.counters.mirror_paths,
            "path",
            "note: mirror paths: {} of reflections end at a reflecting surface, the fourth; what it \
             reflects is black; use --renderer path, which has no limit \
             (docs/instant-radiosity.md, Limits)",
        );
        let panes = said(
            self.counters.pane_rays,
            "ray",
            "note: clear panes: {} of indirect light end at a clear pane after four others, which \
             counts as a wall; use --renderer path, which has no limit \
             (docs/instant-radiosity.md, Limits)",
        );
        let large = said(
            self.counters.large_flare_sources,
            "source",
            "large starbursts: {} without spikes, with images on the sensor of a radius above 1.6 \
             mm times the f-number; stop down, or move the camera away \
             (docs/starburst.md, Limits)",
        );
        [motion, depth, bokeh, starburst, large, clamped, refraction, mirrors, panes]
            .into_iter()
            .flatten()
            .collect()
    }
}

/// Kinds of limits whose warning was shown: their numbers differ from frame to frame.
#[derive(Clone, Debug, Default)]
pub struct ShownLimits(BTreeSet<String>);

impl ShownLimits {
    /// The sentences whose kind, the text before the colon, has not been shown; they count as
    /// shown.
    pub fn select(&mut self, mut sentences: Vec<String>) -> Vec<String> {
        let kind = |text: &str| {
            let text = text.strip_prefix("note: ").unwrap_or(text);
            text.split(':').next().unwrap_or_default().to_owned()
        };
        sentences.retain(|text| self.0.insert(kind(text)));
        sentences
    }
}

/// Pending readbacks of the passes' limits.
pub(super) struct LimitReports {
    motion_blur: Option<(BufferHandle, f32)>,
    depth_of_field: Option<(BufferHandle, f32)>,
    starburst: Option<BufferHandle>,
    /// With the number of pixels whose paths each counts.
    counters: Vec<(BufferHandle, u32)>,
}

impl LimitReports {
    /// Declares the readbacks. `bright` holds the sources of starbursts, `counters` buffers of
    /// `passes::limit_counters` with the size of the image whose pixels they count (pixels).
    pub(super) fn declare(
        g: &mut Graph<'_>,
        (motion_blur, depth_of_field): (Option<MotionBlurLimit>, Option<CocLimit>),
        bright: Option<FlareSources>,
        counters: [Option<(BufferHandle, [u32; 2])>; 2],
    ) -> Self {
        let motion_blur =
            motion_blur.map(|bound| (g.read_back("motion blur tiles", bound.longest), bound.drawn));
        let depth_of_field = depth_of_field.map(|bound| {
            let size = 2 * u64::from(bound.tiles) * 4;
            (g.read_back_buffer("depth of field counts", bound.counts, size), bound.drawn)
        });
        // The list's header: the number of sources kept and dropped.
        let starburst =
            bright.map(|bright| g.read_back_buffer("starburst sources", bright.list, 16));
        let names = ["limit counters", "gi limit counters"];
        let counters = (names.into_iter().zip(counters))
            .filter_map(|(name, from)| {
                let (buffer, [width, height]) = from?;
                let read = g.read_back_buffer(name, buffer, limit_counters::SIZE);
                Some((read, width.saturating_mul(height)))
            })
            .collect();
        Self { motion_blur, depth_of_field, starburst, counters }
    }

    /// The limits that took effect, decoded from the readbacks.
    pub(super) fn read(
        &self,
        bytes: impl Fn(BufferHandle) -> GpuResult<Vec<u8>>,
    ) -> GpuResult<FrameLimits> {
        let mut limits = FrameLimits::default();
        if let Some((handle, drawn)) = self.motion_blur {
            let bytes = bytes(handle)?;
            let longest = decode_half2(&bytes).map(|[x, y, ..]| x.hypot(y)).fold(0.0, f32::max);
            limits.motion_blur = ClampedEffect::of(longest, drawn);
        }
        if let Some((handle, drawn)) = self.depth_of_field {
            let words: Vec<u32> = bytes(handle)?.chunks_exact(4).map(decode_u32).collect();
            let greatest = words[words.len() / 2..]
                .iter()
                .map(|&bits| f32::from_bits(bits))
                .fold(0.0, f32::max);
            limits.depth_of_field = ClampedEffect::of(greatest, drawn);
            limits.bokeh_dropped = bokeh_dropped(&words[..words.len() / 2]);
        }
        if let Some(handle) = self.starburst {
            let words: Vec<u32> = bytes(handle)?.chunks_exact(4).map(decode_u32).collect();
            limits.starbursts_dropped = words.get(DROPPED_WORD).copied().unwrap_or_default();
        }
        for &(handle, pixels) in &self.counters {
            let counters: LimitCounters = bytemuck::pod_read_unaligned(&bytes(handle)?);
            let counters = visible(counters, pixels);
            limits.counters = combined(limits.counters, counters, u32::saturating_add);
        }
        Ok(limits)
    }
}

/// The counters without paths and rays that are too few to be seen in a picture of so many pixels.
fn visible(counters: LimitCounters, pixels: u32) -> LimitCounters {
    let few = |count: u32| f64::from(count) < MIN_CUT_PATHS * f64::from(pixels);
    let kept = |count: u32| if few(count) { 0 } else { count };
    LimitCounters {
        refraction_points: kept(counters.refraction_points),
        mirror_paths: kept(counters.mirror_paths),
        pane_rays: kept(counters.pane_rays),
        ..counters
    }
}

/// Each count of two sets of counters, combined.
fn combined(
    mut counters: LimitCounters,
    other: LimitCounters,
    combine: fn(u32, u32) -> u32,
) -> LimitCounters {
    let counts: &mut [u32] = bytemuck::cast_slice_mut(std::slice::from_mut(&mut counters));
    let others: &[u32] = bytemuck::cast_slice(std::slice::from_ref(&other));
    counts.iter_mut().zip(others).for_each(|(count, other)| *count = combine(*count, *other));
    counters
}

/// Highlights beyond the limit of their tile, by the number of each tile.
fn bokeh_dropped(counts: &[u32]) -> u32 {
    counts.iter().map(|count| count.saturating_sub(HIGHLIGHTS_PER_TILE)).sum()
}

/// Word of the source list that counts the dropped sources (`bright_dropped` in the shaders).
const DROPPED_WORD: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_that_act_are_said() {
        assert!(FrameLimits::default().warnings().is_empty());
        assert_eq!(
            [ClampedEffect::of(40.0, 40.0), ClampedEffect::of(f32::INFINITY, 40.0)],
            [None, None]
        );
        let limits = FrameLimits {
            motion_blur: ClampedEffect::of(67.5, 40.0),
            depth_of_field: ClampedEffect::of(500.0, 384.0),
            bokeh_dropped: bokeh_dropped(&[64, 0, 70]),
            starbursts_dropped: 3,
            ..FrameLimits::default()
        };
        let said = limits.warnings();
        assert_eq!(said.len(), 4);
        // Another number of the same limit is no news.
        let mut shown = ShownLimits::default();
        let less = FrameLimits { starbursts_dropped: 2, ..FrameLimits::default() };
        assert_eq!(shown.select(less.warnings()).len(), 1);
        assert_eq!(shown.select(said.clone()), said[..3]);
        assert!(shown.select(said.clone()).is_empty());
        for (said, parts) in said.iter().zip([
            ["motion blur", "68", "40"],
            ["radius", "500", "384"],
            ["bokeh", "64", "6 more"],
            ["64", "3", "have none"],
        ]) {
            assert!(parts.iter().all(|part| said.contains(part)), "{said}");
        }
    }

    #[test]
    fn counts_of_shaders_are_said_with_their_greatest_number() {
        let with = |counters| FrameLimits { counters, ..FrameLimits::default() };
        let none = LimitCounters::default();
        let first = with(LimitCounters { clamped_values: 7, mirror_paths: 1, ..none });
        let second = with(LimitCounters { refraction_points: 12, pane_rays: 3, ..none });
        let last = with(LimitCounters { clamped_values: 5, large_flare_sources: 2, ..none });
        let all = last.with_counts_of(&first).with_counts_of(&second);
        let said = all.warnings();
        for (said, part) in said.iter().zip([
            "2 sources without",
            "7 values of",
            "note: refraction: 12 points of",
            "note: mirror paths: 1 path of",
            "note: clear panes: 3 rays of",
        ]) {
            assert!(said.contains(part) && said.contains("docs/"), "{said}");
        }
        assert_eq!(said.len(), 5);
        assert_eq!(ShownLimits::default().select(said.clone()), said);
    }

    #[test]
    fn few_cut_paths_are_not_said() {
        let counted = LimitCounters {
            clamped_values: 1,
            refraction_points: 8,
            mirror_paths: 9,
            pane_rays: 10,
            large_flare_sources: 1,
        };
        assert_eq!(visible(counted, 8_000), counted);
        let nine_thousand = visible(counted, 9_000);
        assert_eq!(nine_thousand, LimitCounters { refraction_points: 0, ..counted });
        let many = visible(counted, 1280 * 720);
        assert_eq!((many.clamped_values, many.large_flare_sources), (1, 1));
        assert_eq!((many.refraction_points, many.mirror_paths, many.pane_rays), (0, 0, 0));
    }
}
