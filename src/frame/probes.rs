//! Capture of local probes: six cube faces each, without the light of directly visible lights.

use glam::{DMat3, DMat4, DVec3, Vec3};
use rayon::prelude::*;

use super::{readback::Readback, renderer::Renderer, settings::RenderSettings};
use crate::{
    camera::Exposure,
    gpu::{GpuError, GpuResult},
    gpu_scene::{GpuScene, View},
    photometry::{
        Ev100,
        environment::{RadianceMap, RowMapping},
    },
    scene::{Probe, Projection, Scene},
    settings::{ClusteredLightSettings, CullingSettings, ShadowSettings},
};

/// Right, up and back vectors of the cameras along +X, -X, +Y, -Y, +Z, -Z, as columns.
const FACES: [[DVec3; 3]; 6] = [
    [DVec3::Z, DVec3::Y, DVec3::NEG_X],
    [DVec3::NEG_Z, DVec3::Y, DVec3::X],
    [DVec3::X, DVec3::Z, DVec3::NEG_Y],
    [DVec3::X, DVec3::NEG_Z, DVec3::Y],
    [DVec3::NEG_X, DVec3::Y, DVec3::NEG_Z],
    [DVec3::X, DVec3::Y, DVec3::Z],
];

/// Near plane of a probe in meters.
const NEAR: f32 = 0.01;

/// Maximum number of exposures tried.
const ROUNDS: u32 = 4;

/// An image of each cube face: nits per channel, top row first.
struct Cube {
    size: usize,
    faces: Vec<Vec<[f32; 3]>>,
}

impl Cube {
    fn texel(&self, face: usize, x: f64, y: f64) -> Vec3 {
        let last = self.size as f64 - 1.0;
        let (x, y) = (x.clamp(0.0, last), y.clamp(0.0, last));
        let at = |x: f64, y: f64| {
            let index = y.min(last) as usize * self.size + x.min(last) as usize;
            self.faces
                .get(face)
                .and_then(|pixels| pixels.get(index))
                .map_or(Vec3::ZERO, |p| Vec3::from_array(*p))
        };
        let (x0, y0) = (x.floor(), y.floor());
        let (fx, fy) = ((x - x0) as f32, (y - y0) as f32);
        at(x0, y0)
            .lerp(at(x0 + 1.0, y0), fx)
            .lerp(at(x0, y0 + 1.0).lerp(at(x0 + 1.0, y0 + 1.0), fx), fy)
    }

    /// Radiance from a direction in nits per channel, interpolated within a face.
    fn sample(&self, d: DVec3) -> Vec3 {
        let a = d.abs();
        let face = if a.x >= a.y && a.x >= a.z {
            usize::from(d.x < 0.0)
        } else if a.y >= a.z {
            2 + usize::from(d.y < 0.0)
        } else {
            4 + usize::from(d.z < 0.0)
        };
        let local =
            DMat3::from_cols_array_2d(&FACES[face].map(|axis| axis.to_array())).transpose() * d;
        let half = 0.5 * self.size as f64;
        self.texel(
            face,
            (local.x / -local.z + 1.0) * half - 0.5,
            (1.0 - local.y / -local.z) * half - 0.5,
        )
    }

    /// Resamples to a lat-long map whose texels are as large as the pixels at the centers of the
    /// faces.
    fn map(&self) -> GpuResult<RadianceMap> {
        let (width, height) = (self.size * 4, self.size * 2);
        let grid =
            RadianceMap::new(width, height, RowMapping::Linear, vec![Vec3::ZERO; width * height]);
        let refused = |error: crate::photometry::environment::MapError| GpuError::Pipeline {
            pipeline: "probes".into(),
            detail: error.to_string(),
        };
        let grid = grid.map_err(refused)?;
        let texels = (0..width * height)
            .into_par_iter()
            .map(|i| {
                let parts = [(0.25, 0.25), (0.75, 0.25), (0.25, 0.75), (0.75, 0.75)];
                let of = |(x, y)| self.sample(grid.direction_in_texel(i % width, i / width, x, y));
                parts.into_iter().map(of).sum::<Vec3>() / 4.0
            })
            .collect();
        RadianceMap::new(width, height, RowMapping::Linear, texels).map_err(refused)
    }
}

impl Renderer {
    /// Captures all probes of a scene on the device with these shadow settings. The first capture
    /// has direct light only; each of the probe's `bounces` adds one with the previous captures.
    ///
    /// # Errors
    /// [`GpuError`](crate::gpu::GpuError) if memory is exhausted or the device is lost.
    pub(super) fn capture_probes(
        &mut self,
        scene: &Scene,
        on_device: &mut GpuScene,
        shadows: &ShadowSettings,
    ) -> GpuResult<()> {
        let Some(mut capture) = on_device.capture.take() else { return Ok(()) };
        let gpu = self.gpu.clone();
        let mut maps: Vec<Option<RadianceMap>> = vec![None; scene.probes.len()];
        let rounds = scene.probes.iter().map(|probe| probe.bounces).max().unwrap_or(0);
        for round in 0..rounds {
            capture.swap_materials(&mut on_device.materials);
            for (probe, map) in scene.probes.iter().zip(&mut maps) {
                if round < probe.bounces {
                    *map = Some(self.cube(probe, on_device, shadows)?.map()?);
                }
            }
            capture.swap_materials(&mut on_device.materials);
            on_device.environment = capture.light(&gpu, &mut on_device.probes, &maps)?;
        }
        Ok(())
    }

    fn cube(
        &mut self,
        probe: &Probe,
        scene: &GpuScene,
        shadows: &ShadowSettings,
    ) -> GpuResult<Cube> {
        let projection = Projection::Perspective {
            vertical_fov: std::f32::consts::FRAC_PI_2,
            aspect: None,
            near: NEAR,
            far: None,
        };
        let mut exposure = Exposure::default();
        let mut cube = Cube { size: probe.resolution as usize, faces: Vec::new() };
        for _ in 0..ROUNDS {
            let settings = RenderSettings {
                exposure,
                clustered_lights: ClusteredLightSettings {
                    enabled: false,
                    ..ClusteredLightSettings::default()
                },
                shadows: *shadows,
                // GPU culling draws all instances, including the hidden bodies of lights.
                culling: CullingSettings { enabled: false, ..CullingSettings::default() },
                capture: true,
                ..RenderSettings::default()
            };
            cube.faces.clear();
            for axes in FACES {
                let [right, up, back] = axes.map(|axis| axis.extend(0.0));
                let world = DMat4::from_cols(right, up, back, probe.position.extend(1.0));
                let view = View::new(world, &projection, probe.resolution, probe.resolution);
                let pending =
                    self.submit(scene, &view, &settings, Readback { display: false, nits: true })?;
                cube.faces.push(self.collect(pending)?.nits);
            }
            let brightest =
                cube.faces.iter().flatten().flatten().fold(0.0f32, |max, &v| max.max(v));
            // Half floats have full precision from 6e-5 to 65504.
            let exposed = f64::from(brightest) * exposure.multiplier();
            if exposed == 0.0 || (1.0..=30_000.0).contains(&exposed) {
                break;
            }
            // At the upper end the reading was clipped, so the exposure drops by 12 stops.
            let stops = if exposed > 30_000.0 { 12.0 } else { 0.0 };
            let next = exposure.ev100().0 + exposed.log2() + stops;
            exposure = Exposure::from_ev100(Ev100(next.clamp(-40.0, 60.0))).unwrap_or_default();
        }
        Ok(cube)
    }
}
