//! Sequences: pictures of an animation at equal intervals, with adapting exposure.

use glam::{DMat4, DVec3, Mat3};

use super::{
    error::SessionError,
    expose::{ExposureState, exposure_from_adaptation, is_adaptive},
    open::Session,
    open_scene::OpenScene,
};
use crate::frame::{Aov, RenderSettings, RenderedImage};

/// Frames that bring temporal histories close to those of a longer sequence (docs/animation.md has
/// the error by this number).
const WARM_UP: u32 = 16;

/// Pictures of an animation at equal intervals.
#[derive(Clone, Debug)]
pub struct SequenceSettings {
    /// Time of frame 0 in s.
    pub first: f64,
    /// Pictures per second.
    pub fps: f64,
    /// Numbers of the pictures, increasing.
    pub numbers: Vec<u32>,
    /// Frames rendered before the first picture, and before the next one after a gap, so that
    /// temporal histories exist. None is before frame 0.
    pub warm_up: u32,
    /// Samples of each picture. `None` renders one frame for each, and temporal histories run
    /// through the sequence.
    pub samples: Option<u32>,
    /// Further outputs of each picture.
    pub aovs: Vec<Aov>,
    /// Views around the scene in place of an animation, at the time and with the exposure of the
    /// first.
    pub turntable: Option<Turntable>,
}

/// Views around a vertical axis, at equal angles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turntable {
    /// A point on the axis (m).
    pub center: DVec3,
    /// Number of views of a whole turn, at least 1.
    pub count: u32,
}

impl Turntable {
    /// Angle of a view in degrees, from 0 to 360: counterclockwise from above.
    #[must_use]
    pub fn degrees(&self, number: u32) -> f64 {
        let count = self.count.max(1);
        360.0 * f64::from(number % count) / f64::from(count)
    }

    /// Camera-to-world transform of a view; `first` is that of view 0.
    #[must_use]
    pub fn camera(&self, first: DMat4, number: u32) -> DMat4 {
        let angle = self.degrees(number);
        if angle == 0.0 {
            return first;
        }
        let [to, from] = [self.center, -self.center].map(DMat4::from_translation);
        to * DMat4::from_rotation_y(angle.to_radians()) * from * first
    }
}

impl SequenceSettings {
    /// Time of a frame in s.
    #[must_use]
    pub fn time(&self, number: u32) -> f64 {
        self.first + f64::from(number) / self.fps
    }
}

/// A picture of a sequence.
pub struct SequencePicture {
    /// Its number.
    pub number: u32,
    /// The picture.
    pub image: RenderedImage,
    /// Its exposure.
    pub exposed: ExposureState,
    /// Its white balance.
    pub white_balance: Mat3,
}

/// A frame of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    number: u32,
    /// True if the frame is a picture; the others warm up histories.
    is_picture: bool,
    /// True if the frame does not follow the one before: histories start with it.
    is_start: bool,
}

/// The frames to render for pictures with these numbers. A gap of at most `warm_up` frames is
/// rendered; histories start again after a longer one.
fn steps(numbers: &[u32], warm_up: u32) -> impl Iterator<Item = Step> {
    let before = std::iter::once(None).chain(numbers.iter().copied().map(Some));
    numbers.iter().zip(before).flat_map(move |(&number, before)| {
        let earliest = number.saturating_sub(warm_up);
        let next = before.map(|before| before + 1).filter(|next| earliest <= *next);
        let start = next.unwrap_or(earliest);
        (start..=number).map(move |at| Step {
            number: at,
            is_picture: at == number,
            is_start: at == start && next.is_none(),
        })
    })
}

impl OpenScene {
    /// Default of [`SequenceSettings::warm_up`]: 0 if frames do not depend on earlier ones, 1 if
    /// only velocities do, else `WARM_UP`.
    ///
    /// # Errors
    /// [`SessionError::Look`] if the lens cannot be set to the solved dials.
    pub fn default_warm_up(
        &self,
        exposed: &ExposureState,
        samples: Option<u32>,
        aovs: &[Aov],
    ) -> Result<u32, SessionError> {
        let settings = self.final_settings(exposed, Vec::new())?;
        let has_history = samples.is_none() && settings.has_history() || is_adaptive(self);
        Ok(match has_history {
            true => WARM_UP,
            false => u32::from(aovs.contains(&Aov::Velocity)),
        })
    }
}

