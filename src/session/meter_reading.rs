//! Readings of the light meter for the window's pictures, kept as long as they hold.

use glam::DMat4;

use crate::{
    camera::Exposure,
    scene::{Projection, look::Look},
    session::{OpenScene, Size},
    viewer::look_change::meters_alike,
};

/// A rendered reading of the light meter, with the state of the session that it depends on.
pub(super) struct MeterReading {
    /// Metered exposure; `None` if nothing is lit.
    pub metered: Option<Exposure>,
    look: Look,
    camera: (DMat4, Projection),
    size: Size,
    time: Option<f64>,
}

impl MeterReading {
    /// A reading of a session's scene.
    pub fn new(session: &OpenScene, metered: Option<Exposure>) -> Self {
        Self {
            metered,
            look: session.look.clone(),
            camera: session.camera,
            size: session.size,
            time: time(session),
        }
    }

    /// True if the meter would read the same now; with `any_size` but for the picture's size.
    pub fn holds(&self, session: &OpenScene, any_size: bool) -> bool {
        self.camera == session.camera
            && self.time == time(session)
            && (any_size || self.size == session.size)
            && meters_alike(&self.look, &session.look)
    }
}

/// Animation time of a session (s), if it is animated.
fn time(session: &OpenScene) -> Option<f64> {
    session.playback.as_ref().map(|animated| animated.time)
}
