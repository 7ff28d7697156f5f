//! Direct light by a fixed number of shadow rays a pixel, against rays to every light.

use crate::common::{Place, exposure_for, gpu, long, perspective, picture, renderer};
use glam::{DMat4, DQuat, DVec3, Vec2, Vec3};
use sunny16::{
    frame::{
        Aov, ClusteredLightSettings, FrameSample, RenderSettings, RenderedImage, Renderer,
        ShadowSettings,
    },
    gpu_scene::View,
    photometry::{
        Candela, Lux, Nit,
        lights::{Cone, Emitter, LightStrength, Sides, SpotFlux},
    },
    scene::{
        AlphaMode, Material, Sampler, Scene,
        build::{SceneBuilder, dielectric, look_at_transform},
        look::{ShadowMethod, ShadowSampling},
        procedural::{shapes, textures},
    },
};

/// Exposed luminance of white in these pictures (nits).
const WHITE: f64 = 300.0;
/// Rounding of half floats: each of three sums may be truncated by the driver.
const HALF_STEPS: f32 = 3.0 / 1024.0;

fn settings(sampling: ShadowSampling, rays: u32) -> RenderSettings {
    let shadows = ShadowSettings {
        method: ShadowMethod::Traced,
        sampling,
        rays,
        denoise: false,
        ..ShadowSettings::default()
    };
    RenderSettings { shadows, exposure: exposure_for(WHITE, 1.0), ..RenderSettings::default() }
}

fn exact() -> RenderSettings {
    settings(ShadowSampling::Exact, 2)
}

fn budget(rays: u32) -> RenderSettings {
    settings(ShadowSampling::Budget, rays)
}

fn view(size: (u32, u32)) -> View {
    perspective(DVec3::new(1.2, 1.9, 2.4), DVec3::new(0.1, 0.2, -0.2), 0.8, 0.01, size)
}

fn matte() -> Material {
    Material { double_sided: true, ..dielectric("matte", Vec3::new(0.5, 0.45, 0.4), 0.6) }
}

fn light(builder: &mut SceneBuilder, emitter: Emitter, nits: f64, color: Vec3, at: DVec3) {
    let strength = LightStrength::Nits(Nit(nits));
    builder.light("light", emitter, strength, color, look_at_transform(at, DVec3::ZERO));
}

fn sun(builder: &mut SceneBuilder, angular_radius: f64, lux: f64) {
    let pose = look_at_transform(DVec3::new(2.0, 3.0, 1.0), DVec3::ZERO);
    let strength = LightStrength::Lux(Lux(lux));
    builder.light("sun", Emitter::Sun { angular_radius }, strength, Vec3::ONE, pose);
}

/// Soft lights of all shapes and of several colors, above a floor and what stands on it.
fn soft_lights(builder: &mut SceneBuilder) {
    let (warm, cold) = (Vec3::new(1.4, 0.95, 0.5), Vec3::new(0.6, 1.0, 1.7));
    light(builder, Emitter::Sphere { radius: 0.25 }, 900.0, warm, DVec3::new(-1.5, 1.6, 0.8));
    let panel = Emitter::Rectangle { width: 0.8, height: 0.5, sides: Sides::One };
    light(builder, panel, 700.0, cold, DVec3::new(1.6, 1.8, -0.6));
    let disk = Emitter::Disk { radius: 0.3, sides: Sides::Two };
    light(builder, disk, 600.0, Vec3::new(0.7, 1.15, 0.6), DVec3::new(0.2, 2.2, 1.4));
    let tube = Emitter::Tube { radius: 0.04, length: 0.9 };
    light(builder, tube, 2500.0, Vec3::ONE, DVec3::new(-0.4, 1.5, -1.6));
    sun(builder, 0.04, 120.0);
}

fn floor(builder: &mut SceneBuilder) {
    builder.floor(12.0, matte());
}

fn blocks(builder: &mut SceneBuilder) {
    floor(builder);
    let cube = builder.add_material(matte());
    for (turn, at) in [
        (0.4, DVec3::new(0.0, 0.25, 0.0)),
        (1.0, DVec3::new(0.9, 0.8, -0.4)),
        (2.0, DVec3::new(-0.8, 0.6, -0.3)),
    ] {
        let pose = DMat4::from_rotation_translation(DQuat::from_rotation_y(turn), at);
        builder.place(shapes::cuboid(Vec3::splat(0.5)), cube, pose);
    }
}

