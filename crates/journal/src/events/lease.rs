//! Who works the queue. The token grows with every change of hands, and a step that carries an
//! older one is refused: a process that slept through its lease can no longer write.

use fhir::Instant;
use rusqlite::{Connection, params};

use crate::store::{rows, sql};
use crate::{JournalError, Lease, LeaseAnswer, Token};

pub(crate) fn current(connection: &Connection) -> Result<Option<Lease>, JournalError> {
    rows::one(connection, sql::LEASE, [], |row| {
        Ok(Lease { holder: row.get(0)?, token: Token(row.get(1)?), until: Instant(row.get(2)?) })
    })
}

pub(crate) fn acquire(
    connection: &Connection,
    holder: &str,
    now: Instant,
    until: Instant,
) -> Result<LeaseAnswer, JournalError> {
    let token = match current(connection)? {
        None => Token(1),
        Some(held) if held.until > now => return Ok(LeaseAnswer::Elsewhere(held)),
        Some(held) => Token(held.token.0 + 1),
    };
    let lease = Lease { holder: holder.to_owned(), token, until };
    write(connection, &lease)?;
    Ok(LeaseAnswer::Held(lease))
}

/// Takes the lease that is still exactly as it was `seen`, whatever the clock says of it.
pub(crate) fn take_over(
    connection: &Connection,
    holder: &str,
    seen: &Lease,
    until: Instant,
) -> Result<LeaseAnswer, JournalError> {
    match current(connection)? {
        Some(held) if held != *seen => Ok(LeaseAnswer::Elsewhere(held)),
        _ => {
            let lease = Lease { holder: holder.to_owned(), token: Token(seen.token.0 + 1), until };
            write(connection, &lease)?;
            Ok(LeaseAnswer::Held(lease))
        }
    }
}

pub(crate) fn renew(
    connection: &Connection,
    held: &Lease,
    until: Instant,
) -> Result<Lease, JournalError> {
    require(connection, held.token)?;
    let lease = Lease { until, ..held.clone() };
    write(connection, &lease)?;
    Ok(lease)
}

/// Free from now on, for whatever clock the next one has; the grown token makes the old one stale.
pub(crate) fn release(connection: &Connection, held: &Lease) -> Result<(), JournalError> {
    if current(connection)?.is_none_or(|now| now.token != held.token) {
        return Ok(());
    }
    let token = Token(held.token.0 + 1);
    write(connection, &Lease { holder: String::new(), token, until: Instant(i64::MIN) })
}

/// The token is the newest one given out.
pub(crate) fn require(connection: &Connection, token: Token) -> Result<(), JournalError> {
    match current(connection)? {
        Some(held) if held.token == token => Ok(()),
        _ => Err(JournalError::StaleLease),
    }
}

fn write(connection: &Connection, lease: &Lease) -> Result<(), JournalError> {
    connection
        .prepare_cached(sql::SET_LEASE)
        .and_then(|mut statement| {
            statement.execute(params![lease.holder, lease.token.0, lease.until.0])
        })
        .map(drop)
        .map_err(JournalError::sql("lease"))
}
