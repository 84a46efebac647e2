//! Lists, search, counts, settings.
#![allow(clippy::unwrap_used)] // A test that cannot go on panics.

mod common;

use common::{House, at, filter, found, report};
use journal::{EndpointNote, EndpointReports, Filter, NewSubmission};
use proptest::prelude::*;
use report::{Event, Group, StateCode, SubmissionId};
use serde_json::json;

fn ids(house: &House, filter: &Filter) -> Vec<i64> {
    house.journal.list(filter).unwrap().iter().map(|row| row.id.0).collect()
}

/// All pages, one after the other.
fn pages(house: &House, filter: &Filter) -> Vec<i64> {
    let mut filter = filter.clone();
    let mut all = Vec::new();
    loop {
        let page = ids(house, &filter);
        let Some(last) = page.last() else { return all };
        assert!(page.len() <= filter.limit);
        filter.before = Some(SubmissionId(*last));
        all.extend(page);
    }
}

/// What numbers over a period need, also of what the journal keeps as one state and people read as
/// two.
#[test]
fn figures_tell_what_came_in_a_period_and_where_it_stands() {
    let house = House::new();
    let take_in = |second| house.journal.import(NewSubmission { at: at(second), ..report(second) });
    let ids = [10, 20, 21, 22, 30].map(|second| take_in(second).unwrap());
    let [_, completed, withdrawn, said, _] = ids;
    house.complete(completed, "r-1");
    house.record(withdrawn, Event::Withdrawn { reason: "slip".to_owned() });
    house.record(said, Event::SendingStarted { since: at(23) });
    let doubted = Event::Doubted { since: at(23), due: at(23), why: "cut".to_owned() };
    house.record(said, doubted);
    house.record(said, Event::SaidReceived { reason: "by phone".to_owned() });
    let tally = house.journal.tally(at(20), at(30)).unwrap();
    let one = |state| (state, 1);
    let states = [StateCode::Completed, StateCode::Withdrawn, StateCode::SaidReceived];
    assert_eq!(tally, states.map(one).into());
    let mut seen = Vec::new();
    house.journal.figures(at(20), at(30), |figure| seen.push(figure)).unwrap();
    let figures: Vec<_> = seen.iter().map(|it| (it.created, it.state)).collect();
    let newest_first = [
        (at(22), StateCode::SaidReceived),
        (at(21), StateCode::Withdrawn),
        (at(20), StateCode::Completed),
    ];
    assert_eq!(figures, newest_first);
    let row = house.journal.row(completed).unwrap();
    let last = seen.pop().unwrap();
    assert_eq!((last.updated, last.code), (row.updated, row.summary.code));
    assert_eq!((last.subject, last.date), (row.summary.subject, row.summary.date));
    let oldest = house.journal.oldest(&[Group::InProgress], at(40)).unwrap();
    assert_eq!(oldest.map(|row| row.id), Some(ids[0]));
    assert!(house.journal.oldest(&[Group::NeedsAttention], at(40)).unwrap().is_none());
}

#[test]
fn pages_cover_everything_once_newest_first() {
    let house = House::new();
    for n in 1..=25 {
        // Bulk imports share their moment; clocks are set back.
        let mut new = report(n);
        new.at = at(if n % 3 == 0 { 10 } else { n });
        house.journal.import(new).unwrap();
    }
    for limit in [1, 4, 7, 25, 0] {
        let listed = pages(&house, &Filter { limit: limit.max(3), ..filter() });
        let mut rows: Vec<_> =
            (1..=25).map(|n| (if n % 3 == 0 { 10 } else { n }, n)).collect::<Vec<(i64, i64)>>();
        rows.sort();
        assert_eq!(listed, rows.iter().rev().map(|(_, n)| *n).collect::<Vec<_>>());
    }
    let searched =
        pages(&house, &Filter { limit: 4, search: Some("labor".to_owned()), ..filter() });
    assert_eq!(searched, (1..=25).rev().collect::<Vec<_>>());
    let period = Filter { since: Some(at(10)), until: Some(at(12)), limit: 3, ..filter() };
    assert_eq!(pages(&house, &period), [11, 24, 21, 18, 15, 12, 10, 9, 6, 3]);
    let stranger = Filter { before: Some(SubmissionId(999)), ..filter() };
    // A page goes on behind a number that no submission has (any more).
    let numbers = |filter: &Filter| -> Vec<i64> {
        house.journal.list(filter).unwrap().iter().map(|row| row.id.0).collect()
    };
    assert_eq!(numbers(&stranger), numbers(&Filter { before: None, ..stranger.clone() }));
    let before_all = Filter { before: Some(SubmissionId(0)), ..filter() };
    assert!(numbers(&before_all).is_empty());
}

