//! Tests of the bridge: the reading view on real documents, and the window's desk with a real
//! practice authority.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr, reason = "tests")]

mod calls;
mod came_back;
mod concealed;
mod desk;
mod keeping;
mod lists;
mod packages;
mod restoring;
mod screen;
mod settings;
mod suggestions;
mod support;
mod taken_back;
mod updates;
