//! The file: opened, locked, laid out, written by one thread, and brought from one schema or key to
//! the next.

pub(crate) mod cells;
pub(crate) mod filesystem;
pub(crate) mod hold;
pub(crate) mod migration;
pub(crate) mod open;
pub(crate) mod rotate;
pub(crate) mod schema;
pub(crate) mod settings;
#[doc(hidden)]
pub mod simulation;
pub(crate) mod sql;
pub(crate) mod writer;
