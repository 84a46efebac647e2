//! A person wants the next try now.

use super::*;

fn unreachable(courier: &mut Courier, now: ClockReading, id: i64, retry_after: Option<Duration>) {
    let health = Health::Unreachable(Why::Timeout, retry_after);
    let event = Event::Deferred { due: at(500).wall, why: "timeout".to_owned() };
    let verdict = Verdict { event: Some(event), ..verdict(health, false) };
    courier.concluded(now, SubmissionId(id), true, &verdict, 0.999);
    courier.done(SubmissionId(id));
}

#[test]
fn a_wish_lets_one_request_through_and_no_second() {
    for (before, wishes, begin) in [
        (Before::Silence, 0, &[][..]),
        (Before::Silence, 1, &[9]),
        // Refused access: what is owed tries it, once.
        (Before::OneRefused, 1, &[9]),
        (Before::AllRefused, 1, &[9]),
        (Before::Doubt, 1, &[9]),
    ] {
        let mut courier = after(before);
        courier.wanted_now(wishes);
        look_up(&mut courier, at(1), &[(9, 0), (10, 0)]);
        assert_eq!(begins(&mut courier, at(1)), begin, "{before:?}, {wishes} wishes");
        // Pressed again while that request is under way.
        courier.wanted_now(wishes * 2);
        look_up(&mut courier, at(1), &[(10, 0)]);
        assert_eq!(begins(&mut courier, at(1)), [0_i64; 0], "{before:?}: one at a time");
    }
    // Where nothing holds it, a wish changes nothing, and lets nothing through later.
    let mut courier = courier();
    courier.wanted_now(1);
    assert!(!courier.wants_question() && !courier.hurries());
    unreachable(&mut courier, at(0), 7, None);
    courier.wanted_now(1);
    look_up(&mut courier, at(1), &[(8, 0)]);
    assert_eq!(begins(&mut courier, at(1)), [0_i64; 0]);
}

#[test]
fn a_wish_in_vain_makes_no_later_try_later() {
    let mut courier = after(Before::Silence);
    for wish in 1..=20 {
        courier.wanted_now(wish);
        look_up(&mut courier, at(wish), &[(8, 0)]);
        assert_eq!(begins(&mut courier, at(wish)), [8]);
        unreachable(&mut courier, at(wish), 8, None);
    }
    // Thirty seconds after the last one, as after the first.
    for (seconds, begin) in [(49, &[][..]), (50, &[9])] {
        look_up(&mut courier, at(seconds), &[(9, 0)]);
        assert_eq!(begins(&mut courier, at(seconds)), begin, "after {seconds} s");
    }
}

#[test]
fn what_the_way_has_put_off_goes_with_the_wish_and_what_asked_for_patience_does_not() {
    let hour = Some(Duration::from_secs(3_600));
    for (retry_after, hurried) in [(None, &[7][..]), (hour, &[])] {
        let mut courier = courier();
        unreachable(&mut courier, at(0), 7, retry_after);
        assert!(!courier.hurries());
        courier.wanted_now(1);
        let found = courier.hurried(owed(&[(7, 1), (8, 1)]), true);
        assert_eq!(found.iter().map(|due| due.id.0).collect::<Vec<_>>(), hurried);
        assert_eq!(courier.hurries(), !hurried.is_empty());
        courier.looked(at(1), found, false);
        assert_eq!(begins(&mut courier, at(1)), hurried);
        // A wish is good for one try of each.
        assert!(courier.hurried(owed(&[(7, 1)]), true).is_empty());
    }
    // What did not begin before the way failed again waits for the next wish.
    let mut courier = courier();
    for id in [7, 8] {
        unreachable(&mut courier, at(0), id, None);
    }
    courier.wanted_now(1);
    let found = courier.hurried(owed(&[(7, 1), (8, 1)]), true);
    courier.looked(at(1), found, false);
    assert_eq!(begins(&mut courier, at(1)), [7]);
    unreachable(&mut courier, at(1), 7, None);
    assert!(!courier.hurries());
    courier.wanted_now(2);
    assert_eq!(courier.hurried(owed(&[(7, 1), (8, 1)]), true).len(), 2);
}

#[test]
fn a_question_tries_the_way_where_nothing_owed_does() {
    let mut courier = after(Before::Silence);
    assert!(!courier.wants_question());
    courier.wanted_now(1);
    assert!(courier.wants_question());
    courier.observe(at(1), &Health::Answered, RequestKind::Question, true, 0.5);
    assert!(!courier.wants_question());
    look_up(&mut courier, at(1), &[(8, 0), (9, 0)]);
    assert_eq!(begins(&mut courier, at(1)).len(), 2, "the way is open");
    // A question that is answered lets no report in where reports are refused.
    let mut courier = after(Before::OneRefused);
    courier.wanted_now(1);
    courier.observe(at(1), &Health::Answered, RequestKind::Question, true, 0.5);
    look_up(&mut courier, at(1), &[(8, 0), (9, 0)]);
    assert_eq!(begins(&mut courier, at(1)), [8], "one at a time");
}