fn scene(parts: impl IntoIterator<Item = fn(&mut SceneBuilder)>) -> Scene {
    let mut builder = SceneBuilder::new("budget");
    parts.into_iter().for_each(|part| part(&mut builder));
    builder.build().unwrap()
}

/// Largest difference of two pictures in all channels, relative to the greater value or to a
/// thousandth of white.
fn worst(a: &RenderedImage, b: &RenderedImage) -> f32 {
    let values = |picture: &RenderedImage| picture.nits.clone().into_iter().flatten();
    let dark = (WHITE * 1e-3) as f32;
    values(a).zip(values(b)).map(|(a, b)| (a - b).abs() / a.abs().max(b.abs()).max(dark)).fold(
        0.0,
        |worst: f32, difference| {
            // NaN fails every bound.
            if difference <= worst { worst } else { difference }
        },
    )
}

fn lit_share(picture: &RenderedImage) -> f64 {
    let lit = picture.nits.iter().filter(|light| light[1] > 1e-3 * WHITE as f32).count();
    lit as f64 / picture.nits.len() as f64
}

#[test]
fn unshadowed_light_is_exact() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let scene = scene([floor as fn(&mut SceneBuilder), soft_lights]);
    let view = view((96, 60));
    let reference = picture(&mut renderer, &scene, &view, &exact());
    assert!(lit_share(&reference) > 0.6);
    for rays in [1, 2, 7] {
        let sampled = picture(&mut renderer, &scene, &view, &budget(rays));
        let worst = worst(&sampled, &reference);
        println!("{rays} rays: worst difference {worst:.2e}");
        assert!(worst <= HALF_STEPS, "{rays} rays: {worst}");
    }
}

/// One light without a size is chosen by all rays, so its hard shadows are exact too, those of alpha
/// masks included. Those of a blended surface are in the mean: its random cutoffs differ.
#[test]
fn hard_shadows_and_alpha_masks_are_exact() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let leaf = |builder: &mut SceneBuilder, alpha: AlphaMode| {
        let image = textures::picture(64, 64, |u, v| {
            let (x, y) = (u * 3.0 - 1.5, v * 3.0 - 1.5);
            [0.2, 0.6, 0.1, (1.4 - (x * x + y * y) * 2.0).clamp(0.0, 1.0)]
        });
        let texture = builder.add_texture("leaf", image, Sampler::default());
        let reference = SceneBuilder::texture_ref(texture);
        let leaf = Material { alpha, base_color_texture: Some(reference), ..matte() };
        let at = DVec3::new(-0.3, 1.0, 0.3);
        builder.place(shapes::plane(Vec2::splat(1.2), 3, 3), leaf, at);
    };
    let view = view((160, 100));
    for (alpha, directional) in [
        (AlphaMode::Mask { cutoff: 0.5 }, false),
        (AlphaMode::Mask { cutoff: 0.5 }, true),
        (AlphaMode::Blend, false),
    ] {
        let mut builder = SceneBuilder::new("leaf");
        blocks(&mut builder);
        leaf(&mut builder, alpha);
        if directional {
            sun(&mut builder, 0.0, 1000.0);
        } else {
            let at = DVec3::new(-1.0, 2.6, 1.1);
            builder.point_light_candela("lamp", Candela(900.0), Vec3::ONE, at);
        }
        let scene = builder.build().unwrap();
        let reference = picture(&mut renderer, &scene, &view, &exact());
        let sampled = picture(&mut renderer, &scene, &view, &budget(2));
        let (worst, lit) = (worst(&sampled, &reference), lit_share(&reference));
        let mean = differences(&sampled, &reference)[1];
        println!(
            "{alpha:?}, directional {directional}: worst {worst:.2e}, mean {mean:.2e}, lit {lit:.2}"
        );
        assert!((0.3..0.97).contains(&lit), "{lit}");
        if alpha == AlphaMode::Blend {
            // About 1,500 pixels of 16,000, each of a variance of at most 3 / 8: a fifth of this.
            assert!(mean.abs() < 0.01, "{mean}");
        } else {
            assert!(worst <= HALF_STEPS, "{alpha:?}: {worst}");
        }
    }
}

/// Sums over frames of the light of 8x8 blocks, by channel.
struct Blocks {
    sums: Vec<[f64; 2]>,
    frames: f64,
}

