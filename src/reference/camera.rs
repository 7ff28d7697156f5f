//! Camera models: a pinhole, and a thin lens with iris, rim, vignetting and a shutter, consistent
//! with the raster renderer's effects (`camera::effects`, docs/camera-effects.md).
//!
//! Depth of field, motion blur and vignetting are part of the reference, because they are
//! properties of light that reaches the sensor along rays. Bloom, chromatic aberration and grain
//! are post-processing and are not.

use std::{
    f64::consts::{FRAC_PI_4, TAU},
    sync::Arc,
};

use glam::{DMat4, DVec2, DVec3};

use crate::{
    camera::{
        CameraEffects, Iris,
        effect_models::pupil_overlap,
        effects::{DepthOfField, MotionBlur, Vignetting},
    },
    optics::{MountedLens, Rim},
    scene::Projection,
};

/// A camera ray.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraRay {
    /// Origin relative to the eye (m).
    pub origin: DVec3,
    /// Unit direction.
    pub direction: DVec3,
    /// Factor of the radiance along it in red, green and blue, 0 or more: 0 where the barrel blocks
    /// it.
    pub weight: DVec3,
}

/// A source of camera rays.
pub trait CameraModel: Sync {
    /// The ray through a picture position (pixels from the upper left corner) and a lens position
    /// at a time of the exposure; the latter three are uniform in [0, 1).
    fn ray(&self, place: DVec2, lens: DVec2, time: f64) -> CameraRay;
}

/// A pinhole camera, relative to its own position.
#[derive(Clone, Copy, Debug)]
pub struct Pinhole {
    /// Right, up and back, unit vectors.
    axes: [DVec3; 3],
    projection: Projection,
    width: usize,
    height: usize,
}

impl Pinhole {
    /// The camera of a node with this world transform, which looks along -Z.
    #[must_use]
    pub fn new(world: DMat4, projection: Projection, width: usize, height: usize) -> Self {
        let z = world.z_axis.truncate().normalize_or(DVec3::Z);
        let x = world.y_axis.truncate().cross(z).normalize_or(z.any_orthonormal_vector());
        Self { axes: [x, z.cross(x), z], projection, width, height }
    }

    /// View direction (unit vector).
    #[must_use]
    pub fn forward(&self) -> DVec3 {
        -self.axes[2]
    }

    /// The ray through a picture position (pixels from the upper left corner): origin and unit
    /// direction.
    #[must_use]
    pub fn ray(&self, place: DVec2) -> (DVec3, DVec3) {
        let (origin, direction) = self.local(place);
        (self.to_world(origin), self.to_world(direction).normalize())
    }

    /// The ray in camera space (right, up, back); the direction reaches a depth of 1 m.
    fn local(&self, place: DVec2) -> (DVec3, DVec3) {
        let aspect = self.width as f64 / self.height as f64;
        let x = (2.0 * place.x / self.width as f64 - 1.0) * aspect;
        let y = 1.0 - 2.0 * place.y / self.height as f64;
        match self.projection {
            Projection::Perspective { .. } => {
                let tan = self.half_tangent();
                (DVec3::ZERO, DVec3::new(x * tan, y * tan, -1.0))
            }
            Projection::Orthographic { half_height, near, .. } => {
                let half = f64::from(half_height);
                (DVec3::new(x * half, y * half, -f64::from(near)), DVec3::NEG_Z)
            }
        }
    }

    /// Tangent of half the vertical field of view; 0 for a parallel projection.
    fn half_tangent(&self) -> f64 {
        match self.projection {
            Projection::Perspective { vertical_fov, .. } => (f64::from(vertical_fov) / 2.0).tan(),
            Projection::Orthographic { .. } => 0.0,
        }
    }

    fn to_world(self, v: DVec3) -> DVec3 {
        let [right, up, back] = self.axes;
        right * v.x + up * v.y + back * v.z
    }
}

impl CameraModel for Pinhole {
    fn ray(&self, place: DVec2, _: DVec2, _: f64) -> CameraRay {
        let (origin, direction) = Pinhole::ray(self, place);
        CameraRay { origin, direction, weight: DVec3::ONE }
    }
}

