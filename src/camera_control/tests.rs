use std::{f64::consts::PI, sync::Arc};

use glam::{DMat4, DVec2, DVec3, Vec2, Vec3};

use super::*;
use crate::scene::{
    AlphaMode, Material, Primitive,
    build::{SceneBuilder, dielectric},
    procedural::shapes,
};

/// A floor of 40 m x 40 m at height 0 with solids on it.
fn world(solids: Vec<(Primitive, DMat4)>) -> Arc<CollisionMesh> {
    let mut builder = SceneBuilder::new("Walk");
    let stone = builder.add_material(dielectric("Stone", Vec3::splat(0.5), 0.9));
    let floor = builder.add_mesh("Floor", shapes::plane(Vec2::splat(40.0), 7, 7), stone);
    builder.instance("Floor", floor, DMat4::IDENTITY);
    for (part, pose) in solids {
        let mesh = builder.add_mesh("Solid", part, stone);
        builder.instance("Solid", mesh, pose);
    }
    Arc::new(CollisionMesh::of(&builder.build().unwrap(), is_solid).unwrap())
}

fn block(size: [f32; 3], place: [f64; 3]) -> (Primitive, DMat4) {
    (shapes::cuboid(Vec3::from(size)), DMat4::from_translation(DVec3::from(place)))
}

/// A walker at the origin who looks along -Z, after a second to land.
fn walker(walls: &Arc<CollisionMesh>, place: DVec3) -> Controller {
    let mut camera = Controller::new(CameraPose { position: place, ..CameraPose::default() }, 1.0);
    camera.set_walls(walls.clone());
    camera.set_mode(NavigationMode::Walk);
    camera.update(&Input::default(), 1.0);
    camera
}

fn eye(x: f64, z: f64) -> DVec3 {
    DVec3::new(x, EYE_HEIGHT, z)
}

const FORWARD: Input = Input {
    movement: DVec3::Z,
    turn: DVec2::ZERO,
    pan: DVec2::ZERO,
    dolly: 0.0,
    speed_factor: 1.0,
};

fn walk(camera: &mut Controller, input: Input, seconds: f64, rate: f64) -> CameraPose {
    let pictures = (seconds * rate).round();
    let input = Input { turn: input.turn / pictures, ..input };
    (0..pictures as usize).fold(camera.pose(), |_, _| camera.update(&input, 1.0 / rate))
}

#[test]
fn poses_turn_to_the_right_and_up() {
    let pose = CameraPose::default();
    assert!(pose.forward().distance(DVec3::NEG_Z) < 1e-12);
    let right = pose.turned(DVec2::new(PI / 2.0, 0.0));
    assert!(right.forward().distance(DVec3::X) < 1e-12 && right.right().distance(DVec3::Z) < 1e-12);
    let up = pose.turned(DVec2::new(0.0, 0.3));
    assert!((up.forward().y - 0.3_f64.sin()).abs() < 1e-12);
    for (yaw, pitch) in [(0.3, 0.2), (-2.9, -1.4), (3.1, 1.2)] {
        let pose = CameraPose { position: DVec3::new(1.0, 2.0, 3.0), yaw, pitch };
        let back = CameraPose::from_world(pose.world());
        assert!(back.position.distance(pose.position) < 1e-12);
        assert!((back.yaw - yaw).abs() < 1e-9 && (back.pitch - pitch).abs() < 1e-9, "{back:?}");
    }
    // Straight down with the picture's upper border to +X: as after looking along +X and pitching
    // down.
    let down = DMat4::from_cols(
        DVec3::Z.extend(0.0),
        DVec3::X.extend(0.0),
        DVec3::Y.extend(0.0),
        DVec3::ZERO.extend(1.0),
    );
    assert!((CameraPose::from_world(down).yaw - PI / 2.0).abs() < 1e-9);
}

