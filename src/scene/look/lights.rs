//! `lights.NAME.*`: light properties that glTF lacks: photometric units, color temperature, shapes,
//! photometric profiles.

use std::{
    collections::BTreeMap,
    f64::consts::PI,
    path::{Path, PathBuf},
    sync::Arc,
};

use glam::{DMat4, DVec3, Vec3};

use super::{
    LookError, environment_suns::is_extracted_light, light_modifiers::ModifierSettings,
    reader::Reader, suggestions::unknown_light,
};
use crate::{
    message::read_file,
    photometry::{
        Candela, Chromaticity, ColorError, Ev100, IesProfile, Kelvin, Lux, Nit, color,
        gel::Gel,
        ies::{self, Tilt},
        light_modifiers::BarnDoors,
        lights::{Cone, Emitter, LightStrength, PhysicalLight, Sides, SpotFlux},
        units::Lumen,
    },
    scene::{Light, Note, NoteKind, Scene, address::AddressTable},
    settings::{Accepts, Choice, choices::choices, define::section},
};

/// Minimum fraction of a photometric file's light inside a cone for lumens to be given in it.
const LEAST_INSIDE: f64 = 1e-4;

/// Default width of the penumbra of barn doors (rad): 2 degrees.
const BARN_DOOR_PENUMBRA: f64 = 2.0 * PI / 180.0;

/// Minimum and maximum size of a light (m): single precision loses its light beyond.
const SIZE: Accepts = Accepts::Range { min: 1e-6, max: 1e4, integer: false };

/// World position (m), within the range of single precision.
const PLACE: Accepts = Accepts::Components { min: -1e9, max: 1e9, one: false };

const TINT: Accepts =
    Accepts::Range { min: -color::DUV_LIMIT, max: color::DUV_LIMIT, integer: false };

const KELVIN: Accepts =
    Accepts::Range { min: color::KELVIN_LIMITS[0], max: color::KELVIN_LIMITS[1], integer: false };

const fn degrees(min: f64, max: f64) -> Accepts {
    Accepts::Angle { min, max }
}

section! {
    /// Overrides of one light, by its address: its name, its node's name or `#3`. Angles of cones
    /// and suns in radians.
    pub struct LightLook in "lights.*" {
        enabled: bool = true, "true or false", affects Scene;
        add: bool = false,
            "true or false: adds a light of this name, which the file lacks, at its position or parent (a sun: with its aim or parent); by default a point light of 1000 lm, a sun of 10000 lx";
        parent: String, accepts Accepts::Name,
            "node of the file, by name or number (#0), that carries an added light: position and aim are then in the node's space, and the light moves with the node";
        shadow: bool,
            "true or false: surfaces cast shadows in this light; volumes attenuate it either way";
        visible: bool,
            "true or false: its emissive surface is visible (sphere, disk, rectangle, tube)";
        lumens: f64, accepts Accepts::NonNegative, unit "lm",
            "luminous flux in lumens, 0 or more (all but suns)", affects Lights;
        candela: f64, accepts Accepts::NonNegative, unit "cd",
            "maximum luminous intensity in candela, 0 or more (all but suns)", affects Lights;
        lux: f64, accepts Accepts::NonNegative, unit "lx",
            "illuminance in lux on a surface that faces it, 0 or more (suns)", affects Lights;
        nits: f64, accepts Accepts::NonNegative, unit "nit",
            "luminance in nits, 0 or more (shapes and suns with a size)", affects Lights;
        ev100: f64, in -64.0..=64.0, unit "EV",
            "luminance as an exposure value at ISO 100, -64 to 64 (shapes and suns with a size)",
            affects Lights;
        kelvin: f64, accepts KELVIN, unit "K",
            "color temperature in kelvins, 500 to 1000000 (daylight: 4000 to 25000); the strength is kept",
            affects Lights;
        locus: LightLocus = LightLocus::Planck,
            "locus of the color temperature: planck (black body, the default) or daylight (CIE D)",
            affects Lights;
        tint: f64 = 0.0, accepts TINT, unit "Duv",
            "tint as Duv, -0.05 (magenta) to 0.05 (green), with kelvin", affects Lights;
        gel: String, accepts Accepts::Checked(is_gel),
            "gel: CTO or CTB (also 1/2, 1/4, 1/8, as in 1/2 CTO), 0.15, 0.3, 0.6 or 0.9 ND, CC filters such as CC30M, or the transmittances of red, green and blue, 0 to 1; + stacks gels",
            affects Lights;
        ies: PathBuf,
            "photometric profile: an IES or EULUMDAT file, relative to the look file (point, spot)";
        ies_tilt: f64, in 0.0..=180.0, unit "deg",
            "tilt of the luminaire in degrees, 0 to 180: scales candela by the file's TILT factor";
        shape: LightShape, "shape: point, spot, sphere, disk, rectangle, tube or sun";
        position: DVec3, accepts PLACE, unit "m",
            "world position in meters: \"X Y Z\"; child nodes move along; in the parent's space with lights.*.parent";
        aim: DVec3, accepts PLACE, unit "m",
            "target in world space in meters: \"X Y Z\"; a sun's direction is from its node to the target; in the parent's space with lights.*.parent";
        radius: f64, accepts SIZE, unit "m",
            "radius in meters, 0.000001 to 10000 (sphere, disk, tube)";
        width: f64, accepts SIZE, unit "m",
            "width in meters along the node's X, 0.000001 to 10000 (rectangle)";
        height: f64, accepts SIZE, unit "m",
            "height in meters along the node's Y, 0.000001 to 10000 (rectangle)";
        length: f64, accepts SIZE, unit "m",
            "length of the straight part in meters along the node's X, 0.000001 to 10000 (tube)";
        sides: Sides, "emissive faces: one or two (disk, rectangle)";
        inner_half_angle: f64, accepts degrees(0.0, 180.0), unit "deg",
            "inner half angle in degrees, 0 to 180: full intensity within (spot)", affects Lights;
        outer_half_angle: f64, accepts degrees(1e-4, 180.0), unit "deg",
            "outer half angle in degrees, above 0 to 180: no light beyond (spot)", affects Lights;
        barn_door_left: f64, accepts degrees(-80.0, 90.0), unit "deg",
            "edge of the left barn door in degrees from the axis, -80 to 90, seen along the beam (spot)";
        barn_door_right: f64, accepts degrees(-80.0, 90.0), unit "deg",
            "edge of the right barn door in degrees from the axis, -80 to 90 (spot)";
        barn_door_top: f64, accepts degrees(-80.0, 90.0), unit "deg",
            "edge of the top barn door in degrees from the axis, -80 to 90 (spot)";
        barn_door_bottom: f64, accepts degrees(-80.0, 90.0), unit "deg",
            "edge of the bottom barn door in degrees from the axis, -80 to 90 (spot)";
        barn_door_penumbra: f64, accepts degrees(0.0, 30.0), unit "deg",
            "width of the penumbra of barn doors in degrees, 0 to 30 (default 2)";
        snoot: f64, in 0.01..=100.0,
            "snoot: length over diameter of a black tube, 0.01 to 100 (spot)";
        grid: f64, in 0.01..=100.0,
            "grid: depth over width of the cells of a black honeycomb, 0.01 to 100 (spot)";
        gobo: PathBuf,
            "gobo: a picture in the beam, relative to the look file; white passes, and it spans the cone's width (spot)";
        spot_flux: SpotFlux,
            "conversion of a spot's lumens to candela: exact, apex-cone or phi-over-pi";
        angular_diameter: f64, accepts degrees(0.0, 180.0), unit "deg",
            "angular diameter in degrees, 0 (parallel light) to 180, e.g. 0.533 (sun)";
    }
}

