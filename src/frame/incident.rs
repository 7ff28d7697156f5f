//! Incident light: the illuminance at a point of a scene, measured as a person would with white
//! cards.
//!
//! Cards of a fortieth of a millimetre are put into a copy of the scene and rendered by the frame
//! as it is, so that whatever lights the pictures lights the cards: every kind of light, their
//! profiles and their shadows. A card is matte and white, and a camera looks at it from nearly
//! straight above, so that its diffuse luminance is `(1 - F0) E / pi`: the Fresnel term of the BRDF
//! depends on the angle to the half vector and hardly leaves F0 up to 45 degrees.

use std::f64::consts::{PI, TAU};

use glam::{DMat4, DQuat, DVec2, DVec3, Vec2, Vec3};

use super::{AoSettings, Aov, ClusteredLightSettings, RenderSettings, Renderer, ShadowSettings};
use crate::{
    camera::{Exposure, exposure::Receptor},
    gpu::GpuError,
    passes::{GpuScene, View},
    photometry::{Ev100, Lux, color::luminance},
    scene::{
        Node, Projection, Scene,
        build::{dielectric, look_at_transform},
        look::ShadowMethod,
        procedural::shapes,
    },
};

/// Half of a card's edge (m).
const HALF: f64 = 1.25e-5;

/// How far (m) a card's middle lies above the point, along the receptor's axis: the point may be on
/// a surface.
const LIFT: f64 = 2.5e-5;

/// From card to card (m): ten times their size, so that they stand hardly in each other's light.
const PITCH: f64 = 2.5e-4;

/// The part of light that enters a dielectric seen from straight above: 1 - F0 of the BRDF
/// (shaders/lib/brdf.glsl).
const ENTERS: f64 = 1.0 - 0.04;

/// A pixel's edge (m) in the cards' pictures: at least two fit into a card seen from the side.
const PIXEL: f64 = 8e-6;

/// Directions of cards that make a dome: Gauss and Legendre's six heights by sixteen around. For
/// parallel light from any side the sum is within 0.23 % (of the light's own illuminance) of the
/// cardioid.
const AROUND: usize = 16;
const HEIGHTS: [(f64, f64); 6] = [
    (0.033_765_242_898_423_97, 0.085_662_246_189_585_18),
    (0.169_395_306_766_867_74, 0.180_380_786_524_069_3),
    (0.380_690_406_958_401_55, 0.233_956_967_286_345_53),
    (0.619_309_593_041_598_5, 0.233_956_967_286_345_53),
    (0.830_604_693_233_132_3, 0.180_380_786_524_069_3),
    (0.966_234_757_101_576, 0.085_662_246_189_585_18),
];

/// Why no reading can be taken. Each message says what would help.
#[derive(Debug, thiserror::Error)]
pub enum IncidentError {
    /// The point is not finite.
    #[error("the point ({0}, {1}, {2}) is no place; give three finite numbers in metres")]
    Point(f64, f64, f64),
    /// The normal has no direction.
    #[error(
        "the normal ({0}, {1}, {2}) has no direction; give three finite numbers that are not all 0, e.g. 0,1,0"
    )]
    Normal(f64, f64, f64),
    /// The point is far from everything.
    #[error(
        "the point ({}, {}, {}) m lies outside of the scene, which spans ({}, {}, {}) to ({}, {}, {}) m; choose one within", .point.x, .point.y, .point.z, .low.x, .low.y, .low.z, .high.x, .high.y, .high.z
    )]
    Outside {
        /// The point (m).
        point: DVec3,
        /// The scene's least corner (m).
        low: DVec3,
        /// The scene's greatest corner (m).
        high: DVec3,
    },
    /// The device.
    #[error(transparent)]
    Gpu(#[from] GpuError),
}

/// The directions (unit, about +Y) of a receptor's cards and how much of the reading each is: of a
/// flat one itself; of a dome `2 / (2 pi)` of each solid angle, since a dome's projected area
/// towards light from an angle is `(1 + cos) / 2` of its base and hence its reading `1/pi` of the
/// integral of the illuminance over its directions.
fn cards(receptor: Receptor) -> Vec<(DVec3, f64)> {
    if receptor == Receptor::Flat {
        return vec![(DVec3::Y, 1.0)];
    }
    let ring = |(index, (height, weight)): (usize, (f64, f64))| {
        let radius = (1.0 - height * height).sqrt();
        let start = 0.5 * index as f64;
        (0..AROUND).map(move |step| {
            let (sin, cos) = (TAU * (start + step as f64) / AROUND as f64).sin_cos();
            (DVec3::new(radius * cos, height, radius * sin), 2.0 * weight / AROUND as f64)
        })
    };
    HEIGHTS.into_iter().enumerate().flat_map(ring).collect()
}

