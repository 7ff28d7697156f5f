//! Incident light: the illuminance at a point, measured with white cards as a photographer would.
//!
//! Cards of 0.025 mm are placed into a copy of the scene and rendered by the normal frame, so that
//! they receive every kind of light with its profile and shadows. A card is diffuse and white, and
//! a camera views it almost along its normal, so that its diffuse luminance is `(1 - F0) E / pi`:
//! the Fresnel term of the BRDF depends on the angle to the half vector and stays close to F0 up to
//! 45 degrees.

use std::f64::consts::{PI, TAU};

use glam::{DMat4, DQuat, DVec2, DVec3, Vec2, Vec3};

use super::{aov::Aov, renderer::Renderer, settings::RenderSettings};
use crate::{
    camera::{Exposure, exposure::Receptor},
    gpu::GpuError,
    gpu_scene::{GpuScene, View},
    photometry::{Ev100, Lux, color::luminance},
    scene::{
        Node, Projection, Scene,
        build::{dielectric, look_at_transform},
        procedural::shapes,
    },
    settings::{AoSettings, ClusteredLightSettings, ShadowMethod, ShadowSampling, ShadowSettings},
};

/// Half of a card's edge length in meters.
const HALF: f64 = 1.25e-5;

/// Offset in meters of a card's center above the point, along the receptor's axis: the point may
/// lie on a surface.
const LIFT: f64 = 2.5e-5;

/// Spacing of cards in meters: ten times their size, so that they hardly shadow each other.
const PITCH: f64 = 2.5e-4;

/// Fraction of light that enters a dielectric at normal incidence: 1 - F0 of the BRDF
/// (shaders/lib/brdf.glsl).
const ENTERS: f64 = 1.0 - 0.04;

/// Pixel size in meters in the images of cards: at least two pixels per card in side view.
const PIXEL: f64 = 8e-6;

/// Minimum number of shadow rays to each light with a size: no frames are averaged.
const CARD_RAYS: u32 = 16;

/// Card directions of a dome: six Gauss-Legendre heights by 16 azimuths. For parallel light from
/// any direction the sum is within 0.23 % (of the light's own illuminance) of the cardioid.
const AROUND: usize = 16;
const HEIGHTS: [(f64, f64); 6] = [
    (0.033_765_242_898_423_97, 0.085_662_246_189_585_18),
    (0.169_395_306_766_867_74, 0.180_380_786_524_069_3),
    (0.380_690_406_958_401_55, 0.233_956_967_286_345_53),
    (0.619_309_593_041_598_5, 0.233_956_967_286_345_53),
    (0.830_604_693_233_132_3, 0.180_380_786_524_069_3),
    (0.966_234_757_101_576, 0.085_662_246_189_585_18),
];

/// Errors of an incident-light reading.
#[derive(Debug, thiserror::Error)]
pub enum IncidentError {
    /// The point is not finite.
    #[error("the point ({0}, {1}, {2}) is not finite; give three finite numbers in meters")]
    Point(f64, f64, f64),
    /// The normal is zero or not finite.
    #[error(
        "the normal ({0}, {1}, {2}) has no direction; give three finite numbers that are not all 0, e.g. 0,1,0"
    )]
    Normal(f64, f64, f64),
    /// The point is farther outside of the scene than the scene is wide.
    #[error(
        "the point ({}, {}, {}) m lies outside of the scene, which spans ({}, {}, {}) to ({}, {}, {}) m; choose one within", .point.x, .point.y, .point.z, .low.x, .low.y, .low.z, .high.x, .high.y, .high.z
    )]
    Outside {
        /// The point in meters.
        point: DVec3,
        /// The scene's minimum corner in meters.
        low: DVec3,
        /// The scene's maximum corner in meters.
        high: DVec3,
    },
    /// The device failed.
    #[error(transparent)]
    Gpu(#[from] GpuError),
}

/// Directions (unit vectors about +Y) of a receptor's cards and their weights. A flat receptor has
/// one card of weight 1. A dome's projected area towards light at an angle is `(1 + cos) / 2` of
/// its base. Its reading is therefore `1/pi` of the integral of the illuminance over directions, so
/// each solid angle has the weight `2 / (2 pi)`.
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

/// Camera directions: along the axis, and for a dome from six sides too. Each card of a dome faces
/// its nearest camera within 35 degrees.
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

/// The cards of one camera, side by side: one image of all cards would be six times as large.
struct Square {
    /// Direction to its camera, a unit vector about +Y.
    camera: DVec3,
    /// Offset of its center from the receptor's center, x and z, in meters.
    center: DVec2,
    /// Cards per side.
    across: usize,
    /// Offset from the receptor's center in meters, direction and weight of each card.
    cards: Vec<(DVec2, DVec3, f64)>,
}

