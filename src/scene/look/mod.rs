//! The look: properties that glTF lacks, by path. A look file (`NAME.look.toml` beside `NAME.glb`)
//! and `--set PATH=VALUE` use the same tables, so that each property has one name and one check.
//! One module per section.

mod added_cameras;
mod added_lights;
mod camera;
mod edit;
mod effects;
mod environment;
mod environment_suns;
mod error;
mod extras;
mod gi;
mod light_modifiers;
mod lights;
mod materials;
mod origin;
mod overrides;
mod photographic;
mod prescription;
mod probes;
mod properties;
mod reader;
mod renamed;
mod scene_section;
mod suggestions;
mod timeline;
mod timeline_edit;
mod timeline_error;
mod timeline_toml;
mod timeline_value;
mod toml_text;
mod volumes;
mod water;

#[cfg(test)]
mod camera_tests;

pub use crate::scene::water::WaterLook;
pub use crate::settings::{RefractionMethod, ShadowMethod, ShadowSampling};
pub use added_cameras::AddedCameraLook;
pub use camera::CameraLook;
pub use edit::{edited, with_changes, with_renamed_item, without_item, without_property};
pub use environment::EnvironmentLook;
pub use environment_suns::{EnvironmentExtract, is_extracted_light};
pub use error::LookError;
pub use extras::water_from_extras;
pub use lights::{LightLocus, LightLook, LightShape, read_profile};
pub use materials::MaterialLook;
pub use origin::{Origin, Origins};
pub use overrides::{Look, check_assignments, split_assignment};
pub use prescription::read_prescription;
pub use probes::ProbeLook;
pub use properties::{choices, is_file_property, kinds, properties, range, unit};
pub(crate) use renamed::current_value;
pub use renamed::{
    Spelling, Spellings, current_path, notice as renamed_notice, old_paths, old_properties,
};
pub use scene_section::SceneLook;
pub use suggestions::{are_nearest, close_name};
pub use timeline::{
    Condition, KeyTime, SAME_TIME, SegmentStarts, Timeline, TimelineKey, TimelineLoop,
    TimelineSegment, TimelineTrack, passes,
};
pub use timeline_edit::with_key;
pub use timeline_error::TimelineError;
pub use timeline_toml::segment_path;
pub use timeline_value::TimelineSpace;
pub use toml_text::{flattened, syntax_error};
pub use volumes::VolumeLook;