/// The pupil of a thin lens.
#[derive(Clone, Copy, Debug)]
struct Pupil {
    /// Radius (m) of the circle through the iris's corners.
    radius: f64,
    /// Reciprocal of the focus distance (1/m).
    inverse_focus_distance: f64,
    iris: Iris,
    /// The rim's radius in pupil radii, and its shift across the pupil per unit tangent of the
    /// field angle.
    rim: Option<Rim>,
}

/// A camera with optional thin lens, shutter and vignetting.
#[derive(Clone, Debug)]
pub struct LensCamera {
    pinhole: Pinhole,
    pupil: Option<Pupil>,
    motion: Option<MotionBlur>,
    vignetting: Option<Vignetting>,
    /// A lens prescription that replaces the thin lens: rays refract at its surfaces.
    mounted_lens: Option<Arc<MountedLens>>,
    /// True if depth of field is on.
    depth_of_field: bool,
}

impl LensCamera {
    /// The camera of a node with this world transform and these effects. A parallel projection has
    /// no lens: depth of field and vignetting do not apply.
    #[must_use]
    pub fn new(
        world: DMat4,
        projection: Projection,
        width: usize,
        height: usize,
        effects: &CameraEffects,
    ) -> Self {
        let pinhole = Pinhole::new(world, projection, width, height);
        let has_lens = matches!(projection, Projection::Perspective { .. });
        Self {
            pinhole,
            pupil: effects
                .depth_of_field
                .filter(|_| has_lens)
                .and_then(|field| Pupil::new(&field, &pinhole)),
            motion: effects.motion_blur,
            vignetting: effects.vignetting.filter(|_| has_lens),
            mounted_lens: None,
            depth_of_field: effects.depth_of_field.is_some(),
        }
    }

    /// Replaces the thin lens by a lens prescription; depth of field still depends on its setting.
    #[must_use]
    pub fn with_lens(self, mounted: Option<Arc<MountedLens>>) -> Self {
        let has_lens = matches!(self.pinhole.projection, Projection::Perspective { .. });
        Self { mounted_lens: mounted.filter(|_| has_lens), ..self }
    }

    /// The pinhole of the camera, without lens and shutter, at the middle of the exposure.
    #[must_use]
    pub const fn pinhole(&self) -> &Pinhole {
        &self.pinhole
    }

    /// Vignetting factor at a picture position (pixels), 0 to 1.
    #[must_use]
    pub fn falloff(&self, place: DVec2) -> f64 {
        let by_lens = self
            .mounted_lens
            .as_ref()
            .map_or(1.0, |mounted| mounted.falloff(self.on_sensor(place, mounted)));
        by_lens * self.vignetting.map_or(1.0, |v| v.at(self.tangents(place, v.width).length()))
    }

    /// Sensor position (m, right and up) of a picture position (pixels).
    fn on_sensor(&self, place: DVec2, mounted: &MountedLens) -> DVec2 {
        let (width, height) = (self.pinhole.width as f64, self.pinhole.height as f64);
        DVec2::new(place.x / width - 0.5, 0.5 - place.y / height) * mounted.gate()
    }

    /// The ray through a mounted lens: origin, direction and weight. With chromatic aberration each
    /// color channel gets a third of the rays.
    fn ray_through_lens(
        &self,
        mounted: &MountedLens,
        place: DVec2,
        lens: DVec2,
    ) -> (DVec3, DVec3, DVec3) {
        let at = self.on_sensor(place, mounted);
        let (mut u, mut channel) = (lens, None);
        if mounted.aberrations().colors {
            let third = (lens.x * 3.0).floor().clamp(0.0, 2.0);
            u.x = lens.x * 3.0 - third;
            channel = Some(third as usize);
        }
        let ray = if self.depth_of_field {
            mounted.ray(at, u, channel)
        } else {
            mounted.chief_ray(at, channel)
        };
        let own = self.vignetting.map_or(1.0, |v| v.at(at.length() / mounted.pinhole_distance()));
        (ray.origin, ray.direction, ray.weight * own)
    }

    /// Tangents of the field angle to the right and up, for the picture width of the vignetting
    /// settings.
    fn tangents(&self, place: DVec2, width: f64) -> DVec2 {
        let center = DVec2::new(self.pinhole.width as f64, self.pinhole.height as f64) / 2.0;
        let off = (place - center) * (width / self.pinhole.width as f64);
        DVec2::new(off.x, -off.y)
    }
}

