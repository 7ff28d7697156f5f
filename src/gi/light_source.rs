//! Photon emission from punctual lights, area lights and suns.

use std::{
    f64::consts::{PI, TAU},
    sync::Arc,
};

use glam::{DMat4, DVec2, DVec3};

use super::{bounds::Bounds, cdf::sample_cdf, lobes::sample_cosine_hemisphere, photon::Photon};
use crate::{
    photometry::{
        Candela, Cone, Emitter, IesProfile, LightStrength, Lumen, Sides, Steradian,
        lights::cone_solid_angle,
    },
    scene::Light,
};

/// World-space frame of a light's node, relative to the anchor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pose {
    pub position: DVec3,
    /// Emission axis.
    pub axis: DVec3,
    /// Axis of the width or the length.
    pub right: DVec3,
    pub up: DVec3,
}

impl Pose {
    pub fn new(world: &DMat4, anchor: DVec3) -> Self {
        let axis = (-world.z_axis.truncate()).try_normalize().unwrap_or(DVec3::NEG_Z);
        let across = world.x_axis.truncate();
        let right = (across - axis * across.dot(axis))
            .try_normalize()
            .unwrap_or(axis.any_orthonormal_vector());
        Self { position: world.w_axis.truncate() - anchor, axis, right, up: right.cross(axis) }
    }
}

/// The light of a node as a photon source, without its strength and color.
#[derive(Clone, Debug)]
pub(super) struct PhotonLight {
    emitter: Emitter,
    pose: Pose,
    range: Option<f64>,
    pierces: bool,
    /// The horizontal plane cuts off a sun below it.
    horizon: bool,
    /// Scene bounds, for a sun.
    bounds: Option<Bounds>,
    profile: Option<Arc<IesProfile>>,
    distribution: Option<Arc<Distribution>>,
}

impl PartialEq for PhotonLight {
    fn eq(&self, other: &Self) -> bool {
        (self.emitter, self.range, self.pierces, self.horizon, self.bounds)
            == (other.emitter, other.range, other.pierces, other.horizon, other.bounds)
            && self.pose_that_counts() == other.pose_that_counts()
            && same(self.profile.as_ref(), other.profile.as_ref())
    }
}

/// True if both are the same allocation, or both absent.
fn same<T>(a: Option<&Arc<T>>, b: Option<&Arc<T>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => Arc::ptr_eq(a, b),
        (None, None) => true,
        _ => false,
    }
}

/// Importance sampling of a measured distribution within the light's cone.
#[derive(Clone, Debug)]
struct Distribution {
    /// Cumulative intensity over the peak times solid angle, over rows of the angle to the axis.
    rows: Vec<f64>,
    /// Cumulative intensity over the columns of azimuth of each row.
    columns: Vec<f64>,
    /// Flux over the peak intensity (sr), from the light's own photometry.
    flux: f64,
}

const ROWS: usize = 180;
const COLUMNS: usize = 72;

impl Distribution {
    fn new(light: &Light, profile: &IesProfile) -> Self {
        let relative = |theta: f64, phi: f64| relative(light.emitter(), profile, theta, phi);
        let corners: Vec<f64> = (0..=ROWS)
            .flat_map(|row| (0..COLUMNS).map(move |column| (row, column)))
            .map(|(row, column)| relative(theta(row as f64), azimuth(column as f64)))
            .collect();
        let corner = |row: usize, column: usize| {
            corners.get(row * COLUMNS + column % COLUMNS).copied().unwrap_or(0.0)
        };
        let mut means = Vec::with_capacity(ROWS * COLUMNS);
        for row in 0..ROWS {
            for column in 0..COLUMNS {
                let around = corner(row, column)
                    + corner(row + 1, column)
                    + corner(row, column + 1)
                    + corner(row + 1, column + 1);
                let inside = relative(theta(row as f64 + 0.5), azimuth(column as f64 + 0.5));
                means.push((around + 4.0 * inside) / 8.0);
            }
        }
        // A minimum probability covers features between the sample points.
        let min = 1e-3 * means.iter().sum::<f64>() / means.len() as f64;
        let (mut rows, mut columns) =
            (Vec::with_capacity(ROWS), Vec::with_capacity(ROWS * COLUMNS));
        let mut sum = 0.0;
        for (row, of_row) in means.chunks_exact(COLUMNS).enumerate() {
            let mut within = 0.0;
            columns.extend(of_row.iter().map(|mean| {
                within += mean + min;
                within
            }));
            sum += within * cell_angle(row);
            rows.push(sum);
        }
        let peak = light.candela().map_or(0.0, Candela::get);
        let flux = if peak > 0.0 { light.lumens().map_or(0.0, Lumen::get) / peak } else { 0.0 };
        // A light that is off still has a shape.
        Self { flux: if flux > 0.0 { flux } else { sum }, rows, columns }
    }

