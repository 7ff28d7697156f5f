//! Text report of material extensions.

use glam::Vec3;

use super::{Text, color, digits};
use crate::scene::{Anisotropy, Material, Specular};

/// Writes a line for each extension that has an effect; none for unlit materials.
pub(super) fn lobes(material: &Material, text: &mut Text) {
    if material.unlit {
        return;
    }
    let number = |x: f32| digits(f64::from(x));
    let Material { specular, clearcoat, sheen, iridescence, diffuse_transmission, .. } = material;
    if *specular != Specular::default() {
        let (factor, tint) = (number(specular.factor), color(specular.color));
        text.line(2, format!("specular {factor}, F0 color factor {tint}"));
    }
    if clearcoat.factor > 0.0 {
        let (factor, roughness) = (number(clearcoat.factor), number(clearcoat.roughness));
        text.line(2, format!("clear coat {factor} of index 1.5, roughness {roughness}"));
    }
    if sheen.color != Vec3::ZERO {
        text.line(
            2,
            format!("sheen {}, roughness {}", color(sheen.color), number(sheen.roughness)),
        );
    }
    let Anisotropy { strength, rotation, .. } = material.anisotropy;
    if strength > 0.0 {
        let turned = digits(f64::from(rotation).to_degrees());
        text.line(2, format!("anisotropy {}, rotation {turned} degrees", number(strength)));
    }
    if iridescence.factor > 0.0 {
        let thickness = match iridescence.thickness_texture {
            Some(_) => {
                format!(
                    "{} to {}",
                    number(iridescence.thickness_minimum),
                    number(iridescence.thickness_maximum)
                )
            }
            None => number(iridescence.thickness_maximum),
        };
        let (factor, ior) = (number(iridescence.factor), number(iridescence.ior));
        text.line(2, format!("iridescence {factor}: film of index {ior}, {thickness} nm thick"));
    }
    if material.dispersion > 0.0 {
        let abbe = digits(20.0 / f64::from(material.dispersion));
        text.line(2, format!("dispersion {}: Abbe number {abbe}", number(material.dispersion)));
    }
    if let Some(water) = &material.water {
        let settings = &water.settings;
        let rates = |v: glam::DVec3| v.to_array().map(digits).join(", ");
        let (absorbs, scatters) =
            (rates(settings.coefficients.absorption), rates(settings.coefficients.scattering));
        text.line(2, format!("water: absorbs {absorbs} 1/m, scatters {scatters} 1/m"));
        let (width, height, speed) =
            (water.map.width(), water.map.height(), digits(settings.speed));
        text.line(
            2,
            format!("flow map of {width}x{height} texels, at most {speed} m/s along an axis"),
        );
        if settings.caustics {
            text.line(2, "caustics of the sun");
        }
        if let Some(debris) = &settings.debris {
            text.line(2, format!("{} floating nodes named '{debris}'", water.floating.len()));
        }
    }
    if diffuse_transmission.factor > 0.0 {
        let (factor, tint) =
            (number(diffuse_transmission.factor), color(diffuse_transmission.color));
        text.line(2, format!("diffuse transmission {factor}, color {tint}"));
    }
}
