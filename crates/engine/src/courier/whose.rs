//! Which of several versions with one identifier a delivery is, by when the authority has received
//! it. Pure.

use exchange::{Answer, Processing};
use fhir::Instant;
use report::Event;

use super::SENT_BEFORE_SECONDS;
use super::deliveries::{is_answer, reached_nobody};

/// What two clocks that are right may say of one moment differs by less.
const APART_SECONDS: i64 = 10;

/// A time in which a request may have been under way.
pub(crate) type Span = (Instant, Instant);

/// Any time until then.
pub(crate) fn before(end: Instant) -> Span {
    (Instant(i64::MIN), end)
}

/// The times in which requests of a report may have been under way that the authority may have
/// received, by the events of its timeline and when each was written: from its beginning until its
/// end was noticed. What a restore has forgotten may have been sent at any time before that.
pub(crate) fn requests<'a>(timeline: impl Iterator<Item = (&'a Event, Instant)>) -> Vec<Span> {
    let (mut requests, mut began) = (Vec::new(), None);
    for (event, at) in timeline {
        match (began.take(), event) {
            (Some(_), Event::Deferred { why, .. }) if reached_nobody(why) => {}
            (Some(began), _) => requests.push((at.min(began), at.max(began))),
            (None, Event::Doubted { why, .. }) if why == journal::RESTORED => {
                requests.push(before(at));
            }
            (None, event) if requests.is_empty() && is_of_a_request(event) => {
                requests.push(before(at));
            }
            (None, _) => {}
        }
        if let Event::SendingStarted { since } = event {
            began = Some(*since);
        }
    }
    requests.extend(began.map(|began| (began, Instant(i64::MAX))));
    requests
}

/// Whether it tells that there was a request.
fn is_of_a_request(event: &Event) -> bool {
    is_answer(event) || matches!(event, Event::Doubted { .. })
}

/// Whether the authority has told of this report under that number before.
pub(crate) fn is_known_as<'a>(
    mut events: impl Iterator<Item = &'a Event>,
    receipt: Option<&str>,
) -> bool {
    events.any(|event| match event {
        Event::Accepted { receipt: known, .. }
        | Event::Completed { receipt: known }
        | Event::Failed { receipt: known } => receipt == Some(known),
        _ => false,
    })
}

/// Whether what the authority has received then, by our clock, is surely of the report that had
/// these requests: one of them was under way, and none of the others. A request ends by its time
/// limit, however late that is noticed.
pub(crate) fn is_surely(received: Instant, ours: &[Span], others: &[Span]) -> bool {
    let wider =
        |(from, to): Span| (from.plus_seconds(-APART_SECONDS), to.plus_seconds(APART_SECONDS));
    let limited = |(from, to): Span| match from {
        Instant(i64::MIN) => (from, to),
        _ => (from, to.min(from.plus_seconds(SENT_BEFORE_SECONDS))),
    };
    ours.iter().map(|span| wider(limited(*span))).any(|(from, to)| {
        let mut others = others.iter().map(|span| wider(*span));
        (from..=to).contains(&received) && !others.any(|other| other.0 <= to && from <= other.1)
    })
}

