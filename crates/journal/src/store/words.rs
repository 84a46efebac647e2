//! Words to search by.
//!
//! FTS5 writes a segment at the end of every savepoint and of every statement that can be undone by
//! itself, and merges them later. So the writing connection gathers the words of a transaction and
//! feeds the index once, at its end.

use report::SubmissionId;
use rusqlite::{Connection, params};

use crate::store::{rows, sql};
use crate::{JournalError, Message, NewSubmission, Row};

/// More words than this in one search are ignored: nobody types them, and each costs a lookup.
const WORDS_MAX: usize = 16;

/// Message text beyond this many bytes is not indexed; the beginning names the matter.
const MESSAGE_MAX: usize = 4_096;

/// What a submission is found by, apart from its messages.
pub(crate) struct Words {
    identifiers: String,
    patient: String,
    file: String,
    subject: String,
}

impl Words {
    #[cfg(test)]
    pub(crate) fn of_text(text: &str) -> Self {
        let (identifiers, patient) = (text.to_owned(), String::new());
        Self { identifiers, patient, file: String::new(), subject: String::new() }
    }

    pub(crate) fn of(new: &NewSubmission, identifier: &str) -> Self {
        Self::from(identifier, None, &new.summary, &new.file)
    }

    fn of_row(row: &Row) -> Self {
        Self::from(&row.identifier, row.receipt.as_deref(), &row.summary, &row.file)
    }

    fn from(attempt: &str, receipt: Option<&str>, summary: &report::Summary, file: &str) -> Self {
        let joined =
            |parts: &[Option<&str>]| parts.iter().flatten().copied().collect::<Vec<_>>().join(" ");
        // By its name in every language: who searches need not know in which the report was
        // imported.
        let disease = summary.tested().map(|tested| tested.disease.names.join(" "));
        Self {
            identifiers: joined(&[summary.identifier.as_deref(), Some(attempt), receipt]),
            patient: joined(&[summary.patient.as_deref(), summary.birth_date.as_deref()]),
            file: file.to_owned(),
            subject: joined(&[
                summary.subject.as_deref(),
                summary.code.as_deref(),
                summary.laboratory.as_deref(),
                disease.as_deref(),
            ]),
        }
    }
}

/// From now on what this connection has for the index waits for [`write_gathered`]. Only for one
/// whose transactions all end with it.
pub(crate) fn gather(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(sql::GATHER_WORDS)
}

fn gathers(connection: &Connection) -> Result<bool, JournalError> {
    rows::one(connection, sql::GATHERS_WORDS, [], |_| Ok(())).map(|found| found.is_some())
}

/// Before a commit: brings into the index what the transaction has for it.
pub(crate) fn write_gathered(connection: &Connection) -> Result<(), JournalError> {
    let is_any =
        || rows::one(connection, sql::WORDS_GATHERED, [], |_| Ok(())).map(|found| found.is_some());
    if !gathers(connection)? || !is_any()? {
        return Ok(());
    }
    for statement in [sql::FORGET_GATHERED, sql::WRITE_GATHERED, sql::NOTHING_GATHERED] {
        run(connection, statement, [])?;
    }
    Ok(())
}

/// Makes a submission findable.
pub(crate) fn index(
    connection: &Connection,
    id: SubmissionId,
    words: &Words,
    messages: &[Message],
) -> Result<(), JournalError> {
    let statement = if gathers(connection)? { sql::GATHER_NEW } else { sql::NEW_WORDS };
    let message = words_of(messages);
    let Words { identifiers, patient, file, subject } = words;
    run(connection, statement, params![id.0, identifiers, patient, file, subject, message])
}

/// After its messages (and perhaps its receipt) have changed.
pub(crate) fn reindex(
    connection: &Connection,
    row: &Row,
    messages: &[Message],
) -> Result<(), JournalError> {
    forget(connection, row.id)?;
    index(connection, row.id, &Words::of_row(row), messages)
}

pub(crate) fn forget(connection: &Connection, id: SubmissionId) -> Result<(), JournalError> {
    let gathers = gathers(connection)?;
    let statement = if gathers { sql::GATHER_FORGOTTEN } else { sql::FORGET_WORDS };
    run(connection, statement, [id.0])
}

