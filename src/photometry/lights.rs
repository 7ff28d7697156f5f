//! Conversions between the units of a light, for each kind of emitter, with the authored unit kept.
//!
//! A `PhysicalLight` is an emitter (its type and shape) with the authored strength. Every other
//! unit is derived, and a change of the emitter keeps the authored value: a wider cone dims a spot
//! in lumens, but not one in candela.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use glam::DVec3;

use super::units::{Candela, Ev100, Lumen, Lux, Nit, Steradian};

/// The sun's mean angular radius in radians: 0.2666 degrees, half of its 31.99 arc minutes at one
/// astronomical unit.
pub const SUN_ANGULAR_RADIUS: f64 = 0.2666 * PI / 180.0;

/// Minimum distance for zero-size lights in meters.
///
/// Lagarde and de Rousiers, "Moving Frostbite to PBR" (2014), section 4.5: punctual lights are
/// never nearer than 1 cm.
const MIN_SOURCE_RADIUS: f64 = 0.01;

/// Luminance over `2^EV100`, in nits: `K / 100` with `K` = 12.5 (ISO 2720:1974).
const NITS_AT_EV_ZERO: f64 = 0.125;

/// Valid lengths of a shape in m; within them no conversion over- or underflows.
const LENGTH_LIMITS: [f64; 2] = [1e-6, 1e12];

/// Maximum strength in any linear unit.
pub const STRENGTH_LIMIT: f64 = 1e30;

/// Invalid light. Each message states the value and its valid range.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum LightError {
    /// The strength is negative, NaN or above `STRENGTH_LIMIT`.
    #[error("invalid light strength {value} {unit}: expected 0 to {STRENGTH_LIMIT:e}")]
    Strength {
        /// The invalid strength.
        value: f64,
        /// Its unit.
        unit: &'static str,
    },
    /// The strength in EV is not a number or outside of -64 to 64.
    #[error("invalid light strength {0} EV100: expected -64 to 64")]
    Ev(f64),
    /// A length of the shape is not within `LENGTH_LIMITS`.
    #[error("the light's {what} is {value} m; it must lie between {min:e} and {max:e} m", min = LENGTH_LIMITS[0], max = LENGTH_LIMITS[1])]
    Length {
        /// Name of the length.
        what: &'static str,
        /// The invalid length.
        value: f64,
    },
    /// A cone's angles are not `0 <= inner <= outer <= pi` with `outer > 0`.
    #[error(
        "the cone's half angles are {:.4} and {:.4} degrees; they must obey 0 <= inner <= outer <= 180, outer > 0",
        inner.to_degrees(), outer.to_degrees()
    )]
    Cone {
        /// The inner half angle.
        inner: f64,
        /// The outer half angle.
        outer: f64,
    },
    /// The sun's angular radius is not a number from 0 to a quarter turn.
    #[error("the sun's angular radius is {0} rad; it must lie between 0 and pi/2")]
    AngularRadius(f64),
    /// The emitter cannot be given in this unit.
    #[error("a {emitter} cannot be given in {unit}; use {remedy}")]
    Unit {
        /// The emitter's name.
        emitter: &'static str,
        /// The unit that was tried.
        unit: &'static str,
        /// Supported units.
        remedy: &'static str,
    },
}

/// Authored strength of a light.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LightStrength {
    /// Luminous flux.
    Lumens(Lumen),
    /// Maximum intensity: on the axis, or across a tube.
    Candela(Candela),
    /// Illuminance on a surface that faces the sun.
    Lux(Lux),
    /// Luminance of the emitting surface.
    Nits(Nit),
    /// Luminance of the emitting surface as an exposure value: `0.125 * 2^EV` nits.
    Ev(Ev100),
}

impl LightStrength {
    /// The symbol of the authored unit.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Lumens(_) => Lumen::UNIT,
            Self::Candela(_) => Candela::UNIT,
            Self::Lux(_) => Lux::UNIT,
            Self::Nits(_) => Nit::UNIT,
            Self::Ev(_) => Ev100::UNIT,
        }
    }

    /// The authored number.
    #[must_use]
    pub const fn value(self) -> f64 {
        match self {
            Self::Lumens(Lumen(x))
            | Self::Candela(Candela(x))
            | Self::Lux(Lux(x))
            | Self::Nits(Nit(x)) => x,
            Self::Ev(Ev100(x)) => x,
        }
    }

    fn checked(self) -> Result<Self, LightError> {
        let value = self.value();
        match self {
            Self::Ev(_) if value.abs() <= 64.0 => Ok(self),
            Self::Ev(_) => Err(LightError::Ev(value)),
            _ if (0.0..=STRENGTH_LIMIT).contains(&value) => Ok(self),
            _ => Err(LightError::Strength { value, unit: self.unit() }),
        }
    }
}

