//! The life cycle as a table: what follows what, and nothing else does. The laws hold over all
//! stories (`life_cycle`); this says that there is a story at all.

use fhir::Instant;
use report::{Action, Duty, Event, Group, State, SubmissionId};

const fn at(seconds: i64) -> Instant {
    Instant::from_seconds(seconds)
}

fn receipt() -> String {
    "r1".to_owned()
}

fn queued(attempt: u32, due: i64) -> State {
    State::Queued { attempt, due: at(due), refusals: 0, doubts: 0 }
}

fn unknown(since: i64, asked: u32, due: i64, empty_since: Option<i64>) -> State {
    State::Unknown {
        attempt: 2,
        since: at(since),
        asked,
        due: at(due),
        empty_since: empty_since.map(at),
        refused: false,
        doubts: 0,
    }
}

fn progress(receipt: &str, since: i64, due: i64) -> State {
    State::InProgress {
        receipt: receipt.to_owned(),
        since: at(since),
        due: at(due),
        not_found_since: None,
        overdue: false,
        said: None,
    }
}

/// In progress under `r1`: since when it is not found, and whether a person is needed.
fn missing(due: i64, since: Option<i64>, late: bool) -> State {
    State::InProgress {
        receipt: receipt(),
        since: at(3),
        due: at(due),
        not_found_since: since.map(at),
        overdue: late,
        said: None,
    }
}

fn sending(attempt: u32, since: i64) -> State {
    State::Sending { attempt, since: at(since), refusals: 0, doubts: 0 }
}

fn states() -> Vec<State> {
    vec![
        State::Held { attempt: 0 },
        State::Held { attempt: 2 },
        queued(0, 1),
        queued(2, 1),
        sending(2, 3),
        unknown(3, 4, 5, None),
        progress("r1", 3, 5),
        State::Completed { receipt: receipt() },
        State::Rejected,
        State::Failed { receipt: receipt() },
        State::Withdrawn { received: false },
        State::Withdrawn { received: true },
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
        Event::OtherNotShown { of: SubmissionId(7), due: at(9), answered: None },
        Event::NotAnswered { due: at(9), why: "cut".to_owned(), in_vain: false, late: false },
        Event::NotReceived { due: at(9) },
        Event::Accepted { receipt: receipt(), since: at(8), due: at(9) },
        Event::StillInProgress { due: at(9) },
        Event::Overdue { due: at(9) },
        Event::NotFound { at: at(7), due: at(9), late: false },
        Event::TurnedAway { due: at(9), why: "forbidden".to_owned() },
        Event::HeldAfterRefusals { why: "forbidden".to_owned() },
        Event::SaidReceived { reason: String::new() },
        Event::SaidNotReceived { reason: String::new(), due: at(9) },
        Event::StillExpected { reason: String::new(), at: at(7) },
        Event::Completed { receipt: receipt() },
        Event::Failed { receipt: receipt() },
        Event::Rejected,
        Event::Withdrawn { reason: String::new() },
        Event::Superseded { by: SubmissionId(7) },
    ]
}

