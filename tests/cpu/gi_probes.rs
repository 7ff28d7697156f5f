//! Grid and updates of the irradiance volume, and the formulas of its maps.

use glam::{DVec2, DVec3};
use sunny16::{
    gpu::shader_structs::gi_probes::PROBES_TRACE_ALL,
    gpu_scene::{
        probe_grid::{DEFAULT_PROBES, MAX_PROBES, ProbeGrid, VISIBILITY_TEXELS},
        probe_schedule::{
            MIN_RAYS, ProbeScene, ProbeSchedule, RELOCATION_SWEEPS, STILL_SWEEPS, rotation, shares,
        },
    },
};

#[test]
fn default_spacing_fills_the_bounds_with_nearly_the_maximum() {
    for size in [
        DVec3::ONE,
        DVec3::new(30.0, 8.0, 20.0),
        DVec3::new(100.0, 3.0, 3.0),
        DVec3::new(5.0, 0.0, 7.0),
        DVec3::ZERO,
        DVec3::splat(1e5),
    ] {
        let low = DVec3::new(-3.0, 2.0, 1.0);
        let grid = ProbeGrid::new((low, low + size), None).unwrap();
        assert!(grid.probes() <= DEFAULT_PROBES, "{size} {grid:?}");
        if size != DVec3::ZERO {
            assert!(grid.probes() > DEFAULT_PROBES / 2, "{size} {grid:?}");
        }
        let last = grid.origin + (grid.counts - 1).as_dvec3() * grid.spacing;
        assert!(grid.origin.cmple(low + 1e-4).all(), "{size} {grid:?}");
        assert!(last.cmpge(low + size - 1e-4).all(), "{size} {grid:?}");
        assert!(grid.columns() * grid.rows() >= grid.probes());
    }
}

#[test]
fn too_many_probes_state_the_spacing_that_fits() {
    let bounds = (DVec3::ZERO, DVec3::new(100.0, 40.0, 100.0));
    let error = ProbeGrid::new(bounds, Some(0.5)).unwrap_err();
    assert_eq!(error.probes, 201 * 81 * 201);
    let fits = ProbeGrid::new(bounds, Some(error.fits_at)).unwrap();
    assert!(fits.probes() > MAX_PROBES * 9 / 10, "{fits:?}");
    assert!(ProbeGrid::new(bounds, Some(error.fits_at * 0.98)).is_err());
    assert!(ProbeGrid::new((DVec3::ZERO, DVec3::splat(1e9)), Some(1e-9)).is_err());
}

const SCENE: ProbeScene = ProbeScene { light: 1, geometry: 1 };

#[test]
fn updates_keep_to_the_budget_and_cover_all_probes() {
    for (probes, budget) in [(8, 1024), (1000, 65_536), (4096, 65_536), (65_535, 65_536)] {
        let (rays, each) = shares(probes, budget);
        assert!(rays * each <= budget && rays % MIN_RAYS == 0, "{probes} {budget}");
        let mut schedule = ProbeSchedule::default();
        // The first sweep is whole.
        let first = schedule.frame(SCENE, probes, budget).unwrap();
        assert_eq!((first.first, first.count, first.rays), (0, probes, MIN_RAYS));
        let mut next = 0;
        for _ in 0..probes.div_ceil(each) {
            let update = schedule.frame(SCENE, probes, budget).unwrap();
            assert_eq!((update.first, update.rays, update.number), (next, rays, 1));
            next += update.count;
        }
        assert_eq!(next, probes);
    }
}

#[test]
fn changes_in_each_frame_leave_no_probe_out() {
    let mut schedule = ProbeSchedule::default();
    let (probes, budget) = (4096, 16_384);
    let mut updated = vec![0; probes as usize];
    for light in 0..40 {
        let scene = ProbeScene { light, geometry: light };
        let update = schedule.frame(scene, probes, budget).unwrap();
        let range = update.first as usize..(update.first + update.count) as usize;
        updated[range].iter_mut().for_each(|times| *times += 1);
    }
    assert!(updated.iter().all(|times| *times >= 4), "{updated:?}");
}

#[test]
fn a_switched_light_replaces_the_stored_one_at_once() {
    let mut schedule = ProbeSchedule::default();
    for _ in 0..40 {
        schedule.frame(SCENE, 100, 65_536).unwrap();
    }
    let late = schedule.frame(SCENE, 100, 65_536).unwrap();
    assert!(late.blend < 0.1 && late.flags & PROBES_TRACE_ALL == 0, "{late:?}");
    let switched = ProbeScene { light: 2, ..SCENE };
    let next = schedule.frame(switched, 100, 65_536).unwrap();
    assert!((next.blend - 1.0).abs() < 1e-6 && next.flags & PROBES_TRACE_ALL != 0);
    assert!(next.visibility_blend < 0.1, "walls stand where they stood");
    // A light that changes in every frame: means of some sweeps.
    let dimmed = ProbeScene { light: 3, ..SCENE };
    for light in 3..30 {
        schedule.frame(ProbeScene { light, ..dimmed }, 100, 65_536).unwrap();
    }
    let next = schedule.frame(ProbeScene { light: 30, ..SCENE }, 100, 65_536).unwrap();
    assert!(next.blend <= 0.5, "{next:?}");
}

