//! Camera paths: those of the demos start at the demo's camera, and pass no surface.

use glam::{DVec3, Vec3};
use sunny16::{
    bvh::{Ray, SceneBvh},
    scene::procedural::demos::Demo,
    session::{CameraPath, OpenRequest, OpenScene},
};

/// Minimum distance of a path from surfaces, in 26 directions (m).
const CLEARANCE: f64 = 0.04;

pub fn assert_path_passes_no_surface(demo: Demo, opened: &OpenScene, request: &OpenRequest) {
    let path = CameraPath::of(request).unwrap();
    assert_eq!(path.duration(), 4.0, "{}", demo.name);
    let start = opened.camera.0.w_axis.truncate();
    assert!(path.at(0.0).0.distance(start) < 1e-9, "{}: starts at {start}", demo.name);
    let ahead = path.transform(0.0).z_axis.dot(opened.camera.0.z_axis);
    assert!(ahead > 0.999, "{}: another direction at its start", demo.name);

    let bvh = SceneBvh::new(&opened.scene, |_| true);
    let mut length = 0.0;
    let mut before = path.at(0.0).0;
    for frame in 0..=240 {
        let time = f64::from(frame) / 60.0;
        let (at, target) = path.at(time);
        assert!(at.distance(target) > 0.1, "{} at {time} s: too near its target", demo.name);
        let top = bvh.tlas_from(at);
        let is_free = |to: DVec3| {
            !bvh.occluded(
                &top,
                &Ray {
                    origin: Vec3::ZERO,
                    direction: to.as_vec3(),
                    t_min: 0.0,
                    t_max: 1.0,
                    offset_normal: Vec3::ZERO,
                },
            )
        };
        if before != at {
            assert!(is_free(before - at), "{} passes a surface at {time} s", demo.name);
        }
        for direction in 0..27 {
            let sign = |digit: i32| f64::from(direction / digit % 3 - 1);
            let to = DVec3::new(sign(1), sign(3), sign(9)).normalize_or_zero() * CLEARANCE;
            let free = to == DVec3::ZERO || is_free(to);
            assert!(free, "{} at {time} s: a surface within {CLEARANCE} m, {at}", demo.name);
        }
        length += before.distance(at);
        before = at;
    }
    assert!(length > 0.15, "{}: moves by {length} m only", demo.name);
}

#[test]
fn a_path_passes_its_keyframes_smoothly() {
    let text = "\
        [[keyframe]]\ntime = 0\nposition = [0, 0, 5]\ntarget = [0, 0, 0]\n\
        [[keyframe]]\ntime = 1\nposition = [1, 0, 5]\ntarget = [0, 1, 0]\n\
        [[keyframe]]\ntime = 3\nposition = [3, 0, 5]\ntarget = [0, 3, 0]\n";
    let path = CameraPath::parse(text).unwrap();
    assert_eq!(path.duration(), 3.0);
    // Positions of constant velocity are kept between keyframes of unequal intervals.
    for step in 0..=30 {
        let time = f64::from(step) / 10.0;
        let (position, target) = path.at(time);
        assert!(position.distance(DVec3::new(time, 0.0, 5.0)) < 1e-12, "{time}: {position}");
        assert!(target.distance(DVec3::new(0.0, time, 0.0)) < 1e-12, "{time}: {target}");
    }
    // Clamped to its ends.
    assert_eq!(path.at(-1.0), path.at(0.0));
    assert_eq!(path.at(9.0), path.at(3.0));
    // The camera looks along -Z at the target.
    let world = path.transform(2.0);
    let (position, target) = path.at(2.0);
    assert!((-world.z_axis.truncate()).dot((target - position).normalize()) > 1.0 - 1e-12);
}
