//! Intel Open Image Denoise (cargo feature `oidn`).

use glam::DVec3;

use crate::{
    cli::error::CliError,
    reference::{FilmSettings, LensCamera, World},
};

/// Samples a pixel of the albedo and normal guides.
#[cfg(feature = "oidn")]
const GUIDE_SAMPLES: u32 = 32;

/// Checks that a requested denoiser is built in.
pub fn check(requested: bool) -> Result<(), CliError> {
    if requested && !cfg!(feature = "oidn") {
        return Err(CliError::Usage(
            "--denoise is not available: built without Open Image Denoise; build with `--features oidn` (docs/reference.md)"
                .into(),
        ));
    }
    Ok(())
}

/// Denoises a picture (nits), guided by albedo and normals.
#[cfg(feature = "oidn")]
pub fn denoise(
    nits: &mut [DVec3],
    world: &World<'_>,
    camera: &LensCamera,
    (width, height): (usize, usize),
    settings: &FilmSettings,
) -> Result<(), CliError> {
    let oops = |what: String| CliError::Internal(format!("--denoise: Open Image Denoise: {what}"));
    let [albedo, normal] = crate::reference::aov::denoiser_guides(
        world,
        camera,
        (width, height),
        settings,
        GUIDE_SAMPLES,
    )
    .map(|v| v.concat());
    let mut color: Vec<f32> = nits.iter().flat_map(|c| c.as_vec3().to_array()).collect();
    let device = oidn::Device::cpu().map_err(|error| oops(format!("{error:?}")))?;
    let mut filter =
        oidn::RayTracing::try_new(&device).map_err(|error| oops(format!("{error:?}")))?;
    filter.hdr(true).srgb(false).image_dimensions(width, height).albedo_normal(&albedo, &normal);
    filter.filter_in_place(&mut color).map_err(|error| oops(format!("{error:?}")))?;
    device.get_error().map_err(|error| oops(format!("{error:?}")))?;
    for (pixel, found) in nits.iter_mut().zip(color.as_chunks::<3>().0) {
        let found = glam::Vec3::from_array(*found).as_dvec3();
        // Pixels where the filter returns NaN or infinity stay unfiltered.
        if found.is_finite() {
            *pixel = found.max(DVec3::ZERO);
        }
    }
    Ok(())
}

#[cfg(not(feature = "oidn"))]
pub fn denoise(
    _: &mut [DVec3],
    _: &World<'_>,
    _: &LensCamera,
    _: (usize, usize),
    _: &FilmSettings,
) -> Result<(), CliError> {
    check(true)
}
