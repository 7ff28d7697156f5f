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
        look::{Look, LookError},
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

pub(super) fn choose_camera(
    args: &OpenRequest,
    look: &Look,
    scene: &Scene,
) -> Result<Chosen, SessionError> {
    let cameras = AddressTable::cameras(scene);
    let wanted = args.camera.as_deref().or(look.camera.name.as_deref());
    let found = match wanted {
        Some(name) => Some(cameras.find(name).first().copied().ok_or_else(|| {
            let names = cameras.suggestions();
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
        })?),
        None => cameras.list().first().map(|camera| camera.index),
    };
    let placed = |world: DMat4| look.camera.placed(world);
    let chosen = found.and_then(|found| {
        let at = scene.walk().into_iter().find(|at| at.index == found)?;
        let camera = scene.cameras.get(at.node.camera?)?;
        let names = [&camera.name, &at.node.name];
        let own = names.into_iter().find(|name| !name.is_empty()).cloned();
        let name = own.unwrap_or_else(|| format!("#{}", at.node.camera.unwrap_or(0)));
        Some((name, Some(found), placed(at.world), camera.projection))
    });
    Ok(match chosen {
        Some(chosen) => chosen,
        None => {
            let size =
                args.size.map_or(16.0 / 9.0, |size| f64::from(size.width) / f64::from(size.height));
            let (world, projection) = defaults::framing_camera(scene, size);
            ("framed on the scene".into(), None, placed(world), projection)
        }
    })
}
