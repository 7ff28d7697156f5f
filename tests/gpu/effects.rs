//! Camera effects against closed forms: lens, shutter and sensor applied to known light.

use crate::common::{
    Place, add_square, emissive_material, exposed, green, parallel, pass_names, perspective,
    pixel_ray, renderer, squares, total,
};
use glam::{DMat4, DVec3, Vec2, Vec3};
use sunny16::{
    camera::{
        CameraEffects, Iris, ThinLens,
        body::Shutter,
        effect_models::{Grain, glare_within},
        effects::{Bloom, ChromaticAberration, DepthOfField, MotionBlur, Starburst, Vignetting},
    },
    frame::{AntiAliasing, RenderSettings, RenderedImage, Renderer, limits::FrameLimits},
    gpu_scene::View,
    optics::{
        Rim,
        focus::{circle_of_confusion, to_pixels},
    },
    scene::{
        AlphaMode, Material, Projection, Scene, Specular,
        build::{SceneBuilder, look_at_transform},
        look::Look,
        procedural::shapes,
    },
};

const SIZE: (u32, u32) = (320, 240);
const GATE: f64 = 0.036;

/// One effect alone.
macro_rules! only {
    ($effect:ident: $value:expr) => {
        CameraEffects { $effect: Some($value), ..CameraEffects::default() }
    };
}

/// Picture width over the image distance of a 50 mm lens at infinity, and its vertical field of
/// view.
fn camera(size: (u32, u32)) -> View {
    let fov = 2.0 * (GATE / 2.0 / 0.05 * f64::from(size.1) / f64::from(size.0)).atan();
    perspective(DVec3::ZERO, DVec3::NEG_Z, fov as f32, 0.01, size)
}

/// Squares that each fill one pixel: pixel, and distance along the axis.
fn points(view: &View, at: &[((usize, usize), f64)], nits: Vec3) -> Scene {
    let mut builder = SceneBuilder::new("points");
    for &((x, y), distance) in at {
        let (_, along) = pixel_ray(view, x, y);
        let point = along * (distance / -along.z);
        let pixel = distance * GATE / 0.05 / f64::from(view.width);
        add_square(&mut builder, point, pixel * 0.9, nits);
    }
    builder.build().unwrap()
}

fn render(
    renderer: &mut Renderer,
    scene: &Scene,
    view: &View,
    effects: CameraEffects,
    white: f64,
) -> RenderedImage {
    let settings = RenderSettings { effects, ..exposed(white, 1.0) };
    let picture = crate::common::picture(renderer, scene, view, &settings);
    assert!(picture.nits.iter().flatten().all(|value| value.is_finite()));
    picture
}

fn lens(millimeters: f64, f_stop: f64) -> ThinLens {
    ThinLens::new(millimeters * 1e-3, f_stop).unwrap()
}

fn field(lens: ThinLens, focus: f64) -> DepthOfField {
    DepthOfField { lens, focus, gate_width: GATE, iris: Iris::default(), rim: None }
}

/// A camera with this velocity (m/s), over 1/50 s.
fn moving(velocity: DVec3) -> MotionBlur {
    MotionBlur { exposure: 0.02, shutter: Shutter::Global, velocity, rotation: DVec3::ZERO }
}

/// Full width at half of the plateau along a row, linearly interpolated between pixels.
fn width_along(picture: &RenderedImage, row: usize, level: f64) -> f64 {
    let line: Vec<f64> = green(picture)[row * picture.width..][..picture.width].to_vec();
    let first = line.iter().position(|&v| v > level).expect("a disc");
    let last = line.iter().rposition(|&v| v > level).expect("a disc");
    let part = |inside: f64, outside: f64| (inside - level) / (inside - outside);
    (last - first) as f64 + part(line[first], line[first - 1]) + part(line[last], line[last + 1])
}

#[test]
fn point_out_of_focus_is_a_disk_of_the_analytic_diameter() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let size = (640, 480);
    let view = camera(size);
    let nits = 1e6;
    let (mut worst, mut worst_light, mut worst_flat) = (0f64, 0f64, 0f64);
    for (focal_length, f_stop, focus, distance) in [
        (50.0, 2.0, 2.0, 4.0),
        (50.0, 2.0, 2.0, 1e6),
        (50.0, 2.0, 2.0, 1.0),
        (50.0, 2.0, 2.0, 0.6),
        (50.0, 1.4, 1.0, 3.0),
        (50.0, 2.8, 1.0, 2.0),
        (50.0, 8.0, 1.0, 2.0),
        (50.0, 16.0, 1.0, 2.0),
        (85.0, 1.4, 1.0, 2.0),
        (85.0, 1.4, 1.0, 0.6),
        (135.0, 2.0, 1.5, 20.0),
    ] {
        let lens = lens(focal_length, f_stop);
        let scene = points(&view, &[((320, 240), distance)], Vec3::splat(nits as f32));
        let sharp = render(&mut renderer, &scene, &view, CameraEffects::default(), 100.0);
        let effects = only!(depth_of_field: field(lens, focus));
        let blurred = render(&mut renderer, &scene, &view, effects, 100.0);
        let signed = circle_of_confusion(lens, focus, distance).unwrap();
        let want = to_pixels(signed.abs(), GATE, size.0);
        let values = green(&blurred);
        let plateau = values[240 * 640 + 320];
        // By its width and by its area.
        let width = width_along(&blurred, 240, plateau / 2.0);
        let area = 2.0 * (total(&blurred) / plateau / std::f64::consts::PI).sqrt();
        let light = total(&blurred) / total(&sharp) - 1.0;
        println!(
            "{focal_length} mm f/{f_stop}, focus {focus} m, point at {distance} m: {want:.2} px, width {width:.2}, by area {area:.2}, light {:+.2} %",
            light * 100.0
        );
        worst = worst.max((width - want).abs()).max((area - want).abs());
        worst_light = worst_light.max(light.abs());
        let inner = want / 2.0 - 1.5;
        for (index, value) in values.iter().enumerate() {
            let (x, y) = ((index % 640) as f64 - 320.0, (index / 640) as f64 - 240.0);
            if x.hypot(y) < inner {
                worst_flat = worst_flat.max((value / plateau - 1.0).abs());
            }
        }
    }
    println!(
        "worst diameter {worst:.2} px, light {:.2} %, unevenness {:.2} %",
        worst_light * 100.0,
        worst_flat * 100.0
    );
    assert!(worst < 1.0, "{worst} px");
    assert!(worst_light < 0.01 && worst_flat < 0.005, "{worst_light} {worst_flat}");
}

