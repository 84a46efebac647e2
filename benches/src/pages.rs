//! What a report costs in pages of the journal, each of which is encrypted and written to the log.
//! A count and no time: a busy machine changes little of it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use journal::Journal;
use rusqlite::Connection;

use crate::made::{self, Making};
use crate::table::{Bound, Figure, Row};
use crate::{Result, output};

/// Reports of which the pages are counted: the last of the journal.
const COUNTED: u64 = 3_200;
/// The log is read after so many, long before it begins anew.
const TOGETHER: u64 = 64;
/// Tables and indices that are told by themselves.
const NAMED: usize = 6;

/// The log of an SQLite database (<https://sqlite.org/fileformat2.html#the_write_ahead_log>): its
/// frames carry the numbers of pages in the clear.
struct Log {
    path: PathBuf,
    /// Of the log as it was read last: its salt, and the frames of it that were seen.
    salt: u32,
    seen: usize,
}

impl Log {
    const HEADER: usize = 32;
    const FRAME: usize = 24 + 4_096;

    /// The pages that were written since the last look, one entry for each time.
    fn written(&mut self) -> Result<Vec<u32>> {
        let bytes = std::fs::read(&self.path)?;
        let number = |at: usize| {
            let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
            four.map(u32::from_be_bytes)
        };
        let Some(salt) = number(16) else { return Ok(Vec::new()) };
        if salt != self.salt {
            (self.salt, self.seen) = (salt, 0);
        }
        let mut pages = Vec::new();
        loop {
            let frame = Self::HEADER + self.seen * Self::FRAME;
            // What stands behind the newest frame is of before the log began anew.
            let (Some(page), true) = (number(frame), number(frame + 8) == Some(salt)) else {
                return Ok(pages);
            };
            pages.push(page);
            self.seen += 1;
        }
    }
}

/// Of the last reports of a journal with so many.
pub(crate) fn measure(reports: usize) -> Result<Vec<Row>> {
    let reports = u64::try_from(reports)?.max(2 * COUNTED);
    output::progress(&format!("pages of the last {COUNTED} of {reports} reports"));
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("journal.db");
    let making = Making::bare(reports);
    let journal = Journal::create(&path, &made::key())?;
    making.add(&journal, 1..=reports - COUNTED)?;
    let mut log = Log { path: path.with_file_name("journal.db-wal"), salt: 0, seen: 0 };
    log.written()?;
    let mut written: HashMap<u32, u64> = HashMap::new();
    for first in (reports - COUNTED + 1..=reports).step_by(usize::try_from(TOGETHER)?) {
        making.add(&journal, first..=reports.min(first + TOGETHER - 1))?;
        for page in log.written()? {
            *written.entry(page).or_default() += 1;
        }
    }
    let owners = owners(&path)?;
    journal.close();
    Ok(rows(reports, &written, &owners))
}

/// The table or index to which each page belongs.
fn owners(journal: &Path) -> Result<HashMap<u32, String>> {
    let connection = Connection::open(journal)?;
    connection.execute_batch(&made::key_statement())?;
    let mut query = connection.prepare("SELECT pageno, name FROM dbstat")?;
    let owners = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(owners.collect::<rusqlite::Result<_>>()?)
}

fn rows(reports: u64, written: &HashMap<u32, u64>, owners: &HashMap<u32, String>) -> Vec<Row> {
    let each = |pages: u64| Figure::of(pages as f64 / COUNTED as f64, 2, " pages");
    let mut rows = vec![Row {
        what: format!("written for a report, in a journal of {reports}"),
        ours: each(written.values().sum()),
        bound: Bound::at_most(12.0, Some(6.0)),
        ..Row::default()
    }];
    let mut by_owner: HashMap<&str, u64> = HashMap::new();
    for (page, times) in written {
        let owner = owners.get(page).map_or("free", String::as_str);
        *by_owner.entry(owner).or_default() += times;
    }
    let mut by_owner: Vec<_> = by_owner.into_iter().collect();
    by_owner.sort_by_key(|(name, pages)| (std::cmp::Reverse(*pages), *name));
    let named = by_owner.into_iter().take(NAMED);
    rows.extend(named.map(|(name, pages)| Row {
        what: format!("of these in {name}"),
        ours: each(pages),
        ..Row::default()
    }));
    rows
}