/// Groups the cards by the camera nearest to their direction.
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
            // The first group in the center, the others around it.
            let (sin, cos) = (TAU * index as f64 / 6.0).sin_cos();
            let out = if index == 0 { 0.0 } else { widest as f64 * PITCH };
            let (center, across) =
                (DVec2::new(out * cos, out * sin), (faced.len() as f64).sqrt().ceil() as usize);
            let middle = (across.max(1) - 1) as f64 / 2.0;
            let place = |card: usize| {
                center
                    + PITCH
                        * (DVec2::new((card % across) as f64, (card / across) as f64)
                            - DVec2::splat(middle))
            };
            let cards = faced
                .iter()
                .enumerate()
                .map(|(card, &(direction, weight))| (place(card), direction, weight));
            Square { camera, center, across, cards: cards.collect() }
        })
        .filter(|square| !square.cards.is_empty())
        .collect()
}

/// A placed card.
struct Card {
    /// Its center in meters.
    place: DVec3,
    /// Its normal, a unit vector.
    direction: DVec3,
    /// Its weight in the reading.
    weight: f64,
    /// Index of its camera.
    camera: usize,
}

/// The illuminance at `point` (meters, world space) on a receptor with the axis `normal` (any
/// length), as an incident-light meter reads it.
///
/// All lights of the scene count, with ray-traced shadows where they cast any. Light reflected by
/// other surfaces counts as far as the renderer computes it.
///
/// # Errors
/// [`IncidentError`]: a point or normal that is not finite or has no direction; a point farther
/// outside of the scene than the scene is wide; device errors.
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
    // Texels of a shadow map are far larger than cards, and the cards are rendered once.
    let shadows = ShadowSettings {
        method: ShadowMethod::Traced,
        sampling: ShadowSampling::Exact,
        samples: shadows.samples.max(CARD_RAYS),
        ..shadows
    };
    let mut on_device = renderer.upload_for(&with_cards(scene, &placed), &shadows)?;
    // Hides everything but the cards: it would fill most of the image, and is not read.
    on_device.show_only_material(scene.materials.len() as u32);
    let views: Vec<View> = squares
        .iter()
        .map(|square| {
            // The image contains the cards at any rotation.
            let half = square.across as f64 * PITCH * std::f64::consts::FRAC_1_SQRT_2;
            let pixels = (2.0 * half / PIXEL).ceil() as u32;
            let (half_width, far) = (half as f32, (4.0 * half) as f32);
            let projection =
                Projection::Orthographic { half_width, half_height: half_width, near: 0.0, far };
            let center = place(square.center);
            View::new(
                look_at_transform(center + turn * square.camera * (2.0 * half), center),
                &projection,
                pixels,
                pixels,
            )
        })
        .collect();
    Ok(read(renderer, &on_device, &placed, &views, shadows)?)
}

/// A copy of the scene with the cards added.
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

/// The weighted sum of the cards' illuminances.
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
            // Ambient occlusion in screen space misses surfaces outside of the card's image.
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
        // Half floats have full precision from 6e-5 to 65504.
        let exposed = brightest * exposure.multiplier();
        last = Lux(sum * PI / ENTERS);
        if (0.01..=10_000.0).contains(&exposed) {
            return Ok(last);
        }
        let next = if brightest > 0.0 {
            // At the upper end the reading was clipped, so the exposure drops by 16 stops.
            let stops = if exposed > 10_000.0 { 16.0 } else { 0.0 };
            exposure.ev100().0 + exposed.log2() + stops
        } else {
            exposure.ev100().0 - 20.0
        };
        if next < MIN_EV {
            return Ok(Lux(0.0));
        }
        exposure = Exposure::from_ev100(Ev100(next.min(60.0))).unwrap_or_default();
    }
    Ok(last)
}

/// Maximum number of exposures tried.
const ROUNDS: u32 = 8;

/// EV100 below which the reading is 0: 1e-13 lx.
const MIN_EV: f64 = -46.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dome_is_a_cardioid() {
        let cards = cards(Receptor::Dome);
        let cameras = cameras(Receptor::Dome);
        assert_eq!(cards.len(), 96);
        // Radiance that each card sends to its camera per received light, over 1 - F0 (Schlick
        // 1994).
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
                    |(at, ..)| (*at - square.center).abs().max_element() <= half - PITCH / 2.01
                )
            );
        }
        assert!(
            all.iter().all(|(at, ..)| at.length() < 2.5e-3),
            "all cards within 2.5 mm of the point"
        );
    }

    #[test]
    fn a_flat_receptor_is_one_card() {
        assert_eq!(cards(Receptor::Flat), [(DVec3::Y, 1.0)]);
        let squares = squares(Receptor::Flat);
        assert_eq!(squares[0].cards, [(DVec2::ZERO, DVec3::Y, 1.0)]);
    }
}
