//! A validation case and its `case.toml`.

use std::{collections::HashMap, fmt::Write as _};

use crate::glb::glb;
use glam::{DMat4, DVec3};
use serde_json::Value;
use sunny16::scene::{
    Camera, Primitive, Projection, Scene,
    build::{MaterialId, SceneBuilder},
    write_glb::write_glb,
};

/// A reference of another renderer.
#[derive(Clone, Debug)]
pub struct Reference {
    pub name: &'static str,
    pub made: String,
}

impl Reference {
    /// The script reads the number of samples and the sampler from here: independent, or
    /// multi-jittered where highlights are few pixels wide.
    pub fn mitsuba(samples: u32, kind: &str) -> Self {
        let made = format!(
            "Mitsuba 3.9.1, {samples} {kind} samples, glTF's BRDF (scripts/mitsuba_case.py)"
        );
        Self { name: "mitsuba", made }
    }

    pub fn cycles(samples: u32, brdf: &str) -> Self {
        Self {
            name: "cycles",
            made: format!(
                "Cycles of bpy 4.5.15, {samples} samples, {brdf} (scripts/cycles_case.py)"
            ),
        }
    }

    pub fn file(&self) -> String {
        format!("{}.exr", self.name)
    }
}

/// A case in the form of its `case.toml`. `rest` holds what has no field: regions, closed forms,
/// bounds.
#[derive(Clone, Debug, Default)]
pub struct Case {
    pub name: String,
    pub title: String,
    pub text: String,
    pub size: [u32; 2],
    /// A scene of its own, or the other case that owns the scene.
    pub scene: Option<Scene>,
    pub scene_of: &'static str,
    pub look: String,
    /// Further files of the case.
    pub more: Vec<(String, Vec<u8>)>,
    pub camera: &'static str,
    pub bounces: u32,
    pub spp: u32,
    pub raster: bool,
    pub references: Vec<Reference>,
    pub rest: String,
}

/// A number in TOML, with seven digits.
pub fn number(value: f64) -> String {
    if value == 0.0 {
        return "0.0".into();
    }
    let text = format!("{value:.6e}");
    let (digits, exponent) = text.split_once('e').unwrap();
    let exponent: i32 = exponent.parse().unwrap();
    if (-4..7).contains(&exponent) {
        format!("{value:.*}", (6 - exponent).max(1) as usize)
    } else {
        format!("{digits}e{exponent}")
    }
}

impl Case {
    pub fn files(&self) -> Vec<(String, Vec<u8>)> {
        let mut files = self.more.clone();
        if let Some(scene) = &self.scene {
            files.push(("scene.glb".into(), shared(&write_glb(scene).unwrap())));
        }
        if !self.look.is_empty() {
            files.push(("scene.look.toml".into(), self.look.clone().into_bytes()));
        }
        files.push(("case.toml".into(), self.toml().into_bytes()));
        files
    }

    fn toml(&self) -> String {
        let mut out = String::new();
        let scene = if self.scene.is_some() {
            "scene.glb".into()
        } else {
            format!("../{}/scene.glb", self.scene_of)
        };
        let _ = writeln!(
            out,
            "# Made by tests/validation.\ntitle = {:?}\ntext = {:?}",
            self.title, self.text
        );
        let _ = writeln!(out, "size = {:?}\nscene = {scene:?}", self.size);
        if !self.look.is_empty() {
            let _ = writeln!(out, "look = \"scene.look.toml\"");
        }
        let _ = writeln!(
            out,
            "camera = {:?}",
            if self.camera.is_empty() { "Camera" } else { self.camera }
        );
        let _ = writeln!(
            out,
            "bounces = {}\nspp = {}\nraster = {}",
            self.bounces, self.spp, self.raster
        );
        for reference in &self.references {
            let (name, file) = (reference.name, reference.file());
            let _ = writeln!(
                out,
                "\n[[reference]]\nname = {name:?}\nfile = {file:?}\nmade = {:?}",
                reference.made
            );
        }
        out + &self.rest
    }

    pub fn circle(&mut self, name: &str, [x, y]: [f64; 2], radius: f64) {
        let list = [x, y, radius].map(number).join(", ");
        let _ = writeln!(self.rest, "\n[[region]]\nname = {name:?}\ncircle = [{list}]");
    }

    pub fn rect(&mut self, name: &str, rect: [u32; 4]) {
        let _ = writeln!(self.rest, "\n[[region]]\nname = {name:?}\nrect = {rect:?}");
    }