/// From where cards are looked at: from the axis, and for a dome from six sides too. No dome's card
/// faces away from its nearest camera by more than 35 degrees.
fn cameras(receptor: Receptor) -> Vec<DVec3> {
    let mut directions = vec![DVec3::Y];
    if receptor == Receptor::Dome {
        let (sin, cos) = 70f64.to_radians().sin_cos();
        directions.extend((0..6).map(|side| {
            let (s, c) = (TAU * f64::from(side) / 6.0).sin_cos();
            DVec3::new(sin * c, cos, sin * s)
        }));
    }
    directions
}

/// The cards that one camera looks at, side by side: pictures of all cards would be six times as
/// large.
struct Square {
    /// Where its camera stands, a unit vector about +Y.
    camera: DVec3,
    /// Its middle from the receptor's, x and z (m).
    centre: DVec2,
    /// Cards along a side.
    across: usize,
    /// Where from the receptor's middle (m), where it faces, and its part of the reading.
    cards: Vec<(DVec2, DVec3, f64)>,
}

/// The cards by the camera that is nearest to where they face.
fn squares(receptor: Receptor) -> Vec<Square> {
    let cameras = cameras(receptor);
    let mut faced: Vec<Vec<(DVec3, f64)>> = vec![Vec::new(); cameras.len()];
    for (direction, weight) in cards(receptor) {
        let by_angle = |a: &(usize, &DVec3), b: &(usize, &DVec3)| {
            a.1.dot(direction).total_cmp(&b.1.dot(direction))
        };
        let nearest = cameras.iter().enumerate().max_by(by_angle).map_or(0, |(index, _)| index);
        if let Some(cards) = faced.get_mut(nearest) {
            cards.push((direction, weight));
        }
    }
    let widest =
        faced.iter().map(|cards| (cards.len() as f64).sqrt().ceil() as usize).max().unwrap_or(1);
    cameras
        .into_iter()
        .zip(faced)
        .enumerate()
        .map(|(index, (camera, faced))| {
            // The first in the middle, the others around it.
            let (sin, cos) = (TAU * index as f64 / 6.0).sin_cos();
            let out = if index == 0 { 0.0 } else { widest as f64 * PITCH };
            let (centre, across) =
                (DVec2::new(out * cos, out * sin), (faced.len() as f64).sqrt().ceil() as usize);
            let middle = (across.max(1) - 1) as f64 / 2.0;
            let place = |card: usize| {
                centre
                    + PITCH
                        * (DVec2::new((card % across) as f64, (card / across) as f64)
                            - DVec2::splat(middle))
            };
            let cards = faced
                .iter()
                .enumerate()
                .map(|(card, &(direction, weight))| (place(card), direction, weight));
            Square { camera, centre, across, cards: cards.collect() }
        })
        .filter(|square| !square.cards.is_empty())
        .collect()
}

/// A card in its place.
struct Card {
    /// Its middle (m).
    place: DVec3,
    /// Where it faces, a unit vector.
    direction: DVec3,
    /// Its part of the reading.
    weight: f64,
    /// The camera that looks at it.
    camera: usize,
}

