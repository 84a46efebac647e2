//! When a journal cannot be used: the register beside it, what takes its place, and what is saved
//! of it.

pub(crate) mod aside;
pub(crate) mod attempts;
pub(crate) mod carried;
pub(crate) mod content;
pub(crate) mod found;
pub(crate) mod home;
pub(crate) mod recover;
pub(crate) mod register;
pub(crate) mod salvage;
pub(crate) mod stage;
pub(crate) mod take_back;
