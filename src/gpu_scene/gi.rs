//! Indirect light (GI) of a scene: the virtual point lights (VPLs) of photons traced on the host
//! (docs/instant-radiosity.md) or its irradiance volume (docs/irradiance-volumes.md), and the mean
//! materials of ray hits.

use std::sync::Arc;

use glam::{DVec3, DVec4, Vec3};

use super::{buffers::storage_buffer, irradiance_volume::IrradianceVolume};
use crate::{
    bvh::SceneBvh,
    gi::{
        Radiosity, Vpl, VplNode, VplSet, dfg_lookup, dielectric_f0, dielectric_f90,
        diffuse_fraction, diffuse_lobe_weight,
    },
    gpu::{Buffer, Gpu, GpuResult, shader_structs::gi::HitMaterial, upload::Uploader},
    photometry::color::{luminance, srgb_eotf},
    scene::{Material, Scene, TextureRef},
    settings::{GiMethod, GiSettings},
};

/// Host layouts of a VPL and a VPL tree node, for the layout test.
pub const VPL_LAYOUTS: [crate::gpu::reflect::HostLayout; 2] = [
    crate::gpu::reflect::HostLayout {
        name: "Vpl",
        size: size_of::<Vpl>(),
        fields: &[
            ("position", std::mem::offset_of!(Vpl, position)),
            ("normal", std::mem::offset_of!(Vpl, normal)),
            ("flux", std::mem::offset_of!(Vpl, flux)),
            ("size", std::mem::offset_of!(Vpl, size)),
        ],
    },
    crate::gpu::reflect::HostLayout {
        name: "VplNode",
        size: size_of::<VplNode>(),
        fields: &[
            ("low", std::mem::offset_of!(VplNode, low)),
            ("flux", std::mem::offset_of!(VplNode, flux)),
            ("high", std::mem::offset_of!(VplNode, high)),
            ("axis", std::mem::offset_of!(VplNode, axis)),
            ("cos_spread", std::mem::offset_of!(VplNode, cos_spread)),
            ("first", std::mem::offset_of!(VplNode, first)),
            ("leaf", std::mem::offset_of!(VplNode, leaf)),
            ("pad0", std::mem::offset_of!(VplNode, pad)),
        ],
    },
];

/// Indirect light of a scene on the device.
pub struct SceneGi {
    host: Radiosity,
    bvh: SceneBvh,
    /// The VPLs on the host.
    pub set: Arc<VplSet>,
    pub(crate) vpls: Arc<Buffer>,
    pub(crate) nodes: Arc<Buffer>,
    pub(crate) hit_materials: Arc<Buffer>,
    /// Means of the materials' textures.
    means: Vec<TextureMeans>,
    /// True if any material reflects photons in a narrow lobe.
    pub(crate) caustics: bool,
    /// Flux-weighted mean radius of the VPLs (m).
    pub(crate) radius: f64,
    /// Radius (m) of the debug ball of a VPL of 1 lm.
    pub(crate) ball: f32,
    /// Incremented with each change of the VPLs.
    pub generation: u64,
    /// Fraction of the flux that changed since the last generation, 0 to 1.
    pub changed_fraction: f32,
    /// Irradiance volume, with `gi.method=probes`.
    pub volume: Option<Arc<IrradianceVolume>>,
    /// Incremented with each upload of `hit_materials`.
    pub(super) materials_revision: u64,
}

impl SceneGi {
    /// Traces photons through a scene and uploads the VPLs; with `gi.method=probes` there are none.
    ///
    /// # Errors
    /// `GpuError` if memory runs out or the device is lost.
    pub fn new(gpu: &Gpu, scene: &Scene, settings: &GiSettings) -> GpuResult<Self> {
        if settings.method == GiMethod::Probes {
            return Self::from_vpls(gpu, scene, Arc::default());
        }
        let mut bvh = SceneBvh::new(scene, |_| true);
        bvh.build_wide();
        let mut host = Radiosity::default();
        let (set, _) = host.update(scene, &bvh, settings);
        Ok(Self { host, bvh, ..Self::from_vpls(gpu, scene, set)? })
    }

