//! Input of the rules.

use std::cell::Cell;

use serde_json::Value;

use super::super::accessor::{Accessor, ReadError, Store};

/// A glTF document and its data, as the rules read them.
pub(super) struct Input<'a> {
    pub(super) root: &'a Value,
    pub(super) store: &'a Store<'a>,
    /// Set if the data is too large to check all of it.
    pub(super) exhausted: Cell<bool>,
}

impl<'a> Input<'a> {
    pub(super) fn accessor(&self, index: usize) -> Option<&'a Accessor> {
        self.store.accessor(index).ok()
    }

    /// Visits an accessor's numbers if it has any; unreadable data is reported elsewhere.
    pub(super) fn visit(&self, accessor: &Accessor, f: &mut dyn FnMut(usize, &[f64])) {
        if accessor.view.is_none() && accessor.sparse.is_none() || self.exhausted.get() {
            return;
        }
        if matches!(self.store.visit(accessor, f), Err(ReadError::TooLarge(_))) {
            self.exhausted.set(true);
        }
    }
}
