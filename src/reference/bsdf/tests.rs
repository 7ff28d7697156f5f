//! Samplers, energy and symmetry of the material.

use std::f64::consts::PI;

use glam::{DVec2, DVec3};

use super::{microfacet::visible_normal_pdf, *};
use crate::reference::{
    chi_square::{Cells, Test, TrialSampler, check},
    sampler::{Sampler, SamplerKind},
};

fn view(cos: f64) -> DVec3 {
    DVec3::new((1.0 - cos * cos).sqrt(), 0.0, cos)
}

fn metal(roughness: f64) -> Bsdf {
    Bsdf { metallic: 1.0, alpha: roughness * roughness, ..Bsdf::default() }
}

fn glass(roughness: f64, wall: GlassInterface) -> Bsdf {
    Bsdf { transmission: 1.0, alpha: roughness * roughness, interface: wall, ..Bsdf::default() }
}

const INTO: GlassInterface = GlassInterface::VolumeBoundary { eta: 1.5 };
const OUT: GlassInterface = GlassInterface::VolumeBoundary { eta: 1.0 / 1.5 };
const THIN: GlassInterface = GlassInterface::ThinWalled { eta: 1.5 };

/// Mean weights of samples: reflected, transmitted.
fn albedo(bsdf: &Bsdf, v: DVec3, count: u32) -> (DVec3, DVec3) {
    let (mut up, mut down) = (DVec3::ZERO, DVec3::ZERO);
    for i in 0..count {
        let mut sampler = Sampler::new(SamplerKind::Sobol, 3, 0, 0, i);
        let (lobe, u) = (sampler.next_1d(), sampler.next_2d());
        if let Some(sampled) = bsdf.sample(v, lobe, u) {
            up += sampled.weight.diffuse + sampled.weight.specular;
            // Energy, not radiance: without the change of solid angle.
            down += sampled.weight.transmitted * sampled.eta_scale;
        }
    }
    (up / f64::from(count), down / f64::from(count))
}

/// Materials of all kinds without delta lobes.
fn all() -> Vec<(String, Bsdf)> {
    let mut out = Vec::new();
    let color = DVec3::new(0.9, 0.5, 0.2);
    for roughness in [0.25f64, 0.5, 1.0] {
        for metallic in [0.0, 0.5, 1.0] {
            let bsdf = Bsdf {
                base_color: color,
                metallic,
                alpha: roughness * roughness,
                ..Bsdf::default()
            };
            out.push((format!("opaque, roughness {roughness}, metallic {metallic}"), bsdf));
        }
        let walls = [
            INTO,
            OUT,
            GlassInterface::VolumeBoundary { eta: 1.2 },
            GlassInterface::VolumeBoundary { eta: 2.4 },
            GlassInterface::VolumeBoundary { eta: 1.0 / 1.33 },
            THIN,
        ];
        for wall in walls {
            out.push((format!("glass, roughness {roughness}, {wall:?}"), glass(roughness, wall)));
        }
        let mixed = Bsdf {
            base_color: color,
            metallic: 0.3,
            transmission: 0.6,
            alpha: roughness * roughness,
            f0: 0.1,
            interface: GlassInterface::VolumeBoundary { eta: 1.9 },
            ..Bsdf::default()
        };
        out.push((format!("mixed, roughness {roughness}"), mixed));
        out.push((
            format!("mixed thin wall, roughness {roughness}"),
            Bsdf { interface: GlassInterface::ThinWalled { eta: 1.9 }, ..mixed },
        ));
    }
    out
}

