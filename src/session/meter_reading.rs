//! Readings of the light meter, kept as long as they hold.

use glam::DMat4;

use super::{look_change::meters_alike, open_scene::OpenScene, size::Size};
use crate::{
    camera::Exposure,
    scene::{Projection, look::Look},
};

/// A rendered reading of the light meter, with the state of the session that it depends on.
pub struct MeterReading {
    /// Metered exposure; `None` if nothing is lit.
    pub metered: Option<Exposure>,
    look: Look,
    camera: (DMat4, Projection),
    size: Size,
    time: Option<f64>,
}

impl MeterReading {
    /// The reading `metered` of a session's scene.
    #[must_use]
    pub fn new(session: &OpenScene, metered: Option<Exposure>) -> Self {
        Self {
            metered,
            look: session.look.clone(),
            camera: session.camera,
            size: session.size,
            time: session.time(),
        }
    }

    /// True if the meter would read the same of `session`; `any_size` ignores the picture's size.
    #[must_use]
    pub fn holds(&self, session: &OpenScene, any_size: bool) -> bool {
        self.camera == session.camera
            && self.time == session.time()
            && (any_size || self.size == session.size)
            && meters_alike(&self.look, &session.look)
    }
}