/// The illuminance at `point` (m) on a receptor whose axis is `normal` (any length): what an
/// incident-light meter reads.
///
/// All lights of the scene count, with their shadows by rays where they cast any; light reflected
/// by other surfaces counts as far as the renderer follows it.
///
/// # Errors
/// A point or normal that is none; a point farther outside of the scene than the scene is wide; the
/// device.
pub fn illuminance(
    renderer: &mut Renderer,
    scene: &Scene,
    point: DVec3,
    normal: DVec3,
    receptor: Receptor,
    shadows: ShadowSettings,
) -> Result<Lux, IncidentError> {
    if !point.is_finite() {
        return Err(IncidentError::Point(point.x, point.y, point.z));
    }
    let Some(axis) = normal.try_normalize().filter(|_| normal.is_finite()) else {
        return Err(IncidentError::Normal(normal.x, normal.y, normal.z));
    };
    if let Some((low, high)) = scene.bounds() {
        let room = (high - low).length().max(1.0);
        if (point.clamp(low, high) - point).length() > room {
            return Err(IncidentError::Outside { point, low, high });
        }
    }
    let turn = DQuat::from_rotation_arc(DVec3::Y, axis);
    let squares = squares(receptor);
    let place = |at: DVec2| point + turn * DVec3::new(at.x, 0.0, at.y) + axis * LIFT;
    let placed: Vec<Card> = (squares.iter().enumerate())
        .flat_map(|(camera, square)| {
            square.cards.iter().map(move |&(at, direction, weight)| Card {
                place: place(at),
                direction: (turn * direction).normalize(),
                weight,
                camera,
            })
        })
        .collect();
    // A map's texels are far larger than cards are.
    let shadows = ShadowSettings { method: ShadowMethod::Traced, ..shadows };
    let mut on_device = renderer.upload_for(&with_cards(scene, &placed), &shadows)?;
    // Whatever stands around the cards would be most of the pictures, and is not read.
    on_device.show_only_material(scene.materials.len() as u32);
    let views: Vec<View> = squares
        .iter()
        .map(|square| {
            // It holds its cards whichever way it is turned.
            let half = square.across as f64 * PITCH * std::f64::consts::FRAC_1_SQRT_2;
            let pixels = (2.0 * half / PIXEL).ceil() as u32;
            let (half_width, far) = (half as f32, (4.0 * half) as f32);
            let projection =
                Projection::Orthographic { half_width, half_height: half_width, near: 0.0, far };
            let centre = place(square.centre);
            View::new(
                look_at_transform(centre + turn * square.camera * (2.0 * half), centre),
                &projection,
                pixels,
                pixels,
            )
        })
        .collect();
    Ok(read(renderer, &on_device, &placed, &views, shadows)?)
}

/// A copy of the scene with a card at each place.
fn with_cards(scene: &Scene, cards: &[Card]) -> Scene {
    let mut scene = scene.clone();
    let mut card = shapes::plane(Vec2::splat(2.0 * HALF as f32), 1, 1);
    card.material = Some(scene.materials.len());
    scene.materials.push(dielectric("meter card", Vec3::ONE, 1.0));
    let mesh = scene.meshes.len();
    scene.meshes.push(crate::scene::Mesh { name: "meter card".into(), primitives: vec![card] });
    for card in cards {
        let local = DMat4::from_rotation_translation(
            DQuat::from_rotation_arc(DVec3::Y, card.direction),
            card.place,
        );
        scene.roots.push(scene.nodes.len());
        scene.nodes.push(Node {
            name: "meter card".into(),
            local,
            mesh: Some(mesh),
            ..Node::default()
        });
    }
    scene
}

/// The weighted sum of what the cards read.
fn read(
    renderer: &mut Renderer,
    scene: &GpuScene,
    cards: &[Card],
    views: &[View],
    shadows: ShadowSettings,
) -> Result<Lux, GpuError> {
    let mut exposure = Exposure::default();
    let mut last = Lux(0.0);
    for _ in 0..ROUNDS {
        let settings = RenderSettings {
            exposure,
            clustered_lights: ClusteredLightSettings {
                enabled: false,
                ..ClusteredLightSettings::default()
            },
            shadows,
            // A card's own camera sees little of what is around it.
            ao: AoSettings { enabled: false, ..AoSettings::default() },
            aovs: vec![Aov::DirectDiffuse],
            ..RenderSettings::default()
        };
        let (mut sum, mut brightest) = (0.0, 0.0f64);
        for (camera, view) in views.iter().enumerate() {
            let picture = renderer.render(scene, view, &settings)?;
            let pixels = picture.aovs.first().map_or(&[][..], |(_, pixels)| pixels);
            for card in cards.iter().filter(|card| card.camera == camera) {
                let at = view.view_projection.as_dmat4().project_point3(card.place - view.position);
                let [x, y] =
                    [at.x, at.y].map(|v| ((v * 0.5 + 0.5) * f64::from(view.width)) as usize);
                let nits = pixels
                    .get(y * picture.width + x)
                    .map_or(0.0, |p| luminance(Vec3::new(p[0], p[1], p[2]).as_dvec3()));
                sum += card.weight * nits;
                brightest = brightest.max(nits);
            }
        }
        // Half floats keep their eleven bits from 6e-5 up to 65504.
        let exposed = brightest * exposure.multiplier();
        last = Lux(sum * PI / ENTERS);
        if (0.01..=10_000.0).contains(&exposed) {
            return Ok(last);
        }
        let next = if brightest > 0.0 {
            // At the upper end the reading was cut off: as far down as there may be.
            let stops = if exposed > 10_000.0 { 16.0 } else { 0.0 };
            exposure.ev100().0 + exposed.log2() + stops
        } else {
            exposure.ev100().0 - 20.0
        };
        if next < LEAST_EV {
            return Ok(Lux(0.0));
        }
        exposure = Exposure::from_ev100(Ev100(next.min(60.0))).unwrap_or_default();
    }
    Ok(last)
}

