//! What is taken in while nobody knows what was sent since: after a restore, and in the copy of a
//! profile. It waits, held, until the authority of its endpoint has been asked for its document.

use fhir::Instant;
use report::{Event, Person, State, SubmissionId};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};

use crate::events::append::{Happening, Prepared};
use crate::events::compared::COPIED;
use crate::events::person::program;
use crate::events::{append, asked, attach, doubt, standing, succession};
use crate::queries::{endpoints, read};
use crate::store::{notice, settings};
use crate::{JournalError, Message, RecordError, Source, codes};

/// When a person has read that the profile is a copy; null before the time of that is known.
const COPY_READ: &str = "guard-copy-read";
/// One setting for each report that waits.
const WAITS: &str = "guard-waits:";

/// Why a report that waited is sent after all.
const COMPARED: &str = "journal-compared";

/// What is kept of a report that waits.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Wait {
    /// It is sent once the authority turns out not to have it: nothing else holds it, or a person
    /// has released it.
    release: bool,
    /// What the authority says is worth nothing, or is not enough: a person may release it.
    in_vain: bool,
    /// It was found in a watched folder, which the other copy of the profile may be watching too.
    #[serde(default)]
    watched: bool,
    /// Since when the authority was asked for it and has not shown it.
    #[serde(default)]
    not_shown: Option<Instant>,
}

/// Whether what is taken in at this time waits, or something does that was taken in before.
pub(crate) fn is_needed(connection: &Connection, now: Instant) -> Result<bool, JournalError> {
    Ok(standing::stands(connection, now)? || !settings::beginning(connection, WAITS)?.is_empty())
}

/// Every report that waits waits anew: what the authority was asked before a restore or a copying
/// says nothing of what was sent since.
pub(crate) fn wait_anew(connection: &Connection) -> Result<(), JournalError> {
    for (id, _) in all_waiting(connection)? {
        if let Some(wait) = wait_of(connection, id)? {
            waits_on(connection, id, wait)?;
        }
    }
    Ok(())
}

/// The report as it is taken in while everything is asked for first: held, with the reason. `None`:
/// as it is.
pub(crate) fn held_back(
    connection: &Connection,
    prepared: &Prepared,
) -> Result<Option<Prepared>, JournalError> {
    if !standing::stands_at(connection, prepared.new.at, &prepared.new.endpoint)? {
        return Ok(None);
    }
    let mut held = prepared.again();
    held.hold();
    held.new.findings.push(Message::warning(codes::NOT_COMPARED, &[]));
    Ok(Some(held))
}

/// Notes that a report waits; `release`: for nothing but that.
pub(crate) fn waits(
    connection: &Connection,
    id: SubmissionId,
    release: bool,
) -> Result<(), JournalError> {
    note(connection, id, Wait { release, in_vain: false, watched: false, not_shown: None })
}

/// A report of a restored journal waits from now on, as what is taken in does.
pub(crate) fn waits_too(connection: &Connection, id: SubmissionId) -> Result<(), JournalError> {
    waits(connection, id, true)?;
    attach::warn(connection, id, &Message::warning(codes::NOT_COMPARED, &[]))
}

/// Notes that a report waits which waited in the journal that this one takes the place of: what the
/// authority was asked there says nothing of this comparison.
pub(crate) fn waits_on(
    connection: &Connection,
    id: SubmissionId,
    before: Wait,
) -> Result<(), JournalError> {
    note(connection, id, Wait { in_vain: false, not_shown: None, ..before })
}

/// A person has decided about a report that would go by itself once it was compared: only a person
/// lets it go.
pub(crate) fn withhold(connection: &Connection, id: SubmissionId) -> Result<(), JournalError> {
    match wait_of(connection, id)?.filter(|wait| wait.release) {
        Some(wait) => note(connection, id, Wait { release: false, ..wait }),
        None => Ok(()),
    }
}

