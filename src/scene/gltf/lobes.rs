//! The Khronos material extensions for surface scattering, from a checked document to the model.

use glam::Vec3;
use serde_json::Value;

use super::{
    json::{extension, narrow, number, numbers},
    report::At,
};
use crate::scene::{
    Anisotropy, Clearcoat, DiffuseTransmission, Iridescence, Material, MaterialVolume, Sheen,
    Specular, TextureRef,
};

/// Finds a texture: the object that may name it, the property's name, the object's place.
pub(super) type Get<'a> = dyn FnMut(&Value, &str, &At<'_>) -> Option<TextureRef> + 'a;

/// The properties of one extension of a material.
struct Extension<'a> {
    value: &'a Value,
    at: At<'a>,
}

static ABSENT: Value = Value::Null;

impl<'a> Extension<'a> {
    fn of(material: &'a Value, name: &'a str, at: &'a At<'a>) -> Self {
        Self { value: extension(material, name).unwrap_or(&ABSENT), at: at.key(name) }
    }

    fn number(&self, key: &str, default: f32) -> f32 {
        number(self.value, key).map_or(default, narrow)
    }

    fn color(&self, key: &str, default: Vec3) -> Vec3 {
        numbers::<3>(self.value, key).map_or(default, |color| Vec3::from_array(color.map(narrow)))
    }

    fn texture(&self, key: &str, get: &mut Get<'_>) -> Option<TextureRef> {
        get(self.value, key, &self.at)
    }
}

/// The material properties from extensions; all others are defaults.
pub(super) fn material(value: &Value, at: &At<'_>, get: &mut Get<'_>) -> Material {
    let at = at.key("extensions");
    let of = |name| Extension::of(value, name, &at);
    let ior = of("KHR_materials_ior").number("ior", 1.5);
    let transmission = of("KHR_materials_transmission");
    Material {
        // `validate` notes values between 0 and 1.
        ior: if ior > 0.0 && ior < 1.0 { 1.5 } else { ior },
        transmission: transmission.number("transmissionFactor", 0.0),
        transmission_texture: transmission.texture("transmissionTexture", get),
        volume: volume(&of("KHR_materials_volume"), get),
        dispersion: of("KHR_materials_dispersion").number("dispersion", 0.0),
        specular: specular(&of("KHR_materials_specular"), get),
        clearcoat: clearcoat(&of("KHR_materials_clearcoat"), get),
        sheen: sheen(&of("KHR_materials_sheen"), get),
        anisotropy: anisotropy(&of("KHR_materials_anisotropy"), get),
        iridescence: iridescence(&of("KHR_materials_iridescence"), get),
        diffuse_transmission: diffuse_transmission(&of("KHR_materials_diffuse_transmission"), get),
        ..Material::default()
    }
}

fn volume(volume: &Extension<'_>, get: &mut Get<'_>) -> MaterialVolume {
    MaterialVolume {
        thickness: volume.number("thicknessFactor", 0.0),
        thickness_texture: volume.texture("thicknessTexture", get),
        // The schema requires more than 0; a tiny number becomes 0 in single precision.
        attenuation_distance: volume
            .number("attenuationDistance", f32::INFINITY)
            .max(f32::MIN_POSITIVE),
        attenuation_color: volume.color("attenuationColor", Vec3::ONE),
    }
}

fn specular(specular: &Extension<'_>, get: &mut Get<'_>) -> Specular {
    Specular {
        factor: specular.number("specularFactor", 1.0),
        texture: specular.texture("specularTexture", get),
        color: specular.color("specularColorFactor", Vec3::ONE),
        color_texture: specular.texture("specularColorTexture", get),
    }
}

fn clearcoat(coat: &Extension<'_>, get: &mut Get<'_>) -> Clearcoat {
    let normal_scale =
        coat.value.get("clearcoatNormalTexture").and_then(|info| number(info, "scale"));
    Clearcoat {
        factor: coat.number("clearcoatFactor", 0.0),
        texture: coat.texture("clearcoatTexture", get),
        roughness: coat.number("clearcoatRoughnessFactor", 0.0),
        roughness_texture: coat.texture("clearcoatRoughnessTexture", get),
        normal_texture: coat.texture("clearcoatNormalTexture", get),
        normal_scale: normal_scale.map_or(1.0, narrow),
    }
}

fn sheen(sheen: &Extension<'_>, get: &mut Get<'_>) -> Sheen {
    Sheen {
        color: sheen.color("sheenColorFactor", Vec3::ZERO),
        color_texture: sheen.texture("sheenColorTexture", get),
        roughness: sheen.number("sheenRoughnessFactor", 0.0),
        roughness_texture: sheen.texture("sheenRoughnessTexture", get),
    }
}

fn anisotropy(anisotropy: &Extension<'_>, get: &mut Get<'_>) -> Anisotropy {
    Anisotropy {
        strength: anisotropy.number("anisotropyStrength", 0.0),
        rotation: anisotropy.number("anisotropyRotation", 0.0),
        texture: anisotropy.texture("anisotropyTexture", get),
    }
}

fn iridescence(film: &Extension<'_>, get: &mut Get<'_>) -> Iridescence {
    Iridescence {
        factor: film.number("iridescenceFactor", 0.0),
        texture: film.texture("iridescenceTexture", get),
        ior: film.number("iridescenceIor", 1.3),
        thickness_minimum: film.number("iridescenceThicknessMinimum", 100.0),
        thickness_maximum: film.number("iridescenceThicknessMaximum", 400.0),
        thickness_texture: film.texture("iridescenceThicknessTexture", get),
    }
}

fn diffuse_transmission(through: &Extension<'_>, get: &mut Get<'_>) -> DiffuseTransmission {
    DiffuseTransmission {
        factor: through.number("diffuseTransmissionFactor", 0.0),
        texture: through.texture("diffuseTransmissionTexture", get),
        color: through.color("diffuseTransmissionColorFactor", Vec3::ONE),
        color_texture: through.texture("diffuseTransmissionColorTexture", get),
    }
}
