//! Animated properties of materials, lights and cameras (KHR_animation_pointer).

use glam::Vec3;

use crate::photometry::lights::STRENGTH_LIMIT;

/// An animated property outside of nodes, with one to four components.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ValueTarget {
    /// Material index and property.
    Material(usize, MaterialValue),
    /// Light index and property.
    Light(usize, LightValue),
    /// Camera index and property.
    Camera(usize, CameraValue),
}

impl ValueTarget {
    /// Least and greatest number of each component: animated values are clamped to them. `None` if
    /// all finite values count, or if those that do not count leave the property as it is.
    #[must_use]
    pub fn range(self) -> Option<[f64; 2]> {
        match self {
            Self::Material(_, value) => value.range(),
            Self::Light(_, LightValue::Color) => Some([0.0, 1.0]),
            Self::Light(_, LightValue::Intensity) => Some([0.0, STRENGTH_LIMIT]),
            Self::Light(_, LightValue::InnerCone | LightValue::OuterCone) => {
                Some([0.0, std::f64::consts::FRAC_PI_2])
            }
            Self::Camera(_, CameraValue::VerticalFov) => Some([0.0, MAX_VERTICAL_FOV]),
            Self::Light(_, LightValue::Range) | Self::Camera(..) => None,
        }
    }
}

/// Greatest animated field of view (rad): below half a turn.
pub(super) const MAX_VERTICAL_FOV: f64 = 3.1;

/// An animated property of a material.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum MaterialValue {
    BaseColor,
    Metallic,
    Roughness,
    NormalScale,
    OcclusionStrength,
    /// Emissive color; carries the file's emissive strength.
    EmissiveFactor(f32),
    /// Emissive strength; carries the file's emissive color.
    EmissiveStrength(Vec3),
    AlphaCutoff,
    Ior,
    Transmission,
    Thickness,
    AttenuationDistance,
    AttenuationColor,
    Dispersion,
    Specular,
    SpecularColor,
    Clearcoat,
    ClearcoatRoughness,
    SheenColor,
    SheenRoughness,
    Anisotropy,
    AnisotropyRotation,
    Iridescence,
    IridescenceIor,
    IridescenceThicknessMinimum,
    IridescenceThicknessMaximum,
    DiffuseTransmission,
    DiffuseTransmissionColor,
    TextureOffset(TextureSlot),
    TextureRotation(TextureSlot),
    TextureScale(TextureSlot),
}

impl MaterialValue {
    /// As `ValueTarget::range`.
    fn range(self) -> Option<[f64; 2]> {
        let positive = [0.0, f64::from(f32::MAX)];
        Some(match self {
            Self::NormalScale
            | Self::AnisotropyRotation
            | Self::TextureOffset(_)
            | Self::TextureRotation(_)
            | Self::TextureScale(_) => return None,
            Self::EmissiveStrength(_)
            | Self::AlphaCutoff
            | Self::Thickness
            | Self::AttenuationDistance
            | Self::Dispersion
            | Self::SpecularColor
            | Self::IridescenceThicknessMinimum
            | Self::IridescenceThicknessMaximum => positive,
            Self::Ior | Self::IridescenceIor => [1.0, f64::from(f32::MAX)],
            Self::BaseColor
            | Self::Metallic
            | Self::Roughness
            | Self::OcclusionStrength
            | Self::EmissiveFactor(_)
            | Self::Transmission
            | Self::AttenuationColor
            | Self::Specular
            | Self::Clearcoat
            | Self::ClearcoatRoughness
            | Self::SheenColor
            | Self::SheenRoughness
            | Self::Anisotropy
            | Self::Iridescence
            | Self::DiffuseTransmission
            | Self::DiffuseTransmissionColor => [0.0, 1.0],
        })
    }
}

/// A texture of a material.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum TextureSlot {
    BaseColor,
    MetallicRoughness,
    Normal,
    Occlusion,
    Emissive,
    Transmission,
    Thickness,
    Specular,
    SpecularColor,
    Clearcoat,
    ClearcoatRoughness,
    ClearcoatNormal,
    SheenColor,
    SheenRoughness,
    Anisotropy,
    Iridescence,
    IridescenceThickness,
    DiffuseTransmission,
    DiffuseTransmissionColor,
}

/// An animated property of a light.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum LightValue {
    Color,
    /// Luminous intensity (cd), or illuminance (lx) of directional lights.
    Intensity,
    Range,
    InnerCone,
    OuterCone,
}

/// An animated property of a camera.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum CameraValue {
    VerticalFov,
    Aspect,
    HalfWidth,
    HalfHeight,
    Near,
    Far,
}