/// Leaves what is surely ours. Says whether nothing can be told, because the rest may be ours too:
/// what is in progress or completed counts beside that, and what has failed does not.
pub(crate) fn leave_out_unsure(
    answers: &mut Vec<Answer>,
    is_ours: impl FnMut(&Answer) -> bool,
) -> bool {
    let all = answers.len();
    answers.retain(is_ours);
    let is_unsure = answers.len() < all;
    let counts = |answer: &Answer| answer.processing != Some(Processing::Failed);
    if is_unsure && !answers.iter().any(counts) {
        answers.clear();
        return true;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: i64) -> Instant {
        Instant::from_seconds(seconds)
    }

    fn spans(of: &[(i64, i64)]) -> Vec<Span> {
        of.iter().map(|(from, to)| (at(*from), at(*to))).collect()
    }

    #[test]
    fn when_requests_may_have_been_under_way() {
        let started = |since| Event::SendingStarted { since: at(since) };
        let doubted = |why: &str| Event::Doubted { since: at(0), due: at(0), why: why.to_owned() };
        let put_off = |why: &str| Event::Deferred { due: at(0), why: why.to_owned() };
        let completed = || Event::Completed { receipt: "r".to_owned() };
        let queued = || Event::Queued { due: at(0) };
        let (first, last) = (Instant(i64::MIN), Instant(i64::MAX));
        let table = [
            (vec![(queued(), 1), (Event::HeldBack, 2)], vec![]),
            (vec![(queued(), 1), (started(2), 2), (completed(), 9)], vec![(at(2), at(9))]),
            // The clock was set back meanwhile.
            (vec![(started(20), 20), (doubted("cut"), 9)], vec![(at(9), at(20))]),
            (vec![(started(2), 2)], vec![(at(2), last)]),
            (vec![(started(2), 2), (put_off("forbidden"), 3)], vec![(at(2), at(3))]),
            (vec![(started(2), 2), (put_off("connect-refused"), 3)], vec![]),
            // Found after a restore, which has forgotten its requests.
            (vec![(queued(), 5), (doubted("journal-report-found"), 5)], vec![(first, at(5))]),
            (vec![(queued(), 5), (completed(), 6)], vec![(first, at(6))]),
            (
                vec![(started(2), 2), (put_off("forbidden"), 3), (doubted("journal-restored"), 8)],
                vec![(at(2), at(3)), (first, at(8))],
            ),
        ];
        for (timeline, expected) in table {
            let entries = timeline.iter().map(|(event, seconds)| (event, at(*seconds)));
            assert_eq!(requests(entries), expected, "{timeline:?}");
        }
    }

    #[test]
    fn what_is_received_is_of_the_report_whose_request_alone_was_under_way() {
        type Row = (i64, &'static [(i64, i64)], &'static [(i64, i64)], bool);
        let table: [Row; 10] = [
            // Its end was noticed long after, when the computer had slept.
            (1_300, &[(100, 50_000)], &[(0, 5)], false),
            (100, &[(100, 160)], &[], true),
            (90, &[(100, 160)], &[(300, 301)], true),
            (170, &[(100, 160)], &[(300, 301)], true),
            // Before it, after it, and during the other one's.
            (89, &[(100, 160)], &[(300, 301)], false),
            (171, &[(100, 160)], &[(300, 301)], false),
            (300, &[(100, 160)], &[(300, 301)], false),
            // Both were under way.
            (100, &[(100, 160)], &[(180, 300)], false),
            (100, &[(100, 160)], &[(0, 90)], false),
            // The second of two.
            (500, &[(100, 160), (500, 501)], &[(0, 90), (150, 300)], true),
        ];
        for (received, ours, others, surely) in table {
            let (mine, theirs) = (spans(ours), spans(others));
            assert_eq!(is_surely(at(received), &mine, &theirs), surely, "{received} {ours:?}");
        }
        let any_time = [(Instant(i64::MIN), at(50))];
        assert!(is_surely(at(20), &any_time, &spans(&[(100, 160)])));
        assert!(!is_surely(at(20), &any_time, &spans(&[(30, 40)])));
    }

    #[test]
    fn what_counts_beside_what_may_be_of_another_version() {
        use Processing::{Completed, Failed, InProgress};
        type Row = (&'static [Processing], &'static [Processing], bool);
        let table: [Row; 7] = [
            (&[], &[], false),
            (&[Failed], &[], false),
            (&[], &[Completed], true),
            (&[Failed], &[Completed], true),
            (&[Failed], &[Failed], true),
            (&[InProgress], &[Completed], false),
            (&[Failed, Completed], &[InProgress], false),
        ];
        for (ours, unsure, nothing) in table {
            let answer = |receipt: &str, processing: &Processing| Answer {
                receipt: Some(receipt.to_owned()),
                processing: Some(*processing),
                ..Answer::default()
            };
            let mut answers: Vec<_> = ours.iter().map(|it| answer("ours", it)).collect();
            answers.extend(unsure.iter().map(|it| answer("unsure", it)));
            let is_ours = |answer: &Answer| answer.receipt.as_deref() == Some("ours");
            assert_eq!(leave_out_unsure(&mut answers, is_ours), nothing, "{ours:?} {unsure:?}");
            assert_eq!(answers.len(), if nothing { 0 } else { ours.len() });
        }
    }
}