/// Whether a report waits for the comparison, and for a person after that.
pub(crate) fn is_withheld(connection: &Connection, id: SubmissionId) -> Result<bool, JournalError> {
    Ok(wait_of(connection, id)?.is_some_and(|wait| !wait.release))
}

/// A report that was closed is open again: a person decides about it, once it was asked for where
/// everything is.
pub(crate) fn waits_again(
    connection: &Connection,
    id: SubmissionId,
    now: Instant,
) -> Result<(), JournalError> {
    match wait_of(connection, id)? {
        Some(_) => withhold(connection, id),
        None if standing::stands_at(connection, now, &read::row(connection, id)?.endpoint)? => {
            waits(connection, id, false)
        }
        None => Ok(()),
    }
}

/// Notes of a report that it was found in a watched folder, if it waits.
pub(crate) fn is_watched(connection: &Connection, id: SubmissionId) -> Result<(), JournalError> {
    match wait_of(connection, id)? {
        Some(wait) => note(connection, id, Wait { watched: true, ..wait }),
        None => Ok(()),
    }
}

/// Whether the profile is a copy, of which the other one may be sending or has been until somebody
/// had read of it.
fn is_copy(connection: &Connection) -> Result<bool, JournalError> {
    Ok(notice::stands(connection, COPIED)? || settings::get(connection, COPY_READ)?.is_some())
}

/// Whether a report that is released was looked for since the restore, so that it is in no doubt.
pub(crate) fn is_answered(connection: &Connection, id: SubmissionId) -> Result<bool, JournalError> {
    Ok(!is_copy(connection)? && doubt::is_answered(connection, id)?)
}

/// The authority does not show a report that waits. Whether it may have it all the same, because it
/// shows late what was sent so many microseconds ago: from the disk that died, or from the other
/// copy, which sends until somebody has read of it and ended that one.
pub(crate) fn may_be_shown_late(
    connection: &Connection,
    id: SubmissionId,
    now: Instant,
    lag_micros: i64,
) -> Result<bool, JournalError> {
    let is_fresh = |since: Instant| now.0.saturating_sub(since.0) < lag_micros;
    if copy_read(connection, now)?.is_some_and(is_fresh) {
        return Ok(true);
    }
    if !notice::stands(connection, COPIED)? && standing::is_past(connection, now, lag_micros)? {
        return Ok(false);
    }
    Ok(is_fresh(not_shown_since(connection, id, now)?))
}

/// A person has read a notice. What the other copy of the profile sent until then may be shown
/// later.
pub(crate) fn notice_read(connection: &Connection, code: &str) -> Result<(), JournalError> {
    if code == COPIED && notice::stands(connection, COPIED)? {
        settings::set(connection, COPY_READ, &serde_json::Value::Null)?;
    }
    Ok(())
}

/// When the notice of the copy was read: not later than the first look after that. A clock that was
/// set back begins anew.
fn copy_read(connection: &Connection, now: Instant) -> Result<Option<Instant>, JournalError> {
    let Some(value) = settings::get(connection, COPY_READ)? else { return Ok(None) };
    if let Some(read) = value.as_i64().filter(|read| *read <= now.0) {
        return Ok(Some(Instant(read)));
    }
    settings::set(connection, COPY_READ, &now.0.into())?;
    Ok(Some(now))
}

/// Our clock was set ahead by so many microseconds, which have not passed: what counts by it goes
/// on from there.
pub(crate) fn clock_set_ahead(connection: &Connection, by: i64) -> Result<(), JournalError> {
    standing::clock_set_ahead(connection, by)?;
    let later = |at: Instant| Instant(at.0.saturating_add(by));
    if let Some(read) = settings::get(connection, COPY_READ)?.and_then(|read| read.as_i64()) {
        settings::set(connection, COPY_READ, &later(Instant(read)).0.into())?;
    }
    for (id, _) in all_waiting(connection)? {
        if let Some(wait) = wait_of(connection, id)? {
            note(connection, id, Wait { not_shown: wait.not_shown.map(later), ..wait })?;
        }
    }
    Ok(())
}

