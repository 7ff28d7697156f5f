//! Tests that need neither a device nor the program: sources, documents, importers, photons.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

#[path = "../common/mod.rs"]
mod common;

#[path = "../common/area_integrals/mod.rs"]
mod area_integrals;

mod architecture;
mod camera_paths;
mod demos;
mod environment_extraction;
mod gels;
mod gi_probes;
mod gltf_corpus;
mod gltf_files;
mod gltf_fuzz;
mod ies_corpus;
mod import_graph;
mod instant_radiosity;
mod layout;
mod lens_ghosts;
mod light_modifiers;
mod look_reference;
mod quality;
mod shader_sizes;
mod timeline;
mod virtual_image;
