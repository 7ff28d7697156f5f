//! Light meter for punctual lights: direct light without shadows, in double precision. Area lights
//! count as points.

use glam::{DMat4, DVec3};

use crate::{
    photometry::{
        Ev100, Lux, Nit,
        lights::{Emitter, SunDisk},
    },
    scene::Scene,
};

/// Illuminance on a surface at `position` with unit normal `normal`: the sum over all visible
/// lights.
///
/// Inverse square and cosine, spot falloff and range window of KHR_lights_punctual; without
/// shadows.
#[must_use]
pub fn illuminance(scene: &Scene, position: DVec3, normal: DVec3) -> Lux {
    illuminance_by_light(scene, position, normal).into_iter().map(|(_, lux)| lux).sum()
}

/// Contribution of each light to `illuminance`, in the order of `Scene::walk`, with the light's
/// name.
#[must_use]
pub fn illuminance_by_light(scene: &Scene, position: DVec3, normal: DVec3) -> Vec<(String, Lux)> {
    let mut out = Vec::new();
    for placed in scene.walk() {
        let Some(light) = placed.node.light.and_then(|index| scene.lights.get(index)) else {
            continue;
        };
        let forward = placed.world.transform_vector3(DVec3::NEG_Z).normalize_or(DVec3::NEG_Z);
        let away = world_position(placed.world) - position;
        let distance = away.length();
        let window = light.range.map_or(1.0, |range| {
            let ratio = distance / f64::from(range);
            (1.0 - ratio.powi(4)).max(0.0)
        });
        let towards = away / distance.max(1e-9);
        let by_distance = window * normal.dot(towards).max(0.0) / (distance * distance).max(1e-18);
        let lux = match light.emitter() {
            Emitter::Sun { .. } => {
                let disk = light.sun_disk(&placed.world).unwrap_or(SunDisk::whole(-forward, 0.0));
                light.source.lux(1.0).get()
                    * disk.visible_fraction
                    * normal.dot(disk.towards).max(0.0)
            }
            emitter => {
                let shape = emitter.relative_intensity(forward.dot(-towards)).unwrap_or(0.0);
                light.source.candela().map_or(0.0, |candela| candela.get()) * shape * by_distance
            }
        };
        out.push((light.name.clone(), Lux(lux * light.color_luminance())));
    }
    out
}

fn world_position(world: DMat4) -> DVec3 {
    world.w_axis.truncate()
}

/// Luminance of a perfectly diffuse surface.
#[must_use]
pub fn lambertian_luminance(illuminance: Lux, reflectance: f64) -> Nit {
    Nit(illuminance.get() * reflectance / std::f64::consts::PI)
}

/// Reading of a reflected-light meter: `log2(100 L / K)` with K = 12.5 (ISO 2720:1974).
#[must_use]
pub fn metered(luminance: Nit) -> Ev100 {
    Ev100((luminance.get() * 100.0 / 12.5).log2())
}

/// Exposure settings of a camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExposureDials {
    /// The f-number.
    pub f_stop: f64,
    /// Reciprocal of the exposure time (1/s).
    pub shutter_denominator: u32,
    /// The ISO speed.
    pub iso: u32,
}

impl ExposureDials {
    /// F-numbers of a lens with third-stop clicks.
    pub const F_STOPS: [f64; 19] = [
        1.4, 1.6, 1.8, 2.0, 2.2, 2.5, 2.8, 3.2, 3.5, 4.0, 4.5, 5.0, 5.6, 6.3, 7.1, 8.0, 9.0, 10.0,
        11.0,
    ];

    /// `log2(N^2 / t * 100 / S)`.
    #[must_use]
    pub fn ev100(self) -> Ev100 {
        let light = self.f_stop * self.f_stop * f64::from(self.shutter_denominator);
        Ev100((light * 100.0 / f64::from(self.iso)).log2())
    }

    /// The third-stop aperture nearest to an exposure value, at a given exposure time and ISO
    /// speed.
    #[must_use]
    pub fn nearest(target: Ev100, shutter_denominator: u32, iso: u32) -> Self {
        let at = |f_stop: f64| Self { f_stop, shutter_denominator, iso };
        let off = |dials: &Self| (dials.ev100().get() - target.get()).abs();
        Self::F_STOPS
            .map(at)
            .into_iter()
            .min_by(|a, b| off(a).total_cmp(&off(b)))
            .unwrap_or(at(4.0))
    }

    /// Exposed value of a luminance, with the saturation luminance `1.2 * 2^EV100` (ISO 12232, lens
    /// factor 0.65) mapped to 1.
    #[must_use]
    pub fn exposed(self, luminance: Nit) -> f64 {
        luminance.get() / (1.2 * self.ev100().get().exp2())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        photometry::Lumen,
        scene::build::{SceneBuilder, look_at_transform},
    };
    use glam::Vec3;

    #[test]
    fn illuminance_follows_distance_cosine_and_cone() {
        let mut builder = SceneBuilder::new("meter");
        builder.point_light_candela(
            "bulb",
            crate::photometry::Candela(100.0),
            Vec3::ONE,
            DVec3::new(0.0, 2.0, 0.0),
        );
        let scene = builder.build().unwrap();
        assert!((illuminance(&scene, DVec3::ZERO, DVec3::Y).get() - 25.0).abs() < 1e-9);
        let tilted = DVec3::new(0.0, 0.5, 0.75_f64.sqrt());
        assert!((illuminance(&scene, DVec3::ZERO, tilted).get() - 12.5).abs() < 1e-9);
        assert_eq!(illuminance(&scene, DVec3::ZERO, DVec3::NEG_Y).get(), 0.0);

        let mut builder = SceneBuilder::new("cone");
        let pose = look_at_transform(DVec3::new(0.0, 2.0, 0.0), DVec3::ZERO);
        builder.spot_light_lumens("spot", Lumen(1000.0), Vec3::ONE, (0.2, 0.4), pose);
        builder.sun("sun", Lux(7.0), Vec3::ONE, DVec3::NEG_Y);
        let scene = builder.build().unwrap();
        let lux = illuminance_by_light(&scene, DVec3::ZERO, DVec3::Y);
        let axis = crate::scene::build::spot_intensity(Lumen(1000.0), 0.2, 0.4).get() / 4.0;
        assert!((lux[0].1.get() - axis).abs() < 1e-3 && (lux[1].1.get() - 7.0).abs() < 1e-9);
        let beside = illuminance_by_light(&scene, DVec3::new(2.0, 0.0, 0.0), DVec3::Y);
        assert_eq!(beside[0].1.get(), 0.0);
    }

    #[test]
    fn sunny_16_is_ev_14_64() {
        let dials = ExposureDials { f_stop: 16.0, shutter_denominator: 100, iso: 100 };
        assert!((dials.ev100().get() - 14.643_856).abs() < 1e-6);
        assert!((metered(Nit(4096.0)).get() - 15.0).abs() < 1e-12);
        // A metered gray is 12.5 / 120 of the saturation.
        assert!(
            (dials.exposed(Nit(0.125 * dials.ev100().get().exp2())) - 12.5 / 120.0).abs() < 1e-12
        );
    }
}
