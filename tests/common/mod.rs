//! Shared by the GPU tests: a device with validation and leak checks, cameras, and host-side closed
//! forms.
//!
//! Without a device these tests fail, unless `SUNNY16_NO_GPU=1` is set.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::{
    env,
    f64::consts::PI,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use glam::{DMat4, DVec3, DVec4, Vec2, Vec3};
use sunny16::{
    camera::Exposure,
    frame::{Aov, RenderSettings, RenderedImage, Renderer},
    gpu::{Gpu, GpuOptions, RayBackend, fault_injection::Fault},
    gpu_scene::View,
    passes::gbuffer_channel::GbufferChannel,
    photometry::{
        Ev100, Lumen, Lux,
        environment::{RadianceMap, RowMapping},
    },
    scene::{
        Environment, Material, Projection, Scene,
        build::{SceneBuilder, dielectric, look_at_transform, metal},
        procedural::shapes,
        write_glb::write_glb,
    },
};

pub mod area;
pub mod confetti;
pub mod corpus;
pub mod dimming_light;
pub mod ghost_meshes;
pub mod gi_reference;
pub mod headless_viewer;
pub mod random;
pub mod scene_dump;
pub mod source_files;

use tempfile::TempDir;

/// A device whose drop, at the end of a test, asserts that there were no validation messages and no
/// leaks.
///
/// Create it first: locals are dropped in reverse order, so everything created from it is dropped
/// before.
pub struct Guard {
    pub gpu: Gpu,
}

impl Drop for Guard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        self.gpu.wait_idle();
        let messages = self.gpu.validation_messages();
        assert!(messages.is_empty(), "validation: {messages:#?}");
        let live = self.gpu.live_objects();
        assert!(live.is_empty(), "still alive: {live:#?}");
    }
}

impl Guard {
    /// Factor for position bounds, relative to 8 sub-pixel bits. SwiftShader snaps vertices to a
    /// 16th of a pixel, so that a surface lies up to 0.2 % from where the pixel's ray hits it;
    /// hardware and Mesa snap to a 256th.
    pub fn slack(&self) -> f64 {
        let bits = self.gpu.limits().sub_pixel_precision_bits;
        if bits >= 8 { 1.0 } else { f64::powi(2.0, 9 - bits as i32) }
    }

    /// Spacing of the rasterizer's vertex grid, in pixels.
    pub fn snap(&self) -> f64 {
        f64::powi(2.0, -(self.gpu.limits().sub_pixel_precision_bits as i32))
    }

    pub fn renderer(&self) -> Renderer {
        Renderer::new(&self.gpu).expect("pipelines")
    }
}

/// A device with validation and synchronization validation; none only if `SUNNY16_NO_GPU` is set.
pub fn gpu() -> Option<Guard> {
    gpu_with(Vec::new())
}

pub fn no_gpu(what: &str) -> bool {
    let none = env::var("SUNNY16_NO_GPU").is_ok_and(|value| value == "1");
    if none {
        println!("skipped: {what}: SUNNY16_NO_GPU=1");
    }
    none
}

/// True if `SUNNY16_LONG` requests the tests' long forms.
pub fn long() -> bool {
    env::var_os("SUNNY16_LONG").is_some()
}

pub fn gpu_with(faults: Vec<Fault>) -> Option<Guard> {
    gpu_by(RayBackend::Auto, faults)
}

/// A device with this ray backend.
pub fn gpu_with_rays(rays: RayBackend) -> Option<Guard> {
    gpu_by(rays, Vec::new())
}

fn gpu_by(rays: RayBackend, faults: Vec<Fault>) -> Option<Guard> {
    if no_gpu(std::thread::current().name().unwrap_or("test")) {
        return None;
    }
    let options =
        GpuOptions { validation: true, faults, ray_backend: rays, ..GpuOptions::default() };
    let gpu = Gpu::open(&options)
        .expect("a Vulkan device with the validation layer (SUNNY16_NO_GPU=1 if there is none)");
    Some(Guard { gpu })
}

