//! The life cycle as a table: what follows what, and nothing else does. The laws hold over all stories
//! (`life_cycle`); this says that there is a story at all.

use fhir::Instant;
use report::{Action, Duty, Event, Group, State, SubmissionId};

const fn at(seconds: i64) -> Instant {
    Instant::from_seconds(seconds)
}

fn receipt() -> String {
    "r1".to_owned()
}

fn queued(attempt: u32, due: i64) -> State {
    State::Queued { attempt, due: at(due) }
}

fn unknown(since: i64, asked: u32, due: i64, empty_since: Option<i64>) -> State {
    State::Unknown {
        attempt: 2,
        since: at(since),
        asked,
        due: at(due),
        empty_since: empty_since.map(at),
    }
}

fn progress(receipt: &str, since: i64, due: i64) -> State {
    State::InProgress { receipt: receipt.to_owned(), since: at(since), due: at(due) }
}

const SENDING: State = State::Sending { attempt: 2, since: at(3) };

fn states() -> Vec<State> {
    vec![
        State::Held,
        queued(0, 1),
        queued(2, 1),
        SENDING,
        unknown(3, 4, 5, None),
        progress("r1", 3, 5),
        State::Completed { receipt: receipt() },
        State::Rejected,
        State::Failed { receipt: receipt() },
        State::Withdrawn,
        State::Superseded { by: SubmissionId(7) },
    ]
}

fn doubted() -> Event {
    Event::Doubted { since: at(8), due: at(9), why: "cut".to_owned() }
}

fn events() -> Vec<Event> {
    vec![
        Event::Queued { due: at(9) },
        Event::Held,
        Event::Released { reason: String::new(), due: at(9) },
        Event::HeldBack,
        Event::SendingStarted { since: at(8) },
        Event::Deferred { due: at(9), why: "cut".to_owned() },
        doubted(),
        Event::AskedInVain { due: at(9), answered: Some(at(6)) },
        Event::NotAnswered { due: at(9), why: "cut".to_owned() },
        Event::NotReceived { due: at(9) },
        Event::Accepted { receipt: receipt(), since: at(8), due: at(9) },
        Event::StillInProgress { due: at(9) },
        Event::Completed { receipt: receipt() },
        Event::Failed { receipt: receipt() },
        Event::Rejected,
        Event::Withdrawn { reason: String::new() },
        Event::Superseded { by: SubmissionId(7) },
    ]
}

/// Where an event leads; `None` where it cannot follow. Codes instead of values on the left, so that a row
/// reads as a sentence.
fn follows(state: &State, event: &Event) -> Option<State> {
    let asked = || unknown(8, 0, 9, None);
    let accepted = || progress("r1", 8, 9);
    let completed = || State::Completed { receipt: receipt() };
    let failed = || State::Failed { receipt: receipt() };
    Some(match (state.code(), state.attempt(), event.code()) {
        ("held", _, "released") => queued(0, 9),
        ("held" | "rejected" | "failed", _, "withdrawn") => State::Withdrawn,
        ("held" | "rejected" | "failed", _, "superseded") => {
            State::Superseded { by: SubmissionId(7) }
        }
        ("queued", Some(0), "held-back") => State::Held,
        ("queued", Some(0), "sending-started") => State::Sending { attempt: 1, since: at(8) },
        ("queued", Some(2), "sending-started") => State::Sending { attempt: 3, since: at(8) },
        ("sending", _, "deferred") => queued(2, 9),
        ("sending", _, "rejected") => State::Rejected,
        ("queued", Some(0), "doubted") => {
            State::Unknown { attempt: 0, since: at(8), asked: 0, due: at(9), empty_since: None }
        }
        ("queued" | "sending" | "unknown", _, "doubted") => asked(),
        ("unknown", _, "asked-in-vain") => unknown(3, 5, 9, Some(6)),
        ("unknown", _, "not-answered") => unknown(3, 4, 9, None),
        ("unknown", _, "not-received") => queued(2, 9),
        ("sending" | "unknown", _, "accepted") | ("queued", Some(2), "accepted") => accepted(),
        ("sending" | "unknown" | "in-progress", _, "completed")
        | ("queued", Some(2), "completed") => completed(),
        ("sending" | "unknown" | "in-progress", _, "failed") | ("queued", Some(2), "failed") => {
            failed()
        }
        ("in-progress", _, "still-in-progress") => progress("r1", 3, 9),
        _ => return None,
    })
}

