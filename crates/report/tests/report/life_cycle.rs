//! The life cycle as a law over all sequences of events.

use fhir::Instant;
use proptest::prelude::*;
use report::{Action, Duty, Event, Group, State, StateCode, SubmissionId};

fn instant() -> impl Strategy<Value = Instant> {
    (0_i64..1_000_000).prop_map(Instant::from_seconds)
}

/// Two receipts: the right one and one of another report.
fn receipt() -> impl Strategy<Value = String> {
    prop_oneof![4 => Just("r1".to_owned()), 1 => Just("r2".to_owned())]
}

fn event() -> impl Strategy<Value = Event> {
    let why = || Just("timed-out".to_owned());
    let reason = || Just("because".to_owned());
    prop_oneof![
        1 => instant().prop_map(|due| Event::Queued { due }),
        1 => Just(Event::Held),
        1 => (reason(), instant()).prop_map(|(reason, due)| Event::Released { reason, due }),
        1 => Just(Event::HeldBack),
        3 => instant().prop_map(|since| Event::SendingStarted { since }),
        1 => (instant(), why()).prop_map(|(due, why)| Event::Deferred { due, why }),
        2 => (instant(), instant(), why())
            .prop_map(|(since, due, why)| Event::Doubted { since, due, why }),
        1 => (instant(), prop::option::of(instant()))
            .prop_map(|(due, answered)| Event::AskedInVain { due, answered }),
        1 => (1_i64..9, instant(), prop::option::of(instant())).prop_map(|(of, due, answered)| {
            Event::OtherNotShown { of: SubmissionId(of), due, answered }
        }),
        1 => (instant(), why(), any::<bool>(), any::<bool>()).prop_map(
            |(due, why, in_vain, late)| Event::NotAnswered { due, why, in_vain, late }
        ),
        1 => instant().prop_map(|due| Event::NotReceived { due }),
        2 => (receipt(), instant(), instant())
            .prop_map(|(receipt, since, due)| Event::Accepted { receipt, since, due }),
        1 => instant().prop_map(|due| Event::StillInProgress { due }),
        1 => instant().prop_map(|due| Event::Overdue { due }),
        1 => (instant(), instant(), any::<bool>())
            .prop_map(|(at, due, late)| Event::NotFound { at, due, late }),
        1 => (instant(), why()).prop_map(|(due, why)| Event::TurnedAway { due, why }),
        1 => why().prop_map(|why| Event::HeldAfterRefusals { why }),
        1 => reason().prop_map(|reason| Event::SaidReceived { reason }),
        1 => (reason(), instant()).prop_map(|(reason, at)| Event::StillExpected { reason, at }),
        1 => (reason(), instant())
            .prop_map(|(reason, due)| Event::SaidNotReceived { reason, due }),
        1 => (instant(), instant()).prop_map(|(since, due)| Event::Doubted {
            since,
            due,
            why: Event::WHY_REFUSED.to_owned(),
        }),
        1 => receipt().prop_map(|receipt| Event::Completed { receipt }),
        1 => receipt().prop_map(|receipt| Event::Failed { receipt }),
        1 => Just(Event::Rejected),
        1 => reason().prop_map(|reason| Event::Withdrawn { reason }),
        1 => (1_i64..9).prop_map(|by| Event::Superseded { by: SubmissionId(by) }),
    ]
}

fn first() -> impl Strategy<Value = Event> {
    prop_oneof![instant().prop_map(|due| Event::Queued { due }), Just(Event::Held)]
}

/// A story that the journal could hold: the first event and those of `events` that were legal.
fn story() -> impl Strategy<Value = (Vec<Event>, Vec<State>)> {
    (first(), prop::collection::vec(event(), 0..60)).prop_map(|(first, events)| {
        let mut state = State::first(&first).unwrap();
        let (mut legal, mut states) = (vec![first], vec![state.clone()]);
        for event in events {
            if let Ok(next) = state.apply(&event) {
                state = next;
                legal.push(event);
                states.push(state.clone());
            }
        }
        (legal, states)
    })
}

/// How far the authority has come with a report; it never goes back.
fn progress_at_authority(state: &State) -> u8 {
    match state {
        State::InProgress { .. } => 1,
        State::Completed { .. } | State::Rejected | State::Failed { .. } => 2,
        // Our own decision after the authority's.
        State::Withdrawn { .. } | State::Superseded { .. } => 3,
        _ => 0,
    }
}

