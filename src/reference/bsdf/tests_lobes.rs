//! The lobes of the material extensions: samplers, energy, symmetry, limits.

use std::f64::consts::PI;

use glam::{DVec2, DVec3};
use rayon::prelude::*;

use super::{
    albedo::{ggx_by_quadrature, multiscatter_gain},
    sheen::albedo_by_quadrature,
    *,
};
use crate::reference::{
    chi_square::{Cells, Test, TrialSampler, check},
    sampler::{Sampler, SamplerKind},
};

fn view(cos: f64) -> DVec3 {
    // Off the axes, so that the directions along and across the tangent differ.
    let sin = (1.0 - cos * cos).sqrt();
    DVec3::new(0.8 * sin, 0.6 * sin, cos)
}

const GRAY: DVec3 = DVec3::splat(0.5);
const TINT: DVec3 = DVec3::new(0.9, 0.5, 0.2);

fn rough(roughness: f64) -> Bsdf {
    Bsdf { base_color: TINT, alpha: roughness * roughness, ..Bsdf::default() }
}

fn sheen(color: DVec3, roughness: f64) -> Option<Sheen> {
    Some(Sheen { color, roughness })
}

fn coat(roughness: f64, normal: DVec3) -> Option<Coat> {
    Some(Coat { factor: 1.0, alpha: roughness * roughness, normal: normal.normalize() })
}

fn film(ior: f64, thickness: f64) -> Option<ThinFilm> {
    Some(ThinFilm { factor: 1.0, ior, thickness, inside: false })
}

/// Name, material, and whether it is reciprocal.
fn all() -> Vec<(String, Bsdf, bool)> {
    let mut out = Vec::new();
    let mut add = |name: &str, bsdf: Bsdf, symmetric| out.push((name.to_owned(), bsdf, symmetric));
    let through = Bsdf {
        diffuse_transmission: 0.4,
        diffuse_transmission_color: DVec3::new(0.3, 0.8, 0.1),
        ..rough(0.5)
    };
    add(
        "specular 0.5",
        Bsdf { specular: 0.5, specular_color: DVec3::new(2.0, 0.5, 30.0), ..rough(0.4) },
        true,
    );
    for strength in [0.5, 1.0] {
        add("anisotropic metal", Bsdf { metallic: 1.0, anisotropy: strength, ..rough(0.4) }, true);
        let glass = Bsdf { transmission: 1.0, anisotropy: strength, ..rough(0.5) };
        add("anisotropic pane", glass, true);
        add(
            "anisotropic border",
            Bsdf { interface: GlassInterface::VolumeBoundary { eta: 1.5 }, ..glass },
            true,
        );
    }
    for roughness in [0.1, 0.4, 1.0] {
        add("sheen", Bsdf { sheen: sheen(TINT, roughness), ..rough(0.8) }, true);
    }
    add("sheen on what lets through", Bsdf { sheen: sheen(GRAY, 0.5), ..through }, true);
    add("diffuse through", through, true);
    add(
        "half glass, half through",
        Bsdf {
            transmission: 0.5,
            interface: GlassInterface::VolumeBoundary { eta: 1.5 },
            ..through
        },
        true,
    );
    for thickness in [200.0, 500.0] {
        add(
            "film on metal",
            Bsdf { metallic: 1.0, thin_film: film(1.3, thickness), ..rough(0.4) },
            true,
        );
        add("film", Bsdf { thin_film: film(1.8, thickness), ..rough(0.4) }, true);
        add(
            "film on glass",
            Bsdf { transmission: 1.0, thin_film: film(1.8, thickness), ..rough(0.4) },
            true,
        );
    }
    for roughness in [0.3, 0.7] {
        add("coat", Bsdf { coat: coat(roughness, DVec3::Z), ..rough(0.8) }, false);
        add(
            "tilted coat",
            Bsdf { coat: coat(roughness, DVec3::new(0.3, -0.2, 1.0)), ..rough(0.8) },
            false,
        );
    }
    add(
        "coat, sheen, film",
        Bsdf {
            coat: coat(0.4, DVec3::Z),
            sheen: sheen(GRAY, 0.5),
            thin_film: film(1.4, 300.0),
            anisotropy: 0.6,
            metallic: 0.3,
            ..through
        },
        false,
    );
    add("multiscatter", Bsdf { multiscatter: true, metallic: 0.5, ..rough(0.8) }, false);
    out
}

