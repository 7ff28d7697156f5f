use std::{f64::consts::FRAC_PI_2, sync::Arc};

use glam::{DMat4, DQuat, DVec3, Vec3};

use super::{
    Animation, AnimationChannel, AnimationSelection, AnimationTarget, Deform, Influences,
    Interpolation, Keyframes, LightValue, MaterialValue, MorphTarget, Skin, Trs, ValueTarget,
};
use crate::scene::{Material, Mesh, Node, Primitive, Scene};

fn keys(interpolation: Interpolation, times: &[f32], width: usize, values: &[f32]) -> Keyframes {
    Keyframes { interpolation, times: times.to_vec(), width, values: values.to_vec() }
}

#[test]
fn keys_hold_before_the_first_and_after_the_last() {
    for interpolation in [Interpolation::Linear, Interpolation::Step] {
        let keys = keys(interpolation, &[1.0, 3.0], 1, &[10.0, 20.0]);
        for (time, want) in [(-5.0, 10.0), (0.0, 10.0), (1.0, 10.0), (3.0, 20.0), (9.0, 20.0)] {
            assert_eq!(keys.sample(time), [want], "{interpolation:?} at {time}");
        }
    }
    // In-tangent, value, out-tangent: tangents have no effect outside of the keys.
    let spline =
        keys(Interpolation::CubicSpline, &[1.0, 3.0], 1, &[9.0, 10.0, 7.0, 5.0, 20.0, 3.0]);
    assert_eq!(
        [spline.sample(0.5), spline.sample(1.0), spline.sample(3.0), spline.sample(4.0)].concat(),
        [10.0, 10.0, 20.0, 20.0]
    );
    assert_eq!(keys(Interpolation::Linear, &[2.0], 1, &[7.0]).sample(2.0), [7.0], "a single key");
}

#[test]
fn linear_goes_straight_and_steps_wait_for_the_next_key() {
    let linear = keys(Interpolation::Linear, &[0.0, 1.0, 4.0], 2, &[0.0, 8.0, 2.0, 4.0, 5.0, 1.0]);
    assert_eq!(linear.sample(0.25), [0.5, 7.0]);
    for (got, want) in linear.sample(2.0).into_iter().zip([3.0, 3.0]) {
        assert!((got - want).abs() < 1e-14);
    }
    let step = keys(Interpolation::Step, &[0.0, 1.0, 4.0], 1, &[1.0, 2.0, 3.0]);
    assert_eq!(step.sample(0.999_999), [1.0]);
    assert_eq!(step.sample(1.0), [2.0]);
    assert_eq!(step.sample(3.999_999), [2.0]);
}

/// Appendix C.5 with t = 0.5 over two seconds: v = (p0 + p1) / 2 + dt (m0 - m1) / 8. Any cubic is
/// reproduced exactly.
#[test]
fn splines_are_those_of_appendix_c() {
    let spline =
        keys(Interpolation::CubicSpline, &[1.0, 3.0], 1, &[99.0, 4.0, 2.0, -6.0, 10.0, 99.0]);
    let middle = spline.sample(2.0)[0];
    assert!((middle - ((4.0 + 10.0) / 2.0 + 2.0 * (2.0 + 6.0) / 8.0)).abs() < 1e-12, "{middle}");
    let f = |x: f64| 0.5 * x * x * x - 2.0 * x * x + 3.0 * x - 1.0;
    let d = |x: f64| 1.5 * x * x - 4.0 * x + 3.0;
    let of = |x: f64| [d(x) as f32, f(x) as f32, d(x) as f32];
    let cubic = keys(
        Interpolation::CubicSpline,
        &[0.0, 2.0, 3.0],
        1,
        &[of(0.0), of(2.0), of(3.0)].concat(),
    );
    for step in 0..=30 {
        let x = f64::from(step) / 10.0;
        assert!((cubic.sample(x)[0] - f(x)).abs() < 1e-6, "{x}");
    }
}

#[test]
fn extremes_are_those_of_all_times() {
    let tracks = [
        (Interpolation::Linear, vec![2.0, -1.0, 4.0]),
        (Interpolation::Step, vec![2.0, -1.0, 4.0]),
        (Interpolation::CubicSpline, vec![0.0, 0.2, 9.0, -3.0, 0.9, 0.0, 0.0, 0.5, 1.0]),
        (Interpolation::CubicSpline, vec![0.0, 1.0, 0.0, 0.0, 1.0, -8.0, 4.0, 1.0, 0.0]),
    ];
    for (interpolation, values) in tracks {
        let keys = keys(interpolation, &[0.5, 2.5, 3.0], 1, &values);
        let [low, high] = keys.extremes();
        let all: Vec<f64> = (0..=30_000).map(|i| keys.sample(f64::from(i) * 1e-4)[0]).collect();
        let sampled = [
            all.iter().copied().fold(f64::INFINITY, f64::min),
            all.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        ];
        assert!((low - sampled[0]).abs() < 1e-6, "{interpolation:?}: {low} for {sampled:?}");
        assert!((high - sampled[1]).abs() < 1e-6, "{interpolation:?}: {high} for {sampled:?}");
    }
}

