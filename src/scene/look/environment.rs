//! `environment.*`: sky, sun and moon by position or by place and time, and environment maps.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use glam::DVec3;

use super::{
    LookError,
    environment_suns::{self, EnvironmentExtract, add_sun},
};
use crate::{
    photometry::{
        Lux,
        astronomy::{GeoLocation, HorizontalCoordinates, Moment, moon, sun},
        environment::{ExtractionLimits, MapError, RadianceMap, RowMapping},
        lights::SUN_ANGULAR_RADIUS,
        sky::{Atmosphere, AtmosphereParams, Sky, SkyBody, SkySource, solar_illuminance},
    },
    scene::{Environment, Note, NoteKind, Scene, environment},
    settings::{Accepts, define::section},
};

const fn degrees(min: f64, max: f64) -> Accepts {
    Accepts::Angle { min, max }
}

/// True if a text is a date.
fn is_date(text: &str) -> bool {
    Moment::parse(text, "12:00", 0.0).is_ok()
}

/// True if a text is a time of day.
fn is_clock(text: &str) -> bool {
    Moment::parse("2000-01-01", text, 0.0).is_ok()
}

section! {
    /// Environment overrides; angles in radians.
    pub struct EnvironmentLook in "environment" {
        file: PathBuf,
            "equirectangular EXR, HDR, PNG or JPEG file, relative to the look file; FILE.exr:LAYER selects an EXR's layer";
        lux: f64, accepts Accepts::NonNegative, unit "lx",
            "horizontal illuminance in lux, 0 or more: scales the map, or sky, sun and moon together";
        scale: f64, accepts Accepts::NonNegative, unit "nit",
            "luminance in nits of a map pixel of value 1, 0 or more, e.g. 1; also scales sun and moon of a sky";
        rotation: f64 = 0.0, accepts degrees(-3600.0, 3600.0), unit "deg",
            "rotation about the vertical in degrees, clockwise from above, of map, sky, sun and moon";
        extract: EnvironmentExtract = EnvironmentExtract::Auto,
            "auto, off, sun or lights: takes areas of at most 5 degrees with 5 % of the light each (auto), the brightest area of at most 5 degrees (sun) or areas of at most 30 degrees (lights) out of a map file, as suns that cast shadows";
        extract_count: u32 = 4, in 1..=16,
            "maximum number of extracted lights, 1 to 16 (lights)";
        extract_threshold: f64 = 10.0, in 2.0..=10000.0,
            "minimum luminance of extracted areas over the mean luminance of the rest of the map, 2 to 10000";
        latitude at "environment.place.latitude": f64, accepts degrees(-90.0, 90.0), unit "deg",
            "latitude in degrees, -90 to 90, north positive";
        longitude at "environment.place.longitude": f64, accepts degrees(-180.0, 180.0), unit "deg",
            "longitude in degrees, -180 to 180, east positive";
        altitude at "environment.place.altitude": f64 = 0.0, in -500.0..=9000.0, unit "m",
            "altitude above sea level in meters, -500 to 9000";
        date at "environment.time.date": String, accepts Accepts::Checked(is_date),
            "date, e.g. \"2026-06-21\"";
        clock at "environment.time.clock": String, accepts Accepts::Checked(is_clock),
            "time of day, e.g. \"12:30\"";
        utc_offset at "environment.time.utc_offset": f64 = 0.0, in -14.0..=14.0, unit "h",
            "offset from UTC in hours, -14 to 14, e.g. 2";
        sun_enabled at "environment.sun.enabled": bool = true,
            "true or false: sun and the sky it lights (lights.sun.enabled=false omits the sun alone)";
        sun_azimuth at "environment.sun.azimuth": f64, accepts degrees(-360.0, 360.0), unit "deg",
            "azimuth in degrees, clockwise from north, e.g. 180 for south";
        sun_elevation at "environment.sun.elevation": f64, accepts degrees(-90.0, 90.0), unit "deg",
            "elevation above the horizon in degrees, -90 to 90";
        moon_enabled at "environment.moon.enabled": bool,
            "true or false: moon and the sky it lights (lights.moon.enabled=false omits the moon alone)";
        moon_azimuth at "environment.moon.azimuth": f64, accepts degrees(-360.0, 360.0), unit "deg",
            "azimuth in degrees, clockwise from north";
        moon_elevation at "environment.moon.elevation": f64, accepts degrees(-90.0, 90.0), unit "deg",
            "elevation above the horizon in degrees, -90 to 90";
        moon_lux at "environment.moon.lux": f64, accepts Accepts::NonNegative, unit "lx",
            "illuminance in lux above the atmosphere, 0 or more, e.g. 0.31 for a full moon";
        sky at "environment.sky.enabled": bool = true,
            "true or false: sky, lit by the sun or moon of environment.sun, environment.moon, or place and time";
        turbidity at "environment.sky.turbidity": f64 = AtmosphereParams::default().turbidity,
            in 1.0..=10.0, "turbidity, 1 (pure air) to 10 (haze), e.g. 2";
        ground_albedo at "environment.sky.ground_albedo": f64 = AtmosphereParams::default().ground_albedo,
            in 0.0..=1.0, "albedo of the distant ground, 0 to 1";
        ozone at "environment.sky.ozone": f64 = AtmosphereParams::default().ozone,
            in 0.0..=600.0, unit "DU", "ozone column in Dobson units, 0 to 600, e.g. 300";
    }
}

