//! The rule of the notifications, as a table: what is seen when, and what is told.

use super::*;

/// Minutes after the start, in seconds of time.
fn at(minutes: i64) -> Instant {
    Instant::from_seconds(1_000_000 + minutes * 60)
}

/// The window is in front, or not.
const FRONT: bool = true;
const AWAY: bool = false;

fn attention(count: u32) -> Seen {
    Seen { attention: count, ..Seen::default() }
}

fn moving(moving: u32, completed: u32) -> Seen {
    Seen { moving, completed, ..Seen::default() }
}

fn on(way: Way, moving: u32) -> Seen {
    Seen { way, moving, ..Seen::default() }
}

fn certificate(name: &str, days: i32) -> Seen {
    Seen { certificate: Some((name.to_owned(), days)), ..Seen::default() }
}

/// Codes with their numbers, as one reads them: `attention 3`.
fn told(told: &mut Told, seen: &Seen, in_view: bool, minutes: i64) -> Vec<String> {
    let lines = told.look(seen, in_view, true, at(minutes));
    let words = |line: NotificationLine| match line.number {
        Some(number) => format!("{} {number}", line.code),
        None => line.code.to_owned(),
    };
    lines.into_iter().map(words).collect()
}

/// Plays a story: what is seen at which minute, and what is told then.
fn plays(story: &[(i64, Seen, bool, &[&str])]) {
    let mut known = Told::default();
    for (minute, seen, in_view, expected) in story {
        assert_eq!(
            told(&mut known, seen, *in_view, *minute),
            *expected,
            "minute {minute}: {seen:?}"
        );
    }
}

#[test]
fn what_needs_a_person_is_told_once_and_grouped() {
    plays(&[
        (0, attention(2), AWAY, &["attention 2"]),
        (1, attention(2), AWAY, &[]),
        // One a minute for an hour would be sixty: those of five minutes are one.
        (2, attention(3), AWAY, &[]),
        (4, attention(9), AWAY, &[]),
        (5, attention(9), AWAY, &["attention 9"]),
        (20, attention(9), AWAY, &[]),
        // Somebody has corrected some of them, and others came.
        (30, attention(1), AWAY, &[]),
        (31, attention(2), AWAY, &["attention 2"]),
    ]);
}

#[test]
fn what_the_window_shows_is_not_told() {
    plays(&[
        (0, attention(2), FRONT, &[]),
        (10, attention(2), AWAY, &[]),
        (20, attention(3), AWAY, &["attention 3"]),
        (30, attention(8), FRONT, &[]),
        (40, attention(8), AWAY, &[]),
        (50, on(Way::Stopped, 4), FRONT, &[]),
        (60, on(Way::Stopped, 4), AWAY, &[]),
    ]);
}

#[test]
fn success_is_told_at_the_end_of_a_long_batch_alone() {
    plays(&[
        (0, moving(1, 0), AWAY, &[]),
        (9, moving(0, 1), AWAY, &[]),
        // Many, and at once through.
        (10, moving(60, 1), AWAY, &[]),
        (11, moving(0, 61), AWAY, &[]),
        (20, moving(12, 61), AWAY, &[]),
        (21, moving(60, 70), AWAY, &[]),
        (40, moving(3, 130), AWAY, &[]),
        (50, moving(0, 133), AWAY, &["batch 72"]),
        (60, moving(0, 133), AWAY, &[]),
        // Whoever looks at the window sees its end.
        (70, moving(60, 133), AWAY, &[]),
        (90, moving(0, 193), FRONT, &[]),
        (99, moving(0, 193), AWAY, &[]),
    ]);
}

#[test]
fn several_things_are_one_notification() {
    let ended = Seen { attention: 2, notices: 1, completed: 58, ..Seen::default() };
    plays(&[
        (0, moving(60, 0), AWAY, &[]),
        (30, ended.clone(), AWAY, &["attention 2", "notices 1", "batch 58"]),
        (60, ended, AWAY, &[]),
    ]);
}

#[test]
fn what_holds_reports_up_is_told_once_and_the_network_has_time_to_come_back() {
    plays(&[
        (0, on(Way::Stopped, 3), AWAY, &["stopped"]),
        (90, on(Way::Stopped, 9), AWAY, &[]),
        (91, on(Way::Open, 9), AWAY, &[]),
        (92, on(Way::Stopped, 9), AWAY, &["stopped"]),
        (100, on(Way::Away, 9), AWAY, &[]),
        (129, on(Way::Away, 9), AWAY, &[]),
        (130, on(Way::Away, 9), AWAY, &["away 9"]),
        (500, on(Way::Away, 20), AWAY, &[]),
        (501, on(Way::Open, 0), AWAY, &[]),
        // Nothing waits: nobody needs to know.
        (600, on(Way::Away, 0), AWAY, &[]),
        (700, on(Way::Away, 0), AWAY, &[]),
    ]);
}

#[test]
fn a_certificate_is_told_at_its_days_once_each() {
    let mut known = Told::default();
    let mut days_told = Vec::new();
    for left in (-3..=90).rev() {
        for hour in 0..24 {
            let minute = i64::from(90 - left) * 1440 + hour * 60;
            let lines = told(&mut known, &certificate("AB", left), hour % 2 == 0, minute);
            days_told.extend(lines);
        }
    }
    let expected = [60, 30, 14, 7, 1].map(|days| format!("certificate {days}"));
    assert_eq!(days_told[..5], expected);
    assert_eq!(days_told[5..], ["certificate-over"]);
    // After a pause of weeks the day that was passed last is told, and no other.
    let mut known = Told::default();
    assert_eq!(told(&mut known, &certificate("AB", 10), AWAY, 0), ["certificate 10"]);
    assert!(told(&mut known, &certificate("AB", 9), AWAY, 1440).is_empty());
    assert_eq!(told(&mut known, &certificate("AB", 7), AWAY, 5000), ["certificate 7"]);
    // The next certificate is another one.
    assert!(told(&mut known, &certificate("CD", 700), AWAY, 6000).is_empty());
    assert_eq!(told(&mut known, &certificate("CD", 25), AWAY, 7000), ["certificate 25"]);
}

#[test]
fn whoever_switches_them_on_is_not_told_what_is_old() {
    let mut known = Told::default();
    let many = Seen { attention: 5, notices: 2, way: Way::Stopped, ..certificate("AB", 20) };
    assert!(known.look(&many, AWAY, false, at(0)).is_empty());
    assert_eq!(told(&mut known, &many, AWAY, 10), ["certificate 20"], "it still ends");
}

#[test]
fn a_clock_that_is_put_back_holds_nothing_up() {
    let mut known = Told::default();
    assert_eq!(told(&mut known, &attention(1), AWAY, 1000), ["attention 1"]);
    assert_eq!(told(&mut known, &attention(2), AWAY, 10), ["attention 2"]);
}