    /// Uploads the given VPLs instead of those of traced photons.
    ///
    /// # Errors
    /// `GpuError` if memory runs out or the device is lost.
    pub fn from_vpls(gpu: &Gpu, scene: &Scene, set: Arc<VplSet>) -> GpuResult<Self> {
        let mut uploader = Uploader::new(gpu)?;
        let means: Vec<_> = scene.materials.iter().map(|m| TextureMeans::of(scene, m)).collect();
        let (hit_materials, caustics) = upload_hit_materials(gpu, &mut uploader, scene, &means)?;
        let [vpls, nodes] = upload_set(gpu, &mut uploader, &set)?;
        uploader.finish()?;
        let radius = mean_radius(&set);
        let ball = ball(&set, radius);
        let (host, bvh) = (Radiosity::default(), SceneBvh::default());
        Ok(Self {
            host,
            bvh,
            set,
            vpls,
            nodes,
            hit_materials,
            means,
            caustics,
            radius,
            ball,
            generation: 0,
            changed_fraction: 1.0,
            volume: None,
            materials_revision: 0,
        })
    }

    /// Uploads the materials of ray hits with the scene's present factors.
    ///
    /// # Errors
    /// `GpuError` if memory runs out or the device is lost.
    pub(super) fn follow_materials(
        &mut self,
        gpu: &Gpu,
        uploader: &mut Uploader,
        scene: &Scene,
    ) -> GpuResult<()> {
        (self.hit_materials, self.caustics) =
            upload_hit_materials(gpu, uploader, scene, &self.means)?;
        self.materials_revision += 1;
        Ok(())
    }

    /// Updates the VPLs after lights, nodes or vertices of the scene have moved.
    ///
    /// # Errors
    /// `GpuError` if memory runs out or the device is lost.
    pub fn follow(&mut self, gpu: &Gpu, scene: &Scene, settings: &GiSettings) -> GpuResult<()> {
        if settings.method == GiMethod::Probes {
            return Ok(());
        }
        let fits = self.bvh.matches(scene) && self.bvh.casts_as(scene);
        if !fits || !scene.deformed().is_empty() {
            self.bvh = SceneBvh::new(scene, |_| true);
            self.bvh.build_wide();
        } else {
            self.bvh.rebuild_tlas(scene);
            self.bvh.update_masks(scene);
        }
        let (set, change) = self.host.update(scene, &self.bvh, settings);
        if Arc::ptr_eq(&set, &self.set) {
            return Ok(());
        }
        let mut uploader = Uploader::new(gpu)?;
        // New buffers: a frame in flight reads the old ones.
        [self.vpls, self.nodes] = upload_set(gpu, &mut uploader, &set)?;
        uploader.finish()?;
        self.radius = mean_radius(&set);
        self.ball = ball(&set, self.radius);
        self.set = set;
        self.generation += 1;
        self.changed_fraction = change.0;
        Ok(())
    }
}

impl SceneGi {
    /// Places the probes of the irradiance volume over these bounds (m), if it does not fit them.
    /// `None`: no volume.
    ///
    /// # Errors
    /// As `IrradianceVolume::new`.
    pub(super) fn follow_volume(
        &mut self,
        gpu: &Gpu,
        bounds: Option<(DVec3, DVec3)>,
        settings: &GiSettings,
    ) -> GpuResult<()> {
        let fitting = |volume: &Arc<IrradianceVolume>, bounds| volume.fits(bounds, settings);
        self.volume = match (self.volume.take(), bounds) {
            (_, None) => None,
            (Some(volume), Some(bounds)) if fitting(&volume, bounds) => Some(volume),
            (_, Some(bounds)) => Some(IrradianceVolume::new(gpu, bounds, settings.probe_spacing)?),
        };
        Ok(())
    }
}

fn upload(
    gpu: &Gpu,
    uploader: &mut Uploader,
    name: &str,
    bytes: &[u8],
    least: usize,
) -> GpuResult<Arc<Buffer>> {
    storage_buffer(gpu, uploader, (name, least as u64), bytes, "choose fewer, --set gi.vpls=...")
}

fn upload_set(gpu: &Gpu, uploader: &mut Uploader, set: &VplSet) -> GpuResult<[Arc<Buffer>; 2]> {
    Ok([
        upload(gpu, uploader, "vpls", bytemuck::cast_slice(&set.vpls), size_of::<Vpl>())?,
        upload(
            gpu,
            uploader,
            "vpl light tree",
            bytemuck::cast_slice(&set.nodes),
            size_of::<VplNode>(),
        )?,
    ])
}