/// Values at and beyond an end of the range give the same scene; a value within gives another.
#[test]
fn ranges_are_those_that_values_are_clamped_to() {
    let materials = [
        MaterialValue::BaseColor,
        MaterialValue::Metallic,
        MaterialValue::Roughness,
        MaterialValue::OcclusionStrength,
        MaterialValue::EmissiveFactor(1.0),
        MaterialValue::Transmission,
        MaterialValue::Thickness,
        MaterialValue::AttenuationColor,
        MaterialValue::Dispersion,
        MaterialValue::Specular,
        MaterialValue::SpecularColor,
        MaterialValue::Clearcoat,
        MaterialValue::ClearcoatRoughness,
        MaterialValue::SheenColor,
        MaterialValue::SheenRoughness,
        MaterialValue::Anisotropy,
        MaterialValue::Iridescence,
        MaterialValue::IridescenceIor,
        MaterialValue::IridescenceThicknessMinimum,
        MaterialValue::IridescenceThicknessMaximum,
        MaterialValue::DiffuseTransmission,
        MaterialValue::DiffuseTransmissionColor,
    ];
    let targets = materials.map(|value| ValueTarget::Material(0, value));
    for target in targets {
        let [min, max] = target.range().unwrap();
        let at = |value: f64| {
            let mut scene = Scene { materials: vec![Material::default()], ..Scene::default() };
            super::value::apply(&mut scene, &[(target, glam::DVec4::splat(value))]);
            format!("{:?}", scene.materials)
        };
        assert_eq!(at(min), at(min - 0.25), "{target:?}");
        assert_ne!(at(min), at(min + 0.25), "{target:?}");
        if max <= 1.0 {
            assert_eq!(at(max), at(max + 0.25), "{target:?}");
            assert_ne!(at(max), at(max - 0.25), "{target:?}");
        }
    }
    assert_eq!(ValueTarget::Light(0, LightValue::Color).range(), Some([0.0, 1.0]));
    assert_eq!(ValueTarget::Material(0, MaterialValue::NormalScale).range(), None);
}