impl Blocks {
    fn render(
        renderer: &mut Renderer,
        scene: &Scene,
        view: &View,
        settings: &RenderSettings,
        count: u32,
    ) -> Self {
        let on_device = renderer.upload_for(scene, &settings.shadows).unwrap();
        let columns = view.width as usize / 8;
        let mut sums = vec![[0.0; 2]; columns * (view.height as usize / 8) * 3];
        for number in 0..count {
            let frame =
                RenderSettings { sample: Some(FrameSample { number, count }), ..settings.clone() };
            let picture = renderer.render(&on_device, view, &frame).unwrap();
            let mut means = vec![0.0; sums.len()];
            for (i, light) in picture.nits.iter().enumerate() {
                let (x, y) = (i % picture.width / 8, i / picture.width / 8);
                for (channel, value) in light.iter().enumerate() {
                    means[(y * columns + x) * 3 + channel] += f64::from(*value) / 64.0;
                }
            }
            for (sum, mean) in sums.iter_mut().zip(means) {
                *sum = [sum[0] + mean, sum[1] + mean * mean];
            }
        }
        Self { sums, frames: f64::from(count) }
    }

    fn mean(&self, block: usize) -> f64 {
        self.sums[block][0] / self.frames
    }

    /// Variance of the mean over the frames. It counts the frames as independent; their noise is
    /// better distributed than that, and part of it is the antialiasing of edges.
    fn variance(&self, block: usize) -> f64 {
        let mean = self.mean(block);
        (self.sums[block][1] / self.frames - mean * mean).max(0.0) / self.frames
    }

    fn total(&self) -> [f64; 2] {
        let all = 0..self.sums.len();
        all.fold([0.0; 2], |sum, block| [sum[0] + self.mean(block), sum[1] + self.variance(block)])
    }

    /// Deviation from a reference. `check` gets each block with its deviation and its standard
    /// deviation, relative to the reference or to 2 % of white.
    fn against(&self, reference: &Self, check: impl Fn(usize, f64, f64)) -> Deviation {
        let ([got, noise], [want, other_noise]) = (self.total(), reference.total());
        let (mut worst, mut sigmas) = (0.0f64, 0.0);
        for block in 0..self.sums.len() {
            let want = reference.mean(block).max(0.02 * WHITE);
            let sigma = (self.variance(block) + reference.variance(block)).sqrt() / want;
            let off = (self.mean(block) - reference.mean(block)).abs() / want;
            worst = worst.max(off);
            sigmas += sigma / self.sums.len() as f64;
            check(block, off, sigma);
        }
        Deviation {
            off: got / want - 1.0,
            sigma: (noise + other_noise).sqrt() / want,
            worst,
            sigmas,
        }
    }
}

/// Relative deviation of blocks from a reference.
struct Deviation {
    /// Of the mean of all.
    off: f64,
    /// Its standard deviation.
    sigma: f64,
    /// The greatest of a block.
    worst: f64,
    /// Mean standard deviation of blocks.
    sigmas: f64,
}

#[test]
fn mean_of_frames_is_unbiased_in_penumbrae() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let scene = scene([blocks as fn(&mut SceneBuilder), soft_lights]);
    let view = view((96, 64));
    let count = 64;
    let reference = Blocks::render(&mut renderer, &scene, &view, &exact(), count);
    for &rays in if long() { &[2, 4][..] } else { &[2] } {
        let sampled = Blocks::render(&mut renderer, &scene, &view, &budget(rays), count);
        let Deviation { off, sigma, worst, sigmas } =
            sampled.against(&reference, |block, off, sigma| {
                assert!(off <= 0.01, "{rays} rays, block {block}: {off:.4} off, sigma {sigma:.4}");
            });
        // Otherwise the bound would be too wide to find a bias.
        assert!(sigmas < 0.01, "{rays} rays: sigma {sigmas}");
        println!("{rays} rays: mean {off:+.2e} (sigma {sigma:.1e}), worst block {worst:.4}");
        assert!(off.abs() <= 2e-3 && sigma < 1e-3, "{rays} rays: {off} off, sigma {sigma}");
    }
}

/// Mean absolute difference of two pictures over the mean of the second, and the relative
/// difference of their means.
fn differences(a: &RenderedImage, b: &RenderedImage) -> [f64; 2] {
    let sums =
        a.nits.iter().flatten().zip(b.nits.iter().flatten()).fold([0.0; 3], |sums, (a, b)| {
            let (a, b) = (f64::from(*a), f64::from(*b));
            [sums[0] + (a - b).abs(), sums[1] + a, sums[2] + b]
        });
    [sums[0] / sums[2], sums[1] / sums[2] - 1.0]
}

/// As `budget`, denoised.
fn denoised() -> RenderSettings {
    let shadows = ShadowSettings { denoise: true, ..budget(2).shadows };
    RenderSettings { shadows, ..budget(2) }
}

