//! Interruption of frames: draws and dispatches of a frame depend on a word that another thread
//! clears (`VK_EXT_conditional_rendering`).

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use super::{
    context::Gpu,
    error::GpuResult,
    memory::{Buffer, BufferKind},
};

/// Value of the word with which draws and dispatches run.
const RUNS: u32 = 1;

/// Ends frames on the device early. Barriers and copies of an interrupted frame still execute, so
/// that images are in their layouts; contents are undefined.
pub struct Interrupt(pub(super) Arc<Buffer>);

impl Interrupt {
    /// Creates an interrupt that is not raised; `None` if the device has no conditional rendering.
    ///
    /// # Errors
    /// [`GpuError`](super::GpuError) if memory is exhausted.
    pub fn new(gpu: &Gpu) -> GpuResult<Option<Arc<Self>>> {
        if gpu.conditions.is_none() {
            return Ok(None);
        }
        let word = Buffer::new(gpu, "interrupt", 4, BufferKind::Condition)?;
        let interrupt = Self(word);
        interrupt.clear();
        Ok(Some(Arc::new(interrupt)))
    }

    fn set(&self, value: u32) {
        if let Some(word) = self.0.shared_word() {
            word.store(value, Ordering::SeqCst);
        }
    }

    /// Lets frames run.
    pub fn clear(&self) {
        self.set(RUNS);
    }

    /// Interrupts the frame on the device, and later ones until [`Interrupt::clear`].
    pub fn raise(&self) {
        self.set(0);
    }

    /// True since [`Interrupt::raise`], until [`Interrupt::clear`].
    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.0.shared_word().is_some_and(|word: &AtomicU32| word.load(Ordering::SeqCst) != RUNS)
    }
}