#[test]
fn every_event_leads_where_the_table_says() {
    for state in states() {
        for event in events() {
            let found = state.apply(&event);
            if let Err(illegal) = &found {
                assert_eq!((illegal.state, illegal.event), (state.code(), event.code()));
            }
            assert_eq!(found.ok(), follows(&state, &event), "{state:?} {event:?}");
        }
    }
}

#[test]
fn only_two_events_begin_a_life() {
    for event in events() {
        let expected = match &event {
            Event::Queued { .. } => Some(queued(0, 9)),
            Event::Held => Some(State::Held),
            _ => None,
        };
        assert_eq!(State::first(&event).ok(), expected, "{event:?}");
    }
}

#[test]
fn anothers_receipt_moves_nothing() {
    let state = progress("r2", 3, 5);
    for event in [Event::Completed { receipt: receipt() }, Event::Failed { receipt: receipt() }] {
        assert!(state.apply(&event).is_err());
    }
}

/// By the authority's clock: the first empty answer counts, and one before it where that clock is set back.
#[test]
fn an_empty_answer_is_as_old_as_the_first_of_them() {
    let after = |empty_since, answered: Option<i64>| {
        let event = Event::AskedInVain { due: at(9), answered: answered.map(at) };
        unknown(3, 4, 5, empty_since).apply(&event).unwrap()
    };
    assert_eq!(after(None, None), unknown(3, 5, 9, None));
    assert_eq!(after(Some(4), None), unknown(3, 5, 9, Some(4)));
    assert_eq!(after(Some(4), Some(6)), unknown(3, 5, 9, Some(4)));
    assert_eq!(after(Some(6), Some(4)), unknown(3, 5, 9, Some(4)));
}

#[test]
fn what_is_owed_shown_and_permitted_in_each_state() {
    use Action::{Correct, HoldBack, Release, Resubmit, Withdraw};
    let after_failure = &[Correct, Resubmit, Withdraw][..];
    type Row =
        (&'static str, Option<(i64, Duty)>, Group, &'static [Action], bool, Option<u32>, bool);
    let rows: [Row; 11] = [
        ("held", None, Group::NeedsAttention, &[Correct, Release, Withdraw], true, None, false),
        ("queued", Some((1, Duty::Send)), Group::InProgress, &[HoldBack], false, Some(0), false),
        ("queued", Some((1, Duty::Send)), Group::InProgress, &[], false, Some(2), false),
        ("sending", None, Group::InProgress, &[], false, Some(2), false),
        ("unknown", Some((5, Duty::Ask)), Group::InProgress, &[], false, Some(2), false),
        ("in-progress", Some((5, Duty::Read)), Group::InProgress, &[], false, None, true),
        ("completed", None, Group::Completed, &[], true, None, true),
        ("rejected", None, Group::NeedsAttention, after_failure, true, None, false),
        ("failed", None, Group::NeedsAttention, after_failure, true, None, true),
        ("withdrawn", None, Group::Closed, &[], true, None, false),
        ("superseded", None, Group::Closed, &[], true, None, false),
    ];
    for (state, (code, duty, group, actions, settled, attempt, known)) in states().iter().zip(rows)
    {
        assert_eq!(state.code(), code);
        assert_eq!(state.duty(), duty.map(|(due, duty)| (at(due), duty)), "{code}");
        assert_eq!(state.group(at(10)), group, "{code}");
        assert_eq!(state.actions(), actions, "{code}");
        assert_eq!(state.is_settled(), settled, "{code}");
        assert_eq!(state.attempt(), attempt, "{code}");
        assert_eq!(state.receipt(), known.then_some("r1"), "{code}");
    }
}

/// An hour in doubt, to the second.
#[test]
fn a_long_doubt_needs_a_person() {
    let state = unknown(3, 4, 5, None);
    assert_eq!(state.group(at(3 + 3599)), Group::InProgress);
    assert_eq!(state.group(at(3 + 3600)), Group::NeedsAttention);
}
