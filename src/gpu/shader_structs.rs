//! Structs and constants that host and shaders share, generated from `shaders/shared/`: a module
//! for each file, with the names and comments of the shaders. Data is laid out as in shaders
//! (scalar block layout); `LAYOUTS` lists the structs for tests that reflect compiled shaders.

include!(concat!(env!("OUT_DIR"), "/shader_structs.rs"));

#[cfg(test)]
mod generate;
