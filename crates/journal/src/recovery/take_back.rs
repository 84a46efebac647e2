//! What can be read of a journal that another takes the place of, and what that does not have, is
//! taken in again: it may have been sent, so it is asked for before it goes.

use std::collections::{HashMap, HashSet};

use fhir::Instant;
use report::{Event, Person, State, SubmissionId};
use rusqlite::Connection;

use crate::events::{append, attach, doubt, guard, succession};
use crate::queries::read;
use crate::recovery::attempts::{Attempts, Name};
use crate::recovery::recover::Old;
use crate::recovery::salvage::{Damaged, Naming, Salvaged};
use crate::recovery::{attempts, content};
use crate::store::rows;
use crate::{JournalError, Message, RecordError, Step, codes};

/// Code of the warning on a report that was read back, and that the authority had accepted.
const HAD_RECEIPT: &str = "accepted-before-restore";

const NAMES: &str = "SELECT id, identifier, endpoint, digest FROM submission WHERE id <= ?1";

/// Takes in again what can be read of the old journal and is not in the new one; gives what, by the
/// number that it had.
pub(crate) fn all(
    connection: &Connection,
    old: &Old<'_>,
    attempts: &Attempts,
    now: Instant,
    by: &Person,
) -> Result<HashMap<i64, SubmissionId>, RecordError> {
    let (mut back, mut replaced, mut told) = (HashMap::new(), Vec::new(), Vec::new());
    let Some(copy) = &old.copy else { return Ok(back) };
    let mut damaged = Damaged::new(copy.clone());
    let through = attempts.through();
    let mut numbers: Vec<i64> = old.numbers.clone();
    numbers.extend(old.gap(through));
    if old.numbers.is_empty() {
        numbers.extend(others_until(connection, attempts)?);
    }
    let last = numbers.iter().copied().max().unwrap_or(0).max(through);
    numbers.extend(damaged.numbers_after(last));
    let mut seen = HashSet::new();
    for number in numbers.into_iter().filter(|number| seen.insert(*number)) {
        // Most are in the backup: that is known without reading them.
        if number <= through && old.has(number, attempts, connection)? {
            continue;
        }
        let Some(mut report) = damaged.report(number, now, by) else { continue };
        if !attempts.has(connection, &attempts::name(&report.lost), number)? {
            let (replaced_by, naming) = (report.replaced_by, report.naming());
            let id = take_back(connection, report, (attempts, &back), now, by)?;
            back.insert(number, id);
            replaced.extend(replaced_by.map(|newer| (newer, id)));
            told.push((id, naming));
        }
    }
    close_replaced(connection, replaced, &back, now, by)?;
    // Now all that came back has its number, also what came after the report that names it.
    for (id, naming) in told {
        tell(connection, (attempts, &back), id, naming)?;
    }
    Ok(back)
}

/// Where no register names them: numbers that the new journal has too, for other reports.
fn others_until(connection: &Connection, attempts: &Attempts) -> Result<Vec<i64>, JournalError> {
    let all = attempts.seen(|copy| {
        rows::all(copy, NAMES, [attempts.through()], |row| {
            Ok((row.get::<_, i64>(0)?, [row.get(1)?, row.get(2)?, row.get(3)?]))
        })
    });
    let mut found = Vec::new();
    for (number, name) in all.unwrap_or_default() {
        if !attempts.has(connection, &name, number)? {
            found.push(number);
        }
    }
    Ok(found)
}

/// The number that a report of the old journal has now.
fn number_now(
    connection: &Connection,
    (attempts, back): (&Attempts, &HashMap<i64, SubmissionId>),
    number: i64,
    name: &Name,
) -> Result<Option<SubmissionId>, JournalError> {
    match back.get(&number) {
        Some(id) => Ok(Some(*id)),
        None => attempts.ours_of(connection, name, number),
    }
}

/// Tells of a report what was told of it, by the numbers that others have now.
fn tell(
    connection: &Connection,
    (attempts, back): (&Attempts, &HashMap<i64, SubmissionId>),
    id: SubmissionId,
    Naming { findings, named }: Naming,
) -> Result<(), JournalError> {
    let mut numbers = HashMap::new();
    for (number, name) in named {
        let before = SubmissionId(number);
        let now = match name {
            Some(name) => number_now(connection, (attempts, back), number, &name)?,
            // The backup has the reports of its time under the same numbers.
            None => Some(before).filter(|_| number <= attempts.through()),
        };
        numbers.extend(now.map(|now| (before, now)));
    }
    let told = findings.into_iter().filter_map(|it| it.renumbered(&numbers));
    told.into_iter().try_for_each(|warning| attach::warn(connection, id, &warning))
}