#[test]
fn flight_comes_to_its_speed_and_ends_the_same_at_every_rate() {
    let fly = |rate: f64| {
        let mut camera = Controller::new(CameraPose::default(), 1.0);
        let there = walk(&mut camera, FORWARD, 2.0, rate).position;
        (there, walk(&mut camera, Input::default(), 2.0, rate).position)
    };
    // The distance under dv/dt = (w - v) / T from rest: w (t - T (1 - exp(-t / T))); then it glides
    // on by w T.
    let (there, after) = fly(60.0);
    let way = FLYING_SPEED * (2.0 - RESPONSE * (1.0 - (-2.0 / RESPONSE).exp()));
    assert!(
        (there.z + way).abs() < 1e-9 && (after.z + FLYING_SPEED * 2.0).abs() < 1e-3,
        "{there} {after}"
    );
    for rate in [1.0, 7.0, 240.0] {
        assert!(fly(rate).0.distance(there) < 1e-9 * way);
    }
    // A turn of a full circle.
    let turn = |rate: f64| {
        let mut camera = Controller::new(CameraPose::default(), 1.0);
        walk(&mut camera, Input { turn: DVec2::new(2.0 * PI, 0.0), ..FORWARD }, 4.0, rate).position
    };
    assert!(
        turn(1.0).distance(turn(240.0)) < 0.01 * 4.0 * FLYING_SPEED * 0.1,
        "{} {}",
        turn(1.0),
        turn(240.0)
    );
}

#[test]
fn orbit_keeps_distance_and_place_of_its_point() {
    let pose = CameraPose { position: DVec3::new(0.0, 1.0, 4.0), yaw: 0.2, pitch: -0.1 };
    let mut camera = Controller::new(pose, 1.0);
    camera.set_mode(NavigationMode::Orbit);
    camera.set_target(DVec3::new(0.3, 0.5, 0.0));
    let seen = |pose: CameraPose, target: DVec3| pose.world().inverse().transform_point3(target);
    let before = seen(pose, camera.target());
    let after = camera.update(&Input { turn: DVec2::new(0.7, 0.2), ..Input::default() }, 0.1);
    assert!(seen(after, camera.target()).distance(before) < 1e-12);
    // The scene follows the pointer: the eye moves to the left.
    assert!((after.yaw - (0.2 - 0.7)).abs() < 1e-12);
    // A drag by half a picture's height moves the point there.
    let panned = camera.update(&Input { pan: DVec2::new(0.25, 0.5), ..Input::default() }, 0.1);
    let under = seen(panned, DVec3::new(0.3, 0.5, 0.0)) - before;
    let height = 2.0 * 0.5_f64.tan() * -before.z;
    assert!((under / height - DVec3::new(0.25, 0.5, 0.0)).length() < 1e-12, "{under}");
    let near = camera.update(&Input { dolly: 3.0, ..Input::default() }, 0.1);
    let distance = near.position.distance(camera.target()) / before.length();
    assert!((distance - 0.729).abs() < 1e-12, "{distance}");
}

#[test]
fn what_is_framed_fits() {
    let mut camera =
        Controller::new(CameraPose { pitch: -0.4, yaw: 1.0, ..CameraPose::default() }, 0.6);
    for (aspect, half) in [(2.0, 0.3_f64), (0.5, (0.3_f64.tan() * 0.5).atan())] {
        camera.frame((DVec3::new(9.0, 1.0, 4.0), DVec3::new(11.0, 2.0, 6.0)), aspect);
        let pose = walk(&mut camera, Input::default(), 0.5, 60.0);
        let away = DVec3::new(10.0, 1.5, 5.0) - pose.position;
        assert!(away.normalize().distance(pose.forward()) < 1e-9);
        assert!((away.length() * half.sin() - 1.5).abs() < 1e-9);
    }
    assert_eq!(camera.mode(), NavigationMode::Orbit);
    let pose = camera.pose();
    camera.frame((DVec3::NAN, DVec3::ONE), 1.0);
    assert_eq!(walk(&mut camera, Input::default(), 0.5, 60.0), pose);
}