/// One picture of a scene.
pub fn picture(
    renderer: &mut Renderer,
    scene: &Scene,
    view: &View,
    settings: &RenderSettings,
) -> RenderedImage {
    let on_device = renderer.upload_for(scene, &settings.shadows).expect("upload");
    renderer.render(&on_device, view, settings).expect("render")
}

pub fn perspective(
    position: DVec3,
    target: DVec3,
    vertical_fov: f32,
    near: f32,
    size: (u32, u32),
) -> View {
    let projection = Projection::Perspective { vertical_fov, aspect: None, near, far: None };
    View::new(look_at_transform(position, target), &projection, size.0, size.1)
}

/// A parallel projection; the half height is in meters.
pub fn parallel(
    position: DVec3,
    target: DVec3,
    half_height: f32,
    depth: f32,
    size: (u32, u32),
) -> View {
    let half_width = half_height * size.0 as f32 / size.1 as f32;
    let projection = Projection::Orthographic { half_width, half_height, near: 0.0, far: depth };
    View::new(look_at_transform(position, target), &projection, size.0, size.1)
}

/// The exposure that maps this luminance to this exposed value.
pub fn exposure_for(nits: f64, value: f64) -> Exposure {
    Exposure::from_ev100(Ev100((nits / (1.2 * value)).log2())).unwrap()
}

/// An environment of uniform luminance.
pub fn even(nits: f64) -> Option<Environment> {
    let map = RadianceMap::from_fn(64, 32, RowMapping::Linear, |_| DVec3::splat(nits)).unwrap();
    Some(Environment { map: Arc::new(map), rotation: 0.0, origin: "even".into() })
}

/// The ray through a pixel's center: a point on it, in world axes, and its unit direction.
pub fn pixel_ray(view: &View, x: usize, y: usize) -> (DVec3, DVec3) {
    let inverse = view.inverse.as_dmat4();
    let ndc = |size: u32, index: usize| (index as f64 + 0.5) / f64::from(size) * 2.0 - 1.0;
    let at = |depth: f64| {
        let p = inverse * DVec4::new(ndc(view.width, x), ndc(view.height, y), depth, 1.0);
        p.truncate() / p.w
    };
    if view.parallel {
        (view.position + at(0.5), view.forward.as_dvec3().normalize())
    } else {
        (view.position, at(1.0).normalize())
    }
}

/// Intersection of a pixel's ray with the plane through `point`.
pub fn hit_plane(view: &View, x: usize, y: usize, point: DVec3, normal: DVec3) -> DVec3 {
    let (from, along) = pixel_ray(view, x, y);
    from + along * ((point - from).dot(normal) / along.dot(normal))
}

/// The pixel that a point projects to.
pub fn pixel_of(view: &View, point: DVec3) -> Option<(usize, usize)> {
    let clip = view.view_projection.as_dmat4() * (point - view.position).extend(1.0);
    let ndc = clip.truncate() / clip.w;
    let (x, y) =
        ((ndc.x * 0.5 + 0.5) * f64::from(view.width), (ndc.y * 0.5 + 0.5) * f64::from(view.height));
    let inside = x >= 0.0
        && y >= 0.0
        && x < f64::from(view.width)
        && y < f64::from(view.height)
        && clip.w > 0.0;
    inside.then_some((x as usize, y as usize))
}

pub fn nits(picture: &RenderedImage, x: usize, y: usize) -> DVec3 {
    Vec3::from_array(picture.nits[y * picture.width + x]).as_dvec3()
}

/// A pixel of an AOV.
pub fn aov(picture: &RenderedImage, aov: Aov, x: usize, y: usize) -> [f32; 4] {
    let (_, pixels) = picture.aovs.iter().find(|(kind, _)| *kind == aov).expect("asked for");
    pixels[y * picture.width + x]
}

