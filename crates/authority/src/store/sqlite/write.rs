//! The writing thread: what waits is committed in one transaction, then everybody is answered.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use exchange::Processing;
use fhir::Instant;
use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};
use tokio::sync::oneshot;

use super::super::{
    Accepted, AuditEntry, NewDocument, Recording, StoreError, Verdict, audit, format_name,
};
use super::find;
use crate::clock;

type Reply<T> = oneshot::Sender<Result<T, StoreError>>;

pub(super) enum Command {
    Accept(Box<NewDocument>, Reply<Accepted>),
    Conclude(Vec<Verdict>, Reply<()>),
    Audit(AuditEntry),
}

impl Command {
    /// Whether it deletes the text of a document.
    fn deletes(&self) -> bool {
        let Self::Conclude(verdicts, _) = self else { return false };
        verdicts.iter().any(|verdict| verdict.status == Processing::Failed)
    }
}

/// What became of a command.
enum Done {
    Accept(Accepted),
    Other,
}

/// One synchronous commit costs about as much as a hundred rows; a group waits for nobody.
const GROUP_MAX: usize = 64;

/// How soon it is tried again to clear the log, where a reader was in the way.
const CLEAR_AGAIN: Duration = Duration::from_millis(200);
/// How long readers are waited for before that: whoever writes waits meanwhile.
const CLEAR_WAIT: Duration = Duration::from_millis(50);

pub(super) fn work(
    mut connection: Connection,
    commands: &mpsc::Receiver<Command>,
    recording: &Recording,
) {
    // Whether text was deleted that is still in the write-ahead log.
    let mut is_owed = false;
    loop {
        let first = match is_owed {
            false => commands.recv().map_err(|_| RecvTimeoutError::Disconnected),
            true => commands.recv_timeout(CLEAR_AGAIN),
        };
        match first {
            Ok(first) => is_owed |= work_group(&mut connection, first, commands, recording),
            Err(RecvTimeoutError::Timeout) => {}
            // The last connection to end clears the log.
            Err(RecvTimeoutError::Disconnected) => return,
        }
        is_owed = is_owed && !clear_log(&connection);
    }
}

/// Commits what waits, and answers everybody; whether the text of a document was deleted.
fn work_group(
    connection: &mut Connection,
    first: Command,
    commands: &mpsc::Receiver<Command>,
    recording: &Recording,
) -> bool {
    let mut group = vec![first];
    group.extend(commands.try_iter().take(GROUP_MAX - 1));
    let lines = group.iter().filter(|command| matches!(command, Command::Audit(_))).count();
    let committed = commit(connection, &group);
    recording.ended(lines, committed.is_ok());
    match committed {
        Ok(done) => {
            let deletes = group.iter().any(Command::deletes);
            group.into_iter().zip(done).for_each(|both| match both {
                // Whoever no longer waits has lost its connection; the row is there all the same.
                (Command::Accept(_, reply), Done::Accept(accepted)) => {
                    drop(reply.send(Ok(accepted)));
                }
                (Command::Conclude(_, reply), _) => drop(reply.send(Ok(()))),
                (Command::Accept(..) | Command::Audit(_), _) => {}
            });
            deletes
        }
        Err(error) => {
            let error = StoreError::from(error);
            tracing::error!(%error, group = group.len(), "nothing of this group was stored");
            group.into_iter().for_each(|command| match command {
                Command::Accept(_, reply) => drop(reply.send(Err(error.clone()))),
                Command::Conclude(_, reply) => drop(reply.send(Err(error.clone()))),
                Command::Audit(_) => {}
            });
            false
        }
    }
}

/// Brings the log into the file, where deleted text is overwritten already, and empties it; whether
/// that was possible.
fn clear_log(connection: &Connection) -> bool {
    let cleared = (|| {
        connection.busy_timeout(CLEAR_WAIT)?;
        let sql = "PRAGMA wal_checkpoint(TRUNCATE)";
        let busy: i64 = connection.query_row(sql, [], |row| row.get(0))?;
        Ok::<_, rusqlite::Error>(busy == 0)
    })();
    // Fails on no connection that works.
    let _ = connection.busy_timeout(super::BUSY_MAX);
    cleared.unwrap_or_else(|error| {
        tracing::warn!(%error, "the log cannot be cleared of deleted text; it is tried again");
        false
    })
}

