//! Other versions of a report: what has its document identifier, goes to the same place, says
//! something else and may be about the same case.

use report::{State, StateCode, SubmissionId, Summary};
use rusqlite::{Connection, params};

use crate::events::{attach, guard, known, lost};
use crate::queries::read;
use crate::store::sql;
use crate::{Destination, JournalError, LostReport, Message};

/// Code of the warning on a report that waits for a person, while a newer version of it is with the
/// authority; parameter: `submission`.
pub(crate) const NEWER_DELIVERED: &str = "newer-version-delivered";
/// Code of the warning on a report that waits for a person, while what is lost has its document
/// identifier: it may be its correction, or the same report, sent again.
const OTHER_LOST: &str = "other-version-lost";

const WAITS_FOR_A_PERSON: [StateCode; 3] =
    [StateCode::Held, StateCode::Rejected, StateCode::Failed];
const WITH_THE_AUTHORITY: [StateCode; 3] =
    [StateCode::InProgress, StateCode::Completed, StateCode::SaidReceived];

const IN_DOUBT: [StateCode; 2] = [StateCode::Sending, StateCode::Unknown];

/// Other versions of a report that count before it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherVersions {
    /// Those that were withdrawn, oldest first: a request of one may have arrived.
    pub withdrawn: Vec<SubmissionId>,
    /// The newest of those that were taken in after it and are with the authority.
    pub newer: Option<SubmissionId>,
    /// The newest of those that were taken in after it and may be with the authority: a request is
    /// under way or in doubt.
    pub newer_in_doubt: Option<SubmissionId>,
}

/// What counts of them before a report is sent.
pub(crate) fn before_sending(
    connection: &Connection,
    id: SubmissionId,
) -> Result<OtherVersions, JournalError> {
    let states = [&[StateCode::Withdrawn], &WITH_THE_AUTHORITY[..], &IN_DOUBT[..]].concat();
    let found = found(connection, id, &states)?;
    let withdrawn = found.iter().filter(|(_, state)| *state == StateCode::Withdrawn);
    let newer = |among: &[StateCode]| {
        let mut newer = found.iter().filter(|(newer, state)| *newer > id && among.contains(state));
        newer.next_back().map(|(id, _)| *id)
    };
    Ok(OtherVersions {
        withdrawn: withdrawn.map(|(id, _)| *id).collect(),
        newer: newer(&WITH_THE_AUTHORITY),
        newer_in_doubt: newer(&IN_DOUBT),
    })
}

/// Those in these states, oldest first.
fn of(
    connection: &Connection,
    id: SubmissionId,
    states: &[StateCode],
) -> Result<Vec<SubmissionId>, JournalError> {
    Ok(found(connection, id, states)?.into_iter().map(|(id, _)| id).collect())
}

/// The same with the state of each. What retention has erased does not say which case it was.
fn found(
    connection: &Connection,
    id: SubmissionId,
    states: &[StateCode],
) -> Result<Vec<(SubmissionId, StateCode)>, JournalError> {
    let codes: Vec<&str> = states.iter().map(|state| state.kept_as()).collect();
    let codes = serde_json::to_string(&codes).map_err(|_| JournalError::Damaged)?;
    let found = read::all(connection, sql::VERSIONS, params![id.0, codes], |row| {
        let summaries: [String; 2] = [row.get(2)?, row.get(3)?];
        Ok((SubmissionId(row.get(0)?), row.get::<_, String>(1)?, summaries))
    })?;
    let mut versions = Vec::new();
    for (other, state, [theirs, ours]) in found {
        let state: State = serde_json::from_str(&state).map_err(|_| JournalError::Damaged)?;
        let read = |text: &str| serde_json::from_str::<Summary>(text);
        let (Ok(theirs), Ok(ours)) = (read(&theirs), read(&ours)) else {
            return Err(JournalError::Damaged);
        };
        if states.contains(&state.shown()) && theirs.may_be_case_of(&ours) {
            versions.push((other, state.shown()));
        }
    }
    Ok(versions)
}

/// After a step: whoever is to decide about a report is told that a newer version of it is with the
/// authority.
pub(crate) fn tell(
    connection: &Connection,
    id: SubmissionId,
    state: &State,
) -> Result<(), JournalError> {
    let open = WAITS_FOR_A_PERSON;
    let delivered = WITH_THE_AUTHORITY;
    if delivered.contains(&state.shown()) {
        let older = of(connection, id, &open)?.into_iter().filter(|older| *older < id);
        return older.into_iter().try_for_each(|older| warn(connection, older, id));
    }
    if !open.contains(&state.shown()) {
        return Ok(());
    }
    match of(connection, id, &delivered)?.into_iter().rfind(|newer| *newer > id) {
        Some(newer) => warn(connection, id, newer),
        None => Ok(()),
    }
}

/// After a restore: whoever is to decide about a report is told that another one of its document is
/// lost, and it does not go by itself beside that.
pub(crate) fn tell_of_lost(connection: &Connection, lost: &LostReport) -> Result<(), JournalError> {
    for id in beside(connection, lost)? {
        guard::withhold(connection, id)?;
        attach::warn(connection, id, &Message::warning(OTHER_LOST, &[]))?;
    }
    Ok(())
}

/// What was lost is in the journal again: nobody is told any more that it is lost.
pub(crate) fn no_longer_lost(
    connection: &Connection,
    lost: &LostReport,
) -> Result<(), JournalError> {
    let is_beside = |other: &LostReport| {
        let (one, two) = (&other.environment, &lost.environment);
        let same_place = one.as_ref().zip(two.as_ref()).is_none_or(|(one, two)| one == two);
        other.document == lost.document && other.endpoint == lost.endpoint && same_place
    };
    if lost::all(connection)?.iter().any(is_beside) {
        return Ok(());
    }
    let told = beside(connection, lost)?;
    told.into_iter().try_for_each(|id| attach::take_back(connection, id, OTHER_LOST))
}

/// What waits for a person and has the document identifier of a lost report, at the same place.
fn beside(connection: &Connection, lost: &LostReport) -> Result<Vec<SubmissionId>, JournalError> {
    let Some(document) = &lost.document else { return Ok(Vec::new()) };
    let there = Destination { endpoint: &lost.endpoint, environment: lost.environment.as_deref() };
    let mut found = known::of_document(connection, document, there)?;
    found.retain(|it| WAITS_FOR_A_PERSON.contains(&it.state));
    Ok(found.into_iter().map(|it| it.id).collect())
}

fn warn(
    connection: &Connection,
    id: SubmissionId,
    newer: SubmissionId,
) -> Result<(), JournalError> {
    let number = newer.0.to_string();
    let warning = Message::warning(NEWER_DELIVERED, &[("submission", &number)]);
    match read::messages(connection, id)?.contains(&warning) {
        true => Ok(()),
        false => attach::warn(connection, id, &warning),
    }
}
