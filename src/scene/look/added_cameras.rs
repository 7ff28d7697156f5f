//! `cameras.NAME.*`: cameras that the look adds to a scene, each with its own pose, lens and dials.

use std::collections::BTreeMap;

use glam::{DMat4, DVec3};

use super::{
    CameraLook, LookError,
    lights::aimed,
    photographic::{
        DISTANCE, FOCAL_LENGTH, PLACE, ROLL, SECONDS, SENSOR, distance, millimeters, seconds,
        sensor,
    },
    suggestions::parent_node,
};
use crate::{
    camera::SensorSize,
    scene::{Camera, Node, Projection, Scene, address::AddressTable},
    settings::{Accepts, define::fields},
};

/// Vertical field of view of an added camera without one and without a lens (rad).
const FIELD_OF_VIEW: f64 = 40.0 * std::f64::consts::PI / 180.0;

/// Near plane as part of the scene's radius, and its limits (m).
const NEAR: f64 = 1e-3;
const NEAR_LIMITS: [f64; 2] = [1e-4, 0.1];

const FOV: Accepts = Accepts::Angle { min: 0.1, max: 170.0 };

/// A camera that the look adds; what it does not set is as in `camera.*`, except the pose.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AddedCameraLook {
    /// `add`.
    pub add: Option<bool>,
    /// `position` (m, world space or the parent's).
    pub position: Option<DVec3>,
    /// `target` (m, in the same space).
    pub target: Option<DVec3>,
    /// `roll` (rad), clockwise seen from behind the camera.
    pub roll: Option<f64>,
    /// `parent`: address of a node.
    pub parent: Option<String>,
    /// `vertical_fov` (rad).
    pub vertical_fov: Option<f64>,
    /// `focal_length` (m).
    pub focal_length: Option<f64>,
    /// `sensor`.
    pub sensor: Option<SensorSize>,
    /// `focus` (m).
    pub focus: Option<f64>,
    /// `f_stop`.
    pub f_stop: Option<f64>,
    /// `shutter` (s).
    pub shutter: Option<f64>,
    /// `iso`.
    pub iso: Option<f64>,
}

fields! {
    impl AddedCameraLook {
        add at "cameras.*.add": bool = false,
            "true or false: adds a camera of this name, which the file lacks, at its position or parent; --camera or camera.name chooses it";
        position at "cameras.*.position": DVec3, accepts PLACE, unit "m",
            "world position in meters: \"X Y Z\"; in the parent's space with cameras.*.parent";
        target at "cameras.*.target": DVec3, accepts PLACE, unit "m",
            "world position in meters at the center of the picture: \"X Y Z\"; in the parent's space with cameras.*.parent; without it the camera looks along -Z";
        roll at "cameras.*.roll": f64, accepts ROLL, unit "deg",
            "roll about the view axis in degrees, clockwise as the photographer tilts the camera, -180 to 180";
        parent at "cameras.*.parent": String, accepts Accepts::Name,
            "node of the file, by name or number (#0), that carries the camera: position and target are then in the node's space, and the camera moves with the node";
        vertical_fov at "cameras.*.vertical_fov": f64, accepts FOV, unit "deg",
            "vertical field of view in degrees, 0.1 to 170; without it and a focal length 40";
        focal_length at "cameras.*.focal_length": f64,
            accepts FOCAL_LENGTH, by millimeters, unit "mm",
            "focal length in millimeters, 0.1 to 10000, e.g. 35 or \"35mm\"; overrides camera.lens.focal_length", affects Frame;
        sensor at "cameras.*.sensor": String, accepts SENSOR, by sensor,
            "sensor format such as full-frame, super-35 or aps-c, or millimeters as \"36x24\"; overrides camera.body.sensor", affects Frame;
        focus at "cameras.*.focus": f64, accepts DISTANCE, by distance, unit "m",
            "focus distance from the lens along its axis in meters, above 0, or infinity; overrides camera.lens.focus", affects Frame;
        f_stop at "cameras.*.f_stop": f64, accepts Accepts::POSITIVE, unit "f/",
            "f-number above 0, e.g. 2.8; overrides camera.lens.f_stop", affects Frame;
        shutter at "cameras.*.shutter": f64, accepts SECONDS, by seconds, unit "s",
            "shutter time in seconds, above 0, e.g. 0.01 or \"1/100\"; overrides camera.body.shutter", affects Frame;
        iso at "cameras.*.iso": f64, accepts Accepts::POSITIVE,
            "ISO speed above 0, e.g. 100; overrides camera.body.iso", affects Frame;
    }
}