choices! {
    /// Locus of a color temperature.
    pub enum LightLocus {
        /// Black body.
        Planck = "planck",
        /// CIE D.
        Daylight = "daylight",
    }
}

choices! {
    /// Kinds of emitter.
    pub enum LightShape {
        /// A punctual light in all directions.
        Point = "point",
        /// A punctual light in a cone.
        Spot = "spot",
        /// A sphere.
        Sphere = "sphere",
        /// A disk.
        Disk = "disk",
        /// A rectangle.
        Rectangle = "rectangle",
        /// A tube with round ends.
        Tube = "tube",
        /// A light at infinity.
        Sun = "sun",
    }
}

impl LightShape {
    fn of(emitter: Emitter) -> Self {
        match emitter {
            Emitter::Point => Self::Point,
            Emitter::Spot { .. } => Self::Spot,
            Emitter::Sphere { .. } => Self::Sphere,
            Emitter::Disk { .. } => Self::Disk,
            Emitter::Rectangle { .. } => Self::Rectangle,
            Emitter::Tube { .. } => Self::Tube,
            Emitter::Sun { .. } => Self::Sun,
        }
    }
}

/// True if a text is a gel.
fn is_gel(text: &str) -> bool {
    Gel::parse(text).is_some()
}

/// The transform at the same position, turned so that -Z points at the target and X stays level;
/// `None` if the target is the position itself. A vertical direction keeps as much of its X as it
/// can.
pub(crate) fn aimed(world: DMat4, target: DVec3) -> Option<DMat4> {
    let from = world.w_axis.truncate();
    let back = (from - target).try_normalize()?;
    let old_x = world.x_axis.truncate();
    let x = DVec3::Y.cross(back);
    let level = if x.length() > 1e-6 { x } else { old_x - back * old_x.dot(back) };
    let x = level.try_normalize().unwrap_or_else(|| back.any_orthonormal_vector());
    let size = [world.x_axis, world.y_axis, world.z_axis].map(|axis| axis.truncate().length());
    let y = back.cross(x);
    let axis = |direction: DVec3, size: f64| (direction * size).extend(0.0);
    Some(DMat4::from_cols(axis(x, size[0]), axis(y, size[1]), axis(back, size[2]), world.w_axis))
}

/// Sets one property; false if lights have none of this name. The last strength applies.
pub(super) fn set(
    lights: &mut BTreeMap<String, LightLook>,
    read: &Reader<'_>,
) -> Result<bool, LookError> {
    let set = read.set_addressed("lights", lights)?;
    if let Some((address, unit)) = read.addressed("lights").filter(|_| set)
        && STRENGTHS.contains(&unit)
        && let Some(light) = lights.get_mut(address)
    {
        let LightLook { candela, ev100, lumens, lux, nits, .. } = light;
        for (other, strength) in STRENGTHS.into_iter().zip([candela, ev100, lumens, lux, nits]) {
            *strength = strength.filter(|_| other == unit);
        }
    }
    Ok(set)
}

impl LightLook {
    /// The strength that is set.
    #[must_use]
    pub fn strength(&self) -> Option<LightStrength> {
        let lumens = self.lumens.map(|value| LightStrength::Lumens(Lumen(value)));
        lumens
            .or(self.candela.map(|value| LightStrength::Candela(Candela(value))))
            .or(self.lux.map(|value| LightStrength::Lux(Lux(value))))
            .or(self.nits.map(|value| LightStrength::Nits(Nit(value))))
            .or(self.ev100.map(|value| LightStrength::Ev(Ev100(value))))
    }