impl std::fmt::Display for LightStrength {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Lumens(x) => x.fmt(f),
            Self::Candela(x) => x.fmt(f),
            Self::Lux(x) => x.fmt(f),
            Self::Nits(x) => x.fmt(f),
            Self::Ev(x) => x.fmt(f),
        }
    }
}

/// A spot's cone by its half angles in radians, `0 <= inner <= outer <= pi`, `outer > 0`.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "ConeAngles")]
pub struct Cone {
    inner: f64,
    outer: f64,
}

/// Unvalidated cone, for deserialization.
#[derive(serde::Deserialize)]
struct ConeAngles {
    inner: f64,
    outer: f64,
}

impl TryFrom<ConeAngles> for Cone {
    type Error = LightError;
    fn try_from(angles: ConeAngles) -> Result<Self, LightError> {
        Self::new(angles.inner, angles.outer)
    }
}

impl Cone {
    /// A cone whose intensity is full within `inner` and zero beyond `outer`, both half angles in
    /// radians.
    ///
    /// # Errors
    /// Angles that are not `0 <= inner <= outer <= pi` with `outer > 0`.
    pub fn new(inner: f64, outer: f64) -> Result<Self, LightError> {
        if inner >= 0.0 && inner <= outer && outer <= PI && outer > 0.0 {
            Ok(Self { inner, outer })
        } else {
            Err(LightError::Cone { inner, outer })
        }
    }

    /// The half angle (rad) up to which the intensity is full.
    #[must_use]
    pub const fn inner(self) -> f64 {
        self.inner
    }

    /// The half angle (rad) at which the intensity reaches zero.
    #[must_use]
    pub const fn outer(self) -> f64 {
        self.outer
    }

    /// Intensity at an angle to the axis over that on the axis, from the angle's cosine; 0 to 1.
    ///
    /// `clamp((cos - cos outer) / (cos inner - cos outer), 0, 1)^2`: KHR_lights_punctual, "Inner
    /// and Outer Cone Angles", without its minimum width of 0.001; a step if both angles are equal.
    #[must_use]
    pub fn falloff(self, cos_angle: f64) -> f64 {
        let (ci, co) = (self.inner.cos(), self.outer.cos());
        if ci - co <= 0.0 {
            return if cos_angle >= co { 1.0 } else { 0.0 };
        }
        ((cos_angle - co) / (ci - co)).clamp(0.0, 1.0).powi(2)
    }

    /// Flux over axial intensity of the real, smooth distribution: `2 pi ((1 - ci) + (ci - co) /
    /// 3)`, in sr.
    ///
    /// The integral `2 pi * integral of falloff over d(cos)`: 1 from `ci` to 1, and a parabola of
    /// mean 1/3 between `co` and `ci`. Frostbite's notes (section 4.5) leave this out, which
    /// changes the flux with the softness.
    #[must_use]
    pub fn flux_per_candela(self) -> Steradian {
        let one_minus = |angle: f64| 2.0 * (angle / 2.0).sin().powi(2);
        let (inner, outer) = (one_minus(self.inner), one_minus(self.outer));
        Steradian(TAU * (inner + (outer - inner) / 3.0))
    }

    /// Solid angle of the cone out to its outer edge: `2 pi (1 - cos outer)`.
    #[must_use]
    pub fn solid_angle(self) -> Steradian {
        cone_solid_angle(self.outer)
    }
}

/// Solid angle of a cone from its half angle in radians: `2 pi (1 - cos)`, without cancellation at
/// small angles.
#[must_use]
pub fn cone_solid_angle(half_angle: f64) -> Steradian {
    Steradian(2.0 * TAU * (half_angle / 2.0).sin().powi(2))
}

/// Visible part of a sun's disk over a level horizon.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SunDisk {
    /// Unit direction to the center of the whole disk.
    pub middle: DVec3,
    /// Angular radius of the whole disk in rad.
    pub angular_radius: f64,
    /// Unit direction to the centroid of the visible part.
    pub towards: DVec3,
    /// Visible fraction of the area and of the illuminance, 0 to 1.
    pub visible_fraction: f64,
}

