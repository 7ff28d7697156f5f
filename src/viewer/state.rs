//! The window's state, which panels show, and the state of the panels themselves.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use egui::{Rect, TextureHandle};

use super::{
    flow::{FlowBrush, FlowCanvas, FlowStroke},
    frame_pacing::FramePacing,
    gallery::Gallery,
    handles::DragHandle,
    keys::KeyList,
    load::Loading,
    mixer::Mixer,
    palette::Palette,
    preview::Preview,
    recent::RecentScenes,
    reference_view::ReferenceView,
    scopes::Scopes,
    settings::{SettingsStore, WindowSettings},
    sun::SunDragHandle,
    tool::Tool,
    tour::Tour,
    workspace::Workspace,
};
use crate::{camera::DisplayEncoding, session::OpenRequest};

/// A message for the user, shown for a limited time.
pub(super) struct Message {
    pub text: String,
    pub is_error: bool,
    pub since: Instant,
}

impl Message {
    /// Display time: errors stay twice as long.
    pub(super) const fn stays(&self) -> Duration {
        if self.is_error { MESSAGE.saturating_mul(2) } else { MESSAGE }
    }
}

/// Display time of messages; errors stay twice as long.
const MESSAGE: Duration = Duration::from_secs(6);

/// The action that waits until unsaved changes are resolved.
#[derive(Clone, Debug)]
pub(super) enum PendingClose {
    /// Close the window.
    Close,
    /// Open another scene.
    Open(Box<OpenRequest>),
}

/// The state that panels show. They read it and change it by actions only.
pub struct ViewState {
    /// The open scene.
    pub workspace: Option<Workspace>,
    /// Comparison with a reference.
    pub reference_view: ReferenceView,
    /// The light mixer.
    pub mixer: Mixer,
    /// A device error that ends rendering; the look is kept.
    pub fatal: Option<String>,
    pub(super) scopes: Scopes,
    pub(super) tool: Tool,
    pub(super) brush: FlowBrush,
    /// True if the outliner and the inspector are visible.
    pub(super) sides: bool,
    pub(super) gallery: bool,
    /// The scene being loaded.
    pub(super) loading: Option<Loading>,
    /// The action that waits for an answer about unsaved changes.
    pub(super) pending_close: Option<PendingClose>,
    pub(super) messages: Vec<Message>,
    pub(super) recent: RecentScenes,
    pub(super) kept: SettingsStore,
    /// Encoding of the window's display.
    pub(super) encoding: DisplayEncoding,
    /// Path traced preview while shaders are compiled.
    pub(super) preview: Preview,
    /// Texture of the displayed picture, and its number; 0 for a preview.
    pub(super) displayed_frame: Option<(TextureHandle, u64)>,
    /// The picture's rectangle (points), as of the last frame.
    pub(super) viewport_rect: Rect,
    pub(super) pacing: FramePacing,
    /// True if shaders can be recompiled.
    pub(super) can_reload: bool,
    /// True if the next picture of full quality is to be saved.
    pub(super) screenshot_due: bool,
}

impl ViewState {
    /// The state of a window without a scene.
    pub(super) fn new(recent: RecentScenes, kept: SettingsStore) -> Self {
        Self {
            workspace: None,
            reference_view: ReferenceView::default(),
            mixer: Mixer::default(),
            fatal: None,
            scopes: Scopes::default(),
            tool: Tool::default(),
            brush: FlowBrush::default(),
            sides: true,
            gallery: false,
            loading: None,
            pending_close: None,
            messages: Vec::new(),
            recent,
            kept,
            encoding: DisplayEncoding::Srgb,
            preview: Preview::default(),
            displayed_frame: None,
            viewport_rect: Rect::ZERO,
            pacing: FramePacing::default(),
            can_reload: false,
            screenshot_due: false,
        }
    }

    /// The window's own settings.
    pub(super) fn settings(&self) -> WindowSettings {
        self.kept.now()
    }

    /// True if the look has unsaved changes.
    pub(super) fn unsaved(&self) -> bool {
        self.workspace.as_ref().is_some_and(|work| work.document.changed())
    }
}

/// State that only panels have: text being typed, open dialogs, drags in progress.
#[derive(Default)]
pub struct PanelState {
    pub(super) palette: Palette,
    pub(super) keys: KeyList,
    pub(super) tour: Tour,
    /// The file to open, as typed.
    pub(super) open_path: String,
    /// The file to save to, as typed; none while the save dialog is closed.
    pub(super) save_path: Option<String>,
    /// The existing file that the user has been warned will be replaced.
    pub(super) replaces: Option<PathBuf>,
    /// The sequence to write; none while its dialog is closed.
    pub(super) sequence: Option<SequenceForm>,
    /// The handle being dragged.
    pub(super) drag_handle: Option<DragHandle>,
    pub(super) sun_drag_handle: Option<SunDragHandle>,
    /// Flow painting: the current stroke, and where it is painted.
    pub(super) stroke: Option<FlowStroke>,
    pub(super) canvas: Option<FlowCanvas>,
    /// True if the keyboard pointer is active, at the center of the picture.
    pub(super) keyboard_pointer: bool,
    /// True if the bar is too narrow for the result of the comparison.
    pub(super) compact_comparison: bool,
    pub(super) thumbnails: Gallery,
}

/// A sequence as edited in its dialog.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SequenceForm {
    pub file: String,
    /// Time of the first picture (s).
    pub first: f64,
    /// Duration (s).
    pub seconds: f64,
    /// Pictures per second.
    pub fps: f64,
}

impl PanelState {
    /// True if no dialog is open.
    pub(super) fn no_dialog(&self, state: &ViewState) -> bool {
        let recovered = state.workspace.as_ref().is_some_and(|work| work.recovered.is_some());
        state.pending_close.is_none()
            && self.save_path.is_none()
            && self.sequence.is_none()
            && !recovered
    }
}
