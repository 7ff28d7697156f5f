//! Settings of frames.

use sunny16::{
    camera::Exposure,
    frame::{ClusteredLightSettings, RenderSettings, ShadowSettings},
    photometry::Ev100,
    scene::look::ShadowMethod,
};

/// The exposure that maps this luminance to this exposed value.
pub fn exposure_for(nits: f64, value: f64) -> Exposure {
    Exposure::from_ev100(Ev100((nits / (1.2 * value)).log2())).unwrap()
}

/// Default settings at this exposure.
pub fn exposed(nits: f64, value: f64) -> RenderSettings {
    RenderSettings { exposure: exposure_for(nits, value), ..RenderSettings::default() }
}

/// Every light at every surface.
pub fn unclustered() -> ClusteredLightSettings {
    ClusteredLightSettings { enabled: false, ..ClusteredLightSettings::default() }
}

/// Lights without shadows.
pub fn unshadowed() -> ShadowSettings {
    ShadowSettings { enabled: false, ..ShadowSettings::default() }
}

/// Shadows by this many rays for each pixel and light.
pub fn traced_shadows(samples: u32) -> ShadowSettings {
    ShadowSettings { method: ShadowMethod::Traced, samples, ..ShadowSettings::default() }
}
