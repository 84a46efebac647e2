//! What is written down of a report's life, and what decides whether it may be: every event, and
//! what belongs to it.

pub(crate) mod append;
pub(crate) mod asked;
pub(crate) mod attach;
pub(crate) mod compared;
pub(crate) mod doubt;
pub(crate) mod edited;
pub(crate) mod guard;
pub(crate) mod known;
pub(crate) mod lease;
pub(crate) mod lost;
pub(crate) mod person;
pub(crate) mod retain;
pub(crate) mod standing;
pub(crate) mod succession;
pub(crate) mod taken;
pub(crate) mod versions;
