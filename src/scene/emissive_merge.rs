//! Merging of area lights beyond a maximum number; their total flux is kept.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BinaryHeap},
};

use glam::{DMat3, DVec3};

use super::emissive_light::EmissiveLight;
use crate::photometry::color;

/// Number of features: position, normal, color, and strength in stops.
const FEATURES: usize = 10;
/// Maximum distance (m) that weighs as much as normals at a right angle: surfaces are lit from
/// about this far.
const NEAR: f64 = 1.0;
/// Stops that weigh as much.
const STOPS: f64 = 4.0;

/// An area light's features and weight.
struct Piece {
    features: [f64; FEATURES],
    weight: f64,
    normal: DVec3,
}

/// Area lights that are merged into one.
struct Cluster {
    members: Vec<usize>,
    /// Sum over members of weight times squared distance from their mean, over all features; 0 if
    /// they are equal.
    cost: f64,
    /// The feature of greatest variance, and its mean.
    axis: (usize, f64),
}

impl PartialEq for Cluster {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Cluster {}

impl PartialOrd for Cluster {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Cluster {
    /// By cost, then by the first member, so that the same scene always gives the same lights.
    fn cmp(&self, other: &Self) -> Ordering {
        self.cost
            .total_cmp(&other.cost)
            .then_with(|| other.members.first().cmp(&self.members.first()))
    }
}

impl Cluster {
    fn new(pieces: &[Piece], members: Vec<usize>) -> Self {
        let of = |index: &usize| pieces.get(*index);
        let mut sum = [0.0; FEATURES];
        let mut weight = 0.0;
        for piece in members.iter().filter_map(of) {
            weight += piece.weight;
            sum.iter_mut().zip(piece.features).for_each(|(sum, x)| *sum += piece.weight * x);
        }
        let mean = sum.map(|sum| if weight > 0.0 { sum / weight } else { 0.0 });
        let mut off = [0.0; FEATURES];
        for piece in members.iter().filter_map(of) {
            let parts = piece.features.iter().zip(mean);
            off.iter_mut()
                .zip(parts)
                .for_each(|(off, (x, mean))| *off += piece.weight * (x - mean).powi(2));
        }
        let (axis, _) =
            off.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).unwrap_or((0, &0.0));
        let cost = if members.len() > 1 { off.iter().sum() } else { 0.0 };
        Self { cost, axis: (axis, mean.get(axis).copied().unwrap_or(0.0)), members }
    }

