//! Use cases and the background worker of Lab Courier. The engine owns the clock, the journal, the client
//! and the identity; it knows no window, no command line and no prose.

mod breaker;
mod certificates;
mod clock;
mod computer;
mod couriers;
mod destination;
mod elsewhere;
mod endpoints;
mod engine;
mod intake;
mod keys;
mod lease;
mod person;
mod private;
mod problem;
mod profile;
mod proxies;
mod reconcile;
mod relation;
mod rules_in_use;
mod settings;
mod source;
mod submissions;
mod take;
mod timing;
mod upkeep;
mod watch;
mod worker;

pub use certificates::{StoredCertificate, WaysToReport};
pub(crate) use clock::ClockReading;
pub use clock::{Clock, SystemClock};
pub use computer::of as home_of;
pub use destination::Move;
pub use endpoints::SameAuthority;
pub use engine::{Engine, EngineDeps};
pub use intake::{Candidate, Origin, Parsed, Reason, Verdict};
pub use keys::{journal_key, rotate_journal_key};
pub use lease::LeaseKeeper;
pub use problem::{EngineError, Obstacle, OpenError};
pub use profile::{CertificateUse, Profile, ProfileProblem, Settings};
pub use reconcile::{Comparison, ReconcileDeps, compare, decide_guarded};
pub use relation::{Relation, SameIdentifier};
pub use rules_in_use::RULES_CODES;
pub use source::{Refusal, SourceLimits};
pub use submissions::messages;
pub use take::{Differing, HandOver, ImportOptions, KnownContent, Listed, Taken};
pub use timing::Timing;
pub use upkeep::UPKEEP_NOTICES;
pub use watch::{Lying, WATCH_NOTICES, Watched};
pub use worker::predecessor::CODES as CORRECTION_CODES;
pub use worker::{
    COURIER_NOTICES, Connection, ConnectionState, Formerly, JournalRefusal, Round, Worker,
    WorkerDeps, reached_nobody,
};
