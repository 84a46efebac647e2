//! What can still be read of a damaged journal: row by row, each by its number, so that one
//! unreadable page costs only what stands on it. A content counts only with its digest.

use fhir::{Format, Instant};
use report::{Event, Person, State, StateCode, SubmissionId, Summary};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::events::guard::Wait;
use crate::events::{guard, succession};
use crate::recovery::attempts::Name;
use crate::store::open::{Access, Place};
use crate::store::{cells, open};
use crate::{LostReport, Message, NewSubmission, codes};

/// Rows beyond the restored ones that are looked for where no register says how many there were.
const SEARCHED_MAX: i64 = 200_000;
/// After so many numbers in a row that give nothing there is nothing more.
const NOTHING_MAX: u32 = 1_000;

/// Failures in a row after which the rest is given up: each costs an opening, about 1 ms, and a
/// page holds some ten reports.
const FAILURES_MAX: u32 = 100;

const HEAD: &str = "SELECT file, format, endpoint, digest, identifier, summary, state, created, \
     state_json FROM submission WHERE id = ?1 AND erased IS NULL";
/// What journals of the first schema do not have.
const SAYS: &str = "SELECT canonical, environment FROM submission WHERE id = ?1";
/// What the predecessor went out as.
const CORRECTS: &str = "SELECT one.id, one.identifier, one.endpoint, one.digest FROM submission AS \
     other JOIN submission AS one ON one.id = other.corrects WHERE other.id = ?1";
/// What a report went out as.
const NAME: &str = "SELECT identifier, endpoint, digest FROM submission WHERE id = ?1";
const DOCUMENT: &str = "SELECT size, content FROM document WHERE submission = ?1";

const MESSAGES: &str = "SELECT list FROM message WHERE submission = ?1 AND origin = ?2";
/// A warning that says nothing in another journal: the number is another report's.
const OF_ANOTHER_LIFE: &str = succession::CORRECTION_WITHDRAWN;

/// A report that was read from a damaged journal.
pub(crate) struct Salvaged {
    pub(crate) lost: LostReport,
    pub(crate) new: NewSubmission,
    /// The report whose place it takes.
    pub(crate) corrects: Option<(i64, Name)>,
    /// The findings that name other reports; they are not among those of `new`.
    pub(crate) naming: Naming,
    /// The authority had accepted it. It waits until that shows it again: one that has forgotten it
    /// must not get it twice.
    pub(crate) had_receipt: bool,
    /// It waited for the comparison after an earlier restore, and was never sent.
    pub(crate) waits: Option<Wait>,
    /// It was put on hold after a request that may have arrived.
    pub(crate) held_after_request: bool,
    /// The authority refused it.
    pub(crate) rejected: bool,
    /// What the authority said of it.
    pub(crate) issues: Vec<Message>,
    /// The authority has it, by a person's word.
    pub(crate) said_received: bool,
    /// Nobody wanted it to be sent any more.
    pub(crate) closed: bool,
    /// The number of the report that had taken its place.
    pub(crate) replaced_by: Option<i64>,
}

/// Findings that name other reports by the numbers of the damaged journal.
#[derive(Default)]
pub(crate) struct Naming {
    pub(crate) findings: Vec<Message>,
    /// Those reports, each with what it went out as where that can be read.
    pub(crate) named: Vec<(i64, Option<Name>)>,
}

impl Salvaged {
    /// Takes the findings that name other reports out of it.
    pub(crate) fn naming(&mut self) -> Naming {
        std::mem::take(&mut self.naming)
    }
}

/// A damaged journal, opened for what can still be read.
pub(crate) struct Damaged {
    place: Place,
    connection: Option<Connection>,
    /// In a row.
    failures: u32,
}

impl Damaged {
    /// Of a copy: reading may write to what stands beside it.
    pub(crate) fn new(place: Place) -> Self {
        Self { place, connection: None, failures: 0 }
    }