    /// Splits by the feature of greatest variance; `None` if all members are equal.
    fn split(&self, pieces: &[Piece]) -> Option<[Self; 2]> {
        let (axis, mean) = self.axis;
        let below = |index: &usize| {
            pieces
                .get(*index)
                .and_then(|piece| piece.features.get(axis))
                .is_some_and(|value| *value <= mean)
        };
        let (low, high): (Vec<usize>, Vec<usize>) =
            self.members.iter().partition(|index| below(index));
        let halves = [low, high];
        halves
            .iter()
            .all(|half| !half.is_empty())
            .then(|| halves.map(|half| Self::new(pieces, half)))
    }
}

/// Direction bin of a normal, one of 24: the cube face that it points at, and the quarter of that
/// face. Two normals of one bin are at most 60 degrees apart.
fn direction_bin(normal: DVec3) -> u8 {
    let size = normal.abs();
    let (axis, along, aside) = if size.x >= size.y && size.x >= size.z {
        (0, normal.x, [normal.y, normal.z])
    } else if size.y >= size.z {
        (1, normal.y, [normal.x, normal.z])
    } else {
        (2, normal.z, [normal.x, normal.y])
    };
    axis * 8 + u8::from(along < 0.0) * 4 + u8::from(aside[0] < 0.0) * 2 + u8::from(aside[1] < 0.0)
}

/// Merges area lights to at most `budget`, or a few more if their normals fall into more direction
/// bins; also returns how many of them stand for several.
///
/// Clusters are split where they differ most from their mean, weighted by light, as color palettes
/// are made (Wu 1992, "Color quantization by dynamic programming and principal analysis", in its
/// greedy form). The features are position, normal and luminance, as in Walter et al. 2005,
/// "Lightcuts", section 3.1. Lights of different direction bins are never merged.
pub(super) fn merge(lights: &[EmissiveLight], budget: usize) -> (Vec<EmissiveLight>, usize) {
    let pieces = pieces(lights);
    let mut ways: BTreeMap<(bool, bool, u8), Vec<usize>> = BTreeMap::new();
    for (index, (light, piece)) in lights.iter().zip(&pieces).enumerate() {
        ways.entry((light.two_sided, light.blended, direction_bin(piece.normal)))
            .or_default()
            .push(index);
    }
    let mut heap: BinaryHeap<Cluster> =
        ways.into_values().map(|members| Cluster::new(&pieces, members)).collect();
    let mut alike = Vec::new();
    while heap.len() + alike.len() < budget {
        let Some(cluster) = heap.pop() else { break };
        match cluster.split(&pieces) {
            Some(halves) => heap.extend(halves),
            None => alike.push(cluster),
        }
    }
    let mut clusters: Vec<Vec<usize>> =
        heap.into_iter().chain(alike).map(|cluster| cluster.members).collect();
    // In scene order.
    clusters.sort_unstable_by_key(|members| members.first().copied());
    let merged = clusters.iter().filter(|members| members.len() > 1).count();
    (
        clusters.iter().filter_map(|members| merge_cluster(lights, &pieces, members)).collect(),
        merged,
    )
}

fn pieces(lights: &[EmissiveLight]) -> Vec<Piece> {
    let all: f64 = lights.iter().map(EmissiveLight::strength).sum();
    let mean = lights.iter().map(|light| light.center() * light.strength()).sum::<DVec3>()
        / all.max(f64::MIN_POSITIVE);
    let spread = lights
        .iter()
        .map(|light| light.center().distance_squared(mean) * light.strength())
        .sum::<f64>();
    // For small geometry the distance is its own size.
    let near = (spread / all.max(f64::MIN_POSITIVE)).sqrt().clamp(1e-9, NEAR);
    let piece = |light: &EmissiveLight| {
        let normal = light.sides[0].cross(light.sides[1]).normalize_or(DVec3::Y);
        let rgb = light.luminance.as_dvec3();
        let place = (light.center() - mean) / near;
        let hue = rgb / rgb.element_sum().max(f64::MIN_POSITIVE);
        let stops = color::luminance(rgb).max(f64::MIN_POSITIVE).log2() / STOPS;
        let features =
            [place.x, place.y, place.z, normal.x, normal.y, normal.z, hue.x, hue.y, hue.z, stops];
        Piece { features, weight: light.strength(), normal }
    };
    lights.iter().map(piece).collect()
}

/// The outer product of a vector with itself.
fn outer_product(v: DVec3) -> DMat3 {
    DMat3::from_cols(v * v.x, v * v.y, v * v.z)
}

/// Mean squared position of a light's points relative to its center: of a rectangle with edges a
/// and b `(aa + bb) / 12`, of a triangle the sum over its corners, over 12.
fn own_spread(light: &EmissiveLight) -> DMat3 {
    let [a, b] = light.sides;
    if light.rectangle {
        return (outer_product(a) + outer_product(b)) * (1.0 / 12.0);
    }
    let middle = (a + b) / 3.0;
    (outer_product(-middle) + outer_product(a - middle) + outer_product(b - middle)) * (1.0 / 12.0)
}

/// One rectangle for several lights: the same flux in each channel, at their center, facing along
/// their mean normal, with their spread. It is in front of all of them, so that shadow rays end
/// before their surfaces.
fn merge_cluster(
    lights: &[EmissiveLight],
    pieces: &[Piece],
    members: &[usize],
) -> Option<EmissiveLight> {
    let own = || members.iter().filter_map(|&index| Some((lights.get(index)?, pieces.get(index)?)));
    let (first, _) = own().next()?;
    if members.len() == 1 {
        return Some(*first);
    }
    let weight: f64 = own().map(|(_, piece)| piece.weight).sum();
    let center = own().map(|(light, piece)| light.center() * piece.weight).sum::<DVec3>() / weight;
    let normal =
        own().map(|(_, piece)| piece.normal * piece.weight).sum::<DVec3>().normalize_or(DVec3::Y);
    let spread = own().fold(DMat3::ZERO, |sum, (light, piece)| {
        sum + (own_spread(light) + outer_product(light.center() - center)) * (piece.weight / weight)
    });
    // The axes of its ellipse in the plane.
    let across = normal.any_orthonormal_vector();
    let up = normal.cross(across);
    let of = |u: DVec3, v: DVec3| u.dot(spread * v);
    let (sin, cos) =
        (0.5 * (2.0 * of(across, up)).atan2(of(across, across) - of(up, up))).sin_cos();
    let along = across * cos + up * sin;
    let beside = normal.cross(along);
    let [width, height] = [along, beside].map(|axis| (12.0 * of(axis, axis)).max(0.0).sqrt());
    let (width, height) = (width.max(1e-3 * height), height.max(1e-3 * width));
    let flux = own().map(|(light, _)| light.luminance.as_dvec3() * light.area()).sum::<DVec3>();
    let corners = own().flat_map(|(light, _)| {
        let [a, b] = light.sides;
        let last = if light.rectangle { a + b } else { a };
        [DVec3::ZERO, a, b, last].map(|to| (light.corner + to - center).dot(normal))
    });
    let before = corners.fold(0.0, f64::max);
    Some(EmissiveLight {
        corner: center + normal * before - (along * width + beside * height) / 2.0,
        sides: [along * width, beside * height],
        rectangle: true,
        luminance: (flux / (width * height)).as_vec3(),
        ..*first
    })
}

#[cfg(test)]
mod tests {
    use glam::{DMat4, Vec3, vec2};