/// Resolution of a sky map in texels.
const SKY_SIZE: [usize; 2] = [768, 384];
/// Elevation (rad) below which sun and moon give no significant light.
const MIN_ELEVATION: f64 = -0.33;
/// Mean illuminance (lx) of the full moon above the atmosphere: Krisciunas and Schaefer 1991
/// (`astronomy::moon`).
const FULL_MOON: f64 = 0.316;
/// Maximum diameter (degrees) of a sun that is extracted from a map: maps blur and bloom it.
const MAX_SUN_DIAMETER: u32 = 5;
/// Maximum diameter (degrees) of other extracted lights: beyond it the shape of an area matters.
const MAX_LIGHT_DIAMETER: u32 = 30;
/// Minimum part of the map's light in an extracted light.
const MIN_PART: f64 = 0.01;
/// The same where nothing is asked for. A ray of a surface finds an area of 5 degrees with a chance
/// of at most 0.2 %: with less light it is noise, with more a missing sun.
const MIN_AUTO_PART: f64 = 0.05;
/// Maximum number of lights where nothing is asked for.
const MAX_AUTO_LIGHTS: u32 = 16;
/// Mean angular radius of the moon (rad): 15.5 arcminutes.
const MOON_ANGULAR_RADIUS: f64 = 0.004_52;

impl EnvironmentLook {
    /// Sets a scene's environment, and adds lights named `sun` and `moon` where they are.
    ///
    /// # Errors
    /// A file that cannot be used; an incomplete set of properties, such as a place without a time.
    pub(super) fn apply(&self, scene: &mut Scene) -> Result<(), LookError> {
        let rotation = self.rotation();
        let bodies = self.bodies()?;
        let air = AtmosphereParams {
            turbidity: self.turbidity(),
            ground_albedo: self.ground_albedo(),
            ozone: self.ozone(),
            altitude: self.altitude(),
        };
        let skies: Vec<Sky> = if bodies.is_empty() {
            Vec::new()
        } else {
            let atmosphere = Atmosphere::new(air);
            bodies.iter().map(|&body| Sky::new(&atmosphere, body)).collect()
        };
        let (map, origin) = if let Some(file) = &self.file {
            let loaded = environment::load(file)
                .map_err(|error| input("environment.file", file, error.cause.to_string()))?;
            let place = file.display().to_string();
            scene.notes.extend(loaded.warnings.into_iter().map(|warning| Note {
                kind: NoteKind::Repaired,
                location: place.clone(),
                message: warning,
            }));
            (Some(loaded.map), place)
        } else if self.sky() && !skies.is_empty() {
            let [width, height] = SKY_SIZE;
            let nits = |direction: DVec3| skies.iter().map(|sky| sky.luminance(direction)).sum();
            let map = RadianceMap::from_fn(width, height, RowMapping::SquareRoot, nits)
                .map_err(|error| input("environment.sky", Path::new("sky"), error.to_string()))?;
            (Some(map), format!("clear sky of turbidity {}", air.turbidity))
        } else {
            (None, "sun and moon".into())
        };
        let scaled = [("environment.lux", self.lux), ("environment.scale", self.scale)];
        if let (Some((path, _)), None, true) =
            (scaled.iter().find(|(_, value)| value.is_some()), &map, skies.is_empty())
        {
            return Err(LookError::BadValue {
                path: (*path).into(),
                value: String::new(),
                expected: "there is no environment to scale: set environment.file or environment.sun.elevation".into(),
            });
        }
        if let (Some(lux), Some(_)) = (self.lux, self.scale) {
            return Err(LookError::BadValue {
                path: "environment.lux".into(),
                value: lux.to_string(),
                expected: "environment.lux and environment.scale are exclusive: remove one".into(),
            });
        }
        // A map file is scaled by itself. A sky is the light of its sun and moon, so they are
        // scaled together.
        let together = self.file.is_none();
        let factor = match self.lux {
            Some(lux) => {
                let own = map.as_ref().map_or(0.0, |map| map.illuminance().get());
                let direct: f64 = skies
                    .iter()
                    .filter(|_| together)
                    .map(|sky| sky.level_illuminance().get())
                    .sum();
                let factor = lux / (own + direct);
                if !factor.is_finite() {
                    let error = MapError::Black(Lux(lux)).to_string();
                    return Err(input("environment.lux", Path::new(&origin), error));
                }
                factor
            }
            None => self.scale.unwrap_or(1.0),
        };
        for sky in &skies {
            add_light(scene, sky, rotation, if together { factor } else { 1.0 });
        }
        if self.file.is_none() && self.asks_for_lights() {
            scene.notes.push(Note {
                kind: NoteKind::Info,
                location: "environment.extract".into(),
                message: "no effect without environment.file: sun and moon of a sky are lights"
                    .into(),
            });
        }
        if let Some(map) = map {
            let map = map.scaled(factor);
            // A sun of place and time takes the place of the map's.
            let keeps_map = self.extract() == EnvironmentExtract::Auto && !skies.is_empty();
            let map = if keeps_map { map } else { self.without_lights(scene, map) };
            scene.environment = Some(Environment { map: Arc::new(map), rotation, origin });
        }
        Ok(())
    }

