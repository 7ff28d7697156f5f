//! Shared by the tests.
//!
//! Without a device the GPU tests fail, unless `SUNNY16_NO_GPU=1` is set.
#![allow(dead_code, unused_imports, clippy::unwrap_used, clippy::expect_used, missing_docs)]

pub mod area;
mod brdf;
pub mod confetti;
pub mod corpus;
mod device;
pub mod dimming_light;
pub mod ghost_meshes;
pub mod gi_reference;
mod glb;
pub mod headless_viewer;
mod pictures;
mod planes;
pub mod random;
mod run;
pub mod scene_dump;
mod scenes;
mod settings;
pub mod source_files;
pub mod traced;
mod views;

pub use brdf::{Brdf, dielectric_fresnel, distribution, schlick, visibility};
pub use device::{Guard, gpu, gpu_with, gpu_with_rays, long, no_gpu, renderer};
pub use glb::glb;
pub use pictures::{
    NORMAL, after, aov, aov3, green, half_steps, nits, pass_names, picture, relative, total,
};
pub use planes::planes;
pub use run::{Arguments, Folder, NO_DEVICE, Run, driver_cache, exr_channel, finish, sunny16};
pub use scenes::{Place, Surface, add_square, emissive_material, even, small_scene, squares};
pub use settings::{exposed, exposure_for, traced_shadows, unclustered, unshadowed};
pub use views::{hit_plane, parallel, perspective, pixel_of, pixel_ray};
