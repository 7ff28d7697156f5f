//! Undo and redo: each step keeps the whole content before a change.

use std::sync::Arc;

use super::flow_maps::{Content, Maps, Painted};

/// Maximum number of undo steps; each keeps its whole text.
const MAX_STEPS: usize = 1000;

/// Maximum bytes of painted flow maps in the history; the oldest steps are dropped first.
const MAX_MAP_BYTES: usize = 256 << 20;

/// A step: the content before a change, and the change's name.
#[derive(Clone)]
struct Step {
    content: Content,
    what: String,
}

impl Step {
    /// Bytes of its maps that the next step does not share.
    fn new_bytes(&self, next: &Maps) -> usize {
        let gone = |(name, painted): &(&String, &Painted)| {
            next.get(*name).is_none_or(|other| !Arc::ptr_eq(&other.map, &painted.map))
        };
        let bytes =
            |painted: &Painted| painted.map.width() * painted.map.height() * size_of::<[f32; 3]>();
        self.content.maps.iter().filter(gone).map(|(_, painted)| bytes(painted)).sum()
    }
}

/// The undo and redo steps of a look.
#[derive(Clone, Default)]
pub(super) struct History {
    undo: Vec<Step>,
    redo: Vec<Step>,
    /// The current gesture's change: further changes of the same properties join its undo step.
    last: Option<String>,
}

impl History {
    /// Records a change, named `what`, of a content to one with the maps `next`.
    pub fn record(&mut self, before: &Content, next: &Maps, what: &str) {
        if self.last.as_deref() != Some(what) || self.undo.is_empty() {
            self.undo.push(Step { content: before.clone(), what: what.into() });
            let mut held: usize =
                self.undo.windows(2).map(|pair| pair[0].new_bytes(&pair[1].content.maps)).sum();
            while self.undo.len() > MAX_STEPS || (self.undo.len() > 1 && held > MAX_MAP_BYTES) {
                let after = self.undo.get(1).map_or(next, |step| &step.content.maps);
                held = held.saturating_sub(self.undo[0].new_bytes(after));
                self.undo.remove(0);
            }
        }
        self.redo.clear();
        self.last = Some(what.into());
    }

    /// Ends a gesture: the next change starts a new step.
    pub fn end_gesture(&mut self) {
        self.last = None;
    }

    /// Undoes the last step of a content and returns the step's name.
    pub fn undo(&mut self, content: &mut Content) -> Option<String> {
        let what = exchange(&mut self.undo, &mut self.redo, content)?;
        self.last = None;
        Some(what)
    }

    /// Redoes the last undone step of a content and returns the step's name.
    pub fn redo(&mut self, content: &mut Content) -> Option<String> {
        let what = exchange(&mut self.redo, &mut self.undo, content)?;
        self.last = None;
        Some(what)
    }

    /// Names of the steps that undo and redo would apply.
    pub fn names(&self) -> [Option<&str>; 2] {
        [&self.undo, &self.redo].map(|steps| steps.last().map(|step| step.what.as_str()))
    }

    /// The contents of all steps.
    pub fn contents_mut(&mut self) -> impl Iterator<Item = &mut Content> {
        self.undo.iter_mut().chain(&mut self.redo).map(|step| &mut step.content)
    }
}

/// Moves a step to the opposite list, with the current content in place of its own.
fn exchange(from: &mut Vec<Step>, to: &mut Vec<Step>, content: &mut Content) -> Option<String> {
    let step = from.pop()?;
    let before = std::mem::replace(content, step.content);
    to.push(Step { content: before, what: step.what.clone() });
    Some(step.what)
}
