//! Export of the Khronos material extensions, each only where it has an effect.

use glam::Vec3;
use serde_json::{Map, Value};

use super::{Writer, number, numbers};
use crate::scene::{
    Anisotropy, Clearcoat, DiffuseTransmission, Iridescence, Material, MaterialVolume, Sheen,
    Specular, TextureRef,
};

/// Properties of one extension.
struct Properties<'a> {
    writer: &'a mut Writer,
    values: Map<String, Value>,
}

impl Properties<'_> {
    fn number(mut self, key: &str, value: f32) -> Self {
        self.values.insert(key.into(), number(value));
        self
    }

    fn color(mut self, key: &str, value: Vec3) -> Self {
        self.values.insert(key.into(), numbers(&value.to_array()));
        self
    }

    fn texture(mut self, key: &str, texture: Option<TextureRef>) -> Self {
        if let Some(texture) = texture {
            let value = self.writer.texture(&texture);
            self.values.insert(key.into(), Value::Object(value));
        }
        self
    }
}

impl Writer {
    /// Adds all extensions that a material uses.
    pub(super) fn lobes(&mut self, material: &Material, extensions: &mut Map<String, Value>) {
        let mut put = |name: &'static str,
                       there: bool,
                       fill: &dyn Fn(Properties<'_>) -> Map<String, Value>| {
            if there {
                self.extension(name);
                let values = fill(Properties { writer: self, values: Map::new() });
                extensions.insert(name.into(), Value::Object(values));
            }
        };
        let Material { ior, transmission, transmission_texture, volume, dispersion, .. } =
            *material;
        put("KHR_materials_ior", ior != 1.5, &|p| p.number("ior", ior).values);
        put(
            "KHR_materials_transmission",
            transmission > 0.0 || transmission_texture.is_some(),
            &|p| {
                p.number("transmissionFactor", transmission)
                    .texture("transmissionTexture", transmission_texture)
                    .values
            },
        );
        put("KHR_materials_volume", volume != MaterialVolume::default(), &|p| {
            let p = p
                .number("thicknessFactor", volume.thickness)
                .texture("thicknessTexture", volume.thickness_texture);
            // JSON has no infinity, which is the default.
            let distance = volume.attenuation_distance;
            let p =
                if distance.is_finite() { p.number("attenuationDistance", distance) } else { p };
            p.color("attenuationColor", volume.attenuation_color).values
        });
        put("KHR_materials_dispersion", dispersion != 0.0, &|p| {
            p.number("dispersion", dispersion).values
        });
        put("KHR_materials_specular", material.specular != Specular::default(), &|p| {
            p.number("specularFactor", material.specular.factor)
                .texture("specularTexture", material.specular.texture)
                .color("specularColorFactor", material.specular.color)
                .texture("specularColorTexture", material.specular.color_texture)
                .values
        });
        put("KHR_materials_clearcoat", material.clearcoat != Clearcoat::default(), &|p| {
            coat(p, &material.clearcoat)
        });
        put("KHR_materials_sheen", material.sheen != Sheen::default(), &|p| {
            p.color("sheenColorFactor", material.sheen.color)
                .texture("sheenColorTexture", material.sheen.color_texture)
                .number("sheenRoughnessFactor", material.sheen.roughness)
                .texture("sheenRoughnessTexture", material.sheen.roughness_texture)
                .values
        });
        put("KHR_materials_anisotropy", material.anisotropy != Anisotropy::default(), &|p| {
            p.number("anisotropyStrength", material.anisotropy.strength)
                .number("anisotropyRotation", material.anisotropy.rotation)
                .texture("anisotropyTexture", material.anisotropy.texture)
                .values
        });
        put("KHR_materials_iridescence", material.iridescence != Iridescence::default(), &|p| {
            p.number("iridescenceFactor", material.iridescence.factor)
                .texture("iridescenceTexture", material.iridescence.texture)
                .number("iridescenceIor", material.iridescence.ior)
                .number("iridescenceThicknessMinimum", material.iridescence.thickness_minimum)
                .number("iridescenceThicknessMaximum", material.iridescence.thickness_maximum)
                .texture("iridescenceThicknessTexture", material.iridescence.thickness_texture)
                .values
        });
        let through = material.diffuse_transmission;
        put(
            "KHR_materials_diffuse_transmission",
            through != DiffuseTransmission::default(),
            &|p| {
                p.number("diffuseTransmissionFactor", through.factor)
                    .texture("diffuseTransmissionTexture", through.texture)
                    .color("diffuseTransmissionColorFactor", through.color)
                    .texture("diffuseTransmissionColorTexture", through.color_texture)
                    .values
            },
        );
    }
}

fn coat(p: Properties<'_>, coat: &Clearcoat) -> Map<String, Value> {
    let p = p
        .number("clearcoatFactor", coat.factor)
        .texture("clearcoatTexture", coat.texture)
        .number("clearcoatRoughnessFactor", coat.roughness)
        .texture("clearcoatRoughnessTexture", coat.roughness_texture)
        .texture("clearcoatNormalTexture", coat.normal_texture);
    let mut values = p.values;
    if let Some(Value::Object(normals)) = values.get_mut("clearcoatNormalTexture") {
        normals.insert("scale".into(), number(coat.normal_scale));
    }
    values
}