#[test]
fn blades_and_rim_shape_the_disk_and_conserve_energy() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let view = camera(SIZE);
    let lens = lens(135.0, 2.0);
    let nits = Vec3::splat(1e6);
    let with = |iris: Iris, rim: Option<Rim>| only!(depth_of_field: DepthOfField { iris, rim, ..field(lens, 2.0) });
    let center = points(&view, &[((160, 120), 1e5)], nits);
    let round = render(&mut renderer, &center, &view, with(Iris::default(), None), 100.0);
    let pentagon = Iris { blades: 5, curvature: 0.0, rotation: std::f64::consts::FRAC_PI_2 };
    let five = render(&mut renderer, &center, &view, with(pentagon, None), 100.0);
    assert!(
        (total(&five) / total(&round) - 1.0).abs() < 0.02,
        "{} {}",
        total(&five),
        total(&round)
    );
    // A corner points up, so the middle of a side points down: r up, r cos(36 degrees) down.
    let radius = to_pixels(circle_of_confusion(lens, 2.0, 1e5).unwrap(), GATE, SIZE.0) / 2.0;
    let values = green(&five);
    let plateau = values[120 * 320 + 160];
    let reach = |step: isize, values: &[f64]| {
        (0..120)
            .take_while(|i| {
                values[((120 + step * *i as isize) * 320 + 160) as usize] > plateau / 2.0
            })
            .count() as f64
    };
    let (up, down) = (reach(-1, &values), reach(1, &values));
    println!("pentagon of radius {radius:.2}: {up} up, {down} down");
    assert!((up - radius).abs() <= 1.0 && (down - radius * 36f64.to_radians().cos()).abs() <= 1.0);
    // In front of the focus it is inverted.
    let near = points(&view, &[((160, 120), 1.0)], nits);
    let values = green(&render(&mut renderer, &near, &view, with(pentagon, None), 100.0));
    assert!(reach(1, &values) > reach(-1, &values), "a foreground's disc is turned by half a turn");

    // Towards the right border, a rim as wide as the pupil leaves a lens-shaped disk, narrower
    // across than along.
    let rim = Rim { radius: lens.aperture_diameter() / 2.0, distance: 0.2 };
    let right = points(&view, &[((270, 120), 1e5)], nits);
    let open = render(&mut renderer, &right, &view, with(Iris::default(), None), 100.0);
    let cut = render(&mut renderer, &right, &view, with(Iris::default(), Some(rim)), 100.0);
    assert!((total(&cut) / total(&open) - 1.0).abs() < 0.02, "{} {}", total(&cut), total(&open));
    let plateau = green(&cut)[120 * 320 + 269];
    let across = width_along(&cut, 120, plateau / 2.0);
    let shift =
        110.5 * GATE / 320.0 / lens.image_distance(2.0).unwrap() * rim.distance / rim.radius;
    println!("rim: {across:.2} px across for {:.2}", radius * (2.0 - shift));
    assert!((across - radius * (2.0 - shift)).abs() < 1.0);
}

#[test]
fn focused_edges_stay_sharp_and_uniform_light_stays_uniform() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let view = camera(SIZE);
    // A square in focus that covers the left half, before a far brighter wall.
    let scene = squares(&[
        (DVec3::new(-5.0, 0.0, -2.0), 10.0, Vec3::splat(10.0)),
        (DVec3::new(0.0, 0.0, -20.0), 100.0, Vec3::splat(100.0)),
    ]);
    let effects = only!(depth_of_field: field(lens(50.0, 1.4), 2.0));
    let picture = render(&mut renderer, &scene, &view, effects, 100.0);
    let row = &green(&picture)[120 * 320..121 * 320];
    println!("edge in focus: {:?}", &row[156..164]);
    assert!(
        (row[159] - 10.0).abs() < 0.2 && (row[160] - 100.0).abs() < 2.0,
        "{:?}",
        &row[156..164]
    );
    // No darkening or ringing, also at the picture's border.
    for (x, value) in row.iter().enumerate() {
        let want = if x < 160 { 10.0 } else { 100.0 };
        assert!((value / want - 1.0).abs() < 0.02, "pixel {x}: {value}");
    }

    // A bright square in front of the focus bleeds over the background in focus by half its circle;
    // its edge is at half.
    for focal_length in [50.0, 100.0, 135.0] {
        let lens = lens(focal_length, 1.4);
        let effects = only!(depth_of_field: field(lens, 2.0));
        let scene = squares(&[
            (DVec3::new(-2.5, 0.0, -1.0), 5.0, Vec3::splat(100.0)),
            (DVec3::new(0.0, 0.0, -2.0), 100.0, Vec3::splat(10.0)),
        ]);
        let picture = render(&mut renderer, &scene, &view, effects, 100.0);
        let row = &green(&picture)[120 * 320..121 * 320];
        let radius =
            to_pixels(circle_of_confusion(lens, 2.0, 1.0).unwrap().abs(), GATE, SIZE.0) / 2.0;
        let around: Vec<f64> = row[140..180].iter().map(|v| v.round()).collect();
        let mut worst = 0f64;
        for (x, value) in row.iter().enumerate() {
            // The fraction of a disk of that radius left of a line.
            let d = ((x as f64 + 0.5 - 160.0) / radius).clamp(-1.0, 1.0);
            let covered = (d.acos() - d * (1.0 - d * d).sqrt()) / std::f64::consts::PI;
            worst = worst.max((value - (10.0 + 90.0 * covered)).abs() / 90.0);
        }
        println!(
            "edge before the focus, radius {radius:.1}: worst {:.2} % of its height, {around:?}",
            worst * 100.0
        );
        assert!(worst < 0.05, "{worst}");
    }

    // A wall of uniform luminance, far, near, and slanted through the focus, stays uniform to the
    // last pixel.
    for (distance, slant) in [(20.0, 0.0), (0.8, 0.0), (2.0, 1.2)] {
        let mut builder = SceneBuilder::new("wall");
        let turn = DMat4::from_rotation_x(std::f64::consts::FRAC_PI_2 - slant);
        builder.place(
            shapes::plane(Vec2::splat(400.0), 1, 1),
            emissive_material(Vec3::splat(100.0)),
            DMat4::from_translation(DVec3::new(0.0, 0.0, -distance)) * turn,
        );
        let picture = render(&mut renderer, &builder.build().unwrap(), &view, effects, 100.0);
        let values = green(&picture);
        let (low, high) = values.iter().fold((f64::MAX, 0f64), |(l, h), &v| (l.min(v), h.max(v)));
        println!("wall at {distance} m, {slant} rad: {low:.2} to {high:.2} nit");
        assert!(low > 98.0 && high < 101.0, "{low} {high}");
    }
}

