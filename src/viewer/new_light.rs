//! New lights as properties of the look: placed for a subject before the camera, or copied from
//! another light.

use std::collections::BTreeMap;

use glam::{DMat4, DVec3};

use super::{
    light_placement::target_of,
    light_strength::strength,
    number_text::{place_text, short},
};
use crate::{
    photometry::{
        Candela, Chromaticity, Lux,
        color::{REC709_TO_XYZ, correlated_temperature},
        lights::{Cone, Emitter, LightStrength, PhysicalLight, Sides, SpotFlux},
    },
    scene::{Light, look::LightShape},
};

/// Properties of one light, without its address, and their values.
pub(super) type Properties = BTreeMap<&'static str, String>;

/// Distance of a new light from the subject's center, in radii of the subject.
const DISTANCE: f64 = 1.2;

/// Angular diameter of the sun (degrees), seen from the Earth.
const SUN_DIAMETER: f64 = 0.533;

/// The first of `base`, `base2`, `base3` and so on that is free, without the number that ends the
/// base: `Key2`, `Key.001`, and the addresses `Key#1` and `#0`.
pub(super) fn free_name(base: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '#' | '.' | '_' | '-' | ' ');
    let base = base.trim_end_matches(is_number);
    let base = if base.is_empty() { "Light" } else { base };
    let numbered = |number: usize| match number {
        1 => base.to_owned(),
        _ => format!("{base}{number}"),
    };
    (1..).map(numbered).find(|name| !is_taken(name)).unwrap_or_default()
}

/// Name of a new light of a shape.
pub(super) fn name_of(shape: LightShape) -> &'static str {
    match shape {
        LightShape::Point => "Point",
        LightShape::Spot => "Spot",
        LightShape::Sphere => "Sphere",
        LightShape::Disk => "Disk",
        LightShape::Rectangle => "Rectangle",
        LightShape::Tube => "Tube",
        LightShape::Sun => "Sun",
    }
}

/// Subject of a new light.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subject {
    /// Center (m, world space).
    pub center: DVec3,
    /// Radius (m).
    pub radius: f64,
    /// Camera to world.
    pub camera: DMat4,
    /// Illuminance that the light gives the center.
    pub illuminance: Lux,
}

impl Subject {
    /// Direction to a new light: from the upper left of the camera's side, so that its handles are
    /// in the picture.
    fn direction(&self) -> DVec3 {
        let right = self.camera.x_axis.truncate().normalize_or(DVec3::X);
        let back = (self.camera.w_axis.truncate() - self.center).normalize_or(DVec3::Z);
        (right * -0.6 + DVec3::Y * 0.6 + back * 0.53).normalize_or(DVec3::Y)
    }

    /// A light of a shape, aimed at the subject and of a size that fits it.
    pub fn light(&self, shape: LightShape) -> Properties {
        self.light_at(shape, self.place())
    }

    /// Position of a new light (m).
    pub fn place(&self) -> DVec3 {
        self.center + self.direction() * (DISTANCE * self.radius)
    }

    /// The same at another place.
    pub fn light_at(&self, shape: LightShape, place: DVec3) -> Properties {
        let r = self.radius;
        let distance = place.distance(self.center).max(1e-6);
        let mut set = Properties::new();
        set.insert("position", place_text(place));
        set.insert("aim", place_text(self.center));
        let emitter = match shape {
            LightShape::Point => Emitter::Point,
            LightShape::Spot => {
                // The cone holds the subject.
                let outer = (r / distance).atan().clamp(0.05, 1.4);
                let cone = Cone::new(outer * 0.7, outer).ok();
                cone.map_or(Emitter::Point, |cone| Emitter::Spot { cone, flux: SpotFlux::Exact })
            }
            LightShape::Sphere => Emitter::Sphere { radius: 0.12 * r },
            LightShape::Disk => Emitter::Disk { radius: 0.4 * r, sides: Sides::One },
            LightShape::Rectangle => {
                Emitter::Rectangle { width: 0.6 * r, height: 0.9 * r, sides: Sides::One }
            }
            LightShape::Tube => Emitter::Tube { radius: 0.03 * r, length: r },
            LightShape::Sun => Emitter::Sun { angular_radius: (SUN_DIAMETER / 2.0).to_radians() },
        };
        let lux = self.illuminance.get();
        let wanted = match shape {
            LightShape::Sun => LightStrength::Lux(Lux(lux)),
            _ => LightStrength::Candela(Candela(lux * distance * distance)),
        };
        if let Ok(source) = PhysicalLight::new(emitter, wanted) {
            let (unit, value) = match source.lumens() {
                Some(lumens) => ("lumens", lumens.get()),
                None => ("lux", lux),
            };
            set.insert(unit, short(rounded(value)));
        }
        set.extend(shape_of(emitter, rounded));
        set
    }
}

