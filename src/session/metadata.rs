//! Metadata of rendered pictures: view, kinds of light, post effects.

use std::path::Path;

use glam::Mat3;

use super::open_scene::OpenScene;
use crate::{
    camera::Exposure,
    image_io::{LightPasses, RenderMetadata, RendererName},
    reference::Film,
    settings::Choice,
};

/// Post effects, which the path tracer does not render: the name in notes, and the property that
/// switches the effect off.
const POST_EFFECTS: [(&str, &str); 6] = [
    ("starbursts", "effects.starburst.enabled=false"),
    ("ghosts", "effects.ghosts.enabled=false"),
    ("bloom", "effects.bloom.enabled=false"),
    ("chromatic aberration", "effects.chromatic_aberration.enabled=false"),
    ("grain", "effects.grain.enabled=false"),
    ("dither", "passes.tonemap.dither=false"),
];

/// Name of the dither among the post effects. Both renderers dither PNGs; EXRs have none.
pub const DITHER: &str = "dither";

/// The scene of a request without one.
const STILL_LIFE: &str = "builtin:still_life";

impl OpenScene {
    /// Names of the post effects that are on, dither included.
    #[must_use]
    pub fn post_effects(&self) -> Vec<&'static str> {
        let effects = &self.effects;
        let on = [
            effects.starburst.is_some(),
            self.look.effects.has_ghosts(),
            effects.bloom.is_some(),
            effects.chromatic_aberration.is_some(),
            effects.grain.is_some(),
            self.passes().tonemap.dither,
        ];
        POST_EFFECTS.into_iter().zip(on).filter_map(|((name, _), on)| on.then_some(name)).collect()
    }

    /// Switches the post effects off. Returns the names of those that were on.
    ///
    /// # Errors
    /// [`super::SessionError::Look`] if the lens cannot be set; the scene is then unchanged.
    pub fn leave_out_post_effects(&mut self) -> Result<Vec<&'static str>, super::SessionError> {
        let on = self.post_effects();
        if let Some(timed) = &mut self.timeline {
            // At other times, other effects may be on.
            timed.assign(&POST_EFFECTS.map(|(_, off)| off.to_owned()))?;
        }
        let mut look = self.look.clone();
        for (_, off) in POST_EFFECTS.iter().filter(|(name, _)| on.contains(name)) {
            look.assign(off)?;
        }
        if !on.is_empty() {
            let camera = self.camera.0;
            self.set_look(look, self.size)?;
            // An animated camera keeps its pose.
            self.camera.0 = camera;
        }
        Ok(on)
    }

    fn metadata(
        &self,
        renderer: RendererName,
        exposure: Exposure,
        balance: Mat3,
    ) -> RenderMetadata {
        // Without its folder, which says nothing of the picture.
        let file = self.request.scene.as_deref().and_then(Path::file_name);
        let scene = file.map_or_else(|| STILL_LIFE.into(), |name| name.to_string_lossy().into());
        RenderMetadata {
            version: Some(env!("CARGO_PKG_VERSION").into()),
            renderer: Some(renderer),
            scene: Some(scene),
            camera: Some(self.camera_name.clone()),
            time: self.time(),
            ev100: Some(exposure.ev100().get()),
            white_balance: Some(balance.to_cols_array()),
            tone_mapper: Some(self.passes().tonemap.operator.name().into()),
            ..RenderMetadata::default()
        }
    }

    /// Metadata of a picture of the rasterizer with `samples` frames.
    #[must_use]
    pub fn raster_metadata(
        &self,
        exposure: Exposure,
        white_balance: Mat3,
        samples: u32,
    ) -> RenderMetadata {
        let (passes, gi) = (self.passes(), self.gi());
        let shadows = if passes.shadows.enabled { passes.shadows.method.name() } else { "off" };
        let light = LightPasses {
            indirect: Some(gi.enabled),
            indirect_specular: Some(gi.enabled && gi.specular),
            screen_space_reflections: Some(passes.ssr.enabled),
            ambient_occlusion: Some(passes.ao.enabled),
            shadows: Some(shadows.into()),
            volumes: Some(passes.volumes.enabled),
            bounces: None,
        };
        RenderMetadata {
            quality: Some(self.look.quality.tier().name().into()),
            samples: Some(f64::from(samples)),
            light,
            effects: self
                .post_effects()
                .into_iter()
                .filter(|name| *name != DITHER)
                .map(Into::into)
                .collect(),
            ..self.metadata(RendererName::Raster, exposure, white_balance)
        }
    }

    /// Metadata of a path traced picture.
    #[must_use]
    pub fn path_metadata(
        &self,
        exposure: Exposure,
        white_balance: Mat3,
        film: &Film,
    ) -> RenderMetadata {
        let settings = film.settings();
        let bounces = settings.path.bounces;
        let (width, height) = film.size();
        let light = LightPasses {
            indirect: Some(bounces > 1),
            indirect_specular: Some(bounces > 1),
            bounces: (bounces < u32::MAX).then_some(bounces),
            ..LightPasses::default()
        };
        RenderMetadata {
            samples: Some(film.total_samples() as f64 / (width * height).max(1) as f64),
            seed: Some(settings.seed),
            light,
            ..self.metadata(RendererName::Path, exposure, white_balance)
        }
    }
}