/// A wall whose left half is dark.
fn half_lit(distance: f64) -> Scene {
    squares(&[(DVec3::new(50.0, 0.0, -distance), 100.0, Vec3::splat(100.0))])
}

/// From the last value below 2 % of the step to the first above 98 %, and the position of its
/// midpoint.
fn edge(row: &[f64], low: f64, high: f64) -> (f64, f64) {
    let at = |part: f64| {
        let level = low + part * (high - low);
        let x = row.iter().position(|&v| v > level).expect("an edge");
        x as f64 - 0.5 + 1.0 - (row[x] - level) / (row[x] - row[x.saturating_sub(1)]).max(1e-9)
    };
    // A box's edge is a ramp: from half at its middle to the whole.
    ((at(0.75) - at(0.25)) * 2.0, at(0.5))
}

#[test]
fn motion_blurs_an_edge_by_velocity_times_shutter_time() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let view = camera(SIZE);
    let scene = half_lit(5.0);
    let pixels_per_meter = 0.05 / 5.0 / GATE * 320.0;
    let still = moving(DVec3::ZERO);
    let blurred = |renderer: &mut Renderer, blur: MotionBlur| {
        let effects = only!(motion_blur: blur);
        render(renderer, &scene, &view, effects, 100.0)
    };
    for speed in [1.0, 3.0, 10.0] {
        let blur = moving(DVec3::new(speed, 0.0, 0.0));
        let picture = blurred(&mut renderer, blur);
        let want = speed * 0.02 * pixels_per_meter;
        let (width, middle) = edge(&green(&picture)[120 * 320..121 * 320], 0.0, 100.0);
        let light = total(&picture) / (160.0 * 240.0 * 100.0) - 1.0;
        println!(
            "{speed} m/s: {want:.2} px, measured {width:.2}, middle {middle:.2}, light {:+.2} %",
            light * 100.0
        );
        assert!((width - want).abs() < 1.0, "{width} {want}");
        assert!((middle - 160.0).abs() < 0.6 && light.abs() < 0.005, "{middle} {light}");
    }
    // Rotating: at the picture's center, the image distance times the angle.
    let blur = MotionBlur { rotation: DVec3::new(0.0, 1.5, 0.0), ..still };
    let (width, _) = edge(&green(&blurred(&mut renderer, blur))[120 * 320..121 * 320], 0.0, 100.0);
    let want = 2.0 * (1.5 * 0.01_f64).tan() * 0.05 / GATE * 320.0;
    println!("1.5 rad/s: {want:.2} px, measured {width:.2}");
    assert!((width - want).abs() < 1.0, "{width} {want}");

    // A rolling shutter shears a vertical edge by its motion during the readout.
    let skew = MotionBlur {
        exposure: 0.001,
        shutter: Shutter::Rolling { readout: 0.02 },
        velocity: DVec3::new(3.0, 0.0, 0.0),
        ..still
    };
    let values = green(&blurred(&mut renderer, skew));
    let (_, top) = edge(&values[..320], 0.0, 100.0);
    let (_, bottom) = edge(&values[239 * 320..], 0.0, 100.0);
    let want = 3.0 * 0.02 * pixels_per_meter * 239.0 / 240.0;
    println!("rolling: top {top:.2}, bottom {bottom:.2}, {want:.2} px apart");
    assert!(
        (top - bottom - want).abs() < 1.0,
        "the camera moves to the right, the scene to the left"
    );
}

#[test]
fn near_motion_blurs_over_a_static_background() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let view = camera(SIZE);
    // A camera that moves sideways: at a thousand times the distance, the background is static.
    let scene = squares(&[
        (DVec3::new(-5.0, 0.0, -5.0), 10.0, Vec3::splat(100.0)),
        (DVec3::new(0.0, 0.0, -5000.0), 20_000.0, Vec3::splat(10.0)),
    ]);
    let blur = moving(DVec3::new(10.0, 0.0, 0.0));
    let effects = only!(motion_blur: blur);
    let picture = render(&mut renderer, &scene, &view, effects, 100.0);
    let row = &green(&picture)[120 * 320..121 * 320];
    let want = 0.2 * 0.05 / 5.0 / GATE * 320.0;
    // Downwards: seen from the right.
    let turned: Vec<f64> = row.iter().rev().copied().collect();
    let (width, middle) = edge(&turned, 10.0, 100.0);
    println!(
        "near edge: {want:.2} px, measured {width:.2}, middle {middle:.2}: {:?}",
        &row[148..172]
    );
    assert!((width - want).abs() < 1.5 && (middle - 160.0).abs() < 1.0, "{width} {middle}");
}