fn invalid(name: &str, property: &str, value: &str, expected: impl Into<String>) -> LookError {
    LookError::bad_value(format!("cameras.{name}.{property}"), value, expected)
}

impl AddedCameraLook {
    /// True if the look adds this camera.
    #[must_use]
    pub fn is_added(&self) -> bool {
        self.add == Some(true)
    }

    /// The camera's look: `camera.*` with this camera's own pose, lens and dials in their places.
    pub(super) fn over(&self, shared: &CameraLook) -> CameraLook {
        let mut look = shared.clone();
        (look.position, look.target, look.roll) = (None, None, None);
        if self.vertical_fov.is_some() {
            look.lens.focal_length = None;
        }
        look.lens.focal_length = self.focal_length.or(look.lens.focal_length);
        look.lens.focus = self.focus.or(look.lens.focus);
        look.body.sensor = self.sensor.or(look.body.sensor);
        look.dials.f_stop = self.f_stop.or(look.dials.f_stop);
        look.dials.shutter_s = self.shutter.or(look.dials.shutter_s);
        look.dials.iso = self.iso.or(look.dials.iso);
        look
    }

    /// The same camera without lens and dials, which are not part of the scene.
    #[must_use]
    pub fn in_scene(&self) -> Self {
        Self {
            focal_length: None,
            sensor: None,
            focus: None,
            f_stop: None,
            shutter: None,
            iso: None,
            ..self.clone()
        }
    }

    /// Transform from the camera to its parent's space.
    fn local(&self, name: &str) -> Result<DMat4, LookError> {
        let at = DMat4::from_translation(self.position.unwrap_or_default());
        let turned = match self.target {
            Some(target) => aimed(at, target).ok_or_else(|| {
                let value = format!("{} {} {}", target.x, target.y, target.z);
                let expected = "this is the camera's own position; aim it at another point";
                invalid(name, "target", &value, expected)
            })?,
            None => at,
        };
        // Clockwise from behind is about the view direction, -Z.
        Ok(self.roll.map_or(turned, |roll| turned * DMat4::from_rotation_z(-roll)))
    }
}

/// Adds the cameras of `cameras.NAME.add` to a scene.
///
/// # Errors
/// A name that the scene has already, or lacks without `add`; a camera without a place; a parent
/// that does not exist; two fields of view.
pub(super) fn apply(
    looks: &BTreeMap<String, AddedCameraLook>,
    scene: &mut Scene,
) -> Result<(), LookError> {
    if looks.is_empty() {
        return Ok(());
    }
    let radius = scene.bounds().map_or(1.0, |(low, high)| (high - low).length() / 2.0);
    let near = (radius * NEAR).clamp(NEAR_LIMITS[0], NEAR_LIMITS[1]);
    let mut made = Vec::new();
    for (name, look) in looks {
        made.push(added(name, look, scene, near)?);
    }
    for (mut node, camera) in made {
        let index = scene.nodes.len();
        node.camera = Some(scene.cameras.len());
        scene.cameras.push(camera);
        match node.parent.and_then(|parent| scene.nodes.get_mut(parent)) {
            Some(parent) => parent.children.push(index),
            None => scene.roots.push(index),
        }
        scene.nodes.push(node);
    }
    Ok(())
}

