//! The receiving service of the public-health authority: practice partner inside the app,
//! counterpart of every test, and a reference for vendors (docs/interface.md).
//!
//! A document comes in over mutual TLS, is validated, stored and queued in one transaction,
//! answered with 201, and judged later by rules that are data. It uses `exchange` and `fhir` only:
//! it knows nothing of the laboratory's side.
//!
//! - `tls`: certificates, and connections until their caller is known; `server`: connections from
//!   then on
//! - `http`: every request, from its head to its answer; `definition` is the interface as data
//! - `process`: what is accepted (`intake`), and what becomes of it (`processor`, `rules`) and when
//!   (`worker`)
//! - `store`: the one door to the database; `private`: files that nobody else may read
//! - `admin`: what an operator sees and does; `faults`: misbehaviour on request, for practice and
//!   tests
//! - `server` and `working`: the two kinds of process, which put all of this together

mod admin;
mod clock;
#[cfg(test)]
mod concealed;
mod error;
mod faults;
mod http;
mod metrics;
mod notice;
mod plain;
mod private;
mod process;
mod server;
mod store;
mod tls;
mod working;

pub use admin::administration::{
    RegisteredLaboratory, add_laboratory, audit, certificates, forget_audit, is_expired,
    issue_certificate, laboratories, record_store, register_certificate, revoke_certificate,
    use_store,
};
pub use error::AuthorityError;
pub use faults::{
    Fault, FaultKind, FaultPlan, FaultScript, Interaction, RandomFault, TlsAlert, parse_span,
};
pub use http::context::ForeignDocument;
pub use http::limits::Limits;
pub use process::rules::{Effect, PRACTICE_RULES, Rule, Rules, When, Words};
pub use process::validation::{
    RulesPackage, import_rules, remove_rules, rules_packages, use_rules,
};
pub use server::{ServeOptions, Serving, serve};
pub use store::{AuditFilter, AuditLine, RegisteredCertificate, StoreUrl};
pub use tls::pki::{Initialised, IssuedCertificate, Pilot, add_hosts, init};
pub use tls::trust::TrustFiles;
pub use working::{Working, work};