fn is_answer(event: &Event) -> bool {
    matches!(
        event,
        Event::Accepted { .. } | Event::Completed { .. } | Event::Failed { .. } | Event::Rejected
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn status_never_moves_backwards((events, states) in story()) {
        for (pair, event) in states.windows(2).zip(&events[1..]) {
            // Only a person may say that the authority has forgotten it.
            let a_word = matches!(event, Event::SaidNotReceived { .. });
            // One delivery was refused, another one of the same report was not.
            let another = matches!(pair[0], State::Rejected) && is_answer(event);
            let forwards = progress_at_authority(&pair[0]) <= progress_at_authority(&pair[1]);
            // What had taken its place was withdrawn.
            let opened = matches!((&pair[0], event), (State::Superseded { .. }, Event::HeldBack));
            prop_assert!(forwards || a_word || another || opened);
        }
    }

    #[test]
    fn what_is_closed_stays_closed((_, states) in story(), event in event()) {
        let state = &states[states.len() - 1];
        if matches!(state, State::Completed { .. } | State::Withdrawn { .. } | State::Superseded { .. }) {
            // But where what had taken its place was withdrawn.
            let is_opened = matches!((state, &event), (State::Superseded { .. }, Event::HeldBack));
            prop_assert!(is_opened || state.apply(&event).is_err());
            prop_assert!(state.actions(Instant(i64::MAX)).is_empty() && state.duty().is_none());
        }
    }

    #[test]
    fn replays_are_stable((events, states) in story()) {
        let text = serde_json::to_string(&events).unwrap();
        let stored: Vec<Event> = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&stored, &events);
        let mut state = State::first(&stored[0]).unwrap();
        for event in &stored[1..] {
            state = state.apply(event).unwrap();
        }
        prop_assert_eq!(&state, &states[states.len() - 1]);
        let row = serde_json::to_string(&state).unwrap();
        prop_assert_eq!(serde_json::from_str::<State>(&row).unwrap(), state);
    }

    #[test]
    fn repeated_answers_change_nothing((events, states) in story()) {
        for (event, state) in events.iter().zip(&states) {
            if is_answer(event) {
                // Refused or without effect.
                prop_assert!(state.apply(event).is_err_and(|e| e.state == state.code())
                    || state.apply(event).is_ok_and(|next| next == *state));
            }
        }
    }

    #[test]
    fn late_answers_in_any_order_end_in_the_same_status(
        (_, states) in story(),
        answers in prop::collection::vec(
            prop_oneof![
                Just(Event::Accepted { receipt: "r1".into(), since: Instant(1), due: Instant(2) }),
                Just(Event::Completed { receipt: "r1".into() }),
            ],
            1..6,
        ),
    ) {
        // Whatever order accepted and completed of one report come in, completed wins.
        let start = states.iter().rev().find(|s| matches!(s, State::Unknown { .. }));
        let Some(start) = start else { return Ok(()) };
        let mut state = start.clone();
        for answer in &answers {
            state = state.apply(answer).unwrap_or(state);
        }
        let completed = answers.iter().any(|answer| matches!(answer, Event::Completed { .. }));
        prop_assert_eq!(state.code(), if completed { "completed" } else { "in-progress" });
    }

    #[test]
    fn a_receipt_is_exchanged_only_for_that_of_a_completed_delivery((_, states) in story()) {
        for pair in states.windows(2) {
            if let (Some(before), Some(after)) = (pair[0].receipt(), pair[1].receipt()) {
                prop_assert!(before == after || pair[1].code() == "completed");
            }
        }
    }

    #[test]
    fn requests_are_counted((events, states) in story()) {
        let (mut sent, mut before) = (0, None::<&State>);
        for (event, state) in events.iter().zip(&states) {
            sent += u32::from(matches!(event, Event::SendingStarted { .. }));
            if let (Event::SaidNotReceived { .. }, State::Queued { attempt, .. }) = (event, state) {
                // What was in progress was sent at least once.
                prop_assert!((*attempt == sent) || (*attempt == 1));
                sent = *attempt;
            }
            // Nor is anybody told that what was in doubt was never sent.
            if matches!((event, before), (Event::HeldBack, Some(State::Unknown { .. }))) {
                sent = sent.max(1);
            }
            if matches!((event, before), (Event::HeldBack, Some(State::Superseded { .. }))) {
                sent = 1;
            }
            before = Some(state);
            if let Some(attempt) = state.attempt() {
                prop_assert_eq!(attempt, sent);
            }
        }
    }

    #[test]
    fn nothing_is_sent_again_in_doubt((events, states) in story()) {
        // Between a doubt and the next request lies the verdict that it was not received, or the
        // release of a person who had decided about it before a restore: the journal asks for it
        // first then (`append::record`).
        for (index, event) in events.iter().enumerate() {
            if matches!(event, Event::SendingStarted { .. }) {
                let before: Vec<_> = events[..index].iter().rev().collect();
                let doubt = before.iter().position(|e| matches!(e, Event::Doubted { .. }));
                let cleared = before.iter().position(|e| {
                    matches!(
                        e,
                        Event::NotReceived { .. }
                            | Event::SaidNotReceived { .. }
                            | Event::Released { .. }
                    )
                });
                if let Some(doubt) = doubt {
                    prop_assert!(cleared.is_some_and(|cleared| cleared < doubt));
                }
                prop_assert_eq!(states[index].code(), "sending");
            }
        }
    }

    #[test]
    fn a_person_may_do_what_is_offered((_, states) in story()) {
        for state in &states {
            for action in state.actions(Instant(i64::MAX)) {
                let event = match action {
                    Action::Release => Event::Released { reason: "r".into(), due: Instant(0) },
                    Action::HoldBack => Event::HeldBack,
                    Action::Withdraw => Event::Withdrawn { reason: "r".into() },
                    Action::SayReceived if state.code() == "in-progress" => {
                        Event::StillExpected { reason: "r".into(), at: Instant(0) }
                    }
                    Action::SayReceived => Event::SaidReceived { reason: "r".into() },
                    Action::SayNotReceived => {
                        Event::SaidNotReceived { reason: "r".into(), due: Instant(0) }
                    }
                    Action::Resubmit | Action::Correct => Event::Superseded { by: SubmissionId(1) },
                };
                prop_assert!(state.apply(&event).is_ok(), "{} {:?}", state.code(), action);
            }
        }
    }

    #[test]
    fn something_is_owed_while_it_moves((_, states) in story(), now in instant()) {
        for state in &states {
            let duty = state.duty().map(|(_, duty)| duty);
            let expected = match state.code() {
                "queued" => Some(Duty::Send),
                "unknown" => Some(Duty::Ask),
                "in-progress" => Some(Duty::Read),
                _ => None,
            };
            prop_assert_eq!(duty, expected);
            prop_assert_eq!(state.is_settled(), expected.is_none() && state.code() != "sending");
            if state.group(now) == Group::InProgress {
                prop_assert!(!state.is_settled());
            }
            if state.is_settled() {
                prop_assert_ne!(state.group(now), Group::InProgress);
            }
        }
    }
}

