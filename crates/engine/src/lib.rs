//! Use cases and the background worker of Lab Courier. The engine owns the clock, the journal, the client
//! and the identity; it knows no window, no command line and no prose.

mod clock;
mod engine;
mod gate;
mod intake;
mod pace;
mod person;
mod problem;
mod profile;
mod reconcile;
mod source;
mod submissions;
mod upkeep;
mod watch;
mod worker;

pub(crate) use clock::Moment;
pub use clock::{Clock, SystemClock};
pub use engine::{Engine, Surroundings};
pub use intake::{Candidate, Origin, Parsed, Reason, Verdict};
pub use pace::Pace;
pub use problem::{EngineError, Obstacle, OpenError};
pub use profile::{Profile, ProfileProblem, Settings};
pub use reconcile::{Comparison, Tools as ReconcileTools, compare};
pub use source::{Refusal, SourceLimits};
pub use submissions::{KnownContent, Taken, Terms, messages};
pub use upkeep::UPKEEP_NOTICES;
pub use watch::{WATCH_NOTICES, Watched};
pub use worker::{Connection, ConnectionState, JournalRefusal, Round, Tools, Worker};