impl Session {
    /// Renders a sequence. The session is at the time of frame 0, which has the given exposure and
    /// white balance. Automatic exposure adapts from frame to frame; where histories start after
    /// frame 0, the scene is metered again. `progress` receives the rendered part of all frames, 0
    /// to 1, between frames and samples; its error ends the sequence. `done` receives each
    /// picture.
    ///
    /// Without temporal histories and automatic exposure, a picture depends on its number alone,
    /// not on the other numbers.
    ///
    /// # Errors
    /// [`SessionError`] if a lens cannot be set or rendering fails, and the error of `done`, which
    /// ends the sequence.
    pub fn sequence<E: From<SessionError>>(
        &mut self,
        sequence: &SequenceSettings,
        (mut exposed, mut white_balance): (ExposureState, Mat3),
        progress: &mut dyn FnMut(f64) -> Result<(), SessionError>,
        mut done: impl FnMut(&Self, &SequencePicture) -> Result<(), E>,
    ) -> Result<(), E> {
        let frames = || steps(&sequence.numbers, sequence.warm_up);
        let count = frames().count() as f64;
        let mut ahead = frames().enumerate().peekable();
        let first_camera = self.opened.camera.0;
        let adapts = is_adaptive(&self.opened) && sequence.turntable.is_none();
        while let Some((index, step)) = ahead.next() {
            match &sequence.turntable {
                Some(table) => self.opened.camera.0 = table.camera(first_camera, step.number),
                None if step.number > 0 => self.seek(sequence.time(step.number))?,
                None => {}
            }
            // Each view of a turntable is a still.
            if step.is_start || sequence.turntable.is_some() {
                self.reset_history();
            }
            if step.is_start && step.number > 0 && adapts {
                exposed = self.determine_exposure(true)?;
            }
            let continues = ahead.peek().is_some_and(|(_, next)| !next.is_start);
            if self.opened.timeline.is_some() && step.number > 0 {
                // Dials of the timeline, for the same reading of the meter.
                exposed = exposure_from_adaptation(&self.opened, exposed.metered, exposed.adapted)?;
                if self.opened.physical_camera.dials.white_balance.gray_card.is_none() {
                    white_balance = self.white_balance(exposed.exposure)?;
                }
            }
            let settings = RenderSettings {
                frame_number: step.number,
                history_number: sequence.samples.is_none().then_some(step.number),
                histogram: continues && adapts,
                ..self.picture_settings(&exposed, white_balance, sequence.aovs.clone())?
            };
            let image = match sequence.samples {
                Some(samples) => self.still(&settings, samples, &mut |sample| {
                    let part = f64::from(sample) / f64::from(samples.max(1));
                    progress((index as f64 + part) / count)
                })?,
                None => self.render(&settings)?,
            };
            let picture = SequencePicture { number: step.number, image, exposed, white_balance };
            if step.is_picture {
                done(self, &picture)?;
            }
            if continues {
                progress((index + 1) as f64 / count)?;
            }
            if continues && adapts {
                exposed = self.adapt((&exposed, &picture.image), sequence.fps.recip())?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turntable_turns_the_camera_around_its_axis() {
        let table = Turntable { center: DVec3::new(1.0, 2.0, 3.0), count: 4 };
        let first = DMat4::from_translation(DVec3::new(1.0, 5.0, 7.0));
        assert_eq!((table.camera(first, 0), table.camera(first, 8)), (first, first));
        let quarter = table.camera(first, 1);
        assert!((quarter.w_axis.truncate() - DVec3::new(5.0, 5.0, 3.0)).length() < 1e-12);
        // It looked along -Z, and now looks along -X.
        assert!((quarter.z_axis.truncate() - DVec3::X).length() < 1e-12);
        assert_eq!(table.degrees(3), 270.0);
    }

    /// The frames as text: `+5` is a picture, `5` a frame that warms up, `|` a start.
    fn text(numbers: &[u32], warm_up: u32) -> String {
        let step = |step: Step| {
            let marks = ["", "| "][usize::from(step.is_start)];
            format!("{marks}{}{}", ["", "+"][usize::from(step.is_picture)], step.number)
        };
        steps(numbers, warm_up).map(step).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn histories_are_warmed_up_before_the_first_picture_and_after_gaps() {
        assert_eq!(text(&[0, 1, 2], 0), "| +0 +1 +2");
        assert_eq!(text(&[0, 1, 2], 9), "| +0 +1 +2");
        assert_eq!(text(&[5, 6], 2), "| 3 4 +5 +6");
        // Nothing is before frame 0.
        assert_eq!(text(&[1, 2], 4), "| 0 +1 +2");
        // A gap that is no longer than the warm-up is rendered.
        assert_eq!(text(&[1, 4, 9], 2), "| 0 +1 2 3 +4 | 7 8 +9");
        assert_eq!(text(&[1, 4], 0), "| +1 | +4");
    }
}
