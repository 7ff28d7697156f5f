//! Fits the table of linear maps for area lights and writes it: `cargo run --release --example
//! fit_ltc -- assets/ltc.bin`.
#![allow(clippy::print_stdout)]

#[path = "../tests/common/area_integrals/mod.rs"]
mod area_integrals;

use area_integrals::ltc;
use rayon::prelude::*;

fn main() -> std::io::Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "assets/ltc.bin".into());
    let entries: Vec<ltc::LtcEntry> = (0..ltc::SIZE * ltc::SIZE)
        .into_par_iter()
        .map(|index| {
            let (roughness, cosine) = ltc::grid(index / ltc::SIZE, index % ltc::SIZE);
            ltc::fit(roughness, cosine)
        })
        .collect();
    let bytes: Vec<u8> = entries
        .iter()
        .flat_map(|e| [e.a, e.b, e.c])
        .flat_map(|x| (x as f32).to_le_bytes())
        .collect();
    std::fs::write(&path, bytes)?;
    println!("{path}: {} entries", entries.len());
    Ok(())
}