/// Rays to every light, `samples` to each: at a bright exposure, dim lights have as many.
fn many_rays(samples: u32) -> RenderSettings {
    let shadows = ShadowSettings { samples, ..exact().shadows };
    RenderSettings { shadows, exposure: exposure_for(WHITE / 32.0, 1.0), ..exact() }
}

/// Three lamps of a size that casts hard shadows, of several colors.
fn hard_lights(builder: &mut SceneBuilder) {
    for (candela, color, at) in [
        (500.0, Vec3::new(1.4, 0.95, 0.5), DVec3::new(-1.5, 1.6, 0.8)),
        (400.0, Vec3::new(0.6, 1.0, 1.7), DVec3::new(1.6, 1.8, -0.6)),
        (300.0, Vec3::ONE, DVec3::new(0.2, 2.2, 1.4)),
    ] {
        builder.point_light_candela("lamp", Candela(candela), color, at);
    }
}

/// Frames of a still view after a cut, the last of `count`.
fn still_frames(
    renderer: &mut Renderer,
    scene: &Scene,
    view: &View,
    settings: &RenderSettings,
    count: u32,
) -> RenderedImage {
    let on_device = renderer.upload_for(scene, &settings.shadows).unwrap();
    renderer.reset_history();
    for _ in 1..count {
        renderer.render(&on_device, view, settings).unwrap();
    }
    renderer.render(&on_device, view, settings).unwrap()
}

/// Rays of neighbors are reused for each light apart, so that a single frame has little noise.
#[test]
fn single_denoised_frames_have_little_noise() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let view = view((160, 100));
    for (what, lights, most) in [
        ("soft", soft_lights as fn(&mut SceneBuilder), 0.35),
        ("hard", hard_lights as fn(&mut SceneBuilder), 0.15),
    ] {
        let scene = scene([blocks as fn(&mut SceneBuilder), lights]);
        let reference = picture(&mut renderer, &scene, &view, &many_rays(64));
        let noisy = picture(&mut renderer, &scene, &view, &budget(2));
        let single = still_frames(&mut renderer, &scene, &view, &denoised(), 1);
        let [noise, error] = [&noisy, &single].map(|picture| differences(picture, &reference));
        println!("{what}: noisy {noise:.4?}, denoised {error:.4?}");
        assert!(error[0] < most * noise[0], "{what}: {error:?} of {noise:?}");
        assert!(error[1].abs() < 5e-3, "{what}: {error:?}");
    }
}

/// The mean of many still frames converges to that of frames that are averaged, edges included.
#[test]
fn denoised_still_views_converge() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let scene = scene([blocks as fn(&mut SceneBuilder), soft_lights]);
    let view = view((112, 70));
    let reference = picture(&mut renderer, &scene, &view, &many_rays(256));
    let noisy = picture(&mut renderer, &scene, &view, &budget(2));
    let noise = differences(&noisy, &reference);
    let on_device = renderer.upload_for(&scene, &denoised().shadows).unwrap();
    renderer.reset_history();
    let mut last: Option<RenderedImage> = None;
    for number in 1..=128 {
        let next = renderer.render(&on_device, &view, &denoised()).unwrap();
        if let Some(last) = &last
            && number > 40
        {
            // Flicker: 8-bit steps between frames.
            let steps = || next.display.iter().zip(&last.display).map(|(a, b)| a.abs_diff(*b));
            let worst = steps().max();
            let share = steps().filter(|step| *step > 1).count() as f64 / next.display.len() as f64;
            if [41, 64, 65, 66, 67, 80, 128].contains(&number) {
                println!("frame {number}: worst step {worst:?}, above one {share:.5}");
            }
            assert!(share < 1e-3, "frame {number}: {share}");
        }
        if [1, 16, 64, 128].contains(&number) {
            println!("{number} frames: {:.4?}, noisy {noise:.4?}", differences(&next, &reference));
        }
        last = Some(next);
    }
    let last = differences(&last.unwrap(), &reference);
    assert!(last[0] < 0.1 * noise[0] && last[1].abs() < 2e-3, "{last:?}");
}

