//! A journal of many submissions with ten years of dates, made once and kept below `target/bench`:
//! opened, listed, searched, counted, drawn and backed up, against one of a thousand and against
//! the same questions in bare SQL on the same data without encryption.

use std::path::{Path, PathBuf};
use std::time::Instant as Clock;

use fhir::Instant;
use journal::{Filter, Journal};
use report::{StateCode, SubmissionId};
use rusqlite::Connection;

use crate::made::Making;
use crate::table::{Bound, Figure, Row, Samples};
use crate::{Result, foreign, made, output};

/// What it is compared with.
const SMALL: u64 = 1_000;
/// Reports that change between two backups.
const CHANGED: u64 = 1_000;
/// Questions of one kind in a round; the round's figure is their median.
const ASKED: u64 = 40;
const PAGE: usize = 50;
const DAY_MICROS: i64 = 86_400_000_000;

/// A kept journal, and the same data in plain SQLite beside it.
struct Kept {
    count: u64,
    path: PathBuf,
    journal: Journal,
    plain: Connection,
}

/// A question to both.
struct Question {
    name: &'static str,
    ours: fn(&Kept, u64) -> Result<usize>,
    /// With `?1` as the submission before which a page begins, or its beginning in time.
    plain: &'static str,
}

const QUESTIONS: [Question; 4] = [
    Question {
        name: "page of 50 by status",
        ours: |kept, at| {
            let states = vec![StateCode::Completed];
            kept.list(Filter { states, before: Some(kept.id(at)), ..Filter::default() })
        },
        plain: "SELECT * FROM submission WHERE state = 'completed' AND (created, id) <
                (SELECT created, id FROM submission WHERE id = ?1)
                ORDER BY created DESC, id DESC LIMIT 50",
    },
    Question {
        name: "counts",
        ours: |kept, _| {
            kept.journal.counts(made::NOW)?;
            Ok(1)
        },
        plain: "SELECT * FROM tally WHERE ?1 > 0",
    },
    Question {
        name: "page of 50 by a word",
        ours: |kept, _| {
            let search = Some(made::COMMON_WORD.to_owned());
            kept.list(Filter { search, ..Filter::default() })
        },
        plain: "SELECT s.* FROM search JOIN submission s ON s.id = search.rowid
                WHERE search MATCH 'salmonella' AND ?1 > 0 ORDER BY search.rowid DESC LIMIT 50",
    },
    Question {
        name: "the 30 days of the overview, at most 1,000",
        ours: |kept, at| {
            let since = kept.created(at);
            let until = Instant(since.0 + 30 * DAY_MICROS);
            let (since, until) = (Some(since), Some(until));
            kept.list(Filter { since, until, limit: 1_000, ..Filter::default() })
        },
        plain: "SELECT * FROM submission WHERE created >=
                (SELECT created FROM submission WHERE id = ?1) AND created <
                (SELECT created FROM submission WHERE id = ?1) + 2592000000000
                ORDER BY created DESC, id DESC LIMIT 1000",
    },
];

/// `count`: submissions of the large one.
pub(crate) fn measure(rounds: usize, count: u64) -> Result<Vec<Row>> {
    let (small, large) = (Kept::of(SMALL)?, Kept::of(count)?);
    let mut rows = vec![opened(rounds, &small, &large)?];
    for question in &QUESTIONS {
        output::progress(question.name);
        rows.extend(asked(rounds, question, &small, &large)?);
    }
    output::progress("backups");
    rows.push(backed_up(&large)?);
    Ok(rows)
}

impl Kept {
    fn of(count: u64) -> Result<Self> {
        let folder = foreign::folder(&format!("journal-{count}"))?;
        let path = folder.join("journal.db");
        let whole = folder.join("whole");
        if !whole.exists() {
            output::progress(&format!("making a journal of {count} submissions, once"));
            std::fs::remove_dir_all(&folder)?;
            std::fs::create_dir_all(&folder)?;
            made::journal(&path, count)?;
            made::plain(&path, &folder.join("plain.db"))?;
            std::fs::write(&whole, "")?;
        }
        let journal = Journal::open(&path, &made::key())?;
        let plain = Connection::open(folder.join("plain.db"))?;
        Ok(Self { count, path, journal, plain })
    }

    /// One of its submissions, for the so-manieth question: never among the oldest, so that every
    /// page is full.
    fn id(&self, at: u64) -> SubmissionId {
        let number = self.count / 2 + at * 7_919 % (self.count / 2);
        SubmissionId(i64::try_from(number.max(1)).unwrap_or(i64::MAX))
    }

    fn created(&self, at: u64) -> Instant {
        Making::bare(self.count).created(self.id(at).0.unsigned_abs())
    }