impl SunDisk {
    /// A fully visible disk.
    #[must_use]
    pub const fn whole(middle: DVec3, angular_radius: f64) -> Self {
        Self { middle, angular_radius, towards: middle, visible_fraction: 1.0 }
    }

    /// The part of a disk above the level horizon, world axes with +Y up: a circle cut by a line.
    /// With x radii from the line up to the middle the part above is `1/2 + (x sqrt(1 - x^2) + asin
    /// x) / pi`, and its centroid lies `2/3 (1 - x^2)^(3/2) / (pi part)` radii above the middle.
    /// Exact for small disks; of one of 10 degrees radius to 1 %.
    #[must_use]
    pub fn over_horizon(middle: DVec3, angular_radius: f64) -> Self {
        let elevation = middle.y.clamp(-1.0, 1.0).asin();
        if elevation >= angular_radius {
            return Self::whole(middle, angular_radius);
        }
        let x = elevation / angular_radius;
        if elevation <= -angular_radius || !x.is_finite() {
            return Self { visible_fraction: 0.0, ..Self::whole(middle, angular_radius) };
        }
        let rest = (1.0 - x * x).max(0.0);
        let part = 0.5 + (x * rest.sqrt() + x.asin()) / PI;
        let rise = if part > 1e-9 { 2.0 / 3.0 * rest.powf(1.5) / (PI * part) } else { -x };
        let (sin, cos) = (elevation + rise * angular_radius).sin_cos();
        let level = DVec3::new(middle.x, 0.0, middle.z).normalize_or(DVec3::NEG_Z);
        Self {
            middle,
            angular_radius,
            towards: level * cos + DVec3::Y * sin,
            visible_fraction: part,
        }
    }

    /// Angular radius (rad) of a round disk with the visible area: same luminance, same
    /// illuminance.
    #[must_use]
    pub fn equal_radius(&self) -> f64 {
        (self.visible_fraction.sqrt() * self.angular_radius.sin()).asin()
    }

    /// Illuminance of the visible part on level ground, relative to the whole disk on a plane that
    /// faces it.
    #[must_use]
    pub fn on_level_ground(&self) -> f64 {
        self.visible_fraction * self.towards.y.max(0.0)
    }
}

/// Conversion of a spot's lumens to candela. The distribution is the same; only the factor differs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpotFlux {
    /// By the integral of the smooth distribution: the lumens are exact.
    #[default]
    Exact,
    /// `I = F / (2 pi (1 - cos(apex / 2)))`, that of a hard edge.
    ///
    /// Lagarde and de Rousiers 2014, section 4.5 (the apex is the full angle).
    ApexCone,
    /// `I = F / pi`, independent of the cone: changing the cone keeps the brightness.
    ///
    /// "Physically Based Rendering in Filament", section "Spot lights"; exact for a hard apex of
    /// 120 degrees.
    PhiOverPi,
}

/// Emitting faces of a flat emitter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sides {
    /// The front only.
    #[default]
    One,
    /// Both, with the same luminance; each emits half of the lumens.
    Two,
}

impl Sides {
    const fn count(self) -> f64 {
        match self {
            Self::One => 1.0,
            Self::Two => 2.0,
        }
    }
}

/// Type and shape of a light. Surfaces are Lambertian: the same luminance in all directions.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case", tag = "shape")]
pub enum Emitter {
    /// A point: the same intensity everywhere.
    Point,
    /// A point that emits into a cone.
    Spot {
        /// The cone.
        cone: Cone,
        /// Conversion of lumens to candela.
        flux: SpotFlux,
    },
    /// A sphere.
    Sphere {
        /// Radius (m).
        radius: f64,
    },
    /// A flat disk.
    Disk {
        /// Radius (m).
        radius: f64,
        /// Emitting faces.
        sides: Sides,
    },
    /// A flat rectangle.
    Rectangle {
        /// Width (m).
        width: f64,
        /// Height (m).
        height: f64,
        /// Emitting faces.
        sides: Sides,
    },
    /// A tube with round ends (a capsule). Its axis is its length.
    Tube {
        /// Radius (m).
        radius: f64,
        /// Length (m) of the straight part.
        length: f64,
    },
    /// A disk of light infinitely far away, or parallel light.
    Sun {
        /// Angular radius in rad, at most pi/2; 0 for parallel light, which has no luminance.
        angular_radius: f64,
    },
}

