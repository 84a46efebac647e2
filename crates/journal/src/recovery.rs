//! When a journal cannot be used as it is: the register beside it, what takes its place, what is
//! saved of it, and how it is brought from one schema or key to the next.

pub(crate) mod aside;
pub(crate) mod attempts;
pub(crate) mod carried;
pub(crate) mod content;
pub(crate) mod found;
pub(crate) mod home;
pub(crate) mod migration;
pub(crate) mod pause;
pub(crate) mod recover;
pub(crate) mod register;
pub(crate) mod rotate;
pub(crate) mod salvage;
pub(crate) mod sound;
pub(crate) mod stage;
pub(crate) mod take_back;