#[test]
fn bloom_conserves_energy() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    // Sides that are no powers of two.
    let view = camera((301, 203));
    let scene = points(&view, &[((150, 101), 5.0)], Vec3::splat(1e5));
    let sharp = render(&mut renderer, &scene, &view, CameraEffects::default(), 100.0);
    for fraction in [0.01, 0.3, 1.0] {
        let effects = only!(bloom: Bloom { fraction, width: 0.72 });
        let picture = render(&mut renderer, &scene, &view, effects, 100.0);
        let light = total(&picture) / total(&sharp) - 1.0;
        let stays = green(&picture)[101 * 301 + 150] / total(&sharp);
        // Energy scattered beyond the pixel's border and within the picture: to a circle of the
        // same area as each.
        let within = |pixels: f64| glare_within((pixels * 0.72 / 301.0).atan());
        let area = |pixels: f64| (pixels / std::f64::consts::PI).sqrt();
        let leaves = within(area(301.0 * 203.0)) - within(area(1.0));
        println!(
            "bloom {fraction}: light {:+.3} %, {stays:.4} stays, {:.4} by the function",
            light * 100.0,
            1.0 - fraction * leaves
        );
        assert!(light.abs() < 0.005, "{light}");
        assert!((stays - (1.0 - fraction * leaves)).abs() < 0.002 + 0.1 * fraction, "{stays}");
        // It falls off isotropically and monotonically.
        let values = green(&picture);
        let at = |x: usize, y: usize| values[y * 301 + x];
        for d in [4usize, 10, 30, 60] {
            let ring = [at(150 + d, 101), at(150 - d, 101), at(150, 101 + d), at(150, 101 - d)];
            let (low, high) = ring.iter().fold((f64::MAX, 0f64), |(l, h), &v| (l.min(v), h.max(v)));
            assert!(high < 2.0 * low, "{d} pixels out: {ring:?}");
            assert!(at(150 + d, 101) < at(150 + d / 2, 101));
        }
    }
    // A uniform field stays uniform up to the border.
    let scene = squares(&[(DVec3::new(0.0, 0.0, -5.0), 100.0, Vec3::splat(100.0))]);
    let effects = only!(bloom: Bloom { fraction: 0.5, width: 0.72 });
    let picture = render(&mut renderer, &scene, &view, effects, 100.0);
    let off = green(&picture).iter().map(|v| (v / 100.0 - 1.0).abs()).fold(0.0, f64::max);
    println!("even field: {:.3} %", off * 100.0);
    assert!(off < 0.002, "{off}");
}

#[test]
fn vignetting_is_exact_for_each_pixel() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let view = camera(SIZE);
    let scene = squares(&[(DVec3::new(0.0, 0.0, -5.0), 100.0, Vec3::splat(100.0))]);
    let flat = green(&render(&mut renderer, &scene, &view, CameraEffects::default(), 100.0))[0];
    let pupil = lens(50.0, 1.4).aperture_diameter() / 2.0;
    let natural = Vignetting { exponent: 4.0, width: 0.72, pupil_radius: pupil, rim: None };
    let cut = Vignetting { rim: Some(Rim { radius: pupil * 1.1, distance: 0.03 }), ..natural };
    for vignetting in [natural, cut] {
        let effects = only!(vignetting: vignetting);
        let picture = render(&mut renderer, &scene, &view, effects, 100.0);
        let mut worst = 0f64;
        for (index, value) in green(&picture).iter().enumerate() {
            let (x, y) = ((index % 320) as f64 + 0.5 - 160.0, (index / 320) as f64 + 0.5 - 120.0);
            let want = vignetting.at(x.hypot(y) * 0.72 / 320.0);
            // In f64: a half float alone is accurate to 0.05 %, or 0.1 % truncated.
            worst = worst.max((value / flat / want - 1.0).abs());
        }
        let corner = green(&picture)[0] / flat;
        println!("vignetting: corner {corner:.4}, worst {:.3} %", worst * 100.0);
        assert!(worst < 0.001 + 1.0 / 1024.0, "{worst}");
        assert!(corner < 0.8);
    }
    let corner = (160f64.hypot(120.0) * 0.72 / 320.0).atan().cos().powi(4);
    assert!((natural.at(160f64.hypot(120.0) * 0.72 / 320.0) - corner).abs() < 1e-12);
}

#[test]
fn chromatic_aberration_scales_red_and_blue_about_the_center() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let view = camera(SIZE);
    let center_of = |values: &[f64]| {
        let sum: f64 = values.iter().sum();
        values.iter().enumerate().map(|(x, v)| (x as f64 + 0.5) * v).sum::<f64>() / sum
    };
    let amount = 0.02;
    let effects = only!(chromatic_aberration: ChromaticAberration { red_over_blue: amount });
    for x in [160.0, 240.0, 300.0] {
        // A square some pixels wide, so that its centroid is that of its image.
        let mut builder = SceneBuilder::new("square");
        let pixel = 5.0 * 0.72 / 320.0;
        add_square(
            &mut builder,
            DVec3::new((x - 160.0) * pixel, 0.0, -5.0),
            16.0 * pixel,
            Vec3::splat(100.0),
        );
        let scene = builder.build().unwrap();
        let picture = render(&mut renderer, &scene, &view, effects, 100.0);
        let sharp = render(&mut renderer, &scene, &view, CameraEffects::default(), 100.0);
        let channel = |picture: &RenderedImage, c: usize| -> Vec<f64> {
            picture.nits[120 * 320..121 * 320].iter().map(|v| f64::from(v[c])).collect()
        };
        assert_eq!(channel(&picture, 1), channel(&sharp, 1), "green stays");
        let [red, green, blue] = [0, 1, 2].map(|c| center_of(&channel(&picture, c)) - 160.0);
        println!("at {:.2} px: red {red:.3}, blue {blue:.3}", green);
        assert!((red - green * (1.0 + amount / 2.0)).abs() < 0.05, "{red} {green}");
        assert!((blue - green * (1.0 - amount / 2.0)).abs() < 0.05, "{blue} {green}");
    }
}