/// Flux-weighted mean radius of the VPLs (m).
fn mean_radius(set: &VplSet) -> f64 {
    let (sum, flux) = set.vpls.iter().fold((0.0, 0.0), |(sum, flux), vpl| {
        let own = f64::from(vpl.flux.element_sum());
        (sum + own * f64::from(vpl.size), flux + own)
    });
    if flux > 0.0 { sum / flux } else { 0.0 }
}

/// Radius (m) of the debug ball of 1 lm: a VPL of mean flux gets half the mean VPL radius.
fn ball(set: &VplSet, radius: f64) -> f32 {
    let flux: f64 = set.vpls.iter().map(|vpl| luminance(vpl.flux.as_dvec3())).sum();
    let mean = flux / set.vpls.len().max(1) as f64;
    if mean > 0.0 { (0.5 * radius / mean.sqrt()) as f32 } else { 0.0 }
}

/// Approximate number of texels that a texture mean samples.
const MEAN_TEXELS: usize = 1 << 14;

/// Means of a material's textures: linear light of colors, roughness (y) and metallic (z), specular
/// factor.
#[derive(Clone, Copy)]
struct TextureMeans {
    base_color: DVec3,
    metallic_roughness: DVec3,
    emission: DVec3,
    specular_color: DVec3,
    specular: f64,
}

impl TextureMeans {
    fn of(scene: &Scene, material: &Material) -> Self {
        Self {
            base_color: mean_of(scene, material.base_color_texture, true).truncate(),
            metallic_roughness: mean_of(scene, material.metallic_roughness_texture, false)
                .truncate(),
            emission: mean_of(scene, material.emissive_texture, true).truncate(),
            specular_color: mean_of(scene, material.specular.color_texture, true).truncate(),
            specular: mean_of(scene, material.specular.texture, false).w,
        }
    }
}

/// Uploads the materials of ray hits, the default material last. True if any reflects in a narrow
/// lobe.
fn upload_hit_materials(
    gpu: &Gpu,
    uploader: &mut Uploader,
    scene: &Scene,
    means: &[TextureMeans],
) -> GpuResult<(Arc<Buffer>, bool)> {
    let plain = Material::default();
    let materials: Vec<HitMaterial> = (scene.materials.iter().zip(means))
        .map(|(material, means)| hit_material(material, means, scene.emissive_lights))
        .chain([hit_material(&plain, &TextureMeans::of(scene, &plain), false)])
        .collect();
    let caustics = materials.iter().any(|material| material.specular != Vec3::ZERO);
    let bytes = bytemuck::cast_slice(&materials);
    let buffer = upload(gpu, uploader, "gi hit materials", bytes, size_of::<HitMaterial>())?;
    Ok((buffer, caustics))
}

/// Reflectance and emission of a material with the means of its textures, for ray hits, where no
/// textures are bound. Split into lobes as in photon tracing (`gi::diffuse_lobe_weight`).
/// `emissive_lights`: emission is a light's, and counts there.
fn hit_material(material: &Material, means: &TextureMeans, emissive_lights: bool) -> HitMaterial {
    let base = means.base_color * material.base_color.truncate().as_dvec3();
    let base = base.clamp(DVec3::ZERO, DVec3::ONE);
    let mixed = means.metallic_roughness;
    let metallic = (f64::from(material.metallic) * mixed.z).clamp(0.0, 1.0);
    let roughness = (f64::from(material.roughness) * mixed.y).clamp(0.0, 1.0);
    if material.unlit {
        return HitMaterial::default();
    }
    let opaque = (1.0 - metallic) * f64::from(1.0 - material.transmission.clamp(0.0, 1.0));
    let ior = f64::from(material.ior);
    let f90 = dielectric_f90(ior, f64::from(material.specular.factor) * means.specular);
    let tint = material.specular.color.as_dvec3() * means.specular_color;
    let own_f0 = dielectric_f0(ior, tint, f90);
    let f0 = own_f0 * opaque + base * metallic;
    let entry = dfg_lookup(0.7, roughness);
    let wide = diffuse_lobe_weight(roughness * roughness, f0.max_element());
    let left = diffuse_fraction(own_f0.max_element(), f90, entry.z);
    let diffuse_part =
        base * (opaque * left) + (f0 * entry.x + entry.y * (f90 * opaque + metallic)) * wide;
    let emission = if emissive_lights {
        Vec3::ZERO
    } else {
        (means.emission * material.emission.as_dvec3()).as_vec3()
    };
    HitMaterial {
        diffuse: diffuse_part.clamp(DVec3::ZERO, DVec3::ONE).as_vec3(),
        alpha: (roughness * roughness) as f32,
        specular: (f0 * (1.0 - wide)).as_vec3(),
        emission,
        double_sided: u32::from(material.double_sided),
        ..HitMaterial::default()
    }
}