#[test]
fn eyes_keep_their_height_and_who_stands_stays() {
    let walls = world(vec![]);
    let mut camera = walker(&walls, DVec3::new(0.2, 2.5, 0.1));
    let there = camera.pose();
    assert!((there.position - eye(0.2, 0.1)).length() < 1e-3, "{}", there.position);
    assert_eq!(walk(&mut camera, Input::default(), 600.0, 30.0), there, "drifts");
    for turn in 0..8 {
        let input = Input { turn: DVec2::new(f64::from(turn), 0.1), speed_factor: 2.0, ..FORWARD };
        for _ in 0..60 {
            let pose = walk(&mut camera, input, 1.0 / 30.0, 30.0);
            assert!((pose.position.y - EYE_HEIGHT).abs() < 1e-3, "{}", pose.position);
        }
    }
    // Also on a ramp of 20 degrees, minus the roundness of the foot: 0.1 (1 / cos - 1).
    let ramp = DMat4::from_rotation_x(20f64.to_radians());
    let walls = world(vec![(shapes::plane(Vec2::new(10.0, 20.0), 1, 1), ramp)]);
    let mut camera = walker(&walls, DVec3::new(0.0, 2.5, -1.0));
    let pose = walk(&mut camera, FORWARD, 3.0, 60.0);
    let ground = -pose.position.z * 20f64.to_radians().tan();
    let height = EYE_HEIGHT + FOOT_RADIUS * (1.0 / 20f64.to_radians().cos() - 1.0);
    assert!(
        pose.position.z < -3.0 && (pose.position.y - ground - height).abs() < 0.01,
        "{}",
        pose.position
    );
}

const FOOT_RADIUS: f64 = super::walker::FOOT;

#[test]
fn walls_hold_at_every_speed_and_rate() {
    // A rotated wall without thickness, and a thick one behind it.
    let paper = shapes::quad(Vec3::new(-6.0, 3.0, -3.0), Vec3::X * 12.0, Vec3::NEG_Y * 3.0, 1, 1);
    let walls = world(vec![
        (paper, DMat4::from_rotation_y(0.3)),
        block([40.0, 3.0, 0.2], [0.0, 1.5, -6.0]),
    ]);
    let mut farthest = f64::NEG_INFINITY;
    for pace in [0.5, 1.0, 7.0, 100.0] {
        for rate in [1.0, 13.0, 240.0] {
            for yaw in [0.0, 0.4, -0.7] {
                let mut camera = walker(&walls, DVec3::new(0.0, 1.7, 0.0));
                camera.place(CameraPose { yaw, ..camera.pose() });
                for _ in 0..(4.0 * rate) as usize {
                    let at = camera
                        .update(&Input { speed_factor: pace, ..FORWARD }, 1.0 / rate)
                        .position;
                    assert!(
                        (at.y - EYE_HEIGHT).abs() < 0.01,
                        "pace {pace}, rate {rate}, yaw {yaw}: {at}"
                    );
                    // The side of the thin wall, in its own space; a way around its end leads to
                    // the other side.
                    let local = DMat4::from_rotation_y(-0.3).transform_point3(at);
                    if local.x.abs() < 6.0 && at.z > -5.0 {
                        assert!(
                            local.z > -3.0 + RADIUS - 1e-3 || local.x.abs() > 5.6,
                            "{pace} {rate} {yaw}: {at} {local}"
                        );
                    }
                    // At the end of the floor there is a way around the other wall.
                    assert!(
                        at.x.abs() > 19.7 || at.z > -5.9 + RADIUS - 1e-3,
                        "pace {pace}, rate {rate}, yaw {yaw}: {at}"
                    );
                    farthest = farthest.max(-at.z);
                }
            }
        }
    }
    assert!(farthest > 2.0, "no walker came near the wall");
}