/// It is kept with what was withdrawn, and is nothing of the kind to whoever reads.
#[test]
fn what_the_authority_has_by_a_persons_word_is_listed_and_counted_by_itself() {
    let house = House::new();
    for n in 1..=3 {
        house.import(n);
    }
    let reason = || "asked".to_owned();
    house.record(SubmissionId(1), Event::Withdrawn { reason: reason() });
    house.record(SubmissionId(2), Event::SendingStarted { since: at(1) });
    let doubt = Event::Doubted { since: at(0), due: at(9), why: "timeout".to_owned() };
    house.record(SubmissionId(2), doubt);
    house.record(SubmissionId(2), Event::SaidReceived { reason: reason() });
    let all: [(&[StateCode], &[i64]); 4] = [
        (&[StateCode::Withdrawn], &[1]),
        (&[StateCode::SaidReceived], &[2]),
        (&[StateCode::SaidReceived, StateCode::Queued], &[3, 2]),
        (&[StateCode::Withdrawn, StateCode::SaidReceived], &[2, 1]),
    ];
    for (states, expected) in all {
        for search in [None, Some("anna".to_owned())] {
            let filter = Filter { states: states.to_vec(), search, now: at(3_600), ..filter() };
            assert_eq!(ids(&house, &filter), expected, "{filter:?}");
            assert_eq!(house.journal.count(&filter, 100).unwrap(), expected.len() as u64);
        }
    }
}

#[test]
fn states_and_groups_and_counts_agree() {
    let house = House::new();
    for n in 1..=5 {
        house.import(n);
    }
    house.complete(SubmissionId(1), "r");
    house.reject(SubmissionId(2), "so nicht");
    let doubt = |since| Event::Doubted { since, due: at(9), why: "timeout".to_owned() };
    for (id, since) in [(3, at(0)), (4, at(5_000))] {
        house.record(SubmissionId(id), Event::SendingStarted { since: at(1) });
        house.record(SubmissionId(id), doubt(since));
    }
    let of = |groups: &[Group], states: &[StateCode]| {
        let states = states.to_vec();
        ids(&house, &Filter { groups: groups.to_vec(), states, now: at(4_500), ..filter() })
    };
    assert_eq!(of(&[Group::NeedsAttention], &[]), [3, 2]);
    assert_eq!(of(&[Group::InProgress], &[]), [5, 4]);
    assert_eq!(of(&[Group::Completed], &[]), [1]);
    assert_eq!(of(&[Group::Closed], &[]), Vec::<i64>::new());
    assert_eq!(of(&[], &[StateCode::Unknown, StateCode::Completed]), [4, 3, 1]);
    assert_eq!(of(&[Group::NeedsAttention], &[StateCode::Unknown]), [3]);
    for groups in [vec![], vec![Group::NeedsAttention], vec![Group::InProgress, Group::Completed]] {
        for states in [vec![], vec![StateCode::Unknown, StateCode::Failed]] {
            for search in [None, Some("anna".to_owned())] {
                let (groups, states) = (groups.clone(), states.clone());
                let filter = Filter { groups, states, search, now: at(4_500), ..filter() };
                let listed = ids(&house, &filter).len() as u64;
                assert_eq!(house.journal.count(&filter, 100).unwrap(), listed, "{filter:?}");
            }
        }
    }
    assert_eq!(house.journal.count(&Filter { since: Some(at(2)), ..filter() }, 3).unwrap(), 3);
    let counts = house.journal.counts(at(4_500)).unwrap();
    assert_eq!(counts.doubtful_long, 1);
    assert_eq!(counts.group(Group::NeedsAttention), 2);
    assert_eq!(counts.group(Group::InProgress), 2);
    assert_eq!(counts.group(Group::Completed), 1);
    assert_eq!((counts.total(), counts.by_state.len()), (5, 10));
}

