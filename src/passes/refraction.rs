//! Refraction background: a mip chain of the lit opaque image, and the back faces of volumes
//! (docs/extended-materials.md).

use std::sync::{Arc, Mutex, PoisonError};

use super::{
    formats::{DEPTH, LIGHT},
    gbuffer::Gbuffer,
    lighting::LitImages,
    scene_draws::{TextureSets, draw_all, geometry_state},
    scene_frame::SceneFrame,
};
use crate::{
    gpu::{Gpu, GpuResult, GraphicsPipeline, GraphicsState},
    gpu_scene::{BACK_FACES, Draw, GpuScene},
    graph::{Graph, ImageHandle, ImageSource},
};

/// Levels of halving sizes, the full-size one first.
pub const LEVELS: usize = 6;

/// Images that refractive surfaces sample.
#[derive(Clone, Copy)]
pub struct RefractionBackground {
    /// Levels of the lit opaque image.
    pub levels: [ImageHandle; LEVELS],
    /// Back faces, unless rays find them.
    pub back_faces: Option<ImageHandle>,
}

const LEVEL_NAMES: [&str; LEVELS] = [
    "background_0",
    "background_1",
    "background_2",
    "background_3",
    "background_4",
    "background_5",
];

/// Levels of the background with their names in shaders, or placeholders if nothing refracts.
pub(super) fn level_images(
    background: Option<RefractionBackground>,
    scene: &GpuScene,
) -> [(&'static str, ImageSource); LEVELS] {
    std::array::from_fn(|level| {
        let image = background.map(|background| background.levels[level]);
        (LEVEL_NAMES[level], image.map_or_else(|| (&scene.white).into(), ImageSource::from))
    })
}

/// Back faces, or a placeholder if nothing refracts.
pub(super) fn back_face_image(
    background: Option<RefractionBackground>,
    scene: &GpuScene,
) -> ImageSource {
    background
        .and_then(|background| background.back_faces)
        .map_or_else(|| (&scene.no_back_faces).into(), ImageSource::from)
}

struct Pipelines {
    whole: Arc<GraphicsPipeline>,
    down: Arc<GraphicsPipeline>,
    back_faces: Arc<GraphicsPipeline>,
}

/// Pipelines of the refraction passes, created on demand.
pub struct RefractionPass {
    gpu: Gpu,
    made: Mutex<Option<Arc<Pipelines>>>,
}

impl RefractionPass {
    /// Creates the passes without pipelines.
    #[must_use]
    pub fn new(gpu: &Gpu) -> Self {
        Self { gpu: gpu.clone(), made: Mutex::default() }
    }

    fn pipelines(&self) -> GpuResult<Arc<Pipelines>> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pipelines) = made.as_ref() {
            return Ok(Arc::clone(pipelines));
        }
        let full = |name: &str, fragment: &str| {
            let state = GraphicsState { colors: vec![(LIGHT, false)], ..GraphicsState::default() };
            GraphicsPipeline::new(&self.gpu, name, "fullscreen.vert", fragment, &state)
        };
        let state = geometry_state(vec![(BACK_FACES, false)], true);
        let pipelines = Arc::new(Pipelines {
            whole: full("refraction background", "refraction.frag")?,
            down: full("refraction down", "refraction_downsample.frag")?,
            back_faces: GraphicsPipeline::new(
                &self.gpu,
                "refraction back faces",
                "geometry.vert",
                "refraction_back_faces.frag",
                &state,
            )?,
        });
        *made = Some(Arc::clone(&pipelines));
        Ok(pipelines)
    }

    /// Declares the passes; `None` if nothing refracts.
    pub fn declare<'a>(
        &'a self,
        g: &mut Graph<'a>,
        frame: SceneFrame<'a>,
        gbuffer: Gbuffer,
        lit: LitImages,
    ) -> Option<RefractionBackground> {
        let data = frame.data;
        if !data.draws.visible.draws.iter().any(|draw| draw.refracts) {
            return None;
        }
        let [width, height] = data.uniforms.values.size;
        let back_faces = data.refraction_bvh.is_none().then(|| self.declare_backs(g, frame));
        let mut levels = [lit.light; LEVELS];
        for (level, out) in levels.iter_mut().enumerate() {
            let side = |side: u32| side.div_ceil(1 << level).max(1);
            *out = g.image(&format!("refraction level {level}"), side(width), side(height), LIGHT);
        }
        let whole = levels[0];
        g.fullscreen_with("refraction background", move || {
            Ok(Arc::clone(&self.pipelines()?.whole))
        })
        .binds([data.uniform()])
        .sampled("depth_image", gbuffer.depth)
        .sampled("light_image", lit.light)
        .target(whole)
        .draw();
        for (index, pair) in levels.windows(2).enumerate() {
            let name = format!("refraction: down {}", index + 1);
            g.fullscreen_with(&name, move || Ok(Arc::clone(&self.pipelines()?.down)))
                .sampled("light_image", pair[0])
                .target(pair[1])
                .draw();
        }
        Some(RefractionBackground { levels, back_faces })
    }

    /// Declares the pass that draws back faces.
    fn declare_backs<'a>(&'a self, g: &mut Graph<'a>, frame: SceneFrame<'a>) -> ImageHandle {
        let data = frame.data;
        let [width, height] = data.uniforms.values.size;
        let backs_depth = g.image("refraction back faces depth", width, height, DEPTH);
        let back_faces = g.image("refraction back faces", width, height, BACK_FACES);
        g.draws("refraction back faces")
            .depth_cleared(backs_depth)
            .target(back_faces)
            .binds(frame.geometry_binds())
            .record(move |cx, bindings| {
                let pipelines = self.pipelines()?;
                // Seen from behind: winding is reversed, and double-sided surfaces count as
                // single-sided.
                let turned: Vec<Draw> = data
                    .draws
                    .visible
                    .draws
                    .iter()
                    .filter(|draw| draw.refracts)
                    .map(|draw| Draw { mirrored: !draw.mirrored, double_sided: false, ..*draw })
                    .collect();
                let draws: Vec<&Draw> = turned.iter().collect();
                let (pipeline, binds) = (&pipelines.back_faces, bindings.common());
                draw_all(cx.rec, frame, &draws, pipeline, TextureSets::Core, &binds)
            });
        back_faces
    }
}