#[test]
fn walkers_slide_along_walls_and_stop_in_corners() {
    let walls = world(vec![
        block([20.0, 3.0, 0.2], [0.0, 1.5, -2.1]),
        block([0.2, 3.0, 20.0], [5.1, 1.5, 0.0]),
    ]);
    let mut camera = walker(&walls, DVec3::new(0.0, 1.7, 0.0));
    // 45 degrees to the right: only the component of the velocity along the wall remains.
    camera.place(CameraPose { yaw: PI / 4.0, ..camera.pose() });
    walk(&mut camera, FORWARD, 2.5, 60.0);
    let from = camera.pose().position;
    let to = walk(&mut camera, FORWARD, 1.0, 60.0).position;
    assert!((from.z - (-2.0 + RADIUS)).abs() < 2e-3 && (to.z - from.z).abs() < 1e-3, "{from} {to}");
    assert!(
        to.x - from.x > 0.6 * WALKING_SPEED && to.x - from.x < 0.75 * WALKING_SPEED,
        "{}",
        to.x - from.x
    );
    let corner = walk(&mut camera, FORWARD, 4.0, 60.0).position;
    assert!(
        (corner.x - (5.0 - RADIUS)).abs() < 2e-3 && (corner.z - (-2.0 + RADIUS)).abs() < 2e-3,
        "{corner}"
    );
    let later = walk(&mut camera, FORWARD, 1.0, 60.0).position;
    assert!(later.distance(corner) < 1e-3, "trembles by {}", later.distance(corner));
}

/// Steps of a height (m), each 0.3 m deep, from z = -1 on.
fn stairs(height: f32, count: usize) -> Arc<CollisionMesh> {
    world(
        (0..count)
            .map(|step| {
                let top = height * (step + 1) as f32;
                block([4.0, top, 6.0], [0.0, f64::from(top) * 0.5, -4.0 - 0.3 * step as f64])
            })
            .collect(),
    )
}

#[test]
fn stairs_are_climbed_and_gone_down_and_tables_are_not() {
    for height in [0.17_f32, 0.30] {
        let walls = stairs(height, 5);
        for rate in [10.0, 60.0] {
            let mut camera = walker(&walls, DVec3::new(0.0, 1.7, 0.0));
            let mut last = camera.pose().position.y;
            let mut jump = 0.0_f64;
            for _ in 0..(3.0 * rate) as usize {
                let y = camera.update(&FORWARD, 1.0 / rate).position.y;
                jump = jump.max((y - last).abs());
                last = y;
            }
            let top = f64::from(height) * 5.0;
            assert!((last - EYE_HEIGHT - top).abs() < 0.01, "{height}: {last}");
            // Step smoothing: no frame is a whole step higher than the one before.
            assert!(rate < 60.0 || jump < 0.6 * f64::from(height), "{height}: jumps {jump}");
            camera.place(CameraPose { yaw: PI, ..camera.pose() });
            let down = walk(&mut camera, FORWARD, 4.0, rate).position;
            assert!((down.y - EYE_HEIGHT).abs() < 0.01 && down.z > 0.0, "{down}");
        }
    }
    let table = world(vec![block([4.0, 0.36, 4.0], [0.0, 0.18, -3.0])]);
    let mut camera = walker(&table, DVec3::new(0.0, 1.7, 0.0));
    let there = walk(&mut camera, FORWARD, 3.0, 60.0).position;
    assert!((there.y - EYE_HEIGHT).abs() < 0.01 && there.z > -1.0, "{there}");
    // A beam at the height of the forehead.
    let beam = world(vec![block([4.0, 0.2, 0.2], [0.0, 1.75, -2.0])]);
    let there = walk(&mut walker(&beam, DVec3::new(0.0, 1.62, 0.0)), FORWARD, 3.0, 60.0).position;
    assert!(there.z > -1.9 + 0.1 && there.z < -1.4, "{there}");
}