    /// True if it gives the light a table of intensity: a photometric file or modifiers.
    #[must_use]
    pub fn has_profile(&self) -> bool {
        self.ies.is_some() || self.has_modifiers()
    }

    /// True if it puts modifiers in front of the light: barn doors, a snoot, a grid or a gobo.
    #[must_use]
    pub fn has_modifiers(&self) -> bool {
        self.modifiers().is_some()
    }

    /// A transform with the look's position and aim, in the same space.
    pub(super) fn posed(&self, name: &str, transform: DMat4) -> Result<DMat4, LookError> {
        let mut posed = transform;
        if let Some(position) = self.position {
            posed.w_axis = position.extend(1.0);
        }
        let Some(target) = self.aim else { return Ok(posed) };
        aimed(posed, target).ok_or_else(|| LookError::BadValue {
            path: format!("lights.{name}.aim"),
            value: format!("{} {} {}", target.x, target.y, target.z),
            expected: "the light is at this position; aim it at another point".into(),
        })
    }

    /// Moves and aims the light's node.
    fn place(&self, name: &str, scene: &mut Scene, index: usize) -> Result<(), LookError> {
        if self.position.is_none() && self.aim.is_none() {
            return Ok(());
        }
        let worlds = scene.world_transforms();
        let Some(world) = worlds.get(index).copied() else { return Ok(()) };
        let world = self.posed(name, world)?;
        let parent = scene
            .nodes
            .get(index)
            .and_then(|node| node.parent)
            .and_then(|parent| worlds.get(parent));
        let local = parent.copied().unwrap_or(DMat4::IDENTITY).inverse() * world;
        if let Some(node) = scene.nodes.get_mut(index).filter(|_| local.is_finite()) {
            (node.local, node.trs) = (local, None);
        }
        Ok(())
    }

    /// The emitter after the look's overrides.
    fn emitter(&self, name: &str, old: Emitter) -> Result<Emitter, LookError> {
        let shape = self.shape.unwrap_or_else(|| LightShape::of(old));
        // A new shape has no old sizes to keep.
        let need = |what: &str, given: Option<f64>, before: Option<f64>| {
            given.or(before).ok_or_else(|| LookError::BadValue {
                path: format!("lights.{name}.shape"),
                value: shape.name().into(),
                expected: format!("expected lights.{name}.{what} too"),
            })
        };
        let sides = |before| self.sides.unwrap_or(before);
        Ok(match (shape, old) {
            (LightShape::Point, _) => Emitter::Point,
            (LightShape::Spot, old) => {
                let (inner, outer, flux) = match old {
                    Emitter::Spot { cone, flux } => (cone.inner(), Some(cone.outer()), flux),
                    _ => (0.0, None, SpotFlux::Exact),
                };
                let outer = need("outer_half_angle", self.outer_half_angle, outer)?;
                // A narrower cone narrows the inner angle too, unless that is set.
                let inner = self.inner_half_angle.unwrap_or(inner.min(outer));
                let cone = Cone::new(inner, outer)
                    .map_err(|error| LookError::Light { name: name.into(), error })?;
                Emitter::Spot { cone, flux: self.spot_flux.unwrap_or(flux) }
            }
            (LightShape::Sphere, old) => {
                let before = if let Emitter::Sphere { radius } = old { Some(radius) } else { None };
                Emitter::Sphere { radius: need("radius", self.radius, before)? }
            }
            (LightShape::Disk, old) => {
                let (radius, both) = if let Emitter::Disk { radius, sides } = old {
                    (Some(radius), sides)
                } else {
                    (None, Sides::One)
                };
                Emitter::Disk { radius: need("radius", self.radius, radius)?, sides: sides(both) }
            }
            (LightShape::Rectangle, old) => {
                let (width, height, both) = match old {
                    Emitter::Rectangle { width, height, sides } => {
                        (Some(width), Some(height), sides)
                    }
                    _ => (None, None, Sides::One),
                };
                Emitter::Rectangle {
                    width: need("width", self.width, width)?,
                    height: need("height", self.height, height)?,
                    sides: sides(both),
                }
            }
            (LightShape::Tube, old) => {
                let (radius, length) = match old {
                    Emitter::Tube { radius, length } => (Some(radius), Some(length)),
                    _ => (None, None),
                };
                Emitter::Tube {
                    radius: need("radius", self.radius, radius)?,
                    length: need("length", self.length, length)?,
                }
            }
            (LightShape::Sun, old) => {
                let before =
                    if let Emitter::Sun { angular_radius } = old { angular_radius } else { 0.0 };
                Emitter::Sun {
                    angular_radius: self.angular_diameter.map_or(before, |diameter| diameter / 2.0),
                }
            }
        })
    }

    /// Color by `kelvin`, `locus` and `tint`, of luminance 1.
    fn color(&self, name: &str) -> Result<Option<Vec3>, LookError> {
        let invalid = |property: &str, value: f64, expected: String| LookError::BadValue {
            path: format!("lights.{name}.{property}"),
            value: value.to_string(),
            expected,
        };
        let Some(kelvin) = self.kelvin else {
            return match self.tint {
                Some(tint) => {
                    Err(invalid("tint", tint, format!("expected lights.{name}.kelvin too")))
                }
                None => Ok(None),
            };
        };
        let chromaticity = self.chromaticity(kelvin);
        let rgb = chromaticity
            .and_then(color::light_color)
            .map_err(|error| invalid("kelvin", kelvin, error.to_string()))?;
        // Normalized by the weights that all light is measured with, which differ from the exact Y
        // row by 4e-5.
        Ok(Some((rgb / color::luminance(rgb)).as_vec3()))
    }

