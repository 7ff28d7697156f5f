//! State of the list of keys.

/// State of the list.
#[derive(Default)]
pub(super) struct KeyList {
    pub open: bool,
    /// Text that lines contain.
    pub search: String,
    /// True if the list is shown for the first time since it was opened.
    pub starts: bool,
}

impl KeyList {
    /// Opens or closes it.
    pub fn toggle(&mut self) {
        *self = Self { open: !self.open, search: String::new(), starts: true };
    }
}
