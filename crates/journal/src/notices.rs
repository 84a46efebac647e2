//! What a person has to be told, and what runs or rests until then.

pub(crate) mod notice;
pub(crate) mod pause;
pub(crate) mod upkeep;
