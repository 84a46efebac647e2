//! What a laboratory keeps: reports, what happened to each, and the authority's answers, in one encrypted
//! SQLite file.
//!
//! - Events are append-only (SQL triggers), each carries the hash of its predecessor, and the current state
//!   is written in the same transaction; replaying the events gives the state. What may follow what is
//!   decided by [`report::State::apply`] alone.
//! - One thread owns the writing connection (WAL, synchronous FULL) and puts up to 64 steps into one
//!   commit. A reply comes after its commit. Views read on connections of their own.
//! - Several processes may use one journal. Who works the queue is settled by a lease with a fencing token.
//! - Everything on disk is encrypted (SQLCipher, raw 32-byte key), also the write-ahead log. Temporary
//!   data stays in memory.
//!
//! It deliberately knows no authority, reads no clock, sends nothing and never deletes a journal file.
//!
//! What retention keeps and removes is written at [`Journal::retain`].

mod append;
mod attach;
mod backup;
mod cells;
mod chain;
mod handle;
mod key;
mod lease;
mod list;
mod model;
mod open;
mod pending;
mod problem;
mod read;
mod retain;
mod schema;
mod search;
mod settings;
mod soundness;
mod sql;
mod verify;
mod writer;

pub use backup::restore;
pub use handle::Journal;
pub use key::Key;
pub use model::{
    Counts, Detail, Due, Entry, Evidence, EvidenceKind, Filter, Imported, KeptEvidence, Lease,
    LeaseAnswer, Message, MessageCounts, NewSubmission, OpenReport, Retention, Row, Source, Step,
    Token,
};
pub use pending::Pending;
pub use problem::{Cause, JournalError, OpenProblem, RecordError};
pub use soundness::{BackupFacts, Discrepancy, DiscrepancyKind, Restored, Verification};