    /// Samples the angle to the axis and the azimuth; also returns the photon's weight.
    fn direction(
        &self,
        emitter: Emitter,
        profile: &IesProfile,
        u: DVec2,
    ) -> Option<(f64, f64, f64)> {
        let (row, down) = sample_cdf(&self.rows, u.x)?;
        let of_row = self.columns.get(row * COLUMNS..(row + 1) * COLUMNS)?;
        let (column, across) = sample_cdf(of_row, u.y)?;
        let (from, to) = (theta(row as f64).cos(), theta(row as f64 + 1.0).cos());
        let theta = (from + (to - from) * down).clamp(-1.0, 1.0).acos();
        let phi = azimuth(column as f64 + across);
        let density = (of_row[column] - column.checked_sub(1).map_or(0.0, |i| of_row[i]))
            / *self.rows.last()?;
        let weight = relative(emitter, profile, theta, phi) / (density * self.flux);
        Some((theta, phi, weight))
    }
}

fn theta(row: f64) -> f64 {
    PI * row / ROWS as f64
}

fn azimuth(column: f64) -> f64 {
    TAU * column / COLUMNS as f64
}

/// Solid angle (sr) of a cell in a row.
fn cell_angle(row: usize) -> f64 {
    TAU / COLUMNS as f64 * (theta(row as f64).cos() - theta(row as f64 + 1.0).cos())
}

/// Intensity over the peak, by the angle to the axis and the azimuth from right towards up.
fn relative(emitter: Emitter, profile: &IesProfile, theta: f64, phi: f64) -> f64 {
    let peak = profile.peak().get();
    let cone = emitter.relative_intensity(theta.cos()).unwrap_or(0.0);
    if peak <= 0.0 || cone <= 0.0 {
        return 0.0;
    }
    // The nadir lies along -Z, C0 along +X.
    let local = DVec3::new(theta.sin() * phi.cos(), theta.sin() * phi.sin(), -theta.cos());
    cone * profile.candela_towards(local).get() / peak
}

impl PhotonLight {
    pub fn new(light: &Light, pose: Pose, bounds: &Bounds, before: Option<&Self>) -> Self {
        let emitter = light.emitter();
        let point = matches!(emitter, Emitter::Point | Emitter::Spot { .. });
        let profile = light.profile.clone().filter(|_| point);
        let distribution = profile.as_ref().map(|profile| {
            before
                .filter(|photon_light| {
                    photon_light.emitter == emitter
                        && same(photon_light.profile.as_ref(), Some(profile))
                })
                .and_then(|photon_light| photon_light.distribution.clone())
                .unwrap_or_else(|| Arc::new(Distribution::new(light, profile)))
        });
        Self {
            emitter,
            pose,
            range: light.range.filter(|_| point).map(f64::from),
            pierces: !light.shadow,
            horizon: light.clip_at_horizon,
            bounds: light.is_directional().then_some(*bounds),
            profile,
            distribution,
        }
    }

    /// The relevant part of the pose: suns have no position, and rotationally symmetric lights no
    /// azimuth.
    fn pose_that_counts(&self) -> Pose {
        let mut pose = self.pose;
        match self.emitter {
            Emitter::Sun { .. } => pose.position = DVec3::ZERO,
            Emitter::Point if self.profile.is_none() => {
                (pose.axis, pose.right, pose.up) = (DVec3::ZERO, DVec3::ZERO, DVec3::ZERO);
            }
            _ => {}
        }
        pose
    }

    /// Flux (lm) without the color; for a sun, the flux into the scene's box.
    pub fn flux(&self, light: &Light) -> f64 {
        match (self.emitter, &self.distribution) {
            (Emitter::Sun { .. }, _) => {
                light.source.lux(1.0).get()
                    * self.bounds.map_or(0.0, |bounds| bounds.shadow(self.pose.axis))
            }
            (_, Some(distribution)) => match light.source.authored() {
                LightStrength::Lumens(lumens) => lumens.get(),
                LightStrength::Candela(candela) => candela.get() * distribution.flux,
                _ => 0.0,
            },
            // The flux within the cone, independent of how the lumens were converted to candela.
            (Emitter::Spot { cone, .. }, None) => {
                light.source.candela().map_or(0.0, Candela::get) * cone.flux_per_candela().get()
            }
            (Emitter::Point, None) => light.source.candela().map_or(0.0, Candela::get) * 4.0 * PI,
            _ => light.source.lumens().map_or(0.0, Lumen::get),
        }
    }

    pub fn photon(&self, direction: DVec2, position: DVec2) -> Option<Photon> {
        let mut photon = match self.emitter {
            Emitter::Sun { angular_radius } => self.of_sun(angular_radius, direction, position)?,
            Emitter::Point | Emitter::Spot { .. } => self.of_point(direction)?,
            _ => self.of_surface(direction, position),
        };
        (photon.range, photon.unshadowed) = (self.range, self.pierces);
        Some(photon)
    }

    fn leaving(origin: DVec3, direction: DVec3, away: DVec3, weight: f64) -> Photon {
        Photon {
            origin,
            direction,
            offset_normal: away,
            weight: DVec3::splat(weight),
            range: None,
            unshadowed: false,
        }
    }

