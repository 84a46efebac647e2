//! The receiving service of the public-health authority: practice partner inside the app, counterpart
//! of every test, and a reference for vendors (service specification).
//!
//! A document comes in over mutual TLS, is validated, stored and queued in one transaction, answered with
//! 201, and judged later by rules that are data. It uses `exchange` and `fhir` only: it knows nothing of
//! the laboratory's side.
//!
//! - `pki`, `administration`: certificates, laboratories, what an operator does beside a running service
//! - `pending`, `trust`, `handshake`, `server`: TLS and connections; `admin`, `metrics`: what an operator sees of them
//! - `definition`, `openapi`: the interface as data; `routes`, `limits`, `body`: every request;
//!   `interactions`, `search`: what it asks for; `unreadable`: what is no request
//! - `intake`: what is accepted; `judge`, `rules`: what becomes of it; `worker`: when
//! - `store`: the one door to the database; `private`: files that nobody else may read
//! - `wire`, `reply`, `refusals`, `diagnostics`: what is answered
//! - `faults`: misbehaviour on request, for practice and tests

mod admin;
mod administration;
mod body;
mod clock;
#[cfg(test)]
mod concealed;
mod definition;
mod diagnostics;
mod error;
mod faults;
mod handshake;
mod intake;
mod intake_schema;
mod interactions;
mod judge;
mod limits;
mod metrics;
mod openapi;
mod pending;
mod percent;
mod pki;
mod private;
mod refusals;
mod reply;
mod routes;
mod rules;
mod search;
mod server;
mod store;
mod trust;
mod unreadable;
mod wire;
mod worker;

pub use administration::{
    RegisteredLaboratory, add_laboratory, audit, certificates, forget_audit, is_expired,
    issue_certificate, laboratories, record_store, register_certificate, revoke_certificate,
    use_store,
};
pub use error::AuthorityError;
pub use faults::{
    Fault, FaultKind, FaultPlan, FaultScript, Interaction, RandomFault, TlsAlert, parse_span,
};
pub use limits::Limits;
pub use pki::{Initialised, IssuedCertificate, Pilot, add_hosts, init};
pub use routes::ForeignDocument;
pub use rules::{Effect, PRACTICE_RULES, Rule, Rules, When};
pub use server::{ServeOptions, Serving, serve};
pub use store::{AuditFilter, AuditLine, RegisteredCertificate, StoreUrl};
pub use trust::TrustFiles;
pub use worker::{Working, work};
