//! Command-line tests: arguments, exit codes, messages, files.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

#[path = "../common/mod.rs"]
mod common;

mod added_items;
mod animation;
mod bench;
mod commands;
mod compare;
mod farm;
mod lens;
mod messages;
mod path_tracer;
mod picture_sets;
mod sequences;
mod timeline;
mod two_drivers;
mod validate;
mod vocabulary;