impl CameraModel for LensCamera {
    fn ray(&self, place: DVec2, lens: DVec2, time: f64) -> CameraRay {
        let (mut origin, mut direction) = self.pinhole.local(place);
        let mut weight;
        if let Some(mounted) = &self.mounted_lens {
            (origin, direction, weight) = self.ray_through_lens(mounted, place, lens);
        } else if let Some(pupil) = &self.pupil {
            weight = DVec3::splat(self.falloff(place));
            let at = pupil.iris_point(lens);
            let open = pupil.rim_opening(direction.truncate(), at);
            weight = if open > 0.0 { weight / open } else { DVec3::ZERO };
            // Through the pinhole's point on the focus plane; parallel to its ray for a focus at
            // infinity.
            origin = (at * pupil.radius).extend(0.0);
            direction -= (at * pupil.radius * pupil.inverse_focus_distance).extend(0.0);
        } else {
            weight = DVec3::splat(self.falloff(place));
        }
        if let Some(motion) = &self.motion {
            let line = place.y / self.pinhole.height as f64 - 0.5;
            let pose = motion.pose(motion.exposure * (time - 0.5 + motion.curtain() * line));
            origin = pose.transform_point3(origin);
            direction = pose.transform_vector3(direction);
        }
        CameraRay {
            origin: self.pinhole.to_world(origin),
            direction: self.pinhole.to_world(direction).normalize(),
            weight,
        }
    }
}

impl Pupil {
    /// `None` where the settings form no image; the look parser rejects such settings.
    fn new(field: &DepthOfField, pinhole: &Pinhole) -> Option<Self> {
        let [_, slope] = field.radius().ok()?;
        // `slope` is the pupil's radius times the image distance of the focus. With focus
        // breathing, the field of view belongs to that distance, and `radius` is the pupil's
        // radius. A lens corrected for breathing keeps its field of view and its circles of
        // confusion on the sensor, which this larger pupil reproduces.
        let aspect = pinhole.width as f64 / pinhole.height as f64;
        let radius = slope * 2.0 * pinhole.half_tangent() * aspect / field.gate_width;
        let real = field.lens.aperture_diameter() / 2.0;
        let rim = field.rim.filter(|rim| rim.distance != 0.0);
        Some(Self {
            radius,
            inverse_focus_distance: 1.0 / field.focus,
            iris: field.iris,
            rim: rim.map(|rim| Rim { radius: rim.radius / real, distance: rim.distance / real }),
        })
    }

    /// A uniformly distributed point of the iris, in radii of the circle through its corners.
    fn iris_point(&self, u: DVec2) -> DVec2 {
        let Iris { blades, curvature, rotation } = self.iris;
        if blades < 3 {
            return concentric(u);
        }
        // Samples half a side at a time. The edge, at an angle a from the side's middle, is c + (1
        // - c) cos(h) / cos(a), with half the side's angle h and the curvature c (`Iris::edge`).
        // The area is the integral of half of its square over a.
        let (c, h) = (curvature.clamp(0.0, 1.0), TAU / f64::from(blades) / 2.0);
        let halves = f64::from(blades) * 2.0;
        let which = (u.x * halves).floor().min(halves - 1.0);
        let part = (u.x * halves - which).clamp(0.0, 1.0);
        let (a1, a2) = (2.0 * c * (1.0 - c) * h.cos(), (1.0 - c).powi(2) * h.cos().powi(2));
        let area = |a: f64| c * c * a + a1 * (FRAC_PI_4 + a / 2.0).tan().ln() + a2 * a.tan();
        let goal = part * area(h);
        // The area is convex in the angle: Newton's method converges from the side's end without
        // overshoot.
        let mut angle = h;
        for _ in 0..16 {
            let edge = c + (1.0 - c) * h.cos() / angle.cos();
            let step = (area(angle) - goal) / (edge * edge);
            angle = (angle - step).clamp(0.0, h);
            if step.abs() < 1e-12 {
                break;
            }
        }
        let side = (which / 2.0).floor();
        let sign = if which % 2.0 == 0.0 { 1.0 } else { -1.0 };
        let direction = rotation + (2.0 * side + 1.0) * h + sign * angle;
        let reach = (c + (1.0 - c) * h.cos() / angle.cos()) * u.y.sqrt();
        DVec2::from_angle(direction) * reach
    }