#[test]
fn grain_keeps_the_mean_and_grows_with_iso() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let view = camera(SIZE);
    // 100 nit where 200 is white: an exposed value of a half.
    let scene = squares(&[(DVec3::new(0.0, 0.0, -5.0), 100.0, Vec3::splat(100.0))]);
    let shot = |iso: f64| Grain::of_sensor(1.2e-6, iso);
    let statistics = |picture: &RenderedImage| {
        let values: Vec<f64> =
            picture.nits.iter().flatten().map(|&v| f64::from(v) / 200.0).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64;
        (mean, variance.sqrt())
    };
    let mut deviations = Vec::new();
    for iso in [100.0, 1600.0] {
        // Without read noise, which depends on ISO differently.
        let grain = Grain { read: 0.0, ..shot(iso) };
        let effects = only!(grain: grain);
        let picture = render(&mut renderer, &scene, &view, effects, 200.0);
        let (mean, deviation) = statistics(&picture);
        println!(
            "ISO {iso}: mean {:+.3} %, deviation {deviation:.5}, wanted {:.5}",
            (mean / 0.5 - 1.0) * 100.0,
            grain.deviation(0.5)
        );
        // The standard error of a mean of n pixels is deviation / sqrt(n).
        let known = 3.0 * deviation / (picture.nits.len() as f64 * 3.0).sqrt();
        assert!((mean - 0.5).abs() < 0.5 * 0.001 + known, "{mean}");
        assert!((deviation / grain.deviation(0.5) - 1.0).abs() < 0.01, "{deviation}");
        deviations.push(deviation);
        // The same frame number gives the same grain; another, another.
        let settings = RenderSettings { effects, ..exposed(200.0, 1.0) };
        let again = crate::common::picture(&mut renderer, &scene, &view, &settings);
        assert_eq!(again.nits, picture.nits);
        let next = crate::common::picture(
            &mut renderer,
            &scene,
            &view,
            &RenderSettings { frame_number: 1, ..settings },
        );
        let same = next.nits.iter().zip(&picture.nits).filter(|(a, b)| a == b).count();
        assert!(same < 100, "{same} pixels of frame 1 are those of frame 0");
        // Neighboring pixels are uncorrelated.
        let values: Vec<f64> =
            picture.nits.iter().map(|v| f64::from(v[1]) / 200.0 - mean).collect();
        let correlation = |step: usize| {
            values.iter().zip(&values[step..]).map(|(a, b)| a * b).sum::<f64>()
                / values.len() as f64
                / deviation.powi(2)
        };
        assert!(
            correlation(1).abs() < 0.015
                && correlation(320).abs() < 0.015
                && correlation(321).abs() < 0.015
        );
    }
    assert!((deviations[1] / deviations[0] - 4.0).abs() < 0.05, "{deviations:?}");
}

#[test]
fn disabled_effects_have_no_passes() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let view = camera((64, 48));
    let scene = half_lit(5.0);
    let on_device = renderer.upload(&scene).unwrap();
    let mut names = |effects: CameraEffects| -> Vec<String> {
        let settings = RenderSettings { effects, ..RenderSettings::default() };
        pass_names(&renderer.plan(&on_device, &view, &settings).unwrap())
    };
    let without = names(CameraEffects::default());
    assert!(
        !without
            .iter()
            .any(|name| ["depth of field", "velocity", "bloom"].iter().any(|e| name.contains(e))),
        "{without:?}"
    );
    let lens = lens(50.0, 2.0);
    let blur = moving(DVec3::X);
    let vignetting = Vignetting { exponent: 4.0, width: 0.7, pupil_radius: 0.01, rim: None };
    let starburst = Starburst {
        iris: Iris::default(),
        f_number: 8.0,
        gate_width: GATE,
        squeeze: 1.0,
        dust: 0.0,
        scratches: 0.0,
        seed: 0,
        points: true,
    };
    for (effects, marks) in [
        (only!(depth_of_field: field(lens, 2.0)), &["depth of field"][..]),
        (only!(motion_blur: blur), &["motion blur", "velocity"]),
        (only!(starburst: starburst), &["starburst", "flare sources"]),
        (only!(bloom: Bloom { fraction: 0.01, width: 0.7 }), &["bloom"]),
        (only!(vignetting: vignetting), &["vignetting"]),
        (
            only!(chromatic_aberration: ChromaticAberration { red_over_blue: 0.01 }),
            &["chromatic aberration"],
        ),
        (only!(grain: Grain::of_sensor(6e-6, 100.0)), &["grain"]),
    ] {
        let with = names(effects);
        let (own, others): (Vec<&String>, Vec<&String>) =
            with.iter().partition(|name| marks.iter().any(|mark| name.contains(mark)));
        assert!(!own.is_empty(), "{with:?}");
        assert_eq!(
            others,
            without.iter().collect::<Vec<_>>(),
            "{marks:?} adds its own passes and nothing else"
        );
    }
    drop(on_device);
}

/// Pictures of one 36 x 24 mm sensor behind 50 mm: two resolutions, and an aspect that shows 13.5
/// mm of its width.
const SWEEP: [(u32, u32); 3] = [(96, 64), (192, 128), (72, 128)];