/// A number of two significant digits.
fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let step = 10f64.powf(value.abs().log10().floor() - 1.0);
    (value / step).round() * step
}

/// Shape and sizes of an emitter; `digits` rounds the sizes.
fn shape_of(emitter: Emitter, digits: fn(f64) -> f64) -> Properties {
    let number = |value: f64| short(digits(value));
    let faces = |faces| match faces {
        Sides::One => "one".to_owned(),
        Sides::Two => "two".to_owned(),
    };
    let all: Vec<(&'static str, String)> = match emitter {
        Emitter::Point => vec![("shape", "point".into())],
        Emitter::Spot { cone, .. } => vec![
            ("shape", "spot".into()),
            ("inner_half_angle", number(cone.inner().to_degrees())),
            ("outer_half_angle", number(cone.outer().to_degrees())),
        ],
        Emitter::Sphere { radius } => {
            vec![("shape", "sphere".into()), ("radius", number(radius))]
        }
        Emitter::Disk { radius, sides } => {
            vec![("shape", "disk".into()), ("radius", number(radius)), ("sides", faces(sides))]
        }
        Emitter::Rectangle { width, height, sides } => vec![
            ("shape", "rectangle".into()),
            ("width", number(width)),
            ("height", number(height)),
            ("sides", faces(sides)),
        ],
        Emitter::Tube { radius, length } => {
            vec![("shape", "tube".into()), ("radius", number(radius)), ("length", number(length))]
        }
        Emitter::Sun { angular_radius } => vec![
            ("shape", "sun".into()),
            ("angular_diameter", number((angular_radius * 2.0).to_degrees())),
        ],
    };
    all.into_iter().filter(|(_, value)| value != "one").collect()
}