    /// True if lights are to be extracted, whether or not rays would miss them.
    fn asks_for_lights(&self) -> bool {
        matches!(self.extract(), EnvironmentExtract::Sun | EnvironmentExtract::Lights)
    }

    /// A map without the lights that are extracted from it, which a scene receives.
    fn without_lights(&self, scene: &mut Scene, map: RadianceMap) -> RadianceMap {
        let asked = self.asks_for_lights();
        let [max_lights, max_diameter] = match self.extract() {
            _ if self.file.is_none() => return map,
            EnvironmentExtract::Off => return map,
            EnvironmentExtract::Auto => [MAX_AUTO_LIGHTS, MAX_SUN_DIAMETER],
            EnvironmentExtract::Sun => [1, MAX_SUN_DIAMETER],
            EnvironmentExtract::Lights => [self.extract_count(), MAX_LIGHT_DIAMETER],
        };
        let limits = ExtractionLimits {
            max_lights: max_lights as usize,
            max_radius: f64::from(max_diameter).to_radians() / 2.0,
            threshold: self.extract_threshold(),
            min_part: if asked { MIN_PART } else { MIN_AUTO_PART },
        };
        environment_suns::extract(scene, &map, limits, self.rotation(), asked)
    }

    /// Warning about a sky without a sun or moon; about a sun that is disabled together with its
    /// sky; about a sun so far below the horizon that there is neither light nor sky.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let sun = self.sun_by(self.when().ok()?).ok()?;
        let dark = self.file.is_none() && self.bodies().ok()?.is_empty();
        let below = sun.filter(|(place, ..)| place.elevation <= MIN_ELEVATION);
        if dark && below.is_none() && self.sky == Some(true) {
            return Some(
                "environment.sky.enabled: the sky is black, as no sun and no moon lights it; set \
                 environment.sun.elevation, or place and time, and leave sun.enabled true (lights.sun.enabled=false keeps the sky)"
                    .into(),
            );
        }
        let taken = sun.is_some() && below.is_none() && !self.sun_enabled();
        if taken && self.file.is_none() && self.sky != Some(false) {
            return Some(
                "environment.sun.enabled = false disables the sky of the sun too; lights.sun.enabled=false disables \
                 the sun alone"
                    .into(),
            );
        }
        below.filter(|_| dark).map(|(place, ..)| {
            format!(
                "the sun is {:.1} degrees below the horizon and lights no sky from {:.1} degrees on; raise \
                 environment.sun.elevation, choose another environment.time.clock, or set environment.moon.elevation",
                -place.elevation.to_degrees(),
                -MIN_ELEVATION.to_degrees()
            )
        })
    }

    /// The sun by its angles, else by place and time: direction, angular radius (rad), and strength
    /// relative to the mean distance.
    fn sun_by(
        &self,
        when: Option<(Moment, GeoLocation)>,
    ) -> Result<Option<(HorizontalCoordinates, f64, f64)>, LookError> {
        let by_hand = place_of("sun", self.sun_elevation, self.sun_azimuth)?
            .map(|place| (place, SUN_ANGULAR_RADIUS, 1.0));
        Ok(by_hand.or(when.map(|(moment, place)| {
            let sun = sun(moment, place);
            (sun.apparent, sun.angular_radius, sun.strength())
        })))
    }

    /// Sun and moon, if they are enabled and high enough to give light.
    fn bodies(&self) -> Result<Vec<SkyBody>, LookError> {
        let when = self.when()?;
        let mut bodies = Vec::new();
        let mut dark = true;
        if let Some((place, angular_radius, strength)) = self.sun_by(when)? {
            dark = place.elevation < 0.0;
            if self.sun_enabled() && place.elevation > MIN_ELEVATION {
                let illuminance = solar_illuminance() * strength;
                bodies.push(SkyBody {
                    source: SkySource::Sun,
                    position: place,
                    illuminance,
                    angular_radius,
                });
            }
        }
        let by_hand = place_of("moon", self.moon_elevation, self.moon_azimuth)?
            .map(|place| (place, MOON_ANGULAR_RADIUS, Lux(FULL_MOON)));
        // By day the light of the Moon is negligible.
        let by_time = when.filter(|_| self.moon_enabled.unwrap_or(dark)).map(|(moment, place)| {
            let moon = moon(moment, place);
            (moon.apparent, moon.angular_radius, moon.illuminance)
        });
        if let Some((place, angular_radius, lux)) = by_hand.or(by_time)
            && self.moon_enabled.unwrap_or(true)
            && place.elevation > MIN_ELEVATION
        {
            let illuminance = self.moon_lux.map_or(lux, Lux);
            bodies.push(SkyBody {
                source: SkySource::Moon,
                position: place,
                illuminance,
                angular_radius,
            });
        }
        Ok(bodies)
    }

    /// Time and place, if they are set.
    fn when(&self) -> Result<Option<(Moment, GeoLocation)>, LookError> {
        let parts = [
            ("environment.place.latitude", self.latitude.map(|angle| angle.to_string())),
            ("environment.place.longitude", self.longitude.map(|angle| angle.to_string())),
            ("environment.time.date", self.date.clone()),
            ("environment.time.clock", self.clock.clone()),
        ];
        let (Some(latitude), Some(longitude), Some(date), Some(clock)) =
            (self.latitude, self.longitude, &self.date, &self.clock)
        else {
            let given = parts.iter().find_map(|(path, given)| Some((*path, given.clone()?)));
            let lacking = parts.iter().find(|(_, given)| given.is_none());
            return match (given, lacking) {
                (Some((path, value)), Some((need, _))) => Err(LookError::BadValue {
                    path: path.into(),
                    value,
                    expected: format!(
                        "expected {need} too: sun and moon by place and time need it"
                    ),
                }),
                _ => Ok(None),
            };
        };
        let invalid = |path: &str, value: &str, error: String| LookError::BadValue {
            path: path.into(),
            value: value.into(),
            expected: error,
        };
        let moment = Moment::parse(date, clock, self.utc_offset()).map_err(|error| {
            invalid("environment.time", &format!("{date} {clock}"), error.to_string())
        })?;
        let place = GeoLocation::new(latitude, longitude)
            .and_then(|place| place.at_altitude(self.altitude()))
            .map_err(|error| invalid("environment.place", "", error.to_string()))?;
        Ok(Some((moment, place)))
    }
}