#[test]
fn rotations_take_the_shorter_way_at_a_constant_speed() {
    let (a, b) = (DQuat::from_rotation_y(0.2), DQuat::from_rotation_y(1.4));
    for sign in [1.0, -1.0] {
        let [p, q] = [a, b * sign].map(|q| q.to_array().map(|x| x as f32));
        let keys = keys(Interpolation::Linear, &[0.0, 3.0], 4, &[p, q].concat());
        for (time, angle) in [(0.75, 0.5), (1.5, 0.8), (2.25, 1.1)] {
            let got = keys.rotation(time);
            assert!(
                got.angle_between(DQuat::from_rotation_y(angle)) < 1e-6,
                "{sign} {time}: {got}"
            );
            assert!((got.length() - 1.0).abs() < 1e-12);
        }
    }
    // Keys that are not of unit length are normalized; opposite and zero keys give a unit
    // quaternion.
    for values in [
        [0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, -2.0],
        [0.0; 8],
        [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
    ] {
        let q = keys(Interpolation::Linear, &[0.0, 1.0], 4, &values).rotation(0.5);
        assert!((q.length() - 1.0).abs() < 1e-12, "{values:?}");
    }
    let p = a.to_array().map(|x| x as f32);
    let q = b.to_array().map(|x| x as f32);
    let spline = keys(
        Interpolation::CubicSpline,
        &[0.0, 1.0],
        4,
        &[[0.0; 4], p, [0.0; 4], [0.0; 4], q, [0.0; 4]].concat(),
    );
    let middle = spline.rotation(0.5);
    assert!(
        (middle.length() - 1.0).abs() < 1e-12
            && middle.angle_between(DQuat::from_rotation_y(0.8)) < 1e-6
    );
}

fn moving(target: AnimationTarget, keys: Keyframes) -> Animation {
    let duration = keys.end();
    Animation {
        name: "move".into(),
        duration,
        channels: vec![AnimationChannel { target, keys: Arc::new(keys) }],
        motion: None,
    }
}

fn arm() -> Scene {
    // A root at (1, 0, 0), an arm 2 m above it, and a mesh bound at their rest pose.
    let root = Trs { translation: DVec3::X, ..Trs::default() };
    let arm = Trs { translation: DVec3::new(0.0, 2.0, 0.0), ..Trs::default() };
    let node = |trs: Trs| Node { local: trs.matrix(), trs: Some(trs), ..Node::default() };
    let deform = Deform {
        positions: vec![Vec3::ZERO, Vec3::new(0.0, 2.0, 0.0), Vec3::new(0.0, 4.0, 0.0)],
        normals: vec![Vec3::X; 3],
        influences: Some(Influences {
            first: vec![0, 1, 3, 4],
            joints: vec![0, 0, 1, 1],
            weights: vec![1.0, 0.5, 0.5, 1.0],
        }),
        ..Deform::default()
    };
    let primitive = Primitive {
        indices: vec![0, 1, 2],
        deform: Some(Arc::new(deform)),
        ..Primitive::default()
    };
    Scene {
        nodes: vec![
            Node { children: vec![1], ..node(root) },
            Node { parent: Some(0), ..node(arm) },
            Node { mesh: Some(0), skin: Some(0), ..Node::default() },
        ],
        roots: vec![0, 2],
        meshes: vec![Mesh { name: String::new(), primitives: vec![primitive] }],
        skins: vec![Skin {
            name: String::new(),
            joints: vec![0, 1],
            inverse_bind: vec![
                DMat4::from_translation(-DVec3::X),
                DMat4::from_translation(DVec3::new(-1.0, -2.0, 0.0)),
            ],
        }],
        ..Scene::default()
    }
}

fn in_world(scene: &Scene) -> Vec<DVec3> {
    let world = scene.nodes[2].local;
    scene.meshes[0].primitives[0]
        .positions
        .iter()
        .map(|p| world.transform_point3(p.as_dvec3()))
        .collect()
}

#[test]
fn joints_carry_vertices_by_their_weights() {
    let mut scene = arm();
    let half = (FRAC_PI_2 / 2.0).sin_cos();
    let turn = [0.0, 0.0, half.0 as f32, half.1 as f32];
    scene.animations.push(moving(
        AnimationTarget::Rotation(1),
        keys(Interpolation::Linear, &[0.0, 1.0], 4, &[[0.0, 0.0, 0.0, 1.0], turn].concat()),
    ));
    let rest = scene.at(&AnimationSelection::Auto, 0.0);
    for (got, want) in
        in_world(&rest).into_iter().zip([DVec3::ZERO, DVec3::Y * 2.0, DVec3::Y * 4.0])
    {
        assert!((got - want).length() < 1e-6, "at rest: {got} {want}");
    }
    // The arm turned left by a right angle around (1, 2, 0): x' = 1 - (y - 2), y' = 2 + (x - 1).
    let bent = scene.at(&AnimationSelection::Auto, 1.0);
    let turned = |p: DVec3| DVec3::new(1.0 - (p.y - 2.0), 2.0 + (p.x - 1.0), 0.0);
    let middle = DVec3::Y * 2.0;
    let want = [DVec3::ZERO, (middle + turned(middle)) / 2.0, turned(DVec3::Y * 4.0)];
    for (got, want) in in_world(&bent).into_iter().zip(want) {
        assert!((got - want).length() < 1e-6, "{got} {want}");
    }
    let normals = &bent.meshes[0].primitives[0].normals;
    assert!((normals[2] - Vec3::Y).length() < 1e-6, "{}", normals[2]);
    assert!((normals[1] - Vec3::new(1.0, 1.0, 0.0).normalize()).length() < 1e-6, "{}", normals[1]);
    // The transform of the node that carries the mesh has no effect.
    scene.nodes[2].local = DMat4::from_translation(DVec3::splat(77.0));
    assert_eq!(in_world(&scene.at(&AnimationSelection::Auto, 1.0)), in_world(&bent));
}

#[test]
fn a_skeleton_far_from_the_origin_keeps_its_digits() {
    let mut scene = arm();
    let far = DVec3::new(1e7, 0.0, -3e6);
    scene.nodes[0].trs = Some(Trs { translation: DVec3::X + far, ..Trs::default() });
    scene.nodes[0].local = DMat4::from_translation(DVec3::X + far);
    scene.apply(&super::ScenePose::default());
    scene.bake();
    for (got, want) in
        in_world(&scene).into_iter().zip([DVec3::ZERO, DVec3::Y * 2.0, DVec3::Y * 4.0])
    {
        assert!((got - far - want).length() < 1e-6, "{got}");
    }
}

#[test]
fn normals_are_carried_by_the_inverse_transpose() {
    let deform = Deform {
        positions: vec![Vec3::ZERO],
        normals: vec![Vec3::new(1.0, 1.0, 0.0).normalize()],
        influences: Some(Influences { first: vec![0, 1], joints: vec![0], weights: vec![1.0] }),
        ..Deform::default()
    };
    let stretch = DMat4::from_scale(DVec3::new(4.0, 1.0, 1.0));
    let got = deform.shape(&[], &[stretch]).normals[0];
    assert!((got - Vec3::new(0.25, 1.0, 0.0).normalize()).length() < 1e-6, "{got}");
    // Flattened, mirrored and non-finite matrices leave finite unit normals.
    for matrix in [
        DMat4::from_scale(DVec3::new(1.0, 0.0, 1.0)),
        DMat4::from_scale(DVec3::new(-1.0, 1.0, 1.0)),
        DMat4::from_scale(DVec3::splat(1e300)),
        DMat4::ZERO,
    ] {
        let shape = deform.shape(&[], &[matrix]);
        assert!(
            shape.positions[0].is_finite() && (shape.normals[0].length() - 1.0).abs() < 1e-5,
            "{matrix}"
        );
    }
}

#[test]
fn morph_weights_add_offsets() {
    let target =
        |offset: Vec3| MorphTarget { positions: vec![offset; 3], ..MorphTarget::default() };
    let positions = vec![Vec3::ZERO, Vec3::X, Vec3::Y];
    let mut deform = Deform {
        normals: vec![Vec3::Z; 3],
        positions: positions.clone(),
        targets: vec![target(Vec3::X), target(Vec3::Y)],
        ..Deform::default()
    };
    let shape = deform.shape(&[0.5, -2.0], &[]);
    for (got, base) in shape.positions.iter().zip(&positions) {
        assert!((*got - *base - Vec3::new(0.5, -2.0, 0.0)).length() < 1e-6);
    }
    assert_eq!(deform.shape(&[0.0, 0.0], &[]).positions, positions);
    // A flat triangle that is flipped gets the opposite normal.
    deform.flat = true;
    deform.targets = vec![MorphTarget {
        positions: vec![Vec3::ZERO, Vec3::X * -2.0, Vec3::ZERO],
        ..MorphTarget::default()
    }];
    assert_eq!(deform.shape(&[1.0], &[]).normals, [Vec3::NEG_Z; 3]);
}

#[test]
fn animations_loop_and_are_chosen() {
    let mut scene = Scene {
        nodes: vec![Node::default(), Node::default()],
        roots: vec![0, 1],
        ..Scene::default()
    };
    let along = |node| {
        moving(
            AnimationTarget::Translation(node),
            keys(Interpolation::Linear, &[0.0, 2.0], 3, &[0.0, 0.0, 0.0, 4.0, 0.0, 0.0]),
        )
    };
    scene.animations = vec![along(0), along(1)];
    let x = |play: &AnimationSelection, time: f64| {
        let posed = scene.at(play, time);
        [posed.nodes[0].local.w_axis.x, posed.nodes[1].local.w_axis.x]
    };
    assert_eq!(x(&AnimationSelection::Auto, 1.0), [2.0, 2.0], "no common target: both play");
    assert_eq!(x(&AnimationSelection::Index(1), 1.0), [0.0, 2.0]);
    assert_eq!(x(&AnimationSelection::Index(7), 1.0), [0.0, 0.0]);
    assert_eq!(x(&AnimationSelection::All, 2.0), [4.0, 4.0], "the end does not wrap");
    assert!((x(&AnimationSelection::All, 5.0)[0] - 2.0).abs() < 1e-12, "half a loop later");
    assert_eq!(x(&AnimationSelection::All, f64::NAN), [0.0, 0.0]);
    let mut both = scene.clone();
    both.animations = vec![along(0), along(0)];
    assert_eq!(
        both.selected_animations(&AnimationSelection::Auto),
        [0],
        "animations with a common target are alternatives"
    );
    assert_eq!(scene.animation("move"), Some(0));
    assert_eq!(scene.animation("1"), Some(1));
    assert_eq!(scene.animation("2"), None);
}

#[test]
fn parts_of_a_matrix_make_it_again() {
    for scale in [DVec3::ONE, DVec3::new(2.0, 0.5, 3.0), DVec3::new(-1.0, 2.0, 1.0)] {
        let trs = Trs {
            translation: DVec3::new(1.0, 2.0, 3.0),
            rotation: DQuat::from_euler(glam::EulerRot::XYZ, 0.3, -1.1, 2.0),
            scale,
        };
        let again = Trs::of_matrix(&trs.matrix()).matrix();
        assert!(again.abs_diff_eq(trs.matrix(), 1e-12), "{scale}");
    }
    assert!(Trs::of_matrix(&DMat4::ZERO).matrix().is_finite());
}
