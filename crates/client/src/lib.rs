//! The client of the authority: mutual TLS, JSON or XML both ways, limits on time and size. Every
//! outcome is an [`exchange::Answer`] with its [`Evidence`], or a [`Fault`] that says what it
//! permits next.
//!
//! It keeps no state about reports, never repeats a request by itself, and never follows a
//! redirect. Whether to ask, wait or send again is the engine's business.

mod authority;
mod body;
mod capability;
mod connection;
mod connector;
mod documents;
mod evidence;
mod fault;
mod http;
mod interactions;
mod outcome;
mod probe;
mod proxy;
mod resolver;
mod retry_after;
mod search;
mod transport;

pub use authority::{Authority, Changes, Found, Received, Shown};
pub use capability::Capability;
pub use evidence::Evidence;
pub use fault::{Fault, NEVER_REACHED, Why};
pub use http::{ConfigProblem, HttpAuthority, Limits};
pub use probe::{LAYERS, ProbeOutcome, ProbeStep, probe};