/// Exposures that are tried at most.
const ROUNDS: u32 = 8;

/// Below this exposure value nothing is light: 1e-13 lx.
const LEAST_EV: f64 = -46.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dome_is_a_cardioid() {
        let cards = cards(Receptor::Dome);
        let cameras = cameras(Receptor::Dome);
        assert_eq!(cards.len(), 96);
        // What each card sends to its camera of what it receives, over 1 - F0 (Schlick 1994).
        let camera = |m: DVec3| {
            cameras.iter().copied().max_by(|a, b| a.dot(m).total_cmp(&b.dot(m))).unwrap_or(DVec3::Y)
        };
        let sent = |m: DVec3, light: DVec3| {
            let v = camera(m);
            (1.0 - (0.04 + 0.96 * (1.0 - v.dot((v + light).normalize())).powi(5))) / ENTERS
        };
        let (mut sum, mut seen) = (0f64, 0f64);
        for degrees in 0..180 {
            for turn in 0..13 {
                let (sin, cos) = f64::from(degrees).to_radians().sin_cos();
                let (s, c) = (f64::from(turn) * 0.43).sin_cos();
                let light = DVec3::new(sin * c, cos, sin * s);
                let lit = |m: &DVec3| m.dot(light) > 0.0;
                let got: f64 =
                    cards.iter().filter(|(m, _)| lit(m)).map(|(m, w)| w * m.dot(light)).sum();
                let read: f64 = cards
                    .iter()
                    .filter(|(m, _)| lit(m))
                    .map(|(m, w)| w * m.dot(light) * sent(*m, light))
                    .sum();
                sum = sum.max((got - (1.0 + cos) / 2.0).abs());
                seen = seen.max((read - (1.0 + cos) / 2.0).abs());
            }
        }
        assert!(sum < 0.0023, "{sum}");
        assert!(seen < 0.004, "{seen}");
        let widest = cards.iter().map(|(m, _)| camera(*m).dot(*m)).fold(1.0, f64::min);
        assert!(widest > 35f64.to_radians().cos(), "{} degrees", widest.acos().to_degrees());
    }

    #[test]
    fn cards_stand_apart_and_each_before_its_camera() {
        let squares = squares(Receptor::Dome);
        let all: Vec<_> = squares.iter().flat_map(|square| &square.cards).collect();
        assert_eq!(all.len(), 96);
        for (index, (a, ..)) in all.iter().enumerate() {
            let apart =
                all.iter().skip(index + 1).map(|(b, ..)| a.distance(*b)).fold(1.0, f64::min);
            assert!(apart > 0.99 * PITCH, "{apart}");
        }
        for square in &squares {
            let half = square.across as f64 * PITCH / 2.0;
            assert!(
                square.cards.iter().all(
                    |(at, ..)| (*at - square.centre).abs().max_element() <= half - PITCH / 2.01
                )
            );
        }
        assert!(
            all.iter().all(|(at, ..)| at.length() < 2.5e-3),
            "all within some millimetres of the point"
        );
    }

    #[test]
    fn a_flat_receptor_is_one_card() {
        assert_eq!(cards(Receptor::Flat), [(DVec3::Y, 1.0)]);
        let squares = squares(Receptor::Flat);
        assert_eq!(squares[0].cards, [(DVec2::ZERO, DVec3::Y, 1.0)]);
    }
}