/// After a clock was set back by days no doubt is old: the questions count too.
#[test]
fn a_doubt_that_was_asked_for_often_needs_attention_in_list_and_counts() {
    let house = House::new();
    let id = house.import(1);
    house.record(id, Event::SendingStarted { since: at(9_000) });
    house.record(id, Event::Doubted { since: at(9_000), due: at(9_000), why: "cut".to_owned() });
    let filter = Filter { groups: vec![Group::NeedsAttention], now: at(10), ..filter() };
    for asked in 0..=12 {
        let needed = asked == 12;
        let counts = house.journal.counts(at(10)).unwrap();
        assert_eq!(counts.group(Group::NeedsAttention), u64::from(needed), "asked {asked} times");
        assert_eq!(ids(&house, &filter).len(), usize::from(needed), "asked {asked} times");
        house.record(id, Event::AskedInVain { due: at(9_000), answered: None });
    }
}

#[test]
fn what_is_overdue_needs_attention_in_list_and_counts() {
    let house = House::new();
    let ids_: Vec<_> = (1..=3).map(|n| house.import(n)).collect();
    for (n, id) in ids_.iter().enumerate() {
        house.record(*id, Event::SendingStarted { since: at(1) });
        let (receipt, since, due) = (format!("r{n}"), at(2), at(9));
        house.record(*id, Event::Accepted { receipt, since, due });
    }
    house.record(ids_[0], Event::NotFound { at: at(5), due: at(9), late: true });
    house.record(ids_[1], Event::Overdue { due: at(9) });
    house.record(ids_[2], Event::NotFound { at: at(5), due: at(9), late: false });
    let listed = |group| {
        let filter = Filter { groups: vec![group], now: at(10), ..filter() };
        assert_eq!(house.journal.count(&filter, 100).unwrap(), ids(&house, &filter).len() as u64);
        ids(&house, &filter)
    };
    assert_eq!(listed(Group::NeedsAttention), [2, 1]);
    assert_eq!(listed(Group::InProgress), [3]);
    let counts = house.journal.counts(at(10)).unwrap();
    assert_eq!((counts.overdue, counts.group(Group::NeedsAttention)), (2, 2));
    // Found again: it moves on by itself.
    house.record(ids_[0], Event::StillInProgress { due: at(9) });
    assert_eq!(listed(Group::NeedsAttention), [2]);
}

#[test]
fn doubts_are_counted_by_how_long_they_last() {
    let house = House::new();
    for (n, since) in (1..).zip([at(0), at(1), at(2), at(5_000), at(5_001)]) {
        let id = house.import(n);
        house.record(id, Event::SendingStarted { since: at(1) });
        let why = "timeout".to_owned();
        house.record(id, Event::Doubted { since, due: at(9), why });
    }
    let of = |groups: &[Group]| {
        let filter = Filter { groups: groups.to_vec(), now: at(4_600), ..filter() };
        assert_eq!(house.journal.count(&filter, 100).unwrap(), ids(&house, &filter).len() as u64);
        ids(&house, &filter)
    };
    assert_eq!(of(&[Group::NeedsAttention]), [3, 2, 1]);
    assert_eq!(of(&[Group::InProgress]), [5, 4]);
    assert_eq!(of(&[Group::NeedsAttention, Group::InProgress]).len(), 5);
}

