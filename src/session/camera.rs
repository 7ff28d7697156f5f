//! The camera of a session: its choice, and the lens that the look mounts on it.

use std::sync::Arc;

use glam::DMat4;

use super::{error::SessionError, request::OpenRequest, size::Size};
use crate::{
    camera::{Camera, CameraEffects},
    optics::MountedLens,
    scene::{
        Projection, Scene,
        address::AddressTable,
        defaults,
        look::{CameraLook, Look, LookError},
    },
};

/// Projection, effects, and the prescription's lens if there is one.
pub(super) type MountedCamera = (Projection, CameraEffects, Option<Arc<MountedLens>>);

/// Projection and effects of the camera's lens; a focal length replaces the file's field of view.
/// `mounted` is the prescription's lens if it is already set for this camera and size.
pub(super) fn mount_camera(
    camera: &Camera,
    mut projection: Projection,
    size: Size,
    mounted: Option<Arc<MountedLens>>,
) -> Result<MountedCamera, SessionError> {
    let Projection::Perspective { vertical_fov, aspect, .. } = &mut projection else {
        let mounted = camera.mount(None, [size.width, size.height], None)?;
        return Ok((projection, mounted.effects, None));
    };
    let fov = Some(f64::from(*vertical_fov));
    let mounted = camera.mount(fov, [size.width, size.height], mounted)?;
    if let Some(fov) = mounted.vertical_fov {
        *vertical_fov = fov as f32;
        *aspect = Some((f64::from(size.width) / f64::from(size.height)) as f32);
    }
    Ok((projection, mounted.effects, mounted.lens))
}

/// Name, node, camera-to-world transform and projection of the camera.
pub(super) type Chosen = (String, Option<usize>, DMat4, Projection);

/// The node of the camera that request or look choose, else of the scene's first; `None` in a scene
/// without cameras.
fn chosen_node(
    args: &OpenRequest,
    look: &Look,
    scene: &Scene,
) -> Result<Option<usize>, SessionError> {
    let cameras = AddressTable::cameras(scene);
    let Some(name) = args.camera.as_deref().or(look.camera.name.as_deref()) else {
        return Ok(cameras.list().first().map(|camera| camera.index));
    };
    cameras.find(name).first().copied().map(Some).ok_or_else(|| {
        let names = cameras.addresses();
        let there =
            if names.is_empty() { "no camera; omit the name".into() } else { names.join(", ") };
        let expected = format!("{} has no camera '{name}'; it has {there}", args.name());
        match args.camera {
            Some(_) => SessionError::InvalidRequest(expected),
            None => {
                let (path, value) = ("camera.name".into(), name.into());
                LookError::BadValue { path, value, expected }.into()
            }
        }
    })
}

/// Name of a node's camera, or of the camera that is framed on the scene.
fn name_of(node: Option<usize>, scene: &Scene) -> String {
    let Some(node) = node.and_then(|node| scene.nodes.get(node)) else {
        return "framed on the scene".into();
    };
    let camera = node.camera.and_then(|camera| scene.cameras.get(camera));
    let names = [camera.map_or("", |camera| &camera.name), node.name.as_str()];
    let own = names.into_iter().find(|name| !name.is_empty()).map(str::to_owned);
    own.unwrap_or_else(|| format!("#{}", node.camera.unwrap_or(0)))
}

/// `camera.*` as they apply to the chosen camera: an added one has a pose, lens and dials of its
/// own.
pub(super) fn chosen_look(
    args: &OpenRequest,
    look: &Look,
    scene: &Scene,
) -> Result<CameraLook, SessionError> {
    Ok(look.camera_of(&name_of(chosen_node(args, look, scene)?, scene)))
}

pub(super) fn choose_camera(
    args: &OpenRequest,
    look: &Look,
    scene: &Scene,
) -> Result<Chosen, SessionError> {
    let node = chosen_node(args, look, scene)?;
    let name = name_of(node, scene);
    let own = look.camera_of(&name);
    let chosen = node.and_then(|node| {
        let at = scene.walk().into_iter().find(|at| at.index == node)?;
        Some((at.world, scene.cameras.get(at.node.camera?)?.projection))
    });
    let (world, projection) = chosen.unwrap_or_else(|| {
        let size =
            args.size.map_or(16.0 / 9.0, |size| f64::from(size.width) / f64::from(size.height));
        defaults::framing_camera(scene, size)
    });
    Ok((name, node, own.placed(world), projection))
}