    /// Reads; a connection that has met a damaged page may refuse everything from then on, so the
    /// next read gets a fresh one. After too many failures in a row nothing more is tried.
    fn read<T>(&mut self, view: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Option<T> {
        if self.failures >= FAILURES_MAX {
            return None;
        }
        let connection = match self.connection.take() {
            Some(connection) => Ok(connection),
            None => open::connect(&self.place, Access::Write),
        };
        let seen = connection.and_then(|connection| Ok((view(&connection)?, connection)));
        let Ok((seen, connection)) = seen else {
            self.failures += 1;
            return None;
        };
        self.failures = 0;
        self.connection = Some(connection);
        Some(seen)
    }

    /// Numbers after this one that can be read.
    pub(crate) fn numbers_after(&mut self, after: i64) -> Vec<i64> {
        let mut found = Vec::new();
        let mut nothing = 0;
        for number in after + 1..=after.saturating_add(SEARCHED_MAX) {
            let known = self.read(|connection| {
                connection
                    .prepare_cached("SELECT 1 FROM submission WHERE id = ?1")?
                    .exists([number])
            });
            if known == Some(true) {
                found.push(number);
                nothing = 0;
            } else {
                nothing += 1;
            }
            if nothing >= NOTHING_MAX || self.failures >= FAILURES_MAX {
                break;
            }
        }
        found
    }

    /// The report with this number, if all of it can be read.
    pub(crate) fn report(&mut self, number: i64, now: Instant, by: &Person) -> Option<Salvaged> {
        let (mut new, state, whole, created) = self.read(|connection| {
            let mut query = connection.prepare_cached(HEAD)?;
            query.query_row([number], |row| head(row, now, by)).optional()
        })??;
        (new.canonical, new.environment) = self.says(number);
        let (size, packed) = self.read(|connection| {
            let mut query = connection.prepare_cached(DOCUMENT)?;
            query.query_row([number], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Vec<u8>>(1)?)))
        })?;
        new.document = cells::unpack(&packed, size).ok()?;
        if cells::hex(&new.document) != new.digest {
            return None;
        }
        let lost = LostReport {
            file: new.file.clone(),
            digest: new.digest.clone(),
            canonical: new.canonical.clone(),
            document: new.summary.identifier.clone(),
            identifier: new.identifier.clone(),
            endpoint: new.endpoint.clone(),
            environment: new.environment.clone(),
            at: created,
        };
        // What waits for a person goes on waiting. All else may have been sent, or was.
        let state = StateCode::of(&state);
        let said_received = whole == Some(State::Withdrawn { received: true });
        let held_after_request = matches!(whole, Some(State::Held { attempt: 1.. }));
        let may_go = [StateCode::Queued, StateCode::Sending, StateCode::Unknown];
        let with_receipt = [StateCode::InProgress, StateCode::Completed, StateCode::Failed];
        let had_receipt = state.is_some_and(|state| with_receipt.contains(&state));
        let rejected = whole == Some(State::Rejected);
        let is_in_doubt = had_receipt || said_received || held_after_request || rejected;
        if !is_in_doubt && !state.is_some_and(|state| may_go.contains(&state)) {
            new.first = Event::Held;
        }
        let replaced_by = match whole {
            Some(State::Superseded { by }) => Some(by.0),
            _ => None,
        };
        let is_closed = state.is_some_and(StateCode::is_closed);
        let closed = is_closed && !said_received && replaced_by.is_none();
        let corrects = self.corrects(number);
        let issues = self.messages(number, "authority");
        new.findings = self.messages(number, "check");
        let waits = match whole {
            Some(State::Held { attempt: 0 }) => self.waits(number),
            _ => None,
        };
        new.findings.retain(|it| {
            let is_outdated = it.code == codes::NOT_COMPARED && waits.is_none();
            !is_outdated && it.code != OF_ANOTHER_LIFE
        });
        let naming = self.naming(&mut new.findings);
        Some(Salvaged {
            lost,
            new,
            corrects,
            naming,
            had_receipt,
            waits,
            held_after_request,
            rejected,
            issues,
            said_received,
            closed,
            replaced_by,
        })
    }

    /// How it waits for the comparison, where that can be read.
    fn waits(&mut self, number: i64) -> Option<Wait> {
        let unread = |_| rusqlite::Error::InvalidQuery;
        let id = SubmissionId(number);
        self.read(|connection| guard::wait_of(connection, id).map_err(unread)).flatten()
    }

    /// The messages of one origin, where they can be read. The content is what counts.
    fn messages(&mut self, number: i64, origin: &str) -> Vec<Message> {
        let found = self.read(|connection| {
            let mut query = connection.prepare_cached(MESSAGES)?;
            query.query_row(params![number, origin], |row| row.get::<_, String>(0)).optional()
        });
        let list = found.flatten().and_then(|list| serde_json::from_str(&list).ok());
        list.unwrap_or_default()
    }

    /// Takes those that name other reports out of these findings.
    fn naming(&mut self, all: &mut Vec<Message>) -> Naming {
        let names_some = |it: &Message| it.submissions().next().is_some();
        let (findings, others): (Vec<_>, _) = all.drain(..).partition(names_some);
        *all = others;
        let named = findings.iter().flat_map(Message::submissions);
        let named = named.map(|id| (id.0, self.name(id.0))).collect();
        Naming { findings, named }
    }

    /// What the report of a number went out as.
    fn name(&mut self, number: i64) -> Option<Name> {
        let found = self.read(|connection| {
            let mut query = connection.prepare_cached(NAME)?;
            query.query_row([number], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?])).optional()
        });
        found.flatten()
    }

    /// The report whose place it takes, where both can be read.
    fn corrects(&mut self, number: i64) -> Option<(i64, Name)> {
        let found = self.read(|connection| {
            // A journal of the first schema is no damage.
            let Ok(mut query) = connection.prepare_cached(CORRECTS) else { return Ok(None) };
            query
                .query_row([number], |row| {
                    Ok((row.get(0)?, [row.get(1)?, row.get(2)?, row.get(3)?]))
                })
                .optional()
        });
        found.flatten()
    }

    /// What a report says and which environment it went to, where the journal has that.
    fn says(&mut self, number: i64) -> (Option<String>, Option<String>) {
        let found = self.read(|connection| {
            // A journal of the first schema is no damage.
            let Ok(mut query) = connection.prepare_cached(SAYS) else { return Ok(None) };
            query.query_row([number], |row| Ok((row.get(0)?, row.get(1)?))).optional()
        });
        found.flatten().unwrap_or_default()
    }
}