    /// Direction from the angle to the axis, given as `1 - cos`, and the azimuth.
    fn towards(&self, below: f64, phi: f64) -> DVec3 {
        let (sin, cos) = phi.sin_cos();
        let flat = (below * (2.0 - below)).max(0.0).sqrt();
        let Pose { axis, right, up, .. } = self.pose;
        (right * (flat * cos) + up * (flat * sin) + axis * (1.0 - below)).normalize_or(axis)
    }

    fn of_point(&self, u: DVec2) -> Option<Photon> {
        let at = self.pose.position;
        if let (Some(profile), Some(distribution)) = (&self.profile, &self.distribution) {
            let (theta, phi, weight) = distribution.direction(self.emitter, profile, u)?;
            let direction = self.towards(1.0 - theta.cos(), phi);
            return Some(Self::leaving(at, direction, DVec3::ZERO, weight));
        }
        let below = match self.emitter {
            Emitter::Spot { cone, .. } => below_axis(cone, u.x),
            _ => 2.0 * u.x,
        };
        Some(Self::leaving(at, self.towards(below, TAU * u.y), DVec3::ZERO, 1.0))
    }

    /// Each direction of the sun's disk illuminates the box with its projected area.
    fn of_sun(&self, angular_radius: f64, direction: DVec2, position: DVec2) -> Option<Photon> {
        let bounds = self.bounds?;
        let below = 2.0 * (angular_radius / 2.0).sin().powi(2);
        let towards = self.towards(below * direction.x, TAU * direction.y);
        // A sun direction below the horizon gives a photon without flux.
        let above = !self.horizon || towards.y <= 0.0;
        let mut weight = if above {
            bounds.shadow(towards) / bounds.shadow(self.pose.axis).max(1e-300)
        } else {
            0.0
        };
        if let Some(Steradian(projected)) =
            self.emitter.projected_solid_angle().filter(|angle| angle.get() > 0.0)
        {
            weight *= cone_solid_angle(angular_radius).get() / projected;
        }
        Some(Self::leaving(bounds.entry(towards, position), towards, DVec3::ZERO, weight))
    }

    /// Uniform point on the surface, cosine-distributed direction.
    fn of_surface(&self, direction: DVec2, position: DVec2) -> Photon {
        let Pose { position: middle, axis, right, up } = self.pose;
        let mut direction = direction;
        let mut side = |sides: Sides| {
            if sides == Sides::One {
                return axis;
            }
            let back = direction.x >= 0.5;
            direction.x = (2.0 * direction.x).fract();
            if back { -axis } else { axis }
        };
        let around = |phi: f64| up * phi.cos() + axis * phi.sin();
        let phi = TAU * position.y;
        let (offset, normal) = match self.emitter {
            Emitter::Sphere { radius } => {
                let z = 1.0 - 2.0 * position.x;
                let normal = right * z + around(phi) * (1.0 - z * z).max(0.0).sqrt();
                (normal * radius, normal)
            }
            Emitter::Disk { radius, sides } => {
                let r = radius * position.x.sqrt();
                (right * (r * phi.cos()) + up * (r * phi.sin()), side(sides))
            }
            Emitter::Rectangle { width, height, sides } => (
                right * (width * (position.x - 0.5)) + up * (height * (position.y - 0.5)),
                side(sides),
            ),
            Emitter::Tube { radius, length } => {
                // Both round ends together are a sphere: 2 pi r l beside 4 pi r^2.
                let whole = position.x * (length + 2.0 * radius);
                if whole < length {
                    let normal = around(phi);
                    (right * (whole - length / 2.0) + normal * radius, normal)
                } else {
                    let z = (1.0 - (whole - length) / radius).clamp(-1.0, 1.0);
                    let normal = right * z + around(phi) * (1.0 - z * z).max(0.0).sqrt();
                    (right * (length / 2.0).copysign(z) + normal * radius, normal)
                }
            }
            Emitter::Point | Emitter::Spot { .. } | Emitter::Sun { .. } => (DVec3::ZERO, axis),
        };
        let normal = normal.normalize_or(axis);
        Self::leaving(middle + offset, sample_cosine_hemisphere(normal, direction), normal, 1.0)
    }
}

/// Samples `1 - cos` of the angle to a cone's axis in proportion to its intensity. The falloff is 1
/// down to the cosine `ci` of the inner angle and a parabola from there to `co` (`Cone::falloff`);
/// the integrals have closed-form inverses.
fn below_axis(cone: Cone, u: f64) -> f64 {
    let one_minus = |angle: f64| 2.0 * (angle / 2.0).sin().powi(2);
    let (inner, outer) = (one_minus(cone.inner()), one_minus(cone.outer()));
    let edge = outer - inner;
    let light = u * (inner + edge / 3.0);
    if light < inner || edge <= 0.0 {
        return light.min(outer);
    }
    // A part 1 - s^3 of the edge's flux lies inside the angle where the parabola is s^2.
    let s = (1.0 - 3.0 * (light - inner) / edge).max(0.0).cbrt();
    inner + edge * (1.0 - s)
}
