//! Writes animated properties of materials, lights and cameras (KHR_animation_pointer).

use glam::{DVec4, Vec3};

use super::{
    CameraValue, LightValue, MaterialValue, TextureSlot, ValueTarget,
    value_target::MAX_VERTICAL_FOV,
};
use crate::{
    photometry::{
        Candela, Lux,
        lights::{Cone, Emitter, LightStrength, PhysicalLight, STRENGTH_LIMIT},
    },
    scene::{AlphaMode, Camera, Light, Material, Projection, Scene, TextureRef},
};

/// Writes values to the scene, each clamped to the range of its property.
pub(super) fn apply(scene: &mut Scene, values: &[(ValueTarget, DVec4)]) {
    for &(target, value) in values.iter().filter(|(_, value)| value.is_finite()) {
        match target {
            ValueTarget::Material(index, of) => {
                scene
                    .materials
                    .get_mut(index)
                    .into_iter()
                    .for_each(|material| set_material(material, of, value));
            }
            ValueTarget::Light(index, of) => {
                scene
                    .lights
                    .get_mut(index)
                    .into_iter()
                    .for_each(|light| set_light(light, of, value));
            }
            ValueTarget::Camera(index, of) => {
                scene
                    .cameras
                    .get_mut(index)
                    .into_iter()
                    .for_each(|camera| set_camera(camera, of, value));
            }
        }
    }
    // The scene stores the product of emissive color and strength: if both are animated, both
    // apply.
    for &(target, color) in values {
        let ValueTarget::Material(index, MaterialValue::EmissiveFactor(_)) = target else {
            continue;
        };
        let strength = values.iter().rev().find_map(|&(other, strength)| match other {
            ValueTarget::Material(i, MaterialValue::EmissiveStrength(_)) if i == index => {
                Some(strength.x)
            }
            _ => None,
        });
        if let (Some(strength), Some(material)) = (strength, scene.materials.get_mut(index)) {
            material.emission = emission(color, strength);
        }
    }
}

fn emission(color: DVec4, strength: f64) -> Vec3 {
    let light = color.truncate().clamp(glam::DVec3::ZERO, glam::DVec3::ONE)
        * strength.clamp(0.0, f64::from(f32::MAX));
    light.as_vec3().min(Vec3::splat(f32::MAX))
}

#[allow(clippy::cast_possible_truncation)]
fn set_material(material: &mut Material, of: MaterialValue, value: DVec4) {
    let v = value.as_vec4();
    let (unit, rgb) = (v.x.clamp(0.0, 1.0), v.truncate().clamp(Vec3::ZERO, Vec3::ONE));
    let positive = v.x.clamp(0.0, f32::MAX);
    match of {
        MaterialValue::BaseColor => {
            material.base_color = v.clamp(glam::Vec4::ZERO, glam::Vec4::ONE)
        }
        MaterialValue::Metallic => material.metallic = unit,
        MaterialValue::Roughness => material.roughness = unit,
        MaterialValue::NormalScale => material.normal_scale = v.x,
        MaterialValue::OcclusionStrength => material.occlusion_strength = unit,
        MaterialValue::EmissiveFactor(strength) => {
            material.emission = emission(value, f64::from(strength))
        }
        MaterialValue::EmissiveStrength(color) => {
            material.emission = emission(color.as_dvec3().extend(0.0), value.x);
        }
        MaterialValue::AlphaCutoff => {
            if let AlphaMode::Mask { cutoff } = &mut material.alpha {
                *cutoff = positive;
            }
        }
        MaterialValue::Ior => material.ior = if positive == 0.0 { 0.0 } else { positive.max(1.0) },
        MaterialValue::Transmission => material.transmission = unit,
        // A thin wall stays thin and a volume stays a volume: the kind of a transmissive surface
        // does not animate.
        MaterialValue::Thickness => material.volume.thickness = positive,
        MaterialValue::AttenuationDistance => {
            material.volume.attenuation_distance = positive.max(f32::MIN_POSITIVE);
        }
        MaterialValue::AttenuationColor => material.volume.attenuation_color = rgb,
        MaterialValue::Dispersion => material.dispersion = positive,
        MaterialValue::Specular => material.specular.factor = unit,
        MaterialValue::SpecularColor => {
            material.specular.color = v.truncate().clamp(Vec3::ZERO, Vec3::splat(f32::MAX));
        }
        MaterialValue::Clearcoat => material.clearcoat.factor = unit,
        MaterialValue::ClearcoatRoughness => material.clearcoat.roughness = unit,
        MaterialValue::SheenColor => material.sheen.color = rgb,
        MaterialValue::SheenRoughness => material.sheen.roughness = unit,
        MaterialValue::Anisotropy => material.anisotropy.strength = unit,
        MaterialValue::AnisotropyRotation => material.anisotropy.rotation = v.x,
        MaterialValue::Iridescence => material.iridescence.factor = unit,
        MaterialValue::IridescenceIor => material.iridescence.ior = v.x.max(1.0),
        MaterialValue::IridescenceThicknessMinimum => {
            material.iridescence.thickness_minimum = positive
        }
        MaterialValue::IridescenceThicknessMaximum => {
            material.iridescence.thickness_maximum = positive
        }
        MaterialValue::DiffuseTransmission => material.diffuse_transmission.factor = unit,
        MaterialValue::DiffuseTransmissionColor => material.diffuse_transmission.color = rgb,
        MaterialValue::TextureOffset(slot) => {
            set_texture(material, slot, |t| t.offset = [v.x, v.y])
        }
        MaterialValue::TextureRotation(slot) => set_texture(material, slot, |t| t.rotation = v.x),
        MaterialValue::TextureScale(slot) => set_texture(material, slot, |t| t.scale = [v.x, v.y]),
    }
}