    fn chromaticity(&self, kelvin: f64) -> Result<Chromaticity, ColorError> {
        let tint = self.tint();
        if self.locus() == LightLocus::Daylight {
            color::daylight_tinted(Kelvin(kelvin), tint)
        } else {
            color::planckian_tinted(Kelvin(kelvin), tint)
        }
    }

    /// The modifiers in front of the light.
    fn modifiers(&self) -> ModifierSettings {
        let edges =
            [self.barn_door_left, self.barn_door_right, self.barn_door_top, self.barn_door_bottom];
        let barn_doors = edges.iter().any(Option::is_some).then(|| BarnDoors {
            edges: edges.map(|edge| edge.unwrap_or(f64::INFINITY)),
            penumbra: self.barn_door_penumbra.unwrap_or(BARN_DOOR_PENUMBRA),
        });
        ModifierSettings { barn_doors, snoot: self.snoot, grid: self.grid, gobo: self.gobo.clone() }
    }

    /// Notes on the properties that are set and have no effect on an emitter.
    pub(super) fn ignored(&self, name: &str, emitter: Emitter) -> Vec<Note> {
        use LightShape::{Disk, Rectangle, Sphere, Spot, Sun, Tube};
        let shape = LightShape::of(emitter);
        let properties: [(_, _, &[LightShape]); 9] = [
            ("radius", self.radius.is_some(), &[Sphere, Disk, Tube]),
            ("width", self.width.is_some(), &[Rectangle]),
            ("height", self.height.is_some(), &[Rectangle]),
            ("length", self.length.is_some(), &[Tube]),
            ("sides", self.sides.is_some(), &[Disk, Rectangle]),
            ("inner_half_angle", self.inner_half_angle.is_some(), &[Spot]),
            ("outer_half_angle", self.outer_half_angle.is_some(), &[Spot]),
            ("spot_flux", self.spot_flux.is_some(), &[Spot]),
            ("angular_diameter", self.angular_diameter.is_some(), &[Sun]),
        ];
        let unused = properties
            .into_iter()
            .filter(|(_, is_set, shapes)| *is_set && !shapes.contains(&shape));
        let note = |property: &str| Note {
            kind: NoteKind::Info,
            location: format!("lights.{name}.{property}"),
            message: format!("no effect on a {}", shape.name()),
        };
        unused.map(|(property, ..)| note(property)).collect()
    }

    /// Warning about a color outside of the gamut.
    pub(super) fn warning(&self, name: &str) -> Option<String> {
        let clipped = color::outside_rec709(self.chromaticity(self.kelvin?).ok()?).ok()?;
        clipped.then(|| {
            format!(
                "lights.{name}: {} K{} is outside of the Rec.709 gamut: the nearest color without negative channels is used, as strong \
                 as it was",
                self.kelvin.unwrap_or(0.0),
                self.tint.map_or_else(String::new, |tint| format!(" with a tint of {tint}"))
            )
        })
    }

    /// Light output of a tilted luminaire relative to upright (LM-63-2002, TILT=INCLUDE); `None` if
    /// the look sets no tilt.
    fn tilt_factor(
        &self,
        name: &str,
        profile: Option<&IesProfile>,
    ) -> Result<Option<f64>, LookError> {
        let Some(degrees) = self.ies_tilt else { return Ok(None) };
        let invalid = |expected: String| {
            let (path, value) = (format!("lights.{name}.ies_tilt"), degrees.to_string());
            Err(LookError::BadValue { path, value, expected })
        };
        match profile.map(IesProfile::tilt) {
            None => {
                invalid(format!("the light has no photometric file; set lights.{name}.ies too"))
            }
            Some(Tilt::File(file)) => invalid(format!(
                "its photometric file refers to another file, {file}, for the tilt factors, which is not read; include them with TILT=INCLUDE"
            )),
            Some(tilt) => Ok(Some(tilt.factor(degrees))),
        }
    }

    /// Rejects lumens that a photometric profile cannot give within the cone, as they would be lost
    /// silently.
    fn reachable(&self, name: &str, light: &Light) -> Result<(), LookError> {
        let (Some(profile), LightStrength::Lumens(lumens), Some(peak)) =
            (&light.profile, light.source.authored(), light.candela())
        else {
            return Ok(());
        };
        // The profile's flux within the cone is lumens over peak times the profile's peak.
        let whole = profile.lumens().get();
        let inside =
            if peak.get() > 0.0 { lumens.get() / peak.get() * profile.peak().get() } else { 0.0 };
        if lumens.get() <= 0.0 || inside > LEAST_INSIDE * whole {
            return Ok(());
        }
        let expected = match light.emitter() {
            Emitter::Spot { cone, .. } if whole > 0.0 => format!(
                "its photometric file has almost no light within {:.1} degrees of the light's axis; widen \
                 lights.{name}.outer_half_angle, or set shape to point",
                cone.outer().to_degrees()
            ),
            _ => "its photometric file gives no light in any direction; choose another file".into(),
        };
        Err(LookError::BadValue {
            path: format!("lights.{name}.lumens"),
            value: lumens.get().to_string(),
            expected,
        })
    }