/// Since when the authority does not show it. A clock that was set back begins anew.
fn not_shown_since(
    connection: &Connection,
    id: SubmissionId,
    now: Instant,
) -> Result<Instant, JournalError> {
    let Some(wait) = wait_of(connection, id)? else { return Ok(now) };
    if let Some(since) = wait.not_shown.filter(|since| *since <= now) {
        return Ok(since);
    }
    note(connection, id, Wait { not_shown: Some(now), ..wait })?;
    Ok(now)
}

fn note(connection: &Connection, id: SubmissionId, wait: Wait) -> Result<(), JournalError> {
    let value = serde_json::to_value(wait).map_err(|_| JournalError::Damaged)?;
    settings::set(connection, &name_of(id), &value)
}

fn name_of(id: SubmissionId) -> String {
    format!("{WAITS}{}", id.0)
}

/// Whether and how a report waits.
pub(crate) fn wait_of(
    connection: &Connection,
    id: SubmissionId,
) -> Result<Option<Wait>, JournalError> {
    let Some(value) = settings::get(connection, &name_of(id))? else { return Ok(None) };
    // Programs of before held nothing else.
    if value.is_boolean() {
        let (release, in_vain, watched, not_shown) = (true, false, false, None);
        return Ok(Some(Wait { release, in_vain, watched, not_shown }));
    }
    serde_json::from_value(value).map(Some).map_err(|_| JournalError::Damaged)
}

/// Reports to an endpoint that wait for the comparison, the newest first: what takes the place of
/// another is decided before that.
pub(crate) fn waiting(
    connection: &Connection,
    endpoint: &str,
) -> Result<Vec<SubmissionId>, JournalError> {
    let mut found = all_waiting(connection)?;
    found.retain(|(_, there)| there == endpoint);
    found.sort_unstable_by_key(|(id, _)| std::cmp::Reverse(*id));
    Ok(found.into_iter().map(|(id, _)| id).collect())
}

/// All that wait, with the endpoint of each.
fn all_waiting(connection: &Connection) -> Result<Vec<(SubmissionId, String)>, JournalError> {
    let all = settings::beginning(connection, WAITS)?.into_iter().map(|(name, _)| {
        let number = name.strip_prefix(WAITS).and_then(|number| number.parse().ok());
        let id = SubmissionId(number.ok_or(JournalError::Damaged)?);
        Ok((id, read::row(connection, id)?.endpoint))
    });
    all.collect()
}

/// The authority was asked for the document of a report that waits: it may have it under this
/// receipt, and then a person decides; or it has not, and it is sent, unless something else holds
/// it.
pub(crate) fn decide(
    connection: &Connection,
    id: SubmissionId,
    receipt: Option<&str>,
    by: &Person,
    now: Instant,
) -> Result<(), RecordError> {
    let Some(wait) = wait_of(connection, id)? else { return Ok(()) };
    // A person may have decided meanwhile.
    let is_held = matches!(read::state(connection, id)?, State::Held { .. });
    let goes = receipt.is_none() && wait.release;
    if is_held && receipt.is_none() && succession::waits_in_place_of(connection, id)?.is_some() {
        // It goes only if the newer one does not.
        return Ok(());
    }
    if is_held
        && goes
        && notice::stands(connection, COPIED)?
        && (wait.watched || doubt::covers(connection, id)?)
    {
        // The other copy may have found it too, or has it as well, and may send it, or a newer
        // version of it, at any time.
        return Ok(note(connection, id, Wait { in_vain: true, ..wait })?);
    }
    if is_held
        && receipt.is_none()
        && endpoints::has_another(connection, &read::row(connection, id)?.endpoint)?
    {
        // What another certificate has sent to the same authority is not shown to this one: it does
        // not go by itself.
        let waits = wait.release || !wait.in_vain;
        let decides = Wait { release: false, in_vain: true, ..wait };
        return if waits { Ok(note(connection, id, decides)?) } else { Ok(()) };
    }
    if !is_held {
        return settings::remove(connection, &name_of(id)).map_err(Into::into);
    }
    settings::remove(connection, &name_of(id))?;
    asked::note(connection, id)?;
    tell(connection, id, receipt)?;
    if goes {
        let event = Event::Released { reason: COMPARED.to_owned(), due: now };
        advance(connection, id, &event, by, now)?;
        if doubt::covers(connection, id)? && !is_answered(connection, id)? {
            doubt::one(connection, id, now, by)?;
        }
    }
    Ok(())
}