fn input(property: &str, file: &Path, detail: String) -> LookError {
    LookError::Input { property: property.into(), file: file.display().to_string(), detail }
}

/// Direction of a body by its angles; `None` if none are set.
fn place_of(
    name: &str,
    elevation: Option<f64>,
    azimuth: Option<f64>,
) -> Result<Option<HorizontalCoordinates>, LookError> {
    match (elevation, azimuth) {
        (Some(elevation), azimuth) => {
            Ok(Some(HorizontalCoordinates { elevation, azimuth: azimuth.unwrap_or(0.0) }))
        }
        (None, Some(_)) => Err(LookError::BadValue {
            path: format!("environment.{name}.azimuth"),
            value: String::new(),
            expected: format!("expected environment.{name}.elevation too"),
        }),
        (None, None) => Ok(None),
    }
}

/// Adds the direct light of a body, times a factor, as that of its whole disk; nothing if the disk
/// is below the horizon.
fn add_light(scene: &mut Scene, sky: &Sky, rotation: f64, factor: f64) {
    let body = sky.body();
    if sky.disk().visible_fraction <= 0.0 {
        return;
    }
    let name = if body.source == SkySource::Sun { "sun" } else { "moon" };
    let place =
        HorizontalCoordinates { azimuth: body.position.azimuth + rotation, ..body.position };
    let whole = sky.whole_disk() * factor;
    if let Some(light) = add_sun(scene, name, place.direction(), whole, body.angular_radius) {
        light.clip_at_horizon = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{photometry::LightStrength, scene::look::Look};

    fn applied(settings: &[&str]) -> Result<Scene, LookError> {
        let look = Look::of(settings)?;
        let mut scene = Scene::default();
        look.apply(&mut scene)?;
        Ok(scene)
    }

    #[test]
    fn noon_in_stockholm() {
        let scene = applied(&[
            "environment.place.latitude=59.33",
            "environment.place.longitude=18.06",
            "environment.time.date=2026-06-21",
            "environment.time.clock=12:50",
            "environment.time.utc_offset=2",
        ])
        .unwrap();
        let [light] = scene.lights.as_slice() else { panic!("{:?}", scene.lights) };
        let lux = light.source.lux(1.0).get();
        // Elevation 54 degrees: IES RP-21 has 127.5 exp(-0.21 / sin) = 98 klx.
        assert!((90_000.0..110_000.0).contains(&lux), "{lux}");
        let towards = -scene.nodes[0].local.z_axis.truncate();
        assert!((towards.y + 54.1_f64.to_radians().sin()).abs() < 0.005, "{towards}");
        assert!(towards.z < -0.5 && towards.x.abs() < 0.05, "from the south: {towards}");
        let sky = scene.environment.unwrap();
        assert!(
            (10_000.0..20_000.0).contains(&sky.map.illuminance().get()),
            "{:?}",
            sky.map.illuminance()
        );
    }

    #[test]
    fn night_has_a_moon_and_no_sun() {
        let scene = applied(&[
            "environment.place.latitude=0",
            "environment.place.longitude=0",
            "environment.time.date=2000-01-21",
            "environment.time.clock=00:30",
        ])
        .unwrap();
        let [light] = scene.lights.as_slice() else { panic!("{:?}", scene.lights) };
        assert_eq!(light.name, "moon");
        let lux = light.source.lux(1.0).get();
        assert!((0.1..0.4).contains(&lux), "{lux}");
        let level = scene.environment.unwrap().map.illuminance().get();
        assert!((0.005..0.2).contains(&level), "{level}");
        let below = applied(&["environment.sun.elevation=-8"]).unwrap();
        assert!(below.lights.is_empty());
        let level = below.environment.unwrap().map.illuminance().get();
        assert!((0.1..10.0).contains(&level), "{level}");
        let dark = applied(&["environment.sun.elevation=-60"]).unwrap();
        assert!(dark.lights.is_empty() && dark.environment.is_none());
    }

    #[test]
    fn light_is_measured_and_turned() {
        let scene = applied(&[
            "environment.sun.elevation=30",
            "environment.sun.azimuth=90",
            "environment.rotation=90",
            "environment.lux=5000",
        ]);
        let scene = scene.unwrap();
        let level = scene.environment.unwrap().map.illuminance().get()
            + scene.lights[0].source.lux(1.0).get() * 0.5;
        assert!((level - 5000.0).abs() < 1.0, "{level}");
        // Turned clockwise by 90 degrees, east is south: the light goes north.
        assert!(-scene.nodes[0].local.z_axis.z < -0.8);
        let named = applied(&["environment.sun.elevation=30", "lights.sun.lux=1000"]).unwrap();
        assert!(
            named
                .lights
                .iter()
                .any(|light| light.source.authored() == LightStrength::Lux(Lux(1000.0)))
        );
    }

    #[test]
    fn sun_and_sky_keep_together_when_they_are_scaled() {
        // Illuminance by the sun on a plane that faces it, and by the sky on level ground.
        let of = |more: &[&str]| {
            let scene = applied(&[&["environment.sun.elevation=25"][..], more].concat()).unwrap();
            let sun = scene.nodes.iter().find_map(|node| scene.lights.get(node.light?));
            let sun = sun.map_or(0.0, |light| light.source.lux(1.0).get());
            (sun, scene.environment.map_or(0.0, |sky| sky.map.illuminance().get()))
        };
        let sine = 25.0_f64.to_radians().sin();
        let (sun, sky) = of(&[]);
        let (dim_sun, dim_sky) = of(&["environment.lux=800"]);
        assert!((dim_sun * sine + dim_sky - 800.0).abs() < 1e-2, "{dim_sun} {dim_sky}");
        assert!(
            (dim_sun / dim_sky / (sun / sky) - 1.0).abs() < 1e-6,
            "{dim_sun} {dim_sky} for {sun} {sky}"
        );
        let (twice_sun, twice_sky) = of(&["environment.scale=2"]);
        assert!((twice_sun / sun - 2.0).abs() < 1e-6 && (twice_sky / sky - 2.0).abs() < 1e-6);
        // Sun alone; then the light's own strength overrides, with the sky unchanged.
        let (alone, none) = of(&["environment.lux=800", "environment.sky.enabled=false"]);
        assert!((alone * sine - 800.0).abs() < 1e-6 && none == 0.0, "{alone}");
        let (by_hand, kept) = of(&["environment.lux=800", "lights.sun.lux=30"]);
        assert!(by_hand == 30.0 && kept == dim_sky, "{by_hand} {kept}");
        // With a moon too, and a map from a file by itself.
        let both = applied(&[
            "environment.sun.elevation=25",
            "environment.moon.elevation=60",
            "environment.lux=5",
        ]);
        let both = both.unwrap();
        let direct: f64 = (both.lights.iter().zip(&both.nodes))
            .map(|(light, node)| light.source.lux(1.0).get() * node.local.z_axis.y)
            .sum();
        let level = direct + both.environment.unwrap().map.illuminance().get();
        assert!((level - 5.0).abs() < 1e-4, "{level}");
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("gray.exr");
        exr::prelude::write_rgb_file(&file, 8, 4, |_, _| (1.0f32, 1.0f32, 1.0f32)).unwrap();
        let file = format!("environment.file={}", file.display());
        let (with_file, map) = of(&[&file, "environment.lux=800"]);
        assert!(
            (with_file / sun - 1.0).abs() < 1e-6 && (map - 800.0).abs() < 1e-2,
            "{with_file} {map}"
        );
    }

    #[test]
    fn a_sun_far_below_the_horizon_is_remarked_on() {
        let warning = |settings: &[&str]| {
            let mut look = Look::default();
            settings.iter().for_each(|setting| look.assign(setting).unwrap());
            look.environment.warning()
        };
        let told = warning(&["environment.sun.elevation=-60"]).unwrap();
        assert!(
            told.contains("60.0 degrees below") && told.contains("environment.sun.elevation"),
            "{told}"
        );
        assert!(warning(&["environment.sun.elevation=-8"]).is_none());
        assert!(
            warning(&["environment.sun.elevation=-60", "environment.moon.elevation=20"]).is_none()
        );
        assert!(warning(&[]).is_none());
        assert!(warning(&["environment.sky.enabled=true"]).unwrap().contains("no sun and no moon"));
        let off = [
            "environment.sky.enabled=true",
            "environment.sun.elevation=30",
            "environment.sun.enabled=false",
        ];
        assert!(warning(&off).unwrap().contains("lights.sun.enabled"));
        assert!(
            warning(&["environment.sky.enabled=true", "environment.moon.elevation=20"]).is_none()
        );
        let off = ["environment.sun.elevation=30", "environment.sun.enabled=false"];
        assert!(warning(&off).unwrap().contains("lights.sun.enabled=false disables the sun alone"));
        assert!(warning(&[off[0], off[1], "environment.sky.enabled=false"]).is_none());
    }

    #[test]
    fn what_is_missing_is_named() {
        for (settings, wanted) in [
            (&["environment.place.latitude=10"][..], "environment.place.longitude"),
            (&["environment.sun.azimuth=10"], "environment.sun.elevation"),
            (&["environment.lux=10"], "environment.file"),
            (&["environment.sky.turbidity=NaN"], "1 (pure air)"),
            (&["environment.sky.turbidity=0"], "1 (pure air)"),
            (&["environment.sun.elevation=91"], "-90 to 90"),
            (&["environment.time.date=2026-02-30"], "date"),
            (&["environment.time.clock=25:00"], "time of day"),
            (&["environment.file=none.hdr"], "none.hdr"),
            (&["environment.rotatoin=3"], "environment.rotation"),
        ] {
            let error = applied(settings).unwrap_err().to_string();
            assert!(error.contains(wanted), "{settings:?}: {error}");
        }
    }
}