#[test]
fn slopes_are_ground_up_to_45_degrees() {
    for (degrees, climbed) in
        [(30.0, true), (44.0, true), (47.0, false), (60.0, false), (80.0, false)]
    {
        let slope = DMat4::from_translation(DVec3::new(0.0, 0.0, -1.0))
            * DMat4::from_rotation_x(f64::to_radians(degrees));
        let walls = world(vec![(shapes::plane(Vec2::new(20.0, 12.0), 3, 3), slope)]);
        let mut camera = walker(&walls, DVec3::new(0.0, 1.7, 0.0));
        let up = walk(&mut camera, FORWARD, 3.0, 60.0).position.y - EYE_HEIGHT;
        if climbed {
            assert!(up > 1.0, "{degrees}: {up}");
        } else {
            assert!(up < 0.05, "{degrees}: {up}");
        }
        // Lowered onto it: it stays where the slope is walkable, else it slides to the foot.
        let mut camera =
            walker(&walls, DVec3::new(0.0, 1.7 + f64::to_radians(degrees).tan() * 1.5, -2.5));
        let there = walk(&mut camera, Input::default(), 5.0, 60.0).position;
        assert_eq!(there.y - EYE_HEIGHT > 0.6, climbed, "{degrees}: {there}");
    }
}

#[test]
fn the_walker_stays_in_the_world() {
    let walls = world(vec![]);
    for (pace, rate) in [(1.0, 60.0), (30.0, 1.0)] {
        let mut camera = walker(&walls, DVec3::new(0.0, 1.7, -17.0));
        let there = walk(
            &mut camera,
            Input { speed_factor: pace, turn: DVec2::new(0.3, 0.0), ..FORWARD },
            6.0,
            rate,
        )
        .position;
        assert!(
            (there.y - EYE_HEIGHT).abs() < 0.01 && there.z > -20.2 && there.z < -19.5,
            "{there}"
        );
    }
    // Beyond its border there is no ground: a walker that starts there stays.
    let camera = walker(&walls, DVec3::new(30.0, 5.0, 0.0));
    assert!(camera.pose().position.distance(DVec3::new(30.0, 5.0, 0.0)) < 1e-9);
    // A fall from a height: on the ground after 3 s.
    let mut camera = walker(&walls, DVec3::new(0.0, 20.0, 0.0));
    assert!(camera.pose().position.y < 17.0);
    assert!((walk(&mut camera, Input::default(), 3.0, 2.0).position.y - EYE_HEIGHT).abs() < 1e-3);
}

#[test]
fn a_slow_machine_walks_where_a_fast_one_does() {
    // Around a block, against a wall, up three steps, in curves.
    let mut solids =
        vec![block([1.0, 3.0, 1.0], [0.4, 1.5, -3.0]), block([0.3, 3.0, 12.0], [4.0, 1.5, 0.0])];
    for step in 0..3 {
        let top = 0.2 * (step + 1) as f32;
        solids.push(block(
            [6.0, top, 4.0],
            [-3.0, f64::from(top) * 0.5, -8.0 - 0.4 * f64::from(step)],
        ));
    }
    let walls = world(solids);
    let there = |rate: f64| {
        let mut camera = walker(&walls, DVec3::new(0.0, 1.7, 0.0));
        let mut length = 0.0;
        for (turn, seconds) in [(0.0, 3.0), (-1.2, 4.0), (0.9, 6.0), (2.0, 5.0)] {
            let input = Input { turn: DVec2::new(turn, 0.0), ..FORWARD };
            walk(&mut camera, input, seconds, rate);
            length += seconds * WALKING_SPEED;
        }
        (camera.pose().position, length)
    };
    let (fast, length) = there(240.0);
    for rate in [1.0, 30.0, 144.0] {
        let off = there(rate).0.distance(fast);
        assert!(off < 0.01 * length, "{rate}: {off} of {length}");
    }
    assert!(fast.length() > 3.0);
}