#[test]
fn a_still_starts_again_and_ends() {
    let mut schedule = ProbeSchedule::default();
    for _ in 0..7 {
        schedule.frame(SCENE, 100, 65_536).unwrap();
    }
    let all = |schedule: &mut ProbeSchedule| {
        let mut updates = Vec::new();
        loop {
            let more = schedule.still(SCENE, (100, 65_536), 16);
            if more.is_empty() {
                return updates;
            }
            updates.extend(more.iter().map(|u| (u.number, u.blend.to_bits(), u.flags)));
        }
    };
    let first = all(&mut schedule);
    assert_eq!(first.len() as u32, RELOCATION_SWEEPS + STILL_SWEEPS);
    assert!(all(&mut schedule).is_empty(), "it is converged");
    assert!(schedule.frame(SCENE, 100, 65_536).is_none(), "frames show it as it is");
    assert_eq!(all(&mut ProbeSchedule::default()), first);
}

#[test]
fn rotations_are_unit_and_differ() {
    let of: Vec<_> = (0..200).map(rotation).collect();
    assert!(of.iter().all(|q| (q.length() - 1.0).abs() < 1e-5));
    assert!(of.windows(2).all(|pair| pair[0].dot(pair[1]).abs() < 0.9999));
}

/// `octahedral_of` of lib/gi_probes.glsl.
fn octahedral(d: DVec3) -> DVec2 {
    let p = d.truncate() / d.abs().element_sum();
    let folded = (1.0 - DVec2::new(p.y, p.x).abs())
        * DVec2::new(if p.x >= 0.0 { 1.0 } else { -1.0 }, if p.y >= 0.0 { 1.0 } else { -1.0 });
    if d.z >= 0.0 { p } else { folded }
}

/// `octahedral_direction`.
fn direction(p: DVec2) -> DVec3 {
    let mut d = p.extend(1.0 - p.abs().element_sum());
    let fold = (-d.z).max(0.0);
    d.x -= if d.x >= 0.0 { fold } else { -fold };
    d.y -= if d.y >= 0.0 { fold } else { -fold };
    d.normalize()
}

/// The inner texel that a border texel repeats: lib/gi_probes.glsl and gi_probe_blend.comp.
fn border_source([x, y]: [i32; 2], texels: i32) -> [i32; 2] {
    let last = texels - 1;
    let outside = |i: i32| i < 0 || i > last;
    match (outside(x), outside(y)) {
        (true, true) => [if x < 0 { last } else { 0 }, if y < 0 { last } else { 0 }],
        (true, false) => [x.clamp(0, last), last - y],
        (false, true) => [last - x, y.clamp(0, last)],
        (false, false) => [x, y],
    }
}

/// With its border, a map interpolates as the octahedron continues: the value at any direction is
/// the same from both sides of an edge of the map, and near that of the direction.
#[test]
fn borders_continue_the_octahedral_map() {
    let texels = VISIBILITY_TEXELS as i32;
    let value = |d: DVec3| d.dot(DVec3::new(0.3, -0.5, 0.8));
    let texel = |x: i32, y: i32| {
        let [x, y] = border_source([x, y], texels);
        let at = (DVec2::new(f64::from(x), f64::from(y)) + 0.5) / f64::from(texels);
        value(direction(at * 2.0 - 1.0))
    };
    let lookup = |p: DVec2| {
        let at = (p * 0.5 + 0.5) * f64::from(texels) - 0.5;
        let (low, part) = (at.floor(), at - at.floor());
        let (x, y) = (low.x as i32, low.y as i32);
        let row = |y: i32| texel(x, y) * (1.0 - part.x) + texel(x + 1, y) * part.x;
        row(y) * (1.0 - part.y) + row(y + 1) * part.y
    };
    for step in 0..2000 {
        let q = rotation(step);
        let d = q.truncate().as_dvec3().normalize();
        assert!(direction(octahedral(d)).distance(d) < 1e-9);
        // At most 0.0713, at the six vertices of the octahedron, where texels span 0.13 rad.
        assert!((lookup(octahedral(d)) - value(d)).abs() < 0.075, "{d}");
    }
    // A border texel has the value of the direction at its center, by the octahedron's unfolding
    // beyond the map's edges.
    for x in -1..=texels {
        for y in -1..=texels {
            let at = (DVec2::new(f64::from(x), f64::from(y)) + 0.5) / f64::from(texels);
            let mut p = at * 2.0 - 1.0;
            for _ in 0..2 {
                if p.x.abs() > 1.0 {
                    p = DVec2::new(2.0 * p.x.signum() - p.x, -p.y);
                }
                if p.y.abs() > 1.0 {
                    p = DVec2::new(-p.x, 2.0 * p.y.signum() - p.y);
                }
            }
            assert!((texel(x, y) - value(direction(p))).abs() < 1e-12, "{x} {y}");
        }
    }
    // Points of an edge are the same direction as their mirror images.
    for step in 0..=100 {
        let along = f64::from(step) / 50.0 - 1.0;
        for (edge, mirrored) in [
            (DVec2::new(1.0, along), DVec2::new(1.0, -along)),
            (DVec2::new(-1.0, along), DVec2::new(-1.0, -along)),
            (DVec2::new(along, 1.0), DVec2::new(-along, 1.0)),
            (DVec2::new(along, -1.0), DVec2::new(-along, -1.0)),
        ] {
            assert!(direction(edge).distance(direction(mirrored)) < 1e-9);
            assert!((lookup(edge) - lookup(mirrored)).abs() < 1e-12, "{edge}");
        }
    }
}
