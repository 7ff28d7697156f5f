//! Animated properties of materials, lights and cameras (KHR_animation_pointer).

use glam::Vec3;

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
