//! Light rigs: several lights around a subject, as they are set up in a studio.

use glam::DVec3;

use super::new_light::{Properties, Subject};
use crate::{photometry::Lux, scene::look::LightShape};

/// A rig, built of rectangle lights that are aimed at the subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rig {
    /// Key from the left, a weaker fill from the right, a rim from behind.
    ThreePoint,
    /// One softbox from the left.
    SoftboxLeft,
    /// One softbox from the right.
    SoftboxRight,
    /// Two rims from behind, for dark or glossy outlines.
    RimPair,
}

/// A light of a rig.
struct RigLight {
    /// Name, numbered if it is taken.
    name: &'static str,
    /// Direction from the subject: along the camera's right, up, and from the subject to the camera.
    direction: [f64; 3],
    /// Distance from the subject's center in its radii.
    distance: f64,
    /// Illuminance relative to a single light.
    part: f64,
}

const KEY: RigLight =
    RigLight { name: "Key", direction: [-0.75, 0.55, 0.6], distance: 1.6, part: 1.0 };
const RIM_RIGHT: RigLight =
    RigLight { name: "Rim", direction: [0.55, 0.5, -0.75], distance: 1.6, part: 0.7 };

impl Rig {
    /// All rigs by name.
    pub const ALL: [(&'static str, Self); 4] = [
        ("three-point", Self::ThreePoint),
        ("softbox left", Self::SoftboxLeft),
        ("softbox right", Self::SoftboxRight),
        ("rim pair", Self::RimPair),
    ];

    const fn lights(self) -> &'static [RigLight] {
        match self {
            // A lighting ratio of 4 to 1 between key and fill.
            Self::ThreePoint => &[
                KEY,
                RigLight { name: "Fill", direction: [0.8, 0.2, 0.6], distance: 1.8, part: 0.25 },
                RIM_RIGHT,
            ],
            Self::SoftboxLeft => &[KEY],
            Self::SoftboxRight => {
                &[RigLight { name: "Key", direction: [0.75, 0.55, 0.6], distance: 1.6, part: 1.0 }]
            }
            Self::RimPair => &[
                RIM_RIGHT,
                RigLight { name: "Rim", direction: [-0.55, 0.5, -0.75], distance: 1.6, part: 0.7 },
            ],
        }
    }

    /// Its lights: names, not yet unique, and properties.
    pub(super) fn around(self, subject: &Subject) -> Vec<(&'static str, Properties)> {
        let right = subject.camera.x_axis.truncate().normalize_or(DVec3::X);
        let to_camera = subject.camera.w_axis.truncate() - subject.center;
        // Level, so that lights from behind stay above the floor.
        let back = DVec3::new(to_camera.x, 0.0, to_camera.z);
        let back = back.try_normalize().unwrap_or_else(|| right.cross(DVec3::Y));
        let one = |light: &RigLight| {
            let [x, y, z] = light.direction;
            let way = (right * x + DVec3::Y * y + back * z).normalize_or(DVec3::Y);
            let place = subject.center + way * (light.distance * subject.radius);
            let illuminance = Lux(subject.illuminance.get() * light.part);
            let lit = Subject { illuminance, ..*subject };
            (light.name, lit.light_at(LightShape::Rectangle, place))
        };
        self.lights().iter().map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Scene, build::look_at_transform, look::Look};

    #[test]
    fn rigs_are_aimed_at_the_subject_at_their_ratios() {
        let center = DVec3::new(1.0, 0.5, -2.0);
        for radius in [0.02, 5.0] {
            let camera = look_at_transform(center + DVec3::new(0.0, radius, 3.0 * radius), center);
            let subject = Subject { center, radius, camera, illuminance: Lux(1000.0) };
            for (name, rig) in Rig::ALL {
                let mut look = Look::default();
                let around = rig.around(&subject);
                for (number, (_, properties)) in around.iter().enumerate() {
                    look.set(&format!("lights.L{number}.add"), "true").unwrap();
                    for (property, value) in properties {
                        look.set(&format!("lights.L{number}.{property}"), value).unwrap();
                    }
                }
                let mut scene = Scene::default();
                look.apply(&mut scene).unwrap();
                let [nodes, lights] = [scene.nodes.len(), scene.lights.len()];
                assert_eq!([nodes, lights], [rig.lights().len(); 2], "{name}");
                for ((node, light), of_rig) in
                    scene.nodes.iter().zip(&scene.lights).zip(rig.lights())
                {
                    let from = node.local.w_axis.truncate() - center;
                    assert!((from.length() / radius / of_rig.distance - 1.0).abs() < 0.01);
                    let forward = -node.local.z_axis.truncate();
                    assert!((forward + from.normalize()).length() < 0.01, "{name}: aimed");
                    let lux = light.source.lux(from.length()).get();
                    assert!((lux / (1000.0 * of_rig.part) - 1.0).abs() < 0.1, "{name}: {lux} lx");
                    assert!(from.y > 0.0, "{name}: above the subject's center");
                    assert_eq!(from.z < 0.0, of_rig.name == "Rim", "{name}: rims are behind");
                }
            }
        }
    }
}