fn take_back(
    connection: &Connection,
    report: Salvaged,
    (attempts, back): (&Attempts, &HashMap<i64, SubmissionId>),
    now: Instant,
    by: &Person,
) -> Result<SubmissionId, RecordError> {
    let Salvaged { lost, mut new, corrects, had_receipt, held_after_request, .. } = report;
    let (said_received, closed) = (report.said_received, report.closed);
    let (rejected, issues, waits) = (report.rejected, report.issues, report.waits);
    if let Some((number, name)) = corrects {
        new.corrects = number_now(connection, (attempts, back), number, &name)?;
        if new.corrects.is_none() {
            new.corrects = read::of_attempt(connection, &name)?;
        }
    }
    let others = content::of_another_life(connection, attempts, &lost)?;
    let versions = content::versions_of_another_life(connection, attempts, &lost, new.corrects)?;
    let has_ended = said_received || closed || report.replaced_by.is_some();
    if !has_ended && new.corrects.is_none() {
        new.corrects = content::replaceable(connection, &others)?;
    }
    let prepared = append::Prepared::new(new)?;
    let id = append::import_again(connection, &prepared, Some(&lost))?;
    if !issues.is_empty() {
        attach::replace_issues(connection, id, &issues)?;
    }
    if let Some(before) = waits {
        guard::waits_on(connection, id, before)?;
    }
    if had_receipt {
        // In doubt already, as everything that comes back.
        append::happen(connection, id, &Event::HeldBack, by, now)?;
        attach::warn(connection, id, &Message::warning(HAD_RECEIPT, &[]))?;
    }
    if held_after_request {
        append::happen(connection, id, &Event::HeldBack, by, now)?;
        attach::warn(connection, id, &Message::warning(codes::DECIDED, &[]))?;
    }
    if said_received {
        let reason = doubt::RESTORED.to_owned();
        append::happen(connection, id, &Event::SaidReceived { reason }, by, now)?;
    }
    if closed {
        let reason = doubt::RESTORED.to_owned();
        append::happen(connection, id, &Event::Withdrawn { reason }, by, now)?;
    }
    content::hold(connection, &versions, by, now)?;
    if !has_ended {
        content::hold_beside(connection, &others, id, by, now)?;
    }
    if rejected && let State::Unknown { .. } = read::state(connection, id)? {
        reject(connection, id, by, now)?;
    }
    Ok(id)
}

/// The authority refused it, so it never existed there; and what it corrects is not corrected
/// beside it.
fn reject(
    connection: &Connection,
    id: SubmissionId,
    by: &Person,
    now: Instant,
) -> Result<(), RecordError> {
    let why = Event::WHY_REFUSED.to_owned();
    append::happen(connection, id, &Event::Doubted { since: now, due: now, why }, by, now)?;
    append::happen(connection, id, &Event::Rejected, by, now)?;
    let subject = append::subject_of(connection, id)?;
    let step = Step::new(id, Event::Rejected, by.clone(), now);
    succession::follow(connection, &subject, &step)
}

/// What came back and had been replaced, each with the number that the newer one had: it is closed
/// by that one where it came back too, so that nothing goes out beside it. Otherwise it is
/// withdrawn, and so is what it had itself replaced.
fn close_replaced(
    connection: &Connection,
    mut replaced: Vec<(i64, SubmissionId)>,
    back: &HashMap<i64, SubmissionId>,
    now: Instant,
    by: &Person,
) -> Result<(), RecordError> {
    // The newer one of each first: whether that one is withdrawn is known then.
    replaced.sort_unstable_by_key(|(newer, _)| std::cmp::Reverse(*newer));
    for (newer, id) in replaced {
        // A newer one that was rejected has closed it when it was read back itself.
        if matches!(read::state(connection, id)?, State::Superseded { .. }) {
            continue;
        }
        let event = match back.get(&newer) {
            Some(newer) if !succession::is_given_up(connection, *newer)? => {
                Event::Superseded { by: *newer }
            }
            _ => Event::Withdrawn { reason: doubt::RESTORED.to_owned() },
        };
        append::happen(connection, id, &event, by, now)?;
    }
    Ok(())
}