/// Commits a group; what became of each command.
fn commit(connection: &mut Connection, group: &[Command]) -> rusqlite::Result<Vec<Done>> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Searchers see times rise in order of commit: they are given here, one by one, above the last.
    let last: Option<i64> =
        transaction.query_row("SELECT max(since) FROM version", [], |row| row.get(0))?;
    let mut last = last.unwrap_or(i64::MIN);
    let mut next = || {
        last = clock::now().0.max(last.saturating_add(1));
        Instant(last)
    };
    let mut done = Vec::with_capacity(group.len());
    for command in group {
        done.push(match command {
            Command::Accept(document, _) => Done::Accept(match existing(&transaction, document)? {
                Some(accepted) => accepted,
                None => accept(&transaction, document, next())?,
            }),
            Command::Conclude(verdicts, _) => {
                for verdict in verdicts {
                    conclude(&transaction, verdict, next())?;
                }
                Done::Other
            }
            Command::Audit(entry) => {
                append(&transaction, entry, clock::now())?;
                Done::Other
            }
        });
    }
    transaction.commit()?;
    Ok(done)
}

/// What a conditional create finds; here nobody else creates meanwhile.
fn existing(
    transaction: &Transaction<'_>,
    document: &NewDocument,
) -> rusqlite::Result<Option<Accepted>> {
    let Some(search) = document.unless() else { return Ok(None) };
    let found = find::search(transaction, &search)?.found;
    Ok((!found.is_empty()).then_some(Accepted::Existing(found)))
}

fn accept(
    transaction: &Transaction<'_>,
    document: &NewDocument,
    at: Instant,
) -> rusqlite::Result<Accepted> {
    let tally = find::tally(transaction, document.laboratory, at)?;
    let failed = i64::from(document.has_failed());
    transaction
        .prepare_cached(
            "INSERT INTO document (laboratory, ordinal, receipt, created, identifier_system,
                 identifier, document_system, document_identifier, digest)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?
        .execute(params![
            document.laboratory,
            tally.all() + 1,
            document.receipt,
            at.0,
            document.identifier_system,
            document.identifier,
            document.document_system,
            document.document_identifier,
            document.digest,
        ])?;
    let id = transaction.last_insert_rowid();
    transaction
        .prepare_cached(
            "INSERT INTO version (document, number, laboratory, status, since, notices,
                 in_progress, completed, failed)
             VALUES (?1, 1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            id,
            document.laboratory,
            document.status.code(),
            at.0,
            document.notices_json().map_err(unwritable)?,
            tally.in_progress + 1 - failed,
            tally.completed,
            tally.failed + failed,
        ])?;
    if !document.has_failed() {
        transaction
            .prepare_cached("INSERT INTO content (document, format, body) VALUES (?1, ?2, ?3)")?
            .execute(params![id, format_name(document.format), &document.body[..]])?;
        let due = at.plus_micros(document.delay_micros());
        transaction
            .prepare_cached("INSERT INTO queue (document, laboratory, due) VALUES (?1, ?2, ?3)")?
            .execute(params![id, document.laboratory, due.0])?;
    }
    append(transaction, &document.audited(), at)?;
    Ok(Accepted::Created(at))
}

fn unwritable(error: serde_json::Error) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(error.into())
}

fn conclude(transaction: &Transaction<'_>, verdict: &Verdict, at: Instant) -> rusqlite::Result<()> {
    let taken = transaction
        .prepare_cached("DELETE FROM queue WHERE document = ?1")?
        .execute([verdict.document])?;
    if taken == 0 {
        // Somebody else was here first.
        return Ok(());
    }
    let notices = serde_json::to_string(&verdict.notices).map_err(unwritable)?;
    let current: Option<(i64, i64)> = transaction
        .prepare_cached(
            "SELECT number, laboratory FROM version WHERE document = ?1
             ORDER BY number DESC LIMIT 1",
        )?
        .query_row([verdict.document], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let (number, laboratory) = current.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    let tally = find::tally(transaction, laboratory, at)?;
    let failed = i64::from(verdict.status == Processing::Failed);
    transaction
        .prepare_cached("UPDATE version SET until = ?3 WHERE document = ?1 AND number = ?2")?
        .execute(params![verdict.document, number, at.0])?;
    transaction
        .prepare_cached(
            "INSERT INTO version (document, number, laboratory, status, since, notices,
                 in_progress, completed, failed)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?
        .execute(params![
            verdict.document,
            number + 1,
            laboratory,
            verdict.status.code(),
            at.0,
            notices,
            tally.in_progress - 1,
            tally.completed + 1 - failed,
            tally.failed + failed,
        ])?;
    if verdict.status == Processing::Failed {
        transaction
            .prepare_cached("DELETE FROM content WHERE document = ?1")?
            .execute([verdict.document])?;
    }
    Ok(())
}

fn append(transaction: &Transaction<'_>, entry: &AuditEntry, at: Instant) -> rusqlite::Result<()> {
    transaction.prepare_cached(audit::APPEND)?.execute(params![
        at.0,
        entry.laboratory,
        entry.certificate,
        entry.interaction,
        entry.receipt,
        entry.entries,
        entry.status,
        entry.shown
    ])?;
    Ok(())
}
