//! The check of the whole journal. Collects everything that does not agree; never stops at the
//! first.

use report::{Event, State, SubmissionId};
use rusqlite::Connection;

use crate::chain::{Hash, Link};
use crate::queries::read;
use crate::store::open::Pages;
use crate::store::{cells, rows, sql};
use crate::{Discrepancy, DiscrepancyKind as Kind, JournalError, Verification, chain};

/// Submissions with what the other tables must agree with.
const SUBMISSIONS: &str = "SELECT s.id, s.state_json, s.digest, s.erased IS NULL, d.size, \
     d.content FROM submission s LEFT JOIN document d ON d.submission = s.id ORDER BY s.id";
/// The chain, with the digests that its hashes cover.
const CHAIN: &str = "SELECT e.id, e.submission, e.at, e.person, e.event, coalesce(v.digest, ''), \
     s.digest, s.identifier, e.hash, v.id IS NOT NULL \
     FROM event e JOIN submission s ON s.id = e.submission \
     LEFT JOIN evidence v ON v.id = e.evidence WHERE e.id > ?1 ORDER BY e.id";
const EVIDENCE: &str =
    "SELECT submission, digest, size, body FROM evidence WHERE body IS NOT NULL ORDER BY id";
const TALLY: &str = "SELECT state, submissions FROM tally WHERE submissions > 0 ORDER BY state";
const COUNTED: &str = "SELECT state, count(*) FROM submission GROUP BY state ORDER BY state";
/// The highest number ever given: it stays when the newest events are removed.
const EVENTS: &str = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'event'";

/// Looks at the pages before they are called damaged.
const CHECKS: usize = 3;

/// One part of the check.
type Walk = fn(&Connection, &mut Verification) -> Result<(), JournalError>;

/// Pages are reported once; a damaged file has thousands.
pub(crate) fn verify(
    connection: &Connection,
    where_pages: Pages,
) -> Result<Verification, JournalError> {
    let mut found = Verification::default();
    // A damaged page can stop any of the walks: that is a finding, not the end of the check.
    let mut walks: Vec<Walk> = vec![pages, events, lives, evidence, counts];
    if where_pages == Pages::InFile {
        walks.insert(0, file);
    }
    for walk in walks {
        match walk(connection, &mut found) {
            Ok(()) => {}
            Err(JournalError::Damaged | JournalError::Io { .. }) => {
                note(&mut found, Kind::Pages, None, None);
            }
            Err(other) => return Err(other),
        }
    }
    found.problems.dedup();
    Ok(found)
}

fn note(found: &mut Verification, kind: Kind, id: Option<SubmissionId>, event: Option<i64>) {
    found.problems.push(Discrepancy { kind, id, event });
}

/// The structure (SQLite), which reads every page in use and so checks its authentication code;
/// then the codes of all pages of the file as it is (SQLCipher).
fn pages(connection: &Connection, found: &mut Verification) -> Result<(), JournalError> {
    let structure: Vec<String> =
        rows::all(connection, "PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if structure != ["ok"] {
        note(found, Kind::Pages, None, None);
    }
    Ok(())
}

fn file(connection: &Connection, found: &mut Verification) -> Result<(), JournalError> {
    // May meet a page that a checkpoint is just writing; real damage stays.
    for _ in 0..CHECKS {
        let failed: Vec<String> =
            rows::all(connection, "PRAGMA cipher_integrity_check", [], |row| row.get(0))?;
        if failed.is_empty() {
            return Ok(());
        }
    }
    note(found, Kind::Pages, None, None);
    Ok(())
}

/// Replay, document and digest of every submission.
fn lives(connection: &Connection, found: &mut Verification) -> Result<(), JournalError> {
    walk(connection, SUBMISSIONS, |row| {
        let id = SubmissionId(row.get(0)?);
        found.submissions += 1;
        let stored: Option<State> = cells::from_json(1, row.get_ref(1)?.as_str()?).ok();
        let replayed = read::replay(connection, id).ok();
        if !stored.zip(replayed).is_some_and(|(stored, replayed)| agree(&stored, &replayed)) {
            note(found, Kind::Replay, Some(id), None);
        }
        let digest: String = row.get(2)?;
        let kept: bool = row.get(3)?;
        let packed: Option<Vec<u8>> = row.get(5)?;
        match packed {
            None if kept => note(found, Kind::Document, Some(id), None),
            None => {}
            Some(packed) => match cells::unpack(&packed, row.get(4)?) {
                Ok(document) if cells::hex(&document) == digest => found.digests_ok += 1,
                _ => note(found, Kind::Digest, Some(id), None),
            },
        }
        Ok(())
    })
}