impl Emitter {
    /// The real sun.
    pub const SUN: Self = Self::Sun { angular_radius: SUN_ANGULAR_RADIUS };

    /// Parallel light, the directional light of KHR_lights_punctual.
    pub const PARALLEL: Self = Self::Sun { angular_radius: 0.0 };

    /// Display name of the emitter.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Point => "point light",
            Self::Spot { .. } => "spot light",
            Self::Sphere { .. } => "sphere light",
            Self::Disk { .. } => "disk light",
            Self::Rectangle { .. } => "rectangle light",
            Self::Tube { .. } => "tube light",
            Self::Sun { angular_radius: 0.0 } => "directional light",
            Self::Sun { .. } => "sun",
        }
    }

    /// Validates this emitter.
    ///
    /// # Errors
    /// A length outside of `LENGTH_LIMITS` or an angular radius outside of 0 to pi/2.
    pub fn checked(self) -> Result<Self, LightError> {
        let length = |what: &'static str, value: f64| {
            if (LENGTH_LIMITS[0]..=LENGTH_LIMITS[1]).contains(&value) {
                Ok(())
            } else {
                Err(LightError::Length { what, value })
            }
        };
        match self {
            Self::Point | Self::Spot { .. } => {}
            Self::Sphere { radius } | Self::Disk { radius, .. } => length("radius", radius)?,
            Self::Rectangle { width, height, .. } => {
                length("width", width)?;
                length("height", height)?;
            }
            Self::Tube { radius, length: straight } => {
                length("radius", radius)?;
                length("length", straight)?;
            }
            Self::Sun { angular_radius } => {
                if angular_radius != 0.0
                    && !(LENGTH_LIMITS[0]..=FRAC_PI_2).contains(&angular_radius)
                {
                    return Err(LightError::AngularRadius(angular_radius));
                }
            }
        }
        Ok(self)
    }

    /// Emitting area in m2, of both sides if both emit; `None` for points and the sun.
    ///
    /// Sphere `4 pi r^2`, disk `pi r^2`, rectangle `w h`, tube `2 pi r l + 4 pi r^2`: Lagarde and
    /// de Rousiers 2014, section 4.7.
    #[must_use]
    pub fn area(self) -> Option<f64> {
        match self {
            Self::Point | Self::Spot { .. } | Self::Sun { .. } => None,
            Self::Sphere { radius } => Some(4.0 * PI * radius * radius),
            Self::Disk { radius, sides } => Some(PI * radius * radius * sides.count()),
            Self::Rectangle { width, height, sides } => Some(width * height * sides.count()),
            Self::Tube { radius, length } => {
                Some(TAU * radius * length + 4.0 * PI * radius * radius)
            }
        }
    }

    /// Projected area in m2 along the direction of maximum intensity, from far away: candela over
    /// nits. `None` for points and the sun.
    #[must_use]
    pub fn projected_area(self) -> Option<f64> {
        match self {
            Self::Point | Self::Spot { .. } | Self::Sun { .. } => None,
            Self::Sphere { radius } | Self::Disk { radius, .. } => Some(PI * radius * radius),
            Self::Rectangle { width, height, .. } => Some(width * height),
            Self::Tube { radius, length } => Some(2.0 * radius * length + PI * radius * radius),
        }
    }

    /// Flux over maximum intensity, in sr; `None` for the sun, whose flux is unbounded.
    ///
    /// Point `4 pi`; a spot by its `SpotFlux`; surfaces `pi A / A_projected`, since a Lambertian
    /// surface of luminance `L` gives `pi L A` lumens (Lagarde and de Rousiers 2014, section 4.7).
    #[must_use]
    pub fn flux_per_candela(self) -> Option<Steradian> {
        match self {
            Self::Point => Some(Steradian(4.0 * PI)),
            Self::Spot { cone, flux } => Some(match flux {
                SpotFlux::Exact => cone.flux_per_candela(),
                SpotFlux::ApexCone => cone.solid_angle(),
                SpotFlux::PhiOverPi => Steradian(PI),
            }),
            Self::Sun { .. } => None,
            _ => Some(Steradian(PI * self.area()? / self.projected_area()?)),
        }
    }

    /// The sun's projected solid angle `pi sin^2 r`: lux over nits. `None` for other emitters.
    ///
    /// The integral of the cosine over a disk around the normal. The plain solid angle `2 pi (1 -
    /// cos r)` of Lagarde and de Rousiers 2014 differs by 5e-6 for the real sun and by 0.8 % for
    /// one of 10 degrees.
    #[must_use]
    pub fn projected_solid_angle(self) -> Option<Steradian> {
        match self {
            Self::Sun { angular_radius } => Some(Steradian(PI * angular_radius.sin().powi(2))),
            _ => None,
        }
    }

    /// Intensity in a direction over the maximum, from far away; 0 to 1. `None` for the sun.
    ///
    /// `cos_axis` is the cosine of the direction's angle to the emitter's axis: where a spot, disk
    /// or rectangle points, and along a tube.
    #[must_use]
    pub fn relative_intensity(self, cos_axis: f64) -> Option<f64> {
        match self {
            Self::Point | Self::Sphere { .. } => Some(1.0),
            Self::Spot { cone, .. } => Some(cone.falloff(cos_axis)),
            Self::Disk { sides, .. } | Self::Rectangle { sides, .. } => Some(match sides {
                Sides::One => cos_axis.max(0.0),
                Sides::Two => cos_axis.abs(),
            }),
            Self::Tube { radius, length } => {
                let sin = (1.0 - cos_axis * cos_axis).max(0.0).sqrt();
                let side = 2.0 * length;
                Some((side * sin + PI * radius) / (side + PI * radius))
            }
            Self::Sun { .. } => None,
        }
    }

    /// Bounding sphere radius in m; 0 for points and the sun.
    #[must_use]
    pub fn bounding_radius(self) -> f64 {
        match self {
            Self::Point | Self::Spot { .. } | Self::Sun { .. } => 0.0,
            Self::Sphere { radius } | Self::Disk { radius, .. } => radius,
            Self::Rectangle { width, height, .. } => width.hypot(height) / 2.0,
            Self::Tube { radius, length } => length / 2.0 + radius,
        }
    }

    /// Minimum distance (m) for inverse-square falloff from the center: the emitter's radius, or
    /// half of a flat emitter's smaller side; `MIN_SOURCE_RADIUS` for points. `None` for the sun.
    #[must_use]
    fn source_radius(self) -> Option<f64> {
        match self {
            Self::Point | Self::Spot { .. } => Some(MIN_SOURCE_RADIUS),
            Self::Sphere { radius } | Self::Disk { radius, .. } | Self::Tube { radius, .. } => {
                Some(radius)
            }
            Self::Rectangle { width, height, .. } => Some(width.min(height) / 2.0),
            Self::Sun { .. } => None,
        }
    }
}

