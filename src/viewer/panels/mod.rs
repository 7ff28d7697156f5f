//! Panels of the window: each shows a part of its state, and calls the operations on it.

mod bar;
pub mod choice;
mod dialogs;
mod fields;
pub mod gallery;
mod handles;
pub mod inspector;
pub mod layout;
pub mod mixer;
pub mod outliner;
pub mod palette;
pub mod reference_view;
pub mod scopes;
mod shortcuts;
pub mod status;
pub mod viewport;
pub mod water;