/// Mean of a texture's texels, in linear light for colors (`srgb`); 1 without a texture.
fn mean_of(scene: &Scene, texture: Option<TextureRef>, srgb: bool) -> DVec4 {
    texture
        .and_then(|reference| scene.textures.get(reference.texture))
        .and_then(|texture| scene.images.get(texture.image))
        .map_or(DVec4::ONE, |image| {
            let texels = image.rgba8.len() / 4;
            let step = (texels / MEAN_TEXELS).max(1);
            let value = |code: u8| f64::from(code) / 255.0;
            let linear: Vec<f64> = (0..=255)
                .map(|code| if srgb { srgb_eotf(value(code)) } else { value(code) })
                .collect();
            let (sum, count) = image.rgba8.chunks_exact(4).step_by(step).fold(
                (DVec4::ZERO, 0.0),
                |(sum, count), t| {
                    let of = |i: usize| linear[usize::from(t[i])];
                    (sum + DVec4::new(of(0), of(1), of(2), value(t[3])), count + 1.0)
                },
            );
            if count > 0.0 { sum / count } else { DVec4::ONE }
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::build::{SceneBuilder, dielectric, metal};

    /// The split into narrow and wide lobes must conserve energy at every roughness.
    #[test]
    fn metals_keep_their_light_at_every_roughness() {
        let scene = SceneBuilder::new("nothing").build().unwrap();
        let hit_alone =
            |material: &Material| hit_material(material, &TextureMeans::of(&scene, material), true);
        let all = |roughness: f32| {
            let met = hit_alone(&metal("metal", Vec3::splat(0.9), roughness));
            f64::from(met.diffuse.x + met.specular.x)
        };
        for step in 0..100u8 {
            let [here, next] = [step, step + 1].map(|step| all(f32::from(step) / 100.0));
            // Single scattering loses energy as roughness grows, about two thirds at roughness 1,
            // but little within a hundredth of roughness.
            assert!(here > 0.3 && (here - next).abs() < 0.04, "{step}: {here} and {next}");
        }
        let plastic = hit_alone(&dielectric("plastic", Vec3::splat(0.5), 0.2));
        assert!(plastic.specular == Vec3::ZERO && plastic.diffuse.x > 0.4);
        // No ray traces the lobe of a dielectric: at any roughness its light counts as diffuse.
        for roughness in [0.0, 0.2, 0.5] {
            let wet = hit_alone(&dielectric("wet asphalt", Vec3::ZERO, roughness));
            assert!(wet.specular == Vec3::ZERO && wet.diffuse.x > 0.035, "{}", wet.diffuse);
        }
    }

    /// Photons and ray hits reflect a dielectric's light alike: index and specular factor count.
    #[test]
    fn dielectrics_reflect_by_their_index_and_specular_factor() {
        let scene = SceneBuilder::new("nothing").build().unwrap();
        let met = |ior: f32, factor: f32| {
            let mut black = dielectric("black", Vec3::ZERO, 0.4);
            black.ior = ior;
            black.specular.factor = factor;
            hit_material(&black, &TextureMeans::of(&scene, &black), true)
        };
        let [water, glass, diamond] = [1.33, 1.5, 2.417].map(|ior| met(ior, 1.0).diffuse.x);
        assert!(water < 0.75 * glass && diamond > 3.0 * glass, "{water}, {glass}, {diamond}");
        let half = met(1.5, 0.5).diffuse.x;
        assert!((half / glass - 0.5).abs() < 1e-5, "{half} of {glass}");
        assert_eq!(met(1.5, 0.0).diffuse, Vec3::ZERO);
        assert_eq!(met(1.0, 1.0).diffuse, Vec3::ZERO);
        // F0 of 0.25: a ray traces it.
        assert!(met(3.0, 1.0).specular.x > 0.0);
    }
}
