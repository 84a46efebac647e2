//! What is read: views, lists, the search, what the worker looks up, and the check of the whole
//! journal.

pub(crate) mod account;
pub(crate) mod changes;
pub(crate) mod endpoints;
pub(crate) mod list;
pub(crate) mod look;
pub(crate) mod questions;
pub(crate) mod read;
pub(crate) mod search;
pub(crate) mod verify;
