//! Backups: how they are made and checked, where they lie, and which of them stay.

pub(crate) mod backup;
pub(crate) mod backups;
pub(crate) mod elsewhere;
pub(crate) mod pages;