/// What the comparison says takes the place of the warning that it has still to come.
fn tell(
    connection: &Connection,
    id: SubmissionId,
    receipt: Option<&str>,
) -> Result<(), JournalError> {
    let mut messages = read::messages(connection, id)?;
    messages.retain(|it| it.source != Source::Authority && it.code != codes::NOT_COMPARED);
    messages.extend(
        receipt.map(|receipt| Message::warning(codes::MAY_BE_KNOWN, &[("receipt", receipt)])),
    );
    attach::replace_findings(connection, id, &messages)
}

/// The authority of an endpoint was asked and shows nothing that we know it to have: its answers
/// say nothing, and people decide.
pub(crate) fn asked_in_vain(connection: &Connection, endpoint: &str) -> Result<(), JournalError> {
    waiting(connection, endpoint)?.into_iter().try_for_each(|id| in_vain(connection, id))
}

/// The authority was asked for this report, and its answer says nothing: a person decides.
pub(crate) fn in_vain(connection: &Connection, id: SubmissionId) -> Result<(), JournalError> {
    match wait_of(connection, id)?.filter(|wait| !wait.in_vain) {
        Some(wait) => note(connection, id, Wait { in_vain: true, ..wait }),
        None => Ok(()),
    }
}

/// A person has released a report. One that still waits goes on waiting, and is sent once the
/// authority turns out not to have it; gives its state then. `None`: it waits for nothing.
pub(crate) fn after_release(
    connection: &Connection,
    id: SubmissionId,
    at: Instant,
) -> Result<Option<State>, RecordError> {
    let Some(wait) = wait_of(connection, id)? else { return Ok(None) };
    if !keeps_waiting(connection, id, wait)? {
        settings::remove(connection, &name_of(id))?;
        asked::note(connection, id)?;
        tell(connection, id, None)?;
        return Ok(None);
    }
    note(connection, id, Wait { release: true, ..wait })?;
    advance(connection, id, &Event::HeldBack, &program(), at).map(Some)
}

/// Whether a person's release of this report waits for the comparison.
pub(crate) fn release_waits(
    connection: &Connection,
    id: SubmissionId,
) -> Result<bool, JournalError> {
    match wait_of(connection, id)? {
        Some(wait) => keeps_waiting(connection, id, wait),
        None => Ok(false),
    }
}

/// Whether a report waits on although a person releases it. Who has said that it was not received
/// does not wait for questions that nobody answers.
fn keeps_waiting(
    connection: &Connection,
    id: SubmissionId,
    wait: Wait,
) -> Result<bool, JournalError> {
    Ok(!wait.in_vain && !doubt::is_said(connection, id)?)
}

/// Whether a report that is held is sent by itself once the authority turns out not to have it.
pub(crate) fn goes_by_itself(
    connection: &Connection,
    id: SubmissionId,
) -> Result<bool, JournalError> {
    let goes = wait_of(connection, id)?.is_some_and(|wait| wait.release);
    Ok(goes && matches!(read::state(connection, id)?, State::Held { .. }))
}

fn advance(
    connection: &Connection,
    id: SubmissionId,
    event: &Event,
    by: &Person,
    at: Instant,
) -> Result<State, RecordError> {
    let subject = append::subject_of(connection, id)?;
    append::advance(connection, &subject, &Happening { event, by, at, evidence: None })
}
