//! The way in: from files to reports in the journal.

pub(crate) mod inspect;
pub(crate) mod relation;
pub(crate) mod rules_in_use;
pub(crate) mod source;
pub(crate) mod submissions;
pub(crate) mod take;