    use super::*;
    use crate::scene::{
        Material, Scene,
        build::{SceneBuilder, dielectric},
        emissive::emissive_lights,
        procedural::{BuiltinScene, shapes},
    };

    fn normal(light: &EmissiveLight) -> DVec3 {
        light.sides[0].cross(light.sides[1]).normalize()
    }

    fn flux(lights: &[EmissiveLight]) -> DVec3 {
        lights.iter().map(|light| light.luminance.as_dvec3() * light.area()).sum()
    }

    fn ball() -> Scene {
        let mut builder = SceneBuilder::new("ball");
        let glow = Material {
            emission: Vec3::new(100.0, 50.0, 10.0),
            ..dielectric("glow", Vec3::ONE, 1.0)
        };
        let glow = builder.add_material(glow);
        let mesh = builder.add_mesh("ball", shapes::icosphere(0.3, 3), glow);
        builder.instance("ball", mesh, DMat4::from_translation(DVec3::new(0.1, -0.2, 0.3)));
        let mut scene = builder.build().unwrap();
        scene.emissive_lights = true;
        scene
    }

    #[test]
    fn merged_pieces_keep_flux_middle_and_normal() {
        let mut scene = ball();
        scene.max_emissive_lights = Some(4096);
        let all = emissive_lights(&scene);
        assert_eq!((all.triangles, all.lights.len(), all.merged), (1280, 1280, 0));
        for budget in [512, 100, 24] {
            scene.max_emissive_lights = Some(budget);
            let few = emissive_lights(&scene);
            assert!(few.lights.len() <= budget as usize && few.merged > 0, "{}", few.lights.len());
            let off = (flux(&few.lights) / flux(&all.lights) - 1.0).abs().max_element();
            assert!(off < 1e-6, "{budget}: {off}");
            // On the sphere and facing outward, with no part of the sphere in front.
            let (mut middle, mut total) = (DVec3::ZERO, 0.0);
            for light in &few.lights {
                let out = light.center() - DVec3::new(0.1, -0.2, 0.3);
                assert!((0.2..0.31).contains(&out.length()), "{budget}: {}", out.length());
                assert!(
                    normal(light).dot(out.normalize()) > 0.98,
                    "{budget}: {}",
                    normal(light).dot(out.normalize())
                );
                middle += out * light.strength();
                total += light.strength();
            }
            assert!(middle.length() < 2e-3 * total, "{budget}: {}", middle / total);
            assert_eq!(few.lights, emissive_lights(&scene).lights, "always the same");
        }
    }

