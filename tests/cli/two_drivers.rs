//! Two independent drivers draw the same picture: the still life rendered with each, compared by
//! FLIP (Andersson et al. 2020) at the default 67 pixels per degree.

use std::{env, path::Path};

use crate::common::{Arguments, Folder, no_gpu, sunny16};
use sunny16::scene::{procedural, write_glb::write_glb};

const SIZE: (u32, u32) = (320, 180);

/// The ICD file of the second driver, if any.
fn second() -> Option<String> {
    let named = env::var("SUNNY16_SECOND_ICD").ok();
    named
        .into_iter()
        .chain(["/usr/lib/chromium/vk_swiftshader_icd.json".to_string()])
        .find(|file| Path::new(file).is_file())
}

fn mean_flip(a: &image::RgbImage, b: &image::RgbImage) -> (f32, f32) {
    let flip = |picture: &image::RgbImage| {
        nv_flip::FlipImageRgb8::with_data(SIZE.0, SIZE.1, picture.as_raw())
    };
    let error = nv_flip::flip(flip(a), flip(b), nv_flip::DEFAULT_PIXELS_PER_DEGREE);
    let pool = nv_flip::FlipPool::from_image(&error);
    (pool.mean(), pool.max_value())
}

#[test]
fn two_drivers_render_the_same_image() {
    if no_gpu("two_drivers_render_the_same_image") {
        return;
    }
    let Some(second) = second() else {
        println!("skipped: no second driver (SUNNY16_SECOND_ICD=FILE names one)");
        return;
    };
    let dir = Folder::empty();
    let still = procedural::still_life().unwrap();
    dir.write("still.glb", write_glb(&still.scene).unwrap());
    dir.write("still.look.toml", still.look());
    let render = |file: &str, more: &str, environment: &[(&str, &str)]| {
        let args =
            format!("render still.glb -o {file} --size {}x{} --validation {more}", SIZE.0, SIZE.1);
        let run = sunny16(dir.path(), &args.words(), environment).ok();
        let device =
            run.out.lines().next().unwrap_or("").rsplit(" on ").next().unwrap_or("").to_string();
        (dir.rgb8(file), device)
    };
    let (one, first_device) = render("one.png", "", &[]);
    let other = [("VK_ICD_FILENAMES", second.as_str()), ("VK_DRIVER_FILES", second.as_str())];
    let (two, second_device) = render("two.png", "", &other);
    assert_ne!(first_device, second_device, "the second driver is the first");
    let (mean, most) = mean_flip(&one, &two);
    println!("{first_device} and {second_device}: mean FLIP {mean:.5}, greatest {most:.3}");
    assert!(mean < 0.01, "mean FLIP {mean}");

    // The metric detects a difference: a third of a stop.
    let (brighter, _) = render("brighter.png", "--set camera.exposure.compensation=0.33", &[]);
    let (apart, _) = mean_flip(&one, &brighter);
    println!("a third of a stop: mean FLIP {apart:.5}");
    assert!(apart > 0.02 && apart > 3.0 * mean, "mean FLIP {apart} for a third of a stop");
}
