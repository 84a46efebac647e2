//! The domain, pure: what a report is, what is wrong with it, and the life of a submission.
//!
//! No IO, no clock, no randomness, no async: time is passed in. Knows nothing of HTTP, SQL or
//! windows.

pub mod codes;
pub mod diseases;
mod document;
mod event;
mod glance;
mod kind;
mod life;
mod links;
mod rules;
mod state;
mod state_code;

pub use document::{Summary, digest};
pub use event::{Event, Person};
pub use kind::{Kind, recognise};
pub use links::{Links, Target};
pub use rules::{check, check_identifier, lies_ahead};
pub use state::{Action, DOUBT_LONG_SECONDS, Duty, Group, Illegal, State, SubmissionId};
pub use state_code::StateCode;