/// Light on the floor beside the foot of a block, in a single frame.
#[test]
fn contact_shadows_stay_dark() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let view = view((320, 200));
    let unshadowed = |settings: &RenderSettings| {
        let shadows = ShadowSettings { enabled: false, ..settings.shadows };
        RenderSettings { shadows, ..settings.clone() }
    };
    // Pixels of the floor at a distance from the block's faces (m).
    let turn = DQuat::from_rotation_y(0.4);
    let pixels = |distance: f64| -> Vec<usize> {
        let mut pixels = Vec::new();
        for side in [DVec3::X, DVec3::Z, DVec3::NEG_X, DVec3::NEG_Z] {
            for step in -23..=23 {
                let along = DVec3::new(side.z, 0.0, side.x) * f64::from(step) * 0.01;
                let at = turn * (side * (0.25 + distance) + along);
                let facing = (turn * side).dot(view.position - at) > 0.1;
                let clip = view.view_projection * (at - view.position).as_vec3().extend(1.0);
                let size = Vec2::new(view.width as f32, view.height as f32);
                let seen = (Vec2::new(clip.x, clip.y) / clip.w + 1.0) * 0.5 * size;
                if facing && clip.w > 0.0 && seen.min_element() >= 0.0 && seen.cmplt(size).all() {
                    pixels.push(seen.y as usize * view.width as usize + seen.x as usize);
                }
            }
        }
        pixels.sort_unstable();
        pixels.dedup();
        pixels
    };
    let mut failed = Vec::new();
    for (what, lights) in [
        ("soft", soft_lights as fn(&mut SceneBuilder)),
        ("hard", hard_lights as fn(&mut SceneBuilder)),
    ] {
        let scene = scene([blocks as fn(&mut SceneBuilder), lights]);
        let reference = picture(&mut renderer, &scene, &view, &many_rays(64));
        let bright = picture(&mut renderer, &scene, &view, &unshadowed(&exact()));
        let on_device = renderer.upload_for(&scene, &denoised().shadows).unwrap();
        renderer.reset_history();
        for frames in 1..=8 {
            let picture = renderer.render(&on_device, &view, &denoised()).unwrap();
            if ![1, 8].contains(&frames) {
                continue;
            }
            // The first is within a pixel of the foot, where neighbors are on one side only.
            for (distance, most) in [(0.015, 0.12), (0.03, 0.05), (0.06, 0.05)] {
                let chosen = pixels(distance);
                assert!(chosen.len() > 30, "{}", chosen.len());
                let sum = |image: &RenderedImage| {
                    chosen.iter().map(|&pixel| f64::from(image.nits[pixel][1])).sum::<f64>()
                };
                let [want, all, got] = [&reference, &bright, &picture].map(sum);
                let off = got / want - 1.0;
                println!(
                    "{what}, {frames} frames, {distance} m: visible {:.3}, light {:+.2} %, \
                     darkening {:+.2} %",
                    want / all,
                    off * 100.0,
                    ((all - got) / (all - want) - 1.0) * 100.0
                );
                assert!(want < 0.9 * all, "no shadow: {want} of {all}");
                if off.abs() >= most {
                    failed.push((what, frames, distance, off));
                }
            }
        }
    }
    assert!(failed.is_empty(), "{failed:?}");
}

/// Eight frames after a light was switched or a block moved, the error is that of a fresh start.
#[test]
fn changes_leave_no_trace_after_eight_frames() {
    let Some((guard, mut renderer)) = renderer() else { return };
    let view = view((112, 70));
    let build = |nits: f64, at: DVec3| {
        let mut builder = SceneBuilder::new("changes");
        floor(&mut builder);
        let cube = builder.add_material(matte());
        let mesh = builder.add_mesh("cube", shapes::cuboid(Vec3::splat(0.5)), cube);
        builder.instance("cube", mesh, DMat4::from_translation(at));
        let sphere = Emitter::Sphere { radius: 0.05 };
        light(&mut builder, sphere, nits, Vec3::ONE, DVec3::new(-1.5, 1.6, 0.8));
        light(&mut builder, sphere, 20_000.0, Vec3::ONE, DVec3::new(1.6, 1.8, -0.6));
        builder.build().unwrap()
    };
    let home = DVec3::new(0.0, 0.25, 0.0);
    let settings = denoised();
    for (what, nits, at) in [
        ("off", 0.0, home),
        ("dimmed", 4_000.0, home),
        ("moved", 20_000.0, DVec3::new(0.6, 0.25, 0.3)),
    ] {
        let mut on_device = renderer.upload_for(&build(20_000.0, home), &settings.shadows).unwrap();
        renderer.reset_history();
        for _ in 0..24 {
            renderer.render(&on_device, &view, &settings).unwrap();
        }
        let changed = build(nits, at);
        on_device.follow(&guard.gpu, &changed).unwrap();
        let mut errors = Vec::new();
        let reference = picture(&mut guard.renderer(), &changed, &view, &many_rays(64));
        for _ in 0..8 {
            let next = renderer.render(&on_device, &view, &settings).unwrap();
            errors.push(differences(&next, &reference)[0]);
        }
        let fresh = still_frames(&mut renderer, &changed, &view, &settings, 8);
        let want = differences(&fresh, &reference)[0];
        println!("{what}: {errors:.4?}, fresh start {want:.4}");
        assert!(errors[7] < 1.2 * want + 1e-3, "{what}: {errors:?} of {want}");
    }
}

