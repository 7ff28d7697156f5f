//! State of the command palette.

/// State of the palette.
#[derive(Default)]
pub struct Palette {
    pub(super) open: bool,
    pub(super) text: String,
    pub(super) chosen: usize,
}

impl Palette {
    /// True if it is open.
    pub(super) const fn is_open(&self) -> bool {
        self.open
    }

    /// Opens or closes it.
    pub fn toggle(&mut self) {
        *self = Self { open: !self.open, ..Self::default() };
    }
}
