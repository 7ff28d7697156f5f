//! Sequences: pictures of an animation at equal intervals, with adapting exposure.

use glam::Mat3;

use super::{
    error::SessionError,
    expose::{ExposureState, is_adaptive},
    open::Session,
};
use crate::frame::{Aov, RenderSettings, RenderedImage};

/// Pictures of an animation at equal intervals.
#[derive(Clone, Debug)]
pub struct SequenceSettings {
    /// Time of the first picture in s.
    pub first: f64,
    /// Pictures per second.
    pub fps: f64,
    /// Number of pictures.
    pub count: u32,
    /// Samples of each picture. `None` renders one frame for each, and temporal histories run
    /// through the sequence.
    pub samples: Option<u32>,
    /// Further outputs of each picture.
    pub aovs: Vec<Aov>,
}

/// A picture of a sequence.
pub struct SequencePicture {
    /// Its number, from 0.
    pub number: u32,
    /// The picture.
    pub image: RenderedImage,
    /// Its exposure.
    pub exposed: ExposureState,
}

impl Session {
    /// Renders a sequence; the session is at the time of its first picture, which has the given
    /// exposure and white balance. Automatic exposure then adapts from picture to picture. `done`
    /// receives each picture.
    ///
    /// # Errors
    /// [`SessionError`] if a lens cannot be set or rendering fails, and the error of `done`, which
    /// ends the sequence.
    pub fn sequence<E: From<SessionError>>(
        &mut self,
        sequence: &SequenceSettings,
        (mut exposed, white_balance): (ExposureState, Mat3),
        mut done: impl FnMut(&Self, &SequencePicture) -> Result<(), E>,
    ) -> Result<(), E> {
        for number in 0..sequence.count {
            if number > 0 {
                self.seek(sequence.first + f64::from(number) / sequence.fps)?;
            }
            let last = number + 1 == sequence.count;
            let settings = RenderSettings {
                frame_number: number,
                histogram: !last && is_adaptive(&self.opened),
                ..self.picture_settings(&exposed, white_balance, sequence.aovs.clone())?
            };
            let image = match sequence.samples {
                Some(samples) => self.still(&settings, samples, &mut |_| Ok(()))?,
                None => self.render(&settings)?,
            };
            let picture = SequencePicture { number, image, exposed };
            done(self, &picture)?;
            if !last {
                exposed = self.adapt((&exposed, &picture.image), sequence.fps.recip())?;
            }
        }
        Ok(())
    }
}
