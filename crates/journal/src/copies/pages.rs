//! Backups of pages: one file with all pages of the journal as SQLCipher sealed them (the base),
//! then files with those that have changed since the backup before (increments). Each is read back
//! before it gets its name, says which one it follows, and holds the codes of all pages as they
//! were: by those the next one sees what has changed, and a restore that it has put the right ones
//! together.
//!
//! A file is `MAGIC`, the held pages (number, bytes), a short code of every page of the journal,
//! the facts as JSON, their length, and a digest over all of it.

mod code;
mod file;
mod raw;
mod take;
mod thin;
mod whole;

use std::path::Path;

use serde::{Deserialize, Serialize};

pub(crate) use take::{alone, sweep, take};
pub(crate) use thin::{join_into, parent};
pub(crate) use whole::put_together;

use crate::OpenProblem;

/// How the names of these files end.
pub(crate) const ENDING: &str = ".pages";
const MAGIC: &[u8; 16] = b"labcourier pages";
const VERSION: u32 = 1;
/// What is kept of the code of a page. A page gets another code whenever it is written, because
/// that begins with random bytes: two alike among 2⁶⁴.
const SHORT_CODE: usize = 8;
/// Files that one backup may need: more are a circle.
const FILES_MAX: usize = 1_000;

/// What such a file says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Facts {
    version: u32,
    /// Bytes of a page.
    page: u32,
    /// Pages of the journal then.
    pages: u32,
    /// Pages in this file.
    held: u32,
    /// The backup that it builds on; none in a base.
    after: Option<After>,
    /// Digest of the short codes of all pages.
    state: String,
    /// Pages in all increments since the base, this one included.
    since_base: u64,
    /// When the base was made, microseconds.
    base_at: i64,
    submissions: u64,
    events: u64,
    /// Hash of the last event.
    head: String,
}

/// The backup that another one builds on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct After {
    /// Its name, in the same folder.
    name: String,
    /// Its [`Facts::state`].
    state: String,
}

/// Whether a file is one of these, whatever it is called.
pub(crate) fn is_one(path: &Path) -> bool {
    use std::io::Read as _;

    let mut begins = [0; MAGIC.len()];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut begins));
    read.is_ok() && begins == *MAGIC
}

/// Whether all of such a file is as it was written.
pub(crate) fn is_whole(path: &Path) -> Result<bool, OpenProblem> {
    match file::facts(path).and_then(|facts| file::read(path, &facts, |_, _| Ok(()))) {
        Ok(()) => Ok(true),
        Err(OpenProblem::WrongKeyOrDamaged) => Ok(false),
        Err(problem) => Err(problem),
    }
}

/// The file that another one builds on, by its name: a name of such a backup and nothing else, for
/// it comes from a file.
fn beside(path: &Path, after: &After) -> Result<std::path::PathBuf, OpenProblem> {
    if crate::copies::backups::is_name(&after.name) {
        Ok(path.with_file_name(&after.name))
    } else {
        Err(OpenProblem::WrongKeyOrDamaged)
    }
}

/// The page that SQLite never uses: some systems keep its locks in those bytes, and let nobody read
/// them.
fn unused_page(page: u32) -> u32 {
    0x4000_0000 / page.max(1) + 1
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