    #[test]
    fn opposite_normals_are_never_merged() {
        // A thin plate of many triangles that emits to both sides by two faces, merged into few
        // lights.
        let mut builder = SceneBuilder::new("plate");
        let glow = Material { emission: Vec3::splat(10.0), ..dielectric("glow", Vec3::ONE, 1.0) };
        let glow = builder.add_material(glow);
        let mut wavy = shapes::plane(vec2(1.0, 1.0), 20, 20);
        // No two of its triangles form a rectangle.
        wavy.positions
            .iter_mut()
            .enumerate()
            .for_each(|(i, p)| p.y += 0.002 * ((i * 7 % 5) as f32 - 2.0));
        let mesh = builder.add_mesh("face", wavy, glow);
        builder.instance("up", mesh, DMat4::IDENTITY);
        let turned = DMat4::from_rotation_x(std::f64::consts::PI);
        builder.instance("down", mesh, DMat4::from_translation(DVec3::NEG_Y * 1e-3) * turned);
        let mut scene = builder.build().unwrap();
        scene.max_emissive_lights = Some(1);
        let few = emissive_lights(&scene).lights;
        assert!(few.len() <= 8, "{}", few.len());
        for side in [1.0, -1.0] {
            let own: Vec<EmissiveLight> =
                few.iter().filter(|light| normal(light).y * side > 0.5).copied().collect();
            let lumens = flux(&own).x;
            assert!((lumens / 10.0 - 1.0).abs() < 0.02, "{lumens}");
        }
        assert!(few.iter().all(|light| normal(light).y.abs() > 0.9));
        // Any two normals of one bin, for all bins.
        let normals: Vec<DVec3> = (0..2000u32)
            .map(|i| {
                let (y, turn) = (1.0 - (f64::from(i) + 0.5) / 1000.0, f64::from(i) * 2.399_963);
                let r = (1.0 - y * y).sqrt();
                DVec3::new(r * turn.cos(), y, r * turn.sin())
            })
            .collect();
        for a in &normals {
            let worst = normals
                .iter()
                .filter(|b| direction_bin(**b) == direction_bin(*a))
                .map(|b| a.dot(*b))
                .fold(1.0, f64::min);
            assert!(worst >= 0.5 - 1e-9, "{worst}");
        }
    }

    #[test]
    fn a_flat_mosaic_becomes_its_rectangle() {
        let light = |x: f64, y: f64| EmissiveLight {
            corner: DVec3::new(x, y, 2.0),
            sides: [DVec3::X * 0.1, DVec3::Y * 0.1],
            rectangle: true,
            luminance: Vec3::new(3.0, 2.0, 1.0),
            two_sided: false,
            blended: false,
        };
        let mosaic: Vec<EmissiveLight> =
            (0..200).map(|i| light(f64::from(i % 20) * 0.1, f64::from(i / 20) * 0.1)).collect();
        let (one, merged) = merge(&mosaic, 1);
        assert_eq!((one.len(), merged), (1, 1));
        assert!(
            (one[0].area() - 2.0).abs() < 1e-9
                && one[0].center().distance(DVec3::new(1.0, 0.5, 2.0)) < 1e-9
        );
        assert!((one[0].luminance - Vec3::new(3.0, 2.0, 1.0)).abs().max_element() < 1e-5);
        assert!((one[0].sides[0].length().max(one[0].sides[1].length()) - 2.0).abs() < 1e-9);
    }

    #[test]
    fn a_street_of_lights_loses_none() {
        let (mut scene, _) = BuiltinScene::named("street").unwrap().make().unwrap();
        scene.emissive_lights = true;
        let few = emissive_lights(&scene);
        scene.max_emissive_lights = Some(1_000_000);
        let all = emissive_lights(&scene);
        assert_eq!(all.merged, 0);
        println!(
            "{} triangles, {} pieces, {} lights",
            all.triangles,
            all.lights.len(),
            few.lights.len()
        );
        assert!(all.lights.len() > 512 && few.lights.len() <= 512);
        assert!((flux(&few.lights) / flux(&all.lights) - 1.0).abs().max_element() < 1e-6);
    }
}