/// Where an event leads; `None` where it cannot follow. Codes instead of values on the left, so
/// that a row reads as a sentence.
fn follows(state: &State, event: &Event) -> Option<State> {
    let asked = || unknown(8, 0, 9, None);
    let accepted = || progress("r1", 8, 9);
    let completed = || State::Completed { receipt: receipt() };
    let failed = || State::Failed { receipt: receipt() };
    let sent = state.attempt() == Some(2);
    Some(match (state.code(), state.attempt(), event.code()) {
        ("held", Some(attempt), "released") => queued(attempt, 9),
        ("held" | "queued" | "rejected" | "failed", _, "withdrawn") => {
            State::Withdrawn { received: false }
        }
        ("held" | "rejected" | "failed", _, "superseded") => {
            State::Superseded { by: SubmissionId(7) }
        }
        ("queued", Some(attempt), "held-back") => State::Held { attempt },
        ("unknown", _, "held-back") => State::Held { attempt: 2 },
        ("superseded", _, "held-back") => State::Held { attempt: 1 },
        ("queued", Some(attempt), "sending-started") => sending(attempt + 1, 8),
        ("queued", Some(attempt), "other-not-shown") => queued(attempt, 9),
        ("sending", _, "deferred") => queued(2, 9),
        ("sending", _, "turned-away") => {
            State::Queued { attempt: 2, due: at(9), refusals: 1, doubts: 0 }
        }
        ("sending", _, "held-after-refusals") => State::Held { attempt: 2 },
        ("sending", _, "rejected") => State::Rejected,
        ("queued", Some(0), "doubted") => State::Unknown {
            attempt: 0,
            since: at(8),
            asked: 0,
            due: at(9),
            empty_since: None,
            refused: false,
            doubts: 0,
        },
        ("queued" | "sending" | "unknown", _, "doubted") => asked(),
        ("unknown", _, "asked-in-vain") => unknown(3, 5, 9, Some(6)),
        ("unknown", _, "not-answered") => unknown(3, 4, 9, None),
        ("unknown", _, "said-not-received") => queued(2, 9),
        ("unknown", _, "not-received") => {
            State::Queued { attempt: 2, due: at(9), refusals: 0, doubts: 1 }
        }
        ("held" | "unknown" | "in-progress", _, "said-received") => {
            State::Withdrawn { received: true }
        }
        ("in-progress", _, "said-not-received") => queued(1, 9),
        ("in-progress", _, "still-expected") => match missing(5, None, false) {
            State::InProgress { receipt, since, due, not_found_since, overdue, .. } => {
                State::InProgress {
                    receipt,
                    since,
                    due,
                    not_found_since,
                    overdue,
                    said: Some(at(7)),
                }
            }
            other => other,
        },
        // A gateway repeats a request: one delivery is refused, the other is not.
        ("rejected", _, "accepted") => accepted(),
        ("rejected", _, "completed") => completed(),
        ("rejected", _, "failed") => failed(),
        ("sending" | "unknown" | "queued" | "held", _, "accepted") if sent => accepted(),
        ("sending" | "unknown" | "queued" | "held", _, "completed") if sent => completed(),
        ("sending" | "unknown" | "queued" | "held", _, "failed") if sent => failed(),
        ("in-progress", _, "completed") => completed(),
        ("in-progress", _, "failed") => failed(),
        ("in-progress", _, "still-in-progress" | "not-answered") => missing(9, None, false),
        ("in-progress", _, "overdue") => missing(9, None, true),
        ("in-progress", _, "not-found") => missing(9, Some(7), false),
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
            Event::Held => Some(State::Held { attempt: 0 }),
            _ => None,
        };
        assert_eq!(State::first(&event).ok(), expected, "{event:?}");
    }
}

#[test]
fn anothers_receipt_moves_nothing() {
    let state = progress("r2", 3, 5);
    assert!(state.apply(&Event::Failed { receipt: receipt() }).is_err());
    let accepted = Event::Accepted { receipt: receipt(), since: at(8), due: at(9) };
    assert!(state.apply(&accepted).is_err());
}

/// It was delivered twice, and the authority calls the delivery that we know a duplicate of the
/// other.
#[test]
fn of_two_deliveries_the_completed_one_counts_in_whatever_order_they_are_told() {
    let (completed, failed) =
        (Event::Completed { receipt: receipt() }, Event::Failed { receipt: "r2".to_owned() });
    let done = State::Completed { receipt: receipt() };
    let state = progress("r2", 3, 5);
    assert_eq!(state.apply(&completed).unwrap(), done);
    assert!(done.apply(&failed).is_err());
    assert_eq!(state.apply(&failed).unwrap().apply(&completed).unwrap(), done);
    let same = State::Failed { receipt: receipt() };
    assert!(same.apply(&completed).is_err(), "one delivery has one end");
}

