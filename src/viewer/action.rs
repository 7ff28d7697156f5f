//! Actions: every change that the user makes to the window's state. Panels, shortcuts, menus and
//! the palette produce them; `App::apply` carries them out.

use std::{path::PathBuf, sync::Arc};

use glam::DVec2;

use super::{
    flow::FlowBrush, mixer::Fader, reference_view::CompareMode, rig::Rig, scopes::Overlay,
    selection::Selection, settings::WindowSettings, tool::Tool, viewport::Sequence,
};
use crate::{
    camera_control::{Input, NavigationMode},
    frame::Aov,
    scene::{FlowMap, look::LightShape},
};

/// Changes of the look's properties: (path, value); no value removes the property.
pub type Changes = Vec<(String, Option<String>)>;

/// A change of the window's state, grouped by the part that it changes.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Changes the look or its file.
    Document(DocumentAction),
    /// Adds, copies, renames or deletes lights and cameras.
    Item(ItemAction),
    /// Opens or leaves a scene.
    Scene(SceneAction),
    /// Changes the selection, the tool, or what is under the pointer.
    Selection(SelectionAction),
    /// Moves the camera or the time.
    Camera(CameraAction),
    /// Changes what the window shows; the look is unchanged.
    View(ViewAction),
    /// Starts or stops work of the engine.
    Engine(EngineAction),
    /// Changes the window or reports to the user.
    Window(WindowAction),
}

/// An action on the look.
#[derive(Clone, Debug, PartialEq)]
pub enum DocumentAction {
    /// Sets properties as one undo step.
    Set(Changes),
    /// Sets a key of the timeline at the present time, as one undo step: path and value.
    SetKey(String, String),
    /// Undoes the last step.
    Undo,
    /// Redoes the last undone step.
    Redo,
    /// Saves to the look's file; without one, the save dialog opens.
    Save,
    /// Saves to another file.
    SaveAs(PathBuf),
    /// Saves before the window closes or another scene opens.
    SaveAndProceed,
    /// Discards the unsaved changes, then closes or opens what was requested.
    DiscardAndProceed,
    /// Restores the autosave of an earlier run, or leaves it.
    Recover(bool),
    /// Stores the current look, to return to it.
    StoreLook,
    /// Returns to a stored look, by its index.
    RecallLook(usize),
    /// Writes the camera's pose to the look.
    KeepCamera,
    /// Writes the faders of the light mixer to the look.
    ApplyMix,
    /// Sets the flow map of a water surface.
    PaintFlow(PaintedFlow),
}

/// An action that creates or removes items of the look. Each is one undo step.
#[derive(Clone, Debug, PartialEq)]
pub enum ItemAction {
    /// Adds a light before the camera, aimed at the center of orbit, and selects it.
    AddLight(LightShape),
    /// Adds the lights of a rig around the center of orbit.
    AddRig(Rig),
    /// Adds a camera of this name at the current view, and chooses it.
    AddCamera(String),
    /// Adds a copy of the selected light beside it.
    Duplicate,
    /// Copies the selected light to the clipboard, as text of a look.
    Copy,
    /// Adds the lights of a look's text; none is the text that was copied last.
    Paste(Option<String>),
    /// Renames the selected light, which the look adds.
    Rename(String),
    /// Deletes the selected light or camera if the look adds it; switches a light of the file off.
    Delete,
}

/// A painted flow map, as `Document::paint` takes it.
#[derive(Clone, Debug, PartialEq)]
pub struct PaintedFlow {
    /// The water's name.
    pub water: String,
    /// The previous map.
    pub before: Arc<FlowMap>,
    /// The new map.
    pub map: Arc<FlowMap>,
    /// Minimum x and z, and size (m).
    pub rectangle: [DVec2; 2],
    /// Speed of a component of 1 (m/s), where it changes.
    pub speed: Option<f64>,
}

