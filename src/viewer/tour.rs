//! The tour: six steps through the window, shown at the first start.

/// A step: title and text.
pub(super) const STEPS: [(&str, &str); 6] = [
    (
        "Look around",
        "Drag with the middle button to orbit, with the right one to pan; the wheel dollies. F \
         frames the selection, Home returns to the look's camera.",
    ),
    (
        "Set a light",
        "Click a ring in the picture or a name on the left. The right panel has its strength, \
         color temperature and size. Fields take units: 4000K, 1500lm, 3ft.",
    ),
    (
        "Place it",
        "G moves, R turns and T sizes the selected light by handles. The list Tools aims it, and \
         puts its highlight or its shadow where you click. Add brings new lights.",
    ),
    (
        "Expose",
        "Select Camera: aperture, shutter and ISO as on a camera, f/2.8 or 1/125s. M measures lux \
         by a click, H shows scopes, C shows false color and zones.",
    ),
    (
        "Compare",
        "V compares the picture with the path tracer by wipe, flicker or difference. X opens the \
         mixer, which balances lights without rendering again.",
    ),
    (
        "Save",
        "Ctrl+S writes the look file and keeps its comments; Ctrl+Z undoes. Ctrl+P finds any \
         property by name, F1 lists the keys.",
    ),
];

/// The tour.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Tour {
    /// Index of the shown step; none while it is not shown.
    pub step: Option<usize>,
}

impl Tour {
    /// The next step, or the first; none after the last one.
    pub fn forward(&mut self) {
        self.step = Some(self.step.map_or(0, |step| step + 1)).filter(|&step| step < STEPS.len());
    }

    /// The step before.
    pub fn back(&mut self) {
        self.step = self.step.map(|step| step.saturating_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_six_steps_and_ends() {
        let mut tour = Tour::default();
        tour.back();
        assert_eq!(tour.step, None);
        for step in 0..STEPS.len() {
            tour.forward();
            assert_eq!(tour.step, Some(step));
        }
        tour.back();
        assert_eq!(tour.step, Some(4));
        tour.forward();
        tour.forward();
        assert_eq!(tour, Tour::default());
    }
}
