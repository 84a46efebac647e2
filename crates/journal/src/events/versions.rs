//! Other versions of a report: what has its document identifier, goes to the same authority, says
//! something else and may be about the same case.

use std::collections::{BTreeMap, BTreeSet};

use report::{Event, State, StateCode, SubmissionId, Summary};
use rusqlite::{Connection, params};

use crate::events::person::program;
use crate::events::{asked, attach, doubt, guard, known, lost, standing, succession};
use crate::queries::{endpoints, read};
use crate::store::{rows, sql};
use crate::{Destination, Entry, JournalError, LostReport, Message};

/// Code of the warning on a report that waits for a person, while newer versions of it are with
/// the authority; parameter: `submission`, one or several numbers.
pub const NEWER_DELIVERED: &str = "newer-version-delivered";
/// Code of the warning on a report that waits for a person, while what is lost has its document
/// identifier: it may be its correction, or the same report, sent again.
pub const OTHER_LOST: &str = "other-version-lost";

const WAITS_FOR_A_PERSON: [StateCode; 3] =
    [StateCode::Held, StateCode::Rejected, StateCode::Failed];
const WITH_THE_AUTHORITY: [StateCode; 3] =
    [StateCode::InProgress, StateCode::Completed, StateCode::SaidReceived];

const IN_DOUBT: [StateCode; 2] = [StateCode::Sending, StateCode::Unknown];
/// Of these a request may have arrived that was refused.
const REFUSED: [StateCode; 4] =
    [StateCode::Queued, StateCode::Held, StateCode::Rejected, StateCode::Superseded];
/// Other versions of a report that count before it is sent, each kind with the oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherVersions {
    /// Those that were withdrawn: a request of one may have arrived.
    pub withdrawn: Vec<SubmissionId>,
    /// Those that were taken in after it, or after the same content that it sends again, and are
    /// with the authority.
    pub newer: Vec<SubmissionId>,
    /// The same that may be with the authority: a request is under way or in doubt.
    pub newer_in_doubt: Vec<SubmissionId>,
    /// The same that wait, were rejected or replaced: a request of one may have been refused on the
    /// way back.
    pub newer_refused: Vec<SubmissionId>,
    /// A newer one may have been sent in what was forgotten: the authority is to be asked for their
    /// document first.
    pub is_unasked: bool,
    /// A restore has lost a report with its document identifier: it may be a newer version. Nobody
    /// who was told of that has released it since.
    pub is_beside_lost: bool,
}

/// What counts of them before a report is sent.
pub(crate) fn before_sending(
    connection: &Connection,
    id: SubmissionId,
) -> Result<OtherVersions, JournalError> {
    let states = [&[StateCode::Withdrawn], &WITH_THE_AUTHORITY[..], &IN_DOUBT[..], &REFUSED[..]];
    let found = beside_it(connection, id, &states.concat())?;
    let is_withdrawn = |(_, state): &(_, State)| state.shown() == StateCode::Withdrawn;
    let (withdrawn, others) = found.into_iter().partition::<Vec<_>, _>(is_withdrawn);
    let newer = newer_among(connection, id, others)?;
    let among = |states: &[StateCode]| {
        let found = newer.iter().filter(|(_, state)| states.contains(state));
        found.map(|(id, _)| *id).collect()
    };
    Ok(OtherVersions {
        withdrawn: withdrawn.into_iter().map(|(id, _)| id).collect(),
        newer: among(&WITH_THE_AUTHORITY),
        newer_in_doubt: among(&IN_DOUBT),
        newer_refused: among(&REFUSED),
        is_unasked: is_unasked(connection, id)?,
        is_beside_lost: is_beside_lost(connection, id)?,
    })
}

/// What a report takes the place of, one after the other, and the first that says the same: what
/// failed or was rejected and is sent again is as old as that. Itself where it says something else.
fn in_place_of(
    connection: &Connection,
    id: SubmissionId,
) -> Result<(BTreeSet<SubmissionId>, SubmissionId), JournalError> {
    let said = known::relative(connection, id)?;
    let (mut all, mut first) = (BTreeSet::new(), id);
    let mut corrects = corrected_by(connection, id)?;
    while let Some(earlier) = corrects {
        let before = known::relative(connection, earlier)?;
        if before.digest == said.digest
            || (said.canonical.is_some() && before.canonical == said.canonical)
        {
            first = earlier;
        }
        all.insert(earlier);
        corrects = corrected_by(connection, earlier)?;
    }
    Ok((all, first))
}

