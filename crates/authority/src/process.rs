//! What is accepted, and what becomes of it.

pub(crate) mod diagnostics;
pub(crate) mod intake;
pub(crate) mod processor;
pub(crate) mod rules;
pub(crate) mod validation;
pub(crate) mod worker;