fn doubt(attempt: u32, since: Instant, asked: u32, due: Instant) -> State {
    State::Unknown { attempt, since, asked, due, empty_since: None, refused: false, doubts: 0 }
}

#[test]
fn long_doubt_needs_a_person() {
    let since = Instant::from_seconds(1_000);
    let state = doubt(1, since, 3, since);
    assert_eq!(state.group(Instant::from_seconds(5_499)), Group::InProgress);
    assert_eq!(state.group(Instant::from_seconds(5_500)), Group::NeedsAttention);
}

/// Our clock was set back by days, so that no doubt is ever old by it.
#[test]
fn a_doubt_that_was_asked_for_often_needs_a_person_whatever_the_clock_says() {
    let (since, now) = (Instant::from_seconds(900_000), Instant::from_seconds(1_000));
    let in_vain = |why: Option<&str>| match why {
        None => Event::AskedInVain { due: since, answered: None },
        Some(why) => {
            Event::NotAnswered { due: since, why: why.to_owned(), in_vain: true, late: false }
        }
    };
    let cut = Event::NotAnswered { due: since, why: "cut".to_owned(), in_vain: false, late: false };
    for why in [None, Some("forbidden"), Some("another-identifier")] {
        let mut state = doubt(1, since, 0, since);
        for _ in 0..11 {
            state = state.apply(&in_vain(why)).unwrap().apply(&cut).unwrap();
            assert_eq!((state.group(now), state.actions(now)), (Group::InProgress, &[][..]));
        }
        let state = state.apply(&in_vain(why)).unwrap();
        assert_eq!(state.group(now), Group::NeedsAttention, "{why:?}");
        assert!(state.actions(now).contains(&Action::SayNotReceived));
        // Asked for anew, it begins anew.
        let again = Event::Doubted { since, due: since, why: "cut".to_owned() };
        assert_eq!(state.apply(&again).unwrap().group(now), Group::InProgress);
    }
}

#[test]
fn an_unsent_report_cannot_be_answered() {
    let queued = State::Queued { attempt: 0, due: Instant(0), refusals: 0, doubts: 0 };
    for state in [State::Held { attempt: 0 }, queued] {
        for event in [
            Event::Completed { receipt: "r".into() },
            Event::Failed { receipt: "r".into() },
            Event::Accepted { receipt: "r".into(), since: Instant(0), due: Instant(0) },
            Event::Rejected,
        ] {
            let refused = state.apply(&event).unwrap_err();
            assert_eq!((refused.state, refused.event), (state.code(), event.code()));
        }
    }
}

