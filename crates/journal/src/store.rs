//! The file: opened, locked, laid out, and written by one thread; and what stands in it beside the
//! reports: settings, notices, and the index of words.

pub(crate) mod cells;
pub(crate) mod filesystem;
pub(crate) mod hold;
pub(crate) mod notice;
pub(crate) mod open;
pub(crate) mod pause;
pub(crate) mod rows;
pub(crate) mod schema;
pub(crate) mod settings;
#[doc(hidden)]
pub mod simulation;
pub(crate) mod sql;
pub(crate) mod words;
pub(crate) mod writer;