/// Whether a newer one may have been sent of which nothing here knows.
fn is_unasked(connection: &Connection, id: SubmissionId) -> Result<bool, JournalError> {
    Ok(standing::has_ever_forgotten(connection)?
        && asked::is_due(connection, id)?
        && read::row(connection, id)?.summary.identifier.is_some())
}

/// Whether a report of a restored journal stands beside a lost one of its document, and no person
/// who knows that has decided.
fn is_beside_lost(connection: &Connection, id: SubmissionId) -> Result<bool, JournalError> {
    if !doubt::covers(connection, id)? {
        return Ok(false);
    }
    let lost = lost::all(connection)?;
    if lost.is_empty() {
        return Ok(false);
    }
    let row = read::row(connection, id)?;
    let is_of_it =
        |lost: &&LostReport| lost.document.is_some() && lost.document == row.summary.identifier;
    let mut is_beside = false;
    for lost in lost.iter().filter(is_of_it) {
        is_beside |= lost.is_beside(connection, &row.endpoint, row.environment.as_deref())?;
    }
    if !is_beside {
        return Ok(false);
    }
    let is_told = read::messages(connection, id)?.iter().any(|it| it.code == OTHER_LOST);
    let is_release =
        |entry: &Entry| entry.by != program() && matches!(entry.event, Event::Released { .. });
    Ok(!is_told || !doubt::has_since_restore(connection, id, is_release)?)
}

/// Of these versions those that were taken in after a report, or after the same content that it
/// sends again, and may be with the authority, oldest first; and what has taken or is to take their
/// place, also under another document identifier.
fn newer_among(
    connection: &Connection,
    id: SubmissionId,
    mut newer: Vec<(SubmissionId, State)>,
) -> Result<Vec<(SubmissionId, StateCode)>, JournalError> {
    // Mostly there is none, and no more is read.
    if newer.is_empty() {
        return Ok(Vec::new());
    }
    let (replaced, first) = in_place_of(connection, id)?;
    let is_newer = |(newer, _): &(SubmissionId, State)| {
        *newer > first && *newer != id && !replaced.contains(newer)
    };
    let mut known: BTreeMap<_, _> = newer.drain(..).filter(is_newer).collect();
    for newer in known.keys().copied().collect::<Vec<_>>() {
        for next in succession::successors(connection, newer)? {
            known.insert(next, read::state(connection, next)?);
        }
    }
    newer.extend(known);
    let restored = doubt::mark(connection)?.map(|mark| mark.through);
    // Of one that was never sent no request can have arrived.
    newer.retain(|(id, state)| {
        let waits = matches!(state, State::Queued { attempt: 0, .. } | State::Held { attempt: 0 });
        !waits || restored.is_some_and(|through| id.0 <= through)
    });
    Ok(newer.into_iter().map(|(id, state)| (id, state.shown())).collect())
}

/// Versions of a report, and what was taken in after it of the document of what it corrects, which
/// may have another identifier.
fn beside_it(
    connection: &Connection,
    id: SubmissionId,
    states: &[StateCode],
) -> Result<Vec<(SubmissionId, State)>, JournalError> {
    // What a restore covers may have been withdrawn since, and handed over again.
    let mut all = found(connection, id, states, doubt::covers(connection, id)?)?;
    let mut corrects = corrected_by(connection, id)?;
    // What failed and is sent again is as old as it was the first time.
    let first = if corrects.is_some() { in_place_of(connection, id)?.1 } else { id };
    while let Some(earlier) = corrects {
        let later = found(connection, earlier, states, false)?;
        all.extend(later.into_iter().filter(|(other, _)| *other > first && *other != id));
        corrects = corrected_by(connection, earlier)?;
    }
    all.sort_unstable_by_key(|(id, _)| *id);
    all.dedup_by_key(|(id, _)| *id);
    Ok(all)
}

