//! Fingerprint of all inputs of a film's sums, which decides whether a saved film can be resumed.

use std::fmt::{self, Debug, Write as _};

use crate::scene::Scene;

/// Number of the sampling scheme: to be increased with each change of what a path samples, since
/// films of different schemes must not be mixed.
const SAMPLING_VERSION: u32 = 3;

/// 128-bit hash of the added data. Not secure against forgery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint([u64; 2]);

impl Default for Fingerprint {
    fn default() -> Self {
        Self([0x6a09_e667_f3bc_c908, 0xbb67_ae85_84ca_a73b])
    }
}

impl Fingerprint {
    /// Fingerprint of a scene after its look was applied, and of other inputs: camera, effects,
    /// settings.
    #[must_use]
    pub fn of(scene: &Scene, more: &dyn Debug) -> Self {
        let mut print = Self::default();
        // Another program version may sample differently.
        print.add_debug(&(env!("CARGO_PKG_VERSION"), SAMPLING_VERSION, more));
        print.add_debug(&(
            &scene.nodes,
            &scene.roots,
            &scene.materials,
            &scene.textures,
            &scene.lights,
        ));
        print.add_debug(&(
            scene.emissive_lights,
            scene.multiscatter,
            scene.meshes.len(),
            scene.images.len(),
            scene.time,
        ));
        for primitive in scene.meshes.iter().flat_map(|mesh| &mesh.primitives) {
            print.add_debug(&primitive.material);
            print.add(bytemuck::cast_slice(&primitive.positions));
            print.add(bytemuck::cast_slice(&primitive.normals));
            print.add(bytemuck::cast_slice(&primitive.tangents));
            print.add(bytemuck::cast_slice(&primitive.uv0));
            print.add(bytemuck::cast_slice(&primitive.uv1));
            print.add(bytemuck::cast_slice(&primitive.colors));
            print.add(bytemuck::cast_slice(&primitive.indices));
        }
        for image in &scene.images {
            print.add_debug(&(image.width, image.height));
            print.add(&image.rgba8);
        }
        print.add_debug(&scene.volumes);
        for grid in scene.volumes.iter().filter_map(|volume| volume.density.as_ref()) {
            print.add(bytemuck::cast_slice(grid.values()));
        }
        if let Some(environment) = &scene.environment {
            print.add_debug(&environment.rotation);
            print.add_debug(&(environment.map.width(), environment.map.height()));
            print.add(bytemuck::cast_slice(environment.map.texels()));
        }
        print
    }

    /// The 16 bytes of the hash.
    #[must_use]
    pub fn bytes(&self) -> [u8; 16] {
        let mut out = [0; 16];
        out[..8].copy_from_slice(&self.0[0].to_le_bytes());
        out[8..].copy_from_slice(&self.0[1].to_le_bytes());
        out
    }

    /// Adds bytes and their length.
    pub fn add(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.word(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.word(u64::from_le_bytes(last));
    }

    /// Adds a value's debug representation, which contains all of its fields.
    fn add_debug(&mut self, value: &dyn Debug) {
        let mut gathered = Gathered { print: self, text: String::new() };
        // Writing to it never fails.
        let _ = write!(gathered, "{value:?}");
        let rest = std::mem::take(&mut gathered.text);
        self.add(rest.as_bytes());
    }

    /// Steele, Lea and Flood 2014, figure 13, the finalizer, on two lanes.
    fn word(&mut self, word: u64) {
        for (lane, constant) in
            self.0.iter_mut().zip([0xd134_2543_de82_ef95_u64, 0xaf25_1af3_b0f0_25b5])
        {
            let mut z = (*lane)
                .wrapping_mul(constant)
                .wrapping_add(word)
                .wrapping_add(0x9e37_79b9_7f4a_7c15);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            *lane = z ^ (z >> 31);
        }
    }
}

/// Buffered text on its way into the fingerprint.
struct Gathered<'a> {
    print: &'a mut Fingerprint,
    text: String,
}

impl fmt::Write for Gathered<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.text.push_str(text);
        if self.text.len() > 1 << 16 {
            self.print.add(self.text.as_bytes());
            self.text.clear();
        }
        Ok(())
    }
}