/// The fractions do not depend on the exposure.
#[test]
fn exposure_steps_do_not_change_the_shadows() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let scene = scene([blocks as fn(&mut SceneBuilder), soft_lights]);
    let view = view((96, 60));
    let settings = denoised();
    let on_device = renderer.upload_for(&scene, &settings.shadows).unwrap();
    let stepped = RenderSettings { exposure: exposure_for(WHITE / 256.0, 1.0), ..settings.clone() };
    let mut of = |second: &RenderSettings| {
        renderer.reset_history();
        for _ in 0..4 {
            renderer.render(&on_device, &view, &settings).unwrap();
        }
        renderer.render(&on_device, &view, second).unwrap()
    };
    let (steady, stepped) = (of(&settings), of(&stepped));
    let worst = worst(&stepped, &steady);
    println!("eight stops: worst difference {worst:.2e}");
    assert!(worst <= HALF_STEPS, "{worst}");
}

#[test]
fn equal_frames_are_identical() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let scene = scene([blocks as fn(&mut SceneBuilder), soft_lights]);
    let view = view((80, 50));
    let [a, b] = [0; 2].map(|_| picture(&mut renderer, &scene, &view, &budget(3)));
    assert_eq!(a.nits, b.nits);
    // Another frame of a mean has other noise.
    let sample = Some(FrameSample { number: 1, count: 2 });
    let other = picture(&mut renderer, &scene, &view, &RenderSettings { sample, ..budget(3) });
    assert_ne!(a.nits, other.nits);
}

#[test]
fn light_count_does_not_change_the_rays() {
    let Some(guard) = gpu() else { return };
    let view = view((40, 24));
    for (rays, lamps) in [(2, 1), (2, 40), (5, 40)] {
        let mut renderer = guard.renderer();
        let mut builder = SceneBuilder::new("lamps");
        blocks(&mut builder);
        for lamp in 0..lamps {
            let angle = f64::from(lamp) * 2.4;
            let at = DVec3::new(2.0 * angle.sin(), 1.5, 2.0 * angle.cos());
            light(&mut builder, Emitter::Sphere { radius: 0.1 }, 5000.0, Vec3::ONE, at);
        }
        let scene = builder.build().unwrap();
        let on_device = renderer.upload_for(&scene, &budget(rays).shadows).unwrap();
        let picture = renderer.render(&on_device, &view, &budget(rays)).unwrap();
        assert!(lit_share(&picture) > 0.0);
        let memory = guard.gpu.memory_by_name();
        let (_, bytes) = memory.iter().find(|(name, _)| name.contains("shadow ray hits")).unwrap();
        assert_eq!(*bytes, 40 * 24 * u64::from(rays) * 4, "{lamps} lamps, {rays} rays");
    }
}

#[test]
fn bands_of_rows_do_not_change_the_picture() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let scene = scene([blocks as fn(&mut SceneBuilder), soft_lights]);
    let view = view((70, 45));
    let of = |max_ray_buffer_bytes| RenderSettings {
        max_ray_buffer_bytes,
        aovs: vec![Aov::DirectDiffuse, Aov::DirectSpecular],
        ..budget(2)
    };
    let whole = picture(&mut renderer, &scene, &view, &of(None));
    let pass_count =
        |picture: &RenderedImage| picture.times.iter().filter(|t| t.name.contains("rows")).count();
    assert_eq!(pass_count(&whole), 0);
    for bytes in [1, 70 * 2 * 40 * 20] {
        let split = picture(&mut renderer, &scene, &view, &of(Some(bytes)));
        assert!(pass_count(&split) >= 15, "{}", pass_count(&split));
        assert_eq!(whole.nits, split.nits, "{bytes} bytes");
        assert_eq!(whole.aovs, split.aovs, "{bytes} bytes");
    }
}

