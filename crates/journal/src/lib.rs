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

mod account;
mod append;
mod aside;
mod attach;
mod attempts;
mod backup;
mod backups;
mod carried;
mod cells;
mod chain;
mod content;
mod doubt;
mod edited;
mod elsewhere;
mod endpoints;
mod filesystem;
mod found;
mod guard;
mod handle;
mod hold;
mod home;
mod key;
mod known;
mod lease;
mod list;
mod look;
mod lost;
mod migration;
mod model;
mod notice;
mod open;
mod pages;
mod pause;
mod pending;
mod problem;
mod questions;
mod read;
mod recover;
mod register;
mod retain;
mod rotate;
mod salvage;
mod schema;
mod search;
mod settings;
#[doc(hidden)]
pub mod simulation;
mod soundness;
mod sql;
mod stage;
mod succession;
mod take_back;
mod taken;
mod upkeep;
mod verify;
mod versions;
mod writer;

pub use account::{ChainHead, Happening, MessageTally, Trouble};
pub use aside::{SetAside, list_set_aside, remove_set_aside};
pub use backups::{BackedUp, BackupFile, list as list_backups};
pub use doubt::RESTORED;
pub use elsewhere::{copy_backups, lacking as lacking_backups};
pub use endpoints::{EndpointNote, EndpointReports};
pub use filesystem::file_system_of;
pub use found::{FoundReport, Reconciled};
pub use guard::MAY_BE_KNOWN;
pub use handle::Journal;
pub use home::{Find, Home};
pub use key::Key;
pub use known::{Destination, Imported, Relative, Unless};
pub use lost::LostReport;
pub use migration::migrate;
pub use model::{
    Counts, Detail, Due, Entry, Evidence, EvidenceKind, Filter, KeptEvidence, Lease, LeaseAnswer,
    Message, MessageCounts, NewSubmission, OpenReport, Retention, Row, Sibling, Source, Step,
    Token,
};
pub use notice::Notice;
pub use pending::Pending;
pub use problem::{Cause, JournalError, OpenProblem, RecordError};
pub use recover::{Base, RECOVERY_NOTICES, Recovery, Unreconciled, recover, recover_from, restore};
pub use rotate::{Rotated, is_sealed_beside, rotate};
pub use soundness::{BackupFacts, Discrepancy, DiscrepancyKind, Verification};