pub fn aov3(picture: &RenderedImage, kind: Aov, x: usize, y: usize) -> DVec3 {
    let [r, g, b, _] = aov(picture, kind, x, y);
    DVec3::new(f64::from(r), f64::from(g), f64::from(b))
}

pub const NORMAL: Aov = Aov::Channel(GbufferChannel::Normal);

/// Maximum relative difference of the channels.
pub fn relative(got: DVec3, want: DVec3) -> f64 {
    ((got - want) / want.abs().max(DVec3::splat(1e-300))).abs().max_element()
}

/// The metallic/roughness BRDF of glTF 2.0 (Appendix B) in double precision, written from the
/// formulas and not from the shader: `(1-m)(F_d D V + (1-F_d) base/pi) + m F_m D V`.
#[derive(Clone, Copy, Debug)]
pub struct Brdf {
    pub base: DVec3,
    pub metallic: f64,
    pub roughness: f64,
}

/// Walter et al. 2007, equation 33 (GGX).
pub fn distribution(nh: f64, alpha: f64) -> f64 {
    let a2 = alpha * alpha;
    let q = nh * nh * (a2 - 1.0) + 1.0;
    a2 / (PI * q * q)
}

/// Heitz 2014, equation 99, over 4 n.l n.v.
pub fn visibility(nl: f64, nv: f64, alpha: f64) -> f64 {
    let a2 = alpha * alpha;
    0.5 / (nl * (nv * nv * (1.0 - a2) + a2).sqrt() + nv * (nl * nl * (1.0 - a2) + a2).sqrt())
}

/// Schlick 1994 with F90 = 1.
pub fn schlick(f0: f64, vh: f64) -> f64 {
    f0 + (1.0 - f0) * (1.0 - vh).powi(5)
}

/// The dielectric Fresnel reflectance, at the half angle between view and light.
pub fn dielectric_fresnel(l: DVec3, v: DVec3) -> f64 {
    schlick(0.04, v.dot((l + v).normalize()))
}

impl Brdf {
    pub fn diffuse(reflectance: f64) -> Self {
        Self { base: DVec3::splat(reflectance), metallic: 0.0, roughness: 1.0 }
    }

    /// Quantized as in the G-buffer: base color 12 bits of the square root, metallic 8 bits,
    /// roughness 12 bits.
    pub fn of(material: &Material) -> Self {
        // In single precision as on the device, so that rounding agrees.
        let quantize = |x: f32, steps: f32| f64::from((x * steps + 0.5).floor()) / f64::from(steps);
        let root = |x: f32| quantize(x.sqrt(), 4095.0).powi(2);
        let base = material.base_color;
        Self {
            base: DVec3::new(root(base.x), root(base.y), root(base.z)),
            metallic: quantize(material.metallic, 255.0),
            roughness: quantize(material.roughness, 4095.0),
        }
    }

    /// Diffuse and specular reflected radiance per irradiance on a plane that faces the light,
    /// cosine included (1/sr).
    pub fn evaluate(&self, n: DVec3, l: DVec3, v: DVec3) -> (DVec3, DVec3) {
        let (nl, nv) = (n.dot(l), n.dot(v));
        if nl <= 0.0 {
            return (DVec3::ZERO, DVec3::ZERO);
        }
        let h = (l + v).normalize();
        let alpha = (self.roughness * self.roughness).max(0.002);
        let dv = distribution(n.dot(h), alpha) * visibility(nl, nv, alpha);
        let vh = v.dot(h);
        let fd = schlick(0.04, vh);
        let fm = DVec3::new(
            schlick(self.base.x, vh),
            schlick(self.base.y, vh),
            schlick(self.base.z, vh),
        );
        let m = self.metallic;
        (
            (1.0 - m) * (1.0 - fd) / PI * self.base * nl,
            ((1.0 - m) * DVec3::splat(fd * dv) + m * fm * dv) * nl,
        )
    }

    pub fn total(&self, n: DVec3, l: DVec3, v: DVec3) -> DVec3 {
        let (diffuse, specular) = self.evaluate(n, l, v);
        diffuse + specular
    }
}

