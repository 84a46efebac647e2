//! What a journal that another takes the place of knows beside its reports: what it had lost
//! itself, what people have not read yet, whether everything is asked for first, whether sending is
//! paused, and what people have decided since.

use fhir::Instant;
use report::{Event, Person, State, SubmissionId};
use rusqlite::Connection;

use crate::events::compared::COPIED;
use crate::events::{append, attach, compared, doubt, guard, lost, standing, succession};
use crate::queries::read;
use crate::recovery::attempts;
use crate::recovery::attempts::{Attempts, Name, Was};
use crate::recovery::pause;
use crate::recovery::recover::RECOVERY_NOTICES;
use crate::store::open::{Access, Place};
use crate::store::{notice, open, rows};
use crate::{JournalError, LostReport, Message, Notice, RecordError, Unreconciled, codes};

/// What would be sent, what waits for a person, and what was replaced, perhaps by what was
/// withdrawn since.
const OPEN: &str = "SELECT id, identifier, endpoint, digest, state FROM submission \
     WHERE state IN ('queued', 'sending', 'unknown', 'held', 'rejected', 'failed', 'superseded') \
     ORDER BY id";

/// As far as it can be read.
pub(crate) struct Carried {
    lost: Vec<LostReport>,
    notices: Vec<Notice>,
    /// Everything is asked for first, not only until it was compared.
    pub(crate) is_guarded: bool,
    /// Something may have been sent once of which nobody here knows.
    has_forgotten: bool,
    /// Whether sending was paused, where that is known.
    pub(crate) paused: Option<bool>,
    /// What it still had to compare.
    pub(crate) unreconciled: Option<Unreconciled>,
}

impl Carried {
    /// Of what stands there, and a copy of it that can be read.
    pub(crate) fn of(place: &Place, copy: Option<&Place>, now: Instant) -> Self {
        let mut notices = seen(copy, notice::all).unwrap_or_default();
        let is_ours = |code: &str| RECOVERY_NOTICES.iter().any(|(known, _)| *known == code);
        notices.retain(|notice| notice.code == COPIED || is_ours(&notice.code));
        Self {
            lost: seen(copy, lost::all).unwrap_or_default(),
            notices,
            is_guarded: seen(copy, |c| standing::stands_for_long(c, now)).unwrap_or_default(),
            has_forgotten: seen(copy, standing::has_ever_forgotten).unwrap_or_default(),
            paused: pause::before(place, copy),
            unreconciled: seen(copy, compared::unreconciled).flatten(),
        }
    }

    /// Writes into the new journal what it had lost, which is given, what nobody has read, and that
    /// it had forgotten something.
    pub(crate) fn write(
        &self,
        connection: &Connection,
        attempts: &Attempts,
    ) -> Result<Vec<&LostReport>, JournalError> {
        standing::carry_over(connection, self.has_forgotten)?;
        let mut kept = Vec::new();
        for lost in &self.lost {
            if !attempts.leaves_one(connection, &attempts::name(lost))? {
                lost::keep(connection, lost)?;
                kept.push(lost);
            }
        }
        for told in &self.notices {
            if !notice::stands(connection, &told.code)? {
                notice::put(connection, told)?;
            }
        }
        Ok(kept)
    }
}