/// Mean energy of samples: reflected and transmitted.
fn energy(bsdf: &Bsdf, v: DVec3, count: u32) -> DVec3 {
    (0..count).map(|i| energy_of(bsdf, v, i)).sum::<DVec3>() / f64::from(count)
}

/// The energy of one sample.
fn energy_of(bsdf: &Bsdf, v: DVec3, index: u32) -> DVec3 {
    let mut sampler = Sampler::new(SamplerKind::Sobol, 3, 0, 0, index);
    let (lobe, u) = (sampler.next_1d(), sampler.next_2d());
    bsdf.sample(v, lobe, u).map_or(DVec3::ZERO, |sampled| {
        let weight = sampled.weight;
        weight.diffuse + weight.specular + weight.transmitted * sampled.eta_scale
    })
}

#[test]
fn samples_follow_their_density() {
    let all = all();
    let cosines = [0.2, 0.8];
    for (name, bsdf, _) in &all {
        for cos in cosines {
            let v = view(cos);
            let test = Test {
                name: format!("{name}, cosine {cos}: {bsdf:?}"),
                cells: Cells::sphere(),
                density: &|l| bsdf.pdf(v, l),
                sample: &|numbers: &mut TrialSampler| {
                    let (lobe, u) = (numbers.next_1d(), numbers.next_2d());
                    bsdf.sample(v, lobe, u).map(|sampled| sampled.l)
                },
            };
            check(&test, 20_000, all.len() * cosines.len());
        }
    }
}