    fn list(&self, filter: Filter) -> Result<usize> {
        let limit = if filter.limit == 0 { PAGE } else { filter.limit };
        Ok(self.journal.list(&Filter { limit, now: made::NOW, ..filter })?.len())
    }

    fn bare(&self, statement: &str, at: u64) -> Result<usize> {
        let mut query = self.plain.prepare_cached(statement)?;
        let columns = query.column_count();
        let mut rows = query.query([self.id(at).0])?;
        let mut count = 0;
        while let Some(row) = rows.next()? {
            for column in 0..columns {
                std::hint::black_box(row.get_ref(column)?);
            }
            count += 1;
        }
        Ok(count)
    }
}

/// In milliseconds.
fn timed<T>(what: impl FnOnce() -> Result<T>) -> Result<f64> {
    let began = Clock::now();
    std::hint::black_box(what()?);
    Ok(began.elapsed().as_secs_f64() * 1e3)
}

fn open_and_list(kept: &Kept) -> Result<f64> {
    timed(|| {
        let journal = Journal::open(&kept.path, &made::key())?;
        let filter = Filter { limit: PAGE, now: made::NOW, ..Filter::default() };
        Ok(journal.list(&filter)?.len())
    })
}

fn opened(rounds: usize, small: &Kept, large: &Kept) -> Result<Row> {
    let (mut before, mut after) = (Samples::default(), Samples::default());
    for _ in 0..rounds.saturating_mul(4) {
        before.0.push(open_and_list(small)?);
        after.0.push(open_and_list(large)?);
    }
    Ok(Row {
        what: format!("open and first page: {} / {}", large.count, small.count),
        ratio: after.over(&before).shown(2, "×"),
        baseline: before.shown(2, " ms"),
        ours: after.shown(2, " ms"),
        bound: Bound::at_most(3.0, Some(1.0)),
    })
}

/// Against bare SQL on the same data, against a small journal, and by itself.
fn asked(rounds: usize, question: &Question, small: &Kept, large: &Kept) -> Result<Vec<Row>> {
    let [mut bare, mut few, mut many] = [(); 3].map(|()| Samples::default());
    for round in 0..rounds as u64 {
        let [mut of_bare, mut of_few, mut of_many] = [(); 3].map(|()| Samples::default());
        for at in round * ASKED..(round + 1) * ASKED {
            let mut seen = 0;
            of_bare.0.push(timed(|| large.bare(question.plain, at))?);
            of_few.0.push(timed(|| (question.ours)(small, at))?);
            of_many.0.push(timed(|| {
                seen = (question.ours)(large, at)?;
                Ok(())
            })?);
            if seen == 0 {
                return Err(format!("{}: nothing was found", question.name).into());
            }
        }
        bare.0.push(of_bare.median());
        few.0.push(of_few.median());
        many.0.push(of_many.median());
    }
    let (name, count) = (question.name, large.count);
    Ok(vec![
        Row {
            what: format!("{name}, {count} / bare SQL on plain SQLite"),
            ratio: many.over(&bare).shown(2, "×"),
            baseline: bare.shown(3, " ms"),
            ours: many.shown(3, " ms"),
            bound: Bound::at_most(2.0, Some(1.2)),
        },
        Row {
            what: format!("{name}: {count} / {}", small.count),
            ratio: many.over(&few).shown(2, "×"),
            baseline: few.shown(3, " ms"),
            ours: many.shown(3, " ms"),
            bound: Bound::at_most(2.0, Some(1.0)),
        },
        Row {
            what: format!("{name}, {count}"),
            ours: many.shown(3, " ms"),
            bound: Bound::at_most(16.0, None),
            ..Row::default()
        },
    ])
}

/// A full copy, then what has changed since the backup of pages before. The kept journal is not
/// touched: it is a copy that changes.
fn backed_up(large: &Kept) -> Result<Row> {
    let folder = tempfile::tempdir_in(large.path.parent().unwrap_or(Path::new(".")))?;
    let (copy, backups) = (folder.path().join("copy.db"), folder.path().join("backups"));
    std::fs::create_dir(&backups)?;
    let full = timed(|| Ok(large.journal.backup(&copy)?))?;
    let journal = Journal::open(&copy, &made::key())?;
    journal.back_up_into(&backups, made::NOW)?;
    Making::bare(large.count).add(&journal, large.count + 1..=large.count + CHANGED)?;
    let later = Instant(made::NOW.0 + DAY_MICROS);
    let changed = timed(|| Ok(journal.back_up_into(&backups, later)?))?;
    Ok(Row {
        what: format!("backup of {CHANGED} changed of {} / full copy", large.count),
        baseline: Figure::of(full, 0, " ms"),
        ours: Figure::of(changed, 0, " ms"),
        ratio: Figure::of(changed / full, 3, ""),
        bound: Bound::at_most(0.05, Some(0.01)),
    })
}
