//! What a laboratory keeps: reports, what happened to each, and the authority's answers, in one
//! encrypted SQLite file.
//!
//! - Events are append-only (SQL triggers), each carries the hash of its predecessor, and the
//!   current state is written in the same transaction; replaying the events gives the state. What
//!   may follow what is decided by [`report::State::apply`] alone.
//! - One thread owns the writing connection (WAL, synchronous FULL) and puts up to 64 steps into
//!   one commit. A reply comes after its commit. Views read on connections of their own.
//! - Several processes may use one journal. Who works the queue is settled by a lease with a
//!   fencing token.
//! - Everything on disk is encrypted (SQLCipher, raw 32-byte key), also the write-ahead log.
//!   Temporary data stays in memory.
//!
//! It deliberately knows no authority, reads no clock, sends nothing and never deletes a journal
//! file.
//!
//! What retention keeps and removes is written at [`Journal::retain`].

mod chain;
mod codes;
mod copies;
mod events;
mod handle;
mod key;
mod model;
mod named;
mod pending;
mod problem;
mod queries;
mod recovery;
mod soundness;
mod store;

pub use codes::MAY_BE_KNOWN;
pub use copies::backups::{BackedUp, BackupFile, list as list_backups};
pub use copies::elsewhere::{copy_backups, lacking as lacking_backups};
pub use events::compared::Unreconciled;
pub use events::doubt::RESTORED;
pub use events::known::{Destination, Imported, KnownReports, Relative, Unless};
pub use events::lost::LostReport;
pub use events::versions::{NEWER_DELIVERED, OTHER_LOST, OtherVersions};
pub use handle::Journal;
pub use handle::account::{ChainHead, Happening, MessageTally, Trouble};
pub use handle::changes::Changes;
pub use key::Key;
pub use model::{
    Counts, Detail, Due, Entry, Evidence, EvidenceKind, Filter, KeptEvidence, Lease, LeaseAnswer,
    Message, MessageCounts, NewSubmission, OpenReport, Retention, Row, Sibling, Source, Step,
    Token,
};
pub use pending::Pending;
pub use problem::{Cause, JournalError, OpenProblem, RecordError};
pub use queries::endpoints::{EndpointNote, EndpointReports};
pub use queries::event_times::EventTimes;
pub use queries::figures::Figure;
pub use queries::read::Newest;
pub use recovery::aside::{SetAside, list_set_aside, remove_set_aside};
pub use recovery::found::{FoundReport, Reconciled};
pub use recovery::home::{Find, Home};
pub use recovery::migration::migrate;
pub use recovery::recover::{Base, RECOVERY_NOTICES, Recovery, recover, recover_from, restore};
pub use recovery::rotate::{Rotated, is_sealed_beside, rotate};
pub use soundness::{BackupFacts, Discrepancy, DiscrepancyKind, Verification};
pub use store::filesystem::file_system_of;
pub use store::notice::Notice;
#[doc(hidden)]
pub use store::simulation;