/// An emitter with its authored strength. All derived numbers are finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PhysicalLight {
    emitter: Emitter,
    authored: LightStrength,
}

impl PhysicalLight {
    /// An emitter with an authored strength.
    ///
    /// # Errors
    /// Invalid dimensions; a strength that is negative, NaN or beyond `STRENGTH_LIMIT`; a unit that
    /// the emitter does not support. Nits and EV need a surface, lux a sun, lumens and candela any
    /// other emitter.
    pub fn new(emitter: Emitter, strength: LightStrength) -> Result<Self, LightError> {
        let (emitter, authored) = (emitter.checked()?, strength.checked()?);
        let refuse = |remedy| {
            Err(LightError::Unit { emitter: emitter.name(), unit: authored.unit(), remedy })
        };
        match (emitter, authored) {
            (
                Emitter::Sun { angular_radius: 0.0 },
                LightStrength::Nits(_) | LightStrength::Ev(_),
            ) => refuse("lux, or give it a size"),
            (Emitter::Sun { .. }, LightStrength::Lumens(_) | LightStrength::Candela(_)) => {
                refuse("lux, nits or EV")
            }
            (
                Emitter::Point | Emitter::Spot { .. },
                LightStrength::Nits(_) | LightStrength::Ev(_),
            ) => refuse("lumens or candela, or give it a size as a sphere or disk"),
            (Emitter::Point | Emitter::Spot { .. }, LightStrength::Lux(_)) => {
                refuse("lumens or candela")
            }
            (Emitter::Sun { .. }, _) => Ok(Self { emitter, authored }),
            (_, LightStrength::Lux(_)) => refuse("lumens, candela, nits or EV"),
            _ => Ok(Self { emitter, authored }),
        }
    }