#[test]
fn leaves_and_water_are_not_solid() {
    let mut builder = SceneBuilder::new("Pond");
    let stone = builder.add_material(dielectric("Stone", Vec3::splat(0.5), 0.9));
    let leaf =
        Material { alpha: AlphaMode::Mask { cutoff: 0.5 }, ..dielectric("Leaf", Vec3::ONE, 0.5) };
    let water = Material { transmission: 1.0, ior: 1.333, ..dielectric("Water", Vec3::ONE, 0.0) };
    let pane = Material { transmission: 1.0, ..dielectric("Pane", Vec3::ONE, 0.0) };
    assert!(
        !is_solid(&leaf) && !is_solid(&water) && is_solid(&pane) && is_solid(&Material::default())
    );
    let leaf = builder.add_material(leaf);
    let floor = builder.add_mesh("Floor", shapes::plane(Vec2::splat(10.0), 1, 1), stone);
    builder.instance("Floor", floor, DMat4::IDENTITY);
    let leaf = builder.add_mesh("Leaf", shapes::cuboid(Vec3::splat(1.0)), leaf);
    builder.instance("Leaf", leaf, DMat4::from_translation(DVec3::new(0.0, 1.0, -2.0)));
    let scene = builder.build().unwrap();
    let walls = Arc::new(CollisionMesh::of(&scene, is_solid).unwrap());
    let there = walk(&mut walker(&walls, DVec3::new(0.0, 1.7, 0.0)), FORWARD, 2.5, 60.0).position;
    assert!(there.z < -3.0, "{there}");
    assert_eq!(CollisionMesh::of(&scene, |_| false).unwrap_err(), CollisionError::Empty);
}

#[test]
fn start_inside_a_wall_is_pushed_out() {
    let walls = world(vec![
        block([0.5, 3.0, 8.0], [0.0, 1.5, 0.0]),
        block([2.0, 0.5, 2.0], [3.0, 0.25, 0.0]),
    ]);
    let beside = walker(&walls, DVec3::new(0.1, 1.62, 0.0)).pose().position;
    assert!(
        beside.x.abs() > 0.25 + RADIUS - 0.01 && (beside.y - EYE_HEIGHT).abs() < 0.01,
        "{beside}"
    );
    // In a low block: on top of it.
    let above = walker(&walls, DVec3::new(3.0, 1.62, 0.0)).pose().position;
    assert!((above - DVec3::new(3.0, EYE_HEIGHT + 0.5, 0.0)).length() < 0.01, "{above}");
}

#[test]
fn mad_input_changes_nothing() {
    let walls = world(vec![]);
    for mode in [NavigationMode::Fly, NavigationMode::Orbit, NavigationMode::Walk] {
        let mut camera = walker(&walls, DVec3::new(0.0, 1.7, 0.0));
        camera.set_mode(mode);
        let before = camera.update(&Input::default(), 0.0);
        let mad = Input {
            movement: DVec3::NAN,
            turn: DVec2::INFINITY,
            pan: DVec2::NAN,
            dolly: f64::NAN,
            speed_factor: f64::INFINITY,
        };
        for dt in [f64::NAN, f64::INFINITY, -1.0, 0.0] {
            assert_eq!(camera.update(&mad, dt), before);
        }
        let huge = Input {
            movement: DVec3::splat(1e300),
            speed_factor: 1e300,
            dolly: 1e300,
            pan: DVec2::MAX,
            turn: DVec2::MAX,
        };
        let pose = camera.update(&huge, 1e300);
        assert!(pose.position.is_finite() && pose.yaw.is_finite() && pose.pitch.abs() < PI / 2.0);
    }
    let mut camera = Controller::new(CameraPose::default(), f64::NAN);
    camera.set_mode(NavigationMode::Walk);
    assert_eq!(camera.mode(), NavigationMode::Fly, "nothing to walk on");
}