    /// Area fraction of the iris that the barrel's rim leaves open at these field angle tangents; 0
    /// where `at` is covered. It cancels the rim's light loss, which belongs to vignetting: the
    /// raster renderer's bokeh discs keep their light too.
    fn rim_opening(&self, tangents: DVec2, at: DVec2) -> f64 {
        let Some(rim) = self.rim else { return 1.0 };
        // For a point right of the axis the front rim appears shifted to the left of the pupil.
        let mut center = -tangents * rim.distance;
        // As in shaders/lib/aperture.glsl: a rim that covers the iris's center is moved back to it.
        let far_out = center.length() / (0.95 * rim.radius);
        if far_out > 1.0 {
            center /= far_out;
        }
        if center.length() + 1.0 <= rim.radius {
            return 1.0;
        }
        if at.distance_squared(center) > rim.radius * rim.radius {
            return 0.0;
        }
        if self.iris.blades < 3 {
            return pupil_overlap(rim.radius, center.length());
        }
        // Midpoint rule over directions: both outlines are star-shaped about the iris's center.
        let (mut cut, mut all) = (0.0, 0.0);
        for i in 0..128 {
            let angle = (f64::from(i) + 0.5) / 128.0 * TAU;
            let along = DVec2::from_angle(angle).dot(center);
            let to_rim = along
                + (along * along + rim.radius * rim.radius - center.length_squared())
                    .max(0.0)
                    .sqrt();
            let edge = self.iris.edge(angle);
            cut += edge.min(to_rim).powi(2);
            all += edge * edge;
        }
        cut / all
    }
}