    /// The emitter.
    #[must_use]
    pub const fn emitter(self) -> Emitter {
        self.emitter
    }

    /// The authored strength.
    #[must_use]
    pub const fn authored(self) -> LightStrength {
        self.authored
    }

    /// Luminous flux; `None` for the sun.
    #[must_use]
    pub fn lumens(self) -> Option<Lumen> {
        if let LightStrength::Lumens(lumens) = self.authored {
            return Some(lumens);
        }
        Some(Lumen(self.candela()?.0 * self.emitter.flux_per_candela()?.0))
    }

    /// Maximum intensity, from far away; `None` for the sun.
    #[must_use]
    pub fn candela(self) -> Option<Candela> {
        match self.authored {
            LightStrength::Candela(candela) => Some(candela),
            LightStrength::Lumens(lumens) => {
                Some(Candela(lumens.0 / self.emitter.flux_per_candela()?.0))
            }
            LightStrength::Nits(_) | LightStrength::Ev(_) => {
                Some(Candela(self.authored_luminance()?.0 * self.emitter.projected_area()?))
            }
            LightStrength::Lux(_) => None,
        }
    }

    /// Luminance of the surface; `None` for points and parallel light, which have no surface.
    #[must_use]
    pub fn nits(self) -> Option<Nit> {
        match (self.authored, self.emitter.projected_solid_angle()) {
            (LightStrength::Nits(_) | LightStrength::Ev(_), _) => self.authored_luminance(),
            (LightStrength::Lux(_), Some(Steradian(0.0))) => None,
            (LightStrength::Lux(lux), Some(angle)) => Some(Nit(lux.0 / angle.0)),
            _ => Some(Nit(self.candela()?.0 / self.emitter.projected_area()?)),
        }
    }

    /// Luminance of the surface as an exposure value; `None` for points and for lights that are
    /// off.
    #[must_use]
    pub fn ev100(self) -> Option<Ev100> {
        match self.authored {
            LightStrength::Ev(ev) => Some(ev),
            _ => self.nits().and_then(luminance_to_ev100),
        }
    }

    /// Illuminance on a surface that faces the light: of the sun anywhere, of others at `distance`
    /// meters from the center along the direction of maximum intensity, by the inverse square.
    #[must_use]
    pub fn lux(self, distance: f64) -> Lux {
        match (self.authored, self.emitter.projected_solid_angle()) {
            (LightStrength::Lux(lux), _) => lux,
            (_, Some(angle)) => Lux(self.authored_luminance().map_or(0.0, |l| l.0 * angle.0)),
            _ => {
                let floor = self.emitter.source_radius().unwrap_or(MIN_SOURCE_RADIUS);
                Lux(self.candela().map_or(0.0, |i| i.0 * inverse_square(distance, floor)))
            }
        }
    }

    fn authored_luminance(self) -> Option<Nit> {
        match self.authored {
            LightStrength::Nits(nits) => Some(nits),
            LightStrength::Ev(ev) => Some(ev100_to_luminance(ev)),
            _ => None,
        }
    }
}

/// Luminance of an exposure value: `0.125 * 2^EV100` nits. Lagarde and de Rousiers 2014, section
/// 4.4 (`2^(EV - 3)`).
#[must_use]
pub fn ev100_to_luminance(ev: Ev100) -> Nit {
    Nit(NITS_AT_EV_ZERO * ev.0.exp2())
}

/// Exposure value of a luminance; `None` unless it is finite and above 0. The inverse of
/// `ev100_to_luminance`.
#[must_use]
pub fn luminance_to_ev100(luminance: Nit) -> Option<Ev100> {
    let ev = (luminance.0 / NITS_AT_EV_ZERO).log2();
    ev.is_finite().then_some(Ev100(ev))
}

/// Illuminance per candela at `distance` meters: `1 / max(d^2, r^2)`, in 1/m2, never above `1 /
/// r^2`.
///
/// The inverse square of Lambert and Kepler; for a sphere of radius `r` it is exact everywhere
/// outside (Lagarde and de Rousiers 2014, section 4.7). `source_radius` below `MIN_SOURCE_RADIUS`
/// counts as that.
#[must_use]
pub fn inverse_square(distance: f64, source_radius: f64) -> f64 {
    let d = distance.abs().max(source_radius).max(MIN_SOURCE_RADIUS);
    1.0 / (d * d)
}

#[cfg(test)]
mod tests;