/// What people had decided since about what the new journal has as open. What it would send is
/// held: they decide again. What waits for a person there, and was withdrawn, stays withdrawn; of
/// the rest they are told.
pub(crate) fn hold_decided(
    connection: &Connection,
    attempts: &Attempts,
    by: &Person,
    now: Instant,
) -> Result<(), RecordError> {
    let mut withdrawn = Vec::new();
    for (id, name, state) in still_open(connection)? {
        let would_be_sent = matches!(&*state, "queued" | "sending" | "unknown");
        let last = last_of(connection, attempts, (id, &name), would_be_sent)?;
        let Some((number, last)) = last else { continue };
        match last {
            State::Superseded { .. } | State::Withdrawn { .. } if state == "superseded" => {
                withdrawn.extend((last == State::Withdrawn { received: false }).then_some(id));
                continue;
            }
            // Nothing is known there of what has taken its place, and it was not sent again.
            State::Held { .. } | State::Rejected | State::Failed { .. }
                if state == "superseded" && succession::is_replaced_for_good(connection, id)? =>
            {
                continue;
            }
            // What was to take its place was withdrawn since, and it was perhaps sent.
            _ if state == "superseded" => {
                append::happen(connection, id, &Event::HeldBack, by, now)?;
            }
            last if would_be_sent && is_stopped(&last) => hold_in_doubt(connection, id, by, now)?,
            // It was released since, and perhaps sent.
            State::Queued { .. }
            | State::Sending { .. }
            | State::Unknown { .. }
            | State::InProgress { .. }
            | State::Completed { .. }
            | State::Rejected
            | State::Failed { .. }
                if state == "held" =>
            {
                let released = Event::Released { reason: doubt::RESTORED.to_owned(), due: now };
                append::happen(connection, id, &released, by, now)?;
                hold_in_doubt(connection, id, by, now)?;
            }
            State::Withdrawn { received: false } => {
                withdraw(connection, id, by, now)?;
                continue;
            }
            // The comparison let it go, and a person has stopped it since.
            State::Held { .. }
                if guard::goes_by_itself(connection, id)?
                    && attempts.seen(|c| guard::goes_by_itself(c, SubmissionId(number)))
                        == Some(false) =>
            {
                guard::withhold(connection, id)?;
            }
            State::Withdrawn { .. } | State::Superseded { .. } => {
                guard::withhold(connection, id)?;
            }
            _ => continue,
        }
        attach::warn(connection, id, &Message::warning(codes::DECIDED, &[]))?;
    }
    // What was opened again because its correction was withdrawn: the newest first, for each opens
    // what it had replaced.
    for id in withdrawn.into_iter().rev() {
        if let State::Held { .. } = read::state(connection, id)? {
            withdraw(connection, id, by, now)?;
        }
    }
    Ok(())
}

fn still_open(connection: &Connection) -> Result<Vec<(SubmissionId, Name, String)>, JournalError> {
    rows::all(connection, OPEN, [], |row| {
        let name = [row.get(1)?, row.get(2)?, row.get(3)?];
        Ok((SubmissionId(row.get(0)?), name, row.get(4)?))
    })
}

/// The number and the last state of a report in the journal that is replaced, where it is known
/// which it was there. Of one that would be sent, whatever was decided may have been decided about
/// it.
fn last_of(
    connection: &Connection,
    attempts: &Attempts,
    (id, name): (SubmissionId, &Name),
    would_be_sent: bool,
) -> Result<Option<(i64, State)>, JournalError> {
    let state = |number| attempts.last_state(name, number).map(|state| (number, state));
    Ok(match attempts.theirs_of(connection, name, id)? {
        Some(Was::One(number)) => state(number),
        Some(Was::OneOf(numbers)) if would_be_sent => {
            numbers.into_iter().filter_map(state).find(|(_, state)| is_stopped(state))
        }
        _ => None,
    })
}

/// It was withdrawn since the backup; what it had replaced is open again.
fn withdraw(
    connection: &Connection,
    id: SubmissionId,
    by: &Person,
    now: Instant,
) -> Result<(), RecordError> {
    let subject = append::subject_of(connection, id)?;
    let reason = doubt::RESTORED.to_owned();
    append::happen(connection, id, &Event::Withdrawn { reason }, by, now)?;
    succession::open_again(connection, &subject, by, now)
}

fn is_stopped(state: &State) -> bool {
    matches!(state, State::Held { .. } | State::Withdrawn { .. } | State::Superseded { .. })
}

/// It may have been sent since the backup, so what the authority shows of it counts.
fn hold_in_doubt(
    connection: &Connection,
    id: SubmissionId,
    by: &Person,
    now: Instant,
) -> Result<(), RecordError> {
    let (since, due, why) = (now, now, doubt::RESTORED.to_owned());
    append::happen(connection, id, &Event::Doubted { since, due, why }, by, now)?;
    append::happen(connection, id, &Event::HeldBack, by, now)
}

/// A look with a connection of its own: one that has met a damaged page may refuse everything from
/// then on.
pub(crate) fn seen<T>(
    copy: Option<&Place>,
    view: impl FnOnce(&Connection) -> Result<T, JournalError>,
) -> Option<T> {
    let connection = open::connect(copy?, Access::Write).ok()?;
    view(&connection).ok()
}
