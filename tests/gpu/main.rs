//! Device pictures against closed forms, other renderers and the path tracer, with validation
//! layers.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

#[path = "../common/mod.rs"]
mod common;

mod ambient;
mod animation;
mod anti_aliasing;
mod area_lights;
mod area_lights_mitsuba;
mod averaging;
mod blended;
mod brdf;
mod corpus_goldens;
mod culling;
mod demo_shadows;
mod direct_budget;
mod effects;
mod environment;
mod exposure;
mod exposure_sequence;
mod extended_materials;
mod faults;
mod frame;
mod gi;
mod gi_probes;
mod gi_scenes;
mod graph;
mod hdr;
mod ies_profiles;
mod interrupt;
mod lens;
mod lens_ghosts;
mod light_modifiers;
mod limits;
mod normal_variance;
mod photometry;
mod ray_query;
mod reference;
mod refit;
mod session;
mod shadow_maps;
mod shadows;
mod specialization;
mod ssr;
mod starburst;
mod temporal;
mod tonemap;
mod volumes;
mod water;