    /// Adds a closed form; `more` holds further lines, such as `set`.
    pub fn expect(
        &mut self,
        test: &str,
        region: &str,
        value: &str,
        within: f64,
        why: &str,
        more: &str,
    ) {
        let within = format!("{within}");
        let _ = write!(
            self.rest,
            "\n[[expect]]\ntest = {test:?}\nregion = {region:?}\n{value}\nwithin = {within}\n"
        );
        let _ = writeln!(self.rest, "{more}why = {why:?}");
    }

    /// The same for the path tracer, for Mitsuba if the case has it, and for the rasterizer where
    /// it runs.
    pub fn expect_of_all(&mut self, region: &str, value: f64, within: [f64; 3], why: &str) {
        let value = format!("value = {:?}", number(value));
        self.expect("path", region, &value, within[0], why, "");
        if self.references.iter().any(|reference| reference.name == "mitsuba") {
            self.expect("mitsuba", region, &value, within[1], why, "");
        }
        if self.raster {
            self.expect("raster", region, &value, within[2], why, "");
        }
    }

    /// Adds a bound; `limit` is a line such as `at_most = 0.005`, `more` holds further lines.
    pub fn bound(
        &mut self,
        [test, against]: [&str; 2],
        metric: &str,
        limit: &str,
        more: &str,
        why: &str,
    ) {
        let _ = write!(
            self.rest,
            "\n[[bound]]\ntest = {test:?}\nagainst = {against:?}\nmetric = {metric:?}\n{limit}\n"
        );
        let _ = writeln!(self.rest, "{more}why = {why:?}");
    }

    /// Bounds the path tracer's mean by Mitsuba's; `more` holds further lines.
    pub fn mean_of_mitsuba(&mut self, at_most: &str, more: &str, why: &str) {
        self.bound(["path", "mitsuba"], "mean", &format!("at_most = {at_most}"), more, why);
    }

    /// Bounds of the rasterizer's direct light against the path tracer: mean within 0.5 %, FLIP
    /// below 0.02 beside edges.
    pub fn raster_bounds(&mut self) {
        let why = "direct light alone, at the middles of pixels: two renderers of ours that share no code for light";
        let pair = ["raster", "path_pixel_centers"];
        self.bound(pair, "mean", "at_most = 0.005", "", why);
        self.bound(pair, "flip", "at_most = 0.02", "skip_edges = true\n", why);
    }
}

pub fn list(names: &[String]) -> String {
    format!("regions = {names:?}\n")
}

/// Makes all cameras of the scene parallel, with half sizes `half` (m).
pub fn make_parallel(scene: &mut Scene, half: [f32; 2]) {
    for camera in &mut scene.cameras {
        let projection = Projection::Orthographic {
            half_width: half[0],
            half_height: half[1],
            near: 0.01,
            far: 100.0,
        };
        *camera = Camera { name: camera.name.clone(), projection };
    }
}

/// The mesh without texture coordinates: no case has textures, and files stay small.
pub fn bare(mut part: Primitive) -> Primitive {
    part.uv0.clear();
    part
}

pub fn place(
    builder: &mut SceneBuilder,
    name: &str,
    part: Primitive,
    material: MaterialId,
    at: DVec3,
) {
    let mesh = builder.add_mesh(name, bare(part), material);
    builder.instance(name, mesh, DMat4::from_translation(at));
}

/// The file with equal parts of its binary chunk stored once: many balls share a mesh.
fn shared(file: &[u8]) -> Vec<u8> {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    let json_length = word(12);
    let mut document: Value = serde_json::from_slice(&file[20..20 + json_length]).unwrap();
    let binary = &file[28 + json_length..];
    let mut kept: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut packed = Vec::new();
    for view in document["bufferViews"].as_array_mut().unwrap() {
        let number = |key: &str| view[key].as_u64().unwrap_or(0) as usize;
        let bytes =
            binary[number("byteOffset")..number("byteOffset") + number("byteLength")].to_vec();
        let at = *kept.entry(bytes.clone()).or_insert_with(|| {
            let at = packed.len();
            packed.extend(&bytes);
            packed.resize(packed.len().next_multiple_of(4), 0);
            at
        });
        view["byteOffset"] = at.into();
    }
    document["buffers"][0]["byteLength"] = packed.len().into();
    glb(&document.to_string(), &packed)
}