    /// Changes a light. Its strength is that of the whole light: a color that is set is normalized
    /// to luminance 1, so that a tinted light keeps its lumens.
    pub(super) fn change(&self, name: &str, light: &mut Light) -> Result<(), LookError> {
        let emitter = self.emitter(name, light.emitter())?;
        if let Some(file) = &self.ies {
            if !matches!(emitter, Emitter::Point | Emitter::Spot { .. }) {
                return Err(LookError::BadValue {
                    path: format!("lights.{name}.ies"),
                    value: file.display().to_string(),
                    expected: "expected a point or spot light; set shape to point".into(),
                });
            }
            light.profile = Some(Arc::new(read_profile(&format!("lights.{name}.ies"), file)?));
        }
        // A photometric file is absolute: it states the candela unless the look does.
        let tilt = self.tilt_factor(name, light.profile.as_deref())?;
        let by_file = match (&self.ies, &light.profile, tilt) {
            (Some(_), Some(profile), tilt) => {
                Some(LightStrength::Candela(Candela(profile.peak().get() * tilt.unwrap_or(1.0))))
            }
            // A profile of the scene file: the strength is its author's.
            (None, Some(_), Some(factor)) => {
                light.candela().map(|peak| LightStrength::Candela(Candela(peak.get() * factor)))
            }
            _ => None,
        };
        let wanted = self.strength().or(by_file);
        let strength = wanted.unwrap_or_else(|| light.source.authored());
        let color = self.color(name)?;
        let luminance = light.color_luminance();
        // A tilt alone keeps the author's strength, and the color that multiplies it.
        let stated = self.strength().is_some() || self.ies.is_some();
        light.color = match (stated.then_some(()), color) {
            (Some(_), Some(color)) => color,
            (Some(_), None) if luminance > 1e-6 => light.color / luminance as f32,
            (Some(_), None) => Vec3::ONE,
            (None, Some(color)) => color * luminance as f32,
            (None, None) => light.color,
        };
        light.source = PhysicalLight::new(emitter, strength)
            .map_err(|error| LookError::Light { name: name.into(), error })?;
        self.reachable(name, light)?;
        light.shadow = self.shadow.unwrap_or(light.shadow);
        light.visible = self.visible.unwrap_or(light.visible);
        // The strength is that of the light without gel and modifiers.
        let gel = self.gel.as_deref().and_then(Gel::parse);
        light.bare = None;
        light.bare = (gel.is_some() || self.has_modifiers()).then(|| Arc::new(light.clone()));
        self.modifiers().modify(name, light)?;
        if let Some(gel) = gel {
            light.color = gel.filtered(light.color.as_dvec3()).as_vec3();
        }
        Ok(())
    }
}

/// Properties that set the strength of a light.
pub(super) const STRENGTHS: [&str; 5] = ["candela", "ev100", "lumens", "lux", "nits"];

/// The light whose strength a path sets; `None` for other properties.
pub(super) fn light_of_strength(path: &str) -> Option<&str> {
    let (light, property) = path.strip_prefix("lights.")?.rsplit_once('.')?;
    STRENGTHS.contains(&property).then_some(light)
}

/// Paths of two strengths of one light, which is ambiguous: their order in a file has no meaning.
pub(super) fn rivals<'a>(paths: impl Iterator<Item = &'a str>) -> Option<[&'a str; 2]> {
    let mut known: BTreeMap<&str, &str> = BTreeMap::new();
    let mut paths = paths;
    paths.find_map(|path| {
        let before = known.insert(light_of_strength(path)?, path)?;
        (before != path).then_some([before, path])
    })
}

/// Message about the paths of two strengths of one light.
pub(super) fn two_strengths([one, other]: [&str; 2]) -> String {
    let light = one.rsplit_once('.').map_or(one, |(light, _)| light);
    let [unit, second] =
        [one, other].map(|path| path.rsplit_once('.').map_or(path, |(_, unit)| unit));
    format!("{light} has two strengths, {unit} and {second}; keep the one of its data sheet")
}

/// Reads a photometric file; `property` names it in messages.
///
/// # Errors
/// A file that cannot be read or is not well formed.
pub fn read_profile(property: &str, file: &Path) -> Result<IesProfile, LookError> {
    let invalid = |detail: String| LookError::Input {
        property: property.into(),
        file: file.display().to_string(),
        detail,
    };
    let bytes = read_file(file, ies::MAX_BYTES as u64, "a photometric file").map_err(invalid)?;
    IesProfile::parse(&bytes).map_err(|error| invalid(error.to_string()))
}