/// Those in these states, oldest first.
fn of(
    connection: &Connection,
    id: SubmissionId,
    states: &[StateCode],
) -> Result<Vec<SubmissionId>, JournalError> {
    Ok(found(connection, id, states, false)?.into_iter().map(|(id, _)| id).collect())
}

/// The same with the whole state of each; `same_too`: and later ones of the same content. What
/// retention has erased does not say which case it was: what was taken in later may have been the
/// same.
fn found(
    connection: &Connection,
    id: SubmissionId,
    states: &[StateCode],
    same_too: bool,
) -> Result<Vec<(SubmissionId, State)>, JournalError> {
    let codes: Vec<&str> = states.iter().map(|state| state.kept_as()).collect();
    let codes = serde_json::to_string(&codes).map_err(|_| JournalError::Damaged)?;
    let found = rows::all(connection, sql::VERSIONS, params![id.0, codes, same_too], |row| {
        let summaries: (Option<String>, String) = (row.get(2)?, row.get(3)?);
        let places: (String, String) = (row.get(4)?, row.get(5)?);
        Ok((SubmissionId(row.get(0)?), row.get::<_, String>(1)?, summaries, places))
    })?;
    let mut versions = Vec::new();
    for (other, state, (theirs, ours), (there, here)) in found {
        if !endpoints::lead_to_one(connection, &here, &there)? {
            continue;
        }
        let state: State = serde_json::from_str(&state).map_err(|_| JournalError::Damaged)?;
        let read = |text: &str| -> Result<Summary, JournalError> {
            serde_json::from_str(text).map_err(|_| JournalError::Damaged)
        };
        let may_be_same = match theirs {
            Some(theirs) => read(&theirs)?.may_be_case_of(&read(&ours)?),
            None => true,
        };
        if states.contains(&state.shown()) && may_be_same {
            versions.push((other, state));
        }
    }
    Ok(versions)
}

/// What a report takes the place of.
pub(crate) fn corrected_by(
    connection: &Connection,
    id: SubmissionId,
) -> Result<Option<SubmissionId>, JournalError> {
    let found = rows::one(connection, sql::CORRECTS, [id.0], |row| row.get::<_, Option<i64>>(0))?;
    Ok(found.ok_or(JournalError::NotFound(id))?.map(SubmissionId))
}

/// After a step: whoever is to decide about a report is told that a newer version of it is with the
/// authority.
pub(crate) fn tell(
    connection: &Connection,
    id: SubmissionId,
    state: &State,
) -> Result<(), JournalError> {
    if WAITS_FOR_A_PERSON.contains(&state.shown()) {
        return warn(connection, id);
    }
    if !WITH_THE_AUTHORITY.contains(&state.shown()) {
        return Ok(());
    }
    // Older than it, or than what it has taken the place of.
    let mut newer = Some(id);
    while let Some(id) = newer {
        let older = of(connection, id, &WAITS_FOR_A_PERSON)?.into_iter().filter(|it| *it < id);
        older.into_iter().try_for_each(|older| warn(connection, older))?;
        newer = corrected_by(connection, id)?;
    }
    Ok(())
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

/// Names all of them: a person who has decided beside one has not decided beside another.
fn warn(connection: &Connection, id: SubmissionId) -> Result<(), JournalError> {
    let states = [&WITH_THE_AUTHORITY[..], &[StateCode::Superseded]].concat();
    let mut newer = newer_among(connection, id, beside_it(connection, id, &states)?)?;
    newer.retain(|(_, state)| WITH_THE_AUTHORITY.contains(state));
    let numbers: Vec<_> = newer.into_iter().map(|(newer, _)| newer.0.to_string()).collect();
    if numbers.is_empty() {
        return Ok(());
    }
    let warning = Message::warning(NEWER_DELIVERED, &[("submission", &numbers.join(", "))]);
    match read::messages(connection, id)?.contains(&warning) {
        true => Ok(()),
        false => attach::warn(connection, id, &warning),
    }
}