/// Materials with narrow lobes, with a view and the center of its lobe.
fn narrow() -> Vec<(String, Bsdf, DVec3, DVec3)> {
    let mut out = Vec::new();
    for (roughness, wall) in [
        (0.1, INTO),
        (0.1, OUT),
        (0.1, THIN),
        (0.1, GlassInterface::VolumeBoundary { eta: 2.4 }),
        (0.25, GlassInterface::VolumeBoundary { eta: 1.1 }),
        (0.25, GlassInterface::VolumeBoundary { eta: 1.0 / 1.1 }),
    ] {
        for cos in [0.3, 0.7, 1.0] {
            let (v, bsdf) = (view(cos), glass(roughness, wall));
            let name = format!("narrow, roughness {roughness}, {wall:?}, cosine {cos}");
            // Too few samples would hit a lobe of very low reflectance.
            if !matches!(wall, GlassInterface::VolumeBoundary { eta } if (eta - 1.0).abs() < 0.2) {
                out.push((name.clone() + ", reflected", bsdf, v, DVec3::new(-v.x, 0.0, v.z)));
            }
            let through = match wall {
                GlassInterface::VolumeBoundary { eta } => refract(v, DVec3::Z, eta),
                GlassInterface::ThinWalled { .. } => Some(-v),
            };
            out.extend(through.map(|l| (name + ", transmitted", bsdf, v, l)));
        }
    }
    out
}

const COSINES: [f64; 3] = [0.2, 0.7, 1.0];

#[test]
fn samples_follow_their_density() {
    let all = all();
    let narrow = narrow();
    let family = all.len() * COSINES.len() + narrow.len();
    for (name, bsdf, v, middle) in narrow {
        let sample = |numbers: &mut TrialSampler| {
            let (lobe, u) = (numbers.next_1d(), numbers.next_2d());
            bsdf.sample(v, lobe, u).map(|sampled| sampled.l)
        };
        let cells = Cells::cap(middle, 0.08);
        check(&Test { name, cells, density: &|l| bsdf.pdf(v, l), sample: &sample }, 50_000, family);
    }
    for (name, bsdf) in &all {
        for cos in COSINES {
            let v = view(cos);
            let test = Test {
                name: format!("{name}, cosine {cos}"),
                cells: Cells::sphere(),
                density: &|l| bsdf.pdf(v, l),
                sample: &|numbers: &mut TrialSampler| {
                    let (lobe, u) = (numbers.next_1d(), numbers.next_2d());
                    bsdf.sample(v, lobe, u).map(|sampled| sampled.l)
                },
            };
            check(&test, 50_000, family);
        }
    }
}

#[test]
fn visible_normals_and_cosines_follow_their_densities() {
    let cases: Vec<(f64, f64)> = [0.1, 0.3, 0.6, 1.0]
        .into_iter()
        .flat_map(|r: f64| [0.1, 0.6, 1.0].map(|cos| (r, cos)))
        .collect();
    for &(roughness, cos) in &cases {
        let (v, alpha) = (view(cos), roughness * roughness);
        let round = Alpha::isotropic(alpha);
        let test = Test {
            name: format!("visible normals, roughness {roughness}, cosine {cos}"),
            cells: Cells::cap(DVec3::Z, if alpha < 0.05 { 0.3 } else { PI / 2.0 }),
            density: &|h| {
                if h.z > 0.0 { v.dot(h).max(0.0) * visible_normal_pdf(v, h, round) } else { 0.0 }
            },
            sample: &|numbers: &mut TrialSampler| {
                Some(sample_visible_normal(v, round, numbers.next_2d()))
            },
        };
        let integral = check(&test, 40_000, cases.len() + 1);
        // All visible normals, except those outside of the cells.
        assert!(
            integral > if alpha < 0.05 { 0.95 } else { 0.9995 },
            "roughness {roughness}, cosine {cos}: {integral}"
        );
    }
    let test = Test {
        name: "cosine".into(),
        cells: Cells::sphere(),
        density: &|d| d.z.max(0.0) / PI,
        sample: &|numbers: &mut TrialSampler| Some(sample_cosine_hemisphere(numbers.next_2d())),
    };
    assert!((check(&test, 100_000, cases.len() + 1) - 1.0).abs() < 1e-4);
}

#[test]
fn weights_are_what_is_evaluated_over_the_density() {
    for (name, bsdf) in all() {
        for cos in COSINES {
            let v = view(cos);
            for i in 0..200 {
                let mut sampler = Sampler::new(SamplerKind::Independent, 3, 0, 0, i);
                let (lobe, u) = (sampler.next_1d(), sampler.next_2d());
                let Some(sampled) = bsdf.sample(v, lobe, u) else { continue };
                let density = sampled.pdf.unwrap();
                assert!((sampled.l.length() - 1.0).abs() < 1e-9);
                let total = sampled.weight.total();
                // Visible normals: no weight is far above its lobe's probability.
                assert!(
                    density > 0.0
                        && total.is_finite()
                        && total.max_element() * sampled.eta_scale < 11.0,
                    "{name}: {total}"
                );
            }
        }
    }
}