/// A picture of the sweep: its camera, the width of sensor (mm) that it shows, and a pixel's width.
struct Swept {
    size: (u32, u32),
    view: View,
    gate: f64,
    pixel: f64,
}

impl Swept {
    fn all() -> [Self; 3] {
        SWEEP.map(|size| {
            let aspect = f64::from(size.0) / f64::from(size.1);
            let gate = f64::min(36.0, 24.0 * aspect);
            let fov = 2.0 * (gate / aspect / 100.0).atan();
            Self {
                size,
                view: perspective(DVec3::ZERO, DVec3::NEG_Z, fov as f32, 0.01, size),
                gate,
                pixel: gate / f64::from(size.0),
            }
        })
    }

    /// Each pixel's position from the picture's center (mm on the sensor, right and down), and its
    /// value.
    fn places<'a>(&'a self, values: &'a [f64]) -> impl Iterator<Item = ((f64, f64), f64)> + 'a {
        let (width, height) = (self.size.0 as usize, f64::from(self.size.1));
        values.iter().enumerate().map(move |(index, &value)| {
            let (x, y) = ((index % width) as f64 + 0.5, (index / width) as f64 + 0.5);
            (((x - width as f64 / 2.0) * self.pixel, (y - height / 2.0) * self.pixel), value)
        })
    }
}

/// A square at a position on the sensor (mm right and up), with a side (mm), 5 m away.
fn on_sensor(x: f64, y: f64, side: f64, nits: f32) -> Scene {
    squares(&[(DVec3::new(x / 10.0, y / 10.0, -5.0), side / 10.0, Vec3::splat(nits))])
}

/// Effects are in millimeters on the sensor or in angles, independent of resolution and aspect.
/// Ghosts and starbursts have their own sweeps (`lens_ghosts`, `starburst`).
#[test]
fn effects_keep_their_size_at_any_resolution() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    for swept in Swept::all() {
        let Swept { size, view, gate, pixel } = &swept;
        let (gate, pixel) = (*gate, *pixel);

        // Bloom: the veil in rings about a light of 0.75 mm, by the kernel's energy between their
        // angles.
        let lamp = on_sensor(0.0, 0.0, 0.75, 1e4);
        let sharp = total(&render(&mut renderer, &lamp, view, CameraEffects::default(), 100.0));
        let effects = only!(bloom: Bloom { fraction: 1.0, width: gate / 50.0 });
        let picture = render(&mut renderer, &lamp, view, effects, 100.0);
        assert!(
            (total(&picture) / sharp - 1.0).abs() < 0.005,
            "{size:?}: {} {sharp}",
            total(&picture)
        );
        for (from, to) in [(3.0, 4.0), (4.0, 6.0)] {
            let values = green(&picture);
            let ring = |(x, y): (f64, f64)| (from..to).contains(&x.hypot(y));
            let inside: Vec<f64> =
                swept.places(&values).filter(|(at, _)| ring(*at)).map(|(_, value)| value).collect();
            let veil = inside.iter().sum::<f64>() / inside.len() as f64;
            let energy =
                glare_within((to / 50.0_f64).atan()) - glare_within((from / 50.0_f64).atan());
            let want =
                sharp * energy * pixel * pixel / (std::f64::consts::PI * (to * to - from * from));
            println!("{size:?}: veil at {from} to {to} mm {veil:.4} nit for {want:.4}");
            assert!((veil / want - 1.0).abs() < 0.06, "{size:?}: {veil} {want}");
        }

        // Depth of field: the disk at infinity, 4.886 mm.
        let lens = lens(135.0, 2.0);
        let field = DepthOfField { gate_width: gate * 1e-3, ..field(lens, 2.0) };
        let mut builder = SceneBuilder::new("far");
        let far = 1e4;
        add_square(
            &mut builder,
            DVec3::new(0.1875e-3, 0.1875e-3, -0.05) * (far / 0.05),
            0.375e-3 * far / 0.05,
            Vec3::splat(1e6),
        );
        let point = builder.build().unwrap();
        let sharp = total(&render(&mut renderer, &point, view, CameraEffects::default(), 1e4));
        let effects = only!(depth_of_field: field);
        let picture = render(&mut renderer, &point, view, effects, 1e4);
        let want = circle_of_confusion(lens, 2.0, far).unwrap() * 1e3;
        let plateau = green(&picture)[(size.1 / 2 * size.0 + size.0 / 2) as usize];
        let disc = 2.0 * (total(&picture) / plateau / std::f64::consts::PI).sqrt() * pixel;
        let light = total(&picture) / sharp - 1.0;
        println!("{size:?}: disc {disc:.3} mm for {want:.3}, light {:+.2} %", light * 100.0);
        assert!(
            (disc / want - 1.0).abs() < 0.05 && light.abs() < 0.05,
            "{size:?}: {disc} {want} {light}"
        );
        assert_eq!(picture.limits, FrameLimits::default());

        // Motion blur: 20 m/s over 1/50 s at 5 m, 4 mm.
        let sideways = moving(DVec3::new(20.0, 0.0, 0.0));
        let effects = only!(motion_blur: sideways);
        let picture = render(&mut renderer, &half_lit(5.0), view, effects, 100.0);
        let row = (size.1 / 2 * size.0) as usize;
        let (width, _) = edge(&green(&picture)[row..row + size.0 as usize], 0.0, 100.0);
        println!("{size:?}: edge over {:.3} mm", width * pixel);
        assert!((width * pixel - 4.0).abs() < pixel, "{size:?}: {}", width * pixel);
        assert_eq!(picture.limits, FrameLimits::default());

        // Chromatic aberration: red is 2 % larger, 0.1 mm at 5 mm.
        let square = on_sensor(5.0, 0.0, 1.5, 100.0);
        let aberration = ChromaticAberration { red_over_blue: 0.04 };
        let effects = only!(chromatic_aberration: aberration);
        let picture = render(&mut renderer, &square, view, effects, 100.0);
        let middle = |channel: usize| {
            let values: Vec<f64> = picture.nits.iter().map(|c| f64::from(c[channel])).collect();
            swept.places(&values).map(|((x, _), value)| x * value).sum::<f64>()
                / values.iter().sum::<f64>()
        };
        let [red, middle_green, blue] = [0, 1, 2].map(middle);
        println!("{size:?}: red {red:.3}, green {middle_green:.3}, blue {blue:.3} mm");
        assert!(
            (red - middle_green * 1.02).abs() < 0.1 * pixel
                && (blue - middle_green * 0.98).abs() < 0.1 * pixel
        );

        // Vignetting: each pixel by its own field angle.
        let wall = on_sensor(0.0, 0.0, 100.0, 100.0);
        let pupil = lens.aperture_diameter() / 2.0;
        let rim = Some(Rim { radius: pupil * 1.1, distance: 0.05 });
        let vignetting = Vignetting { exponent: 4.0, width: gate / 50.0, pupil_radius: pupil, rim };
        let effects = only!(vignetting: vignetting);
        let values = green(&render(&mut renderer, &wall, view, effects, 100.0));
        let off = |((x, y), value): ((f64, f64), f64)| {
            (value / 100.0 / vignetting.at(x.hypot(y) / 50.0) - 1.0).abs()
        };
        let worst = swept.places(&values).map(off).fold(0.0, f64::max);
        println!("{size:?}: vignetting off by {:.3} %", worst * 100.0);
        assert!(worst < 0.001 + 2.0 / 1024.0, "{size:?}: {worst}");

        // Grain: the same number of electrons per square micrometer, so a square millimeter has the
        // same noise.
        let look = Look::of(["camera.body.sensor=36x24", "effects.grain.iso=10000000"]).unwrap();
        let camera = look.physical_camera();
        let grain = camera.camera_effects(None, [size.0, size.1]).unwrap().grain;
        let effects = CameraEffects { grain, ..CameraEffects::default() };
        let values = green(&render(&mut renderer, &wall, view, effects, 200.0));
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let variance =
            values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64 / 4e4;
        // At half of saturation, with read noise; the relative error of a variance of n values is
        // sqrt(2 / n).
        let electrons = 1400e6 * 100.0 / 1e7 * pixel * pixel;
        let want = 0.5 / electrons + 9.0 / (electrons * electrons);
        println!("{size:?}: variance {variance:.4e} for {want:.4e}");
        assert!(
            (variance / want - 1.0).abs() < 0.01 + 4.0 * (2.0 / values.len() as f64).sqrt(),
            "{size:?}"
        );

        // Active limits are reported: motion of 12 mm, at least 32 pixels, and circles of 19.5 mm.
        let fast = moving(DVec3::new(60.0, 0.0, 0.0));
        let wide = DepthOfField { lens: self::lens(135.0, 0.5), ..field };
        for (effects, wanted, part) in [
            (only!(motion_blur: fast), 12.0, f64::from(size.1) / 4.0),
            (only!(depth_of_field: wide), 9.772, f64::from(size.0.min(size.1)) / 2.0),
        ] {
            let limits = render(&mut renderer, &half_lit(5.0), view, effects, 100.0).limits;
            let acted = if effects.motion_blur.is_some() {
                limits.motion_blur
            } else {
                limits.depth_of_field
            };
            let wanted = wanted / pixel;
            println!("{size:?}: {:?}", limits.warnings());
            match acted {
                Some(acted) => {
                    assert!(
                        (f64::from(acted.requested) / wanted - 1.0).abs() < 0.01,
                        "{acted:?} {wanted}"
                    );
                    assert!((f64::from(acted.clamped) - part).abs() < 0.5, "{acted:?} {part}");
                }
                None => assert!(wanted <= part, "{size:?}: {wanted} of {part} was not told"),
            }
        }
    }
}