/// KHR_texture_transform as offset, rotation and scale. A mirrored transform has a negative scale
/// along v.
struct TextureParts {
    offset: [f32; 2],
    rotation: f32,
    scale: [f32; 2],
}

fn set_texture(material: &mut Material, slot: TextureSlot, change: impl FnOnce(&mut TextureParts)) {
    let texture = match slot {
        TextureSlot::BaseColor => &mut material.base_color_texture,
        TextureSlot::MetallicRoughness => &mut material.metallic_roughness_texture,
        TextureSlot::Normal => &mut material.normal_texture,
        TextureSlot::Occlusion => &mut material.occlusion_texture,
        TextureSlot::Emissive => &mut material.emissive_texture,
        TextureSlot::Transmission => &mut material.transmission_texture,
        TextureSlot::Thickness => &mut material.volume.thickness_texture,
        TextureSlot::Specular => &mut material.specular.texture,
        TextureSlot::SpecularColor => &mut material.specular.color_texture,
        TextureSlot::Clearcoat => &mut material.clearcoat.texture,
        TextureSlot::ClearcoatRoughness => &mut material.clearcoat.roughness_texture,
        TextureSlot::ClearcoatNormal => &mut material.clearcoat.normal_texture,
        TextureSlot::SheenColor => &mut material.sheen.color_texture,
        TextureSlot::SheenRoughness => &mut material.sheen.roughness_texture,
        TextureSlot::Anisotropy => &mut material.anisotropy.texture,
        TextureSlot::Iridescence => &mut material.iridescence.texture,
        TextureSlot::IridescenceThickness => &mut material.iridescence.thickness_texture,
        TextureSlot::DiffuseTransmission => &mut material.diffuse_transmission.texture,
        TextureSlot::DiffuseTransmissionColor => &mut material.diffuse_transmission.color_texture,
    };
    let Some(TextureRef { transform, .. }) = texture else { return };
    let [[a, b, x], [c, d, y]] = *transform;
    let sx = a.hypot(c);
    let mut parts = TextureParts {
        offset: [x, y],
        rotation: (-c).atan2(a),
        scale: [sx, if sx > 0.0 { (a * d - b * c) / sx } else { b.hypot(d) }],
    };
    change(&mut parts);
    let (sin, cos) = parts.rotation.sin_cos();
    let ([sx, sy], [x, y]) = (parts.scale, parts.offset);
    let changed = [[cos * sx, sin * sy, x], [-sin * sx, cos * sy, y]];
    if changed.iter().flatten().all(|number| number.is_finite()) {
        *transform = changed;
    }
}

#[allow(clippy::cast_possible_truncation)]
fn set_light(light: &mut Light, of: LightValue, value: DVec4) {
    let strength = value.x.clamp(0.0, STRENGTH_LIMIT);
    match of {
        LightValue::Color => light.color = value.as_vec4().truncate().clamp(Vec3::ZERO, Vec3::ONE),
        LightValue::Range => light.range = Some(value.x as f32).filter(|range| *range > 0.0),
        LightValue::Intensity => {
            let strength = if light.is_directional() {
                LightStrength::Lux(Lux(strength))
            } else {
                LightStrength::Candela(Candela(strength))
            };
            if let Ok(source) = PhysicalLight::new(light.emitter(), strength) {
                light.source = source;
            }
        }
        LightValue::InnerCone | LightValue::OuterCone => {
            let Emitter::Spot { cone, flux } = light.emitter() else { return };
            let (inner, outer) = match of {
                LightValue::InnerCone => (value.x, cone.outer()),
                _ => (cone.inner(), value.x),
            };
            let outer = outer.clamp(1e-6, std::f64::consts::FRAC_PI_2);
            let inner = inner.clamp(0.0, (outer - 1e-3).max(0.0));
            // Candela stay unchanged: the file gives candela.
            let candela = light.source.candela().unwrap_or(Candela(0.0));
            let changed = Cone::new(inner, outer).and_then(|cone| {
                PhysicalLight::new(Emitter::Spot { cone, flux }, LightStrength::Candela(candela))
            });
            if let Ok(source) = changed {
                light.source = source;
            }
        }
    }
}

#[allow(clippy::cast_possible_truncation)]
fn set_camera(camera: &mut Camera, of: CameraValue, value: DVec4) {
    let x = value.x as f32;
    let changed = match (&mut camera.projection, of) {
        (Projection::Perspective { vertical_fov, .. }, CameraValue::VerticalFov) if x > 0.0 => {
            *vertical_fov = x.min(MAX_VERTICAL_FOV as f32);
            return;
        }
        (Projection::Perspective { aspect, .. }, CameraValue::Aspect) => {
            return *aspect = Some(x).filter(|x| *x > 0.0);
        }
        (Projection::Perspective { far, near, .. }, CameraValue::Far) => {
            return *far = Some(x).filter(|x| *x > *near);
        }
        (
            Projection::Perspective { near, .. } | Projection::Orthographic { near, .. },
            CameraValue::Near,
        ) => near,
        (Projection::Orthographic { far, .. }, CameraValue::Far) => far,
        (Projection::Orthographic { half_width, .. }, CameraValue::HalfWidth) => half_width,
        (Projection::Orthographic { half_height, .. }, CameraValue::HalfHeight) => half_height,
        _ => return,
    };
    if x > 0.0 && x.is_finite() {
        *changed = x;
    }
}