#[test]
fn it_is_reciprocal() {
    for (name, bsdf) in all() {
        for cos in COSINES {
            let (v, l) = (view(cos), DVec3::new(-0.3, 0.5, 0.7).normalize());
            let there = bsdf.evaluate(v, l).total() / l.z;
            let back = bsdf.evaluate(l, v).total() / v.z;
            assert!(
                (there - back).abs().max_element() < 1e-12 * (1.0 + there.max_element()),
                "{name}"
            );
            // Through glass, the reverse view has the inverse ratio of indices; radiance over the
            // squared index is reciprocal (Veach 1997, section 5.2). Frames have z on the side of
            // the view.
            let mirror = DVec3::new(1.0, 1.0, -1.0);
            let below = DVec3::new(-0.4, 0.2, -0.8).normalize();
            let (there, eta, other) = match bsdf.interface {
                GlassInterface::VolumeBoundary { eta } => (
                    bsdf.evaluate(v, below),
                    eta,
                    GlassInterface::VolumeBoundary { eta: 1.0 / eta },
                ),
                GlassInterface::ThinWalled { eta } => {
                    (bsdf.evaluate(v, below), 1.0, GlassInterface::ThinWalled { eta })
                }
            };
            let back = Bsdf { interface: other, ..bsdf }.evaluate(below * mirror, v * mirror);
            let (there, back) = (there.total() / -below.z * (eta * eta), back.total() / v.z);
            assert!(
                (there - back).abs().max_element() < 1e-9 * (1.0 + there.max_element()),
                "{name}: {there} {back}"
            );
        }
    }
}

#[test]
fn fresnel_and_snell_are_the_closed_forms() {
    // At normal incidence, Brewster's angle (no light polarized in the plane), the critical angle,
    // and grazing incidence.
    assert!((fresnel(1.0, 1.5) - 0.04).abs() < 1e-15);
    let brewster = 1.5f64.atan();
    let across = ((brewster.cos() - 1.5 * (PI / 2.0 - brewster).cos())
        / (brewster.cos() + 1.5 * (PI / 2.0 - brewster).cos()))
    .powi(2);
    assert!((fresnel(brewster.cos(), 1.5) - across / 2.0).abs() < 1e-12);
    assert_eq!(fresnel(0.0, 1.5), 1.0);
    let critical = (1.0f64 / 1.5).asin();
    assert_eq!(fresnel((critical + 1e-6).cos(), 1.0 / 1.5), 1.0);
    assert!(fresnel((critical - 1e-3).cos(), 1.0 / 1.5) < 0.9);
    // The same from both sides.
    for cos in [0.1, 0.4, 0.9] {
        let l = refract(view(cos), DVec3::Z, 1.5).unwrap();
        assert!((view(cos).x - 1.5 * (l.x * l.x + l.y * l.y).sqrt()).abs() < 1e-12, "Snell");
        assert!((fresnel(cos, 1.5) - fresnel(-l.z, 1.0 / 1.5)).abs() < 1e-12);
        assert!(refract(-l, DVec3::NEG_Z * -1.0, 1.0).is_some());
    }
    assert!(refract(view(0.5), DVec3::Z, 1.0 / 1.5).is_none(), "total internal reflection");
    assert_eq!(fresnel(0.7, 1.0), 0.0);
    assert_eq!(
        (fresnel(0.7, 0.0), fresnel(1.0, 0.0), fresnel(1.0, f64::INFINITY)),
        (1.0, 1.0, 1.0)
    );
}