/// Sent, in doubt, not received: again and again, and never in doubt for long.
#[test]
fn a_report_that_always_ends_in_doubt_needs_a_person() {
    let mut state = queued(0, 1);
    for cycle in 0..4 {
        let sending = state.apply(&Event::SendingStarted { since: at(8) }).unwrap();
        let doubt = sending.apply(&doubted()).unwrap();
        let expected = if cycle < 3 { Group::InProgress } else { Group::NeedsAttention };
        let (soon, later) = (at(8 + 599), at(8 + 600));
        assert_eq!(doubt.group(later), expected, "after {cycle} doubts before");
        assert_eq!(doubt.actions(later).is_empty(), cycle < 3);
        // What somebody has heard of the requests before says nothing of this one.
        assert!(doubt.actions(soon).is_empty());
        state = doubt.apply(&Event::NotReceived { due: at(9) }).unwrap();
    }
    // What surely did not arrive in between changes nothing; a person begins anew.
    let sending = state.apply(&Event::SendingStarted { since: at(8) }).unwrap();
    let cut = Event::Deferred { due: at(9), why: "cut".to_owned() };
    let sending = sending.apply(&cut).unwrap().apply(&Event::SendingStarted { since: at(8) });
    let doubt = sending.unwrap().apply(&doubted()).unwrap();
    assert_eq!(doubt.group(at(8 + 600)), Group::NeedsAttention);
    let said = Event::SaidNotReceived { reason: String::new(), due: at(9) };
    let again = doubt.apply(&said).unwrap().apply(&Event::SendingStarted { since: at(8) });
    assert_eq!(again.unwrap().apply(&doubted()).unwrap().group(at(9)), Group::InProgress);
}

/// The authority says something that nobody here understands, for days.
#[test]
fn what_cannot_be_read_for_too_long_needs_a_person() {
    let late =
        Event::NotAnswered { due: at(9), why: "not-fhir".to_owned(), in_vain: false, late: true };
    let state = progress("r1", 3, 5).apply(&late).unwrap();
    assert_eq!(state.group(at(10)), Group::NeedsAttention);
    assert_eq!(state.apply(&Event::StillInProgress { due: at(9) }).unwrap(), progress("r1", 3, 9));
}

/// By the authority's clock: the first empty answer counts, and one before it where that clock is
/// set back.
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
    use Action::{Correct, HoldBack, Release, Resubmit, SayReceived, Withdraw};
    let after_failure = &[Correct, Resubmit, Withdraw][..];
    let (of_held, of_queued) = (&[Correct, Release, Withdraw][..], &[HoldBack, Withdraw][..]);
    // The authority may have it, and who asks there may be told so.
    let of_sent = &[Correct, Release, SayReceived, Withdraw][..];
    type Row =
        (&'static str, Option<(i64, Duty)>, Group, &'static [Action], bool, Option<u32>, bool);
    let rows: [Row; 13] = [
        ("held", None, Group::NeedsAttention, of_held, true, Some(0), false),
        ("held", None, Group::NeedsAttention, of_sent, true, Some(2), false),
        ("queued", Some((1, Duty::Send)), Group::InProgress, of_queued, false, Some(0), false),
        ("queued", Some((1, Duty::Send)), Group::InProgress, of_queued, false, Some(2), false),
        ("sending", None, Group::InProgress, &[], false, Some(2), false),
        ("unknown", Some((5, Duty::Ask)), Group::InProgress, &[], false, Some(2), false),
        ("in-progress", Some((5, Duty::Read)), Group::InProgress, &[], false, None, true),
        ("completed", None, Group::Completed, &[], true, None, true),
        ("rejected", None, Group::NeedsAttention, after_failure, true, None, false),
        ("failed", None, Group::NeedsAttention, after_failure, true, None, true),
        ("withdrawn", None, Group::Closed, &[], true, None, false),
        ("withdrawn", None, Group::Closed, &[], true, None, false),
        ("superseded", None, Group::Closed, &[], true, None, false),
    ];
    for (state, (code, duty, group, actions, settled, attempt, known)) in states().iter().zip(rows)
    {
        assert_eq!(state.code(), code);
        assert_eq!(state.duty(), duty.map(|(due, duty)| (at(due), duty)), "{code}");
        assert_eq!(state.group(at(10)), group, "{code}");
        assert_eq!(state.actions(at(10)), actions, "{code}");
        assert_eq!(state.is_settled(), settled, "{code}");
        assert_eq!(state.attempt(), attempt, "{code}");
        assert_eq!(state.receipt(), known.then_some("r1"), "{code}");
    }
}