/// Thin panes cast no shadows, so that the BVH is empty and no ray is sent.
#[test]
fn scenes_without_shadow_casters_are_lit() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let mut builder = SceneBuilder::new("pane");
    builder.floor(6.0, Material { transmission: 0.6, ..matte() });
    soft_lights(&mut builder);
    let scene = builder.build().unwrap();
    let view = view((40, 25));
    let reference = picture(&mut renderer, &scene, &view, &exact());
    let sampled = picture(&mut renderer, &scene, &view, &budget(2));
    assert!(lit_share(&reference) > 0.5);
    assert_eq!(sampled.nits, reference.nits);
    let nothing = Scene::default();
    let dark = picture(&mut renderer, &nothing, &view, &budget(2));
    assert!(dark.nits.iter().flatten().all(|value| *value == 0.0));
}

/// Many lamps of all colors over the blocks: points, spots, spheres, one-sided disks and lamps
/// without shadows.
fn many_lamps(count: u32, range: Option<f32>) -> Scene {
    many_lamps_and(count, range, |_| {})
}

/// As `many_lamps`, with further lights.
fn many_lamps_and(count: u32, range: Option<f32>, more: impl Fn(&mut SceneBuilder)) -> Scene {
    let mut builder = SceneBuilder::new("many lamps");
    blocks(&mut builder);
    more(&mut builder);
    for lamp in 0..count {
        let angle = f64::from(lamp) * 2.399_963;
        let radius = 4.0 * ((f64::from(lamp) + 0.5) / f64::from(count)).sqrt();
        let height = 1.2 + f64::from(lamp % 7) * 0.2;
        let at = DVec3::new(radius * angle.sin(), height, radius * angle.cos());
        let hue = f64::from(lamp % 5) as f32 / 4.0;
        let color = Vec3::new(1.4 - hue, 1.0, 0.5 + hue);
        if lamp % 20 == 3 {
            light(&mut builder, Emitter::Sphere { radius: 0.05 }, 6000.0, color, at);
        } else if lamp % 20 == 11 {
            let disk = Emitter::Disk { radius: 0.04, sides: Sides::One };
            light(&mut builder, disk, 9000.0, color, at);
        } else if lamp % 4 == 2 {
            let cone = Cone::new(0.3, 0.7).unwrap();
            let spot = Emitter::Spot { cone, flux: SpotFlux::Exact };
            let pose = look_at_transform(at, DVec3::new(at.x * 0.7, 0.0, at.z * 0.8));
            let strength = LightStrength::Candela(Candela(60.0));
            builder.light("spot", spot, strength, color, pose);
        } else {
            builder.point_light_candela(
                "lamp",
                Candela(20.0 + f64::from(lamp % 3) * 20.0),
                color,
                at,
            );
        }
    }
    let mut scene = builder.build().unwrap();
    for (number, light) in scene.lights.iter_mut().enumerate() {
        light.range = range;
        light.shadow = number % 8 != 5;
    }
    scene
}

fn sampled(lights: u32, light_samples: u32) -> RenderSettings {
    let shadows = ShadowSettings { lights, light_samples, ..budget(2).shadows };
    let clustered_lights =
        ClusteredLightSettings { cull_threshold: 0.0, ..ClusteredLightSettings::default() };
    RenderSettings { shadows, clustered_lights, ..budget(2) }
}

/// Lamps that no cluster can drop: each pixel evaluates a fixed number of them, and the mean of
/// frames is the light of all.
#[test]
fn sampled_lights_are_unbiased() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let lamps = 320;
    let scene = many_lamps(lamps, None);
    let view = view((48, 32));
    let count = 32;
    let shadows = ShadowSettings { samples: 4, ..exact().shadows };
    let all = RenderSettings { shadows, ..exact() };
    let reference = Blocks::render(&mut renderer, &scene, &view, &all, count);
    for (lights, light_samples) in [(4, 2), (16, 4)] {
        let settings = sampled(lights, light_samples);
        let one = picture(&mut renderer, &scene, &view, &settings);
        let stats = one.clustered_light_stats;
        assert_eq!((stats.lights, stats.overflowed), (lamps, 0));
        assert!(stats.max_per_cluster <= lights + light_samples, "{stats:?}");
        assert!(stats.evaluated > 0 && stats.max_per_cluster > lights, "{stats:?}");
        let again = picture(&mut renderer, &scene, &view, &settings);
        assert_eq!(one.nits, again.nits);
        let sampled = Blocks::render(&mut renderer, &scene, &view, &settings, count);
        let Deviation { off, sigma, worst, sigmas } =
            sampled.against(&reference, |block, off, sigma| {
                let most = 4.0 * sigma + 0.005;
                assert!(off <= most, "{lights} lights, block {block}: {off}, {sigma}");
            });
        println!(
            "{lights} lights, {light_samples} samples: mean {off:+.2e} (sigma {sigma:.1e}), worst \
             block {worst:.4}, sigma of blocks {sigmas:.4}"
        );
        // Otherwise the bounds would be too wide to find a bias.
        assert!(sigmas < 0.03 && sigma < 5e-3, "{sigmas}, {sigma}");
        assert!(off.abs() <= 3.0 * sigma + 1e-3, "{off} off, sigma {sigma}");
    }
}

