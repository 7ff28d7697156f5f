//! Resources of the graph, and their handles.

use std::sync::{Arc, Mutex, PoisonError};

use ash::vk;

use super::access::State;
use crate::gpu::Image;

/// Handle of an image in the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImageHandle(pub(super) usize);

/// Handle of a buffer in the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BufferHandle(pub(super) usize);

/// A handle of an image or a buffer.
pub trait Handle: Copy {
    /// Index among the graph's resources.
    fn index(self) -> usize;
}

impl Handle for ImageHandle {
    fn index(self) -> usize {
        self.0
    }
}

impl Handle for BufferHandle {
    fn index(self) -> usize {
        self.0
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// An image that lives for a part of the frame and may share memory with others.
    Transient { width: u32, height: u32, format: vk::Format },
    /// One of the two ping-pong images of a history; `slot` selects it.
    History { key: String, slot: usize, width: u32, height: u32, format: vk::Format },
    /// An image that keeps its content from frame to frame.
    Persistent { width: u32, height: u32, format: vk::Format },
    /// A device buffer that is reused from frame to frame; its content at the frame's start is
    /// undefined.
    Storage { size: u64 },
    /// A buffer that the caller owns.
    External,
    /// An image that several graphs use in turn.
    Shared { width: u32, height: u32, format: vk::Format },
    /// A host buffer, the target of copies.
    Readback { size: u64 },
}

/// An image that several graphs use in turn, with the state after its last use.
pub struct SharedImage {
    pub(super) image: Arc<Image>,
    state: Mutex<State>,
}

impl std::fmt::Debug for SharedImage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SharedImage({}, {:?})", self.image.name(), self.image.info())
    }
}

impl SharedImage {
    /// Wraps an image that no graph has used yet; its content is undefined.
    #[must_use]
    pub fn new(image: Arc<Image>) -> Arc<Self> {
        Arc::new(Self { image, state: Mutex::new(State::NEW) })
    }

    /// The wrapped image.
    #[must_use]
    pub fn image(&self) -> &Arc<Image> {
        &self.image
    }

    pub(super) fn state(&self) -> State {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set_state(&self, state: State) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }
}

pub(super) struct Resource {
    pub(super) name: String,
    pub(super) kind: Kind,
}

/// Size of a declared resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceSize {
    /// Size in bytes; 0 if the format is compressed.
    pub bytes: u64,
    /// True for an image.
    pub image: bool,
}
