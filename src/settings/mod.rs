//! Settings of the passes and of indirect light, and the macros that declare properties. A
//! declaration states name, type, default, range, unit, description, and what a change affects. The
//! look (`scene::look`), its reference, its JSON Schema, the window and the passes use it.

pub(crate) mod choices;
mod default_light;
pub(crate) mod define;
mod gi;
mod passes;
pub(crate) mod property;
mod quality;
pub mod units;
pub(crate) mod value;

pub use choices::Choice;
pub(crate) use choices::names;
pub use default_light::DefaultLight;
pub use define::Section;
pub use gi::{FinalGather, GiDebugView, GiLook, GiMethod, GiSettings};
pub use passes::{
    AaSettings, AntiAliasing, AoSettings, CausticSettings, ClusteredLightSettings, CullingSettings,
    PassesLook, PassesSettings, RefractionMethod, RefractionSettings, Resolution, ShadowMethod,
    ShadowSampling, ShadowSettings, SsrReprojection, SsrSettings, TemporalSettings,
    TonemapSettings, VolumeSettings,
};
pub use property::{Accepts, Affects, Property, ValueKind};
pub use quality::{Quality, QualityLook, TIERS, tier_table};
pub(crate) use value::number;
pub use value::{BUILTIN, Input, InvalidValue, Setting};