#[test]
fn symmetric_lobes_are_reciprocal() {
    for (name, bsdf, _) in all().into_iter().filter(|(.., symmetric)| *symmetric) {
        for cos in [0.2, 0.7] {
            let (v, l) = (view(cos), DVec3::new(-0.3, 0.5, 0.7).normalize());
            let there = bsdf.evaluate(v, l).total() / l.z;
            let back = bsdf.evaluate(l, v).total() / v.z;
            assert!(
                (there - back).abs().max_element() < 1e-12 * (1.0 + there.max_element()),
                "{name}"
            );
            // Through a thin wall; refraction is tested with the base.
            if matches!(bsdf.interface, GlassInterface::ThinWalled { .. }) {
                let mirror = DVec3::new(1.0, 1.0, -1.0);
                let below = DVec3::new(-0.4, 0.2, -0.8).normalize();
                let there = bsdf.evaluate(v, below).total() / -below.z;
                let back = bsdf.evaluate(below * mirror, v * mirror).total() / v.z;
                assert!(
                    (there - back).abs().max_element() < 1e-9 * (1.0 + there.max_element()),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn samples_gather_what_is_evaluated() {
    for (name, bsdf, _) in all() {
        let v = view(0.6);
        let (rows, columns) = (240, 240);
        let eta =
            if let GlassInterface::VolumeBoundary { eta } = bsdf.interface { eta } else { 1.0 };
        let mut sum = DVec3::ZERO;
        for row in 0..2 * rows {
            let tilt = (f64::from(row) + 0.5) / f64::from(2 * rows) * PI;
            for column in 0..columns {
                let (s, c) = (2.0 * PI * (f64::from(column) + 0.5) / f64::from(columns)).sin_cos();
                let l = DVec3::new(tilt.sin() * c, tilt.sin() * s, tilt.cos());
                let scattered = bsdf.evaluate(v, l);
                let bent = if bsdf.glass() > 0.0 { eta * eta } else { 1.0 };
                sum += (scattered.diffuse + scattered.specular + scattered.transmitted * bent)
                    * tilt.sin();
            }
        }
        sum *= PI / f64::from(2 * rows) * 2.0 * PI / f64::from(columns);
        let got = energy(&bsdf, v, 1 << 14);
        assert!((got - sum).abs().max_element() < 5e-3, "{name}: {got}, {sum}");
    }
}

#[test]
fn nothing_of_a_lobe_is_the_material_without_it() {
    let plain = rough(0.5);
    let none = [
        Bsdf { sheen: sheen(DVec3::ZERO, 0.5), ..plain },
        Bsdf { coat: Some(Coat { factor: 0.0, alpha: 0.1, normal: DVec3::Z }), ..plain },
        Bsdf {
            thin_film: Some(ThinFilm { factor: 0.0, ior: 1.3, thickness: 400.0, inside: false }),
            ..plain
        },
        Bsdf { anisotropy: 0.0, ..plain },
        Bsdf { diffuse_transmission: 0.0, ..plain },
    ];
    for bsdf in none {
        for l in [DVec3::Z, view(0.3), DVec3::new(-0.6, 0.0, 0.8), DVec3::NEG_Z] {
            let v = view(0.7);
            assert_eq!(bsdf.evaluate(v, l), plain.evaluate(v, l), "{bsdf:?}");
        }
    }
    // A film of the index of the surrounding air, a hundredth of a wavelength thick, has almost no
    // effect at normal incidence. (At grazing incidence the extension's Schlick term of the first
    // interface reflects even so.)
    let thin = ThinFilm { factor: 1.0, ior: 1.0, thickness: 5.0, inside: false };
    let got = thin.reflectance(1.0, DVec3::splat(0.04));
    assert!((got - 0.04).abs().max_element() < 0.012, "{got}");
}

#[test]
fn a_film_has_the_mean_of_its_interference() {
    // A thick film's fringes average out: the sum without interference remains.
    let film = ThinFilm { factor: 1.0, ior: 1.5, thickness: 1e5, inside: false };
    for f0 in [0.1, 0.5, 0.9] {
        for cos in [0.3, 0.8, 1.0] {
            let cos2 = (1.0 - (1.0 - cos * cos) / 2.25f64).sqrt();
            let r12 = 0.04 + 0.96 * (1.0f64 - cos).powi(5);
            let root = f64::sqrt(f0);
            let base = (1.0 + root) / (1.0 - root);
            let r1 = ((base - 1.5) / (base + 1.5)).powi(2);
            let r23 = r1 + (1.0 - r1) * (1.0 - cos2).powi(5);
            let want = r12 + (1.0 - r12).powi(2) * r23 / (1.0 - r12 * r23);
            let got = film.reflectance(cos, DVec3::splat(f0));
            assert!((got - want).abs().max_element() < 1e-6, "{got} {want}");
        }
    }
    // A quarter-wave film whose index is the root of the base's suppresses green (550 nm).
    let base: f64 = 1.9;
    let film = ThinFilm {
        factor: 1.0,
        ior: base.sqrt(),
        thickness: 550.0 / 4.0 / base.sqrt(),
        inside: false,
    };
    let f0 = ((base - 1.0) / (base + 1.0)).powi(2);
    let got = film.reflectance(1.0, DVec3::splat(f0));
    assert!(got.max_element() < 0.25 * f0, "dark: {got}, {f0}");
}

#[test]
fn closed_forms_of_coat_specular_and_diffuse_transmission() {
    // The coat takes 4 % at normal incidence, and all light at grazing incidence.
    assert!(
        (coat_reflectance(1.0, 1.0) - 0.04).abs() < 1e-15
            && (coat_reflectance(0.5, 0.0) - 0.5).abs() < 1e-15
    );
    let black =
        Bsdf { base_color: DVec3::ZERO, f0: 0.0, coat: coat(0.2, DVec3::Z), ..Bsdf::default() };
    for cos in [0.5, 1.0] {
        let got = energy(&black, view(cos), 1 << 13).x;
        let want = coat_reflectance(1.0, cos);
        assert!(
            (got / want - 1.0).abs() < 0.02,
            "a smooth coat reflects its Fresnel term: {got} {want}"
        );
    }
    // Without an interface (index 1) all diffuse light is split as stated.
    let leaf = Bsdf {
        f0: 0.0,
        base_color: DVec3::splat(0.6),
        diffuse_transmission: 0.25,
        diffuse_transmission_color: DVec3::new(0.2, 0.4, 0.8),
        ..Bsdf::default()
    };
    let (v, l) = (view(0.7), DVec3::new(0.6, 0.0, 0.8));
    assert!((leaf.evaluate(v, l).total() - 0.6 * 0.75 / PI * 0.8).abs().max_element() < 1e-15);
    let through = leaf.evaluate(v, -l).transmitted;
    assert!(
        (through - leaf.diffuse_transmission_color * 0.25 / PI * 0.8).abs().max_element() < 1e-15
    );
    // F0 = min(0.04 color, 1) specular, F90 = specular, both in the mirror direction.
    let shiny = Bsdf {
        specular: 0.5,
        specular_color: DVec3::new(1.0, 10.0, 50.0),
        base_color: DVec3::ZERO,
        ..rough(0.5)
    };
    let plain = Bsdf { base_color: DVec3::ZERO, metallic: 1.0, ..rough(0.5) };
    let unit = Bsdf { base_color: DVec3::ONE, ..plain };
    let ratio =
        shiny.evaluate(DVec3::Z, DVec3::Z).specular / unit.evaluate(DVec3::Z, DVec3::Z).specular;
    assert!((ratio - DVec3::new(0.02, 0.2, 0.5)).abs().max_element() < 1e-12, "{ratio}");
    // Diffuse reflection gets what the strongest specular channel leaves.
    let white = Bsdf { base_color: DVec3::ONE, ..shiny };
    let diffuse = white.evaluate(DVec3::Z, DVec3::Z).diffuse;
    assert!((diffuse - 0.5 / PI).abs().max_element() < 1e-12, "{diffuse}");
    // Glass: the critical angle stays, and F90 is reached just before it.
    let glass = Bsdf {
        transmission: 1.0,
        specular: 0.5,
        alpha: 0.0,
        interface: GlassInterface::ThinWalled { eta: 1.5 },
        ..Bsdf::default()
    };
    assert!((glass.straight_through(DVec3::Z).x - (1.0 - 0.02)).abs() < 1e-12);
}

#[test]
fn anisotropic_roughness_is_what_the_extension_says() {
    // D at the normal is 1 / (pi at ab): F D / 4 for a white metal seen along the normal.
    for (roughness, strength) in [(0.5f64, 0.5), (0.3, 1.0), (0.7, 0.2)] {
        let bsdf = Bsdf {
            base_color: DVec3::ONE,
            metallic: 1.0,
            anisotropy: strength,
            ..rough(roughness)
        };
        let across = roughness * roughness;
        let along = across + (1.0 - across) * strength * strength;
        let got = bsdf.evaluate(DVec3::Z, DVec3::Z).specular.x;
        let want = 1.0 / (PI * along * across) / 4.0;
        assert!((got / want - 1.0).abs() < 1e-12, "{got} {want}");
        // The highlight is longer along x.
        let tilted =
            |x: f64, y: f64| bsdf.evaluate(DVec3::Z, DVec3::new(x, y, 0.9).normalize()).specular.x;
        assert!(tilted(0.4, 0.0) > tilted(0.0, 0.4));
    }
}

/// D G / (4 v.z) of `mitsuba.MicrofacetDistribution` (Mitsuba 3.9.1: `eval`, and `smith_g1` of each
/// direction combined to the height-correlated 1 / (1/g + 1/g - 1)), at random directions.
#[test]
#[allow(clippy::excessive_precision, clippy::unreadable_literal)]
fn anisotropic_lobes_are_those_of_mitsuba() {
    use glam::dvec3;
    for (x, y, v, l, want) in [
        (
            0.25,
            0.0625,
            dvec3(0.196078741, -0.515206897, 0.834335053),
            dvec3(-0.192854529, 0.446118672, 0.873948088),
            3.035610,
        ),
        (
            0.25,
            0.0625,
            dvec3(-0.738109248, 0.478070760, 0.476070464),
            dvec3(0.334918719, -0.140989308, 0.931639129),
            4.629002e-02,
        ),
        (
            0.25,
            0.0625,
            dvec3(0.068992342, 0.705921647, 0.704921758),
            dvec3(-0.474675289, -0.069175020, 0.877438423),
            5.720542e-03,
        ),
        (
            1.0,
            0.16,
            dvec3(-0.387866403, 0.310892916, 0.867701128),
            dvec3(-0.084249781, -0.612208383, 0.786195186),
            1.193593e-01,
        ),
        (
            1.0,
            0.16,
            dvec3(-0.104995538, 0.775967022, 0.621973567),
            dvec3(0.060666035, -0.769525348, 0.635728221),
            7.760723e-01,
        ),
        (
            1.0,
            0.16,
            dvec3(0.064979567, 0.451857913, 0.889720227),
            dvec3(-0.136975831, -0.689616334, 0.711102618),
            1.657933e-01,
        ),
        (
            0.5,
            0.3,
            dvec3(0.660123455, 0.005000935, 0.751140476),
            dvec3(-0.859015870, -0.161219981, 0.485901073),
            3.846125e-01,
        ),
        (
            0.5,
            0.3,
            dvec3(0.312961508, -0.848895592, 0.425947612),
            dvec3(-0.672396850, 0.738268518, 0.053311079),
            4.984318e-02,
        ),
        (
            0.5,
            0.3,
            dvec3(0.256160663, -0.807506465, 0.531333250),
            dvec3(-0.751265500, 0.652360864, 0.100127173),
            6.004337e-02,
        ),
    ] {
        // The strength that gives these two alphas in glTF: the tangent is never the smoother axis.
        let strength = ((x - y) / (1.0f64 - y)).sqrt();
        let bsdf = Bsdf { metallic: 1.0, alpha: y, anisotropy: strength, ..Bsdf::default() };
        let got = bsdf.evaluate(v, l).specular.x;
        assert!((got / want - 1.0).abs() < 2e-5, "alpha {x} {y}: {got}, {want}");
    }
}

#[test]
fn tables_are_what_they_tabulate() {
    let mut worst = (0.0f64, 0.0f64);
    for i in 0..400 {
        let u = |k: f64| (f64::from(i) * k + 0.37).fract();
        let (cos, roughness) = (0.02 + 0.98 * u(0.754_877_666), 0.05 + 0.95 * u(0.569_840_291));
        let alpha = Alpha::isotropic(roughness * roughness);
        let gain = multiscatter_gain(DVec3::ONE, cos, alpha).x;
        worst.0 = worst.0.max((gain * ggx_by_quadrature(cos, alpha, 0.0) - 1.0).abs());
        let roughness = roughness.max(MIN_SHEEN_ROUGHNESS);
        let table = Sheen { color: DVec3::ONE, roughness }.albedo(cos);
        worst.1 = worst.1.max((table - albedo_by_quadrature(cos, roughness)).abs());
    }
    println!("GGX {:.5}, sheen {:.5}", worst.0, worst.1);
    assert!(worst.0 < 1e-3 && worst.1 < 1e-2, "{worst:?}");
}

/// Prints the white furnace of each lobe. `cargo test --lib reference::bsdf -- --nocapture
/// furnaces` generates the tables of docs/materials.md, and fails where the page differs.
#[test]
fn furnaces() {
    let roughnesses = [0.1, 0.3, 0.5, 0.7, 1.0];
    let white = |roughness: f64| Bsdf { alpha: roughness * roughness, ..Bsdf::default() };
    // Only Lambert's law below, which isolates the effect of the layer.
    let bare = |roughness: f64| Bsdf { f0: 0.0, ..white(roughness) };
    type Make<'a> = &'a dyn Fn(f64) -> Bsdf;
    let kinds: [(&str, Make<'_>, bool); 12] = [
        (
            "sheen alone",
            &|r| Bsdf { sheen: sheen(DVec3::ONE, r), base_color: DVec3::ZERO, ..bare(1.0) },
            true,
        ),
        ("sheen on white", &|r| Bsdf { sheen: sheen(DVec3::ONE, r), ..bare(1.0) }, true),
        ("half sheen on white", &|r| Bsdf { sheen: sheen(GRAY, r), ..bare(1.0) }, true),
        ("coat on white", &|r| Bsdf { coat: coat(r, DVec3::Z), ..bare(1.0) }, true),
        (
            "anisotropic metal, strength 0.5",
            &|r| Bsdf { metallic: 1.0, anisotropy: 0.5, ..white(r) },
            true,
        ),
        (
            "anisotropic metal, strength 1",
            &|r| Bsdf { metallic: 1.0, anisotropy: 1.0, ..white(r) },
            true,
        ),
        (
            "film of 400 nm on gray metal",
            &|r| Bsdf { metallic: 1.0, base_color: GRAY, thin_film: film(1.3, 400.0), ..white(r) },
            true,
        ),
        (
            "film of 400 nm on glass",
            &|r| Bsdf { transmission: 1.0, thin_film: film(1.8, 400.0), ..white(r) },
            true,
        ),
        ("half through", &|r| Bsdf { diffuse_transmission: 0.5, ..bare(r) }, true),
        ("multiscatter metal", &|r| Bsdf { metallic: 1.0, multiscatter: true, ..white(r) }, false),
        (
            "multiscatter metal, anisotropy 1",
            &|r| Bsdf { metallic: 1.0, anisotropy: 1.0, multiscatter: true, ..white(r) },
            false,
        ),
        ("multiscatter dielectric", &|r| Bsdf { multiscatter: true, ..white(r) }, false),
    ];
    println!(
        "| in a white furnace | cosine | {} |",
        roughnesses.map(|r| format!("r {r}")).join(" | ")
    );
    println!("|---|---|{}", "---|".repeat(roughnesses.len()));
    // Read at run time, so that an edited page needs no rebuild.
    let page =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/materials.md"))
            .unwrap();
    let numbers = |row: &str| -> Vec<f64> {
        row.split('|').filter_map(|cell| cell.trim().parse().ok()).collect()
    };
    let mut wrong = Vec::new();
    for (name, make, conserves) in kinds {
        for cos in [1.0, 0.5, 0.1] {
            let row = roughnesses.map(|roughness| {
                let bsdf = make(roughness);
                let energy = (energy(&bsdf, view(cos), 1 << 13) + bsdf.straight_through(view(cos)))
                    .max_element();
                assert!(!conserves || energy < 1.0 + 2e-3, "{name} {cos} {roughness}: {energy}");
                if name == "multiscatter metal" {
                    assert!((energy - 1.0).abs() < 1.5e-3, "{name} {cos} {roughness}: {energy}");
                }
                format!("{energy:.3}")
            });
            let row = format!("| {name} | {cos} | {} |", row.join(" | "));
            println!("{row}");
            let there = page.lines().find(|line| {
                line.split('|').nth(1) == row.split('|').nth(1)
                    && numbers(line).first() == numbers(&row).first()
            });
            let near = there.is_some_and(|line| {
                numbers(line).len() == numbers(&row).len()
                    && numbers(line).iter().zip(numbers(&row)).all(|(a, b)| (a - b).abs() < 2.5e-3)
            });
            if !near {
                wrong.push(row);
            }
        }
    }
    assert!(wrong.is_empty(), "docs/materials.md says otherwise:\n{}", wrong.join("\n"));
}

#[test]
fn no_input_gives_nan() {
    let odd = [0.0, 1e-9, 0.5, 1.0];
    for a in odd {
        for b in odd {
            for metallic in [0.0, 1.0] {
                let bsdf = Bsdf {
                    metallic,
                    alpha: a,
                    anisotropy: b,
                    transmission: b,
                    specular: a,
                    specular_color: DVec3::new(0.0, 1.0, 1e9),
                    diffuse_transmission: b,
                    thin_film: Some(ThinFilm {
                        factor: b,
                        ior: 1.0 + a * 9.0,
                        thickness: 1e-3 + b * 1e4,
                        inside: a > 0.4,
                    }),
                    sheen: sheen(DVec3::splat(b), a),
                    coat: Some(Coat {
                        factor: b,
                        alpha: a,
                        normal: DVec3::new(a, 0.0, 1e-3).normalize(),
                    }),
                    multiscatter: true,
                    interface: if a > 0.4 {
                        GlassInterface::VolumeBoundary { eta: 0.5 }
                    } else {
                        GlassInterface::ThinWalled { eta: 1.5 }
                    },
                    ..Bsdf::default()
                };
                for cos in [1e-4, 0.3, 1.0] {
                    let v = view(cos);
                    assert!(bsdf.straight_through(v).is_finite());
                    for l in [DVec3::Z, DVec3::NEG_Z, view(1e-6), -v, v] {
                        assert!(bsdf.evaluate(v, l).total().is_finite(), "{bsdf:?} {v} {l}");
                        assert!(bsdf.pdf(v, l).is_finite(), "{bsdf:?} {v} {l}");
                    }
                    for u in [0.0, 0.3, 0.7, 0.999_999] {
                        if let Some(sampled) = bsdf.sample(v, u, DVec2::new(u, 1.0 - u)) {
                            assert!(
                                sampled.weight.total().is_finite() && sampled.l.is_finite(),
                                "{bsdf:?} {v}"
                            );
                        }
                    }
                }
            }
        }
    }
}

/// A lobe without delta samples: its name, and its material by roughness and coat normal.
type Lobe<'a> = (&'a str, &'a (dyn Fn(f64, DVec3) -> Bsdf + Sync));

/// All lobes at all tilts: normal maps tilt the view down to the horizon, and coat normals lie
/// anywhere above it.
fn at_all_tilts(mut of: impl FnMut(String, Bsdf, DVec3)) {
    let white = |roughness: f64| Bsdf { alpha: roughness * roughness, ..Bsdf::default() };
    let metal = |roughness: f64| Bsdf { metallic: 1.0, ..white(roughness) };
    let clear = |roughness: f64, wall: GlassInterface| Bsdf {
        transmission: 1.0,
        interface: wall,
        ..white(roughness)
    };
    let bare = Bsdf { f0: 0.0, ..Bsdf::default() };
    let plain: [Lobe<'_>; 9] = [
        ("base", &|r, _| white(r)),
        ("metal", &|r, _| metal(r)),
        ("anisotropic metal", &|r, _| Bsdf { anisotropy: 0.7, ..metal(r) }),
        ("iridescent metal", &|r, _| Bsdf {
            base_color: GRAY,
            thin_film: film(1.3, 400.0),
            ..metal(r)
        }),
        ("glass", &|r, _| clear(r, GlassInterface::VolumeBoundary { eta: 1.5 })),
        ("glass from inside", &|r, _| clear(r, GlassInterface::VolumeBoundary { eta: 1.0 / 1.5 })),
        ("pane", &|r, _| clear(r, GlassInterface::ThinWalled { eta: 1.5 })),
        ("diffuse transmission", &|r, _| Bsdf { diffuse_transmission: 0.5, ..white(r) }),
        ("sheen", &|r, _| Bsdf { sheen: sheen(DVec3::ONE, r), ..bare }),
    ];
    let coated: [Lobe<'_>; 3] = [
        ("coat", &|r, n| Bsdf { coat: coat(r, n), ..bare }),
        ("coat on glass", &|r, n| Bsdf {
            coat: coat(r, n),
            ..clear(0.5, GlassInterface::VolumeBoundary { eta: 1.5 })
        }),
        ("coat and sheen on a leaf", &|r, n| Bsdf {
            coat: coat(r, n),
            sheen: sheen(GRAY, 0.5),
            diffuse_transmission: 0.5,
            ..white(0.6)
        }),
    ];
    // A bent normal that faces away from the eye leaves the view just above the horizon
    // (`view_in`).
    let views = [1e-4, 0.2, 0.6, 1.0];
    for roughness in [0.3, 1.0] {
        for cos in views {
            for (name, make) in plain {
                of(
                    format!("{name}, roughness {roughness}, cosine {cos}"),
                    make(roughness, DVec3::Z),
                    view(cos),
                );
            }
        }
    }
    for (name, make) in coated {
        for roughness in [0.4, 1.0] {
            for tilt in [15.0f64, 35.0, 50.0, 70.0, 88.0] {
                // Towards the view, across, and away from it.
                for (turn, cos) in
                    [(0.0, 0.2), (0.0, 0.9), (PI / 2.0, 0.6), (PI, 1e-4), (PI, 0.2), (PI, 0.8)]
                {
                    let (s, c) = tilt.to_radians().sin_cos();
                    let azimuth = turn + 0.6f64.atan2(0.8);
                    let normal = DVec3::new(s * azimuth.cos(), s * azimuth.sin(), c);
                    let name = format!(
                        "{name}, roughness {roughness}, tilt {tilt}, turn {turn:.1}, cosine {cos}"
                    );
                    of(name, make(roughness, normal), view(cos));
                }
            }
        }
    }
}

#[test]
fn samples_follow_their_density_at_all_tilts() {
    let mut all = Vec::new();
    at_all_tilts(|name, bsdf, v| all.push((name, bsdf, v)));
    let family = all.len();
    all.into_par_iter().for_each(|(name, bsdf, v)| {
        let test = Test {
            name,
            cells: Cells::sphere().with_edges(),
            density: &|l| bsdf.pdf(v, l),
            sample: &|numbers: &mut TrialSampler| {
                let (lobe, u) = (numbers.next_1d(), numbers.next_2d());
                bsdf.sample(v, lobe, u).map(|sampled| sampled.l)
            },
        };
        check(&test, 8_000, family);
    });
}

/// Energy of `evaluate` over all directions, by midpoints.
fn furnace(bsdf: &Bsdf, v: DVec3, rows: u32) -> f64 {
    let columns = rows / 2;
    let eta = if let GlassInterface::VolumeBoundary { eta } = bsdf.interface { eta } else { 1.0 };
    let mut sum = 0.0;
    for row in 0..rows {
        // Steps of the angle grow with the square of the distance from the horizon: grazing lobes
        // are narrow there.
        let s = (f64::from(row) + 0.5) / f64::from(rows) * 2.0 - 1.0;
        let (z, width) = ((s * s.abs() * PI / 2.0).sin(), s.abs() * PI * 2.0 / f64::from(rows));
        let across = (1.0 - z * z).max(0.0).sqrt();
        for column in 0..columns {
            let (sin, cos) = (2.0 * PI * (f64::from(column) + 0.5) / f64::from(columns)).sin_cos();
            let scattered = bsdf.evaluate(v, DVec3::new(across * cos, across * sin, z));
            let bent = if bsdf.glass() > 0.0 { eta * eta } else { 1.0 };
            sum += (scattered.diffuse + scattered.specular + scattered.transmitted * bent).x
                * across
                * width;
        }
    }
    sum * 2.0 * PI / f64::from(columns)
}

/// A white furnace at normal incidence, under a coat of roughness 1 whose normal is tilted by 50
/// degrees from the view.
#[test]
fn a_tilted_coat_loses_nothing_by_its_density() {
    let (sin, cos) = 50f64.to_radians().sin_cos();
    let bsdf = Bsdf { f0: 0.0, coat: coat(1.0, DVec3::new(sin, 0.0, cos)), ..Bsdf::default() };
    let (got, want) = (energy(&bsdf, DVec3::Z, 1 << 14).x, furnace(&bsdf, DVec3::Z, 256));
    println!("{got:.4} by samples, {want:.4} by quadrature");
    assert!((got - want).abs() < 2e-3, "{got} {want}");
}

/// The same for every coat at every tilt, within four standard errors of the samples and twice the
/// change from a quadrature of half as many rows.
#[test]
fn coats_lose_nothing_by_their_density_at_any_tilt() {
    let mut all = Vec::new();
    at_all_tilts(|name, bsdf, v| all.push((name, bsdf, v)));
    all.retain(|(_, bsdf, _)| bsdf.coat.is_some());
    assert_eq!(all.len(), 3 * 2 * 5 * 6);
    let told: usize = all
        .into_par_iter()
        .map(|(name, bsdf, v)| {
            let count = 4096;
            let (mut sum, mut squares) = (0.0, 0.0);
            for i in 0..count {
                let got = energy_of(&bsdf, v, i).x;
                (sum, squares) = (sum + got, squares + got * got);
            }
            let got = sum / f64::from(count);
            let error =
                ((squares / f64::from(count) - got * got).max(0.0) / f64::from(count)).sqrt();
            let (want, coarse) = (furnace(&bsdf, v, 128), furnace(&bsdf, v, 64));
            let bound = 4.0 * error + 2.0 * (want - coarse).abs();
            assert!(
                (got - want).abs() <= bound + 1e-3,
                "{name}: {got:.4} by samples, {want:.4} by quadrature"
            );
            usize::from(bound < 0.05)
        })
        .sum();
    println!("{told} of 180 within 0.05");
    assert!(told >= 120, "{told} of 180 are told to 0.05");
}