/// Output of a run of the program.
#[derive(Debug)]
pub struct Run {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// A black, two-sided emissive material.
pub fn emissive_material(nits: Vec3) -> Material {
    Material {
        base_color: DVec4::W.as_vec4(),
        emission: nits,
        double_sided: true,
        ..Material::default()
    }
}

/// Adds an emissive square that faces a camera at +Z; `center` and `side` in meters.
pub fn add_square(builder: &mut SceneBuilder, center: DVec3, side: f64, nits: Vec3) {
    let material = builder.add_material(emissive_material(nits));
    let mesh = builder.add_mesh("square", shapes::plane(Vec2::splat(side as f32), 1, 1), material);
    // The plane faces +Y.
    let turn = DMat4::from_rotation_x(PI / 2.0);
    builder.instance("square", mesh, DMat4::from_translation(center) * turn);
}

/// Runs the program in `dir` with its caches there, except in the repository itself. The driver's
/// shader cache is shared by all tests: compiling takes ten times as long as drawing.
pub fn sunny16(dir: &Path, args: &[&str], environment: &[(&str, &str)]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sunny16"));
    let own =
        if dir.join("Cargo.toml").exists() { Path::new(env!("CARGO_TARGET_TMPDIR")) } else { dir };
    let caches = [("XDG_CACHE_HOME", own.join("cache")), ("MESA_SHADER_CACHE_DIR", driver_cache())];
    command.args(args).envs(caches).envs(environment.iter().copied()).current_dir(dir);
    finish(command)
}

/// Where Mesa's drivers keep compiled shaders (<https://docs.mesa3d.org/envvars.html>).
pub fn driver_cache() -> PathBuf {
    let set = env::var_os("MESA_SHADER_CACHE_DIR").map(PathBuf::from);
    set.unwrap_or_else(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("driver"))
}

pub fn finish(mut command: Command) -> Run {
    let output = command.output().expect("the program starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Run {
        code: output.status.code().unwrap_or(-1),
        out: text(&output.stdout),
        err: text(&output.stderr),
    }
}

/// One channel of an EXR.
pub fn exr_channel(file: &Path, name: &str) -> Vec<f32> {
    let image = exr::prelude::read_first_flat_layer_from_file(file).expect("an EXR");
    let channel =
        image.layer_data.channel_data.list.iter().find(|channel| channel.name.to_string() == name);
    channel.unwrap_or_else(|| panic!("no channel {name}")).sample_data.values_as_f32().collect()
}

/// A directory with `small.glb`: a lit plane with a ball of 20 * 4^subdivisions triangles, a
/// camera, a point light and a sun.
pub fn small_scene(subdivisions: u32) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let mut builder = SceneBuilder::new("small");
    let floor = builder.add_material(dielectric("floor", Vec3::new(0.5, 0.4, 0.3), 0.7));
    let gold = builder.add_material(metal("gold", Vec3::new(1.0, 0.7, 0.3), 0.4));
    let plane = builder.add_mesh("plane", shapes::plane(Vec2::splat(6.0), 1, 1), floor);
    let ball = builder.add_mesh("ball", shapes::icosphere(0.5, subdivisions), gold);
    builder.instance("plane", plane, DMat4::IDENTITY);
    builder.instance("ball", ball, DMat4::from_translation(DVec3::Y * 0.5));
    builder.point_light_lumens("bulb", Lumen(800.0), Vec3::ONE, DVec3::new(1.0, 2.0, 1.0));
    builder.sun("sun", Lux(400.0), Vec3::ONE, DVec3::new(0.4, -1.0, -0.3));
    builder.camera("main", DVec3::new(0.5, 1.5, 3.0), DVec3::Y * 0.3, 0.7, Some(1.5));
    fs::write(dir.path().join("small.glb"), write_glb(&builder.build().unwrap()).unwrap()).unwrap();
    dir
}
