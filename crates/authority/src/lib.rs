//! The receiving service of the public-health authority: practice partner inside the app, counterpart
//! of every test, and a reference for vendors (service specification).
//!
//! A document comes in over mutual TLS, is validated, stored and queued in one transaction, answered with
//! 201, and judged later by rules that are data. It uses `exchange` and `fhir` only: it knows nothing of
//! the laboratory's side.
//!
//! - `pki`: certificate authority, server and pilot certificates
//! - `server`, `routes`, `body`: TLS and HTTP, one route table
//! - `intake`: what is accepted; `judge`, `rules`: what becomes of it; `worker`: when
//! - `store`: the one door to the database
//! - `wire`, `diagnostics`: what is answered
//! - `faults`: misbehaviour on request, for practice and tests

mod body;
mod clock;
mod diagnostics;
mod error;
mod faults;
mod intake;
mod judge;
mod pki;
mod reply;
mod routes;
mod rules;
mod search;
mod server;
mod store;
mod wire;
mod worker;

pub use error::AuthorityError;
pub use faults::{Fault, FaultKind, FaultPlan, Interaction};
pub use pki::{Initialised, Pilot, init};
pub use rules::{Effect, PRACTICE_RULES, Rule, Rules, When};
pub use server::{ServeOptions, Serving, serve};
