//! Views of generated scenes.

use crate::{cli::error::CliError, gpu_scene::View, scene::Scene};

/// View of a generated scene's first camera for a picture size in pixels.
pub fn first_camera_view(scene: &Scene, [width, height]: [u32; 2]) -> Result<View, CliError> {
    let placed = scene.walk();
    let camera = placed
        .iter()
        .find_map(|placed| Some((placed.world, scene.cameras.get(placed.node.camera?)?)));
    let (world, camera) =
        camera.ok_or_else(|| CliError::Internal("the generated scene has no camera".into()))?;
    Ok(View::new(world, &camera.projection, width, height))
}