fn added(
    name: &str,
    look: &AddedCameraLook,
    scene: &Scene,
    near: f64,
) -> Result<(Node, Camera), LookError> {
    if !look.is_added() {
        let expected =
            format!("expected cameras.{name}.add = true; camera.* changes cameras of the file");
        return Err(LookError::BadValue {
            path: format!("cameras.{name}"),
            value: String::new(),
            expected,
        });
    }
    if !AddressTable::cameras(scene).find(name).is_empty() {
        let expected = "the scene has a camera of this name already; choose another name";
        return Err(invalid(name, "add", "true", expected));
    }
    if look.position.is_none() && look.parent.is_none() {
        let expected = format!("expected cameras.{name}.position too, or cameras.{name}.parent");
        return Err(invalid(name, "add", "true", expected));
    }
    if let (Some(fov), Some(_)) = (look.vertical_fov, look.focal_length) {
        let expected = format!("remove it, or cameras.{name}.focal_length, which sets it too");
        return Err(invalid(name, "vertical_fov", &fov.to_degrees().to_string(), expected));
    }
    let parent = match &look.parent {
        Some(address) => Some(parent_node(scene, &format!("cameras.{name}"), address)?),
        None => None,
    };
    let projection = Projection::Perspective {
        vertical_fov: look.vertical_fov.unwrap_or(FIELD_OF_VIEW) as f32,
        aspect: None,
        near: near as f32,
        far: None,
    };
    let node = Node { name: name.into(), parent, local: look.local(name)?, ..Node::default() };
    Ok((node, Camera { name: name.into(), projection }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{build::SceneBuilder, look::Look};

    fn scene() -> Scene {
        let mut builder = SceneBuilder::new("arm");
        builder.camera("Eye", DVec3::Z, DVec3::ZERO, 0.7, None);
        builder.add_node("Arm", DMat4::from_translation(DVec3::X));
        builder.build().unwrap()
    }

    fn with(settings: &[&str]) -> Result<(Look, Scene), LookError> {
        let (look, mut scene) = (Look::of(settings)?, scene());
        look.apply(&mut scene)?;
        Ok((look, scene))
    }

    #[test]
    fn added_cameras_have_their_own_pose_lens_and_dials() {
        let (look, scene) = with(&[
            "camera.position=9 9 9",
            "camera.lens.f_stop=8",
            "camera.lens.focal_length=50",
            "camera.body.iso=400",
            "cameras.Top.add=true",
            "cameras.Top.position=0 3 0",
            "cameras.Top.target=0 0 -1",
            "cameras.Top.vertical_fov=60",
            "cameras.Top.f_stop=f/2.8",
            "cameras.Top.shutter=1/50",
            "cameras.Side.add=true",
            "cameras.Side.parent=Arm",
            "cameras.Side.focal_length=85mm",
        ])
        .unwrap();
        crate::scene::build::check(&scene).unwrap();
        let worlds = scene.world_transforms();
        let top = scene.nodes.iter().position(|node| node.name == "Top").unwrap();
        let forward = -worlds[top].z_axis.truncate();
        assert!((forward - DVec3::new(0.0, -3.0, -1.0).normalize()).length() < 1e-12);
        let side = scene.nodes.iter().position(|node| node.name == "Side").unwrap();
        assert_eq!(worlds[side].w_axis.truncate(), DVec3::X);
        let of = |name: &str| look.camera_of(name);
        assert_eq!((of("Top").position, of("Eye").position), (None, Some(DVec3::splat(9.0))));
        assert_eq!((of("Top").lens.focal_length, of("Eye").lens.focal_length), (None, Some(0.05)));
        assert_eq!(of("Side").lens.focal_length, Some(0.085));
        assert_eq!((of("Top").dials.f_stop, of("Top").dials.iso), (Some(2.8), Some(400.0)));
        assert_eq!((of("Side").dials.f_stop, of("Top").dials.shutter_s), (Some(8.0), Some(0.02)));
        let camera = &scene.cameras[scene.nodes[top].camera.unwrap()];
        let Projection::Perspective { vertical_fov, .. } = camera.projection else { panic!() };
        assert!((f64::from(vertical_fov) - 60f64.to_radians()).abs() < 1e-6);
    }

    #[test]
    fn what_cannot_be_added_is_named_with_its_remedy() {
        let (add, at) = ("cameras.Top.add=true", "cameras.Top.position=0 1 0");
        for (settings, wanted) in [
            (&["cameras.Eye.add=true", "cameras.Eye.position=0 1 0"][..], ["already", "another"]),
            (&["cameras.Top.iso=100"], ["cameras.Top: ", "cameras.Top.add = true"]),
            (&[add], ["cameras.Top.add = true", "cameras.Top.position too"]),
            (&[add, at, "cameras.Top.target=0 1 0"], ["cameras.Top.target", "another point"]),
            (&[add, "cameras.Top.parent=Amr"], ["cameras.Top.parent = Amr", "nearest: Arm"]),
            (
                &[add, at, "cameras.Top.vertical_fov=40", "cameras.Top.focal_length=50"],
                ["cameras.Top.vertical_fov = 40", "cameras.Top.focal_length"],
            ),
        ] {
            let error = with(settings).unwrap_err();
            assert!(matches!(error, LookError::BadValue { .. }), "{settings:?}: {error:?}");
            let text = error.to_string();
            assert!(wanted.iter().all(|part| text.contains(part)), "{settings:?}: {text}");
        }
    }
}