/// Pixels use the rays and samples of their neighbors if their clusters have more lights than they
/// evaluate: alone in a frame, in a mean of few frames, and with suns beside the lamps.
#[test]
fn neighbors_reduce_the_noise_of_sampled_lights() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let view = view((96, 64));
    for &suns in if long() { &[0, 2][..] } else { &[2] } {
        let scene = many_lamps_and(320, None, |builder| {
            (0..suns).for_each(|_| sun(builder, 0.02, 400.0));
        });
        let sample = Some(FrameSample { number: 0, count: 2 });
        let references = [None, sample].map(|sample| {
            let settings = RenderSettings { sample, ..many_rays(16) };
            picture(&mut renderer, &scene, &view, &settings)
        });
        for (lights, light_samples) in [(4, 2), (16, 4), (32, 4)] {
            let own = sampled(lights, light_samples);
            let shadows = ShadowSettings { denoise: true, ..own.shadows };
            let alone = RenderSettings { shadows, ..own.clone() };
            let averaged = RenderSettings { sample, ..alone.clone() };
            let noise = differences(&picture(&mut renderer, &scene, &view, &own), &references[0]);
            for ((what, settings), reference) in
                [("alone", alone), ("averaged", averaged)].into_iter().zip(&references)
            {
                renderer.reset_history();
                let reused = picture(&mut renderer, &scene, &view, &settings);
                let [error, off] = differences(&reused, reference);
                println!(
                    "{suns} suns, {lights} lights, {what}: error {error:.4}, mean {:+.2} %, \
                     without neighbors {noise:.4?}",
                    off * 100.0
                );
                assert!(error < 0.35 * noise[0], "{error} of {noise:?}");
                assert!(off.abs() < 0.02, "{off}");
            }
        }
    }
}

/// The denoiser accumulates sampled lights together with their shadows.
#[test]
fn history_reduces_the_noise_of_sampled_lights() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let scene = many_lamps(320, None);
    let view = view((64, 40));
    let reference = picture(&mut renderer, &scene, &view, &exact());
    let noisy = picture(&mut renderer, &scene, &view, &sampled(16, 4));
    let shadows = ShadowSettings { denoise: true, ..sampled(16, 4).shadows };
    let denoised = RenderSettings { shadows, ..sampled(16, 4) };
    let on_device = renderer.upload_for(&scene, &denoised.shadows).unwrap();
    renderer.reset_history();
    for _ in 0..31 {
        renderer.render(&on_device, &view, &denoised).unwrap();
    }
    let last = renderer.render(&on_device, &view, &denoised).unwrap();
    let [noise, later] = [&noisy, &last].map(|picture| differences(picture, &reference));
    println!("noisy {noise:.4?}, after 32 frames {later:.4?}");
    assert!(later[0] < 0.4 * noise[0], "{later:?} of {noise:?}");
    assert!(later[1].abs() < 0.01, "{later:?}");
}

/// Clusters whose lights fit have no sampled light, whatever the number of lights in the scene.
#[test]
fn clusters_with_few_lights_sample_none() {
    let Some((_guard, mut renderer)) = renderer() else { return };
    let scene = many_lamps(30, Some(2.4));
    let view = view((96, 64));
    let of = |lights| {
        let shadows = ShadowSettings { lights, ..budget(2).shadows };
        RenderSettings { shadows, ..budget(2) }
    };
    let whole = picture(&mut renderer, &scene, &view, &of(32));
    let listed = whole.clustered_light_stats.max_per_cluster;
    let lit = lit_share(&whole);
    println!("at most {listed} lights a cluster, lit {lit:.2}");
    assert!((5..24).contains(&listed) && lit > 0.3, "{listed} lights, lit {lit}");
    let limited = picture(&mut renderer, &scene, &view, &of(24));
    assert_eq!(limited.clustered_light_stats.max_per_cluster, listed);
    assert_eq!(limited.nits, whole.nits);
    // Fewer than the longest list: some clusters sample lights.
    let sampled = picture(&mut renderer, &scene, &view, &of(4));
    assert_ne!(sampled.nits, whole.nits);
}