/// Owed later than anything is put off, or recorded at a time that is still to come: the longest
/// owed first.
#[test]
fn what_a_wrong_clock_put_off_is_found() {
    let house = House::new();
    let queued = |n: i64, recorded: i64, due: i64| {
        let first = Event::Queued { due: at(due) };
        house.journal.import(NewSubmission { first, at: at(recorded), ..report(n) }).unwrap()
    };
    let late = queued(1, 1, 5_000);
    let ahead = queued(2, 1_500, 2_000);
    queued(3, 2, 500);
    queued(4, 2, 2_000);
    let found = |state, most| {
        let due = house.journal.due_beyond(at(3_600), at(1_000), state, most).unwrap();
        due.into_iter().map(|due| (due.id, due.due)).collect::<Vec<_>>()
    };
    assert_eq!(found(StateCode::Queued, 9), [(ahead, at(2_000)), (late, at(5_000))]);
    assert_eq!(found(StateCode::Queued, 1), [(ahead, at(2_000))]);
    assert_eq!(found(StateCode::Unknown, 9), []);
}

/// From an instant on, and up to another without it: also where words are looked for.
#[test]
fn a_period_has_its_beginning_and_not_its_end() {
    let house = House::new();
    for n in 1..=5 {
        house.import(n);
    }
    for search in [None, Some("anna".to_owned())] {
        let (since, until) = (Some(at(2)), Some(at(4)));
        assert_eq!(ids(&house, &Filter { since, until, search, ..filter() }), [3, 2]);
    }
}

#[test]
fn words_are_found_where_people_know_them() {
    let house = House::new();
    let (one, two) = (house.import(1), house.import(2));
    house.reject(two, "Das Geburtsdatum fehlt (Zeile 12)");
    for words in
        ["müller1", "MULLER1", "befund-1", "urn:uuid:document-1", "document-1", "anna müller1"]
    {
        assert_eq!(found(&house.journal, words), [one], "{words}");
    }
    house.complete(one, "elm-receipt-77");
    assert_eq!(found(&house.journal, " elm-receipt-77 "), [one], "the authority's id");
    assert_eq!(found(&house.journal, "geburtsd"), [two]);
    assert_eq!(found(&house.journal, "elm-12 sal"), [two]);
    assert_eq!(found(&house.journal, "salmonella süd"), [two, one]);
    assert_eq!(found(&house.journal, "1980-02-03 müller2"), [two]);
    assert_eq!(found(&house.journal, "  "), [two, one], "no words: the list");
    assert!(found(&house.journal, "almonella").is_empty(), "words are found by their beginning");
    let both =
        Filter { search: Some("anna".to_owned()), groups: vec![Group::NeedsAttention], ..filter() };
    assert_eq!(ids(&house, &both), [two.0]);
}