/// Distances do not depend on the far plane, nor on the near plane of a parallel projection.
#[test]
fn motion_blur_tells_surfaces_apart_by_distance() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let size = (96, 64);
    let blur = moving(DVec3::new(20.0, 0.0, 0.0));
    let effects = only!(motion_blur: blur);
    // A wall with two luminances, rotated so that its left side reaches the far plane.
    let mut builder = SceneBuilder::new("slanted");
    for (x, nits) in [(-50.0, 20.0), (50.0, 100.0)] {
        let turn = DMat4::from_rotation_y(-0.2) * DMat4::from_translation(DVec3::new(x, 0.0, 0.0));
        let place = DMat4::from_translation(DVec3::new(0.0, 0.0, -5.0)) * turn;
        builder.place(
            shapes::plane(Vec2::splat(100.0), 1, 1),
            emissive_material(Vec3::splat(nits)),
            place * DMat4::from_rotation_x(std::f64::consts::FRAC_PI_2),
        );
    }
    let scene = builder.build().unwrap();
    let pictures = [None, Some(5.42)].map(|far| {
        let projection =
            Projection::Perspective { vertical_fov: 0.45, aspect: None, near: 0.01, far };
        let view =
            View::new(look_at_transform(DVec3::ZERO, DVec3::NEG_Z), &projection, size.0, size.1);
        green(&render(&mut renderer, &scene, &view, effects, 100.0))
    });
    let off =
        pictures[0].iter().zip(&pictures[1]).map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, f64::max);
    println!("far plane: pictures differ by {:.3} %", off * 100.0);
    assert!(off < 0.005, "{off}");

    // Two walls, 5 and 5.5 m away, in a parallel projection that ends at 6 m and at 6 km.
    let scene = squares(&[
        (DVec3::new(-5.0, 0.0, -5.0), 10.0, Vec3::splat(100.0)),
        (DVec3::new(0.0, 0.0, -5.5), 100.0, Vec3::splat(20.0)),
    ]);
    let pictures = [6.0, 6000.0].map(|far| {
        let view = parallel(DVec3::ZERO, DVec3::NEG_Z, 2.0, far, size);
        green(&render(&mut renderer, &scene, &view, effects, 100.0))
    });
    let off =
        pictures[0].iter().zip(&pictures[1]).map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, f64::max);
    println!("parallel: pictures differ by {:.3} %", off * 100.0);
    assert!(off < 0.005, "{off}");
}

