//! What is read: views, lists, the search, what the worker looks up, and the check of the whole
//! journal.

pub(crate) mod endpoints;
pub(crate) mod event_times;
pub(crate) mod figures;
pub(crate) mod list;
pub(crate) mod read;
pub(crate) mod verify;