/// Programs of before kept what the authority has by a person's word as withdrawn.
fn agree(stored: &State, replayed: &State) -> bool {
    let before = State::Withdrawn { received: false };
    stored == replayed || (*stored == before && matches!(replayed, State::Withdrawn { .. }))
}

/// Numbers and hashes of all events in their order, and the proof of every `Completed`.
fn events(connection: &Connection, found: &mut Verification) -> Result<(), JournalError> {
    let seed: Option<Vec<u8>> = rows::one(connection, sql::SEED, [], |row| row.get(0))?;
    let start = chain::start(&seed.ok_or(JournalError::Damaged)?);
    events_after(connection, found, (0, start))?;
    let given = rows::one(connection, EVENTS, [], |row| row.get::<_, u32>(0))?;
    if given.map(u64::from) != Some(found.events) {
        // The newest events are gone, or the submissions of some.
        note(found, Kind::Chain, None, None);
    }
    Ok(())
}

/// Whether the chain of events goes on from one of them without a break.
pub(crate) fn goes_on(connection: &Connection, from: (i64, Hash)) -> Result<bool, JournalError> {
    let mut found = Verification::default();
    events_after(connection, &mut found, from)?;
    Ok(found.problems.is_empty())
}

fn events_after(
    connection: &Connection,
    found: &mut Verification,
    (mut before, mut expected): (i64, Hash),
) -> Result<(), JournalError> {
    walk_from(connection, CHAIN, &[before], |row| {
        let number: i64 = row.get(0)?;
        let id = SubmissionId(row.get(1)?);
        found.events += 1;
        let stored = chain::stored(row.get(8)?)?;
        if number != before + 1 || link(row, &expected)? != stored {
            note(found, Kind::Chain, Some(id), Some(number));
        }
        // Go on from what is stored: one break is one finding.
        (before, expected) = (number, stored);
        match cells::from_json::<Event>(4, row.get_ref(4)?.as_str()?) {
            Err(_) => note(found, Kind::Event, Some(id), Some(number)),
            Ok(Event::Completed { .. }) if !row.get::<_, bool>(9)? => {
                note(found, Kind::Unproven, Some(id), Some(number));
            }
            Ok(_) => {}
        }
        Ok(())
    })
}

fn link(row: &rusqlite::Row<'_>, predecessor: &Hash) -> rusqlite::Result<Hash> {
    Ok(Link {
        number: row.get(0)?,
        submission: row.get(1)?,
        at: row.get(2)?,
        person: row.get_ref(3)?.as_str()?,
        event: row.get_ref(4)?.as_str()?,
        evidence: row.get_ref(5)?.as_str()?,
        document: row.get_ref(6)?.as_str()?,
        identifier: row.get_ref(7)?.as_str()?,
    }
    .hash(predecessor))
}

fn evidence(connection: &Connection, found: &mut Verification) -> Result<(), JournalError> {
    walk(connection, EVIDENCE, |row| {
        let digest: String = row.get(1)?;
        let packed: Vec<u8> = row.get(3)?;
        let body = cells::unpack(&packed, row.get(2)?);
        if body.ok().is_none_or(|body| cells::hex(&body) != digest) {
            note(found, Kind::Evidence, Some(SubmissionId(row.get(0)?)), None);
        }
        Ok(())
    })
}

fn counts(connection: &Connection, found: &mut Verification) -> Result<(), JournalError> {
    let of = |statement| -> Result<Vec<(String, i64)>, JournalError> {
        rows::all(connection, statement, [], |row| Ok((row.get(0)?, row.get(1)?)))
    };
    if of(TALLY)? != of(COUNTED)? {
        note(found, Kind::Counts, None, None);
    }
    Ok(())
}

fn walk(
    connection: &Connection,
    statement: &str,
    step: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<()>,
) -> Result<(), JournalError> {
    walk_from(connection, statement, &[], step)
}

fn walk_from(
    connection: &Connection,
    statement: &str,
    from: &[i64],
    mut step: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<()>,
) -> Result<(), JournalError> {
    let mut run = || -> rusqlite::Result<()> {
        let mut query = connection.prepare(statement)?;
        let mut rows = query.query(rusqlite::params_from_iter(from))?;
        while let Some(row) = rows.next()? {
            step(row)?;
        }
        Ok(())
    };
    run().map_err(JournalError::sql("verify"))
}