#[test]
fn no_text_is_a_syntax_error() {
    let house = House::new();
    house.import(1);
    let long = "a ".repeat(10_000);
    for text in [
        "\"",
        "'",
        "\"\"",
        "*",
        "a*",
        "-",
        "a-",
        "NOT",
        "OR",
        "AND AND",
        "NEAR(a b)",
        "patient:x",
        "^a",
        "{a b}:c",
        "a\"b",
        "\\",
        ";--",
        "' OR 1=1 --",
        "\0",
        "a\0b",
        "%",
        "_",
        "(",
        ")",
        "+ +",
        "日本",
        "\u{202e}x",
        "😀",
        "\n\t",
        "a AND",
        "\"a",
        "search MATCH 'x'",
        &long,
    ] {
        let filter = Filter { search: Some(text.to_owned()), ..filter() };
        assert!(house.journal.list(&filter).is_ok(), "{text:?}");
    }
    assert!(found(&house.journal, "*** \"").is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_text_can_be_searched_for(texts in prop::collection::vec("\\PC{0,40}", 32)) {
        let house = House::new();
        house.import(1);
        for text in texts {
            let filter = Filter { search: Some(text.clone()), ..filter() };
            prop_assert!(house.journal.list(&filter).is_ok(), "{text:?}");
        }
    }
}

/// Few candidates are asked one by one, many are walked over: both give the same.
#[test]
fn words_and_states_agree_whatever_the_way() {
    let house = House::new();
    let pending: Vec<_> = (1..=1_200).map(|n| house.journal.import_async(report(n))).collect();
    for pending in pending {
        pending.wait().unwrap();
    }
    for n in [3, 70, 900] {
        house.reject(SubmissionId(n), "so nicht");
    }
    let of = |states: &[StateCode], words: &str| {
        let states = states.to_vec();
        let search = Some(words.to_owned());
        ids(&house, &Filter { states, search, since: Some(at(50)), limit: 1_000, ..filter() })
    };
    assert_eq!(of(&[StateCode::Rejected], "sal"), [900, 70]);
    assert_eq!(of(&[StateCode::Rejected, StateCode::Held], "müller70"), [70]);
    assert_eq!(
        of(&[StateCode::Rejected, StateCode::Queued], "müller70"),
        [709, 708, 707, 706, 705, 704, 703, 702, 701, 700, 70]
    );
    assert_eq!(of(&[StateCode::Queued], "nicht"), Vec::<i64>::new());
    assert_eq!(of(&[StateCode::Queued], "müller900"), Vec::<i64>::new());
}

#[test]
fn settings_and_watermarks_are_kept() {
    let house = House::new();
    assert_eq!(house.journal.setting("retention").unwrap(), None);
    house.journal.set_setting("retention", json!({"days": 30})).unwrap();
    house.journal.set_setting("retention", json!({"days": 60})).unwrap();
    assert_eq!(house.journal.setting("retention").unwrap(), Some(json!({"days": 60})));
    assert_eq!(house.journal.watermark("practice").unwrap(), None);
    house.journal.set_watermark("practice", at(5)).unwrap();
    assert_eq!(house.journal.watermark("practice").unwrap(), Some(at(5)));
    assert_eq!(house.journal.watermark("real").unwrap(), None);
}

#[test]
fn the_revision_grows_with_what_views_show() {
    let house = House::new();
    let start = house.journal.revision().unwrap();
    let id = house.import(1);
    let after = house.journal.revision().unwrap();
    assert!(after > start);
    assert!(house.journal.record(common::step(id, Event::Rejected)).is_err());
    house.journal.set_watermark("practice", at(5)).unwrap();
    assert_eq!(house.journal.revision().unwrap(), after);
}

#[test]
fn an_endpoint_is_counted_by_its_id_and_noted_with_its_name_and_address() {
    let house = House::new();
    let (id, _) = (house.import(1), house.import(2));
    let endpoint = house.journal.row(id).unwrap().endpoint;
    let reports = EndpointReports { all: 2, open: 2 };
    assert_eq!(house.journal.reports_at(&endpoint).unwrap(), reports);
    assert_eq!(house.journal.reports_at("another").unwrap(), EndpointReports::default());
    house.record(id, Event::Withdrawn { reason: "done".to_owned() });
    assert_eq!(house.journal.reports_at(&endpoint).unwrap().open, 1);

    assert!(house.journal.endpoint_notes().unwrap().is_empty());
    let note = |name: &str| EndpointNote {
        name: name.to_owned(),
        base: "https://host.example/v1/fhir".to_owned(),
        environment: "production".to_owned(),
    };
    house.journal.note_endpoint(&endpoint, note("first")).unwrap();
    house.journal.note_endpoint(&endpoint, note("renamed")).unwrap();
    let revision = house.journal.revision().unwrap();
    house.journal.note_endpoint(&endpoint, note("renamed")).unwrap();
    assert_eq!(house.journal.revision().unwrap(), revision, "nothing is new");
    let noted = house.journal.endpoint_notes().unwrap();
    assert_eq!(noted.into_iter().collect::<Vec<_>>(), [(endpoint, note("renamed"))]);
}