#[test]
fn extreme_settings_give_finite_pictures() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let lens = lens(300.0, 0.5);
    let effects = CameraEffects {
        depth_of_field: Some(DepthOfField {
            iris: Iris { blades: 3, curvature: 0.3, rotation: 1.0 },
            rim: Some(Rim { radius: 0.3, distance: 9.0 }),
            ..field(lens, 0.31)
        }),
        motion_blur: Some(MotionBlur {
            exposure: 100.0,
            shutter: Shutter::Rolling { readout: 50.0 },
            velocity: DVec3::new(0.0, 100.0, 1000.0),
            rotation: DVec3::new(1.0, 2.0, 30.0),
        }),
        starburst: Some(Starburst {
            iris: Iris { blades: 3, curvature: 0.3, rotation: 1.0 },
            f_number: 1e3,
            gate_width: GATE,
            squeeze: 0.25,
            dust: 1.0,
            scratches: 1.0,
            seed: 7,
            points: true,
        }),
        bloom: Some(Bloom { fraction: 1.0, width: 1e-6 }),
        chromatic_aberration: Some(ChromaticAberration { red_over_blue: 0.05 }),
        vignetting: Some(Vignetting {
            exponent: 8.0,
            width: 50.0,
            pupil_radius: 0.3,
            rim: Some(Rim { radius: 0.3, distance: 9.0 }),
        }),
        grain: Some(Grain::of_sensor(1e-7, 1e6)),
    };
    for size in [(1, 1), (3, 2), (50, 7)] {
        let scene = squares(&[
            (DVec3::new(0.0, 0.0, -0.4), 0.1, Vec3::splat(1e9)),
            (DVec3::new(0.0, 0.0, -40.0), 20.0, Vec3::splat(1e-4)),
        ]);
        let view = View::new(
            look_at_transform(DVec3::ZERO, DVec3::NEG_Z),
            &Projection::Perspective { vertical_fov: 0.5, aspect: None, near: 0.01, far: None },
            size.0,
            size.1,
        );
        render(&mut renderer, &scene, &view, effects, 100.0);
    }
}

/// Half floats end at 65504, and so does every value that a pass writes. Blending may still sum two
/// of them to infinity; every reader clamps that to the maximum. (A driver that truncates makes no
/// infinite sums: this test is for those that round to nearest.)
#[test]
fn blended_sums_are_clamped_to_half_floats() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    // White is 100 nits: 65504 times that is the maximum, which this square and half of this pane
    // exceed each.
    let (white, nits) = (100.0, Vec3::splat(1e9));
    let mut builder = SceneBuilder::new("sum");
    add_square(&mut builder, DVec3::new(0.0, 0.0, -10.0), 30.0, nits);
    let pane = Material {
        alpha: AlphaMode::Blend,
        base_color: Vec3::ZERO.extend(0.5),
        specular: Specular { factor: 0.0, ..Specular::default() },
        ..emissive_material(nits)
    };
    let turn = DMat4::from_rotation_x(std::f64::consts::FRAC_PI_2);
    builder.place(
        shapes::plane(Vec2::splat(10.0), 1, 1),
        pane,
        DMat4::from_translation(DVec3::NEG_Z * 3.0) * turn,
    );
    let scene = builder.build().unwrap();
    let view = camera((48, 32));
    let lens = lens(50.0, 2.0);
    let blur = moving(DVec3::X);
    let chroma = ChromaticAberration { red_over_blue: 0.01 };
    let vignetting = Vignetting { exponent: 1e-9, width: 0.7, pupil_radius: 0.01, rim: None };
    let none = CameraEffects::default();
    for (name, effects) in [
        ("nothing", none),
        ("depth of field", only!(depth_of_field: field(lens, 2.0))),
        ("a foreground out of focus", only!(depth_of_field: field(lens, 8.0))),
        ("motion blur", only!(motion_blur: blur)),
        ("bloom", only!(bloom: Bloom { fraction: 0.01, width: 0.7 })),
        ("chromatic aberration", only!(chromatic_aberration: chroma)),
        ("vignetting", only!(vignetting: vignetting)),
    ] {
        let picture = render(&mut renderer, &scene, &view, effects, white);
        // Away from the border, beyond which bloom and blur have no data.
        let middle = green(&picture)[16 * 48 + 12..][..24].to_vec();
        let (least, most) =
            middle.iter().fold((f64::MAX, 0.0f64), |(low, high), &v| (low.min(v), high.max(v)));
        println!("{name}: {least:.0} to {most:.0} nits");
        assert!(
            least > 0.97 * 65504.0 * white && most < 1.001 * 65504.0 * white,
            "{name}: {least} to {most}"
        );
    }
    for anti_aliasing in [AntiAliasing::Morphological, AntiAliasing::Temporal] {
        let settings = RenderSettings { anti_aliasing, ..exposed(white, 1.0) };
        let picture = crate::common::picture(&mut renderer, &scene, &view, &settings);
        let off =
            green(&picture).iter().map(|v| (v / (65504.0 * white) - 1.0).abs()).fold(0.0, f64::max);
        assert!(off < 0.03, "{anti_aliasing:?}: {off}");
    }
}
