//! What may follow what in the life of a report (R4), said without the code that it is about.

use exchange::Processing;
use report::{Event, State, SubmissionId};

use crate::authority::Stored;
use crate::world::World;

/// What may follow what, by codes: written again on purpose, not asked of `State`.
pub(crate) fn may_follow(before: &State, after: &str) -> bool {
    let by_the_authority = ["in-progress", "completed", "failed"].contains(&after);
    match before {
        State::Held { attempt } => {
            let shown = by_the_authority && *attempt > 0;
            ["queued", "withdrawn", "superseded"].contains(&after) || shown
        }
        State::Queued { attempt, .. } => {
            let shown = by_the_authority && *attempt > 0;
            // Put off, where what it must not stand beside may be stored.
            ["queued", "held", "sending", "withdrawn"].contains(&after) || shown
        }
        State::Sending { .. } => {
            ["queued", "unknown", "rejected", "held"].contains(&after) || by_the_authority
        }
        // By a refusal that the search confirmed; by a person's word.
        State::Unknown { .. } => {
            ["unknown", "queued", "rejected", "withdrawn"].contains(&after) || by_the_authority
        }
        State::InProgress { .. } => by_the_authority || ["withdrawn", "queued"].contains(&after),
        // A request that was repeated on the way: another delivery of the same report was not
        // refused, or not called a duplicate.
        State::Rejected => by_the_authority || ["withdrawn", "superseded"].contains(&after),
        State::Failed { .. } => ["completed", "withdrawn", "superseded"].contains(&after),
        // What was to take its place was withdrawn.
        State::Superseded { .. } => after == "held",
        State::Completed { .. } | State::Withdrawn { .. } => false,
    }
}

/// What had taken its place was withdrawn, and what follows that one takes it.
pub(crate) fn passed_on(world: &World, old: &State, new: &State) -> bool {
    let (State::Superseded { by: former }, State::Superseded { by }) = (old, new) else {
        return false;
    };
    let given_up = State::Withdrawn { received: false };
    former != by && world.observer.state(*former).is_ok_and(|state| state == given_up)
}

/// It was not received, and another report stands in its place: it does not go beside that.
pub(crate) fn held_beside(world: &World, id: SubmissionId, old: &State, new: &State) -> bool {
    let was_under_way = matches!(old, State::Unknown { .. } | State::Sending { .. });
    let stands = || match new {
        State::Held { .. } => world.observer.row(id).is_ok_and(|row| row.replacement.is_some()),
        State::Superseded { by } => {
            world.observer.row(*by).is_ok_and(|row| row.receipt.is_some() || row.attempts > 0)
        }
        _ => false,
    };
    was_under_way && stands()
}

/// The authority did not process it, and what corrects it is there already: one write says both.
pub(crate) fn failed_beside(world: &World, id: SubmissionId, old: &State, new: &State) -> bool {
    let (State::InProgress { .. }, State::Superseded { by }) = (old, new) else { return false };
    // By the authority's answer, or by its refusal or a person's word, which give no receipt.
    let judged =
        |state: &State| matches!(state, State::Rejected | State::Withdrawn { received: true });
    let is_there =
        world.observer.row(*by).is_ok_and(|row| row.receipt.is_some() || judged(&row.state));
    let failed = |detail: journal::Detail| {
        let mut last = detail.timeline.iter().rev().take(2);
        last.any(|entry| matches!(entry.event, Event::Failed { .. }))
    };
    is_there && world.observer.detail(id).is_ok_and(failed)
}

/// A state in the story of a world.
pub(crate) fn shown(state: &State) -> String {
    let mut text = state.code().to_owned();
    if let State::Unknown { asked, .. } = state {
        text.push_str(&format!(" (asked {asked})"));
    }
    if let Some(receipt) = state.receipt() {
        text.push_str(&format!(" ({receipt})"));
    }
    text
}

/// Whether a report had failed and been corrected, and the correction was withdrawn: a person is
/// told that it is open again.
pub(crate) fn is_opened_again(world: &World, id: SubmissionId) -> bool {
    let told = |detail: journal::Detail| {
        detail.messages.iter().any(|message| message.code == "correction-withdrawn")
    };
    world.observer.detail(id).is_ok_and(told)
}

/// Whether a report waits for the comparison, so that its release does too.
pub(crate) fn asks_first(world: &World, id: SubmissionId) -> bool {
    world.observer.release_waits(id).unwrap_or(false)
}

/// What the authority has stored of what a report corrects, and has not refused to process, where
/// no person has released the correction: both would count.
pub(crate) fn stored_beside(world: &World, endpoint: usize, id: SubmissionId) -> Option<Stored> {
    let corrected = world.observer.row(id).ok()?.corrects?;
    let detail = world.observer.detail(id).ok()?;
    let is_released = |entry: &journal::Entry| matches!(entry.event, Event::Released { .. });
    if detail.timeline.iter().any(is_released) {
        return None;
    }
    let corrected = world.observer.row(corrected).ok()?;
    let authority = crate::lock(&world.authorities[endpoint]);
    let stored = authority.known(&corrected.identifier, world.truth())?;
    (stored.outcome != Processing::Failed).then(|| stored.clone())
}
