//! What is taken in while nobody knows what was sent since: after a restore that no register accompanies, and in
//! the copy of a profile. It waits, held, until the authority of its endpoint has been asked for its document.

use fhir::{Instant, Severity};
use report::{Event, Person, State, SubmissionId};
use rusqlite::{Connection, params};

use crate::append::{self, Happening, Prepared};
use crate::{JournalError, Message, RecordError, Source, attach, doubt, read, recover, settings};

const GUARD: &str = "guard";
/// One setting for each report that waits.
const WAITS: &str = "guard-waits:";
const COMPUTER: &str = "computer";

/// Code of the warning on a report that waits for the comparison.
pub(crate) const NOT_COMPARED: &str = "journal-not-compared";
/// Code of the warning on a report that the authority may have already; parameter: `receipt`.
pub(crate) const MAY_BE_KNOWN: &str = "authority-may-have-it";
/// Why a report that waited is sent after all.
const COMPARED: &str = "journal-compared";

/// So long every report that is taken in is asked for first: what was sent may be handed over again until then.
const STANDS_SECONDS: i64 = 30 * 86_400;

pub(crate) fn raise(connection: &Connection, at: Instant) -> Result<(), JournalError> {
    settings::set(connection, GUARD, &at.0.into())
}

/// Whether the guard stands at this time.
pub(crate) fn stands(connection: &Connection, now: Instant) -> Result<bool, JournalError> {
    let raised = settings::get(connection, GUARD)?.and_then(|kept| kept.as_i64()).map(Instant);
    Ok(raised.is_some_and(|at| now < at.plus_seconds(STANDS_SECONDS)))
}

/// The report as it is taken in while the guard stands: held, with the reason. `None`: as it is.
pub(crate) fn held_back(
    connection: &Connection,
    prepared: &Prepared,
) -> Result<Option<Prepared>, JournalError> {
    let is_queued = matches!(prepared.new.first, Event::Queued { .. });
    if !is_queued || !stands(connection, prepared.new.at)? {
        return Ok(None);
    }
    let mut held = prepared.again();
    held.hold();
    held.new.findings.push(warning(NOT_COMPARED, &[]));
    Ok(Some(held))
}

pub(crate) fn waits(connection: &Connection, id: SubmissionId) -> Result<(), JournalError> {
    settings::set(connection, &format!("{WAITS}{}", id.0), &true.into())
}

/// Reports to an endpoint that wait for the comparison, oldest first.
pub(crate) fn waiting(
    connection: &Connection,
    endpoint: &str,
) -> Result<Vec<SubmissionId>, JournalError> {
    let mut found = Vec::new();
    for (name, _) in settings::beginning(connection, WAITS)? {
        let number = name.strip_prefix(WAITS).and_then(|number| number.parse().ok());
        let id = SubmissionId(number.ok_or(JournalError::Damaged)?);
        if read::row(connection, id)?.endpoint == endpoint {
            found.push(id);
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// The authority was asked for the document of a report that waits: it may have it under this receipt, and then a
/// person decides; or it has not, and it is sent.
pub(crate) fn decide(
    connection: &Connection,
    id: SubmissionId,
    receipt: Option<&str>,
    by: &Person,
    now: Instant,
) -> Result<(), RecordError> {
    settings::remove(connection, &format!("{WAITS}{}", id.0))?;
    let subject = append::subject_of(connection, id)?;
    // A person may have decided meanwhile.
    if !matches!(subject.state, State::Held { .. }) {
        return Ok(());
    }
    let mut messages = read::messages(connection, id)?;
    messages.retain(|it| it.source != Source::Authority && it.code != NOT_COMPARED);
    messages.extend(receipt.map(|receipt| warning(MAY_BE_KNOWN, &[("receipt", receipt)])));
    attach::replace_findings(connection, id, &messages)?;
    if receipt.is_none() {
        let event = Event::Released { reason: COMPARED.to_owned(), due: now };
        let happening = Happening { event: &event, by, at: now, evidence: None };
        append::advance(connection, &subject, &happening)?;
    }
    Ok(())
}

/// Notes on which computer, and in which file, the journal lives. Where it was another, the profile was copied, and
/// the other copy may have gone on: whatever may be sent is put in doubt, and the guard stands. Gives how many are
/// in doubt then.
pub(crate) fn settle_on(
    connection: &Connection,
    computer: &str,
    by: &Person,
    now: Instant,
) -> Result<Option<u64>, RecordError> {
    let before = settings::get(connection, COMPUTER)?;
    let here = serde_json::Value::from(computer);
    if before.as_ref() == Some(&here) {
        return Ok(None);
    }
    settings::set(connection, COMPUTER, &here)?;
    if before.is_none() {
        return Ok(None);
    }
    let number = |statement| -> Result<Option<i64>, JournalError> {
        Ok(read::one(connection, statement, params![], |row| row.get::<_, Option<i64>>(0))?
            .flatten())
    };
    let since = number("SELECT max(at) FROM event")?.map(Instant);
    let through = number("SELECT max(id) FROM submission")?.unwrap_or(0);
    let doubted = doubt::all(connection, now, by)?;
    doubt::set_mark(connection, doubt::Mark { at: now, through })?;
    raise(connection, now)?;
    recover::reconcile_since(connection, since, now)?;
    Ok(Some(doubted))
}

/// A journal that is at home on this computer gets another file, which it finds anew. One that is not stays so: it was
/// copied, and nobody has noticed yet.
pub(crate) fn leave(connection: &Connection, computer: Option<&str>) -> Result<(), JournalError> {
    let at_home =
        settings::get(connection, COMPUTER)?.as_ref().and_then(|kept| kept.as_str()) == computer;
    if at_home { forget_computer(connection) } else { Ok(()) }
}

/// A journal that takes another's place finds its computer anew.
pub(crate) fn forget_computer(connection: &Connection) -> Result<(), JournalError> {
    settings::remove(connection, COMPUTER)
}

fn warning(code: &str, params: &[(&str, &str)]) -> Message {
    let params = params.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Message {
        source: Source::Local,
        severity: Severity::Warning,
        code: code.to_owned(),
        rule: None,
        text: None,
        params: params.collect(),
        expression: None,
        line: None,
        column: None,
    }
}