/// 75 minutes in doubt, to the second; in progress for as long as the worker says. Then a person
/// may say what the authority told them.
#[test]
fn what_takes_too_long_needs_a_person() {
    let word = &[Action::SayReceived, Action::SayNotReceived][..];
    let state = unknown(3, 4, 5, None);
    assert_eq!(state.group(at(3 + 4499)), Group::InProgress);
    assert_eq!(state.group(at(3 + 4500)), Group::NeedsAttention);
    assert_eq!(state.actions(at(3 + 4500)), word);
    let overdue = missing(9, Some(7), true);
    assert_eq!((overdue.group(at(10)), overdue.actions(at(10))), (Group::NeedsAttention, word));
}

#[test]
fn not_found_is_remembered_until_it_is_found() {
    let not_found = |at_, late| Event::NotFound { at: at(at_), due: at(9), late };
    let state = progress("r1", 3, 5).apply(&not_found(7, false)).unwrap();
    assert_eq!(state, missing(9, Some(7), false));
    // The first time counts, and an earlier one where our clock was set back.
    assert_eq!(state.apply(&not_found(8, true)).unwrap(), missing(9, Some(7), true));
    assert_eq!(state.apply(&not_found(4, false)).unwrap(), missing(9, Some(4), false));
    // That it could not be asked says nothing; that it was found ends it.
    let late = missing(5, Some(7), true);
    let unheard =
        Event::NotAnswered { due: at(9), why: "cut".to_owned(), in_vain: false, late: false };
    assert_eq!(late.apply(&unheard).unwrap(), missing(9, Some(7), true));
    assert_eq!(late.apply(&Event::StillInProgress { due: at(9) }).unwrap(), progress("r1", 3, 9));
}

/// A second request was refused: the first may have been received. Rejected it is only once the
/// search has said so.
#[test]
fn a_refusal_in_doubt_is_no_rejection_yet() {
    let refused = Event::Doubted { since: at(8), due: at(9), why: Event::WHY_REFUSED.to_owned() };
    let doubt = sending(2, 3).apply(&refused).unwrap();
    assert!(matches!(doubt, State::Unknown { refused: true, asked: 0, .. }));
    let asked = doubt.apply(&Event::AskedInVain { due: at(9), answered: None }).unwrap();
    assert_eq!(asked.apply(&Event::Rejected).unwrap(), State::Rejected);
    let again = doubt.apply(&doubted()).unwrap();
    assert!(matches!(again, State::Unknown { refused: true, .. }), "a restart forgets nothing");
    let accepted = Event::Accepted { receipt: receipt(), since: at(8), due: at(9) };
    assert_eq!(asked.apply(&accepted).unwrap(), progress("r1", 8, 9));
    assert!(unknown(3, 4, 5, None).apply(&Event::Rejected).is_err());
}

#[test]
fn times_turned_away_are_counted_until_it_is_let_in_or_held() {
    let turned = |state: &State| {
        let sending = state.apply(&Event::SendingStarted { since: at(8) }).unwrap();
        sending.apply(&Event::TurnedAway { due: at(9), why: "forbidden".to_owned() }).unwrap()
    };
    let twice = turned(&turned(&queued(0, 1)));
    let turned_away = |attempt| State::Queued { attempt, due: at(9), refusals: 2, doubts: 0 };
    assert_eq!(twice, turned_away(2));
    let sending = twice.apply(&Event::SendingStarted { since: at(8) }).unwrap();
    let deferred = Event::Deferred { due: at(9), why: "cut".to_owned() };
    let after = sending.apply(&deferred).unwrap();
    assert_eq!(after, turned_away(3));
    let held = sending.apply(&Event::HeldAfterRefusals { why: "forbidden".to_owned() }).unwrap();
    let released = Event::Released { reason: String::new(), due: at(9) };
    assert_eq!(held.apply(&released).unwrap(), queued(3, 9), "a person begins anew");
}

#[test]
fn states_of_older_journals_are_read() {
    for (text, state) in [
        (r#"{"state":"held"}"#, State::Held { attempt: 0 }),
        (r#"{"state":"queued","attempt":2,"due":1000000}"#, queued(2, 1)),
        (
            r#"{"state":"in-progress","receipt":"r1","since":3000000,"due":5000000}"#,
            progress("r1", 3, 5),
        ),
    ] {
        assert_eq!(serde_json::from_str::<State>(text).unwrap(), state);
        assert_eq!(serde_json::to_string(&state).unwrap(), text);
    }
}