#[test]
fn the_first_event_is_queued_or_held() {
    let refused = State::first(&Event::Rejected).unwrap_err();
    assert_eq!((refused.state, refused.event), ("none", "rejected"));
}

#[test]
fn every_state_has_its_code() {
    let receipt = String::new;
    let (attempt, since, due) = (1, Instant(0), Instant(0));
    let states = [
        State::Held { attempt },
        State::Queued { attempt, due, refusals: 0, doubts: 0 },
        State::Sending { attempt, since, refusals: 0, doubts: 0 },
        doubt(attempt, since, 0, due),
        State::InProgress {
            receipt: receipt(),
            since,
            due,
            not_found_since: None,
            overdue: false,
            said: None,
        },
        State::Completed { receipt: receipt() },
        State::Rejected,
        State::Failed { receipt: receipt() },
        State::Withdrawn { received: false },
        State::Superseded { by: SubmissionId(1) },
    ];
    for (state, code) in states.iter().zip(State::CODES) {
        assert_eq!((state.code(), state.shown().code()), (code, code));
        let stored: serde_json::Value = serde_json::to_value(state).unwrap();
        assert_eq!(stored["state"], code);
    }
}

/// What the authority has must not read as if nobody had sent it.
#[test]
fn what_the_authority_has_by_a_persons_word_is_not_shown_as_withdrawn() {
    let word = || "hotline".to_owned();
    let doubted = doubt(1, Instant(0), 0, Instant(0));
    let settled = doubted.apply(&Event::SaidReceived { reason: word() }).unwrap();
    assert_eq!((settled.code(), settled.shown().code()), ("withdrawn", "said-received"));
    assert_eq!(settled.group(Instant(0)), Group::Closed);
    let held = State::Held { attempt: 0 };
    let withdrawn = held.apply(&Event::Withdrawn { reason: word() }).unwrap();
    assert_eq!((withdrawn.code(), withdrawn.shown().code()), ("withdrawn", "withdrawn"));
    // As an earlier program stored it.
    let stored = serde_json::json!({ "state": "withdrawn" });
    assert_eq!(serde_json::to_value(&withdrawn).unwrap(), stored);
    assert_eq!(serde_json::from_value::<State>(stored).unwrap(), withdrawn);
}

#[test]
fn the_time_of_a_doubt_is_the_authoritys() {
    let at = Instant::from_seconds;
    let asked = |state: State, answered: Option<i64>| {
        state.apply(&Event::AskedInVain { due: at(0), answered: answered.map(at) }).unwrap()
    };
    let empty_since = |state: &State| match state {
        State::Unknown { empty_since, .. } => *empty_since,
        _ => None,
    };
    let state = doubt(1, at(900), 0, at(0));
    let state = asked(asked(state, None), Some(50));
    assert_eq!(empty_since(&state), Some(at(50)));
    // The first answer counts, and where that clock is set back, the earlier time.
    let state = asked(asked(state, Some(90)), None);
    assert_eq!(empty_since(&state), Some(at(50)));
    let state = asked(state, Some(10));
    assert_eq!(empty_since(&state), Some(at(10)));
    let state = state
        .apply(&Event::NotAnswered {
            due: at(1),
            why: "cut".to_owned(),
            in_vain: false,
            late: false,
        })
        .unwrap();
    assert_eq!(empty_since(&state), Some(at(10)));
    // Journals that were written before know nothing of it.
    let old = r#"{"event":"asked-in-vain","due":5}"#;
    let old: Event = serde_json::from_str(old).unwrap();
    assert_eq!(old, Event::AskedInVain { due: Instant(5), answered: None });
    assert!(!serde_json::to_string(&old).unwrap().contains("answered"));
}

/// What crosses to people and programs by serde is the code, and a code reads back as what it was.
#[test]
fn codes_read_back_as_what_they_stand_for() {
    for state in StateCode::ALL {
        assert_eq!(serde_json::to_value(state).unwrap(), state.code());
        assert_eq!(StateCode::of(state.code()), Some(state));
        assert!(State::CODES.contains(&state.kept_as()), "{state}");
    }
    for group in Group::ALL {
        assert_eq!(serde_json::to_value(group).unwrap(), group.code());
        assert_eq!(Group::of(group.code()), Some(group));
    }
    for action in Action::ALL {
        assert_eq!(serde_json::to_value(action).unwrap(), action.code());
    }
}