/// An action on the open scene.
#[derive(Clone, Debug, PartialEq)]
pub enum SceneAction {
    /// Opens a file by its kind.
    OpenFile(PathBuf),
    /// Opens a scene file.
    OpenScene(PathBuf),
    /// Opens a built-in scene, by its name.
    OpenBuiltin(&'static str),
    /// Cancels the loading of a scene.
    CancelOpening,
    /// Closes the window or opens the requested scene: nothing is unsaved.
    Proceed,
    /// Neither closes the window nor opens another scene.
    Stay,
}

/// An action on the selection or the pointer.
#[derive(Clone, Debug, PartialEq)]
pub enum SelectionAction {
    /// Selects an item.
    Select(Selection),
    /// Isolates a light in the picture; none shows all lights.
    Solo(Option<String>),
    /// Sets the tool.
    Tool(Tool),
    /// Sets the flow brush.
    Brush(FlowBrush),
    /// Moves the pointer in the picture, 0 to 1 right and down; none is outside.
    Point(Option<DVec2>),
    /// Uses the tool at a position in the picture, 0 to 1 right and down.
    Click([f32; 2]),
}

/// An action on the camera or the time.
#[derive(Clone, Debug, PartialEq)]
pub enum CameraAction {
    /// Sets the navigation mode.
    Mode(NavigationMode),
    /// Returns to the look's camera.
    Home,
    /// Frames the selection.
    FrameSelected,
    /// Moves the camera by the user's input.
    Move(Input),
    /// Starts or pauses playback.
    Play,
    /// Seeks to a time (s).
    Seek(f64),
    /// Seeks to the next key of the timeline, or to the one before.
    SeekKey(Direction),
}

/// Direction in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Later.
    Forward,
    /// Earlier.
    Backward,
}

/// An action on what the window shows.
#[derive(Clone, Debug, PartialEq)]
pub enum ViewAction {
    /// Shows or hides the side panels.
    ToggleSides,
    /// Shows or hides the scopes.
    ToggleScopes,
    /// Shows or hides the light mixer.
    ToggleMixer,
    /// Shows or leaves the gallery.
    Gallery(bool),
    /// Sets the overlay.
    Overlay(Overlay),
    /// Selects the next overlay.
    NextOverlay,
    /// Shows an AOV; none shows the picture.
    ShowAov(Option<Aov>),
    /// Sets the comparison mode.
    Compare(CompareMode),
    /// Selects the next comparison mode.
    NextCompare,
    /// Moves the wipe's line by a fraction of the picture's width.
    MoveWipe(f32),
    /// Limits the path tracer to direct light, or not.
    DirectOnly(bool),
    /// Uses the path tracer as the reference.
    UsePathTracer,
    /// Sets a fader of the light mixer, by its index.
    Fader(usize, Fader),
    /// Resets all faders.
    ResetFaders,
    /// Sets the picture's full size (pixels).
    Resize([u32; 2]),
    /// Sets whether a pointer button is held, which postpones pictures that take long.
    Hold(bool),
}

/// An action on the engine's work.
#[derive(Clone, Debug, PartialEq)]
pub enum EngineAction {
    /// Renders the contribution of each light.
    SeparateLights,
    /// Writes pictures of the animation.
    WriteSequence(Sequence),
    /// Cancels the running job.
    CancelJob,
    /// Recompiles the shaders.
    ReloadShaders,
    /// Writes the current picture beside the look.
    Screenshot,
}

/// An action on the window.
#[derive(Clone, Debug, PartialEq)]
pub enum WindowAction {
    /// Replaces the window's settings.
    Settings(WindowSettings),
    /// Switches HDR output.
    ToggleHdr,
    /// Opens or closes the palette.
    TogglePalette,
    /// Opens or closes the list of keys.
    ToggleKeys,
    /// Shows the next step of the tour, or the one before; the next one starts it.
    Tour(Direction),
    /// Ends the tour; it is not shown at the next start.
    EndTour,
    /// Copies the reading of the pixel under the pointer.
    CopyReading,
    /// Reports an error.
    Error(String),
    /// Closes the window; unsaved changes prompt first.
    Close,
}

/// Lifts each group to an action.
macro_rules! lift {
    ($($group:ident($inner:ty)),* $(,)?) => {$(
        impl From<$inner> for Action {
            fn from(action: $inner) -> Self {
                Self::$group(action)
            }
        }
    )*};
}

lift! {
    Document(DocumentAction), Item(ItemAction), Scene(SceneAction), Selection(SelectionAction),
    Camera(CameraAction), View(ViewAction), Engine(EngineAction), Window(WindowAction),
}

/// Actions in the order in which they were made.
#[derive(Debug, Default, PartialEq)]
pub struct Actions(Vec<Action>);

impl Actions {
    /// Adds an action.
    pub fn push(&mut self, action: impl Into<Action>) {
        self.0.push(action.into());
    }

    /// Sets properties of the look, if there are any changes.
    pub fn set(&mut self, changes: Changes) {
        if !changes.is_empty() {
            self.push(DocumentAction::Set(changes));
        }
    }
}

impl IntoIterator for Actions {
    type Item = Action;
    type IntoIter = std::vec::IntoIter<Action>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