fn run(
    connection: &Connection,
    statement: &str,
    parameters: impl rusqlite::Params,
) -> Result<(), JournalError> {
    connection
        .prepare_cached(statement)
        .and_then(|mut statement| statement.execute(parameters))
        .map(drop)
        .map_err(JournalError::sql("index"))
}

/// Pages of the index written anew in one transaction: 800 kB.
const MERGE_PAGES: i64 = 200;

/// Writes some of the index anew, so that forgotten words leave the file too (deleting only marks
/// them). `Some(())` while there is more to do.
pub(crate) fn purge(connection: &Connection, stage: Purge) -> Result<Option<()>, JournalError> {
    // Negative: puts all of the index on one level first, so that all of it is merged.
    let pages = if stage == Purge::Begin { -MERGE_PAGES } else { MERGE_PAGES };
    let before = connection.total_changes();
    connection
        .prepare_cached(sql::MERGE_WORDS)
        .and_then(|mut statement| statement.execute([pages]))
        .map_err(JournalError::sql("index"))?;
    // FTS5: one change is the statement itself, more is work that was done.
    Ok((connection.total_changes() - before > 1).then_some(()))
}

/// Where a purge stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purge {
    Begin,
    GoOn,
}

fn words_of(messages: &[Message]) -> String {
    let mut words = String::new();
    for message in messages {
        let parts = [Some(message.code.as_str()), message.rule.as_deref(), message.text.as_deref()];
        for part in parts.into_iter().flatten() {
            if words.len() < MESSAGE_MAX {
                words.push(' ');
                words.extend(part.chars().take(MESSAGE_MAX));
            }
        }
    }
    words
}

/// What a person typed, as a query of FTS5: every word is quoted, so nothing in it is an operator,
/// and matches as the beginning of a word. `None`: nothing to search by. `Some("")`: nothing can
/// match.
pub(crate) fn query(text: &str) -> Option<String> {
    if text.trim().is_empty() {
        return None;
    }
    let words: Vec<String> = text
        .split_whitespace()
        .filter(|word| word.chars().any(char::is_alphanumeric))
        .take(WORDS_MAX)
        .map(|word| format!("\"{}\"*", word.replace('\0', " ").replace('"', "\"\"")))
        .collect();
    Some(words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted() {
        assert_eq!(query("müller OR"), Some("\"müller\"* \"OR\"*".to_owned()));
        assert_eq!(query("a\"b"), Some("\"a\"\"b\"*".to_owned()));
        assert_eq!(query("  "), None);
        assert_eq!(query("*** \""), Some(String::new()));
    }

    /// Words that are taken out and put in again within one transaction, also by several steps of a
    /// group, leave an index that its own check calls whole, with the last of them.
    #[test]
    fn words_that_change_twice_within_a_group_are_written_once() {
        let connection = Connection::open_in_memory().unwrap();
        crate::store::schema::migrate(&connection).unwrap();
        gather(&connection).unwrap();
        let group = |changes: &[(i64, Option<&str>)]| {
            connection.execute_batch("BEGIN").unwrap();
            for (id, text) in changes {
                let id = SubmissionId(*id);
                match text {
                    Some(text) => {
                        let words = Words::of_text(text);
                        index(&connection, id, &words, &[]).unwrap();
                    }
                    None => forget(&connection, id).unwrap(),
                }
            }
            write_gathered(&connection).unwrap();
            connection.execute_batch("COMMIT").unwrap();
            let check = "INSERT INTO search (search, rank) VALUES ('integrity-check', 0)";
            connection.execute_batch(check).unwrap();
        };
        let found = |word: &str| -> Vec<i64> {
            let mut query =
                connection.prepare("SELECT rowid FROM search WHERE search MATCH ?1").unwrap();
            query.query_map([word], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
        };
        group(&[(1, Some("anna")), (2, Some("anna")), (1, None), (1, Some("berta"))]);
        assert_eq!((found("anna"), found("berta")), (vec![2], vec![1]));
        group(&[(1, None), (1, Some("carla")), (1, None), (1, Some("dora")), (2, None)]);
        assert_eq!((found("anna"), found("berta"), found("carla")), (vec![], vec![], vec![]));
        assert_eq!(found("dora"), [1]);
        group(&[(3, Some("emma")), (3, None)]);
        assert!(found("emma").is_empty());
    }
}
