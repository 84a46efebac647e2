//! The writing thread: what waits is committed in one transaction, then everybody is answered.

use std::sync::mpsc;

use fhir::Instant;
use rusqlite::{Connection, OptionalExtension as _, Transaction, TransactionBehavior, params};
use tokio::sync::oneshot;

use super::audit::{self, AuditEntry};
use super::{NewDocument, StoreError, Verdict, format_name};
use crate::clock;

type Reply<T> = oneshot::Sender<Result<T, StoreError>>;

pub(crate) enum Command {
    Accept(Box<NewDocument>, Reply<Instant>),
    Conclude(Vec<Verdict>, Reply<()>),
    Audit(AuditEntry),
}

/// One synchronous commit costs about as much as a hundred rows; a group waits for nobody.
const GROUP_MAX: usize = 64;

pub(super) fn work(mut connection: Connection, commands: &mpsc::Receiver<Command>) {
    while let Ok(first) = commands.recv() {
        let mut group = vec![first];
        group.extend(commands.try_iter().take(GROUP_MAX - 1));
        match commit(&mut connection, &group) {
            Ok(times) => group.into_iter().zip(times).for_each(|(command, at)| match command {
                // Whoever no longer waits has lost its connection; the row is there all the same.
                Command::Accept(_, reply) => drop(reply.send(Ok(at))),
                Command::Conclude(_, reply) => drop(reply.send(Ok(()))),
                Command::Audit(_) => {}
            }),
            Err(error) => {
                let error = StoreError::from(error);
                tracing::error!(%error, group = group.len(), "nothing of this group was stored");
                group.into_iter().for_each(|command| match command {
                    Command::Accept(_, reply) => drop(reply.send(Err(error.clone()))),
                    Command::Conclude(_, reply) => drop(reply.send(Err(error.clone()))),
                    Command::Audit(_) => {}
                });
            }
        }
    }
}

/// Commits a group; the time given to each command.
fn commit(connection: &mut Connection, group: &[Command]) -> rusqlite::Result<Vec<Instant>> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Searchers see times rise in order of commit: they are given here, one by one, above the last.
    let last: Option<i64> =
        transaction.query_row("SELECT max(since) FROM version", [], |row| row.get(0))?;
    let mut last = last.unwrap_or(i64::MIN);
    let mut next = || {
        last = clock::now().0.max(last.saturating_add(1));
        Instant(last)
    };
    let mut times = Vec::with_capacity(group.len());
    for command in group {
        times.push(match command {
            Command::Accept(document, _) => {
                let at = next();
                accept(&transaction, document, at)?;
                at
            }
            Command::Conclude(verdicts, _) => {
                for verdict in verdicts {
                    conclude(&transaction, verdict, next())?;
                }
                Instant(0)
            }
            Command::Audit(entry) => {
                audit::append(&transaction, entry, clock::now())?;
                Instant(0)
            }
        });
    }
    transaction.commit()?;
    Ok(times)
}

fn accept(
    transaction: &Transaction<'_>,
    document: &NewDocument,
    at: Instant,
) -> rusqlite::Result<()> {
    transaction
        .prepare_cached(
            "INSERT INTO document (laboratory, ordinal, receipt, created, identifier_system,
                 identifier, document_system, document_identifier, digest)
             SELECT ?1, 1 + coalesce(max(ordinal), 0), ?2, ?3, ?4, ?5, ?6, ?7, ?8
             FROM document WHERE laboratory = ?1",
        )?
        .execute(params![
            document.laboratory,
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
        .prepare_cached("INSERT INTO content (document, format, body) VALUES (?1, ?2, ?3)")?
        .execute(params![id, format_name(document.format), document.body])?;
    transaction
        .prepare_cached(
            "INSERT INTO version (document, number, laboratory, status, since)
             VALUES (?1, 1, ?2, 'in-progress', ?3)",
        )?
        .execute(params![id, document.laboratory, at.0])?;
    let delay = i64::try_from(document.delay.as_micros()).unwrap_or(i64::MAX);
    transaction
        .prepare_cached("INSERT INTO queue (document, due) VALUES (?1, ?2)")?
        .execute(params![id, at.plus_micros(delay).0])?;
    let created = AuditEntry {
        laboratory: Some(document.laboratory),
        certificate: document.certificate.clone(),
        interaction: "create",
        receipt: Some(document.receipt.clone()),
        entries: None,
        status: 201,
    };
    audit::append(transaction, &created, at)
}

fn conclude(transaction: &Transaction<'_>, verdict: &Verdict, at: Instant) -> rusqlite::Result<()> {
    let taken = transaction
        .prepare_cached("DELETE FROM queue WHERE document = ?1")?
        .execute([verdict.document])?;
    if taken == 0 {
        // Somebody else was here first.
        return Ok(());
    }
    let notices = serde_json::to_string(&verdict.notices)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    let current: Option<(i64, i64)> = transaction
        .prepare_cached(
            "SELECT number, laboratory FROM version WHERE document = ?1
             ORDER BY number DESC LIMIT 1",
        )?
        .query_row([verdict.document], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let (number, laboratory) = current.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    transaction
        .prepare_cached("UPDATE version SET until = ?3 WHERE document = ?1 AND number = ?2")?
        .execute(params![verdict.document, number, at.0])?;
    transaction
        .prepare_cached(
            "INSERT INTO version (document, number, laboratory, status, since, notices)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            verdict.document,
            number + 1,
            laboratory,
            verdict.status.code(),
            at.0,
            notices
        ])?;
    if verdict.status == exchange::Processing::Failed {
        transaction
            .prepare_cached("DELETE FROM content WHERE document = ?1")?
            .execute([verdict.document])?;
    }
    Ok(())
}