fn head(
    row: &rusqlite::Row<'_>,
    now: Instant,
    by: &Person,
) -> rusqlite::Result<(NewSubmission, String, Option<State>, Instant)> {
    let format = match row.get_ref(1)?.as_str()? {
        "xml" => Format::Xml,
        _ => Format::Json,
    };
    let summary: Option<String> = row.get(5)?;
    // The content is what counts; a summary that cannot be read is made of nothing.
    let summary = summary.and_then(|text| serde_json::from_str::<Summary>(&text).ok());
    let new = NewSubmission {
        file: row.get(0)?,
        format,
        document: Vec::new(),
        canonical: None,
        environment: None,
        digest: row.get(3)?,
        summary: summary.unwrap_or_default(),
        identifier: row.get(4)?,
        endpoint: row.get(2)?,
        first: Event::Queued { due: now },
        findings: Vec::new(),
        corrects: None,
        by: by.clone(),
        at: now,
    };
    let whole = serde_json::from_str::<State>(row.get_ref(8)?.as_str()?).ok();
    Ok((new, row.get(6)?, whole, Instant(row.get(7)?)))
}

#[cfg(test)]
mod tests {
    use zeroize::Zeroizing;

    use super::*;
    use crate::Key;

    /// A file with nothing but numbers of reports.
    fn with_numbers(folder: &std::path::Path, numbers: &[i64]) -> Place {
        let place = Place::new(&folder.join("old.db"), &Key::new(Zeroizing::new([7; 32]))).unwrap();
        open::private_file(&place.path).unwrap();
        let connection = open::connect(&place, Access::Write).unwrap();
        connection.execute_batch("CREATE TABLE submission (id INTEGER PRIMARY KEY)").unwrap();
        for number in numbers {
            connection.execute("INSERT INTO submission VALUES (?1)", [number]).unwrap();
        }
        place
    }

    #[test]
    fn numbers_are_looked_for_until_there_are_none_for_long() {
        let folder = tempfile::TempDir::new().unwrap();
        let far = i64::from(NOTHING_MAX);
        // The gap before the last is one too long.
        let place = with_numbers(folder.path(), &[1, 2, 5, 5 + far, 5 + 2 * far, 6 + 3 * far]);
        let mut damaged = Damaged::new(place);
        assert_eq!(damaged.numbers_after(0), [1, 2, 5, 5 + far, 5 + 2 * far]);
        assert_eq!(damaged.numbers_after(2), [5, 5 + far, 5 + 2 * far]);
        assert_eq!(damaged.numbers_after(i64::MAX - 1), Vec::<i64>::new());
    }

    #[test]
    fn a_file_that_gives_nothing_is_given_up() {
        let folder = tempfile::TempDir::new().unwrap();
        let mut place = with_numbers(folder.path(), &[1]);
        place.key = Key::new(Zeroizing::new([8; 32]));
        let mut damaged = Damaged::new(place);
        assert_eq!(damaged.numbers_after(0), Vec::<i64>::new());
        assert_eq!(damaged.failures, FAILURES_MAX);
        let mut tried = false;
        let seen = damaged.read(|_| {
            tried = true;
            Ok(())
        });
        assert_eq!((seen, tried), (None, false), "nothing more is tried");
    }
}