/// Uniform point of the unit disk: Shirley and Chiu, "A Low Distortion Map Between Disk and Square"
/// (1997).
fn concentric(u: DVec2) -> DVec2 {
    let p = 2.0 * u - 1.0;
    if p == DVec2::ZERO {
        return p;
    }
    let (radius, angle) = if p.x.abs() > p.y.abs() {
        (p.x, FRAC_PI_4 * p.y / p.x)
    } else {
        (p.y, 2.0 * FRAC_PI_4 - FRAC_PI_4 * p.x / p.y)
    };
    DVec2::from_angle(angle) * radius
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        camera::{
            CameraRig, ThinLens,
            body::{SensorSize, Shutter},
        },
        optics::focus::circle_of_confusion,
        reference::sampler::{Sampler, SamplerKind},
        scene::build::look_at_transform,
    };

    const SIZE: (usize, usize) = (360, 240);

    /// 50 mm at an f-number on the full frame, focused at a distance (m).
    fn rig(f_stop: f64, focus: f64, breathing: bool) -> (DepthOfField, Projection) {
        let gate = SensorSize { width: 0.036, height: 0.024 };
        let rig =
            CameraRig::with_lens(ThinLens::new(0.05, f_stop).unwrap(), focus, gate, breathing)
                .unwrap();
        let field = DepthOfField {
            lens: rig.lens,
            focus,
            gate_width: rig.gate.width,
            iris: Iris::default(),
            rim: None,
        };
        let vertical_fov = rig.vertical_fov() as f32;
        (field, Projection::Perspective { vertical_fov, aspect: None, near: 0.01, far: None })
    }

    fn camera(field: DepthOfField, projection: Projection) -> LensCamera {
        let effects = CameraEffects { depth_of_field: Some(field), ..CameraEffects::default() };
        LensCamera::new(
            look_at_transform(DVec3::new(1.0, 2.0, 3.0), DVec3::ZERO),
            projection,
            SIZE.0,
            SIZE.1,
            &effects,
        )
    }

    /// Picture position (pixels) of a point in camera space through a lens position, by moving the
    /// picture position until the ray hits the point.
    fn image(camera: &LensCamera, point: DVec3, lens: DVec2) -> DVec2 {
        let mut place = DVec2::new(SIZE.0 as f64, SIZE.1 as f64) / 2.0;
        let forward = camera.pinhole.forward();
        let [right, up, _] = camera.pinhole.axes;
        let pixel = 2.0 * camera.pinhole.half_tangent() / SIZE.1 as f64;
        for _ in 0..50 {
            let ray = camera.ray(place, lens, 0.5);
            let t = -point.z / ray.direction.dot(forward);
            let at = ray.origin + ray.direction * t;
            let off = DVec2::new(at.dot(right) - point.x, at.dot(up) - point.y);
            place -= DVec2::new(off.x, -off.y) / (pixel * -point.z);
        }
        place
    }

    #[test]
    fn circles_of_confusion_are_those_of_the_thin_lens() {
        for (f_stop, focus, breathing) in
            [(2.0, 2.0, true), (2.8, 1.0, true), (2.0, f64::INFINITY, true), (2.0, 0.5, false)]
        {
            let (field, projection) = rig(f_stop, focus, breathing);
            let camera = camera(field, projection);
            for z in [0.4, 0.9, 3.0, 4.0, 1e6] {
                let want =
                    circle_of_confusion(field.lens, focus, z).unwrap() * SIZE.0 as f64 / 0.036;
                // The left and right ends of the disk: concentric(0, 1/2) and (1, 1/2).
                let point = DVec3::new(0.01 * z, -0.02 * z, -z);
                let left = image(&camera, point, DVec2::new(0.0, 0.5));
                let right = image(&camera, point, DVec2::new(1.0, 0.5));
                let got = right.x - left.x;
                assert!(
                    (got - want).abs() < 1e-4 * want.abs() + 1e-5,
                    "f/{f_stop} {focus} m, {z} m: {got} {want}"
                );
                assert!((right.y - left.y).abs() < 1e-6);
            }
        }
        // shared with the documents: 50 mm f/2 at 2 m, a point at 4 m: 0.320513 mm.
        let (field, _) = rig(2.0, 2.0, true);
        assert!((circle_of_confusion(field.lens, 2.0, 4.0).unwrap() - 0.320_513e-3).abs() < 1e-9);
    }

    #[test]
    fn the_focus_plane_is_sharp_and_a_pinhole_is_one() {
        let (field, projection) = rig(1.4, 2.0, true);
        let lens = camera(field, projection);
        let pose = look_at_transform(DVec3::new(1.0, 2.0, 3.0), DVec3::ZERO);
        let none = LensCamera::new(pose, projection, SIZE.0, SIZE.1, &CameraEffects::default());
        let pinhole = Pinhole::new(pose, projection, SIZE.0, SIZE.1);
        for place in [DVec2::new(20.0, 30.0), DVec2::new(180.0, 120.0), DVec2::new(350.5, 3.25)] {
            let (origin, direction) = pinhole.ray(place);
            let ray = none.ray(place, DVec2::new(0.1, 0.9), 0.3);
            assert_eq!((ray.origin, ray.direction, ray.weight), (origin, direction, DVec3::ONE));
            let target = direction / direction.dot(pinhole.forward()) * 2.0;
            for u in [DVec2::new(0.0, 0.5), DVec2::new(0.3, 0.9), DVec2::new(0.99, 0.01)] {
                let ray = lens.ray(place, u, 0.5);
                let t = 2.0 / ray.direction.dot(pinhole.forward());
                assert!((ray.origin + ray.direction * t - target).length() < 1e-9, "{place} {u}");
                assert_eq!(ray.weight, DVec3::ONE);
            }
        }
    }

    #[test]
    fn irises_are_filled_evenly() {
        for iris in [
            Iris::default(),
            Iris { blades: 3, curvature: 0.0, rotation: 0.3 },
            Iris { blades: 5, curvature: 0.4, rotation: -1.0 },
            Iris { blades: 8, curvature: 1.0, rotation: 0.0 },
        ] {
            let (field, projection) = rig(2.0, 2.0, true);
            let pupil = camera(DepthOfField { iris, ..field }, projection).pupil.unwrap();
            // Equal counts in sectors by their area and in rings of equal area of the star shape.
            let (mut sectors, mut rings) = ([0.0; 24], [0.0; 8]);
            let count = 1 << 15;
            for i in 0..count {
                let p = pupil.iris_point(Sampler::new(SamplerKind::Sobol, 4, 1, 1, i).next_2d());
                let edge = iris.edge(p.to_angle());
                let part = (p.length() / edge).powi(2);
                assert!(part <= 1.0 + 1e-9, "{iris:?}: {p} lies outside");
                rings[((part * 8.0) as usize).min(7)] += 8.0 / f64::from(count);
                sectors[(p.to_angle().rem_euclid(TAU) / TAU * 24.0) as usize % 24] +=
                    1.0 / f64::from(count);
            }
            for (i, sector) in sectors.iter().enumerate() {
                let area: f64 = (0..200)
                    .map(|k| {
                        iris.edge((i as f64 + (f64::from(k) + 0.5) / 200.0) / 24.0 * TAU).powi(2)
                            / 200.0
                            / 24.0
                    })
                    .sum::<f64>()
                    / iris.relative_area();
                assert!((sector / area - 1.0).abs() < 0.02, "{iris:?} sector {i}: {sector} {area}");
            }
            assert!(rings.iter().all(|ring| (ring - 1.0).abs() < 0.02), "{iris:?} {rings:?}");
        }
    }

    #[test]
    fn a_rim_cuts_discs_and_vignetting_takes_its_light() {
        for blades in [0, 6] {
            let iris = Iris { blades, curvature: 0.2, rotation: 0.1 };
            let (field, projection) = rig(1.4, 2.0, true);
            let pupil = field.lens.aperture_diameter() / 2.0;
            let rim = Some(Rim { radius: pupil * 1.2, distance: 0.05 });
            let field = DepthOfField { iris, rim, ..field };
            let width = field.gate_width / field.lens.image_distance(2.0).unwrap();
            let vignetting = Vignetting { exponent: 4.0, width, pupil_radius: pupil, rim };
            let effects = CameraEffects {
                depth_of_field: Some(field),
                vignetting: Some(vignetting),
                ..CameraEffects::default()
            };
            let camera = LensCamera::new(DMat4::IDENTITY, projection, SIZE.0, SIZE.1, &effects);
            for place in [DVec2::new(180.0, 120.0), DVec2::new(300.0, 200.0), DVec2::new(0.0, 0.0)]
            {
                let count = 1 << 13;
                let weights: Vec<f64> = (0..count)
                    .map(|i| {
                        camera
                            .ray(place, Sampler::new(SamplerKind::Sobol, 0, 0, 0, i).next_2d(), 0.5)
                            .weight
                            .x
                    })
                    .collect();
                let mean = weights.iter().sum::<f64>() / f64::from(count);
                let off = (place - DVec2::new(180.0, 120.0)).length() * width / 360.0;
                let want = vignetting.at(off);
                assert!((mean / want - 1.0).abs() < 5e-3, "{blades} {place}: {mean} {want}");
                let cut = weights.contains(&0.0);
                assert_eq!(cut, place.distance(DVec2::new(180.0, 120.0)) > 1.0, "{place}");
            }
        }
    }

    #[test]
    fn the_shutter_moves_the_camera() {
        let (_, projection) = rig(2.0, 2.0, true);
        let motion = MotionBlur {
            exposure: 0.02,
            shutter: Shutter::Rolling { readout: 0.01 },
            velocity: DVec3::new(1.0, 0.0, 0.0),
            rotation: DVec3::new(0.0, 1.5, 0.0),
        };
        let effects = CameraEffects { motion_blur: Some(motion), ..CameraEffects::default() };
        let camera = LensCamera::new(DMat4::IDENTITY, projection, SIZE.0, SIZE.1, &effects);
        let at = |y: f64, time: f64| camera.ray(DVec2::new(180.0, y), DVec2::splat(0.5), time);
        // The middle line at the middle of the exposure is at the picture's own time.
        assert_eq!(at(120.0, 0.5).origin, DVec3::ZERO);
        assert!((at(120.0, 1.0).origin.x - 0.01).abs() < 1e-12);
        let end = at(120.0, 1.0).direction;
        assert!((end.x + 0.015_f64.sin()).abs() < 1e-12, "turned to the left: {end}");
        // The last line is exposed half the read-out later.
        assert!((at(240.0, 0.5).origin.x - 0.005).abs() < 1e-12);
        assert!((at(0.0, 0.0).origin.x + 0.015).abs() < 1e-12);
    }

    #[test]
    fn a_parallel_projection_has_no_lens() {
        let (field, _) = rig(2.0, 2.0, true);
        let parallel =
            Projection::Orthographic { half_width: 3.0, half_height: 2.0, near: 0.1, far: 9.0 };
        let camera = camera(field, parallel);
        let ray = camera.ray(DVec2::new(360.0, 0.0), DVec2::new(0.9, 0.9), 0.1);
        let pinhole = Pinhole::ray(camera.pinhole(), DVec2::new(360.0, 0.0));
        assert_eq!((ray.origin, ray.direction), pinhole);
        assert!((ray.origin.length() - (9.0_f64 + 4.0 + 0.01).sqrt()).abs() < 1e-6);
    }
}
