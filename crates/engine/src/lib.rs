//! Use cases and the background worker of Lab Courier. The engine owns the clock, the journal, the
//! client and the identity; it knows no window, no command line and no prose.

mod clock;
mod connection;
mod courier;
mod endpoints;
mod engine;
mod intake;
mod person;
mod problem;
mod profile;
mod reconcile;
mod timing;
mod upkeep;
mod watch;
mod worker;

pub(crate) use clock::ClockReading;
pub use clock::{Clock, SystemClock};
pub use connection::{Connection, ConnectionState, JournalRefusal};
pub(crate) use courier::SENT_BEFORE_SECONDS;
pub use courier::deliveries::reached_nobody;
pub use endpoints::SameAuthority;
pub use endpoints::certificates::{StoredCertificate, WaysToReport};
pub use endpoints::destination::Move;
pub use engine::{Engine, EngineDeps};
pub use intake::relation::{Relation, SameIdentifier};
pub use intake::rules_in_use::RULES_CODES;
pub use intake::source::{FilesInTurn, Refusal, SourceLimits};
pub use intake::submissions::messages;
pub use intake::take::{Differing, HandOver, ImportOptions, KnownContent, Listed, Taken};
pub use intake::{Candidate, Origin, Parsed, Reason, Verdict};
pub use problem::{EngineError, Obstacle, OpenError};
pub use profile::computer::of as home_of;
pub use profile::keys::{journal_key, rotate_journal_key};
pub use profile::{CertificateUse, Profile, ProfileProblem, Settings};
pub use reconcile::{Comparison, ReconcileDeps, compare, decide_guarded};
pub use timing::Timing;
pub use upkeep::UPKEEP_NOTICES;
pub use watch::{Lying, WATCH_NOTICES, Watched};
pub use worker::lease::LeaseKeeper;
pub use worker::predecessor::CODES as CORRECTION_CODES;
pub use worker::{COURIER_NOTICES, Formerly, Round, Worker, WorkerDeps};
