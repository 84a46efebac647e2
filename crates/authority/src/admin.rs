//! What an operator sees and does.

pub(crate) mod administration;
pub(crate) mod port;