/// Properties of a look that give a light again, in its place, without its gel and modifiers. The
/// look has no colors off the daylight and black-body loci: the nearest color temperature and tint
/// stand for others.
pub(super) fn copied(light: &Light, world: DMat4) -> Properties {
    let light = light.bare();
    let emitter = light.emitter();
    let mut set = shape_of(emitter, |value| value);
    set.insert("position", place_text(world.w_axis.truncate()));
    set.insert("aim", place_text(target_of(world, 1.0)));
    if let Some((unit, value)) = strength(light) {
        set.insert(unit, short(value));
    }
    if let Emitter::Spot { flux, .. } = emitter {
        match flux {
            SpotFlux::Exact => {}
            SpotFlux::ApexCone => drop(set.insert("spot_flux", "apex-cone".into())),
            SpotFlux::PhiOverPi => drop(set.insert("spot_flux", "phi-over-pi".into())),
        }
    }
    let color = light.color.as_dvec3();
    let is_white = color.max_element() - color.min_element() <= 1e-6 * color.max_element();
    let chromaticity = Chromaticity::from_xyz(REC709_TO_XYZ * color).filter(|_| !is_white);
    if let Some((kelvin, duv)) = chromaticity.and_then(|c| correlated_temperature(c).ok()) {
        set.insert("kelvin", short(kelvin.get()));
        set.insert("tint", format!("{duv:.5}"));
    }
    if !light.shadow {
        set.insert("shadow", "false".into());
    }
    if !light.visible {
        set.insert("visible", "false".into());
    }
    set
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;
    use crate::scene::{Scene, build::look_at_transform, look::Look};

    const SHAPES: [LightShape; 7] = [
        LightShape::Point,
        LightShape::Spot,
        LightShape::Sphere,
        LightShape::Disk,
        LightShape::Rectangle,
        LightShape::Tube,
        LightShape::Sun,
    ];

    /// The light that a look of these properties adds, and its light-to-world matrix.
    fn added(set: &Properties) -> (Light, DMat4) {
        let mut look = Look::default();
        look.set("lights.New.add", "true").unwrap();
        for (property, value) in set {
            look.set(&format!("lights.New.{property}"), value).unwrap();
        }
        let mut scene = Scene::default();
        look.apply(&mut scene).unwrap();
        (scene.lights[0].clone(), scene.nodes[0].local)
    }

    fn subject() -> Subject {
        let center = DVec3::new(1.0, 0.5, -2.0);
        let camera = look_at_transform(DVec3::new(2.0, 1.5, 3.0), center);
        Subject { center, radius: 0.5, camera, illuminance: Lux(800.0) }
    }

    #[test]
    fn new_lights_shine_on_the_subject_and_fit_it() {
        for shape in SHAPES {
            for radius in [0.05, 0.5, 300.0] {
                let subject = Subject { radius, ..subject() };
                let (light, world) = added(&subject.light(shape));
                let from = world.w_axis.truncate();
                let to = (subject.center - from).normalize();
                assert!((to - -world.z_axis.truncate()).length() < 0.02, "{shape:?} is aimed");
                let distance = from.distance(subject.center);
                assert!((distance / (DISTANCE * radius) - 1.0).abs() < 0.02, "{shape:?}");
                assert!(light.emitter().bounding_radius() < distance, "{shape:?} is outside");
                // Of punctual lights: others are less than their intensity says, nearby.
                let at = light.source.lux(distance).get();
                assert!((at / 800.0 - 1.0).abs() < 0.1, "{shape:?} of {radius} m: {at} lx");
            }
        }
    }

    #[test]
    fn a_copy_is_the_same_light() {
        for shape in SHAPES {
            let (mut light, world) = added(&subject().light(shape));
            light.shadow = false;
            light.color = Vec3::new(1.0, 0.7, 0.4);
            let (copy, at) = added(&copied(&light, world));
            assert_eq!(copy.emitter().name(), light.emitter().name());
            assert!(!copy.shadow);
            assert!((at.w_axis - world.w_axis).length() < 1e-4);
            assert!((at.z_axis - world.z_axis).length() < 1e-3);
            let [one, two] =
                [&light, &copy].map(|light| light.source.lux(1.0).get() * light.color_luminance());
            assert!((two / one - 1.0).abs() < 1e-4, "{shape:?}: {two} for {one}");
            let [one, two] = [&light, &copy].map(|light| light.color / light.color.x);
            assert!((one - two).abs().max_element() < 0.01, "{shape:?}: {two} for {one}");
        }
    }

    #[test]
    fn a_copy_behind_the_same_gel_and_modifiers_is_the_same_light() {
        for shape in SHAPES {
            let front = |mut set: Properties| {
                set.insert("gel", "CTO + 0.3 ND".into());
                if shape == LightShape::Spot {
                    set.insert("snoot", "1.5".into());
                }
                set
            };
            let mut set = subject().light(shape);
            set.insert("kelvin", "5600".into());
            let (light, world) = added(&front(set));
            let (copy, _) = added(&front(copied(&light, world)));
            let [one, two] =
                [&light, &copy].map(|light| light.source.lux(1.0).get() * light.color_luminance());
            assert!((two / one - 1.0).abs() < 1e-3, "{shape:?}: {two} for {one}");
            let [one, two] = [&light, &copy].map(|light| light.color / light.color.x);
            assert!((one - two).abs().max_element() < 0.01, "{shape:?}: {two} for {one}");
            assert_eq!(copy.profile.is_some(), shape == LightShape::Spot);
        }
    }

    #[test]
    fn names_are_counted() {
        let taken = ["Key", "Key2", "Fill"];
        let free = |base: &str| free_name(base, |name| taken.contains(&name));
        assert_eq!(free("Key"), "Key3");
        assert_eq!(free("Key2"), "Key3");
        assert_eq!(free("Fill"), "Fill2");
        assert_eq!(free("Rim"), "Rim");
        assert_eq!(free("001"), "Light");
        assert_eq!(free("#0"), "Light");
        assert_eq!(free("Twin#1"), "Twin");
        assert_eq!(free("Key#12"), "Key3");
        assert_eq!(free("Light.001"), "Light");
        assert_eq!(free("Lamp_L-2"), "Lamp_L");
        assert_eq!(free("Lamp 2"), "Lamp");
        assert_eq!(free("C#m"), "C#m");
    }
}