/// Applies the overrides of the scene's lights; those that the look adds are complete.
///
/// # Errors
/// A name that no light has, except those of extracted lights; a unit that does not fit the emitter;
/// a shape without sizes.
pub(super) fn apply(
    looks: &BTreeMap<String, LightLook>,
    scene: &mut Scene,
) -> Result<(), LookError> {
    // All are found before any is changed, since a changed light gets another index.
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    if !looks.is_empty() {
        let things = AddressTable::lights(scene);
        for (name, look) in looks.iter().filter(|(_, look)| !look.add()) {
            let nodes = things.find(name);
            if nodes.is_empty() && is_extracted_light(name) {
                missing.push(Note {
                    kind: NoteKind::Info,
                    location: format!("lights.{name}"),
                    message: "no effect: environment.extract takes no such light out of the map"
                        .into(),
                });
                continue;
            }
            if nodes.is_empty() {
                return Err(unknown_light(name, &things));
            }
            found.push((name, look, nodes));
        }
    }
    scene.notes.extend(missing);
    for (name, look, nodes) in found {
        for index in nodes {
            look.place(name, scene, index)?;
            let Some(node) = scene.nodes.get_mut(index) else { continue };
            if !look.enabled() {
                node.light = None;
                continue;
            }
            let Some(light) = node.light.and_then(|index| scene.lights.get(index)) else {
                continue;
            };
            // Other nodes may refer to the same light: this node gets its own copy.
            let mut own = light.clone();
            look.change(name, &mut own)?;
            scene.notes.extend(look.ignored(name, own.emitter()));
            node.light = Some(scene.lights.len());
            scene.lights.push(own);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::scene::{build::SceneBuilder, look::Look};

    fn changed(settings: &[&str]) -> Result<Light, LookError> {
        let mut builder = SceneBuilder::new("one lamp");
        builder.point_light_candela("Key", Candela(100.0), Vec3::new(1.0, 0.5, 0.25), DVec3::Y);
        builder.light(
            "Sky",
            Emitter::PARALLEL,
            LightStrength::Lux(Lux(1000.0)),
            Vec3::ONE,
            DMat4::IDENTITY,
        );
        let mut scene = builder.build().unwrap();
        let look = Look::of(settings)?;
        look.apply(&mut scene)?;
        let of = |node: usize| scene.nodes[node].light.map(|light| scene.lights[light].clone());
        Ok(if settings[0].starts_with("lights.Sky") { of(1) } else { of(0) }.unwrap())
    }

    #[test]
    fn a_light_takes_a_shape_and_keeps_its_unit() {
        let panel =
            changed(&["lights.Key.shape=rectangle", "lights.Key.width=2", "lights.Key.height=0.5"])
                .unwrap();
        assert_eq!(panel.source.authored(), LightStrength::Candela(Candela(100.0)));
        assert!((panel.source.nits().unwrap().get() - 100.0).abs() < 1e-9, "100 cd from 1 m2");
        let bulb = changed(&[
            "lights.Key.shape=sphere",
            "lights.Key.radius=0.1",
            "lights.Key.lumens=1000",
        ])
        .unwrap();
        // formulas, section 2: a sphere of 0.1 m and 1000 lm.
        assert!((bulb.source.nits().unwrap().get() - 2533.03).abs() < 0.01);
        assert!((bulb.color_luminance() - 1.0).abs() < 1e-6, "lumens do not depend on the color");
        let sun =
            changed(&["lights.Sky.angular_diameter=0.5332", "lights.Sky.lux=100000"]).unwrap();
        assert!(
            (sun.source.nits().unwrap().get() / 1.4702e9 - 1.0).abs() < 1e-4,
            "{:?}",
            sun.source.nits()
        );
    }

    #[test]
    fn properties_of_another_shape_are_remarked_on() {
        let notes = |settings: &[&str]| {
            let mut builder = SceneBuilder::new("one lamp");
            builder.point_light_candela("Key", Candela(100.0), Vec3::ONE, DVec3::Y);
            let mut scene = builder.build().unwrap();
            let mut look = Look::default();
            settings.iter().for_each(|setting| look.assign(setting).unwrap());
            look.apply(&mut scene).unwrap();
            let line = |note: &Note| format!("{}: {}", note.location, note.message);
            scene.notes.iter().map(line).collect::<Vec<_>>()
        };
        let spot = ["lights.Key.shape=spot", "lights.Key.outer_half_angle=60"];
        assert!(notes(&spot).is_empty());
        assert_eq!(
            notes(&[spot[0], spot[1], "lights.Key.width=2"]),
            ["lights.Key.width: no effect on a spot"]
        );
    }

    #[test]
    fn a_cone_changes_candela_only_where_lumens_were_written() {
        let wide = ["lights.Key.shape=spot", "lights.Key.outer_half_angle=60"];
        assert_eq!(changed(&wide).unwrap().source.candela(), Some(Candela(100.0)));
        let lumens = |angle: &str| {
            let angle = format!("lights.Key.outer_half_angle={angle}");
            changed(&["lights.Key.shape=spot", &angle, "lights.Key.lumens=1000"]).unwrap().source
        };
        assert!(lumens("20").candela().unwrap().get() > lumens("60").candela().unwrap().get());
        let fixed = changed(&[
            wide[0],
            wide[1],
            "lights.Key.lumens=1000",
            "lights.Key.spot_flux=phi-over-pi",
        ])
        .unwrap();
        assert!((fixed.source.candela().unwrap().get() - 318.3099).abs() < 1e-4);
    }

    #[test]
    fn colors_that_no_picture_has_are_remarked_on() {
        let told = |settings: &[&str]| {
            let mut look = Look::default();
            settings.iter().for_each(|setting| look.assign(setting).unwrap());
            look.light_warnings()
        };
        assert!(told(&["lights.Key.kelvin=1500"])[0].starts_with("lights.Key: 1500 K"));
        assert_eq!(told(&["lights.Key.kelvin=3000", "lights.Key.tint=0.02"]).len(), 1);
        let kept =
            ["lights.Key.kelvin=2700", "lights.Fill.kelvin=6500", "lights.Fill.locus=daylight"];
        assert!(told(&kept).is_empty());
    }

    #[test]
    fn two_strengths_of_one_light_are_rejected() {
        let parsed = |text: &str| {
            Look::default().parse("a.look.toml", text).map_err(|error| error.to_string())
        };
        let error = parsed("[lights.Key]\nlumens = 800\nkelvin = 3000\ncandela = 5\n").unwrap_err();
        assert!(
            error.contains("line 2, column 1: lights.Key has two strengths, candela and lumens"),
            "{error}"
        );
        assert!(parsed("[lights.Key]\nlumens = 800\n[lights.Fill]\ncandela = 5\n").is_ok());
    }

    #[test]
    fn kelvins_change_the_color_and_not_the_strength() {
        let plain = changed(&["lights.Key.shadow=true"]).unwrap();
        let warm = changed(&["lights.Key.kelvin=2700"]).unwrap();
        assert!(
            (warm.color_luminance() / plain.color_luminance() - 1.0).abs() < 1e-4,
            "the luminance is kept"
        );
        // formulas, section 4: 2700 K.
        let unit = warm.color / warm.color_luminance() as f32;
        assert!((unit - Vec3::new(1.9348, 0.8036, 0.1918)).abs().max_element() < 2e-3, "{unit}");
        let lumens = changed(&["lights.Key.kelvin=2700", "lights.Key.lumens=800"]).unwrap();
        assert!((lumens.color_luminance() - 1.0).abs() < 1e-4);
        // A light that is black in its file takes the color too.
        let mut black = Light::new(
            "Key",
            PhysicalLight::new(Emitter::Point, LightStrength::Candela(Candela(1.0))).unwrap(),
        );
        black.color = Vec3::ZERO;
        let look = LightLook { kelvin: Some(2700.0), lumens: Some(800.0), ..LightLook::default() };
        look.change("Key", &mut black).unwrap();
        assert!((black.color - unit).abs().max_element() < 1e-4, "{}", black.color);
        let day = changed(&["lights.Key.kelvin=6504", "lights.Key.locus=daylight"]).unwrap();
        let white = day.color / day.color_luminance() as f32;
        assert!((white - Vec3::ONE).abs().max_element() < 2e-3, "D65 is white: {white}");
        let green = changed(&["lights.Key.kelvin=4000", "lights.Key.tint=0.01"]).unwrap();
        let gray = changed(&["lights.Key.kelvin=4000"]).unwrap();
        assert!(green.color.y / green.color.x > gray.color.y / gray.color.x);
    }

    const IES: &str =
        "IESNA:LM-63-2002\nTILT=NONE\n1 -1 2 3 1 1 2 0 0 0\n1 1 100\n0 45 90\n0\n400 200 0\n";

    #[test]
    fn an_ies_profile_is_absolute_unless_overridden() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("lamp.ies"), IES).unwrap();
        let ies = format!("lights.Key.ies={}", dir.path().join("lamp.ies").display());
        let lamp = changed(&[&ies]).unwrap();
        let profile = lamp.profile.clone().unwrap();
        // The factor 2 of the file.
        assert_eq!(lamp.candela(), Some(Candela(800.0)));
        assert!((lamp.lumens().unwrap().get() / profile.lumens().get() - 1.0).abs() < 1e-12);
        assert!((lamp.color_luminance() - 1.0).abs() < 1e-6);
        let lumens = changed(&[&ies, "lights.Key.lumens=1000"]).unwrap();
        let peak = 1000.0 / profile.lumens().get() * 800.0;
        assert!((lumens.candela().unwrap().get() / peak - 1.0).abs() < 1e-9);
        let candela = changed(&[&ies, "lights.Key.candela=50"]).unwrap();
        assert_eq!(candela.candela(), Some(Candela(50.0)));
        // A cone cuts light off; authored lumens stay.
        let cone = [
            "lights.Key.shape=spot",
            "lights.Key.outer_half_angle=30",
            "lights.Key.inner_half_angle=30",
        ];
        let spot = changed(&[&ies, cone[0], cone[1], cone[2]]).unwrap();
        assert_eq!(spot.candela(), Some(Candela(800.0)));
        // Of an axially symmetric profile, by the midpoint rule.
        let width = 30f64.to_radians() / 30_000.0;
        let ring = |i: i32| {
            let theta = (f64::from(i) + 0.5) * width;
            profile.candela(theta.to_degrees(), 0.0).get() * theta.sin()
        };
        let inside = std::f64::consts::TAU * (0..30_000).map(ring).sum::<f64>() * width;
        assert!(
            (spot.lumens().unwrap().get() / inside - 1.0).abs() < 1e-4,
            "{:?} {inside:?}",
            spot.lumens()
        );
        let spot = changed(&[&ies, cone[0], cone[1], cone[2], "lights.Key.lumens=1000"]).unwrap();
        assert!((spot.lumens().unwrap().get() - 1000.0).abs() < 1e-9);
        // Lumens that the profile cannot give are not lost silently.
        let write = |name: &str, candela: &str| {
            fs::write(
                dir.path().join(name),
                IES.replace("0 45 90", "90 135 180").replace("400 200 0", candela),
            )
            .unwrap();
            format!("lights.Key.ies={}", dir.path().join(name).display())
        };
        let (up, dark) = (write("up.ies", "0 200 400"), write("dark.ies", "0 0 0"));
        for (settings, wanted) in [
            (&[&up, cone[0], cone[1], "lights.Key.lumens=9"][..], "30.0 degrees"),
            (&[&dark, "lights.Key.lumens=9"], "another file"),
            (&[&dark, cone[0], cone[1], "lights.Key.lumens=9"], "another file"),
        ] {
            let error = changed(settings).unwrap_err().to_string();
            assert!(error.contains("lights.Key.lumens") && error.contains(wanted), "{error}");
        }
        assert_eq!(
            changed(&[&up, cone[0], cone[1]]).unwrap().lumens().unwrap().get(),
            0.0,
            "dark as the file says"
        );
        assert!(changed(&[&dark, "lights.Key.lumens=0"]).is_ok());
    }

    #[test]
    fn ies_tilt_scales_candela_by_the_tilt_factor() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, tilt: &str| {
            fs::write(dir.path().join(name), IES.replace("TILT=NONE", tilt)).unwrap();
            format!("lights.Key.ies={}", dir.path().join(name).display())
        };
        let included = write("tilt.ies", "TILT=INCLUDE\n1\n3\n0 45 90\n1 0.95 0.9");
        let candela = |settings: &[&str]| changed(settings).unwrap().candela().unwrap().get();
        for (degrees, factor) in [("0", 1.0), ("45", 0.95), ("67.5", 0.925), ("120", 0.9)] {
            let got = candela(&[&included, &format!("lights.Key.ies_tilt={degrees}")]);
            assert!((got / (800.0 * factor) - 1.0).abs() < 1e-12, "{degrees}: {got}");
        }
        assert_eq!(candela(&[&included]), 800.0, "upright by default");
        // The look's value is what the light gives.
        assert_eq!(candela(&[&included, "lights.Key.ies_tilt=90", "lights.Key.candela=50"]), 50.0);
        let none = write("none.ies", "TILT=NONE");
        assert_eq!(candela(&[&none, "lights.Key.ies_tilt=90"]), 800.0);
        let apart = write("apart.ies", "TILT=lamp.tlt");
        let error = changed(&[&apart, "lights.Key.ies_tilt=90"]).unwrap_err().to_string();
        assert!(error.contains("lamp.tlt") && error.contains("TILT=INCLUDE"), "{error}");
        let error = changed(&["lights.Key.ies_tilt=90"]).unwrap_err().to_string();
        assert!(error.contains("lights.Key.ies too"), "{error}");
    }

    #[test]
    fn a_cone_that_cuts_a_profile_is_warned_about() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("lamp.ies"), IES).unwrap();
        let ies = format!("lights.Key.ies={}", dir.path().join("lamp.ies").display());
        let warnings = |inner: &str, outer: &str| {
            let mut builder = SceneBuilder::new("one lamp");
            builder.point_light_candela("Key", Candela(100.0), Vec3::ONE, DVec3::Y);
            let mut scene = builder.build().unwrap();
            let mut look = Look::default();
            look.assign(&ies).unwrap();
            look.assign("lights.Key.shape=spot").unwrap();
            look.assign(&format!("lights.Key.inner_half_angle={inner}")).unwrap();
            look.assign(&format!("lights.Key.outer_half_angle={outer}")).unwrap();
            look.apply(&mut scene).unwrap();
            scene.profile_warnings()
        };
        assert!(warnings("10", "20")[0].starts_with("the cone of spot 'Key' removes"));
        assert!(warnings("91", "120").is_empty(), "the file has no light beyond 90 degrees");
    }

    #[test]
    fn a_profile_is_found_beside_the_look_file() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("lamp.ies"), IES).unwrap();
        fs::write(dir.path().join("bad.ies"), IES.replace("400", "four")).unwrap();
        let look = |name: &str| {
            let file = dir.path().join("a.look.toml");
            fs::write(&file, format!("[lights.Key]\nies = \"{name}\"\n")).unwrap();
            let mut look = Look::default();
            look.read(&file)?;
            let mut builder = SceneBuilder::new("one lamp");
            builder.point_light_candela("Key", Candela(1.0), Vec3::ONE, DVec3::Y);
            look.apply(&mut builder.build().unwrap())
        };
        look("lamp.ies").unwrap();
        let error = look("bad.ies").unwrap_err().to_string();
        assert!(error.contains("bad.ies") && error.contains("line 7"), "{error}");
        let error = look("none.ies").unwrap_err().to_string();
        assert!(error.contains("none.ies") && error.contains("check the path"), "{error}");
    }

    #[test]
    fn what_cannot_be_is_refused_with_a_remedy() {
        for (settings, wanted) in [
            (&["lights.Key.lux=5"][..], "use lumens or candela"),
            (&["lights.Key.nits=5"], "give it a size"),
            (&["lights.Sky.nits=5"], "give it a size"),
            (&["lights.Key.shape=sphere"], "lights.Key.radius"),
            (&["lights.Key.shape=cube"], "expected shape: point, spot"),
            (&["lights.Key.lumens=-1"], "expected"),
            (&["lights.Key.shape=spot", "lights.Key.outer_half_angle=0"], "expected"),
            (
                &[
                    "lights.Key.shape=spot",
                    "lights.Key.outer_half_angle=20",
                    "lights.Key.inner_half_angle=30",
                ],
                "cone",
            ),
            (&["lights.Key.shape=sphere", "lights.Key.radius=1e300"], "10000"),
            (&["lights.Kez.lumens=1"], "lights.Key"),
            (&["lights.Key.kelvin=NaN"], "expected color temperature"),
            (&["lights.Key.kelvin=-3000"], "expected color temperature"),
            (&["lights.Key.kelvin=0"], "expected color temperature"),
            (&["lights.Key.tint=0.01"], "lights.Key.kelvin"),
            (&["lights.Key.kelvin=3000", "lights.Key.locus=daylight"], "4000"),
            (&["lights.Sky.ies=a.ies"], "point or spot"),
        ] {
            let error = changed(settings).unwrap_err().to_string();
            assert!(error.contains(wanted), "{settings:?}: {error}");
        }
    }
}
