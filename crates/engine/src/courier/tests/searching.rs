//! When is searched, what follows where that is refused, and when is looked for what a clock has
//! put off.

use super::super::searches::NoSearch;
use super::*;

#[test]
fn when_the_next_search_is_due() {
    // Age of the youngest report, seconds that the last search took, seconds until the next.
    for (age, took, pause) in [
        (0, 0, 1),
        (80, 0, 10),
        (86_400, 0, 300),
        // A search rests for eight times as long as it took.
        (0, 5, 40),
        (0, 9_999, 300),
    ] {
        let mut courier = courier();
        let accepted = Some(at(20_000).wall.plus_seconds(-age));
        let youngest = courier.youngest_is(at(20_000), 1, accepted).unwrap();
        assert_eq!(courier.next_search(at(20_000), youngest), at(20_000).wall, "the first one");
        assert!(courier.search_is_late(at(20_000), youngest));
        courier.search_ended(at(20_000), at(20_000 - took));
        let next = courier.next_search(at(20_000), youngest);
        assert_eq!(next, at(20_000 + pause).wall, "aged {age} s, took {took} s");
        let late = at(20_000 + 2 * pause + 6);
        assert!(!courier.search_is_late(at(20_000 + pause), youngest));
        assert!(courier.search_may_be_late(late));
        assert!(courier.search_is_late(late, youngest), "aged {age} s, took {took} s");
    }
    // The age is known by the revision of the journal that says so.
    let mut courier = courier();
    assert!(courier.youngest_by(1).is_none());
    courier.youngest_is(at(0), 1, None);
    assert!(courier.youngest_by(1).is_some() && courier.youngest_by(2).is_none());
}

#[test]
fn what_a_search_that_brought_nothing_means() {
    let mut courier = courier();
    let health = Health::of_question(silent());
    let silence = courier.search_failed(silent(), Tells::TheBreaker);
    assert_eq!(silence, NoSearch::OfTheWay(health));
    assert_eq!(courier.search_failed(silent(), Tells::Nobody), NoSearch::Nothing);
    // An answer that is none says something of searches only where others were answered in between.
    let first = courier.search_failed(refused(), Tells::TheBreaker);
    assert_eq!(first, NoSearch::OfTheWay(Health::of_question(refused())));
    let again = courier.search_failed(refused(), Tells::TheBreaker);
    assert_eq!(again, NoSearch::OfTheWay(Health::of_question(refused())));
    courier.observe(at(1), &Health::Answered, RequestKind::Question, true, 0.5);
    assert_eq!(courier.search_failed(refused(), Tells::TheBreaker), NoSearch::Refused);
    // That questions are refused too clears the one report that was refused.
    let mut courier = after(Before::OneRefused);
    assert_eq!(courier.search_failed(refused(), Tells::Nobody), NoSearch::Nothing);
    assert_eq!(courier.tells(at(1)), Some(Tells::Nobody));
    assert_eq!(courier.tells(at(1)), None, "no suspect any more");
}

#[test]
fn a_search_that_is_refused_rests_and_reports_are_read_instead() {
    let mut courier = courier();
    let state = State::InProgress {
        receipt: "1".to_owned(),
        since: NOW,
        due: NOW,
        overdue: false,
        not_found_since: None,
        said: None,
    };
    assert!(courier.searches() && !courier.is_unsearched(&state));
    assert!(courier.sweep(at(0)).is_some());
    courier.swept(at(0), true);
    assert!(courier.sweep(at(59)).is_none() && courier.sweep(at(60)).is_some());
    courier.search_was_refused(None, 0.999);
    assert!(!courier.searches() && courier.is_unsearched(&state));
    assert!(courier.sweep(at(1)).is_some(), "what was put off for hours is looked for at once");
    let youngest = courier.youngest_is(at(0), 1, Some(NOW)).unwrap();
    courier.search_ended(at(0), at(0));
    assert_eq!(courier.next_search(at(0), youngest), at(0).after(Duration::from_millis(29_985)));
    courier.search_was_refused(Some(Duration::from_secs(600)), 0.0);
    assert_eq!(courier.next_search(at(0), youngest), at(600).wall);
    courier.search_is_permitted();
    assert!(courier.searches() && !courier.search_may_be_told_refused());
    // Sent with another certificate than the one in use: no search with that one tells of it.
    courier.used_formerly(vec![Period { from: NOW, until: at(100).wall }]);
    for (since, formerly) in [(-1, false), (0, true), (100, true), (299, true), (300, false)] {
        let since = NOW.plus_seconds(since);
        assert_eq!(courier.was_sent_formerly(since), formerly, "{since:?}");
    }
    assert!(courier.is_unsearched(&state));
}

#[test]
fn all_that_waits_is_looked_for_where_the_clock_was_set_back() {
    let mut courier = courier();
    courier.swept(at(0), true);
    let set_back = |seconds: i64| ClockReading { wall: NOW.plus_seconds(-seconds), ..at(0) };
    assert!(courier.sweep(set_back(60)).is_none(), "a little");
    let sweep = courier.sweep(set_back(61)).unwrap();
    assert!(sweep.looks.iter().all(|look| look.most > 1_000));
    assert_eq!(sweep.looks[1].recorded, Instant(i64::MIN), "whenever it was recorded");
    courier.swept(set_back(61), true);
    assert!(courier.sweep(set_back(61)).is_none(), "once");
    // Where there was more than it could take, the next look is at once.
    let mut courier = Courier::new(at(0), Arc::new(Timing::default()), true);
    courier.swept(at(0), false);
    assert!(courier.sweep(at(0)).is_some());
}
