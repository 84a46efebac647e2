//! Use cases and the background worker of Lab Courier. The engine owns the clock, the journal, the
//! client and the identity; it knows no window, no command line and no prose.

mod candidate;
mod clock;
mod connection;
mod courier;
mod person;
mod problem;
mod profile;
mod reconcile;
mod timing;
mod use_cases;
mod worker;

pub use candidate::{Age, Candidate, Origin, Parsed, Reason, Refusal, Relation, Taken, Verdict};
pub(crate) use clock::ClockReading;
pub use clock::{Clock, SystemClock};
pub use connection::{Connection, ConnectionState, JournalRefusal, Obstacle};
pub(crate) use courier::SENT_BEFORE_SECONDS;
pub use courier::deliveries::reached_nobody;
pub use person::system_user;
pub use problem::EngineError;
pub use profile::computer::of as home_of;
pub use profile::keys::{OpenError, journal_key, rotate_journal_key};
pub use profile::{CertificateUse, Profile, ProfileProblem, SameIdentifier, Settings};
pub use reconcile::{Comparison, ReconcileDeps, compare, decide_guarded};
pub use timing::Timing;
pub use use_cases::endpoints::SameAuthority;
pub use use_cases::endpoints::certificates::{StoredCertificate, WaysToReport};
pub use use_cases::endpoints::destination::Move;
pub use use_cases::intake::rules_in_use::RULES_CODES;
pub use use_cases::intake::source::{FilesInTurn, SourceLimits};
pub use use_cases::intake::submissions::messages;
pub use use_cases::intake::take::{Differing, HandOver, ImportOptions, KnownContent, Listed};
pub use use_cases::upkeep::UPKEEP_NOTICES;
pub use use_cases::watch::{Leaving, Lying, RefusedFile, WATCH_NOTICES, Watched, WatchedFiles};
pub use use_cases::{Engine, EngineDeps};
pub use worker::lease::LeaseKeeper;
pub use worker::predecessor::CODES as CORRECTION_CODES;
pub use worker::{COURIER_NOTICES, Formerly, Round, Worker, WorkerDeps};
