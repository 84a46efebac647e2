//! Words to search by.

use report::SubmissionId;
use rusqlite::{Connection, params};

use crate::store::sql;
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
    pub(crate) fn of(new: &NewSubmission, identifier: &str) -> Self {
        Self::from(identifier, None, &new.summary, &new.file)
    }

    fn of_row(row: &Row) -> Self {
        Self::from(&row.identifier, row.receipt.as_deref(), &row.summary, &row.file)
    }

    fn from(attempt: &str, receipt: Option<&str>, summary: &report::Summary, file: &str) -> Self {
        let joined =
            |parts: &[Option<&str>]| parts.iter().flatten().copied().collect::<Vec<_>>().join(" ");
        // By its name in every language: who searches need not know in which the report was imported.
        let disease =
            report::diseases::of_summary(summary).map(|tested| tested.disease.names.join(" "));
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

/// Makes a submission findable.
pub(crate) fn index(
    connection: &Connection,
    id: SubmissionId,
    words: &Words,
    messages: &[Message],
) -> Result<(), JournalError> {
    connection
        .prepare_cached(sql::NEW_WORDS)
        .and_then(|mut statement| {
            statement.execute(params![
                id.0,
                words.identifiers,
                words.patient,
                words.file,
                words.subject,
                words_of(messages),
            ])
        })
        .map(drop)
        .map_err(JournalError::sql("index"))
}

/// After its messages (and perhaps its receipt) have changed.
pub(crate) fn reindex(
    connection: &Connection,
    id: SubmissionId,
    messages: &[Message],
) -> Result<(), JournalError> {
    let words = Words::of_row(&crate::queries::read::row(connection, id)?);
    forget(connection, id)?;
    index(connection, id, &words, messages)
}

pub(crate) fn forget(connection: &Connection, id: SubmissionId) -> Result<(), JournalError> {
    connection
        .prepare_cached(sql::FORGET_WORDS)
        .and_then(|mut statement| statement.execute([id.0]))
        .map(drop)
        .map_err(JournalError::sql("index"))
}

/// Pages of the index written anew in one transaction: 800 kB.
const MERGE_PAGES: i64 = 200;

/// Writes some of the index anew, so that forgotten words leave the file too (deleting only marks them).
/// `Some(())` while there is more to do.
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

/// What a person typed, as a query of FTS5: every word is quoted, so nothing in it is an operator, and
/// matches as the beginning of a word. `None`: nothing to search by. `Some("")`: nothing can match.
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
    use super::query;

    #[test]
    fn words_are_quoted() {
        assert_eq!(query("müller OR"), Some("\"müller\"* \"OR\"*".to_owned()));
        assert_eq!(query("a\"b"), Some("\"a\"\"b\"*".to_owned()));
        assert_eq!(query("  "), None);
        assert_eq!(query("*** \""), Some(String::new()));
    }
}
