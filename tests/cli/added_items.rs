//! Lights and cameras that a look adds: pictures equal those of a file that has them.

use glam::{DMat4, DVec3, Vec3};
use sunny16::{
    photometry::Candela,
    scene::{
        build::{SceneBuilder, dielectric, metal},
        procedural::shapes,
        write_glb::write_glb,
    },
};

use crate::{
    animation::{light, moving_square, path},
    common::{Folder, Place, no_gpu},
};

const PLACE: DVec3 = DVec3::new(1.0, 2.0, 1.0);

/// `with.glb` has the point light 'Key' and the camera 'Top', at the node 'Arm' in `arm.glb`;
/// `without.glb` has neither.
fn folder() -> Folder {
    let dir = Folder::empty();
    for (file, has_items, in_arm) in
        [("with", true, false), ("arm", true, true), ("without", false, false)]
    {
        let mut builder = SceneBuilder::new("small");
        builder.floor(6.0, dielectric("floor", Vec3::new(0.5, 0.4, 0.3), 0.7));
        let gold = metal("gold", Vec3::new(1.0, 0.7, 0.3), 0.4);
        builder.place(shapes::icosphere(0.5, 3), gold, DVec3::Y * 0.5);
        let arm = DMat4::from_rotation_y(0.5) * DMat4::from_translation(DVec3::X * 0.25);
        let arm = builder.add_node("Arm", arm);
        builder.camera("main", DVec3::new(0.5, 1.5, 3.0), DVec3::Y * 0.3, 0.7, Some(1.5));
        if has_items {
            let key = builder.point_light_candela("Key", Candela(300.0), Vec3::ONE, PLACE);
            if in_arm {
                builder.set_parent(key, arm);
            }
        }
        dir.write(&format!("{file}.glb"), write_glb(&builder.build().unwrap()).unwrap());
    }
    dir
}

const ADDED: &str = "--set lights.Key.position=1,2,1 --set lights.Key.candela=300 \
                     --set lights.Key.add=true";

#[test]
fn pictures_with_an_added_light_equal_those_with_the_light_in_the_file() {
    if no_gpu("pictures_with_an_added_light_equal_those_with_the_light_in_the_file") {
        return;
    }
    let dir = folder();
    let panel = "--set lights.Key.shape=rectangle --set lights.Key.width=0.6 \
                 --set lights.Key.height=0.4 --set lights.Key.aim=0,0.5,0 \
                 --set lights.Key.kelvin=4000 --set lights.Key.lumens=2000";
    for (file, in_file, added) in [
        ("with", String::new(), ADDED.to_owned()),
        ("arm", String::new(), format!("--set lights.Key.parent=Arm {ADDED}")),
        (
            "with",
            panel.into(),
            format!("{panel} --set lights.Key.position=1,2,1 --set lights.Key.add=true"),
        ),
    ] {
        for renderer in ["raster", "path --spp 4"] {
            let common =
                format!("--size 60x40 --set camera.exposure.ev100=7 --renderer {renderer}");
            dir.run(&format!("render {file}.glb -o file.exr {common} {in_file}")).ok();
            let run = dir.run(&format!("render without.glb -o added.exr {common} {added}")).ok();
            assert!(!run.err.contains("the scene has no light"), "no default studio: {run:?}");
            for channel in ["R", "G", "B"] {
                let [one, two] = ["file.exr", "added.exr"].map(|exr| dir.channel(exr, channel));
                assert!(one == two, "{renderer}, {file}: {in_file}");
                let brightest = one.iter().fold(0.0f32, |max, value| max.max(*value));
                assert!(brightest > 1.0, "{renderer}, {file}: lit, {brightest} nit");
            }
        }
    }
}

#[test]
fn a_look_file_adds_lights_and_cameras_that_inspect_lists() {
    let dir = folder();
    dir.write(
        "without.look.toml",
        "[lights.Key]\nadd = true\nposition = [1, 2, 1]\n\n[cameras.Top]\nadd = true\n\
         position = [0, 3, 0.1]\ntarget = [0, 0, 0]\nvertical_fov = 50\nf_stop = 2.8\n",
    );
    let run = dir.run("inspect without.glb").ok();
    run.prints(&["'Key': point, shown once", "1000.0 lm as the look sets it", "as --camera Top"]);
    dir.run("render without.glb -o a.exr --renderer path --spp 1 --size 30x20 --camera Tip")
        .fails(2, &["no camera 'Tip'", "main, Top"]);
    // The added camera's aperture sets the exposure.
    for (camera, ev) in [("Top", "EV100 9.94"), ("main", "EV100 12.97")] {
        let out = "-o a.exr --renderer path --spp 1 --size 30x20 --set camera.lens.f_stop=8";
        dir.run(&format!("render without.glb {out} --camera {camera}")).ok().prints(&[ev]);
    }
    // Once more in the file, and by --set.
    dir.write("twice.toml", "[lights.Key]\nadd = true\n[lights.Key]\nlumens = 5\n");
    dir.run("inspect without.glb --look twice.toml")
        .fails(4, &["twice.toml", "line 3", "duplicate"]);
    dir.run("inspect with.glb --set lights.Key.add=true").fails(2, &["already", "another name"]);
    dir.run("inspect without.glb --no-look --set lights.Kye.lumens=5")
        .fails(2, &["the scene has no lights", "lights.Kye.add = true"]);
}

#[test]
fn an_added_light_moves_with_its_animated_parent() {
    let dir = moving_square();
    // A visible sphere, far brighter than the square, 0.5 m above its node.
    let sphere = "--set lights.Lamp.add=true --set lights.Lamp.parent=#0 \
                  --set lights.Lamp.position=0,0.5,0.5 --set lights.Lamp.shape=sphere \
                  --set lights.Lamp.radius=0.25 --set lights.Lamp.nits=100000";
    for (time, wanted) in [("0", -1.0), ("1.5", 0.5)] {
        path(&dir, &format!("-o one.exr --time {time} {sphere}")).ok();
        let (x, y, _) = light(&dir, "one.exr");
        assert!((x - wanted).abs() < 0.02 && (y - 0.5).abs() < 0.02, "{time} s: {x} {y}");
    }
}