#[test]
fn smooth_glass_keeps_all_energy() {
    for wall in [
        INTO,
        OUT,
        THIN,
        GlassInterface::VolumeBoundary { eta: 1.0 },
        GlassInterface::VolumeBoundary { eta: 0.0 },
        GlassInterface::VolumeBoundary { eta: f64::INFINITY },
    ] {
        for cos in [0.01, 0.3, 0.6, 1.0] {
            let bsdf = glass(0.0, wall);
            let v = view(cos);
            let (up, down) = albedo(&bsdf, v, 256);
            let all = up + down + bsdf.straight_through(v);
            // The choice between both directions is random, but each has weight 1.
            assert!((all - DVec3::ONE).abs().max_element() < 1e-12, "{wall:?} {cos}: {up} {down}");
            assert_eq!(bsdf.pdf(v, DVec3::Z), 0.0);
            assert_eq!(bsdf.evaluate(v, DVec3::Z).total(), DVec3::ZERO);
        }
    }
}

#[test]
fn rough_glass_becomes_smooth_glass() {
    for wall in [INTO, OUT, THIN] {
        for cos in [0.3, 0.9, 1.0] {
            let v = view(cos);
            let (up, down) = albedo(&glass(0.05, wall), v, 1 << 12);
            let (GlassInterface::VolumeBoundary { eta } | GlassInterface::ThinWalled { eta }) =
                wall;
            let f = fresnel(cos, eta);
            assert!(
                (up.x - f).abs() < 2e-3 && (down.x - (1.0 - f)).abs() < 2e-3,
                "{wall:?} {cos}: {up} {down} {f}"
            );
        }
    }
}

/// Directional albedo with F = 1: closed form of the single-scattering lobe, E(1) = 1 - ln 2 at
/// roughness 1.
#[test]
fn directional_albedo_of_a_white_metal_is_the_published_one() {
    for (roughness, cos, want) in [
        (1.0, 1.0, 1.0 - 2f64.ln()),
        (1.0, 0.5, 0.4507),
        (1.0, 0.1, 0.7604),
        (0.7, 1.0, 0.6977),
        (0.5, 0.5, 0.8573),
        (0.3, 0.1, 0.8843),
        (0.7, 0.1, 0.8619),
        (0.5, 0.1, 0.8916),
    ] {
        let (got, _) = albedo(&metal(roughness), view(cos), 1 << 14);
        assert!((got.x - want).abs() < 1e-3, "roughness {roughness} cos {cos}: {got}, {want}");
    }
}

/// Prints the white furnace of each material: the loss of single scattering and the gain of glTF's
/// mix. `cargo test --lib reference::bsdf -- --nocapture published` generates the tables of
/// docs/reference.md.
#[test]
fn published_energy() {
    let cosines = [1.0, 0.5, 0.1];
    let roughnesses = [0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0];
    println!("| white material | cosine | {} |", roughnesses.map(|r| format!("r {r}")).join(" | "));
    println!("|---|---|{}", "---|".repeat(roughnesses.len()));
    let (mut energies, mut rows) = (Vec::new(), Vec::new());
    for (name, metallic, transmission, wall) in [
        ("dielectric", 0.0, 0.0, THIN),
        ("metallic 0.5", 0.5, 0.0, THIN),
        ("metal", 1.0, 0.0, THIN),
        ("glass, from air", 0.0, 1.0, INTO),
        ("glass, from inside", 0.0, 1.0, OUT),
        ("thin wall", 0.0, 1.0, THIN),
    ] {
        for cos in cosines {
            let row = roughnesses.map(|roughness: f64| {
                let bsdf = Bsdf {
                    metallic,
                    transmission,
                    alpha: roughness * roughness,
                    interface: wall,
                    ..Bsdf::default()
                };
                let (up, down) = albedo(&bsdf, view(cos), 1 << 13);
                let energy = (up + down + bsdf.straight_through(view(cos))).x;
                energies.push((name, cos, roughness, energy));
                format!("{energy:.3}")
            });
            rows.push(format!("| {name} | {cos} | {} |", row.join(" | ")));
            println!("{}", rows.last().unwrap());
        }
    }
    for (name, cos, roughness, energy) in energies {
        let mix = name == "dielectric" || name == "metallic 0.5";
        // Smooth lobes conserve energy; rough ones lose the multiple scattering between
        // microfacets.
        assert!(mix || energy < 1.0 + 1e-3, "{name} {cos} {roughness}: {energy}");
        assert!(
            mix || roughness > 0.0 || (energy - 1.0).abs() < 1e-3,
            "{name} {cos} {roughness}: {energy}"
        );
    }
    let page = include_str!("../../../docs/reference.md");
    let numbers = |row: &str| -> Vec<f64> {
        row.split('|').filter_map(|cell| cell.trim().parse().ok()).collect()
    };
    for row in rows {
        let label = row.split('|').nth(1).unwrap();
        let there = page.lines().find(|line| {
            line.split('|').nth(1) == Some(label) && numbers(line).first() == numbers(&row).first()
        });
        let near = there.is_some_and(|line| {
            numbers(line).len() == numbers(&row).len()
                && numbers(line).iter().zip(numbers(&row)).all(|(a, b)| (a - b).abs() < 2.5e-3)
        });
        assert!(near, "docs/reference.md says {there:?}, not {row}");
    }
}

