//! What every program of ours is as a process: closed to other programs of the same user, and
//! silent about content when it fails. Called once, first thing in `main`.
//!
//! Deliberately not here: logging (each program decides what it says), locking of memory (the
//! journal's pages are as large as its cache; swap belongs encrypted, like the disk).

mod closed;
mod panics;

/// Closes the process and quiets its panics. A step that the system refuses is left out: a program
/// that does not start protects nobody, and `docs/threats.md` does not rely on one step alone.
pub fn begin() {
    closed::close();
    panics::quiet();
}

pub use closed::{Closed, allow_many_files, keep_files_private, state};