/// The integral of `evaluate` over all directions equals the mean of the samples' weights.
#[test]
fn samples_gather_what_is_evaluated() {
    for (name, bsdf) in all() {
        for cos in [0.3, 0.9] {
            let v = view(cos);
            let (rows, columns) = (300, 300);
            let mut sum = (DVec3::ZERO, DVec3::ZERO);
            for row in 0..2 * rows {
                let tilt = (f64::from(row) + 0.5) / f64::from(2 * rows) * PI;
                for column in 0..columns {
                    let (s, c) =
                        (2.0 * PI * (f64::from(column) + 0.5) / f64::from(columns)).sin_cos();
                    let l = DVec3::new(tilt.sin() * c, tilt.sin() * s, tilt.cos());
                    let scattered = bsdf.evaluate(v, l);
                    sum.0 += (scattered.diffuse + scattered.specular) * tilt.sin();
                    sum.1 += scattered.transmitted * tilt.sin();
                }
            }
            let cell = PI / f64::from(2 * rows) * 2.0 * PI / f64::from(columns);
            let eta =
                if let GlassInterface::VolumeBoundary { eta } = bsdf.interface { eta } else { 1.0 };
            let (up, down) = albedo(&bsdf, v, 1 << 14);
            let error = ((sum.0 * cell - up).abs())
                .max((sum.1 * (cell * eta * eta) - down).abs())
                .max_element();
            assert!(
                error < 4e-3,
                "{name} {cos}: {} {} against {up} {down}",
                sum.0 * cell,
                sum.1 * cell * eta * eta
            );
        }
    }
}

#[test]
fn no_input_gives_nan() {
    let odd = [0.0, 1e-9, 0.5, 1.0];
    for alpha in odd {
        for eta in [0.0, 1e-3, 1.0, 1.0 + 1e-9, 1.5, 1e6, f64::INFINITY] {
            for wall in [GlassInterface::ThinWalled { eta }, GlassInterface::VolumeBoundary { eta }]
            {
                for (metallic, transmission, f0) in
                    [(0.0, 1.0, 0.0), (0.5, 0.5, 1.0), (1.0, 1.0, 0.04)]
                {
                    for base_color in [DVec3::ZERO, DVec3::ONE] {
                        let bsdf = Bsdf {
                            base_color,
                            metallic,
                            alpha,
                            f0,
                            transmission,
                            interface: wall,
                            ..Bsdf::default()
                        };
                        for cos in [1e-4, 0.3, 1.0] {
                            let v = view(cos);
                            assert!(bsdf.straight_through(v).is_finite());
                            for l in [
                                DVec3::Z,
                                DVec3::NEG_Z,
                                view(1e-6),
                                -v,
                                v,
                                v * DVec3::new(1.0, 1.0, -1.0),
                            ] {
                                assert!(
                                    bsdf.evaluate(v, l).total().is_finite(),
                                    "{bsdf:?} {v} {l}"
                                );
                                assert!(bsdf.pdf(v, l).is_finite(), "{bsdf:?} {v} {l}");
                            }
                            for u in [0.0, 0.3, 0.999_999] {
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
    }
}
